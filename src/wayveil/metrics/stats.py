"""Distributions before and after: how far apart they are, and how people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.movement import finite, round_up
from wayveil.model import Chart, Number, Series, TimeFormat
from wayveil.model.accumulators import Tally, side_by_side
from wayveil.model.numbers import amount, measure

__all__ = [
    "AREAS",
    "LENGTHS",
    "average",
    "count_chart",
    "counts_lost",
    "distribution",
    "durations",
    "largest",
    "paired_bars",
    "tally_of_sizes",
    "time_amount",
    "top_kept",
    "total_variation",
    "value_distances",
]

Array = NDArray[Any]

Units = tuple[tuple[float, str], ...]

LENGTHS: Units = ((1, "m"), (1000, "km"))
AREAS: Units = ((1, "m²"), (1_000_000, "km²"))
_TIMES: Units = ((1, "s"), (60, "min"), (3600, "h"), (86_400, "days"))

_CLASSES = 12
_DIGITS = 3  # enough for every border of a class to be one of the numbers that are counted
_FAR = 300  # powers of ten below which a number is next to nothing
_BORDER = 1e-9  # so that rounding does not put half of the values on a border below it
_LEFT_OUT = 0.02  # the largest values share one open class, so that a single one cannot hide all others


def durations(time_format: TimeFormat) -> Units:
    """Return the units of durations in seconds, or the one unit of plain integers."""
    return ((1, "units of time"),) if time_format == "integer" else _TIMES


def time_amount(value: float | None, time_format: TimeFormat, label: str) -> Number:
    """Return a span of time: in seconds, or in units of time where times are plain integers."""
    if time_format == "integer":
        return amount(value, label, "units of time")
    return measure(value, "s", label)


def distribution(
    title: str, what: str, units: Units, columns: Sequence[tuple[str, Array | Tally]], y_label: str
) -> tuple[Chart, ...]:
    """Return one chart of the shares of values per class, a series per named column; none without values.

    The values may have been counted already.

    Examples
    --------
    >>> chart, = distribution("Ways", "length", LENGTHS, [("original", np.array([0.0, 1500, 2500]))], "share")
    >>> chart.x_label, chart.labels[0], chart.labels[-1], chart.series[0].values[0]
    ('length in km', '0-0.5', '2.5-3', 0.3333333333333333)
    """
    nonempty = [values for _, values in columns if len(values)]
    if not nonempty or not all(np.isfinite(_different(values)).all() for values in nonempty):
        return ()
    largest = max(float(_different(values).max()) for values in nonempty)
    # The class width follows from what nearly all values are below; the rest shares one open class.
    usual = max(_usual(values) for values in nonempty)
    # The largest unit of which the usual value has at least two: 1500 m are km, 900 m are not.
    size, unit = next((u for u in reversed(units) if u[0] * 2 <= (usual or largest)), units[0])
    step = round_up((usual or largest) / size / _CLASSES)
    # The last closed class holds the usual largest value.
    last = max(1, math.floor((usual or largest) / size / step) + 1)
    labels = [f"{_text(i * step)}-{_text((i + 1) * step)}" for i in range(last)]
    if largest / size >= last * step:
        labels.append(f"≥ {_text(last * step)}")
    if largest == 0:
        labels = ["0"]
    series = []
    for name, values in columns:
        # A value on a border belongs to the class above it.
        place = np.minimum(np.floor(_different(values) / size / step + _BORDER), len(labels) - 1).astype(np.int64)
        counts, total = (values.counts, values.total) if isinstance(values, Tally) else (None, len(values))
        shares = np.bincount(place, weights=counts, minlength=len(labels)) / max(1, total)
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


def paired_bars(
    title: str,
    labels: tuple[str, ...],
    before: Array,
    after: Array,
    *,
    x_label: str,
    y_label: str,
    names: Sequence[tuple[str, ...]] = (),
) -> Chart:
    """Return counts before and after side by side, one pair per label; `names` are those of `Chart`.

    Examples
    --------
    >>> chart = paired_bars("Trips", ("a", "b"), np.array([1, 2]), np.array([0, 2]), x_label="to", y_label="trips")
    >>> [series.values for series in chart.series]
    [(1.0, 2.0), (0.0, 2.0)]
    """
    return Chart(
        title=title,
        kind="bars",
        labels=labels,
        series=(
            Series(name="original", values=tuple(before.astype(float).tolist())),
            Series(name="published", values=tuple(after.astype(float).tolist())),
        ),
        x_label=x_label,
        y_label=y_label,
        names=tuple(names),
    )


def tally_of_sizes(values: Array) -> Tally:
    """Count values from 0 on by their first three digits: all that a `distribution` shows, however many there are.

    Examples
    --------
    >>> tally_of_sizes(np.array([0.0, 1234.5, 1239.9, 0.05, 999.9999999999])).values.tolist()
    [0.0, 0.05, 1000.0, 1230.0]
    """
    is_positive = np.isfinite(values) & (values > 0)
    # Value = digits x 10^(power - 2), with three digits: two small numbers that blocks can count and add, where all
    # different lengths of a million trips could not.
    power = np.maximum(np.floor(np.log10(np.where(is_positive, values, 1.0))), -_FAR).astype(np.int64)
    shifted = np.where(is_positive, values, 0.0) / 10.0 ** (power - _DIGITS + 1)
    digits = np.floor(shifted + _BORDER * 10 ** (_DIGITS - 1)).astype(np.int64)
    over = digits == 10**_DIGITS
    digits[over] //= 10
    power[over] += 1
    power[~is_positive] = np.where(np.isfinite(values[~is_positive]), -_FAR, 2 * _FAR)
    tally = Tally.of(power, digits)
    power, digits = tally.columns
    scale = 10.0 ** np.abs(np.minimum(power, _FAR + 8) - _DIGITS + 1)
    sizes = np.where(power < _DIGITS - 1, digits / scale, digits * scale)
    return Tally(columns=(np.where(power == 2 * _FAR, np.inf, sizes),), counts=tally.counts)


def _different(values: Array | Tally) -> Array:
    return values.values if isinstance(values, Tally) else values


def _usual(values: Array | Tally) -> float:
    """Return a value that nearly all are not above."""
    if not isinstance(values, Tally):
        return float(np.quantile(values, 1 - _LEFT_OUT, method="higher"))
    # The position of the quantile among all values, found in the running sum of counts.
    place = math.ceil((values.total - 1) * (1 - _LEFT_OUT))
    return float(values.values[np.searchsorted(np.cumsum(values.counts), place, side="right")])


def _text(value: float) -> str:
    return f"{value:.10g}"


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
    # Many large numbers want classes; few of them fit into bars of single numbers.
    if max(_share(side, side.values >= _BARS) for _, side in sides if len(side)) > _FEW_LEFT:
        drawing = distribution(title, "number", ((1, unit),), sides, "share of trips")
        return tuple(replace(chart, x_label=f"number of {unit}") for chart in drawing)
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


def total_variation(before: Array, after: Array) -> float | None:
    """Return half the sum of the differences of two sets of counts as shares; None where one has only zeros.

    It is the share that would have to be moved to turn one into the other.

    Examples
    --------
    >>> total_variation(np.array([2, 2]), np.array([1, 0])), total_variation(np.array([1]), np.array([0]))
    (0.5, None)
    """
    if not before.any() or not after.any():
        return None
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def counts_lost(before: Array, after: Array) -> float | None:
    """Return the share of all counts that are gone or somewhere else; None where there was nothing to count.

    It is 1 less what both have in common, as a share of the larger one of the two sums.  Of sums that are equal it is
    the total variation; unlike that it sees a loss that is even, and what was added.

    Examples
    --------
    >>> counts_lost(np.array([2, 2]), np.array([1, 1])), counts_lost(np.array([2, 2]), np.array([3, 1]))
    (0.5, 0.25)
    >>> counts_lost(np.array([1]), np.array([0])), counts_lost(np.array([0]), np.array([1]))
    (1.0, None)
    """
    if not before.any():
        return None
    lost = 1 - float(np.minimum(before, after).sum()) / max(float(before.sum()), float(after.sum()))
    return max(0.0, lost)


def top_kept(before: Array, after: Array, top: int) -> float | None:
    """Return the share of the largest counts before that are among the largest after; ties at the end count as in.

    Examples
    --------
    >>> top_kept(np.array([9, 8, 1]), np.array([3, 0, 4]), 2)
    0.5
    """
    old = largest(before, top)
    if not len(old):
        return None
    new = largest(after, top)
    # The smallest of the largest after: whoever ties with it is in.
    bar = after[new].min() if len(new) else 1
    return float((after[old] >= bar).mean())


def value_distances(before: Array | Tally, after: Array | Tally) -> tuple[float | None, float | None]:
    """Return the Kolmogorov-Smirnov and the earth mover's distance of two sets of values; None if one is empty.

    The values may have been counted already.

    Examples
    --------
    >>> value_distances(np.array([1.0, 2.0]), np.array([1.0, 4.0]))
    (0.5, 1.0)
    """
    if not len(before) or not len(after):
        return None, None
    sides = [side if isinstance(side, Tally) else Tally.of(side) for side in (before, after)]
    both, *counts = side_by_side(*sides)
    # Shares up to each value, of both sides, at all values of either.
    below = [np.cumsum(count) / side.total for count, side in zip(counts, sides, strict=True)]
    apart = np.abs(below[0] - below[1])
    # Kolmogorov-Smirnov: the largest gap between the two lines.  Earth mover's: the area between them.
    return float(apart.max()), finite((apart[:-1] * np.diff(both.values)).sum())


def average(values: Array | Tally) -> float | None:
    """Return the mean; None where there are no values, or where it is too large for a number.

    Examples
    --------
    >>> average(np.array([1, 2])), average(Tally.of(np.array([1, 1, 4])))
    (1.5, 2.0)
    """
    if not len(values):
        return None
    if isinstance(values, Tally):
        return finite((values.values * values.counts.astype(np.float64)).sum() / values.total)
    return finite(values.mean())


def largest(counts: Array, most: int) -> Array:
    """Return the positions of the `most` largest counts, none of them 0; ties in order of position.

    Examples
    --------
    >>> largest(np.array([0, 2, 5, 2]), 2).tolist(), largest(np.array([0]), 2).tolist()
    ([2, 1], [])
    """
    rank = np.argsort(-counts, kind="stable")[:most]
    return rank[counts[rank] > 0]
