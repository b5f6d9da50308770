"""Uploaded files on disk: ``files/ID/ID.csv`` with what is known of them beside it.

The name that a file had is kept in ``facts.json`` and shown; no path is ever made of it.
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from wayveil.commands.first_look import endings_by_role, refuse_large
from wayveil.errors import WayveilError
from wayveil.web.answers import Refused
from wayveil.web.server.disk import bytes_of, is_id, new_id, now, read_json, write_json

__all__ = ["ROLES", "Files", "clean_name"]

ROLES = ("data", "network", "taxonomy", "places", "known", "owners", "zones")
"""What a file can be for."""

_FACTS = "facts.json"
_PART = ".part-"
_BUFFER = 1 << 20
_KEPT_FREE = 64 << 20
_LONGEST = 120


@dataclass(frozen=True, kw_only=True)
class Files:
    """The folder of uploads, with the size that a file may have, packed and unpacked."""

    folder: Path
    limit: int

    def open(self) -> None:
        """Make the folder, and remove what a server that was stopped left half done."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        for left in self.folder.glob(f"{_PART}*"):
            shutil.rmtree(left, ignore_errors=True)

    def check(self, name: str, role: str, claimed: int | None) -> tuple[str, str]:
        """Return the clean name and the ending of a file before any of it is read; Refused if it cannot be taken."""
        if role not in ROLES:
            raise Refused(400, f"A file must be one of: {', '.join(ROLES)}.")
        clean = clean_name(name)
        endings = endings_by_role()[role]
        ending = next((e for e in endings if clean.lower().endswith(e) and len(clean) > len(e)), None)
        if ending is None:
            raise Refused(400, f"A file of {role} must end in {', '.join(sorted(endings))}.")
        if claimed is not None and claimed > self.limit:
            raise Refused(413, f"The file is larger than {self.limit:,} bytes, which is the limit of this server.")
        if claimed is not None and claimed + _KEPT_FREE > shutil.disk_usage(self.folder).free:
            raise Refused(507, "There is not enough free space on the disk for this file; delete old runs and files.")
        return clean, ending

    async def receive(self, stream: AsyncIterator[bytes], name: str, role: str, claimed: int | None) -> dict[str, Any]:
        """Write what comes to disk and return what is known of it; nothing is left of a file that is refused."""
        clean, ending = self.check(name, role, claimed)
        id = new_id()
        part = self.folder / f"{_PART}{id}"
        part.mkdir(mode=0o700)
        try:
            path = part / f"{id}{ending}"
            size = await self._write(stream, path)
            if not size:
                raise Refused(400, "The file is empty.")
            try:
                await run_in_threadpool(refuse_large, path, self.limit, shown=clean)
            except WayveilError as error:
                raise Refused(400, str(error)) from None
            facts = {"id": id, "name": clean, "role": role, "bytes": size, "created": now(), "file": path.name}
            write_json(part / _FACTS, facts)
            os.replace(part, self.folder / id)
        except ClientDisconnect:
            raise Refused(400, "The upload was broken off.") from None
        except OSError:
            raise Refused(507, "The file cannot be written: the disk refused. Delete old runs and files.") from None
        finally:
            shutil.rmtree(part, ignore_errors=True)
        return _told(facts)

    async def _write(self, stream: AsyncIterator[bytes], path: Path) -> int:
        size = 0
        buffer = bytearray()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "wb", buffering=0) as file:
            async for piece in stream:
                size += len(piece)
                if size > self.limit:
                    raise Refused(413, f"The file is larger than {self.limit:,} bytes, the limit of this server.")
                buffer += piece
                if len(buffer) >= _BUFFER:
                    await run_in_threadpool(_write_all, file, bytes(buffer))
                    buffer.clear()
            await run_in_threadpool(_write_all, file, bytes(buffer))
        return size

    def all(self) -> list[dict[str, Any]]:
        """Return what is known of every file, the newest first."""
        files = [read_json(folder / _FACTS) for folder in self.folder.iterdir() if is_id(folder.name)]
        listed = [_told(facts) for facts in files if facts is not None]
        return sorted(listed, key=lambda facts: facts["created"], reverse=True)

    def get(self, id: Any) -> dict[str, Any]:
        """Return what is known of one file; Refused if there is none."""
        facts = read_json(self.folder / id / _FACTS) if isinstance(id, str) and is_id(id) else None
        if facts is None:
            raise Refused(404, "There is no such file; it may have been deleted.")
        return _told(facts)

    def path(self, id: str) -> Path:
        """Return where a file is; Refused if there is none."""
        self.get(id)
        return self.folder / id / str(read_json(self.folder / id / _FACTS)["file"])

    def remove(self, id: str) -> None:
        """Delete a file."""
        self.get(id)
        doomed = self.folder / f"{_PART}{id}"
        os.replace(self.folder / id, doomed)
        shutil.rmtree(doomed, ignore_errors=True)

    @property
    def bytes(self) -> int:
        """How much room all files take."""
        return bytes_of(self.folder)


def clean_name(name: str) -> str:
    """Return the name of a file without anything that could mean more than a name.

    Examples
    --------
    >>> clean_name("../../etc/pass wd.csv"), clean_name("C:\\\\data\\\\Besuche Köln (2).csv"), clean_name("..")
    ('pass wd.csv', 'Besuche Köln (2).csv', 'file')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", name))[-1]
    clean = re.sub(r"[^\w .()+-]", "_", last).strip().lstrip(".-").strip()
    if len(clean) > _LONGEST:
        stem, dot, rest = clean.partition(".")
        clean = stem[: max(1, _LONGEST - len(rest) - 1)] + dot + rest if len(rest) < 40 else clean[-_LONGEST:]
    return clean or "file"


def _told(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: facts[name] for name in ("id", "name", "role", "bytes", "created")}


def _write_all(file: Any, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[file.write(view) :]
