"""What knode publishes and what it says of it, against plain loops over random small data."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.knode.knode import Knode
from wayveil.methods.knode.trajectory_graph import class_owners, merge_small, time_classes, time_windows
from wayveil.model import Points


@st.composite
def some_points(draw: st.DrawFn) -> Points:
    """Trajectories on a common clock, of few people, some without points."""
    number = st.integers(-30, 30).map(float)
    n = draw(st.integers(2, 12))
    records = []
    for _ in range(n):
        start = draw(st.integers(-3, 4))
        way = draw(st.lists(st.tuples(number, number), max_size=7))
        records.append([(start + j, x, y) for j, (x, y) in enumerate(way)])
    if draw(st.booleans()):
        return Points.from_records(records)
    return Points.from_records(records, owner=[draw(st.integers(0, n - 1)) for _ in range(n)])


@settings(deadline=None, max_examples=250)
@given(
    data=some_points(), k=st.integers(2, 4), window=st.integers(1, 8), variant=st.sampled_from(["paper", "improved"]),
    overlap=st.sampled_from(["or", "and", "x", "y"]), cut_off=st.sampled_from(["regroup", "drop"]),
)  # fmt: skip
def test_boxes_and_facts(data: Points, k: int, window: int, variant: str, overlap: str, cut_off: str) -> None:
    times: dict[int, set[int]] = {i: {t for t, _, _ in data.record(i)} for i in range(len(data))}
    present = sorted(set().union(*times.values()))
    even = all({t for t in present if min(mine) <= t <= max(mine)} == mine for mine in times.values() if mine)
    people = {int(data.owner[i]) for i, mine in times.items() if mine}
    if not even or len(people) < k:
        return
    method = Knode(k=k, window=window, variant=variant, overlap=overlap, cut_off=cut_off)
    try:
        made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
    except InputError:  # no group was found: see test_knode.py
        return
    alike: dict[tuple[Any, ...], list[int]] = {}
    seen: dict[int, list[int]] = {i: [] for i in range(len(data))}
    assert made.source is not None
    assert sorted(set(made.source.tolist())) == list(range(len(data)))
    for part, i in enumerate(made.source.tolist()):
        assert made.data.owner[part] == data.owner[i]
        if made.data.record(part):
            alike.setdefault(tuple(made.data.record(part)), []).append(i)
            seen[i] += [box[0] for box in made.data.record(part)]
    shown, blurred = 0, 0.0
    assert all(mine == sorted(set(mine)) for mine in seen.values())  # pieces of one trip follow each other
    if variant == "paper" or cut_off == "drop":
        assert made.source.tolist() == list(range(len(data)))
    xs, ys = data.x.tolist(), data.y.tolist()
    wide, high = max(xs) - min(xs), max(ys) - min(ys)
    for boxes, members in alike.items():
        assert len({int(data.owner[i]) for i in members}) >= k
        assert max(Counter(data.owner[members].tolist()).values()) * k <= len(members)
        span = [box[0] for box in boxes]
        shared = set.intersection(*(times[i] for i in members))
        assert set(span) <= shared
        if len(made.source) == len(data):
            assert set(span) == shared
        for t, t_max, *sides in boxes:
            at = [(x, y) for i in members for s, x, y in data.record(i) if s == t]
            assert t_max == t
            assert sides == [f(p[axis] for p in at) for axis in (0, 1) for f in (min, max)]
            if wide and high:
                blurred += len(members) * (sides[1] - sides[0]) * (sides[3] - sides[2]) / (wide * high)
        shown += len(members) * len(span)
    published = sum(bool(mine) for mine in seen.values())
    lost = sum(len(mine) for i, mine in times.items() if not seen[i])
    cut = data.n_rows - lost - shown
    with_points = sum(bool(mine) for mine in times.values())
    assert made.facts["trajectories left out"] == with_points - published
    assert made.facts["success ratio"] == pytest.approx(published / with_points)
    assert made.facts["points cut off published trajectories"] == cut
    assert made.facts["information loss per sample"] == pytest.approx((blurred + cut + lost) / data.n_rows)
    assert made.facts["box area, share of the whole space"] == pytest.approx(blurred / max(shown, 1))
    classes = {(data.record(i)[0][0] // window, data.record(i)[-1][0] // window) for i, mine in times.items() if mine}
    assert made.facts["classes"] == len(classes)
    assert k <= made.facts["people in the smallest group"] <= made.facts["people per group"]  # type: ignore[operator]
    assert made.facts["people in the largest group"] <= (k if variant == "paper" else 2 * k - 1)  # type: ignore[operator]


@settings(deadline=None, max_examples=200)
@given(
    rows=st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 9), st.integers(0, 5)), min_size=1),
    window=st.integers(1, 6),
)
def test_classes(rows: list[tuple[int, int, int]], window: int) -> None:
    begin, length, owner = (np.array(column) for column in zip(*rows, strict=True))
    windows = time_windows(begin, begin + length, window)
    label = time_classes(windows)
    pairs = [(b // window, (b + n) // window) for b, n, _ in rows]
    assert [tuple(pair) for pair in windows.tolist()] == pairs
    assert label.tolist() == [sorted(set(pairs)).index(pair) for pair in pairs]
    counted = [
        len({who for pair, (_, _, who) in zip(pairs, rows, strict=True) if pair == c}) for c in sorted(set(pairs))
    ]
    assert class_owners(label, owner).tolist() == counted


@settings(deadline=None, max_examples=200)
@given(
    rows=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 9)), max_size=25), k=st.integers(1, 4)
)
def test_merged_classes(rows: list[tuple[int, int, int]], k: int) -> None:
    table = np.array(rows, np.int64).reshape(-1, 3)
    owner = table[:, 2]
    found = merge_small(table[:, :2], owner, k)
    if len(set(owner.tolist())) < k:
        assert found == []
        return
    assert sorted(i for members in found for i in members.tolist()) == list(range(len(rows)))
    assert all(len(set(owner[members].tolist())) >= k for members in found)
    cells = {tuple(row[:2]) for row in rows}
    if all(len({who for a, b, who in rows if (a, b) == cell}) >= k for cell in cells):
        assert len(found) == len(cells)
    for members in found:  # nothing can be cut any further
        for axis in (0, 1):
            for at in range(1, 5):
                sides = [set(owner[members[(table[members, axis] < at) == low]].tolist()) for low in (True, False)]
                assert min(map(len, sides)) < k
