"""The attacker who knows some visits of a person and looks for the trajectories that have them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import (
    OnVisits,
    choice_parameter,
    draws_parameter,
    m_parameter,
    same_times,
    threshold_parameter,
    victims_parameter,
)
from wayveil.attacks.attack_numbers import (
    mean_risk,
    set_interval,
    share_above,
    share_unique,
    share_unmatched,
    worst_risk,
)
from wayveil.attacks.person_risk import SINGLED_OUT, mean_bounds, risk_chart, share_chart
from wayveil.attacks.visits.knowledge import Fitting, KnownSets, Risk, Target, Victims
from wayveil.attacks.visits.queries import SetQueries, used_names
from wayveil.errors import InputError
from wayveil.model import AttackResult, Chart, Engine, Number, TimeFormat, Visits

__all__ = ["KnownVisits"]

_ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10
_CONFIDENCE = tuple(i / 10 for i in range(1, 10))
_CONFIDENCE_LABELS = ("no match", *(f"{10 * i} to {10 * i + 10} %" for i in range(10)))


@dataclass(frozen=True, kw_only=True)
class KnownVisits(OnVisits):
    """Someone who knows up to `m` true visits (place and exact time) of a person looks for that person.

    The attacker keeps the trajectories that have all the known visits, and picks one of the people behind them, or one
    of them, whichever is right more often.  **Identity linkage** succeeds with the larger probability of 1 / (people)
    and (trajectories of the victim) / (trajectories); **attribute linkage** with the largest share of these people, or
    of these trajectories, with one sensitive value.  Where nothing matches, both are 0.

    Parameters
    ----------
    m : int, >= 1, or "all"
        Number of visits known; all of them, where a trajectory has fewer.
    choice : {"random", "worst"}
        Which visits: any `m`, with the risk of a person being the mean over them; or the at most `m` that are worst
        for the person.
    victims : int, >= 1
        Number of people attacked.  Where the data has no more, all of them, with every set of visits.
    draws : int, 1 to 100,000
        Sets of visits drawn per person, where they are drawn and not all tried (`choice` "random").
    threshold : number from 0 to 1
        People whose identity risk is above this are counted in `identity_share_above`.
    confidence : number from 0 to 1
        People whose attribute risk is above this are counted in `attribute_share_above`.

    Notes
    -----
    A victim is an owner of `truth` with at least one visit; what is known lies inside one trajectory, drawn evenly
    where there are several.  People are counted in `target` where its owners are given, trajectories otherwise.  The
    trajectories of the victim are those with the same owner code where both data sets have the same owners in the same
    order; where it is not known which are the victim's, those of the person who has most are taken for them.
    More than 5,000 sets of visits per person are not all tried: "random" then takes `draws` of them, "worst" all
    those of the sizes that fit and random larger ones.  `sampled` says if people or sets were drawn.
    Building the lists takes time linear in the visits; each set then costs about its rarest visit's support.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("c", 2)]])
    >>> found = KnownVisits(m=2).run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.778)
    """

    m: int | str = m_parameter("visits")
    choice: str = choice_parameter("visits")
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known visits drawn per person", high=100_000)
    threshold: Fraction = threshold_parameter()
    confidence: Fraction = threshold_parameter("attribute risk", default=Fraction(1, 2))

    name: ClassVar[str] = "known_visits"
    summary: ClassVar[str] = "an attacker who knows some visits of a person and looks for what fits them"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def queries(self, truth: Visits, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> DrawnSets:
        return DrawnSets(
            victims=Victims.draw(truth, self.victims, rng),
            m=self.m,
            worst=self.choice == "worst",
            draws=self.draws,
            locations=truth.locations,
            population=truth.n_owners,
            values={attribute: tuple(listed) for attribute, listed in sensitive.items()},
            time_format=truth.time_format,
            rng=deepcopy(rng),
        )

    def join_queries(self, queries: Sequence[DrawnSets | SetQueries]) -> SetQueries:
        return SetQueries.join([one.listed() if isinstance(one, DrawnSets) else one for one in queries])

    def match(
        self, queries: DrawnSets | SetQueries, target: Visits, *, truth: Visits | None, rng: Any, engine: Engine
    ) -> Mapping[str, Any]:
        _check_times(queries, target)
        if isinstance(queries, SetQueries):
            return _count(queries, target, engine)
        # The data are turned around once: for every visit the trajectories that have it. A set of visits fits those
        # that are in all of its lists.
        attacked = Target.of(target, queries.values, queries.victims, queries.locations)
        parts = []
        sampled = queries.victims.sampled
        for block, sets in queries.blocks():
            fitting = attacked.match(sets, block.owner, engine)
            # Where it is not known which trajectories are the victim's, the attacker is given the benefit: the person
            # with most of what fits is taken for the victim.
            if truth is None or not _same_owners(truth, target):
                fitting = replace(fitting, own=fitting.most)
            parts.append(Risk.of(sets, fitting, len(block), worst=queries.worst))
            sampled = sampled or sets.sampled
        return {"risk": Risk.join(parts), "sampled": sampled}

    def summarize(self, queries: DrawnSets | SetQueries, matches: Mapping[str, Any]) -> AttackResult:
        if isinstance(queries, SetQueries):
            risk = _risk(queries, matches, worst=self.choice == "worst")
            sampled = queries.sampled
        else:
            risk = matches["risk"]
            sampled = matches["sampled"]
        attributes = bool(queries.values)
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=len(risk.identity),
            sampled=sampled,
            numbers=set_interval(
                self._numbers(risk, attributes),
                mean_bounds(risk.identity, None, queries.population, sampled=sampled),
            ),
            charts=_charts(risk, attributes),
        )

    @property
    def _adversary(self) -> str:
        if self.m == "all":
            known = "any visits" if self.choice == "worst" else "all visits"
            end = ": those that are worst for the person" if self.choice == "worst" else ""
            return f"knows {known} (place and exact time) of a trajectory of a person{end}"
        visits = "1 visit" if self.m == 1 else f"{self.m} visits"
        if self.choice == "worst":
            return f"knows up to {visits} (place and exact time) of a person: those that are worst for the person"
        return f"knows {visits} (place and exact time) of a person, drawn at random"

    def _numbers(self, risk: Risk, attributes: bool) -> dict[str, Number]:
        confidence = risk.confidence if attributes else np.zeros(0)
        return {
            "identity_mean": mean_risk(_mean(risk.identity)),
            "identity_max": worst_risk(_max(risk.identity)),
            "identity_share_above": share_above(
                _mean(risk.identity > float(self.threshold) + _ROUNDING), self.threshold
            ),
            "attribute_mean": mean_risk(_mean(confidence), "attribute"),
            "attribute_max": worst_risk(_max(confidence), "attribute"),
            "attribute_share_above": share_above(
                _mean(confidence > float(self.confidence) + _ROUNDING),
                self.confidence if attributes else None,
                "attribute",
            ),
            "unmatched_share": share_unmatched(_mean(risk.unmatched)),
            "unique_share": share_unique(_mean(risk.unique)),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class DrawnSets:
    """What is known of all victims.  The sets are drawn whenever they are asked for, the same each time, so that those
    of few people are held at once."""

    victims: Victims
    m: int | str
    worst: bool
    draws: int
    locations: tuple[str, ...]
    population: int
    values: Mapping[str, tuple[str, ...]]
    time_format: TimeFormat
    rng: np.random.Generator

    def blocks(self) -> Iterator[tuple[Victims, KnownSets]]:
        """Yield the victims in blocks, and what is known of each."""
        victims = self.victims
        rng = deepcopy(self.rng)
        # Nobody can know more visits than the longest trajectory has.
        m = min(self.m, victims.longest) if isinstance(self.m, int) else victims.longest
        for block in victims.blocks(m, draws=self.draws):
            if self.worst:
                yield block, KnownSets.worst(block, m, rng=rng)
            else:
                yield block, KnownSets.random(block, m, draws=self.draws, all_sets=not victims.sampled, rng=rng)

    def listed(self) -> SetQueries:
        """Return all sets, told by names instead of codes, so that any piece of the data can be asked."""
        victims = self.victims
        parts = list(self.blocks())
        width = max((sets.visits.shape[1] for _, sets in parts), default=1)
        padded = [
            np.pad(sets.visits, ((0, 0), (0, width - sets.visits.shape[1])), constant_values=-1) for _, sets in parts
        ]
        starts = np.cumsum([0, *(len(block) for block, _ in parts)]).tolist()
        nothing = np.zeros(0, np.int64)
        location, names = used_names(victims.location, self.locations)
        return SetQueries(
            names=names,
            location=location,
            t=victims.t,
            sets=np.concatenate([np.zeros((0, width), np.int64), *padded]),
            person=np.concatenate([nothing, *(s.person + n for (_, s), n in zip(parts, starts[:-1], strict=True))]),
            weight=np.concatenate([np.zeros(0), *(sets.weight for _, sets in parts)]),
            owner=victims.owner,
            people=len(victims),
            population=self.population,
            sampled=victims.sampled or any(sets.sampled for _, sets in parts),
            values=self.values,
            time_format=self.time_format,
        )


def _as_sets(queries: SetQueries) -> KnownSets:
    return KnownSets(visits=queries.sets, person=queries.person, weight=queries.weight, sampled=queries.sampled)


def _count(queries: SetQueries, target: Visits, engine: Engine) -> Mapping[str, Any]:
    """Return how many people of a piece of the attacked data fit each set."""
    attacked = Target.of(target, queries.values, queries, queries.names)
    sets = _as_sets(queries)
    fitting = attacked.match(sets, queries.owner, engine)
    values = range(attacked.lists.n_values)
    # Blocks are added up before the best value is chosen, because the value that most have here may not be the one that
    # most have over all blocks. So each value is counted by itself.
    valued = [attacked.with_value(value).match(sets, queries.owner, engine) for value in values]
    # Where nobody said who owns what, the one trajectory that is taken for the victim's is counted in the end.
    given = target.owners == "given"
    return {
        "owners": fitting.people,
        "trajectories": fitting.trajectories,
        "own": fitting.own if given else np.zeros_like(fitting.own),
        "with_value": tuple(count.people_with for count in valued),
        "with_value_trajectories": tuple(count.trajectories_with for count in valued),
    }


def _risk(queries: SetQueries, counts: Mapping[str, Any], *, worst: bool) -> Risk:
    """Return the risk that the counts of all pieces give."""
    people = counts["owners"]
    none = np.zeros_like(people)
    # Whoever fits has at least one trajectory that does.
    own = np.maximum(counts["own"], np.minimum(people, 1))
    fitting = Fitting(
        people=people,
        people_with=np.max([none, *counts["with_value"]], axis=0),
        trajectories=counts["trajectories"],
        trajectories_with=np.max([none, *counts["with_value_trajectories"]], axis=0),
        own=own,
        most=own,
    )
    return Risk.of(_as_sets(queries), fitting, queries.people, worst=worst)


def _same_owners(truth: Visits, target: Visits) -> bool:
    """Return whether the codes of owners are known to mean the same people, or each trajectory is a person anyway."""
    if target.owners != "given":
        return True
    return truth.owners == "given" and np.array_equal(truth.owner, target.owner)


def _check_times(truth: DrawnSets | SetQueries, target: Visits) -> None:
    if not same_times(truth, target):
        raise InputError(
            f"known_visits: the times of the known visits ({truth.time_format}) and of the attacked data "
            f"({target.time_format}) cannot be compared. Give both in the same form."
        )


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None


def _max(values: np.ndarray) -> float | None:
    return float(values.max()) if len(values) else None


def _charts(risk: Risk, attributes: bool) -> tuple[Chart, ...]:
    identity = risk_chart(risk.identity, SINGLED_OUT, rounding=_ROUNDING)
    if not attributes:
        return (identity,)
    # The upper bound is inside its class; somebody who fits, without a sensitive value, is in the lowest.
    inside = 1 + np.searchsorted(np.array(_CONFIDENCE) + _ROUNDING, risk.confidence)
    return (
        identity,
        share_chart(
            "How surely is a sensitive value inferred?",
            "share of the matching people with one sensitive value",
            _CONFIDENCE_LABELS,
            np.where(risk.identity == 0, 0, inside),
        ),
    )
