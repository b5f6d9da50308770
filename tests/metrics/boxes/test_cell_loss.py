"""Cell loss on the worked example of the attack graph and on boxes that can be counted by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.boxes.cell_loss import CellLoss
from wayveil.model import Boxes, Frame, Points

EXAMPLE = json.loads((Path(__file__).parents[2] / "golden" / "qid" / "example2.json").read_text())
Rows = list[list[tuple[int, int, float, float, float, float]]]


def before(cell: float = 1.0) -> Points:
    return Points.from_records(
        [[(t, (x + 0.5) * cell, (y + 0.5) * cell) for t, (x, y) in enumerate(row)] for row in EXAMPLE["cells"]]
    )


def after(name: str, cell: float = 1.0) -> Boxes:
    boxes = EXAMPLE[name]["boxes"]
    return Boxes.from_records(
        [[(t, t, x * cell, (u + 1) * cell, y * cell, (v + 1) * cell) for t, (x, y, u, v) in enumerate(r)]
         for r in boxes]
    )  # fmt: skip


@pytest.mark.parametrize("cell", [1.0, 0.3, 250.0])
@pytest.mark.parametrize("name", ["naive", "extreme-union", "symmetric", "symmetrised"])
def test_the_worked_example(name: str, cell: float) -> None:
    score = CellLoss(cell=cell).run(before(cell), after(name, cell))
    loss = float(Fraction(EXAMPLE[name]["loss"]))
    assert score.measured["information_loss"] == pytest.approx(loss, abs=1e-12)
    assert score.measured["information_loss_per_box"] == pytest.approx(loss / 6)
    assert score.value == pytest.approx(loss / 6)
    assert (score.name, score.better, score.percent) == ("cell_loss", "lower", True)


def test_the_other_numbers() -> None:
    measured = CellLoss(cell=1).run(before(), after("extreme-union")).measured
    assert measured["boxes"] == 6
    assert measured["boxes_of_one_cell_share"] == pytest.approx(1 / 6)
    assert measured["average_box_cells"] == pytest.approx((4 + 4 + 1 + 3 * 35) / 6)
    assert measured["middle_box_cells"] == (4 + 35) / 2
    assert measured["largest_box_cells"] == 35
    assert measured["samples_lost_share"] == 0
    assert measured["trajectories_per_box"] == pytest.approx((2 * 2 + 1 + 3 * 3) / 6)
    assert measured["cell_m"] == 1


@pytest.mark.parametrize(
    "other",
    [(1, 0, 0, 9, 0, 9), (0, 1, 0, 9, 0, 9), (0, 0, -1, 9, 0, 9), (0, 0, 0, 8, 0, 9), (0, 0, 0, 9, 1, 9),
     (0, 0, 0, 9, 0, 8)],
)  # fmt: skip
def test_boxes_that_differ_in_one_side_are_not_the_same(other: tuple[int, ...]) -> None:
    t_min, t_max, *sides = other
    box = (t_min, max(t_min, t_max), *map(float, sides))
    boxes = Boxes.from_records([[(0, 0, 0.0, 9.0, 0.0, 9.0)], [box]])  # type: ignore[list-item]
    points = Points.from_records([[(0, 1.0, 1.0)], [(0, 1.0, 1.0)]])
    assert CellLoss(cell=1).run(points, boxes).measured["trajectories_per_box"] == 1


def test_lost_samples_count_one_and_the_smallest_box_stands_for_a_sample() -> None:
    points = Points.from_records([[(t, 0.5, 0.5) for t in range(3)], [(0, 0.5, 0.5)]])
    boxes: Rows = [[(0, 1, 0.0, 2.0, 0.0, 2.0), (1, 1, 0.0, 2.0, 0.0, 1.0)], []]
    score = CellLoss(cell=1).run(points, Boxes.from_records(boxes))
    assert score.value == pytest.approx((3 / 4 + 1 / 2 + 1 + 1) / 4)
    assert score.measured["samples_lost_share"] == 0.5
    assert score.measured["information_loss"] == pytest.approx(3 / 4 + 1 / 2)


def test_boxes_that_are_no_multiples_are_rounded_to_one_cell_at_least() -> None:
    points = Points.from_records([[(0, 0.0, 0.0), (1, 0.0, 0.0)]])
    boxes = Boxes.from_records([[(0, 0, 0.0, 0.0, 0.0, 1.4), (1, 1, -0.1, 1.7, 0.0, 2.6)]])
    assert CellLoss(cell=1).run(points, boxes).measured["average_box_cells"] == (1 + 6) / 2


def test_nothing() -> None:
    for records in ([], [[]], [[], []]):
        score = CellLoss().run(Points.from_records(records), Boxes.from_records(records))
        assert score.value is None
        assert score.measured["information_loss"] == 0
        assert score.measured["trajectories_per_box"] is None
        assert score.charts == ()


def test_nothing_published() -> None:
    score = CellLoss().run(Points.from_records([[(0, 0.0, 0.0)]]), Boxes.from_records([[]]))
    assert score.value == 1


def test_huge_boxes() -> None:
    points = Points.from_records([[(0, 0.0, 0.0)]])
    score = CellLoss().run(points, Boxes.from_records([[(0, 0, -1e308, 1e308, -1e308, 1e308)]]))
    assert score.value == 1
    assert score.measured["average_box_cells"] is None


def test_the_chart_shows_all_boxes() -> None:
    (chart,) = CellLoss(cell=1).run(before(), after("extreme-union")).charts
    assert sum(v or 0 for v in chart.series[0].values) == pytest.approx(1)
    assert "cells" in chart.x_label


def test_what_cannot_be_compared() -> None:
    points, boxes = Points.from_records([[(0, 0.0, 0.0)]]), Boxes.from_records([[], []])
    with pytest.raises(InputError, match="cell_loss: every trajectory is compared with its own"):
        CellLoss().run(points, boxes)
    degrees = Frame.for_degrees(np.array([1.0]), np.array([2.0]))
    with pytest.raises(InputError, match=r"cell_loss: .*frames"):
        CellLoss().run(points, Boxes.from_records([[]], frame=degrees))
    with pytest.raises(ParameterError, match=r"cell_loss: cell must be a number >= 0\.001"):
        CellLoss(cell=0)
