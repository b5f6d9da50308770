"""The attacker who knows where a person was at some times, and looks for sequences of boxes with all of it inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import owners_of, threshold_parameter, victims_parameter
from wayveil.attacks.person_risk import PersonRisk
from wayveil.errors import InputError
from wayveil.model import Attack, AttackResult, Boxes, Engine, TimeFormat, parameter
from wayveil.model.data.ragged import take, trajectory_of_row

__all__ = ["SeenInBoxes"]

Array = NDArray[Any]

_ATTACKS_PER_TASK = 64


@dataclass(frozen=True, kw_only=True)
class SeenInBoxes(Attack):
    """Someone who knows positions of a person keeps the trajectories that have a box around each of them.

    The true positions are not in published boxes: they are drawn evenly inside boxes of the victim, each at a time of
    the box.  **Identity linkage** succeeds with probability 1 / (people who fit), or with the victim's share of the
    trajectories that fit if this is more.

    Parameters
    ----------
    positions : int, 1 to 20
        Number of positions known, in different boxes of one trajectory (all of it, where it has fewer).
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int
        Sets of positions drawn per person.
    threshold : number from 0 to 1
        People whose risk is above this are counted in `identity_share_above`.

    Notes
    -----
    Where owners are withheld, each trajectory counts as a person.  Only boxes that can contain the time of a position
    are looked at; where all boxes are long, these are all of them.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> box = (0, 10, 0.0, 100.0, 0.0, 100.0)
    >>> data = Boxes.from_records([[box], [box], [(0, 10, 500.0, 600.0, 0.0, 100.0)]])
    >>> found = SeenInBoxes().run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> round(found.measured["identity_mean"], 3), found.measured["identity_max"]
    (0.667, 1.0)
    """

    positions: int = parameter(kind="int", low=1, high=20, default=4, help="number of positions of the victim known")
    victims: int = victims_parameter()
    draws: int = parameter(kind="int", low=1, high=1000, default=1, help="sets of known positions drawn per person")
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "seen_in_boxes"
    summary: ClassVar[str] = "an attacker who knows where a person was at some times and looks for boxes around it"
    accepts: ClassVar[type[Boxes]] = Boxes
    targets: ClassVar[tuple[type[Boxes], ...]] = (Boxes,)

    def queries(
        self, truth: Boxes, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> _KnownPositions:
        return _KnownPositions(*self._draw(truth, rng), time_format=truth.time_format)

    def match(self, queries: _KnownPositions, target: Boxes, *, truth: Boxes, rng: Any, engine: Engine) -> PersonRisk:
        if queries.time_format != target.time_format:
            raise InputError(
                f"seen_in_boxes: the times that are known ({queries.time_format}) and those of the attacked data "
                f"({target.time_format}) cannot be compared. Give both in the same form."
            )
        boxes = _Boxes.of(target)
        known = queries.known
        tasks = [slice(i, i + _ATTACKS_PER_TASK) for i in range(0, len(known), _ATTACKS_PER_TASK)]
        done = engine.map(partial(_people_fitting, boxes, known, queries.owner), tasks)
        fitting, many, own = np.concatenate([np.zeros((3, 0), np.int64), *done], axis=1)
        same = np.array_equal(truth.owner, target.owner) and truth.owners == target.owners
        share = np.divide(own, many, out=np.zeros(len(own)), where=many > 0) if same else None
        drawn = np.ones(queries.victims, np.bool_)
        return PersonRisk.of(queries.person, fitting, None, drawn, population=queries.people, own=share)

    def summarize(self, queries: _KnownPositions, matches: PersonRisk) -> AttackResult:
        some = "1 position" if self.positions == 1 else f"{self.positions} positions"
        return AttackResult(
            name=self.name,
            adversary=f"knows {some} of a person, with times, and looks for boxes around all of them",
            victims=queries.victims,
            sampled=True,
            numbers=matches.numbers(self.threshold),
            charts=(matches.chart(),),
        )

    def _draw(self, truth: Boxes, rng: np.random.Generator) -> tuple[int, Array, Array, Array]:
        """Return the number of people, the victim of each attack, the known (t, x, y), NaN behind the last, and the
        number of the victim in the data."""
        with_rows = np.flatnonzero(np.diff(truth.offsets))
        owner = owners_of(truth)[with_rows]
        order = np.argsort(owner, kind="stable")
        first = np.flatnonzero(np.diff(np.append(-1, owner[order])))
        count = np.diff(np.append(first, len(order)))
        chosen = np.arange(len(first))
        if len(first) > self.victims:
            chosen = np.sort(rng.choice(len(first), self.victims, replace=False))
        person = np.repeat(np.arange(len(chosen)), self.draws)
        trip = (
            with_rows[order[first[chosen][person] + rng.integers(0, count[chosen][person])]] if len(person) else person
        )
        known = np.full((len(person), self.positions, 3), np.nan)
        for i, trajectory in enumerate(trip.tolist()):
            rows = np.arange(truth.offsets[trajectory], truth.offsets[trajectory + 1])
            rows = rng.permutation(rows)[: self.positions]
            spread = rng.random((3, len(rows)))
            t = truth.t_min[rows] + np.floor(spread[0] * (truth.t_max[rows] - truth.t_min[rows] + 1))
            known[i, : len(rows), 0] = np.minimum(t, truth.t_max[rows])
            for side, (low, high) in enumerate(((truth.x_min, truth.x_max), (truth.y_min, truth.y_max)), start=1):
                place = low[rows] + spread[side] * (high[rows] - low[rows])
                known[i, : len(rows), side] = np.minimum(place, high[rows])  # rounding must not leave the box
        return len(first), person, known, owner[order][first[chosen]][person]


class _KnownPositions(NamedTuple):
    """The number of people; the victim of each attack, the known (t, x, y), and the victim's number in the data."""

    people: int
    person: Array
    known: Array
    owner: Array
    time_format: TimeFormat

    @property
    def victims(self) -> int:
        return int(self.person.max()) + 1 if len(self.person) else 0


