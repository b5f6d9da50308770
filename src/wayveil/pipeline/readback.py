"""From what a method made to what the files hold: written, read back, and compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import OutputError
from wayveil.io import Loaded, read_published, read_published_taxonomy, write_published, write_taxonomy
from wayveil.model import Data, Frame, MethodResult
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.alignment import join_owners
from wayveil.pipeline.folder.manifest import boxes_name, file_facts, published_name, taxonomy_name
from wayveil.pipeline.folder.staging import reporting_disk_errors
from wayveil.pipeline.outcome import NotPublished
from wayveil.recipe.recipe import Recipe

__all__ = ["Written", "check_made", "confirm_read_back", "nothing_left_error", "write_and_read_back"]


def check_made(method: Any, data: Data, result: MethodResult) -> None:
    """Refuse what a method must not return."""
    # A method keeps one trajectory per input trajectory, or it says by `source` where each came from; nothing else can
    # be matched with the truth later.
    expected = len(data) if result.source is None else len(result.source)
    if len(result.data) != expected or (result.source is None) == method.splits_trajectories:
        raise OutputError("The method returned another number of trajectories than it was given; this is a bug.")
    if result.groups is not None and len(result.groups) != len(result.data):
        raise OutputError("The method returned another number of groups than of trajectories; this is a bug.")
    if result.boxes is not None and not np.array_equal(result.boxes.offsets, result.data.offsets):
        raise OutputError("The method returned other boxes than points; this is a bug.")


def nothing_left_error(kind: type[Data]) -> NotPublished:
    """Return the error for a publication without rows."""
    return NotPublished(kind.nothing_left)


@dataclass(frozen=True, kw_only=True)
class Written:
    """What the files hold, read back, with the true owners; `order` and `ids` say which trajectory is which.

    `hashes` are those of the files, by name, taken before they were read back: what is judged has these bytes.
    """

    data: Any
    boxes: Any
    order: IntArray
    ids: pl.Series
    hashes: Mapping[str, str]


def write_and_read_back(
    recipe: Recipe, folder: Path, data: Data, result: MethodResult, key: bytes, part: int | None = None
) -> Written:
    """Write what a method made, and return what the files hold; new ids follow from `key`, `part` numbers a block."""
    form = recipe.output.format
    path = folder / published_name(form, part)
    beside = folder / boxes_name(form, part)
    boxes = None if result.boxes is None else replace(result.boxes, attributes={})
    owner = data.owner if result.source is None else _owner_of_parts(data.owner, result.source)
    with reporting_disk_errors(recipe.output.path):
        # Hashes are taken of what lies on disk, before it is read back: what is judged below has exactly these bytes.
        order = write_published(result.data, path, key=key, beside=None if boxes is None else (boxes, beside))
        if result.data.shared == "taxonomy":
            write_taxonomy(result.data.shared_value(), path.with_name(taxonomy_name(form)))
        files = path, beside, path.with_name(taxonomy_name(form))
        hashes = {file.name: file_facts(file).sha256 for file in files if file.exists()}
        loaded = _read_back(path, result.data, data)
        # The owners come back by position, as the file has none; None means that the file does not say what was
        # written.
        joined = join_owners(loaded.data, result.data, order, owner)
        joined_boxes = None
        if boxes is not None:
            again = _read_back(beside, boxes, data)
            joined_boxes = join_owners(again.data, boxes, order, owner) if again.ids.equals(loaded.ids) else None
    if joined is None or (boxes is not None and joined_boxes is None):
        raise OutputError("The file written does not read back as it was written, so nothing was published.")
    return Written(data=joined, boxes=joined_boxes, order=order, ids=loaded.ids, hashes=hashes)


def confirm_read_back(
    folder: Path, form: str, part: int, *, data: Data, boxes: Data | None, hashes: Mapping[str, str]
) -> None:
    """Read the files of a part once more, and refuse what another process says was in them if it was not.

    `hashes` are those that go into the manifest, so that a verdict on `data` is one on the bytes that are published.
    """
    path = folder / published_name(form, part)
    beside = folder / boxes_name(form, part)
    # The three files a part may have: the hash must be there exactly if the file is.
    for file in (path, beside, path.with_name(taxonomy_name(form))):
        if file.exists() != (file.name in hashes) or (file.exists() and file_facts(file).sha256 != hashes[file.name]):
            raise OutputError("A file is not the one that a worker wrote, so nothing was published.")
    again = _read_back(path, data, data).data.same_content(data)
    if boxes is not None:
        again = again and _read_back(beside, boxes, data).data.same_content(boxes)
    if not again:
        raise OutputError("A file does not hold what a worker read back from it, so nothing was published.")


def _owner_of_parts(owner: IntArray, source: IntArray) -> IntArray:
    """Return the owners of parts of trajectories; every dummy gets a negative number of its own."""
    dummy = source < 0
    # Dummies are -1, -2, ...: nobody, and never the same nobody, so that two of them do not count as one person.
    number: IntArray = np.cumsum(dummy, dtype=np.int64)
    return np.where(dummy, -number, owner[np.where(dummy, 0, source)])


def _read_back(path: Path, written: Data, source: Data) -> Loaded:
    tree = path.with_name(taxonomy_name(path.suffix.removeprefix(".")))
    return read_published(
        path,
        kind=written.kind,
        time_format=written.time_format,
        attributes=tuple(written.attributes),
        owners=source.owners,
        frame=getattr(written, "frame", Frame()),
        taxonomy=read_published_taxonomy(tree) if written.shared == "taxonomy" else None,
        declared=getattr(written, "declared", None) is not None,
    )
