"""The verifier of the breach bound against the definition, written out with fractions, and planted breaches."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from dealt_trajectories import infer_by_handing_out
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import BreachBound, Visits
from wayveil.verifiers.breach_bound.breach_bound_verifier import check_breach_bound
from wayveil.verifiers.breach_bound.definition import find_break_of_breach_bound

# ---------------------------------------------------------------------------------------------------- the definition


def oracle_shares(data, claim, owner):
    """{(adversary, what he knows, place): (people with it, people)} over all classes that are published."""
    classes = defaultdict(list)
    for name, places in claim.adversaries:
        for i in range(len(data)):
            record = data.record(i)
            if record:
                known = tuple(visit if claim.times == "keep" else visit[0] for visit in record if visit[0] in places)
                classes[name, known].append((owner[i], {place for place, _ in record if place not in places}))
    found = {}
    for (name, known), members in classes.items():
        people = {who for who, _ in members}
        for place in set().union(*(others for _, others in members)):
            found[name, known, place] = (len({who for who, others in members if place in others}), len(people))
    return found, len(classes)


def oracle_inference(data, claim, owner):
    """The largest chance of a person and a place, and of how many people with several trips one is above p."""
    records = [data.record(i) for i in range(len(data))]
    trips = Counter(who for who, record in zip(owner, records, strict=True) if record)
    surest, above = Fraction(0), set()
    for _, places in claim.adversaries:
        for (who, _), chance in infer_by_handing_out(records, owner, places, claim.times).items():
            surest = max(surest, chance)
            above |= {who} if chance > claim.p and trips[who] > 1 else set()
    return surest, len(above)


def max_trajectories(each):
    return max((Fraction(*counts) for counts in each.values()), default=Fraction(0))


def is_numbered(data):
    return all([t for _, t in r] == list(range(1, len(r) + 1)) for r in map(data.record, range(len(data))))


def assert_agrees(data, claim):
    owner = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    found, classes = oracle_shares(data, claim, owner)
    verdict = check_breach_bound(data, claim)
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    if not classes or (claim.times == "order" and not is_numbered(data)):
        assert not verdict.holds
        return verdict
    each = oracle_shares(data, claim, list(range(len(data))))[0]
    shares = {key: max(Fraction(*counts), Fraction(*each[key])) for key, counts in found.items()}
    largest = max(shares.values(), default=Fraction(0))
    one_each = len(set(owner)) == len(owner)
    surest, above = (max_trajectories(each), 0) if one_each else oracle_inference(data, claim, owner)
    if data.owners == "hidden":
        assert verdict.holds == (largest <= claim.p)
        assert verdict.measured["max_inference"] is None
        assert verdict.measured["unsafe_people"] is None
    else:
        assert verdict.holds == (max(largest, surest) <= claim.p)
        assert verdict.measured["max_inference"] == float(surest)
        assert verdict.measured["max_inference_exact"] == f"{surest.numerator}/{surest.denominator}"
        assert verdict.measured["unsafe_people"] == above
    assert verdict.measured["max_share"] == float(largest)
    assert verdict.measured["max_share_exact"] == f"{largest.numerator}/{largest.denominator}"
    assert verdict.measured["max_share_trajectories"] == float(max_trajectories(each))
    assert verdict.measured["classes"] == classes
    assert verdict.measured["unsafe"] == sum(share > claim.p for share in shares.values())
    assert (verdict.witness is None) == verdict.holds
    if verdict.witness and "theirs" in verdict.witness:
        assert largest <= claim.p
        assert verdict.witness["share"] == verdict.measured["max_inference_exact"]
    elif verdict.witness:
        keys = [key for key, share in shares.items() if share == largest]
        name, known, place = min(keys, key=lambda key: (len(key[1]), *key))
        knows = [list(visit) for visit in known] if claim.times == "keep" else list(known)
        people = data.owners == "given" and Fraction(*found[name, known, place]) == largest
        having, among = (found if people else each)[name, known, place]
        assert verdict.witness == {
            "adversary": name, "knows": knows, "place": place, "counts": "people" if people else "trajectories",
            "fit": among, "with_place": having, "share": verdict.measured["max_share_exact"],
        }  # fmt: skip
    return verdict


# -------------------------------------------------------------------------------------------------------- random data


@st.composite
def visits(draw, most=7):
    gaps = draw(st.sampled_from([st.just(0), st.integers(0, 1)]))
    record = st.lists(st.tuples(st.sampled_from("abcdef"), gaps), max_size=4)
    records = []
    for listed in draw(st.lists(record, max_size=most)):
        t, made = 0, []
        for place, gap in listed:
            t += 1 + gap
            made.append((place, t))
        records.append(made)
    owner = draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records)))
    owners = draw(st.sampled_from(["given", "given", "declared", "hidden"]))
    return replace(Visits.from_records(records, owner=owner), owners=owners)


@st.composite
def claims(draw):
    groups = [{"A": "ab", "B": "cd"}, {"A": "a"}, {"A": "abc", "B": "d", "C": "ef"}, {"A": "xyz"}, {"A": "abcdef"}]
    adversaries = {name: list(places) for name, places in draw(st.sampled_from(groups)).items()}
    p = draw(st.sampled_from([0, "1/3", 0.5, "2/3", "0.7", 1]))
    return BreachBound(p=p, adversaries=adversaries, times=draw(st.sampled_from(["order", "keep"])))


@given(visits(), claims())
@settings(deadline=None, max_examples=400)
def test_verdict_is_the_definition(data, claim):
    verdict = assert_agrees(data, claim)
    assert len(verdict.not_judged) == (2 if data.owners == "hidden" else 0)


@given(visits(), claims(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_order_and_names_of_owners_do_not_matter(data, claim, random):
    order = list(range(len(data)))
    random.shuffle(order)
    moved = data.take(np.array(order, np.int64))
    moved = replace(moved, owner=moved.owner * 5 + 2**40)
    one, other = check_breach_bound(data, claim), check_breach_bound(moved, claim)
    assert (one.holds, one.measured, one.witness, one.reason) == (
        other.holds, other.measured, other.witness, other.reason,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ worked examples


def in_order(*records, owner=None):
    return Visits.from_records([[(p, n) for n, p in enumerate(record.split(), 1)] for record in records], owner=owner)


A, B = ["a1", "a2", "a3"], ["b1", "b2", "b3"]
TABLE_2 = in_order(
    "a1 b1 a2", "a1 b1 a2 b3", "a1 b2 a2", "a1 a2 b2", "a1 a3 b1", "a3 b1", "a3 b2", "a3 b2 b3"
)  # fmt: skip


def test_the_table_of_the_survey():
    claim = BreachBound(p=0.5, adversaries={"A": A, "B": B})
    verdict = assert_agrees(TABLE_2, claim)
    assert verdict.measured["unsafe"] == 9
    assert verdict.witness == {
        "adversary": "A", "knows": ["a1", "a3"], "place": "b1", "counts": "trajectories", "fit": 1,
        "with_place": 1, "share": "1/1",
    }  # fmt: skip
    assert verdict.reason == (
        "Of the trajectories that fit what the adversary 'A' knows, 1/1 have one place that is not his, more than "
        "p = 1/2."
    )
    assert assert_agrees(TABLE_2, replace(claim, p=Fraction(2, 3))).measured["unsafe"] == 4
    safe = in_order("a1 b1 a2", "a1 b1 a2", "a1 b2 a2", "a1 a2 b2", "a3 b1", "a3 b1", "a3 b2", "a3 b2")
    verdict = assert_agrees(safe, claim)
    assert verdict.holds
    assert verdict.measured["max_share_exact"] == "1/2"
    assert verdict.reason == "In 4 classes, no place has a share of the trajectories above 1/2 (p = 1/2)."


def test_the_counting_flaw_is_found():
    """Nobody's true projection reappears, yet two people were at a1 and both published trajectories with a1 have b1."""
    published = in_order("a1 b1", "a1 b1", "a2 b2", "a3 b3", "a2", "a3")
    verdict = assert_agrees(published, BreachBound(p=0.5, adversaries={"A": A}))
    assert not verdict.holds
    assert (verdict.witness["knows"], verdict.witness["place"], verdict.witness["share"]) == (["a1"], "b1", "1/1")
    assert verdict.measured["unsafe"] == 1


