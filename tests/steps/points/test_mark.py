"""Mark against the definition of each rule."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Points
from wayveil.steps.points.mark import Mark

HOUR = 3600


def marks(data: Points, **parameters: Any) -> list[list[int]]:
    """Which rows of each trajectory are marked."""
    marked, _ = Mark(**parameters).run(data)
    assert marked.known is not None
    return [
        np.flatnonzero(marked.known[data.offsets[i] : data.offsets[i + 1]]).tolist() for i in range(len(marked))
    ]  # fmt: skip


def line(n: int) -> list[tuple[int, float, float]]:
    return [(t, float(t), 0.0) for t in range(n)]


def test_ends() -> None:
    data = Points.from_records([line(4), [], line(1), line(2)])
    assert marks(data, rule="ends") == [[0, 3], [], [0], [0, 1]]


def test_nothing_else_changes() -> None:
    data = Points.from_records([line(3), line(2)], owner=[3, 3], attributes={"a": ["x", None]})
    marked, notes = Mark(rule="ends").run(data)
    assert [marked.record(i) for i in range(2)] == [line(3), line(2)]
    assert marked.owner.tolist() == [3, 3]
    assert marked.attributes["a"].values() == ["x", None]
    assert data.known is None
    assert notes == ("4 of 5 points are marked as known, in 2 of 2 trajectories.",)


def test_one_point() -> None:
    assert Mark(rule="random", count=1).run(Points.from_records([line(9), []]))[1] == (
        "1 of 9 points is marked as known, in 1 of 2 trajectories.",
    )


@pytest.mark.parametrize("rule", ["ends", "random"])
def test_no_points(rule: str) -> None:
    for data in (Points.from_records([]), Points.from_records([[], []])):
        marked, notes = Mark(rule=rule).run(data)
        assert marked.known is not None
        assert len(marked.known) == 0
        assert notes[0].startswith("0 of 0 points are marked")


def test_steps_add_up() -> None:
    data = replace(Points.from_records([line(4)]), known=np.array([False, True, False, False]))
    assert marks(data, rule="ends") == [[0, 1, 3]]


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 9), max_size=8), st.integers(1, 6), st.integers(0, 3))
def test_random_marks_as_many_as_there_are(lengths: list[int], count: int, seed: int) -> None:
    data = Points.from_records([line(n) for n in lengths])
    found = marks(data, rule="random", count=count, seed=seed)
    assert [len(rows) for rows in found] == [min(n, count) for n in lengths]
    assert found == marks(data, rule="random", count=count, seed=seed)


def test_random_is_even_and_depends_on_the_seed() -> None:
    data = Points.from_records([line(6)] * 3000)
    found = marks(data, rule="random", count=2, seed=1)
    assert found != marks(data, rule="random", count=2, seed=2)
    times = np.bincount(np.array(found).ravel(), minlength=6)
    assert (abs(times - 1000) < 150).all()  # each of 6 rows is one of 2, in a third of 3,000: 1,000 +- 26
    pairs = {tuple(rows) for rows in found}
    assert len(pairs) == 15


def hour_of(t: int) -> int:
    return datetime.fromtimestamp(t, tz=UTC).hour


def main_place(rows: list[tuple[int, float, float]], cell: float) -> tuple[float, float] | None:
    """The cell with most rows, then the one that was met first."""
    found: dict[tuple[float, float], list[int]] = defaultdict(list)
    for t, x, y in rows:
        found[(x // cell, y // cell)].append(t)
    return min(found, key=lambda c: (-len(found[c]), min(found[c]), c), default=None)


def home_work(data: Points, cell: float, home: tuple[int, int], work: tuple[int, int]) -> list[list[int]]:
    known: list[set[int]] = [set() for _ in range(len(data))]
    for begin, end in (home, work):
        hours = {h % 24 for h in range(begin, end if begin < end else end + 24)}
        for i in range(len(data)):
            all_rows = [row for j in range(len(data)) if data.owner[j] == data.owner[i] for row in data.record(j)]
            place = main_place([row for row in all_rows if hour_of(row[0]) in hours], cell)
            there = [
                n for n, (t, x, y) in enumerate(data.record(i))
                if hour_of(t) in hours and (x // cell, y // cell) == place
            ]  # fmt: skip
            known[i].update(there[:1])
    return [sorted(rows) for rows in known]


@st.composite
def days(draw: st.DrawFn) -> Points:
    n = draw(st.integers(0, 5))
    records = []
    for _ in range(n):
        times = sorted(draw(st.sets(st.integers(-60, 60), max_size=8)))
        records.append(
            [(t * HOUR + 7, draw(st.sampled_from([-5.0, 5.0])), draw(st.sampled_from([0.0, 9.0, 10.0]))) for t in times]
        )
    owner = draw(st.none() | st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return Points.from_records(records, owner=owner, time_format="epoch")


@settings(deadline=None, max_examples=200)
@given(days(), st.sampled_from([(20, 6), (22, 24), (0, 24)]), st.sampled_from([(9, 17), (12, 8)]))
def test_home_and_work_against_the_definition(data: Points, home: tuple[int, int], work: tuple[int, int]) -> None:
    found = marks(
        data, rule="home_work", cell=10, home_from=home[0], home_to=home[1], work_from=work[0], work_to=work[1]
    )
    assert found == home_work(data, 10.0, home, work)


def test_home_and_work_of_a_day() -> None:
    hours = [1, 7, 9, 12, 16, 17, 20, 23]
    places = [0, 300, 900, 1000, 1010, 1020, 20, 30]
    records = [[(h * HOUR, float(x), 0.0) for h, x in zip(hours, places, strict=True)]]
    data = Points.from_records(records, time_format="epoch")
    assert marks(data, rule="home_work") == [[0, 3]]
    assert marks(data, rule="home_work", cell=5000) == [[0, 2]]
    micro = replace(data, t=data.t * 1_000_000, time_format="local")
    assert marks(micro, rule="home_work") == [[0, 3]]
    assert marks(replace(micro, time_format="utc"), rule="home_work") == [[0, 3]]


def test_a_persons_home_is_that_of_all_their_trajectories() -> None:
    night = [[(0, 0.0, 0.0), (HOUR, 900.0, 0.0)], [(2 * HOUR, 900.0, 0.0)]]
    apart = Points.from_records(night, time_format="epoch")
    assert marks(apart, rule="home_work") == [[0], [0]]
    together = Points.from_records(night, owner=[1, 1], time_format="epoch")
    assert marks(together, rule="home_work") == [[1], [0]]


def test_of_two_places_the_one_that_was_met_first_in_any_trajectory_is_home() -> None:
    a, b = 0.0, 900.0
    records = [[(2 * HOUR, a, 0.0), (3 * HOUR, b, 0.0)], [(HOUR, b, 0.0), (5 * HOUR, a, 0.0)]]
    assert marks(Points.from_records(records, owner=[1, 1], time_format="epoch"), rule="home_work") == [[1], [0]]


def test_plain_integers_have_no_time_of_day() -> None:
    with pytest.raises(InputError, match=r"mark: rule home_work needs the time of day.*plain integers"):
        Mark(rule="home_work").run(Points.from_records([line(3)]))


def test_cells_that_are_too_small() -> None:
    data = Points.from_records([[(0, 1e300, 0.0)]], time_format="epoch")
    with pytest.raises(InputError, match="mark: cells of 200 m are too small"):
        Mark(rule="home_work").run(data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rule": "all"}, "mark: rule must be one of ends, home_work, random"),
        ({"rule": "random", "count": 0}, "mark: count must be an integer >= 1"),
        ({"rule": "random", "seed": -1}, "mark: seed must be an integer >= 0"),
        ({"rule": "home_work", "cell": 0}, "mark: cell must be greater than 0"),
        ({"rule": "home_work", "home_from": 24}, "mark: home_from must be an integer from 0 to 23"),
        ({"rule": "home_work", "work_to": 9}, "mark: work_from and work_to must differ, got 9 and 9"),
        ({"rule": "home_work", "home_to": 20}, "mark: home_from and home_to must differ"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        Mark(**parameters)
