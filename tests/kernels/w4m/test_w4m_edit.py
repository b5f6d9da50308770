"""Editing towards the pivot: the worked pair, pivots as they are, the trash without rows."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

from wayveil.kernels.clusters.disk_moves import DiskOffset
from wayveil.kernels.w4m.w4m_edit import EditedPoints, edit
from wayveil.kernels.w4m.w4m_measure import Measure, TimedPoints

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "w4m" / "pair.json").read_text())

NOWHERE = DiskOffset(np.zeros(0), np.zeros(0))


def edited(records: list, label: list[int], measure: Measure, half: float, begin: int = 0, offset=NOWHERE):
    rows = [r for record in records for r in record]
    t = np.array([r[0] for r in rows], np.int64)
    x, y = (np.array([r[i] for r in rows], float) for i in (1, 2))
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    lengths = [0 if p < 0 else len(records[p]) for p in label]
    out = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    out_t, out_x, out_y = np.full(out[-1], -1), np.full(out[-1], np.nan), np.full(out[-1], np.nan)
    points = TimedPoints(offsets, x, y, t, t.astype(float))
    room = EditedPoints(out, out_t, out_x, out_y)
    done = edit(points, np.array(label), measure, half, offset, room, begin, len(records))
    found = list(zip(out_t.tolist(), out_x.tolist(), out_y.tolist(), strict=True))
    return [found[a:b] for a, b in itertools.pairwise(out)], done


@pytest.mark.parametrize("case", ["edr", "edr_delete", "lstd", "lstd_longer"])
def test_the_worked_pair(case: str) -> None:
    found = GOLDEN[case]
    pivot, member = GOLDEN["pivot"], GOLDEN[found["member"]]
    dx, dy, dt = found.get("tolerances", [0.0, 0.0, 0])
    measure = Measure(case.startswith("edr"), found["delta"] / 2, 10, dx, dy, dt)
    records, done = edited([member, pivot, member], [1, 1, -1], measure, found["delta"] / 2)
    assert np.allclose(records[0], found["published"], atol=1e-9)
    assert records[1] == [tuple(r) for r in pivot]
    assert records[2] == []
    expected = [found[name] for name in ("translation", "time", "created", "deleted")]
    assert done[0].tolist() == pytest.approx(expected, abs=1e-9)
    assert done[1:].tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize("is_edr", [False, True])
def test_with_no_width_everybody_becomes_the_pivot(is_edr: bool) -> None:
    rng = np.random.default_rng(3)
    records = [[(int(t), *rng.normal(0, 9, 2)) for t in range(n)] for n in (5, 3, 8, 1)]
    made, _ = edited(records, [2, 2, 2, 2], Measure(is_edr, 1.0, 10, 3.0, 3.0, 1), 0.0)
    assert made == [records[2]] * 4


def test_what_comes_before_the_first_own_point_is_a_copy_of_it() -> None:
    pivot, member = [(0, 0.0, 0.0), (1, 5.0, 0.0), (2, 9.0, 0.0)], [(2, 9.0, 1.0)]
    made, done = edited([pivot, member], [0, 0], Measure(True, 1.0, 1, 2.0, 2.0, 0), 4.0)
    assert np.allclose(made[1][2], (2, 9.0, 1.0))
    assert np.allclose(made[1][1], (1, 5 + 4 * 4 / 17**0.5, 4 / 17**0.5))
    assert done[1].tolist() == [0.0, 0.0, 2.0, 0.0]


def test_only_the_part_asked_for_is_written() -> None:
    records, done = edited([GOLDEN["pivot"], GOLDEN["short"]], [0, 0], Measure(False, 2.0, 10, 0.0, 0.0, 0), 2.0, 1)
    assert np.isnan(records[0][0][1])
    assert not np.isnan(records[1][0][1])
    assert len(done) == 1


@pytest.mark.parametrize("is_edr", [False, True])
def test_at_an_offset_everybody_runs_along_the_pivot(is_edr: bool) -> None:
    pivot, member = [(0, 0.0, 0.0), (1, 5.0, 0.0), (2, 9.0, 0.0)], [(0, 0.0, 3.0), (2, 9.0, 3.0)]
    offset = DiskOffset(np.array([1.0, 0.0]), np.array([0.0, -1.0]))
    made, done = edited([pivot, member], [0, 0], Measure(is_edr, 1.0, 9, 9.0, 9.0, 1), 2.0, offset=offset)
    assert made == [[(t, x + 1.0, y) for t, x, y in pivot], [(t, x, y - 1.0) for t, x, y in pivot]]
    assert done[0].tolist() == [3.0, 0.0, 0.0, 0.0]  # the pivot too is moved
    assert done[1, 0] >= 8.0
    assert done[1, 2] == 1
