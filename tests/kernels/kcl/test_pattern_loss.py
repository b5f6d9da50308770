"""Suppression that spares frequent sequences, step by step, against a restatement that recomputes everything."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from violating_tables import biased, groups_of, minimal, tables, uniform, without

from wayveil.kernels.kcl.greedy_suppression import suppress
from wayveil.kernels.kcl.pattern_loss import lose_patterns, new_patterns, pattern_loss, visits_to_mend
from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Privacy, Records
from wayveil.kernels.kcl.violating_sequences import find_sequences


def records_of(table, n_items, n_values):
    owner = np.array([o for o, _, _ in table], np.int64)
    offsets = np.cumsum([0] + [len(items) for _, items, _ in table]).astype(np.int64)
    items = np.array([i for _, items, _ in table for i in items], np.int64)
    first = np.searchsorted(owner, np.arange(owner[-1] + 2)).astype(np.int64)
    values = np.array([v for _, _, values in table for v in values], np.int64)
    alive = np.ones(len(items), np.int64)
    return Records(offsets, items, alive, owner, first, values, n_items, n_values, len(table[0][2]), NO_LIMIT)


def patterns_of(sequences, n_items, bar):
    """Return what the kernels take, from {sequence: support}."""
    first = np.cumsum([0] + [len(q) for q in sequences]).astype(np.int64)
    item = np.array([i for q in sequences for i in q], np.int64)
    return new_patterns(first, item, np.array(list(sequences.values()), np.int64), n_items, bar)


def support(table, q):
    return len({owner for owner, items, _ in table if set(q) <= set(items)})


def maximal_frequent(table, bar):
    """Return {maximal frequent sequence: number of its owners}, from the definition."""
    frequent = [q for q in groups_of(table, len(table) + 99) if support(table, q) >= bar]
    return {q: support(table, q) for q in sorted(frequent) if not any(set(q) < set(longer) for longer in frequent)}


def oracle(table, longest, k, c, order, local, mfs, bar):
    """Return (log, the table that is left).

    Score: threats that go, over one more than the sequences of `mfs` that are frequent now and would not be any more.
    Highest score first, then local before global, then the smaller item, then the threat found first.  A local
    suppression that comes up and makes a new threat is set aside until its records change, one of them loses a visit,
    or one of them loses a threat that stopped being violating.
    """

    def lost(after):
        return sum(support(table, q) >= bar > support(after, q) for q in mfs)

    log, aside, now = [], set(), minimal(table, longest, k, c)
    while now:
        candidates = []
        for number, m in enumerate(order):
            for item in m if local and m in now else ():
                if (m, item) not in aside:
                    gain = sum(item in q and set(now[q]) <= set(now[m]) for q in now)
                    score = Fraction(gain, lost(without(table, item, now[m])) + 1)
                    candidates.append((-score, 0, item, number, gain, now[m]))
        for item in {i for q in now for i in q}:
            group = [r for r, (_, items, _) in enumerate(table) if item in items]
            gain, cost = sum(item in q for q in now), lost(without(table, item, group))
            assert cost == sum(item in q and support(table, q) >= bar for q in mfs)
            candidates.append((-Fraction(gain, cost + 1), 1, item, -1, gain, group))
        for best in sorted(candidates):
            _, kind, item, number, gain, group = best
            after = without(table, item, group)
            then = minimal(after, longest, k, c)
            if set(then) <= set(now):
                break
            assert kind == 0, "a global suppression makes no new threat (Theorem 4.3)"
            aside.add((order[number], item))
        log.append((kind, item, number, gain, len(group)))
        groups, touched = groups_of(after, longest), set(group)
        for q in now:
            if q not in then:
                touched |= set(groups.get(q, ()))
        aside = {(q, i) for q, i in aside if q in then and then[q] == now[q] and not touched & set(then[q])}
        table, now = after, then
    return log, table


def compare(table, n_items, n_values, longest, k, c, local, bar):
    """Run kernels and oracle; return (log, number of sequences, number of those that were lost)."""
    n_owners, mfs = table[-1][0] + 1, maximal_frequent(table, bar)
    allowed = np.array([c.numerator * n // c.denominator for n in range(n_owners + 1)], np.int64)
    records, patterns = records_of(table, n_items, n_values), patterns_of(mfs, n_items, bar)
    found, common = find_sequences(records, longest, k, allowed)
    width = found.table.width
    rows = found.table.rows[: found.table.n_rows[0] * width].reshape(-1, width).tolist()
    order = [tuple(row[1 : 1 + row[0]]) for row in rows]
    nowhere = np.zeros(records.n_items, np.int64)
    flat = suppress(records, nowhere, found, common, Privacy(longest, k, allowed), local, None, patterns)
    log = [tuple(step) for step in flat.reshape(-1, 5).tolist()]
    left = [
        (o, tuple(int(records.items[v]) for v in range(*records.offsets[r : r + 2]) if records.alive[v]), values)
        for r, (o, _, values) in enumerate(table)
    ]
    assert (log, left) == oracle(table, longest, k, c, order, local, mfs, bar)
    alive = [support(left, q) >= bar for q in mfs]
    assert (patterns.support >= bar).tolist() == alive
    assert [n for n, lives in zip(patterns.support.tolist(), alive, strict=True) if lives] == [
        support(left, q) for q, lives in zip(mfs, alive, strict=True) if lives
    ]
    assert patterns.n_of_item.tolist() == [
        sum(i in q and lives for q, lives in zip(mfs, alive, strict=True)) for i in range(n_items)
    ]
    return log, len(mfs), alive.count(False)


def cases(seed, n):
    """Random tables with parameters; by turns of both kinds."""
    rng = random.Random(seed)
    for i in range(n):
        if i % 2:
            shares = [Fraction(1, 4), Fraction(1, 2), Fraction(3, 5), Fraction(1)]
            yield *uniform(rng), rng.randint(1, 4), rng.randint(1, 4), rng.choice(shares), rng.randint(1, 4)
        else:
            shares = [Fraction(1, 4), Fraction(1, 3), Fraction(2, 5), Fraction(1, 2)]
            yield *biased(rng), rng.choice([3, 4]), rng.choice([1, 2, 3]), rng.choice(shares), rng.randint(1, 5)


CHOICES = st.tuples(
    st.integers(1, 3), st.integers(1, 3), st.sampled_from(["1/4", "1/3", "1/2", "1"]), st.booleans(), st.integers(1, 4)
)


@given(tables(), CHOICES)
@settings(deadline=None, max_examples=100)
def test_every_step_is_the_step_of_the_definition(made, choices):
    longest, k, c, local, bar = choices
    compare(*made, longest, k, Fraction(c), local, bar)


def test_every_local_step_on_random_tables():
    kinds, lost, kept = [], 0, 0
    for *case, bar in cases(40, 600):
        log, n, gone = compare(*case, True, bar)
        kinds += [kind for kind, *_ in log]
        lost, kept = lost + gone, kept + n - gone
    assert min(kinds.count(0), kinds.count(1), lost, kept) > 100  # everything happens


def test_every_global_step_on_random_tables():
    for *case, bar in cases(41, 300):
        assert all(kind == 1 for kind, *_ in compare(*case, False, bar)[0])


@pytest.mark.slow
def test_every_step_on_many_tables():
    for number, (*case, bar) in enumerate(cases(42, 20_000)):
        compare(*case, number % 5 > 0, bar)


def test_a_frequent_sequence_makes_its_visits_dear():
    # item 0 is in both threats and in five records
    paths = [(0, 1), (0, 2), (0,), (0,), (0,), (1,), (2,)]
    table = [(owner, path, ()) for owner, path in enumerate(paths)]
    log, n, lost = compare(table, 3, 0, 2, 2, Fraction(1), True, 9)
    assert (log, n, lost) == ([(1, 0, -1, 2, 5)], 0, 0)  # nothing is frequent, so taking it out everywhere is free
    log, n, lost = compare(table, 3, 0, 2, 2, Fraction(1), True, 3)
    assert [step[:2] for step in log] == [(0, 0), (0, 0)]  # five people have it, and three are enough
    assert (n, lost) == (1, 0)


@given(tables(), st.integers(1, 4), st.data())
@settings(deadline=None, max_examples=150)
def test_loss_of_a_group_is_counted_in_owners(made, bar, data):
    table, n_items, n_values = made
    mfs = maximal_frequent(table, bar)
    records, patterns = records_of(table, n_items, n_values), patterns_of(mfs, n_items, bar)
    for _ in range(3):  # one suppression after the other
        item = data.draw(st.integers(0, n_items - 1))
        having = [r for r, (_, items, _) in enumerate(table) if item in items]
        group = sorted(data.draw(st.sets(st.sampled_from(having)))) if having else []
        after = without(table, item, group)
        dying = [n for n, q in enumerate(mfs) if support(table, q) >= bar > support(after, q)]
        listed = np.array([99, *group], np.int64)  # a group may begin anywhere
        assert pattern_loss(records, patterns, item, listed, 1, len(group)) == len(dying)
        dead = np.full(len(mfs) + 1, -1, np.int64)
        n_dead = lose_patterns(records, patterns, item, listed, 1, len(group), dead)
        assert sorted(dead[:n_dead].tolist()) == dying
        for r in group:
            at = int(records.offsets[r]) + made[0][r][1].index(item)
            records.alive[at] = 0
        table = after
        frequent = {n: support(table, q) for n, q in enumerate(mfs) if support(table, q) >= bar}
        assert {n: int(s) for n, s in enumerate(patterns.support) if s >= bar} == frequent
        alive = [q for n, q in enumerate(mfs) if n in frequent]
        assert patterns.n_of_item.tolist() == [sum(i in q for q in alive) for i in range(n_items)]


@given(tables(), st.integers(1, 4), st.data())
@settings(deadline=None, max_examples=200)
def test_broken_patterns_come_before_what_is_in_no_pattern(made, bar, data):
    table, n_items, n_values = made
    mfs = maximal_frequent(table, bar)
    records, patterns = records_of(table, n_items, n_values), patterns_of(mfs, n_items, bar)
    alive = data.draw(st.lists(st.integers(0, 1), min_size=len(records.items), max_size=len(records.items)))
    lost = data.draw(st.lists(st.integers(0, 1), min_size=len(mfs), max_size=len(mfs)))
    records.alive[:] = alive
    expected = []
    for r, (_, items, _) in enumerate(table):
        has = {i for i, on in zip(items, alive[records.offsets[r] : records.offsets[r + 1]], strict=True) if on}
        inside = [set(q) for q in mfs if set(q) <= set(items)]
        broken = [set(q) for q, gone in zip(mfs, lost, strict=True) if gone and set(q) <= set(items) and set(q) - has]
        wanted = has & set().union(*inside) | set().union(*broken) if broken else has
        expected += [int(i in wanted) for i in items]
    assert visits_to_mend(records, patterns, np.array(lost, np.int64)).tolist() == expected
    assert records.alive.tolist() == alive


def test_only_a_record_with_a_broken_lost_pattern_changes():
    # of 0 1 2 4 records have 0 1, 2 or all of it; 3 is in no pattern
    table = [(0, (0, 1, 3), ()), (1, (0, 1, 2, 3), ()), (2, (2, 3), ()), (3, (1, 2, 3), ())]
    records, patterns = records_of(table, 4, 0), patterns_of({(0, 1): 2, (2,): 3}, 4, 2)
    records.alive[:] = [0, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1]
    assert visits_to_mend(records, patterns, np.array([1, 0])).tolist() == [1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1]
    assert visits_to_mend(records, patterns, np.array([0, 1])).tolist() == records.alive.tolist()


def test_patterns_are_indexed_by_item():
    patterns = patterns_of({(0, 2): 5, (2, 3): 4, (2,): 9}, 5, 3)
    first, of = patterns.of_first.tolist(), patterns.of_pattern.tolist()
    assert [of[first[i] : first[i + 1]] for i in range(5)] == [[0], [], [0, 1, 2], [1], []]
    assert patterns.n_of_item.tolist() == [1, 0, 3, 1, 0]
    assert patterns.min_support == 3
    assert patterns_of({}, 2, 1).of_first.tolist() == [0, 0, 0]
