"""(K,C)_L-privacy where people have several trajectories: counted over people and over trajectories."""

from __future__ import annotations

import hashlib
import json
import random
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.methods.kcl.kcl import Kcl
from wayveil.model import MethodResult, Visits
from wayveil.workloads import City, Transit

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl" / "one_trip.json"
HIV = {"ill": ["HIV"]}


def run(data: Visits, **asked: Any) -> MethodResult:
    return Kcl(**asked).run(data, rng=np.random.default_rng(0), engine=LocalEngine())


def violating(data: Visits, k: int, c: Any, l: Any, share: Fraction | None = None) -> list[Any]:
    """Return every sequence that occurs and breaks the claim, over people or over trajectories."""
    groups: dict[Any, list[int]] = {}
    for r in range(len(data)):
        record = data.record(r)
        for n in range(1, (len(record) if l == "all" else l) + 1):
            for q in combinations(record, n):
                groups.setdefault(q, []).append(r)
    owner, bad = data.owner.tolist(), []
    ill = [value == "HIV" for value in data.attributes["ill"].values()]
    for q, group in groups.items():
        people = {owner[r] for r in group}
        fine = len(people) >= k
        fine &= all(sum(owner[r] == who for r in group) <= (share or Fraction(1, k)) * len(group) for who in people)
        fine &= len({owner[r] for r in group if ill[r]}) <= Fraction(c) * len(people)
        fine &= sum(ill[r] for r in group) <= Fraction(c) * len(group)
        if not fine:
            bad.append(q)
    return bad


@pytest.fixture
def dominated() -> Visits:
    """One person with 200 trajectories and HIV, four with one such each without it, ten more with the first visit."""
    abc = [("a", 1), ("b", 2), ("c", 3)]
    return Visits.from_records(
        [abc] * 204 + [[("a", 1)]] * 10,
        owner=[0] * 200 + list(range(1, 15)),
        attributes={"ill": ["HIV"] * 200 + ["none"] * 14},
    )


def test_one_person_with_two_hundred_trips_does_not_speak_for_all(dominated: Visits) -> None:
    made = run(dominated, k=2, c="1/2", l=3, sensitive=HIV)
    assert violating(dominated, 2, "1/2", 3) != []
    assert violating(made.data, 2, "1/2", 3) == []
    # only the extra trips of that person are left out or shortened: four of the others' whole trips need four
    lengths = np.diff(made.data.offsets).tolist()
    assert lengths == [3] * 4 + [1] * 10 + [0] * 186 + [3] * 4 + [1] * 10
    assert made.facts["visits suppressed by counting trajectories"] == 578


def test_with_global_suppression_extra_trips_are_left_out_first(dominated: Visits) -> None:
    """Otherwise a visit of everybody would go because one person has it two hundred times."""
    made = run(dominated, k=2, c="1/2", l=3, sensitive=HIV, suppression="global")
    assert violating(made.data, 2, "1/2", 3) == []
    lengths = np.diff(made.data.offsets).tolist()
    assert lengths[200:] == [3] * 4 + [1] * 10  # nobody else loses anything
    assert 0 < sum(length > 0 for length in lengths[:200]) <= 4
    assert made.facts["visits suppressed"] == dominated.n_visits - made.data.n_visits


def test_a_larger_share_of_the_trajectories_can_be_granted(dominated: Visits) -> None:
    made = run(dominated, k=2, c=1, l=3, sensitive=HIV, row_share="0.9")
    assert violating(made.data, 2, 1, 3, Fraction(9, 10)) == []
    assert np.diff(made.data.offsets)[:200].tolist() == [3] * 36 + [1] * 90 + [0] * 74
    assert made.claim.owner_share == Fraction(9, 10)  # type: ignore[attr-defined]
    assert run(dominated, k=2, c=1, l=3, sensitive=HIV, row_share=1).data.n_visits == dominated.n_visits


def test_nobody_may_own_as_much_as_one_of_k() -> None:
    data = Visits.from_records([[("a", 1)]] * 4 + [[("b", 1)]] * 5, attributes={"ill": ["HIV"] + ["none"] * 8})
    made = run(data, k=2, c=1, l=1, row_share="1/5")
    assert np.diff(made.data.offsets).tolist() == [0] * 4 + [1] * 5


def many_trips(rng: random.Random) -> tuple[Visits, dict[str, Any]]:
    """A few people with up to five trips each."""
    people = rng.randint(2, 6)
    owner = [o for o in range(people) for _ in range(rng.choice([1, 1, 2, 5]))]
    rng.shuffle(owner)
    records = [[("ab"[rng.random() < 0.2], t) for t in range(rng.randint(1, 4)) if rng.random() < 0.7] for _ in owner]
    ill = ["HIV"] + [rng.choice(["HIV", "none", "none"]) for _ in owner[1:]]
    data = Visits.from_records(records, attributes={"ill": ill}, owner=owner)
    asked = {
        "k": rng.randint(2, min(3, people)),
        "c": rng.choice(["1/4", "1/3", "1/2", "2/3", "1"]),
        "l": rng.choice([1, 2, 3, 4, "all"]),
    }
    return data, asked


WAYS: list[dict[str, Any]] = [
    {},
    {"suppression": "global"},
    {"restore": "no"},
    {"preserve": "mfs", "min_support": 2},
    {"row_share": "1/2"},
    {"row_share": "1/5"},
    {"row_share": "1"},
]


