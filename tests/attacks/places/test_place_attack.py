"""What attacks by known places, their order and their frequencies have in common, on planted and on random data."""

import json
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from wayveil.attacks.places import record_search as place_search
from wayveil.attacks.places.known_frequencies import KnownFrequencies
from wayveil.attacks.places.known_locations import KnownLocations
from wayveil.attacks.places.known_order import KnownOrder
from wayveil.engines import LocalEngine
from wayveil.model import Visits

ATTACKS = (KnownFrequencies, KnownLocations, KnownOrder)
ENGINE = LocalEngine(workers=2)
GOLDEN = json.loads((Path(__file__).parents[2] / "golden/known_locations/scikit_mobility.json").read_text())


def run(cls, truth, target, seed=1, **parameters):
    return cls(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)


@pytest.fixture(params=ATTACKS, ids=lambda cls: cls.name)
def cls(request):
    return request.param


@pytest.fixture
def attack(cls):
    return partial(run, cls)


def toy():
    return Visits.from_records([[(place, t) for t, place in enumerate(places)] for places in GOLDEN["people"].values()])


CASES = [(cls, case) for cls in ATTACKS for case in GOLDEN["risks"] if case["attack"] == cls.name]


def test_every_attack_has_risks_that_scikit_mobility_prints():
    assert {cls for cls, _ in CASES} == set(ATTACKS)


@pytest.mark.parametrize(("cls", "case"), CASES)
def test_risks_that_scikit_mobility_prints(cls, case):
    parameters = {name: value for name, value in case.items() if name not in ("attack", "risk")}
    people = toy()
    for i, risk in enumerate(case["risk"]):
        one = people.take(np.array([i]))
        result = run(cls, one, people, choice="worst", **parameters)
        assert result.measured["identity_max"] == pytest.approx(float(Fraction(risk)))


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_nobody_to_attack_and_nothing_to_find(attack, random_visits, choice):
    nobody, somebody = Visits.from_records([[], []]), random_visits(3, 4)
    for truth in (nobody, Visits.from_records([])):
        result = attack(truth, somebody, choice=choice)
        assert (result.victims, result.measured["identity_mean"], result.measured["unique_share"]) == (0, None, None)
    for target in (nobody, Visits.from_records([])):
        result = attack(somebody, target, choice=choice)
        assert (result.measured["identity_max"], result.measured["unmatched_share"]) == (0, 1)


def test_places_are_matched_by_name(attack):
    truth = Visits.from_records([[("a", 1), ("z", 2)]])
    target = Visits.from_records([[("m", 1)], [("a", 8), ("m", 9), ("z", 10)], [("z", 3)]])
    result = attack(truth, replace(target, owners="hidden"), m=2, choice="worst")
    assert result.measured["identity_max"] == 1
    unknown = attack(Visits.from_records([[("q", 1)], [("b", 1)]]), target, m=1)
    assert unknown.measured["unmatched_share"] == 1


def test_trips_of_one_person_hide_nobody(attack):
    data = Visits.from_records([[("a", 1)]] * 5, owner=[7, 7, 7, 7, 7])
    for choice in ("random", "worst"):
        assert attack(data, data, choice=choice).measured["identity_mean"] == 1
    hidden = replace(data, owners="hidden", owner=np.arange(5))
    assert attack(data, hidden, m=1).measured["identity_mean"] == pytest.approx(0.2)


def test_people_count_once_however_many_of_their_trips_fit(attack):
    trip = [("a", 1), ("b", 2), ("c", 3)]
    data = Visits.from_records([trip, trip, [("a", 1)], [("b", 1)], [("c", 1)]], owner=[0, 0, 1, 1, 1])
    for m in (2, 3):
        for choice in ("random", "worst"):
            assert attack(data.take(np.array([0])), data, m=m, choice=choice).measured["identity_mean"] == 1
    three = Visits.from_records([trip, trip, trip, [("a", 1), ("b", 2)], [("b", 1), ("c", 2)], [("a", 1), ("c", 2)]])
    owned = replace(three, owner=np.array([0, 0, 1, 2, 2, 2]), owners="given")
    assert attack(owned, owned, m=3, choice="worst").measured["identity_mean"] == pytest.approx(
        # Two of the three trips that fit all places are of person 0, two of the five with one place of person 2.
        (2 / 3 + 1 / 2 + 2 / 5) / 3
    )


