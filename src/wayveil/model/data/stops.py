"""Stops: which places people visited, in which order, as nodes of a taxonomy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_order
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, offsets_of
from wayveil.model.data.times import TimeFormat
from wayveil.model.data.trajectories import Columns, Sites, Trajectories
from wayveil.model.places.taxonomy import Taxonomy

__all__ = ["Stops"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Stops(Trajectories):
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

    place: IntArray
    t: IntArray
    t_end: IntArray
    taxonomy: Taxonomy

    kind: ClassVar[str] = "stops"
    row_word: ClassVar[str] = "stops"
    row_columns: ClassVar[Columns] = {"place": np.int32, "t": np.int64, "t_end": np.int64}
    code_columns: ClassVar[tuple[str, ...]] = ("place",)
    names_field: ClassVar[str] = "taxonomy"
    name_word: ClassVar[Literal["places", "roads"] | None] = "places"
    shared: ClassVar[str | None] = "taxonomy"
    nothing_left: ClassVar[str] = (
        "Nothing was published: no stop is left, because too few people visit as many places as others. Ask for a "
        "smaller m or a larger c."
    )

    def _check_rows(self) -> None:
        if len(self.place) and not 0 <= self.place.min() <= self.place.max() < len(self.taxonomy):
            # Published stops may be at inner nodes, so any node of the tree is allowed, not only leaves.
            raise InputError("Stops: a place is not in the taxonomy.")
        if (self.t > self.t_end).any():
            raise InputError("Stops: a stop must not end before it begins.")
        check_order("Stops", self.offsets, self.t, strictly=False)

    @property
    def sensitive(self) -> BoolArray:
        """Whether a stop is at a sensitive node, one per row."""
        return self.taxonomy.sensitive[self.place]

    def record(self, trajectory: int) -> list[str]:
        """Return one trajectory as names of nodes; for people and tests, not for loops over data."""
        rows = self.rows(trajectory)
        return [self.taxonomy.nodes[place] for place in self.place[rows].tolist()]

    @classmethod
    def tiny(cls) -> Self:
        """Return two people with the same two places, one of them with a sensitive one between."""
        taxonomy = Taxonomy.from_parents([("o", ""), ("a", "o"), ("b", "o"), ("s", "o")], sensitive=["s"])
        return cls.from_records([["a", "s", "b"], ["a", "b"]], taxonomy=taxonomy)

    def times(self) -> IntArray:
        """Return when each stop began."""
        return self.t

    def has_times(self) -> bool:
        """Return whether any time is known: otherwise all are 0."""
        # The reader sets all times to 0 where a file has none.
        return bool(self.t.any())

    def moments(self) -> IntArray | None:
        """Return when each stop began, if that is known."""
        return self.t if self.has_times() else None

    def known_lengths(self) -> IntArray:
        """Return how many stops are not sensitive: of others an attacker does not know."""
        # A running count of the stops that are not sensitive: the difference at both ends of a trajectory is its number
        # of them.
        counted = np.concatenate([[0], np.cumsum(~self.sensitive)])
        return np.diff(counted[self.offsets])

    def sites(self) -> Sites:
        """Return the nodes, and the leaves below each."""
        tree = self.taxonomy
        # Leaves are numbered in the order of the tree, so those below any node are a range: from the number of leaves
        # before its first node to the number before the one behind its last.
        leaves_before = np.concatenate([[0], np.cumsum(tree.is_leaf[tree.order])])
        leaves = np.stack([leaves_before[tree.first], leaves_before[tree.last]], axis=1)
        return Sites(names=tree.nodes, code=self.place, leaves=leaves)

    def size_text(self, sides: str, lasting: str, *, has_extent: bool) -> str:
        """Return for how many of all places a stop stands."""
        tree = self.taxonomy
        places = int(tree.is_leaf.sum())
        return f"the median stop stands for {int(np.median(tree.n_leaves[self.place]))} of {places:,} places"

    def curve_keys(self) -> IntArray:
        """Return where the first place is in the order of the taxonomy: places of one kind are near."""
        if not self.n_rows:
            return super().curve_keys()
        position: IntArray = self.taxonomy.first[self.place[self._first_rows()]]
        return position

    def equal_columns(self) -> tuple[IntArray, tuple[IntArray, ...]]:
        """Return the places that are not sensitive."""
        # Whether two people can be confused is decided by what an attacker may know.  Sensitive stops are what must not
        # be inferred, so they do not tell people apart.
        known = ~self.sensitive
        return keep_rows(self.offsets, known), (self.place[known].astype(np.int64),)

    @staticmethod
    def _list_names(names: Taxonomy) -> Sequence[str]:
        return names.nodes

    @classmethod
    def _unify(cls, parts: Sequence[Self]) -> Sequence[Self]:
        """Return parts with one taxonomy: theirs, if they share it already, or that of all nodes."""
        if all(part.taxonomy is parts[0].taxonomy for part in parts):
            return parts
        taxonomy = Taxonomy.union([part.taxonomy for part in parts])
        return [part.recode(taxonomy) for part in parts]

    def _same_codes(self, other: Self) -> bool:
        """Return whether the places have the same names, and the taxonomies are the same but for their order."""
        return super()._same_codes(other) and self.taxonomy.same_nodes(other.taxonomy)

    def _place_counts(self) -> dict[str, int]:
        return {"Different places": len(np.unique(self.place))}

    @classmethod
    def from_records(
        cls,
        records: Sequence[Sequence[str]],
        *,
        taxonomy: Taxonomy,
        times: Sequence[Sequence[tuple[int, int]]] | None = None,
        owner: Sequence[int] | None = None,
        time_format: TimeFormat = "integer",
    ) -> Self:
        """Build from names of nodes, all at time 0 or from and until these times; for examples and tests."""
        code = {name: i for i, name in enumerate(taxonomy.nodes)}
        spans = times if times is not None else [[(0, 0)] * len(r) for r in records]
        span = np.array([pair for r in spans for pair in r], np.int64).reshape(-1, 2)
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
