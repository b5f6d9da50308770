"""What the methods that publish groups as boxes declare alike."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from wayveil.methods.common.dominance import people_needed
from wayveil.model import KAnonymity, Method, Points

__all__ = ["BoxMethod"]


class BoxMethod(Method):
    """A method that groups trajectories of points until every published sequence of boxes is that of enough people."""

    accepts: ClassVar[type[Points]] = Points

    k: int
    row_share: Fraction | str
    k_column: str
    destination_share: Fraction | str
    destination_cell: float

    @property
    def claim(self) -> KAnonymity:
        return KAnonymity(
            k=self.k,
            row_share=self.row_share,
            k_column=self.k_column,
            destination_share=self.destination_share,
            destination_cell=self.destination_cell,
        )

    @property
    def people(self) -> int:
        """How many people a group has at least: `k`, or more where `row_share` takes more."""
        return people_needed(self.k, self.claim.owner_share)
