"""How coarse what is published is, in metres and minutes: the median box, how far points were moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wayveil.errors import UsageError
from wayveil.model import Data, Points, seconds_per_unit
from wayveil.model.data.ragged import FloatArray, IntArray, trajectory_of_row
from wayveil.yardstick.footprint import make_space, trace

__all__ = ["describe_sizes", "interpolated_share", "length_text", "time_text"]

_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86_400


def describe_sizes(prepared: Data, published: Data, steps: Sequence[Any], source: IntArray | None = None) -> str:
    """Return the sizes of what is published, in a few words; "" where nothing became coarser.

    Parameters
    ----------
    prepared : Data
        What the method worked on.
    published : Data
        What it made, one trajectory for each of `prepared`, or for each of `source`.
    steps : sequence of steps
        What was done before.
    """
    if not published.n_rows:
        return ""
    if isinstance(published, Points) and isinstance(prepared, Points):
        return _moved(prepared, published, source)
    try:
        footprint = trace(published, make_space(prepared), steps=steps)
    except UsageError:
        return ""
    wide, high, long = (float(np.median(side[1] - side[0])) for side in (footprint.x, footprint.y, footprint.t))
    lasting = ""
    if long > 0 and np.isfinite(long):
        lasting = time_text(long) if footprint.dated else f"{long:,.0f} units of time"
    return published.size_text(_sides(wide, high), lasting, has_extent=footprint.metres and wide > 0)


def interpolated_share(before: Points, after: Points) -> float:
    """Return the share of points after a step at times at which nothing had been recorded.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0, 0), (10, 1, 0)]])
    >>> interpolated_share(before, Points.from_records([[(0, 0, 0), (5, 0.5, 0), (8, 0.8, 0), (10, 1, 0)]]))
    0.5
    """
    if not after.n_rows:
        return 0.0
    known, comparable = (_moments(data) for data in (before, after))
    return float(1 - np.isin(comparable, known).mean())


def length_text(metres: float) -> str:
    """Return a length as people read it.

    Examples
    --------
    >>> length_text(431.2), length_text(2440.0), length_text(31_000.0)
    ('431 m', '2.4 km', '31 km')
    """
    if metres < 1000:
        return f"{metres:.0f} m"
    return f"{metres / 1000:.1f} km" if metres < 10_000 else f"{metres / 1000:,.0f} km"


def time_text(seconds: float) -> str:
    """Return a duration as people read it.

    Examples
    --------
    >>> time_text(30), time_text(540), time_text(14_400), time_text(172_800)
    ('30 s', '9 min', '4 h', '2 d')
    """
    for unit, word in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if seconds >= unit * (1.5 if seconds % unit else 1):
            return f"{seconds / unit:.3g} {word}"
    return f"{seconds:.0f} s"


def _sides(wide: float, high: float) -> str:
    """Return two sides in one unit, as in 2.4 x 3.2 km."""
    one = length_text(wide)
    other = length_text(high)
    if one.split(" ")[1] == other.split(" ")[1]:
        one = one.split(" ")[0]
    return f"{one} x {other}"


def _moved(prepared: Points, published: Points, source: IntArray | None) -> str:
    """Return how far a median point is from the point of its trajectory that it stands for, and in time.

    Where a trajectory has another number of points than before, points stand for those at the same share of its way.
    """
    of = np.arange(len(published)) if source is None else source
    comparable = published.nonempty & (of >= 0)
    comparable[comparable] &= prepared.lengths[of[comparable]] > 0
    row = comparable[trajectory_of_row(published.offsets)]
    if not row.any():
        return ""
    trajectory = trajectory_of_row(published.offsets)[row]
    rank = np.flatnonzero(row) - published.offsets[trajectory]
    last = np.maximum(published.lengths[trajectory] - 1, 1)
    match = prepared.offsets[of[trajectory]] + np.rint(
        rank * (prepared.lengths[of[trajectory]] - 1) / last
    ).astype(np.int64)  # fmt: skip
    x, y = _metres(published, prepared)
    far = np.hypot(x[row] - prepared.x[match], y[row] - prepared.y[match])
    late = np.abs(published.t[row] - prepared.t[match]).astype(np.float64)
    unit = seconds_per_unit(published.time_format)
    when = f"{float(np.median(late)):,.0f} units of time" if unit is None else time_text(float(np.median(late)) * unit)
    return f"points moved by {length_text(float(np.median(far)))} and {when} (median)"


def _metres(published: Points, prepared: Points) -> tuple[FloatArray, FloatArray]:
    if published.frame == prepared.frame or not (published.frame.degrees and prepared.frame.degrees):
        return published.x, published.y
    return prepared.frame.to_metres(*published.frame.to_file(published.x, published.y))


def _moments(data: Points) -> IntArray:
    """Return a number for each trajectory and time; two share one in fewer than one of a billion cases."""
    mixed = trajectory_of_row(data.offsets).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed + data.t.astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)).view(np.int64)
