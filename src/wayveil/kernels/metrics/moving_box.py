"""A box whose sides move evenly, and a square or a disc: whether it comes near or lies inside, ever or all the time.

Everything is convex: the distance of a box in even motion from a convex region is a convex function of time, and so is
how far the box reaches out of it.  So what is true at both ends of the motion is true all the time.

A moving box `p` is a tuple: x_min, x_max, y_min and y_max at the start, then at the end.  A region has the centre
(x, y), and `half` is half the side of the square or the radius of the disc.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["is_near", "is_within", "piece_at", "stays_near", "stays_within"]


@inner
def piece_at(start, stop, box, next_box, begin, end):
    """Return the first and the last box, one after the other, of a piece of motion in the time from `begin` to `end`.

    The piece goes evenly from `box` at `start` to `next_box` at `stop`; it must touch that time.
    """
    u = 0.0
    v = 1.0
    if stop > start:
        u = max(0.0, (begin - start) / (stop - start))
        v = min(1.0, (end - start) / (stop - start))
    dx = next_box[0] - box[0]
    ex = next_box[1] - box[1]
    dy = next_box[2] - box[2]
    ey = next_box[3] - box[3]
    w = 1.0 - v  # so that both ends are exact, and what does not move does not move by rounding
    return (
        box[0] + u * dx, box[1] + u * ex, box[2] + u * dy, box[3] + u * ey,
        next_box[0] - w * dx, next_box[1] - w * ex, next_box[2] - w * dy, next_box[3] - w * ey,
    )  # fmt: skip


@inner
def is_near(p, x, y, half, radius, disc):
    """Whether the moving box `p` ever comes as near as `radius` to the region."""
    core = 0.0 if disc else half  # a disc is a point with a longer reach
    reach = half + radius if disc else radius
    # How far the box is to the left, right, below and above of the core (negative: not at all), and how that changes.
    gap = x - core - p[1], p[0] - x - core, y - core - p[3], p[2] - y - core
    last = x - core - p[5], p[4] - x - core, y - core - p[7], p[6] - y - core
    speed = last[0] - gap[0], last[1] - gap[1], last[2] - gap[2], last[3] - gap[3]
    limit = reach * reach
    if _distance(gap[0], gap[1], gap[2], gap[3]) <= limit or _distance(last[0], last[1], last[2], last[3]) <= limit:
        return True
    # Else two gaps matter at the nearest moment.  Both are open, and it is where the sum of their squares is least;
    # or it is a while that begins as one closes and ends as the other opens, and the sum is least in that while too.
    for i in range(3):
        for j in range(i + 1, 4):
            square = speed[i] * speed[i] + speed[j] * speed[j]
            if square > 0.0:
                u = -(gap[i] * speed[i] + gap[j] * speed[j]) / square
                if 0.0 < u < 1.0 and limit >= _distance(
                    gap[0] + u * speed[0], gap[1] + u * speed[1], gap[2] + u * speed[2], gap[3] + u * speed[3]
                ):
                    return True
    return False


@inner
def _distance(left, right, below, above):
    """The squared distance that these gaps, of which some may be negative, mean."""
    gx = max(0.0, left, right)
    gy = max(0.0, below, above)
    return gx * gx + gy * gy


@inner
def stays_near(p, x, y, half, radius, disc):
    """Whether both ends come within `radius` of the square of half side or the disc of radius `half`."""
    core = 0.0 if disc else half  # a disc is a point with a longer reach
    reach = half + radius if disc else radius
    start = _distance(x - core - p[1], p[0] - x - core, y - core - p[3], p[2] - y - core)
    stop = _distance(x - core - p[5], p[4] - x - core, y - core - p[7], p[6] - y - core)
    return start <= reach * reach and stop <= reach * reach


@inner
def stays_within(p, x, y, size, disc):
    """Whether both ends lie in the square of half side or the disc of radius `size`."""
    for at in (0, 4):
        gx = max(x - p[at], p[at + 1] - x)
        gy = max(y - p[at + 2], p[at + 3] - y)
        if size < 0.0 or (gx * gx + gy * gy > size * size if disc else max(gx, gy) > size):
            return False
    return True


@inner
def is_within(p, x, y, size, disc):
    """Whether the moving box ever lies in the square of half side or the disc of radius `size`.

    Each side (of a square) and each corner (in a disc) is inside during an interval; the box is where all of them are.
    """
    low = 0.0
    high = 1.0
    if size < 0.0:
        return False
    # Before each round low:high is the time in which all sides or corners so far are inside; a round cuts it down to
    # the interval of one more: for a corner between the roots of a quadratic equation, for a side up to or from a
    # moment on.
    for i in range(4):
        if disc:
            gx = p[i % 2] - x
            gy = p[2 + i // 2] - y
            hx = p[4 + i % 2] - x - gx
            hy = p[6 + i // 2] - y - gy
            a = hx * hx + hy * hy
            c = gx * gx + gy * gy - size * size
            e = gx * hx + gy * hy
            if a == 0.0 and c > 0.0:
                return False
            if a > 0.0:
                root = e * e - a * c
                if root < 0.0:
                    return False
                low = max(low, (-e - np.sqrt(root)) / a)
                high = min(high, (-e + np.sqrt(root)) / a)
        else:
            sign = 1.0 if i % 2 else -1.0
            middle = x if i < 2 else y
            out = sign * (p[i] - middle) - size  # how far this side is out of the square, at the start
            speed = sign * (p[i + 4] - middle) - size - out
            if speed == 0.0 and out > 0.0:
                return False
            if speed > 0.0:
                high = min(high, -out / speed)
            elif speed < 0.0:
                low = max(low, -out / speed)
    return low <= high
