"""A package of somebody else that adds one of everything to Wayveil, with public names of Wayveil only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil import (
    Attack,
    AttackResult,
    Claim,
    Engine,
    Method,
    Metric,
    Protection,
    Published,
    Score,
    Step,
    Verdict,
    Visits,
    Workload,
    parameter,
)


@dataclass(frozen=True, kw_only=True)
class BusyPlaces(Claim):
    """Nobody is alone at a published place: at least `k` people were there, at whatever time."""

    k: int = parameter(kind="int", low=2, help="smallest number of people at every published place")

    name: ClassVar[str] = "BusyPlaces"
    public_numbers: ClassVar[tuple[str, ...]] = ("min_support", "places", "trajectories")

    @property
    def group_size(self) -> int:
        return self.k

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {"threshold": Fraction(1, self.k)}

    @property
    def promise(self) -> str:
        return f"At least {self.k} people were at every published place."

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence=f"Who knows one place of a person finds that person with a chance of at most 1/{self.k}.",
                attack="known_place",
                measured=("identity_max",),
                bound=Fraction(1, self.k),
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return ("Who knows two places of a person.",)


def check_busy_places(published: Visits, claim: BusyPlaces) -> Verdict:
    """Count the people at every place, one by one."""
    given = published.owners == "given"
    people: dict[str, set[int]] = defaultdict(set)
    for i in range(len(published)):
        for place, _ in published.record(i):
            people[place].add(int(published.owner[i]) if given else i)
    fewest = min((len(found) for found in people.values()), default=None)
    holds = fewest is None or fewest >= claim.k
    return Verdict(
        holds=holds,
        claim=claim,
        counted="owners" if given else "trajectories",
        measured={"min_support": fewest, "places": len(people), "trajectories": len(published)},
        reason="" if holds else f"Only {fewest} were at one place, but at least {claim.k} are promised.",
    )


@dataclass(frozen=True, kw_only=True)
class DropQuiet(Method):
    """Leave out visits to places where fewer than `k` people were."""

    k: int = parameter(kind="int", low=2, help="smallest number of people at every published place")

    name: ClassVar[str] = "drop_quiet"
    summary: ClassVar[str] = "leaves out visits to places that few people visit"
    accepts: ClassVar[type[Visits]] = Visits
    publishes: ClassVar[type[Visits]] = Visits

    @property
    def claim(self) -> BusyPlaces:
        return BusyPlaces(k=self.k)

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> Published:
        pairs = np.unique(np.stack([data.location, np.repeat(data.owner, np.diff(data.offsets))]), axis=1)
        people = np.bincount(pairs[0].astype(np.int64), minlength=len(data.locations))
        kept = data.where(people[data.location] >= self.k)
        return Published(data=kept, claim=self.claim, facts={"visits left out": data.n_visits - kept.n_visits})


@dataclass(frozen=True, kw_only=True)
class DropQuietBadly(DropQuiet):
    """The same with a mistake: it leaves out nothing, so that its verifier has something to find."""

    name: ClassVar[str] = "keep_everything"
    summary: ClassVar[str] = "claims what it does not do"

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> Published:
        return Published(data=data, claim=self.claim)


@dataclass(frozen=True, kw_only=True)
class KnownPlace(Attack):
    """Someone who knows one place of a person picks one of the people who were there."""

    threshold: Fraction = parameter(kind="fraction", low=0, high=1, default=Fraction(1, 2), help="risk that counts")

    name: ClassVar[str] = "known_place"
    summary: ClassVar[str] = "an attacker who knows one place of a person"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)

    def queries(
        self, truth: Visits, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> list[tuple[int, str]]:
        return sorted({(int(truth.owner[i]), place) for i in range(len(truth)) for place, _ in truth.record(i)})

    def match(
        self, queries: list[tuple[int, str]], target: Visits, *, truth: Visits, rng: Any, engine: Engine
    ) -> dict[str, int]:
        given = target.owners == "given"
        there = {
            (place, int(target.owner[i]) if given else i) for i in range(len(target)) for place, _ in target.record(i)
        }
        people: dict[str, int] = defaultdict(int)
        for place, _ in there:
            people[place] += 1
        return dict(people)

    def summarize(self, queries: list[tuple[int, str]], matches: dict[str, int]) -> AttackResult:
        risks = [1 / matches[place] for _, place in queries if place in matches]
        return AttackResult(
            name=self.name,
            adversary="knows one place of a person",
            victims=len({person for person, _ in queries}),
            sampled=False,
            measured={
                "identity_max": max(risks, default=None),
                "identity_threshold": float(self.threshold),
                "identity_share_above": float(np.mean(np.array(risks) > float(self.threshold))) if risks else None,
            },
        )


@dataclass(frozen=True, kw_only=True)
class PlacesLeft(Metric):
    """The share of visits that are still there."""

    name: ClassVar[str] = "places_left"
    summary: ClassVar[str] = "visits before and after"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> tuple[int, int]:
        return original.n_visits, published.n_visits

    def score(self, counts: tuple[int, int]) -> Score:
        before, after = counts
        share = after / before if before else None
        return Score(name=self.name, meaning="share of visits left", value=share, better="higher", percent=True)


@dataclass(frozen=True, kw_only=True)
class EveryOther(Step):
    """Keep every other visit of a trajectory."""

    name: ClassVar[str] = "every_other"
    summary: ClassVar[str] = "keeps every other visit"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:  # type: ignore[override]
        place = np.arange(data.n_visits) - np.repeat(data.offsets[:-1], np.diff(data.offsets))
        return data.where(place % 2 == 0), ("Every other visit was kept.",)


@dataclass(frozen=True, kw_only=True)
class Ring(Workload):
    """People who go round in a ring of places."""

    people: int = parameter(kind="int", low=1, default=10, help="number of people")
    places: int = parameter(kind="int", low=2, default=5, help="number of places")

    name: ClassVar[str] = "ring"
    summary: ClassVar[str] = "people who go round in a ring"
    accepts: ClassVar[type[Visits]] = Visits

    def generate(self, *, rng: np.random.Generator) -> Visits:
        starts = rng.integers(self.places, size=self.people).tolist()
        return Visits.from_records([[(f"p{(s + t) % self.places}", t) for t in range(4)] for s in starts])
