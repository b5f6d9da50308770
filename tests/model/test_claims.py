"""Claims: what they say in plain words, and that they survive a file."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from wayveil.errors import ParameterError, UsageError
from wayveil.model import GUARANTEES, AttackGraph, BreachBound, KAnonymity, KclPrivacy, KDelta, guarantee_from_json


@pytest.mark.parametrize(
    "claim",
    [
        KclPrivacy(k=2, c=0.5, l=2),
        KclPrivacy(k=1, c=0, l="all", sensitive={"ill": ["HIV", "flu"], "job": ["none"]}),
        KclPrivacy(k=10**6, c=Fraction(1, 3), l=7, sensitive={"é": ["ü", "a,b"]}),
    ],
)
def test_a_claim_survives_a_file(claim: KclPrivacy) -> None:
    assert guarantee_from_json(json.loads(json.dumps(claim.to_json()))) == claim


def test_claims_are_equal_in_their_exact_form() -> None:
    claim = KclPrivacy(k=2, c=0.6, l=3, sensitive={"job": ["y", "x", "y"], "ill": ["HIV"]})
    assert claim == KclPrivacy(k=2, c="3/5", l=3, sensitive=[("ill", ["HIV"]), ("job", ["x", "y"])])
    assert claim.c == Fraction(3, 5)
    assert len({claim, KclPrivacy(k=2, c=Fraction(6, 10), l=3, sensitive=claim.sensitive)}) == 1


def test_the_promise_in_plain_words() -> None:
    assert KclPrivacy(k=2, c=0.5, l=2, sensitive={"ill": ["HIV", "flu"]}).promise == (
        "Whoever knows at most 2 visits (place and time) of a person finds either no published trajectory that fits, "
        "or trajectories of at least 2 people, none of whom has more than 1/2 of them, and at most 50 % of the people "
        "and of the trajectories have any one sensitive value (ill: HIV, flu)."
    )
    assert "more than 40 % of them" in KclPrivacy(k=5, c=1, l=1, row_share="2/5").promise
    assert KclPrivacy(k=1, c=1, l=1).promise == (
        "Whoever knows one visit (place and time) of a person finds either no published trajectory that fits, "
        "or trajectories of at least 1 person."
    )
    assert "knows any number of visits (place" in KclPrivacy(k=3, c=1, l="all").promise


def test_who_is_covered_and_who_is_not() -> None:
    claim = KclPrivacy(k=4, c="1/3", l=2, sensitive={"ill": ["HIV"]})
    assert claim.covered == (
        "identity linkage by someone who knows at most 2 visits of the victim: at most 1/4",
        "attribute linkage by the same attacker: confidence at most 33.34 %",
    )
    assert claim.not_covered[0] == "an attacker who knows more than 2 visits of the victim"
    assert KclPrivacy(k=4, c=1, l=1).not_covered[0] == "an attacker who knows more than one visit of the victim"
    assert len(KclPrivacy(k=4, c=1, l=2).covered) == 1
    everything = KclPrivacy(k=4, c=1, l="all")
    assert everything.not_covered == claim.not_covered[1:]
    assert "any visits" in everything.covered[0]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 0}, "KCL: k must be an integer >= 1, got 0."),
        ({"l": 0}, "KCL: l must be an integer >= 1 or 'all', got 0."),
        ({"l": "All"}, "KCL: l must be an integer >= 1 or 'all', got 'All'."),
        ({"c": "1.01"}, "KCL: c must be a number from 0 to 1, got '1.01'."),
        ({"sensitive": {"ill": []}}, "KCL: sensitive must give at least one value for each attribute, as a list."),
    ],
)
def test_claims_outside_their_range(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        KclPrivacy(**{"k": 2, "c": 1, "l": 2, **asked})
    assert str(caught.value) == words


@pytest.mark.parametrize("claim", [None, [], "KCL", {}, {"name": "KLC"}, {"name": None, "k": 2}])
def test_what_names_no_guarantee(claim: Any) -> None:
    with pytest.raises(UsageError, match="names no guarantee that is known here"):
        guarantee_from_json(claim)


@pytest.mark.parametrize("claim", [{"name": "KCL", "k": 2}, {"name": "KCL", "k": 2, "c": 1, "l": 2, "m": 3}])
def test_what_is_missing_or_unknown_in_a_claim(claim: Any) -> None:
    with pytest.raises(UsageError, match="The claim KCL has missing or unknown parameters"):
        guarantee_from_json(claim)


def test_a_name_nearby_is_suggested() -> None:
    with pytest.raises(UsageError, match="Did you mean 'KCL'"):
        guarantee_from_json({"name": "KC"})
    assert list(GUARANTEES) == [
        "KCL",
        "KDelta",
        "KAnonymity",
        "AttackGraph",
        "BreachBound",
        "StrictK",
        "SubsequenceK",
        "CSafety",
        "Threshold",
        "DifferentialPrivacy",
    ]


def test_what_the_claim_on_the_attack_graph_says() -> None:
    claim = AttackGraph(k=4)
    assert "at least 4 people" in claim.promise
    assert "nobody has more than 1/4 of the trajectories" in claim.promise
    assert "at least 4 people remain" in claim.covered[0]
    assert len(claim.covered) == 1
    assert "not a chance of 1/4" in claim.not_covered[0]
    assert "people do not jump" in claim.not_covered[2]
    assert claim.unbounded == ("attack_graph", "continuity", "nearest_positions")
    assert claim.about_truth
    assert claim.to_json() == {"name": "AttackGraph", "k": 4, "row_share": "1/k", "top_speed": "none"}
    fast = AttackGraph(k=4, top_speed=50, row_share="2/5")
    assert "nobody is faster than 50 m/s" in fast.promise
    assert "more than 40 % of the trajectories" in fast.promise
    assert fast.protects[1].attack == "continuity"
    assert fast.protects[1].settings == (("top_speed", 50),)
    assert "a lower limit than this speed" in fast.not_covered[2]
    with pytest.raises(ParameterError, match="top_speed must be larger than 0"):
        AttackGraph(k=4, top_speed=0)


def test_what_the_claim_on_adversaries_says() -> None:
    claim = BreachBound(p="1/3", adversaries={"shop": ["b", "a"], "bank": ["c"]})
    assert claim.adversaries == (("bank", ("c",)), ("shop", ("a", "b")))
    assert claim.promise.startswith("Each of 2 adversaries knows who was at places of his own, and in which order.")
    assert "at most 33.34 %" in claim.promise
    assert "at most 33.34 %" in claim.covered[0]
    assert "times of visits" in claim.not_covered[0]
    assert not claim.about_truth
    assert claim.unbounded == ()
    kept = BreachBound(p=0.5, adversaries={"shop": ["a"]}, times="keep")
    assert "when and in which order" in kept.promise
    assert not any("times of visits" in text for text in kept.not_covered)
    assert guarantee_from_json(kept.to_json()) == kept


@pytest.mark.parametrize(
    ("adversaries", "words"),
    [
        ({}, "at least one adversary"),
        ({"shop": ["a"], "bank": ["b", "a"]}, "one adversary only"),
        ({"shop": []}, "at least one value"),
        ({"shop": "a"}, "as a list"),
    ],
)
def test_adversaries_that_cannot_be(adversaries: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        BreachBound(p=0.5, adversaries=adversaries)


def test_what_the_claims_on_points_say() -> None:
    loose, strict, boxes = KDelta(k=3, delta=50), KDelta(k=3, delta=0), KAnonymity(k=4)
    assert "at least 3 people" in loose.promise
    assert "at most 50 m apart" in loose.promise
    assert "the same, point by point, for at least 3 people" in strict.promise
    assert "the same for at least 4 people" in boxes.promise
    assert loose.unbounded == ("nearest_positions", "noisy_sightings")
    assert strict.unbounded == boxes.unbounded == ()
    assert "true positions, even with errors" in loose.not_covered[0]
    assert len(strict.not_covered) == len(loose.not_covered) - 1
    for claim in (loose, strict, boxes):
        assert f"nobody owns more than 1/{claim.k}" in claim.promise
    assert "1/3" in strict.covered[0]
    assert "1/4" in boxes.covered[0]
    assert loose.covered == ()  # nobody is stopped who knows where the victim was
    random = KDelta(k=3, delta=50, placement="random")
    assert random.protects[0].attack == "noisy_sightings"
    assert random.protects[0].bound == Fraction(1, 3)
    assert random.unbounded == ()
    assert "drawn at random" in random.promise
    assert "drawn at random" not in loose.promise
    assert "not which of its trajectories is whose" in random.not_covered[0]
    assert KDelta(k=3, delta=0, placement="random").protects == strict.protects
    assert guarantee_from_json(random.to_json()) == random
    assert guarantee_from_json({"name": "KDelta", "k": 3, "delta": 50}) == loose  # an older manifest says no more
    assert boxes.about_truth
    assert loose.about_truth  # what people ask for themselves, and where trips end, only the original says
    for claim in (loose, strict, boxes):
        assert guarantee_from_json(claim.to_json()) == claim


@pytest.mark.parametrize(
    ("cls", "given"), [(KDelta, {"k": 1, "delta": 1}), (KDelta, {"k": 2, "delta": -1}), (KAnonymity, {"k": 1})]
)
def test_claims_on_points_have_limits(cls: Any, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="must be"):
        cls(**given)


def test_what_is_promised_where_absence_is_hidden() -> None:
    claim = KclPrivacy(k=2, c="3/10", l=2, sensitive={"ill": ["HIV"]}, hide_absence="yes")
    assert guarantee_from_json(claim.to_json()) == claim
    assert claim.to_json()["hide_absence"] == "yes"
    assert "hide_absence" not in KclPrivacy(k=2, c=1, l=1).to_json()
    hidden = claim.protects[-1]
    assert hidden.attack == "absence"
    assert hidden.measured == ("posterior_excess",)
    assert hidden.bound == 0
    assert hidden.is_broken_by(0.01)
    assert not hidden.is_broken_by(0.0)
    assert "one visit, or 2 visits, of a random person that fit nothing" in hidden.sentence
    assert "at most 30 %, or the share of all" in hidden.sentence
    assert "absence" not in claim.unbounded
    assert any("'absence'" in sentence for sentence in claim.not_covered)
    assert len(KclPrivacy(k=2, c=1, l=2, hide_absence="yes").protects) == 1


def test_what_stands_beside_the_promise_on_visits() -> None:
    claim = KclPrivacy(k=2, c=0.5, l=2, sensitive={"ill": ["HIV"]})
    assert claim.unbounded[0] == "absence"
    assert "absence" not in KclPrivacy(k=2, c=1, l=1).unbounded
    for name in claim.unbounded:
        assert any(f"'{name}'" in sentence for sentence in claim.not_covered)
    assert [protection.bound for protection in claim.protects] == [Fraction(1, 2), Fraction(1, 2)]
    assert KclPrivacy(k=5, c=1, l=1, row_share="2/5").protects[0].bound == Fraction(2, 5)
