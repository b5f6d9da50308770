"""Generalizing sensitive stops until no sensitive place is too probable in its class.

This is Generalize of Algorithm 1 (CAST), by Definition 9 (c-safety) with the probability of section 4.1 of the paper.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["ClassStops", "SensitiveTree", "safe_nodes"]

ClassStops = namedtuple("ClassStops", ["first", "stop", "owner", "trip", "people", "trips"])
"""The sensitive stops of classes; nobody writes to it.  All arrays are int64.

first : one more than there are classes
    Class `i` has stops ``first[i]:first[i + 1]``.
stop : one per stop
    Its node, numbered in preorder, ascending in a class.
owner, trip : one per stop
    Whose it is, and of which trajectory: codes from 0 on.
people, trips : one per class
    The number of people and of trajectories; 0 for a class of which nothing else is published: people count there
    while they have a stop, and where fewer than `m` have one, all are suppressed.
"""

SensitiveTree = namedtuple("SensitiveTree", ["last", "parent", "leaves", "sensitive"])
"""A taxonomy, one int64 per node: the nodes at or below v are those from v to before ``last[v]``; the node above; how
many leaves are at or below it; and 1 where it is sensitive."""

Judge = namedtuple("Judge", ["c", "times", "met"])
"""`c` is numerator and denominator of the largest probability.  `times` and `met` (int64, one per code) are scratch:
how often a person or trajectory was met, 0 between calls, and who was."""


@kernel
def safe_nodes(classes, tree, c, m):
    """Return the node at which each sensitive stop may be published, or -1 where it must be suppressed.

    Parameters
    ----------
    classes : ClassStops
    tree : SensitiveTree
    c : int64, (2,)
        Numerator and denominator of the largest probability.
    m : int
        Smallest number of people.

    Notes
    -----
    A node is too probable if it is as the mean over people, or as the mean over trajectories.
    O(stops x height) time at most where no stop is suppressed, O(stops + people) memory.

    Examples
    --------
    >>> tree = SensitiveTree(np.array([4, 4, 3, 4]), np.array([-1, 0, 1, 1]), np.array([2, 2, 1, 1]),
    ...                      np.array([0, 1, 1, 1]))
    >>> stop, owner = np.array([2, 2, 3]), np.array([0, 1, 2])  # two of four people at 2, one at 3, both below 1
    >>> classes = ClassStops(np.array([0, 3]), stop, owner, owner, np.array([4]), np.array([4]))
    >>> safe_nodes(classes, tree, np.array([2, 5]), 2).tolist()
    [1, 1, 1]
    """
    first = classes.first
    stop = classes.stop
    owner = classes.owner
    trip = classes.trip
    n_codes = np.int64(0)
    for row in range(owner.size):
        n_codes = max(n_codes, owner[row] + 1, trip[row] + 1)
    judge = Judge(c, np.zeros(n_codes, np.int64), np.empty(n_codes, np.int64))
    node = stop.copy()
    for group in range(first.size - 1):
        low = first[group]
        high = first[group + 1]
        # raw data may hold inner nodes: what is below one of them goes there
        for row in range(low + 1, high):
            if stop[row] < tree.last[node[row - 1]]:
                node[row] = node[row - 1]
        again = True
        while again:
            again = False
            n_people = classes.people[group]
            n_trips = classes.trips[group]
            if n_people == 0:
                n_people = _count_left(node, owner, low, high, judge)
                n_trips = _count_left(node, trip, low, high, judge)
            # At any moment no node of a class is above another one, so a place is below one of them at most, all places
            # below one are equally probable, and the stops at one are neighbours: begin:end.  A round judges one node.
            # If it is too probable, all stops of the class below its parent go to the parent ("when a place is
            # generalized, all the other places having the same parent are generalized too"), which is judged next; in
            # what order makes no difference.  Every round moves on or up, so it ends.  Where people count only while
            # they have a stop, suppressing one can make others too probable: then all are judged again.
            begin = low
            while begin < high:
                here = node[begin]
                end = begin + 1
                while end < high and node[end] == here:
                    end += 1
                bad = here >= 0 and (
                    n_people < m
                    or _is_too_probable(owner, begin, end, tree.leaves[here], n_people, judge)
                    or _is_too_probable(trip, begin, end, tree.leaves[here], n_trips, judge)
                )
                above = np.int64(-1)
                if bad and n_people >= m and tree.sensitive[tree.parent[here]]:
                    above = tree.parent[here]
                    while begin > low and stop[begin - 1] >= above:
                        begin -= 1
                    while end < high and stop[end] < tree.last[above]:
                        end += 1
                if bad:
                    for row in range(begin, end):
                        node[row] = above
                    if above < 0 and classes.people[group] == 0:
                        again = True
                if above < 0:
                    begin = end
    return node


@inner
def _count_left(node, unit, low, high, judge):
    """Return how many people, or trajectories, still have a stop among ``low:high``; `unit` has their codes."""
    n = np.int64(0)
    for row in range(low, high):
        if node[row] >= 0 and judge.times[unit[row]] == 0:
            judge.times[unit[row]] = 1
            judge.met[n] = unit[row]
            n += 1
    for i in range(n):
        judge.times[judge.met[i]] = 0
    return n


@inner
def _is_too_probable(unit, begin, end, leaves, n_units, judge):
    """Return whether the mean, over people or trajectories, of the probability of a leaf below a node is more than c.

    `unit` has the codes of people or trajectories; ``begin:end`` are the stops at the node, which has `leaves` leaves.
    Somebody with `o` stops there was at one leaf with probability 1 - ((l - 1) / l)^o.
    """
    c = judge.c
    times = judge.times
    met = judge.met
    n = np.int64(0)
    most = np.int64(0)
    for row in range(begin, end):
        who = unit[row]
        if times[who] == 0:
            met[n] = who
            n += 1
        times[who] += 1
        most = max(most, times[who])
    few = n * c[1] <= c[0] * n_units  # then even certainty about each of them would not be too much
    # By floats where they are far enough from c; a Kahan sum, whose error does not grow with the number of people.
    total = 0.0
    lost = 0.0
    for i in range(n):
        term = 1.0 - ((leaves - 1) / leaves) ** float(times[met[i]]) - lost
        lost = (total + term) - total - term
        total += term
    excess = total - n_units * (c[0] / c[1])
    sure = few or abs(excess) > 1e-15 * n_units * (most + 16)
    # Otherwise by integers, all probabilities in units of leaves ** -most; where these would be too large, it is yes.
    small = float(leaves) ** float(most) * n_units * c[1] < 4e18
    exact = np.int64(0)
    scale = np.int64(1)
    if not sure and small:
        for _ in range(most):
            scale *= leaves
    for i in range(n):
        if not sure and small:
            missed = scale
            for _ in range(times[met[i]]):
                missed = missed // leaves * (leaves - 1)
            exact += scale - missed
        times[met[i]] = 0
    if sure:
        return not few and excess > 0
    return not small or exact * c[1] > c[0] * n_units * scale
