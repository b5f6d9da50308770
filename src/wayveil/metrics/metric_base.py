"""What several metrics declare alike: the data that they compare."""

from __future__ import annotations

from typing import Any, ClassVar

from wayveil.model import Points, Regions, Routes, Stops, Visits, check_parameters

__all__ = ["OnBoxes", "OnPositions", "OnRoutes", "OnStops", "OnVisits"]


class _Checked:
    name: ClassVar[str]
    matched: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self, self.name)


class OnVisits(_Checked):
    """A metric of visits before and after, in any order."""

    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)


class OnPositions(_Checked):
    """A metric of points before, and of points or boxes after, in any order."""

    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Any], ...]] = (Points, Regions)


class OnBoxes(_Checked):
    """A metric of points and of the boxes that are published for them, trajectory by trajectory."""

    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Regions], ...]] = (Regions,)
    matched: ClassVar[bool] = True


class OnRoutes(_Checked):
    """A metric of routes before and after, in any order."""

    accepts: ClassVar[type[Routes]] = Routes
    targets: ClassVar[tuple[type[Routes], ...]] = (Routes,)


class OnStops(_Checked):
    """A metric of stops before and after, in any order."""

    accepts: ClassVar[type[Stops]] = Stops
    targets: ClassVar[tuple[type[Stops], ...]] = (Stops,)
