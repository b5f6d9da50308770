"""A privacy audit: what an attacker who knows everybody else finds out about one person, from thousands of runs.

The real code runs on two data sets that differ in one person with all their trips.  A test of the attacker's is fixed
on one half of the runs and counted on the other; its rates, bounded by Clopper and Pearson (1934), bound epsilon from
below.  The bound stays below the claimed epsilon, and is above it where a fault is planted.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

import wayveil.methods.synth.noisy_model as noisy_model
import wayveil.methods.synth.point_trips as point_trips
import wayveil.methods.synth.synth as synth_module
from wayveil.engines import LocalEngine
from wayveil.methods import Synth
from wayveil.methods.synth.noisy_model import Budget, Noisy
from wayveil.methods.synth.person_shares import ONE_PERSON
from wayveil.methods.synth.public_area import Area
from wayveil.model import Points, Visits

pytest.importorskip("opendp")

RUNS = 120
SURE = 1e-6
"""How often the bound on a rate is wrong.  Noise has no seed, so that these tests are not the same twice: a right
mechanism fails one of them in a hundred thousand runs, and faults are planted so large that they are found."""


def lower_bound(without: np.ndarray, with_one: np.ndarray, delta: float) -> float:
    """Return a bound on epsilon from statistics of runs without and with one person, that is seldom too high."""
    half = len(without) // 2
    # The threshold, and on which side of it the person is taken to be in the data, is chosen on the first half only: by
    # the bound that it would give there.
    seen = np.unique(np.concatenate([without[:half], with_one[:half]]))
    thresholds = np.unique(np.quantile(seen, np.linspace(0, 1, 101), method="nearest"))
    best = max(
        (_bound(one[:half], other[:half], threshold, sign, delta), threshold, sign, number)
        for number, (one, other) in enumerate(((with_one, without), (without, with_one)))
        for threshold in thresholds.tolist()
        for sign in (1, -1)
    )
    _, threshold, sign, number = best
    one, other = ((with_one, without), (without, with_one))[number]
    return _bound(one[half:], other[half:], threshold, sign, delta)


def _bound(one: np.ndarray, other: np.ndarray, threshold: float, sign: int, delta: float) -> float:
    """Return what the rates of a test say about epsilon, at least; 0 where they say nothing."""
    n = len(one)
    hits = int((sign * one >= sign * threshold).sum())
    false = int((sign * other >= sign * threshold).sum())
    low = beta.ppf(SURE, hits, n - hits + 1) if hits else 0.0
    high = beta.ppf(1 - SURE, false + 1, n - false) if false < n else 1.0
    return max(0.0, log((low - delta) / high)) if low > delta else 0.0


def crowd(trips: int, *, victim: bool, unique: bool = False) -> Visits:
    """Return forty people who go from a to b, and perhaps one who goes elsewhere, with several trips."""
    records: list[list[tuple[str, int]]] = [[("a", 8), ("b", 9)]] * 40
    owner = list(range(40))
    if victim:
        records = records + [[("z" if unique else "b", 20), ("a", 22)]] * trips
        owner += [99] * trips
    data = Visits.from_records(records, owner=owner)
    return data.recode(("a", "b", "z")) if unique else data


def noisy_statistics(method: Synth, data: Visits, base: dict[str, np.ndarray], runs: int) -> np.ndarray:
    """Return how much more likely the noisy histograms of each run are with the person than without (in logarithms).

    `base` are the true histograms without and with the person, by name: the attacker knows everybody else.
    """
    found = np.zeros(runs)
    real = Budget.histogram

    for run in range(runs):

        def spied(self: Budget, name: str, counts: str, values: Any, epsilon: Any, run: int = run) -> Noisy:
            made = real(self, name, counts, values, epsilon)
            if name in base and len(base[name]) == 2 * len(values):
                without, with_one = base[name].reshape(2, -1) / ONE_PERSON
                found[run] += float((np.abs(made.values - without) - np.abs(made.values - with_one)).sum() / made.scale)
            return made

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Budget, "histogram", spied)
            method.run(data, rng=np.random.default_rng(run), engine=LocalEngine(workers=1))
    return found


def true_histograms(method: Synth, data: Visits) -> dict[str, np.ndarray]:
    """Return the histograms before noise."""
    seen: dict[str, np.ndarray] = {}
    real = Budget.histogram

    def spied(self: Budget, name: str, counts: str, values: Any, epsilon: Any) -> Noisy:
        seen[name] = values.copy()
        return real(self, name, counts, values, epsilon)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "histogram", spied)
        method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
    return seen


def audit_model(method: Synth, trips: int, runs: int = RUNS) -> float:
    """Return the lower bound on epsilon from the noisy histograms, for a person with some trips."""
    without, with_one = (crowd(trips, victim=victim) for victim in (False, True))
    one, other = true_histograms(method, without), true_histograms(method, with_one)
    base = {name: np.concatenate([one[name], other[name]]) for name in one.keys() & other.keys()}
    statistics = [noisy_statistics(method, data, base, runs) for data in (without, with_one)]
    return lower_bound(*statistics, method.delta)


def setting(epsilon: float, **more: Any) -> Synth:
    given = {"delta": 0.0, "public_places": {"all": ["a", "b"]}, "days": "0..1", "trips": 20, **more}
    return Synth(epsilon=epsilon, **given)


@pytest.mark.parametrize(("epsilon", "trips"), [(0.5, 1), (1.0, 7)])
def test_noisy_histograms_tell_no_more_than_is_claimed(epsilon: float, trips: int) -> None:
    assert audit_model(setting(epsilon), trips) <= epsilon


def noisy_keys(epsilon: float, *, person: int) -> np.ndarray:
    """Return twenty thousand noisy numbers of one key, with or without one person in it."""
    budget = Budget(epsilon=Fraction(epsilon), delta=Fraction(0))
    return budget.histogram("keys", "trips", np.full(20_000, person * ONE_PERSON), Fraction(epsilon)).values


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_one_number_tells_what_it_costs_and_no_more(epsilon: float) -> None:
    bound = lower_bound(noisy_keys(epsilon, person=0), noisy_keys(epsilon, person=1), 0.0)
    assert 0.7 * epsilon < bound <= epsilon


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_noisy_histograms_tell_no_more_in_random_settings(seed: int) -> None:
    rng = np.random.default_rng(seed)
    epsilon = float(np.round(rng.uniform(0.2, 4), 2))
    more = {"trips_per_person": int(rng.integers(1, 5)), "length_max": int(rng.integers(2, 6))}
    assert audit_model(setting(epsilon, **more), int(rng.integers(1, 9)), runs=600) <= epsilon


def test_published_places_tell_no_more_than_is_claimed() -> None:
    method = setting(1.0, trips=60)
    shares = []
    for victim in (False, True):
        data = crowd(3, victim=victim)
        made = [method.run(data, rng=np.random.default_rng(i), engine=LocalEngine(workers=1)).data for i in range(RUNS)]
        # The person is the only one who begins at b.
        shares.append(np.array([np.mean(one.location[one.offsets[:-1]] == one.locations.index("b")) for one in made]))
    assert lower_bound(shares[0], shares[1], 0.0) <= 1.0


def test_half_the_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = noisy_model.add_noise

    def weak(numbers: Any, query: Any, *, component: str) -> Any:
        return real(numbers, replace(query, scale=query.scale / 2), component=component)

    monkeypatch.setattr(noisy_model, "add_noise", weak)
    assert lower_bound(noisy_keys(1.0, person=0), noisy_keys(1.0, person=1), 0.0) > 1.0


def test_a_person_who_counts_with_every_trip_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        synth_module, "share_trips", lambda owner, is_counted, most: np.where(is_counted, ONE_PERSON, 0)
    )
    assert audit_model(setting(0.5), 60) > 0.5


def names_of(method: Synth, *, victim: bool, runs: int) -> np.ndarray:
    """Return in which runs the place that only one person visits is named."""
    data = crowd(3, victim=victim, unique=True)
    made = [method.run(data, rng=np.random.default_rng(i), engine=LocalEngine(workers=1)).data for i in range(runs)]
    return np.array([float("z" in one.locations) for one in made])


def test_a_place_of_one_person_is_not_named_and_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    method = Synth(epsilon=20.0, delta=1e-6, days="0..1", trips=20)
    with_one = names_of(method, victim=True, runs=20)
    assert not with_one.any()

    def forgotten(self: Budget, name: str, counts: str, values: Any, **more: Any) -> Any:
        present = np.flatnonzero(values > 0)  # no threshold, so that every key of the data is known
        return present, Noisy(values=values[present] / ONE_PERSON, scale=1.0)

    monkeypatch.setattr(Budget, "select", forgotten)
    method = replace(method, epsilon=0.5)
    runs = [names_of(method, victim=victim, runs=100) for victim in (False, True)]
    assert lower_bound(runs[0], runs[1], 1e-6) > 0.5


def corner(method: Any, *, victim: bool, runs: int) -> np.ndarray:
    """Return how far east the synthetic points of each run are."""
    rng = np.random.default_rng(3)
    records = [[(0, x, y), (5, x + 300, y + 200)] for x, y in rng.random((60, 2)) * 1000]
    records += [[(0, 90_000.0, 500.0), (5, 90_100.0, 600.0)]] if victim else []
    data = Points.from_records(records)
    return np.array(
        [
            method.run(data, rng=np.random.default_rng(i), engine=LocalEngine(workers=1)).data.x.max()
            for i in range(runs)
        ]
    )


def test_an_exact_bounding_box_is_found_and_a_noisy_one_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    method = Synth(epsilon=50, days="0..1", trips=20).for_kind("points")
    assert corner(method, victim=True, runs=5).max() < 50_000  # found with noise: one person does not make an area

    def exact(x: Any, y: Any, shares: Any, **more: Any) -> Area:
        return Area(west=float(x.min()), south=float(y.min()), east=float(x.max()), north=float(y.max()))

    monkeypatch.setattr(point_trips, "find_area", exact)
    method = replace(method, epsilon=0.2)
    runs = [corner(method, victim=victim, runs=60) for victim in (False, True)]
    assert lower_bound(runs[0], runs[1], 1e-6) > 0.2


def test_the_bound_itself_is_right_for_a_coin_that_is_known() -> None:
    """Randomised response has the epsilon that it says, and a bound from its answers is seldom above it."""
    epsilon = 1.0
    rng = np.random.default_rng(4)
    keeps = exp(epsilon) / (1 + exp(epsilon))
    bounds = []
    for _ in range(50):
        answers = [np.where(rng.random(2000) < keeps, truth, 1 - truth).astype(float) for truth in (0, 1)]
        bounds.append(lower_bound(answers[0], answers[1], 0.0))
    assert max(bounds) <= epsilon
    assert np.mean(bounds) > 0.6
