"""Grid against a dictionary per trajectory and bucket."""

from __future__ import annotations

from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Points, Visits
from wayveil.steps.places.grid import Grid

Record = list[tuple[int, float, float]]

points = st.lists(
    st.tuples(st.integers(-40, 40), st.floats(-30, 30), st.floats(-30, 30)), max_size=12, unique_by=lambda p: p[0]
).map(sorted)


def oracle(record: Record, cell: float, width: int, keep: str) -> list[tuple[str, int]]:
    found: dict[int, list[tuple[str, int]]] = {}
    for i, (t, x, y) in enumerate(record):
        start = t - t % width
        until = min(record[i + 1][0], start + width) if i + 1 < len(record) else t
        found.setdefault(start, []).append((f"x{floor(x / cell)}_y{floor(y / cell)}", until - t))
    chosen = []
    for start, met in sorted(found.items()):
        names = [name for name, _ in met]
        total = {name: sum(lasts for other, lasts in met if other == name) for name in names}
        best = {"first": names[0], "last": names[-1], "longest": max(names, key=lambda n: (total[n], -names.index(n)))}
        chosen.append((best[keep], start))
    return chosen


@given(
    records=st.lists(points, max_size=4),
    cell=st.sampled_from([0.5, 7.0, 20.0]),
    width=st.integers(1, 30),
    keep=st.sampled_from(["first", "last", "longest"]),
)
@settings(deadline=None, max_examples=200)
def test_matches_the_definition(records: list[Record], cell: float, width: int, keep: str) -> None:
    data = Points.from_records(records, owner=[0] * len(records), attributes={"kind": ["k"] * len(records)})
    before = data.x.copy()
    visits, notes = Grid(cell=cell, bucket=str(width), keep=keep).run(data)
    expected = [oracle(record, cell, width, keep) for record in records]
    assert [visits.record(i) for i in range(len(visits))] == expected
    assert visits.owner.tolist() == [0] * len(records)
    assert visits.attributes["kind"].values() == ["k"] * len(records)
    assert (data.x == before).all()
    names = {name for record in expected for name, _ in record}
    assert sorted(visits.locations) == sorted(names)
    total = sum(map(len, expected))
    assert notes[0].startswith(f"{data.n_rows} points became {total} visits to {len(names)} cell")


def test_cells_lie_at_multiples_of_their_side() -> None:
    rows = [(0, 0.0, -0.001), (1, 99.999, 100.0), (2, 100.0, 199.0), (3, -100.0, -100.001)]
    visits, _ = Grid(cell=100, bucket="1").run(Points.from_records([rows]))
    assert [name for name, _ in visits.record(0)] == ["x0_y-1", "x0_y1", "x1_y1", "x-1_y-2"]


def test_longest_counts_a_point_until_the_next_one_or_the_end_of_its_bucket() -> None:
    rows = [(0, 5.0, 0.0), (4, 15.0, 0.0), (7, 5.0, 0.0), (8, 25.0, 0.0), (19, 5.0, 0.0)]
    data = Points.from_records([rows, [(19, 35.0, 0.0)]])
    visits, notes = Grid(cell=10, bucket="10", keep="longest").run(data)
    assert visits.record(0) == [("x0_y0", 0), ("x0_y0", 10)]
    assert visits.record(1) == [("x3_y0", 10)]
    assert notes == ("6 points became 3 visits to 2 cells of 10 m, by 10.",)


def test_what_is_kept_of_the_data() -> None:
    data = Points.from_records(
        [[(7200, 1.0, 2.0)]], owner=[4], attributes={"a": ["v"]}, time_format="epoch", frame=Frame(crs="EPSG:32632")
    )
    visits, _ = Grid(cell=1, bucket="2h").run(data)
    assert isinstance(visits, Visits)
    assert (visits.time_format, visits.owners, visits.owner.tolist()) == ("epoch", "given", [4])
    assert visits.record(0) == [("x1_y2", 7200)]
    assert visits.attributes["a"].values() == ["v"]
    assert (Grid.accepts, Grid.gives) == (Points, Visits)


def test_bad_input() -> None:
    with pytest.raises(ParameterError, match="grid: cell must be greater than 0, got 0"):
        Grid(cell=0, bucket="1")
    with pytest.raises(ParameterError, match="grid: keep must be one of first, last, longest"):
        Grid(cell=1, bucket="1", keep="any")
    far = Points.from_records([[(0, 1e300, 0.0)]])
    with pytest.raises(InputError, match=r"cells of 0\.001 m are too small for coordinates"):
        Grid(cell=0.001, bucket="1").run(far)
    with pytest.raises(InputError, match="cells of 1e-20 m are too small for coordinates"):
        Grid(cell=1e-20, bucket="1").run(far)
    for t in (-(2**63), 2**63 - 1):
        with pytest.raises(InputError, match="too close to the limits"):
            Grid(cell=1, bucket="3").run(Points.from_records([[(t, 0.0, 0.0)]]))
    with pytest.raises(InputError, match="grid: the times are plain integers without a unit, so bucket"):
        Grid(cell=1, bucket="1h").run(far)
    for keep in ("first", "last", "longest"):
        visits, notes = Grid(cell=1, bucket="3", keep=keep).run(Points.from_records([[], []]))
        assert (len(visits), visits.n_rows, visits.locations) == (2, 0, ())
        assert notes == ("0 points became 0 visits to 0 cells of 1 m, by 3.",)
        assert len(Grid(cell=1, bucket="3", keep=keep).run(Points.from_records([]))[0]) == 0
    assert Grid(cell=1e12, bucket="1").run(Points.from_records([[(0, 1e12, -1e12)]]))[0].record(0) == [("x1_y-1", 0)]
