"""Random road networks and people with one to six trips: the definitions, written out, against methods and verifiers.

The definitions are sets and counters and share no code with methods and verifiers.  Every publication of every method
is judged by them and by the verifier, as it is and with something planted in it, and every sentence under "protects
against" is attacked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.cba.cba import Cba
from wayveil.methods.icba.icba import Icba
from wayveil.methods.prefix.prefix import Prefix
from wayveil.model import RoadNetwork, Routes, StrictK
from wayveil.verifiers.definitions import DEFINITIONS
from wayveil.verifiers.strict_k.strict_k_verifier import check_strict_k
from wayveil.verifiers.subsequence_k.subsequence_k_verifier import check_subsequence_k

ENGINE = LocalEngine(workers=1)


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
    find_break = DEFINITIONS[claim.name]
    check = check_strict_k if isinstance(claim, StrictK) else check_subsequence_k
    try:
        made = method.run(truth, rng=rng, engine=ENGINE).data
    except InputError:
        return False
    if not len(made):
        return False
    verdict = check(made, claim, original=truth)  # type: ignore[operator]
    assert verdict.holds, (seed, verdict.reason)
    assert find_break(made, claim, original=truth) == "", seed
    for _ in range(3):
        other = planted(made, rng)
        found = check(other, claim, original=truth)  # type: ignore[operator]
        assert found.holds == (find_break(other, claim, original=truth) == ""), (seed, found.reason)
    for protection in claim.protects:
        stronger = [{"roads": roads} for roads in (1, 3, 5)] if protection.attack == "seen_on_roads" else [{}]
        for more in stronger:
            attack = ATTACKS[protection.attack](**{**dict(protection.settings), **more})
            result = attack.run(truth, made, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)
            for name in protection.measured:
                assert not protection.is_broken_by(result.measured[name]), (seed, protection.sentence)
    return True


def test_a_sample() -> None:
    assert sum(check_one(seed) for seed in (*range(40), 1052)) >= 15  # 1052 plants a trajectory of nobody


@pytest.mark.slow
def test_the_campaign() -> None:
    assert sum(check_one(seed) for seed in range(40, 4000)) >= 1500
