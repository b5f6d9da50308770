"""The adversary who counts: exact on the flaw of the worked example and on random small data."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.counting import Counting
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
    assert found.measured["inference_max"] == 0.5
    assert found.measured["inference_share_above"] == 0.0
    assert "each of 2 adversaries knows" in found.adversary


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
    monkeypatch.setattr("wayveil.attacks.counting._MOST_TESTS", 0)
    assert run(truth, published, adversaries=OWN).measured["inference_max"] == 1.0
