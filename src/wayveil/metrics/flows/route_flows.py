"""From which intersection to which intersection people drive, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wayveil.metrics.flows.trip_flows import ends_of_trips, score_flows
from wayveil.metrics.metric_base import OnRoutes
from wayveil.model import Routes, Score, parameter
from wayveil.model.sums import Tally

__all__ = ["RouteFlows"]


@dataclass(frozen=True, kw_only=True)
class RouteFlows(OnRoutes):
    """How the trips are spread over pairs of the intersections where they begin and end, before and after.

    A trip leads from where its first road begins to where its last road ends.  The headline is the total-variation
    distance of the flows as shares of all trips: the share of trips that would have to be given another origin or
    destination to turn one set of flows into the other.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of largest flows that are compared.

    Notes
    -----
    All times are taken together.  Intersections are matched by name.  Parts of trips and dummies count as trips, as
    nobody can tell them apart.  O(n log n) time for n trajectories.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab"]], network=network)
    >>> after = Routes.from_records([["ab"], ["ab"]], network=network)
    >>> RouteFlows().run(before, after).value
    0.5
    """

    top: int = parameter(kind="int", low=1, high=1000, default=20, help="number of largest flows that are compared")

    name: ClassVar[str] = "route_flows"
    summary: ClassVar[str] = "intersections where trips begin and end, before and after"

    def run(self, original: Routes, published: Routes) -> Score:
        return self.score(self.count(original, published))

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by where they begin and end."""
        return {"before": _trips(original), "after": _trips(published)}

    def score(self, counts: Mapping[str, Any]) -> Score:
        """Return the score that the counts of all pieces give."""
        return score_flows(self.name, "intersection", counts["before"], counts["after"], self.top)


def _trips(data: Routes) -> Tally:
    network = data.network
    begin, end = (ends[data.road] for ends in (network.from_node, network.to_node))
    return Tally.of(*ends_of_trips(data.offsets, begin, end), names=network.nodes, named=2)
