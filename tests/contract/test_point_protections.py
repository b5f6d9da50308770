"""What the methods on points protect against, attacked: on data made to hurt, with every public file in hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.methods import METHODS
from wayveil.model import Boxes, KDelta, MethodResult, Points
from wayveil.verifiers import VERIFIERS

TIMES = 6
ENGINE = LocalEngine(workers=1)
METHODS_ON_POINTS: dict[str, dict[str, Any]] = {
    "nwa": {"name": "nwa", "k": 3, "delta": 200, "pi": "1"},
    "nwa, equal": {"name": "nwa", "k": 3, "delta": 0, "pi": "1"},
    "w4m": {"name": "w4m", "k": 3, "delta": 200},
    "w4m, equal": {"name": "w4m", "k": 3, "delta": 0},
    "knode": {"name": "knode", "k": 3, "window": "6"},
    "tga": {"name": "tga", "k": 3},
    "tga, points": {"name": "tga", "k": 3, "publish": "points"},
    "tga, half": {"name": "tga", "k": 3, "row_share": Fraction(1, 2)},
}


def _trips(middles: np.ndarray, owner: list[int], seed: int, *, spread: float) -> Points:
    """Return one trip around each middle, all at the same times."""
    rng = np.random.default_rng(seed)
    places = middles[:, None] + np.arange(TIMES)[None, :, None] * [40.0, 10.0]
    places = places + rng.normal(0, spread, (len(middles), 1, 2)) + rng.normal(0, spread / 10, places.shape)
    n = len(middles)
    return Points(
        offsets=np.arange(n + 1) * TIMES, t=np.tile(np.arange(TIMES), n), x=places[..., 0].ravel(),
        y=places[..., 1].ravel(), owner=np.array(owner), owners="given",
    )  # fmt: skip


def dominant() -> Points:
    """Twenty trips of one person and one each of eight others, all in one place."""
    return _trips(np.zeros((28, 2)), [0] * 20 + list(range(1, 9)), 1, spread=60)


def equal() -> Points:
    """The same trip again and again: of one person six times, of others once or twice."""
    data = _trips(np.zeros((14, 2)), [0] * 6 + [1, 1, 2, 3, 4, 5, 6, 7], 2, spread=0)
    return replace(data, x=np.round(data.x, -1), y=np.round(data.y, -1))


def several_a_day() -> Points:
    """Twelve people with one to six trips, in six places that are not far apart."""
    rng = np.random.default_rng(3)
    owner = [person for person in range(12) for _ in range(int(rng.integers(1, 7)))]
    return _trips(rng.integers(0, 3, (len(owner), 2)) * 400.0, owner, 3, spread=80)


def one_each() -> Points:
    """Forty people with one trip each, in places of their own."""
    return _trips(np.random.default_rng(4).integers(0, 4, (40, 2)) * 900.0, list(range(40)), 4, spread=90)


HURTFUL = {data.__name__: data for data in (dominant, equal, several_a_day, one_each)}


def _made(name: str, data: Points) -> MethodResult:
    given = dict(METHODS_ON_POINTS[name])
    method = METHODS[given.pop("name")](**given)
    return method.run(data, rng=np.random.default_rng(9), engine=ENGINE)


def _attacked(name: str, data: Points, made: MethodResult, **settings: Any) -> Any:
    attack = ATTACKS[name](**settings)
    seen = made.boxes if made.boxes is not None and Boxes in attack.targets else made.data
    return attack.run(data, seen, sensitive={}, rng=np.random.default_rng(5), engine=ENGINE).measured


@pytest.mark.parametrize("hurtful", HURTFUL)
@pytest.mark.parametrize("name", METHODS_ON_POINTS)
def test_every_protection_of_a_method_on_points_is_kept(name: str, hurtful: str) -> None:
    data = HURTFUL[hurtful]()
    made = _made(name, data)
    claim: Any = made.claim
    if made.data.n_rows == 0:
        return
    more = {"original": data} if claim.about_truth else {}
    more |= {} if made.boxes is None else {"boxes": made.boxes}
    verdict = VERIFIERS[claim.name](made.data, claim, **more)
    assert verdict.holds, verdict.reason
    for protection in claim.protects:
        measured = _attacked(protection.attack, data, made, **dict(protection.settings))
        for number in protection.measured:
            assert not protection.is_broken_by(measured[number]), (protection.sentence, number, measured[number])
    if isinstance(claim, KDelta) and claim.delta > 0:
        measured = _attacked("noisy_sightings", data, made, delta=claim.delta)
        assert measured["identity_max"] <= float(claim.owner_share) + 1e-9
        assert measured["member_success_at_least"] <= float(claim.owner_share)


def test_points_in_boxes_are_there_by_chance() -> None:
    """Whoever knows the boxes and takes the nearest points in them is right in one of k cases, not more.

    Groups are independent of each other, and each gives a number from 0 to 1 (Hoeffding): with 60 of them the mean
    is above 1/3 + 0.28 once in ten thousand times.
    """
    rng = np.random.default_rng(6)
    middles = np.repeat(np.stack([np.arange(60) * 1e5, np.zeros(60)], axis=1), 3, axis=0)
    data = _trips(middles + rng.normal(0, 1, middles.shape), list(range(180)), 7, spread=200)
    made = _made("tga, points", data)
    hits = ATTACKS["nearest_positions"](samples=TIMES, draws=1).run(
        data, made.data, sensitive={}, rng=np.random.default_rng(5), engine=ENGINE
    )
    assert hits.measured["identity_mean"] < 1 / 3 + 0.28
