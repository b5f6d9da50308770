"""An inspection as lines for a person: one screen, shapes and no values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from wayveil.cli.terminal import harmless

__all__ = ["inspection_lines"]

_ROW = {
    "visits": "one row per visit to a place",
    "points": "one row per position",
    "trips": "one row per trip, with both ends",
    "places": "a table of places",
    "unknown": "not known what a row is",
}
_WORDS = {
    "people": "people",
    "trajectories": "trajectories",
    "rows_per_trajectory": "rows per trajectory",
    "seconds_between_rows": "seconds between rows (median)",
    "gaps_over_30_minutes": "gaps of more than 30 minutes",
    "days": "days from first to last",
    "duplicate_rows": "rows that repeat another",
}


_WIDTH = 110
_INDENT = " " * 14


def inspection_lines(seen: Any) -> Iterator[str]:
    """Say what a file is, what was guessed, and what is left to be asked, in lines that fit a screen."""
    for line in _sentences(seen):
        yield from _wrapped(line)


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


def _wrapped(line: str) -> list[str]:
    """Return a line in pieces of at most `_WIDTH` characters, those behind the first indented; words stay whole."""
    return textwrap.wrap(line, _WIDTH, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False) or [
        line
    ]


def _sentences(seen: Any) -> Iterator[str]:
    """Yield what there is to say, a line each, of any length."""
    profile = seen.profile
    yield f"{seen.file}: {seen.format}; {profile.rows:,} rows, {_ROW[profile.layout]}"
    if seen.dialect is not None:
        header = "names of columns on the first line" if seen.dialect.header else "no header"
        above = f", {seen.dialect.skip_lines} lines above" if seen.dialect.skip_lines else ""
        yield f"  written     {header}{above}, decimal {'comma' if seen.dialect.decimal == ',' else 'point'}"
    width = min(24, max(len(column.name) for column in profile.columns))
    for column in profile.columns:
        low, high = column.lengths
        length = f"{low} to {high} characters" if low != high else f"{low} character{'' if low == 1 else 's'}"
        missing = f", {column.missing:.1%} missing" if column.missing else ""
        role = f"  -> {column.role}: {column.why}" if column.role else ""
        shape = f"{column.type}, {column.distinct:,} different, {length}{missing}"
        shown = f"  [{' | '.join(seen.examples[column.name])}]" if column.name in seen.examples else ""
        line = f"  column      {column.name:<{width}}  {shape}"
        if len(line) + len(role) <= _WIDTH:
            line += role
            role = ""
        yield harmless(f"{line}{'' if role else shown}")
        if role:
            yield harmless(f"{_INDENT}{role.strip()}{shown}")
    for person in profile.people:
        yield harmless(f"  person?     {person.column}: {_people(person.people)}; {person.why}")
    for key, words in _WORDS.items():
        if profile.facts.get(key):
            yield f"  count       {words}: {profile.facts[key]:,}"
    for problem in profile.problems:
        yield harmless(f"  problem     {problem}")
    for guess in seen.guesses[:-1] if seen.little_left else seen.guesses:
        yield harmless(f"  taken       {guess}")
    for trial in seen.trials:
        yield f"  tried       {trial.candidate.words}: {trial.kept:.0%} left"
    if seen.little_left:
        yield harmless(f"  little left {seen.guesses[-1]}")
    for question in seen.questions:
        yield harmless(f"  question    {question.text}")
        for answer in question.answers:
            # An option is copied as it is: what it means goes below where both do not fit into a line.
            apart = len(_INDENT) + len(answer.option) + len(answer.words) + 4 > _WIDTH
            yield harmless(f"{_INDENT}{answer.option}" + ("" if apart else f"  ({answer.words})"))
            if apart:
                yield harmless(f"{_INDENT}  ({answer.words})")
    if seen.refusal:
        yield harmless(f"  cannot be published: {seen.refusal}")
