"""Clean against the definition: every subset of points, and the rule for ties restated."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.kernels.steps.longest_chains import longest_chains
from wayveil.model import Points
from wayveil.steps.points.clean import Clean

Record = list[tuple[int, float, float]]

points = st.lists(
    st.tuples(st.integers(0, 30), st.integers(-6, 6), st.integers(-6, 6)), max_size=9, unique_by=lambda p: p[0]
).map(lambda rows: [(t, float(x), float(y)) for t, x, y in sorted(rows)])


def reachable(one: tuple[int, float, float], other: tuple[int, float, float], speed: float) -> bool:
    return (other[1] - one[1]) ** 2 + (other[2] - one[2]) ** 2 <= (speed * (other[0] - one[0])) ** 2


def is_chain(record: Record, speed: float) -> bool:
    return all(reachable(one, other, speed) for one, other in pairwise(record))


def longest(record: Record, speed: float) -> int:
    sizes = range(len(record), 0, -1)
    return next((n for n in sizes if any(is_chain(list(c), speed) for c in combinations(record, n))), 0)


def chain_of(record: Record, speed: float, look_back: int) -> Record:
    """The longest chain that ends first, each row after its longest, latest predecessor of those it may look at."""
    chains: list[list[int]] = []
    for j in range(len(record)):
        first = max(0, j - look_back)
        allowed = list(range(j - 1, first - 1, -1))
        if first > 0:
            allowed.append(max(range(first), key=lambda i: (len(chains[i]), -i)))
        before = [i for i in allowed if reachable(record[i], record[j], speed)]
        best = max(before, key=lambda i: (len(chains[i]), i), default=None)
        chains.append(([] if best is None else chains[best]) + [j])
    return [record[i] for i in max(chains, key=len, default=[])]


def rows(data: Points) -> list[Record]:
    return [data.record(i) for i in range(len(data))]


@given(records=st.lists(points, max_size=4), speed=st.sampled_from([0.3, 1.0, 2.5]))
@settings(deadline=None, max_examples=100)
def test_what_is_kept_is_a_longest_reachable_sequence(records: list[Record], speed: float) -> None:
    data = Points.from_records(records, owner=[7] * len(records), attributes={"kind": ["a"] * len(records)})
    before = data.x.copy()
    cleaned, notes, source = Clean(max_speed=speed, min_points=0).run_with_origin(data)
    assert source.tolist() == list(range(len(records)))
    for record, kept in zip(records, rows(cleaned), strict=True):
        assert is_chain(kept, speed)
        assert len(kept) == longest(record, speed)
        assert kept == chain_of(record, speed, 1000)
    assert (data.x == before).all()
    assert cleaned.owner.tolist() == [7] * len(records)
    assert cleaned.attributes["kind"].values() == ["a"] * len(records)
    lost = sum(map(len, records)) - cleaned.n_rows
    assert len(notes) == (1 if lost else 0)
    assert not lost or notes[0].startswith(f"{lost} of {sum(map(len, records))} points")


@given(records=st.lists(points, max_size=4), speed=st.sampled_from([0.3, 1.0]), look_back=st.integers(1, 4))
@settings(deadline=None, max_examples=100)
def test_a_short_look_back_still_tries_the_longest_chain_before_it(
    records: list[Record], speed: float, look_back: int
) -> None:
    data = Points.from_records(records)
    kept = data.where(longest_chains(data.offsets, data.t, data.x, data.y, speed, look_back) > 0)
    assert rows(kept) == [chain_of(record, speed, look_back) for record in records]


@pytest.mark.parametrize("wrong", [0, 4, 9])
def test_one_outlier_takes_away_itself_only(wrong: int) -> None:
    record = [(i, 10.0 * i, 0.0) for i in range(10)]
    spoiled = [(t, 1e12, y) if t == wrong else (t, x, y) for t, x, y in record]
    cleaned, notes = Clean(max_speed=11).run(Points.from_records([spoiled]))
    assert rows(cleaned) == [[p for p in record if p[0] != wrong]]
    assert notes == ("1 of 10 points was dropped: it cannot be reached at 11 metres per unit of time.",)


def test_a_device_that_is_stuck_for_long_does_not_end_the_trajectory() -> None:
    n = 3000
    wrong = [(i, 9e9, 9e9) if 800 <= i < 2100 else (i, float(i), 0.0) for i in range(n)]
    cleaned, _ = Clean(max_speed=2).run(Points.from_records([wrong]))
    assert cleaned.t.tolist() == [i for i in range(n) if not 800 <= i < 2100]


@pytest.mark.parametrize(
    ("time_format", "second", "unit"),
    [("epoch", 1, "km/h"), ("utc", 10**6, "km/h"), ("local", 10**6, "km/h"), ("integer", 1, "metres per unit of time")],
)
def test_units_of_speed(time_format: str, second: int, unit: str) -> None:
    speed = 36 if unit == "km/h" else 10
    record = [(0, 0.0, 0.0), (second, 9.99, 0.0), (2 * second, 20.2, 0.0)]
    data = Points.from_records([record], time_format=time_format)  # type: ignore[arg-type]
    cleaned, notes = Clean(max_speed=speed).run(data)
    assert cleaned.n_rows == 2
    assert notes == (f"1 of 3 points was dropped: it cannot be reached at {speed} {unit}.",)


@given(records=st.lists(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), max_size=8), max_size=4))
@settings(deadline=None, max_examples=200)
def test_repeats(records: list[list[tuple[int, int]]]) -> None:
    full = [[(t, float(x), float(y)) for t, (x, y) in enumerate(record)] for record in records]
    data = Points.from_records(full)
    same = [[i > 0 and r[i] == r[i - 1] for i in range(len(r))] + [False] for r in records]
    drop = [[p for p, s in zip(r, again, strict=False) if not s] for r, again in zip(full, same, strict=True)]
    ends = [
        [p for i, p in enumerate(r) if not (again[i] and again[i + 1])] for r, again in zip(full, same, strict=True)
    ]
    assert rows(Clean(min_points=0).run(data)[0]) == full
    for repeats, expected, words in (
        ("drop", drop, "the position before."),
        ("ends", ends, "the position before and after."),
    ):
        cleaned, notes = Clean(repeats=repeats, min_points=0).run(data)
        assert rows(cleaned) == expected
        lost = sum(map(len, full)) - sum(map(len, expected))
        assert len(notes) == (1 if lost else 0)
        assert not lost or notes[0].endswith(words)


def test_positions_that_an_outlier_parts_count_as_repeated() -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (1, 1e9, 0.0), (2, 0.0, 0.0)], [(3, 0.0, 0.0)]])
    cleaned, notes = Clean(max_speed=1, repeats="drop").run(data)
    assert rows(cleaned) == [[(0, 0.0, 0.0)], [(3, 0.0, 0.0)]]
    assert len(notes) == 2


def test_short_trajectories_are_removed_after_the_rest_and_the_origin_is_told() -> None:
    record = [(0, 0.0, 0.0), (1, 0.0, 0.0), (2, 1.0, 0.0)]
    data = Points.from_records([[], record[:2], record, record[:1]], owner=[5, 6, 7, 8], attributes={"a": list("wxyz")})
    cleaned, notes, source = Clean(repeats="drop", min_points=2).run_with_origin(data)
    assert source.dtype == np.int64
    assert (source.tolist(), cleaned.owner.tolist(), cleaned.attributes["a"].values()) == ([2], [7], ["y"])
    assert notes[-1] == "3 of 4 trajectories were removed: they have fewer than 2 points."
    cleaned, notes, source = Clean().run_with_origin(data)
    assert source.tolist() == [1, 2, 3]
    assert notes == ("1 of 4 trajectories was removed: it has fewer than 1 point.",)
    assert Clean(min_points=0).run_with_origin(data)[2].tolist() == [0, 1, 2, 3]


def test_empty_data_and_impossible_values() -> None:
    empty = Points.from_records([])
    cleaned, notes = Clean(max_speed=5, repeats="ends", min_points=3).run(empty)
    assert (len(cleaned), notes) == (0, ())
    with pytest.raises(ParameterError, match="clean: max_speed must be greater than 0, got 0"):
        Clean(max_speed=0)
    with pytest.raises(ParameterError, match="clean: max_speed must be a number >= 0 or 'none', got -1"):
        Clean(max_speed=-1)
    with pytest.raises(InputError, match="clean: the times of a trajectory are too far apart"):
        Clean(max_speed=1).run(Points.from_records([[(-(2**63), 0.0, 0.0), (2**63 - 1, 0.0, 0.0)]]))
    huge = Points.from_records([[(0, -1e150, 0.0), (1, 1e150, 0.0), (2, -1e150, 1.0)]])
    assert Clean(max_speed=300).run(huge)[0].t.tolist() == [0, 2]
    assert Clean.gives is Clean.accepts is Points
