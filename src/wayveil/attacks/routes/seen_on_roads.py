"""The attacker who saw a person on some roads and looks for the published routes that have them in that order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import (
    OnRoutes,
    choice_parameter,
    draws_parameter,
    mean,
    owners_of,
    same_times,
    threshold_parameter,
    victims_parameter,
)
from wayveil.attacks.attack_numbers import mean_risk, share_above, share_unique, share_unmatched, worst_risk
from wayveil.attacks.person_risk import SINGLED_OUT, mean_bounds, risk_chart
from wayveil.attacks.routes.road_search import Attacked, Fitting
from wayveil.errors import InputError
from wayveil.model import AttackResult, Engine, Routes, parameter
from wayveil.model.data.ragged import offsets_of, take, trajectory_of_row
from wayveil.model.numbers import count, probability

__all__ = ["SeenOnRoads"]

Array = NDArray[Any]

_MOST_SETS = 1000  # sets of roads tried per person; more are drawn
_SETS_AT_ONCE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class SeenOnRoads(OnRoutes):
    """Someone who saw a person on up to `roads` roads, in order, looks for the routes of that time that have them.

    The attacker keeps the published trajectories of the slice of time that have the roads in that order; others may lie
    between them.  One attacker picks a person and is right with probability 1 / (number of people behind them); another
    picks a trajectory, and is right with the share of them that is the victim's.  The larger of the two counts.  Where
    nothing fits the person is not found at all.

    Parameters
    ----------
    roads : int, 1 to 5
        Number of roads on which the person was seen; all, where a trajectory has fewer.
    choice : {"random", "worst"}
        Which roads: any, with the risk of a person being the mean over those drawn; or the at most `roads` that are
        worst for the person.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000
        Sets of roads drawn per person (`choice` "random").
    threshold : number from 0 to 1
        People whose risk is above this are counted in `identity_share_above`.

    Notes
    -----
    A victim is an owner of `truth` with at least one row; the roads are of one trajectory, drawn evenly where there are
    several.  A published trajectory is of that time if its slice is that of the true trajectory; where the published
    data do not have that slice, if the times of entering the roads lie in ``t_start <= t <= t_end``.  People are
    distinct owners; where owners are withheld, trajectories.  A dummy is an owner of its own: it cannot be told apart.
    The victim's trajectories are those with the same owner code in `target`.

    "worst" is the largest risk over all that it tries: all sets of 1 to `roads` roads of a person, up to 1,000; beyond
    that 1,000 random ones, so that a set that was not drawn may be worse.  `sampled` says if people or sets were drawn.

    For 2 roads it takes time in the order of the pairs of rows of each published trajectory.  For more it grows with
    the known sequences that the trajectories have.

    References
    ----------
    Figure 10 of Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM
    Transactions on Intelligent Systems and Technology 5 (2014), shows the largest, mean and smallest probability.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("bd", "b", "d")])
    >>> data = Routes.from_records([["ab", "bc"], ["ab", "bc"], ["ab", "bd"]], network=network)
    >>> found = SeenOnRoads().run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3), found.measured["identity_min"]
    (1.0, 0.667, 0.5)
    """

    roads: int = parameter(
        kind="int", low=1, high=5, default=2, help="number of roads on which the victim was seen, in order"
    )
    choice: str = choice_parameter("roads")
    victims: int = victims_parameter(1000)
    draws: int = draws_parameter("sets of roads drawn per person")
    threshold: Fraction = threshold_parameter("risk")

    name: ClassVar[str] = "seen_on_roads"
    summary: ClassVar[str] = "an attacker who saw a person on some roads and looks for the routes that have them"

    def queries(self, truth: Routes, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _People:
        return _People.draw(truth, self.victims, rng)

    def match(
        self, queries: _People, target: Routes, *, truth: Routes, rng: np.random.Generator, engine: Engine
    ) -> _Risk:
        _check_times(truth, target)
        attacked = Attacked.of(target, truth)
        worst = self.choice == "worst"
        parts = []
        sampled = queries.sampled
        for block in queries.blocks(_MOST_SETS if worst else self.draws):
            # What is known depends on the truth and the seed alone: raw and published data meet the same attacker.
            draw = block.worst if worst else block.random
            person, rows, drawn = draw(self.roads, self.draws, rng)
            parts.append(_risk(person, attacked.count(rows, engine), len(block), worst))
            sampled = sampled or drawn
        risk, unmatched, unique, fewest = (np.concatenate(column) for column in zip(_NOBODY, *parts, strict=True))
        return _Risk(risk, unmatched, unique, fewest, sampled)

    def summarize(self, queries: _People, matches: _Risk) -> AttackResult:
        risk = matches.risk
        positive = risk[risk > 0]
        fewest = matches.fewest
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=len(queries),
            sampled=matches.sampled,
            numbers={
                "identity_mean": mean_risk(
                    mean(risk), interval=mean_bounds(risk, None, queries.population, sampled=matches.sampled)
                ),
                "identity_mean_if_matched": probability(mean(positive), "Mean over those who fit", about="identity"),
                "identity_max": worst_risk(float(risk.max()) if len(risk) else None),
                "identity_min": probability(
                    float(positive.min()) if len(positive) else None,
                    "Person least at risk",
                    about="identity",
                    joined="smallest",
                ),
                "identity_share_above": share_above(mean(risk > float(self.threshold)), self.threshold),
                "unmatched_share": share_unmatched(mean(matches.unmatched)),
                "unique_share": share_unique(mean(matches.unique)),
                "min_matching_people": count(
                    int(fewest[fewest > 0].min()) if len(positive) else None,
                    "Fewest people who fit",
                    "people",
                    joined="smallest",
                ),
            },
            charts=(risk_chart(risk, SINGLED_OUT),),
        )

    @property
    def _adversary(self) -> str:
        seen = "1 road" if self.roads == 1 else f"{self.roads} roads"
        if self.choice == "worst":
            return f"sees a person on up to {seen} of a trip, in order: those that are worst for the person"
        return f"sees a person on {seen} of a trip, in order, drawn at random"


@dataclass(frozen=True, kw_only=True, eq=False)
class _People:
    """Who is attacked: trajectories with rows, those of one person next to each other."""

    offsets: Array  # person to trajectories
    first: Array  # of each trajectory: its first row, and how many it has
    length: Array
    sampled: bool
    population: int  # people in the data

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @classmethod
    def draw(cls, truth: Routes, victims: int, rng: np.random.Generator) -> _People:
        length = np.diff(truth.offsets)
        with_rows = np.flatnonzero(length)
        owner = owners_of(truth)[with_rows]
        with_rows = with_rows[np.argsort(owner, kind="stable")]
        counts = np.unique(owner, return_counts=True)[1]
        chosen = np.arange(len(counts))
        if len(counts) > victims:
            chosen = np.sort(rng.choice(len(counts), victims, replace=False))
        offsets, at = take(offsets_of(counts), chosen)
        trips = with_rows[at]
        return cls(
            offsets=offsets,
            first=truth.offsets[trips],
            length=length[trips],
            sampled=len(counts) > victims,
            population=truth.n_owners,
        )

    def blocks(self, sets: int) -> Iterator[_People]:
        """Yield people in blocks of at most so many sets that they can be held."""
        step = max(1, _SETS_AT_ONCE // sets)
        for i in range(0, len(self), step):
            offsets = self.offsets[i : i + step + 1]
            part = slice(offsets[0], offsets[-1])
            yield replace(self, offsets=offsets - offsets[0], first=self.first[part], length=self.length[part])

    def random(self, roads: int, draws: int, rng: np.random.Generator) -> tuple[Array, Array, bool]:
        """Return the person and the rows of each set (-1 where it has fewer), and whether sets were drawn."""
        person = np.repeat(np.arange(len(self)), draws)
        counts = np.diff(self.offsets)[person]
        trajectory = self.offsets[person] + rng.integers(counts)
        length = self.length[trajectory]
        rows = _positions(length, np.minimum(roads, length), roads, rng)
        rows = np.where(rows >= 0, rows + self.first[trajectory][:, None], -1)
        return person, rows, bool(((counts > 1) | (length > roads)).any())

    def worst(self, roads: int, draws: int, rng: np.random.Generator) -> tuple[Array, Array, bool]:
        """Return the same for all sets of at most so many roads, or random ones where a person has too many."""
        lengths, number = np.unique(self.length, return_inverse=True)
        sets = [sum(comb(n, size) for size in range(1, roads + 1)) for n in lengths.tolist()]
        capped = np.array([min(n, _MOST_SETS + 1) for n in sets], np.int64)[number]
        owner = trajectory_of_row(self.offsets)
        many = np.bincount(owner, weights=capped, minlength=len(self)) > _MOST_SETS
        persons = []
        tables = []
        for n in np.unique(self.length[~many[owner]]).tolist():
            trips = np.flatnonzero((self.length == n) & ~many[owner])
            table = _subsets(n, roads)
            rows = np.where(table >= 0, self.first[trips][:, None, None] + table, -1)
            persons.append(np.repeat(owner[trips], len(table)))
            tables.append(rows.reshape(-1, roads))
        if many.any():
            person = np.repeat(np.flatnonzero(many), _MOST_SETS)
            trajectory = self.offsets[person] + rng.integers(np.diff(self.offsets)[person])
            length = self.length[trajectory]
            size = rng.integers(1, np.minimum(roads, length) + 1)
            rows = _positions(length, size, roads, rng)
            persons.append(person)
            tables.append(np.where(rows >= 0, rows + self.first[trajectory][:, None], -1))
        return np.concatenate(persons), np.concatenate(tables), bool(many.any())


def _positions(length: Array, size: Array, roads: int, rng: np.random.Generator) -> Array:
    """Return `size` different positions below `length`, in order, then -1; each choice is equally likely."""
    positions = np.full((len(length), roads), -1, np.int64)
    for j in range(roads):  # a number among those left, moved past the smaller ones that are taken
        pick = rng.integers(np.maximum(length - j, 1))
        for taken in np.sort(positions[:, :j], axis=1).T:
            pick += (taken >= 0) & (pick >= taken)
        positions[:, j] = np.where(j < size, pick, -1)
    last = np.iinfo(np.int64).max
    ordered = np.sort(np.where(positions < 0, last, positions), axis=1)
    return np.where(ordered == last, -1, ordered)


def _subsets(n: int, roads: int) -> Array:
    """Return all sets of 1 to `roads` of n positions, each in order and filled up with -1."""
    listed = [
        (*chosen, *(-1,) * (roads - size))
        for size in range(1, min(n, roads) + 1)
        for chosen in combinations(range(n), size)
    ]
    return np.array(listed, np.int64)


class _Risk(NamedTuple):
    """Per person: the risk, how much of what is known fits nobody or exactly one, and the fewest who fit."""

    risk: Array
    unmatched: Array
    unique: Array
    fewest: Array
    sampled: bool


_NOBODY = (np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0, np.int64))


def _risk(person: Array, fitting: Fitting, n: int, worst: bool) -> tuple[Array, Array, Array, Array]:
    """Return per person: the risk, how much of what is known fits nobody or exactly one, and the fewest who fit."""
    people = fitting.people
    fits = fitting.people > 0
    by_person = np.divide(1.0, people, out=np.zeros(len(people)), where=fits)
    by_trajectory = np.divide(fitting.own, fitting.rows, out=np.zeros(len(people)), where=fits)
    one = np.maximum(by_person, by_trajectory)
    largest = np.zeros(n)
    np.maximum.at(largest, person, one)
    fewest = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(fewest, person[fits], people[fits])
    fewest[fewest == np.iinfo(np.int64).max] = 0
    if worst:
        return largest, (fewest == 0) * 1.0, (fewest == 1) * 1.0, fewest
    many = np.bincount(person, minlength=n)
    average, none, single = (
        np.bincount(person, weights=w, minlength=n) / many for w in (one, people == 0, people == 1)
    )
    # A mean of 1/10s must not be above 1/10.
    return np.minimum(average, largest), none, single, fewest


def _check_times(truth: Routes, target: Routes) -> None:
    if not same_times(truth, target):
        raise InputError(
            f"seen_on_roads: the times of the known roads ({truth.time_format}) and of the attacked data "
            f"({target.time_format}) cannot be compared. Give both in the same form."
        )
