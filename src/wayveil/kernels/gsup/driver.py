"""Greedy suppression against adversaries who hold parts of all trajectories: the state is made, used and enlarged."""

from __future__ import annotations

import heapq
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.gsup import adversary_classes as columns
from wayveil.kernels.gsup.adversary_classes import State
from wayveil.kernels.gsup.class_heap import larger_heap
from wayveil.kernels.gsup.greedy_choice import SMALL, delete_everywhere, enlist, load, suppress
from wayveil.kernels.gsup.key_table import larger_table, new_table

__all__ = ["VisitTable", "count_unsafe", "new_state", "suppress_everywhere", "suppress_in_classes"]

Ints = NDArray[np.int64]


class VisitTable(NamedTuple):
    """Trajectories, those of one owner next to each other, and what nobody may infer of them.

    Parameters
    ----------
    offsets, place, item : int64
        Trajectory i visits the places ``place[offsets[i]:offsets[i + 1]]``; an item is a place, or a place at a time.
        Both are numbered in the order of their names.
    owner : int64, one per trajectory
    adversary : int64, one per place
        Whose it is, or -1.
    allowed : int64
        Of n people, ``allowed[n]`` may have one place.
    at : float64
        x and y per row, or None.
    diameter : float
        How far two rows are from each other at most.
    """

    offsets: Any
    place: Any
    item: Any
    owner: Any
    adversary: Any
    allowed: Any
    at: Any = None
    diameter: float = 0.0


def new_state(visits: VisitTable, allowed_trips: Any = None) -> State:
    """Return the state of these trajectories, with every visit alive and every class counted.

    Of n trajectories as many as of n people may have one place, where `allowed_trips` does not say fewer.
    O(adversaries x rows) time and memory.
    """
    offsets, place, item, owner, adversary, allowed, at, diameter = visits
    n = len(offsets) - 1
    n_rows = len(place)
    m = int(adversary.max(initial=-1)) + 1
    _, whose, n_trips = np.unique(owner, return_inverse=True, return_counts=True)
    several = n_trips > 1
    x, y = (np.zeros(0), np.zeros(0)) if at is None else at
    deviation = np.zeros(n + 1)
    if at is not None:
        deviation[n] = diameter
    node = np.zeros((m, columns.NODE_COLUMNS), np.int64)
    node[:, [columns.PARENT, columns.COLD, columns.HOT, columns.FIRST]] = -1
    state = State(
        offsets=offsets,
        place=place,
        item=item,
        earlier=_earlier(offsets, place),
        alive=np.ones(n_rows, np.int64),
        x=x,
        y=y,
        multi=np.where(several, np.cumsum(several) - 1, -1)[whose].astype(np.int64),
        deviation=deviation,
        cls=np.full(m * n, -1),
        after=_zeros(m * n),
        before=_zeros(m * n),
        adversary=adversary,
        allowed=allowed,
        allowed_trips=allowed if allowed_trips is None else allowed_trips,
        trie=new_table(0),
        counts=new_table(0),
        pairs=new_table(0),
        node=node,
        entry=np.zeros((0, columns.ENTRY_COLUMNS), np.int64),
        times=_zeros(0),
        dirty=_zeros(m),
        log=_zeros(n_rows),
        done=np.zeros((n, 2), np.int64),
        members=_zeros(n),
        others=_zeros(m),
        n_trajectories=n,
        n_adversaries=m,
        n_items=int(item.max(initial=0)) + 1,
        n_places=len(adversary),
        n_multi=int(several.sum()),
        numbers=_zeros(columns.N_NUMBERS),
    )
    # Nobody knows how many classes there will be: kernels stop where a table could become full, and go on in a larger
    # one.
    record = 0
    room = m * _longest(state)
    while record < n:
        state = _with_room(state, room)
        record = load(state, record, room)
    return state


def count_unsafe(state: State) -> tuple[int, int]:
    """Count what is unsafe; return how many classes, and how many pairs of class and place."""
    classes, pairs = enlist(state, larger_heap(None, 0))
    return int(classes), int(pairs)


