"""What a recipe asks for beyond its method: random numbers, attacks and metrics."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from wayveil.model import Attack, Metric, Sensitive
from wayveil.run.recipe import Recipe
from wayveil.run.scores import default_attacks, default_metrics

__all__ = ["attacks_of", "comparable", "makes_parts", "metrics_of", "rng_for", "sensitive_of", "sequence_for"]

Purpose = Literal["method", "ids", "attacks", "pieces"]
_PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


def rng_for(seed: int, purpose: Purpose, *block: int) -> np.random.Generator:
    """Return the random numbers of one purpose; those of one do not depend on how many another takes."""
    return np.random.default_rng(sequence_for(seed, purpose, *block))


def sequence_for(seed: int, purpose: Purpose, *block: int) -> np.random.SeedSequence:
    """Return the seed of one purpose; a block has one of its own."""
    return np.random.SeedSequence(seed, spawn_key=(_PURPOSES.index(purpose), *block))


def sensitive_of(recipe: Recipe) -> Sensitive:
    """Return the values whose inference the claim bounds."""
    found: Sensitive = getattr(recipe.method.claim, "sensitive", ())
    return found


def attacks_of(recipe: Recipe) -> tuple[Attack, ...]:
    """Return the attacks that are asked for, or all that fit."""
    if recipe.attacks is not None:
        return recipe.attacks
    method = recipe.method
    return default_attacks(method.accepts, method.publishes, claim=method.claim, **comparable(method))


def metrics_of(recipe: Recipe) -> tuple[Metric, ...]:
    """Return the metrics that are asked for, or all that fit."""
    if recipe.metrics is not None:
        return recipe.metrics
    method = recipe.method
    return default_metrics(method.accepts, method.publishes, method=method, **comparable(method))


def comparable(method: Any) -> dict[str, bool]:
    """Return what of a publication can be compared with the original: which trajectory is which, and times."""
    return {"matched": not makes_parts(method), "timed": getattr(method, "times", "keep") == "keep"}


def makes_parts(method: Any) -> bool:
    """Return whether the published trajectories are parts of the original ones: then they cannot be matched."""
    return getattr(method, "makes_parts", False)
