"""Positions as people write them: degrees as whole numbers or with minutes, both coordinates in one text, WKB."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from wayveil.errors import UsageError, check_choice

__all__ = [
    "DEGREES",
    "PAIR",
    "POSITION_FORMATS",
    "WKB",
    "Order",
    "PositionColumn",
    "detect_axis_format",
    "detect_pair",
    "pair_orders",
    "read_axis",
    "read_position",
]

DEGREES = "degrees"
"""Plain numbers."""

PAIR = "pair"
"""Both numbers in one text: "37.77, -122.42", "(37.77 -122.42)", "POINT (-122.42 37.77)"."""

WKB = "wkb"
"""A point in hexadecimal digits, as PostGIS writes it, with or without the number of its system."""

SEXAGESIMAL = "sexagesimal"
"""Degrees with minutes and seconds, or with a letter for the hemisphere: N 37°46.5', 122°25'9" W, 51.5N."""

_SCALES = {"e5": 1e-5, "e6": 1e-6, "e7": 1e-7, "semicircles": 180 / 2**31}
POSITION_FORMATS = (DEGREES, *_SCALES, SEXAGESIMAL, PAIR, WKB)
"""Every format, by the word that recipes use: whole numbers of 1/10^5, 1/10^6, 1/10^7 degrees, and so on."""

Order = Literal["lonlat", "latlon"]

_NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_TWO = rf"({_NUMBER})\s*[\s,;/|]\s*({_NUMBER})"
_PAIR_SHAPE = rf"(?i)^\s*(SRID=\d+;)?\s*(POINT\s*(Z|M|ZM)?)?\s*[\[(]*\s*{_TWO}(\s*[,\s]\s*{_NUMBER})?\s*[\])]*\s*$"
_SEXAGESIMAL_SHAPE = (
    r"^\s*[NSEWnsew]?\s*[-+]?\d{1,3}(\.\d+)?\s*[°ºd:\s]?\s*(\d{1,2}(\.\d+)?\s*['’′m:]?\s*(\d{1,2}(\.\d+)?\s*[\"”″s]*'*)?)?"
    r"\s*[NSEWnsew]?\s*$"
)
_MARKED = r"[NSEWnsew°º]"
_WKB_SHAPE = r"^(01|00)[0-9A-Fa-f]{40,58}$"
_ENOUGH = 0.95


@dataclass(frozen=True, kw_only=True)
class PositionColumn:
    """A position that is read from one column, or from longitude and latitude in two.

    Parameters
    ----------
    columns : tuple of str
        One column with both coordinates, or two: the longitude, then the latitude.
    format : str
        One of `POSITION_FORMATS`.
    order : {"lonlat", "latlon"}
        Which of two numbers in one text comes first.
    """

    columns: tuple[str, ...]
    format: str
    order: Order = "lonlat"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        check_choice("positions", "format", self.format, POSITION_FORMATS)
        check_choice("positions", "order", self.order, ("lonlat", "latlon"))
        if len(self.columns) != (1 if self.format in (PAIR, WKB) else 2):
            raise UsageError("positions: pair and wkb are in one column, all others in two: longitude and latitude.")


def read_position(position: PositionColumn) -> tuple[pl.Expr, pl.Expr]:
    """Return longitude and latitude in degrees, null where they cannot be read.

    Examples
    --------
    >>> table = pl.DataFrame({"lon": ["W 122°25.2'"], "lat": ["37°46'12\\" N"], "p": ["POINT(37.77 -122.42)"]})
    >>> both = PositionColumn(columns=("lon", "lat"), format="sexagesimal")
    >>> [round(value, 6) for value in table.select(*read_position(both)).row(0)]
    [-122.42, 37.77]
    >>> table.select(*read_position(PositionColumn(columns=("p",), format="pair", order="latlon"))).row(0)
    (-122.42, 37.77)
    """
    if position.format == PAIR:
        text = pl.col(position.columns[0]).cast(pl.String)
        text = pl.when(text.str.contains(_PAIR_SHAPE)).then(text.str.replace(r"(?i)SRID=\d+;", ""))
        # The shape is checked first, so that a text with numbers in it is not taken for a pair.
        first, second = (text.str.extract(_TWO, i).cast(pl.Float64, strict=False) for i in (1, 2))
        x, y = (first, second) if position.order == "lonlat" else (second, first)
        return x.alias("x"), y.alias("y")
    if position.format == WKB:
        raw = pl.col(position.columns[0]).cast(pl.String).str.strip_chars()
        # Byte order, type and an optional number of the system stand in front: the coordinates are always the last 16
        # bytes.
        known = pl.when(raw.str.contains(_WKB_SHAPE) & raw.str.starts_with("01")).then(raw)
        body = known.str.decode("hex", strict=False)
        x, y = (body.bin.slice(at, 8).bin.reinterpret(dtype=pl.Float64, endianness="little") for at in (-16, -8))
        return x.alias("x"), y.alias("y")
    x, y = (read_axis(pl.col(name).cast(pl.String), position.format) for name in position.columns)
    return x.alias("x"), y.alias("y")


