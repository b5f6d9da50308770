"""Nobody dominates: as few trips as possible are left out, the farthest of those who own too many."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.methods.common.dominance import keep_shares, most_trips, people_needed


def most_kept(trips: list[int], share: Fraction) -> int:
    """The largest number of trips that can stay, over all ways to leave some out."""
    ways = product(*(range(n + 1) for n in trips))
    return max(sum(way) for way in ways if max(way, default=0) <= share * sum(way))


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=14),
    st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(2, 5), Fraction(3, 4), Fraction(1)]),
)
def test_as_few_as_possible_are_left_out(rows: list[tuple[int, int, int]], share: Fraction) -> None:
    label = np.array([g - 1 for g, _, _ in rows])  # -1 is no group
    owner = np.array([o for _, o, _ in rows])
    far = np.array([float(d) for _, _, d in rows])
    out = keep_shares(label, owner, far, share).tolist()
    assert all(label[i] >= 0 for i in out)
    for g in set(label.tolist()) - {-1}:
        members = [i for i in range(len(rows)) if label[i] == g]
        stay = [i for i in members if i not in out]
        before, after = Counter(owner[members].tolist()), Counter(owner[stay].tolist())
        assert all(n <= share * len(stay) for n in after.values())
        assert len(stay) == most_kept(list(before.values()), share)
        for i in stay:
            for j in set(members) & set(out):
                if owner[i] == owner[j]:
                    assert (far[i], i) < (far[j], j)


def test_one_trip_each_changes_nothing() -> None:
    label = np.repeat(np.arange(40), 5)
    assert keep_shares(label, np.arange(200), np.zeros(200), Fraction(1, 5)).tolist() == []
    assert keep_shares(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0), Fraction(1, 5)).tolist() == []


def test_how_many_stay() -> None:
    assert most_trips(np.array([200_000, 2, 2, 1]), Fraction(1, 3)) == 2
    assert most_trips(np.array([4, 4]), Fraction(1, 2)) == 4
    assert most_trips(np.array([4]), Fraction(1, 2)) == 0
    assert most_trips(np.array([4]), Fraction(1)) == 4
    assert [people_needed(2, Fraction(n, 10)) for n in (1, 3, 5, 9)] == [10, 4, 2, 2]
