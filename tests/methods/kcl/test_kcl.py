"""(K,C)_L-privacy by suppression: the paper's example, what is lost, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from printed_methods import PrintedKcl
from wayveil.engines import LocalEngine
from wayveil.errors import InputError, ParameterError
from wayveil.methods.kcl.kcl import Kcl
from wayveil.model import KclPrivacy, MethodResult, Visits
from wayveil.verifiers import check_kcl
from wayveil.workloads import City, Transit

GOLDEN = Path(__file__).parents[2] / "golden" / "kcl"


def visits(records: list[str], **more: Any) -> Visits:
    return Visits.from_records([[(v[0], int(v[1:])) for v in record.split()] for record in records], **more)


def texts(data: Visits) -> list[str]:
    return [" ".join(f"{place}{t}" for place, t in data.record(i)) for i in range(len(data))]


def run(method: Kcl, data: Visits, engine: LocalEngine | None = None) -> MethodResult:
    return method.run(data, rng=np.random.default_rng(0), engine=engine or LocalEngine())


def violating(data: Visits, claim: KclPrivacy) -> list[str]:
    """Return the minimal violating sequences of published data, from the definition."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for r, record in enumerate(texts(data)):
        for n in range(1, int(claim.l) + 1):
            for q in combinations(record.split(), n):
                groups.setdefault(q, []).append(r)
    owner, bad = data.owner.tolist(), set()
    for q, group in groups.items():
        people = {owner[r] for r in group}
        having = [
            {owner[r] for r in group if data.attributes[attribute].values()[r] == value}
            for attribute, values in claim.sensitive
            for value in values
        ]
        rows = [
            sum(data.attributes[attribute].values()[r] == value for r in group)
            for attribute, values in claim.sensitive
            for value in values
        ]
        most = max(sum(owner[r] == person for r in group) for person in people)
        if len(people) < claim.k or most > claim.owner_share * len(group):
            bad.add(q)
        if any(len(h) > claim.c * len(people) for h in having) or any(n > claim.c * len(group) for n in rows):
            bad.add(q)
    return sorted(
        " ".join(q) for q in bad if not any(part in bad for n in range(1, len(q)) for part in combinations(q, n))
    )


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    return json.loads((GOLDEN / "table1.json").read_text())


@pytest.fixture
def table_1(golden: dict[str, Any]) -> Visits:
    return visits(golden["table_1"], attributes={"diagnosis": golden["diagnosis"]})


@pytest.fixture
def method(golden: dict[str, Any]) -> Kcl:
    asked = golden["parameters"]
    return Kcl(k=asked["k"], c=asked["c"], l=asked["l"], sensitive={"diagnosis": asked["sensitive"]})


def test_table_1_becomes_table_2(golden: dict[str, Any], table_1: Visits, method: Kcl) -> None:
    made = run(method, table_1)
    assert texts(made.data) == golden["table_2"]
    assert made.claim == method.claim
    assert made.facts == {
        "minimal violating sequences": 5,
        "local suppressions": 3,
        "global suppressions": 0,
        "visits suppressed": 5,
    }
    assert Fraction(table_1.n_visits - made.data.n_visits, table_1.n_visits) == Fraction(golden["loss"])
    assert violating(made.data, made.claim) == []
    assert violating(table_1, made.claim) == sorted(golden["minimal_violating"])


def test_table_2_is_good_for_two_known_visits_only(golden: dict[str, Any], method: Kcl) -> None:
    table_2 = visits(golden["table_2"], attributes={"diagnosis": golden["diagnosis"]})
    assert texts(run(method, table_2).data) == golden["table_2"]
    three = Kcl(k=2, c="1/2", l=3, sensitive=dict(method.sensitive))
    assert violating(table_2, three.claim) == golden["minimal_violating_of_table_2_with_l_3"]
    assert violating(run(three, table_2).data, three.claim) == []


