"""Editing trajectories in space and time until they run along the pivot of their cluster."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.clusters.disk_moves import clamp
from wayveil.kernels.clusters.edr import DELETE, INSERT, edr_script
from wayveil.kernels.clusters.lstd import lstd
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["edit"]


@kernel
def edit(offsets, x, y, t, s, label, measure, half, off_x, off_y, out_offsets, out_t, out_x, out_y, begin, end):
    """Write the trajectories from `begin` to `end` as they are published; return what it took.

    The trajectory of a cluster gets as many points as its pivot ``label[i]`` and the same timestamps: for each point of
    the pivot, its own point that is aligned to it, moved to at most `half` away.  Where `off_x` and `off_y` hold a
    number per trajectory, it is put at this offset from the pivot instead, wherever it was.  Returns per trajectory the
    way moved, the time moved, and the points created and deleted.  Cost as `lstd` or `edr_script` for each trajectory.
    """
    longest = np.int64(1)
    for i in range(begin, end):
        longest = max(longest, out_offsets[i + 1] - out_offsets[i])
    source, done = np.empty(longest, np.int64), np.zeros((end - begin, 4), np.float64)
    for i in range(begin, end):
        p = label[i]
        if p < 0:
            continue
        q_begin, q_end, p_begin, p_end = offsets[i], offsets[i + 1], offsets[p], offsets[p + 1]
        if p == i:
            for j in range(p_end - p_begin):
                source[j] = j
        elif measure.is_edr:
            _, script = edr_script(
                x, y, t, q_begin, q_end, p_begin, p_end, measure.dx, measure.dy, measure.dt
            )  # fmt: skip
            done[i - begin, 2], done[i - begin, 3] = _follow(script, source)
        else:
            lstd(x, y, s, p_begin, p_end, q_begin, q_end, measure.unit, measure.cap, source)
            done[i - begin, 2] = max(0, (p_end - p_begin) - (q_end - q_begin))
            done[i - begin, 3] = max(0, (q_end - q_begin) - (p_end - p_begin))
        for j in range(p_end - p_begin):
            invented = source[j] < 0
            a = q_begin + (-source[j] - 1 if invented else source[j])
            b, out = p_begin + j, out_offsets[i] + j
            out_t[out] = t[b]
            if off_x.size > 0:
                out_x[out], out_y[out] = clamp(x[b] + off_x[i], y[b] + off_y[i], x[b], y[b], half)
            else:
                out_x[out], out_y[out] = clamp(x[a], y[a], x[b], y[b], half)
            if not invented:
                if off_x.size > 0:
                    done[i - begin, 0] += np.sqrt((x[a] - out_x[out]) ** 2 + (y[a] - out_y[out]) ** 2)
                else:
                    far = np.sqrt((x[a] - x[b]) ** 2 + (y[a] - y[b]) ** 2)
                    done[i - begin, 0] += max(0.0, far - half)
                done[i - begin, 1] += abs(t[a] - t[b])
    return done


@inner
def _follow(script, source):
    """Note which own point each point of the pivot gets; return how many points are created and deleted.

    A created point is a copy of the own point before, or of the first one; ``-1 - point`` says that it is a copy.
    """
    i, j, created, deleted = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for step in range(script.size):
        if script[step] == DELETE:
            deleted += 1
            i += 1
        elif script[step] == INSERT:
            source[j] = -1 - max(i - 1, 0)
            created += 1
            j += 1
        else:
            source[j] = i
            i += 1
            j += 1
    return created, deleted
