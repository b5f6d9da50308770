"""Cells that are small where many people are: a coarse grid whose dense cells are cut again, by noisy counts."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["FINEST", "CellGrid", "coarse_side", "refine_grid"]

FINEST = 8
"""Into how many a side of a coarse cell is cut at most; a power of 2, so that all cells are made of raster squares."""

_TURNS = 8
_ROOM = 28.0  # people per cell for noise of one person per move: eight moves, each well above the noise


@dataclass(frozen=True, kw_only=True)
class CellGrid:
    """Cells of a raster of equal squares, and which are neighbours.

    Parameters
    ----------
    cell_of : int64, raster rows x columns
        The cell of each square.
    x_min, y_min, width, height : float64, one per cell
        Where the cells are, in squares of the raster.
    first, to : int64
        The neighbours of cell `c`, by a side or a corner, are ``to[first[c]:first[c + 1]]``, ascending.
    """

    cell_of: IntArray
    x_min: FloatArray
    y_min: FloatArray
    size: FloatArray
    first: IntArray
    to: IntArray

    def __len__(self) -> int:
        return len(self.size)

    @property
    def source(self) -> IntArray:
        """The cell that each move leaves."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def turns(self) -> tuple[IntArray, IntArray]:
        """Return, for each move and each that can follow it, which of eight turns that is, and where a move's begin.

        Straight on is 0, back is 4.
        """
        middle_x = self.x_min + self.size / 2
        middle_y = self.y_min + self.size / 2
        source = self.source
        angle = np.arctan2(middle_y[self.to] - middle_y[source], middle_x[self.to] - middle_x[source])
        following = np.diff(self.first)[self.to]
        pairs = np.concatenate([[0], np.cumsum(following)])
        after = np.repeat(self.first[self.to], following) + np.arange(pairs[-1]) - np.repeat(pairs[:-1], following)
        change = angle[after] - np.repeat(angle, following)
        turn = np.rint(change / (2 * np.pi / _TURNS)).astype(np.int64) % _TURNS
        return turn, pairs

    def move_number(self, a: IntArray, b: IntArray) -> IntArray:
        """Return the numbers of moves from cells `a` to neighbours `b`."""
        key = self.source * len(self) + self.to
        number: IntArray = np.searchsorted(key, a * len(self) + b)
        return number

    def hops(self) -> IntArray:
        """Return how many moves the shortest way from each cell to each other has."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import shortest_path

        graph = csr_matrix((np.ones(len(self.to)), self.to, self.first), shape=(len(self), len(self)))
        steps: IntArray = shortest_path(graph, unweighted=True).astype(np.int64)
        return steps


def coarse_side(people: float, epsilon: float) -> tuple[int, int]:
    """Return how many cells a side of the coarse grid has, and how many cells all of it may become.

    A move between two cells is counted with noise of 1/`epsilon` people.  So there are as many cells as leave a typical
    move (of eight from each cell) a few times as many people as that.

    Examples
    --------
    >>> coarse_side(15_000, 0.3), coarse_side(10, 0.1)
    ((6, 160), (2, 16))
    """
    most = int(np.clip(people * epsilon / _ROOM, 16, 600))
    return int(np.clip(round(sqrt(most / 4)), 2, 16)), most


def refine_grid(density: FloatArray, most: int) -> CellGrid:
    """Return the grid in which the cells of a coarse one are cut by their share of all people.

    `density` is a square table of noisy counts from 0 on.
    """
    side = len(density)
    total = density.sum()
    share = density / total if total > 0 else np.full(density.shape, 1 / density.size)
    # A cell with a share s of the people gets about s * most cells: the next power of two per side.
    cuts = np.array([[_cut(one * most) for one in row] for row in share], np.int64)
    raster = side * FINEST
    cell_of = np.zeros((raster, raster), np.int64)
    places: list[tuple[int, int, int]] = []
    for row in range(side):
        for column in range(side):
            size = FINEST // int(cuts[row, column])
            for y in range(row * FINEST, (row + 1) * FINEST, size):
                for x in range(column * FINEST, (column + 1) * FINEST, size):
                    cell_of[y : y + size, x : x + size] = len(places)
                    places.append((x, y, size))
    first, to = _neighbours(cell_of, len(places))
    table = np.array(places, np.float64)
    return CellGrid(cell_of=cell_of, x_min=table[:, 0], y_min=table[:, 1], size=table[:, 2], first=first, to=to)


def _cut(cells: float) -> int:
    """Return into how many each side is cut: a power of 2 whose square is nearest to the cells that are wanted."""
    cut = 1
    while cut < FINEST and 2 * cut * cut <= cells:
        cut *= 2
    return cut


def _neighbours(cell_of: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """Return the cells that touch each cell, from the squares that touch each other."""
    pairs = []
    rows, columns = cell_of.shape
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        one = cell_of[: rows - down, max(0, -right) : columns - max(0, right)]
        other = cell_of[down:, max(0, right) : columns + min(0, right)]
        pairs.append(np.stack([one.ravel(), other.ravel()]))
    both = np.concatenate(pairs, axis=1)
    both = both[:, both[0] != both[1]]
    both = np.unique(np.concatenate([both, both[::-1]], axis=1), axis=1)
    first = np.concatenate([[0], np.cumsum(np.bincount(both[0], minlength=n))])
    return first, both[1]
