"""Numbers of pieces or blocks, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from wayveil.model import BlockStore, Score
from wayveil.model.accumulators import add
from wayveil.pipeline.blocks.block_source import Blocks
from wayveil.recipe.recipe import Recipe

__all__ = ["add_balances", "add_counts", "add_facts", "described_input", "left_out_note", "score_blocks"]


def add_counts(counts: Iterable[Any]) -> Any:
    """Return the sum of counts: always of two sums of about as many, because those of tables grow.

    Only one count and a few sums are held at a time.  O(n log n) for tables that have n rows together, with a logarithm
    more to sort them.

    Examples
    --------
    >>> add_counts(iter([(1, 2.5), (2, 0.5), (4, 1.0), (8, 2.0), (16, 4.0)]))
    (31, 10.0)
    """
    # A binary counter: `sums` holds sums of falling sizes, and two of about the same size are added at once.  So each
    # count takes part in about log2(n) additions, and the large ones in few.
    sums: list[tuple[int, Any]] = []
    for one in counts:
        size = 1
        total = one
        while sums and sums[-1][0] <= size:
            before, other = sums.pop()
            size = before + size
            total = add(other, total)
        sums.append((size, total))
    # What is left is added from the smallest to the largest.
    return reduce(lambda last, other: add(other, last), (total for _, total in reversed(sums)))


def score_blocks(metrics: Sequence[Any], store: BlockStore, names: Sequence[str]) -> tuple[Score, ...]:
    """Return the score of every metric from what was counted in blocks, of which one is held at a time."""
    return tuple(
        metric.score(add_counts(store.load(name)[position] for name in names))
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
    sums: dict[str, dict[str, int | None]] = {}
    for name in (name for name in balances[0] if name != "people"):
        entries = [one[name] for one in balances]
        sums[name] = {
            key: None if any(entry[key] is None for entry in entries) else sum(entry[key] or 0 for entry in entries)
            for key in entries[0]
        }
    return sums


def add_facts(facts: Sequence[Mapping[str, int | float | str]]) -> dict[str, int | float | str]:
    """Return what was done in all blocks: counts added up, the largest of what is largest, and the span of others."""
    sums: dict[str, int | float | str] = {}
    for name in dict.fromkeys(name for one in facts for name in one):
        values = [one[name] for one in facts if name in one]
        numbers = [value for value in values if isinstance(value, (int, float))]
        # Texts are not added: what the first block said stands for all.
        if len(numbers) < len(values):
            sums[name] = str(values[0])
        elif name.startswith("largest"):
            sums[name] = max(numbers)
        elif all(isinstance(number, int) for number in numbers):
            sums[name] = sum(numbers)
        elif min(numbers) == max(numbers):
            sums[name] = numbers[0]
        else:
            sums[name] = f"{min(numbers):.4g} to {max(numbers):.4g}, by block"
    return sums


def described_input(recipe: Recipe, blocks: Blocks) -> dict[str, str]:
    """Return what the data owner should recognise."""
    return {
        "File": recipe.input.path.name,
        "Trajectories": f"{blocks.trajectories:,}",
        "People": f"{blocks.people:,}",
        "Rows": f"{blocks.rows:,}",
    }


def left_out_note(names: Iterable[str]) -> list[str]:
    """Say what was not measured."""
    listed = list(dict.fromkeys(names))
    return [f"Not measured, because it takes all data at once: {', '.join(listed)}."] if listed else []
