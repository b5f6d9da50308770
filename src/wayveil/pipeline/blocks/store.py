"""Where a block is between two stages: in the memory of this process, or on a disk that all tasks see.

Stages know neither: they save and load values by name.  A name is a path without an ending, such as ``made/3``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from shutil import rmtree
from typing import Any

from wayveil.io.publish.atomic import make_folders_below
from wayveil.pipeline.blocks.task_files import load_value, save

__all__ = ["Disk", "Memory", "Store"]


@dataclass(frozen=True, kw_only=True)
class Memory:
    """The one block, held by this process."""

    values: dict[str, Any] = field(default_factory=dict)

    def save(self, value: Any, name: str) -> str:
        """Keep a value under a name, and return the name."""
        self.values[name] = value
        return name

    def load(self, name: str) -> Any:
        """Return what `save` kept."""
        return self.values[name]

    def has(self, name: str) -> bool:
        """Return whether there is a value of this name."""
        return name in self.values

    def names(self, folder: str) -> list[str]:
        """Return the names below a folder, in order."""
        return sorted(name for name in self.values if name.startswith(f"{folder}/"))

    def remove(self, folder: str) -> None:
        """Forget what is below a folder."""
        for name in self.names(folder):
            del self.values[name]


@dataclass(frozen=True, kw_only=True)
class Disk:
    """Blocks as files below a folder; small itself, because it goes to every worker.

    What all blocks share, the network of routes or the taxonomy of stops, is in one file, not in each.
    """

    folder: Path

    def save(self, value: Any, name: str) -> str:
        """Write a value as a whole file: a task that is killed leaves no half one; return the name."""
        target = self.path_of(name)
        make_folders_below(self.folder, target.parent)
        save(value, target, shared=_load_shared(self.path_of("shared")))
        return name

    def load(self, name: str) -> Any:
        """Return what `save` wrote; only files of this run are ever read."""
        return load_value(self.path_of(name), shared=_load_shared(self.path_of("shared")))

    def has(self, name: str) -> bool:
        """Return whether there is a value of this name."""
        return self.path_of(name).is_file()

    def names(self, folder: str) -> list[str]:
        """Return the names in a folder, in order, without what a killed task left."""
        return sorted(f"{folder}/{path.stem}" for path in (self.folder / folder).glob("[0-9]*.pickle"))

    def remove(self, folder: str) -> None:
        """Delete a folder."""
        rmtree(self.folder / folder, ignore_errors=True)

    def path_of(self, name: str) -> Path:
        """Return the file of a value."""
        return self.folder / f"{name}.pickle"


Store = Memory | Disk


@lru_cache(maxsize=1)
def _read_shared(path: Path) -> Any:
    return load_value(path)


def _load_shared(path: Path) -> Any:
    """Return what all blocks share; the same object in all tasks of a process, so that it is recognised on saving."""
    return _read_shared(path) if path.is_file() else None
