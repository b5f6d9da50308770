"""From where to where people go, before and after: places, intersections, kinds of places, cells of a grid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnPositions, OnRoutes, OnStops, OnVisits
from wayveil.metrics.movement import (
    bounding_box,
    cell_parameter,
    cell_side,
    centres,
    check_comparable,
    finite,
    lines_of,
)
from wayveil.metrics.stats import largest, paired_bars, top_kept, total_variation
from wayveil.metrics.stops.nodes import aligned_nodes, kinds_of_nodes
from wayveil.model import Chart, Metric, Points, Regions, Routes, Score, Stops, Visits, parameter
from wayveil.model.accumulators import Same, Tally, side_by_side

__all__ = ["Flows", "OdMatrix", "RouteFlows", "StopFlows", "ends_of_trips"]

Array = NDArray[Any]

_DRAWN = 12


def top_parameter() -> Any:
    """Declare how many flows are compared one by one."""
    return parameter(kind="int", low=1, high=1000, default=20, help="number of largest flows that are compared")


class _FlowMetric(Metric):
    """Trips counted by where they begin and end.  An end is one column of a tally, or several, as cells have two."""

    top: int
    meaning: ClassVar[str] = "share of trips that would need another origin or destination to give the original flows"
    axis: ClassVar[str]
    additive: ClassVar[bool] = True

    @abstractmethod
    def end_text(self, flows: Tally, end: tuple[int, ...]) -> str:
        """Return where a flow begins or ends as people read it."""

    def first_measured(self, counts: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Return numbers that come before those that all flows have."""
        return {}

    def last_measured(self, counts: Mapping[str, Any]) -> dict[str, int | float | None]:
        """Return numbers that come after those that all flows have."""
        return {}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        after = counts["after"]
        flows, old, new = side_by_side(before, after)
        there = old > 0
        width = len(flows.columns) // 2
        return Score(
            name=self.name,
            meaning=self.meaning,
            value=total_variation(old, new),
            better="lower",
            percent=True,
            measured={
                **self.first_measured(counts),
                "trips_before": int(old.sum()),
                "trips_after": int(new.sum()),
                "flows_before": int(there.sum()),
                "flows_after": int((new > 0).sum()),
                "flows_kept_share": float((new[there] > 0).mean()) if there.any() else None,
                f"top_{self.top}_flows_kept_share": top_kept(old, new, self.top),
                "origins_moved_share": _moved(before, after, range(width)),
                "destinations_moved_share": _moved(before, after, range(width, 2 * width)),
                **self.last_measured(counts),
            },
            charts=self._charts(flows, old, new, width),
        )

    def _charts(self, flows: Tally, before: Array, after: Array, width: int) -> tuple[Chart, ...]:
        top = largest(before, _DRAWN)
        if not len(top):
            return ()
        rows = zip(*(column[top].tolist() for column in flows.columns), strict=True)
        title = f"The {len(top)} largest flows" if len(top) > 1 else "The largest flow"
        labels = tuple(f"{self.end_text(flows, row[:width])} → {self.end_text(flows, row[width:])}" for row in rows)
        return (paired_bars(title, labels, before[top], after[top], x_label=self.axis, y_label="trips"),)


class _NamedFlows(_FlowMetric):
    """Flows between ends that have names."""

    def end_text(self, flows: Tally, end: tuple[int, ...]) -> str:
        return flows.names[end[0]]


@dataclass(frozen=True, kw_only=True)
class Flows(_NamedFlows, OnVisits):
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

    top: int = top_parameter()

    name: ClassVar[str] = "flows"
    summary: ClassVar[str] = "first and last places of trips, before and after"
    axis: ClassVar[str] = "from place to place"

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return trips by first and last place."""
        before, after = (
            Tally.of(*ends_of_trips(data.offsets, data.location, data.location), names=data.locations, named=2)
            for data in (original, published)
        )
        return {"before": before, "after": after}


@dataclass(frozen=True, kw_only=True)
class RouteFlows(_NamedFlows, OnRoutes):
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

    top: int = top_parameter()

    name: ClassVar[str] = "route_flows"
    summary: ClassVar[str] = "intersections where trips begin and end, before and after"
    axis: ClassVar[str] = "from intersection to intersection"

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return trips by the intersections where they begin and end."""
        found = {}
        for side, data in (("before", original), ("after", published)):
            network = data.network
            ends = ends_of_trips(data.offsets, network.from_node[data.road], network.to_node[data.road])
            found[side] = Tally.of(*ends, names=network.nodes, named=2)
        return found


