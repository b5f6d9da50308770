"""Where in the disc around the centre of a cluster each member is published, independently of where it was."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from wayveil.model import Points
from wayveil.model.ragged import FloatArray, IntArray

__all__ = ["Offsets", "draw_offsets"]


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


def draw_offsets(data: Points, radius: float, rng: np.random.Generator) -> Offsets:
    """Return an offset (x, y) per trajectory: uniform in the disc of this radius, and the same for all of its points.

    Members of a cluster that are published at such offsets from one common curve can be exchanged for each other:
    nothing about a published trajectory depends on which of them it is.

    The stream of numbers is SHAKE-256 of all points and of what `rng` draws.  A seed that somebody guesses would
    otherwise give back the offset of the first, second, ... trajectory of the input, and so the order of the input; now
    it takes all points as well, and who has these has nothing left to learn.  Only products and sums are used, so that
    every machine finds the same bits.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)], [(0, 2.0, 0.0)]])
    >>> x, y = draw_offsets(data, 10.0, np.random.default_rng(0))
    >>> len(x), bool((x * x + y * y <= 100).all()), len(set(x.tolist()))
    (3, True, 3)
    """
    points = hashlib.blake2b(rng.bytes(32))
    for column in (data.offsets, data.t, data.x, data.y):
        points.update(np.ascontiguousarray(column).data)
    key = points.digest()
    x = np.zeros(len(data))
    y = np.zeros(len(data))
    missing: IntArray = np.arange(len(data))
    # Points of the square around the disc, until each trajectory has one in the disc: about one in five needs another.
    attempt = 0
    while len(missing):
        stream = hashlib.shake_256(key + attempt.to_bytes(8, "big")).digest(16 * len(missing))
        bits = np.frombuffer(stream, "<u8").reshape(2, len(missing)) >> np.uint64(11)
        across, along = bits.astype(np.float64) * 2.0**-52 - 1.0
        inside = across * across + along * along <= 1.0
        x[missing[inside]] = across[inside] * radius
        y[missing[inside]] = along[inside] * radius
        missing = missing[~inside]
        attempt += 1
    return Offsets(x, y)
