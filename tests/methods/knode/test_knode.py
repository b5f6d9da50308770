"""Trajectory k-anonymity by graph partition: the paper's example, its flaws, what is published and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.kernels.knode.group_boxes import Tracks
from wayveil.kernels.knode.overlap_graph import NO_EDGE, edge_weights
from wayveil.methods.knode import knode
from wayveil.methods.knode.knode import Knode
from wayveil.methods.knode.trajectory_graph import s_overlap, trajectory_distance
from wayveil.model import Boxes, KAnonymity, MethodResult, Points
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity

GOLDEN = Path(__file__).parents[2] / "golden" / "knode"
FIGURE1 = json.loads((GOLDEN / "figure1.json").read_text())
FLAWS = json.loads((GOLDEN / "flaws.json").read_text())
NAMES = list(FIGURE1["trajectories"])


def points(names: list[str], **more: Any) -> Points:
    rows = [[(t, x, y) for x, y, t in FIGURE1["trajectories"][name]] for name in names]
    return Points.from_records(rows, **more)


def synchronized(x: Any, y: Any) -> Tracks:
    """Trajectories with the same timestamps, one per row."""
    n, m = x.shape
    times = np.zeros(n, np.int64)
    return Tracks(np.arange(n) * m, times, times + m - 1, np.arange(n), x.ravel(), y.ravel())


def positions(rows: list[list[float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y, _ in rows]


def run(method: Knode, data: Points, workers: int = 1) -> MethodResult:
    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=workers))
    verdict = check_kanonymity(result.data, method.claim, original=data.take(result.source))
    assert verdict.holds, verdict.reason
    return result


def groups(published: Any, names: list[str]) -> list[list[str]]:
    """Return who has the same boxes, from what is published."""
    found: dict[tuple[Any, ...], list[str]] = {}
    for i, name in enumerate(names):
        if rows := published.record(i):
            found.setdefault(tuple(rows), []).append(name)
    return list(found.values())


def walkers(n: int, m: int = 4, seed: int = 0, late: int = 0) -> Points:
    rng = np.random.default_rng(seed)
    records = []
    for _ in range(n):
        start = int(rng.integers(late + 1))
        way = np.cumsum(rng.normal(size=(m, 2)), axis=0) + rng.uniform(0, 50, 2)
        records.append([(start + j, float(x), float(y)) for j, (x, y) in enumerate(way)])
    return Points.from_records(records)


def test_figure_1() -> None:
    data = points(NAMES)
    result = run(Knode(k=3, window=10, variant="paper", overlap="x"), data)
    assert groups(result.data, NAMES) == FIGURE1["groups"]
    assert [[name] for i, name in enumerate(NAMES) if not result.data.record(i)] == FIGURE1["dropped"]
    assert result.facts["edges"] == len(FIGURE1["edges"])
    assert result.facts["success ratio"] == FIGURE1["success_ratio"]
    loss = FIGURE1["information_loss"]
    assert result.facts["information loss, printed form"] == pytest.approx(loss["printed"], rel=1e-12)
    assert result.facts["information loss per sample"] == pytest.approx(loss["normalised"], rel=1e-12)
    assert result.facts["information loss per sample"] * data.n_rows == pytest.approx(loss["per_sample"], rel=1e-12)
    assert result.data.record(3) == [(t, t, 8.0 + 5 * t, 10.0 + 5 * t, 0.0, 1.0) for t in range(3)]


def test_edges_of_figure_1() -> None:
    xy = np.array([positions(rows) for rows in FIGURE1["trajectories"].values()], np.float64)
    weights = edge_weights(synchronized(xy[:, :, 0], xy[:, :, 1]), "x")
    found = {
        f"{a}-{b}": weights[i, j] * 3 / 2  # the file has them divided by the duration, as printed
        for i, a in enumerate(NAMES)
        for j, b in enumerate(NAMES)
        if i < j and weights[i, j] < NO_EDGE
    }
    assert found == pytest.approx(FIGURE1["edges"], rel=1e-12)


def test_improved_publishes_all_of_figure_1() -> None:
    result = run(Knode(k=3, window=10), points(NAMES))
    assert result.facts["success ratio"] == 1
    assert groups(result.data, NAMES) == [["T1", "T2", "T3"], ["T4", "T5", "T6", "T7"], ["T8", "T9", "T10"]]
    assert (result.facts["people in the smallest group"], result.facts["people in the largest group"]) == (3, 4)


def test_flaw_the_average_distance_is_divided_by_the_duration() -> None:
    p, q = (positions(FIGURE1["trajectories"][name]) for name in ("T1", "T2"))
    assert trajectory_distance(p, q) == pytest.approx(FIGURE1["distance_of_T1_and_T2"]["mean"], rel=1e-12)
    assert trajectory_distance(p, q, duration=2) == pytest.approx(
        FIGURE1["distance_of_T1_and_T2"]["printed"], rel=1e-12
    )
    # a class with one common timestamp has no duration, and distances all the same
    one = Points.from_records([[(0, 0.0, 0.0)], [(0, 3.0, 0.0)], [(0, 0.0, 0.0)], [(0, 3.0, 0.0)]])
    result = run(Knode(k=2, window=1, variant="paper"), one)
    assert groups(result.data, ["a", "b", "c", "d"]) == [["a", "c"], ["b", "d"]]


def test_flaw_s_overlap_is_not_symmetric_and_takes_either_axis() -> None:
    flaw = FLAWS["asymmetric"]
    p, q = positions(flaw["p"]), positions(flaw["q"])
    assert s_overlap(p, q, flaw["axis"]) == pytest.approx(flaw["s_pq"])
    assert s_overlap(q, p, flaw["axis"]) == flaw["s_qp"]
    both = np.array([p, q], np.float64)
    assert edge_weights(synchronized(both[:, :, 0], both[:, :, 1]), "x")[0, 1] == NO_EDGE
    far = FLAWS["far_neighbours"]
    p, q = positions(far["p"]), positions(far["q"])
    assert s_overlap(p, q) == s_overlap(q, p) == far["s"]
    assert trajectory_distance(p, q) == far["distance"]
    assert s_overlap(p, q, "and") == s_overlap(p, q, "x") == 0
    # who moves west has an interval, too
    assert s_overlap([(1, 9), (2, 9)], [(3, 0), (0, 1)]) == 1


def test_flaw_algorithm_1_skips_edges_between_two_neighbours() -> None:
    # T1 overlaps with T2 and T3, which leave the list with T1; the edge between them is never looked at
    result = run(Knode(k=3, window=10, variant="paper", overlap="x"), points(["T1", "T2", "T3"]))
    assert result.facts["edges"] == 3


def test_flaw_a_component_of_exactly_k_is_dropped() -> None:
    flaw = FLAWS["exactly_k"]
    result = run(Knode(k=flaw["k"], window=10, variant="paper", overlap="x"), points(flaw["trajectories"]))
    assert groups(result.data, flaw["trajectories"]) == flaw["groups"]


def test_flaw_leftovers_are_dropped() -> None:
    flaw = FLAWS["leftover"]
    names, data = flaw["trajectories"], points(flaw["trajectories"])
    printed = run(Knode(k=flaw["k"], window=10, variant="paper", overlap="x"), data)
    assert groups(printed.data, names) == flaw["groups"]
    assert printed.facts["trajectories left out"] == 1
    improved = run(Knode(k=flaw["k"], window=10), data)
    assert groups(improved.data, names) == [names]
    assert improved.facts["people in the largest group"] == 4


def test_flaw_algorithm_3_returns_nothing_for_two() -> None:
    # |C| = 2 from the first edge on, so that the loop for |C| < k with its only returns is never entered
    result = run(Knode(k=2, window=10, variant="paper", overlap="x"), points(NAMES))
    assert len(groups(result.data, NAMES)) == 4


def test_flaw_k_trips_of_one_person_hide_nobody() -> None:
    names = ["T1", "T2", "T3"]
    for variant in ("paper", "improved"):
        data = points(names, owner=[7, 7, 8])
        method = Knode(k=2, window=10, variant=variant, overlap="x")
        (found,) = groups(run(method, data).data, names)
        assert len(found) == 2  # T3 and the nearer one of the two
        assert groups(run(replace(method, row_share=1), data).data, names) == [names]
        with pytest.raises(InputError, match=r"^knode: k is 3, but the data holds points of 2 people"):
            run(replace(method, k=3), data)


@pytest.mark.parametrize("variant", ["paper", "improved"])
def test_nobody_owns_more_than_the_share_of_a_group(variant: str) -> None:
    """Twenty trips of one person and one of another: with all of them published, 20 of 21 are one person's."""
    data = Points.from_records([[(t, 10.0 * t + i, 0.0) for t in range(4)] for i in range(21)], owner=[*[0] * 20, 1])
    result = run(Knode(k=2, window=10, variant=variant), data)
    kept = [i for i in range(21) if result.data.record(i)]
    assert len(kept) == 2
    assert 20 in kept
    assert result.facts["trajectories left out"] == 19
    assert check_kanonymity(result.data, result.claim, original=data.take(result.source)).holds
    many = Points.from_records([[(t, 10.0 * t + i, 0.0) for t in range(4)] for i in range(12)])
    result = run(Knode(k=2, window=10, variant=variant, row_share="1/4"), many)
    assert result.facts["people in the smallest group"] == 4


