"""Origin-destination matrices that are small enough to count by hand."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.flows import OdMatrix
from wayveil.model import Boxes, Frame, Points


def trips(*ends, **more):
    """Trips are (x0, y0, x1, y1); on the way they are far off."""
    return Points.from_records([[(0, a, b), (1, 1000.0, 0.0), (2, c, d)] for a, b, c, d in ends], **more)


def run(before, after, **given_):
    return OdMatrix(**{"cell": 10, **given_}).run(before, after)


HOME, WORK, SHOP = (0.0, 0.0), (55.0, 0.0), (0.0, 75.0)


def test_all_numbers_of_a_small_matrix():
    before = trips(*[(*HOME, *WORK)] * 3, *[(*WORK, *HOME)] * 2, (*HOME, *SHOP))
    after = trips(*[(*HOME, *WORK)] * 2, *[(*SHOP, *HOME)] * 2)
    score = run(before, after)
    # 3/6 2/6 1/6 0 against 2/4 0 0 2/4
    assert score.value == pytest.approx(1 - 2 / 6)
    assert (score.name, score.better, score.percent) == ("od_matrix", "lower", True)
    assert score.measured == pytest.approx(
        {
            "cell_m": 10,
            "trips_before": 6,
            "trips_after": 4,
            "trips_moved_share": 0.5,
            "flows_before": 3,
            "flows_after": 2,
            "flows_kept_share": 1 / 3,
            "top_20_flows_kept_share": 1 / 3,
            # Origins: home 4/6, work 2/6 against home 2/4, shop 2/4.
            "origins_moved_share": 0.5,
            # Destinations: work 3/6, home 2/6, shop 1/6 against work 2/4, home 2/4.
            "destinations_moved_share": 1 / 6,
        }
    )
    (chart,) = score.charts
    assert chart.labels == ("(0, 0) → (5, 0)", "(5, 0) → (0, 0)", "(0, 0) → (0, 7)")
    assert [s.values for s in chart.series] == [(3, 2, 1), (2, 0, 0)]
    assert [s.name for s in chart.series] == ["original", "published"]


place = st.integers(-30, 30).map(float)
some = st.lists(st.tuples(place, place, place, place), min_size=1, max_size=8)


@settings(deadline=None, max_examples=60)
@given(some, some, st.sampled_from([1, 7.5, 100]))
def test_the_distance_of_the_two_matrices(before, after, cell):
    old, new = (Counter(tuple(v // cell for v in e) for e in ends) for ends in (before, after))
    score = run(trips(*before), trips(*after), cell=cell)
    moved = sum(abs(old[f] / len(before) - new[f] / len(after)) for f in old | new) / 2
    assert score.measured["trips_moved_share"] == pytest.approx(moved)
    assert score.value == pytest.approx(1 - (old & new).total() / max(len(before), len(after)))


def test_a_loss_that_is_even_counts():
    before = trips(*[(*HOME, *WORK)] * 4, *[(*WORK, *HOME)] * 2)
    after = trips(*[(*HOME, *WORK)] * 2, *[(*WORK, *HOME)] * 1)
    score = run(before, after)
    assert score.value == pytest.approx(0.5)
    assert score.measured["trips_moved_share"] == pytest.approx(0)


def test_one_position_in_another_state_changes_nothing():
    rng = np.random.default_rng(3)
    ends = rng.uniform(0, 8000, (300, 4))
    moved = ends + rng.normal(0, 400, ends.shape)
    stray = [5_000_000.0, -3_000_000.0, 0.0, 0.0]
    without = run(trips(*ends.tolist()), trips(*moved.tolist()), cell="auto")
    with_one = run(trips(*ends.tolist(), stray), trips(*moved.tolist(), stray), cell="auto")
    assert without.measured["cell_m"] == with_one.measured["cell_m"] == 500
    assert 0.3 < without.value < 1
    assert with_one.value == pytest.approx(without.value, abs=0.01)


def test_a_point_on_a_border_belongs_to_the_cell_above_it():
    before = trips((0, 0, 10, 0))
    assert run(before, trips((9.9, 9.9, 19.9, 9.9))).value == 0
    assert run(before, trips((0, 0, 9.9, 0))).value == 1
    assert run(before, trips((0, -0.1, 10, 0))).value == 1


def test_auto_is_a_sixteenth_of_the_longer_side():
    before = Points.from_records([[(0, 0.0, 0.0), (1, 160.0, 32.0)]])
    assert run(before, before, cell="auto").measured["cell_m"] == 10


def test_boxes_count_in_each_cell_with_the_share_that_lies_there():
    before = Points.from_records([[(0, 0.0, 0.0), (1, 55.0, 0.0)]])
    after = Boxes.from_records([[(0, 0, 5.0, 15.0, 0.0, 4.0), (5, 5, 40.0, 60.0, 0.0, 40.0)], []])
    score = run(before, after)
    assert score.value == pytest.approx(1 - 1 / 2 * 1 / 2 * 1 / 4)
    assert score.measured["trips_after"] == 1
    assert score.measured["origins_moved_share"] == pytest.approx(1 / 2)
    assert score.measured["destinations_moved_share"] == pytest.approx(7 / 8)
    exact = Boxes.from_records([[(0, 0, 0.0, 10.0, 0.0, 10.0), (5, 5, 55.0, 55.0, 0.0, 0.0)]])
    assert run(before, exact).value == pytest.approx(0)


def test_a_wide_box_does_not_put_everybody_into_the_middle_of_town():
    """The centre of a box over the whole town is nobody's place; spread evenly, it tells little of any flow."""
    middle, edge = (45.0, 45.0), (5.0, 5.0)
    before = trips(*[(*middle, *middle)] * 9, (*edge, *middle))
    wide = Boxes.from_records([[(0, 0, 0.0, 90.0, 0.0, 90.0)]] * 10)
    score = run(before, wide)
    assert score.measured["trips_after"] == 10
    assert score.value == pytest.approx(1 - 2 * 10 / 81**2 / 10)


