"""Known ends of trips against a restatement of the definition, on planted and on random points and boxes."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.visits import known_trips as module
from wayveil.attacks.visits.first_last import FirstLast
from wayveil.attacks.visits.known_trips import KnownTrips, Span, around, people_fitting
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Boxes, Points

ENGINE = LocalEngine(workers=2)


def attack(truth, target=None, seed=1, engine=ENGINE, **parameters):
    target = truth if target is None else target
    return FirstLast(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


# The definition, in exact numbers: do the ends of a published trip come near the known ones?


def box_of(row):
    if len(row) == 3:
        t, x, y = row
        return t, t, x, x, y, y
    return row


def near(known, row, radius, error):
    t, x, y = (Fraction(value) for value in known)
    t_min, t_max, x_min, x_max, y_min, y_max = (Fraction(value) for value in box_of(row))
    dx, dy = max(x_min - x, x - x_max, 0), max(y_min - y, y - y_max, 0)
    in_time = error is None or (t_min <= t + error and t_max >= t - error)
    return in_time and dx * dx + dy * dy <= radius * radius


def person_of(truth, i):
    return int(truth.owner[i]) if truth.owners == "given" else i


def oracle(truth, target, radius, error):
    """Return for each person the people who fit each of the trips, and the success of each."""
    found = {}
    for i in range(len(truth)):
        trip = truth.record(i)
        if trip:
            trips = [
                person_of(truth, j)
                for j in range(len(target))
                if (other := target.record(j))
                and near(trip[0], other[0], radius, error)
                and near(trip[-1], other[-1], radius, error)
            ]
            victim, fits = person_of(truth, i), set(trips)
            success = max(1 / len(fits), trips.count(victim) / len(trips)) if victim in fits else 0.0
            found.setdefault(victim, []).append((len(fits), success))
    return found


times, steps = st.integers(0, 6), st.integers(0, 5)


@st.composite
def point_records(draw):
    return [(t, float(draw(steps)), float(draw(steps))) for t in sorted(draw(st.sets(times, max_size=3)))]


@st.composite
def box_records(draw):
    n = draw(st.integers(0, 2))
    ends = [sorted(draw(st.lists(times, min_size=n, max_size=n))) for _ in range(2)]
    found = []
    for a, b in zip(*ends, strict=True):
        x, y = draw(steps), draw(steps)
        found.append((a, max(a, b), float(x), float(x + draw(steps)), float(y), float(y + draw(steps))))
    return found


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 6))
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    truth = Points.from_records([draw(point_records()) for _ in range(n)], owner=owner)
    kind = draw(st.sampled_from(["raw", "points", "regions"]))
    if kind == "raw":
        return truth, truth
    if kind == "points":
        return truth, Points.from_records([draw(point_records()) for _ in range(n)])
    return truth, Boxes.from_records([draw(box_records()) for _ in range(n)])


@given(pairs(), st.sampled_from(["exact", "any", "1", "3"]), st.integers(0, 4))
@settings(deadline=None, max_examples=150)
def test_equals_the_definition_on_small_data(pair, within, radius):
    truth, target = pair
    result = attack(truth, target, radius=radius, within=within)
    error = {"exact": 0, "any": None}[within] if not within.isdigit() else int(within)
    found = oracle(truth, target, radius, error)
    timeless = oracle(truth, target, radius, None)
    assert (result.victims, result.sampled) == (len(found), False)
    if found:
        risk = [np.mean([success for _, success in trips]) for trips in found.values()]
        somebody = [n for trips in found.values() for n, _ in trips if n]
        assert result.measured == pytest.approx(
            {
                "identity_mean": np.mean(risk),
                "identity_mean_low": None,
                "identity_mean_high": None,
                "identity_max": max(risk),
                "identity_threshold": 0.1,
                "identity_share_above": np.mean(np.array(risk) > 0.1),
                "unique_share": np.mean([np.mean([n == 1 for n, _ in trips]) for trips in found.values()]),
                "unique_share_low": None,
                "unique_share_high": None,
                "unmatched_share": np.mean([np.mean([n == 0 for n, _ in trips]) for trips in found.values()]),
                "identity_mean_without_times": np.mean([np.mean([s for _, s in t]) for t in timeless.values()]),
                "unique_share_without_times": np.mean([np.mean([n == 1 for n, _ in t]) for t in timeless.values()]),
                "mean_fitting_people": np.mean(somebody) if somebody else None,
            }
        )


def test_both_ends_and_both_times_count():
    trip = [(0, 0.0, 0.0), (50, 500.0, 500.0), (100, 900.0, 0.0)]
    others = [
        [(0, 100.0, 0.0), (100, 900.0, 100.0)],  # fits, though it goes another way
        [(0, 300.0, 0.0), (100, 900.0, 0.0)],  # begins elsewhere
        [(0, 0.0, 0.0), (100, 900.0, 300.0)],  # ends elsewhere
        [(5, 0.0, 0.0), (100, 900.0, 0.0)],  # begins later
        [(0, 0.0, 0.0), (105, 900.0, 0.0)],  # ends later
        [(0, 0.0, 0.0), (100, 900.0, 0.0), (101, 2000.0, 0.0)],  # goes on
        [(0, 180.0, 180.0), (100, 900.0, 0.0)],  # in the square around the disc, not in the disc
    ]
    data = Points.from_records([trip, *others], owner=[0, 1, 2, 3, 4, 5, 6, 7])
    one = data.take(np.array([0] * 8))
    truth = replace(one, owner=data.owner)
    fitting = {}
    for within in ("exact", "5", "any"):
        result = attack(truth, data, within=within)
        fitting[within] = result.measured["mean_fitting_people"]
    assert fitting == {"exact": 2, "5": 4, "any": 4}


def test_people_and_trips_are_counted():
    """Of two people one is picked, or of four trips one: three of these are one person's."""
    trip = [(0, 0.0, 0.0), (1, 9.0, 0.0)]
    result = attack(Points.from_records([trip] * 4, owner=[3, 3, 3, 5]))
    assert (result.measured["identity_mean"], result.measured["identity_max"]) == ((3 / 4 + 1 / 2) / 2, 3 / 4)
    assert result.victims == 2


