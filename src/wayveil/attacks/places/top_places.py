"""The attacker who knows the places that a person visits most."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import threshold_parameter, victims_parameter
from wayveil.attacks.places.place_attack import ByPlaces, PlaceQueries, Tried, worst_risk
from wayveil.attacks.places.place_records import Index, Records, most_visited, place_names, recode_victims
from wayveil.attacks.places.record_search import owners_of_sets
from wayveil.model import Engine, Visits, parameter
from wayveil.model.data.ragged import trajectory_of_row

__all__ = ["MostVisited", "TopPlaces"]


class MostVisited(ByPlaces):
    """An attack by the places that a person visits most."""

    @property
    @abstractmethod
    def known(self) -> tuple[int, bool]:
        """How many places are known, and whether with their ranks."""

    def match(self, queries: PlaceQueries, target: Visits, *, truth: Visits, rng: Any, engine: Engine) -> Tried:
        names, (n, ranked) = place_names(truth, target), self.known
        n = min(n, len(names) + 1)
        # Ties are broken by name, in the raw and in the published data alike.
        alphabet = np.empty(len(names), np.int64)
        alphabet[np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)] = np.arange(len(names))
        people = recode_victims(queries.victims, truth, target, merged=True)
        offsets, place, rank = most_visited(people.offsets, people.location, alphabet, n)
        records = Records.of(target, merged=True)
        attacked = most_visited(records.offsets, records.place, alphabet, n)
        value = rank if ranked else np.zeros_like(rank)
        fits = attacked[2] if ranked else np.zeros_like(attacked[2])
        # A place fits at its own rank only, or at any of the first n.
        index = Index.of(attacked, fits, fits, records, place, value)
        person = trajectory_of_row(offsets)
        sets = np.full((len(people), int(np.diff(offsets).max(initial=1))), -1, np.int64)
        sets[person, np.arange(len(place)) - offsets[person]] = index.item
        return Tried(worst_risk(owners_of_sets(index, sets, engine)))


@dataclass(frozen=True, kw_only=True)
class TopPlaces(MostVisited):
    """Someone who knows the `n` places that a person visits most looks for that person.

    The attacker keeps the people whose own `n` most visited places have all of the known ones (with `order`: in the
    same ranks), and picks one of them: right with probability 1 / (number of these people), and 0 where nobody matches.

    Parameters
    ----------
    n : int, >= 1
        Number of places known; all of them, where a person has fewer.
    order : {"no", "yes"}
        Whether the attacker knows which of them is visited most, second most, and so on.
    victims : int, >= 1
        Number of people attacked.  Where the data has no more, all of them.
    threshold : number from 0 to 1
        People whose identity risk is above this are counted in `identity_share_above`.

    Notes
    -----
    All visits of a person count, whichever trajectory they are in.  Where the attacked data withholds the owners, each
    trajectory is taken for a person.  Of places visited equally often, the one whose name comes first ranks higher.
    There is one thing to know of a person, so nothing is drawn but people.  O(visits x log visits) time.

    References
    ----------
    Zang, Bolot: Anonymization of location data does not work.  MobiCom 2011.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("a", 2), ("b", 3)], [("b", 1), ("b", 2), ("a", 3)], [("c", 1)]])
    >>> for order in ("no", "yes"):
    ...     attack = TopPlaces(n=2, order=order)
    ...     found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    ...     round(found.measured["identity_mean"], 3)
    0.667
    1.0
    """

    n: int = parameter(kind="int", low=1, default=3, help="number of most visited places of the victim that are known")
    order: str = parameter(
        kind="choice", choices=("no", "yes"), default="no", help="whether their ranks are known as well"
    )
    victims: int = victims_parameter()
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "top_places"
    summary: ClassVar[str] = "an attacker who knows the places that a person visits most"

    @property
    def adversary(self) -> str:
        """What is known, in words."""
        places = "place" if self.n == 1 else f"{self.n} places"
        ranks = ", in order" if self.order == "yes" and self.n > 1 else ""
        return f"knows the {places} that a person visits most{ranks}"

    @property
    def known(self) -> tuple[int, bool]:
        """How many places are known, and whether with their ranks."""
        return self.n, self.order == "yes"
