"""How many trajectories are inside each of many regions, in its interval of time.

The queries are few and the rows are many, so the queries are indexed: a grid over place and time lists in every cell
the queries that touch it.  The rows then stream by once, in their order in memory.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.metrics.moving_box import is_near, piece_at
from wayveil.kernels.metrics.range_predicates import DAI, PAI, PSI, SDI, BoxColumns, Queries, decide

__all__ = ["DAI", "PAI", "PSI", "SDI", "BoxColumns", "Queries", "count_inside"]

Ints = NDArray[np.int64]

_MOST_CELLS = 64  # along a side of the grid
_SLICES = 32  # of time
_TINY = 1e-100  # instead of an extent of 0


class _Grid(NamedTuple):
    """A grid over what the queries cover: `side` x `side` cells, in each of `_SLICES` slices of time.

    x_low, y_low, t_low
        Where and when it begins.
    per_length, per_time
        How many cells there are in a unit of length, and slices in a unit of time.
    """

    x_low: float
    y_low: float
    t_low: float
    per_length: float
    per_time: float
    side: int


class _Lists(NamedTuple):
    """The queries that touch a cell.  All arrays are int64; nobody writes to them.

    first : one per cell (time slice, then y, then x) and one more
        Cell c has the queries ``listed[first[c]:first[c + 1]]``.
    first_of_time : one per slice and one more
        Slice s has the queries ``listed[first_of_time[s]:first_of_time[s + 1]]``, wherever they are.
    listed
        The lists of all cells, then those of all slices.
    """

    first: Ints
    first_of_time: Ints
    listed: Ints


def count_inside(
    boxes: BoxColumns, queries: Queries, *, radius: float, disc: bool, predicates: int = PSI | PAI | SDI | DAI
) -> Ints:
    """Return for every query how many trajectories satisfy it, in columns PSI, PAI, SDI, DAI; 0 if not in `predicates`.

    O(rows + queries x cells each touches + rows near a query's place and time) time, and O(cells + queries) memory
    beside the data.

    Examples
    --------
    >>> t, x = np.array([0, 20, 0, 20]), np.array([-5.0, 15.0, 4.0, 6.0])
    >>> boxes = BoxColumns(np.array([0, 2, 4]), t, t, x, x, x, x)
    >>> five, zero, end = np.array([5.0]), np.array([0.0]), np.array([20.0])
    >>> count_inside(boxes, Queries(five, five, five, zero, end), radius=1.0, disc=False).tolist()
    [[2, 1, 2, 1]]
    """
    if not len(queries.x) or not len(boxes.t_min):
        return np.zeros((len(queries.x), 4), np.int64)
    reach = queries.half + radius
    x_low = (queries.x - reach).min()
    y_low = (queries.y - reach).min()
    t_low = queries.begin.min()
    extent = max((queries.x + reach).max() - x_low, (queries.y + reach).max() - y_low)
    duration = queries.end.max() - t_low
    typical = 2 * float(reach.mean())
    side = int(min(_MOST_CELLS, max(1.0, extent / max(typical, _TINY))))
    per_length = float(side / max(extent, _TINY))
    per_time = float(_SLICES / max(1.0, duration))
    grid = _Grid(float(x_low), float(y_low), float(t_low), per_length, per_time, side)
    first, listed = _index(queries, reach, grid, side)
    first_of_time, listed_of_time = _index(queries, reach, grid, 1)
    lists = _Lists(first, first_of_time + len(listed), np.concatenate([listed, listed_of_time]))
    return _count(boxes, queries, float(radius), int(disc), predicates, grid, lists)


def _index(q: Queries, reach: Any, grid: _Grid, side: int) -> tuple[Ints, Ints]:
    """Return where the list of queries of each cell starts (time slice, then y, then x), and the lists."""
    spans = [
        (_cells(q.begin, grid.t_low, grid.per_time, _SLICES), _cells(q.end, grid.t_low, grid.per_time, _SLICES)),
        (
            _cells(q.y - reach, grid.y_low, grid.per_length, side),
            _cells(q.y + reach, grid.y_low, grid.per_length, side),
        ),
        (
            _cells(q.x - reach, grid.x_low, grid.per_length, side),
            _cells(q.x + reach, grid.x_low, grid.per_length, side),
        ),
    ]
    query = np.arange(len(q.x))
    cell = np.zeros(len(q.x), np.int64)
    for n, (low, high) in zip((_SLICES, side, side), spans, strict=True):
        width = (high - low + 1)[query]
        step = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
        query = np.repeat(query, width)
        cell = np.repeat(cell, width) * n + low[query] + step
    first = np.zeros(_SLICES * side * side + 1, np.int64)
    np.cumsum(np.bincount(cell, minlength=len(first) - 1), out=first[1:])
    return first, query[np.argsort(cell, kind="stable")]


def _cells(values: Any, low: float, scale: float, n: int) -> Ints:
    """The cells of values, computed as `_cell` does."""
    return np.clip((values - low) * scale, 0, n - 1).astype(np.int64)


@inner
def _cell(value, low, scale, n):
    """The cell of a value; what lies outside belongs to the first or the last."""
    cell = (value - low) * scale
    if cell >= n:
        return n - 1
    return np.int64(cell) if cell > 0.0 else np.int64(0)


@kernel
def _count(b, q, radius, disc, predicates, grid, lists):
    """As `count_inside`, with an index of the queries."""
    side = grid.side
    first = lists.first
    first_of_time = lists.first_of_time
    slices = first_of_time.size - 1
    counts = np.zeros((q.x.size, 4), np.int64)
    seen = np.empty(q.x.size, np.int64)  # the last trajectory that was counted for a query
    t_last = q.end[0]
    for i in range(q.x.size):
        seen[i] = -1
        t_last = max(t_last, q.end[i])
    # Every row first rests, then moves to the next one.  Before each round, `seen` tells for which queries the
    # trajectory was already counted.  A round looks up the cells that the piece of motion passes, tests the queries
    # that are listed there from cheap to dear, and decides about a query as soon as one piece comes near: PSI is that
    # it does, the others need all pieces in its time, but only for this query.
    for trajectory in range(b.offsets.size - 1):
        last = b.offsets[trajectory + 1] - 1
        for row in range(b.offsets[trajectory], last + 1):
            way = row < last and b.t_max[row] < b.t_min[row + 1]
            for moves in range(2):
                # Resting for no time is the start of the way that follows.
                if (moves == 1 and not way) or (moves == 0 and way and b.t_min[row] == b.t_max[row]):
                    continue
                to = row + moves
                begin = float(b.t_max[row])
                end = float(b.t_min[to])
                if moves == 0:
                    begin, end = end, begin
                if end < grid.t_low or begin > t_last:
                    continue
                box = b.x_min[row], b.x_max[row], b.y_min[row], b.y_max[row]
                next_box = b.x_min[to], b.x_max[to], b.y_min[to], b.y_max[to]
                west = min(box[0], next_box[0])
                east = max(box[1], next_box[1])
                south = min(box[2], next_box[2])
                north = max(box[3], next_box[3])
                left = _cell(west, grid.x_low, grid.per_length, side)
                right = _cell(east, grid.x_low, grid.per_length, side)
                low = _cell(south, grid.y_low, grid.per_length, side)
                high = _cell(north, grid.y_low, grid.per_length, side)
                for s in range(
                    _cell(begin, grid.t_low, grid.per_time, slices), _cell(end, grid.t_low, grid.per_time, slices) + 1
                ):
                    # Where a box covers more cells than there are queries at that time, all of these are looked at.
                    by_time = (right - left + 1) * (high - low + 1) > first_of_time[s + 1] - first_of_time[s]
                    for line in range(low, low + 1 if by_time else high + 1):
                        at = (s * side + line) * side
                        start = first_of_time[s] if by_time else first[at + left]
                        stop = first_of_time[s + 1] if by_time else first[at + right + 1]
                        for k in range(start, stop):
                            i = lists.listed[k]
                            if seen[i] == trajectory or q.begin[i] > end or q.end[i] < begin:
                                continue
                            reach = q.half[i] + radius
                            if q.x[i] - reach > east or q.x[i] + reach < west:
                                continue
                            if q.y[i] - reach > north or q.y[i] + reach < south:
                                continue
                            p = piece_at(begin, end, box, next_box, q.begin[i], q.end[i])
                            if not is_near(p, q.x[i], q.y[i], q.half[i], radius, disc):
                                continue
                            seen[i] = trajectory
                            answers = PSI | decide(b, trajectory, q, i, radius, disc, predicates)
                            for bit in range(4):
                                counts[i, bit] += (answers & predicates) >> bit & 1
    return counts
