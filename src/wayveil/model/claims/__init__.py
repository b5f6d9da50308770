"""The claims a publication can make: one file each, a frozen class that says itself in plain words."""

from __future__ import annotations

from typing import Any

from wayveil.errors import UsageError, closest
from wayveil.model.claims.attack_graph import AttackGraph, top_speed_of
from wayveil.model.claims.base import Claim, Guarantee, Protection
from wayveil.model.claims.breach_bound import BreachBound
from wayveil.model.claims.csafety import CSafety
from wayveil.model.claims.kanonymity import KAnonymity
from wayveil.model.claims.kcl import KCL
from wayveil.model.claims.kdelta import KDelta
from wayveil.model.claims.strict_k import StrictK
from wayveil.model.claims.subsequence_k import SubsequenceK

__all__ = [
    "GUARANTEES",
    "KCL",
    "AttackGraph",
    "BreachBound",
    "CSafety",
    "Claim",
    "Guarantee",
    "KAnonymity",
    "KDelta",
    "Protection",
    "StrictK",
    "SubsequenceK",
    "guarantee_from_json",
    "top_speed_of",
]

GUARANTEES: dict[str, type[Guarantee]] = {
    cls.name: cls for cls in (KCL, KDelta, KAnonymity, AttackGraph, BreachBound, StrictK, SubsequenceK, CSafety)
}


def guarantee_from_json(claim: Any) -> Guarantee:
    """Return the guarantee that `to_json` wrote; anything else is a UsageError."""
    name = claim.get("name") if isinstance(claim, dict) else None
    if not isinstance(name, str) or name not in GUARANTEES:
        raise UsageError(f"The claim names no guarantee that is known here.{closest(str(name), list(GUARANTEES))}")
    cls: Any = GUARANTEES[name]
    try:
        found: Guarantee = cls(**{key: value for key, value in claim.items() if key != "name"})
    except TypeError:
        raise UsageError(f"The claim {name} has missing or unknown parameters.") from None
    return found
