"""The nearest people: of each person the nearest trajectory, for the few people who are nearest."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["People", "is_before", "new_people", "offer", "reset"]

People = namedtuple("People", ["who", "far", "tie", "index", "n_people", "n_wanted", "last"])
"""The nearest people so far, in no order, written by `offer`.

who : int64, one per slot
    The person in slot i.
far, tie, index : float64, float64 and int64, one per slot
    The key of their nearest trajectory: its distance, what decides among equal distances, and its number.
n_people, n_wanted : int64, arrays of one
    How many slots are taken, and how many may be.
last : int64, array of one
    The slot with the largest key.
"""


@inner
def new_people(n_wanted):
    """Return room for the `n_wanted` nearest people."""
    limit = np.empty(1, np.int64)
    limit[0] = n_wanted
    return People(
        np.empty(n_wanted, np.int64), np.empty(n_wanted, np.float64), np.empty(n_wanted, np.float64),
        np.empty(n_wanted, np.int64), np.zeros(1, np.int64), limit, np.zeros(1, np.int64),
    )  # fmt: skip


@inner
def reset(people):
    """Forget everybody."""
    people.n_people[0] = 0


@inner
def is_before(far, tie, index, other_far, other_tie, other_index):
    """Return whether a key comes before another: the smaller distance, then the smaller tie, then the smaller index."""
    if far != other_far:
        return far < other_far
    if tie != other_tie:
        return tie < other_tie
    return index < other_index


@inner
def offer(people, who, far, tie, index):
    """Take in a trajectory of `who`; return whether as many people as wanted are held.  O(people wanted).

    Once they are, the key in the slot ``last[0]`` is how far one must go to meet as many people as wanted.
    """
    n = people.n_people[0]
    n_wanted = people.n_wanted[0]
    slot = np.int64(-1)
    for i in range(n):
        if people.who[i] == who:
            slot = i
            break
    if slot < 0 and n < n_wanted:
        slot = n
        people.n_people[0] = n + 1
    else:
        # Somebody new takes the slot of the last one, somebody known their own; both only with a smaller key.
        if slot < 0:
            slot = people.last[0]
        if not is_before(far, tie, index, people.far[slot], people.tie[slot], people.index[slot]):
            return n == n_wanted
    people.who[slot] = who
    people.far[slot] = far
    people.tie[slot] = tie
    people.index[slot] = index

    last = np.int64(0)
    for i in range(1, people.n_people[0]):
        if is_before(people.far[last], people.tie[last], people.index[last],
                     people.far[i], people.tie[i], people.index[i]):  # fmt: skip
            last = i
    people.last[0] = last
    return people.n_people[0] == n_wanted
