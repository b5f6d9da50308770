"""Resample against np.interp, one trajectory at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Points
from wayveil.steps.points import resample
from wayveil.steps.points.resample import Resample

Record = list[tuple[int, float, float]]

points = st.lists(
    st.tuples(st.integers(-40, 40), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6)), max_size=9, unique_by=lambda p: p[0]
).map(sorted)


def pieces(record: Record, max_gap: int | None) -> list[Record]:
    parts: list[Record] = []
    for i, row in enumerate(record):
        if i == 0 or (max_gap is not None and row[0] - record[i - 1][0] > max_gap):
            parts.append([])
        parts[-1].append(row)
    return parts


def oracle(part: Record, period: int, method: str) -> Record:
    times = [t for t in range(part[0][0], part[-1][0] + 1) if t % period == 0]
    t = [row[0] for row in part]
    if method == "linear":
        xs = np.interp(times, t, [row[1] for row in part])
        ys = np.interp(times, t, [row[2] for row in part])
        return list(zip(times, xs.tolist(), ys.tolist(), strict=True))
    if method == "previous":
        chosen = [max((row for row in part if row[0] <= time), key=lambda row: row[0]) for time in times]
    else:
        chosen = [min(part, key=lambda row: (abs(row[0] - time), row[0])) for time in times]
    return [(time, row[1], row[2]) for time, row in zip(times, chosen, strict=True)]


@given(
    records=st.lists(points, max_size=5),
    period=st.integers(1, 12),
    method=st.sampled_from(["linear", "nearest", "previous"]),
    max_gap=st.sampled_from([None, 1, 5, 12]),
)
@settings(deadline=None, max_examples=250)
def test_matches_interp(records: list[Record], period: int, method: str, max_gap: int | None) -> None:
    data = Points.from_records(
        records, owner=[3] * len(records), attributes={"a": [f"{i}" for i in range(len(records))]}
    )
    before = data.x.copy()
    step = Resample(period=str(period), method=method, max_gap=str(max_gap or "none"))
    regular, notes, source = step.run_with_origin(data)
    made = [(i, oracle(part, period, method)) for i, record in enumerate(records) for part in pieces(record, max_gap)]
    expected = [(i, part) for i, part in made if part]
    assert source.tolist() == [i for i, _ in expected]
    assert source.dtype == np.int64
    for i, (_, part) in enumerate(expected):
        found = regular.record(i)
        assert [row[0] for row in found] == [row[0] for row in part]
        np.testing.assert_allclose([row[1:] for row in found], [row[1:] for row in part], rtol=1e-9, atol=1e-6)
    assert len(regular) == len(expected)
    assert regular.attributes["a"].values() == [f"{i}" for i, _ in expected]
    assert (regular.owner == 3).all()
    assert (data.x == before).all()
    gaps = sum(len(pieces(record, max_gap)) - 1 for record in records if record)
    dropped = len(made) - len(expected) + sum(not record for record in records)
    assert len(notes) == 1 + (gaps > 0) + (dropped > 0)
    assert step.run(data)[1] == notes


def test_a_time_that_is_there_keeps_its_position_bit_by_bit() -> None:
    values = [0.1, 0.7, -0.3, 1e12 + 0.1]
    data = Points.from_records([[(i * 3, x, -x) for i, x in enumerate(values)]])
    regular, _ = Resample(period="3").run(data)
    assert regular.x.tolist() == values
    assert regular.y.tolist() == [-x for x in values]
    still = Points.from_records([[(0, 0.1, 0.7), (7, 0.1, 0.7)]])
    assert set(Resample(period="1").run(still)[0].x.tolist()) == {0.1}


def test_nearest_takes_the_earlier_of_two() -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (4, 8.0, 8.0), (9, 1.0, 1.0)]])
    assert Resample(period="2", method="nearest").run(data)[0].x.tolist() == [0.0, 0.0, 8.0, 8.0, 1.0]
    assert Resample(period="2", method="previous").run(data)[0].x.tolist() == [0.0, 0.0, 8.0, 8.0, 8.0]


def test_trajectories_become_synchronous() -> None:
    data = Points.from_records([[(1, 0.0, 0.0), (20, 1.0, 0.0)], [(7, 0.0, 0.0), (31, 5.0, 5.0)]])
    regular, _ = Resample(period="5").run(data)
    assert [[row[0] for row in regular.record(i)] for i in range(2)] == [[5, 10, 15, 20], [10, 15, 20, 25, 30]]


@pytest.mark.parametrize(
    ("time_format", "period", "unit"), [("epoch", "1h", 3600), ("epoch", 90, 90), ("utc", "15min", 900 * 10**6)]
)
def test_units(time_format: str, period: object, unit: int) -> None:
    record = [(unit - 1, 0.0, 0.0), (2 * unit + 1, 1.0, 0.0), (5 * unit, 3.0, 0.0)]
    data = Points.from_records([record], time_format=time_format)  # type: ignore[arg-type]
    assert Resample(period=period).run(data)[0].t.tolist() == [unit, 2 * unit, 3 * unit, 4 * unit, 5 * unit]  # type: ignore[arg-type]
    regular, notes = Resample(period=period, max_gap=period).run(data)  # type: ignore[arg-type]
    assert regular.t.tolist() == [5 * unit]
    assert notes[1:] == (
        "Splitting at 2 gaps made 3 trajectories of 1.",
        f"2 trajectories were dropped: no multiple of {Resample(period=period).period} lies in their time.",  # type: ignore[arg-type]
    )


def test_too_many_points_are_refused_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (4 * 10**18, 1.0, 0.0)]])
    with pytest.raises(InputError, match=r"a period of 1 makes about 4e\+18 points of 2, more than 500,000,000"):
        Resample(period="1").run(data)
    assert Resample(period="1", max_gap="5").run(data)[0].n_rows == 2
    monkeypatch.setattr(resample, "_MOST_POINTS", 11)
    eleven = Points.from_records([[(0, 0.0, 0.0), (10, 1.0, 0.0)]])
    assert Resample(period="1").run(eleven)[0].n_rows == 11


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="resample: method must be one of linear, nearest, previous"):
        Resample(period="1", method="cubic")
    with pytest.raises(InputError, match="resample: the times are plain integers without a unit, so max_gap"):
        Resample(period="1", max_gap="1h").run(Points.from_records([]))
    with pytest.raises(InputError, match="resample: the times of a trajectory are too far apart"):
        Resample(period="1").run(Points.from_records([[(-(2**63), 0.0, 0.0), (2**63 - 1, 0.0, 0.0)]]))
    with pytest.raises(InputError, match="finite"):
        Resample(period="2").run(Points.from_records([[(1, -1e308, 0.0), (3, 1e308, 0.0)]]))
    regular, notes, source = Resample(period="1", max_gap="1").run_with_origin(Points.from_records([[], []]))
    assert (len(regular), len(source)) == (0, 0)
    assert notes == (
        "0 points became 0 at multiples of 1 (linear).",
        "2 trajectories were dropped: no multiple of 1 lies in their time.",
    )
    assert Resample(period="5").run(Points.from_records([[(3, 1.0, 1.0)]]))[1][-1] == (
        "1 trajectory was dropped: no multiple of 5 lies in its time."
    )
    assert Resample.gives is Resample.accepts is Points
