"""Cut against the definition, and who its parts belong to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits
from wayveil.steps import STEPS
from wayveil.steps.times.cut import Cut


@given(moments=st.lists(st.sets(st.integers(-40, 40), max_size=12), max_size=5), width=st.integers(1, 30))
@settings(deadline=None, max_examples=200)
def test_matches_the_definition(moments: list[set[int]], width: int) -> None:
    records = [[(f"p{t % 5}", t) for t in sorted(times)] for times in moments]
    owner = [i % 2 for i in range(len(records))]
    data = Visits.from_records(records, attributes={"a": [str(i) for i in range(len(records))]}, owner=owner)
    parts, notes, source = Cut(period=str(width)).run_with_origin(data)
    expected = [
        (i, [v for v in record if v[1] // width == period])
        for i, record in enumerate(records)
        for period in sorted({t // width for _, t in record})
    ]
    assert [(int(source[i]), parts.record(i)) for i in range(len(parts))] == expected
    assert parts.owner.tolist() == [owner[i] for i, _ in expected]
    assert parts.attributes["a"].values() == [str(i) for i, _ in expected]
    assert parts.owners == "given"
    assert f"cut into {len(expected)} of at most {width} each" in notes[0]


def test_a_day_is_that_of_the_clock() -> None:
    day = 86_400 * 10**6
    data = Visits.from_records([[("a", 5 * day - 1), ("b", 5 * day), ("c", 6 * day - 1)]], time_format="local")
    parts, notes = Cut(period="1d").run(data)
    assert [len(parts.record(i)) for i in range(len(parts))] == [1, 2]
    assert notes == ("1 trajectory was cut into 2 of at most 1d each.",)


def test_what_cannot_be_cut() -> None:
    with pytest.raises(ParameterError, match="period must be a duration"):
        Cut(period="0")
    with pytest.raises(InputError, match="unit"):
        Cut(period="1d").run(Visits.from_records([[("a", 1)]]))
    smallest = Visits.from_records([[("a", int(np.iinfo(np.int64).min))]])
    with pytest.raises(InputError, match="smallest 64-bit integer"):
        Cut(period=5).run(smallest)
    assert len(Cut(period=5).run(Visits.from_records([]))[0]) == 0
    assert STEPS["cut"] is Cut
