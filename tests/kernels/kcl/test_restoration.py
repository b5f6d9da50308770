"""Giving visits back against the definition: the largest set of records that can have an item again."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Records
from wayveil.kernels.kcl.restoration import Bounds, restore

# A table is a list of (owner, {item: present}, sensitive values), sorted by owner; -1 is a value that is not sensitive.


def run(table, order, longest, k, c=Fraction(1), share=Fraction(1), whole=False):
    """Return how many visits the kernel gave back, and which items every record has then."""
    owner = np.array([o for o, _, _ in table], np.int64)
    items = [sorted(present) for _, present, _ in table]
    values = [v for _, _, listed in table for v in listed]
    flat = np.array([i for listed in items for i in listed], np.int64)
    records = Records(
        np.cumsum([0] + [len(listed) for listed in items]).astype(np.int64),
        flat,
        np.array([present[i] for (_, present, _), listed in zip(table, items, strict=True) for i in listed], np.int64),
        owner,
        np.searchsorted(owner, np.arange(owner[-1] + 2)).astype(np.int64),
        np.array(values, np.int64),
        max([*flat.tolist(), *order], default=0) + 1,
        max(values, default=-1) + 1,
        len(table[0][2]),
        NO_LIMIT,
    )
    numbers = range(len(table) + 1)
    allowed = np.array([c.numerator * n // c.denominator for n in numbers], np.int64)
    beside = [max(m for m in numbers if m == 0 or m <= share * (m + n)) for n in numbers]
    bounds = Bounds(k, allowed, np.array(beside, np.int64))
    given_back = restore(records, np.array(order, np.int64), longest, bounds, whole)
    left = [
        {int(records.items[v]) for v in range(*records.offsets[r : r + 2]) if records.alive[v]}
        for r in range(len(table))
    ]
    return given_back, left


def violating(left, table, longest, k, c=Fraction(1), share=Fraction(1)):
    """Return every sequence of at most `longest` items that occurs and fits too few or tells too much.

    Both are counted over owners and over records.
    """
    groups = {}
    for r, items in enumerate(left):
        for n in range(1, longest + 1):
            for q in combinations(sorted(items), n):
                groups.setdefault(q, []).append(r)
    bad = set()
    for q, group in groups.items():
        owners = {table[r][0] for r in group}
        having, rows = {}, {}
        for r in group:
            for value in table[r][2]:
                if value >= 0:
                    having.setdefault(value, set()).add(table[r][0])
                    rows[value] = rows.get(value, 0) + 1
        if len(owners) < k or any(len(who) > c * len(owners) for who in having.values()):
            bad.add(q)
        if any(n > c * len(group) for n in rows.values()):
            bad.add(q)
        if any(sum(table[r][0] == who for r in group) > share * len(group) for who in owners):
            bad.add(q)
    return bad


def largest(left, table, item, longest, k):
    """Return the records of the largest set that can have `item` again: unions of good sets are good, as only too
    few owners can be wrong."""
    asking = [r for r, (_, present, _) in enumerate(table) if item in present and item not in left[r]]
    for n in range(len(asking), -1, -1):
        for back in combinations(asking, n):
            tried = [items | {item} if r in back else items for r, items in enumerate(left)]
            if not [q for q in violating(tried, table, longest, k) if item in q]:
                return tried
    return left


@st.composite
def tables(draw, values=0, shares=(Fraction(1),)):
    """Tables of which some visits are switched off: whatever is violating is switched off first."""
    n_items, n = draw(st.integers(1, 4)), draw(st.integers(1, 7))
    owners = sorted(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)))
    owners = [sorted(set(owners)).index(o) for o in owners]
    table = [
        (
            o,
            dict.fromkeys(draw(st.sets(st.integers(0, n_items - 1))), 1),
            [draw(st.integers(-1, values - 1)) for _ in range(values > 0)],
        )
        for o in owners
    ]
    longest, k = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    c = draw(st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1)])) if values else Fraction(1)
    share = draw(st.sampled_from(shares))
    gone = draw(st.sets(st.integers(0, n_items - 1)))
    for _, present, _ in table:
        for item in gone & set(present):
            present[item] = 0
    while bad := violating([{i for i in p if p[i]} for _, p, _ in table], table, longest, k, c, share):
        for _, present, _ in table:
            present.pop(min(bad)[0], None) if draw(st.booleans()) else present.update(
                {min(bad)[0]: 0} if min(bad)[0] in present else {}
            )
    order = draw(st.permutations(range(n_items)))
    return table, order, longest, k, c, share


@settings(deadline=None, max_examples=300)
@given(tables())
def test_every_item_comes_back_to_as_many_records_as_it_can(case):
    table, order, longest, k, _, _ = case
    left = [{i for i in present if present[i]} for _, present, _ in table]
    before = sum(map(len, left))
    for item in order:
        left = largest(left, table, item, longest, k)
    assert run(table, order, longest, k) == (sum(map(len, left)) - before, left)


@settings(deadline=None, max_examples=400)
@given(tables(values=2, shares=(Fraction(1, 3), Fraction(2, 5), Fraction(1, 2), Fraction(1))), st.booleans())
def test_nothing_that_comes_back_tells_too_much(case, whole):
    table, order, longest, k, c, share = case
    given_back, left = run(table, order, longest, k, c, share, whole)
    assert violating(left, table, longest, k, c, share) == set()
    if whole:  # all that ask for an item get it, or none
        for item in order:
            asking = [item in left[r] for r, (_, present, _) in enumerate(table) if present.get(item) == 0]
            assert len(set(asking)) <= 1
    assert given_back == sum(map(len, left)) - sum(sum(present.values()) for _, present, _ in table)
    for items, (_, present, _) in zip(left, table, strict=True):
        assert {i for i in present if present[i]} <= items <= set(present)


def test_only_those_in_whom_the_item_is_a_threat_go_without():
    # 0 with 1 fits one person, so that one cannot have 0 again
    table = [(0, {0: 0, 1: 1}, []), (1, {0: 0}, []), (2, {0: 0}, []), (3, {1: 1}, [])]
    assert run(table, [0], 2, 2) == (2, [{1}, {0}, {0}, {1}])
    assert run(table, [0], 1, 2) == (3, [{0, 1}, {0}, {0}, {1}])
    assert run(table, [], 2, 2) == (0, [{1}, set(), set(), {1}])


def test_striking_one_off_can_make_others_too_few():
    # without record 0, which nobody shares 2 with, only one person is left with 0 and 1
    table = [(0, {0: 0, 1: 1, 2: 1}, []), (1, {0: 0, 1: 1}, []), (2, {2: 1}, []), (3, {1: 1}, [])]
    assert run(table, [0], 2, 2)[0] == 0


def test_no_more_people_with_a_value_go_without_than_must():
    # three of ten have the value and at most 30 % may: all come back; of nine only two may, and of eight
    people = [(o, {0: 0}, [0 if o < 3 else -1]) for o in range(10)]
    assert run(people, [0], 1, 2, Fraction(3, 10)) == (10, [{0}] * 10)
    assert run(people[:9], [0], 1, 2, Fraction(3, 10))[0] == 8
    # 1 of 10 may: two go, and then 1 of 8 is too many
    assert run(people, [0], 1, 2, Fraction(1, 10)) == (7, [set()] * 3 + [{0}] * 7)


def test_an_owner_of_several_records_counts_once():
    table = [(0, {0: 0}, []), (0, {0: 0}, []), (1, {0: 0}, [])]
    assert run(table, [0], 1, 2) == (3, [{0}] * 3)
    assert run(table, [0], 1, 3) == (0, [set()] * 3)
