"""What attackers learn from one data set, raw or published."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from wayveil.commands.table_files import check_file, write_file
from wayveil.engines import LocalEngine, scratch_folder
from wayveil.errors import UsageError
from wayveil.model import AttackResult, Data, Engine, Sensitive, parameters_of
from wayveil.pipeline.blocks.attack_pieces import attack_pieces
from wayveil.pipeline.blocks.block_source import Blocks, fits_at_once, hold_at_once, hold_pieces
from wayveil.pipeline.blocks.combine import left_out_note
from wayveil.pipeline.blocks.input_pieces import InputPlan, check_kind, read_pieces
from wayveil.pipeline.evaluate import run_attacks
from wayveil.pipeline.input import check_sensitive, check_values, prepare, read_any
from wayveil.recipe import catalog
from wayveil.recipe.defaults import fits, is_ready
from wayveil.recipe.purpose import set_limit
from wayveil.recipe.recipe import InputSpec
from wayveil.report.risk_page import render_risk

__all__ = ["Risk", "attack_data", "risk", "write_risk_page"]


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What attackers learn from one data set."""

    results: tuple[AttackResult, ...]
    notes: tuple[str, ...]
    facts: str = ""


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
    limit: Fraction | None = None,
) -> Risk:
    """Attack a data set, raw or published, with what its own trajectories say.

    `given` are parameters of attacks; each attack takes those that it has.  A table of more than `rows` rows is read in
    pieces of about so many, and only attacks that can be asked in pieces are run.  People count as at risk above
    `limit`.
    """
    sensitive = catalog.check_sensitive_values("risk", sensitive)
    engine = engine or LocalEngine()
    seed = secrets.randbits(128) if seed is None else seed
    with scratch_folder() as scratch:
        if rows is None or fits_at_once(spec, rows):
            loaded, claimed = read_any(spec, attributes=tuple(attribute for attribute, _ in sensitive))
            blocks = hold_at_once(prepare(loaded, steps, spec))
            sensitive = sensitive or claimed
            check_sensitive(blocks.example, sensitive)
        else:
            blocks = _read_several(spec, rows, sensitive, steps, seed, scratch, engine)
        attacks = set_limit(_chosen(type(blocks.example), attack, given), limit)
        results, without = _attack(blocks, attacks, sensitive, seed, engine)
    if not results:
        raise UsageError(f"{', '.join(without)} cannot be asked in pieces; leave --block-rows out.")
    word = blocks.example.row_word
    return Risk(
        results=results,
        notes=(*blocks.notes, *left_out_note(without)),
        facts=f"{blocks.rows:,} {word} in {blocks.trajectories:,} trajectories of {blocks.people:,} people",
    )


def write_risk_page(risk: Risk, source: Path, out: Path, *, overwrite: bool = False) -> None:
    """Write what attackers learn as one HTML page."""
    check_file(out, overwrite=overwrite, endings=(".html",))
    page = render_risk(
        risk.results,
        title=f"Risk in {source.name}",
        facts=risk.facts,
        notes=risk.notes,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_file(out, lambda path: path.write_text(page, encoding="utf-8"))


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


def _read_several(
    spec: InputSpec,
    rows: int,
    sensitive: Sensitive,
    steps: tuple[Any, ...],
    seed: int,
    scratch: Path,
    engine: Engine,
) -> Blocks:
    """Read a table that has too many rows to be held at once."""
    want = InputPlan(
        spec=spec,
        kind=check_kind(spec),
        steps=steps,
        attributes=tuple(attribute for attribute, _ in sensitive),
        by="whole",
        rows=rows,
    )
    pieces = read_pieces(want, seed=seed, scratch=scratch, engine=engine)
    check_values(pieces.values, pieces.trajectories, sensitive)
    return hold_pieces(pieces, scratch, rows=rows)


def _attack(
    blocks: Blocks, attacks: tuple[Any, ...], sensitive: Sensitive, seed: int, engine: Engine
) -> tuple[tuple[AttackResult, ...], list[str]]:
    """Return what attackers learn of all blocks, and the names of attacks that need all data at once."""
    root = np.random.SeedSequence(seed)
    if blocks.pieces is None:
        data = blocks.example
        return run_attacks(attacks, data, data, sensitive=sensitive, seed=root, engine=engine), []
    pieces = blocks.pieces
    results, without = attack_pieces(attacks, pieces, (pieces.files,), sensitive=sensitive, seed=root, engine=engine)
    return tuple(same[0] for same in results), without


def _chosen(kind: type[Any], attack: str | None, given: Mapping[str, Any] | None) -> tuple[Any, ...]:
    """Return the attacks that work on data of a kind alone: the one that is named, or all."""
    values = dict(given or {})
    chosen = {attack: catalog.entry("attack", attack)} if attack else catalog.entries("attack")
    attacks = tuple(
        catalog.build("attack", name, {p.name: values[p.name] for p in parameters_of(cls) if p.name in values})
        for name, cls in chosen.items()
        if fits(cls, kind, kind, matched=True) and (attack or is_ready(cls, values))
    )
    if not attacks and not kind.individual:
        raise UsageError(
            "A table of counts has nobody's trajectory in it, so that no attack works on it alone; wayveil publish and "
            "wayveil measure attack it with the original at hand."
        )
    if not attacks:
        raise UsageError(
            f"No {'such ' if attack else ''}attack works on {kind.kind} alone; "
            "wayveil publish attacks what it publishes, with the original at hand."
        )
    return attacks
