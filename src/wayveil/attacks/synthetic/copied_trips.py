"""Whether synthetic trips copy true ones: somebody who knows a whole trip looks for it in the publication."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import victims_parameter
from wayveil.model import Attack, AttackResult, Engine, Points, Visits, parameter, seconds_per_unit
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.model.numbers import share

__all__ = ["CopiedTrips", "CopiedWays"]

_Trip = tuple[Any, ...]
_DRAWS = 8


@dataclass(frozen=True, kw_only=True)
class _Known:
    """Trips that happened, and as many that did not: the same start, and what came after it in another trip."""

    true: tuple[_Trip, ...]
    decoys: tuple[_Trip, ...]


class _Copies(Attack):
    """Look for whole trips in the publication, for true ones and for decoys."""

    victims: int

    synthetic: ClassVar[bool] = True

    def _trips(self, data: Any) -> list[_Trip]:
        """Return every trip of at least two steps as what is known of it, the start first."""
        raise NotImplementedError

    def queries(self, truth: Any, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Known:
        trips = self._trips(truth)
        happened = set(trips)
        by_start: dict[Any, list[int]] = defaultdict(list)
        for number, trip in enumerate(trips):
            by_start[trip[1]].append(number)
        true: list[_Trip] = []
        decoys: list[_Trip] = []
        for number in rng.permutation(len(trips)).tolist():
            if len(true) == self.victims:
                break
            trip = trips[number]
            others = by_start[trip[1]]
            # As plausible as a true one for whoever knows how people move: it begins like one and goes on like another.
            drawn = [(trip[0], *trips[others[at]][1:]) for at in rng.integers(len(others), size=_DRAWS).tolist()]
            decoy = next((one for one in drawn if one not in happened), None)
            if decoy is not None:
                true.append(trip)
                decoys.append(decoy)
        return _Known(true=tuple(true), decoys=tuple(decoys))

    def match(self, queries: _Known, target: Any, *, truth: Any, rng: Any, engine: Engine) -> tuple[int, int]:
        published = set(self._trips(target))
        return sum(trip in published for trip in queries.true), sum(trip in published for trip in queries.decoys)

    def summarize(self, queries: _Known, matches: tuple[int, int]) -> AttackResult:
        n = len(queries.true)
        copies, decoys = (None, None) if n == 0 else (matches[0] / n, matches[1] / n)
        more = None if copies is None or decoys is None else max(0.0, copies - decoys)
        return AttackResult(
            name=self.name,
            adversary="knows a whole trip and asks whether it is in the data",
            victims=n,
            sampled=True,
            numbers={
                "copied_share": share(copies, "True trips that are published as well"),
                "decoy_share": share(decoys, "Trips that never happened and are published"),
                "advantage": share(more, "By which true trips are published more often", better="lower"),
            },
        )


@dataclass(frozen=True, kw_only=True)
class CopiedTrips(_Copies):
    """Somebody knows all places of a trip and the hour of the day at which it began, and looks for such a trip.

    As many decoys are looked for: trips that begin like a true one, at the same place and hour, and go on like another
    trip from there, and that never happened.  A method that copies trips publishes true ones far more often.

    Parameters
    ----------
    victims : int, >= 1
        Number of true trips, and of decoys.

    Notes
    -----
    Trips with one visit, and those for which eight drawn decoys happened, are left out.  What most people do is
    published more often than what nobody does, so `advantage` is above 0 also where nobody's trip made a difference.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 2), ("c", 3)]])
    >>> found = CopiedTrips().run(data, data, sensitive={}, rng=np.random.default_rng(3), engine=LocalEngine())
    >>> found.measured["copied_share"], found.measured["decoy_share"]
    (1.0, 0.0)
    """

    victims: int = victims_parameter()

    name: ClassVar[str] = "copied_trips"
    summary: ClassVar[str] = "an attacker who knows all places of a trip and looks for it among synthetic ones"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Visits], ...]] = (Visits,)

    def _trips(self, data: Visits) -> list[_Trip]:
        seconds = seconds_per_unit(data.time_format)
        hour = 1 if seconds is None else round(3600 / seconds)
        hours = (data.t // hour % 24).tolist()
        places = [data.locations[code] for code in data.location.tolist()]
        ends = data.offsets.tolist()
        return [(hours[begin], *places[begin:end]) for begin, end in pairwise(ends) if end - begin > 1]


@dataclass(frozen=True, kw_only=True)
class CopiedWays(_Copies):
    """Somebody knows the way of a trip, as the cells it goes through one after the other, and looks for it.

    Parameters
    ----------
    cell : number > 0, in metres
        Side of a cell.
    victims : int, >= 1
        Number of true ways, and of decoys: see `CopiedTrips`.

    Notes
    -----
    A decoy begins in the first cell of a true trip, and goes on like another from its second cell.  Ways of fewer than
    three cells are left out.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> east = [(0, 0.0, 0.0), (1, 900.0, 0.0), (2, 1800.0, 0.0)]
    >>> back = [(0, 0.0, 900.0), (1, 900.0, 0.0), (2, 900.0, 900.0)]
    >>> data = Points.from_records([east, back])
    >>> found = CopiedWays().run(data, data, sensitive={}, rng=np.random.default_rng(3), engine=LocalEngine())
    >>> found.victims, found.measured["copied_share"], found.measured["decoy_share"]
    (2, 1.0, 0.0)
    """

    cell: float = parameter(kind="number", low=1, default=500.0, help="side of a cell in metres")
    victims: int = victims_parameter()

    name: ClassVar[str] = "copied_ways"
    summary: ClassVar[str] = "an attacker who knows the way of a trip and looks for it among synthetic ones"
    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Points], ...]] = (Points,)

    def _trips(self, data: Points) -> list[_Trip]:
        column = np.floor(data.x / self.cell).astype(np.int64)
        row = np.floor(data.y / self.cell).astype(np.int64)
        trajectory = trajectory_of_row(data.offsets)
        new = np.ones(data.n_rows, np.bool_)
        new[1:] = (np.diff(column) != 0) | (np.diff(row) != 0) | (np.diff(trajectory) != 0)
        cells = list(zip(column[new].tolist(), row[new].tolist(), strict=True))
        ends = np.concatenate([[0], np.cumsum(np.bincount(trajectory[new], minlength=len(data)))]).tolist()
        return [tuple(cells[begin:end]) for begin, end in pairwise(ends) if end - begin > 2]
