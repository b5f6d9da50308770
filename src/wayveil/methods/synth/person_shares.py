"""How much each trip counts, so that nobody counts more than one person does, whatever they did.

Counts are integers in parts of a person: `ONE_PERSON` parts are all that one person may add to a histogram.  What a
trip adds follows from the trips of its own owner alone, so that adding or removing a person changes nothing of others.
"""

from __future__ import annotations

import numpy as np

from wayveil.model.data.ragged import IntArray

__all__ = ["ONE_PERSON", "share_trips", "split_shares"]

ONE_PERSON = 2**18
"""How many parts a person is; shares are rounded down to whole parts, so that they never add up to more."""


def share_trips(owner: IntArray, is_counted: np.ndarray, trips_per_person: int) -> IntArray:
    """Return the parts that each trip counts: a person's are shared equally among at least `trips_per_person` trips.

    Whoever has fewer counts less; whoever has more counts as one person, with all trips in equal parts.

    Examples
    --------
    >>> shares = share_trips(np.array([0, 0, 0, 1]), np.array([True, True, True, True]), 2)
    >>> (shares * 6 // ONE_PERSON).tolist(), int(shares[:3].sum()) <= ONE_PERSON
    ([1, 1, 1, 3], True)
    """
    people, person = np.unique(owner, return_inverse=True)
    trips = np.bincount(person[is_counted], minlength=len(people))
    shares: IntArray = ONE_PERSON // np.maximum(trips[person], trips_per_person)
    return np.where(is_counted, shares, 0)


def split_shares(shares: IntArray, parts: IntArray) -> IntArray:
    """Return what each of several parts of a trip counts, rounded down; 0 where there is none.

    Examples
    --------
    >>> split_shares(np.array([10, 10]), np.array([3, 0])).tolist()
    [3, 0]
    """
    return np.where(parts > 0, shares // np.maximum(parts, 1), 0)