@pytest.mark.parametrize("variant", ["paper", "improved"])
def test_boxes_of_the_times_that_all_share(variant: str) -> None:
    ways = [(0, 0.0), (1, 1.0), (0, 900.0), (0, 901.0)]
    data = Points.from_records([[(t, x, 0.0) for t in range(start, 5)] for start, x in ways])
    result = run(Knode(k=2, window=10, variant=variant), data)
    late = [(t, t, 0.0, 1.0, 0.0, 0.0) for t in range(1, 5)]
    assert result.data.record(0) == result.data.record(1) == late
    assert result.data.record(2) == [(t, t, 900.0, 901.0, 0.0, 0.0) for t in range(5)]
    assert result.facts["points cut off published trajectories"] == 1
    assert result.facts["information loss per sample"] == pytest.approx(1 / data.n_rows)


def test_what_a_group_cuts_off_is_grouped_once_more() -> None:
    """One goes all the way, the first half of it with one companion, the second half with another."""
    spans = [(0, 9), (0, 4), (5, 9)]
    data = Points.from_records([[(t, float(i), 0.0) for t in range(a, b + 1)] for i, (a, b) in enumerate(spans)])
    method = Knode(k=2, window=20)
    once = run(replace(method, cut_off="drop"), data)
    assert once.source.tolist() == [0, 1, 2]
    assert (once.facts["trajectories left out"], once.facts["points cut off published trajectories"]) == (1, 5)
    result = run(method, data)
    assert result.source.tolist() == [0, 0, 1, 2]
    assert result.data.owner.tolist() == [0, 0, 1, 2]
    assert result.data.record(0) == result.data.record(2) == [(t, t, 0.0, 1.0, 0.0, 0.0) for t in range(5)]
    assert result.data.record(1) == result.data.record(3) == [(t, t, 0.0, 2.0, 0.0, 0.0) for t in range(5, 10)]
    assert (result.facts["trajectories left out"], result.facts["points cut off published trajectories"]) == (0, 0)
    assert result.facts["pieces per published trajectory"] == pytest.approx(4 / 3)


