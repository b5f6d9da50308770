"""The attack against a restatement of its definition, and where scikit-mobility departs from it."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.places.home_work import HomeWork
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Visits

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/known_locations/scikit_mobility.json").read_text())


def attack(truth, target, **parameters):
    rng = np.random.default_rng(1)
    return HomeWork(**parameters).run(truth, target, sensitive={}, rng=rng, engine=LocalEngine(workers=2))


def risks(people, *, most):
    """Restate scikit-mobility: two places by frequency, ties by coordinates, must be among the two of another."""

    def two(places):
        count = Counter(places)
        return set(sorted(count, key=lambda place: (-count[place] if most else count[place], place))[:2])

    mine = [two(places) for places in people]
    return [1 / sum(known <= other for other in mine) for known in mine]


def visits(people):
    return Visits.from_records([[(place, t) for t, place in enumerate(places)] for places in people])


@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=8), min_size=1, max_size=10))
@settings(deadline=None, max_examples=150)
def test_equals_the_definition_on_small_data(people):
    data = visits(people)
    expected = np.array(risks(people, most=True))
    result = attack(data, data)
    assert (result.victims, result.sampled) == (len(people), False)
    assert result.measured["identity_mean"] == pytest.approx(expected.mean())
    assert result.measured["identity_max"] == pytest.approx(expected.max())
    assert result.measured["unique_share"] == pytest.approx((expected == 1).mean())
    assert result.measured["unmatched_share"] == 0


def test_what_scikit_mobility_prints_is_of_the_two_places_visited_least():
    order = {place: f"{i} {place}" for i, place in enumerate(GOLDEN["latitude"])}
    people = [[order[place] for place in places] for places in GOLDEN["people"].values()]
    printed = next(case["risk"] for case in GOLDEN["risks"] if case["attack"] == "home_work")
    assert risks(people, most=False) == [float(Fraction(risk)) for risk in printed]
    expected = risks(people, most=True)
    assert risks(people, most=False) != expected
    data = visits(people)
    found = [attack(data.take(np.array([i])), data).measured["identity_mean"] for i in range(len(people))]
    assert found == pytest.approx(expected)


def test_all_trajectories_of_a_person_count_and_withheld_owners_are_trajectories():
    trips = [[("home", 1), ("work", 2)], [("home", 1), ("shop", 2)], [("work", 1), ("home", 2)], [("shop", 1)]]
    data = Visits.from_records(trips, owner=[0, 0, 0, 1])
    assert attack(data, data).measured["identity_mean"] == 1
    published = Visits.from_records(trips)
    assert attack(data.take(np.array([0, 1, 2])), published).measured["identity_mean"] == 0.5


def test_a_person_with_one_place():
    data = visits(["a", "ab", "bc"])
    assert attack(data.take(np.array([0])), data).measured["identity_mean"] == 0.5


def test_parameters_are_checked_and_the_adversary_is_told():
    with pytest.raises(ParameterError, match="home_work: victims must be an integer >= 1, got 0"):
        HomeWork(victims=0)
    data = visits(["ab"] * 10 + ["cd"] * 5)
    result = attack(data, data)
    assert result.adversary == "knows the two places that a person visits most"
    assert (result.measured["identity_threshold"], result.measured["identity_share_above"]) == (
        0.1,
        pytest.approx(1 / 3),
    )
    assert attack(data, data, threshold="0.2").measured["identity_share_above"] == 0
    assert attack(data, data, victims=4).victims == 4
