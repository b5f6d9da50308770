"""The attacker who knows some visits of a person and looks for the trajectories that have them all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.attacks.knowledge import KnownSets, Risk, Target, Victims
from wayveil.attacks.person_risk import mean_bounds
from wayveil.attacks.risk_chart import SINGLED_OUT, risk_chart, share_chart
from wayveil.attacks.shared import (
    OnVisits,
    choice_parameter,
    draws_parameter,
    m_parameter,
    same_times,
    threshold_parameter,
    victims_parameter,
)
from wayveil.errors import InputError
from wayveil.model import AttackResult, Chart, Engine, Visits

__all__ = ["KnownVisits"]

_ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10
_CONFIDENCE = tuple(i / 10 for i in range(1, 10))
_CONFIDENCE_LABELS = ("no match", *(f"{10 * i} to {10 * i + 10} %" for i in range(10)))


@dataclass(frozen=True, kw_only=True)
class KnownVisits(OnVisits):
    """Someone who knows up to `m` true visits (place and exact time) of a person looks for that person.

    The attacker keeps the trajectories that have all the known visits.  **Identity linkage** succeeds with
    probability 1 / (number of people behind them); **attribute linkage** with the largest share of these people who
    have one sensitive value.  Where nothing matches, both are 0.

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
    where there are several.  People are counted in `target` where its owners are given, trajectories otherwise.
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

    def run(
        self,
        truth: Visits,
        target: Visits,
        *,
        sensitive: Mapping[str, Iterable[str]],
        rng: np.random.Generator,
        engine: Engine,
    ) -> AttackResult:
        _check_times(truth, target)
        values = {attribute: tuple(listed) for attribute, listed in sensitive.items()}
        victims = Victims.draw(truth, self.victims, rng)
        lists = Target.of(target, values, victims, truth.locations)
        worst = self.choice == "worst"
        m = min(self.m, victims.longest) if isinstance(self.m, int) else victims.longest
        parts, sampled = [], victims.sampled
        for block in victims.blocks(m, draws=self.draws):
            # What is known depends on the truth and the seed alone: raw and published data meet the same attacker.
            if worst:
                sets = KnownSets.worst(block, m, rng=rng)
            else:
                sets = KnownSets.random(block, m, draws=self.draws, all_sets=not victims.sampled, rng=rng)
            parts.append(Risk.of(sets, *lists.match(sets, engine), len(block), worst=worst))
            sampled = sampled or sets.sampled
        risk = Risk.join(parts)
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=len(victims),
            sampled=sampled,
            measured={
                **self._measured(risk, bool(values)),
                **mean_bounds(risk.identity, None, truth.n_owners, sampled=sampled),
            },
            charts=_charts(risk, bool(values)),
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

    def _measured(self, risk: Risk, attributes: bool) -> dict[str, int | float | None]:
        confidence = risk.confidence if attributes else np.zeros(0)
        return {
            "identity_mean": _mean(risk.identity),
            "identity_max": _max(risk.identity),
            "identity_threshold": float(self.threshold),
            "identity_share_above": _mean(risk.identity > float(self.threshold) + _ROUNDING),
            "attribute_mean": _mean(confidence),
            "attribute_max": _max(confidence),
            "attribute_threshold": float(self.confidence) if attributes else None,
            "attribute_share_above": _mean(confidence > float(self.confidence) + _ROUNDING),
            "unmatched_share": _mean(risk.unmatched),
            "unique_share": _mean(risk.unique),
        }


def _check_times(truth: Visits, target: Visits) -> None:
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
