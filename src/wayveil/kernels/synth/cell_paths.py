"""The cells of an adaptive grid that trajectories go through, one after the other."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["trace_cells"]


@kernel
def trace_cells(offsets, column, row, cell_of, longest):
    """Return the cells of each trajectory, neighbours one after the other, none twice in a row.

    Between two points the way is a straight line through the squares of a raster; each step of it goes to one of the
    eight squares around.  `column` and `row` are the square of each point, `cell_of[row, column]` the cell of a square,
    and a path ends with `longest` cells.  Returns the offsets and the cells of paths, in O(squares crossed) time and
    O(cells on paths) memory.
    """
    n = offsets.size - 1
    path_offsets = np.zeros(n + 1, np.int64)
    # Two rounds of the same walk: the first counts the cells of each path, the second writes them.
    for trajectory in range(n):
        length = _walk(offsets, column, row, cell_of, longest, trajectory, path_offsets[:0])
        path_offsets[trajectory + 1] = path_offsets[trajectory] + length
    cells = np.empty(path_offsets[n], np.int64)
    for trajectory in range(n):
        own = cells[path_offsets[trajectory] : path_offsets[trajectory + 1]]
        _walk(offsets, column, row, cell_of, longest, trajectory, own)
    return path_offsets, cells


@inner
def _walk(offsets, column, row, cell_of, longest, trajectory, cells):
    """Return how many cells a path has; write them into `cells` where it has room."""
    length = 0
    last = -1
    at_column = 0
    at_row = 0
    # Before each point the walk stands on the square of the one before.  It goes to the square of the point in as many
    # steps as the longer side of the rectangle between them has, rounding the shorter side: so it ends there.
    for point in range(offsets[trajectory], offsets[trajectory + 1]):
        from_column = at_column
        from_row = at_row
        if point == offsets[trajectory]:
            from_column = column[point]
            from_row = row[point]
        wide = column[point] - from_column
        high = row[point] - from_row
        steps = max(abs(wide), abs(high))
        for step in range(steps + 1):
            at_column = from_column + _share(wide, step, steps)
            at_row = from_row + _share(high, step, steps)
            cell = cell_of[at_row, at_column]
            if cell == last:
                continue
            if length == longest:
                return length
            if length < cells.size:
                cells[length] = cell
            length += 1
            last = cell
    return length


@inner
def _share(whole, part, parts):
    """Return part/parts of a whole number, rounded half up; integers only, so that every machine rounds alike."""
    if parts == 0:
        return 0
    return (2 * whole * part + parts) // (2 * parts)
