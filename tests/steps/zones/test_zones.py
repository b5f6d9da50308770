"""Zones: every visit stays, in a rectangle that holds its place and enough people."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.model import Frame, Visits
from wayveil.steps import Zones


def visits(places: list[tuple[float, float]], people: list[list[int]]) -> Visits:
    data = Visits(
        offsets=np.cumsum([0, *map(len, people)]),
        location=np.array([place for record in people for place in record], np.int32),
        t=np.array([t for record in people for t in range(len(record))], np.int64),
        locations=tuple(f"p{i}" for i in range(len(places))),
        owner=np.arange(len(people)) // 2,
        attributes={},
        time_format="integer",
        owners="given",
    )
    return replace(data, place_x=np.array([x for x, _ in places]), place_y=np.array([y for _, y in places]))


def corners(name: str) -> tuple[float, ...]:
    found = re.fullmatch(r"x(.*?)\.\.(.*?)_y(.*?)\.\.(.*)", name)
    assert found is not None
    return tuple(float(side or rim) for side, rim in zip(found.groups(), ("-inf", "inf") * 2, strict=True))


coordinates = st.tuples(st.integers(-900, 900), st.integers(-900, 900))


@given(
    places=st.lists(coordinates, min_size=1, max_size=12, unique=True),
    people=st.integers(1, 5),
    cell=st.sampled_from([50, 100]),
    data=st.data(),
)
@settings(deadline=None, max_examples=200)
def test_every_zone_holds_its_places_and_enough_people(
    places: list[tuple[int, int]], people: int, cell: int, data: st.DataObject
) -> None:
    index = st.integers(0, len(places) - 1)
    records = data.draw(st.lists(st.lists(index, max_size=5), min_size=1, max_size=20))
    before = visits([(float(x), float(y)) for x, y in places], records)
    after, _ = Zones(cell=cell, people=people).run(before)
    assert after.n_visits == before.n_visits
    assert (after.t == before.t).all()
    assert (after.offsets == before.offsets).all()
    owner = np.repeat(before.owner, np.diff(before.offsets))
    inside: dict[str, set[int]] = {}
    for row in range(before.n_visits):
        name = after.locations[after.location[row]]
        left, right, low, high = corners(name)
        x, y = places[before.location[row]]
        assert left <= x < right
        assert low <= y < high
        assert all(side % cell == 0 for side in (left, right, low, high) if np.isfinite(side))
        inside.setdefault(name, set()).add(int(owner[row]))
    everybody = set(owner.tolist())
    for listed in inside.values():
        assert len(listed) >= min(people, len(everybody))
    boxes = [corners(name) for name in inside]
    for i, one in enumerate(boxes):
        for other in boxes[:i]:
            assert one[1] <= other[0] or other[1] <= one[0] or one[3] <= other[2] or other[3] <= one[2]


def test_one_place_far_away_does_not_make_one_zone() -> None:
    places = [(float(x), 0.0) for x in range(0, 800, 100)] + [(1e7, 1e7)]
    after, notes = Zones(cell=100, people=2).run(
        visits(places, [[place] for place in range(8) for _ in range(4)] + [[8]])
    )
    assert len(set(after.location.tolist())) == 8
    assert notes[0] == "9 places became 8 zones; each has visits of at least 2 people."


def test_cells_of_one_size() -> None:
    after, notes = Zones(cell=100).run(visits([(0.0, 0.0), (99.0, 99.0), (-1.0, 100.0)], [[0, 1, 2]]))
    assert after.record(0) == [("x0..100_y0..100", 0), ("x0..100_y0..100", 1), ("x-100..0_y100..200", 2)]
    assert notes == ("3 places became 2 zones; some have visits of one person only.",)


def test_too_few_people_are_told() -> None:
    _, notes = Zones(cell=100, people=5).run(visits([(0.0, 0.0), (500.0, 0.0)], [[0], [1], [1]]))
    assert notes[-1] == "There are only 2 people in all, fewer than the 5 asked for."


def test_names_in_degrees_say_where_a_zone_is() -> None:
    lon, lat = np.array([23.70, 23.71]), np.array([37.98, 37.98])
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    data = replace(visits([(0.0, 0.0), (0.0, 0.0)], [[0], [1]]), place_x=x, place_y=y, place_frame=frame)
    after, _ = Zones(cell=200).run(data)
    for trajectory, at in enumerate(lon.tolist()):
        name = after.record(trajectory)[0][0]
        found = re.fullmatch(r"lon(.+)\.\.(.+)_lat(.+)\.\.(.+)", name)
        assert found is not None
        west, east, south, north = map(float, found.groups())
        assert west - 1e-5 <= at <= east + 1e-5
        assert south - 1e-5 <= 37.98 <= north + 1e-5


def test_what_cannot_be_zoned() -> None:
    with pytest.raises(InputError, match="not known where the places are"):
        Zones(cell=100).run(Visits.from_records([[("a", 1)]]))
    with pytest.raises(ParameterError, match="greater than 0"):
        Zones(cell=0)
    with pytest.raises(InputError, match="too small for coordinates"):
        Zones(cell=1e-9).run(visits([(1e9, 0.0)], [[0]]))
    empty, notes = Zones(cell=100, people=2).run(visits([(1.0, 1.0)], [[]]))
    assert empty.n_visits == 0
    assert notes == ("There are no visits, so there are no zones.",)