def test_a_piece_of_one_timestamp_is_not_published() -> None:
    data = Points.from_records([[(t, float(i), 0.0) for t in range(i, 5)] for i in range(2)] * 2)
    assert run(Knode(k=2, window=20), data).facts["points cut off published trajectories"] <= 2


def test_windows_make_classes() -> None:
    rows = [
        [(t, float(i), 0.0) for t in range(start, end + 1)]
        for i, (start, end) in enumerate([(0, 9), (4, 9), (5, 9), (0, 10)])
    ]
    data = Points.from_records(rows, time_format="epoch")
    assert run(Knode(k=2, window="5s"), data).facts["classes"] == 3
    assert run(Knode(k=2, window=6), data).facts["classes"] == 1
    found = run(Knode(k=2, window=5, variant="paper"), data)
    assert (found.facts["classes of fewer than k people"], found.facts["trajectories left out"]) == (2, 2)


def test_small_classes_are_put_together() -> None:
    data = Points.from_records([[(t, float(i), 0.0) for t in range(2 * i, 20)] for i in range(3)])
    improved = run(Knode(k=3, window=2), data)
    assert improved.facts["classes of fewer than k people"] == 3
    assert improved.facts["success ratio"] == 1
    assert [row[0] for row in improved.data.record(0)] == list(range(4, 20))
    with pytest.raises(
        InputError, match=r"^knode: no group of k = 3 people was found \(classes of time: 3\), so nothing"
    ):
        run(Knode(k=3, window=2, variant="paper"), data)


