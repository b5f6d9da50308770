"""The attacker who knows at which place a trip of a person began and at which it ended."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnVisits, draws_parameter, owners_of, threshold_parameter, victims_parameter
from wayveil.attacks.person_risk import PersonRisk
from wayveil.attacks.visits.known_points import check_comparable
from wayveil.attacks.visits.known_trips import (
    ByTripEnds,
    KnownTrips,
    Span,
    TripRisk,
    around,
    people_fitting,
    share_of_victim,
    time_error,
    within_parameter,
)
from wayveil.model import Engine, Visits

__all__ = ["FirstLastVisits"]


@dataclass(frozen=True, kw_only=True)
class FirstLastVisits(ByTripEnds, OnVisits):
    """Someone who knows the first and the last visit of a trip of a person looks for the trips that fit.

    A published trip fits if its first and its last visit are at the known places, `within` a time of the true ones.
    **Identity linkage** succeeds with probability 1 / (people with a trip that fits), or with the share of the trips
    that fit that are the victim's, whichever is larger, and fails where nobody has one.  The same is measured for
    someone who does not know the times.

    Parameters
    ----------
    within : duration, "exact", "any" or "auto"
        How far both times may be off, to both sides.  "any" is no time known, "auto" 15 minutes, or exact times where
        these are plain integers.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000
        Trips tried per person; all, where there are no more.
    threshold : number from 0 to 1
        People whose risk is above this are counted in `identity_share_above`.

    Notes
    -----
    A victim is an owner of `truth` with at least one visit; a trip is a trajectory, and the risk of a person is the
    mean over the trips tried.  Places are matched by name.  People are counted in `target` where its owners are given,
    trajectories otherwise; trips of the victim are counted where both data sets have the same owners in the same order.
    Each known trip is compared with the trips that fit in the one place, or time, that tells most.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 2), ("b", 3)], [("b", 1)]])
    >>> found = FirstLastVisits().run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_mean"], round(found.measured["identity_mean_without_times"], 3)
    (1.0, 0.667)
    """

    within: str = within_parameter()
    victims: int = victims_parameter()
    draws: int = draws_parameter("trips tried per person, where there are more")
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "first_last_visits"
    summary: ClassVar[str] = "an attacker who knows the first and the last visit of a trip and looks for what fits"
    timed: ClassVar[bool] = True

    @property
    def ends(self) -> str:
        return "at which place a trip of a person began and at which it ended"

    def match(self, queries: KnownTrips, target: Visits, *, truth: Visits, rng: Any, engine: Engine) -> TripRisk:
        check_comparable(self.name, truth, target)
        error = time_error(self.name, self.within, truth.time_format)
        with_rows = np.flatnonzero(np.diff(target.offsets))
        # Places are compared by name; one that was not published has a code that nothing has.
        code = {name: i for i, name in enumerate(target.locations)}
        recode = np.array([code.get(name, len(code)) for name in truth.locations], np.int64)
        places = []
        times = []
        for true_row, row in (
            (truth.offsets[queries.trajectory], target.offsets[with_rows]),
            (truth.offsets[queries.trajectory + 1] - 1, target.offsets[with_rows + 1] - 1),
        ):
            place = recode[truth.location[true_row]]
            t = target.t[row]
            places.append(Span(target.location[row], target.location[row], place, place))
            times.append(Span(t, t, *around(truth.t[true_row], error or 0)))
        owner = owners_of(target)[with_rows]
        # Only if the codes of both mean the same people is it known which trips are the victim's.
        same = truth.owners == target.owners == "given" and np.array_equal(truth.owner, target.owner)

        def risk_of(spans: list[Span]) -> PersonRisk:
            own = share_of_victim(spans, [], owner, queries.owner[queries.person], engine) if same else None
            return queries.risk(*people_fitting(spans, [], owner, None, engine), own)

        timeless = risk_of(places)
        return TripRisk(timeless if error is None else risk_of([*places, *times]), timeless, error)
