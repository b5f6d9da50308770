"""What `wayveil inspect` says of an upload, for the page: names of files and no paths, answers that can be posted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wayveil.advice.recommendation import OUTDATED
from wayveil.commands.inspect import Answer, Inspection, choose_settings, inspect_file
from wayveil.recipe.recipe import make_input
from wayveil.web.upload_source import UploadSource

__all__ = ["inspect_upload"]

_FILES = ("known", "places", "zones", "network", "taxonomy", "owners")
_SENTENCES = ("guesses", "problems")


def inspect_upload(source: UploadSource, *, settings: bool = False) -> dict[str, Any]:
    """Return the object of ``wayveil inspect --json``, with what the page needs beside it.

    Each answer to a question also has ``input``: what is said of the input where this is the answer, to be posted
    next.  Where no question is left, ``recipe_text`` is the recipe as commented TOML, and ``run`` what starts it.
    `settings` are tried, as ``--write`` does, only where it is said: that takes longer.

    Raises
    ------
    InputError
        If the file cannot be read at all.
    """
    seen = inspect_file(make_input(dict(source.source_input)))
    if settings and seen.content is not None:
        seen = choose_settings(seen)
    content = seen.to_json()
    for question_json, question in zip(content["questions"], seen.questions, strict=True):
        question_json["question"] = source.sentence(question.text)
        for answer_json, answer in zip(question_json["answers"], question.answers, strict=True):
            answer_json["input"] = _answered(source.posted, answer)
    for name in _SENTENCES:
        content[name] = [source.sentence(text) for text in content[name]]
    if seen.refusal:
        content["cannot_be_published"] = source.sentence(seen.refusal)
    ready = seen.content is not None
    named: dict[str, Any] = _named(content, source)
    return {
        **named,
        "recipe_text": source.named(seen.recipe_text()) if ready else None,
        "run": _run(seen, source) if ready else None,
        "settings_tried": bool(seen.trials),
    }


def _answered(posted: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """Return what is said of the input once this answer is given."""
    changes = {**answer.changes}
    if "columns" in changes:
        changes["columns"] = {**(posted.get("columns") or {}), **changes["columns"]}
    return {**posted, **changes}


def _run(seen: Inspection, source: UploadSource) -> dict[str, Any]:
    """Return what is to be posted to /api/runs for the recipe."""
    assert seen.content is not None
    content: dict[str, Any] = _named(dict(seen.content), source)
    # Files of the input are uploads: the page knows them by their ids.
    files = {"path", *(key for key in _FILES if key in source.posted)}
    given = {key: value for key, value in content["input"].items() if key not in files}
    uploads = {key: source.posted[key] for key in files if key in source.posted}
    if not seen.trials and "guesses" in given:
        # Settings that were not tried are where the page begins, and not what was taken.
        given["guesses"] = [guess for guess in given["guesses"] if not guess.startswith(OUTDATED)]
    recipe = {
        "input": {**given, **uploads, "file": source.file},
        "prepare": content.get("prepare", []),
        "method": content["method"],
    }
    return {"what": "publish", "title": content["title"], "recipe": recipe}


def _named(value: Any, source: UploadSource) -> Any:
    """Return plain values with the names of files in all texts."""
    if isinstance(value, str):
        return source.named(value)
    if isinstance(value, Mapping):
        return {source.named(str(key)): _named(one, source) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_named(one, source) for one in value]
    return value
