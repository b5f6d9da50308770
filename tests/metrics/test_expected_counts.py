"""Shares of boxes in cells, and flows to be expected, against counting cell by cell."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics import expected_counts
from wayveil.metrics.expected_counts import CellShares, expected_pairs, share_of_cells

cells = st.sets(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), max_size=12).map(sorted)
quarter = st.integers(-20, 20).map(lambda n: n / 4)
box = st.tuples(quarter, st.integers(0, 12), quarter, st.integers(0, 12)).map(
    lambda b: (b[0], b[0] + b[1] / 4, b[2], b[2] + b[3] / 4)
)


def part(low, high, cell):
    if low == high:
        return float(np.floor(low) == cell)
    return max(0.0, min(high, cell + 1) - max(low, cell)) / (high - low)


def shares(some_cells, boxes):
    columns, rows = (np.array([c[i] for c in some_cells], np.int64) for i in (0, 1))
    sides = [np.array([b[i] for b in boxes], np.float64) for i in range(4)]
    return share_of_cells(columns, rows, (sides[0], sides[1]), (sides[2], sides[3]))


@settings(deadline=None, max_examples=200)
@given(cells, st.lists(box, max_size=6))
def test_shares_of_cells(some_cells, boxes):
    found = shares(some_cells, boxes)
    table = np.zeros((len(boxes), len(some_cells)))
    table[found.area, found.cell] = found.share
    expected = [[part(w, e, i) * part(s, n, j) for i, j in some_cells] for w, e, s, n in boxes]
    assert table == pytest.approx(np.array(expected).reshape(table.shape), abs=1e-6)
    assert found.totals(len(some_cells)) == pytest.approx(table.sum(axis=0))


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(box, box), max_size=6), st.data())
def test_expected_pairs(trips, data):
    some_cells = [(i, j) for i in range(-2, 3) for j in range(-2, 3)]
    begins, ends = (shares(some_cells, [trip[i] for trip in trips]) for i in (0, 1))
    pairs = data.draw(st.lists(st.tuples(st.integers(0, 24), st.integers(0, 24)), min_size=1, max_size=9, unique=True))
    wanted = np.array(pairs)
    found = expected_pairs(begins, ends, wanted[:, 0], wanted[:, 1], len(some_cells))
    for (a, b), value in zip(pairs, found.tolist(), strict=True):
        expected = 0.0
        for one, other in trips:
            begin = part(*one[:2], some_cells[a][0]) * part(*one[2:], some_cells[a][1])
            expected += begin * part(*other[:2], some_cells[b][0]) * part(*other[2:], some_cells[b][1])
        assert value == pytest.approx(expected, abs=1e-6)


def test_a_box_far_away_and_one_over_everything():
    found = shares([(0, 0)], [(1e12, 1e12, 0.0, 0.0), (-1e12, 1e12, -1.0, 1.0)])
    assert found.offsets.tolist() == [0, 0, 1]
    assert found.share.tolist() == pytest.approx([0.25e-12])


def test_of_very_many_products_some_trips_stand_for_all(monkeypatch):
    trips = 40
    even = CellShares(np.arange(0, 2 * trips + 1, 2), np.tile([0, 1], trips), np.full(2 * trips, 0.5))
    pairs = np.array([0, 1]), np.array([1, 1])
    exact = expected_pairs(even, even, *pairs, 2)
    monkeypatch.setattr(expected_counts, "_MOST_PRODUCTS", 40)
    assert expected_pairs(even, even, *pairs, 2).tolist() == exact.tolist() == [10, 10]
