"""(K,C)-privacy for sequences of any length, without listing them: whole trajectories, then branch and bound.

Why this suffices is proved in ``docs/research/guarantees/kcl.md``.  In short:

- Whoever owns a trajectory that contains q owns one that contains every part of q, so the smallest support is that of
  a whole trajectory.
- Let T(q) be what all trajectories with a value s that contain q have in common.  Adding the rest of T(q) to q keeps
  everyone with s and can only lose others, so only sequences with q = T(q) ("closed") have to be counted.  This is so
  for people and for trajectories, and also for the trajectories of one person instead of those with s.
- A closed sequence that contains q is contained in some of the trajectories with s that contain q.  The people behind
  each of these bound its confidence from above; if the bound is no better than what is known, nothing that contains q
  is looked at.
- With hidden owners, what counts of people is the number of trajectories with q and without s.  It only shrinks when q
  grows, so whole trajectories suffice.  The confidence over trajectories is searched for as with owners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import KclPrivacy
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.kcl.distinct_trajectories import Owned, People, Shapes, common, minimal, rows_of
from wayveil.verifiers.kcl.kcl_table import SHARES, Table

__all__ = ["EXACT_LIMIT", "WORK_LIMIT", "Findings", "Largest", "judge_all"]

WORK_LIMIT = 20_000_000_000
"""Steps after which a claim is not certified: one to five for each number touched, and a fixed number for each set
that is formed, so that a billion steps take some 10 to 25 seconds, and all of them some minutes."""

EXACT_LIMIT = 2_000_000_000
"""Steps spent on the exact largest share of each kind; after that, only whether it is above its bound is looked for."""

_STEPS_PER_SET = 500
_STEPS_PER_VISIT = 10_000
_STEPS_PER_ROW = 5
_NANOSECONDS = 25


@dataclass(kw_only=True)
class Largest:
    """The largest share of a kind that was met.

    `exact` says whether it is the largest of all sequences; `certified` that every sequence was judged, one by one or
    by a bound, before the limit.
    """

    share: Fraction = Fraction(0)
    exact: bool = False
    certified: bool = False


@dataclass(kw_only=True)
class Findings:
    """What was found; `sequence` is a counter-example, which `breaks` what it says, and tells `value` or, if -1, none.

    `support_exact` says whether `least` is the smallest support of all sequences, or of those that were met; `largest`
    has the shares, by kind.
    """

    least: int = 0
    judged: int = 0
    support_exact: bool = False
    largest: dict[str, Largest] = field(default_factory=lambda: {kind: Largest() for kind in SHARES})
    limit: int = 0
    sequence: tuple[int, ...] = ()
    breaks: str = ""
    value: int = -1
    support: int = 0
    share: Fraction | None = None

    @property
    def certified(self) -> bool:
        """Whether everything was judged."""
        return self.support_exact and all(largest.certified for largest in self.largest.values())


def judge_all(table: Table, claim: KclPrivacy) -> Findings:
    """Judge all sequences that occur, of any length; stops after `WORK_LIMIT` steps for each share, and says so."""
    shapes = Shapes.of_table(table)
    whole = _Whole(table, shapes)
    # A shape is one sequence of visits, whoever has it; a whole trajectory is the longest sequence that its owner can
    # be known by.
    findings = Findings(judged=len(shapes), limit=WORK_LIMIT)
    try:
        whole.measure(_SetBudget(WORK_LIMIT))
        findings.support_exact = True
    except BudgetExceeded:
        # The budget ended: `least` is that of the shapes that were met, and nothing below is certified.
        pass
    findings.least = whole.least
    if findings.support_exact:
        _measure_shares(findings, table, claim, whole)
    for kind, best in whole.best.items():
        findings.largest[kind].share = best.share
    findings.judged += sum(best.counted for best in whole.best.values())
    _find_witness(findings, claim, whole)
    return findings


def _measure_shares(findings: Findings, table: Table, claim: KclPrivacy, whole: _Whole) -> None:
    """Find the largest share of each kind; what whole trajectories, or another kind, already tell is not searched for.

    - One trajectory each: a sequence of n trajectories has people who own 1/n of them, and counting people is counting
      trajectories.
    - Hidden owners: the share of an owner and the confidence over people are bounds that whole trajectories reach.
    """
    one_each = table.person is None
    for kind, largest in findings.largest.items():
        if (one_each and kind == "owner_share") or (table.hidden and kind == "confidence"):
            largest.exact = largest.certified = True
        elif one_each and not table.hidden and kind == "confidence_trajectories":
            largest.exact = findings.largest["confidence"].exact
            largest.certified = findings.largest["confidence"].certified
            people = whole.best["confidence"]
            counted = whole.best[kind].counted
            whole.best[kind] = _Best(share=people.share, value=people.value, sequence=people.sequence, counted=counted)
        else:
            _measure_share(largest, kind, table, claim, whole)


def _measure_share(largest: Largest, kind: str, table: Table, claim: KclPrivacy, whole: _Whole) -> None:
    """Search for the largest share of a kind; where that takes too long, for one above its bound."""
    best = whole.best[kind]
    allowed = claim.owner_share if kind == "owner_share" else claim.c
    largest.exact = largest.certified = _search(kind, table, whole, best, Fraction(0), EXACT_LIMIT)
    # Not all was searched.  Where nothing broken was met, it is enough to prove that nothing exceeds the promise: with
    # that bound from the start, much more of the search can be left out.
    if not largest.certified and best.share <= allowed and whole.least >= claim.k:
        # Rounded down to a denominator that 64-bit products can hold: this prunes less, never more.
        bound = allowed if allowed.denominator < 2**31 else Fraction(int(allowed * 2**30), 2**30)
        largest.certified = _search(kind, table, whole, best, bound, WORK_LIMIT, enough=allowed)


@dataclass
class _SetBudget(StepBudget):
    """Steps for looking at sets of trajectories."""

    cost: int = _NANOSECONDS

    def consume_set(self, numbers: int) -> None:
        """Pay for one set, and for so many numbers of it."""
        self.consume(_STEPS_PER_SET + numbers)


@dataclass(kw_only=True)
class _Best:
    """The sequence with the largest share so far, and the value that it tells (-1: none); `version` changes with it."""

    share: Fraction = Fraction(0)
    value: int = -1
    sequence: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    version: int = 0
    counted: int = 0

    def note(self, share: Fraction, value: int, sequence: IntArray) -> None:
        """Keep a share if it is larger."""
        if share > self.share:
            self.share = share
            self.value = value
            self.sequence = sequence
            self.version += 1


class _Whole:
    """What is known of whole trajectories: the people, and the trajectories, that contain them.

    `support` and `never` (people without the value anywhere, shapes x values), and `fitting` and `fitting_without`
    (the same of trajectories), are set for shapes that carry a sensitive value or that somebody owns who owns several
    trajectories.  `rarest` is the shape with the smallest support, and `best` has the largest shares.
    """

    def __init__(self, table: Table, shapes: Shapes) -> None:
        self.shapes = shapes
        self.hidden = table.hidden
        self.people = People(table, shapes, table.carries)
        self.one_each = table.person is None
        self.trajectories = self.people if self.one_each else People(table, shapes, table.carries, each=True)
        self.owned = None if self.one_each else Owned(table, shapes)
        # Nothing but themselves contains the longest shapes.
        lengths = np.diff(shapes.offsets)
        longest = np.flatnonzero(lengths == lengths.max())
        self.rarest = int(longest[self.people.exact[longest].argmin()])
        self.least = int(self.people.exact[self.rarest])
        self.support = np.zeros(len(shapes), np.int64)
        self.fitting = np.zeros(len(shapes), np.int64)
        self.never = np.zeros((len(shapes), self.people.n_values), np.int64)
        self.fitting_without = np.zeros((len(shapes), self.people.n_values), np.int64)
        self.best = {kind: _Best() for kind in SHARES}
        self._note_owner(self.rarest, np.array([self.rarest]))

    def owner_share(self, extent: IntArray) -> Fraction:
        """Return the share of an extent's trajectories that one person owns; where owners are withheld, at least."""
        fitting = self.trajectories.count(extent)[0]
        return Fraction(1 if self.owned is None else self.owned.most_of_one(extent), fitting)

    def confidence(self, extent: IntArray, value: int) -> Fraction:
        """Return the share of an extent's people with a value; where owners are withheld, at least."""
        support, having, _ = self.people.count(extent)
        return _share(support, int(having[value]), self.hidden)

    def confidence_trajectories(self, extent: IntArray, value: int) -> Fraction:
        """Return the share of an extent's trajectories with a value."""
        fitting, carrying, _ = self.trajectories.count(extent)
        return Fraction(int(carrying[value]), fitting)

    def measure(self, budget: _SetBudget) -> None:
        """Count the people behind every shape that carries a value, or that may have the smallest support."""
        exact = self.people.exact
        has_value = self.people.exact_with.sum(axis=1) > 0
        if self.owned is not None:
            has_value |= self.owned.of_several
        path: list[int] = []
        extents: list[IntArray] = []
        # Before each round `extents` are the shapes that have the first 1, 2, ...  items of `path`.  A round keeps what
        # the next shape begins with as well, and intersects on with the rest of its items, until only the shape itself
        # is left.
        for shape, items in self._rare_items_first():
            # Counting such a shape could not change anything: others contain it as well, so its support is at least its
            # own people.
            if exact[shape] >= self.least and not has_value[shape]:
                continue
            same = 0
            # What both shapes begin with, rare items first, is intersected already.
            while same < min(len(path), len(items)) and path[same] == items[same]:
                same += 1
            del path[same:], extents[same:]
            for item in items[same:]:
                having = self.shapes.having(item)
                extents.append(common(extents[-1], having) if extents else having)
                path.append(item)
                budget.consume_set(len(extents[-2]) if len(extents) > 1 else 0)
                # Only the shape itself is left, and it contains all of its items.
                if len(extents[-1]) == 1:
                    break
            budget.consume_set(len(extents[-1]))
            self._note(shape, extents[-1])

    def _rare_items_first(self) -> list[tuple[int, list[int]]]:
        """Return the shapes with their items, rarest first, so that shapes with the same rare items are adjacent."""
        frequency = np.diff(self.shapes.starts)
        rank = np.empty(len(frequency), np.int64)
        order = np.lexsort((np.arange(len(frequency)), frequency))
        rank[order] = np.arange(len(frequency))
        shape = np.repeat(np.arange(len(self.shapes)), np.diff(self.shapes.offsets))
        ranks = rank[self.shapes.item][np.lexsort((rank[self.shapes.item], shape))]
        # Big-endian numbers of equal width compare as bytes as they do as lists, and bytes are sorted faster.
        text = ranks.astype(">u4").tobytes()
        cuts = (4 * self.shapes.offsets).tolist()
        keys = [text[cuts[i] : cuts[i + 1]] for i in range(len(self.shapes))]
        items = order[ranks].tolist()
        offsets = self.shapes.offsets.tolist()
        return [(i, items[offsets[i] : offsets[i + 1]]) for i in sorted(range(len(keys)), key=keys.__getitem__)]

    def _note(self, shape: int, extent: IntArray) -> None:
        support, having, never = self.people.count(extent)
        fitting, carrying, without = (support, having, never) if self.one_each else self.trajectories.count(extent)
        self.support[shape] = support
        self.never[shape] = never
        self.fitting[shape] = fitting
        self.fitting_without[shape] = without
        if support < self.least:
            self.least = support
            self.rarest = shape
        self._note_owner(shape, extent)
        items = self.shapes.items(shape)
        for value in np.flatnonzero(self.people.exact_with[shape]).tolist():
            self.best["confidence"].note(_share(support, int(having[value]), self.hidden), value, items)
            self.best["confidence_trajectories"].note(Fraction(int(carrying[value]), fitting), value, items)

    def _note_owner(self, shape: int, extent: IntArray) -> None:
        self.best["owner_share"].note(self.owner_share(extent), -1, self.shapes.items(shape))


