"""Losses of groups against sums over their samples, with one trajectory less and one more."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.knode.cost_guesses import guess_more, keep_on_list
from wayveil.kernels.knode.exact_boxes import draw_boxes
from wayveil.kernels.knode.group_boxes import NEVER, Tracks, enclose, join, leave, loss_if, new_boxes

Track = tuple[int, list[tuple[float, float]]]  # the first timestamp, then positions
THIN = 0.02


def loss_of(group: list[Track]) -> float:
    """The definition: per published sample the area of its box and a little of the sides; per sample cut off 1."""
    low = max(start for start, _ in group)
    high = min(start + len(way) - 1 for start, way in group)
    if low > high:
        return NEVER
    loss = sum(len(way) for _, way in group) - len(group) * (high - low + 1)
    for t in range(low, high + 1):
        xs, ys = zip(*(way[t - start] for start, way in group), strict=True)
        width, height = max(xs) - min(xs), max(ys) - min(ys)
        loss += len(group) * (width * height + THIN * (width + height))
    return loss


def columns(tracks: list[Track]) -> tuple[np.ndarray, ...]:
    start = np.array([s for s, _ in tracks])
    length = np.array([len(way) for _, way in tracks])
    xy = np.array([position for _, way in tracks for position in way])
    return np.cumsum(length) - length, start, start + length - 1, xy[:, 0].copy(), xy[:, 1].copy()


@numba.njit
def probe(first, start, end, owner, x, y, members, gone, u, v, most, step):  # type: ignore[no-untyped-def]
    tracks = Tracks(first, start, end, owner, x, y)
    longest = 1
    for i in range(first.size):
        longest = max(longest, end[i] - start[i] + 1)
    boxes = new_boxes(first.size, 2, longest)
    for member in members:
        join(tracks, boxes, 1, member)
    for member in gone:
        leave(tracks, boxes, member)
    enclose(tracks, boxes, 1)
    guess = guess_more(tracks, boxes, 1, v) if v >= 0 else 0.0
    return loss_if(tracks, boxes, 1, u, v, most, step), boxes.owners[1], boxes.loss[1], guess


@st.composite
def groups(draw: st.DrawFn) -> list[Track]:
    number = st.integers(0, 8).map(lambda i: i / 8)
    found = []
    for _ in range(draw(st.integers(3, 7))):
        start = draw(st.integers(0, 3))
        found.append((start, draw(st.lists(st.tuples(number, number), min_size=4 - start, max_size=9 - start))))
    return found  # all are on their way at timestamp 3


@settings(deadline=None, max_examples=300)
@given(tracks=groups(), data=st.data())
def test_loss_without_one_and_with_another(tracks: list[Track], data: st.DataObject) -> None:
    n = len(tracks)
    order = data.draw(st.permutations(range(n - 1)))  # the last one stays outside
    gone = data.draw(st.sampled_from([[], order[:1], order[-1:]])) if n > 3 else []
    inside = [i for i in order if i not in gone]
    owner = np.array([data.draw(st.integers(0, 2)) for _ in tracks])
    first, start, end, x, y = columns(tracks)
    for u in (-1, *inside):
        for v in (-1, n - 1):
            loss, owners, whole, _ = probe(
                first, start, end, owner, x, y, np.array(order), np.array(gone, np.int64), u, v, NEVER, 1
            )
            rest = [tracks[i] for i in inside if i != u] + [tracks[v]] * (v >= 0)
            assert loss == pytest.approx(loss_of(rest), abs=1e-9)
            assert whole == pytest.approx(loss_of([tracks[i] for i in inside]), abs=1e-9)
            assert owners == len(set(owner[inside].tolist()))


@settings(deadline=None, max_examples=50)
@given(tracks=groups(), share=st.floats(0, 2))
def test_a_loss_above_the_limit_stays_above_it(tracks: list[Track], share: float) -> None:
    first, start, end, x, y = columns(tracks)
    n = len(tracks)
    true = loss_of(tracks)
    most = share * true
    members, none = np.arange(n - 1), np.zeros(0, np.int64)
    found = probe(first, start, end, np.arange(n), x, y, members, none, -1, n - 1, most, 1)[0]
    assert found == pytest.approx(true) if true < most else found > most - 1e-9
    assert found <= true + 1e-9


def test_who_shares_no_timestamp_never_joins() -> None:
    tracks: list[Track] = [(0, [(0.0, 0.0)] * 3), (1, [(0.0, 0.0)] * 2), (3, [(0.0, 0.0)] * 2)]
    first, start, end, x, y = columns(tracks)
    members, none = np.arange(2), np.zeros(0, np.int64)
    found = probe(first, start, end, np.arange(3), x, y, members, none, -1, 2, NEVER, 1)
    assert (found[0], found[3]) == (NEVER, NEVER)


@settings(deadline=None, max_examples=50)
@given(x=st.lists(st.floats(0, 1), min_size=4, max_size=4), starts=st.lists(st.integers(0, 3), min_size=4, max_size=4))
def test_a_guess_is_exact_where_nobody_moves(x: list[float], starts: list[int]) -> None:
    tracks: list[Track] = [(s, [(value, 0.5)] * (7 - s)) for value, s in zip(x, starts, strict=True)]
    first, start, end, columns_x, columns_y = columns(tracks)
    members, none = np.arange(3), np.zeros(0, np.int64)
    guess = probe(first, start, end, np.arange(4), columns_x, columns_y, members, none, -1, 3, NEVER, 1)[3]
    kept = max(starts)
    cut = 3 * (kept - max(starts[:3])) + kept - starts[3]
    wider = 4 * (max(x) - min(x)) - 3 * (max(x[:3]) - min(x[:3]))
    assert guess == pytest.approx(cut + THIN * wider * (7 - kept), abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(
    x=st.lists(st.floats(0, 1), min_size=4, max_size=4),
    starts=st.lists(st.integers(0, 3), min_size=4, max_size=4),
    step=st.integers(1, 5),
)
def test_every_few_timestamps_are_enough_where_nobody_moves(x: list[float], starts: list[int], step: int) -> None:
    tracks: list[Track] = [(s, [(value, value / 2)] * (15 - s)) for value, s in zip(x, starts, strict=True)]
    first, start, end, columns_x, columns_y = columns(tracks)
    members, none = np.arange(3), np.zeros(0, np.int64)
    found = probe(first, start, end, np.arange(4), columns_x, columns_y, members, none, 0, 3, NEVER, step)[0]
    assert found == pytest.approx(loss_of(tracks[1:]), abs=1e-9)


@numba.njit
def short_list(values, size):  # type: ignore[no-untyped-def]
    who, cost, held = np.empty(size, np.int64), np.empty(size, np.float64), 0
    for i in range(values.size):
        held = keep_on_list(who, cost, held, i, values[i])
    return who[:held], cost[:held]


@settings(deadline=None, max_examples=100)
@given(values=st.lists(st.integers(0, 9), max_size=12), size=st.integers(1, 4))
def test_the_cheapest_are_listed(values: list[int], size: int) -> None:
    who, cost = short_list(np.array(values, np.float64), size)
    expected = sorted(range(len(values)), key=lambda i: (values[i], i))[:size]
    assert (who.tolist(), cost.tolist()) == (expected, [values[i] for i in expected])


@settings(deadline=None, max_examples=100)
@given(tracks=groups(), data=st.data())
def test_drawn_boxes_are_the_smallest(tracks: list[Track], data: st.DataObject) -> None:
    label = [data.draw(st.integers(-1, 1)) for _ in tracks]
    first, start, _, x, y = columns(tracks)
    spans = []
    for g in (0, 1):
        inside = [tracks[i] for i in range(len(tracks)) if label[i] == g]
        low = max((s for s, _ in inside), default=0)
        spans.append((low, min((s + len(way) for s, way in inside), default=low)))
    first_box = np.cumsum([0, *(high - low for low, high in spans)])
    low_row = np.array([first[i] - start[i] + (spans[g][0] if g >= 0 else 0) for i, g in enumerate(label)])
    side = draw_boxes(np.array(label), low_row, first_box, x, y)
    expected = []
    for g, (low, high) in enumerate(spans):
        for t in range(low, high):
            at = [way[t - s] for (s, way), mine in zip(tracks, label, strict=True) if mine == g]
            xs, ys = zip(*at, strict=True)
            expected.append([min(xs), max(xs), min(ys), max(ys)])
    assert side.T.tolist() == expected
