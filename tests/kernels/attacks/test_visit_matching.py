"""The matching kernels against the definition: a trajectory fits if it has every known visit."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.attacks.visit_matching import VisitLists, count_fitting, doublet_codes, inverted_lists, match_sets

ITEMS = 6


@st.composite
def tables(draw):
    """Records of items with an owner and two attributes each, and sets of items to look for."""
    record = st.lists(st.integers(0, ITEMS - 1), max_size=ITEMS, unique=True)
    records = draw(st.lists(record, max_size=12))
    n = len(records)
    owner = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    first = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=n, max_size=n))
    second = draw(st.lists(st.sampled_from([-1, 2]), min_size=n, max_size=n))
    known = st.lists(st.integers(0, ITEMS - 1), min_size=1, max_size=4, unique=True)
    return records, owner, list(zip(first, second, strict=True)), draw(st.lists(known, max_size=10))


def lists_of(records, owner, values):
    order = np.argsort(np.array(owner, np.int64), kind="stable")
    offsets = np.cumsum([0] + [len(r) for r in records]).astype(np.int64)
    items = np.array([i for r in records for i in r], np.int64)
    starts, slots = inverted_lists(offsets, items, order, ITEMS)
    table = np.array(values, np.int64).reshape(-1, 2)[order]
    return VisitLists(starts, slots, np.array(owner, np.int64)[order], table, 3)


def padded(sets):
    return np.array([s + [-1] * (4 - len(s)) for s in sets], np.int64).reshape(-1, 4)


def oracle(records, owner, values, known):
    fits = [i for i, r in enumerate(records) if set(known) <= set(r)]
    having = [{owner[i] for i in fits if v in values[i]} for v in range(3)]
    return len({owner[i] for i in fits}), max(len(h) for h in having)


@given(tables())
@settings(deadline=None, max_examples=300)
def test_match_sets_counts_owners_and_their_most_frequent_value(table):
    records, owner, values, sets = table
    owners, best = match_sets(lists_of(records, owner, values), padded(sets))
    expected = [oracle(records, owner, values, known) for known in sets]
    assert list(zip(owners.tolist(), best.tolist(), strict=True)) == expected


@given(tables(), st.integers(-1, 5))
@settings(deadline=None, max_examples=200)
def test_trajectories_are_counted_and_those_of_the_victim(table, victim):
    records, owner, values, sets = table
    sets = sets + sets[:2]  # the same sets again, for another victim
    victims = [victim, *(i % 5 for i in range(len(sets)))][: len(sets)]
    found = count_fitting(lists_of(records, owner, values), padded(sets), np.array(victims, np.int64))
    for row, known, who in zip(found.tolist(), sets, victims, strict=True):
        fits = [i for i, r in enumerate(records) if set(known) <= set(r)]
        own = Counter(owner[i] for i in fits)
        carrying = max(sum(v in values[i] for i in fits) for v in range(3))
        assert row == [
            *oracle(records, owner, values, known),
            len(fits),
            carrying,
            own[who],
            max(own.values(), default=0),
        ]


@given(tables())
@settings(deadline=None, max_examples=100)
def test_neighbours_that_begin_alike_change_nothing(table):
    records, owner, values, sets = table
    alike = sorted(known[:n] for known in sets for n in range(1, len(known) + 1))
    owners, _ = match_sets(lists_of(records, owner, values), padded(alike))
    assert owners.tolist() == [oracle(records, owner, values, known)[0] for known in alike]


@given(tables())
@settings(deadline=None, max_examples=100)
def test_inverted_lists_name_the_records_of_each_item_in_order(table):
    records, owner, values, _ = table
    starts, slots, owner_of_slot, _, _ = lists_of(records, owner, values)
    order = np.argsort(np.array(owner, np.int64), kind="stable").tolist()
    for item in range(ITEMS):
        found = slots[starts[item] : starts[item + 1]].tolist()
        assert found == [slot for slot, record in enumerate(order) if item in records[record]]
    assert (np.diff(owner_of_slot) >= 0).all()


def test_a_long_list_is_leapt_over():
    records = [[0] for _ in range(5000)] + [[0, 1]]
    owner = list(range(5001))
    lists = lists_of(records, owner, [(-1, -1)] * 5001)
    for known in ([0, 1], [1, 0]):
        assert match_sets(lists, padded([known]))[0].tolist() == [1]


def test_no_attribute_means_no_best_value():
    lists = lists_of([[0], [0]], [0, 1], [(0, 2), (0, 2)])
    owners, best = match_sets(lists._replace(value=np.empty((2, 0), np.int64), n_values=0), padded([[0]]))
    assert (owners.tolist(), best.tolist()) == ([2], [0])


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([0, 1, 7, -(2**62), 2**62, 10**15])),
        max_size=30,
    )
)
@settings(deadline=None, max_examples=200)
def test_doublet_codes_are_equal_exactly_for_equal_doublets(rows):
    codes, n = doublet_codes(np.array([p for p, _ in rows], np.int64), np.array([t for _, t in rows], np.int64))
    assert all(0 <= code < n for code in codes.tolist())
    for i, one in enumerate(rows):
        for j, other in enumerate(rows):
            assert (codes[i] == codes[j]) == (one == other)


def test_doublet_codes_of_many_places_and_times_stay_small():
    t = np.arange(100_000) * 1_000_003
    codes, n = doublet_codes(np.arange(100_000), t)
    assert n == 100_000
    assert len(np.unique(codes)) == n
