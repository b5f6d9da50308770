"""The verifier of c-safety against the definition, by possible worlds, and planted violations."""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.claims import CSafety
from wayveil.model.data.stops import Stops
from wayveil.model.places.taxonomy import Taxonomy
from wayveil.verifiers.csafety import generalized
from wayveil.verifiers.csafety.csafety_verifier import check_csafety

GOLDEN = Path(__file__).parents[2] / "golden" / "csafety"
PARENTS = [
    ("Place", ""),
    ("Shop", "Place"),
    ("Bakery", "Shop"),
    ("Pharmacy", "Shop"),  # sensitive, below a node that is not
    ("Health", "Place"),
    ("Clinic", "Health"),
    ("C1", "Clinic"),
    ("C2", "Clinic"),
    ("Hospital", "Health"),
    ("H1", "Hospital"),
    ("Park", "Place"),
]
LABELS = ["Health", "Pharmacy"]
TREE = Taxonomy.from_parents(PARENTS, sensitive=LABELS)
PARENT = dict(PARENTS)
INNER = set(PARENT.values())


def paper(**numbers):
    """The claim of the paper: places below a node are equally likely, and nothing is asked of owners or of nodes."""
    return CSafety(**{"weights": "uniform", "place_people": 1, "row_share": 1, **numbers})


