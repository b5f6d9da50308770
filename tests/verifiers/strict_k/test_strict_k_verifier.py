"""The verifier of strict k-anonymity against the definition, written out with sets, and planted violations."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.claims import StrictK
from wayveil.model.data.routes import RoadNetwork, Routes
from wayveil.verifiers.common.inferred_routes import find_inference_routes
from wayveil.verifiers.strict_k import strict_k_verifier
from wayveil.verifiers.strict_k.strict_k_verifier import check_strict_k

ROADS = [("AB", "A", "B"), ("BA", "B", "A"), ("BC", "B", "C"), ("CD", "C", "D"), ("BD", "B", "D"), ("DA", "D", "A")]
NETWORK = RoadNetwork.from_roads(ROADS)
ENDS = {road: (a, b) for road, a, b in ROADS}

# ---------------------------------------------------------------------------------------------------- the definition


def span(data, i):
    return int(data.t_start[i]), int(data.t_end[i])


def who(data, i):
    return i if data.owners == "hidden" else int(data.owner[i])


def oracle_groups(data, original):
    """The owners of the trajectories with each route of a slice, None for those who do not count as people."""
    behind = defaultdict(list)
    for i in range(len(data)):
        if data.record(i):
            counts = original is None or who(data, i) < 0 or drove(data, i, original)
            behind[*span(data, i), *data.record(i)].append(who(data, i) if counts else None)
    return behind


def drove(data, i, original):
    if data.owners == "hidden":
        return True
    mine = [
        j for j in range(len(original)) if span(original, j) == span(data, i) and original.owner[j] == data.owner[i]
    ]
    return any(set(data.record(i)) & set(original.record(j)) for j in mine)


def oracle_untrue(data, original, k):
    """Trajectories of people who drove nothing of them; routes that are no part of a trip; roads of too few people."""
    filled = [i for i in range(len(data)) if data.record(i)]
    owners = sum(data.owner[i] >= 0 and not drove(data, i, original) for i in filled)
    routes, roads = set(), set()
    for i in filled:
        trips = [original.record(j) for j in range(len(original)) if span(original, j) == span(data, i)]
        route, n = data.record(i), len(data.record(i))
        if not any(trip[at : at + n] == route for trip in trips for at in range(len(trip))):
            routes.add((span(data, i), *route))
        for road in route:
            people = {
                int(original.owner[j])
                for j in range(len(original))
                if span(original, j) == span(data, i) and road in original.record(j)
            }
            if len(people) < k:
                roads.add((span(data, i), road))
    return owners, len(routes), len(roads)


def oracle_faults(groups, claim, hidden):
    """What is wrong with each route: too few behind it, too few people, or one who owns too much."""
    wrong = {"support": {}, "dummies": {}, "share": {}}
    for whole, owners in groups.items():
        people = Counter(one for one in owners if one is not None and one >= 0)
        dummies = sum(one is not None and one < 0 for one in owners) if claim.pad == "yes" else 0
        rows = sum(people.values()) + dummies
        if len(people) + dummies < claim.k:
            wrong["support"][whole] = len(people) + dummies
        if claim.pad == "yes" and not hidden and 2 * len(people) <= claim.k:
            wrong["dummies"][whole] = len(people)
        if people and Fraction(max(people.values()), rows) > claim.owner_share:
            wrong["share"][whole] = max(people.values())
    return wrong


def oracle_jumps(data):
    names = [data.record(i) for i in range(len(data))]
    return [(a, b) for record in names for a, b in itertools.pairwise(record) if ENDS[a][1] != ENDS[b][0]]


@st.composite
def published(draw):
    # Mostly paths: a walk of some steps, now and then a road from anywhere.
    def walk():
        route = [draw(st.sampled_from(ROADS))]
        for _ in range(draw(st.integers(0, 3))):
            after = [road for road in ROADS if road[1] == route[-1][2]]
            route.append(draw(st.sampled_from(ROADS if draw(st.integers(0, 9)) == 0 else after)))
        return [road for road, _, _ in route]

    kinds = [walk() for _ in range(draw(st.integers(1, 3)))]
    n = draw(st.integers(0, 12))
    data = Routes.from_records(
        [draw(st.sampled_from([*kinds, []])) for _ in range(n)],
        network=NETWORK,
        slices=[draw(st.sampled_from([(0, 5), (0, 5), (0, 5), (5, 9), (0, 9)])) for _ in range(n)],
        owner=[draw(st.integers(-2, 7)) for _ in range(n)],
    )
    return replace(data, owners=draw(st.sampled_from(["given", "given", "declared", "hidden"])))


@st.composite
def originals(draw, data):
    """What people may have driven: mostly what was published, sometimes elsewhere or at another time, and more."""
    trips = [
        (data.record(i), span(data, i), int(data.owner[i])) for i in range(len(data)) if draw(st.integers(0, 9)) < 9
    ]
    more = [(["AB", "BC"], (0, 5), draw(st.integers(0, 7))) for _ in range(draw(st.integers(0, 3)))]
    trips = [(roads, when, one if one >= 0 else 8) for roads, when, one in trips + more]
    return Routes.from_records(
        [roads for roads, _, _ in trips],
        network=NETWORK,
        slices=[when for _, when, _ in trips],
        owner=[one for _, _, one in trips],
    )


claims = st.builds(
    StrictK,
    k=st.integers(2, 3),
    pad=st.sampled_from(["no", "yes"]),
    row_share=st.sampled_from(["1/k", "1/k", "1/2", "3/5", "2/9", "1"]),
)


@given(published(), claims, st.data())
@settings(deadline=None, max_examples=400, derandomize=True)
def test_verdict_is_the_definition(data, claim, draw):
    original = draw.draw(originals(data)) if draw.draw(st.booleans()) else None
    verdict = check_strict_k(data, claim, original=original)
    groups, jumps = oracle_groups(data, original), oracle_jumps(data)
    known = data.owners == "given" or (data.owners == "declared" and (claim.pad == "no" or original is not None))
    if not groups:
        assert not verdict.holds
        assert verdict.measured["min_support"] is None
        assert "nothing to judge" in verdict.reason
        return
    wrong = oracle_faults(groups, claim, not known)
    untrue = (0, 0, 0) if original is None else oracle_untrue(data, original, claim.k)
    assert verdict.holds == (not any(wrong.values()) and not jumps and not any(untrue))
    assert (verdict.witness is None) == verdict.holds
    assert verdict.claim is claim
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    measured = verdict.measured
    people = {w: {one for one in ones if one is not None and one >= 0} for w, ones in groups.items()}
    assert measured["min_people"] == (min(map(len, people.values())) if known else None)
    with_rows = [i for i in range(len(data)) if data.record(i)]
    assert measured["routes"] == len(groups)
    assert measured["slices"] == len({whole[:2] for whole in groups})
    assert measured["trajectories"] == len(with_rows)
    assert measured["dummies"] == (sum(int(data.owner[i]) < 0 for i in with_rows) if known else None)
    assert measured["broken"] == len(jumps)
    assert measured["foreign_roads"] == (None if original is None else 0)
    assert measured["untrue"] == (None if original is None else sum(untrue))
    if any(untrue):
        assert verdict.witness["breaks"] == ("owner" if untrue[0] else "route" if untrue[1] else "road")
    elif any(wrong.values()):
        kind = next(kind for kind in ("support", "dummies", "share") if wrong[kind])
        assert verdict.witness["breaks"] == kind
        least = wrong[kind].values() if kind == "share" else [min(wrong[kind].values())]
        rare = [whole for whole, n in wrong[kind].items() if n in least]
        shortest = min(rare, key=lambda whole: (len(whole), whole))
        assert (*verdict.witness["slice"], *verdict.witness["roads"]) == shortest
    elif jumps:
        first = min(jumps)
        nodes = [ENDS[first[0]][1], ENDS[first[1]][0]]
        assert verdict.witness == {"roads": list(first), "nodes": nodes, "breaks": "path"}
    else:
        assert measured["inference_routes"] == 0


@given(published(), claims, st.data(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80, derandomize=True)
def test_order_and_codes_do_not_matter(data, claim, draw, random):
    original = draw.draw(originals(data))
    order = list(range(len(data)))
    random.shuffle(order)
    turned = data.take(np.array(order, np.int64))
    # The same roads under other codes, as a file in another order would give them.
    names = sorted(NETWORK.roads, key=lambda name: name[::-1])
    network = RoadNetwork.from_roads([(name, *ENDS[name]) for name in names])
    code = np.array([names.index(name) for name in NETWORK.roads])
    turned = replace(turned, network=network, road=code[turned.road])
    assert check_strict_k(turned, claim, original=original) == check_strict_k(data, claim, original=original)


# -------------------------------------------------------------------------------------------------- planted violations


def good(**changes):
    """Two routes in two slices, each of three people; every planted violation is one change to this."""
    records = [["AB", "BC", "CD"]] * 3 + [["BD", "DA"]] * 3 + [["AB", "BC", "CD"]] * 3
    slices = [(0, 5)] * 6 + [(5, 9)] * 3
    owner = [0, 1, 2, 3, 4, 5, 0, 1, 2]
    given = {"records": records, "slices": slices, "owner": owner, "network": NETWORK} | changes
    return Routes.from_records(given.pop("records"), **given)


def changed(values, at, value):
    return [value if i == at else one for i, one in enumerate(values)]


def elsewhere(roads):
    """The same trips on another network, without the roads that it does not have."""
    there = {name for name, _, _ in roads}
    records = [[name for name in record if name in there] for record in RECORDS]
    return good(records=records, network=RoadNetwork.from_roads(roads))


RECORDS = [["AB", "BC", "CD"]] * 3 + [["BD", "DA"]] * 3 + [["AB", "BC", "CD"]] * 3


def test_good_data_hold():
    verdict = check_strict_k(good(), StrictK(k=3), original=good())
    assert verdict.holds
    assert verdict.not_judged == ()
    assert verdict.reason == (
        "Each of the 3 routes is that of 3 people or more (k = 3), nobody owns more than 1/3 of the trajectories with "
        "one, all are connected paths, and there is no inference route."
    )


def test_one_road_changed_in_one_trajectory():
    verdict = check_strict_k(good(records=changed(RECORDS, 4, ["BD"])), StrictK(k=3))
    assert not verdict.holds
    assert verdict.witness == {"slice": [0, 5], "roads": ["BD"], "support": 1, "breaks": "support"}
    assert verdict.reason == "A route is that of only 1 person of its slice, fewer than k = 3."


def test_somebody_who_was_in_another_slice_is_not_there():
    data = good(owner=[0, 1, 5, 3, 4, 5, 0, 1, 2])
    original = good(owner=[0, 1, 2, 3, 4, 5, 0, 1, 5])  # person 5 drove the first route, but in the other slice
    assert check_strict_k(data, StrictK(k=3)).holds
    verdict = check_strict_k(data, StrictK(k=3), original=original)
    assert (verdict.holds, verdict.measured["min_support"], verdict.measured["untrue"]) == (False, 2, 2)
    assert verdict.witness == {"slice": [0, 5], "roads": ["AB", "BC", "CD"], "breaks": "owner"}
    assert verdict.reason == (
        "2 published trajectories are of somebody who drove on none of its roads in that slice of the original."
    )


def test_somebody_who_never_drove_any_road_of_it_is_not_there():
    data = good(owner=[0, 1, 3, 3, 4, 5, 0, 1, 2])  # person 3 drove BD, DA in that slice
    verdict = check_strict_k(data, StrictK(k=3), original=good())
    assert (verdict.holds, verdict.measured["untrue"], verdict.witness["breaks"]) == (False, 1, "owner")
    # One road of it is enough: people are published with the route of their cluster.
    near = good(records=changed(RECORDS, 2, ["CD", "DA"]))
    assert check_strict_k(good(), StrictK(k=2), original=near).holds


def test_a_route_that_nobody_drove_and_a_road_of_too_few():
    apart = good(records=[["AB", "BC"], ["BC", "CD"], ["AB", "BC"], *RECORDS[3:]])
    verdict = check_strict_k(good(), StrictK(k=2), original=apart)
    assert (verdict.holds, verdict.witness["breaks"], verdict.witness["roads"]) == (False, "route", ["AB", "BC", "CD"])
    assert verdict.reason == "1 of the published routes is no part of any trip of the slice."
    few = good(records=[["AB", "BC", "CD"], ["AB", "BC"], ["AB", "BC"], *RECORDS[3:]])
    verdict = check_strict_k(good(), StrictK(k=3), original=few)
    assert verdict.witness == {"slice": [0, 5], "roads": ["CD"], "breaks": "road"}
    assert verdict.reason == "On 1 of the published roads fewer than k = 3 people drove in that slice."


def test_one_person_with_two_hundred_trips():
    owner = [7] * 200 + [0, 1, 2]
    data = Routes.from_records([["AB"]] * 203, network=NETWORK, owner=owner)
    verdict = check_strict_k(data, StrictK(k=2))
    assert (verdict.holds, verdict.measured["min_support"]) == (False, 4)
    assert verdict.measured["max_owner_share"] == 200 / 203
    assert verdict.witness == {
        "slice": [0, 0], "roads": ["AB"], "of_one": 200, "trajectories": 203, "breaks": "share",
    }  # fmt: skip
    assert verdict.reason == ("One person owns 200 of the 203 trajectories with one route, more than 1/2 of them.")
    assert check_strict_k(data, StrictK(k=2, row_share="0.99")).holds
    assert check_strict_k(data.take(np.arange(197, 203)), StrictK(k=2)).holds


def test_dummies_are_rows_but_more_than_half_are_people():
    two = Routes.from_records([["AB"]] * 4, network=NETWORK, owner=[0, 1, -1, -2])
    verdict = check_strict_k(two, StrictK(k=4, pad="yes"))
    assert verdict.witness == {"slice": [0, 0], "roads": ["AB"], "people": 2, "breaks": "dummies"}
    assert verdict.reason == "A route is that of 2 people, not more than half of k = 4, and of dummies."
    assert check_strict_k(two, StrictK(k=3, pad="yes")).holds
    often = Routes.from_records([["AB"]] * 5, network=NETWORK, owner=[0, 0, 1, 2, -1])
    assert check_strict_k(often, StrictK(k=4, pad="yes")).witness["breaks"] == "share"


def test_one_owner_twice():
    verdict = check_strict_k(good(owner=[0, 1, 1, 3, 4, 5, 0, 1, 2]), StrictK(k=3))
    assert (verdict.holds, verdict.measured["min_support"], verdict.witness["slice"]) == (False, 2, [0, 5])
    assert verdict.reason == "A route is that of only 2 people of its slice, fewer than k = 3."


def test_a_dummy_is_no_person():
    data = good(owner=[0, 1, -1, 3, 4, 5, 0, 1, -2])
    verdict = check_strict_k(data, StrictK(k=3))
    assert (verdict.holds, verdict.measured["min_support"], verdict.measured["dummies"]) == (False, 2, 2)
    padded = check_strict_k(data, StrictK(k=3, pad="yes"), original=good())
    assert (padded.holds, padded.measured["min_support"], padded.measured["min_people"]) == (True, 3, 2)
    assert padded.measured["dummies"] == 2
    assert padded.counted == "owners"
    assert padded.reason == (
        "Each of the 3 routes is that of 3 people and dummies or more (k = 3), 2 or more of them people, nobody owns "
        "more than 1/3 of the trajectories with one, all are connected paths, and there is no inference route; 2 of 9 "
        "trajectories are dummies."
    )
    assert padded.not_judged == ()
    assert not check_strict_k(data, StrictK(k=4, pad="yes")).holds


def test_routes_of_dummies_alone_are_routes_of_nobody():
    verdict = check_strict_k(good(owner=[0, 1, 2, -1, -2, -3, 0, 1, 2]), StrictK(k=3))
    assert (verdict.holds, verdict.measured["min_support"], verdict.witness["roads"]) == (False, 0, ["BD", "DA"])


def test_assumed_owners_that_repeat_count_once():
    """Two parts of one input trajectory are not two people."""
    data = replace(good(owner=[0, 1, 1, 3, 4, 5, 0, 1, 2]), owners="declared")
    verdict = check_strict_k(data, StrictK(k=3))
    assert (verdict.holds, verdict.counted) == (False, "trajectories")
    assert verdict.reason == "A route is that of only 2 trajectories of its slice, fewer than k = 3."
    assert verdict.not_judged[0].startswith("support by owner: the data do not say")


def test_hidden_owners_are_trajectories_and_the_verdict_says_so():
    data = replace(good(), owners="hidden")
    verdict = check_strict_k(data, StrictK(k=3))
    assert verdict.holds
    assert verdict.counted == "trajectories"
    assert (verdict.measured["dummies"], verdict.measured["min_people"]) == (None, None)
    assert [part.split(":")[0] for part in verdict.not_judged] == ["support by owner", "the network", "the trips"]
    padded = check_strict_k(data, StrictK(k=3, pad="yes"))
    assert [part.split(":")[0] for part in padded.not_judged][:2] == ["support by owner", "dummies"]
    assert "dummies" not in padded.reason
    assumed = check_strict_k(replace(data, owners="declared"), StrictK(k=3, pad="yes"), original=good())
    assert [part.split(":")[0] for part in assumed.not_judged] == ["support by owner"]


def test_files_do_not_tell_which_trajectories_are_dummies():
    """Where each trajectory was declared a person, those of a padded file would all be taken for people."""
    data = replace(good(), owners="declared")
    padded = check_strict_k(data, StrictK(k=3, pad="yes"))
    assert padded.holds
    assert (padded.measured["dummies"], padded.measured["min_people"]) == (None, None)
    assert padded.not_judged[1] == "dummies: the files do not tell, so it is not known which trajectories are dummies"
    assert "dummies" not in padded.reason
    assert check_strict_k(data, StrictK(k=3)).measured["min_people"] == 3


def test_another_slice():
    verdict = check_strict_k(good(slices=[(0, 5)] * 5 + [(0, 6)] + [(5, 9)] * 3), StrictK(k=3))
    assert not verdict.holds
    assert verdict.witness["slice"] == [0, 6]
    assert verdict.measured["slices"] == 3


def test_the_rarest_route_is_shown_with_its_own_slice():
    data = Routes.from_records([["BD"], ["AB"]], network=NETWORK, slices=[(0, 5), (5, 9)])
    witness = check_strict_k(data, StrictK(k=2)).witness
    assert (witness["slice"], witness["roads"]) == ([0, 5], ["BD"])


def test_a_jump_between_roads_that_do_not_meet():
    verdict = check_strict_k(good(records=[["AB", "CD", "DA"]] * 3 + RECORDS[3:]), StrictK(k=3))
    assert not verdict.holds
    assert verdict.witness == {"roads": ["AB", "CD"], "nodes": ["B", "C"], "breaks": "path"}
    assert verdict.measured["broken"] == 3
    assert verdict.reason.endswith("3 places.")


def test_the_end_of_one_trajectory_and_the_begin_of_the_next_are_no_jump():
    assert check_strict_k(good(records=[["AB"]] * 9), StrictK(k=3)).measured["broken"] == 0


@pytest.mark.parametrize(
    ("there", "word"),
    [
        ([road for road in ROADS if road[0] != "BC"], "absent"),
        ([("BC", "B", "E") if road[0] == "BC" else road for road in ROADS], "elsewhere"),
        ([("BC", "E", "C") if road[0] == "BC" else road for road in ROADS], "elsewhere"),
    ],
)
def test_a_road_that_the_network_does_not_have_so(there, word):
    original = elsewhere(there)
    verdict = check_strict_k(good(), StrictK(k=3), original=original)
    assert not verdict.holds
    assert verdict.witness == {"road": "BC", "nodes": ["B", "C"], "network": word, "breaks": "network"}
    assert verdict.measured["foreign_roads"] == 1
    assert ("does not have" if word == "absent" else "other nodes") in verdict.reason
    without = check_strict_k(good(), StrictK(k=3))
    assert without.holds
    assert without.measured["foreign_roads"] is None
    assert [part.split(":")[0] for part in without.not_judged] == ["the network", "the trips"]


def test_the_network_is_compared_by_names_and_only_on_published_roads():
    assert check_strict_k(good(), StrictK(k=3), original=elsewhere([("ZZ", "Z", "Z"), *ROADS[::-1]])).holds
    fewer = [road for road in ROADS if road[0] != "BA"]  # never driven
    assert check_strict_k(good(), StrictK(k=3), original=elsewhere(fewer)).holds


def test_an_inference_route_fails_whatever_else_holds(monkeypatch):
    """By the theorem this cannot happen; if it does, a judge is wrong, and the verdict must not be good."""
    bad = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=NETWORK)
    found = find_inference_routes(bad, 3)
    monkeypatch.setattr(strict_k_verifier, "inference_routes_of", lambda *_: found)
    verdict = check_strict_k(good(), StrictK(k=3))
    assert not verdict.holds
    assert (verdict.witness["breaks"], verdict.witness["node"], verdict.witness["few"]) == ("inference", "B", 1)
    assert "1 intersection" in verdict.reason


@pytest.mark.parametrize("pad", ["no", "yes"])
@pytest.mark.parametrize("records", [[], [[]], [[], [], []]])
def test_nothing_published_never_holds(records, pad):
    verdict = check_strict_k(Routes.from_records(records, network=NETWORK), StrictK(k=2, pad=pad), original=good())
    assert not verdict.holds
    assert verdict.witness is None
    assert verdict.measured["trajectories"] == verdict.measured["routes"] == 0


def test_k_larger_than_the_data():
    assert not check_strict_k(good(), StrictK(k=1000)).holds
    assert not check_strict_k(good(), StrictK(k=1000, pad="yes")).holds


def test_trajectories_without_rows_are_not_published():
    data = good(records=[*RECORDS, []], slices=[(0, 5)] * 6 + [(5, 9)] * 3 + [(0, 5)], owner=[*range(6), 0, 1, 2, 8])
    verdict = check_strict_k(data, StrictK(k=3))
    assert verdict.holds
    assert verdict.measured["trajectories"] == 9


def test_times_inside_a_slice_tell_people_apart():
    data = good()
    late = data.t.copy()
    late[1:3] += 1
    verdict = check_strict_k(replace(data, t=late), StrictK(k=3))
    assert not verdict.holds
    assert "times of their own" in verdict.reason


def test_owners_from_nowhere_are_refused():
    verdict = check_strict_k(replace(good(), owners="guessed"), StrictK(k=3))
    assert not verdict.holds
    assert "nobody can be counted" in verdict.reason


def test_reason_and_witness_name_nobody():
    data = good(owner=[9001, 9002, 9002, 9003, 9004, 9005, 9001, 9002, 9006])
    verdict = check_strict_k(data, StrictK(k=3))
    assert "900" not in str(verdict.witness) + verdict.reason
    assert not any(f" {road}" in verdict.reason for road in NETWORK.roads)
