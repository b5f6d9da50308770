"""What the page posts for a run -> a checked recipe that names files as people do, and which uploads they are."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayveil.advice import USES
from wayveil.errors import UsageError
from wayveil.recipe import catalog
from wayveil.recipe.forms import claim_words
from wayveil.recipe.recipe import EACH_TRAJECTORY, InputSpec, Recipe, make_input, make_recipe
from wayveil.recipe.toml import recipe_text
from wayveil.web.files import Files

__all__ = ["OUT", "Request", "read_input", "read_method", "read_request", "source_of", "with_uploads"]

OUT = "publication"
"""The folder that the downloaded recipe writes to."""

_ONE = {"file": "path", **{key: key for key in ("network", "taxonomy", "places", "known", "zones")}}
"""The keys of [input] that are files: of each the page posts the id of an upload, never a path."""
_MEASURED = ("attacks", "metrics", "measure", "max_risk", "use")
_SEARCH = ("use", "max_risk", "budget_minutes")
_KEYS = {
    "publish": ("input", "prepare", "method", "output", "seed", *_MEASURED),
    "risk": ("input", "prepare", "sensitive", "seed"),
    "advise": ("input", "prepare", "method", "seed", *_SEARCH),
}
_MOST_MINUTES = 60
_OUTPUT = ("format", "keep", "with_raw")
_LONGEST = 200


@dataclass(frozen=True, kw_only=True)
class Request:
    """A run that can be queued.

    `file_bytes` is the size of the data.  `uploads` are the ids of files by the key of the recipe's [input], `names`
    what they are called.  `text` is the recipe as TOML, with the names only; `content` is what a risk is made of, or
    how to search for settings; `claim` is the promise in words.
    """

    what: str
    title: str
    method: str | None
    file: str
    file_id: str
    file_bytes: int
    uploads: Mapping[str, Any]
    names: Mapping[str, str]
    text: str
    content: Mapping[str, Any]
    claim: Mapping[str, Any] | None


def read_request(posted: Any, files: Files) -> Request:
    """Check what was posted; UsageError or Refused with one sentence if it cannot be run."""
    body = _table(posted, "the request")
    what = body.get("what")
    if what not in _KEYS:
        raise UsageError("A run must say what it is: publish, risk or advise.")
    recipe = _table(body.get("recipe"), "recipe")
    # Keys are listed per kind of run; what is not listed, such as an engine or a path, cannot be set from a browser.
    unknown = [key for key in recipe if key not in _KEYS[what]]
    if unknown:
        raise UsageError(f"A run to {what} takes {', '.join(_KEYS[what])}; not {unknown[0]!r}.")
    title = body.get("title") or ""
    if not isinstance(title, str) or len(title) > _LONGEST or not title.isprintable():
        raise UsageError(f"The title must be one line of at most {_LONGEST} characters.")
    source, uploads, names = read_input(_table(recipe.get("input"), "input"), files)
    steps = [_entry("step", "step", step) for step in _list(recipe.get("prepare"), "prepare")]
    common = {"input": source, "prepare": steps, "seed": _seed(recipe.get("seed"))}
    if what in ("publish", "advise"):
        given = _table(recipe.get("output") or {}, "output")
        wrong = [key for key in given if key not in _OUTPUT]
        if wrong:
            raise UsageError(f"The output takes {', '.join(_OUTPUT)}; not {wrong[0]!r}.")
        # Where results go is for the server to say.
        output = {**{key: value for key, value in given.items() if value is not None}, "path": OUT}
        method = _entry("method", "name", recipe.get("method"))
        measured = _measured(recipe) if what == "publish" else {}
        # The same check as for a file on the command line, so errors are the same sentences.
        checked = make_recipe({**common, "method": method, "output": output, "title": title, **measured})
        text = recipe_text(checked)
        content = {} if what == "publish" else _search(recipe)
        name = checked.method.name
        claim = claim_words(checked.method, each_trajectory=checked.input.each_trajectory)
    else:
        text = ""
        content = _risk(recipe, common)
        name = None
        claim = None
    shown = names[uploads["path"]]
    usual = {"publish": f"{name}: {shown}", "risk": f"Risk in {shown}", "advise": f"Settings for {shown}"}
    heading = title or usual[what]
    return Request(
        what=what, title=heading, method=name, file=shown, file_id=uploads["path"],
        file_bytes=files.get(uploads["path"])["bytes"], uploads=uploads, names=names,
        text=text, content=content, claim=claim,
    )  # fmt: skip


def read_method(posted: Any) -> Any:
    """Return the method that a form describes, configured; UsageError if a value is wrong."""
    given = _entry("method", "name", _table(posted, "the request").get("method"))
    return catalog.build("method", given.pop("name"), given)


def with_uploads(spec: InputSpec, uploads: Mapping[str, Any], path_of: Mapping[str, Path]) -> InputSpec:
    """Return the input with the paths of uploads in place of names."""
    # Names in the recipe are those that users gave; only here they become paths of this machine.
    real: dict[str, Any] = {key: path_of[id] for key, id in uploads.items() if key != "owners"}
    if "owners" in uploads:
        real["owners"] = tuple(path_of[id] for id in uploads["owners"])
    return spec.model_copy(update=real)


def source_of(recipe: Recipe, uploads: Mapping[str, Any]) -> str:
    """Return a text that is the same for runs that read the same files in the same way."""
    # Files count by the id of their upload, not by their names.
    how = recipe.input.model_dump(mode="json", exclude={*_ONE.values(), "owners"})
    how["each_trajectory"] = recipe.input.each_trajectory
    return json.dumps({"uploads": uploads, "how": how}, sort_keys=True)


def read_input(given: dict[str, Any], files: Files) -> tuple[dict[str, Any], dict[str, Any], dict[str, str]]:
    """Return [input] with names of files, the ids of uploads by its keys, and their names; UsageError if wrong."""
    source: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if "path" in source or "file" not in source:
        raise UsageError("The input must say which uploaded file it is: give its id as 'file'.")
    uploads: dict[str, Any] = {_ONE[key]: source.pop(key) for key in _ONE if key in source}
    # Either a word that declares each trajectory a person, or tables that say who owns what.
    if source.get("owners") != EACH_TRAJECTORY:
        owners = _list(source.pop("owners", None), "owners")
        if owners:
            uploads["owners"] = owners
    ids = [id for value in uploads.values() for id in (value if isinstance(value, list) else [value])]
    names = {id: files.get(id)["name"] for id in ids}
    # The recipe knows files by name, so each name must mean one file.
    if len(set(names.values())) < len(names):
        raise UsageError("Two different files of this run have the same name; upload one of them under another name.")
    for key, value in uploads.items():
        source[key] = [names[id] for id in value] if isinstance(value, list) else names[value]
    return source, uploads, names


def _measured(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe says of how the result is measured and judged; what is not said is chosen as usual."""
    given = {key: recipe[key] for key in _MEASURED if recipe.get(key) is not None}
    families: dict[str, Any] = {"attacks": "attack", "metrics": "metric"}
    for key in families.keys() & given.keys():
        given[key] = [_entry(families[key], "name", one) for one in _list(given[key], key)]
    return given


