"""Cells of several sizes, H3 cells, and zones in space and time: against slow definitions of each."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.model import Frame, Visits
from wayveil.steps import Zones
from wayveil.steps.zones.cells import merge_sparse_cells


def slow_levels(levels: list[list[int]], seen: list[tuple[int, int]], people: int) -> list[int]:
    """Return the level of each place: a cell is split if every visited cell right below it has enough people."""
    top = len(levels[0]) - 1

    def crowd(level: int, cell: int) -> int:
        return len({who for place, who in seen if levels[place][level] == cell})

    def settle(place: int, level: int) -> int:
        if level == 0:
            return 0
        below = {row[level - 1] for row in levels if row[level] == levels[place][level]}
        if any(crowd(level - 1, cell) < people for cell in below):
            return level
        return settle(place, level - 1)

    return [settle(place, top) for place in range(len(levels))]


@given(st.lists(st.integers(0, 31), min_size=1, max_size=10, unique=True), st.integers(1, 4), st.data())
@settings(deadline=None, max_examples=200)
def test_levels_are_those_of_the_definition(leaves: list[int], people: int, data: st.DataObject) -> None:
    levels = [[leaf, 100 + leaf // 2, 200 + leaf // 4, 300 + leaf // 16] for leaf in leaves]
    who = data.draw(st.lists(st.integers(0, 5), min_size=len(leaves), max_size=len(leaves)))
    more = data.draw(st.lists(st.tuples(st.integers(0, len(leaves) - 1), st.integers(0, 5)), max_size=20))
    seen = [*enumerate(who), *more]
    place, owner = (np.array(column, np.int64) for column in zip(*seen, strict=True))
    found = merge_sparse_cells(np.array(levels, np.int64), place, owner, people)
    assert found.tolist() == slow_levels(levels, seen, people)


def places(at: list[tuple[float, float]], records: list[list[tuple[int, int]]]) -> Visits:
    data = Visits.from_records([[(f"p{place:02d}", t) for place, t in record] for record in records])
    used = [int(name[1:]) for name in data.locations]
    return replace(data, place_x=np.array([at[i][0] for i in used]), place_y=np.array([at[i][1] for i in used]))


def test_squares_of_several_sizes() -> None:
    at = [(50.0, 50.0), (150.0, 50.0), (450.0, 50.0), (-50.0, 50.0)]
    data = places(at, [[(0, 1), (1, 2)], [(0, 1), (1, 2)], [(2, 5)], [(2, 5), (3, 6)], [(3, 6)]])
    after, notes = Zones(cell=100, people=2, levels=3).run(data)
    assert after.record(0) == [("x0..100_y0..100", 1), ("x100..200_y0..100", 2)]
    assert after.record(3) == [("x400..500_y0..100", 5), ("x-100..0_y0..100", 6)]
    assert notes[0].endswith("4 zones; each has visits of at least 2 people.")
    lonely = places(at, [[(0, 1), (1, 2)], [(0, 1)], [(2, 5)]])
    coarse, notes = Zones(cell=100, people=2, levels=3).run(lonely)
    assert coarse.record(0) == [("x0..200_y0..200", 1), ("x0..200_y0..200", 2)]
    assert notes[-1] == "1 of the coarsest cells has visits of fewer than 2 people; more levels merge them."


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=8, unique=True),
    st.integers(1, 4),
    st.data(),
)
@settings(deadline=None, max_examples=150)
def test_zones_in_space_and_time_hold_their_visits_and_enough_people(
    at: list[tuple[int, int]], people: int, data: st.DataObject
) -> None:
    row = st.tuples(st.integers(0, len(at) - 1), st.integers(0, 40))
    records = data.draw(st.lists(st.lists(row, max_size=5, unique_by=lambda r: r[1]), min_size=1, max_size=12))
    records = [sorted(record, key=lambda r: r[1]) for record in records]
    before = places([(100.0 * x, 100.0 * y) for x, y in at], records)
    if not before.n_rows:
        return
    after, _ = Zones(cell=100, people=people, time="5").run(before)
    zones: dict[tuple[str, int], set[int]] = {}
    for who, record in enumerate(records):
        mine = after.record(who)
        assert [t for _, t in mine] == sorted({t for _, t in mine})
        published = {(name, t // 5 * 5) for name, t in mine}
        assert len(published) == len(mine)
        for place, t in record:
            x, y = (100.0 * side for side in at[place])
            holding = []
            for name, begin in published:
                found = re.fullmatch(r"x(.*?)\.\.(.*?)_y(.*?)\.\.(.*?)_t([0-9]+|\.\.)", name)
                assert found is not None
                rims = ("-inf", "inf") * 2
                left, right, low, high = (float(side or rim) for side, rim in zip(found.groups(), rims, strict=False))
                # Of an open zone the borders in time are those of the others: see below.
                inside = left <= x < right and low <= y < high
                if inside and (found[5] == ".." or begin <= t < begin + float(found[5])):
                    holding.append((name, begin))
            closed = [one for one in holding if not one[0].endswith("..")]
            if closed:
                holding = closed
            elif len(holding) == 2:  # open at the beginning, and at the end
                first, last = sorted(begin for _, begin in holding)
                holding = [one for one in holding if one[1] == (last if t >= last else first)]
            assert len(holding) == 1
            zones.setdefault(holding[0], set()).add(who)
    everybody = {who for who, record in enumerate(records) if record}
    assert all(len(crowd) >= min(people, len(everybody)) for crowd in zones.values())


def test_h3_cells_of_one_and_of_several_sizes() -> None:
    h3 = pytest.importorskip("h3")
    lon = np.array([23.70, 23.7005, 23.78])
    lat = np.array([37.95, 37.9502, 37.99])
    frame = Frame.for_degrees(lon, lat, crs="EPSG:4326")
    x, y = frame.to_metres(lon, lat)
    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("c", 3)], [("c", 3)]])
    data = replace(data, place_x=x, place_y=y, place_frame=frame)
    after, _ = Zones(h3=9).run(data)
    own = [h3.latlng_to_cell(b, a, 9) for a, b in zip(lon, lat, strict=True)]
    assert [name for i in range(4) for name, _ in after.record(i)] == [own[0], own[1], own[0], own[2], own[2]]
    mixed, _ = Zones(h3=11, people=2, levels=6).run(data)
    names = [name for i in range(4) for name, _ in mixed.record(i)]
    assert names[0] == names[1] == names[2]
    assert h3.get_resolution(names[0]) < 11
    assert h3.get_resolution(names[3]) >= h3.get_resolution(names[0])
    for one in names:
        for other in names:
            if h3.get_resolution(one) > h3.get_resolution(other):
                assert h3.cell_to_parent(one, h3.get_resolution(other)) != other
    with pytest.raises(InputError, match="H3 cells need longitudes and latitudes"):
        Zones(h3=9).run(replace(data, place_frame=None))
