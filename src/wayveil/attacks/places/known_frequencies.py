"""The attacker who knows some places of a person, and how often the person is there."""

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
from wayveil.attacks.places.place_records import Array, Index, Records, tally
from wayveil.attacks.visits.knowledge import Victims
from wayveil.model import Engine, parameter

__all__ = ["KnownFrequencies"]


@dataclass(frozen=True, kw_only=True)
class KnownFrequencies(PlaceAttack):
    """Someone who knows up to `m` places of a person, and how often the person is there, looks for that person.

    The attacker keeps the records that have all known places, each as often as is known, and picks one of the people
    behind them, right with probability 1 / (number of these people), or one of the records, whichever is right more
    often; where nothing matches, the risk is 0.

    Parameters
    ----------
    m : int, >= 1, or "all"
        Number of different places known; all of them, where a record has fewer.
    measure : {"frequency", "probability", "proportion"}
        What is known of each place: the number of visits; this number over that of all visits of the record; or over
        the largest among the known places.
    tolerance : number from 0 to 1
        A record with value v at a place fits a known value from ``v - tolerance x v`` to ``v + tolerance x v``.
    choice : {"random", "worst"}
        Which places: any `m`, with the risk of a person being the mean over them; or those that are worst for the
        person: at most `m`, and with "proportion" exactly `m`.
    record : {"trajectory", "person"}
        Whether visits are counted in one trajectory, or in all that the person did.
    victims, draws, threshold
        As in `KnownLocations`.

    Notes
    -----
    With `choice` "worst" and one record per person, on raw data, the risk is that of `LocationFrequencyAttack`,
    `LocationProbabilityAttack` and `LocationProportionAttack` of scikit-mobility, compared as floating-point numbers as
    there.  Proportions are apart because fewer places may fit fewer people there, if there is a tolerance: the largest
    of them is what the others are compared with.  The search is that of `KnownLocations`.

    References
    ----------
    Pellungrini, Pappalardo, Pratesi, Monreale: A data mining approach to assess privacy risk in human mobility data.
    ACM Transactions on Intelligent Systems and Technology 9 (2017), article 31.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Visits
    >>> data = Visits.from_records([[("a", 1), ("a", 2), ("b", 3)], [("a", 1), ("b", 2)], [("b", 1), ("a", 2)]])
    >>> attack = KnownFrequencies(m=1, choice="worst")
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.667)
    """

    m: int | str = m_parameter("places")
    measure: str = parameter(
        kind="choice",
        choices=("frequency", "probability", "proportion"),
        default="frequency",
        help="what is known of how often the victim is at a place",
    )
    tolerance: Fraction = parameter(
        kind="fraction", low=0, high=1, default=Fraction(0), help="share by which a known value may be off"
    )
    choice: str = choice_parameter("places")
    record: str = record_parameter("places")
    victims: int = victims_parameter()
    draws: int = draws_parameter("sets of known places drawn per person", high=100_000)
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "known_frequencies"
    summary: ClassVar[str] = "an attacker who knows some places of a person and how often the person is there"

    def tried(self, victims: Victims, records: Records, *, rng: np.random.Generator, engine: Engine) -> Tried:
        proportion = self.measure == "proportion"
        tolerance = float(self.tolerance)
        rows = Rows.of(victims, *self._values(victims.offsets, victims.location))
        attacked = self._values(records.offsets, records.place)
        value = attacked[2]
        # A published number of visits fits a known one within the tolerance, as a share of the published one.
        least = value - value * tolerance
        most = value + value * tolerance
        # Proportions have no bounds of their own: only those between two places of a set can be compared.
        if proportion:  # what fits depends on the other places of a set
            least = np.full(len(value), -np.inf)
            most = np.full(len(value), np.inf)
        place = rows.victims.location
        known = rows.value
        index = Index.of(attacked, least, most, records, place, known, tolerance=tolerance if proportion else -1.0)
        return attack_sets(self, rows, index, exactly=proportion, rng=rng, engine=engine)

    @property
    def adversary(self) -> str:
        """What is known, in words."""
        measures = {
            "frequency": "how often the person was at each",
            "probability": "which share of all visits was at each",
            "proportion": "how often the person was at each compared with the others",
        }
        off = f", up to {float(self.tolerance):.3g} of the value" if self.tolerance else ""
        return (
            f"{known_of(self, 'different place' if self.m == 1 else 'different places')}; {measures[self.measure]}{off}"
        )

    def _values(self, offsets: Array, place: Array) -> tuple[Array, Array, Array]:
        """Return (offsets, place, value) of the distinct places of every record."""
        ends, place, count = tally(offsets, place)
        value = count.astype(np.float64)
        return (
            ends,
            place,
            value / np.repeat(np.diff(offsets), np.diff(ends)) if self.measure == "probability" else value,
        )
