"""Areas: positions inside of sensitive areas are taken out of tracks, or moved to one position of the area."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.model import Points, Step, parameter
from wayveil.model.data.ragged import BoolArray, IntArray, trajectory_of_row
from wayveil.model.places.zone_polygons import ZonePolygons
from wayveil.steps.points.split import make_parts
from wayveil.steps.zones.polygon_search import find_zones, zone_centres

__all__ = ["Areas"]


@dataclass(frozen=True, kw_only=True)
class Areas(Step):
    """Take positions inside of declared areas out, and cut tracks there; or move them all to one position of the area.

    A clinic, a place of worship or a block of flats may be told by a single position, however well the track around it
    is hidden among others.

    Parameters
    ----------
    do : {"drop", "move"}
        Take positions inside of an area out, and cut the track there, so that no later step draws a line through the
        area; or move them to a position of the area that is the same for everybody.
    id : str
        The column of the file of polygons that names an area; "auto" guesses it.

    Notes
    -----
    Areas are polygons of a file (``--zones``); a position on the border is inside.  Pieces keep the owner and the
    attributes: pieces of one person count as one.  O(log areas) for a position.

    Guarantee
    ---------
    With ``do="drop"`` no position that this step gives lies inside of an area.  What it does not hide: that a track
    ends before an area and goes on behind it, which tells that somebody was inside, and for how long; with ``"move"``
    it is said outright.  A method that moves points may move those of others into an area.

    Examples
    --------
    >>> import shapely
    >>> clinic = ZonePolygons(name=("clinic",), shape=(shapely.to_wkb(shapely.box(10, -5, 20, 5)),))
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 12.0, 0.0), (2, 18.0, 1.0), (3, 30.0, 0.0)]])
    >>> pieces, notes = Areas().run(data, zones=clinic)
    >>> [pieces.record(i) for i in range(len(pieces))]
    [[(0, 0.0, 0.0)], [(3, 30.0, 0.0)]]
    >>> notes
    ('2 of 4 points of 1 trajectory lie in 1 of 1 areas and were left out; 1 trajectory became 2.',)
    >>> moved, _ = Areas(do="move").run(data, zones=clinic)
    >>> moved.record(0)
    [(0, 0.0, 0.0), (1, 15.0, 0.0), (2, 15.0, 0.0), (3, 30.0, 0.0)]
    """

    do: str = parameter(
        kind="choice", choices=("drop", "move"), default="drop", help="leave positions inside out, or move them to one"
    )
    id: str = parameter(kind="text", default="auto", help="column of the polygons that names an area; auto: guessed")

    name: ClassVar[str] = "areas"
    summary: ClassVar[str] = "take positions in sensitive areas out, or move them to one position of the area"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Points]] = Points

    @property
    def needs_zones(self) -> bool:
        """Whether areas are polygons of a file: always."""
        return True

    def run(self, data: Points, zones: ZonePolygons) -> tuple[Points, tuple[str, ...]]:
        """Return the points outside, or with those inside moved, and notes that count."""
        pieces, notes, _ = self.run_with_origin(data, zones=zones)
        return pieces, notes

    def run_with_origin(self, data: Points, zones: ZonePolygons) -> tuple[Points, tuple[str, ...], IntArray]:
        """Return the same, and for every piece the trajectory that it comes from."""
        area = find_zones(zones, data.x, data.y, data.frame)
        inside = area >= 0
        if self.do == "move":
            x = data.x.copy()
            y = data.y.copy()
            x[inside], y[inside] = zone_centres(zones, area[inside], data.frame)
            moved = replace(data, x=x, y=y)
            return moved, self._notes(data, zones, area, len(data)), np.arange(len(data))
        pieces, source = _cut(data, inside)
        return pieces, self._notes(data, zones, area, len(pieces)), source

    def _notes(self, data: Points, zones: ZonePolygons, area: IntArray, pieces: int) -> tuple[str, ...]:
        inside = area >= 0
        trajectory = trajectory_of_row(data.offsets)
        touched = len(np.unique(trajectory[inside]))
        many = "1 trajectory" if touched == 1 else f"{touched:,} trajectories"
        where = f"{int(inside.sum()):,} of {data.n_rows:,} points of {many} lie in"
        where = f"{where} {len(np.unique(area[inside])):,} of {len(zones):,} areas"
        if self.do == "move":
            return (*zones.notes, f"{where} and were moved to one position of their area.")
        before = len(data)
        whole = "1 trajectory" if before == 1 else f"{before:,} trajectories"
        return (*zones.notes, f"{where} and were left out; {whole} became {pieces:,}.")


def _cut(data: Points, inside: BoolArray) -> tuple[Points, IntArray]:
    """Return the stretches outside as trajectories of their own, and where each is from.

    A trajectory that lies inside as a whole is gone; one without points stays as it is.
    """
    trajectory = trajectory_of_row(data.offsets)
    row = np.flatnonzero(~inside)
    begins = np.ones(len(row), np.bool_)
    # A stretch ends where rows were taken out, and where the trajectory ends.
    begins[1:] = (np.diff(row) > 1) | (np.diff(trajectory[row]) > 0)
    first = np.flatnonzero(begins)
    # Trajectories without rows stay as they are.
    empty = np.flatnonzero(np.diff(data.offsets) == 0)
    source = np.append(trajectory[row[first]], empty)
    lengths = np.append(np.diff(np.append(first, len(row))), np.zeros(len(empty), np.int64))
    # Pieces are in the order of trajectories, and those of one in the order of time; rows need not move for that.
    order = np.argsort(source, kind="stable")
    pieces = make_parts(data, source[order], lengths[order], data.t[row], data.x[row], data.y[row])
    return replace(pieces, known=None if data.known is None else data.known[row]), source[order]
