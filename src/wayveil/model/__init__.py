"""What things are: immutable values, no algorithms, no files."""

from wayveil.model.claims import (
    GUARANTEES,
    AttackGraph,
    BreachBound,
    Claim,
    CSafety,
    DifferentialPrivacy,
    Guarantee,
    KAnonymity,
    KclPrivacy,
    KDelta,
    Protection,
    StrictK,
    SubsequenceK,
    Threshold,
)
from wayveil.model.data.boxes import Boxes
from wayveil.model.data.coded import Coded, Owners
from wayveil.model.data.count_tables import CountTables
from wayveil.model.data.frame import Extent, Frame
from wayveil.model.data.kinds import KINDS, InputKind, Kind
from wayveil.model.data.points import Points
from wayveil.model.data.routes import RoadNetwork, Routes
from wayveil.model.data.stops import Stops
from wayveil.model.data.times import TimeFormat, duration_units, seconds_per_unit
from wayveil.model.data.trajectories import NamedPlaces, Trajectories, concat
from wayveil.model.data.trips import Trips
from wayveil.model.data.visits import Visits
from wayveil.model.file_format import FileFormat
from wayveil.model.noisy_query import NoisyQuery
from wayveil.model.numbers import Number, Numbers
from wayveil.model.parameters import (
    Parameter,
    Sensitive,
    check_parameters,
    parameter,
    parameters_of,
    plain,
)
from wayveil.model.places.places import Places
from wayveil.model.places.taxonomy import Taxonomy
from wayveil.model.plugins import guarantee_from_json, guarantees, kinds
from wayveil.model.protocols import (
    Attack,
    BlockKey,
    BlockStore,
    Engine,
    Method,
    Metric,
    PlannedBlocks,
    PlanningMethod,
    Progress,
    Step,
    Verifier,
    Workload,
)
from wayveil.model.results import AttackResult, Chart, Data, MethodResult, Score, Series, Verdict

__all__ = [
    "GUARANTEES",
    "KINDS",
    "Attack",
    "AttackGraph",
    "AttackResult",
    "BlockKey",
    "BlockStore",
    "Boxes",
    "BreachBound",
    "CSafety",
    "Chart",
    "Claim",
    "Coded",
    "CountTables",
    "Data",
    "DifferentialPrivacy",
    "Engine",
    "Extent",
    "FileFormat",
    "Frame",
    "Guarantee",
    "InputKind",
    "KAnonymity",
    "KDelta",
    "KclPrivacy",
    "Kind",
    "Method",
    "MethodResult",
    "Metric",
    "NamedPlaces",
    "NoisyQuery",
    "Number",
    "Numbers",
    "Owners",
    "Parameter",
    "Places",
    "PlannedBlocks",
    "PlanningMethod",
    "Points",
    "Progress",
    "Protection",
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
    "Threshold",
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
    "kinds",
    "parameter",
    "parameters_of",
    "plain",
    "seconds_per_unit",
]
