"""One step on its own: the risk in a data set, the loss of a publication, generated data, a preparation step."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.engines import LocalEngine, scratch_folder
from wayveil.errors import InputError, OutputError, UsageError
from wayveil.io import write_network, write_points, write_routes, write_stops, write_taxonomy, write_trips, write_visits
from wayveil.model import AttackResult, Data, Engine, Score, Sensitive, parameters_of
from wayveil.pipeline.blocks.combine import left_out_note
from wayveil.pipeline.blocks.input_pieces import Wanted, found_kind, read_pieces
from wayveil.pipeline.blocks.queries import attack_pieces
from wayveil.pipeline.evaluate import measure, run_attacks
from wayveil.pipeline.folder.staging import reporting_disk_errors
from wayveil.pipeline.input import Prepared, check_sensitive, check_values, load, prepare, read_any
from wayveil.recipe import catalog
from wayveil.recipe.defaults import default_metrics, fits, is_ready
from wayveil.recipe.recipe import InputSpec, make_input
from wayveil.report.risk_page import render_risk

__all__ = ["Generated", "Risk", "attack_data", "generate", "loss", "prepare_table", "read", "risk", "write_risk_page"]

_SUFFIXES = (".csv", ".parquet")
_POINT_SUFFIXES = (*_SUFFIXES, ".geojsonl")
_WRITERS: dict[str, Callable[..., None]] = {
    "visits": write_visits,
    "points": write_points,
    "routes": write_routes,
    "stops": write_stops,
    "trips": write_trips,
}
_SHARED_WRITERS: dict[str, Callable[..., None]] = {"network": write_network, "taxonomy": write_taxonomy}


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What attackers learn from one data set."""

    results: tuple[AttackResult, ...]
    notes: tuple[str, ...]
    facts: str = ""


@dataclass(frozen=True, kw_only=True)
class Generated:
    """A data set that was written, with the seed that makes it again."""

    path: Path
    data: Data
    seed: int
    sensitive: Mapping[str, tuple[str, ...]]


def read(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    on_duplicate_time: str | None = None,
    attributes: tuple[str, ...] | None = None,
    kind: str | None = None,
    crs: str | None = None,
    network: str | Path | None = None,
    taxonomy: str | Path | None = None,
    sensitive_nodes: Sequence[str] = (),
    owners: str | Path | Sequence[str | Path] | None = None,
    similar_ids: str | None = None,
) -> Data:
    """Read visits or points (CSV, gzipped CSV, Parquet; points also GeoJSON, GPX, PLT), or a published folder.

    Parameters
    ----------
    path : str or Path
        A table, or a folder that `publish` made.
    columns : mapping, optional
        The names that columns such as ``traj_id``, ``t``, ``location``, ``x`` and ``user_id`` have in the table.
    on_duplicate_time : {"first", "last"}, optional
        Which of two visits of a trajectory at one time to keep; by default that is an error.
    attributes : tuple of str, optional
        The attributes to read; by default every other column.
    kind : {"visits", "points", "routes", "stops", "trips"}, optional
        What the table holds; by default told from its columns.
    crs : str, optional
        The coordinate system of points, such as "EPSG:4326"; by default degrees for columns called lon and lat.
    network : str or Path, optional
        The road network of routes.
    taxonomy : str or Path, optional
        The taxonomy of the places of stops.
    sensitive_nodes : sequence of str, optional
        Nodes of the taxonomy that are sensitive, besides those that it says itself.
    owners : "each-trajectory", or tables, optional
        Who is behind a trajectory where no column ``user_id`` says it: a table `traj_id, user_id` or several, or the
        declaration that each trajectory is another person.  Without either the table is refused.
    similar_ids : {"different", "same"}, optional
        What people are whose ids differ only by case, white space, leading zeros or letter forms; by default they are
        refused.
    """
    given: dict[str, Any] = {"columns": dict(columns or {}), "on_duplicate_time": on_duplicate_time, "kind": kind}
    given |= {"crs": crs, "owners": owners, "similar_ids": similar_ids}
    given |= {"network": network, "taxonomy": taxonomy, "sensitive_nodes": tuple(sensitive_nodes)}
    spec = make_input({"path": Path(path), **given})
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
    rows: int | None = None,
) -> Risk:
    """Attack a data set, raw or published, with what its own trajectories say.

    `given` are parameters of attacks; each attack takes those that it has.  With `rows`, the data are read in pieces of
    about so many rows, and only attacks that can be asked in pieces are run.
    """
    sensitive = catalog.check_sensitive_values("risk", sensitive)
    if rows is not None:
        return _risk_in_pieces(
            spec, rows, attack=attack, given=given, sensitive=sensitive, steps=steps, seed=seed, engine=engine
        )
    loaded, claimed = read_any(spec, attributes=tuple(attribute for attribute, _ in sensitive))
    prepared = prepare(loaded, steps, spec)
    results = attack_data(
        prepared.data, attack=attack, given=given, sensitive=sensitive or claimed, seed=seed, engine=engine
    )
    return Risk(results=results, notes=prepared.notes, facts=_sizes(prepared.data))


