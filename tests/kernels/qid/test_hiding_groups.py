"""Nearest people, compatible groups, classes and one-way candidates against sets and dictionaries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.qid.hiding_groups import Distance, nearest_people
from wayveil.kernels.qid.sample_classes import class_boxes, unite_asymmetric, unite_groups
from wayveil.kernels.qid.timed_samples import Samples, keep_compatible


@dataclass
class Small:
    """Trajectories as dictionaries from time to (row, x, y), with the times that are known."""

    rows: list[dict[int, tuple[int, int, int]]]
    known: list[set[int]]
    owner: list[int]

    def fits(self, m: int, other: int) -> bool:
        return self.known[m] <= self.rows[other].keys() and self.known[other] <= self.rows[m].keys()

    def columns(self) -> tuple[np.ndarray, np.ndarray]:
        flat = sorted(cell for row in self.rows for cell in row.values())
        return np.array([x for _, x, _ in flat], np.int64), np.array([y for _, _, y in flat], np.int64)

    def samples(self) -> Samples:
        track = np.array([m for m, row in enumerate(self.rows) for _ in row], np.int64)
        code = np.array([t for row in self.rows for t in sorted(row)], np.int64)
        known = [row[t][0] for row, ts in zip(self.rows, self.known, strict=True) for t in sorted(ts)]
        by_time = np.argsort(code, kind="stable")
        return Samples(
            first=np.searchsorted(track, np.arange(len(self.rows) + 1)),
            code=code,
            known_first=np.cumsum([0, *(len(ts) for ts in self.known)]),
            known_row=np.array(known, np.int64),
            time_first=np.searchsorted(code[by_time], np.arange(7)),
            track=track[by_time],
            entry=np.argsort(by_time),
        )


@st.composite
def smalls(draw: st.DrawFn) -> Small:
    n, row, full = draw(st.integers(1, 7)), 0, draw(st.booleans())
    rows: list[dict[int, tuple[int, int, int]]] = []
    for _ in range(n):
        times = range(6) if full else sorted(draw(st.sets(st.integers(0, 5), min_size=1)))
        rows.append({})
        for t in times:
            rows[-1][t] = (row, draw(st.integers(0, 8)), draw(st.integers(0, 8)))
            row += 1
    known = [draw(st.sets(st.sampled_from(sorted(r)), max_size=3)) for r in rows]
    return Small(rows, known, draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))


@settings(deadline=None, max_examples=300)
@given(smalls(), st.integers(1, 4), st.booleans(), st.data())
def test_nearest_people(small: Small, most: int, by_area: bool, more: st.DataObject) -> None:
    n, samples = len(small.rows), small.samples()
    active = np.array(more.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    x, y = small.columns()
    by_time = np.argsort(samples.entry)
    a, b = x[by_time].astype(float), y[by_time].astype(float)
    found = nearest_people(samples, np.arange(n), np.array(small.owner), active, Distance(a, b, by_area), most)

    def distance(m: int, other: int) -> float:
        if not small.known[m]:
            return len(small.known[other])
        total = 0.0
        # from the time with the fewest samples on, so that sums of floats are the same to the last bit
        present = {t: sum(t in row for row in small.rows) for t in small.known[m]}
        rarest = min(sorted(small.known[m]), key=lambda t: present[t])
        for t in [rarest, *sorted(small.known[m] - {rarest})]:
            (_, u, v), (_, p, q) = small.rows[m][t], small.rows[other][t]
            total += 1.0 - 1.0 / ((abs(u - p) + 1.0) * (abs(v - q) + 1.0)) if by_area else abs(u - p)
        return total

    for m in range(n):
        best: dict[int, int] = {}
        fit = [o for o in range(n) if active[o] and small.owner[o] != small.owner[m] and small.fits(m, o)]
        for other in sorted(fit, key=lambda o: (distance(m, o), o)):
            best.setdefault(small.owner[other], other)
        expected = list(best.values())[:most]
        assert found[m].tolist() == expected + [-1] * (most - len(expected))


@settings(deadline=None, max_examples=150)
@given(smalls(), st.integers(0, 4), st.data())
def test_keep_compatible(small: Small, most: int, more: st.DataObject) -> None:
    order = more.draw(st.permutations(range(1, len(small.rows))))
    expected = [0]
    for m in order:
        if len(expected) <= most and all(small.fits(m, other) for other in expected):
            expected.append(m)
    found = keep_compatible(small.samples(), 0, np.array(order, np.int64), most)
    assert found.tolist() == expected


@settings(deadline=None, max_examples=150)
@given(smalls(), st.data())
def test_classes_and_their_boxes(small: Small, more: st.DataObject) -> None:
    n, samples = len(small.rows), small.samples()
    groups = more.draw(st.lists(st.lists(st.integers(0, n - 1), min_size=1, max_size=3, unique=True), max_size=5))
    x, y = small.columns()
    parent = np.arange(len(x))
    flat = np.array([m for group in groups for m in group], np.int64)
    unite_groups(samples, np.cumsum([0, *map(len, groups)]), flat, parent)
    root, box = class_boxes(parent, x, y)

    classes: list[set[int]] = [{i} for i in range(len(x))]
    for group in groups:
        for t in set().union(*(small.known[m] for m in group)):
            rows = {small.rows[m][t][0] for m in group if t in small.rows[m]}
            classes = [c for c in classes if not c & rows] + [set().union(*(c for c in classes if c & rows))]
    for rows in classes:
        listed = sorted(rows)
        assert len(set(root[listed].tolist())) == 1
        assert (root == root[listed[0]]).sum() == len(listed)
        sides = [x[listed].min(), x[listed].max(), y[listed].min(), y[listed].max()]
        assert box[:, listed].T.tolist() == [sides] * len(listed)


@settings(deadline=None, max_examples=200)
@given(smalls(), st.data())
def test_one_way_candidates(small: Small, more: st.DataObject) -> None:
    n, samples = len(small.rows), small.samples()
    active = np.array(more.draw(st.lists(st.integers(0, 3).map(bool), min_size=n, max_size=n)))
    x, y = (column.astype(float) for column in small.columns())
    wide = np.array(more.draw(st.lists(st.integers(0, 4), min_size=len(x), max_size=len(x))), float)
    sides = np.array([x - wide, x + wide, y - wide, y + wide])

    def edge(m: int, other: int) -> bool:
        def inside(t: int) -> bool:
            (_, u, v), row = small.rows[m][t], small.rows[other][t][0]
            low_x, high_x, low_y, high_y = sides[:, row]
            return bool(low_x <= u <= high_x and low_y <= v <= high_y)

        return all(t in small.rows[other] and inside(t) for t in small.known[m])

    pairs = [(m, o) for m in range(n) for o in range(n) if m != o and active[m] and active[o]]
    one_way = [(m, o) for m, o in pairs if edge(m, o) and not edge(o, m)]
    possible = [(m, o) for m, o in one_way if small.fits(m, o)]
    parent, expected = np.arange(len(x)), np.arange(len(x))
    x.flags.writeable = y.flags.writeable = False
    assert unite_asymmetric(samples, active, x, y, sides, parent) == (len(possible), len(one_way) - len(possible))
    flat = np.array([m for pair in possible for m in pair], np.int64)
    unite_groups(samples, np.arange(0, len(flat) + 1, 2), flat, expected)
    cells = np.zeros(len(x), np.int64)
    assert class_boxes(parent, cells, cells)[0].tolist() == class_boxes(expected, cells, cells)[0].tolist()


@pytest.mark.parametrize("times", [[0, 1, 2], [0, 2, 5], [3], [1, 4]])
def test_a_sample_is_found_wherever_times_are_missing(times: list[int]) -> None:
    """Trajectory 1 has all times, and one of them is known of it: only then can it be made equal to trajectory 0."""
    everywhere = {t: (len(times) + t, 0, 0) for t in range(6)}
    for t in range(6):
        small = Small([{s: (i, 0, 0) for i, s in enumerate(times)}, everywhere], [set(), {t}], [0, 1])
        found = keep_compatible(small.samples(), 0, np.array([1]), 1)
        assert len(found) == 1 + (t in times)
