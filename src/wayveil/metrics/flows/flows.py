"""From which place to which place people go, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wayveil.metrics.flows.trip_flows import ends_of_trips, score_flows
from wayveil.metrics.metric_base import OnVisits
from wayveil.model import Score, Visits, parameter
from wayveil.model.sums import Tally

__all__ = ["Flows"]


@dataclass(frozen=True, kw_only=True)
class Flows(OnVisits):
    """How the trips are spread over pairs of a first and a last place, before and after.

    A flow is the number of trajectories that begin at one place and end at another (or the same).  The headline is the
    total-variation distance of the flows as shares of all trips: the share of trips that would have to be given another
    origin or destination to turn one set of flows into the other.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of largest flows that are compared.

    Notes
    -----
    A trajectory with a single visit begins and ends there; one without visits is left out.  Only the order of visits
    matters, not their times.  Places are matched by name.  O(n log n) time for n trajectories.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 2), ("b", 3)]])
    >>> after = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 2)]])
    >>> Flows().run(before, after).value
    0.5
    """

    top: int = parameter(kind="int", low=1, high=1000, default=20, help="number of largest flows that are compared")

    name: ClassVar[str] = "flows"
    summary: ClassVar[str] = "first and last places of trips, before and after"

    def run(self, original: Visits, published: Visits) -> Score:
        return self.score(self.count(original, published))

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by first and last place."""
        return {"before": _trips(original), "after": _trips(published)}

    def score(self, counts: Mapping[str, Any]) -> Score:
        """Return the score that the counts of all pieces give."""
        return score_flows(self.name, "place", counts["before"], counts["after"], self.top)


def _trips(data: Visits) -> Tally:
    ends = ends_of_trips(data.offsets, data.location, data.location)
    return Tally.of(*ends, names=data.locations, named=2)
