"""What the methods that cluster routes declare alike, and how they run: they differ in the error of a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.methods.common.distinct_people import check_people
from wayveil.methods.routes.road_clusters import Clustering, choose_release
from wayveil.methods.routes.road_parts import OnRoutes, Parts, publish_slices
from wayveil.methods.routes.road_shares import fewest_people
from wayveil.model import Engine, MethodResult, Routes, StrictK, parameter

__all__ = ["ClusterRoutes", "index_parameter", "pad_parameter", "rho_t_parameter"]


class ClusterRoutes(OnRoutes, ABC):
    """A method that publishes every route as that of its cluster."""

    k: int
    pad: str
    row_share: Fraction | str

    @property
    def claim(self) -> StrictK:
        return StrictK(k=self.k, pad=self.pad, row_share=self.row_share)

    @property
    def _people(self) -> int:
        """How many share a route, so that there are k of them and one trip of each is no more than its share."""
        return fewest_people(self.k, self.claim.owner_share)

    @abstractmethod
    def _clusterings(self, parts: Parts) -> tuple[Clustering, ...]:
        """How the routes of a slice are clustered; of several ways the one that changes the traffic least is taken."""

    def run(self, data: Routes, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        check_people(self.name, data, self.k, "routes")
        engine.progress("clustering routes")
        return publish_slices(
            data, self._people, self.claim, engine, lambda parts: choose_release(parts, self._clusterings(parts))
        )


def rho_t_parameter() -> Any:
    """Declare how much of a route a cluster must have."""
    return parameter(
        kind="fraction",
        low=0,
        high=1,
        default=Fraction(3, 5),
        help="a route can join clusters that have more than this share of its roads",
    )


def index_parameter() -> Any:
    """Declare how clusters are looked for."""
    return parameter(
        kind="choice",
        choices=("inverted", "ctree", "none"),
        default="inverted",
        help="how clusters are looked for; the result is the same",
    )


def pad_parameter() -> Any:
    """Declare what becomes of clusters of too few people."""
    return parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="yes: fill clusters of more than k/2 people up with dummies; no: dissolve those of fewer than k",
    )
