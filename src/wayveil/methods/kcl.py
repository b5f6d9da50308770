"""(K,C)_L-privacy by local and global suppression."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.frequent import mine_maximal, sequence_supports
from wayveil.kernels.kcl_find import Records, find_sequences
from wayveil.kernels.kcl_patterns import Patterns, new_patterns, visits_to_mend
from wayveil.kernels.kcl_restore import restore
from wayveil.kernels.kcl_suppress import suppress
from wayveil.model import KCL, BlockKey, Cut, Engine, Published, Sensitive, Visits, check_parameters, parameter
from wayveil.model.ragged import IntArray, keep_rows, take

__all__ = ["Kcl"]

MOST_BYTES = 2 << 30
"""What the counts of shared sequences may take: with an unbounded `l`, k people on one long way share 2^length."""


MOST_VISITS = 3_000_000
"""Up to how many visits the greedy ways are tried, where visits are given back.  Above this nothing is taken greedily:
all is taken, and given back.  That ends in about the same and takes a third of the time."""


ROUNDS = 4
"""How often lost sequences are mended, up to `MOST_VISITS` visits.  The first round mends most.  Above, one round
would take longer than giving everything back does."""


AGAIN = 16
"""By how much the weight of a sequence grows when it is lost: more than the number of sequences that usual items are
in, so that lost ones come first, but not so much that all others break for them.  1, 4 and 64 mended less."""


@dataclass(frozen=True, kw_only=True)
class Kcl:
    """Suppress visits until what is known of at most `l` visits fits at least `k` people and tells little of them.

    Parameters
    ----------
    k : int, >= 1
        Smallest number of people who must share what an attacker knows.  With 1 only the confidence is bounded.
    c : number from 0 to 1
        Largest share of those people who may have any one sensitive value; taken as the exact decimal fraction.
    l : int, >= 1
        Largest number of visits of one person that an attacker knows.
    sensitive : mapping of attribute to values
        The values whose inference is bounded.  Without any, only `k` counts.
    suppression : {"local", "global"}
        `local` may take a visit out of the records that need it; `global` takes it out of all records.  Neither is
        optimal, and where `global` happens to lose less, `local` publishes that.
    preserve : {"instances", "mfs"}
        What a suppression should spare: visits, or maximal frequent sequences.
    min_support : int, >= 1, or "auto"
        From how many people on a sequence is frequent, with ``preserve="mfs"``; `auto` is 1 % of them, at least 2.
    validity : {"exact", "literal"}
        How a local suppression is tested; `literal` is the paper's Procedure 2, for study only.
    restore : {"yes", "no"}
        Whether visits are given back to the records in which they threaten nobody, where global suppressions could
        not be avoided (``suppression="local"``).  The paper does not, and loses several times as much.

    Guarantee
    ---------
    ``KCL(k, c, l, sensitive)``.  An attacker who knows more than `l` visits, or where a person was not, is not covered.

    Notes
    -----
    Algorithm 1 of the paper, with a list of frequent sequences per item instead of the MFS-tree, and with these
    departures: parts of all lengths prune the search (Procedure 1 prunes with the last length only, and returns
    sequences that are not minimal from L = 4 on); the validity test is exact (Procedure 2 is unsound from L = 3 on); a
    local suppression removes every threat whose records are among its own (line 7 asks for equality); supports and
    confidences count owners; visits are given back at the end (`restore`).  Time and memory grow with the number of
    occurrences of common sequences, see ``docs/methods/kcl.md``.

    References
    ----------
    Chen, Fung, Mohammed, Desai, Wang: Privacy-preserving trajectory data publishing by local suppression.
    Information Sciences 231 (2013).

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]])
    >>> method = Kcl(k=2, c=1, l=2)
    >>> result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [result.data.record(i) for i in range(3)]
    [[('a', 1), ('b', 2)], [('a', 1)], [('a', 1), ('b', 2)]]
    """

    k: int = parameter(kind="int", low=1, help="smallest number of people who must share what an attacker knows")
    c: Fraction = parameter(
        kind="fraction", low=0, high=1, default=Fraction(1), help="largest share of them with one sensitive value"
    )
    l: int | str = parameter(
        kind="int", low=1, choices=("all",), help="largest number of visits of one person that an attacker knows"
    )
    sensitive: Sensitive = parameter(
        kind="sensitive", default=(), help="values whose inference is bounded by c, per attribute"
    )
    suppression: str = parameter(
        kind="choice",
        choices=("local", "global"),
        default="local",
        help="local: take a visit out of the records that need it; global: out of all records",
    )
    preserve: str = parameter(
        kind="choice",
        choices=("instances", "mfs"),
        default="instances",
        help="what a suppression should spare: visits, or maximal frequent sequences",
    )
    min_support: int | str = parameter(
        kind="int",
        low=1,
        choices=("auto",),
        default="auto",
        help="with preserve=mfs: from how many people on a sequence is frequent; auto is 1 % of them, at least 2",
    )
    validity: str = parameter(
        kind="choice",
        choices=("exact", "literal"),
        default="exact",
        help="test of a local suppression; literal is the paper's, unsound, for study only",
    )
    restore: str = parameter(
        kind="choice",
        choices=("yes", "no"),
        default="yes",
        help="with suppression=local: give back what threatens nobody; no is the algorithm of the paper",
    )

    name: ClassVar[str] = "kcl"
    summary: ClassVar[str] = "(K,C)_L-privacy by local and global suppression of visits"
    accepts: ClassVar[type[Visits]] = Visits
    publishes: ClassVar[type[Visits]] = Visits
    cut: ClassVar[Cut] = "none"
    blocks: ClassVar[tuple[BlockKey, ...]] = ("whole",)

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @property
    def kernels(self) -> tuple[str, ...]:
        exact = self.validity == "exact"
        restores = exact and self.local and self.restore == "yes"
        usual = exact and (self.preserve == "instances" or restores)
        return (*(["kcl_suppress"] if usual else []), "kcl_find", *(["kcl_restore"] if restores else []))

    @property
    def claim(self) -> KCL:
        return KCL(k=self.k, c=self.c, l=self.l, sensitive=self.sensitive)

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> Published:
        if self.k > data.n_owners:
            raise InputError(
                f"kcl: k is {self.k}, but the data holds {data.n_owners} people: nothing could stay. "
                "Take a smaller k or more data."
            )
        by_owner = np.argsort(data.owner, kind="stable")
        offsets, rows = take(data.offsets, by_owner)
        item, n_items = _number_by_time(data.t[rows], data.location[rows], len(data.locations))
        owner = np.unique(data.owner[by_owner], return_inverse=True)[1]
        value, n_values = self._sensitive_codes(data)
        longest = int(np.diff(offsets).max(initial=1))
        if isinstance(self.l, int):
            longest = min(self.l, longest)
        most = MOST_BYTES // (8 * (longest + 1) + 16 * n_values + 100)
        records = Records(
            offsets=offsets,
            items=item,
            alive=np.ones(len(item), np.int64),
            owner=owner,
            owner_first=np.searchsorted(owner, np.arange(data.n_owners + 1)),
            sensitive=value[by_owner].ravel(),
            meta=np.array([n_items, n_values, value.shape[1], most]),
        )
        allowed = _most_allowed(self.c, data.n_owners)
        engine.progress("finding violating sequences")
        large = self.several and self.restore == "yes" and len(item) > MOST_VISITS
        jobs: list[Callable[[], Any]] = [
            lambda: find_sequences(records, longest, self.k, allowed),
            lambda: self._build_up(records, longest, allowed, data.n_owners, large=large),
        ]
        (found, common), (best, mined) = engine.map(lambda job: job(), jobs)
        if common.table.meta[0] > most:
            raise InputError(
                f"kcl: more than {most:,} sequences of visits are shared by k = {self.k} people, too many to count. "
                "Give a smaller l, or cut long trajectories into shorter ones."
            )
        if best is None:
            engine.progress("suppressing visits")
            best = self._best(records, found, common, longest, allowed, mined, engine)
        keep = np.empty(len(item), bool)
        keep[rows] = best.alive == 1
        facts = {
            "minimal violating sequences": int(found.table.meta[0]),
            "local suppressions": int((best.log[:, 0] == 0).sum()),
            "global suppressions": int((best.log[:, 0] == 1).sum()),
            "visits suppressed": best.visits_lost,
        }
        if best.built_up:
            del facts["local suppressions"], facts["global suppressions"]
        elif best.visits_restored:
            facts["visits given back"] = best.visits_restored
        if mined is not None:
            facts["frequent sequences"] = len(mined.support)
            facts["frequent sequences lost"] = best.patterns_lost
        return Published(data=data.where(keep), claim=self.claim, facts=facts)

    @property
    def local(self) -> bool:
        """Whether visits may be taken out of some records only."""
        return self.suppression == "local"

    @property
    def several(self) -> bool:
        """Whether several ways are tried, and the best one is taken."""
        return self.local and self.validity == "exact"

    def _best(
        self, records: Records, found: Any, common: Any, longest: int, allowed: IntArray, mined: Any, engine: Engine
    ) -> _Made:
        """Return the best way to remove all threats that was tried.

        No greedy choice is always the best, so others are tried at the same time.  Where local suppressions were not
        enough, visits are given back to all of them; where they were, what is published is what the paper's algorithm
        publishes, unless global suppressions happen to lose less.
        """
        ways = [(self.local, mined), (False, mined)][: 2 if self.several else 1]
        if self.several and mined is not None and self.restore == "yes":
            ways.append((True, None))
        made = engine.map(
            lambda way: self._suppress(records, found, common, longest, allowed, way[1], local=way[0]), ways
        )
        if self.several and self.restore == "yes" and (made[0].log[:, 0] == 1).any():
            made = engine.map(lambda way: self._give_back(way, records, longest, allowed, mined), made)
            if mined is not None:
                made += engine.map(lambda way: self._mend(way, records, longest, allowed, mined), made)
        else:
            made = made[:2]
        return min(made, key=_Made.cost)

    def _suppress(
        self, records: Records, found: Any, common: Any, longest: int, allowed: IntArray, mined: Any, *, local: bool
    ) -> _Made:
        """Suppress on a copy of what changes."""
        own = records._replace(alive=records.alive.copy())
        counts = common._replace(support=common.support.copy(), having=common.having.copy())
        patterns = (
            None if mined is None else mined._replace(support=mined.support.copy(), n_of_item=mined.n_of_item.copy())
        )
        printed = True if self.validity == "literal" else None
        log = suppress(own, found, counts, longest, self.k, allowed, local, printed, patterns).reshape(-1, 5)
        lost = 0 if patterns is None else int((patterns.support < patterns.bar[0]).sum())
        return _Made(alive=own.alive, log=log, visits_lost=int(log[:, 4].sum()), patterns_lost=lost, local=local)

    def _give_back(
        self,
        way: _Made,
        records: Records,
        longest: int,
        allowed: IntArray,
        mined: Patterns | None,
        weight: IntArray | None = None,
    ) -> _Made:
        """Give visits back where they threaten nobody: first of the items in most frequent sequences (or in those of
        the largest `weight`), then of those that lost most."""
        n_items, own = int(records.meta[0]), records._replace(alive=way.alive.copy())
        restored = int(restore(own, _order(own, mined, weight), longest, self.k, allowed))
        support = None
        if mined is not None:
            left = own.alive == 1
            support = sequence_supports(
                keep_rows(own.offsets, left), own.items[left], own.owner, n_items, mined.first, mined.item
            )
        return replace(
            way,
            alive=own.alive,
            visits_lost=way.visits_lost - restored,
            visits_restored=way.visits_restored + restored,
            patterns_lost=0 if mined is None else int((support < mined.bar[0]).sum()),
            support=support,
        )

    def _mend(self, way: _Made, records: Records, longest: int, allowed: IntArray, mined: Patterns) -> _Made:
        """Take everything again and give it back in another order, in which lost sequences come first; return the best.

        What the records have now would come back whole, in any order of the items.  So first they are offered this, but
        records in which a lost sequence is broken are offered that sequence instead of what is in no sequence; then
        all are offered the rest.  A sequence weighs more for every time that it was lost: without that, those that
        were mended and those that broke for it would take turns.
        """
        best, weight = way, np.ones(len(mined.support), np.int64)
        for _ in range(ROUNDS):
            lost = (way.support < mined.bar[0]).astype(np.int64)
            if not lost.any():
                break
            weight += AGAIN * lost
            wanted = visits_to_mend(records._replace(alive=way.alive), mined, lost) == 1
            part = records._replace(
                offsets=keep_rows(records.offsets, wanted),
                items=records.items[wanted],
                alive=np.zeros(int(wanted.sum()), np.int64),
            )
            restored = int(restore(part, _order(part, mined, weight), longest, self.k, allowed))
            alive = np.zeros_like(records.alive)
            alive[wanted] = part.alive
            again = replace(way, alive=alive, visits_lost=len(alive) - restored, built_up=True)
            way = self._give_back(again, records, longest, allowed, mined, weight)
            best = min(best, way, key=_Made.cost)
        return best

    def _build_up(
        self, records: Records, longest: int, allowed: IntArray, n_owners: int, *, large: bool
    ) -> tuple[_Made | None, Patterns | None]:
        """Return the sequences that are to be spared, and for `large` data everything taken and given back where it
        threatens nobody."""
        mined = self._mine(records, n_owners)
        if not large:
            return None, mined
        nothing = _Made(
            alive=np.zeros_like(records.alive),
            log=np.empty((0, 5), np.int64),
            visits_lost=len(records.items),
            patterns_lost=0,
            local=True,
            built_up=True,
        )
        return self._give_back(nothing, records, longest, allowed, mined), mined

    def _mine(self, records: Records, n_owners: int) -> Patterns | None:
        """Return the maximal frequent sequences of the records, where they are to be spared."""
        if self.preserve == "instances":
            return None
        bar = self.min_support if isinstance(self.min_support, int) else max(2, -(-n_owners // 100))
        n_items = int(records.meta[0])
        first, item, support = mine_maximal(records.offsets, records.items, records.owner, n_items, bar)
        return new_patterns(first, item, support, n_items, bar)

    def _sensitive_codes(self, data: Visits) -> tuple[IntArray, int]:
        """Return per trajectory and attribute the code of its sensitive value, or -1; and how many codes there are."""
        columns, n_values = [], 0
        for attribute, values in self.sensitive:
            if attribute not in data.attributes:
                raise InputError(f"kcl: the data has no attribute {attribute!r}; it is named in sensitive.")
            column = data.attributes[attribute]
            if (missing := int((column.codes < 0).sum())) > 0:
                raise InputError(
                    f"kcl: {missing} trajectories have no value of the sensitive attribute {attribute!r}. "
                    "Fill it in (for example with 'unknown') or leave them out."
                )
            absent = [v for v in values if v not in column.labels]
            if absent:
                raise InputError(f"kcl: the sensitive value {absent[0]!r} of {attribute!r} never occurs in the data.")
            code_of = np.full(len(column.labels), -1, np.int64)
            for value in values:
                code_of[column.labels.index(value)] = n_values
                n_values += 1
            columns.append(code_of[column.codes])
        codes = np.column_stack(columns) if columns else np.empty((len(data), 0), np.int64)
        return np.ascontiguousarray(codes, np.int64), n_values


@dataclass(frozen=True, kw_only=True)
class _Made:
    """One way to remove all threats, and what it costs."""

    alive: IntArray
    log: IntArray
    visits_lost: int
    patterns_lost: int
    local: bool
    visits_restored: int = 0
    built_up: bool = False
    support: IntArray | None = None

    def cost(self) -> tuple[int, int, bool]:
        """Return what is compared; of equal ways, a local one is taken."""
        return self.patterns_lost, self.visits_lost, not self.local


def _order(records: Records, mined: Patterns | None, weight: IntArray | None) -> IntArray:
    """Return the items that a record lost: those in sequences of most weight first, then those that most lost."""
    n_items = int(records.meta[0])
    lost = np.bincount(records.items[records.alive == 0], minlength=n_items)
    spared = np.zeros(n_items, np.int64)
    if mined is not None:
        each = None if weight is None else np.repeat(weight, np.diff(mined.first))
        spared = np.bincount(mined.item, each, minlength=n_items).astype(np.int64)
    order = np.lexsort((-lost, -spared))
    return order[lost[order] > 0]


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


def _most_allowed(c: Fraction, n_owners: int) -> IntArray:
    """Return, for every number of owners, how many of them may have one sensitive value: exact, without division."""
    if max(c.numerator * n_owners, c.denominator) < 2**62:
        return np.arange(n_owners + 1) * c.numerator // c.denominator
    return np.array([c.numerator * n // c.denominator for n in range(n_owners + 1)], np.int64)
