"""What things are: immutable values, no algorithms, no files."""

from wayveil.model.claims import (
    GUARANTEES,
    KCL,
    AttackGraph,
    BreachBound,
    CSafety,
    Guarantee,
    KAnonymity,
    KDelta,
    Protection,
    StrictK,
    SubsequenceK,
    guarantee_from_json,
)
from wayveil.model.frame import Extent, Frame
from wayveil.model.parameters import (
    Parameter,
    Sensitive,
    check_parameters,
    parameter,
    parameters_of,
    plain,
)
from wayveil.model.places import Places
from wayveil.model.points import Points
from wayveil.model.protocols import (
    Attack,
    BlockKey,
    BlockStore,
    Cut,
    Engine,
    Method,
    Metric,
    PlannedBlocks,
    PlanningMethod,
    Progress,
    Verifier,
    Workload,
)
from wayveil.model.regions import Regions
from wayveil.model.results import AttackResult, Chart, Data, Published, Score, Series, Verdict
from wayveil.model.routes import RoadNetwork, Routes
from wayveil.model.stops import Stops
from wayveil.model.taxonomy import Taxonomy
from wayveil.model.times import TimeFormat, duration_units, seconds_per_unit
from wayveil.model.visits import Coded, Owners, Visits

__all__ = [
    "GUARANTEES",
    "KCL",
    "Attack",
    "AttackGraph",
    "AttackResult",
    "BlockKey",
    "BlockStore",
    "BreachBound",
    "CSafety",
    "Chart",
    "Coded",
    "Cut",
    "Data",
    "Engine",
    "Extent",
    "Frame",
    "Guarantee",
    "KAnonymity",
    "KDelta",
    "Method",
    "Metric",
    "Owners",
    "Parameter",
    "Places",
    "PlannedBlocks",
    "PlanningMethod",
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
    "Stops",
    "StrictK",
    "SubsequenceK",
    "Taxonomy",
    "TimeFormat",
    "Verdict",
    "Verifier",
    "Visits",
    "Workload",
    "check_parameters",
    "duration_units",
    "guarantee_from_json",
    "parameter",
    "parameters_of",
    "plain",
    "seconds_per_unit",
]
