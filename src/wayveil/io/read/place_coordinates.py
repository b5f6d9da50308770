"""Coordinates beside named places: each place is where its first row with a position says, for the whole table."""

from __future__ import annotations

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.tabular.columns import ReadOptions, looks_like
from wayveil.io.tabular.messages import shown
from wayveil.io.tabular.table import Rows, as_text
from wayveil.model import Frame
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["axis_numbers", "first_positions", "known_degrees", "list_positions", "settle_frame"]

_DEGREES = ("degrees", "EPSG:4326", "epsg:4326")


def axis_numbers(rows: Rows, position: int, *, strict: bool = True) -> FloatArray:
    """Return the numbers of a column, not a number where there is none.

    What is written there and is no number is refused; without `strict` it says nothing, as if it were missing.
    """
    text = as_text(rows, position)
    numbers = text.cast(pl.Float64, strict=False)
    if strict:
        rows.refuse(
            numbers.is_null() & text.is_not_null(),
            f"column {shown(rows.table.names[position])} is not a number",
            "Correct or remove these rows.",
        )
    return numbers.fill_null(np.nan).to_numpy()


def first_positions(
    code: IntArray, x: FloatArray, y: FloatArray, n_places: int
) -> tuple[FloatArray, FloatArray] | None:
    """Return where each place is: the first position of its rows; None where some place has none.

    Examples
    --------
    >>> code = np.array([1, 0, 1])
    >>> first_positions(code, np.array([np.nan, 5.0, 7.0]), np.zeros(3), 2)
    (array([5., 7.]), array([0., 0.]))
    >>> first_positions(code, np.array([np.nan, 5.0, np.nan]), np.zeros(3), 2) is None
    True
    """
    # The first row of each place, as np.unique gives it, in the order of the rows.
    known = np.flatnonzero((code >= 0) & np.isfinite(x) & np.isfinite(y))
    place, first = np.unique(code[known], return_index=True)
    if len(place) < n_places:
        return None
    return x[known[first]], y[known[first]]


def settle_frame(
    rows: Rows, options: ReadOptions, name: str, what: str, x: FloatArray, y: FloatArray
) -> tuple[FloatArray, FloatArray, Frame]:
    """Return positions in metres and their frame; InputError where nobody says whether they are degrees or metres.

    `name` is the column of x, which may say so, and `what` has coordinates, in words.
    """
    if known_degrees(options, name):
        if (np.abs(x) > 180).any() or (np.abs(y) > 90).any():
            raise rows.table.wrong(
                f"the coordinates of {what} are no longitudes and latitudes; say --crs planar if metres."
            )
        frame = Frame.for_degrees(x, y, crs="EPSG:4326")
        return *frame.to_metres(x, y), frame
    if options.crs == "planar":
        return x, y, Frame()
    raise InputError(
        f"{rows.table.path}: the coordinates of {what} can be degrees or metres: say --crs EPSG:4326 or --crs planar."
    )


def known_degrees(options: ReadOptions, name: str) -> bool:
    """Whether coordinates are degrees: somebody says so, or the name of their column does."""
    return options.crs in _DEGREES or (options.crs is None and bool(looks_like(name, "lon")))


def list_positions(rows_of_places: pl.DataFrame) -> pl.DataFrame:
    """Return one row per place of a piece of a table: the first with a position, or the first if none has one.

    Parameters
    ----------
    rows_of_places : polars.DataFrame
        location, x, y, known (whether both are numbers) and order (the place of the row in the whole table).
    """
    ordered = rows_of_places.sort("order")
    located = ordered.filter("known").unique("location", keep="first", maintain_order=True).drop("known")
    lost = ordered.join(located, on="location", how="anti").unique("location", keep="first", maintain_order=True)
    nowhere = lost.drop("known").with_columns(x=pl.lit(None, pl.Float64), y=pl.lit(None, pl.Float64))
    return pl.concat([located, nowhere])
