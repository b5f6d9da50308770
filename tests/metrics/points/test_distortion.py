"""Distortion on data that are small enough to measure by hand."""

import math

import numpy as np
import pytest

from wayveil.errors import InputError, ParameterError
from wayveil.metrics.points.distortion import Distortion
from wayveil.model import Frame, Points


def points(*records, **more):
    return Points.from_records(records, **more)


def never_walk_alone():
    """The worked example of (k,delta)-anonymity with k=2 and delta=2: five objects, one of them is not published."""
    before = points(
        [(0, 0.0, 0.0), (1, 10.0, 0.0)], [(0, 0.0, 3.0), (1, 10.0, 1.0)], [(0, 50.0, 0.0), (1, 60.0, 0.0)],
        [(0, 50.0, 1.0), (1, 60.0, 2.0)], [(0, 500.0, 500.0), (1, 500.0, 500.0)],
    )  # fmt: skip
    after = points(
        [(0, 0.0, 0.5), (1, 10.0, 0.0)], [(0, 0.0, 2.5), (1, 10.0, 1.0)], [(0, 50.0, 0.0), (1, 60.0, 0.0)],
        [(0, 50.0, 1.0), (1, 60.0, 2.0)], [],
    )  # fmt: skip
    return before, after


def test_the_worked_example():
    score = Distortion().run(*never_walk_alone())
    diagonal = math.hypot(500, 500)
    assert score.value == pytest.approx(1 / 8)
    assert (score.name, score.better, score.percent) == ("distortion", "lower", False)
    assert score.measured == pytest.approx(
        {
            "points_published": 8,
            "total_translation_m": 1.0,
            "largest_translation_m": 0.5,
            "points_moved_share": 0.25,
            "time_shift_mean": 0.0,
            "time_shift_largest": 0.0,
            "points_outside_their_time_share": 0.0,
            "trash_trajectories": 1,
            "trash_trajectories_share": 0.2,
            "trash_points": 2,
            "points_created": 0,
            "points_deleted": 0,
            "omega_m": diagonal,
            "total_distortion_m": 1 + 2 * diagonal,
        }
    )


def test_omega_is_the_price_of_a_point_that_is_left_out():
    assert Distortion(omega=7).run(*never_walk_alone()).measured["total_distortion_m"] == pytest.approx(15)
    assert Distortion(omega=0).run(*never_walk_alone()).measured["total_distortion_m"] == pytest.approx(1)
    with pytest.raises(ParameterError, match="distortion: omega must be a number >= 0 or 'auto'"):
        Distortion(omega=-1)


def test_other_times_are_compared_with_the_way_between_and_the_nearest_end():
    before = points([(10, 0.0, 0.0), (20, 10.0, 0.0)])
    after = points([(0, 0.0, 1.0), (14, 4.0, 2.0), (20, 10.0, 3.0), (90, 10.0, 4.0)])
    score = Distortion().run(before, after)
    assert score.measured["total_translation_m"] == pytest.approx(10)
    assert score.value == pytest.approx(2.5)


def test_points_created_and_deleted_do_not_cancel_out():
    before = points([(0, 0.0, 0.0)], [(0, 0.0, 0.0), (1, 0.0, 0.0), (2, 0.0, 0.0)], [(0, 0.0, 0.0), (1, 0.0, 0.0)])
    after = points([(0, 0.0, 0.0), (1, 0.0, 0.0), (2, 0.0, 0.0)], [(0, 0.0, 0.0)], [])
    measured = Distortion().run(before, after).measured
    assert (measured["points_created"], measured["points_deleted"], measured["trash_points"]) == (2, 2, 2)


def test_points_out_of_nothing_are_created_and_not_moved():
    score = Distortion().run(points([], [(0, 0.0, 0.0)], []), points([(0, 5.0, 5.0)], [(0, 0.0, 2.0)], []))
    assert score.value == 2
    assert score.measured["points_created"] == 1
    assert score.measured["trash_trajectories"] == 0
    assert Distortion().run(points([]), points([(0, 5.0, 5.0)])).value is None


def test_the_chart_is_a_distribution_of_the_published_points():
    (chart,) = Distortion().run(*never_walk_alone()).charts
    assert chart.series[0].values[0] == 0.75
    assert sum(chart.series[0].values) == pytest.approx(1)
    assert chart.x_label == "distance in m"


def test_nothing_published():
    before, _ = never_walk_alone()
    score = Distortion(omega=1).run(before, before.where(np.zeros(before.n_rows, bool)))
    assert score.value is None
    assert score.charts == ()
    assert score.measured["trash_trajectories_share"] == 1
    assert score.measured["total_distortion_m"] == 10
    assert score.measured["largest_translation_m"] is None


@pytest.mark.parametrize("records", [[], [[]]])
def test_nothing_at_all(records):
    score = Distortion().run(points(*records), points(*records))
    assert score.value is None
    assert score.measured["trash_trajectories_share"] is None


def test_all_points_equal_and_single_points():
    data = points([(0, 7.0, 7.0)], [(5, 7.0, 7.0)])
    score = Distortion().run(data, data)
    assert score.value == 0
    assert score.measured["omega_m"] == 0


def test_huge_coordinates():
    far = points([(0, 1e12, 1e12), (1, -1e12, 1e12)])
    assert Distortion().run(far, points([(0, 1e12, 1e12), (1, -1e12, 1e12 + 3)])).value == 1.5
    score = Distortion().run(points([(0, 1e308, 0.0), (1, 0.0, 0.0)]), points([(0, 0.0, 0.0), (1, 1e308, 0.0)]))
    assert score.value is None
    score = Distortion().run(points([(0, 1e308, 0.0)]), points([(0, -1e308, 0.0)]))
    assert score.value is None
    assert score.charts == ()


def test_data_that_cannot_be_compared():
    before, after = never_walk_alone()
    with pytest.raises(InputError, match="Leave those that are not published without rows"):
        Distortion().run(before, after.take(np.arange(4)))
    with pytest.raises(InputError, match="different frames"):
        Distortion().run(before, points(*[[]] * 5, frame=Frame(crs="EPSG:2100")))


def test_the_shift_in_time() -> None:
    """Two points before the trip, one during it and one after; a trajectory that had no points has no time."""
    before = Points.from_records([[], [(100, 0.0, 0.0), (200, 9.0, 0.0)], [(5, 0.0, 0.0)]], time_format="epoch")
    moved = [(t, 0.0, 0.0) for t in (40, 70, 150, 230)]
    after = Points.from_records([[(0, 0.0, 0.0)], moved, []], time_format="epoch")
    measured = Distortion().run(before, after).measured
    assert measured["time_shift_mean"] == pytest.approx((60 + 30 + 30) / 4)
    assert measured["time_shift_largest"] == 60
    assert measured["points_outside_their_time_share"] == 0.75
    micro = [Points.from_records([[(t * 1_000_000, x, y) for t, x, y in data.record(i)] for i in range(3)],
                                 time_format="utc") for data in (before, after)]  # fmt: skip
    assert Distortion().run(*micro).measured["time_shift_mean"] == pytest.approx(30)
