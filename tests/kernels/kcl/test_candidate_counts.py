"""Sequences counted in pieces, added up and judged: what one search through all records finds."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from wayveil.kernels.common.sequence_table import find_row
from wayveil.kernels.kcl.candidate_counts import (
    CLEAN,
    COMMON,
    THREAT,
    Counts,
    count_candidates,
    fill_table,
    judge_candidates,
    locate_threats,
)
from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Privacy, Records, inverted

# A table is a list of (owner, items, sensitive values), sorted by owner; items ascend, -1 is a value that is not
# sensitive.


def records_of(table, n_items, n_values):
    n_attributes = len(table[0][2])
    owner = np.unique([o for o, _, _ in table], return_inverse=True)[1].astype(np.int64)
    offsets = np.cumsum([0] + [len(items) for _, items, _ in table]).astype(np.int64)
    items = np.array([i for _, items, _ in table for i in items], np.int64)
    first = np.searchsorted(owner, np.arange(owner[-1] + 2)).astype(np.int64)
    values = np.array([v for _, _, values in table for v in values], np.int64)
    alive = np.ones(len(items), np.int64)
    return Records(offsets, items, alive, owner, first, values, n_items, n_values, n_attributes, NO_LIMIT)


def table_of(sequences, longest):
    rows = [[len(q), *q, *[0] * (longest - len(q))] for q in sequences]
    return fill_table(np.array(rows, np.int64).reshape(-1, longest + 1).ravel(), longest)


def random_table(rng, *, n_items, attributes):
    table = []
    for owner in range(rng.randint(1, 9)):
        for _ in range(rng.choice([1, 1, 2])):
            items = [i for i in range(n_items) if rng.random() < 0.6]
            table.append((owner, items, [rng.choice([-1, 2 * a, 2 * a + 1]) for a in range(attributes)]))
    return table


def owners_of(table, q):
    """Return how many owners have a sequence, and how many of them each sensitive value, in a record with it."""
    mine = [(owner, value) for owner, items, values in table if set(q) <= set(items) for value in [*values, -1]]
    having = Counter(value for _, value in {(owner, value) for owner, value in mine if value >= 0})
    return len({owner for owner, _ in mine}), having


def counted(records, known, length, first, until):
    counts = count_candidates(records, inverted(records), known, length, first, until)
    n, n_values = len(counts.support), records.n_values
    sequences = [tuple(q) for q in counts.items.reshape(n, length).tolist()]
    assert len(set(sequences)) == n
    having = counts.having.reshape(n, n_values).tolist()
    return {q: (owners, have) for q, owners, have in zip(sequences, counts.support.tolist(), having, strict=True)}


@pytest.mark.parametrize("attributes", [0, 1, 2])
def test_candidates_are_counted_as_defined(attributes: int) -> None:
    rng, seen = random.Random(attributes), 0
    for _ in range(150):
        n_items, length = rng.randint(1, 6), rng.randint(1, 4)
        table = random_table(rng, n_items=n_items, attributes=attributes)
        shorter = [q for n in range(1, length) for q in combinations(range(n_items), n) if rng.random() < 0.9]
        known = {q for q in shorter if all(part in shorter for n in range(1, len(q)) for part in combinations(q, n))}
        first, until = rng.randint(0, 1), n_items - rng.randint(0, 1)
        records = records_of(table, n_items, 2 * attributes)
        got = counted(records, table_of(sorted(known), max(1, length - 1)), length, first, until)
        expected = {
            q: owners_of(table, q)
            for q in combinations(range(n_items), length)
            if first <= q[0] < until and all(p in known for p in combinations(q, length - 1) if p)
            and owners_of(table, q)[0]
        }  # fmt: skip
        assert got == {
            q: (support, [having[v] for v in range(2 * attributes)]) for q, (support, having) in expected.items()
        }
        seen += len(expected)
    assert seen > 200


def test_tables_grow_with_what_is_counted() -> None:
    items = list(range(60))
    table = [(0, items, [0]), (1, items[:50], [-1]), (1, items[:50], [0])]
    known = table_of([(i,) for i in items], 1)
    got = counted(records_of(table, 60, 1), known, 2, 0, 60)
    assert len(got) == 60 * 59 // 2 > 1024
    assert all(counts == ((2, [2]) if q[1] < 50 else (1, [1])) for q, counts in got.items())


def test_what_a_candidate_is() -> None:
    """Two parts of every pair are known: 0 and 1 are clean, 2 is common and violating."""
    known, clean = table_of([(0,), (1,), (2,)], 1), np.array([1, 1, 0])
    allowed = np.arange(10) // 2
    cases = [
        ((0, 1), 3, 1, COMMON + CLEAN),
        ((0, 1), 4, 2, COMMON + CLEAN),
        ((0, 1), 3, 2, COMMON + THREAT),
        ((0, 1), 2, 0, THREAT),
        ((0, 1), 2, 2, THREAT),
        ((0, 2), 3, 1, COMMON),
        ((1, 2), 3, 3, COMMON),
        ((1, 2), 1, 0, 0),
    ]
    items = np.array([q for q, _, _, _ in cases], np.int64).ravel()
    support, having = (np.array([case[i] for case in cases], np.int64) for i in (1, 2))
    privacy = Privacy(2, 3, allowed)
    said = judge_candidates(Counts(items, support, having), 2, known, clean, privacy)
    assert said.tolist() == [case[3] for case in cases]
    # two values: each of them may be too many
    both = np.array([1, 2, 2, 1, 1, 1], np.int64)
    said = judge_candidates(Counts(items[:6], np.full(3, 3), both), 2, known, clean, privacy)
    assert said.tolist() == [COMMON + THREAT, COMMON + THREAT, COMMON + CLEAN]
    # nothing is shorter than one
    single = Counts(np.arange(3), np.array([3, 2, 3]), np.array([1, 1, 2]))
    said = judge_candidates(single, 1, known, clean, privacy)
    assert said.tolist() == [COMMON + CLEAN, THREAT, COMMON + THREAT]


def test_threats_are_located_as_defined() -> None:
    rng, seen = random.Random(5), 0
    for _ in range(150):
        n_items, longest = rng.randint(2, 6), rng.randint(1, 3)
        table = random_table(rng, n_items=n_items, attributes=0)
        everything = [q for n in range(1, longest + 1) for q in combinations(range(n_items), n)]
        violating = {q for q in everything if rng.random() < 0.3}
        parts = {q: [p for n in range(1, len(q)) for p in combinations(q, n)] for q in everything}
        threats = [q for q in everything if q in violating and not violating & set(parts[q])]
        clean = [q for q in everything if q not in violating and not violating & set(parts[q])]
        common = sorted({*clean, *(q for q in violating if rng.random() < 0.5)})
        threat, record = locate_threats(
            records_of(table, n_items, 0), table_of(common, longest), np.array([q in clean for q in common], np.int64),
            table_of(threats, longest), longest,
        )  # fmt: skip
        expected = [(m, r) for r, (_, items, _) in enumerate(table) for m, q in enumerate(threats) if {*q} <= {*items}]
        assert sorted(zip(threat.tolist(), record.tolist(), strict=True)) == sorted(expected)
        assert record.tolist() == sorted(record.tolist())
        seen += len(expected)
    assert seen > 500


def test_an_empty_table_has_nothing() -> None:
    table = fill_table(np.zeros(0, np.int64), 2)
    assert (table.n_rows.tolist(), table.width) == ([0], 3)
    assert find_row(table, np.array([0], np.int64), 0, 1) == -1
