"""A comparison as a few lines that a person reads, and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Any

import typer

__all__ = ["compare_json", "compare_lines"]


def compare_json(comparison: Any) -> dict[str, Any]:
    """Return a comparison as JSON can hold it: ``comparison.json``, and where everything is."""
    return {
        **comparison.content,
        "out": str(comparison.out),
        "report": str(comparison.report),
        "recommended": None if comparison.recommended is None else str(comparison.recommended),
        "ran": comparison.ran,
    }


def compare_lines(comparison: Any) -> Iterator[str]:
    """Say how each setting did, and which one to take."""
    rows = comparison.settings
    risk = comparison.content["risk"]
    loss = comparison.content["loss"]
    yield f"risk: {risk['attack']}.{risk['number']}; loss: {loss['metric']}, against {loss['against']}"
    width = max(len(row["setting"]) for row in rows)
    yield f"  {'':>4}  {'':<{width}}  {'risk':>9}  {'loss':>9}  {'trips left':>10}  {'time':>12}"
    for row in rows:
        shown = {name: text.replace("\N{NO-BREAK SPACE}", " ") for name, text in row["shown"].items()}
        line = (
            f"  {row['number']:>4}  {row['setting']:<{width}}  {shown['risk']:>9}  {shown['loss']:>9}  "
            f"{shown['kept']:>10}  {shown['time']:>12}  {_state(row)}"
        )
        yield typer.style(line, fg="green", bold=True) if row["recommended"] else line.rstrip()
        if row["status"] != "verified":
            yield fill(row["reason"], width=110, initial_indent=" " * 8, subsequent_indent=" " * 8)
    yield ""
    yield fill(comparison.sentence.replace("\N{NO-BREAK SPACE}", " "), width=110)
    yield f"  {'page':<12}{comparison.report}"
    if comparison.recommended is not None:
        yield f"  {'recipe':<12}{comparison.recommended} (wayveil run publishes it)"


def _state(row: dict[str, Any]) -> str:
    if row["status"] != "verified":
        return row["status"]
    return "recommended" if row["recommended"] else "dominated" if row["dominated"] else ""
