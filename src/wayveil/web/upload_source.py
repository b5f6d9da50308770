"""An uploaded table as an input: what was said of it, where its files are, and what people call them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wayveil.web.answers import plainly
from wayveil.web.files import Files
from wayveil.web.request import read_input

__all__ = ["UploadSource", "find_source"]


@dataclass(frozen=True, kw_only=True)
class UploadSource:
    """What is known of an upload before it is inspected.

    Parameters
    ----------
    file : str
        The id of the upload.
    posted : mapping
        What the page says of the input so far: keys of [input] in a recipe, with ids of uploads in place of files.
    source_input : mapping
        The same as a recipe holds it, with paths.
    names : mapping
        From the paths of uploads to their names.
    """

    file: str
    posted: Mapping[str, Any]
    source_input: Mapping[str, Any]
    names: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return asdict(self)

    def named(self, text: str) -> str:
        """Return a text with the names of files in place of where they are on disk.

        Examples
        --------
        >>> names = {"/files/07/07.csv": "my trips.csv"}
        >>> UploadSource(file="07", posted={}, source_input={}, names=names).named("in 07.csv")
        'in my trips.csv'
        """
        for path, name in self.names.items():
            place = Path(path)
            bare = place.name.split(".")[0]
            text = text.replace(path, name).replace(place.name, name).replace(bare, name.split(".")[0])
        return text

    def sentence(self, text: str) -> str:
        """Return a sentence of the command line for people who do not type."""
        return plainly(self.named(text))


def find_source(id: str, posted: Mapping[str, Any], files: Files) -> UploadSource:
    """Return an upload with what was posted about it, checked; UsageError or Refused with one sentence."""
    source, uploads, names = read_input({**posted, "file": id}, files)
    source_input = dict(source)
    for key, ids in uploads.items():
        source_input[key] = [str(files.path(one)) for one in ids] if isinstance(ids, list) else str(files.path(ids))
    return UploadSource(
        file=id,
        posted=dict(posted),
        source_input=source_input,
        names={str(files.path(one)): name for one, name in names.items()},
    )
