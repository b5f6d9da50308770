"""What being left out tells, and which further visits of `kcl` must go so that it tells no more than is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.methods.kcl.kcl_strategies import EncodedVisits
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["items_to_hide"]

FloatArray = NDArray[np.float64]

MOST_SETS = 20_000_000
"""How many sets of visits are looked at, at most: they take about 2 GB."""

_ROUNDING = 1e-11
"""By how much a share may be too large because of rounding: less than the attack `absence` would notice."""


def items_to_hide(numbered: EncodedVisits, keep: BoolArray, *, longest: int, c: Fraction) -> IntArray:
    """Return the items to take out of all records, so that what fits nothing tells no value with more than is allowed.

    A value may be told with `c`, or with its share among all where that is more.  "Told" is how often people have it of
    whom a random set of visits of one record fits nothing: for 1, 2, ..., `longest` visits, over people and over
    records.

    Taking an item out of all records keeps (K,C)_L-privacy: a sequence without it is in the same records as before, and
    one with it is in none.  For the same reason it makes exactly those sets fit nothing that contain it.

    Parameters
    ----------
    numbered : Numbered
        The records before anything was suppressed.
    keep : bool, one per visit
        What is left of them.
    longest : int
        The largest number of visits known.
    c : Fraction
        What a value may be told with.
    """
    evidence = _Evidence.of(numbered, keep, longest, c)
    visits = np.bincount(numbered.item[keep], minlength=numbered.n_items)
    hidden = _take_greedily(evidence, visits)
    return np.array(_put_back(evidence, hidden, visits), np.int64)


def _take_greedily(evidence: _Evidence, visits: IntArray) -> list[int]:
    """Return items without which nothing is told with more than is allowed, in the order in which they were taken.

    Before each round `excess` is what is told too much with the items so far taken, and `change[i]` by how much it
    would change with item i.  A round takes the item that lowers what is too much by most per visit lost (then the one
    with fewer visits, then the first); or, where one item alone would be enough and loses no more, that one.  An item
    is taken once, and when all are taken, everything fits nothing and each value is told with its share among all,
    which is allowed: the rounds end, also where no item lowers anything.
    """
    taken: list[int] = []
    left = visits > 0
    fits = np.ones(len(evidence.weight), bool)
    absent = evidence.absent.copy()
    change = evidence.sum_by_item(np.flatnonzero(fits))
    while not evidence.is_allowed(absent) and left.any():
        # All candidates at once: `after` has one row per item, with the excess that would be left without it.
        candidates = np.flatnonzero(left)
        after = evidence.excess(absent + change[candidates])
        gain = (evidence.excess(absent).clip(min=0).sum() - after.clip(min=0).sum(axis=1)) / visits[candidates]
        best = int(candidates[np.lexsort((candidates, visits[candidates], -gain))[0]])
        enough = candidates[evidence.are_allowed(absent + change[candidates])]
        if len(enough):
            cheapest = int(enough[np.argmin(visits[enough])])
            best = cheapest if visits[cheapest] <= visits[best] else best
        taken.append(best)
        left[best] = False
        # Sets that contain the item fit nothing from now on. They move from what fits to `absent`, and no longer count
        # in what other items would change.
        gone = evidence.sequences_with(best)
        gone = gone[fits[gone]]
        fits[gone] = False
        absent = absent + evidence.weight[gone].sum(axis=0)
        change -= evidence.sum_by_item(gone)
    return taken


def _put_back(evidence: _Evidence, hidden: list[int], visits: IntArray) -> list[int]:
    """Return the items without those that are not needed; those with most visits are tried first."""
    needed = set(hidden)
    # A set fits again when its last hidden item comes back: those with exactly one missing, if that is the item tried.
    missing = np.zeros(len(evidence.weight), np.int64)  # of each sequence, how many of its items are hidden
    for item in hidden:
        missing[evidence.sequences_with(item)] += 1
    absent = evidence.absent + evidence.weight[missing > 0].sum(axis=0)
    for item in sorted(hidden, key=lambda i: (-int(visits[i]), i)):
        sequences = evidence.sequences_with(item)
        without = absent - evidence.weight[sequences[missing[sequences] == 1]].sum(axis=0)
        if evidence.is_allowed(without):
            needed.remove(item)
            missing[sequences] -= 1
            absent = evidence.absent + evidence.weight[missing > 0].sum(
                axis=0
            )  # afresh: differences would add up rounding
    return sorted(needed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Evidence:
    """How often sets of visits fit nothing, and how often those who have them have a value.

    Counts have the shape sizes of sets x ways to count (people, records) x (everybody, then each value).

    Parameters
    ----------
    absent : float, counts
        Of the sets that fit nothing already.
    items : int, sequences x longest
        The distinct sets that fit something, padded with -1.
    weight : float, sequences x counts
        How much of each size and way every one of these is.
    allowed : float, ways x values
        What may be told.
    n_items : int
    """

    absent: FloatArray
    items: IntArray
    weight: FloatArray
    allowed: FloatArray
    n_items: int

    @classmethod
    def of(cls, numbered: EncodedVisits, keep: BoolArray, longest: int, c: Fraction) -> _Evidence:
        length = np.diff(numbered.offsets)
        n_sets = sum(_n_sets(length, width) for width in range(1, longest + 1))
        if n_sets > MOST_SETS:
            raise InputError(
                f"kcl: with hide_absence=yes all sets of up to {longest} visits of a trajectory are looked at, and "
                f"these are {n_sets:,}, more than {MOST_SETS:,}. Give a smaller l, or cut long trajectories into "
                "shorter ones."
            )
        # The attacker's prior: a person (or record) at random, then a set of visits of theirs at random, all sets of a
        # size being equally likely. So a set of a record with n visits weighs 1 / binomial(n, size).
        counted = _counted(numbered, length)
        everybody = counted.sum(axis=0)
        base = everybody[:, 1:] / np.maximum(everybody[:, :1], 1)
        absent = np.zeros((longest, *everybody.shape))
        items = []
        weights = []
        for width in range(1, longest + 1):
            record, rows = _sets_of(numbered.offsets, length, width)
            if not len(record):
                continue
            first, sequence = _distinct(numbered.item[rows], numbered.n_items)
            fits = np.bincount(sequence[keep[rows].all(axis=1)], minlength=len(first)) > 0
            whole = length[record] == width
            weight = np.zeros((int(fits.sum()), *absent.shape))
            # Of a record that is shorter than what could be known, all its visits are known.
            each = 1 / np.array([comb(n, width) for n in range(int(length.max()) + 1)]).clip(min=1)[length[record]]
            # A record with exactly `width` visits is known completely by who knows more, so its one set counts for all
            # larger sizes as well.
            for size in range(width, longest + 1):
                share = each if size == width else whole.astype(np.float64)
                for solution, column in np.ndindex(everybody.shape):
                    counts = np.bincount(sequence, share * counted[record, solution, column], len(first))
                    absent[size - 1, solution, column] += counts[~fits].sum()
                    weight[:, size - 1, solution, column] = counts[fits]
            weights.append(weight)
            members = numbered.item[rows[first[fits]]].astype(np.int64)
            items.append(np.pad(members, ((0, 0), (0, longest - width)), constant_values=-1))
        return cls(
            absent=absent,
            items=np.concatenate([np.zeros((0, longest), np.int64), *items]),
            weight=np.concatenate([np.zeros((0, *absent.shape)), *weights]),
            allowed=np.maximum(base, float(c)),
            n_items=numbered.n_items,
        )

    def excess(self, absent: FloatArray) -> FloatArray:
        """Return by how much too many have each value, as a share of all; flat, after the leading axis if any."""
        over: FloatArray = (absent[..., 1:] - self.allowed * absent[..., :1]) / self._everything
        return over.reshape(*absent.shape[:-3], -1)

    def are_allowed(self, absent: FloatArray) -> BoolArray:
        """Return where no value is told with more than is allowed."""
        over = absent[..., 1:] - (self.allowed + _ROUNDING) * absent[..., :1]
        return np.asarray((over <= 0).all(axis=(-3, -2, -1)))

    def is_allowed(self, absent: FloatArray) -> bool:
        return bool(self.are_allowed(absent))

    @cached_property
    def _everything(self) -> FloatArray:
        """How many people, and records, there are: what makes both ways to count comparable."""
        total: FloatArray = (self.absent + self.weight.sum(axis=0))[..., :1]
        return np.maximum(total, 1.0)

    @cached_property
    def _by_item(self) -> tuple[IntArray, IntArray]:
        """Where the sequences of each item start, and the sequences."""
        sequence, column = np.nonzero(self.items >= 0)
        item = self.items[sequence, column]
        order = np.argsort(item, kind="stable")
        return np.searchsorted(item[order], np.arange(self.n_items + 1)), sequence[order]

    def sequences_with(self, item: int) -> IntArray:
        """Return the sequences that contain an item."""
        first, sequence = self._by_item
        return sequence[first[item] : first[item + 1]]

    def sum_by_item(self, sequences: IntArray) -> FloatArray:
        """Return, for every item, the counts of those of some sequences that contain it."""
        chosen = self.items[sequences]
        row, column = np.nonzero(chosen >= 0)
        item = chosen[row, column]
        weight = self.weight[sequences]
        total = np.zeros((self.n_items, *self.absent.shape))
        for count in np.ndindex(self.absent.shape):
            total[:, *count] = np.bincount(item, weight[:, *count][row], self.n_items)
        return total


def _counted(numbered: EncodedVisits, length: IntArray) -> FloatArray:
    """Return, for every record, what it counts: ways x (everybody, then each value); nothing where it is empty."""
    present = length > 0
    owner = np.unique(numbered.owner, return_inverse=True)[1]
    trips = np.bincount(owner[present], minlength=int(owner.max(initial=0)) + 1)[owner]
    carries = np.zeros((len(length), 1 + numbered.n_values))
    carries[:, 0] = 1
    for column in numbered.value.T:
        known = np.flatnonzero(column >= 0)
        carries[known, 1 + column[known]] = 1
    ways = np.stack([1 / np.maximum(trips, 1), np.ones(len(length))], axis=1) * present[:, None]
    return ways[:, :, None] * carries[:, None, :]


def _n_sets(length: IntArray, width: int) -> int:
    """Return how many sets of so many visits there are in records of some lengths."""
    return sum(comb(n, width) * count for n, count in enumerate(np.bincount(length).tolist()))


def _sets_of(offsets: IntArray, length: IntArray, width: int) -> tuple[IntArray, IntArray]:
    """Return all sets of `width` visits of a record: the record, and the rows of the visits."""
    records = [np.zeros(0, np.int64)]
    rows = [np.zeros((0, width), np.int64)]
    for n in np.unique(length[length >= width]).tolist():
        chosen = np.array(list(combinations(range(n), width)), np.int64)
        these = np.flatnonzero(length == n)
        records.append(np.repeat(these, len(chosen)))
        rows.append((offsets[these][:, None, None] + chosen[None]).reshape(-1, width))
    return np.concatenate(records), np.concatenate(rows)


def _distinct(items: IntArray, n_items: int) -> tuple[IntArray, IntArray]:
    """Return where each distinct row stands first, and which of them every row is."""
    key = np.zeros(len(items), np.int64)
    for column in range(items.shape[1]):
        # Numbered anew after each column, a key never grows beyond rows x items.
        key = np.unique(key * n_items + items[:, column], return_inverse=True)[1]
    first: IntArray
    _, first, sequence = np.unique(key, return_index=True, return_inverse=True)
    return first, sequence
