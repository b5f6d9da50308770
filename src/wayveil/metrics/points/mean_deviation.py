"""How far people's true visits are from the line through what was published of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError
from wayveil.kernels.metrics.line_deviation import deviations, embedded
from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.movement import finite
from wayveil.metrics.stats import LENGTHS, distribution
from wayveil.metrics.visits.aligned import aligned_locations
from wayveil.model import Chart, Score, Visits
from wayveil.model.data.distinct import distinct_rows
from wayveil.model.numbers import count, measure, share

__all__ = ["Deviation"]


@dataclass(frozen=True, kw_only=True)
class Deviation(OnVisits):
    """The mean distance of the true visits of a person to the line through the published ones.

    For a visit between two published ones it is the distance to the straight segment between them, before the first or
    after the last the distance to that one, and where nothing of a trajectory was published the diameter of the data.
    The value is the average over trajectories of the average over their visits, in metres; without coordinates of the
    places there is none, and only the share of visits suppressed is told.

    Notes
    -----
    A published visit is taken to be the first true one with the same place (and the same time, where the times are
    published) after the one before it.  Published visits that are not among the true ones are counted and otherwise
    ignored.  The diameter is the diagonal of the box around all visited places.  O(visits) time and memory.

    References
    ----------
    The loss of Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008, which is the
    average difference between original and published trajectories.

    Examples
    --------
    >>> from dataclasses import replace
    >>> before = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)]])
    >>> before = replace(before, place_x=np.array([0.0, 5.0, 10.0]), place_y=np.array([0.0, 3.0, 0.0]))
    >>> after = before.where(np.array([True, False, True]))
    >>> score = Deviation().run(before, after)
    >>> score.value, round(score.measured["suppressed_share"], 3)
    (1.0, 0.333)
    """

    name: ClassVar[str] = "deviation"
    summary: ClassVar[str] = "distance of true visits to the line through the published ones"
    matched: ClassVar[bool] = True

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        """Return what was suppressed, and how far each trajectory is from what was published, where that is known."""
        if len(original) != len(published):
            raise InputError(
                f"deviation: the original has {len(original)} trajectories and the published data {len(published)}; "
                "this is measured only where it is known which belongs to which."
            )
        is_kept = _kept(original, published)
        nonempty = np.diff(original.offsets) > 0
        numbers = {
            "visits": count(original.n_visits, "Visits", "visits"),
            "visits_suppressed": count(int((is_kept == 0).sum()), "Visits suppressed", "visits"),
            "suppressed_share": share(
                float((is_kept == 0).mean()) if len(is_kept) else None, "Share of visits suppressed"
            ),
            "trajectories_without_visits": count(
                int((nonempty & (np.diff(published.offsets) == 0)).sum()), "Trajectories without visits", "trajectories"
            ),
            "visits_not_original": count(
                published.n_visits - int(is_kept.sum()), "Visits that are not original", "visits"
            ),
            "places_with_coordinates": count(
                0 if original.place_x is None else len(original.locations), "Places with coordinates", "places"
            ),
            "largest_deviation_m": measure(None, "m", "Largest deviation"),
            "diameter_m": measure(None, "m", "Diameter of the area"),
        }
        measured = None
        if original.place_x is not None and original.place_y is not None and len(is_kept):
            x = original.place_x[original.location]
            y = original.place_y[original.location]
            diameter = float(np.hypot(np.ptp(x), np.ptp(y)))
            # Of trajectories that had visits; others have no distance.
            measured = deviations(original.offsets.copy(), x, y, is_kept, diameter)[nonempty]
            numbers |= {
                "largest_deviation_m": measure(finite(measured.max()), "m", "Largest deviation"),
                "diameter_m": measure(finite(diameter), "m", "Diameter of the area"),
            }
        return {"numbers": numbers, "deviations": measured}

    @np.errstate(over="ignore", invalid="ignore")
    def score(self, counts: Mapping[str, Any]) -> Score:
        deviations = counts["deviations"]
        value = None
        charts = tuple[Chart, ...]()
        if deviations is not None:
            value = finite(deviations.mean())
            charts = distribution(
                "How far true visits are from what was published",
                "mean distance of a trajectory",
                LENGTHS,
                [("trajectories", deviations)],
                "share of trajectories",
            )
        return Score(
            name=self.name,
            meaning="mean distance in metres of the true visits to the line through the published ones",
            value=value,
            better="lower",
            unit="m",
            numbers=counts["numbers"],
            charts=charts,
        )


def _kept(original: Visits, published: Visits) -> Any:
    """Return 1 for each original visit that was published, else 0."""
    _, place = aligned_locations(original, published)
    before = original.location.astype(np.int64)
    after = place.astype(np.int64)
    # Where times are published, a visit is known by place and time; if that does not explain all published visits,
    # times were changed, and only places are compared.
    if original.time_format == published.time_format:
        timed = distinct_rows(np.concatenate([before, after]), np.concatenate([original.t, published.t])).code
        is_kept = embedded(
            original.offsets.copy(), timed[: len(before)], published.offsets.copy(), timed[len(before) :]
        )
        if int(is_kept.sum()) == published.n_visits:
            return is_kept
    return embedded(original.offsets.copy(), before, published.offsets.copy(), after)