@dataclass(frozen=True, kw_only=True, eq=False)
class _Boxes:
    """Boxes, their rows in the order of their first time, the trajectory of each row and the person of each."""

    data: Boxes
    order: Array
    t_min: Array
    trajectory: Array
    owner: Array
    longest: float

    @classmethod
    def of(cls, data: Boxes) -> _Boxes:
        order = np.argsort(data.t_min, kind="stable")
        return cls(
            data=data,
            order=order,
            t_min=data.t_min[order],
            trajectory=trajectory_of_row(data.offsets),
            owner=owners_of(data),
            longest=float((data.t_max - data.t_min).max(initial=0)),
        )

    def around(self, t: float, x: float, y: float, among: Array | None) -> Array:
        """Return the trajectories (of some, or of all) with a box around a position at a time."""
        if among is None:
            low = int(np.searchsorted(self.t_min, t - self.longest, side="left"))
            rows = self.order[low : int(np.searchsorted(self.t_min, t, side="right"))]
        else:
            rows = take(self.data.offsets, among)[1]
        # The cheapest test that leaves the least comes first.
        for low_name, high_name, value in (("x_min", "x_max", x), ("y_min", "y_max", y), ("t_min", "t_max", t)):
            low_side = getattr(self.data, low_name)[rows]
            high_side = getattr(self.data, high_name)[rows]
            rows = rows[(low_side <= value) & (value <= high_side)]
        return np.unique(self.trajectory[rows])


def _people_fitting(boxes: _Boxes, known: Array, owner: Array, part: slice) -> Array:
    """Return how many people and trajectories have boxes around all positions, and how many of these are the victim's.

    One line each, with an entry per attack of the part.
    """
    counts = np.zeros((3, len(known[part])), np.int64)
    for i, (positions, victim) in enumerate(zip(known[part], owner[part].tolist(), strict=True)):
        trajectories: Array | None = None
        for t, x, y in positions[~np.isnan(positions[:, 0])]:
            trajectories = boxes.around(t, x, y, trajectories)
        if trajectories is not None:
            people = boxes.owner[trajectories]
            counts[:, i] = len(np.unique(people)), len(people), int((people == victim).sum())
    return counts
