"""Range queries as a metric: the queries, the error, and what is said of it; the counting is tested with the kernel."""

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.points.range_queries import RangeQueries, boxes_of
from wayveil.model import Boxes, Frame, Points


def resting(*places, until=100, **more):
    """One object per place (x, y) that rests there from 0 on."""
    return Points.from_records([[(0, x, y), (until, x, y)] for x, y in places], **more)


def city(n=200, seed=3):
    rng = np.random.default_rng(seed)
    steps = np.cumsum(rng.normal(0, 30, (n, 20, 2)), axis=1) + rng.uniform(0, 3000, (n, 1, 2))
    return Points.from_records([[(60 * t, *map(float, steps[i, t])) for t in range(20)] for i in range(n)])


def run(before, after, **given):
    return RangeQueries(**{"queries": 60, **given}).run(before, after)


def test_the_error_is_relative_to_the_original():
    score = run(resting(*[(5.0, 5.0)] * 10), resting(*[(5.0, 5.0)] * 7))
    assert score.value == pytest.approx(0.3)
    assert (score.name, score.better, score.percent) == ("range_queries", "lower", True)
    numbers = {
        "average_error": 0.3, "middle_error": 0.3, "exact_share": 0, "answered_share": 1, "average_count_before": 10,
        "average_count_after": 7,
    }  # fmt: skip
    expected = {"queries": 60, "radius_m": 0, "sanity_bound": 1}
    expected |= {"expected_average_count_before": 10, "expected_average_count_after": 7}
    for kind in ("possibly", "definitely"):
        expected |= {f"{kind}_inside_{name}": value for name, value in numbers.items()}
    assert score.measured == pytest.approx(expected)


def test_more_than_before_is_an_error_too():
    score = run(resting((0.0, 0.0)), resting(*[(0.0, 0.0)] * 4))
    assert score.value == pytest.approx(3 / 4)
    assert score.measured["possibly_inside_average_error"] == pytest.approx(3)


def test_small_counts_are_held_against_a_thousandth_of_the_trajectories():
    crowd = [[(0, 0.0, 0.0), (100, 0.0, 0.0)]] * 1999
    far = [(t, 10_000.0, 0.0) for t in range(101)]  # so many points that some queries ask for it
    before = Points.from_records([*crowd, far])
    score = run(before, before.take(np.arange(1999)), queries=300)
    asked_there = 1 - score.measured["possibly_inside_exact_share"]
    assert score.measured["sanity_bound"] == 2
    assert asked_there > 0
    assert score.measured["possibly_inside_average_error"] == pytest.approx(asked_there * 1 / 2)


def test_trajectories_without_rows_do_not_count_for_the_sanity_bound():
    data = Points.from_records([*[[(0, 0.0, 0.0)]] * 1500, *[[]] * 1000])
    assert run(data, data).measured["sanity_bound"] == 1.5


def test_same_data_have_no_error_and_another_order_neither():
    data = city()
    score = run(data, data.take(np.arange(len(data))[::-1]))
    assert score.value == 0
    assert score.measured["possibly_inside_exact_share"] == 1
    assert score.measured["possibly_inside_answered_share"] == 1


def test_moved_data_have_an_error_and_the_radius_forgives():
    before = city()
    after = Points(offsets=before.offsets, t=before.t, x=before.x + 200, y=before.y, owner=before.owner)
    strict, mild = run(before, after), run(before, after, radius=3000)
    errors = [score.measured["possibly_inside_average_error"] for score in (mild, strict)]
    assert 0 < errors[0] < errors[1]
    assert mild.value == strict.value > 0.5
    assert mild.measured["radius_m"] == 3000


def usual(values):
    """From the 2.5 % smallest to the 2.5 % largest."""
    ordered = np.sort(values)
    out = int(0.025 * (len(ordered) - 1))
    return float(ordered[out]), float(ordered[len(ordered) - 1 - out])


def usual_extent(data):
    return max(high - low for low, high in (usual(data.x), usual(data.y)))


