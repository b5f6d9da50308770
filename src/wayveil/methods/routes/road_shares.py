"""Nobody dominates: which trajectories that look alike stay, so that no person owns too large a share of them."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import numpy as np

from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["fewest_people", "rows_within_share", "shorten_within_share"]

_LARGEST_DENOMINATOR = 2**31


def fewest_people(k: int, share: Fraction) -> int:
    """Return how many people a group needs: `k`, or more where a single trajectory would be too large a share.

    Examples
    --------
    >>> fewest_people(5, Fraction(1, 5)), fewest_people(5, Fraction(1, 2)), fewest_people(5, Fraction(2, 15))
    (5, 5, 8)
    """
    return max(k, ceil(1 / share))


def rows_within_share(
    group: IntArray, person: IntArray, may_go: BoolArray, share: Fraction, others: IntArray
) -> BoolArray:
    """Return which trajectories stay, as many as possible, so that nobody owns more than a share of a group.

    Parameters
    ----------
    group, person : int64, one per trajectory
        The group that it is in, and whose it is, as codes from 0.
    may_go : bool, one per trajectory
        Whether it can be taken out; those that cannot must keep the share by themselves.
    share : Fraction
        The largest share.
    others : int64, one per group
        Trajectories of nobody in the group, which count as rows.

    Notes
    -----
    If the largest number that somebody keeps is m, then everybody may keep up to m, and the more they keep the smaller
    is the share of m.  So the answer is the largest m with m <= share * (rows that stay if everybody keeps up to m).
    Of the trajectories of one person the first ones stay: those of a group are published alike, whichever they are.

    Examples
    --------
    >>> group, person = np.zeros(6, np.int64), np.array([0, 0, 0, 0, 1, 2])
    >>> stays = rows_within_share(group, person, np.full(6, True), Fraction(1, 2), np.array([0]))
    >>> stays.tolist()
    [True, True, False, False, True, True]
    """
    numerator, denominator = _small(share)
    n_people = int(person.max(initial=0)) + 1
    pairs, pair = np.unique(group * n_people + person, return_inverse=True)
    of_group = pairs // n_people
    fixed = np.bincount(pair[~may_go], minlength=len(pairs))
    free = np.bincount(pair[may_go], minlength=len(pairs))
    most = np.zeros(len(others), np.int64)
    np.maximum.at(most, of_group, fixed + free)
    # Before each round nobody can keep more than `most`.  With that many for everybody, `rows` stay, or fewer, so that
    # a share of them is the next bound.  Bounds are whole numbers and only fall, so this ends, at the largest answer.
    while True:
        keeps = np.clip(most[of_group] - fixed, 0, free)
        rows = others + np.bincount(of_group, weights=fixed + keeps, minlength=len(others)).astype(np.int64)
        lower = np.minimum(most, rows * numerator // denominator)
        if (lower == most).all():
            break
        most = lower
    stays = ~may_go
    candidates = np.flatnonzero(may_go)
    candidates = candidates[np.argsort(pair[candidates], kind="stable")]
    begin = np.cumsum(free) - free
    turn = np.arange(len(candidates)) - begin[pair[candidates]]
    stays[candidates[turn < keeps[pair[candidates]]]] = True
    return stays


def shorten_within_share(
    offsets: IntArray, road: IntArray, person: IntArray, shortest: IntArray, share: Fraction
) -> IntArray:
    """Return how long each route stays, so that of those with a common beginning nobody owns more than a share.

    Parameters
    ----------
    offsets, road : int64
        The routes, of which some begin alike.  People with a common beginning are enough for the share if everybody
        has one route with it.
    person : int64, one per route
        Whose it is, as codes from 0.
    shortest : int64, one per route
        A route that would be shorter than this is taken out instead: its length is 0.
    share : Fraction
        The largest share.

    Notes
    -----
    From the longest beginnings to the shortest.  Somebody who owns too many routes with a beginning has those
    shortened by one road that end with it, and they are counted again with the shorter beginning.  Nothing that goes
    on is touched, since it kept the share before, and everybody keeps one route with every beginning that was theirs.

    Memory O(rows); time is that of sorting the rows.

    Examples
    --------
    >>> offsets, road = np.array([0, 2, 4, 6, 8]), np.array([0, 1, 0, 1, 0, 1, 0, 1])
    >>> shorten_within_share(offsets, road, np.array([0, 0, 0, 1]), np.ones(4, np.int64), Fraction(1, 2)).tolist()
    [2, 0, 0, 2]
    """
    length = np.diff(offsets)
    begins = _beginnings(offsets, road)
    # Before each round all beginnings longer than `depth` keep the share.  A round looks at those of `depth` roads,
    # and takes the last road from routes that end there and belong to somebody with too many; it ends at the first
    # road.
    for depth in range(int(length.max(initial=0)), 0, -1):
        deep_enough = np.flatnonzero(length >= depth)
        nodes, node = np.unique(begins[offsets[deep_enough] + depth - 1], return_inverse=True)
        ends = length[deep_enough] == depth
        stays = rows_within_share(node, person[deep_enough], ends, share, np.zeros(len(nodes), np.int64))
        removed = deep_enough[~stays]
        length[removed] = np.where(depth - 1 >= shortest[removed], depth - 1, 0)
    return length


def _beginnings(offsets: IntArray, road: IntArray) -> IntArray:
    """Return for every row a code of the route up to it, the same for equal ones of one length."""
    length = np.diff(offsets)
    codes = np.zeros(len(road), np.int64)
    n_roads = int(road.max(initial=0)) + 1
    before = np.zeros(len(length), np.int64)
    # A code of the beginning so far and the next road make the code of the longer one; codes are made dense in every
    # round, so that the product fits into 64 bits.
    for depth in range(int(length.max(initial=0))):
        deep_enough = np.flatnonzero(length > depth)
        at = offsets[deep_enough] + depth
        _, code = np.unique(before[deep_enough] * n_roads + road[at], return_inverse=True)
        codes[at] = before[deep_enough] = code
    return codes


def _small(share: Fraction) -> tuple[int, int]:
    """Return numerator and denominator of a share that 64-bit integers can multiply by; never a larger one."""
    if share.denominator <= _LARGEST_DENOMINATOR:
        return share.numerator, share.denominator
    return share.numerator * _LARGEST_DENOMINATOR // share.denominator, _LARGEST_DENOMINATOR
