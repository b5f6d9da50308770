"""The verifier of (K,C)_L-privacy against the definition, written out with sets, combinations and fractions."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_sequences import base, common_parts
from sequence_counts import judge_sequences

from wayveil import verifiers
from wayveil.attacks import KnownVisits
from wayveil.engines import LocalEngine
from wayveil.model import Coded, KclPrivacy, Visits
from wayveil.verifiers import VERIFIERS, check_kcl
from wayveil.verifiers.kcl import kcl_verifier
from wayveil.verifiers.kcl.contained_sequences import SequenceWalker
from wayveil.verifiers.kcl.definition import find_break_of_kcl

VALUES = {"ill": ["flu", "HIV", "none"], "job": ["spy", "baker"]}
SENSITIVE = {"ill": ["HIV", "flu", "plague"], "job": ["spy"]}  # plague never occurs


# ---------------------------------------------------------------------------------------------------- the definition


SHARES = ("owner_share", "confidence", "confidence_trajectories")
BREAKS = ("support", *SHARES)


def oracle(data, claim):
    """{sequence as ((t, location), ...): {"support": n, kind of share: {sensitive or None: share}}}, literally."""
    records = [data.record(i) for i in range(len(data))]
    values = {name: a.values() for name, a in data.attributes.items()}
    sensitive = [(attribute, value) for attribute, wanted in claim.sensitive for value in wanted]
    owners = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    found = {}
    for q, counts in judge_sequences(records, owners, values, sensitive, claim.l).items():
        told = {**counts, "owner_share": {None: counts["owner_share"]}}
        if data.owners == "hidden":
            n = counts["support"]
            told["confidence"] = {
                s: Fraction(1, 1 + n - int(share * n)) if share else Fraction(0)
                for s, share in counts["confidence_trajectories"].items()
            }
        found[tuple(sorted((t, place) for place, t in q))] = told
    return found


def allowed(claim, kind):
    return claim.owner_share if kind == "owner_share" else claim.c


def oracle_witness(found, claim):
    """The witness as the docstring of `check_kcl` orders it, or None."""
    broken = []
    for q, counts in found.items():
        if counts["support"] < claim.k:
            broken.append((len(q), 0, counts["support"], q, None))
        for kind in SHARES:
            broken += [
                (len(q), BREAKS.index(kind), 0, q, s)
                for s, share in counts[kind].items()
                if share > allowed(claim, kind)
            ]
    if not broken:
        return None
    _, kind, _, q, s = min(broken, key=lambda b: (*b[:4], b[4] or ("", "")))
    counts = found[q]
    return {
        "sequence": [[place, t] for t, place in q],
        "support": counts["support"],
        "owner_share": ratio(counts["owner_share"][None]) if kind == 1 else None,
        "confidence": ratio(counts[BREAKS[kind]][s]) if kind > 1 else None,
        "sensitive": list(s) if kind > 1 else None,
        "breaks": BREAKS[kind],
    }


def ratio(share):
    return f"{share.numerator}/{share.denominator}"


def assert_agrees(data, claim):
    verdict, found = check_kcl(data, claim), oracle(data, claim)
    if not found:
        assert not verdict.holds
        return verdict
    witness = oracle_witness(found, claim)
    assert verdict.witness == witness
    assert verdict.holds == (witness is None)
    judged = [counts for q, counts in found.items() if witness is None or len(q) <= len(witness["sequence"])]
    expected = {
        "min_support": min(counts["support"] for counts in judged),
        "sequences": len(judged),
        "trajectories": int((np.diff(data.offsets) > 0).sum()),
        "visits": data.n_visits,
    }
    for kind in SHARES:
        largest = max((share for counts in judged for share in counts[kind].values()), default=Fraction(0))
        expected |= {f"max_{kind}": float(largest), f"max_{kind}_exact": ratio(largest)}
    assert verdict.measured == expected
    assert verdict.claim is claim
    assert verdict.counted == ("owners" if data.owners == "given" else "trajectories")
    assert bool(verdict.not_judged) == (data.owners == "hidden")
    return verdict


# ------------------------------------------------------------------------------------------------------ random tables


@st.composite
def tables(draw, max_records=8):
    n = draw(st.integers(1, max_records))
    places = st.sampled_from(["a", "b", "c"][: draw(st.integers(1, 3))])
    visit_maps = st.dictionaries(st.sampled_from([-7, 0, 1, 5, 2**40]), places, max_size=5)
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
    return replace(data, owners=draw(st.sampled_from(["given", "declared", "hidden"])))


claims = st.builds(
    KclPrivacy,
    k=st.integers(1, 4),
    c=st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10), Fraction(1)]),
    l=st.integers(1, 4),
    sensitive=st.sampled_from([{}, {"ill": ["HIV"]}, SENSITIVE]),
    row_share=st.sampled_from(["1/k", "1/k", Fraction(2, 3), Fraction(1), Fraction(1, 5)]),
)


@settings(deadline=None, max_examples=400)
@given(tables(), claims, st.sampled_from([1, 2, 5, kcl_verifier.CHUNK_ROWS]))
def test_verdict_is_the_definition(data, claim, chunk_rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kcl_verifier, "CHUNK_ROWS", chunk_rows)
        assert_agrees(data, claim)


@settings(deadline=None, max_examples=100)
@given(tables(), claims)
def test_measured_values_are_the_tightest_claim_that_holds(data, claim):
    loose = check_kcl(data, replace(claim, k=1, c=1, row_share=Fraction(1)))
    if not loose.measured["sequences"]:
        return
    k, row_share = loose.measured["min_support"], Fraction(loose.measured["max_owner_share_exact"])
    people, rows = (Fraction(loose.measured[f"max_{kind}_exact"]) for kind in SHARES[1:])
    tight = replace(claim, k=k, c=max(people, rows), row_share=row_share)
    assert assert_agrees(data, tight).holds
    assert assert_agrees(data, replace(tight, k=k + 1)).witness["breaks"] == "support"
    little = Fraction(1, 10**30)
    assert assert_agrees(data, replace(tight, row_share=row_share - little)).witness["breaks"] == "owner_share"
    if tight.c:
        kinds = {kind for kind, share in zip(SHARES[1:], (people, rows), strict=True) if share == tight.c}
        assert assert_agrees(data, replace(tight, c=tight.c - little)).witness["breaks"] in kinds


@settings(deadline=None, max_examples=60)
@given(tables(), claims, st.integers(1, 5))
def test_chunks_do_not_change_a_verdict(data, claim, chunk_rows):
    whole = check_kcl(data, claim)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kcl_verifier, "CHUNK_ROWS", chunk_rows)
        assert check_kcl(data, claim) == whole


@settings(deadline=None, max_examples=60)
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
    """Whoever the owners are: what is certain without them is true with them."""
    hidden = check_kcl(replace(data, owners="hidden"), claim)
    given_ = check_kcl(replace(data, owners="given"), claim)
    assert hidden.holds or not given_.holds


# --------------------------------------------------------------------------------------------------------- violations


LENGTHS = [1, 2, 3, 4]


@pytest.mark.parametrize("chunk_rows", [1, 7, 1_000_000])
@pytest.mark.parametrize("length", LENGTHS)
def test_one_rare_sequence_is_found(length, chunk_rows, monkeypatch):
    monkeypatch.setattr(kcl_verifier, "CHUNK_ROWS", chunk_rows)
    k = 5
    records = common_parts(length, k) + base(length, k - 1) + [[("x", t) for t in range(-55, -50)]] * k
    data = Visits.from_records(records, owner=range(len(records)))
    verdict = check_kcl(data, KclPrivacy(k=k, c=1, l=4))
    assert verdict.witness == {
        "sequence": [[f"p{t}", t] for t in range(length)],
        "support": k - 1,
        "owner_share": None,
        "confidence": None,
        "sensitive": None,
        "breaks": "support",
    }
    assert not verdict.holds
    assert verdict.measured["min_support"] == k - 1
    assert sum(counts["support"] < k for counts in oracle(data, KclPrivacy(k=k, c=1, l=length)).values()) == 1
    assert length == 1 or check_kcl(data, KclPrivacy(k=k, c=1, l=length - 1)).holds
    more = Visits.from_records([*records, *base(length, 1)])
    assert check_kcl(more, KclPrivacy(k=k, c=1, l=4)).holds


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(
    ("having", "among", "c"),
    [
        (501, 1000, Fraction(1, 2)),
        (334, 1001, Fraction(1, 3)),
        (333, 998, Fraction(1, 3)),
        (101, 1009, "0.1"),
        (701, 1001, "0.7"),
    ],
)
def test_one_telling_sequence_is_found(length, having, among, c):
    claim = KclPrivacy(k=2, c=c, l=4, sensitive={"ill": ["HIV", "flu"], "job": ["spy"]})
    assert Fraction(having, among) > claim.c >= Fraction(having - 1, among)
    filler = common_parts(length, 2 * among) if length > 1 else []
    records = base(length, among) + filler
    healthy = ["well"] * len(filler)
    ill = ["flu"] * having + ["well"] * (among - having) + healthy
    job = ["spy"] + ["baker"] * (len(records) - 1)
    data = Visits.from_records(records, attributes={"ill": ill, "job": job})
    verdict = check_kcl(data, claim)
    assert verdict.witness == {
        "sequence": [[f"p{t}", t] for t in range(length)],
        "support": among,
        "owner_share": None,
        "confidence": ratio(Fraction(having, among)),
        "sensitive": ["ill", "flu"],
        "breaks": "confidence",
    }
    assert not verdict.holds
    assert verdict.measured["max_confidence_exact"] == ratio(Fraction(having, among))
    assert length == 1 or check_kcl(data, replace(claim, l=length - 1)).holds
    cured = Visits.from_records(records, attributes={"ill": ["well", *ill[1:]], "job": job})
    assert check_kcl(cured, claim).holds


@pytest.mark.parametrize(
    ("having", "among", "c"), [(1, 3, "1/3"), (1, 10, 0.1), (3, 30, 0.1), (7, 10, 0.7), (49, 70, 0.7), (29, 100, 0.29)]
)
def test_exactly_k_and_exactly_c_hold(having, among, c):
    ill = ["HIV"] * having + ["well"] * (among - having)
    data = Visits.from_records(base(3, among), attributes={"ill": ill})
    verdict = check_kcl(data, KclPrivacy(k=among, c=c, l=3, sensitive={"ill": ["HIV"]}))
    assert verdict.holds
    assert verdict.witness is None
    assert verdict.measured["min_support"] == among
    assert Fraction(verdict.measured["max_confidence_exact"]) == Fraction(having, among)


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_a_bound_with_a_huge_denominator_is_compared_exactly(sign):
    data = Visits.from_records(base(1, 3), attributes={"ill": ["HIV", "well", "well"]})
    claim = KclPrivacy(k=1, c=Fraction(1, 3) + sign * Fraction(1, 10**50), l=1, sensitive={"ill": ["HIV"]})
    assert check_kcl(data, claim).holds == (sign >= 0)


def test_shares_that_floats_cannot_tell_apart_are_told_apart():
    """a/b and (a+1)/(b+1) differ by less than one step of a double."""
    a, b = 2**30 - 2, 2**30 - 1
    assert a / b == (a + 1) / (b + 1)
    best = kcl_verifier._largest(np.array([a, a + 1, a]), np.array([b, b + 1, b]), Fraction(0))
    assert best == Fraction(a + 1, b + 1) > Fraction(a, b)


def test_k_trips_of_one_person_hide_nobody():
    data = Visits.from_records(base(2, 5), owner=[7, 7, 7, 7, 7])
    assert check_kcl(data, KclPrivacy(k=2, c=1, l=2)).witness["support"] == 1
    assert check_kcl(replace(data, owners="declared"), KclPrivacy(k=5, c=1, l=2)).holds


def test_a_share_is_counted_over_people_and_over_trajectories():
    """One of three people is ill, and two of four trajectories are: the larger share counts."""
    ill = ["HIV", "HIV", "well", "well"]
    data = Visits.from_records(base(1, 4), attributes={"ill": ill}, owner=[1, 1, 2, 3])
    claim = KclPrivacy(k=3, c="1/2", l=1, sensitive={"ill": ["HIV"]}, row_share="1/2")
    verdict = assert_agrees(data, claim)
    assert verdict.holds
    assert verdict.measured["max_confidence_exact"] == "1/3"
    assert verdict.measured["max_confidence_trajectories_exact"] == "1/2"
    assert check_kcl(data, replace(claim, c="1/3")).witness["breaks"] == "confidence_trajectories"
    assert check_kcl(data, replace(claim, row_share="1/k")).witness["breaks"] == "owner_share"
    others = Visits.from_records(base(1, 4), attributes={"ill": ["well", "well", "HIV", "HIV"]}, owner=[1, 1, 2, 3])
    verdict = check_kcl(others, claim)
    assert verdict.witness["breaks"] == "confidence"
    assert verdict.witness["confidence"] == "2/3"


def dominated(l):
    """The input of which one person has 200 of the 204 trajectories that fit a visit, all with a sensitive value."""
    route = [("a", 1), ("b", 2), ("c", 3)]
    data = Visits.from_records(
        [route] * 204 + [[("a", 1)]] * 10,
        attributes={"ill": ["HIV"] * 200 + ["well"] * 14},
        owner=[0] * 200 + list(range(1, 15)),
    )
    return data, KclPrivacy(k=2, c="1/2", l=l, sensitive={"ill": ["HIV"]})


@pytest.mark.parametrize("l", [1, 2, 3, "all"])
def test_one_person_with_two_hundred_trajectories_hides_nobody(l):
    data, claim = dominated(l)
    verdict = check_kcl(data, claim)
    assert not verdict.holds
    assert verdict.witness["breaks"] == "owner_share"
    assert verdict.measured["max_confidence_exact"] == "1/5"  # people alone say nothing
    relaxed = check_kcl(data, replace(claim, row_share=1))
    assert not relaxed.holds
    assert relaxed.witness["breaks"] == "confidence_trajectories"
    assert relaxed.measured["max_confidence_trajectories_exact"] == "50/51"
    assert check_kcl(data, replace(claim, row_share=1, c=1)).holds
    few = data.take(np.r_[199:214])  # one trajectory of the person is left
    assert check_kcl(few, claim).holds
    hidden = check_kcl(replace(data, owners="hidden"), claim)
    assert not hidden.holds  # the share of trajectories needs no owners
    assert hidden.witness["breaks"] == "confidence_trajectories"


@pytest.mark.parametrize("length", LENGTHS)
def test_one_dominated_sequence_is_found(length):
    """Three of the eight trajectories with the sequence are of one person; every shorter sequence fits more people."""
    records = common_parts(length, 5) + base(length, 8)
    owner = list(range(len(records)))
    owner[-3:] = [owner[-1]] * 3
    claim = KclPrivacy(k=3, c=1, l=4)
    verdict = assert_agrees(Visits.from_records(records, owner=owner), claim)
    assert verdict.witness == {
        "sequence": [[f"p{t}", t] for t in range(length)],
        "support": 6,
        "owner_share": "3/8",
        "confidence": None,
        "sensitive": None,
        "breaks": "owner_share",
    }
    assert length == 1 or check_kcl(Visits.from_records(records, owner=owner), replace(claim, l=length - 1)).holds
    assert check_kcl(Visits.from_records(records, owner=owner), replace(claim, row_share="3/8")).holds
    more = Visits.from_records([*records, *base(length, 1)], owner=[*owner, -1])
    assert check_kcl(more, claim).holds


@st.composite
def trips(draw):
    """A few people with one to six trips each, over few visits, so that their trips look alike."""
    counts = draw(st.lists(st.integers(1, 6), min_size=2, max_size=5))
    owner = [person for person, n in enumerate(counts) for _ in range(n)]
    visit_sets = st.sets(st.sampled_from([("a", 1), ("b", 2), ("a", 3), ("c", 4)]), min_size=1)
    records = [sorted(draw(visit_sets), key=lambda visit: visit[1]) for _ in owner]
    ill = draw(st.lists(st.sampled_from(["HIV", "well", "well", None]), min_size=len(owner), max_size=len(owner)))
    return Visits.from_records(records, attributes={"ill": ill}, owner=owner)


@settings(deadline=None, max_examples=150)
@given(trips(), claims, st.sampled_from([1, 2, 3, "all"]))
def test_several_trips_per_owner_are_judged_by_the_definition(data, claim, l):
    claim = replace(claim, l=l, sensitive={"ill": ["HIV"]})
    records = [data.record(i) for i in range(len(data))]
    values = {"ill": data.attributes["ill"].values()}
    found = judge_sequences(records, data.owner.tolist(), values, [("ill", "HIV")], l)
    verdict = check_kcl(data, claim)
    assert verdict.holds == (find_break_of_kcl(data, claim) == "")
    if verdict.holds or l == "all":
        for kind in SHARES:
            shares = [
                counts[kind] if kind == "owner_share" else counts[kind]["ill", "HIV"] for counts in found.values()
            ]
            assert Fraction(verdict.measured[f"max_{kind}_exact"]) == max(shares)


def test_who_knows_less_exactly_may_infer_more_and_is_listed():
    """Two of the three who were at `a` have HIV, at one time or the other; of those at either time, one of two."""
    data = Visits.from_records(
        [[("a", 1)], [("a", 1), ("a", 2)], [("a", 2)]], attributes={"ill": ["HIV", "none", "HIV"]}
    )
    claim = KclPrivacy(k=2, c="1/2", l=1, sensitive={"ill": ["HIV"]})
    assert check_kcl(data, claim).holds
    assert any("the place without the time" in sentence for sentence in claim.not_covered)
    assert any("an end less exactly" in sentence for sentence in replace(claim, about="ends").not_covered)


def test_a_person_who_has_the_value_elsewhere_only_does_not_count():
    data = Visits.from_records(
        [[("a", 1)], [("a", 1)], [("b", 1)], [("b", 1)]], attributes={"ill": ["well", "well", "HIV", "well"]},
        owner=[1, 2, 1, 2],
    )  # fmt: skip
    verdict = check_kcl(data, KclPrivacy(k=2, c=0, l=1, sensitive={"ill": ["HIV"]}))
    assert verdict.witness["sequence"] == [["b", 1]]


def test_the_witness_is_shortest_then_rarest_then_first():
    records = [*base(2, 4), [("z", 0)], [("y", 9)], [("x", 9), ("q", 10)], [("x", 9), ("q", 10)]]
    verdict = check_kcl(Visits.from_records(records), KclPrivacy(k=3, c=1, l=2))
    assert verdict.witness["sequence"] == [["z", 0]]
    assert verdict.measured["sequences"] == 6  # only length 1 was judged


def test_parameters_beyond_the_data_are_harmless():
    data = Visits.from_records(base(3, 2))
    assert check_kcl(data, KclPrivacy(k=2, c=1, l=10**15)).measured["sequences"] == 7
    assert check_kcl(data, KclPrivacy(k=10**15, c=1, l=2)).witness["support"] == 2


@settings(deadline=None, max_examples=60, derandomize=True)
@given(trips(), st.sampled_from([1, 2, 3, "all"]))
def test_no_attacker_of_the_promise_comes_further_than_the_verdict_says(data, l):
    """The attack knows the truth, here the published data themselves, and tries every set of visits."""
    sensitive = {"ill": ["HIV"]}
    verdict = check_kcl(data, KclPrivacy(k=1, c=1, l=l, sensitive=sensitive, row_share=1))
    attack = KnownVisits(m=l, choice="worst")
    found = attack.run(data, data, sensitive=sensitive, rng=np.random.default_rng(1), engine=LocalEngine(workers=1))
    assert found.measured["identity_max"] == pytest.approx(verdict.measured["max_owner_share"])
    most = max(verdict.measured["max_confidence"], verdict.measured["max_confidence_trajectories"])
    assert found.measured["attribute_max"] <= most + 1e-9  # a missing value counts as each one for the verdict only


# ----------------------------------------------------------------------------------------- what is missing never helps


@pytest.mark.parametrize("records", [[], [[]], [[], []]])
@pytest.mark.parametrize("owners", ["given", "declared", "hidden"])
def test_nothing_to_judge_fails(records, owners):
    data = replace(Visits.from_records(records, attributes={"ill": [None] * len(records)}), owners=owners)
    verdict = check_kcl(data, KclPrivacy(k=1, c=1, l=1))
    assert not verdict.holds
    assert "nothing to judge" in verdict.reason
    assert verdict.witness is None
    assert verdict.measured["min_support"] is None


def test_empty_trajectories_are_no_evidence():
    data = Visits.from_records(
        [[], *base(1, 2), []], attributes={"ill": [None, "well", "well", None]}, owner=[1, 2, 2, 3]
    )
    verdict = check_kcl(data, KclPrivacy(k=1, c=0, l=1, sensitive={"ill": ["HIV"]}))
    assert verdict.holds
    assert verdict.measured["min_support"] == 1
    assert verdict.measured["trajectories"] == 2


def test_a_missing_value_counts_as_every_declared_value():
    data = Visits.from_records(base(1, 4), attributes={"ill": ["HIV", None, "flu", "well"], "job": ["baker"] * 4})
    for value in ("HIV", "flu"):
        claim = KclPrivacy(k=1, c="1/2", l=1, sensitive={"ill": [value]})
        assert check_kcl(data, claim).measured["max_confidence_exact"] == "1/2"
    claim = KclPrivacy(k=1, c=1, l=1, sensitive={"ill": ["plague"], "job": ["spy"]})
    assert check_kcl(data, claim).measured["max_confidence_exact"] == "1/4"  # not declared for job, not missing there


@pytest.mark.parametrize("code", [-1, -2, 2, 100])
def test_a_code_without_label_is_a_missing_value(code):
    data = Visits.from_records(base(1, 2))
    ill = Coded(codes=np.array([0, code]), labels=("well", "HIV"))
    claim = KclPrivacy(k=1, c="0.4", l=1, sensitive={"ill": ["HIV"]})
    assert check_kcl(replace(data, attributes={"ill": ill}), claim).witness["confidence"] == "1/2"


def test_labels_that_repeat_are_one_value():
    data = Visits.from_records(base(1, 4))
    ill = Coded(codes=np.array([0, 1, 2, 2]), labels=("HIV", "HIV", "well"))
    claim = KclPrivacy(k=1, c="0.4", l=1, sensitive={"ill": ["HIV"]})
    assert check_kcl(replace(data, attributes={"ill": ill}), claim).witness["confidence"] == "1/2"


def test_an_absent_attribute_fails():
    data = Visits.from_records(base(1, 3), attributes={"ill": ["well"] * 3})
    verdict = check_kcl(data, KclPrivacy(k=1, c=1, l=1, sensitive={"job": ["spy"]}))
    assert not verdict.holds
    assert "'job'" in verdict.reason
    assert verdict.measured["max_confidence"] is None


def test_a_value_that_never_occurs_is_never_met():
    data = Visits.from_records(base(1, 3), attributes={"ill": ["well"] * 3})
    verdict = check_kcl(data, KclPrivacy(k=3, c=0, l=1, sensitive={"ill": ["plague"]}))
    assert verdict.holds
    assert verdict.measured["max_confidence"] == 0.0
    assert verdict.measured["max_confidence_exact"] == "0/1"


def test_location_names_that_repeat_are_one_location():
    data = Visits.from_records([[("a", 1)], [("b", 1)], [("c", 2)], [("c", 2)]])
    assert check_kcl(data, KclPrivacy(k=2, c=1, l=1)).witness["support"] == 1
    assert check_kcl(replace(data, locations=("a", "a", "c")), KclPrivacy(k=2, c=1, l=1)).holds
    # Codes that say "different" must not hide a value that tells all of one place, either.
    mixed = replace(data, locations=("a", "a", "a"))
    assert check_kcl(mixed, KclPrivacy(k=2, c=1, l=1)).measured["sequences"] == 2


def broken_visits(**columns):
    """Visits as a careless constructor would have let them pass."""
    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)]], attributes={"ill": ["well"] * 2})
    for name, value in columns.items():
        object.__setattr__(data, name, value)
    return data


@pytest.mark.parametrize(
    ("columns", "word"),
    [
        ({"t": np.array([1, 2, 2, 2])}, "time"),
        ({"t": np.array([2, 1, 1, 2])}, "time"),
        ({"t": np.array([2**62 + 1, -(2**62) - 1, 1, 2])}, "time"),  # the difference overflows to a positive number
        ({"t": np.full(4, np.nan)}, "whole number"),
        ({"t": np.array([1, 2, 1, np.nan])}, "whole number"),
        ({"location": np.array([0.0, 1.0, 0.0, 0.5])}, "whole number"),
        ({"owner": np.array([0.0, np.nan])}, "whole number"),
        ({"offsets": np.array([0.0, 2.0, 4.0])}, "whole number"),
        ({"location": np.array([0, 1, 0, -1])}, "without a name"),
        ({"location": np.array([0, 1, 0, 2])}, "without a name"),
        ({"location": np.array([0, 1, 0])}, "length"),
        ({"owner": np.array([0])}, "length"),
        ({"offsets": np.array([0, 2])}, "add up"),
        ({"offsets": np.array([1, 2, 4])}, "add up"),
        ({"offsets": np.array([0, 5, 4])}, "add up"),
        ({"offsets": np.array([], np.int64)}, "add up"),
        ({"owners": "unknown"}, "owners"),
        ({"attributes": {"ill": Coded.from_values(["well"])}}, "one value per trajectory"),
    ],
)
def test_inconsistent_data_fail(columns, word):
    claim = KclPrivacy(k=1, c=1, l=2, sensitive={"ill": ["HIV"]})
    assert check_kcl(broken_visits(), claim).holds
    verdict = check_kcl(broken_visits(**columns), claim)
    assert not verdict.holds
    assert word in verdict.reason


# ------------------------------------------------------------------------------------------------------ hidden owners


def hidden_table(n, n_s):
    ill = ["HIV"] * n_s + ["well"] * (n - n_s)
    return replace(Visits.from_records(base(2, n), attributes={"ill": ill}), owners="hidden")


@pytest.mark.parametrize(("n", "n_s"), [(1, 1), (4, 0), (4, 1), (4, 3), (4, 4), (9, 7)])
def test_hidden_owners_are_judged_by_a_bound_that_is_reached(n, n_s):
    bound = Fraction(1, 1 + n - n_s) if n_s else Fraction(0)
    claim = KclPrivacy(k=1, c=bound, l=2, sensitive={"ill": ["HIV"]})
    verdict = check_kcl(hidden_table(n, n_s), claim)
    rows = Fraction(n_s, n)  # needs no owners, and is judged in full
    assert verdict.holds == (rows <= bound)
    assert Fraction(verdict.measured["max_confidence_trajectories_exact"]) == rows
    assert verdict.counted == "trajectories"
    assert verdict.measured["max_confidence_exact"] == ratio(bound)
    if n_s:
        worst_owners = replace(hidden_table(n, n_s), owners="given", owner=np.maximum(np.arange(n) - n_s + 1, 0))
        assert check_kcl(worst_owners, claim).measured["max_confidence_exact"] == ratio(bound)
        stricter = replace(claim, c=bound - Fraction(1, 10**6))
        assert check_kcl(hidden_table(n, n_s), stricter).witness == {
            "sequence": [["p0", 0]],
            "support": n,
            "owner_share": None,
            "confidence": ratio(bound),
            "sensitive": ["ill", "HIV"],
            "breaks": "confidence",
        }


def test_hidden_owners_say_what_was_not_judged():
    both = check_kcl(hidden_table(4, 1), KclPrivacy(k=4, c=1, l=2, sensitive={"ill": ["HIV"]}))
    assert [part.split(":")[0] for part in both.not_judged] == [
        "support by owner",
        "trajectories by owner",
        "confidence by owner",
    ]
    assert len(check_kcl(hidden_table(4, 1), KclPrivacy(k=4, c=1, l=2)).not_judged) == 2
    assert check_kcl(hidden_table(4, 1), KclPrivacy(k=5, c=1, l=2)).witness["breaks"] == "support"


# -------------------------------------------------------------------------------------------------------------- others


def test_a_long_trajectory_is_cut_into_pieces_that_fit():
    n, longest, chunk_rows = 60, 4, 1000
    walker = SequenceWalker(np.arange(n), np.full(n, n), longest=longest, chunk_rows=chunk_rows)
    counted = dict.fromkeys(range(1, longest + 1), 0)
    for batch in walker:
        counted[batch.length] += len(batch)
        assert len(batch.rows) <= chunk_rows
    assert counted == {size: comb(n, size) for size in counted}


def test_many_items_leave_room_for_few_parents_in_a_key():
    """With items so large that two parents do not fit into 63 bits, every sequence is still seen once."""
    big = 2**59
    walker = SequenceWalker(np.array([0, 1, big] * 2), np.repeat([3, 6], 3), longest=2, chunk_rows=100)
    assert [b.sequence(i) for b in walker for i in range(len(b))] == [(0,), (1,), (big,), (0, 1), (0, big), (1, big)]


@pytest.mark.parametrize("chunk_rows", [1, 3, 10, 1000])
def test_sequences_of_a_length_come_in_order_and_the_walk_can_be_cut_short(chunk_rows):
    item, end = np.tile(np.arange(6), 2), np.repeat([6, 12], 6)
    seen = {1: [], 2: [], 3: []}
    for batch in SequenceWalker(item, end, longest=3, chunk_rows=chunk_rows):
        seen[batch.length] += [batch.sequence(i) for i in range(len(batch))]
        assert (np.diff(batch.starts) == 2).all()
    assert seen == {size: list(combinations(range(6), size)) for size in seen}
    walker = SequenceWalker(item, end, longest=3, chunk_rows=chunk_rows)
    lengths = []
    for batch in walker:
        lengths.append(batch.length)
        if batch.length == 2:
            walker.longest = 1
    assert lengths == [1, 2]


def test_longer_sequences_that_were_met_before_a_break_are_not_reported(monkeypatch):
    """In pieces of one row, all that begins with the first visit is walked before the pair that breaks the claim."""
    monkeypatch.setattr(kcl_verifier, "CHUNK_ROWS", 1)
    records = [
        *base(3, 2),
        [("p0", 0), ("p1", 1)],
        [("p0", 0), ("p2", 2)],
        [("y", 8)],
        [("z", 9)],
        [("y", 8), ("z", 9)],
    ]
    data = Visits.from_records([*records, [("p1", 1)], [("p2", 2)]])
    assert assert_agrees(data, KclPrivacy(k=2, c=1, l=3)).witness["sequence"] == [["y", 8], ["z", 9]]


def test_input_is_untouched_and_reason_holds_no_published_value():
    data = Visits.from_records([[("secretplace", 4711)], [("b", 1)]], attributes={"ill": ["leprosy", "well"]})
    before = [a.copy() for a in (data.offsets, data.location, data.t, data.owner)]
    for claim in (
        KclPrivacy(k=2, c=1, l=1),
        KclPrivacy(k=1, c=0, l=1, sensitive={"ill": ["leprosy"]}),
        KclPrivacy(k=1, c=1, l=1),
    ):
        reason = check_kcl(data, claim).reason
        assert not any(word in reason for word in ("secretplace", "4711", "leprosy"))
    after = [data.offsets, data.location, data.t, data.owner]
    assert all((a == b).all() for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize(
    ("k", "c", "owners", "reason"),
    [
        (1, "1/2", "given", "Each of the 1 sequences of at most 1 visit fits 1 person or more (k = 1), none of whom "
         "owns more than 1/1 of the trajectories that fit (row_share = 1/1), and none tells a sensitive value with a "
         "confidence above 0/1 over people or above 0/1 over trajectories (c = 1/2)."),
        (1, "1/2", "declared", "Each of the 1 sequences of at most 1 visit fits 2 trajectories or more (k = 1), and "
         "none tells a sensitive value with a confidence above 0/1 (c = 1/2)."),
        (2, 1, "given", "A single visit fits only 1 person, fewer than k = 2."),
        (3, 1, "hidden", "A single visit fits only 2 trajectories, fewer than k = 3."),
    ],
)  # fmt: skip
def test_reasons_in_words(k, c, owners, reason):
    data = Visits.from_records(base(1, 2), attributes={"ill": ["well"] * 2}, owner=[4, 4])
    claim = KclPrivacy(k=k, c=c, l=1, sensitive={"ill": ["HIV"]})
    assert check_kcl(replace(data, owners=owners), claim).reason == reason


def test_the_package_lists_its_verifiers():
    assert set(verifiers.__all__) >= {"VERIFIERS", *(judge.__name__ for judge in VERIFIERS.values())}
    assert VERIFIERS[KclPrivacy.name] is check_kcl
