"""Which trajectory of a publication is which of the original: known to whoever publishes, to nobody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.io import as_published
from wayveil.model import Data, MethodResult, Points
from wayveil.model.data.ragged import IntArray, trajectory_of_row

__all__ = ["aligned", "cut_at_parts", "join_owners", "rejoin"]


def join_owners(readback: Data, written: Data, source: IntArray, owner: IntArray) -> Any:
    """Return the data read back with the true owners, or None where the file does not hold what was written."""
    expected = as_published(written.take(source))
    if not readback.same_content(expected):
        return None
    return replace(readback, owner=owner[source], owners=written.owners)


def aligned(readback: Any, source: IntArray, original: Data) -> Any:
    """Return published data with one trajectory per original one, in its order; without rows if not published."""
    nobody = len(readback)
    position = np.full(len(original), nobody, np.int64)
    position[source] = np.arange(nobody)
    return replace(readback.with_empty().take(position), owner=original.owner)


def cut_at_parts(original: Points, result: MethodResult) -> tuple[Points, IntArray]:
    """Return the original cut where a method cut it, and of each part of `result` the piece that it is of, or -1.

    The pieces are those of which parts are published, and what lies between them, of which nothing is: no row is lost.

    Examples
    --------
    >>> from wayveil.model import Boxes, KAnonymity
    >>> truth = Points.from_records([[(t, float(t), 0.0) for t in range(5)]])
    >>> boxes = Boxes.from_records([[(t, t, 0.0, 9.0, 0.0, 0.0) for t in times] for times in ((0, 1), (4,))])
    >>> made = MethodResult(data=boxes, claim=KAnonymity(k=2), source=np.array([0, 0]))
    >>> pieces, of = cut_at_parts(truth, made)
    >>> [[t for t, _, _ in pieces.record(i)] for i in range(3)], of.tolist()
    ([[0, 1], [2, 3], [4]], [0, 2])
    """
    assert result.source is not None
    parts: Any = result.data
    with_rows = np.flatnonzero(parts.nonempty)
    source = result.source[with_rows]
    begins, ends = parts.boxes()[:2]
    times = np.unique(original.t)
    key = trajectory_of_row(original.offsets) * (len(times) + 1) + np.searchsorted(times, original.t)
    first = source * (len(times) + 1) + np.searchsorted(times, begins[parts.offsets[with_rows]])
    last = source * (len(times) + 1) + np.searchsorted(times, ends[parts.offsets[with_rows + 1] - 1], side="right")
    start = np.searchsorted(key, first)
    offsets = np.unique(np.concatenate([original.offsets, start, np.searchsorted(key, last)]))
    trajectory = np.searchsorted(original.offsets, offsets[:-1], side="right") - 1
    of: IntArray = np.full(len(parts), -1)
    of[with_rows] = np.searchsorted(offsets, start)
    heads = original.where(np.zeros(original.n_rows, np.bool_)).take(trajectory)
    return replace(original, offsets=offsets, owner=heads.owner, attributes=heads.attributes), of


def rejoin(published: Any, pieces: Points, original: Points) -> Any:
    """Return what is published of each trajectory of the original, from what is of each of its pieces.

    Only whoever publishes knows which parts belong together; this is for counting what was lost.
    """
    begin = np.searchsorted(pieces.offsets[:-1], original.offsets)
    whole = published.where(np.zeros(published.n_rows, np.bool_)).with_empty()
    heads = whole.take(np.full(len(original), len(published)))
    columns = {name: getattr(published, name) for name in (*published.row_columns, *published.optional_row_columns)}
    return replace(heads, offsets=published.offsets[begin], owner=original.owner, **columns)
