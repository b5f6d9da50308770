"""Known first and last visits against a restatement of the definition, on planted and on random visits."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.visits.first_last_visits import FirstLastVisits
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits

ENGINE = LocalEngine(workers=2)


def attack(truth, target=None, seed=1, engine=ENGINE, **parameters):
    target = truth if target is None else target
    rng = np.random.default_rng(seed)
    return FirstLastVisits(**parameters).run(truth, target, sensitive={}, rng=rng, engine=engine)


def person_of(data, i):
    return int(data.owner[i]) if data.owners == "given" else i


def near(known, visit, error):
    return known[0] == visit[0] and (error is None or abs(known[1] - visit[1]) <= error)


def oracle(truth, target, error):
    """Return for each person how many people fit each of the trips, and the risk."""
    found = {}
    same = truth.owners == target.owners == "given" and truth.owner.tolist() == target.owner.tolist()
    for i in range(len(truth)):
        trip = truth.record(i)
        if trip:
            fits = [
                person_of(target, j)
                for j in range(len(target))
                if (other := target.record(j)) and near(trip[0], other[0], error) and near(trip[-1], other[-1], error)
            ]
            own = fits.count(person_of(truth, i)) if same else 0
            risk = max(1 / len(set(fits)), own / len(fits)) if fits else 0.0
            found.setdefault(person_of(truth, i), []).append((len(set(fits)), risk))
    return found


@st.composite
def records(draw):
    at = sorted(draw(st.sets(st.integers(-2, 6), max_size=4)))
    return [(draw(st.sampled_from("abc")), t) for t in at]


@st.composite
def tables(draw):
    listed = draw(st.lists(records(), min_size=1, max_size=7))
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=len(listed), max_size=len(listed)))
    return Visits.from_records(listed, owner=owner)


def mean_risk(found):
    return np.mean([np.mean([risk for _, risk in trips]) for trips in found.values()])


def share(found, number):
    return np.mean([np.mean([n == number for n, _ in trips]) for trips in found.values()])


@given(tables(), tables() | st.none(), st.sampled_from(["exact", "any", "1", "3"]))
@settings(deadline=None, max_examples=150)
def test_equals_the_definition_on_small_data(truth, other, within):
    target = truth if other is None else other
    result = attack(truth, target, within=within, draws=9)
    error = {"exact": 0, "any": None}[within] if not within.isdigit() else int(within)
    found, timeless = oracle(truth, target, error), oracle(truth, target, None)
    assert (result.victims, result.sampled) == (len(found), False)
    if found:
        expected = {
            "identity_mean": mean_risk(found),
            "unique_share": share(found, 1),
            "unmatched_share": share(found, 0),
            "identity_mean_without_times": mean_risk(timeless),
            "unique_share_without_times": share(timeless, 1),
        }
        assert {name: result.measured[name] for name in expected} == pytest.approx(expected)


def test_only_the_ends_count():
    data = Visits.from_records(
        [[("a", 1), ("x", 2), ("b", 3)], [("a", 1), ("y", 2), ("b", 3)], [("a", 1), ("b", 4)], [("b", 1), ("a", 3)]]
    )
    result = attack(data)
    assert result.measured["identity_mean"] == pytest.approx((0.5 + 0.5 + 1 + 1) / 4)
    assert result.measured["identity_mean_without_times"] == pytest.approx((1 / 3 * 3 + 1) / 4)
    assert result.adversary == (
        "knows at which place a trip of a person began and at which it ended, and the exact times"
    )
    assert attack(data, within="1").measured["identity_mean"] == pytest.approx((1 / 3 * 3 + 1) / 4)
    assert attack(data, within="any").adversary.endswith("it ended")


def test_dates_are_known_to_15_minutes():
    data = Visits.from_records([[("a", 0)], [("a", 900)], [("a", 1801)]], time_format="epoch")
    result = attack(data)
    assert result.measured["mean_fitting_people"] == pytest.approx((2 + 2 + 1) / 3)
    assert result.adversary.endswith("and when to 15min")


def test_places_are_matched_by_name_and_people_counted_in_the_target():
    truth = Visits.from_records([[("a", 1)], [("b", 1)], [("q", 1)]])
    target = Visits.from_records([[("b", 1)], [("b", 1)], [("b", 1)], [("z", 1)]], owner=[0, 0, 1, 2])
    result = attack(truth, target)
    assert result.measured["identity_mean"] == pytest.approx(0.5 / 3)
    assert result.measured["unmatched_share"] == pytest.approx(2 / 3)
    hidden = attack(truth, replace(target, owners="hidden"))
    assert hidden.measured["identity_mean"] == pytest.approx(1 / 9)


@pytest.mark.parametrize("listed", [[], [[]], [[("a", 1)]], [[("a", 1)], []], [[("a", 1)]] * 3])
def test_small_data_give_an_answer(listed):
    people = sum(bool(record) for record in listed)
    data = Visits.from_records(listed)
    result = attack(data)
    assert result.victims == people
    assert result.measured["identity_mean"] == (1 / people if people else None)
    nothing = attack(data, data.where(np.zeros(data.n_rows, bool)))
    assert nothing.measured["unmatched_share"] == (1 if people else None)


def test_the_same_seed_gives_the_same_result_on_any_number_of_cores():
    rng = np.random.default_rng(5)
    data = Visits.from_records([[(str(rng.integers(4)), t) for t in range(3)] for _ in range(90)])
    one, two = (attack(data, engine=LocalEngine(workers=n), victims=40) for n in (1, 2))
    assert (one.measured, one.charts, one.victims, one.sampled) == (two.measured, two.charts, 40, True)
    assert attack(data, seed=2, victims=40).measured != one.measured


def test_bad_parameters_and_times_are_refused():
    for wrong in ({"within": "soon"}, {"draws": 0}, {"victims": 0}):
        with pytest.raises(ParameterError, match="first_last_visits"):
            FirstLastVisits(**wrong)
    data = Visits.from_records([[("a", 1)]])
    with pytest.raises(InputError, match="first_last_visits: the times that are known"):
        attack(data, replace(data, time_format="utc"))
    with pytest.raises(InputError, match="within must be one"):
        attack(data, within="15min")
