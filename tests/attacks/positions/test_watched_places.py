"""The observation attack against a restatement of its definition, on planted and on random data."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.person_risk import mean_bounds
from wayveil.attacks.positions import watched_places as module
from wayveil.attacks.positions.known_positions import KnownSamples
from wayveil.attacks.positions.watched_places import WatchedPlaces
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Boxes, Points

ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, engine=ENGINE, **parameters):
    parameters = {"draws": 1, **parameters}
    return WatchedPlaces(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


# The definition, in exact numbers: does a published trajectory pass within the radius in the time?


def box_passes(box, start, stop, x, y, radius):
    dx = max(box[2] - x, x - box[3], 0)
    dy = max(box[4] - y, y - box[5], 0)
    return box[0] <= stop and box[1] >= start and dx * dx + dy * dy <= radius * radius


def way_passes(a, b, start, stop, x, y, radius):
    """Whether the way from a to b is ever inside the disc between `start` and `stop`."""
    low, high = max(start, a[0]), min(stop, b[0])
    if low > high:
        return False

    def apart(t):
        w = Fraction(t - a[0]) / (b[0] - a[0])
        return (a[1] + w * (b[1] - a[1]) - x) ** 2 + (a[2] + w * (b[2] - a[2]) - y) ** 2

    dx, dy = b[1] - a[1], b[2] - a[2]
    tries = [low, high]
    if dx or dy:
        foot = a[0] + Fraction((x - a[1]) * dx + (y - a[2]) * dy) / (dx * dx + dy * dy) * (b[0] - a[0])
        tries.append(min(max(foot, low), high))
    return min(apart(t) for t in tries) <= radius * radius


def passes(data, i, start, stop, x, y, radius):
    record = [tuple(Fraction(value) for value in row) for row in data.record(i)]
    if isinstance(data, Boxes):
        return any(box_passes(box, start, stop, x, y, radius) for box in record)
    still = any(box_passes((t, t, px, px, py, py), start, stop, x, y, radius) for t, px, py in record)
    return still or any(way_passes(a, b, start, stop, x, y, radius) for a, b in pairwise(record))


def oracle_passing(truth, target, start, stop, x, y, radius):
    people = truth.owner.tolist() if truth.owners == "given" else list(range(len(truth)))
    return [people[i] for i in range(len(target)) if passes(target, i, start, stop, x, y, radius)]


times = st.integers(0, 6)
steps = st.integers(0, 5)


@st.composite
def point_records(draw, *, low=0):
    at = sorted(draw(st.sets(times, min_size=low, max_size=4)))
    return [(t, float(draw(steps)), float(draw(steps))) for t in at]


@st.composite
def box_records(draw):
    n = draw(st.integers(0, 3))
    ends = [sorted(draw(st.lists(times, min_size=n, max_size=n))) for _ in range(2)]
    found = []
    for a, b in zip(*ends, strict=True):
        x, y = draw(steps), draw(steps)
        found.append((a, max(a, b), float(x), float(x + draw(steps)), float(y), float(y + draw(steps))))
    return found


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 5))
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    truth = Points.from_records([draw(point_records(low=i == 0)) for i in range(n)], owner=owner)
    kind = draw(st.sampled_from(["raw", "points", "points", "regions"]))
    if kind == "raw":
        return truth, truth
    if kind == "points":
        return truth, Points.from_records([draw(point_records()) for _ in range(n)])
    return truth, Boxes.from_records([draw(box_records()) for _ in range(n)])


@given(pairs(), st.sampled_from(["exact", "1", "2", "9"]), st.integers(0, 3), st.integers(0, 2**32))
@settings(deadline=None, max_examples=300)
def test_equals_the_definition_on_small_data(pair, time_error, radius, seed):
    truth, target = pair
    result = attack(truth, target, seed, radius=radius, time_error=time_error, draws=3)
    known = KnownSamples.draw(truth, victims=1000, samples=1, draws=3, rng=np.random.default_rng(seed))
    error = 0 if time_error == "exact" else int(time_error)
    success, passing = [], []
    for i in range(len(known)):
        t, x, y = int(known.t[i, 0]), Fraction(known.x[i, 0]), Fraction(known.y[i, 0])
        found = oracle_passing(truth, target, t - error, t + error, x, y, radius)
        owner, people = truth.owner[known.trajectory[i]], set(found)
        passing.append(len(people))
        success.append(max(1 / len(people), found.count(owner) / len(found)) if owner in people else 0.0)
    published = np.diff(target.offsets)[known.trajectory] > 0
    success, passing = np.array(success), np.array(passing)
    somebody = passing[passing > 0]
    bounds = mean_bounds(success, known.owner, truth.n_owners, sampled=known.sampled)
    assert result.measured == pytest.approx(
        {
            "identity_mean_low": bounds[0],
            "identity_mean_high": bounds[1],
            "identity_mean": success.mean(),
            "identity_mean_if_published": success[published].mean() if published.any() else None,
            "identity_share_above": (success > 0.1).mean(),
            "identity_max": success.max(),
            "identity_threshold": 0.1,
            "unique_share": (passing == 1).mean(),
            "victims_published_share": published.mean(),
            "victims_missed_share": (success == 0).mean(),
            "unmatched_share": (passing == 0).mean(),
            "mean_passing_people": somebody.mean() if len(somebody) else None,
            "min_passing_people": somebody.min() if len(somebody) else None,
        }
    )
    assert result.charts[0].series[0].values[0] == pytest.approx((success == 0).mean())
    assert result.charts[0].series[0].values[-1] == pytest.approx((success == 1).mean())


@given(pairs(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_the_order_of_trajectories_changes_nothing(pair, random):
    """With one point per person there is nothing to draw."""
    truth, target = pair
    n = len(truth)
    truth = Points.from_records([truth.record(i)[:1] for i in range(n)], owner=range(n))
    order = np.array(random.sample(range(n), n))
    assert attack(truth, target, radius=2).measured == attack(truth.take(order), target.take(order), radius=2).measured


# Planted cases, with the answer stated.


def line(*rows):
    return [(t, float(x), float(y)) for t, x, y in rows]


def test_a_way_through_the_disc_passes_though_no_point_lies_in_it():
    truth = Points.from_records([line((5, 0, 0)), []])
    through = line((0, -100, 3), (10, 100, 3))
    found = attack(truth, Points.from_records([line((5, 0, 0)), through]), radius=3).measured
    assert (found["identity_mean"], found["mean_passing_people"]) == (0.5, 2)
    found = attack(truth, Points.from_records([line((5, 0, 0)), through]), radius=2.999).measured
    assert (found["identity_mean"], found["mean_passing_people"]) == (1, 1)


@pytest.mark.parametrize(("time_error", "people"), [("exact", 1), ("1", 1), ("2", 2), ("3", 2)])
def test_only_what_passes_at_the_time_counts(time_error, people):
    """The other is in the disc from t=7 on; the victim was seen at 5."""
    truth = Points.from_records([line((5, 0, 0)), []])
    target = Points.from_records([line((5, 0, 0)), line((0, -80, 0), (8, 0, 0), (9, 50, 0))])
    found = attack(truth, target, radius=10, time_error=time_error).measured
    assert found["mean_passing_people"] == people
    gone = Points.from_records([line((5, 0, 0)), line((1, 50, 0), (2, 0, 0), (10, 80, 0))])
    found = attack(truth, gone, radius=10, time_error=time_error).measured
    assert found["mean_passing_people"] == people


def test_a_trajectory_is_nowhere_before_it_begins_and_after_it_ends():
    truth = Points.from_records([line((5, 0, 0)), [], []])
    target = Points.from_records([line((5, 0, 0)), line((3, 0, 0), (4, 0, 0)), line((6, 0, 0))])
    assert attack(truth, target, radius=9).measured["mean_passing_people"] == 1
    assert attack(truth, target, radius=9, time_error=1).measured["mean_passing_people"] == 3


def test_boxes_that_meet_the_disc_pass():
    truth = Points.from_records([line((5, 0, 0)), [], [], []])
    target = Boxes.from_records(
        [
            [(5, 5, -10.0, 10.0, -10.0, 10.0)],
            [(0, 4, 0.0, 1.0, 0.0, 1.0), (5, 6, 3.0, 9.0, 4.0, 9.0)],
            [(6, 9, 0.0, 1.0, 0.0, 1.0)],
            [(0, 5, 30.0, 40.0, 0.0, 1.0), (7, 9, 0.0, 1.0, 0.0, 1.0)],
        ]
    )
    assert attack(truth, target, radius=4.999).measured["mean_passing_people"] == 1
    assert attack(truth, target, radius=5).measured["mean_passing_people"] == 2
    assert attack(truth, target, radius=0, time_error=1).measured["mean_passing_people"] == 3


@pytest.mark.parametrize("g", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("regions", [False, True])
def test_equal_trajectories_of_g_owners_give_at_most_one_over_g(g, regions):
    rng = np.random.default_rng(g)
    truth = Points.from_records([[(t, *rng.uniform(0, 9, 2)) for t in range(5)] for _ in range(g)])
    target = Points.from_records([line(*((t, 4, 4) for t in range(5)))] * g)
    if regions:
        target = Boxes.from_records([[(t, t, 0.0, 9.0, 0.0, 9.0) for t in range(5)]] * g)
    found = attack(truth, target, radius=9, threshold=f"1/{g}").measured
    assert found["identity_mean"] == found["identity_max"] == 1 / g
    assert found["identity_share_above"] == 0
    assert found["min_passing_people"] == found["mean_passing_people"] == g


def test_who_was_moved_out_of_sight_is_not_found_and_who_is_alone_there_is_suspected():
    truth = Points.from_records([line((0, 0, 0)), line((0, 500, 0))])
    swapped = Points.from_records([line((0, 500, 0)), line((0, 0, 0))])
    found = attack(truth, swapped).measured
    assert (found["identity_mean"], found["unique_share"], found["victims_missed_share"]) == (0, 1, 1)
    away = Points.from_records([line((0, 200, 0)), line((0, 300, 0))])
    found = attack(truth, away).measured
    assert (found["identity_mean"], found["unmatched_share"], found["unique_share"]) == (0, 1, 0)
    assert found["mean_passing_people"] is found["min_passing_people"] is None


def test_raw_data_give_away_who_is_alone():
    rng = np.random.default_rng(5)
    data = Points.from_records([[(t, *rng.uniform(0, 1e4, 2)) for t in range(12)] for _ in range(40)])
    found = attack(data, data, radius=0).measured
    assert found["identity_mean"] == found["unique_share"] == found["identity_share_above"] == 1
    assert attack(data, data, radius=1e5).measured["identity_mean"] == 1 / 40


def test_who_passes_by_luck_is_one_of_those_on_the_same_curve():
    """Chance put the first of three where it was, and the others elsewhere in the disc: any of them could be there."""
    truth = Points.from_records([[(0, 0.0, 0.0), (1, 50.0, 0.0)]] + [[(0, 900.0, 0.0), (1, 950.0, 0.0)]] * 2)
    placed = Points.from_records([[(0, x, 0.0), (1, x + 50.0, 0.0)] for x in (0.0, 40.0, 80.0)])
    assert attack(truth, placed, radius=10).measured["identity_max"] == 1.0
    among = attack(truth, placed, radius=10, delta=100.0).measured
    assert among["identity_max"] == pytest.approx(1 / 3)
    assert among["unique_share"] > 0
    bent = Points.from_records([[(0, 0.0, 0.0), (1, 50.0, 0.0)], *([(0, x, 0.0), (1, x, 0.0)] for x in (40.0, 80.0))])
    found = attack(truth, bent, radius=10, delta=100.0).measured
    assert found["identity_max"] == 1.0  # no other is the same curve


def test_trips_of_one_person_hide_nobody():
    data = Points.from_records([line((0, 0, 0))] * 5, owner=[3, 3, 1, 3, 3])
    found = attack(data, data)
    assert (found.victims, found.measured["mean_passing_people"]) == (2, 2)
    # Of two people one in two is picked, of five trajectories four are one person's: the larger one counts.
    assert (found.measured["identity_mean"], found.measured["identity_max"]) == ((0.8 + 0.5) / 2, 0.8)


# Nothing there, and extreme values.


@pytest.mark.parametrize("kind", [Points, Boxes])
def test_nothing_published(kind):
    truth = Points.from_records([line((0, 0, 0)), line((0, 5, 0))])
    result = attack(truth, kind.from_records([[], []]))
    assert result.victims == 2
    assert result.measured["identity_mean"] == result.measured["identity_max"] == 0
    assert result.measured["identity_mean_if_published"] is None
    assert result.measured["unmatched_share"] == result.measured["victims_missed_share"] == 1
    assert result.measured["victims_published_share"] == result.measured["unique_share"] == 0


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
def test_nobody_to_attack(records):
    nobody = Points.from_records(records)
    result = attack(nobody, nobody, draws="auto")
    assert (result.victims, result.sampled) == (0, False)
    assert {value for name, value in result.measured.items() if name != "identity_threshold"} == {None}


def test_one_trajectory_of_one_point():
    one = Points.from_records([line((0, 1, 2))])
    assert attack(one, one, radius=0).measured["identity_mean"] == 1


def test_huge_coordinates_and_times_up_to_the_end_of_numbers():
    end = 2**63 - 1
    truth = Points.from_records([line((end, 1e12, 1e12)), line((-end, -1e12, 1e12))])
    way = Points.from_records([line((-end, 1e12, 1e12), (end, 1e12, 1e12)), line((-end, -1e12, 1e12), (-5, 0, 0))])
    for time_error in ("exact", str(10**17)):
        assert attack(truth, way, time_error=time_error).measured["identity_mean"] == 1
    late = attack(truth, Points.from_records([line((end - 10**17, 1e12, 1e12)), []]), time_error=str(10**17))
    assert late.measured["identity_mean"] == 0.5


def test_the_edge_of_the_disc_is_inside_whatever_the_last_digit():
    """0.1 + 0.2 is more than 0.3 in floats, and still on the edge."""
    truth = Points.from_records([[(0, 1e5 + 0.3, 0.0)], []])
    target = Points.from_records([[(0, 1e5 + 0.3, 0.0)], [(0, 1e5, 0.0)]])
    assert attack(truth, target, radius=0.3).measured["mean_passing_people"] == 2


# Sampling, and what a person reads.


def test_same_seed_same_result_on_one_core_or_more_and_another_seed_another(monkeypatch):
    rng = np.random.default_rng(2)
    truth = Points.from_records([[(t, *rng.uniform(0, 400, 2)) for t in range(6)] for _ in range(60)])
    one, again, other = (
        attack(truth, truth, seed=seed, victims=50, engine=LocalEngine(workers=workers))
        for seed, workers in ((5, 1), (5, 3), (6, 1))
    )
    assert one == again
    assert one != other
    assert (one.victims, one.sampled) == (50, True)
    monkeypatch.setattr(module, "_WATCHES_PER_TASK", 7)
    assert attack(truth, truth, seed=5, victims=50) == one


@pytest.mark.parametrize(
    ("time_format", "time_error", "unit"),
    [("utc", "2s", 10**6), ("local", "2s", 10**6), ("epoch", "2s", 1), ("integer", "2", 1)],
)
def test_the_time_error_has_the_unit_of_the_data(time_format, time_error, unit):
    truth = Points.from_records([line((0, 0, 0)), [], []], time_format=time_format)
    target = Points.from_records(
        [line((0, 0, 0)), line((2 * unit, 0, 0)), line((2 * unit + 1, 0, 0))], time_format=time_format
    )
    found = attack(truth, target, time_error=time_error)
    assert found.measured["mean_passing_people"] == 2
    assert "known to 2" in found.adversary


def test_a_time_error_without_or_with_a_wrong_unit_is_refused():
    data = Points.from_records([line((0, 0, 0))])
    with pytest.raises(InputError, match="watched_places: the times are plain integers"):
        attack(data, data, time_error="1min")
    with pytest.raises(InputError, match="time_error needs a unit"):
        attack(replace(data, time_format="utc"), replace(data, time_format="utc"), time_error=5)


def test_bad_parameters_and_data_are_refused():
    data = Points.from_records([line((0, 0, 0))])
    with pytest.raises(ParameterError, match="watched_places: radius must be a number >= 0, got -1"):
        WatchedPlaces(radius=-1)
    with pytest.raises(ParameterError, match="time_error must be a duration"):
        WatchedPlaces(time_error="soon")
    with pytest.raises(InputError, match="watched_places: the attacked data must have one trajectory for each"):
        attack(data, Points.from_records([]))


def test_what_is_told_is_the_same_for_raw_and_published():
    data = Points.from_records([line((0, 0, 0))])
    raw, published = attack(data, data), attack(data, Points.from_records([[]]))
    assert list(raw.measured) == list(published.measured)
    assert raw.charts[0].labels == published.charts[0].labels
    assert raw.name == WatchedPlaces.name == "watched_places"
    assert raw.adversary.startswith("sees a person within 100 m of a place at an exact time")
