"""Network movers: owners, times and windows, and that everybody moves on roads at speeds that the roads allow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.roads.walks import Walkers, WaysToTargets, sample_walks
from wayveil.model import Points
from wayveil.workloads import network_movers
from wayveil.workloads.network_movers import NetworkMovers
from wayveil.workloads.road_graph import generated_graph

MIDNIGHT = 1_704_067_200


def generate(seed: int = 1, **parameters: object) -> Points:
    return NetworkMovers(**parameters).generate(rng=np.random.default_rng(seed))  # type: ignore[arg-type]


@pytest.fixture(scope="module", autouse=True)
def few_targets() -> Iterator[None]:
    """WaysToTargets to 500 places take a second to find, and 40 will do here."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network_movers, "_MOST_TARGETS", 40)
        yield


@pytest.fixture(scope="module")
def data() -> Points:
    return generate(objects=300, trips=2.5)


def spans(data: Points) -> tuple[np.ndarray, np.ndarray]:
    return data.t[data.offsets[:-1]], data.t[data.offsets[1:] - 1]


def test_it_has_the_size_it_says(data: Points) -> None:
    assert (len(data), data.n_owners, data.owners, data.time_format) == (750, 300, "given", "epoch")
    assert set(np.bincount(data.owner).tolist()) == {2, 3}
    assert (np.diff(data.owner) >= 0).all()
    assert set(np.diff(data.offsets).tolist()) == {61}
    assert (NetworkMovers.name, dict(NetworkMovers.sensitive)) == ("network_movers", {})


def test_times_are_multiples_of_the_period_and_trips_begin_in_windows(data: Points) -> None:
    assert (data.t % 10 == 0).all()
    begin, end = spans(data)
    window = (begin - MIDNIGHT) // 600
    assert (window.min(), window.max()) == (0, 11)
    assert len(np.unique(window)) == 12
    assert (end - begin == 600).all()
    assert len(np.unique(begin - MIDNIGHT - window * 600)) > 30