@dataclass(frozen=True, kw_only=True)
class StopFlows(_NamedFlows, OnStops):
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

    top: int = top_parameter()

    name: ClassVar[str] = "stop_flows"
    summary: ClassVar[str] = "kinds of first and last stops of trips, before and after"
    axis: ClassVar[str] = "from kind to kind"

    def count(self, original: Stops, published: Stops) -> Mapping[str, Any]:
        """Return trips by the kinds of their first and last stops."""
        tree = original.taxonomy
        kind = kinds_of_nodes(tree)
        kind[kind < 0] = tree.root
        old = kind[original.place]
        new = kind[aligned_nodes(self.name, original, published)]
        before = ends_of_trips(original.offsets, old, old)
        after = ends_of_trips(published.offsets, new, new)
        return {
            "before": Tally.of(*before, names=tree.nodes, named=2),
            "after": Tally.of(*after, names=tree.nodes, named=2),
            "unknown": int(((after[0] == tree.root) | (after[1] == tree.root)).sum()),
        }

    def last_measured(self, counts: Mapping[str, Any]) -> dict[str, int | float | None]:
        after = counts["after"]
        return {"unknown_share": counts["unknown"] / after.total if len(after) else None}


@dataclass(frozen=True, kw_only=True)
class OdMatrix(_FlowMetric, OnPositions):
    """How the trips are spread over pairs of an origin and a destination, before and after.

    The plane is cut into square cells.  A flow is the number of trajectories that begin in one cell and end in another
    (or the same).  The headline is the total-variation distance of the flows as shares of all trips: the share of trips
    that would have to be given another origin or destination to turn one matrix into the other.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is 1/16 of the longer side of the bounding box of the original.
    top : int, 1 to 1000
        Number of largest flows that are compared.

    Notes
    -----
    Boxes stand for their centres.  A trajectory with a single row begins and ends there; one without rows is left out.
    O(rows + n log n) time for n trajectories.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (9, 95.0, 0.0)], [(0, 5.0, 0.0), (9, 99.0, 0.0)]])
    >>> after = Points.from_records([[(0, 0.0, 0.0), (9, 95.0, 0.0)], [(0, 5.0, 0.0), (9, 89.0, 0.0)]])
    >>> OdMatrix(cell=10).run(before, after).value
    0.5
    """

    cell: float | str = cell_parameter()
    top: int = top_parameter()

    name: ClassVar[str] = "od_matrix"
    summary: ClassVar[str] = "origins and destinations of trips, before and after"
    meaning: ClassVar[str] = "share of trips that would need another origin or destination to give the original matrix"
    axis: ClassVar[str] = "from cell to cell (column, row), counted from the south-west"
    additive: ClassVar[bool] = False  # the cells depend on all of the original

    def end_text(self, flows: Tally, end: tuple[int, ...]) -> str:
        return f"({end[0]}, {end[1]})"

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Points | Regions) -> Mapping[str, Any]:
        """Return trips by column and row of the cells where they begin and end."""
        check_comparable(self.name, original, published)
        x_0, _, y_0, _ = bounding_box(original) or (0.0, 0.0, 0.0, 0.0)
        cell = cell_side(self.cell, original)
        found: dict[str, Any] = {"cell": Same(cell)}
        for side, data in (("before", original), ("after", published)):
            _, x, y = centres(data)
            columns = lines_of(x, x_0, cell)
            rows = lines_of(y, y_0, cell)
            column, row = (ends_of_trips(data.offsets, lines, lines) for lines in (columns, rows))
            found[side] = Tally.of(column[0], row[0], column[1], row[1])
        return found

    def first_measured(self, counts: Mapping[str, Any]) -> dict[str, int | float | None]:
        return {"cell_m": finite(counts["cell"].value)}


def ends_of_trips(offsets: Array, begin: Array, end: Array) -> tuple[Array, Array]:
    """Return `begin` of the first and `end` of the last row of each trajectory with rows.

    Examples
    --------
    >>> place = np.array([5, 6, 7])
    >>> [side.tolist() for side in ends_of_trips(np.array([0, 2, 2, 3]), place, place)]
    [[5, 7], [6, 7]]
    """
    there = np.diff(offsets) > 0
    return begin[offsets[:-1][there]].astype(np.int64), end[offsets[1:][there] - 1].astype(np.int64)


def _moved(before: Tally, after: Tally, end: range) -> float | None:
    _, old, new = side_by_side(before.only(*end), after.only(*end))
    return total_variation(old, new)
