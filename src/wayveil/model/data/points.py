"""Points: where people were in the plane, when, as sampled positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_order
from wayveil.model.data.coded import Coded
from wayveil.model.data.curve import z_curve
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, mean_per_trajectory, offsets_of
from wayveil.model.data.times import TimeFormat
from wayveil.model.data.trajectories import BoxColumns, Columns, Sites, Trajectories

__all__ = ["Points"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Points(Trajectories):
    """Sampled positions of trajectories, in metres, as flat read-only columns.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; it may own none.
    t : int64, one per row
        The time; it increases strictly inside a trajectory.
    x, y : float64, one per row
        The position in metres of `frame`; always finite.
    owner : int64, one per trajectory
        The person behind the trajectory, as a code from 0.
    attributes : mapping of str to Coded
        Values that are constant in a trajectory.
    frame : Frame
        What x and y were in the file.
    known : bool, one per row, or None
        Which rows an attacker may know, where that is declared: the quasi-identifiers of each trajectory.  None where
        nothing is declared; then every row may be known.
    time_format, owners
        See `TimeFormat` and `Owners`.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (1, 10.0, 0.0)], [(0, 0.0, 3.0)]])
    >>> len(data), data.n_rows, data.record(0)
    (2, 3, [(0, 0.0, 0.0), (1, 10.0, 0.0)])
    """

    t: IntArray
    x: FloatArray
    y: FloatArray
    frame: Frame = Frame()
    known: BoolArray | None = None

    kind: ClassVar[str] = "points"
    row_word: ClassVar[str] = "points"
    row_columns: ClassVar[Columns] = {"t": np.int64, "x": np.float64, "y": np.float64}
    optional_row_columns: ClassVar[Columns] = {"known": np.bool_}
    coordinates: ClassVar[bool] = True
    whole: ClassVar[bool] = True

    def _check_rows(self) -> None:
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise InputError("Points: x and y must be finite.")
        check_order("Points", self.offsets, self.t, strictly=True)

    def record(self, trajectory: int) -> list[tuple[int, float, float]]:
        """Return one trajectory as (t, x, y); for people and tests, not for loops over data."""
        rows = self.rows(trajectory)
        return list(zip(self.t[rows].tolist(), self.x[rows].tolist(), self.y[rows].tolist(), strict=True))

    @classmethod
    def tiny(cls) -> Self:
        """Return two people on the same way."""
        return cls.from_records([[(0, 0.0, 0.0), (1, 1.0, 0.0)]] * 2, time_format="epoch")

    def times(self) -> IntArray:
        """Return the time of each point."""
        return self.t

    def boxes(self) -> BoxColumns:
        """Return points as boxes without extent."""
        # Low and high are the same array: code for boxes then needs no case for points.
        return BoxColumns(self.t, self.t, self.x, self.x, self.y, self.y)

    def as_points(self) -> Self:
        """Return the points themselves."""
        return self

    def as_boxes(self) -> None:
        """Return None: points say where somebody was, not where somebody may have been."""

    def of_declared_times(self) -> Self:
        """Return all points: each can be of a declared time."""
        return self

    def positions(self) -> tuple[FloatArray, FloatArray]:
        """Return x and y."""
        return self.x, self.y

    def sites(self) -> Sites:
        """Return each point where it is."""
        return Sites(sides=self.boxes()[2:], reach=self.positions(), frame=self.frame)

    def file_row(self, row: int) -> list[int | float]:
        """Return one row as it stands in a file: t, x and y."""
        x, y = self.frame.to_file(self.x[row : row + 1], self.y[row : row + 1])
        return [int(self.t[row]), float(x[0]), float(y[0])]

    def curve_keys(self) -> IntArray:
        """Return where the mean of each trajectory is on a curve through the plane."""
        if not self.n_rows:
            return super().curve_keys()
        # The mean position, not the first: methods that group points compare whole trajectories.
        return z_curve(mean_per_trajectory(self.x, self.offsets), mean_per_trajectory(self.y, self.offsets))

    def row_keys(self, other: Self) -> tuple[IntArray, IntArray]:
        """Return the times: a point stays the same where its time does."""
        return self.t, other.t

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[tuple[int, float, float]]],
        *,
        owner: Sequence[int] | None = None,
        attributes: Mapping[str, Sequence[str | None]] | None = None,
        time_format: TimeFormat = "integer",
        frame: Frame | None = None,
    ) -> Self:
        """Build from lists of (t, x, y); for examples and tests."""
        return cls(
            offsets=offsets_of(np.array([len(r) for r in records], np.int64)),
            t=np.array([t for r in records for t, _, _ in r], np.int64),
            x=np.array([x for r in records for _, x, _ in r], np.float64),
            y=np.array([y for r in records for _, _, y in r], np.float64),
            owner=np.arange(len(records)) if owner is None else np.array(owner, np.int64),
            attributes={k: Coded.from_values(v) for k, v in (attributes or {}).items()},
            frame=frame or Frame(),
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )
