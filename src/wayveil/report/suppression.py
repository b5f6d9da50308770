"""What a report does not show of raw data: places and roads at which only a few people were."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wayveil.model import Chart, Data, Score
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.ragged import IntArray

__all__ = ["MIN_PEOPLE", "count_people_by_code", "suppress_small_counts"]

MIN_PEOPLE = 5
"""Places and groups of raw data with fewer people than this are not shown: a report travels."""

_NUMBERED = ("number of", "roads of a", "places of a", "level in", "time")  # what labels that are numbers count


def suppress_small_counts(scores: Sequence[Score], before: Data) -> tuple[Score, ...]:
    """Return scores whose charts name no place and no road at which fewer than `MIN_PEOPLE` people were.

    Visits with a time, turns and other sequences are left out where the original has so few of them that fewer than
    `MIN_PEOPLE` people could have made them all, each on every trip.

    Examples
    --------
    >>> from wayveil.model import Series, Visits
    >>> data = Visits.from_records([[("market", 1)]] * 5 + [[("cave", 1)]])
    >>> chart = Chart(title="Lost", kind="bars", labels=("cave", "market"), series=(Series(name="n", values=(1, 2)),))
    >>> score = Score(name="loss", meaning="what was lost", value=1, better="lower", unit="count", charts=(chart,))
    >>> [chart.labels for chart in suppress_small_counts([score], data)[0].charts]
    [('market',)]
    """
    rare = _rare(before)
    # One person may have many trips: a count shows at least `MIN_PEOPLE` people only if it is more than four of the
    # busiest person could make.
    trips = int(np.unique(before.owner, return_counts=True)[1].max(initial=1))
    enough = (MIN_PEOPLE - 1) * trips + 1
    shown = []
    for score in scores:
        charts = tuple(_guarded(chart, rare, enough) for chart in score.charts)
        shown.append(replace(score, charts=tuple(chart for chart in charts if chart.labels)))
    return tuple(shown)


def count_people_by_code(code: IntArray, owner: IntArray, size: int) -> IntArray:
    """Return how many distinct people have each code below `size`; a code and an owner per row."""
    if len(code) == 0:
        return np.zeros(size, np.int64)
    # Code and person as one number; each pair once, then counted by code.
    people, inverse = np.unique(owner, return_inverse=True)
    return np.bincount(distinct_values(code * len(people) + inverse) // len(people), minlength=size)


def _rare(data: Data) -> frozenset[str]:
    places = data.places()
    if places is None:
        return frozenset()
    people = count_people_by_code(places.code, data.owner[places.trajectory], len(places.names))
    return frozenset(places.names[i] for i in np.flatnonzero((people > 0) & (people < MIN_PEOPLE)).tolist())


def _guarded(chart: Chart, rare: frozenset[str], enough: int) -> Chart:
    if chart.x_label.startswith(_NUMBERED):
        return chart  # a place may be called "3" as well
    marks = []
    for i, label in enumerate(chart.labels):
        # A label may be a sequence of places with times: each place in it counts.
        parts = [part.rpartition(" @ ")[0] or part for part in label.split(" → ")]
        # Names that were cut off are compared by how they begin.
        cut = tuple(part[:-1] for part in parts if part.endswith("…"))
        named = {label, *parts} & rare or (cut and any(name.startswith(cut) for name in rare))
        first = chart.series[0].values[i] if chart.series else None
        # A sequence is rarer than its places, so its own count must show enough people.
        several = parts != [label] and (first is None or first < enough)
        if not named and not several:
            marks.append(i)
    if len(marks) == len(chart.labels):
        return chart
    left_out = f"{len(chart.labels) - len(marks):,} of fewer than {MIN_PEOPLE} people left out"
    return replace(
        chart,
        labels=tuple(chart.labels[i] for i in marks),
        series=tuple(replace(series, values=tuple(series.values[i] for i in marks)) for series in chart.series),
        lines=tuple(chart.lines[i] for i in marks) if chart.lines else (),
        x_label=f"{chart.x_label}; {left_out}" if chart.x_label else left_out,
    )
