"""k candidates, a claim on boxes and cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10, sqrt
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import ParameterError
from wayveil.model.claims.base import GroupClaim, Protection
from wayveil.model.claims.counting import number_text, row_share_parameter, share_text
from wayveil.model.claims.verdict_numbers import ATTACK_GRAPH
from wayveil.model.data.points import Points
from wayveil.model.data.times import seconds_per_unit
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["AttackGraph", "top_speed_of"]

_ROOM = 1 - 1e-5  # what is left for rounding between the largest speed and the one that is told


@dataclass(frozen=True, kw_only=True)
class AttackGraph(GroupClaim):
    """k candidates: whoever knows the declared positions of everybody can rule out no more than all but `k` people.

    Draw an edge from every person I to every published trajectory O whose boxes contain the true positions of I at all
    times that are declared as known of I, and, with a `top_speed`, where somebody who was at these positions can also
    have been in every other box of O without being faster.  Take away every edge that is in no perfect matching of
    people with trajectories.  Then every person has edges to trajectories of at least `k` distinct owners, every
    trajectory has edges to at least `k` distinct people, and the trajectory of each person contains where that person
    was.  Of the trajectories that a person has edges to, no more than `row_share` are one person's; and so it is with
    the people whom a trajectory has edges to, each counted once for each of their trajectories.  This also holds for
    edges without the top speed.  Where boxes are marked as those of declared times, all of it holds for edges with a
    look at the marks (known positions are in marked boxes), and the shares also without.

    A speed is that along an axis, of which ``top_speed / sqrt(2)`` is allowed: whoever keeps that is never faster than
    `top_speed` in any direction, so an attacker who uses speeds in all directions rules out no more.

    Parameters
    ----------
    k : int, >= 2
        Smallest number of candidates.
    row_share : fraction or "1/k"
        See above, and `wayveil.model.claims.counting`.
    top_speed : number > 0 in metres per second, "none" or "auto"
        Nobody is faster, as the attacker knows.  "none": the attacker does not use speeds.  "auto": what the data
        say, not yet known; see `top_speed_of`.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> from wayveil.model import guarantee_from_json
    >>> claim = AttackGraph(k=5)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of trajectories that can be a person's")
    row_share: Fraction | str = row_share_parameter()
    top_speed: float | str = parameter(
        kind="number",
        low=0,
        choices=("none", "auto"),
        default="none",
        help="metres per second that nobody exceeds, as the attacker knows",
    )

    name: ClassVar[str] = "AttackGraph"
    about_truth: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = ATTACK_GRAPH
    public_numbers: ClassVar[tuple[str, ...]] = (
        "min_declared",
        "trajectories",
        "boxes",
        "points",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.top_speed == 0:
            raise ParameterError(f"{self.name}: top_speed must be larger than 0, got 0. Nobody could move.")

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        speed = {} if self.top_speed == "none" else {"top_speed": self.top_speed}
        return {**super().attack_settings, **speed}

    @property
    def promise(self) -> str:
        return (
            f"Whoever knows where everybody was at the times declared as known{self._and_speed} is left with at least "
            f"{self.k} people for every published trajectory, and with trajectories of as many people for every "
            f"person; and nobody has more than {share_text(self.owner_share)} of the trajectories that are left."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        remain = f"at least {self.k} people remain as candidates"
        known = (
            Protection(
                sentence="an attacker who knows the declared positions of everybody, and that each person has one "
                f"published trajectory: {remain}",
                attack="attack_graph",
                measured=("min_candidate_people",),
                bound=Fraction(self.k),
                keeps="at least",
            ),
        )
        if self.top_speed == "none":
            return known
        return (
            *known,
            Protection(
                sentence=f"the same attacker, who also knows that nobody is faster than {self._speed}, and rules out "
                f"whoever cannot have been in all boxes in time: {remain}",
                attack="continuity",
                settings=(("top_speed", self.top_speed),),
                measured=("min_candidate_people",),
                bound=Fraction(self.k),
                keeps="at least",
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        speeds = (
            "an attacker who uses that people do not jump: the cells before and after a declared time can rule out all "
            "others"
            if self.top_speed == "none"
            else "an attacker who knows a lower limit than this speed, for a person, a road or an hour"
        )
        return (
            f"{self.k} candidates is not a chance of 1/{self.k}: one candidate can be likelier than the others; the "
            "measured chance is in the report",
            "an attacker who interpolates between the cells before and after a declared time, and takes the candidate "
            "who is likeliest then: this is not bounded; the measured chance is in the report",
            speeds,
            "an attacker who knows a position at a time that was not declared: these positions are published as cells",
            "what all candidates have in common is disclosed",
            "an attacker who works out for everybody at once whose declared times the marked boxes are: as many people "
            "remain, but one may have a larger share of the trajectories",
            "an attacker who reasons about the people who were left out",
            "an attacker who can tell which trajectories belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ("attack_graph", "continuity", "nearest_positions")

    @property
    def _speed(self) -> str:
        return "the fastest in the data" if isinstance(self.top_speed, str) else f"{number_text(self.top_speed)} m/s"

    @property
    def _and_speed(self) -> str:
        return "" if self.top_speed == "none" else f", and that nobody is faster than {self._speed},"


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
    return next(step * power for step in (1.0, 2.0, 5.0, 10.0, 20.0) if step * power * _ROOM >= fastest)
