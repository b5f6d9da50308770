"""Trajectory k-anonymity by matching points: boxes around the points of a group that are alike, the rest suppressed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.tga.cost_bounds import Coarse, Rule, Sequences
from wayveil.kernels.tga.point_matching import Choice, match_points, nearest
from wayveil.methods.common.box_method import BoxMethod
from wayveil.methods.common.kd_parts import cut_large
from wayveil.methods.common.wishes import group_by_wishes
from wayveil.model import (
    BlockKey,
    Boxes,
    Engine,
    MethodResult,
    Points,
    check_parameters,
    parameter,
    seconds_per_unit,
)
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.claims.members import (
    destination_cell_parameter,
    destination_share_parameter,
    k_column_parameter,
)
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, take

__all__ = ["Tga"]

_PIECES = 16
"""Pieces of a trajectory for the first bound: more cost more and let fewer trajectories through."""

_MOST = 8192
"""Trajectories among which groups are looked for: more are cut into parts that start and end near each other."""

_AHEAD = 4  # groups that each worker looks for at a time, before it is known whether they are still free
_FARTHEST_M = 1e100  # areas must be numbers
_HEAVIEST = 1e100


@dataclass(frozen=True, kw_only=True)
class Tga(BoxMethod):
    """Publish, instead of a trajectory, boxes in space and time that each hold a point of every member of a group.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people who share one published sequence of boxes.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories with one sequence of boxes that one person may own.
    algorithm : {"fast", "multi"}
        How a group grows from a random trajectory: `fast` adds those that are cheapest to match with that trajectory,
        `multi` again and again the one that is cheapest to match with the group so far.
    publish : {"boxes", "points"}
        The boxes, or one random point from each box and member, with the boxes beside them as proof.
    space_weight, time_weight : number, >= 0
        What a wide box costs in comparison to a long one, in metres and seconds; not both 0.
    k_column : str
        The column that says how many people somebody asks to be one of, where it is more than `k`.  Not published.
    destination_share : number from 0 to 1, or "none"
        Largest share of a group whose people may all end in one square of `destination_cell` metres.

    Guarantee
    ---------
    ``KAnonymity(k, row_share)``: every published sequence of boxes is that of at least `k` distinct owners, nobody owns
    more than `row_share` of its trajectories, and each was in every box in its time.  Where a whole group goes to the
    same place, that place is published.  With points, nothing is promised beyond the boxes that they are drawn from.

    Notes
    -----
    A box with the sides X, Y (metres) and T (seconds, or the unit of plain integers) costs
    ``space_weight * ln((1 + X)(1 + Y)) + time_weight * ln(1 + T)`` for each member, and a point that is in no box costs
    as much as the box around all data.  Two sequences are matched optimally by dynamic programming; members are added
    one after the other, as matching more than two optimally is NP-hard.  A group takes the cheapest trajectory of an
    owner it does not have yet, until it has `k`; when fewer than `k` owners are left, what is left joins the group
    where the cost is smallest, of those in which its owner then has no more than `row_share`.  What none of them takes
    is left out.

    `fast` matches O(n^2 / k) pairs, `multi` O(n^2), at O(product of their lengths) each, but bounds rule out most.
    Groups are looked for several at a time, and kept where none of their members was taken meanwhile: the result is
    that of one after the other.  More than 8,192 trajectories are cut into parts by where and when they start and end,
    and groups are looked for in each part, so that n in these formulas is at most 8,192 and time grows with the number
    of parts.  Memory is about 100 bytes per point and 1 kB per trajectory.

    References
    ----------
    Nergiz, Atzori, Saygin, Guc: Towards trajectory anonymization: a generalization-based approach.  Transactions on
    Data Privacy 2 (2009).

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Points.from_records([[(0, 0.0, 0.0), (4, 4.0, 0.0), (8, 8.0, 0.0)], [(0, 0.0, 1.0), (8, 8.0, 1.0)]])
    >>> made = Tga(k=2).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> made.data.record(0) == made.data.record(1)
    True
    >>> made.data.record(0)
    [(0, 0, 0.0, 0.0, 0.0, 1.0), (8, 8, 8.0, 8.0, 0.0, 1.0)]
    >>> made.facts["points suppressed"], round(made.facts["total log cost"], 6)
    (1, 7.860185)
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published trajectory")
    row_share: Fraction | str = row_share_parameter()
    algorithm: str = parameter(
        kind="choice",
        choices=("fast", "multi"),
        default="fast",
        help="fast: groups around one trajectory; multi: groups around all members so far, slower and tighter",
    )
    publish: str = parameter(
        kind="choice",
        choices=("boxes", "points"),
        default="boxes",
        help="boxes, or random points drawn from them with the boxes beside",
    )
    space_weight: float = parameter(kind="number", low=0, default=1.0, help="cost of width and height of a box")
    time_weight: float = parameter(kind="number", low=0, default=1.0, help="cost of the duration of a box")
    k_column: str = k_column_parameter()
    destination_share: Fraction | str = destination_share_parameter()
    destination_cell: float = destination_cell_parameter()

    name: ClassVar[str] = "tga"
    summary: ClassVar[str] = "trajectory k-anonymity by matching points of similar trajectories and publishing boxes"
    publishes: ClassVar[type[Any]] = Boxes
    blocks: ClassVar[tuple[BlockKey, ...]] = ("place",)

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        heaviest = max(self.space_weight, self.time_weight)
        if not 0 < heaviest <= _HEAVIEST:
            raise ParameterError(
                f"tga: space_weight and time_weight must not both be 0 and at most {_HEAVIEST:g}, got "
                f"{self.space_weight:g} and {self.time_weight:g}. Only their ratio matters; 1 and 1 is usual."
            )
        if self.publish == "points":
            object.__setattr__(self, "publishes", Points)

    @property
    def hides_by_chance(self) -> bool:
        """Whether members of a group are published as different points: who guesses the draw learns their order."""
        return self.publish == "points"

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        if self.claim.has_wishes:
            return group_by_wishes(self, data, rng=rng, engine=engine)
        engine.progress("preparing trajectories")
        # Nergiz et al. (2009): grow groups of k people around random seeds at the least log cost (`_group`), put
        # whoever is left into the nearest group (`_join`), and publish the boxes that matched points of a group span;
        # optionally draw random points from them, so that the output looks like trajectories again.
        tracks = _Tracks.of(data, self)
        order = rng.permutation(tracks.n)
        most = max(_MOST, 4 * self.people)
        if tracks.n <= most:
            groups, taken = self._groups_of(tracks, order, engine)
        else:
            groups, taken = self._groups_of_parts(tracks, order, most, engine)
        engine.progress("drawing boxes")
        regions, facts = _boxes(data, tracks, groups, self)
        facts["trajectories added to a group at the end"] = taken
        if self.publish == "boxes":
            return MethodResult(data=regions, claim=self.claim, facts=facts)
        return MethodResult(data=_draw(data, regions, rng), claim=self.claim, facts=facts, boxes=regions)

    def _groups_of_parts(self, tracks: _Tracks, order: IntArray, most: int, engine: Engine) -> tuple[list[_Group], int]:
        """Cut the trajectories into parts, and return the groups of all parts and how many joined one in the end.

        A part is the work of one core, so that time grows with the number of parts.  Everybody is in a group of
        trajectories of the same part.
        """
        place = np.empty(tracks.n, np.int64)
        place[order] = np.arange(tracks.n)
        parts = cut_large(np.arange(tracks.n), tracks.ends(), tracks.sequences.owner, self.people, most)
        finished = count(1)

        def group(part: IntArray) -> tuple[list[_Group], int]:
            groups, taken = self._groups_of(tracks.part(part), np.argsort(place[part]), _OneCore())
            engine.progress("grouping trajectories", next(finished) * tracks.n // len(parts), tracks.n)
            return [group.renumbered(part) for group in groups], taken

        done = engine.map(group, parts)
        return [group for groups, _ in done for group in groups], sum(taken for _, taken in done)

    def _groups_of(self, tracks: _Tracks, order: IntArray, engine: Engine) -> tuple[list[_Group], int]:
        """Return groups of all these trajectories, and how many of them joined a group in the end."""
        groups, left = self._group(tracks, order, engine)
        engine.progress("adding what is left")
        return groups, _join(tracks, groups, left, self.claim.owner_share)

    def _group(self, tracks: _Tracks, order: IntArray, engine: Engine) -> tuple[list[_Group], IntArray]:
        """Return groups of k owners, each grown from the first in `order` that is left, and what is left in the end."""
        free = np.ones(tracks.n, np.int64)
        coarse = tracks.coarse
        remaining = np.bincount(tracks.sequences.owner)  # trajectories of each owner that are free
        people = len(remaining)
        groups: list[_Group] = []
        ready: dict[int, _Group] = {}

        def is_free(group: _Group | None) -> bool:
            # The best of all is still the best when others are taken, so a group whose members are free is right.
            return group is not None and bool(free[group.members].all())

        # Before each round the members of all groups so far are not free. A round takes the next free trajectory in
        # random order as a seed and gives it its group. Growing is expensive and independent per seed, so groups of the
        # next few seeds are grown ahead in parallel; one whose members were meanwhile taken by an earlier seed is grown
        # again. So the result is that of one after the other, whatever the number of workers. It ends when fewer people
        # than a group needs are free.
        for at, seed in enumerate(order.tolist()):
            if people < self.people:
                break
            if not free[seed]:
                continue
            if not is_free(ready.get(seed)):
                coarse = _only_free(coarse, free)
                many = _AHEAD * engine.workers if engine.workers > 1 else 1
                ahead = order[at:][free[order[at:]] == 1][:many].tolist()
                seeds = [one for one in ahead if not is_free(ready.get(one))]
                grown = engine.map(lambda one: self._grow(tracks, free, coarse, one), seeds)  # noqa: B023
                ready.update(zip(seeds, grown, strict=True))
                engine.progress("grouping trajectories", tracks.n - int(free.sum()), tracks.n)
            group = ready.pop(seed)
            groups.append(group)
            free[group.members] = 0
            owners = tracks.sequences.owner[group.members]
            remaining[owners] -= 1  # they are different
            people -= int((remaining[owners] == 0).sum())
        return groups, order[free[order] == 1]

    def _grow(self, tracks: _Tracks, free: IntArray, coarse: Coarse, seed: int) -> _Group:
        """Return the group that grows from a trajectory."""
        group = _Group.of(tracks, seed)
        # `fast` takes the k - 1 nearest to the seed at once; `multi` matches again after each new member, as boxes grow
        # and the nearest to them may be another one.
        step = 1 if self.algorithm == "multi" else self.people - 1
        for _ in range(0, self.people - 1, step):
            size = len(group.members)
            owners = tracks.sequences.owner[group.members]
            member, _ = nearest(group.boxes, size, tracks.sequences, coarse, Choice(free, owners, step), tracks.rule)
            for number in member.tolist():
                group = group.with_one(tracks, number)
        return group


@dataclass(frozen=True, kw_only=True, eq=False)
class _Tracks:
    """The trajectories that have points, `which` of all they are, what matching costs, and coarse boxes around them."""

    which: IntArray
    sequences: Sequences
    coarse: Coarse
    rule: Rule

    @property
    def n(self) -> int:
        return len(self.which)

    @classmethod
    def of(cls, data: Points, method: Tga) -> _Tracks:
        which = np.flatnonzero(np.diff(data.offsets))
        owner = np.unique(data.owner[which], return_inverse=True)[1].astype(np.int64)
        people = int(owner.max(initial=-1)) + 1
        if method.people > people:
            raise InputError(
                f"tga: k is {method.people}, but the data holds points of {people} people: nothing could be published. "
                "Take a smaller k or more data."
            )
        if max(float(np.abs(column).max()) for column in (data.x, data.y)) > _FARTHEST_M:
            raise InputError(f"tga: coordinates must be at most {_FARTHEST_M:g} m; check their unit.")
        seconds = _seconds(data.t, data.t.min(), data)
        boxes = np.stack([data.x, data.x, data.y, data.y, seconds, seconds])
        begin = data.offsets[:-1][which]
        end = data.offsets[1:][which]
        whole = _cost(method, np.ptp(data.x), np.ptp(data.y), np.ptp(seconds))
        return cls(
            which=which,
            sequences=Sequences(boxes, begin, end, np.ones(len(which), np.int64), owner),
            coarse=_coarse(boxes, begin, end),
            rule=Rule(float(whole), method.space_weight, method.time_weight),
        )

    def ends(self) -> FloatArray:
        """Return x, y and time of the first and of the last point of every trajectory, as far as they cost anything."""
        rows = np.concatenate(
            [self.sequences.boxes[::2, self.sequences.begin], self.sequences.boxes[::2, self.sequences.end - 1]]
        )
        costs = np.array([self.rule.space, self.rule.space, self.rule.time] * 2) > 0
        return rows[costs].T

    def part(self, members: IntArray) -> _Tracks:
        """Return some of these trajectories, numbered from 0 on."""
        owner = np.unique(self.sequences.owner[members], return_inverse=True)[1].astype(np.int64)
        begin = self.sequences.begin[members]
        end = self.sequences.end[members]
        return replace(
            self,
            which=self.which[members],
            sequences=Sequences(self.sequences.boxes, begin, end, self.sequences.size[members], owner),
            coarse=Coarse(
                np.arange(len(members)),
                *(np.ascontiguousarray(column[..., members]) for column in self.coarse[1:]),
            ),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Group:
    """Members, their boxes, and for each member (row) the point that is in each box (column)."""

    members: list[int]
    boxes: FloatArray
    points: IntArray

    @classmethod
    def of(cls, tracks: _Tracks, number: int) -> _Group:
        rows = np.arange(tracks.sequences.begin[number], tracks.sequences.end[number])
        return cls(members=[number], boxes=np.ascontiguousarray(tracks.sequences.boxes[:, rows]), points=rows[None])

    def with_one(self, tracks: _Tracks, number: int) -> _Group:
        """Return the group with one more member: boxes that match a point of it grow, the others are dropped."""
        one = _Group.of(tracks, number)
        # An optimal alignment of two sequences in order: matched points share a box, unmatched ones are suppressed at
        # the price of the largest possible box.
        _, (mine, its) = match_points(self.boxes, len(self.members), one.boxes, 1, tracks.rule)
        boxes = np.empty((6, len(mine)))
        boxes[::2] = np.minimum(self.boxes[::2, mine], one.boxes[::2, its])
        boxes[1::2] = np.maximum(self.boxes[1::2, mine], one.boxes[1::2, its])
        points = np.concatenate([self.points[:, mine], one.points[:, its]])
        return _Group(members=[*self.members, number], boxes=boxes, points=points)

    def renumbered(self, number: IntArray) -> _Group:
        """Return the group with other numbers for its members."""
        return replace(self, members=number[self.members].tolist())


class _OneCore:
    """An engine for what is a task of another engine itself."""

    workers = 1

    @staticmethod
    def progress(step: str, done: int = 0, total: int | None = None) -> None:
        """Tell nobody: the engine outside tells of whole tasks."""

    @staticmethod
    def map(function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        return [function(item) for item in items]


def _join(tracks: _Tracks, groups: list[_Group], left: IntArray, share: Fraction) -> int:
    """Put what is left into the groups whose cost with it is smallest, one after the other; return how many it was.

    A group takes a trajectory only if its owner then has no more than a share of the group.  As groups grow they can
    take more, so whoever found no group is tried again, until a whole round puts nobody anywhere.
    """
    n = len(groups)
    none = np.zeros(0, np.int64)
    first = offsets_of(np.array([group.boxes.shape[1] for group in groups], np.int64))
    size = np.array([len(group.members) for group in groups], np.int64)
    boxes = np.concatenate([group.boxes for group in groups], axis=1)
    sequences = Sequences(boxes, first[:-1].copy(), first[1:].copy(), size, np.arange(n))
    # Bounds by coarse boxes pay off among thousands of trajectories, not among groups that change with every member, so
    # there are none here.
    coarse = Coarse(np.arange(n), np.zeros((3, 0, n)), np.zeros((3, 0, n)), np.zeros((0, n)))
    trips_left = _trips_of_leftover_owners(tracks, groups, left)
    waiting = left.tolist()
    taken = 0
    while waiting:
        before = taken
        rejected: list[int] = []
        for number in waiting:
            trips = trips_left[int(tracks.sequences.owner[number])]
            # Whether the owner would have more than the share of each group with this trip in it; whole numbers, so
            # that 1/3 is exact.
            too_many = (trips + 1) * share.denominator > (size + 1) * share.numerator
            if too_many.all():
                rejected.append(number)
                continue
            one = _Group.of(tracks, number)
            free = np.where(too_many, 0, 1)
            best = int(nearest(one.boxes, 1, sequences, coarse, Choice(free, none, 1), tracks.rule)[0][0])
            groups[best] = groups[best].with_one(tracks, number)
            # A group never has more boxes than before, as those without a match are dropped: it keeps its place in the
            # table.
            end = first[best] + groups[best].boxes.shape[1]
            boxes[:, first[best] : end] = groups[best].boxes
            sequences.end[best] = end
            size[best] += 1
            trips[best] += 1
            taken += 1
        waiting = rejected if taken > before else []
    return taken


def _trips_of_leftover_owners(tracks: _Tracks, groups: list[_Group], left: IntArray) -> dict[int, IntArray]:
    """Return, for every owner of a trajectory that is left, how many trajectories each group has of that owner."""
    trips: dict[int, IntArray] = {}
    for owner in np.unique(tracks.sequences.owner[left]).tolist():
        trips[owner] = np.zeros(len(groups), np.int64)
    for number, group in enumerate(groups):
        for owner in tracks.sequences.owner[group.members].tolist():
            if owner in trips:
                trips[owner][number] += 1
    return trips


def _coarse(boxes: FloatArray, begin: IntArray, end: IntArray) -> Coarse:
    """Return the boxes around pieces of consecutive points of every trajectory."""
    n = len(begin)
    lengths = (end - begin)[:, None]
    # A trajectory as a few boxes around stretches of consecutive points: a bound on the cost of matching that is cheap
    # to compute for all others at once.
    bounds = np.arange(_PIECES + 1) * lengths // _PIECES
    starts = (begin[:, None] + bounds[:, :-1]).ravel()  # a piece without points takes the next one, for nothing
    low, high = (
        np.ascontiguousarray(extreme.reduceat(boxes[::2], starts, axis=1).reshape(3, n, _PIECES).swapaxes(1, 2))
        for extreme in (np.minimum, np.maximum)
    )
    return Coarse(np.arange(n), low, high, np.ascontiguousarray(np.diff(bounds).T, np.float64))


def _only_free(coarse: Coarse, free: IntArray) -> Coarse:
    """Return what is free, once it is worth the copy."""
    keep = free[coarse.which] == 1
    if np.count_nonzero(keep) > 0.75 * len(keep):
        return coarse
    return Coarse(*(np.ascontiguousarray(column[..., keep]) for column in coarse))


def _seconds(t: IntArray, since: Any, data: Points | Boxes) -> FloatArray:
    """Return times since others in seconds, or in the unit of plain integers; differences cannot overflow."""
    passed = t.astype(np.uint64) - np.asarray(since).astype(np.uint64)
    return passed.astype(np.float64) * (seconds_per_unit(data.time_format) or 1.0)


def _cost(method: Tga, x: Any, y: Any, t: Any) -> Any:
    """Return the cost of boxes with these sides."""
    return method.space_weight * np.log((1.0 + x) * (1.0 + y)) + method.time_weight * np.log(1.0 + t)


def _boxes(
    data: Points, tracks: _Tracks, groups: list[_Group], method: Tga
) -> tuple[Boxes, dict[str, int | float | str]]:
    """Give every trajectory the boxes of its group; return them and what was done, in numbers."""
    sizes = np.array([len(group.members) for group in groups], np.int64)
    spans = np.array([group.points.shape[1] for group in groups], np.int64)
    members = np.concatenate([np.array(group.members, np.int64) for group in groups])
    label = np.full(tracks.n, -1)  # what found no group is left out
    label[members] = np.repeat(np.arange(len(groups)), sizes)
    inside = label >= 0
    # Boxes are taken from the data again, not from the kernel's columns, whose times are seconds in floating point.
    rows = np.concatenate([group.points.T.ravel() for group in groups])
    starts = offsets_of(np.repeat(sizes, spans))[:-1]
    sides: dict[str, Any] = {}
    for name in ("t", "x", "y"):
        values = getattr(data, name)[rows]
        for end, extreme in (("min", np.minimum), ("max", np.maximum)):
            sides[f"{name}_{end}"] = extreme.reduceat(values, starts) if len(starts) else values
    lengths = np.zeros(len(data), np.int64)
    lengths[tracks.which[inside]] = spans[label[inside]]
    of_row = take(offsets_of(spans), label[inside])[1]
    regions = Boxes(
        offsets=offsets_of(lengths), **{name: side[of_row] for name, side in sides.items()}, owner=data.owner,
        attributes=data.attributes, frame=data.frame, time_format=data.time_format, owners=data.owners,
    )  # fmt: skip
    each = _cost(
        method,
        sides["x_max"] - sides["x_min"],
        sides["y_max"] - sides["y_min"],
        _seconds(sides["t_max"], sides["t_min"], data),
    )
    suppressed = data.n_rows - regions.n_rows
    total = float(each @ np.repeat(sizes, spans)) + suppressed * tracks.rule.drop
    people = [len(np.unique(tracks.sequences.owner[group.members])) for group in groups]
    facts: dict[str, int | float | str] = {
        "groups": len(groups),
        "people in the smallest group": min(people),
        "people in the largest group": max(people),
        "boxes": int(spans.sum()),
        "boxes around two different points, which are its corners": _of_two(data, rows, starts),
        "points suppressed": suppressed,
        "points suppressed, share": suppressed / data.n_rows,
        "trajectories without a box": int(sizes[spans == 0].sum()),
        "trajectories left out: more than the share of one person": int((~inside).sum()),
        "total log cost": total,
        "log cost per point": total / data.n_rows,
    }
    return regions, facts


def _of_two(data: Points, rows: IntArray, starts: IntArray) -> int:
    """Return how many boxes are around exactly two different points."""
    box = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(rows))))
    columns = [box, data.t[rows], data.x[rows], data.y[rows]]
    order = np.lexsort(columns[::-1])
    new = np.ones(len(rows), bool)
    new[1:] = np.any([column[order][1:] != column[order][:-1] for column in columns], axis=0)
    return int((np.bincount(box[order][new]) == 2).sum())


def _draw(data: Points, regions: Boxes, rng: np.random.Generator) -> Points:
    """Return one random point from each box: the place uniform, the time uniform among those after the last point.

    There always is one: the latest time of a box is later than that of the box before.
    """
    x, y = (
        np.clip(low + (high - low) * rng.random(len(low)), low, high)
        for low, high in ((regions.x_min, regions.x_max), (regions.y_min, regions.y_max))
    )
    t = regions.t_min.copy()
    lengths = np.diff(regions.offsets)
    for step in range(int(lengths.max(initial=0))):
        at = regions.offsets[:-1][lengths > step] + step
        # Step by step over all trajectories at once: a drawn time must come after the one drawn before it.
        low = regions.t_min[at] if step == 0 else np.maximum(regions.t_min[at], t[at - 1] + 1)
        t[at] = rng.integers(low, regions.t_max[at], endpoint=True)
    return Points(
        offsets=regions.offsets, t=t, x=x, y=y, owner=data.owner, attributes=data.attributes, frame=data.frame,
        time_format=data.time_format, owners=data.owners,
    )  # fmt: skip
