"""The small texts of a publication: counts in words, notes, the log and the mapping."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from wayveil.model import Data, MethodResult, Owners, Sensitive, Verdict
from wayveil.recipe.catalog import plain_parameters

__all__ = [
    "counted_note",
    "input_facts",
    "log_text",
    "mapping_csv",
    "output_facts",
    "prepare_notes",
    "sha256",
    "unprotected",
    "value_text",
]


def counted_note(owners: Owners, *, people: int, trajectories: int, each_trajectory: bool) -> str:
    """Say how people were counted; `each_trajectory` is whether those of the input were declared to be people."""
    if not each_trajectory and owners == "given":
        return (
            f"People were counted by the owners of trajectories: {people:,} people own {trajectories:,} trajectories."
        )
    parts = "" if people == trajectories else f", which were cut into {trajectories:,} that count as theirs,"
    return (
        f"Nobody said who is behind a trajectory (user_id): the publisher declared that each of the {people:,} "
        f"trajectories of the input{parts} is another person. If somebody owns several, the promise does not hold for "
        "them."
    )


def unprotected(keep: Iterable[str], sensitive: Sensitive) -> tuple[str, ...]:
    """Return the attributes that are published without being part of the claim."""
    covered = {attribute for attribute, _ in sensitive}
    return tuple(name for name in dict.fromkeys(keep) if name not in covered)


def prepare_notes(steps: Iterable[Any]) -> tuple[str, ...]:
    """Say that losses and risks are measured against the prepared data."""
    listed = list(steps)
    if not listed:
        return ()
    words = ", ".join(
        f"{step.name} ({', '.join(f'{key}={value}' for key, value in plain_parameters(step).items())})"
        for step in listed
    )
    return (f"Prepared before publication: {words}. Risk and loss are measured against the prepared data.",)


def input_facts(path: Path, data: Data) -> dict[str, str]:
    """Return what the data owner should recognise; for the private report only."""
    return {"File": path.name, **_counts(data)}


def output_facts(published: Data, result: MethodResult) -> dict[str, str]:
    """Return what was made, in numbers."""
    facts = _counts(published)
    facts.pop("People", None)
    # How many trajectories came to nothing is known from the result, not from the file.
    facts[published.not_published] = f"{int((~result.data.nonempty).sum()):,}"
    facts.update({name: value_text(value) for name, value in result.facts.items()})
    return facts


def sha256(content: bytes) -> str:
    """Return the hash of some bytes as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()


def log_text(created: str, timings: Mapping[str, float], notes: Iterable[str], verdict: Verdict) -> str:
    """Return the log: steps, notes and the verdict; no value of the data."""
    lines = [f"{created} run", *(f"{seconds:9.3f} s  {step}" for step, seconds in timings.items())]
    lines += [f"note: {note}" for note in notes]
    measured = ", ".join(f"{name} {value}" for name, value in verdict.measured.items())
    lines.append(f"verdict: {'holds' if verdict.holds else 'fails'}, counted {verdict.counted}: {measured}")
    return "\n".join(lines) + "\n"


def mapping_csv(new: pl.Series, old: pl.Series) -> str:
    """Return the private table new id -> input id."""
    return pl.DataFrame({"published_id": new, "input_id": old}).write_csv()


def value_text(value: Any) -> str:
    """Return a parameter or a fact as a person reads it.

    Examples
    --------
    >>> value_text(20000), value_text({"ill": ["HIV", "flu"]}), value_text("0.5")
    ('20,000', 'ill: HIV, flu', '0.5')
    """
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {', '.join(values)}" for name, values in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _counts(data: Data) -> dict[str, str]:
    return {name: f"{number:,}" for name, number in data.counts().items()}
