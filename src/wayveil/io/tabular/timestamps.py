"""Times, from what files hold to int64 and back.

The rules, in order, for a whole column:

1. integers, also written as 3.0 or 1e9: ``epoch`` if all lie in [100 000 000, 100 000 000 000), seconds from 1973 to
   5138; otherwise ``integer``;
2. ISO 8601 text: ``utc`` if every time has an offset, ``local`` if none has;
3. Parquet dates and times: ``utc`` with a time zone, ``local`` without.
"""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import polars as pl

from wayveil.io.tabular.messages import count
from wayveil.io.tabular.table import Rows, as_written
from wayveil.io.tabular.time_formats import is_iso, read_iso
from wayveil.model import TimeFormat
from wayveil.model.data.ragged import IntArray

__all__ = ["parse_times", "time_column", "time_pattern", "time_type"]

_EPOCH_FROM = 10**8
_EPOCH_TO = 10**11
_EXACT = 2**53
_LARGEST = 2**62  # so that the difference of two times still fits 64 bits
_US = 10**6
_FIRST_US = int(datetime(1, 1, 1, tzinfo=UTC).timestamp()) * _US
_LAST_US = int(datetime(9999, 12, 31, tzinfo=UTC).timestamp()) * _US + 86_400 * _US - 1
_FINER = "Times finer than a microsecond were cut to microseconds in {}."


def parse_times(rows: Rows, position: int) -> tuple[IntArray, TimeFormat, tuple[str, ...]]:
    """Return (times, their format, notes) of a column without missing values.

    Raises
    ------
    InputError
        If the times are not finite, not whole, too large, of mixed forms, or not times at all.
    """
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    dtype = values.dtype
    if dtype.is_integer():
        return _integers(rows, name, values)
    if dtype.is_float():
        return _integers(rows, name, _whole(rows, name, values))
    if dtype == pl.Date:
        return _instants(rows, name, values.cast(pl.Int64), 86_400 * _US, 1, "local")
    if isinstance(dtype, pl.Datetime):
        scale, finer = {"ms": (1000, 1), "us": (1, 1), "ns": (1, 1000)}[dtype.time_unit]
        return _instants(rows, name, values.to_physical(), scale, finer, "utc" if dtype.time_zone else "local")
    if dtype in (pl.Boolean, pl.Time, pl.Duration):
        kind = str(dtype.base_type()).lower()
        raise rows.table.wrong(
            f"column '{name}' has the type {kind}, which is not a time; store integers, dates or ISO 8601 text."
        )
    return _texts(rows, name, as_written(rows, position))


def time_type(time_format: TimeFormat) -> pl.DataType:
    """Return the Parquet type in which times of this format are written."""
    if time_format == "utc":
        return pl.Datetime("us", "UTC")
    return pl.Datetime("us") if time_format == "local" else pl.Int64()


def time_column(t: IntArray, time_format: TimeFormat) -> pl.Series:
    """Return times as a column to write."""
    return pl.Series("t", np.asarray(t, np.int64)).cast(time_type(time_format))


def time_pattern(t: IntArray, time_format: TimeFormat) -> str | None:
    """Return how CSV shows these times; the fraction of a second only if one of them has any.

    Examples
    --------
    >>> time_pattern(np.array([0, 1_500_000]), "utc"), time_pattern(np.array([0]), "local")
    ('%Y-%m-%dT%H:%M:%S%.6fZ', '%Y-%m-%dT%H:%M:%S')
    """
    if time_format in ("integer", "epoch"):
        return None
    fraction = "%.6f" if (np.asarray(t) % _US).any() else ""
    return f"%Y-%m-%dT%H:%M:%S{fraction}" + ("Z" if time_format == "utc" else "")


def _integers(rows: Rows, name: str, values: pl.Series) -> tuple[IntArray, TimeFormat, tuple[str, ...]]:
    exact = values.cast(pl.Int64, strict=False)
    # Compared as integers: a float near 2^62 would be rounded before it is checked.
    _refuse_large(rows, name, exact.is_null() | (exact < -_LARGEST) | (exact > _LARGEST))
    t = exact.to_numpy()
    # All of a column must lie in the range: one number outside makes plain integers of them.
    low, high = (int(t.min()), int(t.max())) if len(t) else (0, 0)
    if low >= _EPOCH_FROM and high < _EPOCH_TO:
        return t, "epoch", (f"The integers in column '{name}' are taken to be seconds since 1970 (UTC).",)
    if low >= _EPOCH_TO:
        note = (
            f"The integers in column '{name}' are too large for seconds since 1970 and are taken as plain integers; "
            "if they are milliseconds or finer, divide them to get seconds."
        )
        return t, "integer", (note,)
    return t, "integer", ()


