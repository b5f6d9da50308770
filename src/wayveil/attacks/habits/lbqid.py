"""The attacker who knows a habit of a person, places by time of day and how often, and finds who follows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnPositions, mean
from wayveil.attacks.habits.lbqid_mining import Clock, mine_habits
from wayveil.attacks.habits.lbqid_pattern import DAY_US, Element, parse_pattern, parse_recurrence
from wayveil.attacks.habits.lbqid_witnesses import Requests
from wayveil.attacks.positions.known_positions import Array, check_matched
from wayveil.errors import InputError, ParameterError
from wayveil.model import AttackResult, Boxes, Chart, Engine, Frame, Points, Series, parameter
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import count, share
from wayveil.model.parameters import duration_s

__all__ = ["Lbqid", "UserTable", "user_table"]

MINED = "mined"
"""The pattern that stands for habits found in the data."""

_SECOND_US = 1_000_000
_YEARS_S = (-62_135_596_800, 253_402_300_799)  # the years 1 to 9999
_NONE = np.iinfo(np.int64).min
_CLASSES = (1, 2, 3, 4, 5, 10, 20, 50, 100)
_CLASS_LABELS = ("nobody", "1", "2", "3", "4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 and more")


@dataclass(frozen=True, kw_only=True)
class Lbqid(OnPositions):
    """Someone knows a habit (a location-based quasi-identifier) and looks for the people who follow it.

    The habit is a list of places with times of day, in their order, and how often all of it happens, such as on three
    weekdays in each of two weeks.  Where the samples of a person follow it, the published boxes of these samples are
    the person's requests.  **Historical k-anonymity** holds for the person if at least k - 1 other people were in
    every one of these boxes as well, in its time.

    Parameters
    ----------
    pattern : text
        Elements ``x_min,y_min,x_max,y_max HH:MM-HH:MM``, separated by semicolons; places in the coordinates of the
        file, sides and times closed.  Empty: nothing is checked.  ``mined``: everybody is attacked by the habit of
        their own that recurs most, as `mine_habits` finds it.
    recurrence : text
        Such as ``3.Weekdays * 2.Weeks``, the innermost first; Days, Weekdays (Monday to Friday), Weeks (from Monday)
        and Months.  All elements are met in one granule of the first.
    zone : text
        IANA name of the time zone in which the times of day are meant; times without a zone are taken as they are.
    k : int, >= 2
        Number of people, with the victim, who must fit.
    cell, part, elements
        With ``mined``: side of a place in metres, the parts of the day, and how many places a habit has at most.

    Notes
    -----
    The samples of all trajectories of a person count together.  The earliest sample that fits the next element is
    taken, which finds a match if there is one.  A granule belongs to the one that contains all of it: a week of two
    months is in neither.  Samples that are not published make no request; without any request everybody fits.
    It takes O(rows x elements) time for the match; then one look at the samples in the box with the fewest times of
    each person, and one step per request, person who fits the requests before, and sample of that person in its time.

    References
    ----------
    Bettini, Wang, Jajodia: Protecting privacy against location-based personal identification.  SDM 2005.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> hour = 3_600
    >>> data = Points.from_records([[(7 * hour, 1.0, 1.0)], [(8 * hour, 1.0, 1.0)]], time_format="epoch")
    >>> home = Lbqid(pattern="0,0,2,2 06:30-07:30", k=2)
    >>> found = home.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["users_matched"], found.measured["users_exposed"]
    (1, 1)
    """

    pattern: str = parameter(
        kind="text", default="", help="places and times of day: x_min,y_min,x_max,y_max HH:MM-HH:MM; ..."
    )
    recurrence: str = parameter(
        kind="text", default="1.Days", help="how often, such as 3.Weekdays * 2.Weeks (Days, Weekdays, Weeks, Months)"
    )
    zone: str = parameter(kind="text", default="UTC", help="IANA time zone of the times of day")
    k: int = parameter(kind="int", low=2, default=5, help="number of people, with the victim, who must fit")
    cell: float = parameter(kind="number", low=1, default=250.0, help="with pattern=mined: side of a place in metres")
    part: str = parameter(kind="duration", default="1h", help="with pattern=mined: parts of the day")
    elements: int = parameter(
        kind="int", low=1, high=8, default=2, help="with pattern=mined: largest number of places of a habit"
    )

    name: ClassVar[str] = "lbqid"
    summary: ClassVar[str] = "an attacker who knows a habit of places and times of day and finds who follows it"
    asks: ClassVar[str] = "pattern"

    def __post_init__(self) -> None:
        super().__post_init__()
        levels = parse_recurrence(self.recurrence)
        _check_zone(self.zone)
        if not self.is_mined:
            parse_pattern(self.pattern)
            return
        part = duration_s(self.part)
        if part is None or DAY_US % (part * _SECOND_US):
            raise ParameterError(f"lbqid: part must be a duration that divides a day, such as 1h, got {self.part}.")
        if levels[0][1] not in ("day", "weekday"):
            raise ParameterError(
                f"lbqid: habits are mined by the day, so recurrence must begin with Days or Weekdays, got "
                f"{self.recurrence!r}."
            )

    @property
    def is_mined(self) -> bool:
        """Whether habits are found in the data."""
        return self.pattern.strip() == MINED

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> None:
        """Return nothing that is drawn: the habit is all that is known."""

    def match(self, queries: None, target: Points | Boxes, *, truth: Points, rng: Any, engine: Engine) -> UserTable:
        check_matched(self.name, truth, target)
        return user_table(self, truth, target)

    def summarize(self, queries: None, matches: UserTable) -> AttackResult:
        seen = matches.matched
        witnesses = matches.witnesses[seen]
        n_samples = int(matches.samples.sum())
        requests = int(matches.requests.sum())
        exposed = int((~matches.holds).sum())
        has_pattern = bool(self.pattern.strip())
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=len(seen),
            sampled=False,
            numbers={
                "users": count(len(seen) if has_pattern else None, "People", "people"),
                "users_matched": count(
                    int(seen.sum()) if has_pattern else None, "People who fit the pattern", "people"
                ),
                "users_exposed": count(exposed if has_pattern else None, "People exposed", "people", better="lower"),
                "users_exposed_share": share(
                    mean(~matches.holds[seen]),
                    "Of those who fit the pattern, share exposed",
                    statistic="share above",
                    about="identity",
                    better="lower",
                ),
                "min_witness_people": count(
                    int(witnesses.min()) if len(witnesses) else None,
                    "Fewest people who could have been there as well",
                    "people",
                    joined="smallest",
                    better="higher",
                ),
                "mean_witness_people": count(
                    mean(witnesses), "Mean of people who could have been there as well", "people", joined="mean"
                ),
                "requests_published_share": share(
                    requests / n_samples if n_samples else None, "Share of requests published"
                ),
            },
            charts=(_chart(witnesses),) if has_pattern else (),
        )

    @property
    def _adversary(self) -> str:
        if self.is_mined:
            return (
                f"knows of everybody the habit that recurs most ({self.recurrence}), of up to {self.elements} places "
                f"of {self.cell:g} m by parts of {self.part}, and looks for who follows it"
            )
        places = self.pattern.count(";") + 1
        if not self.pattern.strip():
            return "has no habit of places and times to look for (parameter pattern), so nothing was checked"
        some = "1 place and time" if places == 1 else f"{places} places and times"
        return f"knows a habit of {some} of day ({self.recurrence}) and looks for who follows it"


@dataclass(frozen=True, kw_only=True, eq=False)
class UserTable:
    """What was found of each person who has a sample.

    Parameters
    ----------
    owner : int
        The owner in the true data, or the trajectory where owners are not given.
    matched : bool
        Whether the person follows the habit.
    samples, requests : int
        True samples that follow it, and how many of them are published.
    witnesses : int
        Other people who have a sample in every request, in its time; 0 for who does not follow the habit.
    holds : bool
        Whether historical k-anonymity holds, as it does for who does not follow the habit.
    """

    owner: Array
    matched: Array
    samples: Array
    requests: Array
    witnesses: Array
    holds: Array


def user_table(attack: Lbqid, truth: Points, target: Points | Boxes) -> UserTable:
    """Return for every person whether the habit is followed, the witnesses, and whether k-anonymity holds.

    Examples
    --------
    >>> data = Points.from_records([[(60, 1.0, 1.0)], [(61, 1.5, 1.0)], [(62, 9.0, 9.0)]], time_format="epoch")
    >>> box = (0, 100, 0.0, 2.0, 0.0, 2.0)
    >>> boxes = Boxes.from_records([[box], [box], []], time_format="epoch")
    >>> table = user_table(Lbqid(pattern="0,0,2,2 00:00-00:01", k=2), data, boxes)
    >>> table.matched.tolist(), table.witnesses.tolist(), table.holds.tolist()
    ([True, False, False], [1, 0, 0], [True, True, True])
    """
    elements = () if attack.is_mined else parse_pattern(attack.pattern)
    levels = parse_recurrence(attack.recurrence)
    if not elements and not attack.is_mined:
        none = np.zeros(0, np.int64)
        yes = np.zeros(0, bool)
        return UserTable(owner=none, matched=yes, samples=none, requests=none, witnesses=none, holds=yes)
    if truth.time_format == "integer":
        raise InputError(
            "lbqid: the times are plain integers without a calendar, so no time of day can be looked for. "
            "Give times as dates, or leave pattern empty."
        )
    trajectory = trajectory_of_row(truth.offsets)
    owner = truth.owner if truth.owners == "given" else np.arange(len(truth))
    owners, user = np.unique(owner[trajectory], return_inverse=True)
    local = _local_us(truth, attack.zone)
    rows = (
        _mined(attack, levels, truth, user, local)
        if attack.is_mined
        else _following(elements, levels, truth, user, local)
    )
    samples = np.bincount(user[rows], minlength=len(owners))
    # Only what was published of these rows can be seen by the attacker.
    boxes = Requests.published(truth, target, rows, user[rows])
    witnesses = np.where(samples > 0, boxes.witnesses(truth, user, len(owners)), 0)
    return UserTable(
        owner=owners,
        matched=samples > 0,
        samples=samples,
        requests=np.bincount(boxes.user, minlength=len(owners)),
        witnesses=witnesses,
        holds=(samples == 0) | (witnesses >= attack.k - 1),
    )


def _mined(attack: Lbqid, levels: tuple[tuple[int, str], ...], truth: Points, user: Array, local: Array) -> Array:
    """Return the rows with which people follow the habit of their own that recurs most."""
    # Rows on days that do not count, such as weekends, are no part of a habit.
    granule = _granule(local // DAY_US, levels[0][1])
    rows = np.flatnonzero(granule != _NONE)
    place = np.floor(np.stack([truth.x[rows], truth.y[rows]], axis=1) / attack.cell)
    cell = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
    part_us = (duration_s(attack.part) or 1) * _SECOND_US
    clock = Clock(day=granule[rows], part=local[rows] % DAY_US // part_us)
    habits = mine_habits(user[rows], cell, clock, truth.t[rows], attack.elements, lambda days: _recurring(days, levels))
    return rows[habits.rows]


def _recurring(days: Array, levels: tuple[tuple[int, str], ...]) -> Array:
    """Return those of one person's days that recur as often as asked for."""
    if len(days) < prod(n for n, _ in levels):
        return days[:0]
    ok = _often_enough(np.zeros(len(days), np.int64), days, np.ones(len(days), bool), levels)
    return days[ok]


