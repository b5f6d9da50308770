"""Random publications, most of them by no method: the verifiers say what trying every possibility says.

The other campaigns change what methods publish.  Here publications are drawn, so that shapes come up which no method of
ours makes; about half of them keep their promise.  `possible_worlds` was written from the pages on guarantees alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from possible_worlds import (
    break_of_candidates,
    break_of_places,
    break_of_routes,
    break_of_shown_places,
    break_of_subsequences,
)

from wayveil.model import (
    AttackGraph,
    Boxes,
    BreachBound,
    CSafety,
    Points,
    RoadNetwork,
    Routes,
    Stops,
    StrictK,
    SubsequenceK,
    Taxonomy,
    Verdict,
    Visits,
)
from wayveil.verifiers import check_attack_graph, check_breach_bound, check_csafety, check_strict_k, check_subsequence_k

Draw = random.Random
Judged = tuple[str, Verdict, Any]


def owners(draw: Draw, least: int, most: int) -> list[int]:
    """One to six trips per person, now and then one person with nearly all of them."""
    kind = draw.randrange(4)
    n = draw.randint(least, most)
    if kind == 0:
        return list(range(n))
    if kind == 1:
        return [draw.choice([0, 0, 0, 0, 1, 2]) for _ in range(n)]
    owner: list[int] = []
    while len(owner) < n:
        owner += [len(set(owner))] * draw.choice([1, 1, 2, 3, 6])
    owner = owner[:n]
    draw.shuffle(owner)
    return owner


def share(draw: Draw, usual: str = "1/k") -> Any:
    return draw.choice([usual, usual, Fraction(1, 2), Fraction(2, 3), Fraction(1)])


def judge_candidates(draw: Draw) -> Judged:
    """Boxes around groups at known times, the very points at others, and some boxes that are off."""
    owner = owners(draw, 2, 6)
    n_times = draw.randint(1, 3)
    step = draw.choice([1, 2])
    span = draw.choice([0, 2, 6])
    truth = [
        [(step * t, float(draw.randint(0, span)), float(draw.randint(0, span))) for t in range(n_times)] for _ in owner
    ]
    if draw.random() < 0.3:
        truth = [draw.choice(truth) for _ in owner]
    known = [[draw.random() < 0.5 for _ in track] for track in truth]
    groups = [draw.randrange(draw.choice([1, 2, 2])) for _ in owner]
    wide = [[draw.random() < 0.2 or any(known[j][t] for j in range(len(owner)) if groups[j] == groups[i])
             for t in range(n_times)] for i in range(len(owner))]  # fmt: skip
    boxes: list[list[Any]] = []
    for i, track in enumerate(truth):
        rows = []
        for t, (when, x, y) in enumerate(track):
            alike = [truth[j][t] for j in range(len(owner)) if groups[j] == groups[i]] if wide[i][t] else [(when, x, y)]
            low_x, high_x = min(p[1] for p in alike), max(p[1] for p in alike)
            low_y, high_y = min(p[2] for p in alike), max(p[2] for p in alike)
            if draw.random() < 0.05:
                high_x += draw.choice([-1, 1])
            until = when + (step if draw.random() < 0.03 and t + 1 < n_times else 0)
            rows.append((when, until, min(low_x, high_x), max(low_x, high_x), low_y, high_y))
        boxes.append([row for row in rows if draw.random() > 0.03])
    if draw.random() < 0.15:
        boxes[draw.randrange(len(boxes))] = []
    marks = None
    if draw.random() < 0.5:
        said = [{step * t for j in range(len(owner)) if groups[j] == group for t in range(n_times) if known[j][t]}
                for group in groups]  # fmt: skip
        marks = [[(row[0] in said[i]) != (draw.random() < 0.02) for row in boxes[i]] for i in range(len(owner))]
    speed = draw.choice([None, None, 2.0, 5.0, 10.0])
    claim = AttackGraph(k=draw.choice([2, 2, 3]), row_share=share(draw), top_speed=speed or "none")
    published = Boxes.from_records(boxes, owner=owner)
    if marks is not None:
        published = replace(published, declared=np.array([m for row in marks for m in row], np.bool_))
    original = replace(Points.from_records(truth, owner=owner), known=np.array([k for row in known for k in row]))
    verdict = check_attack_graph(published, claim, original=original)
    found = break_of_candidates(boxes, marks, owner, truth, known, k=claim.k, share=claim.owner_share, top_speed=speed)
    return found, verdict, (claim, boxes, marks, owner, truth, known)


def draw_routes(draw: Draw, *, dummies: bool) -> dict[str, Any]:
    """Trips on a small network, published as parts of them, mostly the same for several people."""
    nodes = draw.randint(1, 3)
    network = {f"r{i}": (f"n{draw.randrange(nodes)}", f"n{draw.randrange(nodes)}") for i in range(draw.randint(1, 4))}
    owner = owners(draw, 2, 9)
    n_slices = draw.choice([1, 1, 2])

    def walk() -> list[str]:
        way = [draw.choice(list(network))]
        for _ in range(draw.randint(0, 3)):
            onward = [road for road, ends in network.items() if ends[0] == network[way[-1]][1]]
            if onward:
                way.append(draw.choice(onward))
        return way

    ways = [walk() for _ in range(draw.randint(1, 3))]
    trips = [list(draw.choice(ways)) for _ in owner]
    slices = [(10 * (when := draw.randrange(n_slices)), 10 * when + 10) for _ in owner]
    original = list(zip(trips, slices, owner, strict=True))
    routes = []
    for trip in trips:
        begin = draw.choice([0, 0, 0, draw.randrange(len(trip))])
        end = draw.choice([len(trip), len(trip), draw.randint(begin, len(trip))])
        routes.append(trip[begin:end])
    shown = list(owner)
    if draw.random() < 0.15:
        routes[draw.randrange(len(routes))] = list(draw.choice(trips))
    if draw.random() < 0.1:
        at = draw.randrange(len(routes))
        routes[at] = [*routes[at], draw.choice(list(network))]
    if dummies:
        for at in range(len(shown)):
            if draw.random() < 0.2:
                shown[at] = -1
    return {
        "routes": routes, "slices": slices, "owner": shown, "network": network,
        "original": original, "original_network": network,
    }  # fmt: skip


def build_routes(drawn: dict[str, Any]) -> tuple[Routes, Routes]:
    network = RoadNetwork.from_roads([(road, *ends) for road, ends in drawn["network"].items()])
    published = Routes.from_records(drawn["routes"], network=network, slices=drawn["slices"], owner=drawn["owner"])
    original = Routes.from_records(
        [trip for trip, _, _ in drawn["original"]], network=network,
        slices=[when for _, when, _ in drawn["original"]], owner=[who for _, _, who in drawn["original"]],
    )  # fmt: skip
    return published, original


def judge_routes(draw: Draw) -> Judged:
    pad = draw.choice(["no", "yes"])
    drawn = draw_routes(draw, dummies=pad == "yes" or draw.random() < 0.1)
    claim = StrictK(k=draw.choice([2, 2, 3, 4]), row_share=share(draw), pad=pad)
    published, original = build_routes(drawn)
    verdict = check_strict_k(published, claim, original=original)
    found = break_of_routes(**drawn, k=claim.k, share=claim.owner_share, pad=pad == "yes")
    return found, verdict, (claim, drawn)


def judge_subsequences(draw: Draw) -> Judged:
    drawn = draw_routes(draw, dummies=draw.random() < 0.1)
    claim = SubsequenceK(k=draw.choice([2, 2, 3]), row_share=share(draw))
    published, original = build_routes(drawn)
    verdict = check_subsequence_k(published, claim, original=original)
    found = break_of_subsequences(**drawn, k=claim.k, share=claim.owner_share)
    return found, verdict, (claim, drawn)


def judge_places(draw: Draw) -> Judged:
    """Trips over few places, published without some stops and with kinds instead of places."""
    parents = {"Place": "", "Shop": "Place", "Health": "Place", "Clinic": "Health"}
    parents |= {f"Shop{i}": "Shop" for i in range(draw.randint(1, 2))}
    parents |= {f"Clinic{i}": "Clinic" for i in range(draw.randint(1, 3))}
    parents |= {"Hospital": "Health"}
    sensitive = set(draw.choice([["Health"], ["Clinic"], ["Clinic0", "Hospital"]]))
    leaves = [node for node in parents if node not in parents.values()]
    owner = owners(draw, 2, 10)
    popular = draw.sample(leaves, draw.randint(1, min(3, len(leaves))))
    truth = [[draw.choice(popular) for _ in range(draw.randint(1, 3))] for _ in owner]
    if draw.random() < 0.6:
        few = [draw.choice(truth) for _ in range(2)]
        truth = [draw.choice([*few, draw.choice(truth)]) for _ in owner]
    drop, lift = draw.choice([0.0, 0.1, 0.4]), draw.choice([0.0, 0.2, 0.5])
    lifted = {place: draw.random() < lift for place in leaves}
    stops = []
    for trip in truth:
        kept = [place for place in trip if draw.random() >= drop]
        stops.append([parents[place] if lifted[place] or draw.random() < 0.05 else place for place in kept])
    claim = CSafety(
        c=draw.choice([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
        m=draw.choice([2, 2, 3]),
        row_share=share(draw, "1/m"),
        weights=draw.choice(["worst", "uniform"]),
        place_people=draw.choice(["m", 1, 2]),
    )
    taxonomy = Taxonomy.from_parents(list(parents.items()), sensitive=sorted(sensitive))
    verdict = check_csafety(
        Stops.from_records(stops, taxonomy=taxonomy, owner=owner),
        claim,
        original=Stops.from_records(truth, taxonomy=taxonomy, owner=owner),
    )
    found = break_of_places(
        stops, owner, truth, parents, sensitive, c=claim.c, m=claim.m, share=claim.owner_share,
        least=claim.least_people, worst=claim.weights == "worst",
    )  # fmt: skip
    return found, verdict, (claim, stops, owner, truth, parents, sensitive)


def judge_shown_places(draw: Draw) -> Judged:
    """Visits of few people to few places, with their true times or numbered."""
    owner = owners(draw, 1, 8)
    places = draw.sample(["a1", "a2", "b1", "x", "y"], draw.randint(2, 5))
    times = draw.choice(["order", "keep"])
    off = draw.random() < 0.1
    some = [[draw.choice(places) for _ in range(draw.randint(1, 3))] for _ in range(draw.randint(1, 6))]
    records: list[list[tuple[str, int]]] = []
    for _ in owner:
        trip = draw.choice(some) if draw.random() > 0.05 else []
        start = draw.choice([1, 1, 2]) if times == "keep" or off else 1
        records.append([(place, start + at) for at, place in enumerate(trip)])
    adversaries = {"A": ["a1", "a2"]} | ({"B": ["b1"]} if draw.random() < 0.5 else {})
    claim = BreachBound(
        p=draw.choice([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(3, 4), Fraction(1)]),
        adversaries=adversaries,
        times=times,
    )
    verdict = check_breach_bound(Visits.from_records(records, owner=owner), claim)
    found = break_of_shown_places(
        records, owner, [set(own) for own in adversaries.values()], p=claim.p, with_times=times == "keep"
    )
    return found, verdict, (claim, records, owner)


JUDGES: dict[str, Callable[[Draw], Judged]] = {
    "AttackGraph": judge_candidates,
    "StrictK": judge_routes,
    "SubsequenceK": judge_subsequences,
    "CSafety": judge_places,
    "BreachBound": judge_shown_places,
}


def compare(name: str, cases: range) -> Counter[str]:
    """Judge these cases both ways, and count what came out."""
    outcomes: Counter[str] = Counter()
    for seed in cases:
        found, verdict, case = JUDGES[name](random.Random(f"{name} {seed}"))
        assert verdict.holds == (found == ""), (seed, found, verdict.reason, case)
        outcomes[found or "kept"] += 1
    return outcomes


@pytest.mark.parametrize("name", JUDGES)
def test_verifiers_say_what_every_possibility_says(name: str) -> None:
    outcomes = compare(name, range(400))
    assert outcomes["kept"] >= 20, "too few publications keep the promise to test anything"
    assert len(outcomes) >= 5, "too few ways to break it were drawn"


@pytest.mark.slow
@pytest.mark.parametrize("name", JUDGES)
def test_verifiers_say_what_every_possibility_says_many(name: str) -> None:
    compare(name, range(400, 6000))
