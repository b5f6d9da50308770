"""Never Walk Alone: clusters of trajectories, moved together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.clusters.disk_moves import ClusterMembers, DiskOffset, PlanarPoints, translate
from wayveil.kernels.nwa.common_times import same_times
from wayveil.kernels.nwa.nwa_greedy import greedy_clusters
from wayveil.kernels.nwa.radius_search import core_distances, group_distances
from wayveil.kernels.nwa.trajectory_tree import Tree, build_tree
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
    members_of,
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
from wayveil.methods.clusters.usual_waits import people_at_once, usual_step
from wayveil.methods.common.dominance import keep_shares
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.methods.common.wishes import group_by_wishes
from wayveil.model import BlockKey, Engine, MethodResult, Points, duration_units, parameter, seconds_per_unit
from wayveil.model.claims.counting import row_share_parameter
from wayveil.model.claims.members import (
    destination_cell_parameter,
    destination_share_parameter,
    k_column_parameter,
)
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of, take

__all__ = ["Nwa"]

CUT_OFF = -3
"""Label of trajectories without two timestamps where one may start and end."""

_CLOCK_S = (60, 120, 300, 600, 900, 1200, 1800, 3600, 7200, 10_800, 14_400, 21_600, 43_200, 86_400)
_STEPS = (2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 720, 1440)
"""What pi = auto tries: seconds on a clock, or multiples of the usual step of times that are plain integers."""

_PERIODS_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200)
"""Periods that are worth naming as a remedy."""

_LEAF = 16
_SKETCH = 8
_SAMPLE = 200
_BLOCK = 4096


@dataclass(frozen=True, kw_only=True)
class Nwa(WalkTogether):
    """Gather trajectories in clusters of at least `k` people, and move their points until they walk together.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people in a cluster.
    delta : number, >= 0, in metres
        Largest distance of two members of a cluster at any published time.  With 0 they become one and the same.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories of a cluster that one person may own.
    placement : {"random", "nearest"}
        Where a member is published in the disc of radius `delta`/2 around the centre of its cluster, if `delta` > 0:
        at an offset that is drawn at random for the whole trajectory, or as near to where it was as the disc lets.
    pi : duration, "none" or "auto"
        Trajectories start and end at multiples of this time only; what lies before and after is cut off.  `auto` takes,
        of round times up to a day and none, the one that leaves most points in classes of `k` people.
    radius_max : number > 0, in metres, or "auto"
        Largest distance (root mean square over time) of a member to the pivot of its cluster, at first; `auto` is
        10 m, whatever the data: it grows from there.
    radius_growth : number, >= 1.01
        What the radius is multiplied with as long as the trash is too large.
    trash_max : number from 0 to 1
        Largest share of trajectories that may be thrown away as outliers.
    center : {"mean", "mec"}
        What points are moved towards: the mean, or the centre of the smallest circle around all.
    k_column : str
        The column that says how many people somebody asks to be one of, where it is more than `k`, with ``delta=0``.
        It is not published.
    destination_share : number from 0 to 1, or "none"
        Largest share of a group whose people may all end in one square of `destination_cell` metres,
        with ``delta=0``.

    Guarantee
    ---------
    ``KDelta(k, delta, row_share, placement)``.  With `delta` > 0 and ``placement="nearest"`` an attacker who knows a
    true position finds the nearest published one, which is likely to be the victim's own: this is not bounded.

    Notes
    -----
    Trajectories are compared inside a class: the same timestamps after cutting.  Classes of fewer than `k` people go to
    the trash, and count apart from outliers.  The greedy clustering is exact: the farthest trajectory from all pivots
    comes next, found with a tree over the leading principal components, which never overstate a distance.  A radius
    at which too many trajectories could be in no cluster, whatever the pivots, is skipped without clustering.

    A cluster takes one trajectory of each of its first k people, the nearest; others of theirs may lead or join another
    cluster.  In the end the trajectories of whoever owns more than `row_share` of a cluster are left out, those
    farthest from the pivot first, and counted apart from outliers.

    Where somebody is left out, the clusters are found once more without them, at the first radius at which nobody
    else is an outlier, and `pi` is chosen once more from those who are left, until neither changes.  So what is
    published depends on nobody who is not.

    References
    ----------
    Abul, Bonchi, Nanni: Never Walk Alone: uncertainty for anonymity in moving objects databases.  ICDE 2008.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 10.0, 0.0)], [(0, 0.0, 3.0), (1, 10.0, 1.0)]])
    >>> method = Nwa(k=2, delta=2, placement="nearest", radius_max=5)
    >>> made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [[(t, round(x, 6), round(y, 6)) for t, x, y in made.data.record(i)] for i in range(2)]
    [[(0, 0.0, 0.5), (1, 10.0, 0.0)], [(0, 0.0, 2.5), (1, 10.0, 1.0)]]
    """

    k: int = k_parameter()
    delta: float = delta_parameter()
    row_share: Fraction | str = row_share_parameter()
    placement: str = placement_parameter()
    pi: str = parameter(
        kind="duration",
        choices=("none", "auto"),
        default="auto",
        help="trajectories start and end at multiples of this time, the rest is cut off; auto: the one that keeps most",
    )
    radius_max: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto",),
        default="auto",
        help="first radius of a cluster in metres; auto is 10, whatever the data",
    )
    radius_growth: float = radius_growth_parameter()
    trash_max: Fraction = trash_max_parameter()
    center: str = parameter(
        kind="choice",
        choices=("mean", "mec"),
        default="mean",
        help="what points are moved towards: the mean, or the centre of the smallest circle around all",
    )
    k_column: str = k_column_parameter()
    destination_share: Fraction | str = destination_share_parameter()
    destination_cell: float = destination_cell_parameter()

    name: ClassVar[str] = "nwa"
    summary: ClassVar[str] = "Never Walk Alone: (k,delta)-anonymity by clustering and space translation"
    blocks: ClassVar[tuple[BlockKey, ...]] = ("times", "place")

    def run(self, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        if self.claim.has_wishes:
            return group_by_wishes(self, data, rng=rng, engine=engine)
        check_data(self.name, data, self.k)
        data = self.rounded(data)
        key = rng.bytes(32)
        # Abul et al. (2008) has three phases: preprocessing (trajectories are cut to multiples of pi and
        # sorted into classes with the same timestamps), greedy clustering inside every class (`_gather`), and space
        # translation (`_move`). Phase one and two come again below, because their result must not depend on anybody who
        # is not published.
        nonempty = np.diff(data.offsets) > 0
        pi = self._choose_pi(data, nonempty)
        begin, end = _cut(data, nonempty, pi)
        n_classes, label, relaxed = self._gather(data, begin, end, self.trash_max, key, engine)
        # Before each round `label` is about the trajectories that are held.  A round goes on without those that are
        # left out, with the pi that they would choose among themselves.  It ends because nobody comes back, and with
        # the same trajectories the same pi is chosen.
        # People who are left out keep the reason of the round in which they fell; everybody else has the label of the
        # last round.
        final = label
        while True:
            stays = nonempty & ((label >= 0) | (label == EXTRA))
            chosen = self._choose_pi(data, stays)
            if chosen == pi and not is_left_out(label, end > begin).any():
                break
            nonempty = stays
            pi = chosen
            begin, end = _cut(data, nonempty, pi)
            _, label, relaxed = self._gather(data, begin, end, Fraction(0), key, engine)
            final = np.where(nonempty, label, final)
        label = final
        engine.progress("moving points")
        # Phase three: inside each cluster and at each timestamp, points move into the disc of diameter delta around the
        # centre. Where in the disc is drawn from the key of the run, not from the position: the nearest place would
        # tell from which side a point came.
        rows = TrajectoryRows(begin=begin, end=end, columns=(data.t, data.x, data.y))
        published, moved = self._move(data, begin, end, label, self.place(label, rows, data.frame, key), engine)
        lengths = np.diff(data.offsets)
        facts = {
            "classes": n_classes,
            **account(data, label),
            "trash: cut off by pi": int((label[lengths > 0] == CUT_OFF).sum()),
            "points cut off by pi": int((lengths - (end - begin))[label >= 0].sum()),
            "radius used (m)": relaxed.radius,
            "restarts": relaxed.restarts,
            "total translation (m)": moved,
        }
        if self.pi == "auto" and pi > 1:
            facts["chosen"] = (
                f"pi = {_in_words(pi, data)}: trips begin and end at multiples of it, which leaves most points where "
                f"{self.people} people have the same times."
            )
        if 2 * int((label[lengths > 0] < OUTLIER).sum()) > int((lengths > 0).sum()):
            facts["advice"] = f"Most trajectories share their timestamps with too few people. {self._remedy(data)}"
        return MethodResult(data=published, claim=self.claim, facts=facts, groups=label)

    def _gather(
        self, data: Points, begin: IntArray, end: IntArray, trash_max: Fraction, key: bytes, engine: Engine
    ) -> tuple[int, IntArray, Relaxed]:
        """Return how many classes there are, the pivot of every trajectory or why it has none, and the radius.

        Trajectories that end where they begin are as if they were not there.
        """
        engine.progress("finding classes")
        members, first = classes_of(data.t, begin, end)
        large = self._large(data, members, first)
        if not len(large):
            raise InputError(
                f"nwa: no k = {self.k} people share the same timestamps: {len(members)} trajectories fall into "
                f"{len(first) - 1} classes. {self._remedy(data)}"
            )
        parts = [members[first[c] : first[c + 1]] for c in large]
        raw = []
        for part in parts:
            # The paper takes the first pivot at random. Here it is the trajectory with the lowest keyed rank, which the
            # positions and times alone decide: the order of the input has no say.
            whole = TrajectoryRows(begin=begin[part], end=end[part], columns=(data.t, data.x, data.y))
            rows = _picked(data, begin[part], end[part])
            raw.append(
                _Raw(rows=rows, owner=data.owner[part], first=int(np.argmin(draw_ranks(whole, data.frame, key))))
            )
        classes = engine.map(_Class.of, raw)
        most_outliers = allowed_trash(trash_max, data)
        labels, relaxed = self._cluster(classes, most_outliers, engine)
        label = np.where(end > begin, TOO_FEW, CUT_OFF)
        for part, own in zip(parts, labels, strict=True):
            label[part] = np.where(own < 0, OUTLIER, part[own])
        # k people are in every cluster, but one of them may have many of its trajectories. Those beyond the share are
        # left out, farthest from the pivot first, so that 1/k also holds for who picks one trajectory at random.
        label[keep_shares(label, data.owner, _from_pivot(data, begin, end, label), self.claim.owner_share)] = EXTRA
        if not (label >= 0).any():
            raise InputError(
                f"nwa: every trajectory is an outlier, which trash_max = {float(trash_max):g} allows. Take a smaller "
                "trash_max: the radius then grows until there are clusters."
            )
        return len(first) - 1, label, relaxed

    def _choose_pi(self, data: Points, nonempty: BoolArray) -> int:
        """Return the time at whose multiples trajectories begin and end, in units of the times; 1 cuts nothing off.

        With `auto` it follows from the trajectories that are `nonempty` alone: the smallest of the times that leave
        most of their points in classes of enough people.
        """
        if self.pi == "none":
            return 1
        if self.pi != "auto":
            return duration_units(self.name, "pi", self.pi, data.time_format)
        # A larger pi cuts off more points at both ends but brings more trajectories into one class. Candidates ascend,
        # and only a strictly better one replaces the last, so the finest of equally good times wins.
        best = 1
        most = 0
        for pi in _round_times(data, nonempty):
            begin, end = _cut(data, nonempty, pi)
            members, first = classes_of(data.t, begin, end)
            large = self._large(data, members, first)
            n_points = sum(int((end - begin)[members[first[c] : first[c + 1]]].sum()) for c in large)
            if n_points > most:
                best = pi
                most = n_points
        return best

    def _remedy(self, data: Points) -> str:
        """Say what would bring more people together."""
        period = usual_step(data)
        regular = float(np.mean(data.t % period == 0)) if data.n_rows else 1.0
        if regular < 0.9:
            rounded = next((p for p in _PERIODS_S if p >= period * (seconds_per_unit(data.time_format) or 1)), 86_400)
            text = f"{rounded}s" if seconds_per_unit(data.time_format) else str(rounded)
            return f"Put them on common times first: the step resample with period = {text} fits their sampling."
        at_once = people_at_once(data)
        if at_once < self.people:
            return (
                f"No more than {at_once} people are on the way at any time, so no pi helps: take w4m, which also moves "
                "trips in time."
            )
        if self.pi != "auto":
            return "Take pi = auto, or cut trips into common pieces with the step window (width = 1h, say)."
        return "Cut trips into common pieces with the step window (width = 1h, say), or take w4m."

    def _large(self, data: Points, members: IntArray, first: IntArray) -> IntArray:
        """Return the classes of at least k people, the largest first, so that the last ones to run are short."""
        which = np.repeat(np.arange(len(first) - 1), np.diff(first))
        person = np.unique(data.owner, return_inverse=True)[1][members]
        pairs = np.unique(which * len(data) + person)
        people = np.bincount(pairs // max(1, len(data)), minlength=len(first) - 1)
        large = np.flatnonzero(people >= self.people)
        return large[np.argsort(-np.diff(first)[large], kind="stable")]

    def _cluster(self, classes: list[_Class], most_outliers: int, engine: Engine) -> tuple[list[IntArray], Relaxed]:
        """Return the clusters of every class at the first radius that leaves few enough outliers."""
        engine.progress("measuring distances")
        # Two levels of parallel work: small classes are one task each; a class that is larger than a block is measured
        # alone, cut into pieces that share its tree.
        small = [c for c in classes if c.n <= _BLOCK]  # they come last
        classes[len(classes) - len(small) :] = engine.map(lambda c: c.measured(self.people), small)
        for i, c in enumerate(classes[: len(classes) - len(small)]):
            classes[i] = c.measured_on(engine, self.people)
        labels: list[IntArray] = []

        def few_outliers(radius: float, restarts: int) -> bool:
            # A trajectory whose k - 1 nearest people are beyond the radius is in no cluster, whatever the pivots. If
            # these are already too many, clustering need not be tried at this radius.
            if sum(c.beyond(radius) for c in classes) > most_outliers:
                return False
            engine.progress("clustering", restarts)
            labels[:] = engine.map(lambda c: c.cluster(self.people, radius), classes)
            return sum(int((own < 0).sum()) for own in labels) <= most_outliers

        return labels, relax(self.first_radius, self.radius_growth, few_outliers)

    def _move(
        self,
        data: Points,
        begin: IntArray,
        end: IntArray,
        label: IntArray,
        places: Offsets,
        engine: Engine,
    ) -> tuple[Points, float]:
        """Return the data that is published, and the sum of all ways that points were moved."""
        members, first = members_of(label)
        half = half_width(self.delta, data.frame)
        mec = self.center == "mec"
        # 256 clusters make one task. Nothing is shared between clusters, so a task gets the rows of its members alone.
        cuts = first[np.append(np.arange(0, len(first) - 1, 256), len(first) - 1)].tolist()
        parts = [members[a:b] for a, b in pairwise(cuts)]
        pieces = [
            (_picked(data, begin[part], end[part]), first[i : i + 257] - first[i], places.of(part))
            for i, part in zip(range(0, len(first) - 1, 256), parts, strict=True)
        ]
        moved = engine.map(lambda piece: _moved(*piece, half, mec), pieces)
        way = float(np.concatenate([ways for _, _, ways in moved]).sum())
        offsets = offsets_of(np.where(label >= 0, end - begin, 0))
        x = np.empty(offsets[-1])
        y = np.empty(offsets[-1])
        # From the last to the first, so that each result can be dropped as soon as it is copied: the peak is one copy
        # of the points, not two.
        for part in reversed(parts):
            rows = take(offsets, part)[1]
            x[rows], y[rows], _ = moved.pop()  # what is put in its place is not held twice
        in_cluster = label >= 0
        t = data.t[np.arange(offsets[-1]) + np.repeat((begin - offsets[:-1])[in_cluster], (end - begin)[in_cluster])]
        return replace(data, offsets=offsets, t=t, x=x, y=y, known=None), way


def _cut(data: Points, nonempty: BoolArray, pi: int) -> tuple[IntArray, IntArray]:
    """Return the rows of every trajectory that is held, from the first multiple of pi to the last one."""
    begin = data.offsets[:-1]
    end = data.offsets[1:]
    if pi == 1:
        return begin, np.where(nonempty, end, begin)
    # A trajectory is cut to the rows from its first to its last timestamp that is a multiple of pi. With fewer than two
    # of these nothing is left of it (CUT_OFF): one point is no movement.
    suitable = np.flatnonzero(data.t % pi == 0)
    low = np.searchsorted(suitable, begin)
    high = np.searchsorted(suitable, end)
    pair = nonempty & (high - low >= 2)
    begin, end = begin.copy(), begin.copy()
    begin[pair] = suitable[low[pair]]
    end[pair] = suitable[high[pair] - 1] + 1
    return begin, end


def _round_times(data: Points, nonempty: BoolArray) -> list[int]:
    """Return the times that `auto` tries, from 1 on: round ones on a clock; for plain integers multiples of a step."""
    scale = seconds_per_unit(data.time_format)
    if scale is not None:
        return [1, *(round(seconds / scale) for seconds in _CLOCK_S)]
    step = usual_step(data.where(np.repeat(nonempty, np.diff(data.offsets))))
    return [1, *(step * many for many in _STEPS)]


def _in_words(pi: int, data: Points) -> str:
    """Return a time as a recipe writes it."""
    scale = seconds_per_unit(data.time_format)
    if scale is None:
        return str(pi)
    seconds = round(pi * scale)
    return f"{seconds // 3600}h" if seconds % 3600 == 0 else f"{seconds // 60}min"


def _picked(data: Points, begin: IntArray, end: IntArray) -> TrajectoryRows:
    return TrajectoryRows(begin=begin, end=end, columns=(data.x, data.y))


def _moved(
    points: TrajectoryRows, first: IntArray, places: Offsets, half: float, use_mec: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the points of some clusters where they are published, and the way moved per cluster."""
    offsets, (x, y) = points.packed()
    members = np.arange(len(offsets) - 1)
    rows = PlanarPoints(x, y, offsets[:-1], offsets[1:])
    clusters = ClusterMembers(members, first)
    offset = DiskOffset(places.x, places.y)
    moved = translate(rows, clusters, half, use_mec, offset, 0, len(first) - 1)
    return x, y, moved


