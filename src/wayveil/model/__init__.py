"""What things are: immutable values, no algorithms, no files."""

from wayveil.model.guarantees import GUARANTEES, KCL, Guarantee, guarantee_from_json
from wayveil.model.parameters import (
    Parameter,
    Sensitive,
    check_parameters,
    parameter,
    parameters_of,
    plain,
)
from wayveil.model.protocols import Attack, Cut, Engine, Method, Metric, Progress, Verifier, Workload
from wayveil.model.results import AttackResult, Chart, Published, Score, Series, Verdict
from wayveil.model.visits import Coded, Owners, TimeFormat, Visits

__all__ = [
    "GUARANTEES",
    "KCL",
    "Attack",
    "AttackResult",
    "Chart",
    "Coded",
    "Cut",
    "Engine",
    "Guarantee",
    "Method",
    "Metric",
    "Owners",
    "Parameter",
    "Progress",
    "Published",
    "Score",
    "Sensitive",
    "Series",
    "TimeFormat",
    "Verdict",
    "Verifier",
    "Visits",
    "Workload",
    "check_parameters",
    "guarantee_from_json",
    "parameter",
    "parameters_of",
    "plain",
]
