"""The classes of each adversary, and how many of their people were at which place.

A class is what a trajectory shows of the places of one adversary: its projection.  Classes are the nodes of a tree with
one root per adversary, so that equal sequences are the same node.  Per class and place that is not the adversary's, the
trajectories and the distinct owners with this place are counted; a place is unsafe where either is more than the share
allowed (the breach test of Terrovitis and Mamoulis, P(p|q) > P_br).
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
    "trie counts pairs node entry times dirty log done members others "
    "n_trajectories n_adversaries n_items n_places n_multi numbers",
)
"""All that the greedy suppression knows.  Arrays are int64 where nothing else is said.

Rows, one per visit:

offsets
    Trajectory i has the rows ``offsets[i]:offsets[i + 1]``.
place, item
    The place; and the place, or the place and time, that adversaries tell apart.
earlier
    The last row before it in the trajectory with the same place, or -1: a place counts once for a trajectory.
alive
    1 until the visit is suppressed, then 0; `visit_removal` writes it.
x, y : float64
    Where the place is; empty where nobody knows.

Trajectories:

multi
    The number of the owner among those with several trajectories, or -1.
deviation : float64, one more
    How far what is left is from what it was; at the end, what it is for a trajectory of which nothing is left.
cls : adversaries x trajectories, flat
    The class, or -1 without rows.
after, before : adversaries x trajectories, flat
    The neighbours in the list of the members of that class, or -1.

Places and numbers of people:

adversary : one per place
    Whose it is, or -1.
allowed, allowed_trips
    ``allowed[n]`` of n people and ``allowed_trips[n]`` of n trajectories may have one place.

Tables and what belongs to their keys:

trie, node
    Key: a class and the item that leads on.  Key number i is class ``i + n_adversaries``, a row of `node`.
counts, entry
    Key: a class and a place.  Key number e is row e of `entry`.
pairs, times
    Key: a class or an entry, and an owner of several trajectories, who has so many there.

Scratch of the operation under way:

dirty : classes that it changes
log : rows that it switched off
done : (trajectories, 2), the trajectories from which it took something, and where their rows begin in the log
members, others : the trajectories of a class; classes

