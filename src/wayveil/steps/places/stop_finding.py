"""Stops: GPS points become the places where people stopped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.steps.staypoints import stay_stretches
from wayveil.kernels.steps.stop_detection import Steps, slow_stretches
from wayveil.model import Points, Step, Stops, Taxonomy, check_parameters, duration_units, parameter, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.model.places.places import Places
from wayveil.steps.places.place_index import PlaceIndex
from wayveil.steps.points.split import check_spans

__all__ = ["FindStops"]

_LARGEST_M = 1e70  # products of four coordinates must stay finite


class _Stretches(NamedTuple):
    """First and last rows of stretches of points, in order, with a place each (-1 where none is known)."""

    first: IntArray
    last: IntArray
    place: IntArray

    def where(self, keep: BoolArray) -> _Stretches:
        return _Stretches(self.first[keep], self.last[keep], self.place[keep])


@dataclass(frozen=True, kw_only=True)
class FindStops(Step):
    """Find where people stopped, from points and a table of places.

    Parameters
    ----------
    method : {"smot", "staypoint", "cbsmot", "direction"}
        `smot`: being inside a place for its minimum time.  `staypoint`: staying near one position for a while, then the
        place.  `cbsmot`: stretches of low speed, then the place.  `direction`: stretches of many turns, then the place.
    min_stay : str
        A duration: how long a stop lasts at least.  With `smot`, a place's own minimum comes first.
    radius : float, > 0
        Metres around places that are points and have no radius of their own.
    stay_radius : float, > 0
        With `staypoint`: how far a point may be from the mean of the stay so far, in metres; a stay is at most twice as
        wide and high.
    max_stray : int, >= 0
        With `staypoint`: so many points in a row may lie outside, if the next one is inside again.
    merge_gap : str
        With `staypoint`: a duration; two stays near each other with at most so much time between them are one.  "auto"
        is `min_stay`.
    speed : float, > 0
        With `cbsmot`: the mean speed of a stretch, as a share of that of its trajectory, is at most this.
    max_speed : float, > 0
        With `cbsmot`: no step between two points of a stretch is faster than this share of the same mean.
    min_turn : float, 0 to 180
        With `direction`: a point is a turn if the direction changes by more than so many degrees there.
    max_tolerance : int, >= 0
        With `direction`: so many points in a row may be no turns.
    max_distance : float, >= 0
        With all but `smot`: a stretch without a place inside takes the one whose centre is nearest to its middle, if it
        is not farther away than so many metres.

    For times that are plain integers a duration is an integer in their unit; for epoch seconds an integer means
    seconds.

    Notes
    -----
    A place that is a polygon holds what is inside, on, or within its radius of its border; any other what is within its
    radius of its centre.  A point that is in several places is taken to be in the one whose centre is nearest, of
    centres as near in the one that comes first in the table; so a small place inside a large one has the points
    around its centre, and where the centres coincide the first one has all.

    `smot` follows Alvares et al. (2007): a maximal run of consecutive points in one place, from whose first to whose
    last point at least the minimum time passes.

    `staypoint` is after Li et al. (2008): a stay is a stretch of points within a distance for a time.  Here the
    distance is to the mean of the points so far, not to the first one, which may be a bad one; single points farther
    away are passed over; stays that were torn apart are joined; and none is wider than twice the radius.  Nothing
    depends on the speed of the rest of the trip.

    `cbsmot` is after Palma et al. (2008), who cluster the points of a trajectory by speed.  A stretch grows from the
    slowest step that is not yet in any; it takes in the slower one of the two steps beside it, or else the other one,
    as long as its mean speed stays low enough and neither step is too fast.  What ends up shorter than `min_stay` is
    given up, and no other stretch grows from its steps.  The mean speed is that of the whole trajectory, rests
    included: of somebody who rests most of the time it is near 0, and little is slow beside it.

    `direction` is after Manso et al. (2010): a maximal stretch from turn to turn in which at most `max_tolerance`
    points in a row are none.  A step without length has no direction, so its ends are no turns.

    Of the places that a stretch of these three touches, the one in which most time passes between consecutive points of
    the stretch gets the stop; of places as long, the first in the table.  A place with a minimum of its own is passed
    over where that time (for the nearest place, that of the whole stretch) is shorter.  Stretches without any place are
    dropped and counted.

    A stop goes from its first to its last point.  Two stops at one place with no point between them are one.  What
    happens between two points is not known: somebody who is seen in a place in the evening and in the morning, and not
    in between, was there all night.  Where this is too much, cut trajectories at gaps before (`split` with
    `gap`; with `stay` it would take out what is looked for here).

    Trajectories without a stop stay, without rows.  O(points + places + candidates) time but for sorting, where the
    candidates of a point are the places that reach into its cell of a grid.

    Guarantee
    ---------
    None.

    References
    ----------
    L. O. Alvares et al., *A model for enriching trajectories with semantic geographical information*, ACM-GIS (2007);
    Q. Li et al., *Mining user similarity based on location history*, ACM-GIS (2008);
    A. T. Palma et al., *A clustering-based approach for discovering interesting places in trajectories*, SAC (2008);
    J. A. Manso et al., *DB-SMoT: a direction-based spatio-temporal clustering method*, IEEE IS (2010).

    Examples
    --------
    >>> places = Places(name=("P1", "C1"), node=("Park", "Clinic"), x=[0, 100], y=[0, 0], radius_m=[0, 0],
    ...                 min_stay=[np.nan, np.nan])
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place"), ("P1", "Park"),
    ...                               ("C1", "Clinic")], sensitive=["Clinic"])
    >>> data = Points.from_records([[(0, 1, 0), (9, 2, 0), (10, 50, 0), (11, 99, 0), (12, 98, 0), (30, 99, 1)]])
    >>> stops, notes = FindStops(min_stay=5, radius=20).run(data, places=places, taxonomy=tree)
    >>> stops.record(0), stops.t.tolist(), stops.t_end.tolist()
    (['P1', 'C1'], [0, 11], [9, 30])
    >>> notes
    ('6 points became 2 stops in 1 of 1 trajectories.',)
    """

    method: str = parameter(
        kind="choice",
        choices=("smot", "staypoint", "cbsmot", "direction"),
        default="smot",
        help="what a stop is: time inside a place, time near one position, low speed, or many turns",
    )
    min_stay: str = parameter(kind="duration", default="10min", help="how long a stop lasts at least")
    radius: float = parameter(
        kind="number", low=0, default=50.0, help="metres around places that are points and have no radius of their own"
    )
    stay_radius: float = parameter(
        kind="number", low=0, default=100.0, help="staypoint: metres from the middle of a stop; at most twice as wide"
    )
    max_stray: int = parameter(
        kind="int", low=0, default=3, help="staypoint: points in a row of a stop that may lie outside"
    )
    merge_gap: str = parameter(
        kind="duration",
        choices=("auto",),
        default="auto",
        help="staypoint: stops near each other with at most this time between them are one; auto is min_stay",
    )
    speed: float = parameter(
        kind="number", low=0, default=0.5, help="cbsmot: mean speed of a stop, as a share of that of the trajectory"
    )
    max_speed: float = parameter(
        kind="number", low=0, default=1.0, help="cbsmot: speed of any step of a stop, as a share of the same"
    )
    min_turn: float = parameter(
        kind="number", low=0, high=180, default=30.0, help="direction: a turn changes the direction by more degrees"
    )
    max_tolerance: int = parameter(
        kind="int", low=0, default=2, help="direction: points in a row of a stop that may be no turns"
    )
    max_distance: float = parameter(
        kind="number",
        low=0,
        default=100.0,
        help="staypoint, cbsmot, direction: metres from a stop to the centre of the nearest place, where it is in none",
    )

    name: ClassVar[str] = "stops"
    summary: ClassVar[str] = "find the places where people stopped, from points and a table of places"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Stops]] = Stops
    needs_places: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        for name in ("radius", "stay_radius", "speed", "max_speed"):
            if getattr(self, name) == 0:
                raise ParameterError(f"stops: {name} must be greater than 0, got 0.")

    def run(self, data: Points, *, places: Places, taxonomy: Taxonomy) -> tuple[Stops, tuple[str, ...]]:
        """Return the stops at leaves of the taxonomy that have the names of places, and notes that count."""
        check_spans(self.name, data)
        node = _nodes(places, taxonomy)
        places = places.in_frame(data.frame)
        _check_size(data, places)
        stay = duration_units(self.name, "min_stay", self.min_stay, data.time_format)
        own = _own_stay(places, data)
        index = PlaceIndex(places, self.radius)
        # In which place each point is, or -1. SMoT begins with this and asks how long; the other methods look for stays
        # by movement first, and ask for the place afterwards.
        at = index.at(data.x, data.y)
        trajectory = trajectory_of_row(data.offsets)
        if self.method == "smot":
            # SMoT (Alvares et al. 2007): a stop is a run of points inside one place that lasts long enough, by the
            # place's own minimum where it has one.
            stretches = _runs(at, trajectory)
            least = np.where(np.isnan(own), stay, own)[stretches.place]
            known = stretches.where(data.t[stretches.last] - data.t[stretches.first] >= least)
            stretches = known
        else:
            first, last = self._stretches(data, trajectory, stay)
            stretches = self._placed(data, first, last, at, own, index)
            known = stretches.where(stretches.place >= 0)
        if data.n_rows and len(known.first) == 0 and (at < 0).all():
            raise InputError(
                f"stops: none of {data.n_rows:,} points is in any of {len(places):,} places. Points and places must be "
                "of one area and in one coordinate system."
            )
        known = _merged(known, trajectory)
        stops = Stops(
            offsets=offsets_of(np.bincount(trajectory[known.first], minlength=len(data))),
            place=node[known.place],
            t=data.t[known.first],
            t_end=data.t[known.last],
            taxonomy=taxonomy,
            owner=data.owner,
            attributes=data.attributes,
            time_format=data.time_format,
            owners=data.owners,
        )
        return stops, self._notes(data, stops, len(stretches.first), int((stretches.place < 0).sum()))

    def _stretches(self, data: Points, trajectory: IntArray, stay: int) -> tuple[IntArray, IntArray]:
        """Return the first and the last rows of what may be stops, before places are looked at."""
        if self.method == "cbsmot":
            return self._slow(data, stay)
        if self.method == "direction":
            return self._turning(data, trajectory, stay)
        gap = stay
        if self.merge_gap != "auto":
            gap = duration_units(self.name, "merge_gap", self.merge_gap, data.time_format)
        return stay_stretches(data.offsets, data.t, data.x, data.y, float(self.stay_radius), stay, self.max_stray, gap)

    def _slow(self, data: Points, stay: int) -> tuple[IntArray, IntArray]:
        """Return stretches of low speed, in order of time."""
        trajectory = trajectory_of_row(data.offsets)
        step = np.flatnonzero(trajectory[1:] == trajectory[:-1])
        length = np.zeros(data.n_rows)
        speed = np.zeros(data.n_rows)
        length[step] = np.hypot(data.x[step + 1] - data.x[step], data.y[step + 1] - data.y[step])
        speed[step] = length[step] / (data.t[step + 1] - data.t[step])
        # CB-SMoT (Palma et al. 2008) grows clusters from the slowest steps on; the order is needed once per trajectory.
        order = step[np.lexsort((speed[step], trajectory[step]))]
        steps = Steps(trajectory, data.t, length, speed, order)
        first, last = slow_stretches(data.offsets, steps, self.speed, self.max_speed, stay)
        in_time = np.argsort(first)
        return first[in_time], last[in_time]

    def _turning(self, data: Points, trajectory: IntArray, stay: int) -> tuple[IntArray, IntArray]:
        """Return stretches of turns."""
        dx = np.diff(data.x)
        dy = np.diff(data.y)
        turn = np.zeros(data.n_rows, np.bool_)
        cross = dx[:-1] * dy[1:] - dy[:-1] * dx[1:]
        dot = dx[:-1] * dx[1:] + dy[:-1] * dy[1:]
        sharp = np.degrees(np.abs(np.arctan2(cross, dot))) > self.min_turn
        moves = (dx != 0) | (dy != 0)
        # A change of direction needs two moves; noise around a standing point has none, as repeated positions have no
        # direction.
        turn[1:-1] = sharp & moves[:-1] & moves[1:] & (trajectory[2:] == trajectory[:-2])
        row = np.flatnonzero(turn)
        begins = np.ones(len(row), np.bool_)
        # Turns belong together as long as no more than `max_tolerance` points between them go straight on.
        begins[1:] = (np.diff(row) > self.max_tolerance + 1) | (np.diff(trajectory[row]) > 0)
        first = row[begins]
        last = row[np.append(np.flatnonzero(begins)[1:], len(row)) - 1] if len(row) else row
        long = data.t[last] - data.t[first] >= stay
        return first[long], last[long]

    def _placed(
        self, data: Points, first: IntArray, last: IntArray, at: IntArray, own: FloatArray, index: PlaceIndex
    ) -> _Stretches:
        """Return stretches with the place in which most of their time passes, or else the nearest one."""
        size = last - first + 1
        stretch = np.repeat(np.arange(len(first)), size)
        row = np.arange(len(stretch)) + np.repeat(first - offsets_of(size)[:-1], size)
        place = _longest(data.t, at, stretch, row, last, own)
        # A stay in no place goes to the nearest one, by its mean position, if that is near enough and the stay is long
        # enough for it.
        lost = np.flatnonzero(place < 0)
        middle = [np.bincount(stretch, v[row], len(first)) / np.maximum(size, 1) for v in (data.x, data.y)]
        near = index.nearest(middle[0][lost], middle[1][lost], self.max_distance)
        too_short = (
            data.t[last[lost]] - data.t[first[lost]] < own[near]
        )  # of no meaning where there is none: -1 stays -1
        place[lost] = np.where(too_short, -1, near)
        return _Stretches(first, last, place)

    def _notes(self, data: Points, stops: Stops, n_stops: int, unknown: int) -> tuple[str, ...]:
        some = int(np.count_nonzero(np.diff(stops.offsets)))
        many = f"{stops.n_rows:,} stop{'s' * (stops.n_rows != 1)}"
        notes = [f"{data.n_rows:,} points became {many} in {some:,} of {len(data):,} trajectories."]
        if unknown:
            what = {"staypoint": "staying", "cbsmot": "low speed", "direction": "many turns"}[self.method]
            verb = "was dropped: it is" if unknown == 1 else "were dropped: they are"
            notes.append(f"{unknown:,} of {n_stops:,} stretches of {what} {verb} at no known place.")
        return tuple(notes)


def _nodes(places: Places, taxonomy: Taxonomy) -> IntArray:
    """Return the node of each place."""
    if not isinstance(places, Places) or len(places) == 0:
        raise InputError("stops: a table with at least one place is needed; give it with --places.")
    code = {name: i for i, name in enumerate(taxonomy.nodes)}
    node = np.array([code.get(name, -1) for name in places.name], np.int64)
    missing = int(np.count_nonzero(node < 0))
    if missing:
        raise InputError(f"stops: {missing:,} of {len(places):,} places are not in the taxonomy; add them to it.")
    inner = int(np.count_nonzero(~taxonomy.is_leaf[node]))
    if inner:
        raise InputError(f"stops: {inner:,} of {len(places):,} places have other nodes of the taxonomy below them.")
    return node


def _own_stay(places: Places, data: Points) -> FloatArray:
    """Return the minimum time of each place in the unit of the data, NaN where it has none."""
    unit = seconds_per_unit(data.time_format)
    if unit is None:
        if not np.isnan(places.min_stay).all():
            raise InputError(
                "stops: places have a min_stay in seconds, but the times of the points are plain integers without a "
                "unit. Give epoch seconds or dates, or places without min_stay."
            )
        return places.min_stay
    return places.min_stay / unit


def _check_size(data: Points, places: Places) -> None:
    columns = (data.x, data.y, places.x, places.y, places.radius_m, places.ring_x, places.ring_y)
    if any(np.abs(v).max(initial=0) > _LARGEST_M for v in columns):
        raise InputError("stops: a coordinate of a point or a place is too large to be one; correct it.")


def _runs(at: IntArray, trajectory: IntArray) -> _Stretches:
    """Return maximal runs of points in one place."""
    begins = np.ones(len(at), np.bool_)
    begins[1:] = (at[1:] != at[:-1]) | (trajectory[1:] != trajectory[:-1])
    first = np.flatnonzero(begins)
    last = np.append(first[1:], len(at)) - 1 if len(at) else first
    return _Stretches(first, last, at[first]).where(at[first] >= 0)


def _longest(t: IntArray, at: IntArray, stretch: IntArray, row: IntArray, last: IntArray, own: FloatArray) -> IntArray:
    """Return, for each stretch, the place in which most of its time passes, or -1."""
    place = np.full(len(last), -1, np.int64)
    here = at[row] >= 0
    stretch = stretch[here]
    row = row[here]
    follow = np.minimum(row + 1, len(t) - 1)
    # The time from a point to the next counts for a place where both are in it; a single point inside has no duration.
    stays = (row < last[stretch]) & (at[follow] == at[row])
    time = np.where(stays, t[follow] - t[row], 0)
    order = np.lexsort((at[row], stretch))
    begins = np.ones(len(order), np.bool_)
    begins[1:] = (np.diff(stretch[order]) > 0) | (np.diff(at[row][order]) > 0)
    first = order[begins]
    time = np.add.reduceat(time[order], np.flatnonzero(begins)) if len(first) else time
    enough = ~(time < own[at[row[first]]])
    first = first[enough]
    time = time[enough]
    best = np.lexsort((at[row[first]], -time, stretch[first]))
    taken, at_first = np.unique(stretch[first][best], return_index=True)
    place[taken] = at[row[first[best[at_first]]]]
    return place


def _merged(stretches: _Stretches, trajectory: IntArray) -> _Stretches:
    """Join stretches at one place with no point between them."""
    begins = np.ones(len(stretches.first), np.bool_)
    begins[1:] = (
        (stretches.place[1:] != stretches.place[:-1])
        | (trajectory[stretches.first[1:]] != trajectory[stretches.first[:-1]])
        | (stretches.first[1:] > stretches.last[:-1] + 1)
    )
    ends = np.append(begins[1:], np.ones(min(1, len(begins)), np.bool_))
    return _Stretches(stretches.first[begins], stretches.last[ends], stretches.place[begins])
