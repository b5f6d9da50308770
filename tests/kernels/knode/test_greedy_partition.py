"""The greedy partition against a plain restatement of Algorithms 2 and 3, with owners counted."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.knode.greedy_partition import partition
from wayveil.kernels.knode.overlap_graph import NO_EDGE

Edges = dict[tuple[int, int], float]


def pieces(vertices: set[int], edges: Edges) -> list[set[int]]:
    left, found = set(vertices), []
    while left:
        piece, waiting = set(), [min(left)]
        while waiting:
            v = waiting.pop()
            if v not in piece:
                piece.add(v)
                waiting += [b if a == v else a for a, b in edges if v in (a, b) and {a, b} <= left]
        found.append(piece)
        left -= piece
    return found


def find_group(
    component: set[int], edges: Edges, owner: list[int], spans: list[range], k: int
) -> tuple[tuple[int, int], set[int]]:
    """Algorithm 3: the lightest edge, then the lightest edge outwards, the last vertex interchanged if need be.

    Everybody in the group shares a time; an empty group where nobody can follow.
    """
    inside = {e: w for e, w in edges.items() if set(e) <= component}
    edge = min(inside, key=lambda e: (inside[e], e))
    group = set(edge)

    def owners(vertices: set[int]) -> int:
        return len({owner[v] for v in vertices})

    def outwards() -> list[int]:
        reach: dict[int, float] = {}
        for (a, b), w in inside.items():
            if (a in group) != (b in group):
                v = b if a in group else a
                if set.intersection(*(set(spans[u]) for u in group | {v})):
                    reach[v] = min(w, reach.get(v, w))
        return sorted(reach, key=lambda v: (reach[v], v))

    while owners(group) < k:
        order = outwards()
        if not order:
            return edge, set()
        if owners(group | {order[0]}) < k:
            group.add(order[0])
            continue
        last = [v for v in order if owners(group | {v}) == k]
        kept = [v for v in last if all(owners(p) >= k for p in pieces(component - group - {v}, inside))]
        group.add((kept or last)[0])
    return edge, group


def oracle(n: int, edges: Edges, owner: list[int], spans: list[range], k: int) -> set[frozenset[int]]:
    """Algorithm 2, with components of k and more; an edge around which there is no group is taken out.

    Components do not touch, so that it does not matter which comes first.
    """
    left, found = set(range(n)), set()
    edges = {(a, b): w for (a, b), w in edges.items() if set(spans[a]) & set(spans[b])}
    while True:
        large = [p for p in pieces(left, edges) if len({owner[v] for v in p}) >= k and len(p) > 1]
        if not large:
            return found
        edge, group = find_group(large[0], edges, owner, spans, k)
        if not group:
            del edges[edge]
            continue
        found.add(frozenset(group))
        left -= group


def kernel_groups(
    n: int, edges: Edges, owner: list[int], k: int, spans: list[range] | None = None
) -> set[frozenset[int]]:
    spans = [range(1)] * n if spans is None else spans
    weights = np.full((n, n), NO_EDGE)
    for (a, b), w in edges.items():
        if set(spans[a]) & set(spans[b]):
            weights[a, b] = weights[b, a] = w
    start = np.array([span[0] for span in spans])
    end = np.array([span[-1] for span in spans])
    label = partition(weights, np.array(owner, np.int64), start, end, k)
    assert label.min(initial=-1) >= -1
    return {frozenset(np.flatnonzero(label == g).tolist()) for g in range(label.max() + 1)}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, Edges, list[int], list[range]]:
    n = draw(st.integers(1, 11))
    dense = draw(st.sampled_from([2, 4, 9]))
    edges = {}
    for pair in combinations(range(n), 2):
        if draw(st.integers(0, 9)) < dense:
            edges[pair] = float(draw(st.integers(0, 6)))
    alike = draw(st.booleans())
    owner = [draw(st.integers(0, n - 1)) if alike else v for v in range(n)]
    spans = [range(1)] * n
    if draw(st.booleans()):
        first = [draw(st.integers(0, 4)) for _ in range(n)]
        spans = [range(begin, begin + draw(st.integers(1, 4))) for begin in first]
    return n, edges, owner, spans


@settings(deadline=None, max_examples=400)
@given(graph=graphs(), k=st.integers(2, 5))
def test_groups_are_those_of_the_algorithms(graph: tuple[int, Edges, list[int], list[range]], k: int) -> None:
    n, edges, owner, spans = graph
    assert kernel_groups(n, edges, owner, k, spans) == oracle(n, edges, owner, spans, k)


def test_an_edge_without_a_group_is_taken_out() -> None:
    # 0 and 1 meet late, when 2 and 3 are gone; 1, 2 and 3 meet early
    edges = {(0, 1): 1.0, (1, 2): 2.0, (2, 3): 3.0}
    spans = [range(5, 6), range(6), range(2), range(2)]
    assert kernel_groups(4, edges, list(range(4)), 3, spans) == {frozenset({1, 2, 3})}


def test_the_last_vertex_is_interchanged_if_it_strands_another() -> None:
    # 0-1-2 is lightest, but 5 hangs on 2 alone; with 3 instead nobody is stranded
    edges = {(0, 1): 1.0, (1, 2): 1.0, (1, 3): 2.0, (2, 4): 3.0, (2, 5): 3.0, (3, 4): 9.0}
    assert kernel_groups(6, edges, list(range(6)), 3) == {frozenset({0, 1, 3}), frozenset({2, 4, 5})}


def test_the_first_choice_stays_if_every_interchange_strands_someone() -> None:
    edges = {(0, 1): 1.0, (1, 2): 2.0, (1, 3): 3.0}
    assert kernel_groups(4, edges, list(range(4)), 3) == {frozenset({0, 1, 2})}


def test_the_stranded_vertex_itself_is_taken() -> None:
    # 0-1 leave 2 alone, so that 2 comes before the lighter 3
    edges = {(0, 1): 1.0, (1, 3): 2.0, (0, 2): 5.0, (3, 4): 3.0, (4, 5): 3.0}
    assert kernel_groups(6, edges, list(range(6)), 3) == {frozenset({0, 1, 2}), frozenset({3, 4, 5})}


def test_two_trajectories_of_one_owner_are_one_person() -> None:
    edges = {(0, 1): 1.0, (1, 2): 2.0}
    assert kernel_groups(3, edges, [0, 0, 1], 2) == {frozenset({0, 1, 2})}
    assert kernel_groups(3, edges, [0, 0, 0], 2) == set()
