"""The claims a publication can make: one file each, a frozen class that says itself in plain words."""

from __future__ import annotations

from wayveil.model.claims.attack_graph import AttackGraph, top_speed_of
from wayveil.model.claims.base import Claim, Guarantee, Protection
from wayveil.model.claims.breach_bound import BreachBound
from wayveil.model.claims.csafety import CSafety
from wayveil.model.claims.differential_privacy import DifferentialPrivacy
from wayveil.model.claims.kanonymity import KAnonymity
from wayveil.model.claims.kcl_privacy import KclPrivacy
from wayveil.model.claims.kdelta import KDelta
from wayveil.model.claims.strict_k import StrictK
from wayveil.model.claims.subsequence_k import SubsequenceK
from wayveil.model.claims.threshold import Threshold

__all__ = [
    "GUARANTEES",
    "AttackGraph",
    "BreachBound",
    "CSafety",
    "Claim",
    "DifferentialPrivacy",
    "Guarantee",
    "KAnonymity",
    "KDelta",
    "KclPrivacy",
    "Protection",
    "StrictK",
    "SubsequenceK",
    "Threshold",
    "top_speed_of",
]

GUARANTEES: dict[str, type[Guarantee]] = {
    cls.name: cls
    for cls in (
        KclPrivacy,
        KDelta,
        KAnonymity,
        AttackGraph,
        BreachBound,
        StrictK,
        SubsequenceK,
        CSafety,
        Threshold,
        DifferentialPrivacy,
    )
}
