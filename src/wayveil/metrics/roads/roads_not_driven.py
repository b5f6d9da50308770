"""People on roads that they never drove: what publishing a common route invents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.metrics.metric_base import OnRoutes
from wayveil.metrics.roads.road_counts import aligned_roads
from wayveil.model import Routes, Score
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import count, share

__all__ = ["RoadsNotDriven"]


@dataclass(frozen=True, kw_only=True)
class RoadsNotDriven(OnRoutes):
    """How much of what is published puts people on roads that they did not drive in that slice of time.

    A published passage is one row: somebody is published on a road.  It is driven if the person drove this road in a
    trajectory of the same slice.  The headline is the share of passages that are not.

    Notes
    -----
    Only whoever publishes knows whose a published trajectory is, so it is measured there and left out elsewhere.
    Dummies are nobody's and do not count.  O(n log n) time for n rows.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("bd", "b", "d")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab", "bd"]], network=network, owner=[0, 1])
    >>> after = Routes.from_records([["ab", "bc"], ["ab", "bc"]], network=network, owner=[0, 1])
    >>> score = RoadsNotDriven().run(before, after)
    >>> score.value, score.measured["trajectories_share"]
    (0.25, 0.5)
    """

    name: ClassVar[str] = "roads_not_driven"
    summary: ClassVar[str] = "people published on roads that they did not drive"
    additive: ClassVar[bool] = True
    owned: ClassVar[bool] = True

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return passages and trajectories of people, and those with a road that was not driven."""
        names, road = aligned_roads(original, published)
        trajectory = trajectory_of_row(published.offsets)
        real = published.owner[trajectory] >= 0
        # A person in a slice is one number, and with a road another.
        slices = np.concatenate([original.t_start, published.t_start])
        who = distinct_rows(np.concatenate([original.owner, published.owner]), slices).code
        drove = who[: len(original)][trajectory_of_row(original.offsets)] * len(names) + original.road
        shown = who[len(original) :][trajectory] * len(names) + road
        not_driven = real & ~np.isin(shown, drove)
        return {
            "passages": int(real.sum()),
            "not_driven": int(not_driven.sum()),
            "trajectories": len(np.unique(trajectory[real])),
            "touched": len(np.unique(trajectory[not_driven])),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        passages = counts["passages"]
        trajectories = counts["trajectories"]
        return Score(
            name=self.name,
            meaning="share of published passages that put somebody on a road that they did not drive",
            value=counts["not_driven"] / passages if passages else None,
            better="lower",
            unit="share",
            numbers={
                "passages": count(passages, "Published passages of people", "passages"),
                "passages_not_driven": count(counts["not_driven"], "Passages that were not driven", "passages"),
                "trajectories_share": share(
                    counts["touched"] / trajectories if trajectories else None,
                    "Share of trajectories with such a road",
                ),
            },
        )