def _whole(rows: Rows, name: str, values: pl.Series) -> pl.Series:
    rows.refuse(
        ~values.is_finite(),
        f"column '{name}' is not a finite number (NaN or infinite)",
        "Every visit needs a time; correct or remove these rows.",
    )
    rows.refuse(
        values != values.floor(),
        f"column '{name}' is not a whole number",
        "Round or scale the times to whole units, for example to whole seconds, or write them as ISO 8601.",
    )
    _refuse_large(rows, name, values.abs() > _EXACT)
    return values.cast(pl.Int64)


def _refuse_large(rows: Rows, name: str, bad: pl.Series) -> None:
    rows.refuse(
        bad,
        f"column '{name}' holds a number that is too large",
        "Times must be at most 2^62, and 2^53 if written with a decimal point or exponent; use a coarser unit.",
    )


def _instants(
    rows: Rows, name: str, values: pl.Series, scale: int, finer: int, time_format: TimeFormat
) -> tuple[IntArray, TimeFormat, tuple[str, ...]]:
    """Return microseconds since 1970 from integers that count ``scale / finer`` microseconds."""
    raw = values.to_numpy()
    bad = (raw < _FIRST_US // scale * finer) | (raw > _LAST_US // scale * finer + finer - 1)
    _refuse_years(rows, name, bad)
    t = raw // finer * scale
    cut = int((raw % finer != 0).sum())
    notes = (_FINER.format(count(cut, "row")),) if cut else ()
    return t, time_format, _local_note(name, time_format) + notes


def _refuse_years(rows: Rows, name: str, bad: pl.Series | np.ndarray) -> None:
    rows.refuse(bad, f"column '{name}' is outside the years 1 to 9999", "Correct or remove these rows.")


def _local_note(name: str, time_format: TimeFormat) -> tuple[str, ...]:
    if time_format != "local":
        return ()
    return (f"The times in column '{name}' have no UTC offset and are taken as local time.",)


def _texts(rows: Rows, name: str, text: pl.Series) -> tuple[IntArray, TimeFormat, tuple[str, ...]]:
    # Plain integers are by far the most frequent, and told by one cast.
    exact = text.cast(pl.Int64, strict=False)
    if not exact.null_count():
        return _integers(rows, name, exact)
    text = text.str.strip_chars()
    exact = text.cast(pl.Int64, strict=False)
    loose = text.cast(pl.Float64, strict=False)
    numbers = len(text) - loose.null_count()
    if numbers == len(text):
        # Integers keep their exact value; only texts such as 3.0 or 1e9 go through floats.
        rounded = _whole(rows, name, loose.set(exact.is_not_null(), 0.0))
        return _integers(rows, name, exact.fill_null(rounded))
    iso = is_iso(text)
    rows.refuse(
        loose.is_null() & ~iso,
        f"column '{name}' is neither a whole number nor an ISO 8601 time",
        "Write times as integers, or like 2024-05-31T08:15:00, with or without an offset such as Z or +02:00.",
    )
    if numbers:
        raise rows.table.wrong(
            f"column '{name}' mixes numbers ({count(numbers, 'row')}) and ISO 8601 times "
            f"({count(len(text) - numbers, 'row')}); write all times in one form."
        )
    return _iso(rows, name, text)


def _iso(rows: Rows, name: str, text: pl.Series) -> tuple[IntArray, TimeFormat, tuple[str, ...]]:
    read = read_iso(text)
    rows.refuse(
        read.seconds.is_null(),
        f"column '{name}' is not a day and time that exists",
        "Correct or remove these rows.",
    )
    without = int(read.without_offset[read.code].sum())
    # A mixture could mean two times for one moment, so it is refused.
    if 0 < without < len(text):
        raise rows.table.wrong(
            f"column '{name}' mixes times with a UTC offset ({count(len(text) - without, 'row')}) and without one "
            f"({count(without, 'row')}); write all of them with an offset, or all without."
        )
    t = read.seconds.to_physical().to_numpy() + read.added_us[read.code]
    _refuse_years(rows, name, (t < _FIRST_US) | (t > _LAST_US))
    time_format: TimeFormat = "local" if without else "utc"
    cut = int(read.finer[read.code].sum()) if read.finer.any() else 0
    notes = (_FINER.format(count(cut, "row")),) if cut else ()
    return t, time_format, _local_note(name, time_format) + notes
