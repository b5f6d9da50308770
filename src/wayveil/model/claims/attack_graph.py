"""k candidates, a claim on boxes and cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10, sqrt
from typing import ClassVar

import numpy as np

from wayveil.model.claims.base import Claim, Protection
from wayveil.model.parameters import parameter
from wayveil.model.points import Points
from wayveil.model.times import seconds_per_unit

__all__ = ["AttackGraph", "top_speed_of"]


@dataclass(frozen=True, kw_only=True)
class AttackGraph(Claim):
    """k candidates: whoever knows the declared positions of everybody can rule out no more than all but `k` people.

    Draw an edge from every person I to every published trajectory O whose boxes contain the true positions of I at all
    times that are declared as known of I, and take away every edge that is in no perfect matching of people with
    trajectories.  Then every person has edges to trajectories of at least `k` distinct owners, every trajectory has
    edges to at least `k` distinct people, and the trajectory of each person contains where that person was.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> claim = AttackGraph(k=5)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of trajectories that can be a person's")

    name: ClassVar[str] = "AttackGraph"
    about_truth: ClassVar[bool] = True
    judged_alone: ClassVar[bool] = False

    @property
    def promise(self) -> str:
        return (
            f"Whoever knows where everybody was at the times declared as known is left with at least {self.k} "
            "people for every published trajectory, and as many trajectories for every person."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence="an attacker who knows the declared positions of everybody, and that each person has one "
                f"published trajectory: at least {self.k} candidates remain",
                attack="attack_graph",
                measured=("min_candidate_people",),
                bound=Fraction(self.k),
                keeps="at least",
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            f"{self.k} candidates is not a chance of 1/{self.k}: one candidate can be likelier than the others; the "
            "measured chance is in the report",
            "an attacker who knows a position at a time that was not declared: these positions are published as cells",
            "what all candidates have in common is disclosed",
            "an attacker who reasons about the people who were left out",
            "an attacker who can tell which trajectories belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ("attack_graph", "nearest_positions")


def top_speed_of(data: Points) -> float:
    """Return the top speed that "auto" stands for, in metres per second (or per unit of times that have none).

    It is the largest speed along one of the axes between two samples, times the square root of 2, so that nobody is
    faster in any direction; and rounded up to 1, 2 or 5 times a power of ten, so that it tells nobody's own.  Where
    nothing moves it is 1.

    Examples
    --------
    >>> top_speed_of(Points.from_records([[(0, 0.0, 0.0), (10, 200.0, 100.0)]]))
    50.0
    """
    inside = np.ones(max(0, data.n_rows - 1), bool)
    ends = data.offsets[1:-1]
    inside[ends[(ends > 0) & (ends < data.n_rows)] - 1] = False
    if not inside.any():
        return 1.0
    way = np.maximum(np.abs(np.diff(data.x)), np.abs(np.diff(data.y)))[inside]
    wait = np.diff(data.t)[inside] * (seconds_per_unit(data.time_format) or 1.0)
    fastest = float((way / wait).max()) * sqrt(2)
    if fastest == 0:
        return 1.0
    power = 10.0 ** floor(log10(fastest))
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0, 20.0) if step * power >= fastest)
