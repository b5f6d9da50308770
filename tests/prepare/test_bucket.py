"""Bucket against the definition, per form of time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits
from wayveil.prepare import STEPS, Bucket


def oracle(record: list[tuple[str, int]], width: int, keep: str) -> list[tuple[str, int]]:
    kept: dict[int, str] = {}
    for place, t in record:
        start = t - t % width
        if keep == "last" or start not in kept:
            kept[start] = place
    return [(place, start) for start, place in sorted(kept.items())]


@given(
    moments=st.lists(st.sets(st.integers(-40, 40), max_size=12), max_size=5),
    width=st.integers(1, 30),
    keep=st.sampled_from(["first", "last"]),
)
@settings(deadline=None, max_examples=300)
def test_matches_the_definition(moments: list[set[int]], width: int, keep: str) -> None:
    records = [[(f"p{t % 5}", t) for t in sorted(times)] for times in moments]
    data = Visits.from_records(records, attributes={"kind": ["k"] * len(records)}, owner=[0] * len(records))
    before = data.t.copy()
    coarse, notes = Bucket(width=str(width), keep=keep).run(data)
    expected = [oracle(record, width, keep) for record in records]
    assert [coarse.record(i) for i in range(len(coarse))] == expected
    assert (data.t == before).all()
    assert coarse.attributes == data.attributes
    assert coarse.owner.tolist() == data.owner.tolist()
    dropped = sum(map(len, records)) - sum(map(len, expected))
    assert notes[0] == f"Times were floored to {width}."
    assert len(notes) == (2 if dropped else 1)
    assert not dropped or notes[1].startswith(f"{dropped} of {sum(map(len, records))} visits")


@pytest.mark.parametrize(
    ("time_format", "width", "unit"),
    [
        ("epoch", "1h", 3600),
        ("epoch", 90, 90),
        ("utc", "15min", 900 * 10**6),
        ("local", "1d", 86_400 * 10**6),
        ("integer", 7, 7),
    ],
)
def test_units(time_format: str, width: object, unit: int) -> None:
    times = [10 * unit - 1, 10 * unit, 10 * unit + unit - 1, 11 * unit]
    data = Visits.from_records([[(f"p{i}", t) for i, t in enumerate(times)]], time_format=time_format)  # type: ignore[arg-type]
    coarse, _ = Bucket(width=width).run(data)  # type: ignore[arg-type]
    assert coarse.record(0) == [("p0", 9 * unit), ("p1", 10 * unit), ("p3", 11 * unit)]
    assert coarse.time_format == time_format


def test_before_1970_floors_down() -> None:
    coarse, _ = Bucket(width="1d").run(Visits.from_records([[("x", -1)]], time_format="utc"))
    assert coarse.record(0) == [("x", -86_400 * 10**6)]


@pytest.mark.parametrize(
    ("time_format", "width", "words"),
    [
        ("integer", "1h", "plain integers without a unit"),
        ("utc", "5", "needs a unit"),
        ("local", "5", "15min or 1h"),
    ],
)
def test_width_must_fit_the_times(time_format: str, width: str, words: str) -> None:
    data = Visits.from_records([[("x", 10**9)]], time_format=time_format)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=words):
        Bucket(width=width).run(data)


def test_no_overflow() -> None:
    data = Visits.from_records([[("x", -(2**63))]])
    with pytest.raises(InputError, match="too close to the smallest"):
        Bucket(width=3).run(data)


def test_parameters_are_checked() -> None:
    with pytest.raises(ParameterError, match="bucket: width must be a duration"):
        Bucket(width="soon")
    with pytest.raises(ParameterError, match="bucket: keep must be one of first, last"):
        Bucket(width="1h", keep="both")
    assert Bucket(width="60min").width == "1h"


def test_registry() -> None:
    assert STEPS["bucket"] is Bucket
    assert all(name == step.name and step.summary for name, step in STEPS.items())
