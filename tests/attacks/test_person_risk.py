"""Risk per person, and how often its confidence interval holds the truth."""

from fractions import Fraction

import numpy as np
import pytest

from wayveil.attacks.person_risk import PersonRisk, interval, mean_bounds
from wayveil.model.numbers import flatten


def risk(person, fitting, hit=None, drawn=None, population=None):
    person = np.array(person, int)
    people = person.max(initial=-1) + 1
    drawn = np.zeros(people, bool) if drawn is None else np.array(drawn)
    hit = None if hit is None else np.array(hit)
    return PersonRisk.of(person, np.array(fitting, int), hit, drawn, population=population or people)


def test_the_numbers():
    found = risk([0, 0, 1, 2], [1, 4, 0, 2], [True, False, False, True])
    assert found.identity.tolist() == [0.5, 0, 0.5]
    assert flatten(found.numbers(Fraction(1, 2))) == {
        "identity_mean": pytest.approx(1 / 3),
        "identity_mean_low": None,
        "identity_mean_high": None,
        "identity_max": 0.5,
        "identity_threshold": 0.5,
        "identity_share_above": 0,
        "unique_share": pytest.approx(1 / 6),
        "unique_share_low": None,
        "unique_share_high": None,
        "unmatched_share": pytest.approx(1 / 3),
    }
    assert found.numbers(Fraction(1, 3))["identity_share_above"].value == pytest.approx(2 / 3)
    assert not found.sampled
    believed = risk([0, 0, 1, 2], [1, 4, 0, 2])
    assert believed.identity.tolist() == [0.625, 0, 0.5]


def test_nobody():
    found = risk([], [])
    assert set(flatten(found.numbers(Fraction(1, 2))).values()) == {None, 0.5}
    assert set(found.chart().series[0].values) == {0}


def test_a_mean_of_equal_parts_is_not_above_them():
    found = risk([0] * 3, [10] * 3)
    assert found.numbers(Fraction(1, 10))["identity_share_above"].value == 0


def test_the_chart_has_bounds_in_the_lower_class():
    found = risk(range(8), [0, 60, 50, 20, 10, 5, 2, 1]).chart()
    assert dict(zip(found.labels, np.array(found.series[0].values) * 8, strict=True)) == {
        "0: not found": 1, "up to 1/50": 2, "1/50 to 1/20": 1, "1/20 to 1/10": 1, "1/10 to 1/5": 1, "1/5 to 1/2": 1,
        "1/2 to 1": 0, "1: found": 1,
    }  # fmt: skip
    assert risk([0, 0], [1, 2]).chart().series[0].values[6] == 1


def test_sampled_where_people_or_what_is_known_were_drawn():
    assert risk([0, 1], [1, 1], population=3).sampled
    assert risk([0, 1], [1, 1], drawn=[False, True]).sampled
    found = flatten(risk([0, 1], [1, 2], population=9).numbers(Fraction(1, 2)))
    assert 0 < found["identity_mean_low"] < 0.75 < found["identity_mean_high"] < 1
    assert 0 < found["unique_share_low"] < 0.5 < found["unique_share_high"] < 1


def covers(people, population, draws, trials=400):
    """Return how often the interval holds the mean of a population, and its mean width."""
    rng = np.random.default_rng(3)
    truth = rng.beta(0.4, 0.4, population)
    hits, widths = 0, 0.0
    for _ in range(trials):
        chosen = rng.choice(population, people, replace=False)
        person = np.repeat(np.arange(people), draws)
        values = (rng.random(people * draws) < truth[chosen][person]).astype(float)
        low, high = interval(values, person, np.ones(people, bool), population)
        hits += low <= truth.mean() <= high
        widths += (high - low) / trials
    return hits / trials, widths


@pytest.mark.parametrize(("people", "population", "draws"), [(60, 1000, 4), (60, 80, 4), (60, 60, 4), (60, 1000, 1)])
def test_the_interval_holds_the_truth_as_often_as_it_says(people, population, draws):
    assert 0.92 <= covers(people, population, draws)[0] <= 0.98


def test_the_interval_is_narrower_where_all_are_attacked_and_where_more_is_drawn():
    some, nearly_all, everybody, once = (covers(60, *rest, 50)[1] for rest in ((1000, 4), (80, 4), (60, 4), (1000, 1)))
    assert everybody < nearly_all < some < once


def test_the_interval_has_a_width_where_all_values_are_equal():
    for value in (0.0, 0.04, 1.0):
        low, high = interval(np.full(40, value), np.arange(40), np.zeros(40, bool), 100)
        assert 0 <= low <= value <= high <= 1
        assert high - low > 0.05
    low, high = interval(np.ones(1), np.zeros(1, int), np.zeros(1, bool), 100)
    assert (low, high) == (pytest.approx(0.2065, abs=1e-3), 1)


def test_bounds_of_a_mean_are_told_only_where_something_was_drawn() -> None:
    values, owner = np.array([0.0, 1.0, 1.0, 1.0]), np.array([7, 7, 9, 9])
    assert mean_bounds(values, owner, 50, sampled=False) == (None, None)
    assert mean_bounds(np.zeros(0), None, 5, sampled=True) == (None, None)
    found = mean_bounds(values, owner, 50, sampled=True)
    low, high = interval(values, np.array([0, 0, 1, 1]), np.ones(2, bool), 50)
    assert found == (low, high)
    assert low < 0.75 < high
