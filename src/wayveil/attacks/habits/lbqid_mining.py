"""Habits that are found in the data: of each person the places by hour of the day that recur most."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from wayveil.attacks.positions.known_positions import Array

__all__ = ["Clock", "Habits", "mine_habits"]

Recurs = Callable[[Array], Array]
"""Of the days on which something was met, those that recur as often as asked for."""


class Habits(NamedTuple):
    """What was mined: the rows with which people follow their habits, and how many elements each person's has."""

    rows: Array
    elements: Array


class Clock(NamedTuple):
    """When rows are: `day` is the granule of the recurrence that a row lies in, `part` the part of the day."""

    day: Array
    part: Array


def mine_habits(user: Array, cell: Array, clock: Clock, t: Array, most: int, recurs: Recurs) -> Habits:
    """Return for each person the habit that recurs most, and the rows that follow it.

    Parameters
    ----------
    user, cell : Array
        For each row its person, from 0 on, and its place, as a number.
    clock : Clock
        When rows are; rows on days that do not count are no part of it.
    t : Array
        Times, for the earliest row of a place in its part of the day.
    most : int
        The largest number of elements of a habit.
    recurs : callable
        Which of some days recur often enough; an element or a habit without any is none.

    Notes
    -----
    An element is a place in a part of the day.  The one that recurs on most days comes first; then, again and again,
    the one of another part that leaves most days on which all of them are met, as long as these recur.  This is a
    greedy search: another habit may be followed by fewer people.  O(rows log rows) time.

    Examples
    --------
    >>> user = np.zeros(6, np.int64)
    >>> clock = Clock(day=np.array([0, 0, 1, 1, 2, 2]), part=np.array([8, 18, 8, 18, 8, 12]))
    >>> cell = np.array([1, 2, 1, 2, 1, 3])
    >>> found = mine_habits(user, cell, clock, np.arange(6), 2, lambda days: days if len(days) >= 2 else days[:0])
    >>> found.rows.tolist(), found.elements.tolist()
    ([0, 1, 2, 3], [2])
    """
    people = int(user.max(initial=-1)) + 1
    elements: Array = np.zeros(people, np.int64)
    order = np.lexsort((t, clock.part, cell, clock.day, user))
    bounds = np.searchsorted(user[order], np.arange(people + 1))
    rows: list[Array] = [np.zeros(0, np.int64)]
    for person in range(people):
        own = order[bounds[person] : bounds[person + 1]]
        # An item is a place at a part of the day.
        items, item = np.unique(np.stack([cell[own], clock.part[own]], axis=1), axis=0, return_inverse=True)
        habit, days = _grow(items, item.reshape(-1), clock.day[own], most, recurs)
        elements[person] = len(habit)
        inside = np.isin(item.reshape(-1), habit) & np.isin(clock.day[own], days)
        # The earliest row of each element on each day: `own` is in the order of days, places, parts and times.
        followed = own[inside]
        key = np.stack([clock.day[followed], cell[followed], clock.part[followed]], axis=1)
        rows.append(followed[np.unique(key, axis=0, return_index=True)[1]])
    return Habits(rows=np.sort(np.concatenate(rows)), elements=elements)


def _grow(items: Array, item: Array, day: Array, most: int, recurs: Recurs) -> tuple[list[int], Array]:
    """Return the elements of a habit and the days on which all are met and that recur."""
    # On which days each item was met, each day once.
    pairs = np.unique(np.stack([item, day], axis=1), axis=0)
    on = np.split(pairs[:, 1], np.searchsorted(pairs[:, 0], np.arange(1, len(items))))
    candidates = [number for number in range(len(items)) if len(recurs(on[number]))]
    habit: list[int] = []
    days: Array = np.unique(day)
    # Greedy: before each round `days` are those on which the whole habit so far was met and that recur.  A round adds
    # the item that leaves most of them; it ends when none leaves any, or the habit is long enough.
    while candidates and len(habit) < most:
        together = {number: recurs(np.intersect1d(days, on[number])) for number in candidates}
        best = max(candidates, key=lambda number: (len(together[number]), -number))
        if not len(together[best]):
            break
        habit.append(best)
        days = together[best]
        # One place per part of the day: nobody is at two.
        candidates = [number for number in candidates if items[number, 1] != items[best, 1]]
    return habit, days if habit else day[:0]
