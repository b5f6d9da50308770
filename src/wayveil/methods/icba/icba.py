"""Improved clustering-based anonymization of routes on a road network."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.kernels.routes.cluster_candidates import REPAIRED
from wayveil.methods.routes.cluster_routes import ClusterRoutes, index_parameter, pad_parameter, rho_t_parameter
from wayveil.methods.routes.road_clusters import Clustering
from wayveil.methods.routes.road_parts import Parts
from wayveil.model import parameter
from wayveil.model.claims.counting import row_share_parameter

__all__ = ["Icba"]

_LEAST = 25.0  # the smallest bound that lets routes differ in more than a few roads, for small k
_PER_ROAD = (0.0, 1.25, 2.0)  # what the bound is to the mean length of a part


@dataclass(frozen=True, kw_only=True)
class Icba(ClusterRoutes):
    """Publish, per slice of time, routes that at least `k` people share: that of the cluster instead of their own.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people behind a published route, and on a road that is published at all.
    rho_c : number, >= 0, or "auto"
        Bound of the local error at which a route may join a cluster.  With `auto`, (k / 2)^2 is tried in every slice,
        then at least 25, and 5/4 and 2 times the mean length of a part; what changes the traffic least is taken.
    rho_t : number from 0 to 1
        A route may join clusters that have more than this share of its roads.
    index : {"inverted", "ctree", "none"}
        How clusters are looked for.  The result is the same.
    pad : {"no", "yes"}
        Whether clusters of more than k / 2 people are filled up with dummies, as in the paper.
    row_share : number from 0 to 1, or "1/k"
        Largest share of the trajectories with one published route that one person may own; of a person with more, the
        trips beyond it are left out.

    Guarantee
    ---------
    ``StrictK(k, pad, row_share)``.  An attacker who can link trajectories of different slices, or several parts of one
    trip, is not covered; with ``pad="yes"`` nor is one who recognises dummies.

    Notes
    -----
    Figure 3 of the paper, with these departures.  Supports and sizes count distinct owners.  The error counts the roads
    that differ, which is what Equations 5 and 6 have in common, and is a mean over the roads of the route and the
    representative.  By the mean of Equation 5, over all roads of the cluster, one with many roads is near to everything
    and takes in nearly all routes.  The representative is trimmed by the size of the cluster, never
    below one road.  Without dummies, routes of clusters with too few people look for a cluster with enough of them; a
    repaired error is then bounded by what leaving the route out would cost.  Figure 3 cuts all clusters down to k; here
    everybody in a cluster is published.

    References
    ----------
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014).

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork, Routes
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C"), ("BD", "B", "D")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB", "BD"]], network=network)
    >>> made = Icba(k=3).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [made.data.record(i) for i in range(4)]
    [['AB', 'BC'], ['AB', 'BC'], ['AB', 'BC'], ['AB', 'BC']]
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published route")
    rho_c: float | str = parameter(
        kind="number",
        low=0,
        choices=("auto",),
        default="auto",
        help="bound of the local error at which a route joins a cluster; auto: the best of (k/2)^2, at least 25, and "
        "more for longer routes",
    )
    rho_t: Fraction = rho_t_parameter()
    index: str = index_parameter()
    pad: str = pad_parameter()
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "icba"
    summary: ClassVar[str] = "strict k-anonymity of routes on a road network by clustering, with a local error"
    error: ClassVar[int] = REPAIRED

    def _clusterings(self, parts: Parts) -> tuple[Clustering, ...]:
        return tuple(
            Clustering(
                k=self.k,
                people=self._people,
                owner_share=self.claim.owner_share,
                index=self.index,
                error=self.error,
                share=self.rho_t,
                bound=bound,
                bound_again=self._bound_again(bound),
                pad=self.pad == "yes",
            )
            for bound in self._bounds(parts)
        )

    def _bound_again(self, bound: float) -> float:
        """Return the bound for routes that look for another cluster; -1: what leaving the route out would cost."""
        return -1.0

    def _bounds(self, parts: Parts) -> list[float]:
        """Return the bounds of the local error that are tried, ascending."""
        if not isinstance(self.rho_c, str):
            return [float(self.rho_c)]
        printed = self.k * self.k / 4
        lengths = np.diff(parts.offsets)[parts.route]
        mean = float(lengths.mean()) if len(lengths) else 0.0
        return sorted({printed, *(max(printed, _LEAST, factor * mean) for factor in _PER_ROAD)})
