"""The attack against a restatement of its definition and of scikit-mobility's, on planted and on random data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.places.known_order import KnownOrder
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Visits

ATTACK = KnownOrder
ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, **parameters):
    return ATTACK(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)


def known(places):
    """What can be known of a record: visits, in order."""
    return places


def match(places, instance):
    rest = iter(places)
    return all(place in rest for place in instance)


@given(st.data(), st.integers(1, 4), st.sampled_from(["random", "worst"]), st.sampled_from(["trajectory", "person"]))
@settings(deadline=None, max_examples=200)
def test_equals_the_definition_on_small_data(assert_told, place_oracle, any_owners, data, m, choice, record):
    truth = data.draw(any_owners())
    target = truth if data.draw(st.booleans()) else data.draw(any_owners(places="abce"))
    result = attack(truth, target, m=m, choice=choice, record=record)
    assert_told(result, place_oracle(known, match, truth, target, m, choice, record))


@given(st.data(), st.integers(1, 5))
@settings(deadline=None, max_examples=80)
def test_worst_on_raw_data_is_the_definition_of_scikit_mobility(assert_told, place_oracle, place_data, data, m):
    """All combinations of exactly m records, or of all where there are fewer; the largest of 1 / matching people."""
    people = data.draw(place_data("declared", places="abcde", longest=9, most=12))
    result = attack(people, people, m=m, choice="worst")
    assert_told(result, place_oracle(known, match, people, people, m, "worst", "trajectory", exactly=True))


def test_the_order_tells_people_apart_and_visits_between_do_not_matter():
    data = Visits.from_records([[("a", 1), ("b", 2)], [("b", 1), ("a", 2)], [("a", 1), ("c", 2), ("b", 3)]])
    result = attack(data.take(np.array([0])), data, m=2, choice="worst")
    assert result.measured["identity_max"] == 0.5
    assert attack(data.take(np.array([1])), data, m=2).measured["identity_max"] == 1


def test_visits_of_a_person_are_in_the_order_of_time_whichever_trajectory_they_are_in():
    data = Visits.from_records([[("a", 1), ("c", 5)], [("b", 3)], [("a", 1), ("c", 2), ("b", 3)]], owner=[0, 0, 1])
    one = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)]])
    assert attack(one, data, m=3, record="person").measured["identity_mean"] == 1
    assert attack(one, data, m=3, record="trajectory").measured["unmatched_share"] == 1


def test_parameters_are_checked_and_the_adversary_is_told(random_visits):
    with pytest.raises(ParameterError, match="known_order: m must be an integer >= 1 or 'all', got 0"):
        KnownOrder(m=0)
    data = random_visits(3, 3)
    assert attack(data, data).adversary == (
        "knows 3 visits (the places in order) of a trajectory of a person, drawn at random"
    )
    assert attack(data, data, m="all", choice="worst", record="person").adversary == (
        "knows any visits (the places in order) of a person: those that are worst for the person"
    )
