"""What the methods that let people walk together declare alike."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from wayveil.methods.clusters import check_radius
from wayveil.model import Cut, KDelta, Points, check_parameters, parameter

__all__ = ["WalkTogether", "delta_parameter", "k_parameter", "radius_growth_parameter", "trash_max_parameter"]


class WalkTogether:
    """A method that moves the points of a cluster so near to each other that nobody in it walks alone."""

    name: ClassVar[str]
    accepts: ClassVar[type[Points]] = Points
    publishes: ClassVar[type[Points]] = Points
    cut: ClassVar[Cut] = "block"

    k: int
    delta: float
    radius_max: float | str
    radius_growth: float

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        check_radius(self.name, self.radius_max, self.radius_growth)

    @property
    def kernels(self) -> tuple[str, ...]:
        return ()

    @property
    def claim(self) -> KDelta:
        return KDelta(k=self.k, delta=self.delta)


def k_parameter() -> Any:
    """Declare how many people walk together."""
    return parameter(kind="int", low=2, default=5, help="smallest number of people who move together")


def delta_parameter() -> Any:
    """Declare how near they are to each other."""
    return parameter(
        kind="number", low=0, help="largest distance between any two of them, in metres; 0 makes them identical"
    )


def radius_growth_parameter() -> Any:
    """Declare how fast the radius of clusters grows."""
    return parameter(kind="number", low=1, default=1.5, help="factor of the radius while the trash is too large")


def trash_max_parameter() -> Any:
    """Declare how many trajectories may be in no cluster."""
    return parameter(
        kind="fraction", low=0, high=1, default=Fraction(1, 10), help="largest share of trajectories lost as outliers"
    )
