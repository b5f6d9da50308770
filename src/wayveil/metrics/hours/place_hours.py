"""How many visits there are per place and hour of the day, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.distances import largest, top_kept, total_variation
from wayveil.metrics.hours.hours import DayParts
from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.visits.aligned import check_times, hour_of_day
from wayveil.model import Chart, Score, Series, Visits, parameter
from wayveil.model.sums import Same, Tally, side_by_side

__all__ = ["PlaceHours"]

Array = NDArray[Any]

_DRAWN = 12


@dataclass(frozen=True, kw_only=True)
class PlaceHours(OnVisits):
    """How busy places are at each hour of the day, before and after.

    The visits of all days are counted per place and hour.  Where times are plain integers, the time of the original is
    cut into up to 24 equal parts instead.  The headline is the total-variation distance of the two tables as shares of
    all visits: the share of visits that would have to be moved to another place or hour to turn one into the other.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of busiest places and hours that are compared.

    Notes
    -----
    Hours are those of the clock on the wall where times have no offset, else of UTC.  Places are matched by name.
    O(n log n) time at worst and O(n) memory for n visits.  What is counted in pieces is as long as there are places and
    hours, or different places and times where times are plain integers.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 0), ("b", 7200)], [("a", 60), ("b", 7260)]], time_format="epoch")
    >>> after = Visits.from_records([[("a", 0)], [("a", 60), ("b", 7260)]], time_format="epoch")
    >>> score = PlaceHours().run(before, after)
    >>> round(score.value, 3), score.measured["largest_error"]
    (0.167, 1)
    """

    top: int = parameter(
        kind="int", low=1, high=1000, default=20, help="number of busiest places and hours that are compared"
    )

    name: ClassVar[str] = "place_hours"
    summary: ClassVar[str] = "visits per place and hour of the day, before and after"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: visits per place and hour, or time if it is a number."""
        check_times(self.name, original, published)
        time_format = original.time_format
        before, after = (
            Tally.of(
                data.location,
                data.t if time_format == "integer" else hour_of_day(data.t, time_format),
                names=data.locations,
                named=1,
            )
            for data in (original, published)
        )
        return {"time_format": Same(time_format), "before": before, "after": after}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before, after = counts["before"], counts["after"]
        parts = DayParts.of(before.columns[1], counts["time_format"].value)
        if parts.time_format == "integer":
            before, after = (_in_parts(side, parts) for side in (before, after))
        by_hour = [
            np.bincount(side.columns[1], weights=side.counts, minlength=len(parts.labels)).astype(np.int64)
            for side in (before, after)
        ]
        places_moved = total_variation(*side_by_side(before.only(0), after.only(0))[1:])
        table, before, after = side_by_side(before, after)
        error = np.abs(before - after)
        there = before > 0
        return Score(
            name=self.name,
            meaning="share of visits that would need another place or hour to give the original counts",
            value=total_variation(before, after),
            better="lower",
            percent=True,
            measured={
                "visits_before": int(before.sum()),
                "visits_after": int(after.sum()),
                "place_hours_before": int(there.sum()),
                "place_hours_after": int((after > 0).sum()),
                "place_hours_kept_share": float((after[there] > 0).mean()) if there.any() else None,
                "mean_error": float(error[there].mean()) if there.any() else None,
                "mean_relative_error": float((error[there] / before[there]).mean()) if there.any() else None,
                "largest_error": int(error.max(initial=0)),
                f"top_{self.top}_kept_share": top_kept(before, after, self.top),
                "places_moved_share": places_moved,
                "hours_moved_share": total_variation(*by_hour),
            },
            units={"mean_error": "visits", "largest_error": "visits"},
            charts=(
                *parts.chart("Visits by time", "visits", *by_hour),
                *_worst(table, parts, before, after),
            ),
        )


def _in_parts(side: Tally, parts: DayParts) -> Tally:
    """Return counts per place and time as counts per place and part of the time."""
    place, t = side.columns
    return replace(side, columns=(place, parts.part(t))).only(0, 1)


def _worst(table: Tally, parts: DayParts, before: Array, after: Array) -> tuple[Chart, ...]:
    """Return the places and hours whose counts changed the most."""
    top = largest(np.abs(before - after), _DRAWN)
    if not len(top) or not before.any():
        return ()
    drawn = zip(*(column[top].tolist() for column in table.columns), strict=True)
    return (
        Chart(
            title=f"The {len(top)} largest changes" if len(top) > 1 else "The largest change",
            kind="bars",
            labels=tuple(f"{table.names[place]} @ {parts.label(part)}" for place, part in drawn),
            series=(
                Series(name="original", values=tuple(before[top].astype(float).tolist())),
                Series(name="published", values=tuple(after[top].astype(float).tolist())),
            ),
            x_label="place and " + parts.axis,
            y_label="visits",
        ),
    )
