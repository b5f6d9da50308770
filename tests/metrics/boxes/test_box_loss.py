"""Box loss on the worked example of the graph partition and on data that are small enough to count by hand."""

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.metrics.boxes.box_loss import BoxLoss
from wayveil.model import Boxes, Frame, Points


def ten_trajectories():
    """Three groups of three that move together, and one far off that is dropped."""
    starts = [(x, y) for x0 in (0, 8, 16) for x, y in ((x0, 0), (x0 + 1, 1), (x0 + 2, 0))] + [(100, 50)]
    before = [[(t, x + 5.0 * t, float(y)) for t in range(3)] for x, y in starts]
    boxes = [[(t, t, x0 + 5.0 * t, x0 + 2 + 5.0 * t, 0.0, 1.0) for t in range(3)] for x0 in (0, 8, 16) for _ in "abc"]
    return Points.from_records(before, owner=[0, 0, 1, 2, 2, 3, 4, 5, 5, 6]), Boxes.from_records([*boxes, []])


def test_the_worked_example_in_both_forms():
    score = BoxLoss().run(*ten_trajectories())
    measured = score.measured
    assert measured["whole_area_m2"] == 5500
    assert measured["information_given_up_printed"] == pytest.approx(3.0032727272727273)
    assert measured["information_given_up_per_sample"] == pytest.approx(3.009818181818182)
    assert score.value == pytest.approx(0.10032727272727274)
    assert measured["trajectories_published_share"] == pytest.approx(0.9)
    assert (score.name, score.better, score.percent) == ("box_loss", "lower", True)


def test_the_other_numbers_of_the_worked_example():
    measured = BoxLoss().run(*ten_trajectories()).measured
    assert measured["owners_published_share"] == pytest.approx(6 / 7)
    assert measured["samples_lost_share"] == pytest.approx(0.1)
    assert (measured["boxes"], measured["groups"]) == (27, 3)
    assert measured["discernibility"] == 3 * 3**2 + 1 * 10
    assert (measured["average_box_m2"], measured["middle_box_m2"], measured["largest_box_m2"]) == (2, 2, 2)
    assert measured["average_box_duration"] == 0


def test_the_whole_area_can_be_given():
    score = BoxLoss(max_area=100).run(*ten_trajectories())
    assert score.measured["information_given_up_per_sample"] == pytest.approx(27 * 0.02 + 3)
    assert score.measured["information_given_up_printed"] == pytest.approx(9 * 0.02 + 3)
    assert score.measured["whole_area_m2"] == 100


def test_a_box_larger_than_the_whole_is_no_more_than_the_whole():
    score = BoxLoss(max_area=1).run(*ten_trajectories())
    assert score.value == 1
    assert score.measured["information_given_up_printed"] == 9 * 2 + 3


def test_a_sample_without_a_box_at_its_time_is_lost():
    before = Points.from_records([[(t, float(t), float(t)) for t in range(5)]])
    after = Boxes.from_records([[(1, 2, 0.0, 2.0, 0.0, 2.0), (2, 3, 1.0, 2.0, 1.0, 2.0)]])
    score = BoxLoss().run(before, after)
    # Of an area of 16: lost, 4, the smaller of 4 and 1, 1, lost.
    assert score.measured["information_given_up_per_sample"] == pytest.approx(1 + 4 / 16 + 1 / 16 + 1 / 16 + 1)
    assert score.measured["samples_lost_share"] == pytest.approx(0.4)
    assert score.measured["trajectories_published_share"] == 1
    # The printed form does not see samples that are lost with their trajectory still there.
    assert score.measured["information_given_up_printed"] == pytest.approx(5 / 16)
    assert score.measured["average_box_duration"] == 1
    assert (score.measured["average_box_m2"], score.measured["middle_box_m2"]) == (2.5, 2.5)
    assert score.measured["largest_box_m2"] == 4


def test_durations_are_in_seconds_where_times_are_dates():
    before = Points.from_records([[(0, 0.0, 0.0)]], time_format="utc")
    after = Boxes.from_records([[(0, 5_000_000, 0.0, 0.0, 0.0, 0.0)]], time_format="utc")
    assert BoxLoss().run(before, after).measured["average_box_duration"] == pytest.approx(5)