def golden(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def tree_of(case):
    return Taxonomy.from_parents(case["taxonomy"], sensitive=case["sensitive"])


# ---------------------------------------------------------------------------------------------------- the definition


def up(node, parent=PARENT):
    return [node, *up(parent[node], parent)] if node else []


def secret(node):
    return bool(set(up(node)) & set(LABELS))


def leaves(node):
    return [leaf for leaf in PARENT if leaf not in INNER and node in up(leaf)]


SECRETS = [leaf for leaf in PARENT if leaf not in INNER and secret(leaf)]


def oracle_person(nodes, places):
    """Share of the worlds, in which each stop is at one of its leaves, where all these places are visited."""
    worlds = list(itertools.product(*map(leaves, nodes)))
    return Fraction(sum(set(places) <= set(world) for world in worlds), len(worlds))


def oracle_classes(data, by="people"):
    """The stops at sensitive nodes, by class and person, or by class and trajectory."""
    classes = defaultdict(lambda: defaultdict(list))
    for i in range(len(data)):
        record = data.record(i)
        if record:
            quasi = tuple(node for node in record if not secret(node))
            person = i if data.owners == "hidden" or by == "trajectories" else int(data.owner[i])
            classes[quasi][person] += [node for node in record if secret(node)]
    return classes


def mean(values):
    values = list(values)
    return sum(values, Fraction(0)) / len(values)


def oracle_probability(people, places):
    return mean(oracle_person(stops, places) for stops in people.values())


def oracle_nested(people):
    nodes = {node for stops in people.values() for node in stops}
    return any(a != b and a in up(b) for a in nodes for b in nodes)


def oracle_made(said, true, labels=True):
    def fits(node, place):
        return node in up(place) and (not labels or secret(node) == secret(place))

    return any(
        all(fits(node, place) for node, place in zip(said, part, strict=True))
        for part in itertools.combinations(true, len(said))
    )


ANY = st.sampled_from(list(PARENT))
QUASI = st.sampled_from([node for node in PARENT if not secret(node)])


@st.composite
def published(draw, owners=("given", "given", "declared", "hidden")):
    """Few kinds of sequences, so that classes have several people, with sensitive stops strewn in."""
    kinds = [draw(st.lists(QUASI, max_size=2)) for _ in range(2)]
    hiding = draw(st.sampled_from([SECRETS, ["Clinic", "H1"], ["Health"], ["Health", "Clinic", "C1", "H1"]]))
    records = []
    for _ in range(draw(st.integers(0, 7))):
        record = list(draw(st.sampled_from(kinds)))
        for _ in range(draw(st.sampled_from([0, 0, 1, 1, 2]))):
            record.insert(draw(st.integers(0, len(record))), draw(st.sampled_from(hiding)))
        records.append(record)
    owner = [draw(st.integers(0, 4)) for _ in records]
    return replace(Stops.from_records(records, taxonomy=TREE, owner=owner), owners=draw(st.sampled_from(owners)))


CS = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


def oracle_uniform(stops, place):
    return oracle_person(stops, [place])


def oracle_worst(stops, place):
    """Whether one of these stops may be at the place: it is there, or at a node above it."""
    return Fraction(any(node in up(place) for node in stops))


ways = st.fixed_dictionaries(
    {
        "weights": st.sampled_from(["worst", "uniform"]),
        "row_share": st.sampled_from(["1/m", Fraction(1, 2), 1]),
        "place_people": st.sampled_from([1, 2, "m"]),
    }
)


@given(published(), CS, st.sampled_from([2, 2, 3]), ways)
@settings(deadline=None, max_examples=200, derandomize=True)
def test_verdict_is_the_definition(data, c, m, way):
    claim = CSafety(c=c, m=m, **way)
    verdict = check_csafety(data, claim)
    classes = oracle_classes(data)
    assert verdict.claim is claim
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    if not classes:
        assert (verdict.holds, verdict.witness, verdict.measured["max_probability"]) == (False, None, None)
        return
    worst_case = claim.weights == "worst"
    weigh = oracle_worst if worst_case else oracle_uniform
    hidden = data.owners == "hidden"
    units = ["trajectories"] if hidden else ["people", "trajectories"]
    values = {}
    for unit in units:
        for quasi, members in oracle_classes(data, unit).items():
            for s in SECRETS:
                values[unit, quasi, s] = mean(weigh(stops, s) for stops in members.values())
    nested = {quasi for quasi, people in classes.items() if oracle_nested(people)}
    small = {quasi for quasi, people in classes.items() if len(people) < m}
    shares = {}
    for quasi in classes:
        trips = [
            int(data.owner[i])
            for i in range(len(data))
            if data.record(i) and tuple(node for node in data.record(i) if not secret(node)) == quasi
        ]
        shares[quasi] = Fraction(max(trips.count(owner) for owner in trips), len(trips))
    dominated = {quasi for quasi, share in shares.items() if share > claim.owner_share and not hidden}
    people_at = defaultdict(set)
    for people in classes.values():
        for person, stops in people.items():
            for node in stops:
                people_at[node].add(person)
    rare = {node for node, people in people_at.items() if len(people) < claim.least_people}
    judged = {key: value for key, value in values.items() if worst_case or key[1] not in nested}
    largest = max(values.values())
    records = [data.record(i) for i in range(len(data))]
    stops = [node for record in records for node in record]
    by_unit = {unit: max(value for key, value in values.items() if key[0] == unit) for unit in units}
    assert verdict.measured == {
        "max_probability": float(largest),
        "max_probability_exact": f"{largest.numerator}/{largest.denominator}",
        "max_probability_people": None if hidden else float(by_unit["people"]),
        "max_probability_trajectories": float(by_unit["trajectories"]),
        "min_people": min(map(len, classes.values())),
        "max_owner_share": None if hidden else float(max(shares.values())),
        "min_place_people": min(map(len, people_at.values()), default=None),
        "classes": len(classes),
        "small_classes": len(small),
        "dominated_classes": None if hidden else len(dominated),
        "rare_places": len(rare),
        "nested_classes": len(nested),
        "trajectories": sum(map(bool, records)),
        "rows": len(stops),
        "sensitive_rows": sum(map(secret, stops)),
        "generalized_rows": sum(node in INNER for node in stops),
        "suppressed_rows": None,
        "false_trajectories": None,
    }
    worst = max(judged.values(), default=Fraction(0))
    broken = bool(small or dominated or rare or (nested and not worst_case) or worst > c)
    assert verdict.holds == (not broken)
    assert (verdict.witness is None) == verdict.holds

    def shortest(which):
        return list(min(which, key=lambda quasi: (len(quasi), quasi)))

    if small:
        least = min(map(len, classes.values()))
        first = shortest(quasi for quasi in classes if len(classes[quasi]) == least)
        assert verdict.witness == {"places": first, "people": least, "breaks": "people"}
    elif dominated:
        most = max(shares.values())
        assert verdict.witness["breaks"] == "share"
        assert verdict.witness["places"] == shortest(quasi for quasi in shares if shares[quasi] == most)
        assert Fraction(verdict.witness["of_one"], verdict.witness["trajectories"]) == most
    elif rare:
        least = min(map(len, people_at.values()))
        node = min(node for node in people_at if len(people_at[node]) == least)
        assert verdict.witness == {"node": node, "people": least, "breaks": "place"}
    elif nested and not worst_case:
        here = {node for visited in classes[tuple(shortest(nested))].values() for node in visited}
        assert (verdict.witness["places"], verdict.witness["breaks"]) == (shortest(nested), "antichain")
        pairs = [[above, below] for above in here for below in here if above != below and above in up(below)]
        assert verdict.witness["nodes"] == min(pairs)
    elif worst > c:
        unit = next(unit for unit in units if worst in [value for key, value in judged.items() if key[0] == unit])
        where = [(len(key[1]), key[1], key[2]) for key, value in judged.items() if value == worst and key[0] == unit]
        quasi, s = list(min(where)[1]), verdict.witness["leaf"]
        assert values[unit, tuple(quasi), s] == worst
        assert s in leaves(verdict.witness["node"])
        assert verdict.witness == {
            "places": quasi,
            "node": verdict.witness["node"],
            "leaf": s,
            "probability": f"{worst.numerator}/{worst.denominator}",
            unit: len(oracle_classes(data, unit)[tuple(quasi)]),
            "breaks": "probability",
        }


@given(published(owners=("given", "declared")), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=100, derandomize=True)
def test_stops_that_were_left_out_count(data, random):
    """With the original, whoever was truly at a leaf counts there, in the class that is published."""
    truth = []
    for i in range(len(data)):
        record = [random.choice(leaves(node)) for node in data.record(i)]
        for _ in range(random.randrange(3)):
            record.insert(random.randrange(len(record) + 1), random.choice(SECRETS))
        truth.append(record)
    original = Stops.from_records(truth, taxonomy=TREE)
    verdict = check_csafety(data, CSafety(c="1/2", place_people=1, row_share=1), original=original)
    if not data.n_rows:
        return
    if verdict.measured["false_trajectories"]:
        assert not verdict.holds  # a stop of a kind with sensitive and other places below it
        return
    shares = []
    for unit in ("people", "trajectories"):
        members = defaultdict(lambda: defaultdict(list))
        for i in range(len(data)):
            if data.record(i):
                quasi = tuple(node for node in data.record(i) if not secret(node))
                one = int(data.owner[i]) if unit == "people" else i
                members[quasi][one] += [node for node in data.record(i) if secret(node)]
                members[quasi][one] += [place for place in truth[i] if secret(place)]
        shares += [mean(oracle_worst(stops, s) for stops in c.values()) for c in members.values() for s in SECRETS]
    assert Fraction(verdict.measured["max_probability_exact"]) == max(shares)


@given(published(owners=("given",)))
@settings(deadline=None, max_examples=60)
def test_no_known_sequence_and_no_set_of_places_tells_more_than_a_class(data):
    """Definition 9 for every sequence that an attacker may know, and every set of sensitive places."""
    verdict = check_csafety(data, paper(c=1))
    classes = oracle_classes(data)
    known_leaves = [leaf for leaf in PARENT if leaf not in INNER and not secret(leaf)]

    def contains(quasi, known):
        left = list(known)
        for node in quasi:
            if left and node in up(left[0]):
                left.pop(0)
        return not left

    for known in itertools.chain.from_iterable(itertools.product(known_leaves, repeat=r) for r in range(3)):
        pairs = [stops for quasi, people in classes.items() if contains(quasi, known) for stops in people.values()]
        for places in itertools.chain.from_iterable(itertools.combinations(SECRETS, r) for r in (1, 2)):
            if pairs:
                told = mean(oracle_person(stops, places) for stops in pairs)
                assert told <= Fraction(verdict.measured["max_probability_exact"])


@given(published(), CS, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=60)
def test_order_and_codes_do_not_matter(data, c, random):
    order = list(range(len(data)))
    random.shuffle(order)
    pairs = PARENTS[:]
    random.shuffle(pairs)
    tree = Taxonomy.from_parents(pairs, sensitive=LABELS)
    code = np.array([tree.nodes.index(name) for name in TREE.nodes])
    turned = data.take(np.array(order, np.int64))
    owner = turned.owner * 7919 + 2**40  # other codes of the same people
    turned = replace(turned, taxonomy=tree, place=code[turned.place], owner=owner)
    claim = paper(c=c)
    one, two = (check_csafety(data, claim, original=data), check_csafety(turned, claim, original=data.take(order)))
    assert one == two


@st.composite
def with_original(draw):
    """True stops, and stops made from them, sometimes not quite."""
    truth, said = [], []
    for _ in range(draw(st.integers(1, 5))):
        true = draw(st.lists(st.sampled_from([node for node in PARENT if node not in INNER]), max_size=5))
        part = [place for place in true if draw(st.integers(0, 3))]
        record = [draw(st.sampled_from(up(place))) for place in part]
        if draw(st.integers(0, 2)) == 0:
            record.insert(draw(st.integers(0, len(record))), draw(ANY))
        truth.append(true)
        said.append(record)
    return Stops.from_records(said, taxonomy=TREE), Stops.from_records(truth, taxonomy=TREE)


@given(with_original(), st.sampled_from([0, 2, 64]))
@settings(deadline=None, max_examples=200)
def test_original_is_the_definition(pair, few):
    said, true = pair
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generalized, "FEW", few)
        verdict = check_csafety(said, paper(c=1), original=true)
    both = [(said.record(i), true.record(i)) for i in range(len(said))]
    wrong = [a for a, b in both if not oracle_made(a, b)]
    labels = [a for a, b in both if not oracle_made(a, b) and oracle_made(a, b, labels=False)]
    if not said.n_rows:
        assert verdict.measured["false_trajectories"] is None
        return
    assert verdict.measured["false_trajectories"] == len(wrong)
    assert verdict.measured["suppressed_rows"] == sum(len(b) - len(a) for a, b in both if a)
    if wrong:
        assert not verdict.holds
        shown = min(labels or wrong, key=lambda record: (len(record), record))
        assert verdict.witness == {"stops": shown, "breaks": "labels" if labels else "original"}
        count = len(labels or wrong)
        assert ("1 trajectory." if count == 1 else f"{count} trajectories.") in verdict.reason
    else:
        assert verdict.witness is None or verdict.witness["breaks"] not in ("labels", "original")


