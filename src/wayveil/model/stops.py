"""Stops: which places people visited, in which order, as nodes of a taxonomy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_offsets, check_order, check_owners
from wayveil.model.ragged import BoolArray, IntArray, frozen, keep_rows, offsets_of, take
from wayveil.model.taxonomy import Taxonomy
from wayveil.model.times import TimeFormat
from wayveil.model.visits import Coded, Owners

__all__ = ["Stops"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stops:
    """Visited places of trajectories, as flat read-only columns.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; it may own none.
    place : int32, one per row
        A code into ``taxonomy.nodes``: a leaf in raw data, any node in published data.
    t, t_end : int64, one per row
        When the person came and left; `t` never decreases inside a trajectory, and ``t <= t_end``.  Where only one time
        is known, both are this.  0 where no times are known.
    taxonomy : Taxonomy
    owner, attributes, time_format, owners
        As in `Visits`.

    Examples
    --------
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> data = Stops.from_records([["Park", "Clinic"], ["Park"]], taxonomy=tree)
    >>> len(data), data.n_rows, data.record(0), data.sensitive.tolist()
    (2, 3, ['Park', 'Clinic'], [False, True, False])
    """

    offsets: IntArray
    place: IntArray
    t: IntArray
    t_end: IntArray
    taxonomy: Taxonomy
    owner: IntArray
    attributes: Mapping[str, Coded] = field(default_factory=dict)
    time_format: TimeFormat = "integer"
    owners: Owners = "declared"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        for name in ("offsets", "t", "t_end", "owner"):
            set_(self, name, frozen(getattr(self, name), np.int64))
        set_(self, "place", frozen(self.place, np.int32))
        set_(self, "attributes", MappingProxyType(dict(self.attributes)))
        self._check()

    def _check(self) -> None:
        check_offsets("Stops", self.offsets)
        if not self.offsets[-1] == len(self.place) == len(self.t) == len(self.t_end):
            raise InputError("Stops: place, t and t_end must have as many rows as offsets say.")
        check_owners("Stops", len(self), self.owner, self.attributes)
        if len(self.place) and not 0 <= self.place.min() <= self.place.max() < len(self.taxonomy):
            raise InputError("Stops: a place is not in the taxonomy.")
        if (self.t > self.t_end).any():
            raise InputError("Stops: a stop must not end before it begins.")
        check_order("Stops", self.offsets, self.t, strictly=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.place)

    @property
    def n_owners(self) -> int:
        """Number of distinct people."""
        return len(np.unique(self.owner))

    @property
    def sensitive(self) -> BoolArray:
        """Whether a stop is at a sensitive node, one per row."""
        return self.taxonomy.sensitive[self.place]

    def record(self, trajectory: int) -> list[str]:
        """Return one trajectory as names of nodes; for people and tests, not for loops over data."""
        rows = slice(self.offsets[trajectory], self.offsets[trajectory + 1])
        return [self.taxonomy.nodes[place] for place in self.place[rows].tolist()]

    def where(self, keep: BoolArray) -> Stops:
        """Return the same trajectories with only the rows where `keep` is true."""
        return replace(
            self,
            offsets=keep_rows(self.offsets, keep),
            place=self.place[keep],
            t=self.t[keep],
            t_end=self.t_end[keep],
        )

    def take(self, trajectories: IntArray) -> Stops:
        """Return these trajectories, in this order."""
        offsets, rows = take(self.offsets, trajectories)
        return replace(
            self,
            offsets=offsets,
            place=self.place[rows],
            t=self.t[rows],
            t_end=self.t_end[rows],
            owner=self.owner[trajectories],
            attributes={name: a.take(trajectories) for name, a in self.attributes.items()},
        )

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[str]],
        *,
        taxonomy: Taxonomy,
        times: Sequence[Sequence[tuple[int, int]]] | None = None,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
    ) -> Stops:
        """Build from names of nodes, all at time 0 or from and until these times; for examples and tests."""
        code = {name: i for i, name in enumerate(taxonomy.nodes)}
        said = times if times is not None else [[(0, 0)] * len(r) for r in records]
        span = np.array([pair for r in said for pair in r], np.int64).reshape(-1, 2)
        return cls(
            offsets=offsets_of(np.array([len(r) for r in records], np.int64)),
            place=np.array([code[name] for r in records for name in r], np.int32),
            t=span[:, 0],
            t_end=span[:, 1],
            taxonomy=taxonomy,
            owner=np.arange(len(records)) if owner is None else np.array(owner, np.int64),
            time_format=time_format,
            owners="declared" if owner is None else "given",
        )
