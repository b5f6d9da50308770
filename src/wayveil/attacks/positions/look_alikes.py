"""Published trajectories that an attacker who knows the method cannot tell apart: groups, and curves of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from wayveil.attacks.attack_base import owners_of
from wayveil.attacks.positions.known_positions import Array, Tracks
from wayveil.kernels.attacks.position_matching import Sightings, Values, nearest_values
from wayveil.model import Points, parameter
from wayveil.model.lazy_module import lazy_module

__all__ = ["LookAlikes", "delta_parameter", "look_alike_values", "nearest_shares", "share_values"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")
spatial = lazy_module("scipy.spatial")

_MOST_PAIRS = 4_000_000
_TELLING = 4  # times at which trajectories are compared first
_CHUNK = 1 << 20
_DEGREES_M = 1.5e-4  # nine decimals of a degree
_TOLERANCE_M = 1e-3  # no two curves that differ by more have one shape


@dataclass(frozen=True, kw_only=True, eq=False)
class LookAlikes:
    """Which published trajectories make a group, and which of them are the same curve at another place.

    Parameters
    ----------
    group : int, one per trajectory
        Equal for trajectories with the same timestamps that are connected by steps of at most a distance, at all times:
        whoever was placed in a disc of that width is in one group with the others of the disc.  -1 without rows.
    shape : int, one per trajectory
        Equal for trajectories of one group that differ by a constant only.  Where places in a disc are drawn by chance,
        once for a whole trajectory, these are the people of the disc, and nothing tells who of them is who.

    Notes
    -----
    Where more than some million pairs of trajectories may be so close, all with the same timestamps are one group.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (9, 5.0, 0.0)], [(0, 1.0, 1.0), (9, 6.0, 1.0)], [(0, 9.0, 0.0)]])
    >>> found = LookAlikes.of(data, 2.0)
    >>> found.group.tolist(), found.shape.tolist()
    ([0, 0, 1], [0, 0, 1])
    """

    group: Array
    shape: Array

    @classmethod
    def of(cls, data: Points, distance: float) -> LookAlikes:
        """Return the groups and shapes of published points; about O(rows) time where groups are small."""
        group = np.full(len(data), -1)
        shape = np.full(len(data), -1)
        groups = shapes = 0
        reach = distance + _tolerance(data)
        for some in _same_times(data):
            rows = data.offsets[some][:, None] + np.arange(data.offsets[some[0] + 1] - data.offsets[some[0]])
            x = data.x[rows]
            y = data.y[rows]
            near = _connected(x, y, reach)
            group[some] = groups + near
            alike = _codes(near, _same_shape(x, y, _tolerance(data)))
            shape[some] = shapes + alike
            groups += int(near.max()) + 1
            shapes += int(alike.max()) + 1
        return cls(group=group, shape=shape)


def share_values(shape: Array, owner: Array) -> Values:
    """Return what it is worth to pick evenly among look-alikes: the owner's share of trajectories or of people."""
    owners = int(owner.max(initial=0)) + 1
    key, many = np.unique(shape * owners + owner, return_counts=True)
    label = key // owners
    people = np.bincount(label)
    size = np.bincount(label, many)
    return Values(shape, owners, key, np.maximum(many / size[label], 1 / people[label]))


def look_alike_values(truth: Points, target: Points, distance: float, tracks: Tracks) -> Values:
    """Return what it is worth to pick evenly among the look-alikes of a published trajectory, for every slot."""
    shape = LookAlikes.of(target, distance).shape
    return share_values(shape[tracks.trajectory], owners_of(truth)[tracks.trajectory])


def nearest_shares(tracks: Tracks, values: Values, known: Sightings, part: slice) -> Array:
    """Return, per attack of a part and level, the success of who picks evenly among look-alikes of the nearest."""
    some = Sightings(*(np.ascontiguousarray(column[part]) for column in known))
    total, many, _ = nearest_values(tracks.rows, tracks.slots, values, some, tracks.speed, tracks.rounding)
    return np.divide(total, many, out=np.zeros(total.shape), where=many > 0)


def delta_parameter() -> Any:
    """Declare the width of the discs in which chance placed what was published."""
    return parameter(
        kind="number",
        low=0,
        default=0.0,
        help="width of the discs of the claim, in metres: curves that differ by a constant there are guessed among",
    )


def _tolerance(data: Points) -> float:
    """Return what writing and reading may do to a difference of coordinates, in metres."""
    largest = max(float(np.abs(column).max(initial=1.0)) for column in (data.x, data.y))
    return min(_TOLERANCE_M, max(1e-9 * largest, _DEGREES_M if data.frame.degrees else 0.0))


def _same_times(data: Points) -> list[Array]:
    """Return the trajectories with rows by their timestamps, those with the same in one array."""
    t = np.ascontiguousarray(data.t)
    groups: dict[bytes, list[int]] = {}
    for i in np.flatnonzero(np.diff(data.offsets)).tolist():
        key = blake2b(t[data.offsets[i] : data.offsets[i + 1]].data, digest_size=16).digest()
        groups.setdefault(key, []).append(i)
    return [np.array(some) for some in groups.values()]


def _connected(x: Array, y: Array, reach: float) -> Array:
    """Return the group of each line of positions at common times: connected where two are within reach at all times."""
    n, times = x.shape
    if n == 1:
        return np.zeros(1, np.int64)
    telling = np.unique(np.linspace(0, times - 1, min(times, _TELLING)).astype(np.int64))
    tree = spatial.cKDTree(np.hstack([x[:, telling], y[:, telling]]))
    if tree.count_neighbors(tree, reach, p=np.inf) > 2 * _MOST_PAIRS:
        return np.zeros(n, np.int64)
    pairs = tree.query_pairs(reach, p=np.inf, output_type="ndarray")
    close = np.zeros(len(pairs), bool)
    step = max(1, _CHUNK // times)
    for begin in range(0, len(pairs), step):
        one, other = pairs[begin : begin + step].T
        apart = (x[one] - x[other]) ** 2 + (y[one] - y[other]) ** 2
        close[begin : begin + step] = apart.max(axis=1) <= reach**2
    one, other = pairs[close].T
    graph = sparse.csr_array((np.ones(len(one), np.int8), (one, other)), shape=(n, n))
    label: Array = csgraph.connected_components(graph, directed=False)[1].astype(np.int64)
    return label


def _same_shape(x: Array, y: Array, tolerance: float) -> Array:
    """Return a code for each line of positions, the same for lines that differ by a constant, to a tolerance.

    Lines are put in the order of one number that depends on their shape alone, and each is compared with the one
    before: lines of one shape have the same number but for rounding, so they stand next to each other.
    """
    x = x - x[:, :1]
    y = y - y[:, :1]
    weight = np.cos(np.arange(x.shape[1]) * 1.6180339887)  # any weights do that no motion follows
    order = np.argsort(x @ weight + y @ weight[::-1], kind="stable")
    apart = np.maximum(np.abs(np.diff(x[order], axis=0)).max(axis=1), np.abs(np.diff(y[order], axis=0)).max(axis=1))
    code = np.empty(len(x), np.int64)
    code[order] = np.append(0, np.cumsum(apart > 2 * tolerance))
    return code


def _codes(one: Array, other: Array) -> Array:
    """Return a code for each pair of codes, from 0 on."""
    codes: Array = np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return codes
