"""What a table is: columns as shapes, which of them is what and why, who the people are, and what is wrong.

Nothing here returns a value of the table: formats, counts and shares only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from wayveil.io.intake.column_words import Meaning, column_meaning
from wayveil.io.intake.time_formats import CLOCK, NUMBER, TimeFit, detect_time_formats, parse_time_text
from wayveil.io.tabular.messages import count

__all__ = ["WIDTHS", "ColumnProfile", "Person", "Profile", "TimeGuess", "crowd_size", "profile_table"]

_SAMPLE = 4_000
_LONG_GAP_US = 30 * 60 * 10**6
_DAY_US = 86_400 * 10**6
_FAST_M_S = 300 / 3.6
_METRES_PER_DEGREE = 111_320.0
_ISO = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)?$"
WIDTHS: dict[str, dict[str | int, int]] = {
    "date": {"1h": 3600, "6h": 6 * 3600, "1d": 86_400, "7d": 7 * 86_400, "30d": 30 * 86_400, "360d": 360 * 86_400},
    CLOCK: {900: 900, 3600: 3600, 10_800: 10_800, 86_400: 86_400},
    NUMBER: {1: 1, 10: 10, 100: 100, 1000: 1000, 10_000: 10_000, 100_000: 100_000},
}
"""Widths of time in which people may meet, for dates and clocks in seconds."""
_CELL_M = 1000.0
_WKB_BYTES = 21
_GEOMETRIES = ("geometry", "latlon", "lonlat")


@dataclass(frozen=True, kw_only=True)
class ColumnProfile:
    """A column as a shape: its type, how many values differ, what share is missing, how long its texts are."""

    name: str
    type: str
    distinct: int
    missing: float
    lengths: tuple[int, int]
    role: str = ""
    why: str = ""
    counts_rows: bool = False


@dataclass(frozen=True, kw_only=True)
class TimeGuess:
    """A time: its columns, and the formats that read it, more than one where the day or the month may come first.

    Whoever reads tables takes times that are `plain` as they are.
    """

    columns: tuple[str, ...]
    fits: tuple[TimeFit, ...]
    bad: int = 0
    plain: bool = False


@dataclass(frozen=True, kw_only=True)
class Person:
    """A column that may say who: how many people that would be, and why."""

    column: str
    people: int
    why: str
    named: bool


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a table is.

    Parameters
    ----------
    layout : {"visits", "points", "trips", "places", "unknown"}
        One row per visit to a place with a name, per position, or per trip with both ends; a table of places; or none
        of these.
    times : tuple of TimeGuess
        When: one, or those of the start and of the end of a trip.
    where : mapping
        The columns that say where, by our names; of trips each has two.
    beside : mapping
        Columns of longitudes and latitudes beside places with names, as x and y.
    trajectory : str
        The column that says which trajectory, "" where there is none.
    people : tuple of Person
        Who the person may be, the likeliest first.
    degrees : bool or None
        Whether coordinates are degrees; None where they may be, and no name says so.
    facts : mapping
        Numbers: duplicates, gaps, speeds and the like.
    guesses, problems : tuple of str
        What was taken to be so, and why; what is wrong with rows.
    """

    rows: int
    columns: tuple[ColumnProfile, ...]
    layout: str
    times: tuple[TimeGuess, ...] = ()
    where: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, Any] = field(default_factory=dict)
    trajectory: str = ""
    people: tuple[Person, ...] = ()
    degrees: bool | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    guesses: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(column for column in self.columns if column.name == name)


def profile_table(
    frame: pl.DataFrame, *, geometry: str | None = None, said: Mapping[str, str] | None = None
) -> Profile:
    """Return what a table is; `said` has columns that somebody named, by our names (traj_id, user_id, t, x, ...).

    Examples
    --------
    >>> times = ["2020-01-01 10:00", "2020-01-02 11:00", "2020-02-01 9:00"]
    >>> table = pl.DataFrame({"user": ["a", "a", "b"], "venueId": ["p", "q", "p"], "utcTime": times})
    >>> seen = profile_table(table)
    >>> seen.layout, seen.times[0].columns, seen.times[0].fits[0].format, [person.column for person in seen.people]
    ('visits', ('utcTime',), 'ymd', ['user'])
    """
    return _Look(frame, geometry, dict(said or {})).profile()


