"""What the data look like before and after, summed up so that nobody can be seen in it: by place, time and length."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wayveil.model import Chart, Data, Series
from wayveil.model.data.distinct import distinct_rows, distinct_values
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row
from wayveil.report.suppression import MIN_PEOPLE, count_people_by_code
from wayveil.report.views.equivalence_groups import alike
from wayveil.report.views.spatial import where
from wayveil.report.views.time_slices import slices_of

__all__ = ["balance", "views"]

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
    Where only one of the two has times or places of a kind, there is no such chart.  Places, hours and lengths that
    fewer than `MIN_PEOPLE` people of the original have are not shown.
    """
    fewest = 0 if published else MIN_PEOPLE
    # Where, when, how long: none of these shows a single person.
    charts = [
        where(before, after, names, fewest),
        _when(before, after, names, fewest),
        _lengths(before, after, names, fewest),
    ]
    together = groups if groups is not None else alike(after)
    if together is not None:
        charts.append(_group_sizes(after, together))
    return tuple(chart for chart in charts if chart is not None)


def balance(
    before: Data, after: Data, source: IntArray | None = None, counted: BoolArray | None = None
) -> dict[str, dict[str, int | None]]:
    """Return what went in, what came out, what was suppressed on the way and what was invented, in numbers.

    Parameters
    ----------
    before, after : Data
        The original and the published data, trajectory by trajectory.
    source : int64, one per trajectory of `after`, optional
        The trajectory of `before` that each is a part of, negative for one that is invented; by default the same.
    counted : bool, one per row of `before`, optional
        Which rows are in the numbers of `after`, where these are numbers: then nothing else came out of them.

    Notes
    -----
    A visit is the same where its place is, a point where its time is, a road where it is the same road; stops are
    counted, as their places may be replaced.  A point is suppressed under boxes if it is in the time of none of them.

    Examples
    --------
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)]])
    >>> found = balance(data, data.where(np.array([True, False, False])))
    >>> found["trajectories"]
    {'in': 2, 'out': 1, 'suppressed': 1, 'invented': 0}
    >>> found["visits"]
    {'in': 3, 'out': 1, 'suppressed': 2, 'invented': 0}
    """
    if counted is not None:
        return _balance_of_numbers(before, counted)
    origin = np.arange(len(after)) if source is None else source
    nonempty = before.nonempty
    left = after.nonempty
    # A trajectory counts as left if anything of it is published, whatever it was cut into.
    sources = distinct_values(origin[left & (origin >= 0)])
    invented = int((left & (origin < 0)).sum())
    n = int(nonempty.sum())
    entries = {"trajectories": _entry(n, int(left.sum()), n - int(nonempty[sources].sum()), invented)}
    if before.owners == "given":
        people = len(distinct_values(before.owner[nonempty]))
        still = len(distinct_values(before.owner[sources]))
        entries["people"] = _entry(people, still, people - still, invented)
    entries[before.row_word] = _entry(before.n_rows, after.n_rows, *_changed_rows(before, after, origin))
    return entries


def _balance_of_numbers(before: Data, counted: BoolArray) -> dict[str, dict[str, int | None]]:
    """Return the same where numbers are published: what of the input is in one of them."""
    nonempty = before.nonempty
    trajectory = np.unique(trajectory_of_row(before.offsets)[counted])
    n = int(nonempty.sum())
    balance = {"trajectories": _entry(n, len(trajectory), n - len(trajectory), 0)}
    if before.owners == "given":
        people = len(np.unique(before.owner[nonempty]))
        still = len(np.unique(before.owner[trajectory]))
        balance["people"] = _entry(people, still, people - still, 0)
    n_kept = int(counted.sum())
    balance[before.row_word] = _entry(before.n_rows, n_kept, before.n_rows - n_kept, 0)
    return balance


def _when(before: Data, after: Data, names: tuple[str, str], fewest: int) -> Chart | None:
    """Return how rows spread over the hours of the day, or over the time that the data span."""
    if before.moments() is None or after.moments() is None:
        return None
    slices = slices_of(before, after)
    if slices is None:
        return None
    n = len(slices.labels)
    labels = slices.labels
    if slices.hours:
        labels = tuple(f"{hour:02d}:00" for hour in range(24))
    sides = ((before, slices.before), (after, slices.after))
    shares = [np.bincount(part[part >= 0], minlength=n) / max(len(part), 1) for _, part in sides]
    people = [_people(data, part, n) for data, part in sides]
    axis = "hour of the day, as the times of the data say" if slices.hours else "time of the data, in equal parts"
    return _shares("When people move", labels, shares, people, names, axis, "share of rows", fewest)


def _lengths(before: Data, after: Data, names: tuple[str, str], fewest: int) -> Chart | None:
    if not after.individual:
        return None  # a table is nobody's trip
    lengths = [data.lengths[data.lengths > 0] for data in (before, after)]
    owners = [data.owner[data.lengths > 0] for data in (before, after)]
    if not len(lengths[0]):
        return None
    top = max((int(length.max()) for length in lengths if len(length)), default=1)
    # Leading classes without anybody are cut off.
    labels, shares, classes = _classes(lengths, _LENGTHS, top)
    people = [count_people_by_code(*one, len(labels)) for one in zip(classes, owners, strict=True)]
    first = int(np.flatnonzero(shares[0] + shares[1])[0])  # where all are long, the short ones need no room
    return _shares(
        "How long trajectories are",
        labels[first:],
        [share[first:] for share in shares],
        [counts[first:] for counts in people],
        names,
        "rows of a trajectory",
        "share of trajectories",
        fewest,
    )


