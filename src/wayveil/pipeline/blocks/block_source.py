"""The input as blocks: one in memory where everything fits into it, several on disk where it does not.

Whether it fits follows from the recipe and the input alone, so that one core and a hundred machines, with whatever
memory, publish the same bytes.  A table that fits is read like one without blocks, and nothing that is known of it,
measured in it or made of it depends on blocks having been asked for.
"""

from __future__ import annotations

import gzip
import zlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.errors import InputError, UsageError
from wayveil.io import parquet_parts
from wayveil.io.publish.atomic import make_folders
from wayveil.model import Engine, concat
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.blocks.block_cutter import cut_pieces, parts_need
from wayveil.pipeline.blocks.input_pieces import InputPlan, Pieces, look_ahead, plan_input, read_pieces
from wayveil.pipeline.blocks.memory import check_planning, limit_of
from wayveil.pipeline.blocks.store import Disk, Memory, Store
from wayveil.pipeline.blocks.task_files import load_data, load_value
from wayveil.pipeline.input import Prepared, check_places, check_sensitive, check_values, frame_of, load, prepare
from wayveil.pipeline.remaining import Stage
from wayveil.recipe import catalog
from wayveil.recipe.defaults import columns_of, sensitive_of
from wayveil.recipe.recipe import InputSpec, Recipe

__all__ = ["Blocks", "fits_at_once", "hold_at_once", "hold_pieces", "read_blocks"]

_ROW_BYTES = 512
"""A table of so many bytes per row of a block is still read at once: longer rows take more memory than rows tell."""

_LEAST_BYTES = 6
"""No row of a format that does not say how many it holds is shorter: ``[1,2],`` of GeoJSON."""

_CHUNK = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class Blocks:
    """What is to be published, in a store: one block in memory, or several on disk; and what is known of all of them.

    Parameters
    ----------
    store : Store
        Block i is what ``store.load(names[i])`` returns; before they were made, blocks on disk may be in several files.
    names : tuple of str
        One per block.
    example : Data
        The data themselves if there is one block, and data without trajectories if there are several.
    ids : Series, optional
        The ids of the trajectories in the input, of one block that was read at once.
    pieces : Pieces, optional
        The input in pieces, if it was read so.
    people_apart : bool
        Whether nobody has trajectories in two blocks: looked up, not taken for granted.
    stages, origin
        What there was in the file and after each step, and the trajectory of the input that each one comes from, of one
        block that was read at once.
    """

    store: Store
    names: tuple[str, ...]
    example: Any
    trajectories: int
    people: int
    rows: int
    notes: tuple[str, ...]
    block_rows: int = 0
    ids: pl.Series | None = None
    pieces: Pieces | None = None
    people_apart: bool = True
    stages: tuple[Stage, ...] = ()
    origin: IntArray | None = None

    @property
    def several(self) -> bool:
        """Whether there is more than one block: then only what can be added up over blocks is known of all."""
        return isinstance(self.store, Disk)


def read_blocks(recipe: Recipe, source: Prepared | None, *, seed: int, scratch: Path, engine: Engine) -> Blocks:
    """Read and prepare what a recipe publishes; data that were prepared already are one block."""
    sensitive = sensitive_of(recipe)
    # A column that says what somebody asked for would lead to them; refused before anything is read.
    for name in recipe.method.claim.private_columns:
        if name in recipe.output.keep:
            raise UsageError(
                f"The column {name!r} is not published, because how many people somebody asks to be one of tells who "
                "it is; leave it out of --keep."
            )
    if source is None:
        # Small inputs are read at once, and everything is known of them; others go through pieces on disk.
        source = _read_at_once(recipe)
    if recipe.method.random_noise:
        _check_person_by_person(recipe, source)
    if source is not None:
        # Checked on the prepared data, because steps may drop the very rows that have a value.
        check_sensitive(source.data, sensitive, keep=(*recipe.method.claim.private_columns, *recipe.output.keep))
        check_places(source.data, recipe.method.claim.adversaries)
        attributes = {name: source.data.attributes[name] for name in columns_of(recipe)}
        return hold_at_once(replace(source, data=replace(source.data, attributes=attributes)))
    want = plan_input(recipe)
    pieces = read_pieces(want, seed=seed, scratch=scratch, engine=engine)
    checked = (*recipe.method.claim.private_columns, *recipe.output.keep)
    check_values(pieces.values, pieces.trajectories, sensitive, keep=checked)
    if not pieces.trajectories:
        raise InputError("The preparation left no trajectory, so there is nothing to publish.")
    if pieces.rows <= want.rows:
        # The preparation left so little that it is one block after all.
        shared = load_value(pieces.shared)
        data = concat([load_data(file, shared) for file in pieces.files])
        return hold_at_once(Prepared(data=data, ids=pl.Series([], dtype=pl.String), notes=pieces.notes))
    if want.by == "whole":
        return hold_pieces(pieces, scratch, rows=want.rows)
    return _cut(recipe, want, pieces, scratch, engine)


_ONE_BY_ONE = ("bucket", "cut", "days", "ends", "fold", "slices", "window", "zones")
_ONE_BY_ONE_IN_METRES = ("areas", "clean", "grid", "resample", "split", "stops")
"""Steps that do with the rows of a person what follows from these rows alone; the second ones only where metres are
those of the file: a frame for degrees follows from where everybody is."""


