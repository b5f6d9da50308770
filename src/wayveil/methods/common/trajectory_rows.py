"""Some trajectories of many, as work for a task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model.data.ragged import IntArray, offsets_of

__all__ = ["TrajectoryRows"]

Columns = tuple[NDArray[Any], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryRows:
    """Trajectories that lie in columns with many others: nothing is copied, but only their own rows travel to a worker.

    Parameters
    ----------
    begin, end : int64, one per trajectory
        Trajectory `i` has the rows ``begin[i]:end[i]`` of every column.
    columns : tuple of arrays
        Not to be written to: other tasks may have the same.

    Examples
    --------
    >>> import pickle
    >>> picked = TrajectoryRows(begin=np.array([4, 0]), end=np.array([6, 1]), columns=(np.arange(1000),))
    >>> there = pickle.loads(pickle.dumps(picked))
    >>> there.begin.tolist(), there.end.tolist(), there.columns[0].tolist()
    ([0, 2], [2, 3], [4, 5, 0])
    """

    begin: IntArray
    end: IntArray
    columns: Columns

    def packed(self) -> tuple[IntArray, Columns]:
        """Return offsets and columns of these trajectories alone: copies, which may be written to."""
        lengths = self.end - self.begin
        offsets = offsets_of(lengths)
        rows = np.arange(offsets[-1]) + np.repeat(self.begin - offsets[:-1], lengths)
        return offsets, tuple(column[rows] for column in self.columns)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, self.packed()


def _unpickled(offsets: IntArray, columns: Columns) -> TrajectoryRows:
    return TrajectoryRows(begin=offsets[:-1], end=offsets[1:], columns=columns)