def write_risk_page(found: Risk, source: Path, out: Path, *, overwrite: bool = False) -> None:
    """Write what attackers learn as one HTML page."""
    check_file(out, overwrite=overwrite, endings=(".html",))
    page = render_risk(
        found.results,
        title=f"Risk in {source.name}",
        facts=found.facts,
        notes=found.notes,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_file(out, lambda path: path.write_text(page, encoding="utf-8"))


def _sizes(data: Data) -> str:
    return f"{data.n_rows:,} {data.row_word} in {len(data):,} trajectories of {data.n_owners:,} people"


def attack_data(
    data: Data,
    *,
    attack: str | None = None,
    given: Mapping[str, Any] | None = None,
    sensitive: Sensitive = (),
    seed: int | None = None,
    engine: Engine | None = None,
) -> tuple[AttackResult, ...]:
    """Attack data in memory with what their own trajectories say; see `risk`."""
    attacks = _chosen(type(data), attack, given)
    check_sensitive(data, sensitive)
    root = np.random.SeedSequence(secrets.randbits(128) if seed is None else seed)
    return run_attacks(attacks, data, data, sensitive=sensitive, seed=root, engine=engine or LocalEngine())


def _chosen(kind: type[Any], attack: str | None, given: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """Return the attacks that work on data of a kind alone: the one that is named, or all."""
    values = dict(given or {})
    chosen = {attack: catalog.entry("attack", attack)} if attack else catalog.entries("attack")
    attacks = tuple(
        catalog.build("attack", name, {p.name: values[p.name] for p in parameters_of(cls) if p.name in values})
        for name, cls in chosen.items()
        if fits(cls, kind, kind, matched=True) and (attack or is_ready(cls, values))
    )
    if not attacks:
        raise UsageError(
            f"No {'such ' if attack else ''}attack works on {kind.__name__.lower()} alone; "
            "wayveil publish attacks what it publishes, with the original at hand."
        )
    return attacks


def _risk_in_pieces(
    spec: InputSpec,
    rows: int,
    *,
    attack: str | None,
    given: Mapping[str, Any] | None,
    sensitive: Sensitive,
    steps: tuple[Any, ...],
    seed: int | None,
    engine: Engine | None,
) -> Risk:
    """Attack a table that is too large to be held at once."""
    engine, seed = engine or LocalEngine(), secrets.randbits(128) if seed is None else seed
    want = Wanted(
        spec=spec,
        kind=found_kind(spec),
        steps=steps,
        attributes=tuple(attribute for attribute, _ in sensitive),
        by="whole",
        rows=rows,
    )
    with scratch_folder() as scratch:
        pieces = read_pieces(want, seed=seed, scratch=scratch, engine=engine)
        check_values(pieces.values, pieces.trajectories, sensitive)
        attacks, root = _chosen(type(pieces.example), attack, given), np.random.SeedSequence(seed)
        found, without = attack_pieces(attacks, pieces, (pieces.files,), sensitive=sensitive, seed=root, engine=engine)
    if not found:
        raise UsageError(f"{', '.join(without)} cannot be asked in pieces; leave --block-rows out.")
    word = pieces.example.row_word
    return Risk(
        results=tuple(same[0] for same in found),
        notes=(*pieces.notes, *left_out_note(without)),
        facts=f"{pieces.rows:,} {word} in {pieces.trajectories:,} trajectories of {pieces.people:,} people",
    )


def loss(
    original: InputSpec, published: Path, *, steps: tuple[Any, ...] = (), engine: Engine | None = None
) -> tuple[Score, ...]:
    """Measure what a publication (a folder, or a table) lost of the original."""
    before = prepare(read_any(original, attributes=())[0], steps, original).data
    after = read_any(_like(original, published), attributes=(), counts_people=False)[0].data
    timed = before.time_format == after.time_format
    metrics = default_metrics(type(before), type(after), matched=False, timed=timed)
    if not metrics and not timed:
        raise InputError(
            f"The times of the two tables cannot be compared: {before.time_format} and {after.time_format}."
        )
    if not metrics:
        kinds = (before.kind, after.kind)
        raise InputError(f"The original holds {kinds[0]} and the publication {kinds[1]}; these cannot be compared.")
    return measure(metrics, before, after, engine or LocalEngine())


def _like(original: InputSpec, published: Path) -> InputSpec:
    """Return how to read a publication: a folder says it itself, a table has coordinates like the original's."""
    return InputSpec(path=published, crs=None if published.is_dir() else original.crs)


def generate(
    name: str, given: Mapping[str, Any], out: Path, *, seed: int | None = None, overwrite: bool = False
) -> Generated:
    """Write a synthetic data set; the same parameters and seed give the same bytes."""
    workload = catalog.build("workload", name, given)
    seed = secrets.randbits(128) if seed is None else seed
    check_file(out, overwrite=overwrite)
    data = workload.generate(rng=np.random.default_rng(seed))
    _write_beside(data, out, overwrite=overwrite)
    write_file(out, lambda path: write_data(data, path))
    return Generated(path=out, data=data, seed=seed, sensitive=workload.sensitive)


def _write_beside(data: Data, out: Path, *, overwrite: bool) -> None:
    """Write what the data need to be read: the road network of routes, the taxonomy of stops."""
    if data.shared is None:
        return
    write = _SHARED_WRITERS[data.shared]
    beside = out.with_name(f"{out.name.removesuffix(out.suffix)}-{data.shared}{out.suffix}")
    check_file(beside, overwrite=overwrite)
    write_file(beside, lambda path: write(data.shared_value(), path))


def prepare_table(
    spec: InputSpec, step: Any, out: Path, *, attributes: tuple[str, ...] | None = None, overwrite: bool = False
) -> Prepared:
    """Run one preparation step on a table and write the result with the ids of the input."""
    check_file(out, overwrite=overwrite)
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
        _write_beside(prepared.data, out, overwrite=overwrite)
    write_file(out, lambda path: write_data(prepared.data, path, ids=_distinct(prepared.ids)))
    return prepared


def write_data(data: Data, path: Path, *, ids: list[str] | None = None) -> None:
    """Write data as a table that can be read again."""
    if not data.coordinates and not path.name.endswith(_SUFFIXES):
        raise UsageError(
            f"{data.kind.capitalize()} can be written to {' and '.join(_SUFFIXES)} only, not to {path.name!r}."
        )
    _WRITERS[data.kind](data, path, ids=ids)


def _distinct(ids: pl.Series) -> list[str]:
    """Return ids that tell the parts of a split trajectory apart: x, x.2, x.3."""
    texts = ids.cast(pl.String).to_list()
    taken, times, found = set(texts), dict.fromkeys(texts, 0), []
    for text in texts:
        times[text] += 1
        name = text
        while times[text] > 1 and name in taken:
            name = f"{text}.{times[text]}"
            times[text] += name in taken
        taken.add(name)
        found.append(name)
    return found


def check_file(out: Path, *, overwrite: bool, endings: tuple[str, ...] = _POINT_SUFFIXES) -> None:
    """Refuse, before any work, a file that exists, has an unknown ending or cannot be written."""
    if not out.name.endswith(endings):
        raise UsageError(f"The file {out.name!r} must end in {' or '.join(endings)}.")
    if out.is_dir():
        raise OutputError(f"{str(out)!r} is a folder; --out must be a file.")
    if out.exists() and not overwrite:
        raise UsageError(f"{str(out)!r} already exists. Give --overwrite to replace it, or choose another --out.")
    with reporting_disk_errors(out), scratch_folder(out.parent):
        pass


def write_file(out: Path, write: Callable[[Path], object]) -> None:
    """Write a file beside its place and move it there in one step."""
    with reporting_disk_errors(out), scratch_folder(out.parent) as folder:
        whole = folder / out.name
        write(whole)
        os.replace(whole, out)
