"""Log cost: the worked example, every term by hand, and the edges."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.boxes.log_cost import LogCost
from wayveil.model import Boxes, Frame, Points

GOLDEN = Path(__file__).parents[2] / "golden" / "tga"


def example(name: str) -> tuple[Any, Points]:
    found = json.loads((GOLDEN / f"{name}.json").read_text())
    return found, Points.from_records([[(t, x, y) for x, y, t in rows] for rows in found["trajectories"].values()])


def test_the_worked_pair() -> None:
    found, before = example("pair")
    after = Boxes.from_records([[(*t, *x, *y) for x, y, t in found["boxes"]]] * 2)
    score = LogCost().run(before, after)
    assert score.measured["total_log_cost"] == pytest.approx(math.log(2592), rel=1e-12) == found["cost"]
    assert score.value == pytest.approx(math.log(2592) / 5)
    assert score.measured["log_cost_of_boxes"] == pytest.approx(4 * math.log(2))
    assert score.measured["cost_of_a_suppressed_point"] == pytest.approx(math.log(162)) == found["drop"]
    assert score.measured["share_of_suppressing_everything"] == pytest.approx(math.log(2592) / (5 * math.log(162)))
    assert (score.measured["points_suppressed"], score.measured["points_suppressed_share"]) == (1, 0.2)
    assert score.better == "lower"


def test_five_trajectories() -> None:
    found, before = example("five")
    boxes: dict[int, Any] = {
        i: [(*t, *x, *y) for x, y, t in group["boxes"]] for group in found["groups"] for i in group["members"]
    }
    score = LogCost().run(before, Boxes.from_records([boxes[i] for i in range(1, 6)]))
    assert score.measured["total_log_cost"] == pytest.approx(found["total"], rel=1e-12)
    assert score.measured["points_suppressed"] == 2


def test_every_side_and_weight() -> None:
    before = Points.from_records([[(0, 0.0, 0.0), (9, 10.0, 20.0)]], time_format="epoch")
    after = Boxes.from_records([[(0, 4, 0.0, 2.0, 0.0, 3.0), (1, 9, 1.0, 7.0, 0.0, 9.0)]], time_format="epoch")
    score = LogCost(space_weight=2, time_weight=0.5).run(before, after)
    expected = 2 * (math.log(3) + math.log(4) + math.log(7) + math.log(10)) + 0.5 * (math.log(5) + math.log(9))
    assert score.measured["total_log_cost"] == pytest.approx(expected)
    assert score.measured["cost_of_a_suppressed_point"] == pytest.approx(2 * math.log(11 * 21) + 0.5 * math.log(10))
    assert [score.measured[f"average_{side}"] for side in ("width_m", "height_m", "duration")] == [4, 6, 6]
    assert score.measured["boxes"] == 2
    (chart,) = score.charts
    assert [series.name for series in chart.series] == ["width", "height"]


def test_times_are_in_seconds() -> None:
    before = Points.from_records([[(0, 0.0, 0.0), (9, 10.0, 20.0)]])
    after = Boxes.from_records([[(0, 4, 0.0, 2.0, 0.0, 3.0)]])
    plain = LogCost().run(before, after)
    dates = LogCost().run(
        replace(before, t=before.t * 1_000_000, time_format="utc"),
        replace(after, t_min=after.t_min * 1_000_000, t_max=after.t_max * 1_000_000, time_format="utc"),
    )
    assert dates.measured == pytest.approx(plain.measured)
    assert dates.measured["average_duration"] == pytest.approx(4)


def test_trajectories_that_are_not_published_are_suppressed() -> None:
    before = Points.from_records([[(0, 0.0, 0.0), (9, 10.0, 20.0)], [], [(0, 1.0, 1.0)]])
    score = LogCost().run(before, Boxes.from_records([[], [], []]))
    assert score.value == pytest.approx(math.log(10 * 11 * 21)) == score.measured["cost_of_a_suppressed_point"]
    assert score.measured["points_suppressed_share"] == score.measured["share_of_suppressing_everything"] == 1
    assert score.measured["average_width_m"] is score.measured["average_height_m"] is None
    assert score.measured["average_duration"] is None
    assert score.charts == ()


def test_more_boxes_than_points_suppress_nothing() -> None:
    before = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0), (1, 1.0, 0.0)]])
    box = (0, 0, 0.0, 1.0, 0.0, 0.0)
    score = LogCost().run(before, Boxes.from_records([[box, box], [box]]))
    assert score.measured["points_suppressed"] == 1
    assert score.measured["total_log_cost"] == pytest.approx(3 * math.log(2) + math.log(4))


def test_nothing_at_all_and_all_points_equal() -> None:
    score = LogCost().run(Points.from_records([[]]), Boxes.from_records([[]]))
    assert score.value is score.measured["points_suppressed_share"] is None
    assert score.measured["total_log_cost"] == 0
    equal = LogCost().run(Points.from_records([[(0, 1.0, 1.0)]]), Boxes.from_records([[(0, 0, 1.0, 1.0, 1.0, 1.0)]]))
    assert equal.value == 0
    assert equal.measured["share_of_suppressing_everything"] is None


def test_huge_numbers() -> None:
    t = (-(2**63), 2**63 - 1)
    before = Points.from_records([[(t[0], -1e300, -1e12), (t[1], 1e300, 1e12)]])
    after = Boxes.from_records([[(*t, -1e300, 1e300, -1e12, 1e12)]])
    assert np.isfinite(LogCost().run(before, after).value)  # type: ignore[arg-type]
    beyond = Boxes.from_records([[(*t, -1.7e308, 1.7e308, -1e12, 1e12)]])
    assert LogCost().run(before, beyond).value is None


def test_what_is_refused() -> None:
    _, before = example("pair")
    with pytest.raises(ParameterError, match="must not both be 0"):
        LogCost(space_weight=0, time_weight=0)
    with pytest.raises(InputError, match="log_cost: every trajectory is compared"):
        LogCost().run(before, Boxes.from_records([[]]))
    with pytest.raises(InputError, match="log_cost: the original and the published data have different frames"):
        LogCost().run(before, Boxes.from_records([[], []], frame=Frame(crs="EPSG:2100")))
