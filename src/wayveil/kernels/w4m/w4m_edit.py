"""Editing trajectories in space and time until they run along the pivot of their cluster."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.clusters.disk_moves import clamp
from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.w4m.edr import DELETE, INSERT, edr_script
from wayveil.kernels.w4m.lstd import lstd

__all__ = ["CREATED", "DELETED", "TIME_MOVED", "WAY_MOVED", "EditedPoints", "edit"]

EditedPoints = namedtuple("EditedPoints", ["offsets", "t", "x", "y"])
"""Room for the trajectories as they are published, written by `edit`: i has the rows ``offsets[i]:offsets[i + 1]``, as
many as its pivot; t is int64, x and y are float64."""

# The columns of what editing took.
WAY_MOVED = 0
TIME_MOVED = 1
CREATED = 2
DELETED = 3


@kernel
def edit(points, label, measure, half, offset, edited, begin, end):
    """Write the trajectories from `begin` to `end` as they are published; return what it took.

    The trajectory of a cluster gets as many points as its pivot ``label[i]`` (int64, -1 for whoever is not published)
    and the same timestamps: for each point of the pivot, its own point that is aligned to it, moved to at most `half`
    away.  Where `offset`, a `DiskOffset`, holds numbers, it is put at its offset from the pivot instead, wherever it
    was.  Returns a row per trajectory with the columns named above (float64).  Cost as `lstd` or `edr_script` for each
    trajectory.
    """
    longest = np.int64(1)
    for i in range(begin, end):
        longest = max(longest, edited.offsets[i + 1] - edited.offsets[i])
    source = np.empty(longest, np.int64)  # which own point a point of the pivot gets; see `_follow`
    took = np.zeros((end - begin, 4), np.float64)
    has_offset = offset.x.size > 0

    # Spatio-temporal editing of a member towards its pivot (section 1.5 of the specification): align, then translate.
    for i in range(begin, end):
        pivot = label[i]
        if pivot < 0:
            continue
        n_own = points.offsets[i + 1] - points.offsets[i]
        n_pivot = points.offsets[pivot + 1] - points.offsets[pivot]
        if pivot == i:
            for j in range(n_pivot):
                source[j] = j
        elif measure.is_edr:
            _, script = edr_script(points, measure, i, pivot)
            took[i - begin, CREATED], took[i - begin, DELETED] = _follow(script, source)
        else:
            lstd(points, measure, pivot, i, source)
            took[i - begin, CREATED] = max(0, n_pivot - n_own)
            took[i - begin, DELETED] = max(0, n_own - n_pivot)

        for j in range(n_pivot):
            is_copy = source[j] < 0
            own = points.offsets[i] + (-source[j] - 1 if is_copy else source[j])
            goal = points.offsets[pivot] + j
            out = edited.offsets[i] + j
            x = points.x[own]
            y = points.y[own]
            goal_x = points.x[goal]
            goal_y = points.y[goal]
            edited.t[out] = points.t[goal]
            if has_offset:
                new_x, new_y = clamp(goal_x + offset.x[i], goal_y + offset.y[i], goal_x, goal_y, half)
            else:
                new_x, new_y = clamp(x, y, goal_x, goal_y, half)
            edited.x[out] = new_x
            edited.y[out] = new_y
            if is_copy:
                continue  # a point that was created was not moved
            if has_offset:
                took[i - begin, WAY_MOVED] += np.sqrt((x - new_x) ** 2 + (y - new_y) ** 2)
            else:
                # what the smallest translation is in exact numbers: `clamp` stays a hair inside the disk
                distance = np.sqrt((x - goal_x) ** 2 + (y - goal_y) ** 2)
                took[i - begin, WAY_MOVED] += max(0.0, distance - half)
            took[i - begin, TIME_MOVED] += abs(points.t[own] - points.t[goal])
    return took


@inner
def _follow(script, source):
    """Note which own point each point of the pivot gets; return how many points are created and deleted.

    A created point is a copy of the own point before, or of the first one; ``-1 - point`` says that it is a copy.
    `script` is that of `edr_script`; `source` (int64, one per point of the pivot) is written.
    """
    i = np.int64(0)
    j = np.int64(0)
    created = np.int64(0)
    deleted = np.int64(0)
    for step in range(script.size):
        if script[step] == DELETE:
            deleted += 1
            i += 1
        elif script[step] == INSERT:
            source[j] = -1 - max(i - 1, 0)
            created += 1
            j += 1
        else:
            source[j] = i
            i += 1
            j += 1
    return created, deleted
