"""One ruler for fine and coarse publications of one file: what of its use is gone, at a resolution that somebody names.

Raw rows are counted by square cells of so many metres and parts of the week of so many minutes.  What is published is
counted by the same cells and parts, each row wherever it may have been, as an expected number.  So a coarse zone counts
a little in each of its cells, and what was suppressed counts nowhere: neither is free.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from wayveil.errors import UsageError
from wayveil.metrics.movement import round_up
from wayveil.metrics.stats import counts_lost
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.yardstick.footprint import Footprint, Space

__all__ = ["DEFAULT_USES", "USES", "FairLoss", "RawUse", "Resolution", "Use", "choose_resolution", "parse_resolution"]

Use = Literal["flows", "hours", "lengths", "routes", "patterns", "points"]
USES: Mapping[str, str] = {
    "flows": "trips from cell to cell",
    "hours": "trips in a cell at an hour of the week",
    "lengths": "how far trips go",
    "routes": "moves from cell to next cell",
    "patterns": "cells that are visited one after the other",
    "points": "positions by cell and date",
}
DEFAULT_USES: tuple[Use, ...] = ("flows", "hours", "lengths")
"""What is measured where nobody says what the data are for: the loss is that of the one that suffers most."""

assert tuple(USES) == get_args(Use)

_DRAWS = 8
_CELLS_ACROSS = 40
_FINEST_M = 50.0
_MINUTES = 60
_DAY_S = 86_400
_FOUR_S = 4 * 3600
_MONDAY = 4  # 5 January 1970, in days since 1 January 1970
_FAR = 1 << 20  # cells further away than this are one
_LONGEST_PATTERN = 12
_HARDLY = 0.02
_METRES = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,6})?)(m|km)")
_MINUTES_TEXT = re.compile(r"([0-9]{1,4})(min|h|d)")
_SECONDS = {"min": 60, "h": 3600, "d": _DAY_S}
_PARTS_OF_NUMBERS = 168  # plain integers: so many parts of all the time there is, as a week has hours


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """How fine the use of data is measured: sides of cells and parts of a day.

    Where nobody knows where places are (`named`), each of them is a cell.
    """

    metres: float
    minutes: int = _MINUTES
    named: bool = False

    def __str__(self) -> str:
        far = f"{self.metres / 1000:g} km" if self.metres >= 1000 else f"{self.metres:g} m"
        far = "places as they are" if self.named else far
        long = f"{self.minutes // 60} h" if self.minutes % 60 == 0 else f"{self.minutes} min"
        return f"{far} and {long}"


def parse_resolution(text: str) -> Resolution | float | int:
    """Return a resolution such as ``500m,60min``; of one part alone, the metres (float) or the minutes (int).

    Examples
    --------
    >>> str(parse_resolution("500m,1h")), parse_resolution("1.5km"), parse_resolution("15min")
    ('500 m and 1 h', 1500.0, 15)
    """
    metres: float | None = None
    minutes: int | None = None
    for part in (part.strip() for part in text.split(",")):
        far = _METRES.fullmatch(part)
        long = _MINUTES_TEXT.fullmatch(part)
        seconds = 0 if long is None else int(long[1]) * _SECONDS[long[2]]
        if far is not None and metres is None and float(far[1]) > 0:
            metres = float(far[1]) * (1000 if far[2] == "km" else 1)
        elif seconds and _DAY_S % seconds == 0 and minutes is None:
            minutes = seconds // 60
        else:
            raise UsageError(
                f"A resolution is metres, minutes or both, such as 500m,60min or 2km,4h; minutes must divide a day. "
                f"Got {text!r}."
            )
    if metres is not None and minutes is not None:
        return Resolution(metres=metres, minutes=minutes)
    if metres is not None:
        return metres
    assert minutes is not None
    return minutes


def choose_resolution(space: Space, resolution: Resolution | float | int | None = None) -> Resolution:
    """Return the resolution that was asked for; what nobody said is about 1/40 of where people are, and an hour."""
    if not space.metres:
        minutes = (
            resolution.minutes
            if isinstance(resolution, Resolution)
            else resolution
            if isinstance(resolution, int)
            else _MINUTES
        )
        return Resolution(metres=1.0, minutes=minutes, named=True)
    if isinstance(resolution, Resolution):
        return resolution
    usual = max(_FINEST_M, round_up(space.side / _CELLS_ACROSS))
    if isinstance(resolution, int):
        return Resolution(metres=usual, minutes=resolution)
    return Resolution(metres=usual if resolution is None else resolution)


@dataclass(frozen=True, kw_only=True)
class FairLoss:
    """What of each use is gone, from 0 to 1; None where there was nothing to count."""

    parts: Mapping[str, float | None]
    uses: tuple[str, ...]

    @property
    def value(self) -> float:
        """The loss of that use, of those that the data are for, of which most is gone; 1 where nothing was counted."""
        return max(self._wanted, default=1.0)

    @property
    def rank(self) -> tuple[int, float]:
        """What losses are compared by: of two that hardly differ in their worst use, the mean decides."""
        return round(self.value / _HARDLY), sum(self._wanted) / max(1, len(self._wanted))

    @property
    def known(self) -> bool:
        """Whether anything of what the data are for could be counted."""
        return bool(self._wanted)

    @property
    def _wanted(self) -> list[float]:
        return [part for use in self.uses if (part := self.parts[use]) is not None]


class _Table(NamedTuple):
    """Expected counts by key; keys ascend."""

    key: IntArray
    number: FloatArray


class _Drawn(NamedTuple):
    """One draw of where and when each row was: its cell, its part of the week, its day, its place, and its trip."""

    cell: IntArray
    part: IntArray
    day: IntArray
    x: FloatArray
    y: FloatArray
    piece: IntArray
    n_pieces: int


@dataclass(frozen=True, kw_only=True, eq=False)
class RawUse:
    """The uses of raw data, counted once; `lose` compares others with them.

    Examples
    --------
    >>> from wayveil.yardstick.footprint import make_space, trace
    >>> from wayveil.model import Points
    >>> raw = Points.from_records([[(0, 50.0, 50.0), (1, 950.0, 50.0)]] * 4, time_format="epoch")
    >>> space = make_space(raw)
    >>> use = RawUse.of(trace(raw, space), Resolution(metres=100.0), uses=("flows",))
    >>> use.lose(trace(raw, space)).value
    0.0
    >>> use.lose(trace(raw.take([0, 1]), space)).value  # half of the trips are gone
    0.5
    """

    resolution: Resolution
    uses: tuple[str, ...]
    tables: Mapping[str, _Table]
    span: tuple[float, float]
    seed: int

    @classmethod
    def of(
        cls, raw: Footprint, resolution: Resolution, uses: tuple[str, ...] = DEFAULT_USES, *, seed: int = 1
    ) -> RawUse:
        """Count the uses of raw data."""
        times = raw.t[0][np.isfinite(raw.t[0])]
        span = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
        counted = tuple(dict.fromkeys((*uses, *DEFAULT_USES)))
        tables = _count(raw, resolution, counted, span, seed)
        return cls(resolution=resolution, uses=uses, tables=tables, span=span, seed=seed)

    def lose(self, published: Footprint) -> FairLoss:
        """Return what of the uses is gone in a publication."""
        after = _count(published, self.resolution, tuple(self.tables), self.span, self.seed)
        parts = {}
        for use, before in self.tables.items():
            keys = np.union1d(before.key, after[use].key)
            # The same function for fine and coarse data: a row that may have been in many cells counts a little in
            # each, so coarser is never better by itself.
            parts[use] = counts_lost(_at(before, keys), _at(after[use], keys))
        return FairLoss(parts=parts, uses=self.uses)


def _at(table: _Table, keys: IntArray) -> FloatArray:
    counts = np.zeros(len(keys))
    counts[np.searchsorted(keys, table.key)] = table.number
    return counts


def _count(
    data: Footprint, resolution: Resolution, uses: tuple[str, ...], span: tuple[float, float], seed: int
) -> dict[str, _Table]:
    """Return the expected counts of each use: the mean over draws of where and when each row was.

    The draws of a row are spread evenly over its zone and its part of time (an additive recurrence with a random
    start), so that few of them are enough.  Exact rows are the same in each draw, and are drawn once.
    """
    exact = data.dates == "date" and all(np.array_equal(*side) for side in (data.x, data.y, data.t))
    draws = 1 if exact else _DRAWS
    rng = np.random.default_rng(seed)
    begin = rng.random((5, data.n_rows))
    keys_by_use: dict[str, list[IntArray]] = {use: [] for use in uses}
    for draw in range(draws):
        # A quasi-random sequence instead of independent draws: its points fill zone and interval evenly, so that few
        # are enough.
        drawn = _draw(data, resolution, span, np.modf(begin + draw * _STEPS[:, None])[0])
        for use in uses:
            keys_by_use[use].append(_KEYS[use](drawn, data, resolution))
    tables = {}
    for use, keys in keys_by_use.items():
        key, count = np.unique(np.concatenate(keys), return_counts=True)
        tables[use] = _Table(key, count / draws)
    return tables


_RATIO = 1.1673039782614187  # the root of x**6 = x + 1: additive recurrences in five dimensions are even with it
_STEPS = _RATIO ** -np.arange(1.0, 6.0)


def _draw(data: Footprint, resolution: Resolution, span: tuple[float, float], chance: FloatArray) -> _Drawn:
    x = data.x[0] + (data.x[1] - data.x[0]) * chance[0]
    y = data.y[0] + (data.y[1] - data.y[0]) * chance[1]
    low = np.where(np.isinf(data.t[0]), span[0], data.t[0])
    high = np.where(np.isinf(data.t[1]), span[1], data.t[1])
    t = low + (high - low) * chance[2]
    # Both coordinates in one number; cells beyond the edge of the numbers are one.
    cell = _cells(x, resolution.metres) * (2 * _FAR) + _cells(y, resolution.metres)
    if data.dated:
        day = np.floor(t / _DAY_S).astype(np.int64)
        part = ((t - day * _DAY_S) // (resolution.minutes * 60)).astype(np.int64)
        weekday, day = _weekdays(day, data.dates, span, chance[3], chance[4])
        part += weekday * (_DAY_S // (resolution.minutes * 60))
    else:
        width = max((span[1] - span[0]) / _PARTS_OF_NUMBERS, 1.0)
        part = np.floor((t - span[0]) / width).astype(np.int64)
        day = part
    piece = _pieces(data, low)
    return _Drawn(cell, part, day, x, y, piece, int(piece[-1]) + 1 if len(piece) else 0)


def _cells(place: FloatArray, side: float) -> IntArray:
    return np.clip(np.floor(place / side), -_FAR + 1, _FAR - 1).astype(np.int64) + _FAR


def _weekdays(
    day: IntArray, dates: str, span: tuple[float, float], chance: FloatArray, week: FloatArray
) -> tuple[IntArray, IntArray]:
    """Return the day of the week of each row, Monday is 0, and its date; folded dates stand for several."""
    weekday = (day - _MONDAY) % 7
    if dates == "date":
        return weekday, day
    if dates == "day":
        weekday = np.floor(chance * 7).astype(np.int64)
    elif dates == "weekday-weekend":
        weekday = np.where(weekday < 5, np.floor(chance * 5), 5 + np.floor(chance * 2)).astype(np.int64)
    first, last = (int((moment // _DAY_S - _MONDAY) // 7) for moment in span)
    weeks = first + np.floor(week * (last - first + 1)).astype(np.int64)
    return weekday, _MONDAY + weeks * 7 + weekday


def _pieces(data: Footprint, t: FloatArray) -> IntArray:
    """Return the trip of each row: trajectories with dates are cut at four in the morning, as `fold` cuts them."""
    trajectory = trajectory_of_row(data.offsets)
    if data.ends or not data.dated or data.dates != "date":
        new = np.ones(data.n_rows, np.bool_)
        new[1:] = trajectory[1:] != trajectory[:-1]
    else:
        day = np.floor((t - _FOUR_S) / _DAY_S)
        new = np.ones(data.n_rows, np.bool_)
        new[1:] = (trajectory[1:] != trajectory[:-1]) | (day[1:] != day[:-1])
    return np.cumsum(new) - 1


def _ends(drawn: _Drawn) -> tuple[IntArray, IntArray]:
    """Return the first and the last row of each trip."""
    first = np.flatnonzero(_begins(drawn))
    return first, np.append(first[1:], len(drawn.piece)) - 1


def _begins(drawn: _Drawn) -> BoolArray:
    new = np.ones(len(drawn.piece), np.bool_)
    new[1:] = drawn.piece[1:] != drawn.piece[:-1]
    return new


def _pair(one: IntArray, other: IntArray) -> IntArray:
    """Return a number for a pair of numbers; two pairs share one in fewer than one of a billion cases."""
    mixed = one.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed = (mixed + other.astype(np.uint64)) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed ^ (mixed >> np.uint64(32))).view(np.int64)


def _per_trip(drawn: _Drawn, keys: IntArray, piece: IntArray) -> IntArray:
    """Return keys, each once per trip."""
    order = np.lexsort((keys, piece))
    keys = keys[order]
    piece = piece[order]
    new = np.ones(len(keys), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]) | (piece[1:] != piece[:-1])
    return keys[new]


def _flow_keys(drawn: _Drawn, data: Footprint, resolution: Resolution) -> IntArray:
    first, last = _ends(drawn)
    if data.ends:
        both = last > first
        first = first[both]
        last = last[both]
    return _pair(drawn.cell[first], drawn.cell[last])


def _hour_keys(drawn: _Drawn, data: Footprint, resolution: Resolution) -> IntArray:
    return _per_trip(drawn, _pair(drawn.cell, drawn.part), drawn.piece)


def _point_keys(drawn: _Drawn, data: Footprint, resolution: Resolution) -> IntArray:
    parts = _DAY_S // (resolution.minutes * 60)
    moment = drawn.day * parts + drawn.part % parts if data.dated else drawn.part
    return _per_trip(drawn, _pair(drawn.cell, moment), drawn.piece)


def _length_keys(drawn: _Drawn, data: Footprint, resolution: Resolution) -> IntArray:
    """Return how far each trip goes from its beginning, in doublings of a cell; without metres, its rows."""
    first, last = _ends(drawn)
    if not len(first) or not data.metres:
        return last - first
    away = np.hypot(drawn.x - drawn.x[first][drawn.piece], drawn.y - drawn.y[first][drawn.piece])
    farthest = np.maximum.reduceat(away, first)
    if data.ends:
        farthest = farthest[last > first]
    return np.ceil(np.log2(np.maximum(farthest / resolution.metres, 0.5))).astype(np.int64)


def _route_keys(drawn: _Drawn, data: Footprint, resolution: Resolution) -> IntArray:
    moves = np.flatnonzero(~_begins(drawn)[1:] & (drawn.cell[1:] != drawn.cell[:-1]))
    return _per_trip(drawn, _pair(drawn.cell[moves], drawn.cell[moves + 1]), drawn.piece[moves])


def _pattern_keys(drawn: _Drawn, data: Footprint, resolution: Resolution) -> IntArray:
    """Return pairs of cells that a trip visits one after the other, of its first twelve cells."""
    order = np.lexsort((np.arange(len(drawn.cell)), drawn.cell, drawn.piece))
    new = np.ones(len(order), np.bool_)
    cell = drawn.cell[order]
    piece = drawn.piece[order]
    new[1:] = (cell[1:] != cell[:-1]) | (piece[1:] != piece[:-1])
    rows = np.sort(order[new])  # the first row of each cell of each trip, in the order of time
    cell = drawn.cell[rows]
    piece = drawn.piece[rows]
    pattern_keys = []
    for apart in range(1, _LONGEST_PATTERN):
        same = piece[apart:] == piece[:-apart]
        pattern_keys.append(_pair(cell[:-apart][same], cell[apart:][same]))
    return np.concatenate(pattern_keys) if pattern_keys else np.zeros(0, np.int64)


_KEYS = {
    "flows": _flow_keys,
    "hours": _hour_keys,
    "lengths": _length_keys,
    "routes": _route_keys,
    "patterns": _pattern_keys,
    "points": _point_keys,
}
