"""What every stage of a run knows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from wayveil.pipeline.blocks.store import Store
from wayveil.pipeline.folder.secret import Secret
from wayveil.recipe.measuring import Measuring
from wayveil.recipe.recipe import Recipe

__all__ = ["Job"]


@dataclass(frozen=True, kw_only=True)
class Job:
    """What every stage of a run needs to know; small, because it goes to every worker."""

    recipe: Recipe
    seed: int
    secret: Secret
    staged: Path
    store: Store
    several: bool
    measuring: Measuring

    def number_of(self, block: int) -> tuple[int, ...]:
        """Return what numbers a block among several: its random numbers and ids are its own."""
        return (block,) if self.several else ()
