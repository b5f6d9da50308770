"""Displacements against interpolation by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.metrics.displacement import Motions, displacements
from wayveil.model import Points

numbers = st.integers(-50, 50).map(float)
records = st.lists(st.dictionaries(st.integers(0, 15), st.tuples(numbers, numbers), max_size=6), min_size=3, max_size=3)


def points(found):
    return Points.from_records([[(t, *r[t]) for t in sorted(r)] for r in found])


def run(true, published):
    return displacements(*(Motions(data.offsets, data.t, data.x, data.y) for data in (true, published)))


@settings(deadline=None, max_examples=100)
@given(records, records)
def test_the_distance_from_the_interpolated_position(true, published):
    expected = []
    for one, two in zip(true, published, strict=True):
        times = sorted(one)
        for t in sorted(two):
            if not times:
                expected.append(np.nan)
                continue
            x, y = (np.interp(t, times, [one[s][c] for s in times]) for c in (0, 1))
            expected.append(np.hypot(two[t][0] - x, two[t][1] - y))
    assert run(points(true), points(published)).tolist() == pytest.approx(expected, nan_ok=True)


def test_a_point_that_stays_is_not_moved_at_all():
    data = Points.from_records([[(t, t / 3, -t / 7) for t in range(0, 90, 7)]])
    assert run(data, data).tolist() == [0.0] * data.n_rows