def test_the_empty_projection_is_a_class():
    claim = BreachBound(p=0.5, adversaries={"A": A})
    verdict = assert_agrees(in_order("a1 b1", "a1 b2", "b1", "b1", "b2"), claim)
    assert verdict.witness == {
        "adversary": "A", "knows": [], "place": "b1", "counts": "trajectories", "fit": 3,
        "with_place": 2, "share": "2/3",
    }  # fmt: skip
    assert assert_agrees(in_order("b1", "b2"), claim).holds


def test_trajectories_without_visits_help_nobody():
    """They would be in the empty class and make it larger."""
    claim = BreachBound(p=0.5, adversaries={"A": A})
    assert not assert_agrees(in_order("b1", "b1", "b2", "", "", ""), claim).holds
    assert not assert_agrees(in_order("", "b1", "", owner=[0, 1, 2]), claim).holds


def test_a_place_of_nobody_is_protected_from_everybody():
    claim = BreachBound(p=0.5, adversaries={"A": ["a1"], "B": ["b1"]})
    verdict = assert_agrees(in_order("a1 c", "a1 c", "a1"), claim)
    assert {verdict.witness["adversary"], verdict.witness["place"]} == {"B", "a1"}  # B, who knows nothing, sees a1: 3/3
    assert verdict.measured["unsafe"] == 3


