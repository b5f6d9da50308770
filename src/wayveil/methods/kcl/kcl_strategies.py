"""Ways to remove every violating sequence, and what each of them loses."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.common.jit import Kernel
from wayveil.kernels.frequent.maximal_sequences import mine_maximal_within, sequence_supports
from wayveil.kernels.kcl.greedy_suppression import suppress
from wayveil.kernels.kcl.pattern_loss import Patterns, new_patterns, visits_to_mend
from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Privacy, Records
from wayveil.kernels.kcl.restoration import Bounds, restore, restore_singly
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, take

__all__ = [
    "Choice",
    "EncodedVisits",
    "Instance",
    "Sequences",
    "Solution",
    "add_left_out",
    "count_records",
    "improve",
    "mine",
    "repair_patterns",
    "restore_from_empty",
    "restore_visits",
    "suppress_greedily",
    "without_extra_trips",
]

ROUNDS = 4
"""How often lost sequences are mended.  The first round mends most."""

MOST_LOOKS = 500_000_000
"""How many visits are looked at in the search for frequent sequences, at most, or a thousand times all there are where
that is more.  It takes some seconds.  `city` with 80,000 records and sequences of 800 people takes 7,000,000."""

MOST_ALONE = 20_000
"""Up to how many visits items are also offered to one record after the other.  On 600,000 visits, of which 37,637 were
lost, that took a minute and gave 34 back."""

AGAIN = 16
"""By how much the weight of a sequence grows when it is lost: more than the number of sequences that usual items are
in, so that lost ones come first, but not so much that all others break for them.  1, 4 and 64 mended less."""


@dataclass(frozen=True, kw_only=True, eq=False)
class EncodedVisits:
    """Trajectories whose visits are numbers of doublets (items), ascending.

    Parameters
    ----------
    offsets, item, owner : array of int
        As in `Visits`.
    value : array of int, one row per trajectory and one column per attribute
        Its sensitive value, numbered over all attributes, or -1.
    n_items, n_values : int
        How many doublets and sensitive values there are, here and elsewhere.
    """

    offsets: IntArray
    item: IntArray
    owner: IntArray
    value: IntArray
    n_items: int
    n_values: int

    def records(self) -> tuple[Records, IntArray]:
        """Return the trajectories sorted by owner, and the row in which each of their visits was."""
        by_owner = np.argsort(self.owner, kind="stable")
        offsets, rows = take(self.offsets, by_owner)
        owners, owner = np.unique(self.owner[by_owner], return_inverse=True)
        records = Records(
            offsets=offsets,
            items=self.item[rows].astype(np.int64, copy=False),
            alive=np.ones(len(rows), np.int64),
            owner=owner,
            owner_first=np.searchsorted(owner, np.arange(len(owners) + 1)),
            sensitive=self.value[by_owner].astype(np.int64, copy=False).ravel(),
            n_items=int(self.n_items),
            n_values=int(self.n_values),
            n_attributes=self.value.shape[1],
            most_common=NO_LIMIT,
        )
        return records, rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """Records, and what is asked of them.

    Parameters
    ----------
    records : Records
        Sorted by owner.
    rows : array of int
        The row of each of their visits before that.
    people : int
        How many there are, with those elsewhere.
    elsewhere : array of int
        Per item, in how many records it occurs that are not among these, because no sequence of theirs is violating.
    longest, bounds
        The sequences that count, and what is asked of them.
    counts_records : bool
        Whether records of a sequence can be wrong although its people are not: because somebody has several records, or
        because nobody may own as much as one of k.
    """

    records: Records
    rows: IntArray
    people: int
    elsewhere: IntArray
    longest: int
    bounds: Bounds
    counts_records: bool = False

    @cached_property
    def shared_items(self) -> IntArray:
        """The items that at least k people have: all others are lost, whether they are here or were left out before."""
        records = self.records
        owner = np.repeat(records.owner, np.diff(records.offsets))
        items = distinct_values(owner * self.n_items + records.items) % max(1, self.n_items)
        shared: IntArray = np.flatnonzero(np.bincount(items, minlength=self.n_items) >= self.bounds.k)
        return shared

    @cached_property
    def n_shared(self) -> int:
        """How many visits such items have: the size of the data, however rare visits were left out."""
        return int(np.isin(self.records.items, self.shared_items).sum())

    @property
    def n_items(self) -> int:
        return self.records.n_items


@dataclass(frozen=True, kw_only=True, eq=False)
class Sequences:
    """What was counted: how many minimal violating sequences there are; and `Violating` and `Common`, where needed."""

    n_violating: int
    violating: Any = None
    common: Any = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Solution:
    """One way to remove all threats, and what it costs.

    `records_lost` is how many visits went because records are counted, `support` that of the sequences that are to be
    spared.
    """

    alive: IntArray
    log: IntArray
    visits_lost: int
    patterns_lost: int
    local: bool
    visits_restored: int = 0
    records_lost: int = 0
    built_up: bool = False
    support: IntArray | None = None

    def cost(self) -> tuple[int, int, bool]:
        """Return what is compared; of equal solutions, a local one is taken."""
        return self.patterns_lost, self.visits_lost, not self.local

    @property
    def steps(self) -> tuple[int, int]:
        """How many local and how many global suppressions were made."""
        n_global = int((self.log[:, 0] == 1).sum())
        return len(self.log) - n_global, n_global

    @property
    def gone(self) -> IntArray:
        """The items that were taken out of all records, also of those elsewhere."""
        return self.log[self.log[:, 0] == 1, 1]


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """Which visits may stay: row by row, and which items are taken out of all records elsewhere."""

    keep: BoolArray
    gone: IntArray
    facts: dict[str, int | float | str]


def mine(records: Records, bar: int) -> Patterns:
    """Return the maximal sequences that at least `bar` owners have; refuse data with too many to look at."""
    n_items = records.n_items
    most = max(MOST_LOOKS, 1000 * len(records.items))
    patterns = mine_maximal_within(records.offsets, records.items, records.owner, n_items, bar, most)
    if patterns is None:
        raise InputError(
            f"kcl: with preserve=mfs, the sequences that at least {bar} people share are too many to look at (more "
            f"than {most:,} steps). Give a larger min_support, cut long trajectories, or take preserve=instances."
        )
    first, item, support = patterns
    return new_patterns(first, item, support, n_items, bar)


def suppress_greedily(
    instance: Instance, sequences: Sequences, spared: Patterns | None, *, local: bool, validity: Kernel | None = None
) -> Solution:
    """Suppress greedily until no threat is left; `validity` tests local suppressions in place of the exact test."""
    # The kernel counts supports down as visits go. Several strategies start from the same counts, at the same time, so
    # each takes copies of what it will write to.
    own = instance.records._replace(alive=instance.records.alive.copy())
    common = sequences.common
    counts = common._replace(support=common.support.copy(), having=common.having.copy())
    patterns = (
        None if spared is None else spared._replace(support=spared.support.copy(), n_of_item=spared.n_of_item.copy())
    )
    privacy = Privacy(instance.longest, instance.bounds.k, instance.bounds.allowed)
    log = suppress(
        own, instance.elsewhere, sequences.violating, counts, privacy, local, validity, patterns
    ).reshape(-1, 5)  # fmt: skip
    lost = 0 if patterns is None else int((patterns.support < patterns.min_support).sum())
    return Solution(alive=own.alive, log=log, visits_lost=int(log[:, 4].sum()), patterns_lost=lost, local=local)


def restore_from_empty(instance: Instance, spared: Patterns | None) -> Solution:
    """Take everything, and give it back where it threatens nobody."""
    nothing = Solution(
        alive=np.zeros_like(instance.records.alive),
        log=np.empty((0, 5), np.int64),
        visits_lost=len(instance.records.items),
        patterns_lost=0,
        local=True,
        built_up=True,
    )
    return restore_visits(nothing, instance, spared)


def count_records(solution: Solution, instance: Instance, spared: Patterns | None) -> Solution:
    """Suppress more, until shares hold over records as well as over people; the instance must be whole.

    A suppression can make a share of records larger, so what the way keeps is not cut down but built up from nothing:
    item by item, without the extra records of whoever would own too many.  Where the way is not local, an item that
    cannot come back to all that keep it does not come back.
    """
    alive = _offer(instance, solution.alive == 1, spared, None, whole=not solution.local)
    return _judged(
        replace(solution, alive=alive, records_lost=int(solution.alive.sum() - alive.sum())), instance, spared
    )


def without_extra_trips(instance: Instance) -> Iterator[tuple[Instance, BoolArray]]:
    """Yield crowds in which everybody has at most 1, 2, 4, ... records, the longest ones, and which visits these have.

    Where a visit is taken out of all records or of none, the extra records of one person would take it from everybody;
    so it is tried to leave these out first.  The instance must be whole.
    """
    records = instance.records
    length = np.diff(records.offsets)
    # Rank the records of each owner, the longest first: `rank < most` then keeps the best `most` of everybody.
    order = np.lexsort((-length, records.owner))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - records.owner_first[records.owner[order]]
    most = 1
    # Doubling finds within a factor of two how many records per person are worth keeping, with log2 tries instead of
    # one per number.
    while most <= rank.max(initial=0):
        visits = np.repeat(rank < most, length)
        part = records._replace(
            offsets=keep_rows(records.offsets, visits),
            items=records.items[visits],
            alive=np.ones(int(visits.sum()), np.int64),
        )
        yield replace(instance, records=part, rows=instance.rows[visits]), visits
        most *= 2


def add_left_out(solution: Solution, instance: Instance, visits: BoolArray, spared: Patterns | None) -> Solution:
    """Return a solution for some visits of an instance as one for all of them: the others are lost."""
    alive = np.zeros_like(instance.records.alive)
    alive[visits] = solution.alive
    return _judged(
        replace(solution, alive=alive, records_lost=solution.records_lost + int((~visits).sum())), instance, spared
    )


def restore_visits(
    solution: Solution, instance: Instance, spared: Patterns | None, weight: IntArray | None = None
) -> Solution:
    """Give visits back where they threaten nobody, again and again until nothing comes back.

    First come the items in most sequences that are to be spared (or in those of the largest `weight`), then those that
    lost most.  The instance must be whole.
    """
    own = instance.records._replace(alive=solution.alive.copy())
    restored = _restore_all(own, instance, spared, weight)
    return _judged(
        replace(solution, alive=own.alive, visits_restored=solution.visits_restored + restored), instance, spared
    )


def _offer(
    instance: Instance, offered: BoolArray, spared: Patterns | None, weight: IntArray | None, *, whole: bool = False
) -> IntArray:
    """Return what is on when everything is off and then only the `offered` visits are offered."""
    records = instance.records
    part = records._replace(
        offsets=keep_rows(records.offsets, offered),
        items=records.items[offered],
        alive=np.zeros(int(offered.sum()), np.int64),
    )
    if whole:
        restore(part, _order(part, spared, weight), instance.longest, instance.bounds, True)
    else:
        _restore_all(part, instance, spared, weight)
    alive = np.zeros_like(records.alive)
    alive[offered] = part.alive
    return alive


def _restore_all(records: Records, instance: Instance, spared: Patterns | None, weight: IntArray | None) -> int:
    """Offer every item to the records that lost it until nobody takes any; return how many visits came back.

    An item that comes back to some can be what another one was missing, so one round is not always enough.  Where a
    round gives nothing back, items are offered to one record after the other.  Every round but the last gives a visit
    back: the rounds end.
    """
    restored = 0
    alone = False
    while True:
        order = _order(records, spared, weight)
        if alone:
            more = int(restore_singly(records, order, instance.longest, instance.bounds))
        else:
            more = int(restore(records, order, instance.longest, instance.bounds, False))
        restored += more
        # Two phases: an item is first offered to all records that lost it at once, which is cheap and usually final;
        # only when a whole round gives nothing back, to single records, which finds the exceptions.
        if more == 0 and (alone or instance.n_shared > MOST_ALONE):
            return restored
        alone = more == 0


def _judged(solution: Solution, instance: Instance, spared: Patterns | None) -> Solution:
    """Return a solution with its losses counted again; the instance must be whole."""
    left = solution.alive == 1
    lost = len(left) - int(left.sum())
    if spared is None:
        return replace(solution, visits_lost=lost)
    own = instance.records
    support = sequence_supports(
        keep_rows(own.offsets, left), own.items[left], own.owner, instance.n_items, spared.first, spared.item
    )
    return replace(solution, visits_lost=lost, patterns_lost=int((support < spared.min_support).sum()), support=support)


def improve(solution: Solution, instance: Instance, steps: int) -> Solution:
    """Take some items back everywhere and give them back after all others, `steps` times; keep what loses no more.

    Destroy and repair.  Before each step the visits that are on are not violating, and neither are they without the
    items that the step takes.  Then the items that lost most come first, and those that were taken last, in another
    order: what was in the way of others now has to fit between them.  Which items are taken, a twentieth to two fifths
    of all, comes from a generator with a fixed seed, so the result does not depend on anything but the data.
    """
    # A local search in the manner of large neighbourhood search: the moves are random, but from a fixed seed, so that
    # the same input gives the same bytes.
    rng = random.Random(0)
    items = instance.records.items
    n_items = instance.n_items
    shared = instance.shared_items
    alive = solution.alive
    n_kept = int(solution.alive.sum())
    for _ in range(steps if n_kept < instance.n_shared else 0):
        share = rng.choice((0.05, 0.1, 0.2, 0.4))
        taken = shared[rng.sample(range(len(shared)), max(1, round(share * len(shared))))]
        off = np.zeros(n_items, np.bool_)
        off[taken] = True
        # What was taken in this step comes last, whatever it lost: it was in the way, and now has to fit between the
        # others.
        lost = np.where(off, 0, np.bincount(items[alive == 0], minlength=n_items))
        first = np.argsort(-lost, kind="stable")
        order = np.concatenate([first[lost[first] > 0], taken])
        own = instance.records._replace(alive=np.where(off[items], 0, alive))
        restore(own, order, instance.longest, instance.bounds, False)
        # Equal results are taken, too: they are another place on the plateau, from which the next step may get better.
        if own.alive.sum() >= n_kept:
            n_kept = int(own.alive.sum())
            alive = own.alive
    # Steps restore in one round only; whatever the last one left aside comes back here.
    better = restore_visits(replace(solution, alive=alive), instance, None)
    return replace(better, visits_restored=solution.visits_restored + solution.visits_lost - better.visits_lost)


def repair_patterns(solution: Solution, instance: Instance, spared: Patterns) -> Solution:
    """Take everything again and give it back in another order, in which lost sequences come first; return the best.

    What the records have now would come back whole, in any order of the items.  So first they are offered this, but
    records in which a lost sequence is broken are offered that sequence instead of what is in no sequence; then all are
    offered the rest.  A sequence weighs more for every time that it was lost: without that, those that were mended and
    those that broke for it would take turns.
    """
    records = instance.records
    best = solution
    weight = np.ones(len(spared.support), np.int64)
    for _ in range(ROUNDS):
        lost = (solution.support < spared.min_support).astype(np.int64)
        if not lost.any():
            break
        # Weights only grow, as in boosting: a sequence that is lost round after round ends up before all others.
        weight += AGAIN * lost
        to_mend = visits_to_mend(records._replace(alive=solution.alive), spared, lost) == 1
        alive = _offer(instance, to_mend, spared, weight)
        again = replace(solution, alive=alive, built_up=True)
        solution = restore_visits(again, instance, spared, weight)
        best = min(best, solution, key=Solution.cost)
    return best


def _order(records: Records, spared: Patterns | None, weight: IntArray | None) -> IntArray:
    """Return the items that a record lost: those in sequences of most weight first, then those that most lost."""
    n_items = records.n_items
    lost = np.bincount(records.items[records.alive == 0], minlength=n_items)
    n_patterns = np.zeros(n_items, np.int64)
    if spared is not None:
        each = None if weight is None else np.repeat(weight, np.diff(spared.first))
        n_patterns = np.bincount(spared.item, each, minlength=n_items).astype(np.int64)
    order = np.lexsort((-lost, -n_patterns))
    return order[lost[order] > 0]
