"""What a publication lost of the original."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, UsageError
from wayveil.model import Data, Engine, Method, Metric, Score
from wayveil.pipeline.evaluate import measure
from wayveil.pipeline.folder.fetched_files import fetched_folder, fetched_input
from wayveil.pipeline.folder.manifest import read_manifest
from wayveil.pipeline.folder.staging import MANIFEST
from wayveil.pipeline.input import prepare, read_any
from wayveil.recipe import catalog
from wayveil.recipe.defaults import default_metrics
from wayveil.recipe.recipe import InputSpec

__all__ = ["loss", "measure_loss"]


def loss(
    original: InputSpec, published: Path, *, steps: tuple[Any, ...] = (), engine: Engine | None = None
) -> tuple[Score, ...]:
    """Measure what a publication (a folder, or a table) lost of the original."""
    with fetched_input(original) as source, fetched_folder(published) as place:
        return _loss(source, place, steps=steps, engine=engine)


def _loss(original: InputSpec, published: Path, *, steps: tuple[Any, ...], engine: Engine | None) -> tuple[Score, ...]:
    before = prepare(read_any(original, attributes=())[0], steps, original).data
    after = read_any(_like(original, published), attributes=(), counts_people=False)[0].data
    return measure_loss(before, after, method=_method_of(published), engine=engine)


def measure_loss(
    before: Data,
    after: Data,
    *,
    metrics: Sequence[Metric] | None = None,
    method: Method | None = None,
    engine: Engine | None = None,
) -> tuple[Score, ...]:
    """Run metrics, by default all that fit, on the original and what was published of it.

    Where the `method` is known, they are set as in its own runs: numbers of flows are compared with flows.
    """
    timed = before.time_format == after.time_format
    if metrics is None:
        fitting = default_metrics(type(before), type(after), method=method, matched=False, timed=timed)
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


def _method_of(published: Path) -> Method | None:
    """Return the method of a published folder, with its parameters; None of a table, which does not say it.

    A manifest that names a method or parameters of another version says nothing here: metrics keep their defaults.
    """
    public = published / "public" if (published / "public").is_dir() else published
    if not (public / MANIFEST).is_file():
        return None
    manifest, _ = read_manifest(public)
    try:
        method: Method = catalog.build("method", manifest.method, dict(manifest.parameters))
    except UsageError:
        return None
    return method


def _like(original: InputSpec, published: Path) -> InputSpec:
    """Return how to read a publication: a folder says it itself, a table has coordinates like the original's."""
    return InputSpec(path=published, crs=None if published.is_dir() else original.crs)
