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
from wayveil.methods.kcl.kcl_ways import (
    Choice,
    Crowd,
    Numbered,
    Sequences,
    Way,
    add_left_out,
    build_up,
    count_records,
    give_back,
    improve,
    mend,
    mine,
    take_away,
    without_extra_trips,
)
from wayveil.model import Coded, Engine, Visits
from wayveil.model.data.ragged import BoolArray, IntArray

if TYPE_CHECKING:
    from wayveil.methods.kcl.kcl import Kcl

__all__ = ["Choosing"]

MOST_BYTES = 2 << 30
"""What the counts of shared sequences may take: with an unbounded `l`, k people on one long way share 2^length."""


MOST_VISITS = 3_000_000
"""Up to how many visits the greedy ways are tried, where visits are given back.  Above this nothing is taken greedily:
all is taken, and given back.  That ends in about the same and takes a third of the time.  Nothing is mended then,
either: one round would take longer than giving everything back does."""


MOST_STEPS = 300
"""How often a small result is improved.  Larger ones are improved less often, so that it takes as long as the rest.  With
50 times a weaker promise lost more than a stronger one in 6 of 540 pairs on small tables, with 300 in 1, by a visit."""


@dataclass(frozen=True, kw_only=True)
class Choosing:
    """What follows from the parameters of `kcl`."""

    asked: Kcl

    @property
    def local(self) -> bool:
        """Whether visits may be taken out of some records only."""
        return self.asked.suppression == "local"

    @property
    def several(self) -> bool:
        """Whether several ways are tried, and the best one is taken."""
        return self.local and self.asked.validity == "exact"

    @property
    def gives_back(self) -> bool:
        """Whether visits are given back where they threaten nobody."""
        return self.several and self.asked.restore == "yes"

    def counts_records(self, trajectories: int, people: int) -> bool:
        """Return whether shares of trajectories can be wrong where those of people are not.

        They cannot where everybody has one trajectory, unless nobody may own even one of k.  The printed test is for
        study only, and is left as printed.
        """
        dominates = self.asked.claim.owner_share * self.asked.k < 1
        return (trajectories > people or dominates) and self.asked.validity == "exact"

    def needs_everybody(self, trajectories: int, people: int) -> bool:
        """Return whether it matters who has what in records without any violating sequence.

        It does not to the greedy: common sequences are counted once, and only records that have a threat are changed
        one by one.  It does to what is given back, to shares of trajectories, to frequent sequences, and to the printed
        test.
        """
        return (
            self.gives_back
            or self.asked.preserve == "mfs"
            or self.asked.validity == "literal"
            or self.counts_records(trajectories, people)
        )

    def builds_up(self, n_visits: int) -> bool:
        """Return whether so many visits are given back from nothing: then violating sequences are only counted."""
        return self.gives_back and n_visits > MOST_VISITS

    def numbered(self, data: Visits) -> Numbered:
        """Return data with numbers instead of places and times."""
        self.check_values(
            {name: _present(data.attributes[name]) for name, _ in self.asked.sensitive if name in data.attributes}
        )
        item, n_items = _number_by_time(data.t, data.location, len(data.locations))
        value, n_values = self.sensitive_codes(data)
        return Numbered(
            offsets=data.offsets, item=item, owner=data.owner, value=value, n_items=n_items, n_values=n_values
        )

    def crowd(self, numbered: Numbered, *, people: int, elsewhere: IntArray | None = None) -> Crowd:
        """Return what is to be decided on; `people` and ``elsewhere[item]`` count also records that are not here."""
        self.check_people(people)
        records, rows = numbered.records()
        return Crowd(
            records=records,
            rows=rows,
            people=people,
            elsewhere=np.zeros(numbered.n_items, np.int64) if elsewhere is None else elsewhere,
            longest=self.longest(int(np.diff(numbered.offsets).max(initial=1))),
            bounds=Bounds(
                self.asked.k, self.allowed(max(people, len(numbered.owner))), self._most_beside(len(numbered.owner))
            ),
            counts_records=self.counts_records(len(numbered.owner), len(records.owner_first) - 1),
        )

    def longest(self, present: int) -> int:
        """Return the length of the longest sequences that count, where trajectories have up to `present` visits."""
        return min(self.asked.l, present) if isinstance(self.asked.l, int) else present

    def allowed(self, most: int) -> IntArray:
        """Return, for up to `most` owners or trajectories, how many of them may have one sensitive value; exact."""
        return _whole_parts(self.asked.c, most)

    def _most_beside(self, most: int) -> IntArray:
        """Return how many trajectories one person may have where all others have so many, for up to `most`; exact.

        A share s of all is at most s / (1 - s) times what the others have.
        """
        share = self.asked.claim.owner_share
        if share == 1:
            return np.full(most + 1, most)
        return np.minimum(_whole_parts(share / (1 - share), most), most)

    def find(self, crowd: Crowd) -> Sequences:
        """Return the violating and the common sequences of a crowd that is whole."""
        most = self.most_common(crowd.longest, crowd.records.n_values)
        found, common = find_sequences(
            crowd.records._replace(most_common=most), crowd.longest, self.asked.k, crowd.bounds.allowed
        )
        self.refuse_too_many(int(common.table.n_rows[0]), most)
        return Sequences(n_violating=int(found.table.n_rows[0]), found=found, common=common)

    def most_common(self, longest: int, n_values: int) -> int:
        """Return how many common sequences can be counted."""
        return MOST_BYTES // (8 * (longest + 1) + 16 * n_values + 100)

    def refuse_too_many(self, n_common: int, most: int) -> None:
        """Refuse data that share more sequences than can be counted."""
        if n_common > most:
            raise InputError(
                f"kcl: more than {most:,} sequences of visits are shared by k = {self.asked.k} people, too many to "
                "count. Give a smaller l, or cut long trajectories into shorter ones."
            )

    def choose(self, crowd: Crowd, count: Callable[[], Sequences], engine: Engine) -> Choice:
        """Return which visits may stay; `count` returns the sequences of the crowd, and of who is elsewhere."""
        engine.progress("finding violating sequences")
        jobs: list[Callable[[], Any]] = [count, partial(self._build_up, crowd)]
        sequences, (way, spared) = engine.map(lambda job: job(), jobs)
        if way is None:
            engine.progress("suppressing visits")
            way = self._best(crowd, sequences, spared, engine)
        keep = np.empty(len(crowd.rows), bool)
        keep[crowd.rows] = way.alive == 1
        facts: dict[str, Any] = {"minimal violating sequences": sequences.n_violating}
        if not way.built_up:
            facts["local suppressions"], facts["global suppressions"] = way.steps
        facts["visits suppressed"] = way.visits_lost
        if way.records_lost:
            facts["visits suppressed by counting trajectories"] = way.records_lost
        if way.visits_restored and not way.built_up:
            facts["visits given back"] = way.visits_restored
        if spared is not None:
            facts["frequent sequences"] = len(spared.support)
            facts["frequent sequences lost"] = way.patterns_lost
        return Choice(keep=keep, gone=way.gone, facts=facts)

    def hide(self, choice: Choice, numbered: Numbered, longest: int) -> Choice:
        """Return a choice that keeps less, so that what fits nothing tells no more than is allowed."""
        hidden = items_to_hide(numbered, choice.keep, longest=longest, c=self.asked.c)
        keep = choice.keep & ~np.isin(numbered.item, hidden)
        lost = int(choice.keep.sum() - keep.sum())
        facts = {**choice.facts, "visits suppressed to hide absence": lost}
        facts["visits suppressed"] = int(facts["visits suppressed"]) + lost
        return Choice(keep=keep, gone=choice.gone, facts=facts)

    def check_pieces(self) -> None:
        """Refuse what can only be done with all visits at hand."""
        if self.asked.hide_absence == "yes":
            raise InputError(
                "kcl: hide_absence must be no where the data are published in pieces, got yes: it counts every visit "
                "of everybody at once. Give more memory (or no limit), so that the data stay whole."
            )

    def _build_up(self, crowd: Crowd) -> tuple[Way | None, Patterns | None]:
        """Return the sequences that are to be spared, and for large data everything given back from nothing."""
        spared = None
        if self.asked.preserve == "mfs":
            bar = self.asked.min_support if isinstance(self.asked.min_support, int) else max(2, -(-crowd.people // 100))
            spared = mine(crowd.records, bar)
        return build_up(crowd, spared) if self.builds_up(len(crowd.rows)) else None, spared

    def _best(self, crowd: Crowd, sequences: Sequences, spared: Patterns | None, engine: Engine) -> Way:
        """Return the best way to remove all threats that was tried.

        No greedy choice is always the best, so others are tried at the same time.  They count people; where somebody
        has several records, these are counted after that.  In the end visits are given back to all of them.
        """
        tried = [(self.local, spared), (False, spared)][: 2 if self.several else 1]
        if spared is not None and self.gives_back:
            tried.append((True, None))
        printed = self.asked.validity == "literal"
        ways = engine.map(
            lambda way: take_away(crowd, sequences, way[1], local=way[0], printed=printed), tried
        )  # fmt: skip
        if crowd.counts_records:
            ways = engine.map(lambda way: count_records(way, crowd, spared), ways)
            if not self.local:
                fewer = list(without_extra_trips(crowd))
                ways += engine.map(lambda some: self._without_extra(crowd, *some, spared), fewer)
        if self.gives_back:
            ways = engine.map(lambda way: give_back(way, crowd, spared), ways)
            if spared is not None:
                ways += engine.map(lambda way: mend(way, crowd, spared), ways)
        best = min(ways, key=Way.cost)
        steps = self._steps(crowd.n_shared) if self.gives_back and spared is None else 0
        return improve(best, crowd, steps) if steps else best

    def _without_extra(self, crowd: Crowd, some: Crowd, visits: BoolArray, spared: Patterns | None) -> Way:
        """Return the way for fewer records of everybody, with the others left out whole."""
        way = count_records(take_away(some, self.find(some), spared, local=False), some, spared)
        return add_left_out(way, crowd, visits, spared)

    def _steps(self, n_visits: int) -> int:
        """Return how often the result is taken apart and put together again to lose less."""
        if isinstance(self.asked.improve, int):
            return self.asked.improve
        return min(MOST_STEPS, MOST_VISITS // 2 // max(1, n_visits))

    def check_people(self, people: int) -> None:
        """Refuse data of too few people."""
        if self.asked.k > people:
            raise InputError(
                f"kcl: k is {self.asked.k}, but the data holds {people} people: nothing could stay. "
                "Take a smaller k or more data."
            )

    def check_values(self, present: Mapping[str, tuple[Collection[str], int]]) -> None:
        """Refuse data by the values that occur in its attributes, and the number of trajectories without one."""
        for attribute, values in self.asked.sensitive:
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
        for attribute, values in self.asked.sensitive:
            column = data.attributes[attribute]
            code = {value: n_values + i for i, value in enumerate(values)}
            n_values += len(values)
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