# ----------------------------------------------------------------------------------------------------- worked examples


@pytest.mark.parametrize("step", ["before", "paper_published", "after_health"])
def test_running_example(step):
    case = golden("running_example")
    tree = tree_of(case)
    original = Stops.from_records(case["original"], taxonomy=tree)
    data = Stops.from_records(case["published"][step], taxonomy=tree)
    for c, holds in case["holds"][step]:
        verdict = check_csafety(data, paper(c=c, m=3), original=original)
        assert verdict.holds == holds
        assert verdict.measured["max_probability_exact"] == case["max_probability"][step]
        assert verdict.measured["min_people"] == 3
        assert verdict.measured["false_trajectories"] == verdict.measured["suppressed_rows"] == 0
        if not holds:
            assert verdict.witness["places"] == case["class"]
            assert verdict.witness["leaf"] == case["leaf"][step]
            assert verdict.witness["probability"] == case["max_probability"][step]


def test_sets_of_the_running_example():
    """The set of a wrong Definition 6, and those of B4, by possible worlds; a set never tells more than a member."""
    case = golden("running_example")
    parent = dict(case["taxonomy"])
    inner = set(parent.values())

    def worlds(stops):
        return itertools.product(*([x for x in parent if x not in inner and g in up(x, parent)] for g in stops))

    def probability(trajectories, places):
        shares = []
        for stops in trajectories:
            all_of = [set(places) <= set(world) for world in worlds(stops)]
            shares.append(Fraction(sum(all_of), len(all_of)))
        return mean(shares)

    records = [[node for node in record if node == "Health"] for record in case["published"]["after_health"]]
    for places, expected in case["sets_after_health"]:
        assert probability(records, places) == Fraction(expected)
    flaw = case["set_contained"]
    assert probability([flaw["stops"]], flaw["set"]) == Fraction(flaw["probability"])


