"""Strict k-anonymity, a claim on routes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wayveil.model.claims.base import GroupClaim, Protection
from wayveil.model.claims.counting import row_share_parameter, share_text
from wayveil.model.claims.verdict_numbers import STRICT_K
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["StrictK"]


@dataclass(frozen=True, kw_only=True)
class StrictK(GroupClaim):
    """Strict k-anonymity on a road network: whole published routes are those of at least `k` people.

    In every slice of time, every published sequence of roads is exactly that of at least `k` distinct owners, and
    nobody owns more than `row_share` of the trajectories with it.  With ``pad="yes"`` owners and dummies are at least
    `k` together, more than k / 2 of them owners, and dummies are among the trajectories.

    Every published trajectory is a connected path of the network, and a part of a trip that somebody drove in that
    slice, on roads that at least `k` people took.  Whoever owns it drove on at least one of its roads in that slice;
    not on all of them, because people are published with the route of their cluster.

    References
    ----------
    Gurung, Lin, Jiang, Hurson, Zhang: Traffic information publication with privacy preservation.  ACM Transactions on
    Intelligent Systems and Technology 5 (2014), Definition 4.

    Examples
    --------
    >>> StrictK(k=5).to_json()
    {'name': 'StrictK', 'k': 5, 'pad': 'no', 'row_share': '1/k'}
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published route")
    pad: str = parameter(
        kind="choice", choices=("no", "yes"), default="no", help="whether dummies may be among those who share a route"
    )
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "StrictK"
    about_truth: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = STRICT_K
    public_numbers: ClassVar[tuple[str, ...]] = (
        "min_support",
        "min_support_note",
        "max_owner_share",
        "max_owner_share_note",
        "routes",
        "slices",
        "trajectories",
        "roads",
        "rows",
        "broken",
        "inference_routes",
        "min_people",
    )

    @property
    def fewest_people(self) -> int:
        """How many of those who share a route are people at least; with ``pad="yes"`` the others may be dummies."""
        return self.k // 2 + 1 if self.pad == "yes" else self.k

    @property
    def promise(self) -> str:
        who = f"{self.k} people"
        if self.pad == "yes":
            who = f"{self.k} people and dummies, at least {self.fewest_people} of them people"
        return (
            f"In every slice of time, every published route is exactly the same, road by road, for at least {who}, and "
            f"nobody owns more than {share_text(self.owner_share)} of the trajectories with it."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence="identity linkage by someone who saw the victim on published roads: at most "
                f"{share_text(self.owner_share)}",
                attack="seen_on_roads",
                settings=(("choice", "worst"),),
                measured=("identity_max",),
                bound=self.owner_share,
            ),
            Protection(
                sentence="inference routes: where published routes part or meet, it is never fewer than "
                f"{self.k} {'people' if self.pad == 'no' else 'people and dummies'} who go another way, and nobody "
                f"owns more than {share_text(self.owner_share)} of their trajectories",
                attack="inference_routes",
                settings=(("k", self.k), ("row_share", self.row_share)),
                measured=("exposed_people",),
                bound=Fraction(0),
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            *(
                (
                    f"an attacker who recognises dummies: only {self.fewest_people} people may be behind a route, and "
                    "one of them may own more than the share of what is left",
                )
                if self.pad == "yes"
                else ()
            ),
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "an attacker who can tell which trajectories, also of other slices, belong to the same person",
            "an attacker who reasons about the roads that were taken out",
            "an attacker who knows which of the trajectories are those of others",
            "being published on roads that one never drove: a route is that of a cluster, of which everybody drove at "
            "least one road",
        )
