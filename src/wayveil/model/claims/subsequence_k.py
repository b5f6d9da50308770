"""k-anonymity of what is contained, a claim on routes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wayveil.model.claims.base import GroupClaim, Protection
from wayveil.model.claims.counting import row_share_parameter, share_text
from wayveil.model.claims.verdict_numbers import SUBSEQUENCE_K
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["SubsequenceK"]


@dataclass(frozen=True, kw_only=True)
class SubsequenceK(GroupClaim):
    """k-anonymity of what is contained: every subsequence of roads that occurs is in routes of at least `k` people.

    In every slice of time, every sequence of roads that occurs in a published trajectory, in this order but with others
    between them or not, occurs in those of at least `k` distinct owners, and nobody owns more than `row_share` of the
    trajectories in which it occurs.  Whole trajectories may be unique.

    Every published trajectory is a connected path of the network, and a part of a trip that somebody drove in that
    slice, on roads that at least `k` people took.  Whoever owns it drove on at least one of its roads in that slice.

    References
    ----------
    Pensa, Monreale, Pinelli, Pedreschi: Pattern-preserving k-anonymization of sequences and its application to mobility
    data mining.  PiLBA 2008.

    Examples
    --------
    >>> SubsequenceK(k=5).to_json()
    {'name': 'SubsequenceK', 'k': 5, 'row_share': '1/k'}
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share every part of a published route")
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "SubsequenceK"
    about_truth: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = SUBSEQUENCE_K
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
        "exact_match_min_support",
    )

    @property
    def promise(self) -> str:
        return (
            "In every slice of time, whoever knows some roads of a person, in their order, finds them in published "
            f"routes of at least {self.k} people, of which nobody owns more than {share_text(self.owner_share)}, or in "
            "none."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence="identity linkage by someone who knows published roads of the victim, in their order, and "
                f"nothing of where the trip began or ended: at most {share_text(self.owner_share)}",
                attack="seen_on_roads",
                settings=(("choice", "worst"),),
                measured=("identity_max",),
                bound=self.owner_share,
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "an attacker who knows where a trip began or ended, or a road of it that is not published and so where it "
            "was cut: whole published routes may be unique, and then the person is found with certainty",
            "inference routes: who takes a road that is not published, where others go on, can be told apart by a map",
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "an attacker who knows roads less exactly, such as one of two or not their order: as many people fit, but "
            "one of them may own a larger share of the trajectories",
            "an attacker who knows which of the trajectories are those of others",
            "being published on roads that one never drove: a rare route becomes one that is like it",
            "an attacker who can tell which trajectories, also of other slices, belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ("inference_routes",)
