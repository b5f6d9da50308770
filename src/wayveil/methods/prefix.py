"""Prefix-tree anonymization of routes: the baseline that clustering is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.kernels.prefix_tree import kept_prefixes
from wayveil.methods.people import check_people
from wayveil.methods.road_parts import OnRoutes, Parts, Release, publish_slices
from wayveil.model import Engine, Published, Routes, SubsequenceK, parameter
from wayveil.model.ragged import offsets_of

__all__ = ["Prefix"]


@dataclass(frozen=True, kw_only=True)
class Prefix(OnRoutes):
    """Publish, per slice of time, only prefixes of routes that at least `k` people share.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people who share a published prefix, and of those on a road that is published at all.
    reattach : {"lcs", "prefix"}
        `lcs`: routes are taken out until all prefixes of the others are shared by k people; what was taken out is
        published as the prefix of another route that it has most in common with.  `prefix`: every route becomes its
        longest prefix that k people share.

    Guarantee
    ---------
    ``SubsequenceK(k)``.  Whole published routes may be unique, and a map may tell who left them where (inference
    routes): both are not covered.

    Notes
    -----
    The tree is pruned to a fixpoint, and supports count distinct owners.  Of the prefixes with a longest common
    subsequence the shortest one is taken, of equal ones the first by its roads.  Roads that fewer than k people took
    are taken out first, as for the clustering methods; without that hardly anything is left.

    References
    ----------
    Pensa, Monreale, Pinelli, Pedreschi: Pattern-preserving k-anonymization of sequences and its application to mobility
    data mining.  PiLBA 2008.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C"), ("BD", "B", "D")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB", "BD"]], network=network)
    >>> made = Prefix(k=3).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [made.data.record(i) for i in range(4)]
    [['AB', 'BC'], ['AB', 'BC'], ['AB', 'BC'], ['AB']]
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share every part of a published route")
    reattach: str = parameter(
        kind="choice",
        choices=("lcs", "prefix"),
        default="lcs",
        help="rare routes become the shared prefix that is most like them, or their own longest shared prefix",
    )

    name: ClassVar[str] = "prefix"
    summary: ClassVar[str] = "k-anonymity of parts of routes on a road network by a prefix tree, the baseline"

    @property
    def claim(self) -> SubsequenceK:
        return SubsequenceK(k=self.k)

    def run(self, data: Routes, *, rng: np.random.Generator, engine: Engine) -> Published:
        check_people(self.name, data, self.k, "routes")
        engine.progress("pruning routes")
        return publish_slices(data, self.k, self.claim, engine, self._release)

    def _release(self, parts: Parts) -> Release:
        route, length = kept_prefixes(
            parts.offsets,
            parts.road,
            parts.owner_first,
            parts.owner,
            np.argsort(parts.owner, kind="stable"),
            len(parts.roads),
            self.k,
            self.reattach == "lcs",
        )
        own = np.diff(parts.offsets)
        part = np.flatnonzero(length[parts.route])
        begin, lengths = parts.offsets[route[parts.route[part]]], length[parts.route[part]]
        offsets = offsets_of(lengths)
        rows = np.arange(offsets[-1]) + np.repeat(begin - offsets[:-1], lengths)
        changed = (length > 0) & ((route != np.arange(len(route))) | (length < own))
        return Release(
            source=parts.trajectory[part],
            like=parts.trajectory[part],
            offsets=offsets,
            road=parts.roads[parts.road[rows]],
            facts={
                "rare roads taken out": parts.n_roads_removed,
                "rows on rare roads": parts.n_rows_removed,
                "parts": len(parts),
                "parts left out": len(parts) - len(part),
                "parts changed": int(changed[parts.route].sum()),
            },
        )
