"""Answers that say no: one sentence each, with a status."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

__all__ = ["Refused", "plainly", "unexpected"]


class Refused(Exception):
    """A request that is not done; the sentence is for a person."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.sentence = sentence


def plainly(sentence: str) -> str:
    """Return a sentence of the command line for people who do not type: options become settings.

    Examples
    --------
    >>> plainly("Routes need a network: give it with --network.")
    "Routes need a network: give it with the setting 'network'."
    """
    text = re.sub(
        r"(?<![\w-])--([a-z][a-z-]*[a-z])", lambda match: f"the setting '{match[1].replace('-', ' ')}'", sentence
    )
    return " ".join(text.split())


def unexpected(error: BaseException) -> str:
    """Say where it happened, never what was in it: the text of an exception may hold values of the data."""
    package = Path(__file__).parent.parent
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(package)]
    where = f" at {Path(frames[-1].filename).relative_to(package)}:{frames[-1].lineno}" if frames else ""
    return f"Unexpected {type(error).__name__}{where}; this is a bug in Wayveil, please report it."
