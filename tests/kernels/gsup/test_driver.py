"""The counts of all classes while visits go and come back, and the tables under them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numba
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.gsup import adversary_classes as columns
from wayveil.kernels.gsup.class_heap import larger_heap, pop, push
from wayveil.kernels.gsup.driver import VisitTable, _with_room, count_unsafe, new_state
from wayveil.kernels.gsup.greedy_choice import delete_everywhere
from wayveil.kernels.gsup.key_table import add, drop_last, find, larger_table, new_table

ADVERSARY = np.array([0, 0, 1, 1, -1])


@numba.njit
def use_table(table, keys, drop):  # type: ignore[no-untyped-def]
    """Add keys that are not there, take the last out where `drop` says so; return where each was found."""
    found = np.empty(keys.size, np.int64)
    for i in range(keys.size):
        at = find(table.slots, table.keys, keys[i])
        found[i] = add(table, keys[i], at) if at < 0 else at
        if drop[i]:
            drop_last(table)
    return found


@numba.njit
def push_all(heap, key, tie):  # type: ignore[no-untyped-def]
    for i in range(key.size):
        push(heap, key[i], tie[i], i)


@numba.njit
def pop_all(heap, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        out[i] = heap.cls[0]
        pop(heap)


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 40), st.booleans()), max_size=60))
def test_a_table_numbers_its_keys_and_forgets_the_last(steps: list[tuple[int, bool]]) -> None:
    keys, drop = (np.array([s[i] * (1 << 33 if i == 0 else 1) for s in steps], np.int64) for i in range(2))
    listed: list[int] = []
    expected = []
    for key, out in zip(keys.tolist(), drop.tolist(), strict=True):
        if key not in listed:
            listed.append(key)
        expected.append(listed.index(key))
        if out:
            listed.pop()
    table = new_table(64)
    assert use_table(table, keys, drop.astype(np.bool_)).tolist() == expected
    assert table.keys[: table.used[0]].tolist() == listed
    again = larger_table(table, 200)
    everything = np.array(listed, np.int64)
    assert use_table(again, everything, np.zeros(len(listed), np.bool_)).tolist() == list(range(len(listed)))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=40))
def test_a_heap_returns_the_smallest_key_and_tie_first(pairs: list[tuple[int, int]]) -> None:
    heap = larger_heap(larger_heap(None, 1), len(pairs))
    push_all(heap, np.array([float(k) for k, _ in pairs]), np.array([t for _, t in pairs]))
    out = np.empty(len(pairs), np.int64)
    assert (heap.size.tolist(), heap.n_tickets.tolist()) == ([len(pairs)], [len(pairs)])
    pop_all(heap, out)
    assert [pairs[i] for i in out.tolist()] == sorted(pairs)
    assert heap.size[0] == 0


def counted(records: list[list[int]], owner: list[int]) -> dict[Any, tuple[int, int]]:
    """Owners and trajectories per (adversary, class) and per (adversary, class, place)."""
    found: dict[Any, list[int]] = {}
    for i, record in enumerate(records):
        for k in range(2) if record else ():
            seen = tuple(x for x in record if ADVERSARY[x] == k)
            for place in {x for x in record if ADVERSARY[x] != k} | {None}:
                found.setdefault((k, seen, place), []).append(i)
    return {key: (len({owner[i] for i in members}), len(members)) for key, members in found.items()}


def held(state: Any) -> dict[Any, tuple[int, int]]:
    """The same from the state, without what is zero."""
    found, paths = {}, {}
    for c in range(int(state.trie.used[0]) + 2):
        parent = int(state.node[c, columns.PARENT])
        paths[c] = (c, ()) if c < 2 else (paths[parent][0], (*paths[parent][1], int(state.node[c, columns.ITEM])))
        found[(*paths[c], None)] = (int(state.node[c, columns.OWNERS]), int(state.node[c, columns.RECORDS]))
    for row in state.entry[: state.counts.used[0]]:
        key = (*paths[int(row[columns.CLASS])], int(row[columns.PLACE]))
        found[key] = (int(row[columns.N_OWNERS]), int(row[columns.N_RECORDS]))
    return {key: n for key, n in found.items() if n != (0, 0)}


def pairs_at_risk(counts: dict[Any, tuple[int, int]], p: Fraction) -> int:
    total = 0
    for (k, seen, place), (owners, records) in counts.items():
        people, all_records = counts[k, seen, None]
        if place is not None and (Fraction(owners, people) > p or Fraction(records, all_records) > p):
            total += people
    return total


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.lists(st.integers(0, 4), max_size=5), min_size=1, max_size=8),
    st.lists(st.integers(0, 3), min_size=8, max_size=8),
    st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=6),
    st.booleans(),
)
def test_counts_stay_true_and_come_back(
    records: list[list[int]], owners: list[int], steps: list[tuple[int, bool]], several: bool
) -> None:
    owner, p = sorted(owners[: len(records)]) if several else list(range(len(records))), Fraction(1, 2)
    place = np.array([x for r in records for x in r], np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in records])]).astype(np.int64)
    allowed = np.arange(len(records) + 1) // 2
    state = new_state(VisitTable(offsets, place, place, np.array(owner), ADVERSARY, allowed))
    count_unsafe(state)
    for what, commit in steps:
        before = counted(records, owner)
        assert held(state) == before
        state = _with_room(state, 100)
        used = [int(table.used[0]) for table in (state.trie, state.counts, state.pairs)]
        having = np.array([i for i, r in enumerate(records) if what in r], np.int64)
        gain, loss, visits = delete_everywhere(state, having, what, commit)
        after = [[x for x in r if x != what] for r in records]
        assert visits == loss == sum(map(len, records)) - sum(map(len, after))
        assert gain == pairs_at_risk(before, p) - pairs_at_risk(counted(after, owner), p)
        if commit:
            records = after
        else:
            assert [int(table.used[0]) for table in (state.trie, state.counts, state.pairs)] == used
    assert held(state) == counted(records, owner)
