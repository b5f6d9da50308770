"""What a publication lost."""

from __future__ import annotations

from wayveil.utility.instance_loss import InstanceLoss
from wayveil.utility.visit_support import VisitSupport

__all__ = ["METRICS", "InstanceLoss", "VisitSupport"]

METRICS: dict[str, type] = {metric.name: metric for metric in (InstanceLoss, VisitSupport)}
