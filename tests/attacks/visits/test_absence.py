"""What being left out tells, against a restatement with sets and fractions, and on publications of the method."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks import Absence
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods import Kcl
from wayveil.model import Visits

ENGINE = LocalEngine(workers=1)
SENSITIVE = {"ill": ["HIV", "flu"]}
IN_PIECES = {"truth": None, "rng": None, "engine": LocalEngine()}


def attack(truth, target, *, sensitive=SENSITIVE, seed=1, **parameters):
    return Absence(**parameters).run(truth, target, sensitive=sensitive, rng=np.random.default_rng(seed), engine=ENGINE)


def plain(data):
    owner = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    ill = data.attributes["ill"].values()
    return [(owner[i], set(data.record(i)), ill[i]) for i in range(len(data)) if data.record(i)]


def oracle(truth, target, m, c):
    """(posterior, base rate) furthest above both c and the base rate, the share left out, and each person's worst."""
    rows, published = plain(truth), [row[1] for row in plain(target)]
    found, left_out, worst = [], [], {}
    for size in {1, m}:
        for by_person in (True, False):
            weight = {}
            for value in ("HIV", "flu"):
                absent = having = all_having = everything = Fraction(0)
                for who, record, ill in rows:
                    own = [row for row in rows if row[0] == who]
                    each = Fraction(1, len(own)) if by_person else Fraction(1)
                    sets = list(combinations(sorted(record), min(size, len(record))))
                    gone = [q for q in sets if not any(set(q) <= other for other in published)]
                    absent += each * Fraction(len(gone), len(sets))
                    having += each * Fraction(len(gone), len(sets)) * (ill == value)
                    all_having += each * (ill == value)
                    everything += each
                    for q in gone:
                        fits = [row for row in rows if set(q) <= row[1]]
                        with_value = [row for row in fits if row[2] == value]
                        share = max(
                            Fraction(len({row[0] for row in with_value}), len({row[0] for row in fits})),
                            Fraction(len(with_value), len(fits)),
                        )
                        worst.setdefault(who, {}).setdefault(value, []).append(share)
                base = all_having / everything
                weight[value] = base
                if by_person:
                    left_out.append(absent / everything)
                if absent:
                    posterior = having / absent
                    found.append((posterior - max(c, base), posterior - base, posterior, base))
    return found, max(left_out), worst


@st.composite
def data_sets(draw):
    visit_maps = st.dictionaries(st.integers(0, 3), st.sampled_from("ab"), min_size=1, max_size=3)
    records = draw(st.lists(visit_maps, min_size=1, max_size=6))
    truth = Visits.from_records(
        [[(place, t) for t, place in sorted(record.items())] for record in records],
        attributes={"ill": draw(st.lists(st.sampled_from(["HIV", "flu", "no", None]), min_size=len(records),
                                         max_size=len(records)))},
        owner=draw(st.lists(st.integers(0, 3), min_size=len(records), max_size=len(records))),
    )  # fmt: skip
    kept = draw(st.lists(st.booleans(), min_size=truth.n_visits, max_size=truth.n_visits))
    return truth, truth.where(np.array(kept, bool))


@given(data_sets(), st.integers(1, 3))
@settings(deadline=None, max_examples=100)
def test_equals_the_definition_on_small_data(data, m):
    truth, target = data
    c = Fraction(1, 3)
    longest = int(np.diff(truth.offsets).max())
    found, left_out, worst = oracle(truth, target, min(m, longest), c)
    measured = attack(truth, target, m=m, confidence=c).measured
    assert measured["suppressed_share"] == pytest.approx(float(left_out))
    if not found:
        assert measured["posterior_aggregate"] is None
        assert measured["posterior_max"] is None
        return
    excess, lift, *_ = max(found)
    assert measured["posterior_aggregate"] - max(float(c), measured["base_rate"]) == pytest.approx(float(excess))
    assert measured["posterior_aggregate"] - measured["base_rate"] == pytest.approx(float(lift))
    most = {who: max(max(shares) for shares in by_value.values()) for who, by_value in worst.items()}
    assert measured["posterior_max"] == pytest.approx(float(max(most.values())))
    assert measured["posterior_mean"] == pytest.approx(float(sum(most.values())) / len(most))
    assert 0 <= measured["share_above"] <= 1


def crowd(seed, n=200):
    """People at a few places at a few times, a quarter of them with the value."""
    rng = np.random.default_rng(seed)
    records = [[(f"p{int(rng.zipf(1.6)) % 12}", t) for t in range(3) if rng.random() < 0.8] or [("p0", 0)]
               for _ in range(n)]  # fmt: skip
    ill = ["HIV" if rng.random() < 0.22 else "no" for _ in range(n)]
    return Visits.from_records(records, attributes={"ill": ill}, owner=range(n))


def test_where_everything_fits_nothing_is_told():
    data = crowd(1)
    measured = attack(data, data, m=1).measured
    assert measured["posterior_aggregate"] is None
    assert measured["suppressed_share"] == 0
    assert measured["share_above"] == 0
    assert measured["base_rate"] == pytest.approx(sum(v == "HIV" for v in data.attributes["ill"].values()) / 200)


