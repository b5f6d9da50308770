"""Attacks asked in pieces: whoever fits is counted piece by piece, and the result is that of the whole."""

import pickle
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.visits import knowledge
from wayveil.attacks.visits.known_visits import KnownVisits
from wayveil.attacks.visits.resolutions import Times
from wayveil.attacks.visits.uniqueness import Uniqueness
from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.model import Coded, Visits
from wayveil.model.accumulators import add

ENGINE = LocalEngine(workers=1)
SENSITIVE = {"ill": ("flu", "cold"), "rich": ("yes",)}
EVERYBODY = 10**6


@st.composite
def visits(draw):
    listed = draw(
        st.lists(st.dictionaries(st.integers(0, 9), st.sampled_from("abc"), max_size=4), min_size=1, max_size=8)
    )
    n = len(listed)
    owner = draw(st.none() | st.lists(st.integers(0, 4), min_size=n, max_size=n))
    data = Visits.from_records([[(place, 10 * t) for t, place in sorted(one.items())] for one in listed], owner=owner)
    ill = draw(st.lists(st.sampled_from(["flu", "cold", "no", None]), min_size=n, max_size=n))
    attributes = {"ill": Coded.from_values(ill)}
    if draw(st.booleans()):
        rich = draw(st.lists(st.sampled_from(["yes", "no"]), min_size=n, max_size=n))
        attributes["rich"] = Coded.from_values(rich)
    return replace(data, attributes=attributes, time_format=draw(st.sampled_from(["integer", "epoch"])))


def cut(data, where):
    """Return pieces of the data, each with names in an order of its own; `where` says in which piece each owner is."""
    owner = np.unique(data.owner, return_inverse=True)[1]
    found = []
    for number in range(max(where) + 1):
        own = np.flatnonzero(np.array(where)[owner] == number)
        piece = data.take(own)
        order = np.random.default_rng(number).permutation(len(piece.locations))
        found.append(
            replace(
                piece,
                locations=tuple(piece.locations[i] for i in order),
                location=np.argsort(order)[piece.location],
                owner=piece.owner,
            )
        )
    return found


def answered(attack, questions, pieces):
    questions = pickle.loads(pickle.dumps(questions))
    matches = [attack.match(questions, piece, truth=None, rng=None, engine=ENGINE) for piece in pieces]
    return attack.summarize(questions, reduce(add, matches))


def whole(attack, truth, target, seed, sensitive=SENSITIVE):
    return attack.run(truth, target, sensitive=sensitive, rng=np.random.default_rng(seed), engine=ENGINE)


def asked(attack, truth, seed, victims, sensitive=SENSITIVE):
    known = replace(attack, victims=victims).queries(truth, sensitive=sensitive, rng=np.random.default_rng(seed))
    return attack.join_queries([known])


PIECES = st.lists(st.integers(0, 2), min_size=8, max_size=8)
ATTACKS = st.one_of(
    st.builds(
        KnownVisits,
        m=st.sampled_from([1, 2, "all"]),
        choice=st.sampled_from(["random", "worst"]),
        victims=st.sampled_from([2, 100]),
        draws=st.integers(1, 3),
    ),
    st.builds(
        Uniqueness,
        points=st.integers(1, 3),
        bucket=st.sampled_from(["auto", "exact", "any"]),
        victims=st.sampled_from([2, 100]),
        draws=st.integers(1, 3),
    ),
)


@given(ATTACKS, visits(), visits() | st.none(), PIECES, st.integers(0, 99), st.sampled_from([SENSITIVE, {}]))
@settings(deadline=None, max_examples=60)
def test_a_target_in_pieces_gives_the_result_of_the_whole(attack, truth, other, where, seed, sensitive):
    target = truth if other is None else other
    questions = asked(attack, truth, seed, attack.victims, sensitive)
    expected = whole(attack, truth, target, seed, sensitive)
    assert answered(attack, questions, [target]) == expected
    assert answered(attack, questions, cut(target, where)) == expected


@given(
    st.sampled_from([KnownVisits(m=2), KnownVisits(m=2, choice="worst"), KnownVisits(m="all"), Uniqueness(points=20)]),
    visits(),
    PIECES,
    PIECES,
)
@settings(deadline=None, max_examples=40)
def test_questions_of_pieces_are_those_of_the_whole(attack, truth, where, elsewhere):
    """Where everything is tried and nothing is drawn, it does not matter in which piece somebody is asked about.

    Pieces of the truth and of the target have the same codes of owners, as those of a run do.
    """
    target = truth
    parts = [asked(attack, piece, 1, EVERYBODY) for piece in cut(truth, where)]
    found = answered(attack, attack.join_queries(parts), cut(target, elsewhere))
    expected = whole(replace(attack, victims=EVERYBODY), truth, target, 1)
    assert (found.name, found.adversary, found.victims) == (expected.name, expected.adversary, expected.victims)
    assert found.sampled is expected.sampled is False
    # What is known first is drawn even where all is known in the end.
    assert found.measured.keys() == expected.measured.keys()
    told = {name: number for name, number in expected.measured.items() if "_with_" not in name}
    assert {name: found.measured[name] for name in told} == {
        name: number if number is None else pytest.approx(number) for name, number in told.items()
    }
    charts = 1 if isinstance(attack, Uniqueness) else len(expected.charts)
    assert [chart.title for chart in found.charts] == [chart.title for chart in expected.charts]
    for mine, yours in zip(found.charts[:charts], expected.charts[:charts], strict=True):
        assert mine.series[0].values == pytest.approx(yours.series[0].values)


