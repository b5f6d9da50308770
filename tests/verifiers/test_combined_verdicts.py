"""Parts that keep a claim, and their union judged at once by the real verifiers; and where parts are not enough."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, UsageError
from wayveil.model import (
    GUARANTEES,
    AttackGraph,
    Boxes,
    BreachBound,
    CSafety,
    KAnonymity,
    KclPrivacy,
    KDelta,
    Points,
    RoadNetwork,
    Routes,
    Stops,
    StrictK,
    SubsequenceK,
    Taxonomy,
    Verdict,
    Visits,
)
from wayveil.verifiers import VERIFIERS
from wayveil.verifiers.combined_verdicts import PARTS_NEED, apart, class_keys, join_verdicts, union_condition

BOUNDS = {
    "at most": (
        *("min_support", "min_candidates", "min_people", "exact_match_min_support", "edges", "edges_left"),
        *("min_place_people", "min_declared"),
    ),
    "at least": (
        *("max_confidence", "max_owner_share", "max_confidence_trajectories"),
        *("max_share", "max_share_trajectories", "max_inference", "unsafe_people", "max_probability", "tolerance_m"),
        *("sequences", "groups", "classes", "unsafe", "routes", "slices", "roads", "foreign_roads"),
        "untrue",
        *("small_classes", "nested_classes", "dominated_classes", "rare_places"),
        *("max_probability_people", "max_probability_trajectories"),
    ),
    "exact": (
        *("trajectories", "visits", "points", "boxes", "rows", "certified", "boxes_untrue", "points_outside"),
        *("too_fast", "not_declared"),
        *("not_contained", "too_fast", "broken", "dummies", "sensitive_rows", "generalized_rows", "suppressed_rows"),
        *("false_trajectories", "inference_routes"),
    ),
    # sets that the judge of the union finds may be others
    "other": (
        *("sets", "max_distance_m", "max_confidence_exact", "max_share_exact", "max_inference_exact"),
        "max_probability_exact",
        *("max_owner_share_exact", "max_confidence_trajectories_exact"),
    ),
}
ANY_SET = {  # bounds that depend on what was looked for
    ("KDelta", "min_support"),
    ("SubsequenceK", "min_support"),
    ("SubsequenceK", "max_owner_share"),
}


def judge(claim, data, original=None):
    more = {"original": original} if claim.about_truth else {}
    return VERIFIERS[claim.name](data, claim, **more)


def assert_union_holds(claim, data, parts, original=None, *, met=(), aligned=True):
    """Of some lists of trajectories, those that hold as parts hold together, and the joined verdict says no more."""

    def some(which):
        truth = original if original is None or not aligned else original.take(which)
        return judge(claim, data.take(which), truth)

    kept = [(part, verdict) for part in parts if (verdict := some(part)).holds]
    event(f"{len(kept)} parts")
    if len(kept) < 2:
        return
    union = some(np.concatenate([part for part, _ in kept]))
    joined = join_verdicts([verdict for _, verdict in kept], met=met)
    assert union.holds, union.reason
    assert joined.holds, joined.reason
    assert joined.witness is None
    assert set(joined.not_judged) == set(union.not_judged)
    assert joined.counted == union.counted
    for key, value in joined.measured.items():
        if key.endswith("_note"):
            assert key.removesuffix("_note") in joined.measured
            continue
        kind = next(kind for kind, keys in BOUNDS.items() if key in keys)
        true = union.measured[key]
        assert (value is None) == (true is None)
        if value is None or (claim.name, key) in ANY_SET:
            continue
        if key == "sequences" and claim.l == "all":  # those that the search met: of parts, now more, now fewer
            continue
        if kind == "at most":
            assert value <= true, key
        elif kind == "at least":
            assert value >= true, key
        elif kind == "exact":
            assert value == true, key
        elif key.endswith("_exact"):
            assert Fraction(value) >= Fraction(true), key


def parts_of(sizes):
    ends = np.cumsum(sizes)
    return [np.arange(end - size, end) for size, end in zip(sizes, ends.tolist(), strict=True)]


owners_kinds = st.sampled_from(["given", "declared", "hidden"])


def with_owners(draw, data, sizes, *, people_apart):
    """Give a few people the trajectories; the same people in all parts, or others in each."""
    part = np.repeat(np.arange(len(sizes)), sizes)
    owner = np.array(draw(st.lists(st.integers(0, 4), min_size=len(data), max_size=len(data))), np.int64)
    return replace(data, owner=owner + 10 * part * people_apart, owners=draw(owners_kinds))


def repeated(draw, records):
    """Return (records, sizes of parts): each part has a few records, each of them a few times."""
    listed, sizes = [], []
    for _ in range(draw(st.integers(2, 4))):
        some = draw(st.lists(st.tuples(records, st.sampled_from([1, 2, 3, 4, 3, 4])), min_size=1, max_size=2))
        part = [record for record, times in some for _ in range(times)]
        listed += part
        sizes.append(len(part))
    return listed, sizes


# -------------------------------------------------------------------------------------------- shares of people: KCL


visit_records = st.dictionaries(st.integers(0, 2), st.sampled_from("ab"), min_size=1).map(
    lambda found: [(place, t) for t, place in sorted(found.items())]
)


@st.composite
def visits(draw, people_apart):
    records, sizes = repeated(draw, visit_records)
    n = len(records)
    ill = draw(st.lists(st.sampled_from(["no", "no", "no", "yes", None]), min_size=n, max_size=n))
    data = Visits.from_records(records, attributes={"ill": ill})
    return with_owners(draw, data, sizes, people_apart=people_apart), parts_of(sizes)


@settings(deadline=None, max_examples=120)
@given(visits(True), st.integers(1, 2), st.sampled_from(["1/2", "2/3", "3/4"]), st.sampled_from([1, 2, "all"]))
def test_kcl_with_people_apart(found, k, c, l):
    claim = KclPrivacy(k=k, c=c, l=l, sensitive={"ill": ["yes"]})
    assert_union_holds(claim, *found, met=["people apart"])


@settings(deadline=None, max_examples=100)
@given(visits(False), st.integers(1, 3), st.sampled_from([1, 2, "all"]))
def test_kcl_without_shares_needs_nothing(found, k, l):
    assert_union_holds(KclPrivacy(k=k, c="1/2", l=l), *found)
    assert_union_holds(KclPrivacy(k=k, c=1, l=l, sensitive={"ill": ["yes"]}), *found)


@settings(deadline=None, max_examples=100)
@given(visits(False), st.sampled_from(["declared", "hidden"]), st.sampled_from([1, 2, "all"]))
def test_kcl_of_trajectories_needs_nothing(found, owners, l):
    data, parts = found
    claim = KclPrivacy(k=2, c="1/2", l=l, sensitive={"ill": ["yes"]})
    assert_union_holds(claim, replace(data, owners=owners), parts)


def test_kcl_breaks_if_somebody_is_in_two_parts():
    """Person 0, who is not ill, makes both ill people look like one of two; together they are two of three."""
    data = Visits.from_records([[("a", 1)]] * 4, attributes={"ill": ["no", "yes", "no", "yes"]}, owner=[0, 1, 0, 2])
    claim = KclPrivacy(k=2, c="1/2", l=1, sensitive={"ill": ["yes"]})
    verdicts = [judge(claim, data.take(part)) for part in parts_of([2, 2])]
    assert [verdict.holds for verdict in verdicts] == [True, True]
    union = judge(claim, data)
    assert not union.holds
    assert union.measured["max_confidence_exact"] == "2/3"
    joined = join_verdicts(verdicts)
    assert not joined.holds
    assert "not known that nobody is in two of them" in joined.reason
    assert not {"max_confidence", "max_confidence_exact", "sequences"} & set(joined.measured)
    assert joined.measured["min_support"] == 2
    assert not apart([data.owner[part] for part in parts_of([2, 2])])


@settings(deadline=None, max_examples=60)
@given(visits(False), st.sampled_from([1, 2, "all"]))
def test_shares_of_trajectories_need_nothing(found, l):
    """Whoever is in several parts: what one person owns, and what carries a value, adds up over trajectories."""
    data, parts = found
    claim = KclPrivacy(k=1, c=1, l=l, sensitive={"ill": ["yes"]}, row_share=1)
    joined = join_verdicts([judge(claim, data.take(part)) for part in parts])
    union = judge(claim, data)
    for key in ("max_owner_share_exact", "max_confidence_trajectories_exact"):
        assert Fraction(joined.measured[key]) >= Fraction(union.measured[key])


def test_a_claim_may_hold_whose_largest_share_is_not_known():
    """With c = 1 nothing is needed, but somebody in two parts makes the largest confidence of the parts too small."""
    data = Visits.from_records([[("a", 1)]] * 4, attributes={"ill": ["no", "yes", "no", "yes"]}, owner=[0, 1, 0, 2])
    claim = KclPrivacy(k=2, c=1, l=1, sensitive={"ill": ["yes"]})
    verdicts = [judge(claim, data.take(part)) for part in parts_of([2, 2])]
    assert join_verdicts(verdicts).holds
    assert "max_confidence" not in join_verdicts(verdicts).measured
    assert join_verdicts(verdicts, met=["people apart"]).measured["max_confidence_exact"] == "1/2"


@pytest.mark.parametrize("owners", ["declared", "hidden"])
def test_trajectories_are_apart(owners):
    data = Visits.from_records([[("a", 1)]] * 4, attributes={"ill": ["no", "yes", "no", "yes"]}, owner=[0, 1, 0, 2])
    data = replace(data, owners=owners)
    claim = KclPrivacy(k=2, c="1/2", l=1, sensitive={"ill": ["yes"]})
    joined = join_verdicts([judge(claim, data.take(part)) for part in parts_of([2, 2])])
    assert joined.holds
    assert joined.measured["max_confidence_exact"] == "1/2"
    assert not joined.reason.count("nobody")


# --------------------------------------------------------------------------------------------------------- BreachBound

BREACH = BreachBound(p="1/2", adversaries={"shop": ["a"]})


def numbered(data):
    """Return the visits of each trajectory numbered 1, 2, 3, ..., as a claim about their order has them."""
    return replace(data, t=np.arange(data.n_rows) - np.repeat(data.offsets[:-1], np.diff(data.offsets)) + 1)


@settings(deadline=None, max_examples=120)
@given(visits(True), st.sampled_from(["1/2", "2/3", "3/4"]), st.sampled_from(["order", "keep"]))
def test_breach_bound_with_one_trajectory_each(found, p, times):
    data, parts = found
    data = data if times == "keep" else numbered(data)
    claim = BreachBound(p=p, adversaries={"shop": ["a"]}, times=times)
    assert_union_holds(claim, replace(data, owner=np.arange(len(data))), parts, met=["one each"])


def test_breach_bound_of_people_with_several_trajectories_says_nothing_in_parts():
    """Person 0 owns two trips of a part without b; in another part half of the trips have it."""
    data = Visits.from_records(
        [[("a", 1)], [("a", 1)], *([("a", 1), (place, 2)] for place in "bcbdbe")], owner=[0, 0, 1, 2, 3, 4, 5, 6]
    )
    verdicts = [judge(BREACH, data.take(part)) for part in parts_of([2, 6])]
    assert [verdict.holds for verdict in verdicts] == [True, True]
    assert judge(BREACH, data).measured["max_inference_exact"] == "9/14"
    assert not join_verdicts(verdicts, met=["people apart"]).holds


@settings(deadline=None, max_examples=100)
@given(visits(False), st.sampled_from(["declared", "hidden"]))
def test_breach_bound_of_trajectories_needs_nothing(found, owners):
    data, parts = found
    data = numbered(data)
    assert_union_holds(BREACH, replace(data, owners=owners), parts)
    assert_union_holds(replace(BREACH, p=1), data, parts)


def test_breach_bound_breaks_if_somebody_is_in_two_parts():
    records = [[("a", 1), ("c", 2)], [("a", 1), ("b", 2)]] * 2
    data = Visits.from_records(records, owner=[0, 1, 0, 2])  # b: person 1 of 0 and 1, person 2 of 0 and 2
    verdicts = [judge(BREACH, data.take(part)) for part in parts_of([2, 2])]
    assert [verdict.holds for verdict in verdicts] == [True, True]
    assert judge(BREACH, data).measured["max_share_exact"] == "2/3"
    assert not judge(BREACH, data).holds
    assert not join_verdicts(verdicts).holds
    assert not {"max_share", "max_share_exact", "unsafe"} & set(join_verdicts(verdicts).measured)


# ------------------------------------------------------------------------------------------------------------- CSafety

TREE = Taxonomy.from_parents(
    [("Place", ""), ("Park", "Place"), ("Cafe", "Place"), ("Clinic", "Place"), ("C1", "Clinic"), ("C2", "Clinic")],
    sensitive=["Clinic"],
)
true_stops = st.lists(st.sampled_from(["Park", "Cafe", "C1", "C2"]), min_size=1, max_size=3)


@st.composite
def stops(draw):
    """Return (published, original): stops left out, and clinics lifted."""
    records, _ = repeated(draw, true_stops)
    lifts, drops = draw(st.sampled_from([1, 1, 1, 3])), draw(st.sampled_from([1, 1, 10]))
    made = []
    for record in records:
        kept = [place for place in record if drops == 1 or draw(st.integers(0, drops - 1))]
        lifted = [place in ("C1", "C2") and draw(st.integers(0, lifts - 1)) == 0 for place in kept]
        made.append(["Clinic" if lift else place for place, lift in zip(kept, lifted, strict=True)])
    n = len(records)
    data = with_owners(draw, Stops.from_records(made, taxonomy=TREE), [n], people_apart=False)
    return data, Stops.from_records(records, taxonomy=TREE)


@settings(deadline=None, max_examples=120)
@given(stops(), st.sampled_from(["1/2", "2/3", "1"]), st.integers(2, 6), st.booleans())
def test_csafety_with_classes_apart(found, c, many, told):
    data, original = found
    keys = class_keys(data)
    which = np.searchsorted(np.unique(keys), keys) % many
    parts = [np.flatnonzero(which == part) for part in range(many)]
    parts = [part for part in parts if data.take(part).n_rows]
    claim = CSafety(c=c, m=2, place_people=1)
    assert apart([keys[part] for part in parts])
    assert_union_holds(claim, data, parts, original if told else None, met=["classes apart"])
    if parts:  # and the other way round: whole classes are judged in parts exactly as in the union
        verdicts = [judge(claim, data.take(part), original.take(part)) for part in parts]
        assert join_verdicts(verdicts, met=["classes apart"]).holds == judge(claim, data, original).holds


def test_class_keys_do_not_depend_on_the_order_of_nodes():
    records = [["Park", "C1"], ["Park"], ["Cafe", "Park"], ["Park", "Cafe"], [], ["C1"]]
    other = Taxonomy.from_parents(
        [("C2", "Clinic"), ("Cafe", "Place"), ("Place", ""), ("C1", "Clinic"), ("Clinic", "Place"), ("Park", "Place")],
        sensitive=["Clinic"],
    )
    keys = class_keys(Stops.from_records(records, taxonomy=TREE)).tolist()
    assert keys == class_keys(Stops.from_records(records, taxonomy=other)).tolist()
    more = Taxonomy.from_parents(
        [("Place", ""), ("Aaa", "Place"), ("Park", "Place"), ("Cafe", "Place"), ("Clinic", "Place"), ("C1", "Clinic")],
        sensitive=["Clinic"],
    )  # a part that needs one node more, and one less
    assert keys == class_keys(Stops.from_records(records, taxonomy=more)).tolist()
    assert class_keys(Stops.from_records([], taxonomy=more)).tolist() == []
    assert keys[0] == keys[1]
    assert keys[4] == keys[5]
    assert len(set(keys)) == 4


def test_csafety_breaks_if_a_class_is_in_two_parts_even_if_nobody_is():
    """Each part is an antichain, but in the union a clinic that was lifted meets one below it that was not."""
    data = Stops.from_records([["Park", "Clinic"], ["Park"], ["Park", "C1"], ["Park"]], taxonomy=TREE, owner=range(4))
    claim, parts = CSafety(c="1/2", weights="uniform", place_people=1), parts_of([2, 2])
    verdicts = [judge(claim, data.take(part)) for part in parts]
    assert [verdict.holds for verdict in verdicts] == [True, True]
    assert judge(claim, data).witness["breaks"] == "antichain"
    assert not apart([class_keys(data)[part] for part in parts])
    for met in ([], ["people apart"]):
        joined = join_verdicts(verdicts, met=met)
        assert not joined.holds
        assert "not known that no class is in two of them" in joined.reason
        assert not {"nested_classes", "max_probability", "max_probability_exact"} & set(joined.measured)
    assert "no class is in two of them" in join_verdicts(verdicts, met=["classes apart"]).reason


@pytest.mark.parametrize("owners", ["given", "declared", "hidden"])
def test_classes_must_be_apart_whoever_is_counted(owners):
    """Trajectories are apart by themselves, their classes are not."""
    data = Stops.from_records([["Park", "Clinic"], ["Park"], ["Park", "C1"], ["Park"]], taxonomy=TREE, owner=range(4))
    data, claim = replace(data, owners=owners), CSafety(c="1/2", weights="uniform", place_people=1)
    verdicts = [judge(claim, data.take(part)) for part in parts_of([2, 2])]
    assert [verdict.holds for verdict in verdicts] == [True, True]
    assert not judge(claim, data).holds
    for met in ([], ["people apart"]):
        assert not join_verdicts(verdicts, met=met).holds
        assert "max_probability" not in join_verdicts(verdicts, met=met).measured


def test_csafety_breaks_if_somebody_is_in_two_parts_of_a_class():
    data = Stops.from_records([["Park", "C1"], ["Park"]] * 2, taxonomy=TREE, owner=[0, 1, 2, 1])
    claim, parts = CSafety(c="1/2", place_people=1), parts_of([2, 2])
    assert all(judge(claim, data.take(part)).holds for part in parts)
    assert judge(claim, data).measured["max_probability_exact"] == "2/3"


# -------------------------------------------------------------------------------------- crowds: KDelta and KAnonymity


@st.composite
def points(draw):
    places = st.sampled_from([0.0, 1.0, 2.0, 10.0])
    bases = st.lists(st.tuples(places, places), min_size=1, max_size=2)
    records, sizes = repeated(draw, bases.map(lambda found: [(t, x, y) for t, (x, y) in enumerate(found)]))
    return with_owners(draw, Points.from_records(records), sizes, people_apart=False), parts_of(sizes)


@settings(deadline=None, max_examples=100)
@given(points(), st.integers(2, 3), st.sampled_from([0, 1, 1.5, 3]))
def test_kdelta_needs_nothing(found, k, delta):
    assert_union_holds(KDelta(k=k, delta=delta), *found)


@settings(deadline=None, max_examples=50)
@given(points())
def test_kanonymity_of_points_needs_nothing(found):
    assert_union_holds(KAnonymity(k=2), *found)


@st.composite
def boxes(draw, wide):
    """Return (published, parts, original): boxes around true positions, now and then beside them."""
    sides = st.lists(st.tuples(st.integers(0, 1), st.integers(wide, 2)), min_size=1, max_size=2)
    records, sizes = repeated(draw, sides)
    made = [[(t, t, float(low), float(low + size), 0.0, 0.0) for t, (low, size) in enumerate(one)] for one in records]
    true = []
    for one in records:
        inside = [draw(st.integers(low, low + size)) for low, size in one]
        if not draw(st.integers(0, 19)):
            inside[0] = 7
        true.append([(t, float(x), 0.0) for t, x in enumerate(inside)])
    original = with_owners(draw, Points.from_records(true), sizes, people_apart=False)
    if draw(st.booleans()):
        known = draw(st.lists(st.booleans(), min_size=original.n_rows, max_size=original.n_rows))
        original = replace(original, known=np.array(known, bool))
    published = replace(Boxes.from_records(made), owner=original.owner, owners=original.owners)
    return published, parts_of(sizes), original


@settings(deadline=None, max_examples=100)
@given(boxes(0), st.integers(2, 3), st.booleans())
def test_kanonymity_needs_nothing(found, k, told):
    data, parts, original = found
    assert_union_holds(KAnonymity(k=k), data, parts, original if told else None)


@settings(deadline=None, max_examples=120)
@given(boxes(1), st.integers(2, 3))
def test_attack_graph_needs_one_trajectory_each(found, k):
    """Between parts there are more candidates, and somebody with two trajectories may be too many of them."""
    data = found[0]
    if data.owners != "given" or data.n_owners == len(data):
        assert_union_holds(AttackGraph(k=k), *found, met=["one each"])
    assert union_condition(AttackGraph(k=k)) == "one each"


# ------------------------------------------------------------------------------------------------ routes in slices

ROADS = [("AB", "A", "B"), ("BA", "B", "A"), ("BC", "B", "C"), ("CD", "C", "D"), ("BD", "B", "D"), ("DA", "D", "A")]
NETWORK = RoadNetwork.from_roads(ROADS)
WALKS = [["AB"], ["AB", "BC"], ["AB", "BD"], ["BC", "CD"], ["AB", "BC", "CD"], ["BA", "AB"], ["BC", "BD"]]  # one jumps


@st.composite
def routes(draw):
    """The same slices are in all parts, and the same people, and dummies."""
    found, sizes = repeated(draw, st.tuples(st.sampled_from([*WALKS, *WALKS[:-1]]), st.sampled_from([(0, 9), (0, 5)])))
    records, slices = [list(record) for record, _ in found], [pair for _, pair in found]
    data = Routes.from_records(records, network=NETWORK, slices=slices)
    data = with_owners(draw, data, sizes, people_apart=False)
    dummies = draw(st.lists(st.integers(0, 5), min_size=len(data), max_size=len(data)))
    return replace(data, owner=np.where(np.array(dummies) == 0, -1, data.owner)), parts_of(sizes)


less = RoadNetwork.from_roads([road for road in ROADS if road[0] != "DA"])
originals = st.sampled_from(
    [None, Routes.from_records([["AB"]], network=NETWORK), Routes.from_records([], network=less)]
)


@settings(deadline=None, max_examples=100)
@given(routes(), st.integers(2, 3), st.sampled_from(["no", "yes"]), originals)
def test_strict_k_needs_nothing_even_if_parts_share_a_slice(found, k, pad, original):
    assert_union_holds(StrictK(k=k, pad=pad), *found, original, aligned=False)


@settings(deadline=None, max_examples=100)
@given(routes(), st.integers(2, 3), originals)
def test_subsequence_k_needs_nothing_even_if_parts_share_a_slice(found, k, original):
    assert_union_holds(SubsequenceK(k=k), *found, original, aligned=False)


def test_parts_do_not_tell_inference_routes():
    """Neither part has one, because too few are on each road; the union has, and the joined verdict is silent."""
    one, two = [["AB", "BC"]] * 2, [["AB"], ["AB", "BC"]]
    data = Routes.from_records(one + two, network=NETWORK)
    claim = SubsequenceK(k=3)
    verdicts = [judge(claim, data.take(part)) for part in parts_of([2, 2])]
    assert [verdict.measured["inference_routes"] for verdict in verdicts] == [0, 0]
    assert judge(claim, data).measured["inference_routes"] == 1
    assert "inference_routes" not in join_verdicts(verdicts).measured
    verdicts = [judge(StrictK(k=3), data.take(part)) for part in parts_of([2, 2])]
    assert "inference_routes" not in join_verdicts(verdicts).measured


def test_points_outside_of_their_boxes_are_added_up():
    wall = Boxes.from_records([[(0, 0, 0.0, 1.0, 0.0, 0.0)]] * 4)
    verdicts = []
    for part, x in zip(parts_of([2, 2]), ([0.5, 2.0], [3.0, 4.0]), strict=True):
        points = Points.from_records([[(0, one, 0.0)] for one in x])
        verdicts.append(VERIFIERS["KAnonymity"](points, KAnonymity(k=2), boxes=wall.take(part)))
    assert join_verdicts(verdicts).measured["points_outside"] == 3


# --------------------------------------------------------------------------------------------------- planted violations


def planted():
    """(claim, data, sizes of parts, original): the second of three parts is bad, and nobody else is like it."""
    yield (
        KclPrivacy(k=2, c="1/2", l=2, sensitive={"ill": ["yes"]}),
        Visits.from_records(
            [[("a", 1)]] * 2 + [[("b", 1)]] * 2 + [[("a", 1)]] * 2,
            attributes={"ill": ["yes", "no", "yes", "yes", "yes", "no"]},
            owner=range(6),
        ),
        [2, 2, 2],
        None,
    )
    yield (
        BREACH,
        Visits.from_records(
            [[("a", 1), ("b", 2)], [("a", 1)], [("b", 1)], [("a", 1), ("b", 2)], [("a", 1)]], owner=range(5)
        ),
        [2, 1, 2],
        None,
    )
    walks = Stops.from_records([["Park"]] * 2 + [["Cafe", "C1"]] * 2 + [["Park", "Park"]] * 2, taxonomy=TREE)
    yield CSafety(c="1/2"), walks, [2, 2, 2], walks
    yield KDelta(k=2, delta=1), Points.from_records([[(0, x, 0.0)] for x in (0.0, 1.0, 9.0, 0.0, 0.5)]), [2, 1, 2], None
    wall = [[(0, 0, x, x + 1, 0.0, 0.0)] for x in (0.0, 0.0, 5.0, 0.0, 0.0)]
    truth = Points.from_records([[(0, x, 0.0)] for x in (0.0, 1.0, 5.0, 1.0, 0.5)])
    yield KAnonymity(k=2), Boxes.from_records(wall), [2, 1, 2], truth
    yield AttackGraph(k=2), Boxes.from_records(wall), [2, 1, 2], truth
    streets = Routes.from_records([["AB"]] * 2 + [["BC"]] + [["AB"]] * 2, network=NETWORK)
    yield StrictK(k=2), streets, [2, 1, 2], streets
    yield SubsequenceK(k=2), streets, [2, 1, 2], streets


@pytest.mark.parametrize(
    ("claim", "data", "sizes", "original"), list(planted()), ids=lambda value: getattr(value, "name", "")
)
def test_one_bad_part_makes_the_union_fail(claim, data, sizes, original):
    truth = [None if original is None else original.take(part) for part in parts_of(sizes)]
    verdicts = [judge(claim, data.take(p), true) for p, true in zip(parts_of(sizes), truth, strict=True)]
    assert [verdict.holds for verdict in verdicts] == [True, False, True]
    assert not judge(claim, data, original).holds
    joined = join_verdicts(verdicts, met=["people apart", "classes apart", "one each"])
    assert not joined.holds
    assert joined.reason == f"Part 2 of 3: {verdicts[1].reason}"
    assert joined.witness == {**verdicts[1].witness, "part": 2}
    good = join_verdicts([verdicts[0], verdicts[2]], met=["people apart", "classes apart", "one each"])
    assert good.holds
    assert good.reason.startswith("Each of the 2 parts keeps the claim by itself")
    # Parts tell all that the whole tells, but for what appears between them only.
    silent = {"AttackGraph": {"symmetric"}, "SubsequenceK": {"inference_routes"}}.get(claim.name, set())
    for joined in (join_verdicts(verdicts, met=["people apart", "classes apart", "one each"]), good):
        told = {key for key in joined.measured if not key.endswith("_note")}
        hidden = silent if joined.holds else silent | {"inference_routes"}
        assert told == {key for key in verdicts[0].measured if not key.endswith("_note")} - hidden


# ------------------------------------------------------------------------------------------------------ joining itself

CLAIM = KAnonymity(k=2)
PART = Verdict(holds=True, claim=CLAIM, counted="owners", measured={}, reason="Fine.")


def measured(claim, *several, **options):
    verdicts = [replace(PART, claim=claim, measured=one) for one in several]
    return dict(join_verdicts(verdicts, **options).measured)


def test_every_claim_says_what_its_parts_need():
    assert set(PARTS_NEED) == set(GUARANTEES) == set(VERIFIERS)
    assert union_condition(BREACH) == "one each"
    assert union_condition(replace(BREACH, p=1)) == "nothing"
    sick = {"ill": ["yes"]}
    assert union_condition(KclPrivacy(k=2, c="0.99", l="all", sensitive=sick)) == "people apart"
    assert union_condition(KclPrivacy(k=2, c=1, l=1, sensitive=sick)) == "nothing"
    assert union_condition(KclPrivacy(k=2, c=0, l=1)) == "nothing"
    assert union_condition(CSafety(c=1)) == "classes apart"


def test_a_claim_without_a_proof_does_not_hold_in_parts():
    class New(KAnonymity):
        name = "New"

    joined = join_verdicts([replace(PART, claim=New(k=2))] * 2, met=["people apart", "classes apart", "unknown"])
    assert not joined.holds
    assert joined.measured == {}


def test_nothing_is_no_publication():
    with pytest.raises(InputError, match="no published part"):
        join_verdicts([])


def test_claims_must_be_equal():
    with pytest.raises(UsageError, match="different claims"):
        join_verdicts([PART, replace(PART, claim=KAnonymity(k=3))])


def test_one_part_is_the_whole():
    alone = replace(PART, claim=CSafety(c="1/2"), measured={"anything": 1})
    assert join_verdicts([alone]) is alone


def test_parts_that_count_differently_do_not_hold():
    for parts in ([PART, replace(PART, counted="trajectories")], [replace(PART, counted="trajectories"), PART]):
        joined = join_verdicts(parts)
        assert not joined.holds
        assert joined.counted == "trajectories"
    assert join_verdicts([PART, PART]).counted == "owners"


@pytest.mark.parametrize("holds", [True, False])
def test_shares_of_owners_are_not_told_if_other_parts_count_trajectories(holds):
    """Whichever part is the first: owners may be in two parts, so the largest share may be too small."""
    claim = KclPrivacy(k=2, c="1/2", l=1, sensitive={"ill": ["yes"]})
    owners = replace(PART, claim=claim, measured={"max_confidence": 0.5, "min_support": 2}, holds=holds)
    parts = [owners, replace(owners, counted="trajectories", holds=True)]
    for order in (parts, parts[::-1]):
        joined = join_verdicts(order)
        assert not joined.holds
        assert joined.measured == {"min_support": 2}


def test_values_are_joined_by_their_rules():
    found = measured(
        KclPrivacy(k=2, c=1, l=2),
        {"min_support": 3, "max_confidence": 0.5, "max_confidence_exact": "1/2", "sequences": 4, "visits": 9},
        {"min_support": 2, "max_confidence": 0.6, "max_confidence_exact": "3/5", "sequences": 5, "visits": 1},
        {"min_support": 4, "max_confidence": 0.1, "max_confidence_exact": "1/10", "sequences": 6, "visits": 1},
    )
    note = found.pop("sequences_note")
    assert "in each of them" in note
    assert found == {
        "min_support": 2,
        "max_confidence": 0.6,
        "max_confidence_exact": "3/5",
        "sequences": 15,
        "visits": 11,
    }


def test_fractions_are_compared_exactly():
    close = [f"{2**60 - 2}/{2**60 - 1}", f"{2**60 - 1}/{2**60}"]
    for texts in (close, close[::-1]):
        found = measured(BREACH, *({"max_share_exact": text} for text in texts), met=["one each"])
        assert found == {"max_share_exact": close[1]}


@pytest.mark.parametrize("other", [{}, {"min_support": "2"}, {"min_support": float("nan")}])
def test_what_cannot_be_compared_is_left_out(other):
    assert measured(CLAIM, {"min_support": 3}, other) == {}
    assert measured(CLAIM, other, {"min_support": 3}) == {}


@pytest.mark.parametrize("text", ["about 1 (a fraction of some 121 digits)", "1/0", None, 1])
def test_fractions_that_cannot_be_read_are_left_out(text):
    one, two = {"max_probability_exact": "1/2"}, {"max_probability_exact": text}
    found = measured(CSafety(c="1/2"), one, two, met=["classes apart"])
    assert found == ({"max_probability_exact": None} if text is None else {})


def test_what_is_not_known_of_a_part_is_not_known_of_all():
    found = measured(
        CLAIM, {"min_support": 3, "boxes_untrue": None, "groups": None}, {"min_support": None, "groups": 1}
    )
    assert found == {"min_support": None, "groups": None}
    found = measured(CLAIM, {"boxes_untrue": None}, {"boxes_untrue": 0})
    assert found == {"boxes_untrue": None}


def test_values_without_a_rule_are_left_out():
    assert measured(CLAIM, {"luck": 7}, {"luck": 7}) == {}
    assert measured(AttackGraph(k=2), {"symmetric": "yes"}, {"symmetric": "yes"}) == {}


def test_notes_stay():
    note = "smallest met; the smallest of all may be smaller"
    found = measured(KclPrivacy(k=2, c=1, l="all"), {"min_support": 3}, {"min_support": 5, "min_support_note": note})
    assert found == {"min_support": 3, "min_support_note": note}
    found = measured(
        SubsequenceK(k=2),
        {"min_support": 3, "min_support_note": "a"},
        {"min_support": 5, "min_support_note": "b"},
        {"min_support": 5, "min_support_note": "a"},
    )
    assert found == {"min_support": 3, "min_support_note": "a; b"}


def test_edges_between_parts_are_not_counted():
    found = measured(AttackGraph(k=2), {"edges": 4, "edges_left": 4}, {"edges": 9, "edges_left": 5})
    assert (found["edges"], found["edges_left"]) == (13, 9)
    assert "between" in found["edges_note"]


def test_not_judged_is_joined():
    one, two = replace(PART, not_judged=("b", "a")), replace(PART, not_judged=("c", "a"))
    assert join_verdicts([one, two]).not_judged == ("b", "a", "c")


def test_a_failure_without_a_witness_has_none():
    joined = join_verdicts([PART, replace(PART, holds=False, reason="Too long.")])
    assert joined.witness is None
    assert joined.reason == "Part 2 of 2: Too long."


def test_the_first_failure_is_told():
    bad = replace(PART, holds=False, reason="Bad.", witness={"people": 1})
    worse = replace(PART, holds=False, reason="Worse.", witness={"people": 0})
    joined = join_verdicts([PART, bad, worse])
    assert joined.reason == "Part 2 of 3: Bad."
    assert joined.witness == {"people": 1, "part": 2}


def test_apart():
    assert apart([])
    assert apart([np.array([5, 5]), np.array([], np.int64), np.array([-5])])
    assert not apart([np.array([1]), np.array([2]), np.array([3, 1])])
