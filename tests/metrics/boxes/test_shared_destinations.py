"""Destinations inside groups, against plain dictionaries."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.boxes.shared_destinations import SharedDestinations
from wayveil.model import Boxes, Points

TRIPS = st.lists(
    st.tuples(
        st.integers(0, 3),  # whose
        st.integers(0, 2),  # timestamps of the trip
        st.tuples(st.integers(-30, 30), st.integers(-30, 30)),  # where it ends
        st.integers(0, 2),  # group
        st.integers(0, 2),  # boxes of it
    ),
    max_size=9,
)


@settings(deadline=None, max_examples=150)
@given(trips=TRIPS)
def test_the_share_is_that_of_plain_counting(trips: list[tuple[int, int, tuple[int, int], int, int]]) -> None:
    before = []
    after = []
    for _, length, (x, y), group, boxes in trips:
        before.append([(t, float(x), float(y)) for t in range(length)])
        after.append([(t, t, -99.0 - group, 99.0, -99.0, 99.0) for t in range(min(boxes, length))])
    owner = [who for who, *_ in trips]
    score = SharedDestinations(cell=20).run(
        Points.from_records(before, owner=owner), Boxes.from_records(after, owner=owner)
    )
    inside: dict[tuple[int, int], list[tuple[int, tuple[int, int]]]] = defaultdict(list)
    for who, length, (x, y), group, boxes in trips:
        for t in range(min(boxes, length)):
            inside[group, t].append((who, (x // 20, y // 20)))
    shares = []
    ends = {(group, length - 1) for _, length, _, group, boxes in trips if 0 < length <= boxes}
    for _, length, _, group, boxes in trips:
        if 0 < length <= boxes:
            members = inside[group, length - 1]
            people = {who for who, _ in members}
            cells = [{who for who, cell in members if cell == one} for one in {cell for _, cell in members}]
            shares.append(max(map(len, cells)) / len(people))
    given_trips = sum(length > 0 for _, length, *_ in trips)
    if not shares:
        assert score.value is None
    else:
        assert score.value == pytest.approx(sum(shares) / len(shares))
        assert score.measured["certain_share"] == pytest.approx(sum(one == 1 for one in shares) / len(shares))
        assert score.measured["groups"] == len(ends)
    assert score.measured["ends_published_share"] == (pytest.approx(len(shares) / given_trips) if given_trips else None)
