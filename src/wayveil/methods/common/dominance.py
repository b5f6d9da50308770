"""Nobody dominates a group: which trips of a person who owns too many of them are left out.

The rule is that of `wayveil.model.claims.counting`.  Two groups that come out alike are one set for an attacker, and
need no second look: where nobody owns more than a share of either, nobody owns more than that share of both together.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["keep_shares", "most_trips", "people_needed"]


def people_needed(k: int, share: Fraction) -> int:
    """Return the smallest number of people in a group: `k`, or more where `share` is so small that it takes more.

    Examples
    --------
    >>> people_needed(3, Fraction(1, 3)), people_needed(3, Fraction(1, 2)), people_needed(3, Fraction(2, 9))
    (3, 3, 5)
    """
    return max(k, -(-share.denominator // share.numerator))


def most_trips(trips: IntArray, share: Fraction) -> int:
    """Return how many trips of one person may stay in a group in which person i has ``trips[i]``.

    With a limit of m there stay ``min(trips[i], m)`` of each, and m is within the share as long as it is at most the
    share of their sum.  The sum grows with m, but ever more slowly, so that all limits up to a largest one do; any
    other choice with the same largest number of trips keeps fewer in all.  0 where the people are too few.

    Examples
    --------
    >>> most_trips(np.array([20, 1]), Fraction(1, 2)), most_trips(np.array([5, 3, 3, 1]), Fraction(1, 3))
    (1, 3)
    """
    low = 0
    high = int(trips.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        stay = int(np.minimum(trips, middle).sum())
        if middle * share.denominator <= stay * share.numerator:
            low = middle
        else:
            high = middle - 1
    return low


def keep_shares(label: IntArray, owner: IntArray, far: FloatArray, share: Fraction) -> IntArray:
    """Return the trajectories to leave out, so that nobody owns more than a share of any group.

    Parameters
    ----------
    label : int64, one per trajectory
        Its group; negative where it is in none.
    owner : int64, one per trajectory
        Who owns it.
    far : float64, one per trajectory
        How far it is from the centre of its group: of a person with too many, the nearest stay; among equals the first.
    share : Fraction
        The largest share of a group that one person may own.

    Notes
    -----
    As few as possible are left out.  A group of so few people that no choice keeps the share is left out whole.
    O(n log n).

    Examples
    --------
    >>> label, owner = np.array([0, 0, 0, 0, 7]), np.array([1, 1, 1, 2, 2])
    >>> keep_shares(label, owner, np.array([3.0, 1.0, 2.0, 9.0, 0.0]), Fraction(1, 2)).tolist()
    [0, 2, 4]
    """
    inside = np.flatnonzero(label >= 0)
    group = np.unique(label[inside], return_inverse=True)[1]
    person = np.unique(owner[inside], return_inverse=True)[1]
    # Trips of one person in one group lie together, the nearest first: `rank` is how many of them are nearer.
    order = np.lexsort((inside, far[inside], person, group))
    group = group[order]
    person = person[order]
    starts = np.ones(len(order), bool)
    starts[1:] = (group[1:] != group[:-1]) | (person[1:] != person[:-1])
    first = np.flatnonzero(starts)
    trips = np.diff(np.append(first, len(order)))
    rank = np.arange(len(order)) - np.repeat(first, trips)
    sizes = np.bincount(group)
    largest = np.zeros(len(sizes), np.int64)
    np.maximum.at(largest, group[first], trips)
    limit = largest.copy()
    bounds = np.searchsorted(group[first], np.arange(len(sizes) + 1))
    # Only groups in which somebody owns too much are looked at: there, how many trips each person may keep at most.
    for g in np.flatnonzero(largest * share.denominator > sizes * share.numerator).tolist():
        limit[g] = most_trips(trips[bounds[g] : bounds[g + 1]], share)
    return np.sort(inside[order[rank >= limit[group]]])
