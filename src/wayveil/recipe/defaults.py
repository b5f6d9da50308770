"""Which attacks and metrics a recipe asks for, or which fit where it asks for none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wayveil.model import (
    Attack,
    Guarantee,
    Method,
    Metric,
    Sensitive,
    parameters_of,
)
from wayveil.recipe import catalog
from wayveil.recipe.protections import deciding_attacks, plays
from wayveil.recipe.purpose import set_limit
from wayveil.recipe.recipe import Recipe

__all__ = [
    "attacks_of",
    "columns_of",
    "comparable",
    "default_attacks",
    "default_metrics",
    "fits",
    "is_ready",
    "metrics_of",
    "sensitive_of",
]


_CUTTING = ("window", "split", "areas")
"""Steps that cut trips of points into pieces."""


def sensitive_of(recipe: Recipe) -> Sensitive:
    """Return the values whose inference the claim bounds."""
    sensitive: Sensitive = recipe.method.claim.sensitive
    return sensitive


def columns_of(recipe: Recipe) -> tuple[str, ...]:
    """Return the columns with a value per trajectory that are read: of which the claim speaks, and what is kept."""
    claim = recipe.method.claim
    return tuple(dict.fromkeys([*(name for name, _ in claim.sensitive), *claim.private_columns, *recipe.output.keep]))


def attacks_of(recipe: Recipe) -> tuple[Attack, ...]:
    """Return the attacks that are asked for, or all that fit; those on which the promise depends are never left out.

    Where the recipe says which risk is accepted, people count as at risk above that.
    """
    # Named attacks are played, and besides them those without which a sentence of the claim would stand unproved.
    if recipe.attacks is not None:
        return set_limit((*recipe.attacks, *deciding_attacks(recipe.method.claim, recipe.attacks)), recipe.max_risk)
    method = recipe.method
    fitting = default_attacks(method.accepts, method.publishes, claim=method.claim, **comparable(method))
    return set_limit((*fitting, *_joining_attacks(recipe)), recipe.max_risk)


def _joining_attacks(recipe: Recipe) -> tuple[Attack, ...]:
    """Return the attack that joins pieces again, where the recipe cuts trips into pieces."""
    method = recipe.method
    cls = catalog.entry("attack", "linked_pieces")
    cut = any(step.name in _CUTTING for step in recipe.prepare)
    # Pieces of trips can be joined again only where trips were cut.
    if not cut or not fits(cls, method.accepts, method.publishes, **comparable(method)):
        return ()
    return (catalog.build("attack", "linked_pieces", {}),)


def metrics_of(recipe: Recipe) -> tuple[Metric, ...]:
    """Return the metrics that are asked for, or all that fit."""
    if recipe.metrics is not None:
        return recipe.metrics
    method = recipe.method
    return default_metrics(method.accepts, method.publishes, method=method, **comparable(method))


def comparable(method: Any) -> dict[str, bool]:
    """Return what of a publication can be compared with the original: which trajectory is which, times, and numbers."""
    return {
        "matched": not method.splits_trajectories or method.parts_in_time,
        "timed": method.keeps_times,
        "exact": not method.random_noise,
        "synthetic": method.synthetic,
    }


def fits(
    cls: Any,
    original: type,
    published: type,
    *,
    matched: bool,
    timed: bool = True,
    exact: bool = True,
    synthetic: bool = False,
) -> bool:
    """Return whether an attack or a metric can compare these kinds of data.

    A kind below the one that is accepted, as trips are below visits, can be compared with its own kind only.  `matched`
    says whether it is known which trajectories belong together, `timed` whether both have the same times, `exact`
    whether numbers have no noise, `synthetic` whether nothing that is published is anybody's.
    """
    # Trips are visits: what fits visits fits trips on both sides, but not a mixture of the two.
    kinds = cls.accepts is original and published in cls.targets
    if original is published and original is not cls.accepts:
        kinds = issubclass(original, cls.accepts) and cls.accepts in cls.targets
    about = cls.synthetic is None or cls.synthetic == synthetic
    return kinds and about and (matched or not cls.matched) and (timed or not cls.timed) and (exact or not cls.exact)


def is_ready(cls: Any, given: Mapping[str, Any]) -> bool:
    """Return whether an attack has what it cannot do without: `asks` names a parameter without a useful default."""
    return cls.asks is None or bool(given.get(cls.asks))


def default_attacks(
    original: type,
    published: type,
    *,
    claim: Guarantee | None = None,
    matched: bool = True,
    timed: bool = True,
    exact: bool = True,
    synthetic: bool = False,
) -> tuple[Attack, ...]:
    """Return every attack on these kinds of data, as strong as the claim says it withstands.

    An attacker of `m` visits knows as many as the claim allows, and people count as at risk above what it promises.
    An attack with a choice of what is known (at random, worst case) is run for each.
    """
    promised = {} if claim is None else claim.attack_settings
    attacks = []
    for name, cls in catalog.entries("attack").items():
        # Attacks follow the claim: they know what it allows an attacker to know, and count people above its bound.
        if fits(cls, original, published, matched=matched, timed=timed, exact=exact, synthetic=synthetic) and is_ready(
            cls, promised
        ):
            known = {p.name: p for p in parameters_of(cls)}
            settings = {} if claim is None else claim.settings_of(name)
            given = {key: value for key, value in settings.items() if key in known}
            given |= _whom(name, claim)
            # "at random" and "worst case" are two attackers, so both are played.
            choices = [{"choice": choice} for choice in known["choice"].choices] if "choice" in known else [{}]
            attacks += [catalog.build("attack", name, {**given, **choice}) for choice in choices]
    # Sentences of the claim whose attacker none of these plays get one of their own.
    attacks += [] if claim is None else _missing(attacks, claim, original, published, matched=matched, timed=timed)
    return tuple(attacks)


def _whom(name: str, claim: Guarantee | None) -> dict[str, Any]:
    """Return how many people an attack must try, where the claim says so of this attacker."""
    for protection in () if claim is None else claim.protects:
        settings = dict(protection.settings)
        if protection.attack == name and "victims" in settings:
            return {"victims": settings["victims"]}
    return {}


def _missing(
    attacks: Sequence[Attack], claim: Guarantee, original: type, published: type, *, matched: bool, timed: bool
) -> list[Attack]:
    """Return the attacks that play the attackers whom the claim stops, where none of those found does."""
    missing: list[Attack] = []
    for protection in claim.protects:
        cls = catalog.entry("attack", protection.attack)
        played = any(plays(attack, protection) for attack in (*attacks, *missing))
        if not played and fits(cls, original, published, matched=matched, timed=timed):
            missing.append(catalog.build("attack", protection.attack, dict(protection.settings)))
    return missing


def default_metrics(
    original: type,
    published: type,
    *,
    method: Method | None = None,
    matched: bool = True,
    timed: bool = True,
    exact: bool = True,
    synthetic: bool = False,
) -> tuple[Metric, ...]:
    """Return every metric on these kinds of data, with its default parameters.

    Where the method spared frequent sequences of a given support, the same sequences are looked for; where it takes a
    radius of uncertainty, queries take the same.
    """
    given = {} if method is None else method.metric_settings
    return tuple(
        catalog.build("metric", name, given.get(name, {}))
        for name, cls in catalog.entries("metric").items()
        if fits(cls, original, published, matched=matched, timed=timed, exact=exact, synthetic=synthetic)
    )
