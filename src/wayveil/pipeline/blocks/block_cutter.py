"""From pieces of the input to blocks: every trajectory goes to the block that the plan gives it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from wayveil.io.scatter import groups_of
from wayveil.model import AttackGraph, BreachBound, CSafety, Engine, Guarantee, KclPrivacy, concat
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.blocks.input_pieces import Pieces
from wayveil.pipeline.blocks.plan import Keys, plan_blocks
from wayveil.pipeline.blocks.store import Disk

__all__ = ["PartsNeed", "cut_pieces", "parts_need", "read_block"]

PartsNeed = Literal["nothing", "people apart", "classes apart"]


def parts_need(claim: Guarantee) -> PartsNeed:
    """Return how blocks must be apart, so that what each of them keeps is kept by all of them together.

    The verdict does not ask this: `wayveil.verifiers` says by itself what parts need, and whether they have it.
    """
    if isinstance(claim, CSafety):
        return "classes apart"
    if isinstance(claim, (KclPrivacy, AttackGraph, BreachBound)):
        return "people apart"  # shares of people: somebody in two blocks would count twice
    return "nothing"


def cut_pieces(store: Disk, pieces: Pieces, *, rows: int, people_apart: bool, engine: Engine) -> tuple[int, bool]:
    """Cut pieces into blocks of about so many rows; return how many, and whether nobody is in two of them."""
    keys = _all_keys(pieces.keys)
    block = plan_blocks(keys, rows=rows, people_apart=people_apart).astype(np.int32)
    apart = _are_apart(keys.person, block)
    lengths = [len(one.rows) for one in pieces.keys]
    del keys
    n_blocks = int(block.max()) + 1
    own = np.split(block, np.cumsum(lengths)[:-1])
    names = [str(file.relative_to(store.folder).with_suffix("")) for file in pieces.files]
    task = partial(_scatter_piece, store, n_blocks)
    # Two rounds at most, so that no folder gets as many files as there are pieces times blocks: pieces write groups of
    # blocks, groups write blocks.
    engine.map(task, list(zip(range(len(own)), names, own, strict=True)))
    engine.map(partial(_scatter_group, store, rows), range(len(groups_of(n_blocks))))
    return n_blocks, apart


def read_block(store: Any, name: str) -> Any:
    """Return the data of a block: as they are, or from the files into which pieces scattered them."""
    scattered = store.names(f"blocks/{Path(name).name}")
    return concat([store.load(one) for one in scattered]) if scattered else store.load(name)


def _all_keys(keys: Sequence[Keys]) -> Keys:
    return Keys(**{name: np.concatenate([getattr(one, name) for one in keys]) for name in Keys.__annotations__})


def _are_apart(person: IntArray, block: IntArray) -> bool:
    """Return whether everything of one person is in one block."""
    # Neighbours in the order of people: the same person twice, in two blocks, is what must not be.
    order = np.argsort(person, kind="stable")
    same = person[order][1:] == person[order][:-1]
    return not (same & (np.diff(block[order]) != 0)).any()


def _scatter_piece(store: Disk, n_blocks: int, numbered: tuple[int, str, IntArray]) -> None:
    """Write what a piece has of every block, or of every group of blocks, to a file of its own."""
    number, name, block = numbered
    data = store.load(name)
    groups = groups_of(n_blocks)
    if not groups:
        _scatter(store, data, block, number)
        return
    for group, rows in _by_number(block // len(groups[0])):
        store.save((data.take(rows), block[rows]), f"groups/{group}/{number:06d}")


def _scatter_group(store: Disk, size: int, group: int) -> None:
    """Write what all pieces have of every block of a group to files of its own, about a block of rows at a time."""
    names = store.names(f"groups/{group}")
    pieces: list[tuple[Any, IntArray]] = []
    # Files are gathered until they have about a block of rows, so that memory stays bounded and files are few.
    for number, name in enumerate(names):
        pieces.append(store.load(name))
        if sum(data.n_rows for data, _ in pieces) >= size or name == names[-1]:
            data = concat([data for data, _ in pieces])
            block = np.concatenate([block for _, block in pieces])
            pieces.clear()
            _scatter(store, data, block, number)


def _scatter(store: Disk, data: Any, block: IntArray, number: int) -> None:
    for name, rows in _by_number(block):
        store.save(data.take(rows), f"blocks/{name}/{number:06d}")


def _by_number(numbers: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Return every number that occurs, and where."""
    # A stable sort keeps the order of rows within each number.
    order = np.argsort(numbers, kind="stable")
    names, first = np.unique(numbers[order], return_index=True)
    return zip(names.tolist(), np.split(order, first[1:]), strict=True)
