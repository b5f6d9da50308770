"""What a verifier was given and what it said, for whoever wants to judge the very same data in another way."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from wayveil.model import Boxes, Data, Guarantee, Verdict

__all__ = ["JudgedData", "keep_judged", "record_verdicts"]


@dataclass(frozen=True, kw_only=True)
class JudgedData:
    """Published data with their owners, the truth and the boxes as the verifier got them, and its verdict."""

    published: Data
    claim: Guarantee
    original: Data | None
    boxes: Boxes | None
    verdict: Verdict


_RECORD: ContextVar[list[JudgedData] | None] = ContextVar("verdicts", default=None)


@contextmanager
def record_verdicts(keep: bool = True) -> Iterator[list[JudgedData]]:
    """Keep what is judged inside, in this thread, if `keep`; otherwise nothing is, because data may be large."""
    record: list[JudgedData] = []
    # A context variable: threads of other runs in the same process keep records of their own.
    before = _RECORD.set(record if keep else None)
    try:
        yield record
    finally:
        _RECORD.reset(before)


def keep_judged(judged: JudgedData) -> None:
    """Add to the record, if somebody keeps one."""
    record = _RECORD.get()
    if record is not None:
        record.append(judged)
