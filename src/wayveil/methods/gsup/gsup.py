"""Suppression of visits against adversaries who hold parts of every trajectory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.kernels.gsup.driver import (
    VisitTable,
    count_unsafe,
    new_state,
    suppress_everywhere,
    suppress_in_classes,
)
from wayveil.kernels.gsup.person_inference import leave_out
from wayveil.model import (
    BlockKey,
    BreachBound,
    Engine,
    Method,
    MethodResult,
    Sensitive,
    Visits,
    check_parameters,
    parameter,
)
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, take, trajectory_of_row

__all__ = ["Gsup"]

_AGAIN = 50
"""What was suppressed comes back before the next round where more than one of so many trajectories was left out."""


@dataclass(frozen=True, kw_only=True)
class Gsup(Method):
    """Suppress visits until no adversary who knows all visits to places of his own can be sure of another place.

    Of people with several trajectories some are left out, drawn at random, where over all of them too much is inferred.

    Parameters
    ----------
    p : number from 0 to 1
        Largest share of the people who fit what an adversary knows with one other place, and largest chance with which
        he infers it of a person over all that is published of them; taken as the exact decimal fraction.
    adversaries : mapping of name to places
        The places of each adversary.  No place has two; places may have none.
    mode : {"class", "global"}
        `class` takes a place out of trajectories that look the same to one adversary; `global` out of all.
    times : {"order", "keep"}
        `order` publishes 1, 2, 3, ... instead of the times, as adversaries are assumed to know the order only; `keep`
        publishes the times, and adversaries know those of their own places.

    Guarantee
    ---------
    ``BreachBound(p, adversaries, times)``.  Adversaries who put together what they know, or who are not declared, are
    not covered.

    Notes
    -----
    The paper's greedy algorithm as it is known from descriptions; operations, score and ties are written down in
    ``docs/methods/gsup.md``.  Repaired: the test is made on classes of *published* sequences, the empty one included;
    testing what people truly did misses an adversary who counts.  A place is also unsafe where too large a share of the
    trajectories has it, and not only of the owners.  Who has several trajectories is looked at over all of them: who
    owns three of four trips, of which two were at the clinic, was there.

    What an operation is worth follows from the classes that it touches; in small classes it is looked up after each
    change, in large ones when it is their turn, so that the order of operations can differ from that of a greedy choice
    that tries everything again after every step.

    References
    ----------
    Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a1", 8), ("b1", 9)], [("a1", 7), ("b2", 9)], [("a2", 8), ("b2", 9)]])
    >>> method = Gsup(p=0.5, adversaries={"A": ["a1", "a2"]})
    >>> result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [result.data.record(i) for i in range(3)]
    [[('a1', 1), ('b1', 2)], [('a1', 1), ('b2', 2)], [('a2', 1)]]
    """

    p: Fraction = parameter(
        kind="fraction",
        low=0,
        high=1,
        default=Fraction(1, 2),
        help="largest share of the people who fit what an adversary knows with one other place",
    )
    adversaries: Sensitive = parameter(kind="groups", help="the places of each adversary, disjoint")
    mode: str = parameter(
        kind="choice",
        choices=("class", "global"),
        default="class",
        help="class: take a place out of trajectories that look the same to an adversary; global: out of all",
    )
    times: str = parameter(
        kind="choice",
        choices=("order", "keep"),
        default="order",
        help="order: publish 1, 2, 3, ... as times; keep: publish the times, which adversaries then know",
    )

    name: ClassVar[str] = "gsup"
    summary: ClassVar[str] = "suppression of visits against adversaries who know all visits to places of their own"
    accepts: ClassVar[type[Visits]] = Visits
    publishes: ClassVar[type[Visits]] = Visits
    blocks: ClassVar[tuple[BlockKey, ...]] = ()

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        self.claim  # noqa: B018  adversaries must be disjoint

    @property
    def hides_by_chance(self) -> bool:
        """Which trajectories of a person are left out is drawn: who guesses the draw learns which are still theirs."""
        return True

    @property
    def keeps_times(self) -> bool:
        return self.times == "keep"

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> BreachBound:
        return BreachBound(p=self.p, adversaries=self.adversaries, times=self.times)

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        if data.n_visits == 0:
            return MethodResult(data=self._published(data), claim=self.claim, facts={"visits suppressed": 0})
        # Terrovitis and Mamoulis (2008): an adversary knows the visits of everybody to its own places, in order. People
        # with the same projection are one class to it; a place that too large a share of a class visited is inferred
        # with that share. Visits are suppressed greedily until no share is above p.
        rank, adversary = self._places(data)
        by_owner = _owners_together(data.owner)
        offsets, rows = take(data.offsets, by_owner)
        place = rank[data.location[rows]]
        item = place if self.times == "order" else _number(place, data.t[rows])
        allowed = _most_allowed(self.p, len(data))
        at = None
        diameter = 0.0
        if data.place_x is not None and data.place_y is not None:
            at = (data.place_x[data.location[rows]], data.place_y[data.location[rows]])
            diameter = float(np.hypot(np.ptp(at[0]), np.ptp(at[1])))
        owner = data.owner[by_owner].astype(np.int64)
        table = VisitTable(offsets, place, item, owner, adversary, allowed, at, diameter)
        draw = _draw(owner, rng)
        best = self._suppress(table, allowed, draw, engine)
        # Who has many trajectories keeps few of them where places are as frequent in classes as p allows.  Where some
        # were left out it is therefore tried if more stays with smaller shares, such that n trajectories of a person
        # together tell no more than p: for n = 2, 4, 8, ... until two of these in a row did not help.
        most_trips = np.bincount(np.unique(owner, return_inverse=True)[1]).max()
        n_trips = 2
        in_vain = 0
        while best.gone.any() and n_trips <= most_trips and in_vain < 2:
            smaller = _most_allowed(_share_of_each(self.p, n_trips), len(data))
            other = self._suppress(table, smaller, draw, engine)
            in_vain = 0 if other.alive.sum() > best.alive.sum() else in_vain + 1
            if in_vain == 0:
                best = replace(other, classes=best.classes, pairs=best.pairs)
            n_trips *= 2
        keep: BoolArray = np.empty(data.n_visits, bool)
        keep[rows] = best.alive
        published = data.where(keep)
        empty = (np.diff(published.offsets) == 0) & (np.diff(data.offsets) > 0)
        facts = {
            "unsafe classes": best.classes,
            "unsafe inferences": best.pairs,
            "visits suppressed": int((~keep).sum()),
            "trajectories left out": int(best.gone.sum()),
            "trajectories without visits": int(empty.sum() - best.gone.sum()),
        }
        return MethodResult(data=self._published(published), claim=self.claim, facts=facts)

    def _suppress(
        self, table: VisitTable, allowed_trips: IntArray, draw: NDArray[np.int64], engine: Engine
    ) -> _Outcome:
        """Take visits and trajectories out until nothing is unsafe; of n trajectories so many may have one place."""
        owner = table.owner
        trajectory = trajectory_of_row(table.offsets)
        alive = np.ones(len(table.place), bool)
        suppressed = np.zeros(len(owner), bool)
        first: tuple[int, int] | None = None
        # Before each round the rows that are `alive` are published.  A round makes the shares in all classes safe, then
        # looks at people over all their trajectories, and leaves some of these out if too much is inferred.  That makes
        # classes smaller, so that shares in them can be too large again: another round.  Where much was left out it
        # starts from the data without that, as much that was suppressed need not have been.  Each round but the last
        # leaves out a trajectory at least, and everybody keeps one, so it ends; with one per person there is one round.
        while True:
            engine.progress("finding what adversaries can infer")
            at = None if table.at is None else (table.at[0][alive], table.at[1][alive])
            ends = keep_rows(table.offsets, alive)
            left = table._replace(offsets=ends, place=table.place[alive], item=table.item[alive], at=at)
            state = new_state(left, allowed_trips)
            first = first or count_unsafe(state)
            engine.progress("suppressing visits")
            state = (suppress_in_classes if self.mode == "class" else suppress_everywhere)(state)
            alive[alive] = state.alive == 1
            engine.progress("leaving out trips of people who have many")
            more = leave_out(state, owner, self.p, draw)
            if not more.any():
                return _Outcome(alive=alive, gone=suppressed, classes=first[0], pairs=first[1])
            suppressed |= more
            if int(more.sum()) * _AGAIN >= len(owner) - int(suppressed.sum()):
                alive[:] = True
            alive &= ~suppressed[trajectory]

    def _places(self, data: Visits) -> tuple[IntArray, IntArray]:
        """Return the rank of each place among the sorted names, and per rank the number of its adversary, or -1."""
        occurs = np.zeros(len(data.locations), bool)
        occurs[data.location] = True
        seen = {name for name, is_visited in zip(data.locations, occurs.tolist(), strict=True) if is_visited}
        named = [place for _, places in self.adversaries for place in places]
        absent = [place for place in named if place not in seen]
        if absent:
            raise InputError(
                f"gsup: {len(absent)} of the {len(named)} places of the adversaries never occur in the data, for "
                f"example {absent[0]!r}. Correct their names or leave them out."
            )
        ordered = sorted(data.locations)
        rank_of = {name: i for i, name in enumerate(ordered)}
        whose = {place: k for k, (_, places) in enumerate(self.adversaries) for place in places}
        rank = np.array([rank_of[name] for name in data.locations], np.int64)
        return rank, np.array([whose.get(name, -1) for name in ordered], np.int64)

    def _published(self, data: Visits) -> Visits:
        """Return the data with the times that are to be published."""
        if self.times == "keep":
            return data
        position = np.arange(data.n_visits) - np.repeat(data.offsets[:-1], np.diff(data.offsets)) + 1
        return replace(data, t=position, time_format="integer")


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """Which rows stay and which trajectories are left out; the classes and inferences that were unsafe at first."""

    alive: BoolArray
    gone: BoolArray
    classes: int
    pairs: int


def _owners_together(owner: IntArray) -> IntArray:
    """Return an order in which the trajectories of an owner follow each other, the owner of the first one first."""
    _, first, number = np.unique(owner, return_index=True, return_inverse=True)
    order: IntArray = np.argsort(first[number], kind="stable")
    return order


def _draw(owner: IntArray, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return in which order trajectories are left out where it has to be; nothing is drawn where nobody has several."""
    several = len(np.unique(owner)) < len(owner)
    return rng.permutation(len(owner)) if several else np.arange(len(owner))


def _number(place: IntArray, t: IntArray) -> IntArray:
    """Number the distinct pairs of place and time, by place and then by time."""
    order = np.lexsort((t, place))
    new = np.ones(len(order), np.int64)
    new[1:] = (place[order][1:] != place[order][:-1]) | (t[order][1:] != t[order][:-1])
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(new) - 1
    return number


def _share_of_each(p: Fraction, n: int) -> Fraction:
    """Return a share that n trajectories may each have so that one of them has it with p, rounded down.

    Examples
    --------
    >>> _share_of_each(Fraction(3, 4), 2)
    Fraction(1, 2)
    """
    return Fraction(int((1 - float(1 - p) ** (1 / n)) * 10**6 + 1e-6), 10**6)


def _most_allowed(p: Fraction, most: int) -> IntArray:
    """Return, for every number of people, how many of them may have been at one place: exact, without division."""
    if max(p.numerator * most, p.denominator) < 2**62:
        return np.arange(most + 1) * p.numerator // p.denominator
    return np.array([p.numerator * n // p.denominator for n in range(most + 1)], np.int64)