def test_places_that_do_not_occur_change_nothing():
    data = in_order("a1 b1", "a1 b2")
    one = check_breach_bound(data, BreachBound(p=0.5, adversaries={"A": ["a1"]}))
    more = check_breach_bound(data, BreachBound(p=0.5, adversaries={"A": ["a1", "zzz", "a1x", "A1"]}))
    assert one.holds
    assert one.measured == more.measured
    renamed = check_breach_bound(data, BreachBound(p=0.5, adversaries={"A": ["a1x"]}))  # a1 is then not his
    assert not renamed.holds


def test_a_visit_twice_is_a_place_once_but_knowledge_twice():
    claim = BreachBound(p=0.5, adversaries={"A": ["a"]})
    assert assert_agrees(in_order("a b b b", "a c"), claim).holds
    verdict = assert_agrees(in_order("a b a", "a c"), claim)
    assert verdict.measured["classes"] == 2
    assert not verdict.holds


def test_order_is_knowledge_and_times_are_when_declared():
    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 2)], [("a", 5), ("b", 6)], [("a", 5), ("d", 9)]])
    moved = Visits.from_records(
        [[("a", 1), ("b", 2)], [("a", 1), ("c", 2)], [("a", 4), ("b", 6)], [("a", 5), ("d", 9)]]
    )
    order, keep = (BreachBound(p=0.5, adversaries={"A": ["a", "z"]}, times=times) for times in ("order", "keep"))
    assert assert_agrees(in_order("a b", "a c", "a b", "a d"), order).holds
    assert assert_agrees(data, keep).holds
    assert assert_agrees(moved, keep).witness["knows"] == [["a", 4]]
    swapped = in_order("a z b", "z a c")
    assert not assert_agrees(swapped, order).holds


@pytest.mark.parametrize("record", [[("a", 2), ("b", 3)], [("a", 1), ("b", 3)], [("a", 0), ("b", 1)]])
def test_times_under_a_claim_about_order_are_refused(record):
    """The smallest input that was verified before: one trip with its true times, although only order was said."""
    data = Visits.from_records([record, [("a", 1), ("c", 2)]])
    claim = BreachBound(p=1, adversaries={"A": ["a"]})
    verdict = check_breach_bound(data, claim)
    assert not verdict.holds
    assert "Times are published" in verdict.reason
    assert find_break_of_breach_bound(data, claim)
    assert check_breach_bound(data, replace(claim, times="keep")).holds


@pytest.mark.parametrize(("p", "holds"), [("0.3", True), ("3/10", True), ("0.29999999999999999999", False), (1, True)])
def test_a_share_of_exactly_p_holds(p, holds):
    """3 of 10, where floating-point numbers would disagree."""
    data = in_order(*["a b"] * 3, *["a"] * 7)
    assert check_breach_bound(data, BreachBound(p=p, adversaries={"A": ["a"]})).holds == holds


# --------------------------------------------------------------------------------------------------------- owners


def test_owners_are_counted_once():
    claim = BreachBound(p=0.5, adversaries={"A": ["a"]})
    verdict = assert_agrees(in_order("a b", "a c", "a", "a", owner=[1, 2, 3, 3]), claim)
    assert verdict.holds
    assert verdict.counted == "owners"
    assert verdict.measured["max_share_exact"] == "1/3"
    assert verdict.measured["max_share_trajectories"] == 0.25
    assert verdict.reason == (
        "In 1 class, no place has a share of the people or of the trajectories above 1/3, and none is inferred of a "
        "person with a chance above 1/2 (p = 1/2)."
    )
    odd = assert_agrees(in_order("a b", "a c", "a", "a", owner=[1, 1, 1, 1]), claim)  # one owner of all: certain
    assert (odd.witness["counts"], odd.witness["fit"], odd.witness["with_place"]) == ("people", 1, 1)
    assert "Of the people that fit" in odd.reason


