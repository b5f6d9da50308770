"""What hidden cells of a table may be, given all that is published: feasible tables, by linear programming.

A hidden cell is a variable from 0 on.  Every published total is an equation: the hidden cells that it counts add up to
it, less the cells that are published.  The sets that totals count are those of rows, columns and all, which are two
families of nested sets; so the corners of what is feasible are whole numbers, and a bound that linear programming finds
is one that a table of whole numbers reaches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack

from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["Equations", "find_pinned_low", "find_too_low_highs", "solve_bounds"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Equations:
    """The hidden cells and what is known of their sums.

    Parameters
    ----------
    n_cells : int
        The number of hidden cells.
    members : sequence of int64 arrays
        For each published total, the hidden cells that it counts.
    rest : sequence of int
        For each, what is left of it for them.
    """

    n_cells: int
    members: Sequence[IntArray]
    rest: Sequence[int]

    def matrix(self) -> Any:
        """Return the equations as a sparse matrix."""
        # One row per equation, a 1 for each of its cells.
        row = np.repeat(np.arange(len(self.members)), [len(cells) for cells in self.members])
        column = np.concatenate([np.zeros(0, np.int64), *self.members])
        return csr_array((np.ones(len(row)), (row, column)), shape=(len(self.members), self.n_cells))

    def fits(self, table: IntArray) -> bool:
        """Return whether whole numbers keep every equation, exactly."""
        sums = (int(table[cells].sum()) for cells in self.members)
        return bool((table >= 0).all()) and all(one == rest for one, rest in zip(sums, self.rest, strict=True))


def find_pinned_low(equations: Equations, cells: IntArray) -> IntArray:
    """Return those of some hidden cells that cannot be 0 in any table that fits.

    One table with a 0 clears every cell that is 0 in it.  Each round asks for one in which the sum over all cells that
    are not cleared is least; where that clears none, for the least value of one cell, which is cleared or found.
    """
    return _search(equations, cells, lambda one, table: table[one] == 0, _least)


def find_too_low_highs(equations: Equations, cells: IntArray, least: int) -> IntArray:
    """Return those of some hidden cells that cannot be `least` or more in any table that fits; in the same way."""

    def highest(equations: Equations, some: IntArray) -> IntArray | None:
        return _most(equations, some, least)

    return _search(equations, cells, lambda one, table: table[one] >= least, highest)


def solve_bounds(equations: Equations, cell: int) -> tuple[float, float]:
    """Return the least and the largest value of one hidden cell; the largest is infinite where nothing bounds it."""
    matrix = equations.matrix()
    objective = np.zeros(equations.n_cells)
    objective[cell] = 1.0
    bounds = []
    for sign in (1.0, -1.0):
        # Status 3: unbounded, so no total speaks of the cell.
        solution = linprog(sign * objective, A_eq=matrix, b_eq=np.array(equations.rest, float), method="highs")
        bounds.append(np.inf if solution.status == 3 else sign * solution.fun if solution.success else np.nan)
    return float(bounds[0]), float(bounds[1])


def _search(equations: Equations, cells: IntArray, is_clear: Any, solve: Any) -> IntArray:
    left = np.array(cells, np.int64)
    stuck: list[int] = []
    # Before each round `left` are cells of which it is not known whether they are pinned.  A table that clears several
    # at once is looked for; if it clears none, the first is asked alone, and leaves the list either way.
    while len(left):
        table = solve(equations, left)
        clear: BoolArray = np.zeros(len(left), np.bool_) if table is None else is_clear(left, table)
        if clear.any():
            left = left[~clear]
            continue
        table = solve(equations, left[:1])
        if table is None or not is_clear(left[:1], table)[0]:
            stuck.append(int(left[0]))
        left = left[1:]
    return np.array(stuck, np.int64)


def _least(equations: Equations, cells: IntArray) -> IntArray | None:
    objective = np.zeros(equations.n_cells)
    objective[cells] = 1.0
    return _solve(equations, objective, equations.matrix(), equations.n_cells)


def _most(equations: Equations, cells: IntArray, least: int) -> IntArray | None:
    """Return a table in which as much as possible of the first `least` of each cell is there.

    Behind the cells, there is a variable for each of `cells`: it is no more than the cell, and no more than `least`.
    """
    n = len(cells)
    # A helper variable per cell, at most the cell and at most `least`: their sum is largest where as many cells as
    # possible reach `least`.
    objective = np.concatenate([np.zeros(equations.n_cells), -np.ones(n)])
    pick = csr_array((-np.ones(n), (np.arange(n), cells)), shape=(n, equations.n_cells))
    below = hstack([pick, eye_array(n)], format="csr")
    equal = hstack([equations.matrix(), csr_array((len(equations.members), n))], format="csr")
    limits = [(0, None)] * equations.n_cells + [(0, least)] * n
    solution = linprog(
        objective,
        A_ub=below,
        b_ub=np.zeros(n),
        A_eq=equal,
        b_eq=np.array(equations.rest, float),
        bounds=limits,
        method="highs-ds",
    )
    return _whole(equations, solution)


def _solve(equations: Equations, objective: Any, equal: Any, n: int) -> IntArray | None:
    if not len(equations.members):
        return np.zeros(n, np.int64)
    solution = linprog(objective, A_eq=equal, b_eq=np.array(equations.rest, float), method="highs-ds")
    return _whole(equations, solution)


def _whole(equations: Equations, solution: Any) -> IntArray | None:
    """Return the table that was found, as whole numbers that fit exactly; None where there is none."""
    if solution.x is None or not np.isfinite(solution.x).all():
        return None
    # The vertices of such a polyhedron are whole numbers where the equations are those of a table with margins; a
    # solution is only believed if, rounded, it keeps every equation exactly.
    table = np.rint(solution.x[: equations.n_cells]).astype(np.int64)
    return table if equations.fits(table) else None
