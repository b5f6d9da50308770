"""Which original stop each published one stands for, as cheaply as can be."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel

__all__ = ["align_stops"]


@kernel
def align_stops(offsets, place, new_offsets, new_place, first, last, kind, weight, left_out):
    """Return per trajectory the least cost of reading the published stops as a part of the original ones, in order.

    A published stop can stand for an original one of the same `kind` at or below it (``first[g] <= first[p] <
    last[g]``), and costs ``abs(weight[p] - weight[g])``; an original stop that none stands for costs `left_out`.  -1
    where it cannot be done.  Dynamic programming: ``best[j]`` is the least cost so far with `j` published stops used.
    O(n * (n - r + 1)) time for r published of n stops, O(longest) memory.
    """
    n, most = offsets.size - 1, np.int64(0)
    for i in range(n):
        most = max(most, new_offsets[i + 1] - new_offsets[i])
    cost, best = np.empty(n, np.int64), np.empty(most + 1, np.int64)
    for i in range(n):
        a, n_old = offsets[i], offsets[i + 1] - offsets[i]
        b, n_new = new_offsets[i], new_offsets[i + 1] - new_offsets[i]
        best[0] = 0
        for j in range(1, n_new + 1):
            best[j] = -1
        for k in range(n_old):
            p = place[a + k]
            # With fewer used than this, those that are left could not all be used.
            for j in range(min(k + 1, n_new), max(0, n_new - n_old + k + 1) - 1, -1):
                found = np.int64(-1)
                if best[j] >= 0:
                    found = best[j] + left_out
                if j > 0 and best[j - 1] >= 0:
                    g = new_place[b + j - 1]
                    if kind[g] == kind[p] and first[g] <= first[p] < last[g]:
                        used = best[j - 1] + abs(weight[p] - weight[g])
                        if found < 0 or used < found:
                            found = used
                best[j] = found
        cost[i] = best[n_new]
    return cost
