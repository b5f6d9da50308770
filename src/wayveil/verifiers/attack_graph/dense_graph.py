"""Attack graphs in which nearly everybody can be anybody, one bit for each person and trajectory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.verifiers.attack_graph.candidates import Search
from wayveil.verifiers.attack_graph.matchings import Left, Pruned
from wayveil.verifiers.common.index_ranges import chunks, expand

__all__ = ["MOST_PEOPLE", "DenseGraph"]

MOST_PEOPLE = 40_000
"""The graph of so many people has 200 MB of bits, which are held up to five times."""

_SPOTS_AT_ONCE = 10_000
_ROWS_AT_ONCE = 1_024
_LARGE = 64

Bits = NDArray[np.uint8]


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseGraph:
    """An attack graph before pruning; bit o of row i says whether trajectory o is a candidate of person i.

    The lowest bit of a byte comes first, and a row is a whole number of eight bytes.  `turned` has bit i of row o.

    Examples
    --------
    >>> graph = DenseGraph.of_lists([[0, 1], [0, 1, 4], [2, 3], [2, 3], [3, 4]])
    >>> graph.edges, graph.is_symmetric, graph.self_contained.tolist()
    (11, False, [True, True, True, True, True])
    >>> left = graph.prune(np.arange(5))
    >>> left.people.tolist(), left.least, left.rarest.tolist(), left.edges
    ([2, 2, 2, 2, 1], 1, [4], 9)
    """

    bits: Bits
    turned: Bits

    @classmethod
    def of_lists(cls, lists: list[list[int]]) -> DenseGraph:
        """Build from the candidates of everybody; for examples and tests."""
        bits = _no_bits(len(lists), len(lists))
        for i, listed in enumerate(lists):
            _set(bits, np.full(len(listed), i), np.array(listed, np.int64))
        return cls(bits=bits, turned=_transposed(bits))

    @classmethod
    def of(cls, search: Search) -> DenseGraph:
        """Return the candidates of everybody: those whom all their spots have in common."""
        n = len(search.kind)
        bits = _no_bits(n, n)
        everybody = _no_bits(1, n)
        _set(everybody, np.zeros(n, np.int64), np.arange(n))
        order = np.argsort(search.kind, kind="stable")
        sizes = np.bincount(search.kind)
        begin = np.cumsum(sizes) - sizes
        parts = np.cumsum(search.many + 1) // _SPOTS_AT_ONCE
        # People with the same groups are of one kind, and have the same candidates: those who are in all of their
        # groups.  Per round the bit sets of some groups are made, and the rows of the kinds are cut down by one group
        # after the other.
        for kinds in np.split(np.arange(len(sizes)), np.flatnonzero(np.diff(parts)) + 1):
            many = search.many[kinds]
            at, _ = expand(search.first[kinds], many)
            groups, place = np.unique(search.group[at], return_inverse=True)
            cover = _cover(search, groups)
            rows = np.repeat(everybody, len(kinds), axis=0)
            first = np.cumsum(many) - many
            for rank in range(int(many.max())):
                chosen = np.flatnonzero(many > rank)
                rows[chosen] &= cover[place[first[chosen] + rank]]
            people, which = expand(begin[kinds], sizes[kinds])
            bits[order[people]] = rows[which]
        return cls(bits=bits, turned=_transposed(bits))

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(np.bitwise_count(_words(self.bits)).sum())

    @property
    def self_contained(self) -> BoolArray:
        """Which people have the trajectory of their own number among their candidates."""
        i = np.arange(len(self.bits))
        has_itself: BoolArray = (self.bits[i, i >> 3] >> (i & 7).astype(np.uint8)) & 1 == 1
        return has_itself

    @property
    def is_symmetric(self) -> bool:
        """Whether trajectory o is a candidate of person i exactly if trajectory i is one of person o."""
        return np.array_equal(self.bits, self.turned)

    def prune(self, owner: IntArray) -> Pruned | None:
        """Take away every edge that is in no perfect matching, as `matchings.prune` does.

        None if somebody's own trajectory is not a candidate: then a matching would have to be searched for.
        """
        if not self.self_contained.all():
            return None
        component = _components(self.bits, self.turned)
        masks = _no_bits(int(component.max()) + 1, len(component))
        _set(masks, component, np.arange(len(component)))
        edges_left = self.bits & masks[component]
        return Pruned(
            edges=int(np.bitwise_count(_words(edges_left)).sum()),
            of_person=_count_owners(edges_left, owner),
            of_trajectory=_count_owners(self.turned & masks[component], owner),
        )


def _cover(search: Search, groups: IntArray) -> Bits:
    """Return, for every group of spots, the trajectories that have one of its shapes."""
    shapes = search.shapes
    n = search.shapes.trajectories
    covering = _no_bits(len(groups), n)
    spot = search.example[groups]
    at, which = expand(search.starts[spot], search.starts[spot + 1] - search.starts[spot])
    shape = search.shape[at]
    size = np.diff(shapes.starts)[shape]
    large = size > n // _LARGE
    search.steps.consume(int(size[~large].sum()) + int(large.sum()) * (n // 64 + 1))
    small = np.flatnonzero(~large)
    for part in chunks(size[small]):
        member, entry = expand(shapes.starts[shape[small[part]]], size[small[part]])
        _set(covering, which[small[part]][entry], shapes.member[member])
    # Few shapes are those of many trajectories, and these are put into bits once.
    listed, place = np.unique(shape[large], return_inverse=True)
    rows = _no_bits(len(listed), n)
    member, entry = expand(shapes.starts[listed], np.diff(shapes.starts)[listed])
    _set(rows, entry, shapes.member[member])
    for group, row in zip(which[large].tolist(), place.tolist(), strict=True):
        covering[group] |= rows[row]
    return covering


def _components(bits: Bits, turned: Bits) -> IntArray:
    """Return the strongly connected component of everybody, by Kosaraju's algorithm: one look at each row, both ways.

    The first pass notes everybody when all whom they reach are noted; the second goes through them from the last one,
    and collects who reaches them.
    """
    n = len(bits)
    rows = _words(bits)
    new = _words(_no_bits(1, n))[0]
    new[:] = ~new
    noted: list[int] = []
    seen = np.zeros(n, bool)
    # Strongly connected components in two passes (Kosaraju, Sharir).  The first goes along edges, depth first: `path`
    # leads from a root to where we are, `new` are the nodes that were never on a path.  A round goes on to the first
    # new node that the last one of the path has an edge to; if there is none, that node is done and noted.  Every node
    # comes to the path once and leaves it once, so it ends.  Each round costs one row of bits.
    for root in range(n):
        if seen[root]:
            continue
        path = [root]
        seen[root] = True
        _clear(new, root)
        while path:
            ahead = rows[path[-1]] & new
            word = int(ahead.argmax())
            if not ahead[word]:
                noted.append(path.pop())
                continue
            value = int(ahead[word])
            following = word * 64 + (value & -value).bit_length() - 1
            seen[following] = True
            _clear(new, following)
            path.append(following)

    component = np.full(n, -1)
    free = _no_bits(1, n)[0]
    count = 0
    free[:] = 255
    # The second pass goes against the edges, from the node noted last to the first.  Before each round all components
    # of nodes noted later are complete, and `free` are the nodes in none of them.  Whatever free node has a path to
    # this root is in its component: the root was noted after it, so there is a path back as well.
    for root in reversed(noted):
        if component[root] >= 0:
            continue
        waiting = [root]
        component[root] = count
        free[root >> 3] &= 255 - (1 << (root & 7))
        while waiting:
            behind = turned[waiting.pop()] & free
            if behind.any():
                free &= ~behind
                members = np.flatnonzero(np.unpackbits(behind, bitorder="little")[:n])
                component[members] = count
                waiting.extend(members.tolist())
        count += 1
    return component


def _count_owners(bits: Bits, owner: IntArray) -> Left:
    """Count the distinct owners among the bits that are set, and their bits, for every row."""
    n = len(owner)
    order = np.argsort(owner, kind="stable")
    first = np.flatnonzero(np.concatenate([[True], np.diff(owner[order]) != 0]))
    each: IntArray = np.bitwise_count(_words(bits)).sum(axis=1, dtype=np.int64)
    if len(first) == n:
        return Left.of_single(each)
    people, most = np.zeros((2, len(bits)), np.int64)
    for begin in range(0, len(bits), _ROWS_AT_ONCE):
        some = slice(begin, begin + _ROWS_AT_ONCE)
        part = np.unpackbits(bits[some], axis=1, count=n, bitorder="little")[:, order]
        many = np.add.reduceat(part, first, axis=1, dtype=np.int32)
        people[some] = (many > 0).sum(axis=1)
        most[some] = many.max(axis=1)
    return Left(people=people, most=most, whole=each)


def _transposed(bits: Bits) -> Bits:
    """Exchange rows and bits, one square after the other, because whole columns are far apart in memory."""
    n = len(bits)
    size = _ROWS_AT_ONCE
    turned = _no_bits(n, n)
    for top in range(0, n, size):
        for left in range(0, n, size):
            many = min(size, n - left)
            square = bits[top : top + size, left >> 3 : (left + many + 7) >> 3]
            square = np.unpackbits(square, axis=1, count=many, bitorder="little").T.copy()
            packed = np.packbits(square, axis=1, bitorder="little")
            turned[left : left + many, top >> 3 : (top >> 3) + packed.shape[1]] = packed
    return turned


def _no_bits(rows: int, n: int) -> Bits:
    return np.zeros((rows, -(-n // 64) * 8), np.uint8)


def _words(bits: Bits) -> NDArray[np.uint64]:
    words: NDArray[np.uint64] = bits.view("<u8")
    return words


def _set(bits: Bits, row: IntArray, bit: IntArray) -> None:
    np.bitwise_or.at(bits, (row, bit >> 3), np.left_shift(1, bit & 7).astype(np.uint8))


def _clear(words: NDArray[Any], bit: int) -> None:
    words[bit >> 6] &= ~np.uint64(1 << (bit & 63))
