"""The predictor against a slow one that follows its description."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.prediction import Prediction, Steps, guesses, held_out_people, steps_of
from wayveil.model.numbers import flatten


def steps(*pairs, person=None):
    now, then = (np.array([p[i] for p in pairs], np.int64) for i in (0, 1))
    return Steps(now, then, np.array(person if person is not None else [0] * len(pairs), np.int64))


def slow_guesses(pairs, state):
    """What followed `state` most often, then what is reached most often from anywhere; ties by number."""
    own = Counter(then for now, then in pairs if now == state)
    every = Counter(then for _, then in pairs)
    listed = sorted(own, key=lambda s: (-own[s], s))[:3]
    listed += [s for s in sorted(every, key=lambda s: (-every[s], s)) if s not in listed]
    return (listed + [-1] * 3)[:3]


pairs = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25)


@settings(deadline=None, max_examples=200)
@given(pairs)
def test_the_guesses(some):
    found, left = guesses(steps(*some), 7)
    assert found.tolist() == [slow_guesses(some, state) for state in range(7)]
    assert left.tolist() == [any(now == state for now, _ in some) for state in range(7)]


def test_steps_stay_inside_a_trajectory_and_skip_what_is_unknown():
    found = steps_of(np.array([0, 3, 3, 4, 7]), np.array([1, 2, 3, 4, 5, -1, 6]), np.array([9, 8, 7, 6]))
    assert found.now.tolist() == [1, 2]
    assert found.then.tolist() == [2, 3]
    assert found.person.tolist() == [9, 9]
    assert steps_of(np.array([0]), np.array([], np.int64), np.array([], np.int64)).now.tolist() == []


@pytest.mark.parametrize(("people", "tested"), [(0, 0), (1, 1), (5, 1), (6, 2), (1000, 200)])
def test_a_fifth_is_held_out(people, tested):
    found = held_out_people(np.repeat(np.arange(people), 2))
    assert len(found) == len(set(found.tolist())) == tested
    assert set(found.tolist()) <= set(range(people))


def test_who_is_held_out_depends_on_the_order_only_and_looks_random():
    one = held_out_people(np.arange(1000))
    assert held_out_people(np.arange(1000) + 70).tolist() == (one + 70).tolist()
    assert held_out_people(np.arange(1000)[::-1]).tolist() == sorted(999 - one)
    assert 60 < (one < 500).sum() < 140
    assert 60 < (one % 2).sum() < 140


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 8)), max_size=25),
    pairs.map(lambda some: [(a % 6, b % 6) for a, b in some]),
)
def test_the_accuracies(before, after):
    old = steps(*before, person=[p for *_, p in before])
    found = Prediction.of(old, steps(*after), 6)
    held = set(held_out_people(old.person).tolist())
    test = [(a, b) for a, b, p in before if p in held]
    assert (found.people, found.steps) == (len(held), len(test))
    for side, train in (
        (found.everyone, [(a, b) for a, b, _ in before]),
        (found.others, [(a, b) for a, b, p in before if p not in held]),
        (found.after, after),
    ):
        if not test:
            assert side.first is side.three is side.known is None
            continue
        lists = [slow_guesses(train, a) for a, _ in test]
        assert side.first == pytest.approx(sum(g[0] == b for g, (_, b) in zip(lists, test, strict=True)) / len(test))
        assert side.three == pytest.approx(sum(b in g for g, (_, b) in zip(lists, test, strict=True)) / len(test))
        assert side.known == pytest.approx(sum(any(x == a for x, _ in train) for a, _ in test) / len(test))


def test_names_of_the_numbers_and_the_chart():
    before = steps((0, 1), (0, 1), (1, 2), (2, 0), (2, 0), person=[1, 2, 3, 4, 5])
    found = Prediction.of(before, steps((0, 2), (1, 2)), 3)
    (tested,) = held_out_people(before.person).tolist()
    assert tested == 4
    assert flatten(found.numbers()) == {
        "tested_people": 1,
        "tested_steps": 1,
        "accuracy_before": 1.0,
        "accuracy_after": 0.0,
        "accuracy_before_others": 1.0,
        "loss_to_others": 1.0,
        "accuracy_of_3_before": 1.0,
        "accuracy_of_3_after": 0.0,
        "accuracy_of_3_before_others": 1.0,
        "loss_of_3": 1.0,
        "known_share_before": 1.0,
        "known_share_after": 0.0,
    }
    assert found.loss == 1
    (chart,) = found.chart("Right")
    assert (chart.title, chart.labels) == ("Right", ("first guess", "first 3 guesses"))
    assert [(s.name, s.values) for s in chart.series] == [
        ("original", (1, 1)),
        ("original, other people", (1, 1)),
        ("published", (0, 0)),
    ]
    nothing = Prediction.of(steps(), steps(), 0)
    assert nothing.loss is None
    assert nothing.chart("Right") == ()
