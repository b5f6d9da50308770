"""How many people and trajectories fit known sequences of roads; all sequences are searched for at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Engine, Routes
from wayveil.model.data.ragged import offsets_of, take, trajectory_of_row

__all__ = ["Attacked", "Fitting", "Tree"]

Array = NDArray[Any]

_ROWS_AT_ONCE = 250_000
_STEPS_AT_ONCE = 2_000_000
_MOST_TASKS = 16


class Fitting(NamedTuple):
    """What fits each known sequence: people, trajectories, and those of them that are the victim's own."""

    people: Array
    rows: Array
    own: Array


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacked:
    """What is attacked: trajectories with rows in the order of their owners; owners and slices are numbers from 0."""

    truth: Routes
    offsets: Array
    road: Array
    slice_of: Array
    owner: Array
    victim: Array  # of each trajectory of the truth: who its owner is in the target, -1 if there is no such person
    t_start: Array  # of each slice
    t_end: Array
    same: Array  # of each trajectory of the truth: the slice that is equal to its own, -1 where there is none
    code: Array  # of each road of the truth, -1 where the target has no such road

    @classmethod
    def of(cls, target: Routes, truth: Routes) -> Attacked:
        owner = _people(target)
        order = np.argsort(owner, kind="stable")
        order = order[np.diff(target.offsets)[order] > 0]
        offsets, rows = take(target.offsets, order)
        begin = target.t_start[order]
        end = target.t_end[order]
        code = _codes(np.append(begin, truth.t_start), np.append(end, truth.t_end))
        slices, first, number = np.unique(code[: len(order)], return_index=True, return_inverse=True)
        same = np.full(len(code), -1, np.int64)
        same[slices] = np.arange(len(slices))
        known = {name: i for i, name in enumerate(target.network.roads)}
        people, numbered = np.unique(owner[order], return_inverse=True)
        return cls(
            truth=truth,
            offsets=offsets,
            road=target.road[rows].astype(np.int64),
            slice_of=number,
            owner=numbered,
            victim=_victims(truth, target, people),
            t_start=begin[first],
            t_end=end[first],
            same=same[code[len(order) :]],
            code=np.array([known.get(name, -1) for name in truth.network.roads], np.int64),
        )

    def count(self, rows: Array, engine: Engine) -> Fitting:
        """Return what fits each set of rows of the truth; the victim is the owner of the rows."""
        view, views = self._views(rows)
        road = np.where(rows >= 0, self.code[self.truth.road[rows]], -1)
        # Nothing fits a road that the target does not have.
        possible = ((rows < 0) | (road >= 0)).all(axis=1) & (view >= 0)
        fitting = Fitting(*(np.zeros(len(rows), np.int64) for _ in Fitting._fields))
        if possible.any():
            # All known sets in one tree of roads: a set is a path, and sets that begin alike are searched once.
            tree = Tree.of(view[possible], road[possible], int(view.max()) + 1)
            victim = self.victim[np.searchsorted(self.truth.offsets, rows[possible, 0], side="right") - 1]
            pairs, which = np.unique(tree.leaf * len(self.owner) + victim, return_inverse=True)
            matches = engine.map(partial(self._matches, tree, views, pairs), self._tasks())
            people, trajectories, own = (np.sum(counts, axis=0) for counts in zip(*matches, strict=True))
            fitting.people[possible] = people[tree.leaf]
            fitting.rows[possible] = trajectories[tree.leaf]
            fitting.own[possible] = np.where(victim >= 0, own[which], 0)
        return fitting

    def _views(self, rows: Array) -> tuple[Array, tuple[Array, Array]]:
        """Return which slices of the target are looked into for each set, as a number, and the numbers of each slice.

        The first numbers are those of the slices, each alone: that of the true trajectory.  Where the target does not
        have it, the slices that hold the times are taken; -1 where there are none.
        """
        truth = self.truth
        n = len(self.t_start)
        view = self.same[np.searchsorted(truth.offsets, rows[:, 0], side="right") - 1]
        other = np.flatnonzero(view < 0)
        first = truth.t[rows[other, 0]]
        last = truth.t[rows[other].max(axis=1)]
        views: dict[tuple[int, ...], int] = {}
        _, example, number = np.unique(_codes(first, last), return_index=True, return_inverse=True)
        view_of_row = np.full(len(example), -1, np.int64)
        for i, at in enumerate(example.tolist()):
            fit = tuple(np.flatnonzero((self.t_start <= first[at]) & (self.t_end >= last[at])).tolist())
            if fit:
                view_of_row[i] = views.setdefault(fit, n + len(views))
        view[other] = view_of_row[number]
        pairs = sorted([(i, i) for i in range(n)] + [(i, of) for fit, of in views.items() for i in fit])
        of_slice = np.bincount([i for i, _ in pairs], minlength=n)
        return view, (offsets_of(of_slice), np.array([of for _, of in pairs], np.int64))

    def _tasks(self) -> list[slice]:
        """Return parts of the trajectories, of whole owners and about as many rows."""
        begins = np.flatnonzero(np.append(True, self.owner[1:] != self.owner[:-1]))
        part = self.offsets[begins] // max(_ROWS_AT_ONCE, len(self.road) // _MOST_TASKS)
        cuts = begins[np.append(True, part[1:] != part[:-1])]
        return [slice(a, b) for a, b in zip(cuts.tolist(), [*cuts[1:].tolist(), len(self.owner)], strict=True)]

    def _matches(self, tree: Tree, views: tuple[Array, Array], keys: Array, part: slice) -> tuple[Array, Array, Array]:
        """Return how many owners, and trajectories, of a part have each sequence of the tree.

        And how many trajectories each pair of `keys` has: the node of a sequence times the number of trajectories,
        plus an owner; ascending.  All trajectories of an owner are in one part.
        """
        people = np.zeros(tree.n_nodes, np.int64)
        rows = np.zeros(tree.n_nodes, np.int64)
        own = np.zeros(len(keys), np.int64)
        n = len(self.owner)
        of_trajectory, at = take(views[0], self.slice_of[part])
        # A state is a sequence of the tree and a trajectory that has it up to a row: the earliest.
        trajectory = part.start + trajectory_of_row(of_trajectory)
        node = views[1][at]
        row = self.offsets[trajectory] - 1
        for level in tree.levels:
            trajectory, row, node = self._next(level, trajectory, row, node)
            pairs, times = np.unique(node * n + self.owner[trajectory], return_counts=True)
            people += np.bincount(pairs // n, minlength=tree.n_nodes)
            rows += np.bincount(node, minlength=tree.n_nodes)
            at = np.searchsorted(keys, pairs)
            hit = np.flatnonzero(keys[np.minimum(at, len(keys) - 1)] == pairs)
            own[at[hit]] += times[hit]
        return people, rows, own

    def _next(self, level: _Level, trajectory: Array, row: Array, node: Array) -> tuple[Array, Array, Array]:
        """Return the states with one road more."""
        left = self.offsets[trajectory + 1] - 1 - row
        done = []
        block = np.cumsum(left) // _STEPS_AT_ONCE
        for piece in np.split(np.arange(len(row)), np.flatnonzero(np.diff(block)) + 1):
            state = np.repeat(piece, left[piece])
            begin = np.cumsum(left[piece]) - left[piece]
            at = np.arange(len(state)) + np.repeat(row[piece] + 1 - begin, left[piece])
            child = level.children(node[state], self.road[at])
            hit = np.flatnonzero(child >= 0)
            next_state = trajectory[state[hit]], at[hit], child[hit]
            # In order of rows, so the first of equal ones is the earliest.
            once = np.unique(next_state[2] * len(self.owner) + next_state[0], return_index=True)[1]
            done.append(tuple(column[once] for column in next_state))
        columns = [np.concatenate(column) for column in zip(*done, strict=True)]
        return columns[0], columns[1], columns[2]


@dataclass(frozen=True, eq=False)
class _Level:
    """The sequences of one length: `key` is the node of the sequence without its last road, and that road; sorted."""

    key: Array
    first: int
    n_roads: int

    def children(self, node: Array, road: Array) -> Array:
        """Return the node of each sequence with one road more, -1 where the tree has none."""
        wanted_key = np.where(road < self.n_roads, node * self.n_roads + road, -1)
        at = np.minimum(np.searchsorted(self.key, wanted_key), len(self.key) - 1)
        return np.where(self.key[at] == wanted_key, at + self.first, -1)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """All known sequences, those that begin alike sharing nodes; the first nodes are the views."""

    levels: list[_Level]
    leaf: Array
    n_nodes: int

    @classmethod
    def of(cls, view: Array, road: Array, n_views: int) -> Tree:
        n_roads = int(road.max()) + 1
        node = view.copy()
        n_nodes = n_views
        levels = []
        for column in road.T:
            longer = np.flatnonzero(column >= 0)
            if not len(longer):
                break
            key, number = np.unique(node[longer] * n_roads + column[longer], return_inverse=True)
            levels.append(_Level(key, n_nodes, n_roads))
            node[longer] = number + n_nodes
            n_nodes += len(key)
        return cls(levels=levels, leaf=node, n_nodes=n_nodes)


def _people(data: Routes) -> Array:
    """Return who is behind each trajectory: a code of its own for each dummy, and for all where nobody said."""
    each = np.arange(len(data))
    return each if data.owners == "hidden" else np.where(data.owner >= 0, data.owner, -1 - each)


def _victims(truth: Routes, target: Routes, people: Array) -> Array:
    """Return for each trajectory of the truth the place of its owner in `people`, ascending; -1 if it is not there."""
    if "hidden" in (truth.owners, target.owners) or not len(people):
        return np.full(len(truth), -1, np.int64)
    at = np.minimum(np.searchsorted(people, truth.owner), len(people) - 1)
    return np.where((people[at] == truth.owner) & (truth.owner >= 0), at, -1)


def _codes(a: Array, b: Array) -> Array:
    """Return a number for each pair, from 0 on, the same for equal ones."""
    (_, left), (right, at) = (np.unique(side, return_inverse=True) for side in (a, b))
    return np.unique(left * max(1, len(right)) + at, return_inverse=True)[1]
