"""Normal form of ids and values."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayveil.model.normal import normal_text, similar_key


@given(st.text(max_size=8))
def test_the_normal_form_is_what_it_says_and_stays_as_it_is(text):
    normal = normal_text(text)
    assert normal_text(normal) == normal
    assert unicodedata.is_normalized("NFC", normal)
    assert normal == normal.strip()
    assert all(unicodedata.category(letter) != "Cf" for letter in normal)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("u1 ", "u1"),
        ("\ufeffu1", "u1"),
        ("u\u00ad1", "u1"),
        ("\u200d \u200bu1\u00a0", "u1"),
        ("e\u0301", "\u00e9"),
        ("e\u200b\u0301", "\u00e9"),
        ("\u212b", "\u00c5"),
        ("-0", "0"),
        ("-0.00", "0.00"),
        (" ", ""),
    ],
)
def test_spellings_of_one_value_have_one_form(written, normal):
    assert normal_text(written) == normal


@pytest.mark.parametrize("text", ["U1", "007", "a  b", "-1", "-0.5", "\ufb01", "\u0645\u06cc", "0"])
def test_what_may_mean_something_stays(text):
    assert normal_text(text) == text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("u1", "U1"),
        ("HIV", "hiv"),
        ("u 1", "u1"),
        ("1", "01"),
        ("1", "1.0"),
        ("01.50", "1.5"),
        ("+1", "1"),
        ("0", "0.0"),
        ("00", "0"),
        ("007a", "7A"),
        ("\uff28IV", "hiv"),
        ("stra\u00dfe", "STRASSE"),
        ("\ufb01", "fi"),
        ("a\tb", "A b"),
    ],
)
def test_near_duplicates_have_one_key(one, other):
    assert similar_key(one) == similar_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("u1", "u2"), ("1", "10"), ("1", "-1"), ("1.5", "15"), ("1", "1.01"), ("u1", "u01"), ("1e1", "10"), ("a", "b")],
)
def test_different_values_have_different_keys(one, other):
    assert similar_key(one) != similar_key(other)
