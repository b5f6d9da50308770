"""The verifier of (k,delta)-anonymity against the definition, with every set written out, and planted violations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import hypot, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.model import Frame, KDelta, Points
from wayveil.verifiers.kdelta import kdelta_sets, kdelta_verifier, pairs_within_delta
from wayveil.verifiers.kdelta.kdelta_verifier import check_kdelta

DELTA = 100.0


# ---------------------------------------------------------------------------------------------------- the definition


def together_(one, other, limit, one_curve=False):
    """Same timestamps, and at most `limit` apart at each; for one curve always in the same direction."""
    close = len(one) == len(other) and all(
        t == u and hypot(x - v, y - w) <= limit for (t, x, y), (u, v, w) in zip(one, other, strict=True)
    )
    return close and (
        not one_curve or len({(x - v, y - w) for (_, x, y), (_, v, w) in zip(one, other, strict=True)}) == 1
    )


def oracle(data, claim):
    """Whether each published trajectory is in a set of k people that are pairwise together, literally."""
    records = [data.record(i) for i in range(len(data))]
    owner = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    published = [i for i in range(len(data)) if records[i]]
    largest = max([1.0, *(abs(c) for r in records for _, x, y in r for c in (x, y))])
    limit = claim.delta + (min(1e-3, 1e-9 * largest) if claim.delta else 0)
    good = {
        (i, j) for i, j in combinations(published, 2)
        if owner[i] != owner[j]
        and together_(records[i], records[j], limit, claim.delta > 0 and claim.placement == "random")
    }  # fmt: skip

    def in_a_set(i):
        others = [j for j in published if (min(i, j), max(i, j)) in good]
        return any(
            all(pair in good for pair in combinations(some, 2))
            and len({owner[i], *(owner[j] for j in some)}) >= claim.k
            for some in combinations(others, claim.k - 1)
        )

    def dominates(person):
        """Whether any of a person's trajectories, and all of others that are together with one, are mostly theirs."""
        own = [i for i in published if owner[i] == person]
        return any(
            size > claim.owner_share * (size + len({j for j in published for i in some if sorted((i, j)) in near}))
            for size in range(1, len(own) + 1)
            for some in combinations(own, size)
        )

    near = [sorted(pair) for pair in good]
    return bool(published) and all(in_a_set(i) for i in published) and not any(map(dominates, set(owner)))


def assert_agrees(data, claim):
    verdict = check_kdelta(data, claim)
    assert verdict.holds == oracle(data, claim)
    assert verdict.claim is claim
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    by_chance = claim.delta > 0 and claim.placement == "random"
    assert len(verdict.not_judged) == (data.owners == "hidden") + by_chance
    assert "cannot" not in verdict.reason
    measured = verdict.measured
    assert measured["trajectories"] == int((np.diff(data.offsets) > 0).sum())
    assert measured["points"] == data.n_rows
    if verdict.holds:
        assert verdict.witness is None
        assert measured["certified"] == measured["trajectories"]
        assert measured["min_support"] >= claim.k
        assert measured["max_distance_m"] <= claim.delta + measured["tolerance_m"]
    elif data.n_rows and verdict.witness["breaks"] == "share":
        own, others = verdict.witness["own"], verdict.witness["others"]
        assert Fraction(own, own + others) > claim.owner_share
        assert measured["max_owner_share"] == own / (own + others)
        assert measured["certified"] == measured["trajectories"]
    elif data.n_rows:
        assert measured["certified"] < measured["trajectories"]
        assert measured["min_support"] < claim.k
        assert (verdict.witness["people"] < claim.k) == (verdict.witness["breaks"] != "set")
        assert verdict.witness["start"] in [list(data.record(i)[0]) for i in range(len(data)) if data.record(i)]
    return verdict


# -------------------------------------------------------------------------------------------------------- random data


@st.composite
def crowds(draw):
    times = draw(st.sampled_from([[0], [0, 5], [0, 5, 7], [-3, 2**40]]))
    coordinate = st.integers(0, draw(st.sampled_from([1, 2, 4]))).map(float)
    n = draw(st.integers(1, 9))
    records = []
    for _ in range(n):
        kept = [t for t in times if draw(st.integers(0, 14))]
        records.append([(t, draw(coordinate), draw(coordinate)) for t in kept])
    records += [records[i] for i in draw(st.lists(st.integers(0, n - 1), max_size=4))]
    owners = st.sampled_from([0, 1, 2, 3, 2**62] if draw(st.booleans()) else list(range(20)))
    data = Points.from_records(records, owner=[draw(owners) for _ in records])
    return replace(data, owners=draw(st.sampled_from(["given", "given", "declared", "hidden"])))


