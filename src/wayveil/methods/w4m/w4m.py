"""Wait For Me: clusters of trajectories of any times, edited in space and time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.clusters.disk_moves import DiskOffset
from wayveil.kernels.w4m.w4m_block import block_clusters
from wayveil.kernels.w4m.w4m_edit import EditedPoints, edit
from wayveil.kernels.w4m.w4m_measure import Block, Known, Measure, TimedPoints
from wayveil.methods.clusters.clusters import (
    EXTRA,
    OUTLIER,
    TOO_FEW,
    Relaxed,
    account,
    allowed_trash,
    check_data,
    half_width,
    is_left_out,
    relax,
)
from wayveil.methods.clusters.kdelta_base import (
    WalkTogether,
    delta_parameter,
    k_parameter,
    placement_parameter,
    radius_growth_parameter,
    trash_max_parameter,
)
from wayveil.methods.clusters.offsets_in_disc import Offsets, draw_ranks
from wayveil.methods.clusters.usual_waits import wait_for_people
from wayveil.methods.common.dominance import keep_shares
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.methods.common.wishes import group_by_wishes
from wayveil.model import (
    BlockKey,
    Engine,
    MethodResult,
    Points,
    duration_units,
    parameter,
    seconds_per_unit,
)
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.claims.members import (
    destination_cell_parameter,
    destination_share_parameter,
    k_column_parameter,
)
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row

__all__ = ["W4m"]

_HILBERT_BITS = 16
_SCALE_OF_WAITS = 100
"""What a usual wait for k people is divided by, where it is longer than a trip: it then costs 1 % of a trip's way."""

_AT_ONCE = 1024
"""Trajectories that are edited by one task."""


