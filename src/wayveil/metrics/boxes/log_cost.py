"""The log cost of boxes: how many places and times a point can have after publication, on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import ParameterError
from wayveil.metrics.metric_base import OnBoxes
from wayveil.metrics.movement import bounding_box, check_comparable, finite
from wayveil.metrics.stats import LENGTHS, distribution, time_amount
from wayveil.model import Boxes, Points, Score, parameter, seconds_per_unit
from wayveil.model.numbers import amount, count, measure, relative, share

__all__ = ["LogCost"]


@dataclass(frozen=True, kw_only=True)
class LogCost(OnBoxes):
    """The mean over all original points of the logarithm of the box that was published for them.

    A box with the sides X and Y in metres and T in seconds (or in the unit of plain integers) costs
    ``space_weight * ln((1 + X)(1 + Y)) + time_weight * ln(1 + T)``, once for each trajectory that has it.  A trajectory
    with fewer boxes than it had points has lost the difference, and each point that was lost costs as much as the box
    around all data.

    Parameters
    ----------
    space_weight, time_weight : number, >= 0
        What a wide box costs in comparison to a long one; not both 0.

    Notes
    -----
    The total is minus the logarithm of the chance to guess all points right, up to a constant, if every place and time
    of a box is as likely as any other.  O(boxes) time and memory.

    References
    ----------
    Nergiz, Atzori, Saygin, Guc: Towards trajectory anonymization: a generalization-based approach.  Transactions on
    Data Privacy 2 (2009).

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (4, 4.0, 0.0), (8, 8.0, 0.0)], [(0, 0.0, 1.0), (8, 8.0, 1.0)]])
    >>> after = Boxes.from_records([[(0, 0, 0.0, 0.0, 0.0, 1.0), (8, 8, 8.0, 8.0, 0.0, 1.0)]] * 2)
    >>> score = LogCost().run(before, after)
    >>> round(score.measured["total_log_cost"], 6), score.measured["points_suppressed"]
    (7.860185, 1)
    """

    space_weight: float = parameter(kind="number", low=0, default=1.0, help="cost of width and height of a box")
    time_weight: float = parameter(kind="number", low=0, default=1.0, help="cost of the duration of a box")

    name: ClassVar[str] = "log_cost"
    summary: ClassVar[str] = "logarithms of the sizes of published boxes, and points that are in none"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.space_weight == self.time_weight == 0:
            raise ParameterError("log_cost: space_weight and time_weight must not both be 0; 1 and 1 is usual.")

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Boxes) -> Mapping[str, Any]:
        """Return the sides of the boxes, the points, how many are suppressed, and what one of these costs."""
        check_comparable(self.name, original, published, matched=True)
        x = published.x_max - published.x_min
        y = published.y_max - published.y_min
        t = _seconds(published.t_min, published.t_max, original)
        # Boxes that are missing are points that are lost; which ones, nobody can say.
        lost = np.maximum(np.diff(original.offsets) - np.diff(published.offsets), 0)
        return {
            "x": x,
            "y": y,
            "t": t,
            "time_format": original.time_format,
            "points": original.n_rows,
            "suppressed": int(lost.sum()),
            "drop": self._whole(original),
        }

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        x = counts["x"]
        y = counts["y"]
        t = counts["t"]
        points = counts["points"]
        suppressed = counts["suppressed"]
        drop = counts["drop"]
        of_boxes = float(self._cost(x, y, t).sum())
        # Total cost: boxes as they are, lost points as if they could be anywhere and at any time.
        total = of_boxes + suppressed * drop
        worst = points * drop
        return Score(
            name=self.name,
            meaning="mean logarithm of the size in metres and seconds of the box that stands for an original point",
            value=finite(total / points) if points else None,
            better="lower",
            unit="amount",
            numbers={
                "total_log_cost": amount(finite(total), "Total log cost"),
                "log_cost_of_boxes": amount(finite(of_boxes), "Log cost of the boxes"),
                "share_of_suppressing_everything": relative(
                    finite(total / worst) if worst > 0 else None, "In relation to suppressing everything"
                ),
                "points_suppressed": count(suppressed, "Points suppressed", "points"),
                "points_suppressed_share": share(suppressed / points if points else None, "Share of points suppressed"),
                "cost_of_a_suppressed_point": amount(finite(drop), "Cost of a suppressed point"),
                "boxes": count(len(x), "Boxes", "boxes"),
                "average_width_m": measure(finite(x.mean()) if len(x) else None, "m", "Mean width of a box"),
                "average_height_m": measure(finite(y.mean()) if len(y) else None, "m", "Mean height of a box"),
                "average_duration": time_amount(
                    finite(t.mean()) if len(t) else None, counts["time_format"], "Mean duration of a box"
                ),
            },
            charts=distribution("Sides of the boxes", "side", LENGTHS, [("width", x), ("height", y)], "share of boxes"),
        )

    def _cost(self, x: Any, y: Any, t: Any) -> Any:
        # log1p: a box without extent costs nothing.
        return self.space_weight * (np.log1p(x) + np.log1p(y)) + self.time_weight * np.log1p(t)

    def _whole(self, original: Points) -> float:
        """Return the cost of the box around everything."""
        box = bounding_box(original)
        if box is None:
            return 0.0
        span = _seconds(original.t.min(), original.t.max(), original)
        return float(self._cost(np.float64(box[1]) - box[0], np.float64(box[3]) - box[2], span))


def _seconds(low: Any, high: Any, data: Points) -> Any:
    """Return the time between, in seconds or in the unit of plain integers; differences cannot overflow."""
    span = np.asarray(high).astype(np.float64) - np.asarray(low).astype(np.float64)
    return span * (seconds_per_unit(data.time_format) or 1.0)
