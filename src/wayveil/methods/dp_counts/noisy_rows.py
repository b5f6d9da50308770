"""Rows of a noisy table, and the totals that add them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.model import CountTables
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["NoisyRows"]


@dataclass(frozen=True, kw_only=True)
class NoisyRows:
    """Rows of the table.

    Parameters
    ----------
    zone, to_zone : int64, one per row
        Codes of `names`, of which 0 is all zones.
    t : int64, one per row
        When the bucket of time begins.
    timed : bool, one per row
        Whether the row is of one bucket.
    count : int64, one per row
        The noisy number.
    names : tuple of str
        The zones.
    """

    zone: IntArray
    to_zone: IntArray
    t: IntArray
    timed: BoolArray
    count: IntArray
    names: tuple[str, ...]

    def with_totals(self, tally: str) -> NoisyRows:
        """Return the rows and their sums: of each zone and each time and all; of flows, of both ends at each time."""
        nowhere = np.zeros_like(self.zone)
        never = np.zeros_like(self.timed)
        if tally == "zones":
            lines = [(self.zone, nowhere, never), (nowhere, nowhere, self.timed), (nowhere, nowhere, never)]
        else:
            lines = [
                (self.zone, nowhere, self.timed),
                (nowhere, self.to_zone, self.timed),
                (nowhere, nowhere, self.timed),
            ]
        return _join([self, *(self._sums(*line) for line in lines)])

    def _sums(self, zone: IntArray, to_zone: IntArray, timed: BoolArray) -> NoisyRows:
        """Return a row for each group of rows that are the same but for what is added up."""
        keys = np.stack([zone, to_zone, np.where(timed, self.t, 0), timed.astype(np.int64)])
        groups, group = np.unique(keys, axis=1, return_inverse=True)
        count = np.zeros(groups.shape[1], np.int64)
        np.add.at(count, group.reshape(-1), self.count)
        return NoisyRows(
            zone=groups[0], to_zone=groups[1], t=groups[2], timed=groups[3] == 1, count=count, names=self.names
        )

    def table(self, data: Any, *, timed: bool) -> CountTables:
        """Return the rows as a table, in order of time and zone; without times where the data have none."""
        has_time = self.timed & timed
        t = np.where(has_time, self.t, 0)
        order = np.lexsort((self.to_zone, self.zone, t, has_time))
        return CountTables(
            offsets=np.array([0, len(order)]),
            owner=np.full(1, -1),
            zone=self.zone[order],
            to_zone=self.to_zone[order],
            t=t[order],
            timed=has_time[order],
            count=self.count[order],
            zones=self.names,
            time_format=data.time_format,
            owners=data.owners,
        )


def _join(parts: list[NoisyRows]) -> NoisyRows:
    columns = ("zone", "to_zone", "t", "timed", "count")
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
    return NoisyRows(**joined, names=parts[0].names)