@dataclass(frozen=True, kw_only=True)
class W4m(WalkTogether):
    """Gather trajectories in clusters of at least `k` people, and edit them in space and time to move together.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people in a cluster.
    delta : number, >= 0, in metres
        Largest distance of two members of a cluster at any published time.  With 0 they become one and the same.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories of a cluster that one person may own.
    placement : {"random", "nearest"}
        Where a member is published in the disc of radius `delta`/2 around the pivot of its cluster, if `delta` > 0: at
        an offset that is drawn at random for the whole trajectory, or as near to where it was as the disc lets.
    distance : {"lstd", "edr"}
        How trajectories are compared: by a linear walk along both, or by edit distance on real sequences.
    radius_max : number > 0, or "auto"
        How far a member may be from the pivot of its cluster, at first.  With `lstd` in metres, over all pairs of
        aligned points; `auto` is 10 m.  With `edr` in edits; `auto` is 1.  It grows from there, whatever the data.
    radius_growth : number, >= 1.01
        What the radius is multiplied with as long as the trash is too large.
    trash_max : number from 0 to 1
        Largest share of trajectories that may be thrown away as outliers.
    edr_dx, edr_dy : number, >= 0, in metres, or "auto"
        How far two points may differ and still match; `auto` is `delta`.
    edr_dt : duration or "auto"
        How much their times may differ; `auto` is the median time between two samples.
    cap : int, >= 1, or "auto"
        Largest cost of one pair of points in the linear walk, in units of `delta`; `auto` is so large that it never
        limits anything, and is told in the facts.
    t2s_factor : number > 0, or "auto"
        Time becomes length with the mean speed of all trajectories divided by this: larger values count time less.
        `auto` is 1 where k people are on the way at a time, and much more where they never are (see Notes).
    chunk_size : int from 2 to 5000
        Trajectories are clustered in blocks of about this size, cut along a Hilbert curve through their middles.
    pivot : {"random", "farthest"}
        Which trajectory leads the next cluster.
    k_column : str
        The column that says how many people somebody asks to be one of, where it is more than `k`, with ``delta=0``.
        It is not published.
    destination_share : number from 0 to 1, or "none"
        Largest share of a group whose people may all end in one square of `destination_cell` metres,
        with ``delta=0``.

    Guarantee
    ---------
    ``KDelta(k, delta, row_share, placement)``.  With `delta` > 0 and ``placement="nearest"`` an attacker who knows a
    true position finds the nearest published one, which is likely to be the victim's own: this is not bounded.  Pivots
    are then published unmoved, so one exact position of its owner finds a pivot; with ``"random"`` the cluster still
    goes where its pivot went.  Points and times are made up where trajectories differ.

    Notes
    -----
    All published trajectories of a cluster have the timestamps of its pivot.  Neither distance is a metric, and both
    have many ties: among equal distances the smaller planar distance counts (`lstd`: the largest of the aligned
    points; `edr`: that of the mean positions), then the order of the input.  Each pair of a block is compared at most
    once for all radii.  Time O(n x chunk_size x points), with `edr` times points once more; memory 16 x chunk_size^2
    bytes per worker.

    A cluster takes one trajectory of each of its first k people, the nearest; others of theirs may lead or join another
    cluster.  In the end the trajectories of whoever owns more than `row_share` of a cluster are left out, those whose
    middle is farthest from that of the pivot first, and counted apart from outliers.

    Where k people are never on the way at a time, as with cars of several months, trips must be moved in time by more
    than they last, whoever is joined.  At the mean speed such a wait is a way of thousands of kilometres, and where
    people were no longer counts.  So with ``t2s_factor="auto"``, if one usually has to wait for k - 1 other people for
    longer than a trip lasts, that wait costs a hundredth of the way of a trip: times are lost in any case, places need
    not be.  Otherwise a second costs what it takes at the mean speed.

    Where somebody is left out, the clusters are found once more without them, at the first radius at which nobody
    else is an outlier.  So what is published depends on nobody who is not; speeds, waits and lengths of trips are those
    of the trajectories that are published.

    References
    ----------
    Abul, Bonchi, Nanni: Anonymization of moving objects databases by clustering and perturbation.  Information Systems
    35 (2010).

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Points.from_records([[(0, 0.0, 0.0), (10, 10.0, 0.0)], [(1, 0.0, 1.0), (12, 10.0, 4.0)]])
    >>> method = W4m(k=2, delta=4, placement="nearest", radius_max=9)
    >>> made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [[(t, round(x, 6), round(y, 6)) for t, x, y in made.data.record(i)] for i in range(2)]
    [[(1, 0.0, 0.0), (12, 10.0, 2.0)], [(1, 0.0, 1.0), (12, 10.0, 4.0)]]
    """

    k: int = k_parameter()
    delta: float = delta_parameter()
    row_share: Fraction | str = row_share_parameter()
    placement: str = placement_parameter()
    distance: str = parameter(
        kind="choice",
        choices=("lstd", "edr"),
        default="lstd",
        help="lstd: a linear walk along both trajectories; edr: edit distance on real sequences, slower",
    )
    radius_max: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto",),
        default="auto",
        help="first radius of a cluster; lstd: in metres, auto is 10; edr: in edits, auto is 1",
    )
    radius_growth: float = radius_growth_parameter()
    trash_max: Fraction = trash_max_parameter()
    edr_dx: float | str = parameter(
        kind="number", low=0, choices=("auto",), default="auto", help="edr: how far x may differ; auto is delta"
    )
    edr_dy: float | str = parameter(
        kind="number", low=0, choices=("auto",), default="auto", help="edr: how far y may differ; auto is delta"
    )
    edr_dt: str = parameter(
        kind="duration",
        choices=("auto",),
        default="auto",
        help="edr: how much times may differ; auto is the median time between samples",
    )
    cap: int | str = parameter(
        kind="int",
        low=1,
        high=1_000_000,
        choices=("auto",),
        default="auto",
        help="lstd: largest cost of one pair of points, in units of delta; auto never limits any",
    )
    t2s_factor: float | str = parameter(
        kind="number",
        low=1e-9,
        choices=("auto",),
        default="auto",
        help="lstd: time counts as way at the mean speed divided by this; auto is 1 where k people are on the way at a "
        "time, and much more where they never are",
    )
    chunk_size: int = parameter(
        kind="int", low=2, high=5000, default=1000, help="trajectories that are compared with each other, a block"
    )
    pivot: str = parameter(
        kind="choice", choices=("random", "farthest"), default="random", help="which trajectory leads the next cluster"
    )
    k_column: str = k_column_parameter()
    destination_share: Fraction | str = destination_share_parameter()
    destination_cell: float = destination_cell_parameter()

    name: ClassVar[str] = "w4m"
    summary: ClassVar[str] = "Wait For Me: (k,delta)-anonymity by clustering and editing in space and time"
    blocks: ClassVar[tuple[BlockKey, ...]] = ("place",)

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        if self.claim.has_wishes:
            return group_by_wishes(self, data, rng=rng, engine=engine)
        check_data(self.name, data, self.k)
        data = self.rounded(data)
        key = rng.bytes(32)
        # Abul et al. (2010): cluster (`_gather`), then edit every member towards the pivot of its cluster (`_edit`). As
        # in `nwa`, clusters are formed again without the people who are left out, until nobody else falls: otherwise a
        # stranger could decide who is grouped with whom. It ends because nobody comes back.
        some = data
        gathered = self._gather(some, self.trash_max, key, engine)
        label = gathered.label
        while is_left_out(gathered.label, np.diff(some.offsets) > 0).any():
            stays = ~is_left_out(gathered.label, np.diff(some.offsets) > 0)
            some = some.where(np.repeat(stays, np.diff(some.offsets)))
            gathered = self._gather(some, Fraction(0), key, engine)
            label = np.where(np.diff(some.offsets) > 0, gathered.label, label)
        engine.progress("editing trajectories")
        # Costs are counted in units half as large as those of the comparison: clustering needs an order of distances,
        # editing the right partner of every point.
        unit = gathered.measure.unit / 2
        finer = gathered.measure._replace(unit=unit, cap=self._largest_cost(some, gathered.length, unit))
        rows = TrajectoryRows(begin=some.offsets[:-1], end=some.offsets[1:], columns=(some.t, some.x, some.y))
        places = self.place(gathered.label, rows, some.frame, key)
        published, done = self._edit(some, gathered.length, gathered.label, finer, places, engine)
        scale = seconds_per_unit(data.time_format)
        seconds = "" if scale is None else " (s)"
        time_moved = float(done[1] * (scale or 1))
        facts = {
            "blocks": gathered.blocks,
            **account(data, label),
            "radius used (edits)" if finer.is_edr else "radius used (m)": gathered.relaxed.radius,
            "restarts": gathered.relaxed.restarts,
            "total translation (m)": float(done[0]),
            "total time translation" + seconds: time_moved,
            "time translation per point" + seconds: time_moved / published.n_rows,
            "points created": int(done[2]),
            "points deleted": int(done[3]),
        }
        if not finer.is_edr:
            facts["largest cost of a pair of points"] = gathered.measure.cap
            if isinstance(self.t2s_factor, str) and gathered.t2s_factor > 1:
                facts["t2s_factor used"] = gathered.t2s_factor
                facts["chosen"] = self._explain_factor(gathered.t2s_factor)
        return MethodResult(data=published, claim=self.claim, facts=facts, groups=label)

    def _explain_factor(self, factor: float) -> str:
        """Say why time hardly counts."""
        return (
            f"t2s_factor = {factor:g}, because {self.people} people are hardly ever on the way at a time: one waits "
            f"for them {factor / _SCALE_OF_WAITS:g} times as long as a trip lasts. So places decide who is joined, and "
            "published dates are those of the trips that lead clusters."
        )

    def _factor(self, data: Points) -> float:
        """Return what the mean speed is divided by, so that times become lengths."""
        if not isinstance(self.t2s_factor, str):
            return self.t2s_factor
        if self.distance == "edr":
            return 1.0
        wait = wait_for_people(data, self.people)
        return _SCALE_OF_WAITS * wait if wait >= 1 else 1.0

    def _gather(self, data: Points, trash_max: Fraction, key: bytes, engine: Engine) -> _Gathered:
        """Return the clusters of these trajectories, and how they were compared."""
        engine.progress("comparing trajectories")
        start = 1.0 if self.distance == "edr" and isinstance(self.radius_max, str) else self.first_radius
        unit = self.delta or 1e-3 * start or 1.0
        factor = self._factor(data)
        length = _time_as_length(data, factor)
        cap = self._largest_cost(data, length, unit)
        measure = Measure(self.distance == "edr", unit, cap, *self._tolerances(data))
        middle_x, middle_y = _middles(data)
        blocks = _blocks(middle_x, middle_y, np.flatnonzero(np.diff(data.offsets) > 0), self.chunk_size)
        whole = TrajectoryRows(begin=data.offsets[:-1], end=data.offsets[1:], columns=(data.t, data.x, data.y))
        rank = draw_ranks(whole, data.frame, key)
        items = [
            _Raw(
                rows=_picked(data, length, members), middle_x=middle_x[members], middle_y=middle_y[members],
                owner=data.owner[members], order=np.argsort(rank[members], kind="stable"),
            )
            for members in blocks
        ]  # fmt: skip
        # All distances inside a block are needed, which is quadratic; so trajectories are cut into blocks along a
        # Hilbert curve through their middles (the paper's chunks), and each block is solved for every radius at once.
        solved = engine.map(lambda raw: self._solve(raw, measure, start), items)
        if not any((label > TOO_FEW).any() for s in solved for label in s.labels):
            raise InputError(
                f"w4m: no block of {self.chunk_size} trajectories holds k = {self.k} people. Take a larger chunk_size."
            )
        allowed = allowed_trash(trash_max, data)
        # One radius for all blocks: the first at which all of them together have few enough outliers.
        relaxed = relax(start, self.radius_growth, lambda _, step: sum(s.outliers(step) for s in solved) <= allowed)
        label = np.full(len(data), TOO_FEW)
        for members, solution in zip(blocks, solved, strict=True):
            own_label = solution.at(relaxed.restarts)
            label[members] = np.where(own_label < 0, own_label, members[own_label])
        if not (label >= 0).any():
            raise InputError(
                f"w4m: every trajectory is an outlier, which trash_max = {float(trash_max):g} allows. Take a smaller "
                "trash_max: the radius then grows until there are clusters."
            )
        led_by = np.maximum(label, 0)
        far = np.hypot(middle_x - middle_x[led_by], middle_y - middle_y[led_by])
        far[label == np.arange(len(data))] = -1.0  # a pivot stays: its cluster has its times
        label[keep_shares(label, data.owner, far, self.claim.owner_share)] = EXTRA
        return _Gathered(
            label=label, length=length, measure=measure, relaxed=relaxed, blocks=len(blocks), t2s_factor=factor
        )

    def _largest_cost(self, data: Points, length: FloatArray, unit: float) -> int:
        """Return the cap on the cost of a pair; `auto` is more than any two points are apart, in space and time.

        With a cap below that, all pairs beyond it cost the same, and the walk can no longer tell a point of the same
        hour from one of another week.  The sum over a whole trajectory stays below 2^53, where sums are exact.
        """
        if not isinstance(self.cap, str):
            return self.cap
        longest = int(np.diff(data.offsets).max())
        apart = np.sqrt(np.ptp(data.x) ** 2 + np.ptp(data.y) ** 2 + np.ptp(length) ** 2)
        return int(min(apart / unit + 1, 2.0**52 / longest))

    def _tolerances(self, data: Points) -> tuple[float, float, int]:
        dx, dy = (self.delta if isinstance(d, str) else d for d in (self.edr_dx, self.edr_dy))
        if self.edr_dt != "auto":
            return dx, dy, duration_units(self.name, "edr_dt", self.edr_dt, data.time_format)
        trajectory = trajectory_of_row(data.offsets)
        periods = np.diff(data.t)[trajectory[1:] == trajectory[:-1]]
        return dx, dy, int(np.median(periods)) if len(periods) else 0

    def _solve(self, raw: _Raw, measure: Measure, radius: float) -> _Solved:
        """Cluster a block at one radius after the other, up to the first that holds everybody."""
        owner = np.unique(raw.owner, return_inverse=True)[1]
        if owner.max() + 1 < self.people:
            return _Solved(labels=[np.full(len(owner), TOO_FEW)])
        offsets, (x, y, t, length) = raw.rows.packed()
        block = Block(TimedPoints(offsets, x, y, t, length), raw.middle_x, raw.middle_y, owner)
        n = len(block.owner)
        known = Known(np.zeros(n, np.int64), np.empty((n, n)), np.empty((n, n)))
        # No distance is above the diagonal of the box around the block (with EDR: above the longest trajectory, which
        # is that many edits). A radius beyond it joins everybody, so later radii need no clustering of their own.
        largest = float(np.hypot(np.ptp(x), np.ptp(y)))
        if measure.is_edr:
            largest = float(np.diff(offsets).max())
        labels: list[IntArray] = []
        # Before each round `labels` has the clusters for all smaller radii. Distances that were computed stay in
        # `known`, and a larger radius computes few new ones.
        while True:
            label = block_clusters(block, measure, known, self.people, radius, raw.order, self.pivot == "farthest")
            labels.append(label.astype(np.int32))
            if radius > 1.001 * largest or radius == largest == 0:
                return _Solved(labels=labels)
            radius *= self.radius_growth

    def _edit(
        self, data: Points, length: FloatArray, label: IntArray, measure: Measure, places: Offsets, engine: Engine
    ) -> tuple[Points, FloatArray]:
        """Return the data that is published, and the sums of way, time, points created and points deleted."""
        half = half_width(self.delta, data.frame)
        parts = [label[a : a + _AT_ONCE] for a in range(0, len(data), _AT_ONCE)]
        pieces = []
        for number, part in enumerate(parts):
            members = np.flatnonzero(part >= 0)
            own = members + number * _AT_ONCE
            # A member needs the points of its pivot. Those of pivots that are edited in another task are shipped along,
            # behind the own ones, and are not edited here.
            pivots = np.setdiff1d(part[members], own)
            which = np.concatenate([own, pivots])
            by_number = np.argsort(which)
            pivot = by_number[np.searchsorted(which, part[members], sorter=by_number)]
            pieces.append(_Edit(rows=_picked(data, length, which), pivot=pivot, places=places.of(own)))
        done = engine.map(lambda piece: piece.run(measure, half), pieces)
        sums = np.zeros((len(data), 4))
        offsets = offsets_of(np.where(label < 0, 0, np.diff(data.offsets)[np.maximum(label, 0)]))
        columns = np.empty(offsets[-1], np.int64), np.empty(offsets[-1]), np.empty(offsets[-1])
        # From the last to the first: each result is dropped when it is copied into its place.
        for number in reversed(range(len(parts))):
            *edited, sums[np.flatnonzero(parts[number] >= 0) + number * _AT_ONCE] = done.pop()
            first, last = offsets[[number * _AT_ONCE, min((number + 1) * _AT_ONCE, len(data))]]
            for column, values in zip(columns, edited, strict=True):
                column[first:last] = values  # and goes: nothing is held twice
        t, x, y = columns
        return replace(data, offsets=offsets, t=t, x=x, y=y, known=None), sums.sum(axis=0)


