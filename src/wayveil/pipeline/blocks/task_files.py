"""Values and data between two tasks: written whole or not at all."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.io.publish.atomic import system_error, whole_file
from wayveil.model import Data
from wayveil.pipeline.folder.staging import reporting_disk_errors

__all__ = ["load_data", "load_value", "reporting_full_disks", "save", "save_data"]


@contextmanager
def reporting_full_disks(out: Path) -> Iterator[None]:
    """Turn errors of the disk on which tasks work into an OutputError, also those that Polars reports as its own."""
    with reporting_disk_errors(out):
        try:
            yield
        except pl.exceptions.PolarsError as error:
            number = system_error(error)
            if number is None:
                raise
            raise OSError(number, os.strerror(number)) from None


def save(value: Any, target: Path) -> Path:
    """Write a value as a whole file into a folder that is there; a task that is killed leaves no half one."""
    with whole_file(target, private=True) as part, part.open("wb") as stream:
        pickle.dump(value, stream, protocol=5)
    return target


def load_value(path: Path) -> Any:
    """Return what `save` wrote; only files of this run are ever read."""
    with path.open("rb") as stream:
        return pickle.load(stream)


def save_data(data: Data, target: Path) -> Path:
    """Write data without the network or taxonomy, which all pieces share."""
    kept = {f.name: getattr(data, f.name) for f in fields(data) if f.init and f.name != data.shared}
    return save((type(data), {**kept, "attributes": dict(data.attributes)}), target)


def load_data(path: Path, shared: Any) -> Any:
    """Return what `save_data` wrote; `shared` is the network of routes, or the taxonomy of stops."""
    kind, kept = load_value(path)
    if kind.shared is not None:
        kept[kind.shared] = shared
    return kind(**kept)