def _following(
    elements: tuple[Element, ...], levels: tuple[tuple[int, str], ...], truth: Points, user: Array, local: Array
) -> Array:
    """Return the rows with which people follow the habit, of all granules that count."""
    inside = np.stack([_inside(element, truth, local % DAY_US) for element in elements])
    # Rows inside any element, then sorted by person and granule: a habit is followed within one granule.
    rows = np.flatnonzero(inside.any(axis=0))
    granule = _granule(local[rows] // DAY_US, levels[0][1])
    rows = rows[granule != _NONE]
    granule = granule[granule != _NONE]
    # The order of time, and of the input where times are equal; a clock put back may show a day twice.
    order = np.lexsort((rows, truth.t[rows], granule, user[rows]))
    rows = rows[order]
    granule = granule[order]
    new = (np.diff(user[rows], prepend=-1) != 0) | (np.diff(granule, prepend=0) != 0)
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(rows))
    at = first
    taken = []
    ok = np.ones(len(first), bool)
    # Element by element, in their order: from where the last was met on, the next row that fits; a granule in which one
    # is missing does not count.
    for fits in inside[:, rows]:
        where = np.append(np.where(fits, np.arange(len(rows)), len(rows)), len(rows))
        next_row = np.minimum.accumulate(where[::-1])[::-1][at]  # the next row from `at` on that fits
        ok &= next_row < last
        at = np.minimum(next_row + 1, len(rows))
        taken.append(next_row)
    granule = granule[first]
    who = user[rows[first]]
    ok = _often_enough(who, granule, ok, levels)
    return rows[np.concatenate([next_row[ok] for next_row in taken])]


