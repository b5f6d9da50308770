"""Which settings are worth a look: those that no other beats in risk and in loss, put into one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wayveil.report.text.number_format import format_percent, format_value

__all__ = ["Spot", "advice", "choose", "dominated"]

ROUNDING = 1e-9  # a mean of 1/10s must not count as above 1/10


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A verified setting with both numbers: its place in the table, its name, and how risky and lossy it is."""

    number: int
    name: str
    risk: float
    loss: float


def dominated(spots: Sequence[Spot]) -> frozenset[int]:
    """Return the numbers of settings that another one beats: not worse in risk and loss, and better in one of them.

    Examples
    --------
    >>> pairs = [(0.1, 0.5), (0.2, 0.5), (0.3, 0.1)]
    >>> spots = [Spot(number=i, name="", risk=risk, loss=loss) for i, (risk, loss) in enumerate(pairs)]
    >>> sorted(dominated(spots))
    [1]
    """
    return frozenset(
        spot.number
        for spot in spots
        for other in spots
        if other.risk <= spot.risk and other.loss <= spot.loss and (other.risk, other.loss) != (spot.risk, spot.loss)
    )


def choose(spots: Sequence[Spot], limit: float) -> Spot | None:
    """Return the setting with the least loss among those with a risk of at most `limit`, of equal ones the safest."""
    within = [spot for spot in spots if spot.risk <= limit + ROUNDING]
    return min(within, key=lambda spot: (spot.loss, spot.risk, spot.number), default=None)


def advice(spots: Sequence[Spot], limit: float | None, *, settings: int, percent: bool) -> str:
    """Return one sentence that says which setting to take."""

    def told(spot: Spot) -> str:
        loss = format_value(spot.loss, percent=percent)
        return f"setting {spot.number}, {spot.name} (risk {format_percent(spot.risk)}, loss {loss})"

    if not spots:
        return f"No setting can be recommended: of {settings:,}, none was published and measured."
    safest = min(spots, key=lambda spot: (spot.risk, spot.loss, spot.number))
    if limit is None:
        cheapest = min(spots, key=lambda spot: (spot.loss, spot.risk, spot.number))
        if cheapest == safest:
            return f"Take {told(safest)}: no other has less risk or less loss."
        return (
            f"The choice is between {told(safest)} and {told(cheapest)}: give the risk that you accept as --max-risk."
        )
    chosen = choose(spots, limit)
    if chosen is None:
        return f"No setting has a risk of at most {format_percent(limit)}; the nearest is {told(safest)}."
    within = sum(spot.risk <= limit + ROUNDING for spot in spots)
    only = "it is the only one" if within == 1 else f"it loses least of the {within:,}"
    return f"For a risk of at most {format_percent(limit)} take {told(chosen)}: {only} within the limit."
