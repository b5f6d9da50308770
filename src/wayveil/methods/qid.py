"""k candidates for what is declared as known: boxes around groups of people at these times, cells at all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.hilbert import hilbert_index
from wayveil.kernels.qid_classes import class_boxes, unite_asymmetric, unite_groups
from wayveil.kernels.qid_groups import nearest_people
from wayveil.kernels.qid_samples import Samples, keep_compatible
from wayveil.model import AttackGraph, BlockKey, Cut, Engine, Points, Published, Regions, check_parameters, parameter
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, keep_rows, offsets_of, trajectory_of_row

__all__ = ["Qid"]

_MANY = 2_000
"""Trajectories above which ``selection="auto"`` goes by the Hilbert curve."""

_CHUNK = 256  # trajectories that a worker takes at once
_HIGHEST_ORDER = 26  # places on the curve must be exact as floats
_MOST_CELLS = 2**50  # numbers of cells must be exact as floats, with room for areas
_FARTHEST_M = 1e100  # sides of boxes must be numbers

Facts = dict[str, int | float | str]


@dataclass(frozen=True, kw_only=True)
class Qid:
    """Publish cells, and boxes of cells around groups of people at the times that are declared as known of them.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people for whom a published trajectory can be taken, and of trajectories for a person.
    cell : float, > 0
        Side of a cell in metres.
    algorithm : {"disjoint", "symmetric", "extreme-union"}
        Who is made equal to whom.  `extreme-union`: everybody to the nearest `k` - 1 people, at all that is known of
        any of these.  `symmetric`: pairs, so that everybody is in pairs with `k` - 1 people, at what is known of the
        two.  `disjoint`: groups of `k` people who are in no other group, at all that is known of any of these.
    selection : {"hilbert", "area", "auto"}
        What is near: the difference of places on a Hilbert curve, or the loss ``1 - 1 / area`` of a box around two, in
        cells; summed over what is known of the first.  `auto` takes the curve above 2,000 trajectories.
    symmetrise : {"no", "yes"}
        Whether two people must be candidates for each other or not at all.  The claim does not need it.

    Guarantee
    ---------
    ``AttackGraph(k)``.  Positions at times that are not declared as known are published as cells: an attacker who knows
    one of these is not covered.  `k` candidates is not a chance of 1/k.

    Notes
    -----
    What is known are the rows with ``known``, see the step `mark`; without it, all rows.  Two trajectories can be made
    equal if each has samples at all known times of the other, so that all data must be on common times.  Who has less
    than `k` - 1 other people left for that is left out, and hides nobody.  Being equal is transitive: per time, all
    that are equal are a class, and get the smallest box of cells around it.

    Why it holds: for every trajectory there are those of `k` - 1 other people such that both have the same box at all
    that is known of either.  So each can be taken for the other, and a matching of everybody with their own can
    interchange the two; no edge between them can be ruled out.  Every further edge only adds matchings.

    `extreme-union` and `symmetric` are those of the paper, as far as they can be restored; `disjoint` is ours.  Their
    groups overlap, so that classes run together until they cover most of the data, see ``docs/methods/qid.md``.

    O(n) time per trajectory and known sample (for `disjoint`, per group), with a small constant; memory is about twenty
    times the points.  Symmetrising takes O(n) per trajectory and round, and more where boxes are large.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from wayveil.engines import LocalEngine
    >>> ways = [[(0, 5.0, 5.0), (1, 15.0, 5.0)], [(0, 5.0, 8.0), (1, 25.0, 25.0)]]
    >>> data = replace(Points.from_records(ways), known=np.array([True, False, True, False]))
    >>> result = Qid(k=2, cell=10).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> result.data.record(0)
    [(0, 0, 0.0, 10.0, 0.0, 10.0), (1, 1, 10.0, 20.0, 0.0, 10.0)]
    >>> result = Qid(k=2, cell=4).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> result.data.record(1)
    [(0, 0, 4.0, 8.0, 4.0, 12.0), (1, 1, 24.0, 28.0, 24.0, 28.0)]
    """

    k: int = parameter(kind="int", low=2, help="smallest number of candidates for every person and every trajectory")
    cell: float = parameter(kind="number", low=0, default=100.0, help="side of a cell in metres, more than 0")
    algorithm: str = parameter(
        kind="choice",
        choices=("disjoint", "symmetric", "extreme-union"),
        default="disjoint",
        help="who is made equal: groups that do not overlap, pairs, or everybody with their nearest people",
    )
    selection: str = parameter(
        kind="choice",
        choices=("hilbert", "area", "auto"),
        default="hilbert",
        help="who is near: by a Hilbert curve, by the area of boxes, or by the curve above 2,000 trajectories",
    )
    symmetrise: str = parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="whether candidates must be mutual; costs much and the promise does not need it",
    )

    name: ClassVar[str] = "qid"
    summary: ClassVar[str] = "k candidates for the positions declared as known, by boxes around groups at these times"
    accepts: ClassVar[type[Points]] = Points
    publishes: ClassVar[type[Regions]] = Regions
    cut: ClassVar[Cut] = "none"
    blocks: ClassVar[tuple[BlockKey, ...]] = ()

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if not 0 < self.cell <= _FARTHEST_M:
            raise ParameterError(f"qid: cell must be greater than 0 and at most {_FARTHEST_M:g}, got {self.cell:g}.")

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> AttackGraph:
        return AttackGraph(k=self.k)

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> Published:
        engine.progress("finding candidates")
        tracks = _tracks(data, self.k, self.cell)
        space = tracks.space(self._by_area(len(tracks.which)))
        lists, active = self._candidates(tracks, space, engine)
        engine.progress("forming groups")
        groups = self._groups(tracks, space, lists, active)
        parent = np.arange(data.n_rows)
        unite_groups(tracks.samples, offsets_of(np.array([len(g) for g in groups], np.int64)), _flat(groups), parent)
        root, box = class_boxes(parent, tracks.x, tracks.y)
        facts: Facts = {"trajectories left out": int((~active).sum()), "known samples": len(tracks.samples.known_row)}
        if self.symmetrise == "yes":
            root, box, rounds, one_way = self._symmetrised(data, tracks, active, parent, root, box, engine)
            facts |= {"rounds of symmetrising": rounds, "candidates that cannot be mutual": one_way}
        engine.progress("drawing boxes")
        return self._published(data, tracks, active, root, box, facts)

    def _by_area(self, n: int) -> bool:
        return self.selection == "area" or (self.selection == "auto" and n <= _MANY)

    def _candidates(self, tracks: _Tracks, space: _Space, engine: Engine) -> tuple[IntArray, BoolArray]:
        """Return the nearest trajectory of each of the k - 1 nearest people, and who has so many; the others are out.

        Who is out hides nobody, so that lists in which they were are made again, until nobody is in them.
        """
        n = len(tracks.which)
        active, lists = np.ones(n, np.bool_), np.full((n, self.k - 1), -1)
        todo = np.arange(n)
        while len(todo):
            parts = np.split(todo, range(_CHUNK, len(todo), _CHUNK))
            lists[todo] = np.concatenate(engine.map(partial(space.nearest, allowed=active, most=self.k - 1), parts))
            gone = active & (lists[:, -1] < 0)
            active = active & ~gone
            todo = np.flatnonzero(active & gone[lists].any(axis=1))
        return lists, active

    def _groups(self, tracks: _Tracks, space: _Space, lists: IntArray, active: BoolArray) -> list[IntArray]:
        """Return who is made equal to whom, as groups of trajectories that may overlap."""
        if self.algorithm == "extreme-union":
            return [np.append(m, lists[m]) for m in np.flatnonzero(active).tolist()]
        if self.algorithm == "symmetric":
            return _pairs(lists, active, tracks.owner)
        return _disjoint(tracks, space, lists, active)

    def _symmetrised(
        self, data: Points, tracks: _Tracks, active: BoolArray, parent: IntArray, root: IntArray, box: IntArray,
        engine: Engine,
    ) -> tuple[IntArray, IntArray, int, int]:  # fmt: skip
        """Make equal whoever can be taken for the other only one way, until nobody can."""
        rounds = 0
        while True:
            engine.progress("making candidates mutual", rounds)
            sides = _sides(box, self.cell)
            united, one_way = unite_asymmetric(tracks.samples, active, data.x, data.y, sides, parent)
            if not united:
                return root, box, rounds, int(one_way)
            root, box = class_boxes(parent, tracks.x, tracks.y)
            rounds += 1

    def _published(
        self, data: Points, tracks: _Tracks, active: BoolArray, root: IntArray, box: IntArray, facts: Facts
    ) -> Published:
        keep = active[trajectory_of_row(tracks.samples.first)]
        side, t = _sides(box[:, keep], self.cell), data.t[keep]
        regions = Regions(
            offsets=keep_rows(data.offsets, keep), t_min=t, t_max=t,
            x_min=side[0], x_max=side[1], y_min=side[2], y_max=side[3],
            owner=data.owner, attributes=data.attributes, frame=data.frame, time_format=data.time_format,
            owners=data.owners,
        )  # fmt: skip
        return Published(data=regions, claim=self.claim, facts=facts | _loss(root[keep], box[:, keep]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tracks:
    """The trajectories that have points: which, their owners, and their samples with the cells x and y."""

    which: IntArray
    owner: IntArray
    samples: Samples
    x: IntArray
    y: IntArray

    def space(self, by_area: bool) -> _Space:
        """Return the cells, or their places on a Hilbert curve, in the order of times."""
        x, y = self.x - self.x.min(), self.y - self.y.min()
        order = int(max(x.max(), y.max())).bit_length()
        if by_area:
            columns = x.astype(np.float64), y.astype(np.float64)
        else:
            coarser = max(0, order - _HIGHEST_ORDER)
            place = hilbert_index(x >> coarser, y >> coarser, order - coarser).astype(np.float64)
            columns = place, place
        by_time = np.argsort(self.samples.place)
        return _Space(tracks=self, a=columns[0][by_time], b=columns[1][by_time], by_area=by_area)

    def outermost_first(self) -> IntArray:
        """Return the trajectories by their mean distance from the middle of all positions, the farthest first."""
        x, y = self.x - np.median(self.x), self.y - np.median(self.y)
        away = np.add.reduceat(np.hypot(x, y), self.samples.first[:-1]) / np.diff(self.samples.first)
        return np.argsort(-away, kind="stable")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Space:
    """What tells how near trajectories are to each other."""

    tracks: _Tracks
    a: FloatArray
    b: FloatArray
    by_area: bool

    def nearest(self, which: IntArray, allowed: BoolArray, most: int) -> IntArray:
        """Return for each trajectory the nearest one of each of the `most` nearest other people; -1 where none is."""
        samples, owner = self.tracks.samples, self.tracks.owner
        found: IntArray = nearest_people(samples, which, owner, allowed, self.a, self.b, self.by_area, most)
        return found


def _tracks(data: Points, k: int, cell: float) -> _Tracks:
    """Return the trajectories that have points, on one list of timestamps, and the cells of their points."""
    lengths = np.diff(data.offsets)
    which = np.flatnonzero(lengths)
    people = len(np.unique(data.owner[which]))
    if k > people:
        raise InputError(
            f"qid: k is {k}, but the data holds points of {people} people: nothing could be published. "
            "Take a smaller k or more data."
        )
    known = np.arange(data.n_rows) if data.known is None else np.flatnonzero(data.known)
    if not len(known):
        raise InputError(
            "qid: no point is declared as known, so that there is nothing to hide. Declare what an attacker may know, "
            "for example with the step mark."
        )
    first, track = offsets_of(lengths[which]), np.repeat(np.arange(len(which)), lengths[which])
    times, code = np.unique(data.t, return_inverse=True)
    by_time = np.argsort(code, kind="stable")
    place = np.empty(data.n_rows, np.int64)
    place[by_time] = np.arange(data.n_rows)
    samples = Samples(
        first=first, code=code.astype(np.int64),
        known_first=offsets_of(np.bincount(track[known], minlength=len(which))), known_row=known,
        time_first=offsets_of(np.bincount(code, minlength=len(times))), track=track[by_time], place=place,
    )  # fmt: skip
    return _Tracks(
        which=which, owner=data.owner[which], samples=samples, x=_cells(data.x, cell), y=_cells(data.y, cell)
    )


def _cells(column: FloatArray, cell: float) -> IntArray:
    """Return the cell of every coordinate; its sides, as they will be published, are around it in spite of rounding."""
    if not max(float(np.abs(column).max()), cell) <= min(_FARTHEST_M, _MOST_CELLS * cell):
        raise InputError(
            f"qid: cells of {cell:g} m are too small for coordinates as large as these; choose a larger cell, or check "
            "the unit of the coordinates."
        )
    number = np.floor(column / cell)
    number -= number * cell > column  # a quotient can be rounded up to a whole number, but never down below one
    return number.astype(np.int64)


def _sides(box: IntArray, cell: float) -> FloatArray:
    """Return boxes of cells in metres."""
    return (box + np.array([[0], [1], [0], [1]])) * cell


def _flat(groups: Sequence[IntArray]) -> IntArray:
    return np.concatenate([np.zeros(0, np.int64), *groups])


def _pairs(lists: IntArray, active: BoolArray, owner: IntArray) -> list[IntArray]:
    """Return pairs so that everybody is in pairs with as many people as lists are long; each counts for both."""
    people: list[set[int]] = [set() for _ in range(len(lists))]
    pairs = []
    for m in np.flatnonzero(active).tolist():
        for other in lists[m].tolist():
            if len(people[m]) >= lists.shape[1]:
                break
            if owner[other] not in people[m]:
                people[m].add(int(owner[other]))
                people[other].add(int(owner[m]))
                pairs.append(np.array([m, other]))
    return pairs


def _disjoint(tracks: _Tracks, space: _Space, lists: IntArray, active: BoolArray) -> list[IntArray]:
    """Return groups of k people who can all be made equal to each other, from the outside to the middle.

    Who is left over joins the group of one of the nearest people, where that is possible, else makes a group with all
    of these, which overlaps with theirs.
    """
    most = lists.shape[1]
    group_of, groups = np.full(len(lists), -1), list[IntArray]()
    free = active.copy()
    order = tracks.outermost_first()
    for m in order[active[order]].tolist():
        if free[m]:
            near = space.nearest(np.array([m]), free, most)[0]
            group = keep_compatible(tracks.samples, m, near[near >= 0], most)
            if len(group) > most:
                free[group] = False
                group_of[group] = len(groups)
                groups.append(group)
    for m in np.flatnonzero(free).tolist():
        for chosen in group_of[lists[m]].tolist():
            size = len(groups[chosen]) if chosen >= 0 else -1
            if size > 0 and len(keep_compatible(tracks.samples, m, groups[chosen], size)) > size:
                groups[chosen] = np.append(groups[chosen], m)
                break
        else:
            groups.append(np.append(m, lists[m]))
    return groups


def _loss(root: IntArray, box: IntArray) -> Facts:
    """Return what was published and what was lost, in numbers; roots are the same in a class, and none is alone."""
    size = np.unique(root, return_counts=True)[1]
    area = (box[1] - box[0] + 1.0) * (box[3] - box[2] + 1.0)
    loss = 1.0 - 1.0 / area
    rows = max(1, len(root))
    return {
        "samples in boxes of several cells": int((area > 1).sum()),
        "cells per box": float(area.sum()) / rows,
        "trajectories in the largest class of a time": int(size.max(initial=0)),
        "information loss": float(loss.sum()),
        "information loss per sample": float(loss.sum()) / rows,
    }