def read_axis(text: pl.Expr, form: str) -> pl.Expr:
    """Return the degrees of one coordinate as text, null where it cannot be read."""
    values = text.str.strip_chars()
    if form in _SCALES:
        return values.cast(pl.Float64, strict=False) * _SCALES[form]
    if form != SEXAGESIMAL:
        return values.cast(pl.Float64, strict=False)
    shaped = pl.when(values.str.contains(_SEXAGESIMAL_SHAPE)).then(values)
    # "51° 30' 26\"" gives 51, 30 and 26; missing parts are 0.
    parts = shaped.str.extract_all(r"\d+(?:\.\d+)?").cast(pl.List(pl.Float64), strict=False)
    degrees = parts.list.get(0, null_on_oob=True)
    minutes = parts.list.get(1, null_on_oob=True).fill_null(0.0)
    seconds = parts.list.get(2, null_on_oob=True).fill_null(0.0)
    # South and west are negative; so is a minus in front.
    sign = pl.when(shaped.str.contains(r"[SWsw]|^\s*-")).then(-1.0).otherwise(1.0)
    within = (minutes < 60) & (seconds < 60)
    return pl.when(within).then(sign * (degrees + minutes / 60 + seconds / 3600))


def detect_axis_format(name: str, text: pl.Series, numbers: pl.Series | None, limit: float) -> tuple[str, ...]:
    """Return the formats that put a coordinate within its limit of degrees; several where nobody can tell.

    `numbers` are the values where they are numbers; `limit` is 90 for a latitude, 180 for a longitude.

    Examples
    --------
    >>> detect_axis_format("LatE6", pl.Series(["37770000"]), pl.Series([37770000.0]), 90)
    ('e6',)
    >>> detect_axis_format("lat", pl.Series(["377700000"]), pl.Series([377700000.0]), 90)
    ('e7', 'semicircles')
    """
    if numbers is None:
        sample = text.drop_nulls().head(500)
        if not len(sample):
            return ()
        marked = sample.str.contains(_SEXAGESIMAL_SHAPE) & sample.str.contains(_MARKED)
        return (SEXAGESIMAL,) if float(marked.mean() or 0.0) >= _ENOUGH else ()  # type: ignore[arg-type]
    known = numbers.drop_nulls()
    # Numbers with fractions, or small enough, are degrees as they are.
    if not len(known) or _within(known, limit) or bool((known != known.round(0)).any()):
        return (DEGREES,)
    # A name like "lat_e6" says the scale.
    unit = next((form for form in _SCALES if form in name.lower().replace("_", "")), "")
    unit = "e6" if "micro" in name.lower() else unit
    # Whole numbers that are too large for degrees: which scale brings them into range?
    fitting = [form for form, scale in _SCALES.items() if _within(known * scale, limit)]
    if unit in fitting:
        return (unit,)
    if not fitting:
        return (DEGREES,)
    # Finer scales than the first that fits put everybody near 0, 0; only semicircles are of the size of e7.
    return (fitting[0], "semicircles") if fitting[0] == "e7" and "semicircles" in fitting else (fitting[0],)


def _within(numbers: pl.Series, limit: float) -> bool:
    # A few placeholders such as -999 do not make metres of degrees.
    return float((numbers.abs() <= limit).mean() or 0.0) >= _ENOUGH  # type: ignore[arg-type]


def detect_pair(text: pl.Series) -> str:
    """Return the format of a column with both coordinates, "" where it holds something else.

    Examples
    --------
    >>> [detect_pair(pl.Series([text])) for text in ("(37.77, -122.42)", "2024-03-18", "1, 2")]
    ['pair', '', '']
    """
    sample = text.drop_nulls().head(500)
    if not len(sample):
        return ""
    if float(sample.str.contains(_WKB_SHAPE).mean() or 0.0) >= _ENOUGH:  # type: ignore[arg-type]
        return WKB
    shaped = sample.str.contains(_PAIR_SHAPE) & sample.str.contains(r"\d\.\d{2}.*\d\.\d{2}")
    return PAIR if float(shaped.mean() or 0.0) >= _ENOUGH else ""  # type: ignore[arg-type]


def pair_orders(first: pl.Series, second: pl.Series) -> Sequence[Order]:
    """Return the orders in which two numbers can be longitude and latitude."""
    lonlat = _within(first, 180) and _within(second, 90)
    latlon = _within(second, 180) and _within(first, 90)
    return [order for order, fits in (("lonlat", lonlat), ("latlon", latlon)) if fits]  # type: ignore[misc]
