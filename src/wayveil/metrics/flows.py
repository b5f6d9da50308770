"""From where to where people go, before and after: places, intersections, kinds of places, cells of a grid."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.expected_counts import CellShares, expected_pairs, share_of_cells
from wayveil.metrics.metric_base import OnPositions, OnRoutes, OnStops, OnVisits
from wayveil.metrics.movement import (
    cell_corner,
    cell_parameter,
    cell_side,
    centres,
    check_comparable,
    finite,
    lines_of,
)
from wayveil.metrics.stats import counts_lost, largest, paired_bars, top_kept, total_variation
from wayveil.metrics.stops.nodes import aligned_nodes, kinds_of_nodes
from wayveil.model import Boxes, Chart, Metric, Number, Points, Routes, Score, Stops, Visits, parameter
from wayveil.model.accumulators import Constant, Tally, side_by_side
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.numbers import count, measure, share

__all__ = ["Flows", "OdMatrix", "RouteFlows", "StopFlows", "ends_of_trips"]

Array = NDArray[Any]

_DRAWN = 12
_THERE = 0.5  # a flow is still there where at least so many trips are to be expected; counts are whole numbers


def top_parameter() -> Any:
    """Declare how many flows are compared one by one."""
    return parameter(kind="int", low=1, high=1000, default=20, help="number of largest flows that are compared")


class _FlowMetric(Metric):
    """Trips counted by where they begin and end.  An end is one column of a tally, or several, as cells have two."""

    top: int
    meaning: ClassVar[str] = "share of trips that are not published, or begin or end somewhere else"
    axis: ClassVar[str]
    additive: ClassVar[bool] = True

    @abstractmethod
    def end_text(self, flows: Tally, end: tuple[int, ...]) -> str:
        """Return where a flow begins or ends as people read it."""

    def first_numbers(self, counts: Mapping[str, Any]) -> dict[str, Number]:
        """Return numbers that come before those that all flows have."""
        return {}

    def last_numbers(self, counts: Mapping[str, Any]) -> dict[str, Number]:
        """Return numbers that come after those that all flows have."""
        return {}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        after = counts["after"]
        # Half of the columns say where trips begin, the other half where they end.
        width = len(before.columns) // 2
        # Points and names can be counted on both sides, and flows are matched by their ends. Boxes cannot: what they
        # say is an expected number for each flow of the original, with all the rest in one last entry.
        if isinstance(after, Tally):
            flows, old, new = side_by_side(before, after)
            # Origins and destinations on their own: flows may be wrong although both are right.
            origins = side_by_side(before.only(*range(width)), after.only(*range(width)))[1:]
            destinations = side_by_side(before.only(*range(width, 2 * width)), after.only(*range(width, 2 * width)))[1:]
        else:
            flows = before
            old, new = after.pairs
            origins = after.origins
            destinations = after.destinations
        # Shares are of the flows that the original has; those that only the publication has show in the share of trips
        # moved.
        occurs = old > 0
        return Score(
            name=self.name,
            meaning=self.meaning,
            value=counts_lost(old, new),
            better="lower",
            unit="share",
            numbers={
                **self.first_numbers(counts),
                "trips_before": count(round(old.sum()), "Trips before", "trips"),
                "trips_after": count(round(new.sum()), "Trips after", "trips"),
                "trips_moved_share": share(total_variation(old, new), "Share of trips moved"),
                "flows_before": count(int(occurs.sum()), "Flows before", "flows"),
                # An expected count of less than half a trip is none: it would round to 0.
                "flows_after": count(int((new >= _THERE).sum()), "Flows after", "flows"),
                "flows_kept_share": share(
                    float((new[occurs] >= _THERE).mean()) if occurs.any() else None, "Share of flows kept"
                ),
                f"top_{self.top}_flows_kept_share": share(
                    top_kept(old, new, self.top), f"Share kept of the {self.top} largest flows"
                ),
                "origins_moved_share": share(total_variation(*origins), "Share of origins moved"),
                "destinations_moved_share": share(total_variation(*destinations), "Share of destinations moved"),
                **self.last_numbers(counts),
            },
            charts=self._charts(flows, old, new, width),
        )

    def _charts(self, flows: Tally, before: Array, after: Array, width: int) -> tuple[Chart, ...]:
        # The largest flows of the original are drawn, with what became of them: largest afterwards would hide what is
        # gone.
        top = largest(before, _DRAWN)
        if not len(top):
            return ()
        rows = zip(*(column[top].tolist() for column in flows.columns), strict=True)
        title = f"The {len(top)} largest flows" if len(top) > 1 else "The largest flow"
        names = [(self.end_text(flows, row[:width]), self.end_text(flows, row[width:])) for row in rows]
        labels = tuple(f"{begin} → {end}" for begin, end in names)
        return (paired_bars(title, labels, before[top], after[top], x_label=self.axis, y_label="trips", names=names),)


class _NamedFlows(_FlowMetric):
    """Flows between ends that have names."""

    def end_text(self, flows: Tally, end: tuple[int, ...]) -> str:
        return flows.names[end[0]]


@dataclass(frozen=True, kw_only=True)
class Flows(_NamedFlows, OnVisits):
    """How the trips are spread over pairs of a first and a last place, before and after.

    A flow is the number of trajectories that begin at one place and end at another (or the same).  The headline is the
    share of the trips that are gone, or begin or end somewhere else: a loss that is even counts.  ``trips_moved_share``
    is the total-variation distance of the flows as shares of all trips, which does not see an even loss.

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

    A trip leads from where its first road begins to where its last road ends.  The headline is the share of the trips
    that are gone, or begin or end somewhere else: a loss that is even counts.  ``trips_moved_share`` is the
    total-variation distance of the flows as shares of all trips, which does not see an even loss.

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
        counts = {}
        for side, data in (("before", original), ("after", published)):
            network = data.network
            ends = ends_of_trips(data.offsets, network.from_node[data.road], network.to_node[data.road])
            counts[side] = Tally.of(*ends, names=network.nodes, named=2)
        return counts


