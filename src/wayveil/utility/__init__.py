"""What a publication lost."""

from __future__ import annotations

from wayveil.utility.box_loss import BoxLoss
from wayveil.utility.cell_hours import CellHours
from wayveil.utility.cell_loss import CellLoss
from wayveil.utility.clustering_agreement import ClusteringAgreement
from wayveil.utility.deviation import Deviation
from wayveil.utility.distortion import Distortion
from wayveil.utility.flows import Flows
from wayveil.utility.frequent_sequences import FrequentSequences
from wayveil.utility.generalization_cost import GeneralizationCost
from wayveil.utility.instance_loss import InstanceLoss
from wayveil.utility.log_cost import LogCost
from wayveil.utility.next_cell import NextCell
from wayveil.utility.next_place import NextPlace
from wayveil.utility.next_road import NextRoad
from wayveil.utility.next_stop import NextStop
from wayveil.utility.od_matrix import OdMatrix
from wayveil.utility.place_hours import PlaceHours
from wayveil.utility.range_queries import RangeQueries
from wayveil.utility.road_error import RoadError
from wayveil.utility.road_patterns import RoadPatterns
from wayveil.utility.route_flows import RouteFlows
from wayveil.utility.route_length import RouteLength
from wayveil.utility.sequential_patterns import SequentialPatterns
from wayveil.utility.stop_flows import StopFlows
from wayveil.utility.taxonomy_levels import TaxonomyLevels
from wayveil.utility.traffic import Traffic
from wayveil.utility.trip_duration import TripDuration
from wayveil.utility.trip_length import TripLength
from wayveil.utility.trip_visits import TripVisits
from wayveil.utility.visit_support import VisitSupport

__all__ = [
    "METRICS",
    "BoxLoss",
    "CellHours",
    "CellLoss",
    "ClusteringAgreement",
    "Deviation",
    "Distortion",
    "Flows",
    "FrequentSequences",
    "GeneralizationCost",
    "InstanceLoss",
    "LogCost",
    "NextCell",
    "NextPlace",
    "NextRoad",
    "NextStop",
    "OdMatrix",
    "PlaceHours",
    "RangeQueries",
    "RoadError",
    "RoadPatterns",
    "RouteFlows",
    "RouteLength",
    "SequentialPatterns",
    "StopFlows",
    "TaxonomyLevels",
    "Traffic",
    "TripDuration",
    "TripLength",
    "TripVisits",
    "VisitSupport",
]

METRICS: dict[str, type] = {
    metric.name: metric
    for metric in (
        InstanceLoss,
        VisitSupport,
        FrequentSequences,
        Deviation,
        Distortion,
        BoxLoss,
        LogCost,
        CellLoss,
        RangeQueries,
        OdMatrix,
        TripLength,
        ClusteringAgreement,
        RoadError,
        Traffic,
        RoadPatterns,
        GeneralizationCost,
        TaxonomyLevels,
        SequentialPatterns,
        PlaceHours,
        Flows,
        NextPlace,
        TripDuration,
        TripVisits,
        CellHours,
        NextCell,
        RouteFlows,
        NextRoad,
        RouteLength,
        StopFlows,
        NextStop,
    )
}
