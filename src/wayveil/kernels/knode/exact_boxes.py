"""The boxes around groups, from the positions as they are."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["draw_boxes"]

# The rows of the result.
_X_MIN = 0
_X_MAX = 1
_Y_MIN = 2
_Y_MAX = 3


@kernel
def draw_boxes(label, low_row, first_box, x, y):
    """Return the sides x_min, x_max, y_min, y_max of the boxes of all groups; O(samples that are published).

    Group g has the boxes from ``first_box[g]`` to before ``first_box[g + 1]``, one for each timestamp that its members
    share.  Trajectory v is in group ``label[v]``, or in none if that is -1, and its position in the first of these
    boxes is row ``low_row[v]`` of x and y.  Indices are int64, positions float64; the sides are rows of the result.
    """
    side = np.empty((4, first_box[first_box.size - 1]), np.float64)
    drawn = np.zeros(first_box.size, np.int64)  # 1 if the boxes of a group enclose somebody
    for v in range(label.size):
        g = label[v]
        if g < 0:
            continue
        for box in range(first_box[g], first_box[g + 1]):
            row = low_row[v] + box - first_box[g]
            if drawn[g] == 0:
                side[_X_MIN, box] = x[row]
                side[_X_MAX, box] = x[row]
                side[_Y_MIN, box] = y[row]
                side[_Y_MAX, box] = y[row]
            else:
                side[_X_MIN, box] = min(side[_X_MIN, box], x[row])
                side[_X_MAX, box] = max(side[_X_MAX, box], x[row])
                side[_Y_MIN, box] = min(side[_Y_MIN, box], y[row])
                side[_Y_MAX, box] = max(side[_Y_MAX, box], y[row])
        drawn[g] = 1
    return side