def _people(data: Data, part: IntArray, n: int) -> IntArray:
    """Return how many people have a row in each part; a table of counts does not say it."""
    inside = part >= 0
    if not data.individual:
        return np.full(n, -1)
    return count_people_by_code(part[inside], data.row_owner()[inside], n)


def _group_sizes(after: Data, groups: IntArray) -> Chart | None:
    inside = groups >= 0
    if not inside.any():
        return None
    # People of a group, each once.
    pairs = distinct_rows(groups[inside], after.owner[inside])
    _, sizes = np.unique(groups[inside][pairs.first], return_counts=True)
    labels, (counts,), _ = _classes([sizes], _SIZES, int(sizes.max()), share=False)
    return Chart(
        title="How many people hide in a group",
        kind="bars",
        labels=labels,
        series=(Series(name="groups", values=tuple(counts.tolist())),),
        x_label="people in the group",
        y_label="groups",
    )


def _classes(
    values: Sequence[IntArray], bounds: tuple[int, ...], top: int, *, share: bool = True
) -> tuple[tuple[str, ...], list[FloatArray], list[IntArray]]:
    """Return classes that end at these bounds, how many values, or what share, are in each, and where each value is."""
    used = [bound for bound in bounds if bound < top] + [top]
    labels = []
    low = 1
    for bound in used:
        labels.append(str(bound) if low == bound else f"{low} to {bound}")
        low = bound + 1
    sizes: list[FloatArray] = []
    classes: list[IntArray] = [np.searchsorted(used, numbers).astype(np.int64) for numbers in values]
    for place in classes:
        counts = np.bincount(place, minlength=len(used)).astype(np.float64)
        sizes.append(counts / max(len(place), 1) if share else counts)
    return tuple(labels), sizes, classes


def _shares(
    title: str, labels: tuple[str, ...], shares: Sequence[FloatArray], people: Sequence[IntArray],
    names: tuple[str, str], x: str, y: str, fewest: int,
) -> Chart:  # fmt: skip
    series = []
    for name, share, counts, least in zip(names, shares, people, (MIN_PEOPLE, fewest), strict=True):
        few = (counts > 0) & (counts < least)
        series.append(
            Series(
                name=name,
                values=tuple(None if hidden else value for value, hidden in zip(share.tolist(), few, strict=True)),
                people=tuple(None if hidden or n < 0 else n for n, hidden in zip(counts.tolist(), few, strict=True)),
            )
        )
    return Chart(title=title, kind="bars", labels=labels, series=tuple(series), x_label=x, y_label=y, percent=True)


def _entry(before: int, after: int, suppressed: int, invented: int | None) -> dict[str, int | None]:
    return {"in": before, "out": after, "suppressed": suppressed, "invented": invented}


def _changed_rows(before: Data, after: Data, origin: IntArray) -> tuple[int, int | None]:
    rows = trajectory_of_row(before.offsets)
    later = origin[trajectory_of_row(after.offsets)]
    # Rows of dummies belong to a trajectory of their own behind all others.
    later = np.where(later < 0, len(before), later)
    intervals = after.intervals()
    if intervals is not None:
        return _outside(rows, before.moments(), later, intervals), None
    if type(before) is type(after):
        what = before.row_keys(after)
    else:
        what = (np.zeros(len(rows), np.int64), np.zeros(len(later), np.int64))
    _, code = np.unique(np.concatenate(what), return_inverse=True)
    # Rows of a trajectory with the same key are the same row before and after; what is missing is gone, what is more is
    # new.
    _, key = np.unique(np.concatenate([rows, later]) * (code.max(initial=0) + 1) + code, return_inverse=True)
    counts = [np.bincount(part, minlength=key.max(initial=-1) + 1) for part in (key[: len(rows)], key[len(rows) :])]
    gone = counts[0] - counts[1]
    return int(gone[gone > 0].sum()), int(-gone[gone < 0].sum())


def _outside(rows: IntArray, t: IntArray | None, later: IntArray, intervals: tuple[IntArray, IntArray]) -> int:
    """Return how many rows are at a time that no box of their trajectory has."""
    t_min, t_max = intervals
    if t is None or not len(t_min):
        return len(rows)
    known, rank = np.unique(np.concatenate([t, t_min, t_max]), return_inverse=True)
    at, begin, end = np.split(rank, [len(t), len(t) + len(t_min)])
    # Trajectory and time as one number: the last box that has begun before a moment is found by searching.
    order = np.argsort(later * len(known) + begin, kind="stable")
    starts, ends = ((later * len(known) + moment)[order] for moment in (begin, end))
    moment = rows * len(known) + at
    box = np.searchsorted(starts, moment, side="right") - 1
    inside = (box >= 0) & (ends[np.maximum(box, 0)] >= moment)  # the last one that has begun also ends last
    return len(rows) - int(inside.sum())
