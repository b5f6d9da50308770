"""The classes of each adversary, and how many of their people were at which place.

A class is what a trajectory shows of the places of one adversary.  Classes are the nodes of a tree with one root per
adversary, so that equal sequences are the same node.  Per class and place that is not the adversary's, the trajectories
and the distinct owners with this place are counted; a place is unsafe where either is more than the share allowed.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.gsup.key_table import add, find

__all__ = ["State", "comes_or_goes", "count_place", "new_node", "recount", "touch", "unsafe_places"]

State = namedtuple(
    "State",
    "offsets place item earlier alive x y multi deviation cls after before adversary allowed allowed_trips "
    "trie counts pairs node entry times dirty log done members others meta",
)
"""Rows: `place`; `item`, the place or the place and time; `earlier`, the last row of the trajectory with this place or
-1; `alive`; `x` and `y`, empty where nobody knows.  Trajectories: `multi`, the number of the owner among those with
several, or -1; `deviation`, and at the end that of a trajectory without rows; and per adversary `cls`, the class or -1
without rows, and the neighbours in the list of that class.  Places: `adversary`, or -1.  `allowed[n]` of n people and
`allowed_trips[n]` of n trajectories may have one place.  Then the tables (`trie`: node and item; `counts`: node and
place; `pairs`: either of these and an owner of several trajectories) with what belongs to their keys, scratch arrays,
and numbers."""

# Columns of `node`: the node above and the item that leads here; owners, trajectories and unsafe places; a bound on the
# counts of the cold places, the first cold and the first hot one, the first trajectory; notes of the operation under
# way; notes of the greedy choice.
PARENT, ITEM, OWNERS, RECORDS, UNSAFE, TOP, COLD, HOT, FIRST, STAMP, MOVED, BEFORE = range(12)
VERSION, TICKET, SEEN, SEEN_VERSION, KIND, WHAT, NODE_COLUMNS = range(12, 19)

# Columns of `entry`: one per class and place.
PLACE, N_OWNERS, N_RECORDS, NEXT, CLASS, IS_HOT, ENTRY_COLUMNS = range(7)

# Places of `meta`.
N_ALL, ADVERSARIES, ITEMS, PLACES, MULTI, SERIAL, N_DIRTY, N_LOG, N_DONE, COMMITS = range(10)
TRIE_USED, COUNTS_USED, PAIRS_USED, META_SIZE = range(10, 14)


@inner
def new_node(state, c, parent, item):
    """Make node c an empty class."""
    for column in range(NODE_COLUMNS):
        state.node[c, column] = 0
    state.node[c, PARENT], state.node[c, ITEM] = parent, item
    state.node[c, COLD], state.node[c, HOT], state.node[c, FIRST] = -1, -1, -1


@inner
def touch(state, c, moved):
    """Note that the operation under way changes a class, and what it was before."""
    meta, node = state.meta, state.node
    if node[c, STAMP] != meta[SERIAL]:
        node[c, STAMP], node[c, MOVED] = meta[SERIAL], 0
        node[c, BEFORE] = node[c, OWNERS] * node[c, UNSAFE]
        state.dirty[meta[N_DIRTY]] = c
        meta[N_DIRTY] += 1
        if node[c, TOP] > min(state.allowed[node[c, OWNERS]], state.allowed_trips[node[c, RECORDS]]):
            _sort_out(state, c)
    node[c, MOVED] |= moved


@inner
def count_place(state, c, place, multi, step):
    """Count one trajectory more (`step` 1) or less (-1) with a place in a class.  O(1)."""
    key = c * state.meta[PLACES] + place
    e, entry, node = find(state.counts.slots, state.counts.keys, key), state.entry, state.node
    if e < 0:
        e = add(state.counts, key, e)
        entry[e, PLACE], entry[e, N_OWNERS], entry[e, N_RECORDS], entry[e, CLASS] = place, 0, 0, c
        entry[e, NEXT], entry[e, IS_HOT] = node[c, COLD], 0
        node[c, COLD] = e
    entry[e, N_RECORDS] += step
    entry[e, N_OWNERS] += step if multi < 0 else step * comes_or_goes(state, 2 * e, multi, step)
    if entry[e, IS_HOT] == 0 and entry[e, N_RECORDS] > node[c, TOP]:
        node[c, TOP] = entry[e, N_RECORDS]


@inner
def comes_or_goes(state, what, multi, step):
    """Return 1 if an owner of several trajectories comes with this step up, or goes with this step down, else 0."""
    key = what * state.meta[MULTI] + multi
    found = find(state.pairs.slots, state.pairs.keys, key)
    if found < 0:
        found = add(state.pairs, key, found)
        state.times[found] = 0
    state.times[found] += step
    return 1 if state.times[found] == (1 if step > 0 else 0) else 0


@inner
def recount(state, c):
    """Return how many places of a class are unsafe after an operation.  O(hot places), seldom O(places)."""
    if state.node[c, MOVED] == 0 and state.node[c, UNSAFE] == 0:
        return 0  # nobody came or went, and counts only fell
    return unsafe_places(state, c, state.others, 0)


@inner
def unsafe_places(state, c, out, most):
    """Return how many places of a class are unsafe, and write the first `most` of them to `out`."""
    node, entry, n = state.node, state.entry, np.int64(0)
    people, records = state.allowed[node[c, OWNERS]], state.allowed_trips[node[c, RECORDS]]
    for hot in range(2):
        if hot == 0 and node[c, TOP] <= min(people, records):
            continue  # no cold place has more trajectories than are allowed, so neither has too many owners
        e = node[c, HOT] if hot else node[c, COLD]
        while e >= 0:
            if entry[e, N_OWNERS] > people or entry[e, N_RECORDS] > records:
                if n < most:
                    out[n] = entry[e, PLACE]
                n += 1
            e = entry[e, NEXT]
    return n


@inner
def _sort_out(state, c):
    """Part the places of a class into hot ones, which may soon be unsafe, and cold ones, on which `TOP` is a bound.

    Only before an operation adds to the class: what it added must stay at the front of the cold ones, for `undo`.
    """
    node, entry = state.node, state.entry
    bar = min(state.allowed[node[c, OWNERS]], state.allowed_trips[node[c, RECORDS]]) // 2
    hot, cold, top = np.int64(-1), np.int64(-1), np.int64(0)
    for chain in range(2):
        e = node[c, HOT] if chain else node[c, COLD]
        while e >= 0:
            following = entry[e, NEXT]
            entry[e, IS_HOT] = 1 if entry[e, N_RECORDS] > bar else 0
            if entry[e, IS_HOT]:
                entry[e, NEXT], hot = hot, e
            else:
                entry[e, NEXT], cold = cold, e
                top = max(top, entry[e, N_RECORDS])
            e = following
    node[c, HOT], node[c, COLD], node[c, TOP] = hot, cold, top