def _often_enough(who: Array, granule: Array, ok: Array, levels: tuple[tuple[int, str], ...]) -> Array:
    """Return which granules of people, of those that are `ok`, recur as often as asked for."""
    kinds: list[str | None] = [kind for _, kind in levels]
    # From the innermost level outwards: granules that recur often enough within the level above are kept, and become
    # its members.
    for (n, kind), above in zip(levels, [*kinds[1:], None], strict=True):
        parent = np.zeros_like(granule) if above is None else _containing(granule, kind, above)
        ok &= parent != _NONE
        group = _codes(who[ok], parent[ok])
        members = _codes(who[ok], parent[ok], granule[ok])
        # Each granule once, however often the habit was followed in it.
        different = np.unique(members, return_index=True)[1]
        count = np.bincount(group[different], minlength=len(group))
        ok[ok] = count[group] >= n
        granule = parent
    return ok


def _inside(element: Element, truth: Points, time_of_day: Array) -> Array:
    """Return which rows are in an element; a box of degrees may lie across the line where longitudes jump."""
    degrees = truth.frame.degrees
    if element.x_min > element.x_max and not degrees:
        raise ParameterError(
            f"lbqid: in every element of pattern x_min must be at most x_max, got {element.x_min:g} and "
            f"{element.x_max:g}. Only longitudes may be given the other way round, across the antimeridian."
        )
    x, y = _sides(truth.frame, element)
    if degrees and element.x_max - element.x_min >= 360:
        wide = np.ones(len(truth.x), bool)
    elif x[0] <= x[1]:
        wide = (x[0] <= truth.x) & (truth.x <= x[1])
    else:
        # Across the line where longitudes jump: east of one side, or west of the other.
        wide = (x[0] <= truth.x) | (truth.x <= x[1])
    when = (element.start <= time_of_day) & (time_of_day <= element.end)
    inside: Array = wide & (y[0] <= truth.y) & (truth.y <= y[1]) & when
    return inside


