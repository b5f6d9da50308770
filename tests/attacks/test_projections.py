"""The adversary who counts: exact on the flaw of the worked example and on random small data."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dealt_trajectories import classes_of, infer_by_handing_out, keeps_breach_bound
from hypothesis import example, given, settings
from hypothesis import strategies as st

from wayveil.attacks.projections import Counting
from wayveil.engines import LocalEngine
from wayveil.model import AttackResult, Visits

GOLDEN = Path(__file__).parents[1] / "golden" / "gsup"
PLACES = ["a1", "a2", "a3", "b1", "b2"]
OWN = {"A": ["a1", "a2", "a3"]}


def visits(records: Any, owner: Any = None) -> Visits:
    return Visits.from_records([[(place, t) for t, place in enumerate(r)] for r in records], owner=owner)


def run(truth: Visits, target: Visits, **settings: Any) -> AttackResult:
    return Counting(**settings).run(truth, target, sensitive={}, rng=np.random.default_rng(0), engine=LocalEngine())


def fits(part: Any, whole: Any) -> bool:
    rest = iter(whole)
    return all(visit in rest for visit in part)


def enumerated(truth: list[Any], published: list[Any], own: set[str]) -> list[Fraction]:
    """Per known person the largest probability of a place, over all ways to hand out what was published."""
    people = [[v for v in r if v in own] for r in truth if r]
    looks = [[v for v in r if v in own] for i, r in enumerate(published) if truth[i]]
    places = [set(r) - own for i, r in enumerate(published) if truth[i]]
    ways = [w for w in permutations(range(len(people))) if all(fits(looks[j], people[i]) for i, j in enumerate(w))]
    everywhere = set().union(*places)
    return [
        max((Fraction(sum(x in places[w[i]] for w in ways), len(ways)) for x in everywhere), default=Fraction(0))
        for i, known in enumerate(people)
        if known
    ]


def test_the_flaw_of_the_worked_example() -> None:
    flaw = json.loads((GOLDEN / "counting_flaw.json").read_text(encoding="utf-8"))
    found = run(visits(flaw["truth"]), visits(flaw["published"]), adversaries=flaw["adversaries"])
    surest = [Fraction(text) for text in flaw["surest"]]
    assert enumerated(flaw["truth"], flaw["published"], set(flaw["adversaries"]["A"])) == surest
    assert found.victims == 6
    assert found.measured == {
        "inference_mean": pytest.approx(float(sum(surest) / 6)),
        "inference_max": 1.0,
        "inference_threshold": 0.5,
        "inference_share_above": pytest.approx(2 / 6),
        "exact_share": 1.0,
    }
    assert found.charts[0].series[0].values == pytest.approx((0, 0, 0, 0, 0, 4 / 6, 0, 0, 0, 0, 2 / 6))


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.lists(st.sampled_from(PLACES), max_size=4), min_size=1, max_size=6),
    st.lists(st.booleans(), min_size=24, max_size=24),
    st.permutations(range(6)),
)
def test_it_equals_enumeration(truth: list[list[str]], keep: list[bool], order: list[int]) -> None:
    published = [[v for j, v in enumerate(r) if keep[4 * i + j]] for i, r in enumerate(truth)]
    shuffled = [published[i] for i in order if i < len(truth)]
    found = run(visits(truth), visits(shuffled), adversaries=OWN)
    expected = enumerated(truth, published, set(OWN["A"]))
    assert found.victims == len(expected)
    if expected:
        assert found.measured["inference_max"] == pytest.approx(float(max(expected)))
        assert found.measured["inference_mean"] == pytest.approx(float(sum(expected) / len(expected)))
        assert found.measured["exact_share"] == 1.0


def test_large_parts_are_bounded_by_their_classes() -> None:
    # 8 people whose a2 was or was not deleted, 8 with a2 only: 16 in one part, too many to count.
    truth = [["a1", "a2", "b1"]] * 8 + [["a2"]] * 8
    published = [["a1", "b1"]] * 4 + [["a2", "b1"]] * 4 + [["a2"]] * 4 + [[]] * 4
    found = run(visits(truth), visits(published), adversaries=OWN)
    assert found.measured["exact_share"] == 0.0
    assert found.measured["inference_max"] == 1.0
    assert found.measured["inference_mean"] == pytest.approx((8 * 1.0 + 8 * 0.5) / 16)


def test_large_parts_that_look_equal_are_exact() -> None:
    published = visits([["a1", "b1"]] * 10 + [["a1"]] * 30)
    found = run(published, published, adversaries=OWN)
    assert (found.measured["exact_share"], found.measured["inference_max"]) == (1.0, 0.25)
    assert found.measured["inference_share_above"] == 0.0


def test_what_is_in_no_way_is_pruned() -> None:
    # The first fits both published trajectories, but the second person can only have the second.
    truth, published = [["a1", "a2", "b1"], ["a1", "b2"]], [["a2", "b1"], ["a1", "b2"]]
    found = run(visits(truth), visits(published), adversaries=OWN)
    assert found.measured["inference_max"] == 1.0
    assert found.measured["inference_mean"] == 1.0


def test_times_tell_more_than_order() -> None:
    truth = Visits.from_records([[("a1", 1), ("b1", 2)], [("a1", 2), ("b2", 3)]])
    assert run(truth, truth, adversaries=OWN).measured["inference_max"] == 0.5
    assert run(truth, truth, adversaries=OWN, times="keep").measured["inference_max"] == 1.0


def test_victims_are_people_whom_somebody_knows() -> None:
    truth = visits([["a1", "b1"], ["a1"], ["b1"], ["a2"]], owner=[7, 7, 8, 9])
    found = run(truth, truth, adversaries={"A": ["a1"], "B": ["b1"]}, threshold=0.9)
    assert found.victims == 2
    assert found.measured["inference_max"] == 1.0  # both with a1 are those of one person
    assert found.measured["inference_share_above"] == 0.5
    assert "each of 2 adversaries knows" in found.adversary


# ------------------------------------------------------------------------------------------------- several trips each

trips = st.lists(st.lists(st.sampled_from(PLACES), max_size=3), min_size=2, max_size=6)


@settings(deadline=None, max_examples=100)
@given(trips, st.lists(st.booleans(), min_size=18, max_size=18), st.lists(st.integers(0, 2), min_size=6, max_size=6))
@example([["a1", "b1"], ["a1", "b1"], ["a1"], ["a1", "b2"]], [True] * 18, [0, 0, 0, 1, 1, 1])
def test_people_with_several_trips_are_attacked_over_all_of_them(
    truth: list[list[str]], keep: list[bool], owners: list[int]
) -> None:
    published = [[v for j, v in enumerate(r) if keep[3 * i + j]] for i, r in enumerate(truth)]
    owner = owners[: len(truth)]
    trips_of = {who: sum(bool(r) for r, whose in zip(truth, owner, strict=True) if whose == who) for who in owner}
    if max(trips_of.values()) < 2:
        return
    known = {who for r, who in zip(truth, owner, strict=True) if set(r) & set(OWN["A"])}
    records = [[(place, t) for t, place in enumerate(r)] for r in published]
    chances = infer_by_handing_out(records, owner, OWN["A"], "order")
    surest = {who: max((c for (whose, _), c in chances.items() if whose == who), default=Fraction(0)) for who in known}
    target = visits(published, owner)
    found = run(visits(truth, owner), target, adversaries=OWN)
    assert found.victims == len(known)
    if known:
        assert found.measured["inference_max"] == pytest.approx(float(max(surest.values())))
        assert found.measured["inference_mean"] == pytest.approx(float(sum(surest.values()) / len(known)))
        assert found.measured["exact_share"] == 1.0
        # Who is not told whose they are gets a bound: never below what all ways to hand them out amount to.
        bound = run(visits(truth, owner), replace(target, owners="hidden"), adversaries=OWN)
        assert bound.victims == len(known)
        least = max(guess_without_being_told(truth, published, owner, None)[who] for who in known)
        assert bound.measured["inference_max"] >= float(least) - 1e-9


def guess_without_being_told(
    truth: list[list[str]], published: list[list[str]], owner: list[int], p: Fraction | None
) -> dict[int, Fraction]:
    """Per person the surest inference over all ways to give the published trips to true ones that can be theirs.

    With `p`, of these ways only those remain that keep the bound: to whom the promise is known, no other is possible.
    """
    own = set(OWN["A"])
    there = [i for i, r in enumerate(truth) if r]
    shows = [[v for v in published[i] if v in own] for i in there]
    ways = 0
    having: dict[tuple[int, str], int] = defaultdict(int)
    for way in permutations(there):
        if not all(fits(shows[j], [v for v in truth[i] if v in own]) for j, i in enumerate(way)):
            continue
        records = [[(place, t) for t, place in enumerate(published[i])] for i in there]
        takers = [owner[i] for i in way]
        if p is not None and not keeps_breach_bound(records, takers, OWN, p, "order"):
            continue
        ways += 1
        for pair in {(takers[j], place) for j, i in enumerate(there) for place in set(published[i]) - own}:
            having[pair] += 1
    surest = dict.fromkeys(owner, Fraction(0))
    for (who, _), n in having.items():
        surest[who] = max(surest[who], Fraction(n, ways))
    return surest


def test_who_knows_the_promise_gains_nothing_by_not_being_told() -> None:
    """Two of ann's three trips are left out.  Without the promise the clinic is hers with 3/4, with it with 1/2."""
    truth = [["a1", "b1"], ["a1", "b1"], ["a1", "b2"], ["a1", "b2"]]
    published: list[list[str]] = [["a1", "b1"], [], [], ["a1", "b2"]]
    owner = [0, 0, 0, 1]
    assert guess_without_being_told(truth, published, owner, None)[0] == Fraction(3, 4)
    assert guess_without_being_told(truth, published, owner, Fraction(1, 2))[0] == Fraction(1, 2)
    found = run(visits(truth, owner), visits(published, owner), adversaries=OWN)
    assert found.measured["inference_max"] == 0.5
    bound = run(visits(truth, owner), replace(visits(published, owner), owners="hidden"), adversaries=OWN)
    assert bound.measured["inference_max"] >= 0.75
    assert bound.measured["exact_share"] == pytest.approx(1 / 4)