def test_leaves_that_are_not_sensitive_do_not_count():
    case = golden("leaves_flaw")
    tree = tree_of(case)
    original = Stops.from_records(case["original"], taxonomy=tree)
    data = Stops.from_records(case["published"], taxonomy=tree)
    claim = paper(c=case["c"])
    verdict = check_csafety(data, claim, original=original)
    assert (verdict.holds, verdict.witness["breaks"]) == (False, "labels")
    assert verdict.measured["false_trajectories"] == 2
    assert check_csafety(data, claim).witness["breaks"] == "people"
    open_ = check_csafety(original, claim, original=original)
    assert (open_.holds, open_.measured["max_probability_exact"]) == (False, case["true_probability"])


def test_counterexample_to_theorem_15():
    case = golden("theorem15")
    tree = tree_of(case)
    original = Stops.from_records(case["original"], taxonomy=tree)
    data = Stops.from_records(case["published"], taxonomy=tree)
    claim = paper(c=case["c"], m=case["m"])
    verdict = check_csafety(data, claim, original=original)
    assert not verdict.holds
    assert verdict.witness == {"stops": ["a", "Place"], "breaks": "labels"}
    assert verdict.reason == "A sensitive place is published as a node that is not sensitive: 2 trajectories."
    alone = check_csafety(data, claim)
    assert not alone.holds
    assert alone.witness == {"places": ["a"], "people": 1, "breaks": "people"}
    repaired = check_csafety(Stops.from_records(case["repaired"], taxonomy=tree), claim, original=original)
    assert repaired.holds
    assert repaired.measured["max_probability_exact"] == case["repaired_probability"]
    assert repaired.measured["suppressed_rows"] == 9


# -------------------------------------------------------------------------------------------------- planted violations

RECORDS = (
    [["Park", "Clinic"], ["Park"], ["Park", "H1"], ["Park"], ["Shop", "Park"], ["Shop", "Park", "Pharmacy"]]
    + [["Shop", "Park"]] * 2
    + [["Hospital"], ["Clinic"], ["Clinic"], ["Clinic"]]
)
TRUTH = (
    [["Park", "C1"], ["Park"], ["Park", "H1"], ["Park"], ["Bakery", "Park"], ["Bakery", "Park", "Pharmacy"]]
    + [["Bakery", "Park"]] * 2
    + [["H1"], ["C1"], ["C2"], ["C2"]]
)
OWNER = list(range(12))
ORIGINAL = Stops.from_records(TRUTH, taxonomy=TREE, owner=OWNER)


