"""Whether a local suppression is valid: the exact test against Definition 4.3, the printed one against Procedure 2."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from violating_tables import is_violating, minimal, tables, without

from printed_validity import is_valid_as_printed
from wayveil.kernels.kcl.exact_validity import is_valid, new_scratch
from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Privacy, Records
from wayveil.kernels.kcl.suppression_state import new_threats
from wayveil.kernels.kcl.violating_sequences import find_sequences

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"
SHARES = [Fraction(1, 4), Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(1)]


def records_of(table, n_items, n_values):
    n_attributes = len(table[0][2])
    owner = np.array([o for o, _, _ in table], np.int64)
    offsets = np.cumsum([0] + [len(items) for _, items, _ in table]).astype(np.int64)
    items = np.array([i for _, items, _ in table for i in items], np.int64)
    first = np.searchsorted(owner, np.arange(owner[-1] + 2)).astype(np.int64)
    values = np.array([v for _, _, values in table for v in values], np.int64)
    alive = np.ones(len(items), np.int64)
    return Records(offsets, items, alive, owner, first, values, n_items, n_values, n_attributes, NO_LIMIT)


@numba.njit
def ask(records, longest, k, allowed):
    """Return the threats, and one row per threat and item of it: threat, item, exact answer, printed answer."""
    found, common = find_sequences(records, longest, k, allowed)
    elsewhere = np.zeros(records.n_items, np.int64)
    threats, scratch = new_threats(found, common, records, elsewhere), new_scratch(common, records.n_values, longest)
    table, n = found.table, 0
    said = np.empty((table.rows.size, 4), np.int64)
    for m in range(table.n_rows[0]):
        begin = m * table.width
        for i in range(begin + 1, begin + 1 + table.rows[begin]):
            item = table.rows[i]
            said[n, 0], said[n, 1] = m, item
            said[n, 2] = is_valid(records, common, threats, item, m, Privacy(longest, k, allowed), scratch)
            said[n, 3] = is_valid_as_printed(records, threats, item, m, Privacy(longest, k, allowed), scratch)
            n += 1
    return table, said[:n]


def answers(table, n_items, n_values, longest, k, c):
    """Return, for every threat and item of it, what the exact test and the printed one say."""
    allowed = np.array([c.numerator * n // c.denominator for n in range(table[-1][0] + 2)], np.int64)
    records = records_of(table, n_items, n_values)
    found, said = ask(records, longest, k, allowed)
    assert records.alive.all()  # asking changes nothing
    rows = found.rows[: found.n_rows[0] * found.width].reshape(-1, found.width).tolist()
    threats = [tuple(row[1 : 1 + row[0]]) for row in rows]
    return {(threats[m], item): (bool(exact), bool(printed)) for m, item, exact, printed in said.tolist()}


def new_after(table, item, group, longest, k, c):
    """Definition 4.3: what is minimal violating afterwards and was not before."""
    return set(minimal(without(table, item, group), longest, k, c)) - set(minimal(table, longest, k, c))


def procedure_2(table, item, m, longest, k, c):
    """Procedure 2 as printed, line by line; people are counted instead of records."""
    threats = minimal(table, longest, k, c)
    group = threats[m]
    rest = [r for r, (_, items, _) in enumerate(table) if item in items and r not in group]
    shared = {i for r in group for i in table[r][1]} & {i for r in rest for i in table[r][1]}  # line 1
    named = [q for q in threats if len(q) == 1 or item in q]  # line 2
    shared = {i for i in shared if i == item or not any(i in q for q in named)}  # line 3
    others = [set(q) for q in threats if item not in q]
    for n in range(1, longest + 1):  # lines 4 to 8
        for q in combinations(sorted(shared), n):
            inside = [r for r in rest if set(q) <= set(table[r][1])]
            covered = any(other <= set(q) for other in others)
            if inside and not covered and is_violating(table, inside, k, c):
                return False
    return True


def check(table, n_items, n_values, longest, k, c):
    threats = minimal(table, longest, k, c)
    said = answers(table, n_items, n_values, longest, k, c)
    assert said == {
        (m, item): (
            not new_after(table, item, group, longest, k, c),
            procedure_2(table, item, m, longest, k, c),
        )
        for m, group in threats.items()
        for item in m
    }
    return said.values()


def random_table(rng):
    """Few sensitive people, in one or two attributes, and some people with several records."""
    n, n_items, n_attributes = rng.randint(4, 12), rng.choice([3, 4, 5]), rng.choice([1, 1, 2])
    owner = sorted(rng.randrange(n) for _ in range(n)) if rng.random() < 0.4 else list(range(n))
    code = {o: i for i, o in enumerate(sorted(set(owner)))}
    table = []
    for r, o in enumerate(owner):
        path = tuple(i for i in range(n_items) if rng.random() < 0.55)
        path = (0, 1, 2) if r < 2 else path
        ill = [a if r == 0 or rng.random() < 0.2 else -1 for a in range(n_attributes)]
        table.append((code[o], path, tuple(ill)))
    return table, n_items, n_attributes


@given(tables(), st.integers(1, 4), st.integers(1, 3), st.sampled_from(SHARES))
@settings(deadline=None, max_examples=200)
def test_both_tests_say_what_they_should(made, longest, k, c):
    check(*made, longest, k, c)


def test_both_tests_say_what_they_should_where_confidence_counts():
    rng, said = random.Random(40), []
    for _ in range(1000):
        said += check(*random_table(rng), rng.randint(1, 4), rng.randint(1, 3), rng.choice(SHARES))
    for answer in ((True, True), (True, False), (False, True), (False, False)):
        assert answer in said  # all four happen


def test_a_global_suppression_is_always_valid():
    """Theorem 4.3, on the definition: an item that leaves all records makes no new threat."""
    rng = random.Random(41)
    for _ in range(300):
        table, n_items, _ = random_table(rng)
        longest, k, c = rng.randint(1, 4), rng.randint(1, 3), rng.choice(SHARES)
        for item in range(n_items):
            assert not new_after(table, item, range(len(table)), longest, k, c)


def named(case):
    """Return a golden table with visits as items, and their names."""
    names = sorted({v for record in case["records"] for v in record.split()}, key=lambda v: (int(v[1:]), v[0]))
    code = {name: i for i, name in enumerate(names)}
    values = {value: i for i, value in enumerate(case.get("sensitive", ["HIV"]))}
    owners = case.get("owner", range(len(case["records"])))
    rows = zip(owners, case["records"], case["diagnosis"], strict=True)
    table = [(o, tuple(code[v] for v in record.split()), (values.get(ill, -1),)) for o, record, ill in rows]
    return table, names, len(values)


def test_the_nine_local_suppressions_of_table_1():
    golden = json.loads((GOLDEN / "table1.json").read_text())
    case = {"records": golden["table_1"], "diagnosis": golden["diagnosis"], "sensitive": ["HIV", "Hepatitis"]}
    table, names, n_values = named(case)
    said = answers(table, len(names), n_values, 2, 2, Fraction(1, 2))
    assert len(said) == len(golden["validity"]) == 9
    for expected in golden["validity"]:
        q = tuple(names.index(v) for v in expected["of"].split())
        assert said[q, names.index(expected["visit"])] == (expected["exact"], expected["printed"])
    new = new_after(table, names.index("c7"), [2], 2, 2, Fraction(1, 2))
    assert sorted(" ".join(names[i] for i in q) for q in new) == golden["new_after_c7_leaves_record_3"]


@pytest.mark.parametrize("case", json.loads((GOLDEN / "corrections.json").read_text())["procedure_2"])
def test_procedure_2_is_wrong_both_ways(case):
    table, names, n_values = named(case)
    item, q = names.index(case["visit"]), tuple(names.index(v) for v in case["of"].split())
    said = answers(table, len(names), n_values, case["l"], case["k"], Fraction(case["c"]))
    assert said[q, item] == (case["exact"], case["printed"])
    group = minimal(table, case["l"], case["k"], Fraction(case["c"]))[q]
    new = new_after(table, item, group, case["l"], case["k"], Fraction(case["c"]))
    assert sorted(" ".join(names[i] for i in q) for q in new) == case["new"]


UNCOVERED = json.loads((GOLDEN / "uncovered.json").read_text())["cases"]


@pytest.mark.parametrize("name", UNCOVERED)
def test_threats_that_end(name):
    case = UNCOVERED[name]
    table, names, n_values = named(case)
    check(table, len(names), n_values, case["l"], case["k"], Fraction(case["c"]))


def test_the_printed_removal_of_line_7_is_valid():
    case = json.loads((GOLDEN / "corrections.json").read_text())["algorithm_1_line_7"]
    table, names, n_values = named(case)
    item, q = names.index(case["visit"]), tuple(names.index(v) for v in case["of"].split())
    said = answers(table, len(names), n_values, case["l"], case["k"], Fraction(case["c"]))
    assert said[q, item][0]
