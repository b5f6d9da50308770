"""What is said of (K,C)_L-privacy once it is judged: what was measured, the counter-example, and the reason."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from wayveil.model.claims import KCL
from wayveil.model.results import Verdict
from wayveil.model.visits import Owners, Visits
from wayveil.verify.kcl_all import Findings
from wayveil.verify.kcl_table import Table

__all__ = ["Break", "Extremes", "Scope", "refused", "told", "verdict_of_all", "verdict_of_listed"]


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much was published, and where its owners come from; trajectories without visits are no evidence."""

    owners: Owners
    trajectories: int
    visits: int

    @classmethod
    def of(cls, data: Visits) -> Scope:
        many = int((data.offsets[:-1] < data.offsets[1:]).sum())
        return cls(owners=data.owners, trajectories=many, visits=len(data.t))


@dataclass(frozen=True, kw_only=True, order=True)
class Break:
    """A sequence that breaks the claim; the smallest is the witness.

    Parameters
    ----------
    length, kind, rank : int
        Number of visits; 0 if the support is broken and 1 if the confidence is; and the support, if that is broken.
    sequence : tuple
        The visits, as (t, location); inside a table, as its items, which are in the same order.
    value : int
        Which of the sensitive values of the claim it tells, in their order; -1 where the support is broken.  Inside a
        table, which of those that are carried there.
    """

    length: int
    kind: int
    rank: int
    sequence: tuple[Any, ...]
    value: int
    support: int = field(compare=False)
    confidence: Fraction | None = field(compare=False, default=None)


@dataclass(kw_only=True)
class Extremes:
    """What was measured over sequences of one length."""

    sequences: int = 0
    support: int | None = None
    confidence: Fraction = Fraction(0)


def told(found: Break, table: Table, claim: KCL) -> Break:
    """Return a break that was found in a table by what means the same outside of it."""
    return replace(
        found,
        sequence=tuple((t, place) for place, t in table.labels(found.sequence)),
        value=-1 if found.value < 0 else _values(claim).index(table.sensitive[found.value]),
    )


def _values(claim: KCL) -> list[tuple[str, str]]:
    """Return the sensitive values of a claim, with their attributes."""
    return [(attribute, value) for attribute, values in claim.sensitive for value in values]


def verdict_of_listed(scope: Scope, claim: KCL, worst: Break | None, by_length: dict[int, Extremes]) -> Verdict:
    """Say what was found; if the claim is broken, only lengths up to that of the witness are counted."""
    judged = [e for length, e in by_length.items() if worst is None or length <= worst.length]
    support = min(e.support for e in judged if e.support is not None)
    confidence = max(e.confidence for e in judged)
    measured: dict[str, int | float | str | None] = {
        "min_support": support,
        "max_confidence": float(confidence),
        "max_confidence_exact": _ratio(confidence),
        "sequences": sum(e.sequences for e in judged),
        **_size(scope),
    }
    return _judged(scope, claim, worst, measured, _reason(scope, claim, measured, worst))


def verdict_of_all(scope: Scope, claim: KCL, table: Table, found: Findings) -> Verdict:
    """Say what was found for sequences of any length; what is not certified does not hold."""
    measured: dict[str, int | float | str | None] = {
        "min_support": found.least,
        "max_confidence": float(found.largest),
        "max_confidence_exact": _ratio(found.largest),
        "sequences": found.judged,
        **_size(scope),
    }
    if not found.support_exact:
        measured["min_support_note"] = "smallest met; the smallest of all may be smaller"
    if not found.confidence_exact:
        beyond = "every other sequence is at most c" if found.certified else "the largest of all may be larger"
        measured["max_confidence_note"] = f"largest met; {beyond}"
    worst = None
    if found.sequence:
        broken = Break(
            length=len(found.sequence),
            kind=int(found.value >= 0),
            rank=found.support,
            sequence=found.sequence,
            value=found.value,
            support=found.support,
            confidence=found.confidence,
        )
        worst = told(broken, table, claim)
    reason = _reason(scope, claim, measured, worst)
    if not (worst or found.certified):
        part = "confidence" if found.support_exact else "support"
        reason = (
            f"The {part} of sequences of any length cannot be certified within the limit of {found.limit} steps, "
            f"so the claim is not shown to hold."
        )
    return _judged(scope, claim, worst, measured, reason, certified=found.certified)


