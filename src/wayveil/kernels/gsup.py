"""Greedy suppression against adversaries who hold parts of all trajectories: the state is made, used and enlarged."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels import gsup_classes as columns
from wayveil.kernels.gsup.greedy_choice import SMALL, delete_everywhere, enlist, load, suppress
from wayveil.kernels.gsup.key_table import larger_table, new_table
from wayveil.kernels.gsup_classes import State
from wayveil.kernels.gsup_heap import larger_heap

__all__ = ["loaded", "suppress_everywhere", "suppress_in_classes", "unsafe"]

Ints = NDArray[np.int64]


def loaded(
    offsets: Any, place: Any, item: Any, owner: Any, adversary: Any, allowed: Any, at: Any, diameter: float,
    allowed_trips: Any = None,
) -> State:  # fmt: skip
    """Return the state of these trajectories, with every visit alive and every class counted.

    Trajectories of one owner must follow each other.  `place` and `item` are numbered in the order of their names,
    `adversary` says whose a place is, or -1; `at` is x and y per row, or None.  `allowed` is how many
    of n people may have one place, and of n trajectories where `allowed_trips` does not say fewer.  O(adversaries x
    rows) time and memory.
    """
    n, n_rows, m = len(offsets) - 1, len(place), int(adversary.max(initial=-1)) + 1
    trajectories = np.unique(owner, return_inverse=True, return_counts=True)
    several = trajectories[2] > 1
    multi = np.where(several, np.cumsum(several) - 1, -1)[trajectories[1]].astype(np.int64)
    meta = np.zeros(columns.META_SIZE, np.int64)
    meta[: columns.SERIAL] = n, m, item.max(initial=0) + 1, len(adversary), several.sum()
    x, y = (np.zeros(0), np.zeros(0)) if at is None else at
    deviation = np.zeros(n + 1)
    if at is not None:
        deviation[n] = diameter
    node = np.zeros((m, columns.NODE_COLUMNS), np.int64)
    node[:, [columns.PARENT, columns.COLD, columns.HOT, columns.FIRST]] = -1
    state = State(
        offsets, place, item, _earlier(offsets, place), np.ones(n_rows, np.int64), x, y, multi, deviation,
        np.full(m * n, -1), _zeros(m * n), _zeros(m * n), adversary, allowed,
        allowed if allowed_trips is None else allowed_trips,
        new_table(0), new_table(0), new_table(0), node, np.zeros((0, columns.ENTRY_COLUMNS), np.int64), _zeros(0),
        _zeros(m), _zeros(n_rows), np.zeros((n, 2), np.int64), _zeros(n), _zeros(m), meta,
    )  # fmt: skip
    record, room = 0, m * _longest(state)
    while record < n:
        state = _with_room(state, room)
        record = load(state, record, room)
    return state


def unsafe(state: State) -> tuple[int, int]:
    """Count what is unsafe; return how many classes, and how many pairs of class and place."""
    classes, pairs = enlist(state, larger_heap(None, 0))
    return int(classes), int(pairs)


def suppress_in_classes(state: State) -> State:
    """Make all classes safe by suppressions in single classes; return the state after that."""
    m, longest = int(state.meta[columns.ADVERSARIES]), _longest(state)
    heap = larger_heap(None, unsafe(state)[0] + 1024)
    enlist(state, heap)
    while (need := int(suppress(state, heap, longest))) > 0:
        state = _with_room(state, (need + SMALL) * longest)
        tickets = int(heap.size[0]) + need * (m + 2)
        if tickets > len(heap.key):
            heap = larger_heap(heap, max(tickets, 2 * len(heap.key)))
    return state


def suppress_everywhere(state: State) -> State:
    """Make all classes safe by taking places out of all trajectories; return the state after that.

    The best place first; what the others are worth is looked up again only when it is their turn.
    """
    order = np.argsort(state.place, kind="stable")
    record_of = np.repeat(np.arange(len(state.offsets) - 1), np.diff(state.offsets))[order]
    ends = np.searchsorted(state.place[order], np.arange(len(state.adversary) + 1))
    records = [np.unique(record_of[a:b]) for a, b in pairwise(ends)]
    lengths = np.diff(state.offsets)
    heap: list[tuple[float, int, int, int]] = []
    left = {place for place, found in enumerate(records) if len(found)}
    unsafe(state)
    commits = 0

    def worth(place: int) -> tuple[float, int, int, int]:
        gain, loss, visits = delete_everywhere(state, records[place], place, False)
        return (-gain / loss if gain > 0 else np.inf, int(visits), place, commits)

    while state.node[: _used(state), columns.UNSAFE].any():
        state = _with_room(state, 2 * max(int(lengths[found].sum()) for found in records))
        while heap and heap[0][3] < commits:
            heapq.heapreplace(heap, worth(heap[0][2]))
        if not heap or heap[0][0] == np.inf:
            heap = [worth(place) for place in sorted(left)]  # what nobody asked for may have become better
            heapq.heapify(heap)
        place = heapq.heappop(heap)[2] if heap[0][0] < np.inf else _first_unsafe(state)
        delete_everywhere(state, records[place], place, True)
        left.discard(place)
        heap = [found for found in heap if found[2] in left]
        heapq.heapify(heap)
        commits += 1
    return state


def _first_unsafe(state: State) -> int:
    """Return the first unsafe place of the first unsafe class."""
    c = int(np.flatnonzero(state.node[: _used(state), columns.UNSAFE])[0])
    entry = state.entry[: state.counts.used[0]]
    entry = entry[entry[:, columns.CLASS] == c]
    people, records = state.allowed[state.node[c, columns.OWNERS]], state.allowed_trips[state.node[c, columns.RECORDS]]
    too_many = (entry[:, columns.N_OWNERS] > people) | (entry[:, columns.N_RECORDS] > records)
    return int(entry[too_many, columns.PLACE].min())


def _with_room(state: State, need: int) -> State:
    """Return the state with room for `need` more nodes and entries."""
    m, grown = int(state.meta[columns.ADVERSARIES]), {}
    for name, room, beside in (
        ("trie", need, ("node", "dirty", "others")),
        ("counts", need, ("entry",)),
        ("pairs", 2 * need if state.meta[columns.MULTI] else 0, ("times",)),
    ):
        table = getattr(state, name)
        used, size = int(table.used[0]), len(table.keys)
        if size - used < room:
            size = max(used + room, 2 * size)
            grown[name] = larger_table(table, size)
            for column in beside:
                grown[column] = _longer(getattr(state, column), size + (m if name == "trie" else 0))
    return state._replace(**grown) if grown else state


def _longer(values: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros((size, *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer


def _zeros(size: int) -> Ints:
    return np.zeros(size, np.int64)


def _used(state: State) -> int:
    return int(state.trie.used[0] + state.meta[columns.ADVERSARIES])


def _longest(state: State) -> int:
    return int(np.diff(state.offsets).max(initial=1))


def _earlier(offsets: Ints, place: Ints) -> Ints:
    """Return for each row the last one before it in its trajectory with the same place, or -1."""
    trajectory = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rows = np.lexsort((place, trajectory))
    same = (trajectory[rows][1:] == trajectory[rows][:-1]) & (place[rows][1:] == place[rows][:-1])
    earlier = np.full(len(place), -1, np.int64)
    earlier[rows[1:][same]] = rows[:-1][same]
    return earlier
