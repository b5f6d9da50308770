"""The attack against a restatement of its definition, on planted and on random data."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.attacks.places.top_places import TopPlaces
from wayveil.engines import LocalEngine
from wayveil.errors import ParameterError
from wayveil.model import Visits

ENGINE = LocalEngine(workers=2)
LIMITS = {"longest": 7, "most": 8, "people": 5}


def attack(truth, target, seed=1, **parameters):
    return TopPlaces(**parameters).run(truth, target, sensitive={}, rng=np.random.default_rng(seed), engine=ENGINE)


def people_of(data):
    """Return all places that each person visited; a trajectory is a person where nobody said."""
    found = {}
    for i in range(len(data)):
        if data.record(i):
            person = int(data.owner[i]) if data.owners == "given" else i
            found.setdefault(person, []).extend(place for place, _ in data.record(i))
    return found


def top(places, n):
    return [place for place, _ in sorted(Counter(places).items(), key=lambda pair: (-pair[1], pair[0]))][:n]


def oracle(truth, target, n, order):
    tops = [top(places, n) for places in people_of(target).values()]
    risks = []
    for _, places in sorted(people_of(truth).items()):
        mine = top(places, n)
        fits = [t for t in tops if (t[: len(mine)] == mine if order == "yes" else set(mine) <= set(t))]
        risks.append(1 / len(fits) if fits else 0.0)
    return np.array(risks)


@given(st.data(), st.integers(1, 5), st.sampled_from(["no", "yes"]))
@settings(deadline=None, max_examples=200)
def test_equals_the_definition_on_small_data(any_owners, data, n, order):
    truth = data.draw(any_owners(**LIMITS))
    target = truth if data.draw(st.booleans()) else data.draw(any_owners(places="abce", **LIMITS))
    result = attack(truth, target, n=n, order=order)
    risk = oracle(truth, target, n, order)
    assert (result.victims, result.sampled) == (len(risk), False)
    assert result.measured["exact_share"] is result.measured["identity_mean_low"] is None
    if not len(risk):
        assert result.measured["identity_mean"] is None
        return
    expected = {
        "identity_mean": risk.mean(),
        "identity_max": risk.max(),
        "identity_share_above": (risk > 0.1 + 1e-9).mean(),
        "unmatched_share": (risk == 0).mean(),
        "unique_share": (risk == 1).mean(),
    }
    assert {name: result.measured[name] for name in expected} == pytest.approx(expected)
    assert result.charts[0].series[0].values[-1] == pytest.approx((risk == 1).mean())


def test_the_ranks_tell_people_apart():
    data = Visits.from_records([[("a", 1), ("a", 2), ("b", 3)], [("b", 1), ("b", 2), ("a", 3)]])
    assert attack(data, data, n=2).measured["identity_mean"] == 0.5
    assert attack(data, data, n=2, order="yes").measured["identity_mean"] == 1
    assert attack(data, data, n=1).measured["identity_mean"] == 1


def test_ties_go_to_the_name_that_comes_first_whatever_its_code():
    truth = Visits.from_records([[("b", 1), ("a", 2), ("z", 3)]])
    target = Visits(
        offsets=[0, 3], location=[0, 1, 2], t=[1, 2, 3], locations=("z", "b", "a"), owner=[0], owners="declared"
    )
    assert attack(truth, target, n=1, order="yes").measured["identity_mean"] == 1
    assert attack(target, truth, n=2, order="yes").measured["identity_mean"] == 1


def test_all_trajectories_of_a_person_count_together():
    data = Visits.from_records([[("a", 1)], [("b", 1), ("c", 2)], [("b", 1)], [("b", 1), ("c", 2)]], owner=[0, 1, 0, 0])
    assert attack(data, data, n=1, order="yes").measured["identity_mean"] == 0.5
    assert attack(data, data, n=2).measured["identity_mean"] == 1
    assert attack(data, data, n=3).measured["identity_mean"] == pytest.approx(0.75)


def random_data(n, seed=3):
    rng = np.random.default_rng(seed)
    return Visits.from_records([[(chr(97 + i), t) for t, i in enumerate(rng.integers(6, size=9))] for _ in range(n)])


def test_people_are_sampled_where_there_are_more_with_a_seed():
    data = random_data(500)
    exact = attack(data, data).measured["identity_mean"]
    drawn = [attack(data, data, victims=100, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert (drawn[0].victims, drawn[0].sampled) == (100, True)
    assert drawn[0].measured["identity_mean_low"] <= exact <= drawn[0].measured["identity_mean_high"]


def test_nobody_to_attack_and_nothing_to_find():
    nobody, somebody = Visits.from_records([[], []]), random_data(3)
    assert attack(nobody, somebody).measured["identity_mean"] is None
    assert attack(Visits.from_records([]), somebody).victims == 0
    assert attack(somebody, nobody).measured["unmatched_share"] == 1
    assert attack(somebody, Visits.from_records([])).measured["identity_max"] == 0


def test_parameters_are_checked_and_the_adversary_is_told():
    with pytest.raises(ParameterError, match="top_places: n must be an integer >= 1, got 0"):
        TopPlaces(n=0)
    data = random_data(3)
    assert attack(data, data).adversary == "knows the 3 places that a person visits most"
    assert attack(data, data, n=2, order="yes").adversary == "knows the 2 places that a person visits most, in order"
    assert attack(data, data, n=1).adversary == "knows the place that a person visits most"
    assert attack(data, data, n=10**15).measured["identity_max"] == 1
