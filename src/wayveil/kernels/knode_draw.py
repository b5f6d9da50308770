"""The boxes around groups, from the positions as they are."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["draw_boxes"]


@kernel
def draw_boxes(label, low_row, first_box, x, y):
    """Return the sides x_min, x_max, y_min, y_max of the boxes of all groups; O(samples that are published).

    Group g has the boxes from ``first_box[g]`` to before ``first_box[g + 1]``.  Trajectory v is in group ``label[v]``,
    or in none if that is -1, and its position in the first of these boxes is row ``low_row[v]`` of x and y.
    """
    side = np.empty((4, first_box[first_box.size - 1]), np.float64)
    drawn = np.zeros(first_box.size, np.int64)
    for v in range(label.size):
        g = label[v]
        if g < 0:
            continue
        for box in range(first_box[g], first_box[g + 1]):
            row = low_row[v] + box - first_box[g]
            if drawn[g] == 0:
                side[0, box], side[1, box], side[2, box], side[3, box] = x[row], x[row], y[row], y[row]
            else:
                side[0, box], side[1, box] = min(side[0, box], x[row]), max(side[1, box], x[row])
                side[2, box], side[3, box] = min(side[2, box], y[row]), max(side[3, box], y[row])
        drawn[g] = 1
    return side
