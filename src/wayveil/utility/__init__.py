"""What a publication lost."""

from __future__ import annotations

from wayveil.utility.frequent_sequences import FrequentSequences
from wayveil.utility.instance_loss import InstanceLoss
from wayveil.utility.visit_support import VisitSupport

__all__ = ["METRICS", "FrequentSequences", "InstanceLoss", "VisitSupport"]

METRICS: dict[str, type] = {metric.name: metric for metric in (InstanceLoss, VisitSupport, FrequentSequences)}
