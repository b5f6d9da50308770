"""(K,C)_L-privacy by local and global suppression."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import ParameterError
from wayveil.methods.kcl.kcl_pieces import Plan, kept_visits, plan_visits
from wayveil.methods.kcl.kcl_solver import KclSolver
from wayveil.model import (
    BlockKey,
    BlockStore,
    Engine,
    KclPrivacy,
    Method,
    MethodResult,
    PlannedBlocks,
    Sensitive,
    Trips,
    Visits,
    check_parameters,
    parameter,
)
from wayveil.model.claims.counting import row_share_parameter

__all__ = ["Kcl"]


@dataclass(frozen=True, kw_only=True)
class Kcl(Method):
    """Suppress visits until what is known of at most `l` visits fits at least `k` people and tells little of them.

    Parameters
    ----------
    k : int, >= 1
        Smallest number of people who must share what an attacker knows.  With 1 only the confidence is bounded, and
        `accept_absence` must be ``"yes"``.
    c : number from 0 to 1
        Largest share of those people who may have any one sensitive value; taken as the exact decimal fraction.
    l : int, >= 1
        Largest number of visits of one person that an attacker knows.
    sensitive : mapping of attribute to values
        The values whose inference is bounded.  Without any, only `k` counts.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories that fit what an attacker knows which one person may own.
    suppression : {"local", "global"}
        `local` may take a visit out of the records that need it; `global` takes it out of all records, but for extra
        records of a person who would own too many, which may be left out whole before that.  Neither is optimal, and
        where `global` happens to lose less, `local` publishes that.
    preserve : {"instances", "mfs"}
        What a suppression should spare: visits, or maximal frequent sequences.
    min_support : int, >= 1, or "auto"
        From how many people on a sequence is frequent, with ``preserve="mfs"``; `auto` is 1 % of them, at least 2.
    restore : {"yes", "no"}
        Whether visits are given back to the records in which they threaten nobody, until none can be
        (``suppression="local"``).  The paper does not, and loses several times as much.
    improve : int, >= 0, or "auto"
        How often a part of the result is taken back and given back in another order, to lose less; `auto` is 300 times
        for small data, less often for larger, and never above 1,500,000 visits.  Not with ``preserve="mfs"``.
    accept_absence : {"no", "yes"}
        Whether `k` may be 1: a known visit that fits nothing then tells the sensitive value with certainty.
    hide_absence : {"no", "yes"}
        Whether further visits are taken out, everywhere, until known visits that fit nothing tell no sensitive value
        with more than `c`, or than its share among all where that is more.

    Guarantee
    ---------
    ``KclPrivacy(k, c, l, sensitive, row_share, hide_absence)``, over people and over trajectories; of trips with
    ``about="ends"``.  An attacker who knows more
    than `l` visits, or where a person was not, is not covered.

    Notes
    -----
    Algorithm 1 of the paper, with a list of frequent sequences per item instead of the MFS-tree, and with these
    departures: parts of all lengths prune the search (Procedure 1 prunes with the last length only, and returns
    sequences that are not minimal from L = 4 on); the validity test is exact (Procedure 2 is unsound from L = 3 on); a
    local suppression removes every threat whose records are among its own (line 7 asks for equality); supports and
    confidences count owners, and in the end records as well: what the greedy choice keeps is built up once more,
    without the extra records of people who would own too many; visits are given back at the end (`restore`).  Time and
    memory grow with the number of occurrences of common sequences, see ``docs/methods/kcl.md``.

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
    row_share: Fraction | str = row_share_parameter()
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
    restore: str = parameter(
        kind="choice",
        choices=("yes", "no"),
        default="yes",
        help="with suppression=local: give back what threatens nobody; no is the algorithm of the paper",
    )
    improve: int | str = parameter(
        kind="int",
        low=0,
        choices=("auto",),
        default="auto",
        help="with restore=yes: how often a part is taken back and built anew to lose less; auto: by size",
    )
    accept_absence: str = parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="yes: allow k=1, where a known visit that fits nothing tells the sensitive value",
    )
    hide_absence: str = parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="yes: take out more, until known visits that fit nothing tell no value with more than c or its base rate",
    )

    name: ClassVar[str] = "kcl"
    summary: ClassVar[str] = "(K,C)_L-privacy by local and global suppression of visits"
    accepts: ClassVar[type[Visits]] = Visits
    publishes: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Visits], ...]] = (Trips,)
    blocks: ClassVar[tuple[BlockKey, ...]] = ("whole",)
    plan_kernels: ClassVar[tuple[str, ...]] = ("kcl_count", "kcl_restore_many")

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.row_share == 0:
            raise ParameterError("kcl: row_share must be larger than 0, got 0. Nobody could own anything.")
        if self.k == 1 and self.accept_absence == "no":
            raise ParameterError(
                "kcl: k must be an integer >= 2 unless accept_absence is yes, got 1. With k=1 a visit is suppressed "
                "only because of a sensitive value, so a known visit that fits nothing tells that value with certainty."
            )
        if self.hide_absence == "yes" and self.l == "all":
            raise ParameterError(
                "kcl: l must be an integer with hide_absence=yes, got 'all'. What fits nothing is counted for each "
                "number of known visits."
            )
        if self.hide_absence == "yes" and self.preserve == "mfs":
            raise ParameterError(
                "kcl: preserve must be instances with hide_absence=yes, got 'mfs'. What is taken out to hide absence "
                "does not spare frequent sequences."
            )

    @property
    def solver(self) -> KclSolver:
        """What decides which visits go."""
        return KclSolver(params=self)

    @property
    def kernels(self) -> tuple[str, ...]:
        gives_back = self.solver.gives_back
        usual = self.preserve == "instances" or gives_back
        return (*(["kcl_suppress"] if usual else []), "kcl_find", *(["kcl_restore"] if gives_back else []))

    @property
    def metric_settings(self) -> Mapping[str, Mapping[str, Any]]:
        """Where frequent sequences of a given support were spared, the same sequences are looked for."""
        spared = self.preserve == "mfs" and isinstance(self.min_support, int)
        return {"frequent_sequences": {"min_support": self.min_support}} if spared else {}

    @property
    def claim(self) -> KclPrivacy:
        return KclPrivacy(
            k=self.k,
            c=self.c,
            l=self.l,
            sensitive=self.sensitive,
            row_share=self.row_share,
            hide_absence=self.hide_absence,
        )

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        solver = self.solver
        numbered = solver.encode(data)
        instance = solver.instance(numbered, people=data.n_owners)
        choice = solver.choose(instance, partial(solver.find, instance), engine)
        if self.hide_absence == "yes" and self.sensitive:
            engine.progress("hiding what absence tells")
            choice = solver.hide(choice, numbered, instance.longest)
        return MethodResult(data=data.where(choice.keep), claim=self.claim_of(data), facts=choice.facts)

    def plan(self, blocks: PlannedBlocks, *, engine: Engine, here: Engine) -> Plan:
        """Decide over all blocks which visits may stay: workers number and count, this machine chooses."""
        return plan_visits(self.solver, blocks, engine, here)

    def apply(self, plan: Plan, data: Visits, number: int, store: BlockStore) -> MethodResult:
        """Suppress in one block what does not stay."""
        return MethodResult(data=data.where(kept_visits(plan, data, number, store)), claim=self.claim_of(data))

    def claim_of(self, data: Any) -> KclPrivacy:
        """Return the claim about visits, or about both ends of trips."""
        return replace(self.claim, about="visits" if data.one_per_time else "ends")
