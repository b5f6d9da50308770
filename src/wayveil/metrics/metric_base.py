"""What several metrics declare alike: the data that they compare."""

from __future__ import annotations

from typing import Any, ClassVar

from wayveil.model import Boxes, Metric, Points, Routes, Stops, Visits

__all__ = ["OnBoxes", "OnPositions", "OnRoutes", "OnStops", "OnVisits"]


class OnVisits(Metric):
    """A metric of visits before and after, in any order."""

    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)


class OnPositions(Metric):
    """A metric of points before, and of points or boxes after, in any order."""

    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Any], ...]] = (Points, Boxes)


class OnBoxes(Metric):
    """A metric of points and of the boxes that are published for them, trajectory by trajectory."""

    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Boxes], ...]] = (Boxes,)
    matched: ClassVar[bool] = True


class OnRoutes(Metric):
    """A metric of routes before and after, in any order."""

    accepts: ClassVar[type[Routes]] = Routes
    targets: ClassVar[tuple[type[Routes], ...]] = (Routes,)


class OnStops(Metric):
    """A metric of stops before and after, in any order."""

    accepts: ClassVar[type[Stops]] = Stops
    targets: ClassVar[tuple[type[Stops], ...]] = (Stops,)
