"""The table of sequences against a dictionary, and ascending parts against sets."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.common.sequence_table import find_row, grown, has_part, insert_row, new_table, roomy

sequences = st.lists(st.lists(st.integers(0, 5), max_size=4), max_size=60)


def array(values):
    return np.array(values, np.int64)


@given(sequences, sequences)
@settings(deadline=None, max_examples=200)
def test_a_table_is_a_dictionary(known, asked):
    table, rows = new_table(1, 4), {}
    for q in known:
        if tuple(q) not in rows:
            table = roomy(table, 1)
            rows[tuple(q)] = insert_row(table, array([9, *q]), 1, len(q))
    assert list(rows.values()) == list(range(len(rows)))
    assert table.meta.tolist() == [len(rows), 5]
    for q in known + asked:
        assert find_row(table, array([8, *q, 7]), 1, len(q)) == rows.get(tuple(q), -1)


def test_a_table_grows_and_keeps_its_rows():
    rng = random.Random(1)
    known = list({tuple(rng.randrange(10**9) for _ in range(rng.randint(1, 3))) for _ in range(3000)})
    table = new_table(4, 3)
    for n, q in enumerate(known):
        table = roomy(table, 1)
        assert insert_row(table, array(q), 0, len(q)) == n
        assert 2 * table.meta[0] <= table.slots.size  # at most half full
    for n, q in enumerate(known):
        assert find_row(table, array(q), 0, len(q)) == n
        assert table.rows[n * 4 : n * 4 + 1 + len(q)].tolist() == [len(q), *q]
        assert find_row(table, array([*q, 0]), 0, len(q) + 1) == -1 or (*q, 0) in known


def test_a_table_with_room_stays_the_same():
    table = new_table(10, 2)
    assert roomy(table, 10).rows.size == table.rows.size == 30
    assert roomy(table, 11).rows.size >= 33


def test_an_array_grows_only_when_it_must():
    values = array([4, 5])
    assert grown(values, 2).tolist() == [4, 5]
    assert grown(values, 2).size == 2
    assert grown(values, 3).size == 6
    assert grown(values, 3)[:2].tolist() == [4, 5]


@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
@settings(deadline=None, max_examples=300)
def test_parts(whole, part):
    outer, inner = array([5, *sorted(whole), 6]), array([7, *sorted(part), 8])
    assert has_part(outer, 1, len(whole), inner, 1, len(part)) == (part <= whole)
