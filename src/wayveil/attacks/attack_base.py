"""What attacks have in common: the data that they take, parameters of the same meaning, and how people are counted."""

from __future__ import annotations

from fractions import Fraction
from math import fsum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Attack, Boxes, Data, Points, Routes, Stops, Visits, parameter

__all__ = [
    "OnPositions",
    "OnRoutes",
    "OnStops",
    "OnVisits",
    "auto_draws_parameter",
    "choice_parameter",
    "draws_parameter",
    "m_parameter",
    "mean",
    "owners_of",
    "record_parameter",
    "same_times",
    "threshold_parameter",
    "victims_parameter",
]


class OnVisits(Attack):
    """An attack on visits, which need not be of the trajectories that are known."""

    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)


class OnRoutes(Attack):
    """An attack on routes, which need not be of the trajectories that are known."""

    accepts: ClassVar[type[Routes]] = Routes
    targets: ClassVar[tuple[type[Routes], ...]] = (Routes,)


class OnStops(Attack):
    """An attack on stops, which need not be of the trajectories that are known."""

    accepts: ClassVar[type[Stops]] = Stops
    targets: ClassVar[tuple[type[Stops], ...]] = (Stops,)


class OnPositions(Attack):
    """An attack on points or boxes, one trajectory for each that is known."""

    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Points] | type[Boxes], ...]] = (Points, Boxes)
    matched: ClassVar[bool] = True


def m_parameter(known: str) -> Any:
    """Declare how many of what is `known` (visits, places) an attacker has."""
    return parameter(
        kind="int", low=1, choices=("all",), default=3, help=f"number of {known} of the victim that are known"
    )


def choice_parameter(known: str) -> Any:
    """Declare which of what is `known` an attacker has."""
    return parameter(kind="choice", choices=("random", "worst"), default="random", help=f"which {known} are known")


def record_parameter(known: str) -> Any:
    """Declare in what all that is `known` lies."""
    return parameter(
        kind="choice", choices=("trajectory", "person"), default="trajectory", help=f"where known {known} lie together"
    )


def victims_parameter(default: int = 2000) -> Any:
    """Declare how many people are attacked."""
    return parameter(kind="int", low=1, default=default, help="number of people attacked, where there are more")


def draws_parameter(drawn: str, *, high: int = 1000) -> Any:
    """Declare how many sets, or trips, are tried per person; `drawn` says in words what."""
    return parameter(kind="int", low=1, high=high, default=5, help=drawn)


def auto_draws_parameter(drawn: str) -> Any:
    """Declare the same where the number of victims decides, if nothing else is said."""
    return parameter(
        kind="int",
        low=1,
        high=1000,
        choices=("auto",),
        default="auto",
        help=f"{drawn}; auto: up to as many as victims in all",
    )


def threshold_parameter(
    of: str = "identity risk", *, counted: str = "people", default: Fraction = Fraction(1, 10)
) -> Any:
    """Declare the risk above which people, or attacks, are counted."""
    return parameter(kind="fraction", low=0, high=1, default=default, help=f"{of} above which {counted} are counted")


def same_times(truth: Any, target: Any) -> bool:
    """Return whether the times of the two can be compared: all plain numbers can, dates only with dates."""
    # Plain integers and seconds since 1970 are both numbers; a date can only be compared with a date.
    scales = {"integer": "a number", "epoch": "a number"}
    return bool(scales.get(truth.time_format, truth.time_format) == scales.get(target.time_format, target.time_format))


def owners_of(data: Data) -> NDArray[Any]:
    """Return the person behind each trajectory, from 0 on; each is another person where nobody said.

    Owners that are assumed say nothing about visits and points.  Routes, stops and boxes can be published in parts: the
    assumed owners then tell which parts are of one trajectory of the input, and only owners that are withheld say
    nothing.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1)], [("b", 1)], [("c", 2)]], owner=[7, 3, 7])
    >>> owners_of(data).tolist()
    [1, 0, 1]
    """
    is_given = data.owners == "given" if data.whole else data.owners != "hidden"
    return np.unique(data.owner, return_inverse=True)[1] if is_given else np.arange(len(data))


def mean(values: NDArray[Any]) -> float | None:
    """Return the mean, or None where there is nothing; rounding never lifts it above the largest value.

    Examples
    --------
    >>> mean(np.full(7, 1 / 7)) == 1 / 7, mean(np.zeros(0))
    (True, None)
    """
    # Summed exactly: ten times 1/10 must be 1, and a mean is never above the largest of its parts.
    return min(fsum(values.tolist()) / len(values), float(values.max())) if len(values) else None
