"""Edit distance on real sequences against the recursion, and scripts that do what they cost."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.common.jit import kernel
from wayveil.kernels.w4m.edr import DELETE, INSERT, MATCH, REPLACE, edr, edr_script
from wayveil.kernels.w4m.w4m_measure import Measure, TimedPoints

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "w4m" / "pair.json").read_text())
LETTERS = {MATCH: "=", REPLACE: "#", DELETE: "-", INSERT: "+"}

Row = tuple[int, float, float]


@kernel
def compiled_edr(points, measure):
    return edr(points, measure, 0, 1, np.empty(points.t.size, np.int64))


def points_of(q: list[Row], p: list[Row]) -> TimedPoints:
    rows = [*q, *p]
    t = np.array([r[0] for r in rows], np.int64)
    return TimedPoints(
        np.array([0, len(q), len(rows)]), np.array([r[1] for r in rows]), np.array([r[2] for r in rows]), t, t * 1.0
    )


def distance(q: list[Row], p: list[Row], limits: tuple[float, float, int]) -> int:
    return compiled_edr(points_of(q, p), Measure(True, 1.0, 1, *limits))


def is_match(a: Row, b: Row, limits: tuple[float, float, int]) -> bool:
    return abs(a[1] - b[1]) <= limits[0] and abs(a[2] - b[2]) <= limits[1] and abs(a[0] - b[0]) <= limits[2]


def recursion(q: list[Row], p: list[Row], limits: tuple[float, float, int]) -> int:
    @cache
    def rest(i: int, j: int) -> int:
        if i == len(q) or j == len(p):
            return len(q) - i + len(p) - j
        same = 0 if is_match(q[i], p[j], limits) else 1
        return min(rest(i + 1, j) + 1, rest(i, j + 1) + 1, rest(i + 1, j + 1) + same)

    return rest(0, 0)


def script(q: list[Row], p: list[Row], limits: tuple[float, float, int]) -> tuple[int, str]:
    far, steps = edr_script(points_of(q, p), Measure(True, 1.0, 1, *limits), 0, 1)
    return far, "".join(LETTERS[s] for s in steps.tolist())


rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3).map(float), st.integers(0, 2).map(float)),
                min_size=1, max_size=8)  # fmt: skip
tolerances = st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 1.0]), st.integers(0, 3))


@settings(deadline=None, max_examples=300)
@given(rows, rows, tolerances)
def test_distance_and_script(q: list[Row], p: list[Row], limits: tuple[float, float, int]) -> None:
    expected = recursion(q, p, limits)
    assert distance(q, p, limits) == expected
    assert distance(p, q, limits) == expected
    far, steps = script(q, p, limits)
    assert far == expected == len(steps) - steps.count("=")
    i = j = 0
    for step in steps:
        if i < len(q) and j < len(p):
            assert (step == "=") == is_match(q[i], p[j], limits)
            replaced, deleted, inserted = (
                recursion(q[i + a :], p[j + b :], limits) for a, b in ((1, 1), (1, 0), (0, 1))
            )
            if step == "#":
                assert replaced <= min(deleted, inserted)
            if step == "-":
                assert deleted < min(replaced, inserted)
            if step == "+":
                assert inserted < replaced
                assert inserted <= deleted
        i += step in "=#-"
        j += step in "=#+"
    assert (i, j) == (len(q), len(p))


@pytest.mark.parametrize("case", ["edr", "edr_delete"])
def test_worked_examples(case: str) -> None:
    found = GOLDEN[case]
    pivot, member = ([tuple(r) for r in GOLDEN[name]] for name in ("pivot", found["member"]))
    assert script(member, pivot, tuple(found["tolerances"])) == (found["distance"], found["script"])


def test_to_insert_comes_before_to_delete() -> None:
    """Both cost the same here, and to replace costs more."""
    a, b = (0, 0.0, 0.0), (0, 9.0, 0.0)
    assert script([a, b, a, b], [b, a, b, a], (1.0, 1.0, 1)) == (2, "+===-")
