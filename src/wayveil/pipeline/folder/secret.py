"""The secret of a run: what new ids, the order of rows and hiding draws come from.

A seed that a person types can be guessed: a few million tries take seconds.  Nothing that would lead back to the input
may therefore be a function of the seed alone.  The secret is drawn fresh for every run, is never typed, and stays in
``private/secret.txt``; whoever has it, the input and the recipe can repeat a publication to the byte.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wayveil.errors import UsageError

__all__ = ["SECRET_FILE", "Secret"]

SECRET_FILE = "secret.txt"
# 256 bits are drawn; 128 are the least that is accepted from a file.
_BYTES = 32
_FEWEST_BYTES = 16
_LONGEST_FILE = 4096


@dataclass(frozen=True)
class Secret:
    """At least 128 random bits; its text form is never shown, logged or published.

    Examples
    --------
    >>> Secret(bytes(32))
    Secret()
    >>> Secret(bytes(32)).key("ids", 1) == Secret(bytes(32)).key("ids", 2)
    False
    """

    value: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.value) < _FEWEST_BYTES:
            raise UsageError(f"A secret needs at least {8 * _FEWEST_BYTES} bits; let Wayveil draw one.")

    @classmethod
    def fresh(cls) -> Secret:
        """Draw a secret from the system's source of randomness."""
        return cls(secrets.token_bytes(_BYTES))

    @classmethod
    def read(cls, path: Path) -> Secret:
        """Read the secret of an earlier run, as `text` wrote it."""
        advice = f"Give the {SECRET_FILE} that a run left in its private folder."
        try:
            # Only a plain file: a pipe would wait for ever, a device has no end.
            if not stat.S_ISREG(os.stat(path).st_mode):
                raise UsageError(f"The secret {str(path)!r} is not a plain file. {advice}")
            with open(path, "rb") as file:
                content = file.read(_LONGEST_FILE)
        except OSError as error:
            raise UsageError(f"The secret {str(path)!r} cannot be read: {error.strerror}. {advice}") from None
        try:
            return cls(bytes.fromhex(content.decode("ascii").strip()))
        except (UnicodeDecodeError, ValueError):
            raise UsageError(f"The secret {str(path)!r} is not one: it must be hexadecimal digits. {advice}") from None

    @property
    def text(self) -> str:
        """What is kept in the private folder."""
        return f"{self.value.hex()}\n"

    def key(self, purpose: str, *block: int) -> bytes:
        """Return 32 bytes for one purpose, and for one block of it; one tells nothing about another."""
        # A keyed hash per purpose and block: keys that are known for one purpose do not help with another.
        message = "/".join([purpose, *map(str, block)]).encode()
        return hashlib.blake2b(message, key=hashlib.sha256(self.value).digest(), digest_size=32).digest()

    def rng(self, purpose: str, *block: int, seed: int = 0) -> np.random.Generator:
        """Return random numbers for one purpose; the seed takes part, so that another seed gives others."""
        # The 256 bits of the key as eight words, and the seed as one more.
        words = np.frombuffer(self.key(purpose, *block), np.uint32).tolist()
        return np.random.default_rng(np.random.SeedSequence([*words, seed]))
