"""Synthetic data with a seed: made-up people, real privacy problems."""

from __future__ import annotations

from wayveil.workloads.city import City
from wayveil.workloads.errands import Errands
from wayveil.workloads.network_movers import NetworkMovers
from wayveil.workloads.road_movers import RoadMovers
from wayveil.workloads.transit import Transit

__all__ = ["WORKLOADS", "City", "Errands", "NetworkMovers", "RoadMovers", "Transit"]

WORKLOADS: dict[str, type] = {
    workload.name: workload for workload in (City, Transit, NetworkMovers, RoadMovers, Errands)
}
