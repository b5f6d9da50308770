"""Distances of distributions against their definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

from wayveil.metrics.stats import average, top_kept, total_variation, value_distances

values = st.lists(st.integers(0, 9), min_size=1, max_size=9)
pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@settings(deadline=None, max_examples=100)
@given(values, values)
def test_distances_of_values(before, after):
    apart, change = value_distances(np.array(before), np.array(after))
    up_to = [[sum(v <= w for v in side) / len(side) for w in range(10)] for side in (before, after)]
    assert apart == pytest.approx(max(abs(a - b) for a, b in zip(*up_to, strict=True)))
    assert change == pytest.approx(wasserstein_distance(before, after))


@settings(deadline=None, max_examples=100)
@given(pairs, st.integers(1, 4))
def test_distances_of_counts(counts, top):
    before, after = ([c[i] for c in counts] for i in (0, 1))
    found = total_variation(np.array(before, int), np.array(after, int))
    if sum(before) and sum(after):
        assert found == pytest.approx(
            sum(abs(b / sum(before) - a / sum(after)) for b, a in zip(before, after, strict=True)) / 2
        )
    else:
        assert found is None
    kept = top_kept(np.array(before, int), np.array(after, int), top)
    old = sorted((-b, i) for i, b in enumerate(before) if b)[:top]
    if not old:
        assert kept is None
    else:  # among the largest: fewer than `top` are larger
        among = [after[i] > 0 and sum(a > after[i] for a in after) < top for _, i in old]
        assert kept == pytest.approx(sum(among) / len(old))


def test_nothing():
    assert (
        value_distances(np.array([]), np.array([1.0])) == value_distances(np.array([1.0]), np.array([])) == (None,) * 2
    )
    assert average(np.array([])) is None
    assert average(np.array([1.0, 2.0])) == 1.5
    assert average(np.array([np.inf])) is None
