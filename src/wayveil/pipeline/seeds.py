"""The random numbers of a run: a stream for each purpose, and one of its own for each block."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from wayveil.pipeline.folder.secret import Secret

__all__ = ["method_rng", "rng_for", "sequence_for"]

Purpose = Literal["method", "attacks"]
_SPAWN_KEY: dict[Purpose, int] = {"method": 0, "attacks": 2}


def rng_for(seed: int, purpose: Purpose, *block: int) -> np.random.Generator:
    """Return the random numbers of one purpose; those of one do not depend on how many another takes.

    They follow from a seed that may have been typed: nothing that hides anybody may come from them, see `method_rng`.
    """
    return np.random.default_rng(sequence_for(seed, purpose, *block))


def method_rng(method: Any, seed: int, secret: Secret, *block: int) -> np.random.Generator:
    """Return the random numbers of a method: of the seed alone, unless what it draws hides people.

    Such a method says so by a true `hides_by_chance`; then who guesses the seed must not be able to draw the same.
    """
    if method.hides_by_chance:
        return secret.rng("method", *block, seed=seed)
    return rng_for(seed, "method", *block)


def sequence_for(seed: int, purpose: Purpose, *block: int) -> np.random.SeedSequence:
    """Return the seed of one purpose; a block has one of its own."""
    return np.random.SeedSequence(seed, spawn_key=(_SPAWN_KEY[purpose], *block))