@dataclass(frozen=True, kw_only=True)
class StopFlows(_NamedFlows, OnStops):
    """How the trips are spread over pairs of the kinds of their first and last stop, before and after.

    The kind of a stop is the node right below the root of the taxonomy that it belongs to, so that generalized stops
    can be compared with raw ones.  A stop published at the root has no kind that is known, and a trip that begins or
    ends with one counts as moved.  The headline is the share of the trips that are gone or moved.

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
        # A stop at the root could be of any kind, so it stays a kind of its own, which no raw stop has: such trips
        # count as moved.
        kind[kind < 0] = tree.root
        old = kind[original.place]
        # The publication has a taxonomy of its own: nodes are matched by name.
        new = kind[aligned_nodes(self.name, original, published)]
        before = ends_of_trips(original.offsets, old, old)
        after = ends_of_trips(published.offsets, new, new)
        return {
            "before": Tally.of(*before, names=tree.nodes, named=2),
            "after": Tally.of(*after, names=tree.nodes, named=2),
            "unknown": int(((after[0] == tree.root) | (after[1] == tree.root)).sum()),
        }

    def last_numbers(self, counts: Mapping[str, Any]) -> dict[str, Number]:
        after = counts["after"]
        return {
            "unknown_share": share(
                counts["unknown"] / after.total if len(after) else None, "Share of trips with an end that is not known"
            )
        }


@dataclass(frozen=True, kw_only=True)
class OdMatrix(_FlowMetric, OnPositions):
    """How the trips are spread over pairs of an origin and a destination, before and after.

    The plane is cut into square cells.  A flow is the number of trajectories that begin in one cell and end in another
    (or the same).  The headline is the share of the trips that are gone, or begin or end somewhere else: a loss that is
    even counts.  ``trips_moved_share`` is the total-variation distance of the flows as shares of all trips.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is about 1/16 of what the middle 95 % of the positions span, a round number.
    top : int, 1 to 1000
        Number of largest flows that are compared.

    Notes
    -----
    A published box counts in every cell with the share of its area that lies there, so flows of boxes are expected
    numbers.  Cells lie at multiples of their side.  A trajectory with a single row begins and ends there; one without
    rows is left out.  O(rows + n log n) time for n trajectories, and for boxes the number of pairs of cells of a trip.

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
    axis: ClassVar[str] = "from cell to cell (column, row), counted from the south-west"
    additive: ClassVar[bool] = False  # the cells depend on all of the original

    def end_text(self, flows: Tally, end: tuple[int, ...]) -> str:
        return f"({end[0]}, {end[1]})"

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Points | Boxes) -> Mapping[str, Any]:
        """Return trips by column and row of the cells where they begin and end."""
        check_comparable(self.name, original, published)
        # Cells follow from the original alone, so that the publication cannot choose a grid that suits it.
        cell = cell_side(self.cell, original)
        corner = cell_corner(original, cell)
        before = _cell_flows(original, corner, cell)
        after: Any = None
        if isinstance(published, Boxes):
            after = ExpectedFlows.of(before, published, corner, cell)
        else:
            after = _cell_flows(published, corner, cell)
        return {"cell": Constant(cell), "before": before, "after": after}

    def first_numbers(self, counts: Mapping[str, Any]) -> dict[str, Number]:
        return {"cell_m": measure(finite(counts["cell"].value), "m", "Side of a cell")}


