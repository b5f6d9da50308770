"""Clustering-based anonymization of routes on a road network, the earlier form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wayveil.kernels.routes.cluster_candidates import GLOBAL
from wayveil.methods.routes.cluster_routes import ClusterRoutes, index_parameter, pad_parameter, rho_t_parameter
from wayveil.methods.routes.road_clusters import Clustering
from wayveil.methods.routes.road_parts import Parts
from wayveil.model import parameter
from wayveil.model.claims.counting import row_share_parameter

__all__ = ["Cba"]


@dataclass(frozen=True, kw_only=True)
class Cba(ClusterRoutes):
    """Publish, per slice of time, routes that at least `k` people share; clusters are judged by the traffic on roads.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of people behind a published route, and on a road that is published at all.
    threshold : number, >= 0
        Bound of the error at which a route may join a cluster: the mean, over the roads of the cluster and the route,
        of the change of the traffic on a road over the traffic that there was.  0.6 is the paper's value.
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
    ``StrictK(k, pad, row_share)``, as for `Icba`.

    Notes
    -----
    The method that `Icba` improves on: all steps are the same, but the error is Equation 1 of the paper and its bound a
    fixed number.  The paper does not say over which roads and for which state it is computed.  Here it is over the
    roads of the cluster and the route (as in its Figure 6), with the traffic as it would be published if all routes
    that are not clustered yet stayed as they are.

    References
    ----------
    Lin, Gurung, Jiang, Hurson: Privacy-preserving location publishing under road-network constraints.  DASFAA 2010.
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork, Routes
    >>> network = RoadNetwork.from_roads([("AB", "A", "B"), ("BC", "B", "C"), ("BD", "B", "D")])
    >>> data = Routes.from_records([["AB", "BC"]] * 3 + [["AB", "BD"]], network=network)
    >>> made = Cba(k=3).run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    >>> [made.data.record(i) for i in range(4)]
    [['AB', 'BC'], ['AB', 'BC'], ['AB', 'BC'], ['AB', 'BC']]
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published route")
    threshold: float = parameter(
        kind="number", low=0, default=0.6, help="bound of the mean change of traffic at which a route joins a cluster"
    )
    rho_t: Fraction = rho_t_parameter()
    index: str = index_parameter()
    pad: str = pad_parameter()
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "cba"
    summary: ClassVar[str] = "strict k-anonymity of routes on a road network by clustering, with a global error"

    def _clusterings(self, parts: Parts) -> tuple[Clustering, ...]:
        return (
            Clustering(
                k=self.k,
                people=self._people,
                owner_share=self.claim.owner_share,
                index=self.index,
                error=GLOBAL,
                share=self.rho_t,
                bound=self.threshold,
                bound_again=self.threshold,
                pad=self.pad == "yes",
            ),
        )
