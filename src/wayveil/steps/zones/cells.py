"""Square cells, and rectangles of them: which hold a place, what they are called, and where they are."""

from __future__ import annotations

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Frame
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["OPEN_HIGH", "OPEN_LOW", "cell_numbers", "close_boxes", "cut_boxes", "merge_sparse_cells", "name_boxes"]

OPEN_LOW = int(np.iinfo(np.int64).min)
OPEN_HIGH = int(np.iinfo(np.int64).max)
"""The sides of a box at which nothing was cut."""

_LARGEST_CELL_NUMBER = 2.0**53  # beyond it neighbouring numbers are one float
_SPREAD = (0.1, 0.9)  # the quantiles between which the spread of people along an axis is measured


def cell_numbers(x: FloatArray, y: FloatArray, cell: float, *, step: str = "zones") -> IntArray:
    """Return (column, line) of the cell of each position; cells lie at multiples of their side."""
    at = np.stack([np.floor(x / cell), np.floor(y / cell)], axis=1)
    if (np.abs(at) > _LARGEST_CELL_NUMBER).any():
        raise InputError(
            f"{step}: cells of {cell:g} m are too small for coordinates as large as these; choose a larger one."
        )
    return at.astype(np.int64)


def cut_boxes(cells: IntArray, place: IntArray, owner: IntArray, people: int) -> tuple[IntArray, IntArray]:
    """Return boxes of cells, (lowest..., highest...) on each axis, and the one of each place.

    `cells` has a row of two numbers (column, line) or three (and a part of time) per place, which is then a place in
    space and time; `place` and `owner` say which of them who visited.  A side at which nothing was cut is open:
    `OPEN_LOW` or `OPEN_HIGH`.  Where the last place lies is nobody's business.

    The plane is cut in two again and again, as a k-d tree does, while both parts keep enough people.  A person with
    visits on both sides counts on both.  At a border b, the people below are those whose smallest number is below b,
    those above the ones whose largest is not; so one sort of each gives the counts at all borders.  Of all borders of
    an axis the one with most people in the smaller part is taken; ties go to the border nearest to the median.  The
    axis along which visits are spread most is tried first; of three, which have no unit in common, the one along which
    most of the spread of all visits is left.  Spread and median do not follow one position far away.
    """
    axes = cells.shape[1]
    if not len(cells):
        return np.zeros((0, 2 * axes), np.int64), np.zeros(0, np.int64)
    pairs = np.unique(np.stack([place, owner], axis=1), axis=0)
    boxes: list[list[int]] = []
    zone = np.zeros(len(cells), np.int64)
    whole = np.maximum(_spread(cells[pairs[:, 0]]), 1) if axes == 3 else np.ones(2)
    stack = [([OPEN_LOW] * axes + [OPEN_HIGH] * axes, pairs)]
    while stack:
        box, inside = stack.pop()
        for axis in np.argsort(-_spread(cells[inside[:, 0]]) / whole, kind="stable").tolist():
            border = _best_border(cells[inside[:, 0], axis], inside[:, 1], people)
            if border is not None:
                below = cells[inside[:, 0], axis] < border
                lower = list(box)
                upper = list(box)
                lower[axis + axes] = border
                upper[axis] = border
                stack += [(upper, inside[~below]), (lower, inside[below])]
                break
        else:
            zone[inside[:, 0]] = len(boxes)
            boxes.append(box)
    return np.array(boxes, np.int64), zone


def close_boxes(boxes: IntArray, cells: IntArray, zone: IntArray) -> IntArray:
    """Return boxes whose open sides end with their last place; for measures that nobody else sees."""
    axes = cells.shape[1]
    closed = boxes.copy()
    low = np.full((len(boxes), axes), OPEN_HIGH)
    high = np.full((len(boxes), axes), OPEN_LOW)
    np.minimum.at(low, zone, cells)
    np.maximum.at(high, zone, cells + 1)
    closed[:, :axes] = np.where(boxes[:, :axes] == OPEN_LOW, low, boxes[:, :axes])
    closed[:, axes:] = np.where(boxes[:, axes:] == OPEN_HIGH, high, boxes[:, axes:])
    return closed