claims = st.builds(
    KDelta,
    k=st.integers(2, 5),
    delta=st.sampled_from([0, 0.5, 1, sqrt(2), 2, sqrt(5), 3, 4, sqrt(32), 1e200]),
    placement=st.sampled_from(["nearest", "nearest", "random"]),
    row_share=st.sampled_from(["1/k", "1/k", Fraction(2, 3), Fraction(2, 5), Fraction(1, 7), Fraction(1)]),
)


@given(crowds(), claims)
@settings(deadline=None, max_examples=250)
def test_verdict_is_the_definition(data, claim):
    assert_agrees(data, claim)


@given(crowds(), claims)
@settings(deadline=None, max_examples=120)
def test_verdict_is_the_definition_when_every_set_needs_the_exact_search(data, claim):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kdelta_sets, "gather", lambda *_, **__: None)
        assert_agrees(data, claim)


@given(crowds(), claims)
@settings(deadline=None, max_examples=120)
def test_verdict_is_the_definition_when_boxes_are_tried_on_all(data, claim):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kdelta_sets, "_FEW", 1)
        patch.setattr(pairs_within_delta, "CHUNK", 3)
        assert_agrees(data, claim)


@st.composite
def trips(draw):
    """Few people, one to six trips each, in few places: enough people nearly always, and now and then one dominates."""
    places = st.integers(0, draw(st.sampled_from([1, 3, 6]))).map(float)
    many = draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))
    owner = [person for person, trips in enumerate(many) for _ in range(trips)][:14]
    return Points.from_records([[(0, draw(places), 0.0)] for _ in owner], owner=owner)


@given(trips(), st.integers(2, 3), st.sampled_from([0, 1, 2, 3]), st.sampled_from(["1/k", Fraction(2, 5)]))
@settings(deadline=None, max_examples=250)
def test_verdict_is_the_definition_where_people_have_several_trips(data, k, delta, row_share):
    assert_agrees(data, KDelta(k=k, delta=delta, row_share=row_share))


def drawn(close, delta=DELTA):
    """Trajectories that are together exactly where `close` says: a time for each other pair, where it is apart."""
    n = len(close)
    apart = [(i, j) for i, j in combinations(range(n), 2) if not close[i][j]]
    x = np.full((n, len(apart) + 1), 0.75 * delta)
    for time, (i, j) in enumerate(apart):
        x[i, time], x[j, time] = 0.0, 1.5 * delta
    x += np.linspace(0, 1e-3, n)[:, None]  # no two the same
    return [[(t, float(v), 0.0) for t, v in enumerate(row)] for row in x]


@st.composite
def graphs(draw):
    n = draw(st.integers(2, 9))
    close = np.eye(n, dtype=bool)
    for i, j in combinations(range(n), 2):
        close[i, j] = close[j, i] = draw(st.integers(0, 4)) > 0
    owner = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    return Points.from_records(drawn(close), owner=owner)


@given(graphs(), st.integers(2, 6))
@settings(deadline=None, max_examples=200)
def test_any_pattern_of_who_is_close_to_whom(data, k):
    assert_agrees(data, KDelta(k=k, delta=DELTA))


@given(crowds(), claims, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=100)
def test_order_and_names_of_owners_do_not_matter(data, claim, random):
    order = list(range(len(data)))
    random.shuffle(order)
    moved = data.take(np.array(order))
    moved = replace(moved, owner=(moved.owner % 1000) * 7 + 1)
    one, other = check_kdelta(data, claim), check_kdelta(moved, claim)
    assert (one.holds, one.measured, one.witness, one.reason) == (
        other.holds, other.measured, other.witness, other.reason,
    )  # fmt: skip


@given(crowds(), claims)
@settings(deadline=None, max_examples=100)
def test_far_from_the_origin_the_verdict_is_the_same(data, claim):
    moved = replace(data, x=data.x + 1e6, y=data.y - 1e6)
    assert check_kdelta(moved, claim).holds == check_kdelta(data, claim).holds


# ------------------------------------------------------------------------------------------------- planted violations

K, GROUPS, TIMES = 5, 400, 12


