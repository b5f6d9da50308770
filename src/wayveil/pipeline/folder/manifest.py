"""The public manifest: what was published, what it promises, and how to check that nothing was changed.

It holds nothing about the input (no path, no counts, no seed) and no time of day, so that the same input, recipe and
seed give the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import platform
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from io import BufferedReader
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from wayveil.errors import InputError, UsageError
from wayveil.io import public_frame, read_extent
from wayveil.io.publish.layouts import layout_for
from wayveil.model import Data, Frame, Guarantee, Owners, TimeFormat, Verdict, guarantee_from_json, kinds
from wayveil.pipeline.folder.staging import MANIFEST
from wayveil.recipe import catalog
from wayveil.report.readme_page import README, render_readme

__all__ = [
    "FORMAT",
    "FORMATS",
    "Described",
    "Manifest",
    "boxes_name",
    "described",
    "expected_columns",
    "file_facts",
    "form_of_files",
    "frame_of_files",
    "is_published_name",
    "make_manifest",
    "open_plain",
    "outlines_name",
    "published_name",
    "read_manifest",
    "readme_of",
    "sentences",
    "tables",
    "taxonomy_name",
    "unprotected",
    "versions",
]

FORMATS = ("parquet", "csv", "geojson")
"""The formats of a published table."""

_LARGEST_BYTES = 8 << 20
# Names that a published table can have; a manifest that lists any other file is refused by `verify`.
_TABLE = re.compile(rf"(published|boxes)(-[0-9]{{5,}})?\.({'|'.join(FORMATS)})")
Parts = Literal["one", "each", "together"]
"""Whether the table is one file, or several: of which each keeps the claim by itself, or only all of them together."""

_VERSIONED = ("python", "wayveil", "numpy", "polars", "scipy")
_VERSION = re.compile(r"[0-9]{1,4}(?:\.[0-9]{1,8}){0,4}(?:[-.+]?[a-z]{1,5}[0-9.]{0,12}){0,3}")
"""What a version looks like; a longer text could hide something."""

FORMAT: Literal[2] = 2
"""Raised when a manifest of an older Wayveil could be misread."""


class _Strict(BaseModel):
    # Unknown keys, other types and later changes are all errors: what is in a manifest was put there by Wayveil.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Withheld = Literal["declared", "hidden"]
"""Nobody's name is published: the publisher declared each trajectory to be a person, or who owns it is not told."""


class Column(_Strict):
    """One column of the published table."""

    name: str
    type: str


_DECLARED = Column(name="declared", type="0 or 1")


class Schema(_Strict):
    """How to read the published table."""

    kind: str
    columns: list[Column]
    time_format: TimeFormat
    owners: Withheld
    frame: dict[str, str | float | bool] | None = None
    parts: Parts = "one"

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, value: str) -> str:
        if value not in kinds():
            raise ValueError("no kind of data has this name")
        return value


def _is_declared(table: Schema) -> bool:
    """Return whether a column says which boxes are of declared times."""
    return table.columns[len(layout_for(table.kind).columns) :][:1] == [_DECLARED]


class Judged(_Strict):
    """The verdict at publication, without the witness: a witness is never public."""

    holds: bool
    counted: Literal["owners", "trajectories"]
    measured: dict[str, int | float | str | None]
    not_judged: list[str]


class FileFacts(_Strict):
    """What a public file must look like."""

    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    bytes: int = Field(ge=0)


