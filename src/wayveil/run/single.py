"""One step on its own: the risk in a data set, the loss of a publication, generated data, a preparation step."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, OutputError, UsageError
from wayveil.io import write_visits
from wayveil.model import AttackResult, Engine, Score, Sensitive, Visits, parameters_of
from wayveil.run import catalog
from wayveil.run.reading import Prepared, check_sensitive, load, prepare, read_any
from wayveil.run.recipe import InputSpec, make_input
from wayveil.run.scores import default_metrics, measure, run_attacks
from wayveil.run.staging import reporting_disk_errors

__all__ = ["Generated", "Risk", "generate", "loss", "prepare_table", "read", "risk"]

_SUFFIXES = (".csv", ".parquet")


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What attackers learn from one data set."""

    results: tuple[AttackResult, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A data set that was written, with the seed that makes it again."""

    path: Path
    data: Visits
    seed: int
    sensitive: Mapping[str, tuple[str, ...]]


def read(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    on_duplicate_time: str | None = None,
    attributes: tuple[str, ...] | None = None,
) -> Visits:
    """Read a table of visits (CSV, gzipped CSV or Parquet), or the table of a published folder.

    Parameters
    ----------
    path : str or Path
        A table, or a folder that `publish` made.
    columns : mapping, optional
        The names that the columns ``traj_id``, ``t``, ``location`` and ``user_id`` have in the table.
    on_duplicate_time : {"first", "last"}, optional
        Which of two visits of a trajectory at one time to keep; by default that is an error.
    attributes : tuple of str, optional
        The attributes to read; by default every other column.
    """
    spec = make_input({"path": Path(path), "columns": dict(columns or {}), "on_duplicate_time": on_duplicate_time})
    return read_any(spec, attributes=attributes)[0].data


def risk(
    spec: InputSpec,
    *,
    attack: str | None = None,
    given: Mapping[str, Any] | None = None,
    sensitive: Sensitive = (),
    steps: tuple[Any, ...] = (),
    seed: int | None = None,
    engine: Engine | None = None,
) -> Risk:
    """Attack a data set, raw or published, with what its own trajectories say.

    `given` are parameters of attacks; each attack takes those that it has.
    """
    values = dict(given or {})
    chosen = {attack: catalog.entry("attack", attack)} if attack else catalog.entries("attack")
    attacks = tuple(
        catalog.build("attack", name, {p.name: values[p.name] for p in parameters_of(cls) if p.name in values})
        for name, cls in chosen.items()
    )
    loaded, claimed = read_any(spec, attributes=tuple(attribute for attribute, _ in sensitive))
    prepared = prepare(loaded, steps)
    wanted = sensitive or claimed
    check_sensitive(prepared.data, wanted)
    root = np.random.SeedSequence(secrets.randbits(128) if seed is None else seed)
    results = run_attacks(
        attacks, prepared.data, prepared.data, sensitive=wanted, seed=root, engine=engine or LocalEngine()
    )
    return Risk(results=results, notes=prepared.notes)


def loss(
    original: InputSpec, published: Path, *, steps: tuple[Any, ...] = (), engine: Engine | None = None
) -> tuple[Score, ...]:
    """Measure what a publication (a folder, or a table) lost of the original."""
    before = prepare(read_any(original, attributes=())[0], steps).data
    after = read_any(InputSpec(path=published), attributes=())[0].data
    if before.time_format != after.time_format:
        raise InputError(
            f"The times of the two tables cannot be compared: {before.time_format} and {after.time_format}."
        )
    return measure(default_metrics(Visits), before, after, engine or LocalEngine())


def generate(
    name: str, given: Mapping[str, Any], out: Path, *, seed: int | None = None, overwrite: bool = False
) -> Generated:
    """Write a synthetic data set; the same parameters and seed give the same bytes."""
    workload = catalog.build("workload", name, given)
    seed = secrets.randbits(128) if seed is None else seed
    check_file(out, overwrite=overwrite)
    data = workload.generate(rng=np.random.default_rng(seed))
    write_file(out, lambda path: write_visits(data, path))
    return Generated(path=out, data=data, seed=seed, sensitive=workload.sensitive)


def prepare_table(
    spec: InputSpec, step: Any, out: Path, *, attributes: tuple[str, ...] | None = None, overwrite: bool = False
) -> Prepared:
    """Run one preparation step on a table and write the result with the ids of the input."""
    check_file(out, overwrite=overwrite)
    prepared = prepare(load(spec, attributes=attributes), (step,))
    write_file(out, lambda path: write_visits(prepared.data, path, ids=prepared.ids.to_list()))
    return prepared


def check_file(out: Path, *, overwrite: bool) -> None:
    """Refuse, before any work, a file that exists, has an unknown ending or cannot be written."""
    if not out.name.endswith(_SUFFIXES):
        raise UsageError(f"The file {out.name!r} must end in {' or '.join(_SUFFIXES)}.")
    if out.is_dir():
        raise OutputError(f"{str(out)!r} is a folder; --out must be a file.")
    if out.exists() and not overwrite:
        raise UsageError(f"{str(out)!r} already exists. Give --overwrite to replace it, or choose another --out.")
    with reporting_disk_errors(out), tempfile.TemporaryDirectory(prefix=".wayveil-", dir=out.parent):
        pass


def write_file(out: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place and move it there in one step."""
    with reporting_disk_errors(out), tempfile.TemporaryDirectory(prefix=".wayveil-", dir=out.parent) as folder:
        whole = Path(folder, out.name)
        write(whole)
        os.replace(whole, out)