def _search(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return how to search for settings, checked."""
    search = {key: recipe[key] for key in _SEARCH if recipe.get(key) is not None}
    if "use" in search and search["use"] not in USES:
        raise UsageError(f"There is no such use; known: {', '.join(USES)}.")
    for key, high in (("max_risk", 1.0), ("budget_minutes", float(_MOST_MINUTES))):
        # What is not given passes: the upper limit is a valid value.
        value = search.get(key, high)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= high:
            raise UsageError(f"{key} must be a number above 0 and at most {high:g}.")
    return search


def _risk(recipe: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a risk is made of, checked."""
    make_input(dict(common["input"]))
    for step in common["prepare"]:
        catalog.build("step", step["step"], {key: value for key, value in step.items() if key != "step"})
    sensitive = _table(recipe.get("sensitive") or {}, "sensitive")
    if not all(isinstance(v, list) and v and all(isinstance(item, str) for item in v) for v in sensitive.values()):
        raise UsageError("Sensitive values must be given as lists, by attribute.")
    return {**common, "sensitive": sensitive}


def _entry(family: Any, key: str, given: Any) -> dict[str, Any]:
    """Return a method or step with values as a recipe holds them; texts of a form become numbers."""
    table = _table(given, family)
    name = table.get(key)
    if not isinstance(name, str):
        raise UsageError(f"Every {family} must say its name as {key!r}.")
    known = {p.name: p for p in catalog.parameters(family, name)}
    entry: dict[str, Any] = {key: name}
    for parameter, value in table.items():
        # An empty field of a form is the default.
        if parameter == key or value is None or value == "":
            continue
        if isinstance(value, str) and value.startswith("@"):
            # On the command line that names a table on this machine.
            raise UsageError(f"{name}: {parameter} must not begin with '@'.")
        declared = known.get(parameter)
        if declared is not None and declared.kind == "int" and isinstance(value, str):
            value = declared.parse(name, value)
        entry[parameter] = value
    return entry


def _seed(given: Any) -> int:
    """Return the seed, or a fresh secret one, so that the downloaded recipe gives the same bytes."""
    if given is None:
        return secrets.randbits(128)
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise UsageError("The seed must be an integer of 0 or more.")
    return given


def _table(value: Any, name: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"The request is not understood: {name} must be an object.")
    return dict(value)


def _list(value: Any, name: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or len(value) > 1000:
        raise UsageError(f"The request is not understood: {name} must be a list.")
    return list(value)
