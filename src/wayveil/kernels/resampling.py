"""Walks along sampled positions: which points a speed allows, where somebody stays, and positions along routes.

Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; times increase strictly inside a trajectory.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.jit import inner, kernel

__all__ = ["find_stays", "longest_chains", "sample_walks"]


@kernel
def longest_chains(offsets, t, x, y, speed, look_back):
    """Mark (with 1) the rows of a longest chain of each trajectory: each next row can be reached at `speed`.

    Of chains of one length, the one that ends first; of predecessors of one length, the latest.  Where more than
    `look_back` rows in a row are left out, only the longest chain before them is tried for going on.  O(rows) time
    where everything can be reached and about that with few outliers, O(rows x look_back) at worst; O(rows) memory.
    """
    longest = np.int64(0)
    for i in range(offsets.size - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    length, before, best = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    keep = np.empty(t.size, np.int64)
    for row in range(t.size):
        keep[row] = 1
    for i in range(offsets.size - 1):
        low, size = offsets[i], offsets[i + 1] - offsets[i]
        at = np.int64(1)
        while at < size and _reaches(t, x, y, low + at - 1, low + at, speed):
            at += 1
        if at >= size:
            continue
        for j in range(size):
            length[j], before[j], at = 1, -1, j - 1
            first = max(np.int64(0), j - look_back)
            while at >= first and length[best[at]] >= length[j]:  # else nothing from here back is longer
                if length[at] >= length[j] and _reaches(t, x, y, low + at, low + j, speed):
                    length[j], before[j] = length[at] + 1, at
                at -= 1
            if first > 0:
                at = best[first - 1]
                if length[at] >= length[j] and _reaches(t, x, y, low + at, low + j, speed):
                    length[j], before[j] = length[at] + 1, at
            best[j] = j
            if j > 0 and length[best[j - 1]] >= length[j]:
                best[j] = best[j - 1]
            keep[low + j] = 0
        at = best[size - 1]
        while at >= 0:
            keep[low + at] = 1
            at = before[at]
    return keep


@inner
def _reaches(t, x, y, one, other, speed):
    dx, dy, reach = x[other] - x[one], y[other] - y[one], speed * (t[other] - t[one])
    return dx * dx + dy * dy <= reach * reach


@kernel
def find_stays(offsets, t, x, y, duration, radius):
    """Return the part that each row has in a stay: 0 none, 1 the first row, 2 inside, 3 the last row.

    A stay begins at the first row, not in an earlier stay, from which all rows for at least `duration` are no farther
    than `radius`; it ends before the first row that is.  O(rows) memory; O(rows) time where people either move or
    stay, since one row that is too far away answers for many, and O(rows x rows per `duration`) at worst.
    """
    part = np.zeros(t.size, np.int64)
    for trajectory in range(offsets.size - 1):
        i, high = offsets[trajectory], offsets[trajectory + 1]
        enough, far = i, i
        while i < high:
            while enough < high and t[enough] - t[i] < duration:
                enough += 1
            if enough == high:
                break
            if far <= i or not _is_far(x, y, i, far, radius):
                far = enough
                while far > i and not _is_far(x, y, i, far, radius):
                    far -= 1
            if far > i:
                i += 1
                continue
            last = enough
            while last + 1 < high and not _is_far(x, y, i, last + 1, radius):
                last += 1
            for row in range(i, last):
                part[row] = 2
            part[i], part[last] = 1, 3
            i = last + 1
    return part


@inner
def _is_far(x, y, one, other, radius):
    dx, dy = x[other] - x[one], y[other] - y[one]
    return dx * dx + dy * dy > radius * radius


@kernel
def sample_walks(first_trip, home, pace, plan, arrive, n_points, period, target, towards, left, node_x, node_y):
    """Return x and y every `period` seconds on the trips of people; trip `i` has ``n_points[i]`` positions.

    Person `p` makes the trips ``first_trip[p]:first_trip[p + 1]``: the first from node ``home[p]``, each next one from
    where the one before was heading, to the targets that its row of `plan` lists, over and over; with `arrive` only to
    the first one, where it ends.  From node `v` the way to the node ``target[d]`` goes by ``towards[d, v]`` and takes
    ``left[d, v]`` seconds at pace 1.  O(positions + nodes on the way) time, O(positions) memory.
    """
    rows = np.int64(0)
    for trip in range(n_points.size):
        rows += n_points[trip]
    x, y = np.empty(rows, np.float64), np.empty(rows, np.float64)
    row = np.int64(0)
    for p in range(home.size):
        v = home[p]
        for trip in range(first_trip[p], first_trip[p + 1]):
            leg, now, step, after = np.int64(0), 0.0, 1.0, v
            d = _other_target(plan[trip, 0], v, target)
            for k in range(n_points[trip]):
                due = k * period * pace[p]
                while v != target[d]:
                    after = towards[d, v]
                    step = left[d, v] - left[d, after]
                    if now + step > due:
                        break
                    now += step
                    v = after
                    if v == target[d] and not arrive:
                        leg = (leg + 1) % plan.shape[1]
                        d = _other_target(plan[trip, leg], v, target)
                share = 0.0 if v == target[d] else (due - now) / step
                x[row] = node_x[v] + (node_x[after] - node_x[v]) * share
                y[row] = node_y[v] + (node_y[after] - node_y[v]) * share
                row += 1
            v = target[d]
    return x, y


@inner
def _other_target(d, v, target):
    """Return target `d`, or the next one where `d` is the node `v` itself; of one target there is no other."""
    return d if target[d] != v else (d + 1) % target.size
