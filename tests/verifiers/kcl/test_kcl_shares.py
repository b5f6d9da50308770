"""Shares of time judged one by one against the whole table judged at once."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import UsageError
from wayveil.model import Coded, KclPrivacy, Visits
from wayveil.verifiers import check_kcl
from wayveil.verifiers.kcl.kcl_shares import KclShare, cut_share, join_shares, judge_share

VALUES = {"ill": ["flu", "HIV", "none"], "job": ["spy", "baker"]}
SENSITIVE = {"ill": ["HIV", "flu", "plague"], "job": ["spy"]}  # plague never occurs
TIMES = [-7, 0, 1, 5, 2**40, 2**63 - 1]


def judge(data, claim, cuts, groups=(1,)):
    """Judge every span between cuts, the places of span i in groups[i] groups."""
    found = []
    for i, (first, until) in enumerate(pairwise(cuts)):
        many = groups[i % len(groups)]
        for which in range(many):
            share = {"first": first, "until": until, "places": (which, many)}
            found.append(judge_share(cut_share(data, **share), claim, **share))
    return found


def joined(data, claim, shares, **changes):
    lengths = np.diff(data.offsets)
    size = {
        "trajectories": int((lengths > 0).sum()),
        "visits": data.n_visits,
        "pairs": int((lengths * (lengths - 1) // 2).sum()),
        "owners": data.owners,
    }
    return join_shares(shares, claim, **{**size, **changes})


def assert_same(one, two):
    for field in fields(one):
        assert getattr(one, field.name) == getattr(two, field.name), field.name


@st.composite
def tables(draw, max_records=7):
    n = draw(st.integers(1, max_records))
    places = st.sampled_from(["b", "a", "c"][: draw(st.integers(1, 3))])
    visit_maps = st.dictionaries(st.sampled_from(TIMES), places, max_size=5)
    records = [[(place, t) for t, place in sorted(draw(visit_maps).items())] for _ in range(n)]
    if draw(st.booleans()):  # repeats make claims that hold likely
        records, n = records * 3, n * 3
    attributes = {
        name: draw(st.lists(st.sampled_from([*values, *values, None]), min_size=n, max_size=n))
        for name, values in VALUES.items()
    }
    codes = st.sampled_from([0, 1, 2, -5, 2**62, 9])
    owner = draw(st.lists(codes, min_size=n, max_size=n) if draw(st.booleans()) else st.permutations(range(n)))
    data = Visits.from_records(records, attributes=attributes, owner=owner)
    return replace(data, owners=draw(st.sampled_from(["given", "declared", "hidden"])))


claims = st.builds(
    KclPrivacy,
    k=st.integers(1, 4),
    c=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]),
    l=st.integers(1, 4),
    sensitive=st.sampled_from([{}, {"ill": ["HIV"]}, SENSITIVE, {"nothing": ["at all"]}]),
)
cuts = st.sets(st.sampled_from([-8, -7, -1, 0, 1, 2, 4, 5, 6, 2**40, 2**40 + 1, 2**63 - 1]), max_size=6).map(
    lambda inner: sorted({-100, *inner, 2**63})
)


@settings(deadline=None, max_examples=300)
@given(tables(), claims, cuts, st.lists(st.integers(1, 3), min_size=1), st.randoms(use_true_random=False))
def test_joined_shares_give_the_verdict_on_the_whole(data, claim, cuts, groups, random):
    shares = judge(data, claim, cuts, groups)
    random.shuffle(shares)
    assert_same(joined(data, claim, shares), check_kcl(data, claim))


@settings(deadline=None, max_examples=100)
@given(tables(), claims, cuts)
def test_a_share_has_its_own_sequences_only(data, claim, cuts):
    for share in judge(data, claim, cuts):
        assert share.worst is None or share.first <= share.worst.sequence[0][0] < share.until
        assert share.worst is None or max(share.by_length) <= share.worst.length
        assert share.refusal or share.visits == int(((data.t >= share.first) & (data.t < share.until)).sum())


@settings(deadline=None, max_examples=100)
@given(tables(), claims, cuts)
def test_pieces_of_a_table_are_cut_one_by_one(data, claim, cuts):
    """The table is spread over machines by trajectory; what each cuts, put together, is the cut of the whole."""
    halves = [data.take(np.arange(0, len(data), 2)), data.take(np.arange(1, len(data), 2))]
    for a, b in pairwise(cuts):
        cut = [cut_share(half, first=a, until=b) for half in halves]
        records = [piece.record(i) for piece in cut for i in range(len(piece))]
        whole = cut_share(data, first=a, until=b)
        assert sorted(records) == sorted(whole.record(i) for i in range(len(whole)))
        later = [[visit for visit in data.record(i) if visit[1] >= a] for i in range(len(data))]
        assert sorted(records) == sorted(record for record in later if record and record[0][1] < b)


DATA = Visits.from_records(
    [[("a", 1), ("b", 3), ("c", 5)], [("a", 1), ("b", 3), ("c", 5)], [("b", 3)], [("b", 3), ("c", 5)]],
    attributes={"ill": ["yes", "no", "no", "no"]},
    owner=[0, 1, 2, 3],
)
CLAIM = KclPrivacy(k=2, c="1/2", l=2, sensitive={"ill": ["yes"]})
SHARES = judge(DATA, CLAIM, [0, 2, 4, 6])


def test_example_holds():
    assert joined(DATA, CLAIM, SHARES).holds
    assert [share.visits for share in SHARES] == [2, 4, 3]
    assert [share.trajectories for share in SHARES] == [2, 4, 3]


@pytest.mark.parametrize(
    ("shares", "word"),
    [
        (SHARES[:1] + SHARES[2:], "gap"),
        (SHARES + SHARES[1:2], "overlap"),
        (judge(DATA, CLAIM, [0, 2, 4]) + judge(DATA, CLAIM, [3, 6]), "overlap"),
        (SHARES[:2], "add up"),
        (SHARES[1:], "add up"),
        ([replace(SHARES[0], visits=3), *SHARES[1:]], "add up"),
        ([], "add up"),
        ([replace(SHARES[0], claim=replace(CLAIM, k=1)), *SHARES[1:]], "another claim"),
        ([replace(SHARES[0], owners="hidden"), *SHARES[1:]], "other owners"),
        ([SHARES[0], replace(SHARES[1], refusal="Nothing."), SHARES[2]], "Nothing."),
        ([SHARES[0], replace(SHARES[1], by_length={}), SHARES[2]], "not judged"),
        ([replace(share, by_length={}) for share in SHARES], "not judged"),
    ],
)
def test_what_is_not_the_whole_table_fails(shares, word):
    verdict = joined(DATA, CLAIM, shares)
    assert not verdict.holds
    assert word in verdict.reason
    assert verdict.measured["min_support"] is None
    assert verdict.witness is None
    assert verdict.measured["visits"] == 9


@pytest.mark.parametrize("trajectories", [3, 10])
def test_trajectories_that_do_not_fit_fail(trajectories):
    assert "trajectories" in joined(DATA, CLAIM, SHARES, trajectories=trajectories).reason
    assert not joined(DATA, CLAIM, SHARES, trajectories=trajectories).holds
    assert joined(DATA, CLAIM, SHARES, trajectories=9).holds  # cannot be told from shares


@pytest.mark.parametrize(
    ("first", "until", "word"), [(2, 9, "before its time"), (0, 1, "begin with a visit of its own")]
)
def test_data_of_another_share_are_refused(first, until, word):
    share = judge_share(DATA, CLAIM, first=first, until=until)
    assert word in share.refusal
    assert not share.by_length
    assert not joined(DATA, CLAIM, [share]).holds


@pytest.mark.parametrize("late", [2, 5])
def test_one_trajectory_that_begins_too_late_is_refused(late):
    """The end of a span is not in it."""
    data = Visits.from_records([[("a", 1)], [("a", 1)], [("a", late)]])
    claim = KclPrivacy(k=2, c=1, l=2)
    assert "begin with a visit of its own" in judge_share(data, claim, first=0, until=2).refusal
    assert not judge_share(data, claim, first=0, until=late + 1).refusal
    early = Visits.from_records([[("a", late)], [("a", 1), ("a", late)]])
    assert "before its time" in judge_share(early, claim, first=late, until=9).refusal
    assert not judge_share(early, claim, first=1, until=9).refusal


def test_trajectories_without_visits_are_in_no_share():
    data = Visits.from_records([[], [("a", 1)], [], [("a", 1)], []])
    share = judge_share(data, KclPrivacy(k=2, c=1, l=2), first=0, until=2)
    assert (share.refusal, share.visits, share.trajectories) == ("", 2, 2)
    assert_same(joined(data, share.claim, [share]), check_kcl(data, share.claim))


def test_a_share_that_lacks_later_visits_is_found_out():
    """Without the last visits of its trajectories a share has fewer sequences to judge, and all its own visits."""
    cut = cut_share(DATA, first=2, until=4)
    short = judge_share(cut.where(cut.t < 5), CLAIM, first=2, until=4)
    assert (short.visits, short.refusal) == (4, "")
    shares = [SHARES[0], short, SHARES[2]]
    assert "lacks visits" in joined(DATA, CLAIM, shares).reason
    assert not joined(DATA, CLAIM, shares).holds
    assert joined(DATA, CLAIM, SHARES).holds
    assert "lacks visits" in joined(DATA, CLAIM, SHARES, pairs=0).reason


def test_groups_of_places_share_a_span():
    shares = judge(DATA, CLAIM, [0, 9], [3])
    assert [share.places for share in shares] == [(0, 3), (1, 3), (2, 3)]
    assert sorted(share.visits for share in shares) == [0, 3, 6]  # none; c; a and b
    assert_same(joined(DATA, CLAIM, shares[::-1]), check_kcl(DATA, CLAIM))
    for wrong in (
        shares[:2],
        [*shares, shares[0]],
        [shares[0], shares[0], shares[2]],
        [replace(shares[0], places=(0, 2)), *shares[1:]],
        [*shares[:2], replace(shares[2], places=(3, 4))],
    ):
        assert "gap" in joined(DATA, CLAIM, wrong).reason
        assert not joined(DATA, CLAIM, wrong).holds
    one, two = (cut_share(DATA, first=0, until=9, places=(i, 2)) for i in (0, 1))
    assert all(
        "of its own" in judge_share(cut, CLAIM, first=0, until=9, places=(i, 2)).refusal
        for i, cut in [(1, one), (0, two)]
    )
    for places in ((1, 1), (-1, 2), (0, 0)):
        with pytest.raises(UsageError, match="0 <= i < n"):
            cut_share(DATA, first=0, until=9, places=places)


def test_a_visit_at_the_end_belongs_to_the_next_share():
    early, late = judge(DATA, CLAIM, [0, 3, 6])
    assert (early.visits, late.visits) == (2, 7)
    assert early.by_length[1].sequences == 1
    assert late.by_length[1].sequences == 2


def test_one_bad_share_breaks_the_whole():
    """In the last share only: the rare visit is found by its judge alone, and named."""
    data = Visits.from_records([*[DATA.record(i) for i in range(4)], [("z", 6)]], attributes={"ill": ["no"] * 5})
    shares = judge(data, CLAIM, [0, 2, 4, 9])
    assert [share.worst is None for share in shares] == [True, True, False]
    verdict = joined(data, CLAIM, shares)
    assert verdict.witness["sequence"] == [["z", 6]]
    assert_same(verdict, check_kcl(data, CLAIM))


def test_ties_are_decided_by_time_and_name_across_shares():
    """Two sequences of two visits with the same support in different shares; each judge has names in another order."""
    shared = [[("b", 1)], [("c", 2)], [("a", 8)], [("d", 9)]] * 2
    data = Visits.from_records([[("c", 2), ("d", 9)], [("b", 1), ("a", 8)], *shared])
    claim = KclPrivacy(k=2, c=1, l=3)
    verdict = joined(data, claim, judge(data, claim, [0, 2, 20]))
    assert verdict.witness["sequence"] == [["b", 1], ["a", 8]]
    assert_same(verdict, check_kcl(data, claim))


def test_longer_sequences_of_other_shares_are_not_counted():
    """The late share breaks at one visit, so pairs that the early one judged do not count."""
    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)], [("z", 9)]])
    claim = KclPrivacy(k=2, c=1, l=2)
    verdict = joined(data, claim, judge(data, claim, [0, 5, 10]))
    assert verdict.measured["sequences"] == 3
    assert_same(verdict, check_kcl(data, claim))


def test_values_are_told_in_the_order_of_the_claim():
    """In the late share only the second value is carried, so it is the first one of its own table."""
    data = Visits.from_records(
        [[("a", 1)], [("a", 1)], [("b", 9)], [("b", 9)]], attributes={"ill": ["x", None, "y", "y"]}
    )
    claim = KclPrivacy(k=1, c="1/2", l=1, sensitive={"ill": ["x", "y"]})
    late = data.take(np.array([2, 3]))
    (share,) = judge(late, claim, [5, 10])
    assert share.worst.value == 1
    assert joined(late, claim, [share]).witness["sensitive"] == ["ill", "y"]


def test_sequences_of_any_length_need_the_whole_table():
    claim = replace(CLAIM, l="all")
    with pytest.raises(UsageError, match="whole table"):
        judge_share(DATA, claim, first=0, until=9)
    with pytest.raises(UsageError, match="whole table"):
        join_shares([], claim, owners="given", trajectories=0, visits=0, pairs=0)


@pytest.mark.parametrize(("first", "until"), [(3, 3), (4, 3), (float("nan"), 9), (0, float("nan"))])
def test_a_share_must_have_a_time(first, until):
    with pytest.raises(UsageError, match="end after it begins"):
        judge_share(DATA, CLAIM, first=first, until=until)
    with pytest.raises(UsageError, match="end after it begins"):
        cut_share(DATA, first=first, until=until)


def test_refusals_are_those_of_the_whole():
    missing = KclPrivacy(k=2, c="1/2", l=2, sensitive={"job": ["spy"]})
    assert_same(joined(DATA, missing, judge(DATA, missing, [0, 2, 4, 6, 99])), check_kcl(DATA, missing))
    wrong = replace(DATA, owners="unknown")
    assert_same(joined(wrong, CLAIM, judge(wrong, CLAIM, [0, 2, 6])), check_kcl(wrong, CLAIM))
    empty = Visits.from_records([[], []], attributes={"ill": ["yes", "no"]})
    assert_same(joined(empty, CLAIM, judge(empty, CLAIM, [0, 2, 6])), check_kcl(empty, CLAIM))
    assert_same(joined(empty, CLAIM, []), check_kcl(empty, CLAIM))
    wrong = replace(empty, owners="unknown")
    assert_same(joined(wrong, CLAIM, judge(wrong, CLAIM, [0, 2, 6])), check_kcl(wrong, CLAIM))
    nobody = Visits.from_records([])
    assert_same(joined(nobody, CLAIM, judge(nobody, CLAIM, [0, 6])), check_kcl(nobody, CLAIM))


def test_a_share_in_which_nothing_begins_is_empty():
    found = judge_share(cut_share(DATA, first=7, until=9), CLAIM, first=7, until=9)
    assert found == KclShare(claim=CLAIM, owners="given", first=7, until=9)
    assert (found.places, found.visits, found.trajectories, found.pairs, found.refusal) == ((0, 1), 0, 0, 0, "")
    assert_same(joined(DATA, CLAIM, [*SHARES, replace(found, first=6)]), check_kcl(DATA, CLAIM))


def test_missing_values_count_as_each_value():
    data = replace(DATA, attributes={"ill": Coded(codes=np.array([-1, 1, 1, -1]), labels=("no", "other"))})
    verdict = joined(data, CLAIM, judge(data, CLAIM, [0, 2, 4, 6]))
    assert verdict.measured["max_confidence_exact"] == "2/3"
    assert_same(verdict, check_kcl(data, CLAIM))


def test_a_share_is_small_and_travels():
    many = Visits.from_records([[("a", 1), ("b", 2), ("c", 3)]] * 5000, attributes={"ill": ["no"] * 5000})
    (share,) = judge(many, CLAIM, [0, 9])
    text = pickle.dumps(share)
    assert len(text) < 2000
    assert pickle.loads(text) == share
    assert isinstance(share, KclShare)
