"""Groups of trajectories that share places in the same order, wherever these stand in each of them.

Members of a group are aligned: what stays is a sequence of nodes that every member goes through in this order, and a
stop that has no counterpart in all of them is left out.
"""

from __future__ import annotations

import numpy as np

from wayveil.kernels.cast.taxonomy_cover import cover
from wayveil.kernels.common.jit import inner, kernel

__all__ = ["aligned_groups", "embed_stops"]


@kernel
def aligned_groups(offsets, place, owner, m, tree):
    """Return the group of each trajectory and the node of each place: groups of `m` people, until no more can be made.

    Parameters
    ----------
    offsets, place : int64
        Trajectory i has the places ``place[offsets[i]:offsets[i + 1]]``, nodes in preorder, one at least.
    owner : int64, one per trajectory
        Codes from 0 on, each smaller than the number of trajectories.
    m : int
        Members of a group, all of different people.
    tree : WeightedTree

    Returns
    -------
    label : int64, one per trajectory
        Its group, or -1.
    node : int64, one per place
        The node at which it is published, or -1 where it is left out or its trajectory is in no group.  The nodes of
        all members of a group, one after the other, are the same, and there is one at least.

    Notes
    -----
    What is lost of a stop is the weight of its node less that of its place, and that of the root less that of its place
    if it is left out.  A group begins with the first trajectory that is left and takes in, one after the other, whoever
    makes the group lose least; the best alignment of a trajectory with the nodes so far is found by dynamic programming
    over both.  Nodes at the root say nothing, so these stops are left out.  O(n^2 x length^2) time, O(n + length^2)
    memory.

    Examples
    --------
    >>> from wayveil.kernels.cast.taxonomy_cover import WeightedTree
    >>> last, parent = np.array([5, 3, 3, 5, 5]), np.array([-1, 0, 1, 0, 3])  # node 0 above 1 above 2, and 3 above 4
    >>> tree = WeightedTree(last, parent, np.array([2, 1, 0, 1, 0]))
    >>> label, node = aligned_groups(np.array([0, 2, 3]), np.array([2, 4, 4]), np.arange(2), 2, tree)
    >>> label.tolist(), node.tolist()
    ([0, 0], [-1, 4, 4])
    """
    n = owner.size
    longest = np.int64(0)
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
    label = np.full(n, -1, np.int64)
    node = np.full(place.size, -1, np.int64)
    taken_for = np.full(n, -1, np.int64)  # per person, the last round in which one of theirs was taken
    loss = np.empty((longest + 1, longest + 1), np.int64)
    sequence = np.empty(longest, np.int64)  # the nodes of the group so far
    pair = np.empty(longest, np.int64)  # per node of the sequence, the stop of the newcomer, or -1
    member = np.empty(m, np.int64)
    match = np.empty((m, longest), np.int64)  # per member and node of the sequence, the stop that stands there
    n_groups = np.int64(0)
    # Before each round a trajectory is in a group, or left.  A round tries to make a group around the next that
    # is left.  If nobody more fits in, all its members stay left, and may join groups that begin with others.
    for first in range(n):
        if label[first] >= 0:
            continue
        width = offsets[first + 1] - offsets[first]
        for p in range(width):
            sequence[p] = place[offsets[first] + p]
            match[0, p] = offsets[first] + p
        member[0] = first
        taken_for[owner[first]] = first
        size = 1
        while size < m:
            best = np.int64(-1)
            least = np.int64(0)
            for i in range(n):
                if label[i] >= 0 or taken_for[owner[i]] == first:
                    continue
                cost, members = _align(sequence[:width], size, place[offsets[i] : offsets[i + 1]], tree, loss)
                if members and (best < 0 or cost < least):
                    best = i
                    least = cost
            if best < 0:
                break
            stops = place[offsets[best] : offsets[best + 1]]
            _align(sequence[:width], size, stops, tree, loss)  # again: later candidates wrote over its losses
            _trace(sequence[:width], size, stops, tree, loss, pair)
            n_kept = np.int64(0)
            for p in range(width):
                if pair[p] < 0:
                    continue
                sequence[n_kept] = cover(sequence[p], stops[pair[p]], tree.last, tree.parent)
                for s in range(size):
                    match[s, n_kept] = match[s, p]
                match[size, n_kept] = offsets[best] + pair[p]
                n_kept += 1
            width = n_kept
            member[size] = best
            taken_for[owner[best]] = first
            size += 1
        if size < m:
            continue
        for s in range(m):
            label[member[s]] = n_groups
            for p in range(width):
                node[match[s, p]] = sequence[p]
        n_groups += 1
    return label, node


