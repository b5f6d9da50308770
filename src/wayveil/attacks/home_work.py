"""The attacker who knows where a person lives and works: the two places that the person visits most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.attacks.top_places import attack_top
from wayveil.model import AttackResult, Engine, Visits, check_parameters, parameter

__all__ = ["HomeWork"]


@dataclass(frozen=True, kw_only=True)
class HomeWork:
    """Someone who knows the two places that a person visits most, as home and work are, looks for that person.

    The attacker keeps the people whose own two most visited places are these, in any order, and picks one of them:
    right with probability 1 / (number of these people), and 0 where nobody matches.

    Parameters
    ----------
    victims : int, >= 1
        Number of people attacked.  Where the data has no more, all of them.
    threshold : number from 0 to 1
        People whose identity risk is above this are counted in `identity_share_above`.

    Notes
    -----
    This is `TopPlaces` with ``n=2``: all visits of a person count, ties go to the name that comes first, and of someone
    with one place that place is known.  It is what `HomeWorkAttack` of scikit-mobility says that it does; its code
    sorts places by rising frequency and so takes the two that a person visits least.

    References
    ----------
    Golle, Partridge: On the anonymity of home/work location pairs.  Pervasive 2009.
    Pellungrini, Pappalardo, Pratesi, Monreale: A data mining approach to assess privacy risk in human mobility data.
    ACM Transactions on Intelligent Systems and Technology 9 (2017), article 31.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("b", 1), ("a", 2)], [("c", 1), ("a", 2)]])
    >>> found = HomeWork().run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.667)
    """

    victims: int = parameter(kind="int", low=1, default=2000, help="number of people attacked, where there are more")
    threshold: Fraction = parameter(
        kind="fraction", low=0, high=1, default=Fraction(1, 10), help="identity risk above which people are counted"
    )

    name: ClassVar[str] = "home_work"
    summary: ClassVar[str] = "an attacker who knows home and work: the two places that a person visits most"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)
    matched: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(
        self,
        truth: Visits,
        target: Visits,
        *,
        sensitive: Mapping[str, Iterable[str]],
        rng: np.random.Generator,
        engine: Engine,
    ) -> AttackResult:
        return attack_top(
            self.name,
            "knows the two places that a person visits most",
            truth,
            target,
            n=2,
            ranked=False,
            victims=self.victims,
            threshold=self.threshold,
            rng=rng,
            engine=engine,
        )
