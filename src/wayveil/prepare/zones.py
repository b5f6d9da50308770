"""Zones: places with coordinates become square cells, or rectangles in which enough people were."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Step, Visits, check_parameters, parameter
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["Zones"]

_LARGEST_CELL_NUMBER = 2.0**53  # beyond it neighbouring numbers are one float


@dataclass(frozen=True, kw_only=True)
class Zones(Step):
    """Replace places by the zone that they lie in: cells of one size, or rectangles with at least so many people each.

    A station that three people use cannot be published at k = 5; the quarter around it can.  Small zones where many
    people are and large ones where few are lose less than cells of one size.

    Parameters
    ----------
    cell : float, > 0
        Side of a cell in metres; with `people`, what the sides of a rectangle are multiples of.
    people : int, or "none"
        With a number, rectangles are cut in two as long as both parts have visits of at least so many people.

    Notes
    -----
    The name of a zone says where it is: ``x1200..1800_y-600..0`` in metres (for places in degrees
    ``lon23.70100..23.70800_lat37.98000..37.98600``, rounded); a zone holds its lower borders and not its upper ones.
    Every visit stays, at its time.  Cells lie at multiples of `cell` in the frame of the places.

    Guarantee
    ---------
    None: zones hide nobody by themselves.  With `people`, each zone has visits of at least that many people, over all
    times, if there are that many at all; and where the borders lie tells roughly where people are, of all of the input.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("c", 2)], [("a", 1)], [("b", 1)], [("b", 1), ("c", 4)]])
    >>> data = replace(data, place_x=np.array([10.0, 120.0, 940.0]), place_y=np.zeros(3))
    >>> zones, notes = Zones(cell=100, people=2).run(data)
    >>> zones.record(0)
    [('x0..100_y0..100', 1), ('x900..1000_y0..100', 2)]
    >>> notes[0]
    '3 places became 3 zones; each has visits of at least 2 people.'
    """

    cell: float = parameter(kind="number", low=0, help="side of a cell in metres, more than 0")
    people: int | str = parameter(
        kind="int", low=1, choices=("none",), default="none", help="fewest people of a zone; none: cells of one size"
    )

    name: ClassVar[str] = "zones"
    summary: ClassVar[str] = "turn places with coordinates into cells, or into zones with enough people each"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.cell == 0:
            raise ParameterError("zones: cell must be greater than 0, got 0. Cells without a size hold no places.")

    def run(self, data: Visits) -> tuple[Visits, tuple[str, ...]]:
        """Return the visits to zones, and notes that count them."""
        if data.place_x is None or data.place_y is None:
            raise InputError(
                "zones: it is not known where the places are; give a table of places with coordinates (--places), or "
                "make visits of points with the step grid."
            )
        used = np.unique(data.location)
        at = np.stack([np.floor(data.place_x[used] / self.cell), np.floor(data.place_y[used] / self.cell)], axis=1)
        if (np.abs(at) > _LARGEST_CELL_NUMBER).any():
            raise InputError(
                f"zones: cells of {self.cell:g} m are too small for coordinates as large as these; choose a larger one."
            )
        cells = at.astype(np.int64)
        place = np.searchsorted(used, data.location)
        owner = data.owner[trajectory_of_row(data.offsets)]
        boxes: IntArray
        zone: IntArray
        if self.people == "none":
            boxes, zone = np.unique(np.concatenate([cells, cells + 1], axis=1), axis=0, return_inverse=True)
            zone = zone.reshape(-1)
        else:
            boxes, zone = _cut_boxes(cells, place, owner, int(self.people))
        names = _names(boxes, self.cell, data.place_frame)
        centre = (boxes[:, :2] + boxes[:, 2:]) * (self.cell / 2)
        zones = replace(
            data,
            location=zone[place],
            locations=names,
            place_x=centre[:, 0],
            place_y=centre[:, 1],
        )
        return zones, self._notes(len(used), boxes, zone[place], owner)

    def _notes(self, places: int, boxes: IntArray, zone: IntArray, owner: IntArray) -> tuple[str, ...]:
        if not len(boxes):
            return ("There are no visits, so there are no zones.",)
        pairs = np.unique(np.stack([zone, owner], axis=1), axis=0)
        fewest = int(np.bincount(pairs[:, 0]).min())
        side = np.median((boxes[:, 2:] - boxes[:, :2]) * self.cell, axis=0)
        many = "1 place" if places == 1 else f"{places:,} places"
        zones = "1 zone" if len(boxes) == 1 else f"{len(boxes):,} zones"
        has = f"each has visits of at least {fewest:,} people" if fewest > 1 else "some have visits of one person only"
        notes = [f"{many} became {zones}; {has}."]
        if self.people != "none":
            notes.append(f"The median zone is {side[0]:,.0f} m wide and {side[1]:,.0f} m high.")
            if fewest < int(self.people):
                notes.append(f"There are only {fewest:,} people in all, fewer than the {self.people:,} asked for.")
        return tuple(notes)


def _cut_boxes(cells: IntArray, place: IntArray, owner: IntArray, people: int) -> tuple[IntArray, IntArray]:
    """Return rectangles of cells as (left, lower, right, upper), and the one of each place.

    A rectangle around all places is cut in two again and again, as a k-d tree does, while both parts keep enough
    people. A person with visits on both sides counts on both.  At a border b, the people on the left are those whose
    smallest cell number is below b, those on the right the ones whose largest is not; so one sort of each gives the
    counts at all borders.  Of all borders of the longer side the one with most people in the smaller part is taken, and
    the other side is tried if the longer one has no border; ties go to the border nearest to the middle.  A position
    far away from all others is no reason not to cut the rest: the outer rectangle reaches as far as it, and is cut
    where people are.
    """
    if not len(cells):
        return np.zeros((0, 4), np.int64), np.zeros(0, np.int64)
    pairs = np.unique(np.stack([place, owner], axis=1), axis=0)
    boxes: list[list[int]] = []
    zone = np.zeros(len(cells), np.int64)
    start = [*cells.min(axis=0).tolist(), *(cells.max(axis=0) + 1).tolist()]
    stack = [(start, pairs)]
    while stack:
        box, inside = stack.pop()
        axes = (0, 1) if box[2] - box[0] >= box[3] - box[1] else (1, 0)
        for axis in axes:
            border = _best_border(cells[inside[:, 0], axis], inside[:, 1], people)
            if border is not None:
                below = cells[inside[:, 0], axis] < border
                left = list(box)
                right = list(box)
                left[axis + 2] = border
                right[axis] = border
                stack += [(right, inside[~below]), (left, inside[below])]
                break
        else:
            zone[inside[:, 0]] = len(boxes)
            boxes.append(box)
    return np.array(boxes, np.int64), zone


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
    middle = (int(at.min()) + int(at.max()) + 1) / 2
    return int(borders[best[np.argmin(np.abs(borders[best] - middle))]])


def _names(boxes: IntArray, cell: float, frame: Frame | None) -> tuple[str, ...]:
    sides = boxes * cell
    if frame is None or not frame.degrees:
        return tuple(
            f"x{left:.10g}..{right:.10g}_y{low:.10g}..{high:.10g}" for left, low, right, high in sides.tolist()
        )
    west, south = frame.to_file(sides[:, 0], sides[:, 1])
    east, north = frame.to_file(sides[:, 2], sides[:, 3])
    rows = zip(west.tolist(), east.tolist(), south.tolist(), north.tolist(), strict=True)
    digits = 5 if cell >= 10 else 9  # a metre, so that no two zones have one name
    return tuple(f"lon{w:.{digits}f}..{e:.{digits}f}_lat{s:.{digits}f}..{n:.{digits}f}" for w, e, s, n in rows)
