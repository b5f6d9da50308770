"""What other packages add: methods, claims, verifiers, attacks, metrics, steps, workloads, file formats, kinds of data.

A package names what it adds as entry points, in the groups of `GROUPS`.  By the name of an entry point the command
line, recipes and reports know the thing.  What cannot be loaded is an error and is never passed over: an attack that is
silently missing would make a publication look better than it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from inspect import isabstract, isclass
from types import MappingProxyType
from typing import Any, Literal

from wayveil.errors import UsageError, closest
from wayveil.model.claims import GUARANTEES, Claim, Guarantee
from wayveil.model.data.kinds import KINDS
from wayveil.model.data.trajectories import Trajectories
from wayveil.model.file_format import FileFormat
from wayveil.model.protocols import Attack, Method, Metric, Step, Workload

__all__ = ["GROUPS", "Group", "guarantee_from_json", "guarantees", "kinds", "load_plugins", "with_plugins"]

Group = Literal["methods", "claims", "verifiers", "attacks", "metrics", "steps", "workloads", "formats", "kinds"]

GROUPS: Mapping[Group, type | None] = MappingProxyType(
    {
        "methods": Method,
        "claims": Claim,
        "verifiers": None,
        "attacks": Attack,
        "metrics": Metric,
        "steps": Step,
        "workloads": Workload,
        "formats": FileFormat,
        "kinds": Trajectories,
    }
)
"""What an entry point of the group ``wayveil.<name>`` must be: a class made of this one; a verifier is a
function, and a format is a `FileFormat` itself."""


@cache
def load_plugins(group: Group) -> Mapping[str, Any]:
    """Return what other packages add to a group, by name; UsageError where something is not what it should be.

    It is looked up once; `load_plugins.cache_clear` forgets it.
    """
    plugins: dict[str, Any] = {}
    # Sorted by name: the order in which packages were installed must not show anywhere.
    for point in sorted(entry_points(group=f"wayveil.{group}"), key=lambda point: point.name):
        if point.name in plugins:
            raise UsageError(f"{_speaker(point)}: another plug-in has this name, too. Uninstall one of them.")
        plugins[point.name] = _load(point, GROUPS[group])
    return MappingProxyType(plugins)


def with_plugins(ours: Mapping[str, Any], group: Group) -> Mapping[str, Any]:
    """Return what we have and what plug-ins add, ours first; no plug-in may take a name of ours."""
    more = load_plugins(group)
    for name in more:
        if name in ours:
            raise UsageError(f"The plug-in {name!r} (wayveil.{group}) has the name of something in Wayveil. Rename it.")
    return {**ours, **more} if more else ours


def guarantees() -> Mapping[str, type[Guarantee]]:
    """Return every claim by name: ours, then those of plug-ins."""
    return with_plugins(GUARANTEES, "claims")


def kinds() -> Mapping[str, type[Trajectories]]:
    """Return the class of every kind of data by name: ours, then those of plug-ins."""
    return with_plugins(KINDS, "kinds")


def guarantee_from_json(claim: Any) -> Guarantee:
    """Return the guarantee that `to_json` wrote; anything else is a UsageError."""
    known = guarantees()
    name = claim.get("name") if isinstance(claim, dict) else None
    if not isinstance(name, str) or name not in known:
        raise UsageError(f"The claim names no guarantee that is known here.{closest(str(name), list(known))}")
    cls: Any = known[name]
    try:
        guarantee: Guarantee = cls(**{key: value for key, value in claim.items() if key != "name"})
    except TypeError:
        raise UsageError(f"The claim {name} has missing or unknown parameters.") from None
    return guarantee


# A plug-in is refused at once, and with the name of its package, for each reason for which it would fail later, in the
# middle of a run.
def _load(point: EntryPoint, base: type | None) -> Any:
    try:
        loaded = point.load()
    except Exception as error:  # whatever a package of somebody else does when it is imported
        raise UsageError(
            f"{_speaker(point)} cannot be loaded from {point.value} ({type(error).__name__}: {error}). Repair the "
            "package, or uninstall it."
        ) from error
    if base is None:
        if not callable(loaded):
            raise UsageError(f"{_speaker(point)}: {point.value} is no function.")
        return loaded
    if base is FileFormat:
        return _checked_format(point, loaded)
    if not isclass(loaded) or not issubclass(loaded, base):
        raise UsageError(f"{_speaker(point)}: {point.value} is not made of wayveil.{base.__name__}.")
    if isabstract(loaded):
        missing = ", ".join(sorted(loaded.__abstractmethods__))  # type: ignore[attr-defined]
        raise UsageError(f"{_speaker(point)}: {point.value} does not define {missing}.")
    if base is Trajectories:
        return _checked_kind(point, loaded)
    if base is not Claim and not isinstance(getattr(loaded, "summary", None), str):
        raise UsageError(f"{_speaker(point)}: {point.value} has no summary. Say in a few words what it is.")
    # Manifests and recipes know a thing by this name; one that calls itself otherwise could not be found again.
    named = getattr(loaded, "name", None)
    if named != point.name:
        raise UsageError(f"{_speaker(point)}: {point.value} calls itself {named!r}. Both names must be the same.")
    return loaded


def _checked_format(point: EntryPoint, loaded: Any) -> FileFormat:
    if not isinstance(loaded, FileFormat):
        raise UsageError(f"{_speaker(point)}: {point.value} is no wayveil.FileFormat.")
    if loaded.read is None:
        raise UsageError(f"{_speaker(point)}: {point.value} has no `read`, so that its files cannot be read.")
    if loaded.name != point.name:
        raise UsageError(f"{_speaker(point)}: {point.value} calls itself {loaded.name!r}. Both names must be the same.")
    return loaded


def _checked_kind(point: EntryPoint, loaded: Any) -> Any:
    if loaded.layout is None:
        raise UsageError(f"{_speaker(point)}: {point.value} has no layout, so that it cannot be written to a file.")
    if loaded.kind != point.name:
        raise UsageError(f"{_speaker(point)}: {point.value} calls itself {loaded.kind!r}. Both names must be the same.")
    return loaded


def _speaker(point: EntryPoint) -> str:
    package = "" if point.dist is None else f" of the package {point.dist.name}"
    return f"The plug-in {point.name!r} ({point.group}){package}"
