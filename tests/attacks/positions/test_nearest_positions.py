"""The linkage attack against a restatement of its definition, on planted and on random data."""

from dataclasses import replace
from itertools import pairwise
from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.positions import nearest_positions as module
from wayveil.attacks.positions.known_positions import KnownSamples, Tracks
from wayveil.attacks.positions.nearest_positions import NearestPositions
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Boxes, Frame, Points

ENGINE = LocalEngine(workers=2)


def attack(truth, target, seed=1, engine=ENGINE, **parameters):
    parameters = {"draws": 1, **parameters}
    return NearestPositions(**parameters).run(
        truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine
    )


# The definition, on lists: how far a published trajectory is from what is known, and who is nearest.


def boxes_of(data, i):
    if isinstance(data, Points):
        return [(t, t, x, x, y, y) for t, x, y in data.record(i)]
    return data.record(i)


def beyond(at, low, high):
    return low - at if at < low else at - high if at > high else 0.0


def oracle_speed(tracks):
    way = time = 0.0
    for boxes in tracks:
        middles = [((b[2] + b[3]) / 2, (b[4] + b[5]) / 2) for b in boxes]
        way += sum(hypot(q[0] - p[0], q[1] - p[1]) for p, q in pairwise(middles))
        time += boxes[-1][1] - boxes[0][0] if boxes else 0
    return way / time if way > 0 and time > 0 else 1.0


def oracle_cost(boxes, t, x, y, speed):
    def cost(box, gap=0):
        return beyond(x, box[2], box[3]) ** 2 + beyond(y, box[4], box[5]) ** 2 + (speed * gap) ** 2

    there = [box for box in boxes if box[0] <= t <= box[1]]
    before = [box for box in boxes if box[1] < t]
    after = [box for box in boxes if box[0] > t]
    if there:
        return min(cost(box) for box in there)
    if not after:
        return cost(before[-1], t - before[-1][1])
    if not before:
        return cost(after[0], after[0][0] - t)
    a, b = before[-1], after[0]
    w = (t - a[1]) / (b[0] - a[1])
    return cost([a[i] + w * (b[i] - a[i]) for i in range(6)])


def oracle_nearest(truth, target, owner, known):
    """Return how many people are nearest to what is known, and the victim's share of these people and trajectories."""
    tracks = [boxes_of(target, i) for i in range(len(target))]
    speed = oracle_speed(tracks)
    people = truth.owner.tolist() if truth.owners == "given" else list(range(len(truth)))
    apart = [
        (sqrt(sum(oracle_cost(boxes, *sample, speed) for sample in known) / len(known)), person)
        for boxes, person in zip(tracks, people, strict=True)
        if boxes
    ]
    best = min((distance for distance, _ in apart), default=0)
    nearest = [person for distance, person in apart if distance <= best + 1e-9]
    people = set(nearest)
    return len(people), max((owner in people) / len(people), nearest.count(owner) / len(nearest)) if nearest else 0.0


times = st.integers(0, 6)
steps = st.integers(0, 4)


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
        # The larger of two rising ends rises, too.
        found.append((a, max(a, b), float(x), float(x + draw(steps)), float(y), float(y + draw(steps))))
    return found


@st.composite
def pairs(draw):
    n = draw(st.integers(1, 5))
    owner = draw(st.none() | st.lists(st.integers(-1, 3), min_size=n, max_size=n))
    truth = Points.from_records([draw(point_records(low=i == 0)) for i in range(n)], owner=owner)
    kind = draw(st.sampled_from(["raw", "points", "regions"]))
    if kind == "raw":
        return truth, truth
    if kind == "points":
        return truth, Points.from_records([draw(point_records()) for _ in range(n)])
    return truth, Boxes.from_records([draw(box_records()) for _ in range(n)])


