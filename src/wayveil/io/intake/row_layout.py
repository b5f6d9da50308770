"""What a row is: a visit, a position, a trip with both ends, a trip with its line; and the columns that say where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from wayveil.io.intake.column_words import Meaning
from wayveil.io.intake.positions import (
    DEGREES,
    PAIR,
    PositionColumn,
    detect_axis_format,
    detect_pair,
    pair_orders,
    read_position,
)
from wayveil.io.intake.table_view import TableView
from wayveil.io.intake.time_columns import TimeGuess, guess_time
from wayveil.io.tabular.time_formats import NUMBER

__all__ = [
    "PositionGuess",
    "axis_numbers",
    "columns_beside",
    "coordinates_of",
    "find_layout",
    "guess_degrees",
    "guess_positions",
    "is_fixed",
]

_WKB_BYTES = 21
_GEOMETRIES = ("geometry", "latlon", "lonlat")
_MAY_BE_PAIR = ("place", "line", "trajectory")
_MOST_DEGREES = (360.0, 90.0)
_FEW_MISSING = 0.05
_ONE_PLACE_M = 250.0
"""How far rows of one place may be from their middle: a venue or a station is not larger."""
_AT_ONE_PLACE = 0.95
_METRES_PER_DEGREE = 111_195.0


@dataclass(frozen=True, kw_only=True)
class PositionGuess:
    """A position that is not two plain numbers: its columns, the forms and the orders that are possible."""

    columns: tuple[str, ...]
    forms: tuple[str, ...]
    orders: tuple[str, ...] = ("lonlat",)


Layout = tuple[str, dict[str, Any], tuple[TimeGuess, ...]]


def find_layout(view: TableView, times: dict[str, TimeGuess]) -> Layout:
    """Return what a row is: one of the layouts, the columns that say where, and the times of it."""
    facts: dict[str, Any] = {
        ours: name for ours, name in view.named_columns.items() if ours in ("location", "x", "y", "geometry")
    }
    # Columns that somebody named are taken as such; only how their numbers are written is looked up.
    for axis, limit in (("x", 180), ("y", 90)):
        named = view.meaning.get(facts.get(axis, ""))
        if named is not None and named.role in ("lon", "lat"):
            _is_axis(view, facts[axis], limit)
    one = (times[""],) if "" in times else ()
    if facts:
        layout = "visits" if "location" in facts else "points"
        return (layout if one else "unknown"), facts, one
    # In the order of how much a table must say: a trip needs two ends with two times, a visit a place that comes again,
    # a position two coordinates. What says more is taken first.
    if view.headless:
        times = _name_trip(view, times)
    trip = _find_trip(view, times)
    if trip is not None:
        return trip
    if not one and times:
        one = (next(iter(times.values())),)
    if view.headless:
        _name_coordinates(view)
    # Named axes, then those of the one end that a table has, then two columns whose order nobody knows.
    pair = _pair(view, "") or _find_one_side(view) or view.unordered
    both = _find_pair_column(view) if pair is None else ""
    geometry = [name for role in _GEOMETRIES for name in view.named(role) if not both]
    if both:
        geometry = [both]
    # A place of which every row has another is no place but a key.
    spots = [name for name in view.named("place") if view.shapes[name].distinct < view.rows]
    if geometry and not both and not _is_points(view, geometry[0]):
        view.problems.append(f"Column '{geometry[0]}' holds lines or areas, no points.")
        geometry = []
    if not one:
        # Positions without times are a table of places.
        return ("places" if pair or geometry else "unknown"), {}, ()
    if geometry:
        return "points", {"geometry": geometry[0]}, one
    if view.headless and pair:
        spots = _places_of(view, pair, one[0])
    # Both a place and coordinates: check-ins have few positions per place, vehicles near a stop have many.
    if spots and (pair is None or _is_check_in(view, spots[0], pair)):
        return "visits", {"location": _best_name(view, spots)}, one
    if pair:
        return "points", {"x": pair[0], "y": pair[1]}, one
    other = _other_place(view, one[0])
    if other:
        view.guesses.append(f"Column '{other}' is taken to be the place: its values come again in many rows.")
        return "visits", {"location": other}, one
    return "unknown", {}, one


def _find_trip(view: TableView, times: dict[str, TimeGuess]) -> Layout | None:
    """Return the layout of one row per trip, None where rows have no two ends."""
    # Some publishers mark only the end: plain coordinates are those of the beginning then.
    start = _pair(view, "start") or _pair(view, "")
    end = _pair(view, "end")
    places = [_best_name(view, _place_names(view, side)) for side in ("start", "end")]
    if _pair(view, "start") and end and not {"start", "end"} <= times.keys():
        times = times | _order_moments(view)
    begin = times.get("start") or (times.get("") if "end" in times else None)
    if begin is None or "end" not in times:
        return None
    if _pair(view, "start") and _pair(view, "") and end:
        # A row that says where it is itself is a position of a vehicle whose line has these ends.
        view.guesses.append("A row is a position: beside it stand those of a start and of an end, which are not read.")
        return None
    # A date for one end and a number for the other are not two times of the same thing.
    if begin.dated != times["end"].dated:
        return None
    both = (begin, times["end"])
    if all(places):
        view.guesses.append(f"One row per trip: from '{places[0]}' to '{places[1]}'.")
        return "trips", {"location": (places[0], places[1])}, both
    if start and end and start != end:
        view.guesses.append("One row per trip: it has coordinates and times of a start and of an end.")
        return "trips", {"x": (start[0], end[0]), "y": (start[1], end[1])}, both
    return None


def _order_moments(view: TableView) -> dict[str, TimeGuess]:
    """Return the times of both ends of a trip whose names do not say which is which; nothing where they stay unclear.

    There are two columns with a date and a time of day, and one is hardly ever before the other.
    """
    moments = [name for name in view.frame.columns if _is_moment(view, name)]
    if len(moments) != 2:
        return {}
    for first, second in (moments, moments[::-1]):
        if _is_in_order(view.moments(first), view.moments(second)):
            view.guesses.append(f"A trip begins at '{first}' and ends at '{second}', which is never before it.")
            return {"start": guess_time(view, first), "end": guess_time(view, second)}
    return {}


def _is_in_order(begin: pl.Series, end: pl.Series) -> bool:
    """Whether one time is hardly ever before the other, and mostly after it."""
    # A few rows in the wrong order are errors of the file; half of all trips at least must take some time.
    return not bool((end < begin).mean() > 0.02) and bool((end > begin).mean() > 0.5)  # type: ignore[operator]


def _find_one_side(view: TableView) -> tuple[str, str] | None:
    """Return the coordinates of the end that a table has; of a start and an end, those of the start.

    A stop is an end to whoever reads its name, so a table with one side only has positions.  With both and one time,
    the time is that of the start, as in files of trips that have a duration instead of a second time.
    """
    start = _pair(view, "start")
    end = _pair(view, "end")
    if start is not None and end is not None:
        view.guesses.append("A row has positions of a start and of an end, and one time: only the start is read.")
        return start
    return end


def _place_names(view: TableView, side: str) -> list[str]:
    """Return the columns with places of an end of a trip; a point as text is no name."""
    return [name for name in view.named("place", side) if not view.sample(name).head(20).str.contains(r"^POINT").any()]


def _best_name(view: TableView, names: Sequence[str]) -> str:
    """Return the column to take of several that name the same places: the fullest, and an id before a name."""
    if not names:
        return ""
    # Of columns that are nearly as full, an id is better than a name, which is spelt in several ways.
    least = min(view.shapes[name].missing for name in names)
    full = [name for name in names if view.shapes[name].missing <= least + 0.02]
    # A finer place is worth more than a coarser one; names of one place differ now and then, ids do not.
    ids = [name for name in full if not name.lower().rstrip().endswith(("name", "nombre"))]
    return (ids or full)[0]


def _pair(view: TableView, side: str) -> tuple[str, str] | None:
    lon = next((name for name in view.named("lon", side) if _is_axis(view, name, 180)), None)
    lat = next((name for name in view.named("lat", side) if _is_axis(view, name, 90)), None)
    if lon is not None and lat is not None:
        return _right_way(view, lon, lat)
    xs = [name for name in view.named("x", side) if view.is_numeric(name)]
    ys = [name for name in view.named("y", side) if view.is_numeric(name)]
    return (xs[0], ys[0]) if xs and ys else None


def _is_axis(view: TableView, name: str, limit: float) -> bool:
    """Whether a column that is called so holds coordinates, in whatever form; the form is kept in the view."""
    if name in view.forms:
        return True
    if "form" in view.named_columns:
        view.forms[name] = (view.named_columns["form"],)
        return True
    numbers = view.numbers(name) if view.is_numeric(name) else None
    forms = detect_axis_format(name, view.text[name], numbers, limit)
    if forms and forms != (DEGREES,):
        view.forms[name] = forms
    return bool(forms)


def _right_way(view: TableView, lon: str, lat: str) -> tuple[str, str]:
    """Return longitude and latitude; where only the other way round is possible, names are wrong."""
    # Numbers that are no degrees yet cannot be judged by their size.
    written = {*view.forms.get(lon, ()), *view.forms.get(lat, ())} - {DEGREES}
    if written:
        return lon, lat
    # Names are believed unless the numbers make them impossible: a latitude beyond 90 is a longitude.
    orders = pair_orders(view.numbers(lon), view.numbers(lat))
    if list(orders) != ["latlon"]:
        return lon, lat
    words = f"'{lat}' is taken to be the longitude and '{lon}' the latitude"
    if all(words not in guess for guess in view.guesses):
        view.guesses.append(f"{words}, against their names: only a longitude can be beyond 90.")
    # The form is marked as known, so that the swap is not asked for again.
    view.forms[lon] = view.forms[lat] = (DEGREES,)
    return lat, lon


def _find_pair_column(view: TableView) -> str:
    """Return the column with both coordinates in one text, "" where there is none; how it is written goes to the view.

    A name or the values say which comes first; a POINT of WKT has x first, as the standard says.
    """
    named = [name for role in _GEOMETRIES for name in view.named(role)]
    others = [name for name, meaning in view.meaning.items() if meaning is None or meaning.role in _MAY_BE_PAIR]
    for name in dict.fromkeys((*named, *others)):
        if view.frame[name].dtype != pl.String or not view.shapes[name].distinct or view.is_numeric(name):
            continue
        form = detect_pair(view.text[name])
        if not form or (form == PAIR and _is_plain_wkt(view, name)):
            continue
        view.forms[name] = (form,)
        view.orders[name] = _pair_order(view, name) if form == PAIR else ("lonlat",)
        return name
    return ""


def _is_plain_wkt(view: TableView, name: str) -> bool:
    """Whether a column holds POINT (x y) with x first, which readers take as it is."""
    head = view.sample(name).head(200)
    if not bool(head.str.contains(r"(?i)^\s*POINT").all()):
        return False
    return view.named_columns.get("order", "lonlat") == "lonlat" and _pair_order(view, name) == ("lonlat",)


def _pair_order(view: TableView, name: str) -> tuple[str, ...]:
    """Return which coordinate comes first in a column with both; both where nobody can tell."""
    if "order" in view.named_columns:
        return (view.named_columns["order"],)
    first, second = read_numbers_of_pair(view, name, "lonlat")
    possible = tuple(pair_orders(first, second))
    # The name of the column may say the order ("latlon"), but only if the values allow it.
    meaning = view.meaning[name]
    if meaning is not None and meaning.role in possible:
        return (meaning.role,)
    if len(possible) != 2:
        return possible or ("lonlat",)
    if not bool(view.sample(name).head(200).str.contains(r"(?i)^\s*(SRID=\d+;)?\s*POINT").all()):
        return possible
    # The taxis of Rome are the one file with points that everybody has in which the latitude comes first.
    rome = first.is_between(41.0, 43.0) & second.is_between(11.5, 13.5)
    if view.headless and view.frame.width == 3 and rome.sum() > 0.9 * view.rows:
        view.guesses.append(f"The latitude comes first in '{name}', as in the taxis of Rome.")
        return ("latlon",)
    words = f"The longitude comes first in '{name}', as points of WKT have it; else say --position-order latlon."
    if words not in view.guesses:
        view.guesses.append(words)
    return ("lonlat",)


def read_numbers_of_pair(view: TableView, name: str, order: str) -> tuple[pl.Series, pl.Series]:
    """Return x and y of a column with both coordinates."""
    form = view.forms.get(name, (PAIR,))[0]
    position = PositionColumn(columns=(name,), format=form, order=order)  # type: ignore[arg-type]
    table = view.text[name].to_frame(name).select(*read_position(position))
    return table["x"], table["y"]


def _name_coordinates(view: TableView) -> None:
    """Tell longitude and latitude of a table without a header, by what two columns side by side hold.

    Both have fractions and the range of degrees, at least one value is beyond 90 (only a longitude can be), or the
    file is of one region and the usual order decides nothing: then both orders stay possible, and neither is named.
    """
    fractions = _find_fractions(view)
    # One of two neighbours goes beyond 90: that one is the longitude.
    for (first, far_first), (second, far_second) in pairwise(fractions):
        if far_first == far_second:
            continue
        lon, lat = (first, second) if far_first else (second, first)
        view.meaning[lon] = Meaning(role="lon", word="values beyond 90")
        view.meaning[lat] = Meaning(role="lat", word="values within 90")
        view.guesses.append(f"'{lon}' is the longitude and '{lat}' the latitude: their ranges say so.")
        return
    if len(fractions) >= 2:
        view.unordered = (fractions[0][0], fractions[1][0])


def _name_trip(view: TableView, times: dict[str, TimeGuess]) -> dict[str, TimeGuess]:
    """Tell a trip of a table without a header: two times, the second never before the first, and two pairs of degrees.

    Returns the times of both ends where it is one, and those that were given otherwise.
    """
    pairs = _find_fractions(view)
    moments = [name for name in view.frame.columns if _is_moment(view, name)]
    # Two times, four coordinates, and in each pair one that goes beyond 90; anything less could be something else.
    if len(moments) != 2 or len(pairs) != 4 or any(pairs[i][1] == pairs[i + 1][1] for i in (0, 2)):
        return times
    if not _is_in_order(*(view.moments(name) for name in moments)):
        return times
    for side, (first, second) in (("start", pairs[:2]), ("end", pairs[2:])):
        lon, lat = (first[0], second[0]) if first[1] else (second[0], first[0])
        view.meaning[lon] = Meaning(role="lon", side=side, word="values beyond 90")
        view.meaning[lat] = Meaning(role="lat", side=side, word="values within 90")
        view.guesses.append(f"'{lon}' is the longitude and '{lat}' the latitude of the {side}: their ranges say so.")
    view.guesses.append(f"A trip begins at '{moments[0]}' and ends at '{moments[1]}', which is never before it.")
    return {side: guess_time(view, name) for side, name in zip(("start", "end"), moments, strict=True)}


def _is_moment(view: TableView, name: str) -> bool:
    """Whether a column holds dates with a time of day."""
    shape = view.shapes[name]
    if shape.distinct < 3 or shape.lengths[0] < 8 or shape.type == "numbers" or name in ("file", "folder"):
        return False
    fits = view.fit(name)
    return bool(fits) and (fits[0].has_clock or fits[0].format.startswith("epoch")) and fits[0].format != NUMBER


def _find_fractions(view: TableView) -> list[tuple[str, bool]]:
    """Return the columns without a meaning whose numbers could be degrees, and whether some are beyond 90."""
    fractions = []
    for name in view.frame.columns:
        shape = view.shapes[name]
        if shape.type != "numbers" or shape.distinct < 3 or view.meaning[name] is not None:
            continue
        values = view.numbers(name).drop_nulls()
        inside = bool((values.abs() <= 180).mean() >= 0.95)  # type: ignore[operator]
        fine = bool((values != values.round(2)).mean() > 0.5)  # type: ignore[operator]
        if inside and fine:
            # A handful of errors beyond 90 does not make a longitude.
            fractions.append((name, bool((values.abs() > 90).mean() > 0.001)))  # type: ignore[operator]
    return fractions


def _places_of(view: TableView, pair: tuple[str, str], time: TimeGuess) -> list[str]:
    """Return columns of which every value has one position: names of places, in a table without a header."""
    free = [
        name
        for name, shape in view.shapes.items()
        if name not in (*pair, *time.columns, time.offset, "file", "folder")
        and shape.type in ("whole numbers", "text")
        and 2 < shape.distinct * 2 <= view.rows
        and shape.missing < _FEW_MISSING
    ]
    fixed = []
    for name in free:
        # As many different positions as different values: each value has one.
        spots = pl.DataFrame(
            {"p": view.text[name], "x": view.numbers(pair[0]), "y": view.numbers(pair[1])}
        ).drop_nulls()
        if spots.n_unique() <= 1.02 * view.shapes[name].distinct and view.shapes[name].distinct > 2:
            fixed.append(name)
    # Where several do, the one with most values is the place and others are of what kind it is.
    return sorted(fixed, key=lambda name: -view.shapes[name].distinct)[:1]


def _is_points(view: TableView, name: str) -> bool:
    if view.frame[name].dtype != pl.String:
        return True
    head = view.sample(name).head(200)
    lines = head.str.contains(r"(?i)^\s*(SRID=\d+;)?\s*(MULTI\w*|LINESTRING|POLYGON)").sum()
    return int(lines) == 0


def _is_check_in(view: TableView, place: str, pair: tuple[str, str]) -> bool:
    """Whether rows are visits to places that come again, rather than positions of which some are named.

    A vehicle has many positions near one stop; a place where people check in has one, or few.
    """
    # Few positions per place: people check in at the place.  Many: a vehicle that passes it.
    spots = pl.DataFrame({"x": view.text[pair[0]], "y": view.text[pair[1]]}).n_unique()
    if 2 * spots > view.rows and spots > 3 * view.shapes[place].distinct:
        return False
    return 2 * view.shapes[place].distinct <= view.rows and view.shapes[place].missing < 0.01


def _other_place(view: TableView, time: TimeGuess) -> str:
    """Return the place of a table without a header: of two columns with ids, the second."""
    if not view.headless:
        return ""
    free = [name for name, shape in view.shapes.items() if name not in time.columns and shape.distinct > 1]
    ids = [name for name in free if view.shapes[name].type in ("whole numbers", "text")]
    return ids[1] if len(ids) >= 2 else ""


def columns_beside(view: TableView, layout: str, where: Mapping[str, Any]) -> dict[str, Any]:
    """Return the degrees beside places with names, where (almost) every row has them."""
    if "location" not in where:
        return {}
    # Trips need the degrees of both ends.
    pairs = [_pair(view, side) for side in (("start", "end") if layout == "trips" else ("",))]
    names = [name for pair in pairs if pair is not None for name in pair]
    named = [view.meaning[name] for name in names]
    degrees = all(meaning is not None and meaning.role in ("lon", "lat") for meaning in named)
    if len(names) != 2 * len(pairs) or not degrees or any(view.shapes[name].missing > 0.05 for name in names):
        return {}
    if layout == "trips":
        return {"x": (names[0], names[2]), "y": (names[1], names[3])}
    return {"x": names[0], "y": names[1]}


def is_fixed(view: TableView, where: Mapping[str, Any], beside: Mapping[str, Any]) -> bool:
    """Return whether rows of one name stand at one position: a venue does, a kind of venue or a chain does not.

    Every name must have a position, because a place that is nowhere cannot be in a zone.
    """
    if not beside or not isinstance(beside["x"], str) or any(name in view.forms for name in beside.values()):
        return False
    x, y = (axis_numbers(view, beside[axis]) for axis in ("x", "y"))
    every = pl.DataFrame({"name": view.frame[where["location"]], "x": x, "y": y}).drop_nulls("name")
    possible = (pl.col("x").abs() <= 180) & (pl.col("y").abs() <= 90) & ~((pl.col("x") == 0) & (pl.col("y") == 0))
    rows = every.filter(possible)
    if not rows.height or rows["name"].n_unique() < every["name"].n_unique():
        return False
    off_m = (
        ((pl.col(axis) - pl.col(axis).median().over("name")) * _METRES_PER_DEGREE) ** 2 * scale
        for axis, scale in (("x", pl.col("y").radians().cos() ** 2), ("y", 1.0))
    )
    near = rows.select((pl.sum_horizontal(off_m) <= _ONE_PLACE_M**2).mean()).item()
    return bool(near >= _AT_ONE_PLACE)


def guess_degrees(view: TableView, where: Mapping[str, Any]) -> bool | None:
    """Return whether coordinates are degrees: by range and name; None where both could be."""
    if "geometry" in where:
        return True
    x, y = (axis_numbers(view, where[axis]) for axis in ("x", "y"))
    most_x, most_y = _MOST_DEGREES
    first = where["x"] if isinstance(where["x"], str) else where["x"][0]
    meaning = view.meaning.get(first)
    named = meaning is not None and meaning.role in ("lon", "lat")
    # Of columns called so, half may be placeholders such as -999; no metres are within the range of degrees.
    # Names lower the share that is needed: a column called "lon" holds degrees even if many are missing values.
    fits = bool(((x.abs() <= most_x) & (y.abs() <= most_y)).mean() >= (0.5 if named else 0.95))  # type: ignore[operator]
    if not fits:
        return False
    if view.headless:
        return True  # metres would be an area of a few steps
    return True if named else None


def guess_positions(view: TableView, where: Mapping[str, Any]) -> dict[str, PositionGuess]:
    """Return the positions that must be converted, as "point", or as "origin" and "destination" of trips."""
    if where.get("geometry") in view.orders:
        name = where["geometry"]
        return {"point": PositionGuess(columns=(name,), forms=view.forms[name], orders=view.orders[name])}
    if "x" not in where:
        return {}
    pairs = zip(*((names,) if isinstance(names, str) else names for names in (where["x"], where["y"])), strict=True)
    ends = ("point",) if isinstance(where["x"], str) else ("origin", "destination")
    positions = {}
    # Longitude and latitude are written alike, so that what one of them excludes is excluded for both.
    for end, pair in zip(ends, pairs, strict=True):
        # Forms of both axes: where one of them can tell, both are written alike.
        forms = [view.forms[name] for name in pair if name in view.forms]
        if forms:
            common = [form for form in forms[0] if all(form in other for other in forms)]
            positions[end] = PositionGuess(columns=pair, forms=tuple(common) or forms[0])
    return positions


def axis_numbers(view: TableView, names: str | Sequence[str]) -> pl.Series:
    """Return the numbers of an axis, of trips those of their start."""
    return view.numbers(names if isinstance(names, str) else names[0])


def coordinates_of(view: TableView, where: Mapping[str, Any]) -> tuple[pl.Series, pl.Series] | None:
    """Return x and y of rows, None where places have names, or points are written in a way that is not known."""
    if "x" in where:
        return axis_numbers(view, where["x"]), axis_numbers(view, where["y"])
    if where.get("geometry") in view.orders:
        return read_numbers_of_pair(view, where["geometry"], view.orders[where["geometry"]][0])
    return _read_pair(view.frame[where["geometry"]]) if "geometry" in where else None


def _read_pair(values: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """Return the two numbers of points as text or WKB; None where they are written in another way."""
    if values.dtype == pl.String:
        two = r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)[\s,;]+([-+]?[\d.]+(?:[eE][-+]?\d+)?)"
        first, second = (values.str.extract(two, i).cast(pl.Float64, strict=False) for i in (1, 2))
        return first, second
    if values.dtype != pl.Binary or values.null_count():
        return None
    points = values.to_list()
    # 21 bytes: byte order 1 (little endian), four bytes for the type, and two floats.
    if any(len(point) != _WKB_BYTES or point[0] != 1 for point in points):
        return None
    bare = np.frombuffer(b"".join(points), np.uint8).reshape(-1, _WKB_BYTES)[:, -16:].copy().view("<f8")
    return pl.Series(bare[:, 0].copy()), pl.Series(bare[:, 1].copy())