def test_the_queries_are_as_documented():
    data = city()
    asked = RangeQueries(queries=3000)._ask(data)
    span = 60 * 19
    side, length = 2 * asked.half / usual_extent(data), (asked.end - asked.begin) / span
    assert 0.001 <= side.min() < 0.0015
    assert 0.0195 < side.max() <= 0.02
    assert 0.01 <= length.min() < 0.0115
    assert 0.0985 < length.max() <= 0.1 + 1e-12
    assert asked.begin.min() >= 0
    assert asked.end.max() <= span  # exactly, or nobody could be inside to the end
    assert set(zip(asked.x.tolist(), asked.y.tolist(), strict=True)) <= set(
        zip(data.x.tolist(), data.y.tolist(), strict=True)
    )
    row_of = {x: t for x, t in zip(data.x.tolist(), data.t.tolist(), strict=True)}
    apart = np.abs((asked.begin + asked.end) / 2 - [row_of[x] for x in asked.x.tolist()])
    assert (apart <= 0.05 * span + 1e-9).all()
    assert np.median(apart) < 1e-9


def test_uniform_centres_fill_the_extent():
    data = city()
    asked = RangeQueries(queries=2000, centres="uniform")._ask(data)
    for values, column in ((asked.x, data.x), (asked.y, data.y)):
        low, high = usual(column)
        spread = (values - low) / (high - low)
        assert -1e-12 <= spread.min() < 0.01
        assert 0.99 < spread.max() <= 1 + 1e-12
        assert abs(np.median(spread) - 0.5) < 0.05
    assert abs(np.median(asked.begin + asked.end) / 2 / 1140 - 0.5) < 0.05


def test_side_and_duration_set_the_largest():
    asked = RangeQueries(queries=500, side=0.5, duration=1)._ask(city())
    extent = usual_extent(city())
    assert 2 * asked.half.min() / extent >= 0.025
    assert 0.45 < 2 * asked.half.max() / extent <= 0.5
    assert 1000 < (asked.end - asked.begin).max() <= 1140


def test_the_same_seed_asks_the_same():
    before, after = city(), city(seed=4)
    assert run(before, after, seed=8) == run(before, after, seed=8)
    assert run(before, after, seed=8).value != run(before, after, seed=9).value


def test_auto_radius_is_a_quarter_of_the_smallest_side():
    before = resting((0.0, 0.0), (10_000.0, 0.0))
    assert run(before, before).measured["radius_m"] == pytest.approx(2.5)
    assert run(before, before, side=1).measured["radius_m"] == pytest.approx(125)


def test_discs_are_smaller_than_squares():
    data = city(400)
    square, disc = (run(data, data, shape=s, radius=0, side=0.2).measured for s in ("square", "disc"))
    assert disc["possibly_inside_average_count_before"] < square["possibly_inside_average_count_before"]


def test_boxes_possibly_hold_more_and_definitely_less():
    before = city()
    wide = 40.0
    after = Boxes(
        offsets=before.offsets, t_min=before.t, t_max=before.t, x_min=before.x - wide, x_max=before.x + wide,
        y_min=before.y - wide, y_max=before.y + wide, owner=before.owner,
    )  # fmt: skip
    measured = run(before, after, side=0.2, duration=0.02, radius=0).measured
    assert measured["possibly_inside_average_count_after"] > measured["possibly_inside_average_count_before"] > 0
    assert 0 < measured["definitely_inside_average_count_after"] < measured["definitely_inside_average_count_before"]


def test_boxes_are_expected_where_they_lie():
    """Boxes over all of town touch every region: three times too many are possible, but no more are to be expected."""
    before = city()
    ends = [float(f(column)) for column in (before.x, before.y) for f in (np.min, np.max)]
    everywhere = Boxes.from_records([[(0, 60 * 19, *ends)]] * len(before))
    score = run(before, everywhere)
    assert score.measured["possibly_inside_average_error"] > 10
    assert 0.5 < score.value < 1
    assert score.measured["expected_average_count_after"] < score.measured["possibly_inside_average_count_after"] / 100


def test_one_position_in_another_state_changes_little():
    before = city()
    records = [before.record(i) for i in range(len(before))]
    stray = Points.from_records([*records, [(0, 5e6, -3e6)]])
    moved = Points(offsets=stray.offsets, t=stray.t, x=stray.x + 20, y=stray.y, owner=stray.owner)
    alone = Points(offsets=before.offsets, t=before.t, x=before.x + 20, y=before.y, owner=before.owner)
    one, other = run(before, alone, queries=400), run(stray, moved, queries=400)
    assert other.measured["radius_m"] == pytest.approx(one.measured["radius_m"], rel=0.02)
    assert 0 < one.value < 1
    assert other.value == pytest.approx(one.value, abs=0.08)


