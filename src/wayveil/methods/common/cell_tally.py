"""Cells and who is in them: from events to counts, people and the largest part of one person."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.model.data.count_tables import Events
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["CellTally", "is_small", "tally_cells", "tally_groups"]


@dataclass(frozen=True, kw_only=True)
class CellTally:
    """All cells that somebody is in, and what everybody is of them.

    Parameters
    ----------
    zone, to_zone, t : int64, one per cell
        What the cell is; cells are in the order of time, zone and other zone.
    cell_of_event : int64, one per event
        The cell that it is in.
    pair_cell, pair_person, pair_count : int64, one per cell and person in it
        How much of the cell a person is: 1 where people are counted, else the number of visits.
    """

    zone: IntArray
    to_zone: IntArray
    t: IntArray
    cell_of_event: IntArray
    pair_cell: IntArray
    pair_person: IntArray
    pair_count: IntArray

    def __len__(self) -> int:
        return len(self.zone)

    def value(self) -> IntArray:
        """Return what each cell counts."""
        return tally_groups(self.pair_cell, self.pair_person, self.pair_count, len(self)).value


@dataclass(frozen=True, kw_only=True)
class GroupTally:
    """What each group counts, how many people are in it, and the largest part that is one of them."""

    value: IntArray
    people: IntArray
    largest: IntArray


def tally_cells(events: Events, *, count: str) -> CellTally:
    """Return the cells of events; `count` says whether somebody counts once in a cell ("people") or with every visit.

    O(n log n) time for n events, O(n) memory.
    """
    n_zones = len(events.names)
    moments, moment = np.unique(events.t, return_inverse=True)
    # One number per cell: times are numbered, so that it fits into 64 bits for any data that fit into memory.
    key = (moment * n_zones + events.zone) * n_zones + events.to_zone
    cells, cell_of_event = np.unique(key, return_inverse=True)
    people, person = np.unique(events.person, return_inverse=True)
    pair, times = np.unique(cell_of_event * max(1, len(people)) + person, return_counts=True)
    return CellTally(
        zone=cells // n_zones % n_zones,
        to_zone=cells % n_zones,
        t=moments[cells // n_zones // n_zones],
        cell_of_event=cell_of_event,
        pair_cell=pair // max(1, len(people)),
        pair_person=pair % max(1, len(people)),
        pair_count=np.ones(len(pair), np.int64) if count == "people" else times.astype(np.int64),
    )


def tally_groups(group: IntArray, person: IntArray, part: IntArray, n_groups: int) -> GroupTally:
    """Return what groups count, where `part` is what a person adds; parts of one person in a group are added up.

    Examples
    --------
    >>> found = tally_groups(np.array([0, 0, 0]), np.array([7, 8, 7]), np.array([1, 1, 2]), 1)
    >>> found.value.tolist(), found.people.tolist(), found.largest.tolist()
    ([4], [2], [3])
    """
    n_people = int(person.max(initial=-1)) + 1
    pair, where = np.unique(group * max(1, n_people) + person, return_inverse=True)
    parts = np.zeros(len(pair), np.int64)
    np.add.at(parts, where, part)
    of = pair // max(1, n_people)
    value = np.zeros(n_groups, np.int64)
    np.add.at(value, of, parts)
    largest = np.zeros(n_groups, np.int64)
    np.maximum.at(largest, of, parts)
    return GroupTally(value=value, people=np.bincount(of, minlength=n_groups), largest=largest)


def is_small(tally: GroupTally, k: int, share: Fraction) -> BoolArray:
    """Return which groups count fewer than `k` people, or are more than a share one person; exact, in integers."""
    small: BoolArray = (tally.people < k) | (tally.largest * share.denominator > tally.value * share.numerator)
    return small