def crowd(n, seed=1):
    rng = np.random.default_rng(seed)
    records = [[(str(rng.integers(9)), int(t)) for t in np.sort(rng.choice(50, 6, replace=False))] for _ in range(n)]
    return Visits.from_records(records, owner=rng.integers(0, n // 2, n))


@pytest.mark.parametrize("attack", [KnownVisits(m=1), Uniqueness(points=2)])
def test_drawn_people_of_all_pieces_stand_for_everybody(attack):
    data = crowd(400)
    where = np.arange(200) % 3
    pieces = cut(data, where)
    questions = attack.join_queries([asked(attack, piece, i, 20) for i, piece in enumerate(pieces)])
    found = answered(attack, questions, pieces)
    assert (found.victims, found.sampled) == (60, True)
    low, high = (found.measured[f"identity_mean_{end}"] for end in ("low", "high"))
    everybody = whole(replace(attack, victims=EVERYBODY), data, data, 1).measured["identity_mean"]
    assert 0 < low < everybody < high < 1
    assert questions.population == data.n_owners


@pytest.mark.parametrize("choice", ["random", "worst"])
def test_many_questions_are_made_in_blocks(choice, monkeypatch):
    monkeypatch.setattr(knowledge, "_CELLS", 64)
    data, attack = crowd(60), KnownVisits(m=2, choice=choice)
    questions = asked(attack, data, 1, attack.victims)
    assert questions.people == data.n_owners
    assert sorted(set(questions.person.tolist())) == list(range(questions.people))
    assert answered(attack, questions, cut(data, np.arange(60) % 2)) == whole(attack, data, data, 1)


def test_questions_name_only_what_is_known():
    data = crowd(100)
    few = data.take(np.flatnonzero(data.owner == data.owner[0]))
    for attack in (KnownVisits(), Uniqueness()):
        questions = asked(attack, few, 1, 5)
        used = {data.locations[i] for i in few.location.tolist()}
        assert set(questions.names) <= used
        assert len(questions) > 0


def test_times_of_pieces_are_those_of_all():
    """The widths of time that are tried depend on all times, not on those of one piece."""
    hours = np.arange(1, 41) * 3600
    data = Visits.from_records([[("a", int(t))] for t in hours] + [[("a", 1800)]], time_format="epoch")
    attack = Uniqueness()
    pieces = cut(data, [0] * 40 + [1])
    parts = [asked(attack, piece, 1, EVERYBODY) for piece in pieces]
    assert [part.times for part in parts] == [
        Times(tick=3600, first=3600, last=40 * 3600, has_times=True),
        Times(tick=1800, first=1800, last=1800, has_times=True),
    ]
    empty = asked(attack, data.take(np.zeros(0, np.int64)), 1, EVERYBODY)
    joined = attack.join_queries([empty, *parts])
    assert joined.times == Times.of(data.t)
    assert answered(attack, joined, pieces).charts[2].labels == whole(attack, data, data, 1).charts[2].labels


@pytest.mark.parametrize("attack", [KnownVisits(), Uniqueness()])
def test_nobody_to_ask_about_and_nobody_to_ask(attack):
    data = crowd(10)
    nobody = data.take(np.zeros(0, np.int64))
    questions = asked(attack, nobody, 1, 5)
    assert answered(attack, questions, [data]).victims == 0
    questions = asked(attack, data, 1, 5)
    assert answered(attack, questions, [nobody]).measured["unmatched_share"] == 1


@pytest.mark.parametrize("attack", [KnownVisits(), Uniqueness()])
def test_what_does_not_belong_together_is_refused(attack):
    data = crowd(10)
    questions = asked(attack, data, 1, 5)
    with pytest.raises(InputError, match="cannot be compared"):
        attack.match(questions, replace(data, time_format="utc"), truth=None, rng=None, engine=ENGINE)
    with pytest.raises(InputError, match="no questions"):
        attack.join_queries([])
    with pytest.raises(InputError, match="only if they are of one data set"):
        attack.join_queries([questions, asked(attack, replace(data, time_format="utc"), 1, 5)])
