"""How busy roads and turnings are: traffic counts, before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnRoutes
from wayveil.metrics.roads.road_counts import by_slice, follows, slices_of, tally_of_roads
from wayveil.metrics.stats import largest, paired_bars
from wayveil.model import Chart, Routes, Score, parameter
from wayveil.model.accumulators import Constant, Tally, side_by_side
from wayveil.model.numbers import count, relative, share

__all__ = ["Traffic"]

Array = NDArray[Any]

_DRAWN = 12


@dataclass(frozen=True, kw_only=True)
class Traffic(OnRoutes):
    """How many counts of traffic changed: on roads, and from road to road at intersections.

    A passage is one row: somebody drives along a road.  A turn is two rows that follow each other in a trajectory, the
    second road beginning where the first ends; going straight on is a turn, too.  The headline is the sum of the
    differences between the counts of roads before and after, in relation to all passages before.

    Parameters
    ----------
    top : int, 1 to 1000
        Number of busiest roads and turns that are compared.

    Notes
    -----
    Counts are taken per slice of time where the published slices are slices of the original, else over all times.
    Roads are matched by name.  Dummies count, as nobody can tell them apart.  The headline can be above 1 where traffic
    was invented.  O(n log n) time for n rows.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c")])
    >>> before = Routes.from_records([["ab", "bc"], ["ab", "bc"], ["ab"]], network=network)
    >>> after = Routes.from_records([["ab", "bc"], ["ab"], ["ab"]], network=network)
    >>> score = Traffic().run(before, after)
    >>> score.value, score.measured["turns_changed_share"]
    (0.2, 0.5)
    """

    top: int = parameter(
        kind="int", low=1, high=1000, default=20, help="number of busiest roads and turns that are compared"
    )

    name: ClassVar[str] = "traffic"
    summary: ClassVar[str] = "traffic counts of roads and turns, before and after"
    additive: ClassVar[bool] = True

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data: passages and turns, per slice of time."""
        return {
            side: {"roads": tally_of_roads(data, np.arange(data.n_rows)), "turns": _turns(data)}
            for side, data in (("before", original), ("after", published))
        } | {"time_formats": Constant((original.time_format, published.time_format))}

    def score(self, counts: Mapping[str, Any]) -> Score:
        before = counts["before"]
        after = counts["after"]
        slices = slices_of(before["roads"], after["roads"], counts["time_formats"].value)
        passed, turned = (_Change(before[what], after[what], slices is not None) for what in ("roads", "turns"))
        return Score(
            name=self.name,
            meaning="sum of the changes of all traffic counts of roads, in relation to the original traffic",
            value=passed.changed,
            better="lower",
            unit="relative",
            numbers={
                "slices": count(1 if slices is None else slices, "Slices of time", "slices"),
                "passages_before": count(int(passed.before.sum()), "Passages before", "passages"),
                "passages_after": count(int(passed.after.sum()), "Passages after", "passages"),
                "passages_lost_share": share(passed.lost, "Share of passages lost"),
                "passages_added_share": relative(passed.added, "Passages added, in relation to those before"),
                "roads_before": count(int((passed.before > 0).sum()), "Roads before", "roads"),
                "roads_after": count(int((passed.after > 0).sum()), "Roads after", "roads"),
                "roads_lost_share": share(passed.gone, "Share of roads lost"),
                f"top_{self.top}_roads_kept_share": share(
                    passed.top_kept(self.top), f"Share kept of the {self.top} roads with most traffic"
                ),
                "turns_before": count(int(turned.before.sum()), "Turns before", "turns"),
                "turns_after": count(int(turned.after.sum()), "Turns after", "turns"),
                "turns_changed_share": relative(turned.changed, "Turns changed, in relation to those before"),
                "turns_lost_share": share(turned.lost, "Share of turns lost"),
                "turns_added_share": relative(turned.added, "Turns added, in relation to those before"),
                f"top_{self.top}_turns_kept_share": share(
                    turned.top_kept(self.top), f"Share kept of the {self.top} most frequent turns"
                ),
            },
            charts=(
                *passed.chart("busiest road", "road"),
                *turned.chart("busiest turn", "turn"),
            ),
        )


def _turns(data: Routes) -> Tally:
    first = np.flatnonzero(follows(data))
    return tally_of_roads(data, first, first + 1)


class _Change:
    """Counts of roads or turns before and after: per slice (`before`, `after`), and over all (`old`, `new`)."""

    def __init__(self, original: Tally, published: Tally, apart: bool) -> None:
        self.items, self.old, self.new = side_by_side(*(by_slice(side, apart=False) for side in (original, published)))
        _, self.before, self.after = side_by_side(*(by_slice(side, apart=apart) for side in (original, published)))

    @property
    def changed(self) -> float | None:
        return self._share(np.abs(self.before - self.after))

    @property
    def lost(self) -> float | None:
        return self._share(np.maximum(self.before - self.after, 0))

    @property
    def added(self) -> float | None:
        return self._share(np.maximum(self.after - self.before, 0))

    @property
    def gone(self) -> float | None:
        """The share of those with traffic before that have none after."""
        return float((self.after[self.before > 0] == 0).mean()) if self.before.any() else None

    def _share(self, part: Array) -> float | None:
        return int(part.sum()) / int(self.before.sum()) if self.before.any() else None

    def top_kept(self, top: int) -> float | None:
        """Return the share of the busiest that are among the busiest after; ties at the end count as in."""
        old = largest(self.old, top)
        new = largest(self.new, top)
        if not len(old):
            return None
        bar = self.new[new].min() if len(new) else 1
        return float((self.new[old] >= bar).mean())

    def chart(self, what: str, x_label: str) -> tuple[Chart, ...]:
        top = largest(self.old, _DRAWN)
        if not len(top):
            return ()
        names = [[self.items.names[code] for code in column[top].tolist()] for column in self.items.columns]
        title = f"The {len(top)} {what}s" if len(top) > 1 else f"The {what}"
        roads = list(zip(*names, strict=True))
        labels = tuple(" → ".join(one) for one in roads)
        axes = {"x_label": x_label, "y_label": "passages"}
        return (paired_bars(title, labels, self.old[top], self.new[top], **axes, names=roads),)
