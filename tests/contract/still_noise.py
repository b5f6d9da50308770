"""Publications whose noise is 0, so that all the rest of them can be compared byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

__all__ = ["still_noise"]

NOISE = "wayveil.methods.common.noise.draw_noise"
"""The one place where a method with `random_noise` draws it."""


@contextmanager
def still_noise() -> Iterator[None]:
    """Draw no noise: numbers stay as they are, and keys are shown from the threshold on."""

    def keep(noisy: Any, numbers: Any) -> Any:
        return numbers

    with patch(NOISE, keep):
        yield