def good(*, at=None, record=None, owner=OWNER):
    """Three classes of four people; every planted violation is one change to this."""
    records = [record if i == at else one for i, one in enumerate(RECORDS)]
    return Stops.from_records(records, taxonomy=TREE, owner=owner)


CLAIM = paper(c="0.4", m=4)


def test_good_data_hold():
    verdict = check_csafety(good(), CLAIM, original=ORIGINAL)
    assert verdict.holds
    assert verdict.not_judged == ()
    assert verdict.witness is None
    assert verdict.reason == (
        "Each of the 3 classes is that of 4 people or more (m = 4), and no sensitive place has a probability above 3/8 "
        "(c = 2/5), counted over people or trajectories."
    )


def test_one_class():
    data = Stops.from_records([["Park"], ["Park"]], taxonomy=TREE)
    verdict = check_csafety(data, paper(c=0), original=data)
    assert verdict.holds
    assert verdict.measured["max_probability_exact"] == "0/1"
    assert verdict.reason.startswith("The only class is that of 2 trajectories or more (m = 2)")


def test_one_stop_changed_makes_a_class_too_small():
    verdict = check_csafety(good(at=4, record=["Shop"]), CLAIM, original=ORIGINAL)
    assert not verdict.holds
    assert verdict.witness == {"places": ["Shop"], "people": 1, "breaks": "people"}
    assert verdict.measured["small_classes"] == 2
    assert verdict.reason == "A class is that of only 1 person, fewer than m = 4."


def test_the_shortest_counter_example_is_shown():
    data = Stops.from_records([["Bakery", "Park", "C1"], ["Shop", "C1"]], taxonomy=TREE)
    truth = Stops.from_records([["Bakery"], ["C1"]], taxonomy=TREE)
    assert check_csafety(data, paper(c=1)).witness["places"] == ["Shop"]
    assert check_csafety(data, paper(c=1), original=truth).witness["stops"] == ["Shop", "C1"]


def test_the_order_of_places_matters():
    verdict = check_csafety(good(at=4, record=["Park", "Shop"]), CLAIM)
    assert verdict.witness["places"] == ["Park", "Shop"]


def test_one_owner_twice():
    verdict = check_csafety(good(owner=[0, 0, *OWNER[2:]]), CLAIM, original=ORIGINAL)
    assert (verdict.holds, verdict.measured["min_people"]) == (False, 3)
    assert verdict.witness == {"places": ["Park"], "people": 3, "breaks": "people"}
    assert verdict.reason == "A class is that of only 3 people, fewer than m = 4."


def test_a_person_is_counted_once_and_by_all_trajectories():
    """Over people one of two has been there, if not at the one clinic then at the other; over trajectories two of 3."""
    records = [["Park", "C1"], ["Park", "C1"], ["Park"]]
    data = Stops.from_records(records, taxonomy=TREE, owner=[5, 5, 6])
    measured = check_csafety(data, paper(c=1)).measured
    assert (measured["max_probability_people"], measured["max_probability_exact"]) == (1 / 2, "2/3")
    lifted = Stops.from_records([["Park", "Clinic"]] * 2 + [["Park"]], taxonomy=TREE, owner=[5, 5, 6])
    measured = check_csafety(lifted, paper(c=1)).measured
    assert (measured["max_probability_people"], measured["max_probability_trajectories"]) == (3 / 8, 1 / 3)


def test_counted_both_ways():
    """Nine trips of one person lead to a clinic, one of another does not: half of the people, nine of ten trips."""
    data = Stops.from_records([["Park", "C1"]] * 9 + [["Park"]], taxonomy=TREE, owner=[0] * 9 + [1])
    for weights in ("worst", "uniform"):
        claim = CSafety(c="1/2", weights=weights, place_people=1, row_share=1)
        verdict = check_csafety(data, claim)
        assert (verdict.holds, verdict.witness["probability"], verdict.witness["trajectories"]) == (False, "9/10", 10)
        assert verdict.measured["max_probability_people"] == 1 / 2
    owned = check_csafety(data, CSafety(c=1, place_people=1))
    assert owned.witness == {"places": ["Park"], "trajectories": 10, "of_one": 9, "breaks": "share"}
    assert owned.reason == "One person owns 9/10 of a class, more than 1/2."
    assert check_csafety(data, CSafety(c=1, place_people=1, row_share="9/10")).holds


HEALTH = [("Place", ""), ("Park", "Place"), ("Health", "Place"), ("Clinic", "Health"), ("Hospital", "Health")]
HEALTH += [(f"C{i}", "Clinic") for i in range(1, 11)] + [("H1", "Hospital")]


