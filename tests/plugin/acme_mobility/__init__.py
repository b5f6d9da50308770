"""A package of somebody else that adds one of everything to Wayveil, with public names of Wayveil only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import polars as pl

from wayveil import (
    Attack,
    AttackResult,
    Claim,
    Engine,
    FileFormat,
    InputError,
    Layout,
    Method,
    MethodResult,
    Metric,
    Number,
    Protection,
    Score,
    Step,
    Trajectories,
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

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        pairs = np.unique(np.stack([data.location, np.repeat(data.owner, np.diff(data.offsets))]), axis=1)
        people = np.bincount(pairs[0].astype(np.int64), minlength=len(data.locations))
        kept = data.where(people[data.location] >= self.k)
        return MethodResult(data=kept, claim=self.claim, facts={"visits left out": data.n_visits - kept.n_visits})


@dataclass(frozen=True, kw_only=True)
class DropQuietBadly(DropQuiet):
    """The same with a mistake: it leaves out nothing, so that its verifier has something to find."""

    name: ClassVar[str] = "keep_everything"
    summary: ClassVar[str] = "claims what it does not do"

    def run(self, data: Visits, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        return MethodResult(data=data, claim=self.claim)


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
            numbers={
                "identity_max": Number(
                    value=max(risks, default=None),
                    unit="probability",
                    label="Person most at risk",
                    about="identity",
                    statistic="largest",
                    joined="largest",
                ),
                "identity_share_above": Number(
                    value=float(np.mean(np.array(risks) > float(self.threshold))) if risks else None,
                    unit="share",
                    label="People with a risk above the threshold",
                    about="identity",
                    statistic="share above",
                    threshold=float(self.threshold),
                ),
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
        return Score(name=self.name, meaning="share of visits left", value=share, better="higher", unit="share")


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


def read_pings(path: Path) -> pl.DataFrame:
    """Read a file with one ping per line: who, where, when, with a vertical bar between them."""
    rows = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
    wrong = sum(len(row) != 3 for row in rows)
    if wrong:
        raise InputError(f"{path.name}: {wrong:,} lines have not three fields. Correct them.")
    table = pl.DataFrame(rows, schema=["traj_id", "location", "t"], orient="row")
    return table.with_columns(pl.col("t").cast(pl.Int64))


PINGS = FileFormat(name="pings", title="Acme pings", endings=(".pings",), holds=("table",), read=read_pings)


class LegsLayout(Layout):
    """The published table of legs."""

    columns: ClassVar[Mapping[str, Any]] = {"traj_id": "text", "t": "time", "origin": "text", "destination": "text"}

    def where(self, data: Legs, path: Any, *, public: bool) -> dict[str, pl.Series]:
        names = pl.Series(data.zones, dtype=pl.String)
        return {column: names.gather(getattr(data, column)) for column in data.code_columns}

    def read(self, rows: Any, again: Any, beside: Any) -> dict[str, Any]:
        zones, codes = self.read_names(rows, "origin", "destination")
        return {"t": self.read_times(rows, again, beside), "zones": zones, **codes}


@dataclass(frozen=True, kw_only=True, eq=False)
class Legs(Trajectories):
    """Ways from one zone to the next: a kind of data with two names per row."""

    origin: Any
    destination: Any
    t: Any
    zones: tuple[str, ...]

    kind: ClassVar[str] = "legs"
    row_word: ClassVar[str] = "legs"
    row_columns: ClassVar[Mapping[str, Any]] = {"origin": np.int32, "destination": np.int32, "t": np.int64}
    code_columns: ClassVar[tuple[str, ...]] = ("origin", "destination")
    names_field: ClassVar[str] = "zones"
    name_word: ClassVar[Literal["places", "roads"] | None] = "places"
    layout: ClassVar[type[Any] | None] = LegsLayout

    def _check_rows(self) -> None:
        if (self.origin == self.destination).any():
            raise InputError("Legs: a leg must lead somewhere else.")

    @classmethod
    def tiny(cls) -> Self:
        return cls(offsets=np.array([0, 1]), owner=np.array([0]), origin=[0], destination=[1], t=[0], zones=("a", "b"))

    def times(self) -> Any:
        return self.t

    @classmethod
    def _unify(cls, parts: Any) -> Any:
        zones = tuple(sorted({zone for part in parts for zone in part.zones}))
        return [part.recode(zones) for part in parts]


@dataclass(frozen=True, kw_only=True)
class ToLegs(Step):
    """Make a leg of every two visits that follow each other at different places."""

    name: ClassVar[str] = "to_legs"
    summary: ClassVar[str] = "makes legs of visits"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Legs]] = Legs

    def run(self, data: Visits) -> tuple[Legs, tuple[str, ...]]:  # type: ignore[override]
        trajectory = np.repeat(np.arange(len(data)), np.diff(data.offsets))
        same = trajectory[1:] == trajectory[:-1]
        row = np.flatnonzero(same & (data.location[1:] != data.location[:-1]))
        lengths = np.bincount(trajectory[row], minlength=len(data))
        legs = Legs(
            offsets=np.concatenate([[0], np.cumsum(lengths)]),
            owner=data.owner,
            origin=data.location[row],
            destination=data.location[row + 1],
            t=data.t[row],
            zones=data.locations,
            time_format=data.time_format,
            owners=data.owners,
        )
        return legs, (f"{len(row):,} legs were made of {data.n_visits:,} visits.",)


@dataclass(frozen=True, kw_only=True)
class BusyLegs(Claim):
    """At least `k` people went every published way; it promises nothing to anybody, as no attack was written."""

    k: int = parameter(kind="int", low=2, help="smallest number of people on every published way")

    name: ClassVar[str] = "BusyLegs"
    public_numbers: ClassVar[tuple[str, ...]] = ("min_support",)

    @property
    def promise(self) -> str:
        return f"At least {self.k} people went every published way."

    @property
    def protects(self) -> tuple[Protection, ...]:
        return ()

    @property
    def not_covered(self) -> tuple[str, ...]:
        return ("Who knows two ways of a person.",)


def _people_per_way(data: Legs) -> dict[tuple[str, str], set[int]]:
    people: dict[tuple[str, str], set[int]] = defaultdict(set)
    for i in range(len(data)):
        for row in range(data.offsets[i], data.offsets[i + 1]):
            people[data.zones[data.origin[row]], data.zones[data.destination[row]]].add(int(data.owner[i]))
    return people


def check_busy_legs(published: Legs, claim: BusyLegs) -> Verdict:
    """Count the people on every way."""
    fewest = min((len(people) for people in _people_per_way(published).values()), default=None)
    holds = fewest is None or fewest >= claim.k
    return Verdict(
        holds=holds,
        claim=claim,
        counted="owners" if published.owners == "given" else "trajectories",
        measured={"min_support": fewest},
        reason="" if holds else f"Only {fewest} went one way, but at least {claim.k} are promised.",
    )


@dataclass(frozen=True, kw_only=True)
class DropQuietLegs(Method):
    """Leave out legs that fewer than `k` people have."""

    k: int = parameter(kind="int", low=2, help="smallest number of people on every published way")

    name: ClassVar[str] = "drop_quiet_legs"
    summary: ClassVar[str] = "leaves out ways that few people go"
    accepts: ClassVar[type[Legs]] = Legs
    publishes: ClassVar[type[Legs]] = Legs

    @property
    def claim(self) -> BusyLegs:
        return BusyLegs(k=self.k)

    def run(self, data: Legs, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        people = _people_per_way(data)
        ways = zip(data.origin.tolist(), data.destination.tolist(), strict=True)
        busy = [len(people[data.zones[origin], data.zones[destination]]) >= self.k for origin, destination in ways]
        return MethodResult(data=data.where(np.array(busy, np.bool_)), claim=self.claim)
