"""Walks over neighbouring cells that begin and end where they are told to, with as many moves as they are told to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Moves", "draw_bridges"]


class Moves(NamedTuple):
    """The moves between neighbouring cells, and how likely each is after another.

    Parameters
    ----------
    first : int64, one more than there are cells
        The moves out of cell `c` are ``first[c]:first[c + 1]``.
    to : int64, one per move
        The cell that a move leads to.
    chance : float64, one per move
        How likely it is as the first move out of its cell.
    turn : int64, one per pair of a move and a move out of the cell it leads to
        Which of the turns the pair is, from 0; those of move `m` begin at ``pairs[m]``, in the order of the moves.
    pairs : int64, one more than there are moves
        Where the pairs of each move begin.
    taste : float64, one per turn
        What the chance of a move is multiplied with where it is that turn.
    """

    first: Any
    to: Any
    chance: Any
    turn: Any
    pairs: Any
    taste: Any


@kernel
def draw_bridges(moves, starts, ends, lengths, draws, draw_offsets):
    """Return the cells of walks, of which walk `i` has ``lengths[i]`` moves from ``starts[i]`` to ``ends[i]``.

    A walk is drawn with the chance that it has among all of its length between its ends (a bridge of a Markov chain
    whose state is the last move).  Walks come in ascending order of `ends`.  Walk `i` takes its draws, uniform in [0,
    1), from ``draws[draw_offsets[i]:]``, one per move; its cells stand at ``draw_offsets[i] + i``, one more than moves.
    Where no walk of that length exists, all its cells are -1.

    For each end O(longest length x pairs) time and O(longest length x moves) memory.
    """
    cells = np.full(draws.size + starts.size, -1, np.int64)
    n_moves = moves.to.size
    begin = 0
    # Before each round all walks to earlier ends are drawn.  A round weighs the moves for one end, as far back as its
    # longest walk needs, and draws all walks to it.
    while begin < starts.size:
        end = begin
        longest = 0
        while end < starts.size and ends[end] == ends[begin]:
            longest = max(longest, lengths[end])
            end += 1
        weight = np.zeros((longest + 1, n_moves))
        _weigh(moves, ends[begin], weight)
        for walk in range(begin, end):
            at = draw_offsets[walk]
            own = cells[at + walk : at + walk + lengths[walk] + 1]
            _draw(moves, weight, starts[walk], ends[walk], draws[at : at + lengths[walk]], own)
        begin = end
    return cells


@inner
def _weigh(moves, end, weight):
    """Fill ``weight[left, move]``: how likely `end` is reached with exactly `left` more moves after a move.

    Each level is divided by its largest entry: only entries of one level are ever compared.
    """
    for move in range(moves.to.size):
        weight[0, move] = 1.0 if moves.to[move] == end else 0.0
    for left in range(1, weight.shape[0]):
        largest = 0.0
        for move in range(moves.to.size):
            total = 0.0
            norm = 0.0
            pair = moves.pairs[move]
            for after in range(moves.first[moves.to[move]], moves.first[moves.to[move] + 1]):
                likely = moves.chance[after] * moves.taste[moves.turn[pair]]
                norm += likely
                total += likely * weight[left - 1, after]
                pair += 1
            if norm > 0.0:
                weight[left, move] = total / norm
            largest = max(largest, weight[left, move])
        if largest > 0.0:
            for move in range(moves.to.size):
                weight[left, move] /= largest


@inner
def _draw(moves, weight, start, end, draws, cells):
    """Draw one walk into `cells`; they stay -1 where there is none."""
    if draws.size == 0:
        if start == end:
            cells[0] = start
        return
    at = start
    last = -1
    for step in range(draws.size):
        left = draws.size - step - 1
        first = moves.first[at]
        # The last move that can be taken at all is kept, in case that rounding carries the draw beyond the sum.
        total = 0.0
        for move in range(first, moves.first[at + 1]):
            total += _likely(moves, last, first, move) * weight[left, move]
        if total <= 0.0:
            cells[:] = -1
            return
        goal = draws[step] * total
        chosen = -1
        for move in range(first, moves.first[at + 1]):
            likely = _likely(moves, last, first, move) * weight[left, move]
            if likely <= 0.0:
                continue
            chosen = move
            goal -= likely
            if goal < 0.0:
                break
        cells[step] = at
        at = moves.to[chosen]
        last = chosen
    cells[draws.size] = at


@inner
def _likely(moves, last, first, move):
    """Return how likely a move is after another, up to a factor that all moves out of a cell share; -1 is none."""
    if last < 0:
        return moves.chance[move]
    return moves.chance[move] * moves.taste[moves.turn[moves.pairs[last] + move - first]]
