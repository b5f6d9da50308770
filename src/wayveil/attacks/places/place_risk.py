"""How the risk of attacks by known places is told: the same numbers and the same chart for all of them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.person_risk import interval
from wayveil.attacks.risk_chart import SINGLED_OUT, risk_chart
from wayveil.attacks.visits.knowledge import Risk
from wayveil.model import AttackResult

__all__ = ["told", "worst_risk"]

Array = NDArray[Any]

_ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10


def told(
    name: str,
    adversary: str,
    risk: Risk,
    *,
    threshold: Fraction,
    population: int,
    drawn: bool = False,
    cut: Array | None = None,
) -> AttackResult:
    """Return the result of an attack on some of `population` people.

    `drawn` says if what is known of people was drawn, `cut` per person if the search for the worst was left early.
    """
    identity, people = risk.identity, len(risk.identity)
    drawn_people = people < population
    low: float | None = None
    high: float | None = None
    if people and (drawn or drawn_people):
        low, high = interval(identity, np.arange(people), np.full(people, drawn), population)
    return AttackResult(
        name=name,
        adversary=adversary,
        victims=people,
        sampled=drawn or drawn_people or bool(cut is not None and cut.any()),
        measured={
            "identity_mean": _mean(identity),
            "identity_mean_low": low,
            "identity_mean_high": high,
            "identity_max": float(identity.max()) if len(identity) else None,
            "identity_threshold": float(threshold),
            "identity_share_above": _mean(identity > float(threshold) + _ROUNDING),
            "unmatched_share": _mean(risk.unmatched),
            "unique_share": _mean(risk.unique),
            "exact_share": None if cut is None else _mean(~cut),
        },
        charts=(risk_chart(identity, SINGLED_OUT, rounding=_ROUNDING),),
    )


def worst_risk(owners: Array) -> Risk:
    """Return the risk of people of whom the worst that is known fits so many owners; 0 fits nobody."""
    identity = np.divide(1.0, owners, out=np.zeros(len(owners)), where=owners > 0)
    return Risk(identity=identity, confidence=np.zeros(len(owners)), unmatched=owners == 0, unique=owners == 1)


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None
