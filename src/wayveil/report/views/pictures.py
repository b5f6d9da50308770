"""All that a report shows of data before and after: charts, a map, and some trajectories place by place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from wayveil.model import Chart, Data
from wayveil.model.data.ragged import IntArray
from wayveil.report.results_schema import MapData
from wayveil.report.views.map_geometry import Ring
from wayveil.report.views.map_view import map_view
from wayveil.report.views.overview import views
from wayveil.report.views.trip_sentences import ToldTrips, tell_trips

__all__ = ["Pictures", "make_pictures"]


@dataclass(frozen=True, kw_only=True)
class Pictures:
    """What data look like before and after."""

    views: tuple[Chart, ...] = ()
    maps: tuple[MapData, ...] = ()
    trips: ToldTrips | None = None

    @property
    def with_raw(self) -> bool:
        """Whether trajectories of people are in it."""
        raw = any(layer.raw for one in self.maps for layer in one.layers)
        return raw or (self.trips is not None and self.trips.raw)


def make_pictures(
    before: Data,
    after: Data,
    groups: IntArray | None = None,
    *,
    names: tuple[str, str] = ("raw data", "published data"),
    with_raw: bool,
    published: bool,
    zones: Mapping[str, Ring] | None = None,
    cells: Mapping[str, str] | None = None,
) -> Pictures:
    """Return what the original and what was made of it look like.

    Parameters
    ----------
    groups : int64, one per trajectory of `after`, optional
        The groups in which people hide: see `views`.
    names : (str, str)
        How the two are called.
    with_raw : bool
        Whether whoever sees the report may see trajectories of people.
    published : bool
        Whether `after` kept its promise; if not, it is treated like the original.
    zones : mapping, optional
        Where places are that are zones: see `map_view`.
    cells : mapping, optional
        What tables of counts count: see `map_view`.
    """
    view = map_view(before, after, names=names, with_raw=with_raw, published=published, zones=zones, cells=cells)
    return Pictures(
        views=views(before, after, groups, names=names, published=published),
        maps=() if view is None else (view,),
        trips=tell_trips(before, after, names=names, with_raw=with_raw, published=published),
    )
