"""Tables of (K,C)_L-privacy as lists, what violates it in them from the definition, and random ones.

A table is a list of (owner, items, sensitive values), sorted by owner; items ascend, and -1 is a value that is not
sensitive.
"""

from __future__ import annotations

from itertools import combinations

from hypothesis import strategies as st


def groups_of(table, longest):
    groups = {}
    for r, (_, items, _) in enumerate(table):
        for n in range(1, min(longest, len(items)) + 1):
            for q in combinations(items, n):
                groups.setdefault(q, []).append(r)
    return groups


def minimal(table, longest, k, c):
    """Return the minimal violating sequences with their records, from the definition."""
    groups = groups_of(table, longest)
    violating = {q for q, group in groups.items() if is_violating(table, group, k, c)}
    return {
        q: groups[q]
        for q in violating
        if not any(part in violating for n in range(1, len(q)) for part in combinations(q, n))
    }


def is_violating(table, group, k, c):
    n, having = len({table[r][0] for r in group}), {}
    for r in group:
        for value in table[r][2]:
            if value >= 0:
                having.setdefault(value, set()).add(table[r][0])
    return n < k or any(len(owners) > c * n for owners in having.values())


def without(table, item, group):
    return [
        (owner, tuple(i for i in items if i != item or r not in group), values)
        for r, (owner, items, values) in enumerate(table)
    ]


@st.composite
def tables(draw):
    n_items, values = draw(st.integers(1, 5)), draw(st.sampled_from([[], [1], [2], [1, 1]]))
    table, owner = [], -1
    for more in draw(st.lists(st.booleans(), min_size=1, max_size=8)):  # true: one more record of the same owner
        owner += 0 if more and owner >= 0 else 1
        items = draw(st.sets(st.integers(0, n_items - 1)))
        codes = [draw(st.integers(-1, n - 1)) for n in values]
        codes = [v if v < 0 else v + sum(values[:a]) for a, v in enumerate(codes)]
        table.append((owner, tuple(sorted(items)), tuple(codes)))
    return table, n_items, sum(values)


def uniform(rng):
    n_items, values = rng.randint(2, 7), rng.choice([[], [1], [2], [1, 2]])
    n, density = rng.randint(1, 9), rng.choice([0.4, 0.6, 0.8])
    owner = sorted(rng.randrange(n) if rng.random() < 0.5 else i for i in range(n))
    code = {o: i for i, o in enumerate(sorted(set(owner)))}
    table = []
    for o in owner:
        codes = [rng.randint(-1, size - 1) for size in values]
        codes = tuple(v if v < 0 else v + sum(values[:a]) for a, v in enumerate(codes))
        table.append((code[o], tuple(i for i in range(n_items) if rng.random() < density), codes))
    return table, n_items, sum(values)


def biased(rng):
    """A few sensitive people who share what few others have: threats that stop being violating are common here."""
    n, n_items = rng.randint(5, 14), rng.choice([4, 4, 5])
    paths = [(0, 1, 2), (0, 1, 2), (0, 1, 3)]
    paths += [tuple(i for i in range(n_items) if rng.random() < 0.5) for _ in range(n - 3)]
    ill = [True, rng.random() < 0.5, True] + [rng.random() < 0.15 for _ in range(n - 3)]
    owner = sorted(rng.randrange(n) for _ in range(n)) if rng.random() < 0.4 else list(range(n))
    code = {o: i for i, o in enumerate(sorted(set(owner)))}
    rows = zip(owner, paths, ill, strict=True)
    return [(code[o], path, (0 if sick else -1,)) for o, path, sick in rows], n_items, 1
