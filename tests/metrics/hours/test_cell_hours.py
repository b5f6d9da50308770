"""Trips per cell and hour against counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.hours import CellHours
from wayveil.model import Boxes, Frame, Points


def run(before, after, **given_):
    return CellHours(**given_).run(before, after)


def test_all_numbers_of_a_small_case():
    before = Points.from_records(
        [[(0, 0.0, 0.0), (9, 5.0, 5.0), (3600, 15.0, 0.0)], [(0, 5.0, 0.0)], [(20, 15.0, 15.0)]], time_format="epoch"
    )
    after = Points.from_records([[(0, 0.0, 0.0)], [(7200, -1.0, 0.0)], []], time_format="epoch")
    score = run(before, after, cell=10, top=1)
    # (0, 0)@0 2, (1, 0)@1 1, (1, 1)@0 1 against (0, 0)@0 1, (-1, 0)@2 1
    assert (score.name, score.better, score.percent) == ("cell_hours", "lower", True)
    assert score.value == pytest.approx(1 - 1 / 4)
    assert score.measured == pytest.approx(
        {
            "cell_m": 10,
            "presences_before": 4,
            "presences_after": 2,
            "presences_moved_share": (0 + 1 / 4 + 1 / 4 + 1 / 2) / 2,
            "cell_hours_before": 3,
            "cell_hours_after": 2,
            "cell_hours_kept_share": 1 / 3,
            "largest_error": 1,
            "top_1_kept_share": 1,
            "cells_moved_share": (0 + 1 / 4 + 1 / 4 + 1 / 2) / 2,
            "hours_moved_share": (1 / 4 + 1 / 4 + 1 / 2) / 2,
        }
    )
    hours, worst = score.charts
    assert hours.series[0].values[:3] == (3, 1, 0)
    assert hours.series[1].values[:3] == (1, 0, 1)
    assert worst.title == "The 4 largest changes"
    assert worst.labels == ("(-1, 0) @ 2 h", "(0, 0) @ 0 h", "(1, 0) @ 1 h", "(1, 1) @ 0 h")
    assert [s.values for s in worst.series] == [(0, 2, 1, 1), (1, 1, 0, 0)]


record = st.dictionaries(st.integers(0, 60), st.tuples(st.integers(-9, 9), st.integers(-9, 9)), max_size=6)
records = st.lists(record, max_size=5)


def points(some):
    return Points.from_records([[(t, float(x), float(y)) for t, (x, y) in sorted(r.items())] for r in some])


@settings(deadline=None, max_examples=150)
@given(records, records)
def test_against_counting(before, after):
    score = run(points(before), points(after), cell=4)
    rows = [(t, *p) for r in before for t, p in r.items()] or [(0, 0, 0)]
    first, last = min(t for t, _, _ in rows), max(t for t, _, _ in rows)
    width = -(-(last - first + 1) // 24)

    def count(some):
        found = Counter()
        for r in some:
            found.update({(x // 4, y // 4, (min(max(t, first), last) - first) // width) for t, (x, y) in r.items()})
        return found

    old, new = count(before), count(after)
    assert score.measured["presences_before"] == old.total()
    assert score.measured["presences_after"] == new.total()
    assert score.measured["cell_hours_before"] == len(old)
    assert score.measured["largest_error"] == max((abs(old[k] - new[k]) for k in old | new), default=0)
    assert score.measured["cell_hours_kept_share"] == (
        pytest.approx(len(old.keys() & new.keys()) / len(old)) if old else None
    )
    if old and new:
        apart = sum(abs(old[k] / old.total() - new[k] / new.total()) for k in old | new) / 2
        assert score.measured["presences_moved_share"] == pytest.approx(apart)
    assert score.value == (pytest.approx(1 - (old & new).total() / max(old.total(), new.total())) if old else None)


def test_boxes_count_in_each_cell_and_hour_with_the_share_that_lies_there():
    before = Points.from_records([[(0, 0.0, 0.0), (7200, 40.0, 40.0)]], time_format="epoch")
    exact = Boxes.from_records(
        [[(0, 0, 0.0, 10.0, 0.0, 10.0), (7200, 7300, 40.0, 50.0, 40.0, 50.0)]], time_format="epoch"
    )
    assert run(before, exact, cell=10).value == pytest.approx(0)
    # Half of the first box is in its cell; of the time of the second one, a half.
    wide = Boxes.from_records(
        [[(0, 0, 0.0, 20.0, 0.0, 10.0), (7200, 7200 + 7200, 40.0, 50.0, 40.0, 50.0)]], time_format="epoch"
    )
    score = run(before, wide, cell=10)
    assert score.value == pytest.approx(1 - (0.5 + 0.5) / 2)
    assert score.measured["presences_after"] == 2


def test_one_position_in_another_state_changes_nothing():
    rng = np.random.default_rng(3)
    before = [[(60 * i, *p) for i, p in enumerate(rng.uniform(0, 8000, (5, 2)).tolist())] for _ in range(100)]
    after = [[(t, x + rng.normal(0, 400), y) for t, x, y in record] for record in before]
    stray = [(0, 5_000_000.0, -3_000_000.0)]
    without, with_one = (
        run(Points.from_records([*before, *more]), Points.from_records([*after, *more])) for more in ([], [stray])
    )
    assert without.measured["cell_m"] == with_one.measured["cell_m"] == 500
    assert 0.2 < without.value < 1
    assert with_one.value == pytest.approx(without.value, abs=0.01)


def test_the_cells_are_a_sixteenth_of_the_longer_side():
    data = Points.from_records([[(0, 0.0, 0.0), (1, 32.0, 160.0)]])
    assert run(data, data).measured["cell_m"] == 10
    here = Points.from_records([[(0, 5.0, 5.0)]])
    assert run(here, here).measured["cell_m"] == 1


@pytest.mark.parametrize("records_", [[], [[], []]])
def test_nothing(records_):
    nothing, some = Points.from_records(records_), Points.from_records([[(0, 1.0, 1.0)]])
    score = run(some, nothing)
    assert (score.value, score.measured["largest_error"], len(score.charts)) == (1, 1, 2)
    assert run(nothing, some).charts == run(nothing, nothing).charts == ()
    assert run(nothing, nothing).value is None


def test_far_away():
    far = Points.from_records([[(0, -1e12, 0.0), (1, 1e12, 0.0)]])
    assert run(far, far).value == 0
    beyond = Points.from_records([[(0, -1e308, 0.0), (1, 1e308, 0.0)]])
    assert run(beyond, beyond, cell=1).value == 0


def test_data_that_cannot_be_compared_and_bad_parameters():
    one = [[(0, 1.0, 1.0)]]
    with pytest.raises(InputError, match=r"cell_hours: .* different frames"):
        run(Points.from_records(one), Points.from_records(one, frame=Frame(crs="EPSG:2100")))
    with pytest.raises(ParameterError, match="cell_hours: cell must be"):
        CellHours(cell=0)
    with pytest.raises(ParameterError, match="cell_hours: top must be"):
        CellHours(top=0)


def test_the_same_data_give_the_same_digits():
    rng = np.random.default_rng(1)
    before, after = (
        Points.from_records([[(60 * i, *rng.normal(0, 500, 2).tolist()) for i in range(40)] for _ in range(60)])
        for _ in range(2)
    )
    assert len({CellHours().run(before, after).measured["cells_moved_share"] for _ in range(20)}) == 1
