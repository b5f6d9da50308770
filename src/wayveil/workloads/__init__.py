"""Synthetic data with a seed: made-up people, real privacy problems."""

from __future__ import annotations

from wayveil.workloads.city import City
from wayveil.workloads.transit import Transit

__all__ = ["WORKLOADS", "City", "Transit"]

WORKLOADS: dict[str, type] = {workload.name: workload for workload in (City, Transit)}
