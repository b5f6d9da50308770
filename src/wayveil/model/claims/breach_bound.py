"""A bound on breaches, a claim on visits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.errors import ParameterError
from wayveil.model.claims.base import Claim, Protection
from wayveil.model.claims.counting import percent
from wayveil.model.claims.verdict_numbers import BREACH_BOUND
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import Sensitive, parameter

__all__ = ["BreachBound"]


@dataclass(frozen=True, kw_only=True)
class BreachBound(Claim):
    """A bound on what adversaries infer who each know what happened at places of their own.

    An adversary knows, for every person, the part of their sequence of places that lies in places of his own.  Among
    the published trajectories that agree in this part, and also among those in which it is empty, no place outside his
    own occurs with more than a share `p` of the distinct owners, or of the trajectories.  With ``times="keep"`` he
    knows the times as well.

    And over all trajectories of a person: he knows how many of those that agree are whose, and takes all ways to hand
    them out for equally likely.  In at most a share `p` of them one of the person's shows the place.

    References
    ----------
    Terrovitis, Mamoulis: Privacy preservation in the publication of trajectories.  MDM 2008.

    Examples
    --------
    >>> from wayveil.model import guarantee_from_json
    >>> claim = BreachBound(p=0.5, adversaries={"shop": ["a", "b"], "bank": ["c"]})
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    p: Fraction = parameter(kind="fraction", low=0, high=1, help="largest share of the people who fit with one place")
    adversaries: Sensitive = parameter(kind="groups", help="the places of each adversary")
    times: str = parameter(
        kind="choice", choices=("order", "keep"), default="order", help="whether adversaries know the times of visits"
    )

    name: ClassVar[str] = "BreachBound"
    quantities: ClassVar[Numbers] = BREACH_BOUND
    public_numbers: ClassVar[tuple[str, ...]] = (
        "max_share",
        "max_share_exact",
        "max_share_trajectories",
        "classes",
        "unsafe",
        "trajectories",
        "visits",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_disjoint(self.name, self.adversaries)

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {"threshold": self.p, "adversaries": self.adversaries, "times": self.times}

    @property
    def promise(self) -> str:
        known = "when and in which order" if self.times == "keep" else "in which order"
        return (
            f"Each of {len(self.adversaries)} adversaries knows who was at places of his own, and {known}. Of the "
            f"people who fit what he knows, and of their trajectories, at most {percent(self.p)} are shown at any one "
            f"place that is not his; and of nobody does he infer such a place with more than {percent(self.p)} from "
            "all that is published of them."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence="an adversary who knows everybody's visits to his own places, and how many published "
                "trajectories of each person look alike to him, and counts who can own which: he infers that one of a "
                f"person's shows another place with at most {percent(self.p)}",
                attack="counting",
                settings=(("adversaries", self.adversaries), ("times", self.times)),
                measured=("inference_max",),
                bound=self.p,
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            *(() if self.times == "keep" else ("an adversary who knows the times of visits, not only their order",)),
            "adversaries who put together what they know: declare them as one",
            "an adversary who was not declared, or who knows other places than declared",
            "an attacker who can tell which trajectories belong to the same person, or do not because they overlap in "
            "time",
            "an attacker who knows at which places a person was not",
            "an attacker who reckons with visits that are not published: more people may have been at a place than are "
            "shown there",
            "an attacker who repeats the method on guesses of the original and compares what it publishes",
        )


def _check_disjoint(component: str, adversaries: Sensitive) -> None:
    """Refuse no adversary, and places of two adversaries."""
    if not adversaries:
        raise ParameterError(f"{component}: adversaries must name at least one adversary and the places that are his.")
    places = [place for _, listed in adversaries for place in listed]
    if len(set(places)) < len(places):
        raise ParameterError(f"{component}: a place can belong to one adversary only; give them disjoint places.")
