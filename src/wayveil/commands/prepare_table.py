"""Preparation steps on their own: a table to a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from wayveil.commands.table_files import check_file, write_beside, write_data, write_file
from wayveil.errors import InputError, UsageError
from wayveil.pipeline.folder.fetched_files import fetched_input
from wayveil.pipeline.input import Prepared, load, prepare
from wayveil.recipe.recipe import InputSpec

__all__ = ["prepare_table"]


def prepare_table(
    spec: InputSpec, step: Any, out: Path, *, attributes: tuple[str, ...] | None = None, overwrite: bool = False
) -> Prepared:
    """Run one preparation step on a table and write the result with the ids of the input."""
    check_file(out, overwrite=overwrite)
    with fetched_input(spec) as source:
        return _prepare_table(source, step, out, attributes=attributes, overwrite=overwrite)


def _prepare_table(
    spec: InputSpec, step: Any, out: Path, *, attributes: tuple[str, ...] | None, overwrite: bool
) -> Prepared:
    loaded = load(spec, attributes=attributes, counts_people=False)
    prepared = prepare(loaded, (step,), spec)
    if loaded.data.owners == "declared" and prepared.data.owners == "given":
        raise InputError(
            f"{spec.path}: {step.name} makes several trajectories of one, and the table must say that they are of one "
            "person: give the column of the person as --columns user_id=NAME; where each trajectory is another person "
            "that is the column of traj_id."
        )
    if getattr(prepared.data, "known", None) is not None:
        raise UsageError(
            f"A table cannot hold what {step.name} marks. Give the step to publish, risk or utility with --prepare, or "
            "list the points in a table for --known."
        )
    if prepared.data.shared == "taxonomy":
        write_beside(prepared.data, out, overwrite=overwrite, private=True)
    write_file(out, lambda path: write_data(prepared.data, path, ids=_distinct(prepared.ids)))
    return prepared


def _distinct(ids: pl.Series) -> list[str]:
    """Return ids that tell the parts of a split trajectory apart: x, x.2, x.3."""
    texts = ids.cast(pl.String).to_list()
    taken = set(texts)
    times = dict.fromkeys(texts, 0)
    names = []
    for text in texts:
        times[text] += 1
        name = text
        while times[text] > 1 and name in taken:
            name = f"{text}.{times[text]}"
            times[text] += name in taken
        taken.add(name)
        names.append(name)
    return names
