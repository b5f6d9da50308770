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
    each other.  The fourth value is their number, as the columns may be longer; it is -1 where there are more than
    `most_patterns`, or more than `most_steps` rows would have to be read.

    Parameters
    ----------
    offsets : int64, one more than there are sequences
        Sequence s is ``item[offsets[s]:offsets[s + 1]]``.
    item : int64
        From 0 to `n_items` - 1; an item may come again.

    Notes
    -----
    PrefixSpan (Pei et al. 2004).  O(rows behind the projections, over all patterns) time, O(rows * longest) memory.
    """
    # The projection of the empty pattern: every sequence from its first row on.
    end = np.empty(item.size, np.int64)  # per row, where its sequence ends
    rows = np.empty(offsets.size + 64, np.int64)  # projections, on a stack
    n_rows = np.int64(0)  # of these in use
    for s in range(offsets.size - 1):
        for row in range(offsets[s], offsets[s + 1]):
            end[row] = offsets[s + 1]
        if offsets[s] < offsets[s + 1]:
            rows[n_rows] = offsets[s]
            n_rows += 1
    # Per pattern.
    before = np.empty(64, np.int64)
    last = np.empty(64, np.int64)
    count = np.empty(64, np.int64)  # its support, and the length of its projection
    at = np.empty(64, np.int64)  # where its projection begins in `rows`
    n = np.int64(0)
    # Per item that follows a pattern.
    met = np.empty(n_items, np.int64)  # the items, listed
    number = np.zeros(n_items, np.int64)  # of sequences that have it
    seen_in = np.zeros(n_items, np.int64)  # the last sequence in which it was seen, by its mark
    slot = np.zeros(n_items, np.int64)  # where the next row of its projection goes, or -1
    # Per length: the patterns that wait are following:stop, and their projections begin at `base`.
    following = np.empty(longest + 1, np.int64)
    stop = np.empty(longest + 1, np.int64)
    base = np.empty(longest + 1, np.int64)

    steps = np.int64(0)
    mark = np.int64(0)
    depth = np.int64(0)
    pattern = np.int64(-1)
    # Depth first.  Before each round, `pattern` has `depth` items and is frequent, and its projection says where each
    # sequence first has it.  The round counts what follows there, once per sequence; items that are frequent make
    # patterns with one item more, whose projections are written behind all others.  When no pattern of a length waits
    # any more, its projections are given up.  It ends, as patterns have at most `longest` items.
    while True:
        skip = np.int64(pattern >= 0)  # the row of the last item does not follow itself
        begin = np.int64(0)
        until = n_rows
        if pattern >= 0:
            begin = at[pattern]
            until = at[pattern] + count[pattern]

        # Count what follows the pattern, once per sequence.
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
        following[depth] = n
        base[depth] = n_rows
        before = grown(before, n + n_met)
        last = grown(last, n + n_met)
        count = grown(count, n + n_met)
        at = grown(at, n + n_met)
        for j in range(n_met):
            x = met[j]
            slot[x] = -1
            if number[x] >= support:
                before[n] = pattern
                last[n] = x
                count[n] = number[x]
                at[n] = n_rows
                slot[x] = n_rows
                n += 1
                if depth + 1 < longest:
                    n_rows += number[x]
            number[x] = 0
        stop[depth] = n
        if n > most_patterns or steps > most_steps:
            return before, last, count, np.int64(-1)

        # Their projections: the first row of each item in each sequence.
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
            following[depth] = n  # they are long enough: none of them waits

        # The next pattern that was not looked at.
        while depth >= 0 and following[depth] == stop[depth]:
            n_rows = base[depth]
            depth -= 1
        if depth < 0:
            return before, last, count, n
        pattern = following[depth]
        following[depth] += 1
        depth += 1
