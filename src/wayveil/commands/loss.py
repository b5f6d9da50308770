"""What a publication lost of the original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.model import Data, Engine, Metric, Score
from wayveil.pipeline.evaluate import measure
from wayveil.pipeline.input import prepare, read_any
from wayveil.recipe.defaults import default_metrics
from wayveil.recipe.recipe import InputSpec

__all__ = ["loss", "measure_loss"]


def loss(
    original: InputSpec, published: Path, *, steps: tuple[Any, ...] = (), engine: Engine | None = None
) -> tuple[Score, ...]:
    """Measure what a publication (a folder, or a table) lost of the original."""
    before = prepare(read_any(original, attributes=())[0], steps, original).data
    after = read_any(_like(original, published), attributes=(), counts_people=False)[0].data
    return measure_loss(before, after, engine=engine)


def measure_loss(
    before: Data, after: Data, *, metrics: Sequence[Metric] | None = None, engine: Engine | None = None
) -> tuple[Score, ...]:
    """Run metrics, by default all that fit, on the original and what was published of it."""
    timed = before.time_format == after.time_format
    if metrics is None:
        fitting = default_metrics(type(before), type(after), matched=False, timed=timed)
        # What needs to know whose a published trajectory is cannot be measured from the two tables alone.
        metrics = tuple(metric for metric in fitting if not metric.owned)
    if not metrics and not timed:
        raise InputError(
            f"The times of the two tables cannot be compared: {before.time_format} and {after.time_format}."
        )
    if not metrics:
        kinds = (before.kind, after.kind)
        raise InputError(f"The original holds {kinds[0]} and the publication {kinds[1]}; these cannot be compared.")
    return measure(tuple(metrics), before, lambda _: after, engine or LocalEngine())


def _like(original: InputSpec, published: Path) -> InputSpec:
    """Return how to read a publication: a folder says it itself, a table has coordinates like the original's."""
    return InputSpec(path=published, crs=None if published.is_dir() else original.crs)
