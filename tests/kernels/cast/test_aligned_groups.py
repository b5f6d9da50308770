"""Aligned groups against every alignment, on small random taxonomies."""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.cast.aligned_groups import aligned_groups, embed_stops
from wayveil.kernels.cast.taxonomy_cover import WeightedTree

# Place, with Shop (S1, S2) and Park (P1, P2 and the pond P3) below it, and a Zoo: numbered in preorder
PARENT = [-1, 0, 1, 1, 0, 4, 4, 4, 0]
LAST = [9, 4, 3, 4, 8, 6, 7, 8, 9]
LEAVES = [2, 3, 5, 6, 7, 8]
WEIGHT = [1000, 500, 0, 0, 667, 0, 0, 0, 0]
TREE = WeightedTree(np.array(LAST), np.array(PARENT), np.array(WEIGHT))

trips = st.lists(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=4), min_size=2, max_size=7)


def above(node: int) -> list[int]:
    return [node, *(above(PARENT[node]) if node else [])]


@cache
def lowest(a: int, b: int) -> int:
    return next(node for node in above(a) if node in above(b))


def flat(records: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    return np.cumsum([0, *map(len, records)]), np.array([place for record in records for place in record])


def best_pair(one: list[int], other: list[int]) -> int:
    """The least loss of two trips that are published alike, over all ways to choose equally many stops of each."""
    least = 10**9
    for many in range(1, min(len(one), len(other)) + 1):
        for some in combinations(range(len(one)), many):
            for others in combinations(range(len(other)), many):
                nodes = [lowest(one[a], other[b]) for a, b in zip(some, others, strict=True)]
                kept = sum(1000 - WEIGHT[node] for node in nodes)
                least = min(least, 1000 * (len(one) + len(other)) - 2 * kept) if kept else least
    return least


def published(records: list[list[int]], node: np.ndarray) -> list[list[int]]:
    offsets = flat(records)[0]
    return [node[offsets[i] : offsets[i + 1]].tolist() for i in range(len(records))]


@settings(deadline=None, max_examples=150)
@given(trips)
def test_the_first_takes_in_whoever_costs_least_by_the_best_alignment(records: list[list[int]]) -> None:
    offsets, place = flat(records)
    label, node = aligned_groups(offsets, place, np.arange(len(records)), 2, TREE)
    costs = [best_pair(records[0], other) for other in records[1:]]
    if min(costs) == 10**9:
        assert label[0] == -1
        return
    partner = 1 + costs.index(min(costs))
    assert label[0] == label[partner] == 0
    shown = published(records, node)
    loss = sum(1000 - (1000 - WEIGHT[n] if n >= 0 else 0) for i in (0, partner) for n in shown[i])
    assert loss == min(costs)


@settings(deadline=None, max_examples=150)
@given(trips, st.integers(2, 3), st.data())
def test_members_are_of_different_people_and_go_through_the_same_nodes(
    records: list[list[int]], m: int, data: st.DataObject
) -> None:
    owner = data.draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records)))
    codes = np.unique(owner, return_inverse=True)[1]
    offsets, place = flat(records)
    label, node = aligned_groups(offsets, place, codes, m, TREE)
    shown = published(records, node)
    for group in range(int(label.max()) + 1):
        members = np.flatnonzero(label == group).tolist()
        assert len(members) == len({owner[i] for i in members}) == m
        sequences = [[n for n in shown[i] if n >= 0] for i in members]
        assert sequences[0]
        assert all(sequence == sequences[0] for sequence in sequences)
        assert 0 not in sequences[0]
    for i, record in enumerate(records):
        assert all(n < 0 or n in above(p) for n, p in zip(shown[i], record, strict=True))
        assert label[i] >= 0 or set(shown[i]) == {-1}


@settings(deadline=None, max_examples=150)
@given(trips, st.lists(st.lists(st.sampled_from([1, 4, *LEAVES]), min_size=1, max_size=3), min_size=1, max_size=4))
def test_riders_join_the_most_telling_group_that_they_go_through(
    records: list[list[int]], groups: list[list[int]]
) -> None:
    offsets, place = flat(records)
    joined, node = embed_stops(offsets, place, *flat(groups), TREE)
    shown = published(records, node)
    for i, record in enumerate(records):
        fits = [
            g
            for g, nodes in enumerate(groups)
            if any(
                all(n in above(record[at]) for n, at in zip(nodes, stops, strict=True))
                for stops in combinations(range(len(record)), len(nodes))
            )
        ]
        worth = {g: sum(1000 - WEIGHT[n] for n in groups[g]) for g in fits}
        best = next((g for g in fits if worth[g] == max(worth.values())), -1)
        assert joined[i] == best
        assert [n for n in shown[i] if n >= 0] == (groups[best] if best >= 0 else [])
        assert all(n < 0 or n in above(p) for n, p in zip(shown[i], record, strict=True))