def test_an_owner_counts_in_the_class_where_the_place_is():
    """Owner 1 was at b, but not in the trajectory that the adversary's knowledge a fits."""
    claim = BreachBound(p=0.5, adversaries={"A": ["a", "z"]})
    assert assert_agrees(in_order("a c", "z b", "a", "z", owner=[1, 1, 2, 2]), claim).holds


def test_one_person_with_many_trips_tells_of_the_trips():
    """One person with many trips to b, and one without: half of the people, but most of the trips."""
    claim = BreachBound(p=0.5, adversaries={"A": ["a"]})
    verdict = assert_agrees(in_order(*["a b"] * 9, "a", owner=[1] * 9 + [2]), claim)
    assert not verdict.holds
    assert verdict.measured["max_share_exact"] == "9/10"
    assert (verdict.witness["counts"], verdict.witness["fit"]) == ("trajectories", 10)
    assert "Of the trajectories that fit" in verdict.reason


def test_who_owns_three_of_four_trips_owns_one_of_two():
    """Half of the people and of the trips were at the clinic, but by pigeonhole ann was there with certainty."""
    claim = BreachBound(p=0.5, adversaries={"A": ["a1"]})
    whole = assert_agrees(in_order("a1 clinic", "a1 clinic", "a1 park", "a1 park", owner=[0, 0, 0, 1]), claim)
    assert not whole.holds  # both were in the park
    trips = ["a1 clinic", "a1 clinic", "a1", "a1 park"]  # what was published of these four
    verdict = assert_agrees(in_order(*trips, owner=[0, 0, 0, 1]), claim)
    assert not verdict.holds
    assert verdict.measured["max_share_exact"] == "1/2"
    assert verdict.measured["max_inference_exact"] == "1/1"
    assert verdict.measured["unsafe"] == 0
    assert verdict.measured["unsafe_people"] == 1
    assert verdict.witness == {
        "adversary": "A", "place": "clinic", "counts": "trajectories of one person", "fit": [4], "with_place": [2],
        "theirs": [3], "share": "1/1",
    }  # fmt: skip
    assert verdict.reason == (
        "The adversary 'A' knows how many trajectories of each class are whose, and infers a place that is not his of "
        "a person with several with a chance of 1/1, more than p = 1/2."
    )
    alone = assert_agrees(in_order(*trips, owner=[0, 1, 2, 3]), claim)
    assert alone.holds
    assert alone.measured["max_inference_exact"] == "1/2"


def test_a_person_is_judged_over_all_classes():
    """One trip in each of two classes, and the place in half of both: it is in one of the two trips with 3/4."""
    data = in_order("a1 b", "a1", "a2 b", "a2", owner=[0, 1, 0, 2])
    verdict = assert_agrees(data, BreachBound(p="74/100", adversaries={"A": ["a1", "a2"]}))
    assert not verdict.holds
    assert verdict.witness["theirs"] == [1, 1]
    assert verdict.witness["share"] == "3/4"
    assert assert_agrees(data, BreachBound(p="3/4", adversaries={"A": ["a1", "a2"]})).holds


@pytest.mark.parametrize(("trips", "holds"), [(69, True), (70, False)])
def test_chances_close_to_p_are_judged_exactly(trips, holds):
    """1 of 100 trips has the place, so that n of them have it with n / 100: a p between 69 and 70 hundredths."""
    owner = [0] * trips + list(range(1, 101 - trips))
    data = in_order("a b", *["a"] * 99, owner=owner)
    for p in (Fraction(69, 100), Fraction(7 * 10**29 - 1, 10**30)):
        assert check_breach_bound(data, BreachBound(p=p, adversaries={"A": ["a"]})).holds == holds
    assert check_breach_bound(data, BreachBound(p="0.7", adversaries={"A": ["a"]})).holds


