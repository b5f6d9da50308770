"""Names as codes: a column of small numbers, and the labels behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from wayveil.model.data.ragged import IntArray, frozen

__all__ = ["Coded", "Owners", "common_codes", "number_names", "same_names", "translate_codes"]

Owners = Literal["given", "declared", "hidden"]
"""Where the owners come from: a column of the input; declared to be one per trajectory; or withheld, as in a
publication of data whose owners were given (each trajectory then has a code of its own, which proves nothing)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Coded:
    """One value per trajectory as a code into `labels`; code -1 is a missing value."""

    codes: IntArray
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozen(self.codes, np.int32))
        object.__setattr__(self, "labels", tuple(self.labels))

    def values(self) -> list[str | None]:
        """Return the values as text, None where missing."""
        return [None if code < 0 else self.labels[code] for code in self.codes.tolist()]

    def take(self, rows: IntArray) -> Coded:
        """Return the values at these positions."""
        return Coded(codes=self.codes[rows], labels=self.labels)

    def same_values(self, other: Coded) -> bool:
        """Return whether two columns hold the same values, whatever their codes."""
        # A missing value is only the same as a missing value.
        if not np.array_equal(self.codes < 0, other.codes < 0):
            return False
        present = self.codes >= 0
        return same_names(self.codes[present], self.labels, other.codes[present], other.labels)

    @classmethod
    def from_values(cls, values: Iterable[str | None]) -> Coded:
        """Code `values`, with the labels in sorted order."""
        listed = list(values)
        # Sorted labels: equal columns have equal codes, whatever the order of rows.
        labels = sorted({value for value in listed if value is not None})
        code = {label: i for i, label in enumerate(labels)}
        return cls(codes=np.array([-1 if v is None else code[v] for v in listed], np.int32), labels=tuple(labels))

    @classmethod
    def concat(cls, columns: Sequence[Coded]) -> Coded:
        """Return the values of several columns one after the other, with all labels in sorted order."""
        labels = sorted({label for column in columns for label in column.labels})
        code = number_names(labels)
        codes = [translate_codes(column.codes, column.labels, code) for column in columns]
        return cls(codes=np.concatenate(codes), labels=tuple(labels))


def number_names(names: Iterable[str]) -> dict[str, int]:
    """Return the code of each name: its position."""
    return {name: i for i, name in enumerate(names)}


def translate_codes(codes: IntArray, names: Sequence[str], code: Mapping[str, int]) -> IntArray:
    """Return the codes that the same names have elsewhere; -1 stays -1, and is the code of a name not known there.

    Examples
    --------
    >>> translate_codes(np.array([1, 0, -1]), ("a", "b"), {"b": 7}).tolist()
    [7, -1, -1]
    """
    # The table has one entry more at its end: code -1 indexes it, and finds -1.
    table = np.array([*(code.get(name, -1) for name in names), -1], np.int32)
    translated: IntArray = table[codes]
    return translated


def common_codes(
    names: Sequence[str], codes: IntArray, other_names: Sequence[str], other_codes: IntArray
) -> tuple[IntArray, IntArray]:
    """Return two columns with one code per name; names of the other one alone are numbered behind.

    Examples
    --------
    >>> [column.tolist() for column in common_codes(("a", "b"), np.array([0, 1]), ("c", "b"), np.array([0, 1]))]
    [[0, 1], [2, 1]]
    """
    number = number_names(names)
    translate = np.array([number.setdefault(name, len(number)) for name in other_names], np.int64)
    return codes.astype(np.int64), translate[other_codes]


def same_names(codes: IntArray, names: Sequence[str], other_codes: IntArray, other_names: Sequence[str]) -> bool:
    """Return whether two columns name the same, row by row, whatever their codes."""
    if len(codes) != len(other_codes):
        return False
    return len(codes) == 0 or np.array_equal(translate_codes(codes, names, number_names(other_names)), other_codes)