def _picked(data: Points, length: FloatArray, which: IntArray) -> TrajectoryRows:
    """Return trajectories with the columns that are compared."""
    columns = data.x, data.y, data.t, length
    return TrajectoryRows(begin=data.offsets[which], end=data.offsets[which + 1], columns=columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Gathered:
    """The pivot of every trajectory, or why it has none; the times as lengths; how trajectories were compared."""

    label: IntArray
    length: FloatArray
    measure: Measure
    relaxed: Relaxed
    blocks: int
    t2s_factor: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Raw:
    """The trajectories of a block: their points, middles and owners, and in which order they become pivots."""

    rows: TrajectoryRows
    middle_x: FloatArray
    middle_y: FloatArray
    owner: IntArray
    order: IntArray


@dataclass(frozen=True, kw_only=True, eq=False)
class _Edit:
    """Trajectories to be edited, followed by those of their pivots that are not among them; `pivot` says which."""

    rows: TrajectoryRows
    pivot: IntArray
    places: Offsets

    def run(self, measure: Measure, half: float) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """Return t, x and y of the edited trajectories, and what each took."""
        offsets, (x, y, t, length) = self.rows.packed()
        new_offsets = offsets_of(np.diff(offsets)[self.pivot])
        new_t = np.empty(new_offsets[-1], np.int64)
        new_x = np.empty(new_offsets[-1])
        new_y = np.empty(new_offsets[-1])
        points = TimedPoints(offsets, x, y, t, length)
        offset = DiskOffset(self.places.x, self.places.y)
        edited = EditedPoints(new_offsets, new_t, new_x, new_y)
        done = edit(points, self.pivot, measure, half, offset, edited, 0, len(self.pivot))
        return new_t, new_x, new_y, done


@dataclass(frozen=True, kw_only=True)
class _Solved:
    """The clusters of a block: one label per trajectory, for each radius; later radii change nothing any more."""

    labels: list[IntArray]

    def at(self, step: int) -> IntArray:
        return self.labels[min(step, len(self.labels) - 1)]

    def outliers(self, step: int) -> int:
        return int((self.at(step) == OUTLIER).sum())


def _time_as_length(data: Points, t2s_factor: float) -> FloatArray:
    """Return the times as lengths: at the mean of the mean speeds of all trajectories that take any time."""
    trajectory = trajectory_of_row(data.offsets)
    inside = trajectory[1:] == trajectory[:-1]
    ways = np.hypot(np.diff(data.x), np.diff(data.y))[inside]
    way = np.bincount(trajectory[1:][inside], ways, minlength=len(data))
    moving = np.flatnonzero(np.diff(data.offsets) > 1)
    lasts = data.t[data.offsets[moving + 1] - 1] - data.t[data.offsets[moving]]
    # Time becomes a third axis in metres, at the mean speed of the data; t2s_factor divides it, so that a large one
    # lets places decide.
    speed = float(np.mean(way[moving] / lasts)) if len(moving) else 0.0
    return (data.t - data.t.min()) * (speed / t2s_factor)


def _middles(data: Points) -> tuple[FloatArray, FloatArray]:
    """Return the mean position of every trajectory; 0 where there is none."""
    lengths = np.maximum(np.diff(data.offsets), 1)
    trajectory = trajectory_of_row(data.offsets)
    x, y = (np.bincount(trajectory, values, minlength=len(data)) / lengths for values in (data.x, data.y))
    return x, y


def _blocks(x: FloatArray, y: FloatArray, moving: IntArray, size: int) -> list[IntArray]:
    """Cut trajectories into blocks of at most `size` that lie near each other; inside a block in the order of input."""
    along = moving[np.argsort(_hilbert(x[moving], y[moving]), kind="stable")]
    return [np.sort(block) for block in np.array_split(along, -(-len(along) // size))]


def _hilbert(x: FloatArray, y: FloatArray) -> IntArray:
    """Return the position of points on a Hilbert curve through the square around them.

    Examples
    --------
    >>> _hilbert(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])).argsort().tolist()
    [0, 1, 2, 3]
    """
    side = max(np.ptp(x), np.ptp(y)) or 1.0
    top = (1 << _HILBERT_BITS) - 1
    a, b = ((v - v.min()) / side * top for v in (x, y))
    a = a.astype(np.int64)
    b = b.astype(np.int64)
    along = np.zeros(len(a), np.int64)
    for bit in range(_HILBERT_BITS - 1, -1, -1):
        # One level of the curve: which quadrant the point is in gives two bits of its position; then the square is
        # turned or flipped so that the curve inside the quadrant looks like the whole one.
        right = (a >> bit) & 1
        up = (b >> bit) & 1
        along += ((3 * right) ^ up) << (2 * bit)
        turn = up == 0
        flip = (up == 0) & (right == 1)
        a = np.where(flip, top - a, a)
        b = np.where(flip, top - b, b)
        a, b = np.where(turn, b, a), np.where(turn, a, b)
    return along
