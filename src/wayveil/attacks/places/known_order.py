"""The attacker who knows some places of a person in the order of the visits, but not when they were."""

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
from wayveil.attacks.places.place_attack import PlaceAttack, Tried, depth_of, known_of, random_sets, worst_sets
from wayveil.attacks.places.place_records import Array, Records
from wayveil.attacks.places.record_search import fewest_in_order, fitting_in_order, orders_of, owners_in_order
from wayveil.attacks.visits.knowledge import Fitting, Victims
from wayveil.model import Engine

__all__ = ["KnownOrder"]


@dataclass(frozen=True, kw_only=True)
class KnownOrder(PlaceAttack):
    """Someone who knows the places of up to `m` visits of a person, in their order, looks for that person.

    The attacker keeps the records that visit the known places in this order, with any visits between, and picks one of
    the people behind them, right with probability 1 / (number of these people), or one of the records, whichever is
    right more often; where nothing matches, the risk is 0.

    Parameters
    ----------
    m : int, >= 1, or "all"
        Number of visits known; all of them, where a record has fewer.
    choice : {"random", "worst"}
        Which visits: any `m`, with the risk of a person being the mean over them; or the at most `m` that are worst for
        the person.
    record : {"trajectory", "person"}
        Whether known visits lie inside one trajectory, or in all that the person did.
    victims, draws, threshold
        As in `KnownLocations`.

    Notes
    -----
    With `choice` "worst" and one record per person, on raw data, the risk is that of `LocationSequenceAttack` of
    scikit-mobility.  The worst orders are found by a search that all people share: exact for two visits, and for more
    where it ends within its steps; `exact_share` says for how many people.

    References
    ----------
    Pellungrini, Pappalardo, Pratesi, Monreale: A data mining approach to assess privacy risk in human mobility data.
    ACM Transactions on Intelligent Systems and Technology 9 (2017), article 31.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("b", 5), ("a", 7)], [("a", 3), ("b", 4)]])
    >>> attack = KnownOrder(m=2, choice="worst")
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.667)
    """

    m: int | str = m_parameter("visits")
    choice: str = choice_parameter("visits")
    record: str = record_parameter("visits")
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known visits drawn per person", high=100_000)
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "known_order"
    summary: ClassVar[str] = "an attacker who knows some places of a person in the order of the visits"

    def tried(self, victims: Victims, records: Records, *, rng: np.random.Generator, engine: Engine) -> Tried:
        n_places = max(int(side.max(initial=-1)) for side in (victims.location, records.place)) + 1
        longest = max(int(np.diff(side).max(initial=0)) for side in (victims.offsets, records.offsets))
        # Room for positions in one record: record and position are one number.
        shift = longest.bit_length()
        rows = orders_of(records.offsets, records.place, records.owner, n_places, shift)
        m = depth_of(self, victims)

        def match(sets: Array, victim: Array) -> Fitting:
            # Positions rise with time; -1 is no visit, and comes last.
            sets = np.sort(np.where(sets < 0, len(victims.location), sets), axis=1)
            return fitting_in_order(rows, np.append(victims.location, -1)[sets], victim, engine)

        if self.choice == "worst":
            person = np.repeat(np.arange(len(victims)), np.diff(victims.first))
            known = orders_of(victims.offsets, victims.location, person, n_places, shift)
            support = owners_in_order(rows, np.arange(n_places)[:, None], engine)
            best, cut = fewest_in_order(rows, known, len(victims), m, support=support, engine=engine)
            return worst_sets(best, cut, victims, m, match, rng)

        return random_sets(victims, m, self.draws, match, rng)

    @property
    def adversary(self) -> str:
        """What is known, in words."""
        return known_of(self, "visit (the place)" if self.m == 1 else "visits (the places in order)")
