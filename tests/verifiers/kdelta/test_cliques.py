"""Sets of enough people that are all close to each other, against every subset."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.kdelta import cliques
from wayveil.verifiers.kdelta.cliques import gather, grow, search


def people_of(people, members):
    return frozenset().union(*(people[i] for i in members))


def is_set(close, members):
    return all(close[i, j] for i, j in combinations(members, 2))


def most_people(close, people):
    """The largest number of people in a set around 0, from the definition."""
    others = range(1, len(people))
    return max(
        len(people_of(people, (0, *some)))
        for size in range(len(people))
        for some in combinations(others, size)
        if is_set(close, (0, *some))
    )


@st.composite
def graphs(draw, most_owners=3):
    n = draw(st.integers(1, 8))
    close = np.eye(n, dtype=bool)
    for i, j in combinations(range(n), 2):
        close[i, j] = close[j, i] = i == 0 or draw(st.integers(0, 3)) > 0
    owners = st.frozensets(st.integers(-3, 9), min_size=1, max_size=most_owners)
    return close, [draw(owners) for _ in range(n)]


@given(graphs(), st.integers(1, 12))
@settings(deadline=None, max_examples=400)
def test_search_finds_a_set_iff_there_is_one(graph, k):
    close, people = graph
    found = search(close, people, k, StepBudget(10**6))
    assert (found is not None) == (most_people(close, people) >= k)
    if found is not None:
        assert 0 in found
        assert len(set(found)) == len(found)
        assert is_set(close, found)
        assert len(people_of(people, found)) >= k


def test_who_shares_people_with_the_first_is_not_left_out():
    close = np.ones((3, 3), bool)
    people = [frozenset({1}), frozenset({1, 2}), frozenset({1, 3})]
    assert search(close, people, 3, StepBudget(100)) == [0, 1, 2]
    assert search(close, [frozenset({1}), frozenset({2}), frozenset({2, 3})], 3, StepBudget(100)) == [0, 2]


@given(graphs(most_owners=1), st.integers(1, 8))
@settings(deadline=None, max_examples=200)
def test_search_with_one_owner_each(graph, k):
    close, people = graph
    assert (search(close, people, k, StepBudget(10**6)) is not None) == (most_people(close, people) >= k)


@given(graphs(), st.integers(1, 9), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=300)
def test_gather_never_lies_and_stops_only_when_nothing_fits(graph, k, random):
    close, people = graph
    order = list(range(len(people)))
    random.shuffle(order)
    found = gather(close, people, k, order)
    if found is not None:
        assert 0 in found
        assert len(set(found)) == len(found)
        assert is_set(close, found)
        assert len(people_of(people, found)) >= k
        assert all(not is_set(close, (*found, i)) for i in order if i not in found)


@given(graphs(), st.integers(1, 9))
@settings(deadline=None, max_examples=200)
def test_grow_never_lies(graph, k):
    close, people = graph
    found = grow(close, people, k, StepBudget(10**6))
    if found is not None:
        assert 0 in found
        assert len(set(found)) == len(found)
        assert is_set(close, found)
        assert len(people_of(people, found)) >= k


def test_grow_finds_a_set_that_hides_in_a_crowd():
    """Sixteen who are all together, among 120 who are close to each other half of the time."""
    rng = np.random.default_rng(4)
    close = np.triu(rng.random((136, 136)) < 0.5, 1)
    members = [0, *range(1, 136, 9)]
    close[np.ix_(members, members)] = True
    close[0] = True
    close = close | close.T
    alone = [frozenset({i}) for i in range(136)]
    found = grow(close, alone, 16, StepBudget(10**6))
    assert is_set(close, found)
    assert len(found) == 16
    assert gather(close, alone, 16, range(136)) is None
    with pytest.raises(BudgetExceeded):
        grow(close, alone, 16, StepBudget(100))


def graph_of(n, pairs):
    close = np.eye(n, dtype=bool)
    close[0] = True
    for i, j in pairs:
        close[i, j] = True
    return close | close.T


def test_grow_takes_only_those_who_bring_somebody_new(monkeypatch):
    monkeypatch.setattr(cliques, "STARTS", 1)
    people = [frozenset({1}), frozenset({2}), frozenset({2}), frozenset({2}), frozenset({3})]
    close = graph_of(5, [(1, 2), (1, 3), (2, 3), (1, 4)])  # 2 and 3 have company, but are of the person of 1
    assert grow(close, people, 3, StepBudget(1000)) == [0, 1, 4]


def test_grow_counts_only_company_that_is_left(monkeypatch):
    monkeypatch.setattr(cliques, "STARTS", 1)
    alone = [frozenset({i}) for i in range(18)]
    with_one = [(1, i) for i in (2, 3, 4, *range(10, 18))]  # so 1 is the start
    close = graph_of(18, [*with_one, (2, 3), *((4, i) for i in range(5, 10))])  # 4 has most, but nobody close to 1
    assert grow(close, alone, 4, StepBudget(1000)) == [0, 1, 2, 3]


def test_gather_takes_new_people_first_and_then_everything_that_fits():
    close = np.ones((4, 4), bool)
    close[1, 2] = close[2, 1] = False  # 1 brings nobody new and shuts out 2
    people = [frozenset({7}), frozenset({7}), frozenset({8}), frozenset({8})]
    assert gather(close, people, 2, [0, 1, 2, 3]) == [0, 2, 3]


def joined_pentagons(count):
    """The largest set has 2 per pentagon, but no fewer than 3 classes per pentagon hold it: bounds do not help."""
    n = 5 * count
    close = np.ones((n + 1, n + 1), bool)
    for p in range(count):
        for i in range(5):
            one, other = 1 + 5 * p + i, 1 + 5 * p + (i + 2) % 5
            close[one, other] = close[other, one] = False
    return close, [frozenset({i}) for i in range(n + 1)]


def test_search_where_bounds_do_not_help():
    close, people = joined_pentagons(3)
    assert len(search(close, people, 7, StepBudget(10**6))) == 7
    assert search(close, people, 8, StepBudget(10**6)) is None


def test_search_stops_at_the_limit():
    close, people = joined_pentagons(6)
    with pytest.raises(BudgetExceeded):
        search(close, people, 14, StepBudget(5_000))
    with pytest.raises(BudgetExceeded):  # comparing owners is work, too
        search(close, people, 14, StepBudget(len(people) ** 2 // 2 - 1))


def test_deep_sets_need_no_recursion():
    n = 1_100
    assert len(search(np.ones((n, n), bool), [frozenset({i}) for i in range(n)], n, StepBudget(10**8))) == n
