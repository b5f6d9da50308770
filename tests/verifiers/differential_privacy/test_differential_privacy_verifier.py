"""A declared mechanism is held to its budget, and what is published to what it can make; planted faults are found."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

import pytest

from wayveil.errors import ParameterError, UsageError, WorkLimitReached
from wayveil.model import CountTables, DifferentialPrivacy, NoisyQuery, Visits, guarantee_from_json
from wayveil.model.budget import limit_work
from wayveil.verifiers import check_differential_privacy, find_other_mechanism
from wayveil.verifiers.differential_privacy.definition import epsilon_of_rho, find_break_of_differential_privacy
from wayveil.verifiers.differential_privacy.differential_privacy_verifier import NO_OPENDP, NOISE_BY_CONSTRUCTION

CELLS = NoisyQuery(
    name="cells", counts="people-by-zone", domain="public", keys=4, l0=2, linf=1, l1=2, noise="laplace", scale=4.0,
    epsilon=0.5,
)  # fmt: skip
CLAIM = DifferentialPrivacy(
    epsilon=0.5, queries=(CELLS,), zones=("a", "b"), times=(0, 60, 60), bounding=("sample-cells",),
    steps=("not-negative",),
)  # fmt: skip
TABLE = CountTables.from_rows([("a", "", 0, 3), ("b", "", 0, 0), ("a", "", 60, 7), ("b", "", 60, 1)])
SELECTED = replace(CELLS, domain="threshold", keys=None, threshold=40, delta=0.0001)
BY_THRESHOLD = replace(CLAIM, delta=0.0001, queries=(SELECTED,), zones=(), times=(), steps=())
WAYS = replace(CELLS, counts="visits-by-flow")
GAUSSIAN = replace(CELLS, noise="gaussian", scale=10.0, epsilon=0.0, rho=0.0101)
MODEL = replace(CELLS, role="model")


def judge(claim: DifferentialPrivacy, table: Any = TABLE) -> tuple[bool, str]:
    """Return the verdict and its reason; the definition says the same."""
    verdict = check_differential_privacy(table, claim)
    assert verdict.holds == (find_break_of_differential_privacy(table, claim) == "")
    return verdict.holds, verdict.reason


def test_a_mechanism_within_its_budget_holds_by_construction_only() -> None:
    verdict = check_differential_privacy(TABLE, CLAIM)
    assert verdict.holds
    assert verdict.not_judged == (NOISE_BY_CONSTRUCTION,)
    assert verdict.measured == {"epsilon_spent": 0.5, "delta_spent": 0.0, "queries": 1}
    assert "spends epsilon = 0.5 and delta = 0" in verdict.reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        pytest.param({"scale": 2.0}, "spends epsilon = 1.0 by its bounds", id="half the noise"),
        pytest.param({"l0": 4, "l1": 4}, "spends epsilon = 1.0 by its bounds", id="twice the cells"),
        pytest.param({"linf": 3, "l1": 6}, "spends epsilon = 1.5 by its bounds", id="more in a cell"),
        pytest.param({"scale": 3.9999999999999996}, "spends epsilon = 0.5000000000000001", id="the last digit"),
        pytest.param({"epsilon": 0.49999999999999994}, "declares 0.49999999999999994", id="rounded down"),
        pytest.param({"keys": 3}, "have 4 keys, and the query declares 3", id="a forgotten key"),
        pytest.param({"role": "model"}, "do not say from which one", id="a table of no query"),
        pytest.param({"counts": "people-by-flow"}, "The rows are not what the query counts", id="of flows"),
        pytest.param({"counts": "people-by-cells"}, "The rows are not what the query counts", id="of a histogram"),
        pytest.param({"epsilon": 0.75}, "spend epsilon = 0.75, which is more than is claimed", id="over the budget"),
    ],
)
def test_a_query_that_spends_or_declares_something_else(change: dict[str, Any], reason: str) -> None:
    holds, found = judge_loosely(replace(CLAIM, queries=(replace(CELLS, **change),)), change)
    assert not holds
    assert reason in found


def judge_loosely(claim: DifferentialPrivacy, change: dict[str, Any]) -> tuple[bool, str]:
    """Judge; the definition computes with floats, so it is not asked about last digits."""
    if change in ({"scale": 3.9999999999999996}, {"epsilon": 0.49999999999999994}):
        verdict = check_differential_privacy(TABLE, claim)
        return verdict.holds, verdict.reason
    return judge(claim)


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        (replace(CLAIM, queries=()), "No query is declared"),
        (replace(CLAIM, bounding=()), "how the contribution of a person is bounded"),
        (replace(CLAIM, steps=()), "what became of them"),
        (replace(CLAIM, epsilon=0.4), "more than is claimed"),
        (replace(CLAIM, queries=(CELLS, replace(MODEL, name="more"))), "spend epsilon = 1.0"),
        (replace(CLAIM, queries=(CELLS, replace(CELLS, name="more"))), "do not say from which one"),
        (replace(CLAIM, zones=("a", "c")), "A zone is not in the public list"),
        (replace(CLAIM, times=(0, 120, 120)), "A time is not one of the public buckets"),
        (replace(CLAIM, times=()), "declares 4"),
        (replace(CLAIM, times=(), queries=(replace(CELLS, keys=2),)), "and 4 are published"),
    ],
)
def test_a_claim_that_does_not_fit_its_table(claim: DifferentialPrivacy, reason: str) -> None:
    holds, found = judge(claim)
    assert not holds
    assert reason in found


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("a", "", 0, 3), ("b", "", 0, 0), ("a", "", 60, 7)], "and 3 are published"),
        ([("a", "", 0, 3), ("b", "", 0, 0), ("a", "", 60, 7), ("a", "", 60, 8)], "A row stands twice"),
        (
            [("a", "", 0, 3), ("b", "", 0, 0), ("a", "", 60, 7), ("b", "", 60, 1), ("", "", 0, 3)],
            "A total is published",
        ),
        ([("a", "b", 0, 3), ("b", "a", 0, 0), ("a", "a", 60, 7), ("b", "b", 60, 1)], "not what the query counts"),
    ],
)
def test_rows_that_the_mechanism_does_not_make(rows: list[Any], reason: str) -> None:
    holds, found = judge(CLAIM, CountTables.from_rows(rows))
    assert not holds
    assert reason in found


def test_totals_are_sums_of_published_cells() -> None:
    rows: list[Any] = [("a", "", 0, 3), ("b", "", 0, 0), ("a", "", 60, 7), ("b", "", 60, 1)]
    totals: list[Any] = [("a", "", None, 10), ("", "", 60, 8), ("", "", None, 11)]
    claim = replace(CLAIM, steps=("not-negative", "totals"))
    assert judge(claim, CountTables.from_rows([*rows, *totals]))[0]
    for wrong in range(3):
        moved = [(*row[:3], row[3] + (i == wrong)) for i, row in enumerate(totals)]
        holds, reason = judge(claim, CountTables.from_rows([*rows, *moved]))
        assert not holds
        assert "not the sum" in reason


def test_totals_of_flows() -> None:
    rows: list[Any] = [(a, b, 0, 2) for a in "ab" for b in "ab"]
    claim = replace(CLAIM, queries=(WAYS,), times=(0, 0, 1), steps=("not-negative", "totals"))
    totals: list[Any] = [("a", "", 0, 4), ("", "b", 0, 4), ("", "", 0, 8)]
    assert judge(claim, CountTables.from_rows([*rows, *totals]))[0]
    assert not judge(claim, CountTables.from_rows([*rows, ("", "b", 0, 3)]))[0]


def test_keys_of_the_data_need_a_threshold_that_hides_one_person() -> None:
    table = CountTables.from_rows([("x", "", 7, 40)])
    assert judge(BY_THRESHOLD, table)[0]
    low = replace(SELECTED, threshold=38)
    assert not judge(replace(BY_THRESHOLD, queries=(low,)), table)[0]
    holds, reason = judge(BY_THRESHOLD, CountTables.from_rows([("x", "", 7, 39)]))
    assert not holds
    assert "A number is 39, below the threshold 40" in reason
    for threshold in (1, 2):  # a key of one person would be shown as likely as not
        holds, reason = judge(replace(BY_THRESHOLD, queries=(replace(SELECTED, threshold=threshold),)), table)
        assert not holds
        assert "spends delta = 1.0" in reason


def test_the_chance_of_the_threshold_itself_is_counted() -> None:
    """OpenDP 0.16 leaves it out of its map, and shows such numbers: twice the noise is that much more likely."""
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    noisy = dp.m.make_laplace_threshold(
        dp.map_domain(dp.atom_domain(T="u32"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
        scale=2.0,
        threshold=12,
    )
    # P(noise >= 11) where a person is in one cell with 1, and what is shown is at least 12.
    true_chance = 0.002543846
    shown = sum(len(noisy(dict.fromkeys(range(20_000), 1))) for _ in range(10))
    assert abs(shown / 200_000 - true_chance) < 0.0007  # six standard deviations
    one = replace(SELECTED, l0=1, l1=1, scale=2.0, threshold=12, epsilon=0.5)
    claim = replace(BY_THRESHOLD, delta=0.01)
    table = CountTables.from_rows([("x", "", 7, 40)])
    assert judge(replace(claim, queries=(replace(one, delta=0.002544),)), table)[0]
    assert not judge(replace(claim, queries=(replace(one, delta=0.002543),)), table)[0]


def test_gaussian_losses_are_added_as_rho() -> None:
    model = replace(GAUSSIAN, role="model", name="model")
    epsilon = epsilon_of_rho(0.0202, 1e-6)
    claim = replace(CLAIM, epsilon=epsilon + 1e-6, delta=1e-6, queries=(GAUSSIAN, model))
    assert judge(claim)[0]
    assert check_differential_privacy(TABLE, claim).measured["delta_spent"] == 1e-6
    assert not judge(replace(claim, epsilon=epsilon - 1e-6))[0]
    assert not judge(replace(claim, delta=0.0))[0]
    assert not judge(replace(claim, queries=(replace(GAUSSIAN, scale=5.0), model)))[0]


def test_the_verifier_says_what_the_definition_says() -> None:
    draw = random.Random(24)
    holds = 0
    for _ in range(300):
        queries = []
        for number in range(draw.randint(1, 3)):
            l0, linf = draw.randint(1, 3), draw.randint(1, 2)
            more: dict[str, Any] = draw.choice([
                {"domain": "public", "keys": 4, "noise": "laplace", "epsilon": draw.choice([0.3, 0.7])},
                {"domain": "public", "keys": 4, "noise": "gaussian", "rho": draw.choice([0.02, 0.3])},
                {"domain": "threshold", "threshold": draw.randint(1, 60), "noise": "laplace", "delta": 1e-5,
                 "epsilon": draw.choice([0.3, 0.7])},
            ])  # fmt: skip
            role = "rows" if number == 0 else "model"
            queries.append(
                NoisyQuery(name=f"q{number}", counts="people-by-zone", l0=l0, linf=linf, l1=draw.randint(1, l0 * linf),
                           scale=draw.choice([4.1, 13.0, 30.0]), role=role, **more)
            )  # fmt: skip
        claim = replace(
            CLAIM, epsilon=draw.choice([0.5, 2.0, 5.0]), delta=draw.choice([0, 1e-4, 1e-4]), queries=tuple(queries)
        )
        table = draw.choice([TABLE, TABLE, CountTables.from_rows([("a", "", 0, draw.randint(1, 80))])])
        holds += judge(claim, table)[0]
    assert 20 <= holds <= 280


def test_synthetic_data_name_public_places_only() -> None:
    visits = Visits.from_records([[("a", 1), ("b", 2)], [("b", 1)]])
    claim = replace(CLAIM, queries=(MODEL,), times=())
    assert check_differential_privacy(visits, claim).holds
    verdict = check_differential_privacy(visits, replace(claim, zones=("a", "c")))
    assert verdict.reason == "A place is not in the public list."
    assert not check_differential_privacy(visits, replace(claim, queries=(CELLS,))).holds


def test_without_opendp_the_loss_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    verdict = check_differential_privacy(TABLE, replace(CLAIM, epsilon=0.1))
    assert verdict.holds
    assert verdict.not_judged == (NO_OPENDP, NOISE_BY_CONSTRUCTION)
    assert verdict.measured["epsilon_spent"] is None
    assert not check_differential_privacy(CountTables.from_rows([("a", "", 0, 1)]), CLAIM).holds


def test_many_queries_cost_work() -> None:
    many = tuple(replace(MODEL, name=f"q{i}") for i in range(100))
    with limit_work(1_000_000), pytest.raises(WorkLimitReached):
        check_differential_privacy(TABLE, replace(CLAIM, queries=(CELLS, *many)))


def test_a_second_run_has_the_same_mechanism_and_other_noise() -> None:
    again = CountTables.from_rows([("a", "", 0, 9), ("b", "", 0, 4), ("a", "", 60, 0), ("b", "", 60, 2)])
    assert find_other_mechanism(TABLE, CLAIM, again, CLAIM) == ""
    assert find_other_mechanism(TABLE, CLAIM, again, replace(CLAIM, epsilon=1)) == "the mechanism is another one"
    far = CountTables.from_rows([("a", "", 0, 900), ("b", "", 0, 4), ("a", "", 60, 0), ("b", "", 60, 2)])
    assert "further away" in find_other_mechanism(TABLE, CLAIM, far, CLAIM)
    other = CountTables.from_rows([("a", "", 0, 9), ("b", "", 0, 4), ("a", "", 60, 0), ("b", "", 120, 2)])
    assert find_other_mechanism(TABLE, CLAIM, other, CLAIM) == "other rows come out"


def test_a_bound_that_was_read_off_noise_may_differ() -> None:
    histogram = replace(MODEL, name="bound", counts="people-by-cells", l0=1, l1=1)
    claim = replace(CLAIM, epsilon=2, queries=(histogram, CELLS), steps=("bound-from-histogram", "not-negative"))
    moved = replace(claim, queries=(histogram, replace(CELLS, l0=3, l1=3, scale=6.0)))
    assert find_other_mechanism(TABLE, claim, TABLE, moved) == ""
    other = replace(claim, queries=(replace(histogram, scale=9.0), CELLS))
    assert find_other_mechanism(TABLE, claim, TABLE, other) == "the mechanism is another one"


def test_the_claim_goes_into_a_manifest_and_back() -> None:
    for claim in (CLAIM, BY_THRESHOLD):
        assert guarantee_from_json(claim.to_json()) == claim


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": 0}, "epsilon must be larger than 0, got 0"),
        ({"epsilon": -1}, "epsilon must be a number from 0 to 50, got -1"),
        ({"epsilon": "nan"}, "epsilon must be a number from 0 to 50, got 'nan'"),
        ({"epsilon": 51}, "epsilon must be a number from 0 to 50, got 51"),
        ({"delta": 0.5}, "delta must be a number from 0 to 0.1"),
        ({"zones": ["b", "a"]}, "zones must be different names"),
        ({"zones": ["a", ""]}, "none of them blank"),
        ({"zones": "ab"}, "zones must be different names"),
        ({"times": [0, 10]}, "times must be the first and the last bucket"),
        ({"times": [0, 10, 3]}, "times must be the first and the last bucket"),
        ({"bounding": ["trust-me"]}, "bounding must be different words of sample-cells"),
        ({"steps": ["totals", "totals"]}, "steps must be different words of"),
        ({"steps": "totals"}, "steps must be different words of"),
        ({"queries": [{"name": "cells"}]}, "queries must be a list, each with all its fields"),
        ({"queries": "cells"}, "queries must be a list"),
        ({"queries": [CELLS.to_json(), CELLS.to_json()]}, "two queries have the same name"),
        ({"queries": [{**CELLS.to_json(), "note": "no noise"}]}, "each with all its fields and no other"),
    ],
)
def test_claims_that_cannot_be(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        guarantee_from_json({**CLAIM.to_json(), **change})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "Cells of 12 people"}, "a name of lower-case letters"),
        ({"name": 3}, "a name of lower-case letters"),
        ({"counts": "everything"}, "to count"),
        ({"counts": ["x"]}, "to count"),
        ({"domain": "secret"}, "a domain, public or threshold"),
        ({"noise": "none"}, "a noise, laplace or gaussian"),
        ({"role": "boss"}, "the role rows or model"),
        ({"l0": 0}, "bounds l0, linf and l1"),
        ({"linf": True}, "bounds l0, linf and l1"),
        ({"l1": 2.0}, "bounds l0, linf and l1"),
        ({"l1": 3}, "an l1 that is at most l0 times linf"),
        ({"scale": 0.0}, "a scale above 0"),
        ({"scale": float("inf")}, "a scale above 0"),
        ({"scale": "4"}, "a scale above 0"),
        ({"keys": None}, "keys exactly where the domain is public"),
        ({"threshold": 5}, "a threshold exactly where keys come from the data"),
        ({"epsilon": -0.5}, "losses that are numbers from 0 on"),
        ({"epsilon": 1}, "losses that are numbers from 0 on"),
        ({"rho": 0.1}, "the losses of its noise"),
        ({"noise": "gaussian"}, "the losses of its noise"),
    ],
)
def test_queries_that_cannot_be(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        replace(CELLS, **change)


def test_what_the_claim_says() -> None:
    assert "the odds that a person is in the data at most by the factor" in CLAIM.promise
    assert "between any two accounts" in CLAIM.promise
    assert "factor 1.65, and" in CLAIM.promise
    assert "but for a probability of at most 0.0001" in BY_THRESHOLD.promise
    assert float(CLAIM.membership_bound) == pytest.approx(0.6224593312, abs=1e-9)
    assert float(replace(CLAIM, delta=0.01).membership_bound) == pytest.approx(0.6262347, abs=1e-6)
    assert any("budgets add up" in text for text in CLAIM.not_covered)


def test_two_accounts_of_what_somebody_did_are_two_steps_apart() -> None:
    """Somebody is at the clinic or in the park: randomized response on both answers moves these odds by e**(2 eps)."""
    epsilon = log(2)
    lie = Fraction(1, 1 + 2)  # P(present | absent) = 1/3 and P(present | present) = 2/3: each bit spends log 2
    clinic, park = (1 - lie) * (1 - lie), lie * lie  # the noisy bits say: at the clinic, and not in the park
    neighbours = ((1 - lie) * (1 - lie) / (lie * (1 - lie)), (lie * (1 - lie)) / (lie * lie))
    assert neighbours == (2, 2)  # without the person at all: one bit differs, whichever account is true
    assert clinic / park == 4
    text = DifferentialPrivacy(epsilon=epsilon).promise
    assert "in the data at most by the factor 2.00," in text
    assert text.endswith("what a person did at most by the factor 4.00.")
    approximate = DifferentialPrivacy(epsilon=1, delta=1e-6).promise
    assert "(but for a probability of at most 1e-06)" in approximate
    assert approximate.endswith("(but for one of at most 0.00000372).")
