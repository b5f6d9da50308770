"""Sequences of any length: the verifier, which lists none of them, against all subsets of all trajectories."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_sequences import base, common_parts
from sequence_counts import judge_sequences

from wayveil.model import KclPrivacy, Visits
from wayveil.verifiers import check_kcl
from wayveil.verifiers.kcl import kcl_any_length

VALUES = {"ill": ["flu", "HIV", "none"], "job": ["spy", "baker"]}
SENSITIVE = {"ill": ["HIV", "flu", "plague"], "job": ["spy"]}  # plague never occurs


# ---------------------------------------------------------------------------------------------------- the definition


SHARES = ("owner_share", "confidence", "confidence_trajectories")
BREAKS = ("support", *SHARES)


class Oracle:
    """The counts behind any sequence, literally, and all the sequences that occur."""

    def __init__(self, data, claim):
        self.hidden = data.owners == "hidden"
        self.records = [frozenset(data.record(i)) for i in range(len(data))]
        values = {name: a.values() for name, a in data.attributes.items()}
        owner = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
        sensitive = [(attribute, value) for attribute, wanted in claim.sensitive for value in wanted]
        self.counts = judge_sequences(self.records, owner, values, sensitive, "all")
        for counts in self.counts.values():
            counts["owner_share"] = {None: counts["owner_share"]}
            if self.hidden:
                n = counts["support"]
                counts["confidence"] = {
                    s: Fraction(1, 1 + n - int(share * n)) if share else Fraction(0)
                    for s, share in counts["confidence_trajectories"].items()
                }
        self.least = min((counts["support"] for counts in self.counts.values()), default=0)
        self.largest = {
            kind: max(
                (share for counts in self.counts.values() for share in counts[kind].values()), default=Fraction(0)
            )
            for kind in SHARES
        }

    def broken(self, claim):
        """What is broken, in the order in which it is shown."""
        found = ["support"] if self.least < claim.k else []
        return found + [kind for kind in SHARES if self.largest[kind] > allowed(claim, kind)]

    def breaks(self, q, claim, kind, sensitive):
        counts = self.counts[q]
        if kind == "support":
            return counts["support"] < claim.k
        return counts[kind][tuple(sensitive) if sensitive else None] > allowed(claim, kind)


def allowed(claim, kind):
    return claim.owner_share if kind == "owner_share" else claim.c


def ratio(share):
    return f"{share.numerator}/{share.denominator}"


def assert_agrees(data, claim):
    verdict, oracle = check_kcl(data, claim), Oracle(data, claim)
    if not oracle.counts:
        assert not verdict.holds
        assert "nothing to judge" in verdict.reason
        return verdict
    assert verdict.holds == (not oracle.broken(claim))
    sequences = verdict.measured["sequences"]
    expected = {
        "min_support": oracle.least,
        "sequences": sequences,
        "trajectories": sum(map(bool, oracle.records)),
        "visits": data.n_visits,
    }
    for kind, largest in oracle.largest.items():
        expected |= {f"max_{kind}": float(largest), f"max_{kind}_exact": ratio(largest)}
    assert verdict.measured == expected
    assert sequences >= len({r for r in oracle.records if r})
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    assert bool(verdict.not_judged) == oracle.hidden
    assert_witness(verdict, oracle, claim)
    return verdict


def assert_witness(verdict, oracle, claim):
    """It breaks the claim, says so rightly, and no single visit of it can be dropped."""
    witness = verdict.witness
    if verdict.holds:
        assert witness is None
        return
    kind = witness["breaks"]
    assert kind == oracle.broken(claim)[0]
    pairs = [tuple(pair) for pair in witness["sequence"]]
    assert pairs == sorted(pairs, key=lambda pair: pair[1])
    q = frozenset(pairs)
    counts = oracle.counts[q]
    assert oracle.breaks(q, claim, kind, witness["sensitive"])
    assert witness["support"] == counts["support"]
    assert witness["owner_share"] == (ratio(counts[kind][None]) if kind == "owner_share" else None)
    if kind in SHARES[1:]:
        assert witness["confidence"] == ratio(counts[kind][tuple(witness["sensitive"])])
    else:
        assert witness["confidence"] is witness["sensitive"] is None
    for visit in q if len(q) > 1 else ():
        assert not oracle.breaks(q - {visit}, claim, kind, witness["sensitive"])


# ------------------------------------------------------------------------------------------------------ random tables


@st.composite
def tables(draw, max_records=10):
    n = draw(st.integers(1, max_records))
    places = st.sampled_from(["a", "b"][: draw(st.integers(1, 2))])
    visit_maps = st.dictionaries(st.sampled_from([-7, 0, 1, 5, 9, 2**40]), places, max_size=6)
    records = [[(place, t) for t, place in sorted(draw(visit_maps).items())] for _ in range(n)]
    if draw(st.booleans()):  # repeats make claims that hold likely
        records, n = records * 3, n * 3
    attributes = {
        name: draw(st.lists(st.sampled_from([*values, *values, None]), min_size=n, max_size=n))
        for name, values in VALUES.items()
    }
    codes = st.sampled_from([0, 1, 2, -5, 2**62, -(2**63), 2**63 - 1, 9])
    owner = draw(st.lists(codes, min_size=n, max_size=n) if draw(st.booleans()) else st.permutations(range(n)))
    data = Visits.from_records(records, attributes=attributes, owner=owner)
    return replace(data, owners=draw(st.sampled_from(["given", "given", "declared", "hidden"])))


claims = st.builds(
    KclPrivacy,
    k=st.integers(1, 4),
    c=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(3, 5), Fraction(1)]),
    l=st.just("all"),
    sensitive=st.sampled_from([{}, {"ill": ["HIV"]}, SENSITIVE, SENSITIVE]),
    row_share=st.sampled_from(["1/k", "1/k", Fraction(2, 3), Fraction(1), Fraction(1, 5)]),
)


@settings(deadline=None, max_examples=400)
@given(tables(), claims)
def test_verdict_is_the_definition(data, claim):
    assert_agrees(data, claim)


@settings(deadline=None, max_examples=100)
@given(tables(max_records=25), claims)
def test_agrees_with_the_listing_of_sequences(data, claim):
    listed = check_kcl(data, replace(claim, l=6))
    found = check_kcl(data, claim)
    assert found.holds == listed.holds
    if listed.holds:
        for name in ("min_support", *(f"max_{kind}_exact" for kind in SHARES), "trajectories", "visits"):
            assert found.measured[name] == listed.measured[name]


@settings(deadline=None, max_examples=60)
@given(tables(), claims)
def test_measured_values_are_the_tightest_claim_that_holds(data, claim):
    loose = check_kcl(data, replace(claim, k=1, c=1, row_share=Fraction(1)))
    if not loose.measured["sequences"]:
        return
    k, row_share = loose.measured["min_support"], Fraction(loose.measured["max_owner_share_exact"])
    c = max(Fraction(loose.measured[f"max_{kind}_exact"]) for kind in SHARES[1:])
    tight = replace(claim, k=k, c=c, row_share=row_share)
    little = Fraction(1, 10**30)
    assert assert_agrees(data, tight).holds
    assert assert_agrees(data, replace(tight, k=k + 1)).witness["breaks"] == "support"
    assert assert_agrees(data, replace(tight, row_share=row_share - little)).witness["breaks"] == "owner_share"
    if c:
        assert "confidence" in assert_agrees(data, replace(tight, c=c - little)).witness["breaks"]


@settings(deadline=None, max_examples=120)
@given(tables(), claims, st.sampled_from([0, 2000, 12_000, 30_000, 60_000]))
def test_without_the_exact_search_the_verdict_is_the_same_and_says_what_it_knows(data, claim, limit):
    exact = check_kcl(data, claim)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kcl_any_length, "EXACT_LIMIT", limit)
        found = check_kcl(data, claim)
    assert found.holds == exact.holds
    for kind in SHARES:
        met, largest = found.measured[f"max_{kind}_exact"], exact.measured[f"max_{kind}_exact"]
        note = found.measured.get(f"max_{kind}_note")
        if note is None:
            assert met == largest
            continue
        assert Fraction(met) <= Fraction(largest)
        if "at most" in note:
            assert Fraction(largest) <= allowed(claim, kind)
        assert not found.holds or "at most" in note
    if not found.holds and found.witness:
        q = frozenset(tuple(pair) for pair in found.witness["sequence"])
        assert Oracle(data, claim).breaks(q, claim, found.witness["breaks"], found.witness["sensitive"])


@settings(deadline=None, max_examples=120)
@given(tables(), claims, st.sampled_from([0, 2000, 12_000, 30_000, 60_000]))
def test_with_little_work_nothing_is_guessed(data, claim, limit):
    exact = check_kcl(data, claim)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kcl_any_length, "EXACT_LIMIT", 0)
        patch.setattr(kcl_any_length, "WORK_LIMIT", limit)
        found = check_kcl(data, claim)
    assert not found.holds or exact.holds
    if found.witness:
        assert not exact.holds
        return
    if not found.holds and found.measured["sequences"]:
        assert "cannot be certified within the limit" in found.reason
    if found.measured["min_support"] is not None and "min_support_note" not in found.measured:
        assert found.measured["min_support"] == exact.measured["min_support"]


@settings(deadline=None, max_examples=50)
@given(tables(), claims, st.integers(0, 2**32))
def test_order_of_trajectories_owner_codes_and_location_codes_mean_nothing(data, claim, seed):
    rng = np.random.default_rng(seed)
    moved = data.take(rng.permutation(len(data)))
    old, which = np.unique(moved.owner, return_inverse=True)
    fresh = rng.permutation(np.linspace(-(2**62), 2**62, len(old)).astype(np.int64))
    names = rng.permutation(len(moved.locations))
    moved = replace(
        moved,
        owner=fresh[which],
        locations=tuple(moved.locations[i] for i in names),
        location=np.argsort(names)[moved.location],
    )
    assert check_kcl(moved, claim) == check_kcl(data, claim)


@settings(deadline=None, max_examples=100)
@given(tables(), claims)
def test_hidden_owners_fail_only_what_fails_for_every_owner(data, claim):
    hidden = check_kcl(replace(data, owners="hidden"), claim)
    given_ = check_kcl(replace(data, owners="given"), claim)
    assert hidden.holds or not given_.holds


# --------------------------------------------------------------------------------------------------------- violations


@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_a_rare_long_sequence_is_found_although_all_shorter_ones_are_common(length, more):
    """`more` visits that are common as such follow the rare sequence: the witness leaves them out."""
    k = 5
    extra = [(f"x{t}", 100 + t) for t in range(more)]
    records = common_parts(length, k) + [r + extra for r in base(length, k - 1)] + [extra] * k
    verdict = check_kcl(Visits.from_records(records), KclPrivacy(k=k, c=1, l="all"))
    assert not verdict.holds
    assert verdict.measured["min_support"] == k - 1
    if not more:
        assert verdict.witness["sequence"] == [[f"p{t}", t] for t in range(length)]
        assert length == 1 or check_kcl(Visits.from_records(records), KclPrivacy(k=k, c=1, l=length - 1)).holds
    assert_agrees(Visits.from_records(records), KclPrivacy(k=k, c=1, l="all"))
    cured = Visits.from_records([*records, base(length, 1)[0] + extra])
    assert check_kcl(cured, KclPrivacy(k=k, c=1, l="all")).holds


@pytest.mark.parametrize("people", ["declared", "one trip each", "two trips each"])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
@pytest.mark.parametrize(("having", "among", "c"), [(11, 20, Fraction(1, 2)), (4, 11, Fraction(1, 3)), (7, 9, "0.7")])
def test_a_telling_long_sequence_is_found_although_all_shorter_ones_are_harmless(length, having, among, c, people):
    claim = KclPrivacy(k=2, c=c, l="all", sensitive={"ill": ["HIV", "flu"], "job": ["spy"]})
    assert Fraction(having, among) > claim.c >= Fraction(having - 1, among)
    filler = common_parts(length, 2 * among) if length > 1 else []
    records = base(length, among) + filler
    ill = ["flu"] * having + ["well"] * (len(records) - having)
    job = ["spy"] + ["baker"] * (len(records) - 1)
    owner = None if people == "declared" else list(range(len(records)))
    if people == "two trips each":
        records, ill, job, owner = records * 2, ill * 2, job * 2, owner * 2
    data = Visits.from_records(records, attributes={"ill": ill, "job": job}, owner=owner)
    verdict = assert_agrees(data, claim)
    assert verdict.witness == {
        "sequence": [[f"p{t}", t] for t in range(length)],
        "support": among,
        "owner_share": None,
        "confidence": ratio(Fraction(having, among)),
        "sensitive": ["ill", "flu"],
        "breaks": "confidence",
    }
    assert length == 1 or check_kcl(data, replace(claim, l=length - 1)).holds
    cured = [("well" if i == 0 else value) for i, value in enumerate(ill)]
    if people != "two trips each":
        harmless = Visits.from_records(records, attributes={"ill": cured, "job": job}, owner=owner)
        assert check_kcl(harmless, claim).holds


@pytest.mark.parametrize("people", ["declared", "one trip each", "two trips each"])
@pytest.mark.parametrize("length", [1, 2, 5, 8])
def test_a_telling_sequence_that_is_nobodys_whole_trajectory_is_found(length, people):
    """Five who are ill share `length` visits and end in five ways; one who is well does all of it.

    So each of their whole trajectories fits two people, one of them ill, but what they share fits five ill of six.
    Elsewhere four of five are ill: with this known, the bounds that find the five of six are as tight as can be.
    With two trips each, those who are ill also did all of it on a day when they were well.
    """
    shared = base(length, 1)[0]
    ends = [(f"x{i}", 100 + i) for i in range(5)]
    filler = common_parts(length, 10) if length > 1 else []
    records = [[*shared, end] for end in ends] + [[*shared, *ends]] + [[("z", 1000)]] * 5 + filler
    ill = ["HIV"] * 5 + ["well"] + ["HIV"] * 4 + ["well"] * (1 + len(filler))
    owner = list(range(len(records)))
    if people == "two trips each":
        records, ill, owner = records + [[*shared, *ends]] * 5, ill + ["well"] * 5, [*owner, 0, 1, 2, 3, 4]
    data = Visits.from_records(records, attributes={"ill": ill}, owner=None if people == "declared" else owner)
    claim = KclPrivacy(k=1, c="4/5", l="all", sensitive={"ill": ["HIV"]})
    found = Oracle(data, claim).counts.items()
    assert [q for q, counts in found if counts["confidence"]["ill", "HIV"] > claim.c] == [frozenset(shared)]
    verdict = assert_agrees(data, claim)
    assert verdict.witness["sequence"] == [list(visit) for visit in shared]
    assert verdict.witness["confidence"] == "5/6"
    assert check_kcl(data, replace(claim, c="5/6")).holds


@pytest.mark.parametrize(("trips", "people", "expected"), [(1, 6, "1/6"), (3, 2, "1/2")])
def test_people_are_counted_not_trips(trips, people, expected):
    owner = [person for person in range(people) for _ in range(trips)]
    ill = ["HIV"] * trips + ["well"] * (len(owner) - trips)
    data = Visits.from_records(base(4, len(owner)), attributes={"ill": ill}, owner=owner)
    verdict = check_kcl(data, KclPrivacy(k=people, c=expected, l="all", sensitive={"ill": ["HIV"]}))
    assert verdict.holds
    assert verdict.measured["min_support"] == people
    assert verdict.measured["max_confidence_exact"] == expected


def test_long_trajectories_are_no_problem():
    """Listing would need 2**300 sequences."""
    whole = base(300, 1)[0]
    records = [whole] * 6 + [whole[:200]] * 3 + [whole[100:]] * 3
    ill = (["HIV"] + ["well"] * 5) + ["HIV", "well", "well"] * 2
    data = Visits.from_records(records, attributes={"ill": ill})
    claim = KclPrivacy(k=6, c="1/4", l="all", sensitive={"ill": ["HIV"]})
    verdict = check_kcl(data, claim)
    assert verdict.holds
    assert verdict.measured["min_support"] == 6
    assert verdict.measured["max_confidence_exact"] == "1/4"
    assert check_kcl(data, replace(claim, k=7)).witness["sequence"] == [["p99", 99], ["p299", 299]]


def test_what_cannot_be_certified_does_not_hold(monkeypatch):
    """Thirty ill people did parts of what ten groups did: very many sequences are in several of the parts."""
    rng = np.random.default_rng(1)
    records, ill = [], []
    for _ in range(10):
        times = rng.permutation(40)[:30]
        parts = [rng.permutation(times)[:15] for _ in range(3)]
        records += [[("p", int(t)) for t in np.sort(part)] for part in [times, times, times, *parts]]
        ill += ["well"] * 3 + ["HIV"] * 3
    data = Visits.from_records(records, attributes={"ill": ill})
    claim = KclPrivacy(k=3, c="1/2", l="all", sensitive={"ill": ["HIV"]})
    exact = check_kcl(data, claim)
    assert exact.holds
    assert exact.measured["sequences"] > 300
    monkeypatch.setattr(kcl_any_length, "EXACT_LIMIT", 10**6)
    monkeypatch.setattr(kcl_any_length, "WORK_LIMIT", 10**6)
    verdict = check_kcl(data, claim)
    assert not verdict.holds
    assert verdict.witness is None
    assert verdict.reason == (
        "The confidence of sequences of any length cannot be certified within the limit of 1000000 steps, "
        "so the claim is not shown to hold."
    )
    assert verdict.measured["max_confidence_note"] == "largest met; the largest of all may be larger"
    assert verdict.measured["min_support"] == 3
    assert "min_support_note" not in verdict.measured
    monkeypatch.setattr(kcl_any_length, "WORK_LIMIT", 10**4)
    verdict = check_kcl(data, claim)
    assert not verdict.holds
    assert verdict.reason.startswith("The support of sequences of any length cannot be certified")
    assert verdict.measured["min_support_note"] == "smallest met; the smallest of all may be smaller"


# --------------------------------------------------------------------------------------------------------------- others


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
@pytest.mark.parametrize("owners", ["given", "declared", "hidden"])
def test_nothing_to_judge_fails(records, owners):
    data = replace(Visits.from_records(records), owners=owners)
    verdict = check_kcl(data, KclPrivacy(k=1, c=1, l="all"))
    assert not verdict.holds
    assert verdict.measured["min_support"] is None


def test_an_absent_attribute_fails_and_k_beyond_the_data_fails():
    data = Visits.from_records(base(3, 2))
    assert "'job'" in check_kcl(data, KclPrivacy(k=1, c=1, l="all", sensitive={"job": ["spy"]})).reason
    assert check_kcl(data, KclPrivacy(k=10**15, c=1, l="all")).witness["support"] == 2


@pytest.mark.parametrize("sign", [-1, 0, 1])
@pytest.mark.parametrize("exact_limit", [0, 10**9])
def test_a_bound_with_a_huge_denominator_is_compared_exactly(sign, exact_limit, monkeypatch):
    monkeypatch.setattr(kcl_any_length, "EXACT_LIMIT", exact_limit)
    data = Visits.from_records(base(1, 3), attributes={"ill": ["HIV", "well", "well"]})
    c = Fraction(1, 3) + sign * Fraction(1, 10**50)
    assert check_kcl(data, KclPrivacy(k=1, c=c, l="all", sensitive={"ill": ["HIV"]})).holds == (sign >= 0)


@pytest.mark.parametrize(
    ("k", "c", "owners", "reason"),
    [
        (1, "1/2", "given", "Each sequence of any number of visits fits 1 person or more (k = 1), none of whom owns "
         "more than 1/1 of the trajectories that fit (row_share = 1/1), and none tells a sensitive value with a "
         "confidence above 0/1 over people or above 0/1 over trajectories (c = 1/2)."),
        (2, "1/2", "hidden", "Each sequence of any number of visits fits 2 trajectories or more (k = 2), and none "
         "tells a sensitive value with a confidence above 0/1 over trajectories (c = 1/2)."),
        (2, 1, "given", "A single visit fits only 1 person, fewer than k = 2."),
    ],
)  # fmt: skip
def test_reasons_in_words(k, c, owners, reason):
    data = Visits.from_records(base(2, 2), attributes={"ill": ["well"] * 2}, owner=[4, 4])
    claim = KclPrivacy(k=k, c=c, l="all", sensitive={"ill": ["HIV"]})
    assert check_kcl(replace(data, owners=owners), claim).reason == reason
