"""Which patterns cover which, against all pairs."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.frequent.pattern_cover import Ancestry, Growth, cover_patterns
from wayveil.model.data.ragged import offsets_of

PARENT = [-1, 0, 1, 1, 0, 4, 4, 4, 0]  # 0 is above 1 (2, 3), 4 (5, 6, 7) and 8
DEPTH = [0, 1, 2, 2, 1, 2, 2, 2, 1]
LEAVES = [6, 2, 1, 1, 3, 1, 1, 1, 1]


def above(node):
    return {node} | (above(PARENT[node]) if PARENT[node] >= 0 else set())


def with_beginnings(patterns):
    return sorted({p[:n] for p in patterns for n in range(1, len(p) + 1)}, key=lambda p: (len(p), p))


def columns(patterns):
    number = {p: i for i, p in enumerate(patterns)}
    before = np.array([number.get(p[:-1], -1) for p in patterns], np.int64)
    return before, np.array([p[-1] for p in patterns], np.int64)


def by_definition(old, new):
    found = []
    for p in old:
        fits = [q for q in new if len(q) == len(p) and all(b in above(a) for a, b in zip(p, q, strict=True))]
        found.append(
            (
                min(q.count(0) for q in fits),
                min(sum(DEPTH[a] - DEPTH[b] for a, b in zip(p, q, strict=True)) for q in fits),
                min(sum(LEAVES[b] - LEAVES[a] for a, b in zip(p, q, strict=True)) for q in fits),
            )
            if fits
            else (-1, 0, 0)
        )
    return found


pattern = st.lists(st.integers(0, 8), min_size=1, max_size=4).map(tuple)
patterns = st.sets(pattern, max_size=12).map(with_beginnings)


@settings(deadline=None, max_examples=300)
@given(patterns, patterns)
def test_all_pairs(old, new):
    before, last = columns(new)
    order = np.lexsort((last, before))
    offsets = offsets_of(np.bincount(before + 1, minlength=len(new) + 1))
    tree = Ancestry(*(np.array(column, np.int64) for column in (PARENT, DEPTH, LEAVES)))
    found = cover_patterns(*columns(old), Growth(order, last[order], offsets), tree)
    assert list(zip(*(column.tolist() for column in found), strict=True)) == by_definition(old, new)
