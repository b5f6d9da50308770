"""The attacker who knows in which published group somebody is: whom to pick, and where its people end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import OnPositions, mean, owners_of
from wayveil.attacks.attack_numbers import mean_risk, share_published, worst_risk
from wayveil.attacks.positions.known_positions import Array, check_matched
from wayveil.errors import InputError
from wayveil.model import AttackResult, Boxes, Engine, Number, Points, parameter
from wayveil.model.numbers import amount, count

__all__ = ["KnownGroup"]


@dataclass(frozen=True, kw_only=True)
class KnownGroup(OnPositions):
    """Someone knows which published trajectories the victim's is one of, because they all look alike.

    This is what any attacker comes to who knows enough true positions.  **Identity linkage**: one of the people of the
    group is picked, or one of its trajectories, and the larger chance counts.  **Inference**: the attacker also knows
    where the people of the group end, not who is who, and names the place where most do.

    Parameters
    ----------
    k_column : str
        The column of the original with the number that each person asked for; "none" where nobody was asked.
    destination_cell : number, >= 1, or "none"
        Side of a square in metres: ends in one square are the same destination.  With "none" nobody looks at ends.

    Notes
    -----
    `asked_max` is the largest chance times the number that the person asked for, the largest one where it differs
    between trips: 1 or less says that everybody's wish is kept.  Trips end at their last position; with boxes, the
    attacker may also know where people are when the last box is over, and names what is easier.  Everybody is attacked
    whose trajectory is published.  O(rows log rows) time.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Points.from_records(
    ...     [[(0, 0.0, 0.0)], [(0, 9.0, 0.0)], [(0, 900.0, 0.0)]], attributes={"wanted": ["3", "2", None]}
    ... )
    >>> boxes = Boxes.from_records([[(0, 0, 0.0, 900.0, 0.0, 0.0)]] * 3)
    >>> attack = KnownGroup(k_column="wanted", destination_cell=100)
    >>> found = attack.run(truth, boxes, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine()).measured
    >>> found["asked_max"], round(found["destination_max"], 3)
    (1.0, 0.667)
    """

    k_column: str = parameter(kind="text", default="none", help="column with the number that each person asked for")
    destination_cell: float | str = parameter(
        kind="number",
        low=1,
        choices=("none",),
        default=500.0,
        help="side of the squares that are one destination, in metres; none: ends do not count",
    )

    name: ClassVar[str] = "known_group"
    summary: ClassVar[str] = "an attacker who knows the victim's group, and where its people end"
    asks: ClassVar[str] = "destination_cell"

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Wishes:
        person = owners_of(truth)
        own_k = np.ones(len(truth))
        if self.k_column != "none":
            if self.k_column not in truth.attributes:
                raise InputError(f"{self.name}: the data have no column {self.k_column!r}.")
            values = truth.attributes[self.k_column].values()
            numbers = np.array([self._read_number(value) for value in values])
            # Whoever asked with several trips asked for the largest of these numbers.
            largest = np.ones(int(person.max(initial=-1)) + 1)
            np.maximum.at(largest, person, numbers)
            own_k = largest[person]
        return _Wishes(person=person, own_k=own_k)

    def _read_number(self, value: str | None) -> float:
        text = (value or "").strip()
        if text and not text.isdecimal():
            raise InputError(
                f"{self.name}: the column {self.k_column!r} of k_column holds something that is no whole number; leave "
                "it empty for people who ask for nothing."
            )
        return float(text or 1)

    def match(self, queries: _Wishes, target: Points | Boxes, *, truth: Points, rng: Any, engine: Engine) -> _Chances:
        check_matched(self.name, truth, target)
        trajectories = np.flatnonzero(target.nonempty & truth.nonempty)
        group = _number_groups(target, trajectories)
        person = queries.person[trajectories]
        n_groups = int(group.max(initial=-1)) + 1
        size = np.bincount(group, minlength=n_groups)
        # Each pair of a group and a person once, and how many trajectories the person has there.
        pairs, own = np.unique(np.stack([group, person], axis=1), axis=0, return_counts=True)
        people = np.bincount(pairs[:, 0], minlength=n_groups)
        at = np.searchsorted(
            _one(pairs, len(queries.person)), _one(np.stack([group, person], axis=1), len(queries.person))
        )
        # Two guesses: any person of the group, or the owner of any of its trajectories.  The attacker takes what pays
        # more.
        person_chance = np.maximum(1 / people[group], own[at] / size[group])
        if isinstance(self.destination_cell, str):
            return _Chances(trajectory=trajectories, person_chance=person_chance, end_chance=None, groups=n_groups)
        named = np.zeros(n_groups)
        for end in _list_ends(truth, target, trajectories, self.destination_cell):
            # A square is named by the trajectories of the group that end there, and by its people, each of whom counts
            # once.
            for counted, whole in (((group, end), size), ((group, end, person), people)):
                cells = np.unique(np.stack(counted, axis=1), axis=0) if len(counted) == 3 else np.stack(counted, axis=1)
                spots, here = np.unique(cells[:, :2], axis=0, return_counts=True)
                np.maximum.at(named, spots[:, 0], here / whole[spots[:, 0]])
        return _Chances(trajectory=trajectories, person_chance=person_chance, end_chance=named[group], groups=n_groups)

    def summarize(self, queries: _Wishes, matches: _Chances) -> AttackResult:
        person = queries.person[matches.trajectory]
        n = int(queries.person.max(initial=-1)) + 1
        worst = np.zeros(n)
        np.maximum.at(worst, person, matches.person_chance)
        seen = np.zeros(n, np.bool_)
        seen[person] = True
        # At most 1 where everybody got what they asked for: a chance of 1/n, times n.
        ratio = matches.person_chance * queries.own_k[matches.trajectory]
        return AttackResult(
            name=self.name,
            adversary="knows which published trajectories the victim's is one of, and where the people behind them end",
            victims=int(seen.sum()),
            sampled=False,
            numbers={
                "identity_mean": mean_risk(mean(worst[seen])),
                "identity_max": worst_risk(float(worst.max()) if seen.any() else None),
                "asked_max": amount(
                    float(ratio.max()) if len(ratio) else None,
                    "Largest chance times the number that the person asked for",
                    better="lower",
                    joined="largest",
                ),
                **_destination_numbers(matches, person, n),
                "published_share": share_published(float(seen.mean()) if n else None),
                "groups": count(matches.groups, "Groups", "groups"),
            },
        )


class _Wishes(NamedTuple):
    """The person behind each trajectory, and the number that they asked for."""

    person: Array
    own_k: Array


class _Chances(NamedTuple):
    """Of each published trajectory: the chance that its person is found, and that its end is named."""

    trajectory: Array
    person_chance: Array
    end_chance: Array | None
    groups: int


def _destination_numbers(matches: _Chances, person: Array, people: int) -> dict[str, Number]:
    """Return how well ends of people are named, of each the one that is named best; nothing where nobody looked."""
    if matches.end_chance is None:
        return {}
    named = np.zeros(people)
    np.maximum.at(named, person, matches.end_chance)
    named = named[np.unique(person)]
    return {
        "destination_mean": mean_risk(mean(named), "inference"),
        "destination_max": worst_risk(float(named.max()) if len(named) else None, "inference"),
    }


def _one(pairs: Array, people: int) -> Array:
    """Return pairs of a group and a person as one number each, in the same order."""
    return pairs[:, 0] * people + pairs[:, 1]


def _number_groups(target: Points | Boxes, trajectories: Array) -> Array:
    """Return a number for each of these trajectories that is the same for those that are the same in every row."""
    columns = [getattr(target, name) for name in target.row_columns]
    numbers: dict[bytes, int] = {}
    group = np.zeros(len(trajectories), np.int64)
    for at, trajectory in enumerate(trajectories.tolist()):
        rows = target.rows(trajectory)
        key = b"".join(column[rows].tobytes() for column in columns)
        group[at] = numbers.setdefault(key, len(numbers))
    return group


def _list_ends(truth: Points, target: Points | Boxes, trajectories: Array, cell: float) -> list[Array]:
    """Return the square in which each trajectory ends, as a number; of boxes, also that when the last one is over."""
    last = truth.offsets[trajectories + 1] - 1
    moments = [last]
    if isinstance(target, Boxes):
        then = last.copy()
        for at, trajectory in enumerate(trajectories.tolist()):
            rows = truth.rows(trajectory)
            over = target.t_max[target.offsets[trajectory + 1] - 1]
            then[at] = max(rows.start, rows.start + int(np.searchsorted(truth.t[rows], over, side="right")) - 1)
        moments.append(then)
    places = (np.floor(np.stack([truth.x[rows], truth.y[rows]], axis=1) / cell) for rows in moments)
    return [np.unique(place, axis=0, return_inverse=True)[1].reshape(-1) for place in places]
