"""k candidates for what is declared as known: boxes around groups of people at these times, cells at all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import count
from math import ceil, inf, sqrt
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.qid.hiding_groups import Distance, nearest_people
from wayveil.kernels.qid.hilbert import hilbert_index
from wayveil.kernels.qid.sample_classes import class_boxes, unite_asymmetric, unite_groups
from wayveil.kernels.qid.speed_guard import Boxed, candidate_edges, mutual_pairs, unite_guards
from wayveil.kernels.qid.timed_samples import Samples, keep_compatible
from wayveil.model import (
    AttackGraph,
    BlockKey,
    Boxes,
    Engine,
    Method,
    MethodResult,
    Points,
    check_parameters,
    duration_units,
    parameter,
    seconds_per_unit,
)
from wayveil.model.claims import top_speed_of
from wayveil.model.claims.counting import exceeds, row_share_parameter
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, offsets_of, trajectory_of_row
from wayveil.model.lazy_module import lazy_module

__all__ = ["Qid"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")

_MANY = 2_000
"""Trajectories above which ``selection="auto"`` goes by the Hilbert curve."""

_CHUNK = 256  # trajectories that a worker takes at once
_HIGHEST_ORDER = 26  # places on the curve must be exact as floats
_MOST_CELLS = 2**50  # numbers of cells must be exact as floats, with room for areas
_FARTHEST_M = 1e100  # sides of boxes must be numbers
_MOST_EDGES = 20_000_000  # of candidates that are looked through for somebody who dominates
_REGROUPED = 8  # rounds in which groups are formed again
_MARGIN = 1e-6  # share of the top speed that is left for rounding

Facts = dict[str, int | float | str]


@dataclass(frozen=True, kw_only=True)
class Qid(Method):
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
    top_speed : number > 0, in metres per second, "auto" or "none"
        An attacker who knows that nobody is faster must not rule out more: positions before and after a declared time
        are published in boxes of the group, too, as far as the cells would tell.  `auto` is the largest speed of those
        who are published, rounded up; `none` leaves all cells as they are.  Trajectories that are faster are left out.
    guard : duration, "none" or "all"
        For so long before and after declared times the group's boxes are published in any case; "all": at all times.
    row_share : fraction or "1/k"
        The largest share of trajectories that one person may own among those that can be taken for each other.

    Guarantee
    ---------
    ``AttackGraph(k, row_share, top_speed)``.  Positions at times that are not declared as known are published as cells:
    an attacker who knows one of these is not covered.  `k` candidates is not a chance of 1/k: interpolating between
    cells often tells which candidate is the likeliest.

    Notes
    -----
    What is known are the rows with ``known``, see the step `mark`; without it, all rows.  Two trajectories can be made
    equal if each has samples at all known times of the other, so that all data must be on common times.  Who has less
    than `k` - 1 other people left for that is left out, and hides nobody.  Being equal is transitive: per time, all
    that are equal are a class, and get the smallest box of cells around it.

    Why it holds: for every trajectory there are those of `k` - 1 other people such that both have the same box at all
    that is known of either.  So each can be taken for the other, and a matching of everybody with their own can
    interchange the two; no edge between them can be ruled out.  Every further edge only adds matchings.  With a top
    speed, wherever a cell of one is out of reach of a known position of the other, both get a box around the two, which
    is within reach because the other one was in it; where the other one has no sample, that of the first is dropped.
    Speeds are those along an axis, of which the square root of 1/2 of `top_speed` is allowed, so that none in any
    direction is more than it.  Extra trips of a person who would dominate are left out, the shortest ones first.

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
    >>> result.claim.top_speed
    50.0
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
    top_speed: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto", "none"),
        default="auto",
        help="metres per second that nobody exceeds; none: an attacker who uses speeds is not stopped",
    )
    guard: str = parameter(
        kind="duration",
        choices=("none", "all"),
        default="none",
        help="for so long before and after declared times boxes are those of the group in any case",
    )
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "qid"
    summary: ClassVar[str] = "k candidates for the positions declared as known, by boxes around groups at these times"
    accepts: ClassVar[type[Points]] = Points
    publishes: ClassVar[type[Boxes]] = Boxes
    blocks: ClassVar[tuple[BlockKey, ...]] = ()

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if not 0 < self.cell <= _FARTHEST_M:
            raise ParameterError(f"qid: cell must be greater than 0 and at most {_FARTHEST_M:g}, got {self.cell:g}.")
        if self.top_speed == 0:
            raise ParameterError("qid: top_speed must be greater than 0, got 0. Nobody could move.")

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> AttackGraph:
        return AttackGraph(k=self.k, row_share=self.row_share, top_speed=self.top_speed)

    @property
    def _people(self) -> int:
        """How many people a group needs."""
        return max(self.k, ceil(1 / self.claim.owner_share))

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        some = data
        result = self._run(some, self._claim_on(some), engine)
        # Nothing may depend on people of whom nothing is published: neither a top speed that is found in the data, nor
        # who is with whom.  Each round takes those who are published; nobody comes back, and nobody among them is
        # faster than before, so it ends.
        while result.data.n_rows:
            published = np.diff(result.data.offsets) > 0
            stays = np.isin(data.owner, data.owner[published])
            claim = self._claim_on(data.take(np.flatnonzero(published)))
            if claim == result.claim and stays[np.diff(some.offsets) > 0].all():
                break
            some = some.where(np.repeat(stays, np.diff(some.offsets)))
            result = self._run(some, claim, engine)
        given, left = (int((np.diff(offsets) > 0).sum()) for offsets in (data.offsets, result.data.offsets))
        return replace(result, facts={**result.facts, "trajectories left out": given - left})

    def _run(self, data: Points, claim: AttackGraph, engine: Engine) -> MethodResult:
        engine.progress("finding candidates")
        # Yarovoy et al. (2009): each person has declared times at which an attacker may know the position. Everybody
        # gets a group of k people (`_candidates`, `_groups`); at the declared times of any member, the positions of all
        # members are made one box (`_united`). Boxes are unions of cells of a grid, so that they are found by whole
        # numbers.
        tracks = _tracks(data, self._people, self.cell)
        reach = _Reach.of(data, claim, self.guard)
        space = tracks.space(self._by_area(len(tracks.which)))
        active = reach.is_slow(tracks)
        facts: Facts
        # A round makes groups equal, and then looks for members without enough others who can be taken for them, and
        # for people who dominate.  Who is left out must leave nothing in boxes, so groups are formed again, or, after
        # some rounds, what is left of them is made equal again.  It ends because each round but the last leaves
        # somebody out; mostly the first one is the last.
        for rounds in count():
            if rounds < _REGROUPED:
                lists, active = self._candidates(tracks, space, active, engine)
                engine.progress("forming groups", rounds)
                groups = self._groups(tracks, space, lists, active)
            parent, dropped = _united(tracks, groups, reach, self.cell)
            root, box = class_boxes(parent, tracks.x, tracks.y)
            facts = {"known samples": len(tracks.samples.known_row)}
            if self.symmetrise == "yes":
                root, box, united, one_way = self._symmetrised(data, tracks, active, parent, root, box, engine)
                facts |= {"rounds of symmetrising": united, "candidates that cannot be mutual": one_way}
            scene = _Scene(
                tracks=tracks,
                reach=reach,
                sides=_sides(box, self.cell),
                dropped=dropped,
                marked=_marked(tracks, root),
            )
            surplus = scene.lonely(groups, active, self._people)
            # For attackers who look at which boxes are marked and who do not, with the top speed and without it.
            for seen in [scene] if scene.marked.all() else [scene, scene.unmarked()]:
                for speed in dict.fromkeys((reach.speed, inf)):
                    if not surplus.any():
                        surplus = seen.dominating(active, claim.owner_share, speed)
            if not surplus.any():
                break
            active = active & ~surplus
            groups = [group[active[group]] for group in groups]
        facts = {"trajectories left out": int((~active).sum())} | facts
        engine.progress("drawing boxes")
        return self._published(data, tracks, active, root, box, dropped, claim, facts)

    def _claim_on(self, data: Points) -> AttackGraph:
        """Return the claim with the top speed in numbers."""
        top_speed = top_speed_of(data) if self.top_speed == "auto" else self.top_speed
        return AttackGraph(k=self.k, row_share=self.row_share, top_speed=top_speed)

    def _by_area(self, n: int) -> bool:
        return self.selection == "area" or (self.selection == "auto" and n <= _MANY)

    def _candidates(
        self, tracks: _Tracks, space: _Space, active: BoolArray, engine: Engine
    ) -> tuple[IntArray, BoolArray]:
        """Return the nearest trajectory of each of the k - 1 nearest people, and who has so many; the others are out.

        Who is out hides nobody, so that lists in which they were are made again, until nobody is in them.
        """
        n = len(tracks.which)
        most = self._people - 1
        lists = np.full((n, most), -1)
        todo = np.arange(n)
        while len(todo):
            parts = np.split(todo, range(_CHUNK, len(todo), _CHUNK))
            lists[todo] = np.concatenate(engine.map(partial(space.nearest, allowed=active, most=most), parts))
            # Who has too few people at the same times cannot be hidden, and must not hide others; their leaving can
            # make others lack people, hence the loop.
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
        return _disjoint(tracks, space, lists, active, self.claim.owner_share)

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
        self, data: Points, tracks: _Tracks, active: BoolArray, root: IntArray, box: IntArray, dropped: BoolArray,
        claim: AttackGraph, facts: Facts,
    ) -> MethodResult:  # fmt: skip
        is_active = active[trajectory_of_row(tracks.samples.first)]
        keep = is_active & ~dropped
        side = _sides(box[:, keep], self.cell)
        t = data.t[keep]
        marked = _marked(tracks, root)
        regions = Boxes(
            offsets=keep_rows(data.offsets, keep), t_min=t, t_max=t,
            x_min=side[0], x_max=side[1], y_min=side[2], y_max=side[3],
            owner=data.owner, attributes=data.attributes, frame=data.frame, time_format=data.time_format,
            owners=data.owners, declared=marked[keep],
        )  # fmt: skip
        if claim.top_speed != "none" or self.guard != "none":
            size = np.bincount(root[keep], minlength=len(root))
            facts |= {
                "samples in boxes of a guard": int((keep & ~marked & (size[root] > 1)).sum()),
                "samples dropped in a guard": int((is_active & dropped).sum()),
            }
        return MethodResult(data=regions, claim=claim, facts=facts | _loss(root[keep], box[:, keep]))


@dataclass(frozen=True, kw_only=True, eq=False)
class _Reach:
    """How far people get: times and positions of all rows, and metres per unit of time along an axis, or infinity."""

    t: FloatArray
    x: FloatArray
    y: FloatArray
    speed: float
    guard: float

    @classmethod
    def of(cls, data: Points, claim: AttackGraph, guard: str) -> _Reach:
        unit = seconds_per_unit(data.time_format) or 1.0
        speed = inf if isinstance(claim.top_speed, str) else claim.top_speed / sqrt(2) * unit
        words = {"none": 0.0, "all": inf}
        return cls(
            t=(data.t - data.t.min()).astype(np.float64),
            x=data.x,
            y=data.y,
            speed=speed,
            guard=words[guard] if guard in words else duration_units("qid", "guard", guard, data.time_format) * 1.0,
        )

    @property
    def is_open(self) -> bool:
        """Whether there is nothing to guard."""
        return self.speed == inf and self.guard == 0

    def is_slow(self, tracks: _Tracks) -> BoolArray:
        """Tell which trajectories are never faster than allowed."""
        slow = np.ones(len(tracks.which), np.bool_)
        if self.speed == inf:
            return slow
        track = trajectory_of_row(tracks.samples.first)
        way = np.maximum(np.abs(np.diff(self.x)), np.abs(np.diff(self.y)))
        # Who was faster than the top speed of the claim would be ruled out by it as nobody else is, so that they are
        # left out. Speed is bounded along each axis (divided by the root of two), which bounds the true one.
        fast = (way > np.diff(self.t) * self.speed * (1 - _MARGIN)) & (track[1:] == track[:-1])
        slow[track[1:][fast]] = False
        if not slow.any():
            raise InputError(
                "qid: every trajectory is faster than top_speed somewhere, so that nothing could be published. Take a "
                "larger top_speed, or auto, or take away jumps with the step clean."
            )
        return slow


@dataclass(frozen=True, kw_only=True, eq=False)
class _Scene:
    """What would be published: the boxes of all rows, which rows are dropped, and which are marked as declared."""

    tracks: _Tracks
    reach: _Reach
    sides: FloatArray
    dropped: BoolArray
    marked: BoolArray

    def unmarked(self) -> _Scene:
        """Return what an attacker sees who does not look at the marks: any box may be of a declared time."""
        return replace(self, marked=np.ones_like(self.marked))

    @property
    def _boxed(self) -> Boxed:
        return Boxed(self.reach.t, self.reach.x, self.reach.y, self.sides, self.dropped, self.marked)

    def lonely(self, groups: list[IntArray], active: BoolArray, people: int) -> BoolArray:
        """Tell who is with fewer than `people` - 1 others who can be taken for them, and they for these."""
        speed = self.reach.speed * (1 - _MARGIN / 2)
        one, other = mutual_pairs(self.tracks.samples, _starts(groups), _flat(groups), self._boxed, speed)
        codes = int(self.tracks.owner.max()) + 1
        apart = self.tracks.owner[one] != self.tracks.owner[other]
        met = np.unique(one[apart] * codes + self.tracks.owner[other[apart]])
        few: BoolArray = active & (np.bincount(met // codes, minlength=len(active)) < people - 1)
        return few

    def dominating(self, active: BoolArray, share: Fraction, speed: float) -> BoolArray:
        """Tell which trajectories are too many: of a person with more than a share of somebody's candidates.

        The candidates are those that are in a matching of all people with all trajectories; everybody with their own is
        one, so an edge is in another one exactly if its ends are on a common cycle.  The shortest trajectories of that
        person are taken.  With one trajectory per person there are none.
        """
        n = len(active)
        owner = self.tracks.owner
        surplus = np.zeros(n, np.bool_)
        if len(np.unique(owner[active])) == active.sum():
            return surplus
        within = speed * (1 - _MARGIN / 2)
        # The method looks at the attack graph as an attacker would, with its own code; whether the result holds is for
        # the verifier to say.
        edges, all_listed = candidate_edges(self.tracks.samples, active, self._boxed, within, _MOST_EDGES)
        if not all_listed:  # too many to look at: the verdict will tell
            return surplus
        arcs = sparse.csr_array((np.ones(edges.shape[1], np.int8), (edges[0], edges[1])), shape=(n, n))
        label = csgraph.connected_components(arcs, connection="strong")[1]
        edges = edges[:, label[edges[0]] == label[edges[1]]]
        length = np.diff(self.tracks.samples.first)
        for one, other in (edges, edges[::-1]):
            order = np.lexsort((-length[other], owner[other], one))
            one = one[order]
            other = other[order]
            first = np.flatnonzero(np.diff(one * (int(owner.max()) + 1) + owner[other], prepend=-1))
            many = np.diff(np.append(first, len(one)))
            start = np.searchsorted(one, np.arange(n + 1))
            whole = np.diff(start)[one[first]]
            for at in np.flatnonzero(many * share.denominator > whole * share.numerator).tolist():
                node = one[first[at]]
                left = ~surplus[other[start[node] : start[node + 1]]]
                theirs = other[first[at] : first[at] + many[at]]
                theirs = theirs[~surplus[theirs]]
                # Taking x of one person's trajectories out also shrinks the whole: (theirs - x) <= share (all - x),
                # solved for x.
                extra = ceil((len(theirs) - share * int(left.sum())) / (1 - share))
                if extra > 0 and not surplus[node]:
                    surplus[theirs[len(theirs) - extra :]] = True
        return surplus


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
        x = self.x - self.x.min()
        y = self.y - self.y.min()
        order = int(max(x.max(), y.max())).bit_length()
        if by_area:
            columns = x.astype(np.float64), y.astype(np.float64)
        else:
            coarser = max(0, order - _HIGHEST_ORDER)
            place = hilbert_index(x >> coarser, y >> coarser, order - coarser).astype(np.float64)
            columns = place, place
        by_time = np.argsort(self.samples.entry)
        return _Space(tracks=self, distance=Distance(columns[0][by_time], columns[1][by_time], by_area))

    def outermost_first(self) -> IntArray:
        """Return the trajectories by their mean distance from the middle of all positions, the farthest first."""
        x = self.x - np.median(self.x)
        y = self.y - np.median(self.y)
        away = np.add.reduceat(np.hypot(x, y), self.samples.first[:-1]) / np.diff(self.samples.first)
        return np.argsort(-away, kind="stable")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Space:
    """What tells how near trajectories are to each other."""

    tracks: _Tracks
    distance: Distance

    def nearest(self, which: IntArray, allowed: BoolArray, most: int) -> IntArray:
        """Return for each trajectory the nearest one of each of the `most` nearest other people; -1 where none is."""
        samples = self.tracks.samples
        owner = self.tracks.owner
        people: IntArray = nearest_people(samples, which, owner, allowed, self.distance, most)
        return people


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
    first = offsets_of(lengths[which])
    track = np.repeat(np.arange(len(which)), lengths[which])
    times, code = np.unique(data.t, return_inverse=True)
    # Rows twice: by trajectory, as given, and by time, so that "who has a sample at this time" is one stretch.
    by_time = np.argsort(code, kind="stable")
    place = np.empty(data.n_rows, np.int64)
    place[by_time] = np.arange(data.n_rows)
    samples = Samples(
        first=first, code=code.astype(np.int64),
        known_first=offsets_of(np.bincount(track[known], minlength=len(which))), known_row=known,
        time_first=offsets_of(np.bincount(code, minlength=len(times))), track=track[by_time], entry=place,
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


def _starts(groups: Sequence[IntArray]) -> IntArray:
    return offsets_of(np.array([len(group) for group in groups], np.int64))


def _marked(tracks: _Tracks, root: IntArray) -> BoolArray:
    """Return which boxes are marked as those of declared times.

    A box is if something is known then of anybody in its class: not of whom, which nobody must learn.  Still it tells
    something: a trajectory is not that of a person of whom more is known than its marks say.  So candidates are
    counted with the marks.
    """
    has_known = np.zeros(len(root), np.bool_)
    has_known[root[tracks.samples.known_row]] = True
    marked: BoolArray = has_known[root]
    return marked


def _united(tracks: _Tracks, groups: list[IntArray], reach: _Reach, cell: float) -> tuple[IntArray, BoolArray]:
    """Return the forest of rows that are made equal, at known times and in guards, and the rows that are dropped."""
    parent = np.arange(len(reach.t))
    dropped = np.zeros(len(reach.t), np.bool_)
    unite_groups(tracks.samples, _starts(groups), _flat(groups), parent)
    if not reach.is_open:
        cells = _sides(np.stack([tracks.x, tracks.x, tracks.y, tracks.y]), cell)
        boxed = Boxed(reach.t, reach.x, reach.y, cells, dropped, np.ones_like(dropped))
        unite_guards(
            tracks.samples, _starts(groups), _flat(groups), boxed, reach.speed * (1 - _MARGIN), reach.guard, parent
        )
    return parent, dropped


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


def _disjoint(tracks: _Tracks, space: _Space, lists: IntArray, active: BoolArray, share: Fraction) -> list[IntArray]:
    """Return groups of k people who can all be made equal to each other, from the outside to the middle.

    Who is left over joins the group of one of the nearest people, where that is possible and gives nobody more than a
    `share` of it, else makes a group with all of these, which overlaps with theirs.
    """
    most = lists.shape[1]
    group_of = np.full(len(lists), -1)
    groups = list[IntArray]()
    free = active.copy()
    order = tracks.outermost_first()
    # From the outside in: those at the rim have few neighbours, and would find them taken if the middle chose first.
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
            if size < 0 or exceeds(int((tracks.owner[groups[chosen]] == tracks.owner[m]).sum()) + 1, size + 1, share):
                continue
            if len(keep_compatible(tracks.samples, m, groups[chosen], size)) > size:
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
