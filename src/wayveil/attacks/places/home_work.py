"""The attacker who knows where a person lives and works: the two places that the person visits most."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from wayveil.attacks.attack_base import threshold_parameter, victims_parameter
from wayveil.attacks.places.top_places import MostVisited

__all__ = ["HomeWork"]


@dataclass(frozen=True, kw_only=True)
class HomeWork(MostVisited):
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
    >>> import numpy as np
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("b", 1), ("a", 2)], [("c", 1), ("a", 2)]])
    >>> found = HomeWork().run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.667)
    """

    victims: int = victims_parameter()
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "home_work"
    summary: ClassVar[str] = "an attacker who knows home and work: the two places that a person visits most"
    adversary: ClassVar[str] = "knows the two places that a person visits most"
    known: ClassVar[tuple[int, bool]] = (2, False)