def _check_person_by_person(recipe: Recipe, source: Prepared | None) -> None:
    """Refuse steps by which one person changes what becomes of others: noise does not hide that."""
    frame = None if source is None else frame_of(source.data)
    degrees = frame is not None and frame.degrees
    for step in recipe.prepare:
        in_metres = step.name in _ONE_BY_ONE_IN_METRES or (step.name == "zones" and step.cell != "none")
        known = step.name in (*_ONE_BY_ONE, *_ONE_BY_ONE_IN_METRES)
        if not known or step.looks_at_everybody or (in_metres and degrees):
            raise UsageError(
                f"{recipe.method.name}: with the step {step.name} as given, what becomes of one person's rows depends "
                "on others, which noise does not hide. Use zones of a file or of H3 (zones h3=8), or positions in "
                "metres of a projected system (--crs)."
            )


def hold_at_once(source: Prepared) -> Blocks:
    """Return prepared data as one block in memory."""
    store = Memory()
    data = source.data
    return Blocks(
        store=store,
        names=(store.save(data, "data/0"),),
        example=data,
        trajectories=len(data),
        people=data.n_owners,
        rows=data.n_rows,
        notes=source.notes,
        block_rows=data.n_rows,
        ids=source.ids,
        stages=source.stages,
        origin=source.origin,
    )


def hold_pieces(pieces: Pieces, scratch: Path, *, rows: int) -> Blocks:
    """Return pieces of the input as blocks: everybody is whole in one of them."""
    files = [scratch / "data" / f"{number}.pickle" for number in range(len(pieces.files))]
    make_folders(scratch / "data")
    # Files are moved, not copied: pieces are the blocks.
    for old, new in zip(pieces.files, files, strict=True):
        old.rename(new)
    return _on_disk(replace(pieces, files=tuple(files)), scratch, len(files), rows=rows)


def _cut(recipe: Recipe, want: InputPlan, pieces: Pieces, scratch: Path, engine: Engine) -> Blocks:
    """Cut pieces of the input into blocks as the recipe says."""
    check_planning(want.limit, pieces.trajectories)
    engine.progress("cutting into blocks")
    together = parts_need(recipe.method.claim) == "people apart"
    store = Disk(folder=scratch)
    n_blocks, apart = cut_pieces(store, pieces, rows=want.rows, people_apart=together, engine=engine)
    # The keys are no longer needed, and blocks are worked on while what is left is held.
    blocks = _on_disk(replace(pieces, keys=()), scratch, n_blocks, rows=want.rows)
    return replace(blocks, people_apart=apart)


def _on_disk(pieces: Pieces, scratch: Path, n_blocks: int, *, rows: int) -> Blocks:
    return Blocks(
        store=Disk(folder=scratch),
        names=tuple(f"data/{number}" for number in range(n_blocks)),
        example=pieces.example,
        trajectories=pieces.trajectories,
        people=pieces.people,
        rows=pieces.rows,
        notes=pieces.notes,
        block_rows=rows,
        pieces=pieces,
    )


def _read_at_once(recipe: Recipe) -> Prepared | None:
    """Read and prepare an input as one block; None where it has more rows than the recipe wants in one."""
    blocks = recipe.blocks
    spec = recipe.input
    if blocks is not None and not fits_at_once(spec, blocks.rows):
        return None
    loaded = load(spec, attributes=columns_of(recipe), kinds=catalog.kinds_needed(recipe.prepare, recipe.method))
    if blocks is not None:
        look_ahead(loaded, recipe.prepare, spec, limit_of(blocks))
    ready = prepare(loaded, recipe.prepare, spec)
    return ready if blocks is None or ready.data.n_rows <= blocks.rows else None


def fits_at_once(spec: InputSpec, rows: int) -> bool:
    """Return whether an input, with the tables beside it, is surely no more than so many rows; almost nothing is read.

    What cannot be opened fits: whoever reads it says what is wrong.
    """
    # Tables beside the input are joined in memory, so they must fit as well.
    beside = [table for table in (*spec.owner_tables, spec.known) if table is not None]
    try:
        return all(_most_rows(Path(path), rows) <= rows for path in (spec.path, *beside))
    except (OSError, EOFError, zlib.error, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return True


def _most_rows(path: Path, enough: int) -> int:
    """Return a number of rows that a table does not exceed; more than `enough` where it is not known to be less."""
    files = parquet_parts(path) or [path]
    if files[0].suffix.lower() == ".parquet":
        # Rows are counted by the footer, but long rows of few numbers may be large all the same.
        if sum(file.stat().st_size for file in files) > _ROW_BYTES * enough:
            return enough + 1
        return int(pl.scan_parquet(files, glob=False, hive_partitioning=False).select(pl.len()).collect().item())
    if path.name.lower().endswith((".csv", ".csv.gz", ".txt", ".tsv")):
        return _lines(path, enough) - 1
    every = [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]
    return sum(file.stat().st_size for file in every) // _LEAST_BYTES


def _lines(path: Path, enough: int) -> int:
    """Count the lines of a text; no further than to what is more than `enough` rows, in number or in bytes."""
    with path.open("rb") as stream:
        zipped = stream.read(2) == b"\x1f\x8b"
    n = size = 0
    last = b"\n"
    with gzip.open(path) if zipped else path.open("rb") as stream:
        while text := stream.read(_CHUNK):
            n += text.count(b"\n")
            size += len(text)
            last = text[-1:]
            # Counting ends as soon as the answer is known.
            if n > enough + 1 or size > _ROW_BYTES * enough:
                return enough + 2
    # A last line without an end is a line.
    return n + (last != b"\n")
