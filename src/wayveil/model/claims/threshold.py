"""A threshold for counts: no published number stands for few people, and none can be worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from wayveil.errors import ParameterError
from wayveil.model.claims.base import GroupClaim, Protection
from wayveil.model.claims.counting import share_text
from wayveil.model.claims.verdict_numbers import THRESHOLD
from wayveil.model.data.count_tables import ALL, AS_IS
from wayveil.model.numbers import Numbers
from wayveil.model.parameters import parameter

__all__ = [
    "Threshold",
    "count_parameter",
    "count_share_parameter",
    "every_parameter",
    "margins_parameter",
    "tally_parameter",
]


def tally_parameter() -> Any:
    """Declare what a cell is."""
    return parameter(
        kind="choice",
        choices=("zones", "flows"),
        default="zones",
        help="what is counted: who was in a zone at a time, or who went from zone to zone",
    )


def count_parameter() -> Any:
    """Declare whether somebody counts once in a cell."""
    return parameter(
        kind="choice",
        choices=("people", "visits"),
        default="people",
        help="whether somebody counts once in a cell, or as often as they were there",
    )


def every_parameter() -> Any:
    """Declare how times become buckets."""
    return parameter(
        kind="duration",
        choices=(AS_IS, ALL),
        default=AS_IS,
        help="width of a bucket of time; as-is: the times of the data, all: no times",
    )


def margins_parameter() -> Any:
    """Declare whether totals are published."""
    return parameter(
        kind="choice",
        choices=("no", "yes"),
        default="no",
        help="whether totals are published beside the cells: of each zone, each time and all",
    )


def count_share_parameter() -> Any:
    """Declare the largest share of a count that one person may be."""
    return parameter(
        kind="fraction",
        low=0,
        high=1,
        choices=("1/k",),
        default="1/k",
        help="largest share of a published number that one person may be",
    )


@dataclass(frozen=True, kw_only=True)
class Threshold(GroupClaim):
    """No published number counts fewer than `k` people, and none that does can be worked out from the others.

    In every published table, every number, be it a cell or a total, counts at least `k` distinct people, and nobody is
    more than `row_share` of it.  With ``margins="yes"``, take any cell that somebody is in and that is not published
    because it is too small.  Even if it is known which cells are empty, all published numbers of the publication fit
    tables in which this cell is 0, and tables in which it is k - 1 or more.

    Zones and times that are too small themselves, as wholes, are in no total: nobody who was only there is counted
    anywhere.

    Examples
    --------
    >>> Threshold(k=5).to_json()["margins"], Threshold(k=5).owner_share
    ('no', Fraction(1, 5))
    """

    k: int = parameter(kind="int", low=2, help="smallest number of people behind a published number")
    row_share: Fraction | str = count_share_parameter()
    tally: str = tally_parameter()
    count: str = count_parameter()
    every: str = every_parameter()
    margins: str = margins_parameter()

    name: ClassVar[str] = "Threshold"
    about_truth: ClassVar[bool] = True
    quantities: ClassVar[Numbers] = THRESHOLD
    public_numbers: ClassVar[tuple[str, ...]] = ("min_count", "cells", "totals")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.margins == "yes" and self.tally == "zones" and self.every == ALL:
            raise ParameterError(
                f"{self.name}: totals of zones over all times need times, got every={ALL}. Give a width such as 1h, or "
                "leave margins=no."
            )

    @property
    def promise(self) -> str:
        what = "person counts once in a cell" if self.count == "people" else "person counts with every visit"
        text = (
            f"Every published number counts at least {self.k} people, and nobody is more than "
            f"{share_text(self.owner_share)} of it; a {what}."
        )
        if self.margins == "no":
            return f"{text} A cell that is not published has fewer, or {self._dominated}nobody."
        return (
            f"{text} A cell with fewer is not published, and sums and differences of published numbers leave open "
            f"whether it holds nobody, or {self.k - 1} or more."
        )

    @property
    def _dominated(self) -> str:
        # Who counts once in a cell of k people is never more than 1/k of it.
        if self.count == "people" and self.owner_share >= Fraction(1, self.k):
            return ""
        return "somebody who is more of it than that, or "

    @property
    def protects(self) -> tuple[Protection, ...]:
        how = "who reads every published number, and takes one of the people behind a number"
        if self.margins == "yes":
            how = (
                "who adds and subtracts all published numbers, knows which cells are empty, and takes one of the "
                "people behind a published number, or behind a cell that can be worked out,"
            )
        return (
            Protection(
                sentence=f"identity linkage by someone {how} for the victim: at most {share_text(self.owner_share)}",
                attack="small_cells",
                settings=tuple(sorted({"k": self.k, "row_share": self.row_share, **self._table_settings()}.items())),
                measured=("identity_max",),
                bound=self.owner_share,
            ),
        )

    @property
    def attack_settings(self) -> Mapping[str, Any]:
        return {**super().attack_settings, **self._table_settings()}

    def settings_of(self, attack: str) -> Mapping[str, Any]:
        """Return the settings of one attack; who looks for small cells needs to know what a cell is."""
        if attack == "small_cells":
            # Above what the promise tolerates, people count as at risk.
            limit = {"threshold": self.owner_share}
            return {"k": self.k, "row_share": self.row_share, **limit, **self._table_settings()}
        return self.attack_settings

    def _table_settings(self) -> dict[str, Any]:
        return {"tally": self.tally, "count": self.count, "every": self.every}

    @property
    def not_covered(self) -> tuple[str, ...]:
        return (
            "differences between this publication and another one of the same people, with other zones, times, k or "
            "with people added or removed: two tables that are safe alone may give a small number together",
            "an attacker who knows all but a few of the people who were counted, and subtracts them",
            "what holds for everybody in a zone: if all people of a cell go to one place, this is disclosed",
            "that a cell is not published: it says that few people or nobody was there"
            + (", or mostly one person" if self._dominated else "")
            + (", or that it hides such a cell" if self.margins == "yes" else ""),
            *self._about_hiding,
        )

    @property
    def _about_hiding(self) -> tuple[str, ...]:
        # Only with totals are cells hidden to protect others, and then by a rule that is public.
        if self.margins != "yes":
            return ()
        return (
            "what the hidden cells of a zone or a time add up to can be worked out, and may count fewer people than "
            f"{self.k}: who is in several of them is counted several times. How many they are at least is measured",
            "an attacker who knows the rule by which cells are hidden to protect others, and works out from it which "
            "of several hidden cells has few people",
        )

    @property
    def unbounded(self) -> tuple[str, ...]:
        return ()
