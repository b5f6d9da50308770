"""The parts of attacks by known places: whose places are known, what is attacked, and what fits what."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.visits.knowledge import Victims
from wayveil.kernels.attacks.place_set_search import count_items
from wayveil.kernels.attacks.place_sets import Items, Lists, PlaceIndex, Rows, fitting_items
from wayveil.model import Visits
from wayveil.model.data.ragged import offsets_of, take, trajectory_of_row

__all__ = ["Index", "Records", "most_visited", "occurrence", "place_names", "recode_victims", "tally"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Records:
    """What is attacked: record i, of ``owner[i]`` (never falling), visits ``place[offsets[i]:offsets[i + 1]]``, in
    order of time.  A record is a trajectory, or all that one person did."""

    offsets: Array
    place: Array
    owner: Array

    @classmethod
    def of(cls, target: Visits, *, merged: bool) -> Records:
        """Return the trajectories with visits; with `merged`, and where owners are given, those of one owner as one."""
        with_rows = np.flatnonzero(np.diff(target.offsets))
        given = target.owners == "given"
        owner = np.unique(target.owner[with_rows], return_inverse=True)[1] if given else np.arange(len(with_rows))
        order = np.argsort(owner, kind="stable")
        owner = owner[order].astype(np.int64)
        offsets, rows = take(target.offsets, with_rows[order])
        # All visits of one owner in the order of time: a record of a person.
        if merged and given:
            person = np.repeat(owner, np.diff(offsets))
            rows = rows[np.lexsort((target.t[rows], person))]
            offsets = offsets_of(np.bincount(person))
            owner = np.unique(owner)
        return cls(offsets=offsets, place=target.location[rows].astype(np.int64), owner=owner)

    @property
    def alone(self) -> bool:
        """Whether every record is of another owner."""
        return bool((np.diff(self.owner) > 0).all())


def recode_victims(victims: Victims, truth: Visits, target: Visits, *, merged: bool) -> Victims:
    """Return who is attacked, with places as the codes of `target`; those that it does not have come after them.

    With `merged` all visits of a person are one record, in order of time; what is known lies inside one record.
    `owner` is then that of the victim in `Records`, and -1 where it is not known to be the same person.
    """
    victims = replace(victims, owner=_owners_in(truth, target, victims.owner))
    code = {name: i for i, name in enumerate(place_names(truth, target))}
    recode = np.array([code[name] for name in truth.locations], np.int64)
    location = recode[victims.location]
    t = victims.t
    if not merged:
        return replace(victims, location=location)
    # With merged records, a person has one: its trajectories are joined and sorted by time.
    first = np.arange(len(victims) + 1)
    offsets = victims.offsets[victims.first]
    order = np.lexsort((t, trajectory_of_row(offsets)))
    return replace(victims, first=first, offsets=offsets, location=location[order], t=t[order])


def _owners_in(truth: Visits, target: Visits, owner: Array) -> Array:
    """Return the owners of `Records` with these codes in `truth`; -1 where there is none, or it may be another person.

    Codes are known to mean the same people where both data sets have them in the same order.
    """
    # Codes of two data sets mean the same people only if both say who they are, in the same way.
    if not (truth.owners == target.owners == "given" and np.array_equal(truth.owner, target.owner)):
        return np.full(len(owner), -1, np.int64)
    owners = np.unique(target.owner[np.diff(target.offsets) > 0])
    at = np.searchsorted(owners, owner)
    is_present = owners[np.minimum(at, max(0, len(owners) - 1))] == owner if len(owners) else np.zeros(len(owner), bool)
    return np.where(is_present, at, -1)


def place_names(truth: Visits, target: Visits) -> tuple[str, ...]:
    """Return the names behind the codes of `recode_victims`: those of `target`, then those that it does not have.

    Examples
    --------
    >>> place_names(Visits.from_records([[("a", 1), ("c", 2)]]), Visits.from_records([[("b", 1), ("c", 2)]]))
    ('b', 'c', 'a')
    """
    return tuple(dict.fromkeys((*target.locations, *truth.locations)))


def tally(offsets: Array, place: Array) -> tuple[Array, Array, Array]:
    """Return (offsets, place, count): the distinct places of every record, rising, and how often each is visited.

    Examples
    --------
    >>> [column.tolist() for column in tally(np.array([0, 3, 4]), np.array([5, 2, 5, 2]))]
    [[0, 2, 3], [2, 5, 2], [1, 2, 1]]
    """
    places = int(place.max(initial=0)) + 1
    # Record and place as one number; equal ones are counted.
    pairs, count = np.unique(trajectory_of_row(offsets) * places + place, return_counts=True)
    return offsets_of(np.bincount(pairs // places, minlength=len(offsets) - 1)), pairs % places, count


def occurrence(offsets: Array, place: Array) -> Array:
    """Return for every visit how many times its place was visited in the record, up to and with this visit.

    Examples
    --------
    >>> occurrence(np.array([0, 3, 4]), np.array([5, 2, 5, 5])).tolist()
    [1, 1, 2, 1]
    """
    order = np.lexsort((place, trajectory_of_row(offsets)))
    # Equal places of a record side by side, in the order of visits.
    new = np.ones(len(place), bool)
    new[1:] = place[order][1:] != place[order][:-1]
    new[offsets[:-1][np.diff(offsets) > 0]] = True
    at = np.arange(len(place))
    number = np.empty(len(place), np.int64)
    number[order] = at - np.maximum.accumulate(np.where(new, at, 0)) + 1
    return number


def most_visited(offsets: Array, place: Array, names: Array, n: int) -> tuple[Array, Array, Array]:
    """Return (offsets, place, rank): the `n` places that each record visits most, by place, and their ranks from 1 on.

    Of places visited equally often, the one with the smaller ``names[place]`` comes first.

    Examples
    --------
    >>> [column.tolist() for column in most_visited(np.array([0, 4]), np.array([2, 0, 2, 1]), np.arange(3), 2)]
    [[0, 2], [0, 2], [2, 1]]
    """
    ends, place, count = tally(offsets, place)
    record = trajectory_of_row(ends)
    # By record, then most visits first, then by name: ties must not depend on codes.
    order = np.lexsort((names[place], -count, record))
    rank = np.empty(len(place), np.int64)
    rank[order] = np.arange(len(place)) - ends[record] + 1
    is_top = rank <= n
    return offsets_of(np.minimum(np.diff(ends), n)), place[is_top], rank[is_top]


@dataclass(frozen=True, kw_only=True, eq=False)
class Index:
    """What is attacked, by record and by place, with the items (a place and a value) that victims have.

    `item` is that of every row of the victims, ``first[p]`` the first item of place p, and `support` says how many
    owners fit each.
    """

    places: PlaceIndex
    first: Array
    support: Array
    item: Array
    alone: bool
    tolerance: float

    @classmethod
    def of(
        cls,
        attacked: tuple[Array, Array, Array],
        least: Array,
        most: Array,
        records: Records,
        place: Array,
        value: Array,
        *,
        tolerance: float = -1.0,
        costly: bool = False,
    ) -> Index:
        """Return the index of rows (offsets, place, value) that fit items with a value from `least` to `most`.

        `place` and `value` are the rows of victims.  With a `tolerance` of 0 or more, sets fit by the proportion of
        values.  Where items are `costly`, knowing one takes as many visits as its value.
        """
        offsets, at, values = attacked
        # Items are pairs of a place and a value, each once, in sorted order.
        order = np.lexsort((value, place))
        new = np.ones(len(order), bool)
        new[1:] = (place[order][1:] != place[order][:-1]) | (value[order][1:] != value[order][:-1])
        item = np.empty(len(order), np.int64)
        item[order] = np.cumsum(new) - 1
        item_place = place[order][new]
        item_value = value[order][new].astype(np.float64)
        n_places = max(int(at.max(initial=-1)), int(place.max(initial=-1))) + 1
        first = offsets_of(np.bincount(item_place, minlength=n_places))
        low = np.empty(len(at), np.int64)
        high = np.empty(len(at), np.int64)
        # Which items each attacked row fits: of its place, those with a value from `least` to `most`.
        fitting_items(at, least.astype(np.float64), most.astype(np.float64), first, item_value, low, high)
        rows = Rows(offsets, at, values.astype(np.float64), low, high, records.owner)
        support = np.zeros(len(item_place), np.int64)
        last = np.full(len(item_place), -1, np.int64)
        count_items(rows, support, last)
        # Turn: the rank of an item by how few owners have it; searches begin with the rarest.
        turn = np.empty(len(support), np.int64)
        turn[np.argsort(support, kind="stable")] = np.arange(len(support))
        by_place = np.argsort(at, kind="stable")
        starts = offsets_of(np.bincount(at, minlength=n_places))
        lists = Lists(starts, trajectory_of_row(offsets)[by_place], low[by_place], high[by_place])
        cost = item_value.astype(np.int64) if costly else np.ones(len(support), np.int64)
        return cls(
            places=PlaceIndex(rows, lists, Items(item_place, item_value, cost, turn)),
            first=first,
            support=support,
            item=item,
            alone=records.alone,
            tolerance=tolerance,
        )