def test_the_risk_of_a_person_is_the_mean_over_trips():
    data = Points.from_records(
        [[(0, 0.0, 0.0)], [(0, 5000.0, 0.0)], [(0, 0.0, 9.0)]], owner=[1, 1, 2]
    )  # fmt: skip
    result = attack(data)
    assert result.measured["identity_mean"] == pytest.approx((0.75 + 0.5) / 2)
    assert result.measured["identity_max"] == 0.75


def test_the_wrong_person_is_not_found():
    truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 9000.0, 0.0)]])
    target = Points.from_records([[(0, 9000.0, 0.0)], [(0, 0.0, 0.0)]])
    result = attack(truth, target)
    assert (result.measured["unique_share"], result.measured["identity_mean"]) == (1, 0)


def test_dates_are_known_to_15_minutes():
    def data(time_format, unit):
        listed = [[(0, 0.0, 0.0), (3600 * unit, 0.0, 0.0)], [(900 * unit, 0.0, 0.0), (2700 * unit, 0.0, 0.0)],
                  [(901 * unit, 0.0, 0.0), (3600 * unit, 0.0, 0.0)]]  # fmt: skip
        return Points.from_records(listed, time_format=time_format)

    for time_format, unit in (("epoch", 1), ("utc", 1_000_000)):
        result = attack(data(time_format, unit))
        assert result.measured["mean_fitting_people"] == pytest.approx((2 + 3 + 2) / 3)
        assert result.adversary == "knows where a trip of a person began and ended, to 250 m, and when to 15min"
    plain = attack(data("integer", 1))
    assert plain.measured["identity_mean"] == 1
    assert plain.adversary.endswith("to 250 m, and the exact times")
    assert attack(data("integer", 1), within="any").adversary.endswith("to 250 m")
    assert attack(data("epoch", 1), within="1h").adversary.endswith("and when to 1h")


def test_a_distance_on_the_radius_is_inside_in_spite_of_rounding():
    x = 1e7 + 0.1
    data = Points.from_records([[(0, x, 0.0)], [(0, x + 0.3, 0.0)]])
    assert attack(data, radius=0.3).measured["identity_mean"] == 0.5


def test_no_trip_is_lost_to_rounding():
    """What begins where a trip ends meets it, though the end minus the length may be beyond the beginning."""
    rng = np.random.default_rng(1)
    for low, length in rng.random((300, 2)) ** 3 / 7:
        one = np.array([low]), np.array([low + length])
        fitting, _ = people_fitting([Span(*one, one[1], one[1])], [], np.zeros(1, int), None, LocalEngine(workers=1))
        assert fitting.tolist() == [1]


