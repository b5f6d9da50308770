"""What a recipe asks for beyond its method: random numbers, attacks and metrics."""

from __future__ import annotations

from typing import Literal

import numpy as np

from wayveil.model import Attack, Method, Metric, Sensitive
from wayveil.pipeline.folder.secret import Secret
from wayveil.recipe.defaults import default_attacks, default_metrics
from wayveil.recipe.protections import deciding_attacks
from wayveil.recipe.recipe import Recipe

__all__ = [
    "attacks_of",
    "comparable",
    "method_rng",
    "metrics_of",
    "rng_for",
    "sensitive_of",
    "sequence_for",
]

Purpose = Literal["method", "attacks"]
_SPAWN_KEY: dict[Purpose, int] = {"method": 0, "attacks": 2}


def rng_for(seed: int, purpose: Purpose, *block: int) -> np.random.Generator:
    """Return the random numbers of one purpose; those of one do not depend on how many another takes.

    They follow from a seed that may have been typed: nothing that hides anybody may come from them, see `method_rng`.
    """
    return np.random.default_rng(sequence_for(seed, purpose, *block))


def method_rng(method: Method, seed: int, secret: Secret, *block: int) -> np.random.Generator:
    """Return the random numbers of a method: of the seed alone, unless what it draws hides people.

    Such a method says so by a true `hides_by_chance`; then who guesses the seed must not be able to draw the same.
    """
    if method.hides_by_chance:
        return secret.rng("method", *block, seed=seed)
    return rng_for(seed, "method", *block)


def sequence_for(seed: int, purpose: Purpose, *block: int) -> np.random.SeedSequence:
    """Return the seed of one purpose; a block has one of its own."""
    return np.random.SeedSequence(seed, spawn_key=(_SPAWN_KEY[purpose], *block))


def sensitive_of(recipe: Recipe) -> Sensitive:
    """Return the values whose inference the claim bounds."""
    found: Sensitive = recipe.method.claim.sensitive
    return found


def attacks_of(recipe: Recipe) -> tuple[Attack, ...]:
    """Return the attacks that are asked for, or all that fit; those on which the promise depends are never left out."""
    if recipe.attacks is not None:
        return (*recipe.attacks, *deciding_attacks(recipe.method.claim, recipe.attacks))
    method = recipe.method
    return default_attacks(method.accepts, method.publishes, claim=method.claim, **comparable(method))


def metrics_of(recipe: Recipe) -> tuple[Metric, ...]:
    """Return the metrics that are asked for, or all that fit."""
    if recipe.metrics is not None:
        return recipe.metrics
    method = recipe.method
    return default_metrics(method.accepts, method.publishes, method=method, **comparable(method))


def comparable(method: Method) -> dict[str, bool]:
    """Return what of a publication can be compared with the original: which trajectory is which, and times."""
    return {"matched": not method.makes_parts, "timed": method.keeps_times}
