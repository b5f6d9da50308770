"""Every sequence of visits that occurs, with all its occurrences, in pieces that fit in memory.

A row is one visit.  Rows of a trajectory are adjacent and in time order, so a sequence occurs at most once in a
trajectory, and an occurrence is known by the row of its last visit.  Sequences grow to the right: the occurrences of
``q + (x,)`` are rows after an occurrence of ``q`` in the same trajectory.  All occurrences of a sequence are always
in one batch, which is what makes counts over a batch final.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.data.ragged import IntArray

__all__ = ["MAX_ROWS", "Batch", "SequenceWalker"]

MAX_ROWS = 2**31 - 1
"""With this many rows (hence items) at most, an item and a row fit together in one int64 key."""

_KEY_BITS = 63
_STEPS_PER_BATCH = 100_000
_STEPS_PER_ROW = 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Batch:
    """Some sequences of one length, in lexicographic order of their items, with all their occurrences.

    Parameters
    ----------
    length : int
        Number of items of each sequence.
    rows : int64
        The occurrences: the row of the last item, by sequence, ascending inside each sequence.
    starts : int64, one more than there are sequences
        Sequence `i` occurs at ``rows[starts[i]:starts[i + 1]]``.
    item, parent, above
        Last item of each sequence, position in `above` of the sequence without it, and the batch it grew from.
    """

    length: int
    rows: IntArray
    starts: IntArray
    item: IntArray
    parent: IntArray
    above: Batch | None

    def __len__(self) -> int:
        return len(self.item)

    def sequence(self, i: int) -> tuple[int, ...]:
        """Return the items of sequence `i`."""
        items: list[int] = []
        batch: Batch | None = self
        while batch is not None:
            items.append(int(batch.item[i]))
            i = int(batch.parent[i])
            batch = batch.above
        return tuple(reversed(items))


class SequenceWalker:
    """Walks over all sequences of at most `longest` items that occur, each exactly once.

    Batches of one length come in lexicographic order; lengths are mixed, but a sequence comes after its prefixes.
    `longest` may be lowered during the walk.

    Parameters
    ----------
    item : int64, one per row, from 0
        What was visited.
    end : int64, one per row
        The row behind the last row of the same trajectory.
    longest : int, >= 1
        Largest number of items of a sequence.
    chunk_rows : int, >= 1
        A batch has no more occurrences than this, unless it has one parent only; it then has at most ``len(item)``.
    begin : int64, ascending, optional
        Only sequences whose first item is that of one of these rows are walked over; all occurrences of such an item
        must be among them.  Without it, all sequences are.

    Notes
    -----
    Time: one sort key per occurrence of a sequence, that is the sum of C(n, i) for i up to `longest` over
    trajectories of n rows.  Memory: O(longest * max(chunk_rows, len(item))), however long a trajectory is.

    Examples
    --------
    >>> walker = SequenceWalker(np.array([0, 1, 0, 1]), np.array([2, 2, 4, 4]), longest=2, chunk_rows=100)
    >>> [(b.sequence(i), int(b.starts[i + 1] - b.starts[i])) for b in walker for i in range(len(b))]
    [((0,), 2), ((1,), 2), ((0, 1), 2)]
    """

    def __init__(
        self, item: IntArray, end: IntArray, *, longest: int, chunk_rows: int, begin: IntArray | None = None
    ) -> None:
        self._item = item
        self._end = end
        self._begin = np.arange(len(item)) if begin is None else begin
        self._n_items = int(item.max()) + 1 if len(item) else 0
        self._row_bits = max(1, (len(item) - 1).bit_length())
        self._chunk_rows = chunk_rows
        # So many parents fit into a key next to an item and a row.
        self._max_parents = 2**_KEY_BITS // max(1, self._n_items << self._row_bits)
        self.longest = longest

    def __iter__(self) -> Iterator[Batch]:
        if not len(self._begin) or self.longest < 1:
            return
        batch = self._batch(self._item[self._begin].astype(np.int64), self._begin, first=0, above=None)
        yield batch
        # A stack, not a recursion: the depth is bounded by the longest trajectory only.
        stack = self._pieces(batch)
        del batch
        # Before each round every sequence was given out that is no extension of one on the stack.  A round takes some
        # sequences of one length and makes all that are longer by one item.  Lengths grow up to `longest`, so it ends;
        # the last piece is taken first, so no more pieces wait than one length has, for each length.
        while stack:
            above, lo, hi = stack.pop()
            if above.length >= self.longest:
                continue
            grown = self._grow(above, lo, hi)
            yield grown
            stack.extend(self._pieces(grown))
            del above, grown

    def _pieces(self, batch: Batch) -> list[tuple[Batch, int, int]]:
        """Cut the sequences of `batch` into ranges that grow to at most `chunk_rows` rows each; last range first."""
        if batch.length >= self.longest:
            return []
        after = np.zeros(len(batch.rows) + 1, np.int64)
        np.cumsum(self._end[batch.rows] - batch.rows - 1, out=after[1:])
        after = after[batch.starts]
        pieces = []
        lo = 0
        while lo < len(batch):
            # Skip what cannot grow: the next range begins with the last sequence before which nothing was added.
            lo = int(np.searchsorted(after, after[lo], side="right")) - 1
            if lo >= len(batch):
                break
            hi = int(np.searchsorted(after, after[lo] + self._chunk_rows, side="right")) - 1
            hi = min(max(hi, lo + 1), lo + self._max_parents)
            pieces.append((batch, lo, hi))
            lo = hi
        return pieces[::-1]

    def _grow(self, above: Batch, lo: int, hi: int) -> Batch:
        """Append every later row of the same trajectory to every occurrence of the sequences `lo` to `hi`."""
        starts = above.starts[lo : hi + 1]
        last = above.rows[starts[0] : starts[-1]]
        more = self._end[last] - last - 1
        spend(_STEPS_PER_BATCH + _STEPS_PER_ROW * int(more.sum()))
        until = np.cumsum(more)
        rows = np.repeat(last + 1 - until + more, more)
        rows += np.arange(len(rows))
        parent = np.repeat(np.arange(hi - lo) * self._n_items, np.diff(starts))
        key = np.repeat(parent, more)
        key += self._item[rows]
        return self._batch(key, rows, first=lo, above=above)

    def _batch(self, key: IntArray, rows: IntArray, *, first: int, above: Batch | None) -> Batch:
        """Group `rows` by `key`, which is (parent - first) * n_items + item; overwrites `key`."""
        key <<= self._row_bits
        key |= rows
        key.sort()
        rows = key & ((1 << self._row_bits) - 1)
        key >>= self._row_bits
        starts = np.concatenate([[0], np.flatnonzero(key[1:] != key[:-1]) + 1, [len(key)]])
        parent, item = np.divmod(key[starts[:-1]], self._n_items)
        return Batch(
            length=1 if above is None else above.length + 1,
            rows=rows,
            starts=starts,
            item=item,
            parent=parent + first,
            above=above,
        )
