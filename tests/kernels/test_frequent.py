"""Frequent sequences against the definition, on tables small enough to try every set of items."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.frequent.maximal_sequences import (
    mine_maximal,
    mine_maximal_within,
    most_frequent,
    sequence_supports,
)

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "kcl" / "mfs.json").read_text())


def arrays(records):
    """(owner, set of items) pairs, sorted by owner, as the kernels take them."""
    lengths = [len(items) for _, items in records]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    items = np.array([i for _, items in records for i in items], np.int64)
    return offsets, items, np.array([who for who, _ in records], np.int64)


def listed(found):
    first, item, support = found
    assert first.dtype == item.dtype == support.dtype == np.int64
    assert len(first) == len(support) + 1
    return [(item[first[s] : first[s + 1]].tolist(), int(support[s])) for s in range(len(support))]


def supports_by_definition(records, n_items):
    return {
        sequence: len({who for who, items in records if set(sequence) <= set(items)})
        for size in range(1, n_items + 1)
        for sequence in combinations(range(n_items), size)
    }


def maximal_by_definition(records, n_items, min_support):
    supports = supports_by_definition(records, n_items)
    frequent = {s for s, n in supports.items() if n >= min_support}
    kept = [s for s in frequent if not any(set(s) < set(other) for other in frequent)]
    return [(list(s), supports[s]) for s in sorted(kept)]


@st.composite
def tables(draw, most_per_owner=3):
    n_items = draw(st.integers(1, 7))
    record = st.lists(st.integers(0, n_items - 1), unique=True, max_size=n_items).map(sorted)
    people = draw(st.lists(st.lists(record, min_size=1, max_size=most_per_owner), max_size=9))
    return [(who, items) for who, own in enumerate(people) for items in own], n_items


either = st.one_of(tables(), tables(most_per_owner=1))


@settings(deadline=None, max_examples=200)
@given(either, st.integers(1, 5))
def test_maximal_sequences_are_those_of_the_definition(table, min_support):
    records, n_items = table
    found = mine_maximal(*arrays(records), n_items, min_support)
    assert listed(found) == maximal_by_definition(records, n_items, min_support)


@settings(deadline=None, max_examples=50)
@given(tables(most_per_owner=1), st.integers(1, 4), st.randoms())
def test_the_order_of_records_and_of_their_items_does_not_matter(table, min_support, random):
    records, n_items = table
    before = mine_maximal(*arrays(records), n_items, min_support)
    best = most_frequent(*arrays(records), n_items, 4)
    mixed = [random.sample(items, len(items)) for _, items in records]
    random.shuffle(mixed)
    mixed = list(enumerate(mixed))
    assert listed(mine_maximal(*arrays(mixed), n_items, min_support)) == listed(before)
    assert listed(most_frequent(*arrays(mixed), n_items, 4)) == listed(best)


@settings(deadline=None, max_examples=200)
@given(either, st.integers(1, 8))
def test_the_most_frequent_sequences_have_the_largest_supports(table, most):
    records, n_items = table
    supports = {s: n for s, n in supports_by_definition(records, n_items).items() if len(s) > 1 and n > 0}
    found = listed(most_frequent(*arrays(records), n_items, most))
    assert [n for _, n in found] == sorted(supports.values(), reverse=True)[:most]
    assert all(supports[tuple(s)] == n for s, n in found)
    assert len({tuple(s) for s, _ in found}) == len(found)


@settings(deadline=None, max_examples=200)
@given(either, st.data())
def test_supports_of_given_sequences(table, data):
    records, n_items = table
    sequence = st.lists(st.integers(0, n_items - 1), unique=True, min_size=1).map(sorted)
    asked = data.draw(st.lists(sequence, max_size=6))
    first, item, _ = arrays([(0, s) for s in asked])
    supports = supports_by_definition(records, n_items)
    found = sequence_supports(*arrays(records), n_items, first, item)
    assert found.tolist() == [supports[tuple(s)] for s in asked]


@pytest.mark.parametrize("table", ["table_1", "table_2"])
def test_the_tables_of_the_paper(table):
    words = sorted({word for record in GOLDEN[table] for word in record.split()}, key=lambda w: (w[1:], w))
    records = [(who, [words.index(word) for word in record.split()]) for who, record in enumerate(GOLDEN[table])]
    found = listed(mine_maximal(*arrays(records), len(words), GOLDEN["min_support"]))
    named = [[words[i] for i in s] for s, _ in found]
    assert {" ".join(s): n for s, (_, n) in zip(named, found, strict=True)} == GOLDEN[f"{table}_mfs"]
    if table == "table_1":
        per_visit = {word: sum(word in s for s in named) for word in words}
        assert per_visit == GOLDEN["table_1_sequences_per_visit"]


def test_maximal_sequences_do_not_determine_the_supports_of_their_parts():
    one, two = [(0, [0]), (1, [0, 1]), (2, [0, 1])], [(0, [2]), (1, [0, 1]), (2, [0, 1])]
    same = [listed(mine_maximal(*arrays(records), 3, 2)) for records in (one, two)]
    assert same[0] == same[1] == [([0, 1], 2)]
    asked = np.array([0, 1]), np.array([0])
    assert [int(sequence_supports(*arrays(records), 3, *asked)[0]) for records in (one, two)] == [3, 2]


def test_random_tables_of_more_and_longer_records():
    rng = np.random.default_rng(5)
    for n_items, share in ((40, 0.1), (25, 0.25), (12, 0.7)):
        rows = [np.flatnonzero(rng.random(n_items) < share).tolist() for _ in range(300)]
        records = [(who, items) for who, items in zip(np.sort(rng.integers(0, 200, 300)).tolist(), rows, strict=True)]
        first, item, support = mine_maximal(*arrays(records), n_items, 12)
        found = listed((first, item, support))
        assert sequence_supports(*arrays(records), n_items, first, item).tolist() == support.tolist()
        inside = [set(s) for s, _ in found]
        assert not any(a < b for a in inside for b in inside)
        for s in inside:
            grown = [sorted(s | {i}) for i in range(n_items) if i not in s]
            first, item, _ = arrays([(0, g) for g in grown])
            assert sequence_supports(*arrays(records), n_items, first, item).max() < 12


def test_work_is_bounded():
    records = [(who, [i for i in range(12) if i != who % 12]) for who in range(48)]
    assert mine_maximal_within(*arrays(records), 12, 24, 1000) is None
    found = mine_maximal_within(*arrays(records), 12, 24, 10**7)
    assert found is not None
    assert len(found[2]) == 924  # all sets of six of twelve: 24 of the 48 have none of the other six


@pytest.mark.parametrize("records", [[], [(0, [])], [(0, []), (1, [])]])
def test_nothing_in_the_table(records):
    assert listed(mine_maximal(*arrays(records), 0, 1)) == []
    assert listed(most_frequent(*arrays(records), 0, 5)) == []
    assert sequence_supports(*arrays(records), 2, np.array([0, 1]), np.array([1])).tolist() == [0]


def test_read_only_and_narrow_columns_are_taken():
    offsets, items, owner = arrays([(0, [0, 1]), (1, [0, 1])])
    for column in (offsets, items, owner):
        column.flags.writeable = False
    assert listed(mine_maximal(offsets, items.astype(np.int32), owner, 2, 2)) == [([0, 1], 2)]