def test_what_is_left_of_large_classes_is_put_together_as_well() -> None:
    # in each class the last trajectory shares no time with the others, but does with the last of the other class
    spans = [(0, 13), (0, 13), (9, 10), (0, 19), (0, 19), (9, 19)]
    spans[2] = (9, 14)
    data = Points.from_records([[(t, float(i), 0.0) for t in range(a, b + 1)] for i, (a, b) in enumerate(spans)])
    assert run(Knode(k=2, window=10), data).facts["success ratio"] == 1


def test_a_class_without_a_common_time() -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (1, 0.0, 0.0)], [(2, 0.0, 0.0), (3, 0.0, 0.0)]])
    for variant in ("paper", "improved"):
        with pytest.raises(InputError, match=r"^knode: no group of k = 2 people was found \(classes of time: 1\)"):
            run(Knode(k=2, window=10, variant=variant), data)


@pytest.mark.parametrize("variant", ["paper", "improved"])
@pytest.mark.parametrize("at", [0.0, 1e12, -1e12])
def test_all_points_equal(variant: str, at: float) -> None:
    data = Points.from_records([[(0, at, at), (1, at, at)]] * 7)
    result = run(Knode(k=3, window=10, variant=variant), data)
    assert result.facts["success ratio"] == pytest.approx(6 / 7 if variant == "paper" else 1)
    assert result.data.record(0) == [(t, t, at, at, at, at) for t in (0, 1)]
    assert result.facts["box area, share of the whole space"] == 0


@pytest.mark.parametrize("variant", ["paper", "improved"])
def test_trajectories_without_points_stay_without_boxes(variant: str) -> None:
    data = Points.from_records(
        [[], [(0, 0.0, 0.0)], [], [(0, 0.0, 1.0)], []], attributes={"a": ["v", "w", "x", "y", "z"]}
    )
    result = run(Knode(k=2, window=1, variant=variant), data)
    assert [len(result.data.record(i)) for i in range(5)] == [0, 1, 0, 1, 0]
    assert result.facts["success ratio"] == 1
    assert isinstance(result.data, Boxes)
    assert result.data.owner.tolist() == data.owner.tolist()
    assert result.data.attributes["a"].values() == ["v", "w", "x", "y", "z"]
    assert (result.data.frame, result.data.time_format, result.data.owners) == (data.frame, "integer", "declared")


