"""Equal timestamps."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.nwa.common_times import same_times


def test_only_equal_timestamps_are_the_same() -> None:
    records = [[0, 5], [0, 5], [0, 6], [0, 3, 6], [0, 3, 6], [0, 4, 6], [1, 4, 6], [], []]
    ends = np.cumsum([len(r) for r in records])
    t = np.array([v for r in records for v in r], np.int64)
    begin = ends - np.array([len(r) for r in records])
    assert same_times(t, begin, ends).tolist() == [0, 1, 0, 0, 1, 0, 0, 0, 1]
    assert same_times(t, begin[:0], ends[:0]).tolist() == []