def _from_pivot(data: Points, begin: IntArray, end: IntArray, label: IntArray) -> FloatArray:
    """Return how far every trajectory of a cluster is from its pivot, as a mean of squares; the pivot is nearest."""
    far = np.zeros(len(label))
    for i in np.flatnonzero((label >= 0) & (label != np.arange(len(label)))).tolist():
        pivot = label[i]
        across = data.x[begin[i] : end[i]] - data.x[begin[pivot] : end[pivot]]
        along = data.y[begin[i] : end[i]] - data.y[begin[pivot] : end[pivot]]
        far[i] = np.mean(across * across + along * along)
    # A pivot is never the one that goes: all distances of its cluster are distances to it.
    far[label == np.arange(len(label))] = -1.0
    return far


def classes_of(t: IntArray, begin: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """Return (members, first) of the classes of trajectories with the same timestamps; those without rows are in none.

    Examples
    --------
    >>> members, first = classes_of(np.array([0, 1, 0, 2, 0, 1]), np.array([0, 2, 4]), np.array([2, 4, 6]))
    >>> members.tolist(), first.tolist()
    ([0, 2, 1], [0, 2, 3])
    """
    nonempty = np.flatnonzero(end > begin)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_scramble(t), dtype=np.uint64)])
    begin = begin[nonempty]
    end = end[nonempty]
    # Equal lists of times have equal lengths, ends and checksums, so sorting by these brings them side by side in O(n
    # log n), without a look at all rows of all pairs.
    order = np.lexsort((sums[end] - sums[begin], t[end - 1], t[begin], end - begin)) if len(nonempty) else nonempty
    # the sums only bring equal ones together: whether timestamps are equal is seen from the timestamps
    same = same_times(t, np.ascontiguousarray(begin[order]), np.ascontiguousarray(end[order]))
    return nonempty[order], np.append(np.flatnonzero(same == 0), len(nonempty))