def test_two_times_of_the_day_are_popular() -> None:
    begin, _ = spans(generate(objects=3000, trips=1, duration="10s"))
    popular = np.bincount((begin - MIDNIGHT) // 600)
    assert popular[[3, 8]].min() > 2 * popular[[0, 6, 11]].max() > 100


def test_people_with_many_trips_travel_at_the_popular_times_too() -> None:
    """Walkers that would overlap are moved as little as possible, so the day keeps its shape."""
    means = []
    for trips in (1, 6):
        begin, _ = spans(generate(objects=6000 // trips, trips=trips, duration="10s", windows=132))
        means.append(((begin - MIDNIGHT) // 600).mean())
    assert abs(means[0] - means[1]) < 3


def test_who_arrives_goes_on_while_the_trip_is_observed() -> None:
    made = generate(objects=30, duration="2h", period="1min")
    step = np.hypot(np.diff(made.x), np.diff(made.y))
    step[made.offsets[1:-1] - 1] = 1
    assert (step == 0).mean() < 0.01


def test_nobody_is_on_two_trips_at_once(data: Points) -> None:
    for made in (data, generate(objects=20, trips=30, windows=5), generate(objects=20, trips=9, duration="arrival")):
        begin, end = spans(made)
        same = made.owner[1:] == made.owner[:-1]
        assert same.any()
        assert (begin[1:][same] > end[:-1][same]).all()


def test_a_full_day_goes_on_the_next_day() -> None:
    begin, _ = spans(generate(objects=1, trips=7, windows=6, duration="10min"))
    days = (begin - MIDNIGHT) // 86_400
    assert days.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert ((begin - MIDNIGHT) % 86_400 < 6 * 600).all()


def test_everybody_is_on_a_road_and_not_too_fast(data: Points) -> None:
    graph = generated_graph()
    ax, ay, bx, by = graph.x[graph.start], graph.y[graph.start], graph.x[graph.end], graph.y[graph.end]
    for row in range(0, data.n_rows, 97):
        px, py = data.x[row], data.y[row]
        share = np.clip(((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / graph.length_m**2, 0, 1)
        assert np.hypot(ax + share * (bx - ax) - px, ay + share * (by - ay) - py).min() < 1e-6
    inside = np.ones(data.n_rows - 1, bool)
    inside[data.offsets[1:-1] - 1] = False
    metres = np.hypot(np.diff(data.x), np.diff(data.y))[inside]
    top = 70 / 3.6 * 10
    assert metres.max() <= top + 1e-6
    assert metres.mean() > top / 4


def test_slow_classes_are_slow() -> None:
    one, six = generate(objects=200, classes=1), generate(objects=200, classes=6)

    def fastest(made: Points) -> np.ndarray:
        step = np.hypot(np.diff(made.x), np.diff(made.y))
        step[made.offsets[1:-1] - 1] = 0
        per_trip = np.maximum.reduceat(np.append(step, 0), made.offsets[:-1])
        return np.array([per_trip[made.owner == person].max() for person in range(200)]) * 3.6 / 10

    assert fastest(one).min() > 30
    limits = np.array([70 * i / 6 for i in range(1, 7)])
    shares = np.bincount(np.searchsorted(limits, fastest(six)), minlength=6)
    assert (shares > 10).all()
    assert fastest(six)[:60].max() > 40  # numbers of people say nothing of their class
    assert fastest(six)[-60:].min() < 20


def test_with_arrival_a_trip_ends_where_the_next_one_begins() -> None:
    made = generate(objects=40, trips=2.5, duration="arrival", period="2s", classes=1)
    lengths = np.diff(made.offsets)
    assert len(np.unique(lengths)) > 50
    same = np.flatnonzero(made.owner[1:] == made.owner[:-1])
    last, first = made.offsets[same + 1] - 1, made.offsets[same + 1]
    distance = np.hypot(made.x[last] - made.x[first], made.y[last] - made.y[first])
    assert distance.max() <= 2 * 70 / 3.6
    graph = generated_graph()
    nodes = set(zip(graph.x.tolist(), graph.y.tolist(), strict=True))
    starts = made.offsets[:-1]
    assert all((x, y) in nodes for x, y in zip(made.x[starts].tolist(), made.y[starts].tolist(), strict=True))


def ladder() -> dict[str, np.ndarray]:
    """Four nodes on a line, 10 seconds apart; the targets are both ends."""
    return {
        "target": np.array([0, 3]),
        "towards": np.array([[0, 0, 1, 2], [1, 2, 3, 3]]),
        "left": np.array([[0.0, 10, 20, 30], [30.0, 20, 10, 0]]),
        "node_x": np.array([0.0, 100, 200, 300]),
        "node_y": np.array([0.0, 0, 50, 0]),
    }


def walk(plan: list[list[int]], n_points: list[int], *, arrive: bool, pace: float = 1.0, home: int = 1) -> list[float]:
    x, y = sample_walks(
        Walkers(np.array([0, len(plan)]), np.array([home]), np.array([pace]), np.array(plan), np.array(n_points)),
        arrive,
        5.0,
        WaysToTargets(*ladder().values()),
    )
    np.testing.assert_allclose(y, np.interp(x, [0, 100, 200, 300], [0, 0, 50, 0]), atol=1e-9)
    return x.round(6).tolist()


def test_positions_on_a_line_by_hand() -> None:
    assert walk([[1, 0]], [8], arrive=False) == [100, 150, 200, 250, 300, 250, 200, 150]
    assert walk([[1, 0]], [7], arrive=True) == [100, 150, 200, 250, 300, 300, 300]
    assert walk([[1, 0]], [4], arrive=False, pace=0.5) == [100, 125, 150, 175]
    assert walk([[0, 1], [1, 0]], [2, 3], arrive=True) == [100, 50, 0, 50, 100]
    assert walk([[1, 1]], [8], arrive=False) == [100, 150, 200, 250, 300, 250, 200, 150]
    assert walk([[1, 0]], [3], arrive=True, home=3) == [300, 250, 200]


def test_legs_follow_the_plan() -> None:
    """From node 1 to the targets 1, 2 and 0, which are the nodes 3, 2 and 0."""
    line = ladder()
    line["target"] = np.array([0, 3, 2])
    line["towards"] = np.vstack([line["towards"], [1, 2, 2, 2]])
    line["left"] = np.vstack([line["left"], [20.0, 10, 0, 10]])
    x, _ = sample_walks(
        Walkers(np.array([0, 1]), np.array([1]), np.ones(1), np.array([[1, 2, 0]]), np.array([11])),
        False,
        5.0,
        WaysToTargets(*line.values()),
    )
    assert x.round(6).tolist() == [100, 150, 200, 250, 300, 250, 200, 150, 100, 50, 0]


def test_where_there_is_nowhere_else_to_go_people_stay() -> None:
    x, _ = sample_walks(
        Walkers(np.array([0, 1]), np.array([0]), np.ones(1), np.zeros((1, 2), np.int64), np.array([3])),
        False,
        5.0,
        WaysToTargets(np.array([0]), np.array([[0, 0]]), np.array([[0.0, 9.0]]), np.array([7.0, 8.0]), np.zeros(2)),
    )
    assert x.tolist() == [7, 7, 7]


def test_a_network_file_of_one_road(tmp_path: Path) -> None:
    (tmp_path / "N.cnode.txt").write_text("1 0 0\n2 300 400\n", encoding="utf-8")
    (tmp_path / "N.cedge.txt").write_text("1 1 2 500\n", encoding="utf-8")
    made = generate(objects=5, network=str(tmp_path / "N"))
    np.testing.assert_allclose(made.x / 3, made.y / 4, atol=1e-9)
    assert (made.x.min(), made.x.max()) >= (0.0, 300.0)
    assert len(np.unique(made.x)) > 50
    with pytest.raises(InputError, match="there is no such file"):
        generate(objects=5, network=str(tmp_path / "M"))


def test_noise_moves_points_and_nothing_else() -> None:
    clean, noisy = generate(objects=50), generate(objects=50, noise=5)
    assert clean.t.tolist() == noisy.t.tolist()
    for one, other in ((clean.x, noisy.x), (clean.y, noisy.y)):
        assert abs((other - one).mean()) < 0.3
        assert abs((other - one).std() - 5) < 0.3
    assert abs(np.corrcoef(noisy.x - clean.x, noisy.y - clean.y)[0, 1]) < 0.1


def test_same_seed_same_data_and_another_seed_another() -> None:
    one, same, other = (generate(seed, objects=30, noise=1) for seed in (7, 7, 8))
    for name in ("offsets", "t", "x", "y", "owner"):
        np.testing.assert_array_equal(getattr(one, name), getattr(same, name))
    assert (one.x != other.x).any()
    assert (one.t != other.t).any()


def test_there_are_500_destinations_or_fewer_where_memory_or_trips_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_movers, "_MOST_TARGETS", 500)
    graph, rng = generated_graph(), np.random.default_rng(1)
    for trips, expected in ((10_000, 500), (30, 30)):
        target, popularity = network_movers._targets(graph, trips, rng)
        assert len(np.unique(target)) == len(target) == len(popularity) == expected
        assert (np.diff(popularity) < 0).all()
        assert abs(popularity.sum() - 1) < 1e-12
    monkeypatch.setattr(network_movers, "_MOST_WAYS", 7 * len(graph))
    assert len(network_movers._targets(graph, 10_000, rng)[0]) == 7
    monkeypatch.setattr(network_movers, "_MOST_WAYS", 0)
    assert len(network_movers._targets(graph, 10_000, rng)[0]) == 1


@pytest.mark.parametrize("parameters", [{}, {"windows": 1}, {"windows": 1, "trips": 4}, {"duration": 3, "period": 7}])
def test_any_size_will_do(parameters: dict[str, object]) -> None:
    for duration in (parameters.get("duration", "20min"), "arrival"):
        made = generate(objects=1, **{**parameters, "duration": duration})
        assert len(made) == parameters.get("trips", 2)
        assert np.diff(made.offsets).min() >= 1


def test_a_set_with_a_class_per_window_as_in_the_study() -> None:
    """The recipe of the documentation, smaller: all trips of one start window end in one window."""
    made = generate(objects=1000, trips=2.6471, windows=132, window="10min", duration="10min", period="40s")
    assert len(made) == 2647
    begin, end = spans(made)
    classes = {(a // 600, b // 600) for a, b in zip(begin.tolist(), end.tolist(), strict=True)}
    assert len(classes) == 132
    assert {b - a for a, b in classes} == {1}


def test_parameters_are_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="window must not be shorter than period, got 5s and 10s"):
        NetworkMovers(window="5s")
    with pytest.raises(ParameterError, match="network_movers: trips must be a number from 1 to 1000"):
        NetworkMovers(trips=0.5)
    with pytest.raises(ParameterError, match="would make more than 500,000,000 points"):
        NetworkMovers(objects=10_000_000)
    with pytest.raises(ParameterError, match="would make more than 20,000,000 trips"):
        NetworkMovers(objects=10_000_000, trips=3, duration="arrival")
    with pytest.raises(ParameterError, match="would make more than 10,000,000,000 seconds of travel"):
        NetworkMovers(objects=1000, duration="1000d", period="10min")
    with pytest.raises(ParameterError, match="longer than 2,000 years"):
        generate(objects=1, trips=900, windows=100_000, window="1000d")
    monkeypatch.setattr(network_movers, "_MOST_POINTS", 100)
    with pytest.raises(ParameterError, match="would make more than 100 points"):
        generate(objects=50, duration="arrival")
