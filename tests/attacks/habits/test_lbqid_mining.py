"""Habits that are found in the data, against all habits tried one by one, and what is attacked with them."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import numpy as np
import pytest

from wayveil.attacks.habits.lbqid import Lbqid, user_table
from wayveil.attacks.habits.lbqid_mining import Clock, mine_habits
from wayveil.errors import ParameterError
from wayveil.model import Boxes, Points

HOUR = 3_600
DAY = 24 * HOUR
MONDAY = 4 * DAY


def _at_least(n: int):
    return lambda days: days if len(days) >= n else days[:0]


def _all_days(rows: list[tuple[int, int, int]], habit: tuple[tuple[int, int], ...]) -> set[int]:
    """Return the days on which every element of a habit is met."""
    met = defaultdict(set)
    for day, cell, part in rows:
        met[cell, part].add(day)
    return set.intersection(*(met[element] for element in habit))


def test_the_first_element_recurs_most_and_the_habit_leaves_days_that_recur() -> None:
    rng = np.random.default_rng(2)
    found = 0
    for _ in range(80):
        n = int(rng.integers(5, 60))
        day, cell, part = rng.integers(0, 8, n), rng.integers(0, 3, n), rng.integers(0, 3, n)
        user = rng.integers(0, 3, n)
        user[:3] = [0, 1, 2]
        mined = mine_habits(user, cell, Clock(day=day, part=part), np.arange(n), 2, _at_least(3))
        for person in range(3):
            rows = [(int(day[i]), int(cell[i]), int(part[i])) for i in np.flatnonzero(user == person)]
            elements = sorted({(c, p) for _, c, p in rows})
            singles = {one: _all_days(rows, (one,)) for one in elements}
            most = max(len(days) for days in singles.values())
            pairs = [two for two in combinations(elements, 2) if two[0][1] != two[1][1]]
            taken = mined.rows[user[mined.rows] == person]
            chosen = {(int(cell[i]), int(part[i])) for i in taken}
            assert len(chosen) == mined.elements[person]
            if most < 3:
                assert not chosen
                continue
            found += 1
            days = {int(day[i]) for i in taken}
            assert any(len(singles[one]) == most for one in chosen)
            assert days == _all_days(rows, tuple(chosen))
            assert len(taken) == len(days) * len(chosen)  # one row for each element and day
            best = [one for one in chosen if len(singles[one]) == most]
            more = [two for two in pairs if set(two) & set(best) and len(_all_days(rows, two)) >= 3]
            assert len(chosen) == 2 or not any(best[0] in two for two in more)
    assert found > 40


def _commuters(people: int, *, days: int = 10) -> Points:
    """Commuters with a home of their own and one office; the last one is at home on two days only."""
    records = []
    for person in range(people):
        on = range(2) if person == people - 1 else range(days)
        rows = []
        for day in on:
            rows += [(MONDAY + day * DAY + 7 * HOUR, 1000.0 * person, 0.0)]
            rows += [(MONDAY + day * DAY + 9 * HOUR, 50.0, 5000.0)]
        records.append(rows)
    return Points.from_records(records, time_format="epoch")


def test_everybody_is_attacked_by_a_habit_of_their_own() -> None:
    data = _commuters(6)
    attack = Lbqid(pattern="mined", recurrence="3.Weekdays * 1.Weeks", k=3, cell=200)
    raw = user_table(attack, data, data)
    assert raw.matched.tolist() == [True] * 5 + [False]
    assert raw.samples[0] == 16  # two places on eight weekdays: the weekend is no part of it
    assert not raw.holds[:5].any()
    # In boxes around everybody the others were there as well; the last one is no witness, who was there twice only.
    boxes = [[(t, t, -100.0, 6000.0, -100.0, 6000.0) for t, _, _ in data.record(i)] for i in range(len(data))]
    wide = user_table(attack, data, Boxes.from_records(boxes, time_format="epoch"))
    assert wide.witnesses[:5].tolist() == [4] * 5
    assert wide.holds.all()


def test_a_habit_of_one_place_is_enough_if_asked_for_one() -> None:
    data = _commuters(4)
    one = user_table(Lbqid(pattern="mined", recurrence="3.Days", k=2, cell=200, elements=1), data, data)
    assert one.samples[:3].tolist() == [10] * 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"part": "7h"}, "part must be a duration that divides a day"),
        ({"recurrence": "2.Weeks"}, "must begin with Days or Weekdays"),
    ],
)
def test_what_cannot_be_mined_is_said(given: dict[str, str], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Lbqid(pattern="mined", **given)
