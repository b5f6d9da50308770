"""The attacker who knows some places of a person in the order of the visits, but not when they were."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.attacks.place_attack import depth_of, known_of, population, random_risk, worst_owners
from wayveil.attacks.place_records import Array, Records, draw_victims
from wayveil.attacks.place_risk import told, worst_risk
from wayveil.attacks.place_search import fewest_in_order, orders_of, owners_in_order
from wayveil.model import AttackResult, Engine, Visits, check_parameters, parameter

__all__ = ["KnownOrder"]


@dataclass(frozen=True, kw_only=True)
class KnownOrder:
    """Someone who knows the places of up to `m` visits of a person, in their order, looks for that person.

    The attacker keeps the records that visit the known places in this order, with any visits between, and picks one of
    the people behind them: right with probability 1 / (number of these people), and 0 where nothing matches.

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
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("b", 5), ("a", 7)], [("a", 3), ("b", 4)]])
    >>> attack = KnownOrder(m=2, choice="worst")
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], round(found.measured["identity_mean"], 3)
    (1.0, 0.667)
    """

    m: int | str = parameter(
        kind="int", low=1, choices=("all",), default=3, help="number of visits of the victim that are known"
    )
    choice: str = parameter(kind="choice", choices=("random", "worst"), default="random", help="which visits are known")
    record: str = parameter(
        kind="choice", choices=("trajectory", "person"), default="trajectory", help="where known visits lie together"
    )
    victims: int = parameter(kind="int", low=1, default=2000, help="number of people attacked, where there are more")
    draws: int = parameter(kind="int", low=1, high=100_000, default=5, help="sets of known visits drawn per person")
    threshold: Fraction = parameter(
        kind="fraction", low=0, high=1, default=Fraction(1, 10), help="identity risk above which people are counted"
    )

    name: ClassVar[str] = "known_order"
    summary: ClassVar[str] = "an attacker who knows some places of a person in the order of the visits"
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
        merged = self.record == "person"
        victims = draw_victims(truth, target, self.victims, rng, merged=merged)
        records = Records.of(target, merged=merged)
        n_places = max(int(side.max(initial=-1)) for side in (victims.location, records.place)) + 1
        longest = max(int(np.diff(side).max(initial=0)) for side in (victims.offsets, records.offsets))
        shift = longest.bit_length()
        rows = orders_of(records.offsets, records.place, records.owner, n_places, shift)
        m, people = depth_of(self, victims), population(truth)
        if self.choice == "worst":
            person = np.repeat(np.arange(len(victims)), np.diff(victims.first))
            known = orders_of(victims.offsets, victims.location, person, n_places, shift)
            support = owners_in_order(rows, shift, np.arange(n_places)[:, None], engine)
            best, cut = fewest_in_order(rows, known, shift, len(victims), m, support=support, engine=engine)
            risk = worst_risk(worst_owners(best))
            return told(self.name, self.adversary, risk, threshold=self.threshold, population=people, cut=cut)

        def match(sets: Array) -> Array:
            # Positions rise with time; -1 is no visit, and comes last.
            sets = np.sort(np.where(sets < 0, len(victims.location), sets), axis=1)
            return owners_in_order(rows, shift, np.append(victims.location, -1)[sets], engine)

        risk, drawn = random_risk(victims, m, self.draws, match, rng)
        return told(self.name, self.adversary, risk, threshold=self.threshold, population=people, drawn=drawn)

    @property
    def adversary(self) -> str:
        """What is known, in words."""
        return known_of(self, "visit (the place)" if self.m == 1 else "visits (the places in order)")
