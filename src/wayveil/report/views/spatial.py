"""Where people are, before and after: a map of cells or roads, or the places with the most visits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from wayveil.model import Chart, Series
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.report.suppression import MIN_PEOPLE, count_people_by_code

__all__ = ["where"]

_CELLS = (36, 24, 16, 10, 6)  # along the longer side of the map: the first with which half of the raw rows are shown
_MOST_ROADS = 4000
_MOST_PLACES = 20


def where(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return the chart of places that fits two data, under these names; None where they are of different kinds.

    Of `before`, what has fewer than `MIN_PEOPLE` people is left out, and of `after` what has fewer than `fewest`.
    """
    if before.name_word == after.name_word == "roads":
        return _roads(before, after, names, fewest)
    if before.coordinates and after.coordinates and before.positions() is not None:
        return _cells(before, after, names, fewest)
    if before.name_word == "places" and type(before) is type(after):
        return _places(before, after, names, fewest)
    return None


def _cells(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return how the points, or the boxes, spread over square cells."""
    if before.n_rows == 0:
        return None
    x, y = before.positions()
    x_low, x_high = np.quantile(x, [0.002, 0.998]).tolist()
    y_low, y_high = np.quantile(y, [0.002, 0.998]).tolist()
    owner = before.row_owner()

    def cell(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray]:
        column = np.clip(np.floor((x - x_low) / side), 0, nx - 1).astype(np.int64)
        row = np.clip(np.floor((y - y_low) / side), 0, ny - 1).astype(np.int64)
        return column, row

    for cells in _CELLS:
        side = max(x_high - x_low, y_high - y_low) / cells or 1.0
        nx, ny = (max(1, int(np.ceil((high - low) / side))) for low, high in ((x_low, x_high), (y_low, y_high)))
        column, row = cell(x, y)
        code = row * nx + column
        shown = count_people_by_code(code, owner, nx * ny) >= MIN_PEOPLE
        if 2 * shown[code].sum() >= before.n_rows:
            break
    raw = np.bincount(code, minlength=nx * ny) / before.n_rows
    if after.positions() is None:
        low = cell(after.x_min, after.y_min)
        high = cell(after.x_max, after.y_max)
        spread = np.zeros(nx * ny) if fewest else _spread(low, high, nx, ny)
        what = "boxes, each spread evenly over the cells that it touches"
    else:
        column, row = cell(*after.positions())
        spread = np.bincount(row * nx + column, minlength=nx * ny).astype(np.float64)
        what = "points"
        if fewest:
            spread[count_people_by_code(row * nx + column, after.row_owner(), nx * ny) < fewest] = 0
    made = spread / max(after.n_rows, 1)
    kept = np.flatnonzero(shown | (made > 0))
    corners = [
        (x_low + c * side, y_low + r * side, x_low + (c + 1) * side, y_low + (r + 1) * side)
        for r, c in (divmod(int(code), nx) for code in kept)
    ]
    return Chart(
        title="Where people are",
        kind="cells",
        labels=tuple(f"cell {int(code) % nx + 1}, {int(code) // nx + 1}" for code in kept),
        series=(
            Series(name=names[0], values=tuple(float(raw[i]) if shown[i] else None for i in kept)),
            Series(name=names[1], values=tuple(float(made[i]) if made[i] > 0 else None for i in kept)),
        ),
        x_label=f"Share of all {what}, in squares of {_metres(side)}. Squares of the {names[0]} with fewer than "
        f"{MIN_PEOPLE} people are left out; what lies at the far edge is counted in the outermost ones.",
        percent=True,
        lines=tuple(corners),
    )


def _spread(low: tuple[IntArray, IntArray], high: tuple[IntArray, IntArray], nx: int, ny: int) -> FloatArray:
    """Return how much of all boxes, each of weight 1, falls on each cell."""
    (c0, r0), (c1, r1) = low, high
    weight = 1.0 / ((c1 - c0 + 1) * (r1 - r0 + 1))
    edges = np.zeros((ny + 1, nx + 1))
    for r, c, sign in ((r0, c0, 1), (r0, c1 + 1, -1), (r1 + 1, c0, -1), (r1 + 1, c1 + 1, 1)):
        np.add.at(edges, (r, c), sign * weight)
    found: FloatArray = edges.cumsum(0).cumsum(1)[:ny, :nx].ravel()
    found[found < 1e-9] = 0.0
    return found


def _roads(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return how many passages each road has, where it is known where roads are; else the busiest ones."""
    network = before.network
    n = len(network)
    code = {name: i for i, name in enumerate(network.roads)}
    translate = np.array([code.get(name, -1) for name in after.network.roads], np.int64)
    passed = translate[after.road]
    shown = count_people_by_code(before.road.astype(np.int64), before.row_owner(), n) >= MIN_PEOPLE
    raw = np.bincount(before.road, minlength=n)
    made = np.bincount(passed[passed >= 0], minlength=n)
    owner = after.row_owner()
    made[count_people_by_code(passed[passed >= 0], owner[passed >= 0], n) < fewest] = 0
    kept = np.flatnonzero((shown & (raw > 0)) | (made > 0))
    if network.node_x is None or network.node_y is None:
        busiest = kept[np.argsort(-np.where(shown, raw, 0)[kept], kind="stable")[:_MOST_PLACES]]
        return _bars("The busiest roads", network.roads, busiest, raw, made, shown, names, "passages")
    kept = np.sort(kept[np.argsort(-np.maximum(np.where(shown, raw, 0), made)[kept], kind="stable")[:_MOST_ROADS]])
    x = network.node_x
    y = network.node_y
    ends = ((x[a], y[a], x[b], y[b]) for a, b in zip(network.from_node[kept], network.to_node[kept], strict=True))
    return Chart(
        title="Traffic",
        kind="roads",
        labels=tuple(network.roads[i] for i in kept),
        series=_two(kept, raw, made, shown, names),
        x_label=f"Passages per road. Roads of the {names[0]} with fewer than {MIN_PEOPLE} people are left out.",
        lines=tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in ends),
    )


