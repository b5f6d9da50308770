"""A part of a text column: ``tid[:-2]`` is all but the last two characters of the column ``tid``."""

from __future__ import annotations

import re
from collections.abc import Container

import polars as pl

__all__ = ["cut_text", "split_name"]

_SLICED = re.compile(r"(.+)\[\s*([+-]?\d{1,9})?\s*:\s*([+-]?\d{1,9})?\s*\]", re.DOTALL)


def split_name(name: str, columns: Container[str]) -> tuple[str, slice | None]:
    """Return (column, part of its text); a column that is really called like that goes first.

    Examples
    --------
    >>> split_name("tid[:-2]", ["tid"]), split_name("tid[:-2]", ["tid[:-2]"])
    (('tid', slice(None, -2, None)), ('tid[:-2]', None))
    """
    match = None if name in columns else _SLICED.fullmatch(name)
    if match is None:
        return name, None
    start, stop = (None if text is None else int(text) for text in match.group(2, 3))
    return match.group(1), slice(start, stop)


def cut_text(text: pl.Series, part: slice | None) -> pl.Series:
    """Return the part of every text that Python's slice of it would give; empty text becomes a missing value.

    Examples
    --------
    >>> cut_text(pl.Series(["86201", "42", None]), slice(None, -2)).to_list()
    ['862', None, None]
    """
    if part is None:
        return text
    size = pl.col("text").str.len_chars().cast(pl.Int64)
    start, stop = (_counted(at, size) for at in (part.start or 0, part.stop))
    cut = pl.col("text").str.slice(start, (stop - start).clip(0))
    return text.to_frame("text").select(pl.when(cut != "").then(cut)).to_series()


def _counted(at: int | None, size: pl.Expr) -> pl.Expr:
    """Return a position from the start of the text; what lies before the text is its start."""
    if at is None:
        return size
    return pl.lit(at) if at >= 0 else (size + at).clip(0)
