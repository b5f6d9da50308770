"""Split: trajectories cut into trips at long stays and at gaps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.steps.stays import find_stays
from wayveil.model import Points, Step, check_parameters, duration_units, parameter
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of, trajectory_of_row

__all__ = ["Split", "check_spans", "first_rows", "make_parts"]


@dataclass(frozen=True, kw_only=True)
class Split(Step):
    """Cut trajectories where a person stays for long, and where no point was recorded for long.

    Parameters
    ----------
    stay : str, or "none"
        A duration.  A stay lasts at least that long within `stay_radius` of the point it begins with.
    stay_radius : float, >= 0
        Metres.
    gap : str, or "none"
        A duration.  Two consecutive points that are more than that apart belong to different parts.

    For times that are plain integers a duration is an integer in their unit; for epoch seconds an integer means
    seconds.  `stay` or `gap` must be given.

    Notes
    -----
    A stay is looked for from every point in turn: it begins at the first point from which all points for at least
    `stay` lie within `stay_radius`, and ends with the last one before the first that lies farther away; the search goes
    on behind it.  Its first point, the arrival, ends a part; its last point, the departure, begins the next one; the
    points between them are dropped.  An arrival or a departure that is left alone, as at the end of a trajectory, is no
    trip and is dropped.  A stay may contain a gap: who is seen at home in the evening and in the morning stayed there.

    Huo, Huang and Meng, *History trajectory privacy-preserving through graph partition* (2011), let a stay longer than
    th_t end a trajectory, and begin a new one at the next point; a stay of two points is cut there as here.

    Parts keep the owner and the attributes of their trajectory: k counts people, so that splitting never makes one
    person into a crowd.  About O(points) time, O(points) memory.

    Guarantee
    ---------
    None.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0, 0), (1, 500, 0), (2, 510, 0), (9, 505, 0), (10, 900, 0), (30, 970, 0)]])
    >>> trips, notes = Split(stay=5, stay_radius=50, gap=10).run(data)
    >>> [trips.record(i) for i in range(len(trips))]
    [[(0, 0.0, 0.0), (1, 500.0, 0.0)], [(9, 505.0, 0.0), (10, 900.0, 0.0)], [(30, 970.0, 0.0)]]
    >>> notes
    ('Splitting at 1 stay and 1 gap made 3 trajectories of 1.', '1 of 6 points was dropped: it lies inside a stay.')
    """

    stay: str = parameter(
        kind="duration", choices=("none",), default="none", help="split where a person stays for at least this long"
    )
    stay_radius: float = parameter(
        kind="number", low=0, default=100.0, help="metres that a stay may reach from where it begins"
    )
    gap: str = parameter(
        kind="duration", choices=("none",), default="none", help="split between points that are more than this apart"
    )

    name: ClassVar[str] = "split"
    summary: ClassVar[str] = "cut trajectories into trips at long stays and at gaps"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Points]] = Points

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.stay == self.gap == "none":
            raise ParameterError("split: stay or gap must be given; without both there is nothing to split at.")

    def run(self, data: Points) -> tuple[Points, tuple[str, ...]]:
        """Return the parts, and notes that count what was done."""
        parts, notes, _ = self.run_with_origin(data)
        return parts, notes

    def run_with_origin(self, data: Points) -> tuple[Points, tuple[str, ...], IntArray]:
        """Return the parts, notes, and for every part the trajectory that it comes from."""
        check_spans(self.name, data)
        role = np.zeros(data.n_rows, np.int64)
        # Roles of rows: 1 begins a stay, 2 lies inside, 3 ends it; 0 is on the move.
        if self.stay != "none":
            stay = duration_units(self.name, "stay", self.stay, data.time_format)
            role = find_stays(data.offsets, data.t, data.x, data.y, stay, self.stay_radius)
        begins = first_rows(data)
        gaps = 0
        if self.gap != "none":
            gap = duration_units(self.name, "gap", self.gap, data.time_format)
            # A gap inside a stay is no gap: the person did not move.
            apart = ~begins[1:] & (data.t[1:] - data.t[:-1] > gap) & (role[1:] < 2)
            begins[1:] |= apart
            gaps = int(np.count_nonzero(apart))
        # A new trip begins where a stay ends.
        begins |= role == 3
        rows = np.flatnonzero(role != 2)
        lengths, alone = _lengths(begins[rows], role[rows])
        rows = rows[~np.repeat(alone, lengths)]
        lengths = lengths[~alone]
        source = trajectory_of_row(data.offsets)[rows[offsets_of(lengths)[:-1]]]
        parts = make_parts(data, source, lengths, data.t[rows], data.x[rows], data.y[rows])
        return parts, self._notes(data, parts, role, gaps, source), source

    def _notes(self, data: Points, parts: Points, role: IntArray, gaps: int, source: IntArray) -> tuple[str, ...]:
        stays = int(np.count_nonzero(role == 1))
        at = [f"{stays:,} stay{'s' * (stays != 1)}"] if self.stay != "none" else []
        at += [f"{gaps:,} gap{'s' * (gaps != 1)}"] if self.gap != "none" else []
        notes = [f"Splitting at {' and '.join(at)} made {len(parts):,} trajectories of {len(data):,}."]
        lost = data.n_rows - parts.n_rows
        if lost:
            verb = "was dropped: it lies" if lost == 1 else "were dropped: they lie"
            notes.append(f"{lost:,} of {data.n_rows:,} points {verb} inside a stay.")
        n_lost = len(data) - len(np.unique(source))
        if n_lost:
            notes.append(f"{n_lost:,} of {len(data):,} trajectories {'has' if n_lost == 1 else 'have'} no trip.")
        return tuple(notes)


def check_spans(component: str, data: Points) -> None:
    """Refuse times whose differences inside a trajectory do not fit into 64 bits."""
    if data.known is not None:
        raise InputError(
            f"{component}: the points are marked as known to an attacker, and this step makes other points. Write "
            "its result "
            "with wayveil prepare first, and mark that."
        )
    has = np.diff(data.offsets) > 0
    first = data.t[data.offsets[:-1][has]]
    last = data.t[data.offsets[1:][has] - 1]
    if (last.astype(np.float64) - first.astype(np.float64) > 2.0**62).any():
        raise InputError(f"{component}: the times of a trajectory are too far apart for 64-bit integers; correct them.")


def first_rows(data: Points) -> np.ndarray:
    """Return which rows are the first of their trajectory."""
    first = np.zeros(data.n_rows, np.bool_)
    first[data.offsets[:-1][np.diff(data.offsets) > 0]] = True
    return first


def make_parts(data: Points, source: IntArray, lengths: IntArray, t: IntArray, x: FloatArray, y: FloatArray) -> Points:
    """Return points as parts of trajectories: part `i` has ``lengths[i]`` rows and is of trajectory ``source[i]``."""
    return replace(
        data,
        offsets=offsets_of(lengths),
        t=t,
        x=x,
        y=y,
        owner=data.owner[source],
        attributes={name: a.take(source) for name, a in data.attributes.items()},
    )


def _lengths(begins: np.ndarray, role: IntArray) -> tuple[IntArray, np.ndarray]:
    """Return the number of rows of each part, and which parts are one end of a stay and nothing else."""
    first = np.flatnonzero(begins)
    lengths = np.diff(np.append(first, len(begins)))
    return lengths, (lengths == 1) & (role[first] > 0)
