"""Numbers about the rows of a table: duplicates, gaps, speeds, outliers in space and time, and who moves when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from wayveil.io.intake.person_candidates import Person, crowd_size
from wayveil.io.intake.row_layout import coordinates_of
from wayveil.io.intake.table_view import TableView, names_in
from wayveil.io.intake.time_columns import TimeGuess, time_of_rows
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.time_formats import CLOCK, NUMBER

__all__ = ["measure_rows"]

_LONG_GAP_US = 30 * 60 * 10**6
_DAY_US = 86_400 * 10**6
_HOUR_US = 3600 * 10**6
_FAST_M_S = 300 / 3.6
_METRES_PER_DEGREE = 111_320.0
_FAR_M = 500_000.0
_FEW = 0.01
_YEAR_US = 366 * _DAY_US
_MIDDLE = (0.005, 0.995)


def measure_rows(
    view: TableView,
    layout: str,
    where: Mapping[str, Any],
    times: Sequence[TimeGuess],
    trajectory: str,
    people: Sequence[Person],
    degrees: bool | None,
) -> dict[str, Any]:
    """Return numbers by name; what is wrong with rows goes to the problems of the view, as counts."""
    facts: dict[str, Any] = {"duplicate_rows": view.rows - _distinct_rows(view)}
    if facts["duplicate_rows"]:
        view.problems.append(f"{count(facts['duplicate_rows'], 'row')} of {view.rows:,} repeat another row.")
    who = people[0].column if people else ""
    if who:
        facts["people"] = view.shapes[who].distinct if who in view.shapes else 0
    if trajectory:
        facts["trajectories"] = view.shapes[trajectory].distinct
        facts["rows_per_trajectory"] = round(view.rows / max(1, view.shapes[trajectory].distinct), 1)
    _count_empty(view, where, facts)
    if times and times[0].fits and (trajectory or who) and layout in ("visits", "points"):
        facts |= _measure_movement(view, trajectory or who, times[0], where, degrees)
    if layout == "trips" and len(times) == 2 and all(time.dated for time in times):
        _count_backward(view, times, facts)
    if times and times[0].dated:
        _count_odd_times(view, times[0], facts)
    if "x" in where or "geometry" in where:
        _count_odd_places(view, where, degrees, facts)
    return facts


def _distinct_rows(view: TableView) -> int:
    # Nested columns cannot be compared, and no row is told apart by them alone.
    plain = [name for name in view.frame.columns if not view.frame[name].dtype.is_nested()]
    if any(view.shapes[name].distinct == view.rows for name in plain):
        return view.rows  # no row can repeat another where a column never does
    return view.frame.select(plain).n_unique()


def _count_empty(view: TableView, where: Mapping[str, Any], facts: dict[str, Any]) -> None:
    for ours, names in where.items():
        for name in (names,) if isinstance(names, str) else names:
            empty = round(view.shapes[name].missing * view.rows)
            facts["rows_without_place"] = facts.get("rows_without_place", 0) + empty
            if empty:
                view.problems.append(f"Column '{name}' ({ours}) is empty in {count(empty, 'row')}.")


def _count_backward(view: TableView, times: Sequence[TimeGuess], facts: dict[str, Any]) -> None:
    """Count trips that end before they begin."""
    begin, end = (time_of_rows(view, time) for time in times)
    backward = int((end < begin).sum())
    if backward:
        facts["trips_that_end_before_they_begin"] = backward
        view.problems.append(f"{count(backward, 'trip')} of {view.rows:,} end before they begin.")


def _count_odd_times(view: TableView, time: TimeGuess, facts: dict[str, Any]) -> None:
    """Count times far from nearly all others: more than a year, and ten times all the time of the others, away."""
    moments = time_of_rows(view, time)
    low, high = (moments.quantile(share, "nearest") for share in _MIDDLE)
    if low is None or high is None:
        return
    # Ten times the middle 99 percent: a year of data has no outlier for being long.
    reach = max(_YEAR_US, 10 * int(high - low))
    odd = int(((moments < int(low) - reach) | (moments > int(high) + reach)).sum())
    if odd:
        facts["times_far_from_others"] = odd
        view.problems.append(f"{count(odd, 'time')} more than a year away from nearly all others: outliers in time.")


def _count_odd_places(view: TableView, where: Mapping[str, Any], degrees: bool | None, facts: dict[str, Any]) -> None:
    """Count positions at 0, 0, outside the range of degrees, and far from nearly all others."""
    pair = coordinates_of(view, where)
    if pair is None:
        return
    x, y = pair
    zeros = int(((x == 0) & (y == 0)).sum())
    if zeros:
        facts["positions_at_zero"] = zeros
        view.problems.append(f"{count(zeros, 'position')} at 0, 0: probably no position was known.")
    unread = view.rows - int((x.is_finite() & y.is_finite()).fill_null(False).sum())
    # Empty rows were counted elsewhere; what is left is text in the place of a number.
    text = unread - facts.get("rows_without_place", 0)
    if text > 0:
        facts["positions_that_are_no_numbers"] = text
        view.problems.append(f"{count(text, 'position')} that are no numbers.")
    if degrees is not False:
        outside = int(((x.abs() > 180) | (y.abs() > 90)).sum())
        if outside:
            facts["positions_outside_degrees"] = outside
            view.problems.append(f"{count(outside, 'position')} outside the range of degrees: no position was known.")
    # Degrees are compared in metres of latitude; that longitudes are shorter does not matter for 500 km.
    scale = _METRES_PER_DEGREE if degrees is not False else 1.0
    odd = pl.Series([False]).new_from_index(0, len(x))
    for values in (x, y):
        low, high = (values.quantile(share, "nearest") for share in _MIDDLE)
        if low is None or high is None:
            return
        reach = max(_FAR_M / scale, 3 * float(high - low))
        odd = odd | (values < float(low) - reach) | (values > float(high) + reach)
    far = int(odd.sum())
    # More than one in a hundred are no outliers but a second region.
    if 0 < far <= _FEW * view.rows:
        facts["positions_far_from_others"] = far
        view.problems.append(f"{count(far, 'position')} far from nearly all others: outliers in space.")


def _measure_movement(
    view: TableView, group: str, time: TimeGuess, where: Mapping[str, Any], degrees: bool | None
) -> dict[str, Any]:
    """Return gaps, duplicate times and speeds of rows in the order of time, for each trajectory or person."""
    form = time.fits[0].format
    # Times of rows without a date are seconds; everything below is in microseconds.
    unit = 1 if time.dated or form == CLOCK else 10**6
    code = view.text[group].cast(pl.Categorical).to_physical()
    columns = {"g": code, "t": time_of_rows(view, time) * unit}
    pair = coordinates_of(view, where)
    if pair is not None:
        columns |= dict(zip("xy", pair, strict=True))
    table = pl.DataFrame(columns).drop_nulls()
    if not table.height:
        return {}
    ordered = table.sort("g", "t", maintain_order=True)
    # Rows of the same trajectory or person, one after the other in time.
    same = pl.col("g") == pl.col("g").shift(1)
    step = pl.col("t").diff()
    facts: dict[str, Any] = {}
    if pair is not None:
        facts["people_move_at_one_time"] = _moving_together(table) if time.dated else None
    again = ordered.select((same & (step == 0)).sum()).item()
    if again:
        facts["rows_at_the_time_of_another"] = again
        view.problems.append(f"{count(again, 'row')} have the time of another row of the same trajectory or person.")
    # A count of hours or days without a date comes again for everybody: perhaps another column has the day.
    if form == NUMBER and 4 * again > table.height:
        day = _find_day_count(view, group, time, where)
        facts |= {"tells_times_apart": day} if day else {}
    if form in (NUMBER, CLOCK):
        facts["numbers_of_time"] = table.select(pl.col("t").max() - pl.col("t").min()).item() // 10**6 + 1
        return facts
    facts["gaps_over_30_minutes"] = ordered.select((same & (step > _LONG_GAP_US)).sum()).item()
    median = ordered.select(step.filter(same & (step > 0)).median()).item()
    if median is not None:
        facts["seconds_between_rows"] = median / 10**6
    facts["days"] = table.select((pl.col("t").max() - pl.col("t").min()) // _DAY_US).item() + 1
    if pair is not None:
        scale = _METRES_PER_DEGREE if degrees is not False else 1.0
        # Longitudes shrink with the cosine of the latitude: an equirectangular distance, good enough to see 300 km/h.
        squeeze = (pl.col("y").radians().cos() if degrees is not False else pl.lit(1.0)) * scale
        distance = ((pl.col("x").diff() * squeeze) ** 2 + (pl.col("y").diff() * scale) ** 2).sqrt()
        # Less than a kilometre apart, a wrong second makes any speed: such steps are not counted.
        fast = ordered.select((same & (distance > _FAST_M_S * step / 10**6) & (distance > 1000)).sum()).item()
        if fast:
            facts["steps_faster_than_300_km_h"] = fast
            view.problems.append(f"{count(fast, 'step')} faster than 300 km/h: outliers in space or time.")
    return facts


def _find_day_count(view: TableView, group: str, time: TimeGuess, where: Mapping[str, Any]) -> str:
    """Return the column of small whole numbers that, with the time, tells all rows of a person apart; "" for none.

    More than seven different ones: a weekday is no count of days.
    """
    used = {group, *names_in(where, (time,))}
    for name, shape in view.shapes.items():
        if name in used or shape.type != "whole numbers" or shape.missing or not 7 < shape.distinct <= view.rows // 4:
            continue
        keys = pl.DataFrame({"g": view.text[group], "d": view.text[name], "t": view.text[time.columns[0]]})
        if keys.n_unique() >= 0.99 * view.rows:
            return name
    return ""


def _moving_together(table: pl.DataFrame) -> float:
    """Return the share of rows in an hour in which k people are under way."""
    k = max(2, crowd_size(table["g"].n_unique()))
    # Whether a method that needs people moving together has a chance: in what share of the rows are k people under way.
    cut = table.select("g", w=pl.col("t") // _HOUR_US).group_by("w")
    met = cut.agg(pl.len().alias("n"), pl.col("g").n_unique().alias("people"))
    return round(float(met.filter(pl.col("people") >= k)["n"].sum()) / table.height, 3)
