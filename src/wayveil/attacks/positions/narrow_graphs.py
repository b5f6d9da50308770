"""Counting all assignments of a narrow graph: one person after the other, with what is open in between."""

from __future__ import annotations

import numpy as np

from wayveil.attacks.positions.known_positions import Array
from wayveil.model.lazy_module import lazy_module

__all__ = ["count_narrow", "same_columns"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")


def count_narrow(a: Array, b: Array, size: int, most: int) -> tuple[Array | None, int]:
    """Return the share of perfect matchings with each edge, exactly, or None if that takes more than `most` steps; and
    the steps taken.

    Parameters
    ----------
    a, b : int, one per edge
        The person and the trajectory, both from 0 to `size` - 1; there is at least one perfect matching.

    Notes
    -----
    People are put in an order in which neighbours are near each other (Cuthill and McKee).  A trajectory is open while
    some but not all of the people whom it fits had their turn, and a state is which open trajectories are taken.
    Trajectories that fit the same people are one class, of which only the number taken counts.  Time is the number of
    states times the candidates of a person, summed over people: narrow graphs (rings, bands, chains of groups) have few
    states, however long they are.  Counts are whole numbers of any size.

    Examples
    --------
    >>> ring = np.arange(50)
    >>> a, b = np.concatenate([ring, ring]), np.concatenate([ring, (ring + 1) % 50])
    >>> shares, _ = count_narrow(a, b, 50, 10_000)
    >>> set(shares.tolist())
    {0.5}
    """
    label = same_columns(a, b, size)
    room = np.bincount(label)
    pair, edge = np.unique(a * size + label[b], return_inverse=True)
    person, kind = np.divmod(pair, size)
    turns = _turns(person, kind, size, len(room))
    steps = _Steps.of(turns, person, kind, room)

    # Before the turn of somebody, `ahead` has for every state in how many ways those before can have led to it.  The
    # turn gives the person one more of a class with something left, in as many ways as there are left.  A class whose
    # last person had a turn must be used up.  After the last turn one state remains, with the number of all matchings.
    layers: list[dict[int, int]] = []
    ahead = {0: 1}
    spent = 0
    for turn in range(size):
        layers.append(ahead)
        spent += len(ahead) * len(steps.choices[turn])
        if spent > most:
            return None, spent
        following: dict[int, int] = {}
        for state, ways in ahead.items():
            for _, left, new in steps.moves(turn, state):
                following[new] = following.get(new, 0) + ways * left
        ahead = following
    total = ahead[0]

    # The same backwards: `behind` has in how many ways the rest can go on from a state.  The two together tell how many
    # matchings use a choice.
    behind = {0: 1}
    uses = [0] * len(pair)
    for turn in reversed(range(size)):
        before: dict[int, int] = {}
        for state, ways in layers[turn].items():
            onward = 0
            for choice, left, new in steps.moves(turn, state):
                rest = left * behind.get(new, 0)
                onward += rest
                uses[choice] += ways * rest
            before[state] = onward
        behind = before
    share = np.array([used / (total * int(room[kind[i]])) for i, used in enumerate(uses)])
    return share[edge], spent


def same_columns(a: Array, b: Array, size: int) -> Array:
    """Return a code for each of `size` trajectories, the same for those that fit exactly the same people.

    Compared by two random sums over the people: those of different sets are equal once in 2^128.

    Examples
    --------
    >>> same_columns(np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2]), 3).tolist()
    [0, 0, 1]
    """
    weight = np.random.default_rng(20_090_324).integers(0, 2**63, (2, int(a.max(initial=0)) + 1), np.uint64)
    sums = np.zeros((2, size), np.uint64)
    for row, own in zip(sums, weight, strict=True):
        np.add.at(row, b, own[a])
    _, first, code = np.unique(sums, axis=1, return_index=True, return_inverse=True)
    codes: Array = np.argsort(np.argsort(first))[code.ravel()]
    return codes


def _turns(person: Array, kind: Array, size: int, kinds: int) -> Array:
    """Return people in an order in which those who share trajectories are near each other."""
    n = size + kinds
    both = np.concatenate([person, size + kind]), np.concatenate([size + kind, person])
    graph = sparse.csr_array((np.ones(len(both[0]), np.int8), both), shape=(n, n))
    order = csgraph.reverse_cuthill_mckee(graph, symmetric_mode=True)
    return np.asarray(order[order < size], np.int64)


class _Steps:
    """What a turn can do: per turn the choices, each with the place of its class in a state, and what must be used up.

    A state has a field of bits for every open class, the number that is taken of it; fields are used again when a class
    is closed.
    """

    def __init__(self, turns: int) -> None:
        self.choices: list[list[tuple[int, int, int, int]]] = [[] for _ in range(turns)]
        self.closing: list[tuple[int, int]] = [(0, 0)] * turns

    @classmethod
    def of(cls, turns: Array, person: Array, kind: Array, room: Array) -> _Steps:
        steps = cls(len(turns))
        place = np.empty(len(turns), np.int64)
        place[turns] = np.arange(len(turns))
        last = np.zeros(len(room), np.int64)
        np.maximum.at(last, kind, place[person])
        starts = np.searchsorted(person, np.arange(len(turns) + 1))
        shift: dict[int, int] = {}
        free: dict[int, list[int]] = {}
        end = 0
        # Before each turn `shift` has the field of every class that somebody so far could choose, and `free` the
        # fields of classes that nobody can choose any more, by width.  A turn opens the classes it meets first, lists
        # its choices, and closes those it meets last: these must be used up after it (`mask` and `full` in the bits of
        # a state).
        for turn, who in enumerate(turns.tolist()):
            mask = full = 0
            mine = range(int(starts[who]), int(starts[who + 1]))
            for choice in mine:
                label = int(kind[choice])
                width = int(room[label]).bit_length()
                if label not in shift:
                    if free.get(width):
                        shift[label] = free[width].pop()
                    else:
                        shift[label] = end
                        end += width
                at = shift[label]
                many = int(room[label])
                steps.choices[turn].append((choice, at, (1 << width) - 1, many))
                if last[label] == turn:
                    mask |= ((1 << width) - 1) << at
                    full |= many << at
            steps.closing[turn] = (mask, full)
            for choice in mine:
                label = int(kind[choice])
                if last[label] == turn:
                    free.setdefault(int(room[label]).bit_length(), []).append(shift[label])
        return steps

    def moves(self, turn: int, state: int) -> list[tuple[int, int, int]]:
        """Return (choice, how many are left to take, the state afterwards) of all that a person can take."""
        mask, full = self.closing[turn]
        steps = []
        for choice, at, ones, many in self.choices[turn]:
            left = many - ((state >> at) & ones)
            if left:
                new = state + (1 << at)
                if new & mask == full:
                    steps.append((choice, left, new & ~mask))
        return steps
