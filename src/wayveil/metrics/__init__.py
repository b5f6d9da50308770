"""What a publication lost."""

from __future__ import annotations

from wayveil.metrics.boxes.box_loss import BoxLoss
from wayveil.metrics.boxes.cell_loss import CellLoss
from wayveil.metrics.boxes.log_cost import LogCost
from wayveil.metrics.boxes.shared_destinations import SharedDestinations
from wayveil.metrics.flows import Flows, OdMatrix, RouteFlows, StopFlows
from wayveil.metrics.hours import CellHours, PlaceHours
from wayveil.metrics.patterns.frequent_sequences import FrequentSequences
from wayveil.metrics.patterns.road_patterns import RoadPatterns
from wayveil.metrics.patterns.sequential_patterns import SequentialPatterns
from wayveil.metrics.points.clustering_agreement import ClusteringAgreement
from wayveil.metrics.points.distortion import Distortion
from wayveil.metrics.points.mean_deviation import Deviation
from wayveil.metrics.points.range_queries import RangeQueries
from wayveil.metrics.prediction import NextCell, NextPlace, NextRoad, NextStop
from wayveil.metrics.roads.road_error import RoadError
from wayveil.metrics.roads.roads_not_driven import RoadsNotDriven
from wayveil.metrics.roads.traffic import Traffic
from wayveil.metrics.stops.generalization_cost import GeneralizationCost
from wayveil.metrics.stops.taxonomy_levels import TaxonomyLevels
from wayveil.metrics.tables.count_error import CountError
from wayveil.metrics.trip_lengths import RouteLength, TripDuration, TripLength, TripVisits
from wayveil.metrics.visits.instance_loss import InstanceLoss
from wayveil.metrics.visits.visit_support import VisitSupport

__all__ = [
    "METRICS",
    "BoxLoss",
    "CellHours",
    "CellLoss",
    "ClusteringAgreement",
    "CountError",
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
    "RoadsNotDriven",
    "RouteFlows",
    "RouteLength",
    "SequentialPatterns",
    "SharedDestinations",
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
        RoadsNotDriven,
        SharedDestinations,
        CountError,
    )
}
