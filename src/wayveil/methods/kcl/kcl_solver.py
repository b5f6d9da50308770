"""How `kcl` chooses the visits that must go, of a crowd at hand or of one of which only a part is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.kcl.pattern_loss import Patterns
from wayveil.kernels.kcl.restoration import Bounds
from wayveil.kernels.kcl.violating_sequences import find_sequences
from wayveil.methods.kcl.kcl_absence import items_to_hide
from wayveil.methods.kcl.kcl_strategies import (
    Choice,
    EncodedVisits,
    Instance,
    Sequences,
    Solution,
    add_left_out,
    count_records,
    improve,
    mine,
    repair_patterns,
    restore_from_empty,
    restore_visits,
    suppress_greedily,
    without_extra_trips,
)
from wayveil.model import Coded, Engine, Visits
from wayveil.model.data.ragged import BoolArray, IntArray

if TYPE_CHECKING:
    from wayveil.methods.kcl.kcl import Kcl

__all__ = ["KclSolver"]

MOST_BYTES = 2 << 30
"""What the counts of shared sequences may take: with an unbounded `l`, k people on one long way share 2^length."""


MOST_VISITS = 3_000_000
"""Up to how many visits the greedy strategies are tried, where visits are given back.  Above this nothing is taken
greedily: all is taken, and given back.  That ends in about the same and takes a third of the time.  Nothing is mended
then, either: one round would take longer than giving everything back does."""


MOST_STEPS = 300
"""How often a small result is improved.  Larger ones are improved less often, so that it takes as long as the rest.
With 50 a weaker promise lost more than a stronger one in 34 of 3,780 pairs on small tables, with 300 in 13."""


@dataclass(frozen=True, kw_only=True)
class KclSolver:
    """What follows from the parameters of `kcl`."""

    params: Kcl

    @property
    def local(self) -> bool:
        """Whether visits may be taken out of some records only."""
        return self.params.suppression == "local"

    @property
    def several(self) -> bool:
        """Whether several strategies are tried, and the best one is taken."""
        return self.local

    @property
    def gives_back(self) -> bool:
        """Whether visits are given back where they threaten nobody."""
        return self.several and self.params.restore == "yes"

    def counts_records(self, trajectories: int, people: int) -> bool:
        """Return whether shares of trajectories can be wrong where those of people are not.

        They cannot where everybody has one trajectory, unless nobody may own even one of k.
        """
        # Of k records that look alike, one is the share 1/k; where even that is more than one person may own, people
        # who have one record each are no longer safe by their number alone.
        dominates = self.params.claim.owner_share * self.params.k < 1
        return trajectories > people or dominates

    def needs_everybody(self, trajectories: int, people: int) -> bool:
        """Return whether it matters who has what in records without any violating sequence.

        It does not to the greedy: common sequences are counted once, and only records that have a threat are changed
        one by one.  It does to what is given back, to shares of trajectories, and to frequent sequences.
        """
        return self.gives_back or self.params.preserve == "mfs" or self.counts_records(trajectories, people)

    def builds_up(self, n_visits: int) -> bool:
        """Return whether so many visits are given back from nothing: then violating sequences are only counted."""
        return self.gives_back and n_visits > MOST_VISITS

    def encode(self, data: Visits) -> EncodedVisits:
        """Return data with numbers instead of places and times."""
        self.check_values(
            {name: _present(data.attributes[name]) for name, _ in self.params.sensitive if name in data.attributes}
        )
        item, n_items = _number_by_time(data.t, data.location, len(data.locations))
        value, n_values = self.sensitive_codes(data)
        return EncodedVisits(
            offsets=data.offsets, item=item, owner=data.owner, value=value, n_items=n_items, n_values=n_values
        )

    def instance(self, numbered: EncodedVisits, *, people: int, elsewhere: IntArray | None = None) -> Instance:
        """Return what is to be decided on; `people` and ``elsewhere[item]`` count also records that are not here."""
        self.check_people(people)
        records, rows = numbered.records()
        return Instance(
            records=records,
            rows=rows,
            people=people,
            elsewhere=np.zeros(numbered.n_items, np.int64) if elsewhere is None else elsewhere,
            longest=self.longest(int(np.diff(numbered.offsets).max(initial=1))),
            bounds=Bounds(
                # Shares are taken of people and of trajectories, so the table of what is allowed must reach as far as
                # the larger of both numbers.
                self.params.k,
                self.allowed(max(people, len(numbered.owner))),
                self._most_beside(len(numbered.owner)),
            ),
            counts_records=self.counts_records(len(numbered.owner), len(records.owner_first) - 1),
        )

    def longest(self, present: int) -> int:
        """Return the length of the longest sequences that count, where trajectories have up to `present` visits."""
        return min(self.params.l, present) if isinstance(self.params.l, int) else present

    def allowed(self, most: int) -> IntArray:
        """Return, for up to `most` owners or trajectories, how many of them may have one sensitive value; exact."""
        return _whole_parts(self.params.c, most)

    def _most_beside(self, most: int) -> IntArray:
        """Return how many trajectories one person may have where all others have so many, for up to `most`; exact.

        A share s of all is at most s / (1 - s) times what the others have.
        """
        share = self.params.claim.owner_share
        if share == 1:
            return np.full(most + 1, most)
        # Nobody has more than all of them, so larger limits are the same as none.
        return np.minimum(_whole_parts(share / (1 - share), most), most)

    def find(self, instance: Instance) -> Sequences:
        """Return the violating and the common sequences of an instance that is whole."""
        most = self.most_common(instance.longest, instance.records.n_values)
        violating, common = find_sequences(
            instance.records._replace(most_common=most), instance.longest, self.params.k, instance.bounds.allowed
        )
        self.refuse_too_many(int(common.table.n_rows[0]), most)
        return Sequences(n_violating=int(violating.table.n_rows[0]), violating=violating, common=common)

    def most_common(self, longest: int, n_values: int) -> int:
        """Return how many common sequences can be counted."""
        return MOST_BYTES // (8 * (longest + 1) + 16 * n_values + 100)

    def refuse_too_many(self, n_common: int, most: int) -> None:
        """Refuse data that share more sequences than can be counted."""
        if n_common > most:
            raise InputError(
                f"kcl: more than {most:,} sequences of visits are shared by k = {self.params.k} people, too many to "
                "count. Give a smaller l, or cut long trajectories into shorter ones."
            )

    def choose(self, instance: Instance, count: Callable[[], Sequences], engine: Engine) -> Choice:
        """Return which visits may stay; `count` returns the sequences of the instance, and of who is elsewhere."""
        engine.progress("finding violating sequences")
        # Neither needs the other: sequences are counted (also for the report, where nothing depends on them) while
        # everything is given back from nothing.
        jobs: list[Callable[[], Any]] = [count, partial(self._restore_from_empty, instance)]
        sequences, (solution, spared) = engine.map(lambda job: job(), jobs)
        if solution is None:
            engine.progress("suppressing visits")
            solution = self._best(instance, sequences, spared, engine)
        # Records are sorted by person; `rows` says in which row of the data each of their visits was.
        keep = np.empty(len(instance.rows), bool)
        keep[instance.rows] = solution.alive == 1
        facts: dict[str, Any] = {"minimal violating sequences": sequences.n_violating}
        if not solution.built_up:
            facts["local suppressions"], facts["global suppressions"] = solution.steps
        facts["visits suppressed"] = solution.visits_lost
        if solution.records_lost:
            facts["visits suppressed by counting trajectories"] = solution.records_lost
        if solution.visits_restored and not solution.built_up:
            facts["visits given back"] = solution.visits_restored
        if spared is not None:
            facts["frequent sequences"] = len(spared.support)
            facts["frequent sequences lost"] = solution.patterns_lost
        return Choice(keep=keep, gone=solution.gone, facts=facts)

    def hide(self, choice: Choice, numbered: EncodedVisits, longest: int) -> Choice:
        """Return a choice that keeps less, so that what fits nothing tells no more than is allowed."""
        hidden = items_to_hide(numbered, choice.keep, longest=longest, c=self.params.c)
        # An item is a place at a time; a hidden one goes from all trajectories.
        keep = choice.keep & ~np.isin(numbered.item, hidden)
        lost = int(choice.keep.sum() - keep.sum())
        facts = {**choice.facts, "visits suppressed to hide absence": lost}
        facts["visits suppressed"] = int(facts["visits suppressed"]) + lost
        return Choice(keep=keep, gone=choice.gone, facts=facts)

    def check_pieces(self) -> None:
        """Refuse what can only be done with all visits at hand."""
        if self.params.hide_absence == "yes":
            raise InputError(
                "kcl: hide_absence must be no where the data are published in pieces, got yes: it counts every visit "
                "of everybody at once. Give more memory (or no limit), so that the data stay whole."
            )

    def _restore_from_empty(self, instance: Instance) -> tuple[Solution | None, Patterns | None]:
        """Return the sequences that are to be spared, and for large data everything given back from nothing."""
        spared = None
        if self.params.preserve == "mfs":
            # Without a number, frequent is what one in a hundred people shares (rounded up), and at least two of them.
            bar = (
                self.params.min_support
                if isinstance(self.params.min_support, int)
                else max(2, -(-instance.people // 100))
            )
            spared = mine(instance.records, bar)
        return restore_from_empty(instance, spared) if self.builds_up(len(instance.rows)) else None, spared

    def _best(self, instance: Instance, sequences: Sequences, spared: Patterns | None, engine: Engine) -> Solution:
        """Return the best way to remove all threats that was tried.

        No greedy choice is always the best, so others are tried at the same time.  They count people; where somebody
        has several records, these are counted after that.  In the end visits are given back to all of them.
        """
        # Local suppression first, then global: neither loses less on all data.  Where only global is allowed, the one
        # is tried.
        tried = [(self.local, spared), (False, spared)][: 2 if self.several else 1]
        if spared is not None and self.gives_back:
            # To spare sequences costs visits.  A try that spares none is mended by `repair_patterns` below, and may
            # win.
            tried.append((True, None))
        solutions = engine.map(
            lambda attempt: self.suppress_greedily(instance, sequences, attempt[1], local=attempt[0]), tried
        )
        if instance.counts_records:
            solutions = engine.map(lambda solution: count_records(solution, instance, spared), solutions)
            # Only a global choice suffers from extra trips of one person: it takes the visit from everybody.
            if not self.local:
                fewer = list(without_extra_trips(instance))
                solutions += engine.map(lambda some: self._without_extra(instance, *some, spared), fewer)
        if self.gives_back:
            solutions = engine.map(lambda solution: restore_visits(solution, instance, spared), solutions)
            if spared is not None:
                solutions += engine.map(lambda solution: repair_patterns(solution, instance, spared), solutions)
        best = min(solutions, key=Solution.cost)
        # What is to be spared counts more than visits, and `improve` looks at visits alone.
        steps = self._steps(instance.n_shared) if self.gives_back and spared is None else 0
        return improve(best, instance, steps) if steps else best

    def suppress_greedily(
        self, instance: Instance, sequences: Sequences, spared: Patterns | None, *, local: bool
    ) -> Solution:
        """Return what Algorithm 1 makes of an instance."""
        return suppress_greedily(instance, sequences, spared, local=local)

    def _without_extra(
        self, instance: Instance, some: Instance, visits: BoolArray, spared: Patterns | None
    ) -> Solution:
        """Return the way for fewer records of everybody, with the others left out whole."""
        solution = count_records(self.suppress_greedily(some, self.find(some), spared, local=False), some, spared)
        return add_left_out(solution, instance, visits, spared)

    def _steps(self, n_visits: int) -> int:
        """Return how often the result is taken apart and put together again to lose less."""
        if isinstance(self.params.improve, int):
            return self.params.improve
        # The same work for all sizes: half as many steps for twice as many visits, and none where one would take too
        # long.
        return min(MOST_STEPS, MOST_VISITS // 2 // max(1, n_visits))

    def check_people(self, people: int) -> None:
        """Refuse data of too few people."""
        if self.params.k > people:
            raise InputError(
                f"kcl: k is {self.params.k}, but the data holds {people} people: nothing could stay. "
                "Take a smaller k or more data."
            )

    def check_values(self, present: Mapping[str, tuple[Collection[str], int]]) -> None:
        """Refuse data by the values that occur in its attributes, and the number of trajectories without one."""
        for attribute, values in self.params.sensitive:
            if attribute not in present:
                raise InputError(f"kcl: the data has no attribute {attribute!r}; it is named in sensitive.")
            labels, missing = present[attribute]
            if missing > 0:
                raise InputError(
                    f"kcl: {missing} trajectories have no value of the sensitive attribute {attribute!r}. "
                    "Fill it in (for example with 'unknown') or leave them out."
                )
            absent = [v for v in values if v not in labels]
            if absent:
                raise InputError(f"kcl: the sensitive value {absent[0]!r} of {attribute!r} never occurs in the data.")

    def sensitive_codes(self, data: Visits) -> tuple[IntArray, int]:
        """Return per trajectory and attribute the code of its sensitive value, or -1; and how many codes there are."""
        columns = []
        n_values = 0
        for attribute, values in self.params.sensitive:
            column = data.attributes[attribute]
            # Codes of one attribute follow those of the one before, so a value of each has a number of its own.
            code = {value: n_values + i for i, value in enumerate(values)}
            n_values += len(values)
            # The last entry is for trajectories without a value: their code is -1, which numpy takes from the end.
            columns.append(np.array([*(code.get(label, -1) for label in column.labels), -1], np.int64)[column.codes])
        codes = np.column_stack(columns) if columns else np.empty((len(data), 0), np.int64)
        return np.ascontiguousarray(codes, np.int64), n_values


def _present(column: Coded) -> tuple[tuple[str, ...], int]:
    return column.labels, int((column.codes < 0).sum())


def _whole_parts(share: Fraction, most: int) -> IntArray:
    """Return the largest whole number that is at most a share of n, for n up to `most`."""
    if max(share.numerator * most, share.denominator) < 2**62:
        return np.arange(most + 1) * share.numerator // share.denominator
    return np.array([min(share.numerator * n // share.denominator, 2**62) for n in range(most + 1)], np.int64)


def _number_by_time(t: IntArray, location: IntArray, n_locations: int) -> tuple[IntArray, int]:
    """Number the distinct (t, location) doublets by time and then by location; return the numbers and how many."""
    times, t_rank = np.unique(t, return_inverse=True)
    packed = t_rank.astype(np.int64) * n_locations + location
    if len(times) * n_locations <= 4 * len(t) + 1024:
        occurs = np.zeros(len(times) * n_locations, np.int64)
        occurs[packed] = 1
        return (np.cumsum(occurs) - 1)[packed], int(occurs.sum())
    doublets, number = np.unique(packed, return_inverse=True)
    return number, len(doublets)
