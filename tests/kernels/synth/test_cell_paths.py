"""Paths over cells, beside a walk that is written from the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import floor

import numpy as np

from wayveil.kernels.synth.cell_paths import trace_cells


def brute_force(points: list[tuple[int, int]], cell_of: np.ndarray, longest: int) -> list[int]:
    squares = points[:1]
    for (a, b), (c, d) in pairwise(points):
        steps = max(abs(c - a), abs(d - b))
        for step in range(1, steps + 1):
            share = Fraction(step, steps)
            squares.append((floor(a + (c - a) * share + Fraction(1, 2)), floor(b + (d - b) * share + Fraction(1, 2))))
    cells = [int(cell_of[row, column]) for column, row in squares]
    path = [cell for place, cell in enumerate(cells) if place == 0 or cells[place - 1] != cell]
    return path[:longest]


def test_paths_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        side = int(rng.integers(1, 9))
        cell_of = rng.integers(0, 6, (side, side))
        lengths = rng.integers(0, 6, 4)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        column = rng.integers(0, side, offsets[-1])
        row = rng.integers(0, side, offsets[-1])
        longest = int(rng.integers(1, 12))
        found_offsets, cells = trace_cells(offsets, column, row, cell_of, longest)
        for i in range(4):
            rows = slice(offsets[i], offsets[i + 1])
            points = list(zip(column[rows].tolist(), row[rows].tolist(), strict=True))
            assert cells[found_offsets[i] : found_offsets[i + 1]].tolist() == brute_force(points, cell_of, longest)


def test_steps_go_to_one_of_the_eight_squares_around() -> None:
    side = 40
    cell_of = np.arange(side * side).reshape(side, side)
    rng = np.random.default_rng(2)
    column, row = rng.integers(0, side, (2, 50))
    _, cells = trace_cells(np.array([0, 50]), column, row, cell_of, 10_000)
    wide, high = np.diff(cells % side), np.diff(cells // side)
    assert np.maximum(np.abs(wide), np.abs(high)).tolist() == [1] * (len(cells) - 1)
