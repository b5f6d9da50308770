"""Names of columns as publishers write them."""

from __future__ import annotations

import pytest

from wayveil.io.intake.column_words import column_meaning


@pytest.mark.parametrize(
    ("name", "role", "side"),
    [
        ("tpep_pickup_datetime", "time", "start"),
        ("tpep_dropoff_datetime", "time", "end"),
        ("PULocationID", "place", "start"),
        ("DOLocationID", "place", "end"),
        ("started_at", "time", "start"),
        ("end_lng", "lon", "end"),
        ("Stime", "time", "start"),
        ("ELat", "lat", "end"),
        ("stoptime", "time", "end"),
        ("stop_id", "place", ""),
        ("BaseDateTime", "time", ""),
        ("MMSI", "person", ""),
        ("trajectory_id", "trajectory", ""),
        ("utcTimestamp", "time", ""),
    ],
)
def test_a_name_says_what_a_column_is(name, role, side) -> None:
    meaning = column_meaning(name)
    assert meaning is not None
    assert (meaning.role, meaning.side) == (role, side)


@pytest.mark.parametrize("name", ["User Type", "pickup_type", "Trip Duration", "state", "weather"])
def test_other_names_say_nothing(name) -> None:
    assert column_meaning(name) is None
