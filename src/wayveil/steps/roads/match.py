"""Match: GPS points become routes on a road network."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.roads.map_matching import Candidates, Model, Track, choose_candidates, gather_points
from wayveil.kernels.roads.near_roads import near_roads
from wayveil.kernels.roads.road_paths import Matched, join_candidates
from wayveil.model import Points, RoadNetwork, Routes, Step, check_parameters, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.steps.points.split import check_spans
from wayveil.steps.roads.matching_roads import MatchingRoads, matching_roads

__all__ = ["Match"]

_MOST_CANDIDATES = 64
_POINTS_OF_A_BLOCK = 5_000
_APART = 4.0  # standard deviations within which points are one position
_MOST_WEIGHT = 9.0  # noise of neighbouring points is alike, so that the mean of many is not as good as their number
_USUAL_RADIUS_M = 50.0

_USUAL_NOISE_M = 10.0
_USUAL_COUNTS = 2.0  # as how many points of a trajectory the usual noise counts when its own is estimated
_STEPS = (0, 4)  # estimates are the usual noise times roots of two, 10, 14, 20, 28 or 40 m: less finds no more roads
_FIRST_STEP = 2
_ROUNDS = 3
_POINTS_OF_AN_ESTIMATE = 200
_MUCH_NOISE_M = 25.0
_OF_A_NORMAL = 1.4826  # standard deviation of a normal distribution over the median of its absolute values
_NEARER = 1.1  # distances are to the nearest road of the route, at times not the one driven: too small by this

_FEWEST_POINTS = 100  # below which notes say nothing about the noise, and routes are not doubted
_MUCH_DETOUR = 0.1
_MUCH_TURNING = 0.05
_MANY_FAR = 0.2
_MANY_BACK = 0.4  # independent places in a square: 0.58; drives that turn at random, a point every 30 s: 0.31
_COSINE_BACK = -0.5  # of 120 degrees
_FEWEST_POSITIONS = 20  # with one before and one after, below which the share that turns back says little


class _Block(NamedTuple):
    """The trajectories with the numbers `source`, whose rows begin at 0 here."""

    source: IntArray
    offsets: IntArray
    t: IntArray
    x: FloatArray
    y: FloatArray


class _Counts(NamedTuple):
    """What happened to points and ways; lengths in metres.

    `between` counts positions with one before and one after, and `back` those of them where the line turns back.
    """

    near: int
    breaks: int
    between: int
    back: int
    way_m: float
    detour_m: float


@dataclass(frozen=True, kw_only=True)
class Match(Step):
    """Find the roads that people drove along, from noisy points and a road network.

    Parameters
    ----------
    radius : float, > 0, or "auto"
        Metres.  Only roads that come so near to a point can be the road of that point; a point without any is left out.
        With "auto" four times the noise, and at least 50.
    noise : float, > 0, or "auto"
        Standard deviation of the points from the road, in metres.  With "auto" it is estimated for each trajectory
        from its own points, so that the route of one person does not depend on the points of others.
    beta : float, > 0
        By how many metres the way between two points usually differs from the straight line between them, where they
        are near each other; a fifth of the straight line is added.  The larger, the more detours are believed rather
        than noise.
    max_detour : float, >= 0
        Metres.  A way that is longer than the straight line by more than that is no way; where there is none, the
        trajectory is cut.
    u_turn : float, >= 0
        As how many metres of way it counts to turn around into the other direction of a street.

    Notes
    -----
    The hidden Markov model of Newson and Krumm, *Hidden Markov map matching through noise and sparseness* (2009): of
    all sequences of positions on roads, one for each point, the one with the smallest sum of ``(distance / noise)^2 /
    2`` over points and ``|way - straight line| / beta`` over pairs of consecutive points, by Viterbi's algorithm.  The
    way is the shortest on the directed network, without turns that the network does not allow.  For each position the
    64 nearest roads are tried.  Lengths are those of the drawn roads, in the frame of the points.  It departs from the
    paper in six ways, which `docs/research/studies/match.md` measures:

    - The paper drops points within ``2 * noise`` of the last one used; here points within ``4 * noise`` of the first of
      them are one position, their mean.  A mean of n points counts n times, at most nine.
    - `beta` grows with the distance between positions: detours do.
    - What a way is *shorter* than the straight line counts 0.3 times: noise makes lines longer, not ways shorter.
    - Turning around at a node costs `u_turn`.
    - Going back by up to ``2 * radius`` on one road is taken for noise and the way for 0: points that come late would
      else mean a way around the block.
    - With "auto", the noise is 1.4826 times the median distance of points from the roads that they are matched to, as
      in the paper, but of each trajectory alone, in up to three rounds from 20 m on, from at most 200 points spread
      evenly over it.  A tenth is added, as the nearest road of a route is not always the one driven.  Few points say
      little: 10 m count as two more of them, by squares.  The result is rounded to 10, 14, 20, 28 or 40 m.

    A route has all roads on the way, also those without a point, so each road begins where the one before ends.  A road
    that is only touched by the first or the last point, at its node, is left out.  A part in which nobody moves along a
    road, such as a single point, has no direction and is dropped.  The time of entering a road is interpolated by
    length; the first road of a part is entered at the time of its first point.  The slice of time of a route goes from
    its first to its last time, as in routes that are read from a file: `slices` makes slices that people share.

    A note warns where the result looks invented: where more than 10 % of the matched length belongs to ways that are
    more than twice as long as the straight line (and ``2 * radius``), more than 5 % of the roads turn around, more than
    20 % of the points have no road near them, the noise is estimated to be more than 25 m, or at more than 40 % of the
    positions the line to the next one turns back by more than 120 degrees.  Who drives keeps a direction for some
    positions; of independent places in a square more than half turn back like that, however far apart they are.

    O(positions x candidates^2) time and as many short searches; the trajectories are cut into blocks for all cores, and
    the result does not depend on the number of cores.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> network = RoadNetwork.from_roads(
    ...     [("ab", "a", "b"), ("ba", "b", "a"), ("bc", "b", "c"), ("cb", "c", "b")],
    ...     places={"a": (0, 0), "b": (100, 0), "c": (200, 0)},
    ... )
    >>> data = Points.from_records([[(0, 20, 4), (10, 70, -3), (20, 170, 5)]])
    >>> routes, notes = Match().run(data, network=network)
    >>> routes.record(0), routes.t.tolist()
    (['ab', 'bc'], [0, 13])
    >>> notes
    ('3 points became 2 roads in 1 trajectory.',)
    """

    radius: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto",),
        default="auto",
        help="metres from a point to the farthest road that it may be on; auto is four times the noise, at least 50",
    )
    noise: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto",),
        default="auto",
        help="standard deviation of points from the road, in metres; auto estimates it for each trajectory",
    )
    beta: float = parameter(
        kind="number",
        low=0,
        default=10.0,
        help="metres by which the way between two near points usually differs from the straight line",
    )
    max_detour: float = parameter(
        kind="number",
        low=0,
        default=2000.0,
        help="metres by which a way may be longer than the straight line; cut where there is none",
    )
    u_turn: float = parameter(
        kind="number", low=0, default=100.0, help="as how many metres of way it counts to turn around"
    )

    name: ClassVar[str] = "match"
    summary: ClassVar[str] = "find the roads that people drove along, from points and a road network"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Routes]] = Routes
    needs_network: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        for name in ("radius", "noise", "beta"):
            if getattr(self, name) == 0:
                raise ParameterError(f"match: {name} must be greater than 0, got 0.")

    def run(self, data: Points, *, network: RoadNetwork) -> tuple[Routes, tuple[str, ...]]:
        """Return the routes, and notes that count what was done."""
        routes, notes, _ = self.run_with_origin(data, network=network)
        return routes, notes

    def run_with_origin(self, data: Points, *, network: RoadNetwork) -> tuple[Routes, tuple[str, ...], IntArray]:
        """Return the routes, notes, and for every route the trajectory that it comes from."""
        check_spans(self.name, data)
        roads = matching_roads(data, network, self.u_turn)
        everybody = np.arange(len(data))
        # Kernels run without the interpreter lock, so threads are enough. Trajectories with the same noise are matched
        # together, because noise is one number of the model; blocks depend on the data alone, so that the result does
        # not depend on the number of cores.
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            if isinstance(self.noise, str):
                pieces = pool.map(lambda block: self._own_noise(block, roads), _blocks(data, everybody))
                noise = np.concatenate(list(pieces))
            else:
                noise = np.full(len(data), self.noise)
            tasks = [(block, one) for one in _levels(noise) for block in _blocks(data, everybody[noise == one])]
            matches = list(pool.map(lambda task: self._match(task[0], roads, task[1]), tasks))
        counts = _Counts(*(sum(column) for column in zip(*(count for _, count in matches), strict=True)))
        radius = self._radius(float(noise.max(initial=0.0)))
        if data.n_rows and counts.near == 0:
            raise InputError(
                f"match: none of {data.n_rows:,} points lies within {radius:.3g} m of a road. Points and network "
                "must be of one area and in one coordinate system."
            )
        # Blocks were sorted by noise; routes go back to the order of their trajectories.
        source, lengths, road, t = _in_order([part for part, _ in matches])
        moved = lengths > 0
        origin = source[moved]
        offsets = offsets_of(lengths[moved])
        routes = Routes(
            offsets=offsets,
            road=road,
            t=t,
            t_start=t[offsets[:-1]],
            t_end=t[offsets[1:] - 1],
            network=network,
            owner=data.owner[origin],
            attributes={name: a.take(origin) for name, a in data.attributes.items()},
            time_format=data.time_format,
            owners=data.owners,
        )
        notes = _notes(data, routes, origin, counts, radius, int(np.count_nonzero(~moved)))
        usual = 0.0
        if isinstance(self.noise, str) and data.n_rows >= _FEWEST_POINTS:
            usual = float(np.quantile(np.repeat(noise, np.diff(data.offsets)), 0.5, method="lower"))
            notes.append(f"The noise was estimated for each trajectory; at the median point it is {usual:.3g} m.")
        notes += _doubts(data, routes, counts, usual, roads)
        return routes, tuple(notes), origin

    def _radius(self, noise: float) -> float:
        return max(_USUAL_RADIUS_M, 4 * noise) if isinstance(self.radius, str) else self.radius

    def _own_noise(self, block: _Block, roads: MatchingRoads) -> FloatArray:
        """Return the noise of each trajectory, estimated from its own points.

        A round matches trajectories with the noise so far, and measures how far their points are from the roads they
        were matched to; those for which this is another noise go into the next round.  The first one begins with much:
        too little noise puts side streets under stray points, which then seem to be near their roads.
        """
        block = _thinned(block)
        step = np.full(len(block.source), _FIRST_STEP)
        open_ = np.arange(len(step))
        for _ in range(_ROUNDS):
            before = step.copy()
            for one in np.unique(step[open_]).tolist():
                mine = open_[before[open_] == one]
                step[mine] = self._measured(_part(block, mine), roads, float(_noise_of(one)))
            open_ = open_[step[open_] != before[open_]]
        return _noise_of(step)

    def _measured(self, block: _Block, roads: MatchingRoads, noise: float) -> IntArray:
        """Return the noise of each trajectory as a step, once they are matched with the given noise."""
        matched, _ = self._match(block._replace(source=np.arange(len(block.source))), roads, noise)
        first, road, _, away = near_roads(block.x, block.y, roads.tree, self._radius(noise), _MOST_CANDIDATES)
        row = trajectory_of_row(first)
        of = trajectory_of_row(block.offsets)[row]
        # Trajectory and road packed into one number: which roads were chosen for whom.
        used = np.repeat(matched.source, matched.n_roads) * len(roads.length) + matched.road
        here = np.isin(of * len(roads.length) + road, used)
        row, of, away = row[here], of[here], away[here]
        nearest = np.diff(row, prepend=-1) > 0  # candidates come by distance
        of, away = of[nearest], away[nearest]
        count = np.bincount(of, minlength=len(block.source))
        away = np.append(away[np.lexsort((away, of))], 0.0)
        begin = np.cumsum(count) - count
        # The median, not the mean: a few points that were matched to the wrong road must not decide. It is made a
        # standard deviation by the factors of a normal distribution and of the nearest road.
        median = (away[begin + np.maximum(count - 1, 0) // 2] + away[begin + count // 2]) / 2
        own = (_NEARER * _OF_A_NORMAL * median) ** 2
        # With few points the usual noise counts for so many further ones: an estimate from three points is no estimate.
        variance = (count * own + _USUAL_COUNTS * _USUAL_NOISE_M**2) / (count + _USUAL_COUNTS)
        return np.clip(np.rint(np.log2(variance / _USUAL_NOISE_M**2)), *_STEPS).astype(np.int64)

    def _match(self, block: _Block, roads: MatchingRoads, noise: float) -> tuple[Matched, _Counts]:
        """Match the trajectories of a block."""
        radius = self._radius(noise)
        # Newson and Krumm (2009): points too near to each other are gathered into one position first (they carry no
        # direction, only noise), each position gets candidates on the roads around it, and the Viterbi path through the
        # candidates is the route.
        usable = np.diff(near_roads(block.x, block.y, roads.tree, radius, 1)[0])
        track = gather_points(block.offsets, block.x, block.y, usable, _APART * noise, noise, _MOST_WEIGHT)
        candidates = Candidates(*near_roads(track.x, track.y, roads.tree, radius, _MOST_CANDIDATES))
        track, candidates = _with_candidates(track, candidates)
        slack = 2 * radius
        model = Model(noise, float(self.beta), float(self.max_detour), slack)
        chosen, begins = choose_candidates(track, candidates, roads.graph, model)
        matched = join_candidates(track, block.t, candidates, chosen, begins, roads.graph, slack)
        straight = np.hypot(np.diff(track.x, prepend=0.0), np.diff(track.y, prepend=0.0))
        # What is counted for the warning: a way of more than twice the straight line is possible, but many of them mean
        # that the network lacks roads or that noise is taken for movement.
        is_detour = (begins == 0) & (matched.way_m > 2 * straight + 2 * radius)
        between, back = _turned_back(track)
        counts = _Counts(
            near=int(usable.sum()),
            between=between,
            back=back,
            breaks=int(np.count_nonzero(begins) - np.count_nonzero(np.diff(track.start))),
            way_m=float(matched.way_m.sum()),
            detour_m=float(matched.way_m[is_detour].sum()),
        )
        return matched._replace(source=block.source[matched.source]), counts


def _notes(data: Points, routes: Routes, source: IntArray, counts: _Counts, radius: float, still: int) -> list[str]:
    many = f"{len(routes):,} {'trajectory' if len(routes) == 1 else 'trajectories'}"
    notes = [f"{data.n_rows:,} points became {routes.n_rows:,} road{'s' * (routes.n_rows != 1)} in {many}."]
    far = data.n_rows - counts.near
    if far:
        verb = "was left out: it has" if far == 1 else "were left out: they have"
        notes.append(f"{far:,} of {data.n_rows:,} points {verb} no road within {radius:.3g} m.")
    if counts.breaks:
        place = "place" if counts.breaks == 1 else "places"
        notes.append(f"Trajectories were cut at {counts.breaks:,} {place} where no way on the network fits the points.")
    if still:
        parts = "1 part of a trajectory was" if still == 1 else f"{still:,} parts of trajectories were"
        notes.append(f"{parts} dropped: {'it shows' if still == 1 else 'they show'} no way along a road.")
    n_lost = len(data) - len(np.unique(source))
    if n_lost:
        notes.append(f"{n_lost:,} of {len(data):,} trajectories {'has' if n_lost == 1 else 'have'} no route.")
    return notes


def _doubts(data: Points, routes: Routes, counts: _Counts, noise: float, roads: MatchingRoads) -> list[str]:
    """Return a warning where the routes look invented, with the reasons."""
    if data.n_rows < _FEWEST_POINTS:
        return []
    reasons = []
    detours = counts.detour_m / counts.way_m if counts.way_m else 0.0
    if detours > _MUCH_DETOUR:
        reasons.append(f"{detours:.0%} of the matched length are detours of more than twice the straight line")
    same = trajectory_of_row(routes.offsets)
    turns = (roads.opposite[routes.road[:-1]] == routes.road[1:]) & (same[1:] == same[:-1])
    turning = np.count_nonzero(turns) / max(routes.n_rows, 1)
    if turning > _MUCH_TURNING:
        reasons.append(f"people turn around on {turning:.0%} of the roads")
    far = 1 - counts.near / data.n_rows
    if far > _MANY_FAR:
        reasons.append(f"{far:.0%} of the points have no road near them")
    back = counts.back / max(counts.between, _FEWEST_POSITIONS)
    if back > _MANY_BACK:
        reasons.append(f"at {back:.0%} of the positions the points turn back by more than 120 degrees")
    if noise > _MUCH_NOISE_M:
        reasons.append(f"points lie {noise:.0f} m (standard deviation) from their roads")
    if not reasons:
        return []
    return [
        f"Warning: these routes look invented: {'; '.join(reasons)}. Check that the network has all roads of the area "
        "and that people drove on them, give noise its size (auto estimates it), use clean with max_speed first, or "
        "give more points."
    ]


def _turned_back(track: Track) -> tuple[int, int]:
    """Return how many positions have one before and one after, and at how many the line turns by over 120 degrees."""
    dx = np.diff(track.x)
    dy = np.diff(track.y)
    of = trajectory_of_row(track.start)
    between = of[2:] == of[:-2]
    ahead = dx[1:] * dx[:-1] + dy[1:] * dy[:-1]
    step = np.hypot(dx, dy)
    back = ahead < _COSINE_BACK * (step[1:] * step[:-1])
    return int(np.count_nonzero(between)), int(np.count_nonzero(between & back))


def _noise_of(step: IntArray | int) -> FloatArray:
    """Return the noise of steps by a root of two each."""
    return np.asarray(_USUAL_NOISE_M * np.sqrt(2.0) ** step)


def _levels(noise: FloatArray) -> list[float]:
    """Return each noise once; without trajectories any."""
    return np.unique(noise).tolist() or [_USUAL_NOISE_M]


def _in_order(parts: list[Matched]) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return source, number of roads, roads and times of all parts, in the order of the trajectories."""
    source, lengths, road, t = (np.concatenate(column) for column in list(zip(*parts, strict=True))[:4])
    order = np.argsort(source, kind="stable")
    rows = _rows(offsets_of(lengths)[:-1][order], lengths[order])
    return source[order], lengths[order], road[rows], t[rows]