class _Look:
    """One look at a table; the frame is read column by column."""

    def __init__(self, frame: pl.DataFrame, geometry: str | None, said: dict[str, str]) -> None:
        self.frame = frame
        self.said = said
        self.guesses: list[str] = []
        self.problems: list[str] = []
        self.text = {name: _as_text(frame[name]) for name in frame.columns}
        self.shapes = {name: _shape(name, self.text[name]) for name in frame.columns}
        self.meaning: dict[str, Meaning | None] = {name: column_meaning(name) for name in frame.columns}
        if geometry is not None:
            self.meaning[geometry] = Meaning(role="geometry", word="the file says so")
        self.numbers = {name: self.text[name].cast(pl.Float64, strict=False) for name in frame.columns}
        self.moments: dict[str, pl.Series] = {}
        self.fits: dict[str, tuple[TimeFit, ...]] = {}
        self.roles: dict[str, tuple[str, str]] = {}

    def profile(self) -> Profile:
        """Return all that is to be said."""
        layout, where, times = self._layout(self._times())
        degrees = self._degrees(where) if "x" in where or "geometry" in where else None
        people = self._people(where, times)
        trajectory = self._trajectory(people, where, times, layout)
        facts = self._facts(layout, where, times, trajectory, people, degrees)
        for person in people[:1]:
            self.roles.setdefault(person.column, ("person", person.why))
        if trajectory:
            self.roles[trajectory] = ("trajectory", "its name says so, and it comes again in many rows")
        for time in times:
            for name in time.columns:
                self.roles[name] = ("time", f"every value reads as {time.fits[0].format}" if time.fits else "named")
        for ours, names in where.items():
            for name in (names,) if isinstance(names, str) else names:
                meaning = self.meaning.get(name)
                why = f"the word {meaning.word} in its name" if meaning else "what it holds"
                self.roles[name] = (ours, why)
        columns = tuple(self._with_role(shape) for shape in self.shapes.values())
        return Profile(
            rows=self.frame.height, columns=columns, layout=layout, times=times, where=where, trajectory=trajectory,
            people=people, degrees=degrees, facts=facts, guesses=tuple(self.guesses), problems=tuple(self.problems),
            beside=self._beside(layout, where),
        )  # fmt: skip

    def _beside(self, layout: str, where: Mapping[str, Any]) -> dict[str, Any]:
        """Return the degrees beside places with names, where every row has them."""
        if "location" not in where:
            return {}
        pairs = [self._pair(side) for side in (("start", "end") if layout == "trips" else ("",))]
        found = [name for pair in pairs if pair is not None for name in pair]
        named = [self.meaning[name] for name in found]
        degrees = all(meaning is not None and meaning.role in ("lon", "lat") for meaning in named)
        if len(found) != 2 * len(pairs) or not degrees or any(self.shapes[name].missing for name in found):
            return {}
        if layout == "trips":
            return {"x": (found[0], found[2]), "y": (found[1], found[3])}
        return {"x": found[0], "y": found[1]}

    def _with_role(self, shape: ColumnProfile) -> ColumnProfile:
        role, why = self.roles.get(shape.name, ("", ""))
        if not role and shape.counts_rows:
            role = "row number"
            why = "every row has another value, and they count up"
        return ColumnProfile(**{**shape.__dict__, "role": role, "why": why})

    # Times

    def _fit(self, name: str) -> tuple[TimeFit, ...]:
        """Return the formats that read a column; whether the day comes first is decided from all of it."""
        if name not in self.fits:
            fits = tuple(detect_time_formats(_sample(self.text[name])))
            if {fit.format for fit in fits} == {"dmy", "mdy"}:
                parts = [
                    self.text[name].str.extract(r"^\s*(\d{1,2})[-/.](\d{1,2})[-/.]", i).cast(pl.Int16) for i in (1, 2)
                ]
                first, second = ((part > 12).sum() for part in parts)
                wrong = "mdy" if first > second else "dmy" if second > first else ""
                fits = tuple(fit for fit in fits if fit.format != wrong)
            self.fits[name] = fits
        return self.fits[name]

    def _times(self) -> dict[str, TimeGuess]:
        """Return times by the side of a trip that they are of: "", "start", "end"; the best one of each."""
        ranked: dict[str, list[tuple[int, str]]] = {}
        dates = []
        clocks = []
        for position, name in enumerate(self.frame.columns):
            if not self.shapes[name].distinct:
                continue
            meaning = self.meaning[name]
            named = meaning is not None and meaning.role == "time"
            fits = self._fit(name) if named or self._could_be_time(name) else ()
            if fits and fits[0].format == CLOCK:
                clocks.append(name)
            if not fits or (not named and fits[0].format in (NUMBER, CLOCK)):
                continue
            side = meaning.side if meaning is not None and named else ""
            dated = fits[0].format not in (NUMBER, CLOCK)
            if dated and not fits[0].has_clock:
                dates.append(name)
            rank = 4 * (dated and fits[0].has_clock) + 3 * dated + 2 * named + (fits[0].format == CLOCK)
            ranked.setdefault(side, []).append((-100 * rank + position, name))
        found = {side: self._guess((min(names)[1],)) for side, names in ranked.items()}
        best = found.get("")
        said = self.said.get("t")
        if said in self.frame.columns:
            found[""] = self._guess((said,))
        elif best is not None and dates and clocks and not (best.fits[0].has_clock and best.columns[0] not in clocks):
            found[""] = TimeGuess(
                columns=(dates[0], clocks[0]), fits=self._fit(dates[0]), bad=self._bad_times(dates[0])
            )
            self.guesses.append(f"The time is the date in '{dates[0]}' and the time of day in '{clocks[0]}'.")
        return found

    def _could_be_time(self, name: str) -> bool:
        """Whether a column whose name says nothing may hold times: texts like dates, or numbers like epochs."""
        if self.meaning[name] is not None:
            return False
        if self.shapes[name].type in ("numbers", "whole numbers"):
            fits = detect_time_formats(_sample(self.text[name]))
            return bool(fits) and fits[0].format != NUMBER and self.shapes[name].lengths[0] >= 8
        return self.shapes[name].type == "text" and self.shapes[name].lengths[0] >= 4

    def _guess(self, names: tuple[str, ...]) -> TimeGuess:
        return TimeGuess(
            columns=names, fits=self._fit(names[0]), bad=self._bad_times(names[0]), plain=self._is_plain_time(names[0])
        )

    def _is_plain_time(self, name: str) -> bool:
        fits = self._fit(name)
        if self.frame[name].dtype.is_temporal() or (fits and fits[0].format == NUMBER):
            return True
        return bool(self.text[name].str.contains(_ISO).all())

    def _bad_times(self, name: str) -> int:
        fits = self._fit(name)
        if not fits:
            return 0
        bad = int(self._moments(name).null_count())
        if bad:
            self.problems.append(f"The time in '{name}' cannot be read in {count(bad, 'row')}.")
        return bad

    def _moments(self, name: str) -> pl.Series:
        """Return times as whole numbers, microseconds wherever a date is known."""
        if name not in self.moments:
            self.moments[name] = parse_time_text(self.text[name], self._fit(name)[0].format)
        return self.moments[name]

    # Places

    def _named(self, role: str, side: str = "") -> list[str]:
        return [
            name
            for name, meaning in self.meaning.items()
            if meaning is not None and meaning.role == role and meaning.side == side and self.shapes[name].distinct
        ]

    def _pair(self, side: str) -> tuple[str, str] | None:
        for x, y in (("lon", "lat"), ("x", "y")):
            xs = [name for name in self._named(x, side) if self._is_numeric(name)]
            ys = [name for name in self._named(y, side) if self._is_numeric(name)]
            if xs and ys:
                return xs[0], ys[0]
        return None

    def _is_numeric(self, name: str) -> bool:
        return self.shapes[name].type in ("numbers", "whole numbers")

    def _layout(self, times: dict[str, TimeGuess]) -> tuple[str, dict[str, Any], tuple[TimeGuess, ...]]:
        """Return what a row is: one of the layouts, the columns that say where, and the times of it."""
        said: dict[str, Any] = {
            ours: name for ours, name in self.said.items() if ours in ("location", "x", "y", "geometry")
        }
        one = (times[""],) if "" in times else ()
        if said:
            layout = "visits" if "location" in said else "points"
            return (layout if one else "unknown"), said, one
        start = self._pair("start") or self._pair("")
        end = self._pair("end")
        places = [self._named("place", side) for side in ("start", "end")]
        begin = times.get("start") or (times.get("") if "end" in times else None)
        if begin is not None and "end" in times and all(places):
            self.guesses.append(f"One row per trip: from '{places[0][0]}' to '{places[1][0]}'.")
            return "trips", {"location": (places[0][0], places[1][0])}, (begin, times["end"])
        if begin is not None and "end" in times and start and end:
            both = (begin, times["end"])
            self.guesses.append("One row per trip: it has coordinates and times of a start and of an end.")
            return "trips", {"x": (start[0], end[0]), "y": (start[1], end[1])}, both
        if not one and times:
            one = (next(iter(times.values())),)
        pair = self._pair("") or self._pair("end")
        geometry = [name for role in _GEOMETRIES for name in self._named(role)]
        spots = [name for name in self._named("place") if self.shapes[name].distinct < self.frame.height]
        if geometry and not self._is_points(geometry[0]):
            self.problems.append(f"Column '{geometry[0]}' holds lines or areas, no points.")
            geometry = []
        if not one:
            return ("places" if pair or geometry else "unknown"), {}, ()
        if geometry:
            return "points", {"geometry": geometry[0]}, one
        if spots and (pair is None or self._is_check_in(spots[0])):
            return "visits", {"location": spots[0]}, one
        if pair:
            return "points", {"x": pair[0], "y": pair[1]}, one
        other = self._other_place(one[0])
        if other:
            self.guesses.append(f"Column '{other}' is taken to be the place: its values come again in many rows.")
            return "visits", {"location": other}, one
        return "unknown", {}, one

    def _is_points(self, name: str) -> bool:
        if self.frame[name].dtype != pl.String:
            return True
        head = _sample(self.text[name]).head(200)
        lines = head.str.contains(r"(?i)^\s*(SRID=\d+;)?\s*(MULTI\w*|LINESTRING|POLYGON)").sum()
        return int(lines) == 0

    def _is_check_in(self, place: str) -> bool:
        """Whether rows are visits to places that come again, rather than positions of which some are named."""
        return 2 * self.shapes[place].distinct <= self.frame.height and self.shapes[place].missing < 0.01

    def _other_place(self, time: TimeGuess) -> str:
        """Return the place of a table without a header: of two columns with ids, the second."""
        if not all(name.startswith("column_") for name in self.frame.columns):
            return ""
        free = [name for name, shape in self.shapes.items() if name not in time.columns and shape.distinct > 1]
        ids = [name for name in free if self.shapes[name].type in ("whole numbers", "text")]
        return ids[1] if len(ids) >= 2 else ""

    def _degrees(self, where: Mapping[str, Any]) -> bool | None:
        """Return whether coordinates are degrees: by range and name; None where both could be."""
        if "geometry" in where:
            return True
        firsts = [self._numbers_of(where[axis]) for axis in ("x", "y")]
        x, y = firsts
        fits = bool(((x.abs() <= 360) & (y.abs() <= 90)).mean() >= 0.95)  # type: ignore[operator]
        first = where["x"] if isinstance(where["x"], str) else where["x"][0]
        meaning = self.meaning.get(first)
        if not fits:
            return False
        return True if meaning is not None and meaning.role == "lon" else None

    def _numbers_of(self, names: str | Sequence[str]) -> pl.Series:
        return self.numbers[names if isinstance(names, str) else names[0]]

    # People and trajectories

    def _people(self, where: Mapping[str, Any], times: Sequence[TimeGuess]) -> tuple[Person, ...]:
        """Return who the person may be: columns whose names say so, else columns with ids that come again."""
        used = {name for names in where.values() for name in ((names,) if isinstance(names, str) else names)}
        used |= {name for time in times for name in time.columns}
        if "user_id" in self.said:
            name = self.said["user_id"]
            people = self.shapes[name].distinct if name in self.shapes else 0
            return (Person(column=name, people=people, why="it was said", named=True),)
        found = [
            Person(
                column=name, people=self.shapes[name].distinct, why=f"the word {meaning.word} in its name", named=True
            )
            for name, meaning in self.meaning.items()
            if meaning is not None and meaning.role == "person" and name not in used and self.shapes[name].distinct
        ]
        if found:
            # Where a name of a person and one of a thing are there, the person is the person.
            return tuple(sorted(found, key=lambda person: not column_says_human(person.column)))
        return tuple(
            Person(column=name, people=shape.distinct, why="its values come again in many rows", named=False)
            for name, shape in self.shapes.items()
            if name not in used and self._is_key(name)
        )

    def _is_key(self, name: str) -> bool:
        """Whether a column could be the key of people: ids that come again, and many of them."""
        shape = self.shapes[name]
        meaning = self.meaning[name]
        few = shape.distinct < 2 or shape.distinct * 2 > self.frame.height
        if few or shape.counts_rows or shape.missing or shape.type not in ("whole numbers", "text"):
            return False
        if meaning is None:
            lone = all(other is None for other in self.meaning.values())
            return name.strip().lower() in ("id", "label", "objectid", "oid", "uid") or (lone and shape.distinct > 2)
        return False

    def _trajectory(
        self, people: Sequence[Person], where: Mapping[str, Any], times: Sequence[TimeGuess], layout: str
    ) -> str:
        """Return the column that says which trajectory; "" where none does, or where it is used again and again."""
        if layout == "trips":
            return ""
        used = {name for names in where.values() for name in ((names,) if isinstance(names, str) else names)}
        used |= {name for time in times for name in time.columns}
        candidates = [name for name in self._named("trajectory") if name not in used]
        if "traj_id" in self.said:
            return self.said["traj_id"]
        for name in candidates:
            shape = self.shapes[name]
            if shape.counts_rows or shape.distinct == self.frame.height:
                continue
            who = people[0].column if people and people[0].named else ""
            if who and self._varies(who, name):
                self.guesses.append(f"Column '{name}' is no key of trajectories: it comes again with other people.")
                continue
            if who and times and self._spans_days(name, times[0]):
                self.guesses.append(f"Column '{name}' is no key of trajectories: it comes again on other days.")
                continue
            return name
        return ""

    def _varies(self, column: str, group: str) -> bool:
        pairs = pl.DataFrame({"g": self.text[group], "c": self.text[column]}).n_unique()
        return pairs > self.text[group].n_unique()

    def _spans_days(self, name: str, time: TimeGuess) -> bool:
        """Whether one value comes again after more than a day without it."""
        if not time.fits or time.fits[0].format in (CLOCK, NUMBER):
            return False
        moments = self._moments(time.columns[0])
        table = pl.DataFrame({"g": self.text[name], "t": moments}).drop_nulls().sort("g", "t")
        gap = table.select(((pl.col("t").diff() > _DAY_US) & (pl.col("g") == pl.col("g").shift(1))).sum()).item()
        return bool(gap > table["g"].n_unique() // 2)

    # Numbers

    def _facts(
        self, layout: str, where: Mapping[str, Any], times: Sequence[TimeGuess], trajectory: str,
        people: Sequence[Person], degrees: bool | None,
    ) -> dict[str, Any]:  # fmt: skip
        facts: dict[str, Any] = {"duplicate_rows": self.frame.height - self.frame.n_unique()}
        if facts["duplicate_rows"]:
            self.problems.append(
                f"{count(facts['duplicate_rows'], 'row')} of {self.frame.height:,} repeat another row."
            )
        who = people[0].column if people else ""
        group = trajectory or who
        if who:
            facts["people"] = self.shapes[who].distinct if who in self.shapes else 0
        if trajectory:
            facts["trajectories"] = self.shapes[trajectory].distinct
            facts["rows_per_trajectory"] = round(self.frame.height / max(1, self.shapes[trajectory].distinct), 1)
        for ours, names in where.items():
            for name in (names,) if isinstance(names, str) else names:
                empty = round(self.shapes[name].missing * self.frame.height)
                facts["rows_without_place"] = facts.get("rows_without_place", 0) + empty
                if empty:
                    self.problems.append(f"Column '{name}' ({ours}) is empty in {count(empty, 'row')}.")
        if times and times[0].fits and group and layout in ("visits", "points"):
            facts |= self._movement(group, times[0], where, degrees)
        if "x" in where:
            zeros = int(((self._numbers_of(where["x"]) == 0) & (self._numbers_of(where["y"]) == 0)).sum())
            if zeros:
                facts["positions_at_zero"] = zeros
                self.problems.append(f"{count(zeros, 'position')} at 0, 0: probably no position was known.")
        return facts

    def _movement(self, group: str, time: TimeGuess, where: Mapping[str, Any], degrees: bool | None) -> dict[str, Any]:
        """Return gaps, duplicate times and speeds of rows in the order of time, for each trajectory or person."""
        dated = time.fits[0].format not in (NUMBER, CLOCK)
        unit = 1 if dated or time.fits[0].format == CLOCK else 10**6
        columns = {"g": self.text[group], "t": self._moments(time.columns[0]) * unit}
        if len(time.columns) == 2:
            columns["t"] = columns["t"] + parse_time_text(self.text[time.columns[1]], CLOCK)
        if "x" in where:
            columns |= {"x": self._numbers_of(where["x"]), "y": self._numbers_of(where["y"])}
        elif "geometry" in where:
            pair = _pair_of(self.frame[where["geometry"]])
            columns |= {} if pair is None else dict(zip("xy", pair, strict=True))
        elif "location" in where:
            columns["p"] = self.text[where["location"]]
        table = pl.DataFrame(columns).drop_nulls()
        if not table.height:
            return {}
        ordered = table.sort("g", "t", maintain_order=True)
        same = pl.col("g") == pl.col("g").shift(1)
        step = pl.col("t").diff()
        facts: dict[str, Any] = {}
        if "x" in columns:
            size = _CELL_M / _METRES_PER_DEGREE if degrees is not False else _CELL_M
            cells = table.with_columns(p=pl.struct(pl.col("x") // size, pl.col("y") // size).hash())
            facts["people_meet"] = _meetings(
                cells, CLOCK if time.fits[0].format == CLOCK else "date" if dated else NUMBER
            )
            facts["people_move_at_one_time"] = _moving_together(table) if dated else None
        elif "location" in where:
            form = time.fits[0].format
            facts["people_meet"] = _meetings(table, form if form in WIDTHS else "date")
        again = ordered.select((same & (step == 0)).sum()).item()
        if again:
            facts["rows_at_the_time_of_another"] = again
            self.problems.append(
                f"{count(again, 'row')} have the time of another row of the same trajectory or person."
            )
        if not dated:
            facts["numbers_of_time"] = table.select(pl.col("t").max() - pl.col("t").min()).item() // 10**6 + 1
            return facts
        facts["gaps_over_30_minutes"] = ordered.select((same & (step > _LONG_GAP_US)).sum()).item()
        median = ordered.select(step.filter(same & (step > 0)).median()).item()
        if median is not None:
            facts["seconds_between_rows"] = median / 10**6
        facts["days"] = table.select((pl.col("t").max() - pl.col("t").min()) // _DAY_US).item() + 1
        if "x" in columns:
            scale = _METRES_PER_DEGREE if degrees is not False else 1.0
            squeeze = (pl.col("y").radians().cos() if degrees is not False else pl.lit(1.0)) * scale
            distance = ((pl.col("x").diff() * squeeze) ** 2 + (pl.col("y").diff() * scale) ** 2).sqrt()
            fast = ordered.select((same & (distance > _FAST_M_S * step / 10**6) & (distance > 1000)).sum()).item()
            if fast:
                facts["steps_faster_than_300_km_h"] = fast
                self.problems.append(f"{count(fast, 'step')} faster than 300 km/h: outliers in space or time.")
        return facts


def _meetings(table: pl.DataFrame, form: str) -> dict[str | int, float]:
    """Return for widths of time the share of rows with which k people are at one place."""
    k = max(2, crowd_size(table["g"].n_unique()))
    shares: dict[str | int, float] = {}
    for width, seconds in WIDTHS[form].items():
        cut = table.select("g", "p", w=pl.col("t") // (seconds * 10**6))
        met = cut.group_by("w", "p").agg(pl.len().alias("n"), pl.col("g").n_unique().alias("people"))
        shares[width] = round(float(met.filter(pl.col("people") >= k)["n"].sum()) / table.height, 3)
    return shares


def _moving_together(table: pl.DataFrame) -> float:
    """Return the share of rows in an hour in which k people are under way."""
    k = max(2, crowd_size(table["g"].n_unique()))
    cut = table.select("g", w=pl.col("t") // (3600 * 10**6)).group_by("w")
    met = cut.agg(pl.len().alias("n"), pl.col("g").n_unique().alias("people"))
    return round(float(met.filter(pl.col("people") >= k)["n"].sum()) / table.height, 3)


def crowd_size(people: int) -> int:
    """Return a moderate k for so many people; 0 where there are too few to hide anybody.

    Examples
    --------
    >>> [crowd_size(people) for people in (2, 8, 30, 1000)]
    [0, 2, 3, 5]
    """
    if people < 3:
        return 0
    return 2 if people < 10 else 3 if people < 50 else 5


def column_says_human(name: str) -> bool:
    """Whether a name speaks of a person, not of a thing that one drives or carries."""
    bare = name.lower()
    return any(word in bare for word in ("user", "person", "uid", "member", "rider", "passenger", "customer", "client"))


def _as_text(values: pl.Series) -> pl.Series:
    if values.dtype == pl.String:
        return values.set(values == "", None) if (values == "").any() else values
    if values.dtype in (pl.Binary, pl.Object) or values.dtype.is_nested():
        return pl.Series(values.name, [None if value is None else "geometry" for value in values], dtype=pl.String)
    return values.cast(pl.String)


def _pair_of(values: pl.Series) -> tuple[pl.Series, pl.Series] | None:
    """Return the two numbers of points as text or WKB; None where they are written in another way."""
    if values.dtype == pl.String:
        two = r"([-+]?[\d.]+(?:[eE][-+]?\d+)?)[\s,;]+([-+]?[\d.]+(?:[eE][-+]?\d+)?)"
        first, second = (values.str.extract(two, i).cast(pl.Float64, strict=False) for i in (1, 2))
        return first, second
    if values.dtype != pl.Binary or values.null_count():
        return None
    points = values.to_list()
    if any(len(point) != _WKB_BYTES or point[0] != 1 for point in points):
        return None
    bare = np.frombuffer(b"".join(points), np.uint8).reshape(-1, _WKB_BYTES)[:, -16:].copy().view("<f8")
    return pl.Series(bare[:, 0].copy()), pl.Series(bare[:, 1].copy())


def _sample(text: pl.Series) -> pl.Series:
    values = text.drop_nulls()
    return values if len(values) <= _SAMPLE else values.gather_every(-(-len(values) // _SAMPLE))


def _shape(name: str, text: pl.Series) -> ColumnProfile:
    """Return a column as a shape."""
    lengths = text.str.len_chars()
    numbers = text.cast(pl.Float64, strict=False)
    filled = len(text) - text.null_count()
    share = (len(text) - numbers.null_count()) / filled if filled else 0.0
    kind = "text"
    if not filled:
        kind = "empty"
    elif share >= 0.99:
        whole = text.cast(pl.Int64, strict=False)
        kind = "whole numbers" if whole.null_count() == numbers.null_count() else "numbers"
    distinct = text.drop_nulls().n_unique()
    counts = False
    if kind in ("whole numbers", "numbers") and distinct == filled == len(text) > 1:
        steps = numbers.diff().drop_nulls()
        counts = bool((steps > 0).all()) and bool((numbers == numbers.round(0)).all())
    return ColumnProfile(
        name=name,
        type=kind,
        distinct=distinct,
        missing=0.0 if not len(text) else text.null_count() / len(text),
        lengths=(int(lengths.min() or 0), int(lengths.max() or 0)),  # type: ignore[arg-type]
        counts_rows=counts,
    )
