"""What the data look like before and after, summed up so that nobody can be seen in it: by place, time and length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.model import Chart, Data, Points, Regions, Routes, Score, Series, Stops, Visits, seconds_per_unit
from wayveil.model.ragged import FloatArray, IntArray, trajectory_of_row
from wayveil.run.catalog import rows_word

__all__ = ["FEWEST", "alike", "balance", "guarded", "views"]

FEWEST = 5
"""Places and groups of raw data with fewer people than this are not shown: a report travels."""

_CELLS = (36, 24, 16, 10, 6)  # along the longer side of the map: the first with which half of the raw rows are shown
_MOST_ROADS = 4000
_MOST_PLACES = 20
_NUMBERED = ("number of", "roads of a", "places of a", "level in", "time")  # what labels that are numbers count
_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512)
_SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 50, 100, 200, 500)


def views(
    before: Data, after: Data, groups: IntArray | None = None, *, names: tuple[str, str], published: bool = True
) -> tuple[Chart, ...]:
    """Return charts of the original and the published data, under these names, beside each other.

    Parameters
    ----------
    before, after : Data
        Their trajectories need not be in the same order.
    groups : int64, one per trajectory of `after`, optional
        The groups in which people hide, negative for none.  By default trajectories that are published alike, where
        boxes, roads or stops are published.
    published : bool
        Whether `after` kept its promise.  If not, it is treated like the original.

    Notes
    -----
    Where only one of the two has times or places of a kind, there is no such chart.  Places of the original at which
    fewer than `FEWEST` people were are not shown.
    """
    fewest = 0 if published else FEWEST
    found = [_where(before, after, names, fewest), _when(before, after, names), _lengths(before, after, names)]
    together = groups if groups is not None else alike(after)
    if together is not None:
        found.append(_group_sizes(after, together))
    return tuple(chart for chart in found if chart is not None)


def balance(before: Data, after: Data, source: IntArray | None = None) -> dict[str, dict[str, int | None]]:
    """Return what went in, what came out, what was suppressed on the way and what was invented, in numbers.

    Parameters
    ----------
    before, after : Data
        The original and the published data, trajectory by trajectory.
    source : int64, one per trajectory of `after`, optional
        The trajectory of `before` that each is a part of, negative for one that is invented; by default the same.

    Notes
    -----
    A visit is the same where its place is, a point where its time is, a road where it is the same road; stops are
    counted, as their places may be replaced.  A point is suppressed under boxes if it is in the time of none of them.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)]])
    >>> found = balance(data, data.where(np.array([True, False, False])))
    >>> found["trajectories"]
    {'in': 2, 'out': 1, 'suppressed': 1, 'invented': 0}
    >>> found["visits"]
    {'in': 3, 'out': 1, 'suppressed': 2, 'invented': 0}
    """
    origin = np.arange(len(after)) if source is None else source
    there, left = np.diff(before.offsets) > 0, np.diff(after.offsets) > 0
    kept = np.unique(origin[left & (origin >= 0)])
    invented = int((left & (origin < 0)).sum())
    n = int(there.sum())
    found = {"trajectories": _entry(n, int(left.sum()), n - int(there[kept].sum()), invented)}
    if before.owners == "given":
        people = len(np.unique(before.owner[there]))
        still = len(np.unique(before.owner[kept]))
        found["people"] = _entry(people, still, people - still, invented)
    found[rows_word(before)] = _entry(before.n_rows, after.n_rows, *_changed_rows(before, after, origin))
    return found


def _entry(before: int, after: int, suppressed: int, invented: int | None) -> dict[str, int | None]:
    return {"in": before, "out": after, "suppressed": suppressed, "invented": invented}


def _changed_rows(before: Data, after: Data, origin: IntArray) -> tuple[int, int | None]:
    rows, later = trajectory_of_row(before.offsets), origin[trajectory_of_row(after.offsets)]
    later = np.where(later < 0, len(before), later)
    if isinstance(after, Regions):
        return _outside(rows, _times(before), later, after), None
    if isinstance(before, Visits) and isinstance(after, Visits):
        what = _same_codes(before.locations, before.location, after.locations, after.location)
    elif isinstance(before, Routes) and isinstance(after, Routes):
        what = _same_codes(before.network.roads, before.road, after.network.roads, after.road)
    elif isinstance(before, Points) and isinstance(after, Points):
        what = (before.t, after.t)
    else:
        what = (np.zeros(len(rows), np.int64), np.zeros(len(later), np.int64))
    _, code = np.unique(np.concatenate(what), return_inverse=True)
    _, key = np.unique(np.concatenate([rows, later]) * (code.max(initial=0) + 1) + code, return_inverse=True)
    counts = [np.bincount(part, minlength=key.max(initial=-1) + 1) for part in (key[: len(rows)], key[len(rows) :])]
    gone = counts[0] - counts[1]
    return int(gone[gone > 0].sum()), int(-gone[gone < 0].sum())


def _same_codes(names: Sequence[str], code: Any, others: Sequence[str], other: Any) -> tuple[IntArray, IntArray]:
    number = {name: i for i, name in enumerate(names)}
    translate = np.array([number.setdefault(name, len(number)) for name in others], np.int64)
    return code.astype(np.int64), translate[other]


def _outside(rows: IntArray, t: IntArray | None, later: IntArray, boxes: Regions) -> int:
    """Return how many rows are at a time that no box of their trajectory has."""
    if t is None or not len(boxes.t_min):
        return len(rows)
    known, rank = np.unique(np.concatenate([t, boxes.t_min, boxes.t_max]), return_inverse=True)
    at, begin, end = np.split(rank, [len(t), len(t) + len(boxes.t_min)])
    order = np.argsort(later * len(known) + begin, kind="stable")
    starts, ends = ((later * len(known) + moment)[order] for moment in (begin, end))
    moment = rows * len(known) + at
    box = np.searchsorted(starts, moment, side="right") - 1
    inside = (box >= 0) & (ends[np.maximum(box, 0)] >= moment)  # the last one that has begun also ends last
    return len(rows) - int(inside.sum())


def guarded(scores: Sequence[Score], before: Data) -> tuple[Score, ...]:
    """Return scores whose charts name no place and no road at which fewer than `FEWEST` people were.

    Visits with a time, turns and other sequences are left out where the original has so few of them that fewer than
    `FEWEST` people could have made them all, each on every trip.

    Examples
    --------
    >>> data = Visits.from_records([[("market", 1)]] * 5 + [[("cave", 1)]])
    >>> chart = Chart(title="Lost", kind="bars", labels=("cave", "market"), series=(Series(name="n", values=(1, 2)),))
    >>> score = Score(name="loss", meaning="what was lost", value=1, better="lower", charts=(chart,))
    >>> [chart.labels for chart in guarded([score], data)[0].charts]
    [('market',)]
    """
    rare = _rare(before)
    trips = int(np.unique(before.owner, return_counts=True)[1].max(initial=1))
    enough = (FEWEST - 1) * trips + 1
    found = []
    for score in scores:
        charts = tuple(_guarded(chart, rare, enough) for chart in score.charts)
        found.append(replace(score, charts=tuple(chart for chart in charts if chart.labels)))
    return tuple(found)


def _rare(data: Data) -> frozenset[str]:
    if isinstance(data, (Points, Regions)):
        return frozenset()
    known, code = _named(data)
    people = _people(code, data.owner[trajectory_of_row(data.offsets)], len(known))
    return frozenset(known[i] for i in np.flatnonzero((people > 0) & (people < FEWEST)).tolist())


def _guarded(chart: Chart, rare: frozenset[str], enough: int) -> Chart:
    if chart.x_label.startswith(_NUMBERED):
        return chart  # a place may be called "3" as well
    kept = []
    for i, label in enumerate(chart.labels):
        parts = [part.rpartition(" @ ")[0] or part for part in label.split(" → ")]
        cut = tuple(part[:-1] for part in parts if part.endswith("…"))
        named = {label, *parts} & rare or (cut and any(name.startswith(cut) for name in rare))
        first = chart.series[0].values[i] if chart.series else None
        several = parts != [label] and (first is None or first < enough)
        if not named and not several:
            kept.append(i)
    if len(kept) == len(chart.labels):
        return chart
    left_out = f"{len(chart.labels) - len(kept):,} of fewer than {FEWEST} people left out"
    return replace(
        chart,
        labels=tuple(chart.labels[i] for i in kept),
        series=tuple(replace(series, values=tuple(series.values[i] for i in kept)) for series in chart.series),
        lines=tuple(chart.lines[i] for i in kept) if chart.lines else (),
        x_label=f"{chart.x_label}; {left_out}" if chart.x_label else left_out,
    )


def _where(before: Data, after: Data, names: tuple[str, str], fewest: int) -> Chart | None:
    if isinstance(before, Routes) and isinstance(after, Routes):
        return _roads(before, after, names, fewest)
    if isinstance(before, Points) and isinstance(after, (Points, Regions)):
        return _cells(before, after, names, fewest)
    if isinstance(before, (Visits, Stops)) and isinstance(after, type(before)):
        return _places(before, after, names, fewest)
    return None


def _cells(before: Points, after: Points | Regions, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return how the points, or the boxes, spread over square cells."""
    if before.n_rows == 0:
        return None
    x_low, x_high = np.quantile(before.x, [0.002, 0.998]).tolist()
    y_low, y_high = np.quantile(before.y, [0.002, 0.998]).tolist()
    owner = before.owner[trajectory_of_row(before.offsets)]

    def cell(x: FloatArray, y: FloatArray) -> tuple[IntArray, IntArray]:
        column = np.clip(np.floor((x - x_low) / side), 0, nx - 1).astype(np.int64)
        row = np.clip(np.floor((y - y_low) / side), 0, ny - 1).astype(np.int64)
        return column, row

    for cells in _CELLS:
        side = max(x_high - x_low, y_high - y_low) / cells or 1.0
        nx, ny = (max(1, int(np.ceil((high - low) / side))) for low, high in ((x_low, x_high), (y_low, y_high)))
        column, row = cell(before.x, before.y)
        code = row * nx + column
        shown = _people(code, owner, nx * ny) >= FEWEST
        if 2 * shown[code].sum() >= before.n_rows:
            break
    raw = np.bincount(code, minlength=nx * ny) / before.n_rows
    if isinstance(after, Regions):
        low, high = cell(after.x_min, after.y_min), cell(after.x_max, after.y_max)
        spread = np.zeros(nx * ny) if fewest else _spread(low, high, nx, ny)
    else:
        column, row = cell(after.x, after.y)
        spread = np.bincount(row * nx + column, minlength=nx * ny).astype(np.float64)
        if fewest:
            spread[_people(row * nx + column, after.owner[trajectory_of_row(after.offsets)], nx * ny) < fewest] = 0
    made = spread / max(after.n_rows, 1)
    kept = np.flatnonzero(shown | (made > 0))
    corners = [
        (x_low + c * side, y_low + r * side, x_low + (c + 1) * side, y_low + (r + 1) * side)
        for r, c in (divmod(int(code), nx) for code in kept)
    ]
    what = "points" if isinstance(after, Points) else "boxes, each spread evenly over the cells that it touches"
    return Chart(
        title="Where people are",
        kind="cells",
        labels=tuple(f"cell {int(code) % nx + 1}, {int(code) // nx + 1}" for code in kept),
        series=(
            Series(name=names[0], values=tuple(float(raw[i]) if shown[i] else None for i in kept)),
            Series(name=names[1], values=tuple(float(made[i]) if made[i] > 0 else None for i in kept)),
        ),
        x_label=f"Share of all {what}, in squares of {_metres(side)}. Squares of the {names[0]} with fewer than "
        f"{FEWEST} people are left out; what lies at the far edge is counted in the outermost ones.",
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


def _roads(before: Routes, after: Routes, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return how many passages each road has, where it is known where roads are; else the busiest ones."""
    network = before.network
    n = len(network)
    code = {name: i for i, name in enumerate(network.roads)}
    translate = np.array([code.get(name, -1) for name in after.network.roads], np.int64)
    passed = translate[after.road]
    shown = _people(before.road.astype(np.int64), before.owner[trajectory_of_row(before.offsets)], n) >= FEWEST
    raw, made = np.bincount(before.road, minlength=n), np.bincount(passed[passed >= 0], minlength=n)
    owner = after.owner[trajectory_of_row(after.offsets)]
    made[_people(passed[passed >= 0], owner[passed >= 0], n) < fewest] = 0
    kept = np.flatnonzero((shown & (raw > 0)) | (made > 0))
    if network.node_x is None or network.node_y is None:
        busiest = kept[np.argsort(-np.where(shown, raw, 0)[kept], kind="stable")[:_MOST_PLACES]]
        return _bars("The busiest roads", network.roads, busiest, raw, made, shown, names, "passages")
    kept = np.sort(kept[np.argsort(-np.maximum(np.where(shown, raw, 0), made)[kept], kind="stable")[:_MOST_ROADS]])
    x, y = network.node_x, network.node_y
    ends = ((x[a], y[a], x[b], y[b]) for a, b in zip(network.from_node[kept], network.to_node[kept], strict=True))
    return Chart(
        title="Traffic",
        kind="roads",
        labels=tuple(network.roads[i] for i in kept),
        series=_two(kept, raw, made, shown, names),
        x_label=f"Passages per road. Roads of the {names[0]} with fewer than {FEWEST} people are left out.",
        lines=tuple((float(a), float(b), float(c), float(d)) for a, b, c, d in ends),
    )


def _places(before: Visits | Stops, after: Any, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return the places with the most visits, before and after."""
    all_names, code = _named(before)
    later_names, later = _named(after)
    number = {name: i for i, name in enumerate(all_names)}
    more = [name for name in later_names if name not in number]
    known = (*all_names, *more)
    number |= {name: len(all_names) + i for i, name in enumerate(more)}
    translate = np.array([number[name] for name in later_names], np.int64)
    shown = _people(code, before.owner[trajectory_of_row(before.offsets)], len(known)) >= FEWEST
    raw = np.bincount(code, minlength=len(known))
    later = translate[later] if len(later) else later
    made = np.bincount(later, minlength=len(known))
    made[_people(later, after.owner[trajectory_of_row(after.offsets)], len(known)) < fewest] = 0
    weight = np.maximum(np.where(shown, raw, 0), made)
    kept = np.argsort(-weight, kind="stable")[:_MOST_PLACES]
    kept = kept[weight[kept] > 0]
    if len(kept) == 0:
        return None
    return _bars("The most visited places", known, kept, raw, made, shown, names, "visits")


def _named(data: Visits | Stops | Routes) -> tuple[Sequence[str], IntArray]:
    if isinstance(data, Routes):
        return data.network.roads, data.road.astype(np.int64)
    if isinstance(data, Visits):
        return data.locations, data.location.astype(np.int64)
    return data.taxonomy.nodes, data.place.astype(np.int64)


def _bars(
    title: str, known: Sequence[str], kept: IntArray, raw: IntArray, made: IntArray, shown: Any,
    names: tuple[str, str], what: str,
) -> Chart:  # fmt: skip
    return Chart(
        title=title,
        kind="bars",
        labels=tuple(known[i] for i in kept),
        series=_two(kept, raw, made, shown, names),
        x_label=f"{what}; of the {names[0]} only where at least {FEWEST} people were",
    )


def _two(kept: IntArray, raw: IntArray, made: IntArray, shown: Any, names: tuple[str, str]) -> tuple[Series, ...]:
    return (
        Series(name=names[0], values=tuple(float(raw[i]) if shown[i] else None for i in kept)),
        Series(name=names[1], values=tuple(float(made[i]) for i in kept)),
    )


def _people(code: IntArray, owner: IntArray, size: int) -> IntArray:
    """Return how many distinct people have each code."""
    if len(code) == 0:
        return np.zeros(size, np.int64)
    people, inverse = np.unique(owner, return_inverse=True)
    return np.bincount(np.unique(code * len(people) + inverse) // len(people), minlength=size)


def _when(before: Data, after: Data, names: tuple[str, str]) -> Chart | None:
    """Return how rows spread over the hours of the day, or over the time that the data span."""
    one, other = _times(before), _times(after)
    if one is None or other is None or before.time_format != after.time_format or len(one) == 0 or not one.any():
        return None
    unit = seconds_per_unit(before.time_format)
    if unit is not None and (one.max() - one.min()) * unit > 6 * 3600:
        hours = [np.floor(t * unit / 3600).astype(np.int64) % 24 for t in (one, other)]
        labels = tuple(f"{hour} h" for hour in range(24))
        title, told = "When people move: hour of the day", "hour of the day, as the times of the data say"
    else:
        low, high = int(one.min()), int(one.max())
        wide = max(1, -(-(high - low + 1) // 24))
        bins = -(-(high - low + 1) // wide)
        hours = [np.clip((t - low) // wide, 0, bins - 1) for t in (one, other)]
        labels = tuple(str(i + 1) for i in range(bins))
        title, told = "When people move", f"equal parts of the time that the {names[0]} span"
    shares = [np.bincount(hour, minlength=len(labels)) / max(len(hour), 1) for hour in hours]
    return _shares(title, labels, shares, names, told, "share of rows")


def _times(data: Data) -> IntArray | None:
    if isinstance(data, Routes):
        return None  # published routes have the slice of a trip, not its times
    if isinstance(data, Stops):
        return data.t if data.t.any() else None
    return (data.t_min + data.t_max) // 2 if isinstance(data, Regions) else data.t


def _lengths(before: Data, after: Data, names: tuple[str, str]) -> Chart | None:
    lengths = [np.diff(data.offsets) for data in (before, after)]
    lengths = [length[length > 0] for length in lengths]
    if not len(lengths[0]):
        return None
    top = max((int(length.max()) for length in lengths if len(length)), default=1)
    labels, shares = _classes(lengths, _LENGTHS, top)
    first = int(np.flatnonzero(shares[0] + shares[1])[0])  # where all are long, the short ones need no room
    labels, shares = labels[first:], [share[first:] for share in shares]
    return _shares("How long trajectories are", labels, shares, names, "rows of a trajectory", "share of trajectories")


def _group_sizes(after: Data, groups: IntArray) -> Chart | None:
    inside = groups >= 0
    if not inside.any():
        return None
    pairs = np.unique(np.stack([groups[inside], after.owner[inside]]), axis=1)
    _, sizes = np.unique(pairs[0], return_counts=True)
    labels, (counts,) = _classes([sizes], _SIZES, int(sizes.max()), share=False)
    return Chart(
        title="How many people hide in a group",
        kind="bars",
        labels=labels,
        series=(Series(name="groups", values=tuple(counts.tolist())),),
        x_label="people in the group",
        y_label="groups",
    )


def alike(after: Data) -> IntArray | None:
    """Return a number per trajectory, equal for those that are published alike; negative for those without rows."""
    if isinstance(after, Regions):
        rows = (after.t_min, after.t_max, after.x_min, after.x_max, after.y_min, after.y_max)
        number = _equal(after.offsets, rows, ())
    elif isinstance(after, Routes):
        number = _equal(after.offsets, (after.road.astype(np.int64),), (after.t_start, after.t_end))
    elif isinstance(after, Stops):
        known = after.where(~after.sensitive)
        number = _equal(known.offsets, (known.place.astype(np.int64),), ())
    else:
        return None
    return np.where(np.diff(after.offsets) > 0, number, -1)


def _equal(offsets: IntArray, rows: Sequence[Any], whole: Sequence[IntArray]) -> IntArray:
    """Return numbers of trajectories by a 64-bit hash of their rows in order: good enough to count for a chart."""
    trajectory = trajectory_of_row(offsets)
    mixed = (np.arange(len(trajectory)) - offsets[:-1][trajectory]).astype(np.uint64)
    for column in rows:
        mixed = _mix(mixed ^ _mix(np.ascontiguousarray(column).view(np.uint64)))
    total = np.zeros(len(offsets) - 1, np.uint64)
    np.add.at(total, trajectory, mixed)
    for part in whole:
        total = _mix(total ^ part.view(np.uint64))
    return np.unique(total, return_inverse=True)[1].astype(np.int64)


def _mix(value: Any) -> Any:
    """Return 64 bits that depend on all bits of the value (splitmix64)."""
    value = (value + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


def _classes(
    values: Sequence[IntArray], bounds: tuple[int, ...], top: int, *, share: bool = True
) -> tuple[tuple[str, ...], list[FloatArray]]:
    """Return classes that end at these bounds, and how many values, or what share of them, are in each."""
    used = [bound for bound in bounds if bound < top] + [top]
    labels, low = [], 1
    for bound in used:
        labels.append(str(bound) if low == bound else f"{low} to {bound}")
        low = bound + 1
    found: list[FloatArray] = []
    for numbers in values:
        counts = np.bincount(np.searchsorted(used, numbers), minlength=len(used)).astype(np.float64)
        found.append(counts / max(len(numbers), 1) if share else counts)
    return tuple(labels), found


def _shares(
    title: str, labels: tuple[str, ...], shares: Sequence[FloatArray], names: tuple[str, str], x: str, y: str
) -> Chart:
    return Chart(
        title=title,
        kind="bars",
        labels=labels,
        series=tuple(Series(name=n, values=tuple(s.tolist())) for n, s in zip(names, shares, strict=True)),
        x_label=x,
        y_label=y,
        percent=True,
    )


def _metres(length: float) -> str:
    return f"{length / 1000:.3g} km" if length >= 1000 else f"{length:.3g} m"
