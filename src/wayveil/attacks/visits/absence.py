"""The attacker who reasons about what is missing: a known visit that fits nothing was left out, and that tells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import (
    OnVisits,
    draws_parameter,
    m_parameter,
    same_times,
    threshold_parameter,
    victims_parameter,
)
from wayveil.attacks.visits.knowledge import KnownSets, Target, Victims
from wayveil.attacks.visits.queries import SetQueries, used_names
from wayveil.errors import InputError
from wayveil.model import AttackResult, Chart, Engine, Number, Series, Visits
from wayveil.model.numbers import probability, share

__all__ = ["Absence", "AbsenceQueries"]

Array = NDArray[Any]

_ROUNDING = 1e-9  # a share of 3/10 must not count as above 3/10


@dataclass(frozen=True, kw_only=True)
class Absence(OnVisits):
    """Someone who knows visits of a person that fit nothing infers from this that the person has a sensitive value.

    The attacker knows the method: what fits no published trajectory was left out, because too few people have it or
    because too many of those who have it share a sensitive value.  Among people whose known visits fit nothing, a value
    may therefore be more frequent than among all.

    Parameters
    ----------
    m : int, >= 1, or "all"
        Largest number of visits known, all in one trajectory.  Someone who knows one, and someone who knows `m`, are
        tried.
    victims : int, >= 1
        Number of people attacked.  Where the data has no more, all of them, with every set of visits.
    draws : int, 1 to 100,000
        Sets of visits drawn per person, where they are drawn and not all tried.
    confidence : number from 0 to 1
        What a value may be told with: people of whom one is told with more, and with more than its share among all, are
        counted in `share_above`.

    Notes
    -----
    `posterior_aggregate` is what the attacker knows who has no more than the method and how often values are left out:
    the probability of the value, given that what is known of a random person fits nothing.  It is counted over people
    and over trajectories; the value and the count whose posterior is furthest above both `confidence` and its
    `base_rate` are told.  `posterior_excess` is how far it is above, 0 where it is not; where people were drawn, it is
    lowered by what chance may have added, so that it is too large once in a million.  `posterior_mean` and
    `posterior_max` are those of an attacker who also knows, of each set of visits that was left out, how many people
    had it and how many of them with the value: no attacker can know more, and a rare visit of somebody with the value
    always tells him all.  They are None where nothing was left out, and where the data are asked in pieces.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Visits.from_records([[("a", 1)], [("a", 1)], [("b", 1)]], attributes={"ill": ["no", "no", "yes"]})
    >>> found = Absence(m=1).run(
    ...     truth, truth.where(truth.location == 0), sensitive={"ill": ["yes"]}, rng=np.random.default_rng(1),
    ...     engine=LocalEngine(),
    ... )
    >>> found.measured["posterior_aggregate"], round(found.measured["base_rate"], 3)
    (1.0, 0.333)
    """

    m: int | str = m_parameter("visits")
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known visits drawn per person", high=100_000)
    confidence: Fraction = threshold_parameter("probability of a sensitive value", default=Fraction(1, 2))

    name: ClassVar[str] = "absence"
    summary: ClassVar[str] = "an attacker who knows visits of a person that fit nothing, and what being left out tells"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def queries(
        self, truth: Visits, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> AbsenceQueries:
        values = {attribute: tuple(listed) for attribute, listed in sensitive.items()}
        # The attacker knows visits that fit nothing, and reasons: why were they left out? Where suppression follows
        # sensitive values, absence tells them. One visit, and as many as may be known, are the two extremes of what is
        # known.
        people = Victims.draw(truth, self.victims, rng)
        carries = _carried(truth, values)
        location, names = used_names(people.location, truth.locations)
        parts = [_sets(people, size, draws=self.draws, rng=rng) for size in self._sizes(people)]
        width = max(sets.visits.shape[1] for sets in parts)
        visits = [np.pad(s.visits, ((0, 0), (0, width - s.visits.shape[1])), constant_values=-1) for s in parts]
        sets = np.concatenate(visits)
        # The first visit of a set tells in which trajectory it lies, as sets never cross trajectories.
        trajectory = np.searchsorted(people.offsets, sets[:, 0], side="right") - 1
        person = np.concatenate([part.person for part in parts])
        several = np.concatenate([np.full(len(part.person), i) for i, part in enumerate(parts)])
        weight = np.concatenate([_normalised(part.weight, part.person, len(people)) for part in parts])
        with_rows = np.flatnonzero(np.diff(truth.offsets))
        owner = truth.owner[with_rows] if truth.owners == "given" else with_rows
        own = np.unique(owner, return_inverse=True)[1]
        # Base rates the same two ways as posteriors: a person counts 1 in all, or every trajectory counts 1.
        share = 1 / np.bincount(own)[own] if len(own) else np.zeros(0)
        return AbsenceQueries(
            sets=SetQueries(
                names=names,
                location=location,
                t=people.t,
                sets=sets,
                person=person,
                weight=weight,
                owner=people.owner,
                people=len(people),
                population=truth.n_owners,
                sampled=people.sampled or any(part.sampled for part in parts),
                values=values,
                time_format=truth.time_format,
            ),
            several=several,
            carries=carries[people.trajectory[trajectory]],
            trips=np.diff(people.first)[person],
            everybody=np.concatenate([[len(np.unique(own))], share @ carries[with_rows]]),
            everything=np.concatenate([[len(with_rows)], carries[with_rows].sum(axis=0)]),
        )

    def join_queries(self, queries: Sequence[AbsenceQueries]) -> AbsenceQueries:
        return AbsenceQueries.join(queries)

    def match(
        self, queries: AbsenceQueries, target: Visits, *, truth: Visits | None, rng: Any, engine: Engine
    ) -> Mapping[str, Any]:
        """Return how many trajectories fit each set; with all of the truth, also what it tells of those without any."""
        fitting = self._fits(queries, target, engine)
        if truth is None:
            return {"fitting": fitting}
        return {"fitting": fitting, "population": self._known_population(queries, truth, fitting == 0, engine)}

    def summarize(self, queries: AbsenceQueries, matches: Mapping[str, Any]) -> AttackResult:
        return self._result(queries, matches["fitting"] == 0, matches.get("population"))

    def _sizes(self, people: Victims) -> list[int]:
        """Return how many visits are known: one, and as many as may be."""
        most = people.longest if isinstance(self.m, str) else min(self.m, people.longest)
        return sorted({1, most})

    def _fits(self, queries: AbsenceQueries, target: Visits, engine: Engine) -> Array:
        """Return how many trajectories of some data fit each set."""
        sets = queries.sets
        if not same_times(sets, target):
            raise InputError(
                f"absence: the times of the known visits ({sets.time_format}) and of the attacked data "
                f"({target.time_format}) cannot be compared. Give both in the same form."
            )
        lists = Target.of(target, {}, sets, sets.names)
        fitting: Array = lists.match(_as_sets(sets), sets.owner, engine).trajectories
        return fitting

    def _known_population(self, queries: AbsenceQueries, truth: Visits, absent: Array, engine: Engine) -> Array:
        """Return, for each set that fits nothing, the share of those who truly have it with each value; 0 elsewhere."""
        sets = queries.sets
        lists = Target.of(truth, sets.values, sets, sets.names)
        # A stronger attacker also knows the population: who truly has these visits. This one needs the truth and is
        # measured, not promised.
        left = np.flatnonzero(absent)
        known = _as_sets(sets)
        known = replace(known, visits=known.visits[left], person=known.person[left], weight=known.weight[left])
        shares = np.zeros((len(absent), queries.carries.shape[1]))
        for value in range(shares.shape[1] if len(left) else 0):
            counts = lists.with_value(value).match(known, sets.owner, engine)
            shares[left, value] = np.maximum(
                counts.people_with / counts.people, counts.trajectories_with / counts.trajectories
            )
        return shares

    def _result(self, queries: AbsenceQueries, absent: Array, shares: Array | None) -> AttackResult:
        sets = queries.sets
        posterior, base = queries.posterior(absent)
        allowed = np.maximum(base, float(self.confidence))
        threshold = float(self.confidence) if sets.values else None
        measured: dict[str, float | None] = {
            "posterior_aggregate": None,
            "base_rate": None,
            "posterior_excess": None,
            "posterior_mean": None,
            "posterior_max": None,
            "share_above": None,
            "suppressed_share": queries.suppressed(absent),
        }
        if base.size:
            # The value, and the way to count, that is furthest above what is allowed; then above its share among all.
            # What counts is not how probable a value is but by how much more than everybody knows anyway: a value that
            # most have is no secret.
            excess = np.where(np.isnan(posterior), -np.inf, posterior - allowed)
            lift = np.where(np.isnan(posterior), -np.inf, posterior - base)
            worst = np.lexsort((base.ravel(), lift.ravel(), excess.ravel()))[-1]
            known = float(posterior.ravel()[worst])
            measured["posterior_aggregate"] = None if np.isnan(known) else known
            measured["base_rate"] = float(base.ravel()[worst])
            if not np.isnan(known):
                # Among few people who were drawn, a posterior can be high by luck. An excess is only told where luck is
                # ruled out to one in a million, as it can stop a publication.
                chance = queries.chance(absent) if sets.sampled else 0.0
                above = float((excess - chance).max())
                measured["posterior_excess"] = above if above > _ROUNDING else 0.0
            if shares is not None and sets.people:
                measured |= _of_people(shares, absent, sets, allowed.max(axis=(0, 1)))
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=sets.people,
            sampled=sets.sampled,
            numbers=_numbers(measured, threshold),
            charts=_charts(sets.values, posterior, base),
        )

    @property
    def _adversary(self) -> str:
        known = "any number of visits" if self.m == "all" else "1 visit" if self.m == 1 else f"up to {self.m} visits"
        return f"knows the method and {known} (place and exact time) of a person that fit nothing, and infers a value"


@dataclass(frozen=True, kw_only=True, eq=False)
class AbsenceQueries:
    """Sets of known visits, and who has which value: enough to tell what being left out says.

    Parameters
    ----------
    sets : SetQueries
        The known visits; the weights of a person's sets of one size are 1 in all.
    several : int, one per set
        0 where one visit is known, 1 where several are.
    carries : bool, sets x values
        Whether the trajectory in which the visits lie has each value.
    trips : int, one per set
        How many trajectories the person has.
    everybody, everything : float, one and one per value
        The people of the data, and how many of them have each value, by the share of their trajectories; and the
        trajectories, and how many of them have it.
    """

    sets: SetQueries
    several: Array
    carries: Array
    trips: Array
    everybody: Array
    everything: Array

    @classmethod
    def join(cls, parts: Sequence[AbsenceQueries]) -> AbsenceQueries:
        """Return the queries of all parts; nobody is in two of them."""
        return cls(
            sets=SetQueries.join([part.sets for part in parts]),
            several=np.concatenate([part.several for part in parts]),
            carries=np.concatenate([part.carries for part in parts]),
            trips=np.concatenate([part.trips for part in parts]),
            everybody=np.sum([part.everybody for part in parts], axis=0),
            everything=np.sum([part.everything for part in parts], axis=0),
        )

    def posterior(self, absent: Array) -> tuple[Array, Array]:
        """Return the probability of each value where what is known fits nothing, and the base rates.

        Sizes x ways to count (people, trajectories) x values; NaN where everything fits something.
        """
        sizes = range(int(self.several.max(initial=0)) + 1)
        posterior = np.full((len(sizes), 2, self.carries.shape[1]), np.nan)
        for size in sizes:
            for way, weight in enumerate((self.sets.weight, self.sets.weight * self.trips)):
                left = np.where(absent & (self.several == size), weight, 0.0)
                if left.sum() > 0:
                    posterior[size, way] = np.minimum(left @ self.carries / left.sum(), 1.0)
        base = np.stack([counts[1:] / max(1, counts[0]) for counts in (self.everybody, self.everything)])
        return posterior, np.broadcast_to(base, posterior.shape)

    def chance(self, absent: Array) -> Array:
        """Return by how much a posterior of people who were drawn is below its estimate at most, once in a million.

        Hoeffding's inequality for a mean of shares, each with the weight of one person.  Sizes x ways to count x 1.
        """
        sizes = range(int(self.several.max(initial=0)) + 1)
        chance = np.zeros((len(sizes), 2, 1))
        for size in sizes:
            for way, weight in enumerate((self.sets.weight, self.sets.weight * self.trips)):
                left = np.where(absent & (self.several == size), weight, 0.0)
                each = np.bincount(self.sets.person, left, self.sets.people)
                if each.sum() > 0:
                    chance[size, way] = np.sqrt(np.log(1e6) / 2 * (each**2).sum()) / each.sum()
        return chance

    def suppressed(self, absent: Array) -> float | None:
        """Return how often what is known fits nothing; the larger of knowing one visit and several."""
        if not self.sets.people:
            return None
        sizes = range(int(self.several.max(initial=0)) + 1)
        shares = [self.sets.weight[absent & (self.several == size)].sum() / self.sets.people for size in sizes]
        return min(float(max(shares)), 1.0)


def _sets(people: Victims, size: int, *, draws: int, rng: np.random.Generator) -> KnownSets:
    """Return sets of `size` visits of every person: all, or `draws` of them."""
    parts = []
    before = 0
    for block in people.blocks(size, draws=draws):
        known_sets = KnownSets.random(block, size, draws=draws, all_sets=not people.sampled, rng=rng)
        parts.append(replace(known_sets, person=known_sets.person + before))
        before += len(block)
    width = max((part.visits.shape[1] for part in parts), default=1)
    padded = [np.pad(p.visits, ((0, 0), (0, width - p.visits.shape[1])), constant_values=-1) for p in parts]
    return KnownSets(
        visits=np.concatenate([np.zeros((0, width), np.int64), *padded]),
        person=np.concatenate([np.zeros(0, np.int64), *(part.person for part in parts)]),
        weight=np.concatenate([np.zeros(0), *(part.weight for part in parts)]),
        sampled=any(part.sampled for part in parts),
    )


def _normalised(weight: Array, person: Array, people: int) -> Array:
    """Return weights that are 1 in all for each person."""
    return weight / np.bincount(person, weight, people)[person]


def _as_sets(queries: SetQueries) -> KnownSets:
    return KnownSets(visits=queries.sets, person=queries.person, weight=queries.weight, sampled=queries.sampled)


def _carried(truth: Visits, values: Mapping[str, Sequence[str]]) -> Array:
    """Return which trajectories have each of the values; a missing one is none."""
    columns = []
    for attribute, listed in values.items():
        coded = truth.attributes.get(attribute)
        for value in listed:
            is_value = np.array([*(label == value for label in coded.labels), False]) if coded else np.zeros(1, bool)
            columns.append(is_value[coded.codes] if coded else np.zeros(len(truth), bool))
    return np.stack(columns, axis=1).astype(np.float64) if columns else np.zeros((len(truth), 0))


def _numbers(measured: Mapping[str, float | None], threshold: float | None) -> dict[str, Number]:
    """Return what was measured as numbers; `threshold` is the confidence that is allowed for any value."""
    base = measured["base_rate"]
    allowed = None if threshold is None or base is None else max(threshold, base)
    return {
        "posterior_aggregate": probability(
            measured["posterior_aggregate"],
            "Probability of a sensitive value where nothing fits",
            about="posterior",
            statistic="mean",
            better="lower",
            threshold=allowed,
        ),
        "base_rate": share(base, "Share of all who have the value", about="posterior"),
        "posterior_excess": probability(
            measured["posterior_excess"],
            "By how much that is above both what is allowed and this share",
            about="posterior",
            better="lower",
            joined="largest",
        ),
        "posterior_mean": probability(
            measured["posterior_mean"], "The same, knowing who had what was left out: mean", about="posterior"
        ),
        "posterior_max": probability(
            measured["posterior_max"],
            "The same, knowing who had what was left out: largest",
            about="posterior",
            joined="largest",
        ),
        "share_above": share(
            measured["share_above"],
            "People of whom a value is told with more than is allowed",
            about="attribute",
            threshold=threshold,
        ),
        "suppressed_share": share(measured["suppressed_share"], "Known visits that fit nothing"),
    }


def _of_people(shares: Array, absent: Array, queries: SetQueries, allowed: Array) -> dict[str, float | None]:
    """Return what an attacker who knows the population tells: the mean and the largest, and who is above `allowed`."""
    most = np.zeros(queries.people)
    np.maximum.at(most, queries.person, shares.max(axis=1))
    touched = np.zeros(queries.people, bool)
    touched[queries.person[absent]] = True
    above = np.zeros(queries.people, bool)
    above[queries.person[(shares > allowed + _ROUNDING).any(axis=1)]] = True
    return {
        "posterior_mean": float(most[touched].mean()) if touched.any() else None,
        "posterior_max": float(most.max()) if touched.any() else None,
        "share_above": float(above.mean()),
    }


def _charts(values: Mapping[str, Sequence[str]], posterior: Array, base: Array) -> tuple[Chart, ...]:
    if not base.size:
        return ()
    labels = tuple(f"{attribute}: {value}" for attribute, listed in values.items() for value in listed)
    largest = np.where(np.isnan(posterior), -1.0, posterior).max(axis=(0, 1))
    return (
        Chart(
            title="What does being left out tell?",
            kind="bars",
            labels=labels,
            series=(
                Series(name="of all", values=tuple(base.max(axis=(0, 1)).tolist())),
                Series(
                    name="of those whose visits fit nothing",
                    values=tuple(None if share < 0 else share for share in largest.tolist()),
                ),
            ),
            x_label="sensitive value",
            y_label="share of people or trajectories with the value",
            percent=True,
        ),
    )
