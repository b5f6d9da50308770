"""Fold against the calendar."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits
from wayveil.steps import Fold

EPOCH = datetime(1970, 1, 1)
MONDAY = datetime(1970, 1, 5)


def units(moment: datetime) -> int:
    return (moment - EPOCH) // timedelta(microseconds=1)


def oracle(record: list[tuple[str, datetime]], to: str, part: timedelta, start: int) -> list[list[tuple[str, int]]]:
    """Cut by day or week, then put each visit into the typical time, all with the calendar of the standard library."""
    parts: dict[object, dict[datetime, list[str]]] = {}
    for place, moment in record:
        shifted = moment - timedelta(hours=start)
        key = shifted.isocalendar()[:2] if to == "week" else shifted.date()
        day = {"day": 0, "week": shifted.weekday(), "weekday-weekend": 0 if shifted.weekday() < 5 else 5}[to]
        since = shifted - datetime(shifted.year, shifted.month, shifted.day)
        bucket = MONDAY + timedelta(days=day, hours=start) + since // part * part
        places = parts.setdefault(key, {}).setdefault(bucket, [])
        if place not in places:
            places.append(place)
    return [
        [(place, units(bucket) + i * 10**6) for bucket, places in found.items() for i, place in enumerate(places)]
        for found in parts.values()
    ]


@given(
    hours=st.lists(st.sets(st.integers(-2000, 24 * 60), max_size=25), max_size=4),
    to=st.sampled_from(["day", "weekday-weekend", "week"]),
    part=st.sampled_from([1, 4, 12, 24]),
    start=st.integers(0, 23),
)
@settings(deadline=None, max_examples=200)
def test_matches_the_calendar(hours: list[set[int]], to: str, part: int, start: int) -> None:
    zero = datetime(2016, 2, 20, 0, 30)
    records = [[(f"p{h % 3}", zero + timedelta(hours=h)) for h in sorted(listed)] for listed in hours]
    data = Visits.from_records(
        [[(place, units(moment)) for place, moment in record] for record in records],
        owner=[i // 2 for i in range(len(records))],
        attributes={"s": [f"v{i}" for i in range(len(records))]},
        time_format="local",
    )
    folded, notes, source = Fold(to=to, part=f"{part}h", start=start).run_with_origin(data)
    expected = [oracle(record, to, timedelta(hours=part), start) for record in records]
    assert [folded.record(i) for i in range(len(folded))] == [one for parts in expected for one in parts]
    assert source.tolist() == [i for i, parts in enumerate(expected) for _ in parts]
    assert folded.owner.tolist() == [i // 2 for i in source.tolist()]
    assert folded.attributes["s"].values() == [f"v{i}" for i in source.tolist()]
    lost = data.n_visits - folded.n_visits
    assert not lost or f"{lost} of {data.n_visits} visits" in notes[-1]
    assert folded.time_format == "local"


def test_a_night_out_is_of_the_day_before() -> None:
    friday = datetime(2016, 1, 8)
    visits = [("bar", units(friday + timedelta(hours=22))), ("club", units(friday + timedelta(hours=26)))]
    folded, _ = Fold(to="weekday-weekend").run(Visits.from_records([visits], time_format="utc"))
    assert folded.record(0) == [
        ("bar", units(MONDAY + timedelta(hours=22))),
        ("club", units(MONDAY + timedelta(hours=26))),
    ]


def test_epoch_seconds_stay_epoch_seconds() -> None:
    folded, _ = Fold(to="day", part="1d", start=0).run(Visits.from_records([[("a", 10**9)]], time_format="epoch"))
    assert folded.record(0) == [("a", 4 * 86_400)]
    assert folded.time_format == "epoch"


def test_what_cannot_be_folded() -> None:
    with pytest.raises(InputError, match="plain integers, which have no days"):
        Fold(to="day").run(Visits.from_records([[("a", 1)]]))
    with pytest.raises(ParameterError, match="must be a duration that divides a day"):
        Fold(to="day", part="7h")
    with pytest.raises(ParameterError, match="must be a duration that divides a day"):
        Fold(to="day", part="5")
    with pytest.raises(InputError, match="too close to the smallest"):
        Fold(to="day").run(Visits.from_records([[("a", -(2**63))]], time_format="epoch"))