def check(rng: random.Random) -> None:
    data, asked = many_trips(rng)
    for more in WAYS:
        share = Fraction(more["row_share"]) if "row_share" in more else None
        made = run(data, **asked, **more, sensitive=HIV)
        assert violating(made.data, **asked, share=share) == []
        assert (made.data.n_visits == data.n_visits) == (not violating(data, **asked, share=share))
        assert made.facts["visits suppressed"] == data.n_visits - made.data.n_visits
        if more.get("suppression") == "global":
            # a visit is there for all or for nobody, but for trips that are left out whole
            left = {visit for r in range(len(data)) for visit in made.data.record(r)}
            whole = [[visit for visit in data.record(r) if visit in left] for r in range(len(data))]
            assert all(made.data.record(r) in (whole[r], []) for r in range(len(data)))


def test_shares_hold_over_people_and_over_trajectories() -> None:
    rng = random.Random(80)
    for _ in range(25):
        check(rng)


@pytest.mark.slow
def test_shares_hold_both_ways_on_many_tables() -> None:
    rng = random.Random(81)
    for _ in range(5_000):
        check(rng)


def test_nothing_can_be_given_back() -> None:
    rng = random.Random(82)
    for _ in range(40):
        data, asked = many_trips(rng)
        made, ill = run(data, **asked, sensitive=HIV).data, data.attributes["ill"].values()
        for r in range(len(data)):
            for visit in set(data.record(r)) - set(made.record(r)):
                records = [made.record(i) for i in range(len(data))]
                records[r] = sorted([*records[r], visit], key=lambda v: v[1])
                more = Visits.from_records(records, attributes={"ill": ill}, owner=made.owner)
                assert violating(more, **asked) != []


def test_what_is_known_of_one_visit_costs_least() -> None:
    """A weaker promise never loses more where one visit is known: then what is kept is the most that can be.

    Everybody has one trajectory.  Where more is known the choice is greedy, and this is the rule, not a law.
    """
    rng = random.Random(83)
    for _ in range(12):
        records = [[(rng.choice("aab"), t) for t in range(4) if rng.random() < 0.7] for _ in range(rng.randint(6, 14))]
        ill = ["HIV", "flu", *(rng.choice(["HIV", "flu", "none", "none"]) for _ in records[2:])]
        data = Visits.from_records(records, attributes={"ill": ill})

        def kept(k: int, c: str, l: int, data: Visits = data) -> int:
            return run(data, k=k, c=c, l=l, sensitive={"ill": ["HIV", "flu"]}).data.n_visits

        for k, c in ((2, "1/3"), (3, "1/3"), (3, "1/2")):
            weak = kept(k, c, 1)
            assert weak >= kept(k + 1, c, 1)
            assert weak >= kept(k, "1/4", 1)
            assert weak >= kept(k, c, 2)
            assert weak >= kept(k + 1, "1/4", 3)


def test_a_weaker_promise_does_not_lose_more_of_small_tables() -> None:
    """The rule for more than one known visit, on tables where it fails without improving."""
    rng = random.Random(12)
    for _ in range(6):
        records = [[(rng.choice("abc"), t) for t in range(5) if rng.random() < 0.7] for _ in range(rng.randint(8, 16))]
        ill = ["HIV", "flu", *(rng.choice(["HIV", "flu", "none", "none"]) for _ in records[2:])]
        data = Visits.from_records(records, attributes={"ill": ill})

        def kept(k: int, c: str, l: int, data: Visits = data) -> int:
            return run(data, k=k, c=c, l=l, sensitive={"ill": ["HIV", "flu"]}).data.n_visits

        for k, c, stronger in ((2, "1/2", "1/3"), (2, "1/3", "1/4"), (3, "1/2", "1/3")):
            weak = kept(k, c, 2)
            assert weak >= max(kept(k + 1, c, 2), kept(k, stronger, 2), kept(k, c, 3))


def test_a_weaker_promise_does_not_lose_more_of_a_city() -> None:
    workload = City(records=1500, blocks=8, hours=6)
    data = workload.generate(rng=np.random.default_rng(2))

    def kept(k: int, c: str, l: int) -> int:
        return run(data, k=k, c=c, l=l, sensitive=workload.sensitive).data.n_visits

    by_k = [kept(k, "0.4", 2) for k in (3, 6, 12, 24)]
    by_c = [kept(12, c, 2) for c in ("1", "0.5", "0.35", "0.25")]
    by_l = [kept(12, "0.4", l) for l in (1, 2, 3)]
    assert [by_k, by_c, by_l] == [sorted(some, reverse=True) for some in (by_k, by_c, by_l)]


def test_improving_never_loses_more_and_keeps_the_claim() -> None:
    rng, gained = random.Random(84), 0
    for _ in range(30):
        data, asked = many_trips(rng)
        plain = run(data, **asked, sensitive=HIV, improve=0)
        better = run(data, **asked, sensitive=HIV, improve=40)
        assert violating(better.data, **asked) == []
        assert better.data.n_visits >= plain.data.n_visits
        gained += better.data.n_visits - plain.data.n_visits
    assert gained > 0


@pytest.mark.parametrize("name", json.loads(GOLDEN.read_text()))
def test_with_one_trip_each_nothing_changed(name: str) -> None:
    """The file was written before trajectories were counted."""
    asked = json.loads(GOLDEN.read_text())[name]
    workload: Any = {"city": City, "transit": Transit}[asked["workload"]](**asked["size"])
    data = workload.generate(rng=np.random.default_rng(5))
    made = run(data, **asked["method"], sensitive=workload.sensitive).data
    written = made.offsets.tobytes() + made.location.tobytes() + made.t.tobytes()
    assert [made.n_visits, hashlib.sha256(written).hexdigest()[:16]] == asked["published"]
