"""A recipe of the command line, for the page: what it runs, and which files it reads, by their names."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from wayveil.comparison.comparison_recipe import Measure, Plan, load_plan
from wayveil.errors import UsageError
from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.recipe import EACH_TRAJECTORY, make_recipe

__all__ = ["open_recipe"]

_FILES = {"path": "data", **{key: key for key in ("network", "taxonomy", "places", "known", "zones", "owners")}}
"""The keys of [input] that are files, with the role of the upload."""
_MEASURED = ("attacks", "metrics", "measure", "max_risk", "use")
_OUTPUT = ("format", "keep", "with_raw")
_ELSEWHERE = ("engine", "blocks")  # where a recipe runs: this server decides that


def open_recipe(text: str) -> dict[str, Any]:
    """Return what the page needs to repeat a recipe: its title, its files by key, role and name, and its runs.

    Each run has a title and a recipe as the page posts it, without the files: these are chosen among uploads.  A
    recipe for `wayveil compare` has a run per setting.  `notes` are what the page does otherwise.

    Raises
    ------
    UsageError
        If it is no recipe, or one that can be run on the command line only; says what is wrong.
    """
    content = _parsed(text)
    if any(value.startswith("@") for value in _texts(content)):
        raise UsageError("This recipe reads the values of a parameter from another file ('@...'); write them into it.")
    runs, notes = _settings(text) if "setting" in content else _run(content)
    source = content["input"]
    return {
        "title": str(content.get("title", "")),
        "files": list(_files(source)),
        "runs": [{**run, "recipe": {"input": _without_files(source), **run["recipe"]}} for run in runs],
        "notes": notes,
    }


def _parsed(text: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
        plain: dict[str, Any] = json.loads(json.dumps(content, default=str, allow_nan=False))
    except (ValueError, RecursionError):
        raise UsageError("This is no recipe: it is not valid TOML.") from None
    if not isinstance(plain.get("input"), dict) or not isinstance(plain["input"].get("path"), str):
        raise UsageError("This is no recipe: it does not say in [input] which file is read.")
    return plain


def _run(content: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    make_recipe(content)
    output = content.get("output", {})
    recipe: dict[str, Any] = {
        "prepare": content.get("prepare", []),
        "method": content["method"],
        "output": {"format": "parquet", **{key: output[key] for key in _OUTPUT if key in output}},
        "seed": content.get("seed"),
        **{key: content[key] for key in _MEASURED if key in content},
    }
    notes = [
        f"{key!r} is left out: this server decides where a run takes place." for key in _ELSEWHERE if key in content
    ]
    notes += [
        f"{key!r} of [output] is left out: it is for the command line."
        for key in output
        if key not in (*_OUTPUT, "path", "overwrite")
    ]
    return [{"title": str(content.get("title", "")), "recipe": recipe}], notes


def _settings(text: str) -> tuple[list[dict[str, Any]], list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recipe.toml"
        file.write_text(text, encoding="utf-8")
        plan = load_plan(file)
    runs = []
    for setting in plan.settings:
        if setting.wrong:
            continue
        recipe = {
            "prepare": [{"step": step.name, **plain_parameters(step)} for step in setting.steps],
            "method": {"name": setting.method.name, **plain_parameters(setting.method)},
            "output": {"format": plan.format, "keep": list(plan.keep)},
            "seed": plan.seed,
            **_measured(plan),
        }
        runs.append({"title": " ".join(filter(None, (setting.name, setting.title))), "recipe": recipe})
    notes = [f"{setting.name} is left out: {setting.wrong}" for setting in plan.settings if setting.wrong]
    if plan.repeat > 1:
        notes.append("Each setting runs once: repetitions are for the command line.")
    return runs, notes


def _measured(plan: Plan) -> dict[str, Any]:
    """Return the attack and the metric that a comparison names, as a recipe lists them, and its limit."""

    def listed(measure: Measure | None) -> list[dict[str, Any]] | None:
        return None if measure is None else [{"name": measure.name, **measure.given}]

    named = {"attacks": listed(plan.risk), "metrics": listed(plan.loss), "max_risk": plan.max_risk}
    return {key: value for key, value in named.items() if value is not None}


def _files(source: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for key, role in _FILES.items():
        value = source.get(key)
        if value is None or value == EACH_TRAJECTORY:
            continue
        for one in value if isinstance(value, list) else [value]:
            yield {"key": key, "role": role, "name": str(one).replace("\\", "/").rpartition("/")[2]}


def _without_files(source: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in source.items() if key not in _FILES or value == EACH_TRAJECTORY}


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in plain values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
