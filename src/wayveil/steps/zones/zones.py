"""Zones: places and positions become polygons, cells, or rectangles in which enough people were."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points, Step, Trips, Visits, check_parameters, duration_units, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.model.data.trips import DESTINATION, TripEnds
from wayveil.model.places.zone_polygons import ZonePolygons
from wayveil.steps.times.visit_buckets import place_in_buckets
from wayveil.steps.zones.cells import (
    OPEN_HIGH,
    OPEN_LOW,
    cell_numbers,
    close_boxes,
    cut_boxes,
    merge_sparse_cells,
    name_boxes,
)
from wayveil.steps.zones.h3_cells import h3_centres, h3_levels, h3_names
from wayveil.steps.zones.polygon_search import find_zones, zone_centres

__all__ = ["Zones"]

_FINEST_H3 = 15


class _Situation(NamedTuple):
    """Where visits are: positions in metres of `frame`, and of each row its position, its time and its person."""

    x: FloatArray
    y: FloatArray
    frame: Frame | None
    item: IntArray
    t: IntArray
    owner: IntArray


class _Zoning(NamedTuple):
    """The zone of each position (-1: none), with the names and middles of zones.

    Where zones are cut in time as well, `zone` is that of each row, and `begin` says when the zone of each row begins.
    `sides` has the width and the height of zones in metres, where they are rectangles.
    """

    zone: IntArray
    names: tuple[str, ...]
    x: FloatArray
    y: FloatArray
    begin: IntArray | None = None
    sides: FloatArray | None = None


@dataclass(frozen=True, kw_only=True)
class Zones(Step):
    """Replace places and positions by the zone that they lie in: polygons of a file, or cells, perhaps with a crowd.

    A station that three people use cannot be published at k = 5; the quarter around it can.  Small zones where many
    people are and large ones where few are lose less than cells of one size.

    Parameters
    ----------
    cell : float, > 0, or "none"
        Side of a square cell in metres; with `people`, what the sides of a rectangle are multiples of.
    h3 : int, 0 to 15, or "none"
        Resolution of H3 cells (9: about 350 m across).  Without `cell` and `h3`, zones are the polygons of ``--zones``.
    people : int, or "none"
        With a number, zones have visits of at least so many people: rectangles are cut in two as long as both parts
        do; with `levels`, cells are.
    levels : int, >= 1
        With `people`: a cell is split into the four (H3: seven) below it as long as all that somebody visited have so
        many people, over so many sizes; `cell` or `h3` is the finest.
    time : str, or "none"
        With `people` and `cell`: rectangles are cut in time as well, at multiples of this duration.
    id : str
        The column of the polygons that names a zone; "auto" guesses it, and a note says which it is.
    outside : {"drop", "refuse"}
        What happens to visits outside of every polygon.

    Notes
    -----
    The name of a rectangle says where it is: ``x1200..1800_y-600..0`` in metres (for places in degrees
    ``lon23.70100..23.70800_lat37.98000..37.98600``, rounded); it holds its lower borders and not its upper ones.  Cells
    lie at multiples of `cell` in the frame of the places.  With `people`, rectangles at the rim are open to the
    outside, ``x..1800_y600..``, because how far the last place is away is somebody's position.  H3 cells have their
    usual names, polygons their ids.  With `time`, a zone is also one of time: the name ends in how long it is, as in
    ``_t4h``, and the time of a visit is that at which it begins.  The first and the last are open, ``_t..``; the first
    begins one `time` before its end.  Points become visits, one per point; `bucket` or `fold` makes fewer of them.

    A position on the border of two polygons belongs to the one whose id comes first.

    Guarantee
    ---------
    None: zones hide nobody by themselves.  With `people`, each zone has visits of at least that many people, over all
    times (with `time`, in its own), if there are that many at all; and where the borders lie tells roughly where people
    are, of all of the input.

    Examples
    --------
    >>> from dataclasses import replace
    >>> data = Visits.from_records([[("a", 1), ("c", 2)], [("a", 1)], [("b", 1)], [("b", 1), ("c", 4)]])
    >>> data = replace(data, place_x=np.array([10.0, 120.0, 940.0]), place_y=np.zeros(3))
    >>> zones, notes = Zones(cell=100, people=2).run(data)
    >>> zones.record(0)
    [('x..100_y..', 1), ('x900.._y..', 2)]
    >>> notes[0]
    '3 places became 3 zones; each has visits of at least 2 people.'
    """

    cell: float | str = parameter(
        kind="number", low=0, choices=("none",), default="none", help="side of a cell in metres, more than 0"
    )
    people: int | str = parameter(
        kind="int", low=1, choices=("none",), default="none", help="fewest people of a zone; none: cells of one size"
    )
    h3: int | str = parameter(
        kind="int", low=0, high=_FINEST_H3, choices=("none",), default="none", help="resolution of H3 cells"
    )
    levels: int = parameter(kind="int", low=1, high=12, default=1, help="sizes of cells, with people; 1: one size")
    time: str = parameter(
        kind="duration", choices=("none",), default="none", help="with people: zones in time too, of multiples of this"
    )
    id: str = parameter(kind="text", default="auto", help="column of the polygons that names a zone; auto: guessed")
    outside: str = parameter(
        kind="choice", choices=("drop", "refuse"), default="drop", help="visits outside of every polygon"
    )

    name: ClassVar[str] = "zones"
    summary: ClassVar[str] = "turn places and points into polygons, cells, or zones with enough people each"
    accepts: ClassVar[type[Visits]] = Visits
    gives: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Any], ...]] = (Trips, Points)
    also_gives: ClassVar[dict[str, type[Any]]] = {"points": Visits}

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.cell == 0:
            raise ParameterError("zones: cell must be greater than 0, got 0. Cells without a size hold no places.")
        if self.cell != "none" and self.h3 != "none":
            raise ParameterError("zones: give cell or h3, not both: zones are squares or cells of H3.")
        if self.people != "none" and self.needs_zones:
            raise ParameterError("zones: people goes with cell or h3; polygons of a file stay as they are.")
        if self.people == "none" and (self.levels > 1 or self.time != "none"):
            raise ParameterError("zones: levels and time go with people: they make zones in which so many people were.")
        if self.time != "none" and (self.cell == "none" or self.levels > 1):
            raise ParameterError("zones: time goes with cell and without levels: rectangles are cut in time as well.")
        if self.h3 != "none" and self.levels > int(self.h3) + 1:
            raise ParameterError(
                f"zones: H3 has {int(self.h3) + 1} levels from {self.h3} down to 0, got {self.levels}."
            )
        if self.h3 != "none" and self.people != "none" and self.levels == 1:
            raise ParameterError("zones: h3 with people needs levels, the sizes of cells to choose from, such as 4.")

    @property
    def needs_zones(self) -> bool:
        """Whether zones are polygons of a file."""
        return self.cell == "none" and self.h3 == "none"

    @property
    def looks_at_everybody(self) -> bool:
        """Whether zones depend on where all people are."""
        return self.people != "none"

    def run(self, data: Visits | Trips | Points, zones: ZonePolygons | None = None) -> tuple[Visits, tuple[str, ...]]:
        """Return the visits to zones, and notes that count them; trips stay trips."""
        if self.time != "none" and isinstance(data, Trips):
            raise InputError("zones: time goes with visits and points; a trip has two times, fold or bucket them.")
        situation = self._situation(data)
        if not len(situation.item):
            return _place_rows(data, _NOTHING, _NOTHING.zone), ("There are no visits, so there are no zones.",)
        if zones is not None and self.needs_zones:
            zones_found = _in_polygons(zones, situation)
        elif self.needs_zones:
            raise InputError("zones: it is not known which zones; give cell, h3, or a file of polygons with --zones.")
        elif self.h3 != "none":
            zones_found = self._in_h3(situation)
        elif self.time != "none":
            zones_found = self._in_space_and_time(data, situation)
        else:
            zones_found = self._in_cells(situation)
        # Places are put into zones once each, and rows follow their place; with time it is the row that has a zone, as
        # the same place is in different ones at different times.
        zone = zones_found.zone[situation.item] if zones_found.begin is None else zones_found.zone
        lost = int(np.count_nonzero(zone < 0))
        if lost and self.outside == "refuse":
            raise InputError(
                f"zones: {lost:,} of {len(zone):,} {data.row_word} lie outside of every zone; give zones that hold "
                "them, or leave them out with outside=drop."
            )
        placed = _place_rows(data, zones_found, zone)
        return placed, (
            *(() if zones is None else zones.notes),
            *self._notes(data, situation, zones_found, zone, placed),
        )

    def _situation(self, data: Visits | Trips | Points) -> _Situation:
        owner = data.owner[trajectory_of_row(data.offsets)]
        if isinstance(data, Points):
            return _Situation(data.x, data.y, data.frame, np.arange(data.n_rows), data.t, owner)
        if data.place_x is None or data.place_y is None:
            raise InputError(
                "zones: it is not known where the places are; give a table of places with coordinates (--places), or "
                "make visits of points with the step grid."
            )
        # Only places that somebody visited decide: a table of places may hold the whole country.
        used, item = np.unique(data.location, return_inverse=True)
        return _Situation(data.place_x[used], data.place_y[used], data.place_frame, item, data.t, owner)

    def _in_cells(self, at: _Situation) -> _Zoning:
        side = float(self.cell)
        cells = cell_numbers(at.x, at.y, side)
        boxes: IntArray
        zone: IntArray
        if self.people == "none":
            boxes, zone = np.unique(np.concatenate([cells, cells + 1], axis=1), axis=0, return_inverse=True)
        elif self.levels == 1:
            boxes, zone = cut_boxes(cells, at.item, at.owner, int(self.people))
        else:
            boxes, zone = self._in_tree_of_squares(cells, at)
        zone = zone.reshape(-1)
        return _rectangles(boxes, close_boxes(boxes, cells, zone) * side, zone, at.frame, side)

    def _in_tree_of_squares(self, cells: IntArray, at: _Situation) -> tuple[IntArray, IntArray]:
        # A square of level n is four of level n - 1, so shifting the number of a cell to the right gives the square
        # around it. Numbers of all levels are made distinct, so that `merge_sparse_cells` can treat squares and H3
        # cells alike.
        levels = np.empty((len(cells), self.levels), np.int64)
        first = 0
        for level in range(self.levels):
            own, code = np.unique(cells >> level, axis=0, return_inverse=True)
            levels[:, level] = first + code.reshape(-1)
            first += len(own)
        chosen = merge_sparse_cells(levels, at.item, at.owner, int(self.people))[:, None]
        # Shifting there and back gives the corner of the square of the chosen level.
        low = cells >> chosen << chosen
        boxes, zone = np.unique(np.concatenate([low, low + (1 << chosen)], axis=1), axis=0, return_inverse=True)
        return boxes, zone

    def _in_h3(self, at: _Situation) -> _Zoning:
        levels = h3_levels(at.x, at.y, at.frame, int(self.h3), self.levels)
        level: IntArray = np.zeros(len(levels), np.int64)
        if self.people != "none":
            level = merge_sparse_cells(levels, at.item, at.owner, int(self.people))
        cells, zone = np.unique(levels[np.arange(len(levels)), level], return_inverse=True)
        x, y = h3_centres(cells, at.frame or Frame())
        return _Zoning(zone.reshape(-1), h3_names(cells), x, y)

    def _in_space_and_time(self, data: Visits | Trips | Points, at: _Situation) -> _Zoning:
        side = float(self.cell)
        width = duration_units(self.name, "time", self.time, data.time_format)
        cells = cell_numbers(at.x, at.y, side)[at.item]
        # Time is a third axis of the k-d cuts, in units of `time`: a zone is a rectangle for some hours.
        spots, spot = np.unique(np.column_stack([cells, at.t // width]), axis=0, return_inverse=True)
        spot = spot.reshape(-1)
        boxes, zone = cut_boxes(spots, spot, at.owner, int(self.people))
        closed = close_boxes(boxes, spots, zone)
        plane = [0, 1, 3, 4]
        zones = _rectangles(boxes[:, plane], closed[:, plane] * side, zone, at.frame, side)
        starts = boxes[:, 2]
        ends = boxes[:, 5]
        cuts = starts[starts != OPEN_LOW]
        # Boxes at the rim are open, as their true border would tell how far the last person was away. Something has to
        # be published as their beginning: one unit before the first cut, wherever anybody was.
        begin = np.where(starts == OPEN_LOW, int(cuts.min()) - 1 if len(cuts) else 0, starts) * width
        opened = (starts == OPEN_LOW) | (ends == OPEN_HIGH)
        lasting = [
            ".." if o else self._lasting(b - a)
            for a, b, o in zip(starts.tolist(), ends.tolist(), opened.tolist(), strict=True)
        ]
        texts = np.array([f"{name}_t{long}" for name, long in zip(zones.names, lasting, strict=True)])
        # Zones of the same rectangle and length in different hours share a name; when they are is in the time of the
        # visit.
        names, first, code = np.unique(texts, return_index=True, return_inverse=True)
        of_row = zone[spot]
        return _Zoning(
            zone=code.reshape(-1)[of_row],
            names=tuple(names.tolist()),
            x=zones.x[first],
            y=zones.y[first],
            begin=begin[of_row],
            sides=None if zones.sides is None else zones.sides[first],
        )

    def _lasting(self, parts: int) -> str:
        """Return how long so many parts of time are, in the unit in which they were asked for."""
        number = "".join(sign for sign in self.time if sign.isdigit())
        return f"{int(number) * parts}{self.time[len(number) :]}"

    def _notes(self, data: Any, at: _Situation, zoning: _Zoning, zone: IntArray, placed: Visits) -> tuple[str, ...]:
        inside = zone >= 0
        lost = int(np.count_nonzero(~inside))
        notes = []
        if lost:
            verb, was = ("lies", "was") if lost == 1 else ("lie", "were")
            notes.append(f"{lost:,} of {len(zone):,} {data.row_word} {verb} outside of every zone and {was} left out.")
        if lost == len(zone):
            return (*notes, "No visit is left.")
        pairs = np.unique(np.stack([zone[inside], at.owner[inside]], axis=1), axis=0)
        count = np.unique(pairs[:, 0], return_counts=True)[1]
        fewest = int(count.min())
        items = len(np.unique(at.item[inside]))
        what = "position" if isinstance(data, Points) else "place"
        many = f"1 {what}" if items == 1 else f"{items:,} {what}s"
        zones = "1 zone" if len(count) == 1 else f"{len(count):,} zones"
        has = f"each has visits of at least {fewest:,} people" if fewest > 1 else "some have visits of one person only"
        notes.append(f"{many} became {zones}; {has}.")
        if self.people == "none":
            return tuple(notes)
        if zoning.sides is not None:
            side = np.median(zoning.sides, axis=0)
            notes.append(f"The median zone is {side[0]:,.0f} m wide and {side[1]:,.0f} m high.")
        everybody = len(np.unique(at.owner))
        if fewest < int(self.people):
            few = int(np.count_nonzero(count < int(self.people)))
            if self.levels > 1 and everybody >= int(self.people):
                notes.append(
                    f"{few:,} of the coarsest cells {'has' if few == 1 else 'have'} visits of fewer than "
                    f"{self.people:,} people; more levels merge them."
                )
            else:
                notes.append(f"There are only {fewest:,} people in all, fewer than the {self.people:,} asked for.")
        if self.time != "none" and placed.n_rows < data.n_rows:
            notes.append(
                f"{data.n_rows - placed.n_rows:,} of {data.n_rows:,} visits were left out: their trajectory has an "
                "earlier one to the same zone."
            )
        return tuple(notes)


_NOTHING = _Zoning(np.zeros(0, np.int64), (), np.zeros(0), np.zeros(0))


def _rectangles(boxes: IntArray, sides: FloatArray, zone: IntArray, frame: Frame | None, cell: float) -> _Zoning:
    """Return boxes of cells as zones; `sides` are their sides in metres, where they end somewhere."""
    names = name_boxes(boxes, frame, cell)
    middle = (sides[:, :2] + sides[:, 2:]) / 2
    return _Zoning(zone, names, middle[:, 0], middle[:, 1], sides=sides[:, 2:] - sides[:, :2])


def _in_polygons(zones: ZonePolygons, at: _Situation) -> _Zoning:
    holder = find_zones(zones, at.x, at.y, at.frame)
    used = np.unique(holder[holder >= 0])
    x, y = zone_centres(zones, used, at.frame)
    zone = np.where(holder >= 0, np.searchsorted(used, holder), -1)
    return _Zoning(zone, tuple(zones.name[i] for i in used.tolist()), x, y)


def _place_rows(data: Visits | Trips | Points, zoning: _Zoning, zone: IntArray) -> Visits:
    """Return the rows that are inside of a zone, at their zones; `zone` has one per row, -1 for none."""
    if isinstance(data, Trips):
        return _place_trips(data, zoning, zone)
    rows = np.flatnonzero(zone >= 0)
    trajectory = trajectory_of_row(data.offsets)[rows]
    t = data.t[rows]
    zone = zone[rows]
    if zoning.begin is not None:
        begin = zoning.begin[rows]
        # With zones in time a visit has the time at which its zone begins, so the rows of a trajectory are put in that
        # order, and several visits to one zone become one.
        order = np.lexsort((np.arange(len(rows)), begin, trajectory))
        trajectory = trajectory[order]
        zone = zone[order]
        stay, t = place_in_buckets(
            trajectory, zone, begin[order], width=_gap(begin), time_format=data.time_format, keep="all"
        )
        trajectory = trajectory[stay]
        zone = zone[stay]
    return Visits(
        offsets=offsets_of(np.bincount(trajectory, minlength=len(data))),
        location=zone,
        t=t,
        locations=zoning.names,
        owner=data.owner,
        attributes=data.attributes,
        time_format=data.time_format,
        owners=data.owners,
        place_x=zoning.x,
        place_y=zoning.y,
        place_frame=data.frame if isinstance(data, Points) else data.place_frame,
    )


def _place_trips(data: Trips, zoning: _Zoning, zone: IntArray) -> Trips:
    arrives = np.array([name.startswith(DESTINATION) for name in data.locations], np.bool_)[data.location]
    trip = trajectory_of_row(data.offsets)
    columns: dict[str, IntArray] = {}
    for place, t, role in (("origin", "t_start", ~arrives), ("destination", "t_end", arrives)):
        rows = np.flatnonzero(role & (zone >= 0))
        columns[place] = np.full(len(data), -1, np.int64)
        columns[place][trip[rows]] = zone[rows]
        columns[t] = np.zeros(len(data), np.int64)
        columns[t][trip[rows]] = data.t[rows]
    return Trips.of_ends(
        TripEnds(places=zoning.names, **columns),
        owner=data.owner,
        attributes=data.attributes,
        time_format=data.time_format,
        owners=data.owners,
        positions=(zoning.x, zoning.y),
        frame=data.place_frame,
    )


def _gap(begin: IntArray) -> int:
    """Return the smallest time between two beginnings: so many visits fit before the next one."""
    different = np.unique(begin)
    return int(np.diff(different).min()) if len(different) > 1 else np.iinfo(np.int64).max