def _judged(
    scope: Scope,
    claim: KCL,
    worst: Break | None,
    measured: dict[str, int | float | str | None],
    reason: str,
    *,
    certified: bool = True,
) -> Verdict:
    witness = None
    if worst:
        witness = {
            "sequence": [[place, t] for t, place in worst.sequence],
            "support": worst.support,
            "confidence": None if worst.confidence is None else _ratio(worst.confidence),
            "sensitive": None if worst.value < 0 else list(_values(claim)[worst.value]),
            "breaks": "support" if worst.value < 0 else "confidence",
        }
    return Verdict(
        holds=worst is None and certified,
        claim=claim,
        counted="owners" if scope.owners == "given" else "trajectories",
        measured=measured,
        witness=witness,
        reason=reason,
        not_judged=_not_judged(scope, claim),
    )


def refused(scope: Scope, claim: KCL, reason: str) -> Verdict:
    """Say that nothing could be judged, and why."""
    measured: dict[str, int | float | str | None] = {
        "min_support": None,
        "max_confidence": None,
        "max_confidence_exact": None,
        "sequences": 0,
        **_size(scope),
    }
    return Verdict(
        holds=False,
        claim=claim,
        counted="owners" if scope.owners == "given" else "trajectories",
        measured=measured,
        reason=reason,
        not_judged=_not_judged(scope, claim),
    )


def _reason(scope: Scope, claim: KCL, measured: dict[str, Any], worst: Break | None) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if scope.owners == "given" else ("trajectory", "trajectories")
    bound = "at least " if scope.owners == "hidden" else ""
    if worst:
        what = "A single visit" if worst.length == 1 else f"A sequence of {worst.length} visits"
        if worst.confidence is None:
            return f"{what} fits only {worst.support} {one if worst.support == 1 else many}, fewer than k = {claim.k}."
        return (
            f"{what} tells a sensitive value with a confidence of {bound}{_ratio(worst.confidence)}, "
            f"more than c = {_ratio(claim.c)}."
        )
    least = measured["min_support"]
    if isinstance(claim.l, str):
        text = "Each sequence of any number of visits"
    else:
        text = f"Each of the {measured['sequences']:,} sequences of at most {claim.l} visit{'s' if claim.l > 1 else ''}"
    text += f" fits {least} {one if least == 1 else many} or more (k = {claim.k})"
    if not claim.sensitive:
        return text + "."
    if "max_confidence_note" in measured:
        return f"{text}, and none tells a sensitive value with a confidence above c = {_ratio(claim.c)}."
    if scope.owners == "hidden":
        return f"{text}, and none certainly breaks the confidence (c = {_ratio(claim.c)})."
    return (
        f"{text}, and none tells a sensitive value with a confidence above {measured['max_confidence_exact']} "
        f"(c = {_ratio(claim.c)})."
    )


def _not_judged(scope: Scope, claim: KCL) -> tuple[str, ...]:
    if scope.owners != "hidden":
        return ()
    parts = [
        f"support by owner: the owners are withheld, so it is known how many trajectories fit, not whether they "
        f"belong to {claim.k} different people"
    ]
    if claim.sensitive:
        parts.append(
            "confidence by owner: the owners are withheld, so only a lower bound of the share of people with a "
            "sensitive value is known"
        )
    return tuple(parts)


def _size(scope: Scope) -> dict[str, int]:
    return {"trajectories": scope.trajectories, "visits": scope.visits}


def _ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
