"""Trajectory k-anonymity by partitioning a graph of trajectories: one box per group and timestamp."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.knode.exact_boxes import draw_boxes
from wayveil.kernels.knode.greedy_partition import partition
from wayveil.kernels.knode.group_boxes import Tracks
from wayveil.kernels.knode.group_improvement import low_loss_groups
from wayveil.kernels.knode.overlap_graph import AXES, NO_EDGE, edge_weights
from wayveil.methods.common.dominance import keep_shares, people_needed
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.methods.knode.trajectory_graph import class_owners, cut_large, merge_small, time_classes, time_windows
from wayveil.model import (
    BlockKey,
    Boxes,
    Engine,
    KAnonymity,
    Method,
    MethodResult,
    Points,
    check_parameters,
    duration_units,
    parameter,
)
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, take

__all__ = ["Knode"]

_MOST = 1024
"""Trajectories of a class that are taken at once: larger classes are cut, so that nothing grows with their square."""

_ROUNDS = 3  # a fourth finds next to nothing
_FARTHEST_M = 1e100  # squares of distances must be numbers


@dataclass(frozen=True, kw_only=True)
class Knode(Method):
    """Publish, instead of a trajectory, the boxes around a group of at least `k` people who travel at the same time.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people who share one published sequence of boxes.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories with one sequence of boxes that one person may own.
    window : str
        A duration such as "10min"; for times that are plain integers a positive integer, in their unit.  Trajectories
        that start in one window of this length and end in one are a class, and groups are found inside classes.
    variant : {"improved", "paper"}
        `improved` looks for groups at a low loss and leaves out as few as it can; `paper` is the greedy k-node
        partition of the trajectory graph, for comparison.
    overlap : {"or", "and", "x", "y"}
        With ``variant="paper"``: two trajectories have an edge where each has a sample between the start and the end of
        the other, on either axis, on both at once, or on the axis that is named.

    Guarantee
    ---------
    ``KAnonymity(k, row_share)``: every published sequence of boxes is that of at least `k` distinct owners, nobody owns
    more than `row_share` of its trajectories, and it contains where they were at its times.  Where a whole group goes
    to the same place, that place is published.

    Notes
    -----
    All trajectories must have points at the same times wherever they overlap; ``resample`` sees to it.  A box has the
    time of one timestamp, and a group has boxes at the timestamps that all of its trajectories have; others are cut
    off and counted.

    `paper` is Algorithms 1 to 3 with these repairs: all pairs are tested for an edge; an edge needs overlap in both
    directions; components of exactly k are taken; owners are counted.  All trajectories of a class are cut to the
    timestamps that they share.  Leftovers are dropped, as printed.  `improved` shares nothing with it but the classes,
    see ``docs/methods/knode.md``.  Where nothing is published of some people, groups are found once more without them:
    what is published depends on nobody else.  Classes of more than 1,024 trajectories (or 4k) are cut by place.  Time
    is O(n x 1,024 x timestamps) at most for each time, memory about five times the points plus 8 MB per worker.

    References
    ----------
    Huo, Huang, Meng: History trajectory privacy-preserving through graph partition.  MLBS 2011.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> starts = [(0.0, 0.0), (4.0, 1.0), (900.0, 0.0), (900.0, 5.0)]
    >>> ways = [[(t, x + 10.0 * t, y) for t in range(3)] for x, y in starts]
    >>> method = Knode(k=2, window=10)
    >>> result = method.run(Points.from_records(ways), rng=np.random.default_rng(0), engine=LocalEngine())
    >>> result.data.record(0)
    [(0, 0, 0.0, 4.0, 0.0, 1.0), (1, 1, 10.0, 14.0, 0.0, 1.0), (2, 2, 20.0, 24.0, 0.0, 1.0)]
    >>> result.data.record(3)[0], result.facts["success ratio"]
    ((0, 0, 900.0, 900.0, 0.0, 5.0), 1.0)
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published trajectory")
    row_share: Fraction | str = row_share_parameter()
    window: str = parameter(
        kind="duration", help="trajectories that start within one such window and end within one are grouped"
    )
    variant: str = parameter(
        kind="choice",
        choices=("improved", "paper"),
        default="improved",
        help="improved: groups at a low loss, few left out; paper: the greedy partition as published",
    )
    overlap: str = parameter(
        kind="choice",
        choices=tuple(AXES),
        default="or",
        help="with variant=paper: axes on which trajectories must overlap to be neighbours",
    )

    name: ClassVar[str] = "knode"
    summary: ClassVar[str] = "trajectory k-anonymity by grouping trajectories of the same time and publishing boxes"
    accepts: ClassVar[type[Points]] = Points
    publishes: ClassVar[type[Boxes]] = Boxes
    blocks: ClassVar[tuple[BlockKey, ...]] = ("times", "place")

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> KAnonymity:
        return KAnonymity(k=self.k, row_share=self.row_share)

    @property
    def people(self) -> int:
        """How many people a group has at least: `k`, or more where `row_share` takes more."""
        return people_needed(self.k, self.claim.owner_share)

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        window = duration_units(self.name, "window", self.window, data.time_format)
        engine.progress("finding classes of the same time")
        tracks = _tracks(data, self.people)
        groups, facts = self._gather(tracks, data, window, engine)
        some = data
        while len(groups.low):
            known = np.isin(tracks.owner, tracks.owner[groups.label >= 0])
            if known.all():
                break
            kept = np.zeros(len(data), np.bool_)
            kept[tracks.which[known]] = True
            some = some.where(np.repeat(kept, np.diff(some.offsets)))
            tracks = _tracks(some, self.people)
            groups, _ = self._gather(tracks, some, window, engine)
        if not len(groups.low):
            raise InputError(
                f"knode: no group of k = {self.k} people was found (classes of time: {facts['classes']:,}), so nothing "
                "can be published. Choose another window, a smaller k or more data."
            )
        engine.progress("drawing boxes")
        return _publish(data, tracks, groups, self.claim, facts)

    def _gather(
        self, tracks: _Tracks, data: Points, window: int, engine: Engine
    ) -> tuple[_Groups, dict[str, int | float | str]]:
        """Return the groups of these trajectories, and what is to be told of how they were found."""
        windows = time_windows(data.t[tracks.first], data.t[tracks.first + tracks.length - 1], window)
        label = time_classes(windows)
        owners = class_owners(label, tracks.owner)
        facts: dict[str, int | float | str] = {
            "classes": len(owners),
            "classes of fewer than k people": int((owners < self.people).sum()),
        }
        label = np.where(owners[label] >= self.people, label, -1)
        engine.progress("grouping trajectories")
        if self.variant == "paper":
            groups, facts["edges"] = self._partition(tracks, label, engine)
            return groups, facts
        return self._group(tracks, label, windows, engine), facts

    def _partition(self, tracks: _Tracks, label: IntArray, engine: Engine) -> tuple[_Groups, int]:
        """Build and partition the graph of every class, as printed; return the groups and the number of edges."""
        parts = [tracks.part(members, tracks.x, tracks.y) for members in self._parts(tracks, label)]
        done = engine.map(self._partitioned, parts)
        return _joined([groups for groups, _ in done], len(label)), sum(edges for _, edges in done)

    def _partitioned(self, part: _Part) -> tuple[_Groups, int]:
        low = int(part.start.max())
        high = int(part.end.min())
        if low > high:
            return _Groups.of(part.members, np.full(len(part.members), -1), low, high), 0
        rows = (part.points.begin + low - part.start)[:, None] + np.arange(high - low + 1)
        x, y = part.points.columns
        weights = edge_weights(x[rows], y[rows], self.overlap)
        found = partition(weights, _codes(part.owner), self.people)
        far = _from_middle(x[rows], y[rows], found)
        found[keep_shares(found, part.owner, far, self.claim.owner_share)] = -1
        return _Groups.of(part.members, found, low, high), int(np.count_nonzero(weights < NO_EDGE)) // 2

    def _group(self, tracks: _Tracks, label: IntArray, windows: IntArray, engine: Engine) -> _Groups:
        """Find groups at a low loss: in the classes, then in what is left of all of them, put together anew."""

        def grouped(label: IntArray) -> list[_Groups]:
            parts = [tracks.part(members, tracks.u, tracks.v) for members in self._parts(tracks, label)]
            return engine.map(self._grouped, parts)

        done = grouped(label)
        for _ in range(_ROUNDS):
            rest = np.flatnonzero(_joined(done, len(label)).label < 0)
            label = np.full(len(label), -1)
            for number, members in enumerate(merge_small(windows[rest], tracks.owner[rest], self.people)):
                label[rest[members]] = number
            done += grouped(label)
        return _joined(done, len(label))

    def _grouped(self, part: _Part) -> _Groups:
        share = self.claim.owner_share
        tracks = Tracks(part.points.begin, part.start, part.end, _codes(part.owner), *part.points.columns)
        found = low_loss_groups(tracks, self.people, (share.numerator, share.denominator))
        inside = found >= 0
        n = int(found.max()) + 1
        low = np.zeros(n, np.int64)
        high = np.full(n, part.end.max(initial=0))
        np.maximum.at(low, found[inside], part.start[inside])
        np.minimum.at(high, found[inside], part.end[inside])
        return _Groups(members=part.members, label=found, low=low, high=high)

    def _parts(self, tracks: _Tracks, label: IntArray) -> list[IntArray]:
        """Return the classes, large ones cut; the largest first, so that no worker ends long after the others."""
        order = np.argsort(label, kind="stable")
        bounds = np.searchsorted(label[order], np.arange(int(label.max(initial=-1)) + 2)).tolist()
        most = max(_MOST, 4 * self.people)
        places = tracks.places()
        found = [
            part
            for low, high in pairwise(bounds)
            if low < high  # small classes have no label
            for part in cut_large(order[low:high], places, tracks.owner, self.people, most)
        ]
        return sorted(found, key=len, reverse=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tracks:
    """The trajectories that have points: which, their first row and length, first and last timestamp in `times`.

    x and y are in metres; u and v are the same with the whole space scaled to the unit square.
    """

    which: IntArray
    first: IntArray
    length: IntArray
    start: IntArray
    end: IntArray
    owner: IntArray
    times: IntArray
    x: FloatArray
    y: FloatArray
    u: FloatArray
    v: FloatArray

    def places(self) -> FloatArray:
        """Return where every trajectory starts and ends."""
        last = self.first + self.length - 1
        return np.column_stack([self.u[self.first], self.v[self.first], self.u[last], self.v[last]])

    def part(self, members: IntArray, *columns: FloatArray) -> _Part:
        """Return some trajectories with these columns."""
        first = self.first[members]
        points = TrajectoryRows(begin=first, end=first + self.length[members], columns=columns)
        return _Part(
            members=members, points=points, start=self.start[members], end=self.end[members], owner=self.owner[members]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Part:
    """Trajectories among which groups are looked for: which, their points, first and last timestamps, and owners."""

    members: IntArray
    points: TrajectoryRows
    start: IntArray
    end: IntArray
    owner: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Groups:
    """The group of every member, or -1, and the first and the last timestamp of every group."""

    members: IntArray
    label: IntArray
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, members: IntArray, label: IntArray, low: int, high: int) -> _Groups:
        """Return groups that all have the same timestamps."""
        n = int(label.max()) + 1
        return cls(members=members, label=label, low=np.full(n, low), high=np.full(n, high))


def _tracks(data: Points, k: int) -> _Tracks:
    """Return the trajectories that have points, on one list of timestamps."""
    lengths = np.diff(data.offsets)
    which = np.flatnonzero(lengths)
    people = len(np.unique(data.owner[which]))
    if k > people:
        raise InputError(
            f"knode: k is {k}, but the data holds points of {people} people: nothing could be published. "
            "Take a smaller k or more data."
        )
    first = data.offsets[:-1][which]
    length = lengths[which]
    times = np.unique(data.t)
    start = np.searchsorted(times, data.t[first])
    uneven = int((times[start + length - 1] != data.t[first + length - 1]).sum())
    if uneven:
        raise InputError(
            f"knode: {uneven:,} of {len(which):,} trajectories lack points at times at which others have one. Run the "
            "step resample first, so that all have points at the same regular times."
        )
    if max(float(np.abs(column).max()) for column in (data.x, data.y)) > _FARTHEST_M:
        raise InputError(f"knode: coordinates must be at most {_FARTHEST_M:g} m; check their unit.")
    return _Tracks(
        which=which, first=first, length=length, start=start, end=start + length - 1,
        owner=data.owner[which], times=times, x=data.x, y=data.y, u=_scaled(data.x), v=_scaled(data.y),
    )  # fmt: skip


def _scaled(column: FloatArray) -> FloatArray:
    """Return a column with its range scaled to [0, 1], or zeros where it has none."""
    extent = np.ptp(column)
    return (column - column.min()) / extent if extent > 0 else np.zeros(len(column))


def _from_middle(x: FloatArray, y: FloatArray, label: IntArray) -> FloatArray:
    """Return how far each trajectory, a row of x and y, is from the middle of its group, as a mean of squares."""
    inside = label >= 0
    group = np.where(inside, label, 0)
    sizes = np.maximum(np.bincount(label[inside], minlength=1), 1)[:, None]
    far = np.zeros(len(label))
    for column in (x, y):
        middle = np.zeros((len(sizes), column.shape[1]))
        np.add.at(middle, label[inside], column[inside])
        far += np.mean((column - (middle / sizes)[group]) ** 2, axis=1)
    return far


def _codes(owner: IntArray) -> IntArray:
    """Return owners as numbers from 0 on."""
    return np.unique(owner, return_inverse=True)[1].astype(np.int64)


def _joined(parts: list[_Groups], n: int) -> _Groups:
    """Return the groups of all parts, as those of trajectories 0 to n - 1."""
    label = np.full(n, -1)
    groups = 0
    none = np.zeros(0, np.int64)
    for part in parts:
        inside = part.label >= 0
        label[part.members[inside]] = part.label[inside] + groups
        groups += len(part.low)
    low = np.concatenate([none, *(p.low for p in parts)])
    high = np.concatenate([none, *(p.high for p in parts)])
    return _Groups(members=np.arange(n), label=label, low=low, high=high)


def _publish(
    data: Points, tracks: _Tracks, groups: _Groups, claim: KAnonymity, facts: dict[str, int | float | str]
) -> MethodResult:
    """Give every trajectory the boxes of its group."""
    spans = groups.high - groups.low + 1
    first_box = offsets_of(spans)
    inside = groups.label >= 0
    low_row = tracks.first - tracks.start
    low_row[inside] += groups.low[groups.label[inside]]
    side = draw_boxes(groups.label, low_row, first_box, tracks.x, tracks.y)
    time = tracks.times[np.arange(first_box[-1]) + np.repeat(groups.low - first_box[:-1], spans)]
    lengths = np.zeros(len(data), np.int64)
    lengths[tracks.which[inside]] = spans[groups.label[inside]]
    box = take(first_box, groups.label[inside])[1]
    regions = Boxes(
        offsets=offsets_of(lengths), t_min=time[box], t_max=time[box],
        x_min=side[0][box], x_max=side[1][box], y_min=side[2][box], y_max=side[3][box],
        owner=data.owner, attributes=data.attributes, frame=data.frame, time_format=data.time_format,
        owners=data.owners,
    )  # fmt: skip
    return MethodResult(data=regions, claim=claim, facts=facts | _facts(data, tracks, groups, side, spans, first_box))


def _facts(
    data: Points, tracks: _Tracks, groups: _Groups, side: FloatArray, spans: IntArray, first_box: IntArray
) -> dict[str, int | float | str]:
    """Return what was published and what was lost of all data, in numbers."""
    inside = groups.label >= 0
    label = groups.label[inside]
    people = class_owners(label, tracks.owner[inside])
    given = int((np.diff(data.offsets) > 0).sum())
    wide, high = (max(float(np.ptp(column)), 1e-300) for column in (data.x, data.y))
    share = (side[1] - side[0]) / wide * ((side[3] - side[2]) / high)
    of_group = np.add.reduceat(share, first_box[:-1])
    blurred = float(of_group @ np.bincount(label, minlength=len(spans)))
    published = int(spans[label].sum())
    samples = data.n_rows
    left_out = samples - int(tracks.length[inside].sum())
    return {
        "groups": len(spans),
        "people in the smallest group": int(people.min()),
        "people in the largest group": int(people.max()),
        "people per group": float(people.mean()),
        "trajectories left out": given - int(inside.sum()),
        "success ratio": int(inside.sum()) / given,
        "points cut off published trajectories": samples - left_out - published,
        "box area, share of the whole space": blurred / published,
        "information loss per sample": (blurred + samples - published) / samples,
        "information loss, printed form": float(of_group.sum()) + left_out,
    }