def ends_of_trips(offsets: Array, begin: Array, end: Array) -> tuple[Array, Array]:
    """Return `begin` of the first and `end` of the last row of each trajectory with rows.

    Examples
    --------
    >>> place = np.array([5, 6, 7])
    >>> [side.tolist() for side in ends_of_trips(np.array([0, 2, 2, 3]), place, place)]
    [[5, 7], [6, 7]]
    """
    nonempty = np.diff(offsets) > 0
    return begin[offsets[:-1][nonempty]].astype(np.int64), end[offsets[1:][nonempty] - 1].astype(np.int64)


def _cell_flows(data: Points, corner: tuple[float, float], cell: float) -> Tally:
    """Return trips by column and row of their first cell, then of their last."""
    _, x, y = centres(data)
    columns = lines_of(x, corner[0], cell)
    rows = lines_of(y, corner[1], cell)
    column, row = (ends_of_trips(data.offsets, lines, lines) for lines in (columns, rows))
    return Tally.of(column[0], row[0], column[1], row[1])


@dataclass(frozen=True, eq=False)
class ExpectedFlows:
    """Counts of the original beside what is to be expected of boxes, for pairs of cells, first cells and last cells.

    The last entry of each is all that boxes say to lie in cells where the original has nothing.
    """

    pairs: tuple[Array, Array]
    origins: tuple[Array, Array]
    destinations: tuple[Array, Array]

    @classmethod
    def of(cls, before: Tally, published: Boxes, corner: tuple[float, float], cell: float) -> ExpectedFlows:
        """Spread the first and the last box of each trip over the cells where the original begins or ends."""
        # Only cells in which a trip of the original begins or ends are looked at: a box may cover thousands of others,
        # whose share is what is left to 1.
        column = np.concatenate([before.columns[0], before.columns[2]])
        row = np.concatenate([before.columns[1], before.columns[3]])
        # Each different cell gets a number once, whether trips begin or end in it.
        different = distinct_rows(column, row)
        cells = np.stack([column, row], axis=1)[different.first]
        begin, end = np.split(different.code, 2)
        first, last = ends_of_trips(published.offsets, np.arange(published.n_rows), np.arange(published.n_rows))
        # A trip begins somewhere in its first box and ends somewhere in its last.
        begins, ends = (_box_shares(published, rows, cells, corner, cell) for rows in (first, last))
        n = len(cells)
        trips = float(len(first))
        return cls(
            pairs=_with_rest(before.counts, expected_pairs(begins, ends, begin, end, n), trips),
            origins=_with_rest(np.bincount(begin, weights=before.counts, minlength=n), begins.totals(n), trips),
            destinations=_with_rest(np.bincount(end, weights=before.counts, minlength=n), ends.totals(n), trips),
        )


def _box_shares(published: Boxes, rows: Array, cells: Array, corner: tuple[float, float], cell: float) -> CellShares:
    """Return how much of some boxes lies in some cells."""
    x, y = (
        # Sides in units of cells from the corner of the grid.
        tuple((side[rows] - begin) / cell for side in sides)
        for sides, begin in (
            ((published.x_min, published.x_max), corner[0]),
            ((published.y_min, published.y_max), corner[1]),
        )
    )
    return share_of_cells(cells[:, 0], cells[:, 1], (x[0], x[1]), (y[0], y[1]))


def _with_rest(before: Array, after: Array, total: float) -> tuple[Array, Array]:
    return np.append(before, 0), np.append(after, max(0.0, total - float(after.sum())))
