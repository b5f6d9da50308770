"""Different values: those of NumPy, whatever the order, the sign and the number of equal ones."""

from __future__ import annotations

import numpy as np
import pytest

from wayveil.model.data.distinct_values import distinct_values


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
@pytest.mark.parametrize("high", [1, 3, 2**62])
def test_the_same_as_numpy(n: int, high: int) -> None:
    values = np.random.default_rng(n).integers(-high, high, n)
    before = values.copy()
    assert distinct_values(values).tolist() == np.unique(values).tolist()
    assert np.array_equal(values, before)
    assert distinct_values(values).dtype == values.dtype