class Manifest(_Strict):
    """The content of ``manifest.json``."""

    format: Literal[2]
    versions: dict[str, str]
    method: str
    parameters: dict[str, Any]
    claim: dict[str, Any]
    promise: str
    each_trajectory_is_a_person: bool = False
    covered: list[str]
    not_covered: list[str]
    protects: list[dict[str, Any]]
    verdict: Judged
    table: Schema = Field(alias="schema")
    rows: int = Field(ge=0)
    trajectories: int = Field(ge=0)
    files: dict[str, FileFacts]

    @field_validator("versions")
    @classmethod
    def _known_versions(cls, value: dict[str, str]) -> dict[str, str]:
        # The same names, each with something that looks like a version: free text could carry anything.
        if sorted(value) != sorted(_VERSIONED) or not all(map(_VERSION.fullmatch, value.values())):
            raise ValueError("these are no versions")
        return value

    @property
    def guarantee(self) -> Guarantee:
        """The claim as the verifier takes it."""
        return guarantee_from_json(self.claim)

    @property
    def declared(self) -> bool:
        """Whether a column says which boxes are of declared times."""
        return _is_declared(self.table)

    @property
    def people_declared(self) -> bool:
        """Whether the publisher declared that each trajectory of the input is another person."""
        return self.each_trajectory_is_a_person or self.table.owners == "declared"

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attribute columns of the table."""
        return tuple(c.name for c in self.table.columns[len(layout_for(self.table.kind).columns) + self.declared :])

    @property
    def frame(self) -> Frame:
        """How the coordinates of the table become metres."""
        return Frame() if self.table.frame is None else Frame.from_json(self.table.frame)

    def to_bytes(self) -> bytes:
        """The file content: sorted keys, one final newline."""
        # One way to write a manifest: keys sorted, indented by two, UTF-8.  `verify` compares bytes with this.
        text = json.dumps(self.model_dump(mode="json", by_alias=True), sort_keys=True, indent=2, ensure_ascii=False)
        return f"{text}\n".encode()


@dataclass(frozen=True, kw_only=True)
class Described:
    """What a manifest says of the published table; see `described`."""

    kind: str
    attributes: tuple[str, ...]
    time_format: TimeFormat
    owners: Withheld
    frame: Frame | None
    rows: int
    trajectories: int
    parts: Parts = "one"
    declared: bool = False


def described(
    published: Data,
    *,
    source_owners: Owners,
    rows: int | None = None,
    trajectories: int | None = None,
    parts: Parts = "one",
) -> Described:
    """Describe published data; of data in parts, `published` is one, and the numbers are those of all."""
    return Described(
        kind=published.kind,
        attributes=tuple(published.attributes),
        time_format=published.time_format,
        owners="hidden" if source_owners == "given" else source_owners,
        frame=getattr(published, "frame", None),
        rows=published.n_rows if rows is None else rows,
        trajectories=len(published) if trajectories is None else trajectories,
        parts=parts,
        declared=getattr(published, "declared", None) is not None,
    )


def sentences(claim: Guarantee, each_trajectory: bool, attributes: Iterable[str]) -> dict[str, Any]:
    """Return what a manifest says of a claim in words; all of it follows from the claim and what is given here.

    `each_trajectory` is whether the publisher declared that each trajectory of the input is another person.
    """
    return {
        "promise": claim.statement("declared" if each_trajectory else "given"),
        "covered": list(claim.covered),
        "not_covered": [
            *claim.not_covered,
            *(
                f"an attacker who knows the attribute {name!r} of the victim: it is published as it is"
                for name in unprotected(claim, attributes)
            ),
        ],
        "protects": [protection.to_json() for protection in claim.protects],
    }


def unprotected(claim: Guarantee, attributes: Iterable[str]) -> list[str]:
    """Return the attributes that are published as they are, and of which the claim does not speak."""
    sensitive = {attribute for attribute, _ in claim.sensitive}
    return [name for name in attributes if name not in sensitive]


def form_of_files(manifest: Manifest) -> list[str]:
    """Return what is wrong with the names of files: a file that no reader of this kind of data opens could hide much.

    All have one format; a taxonomy stands beside stops alone, outlines of zones beside visits and trips, boxes beside
    points drawn from them, one for each part.
    """
    failures = []
    # Each check closes a place where something could be hidden in a file that nobody opens.
    endings = {name.rpartition(".")[2] for name in manifest.files}
    if len(endings) > 1:
        failures.append("the files have several formats")
    numbers = {what: [name.partition(".")[0][len(what) :] for name in tables(manifest, what)]
               for what in ("published", "boxes")}  # fmt: skip
    # Parts are numbered from 00001 without gaps in how they are written: -1 and -00001 would be two names of one part.
    if any(number and number != _number(int(number[1:]) - 1) for number in numbers["published"]):
        failures.append("the parts are not numbered as they are written")
    if numbers["boxes"]:
        drawn = manifest.table.kind == "points" and manifest.table.parts != "together"
        if not drawn or numbers["boxes"] != numbers["published"]:
            failures.append("there are boxes that do not belong to published points")
    if any(taxonomy_name(ending) in manifest.files for ending in endings) != (manifest.table.kind == "stops"):
        failures.append("there is a taxonomy without stops, or none with them")
    outlined = any(outlines_name(ending) in manifest.files for ending in endings)
    if outlined and manifest.table.kind not in ("visits", "trips"):
        failures.append("there are outlines of zones without visits to zones")
    return failures


def frame_of_files(folder: Path, table: Schema, names: Iterable[str], attributes: tuple[str, ...]) -> Frame | None:
    """Return the frame that a manifest must have: for degrees, it follows from the numbers in the published files.

    Where points were drawn from boxes, the boxes count as well.  Planar coordinates have the frame that is there.
    """
    known = None if table.frame is None else Frame.from_json(table.frame)
    if known is None or not known.degrees:
        return known
    declared = _is_declared(table)
    extents = []
    # Tables of boxes have the layout of regions, whatever the kind of the published table.
    for name in sorted(name for name in names if _TABLE.fullmatch(name)):
        own = name.startswith("published")
        extents.append(
            read_extent(
                folder / name,
                kind="regions" if table.kind == "regions" or not own else "points",
                time_format=table.time_format,
                attributes=attributes if own else (),
                declared=declared and own,
            )
        )
    return public_frame(extents, crs=known.crs)


def make_manifest(folder: Path, *, method: Any, verdict: Verdict, table: Described, each_trajectory: bool) -> Manifest:
    """Describe the files in `folder`; `each_trajectory` as in `sentences`."""
    claim = verdict.claim
    named = _columns(table.kind, table.time_format, table.frame or Frame(), table.attributes, declared=table.declared)
    schema = Schema(
        kind=table.kind,
        columns=[Column(name=name, type=word) for name, word in named],
        time_format=table.time_format,
        owners=table.owners,
        frame=None if table.frame is None else table.frame.to_json(),
        parts=table.parts,
    )
    # Everything in the staging folder is published, so everything gets a hash; the manifest and the page made from it
    # come later.
    files = {path.name: file_facts(path) for path in sorted(folder.iterdir()) if path.name not in (MANIFEST, README)}
    frame = frame_of_files(folder, schema, files, table.attributes)
    return Manifest(
        format=FORMAT,
        versions=versions(),
        method=method.name,
        parameters=catalog.plain_parameters(method),
        claim=claim.to_json(),
        **sentences(claim, each_trajectory, table.attributes),
        each_trajectory_is_a_person=each_trajectory,
        verdict=Judged(
            holds=verdict.holds,
            counted=verdict.counted,
            # Only numbers that the claim allows to be public: others may tell about single people.
            measured={name: value for name, value in verdict.measured.items() if name in claim.public_numbers},
            not_judged=list(verdict.not_judged),
        ),
        schema=schema.model_copy(update={"frame": None if frame is None else frame.to_json()}),
        rows=table.rows,
        trajectories=table.trajectories,
        files=files,
    )


def readme_of(manifest: Manifest) -> bytes:
    """Return the page that goes out with a manifest; nothing but the manifest goes into it."""
    content = manifest.to_bytes()
    # As it is read: in the order of the file, which is not the one in which it was put together.
    return render_readme(json.loads(content), hashlib.sha256(content).hexdigest()).encode()


def _columns(
    kind: str, time_format: TimeFormat, frame: Frame, attributes: Iterable[str], *, declared: bool
) -> list[tuple[str, str]]:
    """Return the columns of a published table with their types in words, in order."""
    words = {"time": _time_type(time_format), "place": _place_type(frame)}
    layout = layout_for(kind)
    renamed = layout.degree_names if frame.degrees else {}
    own = [(renamed.get(name, name), words.get(word, word)) for name, word in layout.columns.items()]
    more = [(_DECLARED.name, _DECLARED.type)] if declared else []
    return [*own, *more, *((name, "text") for name in attributes)]


def expected_columns(manifest: Manifest) -> list[tuple[str, str]]:
    """Return the columns that a table has of which a manifest speaks, with their types; attributes are as it says."""
    table = manifest.table
    return _columns(table.kind, table.time_format, manifest.frame, manifest.attributes, declared=manifest.declared)


def read_manifest(folder: Path) -> tuple[Manifest, str]:
    """Return the manifest of a public folder and the sha256 of its file; InputError if it is not one."""
    path = folder / MANIFEST
    # The manifest is the first thing read of a folder of unknown origin: size, JSON, format number and schema are
    # checked in this order, each before the next is tried.
    try:
        with open_plain(path) as file:
            content = file.read(_LARGEST_BYTES + 1)
    except OSError:
        raise InputError(f"There is no readable {MANIFEST} in {str(folder)!r}: it is not a published folder.") from None
    if len(content) > _LARGEST_BYTES:
        raise InputError(f"The {MANIFEST} in {str(folder)!r} is larger than {_LARGEST_BYTES:,} bytes; none is.")
    try:
        parsed = json.loads(content, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError):
        raise InputError(f"The {MANIFEST} in {str(folder)!r} is not valid JSON.") from None
    if not isinstance(parsed, dict) or "format" not in parsed:
        raise InputError(f"The {MANIFEST} in {str(folder)!r} was not written by Wayveil: it has no format number.")
    if parsed["format"] != FORMAT:
        raise InputError(
            f"The {MANIFEST} in {str(folder)!r} has format {parsed['format']!r}; this version reads format {FORMAT}. "
            "Use the version of Wayveil that wrote it."
        )
    try:
        manifest = Manifest.model_validate(parsed)
        # Both are built once here, because claim and frame are only texts until something is made of them.
        _ = manifest.guarantee, manifest.frame
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])
        raise InputError(f"The {MANIFEST} in {str(folder)!r} is garbled at {where!r}.") from None
    except UsageError as error:
        raise InputError(f"The {MANIFEST} in {str(folder)!r} is garbled: {error}") from None
    if not tables(manifest):
        raise InputError(f"The {MANIFEST} in {str(folder)!r} lists no published table.")
    # A name with a path could lead out of the folder.
    if any(name != Path(name).name for name in manifest.files):
        raise InputError(f"The {MANIFEST} in {str(folder)!r} lists a file outside its folder.")
    if manifest.table.parts == "one" and len(tables(manifest)) > 1:
        raise InputError(f"The {MANIFEST} in {str(folder)!r} says that there is one table, and lists several.")
    return manifest, hashlib.sha256(content).hexdigest()


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a name that stands there twice, two readers could see two values."""
    content = dict(pairs)
    if len(content) < len(pairs):
        raise ValueError
    return content