def convoys(*, owner=None):
    """400 groups of exactly k = 5, whose first and last are exactly delta apart all the time; as arrays."""
    rng = np.random.default_rng(7)
    route = np.cumsum(rng.integers(-300, 300, (GROUPS, TIMES, 2)), axis=1) + rng.integers(0, 10**5, (GROUPS, 1, 2))
    route[:, 0, 0] = np.arange(GROUPS) * 1000  # groups are apart from each other at the first time
    x = np.repeat(route[:, :, 0].astype(float), K, axis=0) + np.tile(np.linspace(0, DELTA, K), GROUPS)[:, None]
    y = np.repeat(route[:, :, 1].astype(float), K, axis=0)
    t = np.tile(np.arange(TIMES) * 60, (GROUPS * K, 1))
    return t, x, y, np.arange(GROUPS * K)


def published(t, x, y, owner):
    n = len(x)
    order = np.random.default_rng(3).permutation(n)
    return Points(
        offsets=np.arange(n + 1) * t.shape[1], t=t[order].ravel(), x=x[order].ravel(), y=y[order].ravel(),
        owner=owner[order], owners="given",
    )  # fmt: skip


CLAIM = KDelta(k=K, delta=DELTA)


def test_a_publication_without_violation_holds():
    verdict = check_kdelta(published(*convoys()), CLAIM)
    assert verdict.holds
    assert verdict.measured["min_support"] == K
    assert verdict.measured["sets"] == GROUPS
    assert verdict.measured["certified"] == GROUPS * K
    assert verdict.measured["max_distance_m"] == pytest.approx(DELTA)
    assert verdict.reason == (
        "Each of the 2,000 trajectories is in a set of 5 people or more (k = 5) that are at most 100 m apart at all "
        "times, and nobody owns more than 1/5 of what looks alike."
    )


@pytest.mark.parametrize("victim", [0, 4, 1004, 1999 - 4])
@pytest.mark.parametrize("time", [0, 5, TIMES - 1])
def test_one_centimetre_at_one_time_of_one_in_thousands_is_found(victim, time):
    t, x, y, owner = convoys()
    x[victim, time] += 0.01 if victim % K else -0.01
    verdict = check_kdelta(published(t, x, y, owner), CLAIM)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "companions"
    assert verdict.witness["people"] == K - 1
    first = [[0, v, w] for v, w in zip(x[:, 0].tolist(), y[:, 0].tolist(), strict=True)]
    assert first.index(verdict.witness["start"]) // K == victim // K
    assert verdict.witness["points"] == TIMES
    assert "only 4 people within 100 m" in verdict.reason


def test_less_than_the_tolerance_is_rounding():
    t, x, y, owner = convoys()
    x[4, 3] += 1e-6
    assert 1e-6 < check_kdelta(published(t, x, y, owner), CLAIM).measured["tolerance_m"] <= 1e-3
    assert check_kdelta(published(t, x, y, owner), CLAIM).holds


@pytest.mark.parametrize("far", [0.0, 1e6, 5e7, 1e12])
def test_a_centimetre_is_found_wherever_the_frame_is(far):
    t, x, y, owner = convoys()
    x, y = x + far, y - far
    assert check_kdelta(published(t, x, y, owner), CLAIM).holds
    y[4, 3] += sqrt((DELTA + 0.01) ** 2 - DELTA**2)
    assert not check_kdelta(published(t, x, y, owner), CLAIM).holds


def test_an_owner_who_is_there_twice_counts_once():
    t, x, y, owner = convoys()
    owner[7] = owner[8]
    verdict = check_kdelta(published(t, x, y, owner), CLAIM)
    assert not verdict.holds
    assert verdict.witness["people"] == K - 1
    assert check_kdelta(replace(published(t, x, y, owner), owners="declared"), CLAIM).holds


@pytest.mark.parametrize("delta", [0, DELTA])
def test_twenty_trips_of_one_person_do_not_hide_behind_one_of_another(delta):
    data = Points.from_records([[(0, 5.0, 5.0)]] * 21, owner=[7] * 20 + [8])
    verdict = check_kdelta(data, KDelta(k=2, delta=delta))
    assert not verdict.holds
    assert verdict.measured["min_support"] == 2
    assert verdict.measured["max_owner_share"] == 20 / 21
    assert {key: verdict.witness[key] for key in ("breaks", "people", "own", "others")} == {
        "breaks": "share", "people": 2, "own": 20, "others": 1,
    }  # fmt: skip
    assert verdict.reason.endswith("so 95.24 % of them are of the same person, more than 1/2.")
    assert check_kdelta(data, KDelta(k=2, delta=delta, row_share=Fraction(20, 21))).holds
    assert check_kdelta(replace(data, owners="declared"), KDelta(k=2, delta=delta)).holds


