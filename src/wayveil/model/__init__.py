"""What things are: immutable values, no algorithms, no files."""

from wayveil.model.claims import (
    GUARANTEES,
    KCL,
    AttackGraph,
    BreachBound,
    Claim,
    CSafety,
    Guarantee,
    KAnonymity,
    KDelta,
    Protection,
    StrictK,
    SubsequenceK,
)
from wayveil.model.coded import Coded, Owners
from wayveil.model.frame import Extent, Frame
from wayveil.model.kinds import KINDS, InputKind, Kind
from wayveil.model.parameters import (
    Parameter,
    Sensitive,
    check_parameters,
    parameter,
    parameters_of,
    plain,
)
from wayveil.model.places import Places
from wayveil.model.plugins import guarantee_from_json, guarantees
from wayveil.model.points import Points
from wayveil.model.protocols import Attack, BlockKey, Engine, Method, Metric, Progress, Step, Verifier, Workload
from wayveil.model.regions import Regions
from wayveil.model.results import AttackResult, Chart, Data, Published, Score, Series, Verdict
from wayveil.model.routes import RoadNetwork, Routes
from wayveil.model.stops import Stops
from wayveil.model.taxonomy import Taxonomy
from wayveil.model.times import TimeFormat, duration_units, seconds_per_unit
from wayveil.model.trajectories import NamedPlaces, Trajectories, concat
from wayveil.model.trips import Trips
from wayveil.model.visits import Visits

__all__ = [
    "GUARANTEES",
    "KCL",
    "KINDS",
    "Attack",
    "AttackGraph",
    "AttackResult",
    "BlockKey",
    "BreachBound",
    "CSafety",
    "Chart",
    "Claim",
    "Coded",
    "Data",
    "Engine",
    "Extent",
    "Frame",
    "Guarantee",
    "InputKind",
    "KAnonymity",
    "KDelta",
    "Kind",
    "Method",
    "Metric",
    "NamedPlaces",
    "Owners",
    "Parameter",
    "Places",
    "Points",
    "Progress",
    "Protection",
    "Published",
    "Regions",
    "RoadNetwork",
    "Routes",
    "Score",
    "Sensitive",
    "Series",
    "Step",
    "Stops",
    "StrictK",
    "SubsequenceK",
    "Taxonomy",
    "TimeFormat",
    "Trajectories",
    "Trips",
    "Verdict",
    "Verifier",
    "Visits",
    "Workload",
    "check_parameters",
    "concat",
    "duration_units",
    "guarantee_from_json",
    "guarantees",
    "parameter",
    "parameters_of",
    "plain",
    "seconds_per_unit",
]
