"""Answers that say no: one sentence each, with a status."""

from __future__ import annotations

import re

__all__ = ["Refused", "plainly"]


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