def test_a_trip_that_is_there_once_more_is_found_among_thousands():
    t, x, y, owner = convoys()
    t, x, y, owner = (np.concatenate([rows, rows[:1]]) for rows in (t, x, y, owner))
    x[-1] += 1.0
    verdict = check_kdelta(published(t, x, y, owner), CLAIM)
    assert not verdict.holds
    assert (verdict.witness["breaks"], verdict.witness["own"], verdict.witness["others"]) == ("share", 2, 4)


def test_companions_serve_only_one_trip_of_a_person():
    """Each trip of one person has three others within reach, but the two in the middle are the same for both."""
    rows = [[(0, x, 0.0)] for x in (0.0, 100.0, -90.0, 10.0, 90.0, 190.0)]
    owner = [1, 1, 2, 3, 4, 5]
    assert check_kdelta(Points.from_records(rows, owner=owner), KDelta(k=3, delta=100, row_share=Fraction(1, 3))).holds
    fewer = Points.from_records(rows[:-1], owner=owner[:-1])
    verdict = check_kdelta(fewer, KDelta(k=2, delta=100, row_share=Fraction(1, 3)))
    assert (verdict.witness["breaks"], verdict.witness["own"], verdict.witness["others"]) == ("share", 2, 3)


@given(st.randoms(use_true_random=False), st.integers(2, 4))
@settings(deadline=None, max_examples=60)
def test_clusters_in_which_nobody_dominates_are_enough_wherever_they_are(random, k):
    """Clusters that overlap: around a person of one cluster another one may show mostly trips of that same person."""
    records, owner = [], []
    for _ in range(random.randint(1, 5)):
        centre = random.randint(0, 6) * DELTA / 4
        many = {person: random.randint(1, 4) for person in random.sample(range(k + 3), random.randint(k, k + 2))}
        while max(many.values()) * k > sum(many.values()):
            many[max(many, key=many.get)] -= 1
        for person in [person for person, trips_ in many.items() for _ in range(trips_)]:
            records.append([(0, centre + random.randint(0, 4) * DELTA / 4, 0.0)])
            owner.append(person)
    assert check_kdelta(Points.from_records(records, owner=owner), KDelta(k=k, delta=DELTA)).holds


def test_one_shifted_timestamp_is_found():
    t, x, y, owner = convoys()
    t[11, 4] += 1
    verdict = check_kdelta(published(t, x, y, owner), CLAIM)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "timestamps"
    assert verdict.witness["people"] == 1
    assert "timestamps that only 1 person share" in verdict.reason


def test_one_missing_timestamp_is_found():
    data = published(*convoys())
    keep = np.ones(data.n_rows, bool)
    keep[5 * TIMES - 1] = False
    verdict = check_kdelta(data.where(keep), CLAIM)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "timestamps"
    assert verdict.witness["points"] == TIMES - 1


def test_a_group_of_k_minus_one_is_found():
    t, x, y, owner = convoys()
    keep = np.arange(GROUPS * K) != 77
    verdict = check_kdelta(published(t[keep], x[keep], y[keep], owner[keep]), CLAIM)
    assert not verdict.holds
    assert verdict.measured["min_support"] == K - 1
    assert verdict.measured["certified"] == (GROUPS - 1) * K


def test_an_unpublished_trajectory_is_no_companion():
    data = published(*convoys())
    keep = np.ones(data.n_rows, bool)
    keep[:TIMES] = False
    verdict = check_kdelta(data.where(keep), CLAIM)
    assert not verdict.holds
    assert verdict.measured["trajectories"] == GROUPS * K - 1


def test_an_equilateral_triangle_is_pairwise_together():
    corners = [(0.0, 0.0), (DELTA, 0.0), (DELTA / 2, DELTA * sqrt(3) / 2)]  # no disc of radius delta / 2 holds them
    data = Points.from_records([[(0, x, y)] for x, y in corners])
    assert check_kdelta(data, KDelta(k=3, delta=DELTA)).holds
    assert not check_kdelta(data, KDelta(k=3, delta=DELTA - 0.01)).holds


