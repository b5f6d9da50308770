"""What measures of flows share: trips counted from where to where, before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Score, Series
from wayveil.utility.distances import top_kept, total_variation
from wayveil.utility.roads import counts, largest

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
    names: Sequence[str],
    before: tuple[Array, Array],
    after: tuple[Array, Array],
    top: int,
    more: dict[str, int | float | None] | None = None,
) -> Score:
    """Return the score of flows between codes into `names`, given as origins and destinations of all trips."""
    n = len(names)
    keys, old, new = counts(*(origin * n + destination for origin, destination in (before, after)))
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
            "origins_moved_share": total_variation(*counts(before[0], after[0])[1:]),
            "destinations_moved_share": total_variation(*counts(before[1], after[1])[1:]),
            **(more or {}),
        },
        charts=_charts(what, names, keys, old, new),
    )


def _charts(what: str, names: Sequence[str], keys: Array, before: Array, after: Array) -> tuple[Chart, ...]:
    top = largest(before, _DRAWN)
    if not len(top):
        return ()
    n = len(names)
    return (
        Chart(
            title=f"The {len(top)} largest flows" if len(top) > 1 else "The largest flow",
            kind="bars",
            labels=tuple(f"{names[key // n]} → {names[key % n]}" for key in keys[top].tolist()),
            series=(
                Series(name="original", values=tuple(before[top].astype(float).tolist())),
                Series(name="published", values=tuple(after[top].astype(float).tolist())),
            ),
            x_label=f"from {what} to {what}",
            y_label="trips",
        ),
    )
