"""What a report does not show of raw data: places and roads at which only a few people were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.model import Chart, Data, Score
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import IntArray

__all__ = ["MIN_PEOPLE", "count_people_behind", "count_people_by_code", "suppress_small_counts"]

MIN_PEOPLE = 5
"""Places and groups of raw data with fewer people than this are not shown: a report travels."""


def suppress_small_counts(scores: Sequence[Score], before: Data, *, fewest: int = MIN_PEOPLE) -> tuple[Score, ...]:
    """Return scores whose charts say how many people are behind a mark, and have no mark of fewer than `fewest`.

    Where a mark names one place or road, all people who were there are counted.  Of several things together (a place
    and a time, two ends of a trip) it is only known how often they occur in the original: that many trips are at least
    of as many people as there must be if everybody made as many of them as the person with most trips.

    Examples
    --------
    >>> from wayveil.model import Series, Visits
    >>> data = Visits.from_records([[("market", 1)]] * 5 + [[("cave", 1)]])
    >>> bars = (Series(name="n", values=(1, 2)),)
    >>> chart = Chart(
    ...     title="Lost", kind="bars", labels=("cave", "market"), series=bars, names=(("cave",), ("market",))
    ... )
    >>> score = Score(name="loss", meaning="what was lost", value=1, better="lower", unit="count", charts=(chart,))
    >>> [(chart.labels, chart.series[0].people) for chart in suppress_small_counts([score], data)[0].charts]
    [(('market',), (5,))]
    """
    people = _people_by_name(before)
    # One person may have many trips: a count shows at least `MIN_PEOPLE` people only if it is more than four of the
    # busiest person could make.
    trips = int(np.unique(before.owner, return_counts=True)[1].max(initial=1))
    shown = []
    for score in scores:
        charts = tuple(_without_few(count_people_behind(chart, people, trips), fewest) for chart in score.charts)
        shown.append(replace(score, charts=tuple(chart for chart in charts if chart.labels)))
    return tuple(shown)


def count_people_behind(chart: Chart, people: Mapping[str, int], trips: int) -> Chart:
    """Return a chart whose first series says how many people are behind each mark, at least; None where it names none.

    `people` are those at each place or road, and `trips` is the most that one person has.
    """
    if not chart.names or not chart.series:
        return chart
    first = chart.series[0]
    counts: list[int | None] = []
    for names, value in zip(chart.names, first.values, strict=True):
        bounds = [people[name] for name in names if name in people]
        if len(names) > 1:
            bounds.append(0 if value is None else -(-int(value) // trips))
        counts.append(min(bounds) if bounds else None)
    return replace(chart, series=(replace(first, people=tuple(counts)), *chart.series[1:]))


def count_people_by_code(code: IntArray, owner: IntArray, size: int) -> IntArray:
    """Return how many distinct people have each code below `size`; a code and an owner per row."""
    if len(code) == 0:
        return np.zeros(size, np.int64)
    # Code and person as one number; each pair once, then counted by code.
    people, inverse = np.unique(owner, return_inverse=True)
    return np.bincount(distinct_values(code * len(people) + inverse) // len(people), minlength=size)


def _people_by_name(data: Data) -> dict[str, int]:
    """Return how many people were at each place, or on each road; those with nobody are left out."""
    places = data.places()
    if places is None:
        return {}
    people = count_people_by_code(places.code, data.owner[places.trajectory], len(places.names))
    return {places.names[i]: int(people[i]) for i in np.flatnonzero(people).tolist()}


def _without_few(chart: Chart, fewest: int) -> Chart:
    """Return a chart without the marks of fewer than `fewest` people; its axis says how many these were."""
    if not chart.series or not chart.series[0].people:
        return chart
    people = chart.series[0].people
    marks = [i for i, count in enumerate(people) if count is None or count >= fewest]
    if len(marks) == len(chart.labels):
        return chart
    left_out = f"{len(chart.labels) - len(marks):,} of fewer than {fewest} people left out"

    def keep(values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(values[i] for i in marks) if values else ()

    return replace(
        chart,
        labels=keep(chart.labels),
        series=tuple(
            replace(series, values=keep(series.values), people=keep(series.people)) for series in chart.series
        ),
        lines=keep(chart.lines),
        names=keep(chart.names),
        x_label=f"{chart.x_label}; {left_out}" if chart.x_label else left_out,
    )