@given(pairs(), st.integers(1, 5), st.integers(0, 2**32))
@settings(deadline=None, max_examples=250)
def test_equals_the_definition_on_small_data(pair, samples, seed):
    truth, target = pair
    result = attack(truth, target, seed, samples=samples, draws=2)
    known = KnownSamples.draw(truth, victims=1000, samples=samples, draws=2, rng=np.random.default_rng(seed))
    lengths = np.diff(target.offsets)
    levels = [level for level in (1, 2, 4) if level < samples]
    for level, suffix in [
        (samples, ""),
        *((level, f"_with_{level}_sample{'s' if level > 1 else ''}") for level in levels),
    ]:
        success, published, tied = [], [], []
        for i in range(len(known)):
            n = min(level, known.count[i])
            seen = list(zip(known.t[i, :n].tolist(), known.x[i, :n].tolist(), known.y[i, :n].tolist(), strict=True))
            owner = truth.owner[known.trajectory[i]]
            found = oracle_nearest(truth, target, owner, seen)
            tied.append(found[0])
            success.append(found[1])
            published.append(lengths[known.trajectory[i]] > 0)
        told = [s for s, p in zip(success, published, strict=True) if p]
        measured = result.measured
        assert measured[f"identity_mean{suffix}"] == pytest.approx(np.mean(success))
        assert measured[f"identity_mean_if_published{suffix}"] == (pytest.approx(np.mean(told)) if told else None)
        assert measured[f"identity_share_above{suffix}"] == pytest.approx(np.mean(np.array(success) > 0.1))
        if level == samples:
            assert measured["identity_max"] == pytest.approx(max(success))
            assert result.charts[1].series[0].values[0] == pytest.approx(np.mean(np.array(success) == 0))
            assert measured["mean_tied_people"] == pytest.approx(np.mean(tied))
            assert measured["victims_missed_share"] == pytest.approx(np.mean([s == 0 for s in success]))
            assert measured["victims_published_share"] == pytest.approx(np.mean(published))
        assert dict(zip(result.charts[0].labels, result.charts[0].series[0].values, strict=True))[
            str(level)
        ] == pytest.approx(np.mean(success))


@given(pairs(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_the_order_of_trajectories_changes_nothing(pair, random):
    """With one trajectory per person and all samples known there is nothing to draw but their order."""
    truth, target = pair
    truth = replace(truth, owner=np.arange(len(truth)), owners="given")
    order = np.array(random.sample(range(len(truth)), len(truth)))
    one = attack(truth, target, samples=7)
    other = attack(truth.take(order), target.take(order), samples=7)
    for name in ("identity_mean", "identity_mean_if_published", "identity_max", "mean_tied_people"):
        assert one.measured[name] == pytest.approx(other.measured[name]) or one.measured[name] is None


# Planted cases, with the answer stated.

TRUE = Points.from_records(
    [
        [(0, 0.0, 0.0), (1, 10.0, 0.0)],
        [(0, 0.0, 3.0), (1, 10.0, 1.0)],
        [(0, 50.0, 0.0), (1, 60.0, 0.0)],
        [(0, 50.0, 1.0), (1, 60.0, 2.0)],
        [(0, 500.0, 500.0), (1, 500.0, 500.0)],
    ]
)


def test_two_delta_anonymity_does_not_stop_it():
    """k = 2, delta = 2: every pair is within 2 m, and one true sample finds all four who are published."""
    published = Points.from_records(
        [
            [(0, 0.0, 0.5), (1, 10.0, 0.0)],
            [(0, 0.0, 2.5), (1, 10.0, 1.0)],
            [(0, 50.0, 0.0), (1, 60.0, 0.0)],
            [(0, 50.0, 1.0), (1, 60.0, 2.0)],
            [],
        ]
    )
    found = attack(TRUE, published, samples=2, threshold="1/2").measured
    assert found["identity_mean_with_1_sample"] == found["identity_mean"] == pytest.approx(0.8)
    assert found["identity_mean_if_published_with_1_sample"] == found["identity_mean_if_published"] == 1
    assert found["identity_share_above"] == pytest.approx(0.8)
    assert found["victims_published_share"] == pytest.approx(0.8)
    assert found["victims_missed_share"] == pytest.approx(0.2)


@pytest.mark.parametrize("samples", [1, 2, 8])
def test_the_same_trajectory_for_two_people_stops_it_at_one_half(samples):
    one, two = [(0, 0.0, 1.5), (1, 10.0, 0.5)], [(0, 50.0, 0.5), (1, 60.0, 1.0)]
    found = attack(TRUE, Points.from_records([one, one, two, two, []]), samples=samples, threshold="1/2").measured
    assert found["identity_mean_if_published"] == found["identity_max"] == 0.5
    assert found["identity_share_above"] == 0
    assert found["mean_tied_people"] == 2


@pytest.mark.parametrize("g", [1, 2, 3, 7, 10])
@pytest.mark.parametrize("regions", [False, True])
def test_equal_trajectories_of_g_owners_give_one_over_g(g, regions):
    rng = np.random.default_rng(g)
    truth = Points.from_records([[(t, *rng.uniform(0, 9, 2)) for t in range(5)] for _ in range(g)])
    shared = [(t, 4.1, 4.3) for t in range(0, 5, 2)]
    target = Points.from_records([shared] * g)
    if regions:
        target = Boxes.from_records([[(t, t, 0.0, 9.0, 0.0, 9.0) for t in range(5)]] * g)
    found = attack(truth, target, threshold=f"1/{g}").measured
    assert found["identity_mean"] == found["identity_max"] == found["identity_mean_with_1_sample"] == 1 / g
    assert found["identity_share_above"] == 0
    assert found["mean_tied_people"] == g


def test_raw_data_give_everybody_away_where_positions_are_unique():
    rng = np.random.default_rng(5)
    data = Points.from_records([[(t, *rng.uniform(0, 1e4, 2)) for t in range(12)] for _ in range(40)])
    found = attack(data, data).measured
    assert {v for name, v in found.items() if name.startswith("identity_mean") and not name.endswith("_low")} == {1.0}
    assert found["identity_mean_low"] < 1
    assert found["victims_missed_share"] == 0


def test_a_nearer_trajectory_of_somebody_else_is_taken():
    truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 100.0, 0.0)]])
    swapped = Points.from_records([[(0, 60.0, 0.0)], [(0, 40.0, 0.0)]])
    assert attack(truth, swapped).measured["identity_mean"] == 0
    assert attack(truth, swapped).measured["identity_mean_if_published"] == 0
    kept = Points.from_records([[(0, 40.0, 0.0)], [(0, 60.0, 0.0)]])
    assert attack(truth, kept).measured["identity_mean"] == 1


