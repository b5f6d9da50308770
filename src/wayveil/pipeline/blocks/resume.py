"""A run that was killed goes on: which of its stages are over, and what they returned.

Stages of several blocks leave what they make in a folder beside the output.  Where the process that drives them dies,
the folder stays.  The next run of the same recipe, on the same input, with the same version, finds there which stages
and which tasks were over, and begins with the first that was not.  Nobody's word is taken for the data: every file
carries its own hash, and the verdict is always given anew, on the files as they are then.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from wayveil import __version__
from wayveil.model import Engine
from wayveil.pipeline.blocks.store import Disk, Store
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.staging import write_private
from wayveil.recipe.recipe import STANDARD_INPUT, Recipe
from wayveil.recipe.toml import recipe_text

__all__ = ["Journal", "RunRecord", "key_run"]

_RECORD = "resume.json"
_DONE = "done"


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """What a run must have in common with a later one that goes on with it, and what that one must take over.

    `key` is that of recipe, input and version; seed and secret are those of the killed run, because what is made
    already depends on them.
    """

    key: str
    seed: int
    secret: Secret

    def write(self, root: Path) -> None:
        """Leave the record in the folder of a run; only its owner can read it."""
        content = {"key": self.key, "seed": str(self.seed), "secret": self.secret.value.hex()}
        part = root / f".{_RECORD}.part"
        write_private(part, json.dumps(content))
        part.replace(root / _RECORD)

    @classmethod
    def read(cls, root: Path) -> RunRecord | None:
        """Return the record of a run that was killed; None where there is none, or where somebody else wrote it.

        What lies in the folder is unpickled later, so it must be this user's, and nobody else's to write.
        """
        try:
            facts = os.lstat(root)
            # Not a link, owned by this user, and nobody else may write or read: what lies there is unpickled.
            if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o077:
                return None
            content = json.loads((root / _RECORD).read_bytes())
            return cls(
                key=str(content["key"]),
                seed=int(content["seed"]),
                secret=Secret(bytes.fromhex(content["secret"])),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None


def key_run(recipe: Recipe) -> str | None:
    """Return what a run must share with a killed one to go on with it; None where the input cannot be read twice.

    Everything that decides the result takes part: the version, the recipe (without the engine, which decides only
    where the work is done), and every byte of the input and of the files beside it.
    """
    spec = recipe.input
    if spec.path == STANDARD_INPUT:
        return None
    digest = hashlib.sha256()
    same = recipe.model_copy(update={"engine": "local"})
    for text in (__version__, recipe_text(same)):
        # Lengths in front: two texts cannot be cut at another point and give the same bytes.
        digest.update(f"{len(text)}:{text}".encode())
    beside = (spec.known, spec.places, spec.zones, spec.network, spec.taxonomy)
    try:
        for path in (spec.path, *spec.owner_tables, *(path for path in beside if path is not None)):
            for file in _files_of(path):
                with file.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
                # The name counts as well as the content: some readers take values from names of files.
                digest.update(str(file).encode("utf-8", "surrogatepass"))
    except OSError:
        return None  # whoever reads it says what is wrong
    return digest.hexdigest()


def _files_of(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.rglob("*") if file.is_file())
    return [path]


@dataclass(frozen=True, kw_only=True)
class Journal:
    """The stages of a run that are over, in the store of its blocks; of one block in memory nothing is kept."""

    store: Store

    def stage(self, name: str, make: Callable[[], Any], *, leaves: Iterable[str] = ()) -> Any:
        """Return what a stage returned in the run that this one goes on with; where it did not end, begin it anew.

        What the stage `leaves` in the store is removed first: some of it may be of a run that was killed within it.
        """
        if not isinstance(self.store, Disk):
            return make()
        done = f"{_DONE}/{name}"
        if self.store.has(done):
            return self.store.load(done)
        for folder in leaves:
            self.store.remove(folder)
        value = make()
        self.store.save(value, done)
        return value

    def tasks(self, name: str, stage: Callable[[Any], Any], items: Iterable[Any], engine: Engine) -> list[Any]:
        """Run the tasks of a stage that are not over; return what all of them returned, in order."""
        return engine.map(partial(_run_once, self.store, f"{_DONE}/{name}", stage), list(enumerate(items)))


def _run_once(store: Store, folder: str, stage: Callable[[Any], Any], numbered: tuple[int, Any]) -> Any:
    """Do a task, unless it was done before; the mark comes last, so a task that was killed is done again."""
    number, item = numbered
    done = f"{folder}/{number}"
    if store.has(done):
        return store.load(done)
    value = stage(item)
    store.save(value, done)
    return value
