"""A recipe as the text of a TOML file that gives the same recipe again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wayveil.recipe.catalog import plain_parameters
from wayveil.recipe.recipe import Recipe

__all__ = ["recipe_text", "to_toml"]


def recipe_text(recipe: Recipe, *, seed: bool = True, names_only: bool = False) -> str:
    """Return the recipe as TOML; without the seed, or with the names of files only, where others may read it."""

    def file(path: Path) -> str:
        return path.name if names_only else str(path)

    # Only what differs from the defaults: a recipe says what was decided.
    source: dict[str, Any] = {}
    for name, value in recipe.input.model_dump(exclude_defaults=True).items():
        if isinstance(value, Path):
            value = file(value)
        elif name == "owners" and not isinstance(value, str):
            value = [file(path) for path in value]
        # TOML has lists, no tuples.
        source[name] = list(value) if isinstance(value, tuple) else value
    output = {**recipe.output.model_dump(exclude_defaults=True), "path": file(recipe.output.path)}
    if recipe.output.sign_key is not None:
        output["sign_key"] = file(recipe.output.sign_key)
    if "keep" in output:
        output["keep"] = list(output["keep"])
    parts: dict[str, Any] = {
        **({"title": recipe.title} if recipe.title else {}),
        **({} if recipe.max_risk is None else {"max_risk": str(recipe.max_risk)}),
        **({} if recipe.use is None else {"use": recipe.use}),
        **({} if recipe.measure == "quick" else {"measure": recipe.measure}),
        **({"seed": recipe.seed} if seed and recipe.seed is not None else {}),
        **({"engine": recipe.engine} if recipe.engine != "local" else {}),
        "input": source,
        "prepare": [_part("step", step) for step in recipe.prepare],
        "method": _part("name", recipe.method),
        "attacks": None if recipe.attacks is None else [_part("name", attack) for attack in recipe.attacks],
        "metrics": None if recipe.metrics is None else [_part("name", metric) for metric in recipe.metrics],
        "blocks": None if recipe.blocks is None else recipe.blocks.model_dump(),
        "output": output,
    }
    # Empty lists are left out, except where they mean something: no attacks is not the same as not having said which.
    return to_toml({key: value for key, value in parts.items() if value or value == 0 or key in ("attacks", "metrics")})


def to_toml(content: Mapping[str, Any]) -> str:
    """Return a mapping of plain values, tables and lists of tables as TOML; None is left out.

    Examples
    --------
    >>> print(to_toml({"seed": 1, "method": {"name": "kcl", "c": "0.5"}, "prepare": [{"step": "cut"}]}), end="")
    seed = 1
    <BLANKLINE>
    [method]
    name = "kcl"
    c = "0.5"
    <BLANKLINE>
    [[prepare]]
    step = "cut"
    """
    # Plain values first, then tables: a value behind a table would belong to it.
    blocks = ["".join(f"{_key(k)} = {_value(v)}\n" for k, v in content.items() if v is not None and not _is_table(v))]
    for name, value in content.items():
        if isinstance(value, Mapping):
            blocks.append(f"[{_key(name)}]\n{_rows(value)}")
        elif _is_table(value):
            blocks += [f"[[{_key(name)}]]\n{_rows(row)}" for row in value]
    return "\n".join(block for block in blocks if block)


def _part(key: str, configured: Any) -> dict[str, Any]:
    return {key: configured.name, **plain_parameters(configured)}


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _rows(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items() if value is not None)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else json.dumps(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    # JSON and TOML quote texts alike, but for one control character.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