def test_groups_are_equal_in_every_column():
    box = (0, 1, 0.0, 1.0, 0.0, 1.0)
    others = [(0, 2, *box[2:]), *(tuple(v + (c == i) * 0.5 for i, v in enumerate(box)) for c in (3, 5))]
    others += [(0, 1, -0.5, 1.0, 0.0, 1.0), (0, 1, 0.0, 1.0, -0.5, 1.0), (1, 1, *box[2:])]
    records = [[box], [(0, 1, -0.0, 1.0, -0.0, 1.0)], *([other] for other in others)]
    before = Points.from_records([[(0, 0.0, 0.0), (1, 2.0, 2.0)]] * len(records))
    measured = BoxLoss().run(before, Boxes.from_records(records)).measured
    assert measured["groups"] == 7
    assert measured["discernibility"] == 4 + 6


def test_the_chart_is_a_distribution_of_areas():
    (chart,) = BoxLoss().run(*ten_trajectories()).charts
    assert chart.x_label == "area in m²"
    assert sum(chart.series[0].values) == pytest.approx(1)


def test_unknown_owners_are_not_counted():
    before = Points.from_records([[(0, 0.0, 0.0)]])
    assert BoxLoss().run(before, Boxes.from_records([[]])).measured["owners_published_share"] is None


def test_trajectories_that_never_had_a_row_do_not_count():
    before = Points.from_records([[(0, 0.0, 0.0)], [], [(0, 4.0, 4.0)]], owner=[0, 1, 2])
    after = Boxes.from_records([[(0, 0, 0.0, 4.0, 0.0, 4.0)], [], []])
    measured = BoxLoss().run(before, after).measured
    assert measured["trajectories_published_share"] == measured["owners_published_share"] == 0.5
    assert measured["discernibility"] == 1 + 2
    invented = Boxes.from_records([[], [(0, 0, 0.0, 4.0, 0.0, 4.0)], []])
    measured = BoxLoss().run(before, invented).measured
    assert measured["trajectories_published_share"] == measured["owners_published_share"] == 0


def test_nothing_published():
    before, after = ten_trajectories()
    score = BoxLoss().run(before, after.where(np.zeros(after.n_rows, bool)))
    assert score.value == 1
    assert score.charts == ()
    assert score.measured["trajectories_published_share"] == 0
    assert score.measured["discernibility"] == 100
    assert score.measured["groups"] == 0
    assert score.measured["average_box_m2"] is None
    assert score.measured["information_given_up_printed"] == 30


@pytest.mark.parametrize("records", [[], [[]]])
def test_nothing_at_all(records):
    score = BoxLoss().run(Points.from_records(records), Boxes.from_records(records))
    assert score.value is None
    assert score.measured["trajectories_published_share"] is None
    assert score.measured["samples_lost_share"] is None
    owned = Points.from_records(records, owner=range(len(records)))
    assert BoxLoss().run(owned, Boxes.from_records(records)).measured["owners_published_share"] is None


def test_all_points_equal():
    before = Points.from_records([[(0, 1.0, 1.0)]] * 2)
    score = BoxLoss().run(before, Boxes.from_records([[(0, 0, 1.0, 1.0, 1.0, 1.0)]] * 2))
    assert score.value == 0
    assert score.measured["information_given_up_printed"] is None
    larger = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 1.0)]] * 2)
    assert BoxLoss().run(before, larger).value == 1


def test_huge_coordinates():
    before = Points.from_records([[(0, 1e12, 0.0), (1, 0.0, 1e12)]])
    after = Boxes.from_records([[(0, 1, 0.0, 1e12, 0.0, 1e12)]])
    assert BoxLoss().run(before, after).value == 1
    beyond = Boxes.from_records([[(0, 1, -1e300, 1e300, -1e300, 1e300)]])
    assert BoxLoss().run(before, beyond).value == 1
    assert BoxLoss().run(before, beyond).measured["largest_box_m2"] is None


def test_data_that_cannot_be_compared():
    before, after = ten_trajectories()
    with pytest.raises(InputError, match="original has 10 and the published data 3"):
        BoxLoss().run(before, after.take(np.arange(3)))
    with pytest.raises(InputError, match="different frames"):
        BoxLoss().run(before, Boxes.from_records([[]] * 10, frame=Frame(crs="EPSG:2100")))
