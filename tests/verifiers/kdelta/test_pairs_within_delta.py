"""Who stays close to whom, against all distances written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.kdelta import pairs_within_delta
from wayveil.verifiers.kdelta.pairs_within_delta import Movers


def all_squares(x, y):
    return ((x[:, None, :] - x[None, :, :]) ** 2 + (y[:, None, :] - y[None, :, :]) ** 2).max(axis=2)


@st.composite
def crowds(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, times = draw(st.integers(1, 40)), draw(st.sampled_from([1, 2, 5, 30, 300]))
    span = draw(st.sampled_from([2, 6, 20]))
    x, y = (rng.integers(0, span, (n, times)).astype(float) for _ in range(2))
    still = rng.random(n) < 0.7  # people who stay where they are meet at all times
    x[still], y[still] = x[still, :1], y[still, :1]
    return x, y, draw(st.sampled_from([1.0, 2.0, 5.0, 2**0.5, 0.4]))


@pytest.mark.parametrize("chunk", [1, 50, 30_000])
@given(crowds(), st.data())
@settings(deadline=None, max_examples=60)
def test_near_and_among_are_what_all_distances_say(chunk, crowd, data):
    x, y, limit = crowd
    limit += 1e-9
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_within_delta, "CHUNK", chunk)
        movers, squares = Movers(x, y, limit, StepBudget(10**12)), all_squares(x, y)
        one = data.draw(st.integers(0, len(x) - 1))
        close = {i for i in np.flatnonzero(squares[one] <= limit**2).tolist() if i != one}
        near, complete = movers.near(one)
        assert complete
        assert len(near) == len(close)
        assert set(near.tolist()) == close
        assert (np.diff(squares[one, near]) >= 0).all()

        most = data.draw(st.integers(0, 12))
        some, complete = movers.near(one, most)
        assert set(some.tolist()) <= close
        assert len(some) <= most + 1 or most + 1 >= len(x)  # a tie may take the place of `one`
        assert not complete or set(some.tolist()) == close

        chosen = np.append(one, near)
        assert (movers.among(chosen) == squares[np.ix_(chosen, chosen)]).all()
        fitting, squared = movers.boxed(chosen)
        boxed = squares[np.ix_(chosen[:fitting], chosen[:fitting])]
        assert fitting >= 1
        assert boxed.max() <= squared <= limit**2
        if fitting < len(chosen):
            wide = [np.ptp(c[chosen[: fitting + 1]], axis=0) for c in (x, y)]
            assert (wide[0] ** 2 + wide[1] ** 2).max() > limit**2


def test_a_complete_answer_is_known_as_such():
    x = np.arange(50.0)[:, None] * 10
    movers = Movers(x, np.zeros((50, 1)), 15.0, StepBudget(10**6))
    near, complete = movers.near(20, 5)
    assert sorted(near.tolist()) == [19, 21]
    assert complete
    assert not movers.near(20, 1)[1]


def test_few_times_that_tell_people_apart_are_found():
    rng = np.random.default_rng(5)
    x, y = np.zeros((400, 90)), np.zeros((400, 90))
    x[:, 70], y[:, 31] = rng.normal(size=400) * 100, rng.normal(size=400) * 50
    x[:, 71] = x[:, 70] * 0.99  # follows from 70
    x[:, 5] = rng.normal(size=400)
    assert pairs_within_delta._telling_times(x, y)[:3].tolist() == [70, 31, 5]


def test_work_is_counted_before_it_is_done():
    x = np.zeros((10, 7)) + np.arange(10)[:, None] * 1e-3
    assert Movers(x, x, 5.0, StepBudget(10**6)).among(np.arange(10)).shape == (10, 10)
    with pytest.raises(BudgetExceeded):
        Movers(x, x, 5.0, StepBudget(699)).among(np.arange(10))
    with pytest.raises(BudgetExceeded):
        Movers(x, x, 5.0, StepBudget(139)).boxed(np.arange(10))
    with pytest.raises(BudgetExceeded):
        Movers(x, x, 5.0, StepBudget(62)).near(0)


def test_the_limit_itself_is_close():
    movers = Movers(np.array([[0.0], [3.0]]), np.array([[0.0], [4.0]]), 5.0, StepBudget(100))
    assert movers.near(0)[0].tolist() == [1]
    assert movers.boxed(np.array([0, 1])) == (2, 25.0)


def test_few_times_are_enough_to_tell_that_somebody_is_far(monkeypatch):
    monkeypatch.setattr(pairs_within_delta, "_telling_times", lambda x, y: np.array([1]))
    x = np.arange(200.0)[:, None] * np.ones(120) * 100
    x[:, 1] = 0.0  # all meet once
    work = StepBudget(10**6)
    assert Movers(x, x, 5.0, work).near(0)[0].tolist() == []
    assert 10**6 - work.left == 199 * 12


def test_too_many_at_once_are_refused(monkeypatch):
    monkeypatch.setattr(pairs_within_delta, "MOST_PAIRWISE", 9)
    x = np.zeros((10, 1))
    with pytest.raises(BudgetExceeded):
        Movers(x, x, 5.0, StepBudget(10**6)).among(np.arange(10))
    assert Movers(x, x, 5.0, StepBudget(10**6)).among(np.arange(9)).shape == (9, 9)
