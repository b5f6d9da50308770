"""Which settings are worth a look: those that no other beats in risk and in loss, put into one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayveil.report.text.number_format import format_percent, format_value

__all__ = ["Candidate", "advice", "choose", "dominated"]

ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A verified setting with both numbers: its place in the table, its name, and how risky and lossy it is."""

    number: int
    name: str
    risk: float
    loss: float


def dominated(candidates: Sequence[Candidate]) -> frozenset[int]:
    """Return the numbers of settings that another one beats: not worse in risk and loss, and better in one of them.

    Examples
    --------
    >>> pairs = [(0.1, 0.5), (0.2, 0.5), (0.3, 0.1)]
    >>> candidates = [Candidate(number=i, name="", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs)]
    >>> sorted(dominated(candidates))
    [1]
    """
    return frozenset(
        candidate.number
        for candidate in candidates
        for other in candidates
        if other.risk <= candidate.risk
        and other.loss <= candidate.loss
        and (other.risk, other.loss) != (candidate.risk, candidate.loss)
    )


def choose(candidates: Sequence[Candidate], limit: float) -> Candidate | None:
    """Return the setting with the least loss among those with a risk of at most `limit`, of equal ones the safest."""
    within = [candidate for candidate in candidates if candidate.risk <= limit + ROUNDING]
    return min(within, key=lambda candidate: (candidate.loss, candidate.risk, candidate.number), default=None)


def advice(candidates: Sequence[Candidate], limit: float | None, *, settings: int, percent: bool) -> str:
    """Return one sentence that says which setting to take."""

    def told(candidate: Candidate) -> str:
        loss = format_value(candidate.loss, percent=percent)
        return f"setting {candidate.number}, {candidate.name} (risk {format_percent(candidate.risk)}, loss {loss})"

    if not candidates:
        return f"No setting can be recommended: of {settings:,}, none was published and measured."
    safest = min(candidates, key=lambda candidate: (candidate.risk, candidate.loss, candidate.number))
    if limit is None:
        cheapest = min(candidates, key=lambda candidate: (candidate.loss, candidate.risk, candidate.number))
        if cheapest == safest:
            return f"Take {told(safest)}: no other has less risk or less loss."
        return (
            f"The choice is between {told(safest)} and {told(cheapest)}: give the risk that you accept as --max-risk."
        )
    chosen = choose(candidates, limit)
    if chosen is None:
        return f"No setting has a risk of at most {format_percent(limit)}; the nearest is {told(safest)}."
    within = sum(candidate.risk <= limit + ROUNDING for candidate in candidates)
    only = "it is the only one" if within == 1 else f"it loses least of the {within:,}"
    return f"For a risk of at most {format_percent(limit)} take {told(chosen)}: {only} within the limit."