@inner
def _align(sequence, size, stops, tree, loss):
    """Fill ``loss[a, b]``, the least loss of the first a nodes and the first b stops; return (loss of all, any kept).

    `size` members stand behind each node of the `sequence`: lifting or leaving it out costs as often.  `stops` are the
    places of the newcomer.
    """
    width = sequence.size
    last = tree.last
    parent = tree.parent
    weight = tree.weight
    top = weight[0]
    loss[0, 0] = 0
    for a in range(width):
        loss[a + 1, 0] = loss[a, 0] + size * (top - weight[sequence[a]])
    for b in range(stops.size):
        loss[0, b + 1] = loss[0, b] + top - weight[stops[b]]
    everything = loss[width, 0] + loss[0, stops.size]  # nothing is paired, and all is left out
    # The last node and the last stop are paired, at the lowest node above both, or one of them is left out.
    for a in range(width):
        without = size * (top - weight[sequence[a]])
        for b in range(stops.size):
            stop = stops[b]
            least = min(loss[a, b + 1] + without, loss[a + 1, b] + top - weight[stop])
            common = cover(sequence[a], stop, last, parent)
            if common > 0:
                lifted = size * (weight[common] - weight[sequence[a]]) + weight[common] - weight[stop]
                least = min(least, loss[a, b] + lifted)
            loss[a + 1, b + 1] = least
    return loss[width, stops.size], loss[width, stops.size] < everything


@inner
def _trace(sequence, size, stops, tree, loss, pair):
    """Fill ``pair[p]``, the number of the stop that is aligned with node p, or -1; pairs come before leaving out."""
    top = tree.weight[0]
    a = sequence.size
    b = stops.size
    for p in range(sequence.size):
        pair[p] = -1
    # Before each round the first a nodes and the first b stops are still to be explained; the round finds which of the
    # three ways made ``loss[a, b]``, and goes back by it.
    while a > 0 and b > 0:
        stop = stops[b - 1]
        common = cover(sequence[a - 1], stop, tree.last, tree.parent)
        lifted = size * (tree.weight[common] - tree.weight[sequence[a - 1]]) + tree.weight[common] - tree.weight[stop]
        if common > 0 and loss[a, b] == loss[a - 1, b - 1] + lifted:
            pair[a - 1] = b - 1
            a -= 1
            b -= 1
        elif loss[a, b] == loss[a, b - 1] + top - tree.weight[stop]:
            b -= 1
        else:
            a -= 1


@kernel
def embed_stops(offsets, place, group_offsets, node, tree):
    """Return for each trajectory the group that keeps most of it, or -1, and the node of each of its stops, or -1.

    A trajectory fits a group if it goes through all nodes of the group in their order.  Of those it fits, the group
    whose nodes weigh least below the root counts, then the first.  Each node takes the first stop that fits.

    Parameters
    ----------
    offsets, place : int64
        Trajectories, as in `aligned_groups`.
    group_offsets, node : int64
        Group g has the nodes ``node[group_offsets[g]:group_offsets[g + 1]]``.
    tree : WeightedTree

    Notes
    -----
    O(trajectories x (nodes of all groups + length)) time at most.

    Examples
    --------
    >>> from wayveil.kernels.cast.taxonomy_cover import WeightedTree
    >>> last, parent = np.array([5, 3, 3, 5, 5]), np.array([-1, 0, 1, 0, 3])
    >>> tree = WeightedTree(last, parent, np.array([2, 1, 0, 1, 0]))
    >>> group, shown = embed_stops(np.array([0, 2]), np.array([4, 2]), np.array([0, 1, 2]), np.array([1, 4]), tree)
    >>> group.tolist(), shown.tolist()
    ([1], [4, -1])
    """
    n = offsets.size - 1
    n_groups = group_offsets.size - 1
    value = np.zeros(n_groups, np.int64)
    for g in range(n_groups):
        for p in range(group_offsets[g], group_offsets[g + 1]):
            value[g] += tree.weight[0] - tree.weight[node[p]]
    joined = np.full(n, -1, np.int64)
    shown = np.full(place.size, -1, np.int64)
    for i in range(n):
        best = np.int64(-1)
        for g in range(n_groups):
            if value[g] <= 0 or (best >= 0 and value[g] <= value[best]):
                continue
            if group_offsets[g + 1] - group_offsets[g] > offsets[i + 1] - offsets[i]:
                continue
            p = group_offsets[g]
            for j in range(offsets[i], offsets[i + 1]):
                if p < group_offsets[g + 1] and node[p] <= place[j] < tree.last[node[p]]:
                    p += 1
            if p == group_offsets[g + 1]:
                best = g
        joined[i] = best
        if best >= 0:
            p = group_offsets[best]
            for j in range(offsets[i], offsets[i + 1]):
                if p < group_offsets[best + 1] and node[p] <= place[j] < tree.last[node[p]]:
                    shown[j] = node[p]
                    p += 1
    return joined, shown