def _rows(begin: IntArray, count: IntArray) -> IntArray:
    """Return `count` consecutive rows from each `begin` on."""
    offsets = offsets_of(count)
    return np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], count)


def _blocks(data: Points, source: IntArray) -> list[_Block]:
    """Return trajectories in blocks that are matched at once."""
    whole = _Block(np.arange(len(data)), data.offsets, data.t, data.x, data.y)
    size = np.diff(data.offsets)[source]
    return [_part(whole, source[begin:end]) for begin, end in _cuts(offsets_of(size))]


def _part(block: _Block, picked: IntArray) -> _Block:
    """Return some trajectories of a block."""
    size = np.diff(block.offsets)[picked]
    rows = _rows(block.offsets[picked], size)
    return _Block(block.source[picked], offsets_of(size), block.t[rows], block.x[rows], block.y[rows])


def _thinned(block: _Block) -> _Block:
    """Return the trajectories with every n-th point, so that each has few enough for an estimate."""
    size = np.diff(block.offsets)
    # For an estimate of noise some hundred points are as good as all, and matching is what costs.
    every = np.maximum(1, -(-size // _POINTS_OF_AN_ESTIMATE))
    number = np.arange(len(block.t)) - np.repeat(block.offsets[:-1], size)
    stays = number % np.repeat(every, size) == 0
    return _Block(block.source, offsets_of(-(-size // every)), block.t[stays], block.x[stays], block.y[stays])


def _with_candidates(track: Track, candidates: Candidates) -> tuple[Track, Candidates]:
    """Return the positions that have a road near them: a mean can be farther away than its points."""
    some = np.diff(candidates.first) > 0
    start = offsets_of(some.astype(np.int64))[track.start]
    columns = (column[some] for column in track[1:])
    first = np.append(candidates.first[:-1][some], candidates.first[-1])
    return Track(start, *columns), candidates._replace(first=first)


def _cuts(offsets: IntArray) -> Iterator[tuple[int, int]]:
    """Cut trajectories into at least one block, of about equally many points; the cuts depend on the data alone."""
    begin = 0
    n = len(offsets) - 1
    while begin < n or begin == 0:
        full = int(np.searchsorted(offsets, offsets[begin] + _POINTS_OF_A_BLOCK, side="right")) - 1
        end = min(max(full, begin + 1), n)
        yield begin, end
        begin = max(end, 1)