def test_a_node_that_tells_its_leaf():
    """Two of five at Health, of whose eleven places only one makes the method lift so far: 2/55 by the paper, 2/5."""
    tree = Taxonomy.from_parents(HEALTH, sensitive=["Health"])
    truth = Stops.from_records([["Park", "H1"]] * 2 + [["Park"]] * 3, taxonomy=tree)
    lifted = Stops.from_records([["Park", "Health"]] * 2 + [["Park"]] * 3, taxonomy=tree)
    hidden = Stops.from_records([["Park"]] * 5, taxonomy=tree)
    assert check_csafety(lifted, paper(c="0.3", m=5), original=truth).measured["max_probability_exact"] == "2/55"
    claim = CSafety(c="0.3", m=5, place_people=1)
    for data in (lifted, hidden):  # also if the stops are left out: who knows the method may infer them
        verdict = check_csafety(data, claim, original=truth)
        assert (verdict.holds, verdict.witness["probability"]) == (False, "2/5")
    assert check_csafety(lifted, claim).witness["probability"] == "2/5"


def test_a_sensitive_place_of_one_person():
    data = Stops.from_records([["Park", "C1"], ["Park"], ["Park", "C1"], ["Park"]], taxonomy=TREE, owner=[0, 1, 0, 2])
    verdict = check_csafety(data, CSafety(c=1, row_share=1))
    assert verdict.witness == {"node": "C1", "people": 1, "breaks": "place"}
    assert verdict.reason == "1 sensitive node has stops of fewer than 2 people."
    assert check_csafety(data, CSafety(c=1, row_share=1, place_people=1)).holds
    assert verdict.measured["min_place_people"] == verdict.measured["rare_places"] == 1


def test_two_groups_with_the_same_places_are_one_class():
    """Each half is 1/2-safe with two people of its own; together they are three people, of whom two were there."""
    data = Stops.from_records([["Park", "C1"], ["Park"], ["Park", "C1"], ["Park"]], taxonomy=TREE, owner=[0, 1, 2, 1])
    for half in ([0, 1], [2, 3]):
        assert check_csafety(data.take(np.array(half)), paper(c="1/2")).holds
    verdict = check_csafety(data, paper(c="1/2"))
    assert (verdict.holds, verdict.witness["probability"]) == (False, "2/3")


def test_one_more_sensitive_stop():
    verdict = check_csafety(good(at=3, record=["Park", "H1"]), CLAIM)
    assert not verdict.holds
    assert verdict.witness == {
        "places": ["Park"],
        "node": "H1",
        "leaf": "H1",
        "probability": "1/2",
        "people": 4,
        "breaks": "probability",
    }
    assert verdict.reason == (
        "A sensitive place has a probability of 1/2 in a class, counted over people, more than c = 2/5."
    )


def test_a_class_of_sensitive_stops_only():
    verdict = check_csafety(good(at=8, record=["Clinic"]), CLAIM)
    assert (verdict.holds, verdict.witness["places"], verdict.witness["probability"]) == (False, [], "1/2")


def test_a_node_above_another_one():
    verdict = check_csafety(good(at=0, record=["Park", "Hospital"]), CLAIM)
    assert not verdict.holds
    assert verdict.witness == {"places": ["Park"], "nodes": ["Hospital", "H1"], "breaks": "antichain"}
    assert verdict.measured["nested_classes"] == 1
    assert verdict.reason == "A sensitive node is above another one, which tells for what it stands: 1 class."
    both = check_csafety(good(at=8, record=["Health"]), CLAIM)
    assert both.witness == {"places": [], "nodes": ["Health", "Clinic"], "breaks": "antichain"}


def test_nodes_of_different_classes_may_be_above_each_other():
    data = good(at=8, record=["H1"])
    data = replace(data, place=np.where(data.place == TREE.nodes.index("Pharmacy"), 8, data.place))
    assert TREE.nodes[8] == "Hospital"
    assert check_csafety(data, CLAIM).measured["nested_classes"] == 0


@pytest.mark.parametrize(
    ("record", "breaks"),
    [
        (["Shop", "Park", "Shop"], "labels"),  # the pharmacy as a shop
        (["Shop", "Park", "Place"], "labels"),
        (["Shop", "Park", "C1"], "original"),
        (["Shop", "Pharmacy", "Park"], "original"),  # another order
        (["Shop", "Park", "Pharmacy", "Pharmacy"], "original"),  # one more
        (["Park", "Park"], "original"),
    ],
)
def test_not_made_from_the_original(record, breaks):
    verdict = check_csafety(good(at=5, record=record), paper(c=1), original=ORIGINAL)
    assert not verdict.holds
    assert verdict.witness == {"stops": record, "breaks": breaks}
    assert verdict.measured["false_trajectories"] == 1


def test_a_trajectory_of_somebody_else():
    turned = ORIGINAL.take(np.array([5, 1, 2, 3, 4, 0, *range(6, 12)]))
    verdict = check_csafety(good(), CLAIM, original=turned)
    assert (verdict.holds, verdict.measured["false_trajectories"]) == (False, 2)


