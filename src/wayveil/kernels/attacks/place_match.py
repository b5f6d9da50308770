"""Which classes of published trajectories contain a known sequence of places, and what they tell of sensitive ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.common.jit import inner, kernel

__all__ = ["Preorder", "Questions", "StopClasses", "match_places"]

Ints = NDArray[Any]
Floats = NDArray[Any]


class Preorder(NamedTuple):
    """A taxonomy whose nodes are numbered in preorder: ``v <= u < end[v]`` says that `u` is at or below `v`.

    ``above[v]`` is the parent of `v`, -1 of the root.
    """

    above: Ints
    end: Ints


class Questions(NamedTuple):
    """What an attacker knows and wants to know.  Question q knows the places
    ``known[known_offsets[q]:known_offsets[q + 1]]``, in this order, and asks for the probabilities of the leaves
    ``secret[secret_offsets[q]:secret_offsets[q + 1]]``."""

    known: Ints
    known_offsets: Ints
    secret: Ints
    secret_offsets: Ints


class StopClasses(NamedTuple):
    """Published trajectories by class: class c is the sequence ``item[offsets[c]:offsets[c + 1]]`` of ``people[c]``
    people, and adds ``weight[j]`` to every leaf below ``evidence[j]``, for j from ``evidence_offsets[c]`` to before
    ``evidence_offsets[c + 1]``.

    The classes that have node v are ``having[index_offsets[v]:index_offsets[v + 1]]``; ``signs`` beside it has bit
    ``u % 63`` set for every node u of the class.
    """

    item: Ints
    offsets: Ints
    people: Ints
    evidence: Ints
    weight: Floats
    evidence_offsets: Ints
    having: Ints
    signs: Ints
    index_offsets: Ints


@kernel
def match_places(questions: Questions, tree: Preorder, classes: StopClasses) -> Any:
    """Return per question the people who fit and the largest probability of a leaf, and that of each asked leaf.

    All classes that could have the rarest known place are looked at, those without a sign of the others only there:
    O(their rows) time per question, O(classes + nodes) memory.
    """
    n = questions.known_offsets.size - 1
    fitting = np.zeros(n, np.int64)
    largest = np.zeros(n, np.float64)
    share = np.zeros(questions.secret.size, np.float64)
    seen = np.zeros(classes.people.size, np.int64)  # the last question, plus 1, for which a class was looked at
    total = np.zeros(tree.end.size, np.float64)  # per node what the classes that fit add to all leaves below it
    touched = np.empty(tree.end.size, np.int64)  # the nodes of which `total` is not 0
    need = np.empty(questions.known.size, np.int64)
    # One question per round.  Before it `total` is 0 everywhere.  A class fits if it has a node at or above each known
    # place, in the known order; so every class that fits has one at or above the rarest of them, and only the lists of
    # that place and of the nodes above it are read.  What the classes that fit tell is summed per node, and a leaf gets
    # the sums of all nodes above it: a walk up to the root, which is short.
    for q in range(n):
        begin = questions.known_offsets[q]
        stop = questions.known_offsets[q + 1]
        n_touched = np.int64(0)
        node = _rarest(questions, begin, stop, tree, classes.index_offsets, need)
        while node >= 0:
            for at in range(classes.index_offsets[node], classes.index_offsets[node + 1]):
                i = begin
                while i < stop and classes.signs[at] & need[i] != 0:
                    i += 1
                c = classes.having[at]
                if i < stop or seen[c] == q + 1:  # seen: it has another node above the same place, too
                    continue
                seen[c] = q + 1
                if not _contains(classes, c, questions.known, begin, stop, tree.end):
                    continue
                fitting[q] += classes.people[c]
                for j in range(classes.evidence_offsets[c], classes.evidence_offsets[c + 1]):
                    if total[classes.evidence[j]] == 0.0:
                        touched[n_touched] = classes.evidence[j]
                        n_touched += 1
                    total[classes.evidence[j]] += classes.weight[j]
            node = tree.above[node]
        # A leaf has the sum of the lowest touched node above it: the largest of a touched node is that of a leaf.
        for i in range(n_touched):
            largest[q] = max(largest[q], _sum_above(touched[i], total, tree.above) / fitting[q])
        if fitting[q] > 0:
            for j in range(questions.secret_offsets[q], questions.secret_offsets[q + 1]):
                share[j] = _sum_above(questions.secret[j], total, tree.above) / fitting[q]
        for i in range(n_touched):
            total[touched[i]] = 0.0
    return fitting, largest, share


@inner
def _rarest(questions: Questions, begin: int, stop: int, tree: Preorder, index_offsets: Ints, need: Ints) -> np.int64:
    """Return the known place for which fewest classes must be looked at; write the signs of what has each place."""
    best = questions.known[begin]
    fewest = np.int64(-1)
    for i in range(begin, stop):
        n = np.int64(0)
        node = questions.known[i]
        need[i] = 0
        while node >= 0:
            if index_offsets[node] < index_offsets[node + 1]:
                n += index_offsets[node + 1] - index_offsets[node]
                need[i] |= np.int64(1) << (node % 63)
            node = tree.above[node]
        if fewest < 0 or n < fewest:
            best = questions.known[i]
            fewest = n
    return best


@inner
def _contains(classes: StopClasses, c: int, known: Ints, begin: int, stop: int, end: Ints) -> bool:
    """Return whether class c has nodes, in order, at or above the known places; the earliest is never wrong."""
    row = classes.offsets[c]
    row_end = classes.offsets[c + 1]
    while begin < stop:
        while row < row_end and not classes.item[row] <= known[begin] < end[classes.item[row]]:
            row += 1
        if row == row_end:
            return False
        row += 1
        begin += 1
    return True


@inner
def _sum_above(node: int, total: Floats, above: Ints) -> float:
    """Return the sum over a node and all above it."""
    weight = 0.0
    while node >= 0:
        weight += total[node]
        node = above[node]
    return weight