def test_people_are_sampled_where_there_are_more(attack, random_visits):
    data = random_visits(400, 5)
    for choice in ("random", "worst"):
        exact = attack(data, data, m=2, choice=choice).measured["identity_mean"]
        drawn = attack(data, data, m=2, choice=choice, victims=100)
        assert (drawn.victims, drawn.sampled) == (100, True)
        low, high = drawn.measured["identity_mean_low"], drawn.measured["identity_mean_high"]
        assert low <= drawn.measured["identity_mean"] <= high
        assert low - 0.02 <= exact <= high + 0.02
        assert high - low < 0.2


def test_what_is_known_is_drawn_where_there_is_too_much(attack, random_visits):
    data = random_visits(20, 60, places=26)
    drawn = attack(data, data, m=8)
    assert drawn.sampled
    assert drawn.measured["identity_mean_low"] is not None
    assert drawn.measured["exact_share"] is None


def test_same_seed_same_result_on_one_core_or_more_and_another_seed_another(cls, random_visits):
    data = random_visits(300, 6)
    for choice in ("random", "worst"):
        one = cls(m=2, victims=50, choice=choice)
        results = [
            one.run(data, data, sensitive={}, rng=np.random.default_rng(seed), engine=LocalEngine(workers=workers))
            for seed, workers in ((5, 1), (5, 3), (6, 1))
        ]
        assert results[0] == results[1]
        assert results[0] != results[2]


def test_small_tasks_change_nothing(attack, random_visits, monkeypatch):
    data = random_visits(25, 6)
    whole = [attack(data, data, m=3, choice=choice) for choice in ("random", "worst")]
    monkeypatch.setattr(place_search, "_SETS_PER_TASK", 7)
    monkeypatch.setattr(place_search, "_TASKS", 3)
    monkeypatch.setattr(place_search, "_ROUNDS", (0.3, 1.0))
    assert [attack(data, data, m=3, choice=choice) for choice in ("random", "worst")] == whole


def test_a_search_that_is_cut_says_so(attack, random_visits, monkeypatch):
    data = random_visits(60, 8, places=4)
    whole = attack(data, data, m=4, choice="worst")
    assert (whole.sampled, whole.measured["exact_share"]) == (False, 1)
    monkeypatch.setattr(place_search, "_STEPS", 1)
    monkeypatch.setattr(place_search, "_LEAST_STEPS", 1)
    cut = attack(data, data, m=4, choice="worst")
    assert cut.sampled
    assert cut.measured["exact_share"] < 1
    assert cut.measured["identity_mean"] <= whole.measured["identity_mean"]
    assert attack(data, data, m=2, choice="worst").measured["exact_share"] == 1


@pytest.mark.parametrize("record", ["trajectory", "person"])
@pytest.mark.parametrize("k", [2, 7, 10])
def test_where_everybody_has_k_equals_the_risk_stays_at_one_over_k(attack, k, record):
    records = [[("a", 1), ("b", 2), ("a", 5)], [("a", 1), ("d", 4), ("e", 9), ("f", 11)]]
    data = Visits.from_records([r for r in records for _ in range(k)])
    for choice in ("random", "worst"):
        result = attack(data, data, m=3, choice=choice, record=record, threshold=f"1/{k}")
        assert result.measured["identity_max"] <= 1 / k
        assert result.measured["identity_share_above"] == 0


def test_very_many_known_visits_and_long_records(attack, random_visits):
    data = random_visits(12, 60, places=10)
    for choice in ("random", "worst"):
        every, most = (attack(data, data, m=m, choice=choice) for m in ("all", 10**15))
        assert every.measured == most.measured
        assert every.measured["identity_mean"] == 1


def test_the_input_is_left_as_it_was(attack, random_visits):
    data = random_visits(10, 5)
    before = [data.t.tobytes(), data.location.tobytes(), data.offsets.tobytes()]
    attack(data, data, choice="worst", record="person")
    assert [data.t.tobytes(), data.location.tobytes(), data.offsets.tobytes()] == before
