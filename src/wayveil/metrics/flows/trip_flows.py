"""What measures of flows share: trips counted from where to where, before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.distances import largest, top_kept, total_variation
from wayveil.model import Chart, Score, Series
from wayveil.model.sums import Tally, side_by_side

__all__ = ["ends_of_trips", "score_flows"]

Array = NDArray[Any]

_DRAWN = 12


def ends_of_trips(offsets: Array, begin: Array, end: Array) -> tuple[Array, Array]:
    """Return `begin` of the first and `end` of the last row of each trajectory with rows.

    Examples
    --------
    >>> place = np.array([5, 6, 7])
    >>> [side.tolist() for side in ends_of_trips(np.array([0, 2, 2, 3]), place, place)]
    [[5, 7], [6, 7]]
    """
    there = np.diff(offsets) > 0
    return begin[offsets[:-1][there]].astype(np.int64), end[offsets[1:][there] - 1].astype(np.int64)


def score_flows(
    name: str,
    what: str,
    before: Tally,
    after: Tally,
    top: int,
    more: dict[str, int | float | None] | None = None,
) -> Score:
    """Return the score of flows, counted by the names of their origins and destinations."""
    flows, old, new = side_by_side(before, after)
    there = old > 0
    return Score(
        name=name,
        meaning="share of trips that would need another origin or destination to give the original flows",
        value=total_variation(old, new),
        better="lower",
        percent=True,
        measured={
            "trips_before": int(old.sum()),
            "trips_after": int(new.sum()),
            "flows_before": int(there.sum()),
            "flows_after": int((new > 0).sum()),
            "flows_kept_share": float((new[there] > 0).mean()) if there.any() else None,
            f"top_{top}_flows_kept_share": top_kept(old, new, top),
            "origins_moved_share": _moved(before, after, 0),
            "destinations_moved_share": _moved(before, after, 1),
            **(more or {}),
        },
        charts=_charts(what, flows, old, new),
    )


def _moved(before: Tally, after: Tally, end: int) -> float | None:
    _, old, new = side_by_side(before.only(end), after.only(end))
    return total_variation(old, new)


def _charts(what: str, flows: Tally, before: Array, after: Array) -> tuple[Chart, ...]:
    top = largest(before, _DRAWN)
    if not len(top):
        return ()
    ends = zip(*(column[top].tolist() for column in flows.columns), strict=True)
    return (
        Chart(
            title=f"The {len(top)} largest flows" if len(top) > 1 else "The largest flow",
            kind="bars",
            labels=tuple(f"{flows.names[origin]} → {flows.names[destination]}" for origin, destination in ends),
            series=(
                Series(name="original", values=tuple(before[top].astype(float).tolist())),
                Series(name="published", values=tuple(after[top].astype(float).tolist())),
            ),
            x_label=f"from {what} to {what}",
            y_label="trips",
        ),
    )