def test_trips_of_one_person_hide_nobody_and_another_trip_of_the_victim_is_a_success():
    truth = Points.from_records([[(0, 0.0, 0.0)]] * 3 + [[(0, 50.0, 0.0)]], owner=[7, 7, 7, 9])
    found = attack(truth, truth)
    assert (found.victims, found.measured["identity_mean"], found.measured["mean_tied_people"]) == (2, 1, 1)
    # Only the last trip of the first person is published: whatever was known leads there.
    partly = Points.from_records([[], [], [(0, 1.0, 0.0)], [(0, 50.0, 0.0)]])
    found = attack(truth, partly, draws=50).measured
    assert found["identity_mean"] == 1
    assert 0.5 < found["victims_published_share"] < 0.85


def test_positions_between_rows_are_interpolated():
    truth = Points.from_records([[(3, 30.0, 0.0)], [(3, 30.0, 60.0)]])
    target = Points.from_records([[(0, 0.0, 0.0), (10, 100.0, 0.0)], [(2, 30.0, 59.0), (4, 30.0, 59.0)]])
    assert attack(truth, target).measured["identity_mean"] == 1
    other = Points.from_records([[(0, 0.0, 0.0), (10, 100.0, 0.0)], [(2, 30.0, 0.5), (4, 30.0, 0.5)]])
    assert attack(truth, other).measured["identity_mean"] == 1  # 0 m is nearer than 0.5 m


def test_time_outside_a_trajectory_counts_as_way():
    """The speed is 1 m per unit: at t=10, 2 m away now is nearer than at the place 3 units ago, 4 m away is not."""
    truth = Points.from_records([[(10, 0.0, 0.0)]] * 2)
    for other, success in ((2.0, 0.5), (4.0, 0.5)):
        early = [(3, 0.0, 4.0), (7, 0.0, 0.0)]
        now = [(8, other, -2.0), (12, other, 2.0)]
        found = attack(truth, Points.from_records([early, now])).measured
        assert found["identity_mean"] == success
        assert found["mean_tied_people"] == 1
        first = replace(truth, offsets=np.array([0, 1, 1]), t=truth.t[:1], x=truth.x[:1], y=truth.y[:1])
        assert attack(first, Points.from_records([early, now])).measured["identity_mean"] == (other == 4)


