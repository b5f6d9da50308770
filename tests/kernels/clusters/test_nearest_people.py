"""The nearest people against sorting."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.clusters.nearest_people import is_before, new_people, offer, reset
from wayveil.kernels.common.jit import kernel


@kernel
def play(who, far, tie, wanted):
    """Offer all, twice, with a reset between; return whether there are enough after each, and the last key."""
    people = new_people(wanted)
    enough, last = np.zeros(who.size, np.int64), np.empty((who.size, 3), np.float64)
    offer(people, -5, -1.0, -1.0, -1)
    reset(people)
    for i in range(who.size):
        if offer(people, who[i], far[i], tie[i], i):
            enough[i] = 1
            at = people.last[0]
            last[i, 0], last[i, 1], last[i, 2] = people.far[at], people.tie[at], people.index[at]
    return enough, last


@kernel
def before(a, b):
    return is_before(a[0], a[1], a[2], b[0], b[1], b[2])


triples = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=25)


@settings(deadline=None, max_examples=200)
@given(triples, st.integers(1, 4))
def test_the_last_person_is_the_one_that_sorting_finds(offers: list[tuple[int, int, int]], wanted: int) -> None:
    columns = np.array(offers)
    enough, last = play(columns[:, 0].copy(), columns[:, 1].astype(float), columns[:, 2].astype(float), wanted)
    for i in range(len(offers)):
        nearest: dict[int, tuple[int, int, int]] = {}
        for number, (who, far, tie) in enumerate(offers[: i + 1]):
            nearest[who] = min(nearest.get(who, (99, 0, 0)), (far, tie, number))
        keys = sorted(nearest.values())
        assert bool(enough[i]) == (len(keys) >= wanted)
        if enough[i]:
            assert tuple(last[i]) == keys[wanted - 1]


def test_keys_compare_like_tuples() -> None:
    keys = [(float(a), float(b), float(c)) for a in range(2) for b in range(2) for c in range(2)]
    for one in keys:
        for other in keys:
            assert before(np.array(one), np.array(other)) == (one < other)