def test_suppression_is_counted():
    data = good(at=0, record=[])
    verdict = check_csafety(data, paper(c="0.4", m=3), original=ORIGINAL)
    assert verdict.holds
    assert (verdict.measured["trajectories"], verdict.measured["suppressed_rows"]) == (11, 0)


@pytest.mark.parametrize("n", [0, 11])
def test_an_original_of_another_size_is_refused(n):
    verdict = check_csafety(good(), CLAIM, original=ORIGINAL.take(np.arange(n)))
    assert (verdict.holds, verdict.witness) == (False, None)
    assert verdict.reason == (
        f"The original has {n} trajectories and the publication 12, so it is not known which belongs to which."
    )
    assert verdict.measured["max_probability"] is verdict.measured["false_trajectories"] is None


@pytest.mark.parametrize(
    ("parents", "labels"),
    [
        (PARENTS, ["Health"]),
        (PARENTS, [*LABELS, "Park"]),
        ([*PARENTS, ("Cafe", "Place")], LABELS),
        ([("Zoo", "Place") if name == "Bakery" else (name, above) for name, above in PARENTS], LABELS),
        ([("H1", "Health") if name == "H1" else (name, above) for name, above in PARENTS], LABELS),
        ([*PARENTS[:1], ("Town", "Place"), ("Shop", "Town"), *PARENTS[2:]], LABELS),
    ],
)
def test_another_taxonomy_is_refused(parents, labels):
    other = Taxonomy.from_parents(parents, sensitive=labels)
    names = set(other.nodes)
    records = [[place for place in record if place in names] for record in TRUTH]
    verdict = check_csafety(good(), CLAIM, original=Stops.from_records(records, taxonomy=other))
    assert not verdict.holds
    assert verdict.reason == "The taxonomies of the original and of the publication differ in nodes, parents or labels."


def test_a_label_that_is_inherited_anyway_is_no_difference():
    other = Taxonomy.from_parents(PARENTS[::-1], sensitive=[*LABELS, "C1"])
    assert check_csafety(good(), CLAIM, original=Stops.from_records(TRUTH, taxonomy=other)).holds


# ------------------------------------------------------------------------------------------------ what is not there


@pytest.mark.parametrize("records", [[], [[]], [[], [], []]])
def test_nothing_published_never_holds(records):
    data = Stops.from_records(records, taxonomy=TREE)
    verdict = check_csafety(data, paper(c=1), original=data)
    assert (verdict.holds, verdict.witness) == (False, None)
    assert "nothing to judge" in verdict.reason
    assert verdict.measured["trajectories"] == verdict.measured["classes"] == 0


def test_trajectories_without_rows_are_no_people_of_the_class_without_places():
    data = Stops.from_records([["C1"], ["H1"], [], [], []], taxonomy=TREE)
    verdict = check_csafety(data, paper(c="1/2"))
    assert (verdict.holds, verdict.measured["max_probability_exact"]) == (True, "1/2")
    assert not check_csafety(data, paper(c="1/4")).holds
    assert not check_csafety(data, paper(c=1, m=3)).holds


@pytest.mark.parametrize("owners", ["given", "declared"])
def test_a_negative_owner_is_nobody(owners):
    data = replace(good(owner=[-1, *OWNER[1:]]), owners=owners)
    verdict = check_csafety(data, paper(c=1))
    assert not verdict.holds
    assert "stands for nobody" in verdict.reason
    unpublished = replace(good(at=0, record=[], owner=[-1, *OWNER[1:]]), owners=owners)
    assert check_csafety(unpublished, paper(c=1)).holds
    assert check_csafety(replace(data, owners="hidden"), paper(c=1)).holds


def test_owners_from_nowhere_are_refused():
    verdict = check_csafety(replace(good(), owners="guessed"), CLAIM)
    assert not verdict.holds
    assert "nobody can be counted" in verdict.reason


def test_what_is_not_judged():
    def parts(data, **given):
        return [part.split(":")[0] for part in check_csafety(data, CLAIM, **given).not_judged]

    assert parts(good()) == ["the original"]
    assert parts(replace(good(), owners="declared"), original=ORIGINAL) == ["people by owner"]
    hidden = replace(good(), owners="hidden")
    assert parts(hidden, original=ORIGINAL) == ["people by owner", "shares by owner"]
    late = replace(good(), t_end=np.ones(good().n_rows))
    assert parts(late, original=ORIGINAL) == ["times"]
    assert parts(replace(late, t=late.t_end), original=ORIGINAL) == ["times"]