def test_the_speed_of_boxes_is_that_of_their_middles():
    """The middle makes 20 m in 10 units; at t=12 the first is 2 units or 4 m away, and 3 m lose against it or win."""
    grows = [(0, 0, 0.0, 0.0, 0.0, 0.0), (10, 10, 0.0, 40.0, 0.0, 0.0)]
    for y, success in ((3.0, 0), (5.0, 1)):
        truth = Points.from_records([[(12, 0.0, 0.0)], []])
        target = Boxes.from_records([grows, [(12, 12, 0.0, 0.0, y, y)]])
        assert attack(truth, target).measured["identity_mean"] == success


def test_boxes_that_take_no_time():
    truth = Points.from_records([[(4, 50.0, 0.0)], [(4, 9.0, 0.0)]])
    target = Boxes.from_records([[(4, 4, x, x, 0.0, 0.0) for x in (0.0, 50.0)], [(4, 4, 9.0, 9.0, 0.0, 0.0)]])
    assert attack(truth, target).measured["identity_mean"] == 1


def test_where_nothing_moves_time_still_counts():
    truth = Points.from_records([[(0, 5.0, 5.0)], [(9, 5.0, 5.0)]])
    assert attack(truth, truth).measured["identity_mean"] == 1
    parked = Points.from_records([[(0, 5.0, 5.0), (4, 5.0, 5.0)], [(5, 5.0, 5.0), (9, 5.0, 5.0)]])
    assert attack(truth, parked).measured["identity_mean"] == 1


def test_boxes_that_contain_what_is_known_are_candidates_and_else_the_nearest_box():
    truth = Points.from_records([[(0, 1.0, 1.0), (1, 2.0, 2.0)], [(0, 8.0, 8.0), (1, 8.0, 8.0)], [(0, 30.0, 0.0)]])
    target = Boxes.from_records(
        [
            [(0, 0, 0.0, 4.0, 0.0, 4.0), (1, 1, 0.0, 4.0, 0.0, 4.0)],
            [(0, 0, 1.0, 9.0, 1.0, 9.0), (1, 1, 3.0, 9.0, 3.0, 9.0)],
            [(0, 1, 20.0, 25.0, 0.0, 1.0)],
        ]
    )
    found = attack(truth, target, samples=2)
    # Person 0: both boxes hold the first sample, only one the second; person 2 is in no box, and nearest to the last.
    assert found.measured["identity_mean"] == 1
    assert found.measured["mean_tied_people"] == 1
    one = Points.from_records([[(0, 1.0, 1.0)], [], []])
    assert attack(one, target).measured["identity_mean"] == 0.5


@pytest.mark.parametrize(
    ("boxes", "known"),
    [
        # Half way from one box to the next, the box is x 20..35, y 5..15; the first ends at 2, the second begins at 6.
        ([(0, 2, 0.0, 10.0, 0.0, 10.0), (6, 8, 40.0, 60.0, 10.0, 20.0)], [(20.0, 5.0), (35.0, 15.0), (20.0, 15.0)]),
        # Two boxes at once: either holds what is known.
        ([(4, 4, 0.0, 1.0, 0.0, 1.0), (4, 8, 50.0, 51.0, 0.0, 1.0)], [(0.5, 0.5), (50.5, 0.5)]),
        ([(0, 4, 0.0, 1.0, 0.0, 1.0), (3, 8, 50.0, 51.0, 0.0, 1.0)], [(0.5, 0.5), (50.5, 0.5)]),
    ],
)
def test_boxes_between_and_boxes_at_once(boxes, known):
    """The other person is a little off what is known, so any distance above 0 loses."""
    for x, y in known:
        truth = Points.from_records([[(4, x, y)], []])
        off = [(0, 9, x + 0.01, x + 0.01, y, y)]
        assert attack(truth, Boxes.from_records([boxes, off])).measured["identity_mean"] == 1
        beyond_x = Points.from_records([[(4, 35.1, 15.0)], []])
        beyond_y = Points.from_records([[(4, 35.0, 15.1)], []])
        for beyond_it in (beyond_x, beyond_y):
            near = [(0, 9, *(2 * [beyond_it.x[0] + 0.05]), *(2 * [beyond_it.y[0]]))]
            assert attack(beyond_it, Boxes.from_records([boxes, near])).measured["identity_mean"] == 0


