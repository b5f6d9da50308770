"""The greedy choice: of all ways to make an unsafe class safer, the one with the most gain for its loss."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner, kernel
from wayveil.kernels.gsup.adversary_classes import (
    BEFORE,
    COMMITS,
    DONE_RECORD,
    FIRST,
    ITEM,
    KIND,
    MOVED,
    N_DIRTY,
    N_DONE,
    N_LOG,
    N_OWNERS,
    N_RECORDS,
    OWNERS,
    PARENT,
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
from wayveil.kernels.gsup.class_heap import pop, push
from wayveil.kernels.gsup.key_table import find
from wayveil.kernels.gsup.visit_removal import begin, enter, remove, undo
from wayveil.kernels.metrics.line_deviation import deviation_of

__all__ = ["SMALL", "delete_everywhere", "enlist", "load", "suppress"]

SMALL = 16
"""Up to how many trajectories a class is tried anew whenever it changes; a larger one only when it is its turn."""

PATIENCE = 64
"""A large class is tried anew when it was changed more often than once for so many trajectories."""

# The kinds of operations on a class.
ITEM_FROM_ALL = 0  # an item of the adversary leaves all members: they merge with another class
PLACE_FROM_FEW = 1  # an unsafe place leaves as few members as needed
PLACE_FROM_ALL = 2  # an unsafe place leaves all members: what is done if nothing else gains


@kernel
def load(state, record, room):
    """Put trajectories from `record` on into their classes; return the first for which there is no room, or the end."""
    while record < state.n_trajectories and _has_room(state, room):
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
    classes = np.int64(0)
    places = np.int64(0)
    for c in range(state.trie.used[0] + state.n_adversaries):
        state.node[c, MOVED] = 1
        state.node[c, UNSAFE] = recount(state, c)
        if state.node[c, UNSAFE] > 0:
            classes += 1
            places += state.node[c, UNSAFE]
            if classes <= heap.key.size:
                # what it is worth is not known yet: it comes up before all others, and is tried then
                state.node[c, TICKET] = push(heap, -np.inf, c, c)
    return classes, places


@kernel
def delete_everywhere(state, records, place, commit):
    """Take a place out of these trajectories; return gain, loss and visits.  Without `commit` all is as before.

    `records` is int64.
    """
    begin(state)
    for record in records:
        remove(state, record, True, place)
    gain, loss = _settle(state, commit)
    if not commit:
        undo(state)
    return gain, loss, state.numbers[N_LOG]


@kernel
def suppress(state, heap, longest):
    """Take visits out until the heap of unsafe classes is empty; then return 0.

    Where the tables could become full, return before that the number of trajectories that room is needed for.  Each
    operation takes O(trajectories of its class x (adversaries + rows)) to try, to take back and to do.
    """
    numbers = state.numbers
    node = state.node
    # Greedy suppression (section 3.4 of the specification; the survey of the seeds calls it GSUP).  Before each round,
    # every unsafe class has a newest ticket in the heap, with what its best operation was worth when it was tried.  A
    # round takes the class at the top; if it may have changed since, it is tried again, and goes back if it is no
    # longer the best.  Otherwise its operation is done, and the classes that this changed are offered anew.  Every
    # operation takes a visit out, and without visits all is safe: it ends.
    while heap.size[0] > 0:
        c = heap.cls[0]
        need = max(node[c, RECORDS], SMALL)
        more_tickets = need * (state.n_adversaries + 2)
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
        numbers[COMMITS] += 1
        # offering tries operations, which write to `dirty`
        n_dirty = numbers[N_DIRTY]
        for i in range(n_dirty):
            state.others[i] = state.dirty[i]
        for i in range(n_dirty):
            _offer(state, heap, state.others[i])
    return 0


@inner
def _is_fresh(state, c):
    """Return whether what was noted of a class is still good enough: nothing changed, or little in a large class."""
    node = state.node
    entry = state.entry
    if node[c, SEEN] == state.numbers[COMMITS] + 1:
        return True
    if node[c, RECORDS] <= SMALL or node[c, SEEN] == 0:
        return False
    if node[c, VERSION] - node[c, SEEN_VERSION] > node[c, RECORDS] // PATIENCE:
        return False
    if node[c, KIND] == ITEM_FROM_ALL:
        return True
    # the place must still be unsafe
    e = find(state.counts.slots, state.counts.keys, c * state.n_places + node[c, WHAT])
    people = state.allowed[node[c, OWNERS]]
    records = state.allowed_trips[node[c, RECORDS]]
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
    node = state.node
    n = _members(state, c)
    roots = state.n_adversaries
    best_key = np.inf
    best_tie = np.int64(0)
    unsafe = np.empty(node[c, UNSAFE], np.int64)
    unsafe_places(state, c, unsafe, unsafe.size)
    # Step 4: if nothing gains, the first unsafe place leaves all members.
    node[c, KIND] = PLACE_FROM_ALL
    node[c, WHAT] = unsafe[0]
    # Step 2: first the items of the class, from the last to the first (a), then its unsafe places (b).  Each operation
    # is done, measured over the classes of all adversaries (step 3), and taken back.
    at = c
    n_tried = 0
    while at >= roots or n_tried < unsafe.size:
        if at >= roots:
            kind = np.int64(ITEM_FROM_ALL)
            what = node[at, ITEM]
            at = node[at, PARENT]
            if _is_above(node, at, roots, what):
                continue  # an item that comes twice is tried once
        else:
            kind = np.int64(PLACE_FROM_FEW)
            what = unsafe[n_tried]
            n_tried += 1
            if node[c, KIND] == PLACE_FROM_ALL:
                node[c, WHAT] = min(node[c, WHAT], what)
        _operate(state, c, n, kind, what)
        gain, loss = _settle(state, False)
        tie = _tie(state, what)
        undo(state)
        key = -gain / loss
        if gain > 0 and (key < best_key or (key == best_key and tie < best_tie)):
            best_key = key
            best_tie = tie
            node[c, KIND] = kind
            node[c, WHAT] = what
    node[c, SEEN] = state.numbers[COMMITS] + 1
    node[c, SEEN_VERSION] = node[c, VERSION]
    return best_key, best_tie


@inner
def _is_above(node, at, roots, item):
    """Return whether an item leads to this node, or to one above it."""
    while at >= roots and node[at, ITEM] != item:
        at = node[at, PARENT]
    return at >= roots


@inner
def _tie(state, what):
    """Return what decides among equals: fewer visits, then the name, then the first trajectory, packed into 63 bits."""
    tie = min(state.numbers[N_LOG], (1 << 20) - 1) << 43
    tie |= min(what, (1 << 21) - 1) << 22
    tie |= min(state.done[0, DONE_RECORD], (1 << 22) - 1)
    return tie


@inner
def _operate(state, c, n, kind, what):
    """Do an operation, of one of the kinds above, on the n trajectories of a class, which are in `members`.

    A place leaves first those that have other visits: they stay in the publication.
    """
    node = state.node
    entry = state.entry
    begin(state)
    if kind != PLACE_FROM_FEW:
        for i in range(n):
            remove(state, state.members[i], kind == PLACE_FROM_ALL, what)
        return
    e = find(state.counts.slots, state.counts.keys, c * state.n_places + what)
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
    """Return whether a trajectory has a visit at another place."""
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and state.place[row] != place:
            return True
    return False


@inner
def _settle(state, commit):
    """Return the gain (pairs of a person and a place that became safe) and the loss of the operation under way.

    The loss is the number of visits or, where places have coordinates, by how much the deviation grew.
    """
    numbers = state.numbers
    node = state.node
    gain = np.int64(0)
    for i in range(numbers[N_DIRTY]):
        c = state.dirty[i]
        unsafe = recount(state, c)
        gain += node[c, BEFORE] - node[c, OWNERS] * unsafe
        if commit:
            node[c, UNSAFE] = unsafe
            node[c, VERSION] += 1
    if state.x.size == 0:
        return gain, float(numbers[N_LOG])
    loss = 0.0
    largest = state.deviation[state.n_trajectories]
    for i in range(numbers[N_DONE]):
        record = state.done[i, DONE_RECORD]
        start = state.offsets[record]
        end = state.offsets[record + 1]
        now = deviation_of(start, end, state.x, state.y, state.alive, largest)
        loss += now - state.deviation[record]
        if commit:
            state.deviation[record] = now
    return gain, max(loss, 1e-9 * largest + 1e-200)  # a visit on the line is lost, too


@inner
def _members(state, c):
    """Write the trajectories of a class to `members`, ascending; return how many."""
    root = c
    while root >= state.n_adversaries:
        root = state.node[root, PARENT]
    at = state.node[c, FIRST]
    n = np.int64(0)
    while at >= 0:
        state.members[n] = at
        n += 1
        at = state.after[root * state.n_trajectories + at]
    _sort(state.members, n)
    return n


@inner
def _sort(values, n):
    """Sort the first n values: a heap sort, as sorting functions of libraries take seconds to compile."""
    # While `start` falls, values[start:n] becomes a heap with the largest at the top; then, while `end` falls, the
    # largest of values[:end] goes to its end, where it belongs.  Either way the root sinks to its place.
    start = n // 2
    end = n
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
        and (state.n_multi == 0 or state.pairs.keys.size - state.pairs.used[0] >= 2 * need)
    )
