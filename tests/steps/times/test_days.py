from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Stops, Taxonomy
from wayveil.steps.times.days import Days

TREE = Taxonomy.from_parents([("Place", ""), ("a", "Place"), ("b", "Place"), ("c", "Place")])
UNITS = {"epoch": 1, "utc": 1_000_000, "local": 1_000_000}


@given(
    st.lists(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-300_000, 900_000)), max_size=6), max_size=5),
    st.integers(0, 23),
    st.sampled_from(sorted(UNITS)),
)
@settings(deadline=None, max_examples=150)
def test_parts_are_the_days_of_the_calendar(records, start, time_format):
    records = [sorted(r, key=lambda stop: stop[1]) for r in records]
    times = [[(s * UNITS[time_format], s * UNITS[time_format]) for _, s in r] for r in records]
    owner = [i // 2 for i in range(len(records))]
    names = [[name for name, _ in r] for r in records]
    data = Stops.from_records(names, taxonomy=TREE, times=times, owner=owner, time_format=time_format)
    if data.n_rows and not data.t.any():
        return
    expected = []
    for i, r in enumerate(records):
        days = {}
        for name, s in r:
            at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=s) - timedelta(hours=start)
            days.setdefault(at.date(), []).append(name)
        expected += [(i, part) for part in days.values()] or [(i, [])]
    parts, notes, source = Days(start=start).run_with_origin(data)
    assert [(int(s), parts.record(i)) for i, s in enumerate(source)] == expected
    assert parts.owner.tolist() == [owner[i] for i, _ in expected]
    assert np.array_equal(parts.t, data.t)
    assert parts.owners == "given"
    assert f" of {len(records)}." in notes[0]


def test_without_dates_nothing_is_cut():
    with pytest.raises(InputError, match="no dates"):
        Days().run(Stops.from_records([["a"]], taxonomy=TREE, times=[[(5, 5)]]))
    with pytest.raises(InputError, match="no dates"):
        Days().run(Stops.from_records([["a"]], taxonomy=TREE, time_format="epoch"))


def test_attributes_follow_their_trajectory():
    times = [[(0, 0), (90_000, 90_000)], [(1, 1)]]
    data = Stops.from_records([["a", "b"], ["c"]], taxonomy=TREE, times=times, time_format="epoch")
    parts, _ = Days().run(data)
    assert [parts.record(i) for i in range(3)] == [["a"], ["b"], ["c"]]
    assert parts.owner.tolist() == [0, 0, 1]


@pytest.mark.parametrize("start", [-1, 24, 2.5])
def test_hours_that_are_none_are_refused(start):
    with pytest.raises(ParameterError):
        Days(start=start)
