"""What a table is: columns as shapes, which of them is what and why, who the people are, and what is wrong.

Nothing here returns a value of the table: formats, counts and shares only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from wayveil.io.intake.movement_facts import measure_rows
from wayveil.io.intake.person_candidates import (
    Hint,
    Person,
    find_people,
    find_trajectory,
    place_candidates,
    time_candidates,
)
from wayveil.io.intake.row_layout import (
    PositionGuess,
    columns_beside,
    find_layout,
    guess_degrees,
    guess_positions,
    is_fixed,
)
from wayveil.io.intake.table_view import ColumnProfile, TableView
from wayveil.io.intake.time_columns import TimeGuess, find_times
from wayveil.io.tabular.time_formats import FORMAT_WORDS

__all__ = ["Profile", "profile_table"]

_SAYS_WHERE = ("place", "lon", "x", "geometry")


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
    fixed : bool
        Whether these coordinates are where the named places are: rows of one name are at one position.
    trajectory : str
        The column that says which trajectory, "" where there is none.
    people : tuple of Person
        Who the person may be, the likeliest first.
    degrees : bool or None
        Whether coordinates are degrees; None where they may be, and no name says so.
    unordered : (str, str) or None
        Two columns of degrees of which nobody can tell which is the longitude.
    positions : mapping of str to PositionGuess
        Positions that are no plain numbers: of "point", or of "origin" and "destination".
    hints : mapping of str to tuple of Hint
        What could say "when" or "where", the best first, where no column says it for certain.
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
    fixed: bool = False
    trajectory: str = ""
    people: tuple[Person, ...] = ()
    degrees: bool | None = None
    unordered: tuple[str, str] | None = None
    positions: Mapping[str, PositionGuess] = field(default_factory=dict)
    hints: Mapping[str, tuple[Hint, ...]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    guesses: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def column(self, name: str) -> ColumnProfile:
        """Return the profile of a column."""
        return next(column for column in self.columns if column.name == name)

    def __repr__(self) -> str:
        return f"Profile({self.layout}, {self.rows:,} rows, {len(self.columns)} columns)"


def profile_table(
    frame: pl.DataFrame, *, geometry: str | None = None, named: Mapping[str, str] | None = None
) -> Profile:
    """Return what a table is; `named` has columns that somebody named, by our names (traj_id, user_id, t, x, ...).

    Examples
    --------
    >>> times = ["2020-01-01 10:00", "2020-01-02 11:00", "2020-02-01 9:00"]
    >>> table = pl.DataFrame({"user": ["a", "a", "b"], "venueId": ["p", "q", "p"], "utcTime": times})
    >>> seen = profile_table(table)
    >>> seen.layout, seen.times[0].columns, seen.times[0].fits[0].format, [person.column for person in seen.people]
    ('visits', ('utcTime',), 'ymd', ['user'])
    """
    # Each finder may rely on those before it: when, then where, then who, then which trajectory.
    view = TableView(frame, geometry=geometry, roles=named or {})
    layout, where, times = find_layout(view, find_times(view))
    degrees = guess_degrees(view, where) if "x" in where or "geometry" in where else None
    people = find_people(view, layout, where, times)
    trajectory = find_trajectory(view, people, where, times, layout)
    facts = measure_rows(view, layout, where, times, trajectory, people, degrees)
    # Hints are for tables that no layout fits: what a person could be asked about, best first.
    hints: dict[str, tuple[Hint, ...]] = {}
    if layout == "unknown" and not times:
        hints["when"] = time_candidates(view)
    if layout == "unknown" and not where and not any(view.named(role) for role in _SAYS_WHERE):
        hints["where"] = place_candidates(view, times, people)
    beside = columns_beside(view, layout, where)
    roles = _roles(view, where, beside, times, trajectory, people)
    return Profile(
        rows=view.rows,
        columns=tuple(_with_role(shape, roles) for shape in view.shapes.values()),
        layout=layout,
        times=times,
        where=where,
        beside=beside,
        fixed=is_fixed(view, where, beside),
        trajectory=trajectory,
        people=people,
        degrees=degrees,
        unordered=view.unordered if layout == "points" and not {"x", "y"} & set(view.named_columns) else None,
        positions=guess_positions(view, where),
        hints=hints,
        facts=facts,
        guesses=tuple(view.guesses),
        problems=tuple(view.problems),
    )


def _roles(
    view: TableView,
    where: Mapping[str, Any],
    beside: Mapping[str, Any],
    times: Sequence[TimeGuess],
    trajectory: str,
    people: Sequence[Person],
) -> dict[str, tuple[str, str]]:
    """Return what each column is, and why."""
    roles: dict[str, tuple[str, str]] = {}
    # Only the likeliest person gets the role; others are offered.
    for person in people[:1]:
        roles[person.column] = ("person", person.why)
    if trajectory:
        roles[trajectory] = ("trajectory", "its name says so, and it comes again in many rows")
    for time in times:
        for name in time.columns:
            roles[name] = (
                "time",
                f"every value reads as {FORMAT_WORDS[time.fits[0].format]}" if time.fits else "named",
            )
        if time.offset:
            roles[time.offset] = ("offset", "minutes from UTC in quarters of an hour")
    for ours, names in where.items():
        for name in (names,) if isinstance(names, str) else names:
            meaning = view.meaning.get(name)
            why = f"the word {meaning.word} in its name" if meaning and not view.headless else "what it holds"
            roles[name] = (ours, why)
    for axis, names in beside.items():
        for name in (names,) if isinstance(names, str) else names:
            roles.setdefault(name, (axis, "where the place is, in degrees"))
    return roles


def _with_role(shape: ColumnProfile, roles: Mapping[str, tuple[str, str]]) -> ColumnProfile:
    role, why = roles.get(shape.name, ("", ""))
    if not role and shape.counts_rows:
        role = "row number"
        why = "every row has another value, and they count up"
    return replace(shape, role=role, why=why)
