"""What is said of (K,C)_L-privacy once it is judged: what was measured, the counter-example, and the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from wayveil.model.claims import KclPrivacy
from wayveil.model.data.coded import Owners
from wayveil.model.data.visits import Visits
from wayveil.model.results import Verdict
from wayveil.verifiers.kcl.kcl_any_length import Findings
from wayveil.verifiers.kcl.kcl_table import SHARES, Table

__all__ = ["BREAKS", "Break", "Extremes", "Scope", "name_break", "refused", "verdict_of_all", "verdict_of_listed"]

BREAKS = ("support", *SHARES)
"""What a sequence can break, in the order in which breaks of sequences of the same length are shown."""


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
        Number of visits; what is broken, as a position in `BREAKS`; and the support, if that is broken.
    sequence : tuple
        The visits, as (t, location); inside a table, as its items, which are in the same order.
    value : int
        Which of the sensitive values of the claim it tells, in their order; -1 where no confidence is broken.  Inside
        a table, which of those that are carried there.
    support : int
        The people who own what it fits; trajectories, where owners are withheld.
    share : Fraction or None
        The share that is too large; None where the support is broken.
    """

    length: int
    kind: int
    rank: int
    sequence: tuple[Any, ...]
    value: int
    support: int = field(compare=False)
    share: Fraction | None = field(compare=False, default=None)


@dataclass(kw_only=True)
class Extremes:
    """What was measured over sequences of one length: how many, the smallest support, and the largest shares."""

    sequences: int = 0
    support: int | None = None
    shares: dict[str, Fraction] = field(default_factory=lambda: dict.fromkeys(SHARES, Fraction(0)))


def name_break(worst: Break, table: Table, claim: KclPrivacy) -> Break:
    """Return a break of a table in names and times, which mean the same outside of it."""
    # Codes are those of one table; in shares of a table they differ, names do not.
    return replace(
        worst,
        sequence=tuple((t, place) for place, t in table.labels(worst.sequence)),
        value=-1 if worst.value < 0 else _values(claim).index(table.sensitive[worst.value]),
    )


def _values(claim: KclPrivacy) -> list[tuple[str, str]]:
    """Return the sensitive values of a claim, with their attributes."""
    return [(attribute, value) for attribute, values in claim.sensitive for value in values]


def verdict_of_listed(scope: Scope, claim: KclPrivacy, worst: Break | None, by_length: dict[int, Extremes]) -> Verdict:
    """Say what was found; if the claim is broken, only lengths up to that of the witness are counted."""
    # Where the claim is broken, longer sequences were not all judged, so their extremes would be extremes of a part.
    judged = [e for length, e in by_length.items() if worst is None or length <= worst.length]
    measured: dict[str, int | float | str | None] = {
        "min_support": min(e.support for e in judged if e.support is not None),
        **_write_shares({kind: max(e.shares[kind] for e in judged) for kind in SHARES}),
        "sequences": sum(e.sequences for e in judged),
        **_size(scope),
    }
    return _judged(scope, claim, worst, measured, _reason(scope, claim, measured, worst))


def verdict_of_all(scope: Scope, claim: KclPrivacy, table: Table, findings: Findings) -> Verdict:
    """Say what was found for sequences of any length; what is not certified does not hold."""
    measured: dict[str, int | float | str | None] = {
        "min_support": findings.least,
        **_write_shares({kind: largest.share for kind, largest in findings.largest.items()}),
        "sequences": findings.judged,
        **_size(scope),
    }
    if not findings.support_exact:
        measured["min_support_note"] = "smallest met; the smallest of all may be smaller"
    for kind, largest in findings.largest.items():
        if not largest.exact:
            bound = "row_share" if kind == "owner_share" else "c"
            beyond = (
                f"every other sequence is at most {bound}" if largest.certified else "the largest of all may be larger"
            )
            measured[f"max_{kind}_note"] = f"largest met; {beyond}"
    worst = None
    if findings.sequence:
        broken = Break(
            length=len(findings.sequence),
            kind=BREAKS.index(findings.breaks),
            rank=findings.support,
            sequence=findings.sequence,
            value=findings.value,
            support=findings.support,
            share=findings.share,
        )
        worst = name_break(broken, table, claim)
    reason = _reason(scope, claim, measured, worst)
    # A witness is certain even if the search ended early.
    # The search for sequences of any length has a budget. What it could not certify does not hold: a verdict is never
    # better because the judge got tired.
    if not (worst or findings.certified):
        open_ = next((kind for kind, largest in findings.largest.items() if not largest.certified), "")
        part = "support" if not findings.support_exact else _WORDS[open_]
        reason = (
            f"The {part} of sequences of any length cannot be certified within the limit of {findings.limit} steps, "
            f"so the claim is not shown to hold."
        )
    return _judged(scope, claim, worst, measured, reason, certified=findings.certified)


