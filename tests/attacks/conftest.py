"""Data and restatements of definitions shared by the tests of attacks: fixtures that give functions."""

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import strategies as st

from wayveil.model import Visits


@pytest.fixture(scope="session")
def place_data():
    """Strategies of visits to few places, of given, assumed or withheld owners."""
    return data_sets


@pytest.fixture(scope="session")
def any_owners():
    """The same, with any of these."""
    return lambda **limits: st.sampled_from(["given", "declared", "hidden"]).flatmap(
        lambda owners: data_sets(owners, **limits)
    )


@pytest.fixture(scope="session")
def place_oracle():
    """What attacks by known places find, from the definition."""
    return oracle


@pytest.fixture(scope="session")
def assert_told():
    """A comparison of a result with what an oracle says of each person."""
    return assert_people


@pytest.fixture(scope="session")
def random_visits():
    """People who visit places at random."""
    return random_data


@st.composite
def data_sets(draw, owners, places="abcd", longest=5, most=6, people=4):
    """Visits to few places, of given, assumed or withheld owners."""
    visits = st.dictionaries(st.integers(0, 9), st.sampled_from(places), max_size=longest)
    records = [sorted(record.items()) for record in draw(st.lists(visits, min_size=1, max_size=most))]
    n = len(records)
    owner = draw(st.lists(st.integers(0, people - 1), min_size=n, max_size=n)) if owners == "given" else None
    data = Visits.from_records([[(place, t) for t, place in record] for record in records], owner=owner)
    return replace(data, owners="hidden") if owners == "hidden" else data


def plain(data, record):
    """Return (person, places in order of time) per record: a trajectory, or all that a person did."""
    given = data.owners == "given"
    people = data.owner.tolist() if given else list(range(len(data)))
    rows = [(people[i], data.record(i)) for i in range(len(data)) if data.record(i)]
    if record == "person" and given:
        together = {}
        for person, visits in rows:
            together.setdefault(person, []).extend(visits)
        rows = [(person, sorted(visits, key=lambda visit: visit[1])) for person, visits in together.items()]
    return [(person, [place for place, _ in visits]) for person, visits in rows]


def oracle(known, match, truth, target, m, choice, record, *, exactly=False):
    """Return (risk, unmatched, unique) per person, from the definition.

    `known` tells what can be known of the places of a record, `match` whether places fit some of it.
    """
    rows, attacked = plain(truth, record), plain(target, record)
    same = truth.owners == target.owners == "given" and truth.owner.tolist() == target.owner.tolist()
    found = []
    for person in sorted({person for person, _ in rows}):
        mine = [known(places) for who, places in rows if who == person]
        tried = []
        for record_of in mine:
            top = min(m, len(record_of))
            for size in range(1, top + 1) if choice == "worst" and not exactly else [top]:
                for instance in combinations(record_of, size):
                    fits = [who for who, places in attacked if match(places, instance)]
                    owners, own = len(set(fits)), fits.count(person) if same else 0
                    risk = max(1 / owners, own / len(fits)) if fits else 0.0
                    tried.append((1 / (len(mine) * comb(len(record_of), size)), owners, risk))
        if choice == "worst":
            risk = max(risk for _, _, risk in tried)
            found.append((risk, risk == 0, risk == 1))
        else:
            ways = ([r for _, _, r in tried], [o == 0 for _, o, _ in tried], [o == 1 for _, o, _ in tried])
            found.append(tuple(sum(w * x for (w, _, _), x in zip(tried, way, strict=True)) for way in ways))
    return found


def assert_people(result, people):
    assert (result.victims, result.sampled) == (len(people), False)
    assert (result.measured["identity_mean_low"], result.measured["identity_mean_high"]) == (None, None)
    if not people:
        assert result.measured["identity_mean"] is result.measured["identity_max"] is None
        return
    risk, unmatched, unique = (np.array(column, float) for column in zip(*people, strict=True))
    threshold = result.measured["identity_threshold"]
    expected = {
        "identity_mean": risk.mean(),
        "identity_max": risk.max(),
        "identity_share_above": (risk > threshold + 1e-9).mean(),
        "unmatched_share": unmatched.mean(),
        "unique_share": unique.mean(),
    }
    assert {name: result.measured[name] for name in expected} == pytest.approx(expected, abs=1e-9)
    assert sum(result.charts[0].series[0].values) == pytest.approx(1)
    assert result.charts[0].series[0].values[0] == pytest.approx((risk == 0).mean())
    assert result.charts[0].series[0].values[-1] == pytest.approx((risk > 1 - 1e-9).mean())


def random_data(n, length, places=6, seed=3):
    rng = np.random.default_rng(seed)
    return Visits.from_records(
        [[(chr(97 + i), t) for t, i in enumerate(rng.integers(places, size=length))] for _ in range(n)]
    )
