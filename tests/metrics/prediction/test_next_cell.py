"""Next cells against a predictor written as dictionaries."""

from collections import Counter
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.prediction import NextCell, held_out_people
from wayveil.model import Boxes, Frame, Points


def points(records, **more):
    """Each record is a list of (x, y), one unit of time after the other."""
    return Points.from_records([[(t, float(x), float(y)) for t, (x, y) in enumerate(r)] for r in records], **more)


def run(before, after, **given_):
    return NextCell(**given_).run(before, after)


records = st.lists(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=5), max_size=8)


@settings(deadline=None, max_examples=150)
@given(records, records)
def test_against_dictionaries(before, after):
    owner = [i // 2 for i in range(len(before))]
    score = run(points(before, owner=owner), points(after), cell=6)

    def moves(record):
        return list(pairwise(c for c, _ in groupby((x // 6, y // 6) for x, y in record)))

    steps = [(move, o) for r, o in zip(before, owner, strict=True) for move in moves(r)]
    held = set(held_out_people(np.array([o for _, o in steps], np.int64)).tolist())
    test = [move for move, o in steps if o in held]
    assert score.measured["tested_steps"] == len(test)
    if not test:
        assert score.value is None
        return
    for name, train in (
        ("before", [m for m, _ in steps]),
        ("before_others", [m for m, o in steps if o not in held]),
        ("after", [m for r in after for m in moves(r)]),
    ):
        every, right = Counter(b for _, b in train), 0
        for a, b in test:
            own = Counter(y for x, y in train if x == a) or every
            right += [b] == sorted(own, key=lambda p: (-own[p], p))[:1]  # ties by column, then by row
        assert score.measured[f"accuracy_{name}"] == pytest.approx(right / len(test))
    assert score.value == pytest.approx(score.measured["accuracy_before"] - score.measured["accuracy_after"])


def test_boxes_stand_for_their_centres():
    before = points([[(0, 0), (40, 40)]] * 5)
    boxes = Boxes.from_records([[(0, 0, -8.0, 12.0, -8.0, 12.0), (1, 1, 30.0, 60.0, 30.0, 60.0)]] * 5)
    score = run(before, boxes, cell=10)
    assert (score.name, score.better, score.percent, score.value) == ("next_cell", "lower", True, 0)
    assert score.measured["accuracy_after"] == 1
    assert score.charts[0].title == "Next cells that are guessed right"


def test_the_cells_are_a_sixteenth_of_the_longer_side():
    data = points([[(0, 0), (32, 160)]])
    assert run(data, data).measured["cell_m"] == 10
    here = points([[(5, 5), (5, 5)]])
    assert (run(here, here).measured["cell_m"], run(here, here).value) == (1, None)


@pytest.mark.parametrize("nothing", [[], [[], []]])
def test_nothing(nothing):
    assert run(points([[(0, 0), (9, 9)]]), points(nothing)).value == 1
    assert run(points(nothing), points([[(0, 0), (9, 9)]])).value is None
    assert run(points(nothing), points(nothing)).charts == ()


def test_far_away():
    far = points([[(-1e12, 0), (1e12, 0)]] * 5)
    assert run(far, far).value == 0
    beyond = points([[(-1e308, 0), (1e308, 0)]] * 5)
    assert run(beyond, beyond, cell=1).value == 0


def test_data_that_cannot_be_compared_and_bad_parameters():
    with pytest.raises(InputError, match=r"next_cell: .* different frames"):
        run(points([[(0, 0)]]), points([[(0, 0)]], frame=Frame(crs="EPSG:2100")))
    with pytest.raises(ParameterError, match="next_cell: cell must be"):
        NextCell(cell=0)
