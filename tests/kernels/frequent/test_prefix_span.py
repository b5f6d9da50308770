"""Sequential patterns against a list of all subsequences."""

from collections import Counter
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.frequent.prefix_span import mine_patterns
from wayveil.model.data.ragged import offsets_of

records = st.lists(st.lists(st.integers(0, 4), max_size=7), max_size=8)


def columns(listed):
    return (
        offsets_of(np.array([len(r) for r in listed], np.int64)),
        np.array([x for r in listed for x in r], np.int64),
    )


def mine(listed, support, longest, most_patterns=10**6, most_steps=10**9):
    before, last, supports, n = mine_patterns(*columns(listed), 5, support, longest, most_patterns, most_steps)
    if n < 0:
        return None
    patterns = []
    for p in range(n):
        assert before[p] < p
        patterns.append((*(patterns[before[p]] if before[p] >= 0 else ()), int(last[p])))
    assert len(set(patterns)) == n
    return dict(zip(patterns, supports[:n].tolist(), strict=True))


def by_definition(listed, support, longest):
    found = Counter()
    for r in listed:
        found.update({part for n in range(1, longest + 1) for part in combinations(r, n)})
    return {part: number for part, number in found.items() if number >= support}


@settings(deadline=None, max_examples=300)
@given(records, st.integers(1, 4), st.integers(1, 5))
def test_all_patterns_with_their_supports(listed, support, longest):
    assert mine(listed, support, longest) == by_definition(listed, support, longest)


def test_many_patterns_and_rows_make_the_columns_grow():
    rng = np.random.default_rng(5)
    listed = [rng.integers(0, 5, 9).tolist() for _ in range(200)]
    found = mine(listed, 2, 5)
    assert len(found) > 1000
    assert found == by_definition(listed, 2, 5)


def test_it_stops_where_there_are_too_many():
    listed = [[0, 1, 2], [0, 1, 2]]
    assert len(mine(listed, 2, 3, most_patterns=7)) == 7
    assert mine(listed, 2, 3, most_patterns=6) is None
    # Three rows of two sequences for the first items; then those behind 0 (and itself), 1, 2, and 0 1, 0 2, 1 2.
    assert mine(listed, 2, 3, most_steps=6 + 2 * (3 + 2 + 1 + 2 + 1 + 1)) is not None
    assert mine(listed, 2, 3, most_steps=6 + 2 * (3 + 2 + 1 + 2 + 1 + 1) - 1) is None


def test_nothing_has_no_patterns():
    assert mine([], 1, 3) == {}
    assert mine([[], []], 1, 3) == {}
