"""Window against the definition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.model import Points
from wayveil.steps import Window


@given(
    moments=st.lists(st.sets(st.integers(-40, 40), max_size=12), max_size=5),
    width=st.integers(1, 30),
    fewest=st.integers(1, 3),
)
@settings(deadline=None, max_examples=200)
def test_matches_the_definition(moments: list[set[int]], width: int, fewest: int) -> None:
    records = [[(t, float(t), 0.0) for t in sorted(times)] for times in moments]
    data = Points.from_records(records, owner=[i // 2 for i in range(len(records))])
    pieces, notes, source = Window(width=str(width), min_points=fewest).run_with_origin(data)
    expected = []
    for i, record in enumerate(records):
        windows: dict[int, list[tuple[int, float, float]]] = {}
        for row in record:
            windows.setdefault(row[0] // width, []).append(row)
        expected += [(i, rows) for rows in windows.values() if len(rows) >= fewest]
    assert [pieces.record(i) for i in range(len(pieces))] == [rows for _, rows in expected]
    assert source.tolist() == [i for i, _ in expected]
    assert pieces.owner.tolist() == [i // 2 for i, _ in expected]
    lost = data.n_rows - pieces.n_rows
    assert len(notes) == (2 if lost else 1)
    assert not lost or f"{lost} of {data.n_rows} points" in notes[1]


def test_width_must_fit_the_times() -> None:
    with pytest.raises(InputError, match="plain integers without a unit"):
        Window(width="1h").run(Points.from_records([[(1, 0.0, 0.0)]]))
