"""Clustering-based anonymization of routes on a road network, the earlier form."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.kernels.road_candidates import GLOBAL
from wayveil.methods.road_clusters import Clustering, release_clusters
from wayveil.methods.road_parts import check_people, publish_slices
from wayveil.model import BlockKey, Cut, Engine, Published, Routes, StrictK, check_parameters, parameter

__all__ = ["Cba"]


@dataclass(frozen=True, kw_only=True)
class Cba:
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

    Guarantee
    ---------
    ``StrictK(k, pad)``, as for `Icba`.

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
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import RoadNetwork
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
    rho_t: Fraction = parameter(
        kind="fraction",
        low=0,
        high=1,
        default=Fraction(3, 5),
        help="a route can join clusters that have more than this share of its roads",
    )
    index: str = parameter(
        kind="choice",
        choices=("inverted", "ctree", "none"),
        default="inverted",
        help="how clusters are looked for; the result is the same",
    )
    pad: str = parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="yes: fill clusters of more than k/2 people up with dummies; no: dissolve those of fewer than k",
    )

    name: ClassVar[str] = "cba"
    summary: ClassVar[str] = "strict k-anonymity of routes on a road network by clustering, with a global error"
    accepts: ClassVar[type[Routes]] = Routes
    publishes: ClassVar[type[Routes]] = Routes
    cut: ClassVar[Cut] = "block"
    blocks: ClassVar[tuple[BlockKey, ...]] = ("slice", "place")
    makes_parts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> StrictK:
        return StrictK(k=self.k, pad=self.pad)

    def run(self, data: Routes, *, rng: np.random.Generator, engine: Engine) -> Published:
        check_people(self.name, data, self.k)
        how = Clustering(
            k=self.k,
            index=self.index,
            error=GLOBAL,
            share=self.rho_t,
            bound=self.threshold,
            bound_again=self.threshold,
            pad=self.pad == "yes",
        )
        engine.progress("clustering routes")
        return publish_slices(data, self.k, self.claim, engine, lambda parts: release_clusters(parts, how))
