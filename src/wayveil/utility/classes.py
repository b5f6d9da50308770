"""Distributions as people read them: classes with round borders, the same for original and published data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Series, TimeFormat

__all__ = ["AREAS", "LENGTHS", "distribution", "durations"]

Array = NDArray[Any]
Units = tuple[tuple[float, str], ...]

LENGTHS: Units = ((1, "m"), (1000, "km"))
AREAS: Units = ((1, "m²"), (1_000_000, "km²"))
_TIMES: Units = ((1, "s"), (60, "min"), (3600, "h"), (86_400, "days"))

_CLASSES = 12
_BORDER = 1e-9  # so that rounding does not put half of the values on a border below it
_LEFT_OUT = 0.02  # the largest values share one open class, so that a single one cannot hide all others


def durations(time_format: TimeFormat) -> Units:
    """Return the units of durations in seconds, or the one unit of plain integers."""
    return ((1, "units of time"),) if time_format == "integer" else _TIMES


def distribution(
    title: str, what: str, units: Units, columns: Sequence[tuple[str, Array]], y_label: str
) -> tuple[Chart, ...]:
    """Return one chart of the shares of values per class, a series per named column; none without values.

    Examples
    --------
    >>> chart, = distribution("Ways", "length", LENGTHS, [("original", np.array([0.0, 1500, 2500]))], "share")
    >>> chart.x_label, chart.labels[0], chart.labels[-1], chart.series[0].values[0]
    ('length in km', '0-0.5', '2.5-3', 0.3333333333333333)
    """
    there = [values for _, values in columns if len(values)]
    if not there or not all(np.isfinite(values).all() for values in there):
        return ()
    largest = max(float(values.max()) for values in there)
    usual = max(float(np.quantile(values, 1 - _LEFT_OUT, method="higher")) for values in there)
    size, unit = next((u for u in reversed(units) if u[0] * 2 <= (usual or largest)), units[0])
    step = _round_up((usual or largest) / size / _CLASSES)
    last = max(1, math.floor((usual or largest) / size / step) + 1)
    labels = [f"{_text(i * step)}-{_text((i + 1) * step)}" for i in range(last)]
    if largest / size >= last * step:
        labels.append(f"≥ {_text(last * step)}")
    if largest == 0:
        labels = ["0"]
    series = []
    for name, values in columns:
        place = np.minimum(np.floor(values / size / step + _BORDER), len(labels) - 1).astype(np.int64)
        shares = np.bincount(place, minlength=len(labels)) / max(1, len(values))
        series.append(Series(name=name, values=tuple(shares.tolist())))
    return (
        Chart(
            title=title,
            kind="bars",
            labels=tuple(labels),
            series=tuple(series),
            x_label=f"{what} in {unit}",
            y_label=y_label,
            percent=True,
        ),
    )


def _round_up(value: float) -> float:
    """Return the smallest of 1, 2 and 5 times a power of ten that is not below `value`; 1 for next to nothing."""
    if value < 1e-300:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((digit * power for digit in (1, 2, 5) if digit * power >= value), 10 * power)


def _text(value: float) -> str:
    return f"{value:.10g}"
