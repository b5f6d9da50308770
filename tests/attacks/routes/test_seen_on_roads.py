"""The observer on the road against a restatement of the definition, on planted and on random data."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.routes import road_search
from wayveil.attacks.routes import seen_on_roads as module
from wayveil.attacks.routes.seen_on_roads import SeenOnRoads
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import RoadNetwork, Routes

ENGINE = LocalEngine(workers=2)
ROADS = ("ab", "bc", "cd", "da", "bd")
NETWORK = RoadNetwork.from_roads([(name, *name) for name in ROADS])
TURNED = RoadNetwork.from_roads([(name, *name) for name in ("ef", *ROADS[::-1])])


def routes(*records, network=NETWORK, **more):
    return Routes.from_records([r.split() for r in records], network=network, **more)


def attack(truth, target, seed=1, engine=ENGINE, **parameters):
    return SeenOnRoads(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


# The definition: who has the roads in that order, in a trajectory of that time?


def has(record, roads):
    rest = iter(record)
    return all(road in rest for road in roads)


def fitting(target, span, times, roads, victim):
    """Return the number of people who fit, and the risk: that of picking one of them, or one of the trajectories."""
    spans = list(zip(target.t_start.tolist(), target.t_end.tolist(), strict=True))
    used = {spans[i] for i in range(len(target)) if target.record(i)}
    found = []
    for i in range(len(target)):
        of_time = spans[i] == span if span in used else spans[i][0] <= times[0] and times[-1] <= spans[i][1]
        if of_time and has(target.record(i), roads):
            found.append(-1 - i if target.owners == "hidden" or target.owner[i] < 0 else int(target.owner[i]))
    if not found:
        return 0, 0
    return len(set(found)), max(Fraction(1, len(set(found))), Fraction(found.count(victim), len(found)))


def numbers(truth, target, size):
    """For each person: who fits and the risk, for every set of `size` roads of every trajectory."""
    known = {}
    for i in range(len(truth)):
        record, first = truth.record(i), int(truth.offsets[i])
        span = int(truth.t_start[i]), int(truth.t_end[i])
        for chosen in combinations(range(len(record)), min(size, len(record))) if record else ():
            times = [int(truth.t[first + p]) for p in chosen]
            who = int(truth.owner[i])
            known.setdefault(who, []).append(fitting(target, span, times, [record[p] for p in chosen], who))
    return known


record = st.lists(st.sampled_from(ROADS), max_size=5)
span = st.sampled_from([(0, 10), (10, 20), (5, 12)])


@st.composite
def data(draw, network=NETWORK, dummies=False, single=False):
    trips = draw(st.lists(st.tuples(record, span), max_size=7))
    times = [sorted(draw(st.lists(st.integers(*s), min_size=len(r), max_size=len(r)))) for r, s in trips]
    owner = draw(st.lists(st.integers(0, 3), min_size=len(trips), max_size=len(trips)))
    if single:
        owner = range(len(trips))
    if dummies:
        owner = [o if o else -1 - i for i, o in enumerate(owner)]
    made = Routes.from_records([r for r, _ in trips], network=network, slices=[s for _, s in trips], owner=list(owner))
    return replace(made, t=np.array([t for r in times for t in r], np.int64))


@settings(deadline=None, max_examples=200, derandomize=True)
@given(data(), data(TURNED, dummies=True), st.integers(1, 5))
def test_the_worst_roads_against_the_definition(truth, target, roads):
    found = attack(truth, target, roads=roads, choice="worst")
    known = [numbers(truth, target, size) for size in range(1, roads + 1)]
    worst = [max(risk for by_size in known for _, risk in by_size[person]) for person in known[0]]
    sizes = {person: [n for by_size in known for n, _ in by_size[person] if n] for person in known[0]}
    fitting = [n for listed in sizes.values() for n in listed]
    assert found.victims == len(worst)
    assert not found.sampled
    m = found.measured
    if not worst:
        assert m["identity_mean"] is None
        assert m["identity_max"] is None
        return
    assert m["identity_mean"] == pytest.approx(float(sum(worst) / len(worst)))
    assert m["identity_max"] == pytest.approx(float(max(worst)))
    assert m["identity_min"] == (pytest.approx(float(min(r for r in worst if r))) if any(worst) else None)
    assert m["unmatched_share"] == pytest.approx(worst.count(0) / len(worst))
    assert m["unique_share"] == pytest.approx(sum(1 in listed for listed in sizes.values()) / len(worst))
    assert m["min_matching_people"] == min(fitting, default=None)
    assert m["identity_share_above"] == pytest.approx(sum(r > Fraction(1, 10) for r in worst) / len(worst))


@settings(deadline=None, max_examples=100)
@given(data(single=True), data(TURNED), st.integers(0, 9))
def test_random_roads_where_there_is_one_set(truth, target, seed):
    """With 5 roads known of trips of at most 5, nothing is left to chance."""
    found = attack(truth, target, seed=seed, roads=5, draws=2)
    known = numbers(truth, target, 5)
    risks = [float(risk) for ((_, risk),) in known.values()]
    assert not found.sampled
    assert found.measured["identity_mean"] == (pytest.approx(sum(risks) / len(risks)) if risks else None)
    assert found.measured["unmatched_share"] == (pytest.approx(risks.count(0) / len(risks)) if risks else None)
    assert found.measured["unique_share"] == (
        pytest.approx(sum(n == 1 for ((n, _),) in known.values()) / len(risks)) if risks else None
    )


@settings(deadline=None, max_examples=60)
@given(data(), data(TURNED), st.integers(1, 3), st.integers(0, 9))
def test_random_roads_are_between_the_best_and_the_worst(truth, target, roads, seed):
    found = attack(truth, target, seed=seed, roads=roads, draws=3)
    known = numbers(truth, target, roads)
    risks = [[float(risk) for _, risk in listed] for listed in known.values()]
    bounds = [(min(listed), max(listed)) for listed in risks]
    if bounds:
        low, high = (sum(side) / len(bounds) for side in zip(*bounds, strict=True))
        assert low - 1e-9 <= found.measured["identity_mean"] <= high + 1e-9


def test_the_mean_over_many_draws_is_the_mean_over_trajectories_and_their_sets():
    truth = routes("ab bc cd", "da", owner=[0, 0])
    target = routes("ab bc", "ab", "ab cd", "cd", "cd", "da", "da", "da", "da")
    exact = ((1 / 3 + 1 / 1 + 1 / 3) / 3 + 1 / 4) / 2
    one = attack(truth, target, roads=1, draws=1000)
    assert one.measured["identity_mean"] == pytest.approx(exact, abs=0.02)
    pairs = ((1 / 1 + 1 / 1 + 0) / 3 + 1 / 4) / 2
    found = attack(truth, target, roads=2, draws=1000)
    assert found.measured["identity_mean"] == pytest.approx(pairs, abs=0.03)
    assert found.measured["unmatched_share"] == pytest.approx(1 / 6, abs=0.03)
    assert found.measured["unique_share"] == pytest.approx(2 / 6, abs=0.03)
    assert found.sampled
    assert found.victims == 1


def test_maximum_mean_and_minimum_of_a_small_publication():
    truth = routes("ab bc", "ab bc", "ab bc", "cd da", "cd da", "bd")
    target = routes("ab bc", "ab bc", "ab bc", "cd da", "cd da", owner=[0, 1, 2, 3, -1])
    found = attack(truth, target, threshold=Fraction(1, 3))
    assert found.measured == pytest.approx(
        {
            "identity_mean": (3 * 1 / 3 + 2 * 1 / 2 + 0) / 6,
            "identity_mean_low": None,
            "identity_mean_high": None,
            "identity_mean_if_matched": (3 * 1 / 3 + 2 * 1 / 2) / 5,
            "identity_max": 1 / 2,
            "identity_min": 1 / 3,
            "identity_threshold": 1 / 3,
            "identity_share_above": 2 / 6,
            "unmatched_share": 1 / 6,
            "unique_share": 0,
            "min_matching_people": 2,
        }
    )
    assert found.name == "seen_on_roads"
    assert found.adversary == "sees a person on 2 roads of a trip, in order, drawn at random"
    (chart,) = found.charts
    shares = dict(zip(chart.labels, chart.series[0].values, strict=True))
    assert shares["no match"] == pytest.approx(1 / 6)
    assert shares["1/5 to 1/2"] == pytest.approx(5 / 6)
    alone = attack(truth, routes("bd")).charts[0]
    assert dict(zip(alone.labels, alone.series[0].values, strict=True))["1: singled out"] == pytest.approx(1 / 6)


def test_one_person_with_two_hundred_trips_is_found_by_picking_a_trajectory():
    data = routes(*["ab"] * 203, owner=[7] * 200 + [0, 1, 2])
    found = attack(data, data, choice="worst")
    assert found.measured["identity_max"] == 200 / 203
    assert found.measured["identity_min"] == 1 / 4
    # Whoever is not there is looked for among the people, and trajectories of dummies are among the trajectories.
    assert attack(routes("ab", owner=[99]), data).measured["identity_max"] == 1 / 4
    padded = routes("ab", "ab", "ab", "ab", owner=[7, 7, -1, -1])
    assert attack(data, padded, choice="worst").measured["identity_max"] == 1 / 2
    # The worst set is that of the largest share, which is not that of the fewest people.
    ties = routes("ab bc", "ab", "ab", "ab", "bc", owner=[0, 0, 0, 1, 2])
    assert attack(ties, ties, choice="worst", roads=1).measured["identity_max"] == 3 / 4


def test_order_counts_and_gaps_do_not():
    truth = routes("ab bc cd da")
    assert attack(truth, routes("da cd bc ab"), roads=4).measured["identity_max"] == 0
    assert attack(truth, routes("ab bd bc bd cd ab da"), roads=4).measured["identity_max"] == 1
    # Twice on the same road is seen only where somebody drives it twice.
    assert attack(routes("ab ab"), routes("ab"), roads=2).measured["identity_max"] == 0


def test_the_parts_of_a_person_count_once_and_withheld_owners_count_as_trajectories():
    truth = routes("ab")
    parts = routes("ab", "bc ab", "ab", owner=[7, 7, 8])
    assert attack(truth, parts).measured["identity_max"] == 1 / 2
    assert attack(truth, replace(parts, owners="declared")).measured["identity_max"] == 1 / 2
    assert attack(truth, replace(parts, owners="hidden")).measured["identity_max"] == 1 / 3
    mine = routes("ab", "ab", owner=[3, 3])
    assert attack(mine, parts).victims == 1
    assert attack(replace(mine, owners="hidden"), parts).victims == 2


def test_the_slice_of_the_trip_goes_before_times():
    truth = replace(routes("ab", slices=[(10, 20)]), t=np.array([10]))
    target = routes("ab", "ab", "ab", slices=[(0, 10), (10, 20), (5, 15)])
    assert attack(truth, target).measured["identity_max"] == 1
    # Without that slice, those that hold the time are taken, their ends included.
    assert attack(truth, target.take(np.array([0, 2]))).measured["identity_max"] == 1 / 2
    assert attack(replace(truth, t=np.array([11])), target.take(np.array([0, 2]))).measured["identity_max"] == 1
    assert attack(replace(truth, t=np.array([16])), target.take(np.array([0, 2]))).measured["identity_max"] == 0
    both = replace(routes("ab bc", slices=[(0, 99)]), t=np.array([2, 8]))
    for spans, expected in (((2, 8), 1), ((3, 8), 0), ((2, 7), 0)):
        assert attack(both, routes("ab bc", slices=[spans])).measured["identity_max"] == expected


def test_people_are_drawn_where_there_are_more():
    truth = routes(*["ab"] * 30, *["bc"] * 10)
    found = attack(truth, truth, victims=10, roads=1)
    assert (found.victims, found.sampled) == (10, True)
    assert found.measured["identity_mean"] not in (1 / 30, 1 / 10)
    assert attack(truth, truth, victims=40, roads=1).sampled is False


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_the_same_seed_gives_the_same_on_any_number_of_workers_and_cuts(monkeypatch, choice):
    rng = np.random.default_rng(5)
    records = [list(rng.choice(ROADS, rng.integers(0, 9))) for _ in range(60)]
    truth = Routes.from_records(records, network=NETWORK, owner=[i % 40 for i in range(60)])
    target = truth.take(np.arange(0, 60, 2))
    whole = attack(truth, target, choice=choice, victims=30, engine=LocalEngine(workers=1))
    monkeypatch.setattr(road_search, "_ROWS_AT_ONCE", 7)
    monkeypatch.setattr(road_search, "_MOST_TASKS", 1000)
    monkeypatch.setattr(road_search, "_STEPS_AT_ONCE", 11)
    assert attack(truth, target, choice=choice, victims=30) == whole
    if choice == "worst":  # draws do not depend on blocks, as there are none
        monkeypatch.setattr(module, "_SETS_AT_ONCE", 1)
        assert attack(truth, target, choice=choice, victims=30) == whole


def test_blocks_of_people_are_put_together(monkeypatch):
    truth = routes("ab", "bc", "bc", "cd")
    monkeypatch.setattr(module, "_SETS_AT_ONCE", 10)
    found = attack(truth, truth, draws=5)
    assert found.victims == 4
    assert found.measured["identity_mean"] == pytest.approx((1 + 1 / 2 + 1 / 2 + 1) / 4)


def test_too_many_sets_are_drawn(monkeypatch):
    truth = routes("ab bc cd da", "ab bc", owner=[0, 1])
    assert not attack(truth, truth, choice="worst").sampled
    monkeypatch.setattr(module, "_MOST_SETS", 9)
    found = attack(truth, truth, choice="worst")
    assert found.sampled
    assert found.measured["identity_max"] == 1
    assert found.measured["identity_min"] == 1 / 2
    monkeypatch.setattr(module, "_MOST_SETS", 10)
    assert not attack(truth, truth, choice="worst").sampled


def test_positions_are_drawn_evenly():
    n = 20_000
    found = module._positions(np.full(n, 4), np.full(n, 2), 3, np.random.default_rng(3))
    assert (found[:, 2] == -1).all()
    seen = Counter(map(tuple, found[:, :2].tolist()))
    assert set(seen) == set(combinations(range(4), 2))
    assert min(seen.values()) > 0.9 * n / 6
    assert module._positions(np.array([1, 3]), np.array([1, 3]), 3, np.random.default_rng(3)).tolist() == [
        [0, -1, -1],
        [0, 1, 2],
    ]


@pytest.mark.parametrize("choice", ["random", "worst"])
@pytest.mark.parametrize("records", [[], ["", ""]])
def test_nothing_published_and_nobody_to_attack(records, choice):
    nothing, somebody = routes(*records), routes("ab bc")
    found = attack(somebody, nothing, choice=choice)
    assert found.victims == 1
    assert found.measured["identity_max"] == 0
    assert found.measured["identity_min"] is None
    assert found.measured["unmatched_share"] == 1
    assert found.measured["min_matching_people"] is None
    nobody = attack(nothing, somebody, choice=choice)
    assert nobody.victims == 0
    assert nobody.measured["identity_mean"] is None
    assert nobody.measured["unmatched_share"] is None
    blank = routes(*records, network=RoadNetwork.from_roads([]))
    assert attack(blank, blank, choice=choice).victims == 0
    assert attack(somebody, blank, choice=choice).measured["identity_max"] == 0


def test_no_shared_road():
    other = routes("x", network=RoadNetwork.from_roads([("x", "1", "2")]))
    assert attack(routes("ab"), other).measured["unmatched_share"] == 1


def test_nothing_fits_a_road_that_was_not_published():
    """It must not be taken for a shorter sequence."""
    target = routes("ab", "cd", network=RoadNetwork.from_roads([("ab", "a", "b"), ("cd", "c", "d")]))
    for known in ("ab bc", "bc cd", "ab bc cd"):
        assert attack(routes(known), target, roads=3).measured["identity_max"] == 0


def test_a_mean_of_tenths_is_a_tenth():
    truth = routes(*["ab"] * 10)
    found = attack(truth, truth, draws=3)
    assert found.measured["identity_max"] == 0.1
    assert found.measured["identity_mean"] == 0.1
    assert found.measured["identity_share_above"] == 0
    (chart,) = found.charts
    assert dict(zip(chart.labels, chart.series[0].values, strict=True))["1/20 to 1/10"] == 1


def test_one_of_several_trips_is_drawn():
    assert attack(routes("ab", "bc", owner=[0, 0]), routes("ab")).sampled
    assert not attack(routes("ab", "bc", owner=[0, 1]), routes("ab")).sampled


def test_only_the_earliest_row_of_a_sequence_is_followed():
    """Otherwise the ways to find a sequence in a long trip on one road could not be counted."""
    target = routes("ab ab bc ab", "bc")
    attacked = road_search.Attacked.of(target, target)
    tree = road_search.Tree.of(np.array([0]), np.array([[0, 1]]), 1)
    states = attacked._next(tree.levels[0], np.array([0, 1]), np.array([-1, 3]), np.array([0, 0]))
    assert [column.tolist() for column in states] == [[0], [0], [1]]


def test_words_for_the_adversary():
    assert SeenOnRoads(roads=1)._adversary == "sees a person on 1 road of a trip, in order, drawn at random"
    assert SeenOnRoads(choice="worst")._adversary == (
        "sees a person on up to 2 roads of a trip, in order: those that are worst for the person"
    )


def test_bad_parameters_and_data():
    with pytest.raises(ParameterError, match="seen_on_roads: roads must be an integer from 1 to 5, got 6"):
        SeenOnRoads(roads=6)
    with pytest.raises(InputError, match=r"seen_on_roads: the times of the known roads \(integer\)"):
        attack(routes("ab"), replace(routes("ab"), time_format="utc"))
    assert attack(routes("ab"), replace(routes("ab"), time_format="epoch")).measured["identity_max"] == 1
