"""Walks between two cells, beside all walks of that length with their chances."""

from __future__ import annotations

from itertools import product

import numpy as np

from wayveil.kernels.synth.bridges import Moves, draw_bridges


def random_moves(rng: np.random.Generator, cells: int) -> Moves:
    """Return a graph in which every cell has some neighbours, with chances and three turns."""
    out = [sorted(rng.choice(cells, int(rng.integers(1, cells)), replace=False).tolist()) for _ in range(cells)]
    first = np.concatenate([[0], np.cumsum([len(one) for one in out])])
    to = np.array([cell for one in out for cell in one])
    following = np.diff(first)[to]
    pairs = np.concatenate([[0], np.cumsum(following)])
    chance = rng.random(len(to)) * (rng.random(len(to)) < 0.8)
    return Moves(first, to, chance, rng.integers(0, 3, pairs[-1]), pairs, rng.random(3) + 0.1)


def walks(moves: Moves, start: int, end: int, length: int) -> dict[tuple[int, ...], float]:
    """Return every walk from start to end, with how likely it is, not normalised."""
    found: dict[tuple[int, ...], float] = {}
    for steps in product(range(len(moves.to)), repeat=length):
        at, weight, path = start, 1.0, [start]
        for number, move in enumerate(steps):
            if not moves.first[at] <= move < moves.first[at + 1]:
                weight = 0.0
                break
            options = range(moves.first[at], moves.first[at + 1])
            if number == 0:
                weight *= moves.chance[move]
            else:
                before = steps[number - 1]
                likely = [
                    moves.chance[m] * moves.taste[moves.turn[moves.pairs[before] + m - moves.first[at]]]
                    for m in options
                ]
                weight *= likely[move - moves.first[at]] / sum(likely) if sum(likely) > 0 else 0.0
            at = int(moves.to[move])
            path.append(at)
        if weight > 0 and at == end:
            found[tuple(path)] = found.get(tuple(path), 0.0) + weight
    return found


def test_walks_come_with_their_chances() -> None:
    rng = np.random.default_rng(5)
    n = 4000
    for _ in range(12):
        cells = 3
        moves = random_moves(rng, cells)
        start, end = rng.integers(0, cells, 2).tolist()
        length = int(rng.integers(0, 4))
        expected = walks(moves, start, end, length) if length else ({(start,): 1.0} if start == end else {})
        at = np.arange(n) * length
        drawn = draw_bridges(
            moves, np.full(n, start), np.full(n, end), np.full(n, length), rng.random(n * length), at
        ).reshape(n, length + 1)
        if not expected:
            assert (drawn == -1).all()
            continue
        total = sum(expected.values())
        found, count = np.unique(drawn, axis=0, return_counts=True)
        shares = {tuple(path): number / n for path, number in zip(found.tolist(), count.tolist(), strict=True)}
        assert set(shares) <= set(expected)
        for path, weight in expected.items():
            # The first move out of a cell is one of several that add up to anything; only shares of walks count.
            assert abs(shares.get(path, 0.0) - weight / total) < 0.05


def test_walks_to_several_ends_are_drawn_in_their_places() -> None:
    first = np.array([0, 2, 4, 6])
    to = np.array([1, 2, 0, 2, 0, 1])
    pairs = np.arange(0, 13, 2)
    moves = Moves(first, to, np.ones(6), np.zeros(12, np.int64), pairs, np.ones(1))
    lengths = np.array([2, 1, 3])
    at = np.array([0, 2, 3])
    drawn = draw_bridges(moves, np.array([0, 0, 1]), np.array([0, 1, 2]), lengths, np.full(6, 0.3), at)
    parts = [drawn[at[i] + i : at[i] + i + lengths[i] + 1].tolist() for i in range(3)]
    assert [part[0] for part in parts] == [0, 0, 1]
    assert [part[-1] for part in parts] == [0, 1, 2]