def test_trips_and_people_are_drawn():
    data = Points.from_records([[(0, 10_000.0 * (i % 7), 0.0)] for i in range(70)], owner=[i // 7 for i in range(70)])
    result = attack(data, draws=3)
    assert (result.victims, result.sampled) == (10, True)
    assert result.measured["identity_mean"] == pytest.approx(0.1)
    assert result.measured["identity_mean_low"] < 0.1 < result.measured["identity_mean_high"]
    assert not attack(data, draws=7).sampled
    few = attack(data, draws=7, victims=4)
    assert (few.victims, few.sampled) == (4, True)


def test_drawn_trips_are_different_trips_of_the_person():
    owner, offsets = np.array([2, 0, 2, 2, 0, 1]), np.array([0, 1, 2, 3, 4, 4, 6])
    seen = set()
    for seed in range(40):
        known = KnownTrips.draw(owner, offsets, victims=2, draws=2, rng=np.random.default_rng(seed))
        assert (owner[known.trajectory] == known.owner[known.person]).all()
        assert len(set(known.trajectory.tolist())) == len(known.trajectory)
        assert known.population == 3
        assert (np.bincount(known.person) == np.minimum(2, known.trips)).all()
        seen |= set(known.trajectory.tolist())
    assert seen == {0, 1, 2, 3, 5}  # all that have rows


def test_the_same_seed_gives_the_same_result_on_any_number_of_cores(monkeypatch):
    monkeypatch.setattr(module, "_TRIPS_PER_TASK", 7)
    rng = np.random.default_rng(5)
    data = Points.from_records([[(t, *rng.normal(0, 300, 2).tolist()) for t in range(3)] for _ in range(90)])
    one, two = (attack(data, engine=LocalEngine(workers=n), victims=40) for n in (1, 2))
    assert (one.measured, one.charts) == (two.measured, two.charts)
    assert attack(data, seed=2, victims=40).measured != one.measured
    monkeypatch.setattr(module, "_TRIPS_PER_TASK", 512)
    assert attack(data, victims=40).measured == one.measured


@pytest.mark.parametrize("listed", [[], [[]], [[(1, 0.0, 0.0)]], [[(1, 0.0, 0.0)], []], [[(1, 5.0, 5.0)]] * 3])
def test_small_data_give_an_answer(listed):
    people = sum(bool(record) for record in listed)
    data = Points.from_records(listed)
    result = attack(data)
    assert result.victims == people
    assert result.measured["identity_mean"] == (1 / people if people else None)
    nothing = attack(data, data.where(np.zeros(data.n_rows, bool)))
    assert nothing.measured["unmatched_share"] == (1 if people else None)


@pytest.mark.parametrize("far", [1e12, 1e300, 1e308])
def test_huge_coordinates(far):
    data = Points.from_records([[(0, far, -far)], [(0, far, -far)], [(0, -far, far)]])
    assert attack(data).measured["identity_mean"] == pytest.approx((0.5 + 0.5 + 1) / 3)


def test_times_at_the_ends_of_what_can_be_said():
    ends = np.iinfo(np.int64)
    data = Points.from_records([[(ends.min, 0.0, 0.0), (ends.max, 0.0, 0.0)], [(ends.min + 2, 0.0, 0.0)]])
    assert attack(data, within="3").measured["identity_mean"] == 1
    start, stop = around(np.array([ends.min, 0, ends.max]), 3)
    assert start.tolist() == [ends.min, -3, ends.max - 3]
    assert stop.tolist() == [ends.min + 3, 3, ends.max]


def test_times_that_no_float_can_tell_apart():
    data = Points.from_records([[(2**60, 0.0, 0.0)], [(2**60 + 1, 0.0, 0.0)]])
    assert attack(data).measured["identity_mean"] == 1


def test_what_cannot_be_compared_is_refused():
    for wrong in ({"radius": -1}, {"within": "soon"}, {"draws": 0}, {"victims": 0}):
        with pytest.raises(ParameterError, match="first_last"):
            FirstLast(**wrong)
    data = Points.from_records([[(0, 0.0, 0.0)]])
    with pytest.raises(InputError, match="one trajectory for each"):
        attack(data, data.take(np.array([0, 0])))
    with pytest.raises(InputError, match="within must be one"):
        attack(data, within="15min")


def test_who_fits_by_luck_is_one_of_those_on_the_same_curve():
    """Chance put the first of three where it was, and the others elsewhere in the disc: any of them could be there."""
    truth = Points.from_records([[(0, 0.0, 0.0), (1, 50.0, 0.0)]] + [[(0, 900.0, 0.0), (1, 950.0, 0.0)]] * 2)
    placed = Points.from_records([[(0, x, 0.0), (1, x + 50.0, 0.0)] for x in (0.0, 40.0, 80.0)])
    for delta, most in ((0.0, 1.0), (100.0, 1 / 3)):
        method = FirstLast(radius=10, delta=delta)
        rng = np.random.default_rng(1)
        found = method.run(truth, placed, sensitive={}, rng=rng, engine=LocalEngine(workers=1)).measured
        assert found["identity_max"] == pytest.approx(most)
        assert found["identity_mean_without_times"] == pytest.approx(most / 3)