def test_companions_that_are_not_together_are_no_set():
    data = Points.from_records([[(0, x, y)] for x, y in [(0.0, 0.0), (DELTA, 0.0), (DELTA, DELTA), (0.0, DELTA)]])
    verdict = check_kdelta(data, KDelta(k=3, delta=DELTA))
    assert not verdict.holds
    assert {key: verdict.witness[key] for key in ("breaks", "people", "together")} == {
        "breaks": "set", "people": 3, "together": 2,
    }  # fmt: skip
    assert verdict.measured["min_support"] == 2
    assert verdict.reason == (
        "A trajectory has 3 trajectories within 100 m at all times, itself included, but no set of k = 3 of them that "
        "are so close to each other (the largest such set has 2)."
    )


def test_companions_one_by_one_are_not_enough():  # everybody has a companion at each time, never the same
    rows = [[(0, 0.0, 0.0), (1, 0.0, 0.0)], [(0, 1.0, 0.0), (1, 900.0, 0.0)], [(0, 900.0, 0.0), (1, 1.0, 0.0)]]
    assert not check_kdelta(Points.from_records(rows), KDelta(k=2, delta=DELTA)).holds


# ---------------------------------------------------------------------------------------------- many, same, and close


def test_thousands_of_equal_trajectories_are_judged_once(monkeypatch):
    monkeypatch.setattr(kdelta_verifier, "DISTANCE_LIMIT", 0)
    n = 30_000
    data = Points(
        offsets=np.arange(n + 1), t=np.zeros(n), x=np.arange(n) // 3000 * 1e4, y=np.zeros(n), owner=np.arange(n)
    )
    verdict = check_kdelta(data, KDelta(k=3000, delta=DELTA))
    assert verdict.holds
    assert (verdict.measured["sets"], verdict.measured["min_support"]) == (10, 3000)
    assert not check_kdelta(data, KDelta(k=3001, delta=DELTA)).holds


@pytest.mark.parametrize("start", range(5))
def test_the_smallest_set_is_told(start):
    sizes = [5, 6, 8, 3, 7, 9]  # which one is met last depends on where they are
    records = [[(0, start + 1e4 * i + j, 0.0)] for i, size in enumerate(sizes) for j in range(size)]
    verdict = check_kdelta(Points.from_records(records), KDelta(k=2, delta=DELTA))
    assert (verdict.measured["min_support"], verdict.measured["sets"]) == (3, 6)
    assert verdict.measured["max_distance_m"] == 8.0


