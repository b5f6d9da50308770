"""Small whole numbers as people read them: one bar per number, before and after."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.classes import distribution
from wayveil.model import Chart, Series
from wayveil.model.sums import Tally

__all__ = ["count_chart"]

Array = NDArray[Any]

_BARS = 12
_FEW_LEFT = 0.05  # the largest numbers may share the last bar if not more than this are in it


def count_chart(title: str, unit: str, before: Tally, after: Tally) -> tuple[Chart, ...]:
    """Return the shares of trips per number, from 1 on; in wider classes where there are many numbers.

    Examples
    --------
    >>> chart, = count_chart("Visits", "visits", Tally.of(np.array([1, 2, 2])), Tally.of(np.array([1, 1])))
    >>> chart.labels, [series.values for series in chart.series]
    (('1', '2'), [(0.3333333333333333, 0.6666666666666666), (1.0, 0.0)])
    """
    sides = [("original", before), ("published", after)]
    if not len(before) and not len(after):
        return ()
    if max(_share(side, side.values >= _BARS) for _, side in sides if len(side)) > _FEW_LEFT:
        found = distribution(title, "number", ((1, unit),), sides, "share of trips")
        return tuple(replace(chart, x_label=f"number of {unit}") for chart in found)
    most = max(int(side.values.max()) for _, side in sides if len(side))
    labels = [str(number) for number in range(1, min(most, _BARS) + 1)]
    if most > _BARS:
        labels[-1] = f"≥ {_BARS}"
    return (
        Chart(
            title=title,
            kind="bars",
            labels=tuple(labels),
            series=tuple(
                Series(
                    name=name,
                    values=tuple(
                        _share(side, np.minimum(side.values, _BARS) == number) for number in range(1, len(labels) + 1)
                    ),
                )
                for name, side in sides
            ),
            x_label=f"number of {unit}",
            y_label="share of trips",
            percent=True,
        ),
    )


def _share(side: Tally, which: Array) -> float:
    return int(side.counts[which].sum()) / max(1, side.total)
