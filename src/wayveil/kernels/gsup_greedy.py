"""The greedy choice: of all ways to make an unsafe class safer, the one with the most gain for its loss."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.gsup.key_table import find
from wayveil.kernels.gsup.visit_removal import begin, enter, remove, undo
from wayveil.kernels.gsup_classes import (
    ADVERSARIES,
    BEFORE,
    COMMITS,
    FIRST,
    ITEM,
    KIND,
    MOVED,
    MULTI,
    N_ALL,
    N_DIRTY,
    N_DONE,
    N_LOG,
    N_OWNERS,
    N_RECORDS,
    OWNERS,
    PARENT,
    PLACES,
    RECORDS,
    SEEN,
    SEEN_VERSION,
    TICKET,
    UNSAFE,
    VERSION,
    WHAT,
    recount,
    unsafe_places,
)
from wayveil.kernels.gsup_heap import pop, push
from wayveil.kernels.metrics.line_deviation import deviation_of

__all__ = ["SMALL", "delete_everywhere", "enlist", "load", "suppress"]

SMALL = 16
"""Up to how many trajectories a class is tried anew whenever it changes; a larger one only when it is its turn."""

PATIENCE = 64
"""A large class is tried anew when it was changed more often than once for so many trajectories."""


@kernel
def load(state, record, room):
    """Put trajectories from `record` on into their classes; return the first for which there is no room, or the end."""
    while record < state.meta[N_ALL] and _has_room(state, room):
        begin(state)
        if state.offsets[record] < state.offsets[record + 1]:
            enter(state, record)
        record += 1
    return record


@kernel
def enlist(state, heap):
    """Count the unsafe places of all classes, and put the classes that have any into the heap while it has room.

    Return how many classes and how many pairs of class and place are unsafe.
    """
    classes, places = np.int64(0), np.int64(0)
    for c in range(state.trie.used[0] + state.meta[ADVERSARIES]):
        state.node[c, MOVED] = 1
        state.node[c, UNSAFE] = recount(state, c)
        if state.node[c, UNSAFE] > 0:
            classes += 1
            places += state.node[c, UNSAFE]
            if classes <= heap.key.size:
                state.node[c, TICKET] = push(heap, -np.inf, c, c)
    return classes, places


@kernel
def delete_everywhere(state, records, place, commit):
    """Take a place out of these trajectories; return gain, loss and visits.  Without `commit` all is as before."""
    begin(state)
    for record in records:
        remove(state, record, True, place)
    gain, loss = _settle(state, commit)
    if not commit:
        undo(state)
    return gain, loss, state.meta[N_LOG]


@kernel
def suppress(state, heap, longest):
    """Take visits out until the heap of unsafe classes is empty; then return 0.

    Where the tables could become full, return before that the number of trajectories that room is needed for.  Each
    operation takes O(trajectories of its class x (adversaries + rows)) to try, to take back and to do.
    """
    meta, node = state.meta, state.node
    while heap.size[0] > 0:
        c = heap.cls[0]
        need = max(node[c, RECORDS], SMALL)
        more_tickets = need * (meta[ADVERSARIES] + 2)
        if not _has_room(state, (need + SMALL) * longest) or heap.size[0] + more_tickets > heap.key.size:
            return need
        if pop(heap) != node[c, TICKET]:
            continue  # there is a newer ticket, or the class became safe
        if not _is_fresh(state, c):
            key, tie = _try_all(state, c)
            if heap.size[0] > 0 and (key > heap.key[0] or (key == heap.key[0] and tie > heap.tie[0])):
                node[c, TICKET] = push(heap, key, tie, c)
                continue
        node[c, TICKET] = 0
        _operate(state, c, _members(state, c), node[c, KIND], node[c, WHAT])
        _settle(state, True)
        meta[COMMITS] += 1
        n_dirty = meta[N_DIRTY]
        for i in range(n_dirty):
            state.others[i] = state.dirty[i]
        for i in range(n_dirty):
            _offer(state, heap, state.others[i])
    return 0


@inner
def _is_fresh(state, c):
    """Return whether what was noted of a class is still good enough: nothing changed, or little in a large class."""
    node, entry = state.node, state.entry
    if node[c, SEEN] == state.meta[COMMITS] + 1:
        return True
    if node[c, RECORDS] <= SMALL or node[c, SEEN] == 0:
        return False
    if node[c, VERSION] - node[c, SEEN_VERSION] > node[c, RECORDS] // PATIENCE:
        return False
    if node[c, KIND] == 0:
        return True
    e = find(state.counts.slots, state.counts.keys, c * state.meta[PLACES] + node[c, WHAT])
    people, records = state.allowed[node[c, OWNERS]], state.allowed_trips[node[c, RECORDS]]
    return entry[e, N_OWNERS] > people or entry[e, N_RECORDS] > records


@inner
def _offer(state, heap, c):
    """Put a class that changed into the heap if it is unsafe; a small one with what its best operation is worth now."""
    node = state.node
    if node[c, UNSAFE] == 0:
        node[c, TICKET] = 0
    elif node[c, RECORDS] <= SMALL:
        key, tie = _try_all(state, c)
        node[c, TICKET] = push(heap, key, tie, c)
    elif node[c, TICKET] == 0:
        node[c, TICKET] = push(heap, -np.inf, c, c)


@inner
def _try_all(state, c):
    """Try the operations on an unsafe class and note the best; return its key and its tie, the smaller the better."""
    node, n, roots = state.node, _members(state, c), state.meta[ADVERSARIES]
    best_key, best_tie = np.inf, np.int64(0)
    unsafe = np.empty(node[c, UNSAFE], np.int64)
    unsafe_places(state, c, unsafe, unsafe.size)
    node[c, KIND], node[c, WHAT] = 2, unsafe[0]
    at, j = c, 0
    while at >= roots or j < unsafe.size:
        kind = np.int64(0 if at >= roots else 1)
        if kind:
            what = unsafe[j]
            j += 1
            if node[c, KIND] == 2:
                node[c, WHAT] = min(node[c, WHAT], what)  # if nothing gains: the first unsafe place goes from them all
        else:
            what, at = node[at, ITEM], node[at, PARENT]
            again = at
            while again >= roots and node[again, ITEM] != what:
                again = node[again, PARENT]
            if again >= roots:
                continue
        _operate(state, c, n, kind, what)
        gain, loss = _settle(state, False)
        # Among equals: fewer visits, then the name, then the first trajectory.
        tie = min(state.meta[N_LOG], (1 << 20) - 1) << 43 | min(what, (1 << 21) - 1) << 22
        tie |= min(state.done[0, 0], (1 << 22) - 1)
        undo(state)
        key = -gain / loss
        if gain > 0 and (key < best_key or (key == best_key and tie < best_tie)):
            best_key, best_tie = key, tie
            node[c, KIND], node[c, WHAT] = kind, what
    node[c, SEEN], node[c, SEEN_VERSION] = state.meta[COMMITS] + 1, node[c, VERSION]
    return best_key, best_tie


@inner
def _operate(state, c, n, kind, what):
    """Do an operation on the n trajectories of a class.

    Kind 0 takes an item out of all of them; 1 takes a place out of as few as needed, first of those that have other
    visits; 2 takes a place out of all.
    """
    node, entry = state.node, state.entry
    begin(state)
    if kind != 1:
        for i in range(n):
            remove(state, state.members[i], kind == 2, what)
        return
    e = find(state.counts.slots, state.counts.keys, c * state.meta[PLACES] + what)
    for with_nothing_else in range(2):
        for i in range(n):
            record = state.members[i]
            if with_nothing_else == 0 and not _has_other(state, record, what):
                continue
            if (
                remove(state, record, True, what) > 0
                and entry[e, N_OWNERS] <= state.allowed[node[c, OWNERS]]
                and entry[e, N_RECORDS] <= state.allowed_trips[node[c, RECORDS]]
            ):
                return


@inner
def _has_other(state, record, place):
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and state.place[row] != place:
            return True
    return False


@inner
def _settle(state, commit):
    """Return the gain (pairs of a person and a place that became safe) and the loss of the operation under way."""
    meta, node, gain = state.meta, state.node, np.int64(0)
    for i in range(meta[N_DIRTY]):
        c = state.dirty[i]
        unsafe = recount(state, c)
        gain += node[c, BEFORE] - node[c, OWNERS] * unsafe
        if commit:
            node[c, UNSAFE] = unsafe
            node[c, VERSION] += 1
    if state.x.size == 0:
        return gain, float(meta[N_LOG])
    loss, largest = 0.0, state.deviation[meta[N_ALL]]
    for i in range(meta[N_DONE]):
        record = state.done[i, 0]
        start, end = state.offsets[record], state.offsets[record + 1]
        now = deviation_of(start, end, state.x, state.y, state.alive, largest)
        loss += now - state.deviation[record]
        if commit:
            state.deviation[record] = now
    return gain, max(loss, 1e-9 * largest + 1e-200)  # a visit on the line is lost, too


@inner
def _members(state, c):
    """Write the trajectories of a class to `members`, ascending; return how many."""
    root, at, n = c, state.node[c, FIRST], np.int64(0)
    while root >= state.meta[ADVERSARIES]:
        root = state.node[root, PARENT]
    while at >= 0:
        state.members[n] = at
        n += 1
        at = state.after[root * state.meta[N_ALL] + at]
    _sort(state.members, n)
    return n


@inner
def _sort(values, n):
    """Sort the first n values: a heap sort, as sorting functions of libraries take seconds to compile."""
    start, end = n // 2, n
    while end > 1:
        if start > 0:
            start -= 1
        else:
            end -= 1
            values[end], values[0] = values[0], values[end]
        root = start
        while 2 * root + 1 < end:
            child = 2 * root + 1
            if child + 1 < end and values[child] < values[child + 1]:
                child += 1
            if values[root] >= values[child]:
                break
            values[root], values[child] = values[child], values[root]
            root = child


@inner
def _has_room(state, need):
    """Return whether `need` more nodes and entries fit into the tables."""
    return (
        state.trie.keys.size - state.trie.used[0] >= need
        and state.counts.keys.size - state.counts.used[0] >= need
        and (state.meta[MULTI] == 0 or state.pairs.keys.size - state.pairs.used[0] >= 2 * need)
    )
