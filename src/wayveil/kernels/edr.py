"""Edit distance on real sequences: how many points to insert, delete or replace until all points match.

Two points match if they differ by at most dx, dy and dt.  ``D(i, j)``, the distance of what is left from point i of one
and point j of the other on, is the least of D(i + 1, j) + 1, D(i, j + 1) + 1 and D(i + 1, j + 1) + (0 if they match,
else 1); with nothing left of one, it is what is left of the other.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["DELETE", "INSERT", "MATCH", "REPLACE", "edr", "edr_script"]

MATCH, REPLACE, DELETE, INSERT = 0, 1, 2, 3


@inner
def edr(x, y, t, q_begin, q_end, p_begin, p_end, dx, dy, dt, line):
    """Return the distance of two trajectories; `line` is room for one more number than p has points.

    O(product of the lengths) time.
    """
    n_p = p_end - p_begin
    for j in range(n_p + 1):
        line[j] = n_p - j
    for i in range(q_end - 1, q_begin - 1, -1):
        _next_line(x, y, t, i, q_end, p_begin, n_p, dx, dy, dt, line)
    return line[0]


@kernel
def edr_script(x, y, t, q_begin, q_end, p_begin, p_end, dx, dy, dt):
    """Return (distance, steps that turn q into p): a shortest script, one of the four constants per step.

    Among equally good steps a match comes first, then to replace, then to insert.  O(product of the lengths) time, and
    one byte for each pair of points.
    """
    n_q, n_p = q_end - q_begin, p_end - p_begin
    line, best = np.empty(n_p + 1, np.int64), np.empty((n_q, n_p), np.int8)
    for j in range(n_p + 1):
        line[j] = n_p - j
    below = np.empty(n_p + 1, np.int64)
    for i in range(n_q - 1, -1, -1):
        for j in range(n_p + 1):
            below[j] = line[j]
        _next_line(x, y, t, q_begin + i, q_end, p_begin, n_p, dx, dy, dt, line)
        for j in range(n_p):
            if _match(x, y, t, q_begin + i, p_begin + j, dx, dy, dt):
                best[i, j] = MATCH
            elif below[j + 1] <= line[j + 1] and below[j + 1] <= below[j]:
                best[i, j] = REPLACE
            elif line[j + 1] > below[j]:
                best[i, j] = DELETE
            else:
                best[i, j] = INSERT
    script, n_steps, i, j = np.empty(n_q + n_p, np.int64), np.int64(0), np.int64(0), np.int64(0)
    while i < n_q or j < n_p:
        step = INSERT
        if j == n_p:
            step = DELETE
        elif i < n_q:
            step = np.int64(best[i, j])
        script[n_steps] = step
        n_steps += 1
        if step != INSERT:
            i += 1
        if step != DELETE:
            j += 1
    return line[0], script[:n_steps].copy()


@inner
def _next_line(x, y, t, i, q_end, p_begin, n_p, dx, dy, dt, line):
    """Turn ``line[j] = D(i + 1, j)`` into ``D(i, j)``."""
    diagonal = line[n_p]
    line[n_p] = q_end - i
    for j in range(n_p - 1, -1, -1):
        least = diagonal if _match(x, y, t, i, p_begin + j, dx, dy, dt) else diagonal + 1
        diagonal = line[j]
        line[j] = min(least, min(diagonal, line[j + 1]) + 1)


@inner
def _match(x, y, t, a, b, dx, dy, dt):
    return abs(t[a] - t[b]) <= dt and abs(x[a] - x[b]) <= dx and abs(y[a] - y[b]) <= dy
