"""Trajectories that are published alike: the groups in which people hide, where no method tells them."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.model import Data, Regions, Routes, Stops
from wayveil.model.ragged import IntArray, keep_rows, trajectory_of_row

__all__ = ["alike"]


def alike(after: Data) -> IntArray | None:
    """Return a number per trajectory, equal for those that are published alike; negative for those without rows.

    None for visits and points, where nobody hides among equal trajectories.  Routes must also have the same slice of
    time, and of stops only those count that are not sensitive.

    Examples
    --------
    >>> box, other = (0, 9, 0.0, 1.0, 0.0, 1.0), (0, 9, 0.0, 2.0, 0.0, 1.0)
    >>> alike(Regions.from_records([[box], [other], [], [box], [box, box]])).tolist()
    [0, 1, -1, 0, 4]
    """
    offsets: IntArray
    columns: tuple[IntArray, ...]
    if isinstance(after, Regions):
        sides = (after.x_min, after.x_max, after.y_min, after.y_max)
        offsets, columns = after.offsets, (after.t_min, after.t_max, *(side.view(np.int64) for side in sides))
    elif isinstance(after, Routes):
        slices = np.unique(np.stack([after.t_start, after.t_end]), axis=1, return_inverse=True)[1].reshape(-1)
        passage = slices[trajectory_of_row(after.offsets)] * len(after.network) + after.road
        # The kernel is compiled for arrays that can be written to, as methods give them, and need not be once more.
        offsets, columns = after.offsets.copy(), (passage,)
    elif isinstance(after, Stops):
        known = ~after.sensitive
        offsets, columns = keep_rows(after.offsets, known), (after.place[known].astype(np.int64),)
    else:
        return None
    first = first_equal(offsets, columns)
    first = np.where(first < 0, len(after), first)  # nothing but sensitive stops: these trajectories are alike, too
    return np.where(np.diff(after.offsets) > 0, first, -1)
