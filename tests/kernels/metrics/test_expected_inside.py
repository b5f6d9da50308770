"""Expected counts against the definition, with fractions of areas worked out one by one in plain Python."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.metrics.expected_inside import expect_inside
from wayveil.kernels.metrics.range_query import BoxColumns, Queries


def boxes(records):
    """Records are lists of (t_min, t_max, x_min, x_max, y_min, y_max)."""
    rows = [row for record in records for row in record]
    columns = [np.array([row[c] for row in rows], np.int64 if c < 2 else np.float64) for c in range(6)]
    offsets = np.concatenate([[0], np.cumsum([len(record) for record in records], dtype=np.int64)])
    for column in (offsets, *columns):
        column.flags.writeable = False  # as in the model, so that one compiled kernel does for all
    return BoxColumns(offsets, *columns)


def found(records, queries, *, disc=False):
    asked = Queries(*(np.array([q[c] for q in queries], np.float64) for c in range(5)))
    expected = np.zeros(len(queries))
    expect_inside(boxes(records), asked, disc, expected)
    return expected.tolist()


def box_at(record, moment):
    """The sides of a trajectory's box at a moment, None before it begins and after it ends."""
    for row in record:
        if row[0] <= moment <= row[1]:
            return row[2:]
    for one, other in pairwise(record):
        if one[1] < moment < other[0]:
            u = (moment - one[1]) / (other[0] - one[1])
            return tuple(a + u * (b - a) for a, b in zip(one[2:], other[2:], strict=True))
    return None


def part(low, high, begin, end):
    if low == high:
        return float(begin <= low <= end)
    return max(0.0, min(high, end) - max(low, begin)) / (high - low)


def by_definition(records, query, *, disc):
    x, y, half, begin, end = query
    total = 0.0
    for turn in range(5):
        moment = begin + (turn + 0.5) * (end - begin) / 5
        for record in records:
            sides = box_at(record, moment)
            if sides is None:
                continue
            west, east, south, north = sides
            if disc:
                spots = [
                    (west + (i + 0.5) / 8 * (east - west), south + (j + 0.5) / 8 * (north - south))
                    for i in range(8)
                    for j in range(8)
                ]
                total += sum((a - x) ** 2 + (b - y) ** 2 <= half**2 for a, b in spots) / 64
            else:
                total += part(west, east, x - half, x + half) * part(south, north, y - half, y + half)
    return total / 5


whole = st.integers(-12, 12)


@st.composite
def trajectories(draw):
    times = sorted(draw(st.lists(st.integers(0, 40), min_size=0, max_size=8)))
    rows = []
    for t_min, t_max in zip(times[::2], times[1::2], strict=False):
        if rows and t_min <= rows[-1][1]:
            continue
        west, south = draw(whole), draw(whole)
        rows.append((t_min, t_max, west, west + draw(st.integers(0, 9)), south, south + draw(st.integers(0, 9))))
    return rows


queries = st.tuples(whole, whole, st.integers(1, 8), st.integers(-3, 30), st.integers(0, 20)).map(
    lambda q: (q[0] + 0.25, q[1] + 0.25, q[2], q[3], q[3] + q[4])
)


@settings(deadline=None, max_examples=200)
@given(st.lists(trajectories(), max_size=4), st.lists(queries, min_size=1, max_size=4), st.booleans())
def test_kernel_matches_the_definition(records, asked, disc):
    expected = [by_definition(records, query, disc=disc) for query in asked]
    assert found(records, asked, disc=disc) == pytest.approx(expected, abs=1e-9)


def test_a_box_counts_with_the_share_that_lies_in_the_region():
    record = [(0, 100, 0.0, 10.0, 0.0, 10.0)]
    assert found([record], [(2.5, 5, 2.5, 10, 20)]) == [pytest.approx(0.25)]
    assert found([record], [(2.5, 5, 2.5, 200, 300)]) == [0]


def test_a_point_that_passes_counts_while_it_is_there():
    way = [(0, 0, 0.0, 0.0, 0.0, 0.0), (100, 100, 100.0, 100.0, 0.0, 0.0)]
    assert found([way], [(25, 0, 25, 0, 100)]) == [pytest.approx(3 / 5)]  # at 10, 30, 50 of 10, 30, 50, 70, 90
