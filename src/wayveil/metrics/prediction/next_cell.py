"""How well the published data tell into which part of the plane somebody goes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.hours.grid_cells import cell_parameter, cell_side, lines_of
from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import bounding_box, centres, check_comparable, finite
from wayveil.metrics.prediction.predictions import Prediction, Steps, steps_of
from wayveil.model import Points, Regions, Score
from wayveil.model.ragged import keep_rows, trajectory_of_row

__all__ = ["NextCell"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class NextCell(OnPositions):
    """How much worse the next cell of a grid is predicted by who has the published data and not the original.

    The predictor is a first-order Markov chain: from each square cell it guesses into which other one most trips went
    next, and where too few went on from there, the cells that most trips come to.  It is trained once on the original
    and once on the published data, and tested on the original trips of a fifth of the people.  The headline is the
    difference of the shares of first guesses that are right.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is 1/16 of the longer side of the bounding box of the original.

    Notes
    -----
    Boxes stand for their centres.  Rows in the same cell that follow each other are one.  The next cell is that of the
    next row elsewhere, which need not be a neighbour.  For the people of the test and ``loss_to_others`` see
    `NextPlace`.  O(n log n) time for n rows.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (1, 16.0, 0.0)]] * 10)
    >>> after = Points.from_records([[(0, 0.0, 0.0), (1, 8.0, 0.0)]] * 10)
    >>> NextCell().run(before, before).value, NextCell().run(before, after).value
    (0.0, 1.0)
    """

    cell: float | str = cell_parameter()

    name: ClassVar[str] = "next_cell"
    summary: ClassVar[str] = "prediction of the next cell of a grid, trained before and after"

    @np.errstate(over="ignore", invalid="ignore")
    def run(self, original: Points, published: Points | Regions) -> Score:
        check_comparable(self.name, original, published)
        cell = cell_side(self.cell, original)
        state, n = _cells(original, published, cell)
        before, after = _steps(original, state[: original.n_rows]), _steps(published, state[original.n_rows :])
        found = Prediction.of(before, after, n)
        return Score(
            name=self.name,
            meaning="how much more often the next cell is guessed right with the original than with what is published",
            value=found.loss,
            better="lower",
            percent=True,
            measured={"cell_m": finite(cell), **found.measured()},
            charts=found.chart("Next cells that are guessed right"),
        )


def _cells(original: Points, published: Points | Regions, cell: float) -> tuple[Array, int]:
    """Return the number of the cell of each row, those of the original first, and how many cells there are."""
    box = bounding_box(original) or (0.0, 0.0, 0.0, 0.0)
    found, n = np.zeros(original.n_rows + published.n_rows, np.int64), 1
    _, x, y = (np.concatenate(sides) for sides in zip(centres(original), centres(published), strict=True))
    for place, begin in ((x, box[0]), (y, box[2])):
        lines, where = np.unique(lines_of(place, begin, cell), return_inverse=True)
        # Made dense each time, so that numbers cannot overflow.
        cells, found = np.unique(found * len(lines) + where, return_inverse=True)
        n = len(cells)
    return found, n


def _steps(data: Points | Regions, cell: Array) -> Steps:
    """Return the steps from cell to another cell."""
    trajectory = trajectory_of_row(data.offsets)
    moved = np.ones(len(cell), np.bool_)
    moved[1:] = (cell[1:] != cell[:-1]) | (trajectory[1:] != trajectory[:-1])
    return steps_of(keep_rows(data.offsets, moved), cell[moved], data.owner)
