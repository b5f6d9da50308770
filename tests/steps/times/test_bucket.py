"""Bucket against the definition, per form of time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits
from wayveil.steps import STEPS, Bucket


def oracle(record: list[tuple[str, int]], width: int, keep: str) -> list[tuple[str, int]]:
    places: dict[int, list[str]] = {}
    for place, t in record:
        bucket = places.setdefault(t - t % width, [])
        if place not in bucket or keep != "all":
            bucket.append(place)
    chosen = {"all": slice(None), "first": slice(0, 1), "last": slice(-1, None)}[keep]
    return [(place, start + i) for start, listed in sorted(places.items()) for i, place in enumerate(listed[chosen])]


@given(
    moments=st.lists(st.sets(st.integers(-40, 40), max_size=12), max_size=5),
    width=st.integers(1, 30),
    keep=st.sampled_from(["all", "first", "last"]),
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
    told = [note for note in notes if "left out" in note]
    assert len(told) == (1 if dropped else 0)
    assert not dropped or told[0].startswith(f"{dropped} of {sum(map(len, records))} visits")


@given(moments=st.lists(st.sets(st.integers(0, 40), max_size=12), min_size=1, max_size=5), width=st.integers(1, 30))
@settings(deadline=None, max_examples=200)
def test_every_place_of_a_bucket_stays_and_once_is_enough(moments: list[set[int]], width: int) -> None:
    records = [[(f"p{t * t % 7}", t) for t in sorted(times)] for times in moments]
    coarse, _ = Bucket(width=width).run(Visits.from_records(records))  # type: ignore[arg-type]
    for i, record in enumerate(records):
        there = [(place, t - t % width) for place, t in coarse.record(i)]
        assert set(there) == {(place, t - t % width) for place, t in record}
        assert len(there) == len(set(there))
    again, _ = Bucket(width=width).run(coarse)  # type: ignore[arg-type]
    assert [again.record(i) for i in range(len(again))] == [coarse.record(i) for i in range(len(coarse))]


def test_a_trip_keeps_its_arrival() -> None:
    trip = Visits.from_records([[("home", 8 * 3600 * 10**6), ("work", 8 * 3600 * 10**6 + 1)]], time_format="local")
    coarse, notes = Bucket(width="1h").run(trip)
    assert coarse.record(0) == [("home", 8 * 3600 * 10**6), ("work", (8 * 3600 + 1) * 10**6)]
    assert notes[1].startswith("1 visit is not the first of a bucket")


def test_more_visits_than_seconds() -> None:
    trip = Visits.from_records([[(f"p{i}", i) for i in range(5)]], time_format="local")
    coarse, _ = Bucket(width="2s").run(trip)
    assert [t for _, t in coarse.record(0)] == [0, 1, 2, 3, 4]


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
    second = 10**6 if time_format in ("utc", "local") else 1
    assert coarse.record(0) == [("p0", 9 * unit), ("p1", 10 * unit), ("p2", 10 * unit + second), ("p3", 11 * unit)]
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
    with pytest.raises(ParameterError, match="bucket: keep must be one of all, first, last"):
        Bucket(width="1h", keep="both")
    assert Bucket(width="60min").width == "1h"


def test_registry() -> None:
    assert STEPS["bucket"] is Bucket
    assert all(name == step.name and step.summary for name, step in STEPS.items())
