"""Passages that were not driven, against plain sets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.roads.roads_not_driven import RoadsNotDriven
from wayveil.model import RoadNetwork, Routes

NETWORK = RoadNetwork.from_roads([(name, name, name) for name in "abcd"])
ROUTES = st.lists(
    st.tuples(st.lists(st.sampled_from("abcd"), max_size=4), st.integers(0, 3), st.integers(0, 1)), max_size=6
)


def routes(rows: list[tuple[list[str], int, int]], dummies: int = 0) -> Routes:
    found = [*rows, *[(["a"], -1 - i, 0) for i in range(dummies)]]
    records = [roads for roads, _, _ in found]
    starts = [10 * part for _, _, part in found]
    data = Routes.from_records(records, network=NETWORK, owner=[who for _, who, _ in found])
    start = np.array(starts, np.int64)
    return replace(data, t=np.repeat(start, data.lengths), t_start=start, t_end=start + 10)


@settings(deadline=None, max_examples=100)
@given(before=ROUTES, after=ROUTES, dummies=st.integers(0, 2))
def test_the_share_is_that_of_plain_sets(
    before: list[tuple[list[str], int, int]], after: list[tuple[list[str], int, int]], dummies: int
) -> None:
    drove = {(who, part, road) for roads, who, part in before for road in roads}
    shown = [(who, part, road) for roads, who, part in after for road in roads]
    wrong = [row for row in shown if row not in drove]
    touched = [any((who, part, road) not in drove for road in roads) for roads, who, part in after if roads]
    score = RoadsNotDriven().run(routes(before), routes(after, dummies))
    assert score.value == (len(wrong) / len(shown) if shown else None)
    assert score.measured["passages"] == len(shown)
    assert score.measured["trajectories_share"] == (sum(touched) / len(touched) if touched else None)
