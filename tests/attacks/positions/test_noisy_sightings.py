"""The attacker of noisy sightings: planted placements, the definition in plain Python, and what is bounded."""

from collections import Counter
from dataclasses import replace
from math import hypot

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.positions import noisy_sightings
from wayveil.attacks.positions.graph_attack import GraphAttack
from wayveil.attacks.positions.look_alikes import LookAlikes
from wayveil.attacks.positions.nearest_positions import NearestPositions
from wayveil.attacks.positions.noisy_sightings import NoisySightings
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points

ENGINE = LocalEngine(workers=2)
DELTA, TIMES = 100.0, 8


def attack(truth, target, seed=1, engine=ENGINE, **parameters):
    parameters = {"delta": DELTA, **parameters}
    return NoisySightings(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


def discs(k, groups, placement, *, trips=1, seed=5):
    """Groups of k people on the way together, each with some trips, and what is published of them.

    Published is the middle of the group and an offset of at most delta / 2: drawn once for a trip, or the one that
    brings it as near as can be to where the person was.
    """
    rng = np.random.default_rng(seed)
    n = k * trips
    middle = np.cumsum(rng.normal(0, 300, (groups, TIMES, 2)), axis=1) + rng.uniform(0, 1e6, (groups, 1, 2))
    true = middle[:, None] + rng.normal(0, 150, (groups, n, 1, 2)) + rng.normal(0, 10, (groups, n, TIMES, 2))
    if placement == "random":
        length, angle = DELTA / 2 * np.sqrt(rng.random((groups, n, 1))), 2 * np.pi * rng.random((groups, n, 1))
        moved = middle[:, None] + np.stack([length * np.cos(angle), length * np.sin(angle)], axis=-1)
    else:
        away = true - middle[:, None]
        far = np.maximum(np.linalg.norm(away, axis=-1, keepdims=True) / (DELTA / 2), 1)
        moved = middle[:, None] + away / far
    owner = (np.arange(groups)[:, None] * k + np.arange(n) % k).ravel()
    return tuple(_points(places.reshape(-1, TIMES, 2), owner) for places in (true, moved))


def _points(places, owner):
    n = len(places)
    return Points(
        offsets=np.arange(n + 1) * TIMES, t=np.tile(np.arange(TIMES) * 60, n), x=places[..., 0].ravel(),
        y=places[..., 1].ravel(), owner=owner, owners="given",
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------------ bounds


@pytest.mark.parametrize(("k", "trips"), [(2, 1), (3, 1), (3, 2), (5, 1)])
@pytest.mark.parametrize("error", [0, 1, 3])
def test_chance_leaves_one_in_k(k, trips, error):
    truth, target = discs(k, 60, "random", trips=trips)
    found = attack(truth, target, error=error, draws=3).measured
    assert found["identity_max"] <= 1 / k + 1e-12
    assert found["identity_mean"] <= 1 / k + 1e-12
    assert found["member_success_at_least"] <= 1 / k
    assert found["member_success_mean"] == pytest.approx(1 / k, abs=0.12)
    assert found["groups"] == 60


def test_one_in_k_is_reached_where_groups_are_apart():
    found = attack(*discs(3, 60, "random")).measured
    assert found["identity_mean"] == pytest.approx(1 / 3)
    assert found["identity_mean_with_1_sighting"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("sightings", [1, 10])
def test_the_nearest_place_gives_the_member_away(sightings):
    found = attack(*discs(3, 60, "nearest"), sightings=sightings).measured
    assert found["member_success_mean"] > 0.7
    assert found["member_success_at_least"] > 1 / 3
    assert found["identity_max"] == 1


def test_more_sightings_tell_more():
    found = attack(*discs(3, 60, "nearest")).measured
    assert found["member_success_mean_with_1_sighting"] < found["member_success_mean"]
    assert found["identity_mean_with_1_sighting"] < found["identity_mean"]


def test_offsets_that_depend_on_the_truth_are_found_though_curves_are_alike():
    """One offset for a whole trip, and all curves of a group the same, but each on the side where its person was."""
    truth, target = discs(3, 60, "random")
    x, y = (column.reshape(-1, 3, TIMES) for column in (target.x, target.y))
    middle_x, middle_y = x.mean(axis=1, keepdims=True), y.mean(axis=1, keepdims=True)
    away_x = (truth.x.reshape(-1, 3, TIMES) - middle_x).mean(axis=2, keepdims=True)
    away_y = (truth.y.reshape(-1, 3, TIMES) - middle_y).mean(axis=2, keepdims=True)
    far = np.hypot(away_x, away_y) / (DELTA / 2)
    moved = replace(target, x=(middle_x + away_x / far).ravel(), y=(middle_y + away_y / far).ravel())
    found = attack(truth, moved).measured
    assert found["identity_max"] == pytest.approx(1 / 3)  # whoever believes in chance
    assert found["member_success_mean"] > 0.9  # whoever does not
    assert found["member_success_at_least"] > 0.5
    assert found["member_success_mean_by_direction"] > 0.7


@pytest.mark.parametrize("other", [NearestPositions, GraphAttack])
def test_other_attackers_who_know_the_discs_guess_among_look_alikes(other):
    """Without the width of the discs a lucky guess counts as certainty; what was placed near the truth has no alike."""
    for placement, bound in (("random", 1 / 3), ("nearest", 1.0)):
        truth, target = discs(3, 30, placement)
        asked = {"sensitive": {}, "engine": ENGINE}
        told = other(delta=DELTA).run(truth, target, rng=np.random.default_rng(1), **asked).measured
        luck = other().run(truth, target, rng=np.random.default_rng(1), **asked).measured
        assert told["identity_max"] == pytest.approx(bound)
        assert luck["identity_max"] == 1
        assert told["identity_mean"] == pytest.approx(luck["identity_mean"], abs=0.15)


def test_somebody_with_most_of_the_trips_is_counted_by_trips():
    truth, target = discs(3, 20, "random", trips=2)
    owner = np.where(np.arange(120) % 6 < 4, np.arange(120) // 6, 100 + np.arange(120))
    truth, target = replace(truth, owner=owner), replace(target, owner=owner)
    assert attack(truth, target).measured["identity_max"] == pytest.approx(4 / 6)


@given(st.integers(0, 2**32))
@settings(deadline=None, max_examples=25)
def test_the_bound_from_below_is_kept_for_any_placement_by_chance(seed):
    truth, target = discs(2, 12, "random", seed=seed)
    found = attack(truth, target, seed=seed, error=0.2, draws=1).measured
    assert found["member_success_at_least"] <= 1 / 2
    assert found["identity_max"] <= 1 / 2


# ---------------------------------------------------------------------------------------------------- the definition


def oracle(truth, target, seen, delta):
    """What is expected of the first attacker, from lists: nearest, its look-alikes, and the larger share."""
    curves = {i: target.record(i) for i in range(len(target)) if target.record(i)}

    def connected(i, j):
        a, b = curves[i], curves[j]
        same = [row[0] for row in a] == [row[0] for row in b]
        return same and all(hypot(p[1] - q[1], p[2] - q[2]) <= delta + 1e-9 for p, q in zip(a, b, strict=True))

    group = {i: {i} for i in curves}
    for _ in curves:
        for i in curves:
            group[i] |= {j for one in group[i] for j in curves if connected(one, j)}

    def one_shape(i, j):
        a, b = curves[i], curves[j]
        return len({(round(p[1] - q[1], 6), round(p[2] - q[2], 6)) for p, q in zip(a, b, strict=True)}) == 1

    def cost(i):
        t, x, y = (np.array([row[c] for row in curves[i]], float) for c in range(3))
        return sum((np.interp(s, t, x) - u) ** 2 + (np.interp(s, t, y) - v) ** 2 for s, u, v in seen)

    best = min(map(cost, curves))
    worth = []
    for i in curves:
        if cost(i) <= best + 1e-9:
            alike = [int(truth.owner[j]) for j in group[i] if one_shape(i, j)]
            worth.append(alike)
    return worth


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=2)),
        min_size=1, max_size=7,
    ),
    st.sampled_from([0.5, 1.0, 1.5]),
)  # fmt: skip
@settings(deadline=None, max_examples=120)
def test_first_attacker_is_the_definition(made, delta):
    owner = [person for person, _ in made]
    data = Points.from_records([[(t, float(x), float(y)) for t, (x, y) in enumerate(r)] for _, r in made], owner=owner)
    found = attack(data, data, delta=delta, error=0, sightings=2, draws=1).measured
    success = []
    for i, person in enumerate(owner):
        worth = oracle(data, data, data.record(i), delta)
        each = [max(Counter(a)[person] / len(a), (person in a) / len(set(a))) for a in worth]
        success.append(sum(each) / len(each))
    over_people = np.mean([np.mean([s for s, o in zip(success, owner, strict=True) if o == p]) for p in set(owner)])
    assert found["identity_mean"] == pytest.approx(max(np.mean(success), over_people))
    single = attack(data, data, delta=delta, error=0, sightings=1, draws=1).measured["identity_max"]
    assert found["identity_max"] >= max(success) - 1e-9
    assert single <= 1


