"""The trajectory graph against all pairs and all samples, from Definitions 3, 4 and 7."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from wayveil.kernels.knode.overlap_graph import AXES, NO_EDGE, edge_weights


def overlaps(p: list[tuple[float, float]], q: list[tuple[float, float]], axes: str) -> bool:
    """Definition 4: some sample of p lies between the start and the end of q."""
    between = [tuple(min(q[0][i], q[-1][i]) <= sample[i] <= max(q[0][i], q[-1][i]) for i in (0, 1)) for sample in p]
    rule = {"or": any, "and": all, "x": lambda found: found[0], "y": lambda found: found[1]}[axes]
    return any(rule(found) for found in between)


@st.composite
def ways(draw: st.DrawFn) -> np.ndarray:
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    return draw(arrays(np.float64, (2, n, m), elements=st.integers(-4, 4).map(float)))


@settings(deadline=None, max_examples=150)
@given(xy=ways(), axes=st.sampled_from(list(AXES)))
def test_edges_are_those_of_the_definitions(xy: np.ndarray, axes: str) -> None:
    weights = edge_weights(xy[0], xy[1], axes)
    tracks = [list(zip(x, y, strict=True)) for x, y in zip(xy[0].tolist(), xy[1].tolist(), strict=True)]
    for a, p in enumerate(tracks):
        for b, q in enumerate(tracks):
            if a != b and overlaps(p, q, axes) and overlaps(q, p, axes):
                assert weights[a, b] == pytest.approx(sum(map(math.dist, p, q)) / len(p), abs=1e-12)
            else:
                assert weights[a, b] == NO_EDGE


def test_a_sample_must_lie_between_on_both_axes_at_once() -> None:
    # p is between x of q at one time and between y at another; so is q with respect to p
    x, y = (
        np.array([[0.0, 5.0, 0.0, 4.0], [4.0, 9.0, 4.0, 8.0]]),
        np.array([[0.0, 9.0, 5.0, 4.0], [4.0, 0.0, 9.0, 8.0]]),
    )
    assert edge_weights(x[:, :3], y[:, :3], "or")[0, 1] < NO_EDGE
    assert edge_weights(x, y, "and")[0, 1] < NO_EDGE  # the last sample of p is the first of q
    x[0, 3] = 3.9
    assert edge_weights(x, y, "and")[0, 1] == NO_EDGE


def test_the_input_is_not_changed() -> None:
    x = np.array([[3.0, 1.0], [2.0, 0.0]])
    x.flags.writeable = False
    edge_weights(x, x, "or")
    assert x.tolist() == [[3.0, 1.0], [2.0, 0.0]]
