"""What the publisher decides about: how much risk is accepted, and what the data are for.

One limit for risk counts for the risk page, the result, the comparison and the search for settings; one purpose says
which loss is told first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Literal, get_args

from wayveil.model import Score

__all__ = ["TELLING", "USES", "Use", "lost_share", "parse_limit", "set_limit", "telling_names", "telling_score"]

Use = Literal["flows", "hours", "routes", "patterns", "points"]
"""What the published data are for."""

USES: tuple[str, ...] = get_args(Use)

TELLING: Mapping[Use, tuple[str, ...]] = {
    "flows": ("flows", "od_matrix", "route_flows", "stop_flows"),
    "hours": ("place_hours", "cell_hours", "visit_support", "traffic"),
    "routes": ("traffic", "next_place", "next_cell", "next_stop", "road_error"),
    "patterns": ("frequent_sequences", "road_patterns", "sequential_patterns", "clustering_agreement"),
    "points": ("range_queries", "visit_support", "generalization_cost", "traffic", "count_error"),
}
"""For each purpose the metrics that tell what was lost for it; the first that was measured counts."""

_ANYWAY = ("place_hours", "cell_hours", "generalization_cost", "traffic")  # where nobody said what the data are for
_INFERENCE = Fraction(1, 2)  # attacks that infer a value have this default, and follow the bound of the claim


def telling_score(scores: Sequence[Score], use: Use | None) -> Score | None:
    """Return the loss that tells most for a purpose; where nobody said one, that of everyday use, or else the first.

    Examples
    --------
    >>> one = Score(name="instance_loss", meaning="visits lost", value=0.1, better="lower", unit="share")
    >>> two = Score(name="flows", meaning="flows lost", value=0.4, better="lower", unit="share")
    >>> telling_score([one, two], "flows").name, telling_score([one, two], None).name
    ('flows', 'instance_loss')
    """
    measured = {score.name: score for score in scores if score.value is not None}
    # The first that was measured, in the order of what tells most.
    chosen_score = next((measured[name] for name in telling_names(use) if name in measured), None)
    return chosen_score or next(iter(measured.values()), None)


def telling_names(use: Use | None) -> tuple[str, ...]:
    """Return the metrics of which the first that was measured tells most for a purpose."""
    return (*TELLING[use], *_ANYWAY) if use is not None else _ANYWAY


def lost_share(score: Score) -> float | None:
    """Return what a score says was lost, as a share; None where it is told in another unit.

    Examples
    --------
    >>> lost_share(Score(name="patterns", meaning="kept", value=0.75, better="higher", unit="share"))
    0.25
    """
    if score.value is None or not score.percent:
        return None
    return score.value if score.better == "lower" else 1 - score.value


def parse_limit(value: Any) -> Fraction:
    """Return an accepted risk as an exact number: 0.1, "1/30" and "5 %" alike; ValueError for what is none.

    Examples
    --------
    >>> parse_limit("1/30"), parse_limit(0.1), parse_limit("5 %")
    (Fraction(1, 30), Fraction(1, 10), Fraction(1, 20))
    """
    text = str(value).strip()
    try:
        percent = text.endswith("%")
        # As a fraction: 0.1 as text is exactly 1/10.
        limit = Fraction(text.removesuffix("%").strip()) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        raise ValueError("the accepted risk must be a number from 0 to 1, as in 0.1, 1/30 or 5 %") from None
    if isinstance(value, bool) or not 0 <= limit <= 1:
        raise ValueError("the accepted risk must be from 0 to 1, as in 0.1, 1/30 or 5 %")
    return limit


def set_limit(attacks: Sequence[Any], limit: Fraction | None) -> tuple[Any, ...]:
    """Return the attacks with the accepted risk as that above which people are counted.

    What an attacker infers, where people are not to be found but a value is, keeps the bound of the claim.
    """
    if limit is None:
        return tuple(attacks)
    return tuple(replace(attack, threshold=limit) if _finds_people(attack) else attack for attack in attacks)


def _finds_people(attack: Any) -> bool:
    declared = getattr(type(attack), "__dataclass_fields__", {}).get("threshold")
    return declared is not None and declared.default != _INFERENCE