@pytest.mark.parametrize("k", [10, 700])
def test_a_crowd_in_one_place_needs_no_pairs(monkeypatch, k):
    n, times = 6_000, 10
    monkeypatch.setattr(kdelta_verifier, "DISTANCE_LIMIT", n * n * times // 20)
    rng = np.random.default_rng(1)
    x, y = rng.uniform(0, DELTA / 2, (2, n, times))
    data = Points(
        offsets=np.arange(n + 1) * times, t=np.tile(np.arange(times), n), x=x.ravel(), y=y.ravel(), owner=np.arange(n)
    )
    verdict = check_kdelta(data, KDelta(k=k, delta=DELTA))
    assert verdict.holds
    assert verdict.measured["certified"] == n


def test_few_telling_candidates_are_followed_by_all():
    """Hundreds are nearer at the times looked at first, but far at another; the true companions are still found."""
    rng = np.random.default_rng(0)
    n, times = 600, 40
    x, y = rng.uniform(0, 30, (2, n, times))
    x[:, 1] = np.repeat(np.arange(n // 3), 3) * 500.0
    data = Points(
        offsets=np.arange(n + 1) * times, t=np.tile(np.arange(times), n), x=x.ravel(), y=y.ravel(), owner=np.arange(n)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_within_delta, "_telling_times", lambda x, y: np.array([0, 2, 3, 4]))
        patch.setattr(kdelta_verifier, "STEP_LIMIT", 0)  # without the exact search
        assert check_kdelta(data, KDelta(k=3, delta=DELTA)).holds
        verdict = check_kdelta(data, KDelta(k=4, delta=DELTA))
    assert not verdict.holds
    assert verdict.witness["people"] == 3


def test_too_few_companions_are_not_compared_with_each_other(monkeypatch):
    data = Points.from_records([[(0, x, 0.0)] for x in (0.0, 1.0, 900.0, 901.0)])
    monkeypatch.setattr(kdelta_verifier, "DISTANCE_LIMIT", 2)  # one looks at another, at few times and at all
    assert check_kdelta(data, KDelta(k=3, delta=DELTA)).witness["people"] == 2
    monkeypatch.setattr(kdelta_verifier, "DISTANCE_LIMIT", 1)
    assert "cannot be certified" in check_kdelta(data, KDelta(k=3, delta=DELTA)).reason


def test_nobody_is_looked_up_twice_without_need(monkeypatch):
    asked = []
    near = pairs_within_delta.Movers.near
    monkeypatch.setattr(pairs_within_delta.Movers, "near", lambda self, *how: asked.append(how[0]) or near(self, *how))
    data = Points.from_records([[(0, 300.0 * i, 0.0)] for i in range(9)])
    assert not check_kdelta(data, KDelta(k=2, delta=DELTA)).holds
    assert sorted(asked) == list(range(9))
    asked.clear()
    assert check_kdelta(published(*convoys()), CLAIM).holds
    assert len(asked) == GROUPS


def test_sets_are_grown_before_they_are_searched_for(monkeypatch):
    monkeypatch.setattr(kdelta_sets, "gather", lambda *_, **__: None)
    monkeypatch.setattr(kdelta_sets, "search", lambda *_, **__: pytest.fail("the exact search was not needed"))
    assert check_kdelta(published(*convoys()), CLAIM).holds


def test_delta_zero_means_the_same():
    rows = [[(0, 1.5, -0.0), (4, 2.0, 3.0)], [(0, 1.5, 0.0), (4, 2.0, 3.0)]]
    verdict = check_kdelta(Points.from_records(rows), KDelta(k=2, delta=0))
    assert verdict.holds
    assert verdict.measured["tolerance_m"] == 0
    assert (
        verdict.reason
        == "Each of the 2 trajectories is in a set of 2 trajectories or more (k = 2) that are all the same."
    )
    rows[1][1] = (4, float(np.nextafter(2.0, 3.0)), 3.0)
    verdict = check_kdelta(Points.from_records(rows), KDelta(k=2, delta=0))
    assert not verdict.holds
    assert verdict.witness["people"] == 1
    assert "in the same places" in verdict.reason


# ------------------------------------------------------------------------------------------------ what is not certain


def joined_pentagons(count):
    n = 5 * count
    close = np.ones((n, n), bool)
    for p in range(count):
        for i in range(5):
            one, other = 5 * p + i, 5 * p + (i + 2) % 5
            close[one, other] = close[other, one] = False
    return Points.from_records(drawn(close))


def test_what_cannot_be_certified_does_not_hold(monkeypatch):
    data, claim = joined_pentagons(7), KDelta(k=15, delta=DELTA)
    monkeypatch.setattr(kdelta_verifier, "STEP_LIMIT", 2_000)
    verdict = check_kdelta(data, claim)
    assert not verdict.holds
    assert verdict.witness is None
    assert verdict.measured["min_support"] is None
    assert "cannot be certified within the limits of" in verdict.reason
    assert " 2,000 steps" in verdict.reason
    monkeypatch.undo()
    verdict = check_kdelta(joined_pentagons(3), KDelta(k=7, delta=DELTA))
    assert not verdict.holds
    assert verdict.witness["together"] == 6
    assert check_kdelta(joined_pentagons(3), KDelta(k=6, delta=DELTA)).holds


def test_how_many_are_together_is_counted():
    verdict = check_kdelta(joined_pentagons(3), KDelta(k=9, delta=DELTA))
    assert (verdict.witness["people"], verdict.witness["together"]) == (13, 6)


def test_nothing_holds_that_was_not_certified(monkeypatch):
    monkeypatch.setattr(kdelta_verifier, "judge", lambda *_: None)
    assert not check_kdelta(published(*convoys()), CLAIM).holds


def test_how_many_are_together_may_remain_open(monkeypatch):
    data, claim = joined_pentagons(3), KDelta(k=7, delta=DELTA)
    least = next(n for n in range(100, 10**5, 5) if _with_steps(monkeypatch, n, data, claim).witness)
    verdict = _with_steps(monkeypatch, least, data, claim)
    assert verdict.witness["together"] is None
    assert verdict.measured["min_support"] is None
    assert verdict.reason.endswith("that are so close to each other.")


def _with_steps(monkeypatch, steps, data, claim):
    monkeypatch.setattr(kdelta_verifier, "STEP_LIMIT", steps)
    return check_kdelta(data, claim)


@pytest.mark.parametrize("limit", [0, 100, 1000, 10_000])
def test_too_few_distances_never_help(monkeypatch, limit):
    monkeypatch.setattr(kdelta_verifier, "DISTANCE_LIMIT", limit)
    verdict = check_kdelta(published(*convoys()), CLAIM)
    assert not verdict.holds
    assert "cannot be certified" in verdict.reason
    assert verdict.measured["certified"] < GROUPS * K


def test_too_many_companions_cannot_be_certified(monkeypatch):
    monkeypatch.setattr(pairs_within_delta, "MOST_PAIRWISE", 5)
    monkeypatch.setattr(kdelta_sets, "MOST_PAIRWISE", 5)
    assert check_kdelta(joined_pentagons(2), KDelta(k=2, delta=DELTA)).holds
    verdict = check_kdelta(joined_pentagons(3), KDelta(k=6, delta=DELTA))
    assert not verdict.holds
    assert "cannot be certified" in verdict.reason


def test_a_certain_failure_is_told_even_if_the_rest_is_too_much_work(monkeypatch):
    """A loner who has a turn before the limit is a certain failure; its turn depends on where it is."""
    pairs = [[(0, 1000.0 * (i // 2) + i % 2, 0.0)] for i in range(60)]
    claim, told = KDelta(k=2, delta=DELTA), set()
    monkeypatch.setattr(kdelta_verifier, "DISTANCE_LIMIT", 90)
    assert "cannot be certified" in check_kdelta(Points.from_records(pairs), claim).reason
    for place in range(20):
        verdict = check_kdelta(Points.from_records([*pairs, [(0, 1e5 + place, 0.0)]]), claim)
        assert not verdict.holds
        told.add("cannot be certified" if verdict.witness is None else verdict.witness["people"])
    assert told == {"cannot be certified", 1}


def test_certain_failures_are_looked_for_before_hard_searches(monkeypatch):
    monkeypatch.setattr(kdelta_verifier, "STEP_LIMIT", 0)
    hard = joined_pentagons(3)
    records = [hard.record(i) for i in range(len(hard))]
    claim = KDelta(k=7, delta=DELTA)
    assert "cannot be certified" in check_kdelta(hard, claim).reason
    for start in range(6):
        apart = [[(-1 - start, 1e4 * i, 0.0)] for i in range(7)]  # seven with timestamps of their own, but apart
        verdict = check_kdelta(Points.from_records([*records, *apart]), claim)
        assert verdict.witness["breaks"] == "companions"


# ---------------------------------------------------------------------------------------------------- owners and frames


def pair(**changes):
    return replace(Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)]], owner=[3, 4]), **changes)


def test_hidden_owners_are_not_counted():
    verdict = check_kdelta(pair(owners="hidden", owner=np.array([5, 5])), KDelta(k=2, delta=1))
    assert verdict.holds  # codes prove nothing there
    assert verdict.counted == "trajectories"
    assert verdict.not_judged == (
        "support by owner: the owners are withheld, so it is known how many trajectories move together, not whether "
        "they belong to 2 different people of whom nobody owns more than 1/2 of them",
    )


@pytest.mark.parametrize("odd", [-1, -(2**63)])
def test_a_negative_owner_is_nobody(odd):
    verdict = check_kdelta(pair(owner=np.array([3, odd])), KDelta(k=2, delta=1))
    assert not verdict.holds
    assert "negative owner code" in verdict.reason
    unpublished = replace(
        Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)], []]), owner=np.array([3, 4, odd]), owners="given"
    )
    assert check_kdelta(unpublished, KDelta(k=2, delta=1)).holds