def _sides(frame: Frame, element: Element) -> tuple[Array, Array]:
    return frame.to_metres(np.array([element.x_min, element.x_max]), np.array([element.y_min, element.y_max]))


def _local_us(truth: Points, zone: str) -> Array:
    """Return what the clocks on the wall show, in microseconds since 1970."""
    unit = 1 if truth.time_format == "epoch" else 1_000_000
    low, high = (second * unit for second in _YEARS_S)
    if len(truth.t) and (truth.t.min() < low or truth.t.max() > high):
        raise InputError("lbqid: a time is outside the years 1 to 9999, so it has no place in the calendar.")
    us = truth.t * 1_000_000 if truth.time_format == "epoch" else truth.t
    return us if truth.time_format == "local" or zone == "UTC" else _in_zone(us, zone)


def _in_zone(us: Array, zone: str) -> Array:
    import polars as pl

    local = pl.Series(us).cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    return local.dt.replace_time_zone(None).cast(pl.Int64).to_numpy()


def _check_zone(zone: str) -> None:
    if zone == "UTC":
        return
    import polars as pl

    try:
        if not zone:  # polars would take it for no zone
            raise ValueError
        _in_zone(np.zeros(1, np.int64), zone)
    except (pl.exceptions.PolarsError, ValueError):
        raise ParameterError(
            f"lbqid: zone must be the IANA name of a time zone such as Europe/Berlin, got {zone!r}."
        ) from None


def _granule(day: Array, kind: str) -> Array:
    """Return the number of the day, week or month of days since 1970; a weekend has no weekday."""
    if kind == "day":
        return day
    if kind == "weekday":
        return np.where((day + 3) % 7 < 5, day, _NONE)  # 1970 began on a Thursday
    if kind == "week":
        return (day + 3) // 7
    return day.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64)


def _containing(granule: Array, kind: str, above: str) -> Array:
    """Return the granule above that contains all of a granule, if there is one."""
    # A week belongs to a month only if all of its days do.
    begin, end = (7 * granule - 3, 7 * granule + 3) if kind == "week" else (granule, granule)
    containing = _granule(begin, above)
    return np.where(containing == _granule(end, above), containing, _NONE)


def _codes(*columns: Array) -> Array:
    """Return a code for each row of columns: the same for the same values."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, which = np.unique(column, return_inverse=True)
        code = np.unique(code * max(len(values), 1) + which, return_inverse=True)[1]
    return code


def _chart(witnesses: Array) -> Chart:
    count = np.bincount(np.searchsorted(_CLASSES, witnesses, side="right"), minlength=len(_CLASS_LABELS))
    return Chart(
        title="How many others could be the person of the habit?",
        kind="bars",
        labels=_CLASS_LABELS,
        series=(Series(name="share of people who follow it", values=tuple((count / max(1, count.sum())).tolist())),),
        x_label="other people in all boxes",
        y_label="share of people who follow it",
        percent=True,
    )
