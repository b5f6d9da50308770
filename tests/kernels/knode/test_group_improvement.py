"""Groups at a low loss: valid, complete, and not to be bettered by one move or one interchange."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.knode.group_boxes import Tracks
from wayveil.kernels.knode.group_improvement import low_loss_groups

Track = tuple[int, list[tuple[float, float]]]  # the first timestamp, then positions
THIN, NEVER = 0.02, 1e300


def loss_of(group: list[Track]) -> float:
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


def grouped(tracks: list[Track], owner: list[int], k: int, share: tuple[int, int] | None = None) -> list[int]:
    start = np.array([s for s, _ in tracks])
    length = np.array([len(way) for _, way in tracks])
    xy = np.array([position for _, way in tracks for position in way])
    codes = np.unique(owner, return_inverse=True)[1]
    first = np.cumsum(length) - length
    columns = Tracks(first, start, start + length - 1, codes, xy[:, 0].copy(), xy[:, 1].copy())
    label = low_loss_groups(columns, k, share or (1, k))
    return label.tolist()


@st.composite
def some(draw: st.DrawFn, most: int, latest: int) -> list[Track]:
    number = st.integers(0, 20).map(lambda i: i / 20)
    found = []
    for _ in range(draw(st.integers(1, most))):
        start = draw(st.integers(0, latest))
        found.append((start, draw(st.lists(st.tuples(number, number), min_size=1, max_size=6))))
    return found


def members(label: list[int]) -> list[list[int]]:
    return [[i for i, g in enumerate(label) if g == group] for group in range(max(label) + 1)]


def most_of_one(owner: list[int], group: list[int]) -> int:
    """The largest number of trajectories of one person."""
    return max(Counter(owner[i] for i in group).values())


def test_twenty_trips_of_one_person_and_one_of_another() -> None:
    tracks: list[Track] = [(0, [(i / 20, 0.5)]) for i in range(21)]
    label = grouped(tracks, [*[0] * 20, 1], 2)
    assert sorted(label) == [*[-1] * 19, 0, 0]
    assert label[20] == 0
    assert grouped(tracks, [*[0] * 20, 1], 2, (9, 10)).count(0) == 10


@settings(deadline=None, max_examples=200)
@given(tracks=some(most=14, latest=4), k=st.integers(2, 4), data=st.data())
def test_groups_are_valid(tracks: list[Track], k: int, data: st.DataObject) -> None:
    people = data.draw(st.integers(1, len(tracks)))
    owner = [data.draw(st.integers(0, people - 1)) for _ in tracks]
    label = grouped(tracks, owner, k)
    groups = members(label)
    for group in groups:
        assert k <= len({owner[i] for i in group}) <= 2 * k - 1
        assert most_of_one(owner, group) * k <= len(group)
        assert loss_of([tracks[i] for i in group]) < NEVER
    for i, g in enumerate(label):
        if g < 0 and groups:  # nobody had room who shares a timestamp with i
            for group in groups:
                late = loss_of([tracks[j] for j in [*group, i]]) == NEVER
                full = len({owner[j] for j in [*group, i]}) > 2 * k - 1
                more_than_a_share = most_of_one(owner, [*group, i]) * k > len(group) + 1
                assert late or full or more_than_a_share


@settings(deadline=None, max_examples=200)
@given(tracks=some(most=12, latest=0), k=st.integers(2, 4), data=st.data())
def test_nobody_is_left_out_who_shares_the_time(tracks: list[Track], k: int, data: st.DataObject) -> None:
    owner = [data.draw(st.integers(0, len(tracks))) for _ in tracks]
    label = grouped(tracks, owner, k, (1, 1))
    assert (min(label) >= 0) == (len(set(owner)) >= k)


@settings(deadline=None, max_examples=300)
@given(tracks=some(most=8, latest=1), data=st.data())
def test_no_move_and_no_interchange_lowers_the_loss(tracks: list[Track], data: st.DataObject) -> None:
    k = 2 if len(tracks) < 8 else 3  # at most three groups: all are tried
    owner = list(range(len(tracks)))
    if data.draw(st.booleans()):
        owner[0] = owner[-1]
    label = grouped(tracks, owner, k)
    groups = members(label)

    def total(candidate: list[list[int]]) -> float:
        if any(not k <= len({owner[i] for i in group}) <= 2 * k - 1 for group in candidate):
            return NEVER
        if any(most_of_one(owner, group) * k > len(group) for group in candidate):
            return NEVER
        return sum(loss_of([tracks[i] for i in group]) for group in candidate)

    now = total(groups)
    for a, here in enumerate(groups):
        for b, there in enumerate(groups):
            for i in here if a != b else ():
                moved = [[j for j in g if j != i] + [i] * (c == b) for c, g in enumerate(groups)]
                assert total(moved) > now - 1e-6
                for j in there:
                    swap = {i: j, j: i}
                    assert total([[swap.get(v, v) for v in g] for g in groups]) > now - 1e-6


def test_long_trajectories_are_interchanged_as_well() -> None:
    rng = np.random.default_rng(4)
    short: list[Track] = [(0, [(float(x), float(y))]) for x, y in rng.uniform(size=(40, 2))]
    long: list[Track] = [(0, way * 90) for _, way in short]
    owner = list(range(40))
    assert grouped(long, owner, 4) == grouped(short, owner, 4)


def test_the_outermost_come_first_and_leftovers_go_where_they_cost_least() -> None:
    def still(x: float, y: float) -> Track:
        return 0, [(x, y)] * 3

    tracks = [still(0, 0), still(0.02, 0.02), still(1, 1), still(0.98, 0.98), still(0.1, 0.1)]
    assert grouped(tracks, list(range(5)), 2) == [1, 1, 0, 0, 1]


def test_a_thin_box_is_not_free() -> None:
    # all on one line: no box has an area
    tracks = [(0, [(x, 0.0)] * 2) for x in (0.0, 0.9, 0.1, 1.0)]
    label = grouped(tracks, list(range(4)), 2)
    assert label[0] == label[2] != label[1] == label[3]
