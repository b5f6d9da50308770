"""Distances in a small block of trajectories: computed row by row when a pivot first needs them, and kept."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.clusters.edr import edr
from wayveil.kernels.clusters.lstd import lstd
from wayveil.kernels.common.jit import inner

__all__ = ["Block", "Known", "Measure", "could_lead", "know"]

Block = namedtuple("Block", ["offsets", "x", "y", "t", "s", "middle_x", "middle_y", "owner"])
"""Trajectories with their points, times, times as lengths, middles, and owners as codes from 0."""

Measure = namedtuple("Measure", ["is_edr", "unit", "cap", "dx", "dy", "dt"])
"""The distance, and its parameters."""

Known = namedtuple("Known", ["ready", "cost", "tie"])
"""Where ``ready[p]`` is 1: the distance of pivot p to each trajectory, and what decides among equal distances."""

TIES_PER_M = 1e6
"""Middles are means, which are not exact: their distances are told apart to a micrometre, or rounding would decide."""


@inner
def could_lead(block, measure, free, pivot, k, radius, seen):
    """Return whether enough people pass a test that everybody within the radius passes.

    Two trajectories differ by at least the difference of their lengths in edits; and in the linear walk the first
    points are a pair, and the last points are one.
    """
    n_people, offsets = np.int64(0), block.offsets
    for i in range(free.size):
        if free[i] == 0 or seen[block.owner[i]] == pivot:
            continue
        if measure.is_edr:
            least = 1.0 * abs((offsets[i + 1] - offsets[i]) - (offsets[pivot + 1] - offsets[pivot]))
        else:
            least = max(
                _apart(block, offsets[i], offsets[pivot]), _apart(block, offsets[i + 1] - 1, offsets[pivot + 1] - 1)
            )
        if least <= radius:
            seen[block.owner[i]] = pivot
            n_people += 1
            if n_people >= k:
                return True
    return False


@inner
def _apart(block, a, b):
    dx, dy = block.x[a] - block.x[b], block.y[a] - block.y[b]
    return np.sqrt(dx * dx + dy * dy)


@inner
def know(block, measure, known, pivot, room):
    """Compute the distances of a pivot to all others, unless they are known."""
    if known.ready[pivot] == 1:
        return
    offsets = block.offsets
    begin, end = offsets[pivot], offsets[pivot + 1]
    for i in range(block.owner.size):
        if not measure.is_edr:
            known.cost[pivot, i], known.tie[pivot, i] = lstd(
                block.x, block.y, block.s, begin, end, offsets[i], offsets[i + 1], measure.unit, measure.cap, room
            )
            continue
        dx, dy = block.middle_x[i] - block.middle_x[pivot], block.middle_y[i] - block.middle_y[pivot]
        known.tie[pivot, i] = np.floor(np.sqrt(dx * dx + dy * dy) * TIES_PER_M + 0.5)
        if known.ready[i] == 1:
            known.cost[pivot, i] = known.cost[i, pivot]
        else:
            known.cost[pivot, i] = edr(
                block.x, block.y, block.t, offsets[i], offsets[i + 1], begin, end,
                measure.dx, measure.dy, measure.dt, room,
            )  # fmt: skip
    known.ready[pivot] = 1
