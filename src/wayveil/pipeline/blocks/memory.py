"""How much fits where: blocks for a memory limit, and an engine for the size of the input."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field

from wayveil.errors import UsageError
from wayveil.io import parquet_parts
from wayveil.model import BlockKey
from wayveil.recipe.recipe import BlocksSpec, Recipe

__all__ = [
    "AUTO_ROWS",
    "BASE_BYTES",
    "BLOCK_BYTES",
    "MOST_GROWTH",
    "TRAJECTORY_BYTES",
    "WHOLE_BYTES",
    "WORKERS",
    "LimitedBlocks",
    "check_class",
    "check_groups",
    "check_growth",
    "check_planning",
    "choose_engine",
    "fit_to_memory",
    "limit_of",
    "parse_size",
]

AUTO_ROWS = 5_000_000
"""From so many rows on, `auto` takes a cluster; below, starting processes and moving data cost more than they bring."""

BASE_BYTES = 400_000_000
"""What a process takes before it has seen any data: the interpreter, libraries, compiled kernels."""

BLOCK_BYTES = {"visits": 700, "points": 900, "routes": 900, "stops": 900}
"""Most bytes per row of a block, from reading to the verdict; measured, see docs/research/scale.md."""

WHOLE_BYTES = 300
"""At most so many bytes are taken per row where a method decides over all rows at once, in blocks by `whole`."""

TRAJECTORY_BYTES = 200
"""At most so many bytes are taken per trajectory while blocks are planned, and while what was counted is added up."""

MOST_GROWTH = 4
"""So many rows may be prepared out of one under a memory limit: preparing takes less memory per row than publishing."""

WORKERS = 2
"""So many blocks are in memory at a time under a memory limit, however many cores there are."""

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(I?)B?", re.IGNORECASE)
_SAMPLE_BYTES = 1 << 20
_FEWEST_ROWS = 10_000


class LimitedBlocks(BlocksSpec):
    """Blocks that fit into a memory limit, in bytes.

    The limit is no part of a recipe: it was used up when the size of the blocks was chosen, and what is published does
    not depend on it any more.
    """

    limit: int = Field(exclude=True)


def parse_size(text: str) -> int:
    """Return a number of bytes.

    Examples
    --------
    >>> parse_size("4GB"), parse_size("512 MiB"), parse_size("1.5g")
    (4000000000, 536870912, 1500000000)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"A size of memory is a number with a unit, such as 4GB or 800MB, got {text!r}.")
    number, unit, binary = match.groups()
    # "MB" is a million bytes, "MiB" 1024 squared.
    power = " KMGT".index(unit.upper() or " ")
    return int(float(number) * (1024**power if binary else _UNITS[unit.upper()]))


def fit_to_memory(recipe: Recipe, limit: int) -> Recipe:
    """Return the recipe with blocks so small that `WORKERS` of them fit into `limit` bytes at a time.

    Blocks of its own stay as they are, if they are small enough: what is published depends on them.
    """
    # Bytes per row are measured by kind of data; that of the method decides, after preparation.
    kind = recipe.method.accepts.__name__.lower()
    rows = (limit - BASE_BYTES) // (WORKERS * BLOCK_BYTES[kind])
    if rows < _FEWEST_ROWS:
        least = BASE_BYTES + _FEWEST_ROWS * WORKERS * BLOCK_BYTES[kind]
        raise UsageError(f"The memory limit is too small to do anything; give at least {-(-least // 10**6):,} MB.")
    ways: tuple[BlockKey, ...] = recipe.method.blocks
    if not ways:
        raise UsageError(f"{recipe.method.name} needs all data at once, so it cannot keep to a memory limit.")
    # Blocks of the recipe are never made smaller: what is published depends on them, and must not depend on memory.
    by = ways[0] if recipe.blocks is None else recipe.blocks.by
    least = BASE_BYTES + _about_rows(recipe.input.path) * WHOLE_BYTES
    if by == "whole" and least > limit:
        raise UsageError(
            f"{recipe.method.name} decides over all rows at once, as numbers, which do not fit into the memory limit; "
            f"give at least {-(-least // 10**6):,} MB."
        )
    if recipe.blocks is not None:
        if recipe.blocks.rows > rows:
            raise UsageError(
                f"Blocks of {recipe.blocks.rows:,} rows do not fit into the memory limit; at most {rows:,} rows do."
            )
        rows = recipe.blocks.rows
    return recipe.model_copy(update={"blocks": LimitedBlocks(by=by, rows=int(rows), limit=limit)})


