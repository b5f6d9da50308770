"""Equal trajectories against comparing all pairs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.model.data.ragged import offsets_of

row = st.tuples(st.integers(0, 1), st.sampled_from([0, 1, -1, 2**62, -(2**63)]))


def run(records):
    columns = [np.array([r[c] for record in records for r in record], np.int64) for c in (0, 1)]
    offsets = offsets_of(np.array([len(record) for record in records], np.int64))
    return first_equal(offsets, tuple(columns)).tolist()


@settings(deadline=None, max_examples=150)
@given(st.lists(st.lists(row, max_size=3), max_size=12))
def test_the_first_with_the_same_rows(records):
    assert run(records) == [records.index(record) if record else -1 for record in records]


def test_many_different_and_many_equal_ones():
    different = [[(i, i * 7)] for i in range(3000)]
    assert run(different) == list(range(3000))
    assert run([[(1, 2), (3, 4)]] * 3000) == [0] * 3000


def test_the_order_of_rows_and_columns_matters():
    assert run([[(1, 2), (3, 4)], [(3, 4), (1, 2)], [(2, 1), (4, 3)], [(1, 2)]]) == [0, 1, 2, 3]
