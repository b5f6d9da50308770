"""How far the publication moved people, and whom it left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.kernels.metrics.displacement import Motions, displacements
from wayveil.metrics.metric_base import OnPositions
from wayveil.metrics.movement import Extent, check_comparable, extent, finite, sides, with_rows
from wayveil.metrics.stats import LENGTHS, distribution, tally_of_sizes, time_amount
from wayveil.model import Points, Score, parameter, seconds_per_unit
from wayveil.model.accumulators import Constant, Maximum
from wayveil.model.numbers import count, measure, share

__all__ = ["Distortion"]


@dataclass(frozen=True, kw_only=True)
class Distortion(OnPositions):
    """The distance between every published position and the true one at the same time.

    The true position between two samples is on the straight line between them, and before the first or after the last
    sample it is that sample.  The headline is the average over the published points; the total also charges `omega`
    for every point of a trajectory that was not published.  The shift in time is beside it: how long before the first
    or after the last true sample of its trajectory a point is published.

    Parameters
    ----------
    omega : number, >= 0, or "auto"
        Cost of one point of a trajectory that was not published, in metres; "auto" is the diagonal of the bounding box
        of the original.

    Notes
    -----
    A trajectory with more points than it had has points created, one with fewer has points deleted; a trajectory that
    is not published at all is counted as trash instead.  O(points) time and memory.

    References
    ----------
    Abul, Bonchi, Nanni: Never Walk Alone: uncertainty for anonymity in moving objects databases.  ICDE 2008.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (10, 10.0, 0.0)], [(0, 0.0, 30.0)]])
    >>> after = Points.from_records([[(0, 0.0, 3.0), (5, 5.0, 1.0)], []])
    >>> score = Distortion(omega=100).run(before, after)
    >>> score.value, score.measured["total_distortion_m"], score.measured["trash_points"]
    (2.0, 104.0, 1)
    """

    omega: float | str = parameter(
        kind="number", low=0, choices=("auto",), default="auto",
        help="cost of a point that is not published, in metres; auto: the diagonal of the bounding box",
    )  # fmt: skip

    name: ClassVar[str] = "distortion"
    summary: ClassVar[str] = "distance between published and true positions, and what was left out"
    targets: ClassVar[tuple[type[Points], ...]] = (Points,)
    matched: ClassVar[bool] = True
    additive: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Points) -> Mapping[str, Any]:
        """Return what can be added up over pieces of the data; sums of distances depend on the cut in the last bits."""
        check_comparable(self.name, original, published, matched=True)
        nonempty = with_rows(original)
        has_rows = with_rows(published)
        before = np.diff(original.offsets)
        after = np.diff(published.offsets)
        moved = _distances(original, published)
        trash = nonempty & ~has_rows
        shifts = _time_shifts(original, published)
        # Sums, maxima and classes of distances only: points of a block are not kept.
        return {
            "points": published.n_rows,
            "trajectories": int(nonempty.sum()),
            "distances": tally_of_sizes(moved),
            "total": float(moved.sum()),
            "largest": Maximum(float(moved.max()) if len(moved) else None),
            "moved": int((moved > 0).sum()),
            "time": float(shifts.sum()),
            "latest": Maximum(float(shifts.max()) if len(shifts) else None),
            "outside": int((shifts > 0).sum()),
            "trash": int(trash.sum()),
            "trash_points": int(before[trash].sum()),
            # A trajectory that has more points than before has created ones; one with fewer has lost some.
            "created": int(np.maximum(after - before, 0).sum()),
            "deleted": int(np.maximum(before - after, 0)[has_rows].sum()),
            "extent": extent(original),
            "time_format": Constant(original.time_format),
        }

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        n = counts["distances"].total
        total = counts["total"]
        trash_points = counts["trash_points"]
        omega = self._omega(counts["extent"])
        return Score(
            name=self.name,
            meaning="average distance in metres between a published position and the true one at the same time",
            value=finite(total / n) if n else None,
            better="lower",
            unit="m",
            numbers={
                "points_published": count(counts["points"], "Points published", "points"),
                "total_translation_m": measure(finite(total), "m", "Total translation"),
                "largest_translation_m": measure(finite(counts["largest"].value), "m", "Largest translation"),
                "points_moved_share": share(counts["moved"] / n if n else None, "Share of points moved"),
                "time_shift_mean": time_amount(
                    counts["time"] / n if n else None, counts["time_format"].value, "Mean shift in time"
                ),
                "time_shift_largest": time_amount(
                    counts["latest"].value, counts["time_format"].value, "Largest shift in time"
                ),
                "points_outside_their_time_share": share(
                    counts["outside"] / n if n else None, "Share of points outside of their trip's time"
                ),
                "trash_trajectories": count(counts["trash"], "Trajectories left out", "trajectories"),
                "trash_trajectories_share": (
                    share(
                        counts["trash"] / counts["trajectories"] if counts["trajectories"] else None,
                        "Share of trajectories left out",
                    )
                ),
                "trash_points": count(trash_points, "Points left out", "points"),
                "points_created": count(counts["created"], "Points created", "points"),
                "points_deleted": count(counts["deleted"], "Points deleted", "points"),
                "omega_m": measure(finite(omega), "m", "What a point left out counts (omega)"),
                "total_distortion_m": measure(finite(total + omega * trash_points), "m", "Total distortion"),
            },
            charts=distribution(
                "How far points were moved",
                "distance",
                LENGTHS,
                [("published points", counts["distances"])],
                "share of points",
            ),
        )

    def _omega(self, box: Extent) -> float:
        if not isinstance(self.omega, str):
            return self.omega
        return math.hypot(*sides(box))


def _distances(original: Points, published: Points) -> np.ndarray:
    """Return how far each published point was moved; points of trajectories that had none are not moved but created."""
    true, moved = (Motions(data.offsets, data.t, data.x, data.y) for data in (original, published))
    distances: np.ndarray = displacements(true, moved)
    return distances[~np.isnan(distances)]


def _time_shifts(original: Points, published: Points) -> np.ndarray:
    """Return how long each published point is before the first or after the last true one of its trajectory.

    In seconds, or in the unit of plain integer times; 0 in between.  Points of trajectories that had none are left out.
    """
    lengths = np.diff(published.offsets)
    had_points = np.diff(original.offsets) > 0
    compared = np.flatnonzero((lengths > 0) & had_points)
    first = original.t[original.offsets[compared]].astype(np.float64)
    last = original.t[original.offsets[compared + 1] - 1].astype(np.float64)
    times = published.t[np.repeat(had_points, lengths)].astype(np.float64)
    # Positive before the first or after the last true point; between them both are negative.
    before = np.repeat(first, lengths[compared]) - times
    after = times - np.repeat(last, lengths[compared])
    return np.maximum(np.maximum(before, after), 0.0) * (seconds_per_unit(original.time_format) or 1.0)
