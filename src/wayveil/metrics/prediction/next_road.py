"""How well the published data tell onto which road somebody drives next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.metrics.metric_base import OnRoutes
from wayveil.metrics.prediction.predictions import Prediction, steps_of
from wayveil.metrics.roads.road_counts import aligned_roads
from wayveil.model import Routes, Score

__all__ = ["NextRoad"]


@dataclass(frozen=True, kw_only=True)
class NextRoad(OnRoutes):
    """How much worse the next road is predicted by who has the published data and not the original.

    The predictor is a first-order Markov chain: from each road it guesses onto which one most people drove next, and
    where too few went on, the roads that most people come to.  It is trained once on the original and once on the
    published data, and tested on the original trips of a fifth of the people.  The headline is the difference of the
    shares of first guesses that are right.

    Notes
    -----
    Trips of all times are taken together, and a gap in a trip is a step like any other.  For the people of the test and
    ``loss_to_others`` see `NextPlace`.  O(n log n) time for n rows.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d")])
    >>> before = Routes.from_records([["ab", "bc", "cd"]] * 10, network=network)
    >>> after = Routes.from_records([["ab", "bc"]] * 10, network=network)
    >>> NextRoad().run(before, after).value
    0.5
    """

    name: ClassVar[str] = "next_road"
    summary: ClassVar[str] = "prediction of the next road, trained before and after"

    def run(self, original: Routes, published: Routes) -> Score:
        names, codes = aligned_roads(original, published)
        before = steps_of(original.offsets, original.road.astype(np.int64), original.owner)
        found = Prediction.of(before, steps_of(published.offsets, codes, published.owner), len(names))
        return Score(
            name=self.name,
            meaning="how much more often the next road is guessed right with the original than with what is published",
            value=found.loss,
            better="lower",
            percent=True,
            measured=found.measured(),
            charts=found.chart("Next roads that are guessed right"),
        )
