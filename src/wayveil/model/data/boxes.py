"""Boxes: what generalization publishes, boxes in space and time instead of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, offsets_of, trajectory_of_row
from wayveil.model.data.times import TimeFormat
from wayveil.model.data.trajectories import BoxColumns, Columns, Sites, Trajectories

__all__ = ["Boxes"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes(Trajectories):
    """Sequences of closed boxes, in metres, as flat read-only columns.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``, in their sequence; it may own none.
    t_min, t_max : int64, one per row
        From when to when; both never decrease inside a trajectory.
    x_min, x_max, y_min, y_max : float64, one per row
        The box in metres of `frame`; always finite.
    owner, attributes, frame, time_format, owners
        As in `Points`.
    declared : bool, one per row, or None
        Which boxes are of times that are declared as known of somebody in the crowd that shares them; None where
        nothing is said of it.

    Examples
    --------
    >>> data = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 1.0)], []])
    >>> len(data), data.n_rows, data.record(0)
    (2, 1, [(0, 0, 0.0, 2.0, 0.0, 1.0)])
    """

    t_min: IntArray
    t_max: IntArray
    x_min: FloatArray
    x_max: FloatArray
    y_min: FloatArray
    y_max: FloatArray
    frame: Frame = Frame()
    declared: BoolArray | None = None

    kind: ClassVar[str] = "regions"
    row_word: ClassVar[str] = "boxes"
    row_columns: ClassVar[Columns] = {
        "t_min": np.int64,
        "t_max": np.int64,
        "x_min": np.float64,
        "x_max": np.float64,
        "y_min": np.float64,
        "y_max": np.float64,
    }
    optional_row_columns: ClassVar[Columns] = {"declared": np.bool_}
    coordinates: ClassVar[bool] = True

    def _check_rows(self) -> None:
        if not all(np.isfinite(side).all() for side in self.boxes()[2:]):
            raise InputError("Boxes: the sides of boxes must be finite.")
        ends = ((self.t_min, self.t_max), (self.x_min, self.x_max), (self.y_min, self.y_max))
        if any((low > high).any() for low, high in ends):
            raise InputError("Boxes: a box must not end before it begins.")
        trajectory = trajectory_of_row(self.offsets)
        # The last row of a trajectory and the first of the next are not compared.
        same = trajectory[1:] == trajectory[:-1]
        if any(((t[1:] < t[:-1]) & same).any() for t in (self.t_min, self.t_max)):
            raise InputError("Boxes: t_min and t_max must never decrease inside a trajectory.")

    def record(self, trajectory: int) -> list[tuple[int, int, float, float, float, float]]:
        """Return one trajectory as (t_min, t_max, x_min, x_max, y_min, y_max); for people and tests."""
        rows = self.rows(trajectory)
        return list(zip(*(column[rows].tolist() for column in self.boxes()), strict=True))

    @classmethod
    def tiny(cls) -> Self:
        """Return two people in the same two boxes."""
        boxes = [(0, 0, 0.0, 0.0, 0.0, 0.0), (1, 1, 1.0, 1.0, 0.0, 0.0)]
        return cls.from_records([boxes] * 2, time_format="epoch")

    def times(self) -> IntArray:
        """Return when each box begins."""
        return self.t_min

    def moments(self) -> IntArray:
        """Return the middle of the time of each box."""
        # Integers, rounded down: published times have no fractions.
        middle: IntArray = (self.t_min + self.t_max) // 2
        return middle

    def intervals(self) -> tuple[IntArray, IntArray]:
        """Return from when to when each box is."""
        return self.t_min, self.t_max

    def boxes(self) -> BoxColumns:
        """Return the sides of the boxes."""
        return BoxColumns(self.t_min, self.t_max, self.x_min, self.x_max, self.y_min, self.y_max)

    def as_points(self) -> None:
        """Return None: boxes are no points."""

    def as_boxes(self) -> Self:
        """Return the boxes themselves."""
        return self

    def of_declared_times(self) -> Self:
        """Return the boxes that can be of a declared time: all, unless it is said which are."""
        return self if self.declared is None else self.where(self.declared)

    def sites(self) -> Sites:
        """Return the sides of the boxes; how far data reach they do not show."""
        return Sites(sides=self.boxes()[2:], frame=self.frame)

    def size_text(self, sides: str, lasting: str, *, has_extent: bool) -> str:
        """Return the median box."""
        return f"median box {sides}{f' and {lasting}' if lasting else ''}"

    def file_row(self, row: int) -> list[int | float]:
        """Return one row as it stands in a file: t_min, t_max, x_min, x_max, y_min and y_max."""
        one = slice(row, row + 1)
        x_min, y_min = self.frame.to_file(self.x_min[one], self.y_min[one])
        x_max, y_max = self.frame.to_file(self.x_max[one], self.y_max[one])
        sides = (x_min, x_max, y_min, y_max)
        return [int(self.t_min[row]), int(self.t_max[row]), *(float(side[0]) for side in sides)]

    def equal_columns(self) -> tuple[IntArray, tuple[IntArray, ...]]:
        """Return all sides, bit by bit."""
        sides = (self.x_min, self.x_max, self.y_min, self.y_max)
        # Floats are compared by their bits: boxes are alike if the files say the same digits, and no rounding decides
        # it.
        return self.offsets, (self.t_min, self.t_max, *(side.view(np.int64) for side in sides))

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[tuple[int, int, float, float, float, float]]],
        *,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
        frame: Frame | None = None,
    ) -> Self:
        """Build from lists of (t_min, t_max, x_min, x_max, y_min, y_max); for examples and tests."""
        columns: dict[str, Any] = {
            name: np.array([row[i] for r in records for row in r], dtype)
            for i, (name, dtype) in enumerate(cls.row_columns.items())
        }
        return cls(
            offsets=offsets_of(np.array([len(r) for r in records], np.int64)),
            **columns,
            owner=np.arange(len(records)) if owner is None else np.array(owner, np.int64),
            frame=frame or Frame(),
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )
