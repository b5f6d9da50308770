"""What hide_absence takes out: the attacker who reasons about what is missing is bounded, and the claim still holds."""

from fractions import Fraction

import numpy as np
import pytest

from wayveil.attacks import Absence
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods import Kcl
from wayveil.methods.kcl import kcl_absence
from wayveil.model import Visits
from wayveil.verifiers import check_kcl

ENGINE = LocalEngine(workers=1)
SENSITIVE = {"ill": ["HIV", "flu"], "job": ["none"]}


def published(data, **parameters):
    method = Kcl(**{"accept_absence": "yes", "hide_absence": "yes", **parameters})
    return method.run(data, rng=np.random.default_rng(1), engine=ENGINE)


def told(data, target, *, m, c, sensitive=SENSITIVE, **parameters):
    attack = Absence(m=m, confidence=c, **parameters)
    found = attack.run(data, target, sensitive=sensitive, rng=np.random.default_rng(1), engine=ENGINE)
    return found.measured


def random_data(seed):
    """A few people with one to four trips each; those who are ill go to other places; a third attribute has gaps."""
    rng = np.random.default_rng(seed)
    records, owner, ill, job, age = [], [], [], [], []
    for who in range(int(rng.integers(8, 30))):
        for _ in range(int(rng.choice([1, 1, 2, 4]))):
            has = str(rng.choice(["HIV", "flu", *["no"] * 8]))
            places = "yz" if has != "no" and rng.random() < 0.7 else "aab"
            times = np.flatnonzero(rng.random(3) < 0.6)
            records.append([(str(rng.choice(list(places))), int(t)) for t in times])
            owner.append(who)
            ill.append(has)
            job.append(str(rng.choice(["none", *["some"] * 7])))
            age.append([None, "old", "young"][rng.integers(3)])
    ill[:2] = ["HIV", "flu"]
    job[0] = "none"
    told_apart = {} if seed % 5 == 0 else {"owner": owner}
    return Visits.from_records(records, attributes={"ill": ill, "job": job, "age": age}, **told_apart)


def assert_hidden(seed):
    data = random_data(seed)
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 4))
    c = Fraction(int(rng.integers(1, 7)), 10)
    size = int(rng.integers(1, 4))
    how = {"suppression": str(rng.choice(["local", "local", "global"])), "restore": str(rng.choice(["yes", "no"]))}
    made = published(data, k=k, c=c, l=size, sensitive=SENSITIVE, **how)
    assert not made.data.n_visits or check_kcl(made.data, made.claim).holds
    for m in range(1, size + 1):
        found = told(data, made.data, m=m, c=c)
        assert found["posterior_excess"] in (None, 0.0)
        if found["posterior_aggregate"] is not None:
            assert found["posterior_aggregate"] <= max(c, found["base_rate"]) + 1e-9
    usual = published(data, k=k, c=c, l=size, sensitive=SENSITIVE, hide_absence="no", **how)
    before = [told(data, usual.data, m=m, c=c)["posterior_excess"] for m in range(1, size + 1)]
    lost = made.facts["visits suppressed to hide absence"]
    assert usual.data.n_visits - made.data.n_visits == lost
    assert (lost > 0) == any(excess for excess in before)
    return lost, made.data.n_visits


def test_nothing_that_is_missing_tells_more_than_is_allowed():
    results = [assert_hidden(seed) for seed in range(60)]
    assert sum(lost > 0 for lost, _ in results) >= 10
    assert sum(lost > 0 and left > 0 for lost, left in results) >= 3


@pytest.mark.slow
def test_nothing_that_is_missing_tells_more_than_is_allowed_often():
    for seed in range(1000, 3000):
        assert_hidden(seed)


def clinics():
    """Four of five are well; those who are ill are also at one of two clinics, with too few others for k = 5."""
    rng = np.random.default_rng(3)
    records = [[(str(rng.choice(list("abcdef"))), t) for t in range(3)] for _ in range(40)]
    for i in range(8):
        records[i].append((f"clinic {i // 4}", 9))
    return Visits.from_records(records, owner=range(40), attributes={"ill": ["HIV"] * 8 + ["no"] * 32})


