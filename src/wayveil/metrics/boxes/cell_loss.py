"""How many cells the published boxes cover: the information loss of moving objects on a grid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.kernels.metrics.box_cover import smallest_cover
from wayveil.metrics.metric_base import OnBoxes
from wayveil.metrics.movement import check_comparable, finite
from wayveil.metrics.stats import distribution
from wayveil.model import Boxes, Points, Score, parameter
from wayveil.model.numbers import amount, count, measure, share

__all__ = ["CellLoss"]

Array = NDArray[Any]

_CELLS = ((1.0, "cells"), (1e6, "million cells"))


@dataclass(frozen=True, kw_only=True)
class CellLoss(OnBoxes):
    """The uncertainty about a cell, for each true sample: 1 - 1 / (number of cells of its box); 1 if it is lost.

    Parameters
    ----------
    cell : float, >= 0.001
        Side of a cell in metres: that of `qid`, whose boxes have sides that are multiples of it.

    Notes
    -----
    The headline is the mean over all samples of the original.  A box has ``width / cell`` times ``height / cell``
    cells, both rounded and 1 at least.  A sample is lost if its trajectory has no box at its time; where there are
    several, the one with fewest cells counts.  The sum over the published boxes alone is `information_loss`, the number
    that the survey prints.

    O(samples + boxes) time and memory where the times of boxes do not overlap.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.
    Bonchi: Privacy preserving publication of moving object data.  2009.

    Examples
    --------
    >>> before = Points.from_records([[(0, 50.0, 50.0), (1, 50.0, 50.0)]])
    >>> after = Boxes.from_records([[(0, 0, 0.0, 200.0, 0.0, 200.0), (1, 1, 0.0, 100.0, 0.0, 100.0)]])
    >>> score = CellLoss(cell=100).run(before, after)
    >>> score.value, score.measured["information_loss"], score.measured["largest_box_cells"]
    (0.375, 0.75, 4.0)
    """

    cell: float = parameter(
        kind="number", low=0.001, default=100.0, help="side of a cell in metres: that of the published boxes"
    )

    name: ClassVar[str] = "cell_loss"
    summary: ClassVar[str] = "cells that published boxes cover, and the uncertainty that this means"

    @np.errstate(over="ignore")
    def count(self, original: Points, published: Boxes) -> Mapping[str, Any]:
        """Return the cells of each box, the smallest box of each sample (-1: none), and how many share a box."""
        check_comparable(self.name, original, published, matched=True)
        # Sides in whole cells, at least one.
        cells = self._side(published.x_min, published.x_max) * self._side(published.y_min, published.y_max)
        cover = smallest_cover(original.offsets, original.t, published.offsets, published.t_min, published.t_max, cells)
        return {"cells": cells, "cover": cover, "sharing": _sharing(published)}

    @np.errstate(over="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        cells = counts["cells"]
        cover = counts["cover"]
        is_covered = cover >= 0
        # 1 - 1/n: with n cells to choose from, the attacker's chance is 1/n.
        uncertain = float((1 - 1 / cover[is_covered]).sum())
        boxes = len(cells)
        samples = len(cover)
        return Score(
            name=self.name,
            meaning="mean over true samples of 1 - 1/cells of the box that stands for it; lost samples count 1",
            value=(uncertain + int((~is_covered).sum())) / samples if samples else None,
            better="lower",
            unit="share",
            numbers={
                "information_loss": amount(float((1 - 1 / cells).sum()), "Information loss, summed over boxes"),
                "information_loss_per_box": share(
                    float((1 - 1 / cells).mean()) if boxes else None, "Information loss of a box, mean"
                ),
                "boxes": count(boxes, "Boxes", "boxes"),
                "boxes_of_one_cell_share": share(
                    float((cells == 1).mean()) if boxes else None, "Share of boxes of one cell"
                ),
                "average_box_cells": count(finite(cells.mean()) if boxes else None, "Mean size of a box", "cells"),
                "middle_box_cells": count(finite(np.median(cells)) if boxes else None, "Median size of a box", "cells"),
                "largest_box_cells": count(finite(cells.max()) if boxes else None, "Largest box", "cells"),
                "samples_lost_share": share(float((~is_covered).mean()) if samples else None, "Share of samples lost"),
                "trajectories_per_box": count(
                    counts["sharing"], "Mean of trajectories with the same box", "trajectories"
                ),
                "cell_m": measure(self.cell, "m", "Side of a cell"),
            },
            charts=distribution("Cells of the boxes", "size", _CELLS, [("published boxes", cells)], "share of boxes"),
        )

    def _side(self, low: Array, high: Array) -> Array:
        return np.maximum(1.0, np.rint((high - low) / self.cell))


def _sharing(published: Boxes) -> float | None:
    """Return the mean number of trajectories that have the same box at the same times, over all boxes."""
    if not published.n_rows:
        return None
    columns = (published.t_min, published.t_max, published.x_min, published.x_max, published.y_min, published.y_max)
    order = np.lexsort(columns)
    new = np.ones(len(order), np.bool_)
    new[1:] = np.logical_or.reduce([c[order][1:] != c[order][:-1] for c in columns])
    sizes = np.bincount(np.cumsum(new) - 1)
    # The mean over boxes, not over groups: each box counts how many share it, so sizes are squared.
    return float((sizes**2).sum() / sizes.sum())
