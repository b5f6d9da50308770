"""Next stops at the level of kinds and of places."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.metrics.prediction import NextStop, held_out_people
from wayveil.model import Stops, Taxonomy

PARENT = {
    "Bar": "Food", "Pizza": "Italian", "Place": "", "Food": "Place", "Italian": "Food", "Park": "Place",
    "Health": "Place", "C1": "Health",
}  # fmt: skip
KIND = {"Bar": "Food", "Pizza": "Food", "Italian": "Food", "Food": "Food", "Park": "Park", "Health": "Health"}
KIND |= {"C1": "Health"}
PLACE = {name: name for name in ("Bar", "Pizza", "Park", "C1")}
ORDER = list(PARENT)
TREE = Taxonomy.from_parents(PARENT.items(), sensitive=["Health"])
TURNED = Taxonomy.from_parents([*list(PARENT.items())[::-1], ("Pub", "Food")], sensitive=["Health"])


def stops(*records, taxonomy=TREE):
    return Stops.from_records([r.split() for r in records], taxonomy=taxonomy)


def moves(record, level):
    return [(level[a], level[b]) for a, b in pairwise(record) if a in level and b in level]


def accuracy(train, test):
    every = Counter(b for _, b in train)
    right = 0
    for a, b in test:
        own = Counter(y for x, y in train if x == a) or every
        best = sorted(own, key=lambda p: (-own[p], ORDER.index(p)))[:1]
        right += [b] == best
    return right / len(test)


raw = st.lists(st.lists(st.sampled_from(sorted(PLACE)), max_size=5), max_size=8)
generalized = st.lists(st.lists(st.sampled_from(sorted(PARENT)), max_size=5), max_size=8)


@settings(deadline=None, max_examples=150)
@given(raw, generalized, st.sampled_from([TREE, TURNED]))
def test_against_dictionaries(before, after, taxonomy):
    score = NextStop().run(Stops.from_records(before, taxonomy=TREE), Stops.from_records(after, taxonomy=taxonomy))
    for level, suffix in ((KIND, ""), (PLACE, "_of_places")):
        owner = np.array([i for i, r in enumerate(before) for _ in moves(r, level)], np.int64)
        held = set(held_out_people(owner).tolist())
        test = [m for i, r in enumerate(before) if i in held for m in moves(r, level)]
        assert score.measured[f"tested_steps{suffix}"] == len(test)
        if not test:
            assert score.value is score.measured["loss_of_places"] is None
            continue
        for name, records in (("before", before), ("after", after)):
            train = [m for r in records for m in moves(r, level)]
            assert score.measured[f"accuracy_{name}{suffix}"] == pytest.approx(accuracy(train, test))
        loss = score.measured[f"accuracy_before{suffix}"] - score.measured[f"accuracy_after{suffix}"]
        assert (score.measured["loss_of_places"] if suffix else score.value) == pytest.approx(loss)


def test_generalized_stops_still_tell_the_kind():
    score = NextStop().run(stops(*["Bar Park C1"] * 10), stops(*["Food Park Health"] * 10))
    assert (score.name, score.better, score.percent) == ("next_stop", "lower", True)
    assert (score.value, score.measured["loss_of_places"]) == (0, 1)
    assert [c.title.split()[0] for c in score.charts] == ["Kinds", "Places"]
    assert score.charts[0].series[2].values == (1, 1)
    assert score.charts[1].series[2].values == (0, 0)


def test_the_root_teaches_nothing_and_is_not_jumped_over():
    assert NextStop().run(stops(*["Bar Park"] * 5), stops(*["Bar Place Park"] * 5)).value == 1


def test_a_step_to_the_same_kind_counts():
    score = NextStop().run(stops(*["Bar Pizza"] * 5), stops(*["Food Food"] * 5))
    assert (score.measured["tested_steps"], score.value) == (1, 0)


def test_nothing_and_another_taxonomy():
    assert NextStop().run(stops(""), stops("Bar Park")).value is None
    assert NextStop().run(stops("Bar Park"), stops()).value == 1
    bare = Taxonomy.from_parents([("Place", "")])
    assert NextStop().run(stops("Place Place", taxonomy=bare), stops(taxonomy=bare)).value is None
    with pytest.raises(InputError, match=r"next_stop: the taxonomy .* \(1 are not in it\)"):
        NextStop().run(stops("Bar"), stops("Pub", taxonomy=TURNED))
