"""Take visits out of trajectories and put them back, while the counts of all classes stay true."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.gsup.key_table import add, drop_last, find
from wayveil.kernels.gsup_classes import (
    ADVERSARIES,
    CLASS,
    COLD,
    COUNTS_USED,
    FIRST,
    ITEMS,
    N_ALL,
    N_DIRTY,
    N_DONE,
    N_LOG,
    NEXT,
    OWNERS,
    PAIRS_USED,
    RECORDS,
    SERIAL,
    TRIE_USED,
    comes_or_goes,
    count_place,
    new_node,
    touch,
)

__all__ = ["begin", "enter", "remove", "undo"]


@inner
def begin(state):
    """Start an operation: all that `remove` does from here on can be taken back by `undo`."""
    meta = state.meta
    meta[SERIAL] += 1
    meta[N_DIRTY], meta[N_LOG], meta[N_DONE] = 0, 0, 0
    meta[TRIE_USED], meta[COUNTS_USED] = state.trie.used[0], state.counts.used[0]
    meta[PAIRS_USED] = state.pairs.used[0]


@inner
def enter(state, record):
    """Put a trajectory with rows into its classes, for the first time.  O(adversaries x rows)."""
    for k in range(state.meta[ADVERSARIES]):
        _join(state, _class_of(state, k, record), k, record)
        _count_rows(state, record, k, 1)


@inner
def remove(state, record, by_place, what):
    """Take the visits of a place, or of an item, out of a trajectory; return how many.  O(adversaries + rows)."""
    meta, start, place = state.meta, state.meta[N_LOG], np.int64(-1)
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and (state.place[row] if by_place else state.item[row]) == what:
            state.log[meta[N_LOG]] = row
            meta[N_LOG] += 1
            place = state.place[row]
    if place >= 0:
        state.done[meta[N_DONE], 0], state.done[meta[N_DONE], 1] = record, start
        meta[N_DONE] += 1
        _switch(state, record, start, meta[N_LOG], place, 0)
    return meta[N_LOG] - start


@inner
def undo(state):
    """Take the operation back; what it added to the tables goes, too, the last first."""
    meta, end = state.meta, state.meta[N_LOG]
    for i in range(meta[N_DONE] - 1, -1, -1):
        record, start = state.done[i, 0], state.done[i, 1]
        _switch(state, record, start, end, state.place[state.log[start]], 1)
        end = start
    while state.trie.used[0] > meta[TRIE_USED]:
        drop_last(state.trie)
    while state.counts.used[0] > meta[COUNTS_USED]:
        e = state.counts.used[0] - 1
        state.node[state.entry[e, CLASS], COLD] = state.entry[e, NEXT]
        drop_last(state.counts)
    while state.pairs.used[0] > meta[PAIRS_USED]:
        drop_last(state.pairs)


@inner
def _switch(state, record, start, end, place, on):
    """Switch the logged rows, all of one place, off or on, and move the trajectory between classes accordingly."""
    n, own, multi = state.meta[N_ALL], state.adversary[place], state.multi[record]
    rows, alike, alive = np.int64(0), np.int64(0), state.alive
    for row in range(state.offsets[record], state.offsets[record + 1]):
        rows += alive[row]
        alike += alive[row] if state.place[row] == place else 0
    if own >= 0 and rows > 0:
        _count_rows(state, record, own, -1)
    for i in range(start, end):
        alive[state.log[i]] = on
    switched = end - start if on else start - end
    had_rows, has_rows, had, has = rows > 0, rows + switched > 0, alike > 0, alike + switched > 0
    for k in range(state.meta[ADVERSARIES]):
        c = state.cls[k * n + record]
        if had_rows and (k == own or not has_rows):
            if k != own:
                count_place(state, c, place, multi, -1)
            _leave(state, c, k, record)
        elif had_rows and had != has:
            touch(state, c, 0)
            count_place(state, c, place, multi, 1 if on else -1)
        if has_rows and (k == own or not had_rows):
            c = _class_of(state, k, record)
            _join(state, c, k, record)
            if k != own:
                count_place(state, c, place, multi, 1)
    if own >= 0 and has_rows:
        _count_rows(state, record, own, 1)


@inner
def _class_of(state, adversary, record):
    """Return the class of a trajectory for an adversary: a path in the tree, which grows where there is none."""
    c = adversary
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and state.adversary[state.place[row]] == adversary:
            key = c * state.meta[ITEMS] + state.item[row]
            found = find(state.trie.slots, state.trie.keys, key)
            if found < 0:
                found = add(state.trie, key, found)
                new_node(state, found + state.meta[ADVERSARIES], c, state.item[row])
            c = found + state.meta[ADVERSARIES]
    return c


@inner
def _leave(state, c, adversary, record):
    touch(state, c, 1)
    base, node = adversary * state.meta[N_ALL], state.node
    after, before = state.after[base + record], state.before[base + record]
    if before >= 0:
        state.after[base + before] = after
    else:
        node[c, FIRST] = after
    if after >= 0:
        state.before[base + after] = before
    state.cls[base + record] = -1
    node[c, RECORDS] -= 1
    multi = state.multi[record]
    node[c, OWNERS] -= 1 if multi < 0 else comes_or_goes(state, 2 * c + 1, multi, -1)


@inner
def _join(state, c, adversary, record):
    touch(state, c, 1)
    base, node = adversary * state.meta[N_ALL], state.node
    first = node[c, FIRST]
    state.after[base + record], state.before[base + record] = first, -1
    if first >= 0:
        state.before[base + first] = record
    node[c, FIRST] = record
    state.cls[base + record] = c
    node[c, RECORDS] += 1
    multi = state.multi[record]
    node[c, OWNERS] += 1 if multi < 0 else comes_or_goes(state, 2 * c + 1, multi, 1)


@inner
def _count_rows(state, record, adversary, step):
    """Count the distinct places of a trajectory that are not the adversary's, once more or once less, in its class."""
    c = state.cls[adversary * state.meta[N_ALL] + record]
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and state.adversary[state.place[row]] != adversary:
            earlier = state.earlier[row]
            while earlier >= 0 and state.alive[earlier] == 0:
                earlier = state.earlier[earlier]
            if earlier < 0:
                count_place(state, c, state.place[row], state.multi[record], step)
