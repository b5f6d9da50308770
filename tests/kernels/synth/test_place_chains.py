"""Sequences of places, beside the same draws one by one."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.synth.place_chains import NextPlaces, draw_chains


def test_chains_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(3)
    for _ in range(100):
        n = int(rng.integers(1, 6))
        one = rng.random((n, n)) * (rng.random((n, n)) < 0.7)
        one[:, -1] += 0.1
        pair_row = np.where(rng.random((n, n)) < 0.5, rng.integers(0, 2, (n, n)), -1)
        two = rng.random((2, n)) + 0.01
        lengths = rng.integers(1, 5, 6)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        starts = rng.integers(0, n, 6)
        draws = rng.random(offsets[-1])
        made = draw_chains(NextPlaces(np.cumsum(one, axis=1), pair_row, np.cumsum(two, axis=1)), starts, offsets, draws)
        for i in range(6):
            path = [int(starts[i])]
            for row in range(offsets[i] + 1, offsets[i + 1]):
                known = pair_row[path[-2], path[-1]] if len(path) > 1 else -1
                chances = one[path[-1]] if known < 0 else two[known]
                goal, sums = draws[row] * chances.sum(), np.cumsum(chances)
                path.append(next(place for place in range(n) if sums[place] > goal))
            assert made[offsets[i] : offsets[i + 1]].tolist() == path


def test_a_place_without_a_chance_is_never_next() -> None:
    running = np.cumsum(np.array([[0.0, 1.0, 0.0]] * 3), axis=1)
    tables = NextPlaces(running, np.full((3, 3), -1), np.zeros((0, 3)))
    made = draw_chains(tables, np.zeros(50, np.int64), np.arange(0, 151, 3), np.linspace(0, 1, 150, endpoint=False))
    assert set(made.reshape(-1, 3)[:, 1:].ravel().tolist()) == {1}