def test_groups_are_connected_and_shapes_differ_by_a_constant():
    rows = [[(0, 0.0, 0.0), (1, 5.0, 0.0)], [(0, 2.0, 0.0), (1, 7.0, 0.0)], [(0, 4.0, 0.0), (1, 9.0, 1.0)]]
    rows += [[(0, 90.0, 0.0), (1, 95.0, 0.0)], [], [(0, 1.0, 0.0), (2, 6.0, 0.0)]]
    found = LookAlikes.of(Points.from_records(rows), 2.5)
    assert found.group[0] == found.group[1] == found.group[2]
    assert len({int(code) for code in found.group[[0, 3, 5]]}) == 3
    assert found.group[4] == found.shape[4] == -1
    assert found.shape[0] == found.shape[1] != found.shape[2]


def test_writing_degrees_does_not_change_a_shape():
    _, target = discs(4, 5, "random")
    frame = Frame.for_degrees(np.array([23.7, 23.8]), np.array([37.9, 38.0]))
    x, y = frame.to_metres(*frame.to_file(target.x, target.y))
    found = LookAlikes.of(replace(target, frame=frame, x=x, y=y), DELTA)
    assert found.shape.tolist() == LookAlikes.of(target, DELTA).shape.tolist()
    assert len(set(found.shape.tolist())) == 5


