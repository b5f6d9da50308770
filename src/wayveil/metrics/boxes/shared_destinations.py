"""Whether a group tells where its people go, although not who they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnBoxes
from wayveil.metrics.movement import check_comparable
from wayveil.model import Boxes, Points, Score, parameter
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import count, measure, share

__all__ = ["SharedDestinations"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class SharedDestinations(OnBoxes):
    """How many of those who share the box in which somebody ends really end in the same cell.

    The group of a trajectory are all that have its last box, if this is of the time at which it ends; others may go on
    from there.  Whoever knows that somebody is in it, and where its people end, names the destination of the victim
    with the share of its people who end in the commonest cell.  The headline is the mean of this over trajectories.

    Parameters
    ----------
    cell : float, >= 1
        Side of a cell in metres: ends in one cell are the same destination.

    Notes
    -----
    k-anonymity promises nothing about this: k people who all go to one clinic are hidden, and the clinic is told.  A
    trajectory whose end was cut off, or that is not published, does not tell where it goes and does not count;
    `ends_published_share` says how many do.  People are counted, each once for a cell.  O(n log n) time.

    Examples
    --------
    >>> before = Points.from_records([[(0, 10.0, 0.0)], [(0, 20.0, 0.0)], [(0, 950.0, 0.0)]])
    >>> after = Boxes.from_records([[(0, 0, 10.0, 950.0, 0.0, 0.0)]] * 3)
    >>> score = SharedDestinations(cell=100).run(before, after)
    >>> round(score.value, 3), score.measured["certain_share"]
    (0.667, 0.0)
    """

    cell: float = parameter(kind="number", low=1, default=500.0, help="side of a cell in metres: one destination")

    name: ClassVar[str] = "shared_destinations"
    summary: ClassVar[str] = "people of a group who end in the same cell, so that where they go is told"

    def count(self, original: Points, published: Boxes) -> Mapping[str, Any]:
        """Return of every trajectory whose end is published the share of its group in the commonest cell."""
        check_comparable(self.name, original, published, matched=True)
        with_rows = np.flatnonzero(original.nonempty & published.nonempty)
        last = original.offsets[with_rows + 1] - 1
        cell: Array = np.full(len(original), -1)
        place = np.floor(np.stack([original.x[last], original.y[last]], axis=1) / self.cell)
        # Equal cells get equal numbers.
        cell[with_rows] = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
        box = published.offsets[with_rows + 1] - 1
        # The last box says where somebody ends only if it is of the time of the end.
        ends_in_box = (published.t_min[box] <= original.t[last]) & (original.t[last] <= published.t_max[box])
        code = _number_boxes(published)
        groups, group = np.unique(code[box[ends_in_box]], return_inverse=True)
        # Everybody who has such a box is in its group, also those who go on from there to other destinations.
        at = np.minimum(np.searchsorted(groups, code), max(0, len(groups) - 1))
        rows = np.flatnonzero(groups[at] == code) if len(groups) else at[:0]
        member = trajectory_of_row(published.offsets)[rows]
        trips = np.stack([at[rows], cell[member], original.owner[member]], axis=1)
        # People per group, each once; then people per group and cell, each once.
        people = np.bincount(np.unique(trips[:, ::2], axis=0)[:, 0], minlength=len(groups))
        pairs, here = np.unique(np.unique(trips, axis=0)[:, :2], axis=0, return_counts=True)
        most = np.zeros(len(groups), np.int64)
        np.maximum.at(most, pairs[:, 0], here)
        return {
            "share": most[group] / people[group],
            "certain": most[group] == people[group],
            "groups": len(groups),
            "given": int(original.nonempty.sum()),
        }

    def score(self, counts: Mapping[str, Any]) -> Score:
        shares = counts["share"]
        n = len(shares)
        return Score(
            name=self.name,
            meaning="mean share of the people in the last box of a trajectory who end in the commonest cell",
            value=float(shares.mean()) if n else None,
            better="lower",
            unit="share",
            numbers={
                "certain_share": share(
                    float(counts["certain"].mean()) if n else None,
                    "Share whose whole group ends in one cell",
                ),
                "ends_published_share": share(
                    n / counts["given"] if counts["given"] else None, "Share of trajectories whose end is published"
                ),
                "groups": count(counts["groups"], "Groups by their last box", "groups"),
                "cell_m": measure(self.cell, "m", "Side of a cell"),
            },
        )


def _number_boxes(published: Boxes) -> Array:
    """Return a number for every box that is the same for equal ones."""
    sides = published.boxes()
    order = np.lexsort(sides)
    new = np.zeros(len(order), np.int64)
    new[1:] = np.logical_or.reduce([np.diff(side[order]) != 0 for side in sides])
    code: Array = np.empty(len(order), np.int64)
    code[order] = np.cumsum(new)
    return code
