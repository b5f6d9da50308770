"""What is drawn for trajectories: who leads a cluster, and where in its disc a member is published.

Neither depends on anybody else in the input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.model import Frame
from wayveil.model.data.ragged import FloatArray, IntArray

__all__ = ["Offsets", "draw_offsets", "draw_ranks"]

_AT_ONCE = 4096


class Offsets(NamedTuple):
    """The offset from the centre of its cluster at which each trajectory is published; empty if none is prescribed."""

    x: FloatArray
    y: FloatArray

    @classmethod
    def free(cls) -> Offsets:
        """Return no offsets: members go to the place in the disc that is nearest to where they were."""
        return cls(np.zeros(0), np.zeros(0))

    def of(self, which: IntArray) -> Offsets:
        """Return the offsets of some trajectories."""
        return Offsets(self.x[which], self.y[which]) if len(self.x) else self


def draw_offsets(rows: TrajectoryRows, frame: Frame, radius: float, key: bytes) -> Offsets:
    """Return an offset (x, y) per trajectory: uniform in the disc of this radius, and the same for all of its points.

    Members of a cluster that are published at such offsets from one common curve can be exchanged for each other:
    nothing about a published trajectory depends on which of them it is.

    The stream of numbers is SHAKE-256 of the key and of all points of these trajectories.  A key that somebody guesses
    would otherwise give back the offset of the first, second, ... trajectory of the input, and so the order of the
    input; now it takes all points as well, and who has these has nothing left to learn.  Only trajectories that are
    published may be among them: then the offsets tell of nobody else.  Rows have t, x and y.  Only products and sums
    are used, so that every machine finds the same bits.

    Examples
    --------
    >>> columns = (np.arange(3), np.zeros(3), np.zeros(3))
    >>> rows = TrajectoryRows(begin=np.arange(3), end=np.arange(3) + 1, columns=columns)
    >>> x, y = draw_offsets(rows, Frame(), 10.0, b"secret")
    >>> len(x), bool((x * x + y * y <= 100).all()), len(set(x.tolist()))
    (3, True, 3)
    """
    n = len(rows.begin)
    points = hashlib.blake2b(key)
    for offsets, table in _tables(rows, frame):
        points.update(np.diff(offsets).data)
        points.update(table.data)
    stream_key = points.digest()
    x = np.zeros(n)
    y = np.zeros(n)
    missing: IntArray = np.arange(n)
    # Points of the square around the disc, until each trajectory has one in the disc: about one in five needs another.
    attempt = 0
    while len(missing):
        stream = hashlib.shake_256(stream_key + attempt.to_bytes(8, "big")).digest(16 * len(missing))
        bits = np.frombuffer(stream, "<u8").reshape(2, len(missing)) >> np.uint64(11)
        across, along = bits.astype(np.float64) * 2.0**-52 - 1.0
        inside = across * across + along * along <= 1.0
        x[missing[inside]] = across[inside] * radius
        y[missing[inside]] = along[inside] * radius
        missing = missing[~inside]
        attempt += 1
    return Offsets(x, y)


def draw_ranks(rows: TrajectoryRows, frame: Frame, key: bytes) -> IntArray:
    """Return a random number per trajectory that follows from the key and its own points: nobody else changes it.

    Examples
    --------
    >>> columns = (np.array([1, 2, 9, 1, 2]), np.zeros(5), np.ones(5))
    >>> rows = TrajectoryRows(begin=np.array([0, 2, 3]), end=np.array([2, 3, 5]), columns=columns)
    >>> first, other, again = draw_ranks(rows, Frame(), b"key").tolist()
    >>> first == again, first == other
    (True, False)
    """
    ranks: list[int] = []
    for offsets, table in _tables(rows, frame):
        content = table.tobytes()
        ends = (offsets * (len(content) // max(1, len(table)))).tolist()
        for low, high in pairwise(ends):
            digest = hashlib.blake2b(content[low:high], digest_size=8, key=key).digest()
            ranks.append(int.from_bytes(digest, "big") >> 1)
    return np.array(ranks, np.int64)


def _tables(rows: TrajectoryRows, frame: Frame) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield offsets and numbers of trajectories, some at a time, so that not all of their points are copied at once.

    Degrees are those of the file, in units of 1e-9, so that numbers are the same in every frame.
    """
    for low in range(0, len(rows.begin), _AT_ONCE):
        some = slice(low, low + _AT_ONCE)
        offsets, (t, x, y) = replace(rows, begin=rows.begin[some], end=rows.end[some]).packed()
        if frame.degrees:
            x, y = (np.rint(column * 1e9) for column in frame.to_file(x, y))
        yield offsets, np.column_stack([t, (x + 0.0).view(np.int64), (y + 0.0).view(np.int64)])
