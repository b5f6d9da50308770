"""The two text files of a road network: lines of fields with blanks between them."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from wayveil.errors import InputError

__all__ = ["are_numbers", "read_lines"]


def read_lines(component: str, path: str, otherwise: str) -> list[tuple[int, list[str]]]:
    """Return the number and the fields of each line that is not empty.

    `otherwise` says in an error what can be given instead of such files.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else "it cannot be read as text"
        raise InputError(
            f"{component}: the file {path!r} of the road network is missing or broken: {reason}. Give the network as "
            "the "
            f"path without '.cnode.txt' and '.cedge.txt', {otherwise}."
        ) from None
    return [(number, line.split()) for number, line in enumerate(lines, 1) if line.strip()]


def are_numbers(words: list[str]) -> bool:
    """Return whether all words are finite numbers.

    Examples
    --------
    >>> are_numbers(["1", "2.5"]), are_numbers(["1", "inf"]), are_numbers(["a"])
    (True, False, False)
    """
    try:
        return all(isfinite(float(word)) for word in words)
    except ValueError:
        return False
