"""The nearest people: of each person the nearest trajectory, for the few people who are nearest."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner

__all__ = ["People", "is_before", "new_people", "offer", "reset"]

People = namedtuple("People", ["who", "far", "tie", "index", "state"])
"""The person in place i has ``who[i]`` and the key ``far[i], tie[i], index[i]`` of the nearest trajectory.

`state` holds the number of people held, the number wanted, and the place of the last one in the order of keys.
"""


@inner
def new_people(wanted):
    """Return room for the `wanted` nearest people."""
    ints, floats = np.empty(wanted, np.int64), np.empty(wanted, np.float64)
    state = np.zeros(3, np.int64)
    state[1] = wanted
    return People(ints, floats, np.empty(wanted, np.float64), np.empty(wanted, np.int64), state)


@inner
def reset(people):
    """Forget everybody."""
    people.state[0] = 0


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

    Once they are, the key in place ``state[2]`` is how far one must go to meet as many people as wanted.
    """
    state = people.state
    n, wanted, place = state[0], state[1], np.int64(-1)
    for i in range(n):
        if people.who[i] == who:
            place = i
            break
    if place < 0 and n < wanted:
        place = n
        state[0] = n + 1
    elif place < 0:
        place = state[2]
        if not is_before(far, tie, index, people.far[place], people.tie[place], people.index[place]):
            return True
    elif not is_before(far, tie, index, people.far[place], people.tie[place], people.index[place]):
        return state[0] == wanted
    people.who[place], people.far[place], people.tie[place], people.index[place] = who, far, tie, index
    last = np.int64(0)
    for i in range(1, state[0]):
        if is_before(people.far[last], people.tie[last], people.index[last],
                     people.far[i], people.tie[i], people.index[i]):  # fmt: skip
            last = i
    state[2] = last
    return state[0] == wanted
