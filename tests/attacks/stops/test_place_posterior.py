"""The attacker who knows the method: by hand, against brute force, and against what `cast` promises."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks import ATTACKS, KnownPlaces, PlacePosterior
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods import Cast
from wayveil.model import Stops, Taxonomy

PARENTS = [("Place", ""), ("Park", "Place"), ("Cafe", "Place"), ("Health", "Place"), ("Clinic", "Health")]
PARENTS += [(f"C{i}", "Clinic") for i in range(1, 11)] + [("Hospital", "Health"), ("H1", "Hospital")]
TREE = Taxonomy.from_parents(PARENTS, sensitive=["Health"])
PLACES = ["C1", "C2", "H1"]


def stops(records: list[list[str]], owner: Any = None) -> Stops:
    return Stops.from_records(records, taxonomy=TREE, owner=range(len(records)) if owner is None else owner)


def measured(truth: Stops, target: Stops, **numbers: Any) -> dict[str, Any]:
    attack = PlacePosterior(**numbers)
    found = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
    assert not found.sampled
    return dict(found.measured)


def test_a_node_that_tells_its_leaf() -> None:
    truth = stops([["Park", "H1"]] * 2 + [["Park"]] * 3)
    lifted = stops([["Park", "Health"]] * 2 + [["Park"]] * 3)
    found = measured(truth, lifted, threshold="0.3")
    assert found["composition_max"] == 2 / 5
    assert found["composition_share_above"] == 1
    assert found["posterior_max"] == pytest.approx(2 / 55)  # nothing is published of any leaf
    assert found["identity_max"] == 1 / 5
    left_out = measured(truth, stops([["Park"]] * 5))
    assert (left_out["posterior_max"], left_out["composition_max"]) == (0, 2 / 5)


def test_the_publication_teaches_what_is_popular() -> None:
    """Nine are published at C1 elsewhere: of a stop at Clinic, 9 of 10 are there; the other nine clinics share one."""
    truth = stops([["Park", "C1"], ["Park"]] + [["Cafe", "C1"]] * 9)
    target = stops([["Park", "Clinic"], ["Park"]] + [["Cafe", "C1"]] * 9)
    only_park = measured(truth, stops([["Park", "Clinic"], ["Park"]] + [[]] * 9))
    assert only_park["posterior_max"] == pytest.approx(1 / 20)
    assert measured(truth, target)["posterior_max"] == 1
    park = [*[["Cafe"]] * 0, ["Park", "Clinic"], ["Park"]]
    shown = stops([*park, *[["Cafe", "C1"], ["Cafe"]] * 9])
    assert measured(stops([["Park", "C1"], ["Park"], *[["Cafe", "C1"], ["Cafe"]] * 9]), shown)[
        "posterior_mean"
    ] == pytest.approx((0.45 + 9 * 0.5) / 10)


def test_a_dominant_person_is_found() -> None:
    found = measured(stops([["Park"]] * 21, [0] * 20 + [1]), stops([["Park"]] * 21, [0] * 20 + [1]))
    assert found["identity_max"] == 20 / 21


def test_shares_over_people_and_over_trips() -> None:
    nine = stops([["Park", "C1"]] * 9 + [["Park"]], [0] * 9 + [1])
    assert measured(nine, nine)["composition_max"] == measured(nine, nine)["posterior_max"] == 9 / 10
    one = stops([["Park", "C1"]] + [["Park"]] * 9, [0] + [1] * 9)
    assert measured(one, one)["composition_max"] == 1 / 2


def test_the_number_of_stops_tells_more() -> None:
    truth = stops([["Park", "C1"], ["Park"], ["Park"], ["Park"]])
    assert measured(truth, truth)["posterior_max"] == 1 / 4
    assert measured(truth, truth, choice="number")["posterior_max"] == 1
    assert measured(truth, truth, choice="number")["posterior_certain_share"] == 1


def test_nothing_published_tells_nothing() -> None:
    assert measured(stops([["Park", "C1"]]), stops([[]]))["posterior_max"] is None
    with pytest.raises(InputError, match="one trajectory for each"):
        measured(stops([["Park"]]), stops([["Park"]] * 2))


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Stops, Stops]:
    truth, target = [], []
    for _ in range(draw(st.integers(1, 8))):
        known = draw(st.sampled_from([["Park"], ["Cafe"], []]))
        secrets = draw(st.lists(st.sampled_from(PLACES), max_size=2))
        truth.append([*known, *secrets])
        shown = [draw(st.sampled_from([place, dict(PARENTS)[place], "Health", ""])) for place in secrets]
        target.append([*known, *(node for node in shown if node)])
    owner = [draw(st.integers(0, 3)) for _ in truth]
    return stops(truth, owner), stops(target, owner)


def oracle(truth: Stops, target: Stops, units: list[int]) -> tuple[Fraction, float, float]:
    """The largest true share, posterior and share of one owner, from the definition."""
    parent = dict(PARENTS)
    inner = set(parent.values())

    def up(node: str) -> list[str]:
        return [node, *up(parent[node])] if node else []

    leaves = [leaf for leaf in parent if leaf not in inner and "Health" in up(leaf)]
    shown = [node for i in range(len(target)) for node in target.record(i)]

    def weight(leaf: str, node: str) -> Fraction:
        below = [one for one in leaves if node in up(one)]
        unseen = [one for one in below if one not in shown]
        count = {one: Fraction(1, len(unseen)) if one in unseen else Fraction(shown.count(one)) for one in below}
        return count[leaf] / sum(count.values()) if leaf in below else Fraction(0)

    classes: dict[tuple[str, ...], dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i in range(len(target)):
        if target.record(i):
            key = tuple(node for node in target.record(i) if "Health" not in up(node))
            classes[key][units[i]].append(i)
    true, posterior = Fraction(0), 0.0
    for members in classes.values():
        for leaf in leaves:
            there = [any(leaf in truth.record(i) for i in trips) for trips in members.values()]
            true = max(true, Fraction(sum(there), len(there)))
            total = Fraction(0)
            for trips in members.values():
                elsewhere = Fraction(1)
                for i in trips:
                    for node in target.record(i):
                        if "Health" in up(node):
                            elsewhere *= 1 - weight(leaf, node)
                total += 1 - elsewhere
            posterior = max(posterior, float(total / len(members)))
    return true, posterior, 0.0


@given(pairs())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_against_brute_force(pair: tuple[Stops, Stops]) -> None:
    truth, target = pair
    found = measured(truth, target)
    if not target.n_rows:
        assert found["posterior_max"] is None
        return
    people = oracle(truth, target, truth.owner.tolist())
    trips = oracle(truth, target, list(range(len(truth))))
    assert found["composition_max"] == float(max(people[0], trips[0]))
    assert found["posterior_max"] == pytest.approx(max(people[1], trips[1]))


HURTFUL = {
    "a dominant person": ([["Park", "C1"], ["Park"]] * 10 + [["Park"]] * 6, [0] * 20 + [1, 2, 3, 4, 5, 6]),
    "everybody at one clinic": ([["Park", "C1"]] * 5 + [["Cafe", "H1"], ["Cafe"], ["Cafe"]] * 3, None),
    "ties": ([["Park", place] for place in PLACES] * 4 + [["Park"]] * 4, None),
    "one leaf under a node": ([["Park", "H1"]] * 2 + [["Cafe", "H1"]] * 2 + [["Park"], ["Cafe"]] * 4, None),
    "several trips a day": ([["Park", "C1", "C2"], ["Park", "Cafe"], ["Park"]] * 5, [i // 3 for i in range(15)]),
}


@pytest.mark.parametrize("name", HURTFUL)
@pytest.mark.parametrize("weights", ["worst", "uniform"])
def test_what_the_claim_promises_is_not_broken(name: str, weights: str) -> None:
    """Each sentence of the claim, by the attack that it names, with the settings that it names."""
    records, owner = HURTFUL[name]
    truth = stops(records, owner)
    method = Cast(c="1/2", m=2, weights=weights)
    made: Any = method.run(truth, rng=np.random.default_rng(0), engine=LocalEngine(workers=1)).data
    assert made.n_rows
    for protection in method.claim.protects:
        attack = ATTACKS[protection.attack](**dict(protection.settings))
        found = attack.run(truth, made, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine(workers=1))
        assert protection.measured
        for key in protection.measured:
            assert not protection.is_broken_by(found.measured[key]), (protection.sentence, key, found.measured[key])


def test_the_attacks_break_what_is_not_protected() -> None:
    """The same attacks on raw data, so that a bound that nothing could break is noticed."""
    truth = stops(*HURTFUL["a dominant person"])
    claim = Cast(c="1/4", m=5).claim
    rng, engine = np.random.default_rng(1), LocalEngine(workers=1)
    for protection in claim.protects:
        attack = ATTACKS[protection.attack](**dict(protection.settings))
        found = attack.run(truth, truth, sensitive={}, rng=rng, engine=engine)
        assert any(protection.is_broken_by(found.measured[key]) for key in protection.measured), protection.sentence
    assert KnownPlaces.name in {protection.attack for protection in claim.protects}
