"""Columns of text in their normal form, and the values in them that are suspiciously alike; see `model.normal`."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.io.tabular.messages import count
from wayveil.model.data.ragged import IntArray
from wayveil.model.normal import normal_text, similar_key

__all__ = [
    "SimilarIds",
    "merge_codes",
    "normal_column",
    "not_normal",
    "similar_count",
    "similar_ids_error",
    "similar_ids_note",
    "similar_keys",
    "text_column",
]

SimilarIds = Literal["different", "same"]
"""Whether people whose ids are suspiciously alike are different ones, or the same."""

# Printable ASCII without blanks at the ends, and no negative zero, is in normal form: all that most files have.
_PERHAPS_OTHER = r"^\s|\s$|[^ -~]|^-0+(?:\.0*)?$"

# Values that are their own key, and values whose key is their small letters: no blank, no zero in front, no number.
_OWN_KEY = r"^(?:0|[1-9][0-9]*)$"
_SMALL_LETTERS = r"^(?:[A-Za-z][!-~]*|[1-9][!-~]*[A-Za-z_][!-~]*)$"


def normal_column(values: pl.Series) -> tuple[pl.Series, int]:
    """Return a column of text in normal form, empty text as missing values, and how many rows were written otherwise.

    Only values that are not plain ASCII are looked at one by one, each different one once.

    Examples
    --------
    >>> text, changed = normal_column(pl.Series(["a ", "a", "\\u200b", None]))
    >>> text.to_list(), changed
    (['a', 'a', None, None], 2)
    """
    # Nearly all values are plain, and a regular expression over the column finds the others; each of these is looked at
    # once.
    odd = values.filter(values.str.contains(_PERHAPS_OTHER).fill_null(False)).unique()
    written = [(text, normal) for text in odd.to_list() if (normal := normal_text(text)) != text]
    changed = 0
    if written:
        old, new = (pl.Series(column, dtype=pl.String) for column in zip(*written, strict=True))
        changed = int(values.is_in([text for text, _ in written]).sum())
        values = values.replace(old, new)
    empty = values == ""
    return (values.set(empty, None) if empty.any() else values), changed


def not_normal(values: pl.Series) -> pl.Series:
    """Tell which values of a column of text are not in normal form.

    Examples
    --------
    >>> not_normal(pl.Series(["a ", "a", None])).to_list()
    [True, False, False]
    """
    odd = values.filter(values.str.contains(_PERHAPS_OTHER).fill_null(False)).unique()
    return values.is_in([text for text in odd.to_list() if normal_text(text) != text]).fill_null(False)


def text_column(values: pl.Series) -> tuple[pl.Series, int]:
    """Return a column of any plain type as text in normal form, and how many rows were written otherwise.

    NaN is a missing value, and negative zeros are zeros.
    """
    if values.dtype.is_float():
        values = values.fill_nan(None) + 0.0
    return normal_column(values if values.dtype == pl.String else values.cast(pl.String))


def similar_keys(values: pl.Series) -> pl.Series:
    """Return `similar_key` of every value; `values` are different from each other and in normal form.

    Examples
    --------
    >>> similar_keys(pl.Series(["U1", "7", "007", "x y"])).to_list()
    ['u1', '7', '7', 'xy']
    """
    # Keys of plain numbers are the numbers, keys of plain words their small letters; only what is left takes Python.
    own = values.str.contains(_OWN_KEY).fill_null(False)
    small = values.str.contains(_SMALL_LETTERS).fill_null(False)
    keys = values.zip_with(~small, values.str.to_lowercase())
    rest = values.filter(~(own | small))
    if not len(rest):
        return keys
    return keys.replace(rest, pl.Series([similar_key(text) for text in rest.to_list()], dtype=pl.String))


def similar_count(values: pl.Series) -> int:
    """Return how many of these different values have the key of another one.

    Examples
    --------
    >>> similar_count(pl.Series(["u1", "U1", "u2"]))
    2
    """
    return int(similar_keys(values).is_duplicated().sum())


def merge_codes(values: pl.Series) -> tuple[IntArray, IntArray]:
    """Return (new code of each value, the values that stay), where values with the same key get one code.

    Codes are in the order in which keys first appear, and the first value stays.

    Examples
    --------
    >>> codes, stay = merge_codes(pl.Series(["u1", "x", "U1"]))
    >>> codes.tolist(), stay.tolist()
    ([0, 1, 0], [0, 1])
    """
    keys = similar_keys(values)
    rows = pl.DataFrame({"key": keys, "row": np.arange(len(keys))})
    # As in `codes.by_first_appearance`: the first value with a key is the one that stays.
    first = rows.select(pl.col("row").min().over("key")).to_series().to_numpy()
    new = first == np.arange(len(keys))
    return (np.cumsum(new) - 1)[first], np.flatnonzero(new)


def similar_ids_error(shown: str, column: str, number: int) -> InputError:
    """Return the error for ids of people that are suspiciously alike."""
    return InputError(
        f"{shown}: {_differ(column, number)}, so that one person may be counted as several; correct them, or say "
        "--similar-ids same if they are the same people, --similar-ids different if they are not (in a recipe and in "
        "Python: similar_ids)."
    )


def similar_ids_note(column: str, number: int, meant: SimilarIds) -> str:
    """Return what was done with ids of people that are suspiciously alike."""
    taken = "each is taken to be another person" if meant == "different" else "they are taken to be the same people"
    return f"{_differ(column, number)}; {taken}, as was said."


def _differ(column: str, number: int) -> str:
    verb = "differs" if number == 1 else "differ"
    sentence = (
        f"{count(number, 'value')} of column '{column}' {verb} from another only by case, white space, leading zeros"
    )
    return f"{sentence} or letter forms"
