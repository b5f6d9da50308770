"""Wayveil publishes movement data without publishing people.

A data set and a method go in; what comes out is a data set that keeps the method's promise, the verdict of a verifier
that shares no code with the method, and an account of what was lost.

Examples
--------
>>> import numpy as np
>>> import wayveil
>>> data = wayveil.Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]])
>>> method = wayveil.Kcl(k=2, c=1, l=2)
>>> made = method.run(data, rng=np.random.default_rng(1), engine=wayveil.LocalEngine())
>>> made.data.n_visits, wayveil.check_kcl(made.data, made.claim).holds
(5, True)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "wayveil.advice": ("Advice", "advise"),
    "wayveil.api": ("Publication", "inspect", "publish", "risk"),
    "wayveil.attacks": ("ATTACKS",),
    "wayveil.commands.read_table": ("read",),
    "wayveil.engines": ("DaskEngine", "LocalEngine"),
    "wayveil.errors": ("InputError", "OutputError", "ParameterError", "UsageError", "VerdictFailed", "WayveilError"),
    "wayveil.io": (
        "Layout",
        "from_arrow",
        "from_geopandas",
        "from_movingpandas",
        "from_pandas",
        "from_polars",
        "to_geopandas",
        "to_movingpandas",
        "to_pandas",
        "to_polars",
    ),
    "wayveil.methods": ("METHODS", "Cast", "Cba", "Gsup", "Icba", "Kcl", "Knode", "Nwa", "Prefix", "Qid", "Tga", "W4m"),
    "wayveil.model": (
        "KclPrivacy",
        "Attack",
        "AttackGraph",
        "AttackResult",
        "BreachBound",
        "CSafety",
        "Chart",
        "Claim",
        "Engine",
        "FileFormat",
        "KAnonymity",
        "KDelta",
        "Method",
        "Metric",
        "Number",
        "Points",
        "Protection",
        "MethodResult",
        "Boxes",
        "RoadNetwork",
        "Routes",
        "Score",
        "Series",
        "Step",
        "Stops",
        "StrictK",
        "SubsequenceK",
        "Taxonomy",
        "Trajectories",
        "Trips",
        "Verdict",
        "Visits",
        "Workload",
        "concat",
        "parameter",
    ),
    "wayveil.pipeline.outcome": ("NotPublished",),
    "wayveil.steps": ("STEPS",),
    "wayveil.recipe.recipe": ("Recipe", "load_recipe", "make_recipe"),
    "wayveil.metrics": ("METRICS",),
    "wayveil.verifiers": ("VERIFIERS", "check_kanonymity", "check_kcl", "check_kdelta"),
    "wayveil.verbs": ("compare", "prepare", "utility", "verify"),
    "wayveil.workloads": ("WORKLOADS",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for, so that ``import wayveil`` costs nothing."""
    if name == "__version__":
        from importlib.metadata import version

        return version("wayveil")
    if name not in _HOME:
        raise AttributeError(f"module 'wayveil' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
