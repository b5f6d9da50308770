"""Trajectories as thin lines, boxes or names of places: the published ones, and the raw ones only where asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from markupsafe import Markup

from wayveil.model import Boxes, Data, RoadNetwork, Routes
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, keep_rows, offsets_of, take, trajectory_of_row
from wayveil.report.charts.svg import join, tag
from wayveil.report.text.number_format import clean
from wayveil.report.views.equivalence_groups import alike

__all__ = ["MOST_BOXES", "MOST_LINES", "MOST_VERTICES", "Drawing", "Panel", "draw_trajectories", "drawings"]

MOST_LINES = 1500
MOST_BOXES = 120
MOST_VERTICES = 60_000
"""What is drawn of each data set at most; the charts sum up all of it."""

_MANY = 150  # lines are fainter if there are so many
_MOST_ROADS = 20_000  # of the network, below the routes
_MOST_BOXES = 16  # of one sequence; more would cover each other
_MOST_TOLD = 12  # trajectories told by the names of their places, and places of each
_MOST_PLACES = 16
_WIDTH = 4000.0  # whole numbers of a fine grid are shorter than decimals
_TALLEST = 4200.0
_MARGIN = 60.0
_TOLERANCE = 4.0
_COLOURS = ("var(--before-edge)", "var(--after)")


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One data set: its trajectories as data of SVG paths or as lists of names, and how many there are in all."""

    name: str
    raw: bool
    total: int
    items: tuple[Any, ...]
    boxes: bool = False


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Trajectories side by side, on the same scale."""

    title: str
    kind: Literal["lines", "names"]
    panels: tuple[Panel, ...]
    height: float = 0.0
    below: str = field(default="", repr=False)


def drawings(
    before: Data, after: Data, *, names: tuple[str, str], with_raw: bool, published: bool = True
) -> tuple[Drawing, ...]:
    """Return the trajectories of the published data and, with `with_raw`, those of the original.

    Parameters
    ----------
    before, after : Data
        The original is looked at only if `with_raw` is true; of routes its network is used, which is no one's.
    names : (str, str)
        How the two are called.
    with_raw : bool
        Whether whoever sees the report may see trajectories of people.
    published : bool
        Whether `after` kept its promise.  If not, it may be as telling as the original, and is not shown without it.

    Notes
    -----
    At most `MOST_LINES` trajectories with `MOST_VERTICES` points of each are drawn, spread evenly over the data, and
    `MOST_BOXES` sequences of boxes, which cover each other; what cannot be seen at this size is left out of the lines.
    """
    chosen: list[tuple[str, Any, bool]] = [(names[0], before, True)] if with_raw else []
    if published or with_raw:
        chosen.append((names[1], after, False))
    if not chosen:
        return ()
    found = [_lines(chosen, getattr(before, "network", None))]
    if after.name_word == "places" and isinstance(before, type(after)):
        found.append(_told(chosen))
    return tuple(drawing for drawing in found if drawing is not None)


def draw_trajectories(drawing: Drawing) -> Markup:
    """Return a drawing as a <figure>.

    Examples
    --------
    >>> panel = Panel(name="published data", raw=False, total=7, items=("m0 0l9 9",))
    >>> drawn = draw_trajectories(Drawing(title="Trajectories", kind="lines", panels=(panel,), height=100.0))
    >>> "1 of 7 trajectories" in drawn, drawn.count("<path")
    (True, 1)
    """
    caption = tag("figcaption", clean(drawing.title))
    if drawing.kind == "names":
        return tag("figure", caption + _names(drawing), class_="chart told")
    panels = []
    for panel in drawing.panels:
        thing = "different sequences of boxes" if panel.boxes else "trajectories"
        what = f"{len(panel.items):,} of {panel.total:,} {thing}"
        body = [tag("path", d=drawing.below, class_="network")] if drawing.below else []
        style = f"{'boxes' if panel.boxes else 'lines'}{' many' if len(panel.items) >= _MANY else ''}"
        body.append(tag("g", join([tag("path", d=path) for path in panel.items]), class_=style))
        svg = tag(
            "svg", join(body), viewBox=f"0 0 {_WIDTH:.0f} {drawing.height:.0f}", role="img", class_="traces",
            color=_COLOURS[not panel.raw], aria_label=f"{clean(drawing.title)}, {clean(panel.name)}: {what}.",
        )  # fmt: skip
        above = clean(panel.name) if len(panel.items) == panel.total else f"{clean(panel.name)}: {what}"
        panels.append(tag("div", tag("p", above, class_="axis above") + svg, class_="panel"))
    alone = "" if len(panels) > 1 else " alone"
    return tag("figure", caption + tag("div", join(panels), class_=f"panels{alone}"), class_="chart")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Strokes:
    """Lines through the plane, or boxes from (x, y) to (x2, y2): flat columns, and how many there were to choose from.

    `shift` numbers the lines that would else cover each other; they are drawn beside each other.
    """

    total: int
    offsets: IntArray
    x: FloatArray
    y: FloatArray
    x2: FloatArray | None = None
    y2: FloatArray | None = None
    shift: IntArray | None = None


def _lines(chosen: Sequence[tuple[str, Any, bool]], network: RoadNetwork | None) -> Drawing | None:
    found = [(name, raw, _strokes(data, network)) for name, data, raw in chosen]
    strokes = [part for _, _, part in found if part is not None and len(part.x)]
    if found[-1][2] is None or not strokes:  # the last one is what is published
        return None
    x, y = (
        np.concatenate([getattr(part, axis + end) for part in strokes for end in ("", "2") if _has(part, axis + end)])
        for axis in "xy"
    )
    # A few far points must not make all others small; what lies beyond the frame is cut off.
    (x_low, x_high), (y_low, y_high) = (np.quantile(values, [0.002, 0.998]).tolist() for values in (x, y))
    wide = max(x_high - x_low, 1e-6)
    tall = max(y_high - y_low, 1e-6)
    scale = min((_WIDTH - 2 * _MARGIN) / wide, (_TALLEST - 2 * _MARGIN) / tall)
    left = (_WIDTH - wide * scale) / 2
    height = max(tall * scale + 2 * _MARGIN, _WIDTH / 4)
    middle = (y_low + y_high) / 2

    def place(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray]:
        far = 10 * _WIDTH
        across = np.clip(left + (x - x_low) * scale, -far, far)
        down = np.clip(height / 2 - (y - middle) * scale, -far, far)
        return np.round(across).astype(np.int64), np.round(down).astype(np.int64)

    panels = [
        Panel(name=name, raw=raw, total=part.total, items=_paths(part, place), boxes=part.x2 is not None)
        for name, raw, part in found
        if part is not None
    ]
    below = ""
    if network is not None and network.node_x is not None and network.node_y is not None:
        few = _evenly(len(network), _MOST_ROADS)
        ends = [place(network.node_x[node[few]], network.node_y[node[few]]) for node in _ends(network)]
        columns = (column.tolist() for end in ends for column in end)
        below = "".join(f"M{a} {b}L{c} {d}" for a, b, c, d in zip(*columns, strict=True))
    return Drawing(
        title="Trajectories, as boxes" if panels[-1].boxes else "Trajectories",
        kind="lines",
        panels=tuple(panels),
        height=height,
        below=below,
    )


def _has(part: _Strokes, column: str) -> bool:
    return getattr(part, column) is not None


def _ends(network: RoadNetwork) -> tuple[IntArray, IntArray]:
    return network.from_node, network.to_node


def _strokes(data: Data, network: RoadNetwork | None) -> _Strokes | None:
    """Return what is drawn of a data set; None where it is not known where things are."""
    return _STROKES.get(data.kind, _through_positions)(data, network)


def _some(data: Data) -> tuple[Any, int]:
    """Return as many trajectories with rows as are drawn, and how many there are."""
    there = np.flatnonzero(data.nonempty)
    return data.take(there[_evenly(len(there), MOST_LINES)]), len(there)


def _through_positions(data: Data, network: RoadNetwork | None) -> _Strokes | None:
    """Return lines from row to row."""
    part, total = _some(data)
    positions = part.positions()
    if positions is None:
        return None
    x, y = positions
    return _Strokes(total=total, offsets=part.offsets, x=x, y=y)


def _on_roads(data: Routes, network: RoadNetwork | None) -> _Strokes | None:
    """Return routes as lines from intersection to intersection, a new one where a route is broken."""
    if network is None or network.node_x is None or network.node_y is None:
        return None
    part, total = _some(data)
    code = {name: i for i, name in enumerate(network.roads)}
    road = np.array([code.get(name, -1) for name in part.network.roads], np.int64)[part.road]
    trajectory = trajectory_of_row(part.offsets)[road >= 0]
    road = road[road >= 0]
    begin = network.from_node[road]
    end = network.to_node[road]
    new = np.ones(len(road), bool)
    new[1:] = (trajectory[1:] != trajectory[:-1]) | (begin[1:] != end[:-1])
    # Every row adds where it ends, and the first row of a line also where it begins.
    at = np.arange(len(road)) + np.cumsum(new)
    node = np.empty(len(road) + int(new.sum()), np.int64)
    node[at] = end
    node[at[new] - 1] = begin[new]
    lengths = np.bincount(np.cumsum(new) - 1, minlength=0) + 1 if len(road) else np.zeros(0, np.int64)
    return _Strokes(
        total=total,
        offsets=offsets_of(lengths),
        x=network.node_x[node],
        y=network.node_y[node],
        shift=trajectory[new],
    )


def _boxes(data: Boxes, network: RoadNetwork | None) -> _Strokes:
    """Return every different sequence of boxes once, and so many of its boxes that they can be told apart."""
    number = alike(data)
    there = np.flatnonzero(data.nonempty)
    first = there if number is None else there[np.unique(number[there], return_index=True)[1]]
    few = np.sort(first)[_evenly(len(first), MOST_BOXES)]
    lengths = np.diff(data.offsets)[few]
    most = max(1, min(_MOST_BOXES, MOST_VERTICES // 4 // max(1, len(few))))
    rows = [data.offsets[i] + _evenly(int(n), most) for i, n in zip(few.tolist(), lengths.tolist(), strict=True)]
    row = np.concatenate([np.zeros(0, np.int64), *rows])
    return _Strokes(
        total=len(first), offsets=offsets_of(np.minimum(lengths, most)), x=data.x_min[row], y=data.y_min[row],
        x2=data.x_max[row], y2=data.y_max[row],
    )  # fmt: skip


_STROKES: dict[str, Callable[[Any, RoadNetwork | None], _Strokes | None]] = {
    "visits": _through_positions,
    "points": _through_positions,
    "regions": _boxes,
    "routes": _on_roads,
    "stops": _through_positions,
    "trips": _through_positions,
}
"""How each kind of data is drawn; one of a plug-in by its positions, if it has any."""


def _paths(part: _Strokes, place: Any) -> tuple[str, ...]:
    x, y = place(part.x, part.y)
    if part.x2 is not None and part.y2 is not None:
        x2, y2 = place(part.x2, part.y2)
        wide = np.maximum(x2 - x, 8)
        high = np.maximum(y - y2, 8)
        rows = zip(x.tolist(), y.tolist(), wide.tolist(), high.tolist(), strict=True)
        boxes = [f"M{a} {b}h{w}v{-h}h{-w}z" for a, b, w, h in rows]
        return tuple("".join(boxes[a:b]) for a, b in _spans(part.offsets))
    offsets, x, y = _simplified(part.offsets, x, y)
    if part.shift is not None:
        side = np.repeat(part.shift, np.diff(offsets))
        x = x + 7 * (side % 5 - 2)
        y = y + 7 * (side // 5 % 5 - 2)
    steps = [np.diff(values, prepend=0) for values in (x, y)]
    for values, all_ in zip(steps, (x, y), strict=True):
        values[offsets[:-1]] = all_[offsets[:-1]]
    words = [f"{a} {b}" for a, b in zip(steps[0].tolist(), steps[1].tolist(), strict=True)]
    lines = []
    for a, b in _spans(offsets):
        # A line of no length has a round end, so a lonely point is a dot.
        lines.append(f"m{words[a]}l{' '.join(words[a + 1 : b]) if b > a + 1 else '0 0'}")
    if part.shift is None:
        return tuple(lines)
    joined: dict[int, str] = {}
    for line, trajectory in zip(lines, part.shift.tolist(), strict=True):
        joined[trajectory] = joined.get(trajectory, "") + "M" + line[1:]
    return tuple(joined.values())


def _spans(offsets: IntArray) -> list[tuple[int, int]]:
    return [(a, b) for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True) if b > a]


def _simplified(offsets: IntArray, x: IntArray, y: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the lines without points that nobody would miss, and with `MOST_VERTICES` at most, besides their ends."""
    lengths = np.diff(offsets)
    offsets, rows = take(offsets, np.flatnonzero(lengths > 0))
    x = x[rows]
    y = y[rows]
    offsets, x, y = _thinned(offsets, x, y, 20 * MOST_VERTICES)
    for _ in range(6):
        keep = np.ones(len(x), bool)
        inside = _inside(offsets, len(x))
        inside &= (np.arange(len(x)) - np.repeat(offsets[:-1], np.diff(offsets))) % 2 == 1  # its neighbours stay
        at = np.flatnonzero(inside)
        keep[at] = _off_line(x, y, at) > _TOLERANCE
        if keep.all():
            break
        offsets = keep_rows(offsets, keep)
        x = x[keep]
        y = y[keep]
    return _thinned(offsets, x, y, MOST_VERTICES)


