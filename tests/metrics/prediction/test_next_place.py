"""Next places against a predictor written as nested dictionaries."""

from collections import Counter
from itertools import groupby, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.prediction import NextPlace, held_out_people
from wayveil.model import Visits


def visits(records, owner=None):
    """Each record is text such as "abc": places, one after the other."""
    return Visits.from_records([[(p, t) for t, p in enumerate(r)] for r in records], owner=owner)


def run(before, after):
    return NextPlace().run(before, after)


def moves(record):
    return list(pairwise(place for place, _ in groupby(record)))


def accuracy(train, test, order, most):
    every = Counter(b for _, b in train)
    right = 0
    for a, b in test:
        own = Counter(y for x, y in train if x == a)
        listed = sorted(own, key=lambda p: (-own[p], order.index(p)))[:most]
        listed += [p for p in sorted(every, key=lambda p: (-every[p], order.index(p))) if p not in listed]
        right += b in listed[:most]
    return right / len(test)


records = st.lists(st.text("abcde", max_size=6), max_size=10)


@settings(deadline=None, max_examples=150)
@given(records, records)
def test_against_dictionaries(before, after):
    owner = [i // 2 for i in range(len(before))]
    score = run(visits(before, owner), visits(after))
    walkers = [o for r, o in zip(before, owner, strict=True) if moves(r)]
    held = set(held_out_people(np.array(walkers, np.int64)).tolist())
    by_owner = [(m, o) for r, o in zip(before, owner, strict=True) for m in moves(r)]
    test = [m for m, o in by_owner if o in held]
    assert score.measured["tested_people"] == len(held)
    assert score.measured["tested_steps"] == len(test)
    if not test:
        assert score.value is None
        assert score.charts == ()
        return
    order = sorted({p for r in before for p in r})
    order += sorted({p for r in after for p in r} - set(order))
    new = [m for r in after for m in moves(r)]
    for name, train in (
        ("before", [m for m, _ in by_owner]),
        ("before_others", [m for m, o in by_owner if o not in held]),
        ("after", new),
    ):
        assert score.measured[f"accuracy_{name}"] == pytest.approx(accuracy(train, test, order, 1))
        assert score.measured[f"accuracy_of_3_{name}"] == pytest.approx(accuracy(train, test, order, 3))
    assert score.value == pytest.approx(score.measured["accuracy_before"] - score.measured["accuracy_after"])


@settings(deadline=None, max_examples=50)
@given(records)
def test_a_publication_of_everything_loses_nothing(before):
    assert run(visits(before), visits(before[::-1])).value in (0, None)


def test_staying_is_no_step():
    score = run(visits(["aaab"] * 5), visits(["ab"] * 5))
    assert (score.measured["tested_steps"], score.measured["accuracy_before"], score.value) == (1, 1, 0)


def test_two_trips_of_one_person_are_not_torn_apart():
    # All trips but one are of one person; whoever is held out, no other trip shows what follows.
    score = run(visits(["ab", "ab", "ab"], [4, 4, 4]), visits(["ab"]))
    assert score.measured["accuracy_before_others"] == 0
    assert (score.measured["tested_people"], score.measured["tested_steps"]) == (1, 3)


@pytest.mark.parametrize("nothing", [[], ["", ""]])
def test_nothing(nothing):
    score = run(visits(["ab"] * 5), visits(nothing))
    assert (score.name, score.better, score.percent) == ("next_place", "lower", True)
    assert (score.value, score.measured["known_share_after"]) == (1, 0)
    assert run(visits(nothing), visits(["ab"])).value is None
    assert run(visits(["a", "b"]), visits(["a"])).charts == ()
