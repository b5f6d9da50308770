"""Edit distance on real sequences (EDR): how many points to insert, delete or replace until all points match.

Two points match if they differ by at most dx, dy and dt.  ``D(i, j)``, the distance of what is left from point i of one
and point j of the other on, is the least of D(i + 1, j) + 1, D(i, j + 1) + 1 and D(i + 1, j + 1) + (0 if they match,
else 1); with nothing left of one, it is what is left of the other.

In every function q is the trajectory that is edited, p the one that it becomes, both numbers of trajectories of
`points`, a `TimedPoints`; `measure` is a `Measure`.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["DELETE", "INSERT", "MATCH", "REPLACE", "edr", "edr_script"]

# The steps of a script.
MATCH = 0
REPLACE = 1
DELETE = 2
INSERT = 3


@inner
def edr(points, measure, q, p, line):
    """Return the distance of two trajectories; `line` (int64) is room for one more number than p has points.

    O(product of the lengths) time.
    """
    n_p = points.offsets[p + 1] - points.offsets[p]
    for j in range(n_p + 1):
        line[j] = n_p - j  # with nothing left of q, the rest of p is inserted
    for i in range(points.offsets[q + 1] - 1, points.offsets[q] - 1, -1):
        _next_line(points, measure, q, p, i, line)
    return line[0]


@kernel
def edr_script(points, measure, q, p):
    """Return (distance, steps that turn q into p): a shortest script, one of the four constants per step.

    Among equally good steps a match comes first, then to replace, then to insert.  O(product of the lengths) time, and
    one byte for each pair of points.
    """
    q_begin = points.offsets[q]
    p_begin = points.offsets[p]
    n_q = points.offsets[q + 1] - q_begin
    n_p = points.offsets[p + 1] - p_begin
    line = np.empty(n_p + 1, np.int64)
    below = np.empty(n_p + 1, np.int64)
    best = np.empty((n_q, n_p), np.int8)

    # The table D, from its last line up.  Before each round `line` is the line of i + 1; the round makes that of i and
    # keeps of each entry only the step that attains it.  A match is always among the best: D differs by at most one
    # between neighbours.
    for j in range(n_p + 1):
        line[j] = n_p - j
    for i in range(n_q - 1, -1, -1):
        for j in range(n_p + 1):
            below[j] = line[j]
        _next_line(points, measure, q, p, q_begin + i, line)
        for j in range(n_p):
            replaced = below[j + 1]
            inserted = line[j + 1]
            deleted = below[j]
            if _match(points, measure, q_begin + i, p_begin + j):
                best[i, j] = MATCH
            elif replaced <= inserted and replaced <= deleted:
                best[i, j] = REPLACE
            elif inserted > deleted:
                best[i, j] = DELETE
            else:
                best[i, j] = INSERT

    # The script is the way through the table from D(0, 0) to the end of both.
    script = np.empty(n_q + n_p, np.int64)
    n_steps = np.int64(0)
    i = np.int64(0)
    j = np.int64(0)
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
def _next_line(points, measure, q, p, i, line):
    """Turn ``line[j] = D(i + 1, j)`` into ``D(i, j)``, where i is a row of q and j counts from the first row of p."""
    p_begin = points.offsets[p]
    n_p = points.offsets[p + 1] - p_begin
    diagonal = line[n_p]  # D(i + 1, j + 1), which the line itself no longer has
    line[n_p] = points.offsets[q + 1] - i
    for j in range(n_p - 1, -1, -1):
        least = diagonal if _match(points, measure, i, p_begin + j) else diagonal + 1
        diagonal = line[j]
        line[j] = min(least, min(diagonal, line[j + 1]) + 1)


@inner
def _match(points, measure, a, b):
    """Return whether two points differ by at most dx, dy and dt."""
    return (
        abs(points.t[a] - points.t[b]) <= measure.dt
        and abs(points.x[a] - points.x[b]) <= measure.dx
        and abs(points.y[a] - points.y[b]) <= measure.dy
    )
