"""Outputs of (K,C)_L-privacy by suppression against the definition, by brute force, on random small tables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printed_methods import PrintedKcl
from wayveil.engines import LocalEngine
from wayveil.methods.kcl.kcl import Kcl
from wayveil.model import MethodResult, Visits

Case = tuple[Visits, dict[str, Any]]

SHARES = ["0", "1/4", "1/3", "2/5", "0.5", "2/3", "0.8", "1"]


def run(data: Visits, asked: dict[str, Any], suppression: str) -> MethodResult:
    method = Kcl(**asked, suppression=suppression, accept_absence="yes")
    return method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())


def violating(
    data: Visits, k: int, c: str, l: int | str, sensitive: dict[str, list[str]], share: Fraction | None = None
) -> list[Any]:
    """Return every sequence that occurs and breaks Definition 3.1, counted over people or over trajectories."""
    groups: dict[Any, list[int]] = {}
    for r in range(len(data)):
        record = data.record(r)
        for n in range(1, (len(record) if l == "all" else int(l)) + 1):
            for q in combinations(record, n):
                groups.setdefault(q, []).append(r)
    owner = data.owner.tolist()
    carried = [
        [v == value for v in data.attributes[attribute].values()]
        for attribute, values in sensitive.items()
        for value in values
    ]
    bad = []
    for q, group in groups.items():
        people = {owner[r] for r in group}
        fine = len(people) >= k
        fine &= all(sum(owner[r] == who for r in group) <= (share or Fraction(1, k)) * len(group) for who in people)
        fine &= all(len({owner[r] for r in group if has[r]}) <= Fraction(c) * len(people) for has in carried)
        fine &= all(sum(has[r] for r in group) <= Fraction(c) * len(group) for has in carried)
        if not fine:
            bad.append(q)
    return bad


def check(data: Visits, asked: dict[str, Any]) -> None:
    clean = not violating(data, **asked)
    for suppression in ("local", "global"):
        made = run(data, asked, suppression)
        assert violating(made.data, **asked) == []
        assert (made.data.n_visits == data.n_visits) == clean
        assert made.data.owner.tolist() == data.owner.tolist()
        gone = made.facts["visits suppressed"]
        assert made.data.n_visits == data.n_visits - gone
        lost = set()
        for r in range(len(data)):
            before, after = data.record(r), made.data.record(r)
            assert after == [visit for visit in before if visit in after]
            extra = not after and data.owner.tolist().count(data.owner[r]) > 1  # such trips may be left out whole
            lost |= set() if extra and suppression == "global" else set(before) - set(after)
        if suppression == "global":
            assert not lost & {visit for r in range(len(data)) for visit in made.data.record(r)}


def cases(seed: int, n: int) -> Iterator[Case]:
    rng = random.Random(seed)
    for i in range(n):
        yield uniform(rng) if i % 2 else biased(rng)


def uniform(rng: random.Random) -> Case:
    """Any table: two places at every time, people with several trajectories, up to two sensitive attributes."""
    n, times, density = rng.randint(1, 10), rng.randint(1, 6), rng.choice([0.3, 0.6, 0.9])
    places = rng.choice(["a", "ab", "abc"])
    records = [[(rng.choice(places), t) for t in range(times) if rng.random() < density] for _ in range(n)]
    owner = [rng.randrange(3 * n) // rng.choice([1, 2, 3]) for _ in range(n)]
    kinds = [("ill", ["HIV", "flu", "none"]), ("job", ["x", "y"])][: rng.randint(0, 2)]
    attributes = {name: [rng.choice(values) for _ in range(n)] for name, values in kinds}
    sensitive = {
        name: rng.sample(sorted(set(values)), rng.randint(1, min(2, len(set(values)))))
        for name, values in attributes.items()
    }
    data = Visits.from_records(records, attributes=attributes, owner=owner)
    k, l = rng.randint(1, min(4, data.n_owners)), rng.choice([1, 2, 3, 4, "all"])
    return data, {"k": k, "c": rng.choice(SHARES), "l": l, "sensitive": sensitive}


def biased(rng: random.Random) -> Case:
    """A few sensitive people who share what few others have: the cases of confidence that are hard to get right."""
    n, size = rng.randint(5, 14), rng.choice([4, 4, 5])
    paths = [[0, 1, 2], [0, 1, 2], [0, 1, 3]]
    paths += [[i for i in range(size) if rng.random() < 0.5] for _ in range(n - 3)]
    ill = ["HIV", rng.choice(["HIV", "none"]), "HIV"] + [rng.choice(["none"] * 6 + ["HIV"]) for _ in range(n - 3)]
    order = rng.sample(range(n), n)
    owner = [rng.randrange(n) for _ in range(n)] if rng.random() < 0.4 else order
    records = [[("abcde"[i], i) for i in paths[r]] for r in order]
    data = Visits.from_records(records, attributes={"ill": [ill[r] for r in order]}, owner=owner)
    share = rng.choice(["1/4", "1/3", "2/5", "1/2"])
    k = rng.randint(1, min(3, data.n_owners))
    return data, {"k": k, "c": share, "l": rng.choice([3, 4]), "sensitive": {"ill": ["HIV"]}}


@st.composite
def tables(draw: st.DrawFn) -> Case:
    visit = st.tuples(st.sampled_from("ab"), st.integers(0, 4))
    record = st.lists(visit, max_size=5, unique_by=lambda v: v[1]).map(lambda r: sorted(r, key=lambda v: v[1]))
    rows = draw(st.lists(st.tuples(record, st.integers(0, 6), st.booleans()), min_size=1, max_size=9))
    ill = ["HIV" if sick else "none" for *_, sick in rows]
    data = Visits.from_records([r for r, *_ in rows], owner=[o for _, o, _ in rows], attributes={"ill": ill})
    k, l = draw(st.integers(1, min(3, data.n_owners))), draw(st.integers(1, 4))
    sensitive = {"ill": ["HIV"]} if "HIV" in ill else {}
    return data, {"k": k, "c": draw(st.sampled_from(SHARES)), "l": l, "sensitive": sensitive}


@given(tables())
@settings(deadline=None, max_examples=150)
def test_the_output_satisfies_the_definition(case: Case) -> None:
    check(*case)


def test_the_output_satisfies_the_definition_on_random_tables() -> None:
    for data, asked in cases(50, 150):
        check(data, asked)


@pytest.mark.slow
def test_the_output_satisfies_the_definition_on_20_000_tables() -> None:
    for data, asked in cases(51, 20_000):
        check(data, asked)


def test_names_and_order_of_the_input_do_not_matter_to_the_claim() -> None:
    for data, asked in cases(52, 100):
        turned = data.take(np.arange(len(data))[::-1])
        assert violating(run(turned, asked, "local").data, **asked) == []


def test_what_is_clean_stays() -> None:
    for data, asked in cases(53, 100):
        once = run(data, asked, "local").data
        if all(value in values for name, values in present(once).items() for value in asked["sensitive"].get(name, ())):
            twice = run(once, asked, "local")
            assert twice.facts["minimal violating sequences"] == 0
            assert twice.data.n_visits == once.n_visits


def present(data: Visits) -> dict[str, set[str | None]]:
    return {name: set(coded.values()) for name, coded in data.attributes.items()}


def test_the_printed_validity_test_breaks_the_claim_now_and_then() -> None:
    broken = 0
    for data, asked in cases(54, 150):
        method = PrintedKcl(**asked, accept_absence="yes")
        made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
        broken += bool(violating(made.data, **asked))
    assert 0 < broken < 50
