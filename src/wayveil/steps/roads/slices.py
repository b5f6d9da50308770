"""Slices: routes cut at the borders of slices of time."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Routes, Step, check_parameters, duration_units, parameter, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of, trajectory_of_row

__all__ = ["Slices"]

_DAY_MIN = 24 * 60
_FRAME = re.compile(r"([0-9]{1,2}):([0-9]{2})-([0-9]{1,2}):([0-9]{2})")


@dataclass(frozen=True, kw_only=True)
class Slices(Step):
    """Cut routes where they pass from one slice of time into the next.

    Methods for routes hide people among those who drive in the same slice, and publish the slice in place of exact
    times.  Long slices hold more people, short ones say more about traffic.

    Parameters
    ----------
    width : str, or "none"
        A duration such as "1h": uniform slices.  For times that are plain integers a positive integer, in their unit.
        For epoch seconds an integer means seconds.
    frames : str, or "none"
        Times of the day such as "06:00-10:00,16:00-19:00", each a slice of its own on every day.  One that ends at or
        before its beginning ends on the next day.  Roads entered outside all frames are dropped.

    One of the two must be given.

    Notes
    -----
    A road is in the slice in which it is entered: one entered just before a border is driven along beyond it.  The
    slice from `t_start` to `t_end` holds the times ``t_start <= t < t_end``.  Uniform slices start at the multiples of
    `width`, counted from 0, the midnight that began 1970, on the clock that the times are written in: UTC for times
    with an offset and for epoch seconds, local time for times without.  Days are those of that clock, too.

    Parts keep the owner and the attributes of their trajectory, and the times of entering their roads.  O(rows) time
    and memory.

    Guarantee
    ---------
    None: a slice is a crowd only if enough people drive in it.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("ca", "c", "a")])
    >>> data = replace(Routes.from_records([["ab", "bc", "ca"]], network=network), t=np.array([3, 8, 14]))
    >>> cut, notes = Slices(width=10).run(data)
    >>> [cut.record(i) for i in range(len(cut))]
    [['ab', 'bc'], ['ca']]
    >>> cut.t_start.tolist(), cut.t_end.tolist()
    ([0, 10], [10, 20])
    >>> notes
    ('Cutting at the borders of slices of 10 made 2 trajectories of 1, in 2 slices.',)
    """

    width: str = parameter(kind="duration", choices=("none",), default="none", help="width of uniform slices of time")
    frames: str = parameter(
        kind="text",
        choices=("none",),
        default="none",
        help="slices by the time of the day, such as 06:00-10:00,16:00-19:00; the rest is dropped",
    )

    name: ClassVar[str] = "slices"
    summary: ClassVar[str] = "cut routes at the borders of slices of time"
    accepts: ClassVar[type[Routes]] = Routes
    gives: ClassVar[type[Routes]] = Routes

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if (self.width == "none") == (self.frames == "none"):
            raise ParameterError("slices: give either width or frames: uniform slices, or times of the day.")
        if self.frames != "none":
            _parse(self.frames)

    def run(self, data: Routes) -> tuple[Routes, tuple[str, ...]]:
        """Return the parts, and notes that count what was done."""
        parts, notes, _ = self.run_with_origin(data)
        return parts, notes

    def run_with_origin(self, data: Routes) -> tuple[Routes, tuple[str, ...], IntArray]:
        """Return the parts, notes, and for every part the trajectory that it comes from."""
        if data.n_rows and not data.t.any():
            raise InputError("slices: the routes have no times, so they cannot be cut by time; give a column t.")
        # A road belongs to the slice in which it was entered.
        t_start, t_end, inside = self._slices(data)
        trajectory = trajectory_of_row(data.offsets)[inside]
        # A part begins with a trajectory, and wherever the slice is another one than in the row before.
        begins = np.ones(len(trajectory), np.bool_)
        begins[1:] = (trajectory[1:] != trajectory[:-1]) | (t_start[1:] != t_start[:-1])
        first = np.flatnonzero(begins)
        source = trajectory[first]
        parts = replace(
            data,
            offsets=offsets_of(np.diff(np.append(first, len(trajectory)))),
            road=data.road[inside],
            t=data.t[inside],
            t_start=t_start[first],
            t_end=t_end[first],
            owner=data.owner[source],
            attributes={name: a.take(source) for name, a in data.attributes.items()},
        )
        return parts, self._notes(data, parts, source), source

    def _slices(self, data: Routes) -> tuple[IntArray, IntArray, BoolArray]:
        """Return where the slices of rows begin and end, and which rows are in one; the first two are of those rows."""
        if self.width != "none":
            width = duration_units(self.name, "width", self.width, data.time_format)
            _check_room(data.t, width)
            # Floor division, so that slices before 1970 begin where others do.
            t_start = data.t // width * width
            return t_start, t_start + width, np.ones(data.n_rows, np.bool_)
        seconds = seconds_per_unit(data.time_format)
        if seconds is None:
            raise InputError(
                "slices: the times are plain integers and have no days, so frames mean nothing; use width."
            )
        minute = round(60 / seconds)
        day = _DAY_MIN * minute
        _check_room(data.t, 2 * day)
        t_start = np.zeros(data.n_rows, np.int64)
        t_end = np.zeros(data.n_rows, np.int64)
        inside = np.zeros(data.n_rows, np.bool_)
        for begin, end in _parse(self.frames):
            # The day counted from the beginning of the frame: a frame over midnight is then one interval, of the day it
            # began on.
            day_of = (data.t - begin * minute) // day * day
            here = data.t - day_of < end * minute
            t_start[here] = day_of[here] + begin * minute
            t_end[here] = day_of[here] + end * minute
            inside |= here
        return t_start[inside], t_end[inside], inside

    def _notes(self, data: Routes, parts: Routes, source: IntArray) -> tuple[str, ...]:
        at = f"slices of {self.width}" if self.width != "none" else f"the frames {self.frames}"
        n_slices = len(np.unique(parts.t_start))
        slices = f"{n_slices:,} slice{'s' * (n_slices != 1)}"
        many = "1 trajectory" if len(parts) == 1 else f"{len(parts):,} trajectories"
        notes = [f"Cutting at the borders of {at} made {many} of {len(data):,}, in {slices}."]
        lost = data.n_rows - parts.n_rows
        if lost:
            verb = "was dropped: it was" if lost == 1 else "were dropped: they were"
            notes.append(f"{lost:,} of {data.n_rows:,} rows {verb} entered outside all frames.")
        n_lost = len(data) - len(np.unique(source))
        if n_lost:
            notes.append(f"{n_lost:,} of {len(data):,} trajectories {'has' if n_lost == 1 else 'have'} no row left.")
        return tuple(notes)


def _parse(text: str) -> list[tuple[int, int]]:
    """Return frames as minutes from midnight, [begin, end); an end on the next day is 1440 or more."""
    frames = []
    for part in text.split(","):
        match = _FRAME.fullmatch(part.strip())
        # what does not match gets minutes that are refused below
        h1, m1, h2, m2 = (int(word) for word in match.groups()) if match else (0, 60, 0, 60)
        begin = h1 * 60 + m1
        end = h2 * 60 + m2
        if m1 > 59 or m2 > 59 or begin >= _DAY_MIN or end > _DAY_MIN:
            raise ParameterError(
                "slices: frames must be times of the day such as 06:00-10:00,16:00-19:00, from 00:00 to 24:00, got "
                f"{text!r}."
            )
        # An end that is not after the beginning is on the next day.
        frames.append((begin, end if end > begin else end + _DAY_MIN))
    frames.sort()
    # Behind the last frame comes the first one of the next day.
    follow = [*frames[1:], (frames[0][0] + _DAY_MIN, 0)]
    if any(end > begin for (_, end), (begin, _) in zip(frames, follow, strict=True)):
        raise ParameterError(f"slices: frames must not overlap, got {text!r}.")
    return frames


def _check_room(t: IntArray, width: int) -> None:
    limits = np.iinfo(np.int64)
    if len(t) and not limits.min + width <= int(t.min()) <= int(t.max()) <= limits.max - width:
        raise InputError("slices: a time is too close to the limits of 64-bit integers; shift the times.")
