"""How each kind of data looks in a published file: one class per kind.

A layout says which columns a table has, how data become such columns, how these are read again, and what data are after
both: `as_published`.  Writing and reading themselves are the same for all kinds; see `wayveil.io.publish.published`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np
import polars as pl

from wayveil.errors import InputError, OutputError, UsageError
from wayveil.io.formats.features import GEOJSON_LINES, GEOJSON_WHOLE, SIDES
from wayveil.io.publish.canonical import SLACK_DEG, boxes_to_file, boxes_to_metres, points_to_file
from wayveil.io.publish.strict_rows import (
    read_numbers,
    read_text,
    read_times,
    read_times_or_none,
    refuse,
    refuse_late,
    refuse_sequence,
)
from wayveil.io.tabular.codes import by_name
from wayveil.io.tabular.table import Rows
from wayveil.io.tabular.timestamps import time_column
from wayveil.model import (
    Boxes,
    CountTables,
    Extent,
    Frame,
    Points,
    RoadNetwork,
    Routes,
    Stops,
    Taxonomy,
    TimeFormat,
    Trajectories,
    Trips,
    Visits,
    kinds,
)
from wayveil.model.data.count_tables import EVERYWHERE
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.model.data.trips import TripEnds

__all__ = ["LAYOUTS", "Beside", "Layout", "as_published", "layout_for", "layout_of", "refuse_empty"]

Kind = TypeVar("Kind", bound=Trajectories)
Word = Literal["text", "integer", "time", "place"]


@dataclass(frozen=True, kw_only=True)
class Beside:
    """What a published table needs to be read and does not hold itself."""

    time_format: TimeFormat
    frame: Frame
    taxonomy: Taxonomy | None = None


class Layout(ABC):
    """The published table of a kind of data."""

    data: ClassVar[type[Trajectories]]
    """The kind."""

    columns: ClassVar[Mapping[str, Word]]
    """The columns in order, before the attributes, and what they hold; a place is a coordinate."""

    geometry: ClassVar[tuple[str, ...] | None] = None
    """The columns that say where, if these are coordinates: such data can be written as GeoJSON."""

    degree_names: ClassVar[Mapping[str, str]] = {}
    """What these columns are called in tables if the coordinates are degrees, so that nobody takes them for metres."""

    identified: ClassVar[bool] = True
    """Whether the first column has a random id for each trajectory; without it the file is one table, in the order of
    its own columns."""

    @abstractmethod
    def where(self, data: Any, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the columns that say where; `public` rounds coordinates as published files have them."""

    @abstractmethod
    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return the fields of data from rows; `again` marks those of the same trajectory as the row before."""

    def lines(self, data: Any) -> IntArray:
        """Return the trajectory of each line of the table; a line is a row of the data where nothing else is said."""
        return trajectory_of_row(data.offsets)

    def shown_times(self, data: Any) -> IntArray | None:
        """Return all times in the table; None where it has none."""
        return np.concatenate([getattr(data, name) for name in self.times]) if self.times else None

    def raw_names(self, data: Any) -> dict[str, str]:
        """Return the columns that have another name in a table of raw data."""
        return {}

    def as_published(self, data: Any) -> Any:
        """Return data as they are after writing and reading."""
        return data

    def extent(self, column: Mapping[str, FloatArray]) -> Extent:
        """Return where degrees of the columns of `geometry` are; InputError for a kind without coordinates."""
        raise InputError(f"Published {self.data.kind} have no coordinates.")

    @property
    def times(self) -> tuple[str, ...]:
        """The columns that hold times."""
        return tuple(name for name, word in self.columns.items() if word == "time")

    def file_names(self, path: str | Path, frame: Frame) -> dict[str, str]:
        """Return the columns that have another name in a file; the features of GeoJSON have no columns for places."""
        table = Path(path).suffix.lower() not in (*GEOJSON_WHOLE, *GEOJSON_LINES)
        return dict(self.degree_names) if frame.degrees and table else {}

    def position(self, name: str) -> int:
        """Return where a column stands."""
        return list(self.columns).index(name)

    def read_times(self, rows: Rows, again: BoolArray, beside: Beside, name: str = "t") -> IntArray:
        """Return a column of times; one that does not increase inside a trajectory is refused."""
        t = read_times(rows, self.position(name), beside.time_format)
        refuse_late(rows, t, again)
        return t

    def read_names(self, rows: Rows, *names: str) -> tuple[tuple[str, ...], dict[str, IntArray]]:
        """Return the different texts of some columns, in their order, and for each column the code of every row."""
        texts = [read_text(rows, self.position(name)) for name in names]
        codes, labels = by_name(pl.concat(texts))
        return labels, dict(zip(names, np.split(codes, len(names)), strict=True))


class VisitsLayout(Layout):
    """Visits: a time and the name of a location."""

    data = Visits
    columns: ClassVar[Mapping[str, Word]] = {"traj_id": "text", "t": "time", "location": "text"}

    def where(self, data: Visits, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the names of the locations."""
        # A location without a name could not be told from a missing one when it is read.
        refuse_empty(path, "location", data.locations)
        return {"location": pl.Series(data.locations, dtype=pl.String).gather(data.location)}

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return locations in the order of their names, and times."""
        location = read_text(rows, self.position("location"))
        t = read_times(rows, self.position("t"), beside.time_format)
        refuse_late(rows, t, again)
        codes, locations = by_name(location)
        return {"location": codes, "t": t, "locations": locations}


class PointsLayout(Layout):
    """Points: a time and two coordinates."""

    data = Points
    columns: ClassVar[Mapping[str, Word]] = {"traj_id": "text", "t": "time", "x": "place", "y": "place"}
    geometry = ("x", "y")
    degree_names: ClassVar[Mapping[str, str]] = {"x": "lon", "y": "lat"}

    def where(self, data: Points, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the coordinates of the file."""
        x, y = points_to_file(data) if public else data.frame.to_file(data.x, data.y)
        return {"x": pl.Series(x, dtype=pl.Float64), "y": pl.Series(y, dtype=pl.Float64)}

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return times and metres."""
        t = read_times(rows, self.position("t"), beside.time_format)
        refuse_late(rows, t, again)
        x, y = (read_numbers(rows, self.position(name)) for name in self.geometry)
        frame = beside.frame
        # Only now, with all rows at hand, can it be said which row is no place on earth.
        if frame.degrees:
            refuse(rows, (np.abs(x) > 180) | (np.abs(y) > 90), "lon and lat are not a longitude and a latitude")
        x, y = frame.to_metres(x, y)
        return {"t": t, "x": x, "y": y, "frame": frame}

    def raw_names(self, data: Points) -> dict[str, str]:
        """Return lon and lat for degrees, so that they are read as degrees again."""
        return dict(self.degree_names) if data.frame.degrees else {}

    def as_published(self, data: Points) -> Points:
        """Return points with rounded degrees and no -0.0; what an attacker may know of them is not written."""
        x, y = data.frame.to_metres(*points_to_file(data))
        return replace(data, x=x, y=y, known=None)

    def extent(self, column: Mapping[str, FloatArray]) -> Extent:
        """Return where the points are."""
        return Extent.of(column["x"], column["y"])


class BoxesLayout(Layout):
    """Boxes: their number in the trajectory, and the sides of the boxes in time and space."""

    data = Boxes
    columns: ClassVar[Mapping[str, Word]] = {
        "traj_id": "text",
        "seq": "integer",
        "t_min": "time",
        "t_max": "time",
        "x_min": "place",
        "x_max": "place",
        "y_min": "place",
        "y_max": "place",
    }
    geometry = SIDES
    degree_names: ClassVar[Mapping[str, str]] = {
        "x_min": "lon_min",
        "x_max": "lon_max",
        "y_min": "lat_min",
        "y_max": "lat_max",
    }

    def where(self, data: Boxes, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the sides in coordinates of the file."""
        return {name: pl.Series(side, dtype=pl.Float64) for name, side in boxes_to_file(data).items()}

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return times and sides in metres."""
        refuse_sequence(rows, again)
        t = {name: read_times(rows, self.position(name), beside.time_format) for name in self.times}
        sides = {name: read_numbers(rows, self.position(name)) for name in SIDES}
        ends: dict[str, Any] = {**t, **sides}
        # A forged box that ends before it begins would hold nobody and count as precise.
        for low, high in (("t_min", "t_max"), ("x_min", "x_max"), ("y_min", "y_max")):
            refuse(rows, ends[low] > ends[high], f"{low} is larger than {high}")
        for name, values in t.items():
            back = np.zeros(len(values), np.bool_)
            back[1:] = values[1:] < values[:-1]
            refuse(rows, back & again, f"{name} decreases inside a trajectory")
        if beside.frame.degrees:
            self._refuse_far(rows, sides)
        return {**t, **boxes_to_metres(beside.frame, sides), "frame": beside.frame}

    def _refuse_far(self, rows: Rows, sides: Mapping[str, FloatArray]) -> None:
        """Refuse degrees that are none; a box across the antimeridian ends beyond it."""
        for name, side in sides.items():
            # x_max may be beyond 180 by once around, as boxes across the antimeridian begin before it.
            least, most = (-90.0, 90.0) if name[0] == "y" else (-180.0, 180.0 if name == "x_min" else 540.0)
            far = (side < least - SLACK_DEG) | (side > most + SLACK_DEG)
            refuse(rows, far, f"{self.degree_names[name]} is not a {'longitude' if name[0] == 'x' else 'latitude'}")
        wide = sides["x_max"] - sides["x_min"] > 360 + 2 * SLACK_DEG
        refuse(rows, wide, "a box goes around the earth more than once")

    def as_published(self, data: Boxes) -> Boxes:
        """Return boxes without -0.0, whose sides in degrees are rounded outwards."""
        sides: dict[str, Any] = dict(boxes_to_metres(data.frame, boxes_to_file(data)))
        return replace(data, **sides)

    def extent(self, column: Mapping[str, FloatArray]) -> Extent:
        """Return where the boxes are."""
        latitudes = np.concatenate([column["y_min"], column["y_max"]])
        return Extent.of(column["x_min"], latitudes, lon_end=column["x_max"])


class RoutesLayout(Layout):
    """Routes: their number in the trajectory, a road with its ends, and the slice of time of the trip."""

    data = Routes
    columns: ClassVar[Mapping[str, Word]] = {
        "traj_id": "text",
        "seq": "integer",
        "road": "text",
        "from_node": "text",
        "to_node": "text",
        "t_start": "time",
        "t_end": "time",
    }

    def where(self, data: Routes, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the names of roads and of their ends."""
        network = data.network
        refuse_empty(path, "road", network.roads)
        refuse_empty(path, "from_node", network.nodes)
        nodes = pl.Series(network.nodes, dtype=pl.String)
        return {
            "road": pl.Series(network.roads, dtype=pl.String).gather(data.road),
            "from_node": nodes.gather(network.from_node[data.road]),
            "to_node": nodes.gather(network.to_node[data.road]),
        }

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return roads, the network of those in the table, and slices; a road is entered when its slice begins."""
        refuse_sequence(rows, again)
        text = {name: read_text(rows, self.position(name)) for name in ("road", "from_node", "to_node")}
        road, roads = by_name(text["road"])
        ends, nodes = by_name(pl.concat([text["from_node"], text["to_node"]]))
        start = ends[: len(rows)]
        end = ends[len(rows) :]
        # The first row in which each road occurs: written from the back, so that the first one stays.
        first = np.zeros(len(roads), np.int64)
        first[road[::-1]] = np.arange(len(rows))[::-1]
        other = (start != start[first[road]]) | (end != end[first[road]])
        refuse(rows, other, "a road leads from or to another node than in an earlier row")
        network = RoadNetwork(roads=roads, from_node=start[first], to_node=end[first], nodes=nodes)
        t = {name: read_times(rows, self.position(name), beside.time_format) for name in self.times}
        refuse(rows, t["t_start"] > t["t_end"], "t_start is larger than t_end")
        for name, times in t.items():
            varies = np.zeros(len(rows), np.bool_)
            varies[1:] = times[1:] != times[:-1]
            refuse(rows, varies & again, f"{name} varies inside a trajectory")
        # One slice per trajectory: that of its first row.
        per_trajectory = {name: times[~again] for name, times in t.items()}
        return {"road": road, "t": t["t_start"], "network": network, **per_trajectory}

    def as_published(self, data: Routes) -> Routes:
        """Return routes on the network of the roads in use, without places, entered when their slice begins."""
        network = data.network
        # Only roads that occur, in the order of names; then their nodes.  The file has no more, so neither has what it
        # is compared with.
        used = np.unique(data.road).tolist()
        used.sort(key=lambda road: network.roads[road])
        ends = np.unique(np.concatenate([network.from_node[used], network.to_node[used]])).tolist() if used else []
        ends.sort(key=lambda node: network.nodes[node])
        road = np.zeros(len(network.roads), np.int64)
        road[used] = np.arange(len(used))
        node = np.zeros(len(network.nodes), np.int64)
        node[ends] = np.arange(len(ends))
        known = RoadNetwork(
            roads=tuple(network.roads[i] for i in used),
            from_node=node[network.from_node[used]] if used else np.zeros(0, np.int64),
            to_node=node[network.to_node[used]] if used else np.zeros(0, np.int64),
            nodes=tuple(network.nodes[i] for i in ends),
        )
        return replace(data, road=road[data.road], t=np.repeat(data.t_start, data.lengths), network=known)


class StopsLayout(Layout):
    """Stops: their number in the trajectory, and a node of the taxonomy."""

    data = Stops
    columns: ClassVar[Mapping[str, Word]] = {"traj_id": "text", "seq": "integer", "place": "text"}

    def where(self, data: Stops, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the names of the places."""
        return {"place": pl.Series(data.taxonomy.nodes, dtype=pl.String).gather(data.place)}

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return places as codes of the taxonomy; times are not written."""
        if beside.taxonomy is None:
            raise rows.table.wrong("published stops can be read only with their taxonomy; give it.")
        refuse_sequence(rows, again)
        names = rows.frame[str(self.position("place"))]
        place = names.cast(pl.Enum(beside.taxonomy.nodes), strict=False).to_physical()
        refuse(rows, place.is_null(), "a place is not in the taxonomy")
        nothing = np.zeros(len(rows), np.int64)
        return {"place": place.cast(pl.Int32).to_numpy(), "t": nothing, "t_end": nothing, "taxonomy": beside.taxonomy}

    def as_published(self, data: Stops) -> Stops:
        """Return stops without times."""
        nothing = np.zeros(data.n_rows, np.int64)
        return replace(data, t=nothing, t_end=nothing)


class TripsLayout(Layout):
    """Trips: a line per trip, with the time and the place of either end; an end that is left out is empty."""

    data = Trips
    columns: ClassVar[Mapping[str, Word]] = {
        "traj_id": "text",
        "t_start": "time",
        "origin": "text",
        "t_end": "time",
        "destination": "text",
    }

    def lines(self, data: Trips) -> IntArray:
        """Return the trips of which an end is left."""
        return np.flatnonzero(data.nonempty)

    def shown_times(self, data: Trips) -> IntArray:
        """Return the times of the ends."""
        return data.t

    def where(self, data: Trips, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return the names and the times of both ends."""
        ends = data.ends()
        names = pl.Series(ends.places, dtype=pl.String)
        lines = self.lines(data)
        columns: dict[str, pl.Series] = {}
        for place, t in (("origin", "t_start"), ("destination", "t_end")):
            refuse_empty(path, place, ends.places)
            code = pl.Series(getattr(ends, place)[lines])
            is_missing = code < 0
            columns[place] = names.gather(code.set(is_missing, None))
            columns[t] = time_column(getattr(ends, t)[lines], data.time_format).set(is_missing, None)
        return columns

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return the ends; a trip has one line, and an end has both a place and a time, or neither."""
        refuse(rows, again, "a trip has more than one line")
        text: dict[str, pl.Series] = {}
        columns: dict[str, Any] = {}
        for place, t in (("origin", "t_start"), ("destination", "t_end")):
            values = rows.frame[str(self.position(place))]
            text[place] = values.set((values == "").fill_null(False), None)
            columns[t], has_time = read_times_or_none(rows, self.position(t), beside.time_format)
            # Half an end would be judged as none by one reader and as one by another.
            refuse(rows, text[place].is_not_null().to_numpy() != has_time, f"only one of {place} and {t} is there")
        both = text["origin"].is_not_null() & text["destination"].is_not_null()
        refuse(rows, (text["origin"].is_null() & text["destination"].is_null()), "a trip has neither end")
        refuse(rows, both.to_numpy() & (columns["t_end"] < columns["t_start"]), "a trip ends before it begins")
        code, places = by_name(pl.concat([text["origin"], text["destination"]]))
        ends = TripEnds(places=places, origin=code[: len(rows)], destination=code[len(rows) :], **columns)
        trips = Trips.of_ends(
            ends,
            owner=np.arange(len(rows)),
            attributes={},
            time_format=beside.time_format,
            owners="hidden",
        )
        return {name: getattr(trips, name) for name in ("offsets", "location", "t", "locations")}


class CountsLayout(Layout):
    """Counts: a number for each time, zone and other zone; what was added up in a total is empty."""

    data = CountTables
    columns: ClassVar[Mapping[str, Word]] = {"t": "time", "zone": "text", "to_zone": "text", "count": "integer"}
    identified = False

    def shown_times(self, data: CountTables) -> IntArray:
        """Return the times of rows that have one."""
        return data.t[data.timed]

    def where(self, data: CountTables, path: str | Path, *, public: bool) -> dict[str, pl.Series]:
        """Return times, zones and counts."""
        names = pl.Series([name or None for name in data.zones], dtype=pl.String)
        return {
            "t": time_column(data.t, data.time_format).set(pl.Series(~data.timed), None),
            "zone": names.gather(data.zone),
            "to_zone": names.gather(data.to_zone),
            "count": pl.Series(data.count, dtype=pl.Int64),
        }

    def read(self, rows: Rows, again: BoolArray, beside: Beside) -> dict[str, Any]:
        """Return rows, which must be different and in order: nothing can hide in another one."""
        t, timed = read_times_or_none(rows, self.position("t"), beside.time_format)
        texts = [
            rows.frame[str(self.position(name))].cast(pl.String).fill_null(EVERYWHERE) for name in ("zone", "to_zone")
        ]
        codes, zones = by_name(pl.concat(texts))
        zone, to_zone = np.split(codes, 2)
        values = rows.frame[str(self.position("count"))]
        counts = values.cast(pl.Int64, strict=False) if values.dtype == pl.String else values
        refuse(rows, counts.is_null() | (counts < 0).fill_null(True), "count is not a whole number from 0 on")
        # Rows of all times come first, because whether there is a time is the first key.
        key = (timed.astype(np.int64), t, zone, to_zone)
        follows = np.ones(len(rows), np.bool_)
        follows[1:] = _is_ascending(key)
        refuse(rows, ~follows, "the rows are not in order, or one stands twice")
        return {
            "zone": zone,
            "to_zone": to_zone,
            "t": t,
            "timed": timed,
            "count": counts.to_numpy(),
            "zones": zones,
        }

    def as_published(self, data: CountTables) -> CountTables:
        """Return the zones that rows name, in the order of their names, and rows in order of time and zone."""
        names = tuple(sorted({data.zones[code] for code in np.unique([data.zone, data.to_zone]).tolist()}))
        ordered = data.recode(names)
        table = trajectory_of_row(data.offsets)
        row = np.lexsort((ordered.to_zone, ordered.zone, ordered.t, ordered.timed, table))
        return replace(ordered, **{name: getattr(ordered, name)[row] for name in ordered.row_columns})


def _is_ascending(key: tuple[IntArray, ...]) -> BoolArray:
    """Return for every row but the first whether it is behind the one before it, by the first column that differs."""
    behind = np.zeros(max(0, len(key[0]) - 1), np.bool_)
    same = np.ones(len(behind), np.bool_)
    for column in key:
        # Column by column: a row is behind if the first column that differs is larger.
        behind |= same & (column[1:] > column[:-1])
        same &= column[1:] == column[:-1]
    return behind


LAYOUTS: Mapping[str, Layout] = {
    layout.data.kind: layout
    for layout in (
        VisitsLayout(),
        PointsLayout(),
        BoxesLayout(),
        RoutesLayout(),
        StopsLayout(),
        TripsLayout(),
        CountsLayout(),
    )
}
"""The layout of every kind, by its name."""


def layout_of(data: Trajectories) -> Layout:
    """Return how data look in a published file."""
    return layout_for(data.kind)


def layout_for(kind: str) -> Layout:
    """Return how data of a kind look in a published file; the kind may be that of a plug-in."""
    return LAYOUTS[kind] if kind in LAYOUTS else _plugin_layout(kind)


def _plugin_layout(kind: str) -> Layout:
    data = kinds()[kind]
    layout = data.layout
    if not isinstance(layout, type) or not issubclass(layout, Layout):
        raise UsageError(f"The layout of the kind {kind!r} is not made of wayveil.Layout; tell the plug-in's authors.")
    bound = type(layout.__name__, (layout,), {"data": data})
    return bound()


def as_published(data: Kind) -> Kind:
    """Return the data as they are, bit by bit, after `write_published` and `read_published`.

    Of visits, points and regions only degrees make a difference: x and y are rounded to `DECIMALS`, which moves a point
    by less than a tenth of a millimetre, and the sides of a box outwards by about as little.  Where the frame of points
    has `decimals`, they are rounded to these; what an attacker may know of points is not written.  Of routes, the
    network is that of the roads in use, in the order of their names and without places, and times are those of the
    slice.  Stops keep their places and their order; their times are 0.

    Examples
    --------
    >>> data = Points.from_records([[(0, 1.0, 2.0)]])
    >>> as_published(data).record(0)
    [(0, 1.0, 2.0)]
    """
    published: Kind = layout_of(data).as_published(data)
    return published


def refuse_empty(path: str | Path, name: str, labels: Iterable[str]) -> None:
    """Refuse a column that holds an empty text."""
    if "" in labels:
        raise OutputError(f"{path}: column '{name}' holds an empty text, which cannot be told from a missing value.")