def _places(before: Any, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return the places with the most visits, before and after."""
    all_names, code, trajectory = before.places()
    later_names, later, later_trajectory = after.places()
    number = {name: i for i, name in enumerate(all_names)}
    more = [name for name in later_names if name not in number]
    known = (*all_names, *more)
    number |= {name: len(all_names) + i for i, name in enumerate(more)}
    translate = np.array([number[name] for name in later_names], np.int64)
    shown = count_people_by_code(code, before.owner[trajectory], len(known)) >= MIN_PEOPLE
    raw = np.bincount(code, minlength=len(known))
    later = translate[later] if len(later) else later
    made = np.bincount(later, minlength=len(known))
    made[count_people_by_code(later, after.owner[later_trajectory], len(known)) < fewest] = 0
    weight = np.maximum(np.where(shown, raw, 0), made)
    kept = np.argsort(-weight, kind="stable")[:_MOST_PLACES]
    kept = kept[weight[kept] > 0]
    if len(kept) == 0:
        return None
    return _bars("The most visited places", known, kept, raw, made, shown, names, "visits")


def _bars(
    title: str, known: Sequence[str], kept: IntArray, raw: IntArray, made: IntArray, shown: Any,
    names: tuple[str, str], what: str,
) -> Chart:  # fmt: skip
    return Chart(
        title=title,
        kind="bars",
        labels=tuple(known[i] for i in kept),
        series=_two(kept, raw, made, shown, names),
        x_label=f"{what}; of the {names[0]} only where at least {MIN_PEOPLE} people were",
    )


def _two(kept: IntArray, raw: IntArray, made: IntArray, shown: Any, names: tuple[str, str]) -> tuple[Series, ...]:
    return (
        Series(name=names[0], values=tuple(float(raw[i]) if shown[i] else None for i in kept)),
        Series(name=names[1], values=tuple(float(made[i]) for i in kept)),
    )


def _metres(length: float) -> str:
    return f"{length / 1000:.3g} km" if length >= 1000 else f"{length:.3g} m"
