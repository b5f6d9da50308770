"""Tables and published folders -> data, with the checks that every method needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError, UsageError, closest
from wayveil.io import Loaded, ReadOptions, guess_kind, read_published, read_visits
from wayveil.model import Coded, Sensitive, Visits
from wayveil.model.ragged import IntArray
from wayveil.run.manifest import Manifest, published_name, read_manifest
from wayveil.run.recipe import InputSpec
from wayveil.run.staging import MANIFEST

__all__ = [
    "Prepared",
    "check_sensitive",
    "find_public",
    "join_owners",
    "load",
    "load_published",
    "prepare",
    "read_any",
]


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """Data after the preparation steps, the ids of its trajectories, and what was assumed or changed."""

    data: Visits
    ids: pl.Series
    notes: tuple[str, ...]


def load(spec: InputSpec, *, attributes: tuple[str, ...] | None) -> Loaded:
    """Read an input table; `attributes` limits what is read (None: all)."""
    options = ReadOptions(columns=dict(spec.columns), on_duplicate_time=spec.on_duplicate_time, attributes=attributes)
    kind = spec.kind or guess_kind(spec.path, options)
    if kind != "visits":
        raise InputError(f"The input {str(spec.path)!r} holds {kind}; this command needs visits.")
    return read_visits(spec.path, options)


def find_public(folder: Path) -> Path:
    """Return the public folder that `folder` is or has; InputError if there is none."""
    for candidate in (folder, folder / "public"):
        if (candidate / MANIFEST).is_file():
            return candidate
    raise InputError(f"There is no {MANIFEST} in {str(folder)!r} or its folder 'public': nothing is published there.")


def load_published(folder: Path, manifest: Manifest) -> Loaded:
    """Read the table of a public folder as its manifest describes it."""
    names = [name for form in ("parquet", "csv") if (name := published_name(form)) in manifest.files]
    return read_published(
        folder / names[0],
        time_format=manifest.table.time_format,
        attributes=manifest.attributes,
        owners=manifest.table.owners,
    )


def read_any(spec: InputSpec, *, attributes: tuple[str, ...] | None = None) -> tuple[Loaded, Sensitive]:
    """Read a table or a published folder; return it with what its claim calls sensitive."""
    if not spec.path.is_dir():
        return load(spec, attributes=attributes), ()
    folder = find_public(spec.path)
    manifest, _ = read_manifest(folder)
    return load_published(folder, manifest), getattr(manifest.guarantee, "sensitive", ())


def prepare(loaded: Loaded, steps: Iterable[Any]) -> Prepared:
    """Run the preparation steps in order; a step keeps the trajectories and their order."""
    data, notes = loaded.data, list(loaded.notes)
    for step in steps:
        data, more = step.run(data)
        notes += more
    return Prepared(data=data, ids=loaded.ids, notes=tuple(notes))


def check_sensitive(data: Visits, sensitive: Sensitive, *, keep: Iterable[str] = ()) -> None:
    """Refuse sensitive attributes and values that the data do not have, and missing values."""
    for name in (*(attribute for attribute, _ in sensitive), *keep):
        if name not in data.attributes:
            known = sorted(data.attributes)
            raise UsageError(f"The input has no attribute column {name!r}.{closest(name, known)}")
    for name, values in sensitive:
        column = data.attributes[name]
        missing = int(np.count_nonzero(column.codes < 0))
        if missing:
            raise InputError(
                f"The sensitive attribute {name!r} has no value in {missing:,} of {len(data):,} trajectories. "
                "Fill in a value such as 'unknown', or remove these trajectories."
            )
        present = {column.labels[code] for code in np.unique(column.codes).tolist()}
        for value in values:
            if value not in present:
                raise InputError(
                    f"The sensitive value {value!r} never occurs in the attribute {name!r}; check its spelling."
                )


def join_owners(readback: Visits, written: Visits, source: IntArray, owner: IntArray) -> Visits | None:
    """Return the data read back with the true owners, or None where the file does not hold what was written."""
    expected = written.take(source)
    same = (
        np.array_equal(readback.offsets, expected.offsets)
        and np.array_equal(readback.t, expected.t)
        and _same_names(readback.location, readback.locations, expected.location, expected.locations)
        and set(readback.attributes) == set(expected.attributes)
        and all(_same_values(readback.attributes[name], expected.attributes[name]) for name in expected.attributes)
    )
    return replace(readback, owner=owner[source], owners=written.owners) if same else None


def _same_values(one: Coded, other: Coded) -> bool:
    missing = np.array_equal(one.codes < 0, other.codes < 0)
    has = one.codes >= 0
    return missing and _same_names(one.codes[has], one.labels, other.codes[has], other.labels)


def _same_names(one: IntArray, one_names: tuple[str, ...], other: IntArray, other_names: tuple[str, ...]) -> bool:
    code = {name: i for i, name in enumerate(other_names)}
    translate = np.array([code.get(name, -1) for name in one_names], np.int64)
    return np.array_equal(translate[one], other) if len(one) else len(other) == 0
