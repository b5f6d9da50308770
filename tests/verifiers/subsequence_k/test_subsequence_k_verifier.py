"""The verifier of subsequences against the definition, every subsequence written out, and planted violations."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.claims import SubsequenceK
from wayveil.model.data.routes import RoadNetwork, Routes
from wayveil.verifiers.common.inferred_routes import find_inference_routes
from wayveil.verifiers.subsequence_k import subsequence_k_verifier
from wayveil.verifiers.subsequence_k.subsequence_k_verifier import check_subsequence_k

ROADS = [("AB", "A", "B"), ("BA", "B", "A"), ("BC", "B", "C"), ("CD", "C", "D"), ("BD", "B", "D"), ("DA", "D", "A")]
NETWORK = RoadNetwork.from_roads(ROADS)
ENDS = {road: (a, b) for road, a, b in ROADS}

# ---------------------------------------------------------------------------------------------------- the definition


def parts(record):
    return {part for size in range(1, len(record) + 1) for part in combinations(record, size)}


def oracle(data):
    """The owners of the trajectories that contain each subsequence that occurs, by slice; dummies are nobody."""
    behind = defaultdict(list)
    for i in range(len(data)):
        one = i if data.owners == "hidden" else int(data.owner[i])
        for part in parts(data.record(i)):
            behind[int(data.t_start[i]), int(data.t_end[i]), part] += [one] if one >= 0 else []
    return behind


def oracle_shares(behind):
    """The largest share of one person in the trajectories that contain a subsequence."""
    return {part: Fraction(max(Counter(ones).values(), default=0), max(1, len(ones))) for part, ones in behind.items()}


def jumps(data):
    return sum(ENDS[a][1] != ENDS[b][0] for i in range(len(data)) for a, b in pairwise(data.record(i)))


@st.composite
def published(draw, connected=True):
    def walk():
        route = [draw(st.sampled_from(ROADS))]
        for _ in range(draw(st.integers(0, 5))):
            after = [road for road in ROADS if road[1] == route[-1][2] or not connected]
            route.append(draw(st.sampled_from(after)))
        return [road for road, _, _ in route]

    long = [walk() for _ in range(draw(st.integers(1, 3)))]
    kinds = [*long, *(route[: draw(st.integers(0, 4))] for route in long), *(route[-2:] for route in long)]
    n = draw(st.integers(0, 14))
    data = Routes.from_records(
        [draw(st.sampled_from(kinds)) for _ in range(n)],
        network=NETWORK,
        slices=[draw(st.sampled_from([(0, 5), (0, 5), (0, 5), (0, 9), (5, 9)])) for _ in range(n)],
        owner=[draw(st.integers(-1, 9)) for _ in range(n)],
    )
    return replace(data, owners=draw(st.sampled_from(["given", "given", "declared", "hidden"])))


def assert_agrees(data, claim, original=None):
    verdict = check_subsequence_k(data, claim, original=original)
    behind = oracle(data)
    if not behind:
        assert not verdict.holds
        assert verdict.measured["min_support"] is None
        return verdict
    support, shares = {part: len(set(ones)) for part, ones in behind.items()}, oracle_shares(behind)
    least, most = min(support.values()), max(shares.values())
    assert verdict.holds == (least >= claim.k and most <= claim.owner_share and jumps(data) == 0)
    assert (verdict.witness is None) == verdict.holds
    assert verdict.measured["broken"] == jumps(data)
    found = find_inference_routes(data, claim.k, share=claim.owner_share)
    assert verdict.measured["inference_routes"] == found.intersections
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    witness = verdict.witness
    if least >= claim.k:
        assert claim.k <= verdict.measured["min_support"] <= least
        assert "at least" in verdict.measured["min_support_note"]
        if most <= claim.owner_share:
            assert most - Fraction(1, 10**9) <= verdict.measured["max_owner_share"] <= claim.owner_share + 1e-9
        if not verdict.holds and most <= claim.owner_share:
            assert verdict.witness["breaks"] == "path"
        elif not verdict.holds:
            assert witness["breaks"] == "share"
            seen = (*witness["slice"], tuple(witness["roads"]))
            assert shares[seen] >= Fraction(witness["of_one"], witness["trajectories"]) > claim.owner_share
            assert len(behind[seen]) == witness["trajectories"]
            assert witness["of_one"] in Counter(behind[seen]).values()
        return verdict
    assert witness["breaks"] == "support"
    found = tuple(witness["roads"])
    assert support[*witness["slice"], found] == witness["support"] == verdict.measured["min_support"] < claim.k
    for i in range(len(found)):
        shorter = found[:i] + found[i + 1 :]
        assert not shorter or support[*witness["slice"], shorter] >= claim.k
    return verdict


claims = st.builds(
    SubsequenceK, k=st.integers(2, 3), row_share=st.sampled_from(["1/k", "1/k", "2/5", "1/2", "3/5", "2/9", "1"])
)


@given(published(), claims)
@settings(deadline=None, max_examples=300, derandomize=True)
def test_verdict_is_the_definition(data, claim):
    verdict = assert_agrees(data, claim)
    assert len(verdict.not_judged) == (data.owners != "given") + 2


@given(published(connected=False), claims)
@settings(deadline=None, max_examples=200, derandomize=True)
def test_any_sequences_are_judged_so(data, claim):
    assert_agrees(data, claim)


@given(published(connected=False), st.integers(0, 3), claims)
@settings(deadline=None, max_examples=300, derandomize=True)
def test_people_with_many_trips_are_judged_so(data, people, claim):
    """Few people own everything, and everything is there several times, so that shares decide."""
    n = len(data)
    owner = [*(data.owner % (people + 2)).tolist(), *range(10, 10 + n), *range(30, 30 + n)]
    many = data.take(np.arange(3 * n) % max(1, n))
    assert_agrees(replace(many, owner=np.array(owner, np.int64), owners="given"), claim)


@given(published(), st.integers(2, 3), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80, derandomize=True)
def test_order_and_codes_do_not_matter(data, k, random):
    order = list(range(len(data)))
    random.shuffle(order)
    names = sorted(NETWORK.roads, key=lambda name: name[::-1])
    code = np.array([names.index(name) for name in NETWORK.roads])
    network = RoadNetwork.from_roads([(name, *ENDS[name]) for name in names])
    turned = data.take(np.array(order, np.int64))
    turned = replace(turned, network=network, road=code[turned.road])
    claim = SubsequenceK(k=k)
    assert check_subsequence_k(turned, claim) == check_subsequence_k(data, claim)


# ------------------------------------------------------------------------------------------------------ known answers


def of(*records, **more):
    return Routes.from_records(records, network=NETWORK, **more)


def test_figure_1_of_the_reference_holds_and_has_an_inference_route():
    """`AB` as a whole is unique, which this claim allows, and strict k-anonymity does not."""
    verdict = check_subsequence_k(of(["AB", "BC"], ["AB", "BC"], ["AB", "BC"], ["AB"]), SubsequenceK(k=3))
    assert verdict.holds
    assert verdict.measured["exact_match_min_support"] == 1
    assert verdict.measured["inference_routes"] == 1
    assert verdict.measured["min_support"] == 3
    assert verdict.reason == (
        "Each of the 2 routes is a connected path, and all that it contains is in routes of 3 trajectories or more "
        "(k = 3), of which nobody owns more than 1/3."
    )


def test_a_route_inside_others_is_found_by_the_search():
    """`BC` and `AB CD` are no beginnings, so only the search sees that they are in the long route."""
    long = ["AB", "BC", "CD"]
    assert assert_agrees(of(long, long, long, ["BC"], ["BC", "CD"]), SubsequenceK(k=3)).holds
    verdict = assert_agrees(of(long, long, long, ["CD", "DA"]), SubsequenceK(k=3))
    assert verdict.witness == {"slice": [0, 0], "roads": ["DA"], "support": 1, "breaks": "support"}
    assert verdict.reason == "A single road is in routes of only 1 trajectory of its slice, fewer than k = 3."


def test_a_route_that_others_begin_with_needs_no_search(monkeypatch):
    monkeypatch.setattr(subsequence_k_verifier, "WORK_LIMIT", 0)
    long = ["AB", "BC", "CD"]
    assert assert_agrees(of(long, long, long[:2], long[:1]), SubsequenceK(k=2)).holds
    # It begins with the same name in another slice, which does not help.
    other = of(long, long, long[:2], slices=[(0, 5), (0, 5), (5, 9)])
    assert not check_subsequence_k(other, SubsequenceK(k=2)).holds


def test_roads_that_repeat_must_repeat():
    there, back = ["AB", "BA"], ["AB", "BA", "AB"]
    assert assert_agrees(of(there, back, back), SubsequenceK(k=2)).holds
    verdict = assert_agrees(of(there, there, back), SubsequenceK(k=2))
    assert verdict.witness["roads"] in (["AB", "AB"], ["BA", "AB"])


def test_the_order_of_roads_matters():
    verdict = assert_agrees(of(["AB", "BA"], ["BA", "AB"]), SubsequenceK(k=2))
    assert verdict.witness["support"] == 1
    assert len(verdict.witness["roads"]) == 2
    assert verdict.reason.startswith("A sequence of 2 roads is in routes of only 1 trajectory")


# -------------------------------------------------------------------------------------------------- planted violations

LONG, SHORT = ["AB", "BC", "CD"], ["AB", "BC"]
RECORDS = [LONG, LONG, LONG, SHORT]


def test_good_data_hold():
    data = of(*RECORDS, owner=[0, 1, 2, 3])
    verdict = check_subsequence_k(data, SubsequenceK(k=3), original=data)
    assert verdict.holds
    assert verdict.not_judged == ()
    assert verdict.measured["foreign_roads"] == 0


def test_one_road_changed_in_one_trajectory():
    verdict = check_subsequence_k(of(*RECORDS[:3], ["AB", "BD"], owner=[0, 1, 2, 3]), SubsequenceK(k=3))
    assert verdict.witness == {"slice": [0, 0], "roads": ["BD"], "support": 1, "breaks": "support"}
    assert not verdict.holds
    assert verdict.measured["min_support_note"].startswith("the support of the witness")
    assert verdict.reason == "A single road is in routes of only 1 person of its slice, fewer than k = 3."


def test_one_owner_twice():
    verdict = check_subsequence_k(of(*RECORDS, owner=[0, 1, 1, 2]), SubsequenceK(k=3))
    assert not verdict.holds
    assert (verdict.witness["roads"], verdict.witness["support"]) == (["CD"], 2)
    # Two different routes of one person are one person as well.
    verdict = check_subsequence_k(of(LONG, LONG, [*LONG, "DA"], owner=[0, 1, 1]), SubsequenceK(k=3))
    assert not verdict.holds
    assert check_subsequence_k(of(LONG, SHORT, SHORT, LONG, owner=[0, 1, 0, 1]), SubsequenceK(k=2)).holds


def test_somebody_owns_too_much_of_what_contains_a_part():
    """AB is in three routes of one person and in one each of two others; whole routes are balanced by the others."""
    data = of(LONG, LONG, LONG, SHORT, ["AB"], owner=[0, 1, 2, 0, 0])
    verdict = assert_agrees(data, SubsequenceK(k=2))
    assert verdict.witness == {
        "slice": [0, 0], "roads": ["AB"], "of_one": 3, "trajectories": 5, "breaks": "share",
    }  # fmt: skip
    assert verdict.reason == (
        "One person owns 3 of the 5 trajectories that contain a single road, more than 1/2 of them."
    )
    assert verdict.measured["max_owner_share_note"].startswith("the share in the witness")
    assert assert_agrees(data, SubsequenceK(k=2, row_share="3/5")).holds


def test_a_share_that_only_the_search_can_judge():
    """Nothing begins with BC or CD but the routes of person 0; they are inside the routes of others."""
    data = of(LONG, LONG, LONG, LONG, ["BC"], ["CD"], owner=[1, 2, 3, 4, 0, 0])
    assert assert_agrees(data, SubsequenceK(k=2)).holds
    assert not assert_agrees(
        of(LONG, LONG, ["BC"], ["BC", "CD"], ["BC"], owner=[1, 2, 0, 0, 0]), SubsequenceK(k=2)
    ).holds


def test_a_share_that_cannot_be_certified_does_not_hold(monkeypatch):
    data = of(LONG, LONG, LONG, LONG, ["BC"], ["BC"], owner=[1, 2, 3, 4, 0, 0])
    assert check_subsequence_k(data, SubsequenceK(k=2)).holds
    monkeypatch.setattr(subsequence_k_verifier, "WORK_LIMIT", 300)
    verdict = check_subsequence_k(data, SubsequenceK(k=2))
    assert (verdict.holds, verdict.witness) == (False, None)
    assert "cannot be certified" in verdict.reason


def test_somebody_who_did_not_drive_there():
    data = of(*RECORDS, owner=[0, 1, 2, 3])
    elsewhere = of(LONG, LONG, LONG, ["BD"], owner=[0, 1, 2, 3])
    verdict = check_subsequence_k(data, SubsequenceK(k=3), original=elsewhere)
    assert verdict.witness == {"slice": [0, 0], "roads": SHORT, "breaks": "owner"}
    assert verdict.reason.startswith("1 published trajectory is of somebody who drove on none of its roads")
    assert not verdict.holds


def test_a_dummy_is_no_person():
    verdict = check_subsequence_k(of(*RECORDS, owner=[0, 1, -1, 2]), SubsequenceK(k=3))
    assert not verdict.holds
    assert verdict.witness["support"] == 2


def test_another_slice():
    data = of(*RECORDS, slices=[(0, 5), (0, 5), (0, 6), (0, 5)])
    verdict = assert_agrees(data, SubsequenceK(k=3))
    assert not verdict.holds
    assert assert_agrees(of(*RECORDS * 2, slices=[(0, 5)] * 4 + [(5, 9)] * 4), SubsequenceK(k=3)).holds
    assert assert_agrees(of(*RECORDS, SHORT, slices=[(0, 5)] * 4 + [(5, 9)]), SubsequenceK(k=3)).witness["slice"] == [
        5,
        9,
    ]


def test_a_jump_between_roads_that_do_not_meet():
    verdict = check_subsequence_k(of(*[["AB", "CD"]] * 3), SubsequenceK(k=3))
    assert not verdict.holds
    assert verdict.witness == {"roads": ["AB", "CD"], "nodes": ["B", "C"], "breaks": "path"}
    assert verdict.reason.endswith("3 places.")


@pytest.mark.parametrize(
    ("there", "word"),
    [
        ([road for road in ROADS if road[0] != "BC"], "absent"),
        ([("BC", "B", "E") if road[0] == "BC" else road for road in ROADS], "elsewhere"),
    ],
)
def test_a_road_that_the_network_does_not_have_so(there, word):
    names = {name for name, _, _ in there}
    driven = [[name for name in record if name in names] for record in RECORDS]
    original = Routes.from_records(driven, network=RoadNetwork.from_roads(there))
    verdict = check_subsequence_k(of(*RECORDS), SubsequenceK(k=3), original=original)
    assert not verdict.holds
    assert verdict.witness == {"road": "BC", "nodes": ["B", "C"], "network": word, "breaks": "network"}


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
def test_nothing_published_never_holds(records):
    verdict = check_subsequence_k(of(*records), SubsequenceK(k=2), original=of(LONG))
    assert not verdict.holds
    assert "nothing to judge" in verdict.reason
    assert verdict.measured["inference_routes"] is None


def test_k_larger_than_the_data():
    assert not check_subsequence_k(of(*RECORDS), SubsequenceK(k=1000)).holds


def test_trajectories_without_rows_are_not_published():
    verdict = check_subsequence_k(of(*RECORDS, []), SubsequenceK(k=3))
    assert verdict.holds
    assert verdict.measured["trajectories"] == 4
    assert not check_subsequence_k(of(LONG, LONG, []), SubsequenceK(k=3)).holds


def test_times_inside_a_slice_tell_people_apart():
    data = of(*RECORDS)
    late = data.t.copy()
    late[2] += 1
    assert not check_subsequence_k(replace(data, t=late), SubsequenceK(k=3)).holds


def test_what_is_not_certified_does_not_hold(monkeypatch):
    data = of(LONG, LONG, LONG, ["BC", "CD"])
    assert check_subsequence_k(data, SubsequenceK(k=3)).holds
    for limit in (0, 150):
        monkeypatch.setattr(subsequence_k_verifier, "WORK_LIMIT", limit)
        verdict = check_subsequence_k(data, SubsequenceK(k=3))
        assert not verdict.holds
        assert verdict.witness is None
        assert verdict.measured["min_support"] is None
        assert verdict.reason == (
            f"The support of all subsequences cannot be certified within the limit of {limit} steps, so the claim is "
            "not shown to hold."
        )
    # What needs no search is certified without it, and a path is judged all the same.
    assert check_subsequence_k(of(*RECORDS), SubsequenceK(k=3)).holds
    broken = check_subsequence_k(of(*[["AB", "CD"]] * 3, ["CD"]), SubsequenceK(k=3))
    assert broken.witness["breaks"] == "path"


def test_a_witness_that_cannot_be_shortened_in_time_is_a_witness(monkeypatch):
    data = of(LONG, LONG, ["BD", "DA", "AB"])
    monkeypatch.setattr(subsequence_k_verifier, "WORK_LIMIT", 103)
    verdict = check_subsequence_k(of(["BD"], LONG, LONG), SubsequenceK(k=2))
    assert verdict.witness["roads"] == ["BD"]
    monkeypatch.setattr(subsequence_k_verifier, "WORK_LIMIT", 310)
    verdict = check_subsequence_k(data, SubsequenceK(k=2))
    assert not verdict.holds
    assert verdict.witness["roads"] == ["BD", "DA", "AB"]
    assert verdict.witness["support"] == 1


def test_who_knows_less_exactly_may_find_more_of_one_person_and_is_listed():
    """Of AB, or of BC, one person owns half of the trajectories; of those with either, three of five."""
    data = of(["BC"], ["AB", "BC"], ["AB", "BC"], ["AB"], ["BC"], owner=[0, 1, 2, 0, 0])
    claim = SubsequenceK(k=2)
    assert check_subsequence_k(data, claim).holds
    assert any("such as one of two" in sentence for sentence in claim.not_covered)


def test_reason_and_witness_name_nobody():
    verdict = check_subsequence_k(of(*RECORDS, owner=[9001, 9002, 9002, 9003]), SubsequenceK(k=3))
    assert "900" not in str(verdict.witness) + verdict.reason
    assert "CD" not in verdict.reason