@pytest.mark.parametrize("records", [[], [[]], [[(0, 0.0, 0.0)]], [[(0, 0.0, 0.0)], []]])
def test_too_few_people(records: list[Any]) -> None:
    with pytest.raises(InputError, match=r"^knode: k is 2, but the data holds points of [01] people: nothing could be"):
        run(Knode(k=2, window=1), Points.from_records(records))


def test_times_that_do_not_fit() -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (2, 0.0, 0.0)], [(1, 0.0, 0.0), (2, 0.0, 0.0)], [(2, 0.0, 0.0)]])
    with pytest.raises(InputError, match=r"^knode: 1 of 3 trajectories lack points at times .* Run the step resample"):
        run(Knode(k=2, window=1), data)


def test_coordinates_that_are_no_metres() -> None:
    data = Points.from_records([[(0, 0.0, 0.0)], [(0, 0.0, -1e200)]])
    with pytest.raises(InputError, match=r"^knode: coordinates must be at most 1e\+100 m; check their unit\.$"):
        run(Knode(k=2, window=1), data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 1}, "knode: k must be an integer >= 2, got 1"),
        ({"window": 0}, "knode: window must be a duration"),
        ({"variant": "printed"}, "knode: variant must be one of improved, paper; got 'printed'"),
        ({"cut_off": "keep"}, "knode: cut_off must be one of regroup, drop; got 'keep'"),
        ({"overlap": "xor"}, "knode: overlap must be one of or, and, x, y; got 'xor'"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Knode(**{"k": 2, "window": 1, **parameters})
    assert str(caught.value).startswith(words)


def test_a_window_must_fit_the_times() -> None:
    with pytest.raises(InputError, match="plain integers"):
        run(Knode(k=2, window="1h"), walkers(3))


def test_claim() -> None:
    assert Knode(k=7, window="1h").claim == KAnonymity(k=7)
    assert Knode(k=7, window="1h").kernels == ()


@pytest.mark.parametrize("variant", ["paper", "improved"])
def test_workers_make_no_difference(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knode, "_MOST", 16)
    data = walkers(120, late=9)
    method = Knode(k=3, window=5, variant=variant)
    one, three = (run(method, data, workers).data for workers in (1, 3))
    for column in ("offsets", "t_min", "x_min", "x_max", "y_min", "y_max"):
        assert getattr(one, column).tolist() == getattr(three, column).tolist()


@pytest.mark.parametrize("variant", ["paper", "improved"])
def test_the_order_of_the_input_makes_no_difference(variant: str) -> None:
    # no two distances are equal here, and nobody is at the same place
    data = walkers(60, seed=3)
    order = np.random.default_rng(1).permutation(60)
    method = Knode(k=4, window=10, variant=variant)
    straight, shuffled = run(method, data).data, run(method, data.take(order)).data
    sizes = [sorted(len(g) for g in groups(d, list(range(60)))) for d in (straight, shuffled)]  # type: ignore[arg-type]
    assert sizes[0] == sizes[1]
    if variant == "paper":
        assert all(shuffled.record(i) == straight.record(int(order[i])) for i in range(60))


def test_large_classes_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knode, "_MOST", 8)
    result = run(Knode(k=2, window=10), walkers(100, seed=5))
    assert result.facts["success ratio"] == 1
    whole = monkeypatch.setattr(knode, "_MOST", 1024) or run(Knode(k=2, window=10), walkers(100, seed=5))
    assert whole.facts["information loss per sample"] < result.facts["information loss per sample"] < 0.2


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_improved_is_better_than_the_paper(k: int) -> None:
    data = walkers(83, m=6, seed=k, late=5)
    for window in (3, 6):
        printed = run(Knode(k=k, window=window, variant="paper"), data).facts
        improved = run(Knode(k=k, window=window), data).facts
        assert improved["success ratio"] > printed["success ratio"]
        assert improved["information loss per sample"] < printed["information loss per sample"]
