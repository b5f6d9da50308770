"""Whether somebody who was at known positions can have been in all boxes of a trajectory, at no more than a speed."""

from __future__ import annotations

from math import sqrt

import numpy as np

from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, trajectory_of_row
from wayveil.model.data.times import seconds_per_unit
from wayveil.verifiers.common.containment import exact_m
from wayveil.verifiers.common.index_ranges import chunks, expand
from wayveil.verifiers.common.step_budget import StepBudget

__all__ = ["axis_speed", "exceed_speed", "within_reach"]


def axis_speed(top_speed: float, original: Points) -> float:
    """Return what is allowed along an axis, in metres per unit of time, so that no direction exceeds the top speed."""
    return top_speed / sqrt(2) * (seconds_per_unit(original.time_format) or 1.0)


def exceed_speed(original: Points, speed: float, slack: float) -> BoolArray:
    """Tell which trajectories have two samples, one after the other, that are farther apart along an axis than allowed.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (2, 4.0, -4.0)], [(0, 0.0, 0.0), (2, 0.0, 4.5)], []])
    >>> exceed_speed(data, 2.0, 0.0).tolist()
    [False, True, False]
    """
    track = trajectory_of_row(original.offsets)
    way = np.maximum(np.abs(np.diff(original.x)), np.abs(np.diff(original.y)))
    # Written so that a distance that is not a number counts as too far.
    far = ~(way <= speed * np.diff(original.t) + slack) & (track[1:] == track[:-1])
    is_faster = np.zeros(len(original.offsets) - 1, bool)
    is_faster[track[1:][far]] = True
    return is_faster


def within_reach(
    published: Boxes, original: Points, person: IntArray, trajectory: IntArray, speed: float, budget: StepBudget
) -> BoolArray:
    """Tell for pairs of a person and a trajectory whether all that is known of the one is within reach of the other.

    That is, whether every known position of original trajectory ``person[j]`` is, along each axis, no farther from
    every box of published trajectory ``trajectory[j]`` than `speed` times the time between them.  No time is between
    a position and a box of its time, so that it must be in it.

    Notes
    -----
    Then there is a way through all boxes and positions that keeps the speed along both axes, if those of each by
    themselves allow one: for one axis, where the ranges [low, high] at some times are pairwise within reach, the
    largest of all ``low - speed * |time between|`` is such a way.

    Time is one step per pair of a known position and a box.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 0.0, 0.0), (5, 1.0, 1.0)]])
    >>> near = [(0, 0, 0.0, 0.0, 0.0, 0.0), (5, 5, 1.0, 2.0, 0.0, 9.0)]
    >>> boxes = Boxes.from_records([near, [(2, 2, 9.0, 9.0, 0.0, 0.0)]])
    >>> within_reach(boxes, truth, np.array([0, 0]), np.array([0, 1]), 4.0, StepBudget(99)).tolist()
    [True, False]
    """
    is_known = original.known if original.known is not None else np.ones(len(original.t), bool)
    rows = np.flatnonzero(is_known)
    first = keep_rows(original.offsets, is_known)
    slack = exact_m(published)
    size = np.diff(first)[person] * np.diff(published.offsets)[trajectory]
    is_within_reach = np.ones(len(person), bool)
    for part in chunks(size):
        place, pair = expand(np.zeros(len(part), np.int64), size[part])
        budget.consume(len(place))
        boxes = np.diff(published.offsets)[trajectory[part]][pair]
        row = rows[first[person[part]][pair] + place // boxes]
        box = published.offsets[trajectory[part]][pair] + place % boxes
        wait = np.maximum(np.maximum(published.t_min[box] - original.t[row], original.t[row] - published.t_max[box]), 0)
        reach = speed * wait + slack
        near = _away(original.x[row], published.x_min[box], published.x_max[box]) <= reach
        near &= _away(original.y[row], published.y_min[box], published.y_max[box]) <= reach
        is_within_reach[part[pair[~near]]] = False
    return is_within_reach


def _away(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return how far values are from ranges; more than nothing where they are not in them."""
    away: FloatArray = np.maximum(np.maximum(low - value, value - high), 0.0)
    return away
