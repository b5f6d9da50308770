"""What verifiers measure, by name: unit, label, and which parameter of the claim bounds it; the values come later."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from wayveil.model.numbers import Number, Numbers, amount, count, measure, probability, share

__all__ = [
    "ATTACK_GRAPH",
    "BREACH_BOUND",
    "CSAFETY",
    "DIFFERENTIAL_PRIVACY",
    "KANONYMITY",
    "KCL_PRIVACY",
    "KDELTA",
    "STRICT_K",
    "SUBSEQUENCE_K",
    "THRESHOLD",
]

_SIZES = {
    "trajectories": count(None, "Trajectories", "trajectories"),
    "visits": count(None, "Visits", "visits"),
    "points": count(None, "Points", "points"),
    "boxes": count(None, "Boxes", "boxes"),
    "rows": count(None, "Rows", "rows"),
}
_MIN_SUPPORT = count(
    None,
    "Smallest support",
    promised="k",
    keeps="at least",
    better="higher",
    of_people=True,
    meaning="the fewest {people} that share what an attacker may know; more is safer",
)
_OWNER_SHARE = share(
    None,
    "Largest share of trajectories of one person",
    promised="owner_share",
    keeps="at most",
    better="lower",
    of_people=True,
)


def _declare(*tables: Mapping[str, Number]) -> Numbers:
    return MappingProxyType({name: number for table in tables for name, number in table.items()})


KCL_PRIVACY = _declare(
    {
        "min_support": _MIN_SUPPORT,
        "max_confidence": share(
            None,
            "Largest confidence",
            promised="c",
            keeps="at most",
            better="lower",
            of_people=True,
            meaning="the largest share of them with one sensitive value; less is safer",
        ),
        "max_confidence_trajectories": share(None, "Largest confidence, of trajectories", better="lower"),
        "max_owner_share": _OWNER_SHARE,
        "sequences": count(None, "Sequences", "sequences", of_people=True),
    },
    _SIZES,
)

KDELTA = _declare(
    {
        "min_support": _MIN_SUPPORT,
        "certified": count(None, "Trajectories certified", "trajectories"),
        "sets": count(None, "Sets certified", "sets", of_people=True),
        "max_distance_m": measure(None, "m", "Largest distance in a certified set", of_people=True),
        "max_owner_share": _OWNER_SHARE,
        "tolerance_m": measure(None, "m", "Tolerance of the verifier"),
    },
    _SIZES,
)

KANONYMITY = _declare(
    {
        "min_support": _MIN_SUPPORT,
        "max_owner_share": _OWNER_SHARE,
        "groups": count(None, "Different sequences", "groups"),
        "boxes_untrue": count(None, "Boxes that are not true", "boxes"),
        "points_outside": count(None, "Points outside of their box", "points"),
    },
    _SIZES,
)

ATTACK_GRAPH = _declare(
    {
        "min_candidates": count(
            None,
            "Fewest candidates of a person",
            promised="k",
            keeps="at least",
            better="higher",
            of_people=True,
            meaning="fewest {people} whose trajectory can be that of one person",
        ),
        "min_people": count(None, "Fewest people behind a trajectory", "people", better="higher", of_people=True),
        "edges": count(None, "Trajectories that fit people", of_people=True),
        "edges_left": count(None, "Left after ruling out what cannot be", of_people=True),
        "symmetric": amount(None, "Whoever fits is fitted", of_people=True),
        "not_contained": count(None, "People who do not fit their own trajectory", "people"),
        "boxes_untrue": count(None, "Boxes that are not true", "boxes"),
        "max_owner_share": _OWNER_SHARE,
        "too_fast": count(None, "Boxes that nobody could reach in time", "boxes"),
        "min_declared": count(None, "Fewest people with a declared box", "people", better="higher", of_people=True),
        "not_declared": count(None, "Boxes that are not declared", "boxes"),
    },
    _SIZES,
)

BREACH_BOUND = _declare(
    {
        "max_share": share(
            None,
            "Largest share of one place",
            promised="p",
            keeps="at most",
            better="lower",
            of_people=True,
            meaning="largest share of those who fit with one place that is not the adversary's",
        ),
        "max_inference": probability(
            None,
            "Surest inference of one place of one person",
            promised="p",
            keeps="at most",
            better="lower",
            of_people=True,
            meaning="how surely one such place is inferred of a person, over all their trajectories",
        ),
        "max_share_trajectories": share(None, "Largest share of one place, of trajectories", better="lower"),
        "classes": count(None, "Classes", "classes"),
        "unsafe": count(None, "Places that tell too much", "places"),
        "unsafe_people": count(None, "People of whom several trajectories tell too much", "people"),
    },
    _SIZES,
)

_ROUTES = {
    "min_support": _MIN_SUPPORT,
    "max_owner_share": _OWNER_SHARE,
    "routes": count(None, "Different routes", "routes"),
    "slices": count(None, "Slices of time", "slices"),
    "roads": count(None, "Roads", "roads"),
    "broken": count(None, "Places where a route is not connected", "places"),
    "foreign_roads": count(None, "Roads that nobody used before", "roads"),
    "untrue": count(None, "Trajectories that are not true", "trajectories"),
    "inference_routes": count(None, "Intersections that tell where a few people went", "intersections"),
}
STRICT_K = _declare(
    _ROUTES,
    {
        "min_people": count(
            None,
            "Fewest people behind a route",
            "people",
            promised="fewest_people",
            keeps="at least",
            better="higher",
            of_people=True,
        ),
        "dummies": count(None, "Dummies", "trajectories", of_people=True),
    },
    _SIZES,
)
SUBSEQUENCE_K = _declare(
    _ROUTES,
    {
        "exact_match_min_support": count(None, "Smallest support of a whole route", better="higher", of_people=True),
        # It is not promised that there is none, and how many people go another way depends on who they are.
        "inference_routes": replace(_ROUTES["inference_routes"], of_people=True),
    },
    _SIZES,
)

CSAFETY = _declare(
    {
        "max_probability": probability(
            None,
            "Largest probability of a sensitive place",
            promised="c",
            keeps="at most",
            better="lower",
            of_people=True,
            meaning="the largest probability of one sensitive place; less is safer",
        ),
        "min_people": count(
            None,
            "Fewest people behind a trajectory",
            promised="m",
            keeps="at least",
            better="higher",
            of_people=True,
            meaning="fewest {people} who share all places of a trip that are not sensitive",
        ),
        "max_probability_people": probability(
            None, "Largest probability of a sensitive place, over people", promised="c", keeps="at most", of_people=True
        ),
        # It depends on the truth, as those of people do: whoever was at a place counts there though the stop was left
        # out, which published files do not show.
        "max_probability_trajectories": probability(
            None,
            "Largest probability of a sensitive place, over trajectories",
            promised="c",
            keeps="at most",
            of_people=True,
        ),
        "max_owner_share": _OWNER_SHARE,
        "min_place_people": count(
            None,
            "Fewest people at a sensitive place",
            "people",
            promised="least_people",
            keeps="at least",
            better="higher",
            of_people=True,
        ),
        "classes": count(None, "Classes", "classes"),
        "small_classes": count(None, "Classes of too few people", "classes"),
        "dominated_classes": count(None, "Classes of which one person owns too much", "classes"),
        "rare_places": count(None, "Sensitive places of too few people", "places"),
        "nested_classes": count(None, "Classes with one sensitive node above another", "classes"),
        "sensitive_rows": count(None, "Stops at sensitive places", "stops"),
        "generalized_rows": count(None, "Stops at a wider place than the true one", "stops"),
        "suppressed_rows": count(None, "Stops left out", "stops"),
        "false_trajectories": count(None, "Trajectories that are not true", "trajectories"),
    },
    _SIZES,
)

THRESHOLD = _declare(
    {
        "min_count": count(
            None,
            "Smallest published number",
            promised="k",
            keeps="at least",
            better="higher",
            meaning="the smallest number in the table; more is safer",
        ),
        "min_people": count(None, "Fewest people behind a published number", "people", better="higher"),
        "max_owner_share": share(None, "Largest share of a published number that is one person", better="lower"),
        "cells": count(None, "Published cells", "cells"),
        "totals": count(None, "Published totals", "totals"),
        "suppressed": count(None, "Cells that are not published", "cells"),
        "small": count(None, "Cells with too few people, not published", "cells"),
    },
)

DIFFERENTIAL_PRIVACY = _declare(
    {
        "epsilon_spent": amount(
            None,
            "Epsilon that all queries spend",
            promised="epsilon",
            keeps="at most",
            better="lower",
            meaning="what the declared mechanism spends of the budget, by OpenDP's maps; less is safer",
        ),
        "delta_spent": amount(None, "Delta that all queries spend", promised="delta", keeps="at most", better="lower"),
        "queries": count(None, "Noisy queries", "queries"),
    },
)
