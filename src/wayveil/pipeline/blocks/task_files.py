"""Values and data between two tasks: written whole or not at all."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from wayveil.errors import WayveilError
from wayveil.io.publish.atomic import system_error, whole_file
from wayveil.model import Data, Trajectories
from wayveil.pipeline.folder.staging import reporting_disk_errors

__all__ = ["load_data", "load_value", "reporting_full_disks", "save", "save_data"]

_DIGEST_BYTES = 32


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


class _Pickler(pickle.Pickler):
    """Writes data by what they are made of, and of what all blocks share only that it was there."""

    def __init__(self, stream: Any, shared: Any) -> None:
        super().__init__(stream, protocol=5)
        self.shared = shared

    def persistent_id(self, value: Any) -> str | None:
        return "shared" if value is not None and value is self.shared else None

    # Data are made anew by their constructor: arrays are checked and locked again, wherever they come from.
    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, Trajectories):
            return _make_data, (type(value), {f.name: getattr(value, f.name) for f in fields(value) if f.init})
        if isinstance(value, MappingProxyType):
            return _make_proxy, (dict(value),)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: Any, shared: Any) -> None:
        super().__init__(stream)
        self.shared = shared

    def persistent_load(self, _: Any) -> Any:
        return self.shared


def _make_data(kind: type, columns: dict[str, Any]) -> Any:
    return kind(**columns)


def _make_proxy(content: dict[Any, Any]) -> Any:
    return MappingProxyType(content)


class _HashingStream:
    """Passes bytes on to a file, and hashes them on the way."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.digest = hashlib.sha256()

    def write(self, content: Any) -> int:
        self.digest.update(content)
        written: int = self._stream.write(content)
        return written


def save(value: Any, target: Path, *, shared: Any = None) -> Path:
    """Write a value as a whole file into a folder that is there; a task that is killed leaves no half one.

    `shared` is not written where it occurs in the value; whoever loads the value must have it.  The file begins with
    the hash of what follows.
    """
    with whole_file(target, private=True) as part, part.open("wb") as stream:
        # Room for the hash, which is known only when everything is written.
        stream.write(bytes(_DIGEST_BYTES))
        hashed = _HashingStream(stream)
        _Pickler(hashed, shared).dump(value)
        stream.seek(0)
        stream.write(hashed.digest.digest())
    return target


def load_value(path: Path, *, shared: Any = None) -> Any:
    """Return what `save` wrote, in this run or in the one that it goes on with; WayveilError where it was damaged."""
    with path.open("rb") as stream:
        digest = stream.read(_DIGEST_BYTES)
        # Checked before a byte of it is unpickled.
        if hashlib.file_digest(stream, "sha256").digest() != digest:
            raise WayveilError(
                "A file in the working folder is not as it was written, as after a power cut or on a bad disk: nothing "
                "was published. Start again with --no-resume."
            )
        stream.seek(_DIGEST_BYTES)
        return _Unpickler(stream, shared).load()


def save_data(data: Data, target: Path) -> Path:
    """Write data without the network or taxonomy, which all pieces share."""
    return save(data, target, shared=None if data.shared is None else data.shared_value())


def load_data(path: Path, shared: Any) -> Any:
    """Return what `save_data` wrote; `shared` is the network of routes, or the taxonomy of stops."""
    return load_value(path, shared=shared)
