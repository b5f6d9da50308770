"""The attacker who knows some places of a person, but not when the person was there."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.attacks.attack_base import (
    choice_parameter,
    draws_parameter,
    m_parameter,
    record_parameter,
    threshold_parameter,
    victims_parameter,
)
from wayveil.attacks.places.place_attack import PlaceAttack, Rows, Tried, attack_sets, known_of
from wayveil.attacks.places.place_records import Array, Index, Records, occurrence, tally
from wayveil.attacks.visits.knowledge import Victims
from wayveil.model import Engine, parameter

__all__ = ["KnownLocations"]


@dataclass(frozen=True, kw_only=True)
class KnownLocations(PlaceAttack):
    """Someone who knows up to `m` places of a person, without times and without their order, looks for that person.

    The attacker keeps the records that have all known places, and picks one of the people behind them, right with
    probability 1 / (number of these people), or one of the records, whichever is right more often; where nothing
    matches, the risk is 0.

    Parameters
    ----------
    m : int, >= 1, or "all"
        Number of visits (or, without `counts`, of different places) known; all of them, where a record has fewer.
    counts : {"yes", "no"}
        Whether the attacker knows `m` visits, so that a place known twice must have been visited twice; or `m`
        different places.
    choice : {"random", "worst"}
        Which places: any `m`, with the risk of a person being the mean over them; or the at most `m` that are worst for
        the person.
    record : {"trajectory", "person"}
        Whether what is known lies inside one trajectory, or in all that the person did.
    victims : int, >= 1
        Number of people attacked.  Where the data has no more, all of them.
    draws : int, 1 to 100,000
        Sets of places drawn per person, where they are drawn and not all tried (`choice` "random").
    threshold : number from 0 to 1
        People whose identity risk is above this are counted in `identity_share_above`.

    Notes
    -----
    With `choice` "worst" and one record per person, on raw data, the risk is that of `LocationAttack` (with `counts`)
    and `UniqueLocationAttack` (without) of scikit-mobility.  The worst sets are found by a search that all people
    share: exact for two places, and for more where it ends within its steps; `exact_share` says for how many people.

    References
    ----------
    Pellungrini, Pappalardo, Pratesi, Monreale: A data mining approach to assess privacy risk in human mobility data.
    ACM Transactions on Intelligent Systems and Technology 9 (2017), article 31.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("b", 5), ("a", 7)], [("a", 3), ("a", 4)]])
    >>> attack = KnownLocations(m=2, choice="worst")
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.667)
    """

    m: int | str = m_parameter("places")
    counts: str = parameter(
        kind="choice", choices=("yes", "no"), default="yes", help="whether repeated visits to a place are known"
    )
    choice: str = choice_parameter("places")
    record: str = record_parameter("places")
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known places drawn per person", high=100_000)
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "known_locations"
    summary: ClassVar[str] = "an attacker who knows some places of a person, but not when the person was there"

    def tried(self, victims: Victims, records: Records, *, rng: np.random.Generator, engine: Engine) -> Tried:
        counts = self.counts == "yes"
        rows = _visits(victims) if counts else _places(victims)
        attacked = tally(records.offsets, records.place)
        least = np.full(len(attacked[1]), -np.inf)
        # With counts, a known second visit to a place fits only records that visit it twice.
        most = attacked[2] if counts else np.full(len(attacked[1]), np.inf)
        index = Index.of(attacked, least, most, records, rows.victims.location, rows.value, costly=counts)
        return attack_sets(self, rows, index, items=_in_row if counts else None, rng=rng, engine=engine)

    @property
    def adversary(self) -> str:
        """What is known, in words."""
        what = "visits (the places only)" if self.counts == "yes" else "different places"
        return known_of(self, what.replace("visits", "visit").replace("places", "place") if self.m == 1 else what)


def _visits(victims: Victims) -> Rows:
    return Rows(victims=victims, value=occurrence(victims.offsets, victims.location))


def _places(victims: Victims) -> Rows:
    offsets, place, count = tally(victims.offsets, victims.location)
    return Rows.of(victims, offsets, place, np.zeros(len(count)))


def _in_row(index: Index, place: Array) -> Array:
    """Return the items of rows of visited places, -1 where there is none: the second visit to a place in a row is the
    item of two visits, whichever visits they were."""
    place = -np.sort(-place, axis=1)
    # Equal places side by side; `again` counts how often each occurred before in the row.
    at = np.arange(place.shape[1])
    new = np.ones(place.shape, bool)
    new[:, 1:] = place[:, 1:] != place[:, :-1]
    again = at - np.maximum.accumulate(np.where(new, at, 0), axis=1)
    return np.where(place < 0, -1, index.first[place] + again)
