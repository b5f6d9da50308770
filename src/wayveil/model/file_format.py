"""A format of files: which endings it has, what such files can hold, and how those of other packages are read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from wayveil.errors import ParameterError

__all__ = ["Content", "FileFormat"]

Content = Literal["table", "points", "network", "places", "taxonomy"]
"""What a file can hold: rows with columns, positions (the format alone says so), roads, places, or kinds of places."""


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """One format of files, told by the ending of a name.

    Parameters
    ----------
    name : str
        One word, by which code and entry points know it.
    title : str
        What people call it.
    endings : tuple of str
        In lower case, with the dot; those of packed files, too, where these are read.
    holds : tuple of str
        What such a file can be used as, see `Content`.
    read : callable, optional
        From the path of a file to all of its rows, as a polars frame; it raises `InputError` with one sentence for a
        file that cannot be read.  Formats of Wayveil that are read column by column have none.
    crs : str, optional
        The coordinate system of what `read` returns, where every file of the format has the same.
    by_line : bool
        Whether every line is a record, so that the beginning of a file is a sample of it.

    Examples
    --------
    >>> FileFormat(name="pings", title="pings", endings=(".ping",), holds=("points",)).fits(Path("Monday.PING"))
    True
    """

    name: str
    title: str
    endings: tuple[str, ...]
    holds: tuple[Content, ...]
    read: Callable[[Path], Any] | None = None
    crs: str | None = None
    by_line: bool = False

    def __post_init__(self) -> None:
        if not self.endings or any(not e.startswith(".") or e != e.lower() for e in self.endings):
            raise ParameterError(f"{self.name}: endings must be in lower case and begin with a dot.")

    def fits(self, path: Path) -> bool:
        """Whether the name of a file has an ending of this format."""
        return path.name.lower().endswith(self.endings)
