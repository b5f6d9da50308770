"""Which place a point is in: discs, polygons, borders and overlaps, against the definition."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.places.places import Places
from wayveil.steps.places.place_index import PlaceIndex

Ring = list[tuple[int, int]]
Place = tuple[tuple[int, int], int, list[Ring]]  # centre, radius, rings


def places_of(found: list[Place]) -> Places:
    rings = [(i, ring) for i, (_, _, rings) in enumerate(found) for ring in rings]
    return Places(
        name=tuple(f"p{i}" for i in range(len(found))),
        node=("",) * len(found),
        x=np.array([c[0] for c, _, _ in found], float),
        y=np.array([c[1] for c, _, _ in found], float),
        radius_m=np.array([r for _, r, _ in found], float),
        min_stay=np.full(len(found), np.nan),
        ring_place=np.array([i for i, _ in rings], np.int64),
        ring_offsets=np.cumsum([0, *(len(ring) for _, ring in rings)]),
        ring_x=np.array([x for _, ring in rings for x, _ in ring], float),
        ring_y=np.array([y for _, ring in rings for _, y in ring], float),
    )


def from_edge(p: tuple[int, int], a: tuple[int, int], b: tuple[int, int]) -> Fraction:
    """The square of the distance from a point to an edge, exactly."""
    dx, dy = b[0] - a[0], b[1] - a[1]
    size = dx * dx + dy * dy
    share = Fraction((p[0] - a[0]) * dx + (p[1] - a[1]) * dy, size) if size else Fraction(0)
    share = min(max(share, Fraction(0)), Fraction(1))
    return (a[0] + share * dx - p[0]) ** 2 + (a[1] + share * dy - p[1]) ** 2


def winding(p: tuple[int, int], ring: Ring) -> int:
    """How many times the angle from a point to the corners goes round, for points that are not on the border."""
    total = 0.0
    for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
        ax, ay, bx, by = a[0] - p[0], a[1] - p[1], b[0] - p[0], b[1] - p[1]
        total += math.atan2(ax * by - ay * bx, ax * bx + ay * by)
    return round(total / (2 * math.pi))


def holds(place: Place, p: tuple[int, int], radius: int) -> bool:
    centre, own, rings = place
    if not rings:
        return (p[0] - centre[0]) ** 2 + (p[1] - centre[1]) ** 2 <= (own or radius) ** 2
    for ring in rings:
        edges = list(zip(ring, [*ring[1:], ring[0]], strict=True))
        if min(from_edge(p, a, b) for a, b in edges) <= own**2 or winding(p, ring) % 2:
            return True
    return False


def oracle(places: list[Place], p: tuple[int, int], radius: int) -> int:
    inside = [
        ((p[0] - c[0]) ** 2 + (p[1] - c[1]) ** 2, i)
        for i, (c, _, _) in enumerate(places)
        if holds(places[i], p, radius)
    ]
    return min(inside)[1] if inside else -1


small = st.integers(-8, 8)
corner = st.tuples(small, small)
some_places = st.lists(
    st.tuples(corner, st.integers(0, 4), st.lists(st.lists(corner, min_size=3, max_size=6), max_size=2)),
    min_size=1,
    max_size=6,
)


@settings(deadline=None, max_examples=150)
@given(some_places, st.lists(st.tuples(st.integers(-14, 14), st.integers(-14, 14)), max_size=12), st.integers(1, 5))
def test_the_place_of_a_point_is_that_of_the_definition(
    places: list[Place], points: list[tuple[int, int]], radius: int
) -> None:
    index = PlaceIndex(places_of(places), float(radius))
    at = index.at(np.array([p[0] for p in points], float), np.array([p[1] for p in points], float))
    for p, found in zip(points, at.tolist(), strict=True):
        expected = oracle(places, p, radius)
        if found != expected:
            # Within a rounding error of a slanted border at a distance.
            edges = [
                (abs(math.sqrt(from_edge(p, a, b)) - places[i][1]))
                for i in {found, expected} - {-1}
                for ring in places[i][2]
                for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)
            ]
            assert edges
            assert min(edges) < 1e-9


def test_many_places_of_all_sizes() -> None:
    """The grid has cells of one size; places of any size are found."""
    rng = np.random.default_rng(1)
    n = 300
    x, y = rng.integers(0, 10_000, n).astype(float), rng.integers(0, 10_000, n).astype(float)
    radius = np.where(rng.random(n) < 0.05, 3000.0, np.where(rng.random(n) < 0.7, 5.0, 200.0))
    places = Places(
        name=tuple(map(str, range(n))), node=("",) * n, x=x, y=y, radius_m=radius, min_stay=np.full(n, np.nan)
    )
    px, py = rng.uniform(-2000, 12_000, 3000), rng.uniform(-2000, 12_000, 3000)
    far = np.hypot(px[:, None] - x, py[:, None] - y)
    far[far > radius] = np.inf
    expected = np.where(np.isfinite(far.min(axis=1)), far.argmin(axis=1), -1)
    index = PlaceIndex(places, 50.0)
    assert index.at(px, py).tolist() == expected.tolist()
    assert len(index.cell) <= 8 * n + 1000


@pytest.mark.parametrize("shift", [0.0, -1e12, 1e12])
def test_large_coordinates_and_one_place(shift: float) -> None:
    one = np.array([shift])
    places = Places(name=("a",), node=("",), x=one, y=one, radius_m=np.zeros(1), min_stay=np.full(1, np.nan))
    at = PlaceIndex(places, 10.0).at(np.array([0.0, 10.0, 11.0, 1e12]) + shift, np.zeros(4) + shift)
    assert at.tolist() == [0, 0, -1, -1]


@pytest.mark.parametrize(("radius", "outside"), [(0, 1), (3, 4)])
def test_the_border_belongs_to_a_place(radius: int, outside: int) -> None:
    square: Ring = [(0, 0), (10, 0), (10, 10), (0, 10)]
    index = PlaceIndex(places_of([((5, 5), radius, [square])]), 50.0)
    on = [(10 + radius, 5), (-radius, 5), (5, 10 + radius), (5, -radius), (10, 10), (0, 0)]
    off = [(10 + outside, 5), (-outside, 5), (5, 10 + outside), (5, -outside), (10 + outside, 10 + outside)]
    at = index.at(*(np.array(column, float) for column in zip(*on, *off, strict=True)))
    assert at.tolist() == [0] * len(on) + [-1] * len(off)


def test_places_far_apart() -> None:
    far: list[Place] = [((0, 0), 1, []), ((10**12, 10**12), 1, []), ((10**12, 0), 1, [])]
    index = PlaceIndex(places_of(far), 1.0)
    assert index.at(np.array([0.0, 1e12, 1e12, 5e11]), np.array([0.0, 1e12, 0.0, 0.0])).tolist() == [0, 1, 2, -1]


def test_the_nearest_centre() -> None:
    index = PlaceIndex(places_of([((0, 0), 1, []), ((10, 0), 1, [])]), 1.0)
    near = index.nearest(np.array([4.0, 7.0, 13.0, 13.1]), np.array([0.0, 0.0, 4.0, 4.0]), 5.0)
    assert near.tolist() == [0, 1, 1, -1]
