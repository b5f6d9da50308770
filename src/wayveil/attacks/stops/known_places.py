"""The attacker who knows some stops of a trip and infers the sensitive places of the same trip."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import OnStops, mean, owners_of
from wayveil.attacks.attack_numbers import mean_risk, share_unmatched, worst_risk
from wayveil.attacks.stops.place_classes import Outcome, PlaceClasses
from wayveil.model import AttackResult, Chart, Engine, Number, Series, Stops, parameter
from wayveil.model.data.ragged import keep_rows, offsets_of
from wayveil.model.numbers import count, probability, relabel

__all__ = ["KnownPlaces"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class KnownPlaces(OnStops):
    """Someone who knows some places of a trip that are not sensitive, in order, infers the sensitive ones.

    The candidates are the published trajectories that contain the known places: stops that are not sensitive, in that
    order, each at the place or at a node above it; others may lie between.  The probability of a sensitive place is the
    mean, over the people behind the candidates, of the probability that the person was there, where a stop at a
    sensitive node is at each of the places below it with the same probability; or the mean over the candidates
    themselves, if that is larger.  Where nothing fits, it is 0.

    Parameters
    ----------
    stops : int, 1 to 6
        Largest number of known places: every number from 1 to this is tried.
    attacks : int, 1 to 100,000
        Attacks per number of known places.  Each is on a person drawn evenly, on one of the person's trajectories with
        enough stops, and on places of it, drawn evenly as well.

    Notes
    -----
    Two numbers are kept of each attack: the largest probability over all sensitive places, and that of a sensitive
    place where the victim was on this trip (of a stop drawn evenly), which there is only if there was one.

    Published trajectories with the same sequence of nodes that are not sensitive are a class, and a known sequence fits
    whole classes.  A person counts once in each class, having been at a place if one of the trajectories in the class
    has; so the probability is a weighted mean of those that `CSafety` bounds, and so is that over trajectories.  Only
    trajectories count where owners are withheld.  Probabilities are cut off after 12 digits.

    Known sequences that fit the same are matched once.  Only the classes that could have the rarest known place are
    looked at: O(their rows) time for each, O(rows) memory.

    References
    ----------
    Monreale, Trasarti, Pedreschi, Renso, Bogorny: C-safety: a framework for the anonymization of semantic trajectories.
    Transactions on Data Privacy 4 (2011), Definitions 5 to 8 and section 6.4.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place"), ("C1", "Clinic"),
    ...                               ("C2", "Clinic")], sensitive=["Clinic"])
    >>> raw = Stops.from_records([["Park", "C1"], ["Park"]], taxonomy=tree)
    >>> published = Stops.from_records([["Park", "Clinic"], ["Park"]], taxonomy=tree)
    >>> for target in (raw, published):
    ...     attack = KnownPlaces(stops=1, attacks=10)
    ...     found = attack.run(raw, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    ...     found.measured["attribute_max"]
    0.5
    0.25
    """

    stops: int = parameter(
        kind="int", low=1, high=6, default=4, help="largest number of known places; all from 1 to this are tried"
    )
    attacks: int = parameter(
        kind="int", low=1, high=100_000, default=10_000, help="number of attacks per number of known places"
    )

    name: ClassVar[str] = "known_places"
    summary: ClassVar[str] = "an attacker who knows places of a trip and infers the sensitive ones"

    def queries(self, truth: Stops, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Draws:
        victims = _Victims.of(truth)
        draws = [victims.draw(n, self.attacks, self.stops, rng) for n in range(1, self.stops + 1)]
        number = np.repeat(np.arange(1, self.stops + 1), [len(draw.owner) for draw in draws])
        places, secret, owner = (
            np.concatenate([getattr(draw, column) for draw in draws]) for column in ("places", "secret", "owner")
        )
        return _Draws(number=number, places=places, secret=secret, victims=len(np.unique(owner)))

    def match(self, queries: _Draws, target: Stops, *, truth: Stops, rng: Any, engine: Engine) -> Outcome:
        places = queries.places
        secret = queries.secret
        people = owners_of(target)
        outcome = PlaceClasses.of(self.name, target, truth, people).infer(places, secret, engine)
        # Counted over trips as well: an attacker sees trips, and one person may have many.
        if len(np.unique(people)) < len(target):
            trips = PlaceClasses.of(self.name, target, truth, np.arange(len(target)))
            outcome = outcome.or_more(trips.infer(places, secret, engine))
        return outcome

    def summarize(self, queries: _Draws, matches: Outcome) -> AttackResult:
        numbers, charts = _summary(queries.number, matches, self.stops)
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=queries.victims,
            sampled=True,
            numbers=numbers,
            charts=charts,
        )

    @property
    def _adversary(self) -> str:
        places = "1 place" if self.stops == 1 else f"1 to {self.stops} places"
        return (
            f"knows {places} of a trip of a person (not sensitive ones, in order, drawn at random) and the taxonomy, "
            "and infers sensitive places of the same trip"
        )


class _Draws(NamedTuple):
    """All attacks: the number of known places, the places, the sensitive place that is asked for; and the people."""

    number: Array
    places: Array
    secret: Array
    victims: int


@dataclass(frozen=True, eq=False)
class _Draw:
    """Attacks: the known places (-1 behind the last), a sensitive place of the same trip (-1: none), and the person."""

    places: Array
    secret: Array
    owner: Array


@dataclass(frozen=True, eq=False)
class _Victims:
    """The trajectories of the truth with what an attacker may know, and with what is to be kept from the attacker."""

    owner: Array
    offsets: Array
    place: Array
    secret_offsets: Array
    secret: Array

    @classmethod
    def of(cls, truth: Stops) -> _Victims:
        secret = truth.sensitive
        place = truth.place.astype(np.int64)
        return cls(
            owners_of(truth),
            keep_rows(truth.offsets, ~secret),
            place[~secret],
            keep_rows(truth.offsets, secret),
            place[secret],
        )

    def draw(self, n: int, attacks: int, width: int, rng: np.random.Generator) -> _Draw:
        """Return attacks with `n` known places; none where no trajectory has as many."""
        length = np.diff(self.offsets)
        enough = np.flatnonzero(length >= n)
        if not len(enough):
            return _Draw(np.full((0, width), -1), np.zeros(0, np.int64), np.zeros(0, np.int64))
        # People are drawn first, then a trip of theirs: somebody with many trips is not more often a victim.
        enough = enough[np.argsort(self.owner[enough], kind="stable")]
        counts = np.unique(self.owner[enough], return_counts=True)[1]
        first = offsets_of(counts)
        person = rng.integers(len(counts), size=attacks)
        trajectory = enough[first[person] + rng.integers(counts[person])]
        places = np.full((attacks, width), -1, np.int64)
        places[:, :n] = self.place[self.offsets[trajectory][:, None] + _positions(length[trajectory], n, rng)]
        secrets = np.diff(self.secret_offsets)[trajectory]
        at = self.secret_offsets[trajectory] + rng.integers(np.maximum(1, secrets))
        secret = np.full(attacks, -1, np.int64)
        secret[secrets > 0] = self.secret[at[secrets > 0]]
        return _Draw(places, secret, self.owner[trajectory])


def _positions(length: Array, n: int, rng: np.random.Generator) -> Array:
    """Return `n` different positions below each length, in order; each choice is equally likely."""
    positions = np.empty((len(length), n), np.int64)
    for j in range(n):  # a number among those left, moved past the smaller ones that are taken
        pick = rng.integers(length - j)
        for taken in np.sort(positions[:, :j], axis=1).T:
            pick += pick >= taken
        positions[:, j] = pick
    return np.sort(positions, axis=1)


def _summary(number: Array, outcome: Outcome, most: int) -> tuple[dict[str, Number], tuple[Chart, ...]]:
    """Return the numbers over all attacks and by number of known places, and their charts."""
    levels = range(1, most + 1)
    numbers = {
        "attribute_mean": mean_risk(mean(outcome.largest), "attribute"),
        "attribute_max": worst_risk(_max(outcome.largest), "attribute"),
    }
    for level in levels:
        chosen = number == level
        people = outcome.people[chosen]
        largest = outcome.largest[chosen]
        true = outcome.true[chosen]
        true = true[~np.isnan(true)]
        positive = people[people > 0]
        summary = {
            "attribute_mean": mean_risk(mean(largest), "attribute"),
            "attribute_max": worst_risk(_max(largest), "attribute"),
            "attribute_true_mean": probability(mean(true), "Mean, for a place where the person was", about="attribute"),
            "attribute_true_max": probability(
                _max(true), "Largest, for a place where the person was", about="attribute", joined="largest"
            ),
            "unmatched_share": share_unmatched(mean(people == 0)),
            "mean_matching_trips": count(mean(people), "Mean of trips that fit", "trips", joined="mean"),
            "min_matching_trips": count(
                int(positive.min()) if len(positive) else None, "Fewest trips that fit", "trips", joined="smallest"
            ),
        }
        plural = "s" if level > 1 else ""
        numbers |= relabel(summary, f"_with_{level}_place{plural}", f"{level} place{plural} known")
    labels = tuple(str(level) for level in levels)

    def values(name: str) -> tuple[float | None, ...]:
        return tuple(numbers[f"{name}_with_{level}_place{'s' if level > 1 else ''}"].value for level in levels)

    charts = []
    for title, y_label, name, percent in (
        ("How likely is any sensitive place, on average?", "mean probability", "attribute_mean", True),
        ("How likely is any sensitive place, at most?", "largest probability", "attribute_max", True),
        ("How likely is a true sensitive place, on average?", "mean probability", "attribute_true_mean", True),
        ("How many trips fit?", "mean number of trips", "mean_matching_trips", False),
    ):
        shown = Series(name=y_label, values=values(name))
        if len(number) and any(value is not None for value in shown.values):
            charts.append(
                Chart(
                    title=title, kind="line", labels=labels, series=(shown,), x_label="known places", y_label=y_label,
                    percent=percent,
                )
            )  # fmt: skip
    return numbers, tuple(charts)


def _max(values: Array) -> float | None:
    return float(values.max()) if len(values) else None