def test_global_suppression_of_table_1(golden: dict[str, Any], table_1: Visits, method: Kcl) -> None:
    method = Kcl(k=2, c="1/2", l=2, sensitive=dict(method.sensitive), suppression="global")
    made = run(method, table_1)
    assert violating(made.data, made.claim) == []
    lost = Fraction(table_1.n_visits - made.data.n_visits, table_1.n_visits)
    assert lost >= Fraction(golden["least_loss_of_global_suppression"])
    assert made.facts["local suppressions"] == 0
    left = {visit for record in texts(made.data) for visit in record.split()}
    whole = [" ".join(v for v in record.split() if v in left) for record in golden["table_1"]]
    assert texts(made.data) == whole  # a visit stays everywhere or nowhere


UNCOVERED = json.loads((GOLDEN / "uncovered.json").read_text())["cases"]


@pytest.mark.parametrize("name", UNCOVERED)
def test_what_a_threat_that_ends_uncovers(name: str) -> None:
    case = UNCOVERED[name]
    data = visits(case["records"], attributes={"ill": case["diagnosis"]}, owner=case.get("owner"))
    asked = {name: case[name] for name in ("k", "c", "l")}
    made = run(Kcl(**asked, sensitive={"ill": ["HIV"]}, restore="no", accept_absence="yes"), data)
    assert texts(made.data) == case["published"]
    assert violating(made.data, made.claim) == []


def test_the_printed_validity_test_can_end_with_a_violating_output() -> None:
    case = json.loads((GOLDEN / "literal.json").read_text())
    data, asked = visits(case["records"]), {name: case[name] for name in ("k", "c", "l")}
    literal, exact = run(PrintedKcl(**asked), data), run(Kcl(**asked), data)
    assert texts(literal.data) == case["published"]
    assert violating(literal.data, literal.claim) == case["violating_output"]
    assert not check_kcl(literal.data, literal.claim).holds
    assert violating(exact.data, exact.claim) == []


def test_records_come_back_in_order_whoever_owns_them(golden: dict[str, Any], method: Kcl) -> None:
    order = [6, 1, 4, 0, 7, 2, 5, 3]
    data = visits(
        [golden["table_1"][i] for i in order],
        attributes={"diagnosis": [golden["diagnosis"][i] for i in order]},
        owner=[50 - i for i in range(8)],
    )
    assert texts(run(method, data).data) == [golden["table_2"][i] for i in order]


def test_times_before_zero_and_places_at_one_time() -> None:
    records = [[("b", -5), ("a", 10**15)], [("b", -5), ("a", 10**15)], [("a", -5), ("b", 10**15)]]
    made = run(Kcl(k=2, l=2), Visits.from_records(records))
    assert [made.data.record(i) for i in range(3)] == [*records[:2], []]


def test_a_share_is_exact() -> None:
    # 3 of 10 people: exactly 0.3 is allowed, a hair less is not, and one of the three loses the visit; in binary
    # 0.3 * 10 would not be 3
    data = visits(["a1"] * 10, attributes={"ill": ["HIV"] * 3 + ["x"] * 7})
    for c, left in ((0.3, 10), ("3/10", 10), ("0.2999999999999999999999999999", 9)):
        assert run(Kcl(k=2, c=c, l=1, sensitive={"ill": ["HIV"]}), data).data.n_visits == left


def test_a_tiny_share_is_exact_too() -> None:
    data = visits(["a1", "a1"], attributes={"ill": ["yes", "no"]})
    method = Kcl(k=1, c="1e-30", l=1, sensitive={"ill": ["yes"]}, accept_absence="yes")
    assert texts(run(method, data).data) == ["", "a1"]


def test_no_sensitive_value_means_that_only_k_counts() -> None:
    data = visits(["a1", "a1", "b1"], attributes={"ill": ["HIV", "HIV", "HIV"]})
    assert texts(run(Kcl(k=2, c=0, l=3), data).data) == ["a1", "a1", ""]


