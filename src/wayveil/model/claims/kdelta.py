"""(k,delta)-anonymity, a claim on points."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wayveil.model.claims.base import Claim, Protection
from wayveil.model.claims.counting import row_share_parameter, share_text, share_value
from wayveil.model.parameters import parameter

__all__ = ["KDelta"]


@dataclass(frozen=True, kw_only=True)
class KDelta(Claim):
    """(k,delta)-anonymity: every published trajectory moves together with those of at least `k` - 1 other people.

    Every published trajectory belongs to a set of published trajectories of at least `k` distinct owners that have the
    same timestamps, and any two of the set are at most `delta` metres apart at each of them.

    References
    ----------
    Abul, Bonchi, Nanni: Never Walk Alone: uncertainty for anonymity in moving objects databases.  ICDE 2008.

    Examples
    --------
    >>> claim = KDelta(k=5, delta=100)
    >>> guarantee_from_json(claim.to_json()) == claim
    True
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people who move together")
    delta: float = parameter(kind="number", low=0, help="largest distance between any two of them, in metres")
    row_share: Fraction | str = row_share_parameter()

    name: ClassVar[str] = "KDelta"

    @property
    def owner_share(self) -> Fraction:
        """The largest share of trajectories that look alike which one person may own."""
        return share_value(self.row_share, self.k)

    @property
    def promise(self) -> str:
        if self.delta == 0:
            return f"Every published trajectory is the same, point by point, for at least {self.k} people."
        return (
            f"Every published trajectory belongs to a set of at least {self.k} people whose published positions are "
            f"at most {self.delta:g} m apart at every published time."
        )

    @property
    def protects(self) -> tuple[Protection, ...]:
        if self.delta > 0:
            return ()
        return (
            Protection(
                sentence=f"identity linkage by someone who knows any true positions of the victim: at most "
                f"{share_text(self.owner_share)}",
                attack="nearest_positions",
                measured=("identity_max",),
                bound=self.owner_share,
            ),
        )

    @property
    def not_covered(self) -> tuple[str, ...]:
        strict = (
            "an attacker who knows true positions more exactly: published points are moved no further than needed, so "
            "the nearest one is likely to be the victim's own; the measured success of this attack is in the report",
        )
        return (
            *(() if self.delta == 0 else strict),
            "a published trajectory may be the true one of one of its people (w4m publishes it so): who recognises an "
            "exact position in it learns where that person went",
            "where the group goes is published: if all its people visit one sensitive place, this is disclosed",
            "an attacker who can tell which trajectories belong to the same person",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return () if self.delta == 0 else ("nearest_positions",)
