"""The attacker who knows where a trip of a person began and where it ended."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnPositions, draws_parameter, owners_of, threshold_parameter, victims_parameter
from wayveil.attacks.person_risk import PersonRisk
from wayveil.attacks.positions.known_positions import Array, check_matched
from wayveil.attacks.positions.look_alikes import LookAlikes, delta_parameter, share_values
from wayveil.attacks.visits.known_trips import (
    ByTripEnds,
    Disc,
    KnownTrips,
    Span,
    TripRisk,
    around,
    people_fitting,
    share_of_victim,
    time_error,
    within_parameter,
)
from wayveil.model import Boxes, Engine, Points, parameter

__all__ = ["FirstLast"]

_SLACK = 1e-12  # share of the largest coordinate that counts as rounding


@dataclass(frozen=True, kw_only=True)
class FirstLast(ByTripEnds, OnPositions):
    """Someone who knows where, and about when, a trip of a person began and ended looks for the trips that fit.

    A published trip fits if its first point is within `radius` of the true first one and its last within `radius` of
    the true last one, both `within` a time of the true ones.  A published box counts where it comes nearest, in space
    and in time.  **Identity linkage** succeeds with probability 1 / (people with a trip that fits) if the victim is one
    of them, or with the victim's share of the trips that fit if this is more, and fails otherwise.  The same is
    measured for someone who does not know the times.

    Parameters
    ----------
    radius : number, >= 0
        How far both positions may be off, in metres.
    within : duration, "exact", "any" or "auto"
        How far both times may be off, to both sides.  "any" is no time known, "auto" 15 minutes, or exact times where
        these are plain integers.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000
        Trips tried per person; all, where there are no more.
    threshold : number from 0 to 1
        People whose risk is above this are counted in `identity_share_above`.
    delta : number, >= 0
        Width of the discs of the claim in which chance placed people, in metres, or 0.  Who fits there fits by luck: of
        a trip that fits, the victim's share of all trips that are the same curve counts, the mean over the draw.

    Notes
    -----
    A victim is an owner of `truth` with at least one point; a trip is a trajectory, and the risk of a person is the
    mean over the trips tried.  A trip of one point begins and ends there.  Each known trip is compared with the trips
    that fit in the one coordinate, or time, that tells most.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Points.from_records([[(0, 0.0, 0.0), (5, 900.0, 0.0)], [(0, 9.0, 0.0), (7, 900.0, 9.0)]])
    >>> attack = FirstLast(radius=20)
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_mean"], found.measured["identity_mean_without_times"]
    (1.0, 0.5)
    """

    radius: float = parameter(kind="number", low=0, default=250.0, help="how far both positions may be off, in metres")
    within: str = within_parameter()
    victims: int = victims_parameter()
    draws: int = draws_parameter("trips tried per person, where there are more")
    threshold: Fraction = threshold_parameter()
    delta: float = delta_parameter()

    name: ClassVar[str] = "first_last"
    summary: ClassVar[str] = "an attacker who knows where a trip of a person began and ended and looks for what fits"

    @property
    def ends(self) -> str:
        return f"where a trip of a person began and ended, to {self.radius:g} m"

    def match(
        self, queries: KnownTrips, target: Points | Boxes, *, truth: Points, rng: Any, engine: Engine
    ) -> TripRisk:
        check_matched(self.name, truth, target)
        error = time_error(self.name, self.within, truth.time_format)
        with_rows = np.flatnonzero(np.diff(target.offsets))
        discs = []
        spans = []
        # Both sets of coordinates were computed: the last bits of either must not decide.
        reach = self.radius + _SLACK * max(_largest(truth.x, truth.y), _largest(*_bounds(target)))
        # The same test for both ends: is the published end within `radius` of the true one, and within the error of
        # its time?
        for true_row, row in (
            (truth.offsets[queries.trajectory], target.offsets[with_rows]),
            (truth.offsets[queries.trajectory + 1] - 1, target.offsets[with_rows + 1] - 1),
        ):
            t_min, t_max, x_min, x_max, y_min, y_max = _boxes(target, row)
            discs.append(Disc.of((x_min, x_max), (y_min, y_max), truth.x[true_row], truth.y[true_row], reach))
            spans.append(Span(t_min, t_max, *around(truth.t[true_row], error or 0)))
        victim = queries.owner[queries.person]
        owner = owners_of(truth)[with_rows]
        # Points that were moved by a draw fit by luck.  Whoever knows the method counts over all curves that the draw
        # could have made, so the share of a victim is taken over look-alikes.
        shape = None
        points = target.as_points()
        if self.delta > 0 and points is not None:
            shape = LookAlikes.of(points, self.delta).shape[with_rows]

        def risk_of(when: list[Span]) -> PersonRisk:
            fitting, hit = people_fitting(when, discs, owner, victim, engine)
            if shape is None:
                return queries.risk(fitting, hit, share_of_victim(when, discs, owner, victim, engine))
            share = _share_over_draw(when, discs, shape, owner, victim, engine)
            return queries.risk(fitting, np.zeros(len(fitting), np.bool_), share)

        timeless = risk_of([])
        return TripRisk(timeless if error is None else risk_of(spans), timeless, error)


def _share_over_draw(
    spans: list[Span], discs: list[Disc], shape: Array, owner: Array, victim: Array, engine: Engine
) -> Array:
    """Return per known trip the mean over trips that fit of the victim's share of those that are the same curve.

    Each curve on which a victim has a trip is asked for in turn: most people have one.
    """
    values = share_values(shape, owner)
    # Shares by curve and owner; those of one owner stand side by side.
    who = values.key % values.owners
    order = np.argsort(who, kind="stable")
    first = np.searchsorted(who[order], victim)
    after = np.searchsorted(who[order], victim, side="right")
    total = np.zeros(len(victim))
    # One round per curve that the victim with most curves has; each adds its share, weighted by how often that curve is
    # the victim's.
    for turn in range(int((after - first).max(initial=0))):
        has = first + turn < after
        at = order[np.where(has, first + turn, 0)]
        curve = np.where(has, values.key[at] // values.owners, -1)
        total += np.where(has, values.value[at], 0.0) * share_of_victim(spans, discs, shape, curve, engine)
    return total


def _boxes(data: Points | Boxes, rows: Array) -> tuple[Array, ...]:
    """Return from when to when and from where to where these rows are; a point is a box without extent."""
    return tuple(column[rows] for column in data.boxes())


def _bounds(data: Points | Boxes) -> tuple[Array, ...]:
    return data.boxes()[2:]


def _largest(*columns: Array) -> float:
    return max(float(np.abs(column).max(initial=0.0)) for column in columns)
