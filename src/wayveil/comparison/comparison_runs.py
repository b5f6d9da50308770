"""The cells of a comparison: each is an ordinary publication in a folder of its own, and is run once.

The folder is named after everything that decides the result: the content of the input files, the recipe, the seed and
the versions.  ``result.json`` appears in it in one step when the cell is finished; a folder without one is what a run
left that was stopped, and is made again from scratch.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from wayveil.comparison.comparison_measures import ComparisonMeasures
from wayveil.comparison.comparison_recipe import Plan, Setting
from wayveil.errors import InputError, OutputError, WayveilError, describe_bug
from wayveil.model import Data, Engine, Progress
from wayveil.pipeline.folder.manifest import versions
from wayveil.pipeline.folder.staging import MANIFEST, reporting_disk_errors, write_private
from wayveil.pipeline.publish import NotPublished, Outcome, publish
from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.recipe import InputSpec, Recipe, make_recipe
from wayveil.recipe.toml import recipe_text
from wayveil.report.results_json import results_json, to_text, verdict_json

__all__ = ["RESULT", "ComparisonRun", "input_hashes", "make_run", "private_text", "ready_to_run", "run_cell"]

RESULT = "result.json"
_FILES = ("path", "known", "places", "zones", "network", "taxonomy")

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class ComparisonRun:
    """One publication of a comparison: its recipe, and `key`, which is everything that decides its result."""

    setting: Setting
    recipe: Recipe
    key: Mapping[str, Any]

    @property
    def folder(self) -> Path:
        """Where the publication goes."""
        return self.recipe.output.path


def make_run(
    plan: Plan, setting: Setting, measures: ComparisonMeasures, seed: int, hashes: Mapping[str, Any]
) -> ComparisonRun:
    """Return the cell of a setting; its folder follows from its content.  UsageError if the recipe does not fit."""
    options = plan.input.model_dump(mode="json", exclude={*_FILES, "owners"}, exclude_defaults=True)
    options["each_trajectory"] = plan.input.each_trajectory
    # Everything that decides the result, and nothing else: a change of any of it is another cell.
    key: dict[str, Any] = {
        "versions": versions(),
        "files": dict(hashes),
        "input": options,
        "steps": [_configured(step) for step in setting.steps],
        "method": _configured(setting.method),
        "attack": _configured(measures.attack),
        "metric": _configured(measures.metric),
        "original_steps": measures.n_common if measures.prepared else None,
        "seed": seed,
        "format": plan.format,
        "keep": list(plan.keep),
    }
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    recipe = make_recipe(
        {
            "title": setting.name,
            "seed": seed,
            "input": plan.input,
            "prepare": setting.steps,
            "method": setting.method,
            "attacks": (measures.attack,),
            "metrics": measures.metrics,
            "output": {"path": plan.out / "cells" / digest[:16], "format": plan.format, "keep": plan.keep},
        }
    )
    return ComparisonRun(setting=setting, recipe=recipe, key=key)


def input_hashes(spec: InputSpec) -> dict[str, Any]:
    """Return what the files of an input hold, as hashes; InputError if one cannot be read."""
    named = {name: getattr(spec, name) for name in _FILES}
    hashes: dict[str, Any] = {name: _hash(path) for name, path in named.items() if path is not None}
    return {**hashes, "owners": [_hash(path) for path in spec.owner_tables]}


def run_cell(
    cell: ComparisonRun, measures: ComparisonMeasures, original: Callable[[], Data], engine: Engine, progress: Progress
) -> tuple[dict[str, Any], bool]:
    """Return the result of a cell, and whether it had to be run.

    `original` is asked for before anything is run, so that an input that cannot be read is one error and not many.
    """
    # Finished means: the same key, and the manifest that the result names.
    known = _finished(cell)
    if known is not None:
        return known, False
    truth = original()
    with reporting_disk_errors(cell.folder):
        if cell.folder.exists():
            shutil.rmtree(cell.folder)
    began = time.perf_counter()
    listener = _Listener(engine=engine, progress=progress)
    try:
        result = {"status": "verified", **_published(cell, measures, truth, listener)}
    # A full disk is no result of a setting: everything stops.
    except OutputError:
        raise
    except WayveilError as error:
        outcome = error.outcome if isinstance(error, NotPublished) else None
        result = {"status": "failed", "reason": _reason(error, outcome), **(_measured(outcome) if outcome else {})}
    except Exception as error:  # one method's bug must not take the others along; it is not kept as a result either
        return {"status": "failed", "reason": describe_bug(error), "seconds": time.perf_counter() - began}, True
    # Compiling is paid once per machine, and no property of a setting.
    result["seconds"] = time.perf_counter() - began - result.get("timings_s", {}).get("compile kernels", 0.0)
    with reporting_disk_errors(cell.folder):
        cell.folder.mkdir(parents=True, exist_ok=True)
        cell.folder.parent.chmod(0o700)  # the folder above may be one that others can enter
        private_text(cell.folder / "recipe.toml", ready_to_run(cell.recipe, cell.folder, Path("again")))
        # The result comes last: a folder without one was stopped, and is made again.
        private_text(cell.folder / RESULT, to_text({"key": cell.key, **result}))
    return _plain(result), True


def ready_to_run(recipe: Recipe, folder: Path, output: Path) -> str:
    """Return a recipe as text for a file in `folder`: the same attack first, so the same risk, and all metrics."""

    def beside(path: Path) -> Path:
        return Path(os.path.relpath(path.resolve(), folder.resolve()))

    files = {name: beside(path) for name in _FILES if (path := getattr(recipe.input, name)) is not None}
    source = recipe.input.model_copy(update=files).with_owner_tables(beside)
    target = recipe.output.model_copy(update={"path": output})
    return recipe_text(recipe.model_copy(update={"input": source, "output": target, "metrics": None}))


def private_text(path: Path, text: str) -> None:
    """Write a file that only its owner can read, in one step: it holds a seed or the verdict on a cell."""
    part = path.with_name(f".{path.name}.part")
    write_private(part, text)
    os.replace(part, path)


@dataclass(frozen=True, kw_only=True)
class _Listener:
    """An engine that tells its progress to somebody else."""

    engine: Engine
    progress: Progress

    @property
    def workers(self) -> int:
        return self.engine.workers

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        return self.engine.map(function, items)


def _published(cell: ComparisonRun, measures: ComparisonMeasures, original: Data, engine: Engine) -> dict[str, Any]:
    outcome = publish(cell.recipe, engine=engine)
    measured = _measured(outcome)
    if measures.prepared and outcome.public is not None:
        engine.progress(f"measure {measures.metric.name}")
        score = measures.measure(original, outcome.public, cell.setting, cell.recipe.input)
        measured["score"] = _number_parts(results_json((score,))[0])
    return {"reason": outcome.verdict.reason, "manifest_sha256": outcome.manifest_sha256, **measured}


def _measured(outcome: Outcome) -> dict[str, Any]:
    """Return the numbers of a run, without charts."""
    raw, published = (results_json(pair) for pair in zip(*outcome.attacks, strict=True))
    scores = results_json(outcome.scores)
    return {
        "verdict": verdict_json(outcome.verdict, witness=False),
        "attack": {"raw": _number_parts(raw[0]), "published": _number_parts(published[0])},
        "score": _number_parts(scores[0]) if scores else None,
        "shares": outcome.remaining.shares,
        "timings_s": dict(outcome.timings),
        "notes": list(outcome.notes),
    }


def _number_parts(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name != "charts"}


def _finished(cell: ComparisonRun) -> dict[str, Any] | None:
    """Return the result of a cell that is finished and whole, else None."""
    try:
        measured = json.loads((cell.folder / RESULT).read_text(encoding="utf-8"))
        # Compared as they are after JSON, where tuples are lists.
        same = measured.pop("key") == _plain(cell.key)
        if measured["status"] == "verified":
            manifest = (cell.folder / "public" / MANIFEST).read_bytes()
            same = same and hashlib.sha256(manifest).hexdigest() == measured["manifest_sha256"]
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return None
    return measured if same else None


def _reason(error: WayveilError, outcome: Outcome | None) -> str:
    return str(error) if outcome is None else f"The verdict fails: {outcome.verdict.reason}"


def _configured(entry: Any) -> dict[str, Any]:
    return {"name": entry.name, **plain_parameters(entry)}


def _plain(value: Any) -> Any:
    """Return a value as it is after writing and reading."""
    return json.loads(to_text(value))


def _hash(path: Path) -> Any:
    """Return the hash of a file, or of all files in a folder by name."""
    try:
        if path.is_dir():
            inside = sorted(p for p in path.rglob("*") if p.is_file())
            return {str(p.relative_to(path)): _hash(p) for p in inside}
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"The input {str(path)!r} cannot be read: {error.strerror}.") from None
