"""Rows in the order of their times or numbers, and what cannot be put in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import polars as pl

from wayveil.io.read.trajectory_tables import refuse_missing
from wayveil.io.tabular.messages import count
from wayveil.io.tabular.table import Rows
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["one_row_per_time", "refuse_disorder", "sequence_of", "time_order"]


def time_order(trajectory: IntArray, t: IntArray) -> tuple[IntArray | None, int]:
    """Return (the rows by trajectory, time and place in the file; how many trajectories were not in time order).

    None stands for rows that already are in this order.

    Examples
    --------
    >>> order, unsorted = time_order(np.array([0, 1, 0]), np.array([5, 1, 3]))
    >>> order.tolist(), unsorted
    ([2, 0, 1], 1)
    """
    step = np.diff(trajectory)
    # Files are mostly sorted already, and then nothing is sorted or copied.
    if not ((step < 0) | ((step == 0) & (t[1:] < t[:-1]))).any():
        return None, 0
    low = int(t.min())
    span = int(t.max()) - int(t.min()) + 1
    if span * (int(trajectory.max()) + 1) < 2**63:  # one key sorts four times as fast as two
        order = np.argsort(trajectory * span + (t - low), kind="stable")
    else:
        order = np.lexsort((t, trajectory))
    by_trajectory = trajectory[order]
    # A trajectory was out of order where a later row of the file now stands before an earlier one.
    backwards = (np.diff(order) < 0) & (np.diff(by_trajectory) == 0)
    return order, len(np.unique(by_trajectory[1:][backwards]))


def one_row_per_time(
    rows: Rows,
    trajectory: IntArray,
    t: IntArray,
    place: Mapping[str, np.ndarray],
    order: IntArray | None,
    on_duplicate_time: Literal["first", "last"] | None,
    noun: str,
) -> tuple[BoolArray | None, tuple[str, ...]]:
    """Return (rows to keep, or None for all; notes) for rows sorted by `time_order`.

    Rows that repeat another one are dropped.  Different places of one trajectory at one time are refused, unless
    `on_duplicate_time` says which one in the order of the file to keep.  `noun` is what a row is, for messages.
    """
    same = np.zeros(len(t), np.bool_)
    same[1:] = (trajectory[1:] == trajectory[:-1]) & (t[1:] == t[:-1])
    if not same.any():
        return None, ()
    followed = np.append(same[1:], False)
    several = np.flatnonzero(same | followed)
    # Only rows that share their time with another are looked at, grouped by case: one trajectory at one time.
    cases = pl.DataFrame(
        {
            "case": np.cumsum(~same)[several],
            **{name: values[several] for name, values in place.items()},
            "row": several if order is None else order[several],
        }
    )
    different = cases.unique(["case", *place], keep="first", maintain_order=True)
    repeated = cases.height - different.height
    clashing = different.filter(pl.len().over("case") > 1)
    # The second different row of a case is where a reader of the file meets the problem.
    clashes = clashing.group_by("case").agg(pl.len(), a=pl.col("row").min(), b=pl.col("row").sort().get(1))
    notes = []
    if repeated:
        notes.append(f"{count(repeated, 'exact duplicate row')} {'was' if repeated == 1 else 'were'} dropped.")
    if clashes.height:
        if on_duplicate_time is None:
            a, b = clashes.sort("b").select("a", "b").row(0)
            times = "1 time" if clashes.height == 1 else f"{clashes.height:,} times, first"
            raise rows.table.wrong(
                f"a trajectory has different {noun}s at one time, {times} at {rows.place(a)} and {rows.place(b)}. "
                "Correct them, or keep one of each with --on-duplicate-time first or last."
            )
        dropped = int(clashes["len"].sum()) - clashes.height
        notes.append(
            f"{count(dropped, noun)} {'was' if dropped == 1 else 'were'} dropped because the trajectory has another "
            f"{noun} at the same time; the {on_duplicate_time} in the file was kept."
        )
    # Of equal times the first or the last row stays; exact repetitions are dropped either way.
    return (~followed if on_duplicate_time == "last" else ~same), tuple(notes)


def sequence_of(rows: Rows, position: int, noun: str) -> IntArray:
    """Return the column seq as whole numbers; `noun` is what a row is, for messages."""
    refuse_missing(rows, position)
    values = rows.frame[str(position)]
    name = rows.table.names[position]
    whole = values.cast(pl.Int64, strict=False)
    # A float that is no whole number is an error, not a number to be rounded.
    if values.dtype.is_float():
        whole = whole.set((values != values.floor()).fill_null(True), None)
    rows.refuse(
        whole.is_null(),
        f"column '{name}' is not a whole number",
        f"It says in which order the {noun}s of a trajectory come; number them 0, 1, 2, ...",
    )
    return whole.to_numpy()


def refuse_disorder(
    rows: Rows,
    order: IntArray | None,
    trajectory: IntArray,
    seq: tuple[int, IntArray],
    t: tuple[int | None, IntArray],
    noun: str,
) -> None:
    """Raise InputError where a trajectory has one seq twice, or a time that is earlier than that of the row before.

    `seq` and `t` are (position of the column, values), the values by trajectory and seq as `order` has the rows.
    """
    same = trajectory[1:] == trajectory[:-1]
    again = seq[1][1:] == seq[1][:-1]
    early = t[1][1:] < t[1][:-1]
    # Both rules look at neighbours in the order of seq; the row that is told is that of the file.
    for at, bad, problem, remedy in (
        (seq[0], again, "repeats a number of the same trajectory", f"Every {noun} has a place of its own."),
        (t[0], early, f"is earlier than at the {noun} before", "Times must not decrease in the order of seq."),
    ):
        rows_wrong = np.flatnonzero(same & bad) + 1
        if at is not None and len(rows_wrong):
            wrong = np.zeros(len(rows), np.bool_)
            wrong[rows_wrong if order is None else order[rows_wrong]] = True
            rows.refuse(wrong, f"column '{rows.table.names[at]}' {problem}", f"{remedy} Correct these rows.")
