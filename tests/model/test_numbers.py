"""A number is shown with the unit that whoever measured it declared, never with one that its name suggests."""

from __future__ import annotations

import pytest

from wayveil.model import Verdict
from wayveil.model.claims import KclPrivacy
from wayveil.model.numbers import Number, amount, count, flatten, headline, measure, probability, relative, share
from wayveil.report.text.display_number import display


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (count(0.5556, "Mean error", "visits"), "0.556 visits"),
        (share(0.5556, "Mean error"), "55.6 %"),
        (relative(26.39, "Mean relative error"), "2,639 %"),
        (measure(430, "m", "Share of the way"), "430 m"),
        (measure(540.0, "s", "Mean share of time"), "540 s"),
        (amount(0.5, "Rank correlation"), "0.5"),
        (probability(None, "Nothing was measured"), "–"),
    ],
)
def test_the_unit_decides_how_a_number_is_told(number: Number, text: str) -> None:
    assert number.text.replace("\xa0", " ") == display(number).text.replace("\xa0", " ") == text
    assert number.to_json()["text"] == number.text
    assert number.to_json()["unit"] == number.unit


def test_a_share_beyond_one_is_out_of_range() -> None:
    assert share(1.0, "Kept").in_range
    assert share(None, "Kept").in_range
    assert not share(1.5, "Kept").in_range
    assert relative(1.5, "Changed").in_range


def test_plain_values_have_the_names_that_programs_use() -> None:
    numbers = {
        "identity_mean": probability(0.5, "Mean", about="identity", statistic="mean", interval=(None, None)),
        "identity_share_above": share(0.25, "Above", about="identity", threshold=0.1),
    }
    assert flatten(numbers) == {
        "identity_mean": 0.5,
        "identity_mean_low": None,
        "identity_mean_high": None,
        "identity_threshold": 0.1,
        "identity_share_above": 0.25,
    }
    assert headline(numbers) is numbers["identity_mean"]
    assert headline({}) is None


def test_a_verdict_has_the_units_that_its_claim_declares() -> None:
    measured = {
        "min_support": 6,
        "max_confidence": 0.25,
        "max_confidence_exact": "1/4",
        "sequences": 12,
        "new_one": 0.5,
    }
    claim = KclPrivacy(k=5, c="0.5", l=2, sensitive={"diagnosis": ["HIV"]})
    numbers = Verdict(holds=True, claim=claim, counted="owners", measured=measured, reason="").numbers
    assert list(numbers) == ["min_support", "max_confidence", "sequences", "new_one"]
    assert (numbers["min_support"].unit, numbers["min_support"].promised) == ("count", "k")
    assert (numbers["max_confidence"].unit, numbers["max_confidence"].exact) == ("share", "1/4")
    assert (numbers["new_one"].unit, numbers["new_one"].text) == ("amount", "0.5")  # not declared: no percent
