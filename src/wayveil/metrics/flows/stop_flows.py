"""From which kind of place to which kind people go, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from wayveil.metrics.flows.trip_flows import ends_of_trips, score_flows
from wayveil.metrics.metric_base import OnStops
from wayveil.metrics.stops.nodes import aligned_nodes
from wayveil.metrics.stops.place_kinds import kinds_of_nodes
from wayveil.model import Score, Stops, parameter
from wayveil.model.sums import Tally

__all__ = ["StopFlows"]


@dataclass(frozen=True, kw_only=True)
class StopFlows(OnStops):
    """How the trips are spread over pairs of the kinds of their first and last stop, before and after.

    The kind of a stop is the node right below the root of the taxonomy that it belongs to, so that generalized stops
    can be compared with raw ones.  A stop published at the root has no kind that is known, and a trip that begins or
    ends with one counts as moved.  The headline is the total-variation distance of the flows as shares of all trips.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of largest flows that are compared.

    Notes
    -----
    A trajectory with a single stop begins and ends there; one without stops is left out.  O(n log n) time for n
    trajectories.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Park", "Place")])
    >>> before = Stops.from_records([["Bar", "Park"], ["Park", "Bar"]], taxonomy=tree)
    >>> after = Stops.from_records([["Food", "Park"], ["Park", "Place"]], taxonomy=tree)
    >>> score = StopFlows().run(before, after)
    >>> score.value, score.measured["unknown_share"]
    (0.5, 0.5)
    """

    top: int = parameter(kind="int", low=1, high=1000, default=20, help="number of largest flows that are compared")

    name: ClassVar[str] = "stop_flows"
    summary: ClassVar[str] = "kinds of first and last stops of trips, before and after"

    def run(self, original: Stops, published: Stops) -> Score:
        return self.score(self.count(original, published))

    def count(self, original: Stops, published: Stops) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trips by the kinds of their first and last stops."""
        tree = original.taxonomy
        kind = kinds_of_nodes(tree)
        kind[kind < 0] = tree.root
        old, new = kind[original.place], kind[aligned_nodes(self.name, original, published)]
        before, after = ends_of_trips(original.offsets, old, old), ends_of_trips(published.offsets, new, new)
        return {
            "before": Tally.of(*before, names=tree.nodes, named=2),
            "after": Tally.of(*after, names=tree.nodes, named=2),
            "unknown": int(((after[0] == tree.root) | (after[1] == tree.root)).sum()),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        """Return the score that the counts of all pieces give."""
        before, after = counts["before"], counts["after"]
        more = {"unknown_share": counts["unknown"] / after.total if len(after) else None}
        return score_flows(self.name, "kind", before, after, self.top, more)
