"""The trajectory graph against all pairs and all samples, from Definitions 3, 4 and 7."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.knode.group_boxes import Tracks
from wayveil.kernels.knode.overlap_graph import AXES, NO_EDGE, edge_weights


def synchronized(x: np.ndarray, y: np.ndarray) -> Tracks:
    """Trajectories with the same timestamps, one per row."""
    n, m = x.shape
    times = np.zeros(n, np.int64)
    return Tracks(np.arange(n) * m, times, times + m - 1, np.arange(n), x.ravel(), y.ravel())


def overlaps(p: list[tuple[float, float]], q: list[tuple[float, float]], axes: str) -> bool:
    """Definition 4: some sample of p lies between the start and the end of q."""
    between = [tuple(min(q[0][i], q[-1][i]) <= sample[i] <= max(q[0][i], q[-1][i]) for i in (0, 1)) for sample in p]
    rule = {"or": any, "and": all, "x": lambda found: found[0], "y": lambda found: found[1]}[axes]
    return any(rule(found) for found in between)


@st.composite
def ways(draw: st.DrawFn) -> tuple[Tracks, list[dict[int, tuple[float, float]]]]:
    """Trajectories that begin and end when they like, flat and as positions by time."""
    where = st.tuples(st.integers(-4, 4).map(float), st.integers(-4, 4).map(float))
    start = draw(st.lists(st.integers(0, 4), min_size=1, max_size=6))
    records = [draw(st.lists(where, min_size=1, max_size=5)) for _ in start]
    length = np.array([len(record) for record in records])
    begin = np.array(start)
    xy = np.array([place for record in records for place in record])
    tracks = Tracks(
        np.cumsum(length) - length, begin, begin + length - 1, np.arange(len(start)), xy[:, 0].copy(), xy[:, 1].copy()
    )
    return tracks, [dict(enumerate(record, first)) for first, record in zip(start, records, strict=True)]


@settings(deadline=None, max_examples=200)
@given(both=ways(), axes=st.sampled_from(list(AXES)))
def test_edges_are_those_of_the_definitions_in_the_time_that_a_pair_shares(
    both: tuple[Tracks, list[dict[int, tuple[float, float]]]], axes: str
) -> None:
    tracks, records = both
    weights = edge_weights(tracks, axes)
    for a, one in enumerate(records):
        for b, other in enumerate(records):
            times = sorted(one.keys() & other.keys())
            p = [one[t] for t in times]
            q = [other[t] for t in times]
            if a != b and times and overlaps(p, q, axes) and overlaps(q, p, axes):
                assert weights[a, b] == pytest.approx(sum(map(math.dist, p, q)) / len(p), abs=1e-12)
            else:
                assert weights[a, b] == NO_EDGE


def test_a_sample_must_lie_between_on_both_axes_at_once() -> None:
    # p is between x of q at one time and between y at another; so is q with respect to p
    x, y = (
        np.array([[0.0, 5.0, 0.0, 4.0], [4.0, 9.0, 4.0, 8.0]]),
        np.array([[0.0, 9.0, 5.0, 4.0], [4.0, 0.0, 9.0, 8.0]]),
    )
    assert edge_weights(synchronized(x[:, :3], y[:, :3]), "or")[0, 1] < NO_EDGE
    assert edge_weights(synchronized(x, y), "and")[0, 1] < NO_EDGE  # the last sample of p is the first of q
    x[0, 3] = 3.9
    assert edge_weights(synchronized(x, y), "and")[0, 1] == NO_EDGE


def test_the_input_is_not_changed() -> None:
    x = np.array([[3.0, 1.0], [2.0, 0.0]])
    x.flags.writeable = False
    edge_weights(synchronized(x, x), "or")
    assert x.tolist() == [[3.0, 1.0], [2.0, 0.0]]