def _share(support: int, having: int, hidden: bool) -> Fraction:
    """Return the confidence, or with hidden owners its certain lower bound."""
    if not having:
        return Fraction(0)
    # The owners of h trajectories with the value may be one person, and those without it all different: that is the
    # least share that is certain.
    return Fraction(1, 1 + support - having) if hidden else Fraction(having, support)


def _search(
    kind: str, table: Table, whole: _Whole, best: _Best, bound: Fraction, limit: int, enough: Fraction | None = None
) -> bool:
    """Look for shares of a kind above `bound` and the best so far; return False if the limit came first.

    With `enough` the search also ends, with False, as soon as the best is above it.
    """
    budget = _SetBudget(limit)
    try:
        for carriers in _carriers(kind, table, whole):
            budget.consume_set(len(carriers.shape))
            # All carriers as one range: where even all of them together cannot exceed the best, no sequence of theirs
            # does.
            if not carriers.promising(np.arange(len(carriers.shape)), np.zeros(1, np.int64), max(best.share, bound))[0]:
                continue
            _CarrierSearch(whole, carriers).run(best, bound, budget, enough)
            if enough is not None and best.share > enough:
                return False
    except BudgetExceeded:
        return False
    return True


def _carriers(kind: str, table: Table, whole: _Whole) -> Iterator[_Carriers]:
    """Yield what is searched for a kind of share: the shapes with each value, or those of each owner.

    Whoever owns trajectories of one shape only has the largest share of it where the whole shape is known, so nothing
    is searched there.
    """
    if kind == "owner_share":
        if whole.owned is not None:
            for shape, own in whole.owned.owners_of_several_shapes():
                yield _Carriers.of_owner(whole, shape, own)
        return
    for value in range(len(table.carries)):
        spend(200_000 + 100 * (len(whole.shapes) + table.n_trajectories))
        if kind == "confidence":
            yield _Carriers.of_people(table, whole, value)
        else:
            yield _Carriers.of_trajectories(whole, value)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Carriers:
    """The shapes that are searched, called *carriers* of a value or of an owner, and what bounds their shares.

    Parameters
    ----------
    value : int
        The value that they carry; -1 if they are those of an owner.
    shape : int64
        The shapes, in the order of a number that grows with what contains them, for `promising`.
    having, without : int64, one per carrier
        Those with the value who have exactly this shape, and those without.
    support, never : int64, one per carrier
        All who contain this shape, and at most as many as those of them without the value anywhere.
    people : People or None
        Counts distinct people; None where trajectories are counted, all of which are in `each`.
    each : int64, one per shape of the table
        The trajectories of exactly this shape.
    """

    value: int
    shape: IntArray
    having: IntArray
    without: IntArray
    support: IntArray
    never: IntArray
    people: People | None
    each: IntArray

    @classmethod
    def of_people(cls, table: Table, whole: _Whole, value: int) -> _Carriers:
        people = People(table, whole.shapes, [table.carries[value]])
        having = people.exact_with[:, 0]
        key = whole.never[:, value] if whole.one_each else whole.support
        return cls._sorted(
            key,
            np.flatnonzero(having),
            value=value,
            having=having,
            without=people.without(0),
            support=whole.support,
            never=whole.never[:, value],
            people=people,
            each=whole.trajectories.exact,
        )

    @classmethod
    def of_trajectories(cls, whole: _Whole, value: int) -> _Carriers:
        having = whole.trajectories.exact_with[:, value]
        return cls._sorted(
            whole.fitting_without[:, value],
            np.flatnonzero(having),
            value=value,
            having=having,
            without=whole.trajectories.without(value),
            support=whole.fitting,
            never=whole.fitting_without[:, value],
            people=None,
            each=whole.trajectories.exact,
        )

    @classmethod
    def of_owner(cls, whole: _Whole, shape: IntArray, own: IntArray) -> _Carriers:
        # Ascending by who contains the shape, as `promising` needs it.
        order = np.lexsort((shape, whole.fitting[shape]))
        shape = shape[order]
        own = own[order]
        fitting = whole.fitting[shape]
        return cls(
            value=-1,
            shape=shape,
            having=own,
            without=whole.trajectories.exact[shape] - own,
            support=fitting,
            never=np.maximum(fitting - own.sum(), 0),  # others own what this person does not
            people=None,
            each=whole.trajectories.exact,
        )

    @classmethod
    def _sorted(
        cls,
        key: IntArray,
        carriers: IntArray,
        *,
        value: int,
        people: People | None,
        each: IntArray,
        **columns: IntArray,
    ) -> _Carriers:
        carriers = carriers[np.lexsort((carriers, key[carriers]))]
        chosen = {name: column[carriers] for name, column in columns.items()}
        return cls(value=value, shape=carriers, people=people, each=each, **chosen)

    def share(self, carriers: IntArray, extent: IntArray) -> Fraction:
        """Return the share of a sequence that is in these carriers and in the shapes of this extent."""
        if self.people is None:
            return Fraction(int(self.having[carriers].sum()), int(self.each[extent].sum()))
        support, having, _ = self.people.count(extent)
        return Fraction(int(having[0]), support)

    def promising(self, carrier: IntArray, starts: IntArray, best: Fraction) -> BoolArray:
        """Return, for each range of carriers (ascending), whether a sequence in some of them may have more than `best`.

        Let E be the carriers that contain a sequence q, j the last of E, h and n those with the value and all behind
        q.  More than b = `best` means h > b n, and (1 - b) h > b (n - h).  Then

        - h is at most the sum of `having` over E, and so over the range up to j;
        - n is at least the support of j, and n - h at least those with j who never have the value;
        - n - h is at least the sum of `without` over E, so (1 - b) having > b without for a part of the range up to j.

        If no j meets all three, there is no such q.  All products are below 2**63: numbers are below 2**31.
        """
        over = best.numerator
        under = best.denominator
        having = self.having[carrier]
        total = _running(having, starts)
        gain = _running(np.maximum(having * (under - over) - over * self.without[carrier], 0), starts)
        # The three conditions of above, in whole numbers.
        meets = (total * under > over * self.support[carrier]) & (gain > 0)
        meets &= total * (under - over) > over * self.never[carrier]
        is_promising: BoolArray = np.logical_or.reduceat(meets, starts)
        return is_promising


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