@contextmanager
def open_plain(path: Path) -> Iterator[BufferedReader]:
    """Open a plain file to read; OSError for anything else.

    A pipe would wait for ever, and a link may lead out of the folder.
    """
    # Without following links, and without waiting for a pipe to be opened at its other end.
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a plain file")
        yield file


def is_published_name(name: str) -> bool:
    """Return whether a file of this name can be part of a publication, besides the manifest.

    Examples
    --------
    >>> [is_published_name(name) for name in ("published.csv", "boxes-00002.parquet", "taxonomy.csv", "names.csv")]
    [True, True, True, False]
    """
    beside = {write(form) for form in FORMATS for write in (taxonomy_name, outlines_name)}
    return _TABLE.fullmatch(name) is not None or name in beside


def published_name(form: str, part: int | None = None) -> str:
    """Return the name of the published table in a format, or of one part of it.

    Examples
    --------
    >>> published_name("csv"), published_name("csv", 0)
    ('published.csv', 'published-00001.csv')
    """
    return f"published{_number(part)}.{form}"


def boxes_name(form: str, part: int | None = None) -> str:
    """Return the name of the table of boxes from which published points were drawn, or of one part of it."""
    return f"boxes{_number(part)}.{form}"


def taxonomy_name(form: str) -> str:
    """Return the name of the taxonomy that is published with stops."""
    return f"taxonomy.{form}"


def outlines_name(form: str) -> str:
    """Return the name of the table of outlines that is published with visits to zones."""
    return f"zones.{form}"


def tables(manifest: Manifest, what: str = "published") -> list[str]:
    """Return the names of the files that hold the published table, or its boxes, in order."""
    return sorted(name for name in manifest.files if _TABLE.fullmatch(name) and name.startswith(what))


def _number(part: int | None) -> str:
    return "" if part is None else f"-{part + 1:05d}"


def file_facts(path: Path) -> FileFacts:
    """Return size and hash of a file, read in pieces."""
    with open_plain(path) as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return FileFacts(sha256=digest, bytes=file.tell())


def versions() -> dict[str, str]:
    """Return the versions that decide the result."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in _VERSIONED if name != "python"},
    }


def _place_type(frame: Frame) -> str:
    system = f", {frame.crs}" if frame.crs else ""
    return f"degrees{system}" if frame.degrees else f"number{system}"


def _time_type(time_format: TimeFormat) -> str:
    return {
        "integer": "integer",
        "epoch": "seconds since 1970",
        "utc": "time, UTC",
        "local": "time without a zone",
    }[time_format]
