"""The threshold for counts, word for word: every table that fits what is published is tried."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Any

from wayveil.errors import UsageError
from wayveil.model import CountTables, Threshold
from wayveil.model.data.count_tables import ALL, EVERYWHERE, list_events

__all__ = ["find_break_of_threshold", "list_fitting_tables"]

MOST_TRIED = 200_000
"""So many beginnings of tables are tried, at most."""


def find_break_of_threshold(published: CountTables, claim: Threshold, *, original: Any = None, **_: Any) -> str:
    """Return how the numbers break the threshold, "" if they keep it.

    Examples
    --------
    >>> table = CountTables.from_rows([("a", "", 1, 4)])
    >>> find_break_of_threshold(table, Threshold(k=5))
    'A number is below 5.'
    """
    if not isinstance(published, CountTables):
        raise UsageError("A threshold is one for tables of counts, and these data are none.")
    rows = list(chain.from_iterable(published.record(i) for i in range(len(published))))
    shown = {(zone, to_zone, t): number for zone, to_zone, t, number in rows}
    if len(shown) < len(rows):
        return "A row stands twice."
    if any(number < claim.k for number in shown.values()):
        return f"A number is below {claim.k}."
    if claim.margins == "no" and any(is_total(cell, claim, shown) for cell in shown):
        return "A total is published, of which the claim does not speak."
    if original is None:
        return ""
    events = list_events(original, tally=claim.tally, every=claim.every)
    has_times = claim.every != ALL and original.has_times()
    cells: dict[Any, Counter[int]] = {}
    for zone, to_zone, t, person in zip(events.zone, events.to_zone, events.t.tolist(), events.person, strict=True):
        cell = events.names[zone], events.names[to_zone], t if has_times else None
        parts = cells.setdefault(cell, Counter())
        parts[int(person)] = 1 if claim.count == "people" else parts[int(person)] + 1
    inside = dict(cells)
    while claim.margins == "yes":  # lines that are too small as wholes are in no total
        few = {total for total in totals_of(inside, claim) if is_small(parts_of(total, inside, claim), claim)}
        left = {cell: parts for cell, parts in inside.items() if not few & {*lines_of(cell, claim)}}
        if len(left) == len(inside):
            break
        inside = left
    for cell, number in shown.items():
        parts = parts_of(cell, inside, claim)
        if sum(parts.values()) != number:
            return "A number is not the true one."
        if is_small(parts, claim):
            return f"A number counts {len(parts)} people, one of whom is {max(parts.values())} of {number}."
    hidden = [cell for cell in inside if cell not in shown]
    unknown = [cell for cell in hidden if is_small(inside[cell], claim)] if claim.margins == "yes" else []
    tables = list(list_fitting_tables(shown, hidden, claim)) if unknown else []
    for cell in unknown:
        values = [table[hidden.index(cell)] for table in tables]
        if min(values) > 0 or max(values) < claim.k - 1:
            return f"A small cell is from {min(values)} to {max(values)} in all tables that fit."
    return ""


def is_small(parts: Counter[int], claim: Threshold) -> bool:
    """Return whether a number counts too few people, or one of them is too much of it."""
    return len(parts) < claim.k or Fraction(max(parts.values()), sum(parts.values())) > claim.owner_share


def lines_of(cell: Any, claim: Threshold) -> tuple[Any, ...]:
    """Return the totals that count a cell."""
    zone, to_zone, t = cell
    if claim.tally == "zones":
        return (zone, EVERYWHERE, None), (EVERYWHERE, EVERYWHERE, t), (EVERYWHERE, EVERYWHERE, None)
    return (zone, EVERYWHERE, t), (EVERYWHERE, to_zone, t), (EVERYWHERE, EVERYWHERE, t)


def totals_of(cells: Any, claim: Threshold) -> set[Any]:
    """Return all totals of some cells."""
    return {line for cell in cells for line in lines_of(cell, claim)}


def is_total(cell: Any, claim: Threshold, shown: Any) -> bool:
    """Return whether a row adds something up."""
    zone, to_zone, t = cell
    if claim.tally == "flows":
        return EVERYWHERE in (zone, to_zone)
    # Totals of zones are published of data with times only, so a row of all times is one, whatever else is there.
    untimed = claim.margins == "yes" or any(other is not None for _, _, other in shown)
    return zone == EVERYWHERE or (t is None and untimed)


def parts_of(number: Any, cells: Any, claim: Threshold) -> Counter[int]:
    """Return everybody's part of a cell or a total."""
    if number in cells:
        return Counter(cells[number])
    return sum((parts for cell, parts in cells.items() if number in lines_of(cell, claim)), Counter())


def list_fitting_tables(shown: Any, hidden: list[Any], claim: Threshold) -> Iterator[tuple[int, ...]]:
    """Yield every way to fill the hidden cells so that all published totals are right, up to k where nothing bounds."""
    totals = [cell for cell in shown if is_total(cell, claim, shown)]
    rest = {
        total: shown[total]
        - sum(number for cell, number in shown.items() if cell not in totals and total in lines_of(cell, claim))
        for total in totals
    }
    lines = [[line for line in dict.fromkeys(lines_of(cell, claim)) if line in rest] for cell in hidden]
    last = {line: max((i for i, some in enumerate(lines) if line in some), default=-1) for line in rest}
    if any(rest[line] != 0 for line, i in last.items() if i < 0):
        return
    tried = 0

    def fill(i: int, begun: tuple[int, ...], left: dict[Any, int]) -> Iterator[tuple[int, ...]]:
        nonlocal tried
        tried += 1
        if tried > MOST_TRIED:
            raise UsageError(
                "The definition tries every table, and there are too many. Verify without --by-definition."
            )
        if i == len(hidden):
            yield begun
            return
        for value in range(min((left[line] for line in lines[i]), default=claim.k) + 1):
            after = {**left, **{line: left[line] - value for line in lines[i]}}
            if all(after[line] == 0 for line in lines[i] if last[line] == i):
                yield from fill(i + 1, (*begun, value), after)

    yield from fill(0, (), rest)