def limit_of(blocks: BlocksSpec) -> int | None:
    """Return the memory limit for which blocks were chosen, if there is one."""
    return blocks.limit if isinstance(blocks, LimitedBlocks) else None


def check_growth(limit: int | None, before: int, after: int) -> None:
    """Refuse a preparation that makes many more rows than it is given, under a memory limit."""
    if limit is not None and after > MOST_GROWTH * max(before, 1):
        raise UsageError(
            f"The preparation makes about {after / max(before, 1):.0f} rows of one, and under a memory limit it may "
            f"make {MOST_GROWTH}. Resample to a longer period, or write the prepared table first, with wayveil prepare."
        )


def check_planning(limit: int | None, trajectories: int) -> None:
    """Refuse more trajectories than can be planned within a memory limit, if there is one."""
    least = BASE_BYTES + trajectories * TRAJECTORY_BYTES
    if limit is not None and least > limit:
        raise UsageError(
            f"{trajectories:,} trajectories cannot be dealt out to blocks within the memory limit; give at least "
            f"{-(-least // 10**6):,} MB."
        )


def check_class(limit: int | None, stops: int) -> None:
    """Refuse a class of so many stops, all of which have to be in one part, if it does not fit into a memory limit."""
    least = BASE_BYTES + WORKERS * stops * BLOCK_BYTES["stops"]
    if limit is not None and least > limit:
        raise UsageError(
            f"{stops:,} stops were made alike in several blocks and have to be published together, which does not fit "
            f"into the memory limit; give at least {-(-least // 10**6):,} MB."
        )


def check_groups(limit: int | None, group_bytes: int) -> None:
    """Refuse Parquet whose row groups, which can only be read as a whole, do not fit into a memory limit."""
    least = BASE_BYTES + WORKERS * group_bytes
    if limit is not None and least > limit:
        raise UsageError(
            f"A row group of the Parquet input takes {-(-group_bytes // 10**6):,} MB, and {WORKERS} of them do not fit "
            f"into the memory limit; write the table in smaller row groups, or give at least {-(-least // 10**6):,} MB."
        )


def choose_engine(recipe: Recipe, *, scheduler: str | None) -> Literal["local", "dask"]:
    """Return the engine that a recipe asks for; `auto` is a cluster where there is one and the data are worth it."""
    if recipe.engine != "auto":
        return "dask" if recipe.engine == "dask" else "local"
    has_cluster = find_spec("distributed") is not None and bool(scheduler or os.environ.get("DASK_SCHEDULER_ADDRESS"))
    return (
        "dask" if has_cluster and recipe.blocks is not None and _about_rows(recipe.input.path) >= AUTO_ROWS else "local"
    )


def _about_rows(path: Path) -> int:
    """Return about how many rows an input has, without reading it; 0 if that cannot be told."""
    try:
        files = parquet_parts(path) or [path]
        if files[0].suffix.lower() == ".parquet":
            return int(pl.scan_parquet(files, glob=False, hive_partitioning=False).select(pl.len()).collect().item())
        with path.open("rb") as stream:
            start = stream.read(_SAMPLE_BYTES)
        return path.stat().st_size * start.count(b"\n") // max(len(start), 1)
    except (OSError, pl.exceptions.PolarsError):
        return 0
