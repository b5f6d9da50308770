"""Names and times of two data sets, side by side."""

import numpy as np
import pytest

from wayveil.errors import InputError
from wayveil.metrics.visits.aligned import check_times, hour_of_day, time_label
from wayveil.model import Visits

HOUR_US = 3_600_000_000


@pytest.mark.parametrize(
    ("t", "time_format", "label"),
    [
        (-3, "integer", "-3"),
        (0, "epoch", "1970-01-01 00:00 UTC"),
        (7 * 3600 + 5, "epoch", "1970-01-01 07:00:05 UTC"),
        (25 * HOUR_US, "utc", "1970-01-02 01:00 UTC"),
        (25 * HOUR_US + 30_000_000, "local", "1970-01-02 01:00:30"),
        (500_000, "local", "1970-01-01 00:00:00.5"),
    ],
)
def test_time_labels_are_readable(t, time_format, label):
    assert time_label(t, time_format) == label


def test_hours_of_the_day_also_before_1970():
    assert hour_of_day(np.array([0, 3599, 3600, 90_000, -1]), "epoch").tolist() == [0, 0, 1, 1, 23]
    assert hour_of_day(np.array([0, HOUR_US, 25 * HOUR_US, -1]), "utc").tolist() == [0, 1, 1, 23]


def test_times_of_different_kinds_are_not_compared():
    utc = Visits.from_records([[("a", 1)]], time_format="utc")
    local = Visits.from_records([[("a", 1)]], time_format="local")
    with pytest.raises(InputError, match=r"^instance_loss: the times .* \(utc\) .* \(local\) cannot be compared"):
        check_times("instance_loss", utc, local)
    check_times("instance_loss", Visits.from_records([]), Visits.from_records([], time_format="epoch"))