@settings(deadline=None, max_examples=30)
@given(trips, st.lists(st.booleans(), min_size=18, max_size=18), st.lists(st.integers(0, 2), min_size=6, max_size=6))
def test_no_way_that_keeps_the_promise_tells_more(truth: list[list[str]], keep: list[bool], owners: list[int]) -> None:
    """Whatever an adversary thinks of who has how many, given the promise: an average of what is at most p."""
    truth = truth[:5]
    published = [[v for j, v in enumerate(r) if keep[3 * i + j]] for i, r in enumerate(truth)]
    owner = owners[: len(truth)]
    records = [[(place, t) for t, place in enumerate(r)] for r in published]
    if keeps_breach_bound(records, owner, OWN, Fraction(1, 2), "order") and classes_of(records, OWN["A"], "order"):
        surest = guess_without_being_told(truth, published, owner, Fraction(1, 2))
        assert max(surest.values()) <= Fraction(1, 2)


def test_nobody_is_attacked_without_adversaries() -> None:
    data = visits([["a1"]])
    for found in (run(data, data), run(data, data, adversaries={"A": ["elsewhere"]})):
        assert found.victims == 0
        assert found.charts == ()
        assert found.measured["inference_max"] is None
        assert found.measured["inference_share_above"] is None
    assert run(data, data).adversary == "no adversary was declared, so nobody was attacked"


