"""Random road networks and people with one to six trips: the definitions, written out, against methods and verifiers.

The definitions below are sets and counters and share no code with the package.  Every publication of every method is
judged by them and by the verifier, as it is and with something planted in it, and every sentence under "protects
against" is attacked.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.cba import Cba
from wayveil.methods.icba import Icba
from wayveil.methods.prefix import Prefix
from wayveil.model import RoadNetwork, Routes, StrictK, SubsequenceK
from wayveil.verify.strict_k import check_strict_k
from wayveil.verify.subsequence_k import check_subsequence_k

ENGINE = LocalEngine(workers=1)


def span(data: Routes, i: int) -> tuple[int, int]:
    return int(data.t_start[i]), int(data.t_end[i])


def is_path(data: Routes, i: int) -> bool:
    ends = {name: (data.network.from_node[r], data.network.to_node[r]) for r, name in enumerate(data.network.roads)}
    return all(ends[a][1] == ends[b][0] for a, b in pairwise(data.record(i)))


def is_true(data: Routes, truth: Routes, k: int) -> bool:
    """Owners drove on a road of theirs in that slice, routes are parts of trips, and k people are on each road."""
    trips = defaultdict(list)
    for j in range(len(truth)):
        trips[span(truth, j)].append((int(truth.owner[j]), truth.record(j)))
    for i in range(len(data)):
        route, there = data.record(i), trips[span(data, i)]
        n = len(route)
        if data.owner[i] >= 0 and not any(who == data.owner[i] and set(trip) & set(route) for who, trip in there):
            return False
        if not any(trip[at : at + n] == route for _, trip in there for at in range(len(trip))):
            return False
        if any(len({who for who, trip in there if road in trip}) < k for road in route):
            return False
    return True


def is_strict(data: Routes, truth: Routes, claim: StrictK) -> bool:
    groups = defaultdict(list)
    for i in range(len(data)):
        groups[span(data, i), *data.record(i)].append(int(data.owner[i]))
    for owners in groups.values():
        people = Counter(who for who in owners if who >= 0)
        dummies = len(owners) - sum(people.values())
        if claim.pad == "no":
            owners, dummies = [who for who in owners if who >= 0], 0
        if len(people) + dummies < claim.k or (claim.pad == "yes" and 2 * len(people) <= claim.k):
            return False
        if any(Fraction(n, len(owners)) > claim.owner_share for n in people.values()):
            return False
    return bool(groups) and all(is_path(data, i) for i in range(len(data))) and is_true(data, truth, claim.k)


def is_shared(data: Routes, truth: Routes, claim: SubsequenceK) -> bool:
    having = defaultdict(list)
    for i in range(len(data)):
        route = data.record(i)
        for part in {part for n in range(1, len(route) + 1) for part in combinations(route, n)}:
            having[span(data, i), part].append(int(data.owner[i]))
    for owners in having.values():
        people = Counter(who for who in owners if who >= 0)
        rows = sum(people.values())
        if len(people) < claim.k or any(Fraction(n, rows) > claim.owner_share for n in people.values()):
            return False
    return bool(having) and all(is_path(data, i) for i in range(len(data))) and is_true(data, truth, claim.k)


def random_truth(rng: np.random.Generator) -> Routes:
    """A few nodes and roads, a few favourite walks, people with 1 to 6 trips, and now and then one with very many."""
    n_nodes = int(rng.integers(2, 5))
    ends = rng.integers(0, n_nodes, (int(rng.integers(2, 9)), 2)).tolist()
    network = RoadNetwork.from_roads([(f"r{i}", f"n{a}", f"n{b}") for i, (a, b) in enumerate(ends)])

    def walk() -> list[str]:
        route = [int(rng.integers(len(ends)))]
        while len(route) < rng.integers(1, 7):
            after = [r for r, (begin, _) in enumerate(ends) if begin == ends[route[-1]][1]]
            route.append(int(rng.choice(after)) if after and rng.random() < 0.95 else int(rng.integers(len(ends))))
        return [f"r{r}" for r in route]

    favourites = [walk() for _ in range(int(rng.integers(1, 5)))]
    owner = [who for who in range(int(rng.integers(3, 13))) for _ in range(int(rng.integers(1, 7)))]
    if rng.random() < 0.3:
        owner += [0] * int(rng.integers(10, 40))
    records = [favourites[int(rng.integers(len(favourites)))] if rng.random() < 0.8 else walk() for _ in owner]
    slices = [((0, 9), (9, 18))[int(rng.random() < 0.3)] for _ in owner]
    return Routes.from_records(records, network=network, owner=owner, slices=slices)


def random_method(rng: np.random.Generator) -> Any:
    k = int(rng.integers(2, 6))
    share = str(rng.choice(["1/k", "1/k", "1/k", "1/2", "2/3", "1/6"]))
    pad = str(rng.choice(["no", "yes"]))
    kind = int(rng.integers(4))
    if kind == 0:
        return Prefix(k=k, row_share=share, reattach=str(rng.choice(["lcs", "prefix"])))
    if kind == 1:
        return Cba(k=k, row_share=share, pad=pad)
    rho_c = [0, 3, 100, "auto"][int(rng.integers(4))]
    return Icba(k=k, row_share=share, pad=pad, rho_t=str(rng.choice(["0", "0.6"])), rho_c=rho_c)


def planted(data: Routes, rng: np.random.Generator) -> Routes:
    """The same with a trajectory more or less, or with another owner, slice or end."""
    at = int(rng.integers(len(data)))
    kind = int(rng.integers(5))
    if kind == 0:
        return data.take(np.delete(np.arange(len(data)), at))
    if kind == 1:
        return data.take(np.append(np.arange(len(data)), np.full(int(rng.integers(1, 4)), at)))
    if kind == 2:
        owner = data.owner.copy()
        owner[at] = rng.choice([-99, 0, 1, 2, 77])
        return replace(data, owner=owner)
    if kind == 3:
        begin, end = data.t_start.copy(), data.t_end.copy()
        begin[at], end[at] = (9, 18) if begin[at] == 0 else (0, 9)
        return replace(data, t_start=begin, t_end=end, t=np.repeat(begin, np.diff(data.offsets)))
    keep = np.ones(data.n_rows, np.bool_)
    keep[data.offsets[at + 1] - 1] = data.offsets[at + 1] - data.offsets[at] == 1
    return data.where(keep)


def check_one(seed: int) -> bool:
    """Publish, judge and attack one random case; return whether anything was published."""
    rng = np.random.default_rng(seed)
    truth, method = random_truth(rng), random_method(rng)
    claim = method.claim
    is_kept, check = (is_strict, check_strict_k) if isinstance(claim, StrictK) else (is_shared, check_subsequence_k)
    try:
        made = method.run(truth, rng=rng, engine=ENGINE).data
    except InputError:
        return False
    if not len(made):
        return False
    verdict = check(made, claim, original=truth)  # type: ignore[operator]
    assert verdict.holds, (seed, verdict.reason)
    assert is_kept(made, truth, claim), seed  # type: ignore[operator]
    for _ in range(3):
        other = planted(made, rng)
        found = check(other, claim, original=truth)  # type: ignore[operator]
        assert found.holds == is_kept(other, truth, claim), (seed, found.reason)  # type: ignore[operator]
    for protection in claim.protects:
        stronger = [{"roads": roads} for roads in (1, 3, 5)] if protection.attack == "seen_on_roads" else [{}]
        for more in stronger:
            attack = ATTACKS[protection.attack](**{**dict(protection.settings), **more})
            result = attack.run(truth, made, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)
            for name in protection.measured:
                assert not protection.is_broken_by(result.measured[name]), (seed, protection.sentence)
    return True


def test_a_sample() -> None:
    assert sum(check_one(seed) for seed in range(40)) >= 15


@pytest.mark.slow
def test_the_campaign() -> None:
    assert sum(check_one(seed) for seed in range(40, 4000)) >= 1500
