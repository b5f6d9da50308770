"""Ladders of resolutions: they fit the extent and the sampling of the data."""

import numpy as np
import pytest

from wayveil.attacks.visits.resolutions import ANY_TIME, EXACT, Bucket, bucket_of, buckets, cell_name, cells, check_cell
from wayveil.errors import InputError, ParameterError

WIDTHS = (60, 900, 3600, 86_400)


def names(t, time_format="epoch", exact=False, widths=WIDTHS):
    return [bucket.name for bucket in buckets(np.array(t, np.int64), time_format, widths, exact=exact)]


def test_widths_between_the_tick_and_the_extent():
    assert names([0, 7, 10 * 86_400]) == ["1min", "15min", "1h", "1d", "any time"]
    assert names([0, 7, 4000]) == ["1min", "15min", "1h", "any time"]
    assert names([0, 7, 3600]) == ["1min", "15min", "any time"]
    assert names([7, 7]) == ["any time"]
    assert names([300, 900, 4500]) == ["exact", "15min", "1h", "any time"]
    assert names([0, 7, 4000], exact=True) == ["exact", "1min", "15min", "1h", "any time"]
    assert names([0, 7_000_000, 4000_000_000], "utc") == ["1min", "15min", "1h", "any time"]
    assert names([-3600, 0, 86_400]) == ["exact", "1d", "any time"]
    assert names([0, 50, 100], widths=(30, 90)) == ["exact", "90s", "any time"]


def test_buckets_of_shifted_times_are_not_exact():
    """All times are 7 past: their differences are whole hours, but buckets start at 0."""
    assert names([7, 3607, 7207])[0] == "1min"


def test_plain_integers_have_multiples_of_their_tick():
    assert names(range(24), "integer") == ["exact", "4", "16", "any time"]
    assert names([0, 10, 60], "integer") == ["exact", "40", "any time"]
    assert names([0, 1, 4**12], "integer") == ["exact", "4", "64", "4096", "262144", "4194304", "any time"]
    assert names([3], "integer") == names([], "integer") == ["exact", "any time"]
    ends = np.iinfo(np.int64)
    assert len(names([ends.min, 0, ends.max], "integer")) == 7


def test_the_headline():
    ladder = buckets(np.array([0, 7, 10 * 86_400]), "epoch", WIDTHS, exact=True)
    assert bucket_of("x", "auto", ladder, "epoch").name == "1h"
    assert bucket_of("x", "auto", ladder[:3], "epoch").name == "15min"
    assert bucket_of("x", "auto", (EXACT, ANY_TIME), "epoch") == EXACT
    assert bucket_of("x", "auto", (ANY_TIME,), "utc") == EXACT
    assert bucket_of("x", "auto", buckets(np.arange(99), "integer", (), exact=True), "integer") == EXACT
    assert bucket_of("x", "exact", ladder, "epoch") == EXACT
    assert bucket_of("x", "any", ladder, "epoch") == ANY_TIME
    assert bucket_of("x", "2h", ladder, "utc") == Bucket(name="2h", width=7_200_000_000)
    with pytest.raises(InputError, match="x: the times are plain integers"):
        bucket_of("x", "2h", ladder, "integer")


def test_buckets_of_times():
    t = np.array([-1, 0, 3, 4])
    assert Bucket(name="4", width=4).of(t).tolist() == [-1, 0, 0, 1]
    assert EXACT.of(t).tolist() == t.tolist()
    assert ANY_TIME.of(t).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("extent", "largest"), [(0, 5000), (10_000, 5000), (9999, 500), (1e9, 5000), (1000, 500), (10, 5), (1e-9, 5e-6)]
)
def test_cells_fit_the_extent(extent, largest):
    found = cells(np.array([50.0, 50.0]), np.array([-7.0, extent - 7.0]))
    assert found[-1] == pytest.approx(largest)
    assert [side / found[0] for side in found] == pytest.approx([1, 5, 10, 50])
    assert cells(np.array([-7.0, extent - 7.0]), np.array([50.0, 50.0])) == found


def test_cells_without_points_and_of_huge_extent():
    assert cells(np.zeros(0), np.zeros(0)) == (100, 500, 1000, 5000)
    assert cells(np.array([-1e308, 1e308]), np.zeros(2)) == (100, 500, 1000, 5000)


def test_names_of_cells():
    assert [cell_name(side) for side in (0.1, 100.0, 1000.0, 2500.0)] == ["0.1 m", "100 m", "1 km", "2.5 km"]
    with pytest.raises(ParameterError, match="x: cell must be greater than 0, got 0"):
        check_cell("x", 0.0)
    check_cell("x", "auto")