def _scramble(t: IntArray) -> Any:
    """Return numbers whose sums differ for different sets of times, almost always."""
    # The finaliser of splitmix64: consecutive times become numbers without a pattern, so that sums of different sets
    # rarely agree.
    mixed = t.astype(np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return mixed


@dataclass(frozen=True, kw_only=True, eq=False)
class _Raw:
    """Trajectories with the same timestamps, their owners, and which of them is the first pivot."""

    rows: TrajectoryRows
    owner: IntArray
    first: int


@dataclass(frozen=True, kw_only=True, eq=False)
class _Class:
    """Trajectories with the same timestamps in the order of a tree, and what is known of their distances."""

    length: int
    first: int
    tree: Tree
    rows: FloatArray
    owner: IntArray
    core: FloatArray
    group: FloatArray

    @property
    def n(self) -> int:
        return len(self.owner)

    @classmethod
    def of(cls, raw: _Raw) -> _Class:
        begin, (x, y) = raw.rows.begin, raw.rows.columns
        n = len(begin)
        length = int(raw.rows.end[0] - begin[0])

        def rows_of(which: IntArray) -> FloatArray:
            at = begin[which][:, None] + np.arange(length)
            return np.concatenate([x[at], y[at]], axis=1)

        sketch, slack = _sketches(rows_of, n, length)
        levels = max(0, int(np.ceil(np.log2(n / _LEAF))))
        # The tree is built on sketches of a few numbers, and rows are stored in its order: a leaf is then one stretch
        # of memory.
        order, begins, ends, low, high = build_tree(sketch, levels)
        rows = np.empty((n, 2 * length))
        for a in range(0, n, _BLOCK):
            rows[a : a + _BLOCK] = rows_of(order[a : a + _BLOCK])
        return cls(
            length=length,
            first=int(np.flatnonzero(order == raw.first)[0]),
            tree=Tree(order, begins, ends, low, high, np.ascontiguousarray(sketch[order]), slack),
            rows=rows,
            owner=np.ascontiguousarray(raw.owner[order]),
            core=np.zeros(0),
            group=np.zeros(0),
        )

    def measured(self, k: int) -> _Class:
        """Return the class with what tells at which radius each trajectory can be in a cluster."""
        core = core_distances(self.tree, self.rows, self.owner, k - 1, 0, self.n)
        return replace(self, core=core, group=group_distances(self.tree, self.rows, core, 0, self.n))

    def measured_on(self, engine: Engine, k: int) -> _Class:
        """Return the same, by pieces."""
        pieces = [(a, min(a + _BLOCK, self.n)) for a in range(0, self.n, _BLOCK)]
        pieces_measured = engine.map(
            lambda piece: core_distances(self.tree, self.rows, self.owner, k - 1, *piece), pieces
        )
        core = np.concatenate(pieces_measured)
        pieces_measured = engine.map(lambda piece: group_distances(self.tree, self.rows, core, *piece), pieces)
        return replace(self, core=core, group=np.concatenate(pieces_measured))

    def beyond(self, radius: float) -> int:
        """Return how many trajectories can be in no cluster of this radius, whatever the pivots."""
        return int((self.group > radius * radius * self.length).sum())

    def cluster(self, k: int, radius: float) -> IntArray:
        """Return, for every member, the number of the member that is the pivot of its cluster, or -1."""
        # Kernels compare sums of squares over all timestamps; the radius is a root mean square per timestamp.
        most = radius * radius * self.length
        label = greedy_clusters(self.tree, self.rows, self.owner, self.core, k, most, self.first)
        cluster_of = np.empty(self.n, np.int64)
        cluster_of[self.tree.order] = np.where(label < 0, -1, self.tree.order[label])
        return cluster_of


def _sketches(rows_of: Any, n: int, length: int) -> tuple[FloatArray, float]:
    """Return a few numbers per trajectory whose distances are never above the true ones, and the slack for rounding.

    The coordinates along the principal components of a sample, and the length of what is left: two trajectories whose
    rests have lengths a and b are at least the difference of a and b apart.
    """
    if n <= 4 * _LEAF:
        return np.zeros((n, 1)), 0.0
    sample = rows_of(np.arange(0, n, -(-n // _SAMPLE)))
    middle = sample.mean(axis=0)
    sample -= middle
    # Principal components of a sample by its small Gram matrix: trajectories have thousands of coordinates, the sample
    # has few rows. Any orthonormal axes would give a lower bound of distances; these give a tight one.
    leading = np.linalg.eigh(sample @ sample.T)[1][:, ::-1][:, : min(_SKETCH, 2 * length)]
    axes = np.linalg.qr(sample.T @ leading)[0]
    sketch = np.empty((n, axes.shape[1] + 1))
    largest = 0.0
    for a in range(0, n, _BLOCK):
        rows = rows_of(np.arange(a, min(a + _BLOCK, n))) - middle
        along = rows @ axes
        sketch[a : a + _BLOCK, :-1] = along
        sketch[a : a + _BLOCK, -1] = np.linalg.norm(rows - along @ axes.T, axis=1)
        largest = max(largest, float(np.abs(rows).max()))
    # What rounding in the projections can add up to. A bound that is too high by rounding would prune a neighbour, so
    # the search allows this much slack.
    error = 16 * (2 * length + 64) * np.finfo(float).eps * largest * np.sqrt(2 * length)
    return sketch, error * error * (1e6 + 1)