def test_data_without_visits() -> None:
    for data in (Visits.from_records([]), Visits.from_records([[], []])):
        assert run(data, data, adversaries=OWN).victims == 0
    assert run(visits([["a1"]]), Visits.from_records([]), adversaries=OWN).measured["inference_max"] == 0.0


def test_what_was_not_made_by_deleting_is_bounded() -> None:
    found = run(visits([["a1"], ["a1"]]), visits([["a2", "b1"], ["a1", "b1"], ["a1"]]), adversaries=OWN)
    assert (found.measured["exact_share"], found.measured["inference_max"]) == (0.0, 0.5)
    found = run(visits([["a1"], ["a1"]]), visits([["a2", "b1"], ["a1", "b1"]]), adversaries=OWN)
    assert (found.measured["exact_share"], found.measured["inference_max"]) == (0.0, 1.0)


def test_long_knowledge(monkeypatch: pytest.MonkeyPatch) -> None:
    record = ["a1", "a2"] * 8 + ["b1"]
    truth, published = visits([record, ["a3"]]), visits([["a1"] * 8 + ["b1"], ["a3"]])
    assert run(truth, published, adversaries=OWN).measured["inference_max"] == 1.0
    assert run(truth, published, adversaries=OWN).measured["exact_share"] == 1.0
    monkeypatch.setattr("wayveil.attacks.projections._MOST_TESTS", 0)
    assert run(truth, published, adversaries=OWN).measured["inference_max"] == 1.0
