"""Where people are, before and after, as data for a map: what is counted in cells, on roads or at places, and lines.

Of the raw data, what fewer than `MIN_PEOPLE` people have is left out before anything is told, in all and in every slice
of time; trajectories of it are told only where the data owner asked for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from wayveil.model import Data
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.report.results_schema import MapData, MapLayer, MapMarks, MapSlice
from wayveil.report.suppression import MIN_PEOPLE, count_people_by_code
from wayveil.report.text.number_format import format_percent
from wayveil.report.views.count_map import CountedTable, count_table
from wayveil.report.views.counted import Counted, bare_names, located
from wayveil.report.views.map_geometry import Frame, Ring, layer_of, network_lines, ring_lines, strokes_of
from wayveil.report.views.time_slices import Slices, slices_of

__all__ = ["map_view"]

_CELLS = (
    48,
    36,
    24,
    16,
    10,
    6,
)  # along the longer side of the map: the first with which half of the raw rows are shown
_MOST = {"roads": 6000, "flows": 400}  # marks that are drawn at most: the largest
_STEPS = 20_000  # whole steps along the longer side of the map


def map_view(
    before: Any,
    after: Any,
    *,
    names: tuple[str, str],
    with_raw: bool = False,
    published: bool = True,
    zones: Mapping[str, Ring] | None = None,
    cells: Mapping[str, str] | None = None,
) -> MapData | None:
    """Return the map of two data, under these names; None where it is not known where things are.

    Parameters
    ----------
    before, after : Data
        The original and what was made of it; their trajectories need not be in the same order.
    with_raw : bool
        Whether whoever sees the report may see trajectories of people.
    published : bool
        Whether `after` kept its promise.  If not, it is treated like the original.
    zones : mapping, optional
        Where places are that are zones: the corners of their outlines, in metres of a plane.
    cells : mapping, optional
        What tables of counts count: `tally`, `counted` and `every`, as in the metric `count_error`.
    """
    if not after.individual:
        # A table says how many: its rows are not people to be drawn as lines.
        table = None if cells is None else count_table(before, after, names=names, zones=zones or {}, cells=cells)
        return None if table is None else _table_map(table, before, after, names, published)
    counted = _counted(before, after, names, zones or {})
    network = getattr(before, "network", None)
    chosen: list[tuple[str, Any, bool]] = [(names[0], before, True)] if with_raw else []
    if published or with_raw:
        chosen.append((names[1], after, False))
    # Published trajectories are drawn only where they were published, or raw ones may be seen as well.
    lines = [(name, raw, strokes_of(data, network)) for name, data, raw in chosen]
    strokes = [(name, raw, part) for name, raw, part in lines if part is not None and len(part.x)]
    if counted is None and not strokes:
        return None
    extent = _extent(counted, [part for _, _, part in strokes])
    # Positions become whole steps: shorter to write, and no coordinate finer than a pixel.
    step = max(extent[2] - extent[0], extent[3] - extent[1], 1e-3) / _STEPS
    frame = Frame(x=extent[0], y=extent[1], step=step)
    times = slices_of(before, after)
    layers: list[MapLayer] = [
        layer_of(
            part, frame, name=name, raw=raw, slices=None if times is None else times.before if raw else times.after
        )
        for name, raw, part in strokes
    ]
    marks, slices, finding = (
        (None, [], "") if counted is None else _tell(counted, before, after, frame, published, times)
    )
    if marks is None and times is not None:
        slices = [MapSlice(label=label, marks=[], raw=[], published=[]) for label in times.labels]
    return MapData(
        title="Where people are",
        finding=finding,
        below="" if counted is None else counted.below,
        names=names,
        what="trajectories" if counted is None else counted.what,
        percent=counted is not None and counted.percent,
        origin=(frame.x, frame.y),
        step=step,
        extent=extent,
        marks=marks,
        slices=slices,
        background=network_lines(network, frame),
        layers=layers,
    )


def _table_map(table: CountedTable, before: Any, after: Any, names: tuple[str, str], published: bool) -> MapData | None:
    """Return the map of a table of counts, beside the same counts of the original."""
    extent = _extent(table.counted, [])
    step = max(extent[2] - extent[0], extent[3] - extent[1], 1e-3) / _STEPS
    frame = Frame(x=extent[0], y=extent[1], step=step)
    marks, slices, finding = _tell(table.counted, before, after, frame, published, table.slices)
    if marks is None:
        return None
    return MapData(
        title=table.title,
        finding=finding,
        below=table.counted.below,
        names=names,
        what=table.counted.what,
        percent=False,
        origin=(frame.x, frame.y),
        step=step,
        extent=extent,
        marks=marks,
        slices=slices,
        background=network_lines(getattr(before, "network", None), frame),
        layers=[],
    )


def _counted(before: Any, after: Any, names: tuple[str, str], zones: Mapping[str, Ring]) -> Counted | None:
    if before.n_rows == 0:
        return None
    # From what says most: zones with outlines, roads, cells of a grid, places with positions.
    if zones and before.name_word == after.name_word == "places" and len(before.places().code) == before.n_rows:
        return _zones(before, after, names, zones)
    if before.name_word == after.name_word == "roads":
        return _roads(before, after, names)
    if before.coordinates and after.coordinates and before.positions() is not None:
        return _cells(before, after, names)
    if before.name_word == after.name_word == "places" and located(before) and located(after):
        return _places(before, after, names)
    return None


def _tell(
    counted: Counted, before: Data, after: Data, frame: Frame, published: bool, slices: Slices | None
) -> tuple[MapMarks | None, list[MapSlice], str]:
    """Return the marks with anything to show, the slices of time, and the finding."""
    # What was rejected is not public: its small counts are withheld like raw ones.
    fewest = 0 if published else MIN_PEOPLE
    size = len(counted.x)
    every = np.ones(after.n_rows, bool)
    raw, raw_people = _count_raw(counted, np.ones(len(counted.code), bool), size)
    published_counts, made_people = _count_made(counted, every, fewest)
    shapes = np.flatnonzero((raw > 0) | (published_counts > 0))
    # Of many roads those with most traffic are drawn.
    most = _MOST.get(counted.kind, len(shapes))
    if len(shapes) > most:
        shapes = np.sort(shapes[np.argsort(-np.maximum(raw, published_counts)[shapes], kind="stable")[:most]])
    if not len(shapes):
        return None, [], ""
    # Shares of all rows make two data sets of different size comparable.
    totals = (max(before.n_rows, 1), max(after.n_rows, 1)) if counted.percent else (1, 1)
    x, y = frame.place(counted.x[shapes], counted.y[shapes])
    x2, y2 = frame.place(counted.x2[shapes], counted.y2[shapes])
    marks = MapMarks(
        kind=counted.kind,
        labels=[counted.labels[i] for i in shapes] if counted.labels else [],
        x=x.tolist(),
        y=y.tolist(),
        x2=x2.tolist(),
        y2=y2.tolist(),
        raw=_values(raw[shapes] / totals[0]),
        published=_values(published_counts[shapes] / totals[1]),
        raw_people=[int(n) if v > 0 else None for n, v in zip(raw_people[shapes], raw[shapes], strict=True)],
        published_people=[
            int(n) if v > 0 and n >= 0 else None
            for n, v in zip(made_people[shapes], published_counts[shapes], strict=True)
        ],
        outlines=ring_lines([counted.rings[i] for i in shapes.tolist()], frame) if counted.rings else None,
        withheld=(True, fewest > 0),
        missing="none" if after.individual else "not published",
    )
    slice_views = [] if slices is None else _slices(counted, slices, shapes, totals, fewest)
    # All of both is compared: what is withheld would look as if it had come from elsewhere.
    true = np.bincount(counted.code[counted.code >= 0], minlength=size).astype(np.float64)
    find = _finding if after.individual else _table_finding
    return marks, slice_views, find(true, counted.count(every), counted.what)


def _slices(counted: Counted, slices: Slices, shapes: IntArray, totals: tuple[int, int], fewest: int) -> list[MapSlice]:
    """Return the same marks for every slice of time; marks without a value are left out."""
    views = []
    for i, label in enumerate(slices.labels):
        raw, _ = _count_raw(counted, slices.before == i, len(counted.x))
        rows = slices.after == i
        counts = _count_made(counted, rows, fewest)[0] if fewest else counted.count(rows)
        some = np.flatnonzero((raw[shapes] > 0) | (counts[shapes] > 0))
        views.append(
            MapSlice(
                label=label,
                marks=some.tolist(),
                raw=_values(raw[shapes][some] / totals[0]),
                published=_values(counts[shapes][some] / totals[1]),
            )
        )
    return views


def _count_raw(counted: Counted, rows: BoolArray, size: int) -> tuple[FloatArray, IntArray]:
    """Return how many raw rows and people are at each mark; 0 where there are fewer than `MIN_PEOPLE` people."""
    some = rows & (counted.code >= 0)
    people = count_people_by_code(counted.code[some], counted.owner[some], size)
    counts = np.bincount(counted.code[some], minlength=size).astype(np.float64)
    # Marks with too few people count 0, in every slice anew.
    counts[people < MIN_PEOPLE] = 0
    return counts, people


def _count_made(counted: Counted, rows: BoolArray, fewest: int) -> tuple[FloatArray, IntArray]:
    counts = counted.count(rows)
    people = counted.people(rows)
    if fewest:
        counts = np.where(people < fewest, 0.0, counts)
    return counts, people


def _values(values: FloatArray) -> list[float | None]:
    return [float(f"{value:.5g}") if value > 0 else None for value in values.tolist()]


def _finding(raw: FloatArray, published: FloatArray, what: str) -> str:
    """Say how much of the published would have to move for the two to be the same."""
    if raw.sum() == 0 or published.sum() == 0:
        # Total variation: half of the sum of differences of shares.
        return f"Nothing is left to compare: there are {'no raw' if raw.sum() == 0 else 'no published'} {what} here"
    moved = float(np.abs(raw / raw.sum() - published / published.sum()).sum() / 2)
    if moved < 0.005:
        return f"The published {what} lie where the raw ones do"
    return f"{format_percent(round(moved, 3))} of the published {what} lie elsewhere than the raw ones"


def _table_finding(raw: FloatArray, published: FloatArray, what: str) -> str:
    """Say what the numbers come to, beside what there was to count."""
    if not raw.sum():
        return f"There are no {what} to count here"
    share = format_percent(round(float(published.sum() / raw.sum()), 3))
    return f"The published numbers add up to {share} of the {what} that were counted"


def _extent(counted: Counted | None, strokes: list[Any]) -> tuple[float, float, float, float]:
    """Return the corners of what is seen at first; a few far points must not make all others small."""
    xs = [] if counted is None else [counted.x, counted.x2]
    ys = [] if counted is None else [counted.y, counted.y2]
    if counted is not None and counted.rings:
        xs = [ring[0] for ring in counted.rings]
        ys = [ring[1] for ring in counted.rings]
    if counted is None:
        xs += [part.x for part in strokes]
        ys += [part.y for part in strokes]
    x = np.concatenate(xs)
    y = np.concatenate(ys)
    # All but the outermost 0.2 % on each side, and a margin: one wrong position must not shrink the city to a dot.
    (x0, x1), (y0, y1) = (np.quantile(values, [0.002, 0.998]).tolist() for values in (x, y))
    least = max(x1 - x0, y1 - y0, 1.0) * 0.02
    return x0 - least, y0 - least, x1 + least, y1 + least


def _cells(before: Any, after: Any, names: tuple[str, str]) -> Counted:
    """Return how the points, or the boxes, spread over square cells."""
    x, y = before.positions()
    x_low, x_high = np.quantile(x, [0.002, 0.998]).tolist()
    y_low, y_high = np.quantile(y, [0.002, 0.998]).tolist()
    owner = before.row_owner()

    def cell(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray]:
        column = np.clip(np.floor((x - x_low) / side), 0, nx - 1).astype(np.int64)
        row = np.clip(np.floor((y - y_low) / side), 0, ny - 1).astype(np.int64)
        return column, row

    # The finest grid with which half of the rows are in cells of enough people: finer would show mostly nothing.
    for cells in _CELLS:
        side = max(x_high - x_low, y_high - y_low) / cells or 1.0
        nx, ny = (max(1, int(np.ceil((high - low) / side))) for low, high in ((x_low, x_high), (y_low, y_high)))
        column, row = cell(x, y)
        code = row * nx + column
        shown = count_people_by_code(code, owner, nx * ny) >= MIN_PEOPLE
        if 2 * shown[code].sum() >= before.n_rows:
            break
    made_owner = after.row_owner()
    if after.positions() is None:
        low = cell(after.x_min, after.y_min)
        high = cell(after.x_max, after.y_max)
        what = "boxes, each spread evenly over the cells that it touches"

        def count(rows: BoolArray) -> FloatArray:
            return _spread((low[0][rows], low[1][rows]), (high[0][rows], high[1][rows]), nx, ny)

        def people(rows: BoolArray) -> IntArray:
            return _people_in_boxes(low, high, made_owner, rows, nx, ny)

    else:
        column, row = cell(*after.positions())
        published_cell = row * nx + column
        what = "points"

        def count(rows: BoolArray) -> FloatArray:
            return np.bincount(published_cell[rows], minlength=nx * ny).astype(np.float64)

        def people(rows: BoolArray) -> IntArray:
            return count_people_by_code(published_cell[rows], made_owner[rows], nx * ny)

    across, up = np.arange(nx * ny) % nx, np.arange(nx * ny) // nx
    return Counted(
        kind="cells",
        labels=(),
        x=x_low + across * side,
        y=y_low + up * side,
        x2=x_low + (across + 1) * side,
        y2=y_low + (up + 1) * side,
        code=code,
        owner=owner,
        count=count,
        people=people,
        what=what.split(",")[0],
        below=f"Share of all {what}, in squares of {_metres(side)}. Squares of the {names[0]} with fewer than "
        f"{MIN_PEOPLE} people are withheld; what lies at the far edge is counted in the outermost ones.",
        percent=True,
    )


def _spread(low: tuple[IntArray, IntArray], high: tuple[IntArray, IntArray], nx: int, ny: int) -> FloatArray:
    """Return how much of all boxes, each of weight 1, falls on each cell."""
    (c0, r0), (c1, r1) = low, high
    return _fill(c0, r0, c1, r1, 1.0 / ((c1 - c0 + 1) * (r1 - r0 + 1)), nx, ny)


def _fill(c0: IntArray, r0: IntArray, c1: IntArray, r1: IntArray, weight: Any, nx: int, ny: int) -> FloatArray:
    """Return the sum of weights of the boxes that touch each cell: corners of differences, summed up twice."""
    # A two-dimensional prefix sum: +1 at the corner where a box begins, -1 behind its ends, and summing along both axes
    # fills it.  Four writes per box, however large it is.
    edges = np.zeros((ny + 1, nx + 1))
    for r, c, sign in ((r0, c0, 1), (r0, c1 + 1, -1), (r1 + 1, c0, -1), (r1 + 1, c1 + 1, 1)):
        np.add.at(edges, (r, c), sign * weight)
    sums: FloatArray = edges.cumsum(0).cumsum(1)[:ny, :nx].ravel()
    sums[sums < 1e-9] = 0.0
    return sums


def _people_in_boxes(
    low: tuple[IntArray, IntArray], high: tuple[IntArray, IntArray], owner: IntArray, rows: BoolArray, nx: int, ny: int
) -> IntArray:
    """Return how many people have a box that touches each cell; boxes that are alike are looked at once per person."""
    keys = np.stack([low[0], low[1], high[0], high[1], owner])[:, rows]
    if not keys.shape[1]:
        return np.zeros(nx * ny, np.int64)
    # Everybody's cells are marked in turn: a cell that two boxes of one person touch counts once.
    order = np.argsort(keys[4], kind="stable")
    keys = keys[:, order]
    starts = np.flatnonzero(np.r_[True, keys[4][1:] != keys[4][:-1]])
    people = np.zeros(nx * ny, np.int64)
    for begin, end in zip(starts, np.r_[starts[1:], keys.shape[1]], strict=True):
        c0, r0, c1, r1, _ = keys[:, begin:end]
        people += _fill(c0, r0, c1, r1, 1.0, nx, ny) > 0
    return people


def _roads(before: Any, after: Any, names: tuple[str, str]) -> Counted | None:
    """Return how many passages each road has, where it is known where roads are."""
    network = before.network
    if network.node_x is None or network.node_y is None:
        return None
    n = len(network)
    code = {name: i for i, name in enumerate(network.roads)}
    passed = np.array([code.get(name, -1) for name in after.network.roads], np.int64)[after.road]
    owner = after.row_owner()
    x, y = network.node_x, network.node_y
    return Counted(
        kind="roads",
        labels=tuple(network.roads),
        x=x[network.from_node],
        y=y[network.from_node],
        x2=x[network.to_node],
        y2=y[network.to_node],
        code=before.road.astype(np.int64),
        owner=before.row_owner(),
        count=lambda rows: np.bincount(passed[rows & (passed >= 0)], minlength=n).astype(np.float64),
        people=lambda rows: count_people_by_code(passed[rows & (passed >= 0)], owner[rows & (passed >= 0)], n),
        what="passages",
        below=f"Passages per road; two directions are two lines. Roads of the {names[0]} with fewer than {MIN_PEOPLE} "
        "people are withheld.",
        percent=False,
    )


def _places(before: Any, after: Any, names: tuple[str, str]) -> Counted:
    """Return how many visits each place has, where it is known where places are."""
    at = {name: (x, y) for data in (after, before) for name, x, y in _positions(data)}
    known = tuple(at)
    number = {name: i for i, name in enumerate(known)}
    old, new = (np.array([number[name] for name in bare_names(data)], np.int64) for data in (before, after))
    code, published_code = old[before.places().code], new[after.places().code]
    trajectory = trajectory_of_row(after.offsets)
    owner = after.owner[trajectory]
    x, y = np.array(list(at.values()), np.float64).reshape(-1, 2).T
    return Counted(
        kind="places",
        labels=known,
        x=x,
        y=y,
        x2=x,
        y2=y,
        code=code,
        owner=before.owner[trajectory_of_row(before.offsets)],
        count=lambda rows: np.bincount(published_code[rows], minlength=len(known)).astype(np.float64),
        people=lambda rows: count_people_by_code(published_code[rows], owner[rows], len(known)),
        what=before.row_word,
        below=f"{_rows_named(before)} per place: the larger the circle, the more. Places of the {names[0]} with fewer "
        f"than {MIN_PEOPLE} people are withheld.",
        percent=False,
    )


def _zones(before: Any, after: Any, names: tuple[str, str], zones: Mapping[str, Ring]) -> Counted:
    """Return how many visits each zone has; zones without an outline are not drawn."""
    known = tuple(zones)
    number = {name: i for i, name in enumerate(known)}
    code, published_code = (
        np.array([number.get(name, -1) for name in bare_names(data)], np.int64)[data.places().code]
        for data in (before, after)
    )
    made_owner = after.owner[after.places().trajectory]
    x, y = (np.array([(ring[axis].min() + ring[axis].max()) / 2 for ring in zones.values()]) for axis in (0, 1))
    return Counted(
        kind="zones",
        labels=known,
        x=x,
        y=y,
        x2=x,
        y2=y,
        code=code,
        owner=before.owner[before.places().trajectory],
        count=lambda rows: np.bincount(published_code[rows & (published_code >= 0)], minlength=len(known)).astype(
            np.float64
        ),
        people=lambda rows: count_people_by_code(
            published_code[rows & (published_code >= 0)], made_owner[rows & (published_code >= 0)], len(known)
        ),
        what=before.row_word,
        below=f"{_rows_named(before)} per zone. Zones of the {names[0]} with fewer than {MIN_PEOPLE} people are "
        "withheld.",
        percent=False,
        rings=tuple(zones.values()),
    )


def _rows_named(data: Any) -> str:
    return "Ends of trips" if data.trip_ends else str(data.row_word).capitalize()


def _positions(data: Any) -> Any:
    return zip(bare_names(data), data.place_x.tolist(), data.place_y.tolist(), strict=True)


def _metres(length: float) -> str:
    return f"{length / 1000:.3g} km" if length >= 1000 else f"{length:.3g} m"
