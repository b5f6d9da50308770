"""A file that nobody described: what it is, the questions that are left, and a recipe that publishes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.commands.inspect.file_frame import FileFrame, read_frame, show_examples
from wayveil.commands.inspect.input_draft import InputDraft
from wayveil.commands.inspect.inspection import Answer, Inspection
from wayveil.commands.inspect.recipe_drafts import draft_recipes
from wayveil.commands.ladder import Candidate, Choice, choose_candidate
from wayveil.commands.table_files import check_file, write_file
from wayveil.engines import scratch_folder
from wayveil.errors import InputError
from wayveil.io.intake.profile import profile_table
from wayveil.pipeline.folder.published_input import with_manifest
from wayveil.pipeline.plain_input import name_input, place_input
from wayveil.recipe.recipe import InputSpec, make_input

__all__ = ["answer_question", "choose_settings", "inspect_file", "inspect_frame", "write_recipe"]


def inspect_file(spec: InputSpec, *, values: bool = False) -> Inspection:
    """Look at the file of an input, of which anything may be said already.

    Raises
    ------
    InputError
        If the file cannot be read at all.
    """
    shown = name_input(spec.path)
    declared, notes = with_manifest(spec)
    with scratch_folder() as folder:
        file = read_frame(declared, place_input(declared.path), shown, folder)
        return _inspect(file, declared, shown, values=values, notes=notes)


def inspect_frame(frame: pl.DataFrame, *, values: bool = False, **options: Any) -> Inspection:
    """Look at a table in memory; its recipe has a path to fill in."""
    spec = InputSpec(path=Path("table.parquet"), **options)
    return _inspect(FileFrame(frame=frame, words="a table in memory"), spec, "table", values=values)


def _inspect(file: FileFrame, spec: InputSpec, shown: str, *, values: bool, notes: tuple[str, ...] = ()) -> Inspection:
    frame = file.frame
    profile = profile_table(frame, geometry=file.geometry, named=_named_columns(spec, frame.columns))
    draft = InputDraft(profile, spec, file, shown, notes)
    content: Mapping[str, Any] | None = None
    candidates: tuple[Candidate, ...] = ()
    if not draft.questions and not draft.refusal:
        content, candidates = draft_recipes(draft)
    return Inspection(
        file=shown,
        format=file.words,
        profile=profile,
        dialect=file.dialect,
        questions=tuple(draft.questions),
        refusal=draft.refusal,
        guesses=tuple(draft.guesses) if content is None else tuple(content["input"]["guesses"]),
        content=content,
        examples={name: show_examples(frame[name]) for name in frame.columns} if values else {},
        candidates=candidates,
    )


def _named_columns(spec: InputSpec, names: list[str]) -> dict[str, str]:
    """Return the columns that somebody named, as far as they are there; InputError where one is not."""
    columns = {ours: name for ours, name in spec.columns.items() if name in names}
    missing = sorted(name for name in spec.columns.values() if name not in names and "[" not in name)
    if missing:
        raise InputError(f"{name_input(spec.path)}: --columns names a column that is not there: {', '.join(missing)}.")
    position = spec.positions.get("point")
    if position is not None and position.order is not None:
        columns["order"] = position.order
    if position is not None and position.format is not None:
        columns["form"] = position.format
    times = spec.times.get("t")
    if times is not None and times.columns[0] in names:
        columns["t"] = times.columns[0]
    return columns


def answer_question(spec: InputSpec, answer: Answer) -> InputSpec:
    """Return an input with an answer in it."""
    answers = spec.model_dump(exclude_defaults=True)
    changes = {**answer.changes}
    if "columns" in changes:
        changes["columns"] = {**spec.columns, **changes["columns"]}
    if "positions" in changes:
        known = answers.get("positions", {}).get("point", {})
        changes["positions"] = {"point": {**known, **changes["positions"]["point"]}}
    return make_input({**answers, **changes})


def choose_settings(seen: Inspection, progress: Callable[[str], None] = lambda line: None) -> Inspection:
    """Return an inspection with the finest settings that keep half of a sample of its file; see `ladder`."""
    if not seen.candidates:
        return seen
    choice = choose_candidate(seen.candidates, progress=progress)
    content = {**choice.taken.candidate.content}
    guesses = (*content["input"]["guesses"], _choice_words(choice))
    content["input"] = {**content["input"], "guesses": list(guesses)}
    return replace(seen, content=content, guesses=guesses, trials=choice.trials)


def _choice_words(choice: Choice) -> str:
    """Say what was tried, and what to do where little is left whatever the settings."""
    shares = choice.taken.shares
    left = " and ".join(f"{share:.0%} of {what}" for what, share in shares.items() if what != "people")
    if choice.enough:
        finer = len(choice.trials) - 1
        others = f"; {finer} finer {'setting' if finer == 1 else 'settings'} left less than half" if finer else ""
        return f"Tried before this was written: {left} that were read are left{others}."
    last = choice.taken.candidate.content
    located = last["input"]["kind"] == "points" or "places" in last["input"]
    why = (
        "too few people are at one place at one time, and coarser settings would say hardly anything"
        if located
        else "too many places have too few people; give coordinates of the places with --places, and they become zones"
    )
    return f"Little is left: the coarsest of {len(choice.trials)} settings leaves {left or 'nothing'}: {why}."


def write_recipe(seen: Inspection, out: Path, *, overwrite: bool = False) -> None:
    """Write the recipe of an inspection; InputError where questions are left."""
    check_file(out, overwrite=overwrite, endings=(".toml",))
    text = seen.recipe_text(out.parent)
    write_file(out, lambda path: path.write_text(text, encoding="utf-8"))