def test_huge_owners_are_people_like_others():
    assert check_kdelta(pair(owner=np.array([2**63 - 1, 2**63 - 2])), KDelta(k=2, delta=1)).holds
    assert not check_kdelta(pair(owner=np.array([2**63 - 1, 2**63 - 1])), KDelta(k=2, delta=1)).holds


def test_odd_dtypes_are_read_as_numbers():
    data = Points(
        offsets=np.array([0, 2, 4], np.uint8), t=np.array([0, 1, 0, 1], np.int8), x=np.array([1, 2, 1, 2], np.float32),
        y=np.array([[0, 0, 0, 0]] * 2, ">f8")[0], owner=np.array([250, 251], np.uint8), owners="given",
    )  # fmt: skip
    assert check_kdelta(data, KDelta(k=2, delta=0)).holds


@pytest.mark.parametrize("records", [[], [[]], [[], [], []]])
def test_nothing_published_never_holds(records):
    for delta in (0, 5):
        verdict = check_kdelta(Points.from_records(records), KDelta(k=2, delta=delta))
        assert not verdict.holds
        assert verdict.measured["min_support"] is None
        assert verdict.reason == "There is no published position, so there is nothing to judge."


def broken(**columns):
    data = pair()
    for name, values in columns.items():
        object.__setattr__(data, name, values)
    return data


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (broken(x=np.array([0.0, np.nan])), "not a number"),
        (broken(y=np.array([np.inf, np.inf])), "not a number"),
        (broken(x=np.array([-1e101, -1e101])), "not a number"),
        (broken(x=np.zeros(3)), "differ in length"),
        (broken(offsets=np.array([0, 2])), "do not add up"),
        (broken(offsets=np.array([0, 2, 1, 2]), owner=np.arange(3)), "do not add up"),
        (broken(offsets=np.array([1, 1, 2])), "do not add up"),
        (broken(offsets=np.array([0, 2, 2])), "does not increase"),
        (broken(owners="mine"), "where the owners come from"),
    ],
)
def test_what_a_constructor_refuses_is_not_trusted_here(data, word):
    verdict = check_kdelta(data, KDelta(k=2, delta=1))
    assert not verdict.holds
    assert word in verdict.reason


