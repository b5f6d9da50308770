"""Trajectories that are published alike: the groups in which people hide, where no method tells them."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.model import Data
from wayveil.model.data.ragged import IntArray

__all__ = ["alike"]


def alike(after: Data) -> IntArray | None:
    """Return a number per trajectory, equal for those that are published alike; negative for those without rows.

    None for visits and points, where nobody hides among equal trajectories.  Routes must also have the same slice of
    time, and of stops only those count that are not sensitive.

    Examples
    --------
    >>> from wayveil.model import Boxes
    >>> box, other = (0, 9, 0.0, 1.0, 0.0, 1.0), (0, 9, 0.0, 2.0, 0.0, 1.0)
    >>> alike(Boxes.from_records([[box], [other], [], [box], [box, box]])).tolist()
    [0, 1, -1, 0, 4]
    """
    columns = after.equal_columns()
    if columns is None:
        return None
    first = first_equal(*columns)
    first = np.where(first < 0, len(after), first)  # nothing but sensitive stops: these trajectories are alike, too
    return np.where(after.nonempty, first, -1)
