"""Random small publications by kcl, with several trips per person, against the definition and the promised attacker."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.errors import WayveilError
from wayveil.methods import Kcl
from wayveil.model import Visits
from wayveil.verifiers import check_kcl
from wayveil.verifiers.kcl.definition import find_break_of_kcl

ENGINE = LocalEngine(workers=1)


def crowd(rng: np.random.Generator) -> Visits:
    """Return trips of three to ten people over few visits, so that many look alike; some values are missing."""
    owner = np.repeat(np.arange(10), rng.integers(1, 7, 10))[: int(rng.integers(5, 40))]
    places, longest = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    records: list[list[tuple[str, int]]] = []
    for _ in owner:
        if records and rng.random() < 0.5:
            records.append(records[int(rng.integers(len(records)))])
            continue
        times = np.flatnonzero(rng.random(longest) < 0.8)
        records.append([("abc"[int(rng.integers(places))], int(t)) for t in times])
    values = rng.choice(["HIV", "flu", "no", "no", ""], len(owner)).tolist()
    ill = [None if value == "" else value for value in values]
    return Visits.from_records(records, owner=owner.tolist(), attributes={"ill": ill})


def method_of(rng: np.random.Generator) -> Kcl:
    """Return the method with any promise."""
    given: dict[str, Any] = {
        "k": int(rng.integers(2, 5)),
        "c": Fraction(int(rng.integers(1, 5)), 4),
        "l": [1, 2, 3, "all"][int(rng.integers(4))],
        "suppression": ["local", "global"][int(rng.integers(2))],
        "sensitive": [{}, {"ill": ["HIV"]}, {"ill": ["HIV", "flu"]}][int(rng.integers(3))],
    }
    if rng.random() < 0.3:
        given["row_share"] = Fraction(int(rng.integers(1, 5)), 4)
    return Kcl(**given)


def assert_promise_is_kept(seed: int) -> bool:
    """Publish, and judge by the definition; return whether anything was published."""
    rng = np.random.default_rng(seed)
    data, method = crowd(rng), method_of(rng)
    try:
        made = method.run(data, rng=rng, engine=ENGINE)
    except WayveilError:
        return False  # told in a sentence, and nothing was published
    published: Any = made.data
    if not published.n_visits:
        return False
    claim: Any = made.claim
    assert find_break_of_kcl(published, claim) == "", seed
    assert check_kcl(published, claim).holds, seed
    values = {attribute: list(listed) for attribute, listed in claim.sensitive}
    for protection in claim.protects:
        attack: Any = ATTACKS[protection.attack](**dict(protection.settings))
        result = attack.run(data, published, sensitive=values, rng=np.random.default_rng(1), engine=ENGINE)
        for name in protection.measured:
            assert not protection.is_broken_by(result.measured[name]), (seed, name)
    return True


def test_a_sample_of_random_publications_keeps_the_promise() -> None:
    assert sum(map(assert_promise_is_kept, range(60))) > 20


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_random_publications_keep_the_promise(part: int) -> None:
    for seed in range(1000 + 250 * part, 1250 + 250 * part):
        assert_promise_is_kept(seed)
