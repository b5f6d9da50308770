"""Sequential patterns: sequences of items that many trajectories have in that order, with others between."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.common.sequence_table import grown

__all__ = ["mine_patterns"]


@kernel
def mine_patterns(offsets, item, n_items, support, longest, most_patterns, most_steps):
    """Return the patterns of 1 to `longest` items that at least `support` sequences have: before, last, supports.

    Pattern `p` is pattern ``before[p] < p`` (-1: none) and then item ``last[p]``; those with the same one before follow
    each other.  PrefixSpan (Pei et al. 2004), depth first: `rows` holds, for the patterns that wait, the row where each
    sequence first has the pattern.  O(rows behind these, over all patterns) time, O(rows * longest) memory.  The fourth
    value is their number, as the columns may be longer; it is -1 where there are more than `most_patterns`, or more
    than `most_steps` rows would have to be read.
    """
    end, rows = np.empty(item.size, np.int64), np.empty(offsets.size + 64, np.int64)
    n_rows = np.int64(0)  # in use
    for s in range(offsets.size - 1):
        for row in range(offsets[s], offsets[s + 1]):
            end[row] = offsets[s + 1]
        if offsets[s] < offsets[s + 1]:
            rows[n_rows] = offsets[s]
            n_rows += 1
    before, last = np.empty(64, np.int64), np.empty(64, np.int64)
    count, at = np.empty(64, np.int64), np.empty(64, np.int64)  # `at` is where the rows of a pattern begin
    met, seen_in, slot = np.empty(n_items, np.int64), np.zeros(n_items, np.int64), np.zeros(n_items, np.int64)
    number = np.zeros(n_items, np.int64)  # of sequences that have an item behind the pattern
    following, stop = np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)  # patterns that wait, by length
    base = np.empty(longest + 1, np.int64)
    n, steps, mark, depth, pattern = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(-1)
    while True:
        # Count what follows the pattern, once per sequence.
        skip = np.int64(pattern >= 0)
        begin, until = np.int64(0), n_rows
        if pattern >= 0:
            begin, until = at[pattern], at[pattern] + count[pattern]
        n_met = np.int64(0)
        for i in range(begin, until):
            mark += 1
            for row in range(rows[i] + skip, end[rows[i]]):
                x = item[row]
                if seen_in[x] != mark:
                    seen_in[x] = mark
                    if number[x] == 0:
                        met[n_met] = x
                        n_met += 1
                    number[x] += 1
            steps += end[rows[i]] - rows[i]
        # Patterns with one item more.
        following[depth], base[depth] = n, n_rows
        before, last = grown(before, n + n_met), grown(last, n + n_met)
        count, at = grown(count, n + n_met), grown(at, n + n_met)
        for j in range(n_met):
            x = met[j]
            slot[x] = -1
            if number[x] >= support:
                before[n], last[n], count[n], at[n] = pattern, x, number[x], n_rows
                slot[x] = n_rows
                n += 1
                if depth + 1 < longest:
                    n_rows += number[x]
            number[x] = 0
        stop[depth] = n
        if n > most_patterns or steps > most_steps:
            return before, last, count, np.int64(-1)
        if depth + 1 < longest:
            rows = grown(rows, n_rows)
            for i in range(begin, until):
                mark += 1
                for row in range(rows[i] + skip, end[rows[i]]):
                    x = item[row]
                    if seen_in[x] != mark:
                        seen_in[x] = mark
                        if slot[x] >= 0:
                            rows[slot[x]] = row
                            slot[x] += 1
        else:
            following[depth] = n
        # The next pattern that was not looked at.
        while depth >= 0 and following[depth] == stop[depth]:
            n_rows = base[depth]
            depth -= 1
        if depth < 0:
            return before, last, count, n
        pattern = following[depth]
        following[depth] += 1
        depth += 1
