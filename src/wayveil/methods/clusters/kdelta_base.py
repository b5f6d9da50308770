"""What the methods that let people walk together declare alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import ParameterError
from wayveil.methods.clusters.clusters import check_radius, half_width, rounding_m
from wayveil.methods.clusters.offsets_in_disc import Offsets, draw_offsets
from wayveil.methods.common.dominance import people_needed
from wayveil.methods.common.trajectory_rows import TrajectoryRows
from wayveil.model import Frame, KDelta, Method, Points, check_parameters, parameter
from wayveil.model.data.ragged import IntArray

__all__ = [
    "WalkTogether",
    "delta_parameter",
    "k_parameter",
    "placement_parameter",
    "radius_growth_parameter",
    "trash_max_parameter",
]

_FIRST_RADIUS_M = 10.0


class WalkTogether(Method):
    """A method that moves the points of a cluster so near to each other that nobody in it walks alone."""

    accepts: ClassVar[type[Points]] = Points
    publishes: ClassVar[type[Points]] = Points

    k: int
    delta: float
    row_share: Fraction | str
    placement: str
    radius_max: float | str
    radius_growth: float
    k_column: str
    destination_share: Fraction | str
    destination_cell: float

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        check_radius(self.name, self.radius_max, self.radius_growth)
        if self.delta > 0 and (self.k_column != "none" or self.destination_share != "none"):
            raise ParameterError(
                f"{self.name}: k_column and destination_share go with delta = 0, where a group is all that are the "
                f"same; got delta = {self.delta:g}."
            )

    @property
    def hides_by_chance(self) -> bool:
        """Whether chance hides who is who: then the random numbers must not follow from a seed that can be guessed."""
        return self.draws_places

    @property
    def metric_settings(self) -> Mapping[str, Mapping[str, Any]]:
        """Queries take the same radius of uncertainty."""
        return {"range_queries": {"radius": self.delta}} if self.delta else {}

    @property
    def claim(self) -> KDelta:
        return KDelta(
            k=self.k,
            delta=self.delta,
            row_share=self.row_share,
            placement=self.placement,
            k_column=self.k_column,
            destination_share=self.destination_share,
            destination_cell=self.destination_cell,
        )

    @property
    def people(self) -> int:
        """How many people a cluster has at least: `k`, or more where `row_share` takes more."""
        return people_needed(self.k, self.claim.owner_share)

    @property
    def first_radius(self) -> float:
        """The first radius of clusters; that of `auto` is a fixed one, so that it follows from nobody's points."""
        return _FIRST_RADIUS_M if isinstance(self.radius_max, str) else self.radius_max

    @property
    def keeps_points(self) -> bool:
        """Whether points may be published where they were recorded: then all must look as if they were computed."""
        return self.placement == "nearest" or self.delta == 0

    def rounded(self, data: Points) -> Points:
        """Return data whose frame says to how many decimals points are published.

        What is given are the decimals of the file.  With a small `delta` there are more, so that rounding takes at most
        a quarter of it; and where all points are moved, those of a computed number.
        """
        frame = data.frame
        if frame.decimals is None:
            return data
        # Where every point is moved by a draw, a coordinate with the decimals of the file would only pretend to be a
        # recorded one.
        if not self.keeps_points:
            return replace(data, frame=replace(frame, decimals=None))
        # Rounding may move each of two points: at delta / 8 each, a quarter of delta is the most that both can come
        # apart.
        while self.delta > 0 and frame.decimals is not None and rounding_m(frame) > self.delta / 8:
            frame = replace(frame, decimals=frame.decimals + 1)
        return replace(data, frame=frame)

    @property
    def draws_places(self) -> bool:
        """Whether it is drawn where in the disc around the centre of its cluster a member is published."""
        return self.placement == "random" and self.delta > 0

    def place(self, label: IntArray, rows: TrajectoryRows, frame: Frame, key: bytes) -> Offsets:
        """Return where in its disc each trajectory is published, if that is drawn: from those that are published."""
        if not self.draws_places:
            return Offsets.free()
        members = np.flatnonzero(label >= 0)
        published = replace(rows, begin=rows.begin[members], end=rows.end[members])
        drawn = draw_offsets(published, frame, half_width(self.delta, frame), key)
        places = Offsets(np.zeros(len(label)), np.zeros(len(label)))
        places.x[members] = drawn.x
        places.y[members] = drawn.y
        return places


def k_parameter() -> Any:
    """Declare how many people walk together."""
    return parameter(kind="int", low=2, default=5, help="smallest number of people who move together")


def delta_parameter() -> Any:
    """Declare how near they are to each other."""
    return parameter(
        kind="number",
        low=0,
        default=0.0,
        help="largest distance between any two of them, in metres; 0 makes them identical",
    )


def placement_parameter() -> Any:
    """Declare where a member is published in the disc around the centre."""
    return parameter(
        kind="choice",
        choices=("random", "nearest"),
        default="random",
        help="where a member is published, with delta > 0: random, at an offset from the centre that tells nothing; "
        "nearest, as near to its true positions as delta lets, which tells who it is",
    )


def radius_growth_parameter() -> Any:
    """Declare how fast the radius of clusters grows."""
    return parameter(kind="number", low=1, default=1.5, help="factor of the radius while the trash is too large")


def trash_max_parameter() -> Any:
    """Declare how many trajectories may be in no cluster."""
    return parameter(
        kind="fraction", low=0, high=1, default=Fraction(1, 10), help="largest share of trajectories lost as outliers"
    )
