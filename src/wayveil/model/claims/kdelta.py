"""(k,delta)-anonymity, a claim on points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.errors import ParameterError
from wayveil.model.claims.base import Protection
from wayveil.model.claims.counting import number_text, row_share_parameter, share_text
from wayveil.model.claims.members import (
    MembersClaim,
    destination_cell_parameter,
    destination_share_parameter,
    k_column_parameter,
)
from wayveil.model.claims.verdict_numbers import KDELTA
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = ["KDelta"]


@dataclass(frozen=True, kw_only=True)
class KDelta(MembersClaim):
    """(k,delta)-anonymity: every published trajectory moves together with those of at least `k` - 1 other people.

    Every published trajectory belongs to a set of published trajectories of at least `k` distinct owners that have the
    same timestamps, and any two of the set are at most `delta` metres apart at each of them.  Nobody owns more than
    `row_share` of the trajectories among which one of theirs hides.  With ``delta=0`` members may be promised more, as
    `MembersClaim` says.

    With ``placement="random"`` the members of a set run along one common curve, each at an offset that was drawn
    independently of who they are.  This is how the publication was made; the files cannot show it.

    References
    ----------
    Abul, Bonchi, Nanni: Never Walk Alone: uncertainty for anonymity in moving objects databases.  ICDE 2008.

    Examples
    --------
    >>> from wayveil.model import guarantee_from_json
    >>> claim = KDelta(k=5, delta=100)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who move together")
    delta: float = parameter(kind="number", low=0, help="largest distance between any two of them, in metres")
    row_share: Fraction | str = row_share_parameter()
    placement: str = parameter(
        kind="choice",
        choices=("nearest", "random"),
        default="nearest",
        help="where a member is published, with delta > 0: near its true positions, or independently of them",
    )
    k_column: str = k_column_parameter()
    destination_share: Fraction | str = destination_share_parameter()
    destination_cell: float = destination_cell_parameter()

    name: ClassVar[str] = "KDelta"
    about_truth: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = KDELTA
    public_numbers: ClassVar[tuple[str, ...]] = (
        "min_support",
        "certified",
        "sets",
        "max_distance_m",
        "max_owner_share",
        "tolerance_m",
        "trajectories",
        "points",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.has_wishes and self.delta > 0:
            raise ParameterError(
                "KDelta: k_column and destination_share go with delta = 0, where a group is all that are the same; "
                f"got delta = {number_text(self.delta)}."
            )

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {**super().attack_settings, "delta": self.delta, **self.wish_settings}

    def settings_of(self, attack: str) -> Mapping[str, Any]:
        """Return the settings of one attack; where nobody was placed by chance, nothing that is found is luck."""
        settings = dict(self.attack_settings)
        if self.placement == "nearest" and attack != "noisy_sightings":
            del settings["delta"]
        return settings

    @property
    def promise(self) -> str:
        nobody = f"and nobody owns more than {share_text(self.owner_share)} of those that look alike."
        if self.delta == 0:
            same = f"Every published trajectory is the same, point by point, for at least {self.k} people, {nobody}"
            return same + self.wishes
        placed = ""
        if self.placement == "random":
            placed = " Where in the set a person is published was drawn at random, whatever their true positions."
        return (
            f"Every published trajectory belongs to a set of at least {self.k} people whose published positions are "
            f"at most {number_text(self.delta)} m apart at every published time, {nobody}{placed}"
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        if self.delta == 0:
            return (
                Protection(
                    sentence="identity linkage by someone who knows any true positions of the victim: at most "
                    f"{share_text(self.owner_share)}",
                    attack="nearest_positions",
                    measured=("identity_max",),
                    bound=self.owner_share,
                ),
                *self.kept_wishes,
            )
        if self.placement == "nearest":
            return ()
        return (
            Protection(
                sentence="identity linkage by someone who knows any true positions of the victim, exact or with "
                f"errors: at most {share_text(self.owner_share)}",
                attack="noisy_sightings",
                settings=(("delta", self.delta),),
                measured=("identity_max", "member_success_at_least"),
                bound=self.owner_share,
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        moves = "where the group goes is published: if all its people visit one sensitive place, this is disclosed"
        links = "an attacker who can tell which trajectories belong to the same person"
        if self.delta == 0:
            return (
                "a published trajectory may be the true one of one of its people (w4m publishes it so): who recognises "
                "an exact position in it learns where that person went",
                moves,
                links,
                *self.not_covered_by_wishes,
            )
        if self.placement == "random":
            return (
                "the curve that a group runs along may be the true way of one of its people (w4m), at an offset of at "
                f"most {number_text(self.delta / 2)} m for each member: who knows where that person was learns which "
                "group it is and how it moved on, but not which of its trajectories is whose",
                moves,
                links,
            )
        return (
            "an attacker who knows true positions, even with errors: published points are moved no further than "
            "needed, so the nearest one is likely to be the victim's own; the measured success of this attack is in "
            "the report",
            "a published trajectory may be the true one of one of its people (w4m publishes it so): who recognises an "
            "exact position in it learns where that person went",
            moves,
            links,
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        if self.delta == 0 or self.placement == "random":
            return ()
        return ("nearest_positions", "noisy_sightings")
