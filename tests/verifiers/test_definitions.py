"""The fast verifiers say what the definitions say, on small random publications with several trips per person."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wayveil.errors import UsageError
from wayveil.model import (
    AttackGraph,
    Boxes,
    BreachBound,
    CSafety,
    KAnonymity,
    KclPrivacy,
    KDelta,
    Points,
    RoadNetwork,
    Routes,
    Stops,
    StrictK,
    SubsequenceK,
    Taxonomy,
    Visits,
)
from wayveil.verifiers import VERIFIERS
from wayveil.verifiers.definitions import DEFINITIONS, MOST_ROWS_OF_ONE, MOST_TRAJECTORIES, find_break_by_definition

CASES = 300
"""Random publications per claim, the same ones everywhere."""

ROADS = [("ab", "a", "b"), ("bc", "b", "c"), ("ca", "c", "a"), ("ba", "b", "a"), ("xy", "x", "y")]
NETWORK = RoadNetwork.from_roads(ROADS)
TREE = Taxonomy.from_parents(
    [
        *(("Place", ""), ("Shop", "Place"), ("S1", "Shop"), ("S2", "Shop"), ("Health", "Place")),
        *(("Clinic", "Health"), ("C1", "Clinic"), ("C2", "Clinic"), ("Lab", "Health")),
    ],
    sensitive=["Health"],
)


def owners(draw: random.Random, n: int) -> list[int]:
    people = draw.randint(1, n)
    return [draw.randrange(people) for _ in range(n)]


def visits(draw: random.Random) -> tuple[Visits, KclPrivacy, dict[str, Any]]:
    n = draw.randint(1, 7)
    ways = [[(draw.choice("ab"), t) for t in range(3) if draw.random() < 0.7] for _ in range(3)]
    records = [draw.choice(ways) for _ in range(n)]
    ill = [draw.choice(["yes", "no", "no", None]) for _ in range(n)]
    data = Visits.from_records(records, owner=owners(draw, n), attributes={"ill": ill})
    longest = draw.choice([1, 2, "all"])
    claim = KclPrivacy(
        k=draw.randint(1, 3),
        c=draw.choice(["1/2", "2/3", "1"]),
        l=longest,
        sensitive=draw.choice([{}, {"ill": ["yes"]}]),
        row_share=draw.choice(["1/k", "1/k", "3/4"]),
    )
    return data, claim, {}


def points_together(draw: random.Random) -> tuple[Points, KDelta, dict[str, Any]]:
    n = draw.randint(1, 7)
    times = [list(range(draw.randint(1, 2))) for _ in range(2)]
    records = [[(t, float(draw.randint(0, 2)), 0.0) for t in draw.choice(times)] for _ in range(n)]
    data = Points.from_records(records, owner=owners(draw, n))
    claim = KDelta(
        k=draw.randint(2, 3),
        delta=draw.choice([0, 1, 2]),
        placement=draw.choice(["nearest", "random"]),
        row_share=draw.choice(["1/k", "1/k", "3/4"]),
    )
    return data, claim, {}


def boxes_of_crowds(draw: random.Random) -> tuple[Boxes, KAnonymity, dict[str, Any]]:
    n = draw.randint(1, 6)
    who = owners(draw, n)
    low = [draw.randint(0, 1) for _ in range(2)]
    ways = [[(t, t + draw.randint(0, 1), low[0] + 0.0, low[0] + 1.0, 0.0, 1.0) for t in (0, 2)] for _ in range(2)]
    records = [draw.choice(ways)[: draw.choice([2, 2, 2, 1, 0])] for _ in range(n)]
    data = Boxes.from_records(records, owner=who)
    truth = [
        [(t, draw.choice([0.5, 0.5, 1.0, 1.5, 2.5]), 0.5) for t in range(4) if draw.random() < 0.7] or [(0, 0.5, 0.5)]
        for _ in range(n)
    ]
    claim = KAnonymity(k=2, row_share=draw.choice(["1/k", "3/4"]))
    return data, claim, draw.choice([{}, {"original": Points.from_records(truth, owner=who)}])


def boxes_at_declared_times(draw: random.Random) -> tuple[Boxes, AttackGraph, dict[str, Any]]:
    n = draw.randint(2, 6)
    who = owners(draw, n)
    truth = [[(t, float(draw.randint(0, 3)), 0.0) for t in range(2)] for _ in range(n)]
    width = draw.choice([0, 1, 3, 3])
    records = [
        [(t, t, max(0.0, x - width), x + width, 0.0, 0.0) if draw.random() < 0.3 else (t, t, 0.0, 3.0, 0.0, 0.0)
         for t, x, _ in way]
        for way in truth
    ]  # fmt: skip
    known = np.array([draw.random() < 0.6 for _ in range(2 * n)])
    original = Points.from_records(truth, owner=who)
    original = replace(original, known=draw.choice([None, known]))
    data = Boxes.from_records(records, owner=who)
    claim = AttackGraph(k=2, row_share=draw.choice(["1/k", "3/4"]), top_speed=draw.choice(["none", "none", 2.0, 6.0]))
    return data, claim, {"original": original}


def visits_seen_by_adversaries(draw: random.Random) -> tuple[Visits, BreachBound, dict[str, Any]]:
    n = draw.randint(2, 8)
    elsewhere = [(draw.choice("cde"), draw.choice([2, 2, 3])) for _ in range(n)]
    records = [[("a", 1), visit] if draw.random() < 0.75 else [visit] for visit in elsewhere]
    data = Visits.from_records(records, owner=draw.choice([owners(draw, n), list(range(n))]))
    claim = BreachBound(
        p=draw.choice(["1/2", "2/3", "4/5"]),
        adversaries=draw.choice([{"one": ["a"]}, {"one": ["a", "b"], "two": ["c"]}]),
        times=draw.choice(["order", "keep"]),
    )
    return data, claim, {}


def driven(draw: random.Random) -> tuple[Routes, Routes | None]:
    n = draw.randint(1, 6)
    who = owners(draw, n)
    ways = draw.choices([["ab", "bc"], ["ab", "bc", "ca"], ["ba"], ["ab"], ["ab", "xy"], []], [6, 4, 3, 3, 1, 1], k=2)
    records = [list(draw.choice(ways)) for _ in range(n)]
    data = Routes.from_records(records, network=NETWORK, owner=who)
    longer = [way if draw.random() < 0.9 else way[1:] for way in records]
    original = Routes.from_records(longer, network=NETWORK, owner=who)
    return data, draw.choice([None, original])


def whole_routes(draw: random.Random) -> tuple[Routes, StrictK, dict[str, Any]]:
    data, original = driven(draw)
    return data, StrictK(k=2, row_share=draw.choice(["1/k", "3/4"])), {"original": original}


def padded_routes(draw: random.Random) -> tuple[Routes, StrictK, dict[str, Any]]:
    data, _ = driven(draw)
    dummies = np.array([-1 - i if draw.random() < 0.3 else owner for i, owner in enumerate(data.owner.tolist())])
    data = replace(data, owner=dummies)
    return data, StrictK(k=draw.randint(2, 3), pad="yes", row_share=draw.choice(["1/k", "3/4"])), {}


def parts_of_routes(draw: random.Random) -> tuple[Routes, SubsequenceK, dict[str, Any]]:
    data, original = driven(draw)
    return data, SubsequenceK(k=2, row_share=draw.choice(["1/k", "3/4"])), {"original": original}


def stops(draw: random.Random) -> tuple[Stops, CSafety, dict[str, Any]]:
    n = draw.randint(2, 7)
    who = owners(draw, n) if draw.random() < 0.5 else list(range(n))
    truth = [["S1", *([draw.choice(["S2", "C1", "C2", "Lab"])] if draw.random() < 0.5 else [])] for _ in range(n)]
    lifted = {"S1": ["S1", "Shop", "Shop"], "S2": ["S2", "Shop", "Shop"], "C1": ["C1", "Clinic", "Health"],
              "C2": ["C2", "Clinic", "Health"], "Lab": ["Lab", "Health", "Place"]}  # fmt: skip
    level = draw.randrange(3)
    records = [[lifted[place][level if draw.random() < 0.9 else 0] for place in way] for way in truth]
    records = [record[: draw.choice([2, 2, 2, 1])] for record in records]
    claim = CSafety(
        c=draw.choice(["1/2", "2/3", "1"]),
        m=2,
        row_share=draw.choice(["1/m", "3/4"]),
        weights=draw.choice(["worst", "uniform"]),
        place_people=draw.choice(["m", 1]),
    )
    original = Stops.from_records(truth, taxonomy=TREE, owner=who)
    data = Stops.from_records(records, taxonomy=TREE, owner=who)
    return data, claim, draw.choice([{}, {"original": original}])


DRAWN: list[Callable[[random.Random], tuple[Any, Any, dict[str, Any]]]] = [
    visits, points_together, boxes_of_crowds, boxes_at_declared_times, visits_seen_by_adversaries, whole_routes,
    padded_routes, parts_of_routes, stops,
]  # fmt: skip


@pytest.mark.parametrize("make", DRAWN, ids=lambda make: make.__name__)
def test_the_fast_verifier_says_what_the_definition_says(make: Any) -> None:
    holds = 0
    for seed in range(CASES):
        published, claim, more = make(random.Random(seed))
        more = {name: value for name, value in more.items() if value is not None}
        by_definition = DEFINITIONS[claim.name](published, claim, **more)
        verdict = VERIFIERS[claim.name](published, claim, **more)
        assert verdict.holds == (by_definition == ""), f"seed {seed}: {by_definition!r} against {verdict.reason!r}"
        holds += verdict.holds
    assert CASES / 50 <= holds <= CASES * 0.98, f"{holds} of {CASES} hold: the cases do not tell anything"


def test_every_claim_has_a_definition() -> None:
    assert DEFINITIONS.keys() == VERIFIERS.keys()


def test_large_data_are_refused() -> None:
    long = Visits.from_records([[("a", t) for t in range(MOST_ROWS_OF_ONE + 1)]] * 2)
    many = Visits.from_records([[("a", 1)]] * (MOST_TRAJECTORIES + 1))
    for data in (long, many):
        with pytest.raises(UsageError, match="tries every combination"):
            find_break_by_definition(data, KclPrivacy(k=2, c=1, l=1))
    assert find_break_by_definition(Visits.from_records([[("a", 1)]] * 2), KclPrivacy(k=2, c=1, l=1)) == ""
