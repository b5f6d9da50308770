"""Take visits out of trajectories and put them back, while the counts of all classes stay true."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.common.jit import inner
from wayveil.kernels.gsup.adversary_classes import (
    CLASS,
    COLD,
    COUNTS_USED,
    DONE_RECORD,
    DONE_START,
    FIRST,
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
from wayveil.kernels.gsup.key_table import add, drop_last, find

__all__ = ["begin", "enter", "remove", "undo"]


@inner
def begin(state):
    """Start an operation: all that `remove` does from here on can be taken back by `undo`."""
    numbers = state.numbers
    numbers[SERIAL] += 1
    numbers[N_DIRTY] = 0
    numbers[N_LOG] = 0
    numbers[N_DONE] = 0
    numbers[TRIE_USED] = state.trie.used[0]
    numbers[COUNTS_USED] = state.counts.used[0]
    numbers[PAIRS_USED] = state.pairs.used[0]


@inner
def enter(state, record):
    """Put a trajectory with rows into its classes, for the first time.  O(adversaries x rows)."""
    for adversary in range(state.n_adversaries):
        _join(state, _class_of(state, adversary, record), adversary, record)
        _count_rows(state, record, adversary, 1)


@inner
def remove(state, record, by_place, what):
    """Take the visits of a place, or of an item, out of a trajectory; return how many.  O(adversaries + rows)."""
    numbers = state.numbers
    start = numbers[N_LOG]
    place = np.int64(-1)
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and (state.place[row] if by_place else state.item[row]) == what:
            state.log[numbers[N_LOG]] = row
            numbers[N_LOG] += 1
            place = state.place[row]
    if place >= 0:
        state.done[numbers[N_DONE], DONE_RECORD] = record
        state.done[numbers[N_DONE], DONE_START] = start
        numbers[N_DONE] += 1
        _switch(state, record, start, numbers[N_LOG], place, 0)
    return numbers[N_LOG] - start


@inner
def undo(state):
    """Take the operation back; what it added to the tables goes, too, the last first."""
    numbers = state.numbers
    end = numbers[N_LOG]
    for i in range(numbers[N_DONE] - 1, -1, -1):
        start = state.done[i, DONE_START]
        _switch(state, state.done[i, DONE_RECORD], start, end, state.place[state.log[start]], 1)
        end = start
    while state.trie.used[0] > numbers[TRIE_USED]:
        drop_last(state.trie)
    while state.counts.used[0] > numbers[COUNTS_USED]:
        # the last entry of all is the first of its class
        e = state.counts.used[0] - 1
        state.node[state.entry[e, CLASS], COLD] = state.entry[e, NEXT]
        drop_last(state.counts)
    while state.pairs.used[0] > numbers[PAIRS_USED]:
        drop_last(state.pairs)


@inner
def _switch(state, record, start, end, place, on):
    """Switch the logged rows ``log[start:end]``, all of one place, off or on, and move the trajectory accordingly."""
    n = state.n_trajectories
    own = state.adversary[place]
    multi = state.multi[record]
    alive = state.alive
    rows = np.int64(0)
    rows_there = np.int64(0)
    for row in range(state.offsets[record], state.offsets[record + 1]):
        rows += alive[row]
        rows_there += alive[row] if state.place[row] == place else 0
    # The adversary whose place it is sees another projection afterwards: there the trajectory leaves its class with all
    # its counts, and joins another.  For the others it stays, and the place alone is counted once less or more; unless
    # nothing is left of it, or was, so that it goes or comes as a whole.
    if own >= 0 and rows > 0:
        _count_rows(state, record, own, -1)
    for i in range(start, end):
        alive[state.log[i]] = on
    switched = end - start if on else start - end
    had_rows = rows > 0
    has_rows = rows + switched > 0
    was_there = rows_there > 0
    is_there = rows_there + switched > 0
    for adversary in range(state.n_adversaries):
        c = state.cls[adversary * n + record]
        if had_rows and (adversary == own or not has_rows):
            if adversary != own:
                count_place(state, c, place, multi, -1)
            _leave(state, c, adversary, record)
        elif had_rows and was_there != is_there:
            touch(state, c, 0)
            count_place(state, c, place, multi, 1 if on else -1)
        if has_rows and (adversary == own or not had_rows):
            c = _class_of(state, adversary, record)
            _join(state, c, adversary, record)
            if adversary != own:
                count_place(state, c, place, multi, 1)
    if own >= 0 and has_rows:
        _count_rows(state, record, own, 1)


@inner
def _class_of(state, adversary, record):
    """Return the class of a trajectory for an adversary: a path in the tree, which grows where there is none."""
    c = adversary
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and state.adversary[state.place[row]] == adversary:
            key = c * state.n_items + state.item[row]
            number = find(state.trie.slots, state.trie.keys, key)
            if number < 0:
                number = add(state.trie, key, number)
                new_node(state, number + state.n_adversaries, c, state.item[row])
            c = number + state.n_adversaries
    return c


@inner
def _leave(state, c, adversary, record):
    """Take a trajectory out of the members of its class."""
    touch(state, c, 1)
    node = state.node
    base = adversary * state.n_trajectories
    after = state.after[base + record]
    before = state.before[base + record]
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
    """Put a trajectory at the front of the members of a class."""
    touch(state, c, 1)
    node = state.node
    base = adversary * state.n_trajectories
    first = node[c, FIRST]
    state.after[base + record] = first
    state.before[base + record] = -1
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
    c = state.cls[adversary * state.n_trajectories + record]
    for row in range(state.offsets[record], state.offsets[record + 1]):
        if state.alive[row] and state.adversary[state.place[row]] != adversary:
            earlier = state.earlier[row]
            while earlier >= 0 and state.alive[earlier] == 0:
                earlier = state.earlier[earlier]
            if earlier < 0:  # the first visit of the place that is left
                count_place(state, c, state.place[row], state.multi[record], step)
