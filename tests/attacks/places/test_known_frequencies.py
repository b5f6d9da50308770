"""The attack against a restatement of its definition and of scikit-mobility's, on planted and on random data."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.places.known_frequencies import KnownFrequencies
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Visits

ATTACK = KnownFrequencies
ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, **parameters):
    return ATTACK(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)


MEASURES = ["frequency", "probability", "proportion"]
NOW = {"measure": "frequency", "tolerance": 0.0}


def vector(places):
    """Frequency or probability per place, as floating-point numbers."""
    count = Counter(places)
    return {place: n / (len(places) if NOW["measure"] == "probability" else 1) for place, n in count.items()}


def known(places):
    """What can be known of a record: places with their value."""
    return sorted(vector(places).items())


def match(places, instance):
    have, off = vector(places), NOW["tolerance"]
    if not all(place in have for place, _ in instance):
        return False
    pairs = [(value, have[place]) for place, value in instance]
    if NOW["measure"] == "proportion":
        most, most_found = max(value for value, _ in pairs), max(found for _, found in pairs)
        pairs = [(value / most, found / most_found) for value, found in pairs]
    return all(found - found * off <= value <= found + found * off for value, found in pairs)


@pytest.mark.parametrize("measure", MEASURES)
@given(
    st.data(),
    st.integers(1, 4),
    st.sampled_from(["random", "worst"]),
    st.sampled_from(["trajectory", "person"]),
    st.sampled_from(["0", "0.1", "1/3", "0.5", "1"]),
)
@settings(deadline=None, max_examples=100)
def test_equals_the_definition_on_small_data(
    assert_told, place_oracle, any_owners, measure, data, m, choice, record, tolerance
):
    NOW.update(measure=measure, tolerance=float(Fraction(tolerance)))
    truth = data.draw(any_owners(longest=8))
    target = truth if data.draw(st.booleans()) else data.draw(any_owners(places="abce", longest=8))
    result = attack(truth, target, m=m, measure=measure, tolerance=tolerance, choice=choice, record=record)
    assert_told(result, place_oracle(known, match, truth, target, m, choice, record, exactly=measure == "proportion"))


@pytest.mark.parametrize("measure", MEASURES)
@given(
    st.data(),
    st.integers(1, 4),
    st.sampled_from(["0", "0.2", "0.5", "1"]),
)
@settings(deadline=None, max_examples=60)
def test_worst_on_raw_data_is_the_definition_of_scikit_mobility(
    assert_told, place_oracle, place_data, measure, data, m, tolerance
):
    """All combinations of exactly m places, or of all where there are fewer; the largest of 1 / matching people."""
    people = data.draw(place_data("declared", places="abcd", longest=10, most=12))
    NOW.update(measure=measure, tolerance=float(Fraction(tolerance)))
    result = attack(people, people, m=m, measure=measure, tolerance=tolerance, choice="worst")
    assert_told(result, place_oracle(known, match, people, people, m, "worst", "trajectory", exactly=True))


def test_proportions_equal_the_definition_on_other_data(assert_told, place_oracle, random_visits):
    NOW.update(measure="proportion", tolerance=0.5)
    for seed in range(12):
        truth, target = (random_visits(6, 9, places=5, seed=2 * seed + i) for i in range(2))
        for choice in ("random", "worst"):
            result = attack(truth, target, m=3, measure="proportion", tolerance="1/2", choice=choice)
            assert_told(result, place_oracle(known, match, truth, target, 3, choice, "trajectory", exactly=True))


def test_places_that_fit_nobody_in_one_set_are_tried_again_in_the_next(assert_told, place_oracle, random_visits):
    NOW.update(measure="proportion", tolerance=0.3)
    for seed in (1, 11, 22):
        truth, target = (random_visits(8, 20, places=6, seed=2 * seed + i) for i in range(2))
        result = attack(truth, target, m=4, measure="proportion", tolerance="0.3", choice="worst")
        assert_told(result, place_oracle(known, match, truth, target, 4, "worst", "trajectory", exactly=True))


def test_what_is_known_of_how_often():
    data = Visits.from_records(
        [
            [("a", 1), ("a", 2), ("b", 3)],
            [("a", 1), ("a", 2), ("a", 3), ("a", 4), ("b", 5), ("b", 6)],
            [("a", 1), ("a", 2), ("b", 3), ("c", 4)],
        ]
    )
    first = data.take(np.array([0]))
    found = {
        measure: attack(first, data, m=2, measure=measure, choice="worst").measured["identity_max"]
        for measure in MEASURES
    }
    assert found == pytest.approx({"frequency": 1 / 2, "probability": 1 / 2, "proportion": 1 / 3})
    wide = attack(first, data, m=2, measure="frequency", tolerance="0.5", choice="worst")
    assert wide.measured["identity_max"] == pytest.approx(1 / 3)


def test_fewer_proportions_may_fit_fewer_people_so_exactly_m_are_known():
    data = Visits.from_records([[(p, t) for t, p in enumerate(places)] for places in ("abcc", "abbcc")])
    two, three = (
        attack(data.take(np.array([0])), data, m=m, measure="proportion", tolerance="1/2", choice="worst")
        for m in (2, 3)
    )
    assert two.measured["identity_max"] == 1  # a and b, once each, do not fit once and twice
    gone = attack(
        data.take(np.array([0])), data.take(np.array([1])), m=3, measure="proportion", tolerance="1/2", choice="worst"
    )
    assert gone.measured["identity_max"] == 1  # found by way of a and b, which fit nobody
    assert three.measured["identity_max"] == 0.5  # but both are half of c at most, and more than a quarter


def test_parameters_are_checked_and_the_adversary_is_told(random_visits):
    with pytest.raises(ParameterError, match="known_frequencies: m must be an integer >= 1 or 'all', got 0"):
        KnownFrequencies(m=0)
    with pytest.raises(ParameterError, match="measure must be one of frequency, probability, proportion"):
        KnownFrequencies(measure="count")
    with pytest.raises(ParameterError, match="tolerance must be"):
        KnownFrequencies(tolerance="1.5")
    data = random_visits(3, 3)
    assert attack(data, data, m=1).adversary == (
        "knows 1 different place of a trajectory of a person, drawn at random; how often the person was at each"
    )
    assert attack(data, data, measure="probability", tolerance="0.25", choice="worst", record="person").adversary == (
        "knows up to 3 different places of a person: those that are worst for the person; "
        "which share of all visits was at each, up to 0.25 of the value"
    )
