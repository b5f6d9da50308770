"""(K,C)_L-privacy against attackers who know any number of visits, by exhaustive enumeration on small tables."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.kernels.kcl.projected_lists import NO_LIMIT, Records
from wayveil.kernels.kcl.violating_sequences import find_sequences
from wayveil.methods.kcl import Kcl, kcl_solver
from wayveil.model import MethodResult, Visits
from wayveil.verifiers import check_kcl

Case = tuple[Visits, dict[str, Any]]
SHARES = ["0", "1/4", "1/3", "2/5", "1/2", "2/3", "0.8", "1"]


def run(data: Visits, **asked: Any) -> MethodResult:
    return Kcl(**asked, accept_absence="yes").run(data, rng=np.random.default_rng(0), engine=LocalEngine())


def violating(data: Visits, k: int, c: str, sensitive: dict[str, list[str]]) -> list[Any]:
    """Return every sequence of any length that occurs and breaks Definition 3.1, over people or over trajectories."""
    groups: dict[Any, list[int]] = {}
    for r in range(len(data)):
        record = data.record(r)
        for n in range(1, len(record) + 1):
            for q in combinations(record, n):
                groups.setdefault(q, []).append(r)
    owner, bad = data.owner.tolist(), []
    carried = [[v == value for v in data.attributes[name].values()] for name, vs in sensitive.items() for value in vs]
    for q, group in groups.items():
        people = {owner[r] for r in group}
        fine = len(people) >= k
        fine &= all(sum(owner[r] == who for r in group) * k <= len(group) for who in people)
        fine &= all(len({owner[r] for r in group if has[r]}) <= Fraction(c) * len(people) for has in carried)
        fine &= all(sum(has[r] for r in group) <= Fraction(c) * len(group) for has in carried)
        if not fine:
            bad.append(q)
    return bad


def cases(seed: int, n: int) -> Iterator[Case]:
    """Random tables with up to 6 visits in a record, where many share most of what they have."""
    rng = random.Random(seed)
    for _ in range(n):
        people, times, density = rng.randint(1, 12), rng.randint(1, 6), rng.choice([0.3, 0.6, 0.8, 0.95])
        places = rng.choice(["a", "a", "ab"])
        records = [[(rng.choice(places), t) for t in range(times) if rng.random() < density] for _ in range(people)]
        owner = [rng.randrange(people) if rng.random() < 0.4 else 100 + i for i in range(people)]
        kinds = [("ill", ["HIV", "none", "none"]), ("job", ["x", "y"])][: rng.randint(0, 2)]
        attributes = {name: [values[0], *(rng.choice(values) for _ in records[1:])] for name, values in kinds}
        data = Visits.from_records(records, attributes=attributes, owner=owner)
        yield (
            data,
            {
                "k": rng.randint(1, min(4, data.n_owners)),
                "c": rng.choice(SHARES),
                "sensitive": {name: [values[0]] for name, values in kinds},
            },
        )


def check(data: Visits, asked: dict[str, Any], **more: Any) -> None:
    made = run(data, **asked, **more, l="all")
    assert violating(made.data, **asked) == []
    assert made.claim.l == "all"  # type: ignore[attr-defined]
    assert made.data.n_visits == 0 or check_kcl(made.data, made.claim).holds
    assert (made.data.n_visits == data.n_visits) == (not violating(data, **asked))
    longest = max(1, *(len(data.record(r)) for r in range(len(data)))) if len(data) > 1 else 6
    for known in (longest, longest + 1, 1000):
        same = run(data, **asked, **more, l=known)
        assert [same.data.record(r) for r in range(len(data))] == [made.data.record(r) for r in range(len(data))]
        assert same.facts == made.facts


@pytest.mark.parametrize("suppression", ["local", "global"])
def test_no_sequence_of_any_length_breaks_the_definition(suppression: str) -> None:
    for data, asked in cases(70, 130):
        check(data, asked, suppression=suppression)


def test_frequent_sequences_can_be_spared_as_well() -> None:
    for data, asked in cases(71, 60):
        check(data, asked, preserve="mfs", min_support=2)


@pytest.mark.slow
def test_no_sequence_breaks_the_definition_on_many_tables() -> None:
    for number, (data, asked) in enumerate(cases(72, 10_000)):
        check(data, asked, suppression="global" if number % 4 == 0 else "local")


def test_traditional_k_anonymity() -> None:
    # c = 1: only the number of people counts.  Every pair is common, all three visits together are not
    records = [[("a", 1), ("b", 2), ("c", 3)], [("a", 1), ("b", 2)], [("a", 1), ("c", 3)], [("b", 2), ("c", 3)]]
    data = Visits.from_records(records, attributes={"ill": ["HIV"] * 4})
    assert run(data, k=2, c=1, l=2).data.n_visits == 9
    for suppression in ("local", "global"):
        made = run(data, k=2, c=1, l="all", sensitive={"ill": ["HIV"]}, suppression=suppression)
        assert made.facts["minimal violating sequences"] == 1
        assert 0 < made.data.n_visits < 9
        assert violating(made.data, 2, "1", {"ill": ["HIV"]}) == []


def test_confidence_bounding() -> None:
    # k = 1: only the share counts.  One in two of those with a pair is ill, but the one with all three is
    records = [[("a", 1), ("b", 2), ("c", 3)], [("a", 1), ("b", 2)], [("a", 1), ("c", 3)], [("b", 2), ("c", 3)]]
    data = Visits.from_records(records, attributes={"ill": ["HIV", "no", "no", "no"]})
    sensitive = {"ill": ["HIV"]}
    assert run(data, k=1, c="1/2", l=2, sensitive=sensitive).data.n_visits == 9
    for suppression in ("local", "global"):
        made = run(data, k=1, c="1/2", l="all", sensitive=sensitive, suppression=suppression)
        assert made.facts["minimal violating sequences"] == 1
        assert 0 < made.data.n_visits < 9
        assert violating(made.data, 1, "1/2", sensitive) == []
    assert run(data, k=1, c=1, l="all", sensitive=sensitive).data.n_visits == 9  # nothing is asked


def test_too_many_shared_sequences_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Visits.from_records([[("a", t) for t in range(12)]] * 3)  # 4095 sequences, each of three people
    monkeypatch.setattr(kcl_solver, "MOST_BYTES", 4095 * (8 * 13 + 100))
    assert run(data, k=3, l="all").data.n_visits == 36
    monkeypatch.setattr(kcl_solver, "MOST_BYTES", 4094 * (8 * 13 + 100))
    with pytest.raises(InputError, match=r"more than 4,094 sequences .* k = 3 people, .*\. Give a smaller l, or cut"):
        run(data, k=3, l="all")
    assert run(data, k=3, l=3).data.n_visits == 36


def kernel_records(data: Visits) -> Records:
    """Return the data as the kernels take them; every trajectory must be its own owner, in order."""
    visit = sorted({v for r in range(len(data)) for v in data.record(r)}, key=lambda v: (v[1], v[0]))
    code = {v: i for i, v in enumerate(visit)}
    items = np.array([code[v] for r in range(len(data)) for v in data.record(r)], np.int64)
    n = len(data)
    value = np.where(np.array([v == "HIV" for v in data.attributes["ill"].values()]), 0, -1)
    ends = data.offsets.astype(np.int64)
    alive = np.ones(len(items), np.int64)
    return Records(ends, items, alive, np.arange(n), np.arange(n + 1), value, len(visit), 1, 1, NO_LIMIT)


def test_minimal_violating_sequences_of_all_lengths() -> None:
    rng, lengths = random.Random(73), set()
    for _ in range(300):
        n, times, density = rng.randint(1, 12), rng.randint(1, 6), rng.choice([0.5, 0.8, 0.9])
        paths = [[("a", t) for t in range(times) if rng.random() < density] for _ in range(n)]
        data = Visits.from_records(paths, attributes={"ill": [rng.choice(["HIV", "no", "no"]) for _ in paths]})
        k, c = rng.randint(1, 3), Fraction(rng.choice(SHARES))
        records = kernel_records(data)
        longest = max(1, *(len(path) for path in paths)) if n > 1 else max(1, len(paths[0]))
        allowed = np.array([c.numerator * m // c.denominator for m in range(n + 1)], np.int64)
        table = find_sequences(records, longest, k, allowed)[0].table
        rows = table.rows[: table.n_rows[0] * table.width].reshape(-1, table.width).tolist()
        found = sorted(tuple(row[1 : 1 + row[0]]) for row in rows)
        times_of = sorted({t for path in paths for _, t in path})
        bad = [tuple(times_of.index(t) for _, t in q) for q in violating(data, k, str(c), {"ill": ["HIV"]})]
        assert found == sorted(q for q in bad if not any(set(part) < set(q) for part in bad))
        lengths |= {len(q) for q in found}
    assert lengths >= {1, 2, 3, 4}
