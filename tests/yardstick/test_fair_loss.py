"""One ruler for fine and coarse data: against a count by hand, and what must not look free."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayveil.errors import UsageError
from wayveil.model import Boxes, Points, Taxonomy, Visits
from wayveil.model.data.stops import Stops
from wayveil.steps import Bucket, Fold, Zones
from wayveil.yardstick.fair_loss import USES, RawUse, Resolution, choose_resolution, parse_resolution
from wayveil.yardstick.footprint import make_space, trace

FINE = Resolution(metres=100.0, minutes=60)
tracks = st.lists(
    st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 900), st.integers(0, 900)), min_size=1, max_size=5),
    min_size=1, max_size=8,
)  # fmt: skip


def as_points(records: list[list[tuple[int, int, int]]]) -> Points:
    ordered = [sorted({row[0]: row for row in record}.values()) for record in records]
    return Points.from_records([[(t, float(x), float(y)) for t, x, y in record] for record in ordered],
                               time_format="epoch")  # fmt: skip


def pieces_by_hand(data: Points) -> list[list[tuple[int, float, float]]]:
    """Trips cut at four in the morning."""
    found = []
    for i in range(len(data)):
        by_day: dict[int, list[tuple[int, float, float]]] = {}
        for t, x, y in data.record(i):
            by_day.setdefault((t - 4 * 3600) // 86_400, []).append((t, x, y))
        found += [by_day[day] for day in sorted(by_day)]
    return found


def uses_by_hand(data: Points) -> dict[str, Counter]:
    """Every use counted by its definition, one trip after the other."""
    found: dict[str, Counter] = {use: Counter() for use in USES}
    for piece in pieces_by_hand(data):
        cells = [(x // 100, y // 100) for _, x, y in piece]
        found["flows"][cells[0], cells[-1]] += 1
        hours = [((t // 86_400 - 4) % 7, t % 86_400 // 3600) for t, _, _ in piece]
        found["hours"].update(set(zip(cells, hours, strict=True)))
        found["points"].update(set(zip(cells, [t // 3600 for t, _, _ in piece], strict=True)))
        found["routes"].update({(a, b) for a, b in pairwise(cells) if a != b})
        order = list(dict.fromkeys(cells))
        found["patterns"].update((a, b) for i, a in enumerate(order) for b in order[i + 1 :])
        away = max(np.hypot(x - piece[0][1], y - piece[0][2]) for _, x, y in piece)
        found["lengths"][int(np.ceil(np.log2(max(away / 100, 0.5))))] += 1
    return found


def lost_by_hand(before: Counter, after: Counter) -> float | None:
    if not before:
        return None
    common = sum((before & after).values())
    return 1 - common / max(sum(before.values()), sum(after.values()))


@given(tracks, tracks)
def test_exact_positions_are_counted_as_by_hand(one: list, other: list) -> None:
    raw = as_points(one)
    published = as_points(other)
    space = make_space(raw)
    found = RawUse.of(trace(raw, space), FINE, tuple(USES)).lose(trace(published, space))
    before, after = uses_by_hand(raw), uses_by_hand(published)
    for use in USES:
        expected = lost_by_hand(before[use], after[use])
        assert found.parts[use] == (None if expected is None else pytest.approx(max(0.0, expected)))


def test_a_box_counts_in_each_of_its_cells_with_its_share() -> None:
    raw = Points.from_records([[(0, 50.0, 50.0), (60, 950.0, 50.0)]] * 40, time_format="epoch")
    space = make_space(raw)
    use = RawUse.of(trace(raw, space), FINE, ("flows",))
    quarter = [(0, 0, 0.0, 200.0, 0.0, 200.0), (60, 60, 950.0, 950.0, 50.0, 50.0)]
    boxes = Boxes.from_records([quarter] * 40, time_format="epoch")
    assert use.lose(trace(boxes, space)).value == pytest.approx(0.75, abs=0.03)


def test_coarse_is_not_free_and_suppression_is_seen() -> None:
    rng = np.random.default_rng(1)
    records = [
        [(int(rng.integers(86_400)), float(rng.random() * 2000), float(rng.random() * 2000))] for _ in range(400)
    ]
    raw = Points.from_records(records, time_format="epoch")
    space = make_space(raw)
    use = RawUse.of(trace(raw, space), FINE, ("flows", "hours"))
    losses = []
    for side in (100, 400, 2000):
        step = Zones(cell=side)
        losses.append(use.lose(trace(step.run(raw)[0], space, steps=[step])).parts["flows"])
    assert losses[0] < 0.3 < losses[1] < losses[2]
    assert use.lose(trace(raw.take(np.arange(100)), space)).parts["flows"] == pytest.approx(0.75)


def test_folded_dates_stand_for_all_that_they_may_be() -> None:
    day = 86_400
    records = [[("a", i * day + 9 * 3600), ("b", i * day + 10 * 3600)] for i in range(4, 4 + 70)]
    raw = Visits.from_records(records, time_format="epoch")
    space = make_space(raw)
    use = RawUse.of(trace(raw, space), Resolution(metres=1.0), ("flows", "hours", "points"))
    fold = Fold(to="day", part="1h")
    folded = use.lose(trace(fold.run(raw)[0], space, steps=[fold]))
    # Every hour of the week has as many trips as before, and every date is one of seventy.
    assert folded.parts["flows"] == 0.0
    assert folded.parts["hours"] < 0.1
    assert folded.parts["points"] > folded.parts["hours"]
    wide = Bucket(width="1d")
    assert use.lose(trace(wide.run(raw)[0], space, steps=[wide])).parts["hours"] > 0.9


def test_a_node_of_a_taxonomy_stands_for_its_leaves() -> None:
    tree = Taxonomy.from_parents(
        [("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Cafe", "Food"), ("Park", "Place")]
    )
    raw = Stops.from_records([["Bar"]] * 50 + [["Park"]] * 50, taxonomy=tree)
    space = make_space(raw)
    use = RawUse.of(trace(raw, space), Resolution(metres=1.0), ("flows",))
    assert use.lose(trace(raw, space)).value == 0.0
    coarse = Stops.from_records([["Food"]] * 50 + [["Park"]] * 50, taxonomy=tree)
    assert use.lose(trace(coarse, space)).value == pytest.approx(0.25, abs=0.03)


def test_the_use_that_suffers_most_is_the_loss() -> None:
    raw = Points.from_records([[(0, 50.0, 50.0)], [(0, 150.0, 50.0)]], time_format="epoch")
    space = make_space(raw)
    other = Points.from_records([[(40_000, 50.0, 50.0)], [(40_000, 150.0, 50.0)]], time_format="epoch")
    found = RawUse.of(trace(raw, space), FINE).lose(trace(other, space))
    assert found.parts["flows"] == 0.0
    assert found.value == found.parts["hours"] == 1.0


@pytest.mark.parametrize(("text", "said"), [("500m,60min", "500 m and 1 h"), ("15min,2km", "2 km and 15 min")])
def test_a_resolution_is_metres_and_minutes(text: str, said: str) -> None:
    assert str(parse_resolution(text)) == said


@pytest.mark.parametrize("text", ["", "far", "-5m", "7h", "500m,1km", "10s", "1e9999x"])
def test_what_is_no_resolution_is_said(text: str) -> None:
    with pytest.raises(UsageError, match="A resolution is metres, minutes or both"):
        parse_resolution(text)


def test_what_nobody_said_follows_from_where_people_are() -> None:
    raw = Points.from_records([[(0, 0.0, 0.0), (1, 8000.0, 10.0)]], time_format="epoch")
    space = make_space(raw)
    assert str(choose_resolution(space)) == "200 m and 1 h"
    assert str(choose_resolution(space, 15)) == "200 m and 15 min"
    assert str(choose_resolution(space, 700.0)) == "700 m and 1 h"
    named = make_space(Visits.from_records([[("a", 1)]]))
    assert str(choose_resolution(named)) == "places as they are and 1 h"
