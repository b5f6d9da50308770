"""Distances to the line through what is left, and finding again what is left; tests/utility has the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.metrics.line_deviation import deviations, embedded


def test_trajectories_without_rows_do_not_deviate() -> None:
    x = np.array([0.0, 3.0])
    found = deviations(np.array([0, 0, 2, 2]), x, np.array([0.0, 4.0]), np.array([1, 0]), 99.0)
    assert found.tolist() == pytest.approx([0.0, 2.5, 0.0])


@settings(deadline=None, max_examples=100)
@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=6), min_size=1, max_size=4))
def test_what_was_kept_is_found_again(rows: list[list[tuple[int, bool]]]) -> None:
    kept = [[item for item, keep in row if keep] for row in rows]

    def flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
        ends = np.concatenate([[0], np.cumsum([len(part) for part in lists])]).astype(np.int64)
        return ends, np.array([item for part in lists for item in part], np.int64)

    ends, items = flat([[item for item, _ in row] for row in rows])
    found = embedded(ends, items, *flat(kept))
    for i, part in enumerate(kept):
        own = slice(ends[i], ends[i + 1])
        assert items[own][found[own] == 1].tolist() == part
