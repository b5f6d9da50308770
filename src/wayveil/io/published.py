"""Publications to disk and back: fresh ids, an order that tells nothing, and a reader that forgives nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.io.codes import by_name
from wayveil.io.output import visits_frame, write_table
from wayveil.io.table import Rows, open_table
from wayveil.io.times import parse_times, time_pattern, time_type
from wayveil.io.visits import Loaded
from wayveil.io.words import listed
from wayveil.model import Coded, Owners, TimeFormat, Visits
from wayveil.model.ragged import IntArray

__all__ = ["read_published", "write_published"]

_FORMS = {"integer": ("integer", "epoch"), "epoch": ("integer", "epoch"), "utc": ("utc",), "local": ("local",)}


def write_published(data: Visits, path: str | Path, *, rng: np.random.Generator) -> IntArray:
    """Write visits for the public: traj_id, t, location and the attributes, under fresh random ids.

    Parameters
    ----------
    data : Visits
        Trajectories without visits are not written.
    path : str or Path
        Ends in .csv or .parquet.
    rng : numpy.random.Generator
        The same state gives the same bytes.

    Returns
    -------
    source : int64, one per written trajectory
        The i-th trajectory of the file is trajectory ``source[i]`` of `data`.  Private.

    Guarantee
    ---------
    Neither the ids nor the order of the rows depend on the ids, owners, order or content of the input: the ids are
    independent random numbers, and trajectories stand in the order of their ids.  Owners, and names of places and
    values that occur in no written row, do not leave.

    Raises
    ------
    OutputError
        If the file cannot be written.
    """
    written = np.flatnonzero(np.diff(data.offsets))
    numbers = _fresh_numbers(len(written), rng)
    order = np.argsort(numbers)
    source = written[order]
    public = data.take(source)
    ids = numbers[order].astype(">u8").tobytes().hex()
    names = pl.Series([ids[i : i + 16] for i in range(0, len(ids), 16)], dtype=pl.String)
    write_table(visits_frame(public, path, {"traj_id": names}), path, time_pattern(public.t, data.time_format))
    return source


def read_published(path: str | Path, *, time_format: TimeFormat, attributes: Sequence[str], owners: Owners) -> Loaded:
    """Read a published table back, exactly as it is: nothing is cleaned, sorted or forgiven.

    Parameters
    ----------
    path : str or Path
        What `write_published` wrote.
    time_format, attributes
        As in the data that were written; the columns must be traj_id, t, location and these attributes.
    owners : {"given", "assumed", "hidden"}
        What to note as the origin of the owners.  The file has none: each trajectory gets an owner of its own, which
        the caller replaces if it knows better.

    Returns
    -------
    Loaded
        Trajectories in the order of the file; a publication without rows has none.

    Raises
    ------
    InputError
        If the file is not as `write_published` writes it.
    """
    table = open_table(path)
    expected = ("traj_id", "t", "location", *attributes)
    if table.names != expected:
        raise table.wrong(
            f"not a published table: the columns must be {listed(expected)}, in this order, but are "
            f"{listed(table.names)}."
        )
    rows = table.read(range(len(expected)))
    if rows.blank:
        raise table.wrong(f"not a published table: it has {rows.blank:,} empty rows.")
    _check_types(rows, time_format)
    ids, location = rows.frame["0"], rows.frame["2"]
    _refuse(rows, location.is_null() | (location == "").fill_null(True), "location is empty")
    _refuse(rows, ~ids.str.contains("^[0-9a-f]{16}$").fill_null(False), "traj_id is not 16 hexadecimal digits")
    t = _times(rows, time_format)
    again = (ids == ids.shift(1)).fill_null(False)
    _refuse(rows, (ids < ids.shift(1)).fill_null(False), "traj_id is not in ascending order")
    late = np.zeros(len(t), np.bool_)
    late[1:] = t[1:] <= t[:-1]
    _refuse(rows, late & again.to_numpy(), "t does not increase inside a trajectory")
    start = np.flatnonzero(~again.to_numpy())
    offsets = np.append(start, len(t))
    codes, locations = by_name(location)
    return Loaded(
        data=Visits(
            offsets=offsets,
            location=codes,
            t=t,
            locations=locations,
            owner=np.arange(len(start)),
            attributes={name: _attribute(rows, i, offsets) for i, name in enumerate(attributes, start=3)},
            time_format=time_format,
            owners=owners,
        ),
        rows=len(rows),
        notes=(),
        ids=ids.gather(start),
    )


def _fresh_numbers(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return `n` different 64-bit numbers.

    They come from a hash of a key drawn from `rng`, not from `rng` itself: NumPy's generators can be rewound from
    enough of their output, and with them the order of the input.
    """
    while True:
        stream = hashlib.shake_256(b"wayveil traj_id" + rng.bytes(32)).digest(8 * n)
        numbers = np.frombuffer(stream, ">u8").astype(np.uint64)
        if len(np.unique(numbers)) == n:
            return numbers


def _refuse(rows: Rows, bad: pl.Series | np.ndarray, what: str) -> None:
    rows.refuse(bad, f"not a published table: {what}", "Publish again; a published file must not be edited.")


def _check_types(rows: Rows, time_format: TimeFormat) -> None:
    if rows.table.csv is not None:
        return
    wanted = {str(i): pl.String() for i in range(len(rows.table.names))} | {"1": time_type(time_format)}
    wrong = [rows.table.names[int(i)] for i, dtype in rows.frame.schema.items() if dtype != wanted[i]]
    if wrong:
        raise rows.table.wrong(f"not a published table: the type of column {listed(wrong)} is not the one written.")


def _times(rows: Rows, time_format: TimeFormat) -> IntArray:
    values = rows.frame["1"]
    _refuse(rows, values.is_null(), "t is empty")
    if not len(values):
        return np.zeros(0, np.int64)
    t, found, _ = parse_times(rows, 1)
    if found not in _FORMS[time_format]:
        raise rows.table.wrong(f"not a published table: t must be of the form '{time_format}', but is '{found}'.")
    return t


def _attribute(rows: Rows, position: int, offsets: IntArray) -> Coded:
    values = rows.frame[str(position)]
    codes, labels = by_name(values.set((values == "").fill_null(False), None))
    value = codes[offsets[:-1]]
    varies = codes != np.repeat(value, np.diff(offsets))
    _refuse(rows, varies, f"column '{rows.table.names[position]}' varies inside a trajectory")
    return Coded(codes=value, labels=labels)
