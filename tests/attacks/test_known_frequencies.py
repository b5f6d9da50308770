"""The attack against a restatement of its definition and of scikit-mobility's, on planted and on random data."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks import place_search
from wayveil.attacks.known_frequencies import KnownFrequencies
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Visits

ATTACK = KnownFrequencies
ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, **parameters):
    return ATTACK(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)


@st.composite
def data_sets(draw, owners, places="abcd", longest=5, most=6):
    """Visits to few places, of given, assumed or withheld owners."""
    visits = st.dictionaries(st.integers(0, 9), st.sampled_from(places), max_size=longest)
    records = [sorted(record.items()) for record in draw(st.lists(visits, min_size=1, max_size=most))]
    n = len(records)
    owner = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) if owners == "given" else None
    data = Visits.from_records([[(place, t) for t, place in record] for record in records], owner=owner)
    return replace(data, owners="hidden") if owners == "hidden" else data


def any_owners(**limits):
    return st.sampled_from(["given", "assumed", "hidden"]).flatmap(lambda owners: data_sets(owners, **limits))


def plain(data, record):
    """Return (person, places in order of time) per record: a trajectory, or all that a person did."""
    given = data.owners == "given"
    people = data.owner.tolist() if given else list(range(len(data)))
    rows = [(people[i], data.record(i)) for i in range(len(data)) if data.record(i)]
    if record == "person" and given:
        together = {}
        for person, visits in rows:
            together.setdefault(person, []).extend(visits)
        rows = [(person, sorted(visits, key=lambda visit: visit[1])) for person, visits in together.items()]
    return [(person, [place for place, _ in visits]) for person, visits in rows]


def oracle(truth, target, m, choice, record, *, exactly=False):
    """Return (risk, unmatched, unique) per person, from the definition."""
    rows, attacked = plain(truth, record), plain(target, record)
    found = []
    for person in sorted({person for person, _ in rows}):
        mine = [known(places) for who, places in rows if who == person]
        tried = []
        for record_of in mine:
            top = min(m, len(record_of))
            for size in range(1, top + 1) if choice == "worst" and not exactly else [top]:
                for instance in combinations(record_of, size):
                    owners = len({who for who, places in attacked if match(places, instance)})
                    tried.append((1 / (len(mine) * comb(len(record_of), size)), owners))
        if choice == "worst":
            risk = max(1 / owners if owners else 0.0 for _, owners in tried)
            found.append((risk, risk == 0, risk == 1))
        else:
            ways = ([1 / o if o else 0.0 for _, o in tried], [o == 0 for _, o in tried], [o == 1 for _, o in tried])
            found.append(tuple(sum(w * x for (w, _), x in zip(tried, way, strict=True)) for way in ways))
    return found


def assert_told(result, people):
    assert (result.victims, result.sampled) == (len(people), False)
    assert (result.measured["identity_mean_low"], result.measured["identity_mean_high"]) == (None, None)
    if not people:
        assert result.measured["identity_mean"] is result.measured["identity_max"] is None
        return
    risk, unmatched, unique = (np.array(column, float) for column in zip(*people, strict=True))
    threshold = result.measured["identity_threshold"]
    expected = {
        "identity_mean": risk.mean(),
        "identity_max": risk.max(),
        "identity_share_above": (risk > threshold + 1e-9).mean(),
        "unmatched_share": unmatched.mean(),
        "unique_share": unique.mean(),
    }
    assert {name: result.measured[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert sum(result.charts[0].series[0].values) == pytest.approx(1)
    assert result.charts[0].series[0].values[0] == pytest.approx((risk == 0).mean())
    assert result.charts[0].series[0].values[-1] == pytest.approx((risk > 1 - 1e-9).mean())


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
def test_equals_the_definition_on_small_data(measure, data, m, choice, record, tolerance):
    NOW.update(measure=measure, tolerance=float(Fraction(tolerance)))
    truth = data.draw(any_owners(longest=8))
    target = truth if data.draw(st.booleans()) else data.draw(any_owners(places="abce", longest=8))
    result = attack(truth, target, m=m, measure=measure, tolerance=tolerance, choice=choice, record=record)
    assert_told(result, oracle(truth, target, m, choice, record, exactly=measure == "proportion"))


@pytest.mark.parametrize("measure", MEASURES)
@given(
    data_sets("assumed", places="abcd", longest=10, most=12),
    st.integers(1, 4),
    st.sampled_from(["0", "0.2", "0.5", "1"]),
)
@settings(deadline=None, max_examples=60)
def test_worst_on_raw_data_is_the_definition_of_scikit_mobility(measure, data, m, tolerance):
    """All combinations of exactly m places, or of all where there are fewer; the largest of 1 / matching people."""
    NOW.update(measure=measure, tolerance=float(Fraction(tolerance)))
    result = attack(data, data, m=m, measure=measure, tolerance=tolerance, choice="worst")
    assert_told(result, oracle(data, data, m, "worst", "trajectory", exactly=True))


GOLDEN = json.loads((Path(__file__).parents[1] / "golden/known_locations/scikit_mobility.json").read_text())


def toy():
    return Visits.from_records([[(place, t) for t, place in enumerate(places)] for places in GOLDEN["people"].values()])


@pytest.mark.parametrize("case", [case for case in GOLDEN["risks"] if case["attack"] == ATTACK.name])
def test_risks_that_scikit_mobility_prints(case):
    parameters = {name: value for name, value in case.items() if name not in ("attack", "risk")}
    people = toy()
    for i, risk in enumerate(case["risk"]):
        one = people.take(np.array([i]))
        result = attack(one, people, choice="worst", **parameters)
        assert result.measured["identity_max"] == pytest.approx(float(Fraction(risk)))


def random_data(n, length, places=6, seed=3):
    rng = np.random.default_rng(seed)
    return Visits.from_records(
        [[(chr(97 + i), t) for t, i in enumerate(rng.integers(places, size=length))] for _ in range(n)]
    )


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_nobody_to_attack_and_nothing_to_find(choice):
    nobody, somebody = Visits.from_records([[], []]), random_data(3, 4)
    for truth in (nobody, Visits.from_records([])):
        result = attack(truth, somebody, choice=choice)
        assert (result.victims, result.measured["identity_mean"], result.measured["unique_share"]) == (0, None, None)
    for target in (nobody, Visits.from_records([])):
        result = attack(somebody, target, choice=choice)
        assert (result.measured["identity_max"], result.measured["unmatched_share"]) == (0, 1)


def test_places_are_matched_by_name():
    truth = Visits.from_records([[("a", 1), ("z", 2)]])
    target = Visits.from_records([[("m", 1)], [("a", 8), ("m", 9), ("z", 10)], [("z", 3)]])
    result = attack(truth, replace(target, owners="hidden"), m=2, choice="worst")
    assert result.measured["identity_max"] == 1
    unknown = attack(Visits.from_records([[("q", 1)], [("b", 1)]]), target, m=1)
    assert unknown.measured["unmatched_share"] == 1


def test_trips_of_one_person_hide_nobody():
    data = Visits.from_records([[("a", 1)]] * 5, owner=[7, 7, 7, 7, 7])
    for choice in ("random", "worst"):
        assert attack(data, data, choice=choice).measured["identity_mean"] == 1
    hidden = replace(data, owners="hidden", owner=np.arange(5))
    assert attack(data, hidden, m=1).measured["identity_mean"] == pytest.approx(0.2)


def test_proportions_equal_the_definition_on_other_data():
    NOW.update(measure="proportion", tolerance=0.5)
    for seed in range(12):
        truth, target = (random_data(6, 9, places=5, seed=2 * seed + i) for i in range(2))
        for choice in ("random", "worst"):
            result = attack(truth, target, m=3, measure="proportion", tolerance="1/2", choice=choice)
            assert_told(result, oracle(truth, target, 3, choice, "trajectory", exactly=True))


def test_places_that_fit_nobody_in_one_set_are_tried_again_in_the_next():
    NOW.update(measure="proportion", tolerance=0.3)
    for seed in (1, 11, 22):
        truth, target = (random_data(8, 20, places=6, seed=2 * seed + i) for i in range(2))
        result = attack(truth, target, m=4, measure="proportion", tolerance="0.3", choice="worst")
        assert_told(result, oracle(truth, target, 4, "worst", "trajectory", exactly=True))


def test_people_count_once_however_many_of_their_trips_fit():
    trip = [("a", 1), ("b", 2), ("c", 3)]
    data = Visits.from_records([trip, trip, [("a", 1)], [("b", 1)], [("c", 1)]], owner=[0, 0, 1, 1, 1])
    for m in (2, 3):
        for choice in ("random", "worst"):
            assert attack(data.take(np.array([0])), data, m=m, choice=choice).measured["identity_mean"] == 1
    three = Visits.from_records([trip, trip, trip, [("a", 1), ("b", 2)], [("b", 1), ("c", 2)], [("a", 1), ("c", 2)]])
    owned = replace(three, owner=np.array([0, 0, 1, 2, 2, 2]), owners="given")
    assert attack(owned, owned, m=3, choice="worst").measured["identity_mean"] == pytest.approx(
        (1 / 2 + 1 / 2 + 1 / 3) / 3
    )


def test_people_are_sampled_where_there_are_more():
    data = random_data(400, 5)
    for choice in ("random", "worst"):
        exact = attack(data, data, m=2, choice=choice).measured["identity_mean"]
        drawn = attack(data, data, m=2, choice=choice, victims=100)
        assert (drawn.victims, drawn.sampled) == (100, True)
        low, high = drawn.measured["identity_mean_low"], drawn.measured["identity_mean_high"]
        assert low <= drawn.measured["identity_mean"] <= high
        assert low - 0.02 <= exact <= high + 0.02
        assert high - low < 0.2


def test_what_is_known_is_drawn_where_there_is_too_much():
    data = random_data(20, 60, places=26)
    drawn = attack(data, data, m=8)
    assert drawn.sampled
    assert drawn.measured["identity_mean_low"] is not None
    assert drawn.measured["exact_share"] is None


def test_same_seed_same_result_on_one_core_or_more_and_another_seed_another():
    data = random_data(300, 6)
    for choice in ("random", "worst"):
        one = ATTACK(m=2, victims=50, choice=choice)
        results = [
            one.run(data, data, sensitive={}, rng=np.random.default_rng(seed), engine=LocalEngine(workers=workers))
            for seed, workers in ((5, 1), (5, 3), (6, 1))
        ]
        assert results[0] == results[1]
        assert results[0] != results[2]


def test_small_tasks_change_nothing(monkeypatch):
    data = random_data(25, 6)
    whole = [attack(data, data, m=3, choice=choice) for choice in ("random", "worst")]
    monkeypatch.setattr(place_search, "_SETS_PER_TASK", 7)
    monkeypatch.setattr(place_search, "_TASKS", 3)
    monkeypatch.setattr(place_search, "_ROUNDS", (0.3, 1.0))
    assert [attack(data, data, m=3, choice=choice) for choice in ("random", "worst")] == whole


def test_a_search_that_is_cut_says_so(monkeypatch):
    data = random_data(60, 8, places=4)
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
def test_where_everybody_has_k_equals_the_risk_stays_at_one_over_k(k, record):
    records = [[("a", 1), ("b", 2), ("a", 5)], [("a", 1), ("d", 4), ("e", 9), ("f", 11)]]
    data = Visits.from_records([r for r in records for _ in range(k)])
    for choice in ("random", "worst"):
        result = attack(data, data, m=3, choice=choice, record=record, threshold=f"1/{k}")
        assert result.measured["identity_max"] <= 1 / k
        assert result.measured["identity_share_above"] == 0


def test_very_many_known_visits_and_long_records():
    data = random_data(12, 60, places=10)
    for choice in ("random", "worst"):
        every, most = (attack(data, data, m=m, choice=choice) for m in ("all", 10**30))
        assert every.measured == most.measured
        assert every.measured["identity_mean"] == 1


def test_the_input_is_left_as_it_was():
    data = random_data(10, 5)
    before = [data.t.tobytes(), data.location.tobytes(), data.offsets.tobytes()]
    attack(data, data, choice="worst", record="person")
    assert [data.t.tobytes(), data.location.tobytes(), data.offsets.tobytes()] == before


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


def test_parameters_are_checked_and_the_adversary_is_told():
    with pytest.raises(ParameterError, match="known_frequencies: m must be an integer >= 1 or 'all', got 0"):
        KnownFrequencies(m=0)
    with pytest.raises(ParameterError, match="measure must be one of frequency, probability, proportion"):
        KnownFrequencies(measure="count")
    with pytest.raises(ParameterError, match="tolerance must be"):
        KnownFrequencies(tolerance="1.5")
    data = random_data(3, 3)
    assert attack(data, data, m=1).adversary == (
        "knows 1 different place of a trajectory of a person, drawn at random; how often the person was at each"
    )
    assert attack(data, data, measure="probability", tolerance="0.25", choice="worst", record="person").adversary == (
        "knows up to 3 different places of a person: those that are worst for the person; "
        "which share of all visits was at each, up to 0.25 of the value"
    )
