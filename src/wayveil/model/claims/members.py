"""What the members of a group may be promised beyond `k`: a number of their own, and different destinations."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.model.claims.base import GroupClaim, Protection
from wayveil.model.claims.counting import number_text, share_text
from wayveil.model.parameters import parameter, parameters_of

__all__ = [
    "MembersClaim",
    "destination_cell_parameter",
    "destination_share_parameter",
    "k_column_parameter",
]

_ATTACK = "known_group"


def k_column_parameter() -> Any:
    """Declare the column that says how many people somebody asks to be one of."""
    return parameter(
        kind="text",
        default="none",
        help="column with the k that each person asks for, where it is more than k; it is not published",
    )


def destination_share_parameter() -> Any:
    """Declare how many people of a group may end at one place."""
    return parameter(
        kind="fraction",
        low=0,
        high=1,
        choices=("none",),
        default="none",
        help="largest share of a group whose people end in one square of a grid; none: no limit",
    )


def destination_cell_parameter() -> Any:
    """Declare what one place is."""
    return parameter(
        kind="number", low=1, default=500.0, help="side of the squares that are one destination, in metres"
    )


class MembersClaim(GroupClaim):
    """A claim about groups that look alike in every row, with wishes of their members.

    With `k_column`, every member asked for a number: at least so many people are in the group, and of its trajectories
    the member owns at most one in so many, whatever `row_share` says of the others.  Who asked differently with several
    trips asked for the largest of these numbers.  With `destination_share`, at most this share of the people of a
    group, and of its trajectories, end in one square of a grid with sides of `destination_cell` metres.  Trips end at
    their last position; with boxes, people are not in one square either when the last box is over.
    """

    publishes_boxes: ClassVar[bool] = False
    """Whether what is published may end before the trip does."""

    k_column: str
    destination_share: Fraction | str
    destination_cell: float

    @property
    def has_wishes(self) -> bool:
        """Whether anything is promised that only true data show: numbers that people asked for, or destinations."""
        return self.asks_for_k or self.limits_ends

    @property
    def asks_for_k(self) -> bool:
        """Whether people ask for a k of their own."""
        return self.k_column != "none"

    @property
    def limits_ends(self) -> bool:
        """Whether not all of a group may end in one square."""
        return self.end_share < 1

    @property
    def end_share(self) -> Fraction:
        """The largest share of a group that may end in one square."""
        return Fraction(1) if isinstance(self.destination_share, str) else self.destination_share

    @property
    def private_columns(self) -> tuple[str, ...]:
        return (self.k_column,) if self.asks_for_k else ()

    @property
    def wishes(self) -> str:
        """The wishes as sentences, with a space in front; nothing where there are none."""
        sentence = ""
        if self.asks_for_k:
            sentence += (
                f" Who asked for more ({self.k_column}) is one of at least as many people as that, and owns at most "
                "one in so many of the trajectories."
            )
        if self.limits_ends:
            or_are = ", or are in one when the last box is over" if self.publishes_boxes else ""
            sentence += (
                f" At most {share_text(self.end_share)} of them, and of their trajectories, end in one square of a "
                f"grid with sides of {number_text(self.destination_cell)} m{or_are}."
            )
        return sentence

    @property
    def not_covered_by_wishes(self) -> tuple[str, ...]:
        """The attackers whom the wishes do not stop."""
        open_to: tuple[str, ...] = ()
        if self.asks_for_k:
            open_to += (
                "that somebody asked for more: a group that is larger than others tells that one of its people may "
                "have asked for as many, not who",
            )
        if self.limits_ends:
            open_to += (
                "destinations on both sides of a line of the grid: they count as different ones, however near they are",
            )
        return open_to

    @property
    def wish_settings(self) -> Mapping[str, Any]:
        """What an attack must know to try the wishes."""
        if not self.has_wishes:
            return {}
        cell = self.destination_cell if self.limits_ends else "none"
        return {"k_column": self.k_column, "destination_cell": cell}

    @property
    def kept_wishes(self) -> tuple[Protection, ...]:
        """The attackers whom the wishes stop."""
        settings = tuple(self.wish_settings.items())
        protections: tuple[Protection, ...] = ()
        if self.asks_for_k:
            protections += (
                Protection(
                    sentence="identity linkage of somebody who asked for a number of their own, by someone who knows "
                    "the group: at most one in that number",
                    attack=_ATTACK,
                    settings=settings,
                    measured=("asked_max",),
                    bound=Fraction(1),
                ),
            )
        if self.limits_ends:
            protections += (
                Protection(
                    sentence="naming the square of the grid in which the victim ends, by someone who knows the group "
                    f"and where its people end: at most {share_text(self.end_share)}",
                    attack=_ATTACK,
                    settings=settings,
                    measured=("destination_max",),
                    bound=self.end_share,
                ),
            )
        return protections

    def to_json(self) -> dict[str, Any]:
        """Return the claim; wishes that nobody has are not mentioned."""
        content = super().to_json()
        usual = {p.name: p.default for p in parameters_of(type(self))}
        for name in ("k_column", "destination_share", "destination_cell"):
            if not self.has_wishes or getattr(self, name) == usual[name]:
                del content[name]
        return content
