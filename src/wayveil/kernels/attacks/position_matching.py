"""Who is near what an attacker knows: published trajectories against known positions, and against watched places.

The outer loops run over trajectories, so that the rows of one stay in the cache for all attacks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.box_distances import Boxes, around_cost, cost_at, first_ending, outside, way
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Slots", "Values", "nearest_owners", "nearest_values", "passing_owners"]

Ints = NDArray[Any]
Floats = NDArray[Any]

_ROUNDING = 1e-12  # far above what a float loses, far below what a position says


class Slots(NamedTuple):
    """Trajectories, those of one owner next to each other: rows ``first:last``, owner, and the box around all rows."""

    first: Ints
    last: Ints
    owner: Ints
    around: Boxes


class Values(NamedTuple):
    """What a trajectory is worth to who looks for an owner.

    Slot s has the label ``label[s]``; for owner o of `owners` it is worth ``value[i]`` where ``key[i]`` is
    label * owners + o, and nothing where there is no such key; keys ascend.
    """

    label: Ints
    owners: int
    key: Ints
    value: Floats


@kernel
def nearest_owners(
    rows: Boxes, slots: Slots, t: Ints, x: Floats, y: Floats, owner: Ints, depth: Ints, speed: float, rounding: float
) -> Any:
    """Return (tied, hit, many, own) per attack and level: how many owners are nearest, and 1 if `owner` of the attack
    is one; how many trajectories are nearest, and how many of them are that owner's.

    Attack i knows ``t[i], x[i], y[i]``; level l uses the first ``depth[i, l]`` of them (rising in l, at least 1).
    Nearest is the smallest sum of squared distances; roots of mean squares that differ by `rounding` metres are ties.
    O(attacks x slots) time, where most slots cost one comparison with a box; O(attacks x levels) memory.
    """
    n, n_levels = depth.shape
    tied = np.zeros((n, n_levels), np.int64)
    hit = np.zeros((n, n_levels), np.int64)
    many = np.zeros((n, n_levels), np.int64)
    own = np.zeros((n, n_levels), np.int64)
    counted = np.empty((n, n_levels), np.int64)
    counted[:] = -1
    limit = _limits(rows, slots, t, x, y, owner, depth, speed, rounding)
    for s in range(slots.owner.size):
        who = slots.owner[s]
        for i in range(n):
            cost = 0.0
            level = np.int64(0)
            for j in range(depth[i, n_levels - 1]):
                if cost + around_cost(slots.around, s, t[i, j], x[i, j], y[i, j], speed) > limit[i, n_levels - 1]:
                    break
                cost += cost_at(rows, slots.first[s], slots.last[s], t[i, j], x[i, j], y[i, j], speed)
                while level < n_levels and depth[i, level] == j + 1:
                    if cost <= limit[i, level]:
                        many[i, level] += 1
                        own[i, level] += who == owner[i]
                        if counted[i, level] != who:
                            counted[i, level] = who
                            tied[i, level] += 1
                            hit[i, level] += who == owner[i]
                    level += 1
    return tied, hit, many, own


@kernel
def nearest_values(
    rows: Boxes, slots: Slots, values: Values, t: Ints, x: Floats, y: Floats, owner: Ints, depth: Ints,
    speed: float, rounding: float,
) -> Any:  # fmt: skip
    """Return (total, many, first) per attack and level: the sum of the values of the nearest trajectories for `owner`
    of the attack, how many are nearest, and the first of them.

    Known positions, levels, ties, time and memory are those of `nearest_owners`.
    """
    n, n_levels = depth.shape
    total = np.zeros((n, n_levels), np.float64)
    many = np.zeros((n, n_levels), np.int64)
    nearest = np.empty((n, n_levels), np.int64)
    nearest[:] = -1
    limit = _limits(rows, slots, t, x, y, owner, depth, speed, rounding)
    for s in range(slots.owner.size):
        for i in range(n):
            cost = 0.0
            level = np.int64(0)
            for j in range(depth[i, n_levels - 1]):
                if cost + around_cost(slots.around, s, t[i, j], x[i, j], y[i, j], speed) > limit[i, n_levels - 1]:
                    break
                cost += cost_at(rows, slots.first[s], slots.last[s], t[i, j], x[i, j], y[i, j], speed)
                while level < n_levels and depth[i, level] == j + 1:
                    if cost <= limit[i, level]:
                        total[i, level] += _worth(values, s, owner[i])
                        if many[i, level] == 0:
                            nearest[i, level] = s
                        many[i, level] += 1
                    level += 1
    return total, many, nearest


@inner
def _limits(
    rows: Boxes, slots: Slots, t: Ints, x: Floats, y: Floats, owner: Ints, depth: Ints, speed: float, rounding: float
) -> Any:
    """Return the sum of squared distances, per attack and level, up to which a trajectory is one of the nearest."""
    n, n_levels = depth.shape
    limit = np.empty((n, n_levels), np.float64)
    limit[:] = np.inf
    # First the victims' own trajectories: they are near, and a tight limit saves time.  Then all, for the final limits.
    for turn in range(2):
        for s in range(slots.owner.size):
            for i in range(n):
                if turn == 0 and slots.owner[s] != owner[i]:
                    continue
                cost = 0.0
                level = np.int64(0)
                for j in range(depth[i, n_levels - 1]):
                    # A sum only grows and so do the limits: beyond the last limit no level can be reached.
                    if cost + around_cost(slots.around, s, t[i, j], x[i, j], y[i, j], speed) > limit[i, n_levels - 1]:
                        break
                    cost += cost_at(rows, slots.first[s], slots.last[s], t[i, j], x[i, j], y[i, j], speed)
                    while level < n_levels and depth[i, level] == j + 1:
                        wider = (np.sqrt(cost) * (1 + _ROUNDING) + np.sqrt(j + 1.0) * rounding) ** 2
                        limit[i, level] = min(limit[i, level], wider)
                        level += 1
    return limit


@kernel
def passing_owners(
    rows: Boxes, slots: Slots, values: Values, start: Ints, stop: Ints, x: Floats, y: Floats, owner: Ints,
    radius: float, moving: bool,
) -> Any:  # fmt: skip
    """Return (passing, hit, many, own, total) per watch: how many owners come within `radius` of (x, y) from `start`
    to `stop`, and 1 if `owner` of the watch is one; how many trajectories do, how many of them are that owner's, and
    the sum of their values for that owner.

    With `moving`, rows are points and the straight ways between them count.  O(watches x slots) time, where most
    slots cost one comparison with a box; O(watches) memory.
    """
    passing = np.zeros(x.size, np.int64)
    hit = np.zeros(x.size, np.int64)
    many = np.zeros(x.size, np.int64)
    own = np.zeros(x.size, np.int64)
    total = np.zeros(x.size, np.float64)
    counted = np.empty(x.size, np.int64)
    counted[:] = -1
    limit = radius * radius
    for s in range(slots.owner.size):
        first = slots.first[s]
        last = slots.last[s]
        for i in range(x.size):
            if slots.around.t_min[s] > stop[i] or slots.around.t_max[s] < start[i]:
                continue
            if outside(slots.around, s, x[i], y[i]) > limit:
                continue
            passes = False
            row = first_ending(rows.t_max, first, last, start[i])
            while not passes and row < last:
                if moving and row > first:
                    if rows.t_min[row - 1] > stop[i]:
                        break
                    passes = way(rows, row - 1, start[i], stop[i], x[i], y[i]) <= limit
                elif rows.t_min[row] > stop[i]:
                    break
                else:
                    passes = outside(rows, row, x[i], y[i]) <= limit
                row += 1
            if passes:
                many[i] += 1
                own[i] += slots.owner[s] == owner[i]
                total[i] += _worth(values, s, owner[i])
                if counted[i] != slots.owner[s]:
                    counted[i] = slots.owner[s]
                    passing[i] += 1
                    hit[i] += slots.owner[s] == owner[i]
    return passing, hit, many, own, total


@inner
def _worth(values: Values, s: int, owner: int) -> float:
    """Return what slot s is worth to who looks for an owner."""
    wanted = values.label[s] * values.owners + owner
    at = np.searchsorted(values.key, wanted)
    if at < values.key.size and values.key[at] == wanted:
        return values.value[at]
    return 0.0
