"""How far apart two distributions are: counts of the same things, and values of trips, before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.movement import finite
from wayveil.model.sums import Tally, side_by_side

__all__ = ["average", "largest", "top_kept", "total_variation", "value_distances"]

Array = NDArray[Any]


def total_variation(before: Array, after: Array) -> float | None:
    """Return half the sum of the differences of two sets of counts as shares; None where one has only zeros.

    It is the share that would have to be moved to turn one into the other.

    Examples
    --------
    >>> total_variation(np.array([2, 2]), np.array([1, 0])), total_variation(np.array([1]), np.array([0]))
    (0.5, None)
    """
    if not before.any() or not after.any():
        return None
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def top_kept(before: Array, after: Array, top: int) -> float | None:
    """Return the share of the largest counts before that are among the largest after; ties at the end count as in.

    Examples
    --------
    >>> top_kept(np.array([9, 8, 1]), np.array([3, 0, 4]), 2)
    0.5
    """
    old = largest(before, top)
    if not len(old):
        return None
    new = largest(after, top)
    bar = after[new].min() if len(new) else 1
    return float((after[old] >= bar).mean())


def value_distances(before: Array | Tally, after: Array | Tally) -> tuple[float | None, float | None]:
    """Return the Kolmogorov-Smirnov and the earth mover's distance of two sets of values; None if one is empty.

    The values may have been counted already.

    Examples
    --------
    >>> value_distances(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    (0.5, 1.0)
    """
    if not len(before) or not len(after):
        return None, None
    sides = [side if isinstance(side, Tally) else Tally.of(side) for side in (before, after)]
    both, *counts = side_by_side(*sides)
    below = [np.cumsum(count) / side.total for count, side in zip(counts, sides, strict=True)]
    apart = np.abs(below[0] - below[1])
    return float(apart.max()), finite((apart[:-1] * np.diff(both.values)).sum())


def average(values: Array | Tally) -> float | None:
    """Return the mean; None where there are no values, or where it is too large for a number.

    Examples
    --------
    >>> average(np.array([1, 2])), average(Tally.of(np.array([1, 1, 4])))
    (1.5, 2.0)
    """
    if not len(values):
        return None
    if isinstance(values, Tally):
        return finite((values.values * values.counts.astype(np.float64)).sum() / values.total)
    return finite(values.mean())


def largest(counts: Array, most: int) -> Array:
    """Return the positions of the `most` largest counts, none of them 0; ties in order of position.

    Examples
    --------
    >>> largest(np.array([0, 2, 5, 2]), 2).tolist(), largest(np.array([0]), 2).tolist()
    ([2, 1], [])
    """
    rank = np.argsort(-counts, kind="stable")[:most]
    return rank[counts[rank] > 0]
