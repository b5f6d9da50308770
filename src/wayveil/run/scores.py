"""What an attacker learns and what the publication lost: run the attacks and metrics, and turn them into JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.model import (
    KCL,
    Attack,
    AttackResult,
    BreachBound,
    Chart,
    CSafety,
    Data,
    Engine,
    Guarantee,
    KDelta,
    Method,
    Metric,
    Routes,
    Score,
    Sensitive,
    Verdict,
    parameters_of,
)
from wayveil.recipe import catalog
from wayveil.recipe.protections import plays

__all__ = [
    "charts_json",
    "default_attacks",
    "default_metrics",
    "fits",
    "is_ready",
    "measure",
    "results_json",
    "run_attacks",
    "to_text",
    "verdict_json",
]


def fits(cls: Any, original: type, published: type, *, matched: bool, timed: bool = True) -> bool:
    """Return whether an attack or a metric can compare these kinds of data.

    `matched` says whether it is known which trajectories belong together, `timed` whether both have the same times.
    """
    kinds = cls.accepts is original and published in cls.targets
    return kinds and (matched or not cls.matched) and (timed or not getattr(cls, "timed", False))


def is_ready(cls: Any, given: Mapping[str, Any]) -> bool:
    """Return whether an attack has what it cannot do without: `asks` names a parameter without a useful default."""
    asks = getattr(cls, "asks", None)
    return asks is None or bool(given.get(asks))


def default_attacks(
    original: type, published: type, *, claim: Guarantee | None = None, matched: bool = True, timed: bool = True
) -> tuple[Attack, ...]:
    """Return every attack on these kinds of data, as strong as the claim says it withstands.

    An attacker of `m` visits knows as many as the claim allows, and people count as at risk above what it promises.
    An attack with a choice of what is known (at random, worst case) is run for each.
    """
    promised: dict[str, Any] = {}
    if isinstance(claim, KCL):
        promised = {"m": claim.l, "threshold": claim.owner_share, "confidence": claim.c}
    elif isinstance(claim, BreachBound):
        promised = {"threshold": claim.p, "adversaries": claim.adversaries, "times": claim.times}
    elif isinstance(claim, CSafety):
        promised = {"threshold": claim.c}
    elif (people := getattr(claim, "k", None)) is not None:
        promised = {
            "threshold": Fraction(1, people),
            "k": people,
            **({"delta": claim.delta} if isinstance(claim, KDelta) else {}),
        }
        if (top_speed := getattr(claim, "top_speed", "none")) != "none":
            promised["top_speed"] = top_speed
    found = []
    for name, cls in catalog.entries("attack").items():
        if fits(cls, original, published, matched=matched, timed=timed) and is_ready(cls, promised):
            known = {p.name: p for p in parameters_of(cls)}
            given = {key: value for key, value in promised.items() if key in known}
            given |= _whom(name, claim)
            if isinstance(claim, KDelta) and claim.placement == "nearest" and name != "noisy_sightings":
                given.pop("delta", None)  # nobody was placed by chance, so nothing that is found is luck
            choices = [{"choice": choice} for choice in known["choice"].choices] if "choice" in known else [{}]
            found += [catalog.build("attack", name, {**given, **choice}) for choice in choices]
    found += [] if claim is None else _missing(found, claim, original, published, matched=matched, timed=timed)
    return tuple(found)


def _whom(name: str, claim: Guarantee | None) -> dict[str, Any]:
    """Return how many people an attack must try, where the claim says so of this attacker."""
    for protection in () if claim is None else claim.protects:
        settings = dict(protection.settings)
        if protection.attack == name and "victims" in settings:
            return {"victims": settings["victims"]}
    return {}


def _missing(
    found: Sequence[Attack], claim: Guarantee, original: type, published: type, *, matched: bool, timed: bool
) -> list[Attack]:
    """Return the attacks that play the attackers whom the claim stops, where none of those found does."""
    wanted: list[Attack] = []
    for protection in claim.protects:
        cls = catalog.entry("attack", protection.attack)
        played = any(plays(attack, protection) for attack in (*found, *wanted))
        if not played and fits(cls, original, published, matched=matched, timed=timed):
            wanted.append(catalog.build("attack", protection.attack, dict(protection.settings)))
    return wanted


def default_metrics(
    original: type, published: type, *, method: Method | None = None, matched: bool = True, timed: bool = True
) -> tuple[Metric, ...]:
    """Return every metric on these kinds of data, with its default parameters.

    Where the method spared frequent sequences of a given support, the same sequences are looked for; where it takes a
    radius of uncertainty, queries take the same.
    """
    asked = getattr(method, "min_support", None)
    if getattr(method, "preserve", None) != "mfs" or not isinstance(asked, int):
        asked = None
    given: dict[str, dict[str, Any]] = {"frequent_sequences": {"min_support": asked}} if asked is not None else {}
    if method is not None and method.accepts is Routes:
        people = getattr(method, "k", 2)
        given |= {"road_error": {"k": people}, "road_patterns": {"min_support": people}}
    if delta := getattr(method, "delta", 0):
        given["range_queries"] = {"radius": delta}
    return tuple(
        catalog.build("metric", name, given.get(name, {}))
        for name, cls in catalog.entries("metric").items()
        if fits(cls, original, published, matched=matched, timed=timed)
    )


def run_attacks(
    attacks: tuple[Attack, ...],
    truth: Data,
    target: Data,
    *,
    sensitive: Sensitive,
    seed: np.random.SeedSequence,
    engine: Engine,
    boxes: Data | None = None,
) -> tuple[AttackResult, ...]:
    """Run every attack; the same seed picks the same victims for raw and for published data.

    Where points were drawn from `boxes` that are published beside them, attacks that can see boxes see these: they are
    public as well, and the points in them, which are there by chance, say nothing more.
    """
    values = {attribute: list(listed) for attribute, listed in sensitive}
    results = []
    for position, attack in enumerate(attacks):
        engine.progress(f"attack {attack.name}")
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, position))
        beside = boxes is not None and type(boxes) in attack.targets
        seen = boxes if beside else target
        result = attack.run(truth, seen, sensitive=values, rng=np.random.default_rng(own), engine=engine)
        if beside:
            result = replace(result, adversary=f"{result.adversary}; sees the boxes beside the published points")
        results.append(result)
    return tuple(results)


def measure(metrics: tuple[Metric, ...], original: Data, published: Data, engine: Engine) -> tuple[Score, ...]:
    """Run every metric."""
    scores = []
    for metric in metrics:
        engine.progress(f"measure {metric.name}")
        scores.append(metric.run(original, published))
    return tuple(scores)


def results_json(results: tuple[AttackResult, ...] | tuple[Score, ...]) -> list[dict[str, Any]]:
    """Return attack results or scores as JSON can hold them."""
    return [_plain(result) for result in results]


def charts_json(charts: tuple[Chart, ...]) -> list[dict[str, Any]]:
    """Return charts as JSON can hold them."""
    return [_plain(chart) for chart in charts]


def verdict_json(verdict: Verdict, *, witness: bool) -> dict[str, Any]:
    """Return a verdict as JSON can hold it; the witness only for the data owner's eyes."""
    found: dict[str, Any] = {
        "holds": verdict.holds,
        "claim": verdict.claim.to_json(),
        "counted": verdict.counted,
        "measured": _plain(dict(verdict.measured)),
        "reason": verdict.reason,
        "not_judged": list(verdict.not_judged),
    }
    if witness:
        found["witness"] = None if verdict.witness is None else _plain(dict(verdict.witness))
    return found


def to_text(value: Any) -> str:
    """Return results as JSON text with sorted keys; what is not a finite number becomes null."""
    return json.dumps(_plain(value), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)