def suppress_in_classes(state: State) -> State:
    """Make all classes safe by suppressions in single classes; return the state after that."""
    m = state.n_adversaries
    longest = _longest(state)
    n_classes, _ = count_unsafe(state)
    heap = larger_heap(None, n_classes + 1024)
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
    # The trajectories of each place.
    order = np.argsort(state.place, kind="stable")
    record_of = np.repeat(np.arange(len(state.offsets) - 1), np.diff(state.offsets))[order]
    ends = np.searchsorted(state.place[order], np.arange(len(state.adversary) + 1))
    records = [np.unique(record_of[a:b]) for a, b in pairwise(ends)]
    lengths = np.diff(state.offsets)
    heap: list[tuple[float, int, int, int]] = []
    left = {place for place, lists in enumerate(records) if len(lists)}
    count_unsafe(state)
    commits = 0

    def worth(place: int) -> tuple[float, int, int, int]:
        gain, loss, visits = delete_everywhere(state, records[place], place, False)
        return (-gain / loss if gain > 0 else np.inf, int(visits), place, commits)

    # The global mode of the specification (3.4).  Before each round, the heap has places with what they were worth
    # after so many commits.  What is at the top is looked up again until it is up to date; then it leaves all
    # trajectories.  If none gains, all places are looked up; if still none does, the first unsafe one goes.  Every
    # round takes a place out for good, so it ends.
    while state.node[: _used(state), columns.UNSAFE].any():
        state = _with_room(state, 2 * max(int(lengths[lists].sum()) for lists in records))
        while heap and heap[0][3] < commits:
            heapq.heapreplace(heap, worth(heap[0][2]))
        if not heap or heap[0][0] == np.inf:
            heap = [worth(place) for place in sorted(left)]  # what nobody asked for may have become better
            heapq.heapify(heap)
        place = heapq.heappop(heap)[2] if heap[0][0] < np.inf else _first_unsafe(state)
        delete_everywhere(state, records[place], place, True)
        left.discard(place)
        heap = [lists for lists in heap if lists[2] in left]
        heapq.heapify(heap)
        commits += 1
    return state


def _first_unsafe(state: State) -> int:
    """Return the first unsafe place of the first unsafe class."""
    c = int(np.flatnonzero(state.node[: _used(state), columns.UNSAFE])[0])
    entry = state.entry[: state.counts.used[0]]
    entry = entry[entry[:, columns.CLASS] == c]
    people = state.allowed[state.node[c, columns.OWNERS]]
    records = state.allowed_trips[state.node[c, columns.RECORDS]]
    too_many = (entry[:, columns.N_OWNERS] > people) | (entry[:, columns.N_RECORDS] > records)
    return int(entry[too_many, columns.PLACE].min())


def _with_room(state: State, need: int) -> State:
    """Return the state with room for `need` more nodes and entries."""
    larger = {}
    for name, room, beside in (
        ("trie", need, ("node", "dirty", "others")),
        ("counts", need, ("entry",)),
        ("pairs", 2 * need if state.n_multi else 0, ("times",)),
    ):
        table = getattr(state, name)
        used = int(table.used[0])
        size = len(table.keys)
        if size - used < room:
            size = max(used + room, 2 * size)
            larger[name] = larger_table(table, size)
            for column in beside:
                # the roots of the tree are nodes without a key
                larger[column] = _longer(getattr(state, column), size + (state.n_adversaries if name == "trie" else 0))
    return state._replace(**larger) if larger else state


def _longer(values: NDArray[Any], size: int) -> NDArray[Any]:
    """Return the values with zeros behind them."""
    longer = np.zeros((size, *values.shape[1:]), values.dtype)
    longer[: len(values)] = values
    return longer


def _zeros(size: int) -> Ints:
    return np.zeros(size, np.int64)


def _used(state: State) -> int:
    """Return how many classes there are, with the roots."""
    return int(state.trie.used[0]) + state.n_adversaries


def _longest(state: State) -> int:
    """Return the rows of the longest trajectory, which is how many nodes or entries it can need for an adversary."""
    return int(np.diff(state.offsets).max(initial=1))


def _earlier(offsets: Ints, place: Ints) -> Ints:
    """Return for each row the last one before it in its trajectory with the same place, or -1."""
    trajectory = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    rows = np.lexsort((place, trajectory))
    same = (trajectory[rows][1:] == trajectory[rows][:-1]) & (place[rows][1:] == place[rows][:-1])
    earlier = np.full(len(place), -1, np.int64)
    earlier[rows[1:][same]] = rows[:-1][same]
    return earlier
