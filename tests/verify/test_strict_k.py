"""The verifier of strict k-anonymity against the definition, written out with sets, and planted violations."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model.claims import StrictK
from wayveil.model.routes import RoadNetwork, Routes
from wayveil.verify import strict_k
from wayveil.verify.inference_routes import find_inference_routes
from wayveil.verify.strict_k import check_strict_k

ROADS = [("AB", "A", "B"), ("BA", "B", "A"), ("BC", "B", "C"), ("CD", "C", "D"), ("BD", "B", "D"), ("DA", "D", "A")]
NETWORK = RoadNetwork.from_roads(ROADS)
ENDS = {road: (a, b) for road, a, b in ROADS}
ORIGINAL = Routes.from_records([["AB", "BD"]], network=NETWORK)

# ---------------------------------------------------------------------------------------------------- the definition


def oracle_support(data, pad):
    behind = defaultdict(set)
    for i in range(len(data)):
        if not data.record(i):
            continue
        whole = (int(data.t_start[i]), int(data.t_end[i]), *data.record(i))
        one = i if pad == "yes" or data.owners == "hidden" else int(data.owner[i])
        behind[whole] |= {one} if one >= 0 else set()
    return {whole: len(ones) for whole, ones in behind.items()}


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


@given(published(), st.integers(2, 3), st.sampled_from(["no", "yes"]), st.booleans())
@settings(deadline=None, max_examples=300)
def test_verdict_is_the_definition(data, k, pad, with_original):
    claim = StrictK(k=k, pad=pad)
    verdict = check_strict_k(data, claim, original=ORIGINAL if with_original else None)
    support, jumps = oracle_support(data, pad), oracle_jumps(data)
    if not support:
        assert not verdict.holds
        assert verdict.measured["min_support"] is None
        assert "nothing to judge" in verdict.reason
        return
    least = min(support.values())
    assert verdict.holds == (least >= k and not jumps)
    assert (verdict.witness is None) == verdict.holds
    assert verdict.claim is claim
    assert verdict.counted == ("owners" if data.owners == "given" and pad == "no" else "trajectories")
    with_rows = [i for i in range(len(data)) if data.record(i)]
    known = data.owners != "hidden"
    assert verdict.measured == {
        "min_support": least,
        "min_people": min(oracle_support(replace(data, owners="given"), "no").values()) if known else None,
        "routes": len(support),
        "slices": len({whole[:2] for whole in support}),
        "trajectories": len(with_rows),
        "rows": sum(len(data.record(i)) for i in with_rows),
        "roads": len({road for whole in support for road in whole[2:]}),
        "dummies": sum(int(data.owner[i]) < 0 for i in with_rows) if known else None,
        "broken": len(jumps),
        "foreign_roads": 0 if with_original else None,
        "inference_routes": find_inference_routes(
            data, k, count="people" if pad == "no" else "trajectories"
        ).intersections,
    }
    if least < k:
        rare = [whole for whole, ones in support.items() if ones == least]
        shortest = min(rare, key=lambda whole: (len(whole), whole))
        assert verdict.witness == {
            "slice": list(shortest[:2]),
            "roads": list(shortest[2:]),
            "support": least,
            "breaks": "support",
        }
    elif jumps:
        first = min(jumps)
        nodes = [ENDS[first[0]][1], ENDS[first[1]][0]]
        assert verdict.witness == {"roads": list(first), "nodes": nodes, "breaks": "path"}
    else:
        assert verdict.measured["inference_routes"] == 0


@given(published(), st.integers(2, 3), st.sampled_from(["no", "yes"]), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=80)
def test_order_and_codes_do_not_matter(data, k, pad, random):
    order = list(range(len(data)))
    random.shuffle(order)
    turned = data.take(np.array(order, np.int64))
    # The same roads under other codes, as a file in another order would give them.
    names = sorted(NETWORK.roads, key=lambda name: name[::-1])
    network = RoadNetwork.from_roads([(name, *ENDS[name]) for name in names])
    code = np.array([names.index(name) for name in NETWORK.roads])
    turned = replace(turned, network=network, road=code[turned.road])
    claim = StrictK(k=k, pad=pad)
    assert check_strict_k(turned, claim, original=ORIGINAL) == check_strict_k(data, claim, original=ORIGINAL)


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


RECORDS = [["AB", "BC", "CD"]] * 3 + [["BD", "DA"]] * 3 + [["AB", "BC", "CD"]] * 3


def test_good_data_hold():
    verdict = check_strict_k(good(), StrictK(k=3), original=ORIGINAL)
    assert verdict.holds
    assert verdict.not_judged == ()
    assert verdict.reason == (
        "Each of the 3 routes is that of 3 people or more (k = 3), a connected path, and no inference route."
    )


def test_one_road_changed_in_one_trajectory():
    verdict = check_strict_k(good(records=changed(RECORDS, 4, ["BD"])), StrictK(k=3))
    assert not verdict.holds
    assert verdict.witness == {"slice": [0, 5], "roads": ["BD"], "support": 1, "breaks": "support"}
    assert verdict.reason == "A route is that of only 1 person of its slice, fewer than k = 3."


def test_one_owner_twice():
    verdict = check_strict_k(good(owner=[0, 1, 1, 3, 4, 5, 0, 1, 2]), StrictK(k=3))
    assert (verdict.holds, verdict.measured["min_support"], verdict.witness["slice"]) == (False, 2, [0, 5])
    assert verdict.reason == "A route is that of only 2 people of its slice, fewer than k = 3."


def test_a_dummy_is_no_person():
    data = good(owner=[0, 1, -1, 3, 4, 5, 0, 1, -2])
    verdict = check_strict_k(data, StrictK(k=3))
    assert (verdict.holds, verdict.measured["min_support"], verdict.measured["dummies"]) == (False, 2, 2)
    padded = check_strict_k(data, StrictK(k=3, pad="yes"), original=ORIGINAL)
    assert (padded.holds, padded.measured["min_support"], padded.measured["min_people"]) == (True, 3, 2)
    assert padded.measured["dummies"] == 2
    assert padded.counted == "trajectories"
    assert padded.reason.endswith("; 2 of 9 trajectories are dummies.")
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
    assert [part.split(":")[0] for part in verdict.not_judged] == ["support by owner", "the network"]
    padded = check_strict_k(data, StrictK(k=3, pad="yes"))
    assert [part.split(":")[0] for part in padded.not_judged] == ["dummies", "the network"]
    assert "dummies" not in padded.reason
    assumed = check_strict_k(replace(data, owners="declared"), StrictK(k=3, pad="yes"), original=ORIGINAL)
    assert assumed.not_judged == ()


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
    original = Routes.from_records([], network=RoadNetwork.from_roads(there))
    verdict = check_strict_k(good(), StrictK(k=3), original=original)
    assert not verdict.holds
    assert verdict.witness == {"road": "BC", "nodes": ["B", "C"], "network": word, "breaks": "network"}
    assert verdict.measured["foreign_roads"] == 1
    assert ("does not have" if word == "absent" else "other nodes") in verdict.reason
    without = check_strict_k(good(), StrictK(k=3))
    assert without.holds
    assert without.measured["foreign_roads"] is None
    assert [part.split(":")[0] for part in without.not_judged] == ["the network"]


def test_the_network_is_compared_by_names_and_only_on_published_roads():
    others = RoadNetwork.from_roads([("ZZ", "Z", "Z"), *ROADS[::-1]])
    assert check_strict_k(good(), StrictK(k=3), original=Routes.from_records([], network=others)).holds
    fewer = RoadNetwork.from_roads([road for road in ROADS if road[0] != "BA"])  # never driven
    assert check_strict_k(good(), StrictK(k=3), original=Routes.from_records([], network=fewer)).holds


def test_an_inference_route_fails_whatever_else_holds(monkeypatch):
    """By the theorem this cannot happen; if it does, a judge is wrong, and the verdict must not be good."""
    bad = Routes.from_records([["AB", "BC"]] * 3 + [["AB"]], network=NETWORK)
    found = find_inference_routes(bad, 3)
    monkeypatch.setattr(strict_k, "inference_routes_of", lambda *_: found)
    verdict = check_strict_k(good(), StrictK(k=3))
    assert not verdict.holds
    assert (verdict.witness["breaks"], verdict.witness["node"], verdict.witness["few"]) == ("inference", "B", 1)
    assert "1 intersection" in verdict.reason


@pytest.mark.parametrize("pad", ["no", "yes"])
@pytest.mark.parametrize("records", [[], [[]], [[], [], []]])
def test_nothing_published_never_holds(records, pad):
    verdict = check_strict_k(Routes.from_records(records, network=NETWORK), StrictK(k=2, pad=pad), original=ORIGINAL)
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