def test_points_and_boxes_without_extent_are_the_same():
    data = city(50)
    flat = Boxes(
        offsets=data.offsets, t_min=data.t, t_max=data.t, x_min=data.x, x_max=data.x, y_min=data.y, y_max=data.y,
        owner=data.owner,
    )  # fmt: skip
    assert all((a == b).all() for a, b in zip(boxes_of(data), boxes_of(flat), strict=True))
    assert run(data, flat).value == 0


def test_an_error_that_no_query_shows_is_left_empty():
    """A region smaller than the uncertainty holds nobody definitely, so there is nothing to be wrong about."""
    score = run(city(), city(), radius=1e6)
    assert score.value == 0
    assert score.measured["definitely_inside_average_error"] is None
    assert score.measured["definitely_inside_answered_share"] == 0


def test_answers_that_only_the_publication_has_are_errors():
    before = Points.from_records([[(0, 0.0, 0.0), (100, 1000.0, 0.0)]])
    measured = run(before, resting((0.0, 0.0), (1000.0, 0.0)), radius=0).measured
    assert measured["definitely_inside_answered_share"] == 0
    assert measured["definitely_inside_average_error"] == 1


def test_the_charts():
    errors, sizes = run(resting(*[(5.0, 5.0)] * 10), resting(*[(5.0, 5.0)] * 7)).charts
    assert errors.labels == ("0 %", "0-10 %", "10-20 %", "20-30 %", "30-50 %", "50-100 %", "> 100 %")
    assert errors.series[0].values == (0, 0, 0, 1, 0, 0, 0)
    assert [s.name for s in errors.series] == ["possibly sometime", "definitely always"]
    assert len(sizes.labels) == 5
    assert sizes.series[0].values == pytest.approx((0.3,) * 5)
    exact = run(city(), city(), queries=2).charts
    assert exact[0].series[0].values[0] == 1
    assert len(exact[1].labels) == 2


def test_errors_by_size_are_in_the_order_of_size():
    before = city()
    after = Points(offsets=before.offsets, t=before.t, x=before.x + 30, y=before.y, owner=before.owner)
    chart = run(before, after, queries=1000).charts[1]
    sides = [float(label.split()[1].replace(",", "")) for label in chart.labels]
    assert sides == sorted(sides)
    assert chart.series[0].values[0] > chart.series[0].values[-1]


@pytest.mark.parametrize("records", [[], [[], []]])
def test_nothing_published(records):
    score = run(resting(*[(0.0, 0.0)] * 3), Points.from_records(records))
    assert score.value == 1
    nothing = Points.from_records(records)
    empty = run(nothing, nothing)
    assert empty.value is None
    assert empty.measured["queries"] == 0
    assert empty.measured["possibly_inside_answered_share"] is None
    assert empty.charts == ()
    assert run(nothing, nothing, centres="uniform").value is None


def test_single_points_are_asked_for_too():
    data = Points.from_records([[(5, 1.0, 1.0)], [(5, 1.0, 1.0)]])
    assert run(data, data.take(np.array([0]))).value == 0.5
    assert run(data, data, centres="uniform").value == 0


def test_huge_coordinates():
    far = resting((1e12, 1e12), (-1e12, 1e12))
    assert run(far, far).value == 0
    with pytest.raises(InputError, match="span more than"):
        run(resting((1e308, 0.0), (-1e308, 0.0)), far)
    assert run(resting((0.0, 0.0)), resting((1e308, -1e308))).value == 1


def test_bad_parameters_and_data():
    with pytest.raises(ParameterError, match="range_queries: queries must be an integer from 1 to 100000"):
        RangeQueries(queries=0)
    with pytest.raises(ParameterError, match="radius must be a number from 0 to 1e\\+09 or 'auto'"):
        RangeQueries(radius=-1)
    with pytest.raises(ParameterError, match="shape must be one of square, disc"):
        RangeQueries(shape="star")
    with pytest.raises(InputError, match="different frames"):
        run(resting((0.0, 0.0)), resting((0.0, 0.0), frame=Frame(crs="EPSG:2100")))