def test_hidden_owners_are_counted_by_trajectory():
    """Two of three trajectories were at C1, whoever owns them."""
    records = [["Park", "C1"], ["Park", "C1"], ["Park"]]
    data = replace(Stops.from_records(records, taxonomy=TREE), owners="hidden")
    verdict = check_csafety(data, paper(c="2/3"), original=data)
    assert verdict.holds
    assert verdict.counted == "trajectories"
    assert verdict.measured["max_probability_exact"] == "2/3"
    assert verdict.reason == (
        "The only class is that of 3 trajectories or more (m = 2), and no sensitive place has a probability above 2/3 "
        "(c = 2/3), counted over trajectories."
    )
    broken = check_csafety(data, paper(c="1/2"))
    assert not broken.holds
    assert broken.witness["probability"] == "2/3"
    assert broken.reason == (
        "A sensitive place has a probability of 2/3 in a class, counted over trajectories, more than c = 1/2."
    )
    assert not check_csafety(replace(data, owner=[7, 7, 8], owners="given"), paper(c="1/2"), original=data).holds


def test_witnesses_where_a_kind_comes_before_its_places_by_name():
    tree = Taxonomy.from_parents([("Place", ""), ("A", "Place"), ("x", "A"), ("y", "A")], sensitive=["A"])
    witness = check_csafety(Stops.from_records([["A"], ["A"]], taxonomy=tree), paper(c=0)).witness
    assert (witness["node"], witness["leaf"]) == ("A", "x")
    nested = check_csafety(Stops.from_records([["A"], ["y"]], taxonomy=tree), paper(c=1)).witness
    assert nested["nodes"] == ["A", "y"]


# ------------------------------------------------------------------------------------------------------- exactly


def test_no_rounding_at_the_bound():
    value = Fraction(3, 8)
    assert check_csafety(good(), paper(c=value)).holds
    assert not check_csafety(good(), paper(c=value - Fraction(1, 10**30))).holds


def test_probabilities_that_are_the_same_as_floating_point_numbers():
    records = [["Park", *["Clinic"] * 60]] * 2 + [["Shop", *["Clinic"] * 61]] * 2
    data = Stops.from_records(records, taxonomy=TREE)
    largest = 1 - Fraction(1, 2**61)
    assert check_csafety(data, paper(c=largest)).holds
    verdict = check_csafety(data, paper(c=1 - Fraction(1, 2**60)))
    assert (verdict.holds, verdict.witness["places"]) == (False, ["Shop"])
    hidden = replace(data, owners="hidden")
    assert check_csafety(hidden, paper(c=largest)).holds
    assert not check_csafety(hidden, paper(c=1 - Fraction(1, 2**60))).holds


def test_very_many_stops_of_one_person():
    data = Stops.from_records([["Park", *["Clinic"] * 20_000], ["Park"]], taxonomy=TREE)
    verdict = check_csafety(data, paper(c="0.5"))
    assert verdict.holds
    assert verdict.measured["max_probability"] == 0.5
    assert verdict.measured["max_probability_exact"] == "about 0.5 (a fraction of some 6,021 digits)"
    assert not check_csafety(data, paper(c=Fraction(1, 2) - Fraction(1, 2**20_000))).holds
    assert check_csafety(data, paper(c=Fraction(1, 2) - Fraction(1, 2**20_001))).holds


@pytest.mark.parametrize("c", ["0", "1"])
def test_extreme_claims(c):
    assert check_csafety(good(), paper(c=c)).holds == (c == "1")
    without = good().where(~good().sensitive)
    assert check_csafety(without.take(np.arange(8)), paper(c=c)).holds


def test_m_larger_than_the_data():
    assert not check_csafety(good(), paper(c=1, m=1000)).holds
    assert not check_csafety(replace(good(), owners="hidden"), paper(c=0, m=1000)).holds


def test_reason_names_nothing_and_witness_names_nobody():
    owner = [9001, 9001, *range(9002, 9012)]
    for data in (good(owner=owner), good(at=0, record=["Park", "Hospital"]), good(at=3, record=["Park", "H1"])):
        verdict = check_csafety(data, CLAIM, original=ORIGINAL)
        assert not verdict.holds
        assert "900" not in str(verdict.witness) + verdict.reason
        assert not any(name in verdict.reason.split() for name in TREE.nodes if name != "A")


def test_a_leaf_that_was_added_for_nobody_who_is_published_may_be_left_out():
    """It would tell where somebody stopped who is not published; a leaf of the others must be there."""
    grown = Taxonomy.from_parents([*PARENTS, ("Clinic (unspecified)", "Clinic")], sensitive=LABELS)
    marked = replace(grown, added={"Clinic (unspecified)"})
    published = Stops.from_records([["Park"], ["Park"], []], taxonomy=TREE)
    claim = CSafety(c=1, m=2)

    def judged(tree, last):
        original = Stops.from_records([["Park"], ["Park", *last], ["Clinic (unspecified)"]], taxonomy=tree)
        return check_csafety(published, claim, original=original)

    assert judged(marked, []).holds
    for refused in (judged(grown, []), judged(marked, ["Clinic (unspecified)"])):
        assert not refused.holds
        assert "taxonomies of the original and of the publication differ" in refused.reason
