"""What an adversary infers of a person over all trajectories of that person: exact chances, proposed by logarithms."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, inf, log

import numpy as np
from scipy.special import gammaln

from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray
from wayveil.verifiers.breach_bound.projection_shares import Shares, Table
from wayveil.verifiers.common.index_ranges import chunks, expand

__all__ = ["Holding", "Inference"]

Holding = tuple[int, int, int]
"""What one person has of one class: its trajectories, those with the place, and those of this person."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Inference:
    """What one adversary infers of people with several trajectories, over all that each of them has.

    Parameters
    ----------
    largest : Fraction
        The largest chance of one person and one place, 0 if nobody has several trajectories.
    place : int
        The place of this chance, or -1.
    holdings : tuple of Holding
        What this person has of the classes with the place, sorted.
    unsafe : bool, one per person
        Whether the chance of some place is above p.
    """

    largest: Fraction
    place: int
    holdings: tuple[Holding, ...]
    unsafe: BoolArray

    @classmethod
    def of(cls, table: Table, shares: Shares, p: Fraction) -> Inference:
        unsafe = np.zeros(table.people, bool)
        best: tuple[Fraction, int, tuple[Holding, ...]] = (Fraction(0), -1, ())
        theirs = (np.bincount(table.person, minlength=table.people) > 1)[table.person]
        n_classes = len(shares.size)
        keys, n_trips = np.unique(table.person[theirs] * n_classes + shares.code[theirs], return_counts=True)
        person, group = np.divmod(keys, n_classes)
        of_class = np.append(0, np.cumsum(np.bincount(shares.group, minlength=n_classes)))  # pairs are sorted by class
        begin = of_class[group]
        n_places = of_class[group + 1] - begin
        first = np.flatnonzero(np.append(True, person[1:] != person[:-1])[: len(person)])
        n_groups = np.diff(np.append(first, len(person)))
        # A sum of logarithms of so many binomials is off by less than this.
        slack = 1e-12 + 1e-14 * float(gammaln(len(shares.code) + 1.0)) * int(n_groups.max(initial=1))

        # Some people at a time, with all places of all their classes: a row is a pair of person and class with a place
        # of the class, and `pair` the person and the place that it belongs to.
        until = np.append(0, np.cumsum(n_places))
        for some in chunks(until[first + n_groups] - until[first]):
            one = slice(first[some[0]], first[some[-1]] + n_groups[some[-1]])
            row, which = expand(begin[one], n_places[one])
            pairs, pair = np.unique(person[one][which] * len(table.names) + shares.place[row], return_inverse=True)
            if len(pairs):
                rows = _Rows(pair, shares.size[group[one]][which], shares.trips[row], n_trips[one][which])
                whose, place = np.divmod(pairs, len(table.names))
                unsafe[whose[rows.above(p, slack)]] = True
                new = rows.surest(place, slack)
                best = new if new[0] > best[0] or (new[0] == best[0] and new[1:] < best[1:]) else best
        return cls(largest=best[0], place=best[1], holdings=best[2], unsafe=unsafe)


class _Rows:
    """Pairs of a person and a place, each with what the person has of some classes.

    The chances that none of their trajectories in a class has the place are multiplied, as sums of logarithms.  Those
    close to p, or to the largest, are computed again as fractions.

    Parameters
    ----------
    pair : int64, one per row
        The pair that a row belongs to, from 0 on; each has some.
    whole, having, mine : int64, one per row
        The trajectories of a class, those with the place, and those of the person.
    """

    def __init__(self, pair: IntArray, whole: IntArray, having: IntArray, mine: IntArray) -> None:
        self.columns = whole, having, mine
        self.by_pair = np.argsort(pair, kind="stable")
        self.ends = np.append(0, np.cumsum(np.bincount(pair)))
        self.none = np.bincount(pair, weights=_log_none(whole, having, mine))
        self.chances: dict[tuple[Holding, ...], Fraction] = {}

    def above(self, p: Fraction, slack: float) -> BoolArray:
        """Return whether the chance of each pair is above p."""
        if p == 1:
            return np.zeros(len(self.none), bool)
        limit = log(1 - p)
        above = self.none < limit - slack
        close = np.flatnonzero(np.abs(self.none - limit) <= slack)
        above[close] = [self.chance(self.holdings(i)) > p for i in close.tolist()]
        return above

    def surest(self, place: IntArray, slack: float) -> tuple[Fraction, int, tuple[Holding, ...]]:
        """Return the largest chance with its place and holdings; of equal chances the first by these."""
        lowest = self.none.min()
        top = np.flatnonzero(self.none <= lowest + slack)
        if lowest == -inf:  # certain, without any arithmetic
            top = top[place[top] == place[top].min()]
        candidates = [(int(place[i]), self.holdings(i)) for i in top.tolist()]
        largest = max(self.chance(holdings) for _, holdings in candidates)
        return (largest, *min(one for one in candidates if self.chance(one[1]) == largest))

    def holdings(self, i: int) -> tuple[Holding, ...]:
        """Return what the person of a pair has of the classes with the place, sorted."""
        rows = self.by_pair[self.ends[i] : self.ends[i + 1]]
        whole, having, mine = (column[rows].tolist() for column in self.columns)
        return tuple(sorted(zip(whole, having, mine, strict=True)))

    def chance(self, holdings: tuple[Holding, ...]) -> Fraction:
        """Return the exact chance; many people have the same."""
        if holdings not in self.chances:
            self.chances[holdings] = _chance(holdings)
        return self.chances[holdings]


def _log_none(whole: IntArray, having: IntArray, mine: IntArray) -> FloatArray:
    """Return the logarithm of C(whole - having, mine) / C(whole, mine), -inf where it is 0."""
    without = whole - having
    possible = mine <= without
    left = np.where(possible, without - mine, 0)
    logarithm = gammaln(without + 1.0) - gammaln(left + 1.0) - gammaln(whole + 1.0) + gammaln(whole - mine + 1.0)
    chances: FloatArray = np.where(possible, logarithm, -inf)
    return chances


def _chance(holdings: tuple[Holding, ...]) -> Fraction:
    """Return the chance that a trajectory of a person has a place, in exact arithmetic.

    Examples
    --------
    >>> _chance(((4, 2, 3),)), _chance(((4, 2, 1), (3, 1, 1)))
    (Fraction(1, 1), Fraction(2, 3))
    """
    none = Fraction(1)
    for whole, having, mine in holdings:
        none *= Fraction(comb(whole - having, mine), comb(whole, mine))
    return 1 - none
