"""How well the published data tell how many people were where, and when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.stats import paired_bars
from wayveil.metrics.visits.aligned import check_times, time_label
from wayveil.model import Chart, Score, TimeFormat, Visits
from wayveil.model.accumulators import Constant, Tally, side_by_side
from wayveil.model.numbers import amount, count, relative, share

__all__ = ["VisitSupport"]

Array = NDArray[Any]

_TOP = 20  # visits whose overlap is counted
_DRAWN = 12  # visits that are drawn: more cannot be read at a glance


@dataclass(frozen=True, kw_only=True)
class VisitSupport(OnVisits):
    """How the supports of single visits changed; a support is the number of trajectories with this place and time.

    The headline is the total-variation distance of the two distributions over visits: the share of visits that would
    have to be moved to turn one into the other, 0 (same proportions) to 1 (nothing in common).

    Notes
    -----
    Times increase strictly inside a trajectory, so a trajectory has a visit at most once and its support is its number
    of rows.  The rank correlation is Spearman's, over the visits of the original, with mean ranks for ties.  A
    visit of the original's top 20 counts as kept if it is in the published top 20, ties included.
    What is not defined on empty or constant data is None.  O(visits log visits) time at worst, O(visits) memory.
    What is counted in pieces is as long as there are different places and times.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 3)]])
    >>> after = Visits.from_records([[("a", 1)], [("a", 1)]])
    >>> score = VisitSupport().run(before, after)
    >>> score.value, round(score.measured["visits_kept_share"], 3)
    (0.5, 0.333)
    """

    name: ClassVar[str] = "visit_support"
    summary: ClassVar[str] = "how often each place and time is visited, before and after"
    timed: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: trajectories per place and time."""
        check_times(self.name, original, published)
        before, after = (
            Tally.of(data.location, data.t, names=data.locations, named=1) for data in (original, published)
        )
        return {"time_format": Constant(original.time_format), "before": before, "after": after}

    def score(self, counts: Mapping[str, Any]) -> Score:
        visits, before, after = side_by_side(counts["before"], counts["after"])
        occurs = before > 0
        old = before[occurs]
        new = after[occurs]
        return Score(
            name=self.name,
            meaning="distance between the distributions of visits over places and times, before and after",
            value=_total_variation(before, after),
            better="lower",
            unit="share",
            numbers={
                "distinct_visits_before": count(int(occurs.sum()), "Distinct visits before", "visits"),
                "distinct_visits_after": count(int((after > 0).sum()), "Distinct visits after", "visits"),
                "visits_kept_share": share(_mean(new > 0), "Share of distinct visits kept"),
                "mean_relative_error": relative(_mean(np.abs(new - old) / old), "Mean relative error"),
                "rank_correlation": amount(_rank_correlation(old, new), "Rank correlation"),
                f"top_{_TOP}_overlap": share(
                    _top_overlap(before, after), f"Share in both lists of the {_TOP} most frequent"
                ),
            },
            charts=_charts(visits, before, after, counts["time_format"].value),
        )


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _total_variation(before: Array, after: Array) -> float | None:
    if not before.sum() or not after.sum():
        return None
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)


def _rank_correlation(old: Array, new: Array) -> float | None:
    first = _mean_ranks(old)
    second = _mean_ranks(new)
    first = first - first.sum() / max(1, len(first))
    second = second - second.sum() / max(1, len(second))
    spread = float(np.sqrt((first @ first) * (second @ second)))
    return float(np.clip(first @ second / spread, -1, 1)) if spread > 0 else None


def _mean_ranks(values: Array) -> Array:
    """Return the rank of each value from 1 on; equal values share the mean of their ranks."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return ((2 * last - counts + 1) / 2)[where]


def _top(support: Array) -> Array:
    """Return the positions of the visits with the largest supports, none of them 0; ties in order of position."""
    rank = np.argsort(-support, kind="stable")[:_TOP]
    return rank[support[rank] > 0]


def _top_overlap(before: Array, after: Array) -> float | None:
    old = _top(before)
    new = _top(after)
    if not len(old):
        return None
    smallest = after[new].min() if len(new) else 1
    return float((after[old] >= smallest).mean())


def _charts(visits: Tally, before: Array, after: Array, time_format: TimeFormat) -> tuple[Chart, ...]:
    top = _top(before)[:_DRAWN]
    if not len(top):
        return ()
    drawn = zip(*(column[top].tolist() for column in visits.columns), strict=True)
    title = f"The {len(top)} most frequent visits" if len(top) > 1 else "The most frequent visit"
    names = [(visits.names[place], time_label(moment, time_format)) for place, moment in drawn]
    labels = tuple(f"{place} @ {time}" for place, time in names)
    axes = {"x_label": "place and time", "y_label": "trajectories"}
    return (paired_bars(title, labels, before[top], after[top], **axes, names=names),)