n_trajectories, n_adversaries, n_items, n_places, n_multi : int
numbers : what changes, by the constants below
"""

# Columns of `node`: one row per class.
PARENT = 0  # the node above
ITEM = 1  # the item that leads from there to here
OWNERS = 2
RECORDS = 3  # its trajectories
UNSAFE = 4  # how many places are unsafe, as of the last `recount`
TOP = 5  # no cold place has more trajectories than this
COLD = 6  # the first entry of the list of cold places, or -1
HOT = 7  # the first entry of the list of hot places, or -1
FIRST = 8  # the first member, or -1
STAMP = 9  # the last operation that changed it
MOVED = 10  # whether that one let somebody come or go
BEFORE = 11  # owners times unsafe places before that
VERSION = 12  # how often it was changed
TICKET = 13  # its newest ticket in the heap; 0 for none
SEEN = 14  # one more than the number of operations that were done when it was last tried; 0 for never
SEEN_VERSION = 15  # its version then
KIND = 16  # the best operation then
WHAT = 17  # the item or place of that operation
NODE_COLUMNS = 18

# Columns of `entry`: one row per class and place.
PLACE, N_OWNERS, N_RECORDS, NEXT, CLASS, IS_HOT, ENTRY_COLUMNS = range(7)

# Columns of `done`.
DONE_RECORD, DONE_START = range(2)

# Entries of `numbers`.
SERIAL = 0  # of the operation under way
N_DIRTY = 1  # how long the scratch lists are
N_LOG = 2
N_DONE = 3
COMMITS = 4  # how many operations were done and kept
TRIE_USED = 5  # how many keys the tables had before the operation
COUNTS_USED = 6
PAIRS_USED = 7
N_NUMBERS = 8


@inner
def new_node(state, c, parent, item):
    """Make node c an empty class."""
    node = state.node
    for column in range(NODE_COLUMNS):
        node[c, column] = 0
    node[c, PARENT] = parent
    node[c, ITEM] = item
    node[c, COLD] = -1
    node[c, HOT] = -1
    node[c, FIRST] = -1


@inner
def touch(state, c, moved):
    """Note that the operation under way changes a class, and what it was before."""
    numbers = state.numbers
    node = state.node
    if node[c, STAMP] != numbers[SERIAL]:
        node[c, STAMP] = numbers[SERIAL]
        node[c, MOVED] = 0
        node[c, BEFORE] = node[c, OWNERS] * node[c, UNSAFE]
        state.dirty[numbers[N_DIRTY]] = c
        numbers[N_DIRTY] += 1
        if node[c, TOP] > min(state.allowed[node[c, OWNERS]], state.allowed_trips[node[c, RECORDS]]):
            _sort_out(state, c)
    node[c, MOVED] |= moved


@inner
def count_place(state, c, place, multi, step):
    """Count one trajectory more (`step` 1) or less (-1) with a place in a class.  O(1).

    `multi` is the number of its owner among those with several trajectories, or -1.
    """
    node = state.node
    entry = state.entry
    key = c * state.n_places + place
    e = find(state.counts.slots, state.counts.keys, key)
    if e < 0:
        e = add(state.counts, key, e)
        entry[e, PLACE] = place
        entry[e, N_OWNERS] = 0
        entry[e, N_RECORDS] = 0
        entry[e, CLASS] = c
        entry[e, IS_HOT] = 0
        # at the front of the list, from where `undo` takes it out again
        entry[e, NEXT] = node[c, COLD]
        node[c, COLD] = e
    entry[e, N_RECORDS] += step
    entry[e, N_OWNERS] += step if multi < 0 else step * comes_or_goes(state, 2 * e, multi, step)
    if entry[e, IS_HOT] == 0 and entry[e, N_RECORDS] > node[c, TOP]:
        node[c, TOP] = entry[e, N_RECORDS]


@inner
def comes_or_goes(state, what, multi, step):
    """Return 1 if an owner of several trajectories comes with this step up, or goes with this step down, else 0.

    `what` is twice an entry, or twice a class and one: both have their owners in one table.
    """
    key = what * state.n_multi + multi
    number = find(state.pairs.slots, state.pairs.keys, key)
    if number < 0:
        number = add(state.pairs, key, number)
        state.times[number] = 0
    state.times[number] += step
    return 1 if state.times[number] == (1 if step > 0 else 0) else 0


@inner
def recount(state, c):
    """Return how many places of a class are unsafe after an operation.  O(hot places), seldom O(places)."""
    if state.node[c, MOVED] == 0 and state.node[c, UNSAFE] == 0:
        return 0  # nobody came or went, and counts only fell
    return unsafe_places(state, c, state.others, 0)


@inner
def unsafe_places(state, c, out, most):
    """Return how many places of a class are unsafe, and write the first `most` of them to `out`."""
    node = state.node
    entry = state.entry
    n = np.int64(0)
    people = state.allowed[node[c, OWNERS]]
    records = state.allowed_trips[node[c, RECORDS]]
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
    node = state.node
    entry = state.entry
    # Half of what is allowed: a place that is cold now must double before it matters, so that this is seldom done.
    bar = min(state.allowed[node[c, OWNERS]], state.allowed_trips[node[c, RECORDS]]) // 2
    hot = np.int64(-1)
    cold = np.int64(-1)
    top = np.int64(0)
    # Each entry of both lists is put at the front of the one to which it belongs now.
    for chain in range(2):
        e = node[c, HOT] if chain else node[c, COLD]
        while e >= 0:
            following = entry[e, NEXT]
            if entry[e, N_RECORDS] > bar:
                entry[e, IS_HOT] = 1
                entry[e, NEXT] = hot
                hot = e
            else:
                entry[e, IS_HOT] = 0
                entry[e, NEXT] = cold
                cold = e
                top = max(top, entry[e, N_RECORDS])
            e = following
    node[c, HOT] = hot
    node[c, COLD] = cold
    node[c, TOP] = top