# ------------------------------------------------------------------------------------------------------------ the rest


def test_raw_data_hide_nobody():
    truth, _ = discs(3, 30, "random")
    found = attack(truth, truth, error=0)
    assert found.measured["identity_mean"] == found.measured["identity_max"] == 1
    assert found.victims == 90


def test_what_is_not_published_is_not_found():
    truth, target = discs(3, 30, "random")
    keep = np.repeat(np.arange(90) >= 6, TIMES)
    found = attack(truth, target.where(keep)).measured
    assert found["victims_published_share"] == 84 / 90
    assert found["identity_mean_if_published"] > found["identity_mean"]
    nothing = attack(truth, target.where(np.zeros(target.n_rows, bool))).measured
    assert (nothing["identity_mean"], nothing["member_success_mean"], nothing["member_success_at_least"]) == (
        0, None, None,
    )  # fmt: skip


def test_nobody_there():
    empty = Points.from_records([[], []])
    found = attack(empty, empty)
    assert (found.victims, found.measured["identity_mean"], found.measured["identity_max"]) == (0, None, None)


def test_large_groups_are_searched_for_the_nearest(monkeypatch):
    truth, target = discs(3, 30, "nearest")
    told = attack(truth, target).measured["member_success_mean"]
    monkeypatch.setattr("wayveil.attacks.positions.noisy_sightings._LARGEST_GROUP", 2)
    assert 0.5 < attack(truth, target).measured["member_success_mean"] <= told


def test_too_many_pairs_make_one_group_per_timestamps(monkeypatch):
    monkeypatch.setattr("wayveil.attacks.positions.look_alikes._MOST_PAIRS", 1)
    truth, target = discs(3, 30, "random")
    found = attack(truth, target).measured
    assert found["groups"] == 1
    assert found["identity_max"] == pytest.approx(1 / 3)


def test_the_same_seed_gives_the_same_on_any_number_of_cores():
    truth, target = discs(3, 60, "nearest")
    one = attack(truth, target, engine=LocalEngine(workers=1))
    assert one == attack(truth, target, engine=LocalEngine(workers=2))
    assert one.measured != attack(truth, target, seed=2).measured


def test_work_is_bounded_by_attacking_less_often_and_says_so(monkeypatch):
    truth, target = discs(4, 5, "random")
    whole = attack(truth, target, draws=5)
    assert "played" not in whole.adversary
    monkeypatch.setattr(noisy_sightings, "_MOST_PAIRS", 3 * 20 * 20)
    fewer = attack(truth, target, draws=5)
    assert fewer.adversary.endswith("; played 3 times on each victim, because trajectories are many")
    three = attack(truth, target, draws=3)
    assert fewer.measured == three.measured
    monkeypatch.setattr(noisy_sightings, "_MOST_PAIRS", 1)
    assert "played 1 time on" in attack(truth, target, draws=5).adversary
    assert attack(truth, target, draws=5).victims == 20


def test_mistakes_are_told():
    truth, target = discs(3, 2, "random")
    with pytest.raises(InputError, match="one trajectory for each"):
        attack(truth, target.take(np.arange(3)))
    with pytest.raises(ParameterError, match="sightings"):
        attack(truth, target, sightings=0)