class _CarrierSearch:
    """Depth-first search over the closed sequences of some carriers.

    A closed sequence is reached once only: from the closed sequence above it by an item that is larger than the one
    before, if closing adds no smaller item (prefix-preserving closure extension; Uno, Asai, Uchida, Arimura: An
    efficient algorithm for enumerating closed patterns in transaction databases, Discovery Science 2004).  Items are
    numbered by how rare they are among the carriers, rarest first, which keeps the sets small.
    """

    def __init__(self, whole: _Whole, carriers: _Carriers) -> None:
        self._carriers = carriers
        self._shapes = whole.shapes
        rows, _ = rows_of(whole.shapes.offsets, carriers.shape)
        self._starts = offsets_of(np.diff(whole.shapes.offsets)[carriers.shape])
        items, which, frequency = np.unique(whole.shapes.item[rows], return_inverse=True, return_counts=True)
        order = np.lexsort((items, frequency))
        self._name = items[order]
        number = np.empty(len(items), np.int64)
        number[order] = np.arange(len(items))
        self._item = number[which]

    def run(self, best: _Best, bound: Fraction, budget: _SetBudget, enough: Fraction | None) -> None:
        stack = [
            _Open(
                carriers=np.arange(len(self._carriers.shape)),
                extent=np.arange(len(self._shapes)),
                above=np.zeros(0, np.int64),
                item=-1,
                version=-1,
            )
        ]
        # Branch and bound over closed sequences.  Before each round whatever has a larger share than `best`, and than
        # `bound`, is below an entry of the stack.  A round takes one; where `best` changed since it was put there, it
        # is looked at again whether carriers are left that could do better.  Then it is closed and counted, and what is
        # below it goes on the stack.
        while stack and (enough is None or best.share <= enough):
            node = stack.pop()
            if node.version != best.version:
                budget.consume_set(len(node.carriers))
                if not self._carriers.promising(node.carriers, np.zeros(1, np.int64), max(best.share, bound))[0]:
                    continue
            stack.extend(self._visit(node, best, bound, budget))

    def _visit(self, node: _Open, best: _Best, bound: Fraction, budget: _SetBudget) -> list[_Open]:
        """Close and count one sequence, and return what to look at below it, the first one last."""
        rows, carrier = rows_of(self._starts, node.carriers)
        budget.consume_set(_STEPS_PER_VISIT + _STEPS_PER_ROW * len(rows))
        items = self._item[rows]
        order = np.argsort(items, kind="stable")
        items = items[order]
        carrier = carrier[order]
        starts = np.flatnonzero(np.concatenate([[True], items[1:] != items[:-1]]))
        distinct = items[starts]
        counts = np.diff(starts, append=len(items))
        everywhere = counts == len(node.carriers)
        closed = distinct[everywhere]
        if np.count_nonzero(closed < node.item) != np.count_nonzero(node.above < node.item):
            return []  # reached from elsewhere
        extent = node.extent
        new = np.ones(len(closed), bool)
        new[np.searchsorted(closed, node.above)] = False
        for item in self._name[closed[new]].tolist():
            budget.consume_set(len(extent))
            extent = common(extent, self._shapes.having(item))
        if len(closed):
            budget.consume_set(len(extent))
            best.counted += 1
            share = self._carriers.share(node.carriers, extent)
            best.note(share, self._carriers.value, np.sort(self._name[closed]))
        first = int(np.searchsorted(distinct, node.item, side="right"))
        if first == len(distinct):
            return []
        begin = int(starts[first])
        keep = self._carriers.promising(carrier[begin:], starts[first:] - begin, max(best.share, bound))
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


