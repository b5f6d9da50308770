"""Distances in a small block of trajectories: computed row by row when a pivot first needs them, and kept."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.w4m.edr import edr
from wayveil.kernels.w4m.lstd import lstd

__all__ = ["Block", "Known", "Measure", "TimedPoints", "can_lead", "compute_distances"]

TimedPoints = namedtuple("TimedPoints", ["offsets", "x", "y", "t", "s"])
"""Trajectories with their points; nobody writes to them.

offsets : int64, one per trajectory and one more
    Trajectory i has the rows ``offsets[i]:offsets[i + 1]``.
x, y : float64, one per row
    Where the point is, in metres.
t : int64, one per row
    When.
s : float64, one per row
    When, as a length in metres: the time multiplied by a mean speed (step 1 of LSTD).
"""

Block = namedtuple("Block", ["points", "middle_x", "middle_y", "owner"])
"""Trajectories that are clustered together, none without points: a `TimedPoints`; for each trajectory the mean of its
points (float64), and its owner as a code from 0 (int64)."""

Measure = namedtuple("Measure", ["is_edr", "unit", "cap", "dx", "dy", "dt"])
"""The distance and its parameters: for LSTD the unit of costs in metres and the largest cost of a pair (int), for EDR
by how much points that match may differ."""

Known = namedtuple("Known", ["ready", "cost", "tie"])
"""The distances that were computed, by `compute_distances` alone, for every radius.

ready : int64, one per trajectory
    1 if the distances from this pivot are known.
cost : float64, pivots x trajectories
    The distance, LSTD or EDR.
tie : float64, pivots x trajectories
    What decides among equal distances: for LSTD the largest planar distance of a pair, for EDR that of the middles.
"""

TIES_PER_M = 1e6
"""Middles are means, which are not exact: their distances are told apart to a micrometre, or rounding would decide."""


@inner
def can_lead(block, measure, free, pivot, k, radius, seen_for):
    """Return whether enough people pass a test that everybody within the radius passes.  O(trajectories).

    Two trajectories differ by at least the difference of their lengths in edits; and in the linear walk the first
    points are a pair, and the last points are one.  ``free[i]`` (int64) is 1 if trajectory i is in no cluster,
    ``seen_for[o]`` (int64, written here) is the last pivot for which owner o was counted.
    """
    n_people = np.int64(0)
    offsets = block.points.offsets
    for i in range(free.size):
        if free[i] == 0 or seen_for[block.owner[i]] == pivot:
            continue
        if measure.is_edr:
            least = 1.0 * abs((offsets[i + 1] - offsets[i]) - (offsets[pivot + 1] - offsets[pivot]))
        else:
            first_points = _planar_distance(block.points, offsets[i], offsets[pivot])
            last_points = _planar_distance(block.points, offsets[i + 1] - 1, offsets[pivot + 1] - 1)
            least = max(first_points, last_points)
        if least <= radius:
            seen_for[block.owner[i]] = pivot
            n_people += 1
            if n_people >= k:
                return True
    return False


@inner
def _planar_distance(points, a, b):
    """Return the distance of two points in the plane."""
    dx = points.x[a] - points.x[b]
    dy = points.y[a] - points.y[b]
    return np.sqrt(dx * dx + dy * dy)


@inner
def compute_distances(block, measure, known, pivot, scratch):
    """Compute the distances of a pivot to all others, unless they are known.

    `scratch` (int64) is room for one more number than the longest trajectory has points.
    """
    if known.ready[pivot] == 1:
        return
    for i in range(block.owner.size):
        if not measure.is_edr:
            # not symmetric: the walk prefers to go on in the other trajectory
            known.cost[pivot, i], known.tie[pivot, i] = lstd(block.points, measure, pivot, i, scratch)
            continue
        dx = block.middle_x[i] - block.middle_x[pivot]
        dy = block.middle_y[i] - block.middle_y[pivot]
        known.tie[pivot, i] = np.floor(np.sqrt(dx * dx + dy * dy) * TIES_PER_M + 0.5)
        if known.ready[i] == 1:
            known.cost[pivot, i] = known.cost[i, pivot]
        else:
            known.cost[pivot, i] = edr(block.points, measure, i, pivot, scratch)
    known.ready[pivot] = 1
