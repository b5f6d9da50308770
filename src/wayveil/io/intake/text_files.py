"""Text tables on disk: packed or not, in any encoding, one file or a folder of them."""

from __future__ import annotations

import codecs
import gzip
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wayveil.errors import InputError
from wayveil.io.intake.dialect import Dialect

__all__ = [
    "PACKED",
    "TEXT_ENDINGS",
    "has_wildcard",
    "list_text_files",
    "open_text",
    "plain_text",
    "unpack_tables",
]

PACKED = (".gz", ".zip")
"""What packed files end with."""

TEXT_ENDINGS = (".csv", ".txt", ".tsv", ".dat", ".tab")
"""What text tables end with; of packed ones, before the ending of the packing."""

_CHUNK = 1 << 24


def has_wildcard(path: Path) -> bool:
    """Whether a path has * or ? or [ in it and is no file of that name."""
    return any(sign in str(path) for sign in "*?[") and not path.exists()


def list_text_files(path: Path) -> list[Path]:
    """Return the text tables that a folder holds, with the folders in it, or that a pattern means; none otherwise.

    They come in the order of their names.  A folder with any file that is no text table is not one of tables, but for
    files that describe others: hidden ones, those of the system, README and licences.
    """
    try:
        if has_wildcard(path):
            root = Path(path.anchor) if path.is_absolute() else Path()
            pattern = str(path.relative_to(path.anchor)) if path.is_absolute() else str(path)
            matching = sorted(file for file in root.glob(pattern) if file.is_file())
            return [file for file in matching if _is_named_table(file.name)]
        if not path.is_dir():
            return []
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_beside(file))
    except (OSError, ValueError):
        return []
    return files if files and all(_is_named_table(file.name) for file in files) else []


def _is_beside(file: Path) -> bool:
    """Whether a file only describes others."""
    bare = file.name.lower().partition(".")[0]
    hidden = any(part.startswith((".", "__")) for part in file.parts[-2:])
    return (
        hidden or bare in ("readme", "license", "licence", "copying", "source", "about", "thumbs") or _is_markup(file)
    )


def _is_markup(file: Path) -> bool:
    """Whether a file begins like XML or HTML, as lists of the other files do: no table of text begins so."""
    with file.open("rb") as stream:
        return stream.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _is_named_table(name: str) -> bool:
    bare = name.lower().removesuffix(".gz")
    return bare.endswith((*TEXT_ENDINGS, ".zip"))


def unpack_tables(path: Path, folder: Callable[[], Path]) -> list[Path]:
    """Unpack the tables of a .zip file that holds several; return none where it holds one, or is no .zip file.

    `folder` is asked for only where there is something to unpack.  Each table has a folder of its own there, so that
    no name inside the archive says where something is written.

    Raises
    ------
    InputError
        If the archive is damaged.
    """
    if path.suffix.lower() != ".zip" or not path.is_file():
        return []
    try:
        with zipfile.ZipFile(path) as archive:
            tables = sorted((one for one in archive.infolist() if _is_table(one)), key=lambda one: one.filename)
            if len(tables) < 2:
                return []
            root = folder()
            files = []
            for number, entry in enumerate(tables, 1):
                # Only the last part of a name inside an archive is used, in a folder of its own: a name like ../../x
                # leads nowhere.
                file = root / f"{number:06}" / entry.filename.replace("\\", "/").rsplit("/", 1)[-1]
                file.parent.mkdir(parents=True)
                with archive.open(entry) as stream, file.open("wb") as out:
                    shutil.copyfileobj(stream, out, _CHUNK)
                files.append(file)
            return files
    except (zipfile.BadZipFile, EOFError, zlib.error, NotImplementedError, RuntimeError):
        raise InputError(f"{path}: the packed file is damaged or locked; write or copy it again.") from None


@contextmanager
def plain_text(path: str | Path, dialect: Dialect, folder: Path) -> Iterator[Path]:
    """Yield the table as plain text in UTF-8: the file itself, or a copy that is unpacked and encoded anew."""
    file = Path(path)
    packed = file.name.lower().endswith(PACKED)
    if not packed and dialect.encoding in ("utf-8", "utf-8-sig"):
        yield file
        return
    copy = folder / "plain.txt"
    # Bytes of one letter may be split between two chunks; the decoder keeps the first half.
    decoder = codecs.getincrementaldecoder(dialect.encoding)()
    try:
        with open_text(path) as stream, copy.open("wb") as out:
            if dialect.encoding in ("utf-8", "utf-8-sig"):
                shutil.copyfileobj(stream, out, _CHUNK)
            else:
                while chunk := stream.read(_CHUNK):
                    out.write(decoder.decode(chunk).lstrip("\ufeff").encode("utf-8"))
                out.write(decoder.decode(b"", final=True).encode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: the text is not {dialect.encoding} near byte {error.start + 1:,}; save the file as UTF-8."
        ) from None
    try:
        yield copy
    finally:
        copy.unlink(missing_ok=True)


@contextmanager
def open_text(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a text table for reading: plain, gzipped, or the one table in a .zip file."""
    shown = str(path)
    file = Path(path)
    name = file.name.lower()
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(file) as archive:
                tables = [one for one in archive.infolist() if _is_table(one)]
                if len(tables) != 1:
                    n_tables = "none" if not tables else f"{len(tables):,}"
                    raise InputError(
                        f"{shown}: a .zip file must hold a text table; this one holds {n_tables}. Unpack it, and give "
                        "the table in it."
                    )
                with archive.open(tables[0]) as stream:
                    yield stream
        elif name.endswith(".gz"):
            with gzip.open(file) as stream:
                yield stream  # type: ignore[misc]
        else:
            with file.open("rb") as stream:
                yield stream
    except FileNotFoundError:
        raise InputError(f"{shown}: there is no such file; check the path.") from None
    except (zipfile.BadZipFile, EOFError, zlib.error, gzip.BadGzipFile):
        raise InputError(f"{shown}: the packed file is damaged or cut short; write or copy it again.") from None
    except OSError as error:
        raise InputError(f"{shown}: the file cannot be read: {error.strerror or 'the path is not usable'}.") from None


def _is_table(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry of an archive may be a table: a text file that no system put there for itself."""
    name = entry.filename.lower()
    hidden = name.startswith("__macosx") or name.rsplit("/", 1)[-1].startswith(".")
    return not entry.is_dir() and not hidden and name.endswith(TEXT_ENDINGS)