def test_a_box_without_extent_is_a_point():
    rng = np.random.default_rng(8)
    truth = Points.from_records([[(t, *rng.uniform(0, 9, 2)) for t in range(4)] for _ in range(12)])
    moved = [[(t, x + rng.normal(), y + rng.normal()) for t, x, y in truth.record(i)[::3]] for i in range(12)]
    boxes = Boxes.from_records([[(t, t, x, x, y, y) for t, x, y in record] for record in moved])
    assert attack(truth, boxes) == attack(truth, Points.from_records(moved))


# Nothing there, and extreme values.


@pytest.mark.parametrize("kind", [Points, Boxes])
def test_nothing_published(kind):
    result = attack(TRUE, kind.from_records([[]] * 5))
    assert result.victims == 5
    assert result.measured["identity_mean"] == result.measured["identity_max"] == 0
    assert result.measured["identity_mean_if_published"] is None
    assert result.measured["victims_published_share"] == result.measured["mean_tied_people"] == 0
    assert result.measured["victims_missed_share"] == 1
    assert result.charts[1].series[0].values[0] == 1


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
@pytest.mark.parametrize("draws", ["auto", 3])
def test_nobody_to_attack(records, draws):
    nobody = Points.from_records(records)
    result = attack(nobody, nobody, draws=draws)
    assert (result.victims, result.sampled) == (0, False)
    assert {value for name, value in result.measured.items() if name != "identity_threshold"} == {None}
    assert set(result.charts[0].series[0].values) == {None}


def test_a_victim_who_was_never_published_is_missed():
    target = Points.from_records([*(TRUE.record(i) for i in range(4)), []])
    alone = Points.from_records([[], [], [], [], TRUE.record(4)])
    found = attack(alone, target)
    assert (found.victims, found.measured["identity_mean"]) == (1, 0)
    assert found.measured["identity_mean_if_published"] is None


def test_one_trajectory_of_one_point():
    one = Points.from_records([[(0, 1.0, 2.0)]])
    result = attack(one, one)
    assert (result.measured["identity_mean"], result.sampled, result.victims) == (1, False, 1)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e12])
def test_size_of_coordinates_does_not_matter(scale):
    rng = np.random.default_rng(2)
    truth, moved = (
        Points.from_records(
            [[(t, *(p * scale)) for t, p in enumerate(table)] for table in rng.uniform(0, 1, (9, 5, 2))]
        )
        for _ in range(2)
    )
    plain = np.random.default_rng(2)
    one, two = (
        Points.from_records([[(t, *p) for t, p in enumerate(table)] for table in plain.uniform(0, 1, (9, 5, 2))])
        for _ in range(2)
    )
    assert attack(truth, moved).measured == attack(one, two).measured