def _running(values: IntArray, starts: IntArray) -> IntArray:
    """Return the sums of each range up to each entry."""
    total = np.cumsum(values)
    return total - np.repeat(total[starts] - values[starts], np.diff(starts, append=len(values)))


def _find_witness(findings: Findings, claim: KclPrivacy, whole: _Whole) -> None:
    """If something breaks the claim, make it as small as dropping single visits can."""
    if whole.least < claim.k:
        findings.breaks = "support"
        findings.sequence = minimal(
            whole.shapes, whole.shapes.items(whole.rarest), lambda extent: whole.people.count(extent)[0] < claim.k
        )
    # Support is told before shares: a sequence of too few people is the simplest thing to look at.
    for kind, best in whole.best.items():
        allowed = claim.owner_share if kind == "owner_share" else claim.c
        if not findings.breaks and best.share > allowed:
            findings.breaks = kind
            findings.value = best.value
            share_of = _share_of(kind, whole, best.value)
            findings.sequence = minimal(whole.shapes, best.sequence, partial(_exceeds, share_of, allowed))
    if not findings.breaks:
        return
    # Count once more for the sequence as it was made smaller: its numbers are what the verdict prints.
    extent = whole.shapes.having(findings.sequence[0])
    for item in findings.sequence[1:]:
        extent = common(extent, whole.shapes.having(item))
    findings.support = whole.people.count(extent)[0]
    if findings.breaks != "support":
        findings.share = _share_of(findings.breaks, whole, findings.value)(extent)


def _share_of(kind: str, whole: _Whole, value: int) -> Callable[[IntArray], Fraction]:
    """Return what gives the share of a kind of an extent."""
    if kind == "owner_share":
        return whole.owner_share
    return partial(whole.confidence if kind == "confidence" else whole.confidence_trajectories, value=value)


def _exceeds(share_of: Callable[[IntArray], Fraction], allowed: Fraction, extent: IntArray) -> bool:
    return share_of(extent) > allowed
