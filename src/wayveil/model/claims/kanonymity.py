"""Trajectory k-anonymity, the claim on boxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.model.claims.base import Protection
from wayveil.model.claims.counting import row_share_parameter, share_text
from wayveil.model.claims.members import (
    MembersClaim,
    destination_cell_parameter,
    destination_share_parameter,
    k_column_parameter,
)
from wayveil.model.claims.verdict_numbers import KANONYMITY
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["KAnonymity"]


@dataclass(frozen=True, kw_only=True)
class KAnonymity(MembersClaim):
    """Trajectory k-anonymity: every published sequence of boxes is that of at least `k` people.

    Every published trajectory is, box by box, the same as those of at least `k` distinct owners, of whom nobody owns
    more than `row_share` of those that are the same, and every box contains a true position of its trajectory in its
    time, a later one for each box.  Where points are published, they were drawn from such boxes, one from each, and the
    boxes are published with them.  What members may ask for beyond that, `MembersClaim` says.

    References
    ----------
    Nergiz, Atzori, Saygin, Guc: Towards trajectory anonymization: a generalization-based approach.  Transactions on
    Data Privacy 2 (2009).

    Examples
    --------
    >>> from wayveil.model import guarantee_from_json
    >>> claim = KAnonymity(k=3)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who share one published trajectory")
    row_share: Fraction | str = row_share_parameter()
    k_column: str = k_column_parameter()
    destination_share: Fraction | str = destination_share_parameter()
    destination_cell: float = destination_cell_parameter()

    name: ClassVar[str] = "KAnonymity"
    about_truth: ClassVar[bool] = True
    publishes_boxes: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = KANONYMITY
    public_numbers: ClassVar[tuple[str, ...]] = (
        "min_support",
        "max_owner_share",
        "groups",
        "points_outside",
        "trajectories",
        "boxes",
        "points",
    )

    @property
    def promise(self) -> str:
        return (
            f"Every published sequence of boxes is the same for at least {self.k} people, nobody owns more than "
            f"{share_text(self.owner_share)} of its trajectories, and in the time of each box each of them really was "
            f"in it.{self.wishes}"
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        return (
            Protection(
                sentence="identity linkage by someone who knows any true positions of the victim: at most "
                f"{share_text(self.owner_share)}",
                attack="attack_graph",
                measured=("identity_max",),
                bound=self.owner_share,
            ),
            *self.kept_wishes,
        )

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {**super().attack_settings, **self.wish_settings}

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "the sides of a box are positions of its people: in a group of two, each side is an exact one",
            "an attacker who reasons about the people who were left out, or who knows how many own a group",
            "an attacker who can tell which trajectories belong to the same person",
            *self.not_covered_by_wishes,
        )