def test_times_may_be_as_far_apart_as_numbers_go():
    end = 2**63 - 1
    truth = Points.from_records([[(0, 0.0, 0.0), (end // 2, 5.0, 0.0)], [(end, 0.0, 0.0)], [(-end, 0.0, 0.0)]])
    target = Points.from_records(
        [[(-end, 0.0, -9.0), (end, 0.0, 9.0)], [(end - 1, 0.0, 0.0), (end, 0.0, 1.0)], [(-end, 0.0, 1.0)]]
    )
    assert attack(truth, target).measured["identity_mean"] == 1
    assert Tracks.of(truth, target).speed == pytest.approx((18 + 1) / (2.0 * end + 1))


def test_published_from_other_sample_times_differs_by_rounding_only():
    """The same straight way, sampled at other times: the two people cannot be told apart, whatever the last digit."""
    way = [(t, 1e6 + t / 3, 7e5 + t / 7) for t in range(22)]
    truth = Points.from_records([[way[5]], [way[13]]])
    target = Points.from_records([[way[0], way[21]], [way[0], way[10], way[21]]])
    assert attack(truth, target).measured["identity_mean"] == 0.5


def test_everything_at_the_origin_is_a_tie_from_anywhere():
    """All coordinates are 0, so only the distances themselves say what rounding is."""
    truth = crowd(20, 3)
    found = attack(truth, Points.from_records([[(0, 0.0, 0.0), (2, 0.0, 0.0)]] * 20), samples=3).measured
    assert found["identity_mean"] == found["identity_mean_with_1_sample"] == 1 / 20


# Sampling.


def crowd(n, length, seed=3, spread=100.0):
    rng = np.random.default_rng(seed)
    return Points.from_records([[(t, *rng.uniform(0, spread, 2)) for t in range(length)] for _ in range(n)])


def test_people_are_sampled_where_there_are_more():
    truth, other = crowd(90, 3), crowd(90, 3, seed=4)
    target = replace(truth, x=truth.x + other.x / 4, y=truth.y + other.y / 4)
    result = attack(truth, target, samples=1, victims=60)
    assert (result.victims, result.sampled) == (60, True)
    every = attack(truth, target, samples=1, draws=3)
    assert (every.victims, every.sampled) == (90, True)
    assert result.measured["identity_mean"] == pytest.approx(every.measured["identity_mean"], abs=0.15)
    chosen = KnownSamples.draw(truth, victims=30, samples=1, draws=1, rng=np.random.default_rng(1)).owner
    assert len(set(chosen.tolist())) == 30
    assert chosen.max() > 60  # not the first ones


def test_auto_attacks_few_people_more_often():
    truth = crowd(30, 6)
    rng = np.random.default_rng
    assert len(KnownSamples.draw(truth, victims=100, samples=2, draws="auto", rng=rng(1))) == 90
    assert len(KnownSamples.draw(truth, victims=20, samples=2, draws="auto", rng=rng(1))) == 20
    assert len(KnownSamples.draw(truth, victims=20, samples=2, draws=4, rng=rng(1))) == 80
    assert attack(truth, truth, draws="auto", victims=100).victims == 30


def test_what_is_known_is_true_of_one_trajectory_and_drawn_evenly():
    truth = Points.from_records(
        [[(t, 10.0 * i + t, float(i)) for t in range(5)] for i in range(3)] + [[]], owner=[4, 4, 8, 9]
    )
    known = KnownSamples.draw(truth, victims=10, samples=3, draws=2000, rng=np.random.default_rng(1))
    assert known.people == 2
    assert (known.count == 3).all()
    assert (known.x == 10 * known.trajectory[:, None] + known.t).all()
    assert (known.y == known.trajectory[:, None]).all()
    assert all(len(set(row)) == 3 for row in known.t.tolist())
    assert np.bincount(known.trajectory, minlength=4)[3] == 0
    assert np.bincount(known.trajectory)[:2] == pytest.approx([1000, 1000], rel=0.1)
    assert (known.owner == (known.trajectory == 2)).all()
    for j in range(3):  # the first ones are a draw of their own
        assert np.bincount(known.t[:, j]) == pytest.approx([800] * 5, rel=0.15)


@pytest.mark.parametrize(
    ("records", "owner", "sampled"),
    [
        ([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)]], [0, 1], False),
        ([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)]], [0, 0], True),
        ([[(0, 0.0, 0.0), (1, 1.0, 0.0)]], [0], True),
    ],
)
def test_sampled_says_whether_anything_was_drawn(records, owner, sampled):
    data = Points.from_records(records, owner=owner)
    assert attack(data, data).sampled is sampled
    assert attack(data, data, victims=1).sampled is (sampled or len(records) > 1)