def test_large_numbers_are_told_in_short():
    """One person with 300 of 3,000 trips; every tenth has the place."""
    owner = np.where(np.arange(3000) % 10 == 3, 0, np.arange(3000) + 1).tolist()
    data = in_order(*[f"a {'b' if i % 10 == 7 else 'c' if i % 2 else 'd'}" for i in range(3000)], owner=owner)
    verdict = check_breach_bound(data, BreachBound(p="0.6", adversaries={"A": ["a"]}))
    assert not verdict.holds
    assert verdict.measured["max_inference"] == pytest.approx(1.0)
    assert verdict.measured["max_inference_exact"].startswith("about 1 (a fraction of some ")
    assert "with a chance of 100 %, more than p = 3/5" in verdict.reason
    assert len(verdict.reason) < 300


def test_hidden_owners():
    claim = BreachBound(p=0.5, adversaries={"A": ["a"]})
    one = replace(in_order("a b", "a c", owner=[1, 1]), owners="hidden")
    verdict = assert_agrees(one, claim)
    assert verdict.holds  # though one person owns both
    assert verdict.not_judged == (
        "shares by owner: the owners are withheld, so it is known which share of trajectories has a place, but not of "
        "people",
        "people over all their trajectories: the owners are withheld, so it is not known who has several",
    )
    assert verdict.reason == "In 1 class, no place has a share of the trajectories above 1/2 (p = 1/2)."
    certain = assert_agrees(replace(in_order("a b", "a b", "a c", owner=[1, 2, 3]), owners="hidden"), claim)
    assert not certain.holds
    assert (certain.witness["fit"], certain.witness["with_place"]) == (3, 2)


def test_a_negative_owner_is_nobody():
    claim = BreachBound(p=1, adversaries={"A": ["a"]})
    assert "negative owner" in check_breach_bound(in_order("a b", "a", owner=[0, -1]), claim).reason
    assert not check_breach_bound(in_order("a b", "a", owner=[0, -1]), claim).holds
    assert check_breach_bound(in_order("a b", "", owner=[0, -1]), claim).holds
    assert check_breach_bound(in_order("a b", "a", owner=[2**63 - 1, 0]), claim).holds


@pytest.mark.parametrize("data", [Visits.from_records([]), Visits.from_records([[], []])])
def test_nothing_published_never_holds(data):
    verdict = check_breach_bound(data, BreachBound(p=1, adversaries={"A": ["a"]}))
    assert not verdict.holds
    assert verdict.reason == "There is no visit, so there is nothing to judge."
    assert verdict.measured["max_share"] is None


def broken(**columns):
    data = in_order("a b", "a c", owner=[1, 2])
    for name, values in columns.items():
        object.__setattr__(data, name, values)
    return data


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (broken(offsets=np.array([0, 4])), "differ in length"),
        (broken(offsets=np.array([0, 2, 3])), "do not add up"),
        (broken(offsets=np.array([1, 2, 4])), "do not add up"),
        (broken(offsets=np.array([0, 5, 4])), "do not add up"),
        (broken(location=np.zeros(3, np.int32)), "differ in length"),
        (broken(location=np.array([0, 1, 0, 3])), "without a name"),
        (broken(location=np.array([0, 1, 0, -1])), "without a name"),
        (broken(t=np.array([0, 1, 1, 1])), "does not increase"),
        (broken(owners="mine"), "where the owners come from"),
    ],
)
def test_what_a_constructor_refuses_is_not_trusted_here(data, word):
    verdict = check_breach_bound(data, BreachBound(p=1, adversaries={"A": ["a"]}))
    assert not verdict.holds
    assert word in verdict.reason


def test_two_codes_of_one_name_are_one_place():
    data = broken(location=np.array([0, 1, 0, 2]), locations=("a", "b", "b"))
    assert not check_breach_bound(data, BreachBound(p=0.5, adversaries={"A": ["a"]})).holds


# ------------------------------------------------------------------------------------------------- planted violations


def test_one_breach_among_many_is_found():
    rng = np.random.default_rng(4)
    base = [f"a{i} b{j} c{k}" for i in range(20) for j in range(4) for k in range(3)] * 3
    records = [base[i] for i in rng.permutation(len(base))]
    claim = BreachBound(p="1/3", adversaries={"A": [f"a{i}" for i in range(20)]})
    assert check_breach_bound(in_order(*records), claim).holds
    at = records.index("a7 b2 c0")
    records[at] = "a7 b2 c1"
    verdict = assert_agrees(in_order(*records), claim)
    assert verdict.measured["unsafe"] == 1
    assert verdict.witness["knows"] == ["a7"]
    assert verdict.witness["share"] == "13/36"
