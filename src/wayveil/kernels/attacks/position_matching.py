"""Who is near what an attacker knows: published trajectories against known positions, and against watched places.

The outer loops run over trajectories, so that the rows of one stay in the cache for all attacks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.attacks.box_distances import BoxSides, around_cost, cost_at, first_ending, outside, way
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Sightings", "Slots", "Values", "Watches", "nearest_owners", "nearest_values", "passing_owners"]

Ints = NDArray[Any]
Floats = NDArray[Any]

_ROUNDING = 1e-12  # far above what a float loses, far below what a position says
_MOST_LISTED = 64
"""Slots that are noted per attack while limits are found: only these have to be looked at again."""


class Slots(NamedTuple):
    """Trajectories, those of one owner next to each other: rows ``first:last``, owner, and the box around all rows."""

    first: Ints
    last: Ints
    owner: Ints
    around: BoxSides


class Values(NamedTuple):
    """What a trajectory is worth to who looks for an owner.

    Slot s has the label ``label[s]``; for owner o of `owners` it is worth ``value[i]`` where ``key[i]`` is
    label * owners + o, and nothing where there is no such key; keys ascend.
    """

    label: Ints
    owners: int
    key: Ints
    value: Floats


class Sightings(NamedTuple):
    """What is known in each attack: attack i, on ``owner[i]``, knows positions ``t[i], x[i], y[i]``, one per column.

    Level l of it uses the first ``depth[i, l]`` of them (rising in l, at least 1).
    """

    t: Ints
    x: Floats
    y: Floats
    owner: Ints
    depth: Ints


class Watches(NamedTuple):
    """Someone looks at (x, y) from `start` to `stop` and sees `owner`: one entry per watch."""

    start: Ints
    stop: Ints
    x: Floats
    y: Floats
    owner: Ints


@kernel
def nearest_owners(rows: BoxSides, slots: Slots, known: Sightings, speed: float, rounding: float) -> Any:
    """Return (tied, hit, many, own) per attack and level: how many owners are nearest, and 1 if `owner` of the attack
    is one; how many trajectories are nearest, and how many of them are that owner's.

    Nearest is the smallest sum of squared distances; roots of mean squares that differ by `rounding` metres are ties.
    O(attacks x slots) time, where most slots cost one comparison with a box; O(attacks x levels) memory.
    """
    n, n_levels = known.depth.shape
    tied = np.zeros((n, n_levels), np.int64)
    hit = np.zeros((n, n_levels), np.int64)
    many = np.zeros((n, n_levels), np.int64)
    own = np.zeros((n, n_levels), np.int64)
    counted = np.empty((n, n_levels), np.int64)  # the last owner counted: slots of one owner are neighbours
    counted[:] = -1
    limit, listed, n_listed = _limits(rows, slots, known, speed, rounding)
    # Every slot that may be one of the nearest meets every attack once, in ascending order: those that were noted, or
    # all, one after the other, for attacks with more than can be noted.  `cost` is the sum over the positions so far;
    # where their number is that of a level, the slot is one of the nearest if the sum is within the limit of the level.
    some, full = _by_list(n_listed)
    for turn in range(some.size + slots.owner.size):
        with_list = turn < some.size
        for at in range(n_listed[some[turn]] if with_list else full.size):
            i = some[turn] if with_list else full[at]
            s = listed[i, at] if with_list else turn - some.size
            who = slots.owner[s]
            cost = 0.0
            level = np.int64(0)
            for j in range(known.depth[i, n_levels - 1]):
                t = known.t[i, j]
                x = known.x[i, j]
                y = known.y[i, j]
                if cost + around_cost(slots.around, s, t, x, y, speed) > limit[i, n_levels - 1]:
                    break
                cost += cost_at(rows, slots.first[s], slots.last[s], t, x, y, speed)
                while level < n_levels and known.depth[i, level] == j + 1:
                    if cost <= limit[i, level]:
                        many[i, level] += 1
                        own[i, level] += who == known.owner[i]
                        if counted[i, level] != who:
                            counted[i, level] = who
                            tied[i, level] += 1
                            hit[i, level] += who == known.owner[i]
                    level += 1
    return tied, hit, many, own


@kernel
def nearest_values(
    rows: BoxSides, slots: Slots, values: Values, known: Sightings, speed: float, rounding: float
) -> Any:
    """Return (total, many, first) per attack and level: the sum of the values of the nearest trajectories for `owner`
    of the attack, how many are nearest, and the first of them.

    Ties, time and memory are those of `nearest_owners`.
    """
    n, n_levels = known.depth.shape
    total = np.zeros((n, n_levels), np.float64)
    many = np.zeros((n, n_levels), np.int64)
    nearest = np.empty((n, n_levels), np.int64)
    nearest[:] = -1
    limit, listed, n_listed = _limits(rows, slots, known, speed, rounding)
    some, full = _by_list(n_listed)
    for turn in range(some.size + slots.owner.size):  # as in `nearest_owners`
        with_list = turn < some.size
        for at in range(n_listed[some[turn]] if with_list else full.size):
            i = some[turn] if with_list else full[at]
            s = listed[i, at] if with_list else turn - some.size
            cost = 0.0
            level = np.int64(0)
            for j in range(known.depth[i, n_levels - 1]):
                t = known.t[i, j]
                x = known.x[i, j]
                y = known.y[i, j]
                if cost + around_cost(slots.around, s, t, x, y, speed) > limit[i, n_levels - 1]:
                    break
                cost += cost_at(rows, slots.first[s], slots.last[s], t, x, y, speed)
                while level < n_levels and known.depth[i, level] == j + 1:
                    if cost <= limit[i, level]:
                        total[i, level] += _worth(values, s, known.owner[i])
                        if many[i, level] == 0:
                            nearest[i, level] = s
                        many[i, level] += 1
                    level += 1
    return total, many, nearest


@inner
def _limits(rows: BoxSides, slots: Slots, known: Sightings, speed: float, rounding: float) -> Any:
    """Return (limit, listed, n_listed): the sum of squared distances, per attack and level, up to which a trajectory is
    one of the nearest; and the slots of each attack that were not above a limit when they were looked at, ascending.

    Limits only fall, so every slot that is within the last ones is listed.  `n_listed` is how many there are; of more
    than `_MOST_LISTED` only the first are noted.
    """
    n, n_levels = known.depth.shape
    listed = np.empty((n, _MOST_LISTED), np.int64)
    n_listed = np.zeros(n, np.int64)
    limit = np.empty((n, n_levels), np.float64)
    limit[:] = np.inf
    # First the victims' own trajectories: they are near, and a tight limit saves time.  Then all, for the final limits.
    # Before each round a limit is the smallest sum so far, widened by what counts as a tie.
    for turn in range(2):
        for s in range(slots.owner.size):
            for i in range(n):
                if turn == 0 and slots.owner[s] != known.owner[i]:
                    continue
                cost = 0.0
                level = np.int64(0)
                is_near = False
                for j in range(known.depth[i, n_levels - 1]):
                    t = known.t[i, j]
                    x = known.x[i, j]
                    y = known.y[i, j]
                    # A sum only grows and so do the limits: beyond the last limit no level can be reached.
                    if cost + around_cost(slots.around, s, t, x, y, speed) > limit[i, n_levels - 1]:
                        break
                    cost += cost_at(rows, slots.first[s], slots.last[s], t, x, y, speed)
                    while level < n_levels and known.depth[i, level] == j + 1:
                        wider = (np.sqrt(cost) * (1 + _ROUNDING) + np.sqrt(j + 1.0) * rounding) ** 2
                        is_near |= cost <= limit[i, level]
                        limit[i, level] = min(limit[i, level], wider)
                        level += 1
                if turn == 1 and is_near:
                    if n_listed[i] < _MOST_LISTED:
                        listed[i, n_listed[i]] = s
                    n_listed[i] += 1
    return limit, listed, n_listed


@inner
def _by_list(n_listed: Ints) -> tuple[Ints, Ints]:
    """Return the attacks whose slots are all listed, and those with more than can be."""
    return np.flatnonzero(n_listed <= _MOST_LISTED), np.flatnonzero(n_listed > _MOST_LISTED)


@kernel
def passing_owners(rows: BoxSides, slots: Slots, values: Values, watches: Watches, radius: float, moving: bool) -> Any:
    """Return (passing, hit, many, own, total) per watch: how many owners come within `radius` of the place in time, and
    1 if `owner` of the watch is one; how many trajectories do, how many of them are that owner's, and the sum of their
    values for that owner.

    With `moving`, rows are points and the straight ways between them count.  O(watches x slots) time, where most
    slots cost one comparison with a box; O(watches) memory.
    """
    n = watches.x.size
    passing = np.zeros(n, np.int64)
    hit = np.zeros(n, np.int64)
    many = np.zeros(n, np.int64)
    own = np.zeros(n, np.int64)
    total = np.zeros(n, np.float64)
    counted = np.empty(n, np.int64)
    counted[:] = -1
    limit = radius * radius
    # Every slot meets every watch once.  One whose box in space and time is away from the watch is done with that; of
    # the others, the rows (or the ways between them) that overlap the watch in time are tried until one is near enough.
    for s in range(slots.owner.size):
        first = slots.first[s]
        last = slots.last[s]
        for i in range(n):
            start = watches.start[i]
            stop = watches.stop[i]
            x = watches.x[i]
            y = watches.y[i]
            if slots.around.t_min[s] > stop or slots.around.t_max[s] < start:
                continue
            if outside(slots.around, s, x, y) > limit:
                continue
            passes = False
            row = first_ending(rows.t_max, first, last, start)
            while not passes and row < last:
                if moving and row > first:
                    if rows.t_min[row - 1] > stop:
                        break
                    passes = way(rows, row - 1, start, stop, x, y) <= limit
                elif rows.t_min[row] > stop:
                    break
                else:
                    passes = outside(rows, row, x, y) <= limit
                row += 1
            if passes:
                many[i] += 1
                own[i] += slots.owner[s] == watches.owner[i]
                total[i] += _worth(values, s, watches.owner[i])
                if counted[i] != slots.owner[s]:
                    counted[i] = slots.owner[s]
                    passing[i] += 1
                    hit[i] += slots.owner[s] == watches.owner[i]
    return passing, hit, many, own, total


@inner
def _worth(values: Values, s: int, owner: int) -> float:
    """Return what slot s is worth to who looks for an owner."""
    key = values.label[s] * values.owners + owner
    at = np.searchsorted(values.key, key)
    if at < values.key.size and values.key[at] == key:
        return values.value[at]
    return 0.0