def _spread(numbers: IntArray) -> FloatArray:
    """Return how far most visits lie apart on each axis."""
    low, high = np.quantile(numbers, _SPREAD, axis=0)
    return np.asarray(high - low, np.float64)


def _best_border(at: IntArray, owner: IntArray, people: int) -> int | None:
    """Return the border that leaves most people in the smaller part, None if none leaves enough in both."""
    order = np.lexsort((at, owner))
    at = at[order]
    owner = owner[order]
    first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
    last = np.append(first[1:], len(at)) - 1
    lowest = np.sort(at[first])
    highest = np.sort(at[last])
    borders = np.unique(at)[1:]
    left = np.searchsorted(lowest, borders, side="left")
    right = len(highest) - np.searchsorted(highest, borders, side="left")
    smaller = np.minimum(left, right)
    if not len(borders) or smaller.max() < people:
        return None
    best = np.flatnonzero(smaller == smaller.max())
    middle = float(np.median(at)) + 0.5
    return int(borders[best[np.argmin(np.abs(borders[best] - middle))]])


def merge_sparse_cells(levels: IntArray, place: IntArray, owner: IntArray, people: int) -> IntArray:
    """Return at which level each place is published: that of the cell of a tree in which enough people are.

    ``levels[i, j]`` is the code of the cell of place i at level j, from the finest (0) to the coarsest; codes of
    different levels differ.  A cell is split into the cells below it if all of those that anybody visited have enough
    people, beginning with the coarsest; so the cells that are left do not overlap.

    Examples
    --------
    >>> levels = np.array([[0, 10, 20], [1, 10, 20], [2, 11, 20]])
    >>> merge_sparse_cells(levels, np.array([0, 0, 1, 2, 2]), np.array([0, 1, 0, 1, 2]), 2).tolist()
    [1, 1, 0]
    """
    n_levels = levels.shape[1]
    level = np.full(len(levels), n_levels - 1)
    for finer in range(n_levels - 2, -1, -1):
        pairs = np.unique(np.stack([levels[place, finer], owner], axis=1), axis=0)
        cell, count = np.unique(pairs[:, 0], return_counts=True)
        sparse = cell[count < people]
        # A cell above is split only if it was reached by splitting, and none of the cells below it is too sparse.
        too_sparse = np.isin(levels[:, finer], sparse)
        blocked = np.isin(levels[:, finer + 1], levels[too_sparse, finer + 1])
        level[(level == finer + 1) & ~blocked] = finer
    return level


def name_boxes(boxes: IntArray, frame: Frame | None, cell: float) -> tuple[str, ...]:
    """Return names that say where boxes of cells (left, lower, right, upper) are; an open side has no number.

    Examples
    --------
    >>> name_boxes(np.array([[0, -1, 2, 0], [OPEN_LOW, 0, 3, OPEN_HIGH]]), None, 100)
    ('x0..200_y-100..0', 'x..300_y0..')
    """
    is_open = (boxes == OPEN_LOW) | (boxes == OPEN_HIGH)
    sides = np.where(is_open, 0, boxes) * cell
    form = ".10g"
    words = ("x", "y")
    if frame is not None and frame.degrees:
        west, south = frame.to_file(sides[:, 0], sides[:, 1])
        east, north = frame.to_file(sides[:, 2], sides[:, 3])
        sides = np.stack([west, south, east, north], axis=1)
        form = ".5f" if cell >= 10 else ".9f"  # a metre, so that no two zones have one name
        words = ("lon", "lat")
    names = []
    for row, opened in zip(sides.tolist(), is_open.tolist(), strict=True):
        left, low, right, high = ("" if o else f"{side:{form}}" for side, o in zip(row, opened, strict=True))
        names.append(f"{words[0]}{left}..{right}_{words[1]}{low}..{high}")
    return tuple(names)
