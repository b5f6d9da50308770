"""What the attacks by known places do alike: try sets of what is known of people, at random or the worst."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import OnVisits
from wayveil.attacks.attack_numbers import mean_risk, share_above, share_unique, share_unmatched
from wayveil.attacks.attack_numbers import worst_risk as worst_number
from wayveil.attacks.person_risk import SINGLED_OUT, interval, risk_chart
from wayveil.attacks.places.place_records import Index, Records, recode_victims
from wayveil.attacks.places.record_search import NOBODY, fewest_owners, fitting_sets
from wayveil.attacks.visits.knowledge import Fitting, KnownSets, Risk, Victims
from wayveil.model import AttackResult, Engine, Visits
from wayveil.model.numbers import share

__all__ = [
    "MOST_TRIED",
    "ByPlaces",
    "PlaceAttack",
    "PlaceQueries",
    "Rows",
    "Tried",
    "attack_sets",
    "depth_of",
    "known_of",
    "random_sets",
    "worst_risk",
    "worst_sets",
]

Array = NDArray[Any]

_ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10

MOST_TRIED = 500
"""About so many sets are tried of somebody with several records, for the share of records that are theirs."""

_PEOPLE_AT_ONCE = 256


class Tried(NamedTuple):
    """The risk of people; whether what is known of them was drawn; per person, whether the search for the worst was
    left early (None where there is none)."""

    risk: Risk
    drawn: bool = False
    cut: Array | None = None


class PlaceQueries(NamedTuple):
    """Who is attacked, out of how many people with a visit."""

    victims: Victims
    population: int


class ByPlaces(OnVisits):
    """An attack by places without times: the same numbers and the same chart for all of them."""

    victims: int
    threshold: Fraction

    @property
    @abstractmethod
    def adversary(self) -> str:
        """What is known, in words."""

    def queries(
        self, truth: Visits, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> PlaceQueries:
        nonempty = np.diff(truth.offsets) > 0
        people = len(np.unique(truth.owner[nonempty])) if truth.owners == "given" else int(nonempty.sum())
        return PlaceQueries(Victims.draw(truth, self.victims, rng), people)

    def summarize(self, queries: PlaceQueries, matches: Tried) -> AttackResult:
        identity = matches.risk.identity
        people = len(matches.risk.identity)
        drawn = matches.drawn
        cut = matches.cut
        drawn_people = people < queries.population
        low: float | None = None
        high: float | None = None
        # An interval is told where people or what is known of them were drawn.
        if people and (drawn or drawn_people):
            low, high = interval(identity, np.arange(people), np.full(people, drawn), queries.population)
        return AttackResult(
            name=self.name,
            adversary=self.adversary,
            victims=people,
            sampled=drawn or drawn_people or bool(cut is not None and cut.any()),
            numbers={
                "identity_mean": mean_risk(_mean(identity), interval=(low, high)),
                "identity_max": worst_number(float(identity.max()) if len(identity) else None),
                "identity_share_above": share_above(
                    _mean(identity > float(self.threshold) + _ROUNDING), self.threshold
                ),
                "unmatched_share": share_unmatched(_mean(matches.risk.unmatched)),
                "unique_share": share_unique(_mean(matches.risk.unique)),
                "exact_share": share(None if cut is None else _mean(~cut), "People judged exactly"),
            },
            charts=(risk_chart(identity, SINGLED_OUT, rounding=_ROUNDING),),
        )


class PlaceAttack(ByPlaces):
    """An attack with a choice of what is known, inside a trajectory or a person."""

    m: int | str
    choice: str
    record: str
    draws: int

    def match(
        self, queries: PlaceQueries, target: Visits, *, truth: Visits, rng: np.random.Generator, engine: Engine
    ) -> Tried:
        merged = self.record == "person"
        victims = recode_victims(queries.victims, truth, target, merged=merged)
        return self.tried(victims, Records.of(target, merged=merged), rng=rng, engine=engine)

    @abstractmethod
    def tried(self, victims: Victims, records: Records, *, rng: np.random.Generator, engine: Engine) -> Tried:
        """Return what comes out of all that may be known of the victims, in what is attacked."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """What can be known of victims: one row per visit or per place, with a value."""

    victims: Victims
    value: Array

    @classmethod
    def of(cls, victims: Victims, offsets: Array, place: Array, value: Array) -> Rows:
        """Return other rows of the same records, without times."""
        return cls(victims=replace(victims, offsets=offsets, location=place, t=np.zeros_like(place)), value=value)

    @property
    def person(self) -> Array:
        """The person behind every record."""
        return np.repeat(np.arange(len(self.victims)), np.diff(self.victims.first))


def attack_sets(
    attack: PlaceAttack,
    rows: Rows,
    index: Index,
    *,
    items: Callable[[Index, Array], Array] | None = None,
    exactly: bool = False,
    rng: np.random.Generator,
    engine: Engine,
) -> Tried:
    """Return what sets of rows tell: all or drawn ones, or those that are worst (of `m` rows `exactly`, or fewer).

    `items` turns places into items, where that depends on the other places of the same set.
    """
    victims = rows.victims
    m = depth_of(attack, rows.victims)

    def match(sets: Array, victim: Array) -> Fitting:
        if items is None:
            return fitting_sets(index, np.where(sets < 0, -1, index.item[sets]), victim, engine)
        known = items(index, np.where(sets < 0, -1, victims.location[sets]))
        return fitting_sets(index, known, victim, engine)

    if attack.choice == "worst":
        # The worst set of a person is the one that fits the fewest owners: a branch and bound search over all sets,
        # from the rarest item on, shared by everybody who has the same items.
        best, cut = fewest_owners(index, victims.offsets, rows.person, len(victims), m, exactly=exactly, engine=engine)
        return worst_sets(best, cut, victims, m, match, rng, exactly=exactly)
    return random_sets(victims, m, attack.draws, match, rng)


def random_sets(
    victims: Victims, m: int, draws: int, match: Callable[[Array, Array], Fitting], rng: np.random.Generator
) -> Tried:
    """Return the mean risk over sets of `m` rows; `match` says who fits them, and how many records of the victims."""
    parts = []
    drawn = False
    for block in victims.blocks(m, draws=draws):
        # What is known depends on the truth and the seed alone: raw and published data meet the same attacker.
        sets = KnownSets.random(block, m, draws=draws, all_sets=not victims.sampled, rng=rng)
        fitting = match(sets.visits, block.owner[sets.person])
        parts.append(Risk.of(sets, fitting, len(block), worst=False))
        drawn = drawn or sets.sampled
    return Tried(Risk.join(parts), drawn, None)


def worst_sets(
    best: Array,
    cut: Array,
    victims: Victims,
    m: int,
    match: Callable[[Array, Array], Fitting],
    rng: np.random.Generator,
    *,
    exactly: bool = False,
) -> Tried:
    """Return the risk where the worst set of a person fits so many owners; see `Tried` for `cut`.

    Somebody with several records may own a larger share of the records that fit than one of the people: for them, sets
    are tried, all of them or about `MOST_TRIED`.
    """
    # The search minimises people. Who has several records can be easier to find among records than among people, and
    # that is no minimum over people: so for these, sets are tried one by one.
    risk = worst_risk(np.where(best == NOBODY, 0, best))
    several = (np.diff(victims.first) > 1) & (victims.owner >= 0)
    if not several.any():
        return Tried(risk, False, cut)
    identity = risk.identity.copy()
    left_early = cut.copy()
    for start in range(0, len(victims), _PEOPLE_AT_ONCE):
        block = victims.part(start, min(start + _PEOPLE_AT_ONCE, len(victims)))
        # Up to `MOST_TRIED` sets per person: the largest share found is a lower bound, and `cut` says so.
        sets = KnownSets.worst(block, m, rng=rng, most=MOST_TRIED)
        tried = several[start + sets.person]
        if exactly:  # only sets of as many rows as there may be
            record = np.searchsorted(block.offsets, sets.visits[:, 0], side="right") - 1
            tried &= (sets.visits >= 0).sum(axis=1) == np.minimum(np.diff(block.offsets)[record], m)
        person = start + sets.person[tried]
        fitting = match(sets.visits[tried], victims.owner[person])
        share = np.divide(fitting.own, fitting.trajectories, out=np.zeros(len(person)), where=fitting.trajectories > 0)
        np.maximum.at(identity, person, share)
        if sets.sampled:
            left_early[start : start + len(block)] |= several[start : start + len(block)]
    worst = replace(risk, identity=identity, unique=identity == 1)
    return Tried(worst, False, left_early & (identity < 1))


def depth_of(attack: PlaceAttack, victims: Victims) -> int:
    """Return how many rows are known at most."""
    return victims.longest if isinstance(attack.m, str) else min(attack.m, victims.longest)


def known_of(attack: PlaceAttack, what: str) -> str:
    """Return what an attacker knows, in words: `m` of `what`."""
    of = "a person" if attack.record == "person" else "a trajectory of a person"
    if attack.choice == "worst":
        start = "any" if attack.m == "all" else f"up to {attack.m}"
        return f"knows {start} {what} of {of}: those that are worst for the person"
    return f"knows all {what} of {of}" if attack.m == "all" else f"knows {attack.m} {what} of {of}, drawn at random"


def worst_risk(owners: Array) -> Risk:
    """Return the risk of people of whom the worst that is known fits so many owners; 0 fits nobody."""
    identity = np.divide(1.0, owners, out=np.zeros(len(owners)), where=owners > 0)
    return Risk(identity=identity, confidence=np.zeros(len(owners)), unmatched=owners == 0, unique=owners == 1)


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None