def test_a_visit_that_is_left_out_because_of_the_value_tells_it():
    """Only those who are ill were at b, so b is left out; whoever was there is ill."""
    truth = Visits.from_records(
        [[("a", 1)]] * 6 + [[("b", 1)]] * 2, attributes={"ill": ["no"] * 6 + ["HIV"] * 2}, owner=range(8)
    )
    measured = attack(truth, truth.where(truth.location == 0), m=1, sensitive={"ill": ["HIV"]}).measured
    assert measured["posterior_aggregate"] == 1
    assert measured["base_rate"] == 0.25
    assert measured["posterior_max"] == 1
    assert measured["share_above"] == 0.25
    assert measured["suppressed_share"] == 0.25


def test_a_visit_that_is_left_out_of_everybody_alike_tells_nothing_new():
    truth = Visits.from_records(
        [[("a", 1)], [("b", 1)]] * 4, attributes={"ill": ["HIV", "HIV"] + ["no"] * 6}, owner=range(8)
    )
    measured = attack(truth, truth.where(truth.location == 0), m=1, sensitive={"ill": ["HIV"]}).measured
    assert measured["posterior_aggregate"] == measured["base_rate"] == 0.25
    assert measured["share_above"] == 0


def test_one_person_with_many_trips_counts_once_over_people_and_often_over_trajectories():
    truth = Visits.from_records(
        [[("b", 1)]] * 9 + [[("b", 1)], [("a", 1)]],
        attributes={"ill": ["HIV"] * 9 + ["no", "no"]},
        owner=[0] * 9 + [1, 2],
    )
    measured = attack(truth, truth.where(truth.location == 0), m=1, sensitive={"ill": ["HIV"]}).measured
    assert measured["posterior_max"] == 0.9  # trajectories
    assert measured["posterior_aggregate"] in (0.9, 0.5)


@given(data_sets(), st.integers(1, 3))
@settings(deadline=None, max_examples=40)
def test_asked_in_pieces_it_is_the_same_without_the_population(data, m):
    truth, target = data
    known = Absence(m=m, victims=10)
    questions = known.join_queries([known.queries(truth, sensitive=SENSITIVE, rng=np.random.default_rng(1))])
    halves = [target.take(np.flatnonzero(target.owner % 2 == i)) for i in (0, 1)]
    answers = [known.match(questions, half, **IN_PIECES)["fitting"] for half in halves]
    found = known.summarize(questions, {"fitting": answers[0] + answers[1]}).measured
    whole = attack(truth, target, m=m).measured
    for key in ("posterior_aggregate", "base_rate", "suppressed_share"):
        assert found[key] == whole[key]
    assert found["posterior_max"] is found["share_above"] is None


def test_questions_of_two_pieces_are_joined():
    data = crowd(4, n=40)
    known = Absence(m=2, victims=100)
    halves = [data.take(np.arange(0, 20)), data.take(np.arange(20, 40))]
    target = data.where(data.location != data.location[0])
    asked = [known.queries(half, sensitive=SENSITIVE, rng=np.random.default_rng(1)) for half in halves]
    questions = known.join_queries(asked)
    found = known.summarize(questions, known.match(questions, target, **IN_PIECES)).measured
    whole = attack(data, target, m=2).measured
    assert found["posterior_aggregate"] == pytest.approx(whole["posterior_aggregate"])
    assert found["base_rate"] == pytest.approx(whole["base_rate"])


def test_without_sensitive_values_only_what_is_left_out_is_told():
    data = crowd(2)
    found = attack(data, data.where(data.t > 0), sensitive={}, m=1)
    assert found.measured["posterior_aggregate"] is None
    assert found.measured["suppressed_share"] > 0
    assert found.charts == ()


def test_an_empty_truth_and_an_attribute_that_is_not_there():
    nobody = Visits.from_records([], attributes={"ill": []})
    assert attack(nobody, nobody).measured["suppressed_share"] is None
    data = crowd(3)
    found = attack(data, data.where(data.t > 0), sensitive={"job": ["spy"]}, m=1).measured
    assert found["posterior_aggregate"] == found["base_rate"] == 0


def test_times_that_cannot_be_compared_are_refused():
    data = crowd(1)
    other = Visits.from_records([[("a", 1)]])
    object.__setattr__(other, "time_format", "date")
    with pytest.raises(InputError, match="absence: the times"):
        attack(data, other)


def test_with_k_1_what_is_missing_is_certain():
    """With k = 1 nothing is rare, so what fits nothing was left out because everybody there has the value."""
    data, sensitive = crowd(6), {"ill": ["HIV"]}
    told = {}
    for k in (1, 5):
        method = Kcl(k=k, c=Fraction(3, 10), l=1, sensitive=sensitive, accept_absence="yes")
        made = method.run(data, rng=np.random.default_rng(1), engine=ENGINE)
        told[k] = attack(data, made.data, sensitive=sensitive, m=1, confidence=Fraction(3, 10)).measured
    assert told[1]["suppressed_share"] > 0
    assert told[1]["posterior_aggregate"] == 1
    assert told[5]["posterior_aggregate"] < 1