def _judged(
    scope: Scope,
    claim: KclPrivacy,
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
            "owner_share": _ratio(worst.share) if worst.share is not None and worst.value < 0 else None,
            "confidence": _ratio(worst.share) if worst.share is not None and worst.value >= 0 else None,
            "sensitive": None if worst.value < 0 else list(_values(claim)[worst.value]),
            "breaks": BREAKS[worst.kind],
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


def refused(scope: Scope, claim: KclPrivacy, reason: str) -> Verdict:
    """Say that nothing could be judged, and why."""
    measured: dict[str, int | float | str | None] = {
        "min_support": None,
        **_write_shares(dict.fromkeys(SHARES)),
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


_WORDS = {
    "owner_share": "share of one owner",
    "confidence": "confidence",
    "confidence_trajectories": "confidence over trajectories",
}


def _reason(scope: Scope, claim: KclPrivacy, measured: dict[str, Any], worst: Break | None) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if scope.owners == "given" else ("trajectory", "trajectories")
    if worst:
        return _reason_of_break(scope, claim, worst, one, many)
    least = measured["min_support"]
    if isinstance(claim.l, str):
        text = "Each sequence of any number of visits"
    else:
        text = f"Each of the {measured['sequences']:,} sequences of at most {claim.l} visit{'s' if claim.l > 1 else ''}"
    text += f" fits {least} {one if least == 1 else many} or more (k = {claim.k})"
    if scope.owners == "given":
        text += f", none of whom owns more than {_largest_told(measured, 'owner_share', claim.owner_share)}"
        text += f" of the trajectories that fit (row_share = {_ratio(claim.owner_share)})"
    if not claim.sensitive:
        return text + "."
    c = f"(c = {_ratio(claim.c)})"
    rows = f"above {_largest_told(measured, 'confidence_trajectories', claim.c)} over trajectories"
    if scope.owners == "hidden":
        return f"{text}, and none tells a sensitive value with a confidence {rows} {c}."
    people = f"above {_largest_told(measured, 'confidence', claim.c)}"
    if scope.owners == "given":
        people += f" over people or {rows}"
    return f"{text}, and none tells a sensitive value with a confidence {people} {c}."


def _reason_of_break(scope: Scope, claim: KclPrivacy, worst: Break, one: str, many: str) -> str:
    what = "A single visit" if worst.length == 1 else f"A sequence of {worst.length} visits"
    if worst.share is None:
        return f"{what} fits only {worst.support} {one if worst.support == 1 else many}, fewer than k = {claim.k}."
    kind = BREAKS[worst.kind]
    # Without owners, all trajectories with the value may be those of one person, so only a lower bound of a share of
    # people is certain.
    bound = "at least " if scope.owners == "hidden" and kind != "confidence_trajectories" else ""
    share = f"{bound}{_ratio(worst.share)}"
    if kind == "owner_share":
        return (
            f"{what} fits trajectories of which one person owns {share}, "
            f"more than row_share = {_ratio(claim.owner_share)}."
        )
    over = " of the trajectories that fit" if kind == "confidence_trajectories" else ""
    return f"{what} tells a sensitive value with a confidence of {share}{over}, more than c = {_ratio(claim.c)}."


def _largest_told(measured: dict[str, Any], kind: str, allowed: Fraction) -> str:
    """Return the largest share of a kind, or what it is certified to stay within where its exact value is not known."""
    return _ratio(allowed) if f"max_{kind}_note" in measured else str(measured[f"max_{kind}_exact"])


def _not_judged(scope: Scope, claim: KclPrivacy) -> tuple[str, ...]:
    if scope.owners != "hidden":
        return ()
    parts = [
        f"support by owner: the owners are withheld, so it is known how many trajectories fit, not whether they "
        f"belong to {claim.k} different people",
        "trajectories by owner: the owners are withheld, so it is not known whether one person owns more than "
        f"{_ratio(claim.owner_share)} of the trajectories that fit",
    ]
    if claim.sensitive:
        parts.append(
            "confidence by owner: the owners are withheld, so the share of trajectories with a sensitive value is "
            "known, but only a lower bound of the share of people"
        )
    return tuple(parts)


def _write_shares(shares: Mapping[str, Fraction | None]) -> dict[str, int | float | str | None]:
    """Return the largest share of each kind, as a number and as an exact fraction."""
    measured: dict[str, int | float | str | None] = {}
    for kind, share in shares.items():
        measured[f"max_{kind}"] = None if share is None else float(share)
        measured[f"max_{kind}_exact"] = None if share is None else _ratio(share)
    return measured


def _size(scope: Scope) -> dict[str, int]:
    return {"trajectories": scope.trajectories, "visits": scope.visits}


def _ratio(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
