"""Who the person behind a row may be, and which rows are one trajectory: ranked, and with reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import polars as pl

from wayveil.io.intake.positions import pair_orders
from wayveil.io.intake.table_view import TableView, names_in
from wayveil.io.intake.time_columns import TimeGuess, time_of_rows
from wayveil.io.tabular.owner_columns import split_words

__all__ = [
    "Hint",
    "Person",
    "crowd_size",
    "find_people",
    "find_trajectory",
    "place_candidates",
    "time_candidates",
]

_DAY_US = 86_400 * 10**6
_FEW_MISSING = 0.05
_MOST_PEOPLE = 10_000_000
_MOST_CANDIDATES = 3
_RISING = 0.8
_NO_TIME = {"id", "code", "no", "number", "index", "count"}
_HUMAN = (
    *("user", "person", "uid", "member", "rider", "passenger", "customer", "client", "individual", "patient", "driver"),
    *("caller", "calling", "subscriber", "participant", "usuario", "visitor", "employee", "student"),
)
_ALWAYS_SHARED = {"bike", "bikeid", "bicycle", "scooter", "ebike", "bici", "bicicleta", "velo", "fahrrad"}
_SHARED_IN_SCRIPTS = ("自行车", "单车", "自転車", "자전거", "велосипед", "самокат")
_SHARED_THINGS = _ALWAYS_SHARED | {"device"}
"""What many people drive, one after the other, where a row is a trip."""


@dataclass(frozen=True, kw_only=True)
class Person:
    """A column that may say who: how many people that would be, and why.

    `named` columns are called like people or what they carry; one that is `shared` is a thing that many use in turn.
    """

    column: str
    people: int
    why: str
    named: bool
    shared: bool = False


@dataclass(frozen=True, kw_only=True)
class Hint:
    """Columns that could say what no name says, by our names, and why."""

    columns: Mapping[str, str]
    why: str


def find_people(
    view: TableView, layout: str, where: Mapping[str, Any], times: Sequence[TimeGuess]
) -> tuple[Person, ...]:
    """Return who the person may be, the likeliest first: columns whose names say so, else ids that come again.

    Several names of one and the same thing, such as the number, the name and the call sign of a ship, are one
    candidate: the fullest of those that tell all others.
    """
    used = names_in(where, times)
    # What somebody said is not guessed about.
    if "user_id" in view.named_columns:
        name = view.named_columns["user_id"]
        people = view.shapes[name].distinct if name in view.shapes else 0
        return (Person(column=name, people=people, why="it was said", named=True),)
    candidates = [name for name in view.named("person") if name not in used and view.shapes[name].missing < 0.5]
    if candidates:
        # People before things: who has a user and a vehicle means the user.
        distinct = _without_repeats(view, sorted(candidates, key=lambda name: not _is_human(name)))
        return tuple(_named_person(view, name, layout) for name in distinct)
    files = _file_person(view, times)
    others = tuple(
        Person(column=name, people=view.shapes[name].distinct, why="its values come again in many rows", named=False)
        for name in view.frame.columns
        # Only where no name says anything: columns whose values come again could be anybody's id, and are offered, not
        # taken.
        if name not in used and name not in ("file", "folder") and _is_key(view, name)
    )
    if not others and not files and not view.headless and layout in ("visits", "points"):
        others = _likely_keys(view, used)
    # Where the file names a person as well as a column does, both say the same, and the column stays.
    if files and len(others) == 1 and view.determines("file", others[0].column):
        return others
    return (*files, *others)


def _named_person(view: TableView, name: str, layout: str) -> Person:
    meaning = view.meaning[name]
    words = set(split_words(name))
    # A bike or a scooter is used by many in turn; a device only where a row is a trip, as a phone has one owner.
    shared = bool(words & (_SHARED_THINGS if layout == "trips" else _ALWAYS_SHARED))
    shared = shared or any(word in name.lower() for word in _SHARED_IN_SCRIPTS)
    why = f"the word {meaning.word} in its name" if meaning is not None else "its name"
    if shared:
        why += ", but many may use one in turn"
    return Person(column=name, people=view.shapes[name].distinct, why=why, named=True, shared=shared)


def _without_repeats(view: TableView, names: list[str]) -> list[str]:
    """Return the names without those that another of them tells: MMSI tells the name of the ship.

    A column called like a human that a thing tells is kept: one user may have several devices, and then it matters
    which is meant; where each tells the other, they are one.
    """
    # Before each name, `distinct` has columns of which none tells another.  A name that is told by one of them says
    # nothing new; one that tells some of them takes their place.
    distinct: list[str] = []
    for name in names:
        told_by = [
            other
            for other in distinct
            if view.determines(other, name) and (view.determines(name, other) or not _is_human(name))
        ]
        if not told_by:
            tells = [other for other in distinct if view.determines(name, other) and not _is_human(other)]
            if tells and view.shapes[name].missing <= min(view.shapes[other].missing for other in tells):
                distinct = [other for other in distinct if other not in tells]
            distinct.append(name)
    return distinct


def _file_person(view: TableView, times: Sequence[TimeGuess]) -> tuple[Person, ...]:
    """Return the file as a person, where a folder has a file for each: their times overlap, those of months do not."""
    if "file" not in view.frame.columns or view.shapes["file"].distinct < 2 or not times or not times[0].fits:
        return ()
    spans = (
        pl.DataFrame({"f": view.text["file"], "t": time_of_rows(view, times[0])})
        .drop_nulls()
        .group_by("f")
        .agg(first=pl.col("t").min(), last=pl.col("t").max())
        .sort("first")
    )
    # Sorted by their beginnings, a file overlaps an earlier one if it begins before the latest end so far.
    earlier = spans["last"].cum_max().shift(1)
    overlapping = int((spans["first"] < earlier).sum())
    if overlapping * 2 < spans.height - 1:
        return ()
    people = view.shapes["file"].distinct
    return (Person(column="file", people=people, why="every file has rows of its own at the same times", named=False),)


def _is_human(name: str) -> bool:
    """Whether a name speaks of a person, not of a thing that one drives or carries."""
    bare = name.lower()
    return any(word in bare for word in _HUMAN)


def _is_key(view: TableView, name: str) -> bool:
    """Whether a column could be the key of people: ids that come again, and many of them."""
    shape = view.shapes[name]
    # Nearly all different is a number of the row, only one or two values is a kind of something.
    few = shape.distinct < 2 or shape.distinct * 2 > view.rows
    if few or shape.counts_rows or shape.missing or shape.type not in ("whole numbers", "text"):
        return False
    if view.meaning[name] is None:
        return name.strip().lower() in ("id", "label", "objectid", "oid", "uid") or (
            view.headless and shape.distinct > 2
        )
    return False


def _likely_keys(view: TableView, used: set[str]) -> tuple[Person, ...]:
    """Return columns of which no name says anything, but whose values come again as ids of people do; at most three."""
    candidates = []
    for name, shape in view.shapes.items():
        several = shape.distinct > 2 and 2 * shape.distinct <= view.rows
        if name in used or view.meaning[name] is not None or not several or shape.missing > _FEW_MISSING:
            continue
        if shape.type not in ("whole numbers", "text") or shape.counts_rows or shape.distinct > _MOST_PEOPLE:
            continue
        # The most values first: more people are the more careful guess.
        per_value = view.rows / shape.distinct
        why = f"no name says it, but each of its values comes again, {per_value:,.0f} times on average"
        candidates.append(Person(column=name, people=shape.distinct, why=why, named=False))
    return tuple(sorted(candidates, key=lambda person: -person.people)[:_MOST_CANDIDATES])


def place_candidates(view: TableView, times: Sequence[TimeGuess], people: Sequence[Person]) -> tuple[Hint, ...]:
    """Return what could say where, the best first: two numbers like degrees, then values that come again."""
    used = {name for time in times for name in time.columns} | {person.column for person in people if person.named}
    free = [name for name in view.frame.columns if name not in used and name not in ("file", "folder")]
    fine = [name for name in free if view.meaning[name] is None and _is_like_degrees(view, name)]
    candidates = []
    # Coordinates stand side by side in nearly every table.
    for first, second in pairwise(fine):
        orders = pair_orders(view.numbers(first), view.numbers(second))
        for order in orders:
            x, y = (first, second) if order == "lonlat" else (second, first)
            why = f"'{x}' is the longitude and '{y}' the latitude: both have the range and the fractions of degrees"
            candidates.append(Hint(columns={"x": x, "y": y}, why=why))
    names = []
    for name in free:
        shape = view.shapes[name]
        # A place comes again at least three times on average.
        several = shape.distinct > 1 and 3 * shape.distinct <= view.rows
        if view.meaning[name] is None and several and not shape.missing and shape.type in ("whole numbers", "text"):
            names.append(name)
    names.sort(key=lambda name: (view.shapes[name].type != "text", -view.shapes[name].distinct))
    for name in names:
        shape = view.shapes[name]
        often = f"each in {view.rows / shape.distinct:,.0f} rows on average"
        why = f"'{name}' is the place: {shape.distinct:,} different values, {often}"
        candidates.append(Hint(columns={"location": name}, why=why))
    return tuple(candidates[:_MOST_CANDIDATES])


def time_candidates(view: TableView) -> tuple[Hint, ...]:
    """Return what could say when, the best first: numbers that go up from row to row."""
    candidates = []
    for name, shape in view.shapes.items():
        if view.meaning[name] is not None or not view.is_numeric(name) or shape.missing or shape.distinct < 3:
            continue
        if not _NO_TIME.isdisjoint(split_words(name)):
            continue
        steps = view.numbers(name).diff().drop_nulls()
        rising = float((steps >= 0).mean() or 0.0)  # type: ignore[arg-type]
        # A column that counts 1, 2, 3, ... numbers rows; time stands still or leaps.
        ones = float((steps == 1).mean() or 0.0)  # type: ignore[arg-type]
        if rising > _RISING and ones < _RISING:
            why = f"'{name}' is the time: its numbers go up, or stay, in {rising:.0%} of the rows"
            candidates.append((rising, Hint(columns={"t": name}, why=why)))
    return tuple(hint for _, hint in sorted(candidates, key=lambda pair: -pair[0])[:_MOST_CANDIDATES])


def _is_like_degrees(view: TableView, name: str) -> bool:
    shape = view.shapes[name]
    if shape.type != "numbers" or shape.distinct < 3:
        return False
    values = view.numbers(name).drop_nulls()
    inside = float((values.abs() <= 180).mean() or 0.0)  # type: ignore[arg-type]
    # Degrees have more than two decimals: half of the values must.
    fine = float((values != values.round(2)).mean() or 0.0)  # type: ignore[arg-type]
    return inside >= 0.95 and fine > 0.5


def find_trajectory(
    view: TableView,
    people: Sequence[Person],
    where: Mapping[str, Any],
    times: Sequence[TimeGuess],
    layout: str,
) -> str:
    """Return the column that says which trajectory; "" where none does, or where it is used again and again."""
    if layout == "trips":
        return ""
    if "traj_id" in view.named_columns:
        return view.named_columns["traj_id"]
    used = names_in(where, times)
    who = people[0].column if people and people[0].named else ""
    for name in view.named("trajectory"):
        shape = view.shapes[name]
        if name in used or shape.counts_rows or shape.distinct == view.rows or shape.missing:
            continue
        # One trajectory is of one person: an id that comes with several is used anew by each of them.
        if who and not view.determines(name, who):
            view.guesses.append(f"Column '{name}' is no key of trajectories: it comes again with other people.")
            continue
        if who and times and _spans_days(view, name, times[0]):
            view.guesses.append(f"Column '{name}' is no key of trajectories: it comes again on other days.")
            continue
        return name
    return ""


def _spans_days(view: TableView, name: str, time: TimeGuess) -> bool:
    """Whether one value comes again after more than a day without it."""
    if not time.dated:
        return False
    # Gaps of more than a day inside one id; if half of the ids have one, the id is of a line or a vehicle, not of a
    # trip.
    table = pl.DataFrame({"g": view.text[name], "t": time_of_rows(view, time)}).drop_nulls().sort("g", "t")
    gap = table.select(((pl.col("t").diff() > _DAY_US) & (pl.col("g") == pl.col("g").shift(1))).sum()).item()
    return bool(gap > table["g"].n_unique() // 2)


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
