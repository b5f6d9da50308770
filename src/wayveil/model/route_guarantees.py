"""The claims a publication of routes can make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wayveil.model.claims import Claim
from wayveil.model.parameters import parameter

__all__ = ["StrictK", "SubsequenceK"]


@dataclass(frozen=True, kw_only=True)
class StrictK(Claim):
    """Strict k-anonymity on a road network: whole published routes are those of at least `k` people.

    In every slice of time, every published sequence of roads is exactly that of at least `k` distinct owners; with
    ``pad="yes"``, of at least `k` published trajectories, some of which may be dummies.  Every published trajectory is
    a connected path of the network.

    References
    ----------
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014), Definition 4.

    Examples
    --------
    >>> StrictK(k=5).to_json()
    {'name': 'StrictK', 'k': 5, 'pad': 'no'}
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published route")
    pad: str = parameter(
        kind="choice", choices=("no", "yes"), default="no", help="whether dummies may be among those who share a route"
    )

    name: ClassVar[str] = "StrictK"
    about_truth: ClassVar[bool] = True

    @property
    def promise(self) -> str:
        who = f"{self.k} {'people' if self.pad == 'no' else 'published trajectories, some of which may be dummies'}"
        return f"In every slice of time, every published route is exactly the same, road by road, for at least {who}."

    @property
    def covered(self) -> tuple[str, ...]:
        return (
            f"whoever links a person to a published route links at least {self.k} "
            f"{'people' if self.pad == 'no' else 'trajectories'} to it",
            "inference routes: where published routes part or meet, fewer than k of them never do so alone",
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            *(
                ("an attacker who recognises dummies: fewer than k people may be behind a route",)
                if self.pad == "yes"
                else ()
            ),
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "an attacker who can tell which trajectories, also of other slices, belong to the same person",
            "an attacker who reasons about the roads that were taken out",
        )


@dataclass(frozen=True, kw_only=True)
class SubsequenceK(Claim):
    """k-anonymity of what is contained: every subsequence of roads that occurs is in routes of at least `k` people.

    In every slice of time, every sequence of roads that occurs in a published trajectory, in this order but with others
    between them or not, occurs in those of at least `k` distinct owners.  Whole trajectories may be unique.  Every
    published trajectory is a connected path of the network.

    References
    ----------
    Pensa, Monreale, Pinelli, Pedreschi: Pattern-preserving k-anonymization of sequences and its application to mobility
    data mining.  PiLBA 2008.

    Examples
    --------
    >>> SubsequenceK(k=5).to_json()
    {'name': 'SubsequenceK', 'k': 5}
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share every part of a published route")

    name: ClassVar[str] = "SubsequenceK"
    about_truth: ClassVar[bool] = True

    @property
    def promise(self) -> str:
        return (
            "In every slice of time, whoever knows some roads of a person, in their order, finds them in published "
            f"routes of at least {self.k} people, or in none."
        )

    @property
    def covered(self) -> tuple[str, ...]:
        return (f"identity linkage by someone who knows roads that the victim drove along: at most 1/{self.k}",)

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "an attacker who knows where a trip began or ended: whole published routes may be unique",
            "inference routes: who takes a road that is not published, where others go on, can be told apart by a map",
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "an attacker who can tell which trajectories, also of other slices, belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ("inference_routes",)