def test_same_seed_same_result_on_one_core_or_more_and_another_seed_another(monkeypatch):
    truth, target = crowd(60, 6), crowd(60, 6, seed=4)
    one, again, other = (
        attack(truth, target, seed=seed, engine=LocalEngine(workers=workers))
        for seed, workers in ((5, 1), (5, 3), (6, 1))
    )
    assert one == again
    assert one != other
    monkeypatch.setattr(module, "_ATTACKS_PER_TASK", 7)
    assert attack(truth, target, seed=5) == one


def test_raw_and_published_data_meet_the_same_attacker():
    truth = crowd(40, 6)
    first, second = (np.random.default_rng(3) for _ in range(2))
    attacker = NearestPositions(victims=10)
    attacker.run(truth, truth, sensitive={}, rng=first, engine=ENGINE)
    attacker.run(truth, Points.from_records([[]] * 40), sensitive={}, rng=second, engine=ENGINE)
    assert first.random() == second.random()


# What a person reads.


def test_what_is_told_depends_on_the_parameters_only():
    raw, published = attack(TRUE, TRUE, samples=5), attack(TRUE, Points.from_records([[]] * 5), samples=5)
    assert list(raw.measured) == list(published.measured)
    assert raw.charts[0].labels == published.charts[0].labels == ("1", "2", "4", "5")
    assert [chart.labels for chart in raw.charts] == [chart.labels for chart in published.charts]
    assert raw.name == NearestPositions.name == "nearest_positions"
    assert "up to 5 true positions" in raw.adversary
    assert "1 true position " in attack(TRUE, TRUE, samples=1).adversary
    assert attack(TRUE, TRUE, samples=1).charts[0].labels == ("1",)
    assert raw.measured["identity_threshold"] == 0.1


@pytest.mark.parametrize(
    ("g", "label"),
    [
        (1, "1: found"),
        (2, "1/5 to 1/2"),
        (5, "1/10 to 1/5"),
        (10, "1/20 to 1/10"),
        (20, "1/50 to 1/20"),
        (50, "up to 1/50"),
    ],
)
def test_a_probability_on_a_bound_is_in_the_lower_class(g, label):
    data = Points.from_records([[(0, 1.0, 1.0)]] * g)
    chart = attack(data, data).charts[1]
    assert dict(zip(chart.labels, chart.series[0].values, strict=True))[label] == 1


def test_bad_parameters_are_refused():
    with pytest.raises(ParameterError, match="nearest_positions: samples must be an integer from 1 to 1000, got 0"):
        NearestPositions(samples=0)
    with pytest.raises(ParameterError, match="draws must be an integer from 1 to 1000 or 'auto', got 'many'"):
        NearestPositions(draws="many")
    with pytest.raises(ParameterError, match="threshold must be a number from 0 to 1"):
        NearestPositions(threshold=2)


def test_data_that_cannot_be_compared_are_refused():
    with pytest.raises(InputError, match="one trajectory for each of the 5 true ones, in the same order, got 1"):
        attack(TRUE, Points.from_records([[]]))
    with pytest.raises(InputError, match=r"times of the known positions \(integer\) .* \(utc\) cannot be compared"):
        attack(TRUE, replace(TRUE, time_format="utc"))
    attack(TRUE, replace(TRUE, time_format="epoch"))
    with pytest.raises(InputError, match="different frames of coordinates"):
        attack(TRUE, replace(TRUE, frame=Frame(crs="EPSG:2100")))


def test_the_input_is_left_as_it_was():
    before = [column.tobytes() for column in (TRUE.t, TRUE.x, TRUE.y, TRUE.offsets, TRUE.owner)]
    attack(TRUE, TRUE)
    assert [column.tobytes() for column in (TRUE.t, TRUE.x, TRUE.y, TRUE.offsets, TRUE.owner)] == before


@pytest.mark.parametrize("many", [64, 65, 200])
def test_ties_of_more_than_can_be_noted_are_all_counted(many):
    """Slots that may be nearest are noted, up to 64 of them; three people are at places of their own."""
    truth = Points.from_records([[(0, 0.0, 0.0)]] * many + [[(0, 1000.0 + i, 5.0)] for i in range(3)])
    measured = attack(truth, truth).measured
    assert measured["identity_mean"] == pytest.approx(4 / (many + 3))
    assert measured["mean_tied_people"] == pytest.approx((many * many + 3) / (many + 3))
