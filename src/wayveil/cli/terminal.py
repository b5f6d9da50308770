"""What is written to the terminal: lines or JSON on stdout; errors and progress on stderr."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import typer

__all__ = ["emit", "fail", "harmless", "progress_bar"]


class Progress(Protocol):
    """What an engine calls while it works."""

    def __call__(self, step: str, done: int = 0, total: int | None = None) -> None: ...


def harmless(text: str) -> str:
    """Return a text without what steers a terminal or turns the direction of writing: names may come from strangers.

    Examples
    --------
    >>> harmless("a\\x1b[2Jb"), harmless("50\\xa0%")
    ('a\\\\x1b[2Jb', '50\\xa0%')
    """
    steering = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    return "".join(ascii(c)[1:-1] if c in steering else c for c in text) if steering else text


def emit(content: dict[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Write one JSON object, or the lines that say the same to a person."""
    if as_json:
        typer.echo(json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False))
    else:
        for line in lines:
            typer.echo(line)


def fail(message: str, code: int, *, as_json: bool) -> int:
    """Write an error as one line on stderr, as JSON too if asked, and return the exit code."""
    sentence = harmless(" ".join(message.split()))
    if as_json:
        typer.echo(json.dumps({"error": sentence, "exit_code": code}, ensure_ascii=False))
    typer.echo(f"wayveil: {sentence}", err=True)
    return code


@contextmanager
def progress_bar() -> Iterator[Progress | None]:
    """Show what is going on, on a terminal; None on a pipe."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def show(step: str, done: int = 0, total: int | None = None) -> None:
            bar.update(task, description=step, completed=done, total=total)

        yield show