ASKED = {"k": 5, "c": "0.3", "l": 1, "sensitive": {"ill": ["HIV"]}}


def test_a_clinic_that_vanished_tells_the_illness_unless_other_places_vanish_as_well():
    data = clinics()
    without = published(data, **ASKED, hide_absence="no")
    found = told(data, without.data, m=1, c=Fraction(3, 10), sensitive={"ill": ["HIV"]})
    assert found["posterior_aggregate"] > 0.3
    assert found["posterior_excess"] == pytest.approx(found["posterior_aggregate"] - 0.3)
    made = published(data, **ASKED)
    found = told(data, made.data, m=1, c=Fraction(3, 10), sensitive={"ill": ["HIV"]})
    assert found["posterior_aggregate"] <= 0.3
    assert found["posterior_excess"] == 0
    assert found["posterior_max"] == 1  # whoever knows who goes to a clinic still knows
    assert 0 < made.data.n_visits < without.data.n_visits


def test_what_is_hidden_is_gone_everywhere_and_nothing_else_is():
    data = clinics()
    without = published(data, **ASKED, hide_absence="no").data
    made = published(data, **ASKED).data
    left = {visit for i in range(len(made)) for visit in made.record(i)}
    for i in range(len(data)):
        assert made.record(i) == [visit for visit in without.record(i) if visit in left]


def test_no_item_is_hidden_that_is_not_needed():
    """One visit less anywhere, and the attacker would know more than is allowed."""
    data = clinics()
    without = published(data, **ASKED, hide_absence="no").data
    made = published(data, **ASKED).data
    visits = [set(zip(some.location.tolist(), some.t.tolist(), strict=True)) for some in (without, made)]
    hidden = visits[0] - visits[1]
    assert hidden
    for place, t in hidden:
        kept = visits[1] | {(place, t)}
        target = without.where(
            np.array([visit in kept for visit in zip(without.location.tolist(), without.t.tolist(), strict=True)])
        )
        assert told(data, target, m=1, c=Fraction(3, 10), sensitive={"ill": ["HIV"]})["posterior_excess"] > 0


def test_without_the_option_nothing_changes_and_nothing_is_mentioned():
    data = clinics()
    method = Kcl(**ASKED)
    assert method.hide_absence == "no"
    assert "hide_absence" not in method.claim.to_json()
    assert "visits suppressed to hide absence" not in published(data, **ASKED, hide_absence="no").facts


def test_where_nothing_is_told_nothing_is_hidden():
    data = clinics()
    no_value = published(data, k=5, c=1, l=2)
    assert no_value.data.n_visits == published(data, k=5, c=1, l=2, hide_absence="no").data.n_visits
    made = published(data, **{**ASKED, "c": 1})
    assert made.facts["visits suppressed to hide absence"] == 0


def test_what_cannot_be_hidden_is_refused(monkeypatch):
    with pytest.raises(ParameterError, match="l must be an integer with hide_absence=yes"):
        Kcl(k=2, c="0.5", l="all", hide_absence="yes")
    with pytest.raises(ParameterError, match="preserve must be instances with hide_absence=yes"):
        Kcl(k=2, c="0.5", l=2, preserve="mfs", hide_absence="yes")
    monkeypatch.setattr(kcl_absence, "MOST_SETS", 10)
    with pytest.raises(InputError, match=r"are 128, more than 10\. Give a smaller l"):
        published(clinics(), **ASKED)


def test_of_people_who_are_drawn_chance_is_taken_off():
    data = clinics()
    target = published(data, **ASKED, hide_absence="no").data
    some = told(data, target, m=1, c=Fraction(3, 10), sensitive={"ill": ["HIV"]}, victims=20)
    assert some["posterior_aggregate"] > 0.3
    assert some["posterior_excess"] < some["posterior_aggregate"] - 0.3
