"""The attacker who knows places of a trip, against a restatement of the definitions on planted and random data."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.attack_base import owners_of
from wayveil.attacks.stops.known_places import KnownPlaces, _positions
from wayveil.attacks.stops.place_classes import PlaceClasses
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Stops, Taxonomy

ENGINE = LocalEngine(workers=2)
PARENT = {
    "Place": "", "Food": "Place", "Bar": "Food", "Cafe": "Food", "Park": "Place", "Health": "Place",
    "Clinic": "Health", "C1": "Clinic", "C2": "Clinic", "Hospital": "Health", "H1": "Hospital", "H2": "Hospital",
    "H3": "Hospital", "Shrine": "Place",
}  # fmt: skip
SECRET = {"Health", "Clinic", "C1", "C2", "Hospital", "H1", "H2", "H3", "Shrine"}
LEAVES = ("C1", "C2", "H1", "H2", "H3", "Shrine")
TREE = Taxonomy.from_parents(PARENT.items(), sensitive=["Health", "Shrine"])
TURNED = Taxonomy.from_parents([*list(PARENT.items())[::-1], ("Pub", "Food")], sensitive=["Health", "Shrine"])


def stops(*records, taxonomy=TREE, **more):
    return Stops.from_records([r.split() for r in records], taxonomy=taxonomy, **more)


def attack(truth, target, seed=1, engine=ENGINE, **parameters):
    return KnownPlaces(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=engine)


# The definitions.


def above(node):
    return {node} | (above(PARENT[node]) if PARENT[node] else set())


def below(node):
    return [leaf for leaf in LEAVES if node in above(leaf)]


def contains(record, known):
    """Definition 5, on the stops that are not sensitive."""
    open_ = [g for g in record if g not in SECRET]
    parts = combinations(open_, len(known))
    return any(all(g in above(p) for g, p in zip(part, known, strict=True)) for part in parts)


def inferred(records, owners, known):
    """Return how many (person, class) pairs fit, and the probability of each sensitive leaf."""
    pairs = {}
    for record, owner in zip(records, owners, strict=True):
        if contains(record, known):
            pairs.setdefault((tuple(g for g in record if g not in SECRET), owner), []).append(record)
    found = dict.fromkeys(LEAVES, Fraction(0))
    for trips in pairs.values():
        for leaf in LEAVES:
            miss = Fraction(1)
            for g in (g for trip in trips for g in trip if leaf in below(g) and g in SECRET):
                miss *= 1 - Fraction(1, len(below(g)))
            found[leaf] += (1 - miss) / len(pairs)
    return len(pairs), found


places = st.lists(st.sampled_from(["Bar", "Cafe", "Park", *LEAVES]), max_size=6)
node = st.sampled_from(sorted(PARENT))
published = st.lists(st.tuples(st.lists(node, max_size=6), st.integers(0, 2)), max_size=7)


@settings(deadline=None, max_examples=120)
@given(published, st.booleans(), st.sampled_from([TREE, TURNED]))
def test_all_known_sequences(listed, hidden, taxonomy):
    records, owners = [r for r, _ in listed], [o for _, o in listed]
    target = Stops.from_records(records, taxonomy=taxonomy, owner=owners)
    if hidden:
        target, owners = replace(target, owners="hidden"), list(range(len(records)))
    asked = [
        (known, leaf)
        for n in (1, 2, 3)
        for known in {part[:n] for part in combinations(["Bar", "Cafe", "Park"] * 3, 3)}
        for leaf in ("C1", "H2", "Shrine", None)
    ]
    code = {name: i for i, name in enumerate(TREE.nodes)}
    known = np.array([[code[p] for p in places] + [-1] * (3 - len(places)) for places, _ in asked])
    leaves = np.array([-1 if leaf is None else code[leaf] for _, leaf in asked])
    outcome = PlaceClasses.of("attack", target, stops("Bar"), owners_of(target)).infer(known, leaves, ENGINE)
    by_definition = {sequence: inferred(records, owners, sequence) for sequence, _ in asked}
    for i, (sequence, leaf) in enumerate(asked):
        people, probability = by_definition[sequence]
        assert outcome.people[i] == people
        assert outcome.largest[i] == pytest.approx(float(max(probability.values())), abs=1e-11)
        if leaf is None:
            assert np.isnan(outcome.true[i])
        else:
            assert outcome.true[i] == pytest.approx(float(probability[leaf]), abs=1e-11)


def both_ways(records, owners, known):
    """The people who fit, and the larger probability of each place: over people, and over trajectories."""
    people, by_people = inferred(records, owners, known)
    _, by_trip = inferred(records, range(len(records)), known)
    return people, {leaf: max(value, by_trip[leaf]) for leaf, value in by_people.items()}


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(places, st.integers(0, 2)), min_size=1, max_size=4), published, st.integers(1, 3))
def test_the_largest_of_many_attacks(true, listed, most):
    truth = Stops.from_records([r for r, _ in true], taxonomy=TREE, owner=[o for _, o in true])
    records, owners = [r for r, _ in listed], [o for _, o in listed]
    target = Stops.from_records(records, taxonomy=TREE, owner=owners)
    found = attack(truth, target, stops=most, attacks=1500).measured
    for n in range(1, most + 1):
        cases = [
            (both_ways(records, owners, known), {p for p in record if p in SECRET})
            for record, _ in true
            for known in combinations([p for p in record if p not in SECRET], n)
        ]
        name = f"with_{n}_place" + "s" * (n > 1)
        if not cases:
            assert all(value is None for key, value in found.items() if key.endswith(name))
            continue
        assert found[f"attribute_max_{name}"] == pytest.approx(
            float(max(max(p.values()) for (_, p), _ in cases)), abs=1e-11
        )
        at = [p[leaf] for (_, p), leaves in cases for leaf in leaves]
        expected = float(max(at)) if at else None
        assert found[f"attribute_true_max_{name}"] == (None if expected is None else pytest.approx(expected, abs=1e-11))
        fit = [people for (people, _), _ in cases if people]
        assert found[f"min_matching_trips_{name}"] == min(fit, default=None)


def test_the_running_example():
    raw = stops("Park Bar H1 Cafe C2", "Park Bar Cafe C2", "Park Bar C1 Cafe")
    clinic = stops("Park Bar H1 Cafe Clinic", "Park Bar Cafe Clinic", "Park Bar Clinic Cafe")
    health = stops("Park Bar Health Cafe Health", "Park Bar Cafe Health", "Park Bar Health Cafe")
    for target, expected in ((raw, 2 / 3), (clinic, 1 / 2), (health, (9 / 25 + 2 / 5) / 3)):
        found = attack(raw, target, stops=3, attacks=50).measured
        assert found["attribute_max"] == found["attribute_mean_with_3_places"] == pytest.approx(expected, abs=1e-11)
    assert found["mean_matching_trips_with_2_places"] == 3


def test_a_person_counts_once_in_a_class():
    target = stops("Bar C1", "Bar C1", "Bar", "Bar", "Cafe C1", owner=[1, 1, 2, 3, 1])
    found = attack(target, target, stops=1, attacks=400).measured
    # Among those at the bar are three people, of whom one was at C1, on two of four trips; all at the cafe were.
    assert found["attribute_max"] == 1
    assert found["min_matching_trips_with_1_place"] == 1
    bar = attack(stops("Bar"), target, stops=1, attacks=3).measured
    assert bar["mean_matching_trips_with_1_place"] == 3
    assert bar["attribute_max"] == 1 / 2
    assert bar["attribute_true_mean_with_1_place"] is None
    apart = attack(stops("Bar"), replace(target, owners="hidden"), stops=1, attacks=3).measured
    assert apart["attribute_max"] == 0.5


def test_a_share_on_a_bound_is_not_above_it():
    target = stops(*["Bar Hospital"] * 9, "Bar")
    assert attack(stops("Bar"), target, stops=1, attacks=2).measured["attribute_max"] == 0.3
    assert attack(stops("Bar"), stops(*["Bar C1"] * 2, "Bar"), stops=1, attacks=2).measured["attribute_max"] <= 2 / 3


def test_people_are_drawn_evenly_then_their_trajectories():
    truth = stops("Cafe", *["Bar"] * 4, "Cafe C1", *["Bar"] * 4, owner=[3, *[1] * 4, 2, *[1] * 4])
    found = attack(truth, stops("Cafe C1", "Cafe C1", "Cafe"), stops=1, attacks=3000)
    assert found.victims == 3
    assert found.sampled
    assert found.measured["unmatched_share_with_1_place"] == pytest.approx(1 / 3, abs=0.04)
    assert found.measured["attribute_mean"] == pytest.approx(4 / 9, abs=0.04)
    assert found.measured["mean_matching_trips_with_1_place"] == pytest.approx(2, abs=0.15)
    assert found.measured["attribute_true_mean_with_1_place"] == pytest.approx(2 / 3, abs=1e-11)
    hidden = attack(replace(truth, owners="hidden"), truth, stops=1, attacks=3000)
    assert hidden.victims == 10


def test_only_trajectories_with_enough_places_are_known():
    truth = stops("Bar", "Bar Cafe", "C1 C2", owner=[1, 1, 2])
    found = attack(truth, truth, stops=3, attacks=20).measured
    assert found["mean_matching_trips_with_2_places"] == 1
    assert found["attribute_mean_with_3_places"] is found["unmatched_share_with_3_places"] is None


def test_a_true_place_is_drawn_from_the_same_trip():
    truth = stops("Bar C1 C1 C1 H1", "Cafe H2", owner=[1, 1])
    target = stops("Bar C1", "Bar")
    found = attack(truth, target, stops=1, attacks=4000).measured
    # Half of the attacks are on the first trip; three of its four sensitive stops are at C1.
    assert found["attribute_true_mean_with_1_place"] == pytest.approx(0.5 * 0.75 * 0.5, abs=0.02)
    assert found["attribute_true_max_with_1_place"] == 0.5


def test_positions_are_drawn_evenly():
    found = _positions(np.full(12_000, 4), 2, np.random.default_rng(1))
    counts = Counter(map(tuple, found.tolist()))
    assert set(counts) == set(combinations(range(4), 2))
    assert min(counts.values()) > 1800
    assert _positions(np.array([3]), 3, np.random.default_rng(1)).tolist() == [[0, 1, 2]]


def test_the_same_attacker_meets_raw_and_published_data():
    rng = np.random.default_rng(3)
    names = np.array(["Bar", "Cafe", "Park", *LEAVES])
    truth = Stops.from_records([list(names[rng.integers(0, 9, 5)]) for _ in range(60)], taxonomy=TREE)
    target = truth.where(rng.random(truth.n_rows) < 0.8)
    one = attack(truth, target, attacks=300, engine=LocalEngine(workers=1))
    assert one.measured == attack(truth, target, attacks=300).measured
    assert one.measured != attack(truth, target, seed=2, attacks=300).measured
    assert one.victims == attack(truth, truth, attacks=300).victims
    # The seed, and not the target, decides who is attacked.
    twice = attack(truth, stops("Place"), attacks=300)
    assert twice.measured["unmatched_share_with_1_place"] == 0
    assert twice.measured["unmatched_share_with_2_places"] == 1


def test_what_fits_the_same_is_matched_once():
    code = {name: i for i, name in enumerate(TREE.nodes)}
    lowest = PlaceClasses.of("attack", stops("Food C1", "Cafe"), stops("Bar"), np.arange(2))._lowest
    assert lowest[code["Bar"]] == lowest[code["Food"]] == TREE.first[code["Food"]]
    assert lowest[code["Cafe"]] == TREE.first[code["Cafe"]]
    assert lowest[code["Park"]] == TREE.first[code["Place"]]


def test_a_stop_that_adds_nothing_is_not_listed():
    tree = Taxonomy.from_parents(
        [("Place", ""), ("Bar", "Place"), ("Ward", "Place"), ("W1", "Ward")], sensitive=["Ward"]
    )
    data = Stops.from_records([["Bar", "Ward", "W1"]], taxonomy=tree)
    assert PlaceClasses.of("attack", data, data, np.arange(1)).classes.weight.tolist() == [1.0]
    assert attack(data, data, stops=1, attacks=3).measured["attribute_true_mean_with_1_place"] == 1


def test_words_and_charts():
    found = attack(stops("Bar Cafe C1"), stops("Bar Cafe Clinic"), stops=2, attacks=5)
    assert found.adversary == (
        "knows 1 to 2 places of a trip of a person (not sensitive ones, in order, drawn at random) and the taxonomy, "
        "and infers sensitive places of the same trip"
    )
    assert attack(stops("Bar"), stops("Bar"), stops=1, attacks=5).adversary.startswith("knows 1 place of a trip")
    assert [chart.series[0].values for chart in found.charts] == [(0.5, 0.5), (0.5, 0.5), (0.5, 0.5), (1.0, 1.0)]
    assert [chart.percent for chart in found.charts] == [True, True, True, False]
    assert {chart.labels for chart in found.charts} == {("1", "2")}
    assert "attribute_true_mean_with_1_place" in found.measured
    assert "attribute_max_with_2_places" in found.measured


@pytest.mark.parametrize("truth", [stops(), stops("", ""), stops("C1", "C2 H1")])
@pytest.mark.parametrize("target", [stops(), stops(""), stops("C1"), stops("Bar C1")])
def test_nothing_to_know(truth, target):
    found = attack(truth, target, attacks=5)
    assert found.victims == 0
    assert found.charts == ()
    assert set(found.measured.values()) == {None}


@pytest.mark.parametrize("target", [stops(), stops("", ""), stops("C1", "C2 H1"), stops("Cafe C1")])
def test_nothing_to_find(target):
    found = attack(stops("Bar C1"), target, stops=1, attacks=5).measured
    assert found["attribute_max"] == found["attribute_true_max_with_1_place"] == 0
    assert found["unmatched_share_with_1_place"] == 1
    assert found["min_matching_trips_with_1_place"] is None


def test_another_taxonomy_is_told():
    with pytest.raises(InputError, match=r"known_places: the taxonomy of the known places .* \(1 are not in it\)"):
        attack(stops("Bar"), stops("Pub Bar", taxonomy=TURNED), attacks=5)
    assert attack(stops("Bar"), stops("Bar", taxonomy=TURNED), stops=1, attacks=5).measured["attribute_max"] == 0


@pytest.mark.parametrize(("name", "value"), [("stops", 0), ("stops", 7), ("attacks", 0), ("attacks", 10**7)])
def test_parameters_are_checked(name, value):
    with pytest.raises(ParameterError, match=f"known_places: {name} must be an integer from 1 to"):
        KnownPlaces(**{name: value})
