"""The Hilbert curve: the worked example, every cell once, and neighbours on the curve are neighbours on the grid."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wayveil.kernels.qid.hilbert import hilbert_index

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "qid" / "hilbert.json").read_text())


@pytest.mark.parametrize("order", [1, 2])
def test_the_worked_example(order: int) -> None:
    cells = np.array(GOLDEN[str(order)])
    assert hilbert_index(cells[:, 0].copy(), cells[:, 1].copy(), order).tolist() == list(range(4**order))


@pytest.mark.parametrize("order", [0, 3, 4, 5])
def test_a_path_through_all_cells(order: int) -> None:
    x, y = (side.ravel().copy() for side in np.indices((2**order, 2**order)))
    place = hilbert_index(x, y, order)
    assert sorted(place.tolist()) == list(range(4**order))
    path = np.argsort(place)
    steps = np.abs(np.diff(x[path])) + np.abs(np.diff(y[path]))
    assert (steps == 1).all()
    assert (x[path[0]], y[path[0]], x[path[-1]], y[path[-1]]) == (0, 0, 2**order - 1, 0)


def test_large_orders_do_not_overflow() -> None:
    top = 2**26 - 1
    corners = np.array([[0, 0], [0, top], [top, top], [top, 0]])
    place = hilbert_index(corners[:, 0].copy(), corners[:, 1].copy(), 26)
    assert place[0] == 0
    assert place[3] == 4**26 - 1
    assert (np.diff(place) > 0).all()