def test_any_number_of_known_visits() -> None:
    records = ["a1 b2 c3 d4 e5", "a1 b2 c3 d4", "a1 b2 c3 e5", "a1 b2 d4 e5", "a1 c3 d4 e5", "b2 c3 d4 e5"]
    for known in ("all", 5, 1000):
        made = run(Kcl(k=2, l=known), visits(records))
        assert violating(made.data, KclPrivacy(k=2, c=1, l=5)) == []
        assert made.data.n_visits < 24
    assert run(Kcl(k=2, l=4), visits(records)).data.n_visits == 25  # only all five together are rare


def test_progress_is_told() -> None:
    told: list[str] = []
    engine = LocalEngine(progress=lambda step, done=0, total=None: told.append(step))
    run(Kcl(k=1, l=1, accept_absence="yes"), visits(["a1"]), engine)
    assert told == ["finding violating sequences", "suppressing visits"]


@pytest.mark.parametrize("k", [5, 10, 30])
@pytest.mark.parametrize(
    "workload",
    [City(records=100), City(records=1500, blocks=20), Transit(records=300), Transit(records=2000, stations=40)],
    ids=lambda w: f"{w.name}-{w.records}",
)
def test_local_suppression_does_not_lose_more_than_global(workload: City | Transit, k: int) -> None:
    for seed, c in ((1, "0.6"), (2, "0.6"), (3, "0.3")):
        data = workload.generate(rng=np.random.default_rng(seed))
        lost = losses(data, k=k, c=c, l=3, sensitive=workload.sensitive)
        assert lost["local"] <= lost["global"]


