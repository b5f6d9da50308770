"""kcl on trips: an end counts as what is published of it, its role, its place and its time."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.methods.kcl.kcl import Kcl
from wayveil.model import KclPrivacy, Trips, Visits, guarantee_from_json
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.steps import Bucket
from wayveil.verifiers import check_kcl
from wayveil.verifiers.kcl.definition import find_break_of_kcl

SETTINGS: list[dict[str, Any]] = [
    {"k": 2, "l": 1},
    {"k": 3, "l": 2},
    {"k": 2, "l": "all"},
    {"k": 2, "l": 2, "c": "0.5", "sensitive": {"ill": ["yes"]}},
    {"k": 2, "l": 2, "c": "0.5", "sensitive": {"ill": ["yes"]}, "hide_absence": "yes"},
    {"k": 2, "l": 2, "suppression": "global"},
    {"k": 2, "l": 2, "preserve": "mfs"},
]


def some_trips(seed: int, n: int = 40) -> Trips:
    """Return trips of few people between few places; many begin and end in the same hour, some at the same place."""
    numbers = np.random.default_rng(seed)
    trips: list[Any] = []
    for _ in range(n):
        origin, destination = (str(name) for name in numbers.choice(["a", "b", "c"], 2))
        start = int(numbers.integers(3))
        end = start + int(numbers.random() < 0.3)
        part = numbers.random()
        trips.append((origin, start, None, None) if part < 0.1 else (origin, start, destination, end))
    owner = numbers.integers(0, 12, n).tolist()
    ill = ["yes" if person % 4 == 0 else "no" for person in owner]
    return Trips.from_ends(trips, owner=owner, attributes={"ill": ill})


def as_visits(data: Trips) -> Visits:
    """Return visits that say the same: the role is in the time, which increases strictly."""
    arrives = np.array([name.startswith("to ") for name in data.locations])[data.location]
    return Visits(
        offsets=data.offsets,
        location=data.location,
        t=2 * data.t + arrives,
        locations=data.locations,
        owner=data.owner,
        attributes=data.attributes,
        owners=data.owners,
    )


def run(data: Visits, given: dict[str, Any]) -> Any:
    return Kcl(**given).run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))


def find_break_in_rows(data: Trips, k: int, longest: int) -> bool:
    """Return whether any one or two ends of a published row, by role, place and time, fit fewer than `k` people."""
    ends = data.ends()
    rows = []
    for trip in range(len(data)):
        seen = set()
        for role, place, t in (("o", ends.origin, ends.t_start), ("d", ends.destination, ends.t_end)):
            if place[trip] >= 0:
                seen.add((role, int(place[trip]), int(t[trip])))
        rows.append(seen)
    known = {some for seen in rows for size in range(1, longest + 1) for some in combinations(sorted(seen), size)}
    return any(len({int(data.owner[i]) for i, seen in enumerate(rows) if seen >= set(some)}) < k for some in known)


@pytest.mark.parametrize("given", SETTINGS)
@pytest.mark.parametrize("seed", range(4))
def test_what_stays_is_what_would_stay_of_the_same_visits(given: dict[str, Any], seed: int) -> None:
    data = some_trips(seed)
    made = run(data, given)
    assert isinstance(made.data, Trips)
    same = run(as_visits(data), given)
    assert np.array_equal(made.data.offsets, same.data.offsets)
    assert as_visits(made.data).same_content(same.data)
    assert find_break_of_kcl(made.data, made.claim) in ("", "Nothing is published.")
    longest = 2 if given["l"] == "all" else given["l"]
    assert not find_break_in_rows(made.data, given["k"], longest)
    if made.data.n_rows:
        assert check_kcl(made.data, made.claim).holds


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("claim", [KclPrivacy(k=k, c=1, l=l, about="ends") for k, l in ((2, 1), (2, 2), (3, "all"))])
def test_the_verifier_judges_raw_trips_as_the_definition_does(claim: KclPrivacy, seed: int) -> None:
    data = some_trips(seed, n=120 if seed % 2 else 30)
    verdict = check_kcl(data, claim)
    assert verdict.holds == (find_break_of_kcl(data, claim) == "")
    longest = claim.l if isinstance(claim.l, int) else 2
    assert (
        verdict.measured["min_support"]
        == check_kcl(as_visits(data), replace(claim, about="visits")).measured["min_support"]
    )
    if find_break_in_rows(data, claim.k, longest):
        assert not verdict.holds


def test_roles_are_told_apart() -> None:
    """Two who came to a place at a time do not hide one who left it then: the published row tells which end it is."""
    data = Trips.from_ends([("x", 1, None, None), (None, None, "x", 1), (None, None, "x", 1)], owner=[0, 1, 2])
    claim = KclPrivacy(k=2, c=1, l=1, about="ends")
    verdict = check_kcl(data, claim)
    assert verdict.measured["min_support"] == 1
    assert not verdict.holds
    made = run(data, {"k": 2, "l": 1})
    assert [made.data.record(i) for i in range(3)] == [[], [("to x", 1)], [("to x", 1)]]


def test_two_ends_of_one_name_and_time_are_refused() -> None:
    """The verifier does not rely on what the constructor checks."""
    data = Trips.from_ends([("a", 1, "a", 1), ("a", 1, "a", 1)])
    object.__setattr__(data, "location", np.zeros(4, np.int32))
    verdict = check_kcl(data, KclPrivacy(k=2, c=1, l=2, about="ends"))
    assert not verdict.holds
    assert verdict.measured["min_support"] is None


@pytest.mark.parametrize("name", ["known_visits", "known_locations", "known_order", "uniqueness", "absence"])
def test_attacks_see_in_trips_what_they_see_in_the_same_visits(name: str) -> None:
    data = some_trips(7)
    made = run(data, {"k": 2, "l": 1}).data
    results = []
    for before, after in ((data, made), (as_visits(data), as_visits(made))):
        attack = ATTACKS[name]()
        numbers = np.random.default_rng(3)
        found = attack.run(before, after, sensitive={"ill": ["yes"]}, rng=numbers, engine=LocalEngine(workers=1))
        results.append({key: value for key, value in found.measured.items() if key.startswith(("identity", "attrib"))})
    assert results[0]
    assert results[0] == results[1]


def test_a_golden_example() -> None:
    """Three take the bike from Park to Quay at eight, one of them on to Zoo: what only one did goes, and no more."""
    trips: list[Any] = [("Park", 8, "Quay", 8)] * 3
    trips += [("Quay", 8, "Zoo", 9), ("Park", 8, "Zoo", 9), ("Park", 9, None, None)]
    data = Trips.from_ends(trips, owner=[0, 1, 2, 0, 3, 4])
    made = run(data, {"k": 2, "l": 2})
    whole = [("from Park", 8), ("to Quay", 8)]
    assert [made.data.record(i) for i in range(6)] == [whole, whole, whole, [("to Zoo", 9)], [("to Zoo", 9)], []]


def test_bucket_keeps_both_ends() -> None:
    data = Trips.from_ends([("a", 61, "a", 64), ("a", 3, "b", 70)])
    coarse, notes = Bucket(width=60).run(data)
    assert isinstance(coarse, Trips)
    assert [coarse.record(i) for i in range(2)] == [[("from a", 60), ("to a", 60)], [("from a", 0), ("to b", 60)]]
    assert notes == ("Times were floored to 60.",)
    assert trajectory_of_row(coarse.offsets).tolist() == [0, 0, 1, 1]


def test_a_claim_says_what_is_known() -> None:
    """Whoever does not know which end it was may find a larger share: a claim on visits is not judged by ends."""
    data = Trips.from_ends([("a", 1, "b", 1)] * 2)
    about_visits = KclPrivacy(k=2, c=1, l=2)
    about_ends = replace(about_visits, about="ends")
    assert check_kcl(data, about_ends).holds
    assert not check_kcl(data, about_visits).holds
    assert not check_kcl(as_visits(data), about_ends).holds
    assert run(data, {"k": 2, "l": 2}).claim == about_ends
    assert run(as_visits(data), {"k": 2, "l": 2}).claim == about_visits
    assert "about" not in about_visits.to_json()
    assert guarantee_from_json(about_ends.to_json()) == about_ends
    assert "at most 2 ends of trips (place, time, and whether a trip began or ended there)" in about_ends.promise
    assert any("but not whether the trip began or ended there" in line for line in about_ends.not_covered)
