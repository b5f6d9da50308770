"""Split against a naive loop over points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Points
from wayveil.steps.points.split import Split

Record = list[tuple[int, float, float]]

walks = st.lists(st.tuples(st.integers(1, 4), st.integers(-2, 2), st.integers(-2, 2)), max_size=14).map(
    lambda steps: [
        (sum(s[0] for s in steps[: i + 1]), float(steps[i][1]), float(steps[i][2])) for i in range(len(steps))
    ]
)


def stays_of(record: Record, stay: int, radius: float) -> list[tuple[int, int]]:
    """First and last point of each stay, from the definition."""
    found, i = [], 0
    while i < len(record):
        last = i
        while last + 1 < len(record) and (
            (record[last + 1][1] - record[i][1]) ** 2 + (record[last + 1][2] - record[i][2]) ** 2 <= radius**2
        ):
            last += 1
        if record[last][0] - record[i][0] >= stay:
            found.append((i, last))
            i = last + 1
        else:
            i += 1
    return found


def oracle(record: Record, stay: int | None, radius: float, gap: int | None) -> list[Record]:
    stays = stays_of(record, stay, radius) if stay else []
    ends = {i for pair in stays for i in pair}
    parts: list[list[int]] = []
    for i in range(len(record)):
        if any(first < i < last for first, last in stays):
            continue
        departs = any(i == last for _, last in stays)
        if i == 0 or departs or (gap is not None and record[i][0] - record[i - 1][0] > gap):
            parts.append([])
        parts[-1].append(i)
    return [[record[i] for i in part] for part in parts if not (len(part) == 1 and part[0] in ends)]


@given(
    records=st.lists(walks, max_size=4),
    stay=st.sampled_from([None, 1, 3, 5, 9]),
    radius=st.sampled_from([0.0, 1.0, 1.5, 3.0]),
    gap=st.sampled_from([None, 1, 2, 3]),
)
@settings(deadline=None, max_examples=250)
def test_matches_a_naive_loop(records: list[Record], stay: int | None, radius: float, gap: int | None) -> None:
    if stay is None and gap is None:
        gap = 2
    data = Points.from_records(
        records,
        owner=[i // 2 for i in range(len(records))],
        attributes={"kind": [f"k{i}" for i in range(len(records))]},
    )
    before = data.t.copy()
    step = Split(stay=stay or "none", stay_radius=radius, gap=gap or "none")  # type: ignore[arg-type]
    parts, notes, source = step.run_with_origin(data)
    expected = [(i, part) for i, record in enumerate(records) for part in oracle(record, stay, radius, gap)]
    assert [parts.record(i) for i in range(len(parts))] == [part for _, part in expected]
    assert source.tolist() == [i for i, _ in expected]
    assert source.dtype == np.int64
    assert parts.owner.tolist() == [i // 2 for i, _ in expected]
    assert parts.attributes["kind"].values() == [f"k{i}" for i, _ in expected]
    assert (data.t == before).all()
    plain, same_notes = step.run(data)
    assert (plain.t.tolist(), same_notes) == (parts.t.tolist(), notes)
    lost = data.n_rows - parts.n_rows
    gone = len(records) - len({i for i, _ in expected})
    assert len(notes) == 1 + (lost > 0) + (gone > 0)
    stays = sum(len(stays_of(record, stay, radius)) for record in records) if stay else 0
    assert stay is None or f"Splitting at {stays} stay" in notes[0]
    gaps = sum(
        record[i][0] - record[i - 1][0] > gap and not any(a < i <= b for a, b in stays_of(record, stay or 99, radius))
        for record in records
        for i in range(1, len(record))
        if gap is not None
    )
    assert gap is None or f" {gaps} gap{'s' * (gaps != 1)} made {len(expected)} " in notes[0]


def test_a_night_at_home() -> None:
    """Arrival ends one trip, departure begins the next; what lies between is dropped."""
    record = [(0, 900.0, 0.0), (10, 0.0, 0.0), (20, 3.0, 0.0), (300, 0.0, 5.0), (480, 1.0, 1.0), (490, 700.0, 0.0)]
    parts, notes = Split(stay=400, stay_radius=50).run(Points.from_records([record]))
    assert [parts.record(i) for i in range(len(parts))] == [record[:2], record[4:]]
    assert notes == (
        "Splitting at 1 stay made 2 trajectories of 1.",
        "2 of 6 points were dropped: they lie inside a stay.",
    )


def test_limits_belong_to_stays_and_not_to_gaps() -> None:
    record = [(0, 0.0, 0.0), (5, 9.0, 0.0), (10, 12.0, 0.0), (15, 30.0, 0.0)]
    data = Points.from_records([record])
    assert Split(stay=5, stay_radius=3).run_with_origin(data)[0].record(0) == record[:2]
    assert len(Split(stay=6, stay_radius=3).run(data)[0]) == 1
    assert len(Split(gap=5).run(data)[0]) == 1
    assert len(Split(gap=4).run(data)[0]) == 4


def test_who_never_leaves_has_no_trip() -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (9, 0.0, 0.0)], [], [(1, 1.0, 1.0)]])
    parts, notes, source = Split(stay=5).run_with_origin(data)
    assert (len(parts), source.tolist()) == (1, [2])
    assert notes[-1] == "2 of 3 trajectories have no trip."


def test_a_gap_inside_a_stay_is_a_stay_and_counted_once() -> None:
    record = [(0, 500.0, 0.0), (1, 0.0, 0.0), (100, 0.0, 0.0), (101, 500.0, 0.0), (300, 900.0, 0.0)]
    parts, notes = Split(stay=50, gap=60).run(Points.from_records([record]))
    assert [parts.record(i) for i in range(len(parts))] == [record[:2], record[2:4], record[4:]]
    assert notes == ("Splitting at 1 stay and 1 gap made 3 trajectories of 1.",)


@pytest.mark.parametrize(
    ("time_format", "value", "unit"), [("epoch", "1h", 3600), ("epoch", 90, 90), ("utc", "15min", 900 * 10**6)]
)
def test_units(time_format: str, value: object, unit: int) -> None:
    record = [(0, 0.0, 0.0), (unit, 0.0, 0.0), (2 * unit + 1, 500.0, 0.0)]
    data = replace(Points.from_records([record]), time_format=time_format)  # type: ignore[arg-type]
    assert len(Split(gap=value).run(data)[0]) == 2  # type: ignore[arg-type]
    parts, _ = Split(stay=value).run(data)  # type: ignore[arg-type]
    assert [parts.record(i) for i in range(len(parts))] == [record[1:]]


def test_many_slow_points_need_few_looks() -> None:
    """Long windows in which people keep moving are answered by one far point; a quadratic search would not end."""
    n = 200_000
    data = Points(
        offsets=np.array([0, n]), t=np.arange(n), x=np.arange(n) * 0.01, y=np.zeros(n), owner=np.zeros(1, np.int64)
    )
    parts, _ = Split(stay=100_000, stay_radius=900).run(data)
    assert parts.n_rows == n


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="split: stay or gap must be given"):
        Split()
    with pytest.raises(ParameterError, match="split: stay_radius must be a number >= 0"):
        Split(stay=1, stay_radius="inf")  # type: ignore[arg-type]
    data = Points.from_records([[(0, 0.0, 0.0)]], time_format="utc")
    with pytest.raises(InputError, match="split: the times are dates, so gap needs a unit"):
        Split(gap=5).run(data)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="split: the times are dates, so stay needs a unit"):
        Split(stay=5).run(data)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="split: the times of a trajectory are too far apart"):
        Split(gap=5).run(Points.from_records([[(-(2**63), 0.0, 0.0), (2**63 - 1, 0.0, 0.0)]]))  # type: ignore[arg-type]
    parts, notes, source = Split(stay=1, gap=1).run_with_origin(Points.from_records([]))  # type: ignore[arg-type]
    assert (len(parts), len(source), notes) == (0, 0, ("Splitting at 0 stays and 0 gaps made 0 trajectories of 0.",))
    assert Split.gives is Split.accepts is Points
