"""Different values and rows by one key, against NumPy's own way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayveil.model.data.distinct import distinct_rows, distinct_values

NUMBERS = st.one_of(st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1), st.sampled_from([-(2**63), 2**63 - 1]))


@given(st.integers(1, 4).flatmap(lambda n: st.lists(st.tuples(*[NUMBERS] * n), min_size=1, max_size=12)))
def test_rows_are_told_apart_as_numpy_does(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, np.int64)
    found = distinct_rows(*table.T)
    _, first, code, count = np.unique(table, axis=0, return_index=True, return_inverse=True, return_counts=True)
    assert found.first.tolist() == first.tolist()
    assert found.code.tolist() == code.reshape(-1).tolist()
    assert found.n_rows.tolist() == count.tolist()


def test_nothing_has_no_rows() -> None:
    empty: Any = np.zeros(0, np.int32)
    assert [part.tolist() for part in distinct_rows(empty, empty)] == [[], [], []]


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
@pytest.mark.parametrize("high", [1, 3, 2**62])
def test_values_are_those_of_numpy(n: int, high: int) -> None:
    values = np.random.default_rng(n).integers(-high, high, n)
    before = values.copy()
    assert distinct_values(values).tolist() == np.unique(values).tolist()
    assert np.array_equal(values, before)
    assert distinct_values(values).dtype == values.dtype
