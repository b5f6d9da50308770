"""How many visits the publication lost, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Score, Series, Visits
from wayveil.utility.aligned import aligned_locations, check_times, hour_of_day

__all__ = ["InstanceLoss"]

Array = NDArray[Any]

_TOP_PLACES = 15
_MOST_TIMES = 48
_CLASSES = 24
_LONGEST = 10


@dataclass(frozen=True, kw_only=True)
class InstanceLoss:
    """The share of visits that are in the original but not in the published data: 1 - published / original.

    Notes
    -----
    The loss per place and per time of day compares numbers of visits, as published trajectories cannot be traced back;
    so a visit that moved from one place to another would count as lost here and won there.  Lengths are compared as
    two distributions, for the same reason.  O(visits) time and memory.

    References
    ----------
    Chen, Fung, Mohammed, Desai, Wang: Privacy-preserving trajectory data publishing by local suppression.
    Information Sciences 231 (2013), section 5.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 3)]])
    >>> after = Visits.from_records([[("a", 1)], [("a", 1), ("c", 3)]])
    >>> InstanceLoss().run(before, after).value
    0.25
    """

    name: ClassVar[str] = "instance_loss"
    summary: ClassVar[str] = "share of visits lost, per place and per time of day"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)
    matched: ClassVar[bool] = False

    def run(self, original: Visits, published: Visits) -> Score:
        ordered = _tells_order_only(published) and not _tells_order_only(original)
        if not ordered:
            check_times(self.name, original, published)
        before, after = original.n_visits, published.n_visits
        return Score(
            name=self.name,
            meaning="share of the original visits that were not published",
            value=1 - after / before if before else None,
            better="lower",
            percent=True,
            measured={
                "visits_before": before,
                "visits_after": after,
                "trajectories_before": _not_empty(original),
                "trajectories_after": _not_empty(published),
                "owners_before": _owners(original),
                "owners_after": _owners(published),
            },
            charts=(
                _by_place(original, published),
                *(() if ordered else (_by_time(original, published),)),
                _by_length(original, published),
            )
            if before
            else (),
        )


def _tells_order_only(data: Visits) -> bool:
    """Return whether the times are the positions 1, 2, 3, ... in every trajectory."""
    position = np.arange(data.n_visits) - data.offsets[:-1].repeat(np.diff(data.offsets)) + 1
    return data.time_format == "integer" and data.n_visits > 0 and bool((data.t == position).all())


def _not_empty(data: Visits) -> int:
    return int((np.diff(data.offsets) > 0).sum())


def _owners(data: Visits) -> int | None:
    """Return the number of people with a visit, where they are known."""
    return len(np.unique(data.owner[np.diff(data.offsets) > 0])) if data.owners == "given" else None


def _by_place(original: Visits, published: Visits) -> Chart:
    names, codes = aligned_locations(original, published)
    before = np.bincount(original.location, minlength=len(names))
    after = np.bincount(codes, minlength=len(names))
    rank = np.argsort(-before, kind="stable")
    top, rest = rank[:_TOP_PLACES], rank[_TOP_PLACES:]
    return _loss_chart(
        "Visits lost per place",
        "place, the most visited first",
        (*(names[i] for i in top), "all others"),
        np.append(before[top], before[rest].sum()),
        np.append(after[top], after[rest].sum()),
    )


def _by_time(original: Visits, published: Visits) -> Chart:
    if original.time_format == "integer":
        labels, before, after = _by_value(original.t, published.t)
        return _loss_chart("Visits lost per time", "time", labels, before, after)
    hours = [hour_of_day(data.t, original.time_format) for data in (original, published)]
    before, after = (np.bincount(hour, minlength=24) for hour in hours)
    return _loss_chart("Visits lost per time of day", "hour", tuple(f"{h}:00" for h in range(24)), before, after)


def _by_value(before: Array, after: Array) -> tuple[tuple[str, ...], Array, Array]:
    """Return labels and numbers of visits per time where there are few times, else per class of equal length."""
    low, high = int(before.min()), int(before.max())
    times = np.unique(before)
    if len(times) <= _MOST_TIMES:
        counts = [
            np.bincount(np.searchsorted(times, t[np.isin(t, times)]), minlength=len(times)) for t in (before, after)
        ]
        return tuple(str(t) for t in times.tolist()), counts[0], counts[1]
    step = -(-(high - low + 1) // _CLASSES)
    starts = range(low, high + 1, step)
    counts = [np.bincount((t[(t >= low) & (t <= high)] - low) // step, minlength=len(starts)) for t in (before, after)]
    labels = (str(s) if step == 1 else f"{s} to {min(s + step - 1, high)}" for s in starts)
    return tuple(labels), counts[0], counts[1]


def _loss_chart(title: str, x_label: str, labels: tuple[str, ...], before: Array, after: Array) -> Chart:
    """Return the loss per label; where nothing was, nothing can be lost, and the label is left out."""
    there = np.flatnonzero(before)
    lost = 1 - after[there] / before[there]
    return Chart(
        title=title,
        kind="bars",
        labels=tuple(labels[i] for i in there),
        series=(Series(name="share lost", values=tuple(lost.tolist())),),
        x_label=x_label,
        y_label="share of visits lost",
        percent=True,
    )


def _by_length(original: Visits, published: Visits) -> Chart:
    series = []
    for name, data in (("original", original), ("published", published)):
        length = np.diff(data.offsets)
        counts = np.bincount(np.minimum(length[length > 0], _LONGEST), minlength=_LONGEST + 1)[1:]
        series.append(Series(name=name, values=tuple((counts / max(1, counts.sum())).tolist())))
    return Chart(
        title="Visits per trajectory",
        kind="bars",
        labels=(*(str(i) for i in range(1, _LONGEST)), f"{_LONGEST}+"),
        series=tuple(series),
        x_label="number of visits",
        y_label="share of trajectories",
        percent=True,
    )
