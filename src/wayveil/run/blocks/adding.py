"""Numbers of pieces or blocks, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any

from wayveil.model import Score
from wayveil.model.sums import add
from wayveil.pipeline.blocks.input_pieces import Pieces
from wayveil.pipeline.blocks.task_files import load_value
from wayveil.recipe.recipe import Recipe

__all__ = ["add_balances", "add_counts", "described_input", "left_out_note", "score_all", "score_files"]


def add_counts(counts: Iterable[Any]) -> Any:
    """Return the sum of counts: always of two sums of about as many, because those of tables grow.

    Only one count and a few sums are held at a time.  O(n log n) for tables that have n rows together, with a logarithm
    more to sort them.

    Examples
    --------
    >>> add_counts(iter([(1, 2.5), (2, 0.5), (4, 1.0), (8, 2.0), (16, 4.0)]))
    (31, 10.0)
    """
    sums: list[tuple[int, Any]] = []
    for one in counts:
        size, total = 1, one
        while sums and sums[-1][0] <= size:
            before, other = sums.pop()
            size, total = before + size, add(other, total)
        sums.append((size, total))
    return reduce(lambda last, other: add(other, last), (total for _, total in reversed(sums)))


def score_all(metrics: Sequence[Any], counts: Sequence[tuple[Any, ...]]) -> tuple[Score, ...]:
    """Return the score of every metric from the counts of pieces, one tuple per piece."""
    return tuple(metric.score(add_counts([one[position] for one in counts])) for position, metric in enumerate(metrics))


def score_files(metrics: Sequence[Any], files: Sequence[Path]) -> tuple[Score, ...]:
    """Return the same from files with the counts of a piece each, of which one is held at a time."""
    return tuple(
        metric.score(add_counts(load_value(file)[position] for file in files))
        for position, metric in enumerate(metrics)
    )


def add_balances(balances: Sequence[Mapping[str, Mapping[str, int | None]]]) -> dict[str, dict[str, int | None]]:
    """Return the sums of what went in and came out; people may be in several blocks, so they are not added up.

    Examples
    --------
    >>> one = {"people": {"in": 1}, "visits": {"in": 2, "invented": None}}
    >>> add_balances([one, one])
    {'visits': {'in': 4, 'invented': None}}
    """
    found: dict[str, dict[str, int | None]] = {}
    for name in (name for name in balances[0] if name != "people"):
        entries = [one[name] for one in balances]
        found[name] = {
            key: None if any(entry[key] is None for entry in entries) else sum(entry[key] or 0 for entry in entries)
            for key in entries[0]
        }
    return found


def described_input(recipe: Recipe, pieces: Pieces) -> dict[str, str]:
    """Return what the data owner should recognise."""
    return {
        "File": recipe.input.path.name,
        "Trajectories": f"{pieces.trajectories:,}",
        "People": f"{pieces.people:,}",
        "Rows": f"{pieces.rows:,}",
    }


def left_out_note(names: Iterable[str]) -> list[str]:
    """Say what was not measured."""
    listed = list(dict.fromkeys(names))
    return [f"Not measured, because it takes all data at once: {', '.join(listed)}."] if listed else []