@pytest.mark.parametrize("preserve", ["instances", "mfs"])
@pytest.mark.parametrize(
    "workload", [City(records=3000, blocks=5, hours=6), Transit(records=3000)], ids=["city", "transit"]
)
def test_large_data_are_built_up(workload: City | Transit, preserve: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = workload.generate(rng=np.random.default_rng(3))
    method = Kcl(k=10, c="0.6", l=3, sensitive=workload.sensitive, preserve=preserve)
    with monkeypatch.context() as unmended:
        unmended.setattr("wayveil.methods.kcl.kcl_strategies.ROUNDS", 0)  # what is mended is built up as well
        greedy = run(method, data)
    monkeypatch.setattr("wayveil.methods.kcl.kcl_solver.MOST_VISITS", data.n_visits - 1)
    built = run(method, data)
    assert check_kcl(built.data, method.claim).holds
    assert "global suppressions" in greedy.facts
    assert "global suppressions" not in built.facts
    assert built.facts["visits suppressed"] == data.n_visits - built.data.n_visits
    assert built.facts["visits suppressed"] < 1.5 * greedy.facts["visits suppressed"] + 100
    assert ("frequent sequences lost" in built.facts) == (preserve == "mfs")


def test_where_nothing_threatens_everything_is_built_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wayveil.methods.kcl.kcl_solver.MOST_VISITS", 0)
    data = visits(["a1 b2", "a1 b2", "a1 b2", "b2 c3", "b2 c3"])
    assert texts(run(Kcl(k=2, c=1, l=2), data).data) == texts(data)
    assert texts(run(Kcl(k=3, c=1, l=2), data).data) == ["a1 b2", "a1 b2", "a1 b2", "b2", "b2"]


def test_where_the_global_greedy_loses_less_local_publishes_that() -> None:
    """Both are greedy: here local suppressions alone lose four visits, global ones three."""
    case = json.loads((GOLDEN / "greedy.json").read_text())
    data, asked = visits(case["records"]), {name: case[name] for name in ("k", "c", "l")}
    assert violating(data, KclPrivacy(**asked)) == case["minimal_violating"]
    assert sum(map(len, case["global"])) > sum(map(len, case["local"]))
    for how in ("local", "global"):
        assert texts(run(Kcl(**asked, suppression=how), data).data) == case["global"]


def losses(data: Visits, **asked: Any) -> dict[str, int]:
    lost = {}
    for how in ("local", "global"):
        made = run(Kcl(**asked, suppression=how), data)
        lost[how] = data.n_visits - made.data.n_visits
        assert lost[how] == made.facts["visits suppressed"]
        assert made.data.n_visits == 0 or check_kcl(made.data, made.claim).holds
    return lost


DATA = visits(["a1 b2", "a1"], attributes={"ill": ["HIV", None], "fare": ["child", "adult"]})


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"k": 3},
            "kcl: k is 3, but the data holds 2 people: nothing could stay. Take a smaller k or more data.",
        ),
        (
            {"k": 2, "sensitive": {"job": ["x"]}},
            "kcl: the data has no attribute 'job'; it is named in sensitive.",
        ),
        (
            {"k": 2, "sensitive": {"ill": ["HIV"]}},
            "kcl: 1 trajectories have no value of the sensitive attribute 'ill'. "
            "Fill it in (for example with 'unknown') or leave them out.",
        ),
        (
            {"k": 2, "sensitive": {"fare": ["adult", "senior"]}},
            "kcl: the sensitive value 'senior' of 'fare' never occurs in the data.",
        ),
    ],
)
def test_data_that_cannot_be_used(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        run(Kcl(l=2, **asked), DATA)
    assert str(caught.value) == words


def test_k_counts_people_and_not_records() -> None:
    data = visits(["a1", "a1", "a1"], owner=[0, 0, 1])
    assert run(Kcl(k=2, l=1, row_share=1), data).data.n_visits == 3
    assert texts(run(Kcl(k=2, l=1), data).data) == ["a1", "", "a1"]  # nobody has more than half of what fits
    with pytest.raises(InputError, match="k is 3, but the data holds 2 people"):
        run(Kcl(k=3, l=1), data)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"k": 0}, "kcl: k must be an integer >= 1, got 0."),
        (
            {"k": 1},
            "kcl: k must be an integer >= 2 unless accept_absence is yes, got 1. With k=1 a visit is suppressed only "
            "because of a sensitive value, so a known visit that fits nothing tells that value with certainty.",
        ),
        ({"row_share": 0}, "kcl: row_share must be larger than 0, got 0. Nobody could own anything."),
        ({"row_share": "1/2k"}, "kcl: row_share must be a number from 0 to 1, got '1/2k'."),
        ({"k": True}, "kcl: k must be an integer >= 1, got True."),
        ({"k": 2.0}, "kcl: k must be an integer >= 1, got 2.0."),
        ({"l": 0}, "kcl: l must be an integer >= 1 or 'all', got 0."),
        ({"l": "every"}, "kcl: l must be an integer >= 1 or 'all', got 'every'."),
        ({"c": 1.5}, "kcl: c must be a number from 0 to 1, got 1.5."),
        ({"c": -0.1}, "kcl: c must be a number from 0 to 1, got -0.1."),
        ({"c": "half"}, "kcl: c must be a number from 0 to 1, got 'half'."),
        ({"c": float("nan")}, "kcl: c must be a number from 0 to 1, got nan."),
        ({"suppression": "both"}, "kcl: suppression must be one of local, global; got 'both'."),
        ({"preserve": "none"}, "kcl: preserve must be one of instances, mfs; got 'none'."),
        ({"sensitive": {"ill": []}}, "kcl: sensitive must give at least one value for each attribute, as a list."),
        ({"sensitive": {"ill": "HIV"}}, "kcl: sensitive must give at least one value for each attribute, as a list."),
        ({"sensitive": 5}, "kcl: sensitive must map attributes to lists of values, got 5."),
    ],
)
def test_parameters_outside_their_range(asked: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Kcl(**{"k": 2, "l": 2, **asked})
    assert str(caught.value) == words


def test_the_claim_says_what_was_asked() -> None:
    method = Kcl(k=3, c=0.6, l="all", sensitive={"ill": ["b", "a"]})
    assert method.claim == KclPrivacy(k=3, c="3/5", l="all", sensitive={"ill": ["a", "b"]})
    relaxed = Kcl(k=3, c=0.6, l=2, row_share=0.5)
    assert relaxed.claim == KclPrivacy(k=3, c="3/5", l=2, row_share="1/2")
