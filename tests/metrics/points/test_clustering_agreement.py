"""Agreement of clusterings: pairs counted one by one, what a trajectory looks like, and the edges."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.points import clustering_agreement
from wayveil.metrics.points.clustering_agreement import ClusteringAgreement
from wayveil.model import Boxes, Frame, Points


def ways(starts: list[float | None]) -> Points:
    """Trajectories that go up from a place on the x axis; None is one without rows."""
    return Points.from_records([[] if x is None else [(0, float(x), 0.0), (9, float(x), 9.0)] for x in starts])


def boxes(data: Points, half: float) -> Boxes:
    rows = [[(t, t, x - half, x + half, y - half, y + half) for t, x, y in data.record(i)] for i in range(len(data))]
    return Boxes.from_records(rows)


GROUPS = [0.0, 1.0, 2.0, 100.0, 101.0, 102.0, 200.0, 201.0]


def test_the_same_data_agree() -> None:
    for after in (ways(GROUPS), boxes(ways(GROUPS), 5.0)):
        score = ClusteringAgreement(clusters=3).run(ways(GROUPS), after)
        assert score.value == 1
        assert [score.measured[name] for name in ("accuracy", "precision", "recall")] == [1, 1, 1]
        assert score.measured["pairs"] == 28
        assert score.measured["pairs_together_before"] == score.measured["pairs_together_after"] == 3 + 3 + 1
        assert score.measured["clusters_before"] == score.measured["clusters_after"] == 3
    assert score.better == "higher"


def test_pairs_counted_by_hand() -> None:
    # Before: 1 2 3 | 4 5 6 | 7 8.  After: 1 2 | 3 4 5 6 | 8, and 7 is not published.
    after = ways([0.0, 1.0, 100.0, 100.0, 101.0, 102.0, None, 200.0])
    score = ClusteringAgreement(clusters=3).run(ways(GROUPS), after)
    assert score.measured["pairs_together_before"] == 7
    assert score.measured["pairs_together_after"] == 1 + 6
    assert score.measured["precision"] == pytest.approx((1 + 3) / 7)
    assert score.measured["recall"] == pytest.approx((1 + 3) / 7)
    assert score.measured["accuracy"] == pytest.approx((28 - 3 - 3) / 28)
    assert score.value == pytest.approx(4 / 7)
    assert score.measured["trajectories_not_published"] == 1
    assert score.measured["trajectories_clustered"] == 8


def test_precision_and_recall_differ() -> None:
    # Before: 1 2 | 3 4.  After: 1 2 3 | 4.
    score = ClusteringAgreement(clusters=2).run(ways([0.0, 1.0, 50.0, 51.0]), ways([0.0, 1.0, 2.0, 51.0]))
    assert (score.measured["precision"], score.measured["recall"]) == (pytest.approx(1 / 3), pytest.approx(1 / 2))
    assert score.value == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert score.measured["accuracy"] == pytest.approx(3 / 6)


def test_numbers_are_those_of_all_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    labels = [rng.integers(0, 4, 30), rng.integers(0, 4, 25)]
    given = iter(labels)
    monkeypatch.setattr(clustering_agreement, "_clusters", lambda places, most: next(given))
    starts: list[float | None] = [float(i) for i in range(30)]
    missing = rng.choice(30, 5, replace=False).tolist()
    after = ways([None if i in missing else starts[i] for i in range(30)])
    measured = ClusteringAgreement().run(ways(starts), after).measured
    before = labels[0].tolist()
    found: list[int | None] = [None] * 30
    for i, label in zip((i for i in range(30) if i not in missing), labels[1].tolist(), strict=True):
        found[i] = label
    pairs = [
        (before[i] == before[j], found[i] is not None and found[i] == found[j]) for i, j in combinations(range(30), 2)
    ]
    both = sum(a and b for a, b in pairs)
    assert measured["accuracy"] == pytest.approx(sum(a == b for a, b in pairs) / len(pairs))
    assert measured["precision"] == pytest.approx(both / sum(b for _, b in pairs))
    assert measured["recall"] == pytest.approx(both / sum(a for a, _ in pairs))


def test_what_a_trajectory_looks_like() -> None:
    # From (0, 0) to (70, 0) in 10 s and on to (70, 14) in 60 s: a moment is every 10 s; the area is 70 m wide.
    data = Points.from_records([[(100, 0.0, 0.0), (110, 70.0, 0.0), (170, 70.0, 14.0)]], time_format="epoch")
    chosen = np.array([0])
    (row,) = clustering_agreement._places(data, chosen, data)
    assert row[:8] == pytest.approx([0, 1, 1, 1, 1, 1, 1, 1])
    assert row[8:] == pytest.approx(np.array([0, 0, 14 / 6, 28 / 6, 7, 70 / 6 - 7 / 3, 70 / 6, 14]) / 70)
    (middle,) = clustering_agreement._places(boxes(data, 3.0), chosen, data)
    assert middle == pytest.approx(row)
    moved = replace(data, x=data.x - 1000, y=data.y + 50)
    assert clustering_agreement._places(moved, chosen, moved)[0] == pytest.approx(row)


def test_times_matter_only_relative_to_the_trajectory() -> None:
    late = replace(ways(GROUPS), t=ways(GROUPS).t * 7 + 1000)
    assert ClusteringAgreement(clusters=3).run(ways(GROUPS), late).value == 1


def test_sample() -> None:
    starts: list[float | None] = [float(100 * (i % 5)) for i in range(50)]
    starts[3] = None
    data = ways(starts)
    score = ClusteringAgreement(clusters=5, sample=20).run(data, data)
    assert score.measured["trajectories_clustered"] == 20
    assert score.measured["pairs"] == 190
    assert score.value == 1
    chosen = [ClusteringAgreement(sample=20, seed=seed)._sample(data).tolist() for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert chosen[0] == sorted(set(chosen[0]))
    assert 3 not in chosen[0]
    assert ClusteringAgreement()._sample(data).tolist() == [i for i in range(50) if i != 3]


@pytest.mark.parametrize("starts", [[], [None], [None, 1.0]])
def test_nothing_to_compare(starts: list[Any]) -> None:
    score = ClusteringAgreement().run(ways(starts), ways(starts))
    assert score.value is score.measured["accuracy"] is score.measured["precision"] is None


def test_nothing_published_and_one_published() -> None:
    none = ClusteringAgreement(clusters=3).run(ways(GROUPS), ways([None] * 8))
    assert (none.value, none.measured["recall"], none.measured["precision"]) == (0, 0, None)
    one = ClusteringAgreement(clusters=3).run(ways(GROUPS), ways([0.0, *[None] * 7]))
    assert one.measured["pairs_together_after"] == 0


def test_all_points_equal_and_huge_numbers() -> None:
    same = Points.from_records([[(0, 5.0, 5.0)]] * 4)
    assert ClusteringAgreement().run(same, same).value == 1
    far = ways([1e12, 1e12 + 5, -1e12, -1e12 + 5])
    assert ClusteringAgreement(clusters=2).run(far, far).value == 1
    beyond = ways([1e300, 1e300, -1e300, -1e300])
    assert ClusteringAgreement(clusters=2).run(far, beyond).value == 1
    with pytest.raises(InputError, match="span more than"):
        ClusteringAgreement().run(beyond, beyond)


def test_what_is_refused() -> None:
    for wrong in ({"clusters": 1}, {"sample": 1}, {"sample": 5000}, {"seed": -1}):
        with pytest.raises(ParameterError, match="clustering_agreement:"):
            ClusteringAgreement(**wrong)
    with pytest.raises(InputError, match="clustering_agreement: every trajectory is compared"):
        ClusteringAgreement().run(ways(GROUPS), ways([0.0]))
    with pytest.raises(InputError, match="different frames"):
        ClusteringAgreement().run(ways([0.0]), replace(ways([0.0]), frame=Frame(crs="EPSG:2100")))
