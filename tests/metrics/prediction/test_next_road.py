"""Next roads against a predictor written as dictionaries."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.metrics.prediction import NextRoad, held_out_people
from wayveil.model import RoadNetwork, Routes

ROADS = ["ab", "bc", "ca", "ba", "bd"]
NETWORK = RoadNetwork.from_roads([(name, *name) for name in ROADS])
OTHER = RoadNetwork.from_roads([(name, *name) for name in ("ad", *ROADS[::-1])])


def routes(records, network=NETWORK, owner=None):
    return Routes.from_records(records, network=network, owner=owner)


records = st.lists(st.lists(st.sampled_from(ROADS), max_size=5), max_size=8)


@settings(deadline=None, max_examples=150)
@given(records, records, st.sampled_from([NETWORK, OTHER]))
def test_against_dictionaries(before, after, network):
    owner = [i // 2 for i in range(len(before))]
    score = NextRoad().run(routes(before, owner=owner), routes(after, network))
    steps = [(pair, o) for r, o in zip(before, owner, strict=True) for pair in pairwise(r)]
    held = set(held_out_people(np.array([o for _, o in steps], np.int64)).tolist())
    test = [pair for pair, o in steps if o in held]
    assert score.measured["tested_steps"] == len(test)
    if not test:
        assert score.value is None
        return
    for name, train in (("before", [p for p, _ in steps]), ("after", [p for r in after for p in pairwise(r)])):
        every, right = Counter(b for _, b in train), 0
        for a, b in test:
            own = Counter(y for x, y in train if x == a) or every
            right += [b] == sorted(own, key=lambda p: (-own[p], ROADS.index(p)))[:1]
        assert score.measured[f"accuracy_{name}"] == pytest.approx(right / len(test))
    assert score.value == pytest.approx(score.measured["accuracy_before"] - score.measured["accuracy_after"])


def test_a_road_that_only_the_publication_has_is_no_guess_that_is_right():
    score = NextRoad().run(routes([["ab", "bc"]] * 5), routes([["ab", "ad"]] * 5, OTHER))
    assert (score.name, score.better, score.percent, score.value) == ("next_road", "lower", True, 1)
    assert score.charts[0].title == "Next roads that are guessed right"


def test_nothing():
    blank = RoadNetwork.from_roads([])
    assert NextRoad().run(routes([["ab", "bc"]]), routes([[]], blank)).value == 1
    assert NextRoad().run(routes([], blank), routes([], blank)).value is None
