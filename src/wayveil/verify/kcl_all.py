"""(K,C)-privacy for sequences of any length, without listing them: whole trajectories, then branch and bound.

Why this suffices is proved in ``docs/guarantees/kcl.md``.  In short:

- Whoever owns a trajectory that contains q owns one that contains every part of q, so the smallest support is that of
  a whole trajectory.
- Let T(q) be what all trajectories with a value s that contain q have in common.  Adding the rest of T(q) to q keeps
  everyone with s and can only lose others, so only sequences with q = T(q) ("closed") have to be counted.
- A closed sequence that contains q is contained in some of the trajectories with s that contain q.  The people behind
  each of these bound its confidence from above; if the bound is no better than what is known, nothing that contains q
  is looked at.
- With hidden owners, what counts is the number of trajectories with q and without s.  It only shrinks when q grows,
  so whole trajectories suffice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from wayveil.model.claims import KCL
from wayveil.model.ragged import BoolArray, IntArray, offsets_of
from wayveil.verify.kcl_table import Table
from wayveil.verify.trajectories import People, Shapes, common, minimal, rows_of

__all__ = ["EXACT_LIMIT", "WORK_LIMIT", "Findings", "judge_all"]

WORK_LIMIT = 20_000_000_000
"""Steps after which a claim is not certified: one to five for each number touched, and a fixed number for each set
that is formed, so that a billion steps take some 10 to 25 seconds, and all of them some minutes."""

EXACT_LIMIT = 2_000_000_000
"""Steps spent on the exact largest confidence; after that, only whether it is above c is looked for."""

_STEPS_PER_SET = 500
_STEPS_PER_VISIT = 10_000
_STEPS_PER_ROW = 5


@dataclass(kw_only=True)
class Findings:
    """What was found; `sequence` is a counter-example, `value` the sensitive value it tells, -1 if its support is low.

    `support_exact` and `confidence_exact` say whether `least` and `largest` are the extremes of all sequences, or of
    those that were met; `certified` says that every sequence was judged, one by one or by a bound, before `limit`.
    """

    least: int = 0
    largest: Fraction = Fraction(0)
    judged: int = 0
    support_exact: bool = False
    confidence_exact: bool = False
    certified: bool = False
    limit: int = 0
    sequence: tuple[int, ...] = ()
    value: int = -1
    support: int = 0
    confidence: Fraction | None = None


def judge_all(table: Table, claim: KCL) -> Findings:
    """Judge all sequences that occur, of any length; stops after `WORK_LIMIT` steps, and says so."""
    shapes = Shapes.of_table(table)
    whole = _Whole(shapes=shapes, people=People(table, shapes, table.carries), hidden=table.hidden)
    found = Findings(judged=len(shapes), limit=WORK_LIMIT)
    try:
        whole.measure(_Work(WORK_LIMIT))
        found.support_exact = True
    except _LimitReached:
        pass
    found.least = whole.least
    best = _Best(share=whole.largest, value=whole.value, sequence=shapes.items(whole.telling))
    if found.support_exact and not table.hidden:
        found.confidence_exact = found.certified = _search(table, whole, best, Fraction(0), EXACT_LIMIT)
        if not found.certified and best.share <= claim.c and whole.least >= claim.k:
            # Rounded down to a denominator that 64-bit products can hold: this prunes less, never more.
            bound = claim.c if claim.c.denominator < 2**31 else Fraction(int(claim.c * 2**30), 2**30)
            found.certified = _search(table, whole, best, bound, WORK_LIMIT, enough=claim.c)
    elif found.support_exact:
        found.confidence_exact = found.certified = True
    found.largest = best.share
    found.judged += best.counted
    _find_witness(found, claim, whole, best)
    return found


class _LimitReached(Exception):
    """The work limit is reached."""


@dataclass
class _Work:
    left: int

    def spend(self, numbers: int) -> None:
        self.left -= _STEPS_PER_SET + numbers
        if self.left < 0:
            raise _LimitReached


@dataclass(kw_only=True)
class _Best:
    """The most telling sequence so far; `version` changes with it."""

    share: Fraction
    value: int
    sequence: IntArray
    version: int = 0
    counted: int = 0


@dataclass(kw_only=True)
class _Whole:
    """What is known of whole trajectories: the people whose trajectories contain them.

    `support` and `never` (people without the value anywhere, shapes x values) are set for shapes that carry a
    sensitive value.  `rarest` and `telling` are the shapes with the smallest support and the largest confidence.
    """

    shapes: Shapes
    people: People
    hidden: bool
    support: IntArray = field(init=False)
    never: IntArray = field(init=False)
    least: int = field(init=False)
    rarest: int = field(init=False)
    largest: Fraction = Fraction(0)
    telling: int = 0
    value: int = -1

    def __post_init__(self) -> None:
        # Nothing but themselves contains the longest shapes.
        lengths = np.diff(self.shapes.offsets)
        longest = np.flatnonzero(lengths == lengths.max())
        self.rarest = int(longest[self.people.exact[longest].argmin()])
        self.least = int(self.people.exact[self.rarest])
        self.support = np.zeros(len(self.shapes), np.int64)
        self.never = np.zeros((len(self.shapes), self.people.n_values), np.int64)

    def measure(self, work: _Work) -> None:
        """Count the people behind every shape that carries a value, or that may have the smallest support."""
        exact, carrying = self.people.exact, self.people.exact_with.sum(axis=1) > 0
        path: list[int] = []
        extents: list[IntArray] = []
        for shape, items in self._rare_items_first():
            if exact[shape] >= self.least and not carrying[shape]:
                continue
            same = 0
            while same < min(len(path), len(items)) and path[same] == items[same]:
                same += 1
            del path[same:], extents[same:]
            for item in items[same:]:
                having = self.shapes.having(item)
                extents.append(common(extents[-1], having) if extents else having)
                path.append(item)
                work.spend(len(extents[-2]) if len(extents) > 1 else 0)
                if len(extents[-1]) == 1:
                    break
            work.spend(len(extents[-1]))
            self._note(shape, extents[-1])

    def _rare_items_first(self) -> list[tuple[int, list[int]]]:
        """Return the shapes with their items, rarest first, so that shapes with the same rare items are adjacent."""
        frequency = np.diff(self.shapes.starts)
        rank = np.empty(len(frequency), np.int64)
        order = np.lexsort((np.arange(len(frequency)), frequency))
        rank[order] = np.arange(len(frequency))
        shape = np.repeat(np.arange(len(self.shapes)), np.diff(self.shapes.offsets))
        ranks = rank[self.shapes.item][np.lexsort((rank[self.shapes.item], shape))]
        text, cuts = ranks.astype(">u4").tobytes(), (4 * self.shapes.offsets).tolist()
        keys = [text[cuts[i] : cuts[i + 1]] for i in range(len(self.shapes))]
        items = order[ranks].tolist()
        offsets = self.shapes.offsets.tolist()
        return [(i, items[offsets[i] : offsets[i + 1]]) for i in sorted(range(len(keys)), key=keys.__getitem__)]

    def _note(self, shape: int, extent: IntArray) -> None:
        support, having, never = self.people.count(extent)
        self.support[shape], self.never[shape] = support, never
        if support < self.least:
            self.least, self.rarest = support, shape
        for value in np.flatnonzero(self.people.exact_with[shape]).tolist():
            share = _share(support, int(having[value]), self.hidden)
            if share > self.largest:
                self.largest, self.telling, self.value = share, shape, value


def _share(support: int, having: int, hidden: bool) -> Fraction:
    """Return the confidence, or with hidden owners its certain lower bound."""
    if not having:
        return Fraction(0)
    return Fraction(1, 1 + support - having) if hidden else Fraction(having, support)


def _search(
    table: Table, whole: _Whole, best: _Best, bound: Fraction, limit: int, enough: Fraction | None = None
) -> bool:
    """Look for confidences above `bound` and the best so far; return False if the limit came first.

    With `enough` the search also ends, with False, as soon as the best is above it.
    """
    work = _Work(limit)
    try:
        for value in range(len(table.carries)):
            _ValueSearch(table, whole, value).run(best, bound, work, enough)
            if enough is not None and best.share > enough:
                return False
    except _LimitReached:
        return False
    return True


@dataclass(kw_only=True, eq=False)
class _Open:
    """A sequence to be looked at: closed sequence `above` and one more item.

    `carriers` are positions of its carriers, `extent` are the shapes that contain `above`.
    """

    carriers: IntArray
    extent: IntArray
    above: IntArray
    item: int
    version: int


class _ValueSearch:
    """Depth-first search over the closed sequences of the shapes that carry one value: its *carriers*.

    A closed sequence is reached once only: from the closed sequence above it by an item that is larger than the one
    before, if closing adds no smaller item (prefix-preserving closure extension; Uno, Asai, Uchida, Arimura: An
    efficient algorithm for enumerating closed patterns in transaction databases, Discovery Science 2004).  Items are
    numbered by how rare they are among the carriers, rarest first, which keeps the sets small.

    Carriers are in the order of a number that grows with the people behind a whole shape, for `_promising`.
    """

    def __init__(self, table: Table, whole: _Whole, value: int) -> None:
        self._value, self._shapes = value, whole.shapes
        self._people = People(table, whole.shapes, [table.carries[value]])
        self._having = self._people.exact_with[:, 0]
        carriers = np.flatnonzero(self._having)
        key = (whole.never[:, value] if table.person is None else whole.support)[carriers]
        carriers = carriers[np.lexsort((carriers, key))]
        self._having = self._having[carriers]
        self._support, self._never = whole.support[carriers], whole.never[carriers, value]
        self._without = self._people.without(0)[carriers]
        rows, _ = rows_of(whole.shapes.offsets, carriers)
        self._starts = offsets_of(np.diff(whole.shapes.offsets)[carriers])
        items, which, frequency = np.unique(whole.shapes.item[rows], return_inverse=True, return_counts=True)
        order = np.lexsort((items, frequency))
        self._name = items[order]
        number = np.empty(len(items), np.int64)
        number[order] = np.arange(len(items))
        self._item = number[which]

    def run(self, best: _Best, bound: Fraction, work: _Work, enough: Fraction | None) -> None:
        stack = [
            _Open(
                carriers=np.arange(len(self._having)),
                extent=np.arange(len(self._shapes)),
                above=np.zeros(0, np.int64),
                item=-1,
                version=-1,
            )
        ]
        while stack and (enough is None or best.share <= enough):
            node = stack.pop()
            if node.version != best.version:
                work.spend(len(node.carriers))
                if not self._promising(node.carriers, np.zeros(1, np.int64), max(best.share, bound))[0]:
                    continue
            stack.extend(self._visit(node, best, bound, work))

    def _visit(self, node: _Open, best: _Best, bound: Fraction, work: _Work) -> list[_Open]:
        """Close and count one sequence, and return what to look at below it, the first one last."""
        rows, carrier = rows_of(self._starts, node.carriers)
        work.spend(_STEPS_PER_VISIT + _STEPS_PER_ROW * len(rows))
        items = self._item[rows]
        order = np.argsort(items, kind="stable")
        items, carrier = items[order], carrier[order]
        starts = np.flatnonzero(np.concatenate([[True], items[1:] != items[:-1]]))
        distinct, counts = items[starts], np.diff(starts, append=len(items))
        everywhere = counts == len(node.carriers)
        closed = distinct[everywhere]
        if np.count_nonzero(closed < node.item) != np.count_nonzero(node.above < node.item):
            return []  # reached from elsewhere
        extent = node.extent
        new = np.ones(len(closed), bool)
        new[np.searchsorted(closed, node.above)] = False
        for item in self._name[closed[new]].tolist():
            work.spend(len(extent))
            extent = common(extent, self._shapes.having(item))
        if len(closed):
            work.spend(len(extent))
            self._count(closed, extent, best)
        first = int(np.searchsorted(distinct, node.item, side="right"))
        if first == len(distinct):
            return []
        begin = int(starts[first])
        keep = self._promising(carrier[begin:], starts[first:] - begin, max(best.share, bound))
        chosen = first + np.flatnonzero(keep & ~everywhere[first:])
        return [
            _Open(
                carriers=carrier[starts[i] : starts[i] + counts[i]],
                extent=extent,
                above=closed,
                item=int(distinct[i]),
                version=best.version,
            )
            for i in chosen[::-1].tolist()
        ]

    def _count(self, closed: IntArray, extent: IntArray, best: _Best) -> None:
        support, having, _ = self._people.count(extent)
        best.counted += 1
        share = Fraction(int(having[0]), support)
        if share > best.share:
            best.share, best.value, best.sequence = share, self._value, np.sort(self._name[closed])
            best.version += 1

    def _promising(self, carrier: IntArray, starts: IntArray, best: Fraction) -> BoolArray:
        """Return, for each range of carriers (ascending), whether a sequence in some of them may have more than `best`.

        Let E be the carriers that contain a sequence q, j the last of E, h and n the people with the value and all
        people behind q.  More than b = `best` means h > b n, and (1 - b) h > b (n - h).  Then

        - h is at most the sum of `having` over E, and so over the range up to j;
        - n is at least the support of j, and n - h at least the people with j who never have the value;
        - n - h is at least the sum of `without` over E, so (1 - b) having > b without for a part of the range up to j.

        If no j meets all three, there is no such q.  All products are below 2**63: numbers are below 2**31.
        """
        over, under = best.numerator, best.denominator
        having = self._having[carrier]
        total = _running(having, starts)
        gain = _running(np.maximum(having * (under - over) - over * self._without[carrier], 0), starts)
        meets = (total * under > over * self._support[carrier]) & (gain > 0)
        meets &= total * (under - over) > over * self._never[carrier]
        found: BoolArray = np.logical_or.reduceat(meets, starts)
        return found


def _running(values: IntArray, starts: IntArray) -> IntArray:
    """Return the sums of each range up to each entry."""
    total = np.cumsum(values)
    return total - np.repeat(total[starts] - values[starts], np.diff(starts, append=len(values)))


def _find_witness(found: Findings, claim: KCL, whole: _Whole, best: _Best) -> None:
    """If something breaks the claim, make it as small as dropping single visits can."""
    people, hidden = whole.people, whole.hidden

    def is_rare(extent: IntArray) -> bool:
        return people.count(extent)[0] < claim.k

    def tells(extent: IntArray) -> bool:
        support, having, _ = people.count(extent)
        return _share(support, int(having[best.value]), hidden) > claim.c

    if whole.least < claim.k:
        found.sequence = minimal(whole.shapes, whole.shapes.items(whole.rarest), is_rare)
    elif best.share > claim.c:
        found.sequence, found.value = minimal(whole.shapes, best.sequence, tells), best.value
    else:
        return
    extent = whole.shapes.having(found.sequence[0])
    for item in found.sequence[1:]:
        extent = common(extent, whole.shapes.having(item))
    found.support, having, _ = people.count(extent)
    if found.value >= 0:
        found.confidence = _share(found.support, int(having[found.value]), hidden)
