"""How many visits the publication lost, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.visits.aligned import check_time_formats, hour_of_day
from wayveil.model import Chart, Score, Series, TimeFormat, Visits
from wayveil.model.accumulators import Constant, Tally, side_by_side
from wayveil.model.numbers import count

__all__ = ["InstanceLoss"]

Array = NDArray[Any]

_TOP_PLACES = 15
_MOST_TIMES = 48
_CLASSES = 24
_LONGEST = 10


@dataclass(frozen=True, kw_only=True)
class InstanceLoss(OnVisits):
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
    synthetic: ClassVar[bool | None] = False
    summary: ClassVar[str] = "share of visits lost, per place and per time of day"
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: visits by place and by time, trajectories by length."""
        return {"before": _side(original, original), "after": _side(published, original)}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        after = counts["after"]
        formats = before["time_format"].value, after["time_format"].value
        ordered = _tells_order_only(after) and not _tells_order_only(before)
        if not ordered:
            check_time_formats(self.name, *formats)
        return Score(
            name=self.name,
            meaning="share of the original visits that were not published",
            value=1 - after["visits"] / before["visits"] if before["visits"] else None,
            better="lower",
            unit="share",
            numbers={
                f"{what}_{side}": count(counts[side][what], f"{word.capitalize()} {side}", word)
                for what, word in (("visits", "visits"), ("trajectories", "trajectories"), ("owners", "people"))
                for side in ("before", "after")
            },
            charts=(
                _by_place(before["places"], after["places"]),
                *(() if ordered else (_by_time(before["times"], after["times"], formats[0]),)),
                _by_length(before["lengths"], after["lengths"]),
            )
            if before["visits"]
            else (),
        )


def _side(data: Visits, original: Visits) -> Mapping[str, Any]:
    length = np.diff(data.offsets)
    nonempty = length > 0
    position = np.arange(data.n_visits) - data.offsets[:-1].repeat(length) + 1
    dates = original.time_format != "integer"
    return {
        "visits": data.n_visits,
        "not_in_position": int((data.t != position).sum()),
        "trajectories": int(nonempty.sum()),
        # Nobody has trajectories in two pieces, so people can be added.
        "owners": len(np.unique(data.owner[nonempty])) if data.owners == "given" else None,
        "places": Tally.of(data.location, names=data.locations, named=1),
        "times": Tally.of(hour_of_day(data.t, original.time_format) if dates else data.t),
        "lengths": np.bincount(np.minimum(length[nonempty], _LONGEST), minlength=_LONGEST + 1)[1:],
        "time_format": Constant(data.time_format),
    }


def _tells_order_only(side: Mapping[str, Any]) -> bool:
    """Return whether the times are the positions 1, 2, 3, ... in every trajectory."""
    return side["time_format"].value == "integer" and side["visits"] > 0 and side["not_in_position"] == 0


def _by_place(before: Tally, after: Tally) -> Chart:
    both, old, new = side_by_side(before, after)
    rank = np.argsort(-old, kind="stable")
    top = rank[:_TOP_PLACES]
    rest = rank[_TOP_PLACES:]
    return _loss_chart(
        "Visits lost per place",
        "place, the most visited first",
        (*(both.names[i] for i in top), "all others"),
        np.append(old[top], old[rest].sum()),
        np.append(new[top], new[rest].sum()),
        names=[*((both.names[i],) for i in top), ()],
    )


def _by_time(before: Tally, after: Tally, time_format: TimeFormat) -> Chart:
    if time_format == "integer":
        return _loss_chart("Visits lost per time", "time", *_by_value(before, after))
    old, new = (
        np.bincount(side.values, weights=side.counts, minlength=24).astype(np.int64) for side in (before, after)
    )
    return _loss_chart("Visits lost per time of day", "hour", tuple(f"{h}:00" for h in range(24)), old, new)


def _by_value(before: Tally, after: Tally) -> tuple[tuple[str, ...], Array, Array]:
    """Return labels and numbers of visits per time where there are few times, else per class of equal length."""
    times = before.values
    if len(times) <= _MOST_TIMES:
        both, _, new = side_by_side(before, after)
        return tuple(str(t) for t in times.tolist()), before.counts, new[np.isin(both.values, times)]
    low = int(times[0])
    high = int(times[-1])
    step = -(-(high - low + 1) // _CLASSES)
    starts = range(low, high + 1, step)
    by_value = []
    for side in (before, after):
        inside = (side.values >= low) & (side.values <= high)
        place = (side.values[inside] - low) // step
        by_value.append(np.bincount(place, weights=side.counts[inside], minlength=len(starts)).astype(np.int64))
    labels = (str(s) if step == 1 else f"{s} to {min(s + step - 1, high)}" for s in starts)
    return tuple(labels), by_value[0], by_value[1]


def _loss_chart(
    title: str,
    x_label: str,
    labels: tuple[str, ...],
    before: Array,
    after: Array,
    names: Sequence[tuple[str, ...]] = (),
) -> Chart:
    """Return the loss per label; where nothing was, nothing can be lost, and the label is left out."""
    occurs = np.flatnonzero(before)
    lost = 1 - after[occurs] / before[occurs]
    return Chart(
        title=title,
        kind="bars",
        labels=tuple(labels[i] for i in occurs),
        series=(Series(name="share lost", values=tuple(lost.tolist())),),
        x_label=x_label,
        y_label="share of visits lost",
        percent=True,
        names=tuple(names[i] for i in occurs.tolist()) if names else (),
    )


def _by_length(before: Array, after: Array) -> Chart:
    series = [
        Series(name=name, values=tuple((counts / max(1, counts.sum())).tolist()))
        for name, counts in (("original", before), ("published", after))
    ]
    return Chart(
        title="Visits per trajectory",
        kind="bars",
        labels=(*(str(i) for i in range(1, _LONGEST)), f"{_LONGEST}+"),
        series=tuple(series),
        x_label="number of visits",
        y_label="share of trajectories",
        percent=True,
    )
