"""The search for violating sequences against the definition, sequence by sequence."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Records
from wayveil.kernels.kcl.violating_sequences import find_sequences

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
SHARES = [Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(2, 3), Fraction(1)]

# A table is a list of (owner, items, sensitive values), sorted by owner; items ascend, and -1 is a value that is not
# sensitive.


def records_of(table, n_items, n_values):
    n_attributes = len(table[0][2])
    owner = np.array([o for o, _, _ in table], np.int64)
    offsets = np.cumsum([0] + [len(items) for _, items, _ in table]).astype(np.int64)
    items = np.array([i for _, items, _ in table for i in items], np.int64)
    first = np.searchsorted(owner, np.arange(owner[-1] + 2)).astype(np.int64)
    values = np.array([v for _, _, values in table for v in values], np.int64)
    alive = np.ones(len(items), np.int64)
    return Records(offsets, items, alive, owner, first, values, n_items, n_values, n_attributes, NO_LIMIT)


def search(table, n_items, n_values, longest, k, c):
    """Return what the kernel finds: threats with their records, and common sequences with what is known of them."""
    n_owners = table[-1][0] + 1
    allowed = np.array([c.numerator * n // c.denominator for n in range(n_owners + 1)], np.int64)
    found, common = find_sequences(records_of(table, n_items, n_values), longest, k, allowed)
    threats = {
        q: found.record[found.first[m] : found.first[m + 1]].tolist() for m, q in enumerate(sequences_in(found.table))
    }
    assert len(threats) == found.table.n_rows[0]
    known = {}
    for row, q in enumerate(sequences_in(common.table)):
        entries = range(common.entry[row], common.entry[row + 1])
        having = {int(common.value[e]): int(common.having[e]) for e in entries}
        assert len(having) == len(entries)
        known[q] = bool(common.clean[row]), int(common.support[row]), having
    assert len(known) == common.table.n_rows[0]
    return threats, known


def sequences_in(table):
    rows = table.rows[: table.n_rows[0] * table.width].reshape(-1, table.width).tolist()
    return [tuple(row[1 : 1 + row[0]]) for row in rows]


def oracle(table, longest, k, c):
    """The same from the definition."""
    groups = {}
    for r, (_, items, _) in enumerate(table):
        for n in range(1, longest + 1):
            for q in combinations(items, n):
                groups.setdefault(q, []).append(r)
    counted = {q: count(table, group) for q, group in groups.items()}
    violating = {q for q, (n, having) in counted.items() if n < k or any(h > c * n for h in having.values())}
    threats = {q: groups[q] for q in violating if not any(part in violating for part in parts(q))}
    clean = {q for q in groups if q not in violating and not any(part in violating for part in parts(q))}
    return threats, {q: (q in clean, *counted[q]) for q in groups if counted[q][0] >= k}


def count(table, group):
    having = {}
    for r in group:
        for value in table[r][2]:
            if value >= 0:
                having.setdefault(value, set()).add(table[r][0])
    return len({table[r][0] for r in group}), {value: len(owners) for value, owners in having.items()}


def parts(q):
    return [part for n in range(1, len(q)) for part in combinations(q, n)]


def discovery(q):
    """Where a sequence comes in the search: all that grow a sequence by one item come together, last items first."""
    return tuple(-i for i in q[:-1] or q), -q[-1] if len(q) > 1 else -np.inf


@st.composite
def tables(draw):
    n_items, values = draw(st.integers(1, 6)), draw(st.sampled_from([[], [1], [2], [1, 1], [2, 1]]))
    owners = draw(st.lists(st.integers(0, 2), min_size=1, max_size=9))
    table, owner = [], -1
    for step in owners:  # 0 is one more record of the same owner
        owner += 1 if step or owner < 0 else 0
        items = draw(st.sets(st.integers(0, n_items - 1)))
        codes = [draw(st.integers(-1, n - 1)) for n in values]
        codes = [v if v < 0 else v + sum(values[:a]) for a, v in enumerate(codes)]
        table.append((owner, tuple(sorted(items)), tuple(codes)))
    return table, n_items, sum(values)


def random_table(rng):
    n_items, values = rng.randint(1, 9), rng.choice([[], [1], [3], [2, 2]])
    n, density = rng.randint(1, 14), rng.choice([0.3, 0.6, 0.9])
    owner = sorted(rng.randrange(n) for _ in range(n)) if rng.random() < 0.5 else list(range(n))
    code = {o: i for i, o in enumerate(sorted(set(owner)))}
    table = []
    for o in owner:
        codes = [rng.randint(-1, size - 1) for size in values]
        codes = tuple(v if v < 0 else v + sum(values[:a]) for a, v in enumerate(codes))
        table.append((code[o], tuple(i for i in range(n_items) if rng.random() < density), codes))
    return table, n_items, sum(values)


@given(tables(), st.integers(1, 4), st.integers(1, 4), st.sampled_from(SHARES))
@settings(deadline=None, max_examples=300)
def test_the_search_finds_what_the_definition_says(made, longest, k, c):
    table, n_items, n_values = made
    assert search(table, n_items, n_values, longest, k, c) == oracle(table, longest, k, c)


def test_the_search_finds_what_the_definition_says_on_larger_tables():
    rng = random.Random(20)
    for _ in range(300):
        table, n_items, n_values = random_table(rng)
        longest, k, c = rng.randint(1, 5), rng.randint(1, 5), rng.choice(SHARES)
        assert search(table, n_items, n_values, longest, k, c) == oracle(table, longest, k, c)


def test_nothing_overflows_when_the_tables_must_grow():
    # 60 records of 14 of 16 items: 2516 sequences of at most 4 items are common, and later ones violate
    rng = random.Random(5)
    table = [(r, tuple(sorted(rng.sample(range(16), 14))), (rng.randint(-1, 1),)) for r in range(60)]
    for k, c in ((2, Fraction(1)), (40, Fraction(1, 2)), (30, Fraction(2, 5))):
        threats, known = search(table, 16, 2, 4, k, c)
        assert (threats, known) == oracle(table, 4, k, c)
    assert len(search(table, 16, 2, 4, 2, Fraction(1))[1]) > 1024


def test_threats_come_in_the_order_that_breaks_ties():
    rng = random.Random(21)
    for _ in range(100):
        table, n_items, n_values = random_table(rng)
        threats, known = search(table, n_items, n_values, rng.randint(1, 4), rng.randint(1, 4), rng.choice(SHARES))
        assert list(threats) == sorted(threats, key=discovery)
        assert list(known) == sorted(known, key=discovery)


def test_an_empty_record_is_nobody():
    table = [(0, (), ()), (1, (0,), ()), (2, (0, 1), ()), (3, (), ())]
    threats, known = search(table, 2, 0, 2, 2, Fraction(1))
    assert threats == {(1,): [2]}
    assert known == {(0,): (True, 2, {})}


def test_one_person_with_two_records_is_one_person():
    table = [(0, (0, 1), (0,)), (0, (0, 1), (-1,)), (1, (0,), (-1,))]
    threats, known = search(table, 2, 1, 2, 2, Fraction(1, 2))
    assert threats == {(1,): [0, 1]}
    assert known == {(0,): (True, 2, {0: 1})}


def test_a_table_without_visits_has_no_sequences():
    assert search([(0, (), ()), (1, (), ())], 0, 0, 1, 1, Fraction(1)) == ({}, {})


def named(case):
    """Return a golden table with visits as items, and their names."""
    names = sorted({v for record in case["records"] for v in record.split()}, key=lambda v: (int(v[1:]), v[0]))
    code = {name: i for i, name in enumerate(names)}
    values = {value: i for i, value in enumerate(case.get("sensitive", ["HIV"]))}
    rows = zip(case["records"], case["diagnosis"], strict=True)
    table = [
        (r, tuple(code[v] for v in record.split()), (values.get(ill, -1),)) for r, (record, ill) in enumerate(rows)
    ]
    return table, names, len(values)


def found_in(case, longest, k, c):
    table, names, n_values = named(case)
    threats, known = search(table, len(names), n_values, longest, k, Fraction(c))
    return {" ".join(names[i] for i in q): [r + 1 for r in group] for q, group in threats.items()}, known


def test_table_1_of_the_paper():
    golden = json.loads((GOLDEN / "table1.json").read_text())
    case = {"records": golden["table_1"], "diagnosis": golden["diagnosis"], "sensitive": ["HIV", "Hepatitis"]}
    assert found_in(case, 2, 2, "1/2")[0] == golden["minimal_violating"]
    table, names, _ = named(case)
    d2_e4, a1_f6, a1 = (tuple(names.index(v) for v in q.split()) for q in ("d2 e4", "a1 f6", "a1"))
    _, known = found_in(case, 2, 2, "1/2")
    assert d2_e4 not in known  # one person
    assert known[a1_f6] == (False, 3, {0: 2})  # two of three have HIV
    assert known[a1] == (False, 3, {0: 2})
    violating = [q for q in groups_of(table) if is_violating(table, q)]
    assert sorted(" ".join(names[i] for i in q) for q in violating) == golden["violating"]


def groups_of(table):
    return {q for _, items, _ in table for n in (1, 2) for q in combinations(items, n)}


def is_violating(table, q):
    n, having = count(table, [r for r, (_, items, _) in enumerate(table) if set(q) <= set(items)])
    return n < 2 or any(2 * h > n for h in having.values())


def test_table_2_of_the_paper():
    golden = json.loads((GOLDEN / "table1.json").read_text())
    case = {"records": golden["table_2"], "diagnosis": golden["diagnosis"], "sensitive": ["HIV", "Hepatitis"]}
    assert found_in(case, 2, 2, "1/2")[0] == {}
    assert sorted(found_in(case, 3, 2, "1/2")[0]) == golden["minimal_violating_of_table_2_with_l_3"]


@pytest.mark.parametrize("name", ["procedure_1_l_4", "algorithm_1_line_7"])
def test_pruning_with_all_lengths(name):
    case = json.loads((GOLDEN / "corrections.json").read_text())[name]
    assert sorted(found_in(case, case["l"], case["k"], case["c"])[0]) == case["minimal_violating"]