def test_the_largest_flows_are_compared_and_ties_count_as_in():
    before = trips(*[(0, 0, 10.0 * i, 0) for i in range(5) for _ in range(9 - i)])
    after = trips(*[(0, 0, 10.0 * i, 0) for i in range(1, 5) for _ in range(3)])
    assert run(before, after, top=3).measured["top_3_flows_kept_share"] == pytest.approx(2 / 3)
    fewer = trips(*[(0, 0, 10.0 * i, 0) for i in (4, 4, 3, 3, 2, 2, 1, 1, 0)])
    assert run(before, fewer, top=2).measured["top_2_flows_kept_share"] == pytest.approx(1 / 2)


def test_twelve_flows_are_drawn():
    before = trips(*[(0, 0, 10.0 * i, 0) for i in range(20) for _ in range(20 - i)])
    (chart,) = run(before, before).charts
    assert len(chart.labels) == 12
    assert chart.title == "The 12 largest flows"
    assert run(trips((0, 0, 0, 0)), before).charts[0].title == "The largest flow"


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing_published(records):
    score = run(trips((0, 0, 10, 0)), Points.from_records(records))
    assert score.value == 1
    assert score.measured["flows_kept_share"] == 0
    assert score.measured["top_20_flows_kept_share"] == 0
    assert score.charts[0].series[1].values == (0,)
    nothing = Points.from_records(records)
    empty = OdMatrix().run(nothing, nothing)
    assert empty.value is None
    assert empty.charts == ()
    assert empty.measured["flows_kept_share"] is None


def test_single_points_and_equal_points():
    data = Points.from_records([[(0, 5.0, 5.0)], [(0, 5.0, 5.0)]])
    score = OdMatrix().run(data, data)
    assert score.value == 0
    assert score.measured["flows_before"] == 1
    assert score.measured["cell_m"] == 1


def test_huge_coordinates():
    far = Points.from_records([[(0, -1e12, 0.0), (1, 1e12, 0.0)]])
    assert OdMatrix().run(far, far).value == 0
    assert run(far, far, cell=0.001).value == 0
    beyond = run(trips((0, 0, 0, 0)), trips((0, 0, 1e300, 0), (0, 0, -1e300, 0), (0, 0, -1e299, 0)))
    assert beyond.value == pytest.approx(1)
    assert beyond.measured["flows_after"] == 2
    assert run(trips((0, 0, 0, 0)), trips((1e308, 0, 0, 0)), cell=0.001).value == 1


def test_bad_parameters_and_data():
    with pytest.raises(ParameterError, match=r"od_matrix: cell must be a number >= 0.001 or 'auto'"):
        OdMatrix(cell=0)
    with pytest.raises(InputError, match="different frames"):
        run(trips((0, 0, 0, 0)), trips((0, 0, 0, 0), frame=Frame(crs="EPSG:2100")))
