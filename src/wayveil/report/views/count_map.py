"""Tables of counts on a map, beside the same counts of the original: zones, roads, or flows from zone to zone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.model import CountTables, seconds_per_unit
from wayveil.model.data.count_tables import ALL, EVERYWHERE, Events, list_events
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray
from wayveil.model.data.trips import DESTINATION, ORIGIN
from wayveil.report.suppression import MIN_PEOPLE
from wayveil.report.views.counted import Counted, bare_names, located
from wayveil.report.views.map_geometry import Ring
from wayveil.report.views.time_slices import Slices, slice_times

__all__ = ["CountedTable", "count_table"]

_Spot = tuple[float, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class CountedTable:
    """A table of counts as marks of a map, with the title of the map and the slices of time that it tells."""

    title: str
    counted: Counted
    slices: Slices | None


def count_table(
    before: Any, after: CountTables, *, names: tuple[str, str], zones: Mapping[str, Ring], cells: Mapping[str, str]
) -> CountedTable | None:
    """Return what a table counts, beside the same of the original; None where it is not known where zones are.

    Parameters
    ----------
    zones : mapping
        Outlines of zones, by name.
    cells : mapping
        What is counted: see `map_view`.

    Notes
    -----
    A mark adds up all times.  Where people are counted, the same person counts in every bucket of time, on both sides.
    Totals of the table are not drawn: they would count everything twice.
    """
    spots = _spots(before, zones)
    if not spots:
        return None
    people = cells["counted"] == "people"
    events = list_events(before, tally=cells["tally"], every=cells["every"], component="map")
    if people:
        once = np.unique(np.stack([events.zone, events.to_zone, events.t, events.person]), axis=1, return_index=True)[1]
        events = Events(events.names, *(column[once] for column in events[1:]))
    flows = cells["tally"] == "flows"
    rows = after.cells()
    ends = [_named(events.names, events.zone, before), _named(after.zones, after.zone, before)]
    others = [_named(events.names, events.to_zone, before), _named(after.zones, after.to_zone, before)]
    marks = _marks(ends, others, spots, flows=flows)
    code, made_code = (_code(marks, one, other) for one, other in zip(ends, others, strict=True))
    made_code = np.where(rows, made_code, -1)
    n = len(marks)
    one_time = cells["every"] == ALL or not before.has_times()
    roads = before.name_word == "roads" and not zones and not flows
    lines = _lines_of_roads(before.network) if roads else {}
    drawn = [lines[begin] if roads else (*spots[begin], *spots[end or begin]) for begin, end in marks]
    at = np.array(drawn, np.float64).reshape(-1, 4).T

    def count(wanted: BoolArray) -> FloatArray:
        some = wanted & (made_code >= 0)
        return np.bincount(made_code[some], weights=after.count[some], minlength=n).astype(np.float64)

    def people_in(wanted: BoolArray) -> IntArray:
        # A table of people at one time says how many; others say how often.
        return count(wanted).astype(np.int64) if people and one_time else np.full(n, -1)

    rings = () if flows or not zones else tuple(zones[begin] for begin, _ in marks)
    kind = "flows" if flows else "zones" if rings else "roads" if roads else "places"
    return CountedTable(
        title="Where people go" if flows else "Where people are",
        counted=Counted(
            kind=kind,
            labels=tuple(f"{begin} → {end}" if end else begin for begin, end in marks),
            x=at[0], y=at[1], x2=at[2], y2=at[3],
            code=code,
            owner=events.person,
            count=count,
            people=people_in,
            what=_what(before, flows=flows, people=people),
            below=_below(names, kind, flows=flows, people=people, one_time=one_time),
            percent=False,
            rings=rings,
        ),
        slices=None if one_time else _slices(before, events, after),
    )  # fmt: skip


def _spots(before: Any, zones: Mapping[str, Ring]) -> dict[str, Any]:
    """Return where the middle of every zone, place or road is."""
    if zones:
        return {name: tuple((ring.min() + ring.max()) / 2 for ring in zones[name]) for name in zones}
    if before.name_word == "roads":
        network = before.network
        if network.node_x is None or network.node_y is None:
            return {}
        x = (network.node_x[network.from_node] + network.node_x[network.to_node]) / 2
        y = (network.node_y[network.from_node] + network.node_y[network.to_node]) / 2
        return dict(zip(network.roads, zip(x.tolist(), y.tolist(), strict=True), strict=True))
    if located(before):
        positions = zip(before.place_x.tolist(), before.place_y.tolist(), strict=True)
        return dict(zip(bare_names(before), positions, strict=True))
    return {}


def _lines_of_roads(network: Any) -> dict[str, tuple[float, ...]]:
    """Return where every road begins and ends."""
    x, y = network.node_x, network.node_y
    ends = (x[network.from_node], y[network.from_node], x[network.to_node], y[network.to_node])
    return dict(zip(network.roads, zip(*(column.tolist() for column in ends), strict=True), strict=True))


def _named(zones: tuple[str, ...], code: IntArray, before: Any) -> list[str]:
    """Return the zone of each row by its bare name: a table of ends of trips says which end it is."""
    bare = [name.removeprefix(ORIGIN).removeprefix(DESTINATION) if before.trip_ends else name for name in zones]
    return [bare[one] for one in code.tolist()]


def _marks(
    ends: list[list[str]], others: list[list[str]], spots: Mapping[str, _Spot], *, flows: bool
) -> dict[tuple[str, str], int]:
    """Return a number for every zone, or for every pair of zones, that can be drawn and that some row names."""
    pairs = {
        pair
        for begins, goes in zip(ends, others, strict=True)
        for pair in zip(begins, goes, strict=True)
        if pair[0] in spots and (pair[1] in spots if flows else pair[1] == EVERYWHERE)
    }
    return {pair: i for i, pair in enumerate(sorted(pairs))}


def _code(marks: Mapping[tuple[str, str], int], ends: list[str], others: list[str]) -> IntArray:
    return np.array([marks.get(pair, -1) for pair in zip(ends, others, strict=True)], np.int64)


def _slices(before: Any, events: Events, after: CountTables) -> Slices | None:
    """Return the slices of time of both; rows of the table that are of all times are in none."""
    found = slice_times(events.t, after.t[after.timed], seconds_per_unit(before.time_format))
    if found is None:
        return None
    place = np.full(after.n_rows, -1)
    place[after.timed] = found.after
    return Slices(labels=found.labels, before=found.before, after=place, hours=found.hours)


def _what(before: Any, *, flows: bool, people: bool) -> str:
    if people:
        return "people"
    return "ways" if flows else str(before.row_word)


def _below(names: tuple[str, str], kind: str, *, flows: bool, people: bool, one_time: bool) -> str:
    where = "from zone to zone; the largest flows are drawn" if flows else "per road" if kind == "roads" else "per zone"
    what = "People" if people else "Ways" if flows else "Visits"
    again = "" if one_time or not people else " Whoever is there in two buckets of time counts in both."
    zones = "Flows" if flows else "Roads" if kind == "roads" else "Zones"
    return (
        f"{what} {where}.{again} {zones} of the {names[0]} with fewer than {MIN_PEOPLE} people are withheld; of the "
        f"{names[1]} what has no number was not published."
    )
