"""Bounds for matching: never above the true cost, and the true cost where nothing is lost by them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.tga.cost_bounds import Coarse, Known, Rule, Scratch, Sequences, coarse_bounds, rest_bounds
from wayveil.kernels.tga.point_matching import match_points


@kernel
def call_coarse(one, m_one, sequences, coarse, rule):  # type: ignore[no-untyped-def]
    return coarse_bounds(one, m_one, sequences, coarse, rule)


@kernel
def call_rest(one, m_one, sequences, number, rule, known, scratch):  # type: ignore[no-untyped-def]
    return rest_bounds(one, m_one, sequences, number, rule, known, scratch)


def bounds(
    one: Any, m_one: int, two: Any, m_two: int, rule: Rule, pieces: int, most: float = math.inf
) -> tuple[float, Any, Any, Any]:
    """Return the coarse bound, the bounds from every box on, and what drops cost in addition: infinity above `most`."""
    n = two.shape[1]
    sequences = Sequences(two, np.array([0]), np.array([n]), np.array([m_two]), np.array([0]))
    cuts = np.arange(pieces + 1) * n // pieces
    low, high = (
        np.array([[f(two[2 * d + e, a : max(a + 1, b)]) for a, b in pairwise(cuts)] for d in range(3)])
        for e, f in ((0, np.min), (1, np.max))
    )  # fmt: skip
    count = np.diff(cuts).astype(np.float64)
    coarse = Coarse(np.array([0]), low[:, :, None].copy(), high[:, :, None].copy(), count[:, None].copy())
    rest_one, rest_two = np.empty(one.shape[1] + 1), np.empty(n + 1)
    scratch = Scratch(rest_one, rest_two, np.empty((2, n)), np.empty(n + 1))
    bound, least = call_coarse(one, m_one, sequences, coarse, rule)
    extra = call_rest(one, m_one, sequences, 0, rule, Known(float(bound[0]), least[0], most), scratch)
    return float(bound[0]), rest_one, rest_two, extra


def points(*rows: tuple[float, float, float]) -> Any:
    return np.repeat(np.array(rows, np.float64).T, 2, axis=0)


def test_sides_that_are_powers_of_two_lose_nothing() -> None:
    # 1 + X, 1 + Y, 1 + T are 4, 2, 8: the straight lines meet the logarithm there.
    one, two = points((0, 0, 0), (900, 0, 100)), points((3, 1, 7), (903, 1, 107))
    rule = Rule(50.0, 1.0, 0.5)
    g = math.log(8) + 0.5 * math.log(8)
    coarse, rest_one, rest_two, extra = bounds(one, 2, two, 3, rule, 2)
    assert coarse == pytest.approx(2 * 5 * g, rel=1e-12)
    assert rest_one == pytest.approx([2 * 2 * g, 2 * g, 0])
    assert rest_two == pytest.approx([2 * 3 * g, 3 * g, 0])
    assert extra == pytest.approx((2 * (50 - g), 3 * (50 - g)))
    assert match_points(one, 2, two, 3, rule)[0] == pytest.approx(coarse)


def test_boxes_pay_for_their_own_sides() -> None:
    one, two = np.array([[0.0], [1.0], [0.0], [3.0], [0.0], [7.0]]), points((0.5, 2.0, 5.0))
    rule = Rule(50.0, 1.0, 1.0)
    coarse, rest_one, rest_two, _ = bounds(one, 1, two, 1, rule, 1)
    assert coarse == pytest.approx(2 * math.log(2 * 4 * 8), rel=1e-12) == rest_one[0] + rest_two[0]


def test_the_longer_one_drops_some() -> None:
    rule = Rule(50.0, 1.0, 1.0)
    longer, shorter = points((0, 0, 0), (1, 0, 0), (0, 0, 0)), points((0, 0, 0))
    g = math.log(2)
    assert bounds(longer, 2, shorter, 3, rule, 3)[0] == pytest.approx(2 * g + 2 * 2 * (50 - g), rel=1e-12)
    assert bounds(shorter, 2, longer, 3, rule, 3)[0] == pytest.approx(3 * g + 2 * 3 * (50 - g), rel=1e-12)


def test_nothing_costs_more_than_to_drop_it() -> None:
    rule = Rule(1.5, 1.0, 1.0)
    coarse, rest_one, rest_two, extra = bounds(points((0, 0, 0)), 2, points((99, 99, 99)), 3, rule, 1)
    assert (coarse, rest_one[0], rest_two[0], extra) == (7.5, 3.0, 4.5, (0.0, 0.0))


def test_the_same_points_cost_exactly_nothing() -> None:
    # Otherwise a tie at no cost could be ruled out.
    one = points((1e12, -5, 3), (7, 1e-9, 8))
    coarse, rest_one, rest_two, _ = bounds(one, 1, one, 1, Rule(9.0, 0.3, 0.7), 2)
    assert coarse == rest_one[0] == rest_two[0] == 0


def some_boxes(rng: np.random.Generator, n: int) -> Any:
    corners = rng.uniform(0, 300, (3, n))
    return np.stack([corners, corners + rng.uniform(0, 90, (3, n))], axis=1).reshape(6, n)


def test_bounds_are_never_above_the_cost() -> None:
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(300):
        n, m, m_one, m_two, pieces = (int(v) for v in rng.integers(1, (12, 12, 4, 4, 9)))
        one, two = some_boxes(rng, n), some_boxes(rng, m)
        rule = Rule(float(rng.uniform(0, 20)), *rng.uniform(0, 2, 2).tolist())
        cost = match_points(one, m_one, two, m_two, rule)[0]
        coarse, rest_one, rest_two, extra = bounds(one, m_one, two, m_two, rule, pieces)
        fine = rest_one[0] + rest_two[0] + max(0, n - m) * extra[0] + max(0, m - n) * extra[1]
        assert max(coarse, fine) <= cost * (1 + 1e-12)
        shares.append(fine / cost)
    assert np.median(shares) > 0.85


def test_who_may_cost_as_much_is_never_ruled_out_early() -> None:
    # Boxes are looked at one after the other, and the coarse bound stands for the rest of them: still a bound.
    rng = np.random.default_rng(1)
    n_ruled_out = 0
    for _ in range(600):
        n, m, m_one, m_two, pieces = (int(v) for v in rng.integers(1, (20, 20, 4, 4, 9)))
        one, two = some_boxes(rng, n), some_boxes(rng, m)
        rule = Rule(float(rng.uniform(0, 20)), *rng.uniform(0, 2, 2).tolist())
        cost = match_points(one, m_one, two, m_two, rule)[0]
        assert np.isfinite(bounds(one, m_one, two, m_two, rule, pieces, most=cost)[3]).all()
        n_ruled_out += bounds(one, m_one, two, m_two, rule, pieces, most=0.8 * cost)[3][0] == math.inf
    assert n_ruled_out > 100
