"""Match: small cases by hand, connected routes from random points, frames, and wrong input."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayveil.steps.roads.match as module
from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points, RoadNetwork, Routes
from wayveil.steps.roads.match import Match

Places = dict[str, tuple[float, float]]


def two_way(*streets: str, places: Places, frame: Frame | None = None) -> RoadNetwork:
    """A network of streets such as "ab"; the way back is "ba"."""
    roads = [(road, road[0], road[1]) for street in streets for road in (street, street[::-1])]
    return RoadNetwork.from_roads(roads, places=places, frame=frame)


def one_way(*roads: str, places: Places) -> RoadNetwork:
    return RoadNetwork.from_roads([(road, road[0], road[1]) for road in roads], places=places)


def matched(network: RoadNetwork, *points: tuple[int, float, float], **settings: float) -> list[list[str]]:
    routes, _ = Match(**settings).run(Points.from_records([list(points)]), network=network)
    return [routes.record(i) for i in range(len(routes))]


#  g - h - i      every street 100 m long, both ways
#  d - e - f
#  a - b - c
GRID_PLACES: Places = {name: (100.0 * (i % 3), 100.0 * (i // 3)) for i, name in enumerate("abcdefghi")}
GRID = two_way("ab", "bc", "de", "ef", "gh", "hi", "ad", "be", "cf", "dg", "eh", "fi", places=GRID_PLACES)
LINE = two_way("ab", "bc", "cd", places={"a": (0, 0), "b": (100, 0), "c": (200, 0), "d": (300, 0)})


def test_a_way_through_a_grid_with_a_turn() -> None:
    points = [(0, 10, 4), (1, 60, -6), (2, 104, 30), (3, 96, 80), (4, 130, 103), (5, 180, 95)]
    assert matched(GRID, *points) == [["ab", "be", "ef"]]


def test_roads_without_a_point_are_on_the_route() -> None:
    assert matched(GRID, (0, 10, 0), (1, 200, 150)) in ([["ab", "be", "ef", "fi"]], [["ab", "bc", "cf", "fi"]])
    assert matched(LINE, (0, 10, 0), (1, 290, 0)) == [["ab", "bc", "cd"]]
    assert matched(LINE, (0, 290, 0), (1, 10, 0)) == [["dc", "cb", "ba"]]


def test_a_one_way_street_is_not_driven_the_wrong_way() -> None:
    """Two one-way streets, 20 m apart: the points go west, nearer to the one that leads east."""
    places: Places = {"a": (0, 0), "b": (500, 0), "c": (500, 20), "d": (0, 20)}
    network = one_way("ab", "bc", "cd", "da", places=places)
    assert matched(network, (0, 400, 8), (1, 250, 8), (2, 100, 8)) == [["cd"]]
    assert matched(network, (0, 100, 12), (1, 250, 12), (2, 400, 12)) == [["ab"]]


def test_of_parallel_roads_the_one_that_fits() -> None:
    places: Places = {"a": (0, 0), "b": (200, 0)}
    straight = RoadNetwork.from_roads([("low", "a", "b"), ("high", "a", "b"), ("same", "a", "b")], places=places)
    network = replace(
        straight,
        shape=np.array([0, 2, 6, 8]),
        shape_x=np.array([0, 200, 0, 0, 200, 200, 0, 200.0]),
        shape_y=np.array([0, 0, 0, 60, 60, 0, 0, 0.0]),
    )
    assert matched(network, (0, 20, 55), (1, 180, 55)) == [["high"]]
    assert matched(network, (0, 20, 5), (1, 180, 5)) == [["low"]]


def test_turning_around_at_a_node() -> None:
    points = [(0, 20, 0), (1, 80, 0), (2, 150, 0), (3, 195, 0), (4, 140, 0), (5, 60, 0), (6, 10, 0)]
    assert matched(LINE, *points, beta=2, radius=20) == [["ab", "bc", "cb", "ba"]]


def test_a_loop_is_driven_around_once_more() -> None:
    """A road that begins and ends at one node: who is at its end and then at its beginning has gone around."""
    loop = RoadNetwork.from_roads([("aa", "a", "a")], places={"a": (0, 0)})
    loop = replace(
        loop,
        shape=np.array([0, 5]),
        shape_x=np.array([0, 400, 400, 0, 0.0]),
        shape_y=np.array([0, 0, 400, 400, 0.0]),
    )
    assert matched(loop, (0, 300, 0), (1, 100, 400)) == [["aa"]]
    assert matched(loop, (0, 300, 0), (1, 0, 300), (2, 150, 0)) == [["aa", "aa"]]


def test_a_point_far_from_all_roads_is_left_out() -> None:
    data = Points.from_records([[(0, 10, 0), (1, 120, 500), (2, 190, 0)]])
    routes, notes = Match().run(data, network=LINE)
    assert routes.record(0) == ["ab", "bc"]
    assert notes == (
        "3 points became 2 roads in 1 trajectory.",
        "1 of 3 points was left out: it has no road within 50 m.",
    )
    assert routes.t.tolist() == [0, 1]


@pytest.mark.parametrize("record", [[(0, 50, 0)], [(t, 50, 0) for t in range(5)], [(0, 50, 0), (1, 65, 0)], []])
def test_who_does_not_move_has_no_route(record: list) -> None:
    other = [(0, 10, 0), (1, 90, 0)]
    routes, notes, source = Match().run_with_origin(Points.from_records([record, other]), network=LINE)
    assert source.tolist() == [1]
    assert routes.record(0) == ["ab"]
    expected = ["1 part of a trajectory was dropped: it shows no way along a road."] * (len(record) > 0)
    assert list(notes[1:]) == [*expected, "1 of 2 trajectories has no route."]


def test_across_a_road_is_no_way_along_it() -> None:
    long = two_way("ab", places={"a": (0, 0), "b": (1000, 0)})
    assert matched(long, (0, 500, -40), (1, 500, 40)) == []


ISLANDS = two_way("ab", "cd", places={"a": (0, 0), "b": (100, 0), "c": (140, 0), "d": (240, 0)})


def test_a_trajectory_is_cut_where_there_is_no_way() -> None:
    data = Points.from_records(
        [[(0, 0, 0), (1, 5, 5)], [(0, 10, 0), (5, 70, 0), (9, 190, 0), (20, 230, 0)]],
        owner=[4, 7],
        attributes={"kind": ["car", "bus"]},
    )
    routes, notes, source = Match(radius=25, noise=5).run_with_origin(data, network=ISLANDS)
    assert [routes.record(i) for i in range(len(routes))] == [["ab"], ["cd"]]
    assert routes.t.tolist() == [0, 9]
    assert source.tolist() == [1, 1]
    assert routes.owner.tolist() == [7, 7]
    assert routes.owners == "given"
    assert routes.attributes["kind"].values() == ["bus", "bus"]
    assert notes == (
        "6 points became 2 roads in 2 trajectories.",
        "Trajectories were cut at 1 place where no way on the network fits the points.",
        "1 part of a trajectory was dropped: it shows no way along a road.",
        "1 of 2 trajectories has no route.",
    )


def test_a_detour_may_be_so_long_and_no_longer() -> None:
    """From a to d on a square the way is 300 m and the straight line 100 m."""
    network = one_way("ab", "bc", "cd", places={"a": (0, 0), "b": (0, 100), "c": (100, 100), "d": (100, 0)})
    points = [(0, 0, 10), (1, 0, 40), (2, 100, 40), (3, 100, 10)]
    assert matched(network, *points, max_detour=121, radius=25, noise=5) == [["ab", "bc", "cd"]]
    assert matched(network, *points, max_detour=119, radius=25, noise=5) == [["ab"], ["cd"]]


def test_times_of_entering_roads() -> None:
    """70 m of 240 m are before b, 170 m before c; people wait at the first point until 100."""
    data = Points.from_records([[(0, 30, 0), (50, 35, 0), (100, 25, 0), (340, 270, 0), (350, 295, 0)]])
    routes, _ = Match(noise=5).run(data, network=LINE)
    assert routes.record(0) == ["ab", "bc", "cd"]
    assert routes.t.tolist() == [0, 170, 270]
    assert (routes.t_start.tolist(), routes.t_end.tolist()) == ([0], [270])


def test_times_are_those_of_the_data() -> None:
    begin = 1_700_000_000_000_000
    data = Points.from_records([[(begin, 0, 0), (begin + 3_000_000, 300, 0)]], time_format="utc")
    routes, _ = Match().run(data, network=LINE)
    assert routes.time_format == "utc"
    assert (routes.t - begin).tolist() == [0, 1_000_000, 2_000_000]


def test_a_road_that_is_only_touched_is_left_out() -> None:
    """The first point is nearest to b, the last one nearest to c: ab and cd, or ba and cb, are touched."""
    assert matched(LINE, (0, 100, 3), (10, 150, 0), (20, 200, 3)) == [["bc"]]
    routes, _ = Match().run(Points.from_records([[(0, 200, 3), (10, 150, 0), (20, 100, 3)]]), network=LINE)
    assert routes.record(0) == ["cb"]
    assert routes.t.tolist() == [0]
    one = one_way("ab", "bc", "cd", places={"a": (0, 0), "b": (100, 0), "c": (100, 100), "d": (200, 100)})
    assert matched(one, (0, 130, 0), (10, 100, 50), (20, 70, 100), noise=5) == [["bc"]]


def test_a_step_back_on_a_road_is_noise() -> None:
    points = [(0, 10, 0), (1, 90, 0), (2, 45, 0), (3, 80, 0), (4, 190, 0)]
    assert matched(LINE, *points) == [["ab", "bc"]]


def test_a_step_back_to_the_beginning_of_the_last_road_does_not_undo_it() -> None:
    assert matched(LINE, (0, 10, 0), (1, 60, 0), (2, 140, 0), (3, 100, 0)) == [["ab", "bc"]]


def test_a_long_way_between_two_points() -> None:
    nodes = [f"n{i:03}" for i in range(301)]
    chain = [(f"{one}>{other}", one, other) for one, other in pairwise(nodes)]
    network = RoadNetwork.from_roads(chain, places={name: (10.0 * i, 0.0) for i, name in enumerate(nodes)})
    data = Points.from_records([[(0, 5, 0), (2990, 2995, 0)], [(0, 1005, 0), (1000, 2005, 0)]])
    routes, _ = Match().run(data, network=network)
    assert routes.record(0) == [name for name, _, _ in chain]
    assert routes.record(1) == [name for name, _, _ in chain[100:201]]
    assert routes.t.tolist() == [0, *range(5, 2990, 10), 0, *range(5, 1000, 10)]


def test_noise_and_beta_weigh_distance_against_detours() -> None:
    """A point beside a side street: on it with little noise, passed by with much."""
    network = two_way("ab", "bc", "be", places={"a": (0, 0), "b": (100, 0), "c": (200, 0), "e": (100, 60)})
    points = [(0, 20, 0), (1, 60, 0), (2, 100, 18), (3, 140, 0), (4, 180, 0)]
    assert matched(network, *points, noise=5) == [["ab", "bc"]]
    assert matched(network, *points, noise=4, beta=50) == [["ab", "be", "eb", "bc"]]
    assert matched(network, *points, noise=4, beta=1) == [["ab", "bc"]]
    assert matched(network, *points, noise=2, u_turn=0) == [["ab", "be", "eb", "bc"]]
    assert matched(network, *points, noise=2, u_turn=900) == [["ab", "bc"]]


def test_roads_farther_than_the_radius_do_not_count() -> None:
    assert matched(LINE, (0, 20, 30), (1, 80, 30), radius=31) == [["ab"]]
    with pytest.raises(InputError, match=r"none of 2 points lies within 29 m of a road"):
        matched(LINE, (0, 20, 30), (1, 80, 30), radius=29)


walks = st.lists(st.tuples(st.integers(-30, 230), st.integers(-30, 230)), max_size=8).map(
    lambda places: [(10 * i, float(x), float(y)) for i, (x, y) in enumerate(places)]
)
grids = st.lists(st.sampled_from(GRID.roads), min_size=1, unique=True).map(
    lambda roads: one_way(*roads, places=GRID_PLACES)
)


@given(st.lists(walks, min_size=1, max_size=4), grids, st.sampled_from([5.0, 20.0]), st.sampled_from([40.0, 500.0]))
@settings(deadline=None, max_examples=200)
def test_every_route_is_connected(records: list, network: RoadNetwork, noise: float, max_detour: float) -> None:
    data = Points.from_records(records)
    before = data.x.copy()
    try:
        routes, _, source = Match(noise=noise, max_detour=max_detour).run_with_origin(data, network=network)
    except InputError:
        return
    assert (data.x == before).all()
    assert len(source) == len(routes)
    assert source.tolist() == sorted(source.tolist())
    assert (np.diff(routes.offsets) > 0).all()
    for i in range(len(routes)):
        for one, other in pairwise(routes.record(i)):
            assert one[1] == other[0]
        t = routes.t[routes.offsets[i] : routes.offsets[i + 1]]
        times = data.t[data.offsets[source[i]] : data.offsets[source[i] + 1]]
        assert times[0] <= t[0] <= t[-1] <= times[-1]


def columns_of(routes: Routes, source: Any) -> list:
    return [routes.offsets.tolist(), routes.road.tolist(), routes.t.tolist(), source.tolist()]


@pytest.mark.parametrize(("cores", "size"), [(1, 7), (4, 7), (4, 1), (2, 10**9)])
def test_blocks_and_cores_change_nothing(monkeypatch: pytest.MonkeyPatch, cores: int, size: int) -> None:
    rng = np.random.default_rng(5)
    places = np.cumsum(rng.normal(0, 40, (60, 2)), axis=0) % 200
    records = [[(t, *places[t + 5 * i]) for t in range(i % 6)] for i in range(10)]
    data = Points.from_records(records)
    routes, notes, source = Match().run_with_origin(data, network=GRID)
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setattr(module, "_POINTS_OF_A_BLOCK", size)
    again, same_notes, same_source = Match().run_with_origin(data, network=GRID)
    assert columns_of(again, same_source) == columns_of(routes, source)
    assert same_notes == notes


def test_a_network_in_another_frame_of_degrees() -> None:
    lon, lat = np.array([11.90, 11.91, 11.92]), np.array([50.30, 50.30, 50.31])
    frame, other = Frame.for_degrees(lon, lat), Frame.for_degrees(lon + 3, lat - 4)
    assert frame != other
    x, y = other.to_metres(lon, lat)
    places = {name: (float(x[i]), float(y[i])) for i, name in enumerate("abc")}
    network = two_way("ab", "bc", places=places, frame=other)
    x, y = frame.to_metres(np.array([11.902, 11.909, 11.918]), np.array([50.30, 50.30, 50.308]))
    data = Points.from_records([list(zip(range(3), x.tolist(), y.tolist(), strict=True))], frame=frame)
    routes, _ = Match().run(data, network=network)
    assert routes.record(0) == ["ab", "bc"]
    assert routes.network is network
    with pytest.raises(InputError, match=r"points are in degrees and the road network is in metres"):
        Match().run(data, network=LINE)
    with pytest.raises(InputError, match=r"points are in metres and the road network is in degrees"):
        matched(network, (0, 0, 0))


def test_planar_frames_are_taken_for_one() -> None:
    data = Points.from_records([[(0, 10, 0), (1, 90, 0)]], frame=Frame(crs="EPSG:25832"))
    assert Match().run(data, network=LINE)[0].record(0) == ["ab"]


def test_no_data_is_no_mistake() -> None:
    routes, notes, source = Match().run_with_origin(Points.from_records([]), network=LINE)
    assert (len(routes), notes, len(source)) == (0, ("0 points became 0 roads in 0 trajectories.",), 0)
    routes, notes, source = Match().run_with_origin(Points.from_records([[], []]), network=LINE)
    assert (len(routes), notes[1:]) == (0, ("2 of 2 trajectories have no route.",))


def test_notes_in_the_plural() -> None:
    records = [[(0, 10, 0), (1, 50, 900), (2, 50, -900), (3, 90, 0)], [(0, 50, 0)], [(0, 50, 0)]]
    records.append([(0, 10, 0), (1, 70, 0), (2, 170, 0), (3, 230, 0), (4, 70, 0), (5, 10, 0)])
    _, notes = Match(radius=25).run(Points.from_records(records), network=ISLANDS)
    assert notes == (
        "12 points became 4 roads in 4 trajectories.",
        "2 of 12 points were left out: they have no road within 25 m.",
        "Trajectories were cut at 2 places where no way on the network fits the points.",
        "2 parts of trajectories were dropped: they show no way along a road.",
        "2 of 4 trajectories have no route.",
    )


def test_huge_coordinates() -> None:
    far = 1e12
    network = two_way("ab", "bc", places={"a": (far, far), "b": (far + 100, far), "c": (-far, -far)})
    assert matched(network, (0, far + 10, far), (1, far + 90, far)) == [["ab"]]
    assert matched(network, (0, far + 10, far), (1, -far, -far + 10), (2, -far, -far + 5)) == [["ab", "bc"]]


def test_roads_without_length() -> None:
    network = two_way("ab", "bc", places={"a": (0, 0), "b": (0, 0), "c": (100, 0)})
    assert matched(network, (0, 10, 0), (1, 90, 0)) == [["bc"]]
    nowhere = two_way("ab", places={"a": (0, 0), "b": (0, 0)})
    assert matched(nowhere, (0, 10, 0), (1, -20, 0)) == []


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (None, "a road network with at least one road is needed; give it with --network"),
        (RoadNetwork.from_roads([]), "a road network with at least one road is needed"),
        (RoadNetwork.from_roads([("ab", "a", "b")]), "the road network has no coordinates"),
    ],
)
def test_a_network_that_cannot_be_used(network: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        matched(network, (0, 0, 0))


@pytest.mark.parametrize("name", ["radius", "noise", "beta"])
def test_parameters_above_zero(name: str) -> None:
    with pytest.raises(ParameterError, match=rf"match: {name} must be greater than 0, got 0\."):
        Match(**{name: 0})
    with pytest.raises(ParameterError, match=f"match: {name} must be a number >= 0"):
        Match(**{name: -1})


def test_marked_points_are_refused() -> None:
    data = replace(Points.from_records([[(0, 0, 0)]]), known=np.array([True]))
    with pytest.raises(InputError, match="marked as known"):
        Match().run(data, network=LINE)


def simulated(period: int, noise: float) -> tuple[RoadNetwork, Points, list[list[int]]]:
    """Drives at 12 m/s through a town of 12 by 12 crossings, 100 m apart: straight on, or a turn at each."""
    side = 12
    names = {(i, j): f"{i}_{j}" for i in range(side) for j in range(side)}
    places = {name: (100.0 * i, 100.0 * j) for (i, j), name in names.items()}
    beside = [((i, j), (i + a, j + b)) for i, j in names for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    pairs = [(one, other) for one, other in beside if other in names]
    network = RoadNetwork.from_roads([(f"{names[a]}>{names[b]}", names[a], names[b]) for a, b in pairs], places=places)
    number = {pair: i for i, pair in enumerate(pairs)}
    rng = np.random.default_rng(7)
    records, truth = [], []
    for _ in range(20):
        way = [tuple(rng.integers(3, 9, 2).tolist())]
        step = (1, 0)
        while len(way) < 25:
            turns = [step, (step[1], step[0]), (-step[1], -step[0])]
            after = [(way[-1][0] + a, way[-1][1] + b) for a, b in turns]
            fits = [i for i, place in enumerate(after) if place in names]
            picked = fits[int(rng.integers(len(fits)))]
            step = turns[picked]
            way.append(after[picked])
        truth.append([number[pair] for pair in pairwise(way)])
        seen = np.arange(50.0, 100.0 * len(way) - 150.0, 12.0 * period)
        x, y = (np.interp(seen, 100.0 * np.arange(len(way)), [100.0 * place[k] for place in way]) for k in (0, 1))
        x, y = (values + rng.normal(0, noise, len(seen)) for values in (x, y))
        times = (period * np.arange(len(seen))).tolist()
        records.append(list(zip(times, x.tolist(), y.tolist(), strict=True)))
    return network, Points.from_records(records), truth


@pytest.mark.parametrize(("period", "noise", "share"), [(1, 20.0, 0.95), (5, 20.0, 0.93), (10, 10.0, 0.95)])
def test_simulated_drives_are_found(period: int, noise: float, share: float) -> None:
    """Dense points with much noise made three of four roads up before they were gathered and turning had a price.

    Drives turn at two of three crossings; at 5 s and 20 m a trip has too few points for a better estimate of its noise.
    """
    network, data, truth = simulated(period, noise)
    routes, notes, source = Match().run_with_origin(data, network=network)
    estimate = next((float(note.split()[-2]) for note in notes if "estimated" in note), 10.0)
    assert 0.7 * noise < estimate < 1.3 * noise
    assert not any("invented" in note for note in notes)
    right = 0
    for i, trip in enumerate(source.tolist()):
        mine = set(routes.road[routes.offsets[i] : routes.offsets[i + 1]].tolist())
        right += len(mine & set(truth[trip]))
    assert right >= share * sum(len(set(one)) for one in truth)
    assert right >= share * routes.n_rows - sum(len(one) - len(set(one)) for one in truth)


def test_points_of_nobody_on_these_roads_are_doubted() -> None:
    rng = np.random.default_rng(1)
    network, _, _ = simulated(1, 5.0)
    places = rng.uniform(0, 1100, (400, 2)).tolist()
    _, notes = Match().run(Points.from_records([[(i, x, y) for i, (x, y) in enumerate(places)]]), network=network)
    assert any(note.startswith("Warning: these routes look invented") for note in notes)


def test_sparse_drives_are_not_doubted() -> None:
    """Ways between points 30 s apart are mostly guessed, but people keep a direction."""
    network, data, _ = simulated(30, 10.0)
    _, notes = Match().run(data, network=network)
    assert not any(note.startswith("Warning") for note in notes)


def test_the_route_of_one_trajectory_does_not_depend_on_others() -> None:
    """The noise is that of each trajectory: twenty with little and twenty with much, together and apart."""
    network, quiet, _ = simulated(5, 3.0)
    _, loud, _ = simulated(5, 20.0)
    columns = {name: np.concatenate([getattr(quiet, name), getattr(loud, name)]) for name in ("t", "x", "y")}
    offsets = np.concatenate([quiet.offsets, quiet.offsets[-1] + loud.offsets[1:]])
    whole = Points(offsets=offsets, owner=np.arange(len(offsets) - 1), **columns)
    together, _, source = Match().run_with_origin(whole, network=network)
    of_road = source[np.repeat(np.arange(len(together)), np.diff(together.offsets))]
    for begin, piece in ((0, quiet), (len(quiet), loud)):
        alone, _, origin = Match().run_with_origin(piece, network=network)
        here = (of_road >= begin) & (of_road < begin + len(piece))
        assert alone.road.tobytes() == together.road[here].tobytes()
        assert alone.t.tobytes() == together.t[here].tobytes()
        assert (origin + begin).tolist() == [one for one in source.tolist() if begin <= one < begin + len(piece)]
    assert not Match().looks_at_everybody


def test_a_turn_that_is_not_allowed_is_not_taken() -> None:
    points = [(0, 10, 0), (1, 60, 0), (2, 100, 40), (3, 100, 90)]
    assert matched(GRID, *points, noise=5) == [["ab", "be"]]
    banned = replace(GRID, banned_from=[GRID.roads.index("ab")], banned_to=[GRID.roads.index("be")])
    for route in matched(banned, *points, noise=5):
        assert ("ab", "be") not in list(pairwise(route))
