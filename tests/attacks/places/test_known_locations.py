"""The attack against a restatement of its definition and of scikit-mobility's, on planted and on random data."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.places.known_locations import KnownLocations
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Visits

ATTACK = KnownLocations
ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, **parameters):
    return ATTACK(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)


def known(places):
    """What can be known of a record: visits, or places."""
    return sorted(set(places)) if COUNTS[0] == "no" else places


def match(places, instance):
    have = Counter(places)
    return all(have[place] >= (n if COUNTS[0] == "yes" else 1) for place, n in Counter(instance).items())


COUNTS = ["yes"]


@pytest.mark.parametrize("counts", ["yes", "no"])
@given(st.data(), st.integers(1, 4), st.sampled_from(["random", "worst"]), st.sampled_from(["trajectory", "person"]))
@settings(deadline=None, max_examples=120)
def test_equals_the_definition_on_small_data(assert_told, place_oracle, any_owners, counts, data, m, choice, record):
    COUNTS[0] = counts
    truth = data.draw(any_owners())
    target = truth if data.draw(st.booleans()) else data.draw(any_owners(places="abce"))
    result = attack(truth, target, m=m, counts=counts, choice=choice, record=record)
    assert_told(result, place_oracle(known, match, truth, target, m, choice, record))


@pytest.mark.parametrize("counts", ["yes", "no"])
@given(st.data(), st.integers(1, 5))
@settings(deadline=None, max_examples=60)
def test_worst_on_raw_data_is_the_definition_of_scikit_mobility(assert_told, place_oracle, place_data, counts, data, m):
    """All combinations of exactly m records, or of all where there are fewer; the largest of 1 / matching people."""
    people = data.draw(place_data("declared", places="abcdefg", longest=9, most=12))
    COUNTS[0] = counts
    assert_told(
        attack(people, people, m=m, counts=counts, choice="worst"),
        place_oracle(known, match, people, people, m, "worst", "trajectory", exactly=True),
    )


def dense_data(seed, n=16, places=8):
    """Nearly everybody was nearly everywhere, some twice: little singles out, and a search must go deep."""
    rng = np.random.default_rng(seed)
    times = rng.choice([0, 1, 2], p=[0.15, 0.65, 0.2], size=(n, places))
    visited = [[chr(97 + i) for i, k in enumerate(row) for _ in range(k)] for row in times]
    return Visits.from_records([[(place, t) for t, place in enumerate(row)] for row in visited])


@pytest.mark.parametrize("counts", ["yes", "no"])
def test_equals_the_definition_on_dense_data(assert_told, place_oracle, counts):
    COUNTS[0] = counts
    for seed in range(6):
        data = dense_data(seed)
        for m, choice in ((4, "worst"), (3, "worst"), (2, "random")):
            result = attack(data, data, m=m, counts=counts, choice=choice)
            assert_told(result, place_oracle(known, match, data, data, m, choice, "trajectory", exactly=True))


def test_a_set_that_loses_more_with_every_place_is_not_given_up_early(assert_told, place_oracle):
    COUNTS[0] = "no"
    there = np.random.default_rng(0).random((16, 8)) < 0.85
    data = Visits.from_records([[(chr(97 + i), t) for t, i in enumerate(np.flatnonzero(row))] for row in there])
    result = attack(data, data, m=4, counts="no", choice="worst")
    assert_told(result, place_oracle(known, match, data, data, 4, "worst", "trajectory", exactly=True))


def test_a_place_known_twice_must_have_been_visited_twice():
    data = Visits.from_records([[("a", 1), ("a", 2)], [("a", 1), ("b", 2)], [("a", 3), ("b", 4)]])
    twice = attack(data, data, m=2, counts="yes", choice="worst")
    once = attack(data, data, m=2, counts="no", choice="worst")
    assert twice.measured["identity_max"] == 1
    assert once.measured["identity_max"] == 0.5
    assert attack(data, data, m=1, choice="worst").measured["identity_max"] == 0.5


def test_a_place_known_twice_takes_two_of_the_known_visits():
    data = Visits.from_records([[(p, t) for t, p in enumerate(places)] for places in ("abb", "bb", "ab")])
    one = data.take(np.array([0]))
    assert attack(one, data, m=2, choice="worst").measured["identity_max"] == 0.5
    assert attack(one, data, m=3, choice="worst").measured["identity_max"] == 1


def test_what_is_known_of_a_person_lies_in_one_trajectory_or_in_all():
    data = Visits.from_records([[("a", 1)], [("b", 1)], [("a", 1)], [("b", 1)]], owner=[0, 0, 1, 2])
    inside, whole = (attack(data, data, m=2, choice="worst", record=r) for r in ("trajectory", "person"))
    assert inside.measured["identity_max"] == 0.5
    assert whole.measured["identity_max"] == 1


def test_parameters_are_checked_and_the_adversary_is_told(random_visits):
    with pytest.raises(ParameterError, match="known_locations: m must be an integer >= 1 or 'all', got 0"):
        KnownLocations(m=0)
    with pytest.raises(ParameterError, match="counts must be one of yes, no"):
        KnownLocations(counts="maybe")
    data = random_visits(3, 3)
    assert attack(data, data).adversary == (
        "knows 3 visits (the places only) of a trajectory of a person, drawn at random"
    )
    assert attack(data, data, m=1, counts="no", choice="worst", record="person").adversary == (
        "knows up to 1 different place of a person: those that are worst for the person"
    )
    assert attack(data, data, m="all", counts="no").adversary == (
        "knows all different places of a trajectory of a person"
    )
