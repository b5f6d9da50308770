"""Trajectories on one list of timestamps, the groups they are put into, and the pieces that are published of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.knode.group_boxes import Tracks
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.methods.knode.trajectory_graph import time_windows
from wayveil.model import Points
from wayveil.model.data.ragged import FloatArray, IntArray, offsets_of

__all__ = [
    "TimedTracks",
    "TrackGroups",
    "TrackPart",
    "TrackPieces",
    "distance_from_middle",
    "join_groups",
    "list_tracks",
]

_SHORTEST = 2  # timestamps of a piece: one alone is no movement
_FARTHEST_M = 1e100  # squares of distances must be numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class TimedTracks:
    """The trajectories that have points: which, their first row and length, first and last timestamp in `times`.

    x and y are in metres; u and v are the same with the whole space scaled to the unit square.
    """

    which: IntArray
    first: IntArray
    length: IntArray
    start: IntArray
    end: IntArray
    owner: IntArray
    times: IntArray
    x: FloatArray
    y: FloatArray
    u: FloatArray
    v: FloatArray

    def windows(self, window: int) -> IntArray:
        """Return per trajectory the windows of time in which it starts and ends."""
        return time_windows(self.times[self.start], self.times[self.end], window)

    def grouped(self, groups: TrackGroups) -> TrackPieces:
        """Return what of these trajectories is in groups, for the time that each group shares."""
        inside = groups.label >= 0
        label = groups.label[inside]
        row = self.first[inside] + groups.low[label] - self.start[inside]
        return TrackPieces(which=self.which[inside], row=row, label=label, low=groups.low, high=groups.high)

    def rest(self, groups: TrackGroups) -> TimedTracks:
        """Return what of these trajectories is in no group: those without one, and what was cut off the others."""
        # Of a trajectory in a group at most two pieces are left: what lies before the time that the group shares, and
        # after.
        alone = groups.label < 0
        until = np.where(alone, self.end, 0)
        since = np.where(alone, 1, 0)
        inside = ~alone
        until[inside] = groups.low[groups.label[inside]] - 1
        since[inside] = groups.high[groups.label[inside]] + 1
        before = np.flatnonzero(until - self.start + 1 >= _SHORTEST)
        after = np.flatnonzero(inside & (self.end - since + 1 >= _SHORTEST))
        of = np.concatenate([before, after])
        start = np.concatenate([self.start[before], since[after]])
        end = np.concatenate([until[before], self.end[after]])
        order = np.lexsort((start, of))
        of = of[order]
        start = start[order]
        end = end[order]
        return replace(
            self, which=self.which[of], first=self.first[of] + start - self.start[of], length=end - start + 1,
            start=start, end=end, owner=self.owner[of],
        )  # fmt: skip

    def places(self) -> FloatArray:
        """Return where every trajectory starts and ends."""
        last = self.first + self.length - 1
        return np.column_stack([self.u[self.first], self.v[self.first], self.u[last], self.v[last]])

    def part(self, members: IntArray, *columns: FloatArray) -> TrackPart:
        """Return some trajectories with these columns."""
        first = self.first[members]
        points = TrajectoryRows(begin=first, end=first + self.length[members], columns=columns)
        return TrackPart(
            members=members, points=points, start=self.start[members], end=self.end[members], owner=self.owner[members]
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class TrackPart:
    """Trajectories among which groups are looked for: which, their points, first and last timestamps, and owners."""

    members: IntArray
    points: TrajectoryRows
    start: IntArray
    end: IntArray
    owner: IntArray

    def tracks(self) -> Tracks:
        """Return the same as kernels take it, owners as numbers from 0 on."""
        return Tracks(self.points.begin, self.start, self.end, _codes(self.owner), *self.points.columns)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrackGroups:
    """The group of every member, or -1, and the first and the last timestamp of every group."""

    members: IntArray
    label: IntArray
    low: IntArray
    high: IntArray

    @classmethod
    def of(cls, part: TrackPart, label: IntArray) -> TrackGroups:
        """Return groups with the timestamps that all of their members have."""
        inside = label >= 0
        n = int(label.max(initial=-1)) + 1
        low = np.zeros(n, np.int64)
        high = np.full(n, part.end.max(initial=0))
        # The time that a group shares is from the latest start to the earliest end of its members.
        np.maximum.at(low, label[inside], part.start[inside])
        np.minimum.at(high, label[inside], part.end[inside])
        return cls(members=part.members, label=label, low=low, high=high)


@dataclass(frozen=True, kw_only=True, eq=False)
class TrackPieces:
    """What is published of trajectories: which, its first row, its group; and the timestamps of every group."""

    which: IntArray
    row: IntArray
    label: IntArray
    low: IntArray
    high: IntArray

    @property
    def n_samples(self) -> int:
        """How many samples of trajectories these are."""
        return int((self.high - self.low + 1)[self.label].sum())

    @classmethod
    def join(cls, parts: Sequence[TrackPieces]) -> TrackPieces:
        """Return the pieces of several rounds, in the order of trajectories and of time."""
        before = offsets_of(np.array([len(part.low) for part in parts]))
        which = np.concatenate([part.which for part in parts])
        row = np.concatenate([part.row for part in parts])
        label = np.concatenate([part.label + first for part, first in zip(parts, before.tolist(), strict=False)])
        order = np.lexsort((row, which))
        return cls(
            which=which[order],
            row=row[order],
            label=label[order],
            low=np.concatenate([part.low for part in parts]),
            high=np.concatenate([part.high for part in parts]),
        )


def list_tracks(data: Points, k: int) -> TimedTracks:
    """Return the trajectories that have points, on one list of timestamps."""
    lengths = np.diff(data.offsets)
    which = np.flatnonzero(lengths)
    people = len(np.unique(data.owner[which]))
    if k > people:
        raise InputError(
            f"knode: k is {k}, but the data holds points of {people} people: nothing could be published. "
            "Take a smaller k or more data."
        )
    first = data.offsets[:-1][which]
    length = lengths[which]
    times = np.unique(data.t)
    start = np.searchsorted(times, data.t[first])
    # All must sample the same list of times without a gap: then a trajectory is a first time and a length, and the last
    # time found by counting must be the true one.
    uneven = int((times[start + length - 1] != data.t[first + length - 1]).sum())
    if uneven:
        raise InputError(
            f"knode: {uneven:,} of {len(which):,} trajectories lack points at times at which others have one. Run the "
            "step resample first, so that all have points at the same regular times."
        )
    if max(float(np.abs(column).max()) for column in (data.x, data.y)) > _FARTHEST_M:
        raise InputError(f"knode: coordinates must be at most {_FARTHEST_M:g} m; check their unit.")
    return TimedTracks(
        which=which, first=first, length=length, start=start, end=start + length - 1,
        owner=data.owner[which], times=times, x=data.x, y=data.y, u=_scaled(data.x), v=_scaled(data.y),
    )  # fmt: skip


def _scaled(column: FloatArray) -> FloatArray:
    """Return a column with its range scaled to [0, 1], or zeros where it has none."""
    extent = np.ptp(column)
    return (column - column.min()) / extent if extent > 0 else np.zeros(len(column))


def distance_from_middle(part: TrackPart, label: IntArray) -> FloatArray:
    """Return how far each trajectory is from the middle of its group, a mean of squares at its times."""
    groups = TrackGroups.of(part, label)
    far = np.zeros(len(label))
    for g, (low, high) in enumerate(zip(groups.low.tolist(), groups.high.tolist(), strict=True)):
        members = np.flatnonzero(label == g)
        rows = (part.points.begin[members] + low - part.start[members])[:, None] + np.arange(high - low + 1)
        for column in part.points.columns:
            far[members] += np.mean((column[rows] - column[rows].mean(axis=0)) ** 2, axis=1)
    return far


def _codes(owner: IntArray) -> IntArray:
    """Return owners as numbers from 0 on."""
    return np.unique(owner, return_inverse=True)[1].astype(np.int64)


def join_groups(parts: list[TrackGroups], n: int) -> TrackGroups:
    """Return the groups of all parts, as those of trajectories 0 to n - 1."""
    label = np.full(n, -1)
    groups = 0
    none = np.zeros(0, np.int64)
    for part in parts:
        inside = part.label >= 0
        label[part.members[inside]] = part.label[inside] + groups
        groups += len(part.low)
    low = np.concatenate([none, *(p.low for p in parts)])
    high = np.concatenate([none, *(p.high for p in parts)])
    return TrackGroups(members=np.arange(n), label=label, low=low, high=high)
