"""Regions: what generalization publishes, boxes in space and time instead of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_offsets, check_owners
from wayveil.model.frame import Frame
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, frozen, keep_rows, offsets_of, take, trajectory_of_row
from wayveil.model.times import TimeFormat
from wayveil.model.visits import Coded, Owners

__all__ = ["Regions"]

_TIMES = ("t_min", "t_max")
_PLACES = ("x_min", "x_max", "y_min", "y_max")


@dataclass(frozen=True, kw_only=True, eq=False)
class Regions:
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
    >>> data = Regions.from_records([[(0, 0, 0.0, 2.0, 0.0, 1.0)], []])
    >>> len(data), data.n_rows, data.record(0)
    (2, 1, [(0, 0, 0.0, 2.0, 0.0, 1.0)])
    """

    offsets: IntArray
    t_min: IntArray
    t_max: IntArray
    x_min: FloatArray
    x_max: FloatArray
    y_min: FloatArray
    y_max: FloatArray
    owner: IntArray
    attributes: Mapping[str, Coded] = field(default_factory=dict)
    frame: Frame = Frame()
    time_format: TimeFormat = "integer"
    owners: Owners = "declared"
    declared: BoolArray | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "offsets", frozen(self.offsets, np.int64))
        for name in _TIMES:
            set_(self, name, frozen(getattr(self, name), np.int64))
        for name in _PLACES:
            set_(self, name, frozen(getattr(self, name), np.float64))
        set_(self, "owner", frozen(self.owner, np.int64))
        set_(self, "attributes", MappingProxyType(dict(self.attributes)))
        if self.declared is not None:
            set_(self, "declared", frozen(self.declared, np.bool_))
        self._check()

    def _check(self) -> None:
        check_offsets("Regions", self.offsets)
        if any(len(getattr(self, name)) != self.offsets[-1] for name in (*_TIMES, *_PLACES)):
            raise InputError("Regions: every column must have as many rows as offsets say.")
        if self.declared is not None and len(self.declared) != self.offsets[-1]:
            raise InputError("Regions: declared must have one value per row.")
        check_owners("Regions", len(self), self.owner, self.attributes)
        if not all(np.isfinite(getattr(self, name)).all() for name in _PLACES):
            raise InputError("Regions: the sides of boxes must be finite.")
        ends = ((self.t_min, self.t_max), (self.x_min, self.x_max), (self.y_min, self.y_max))
        if any((low > high).any() for low, high in ends):
            raise InputError("Regions: a box must not end before it begins.")
        trajectory = trajectory_of_row(self.offsets)
        same = trajectory[1:] == trajectory[:-1]
        if any(((t[1:] < t[:-1]) & same).any() for t in (self.t_min, self.t_max)):
            raise InputError("Regions: t_min and t_max must never decrease inside a trajectory.")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of boxes."""
        return len(self.t_min)

    @property
    def n_owners(self) -> int:
        """Number of distinct people."""
        return len(np.unique(self.owner))

    def record(self, trajectory: int) -> list[tuple[int, int, float, float, float, float]]:
        """Return one trajectory as (t_min, t_max, x_min, x_max, y_min, y_max); for people and tests."""
        rows = slice(self.offsets[trajectory], self.offsets[trajectory + 1])
        return list(zip(*(getattr(self, name)[rows].tolist() for name in (*_TIMES, *_PLACES)), strict=True))

    def where(self, keep: BoolArray) -> Regions:
        """Return the same trajectories with only the boxes where `keep` is true."""
        return replace(self, offsets=keep_rows(self.offsets, keep), **self._rows(keep))

    def take(self, trajectories: IntArray) -> Regions:
        """Return these trajectories, in this order."""
        offsets, rows = take(self.offsets, trajectories)
        return replace(
            self,
            offsets=offsets,
            **self._rows(rows),
            owner=self.owner[trajectories],
            attributes={name: a.take(trajectories) for name, a in self.attributes.items()},
        )

    def _rows(self, rows: BoolArray | IntArray) -> dict[str, Any]:
        """Return the columns with only these rows."""
        names = (*_TIMES, *_PLACES, *(() if self.declared is None else ("declared",)))
        return {name: getattr(self, name)[rows] for name in names}

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[tuple[int, int, float, float, float, float]]],
        *,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
        frame: Frame | None = None,
    ) -> Regions:
        """Build from lists of (t_min, t_max, x_min, x_max, y_min, y_max); for examples and tests."""
        columns: dict[str, Any] = {
            name: np.array([row[i] for r in records for row in r], np.int64 if i < 2 else np.float64)
            for i, name in enumerate((*_TIMES, *_PLACES))
        }
        return cls(
            offsets=offsets_of(np.array([len(r) for r in records], np.int64)),
            **columns,
            owner=np.arange(len(records)) if owner is None else np.array(owner, np.int64),
            frame=frame or Frame(),
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )
