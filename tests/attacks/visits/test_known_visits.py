"""The attack against a restatement of its definition, on planted and on random data."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks import ATTACKS, KnownVisits
from wayveil.attacks.visits import knowledge as parts
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.model import Visits

ENGINE = LocalEngine(workers=2)


def attack(truth, target, sensitive=None, seed=1, **parameters):
    return KnownVisits(**parameters).run(
        truth, target, sensitive=sensitive or {}, rng=np.random.default_rng(seed), engine=ENGINE
    )


def table_1():
    """Seed table: eight patients and their diagnoses."""
    paths = (
        "a1 d2 b3 e4 f6 e8",
        "d2 c5 f6 c7 e9",
        "b3 c7 e8",
        "b3 e4 f6 e8",
        "a1 d2 c5 f6 c7",
        "c5 f6 e9",
        "f6 c7 e8",
        "a1 d2 f6 c7 e9",
    )
    records = [[(visit[0], int(visit[1:])) for visit in path.split()] for path in paths]
    diagnosis = ["HIV", "Fever", "Hepatitis", "Flu", "HIV", "Hepatitis", "Fever", "Flu"]
    return Visits.from_records(records, attributes={"diagnosis": diagnosis})


HIDDEN_VALUES = {"diagnosis": ["HIV", "Hepatitis"]}


# The definition, on lists: what fits a known set, and what that tells.


def plain(data):
    people = data.owner.tolist() if data.owners == "given" else list(range(len(data)))
    columns = {name: coded.values() for name, coded in data.attributes.items()}
    return [
        (people[i], set(data.record(i)), {(name, column[i]) for name, column in columns.items()})
        for i in range(len(data))
    ]


def oracle_set(target, known, sensitive, victim=None):
    """Counted over people and over trajectories; without a `victim`, that of most trajectories is taken for them."""
    fits = [row for row in target if known <= row[1]]
    owners = {row[0] for row in fits}
    if not owners:
        return 0.0, 0.0, 0
    own = Counter(row[0] for row in fits)
    most = max(own.values()) if victim is None else own[victim]
    pairs = [(name, value) for name, values in sensitive.items() for value in values]
    shares = [len({row[0] for row in fits if pair in row[2]}) / len(owners) for pair in pairs]
    shares += [sum(pair in row[2] for row in fits) / len(fits) for pair in pairs]
    return max(1 / len(owners), most / len(fits)), max(shares, default=0), len(owners)


def oracle_people(truth, target, m, worst, sensitive):
    rows, attacked = plain(truth), plain(target)
    same = target.owners == "given" and truth.owners == "given" and truth.owner.tolist() == target.owner.tolist()
    found = []
    for person in sorted({row[0] for row in rows if row[1]}):
        mine = [sorted(row[1]) for row in rows if row[0] == person and row[1]]
        every = []
        for record in mine:
            top = min(m, len(record))
            sizes = range(1, top + 1) if worst else [top]
            for size in sizes:
                for known in combinations(record, size):
                    weight = 1 / (len(mine) * comb(len(record), size))
                    every.append((weight, *oracle_set(attacked, set(known), sensitive, person if same else None)))
        if worst:
            identity, confidence = max(e[1] for e in every), max(e[2] for e in every)
            found.append((identity, confidence, identity == 0, identity == 1))
        else:
            found.append(
                (
                    sum(e[0] * e[1] for e in every),
                    sum(e[0] * e[2] for e in every),
                    sum(e[0] * (e[3] == 0) for e in every),
                    sum(e[0] * (e[3] == 1) for e in every),
                )
            )
    return found


def learnt(result):
    """What was measured, without what it is held against and between which bounds the mean is."""
    held = ("_threshold", "_low", "_high")
    return {name: value for name, value in result.measured.items() if not name.endswith(held)}


@st.composite
def data_sets(draw, *, owners):
    records = draw(
        st.lists(st.dictionaries(st.integers(0, 4), st.sampled_from("abc"), max_size=5), min_size=1, max_size=7)
    )
    n = len(records)
    value = st.sampled_from(["x", "y", "z", None])
    return Visits.from_records(
        [[(place, t) for t, place in sorted(record.items())] for record in records],
        attributes={name: draw(st.lists(value, min_size=n, max_size=n)) for name in ("one", "two")},
        owner=draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) if owners else None,
    )


@given(
    data_sets(owners=True) | data_sets(owners=False),
    data_sets(owners=True) | data_sets(owners=False),
    st.integers(1, 6),
    st.sampled_from(["random", "worst"]),
    st.booleans(),
)
@settings(deadline=None, max_examples=150)
def test_equals_the_definition_on_small_data(truth, other, m, choice, raw):
    target = truth if raw else other
    sensitive = {"one": ["x", "y"], "two": ["x"]}
    people = oracle_people(truth, target, m, choice == "worst", sensitive)
    result = attack(truth, target, sensitive, m=m, choice=choice)
    assert result.victims == len(people)
    assert not result.sampled
    if not people:
        assert set(learnt(result).values()) == {None}
        return
    identity, confidence, unmatched, unique = (np.array(column, float) for column in zip(*people, strict=True))
    expected = {
        "identity_mean": identity.mean(),
        "identity_max": identity.max(),
        "identity_share_above": (identity > 0.1 + 1e-9).mean(),
        "attribute_mean": confidence.mean(),
        "attribute_max": confidence.max(),
        "attribute_share_above": (confidence > 0.5 + 1e-9).mean(),
        "unmatched_share": unmatched.mean(),
        "unique_share": unique.mean(),
    }
    assert learnt(result) == pytest.approx(expected, abs=1e-9)
    assert (result.measured["identity_threshold"], result.measured["attribute_threshold"]) == (0.1, 0.5)
    for chart in result.charts:
        assert sum(chart.series[0].values) == pytest.approx(1)
    assert result.charts[0].series[0].values[0] == pytest.approx((identity == 0).mean())
    assert result.charts[0].series[0].values[-1] == pytest.approx((identity > 1 - 1e-9).mean())


@given(data_sets(owners=True) | data_sets(owners=False), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_drawn_sets_equal_the_definition_where_all_visits_are_known(truth, seed):
    """With m as long as any trajectory a draw is only the choice of a trajectory; one each leaves no choice."""
    single = Visits.from_records([truth.record(i) for i in range(len(truth))])
    people = oracle_people(single, truth, 5, False, {})
    result = attack(single, truth, seed=seed, m=5, victims=1, draws=3)
    if len(people) > 1:
        assert result.victims == 1
        assert any(result.measured["identity_mean"] == pytest.approx(p[0]) for p in people)


# Planted cases, with the answer stated.


def test_table_1_with_the_sets_of_the_paper():
    data = table_1()
    lists = plain(data)
    assert oracle_set(lists, {("d", 2), ("e", 4)}, HIDDEN_VALUES)[0] == 1
    result = attack(data, data, HIDDEN_VALUES, m=2, choice="worst")
    assert result.measured["identity_max"] == 1
    assert result.measured["attribute_max"] == 1
    two = Visits.from_records([[("a", 1), ("f", 6)]])
    bill = attack(two, data, HIDDEN_VALUES, m=2)
    assert bill.measured["identity_mean"] == pytest.approx(1 / 3)
    assert bill.measured["attribute_mean"] == pytest.approx(2 / 3)


def test_a_unique_pair_singles_out():
    data = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("c", 3)], [("b", 2), ("c", 3)]])
    one = attack(data, data, m=1, choice="worst")
    two = attack(data, data, m=2, choice="worst")
    assert one.measured["identity_max"] == 0.5
    assert two.measured["identity_max"] == two.measured["unique_share"] == 1


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_all_visits_known_is_as_many_as_the_longest_trajectory_has(choice):
    every, most = (attack(table_1(), table_1(), HIDDEN_VALUES, m=m, choice=choice) for m in ("all", 6))
    assert every.measured == most.measured
    assert "of a trajectory" in every.adversary


@pytest.mark.parametrize("choice", ["random", "worst"])
@pytest.mark.parametrize("k", [2, 3, 7, 10])
def test_a_table_where_everybody_has_k_equals_stays_at_one_over_k(choice, k):
    record = [[("a", 1), ("b", 2), ("c", 5)], [("a", 1), ("d", 4), ("e", 9), ("f", 11)]]
    data = Visits.from_records([r for r in record for _ in range(k)])
    result = attack(data, data, m=3, choice=choice, threshold=f"1/{k}")
    assert result.measured["identity_max"] <= 1 / k
    assert result.measured["identity_share_above"] == 0
    drawn = attack(data, data, m=3, choice=choice, victims=k + 1)
    assert drawn.measured["identity_max"] <= 1 / k


def test_a_group_that_shares_a_sensitive_value_is_told():
    data = Visits.from_records(
        [[("a", 1)], [("a", 1)], [("b", 1)], [("b", 1)]], attributes={"ill": ["HIV", "HIV", "HIV", "no"]}
    )
    result = attack(data, data, {"ill": ["HIV"]}, m=1)
    assert result.measured["attribute_max"] == 1
    assert result.measured["attribute_mean"] == 0.75
    assert result.measured["identity_max"] == 0.5
    assert result.measured["attribute_share_above"] == 0.5
    assert dict(zip(result.charts[1].labels, result.charts[1].series[0].values, strict=True))["40 to 50 %"] == 0.5


def test_whoever_owns_most_of_what_fits_is_found_and_so_is_what_most_of_it_says():
    """One person has 200 of the 204 trajectories that fit b at 2, and they say HIV; one of the five people has it."""
    route = [("a", 1), ("b", 2), ("c", 3)]
    data = Visits.from_records(
        [route] * 204 + [[("a", 1)]] * 10,
        attributes={"ill": ["HIV"] * 200 + ["well"] * 14},
        owner=[0] * 200 + list(range(1, 15)),
    )
    found = attack(data, data, {"ill": ["HIV"]}, m=3, choice="worst")
    assert found.measured["identity_max"] == pytest.approx(200 / 204)
    assert found.measured["attribute_max"] == pytest.approx(200 / 204)
    # The four others are one of five people, the ten one of fifteen.
    assert found.measured["identity_mean"] == pytest.approx((200 / 204 + 4 / 5 + 10 / 15) / 15)
    other = replace(data, owner=data.owner[::-1])  # nobody says whose the trajectories are: the worst is taken
    assert attack(data, other, {"ill": ["HIV"]}, m=3, choice="worst").measured["identity_max"] > 0.9


@given(data_sets(owners=True), st.integers(1, 4), st.sampled_from(["random", "worst"]))
@settings(deadline=None, max_examples=60)
def test_asked_in_pieces_by_person_it_is_the_same(data, m, choice):
    known = KnownVisits(m=m, choice=choice, victims=10)
    sensitive = {"one": ["x", "y"], "two": ["x"]}
    if not data.n_visits:
        return
    rng = np.random.default_rng(1)
    questions = known.join_queries([known.queries(data, sensitive=sensitive, rng=rng)])
    answers = {}
    for piece in (data.take(np.flatnonzero(data.owner % 2 == i)) for i in (0, 1)):
        for key, value in known.match(questions, piece, truth=None, rng=None, engine=LocalEngine()).items():
            both = [*(answers.get(key, ()) if isinstance(value, tuple) else [answers.get(key, 0)])]
            if isinstance(value, tuple):
                answers[key] = tuple(a + b for a, b in zip(both, value, strict=True)) if both else value
            else:
                answers[key] = both[0] + value
    result = known.summarize(questions, answers)
    assert learnt(result) == pytest.approx(learnt(attack(data, data, sensitive, m=m, choice=choice)), abs=1e-9)


def test_trips_of_one_person_hide_nobody():
    data = Visits.from_records([[("a", 1)]] * 5, owner=[7, 7, 7, 7, 7])
    assert attack(data, data, m=1).measured["identity_mean"] == 1
    assert attack(data, data, m=1).victims == 1


def test_withheld_owners_are_counted_as_trajectories():
    data = Visits.from_records([[("a", 1)]] * 5, owner=[7, 7, 7, 7, 7])
    hidden = Visits(
        offsets=data.offsets,
        location=data.location,
        t=data.t,
        locations=data.locations,
        owner=range(5),
        owners="hidden",
    )
    assert attack(data, hidden, m=1).measured["identity_mean"] == pytest.approx(0.2)


def test_places_are_matched_by_name_and_order_does_not_matter():
    truth = Visits.from_records([[("a", 1), ("z", 2)], [("m", 1)]])
    target = Visits.from_records([[("m", 1)], [("b", 9), ("z", 10)], [("a", 1), ("z", 2)]])
    result = attack(truth, target, m=2)
    assert result.measured["identity_mean"] == 1
    assert result.measured["unmatched_share"] == 0


def test_an_unknown_place_or_time_matches_nothing():
    truth = Visits.from_records([[("a", 1)], [("q", 1)], [("a", 2)]])
    target = Visits.from_records([[("a", 1)], [("a", 1)]])
    result = attack(truth, target, m=1)
    assert result.measured["unmatched_share"] == pytest.approx(2 / 3)
    assert result.charts[0].series[0].values[0] == pytest.approx(2 / 3)


@pytest.mark.parametrize("choice", ["random", "worst"])
@pytest.mark.parametrize("records", [[], [[], []]])
def test_an_empty_target_matches_nothing(choice, records):
    target = Visits.from_records(records, attributes={"diagnosis": ["HIV"] * len(records)})
    result = attack(table_1(), target, HIDDEN_VALUES, choice=choice)
    assert result.measured["unmatched_share"] == 1
    assert result.measured["identity_max"] == result.measured["attribute_max"] == 0
    assert result.charts[0].series[0].values[0] == result.charts[1].series[0].values[0] == 1


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_nobody_to_attack(choice):
    nobody = Visits.from_records([[], []])
    result = attack(nobody, table_1(), HIDDEN_VALUES, choice=choice)
    assert result.victims == 0
    assert set(learnt(result).values()) == {None}


def test_without_sensitive_values_there_is_no_attribute_risk():
    result = attack(table_1(), table_1())
    assert result.measured["attribute_max"] is None
    assert "attribute_threshold" not in result.measured
    assert result.measured["identity_max"] == 1
    assert len(result.charts) == 1


def test_an_attribute_or_value_that_is_not_published_tells_nothing():
    result = attack(table_1(), table_1(), {"diagnosis": ["Plague"], "income": ["high"]})
    assert result.measured["attribute_max"] == 0


# Sampling.


def random_data(n, length, seed=3):
    rng = np.random.default_rng(seed)
    return Visits.from_records(
        [[("abcdef"[i], t) for t, i in enumerate(rng.integers(6, size=length))] for _ in range(n)]
    )


def test_people_are_sampled_where_there_are_more():
    data = random_data(300, 5)
    result = attack(data, data, m=2, victims=100)
    assert (result.victims, result.sampled) == (100, True)
    exact = attack(data, data, m=2)
    assert (exact.victims, exact.sampled) == (300, False)
    assert result.measured["identity_mean"] == pytest.approx(exact.measured["identity_mean"], rel=0.2)


def test_same_seed_same_result_on_one_core_or_more_and_another_seed_another():
    data = random_data(300, 6)
    one = KnownVisits(m=2, victims=50)
    results = [
        one.run(data, data, sensitive={}, rng=np.random.default_rng(seed), engine=LocalEngine(workers=workers))
        for seed, workers in ((5, 1), (5, 3), (6, 1))
    ]
    assert results[0] == results[1]
    assert results[0] != results[2]


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_blocks_and_small_tasks_change_nothing(choice, monkeypatch):
    data = random_data(60, 6)
    whole = attack(data, data, m=2, choice=choice)
    monkeypatch.setattr(parts, "_CELLS", 100)
    monkeypatch.setattr(parts, "_SETS_PER_TASK", 7)
    assert attack(data, data, m=2, choice=choice) == whole


def test_too_many_sets_are_sampled_and_said_to_be():
    data = random_data(20, 40)
    worst = attack(data, data, m=4, choice="worst")
    drawn = attack(data, data, m=4)
    assert worst.sampled
    assert drawn.sampled
    assert worst.measured["identity_max"] == 1
    assert worst.measured["identity_mean"] >= drawn.measured["identity_mean"]


def test_long_trajectories_known_in_full_are_exact():
    data = random_data(20, 40)
    result = attack(data, data, m=10**15)
    assert not result.sampled
    assert result.measured["identity_mean"] == 1


def test_worst_tries_every_trajectory_of_a_person_with_very_many():
    records = [[("a", t)] for t in range(6000)] + [[("a", t)] for t in range(5999)]
    data = Visits.from_records(records, owner=[0] * 6000 + [1] * 5999)
    result = attack(data, data, m=2, choice="worst")
    assert result.measured["identity_mean"] == pytest.approx(0.75)  # only person 0 was there at the last time


# What a person reads.


def test_classes_are_the_same_for_raw_and_published_data():
    raw = attack(table_1(), table_1(), HIDDEN_VALUES)
    published = attack(table_1(), Visits.from_records([]), HIDDEN_VALUES)
    assert [c.labels for c in raw.charts] == [c.labels for c in published.charts]
    assert [c.series[0].name for c in raw.charts] == ["share of people"] * 2


@pytest.mark.parametrize(
    ("owners", "label"),
    [(50, "up to 1/50"), (49, "1/50 to 1/20"), (20, "1/50 to 1/20"), (10, "1/20 to 1/10"), (2, "1/5 to 1/2")],
)
def test_a_risk_on_a_bound_is_in_the_lower_class(owners, label):
    data = Visits.from_records([[("a", 1)]] * owners)
    chart = attack(data, data).charts[0]
    assert dict(zip(chart.labels, chart.series[0].values, strict=True))[label] == 1


def test_the_registry_knows_it_by_name_and_parameters_are_checked():
    assert ATTACKS["known_visits"] is KnownVisits
    with pytest.raises(ParameterError, match="known_visits: m must be an integer >= 1 or 'all', got 0"):
        KnownVisits(m=0)
    with pytest.raises(ParameterError, match="choice must be one of random, worst"):
        KnownVisits(choice="best")
    assert "3 visits" in attack(table_1(), table_1()).adversary
    assert "worst" in attack(table_1(), table_1(), choice="worst", m=1).adversary


def test_times_that_cannot_be_compared_are_refused():
    utc = Visits.from_records([[("a", 1)]], time_format="utc")
    with pytest.raises(InputError, match="cannot be compared"):
        attack(utc, table_1())


def test_the_input_is_left_as_it_was():
    data = table_1()
    before = [data.t.tobytes(), data.location.tobytes(), data.offsets.tobytes()]
    attack(data, data, HIDDEN_VALUES, choice="worst")
    assert [data.t.tobytes(), data.location.tobytes(), data.offsets.tobytes()] == before


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_what_is_known_is_the_same_for_every_target(choice):
    """Sets are drawn when they are matched, a few people at a time; a second target meets the same ones."""
    rng = np.random.default_rng(3)
    records = [[(str(rng.integers(6)), t) for t in range(8)] for _ in range(40)]
    data = Visits.from_records(records, owner=list(range(40)))
    target = data.where(rng.random(data.n_visits) < 0.7)
    known = KnownVisits(m=3, choice=choice, victims=10, draws=3)
    drawing = np.random.default_rng(1)
    queries = known.queries(data, sensitive={}, rng=drawing)
    drawing.random(100)  # whatever is drawn later changes nothing
    for one in (target, data, target):
        matches = known.match(queries, one, truth=data, rng=drawing, engine=ENGINE)
        assert known.summarize(queries, matches) == attack(data, one, {}, m=3, choice=choice, victims=10, draws=3)
