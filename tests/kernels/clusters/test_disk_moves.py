"""Moving points: into the disk, no further than needed, and the smallest circle against all pairs and triples."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.clusters.disk_moves import (
    ClusterMembers,
    DiskOffset,
    PlanarPoints,
    clamp,
    smallest_circle,
    translate,
)
from wayveil.kernels.common.jit import kernel


@kernel
def clamped(x, y, cx, cy, half):
    return clamp(x, y, cx, cy, half)


@kernel
def circle(x, y):
    return smallest_circle(x, y)


places = st.floats(-100, 100)
NOWHERE = DiskOffset(np.zeros(0), np.zeros(0))


@settings(deadline=None, max_examples=200)
@given(places, places, places, places, st.floats(0, 50), st.floats(0, 2 * math.pi), st.floats(0, 1))
def test_the_translation_is_the_smallest_into_the_disk(
    x: float, y: float, cx: float, cy: float, half: float, angle: float, share: float
) -> None:
    nx, ny = clamped(x, y, cx, cy, half)
    assert (nx - cx) ** 2 + (ny - cy) ** 2 <= half * half * (1 + 1e-14)
    other = cx + half * share * math.cos(angle), cy + half * share * math.sin(angle)
    assert math.dist((x, y), (nx, ny)) <= math.dist((x, y), other) + 1e-9
    if (x - cx) ** 2 + (y - cy) ** 2 <= half * half * (1 - 1e-15):
        assert (nx, ny) == (x, y)


@pytest.mark.parametrize("far", [0.0, 1e6, 1e9, 1e12, 1e15])
@pytest.mark.parametrize("half", [1e-4, 0.3, 7.0])
def test_rounding_does_not_leave_the_disk(far: float, half: float) -> None:
    rng = np.random.default_rng(1)
    for x, y in rng.normal(0, 1000, (200, 2)):
        nx, ny = clamped(far + x, far - y, far, far, half)
        assert (nx - far) ** 2 + (ny - far) ** 2 <= half * half * (1 + 1e-14)
    assert clamped(far + 3.0, far, far, far, 0.0) == (far, far)


def by_hand(points: list[tuple[float, float]]) -> float:
    """The smallest radius of a circle by two or three of the points that holds all."""
    centres = list(points) + [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in combinations(points, 2)]
    for (ax, ay), (bx, by), (cx, cy) in combinations(points, 3):
        d = 2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by))
        if d:
            a2, b2, c2 = ax * ax + ay * ay, bx * bx + by * by, cx * cx + cy * cy
            centres.append(
                ((a2 * (by - cy) + b2 * (cy - ay) + c2 * (ay - by)) / d,
                 (a2 * (cx - bx) + b2 * (ax - cx) + c2 * (bx - ax)) / d)
            )  # fmt: skip
    return min(max(math.dist(c, p) for p in points) for c in centres)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=9))
def test_the_smallest_circle(points: list[tuple[int, int]]) -> None:
    x, y = np.array(points, float).T.copy()
    cx, cy, radius = circle(x, y)
    assert radius == pytest.approx(by_hand([(float(a), float(b)) for a, b in points]), abs=1e-9)
    assert all(math.dist((cx, cy), p) <= radius + 1e-9 for p in points)


def test_circles_of_one_point_and_of_a_line() -> None:
    assert circle(np.full(4, 0.1), np.full(4, 0.7)) == (0.1, 0.7, 0.0)
    assert circle(np.array([0.0, 1, 2, 8]), np.zeros(4)) == (4.0, 0.0, 4.0)


def test_pairwise_near_is_not_inside_one_circle() -> None:
    """Three points 2 apart need a circle of radius 2/sqrt(3): "if and only if" in the survey is false."""
    _, _, radius = circle(np.array([0.0, 2.0, 1.0]), np.array([0.0, 0.0, math.sqrt(3)]))
    assert radius == pytest.approx(2 / math.sqrt(3))


@pytest.mark.parametrize("mec", [False, True])
def test_clusters_are_moved_and_nothing_else(mec: bool) -> None:
    # trajectories 0, 2 and 3 are a cluster, 1 and 4 another, 5 is none
    x = np.array([0.0, 0.0, 9.0, 0.0, 4.0, 7.0, 2.0, 0.0, 9.0, 50.0])
    y = np.array([0.0, 1.0, 0.0, 3.0, 0.0, 1.0, 0.0, 4.0, 0.0, 50.0])
    begin = np.array([0, 2, 3, 5, 8, 9])
    end = np.array([2, 3, 5, 7, 9, 10])
    before = list(zip(x.tolist(), y.tolist(), strict=True))
    members, first = np.array([0, 2, 3, 1, 4]), np.array([0, 3, 5])
    moved = translate(PlanarPoints(x, y, begin, end), ClusterMembers(members, first), 1.0, mec, NOWHERE, 0, 2)
    after = list(zip(x.tolist(), y.tolist(), strict=True))
    expected, ways = list(before), [0.0, 0.0]
    for c, rows in enumerate([[(0, 3, 5), (1, 4, 6)], [(2, 8)]]):
        for group in rows:
            points = [before[r] for r in group]
            centre = (sum(p[0] for p in points) / len(points), sum(p[1] for p in points) / len(points))
            if mec:
                cx, cy, _ = circle(*np.array(points).T.copy())
                centre = (cx, cy)
            for r in group:
                far = math.dist(before[r], centre)
                if far > 1:
                    expected[r] = tuple(m + (v - m) / far for v, m in zip(before[r], centre, strict=True))
                ways[c] += max(0.0, far - 1)
    assert np.allclose(after, expected, atol=1e-11)
    assert moved.tolist() == pytest.approx(ways)
    assert after[7] == before[7]
    assert after[9] == before[9]


def test_only_the_clusters_asked_for_are_moved() -> None:
    x, y = np.array([0.0, 8.0, 0.0, 8.0]), np.zeros(4)
    begin, end = np.arange(4), np.arange(1, 5)
    clusters = ClusterMembers(np.arange(4), np.array([0, 2, 4]))
    moved = translate(PlanarPoints(x, y, begin, end), clusters, 1.0, False, NOWHERE, 1, 2)
    assert moved.tolist() == pytest.approx([6.0])
    assert x.tolist() == pytest.approx([0.0, 8.0, 3.0, 5.0])
    assert x[:2].tolist() == [0.0, 8.0]


def test_equal_points_stay_where_they_are() -> None:
    for half in (0.0, 1.0):
        x, y = np.full(3, 0.1), np.full(3, 0.7)
        points = PlanarPoints(x, y, np.arange(3), np.arange(1, 4))
        clusters = ClusterMembers(np.arange(3), np.array([0, 3]))
        assert translate(points, clusters, half, False, NOWHERE, 0, 1).tolist() == [0.0]
        assert x.tolist() == [0.1] * 3
        assert y.tolist() == [0.7] * 3


def test_members_at_an_offset_are_put_there_wherever_they_were() -> None:
    begin, end = np.array([0, 2, 4]), np.array([2, 4, 6])
    offset = DiskOffset(np.array([0.5, -1.0, 0.0]), np.array([0.5, 0.0, 0.25]))
    clusters = ClusterMembers(np.arange(3), np.array([0, 3]))
    for places in ([0.0, 1.0, 4.0, 8.0, 8.0, 9.0], [8.0, 9.0, 0.0, 1.0, 4.0, 8.0]):  # members changed places
        x, y = np.array(places), np.zeros(6)
        moved = translate(PlanarPoints(x, y, begin, end), clusters, 1.0, False, offset, 0, 1)
        assert np.allclose(x, [4.5, 6.5, 3.0, 5.0, 4.0, 6.0])
        assert np.allclose(y, [0.5, 0.5, 0.0, 0.0, 0.25, 0.25])
        assert moved.tolist() == pytest.approx([np.hypot(x - places, y).sum()])
