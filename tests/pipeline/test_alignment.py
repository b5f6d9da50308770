"""Published trajectories beside the original ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wayveil.io import as_published
from wayveil.model import Boxes, Frame, Points, Visits
from wayveil.pipeline.alignment import aligned, join_owners

DEGREES = Frame.for_degrees(np.array([10.0, 11.0]), np.array([50.0, 51.0]))
POINTS = Points.from_records([[(0, 0.1, 0.2), (1, 1.3, 0.7)], [], [(0, 5.5, 5.9)]], owner=[7, 8, 9])
REGIONS = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)], [], [(0, 3, 5.0, 6.0, 5.0, 6.0)]], owner=[7, 8, 9])
VISITS = Visits.from_records([[("a", 1), ("b", 2)], [], [("c", 1)]], owner=[7, 8, 9])


@pytest.mark.parametrize("data", [POINTS, replace(POINTS, frame=DEGREES), REGIONS, VISITS])
def test_what_was_written_gets_its_owners_back(data: Points | Boxes | Visits) -> None:
    source = np.array([2, 0])
    readback = replace(as_published(data.take(source)), owner=np.array([0, 1]), owners="hidden")
    joined = join_owners(readback, data, source, data.owner)
    assert joined.owner.tolist() == [9, 7]
    assert joined.owners == "given"
    whole = aligned(joined, source, data)
    assert len(whole) == 3
    assert whole.owner.tolist() == [7, 8, 9]
    assert [len(whole.record(i)) for i in range(3)] == [len(data.record(i)) for i in range(3)]
    assert whole.record(0) == joined.record(1)


def test_what_was_not_written_does_not_pass() -> None:
    source = np.array([2, 0])
    good = POINTS.take(source)
    x, y, t = good.x.copy(), good.y.copy(), good.t.copy()
    x[0], y[1], t[2] = np.nextafter(x[0], 9), np.nextafter(y[1], 9), 7
    for wrong in (
        replace(good, x=x),
        replace(good, y=y),
        replace(good, t=t),
        POINTS.take(source[::-1]),
        REGIONS.take(source),
        VISITS.take(source),
    ):
        assert join_owners(wrong, POINTS, source, POINTS.owner) is None
    boxes = REGIONS.take(source)
    for name in ("t_max", "x_max", "y_max"):
        changed = getattr(boxes, name).copy()
        changed[0] += 1
        assert join_owners(replace(boxes, **{name: changed}), REGIONS, source, REGIONS.owner) is None
    for name in ("t_min", "x_min", "y_min"):
        changed = getattr(boxes, name).copy()
        changed[0] -= 1
        assert join_owners(replace(boxes, **{name: changed}), REGIONS, source, REGIONS.owner) is None
