"""What methods that gather trajectories in clusters have in common: limits, the largest radius, and the account."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.methods.common.distinct_people import check_people
from wayveil.model import Frame, Points
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of

__all__ = [
    "EXTRA",
    "OUTLIER",
    "TOO_FEW",
    "Relaxed",
    "account",
    "allowed_trash",
    "check_data",
    "check_radius",
    "half_width",
    "is_left_out",
    "members_of",
    "relax",
    "rounding_m",
]

OUTLIER = -1
TOO_FEW = -2
"""Labels of trajectories that are not published: no cluster is near, or too few people could be in one."""

EXTRA = -4
"""Label of trajectories that are not published because their person owns too many of a cluster."""

_FARTHEST = 1e15
_DEGREE_MARGIN_M = 1e-4


@dataclass(frozen=True, kw_only=True)
class Relaxed:
    """The first radius at which the trash is small enough, and how often the radius had to grow."""

    radius: float
    restarts: int


def relax(radius: float, growth: float, is_enough: Callable[[float, int], bool]) -> Relaxed:
    """Let the radius grow until ``is_enough(radius, restarts)``.

    Examples
    --------
    >>> relax(1.0, 1.5, lambda radius, restarts: radius > 2)
    Relaxed(radius=2.25, restarts=2)
    """
    restarts = 0
    while not is_enough(radius, restarts):
        radius = radius * growth
        restarts = restarts + 1
    return Relaxed(radius=radius, restarts=restarts)


def check_radius(component: str, radius_max: float | str, growth: float) -> None:
    """Refuse a radius that cannot grow."""
    if radius_max == 0:
        raise ParameterError(f"{component}: radius_max must be larger than 0, got 0. It could never grow.")
    if growth < 1.01:
        raise ParameterError(
            f"{component}: radius_growth must be at least 1.01, got {growth:g}. The radius could not grow."
        )


def check_data(component: str, data: Points, k: int) -> None:
    """Refuse data that cannot be published."""
    check_people(component, data, k, "points")
    if max(float(np.abs(data.x).max(initial=0)), float(np.abs(data.y).max(initial=0))) > _FARTHEST:
        raise InputError(f"{component}: there are coordinates beyond {_FARTHEST:g}, which are no places in metres.")


def is_left_out(label: IntArray, nonempty: BoolArray) -> BoolArray:
    """Return which of the trajectories that are `nonempty` have no part in what is published.

    Whoever has too many in a cluster is in it, so that the extra ones are no trajectories of strangers.

    Examples
    --------
    >>> is_left_out(np.array([0, OUTLIER, EXTRA, TOO_FEW, OUTLIER]), np.array([True, True, True, True, False])).tolist()
    [False, True, False, True, False]
    """
    return nonempty & (label < 0) & (label != EXTRA)


def half_width(delta: float, frame: Frame) -> float:
    """Return how far a point may be from the centre, so that any two stay within `delta` when written and read back.

    Planar coordinates are written exactly, degrees to a tenth of a millimetre, and both less exactly where the frame
    has `decimals`.  Where this leaves nothing, all become one.

    Examples
    --------
    >>> half_width(2.0, Frame()), half_width(2.0, Frame(degrees=True)), half_width(0.0, Frame(degrees=True))
    (1.0, 0.9999, 0.0)
    >>> round(half_width(2.0, Frame(decimals=1)), 4)
    0.9293
    """
    margin = _DEGREE_MARGIN_M if frame.degrees else 0.0
    return max(0.0, delta / 2 - max(margin, rounding_m(frame)))


def rounding_m(frame: Frame) -> float:
    """Return how far rounding to the decimals of a frame moves a point, in metres; 0 where it has none.

    Examples
    --------
    >>> rounding_m(Frame()), round(rounding_m(Frame(decimals=0)), 3)
    (0.0, 0.707)
    """
    if frame.decimals is None:
        return 0.0
    return 0.5 * 10.0**-frame.decimals * float(np.hypot(frame.x_scale, frame.y_scale)) * (1 + 1e-6)


def members_of(label: IntArray) -> tuple[IntArray, IntArray]:
    """Return (members, first): cluster c has ``members[first[c]:first[c + 1]]``; in the order of pivots and members.

    Examples
    --------
    >>> members, first = members_of(np.array([0, -1, 4, 0, 4]))
    >>> members.tolist(), first.tolist()
    ([0, 3, 2, 4], [0, 2, 4])
    """
    # Trash has negative labels and sorts first; a stable sort keeps the members of a cluster in the order of the input.
    members = np.argsort(label, kind="stable")[int((label < 0).sum()) :]
    sizes = np.unique(label[members], return_counts=True)[1]
    return members, offsets_of(sizes)


def account(data: Points, label: IntArray) -> dict[str, int | float | str]:
    """Return the numbers that every clustering has to show; trajectories without points are no part of it."""
    lengths = np.diff(data.offsets)
    nonempty = lengths > 0
    trash = nonempty & (label < 0)
    sizes = np.diff(members_of(label)[1])
    n_trash = int(trash.sum())
    return {
        "clusters": len(sizes),
        "largest cluster": int(sizes.max(initial=0)),
        "trajectories in trash": n_trash,
        "trash: too few people in the class": int((nonempty & (label == TOO_FEW)).sum()),
        "trash: outliers": int((nonempty & (label == OUTLIER)).sum()),
        "trash: more than the share of one person": int((nonempty & (label == EXTRA)).sum()),
        "points in trash": int(lengths[trash].sum()),
        "discernibility": int((sizes.astype(np.int64) ** 2).sum()) + n_trash * int(nonempty.sum()),
    }


def allowed_trash(trash_max: Fraction, data: Points) -> int:
    """Return how many trajectories may be outliers.

    Examples
    --------
    >>> allowed_trash(Fraction(1, 2), Points.from_records([[(0, 0.0, 0.0)], [], [(0, 0.0, 1.0)], [(1, 0.0, 0.0)]]))
    1
    """
    return int(trash_max * int((np.diff(data.offsets) > 0).sum()))