def _inside(offsets: IntArray, n: int) -> BoolArray:
    """Return which points are neither the first nor the last of their line."""
    inside = np.ones(n, bool)
    inside[offsets[:-1]] = False
    inside[offsets[1:] - 1] = False
    return inside


def _off_line(x: IntArray, y: IntArray, at: IntArray) -> FloatArray:
    """Return how far points are from the line between their neighbours, or from these where they are one."""
    ax = (x[at + 1] - x[at - 1]).astype(np.float64)
    ay = (y[at + 1] - y[at - 1]).astype(np.float64)
    px = x[at] - x[at - 1]
    py = y[at] - y[at - 1]
    along = np.clip((px * ax + py * ay) / np.maximum(ax * ax + ay * ay, 1e-9), 0, 1)
    found: FloatArray = np.hypot(px - along * ax, py - along * ay)
    return found


def _thinned(offsets: IntArray, x: IntArray, y: IntArray, most: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return every second point, every third and so on, and the ends of lines, where there are too many."""
    step = -(-len(x) // most) if most else 1
    if step <= 1:
        return offsets, x, y
    keep = (np.arange(len(x)) - np.repeat(offsets[:-1], np.diff(offsets))) % step == 0
    keep |= ~_inside(offsets, len(x))
    return keep_rows(offsets, keep), x[keep], y[keep]


def _evenly(n: int, most: int) -> IntArray:
    """Return at most `most` numbers below `n`, spread evenly, both ends among them."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.round(np.linspace(0, n - 1, most)).astype(np.int64))


def _told(chosen: Sequence[tuple[str, Any, bool]]) -> Drawing | None:
    """Return some trajectories as the names of their places; the same ones of both, where both have as many."""
    last = chosen[-1][1]
    there = np.flatnonzero(last.nonempty)
    if not len(there):
        return None
    picked = there[_evenly(len(there), _MOST_TOLD)]
    panels = [
        Panel(name=name, raw=raw, total=len(there), items=_place_names(data.take(picked)))
        for name, data, raw in chosen
        if len(data) == len(last)
    ]
    return Drawing(title="Some trajectories, place by place", kind="names", panels=tuple(panels))


def _place_names(data: Data) -> tuple[tuple[str, ...], ...]:
    """Return the first places of each trajectory, and how many more there are."""
    places = data.places()
    if places is None:
        return ()
    found = []
    for trajectory in range(len(data)):
        names = [places.names[code] for code in places.code[places.trajectory == trajectory].tolist()]
        more = len(names) - _MOST_PLACES
        found.append((*names[:_MOST_PLACES], f"and {more:,} more") if more > 0 else tuple(names))
    return tuple(found)


def _names(drawing: Drawing) -> Markup:
    head = tag("tr", join([tag("th", clean(panel.name), scope="col") for panel in drawing.panels]))
    rows = []
    for items in zip(*(panel.items for panel in drawing.panels), strict=True):
        cells = [
            tag("td", clean(" → ".join(item)) or "–", data_label=clean(panel.name), dir="auto")
            for item, panel in zip(items, drawing.panels, strict=True)
        ]
        rows.append(tag("tr", join(cells)))
    return tag("table", tag("thead", head) + tag("tbody", join(rows)), class_="told")
