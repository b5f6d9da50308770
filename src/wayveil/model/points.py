"""Points: where people were in the plane, when, as sampled positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_offsets, check_order, check_owners
from wayveil.model.frame import Frame
from wayveil.model.ragged import BoolArray, FloatArray, IntArray, frozen, keep_rows, offsets_of, take
from wayveil.model.times import TimeFormat
from wayveil.model.visits import Coded, Owners

__all__ = ["Points"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
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

    offsets: IntArray
    t: IntArray
    x: FloatArray
    y: FloatArray
    owner: IntArray
    attributes: Mapping[str, Coded] = field(default_factory=dict)
    frame: Frame = Frame()
    time_format: TimeFormat = "integer"
    owners: Owners = "declared"
    known: BoolArray | None = None

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "offsets", frozen(self.offsets, np.int64))
        set_(self, "t", frozen(self.t, np.int64))
        set_(self, "x", frozen(self.x, np.float64))
        set_(self, "y", frozen(self.y, np.float64))
        set_(self, "owner", frozen(self.owner, np.int64))
        set_(self, "attributes", MappingProxyType(dict(self.attributes)))
        if self.known is not None:
            set_(self, "known", frozen(self.known, np.bool_))
        self._check()

    def _check(self) -> None:
        check_offsets("Points", self.offsets)
        if not self.offsets[-1] == len(self.t) == len(self.x) == len(self.y):
            raise InputError("Points: t, x and y must have as many rows as offsets say.")
        if self.known is not None and len(self.known) != len(self.t):
            raise InputError("Points: known must have one value per row.")
        check_owners("Points", len(self), self.owner, self.attributes)
        if not (np.isfinite(self.x).all() and np.isfinite(self.y).all()):
            raise InputError("Points: x and y must be finite.")
        check_order("Points", self.offsets, self.t, strictly=True)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of points."""
        return len(self.t)

    @property
    def n_owners(self) -> int:
        """Number of distinct people."""
        return len(np.unique(self.owner))

    def record(self, trajectory: int) -> list[tuple[int, float, float]]:
        """Return one trajectory as (t, x, y); for people and tests, not for loops over data."""
        rows = slice(self.offsets[trajectory], self.offsets[trajectory + 1])
        return list(zip(self.t[rows].tolist(), self.x[rows].tolist(), self.y[rows].tolist(), strict=True))

    def where(self, keep: BoolArray) -> Points:
        """Return the same trajectories with only the points where `keep` is true."""
        return replace(
            self,
            offsets=keep_rows(self.offsets, keep),
            t=self.t[keep],
            x=self.x[keep],
            y=self.y[keep],
            known=None if self.known is None else self.known[keep],
        )

    def take(self, trajectories: IntArray) -> Points:
        """Return these trajectories, in this order."""
        offsets, rows = take(self.offsets, trajectories)
        return replace(
            self,
            offsets=offsets,
            t=self.t[rows],
            x=self.x[rows],
            y=self.y[rows],
            owner=self.owner[trajectories],
            attributes={name: a.take(trajectories) for name, a in self.attributes.items()},
            known=None if self.known is None else self.known[rows],
        )

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[tuple[int, float, float]]],
        *,
        owner: Sequence[int] | None = None,
        attributes: Mapping[str, Sequence[str | None]] | None = None,
        time_format: TimeFormat = "integer",
        frame: Frame | None = None,
    ) -> Points:
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
