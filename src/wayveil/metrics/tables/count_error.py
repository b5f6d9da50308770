"""How far published counts are from the true ones, by the size of the cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.model import Chart, CountTables, Metric, Score, Series, Visits
from wayveil.model.claims.threshold import count_parameter, every_parameter, tally_parameter
from wayveil.model.data.count_tables import ALL, EVERYWHERE, list_events
from wayveil.model.data.ragged import FloatArray
from wayveil.model.numbers import amount, count, relative, share

__all__ = ["CountError"]

_TOP = 20  # cells whose overlap is counted
_SIZES = (10, 50, 200, 1000)  # where classes of cells by size begin, after the first
_SANITY = 0.001  # of everything that is counted: the relative error of a smaller cell is measured against this


@dataclass(frozen=True, kw_only=True)
class CountError(Metric):
    """How far the counts of cells moved; a cell that is not published counts as 0.

    The headline is the sum of all differences as a share of everything that there was to count: 0 if every cell is
    published as it is, 1 if none is.

    Parameters
    ----------
    tally, counted, every
        What a cell is: as in the method `counts`, where `counted` is `count`.

    Notes
    -----
    `mean_relative_error` divides each difference by the true count, or by 0.1 % of all that was counted where that is
    more: the sanity bound of AdaTrace's query error, without which cells of one person decide the mean.  Hot spots are
    the 20 cells with most in them.  O(n log n).

    References
    ----------
    Gursoy, Liu, Truex, Yu, Wei: Utility-aware synthesis of differentially private and attack-resilient location traces.
    CCS 2018, section 5.2.

    Examples
    --------
    >>> before = Visits.from_records([[("a", 1)], [("a", 1)], [("b", 1)]])
    >>> CountError().run(before, CountTables.from_rows([("a", "", 1, 2)])).value
    0.3333333333333333
    """

    tally: str = tally_parameter()
    counted: str = count_parameter()
    every: str = every_parameter()

    name: ClassVar[str] = "count_error"
    summary: ClassVar[str] = "how far published counts are from the true ones, by the size of the cell"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[CountTables], ...]] = (CountTables,)

    def count(self, original: Any, published: CountTables) -> Mapping[str, Any]:
        """Return the true and the published count of every cell."""
        true = self._true_cells(original)
        shown: dict[Any, int] = {}
        for table in range(len(published)):
            for zone, to_zone, t, number in published.record(table):
                if not self._is_total(zone, to_zone, t):
                    shown[zone, to_zone, t] = number
        cells = sorted({*true, *shown}, key=lambda cell: (cell[2] is not None, cell[2] or 0, cell[0], cell[1]))
        return {
            "before": np.array([true.get(cell, 0) for cell in cells], np.float64),
            "after": np.array([shown.get(cell, 0) for cell in cells], np.float64),
            "published": np.array([cell in shown for cell in cells], np.bool_),
        }

    def _is_total(self, zone: str, to_zone: str, t: int | None) -> bool:
        if self.tally == "flows":
            return EVERYWHERE in (zone, to_zone)
        return zone == EVERYWHERE or (t is None and self.every != ALL)

    def _true_cells(self, original: Any) -> dict[Any, int]:
        events = list_events(original, tally=self.tally, every=self.every, component=self.name)
        has_times = self.every != ALL and original.has_times()
        columns = [events.zone, events.to_zone, events.t]
        if self.counted == "people":
            rows = np.unique(np.stack([*columns, events.person]), axis=1)[:3]
        else:
            rows = np.stack(columns)
        cells, numbers = np.unique(rows, axis=1, return_counts=True)
        return {
            (events.names[zone], events.names[to_zone], t if has_times else None): number
            for (zone, to_zone, t), number in zip(cells.T.tolist(), numbers.tolist(), strict=True)
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        before: FloatArray = counts["before"]
        after: FloatArray = counts["after"]
        total = before.sum()
        error = np.abs(after - before)
        occurs = before > 0
        against = np.maximum(before, _SANITY * total)
        relative_error = float((error[occurs] / against[occurs]).mean()) if occurs.any() else None
        return Score(
            name=self.name,
            meaning="differences between published and true counts, as a share of all that was counted",
            value=float(error.sum() / total) if total else None,
            better="lower",
            unit="relative",
            numbers={
                "cells_before": count(int(occurs.sum()), "Cells that somebody is in", "cells"),
                "cells_after": count(int(counts["published"].sum()), "Published cells", "cells"),
                "invented": count(
                    int((counts["published"] & ~occurs).sum()), "Published cells that nobody is in", "cells"
                ),
                "counted_share": share(
                    float(before[counts["published"]].sum() / total) if total else None,
                    "Share of counts in published cells",
                ),
                "mean_relative_error": relative(relative_error, "Mean relative error of a cell"),
                "mean_error": amount(float(error[occurs].mean()) if occurs.any() else None, "Mean error of a cell"),
                f"top_{_TOP}_overlap": share(
                    _hot_spots(before, after), f"Share in both lists of the {_TOP} largest cells"
                ),
            },
            charts=_charts(before, error),
        )


def _hot_spots(before: FloatArray, after: FloatArray) -> float | None:
    """Return the share of the largest cells that are among the largest published ones; ties count as kept."""
    largest = np.argsort(-before, kind="stable")[:_TOP]
    largest = largest[before[largest] > 0]
    if not len(largest):
        return None
    smallest = np.sort(after)[-min(_TOP, len(after)) :].min()
    return float(((after[largest] >= smallest) & (after[largest] > 0)).mean())


def _charts(before: FloatArray, error: FloatArray) -> tuple[Chart, ...]:
    """Return the mean relative error of cells, by their true size."""
    starts = (1, *_SIZES)
    labels: list[str] = []
    values: list[float | None] = []
    for number, low in enumerate(starts):
        high = starts[number + 1] if number + 1 < len(starts) else np.inf
        some = (before >= low) & (before < high)
        if not some.any():
            continue
        labels.append(f"{low:,} to {high - 1:,.0f}" if np.isfinite(high) else f"{low:,} and more")
        values.append(float((error[some] / before[some]).mean()))
    if not labels:
        return ()
    return (
        Chart(
            title="Relative error by the size of a cell",
            kind="bars",
            labels=tuple(labels),
            series=(Series(name="mean relative error", values=tuple(values)),),
            x_label="true count of the cell",
            y_label="mean relative error",
            percent=True,
        ),
    )