def in_degrees(records, owner=None):
    lon, lat = (np.array([row[i] for r in records for row in r]) for i in (1, 2))
    frame = Frame.for_degrees(lon, lat)
    x, y = frame.to_metres(lon, lat)
    return replace(Points.from_records(records, owner=owner, frame=frame), x=x, y=y)


def test_degrees_are_judged_in_metres_and_told_in_degrees():
    data = in_degrees([[(0, 23.75, 37.95)], [(0, 23.751, 37.95)]])
    verdict = check_kdelta(data, KDelta(k=2, delta=88))
    assert verdict.holds
    assert verdict.measured["tolerance_m"] == 1.5e-4
    assert 87 < verdict.measured["max_distance_m"] <= 88
    verdict = check_kdelta(data, KDelta(k=2, delta=verdict.measured["max_distance_m"] - 0.01))
    assert not verdict.holds
    assert verdict.witness["start"][2] == pytest.approx(37.95, abs=1e-9)
    assert verdict.witness["start"][1] in (pytest.approx(23.75, abs=1e-9), pytest.approx(23.751, abs=1e-9))


def test_near_the_origin_degrees_have_the_tolerance_of_their_decimals():
    data = replace(pair(), frame=Frame.for_degrees(np.zeros(1), np.zeros(1)))
    assert check_kdelta(data, KDelta(k=2, delta=5)).measured["tolerance_m"] == 1.5e-4
    assert check_kdelta(pair(), KDelta(k=2, delta=5)).measured["tolerance_m"] == 1e-9


def test_equal_degrees_are_the_same():
    data = in_degrees([[(0, 23.7512345, 37.95)], [(0, 23.7512345, 37.95)]])
    assert check_kdelta(data, KDelta(k=2, delta=0)).holds
    data = in_degrees([[(0, 23.7512345, 37.95)], [(0, float(np.nextafter(23.7512345, 24)), 37.95)]])
    assert not check_kdelta(data, KDelta(k=2, delta=0)).holds


@pytest.mark.parametrize("scale", ["x_scale", "y_scale"])
def test_a_frame_that_makes_the_world_small_does_not_help(scale):
    data = in_degrees([[(0, 23.75, 37.95)], [(0, 23.85, 38.05)]])
    assert not check_kdelta(data, KDelta(k=2, delta=9_500)).holds
    assert check_kdelta(data, KDelta(k=2, delta=14_500)).holds
    small = replace(data.frame, **{scale: 10.0})
    x, y = small.to_metres(*data.frame.to_file(data.x, data.y))
    verdict = check_kdelta(replace(data, x=x, y=y, frame=small), KDelta(k=2, delta=14_000))
    assert not verdict.holds


@given(st.lists(st.integers(-899, 899), min_size=1, max_size=4), st.integers(-1800, 1799))
@settings(deadline=None, max_examples=100)
def test_a_frame_made_for_the_data_is_not_stretched(tenths, lon):
    data = in_degrees([[(0, lon / 10, lat / 10)] for lat in tenths])
    assert kdelta_sets._stretch(data) == (1.0, 1.0)
