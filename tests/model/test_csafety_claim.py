"""What the claim on stops says, and that each of its sentences names an attack and a bound."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from wayveil.errors import ParameterError
from wayveil.model import CSafety, guarantee_from_json


def test_what_the_claim_says() -> None:
    claim = CSafety(c="0.3", m=5)
    assert "more than 30 %" in claim.promise
    assert "whatever else is known of how popular places are, and why a kind was published" in claim.promise
    assert "counted over all trips that fit, and over the people of those that are published with" in claim.promise
    assert any("picks a person, not a trip" in sentence for sentence in claim.not_covered)
    assert "nobody has more than 1/5 of these trips" in claim.promise
    assert "stops of at least 5 people" in claim.promise
    assert [(p.attack, p.bound) for p in claim.protects] == [
        ("known_places", Fraction(3, 10)),
        ("place_posterior", Fraction(3, 10)),
        ("place_posterior", Fraction(1, 5)),
    ]
    assert guarantee_from_json(json.loads(json.dumps(claim.to_json()))) == claim


def test_the_reading_of_the_paper_does_not_claim_who_knows_the_method() -> None:
    claim = CSafety(c="0.3", m=5, weights="uniform", row_share="1/2", place_people=1)
    assert "if all places of a published kind are equally likely" in claim.promise
    assert "of the method" not in claim.promise
    assert [p.attack for p in claim.protects] == ["known_places", "place_posterior"]
    assert not any("method" in sentence for sentence in claim.covered)
    assert any("knows the method" in sentence for sentence in claim.not_covered)
    assert claim.protects[1].bound == Fraction(1, 2)
    assert "nobody has more than 1/2" in claim.promise
    assert "at least 1 person" in claim.promise


def test_who_knows_the_number_of_stops_is_listed() -> None:
    for weights in ("worst", "uniform"):
        assert any("how many stops" in sentence for sentence in CSafety(c=1, weights=weights).not_covered)


@pytest.mark.parametrize("wrong", [{"weights": "mean"}, {"place_people": 0}, {"row_share": 0}, {"m": 1}])
def test_wrong_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(ParameterError, match="CSafety"):
        CSafety(**{"c": "0.3", **wrong})  # type: ignore[arg-type]
