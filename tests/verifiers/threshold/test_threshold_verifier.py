"""The threshold for counts: what was planted is found, and definition and verifier agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import InputError, UsageError
from wayveil.methods.counts.counts import Counts
from wayveil.model import CountTables, Threshold, Visits
from wayveil.verifiers.threshold import definition, threshold_verifier
from wayveil.verifiers.threshold.cell_bounds import Equations, find_pinned_low, find_too_low_highs, solve_bounds
from wayveil.verifiers.threshold.definition import find_break_of_threshold, list_fitting_tables
from wayveil.verifiers.threshold.threshold_verifier import check_threshold

PEOPLE = [[("A", 1)]] * 6 + [[("B", 1)]] * 2 + [[("A", 2)]] * 7 + [[("B", 2)]] * 8
TRUTH = Visits.from_records(PEOPLE)
CELLS = [("A", "", 1, 6), ("A", "", 2, 7), ("B", "", 2, 8)]
TOTALS = [("", "", None, 23), ("A", "", None, 13), ("B", "", None, 10), ("", "", 1, 8), ("", "", 2, 15)]


def check(rows: list[Any], original: Any = TRUTH, k: int = 3, margins: str = "yes", **given: Any) -> Any:
    claim = Threshold(k=k, margins=margins, **given)
    verdict = check_threshold(CountTables.from_rows(rows), claim, original=original)
    sentence = find_break_of_threshold(CountTables.from_rows(rows), claim, original=original)
    if original is not None:
        assert verdict.holds == (sentence == "")
    return verdict


def test_cells_alone_are_safe() -> None:
    verdict = check(CELLS, margins="no")
    assert verdict.holds
    assert verdict.measured == {
        "min_count": 6,
        "min_people": 6,
        "max_owner_share": 1 / 6,
        "max_owner_share_exact": "1/6",
        "cells": 3,
        "totals": 0,
        "suppressed": 1,
        "small": 1,
    }
    assert verdict.not_judged == ()


def test_totals_alone_are_safe() -> None:
    assert check(TOTALS).holds


def test_totals_over_all_times_without_any_other_row_are_totals() -> None:
    assert check([row for row in TOTALS if row[2] is None]).holds


def test_a_cell_that_a_difference_gives_away_is_found() -> None:
    verdict = check([*TOTALS, *CELLS])
    assert not verdict.holds
    assert verdict.reason == "A cell that is not published can be worked out to be from 2 to 2."
    assert verdict.witness == {"zone": "B", "to_zone": "", "t": 1, "least": 2.0, "most": 2.0}


def test_files_alone_show_the_same() -> None:
    verdict = check([*TOTALS, *CELLS], original=None)
    assert not verdict.holds
    assert "from 2 to 2" in verdict.reason


def test_a_cell_that_is_bounded_too_closely_is_found() -> None:
    """Without the total of B the cell may be 0, but not k - 1: the total of hour 1 leaves 2 for it."""
    rows = [row for row in [*TOTALS, *CELLS] if row[:3] not in (("B", "", None), ("B", "", 2))]
    verdict = check(rows, k=4)
    assert not verdict.holds
    assert verdict.witness["most"] == 2


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([("A", "", 1, 6), ("B", "", 1, 2)], "A published number is 2, which is below 3."),
        ([("A", "", 1, 7)], "A published number is not the true one."),
        ([("C", "", 1, 7)], "A published number is not the true one."),
        ([("A", "B", 1, 6)], "A row of a table of zones has a second zone."),
        ([("A", "", 1, 6), ("A", "", 1, 6)], "A row stands twice."),
        ([("A", "", 1, 6), ("A", "", None, 13)], "A total is published, of which the claim does not speak."),
    ],
)
def test_planted_rows_are_found(rows: list[Any], reason: str) -> None:
    verdict = check_threshold(CountTables.from_rows(rows), Threshold(k=3), original=TRUTH)
    assert not verdict.holds
    assert verdict.reason == reason
    assert verdict.witness is not None


def test_few_people_with_many_visits_are_found() -> None:
    data = Visits.from_records([[("A", 1)]] * 4, owner=[0, 0, 1, 1])
    rows = [("A", "", 1, 4)]
    assert check(rows, data, k=2, margins="no", count="visits").holds
    verdict = check(rows, data, k=3, margins="no", count="visits")
    assert verdict.reason == "A published number counts 2 people, and one of them is 1/2 of it."


def test_one_person_who_is_most_of_a_number_is_found() -> None:
    data = Visits.from_records([[("A", 1)]] * 4, owner=[0, 0, 0, 1])
    verdict = check([("A", "", 1, 4)], data, k=2, margins="no", count="visits")
    assert verdict.reason == "A published number counts 2 people, and one of them is 75 % of it."
    assert check([("A", "", 1, 4)], data, k=2, margins="no", count="visits", row_share="3/4").holds


def test_a_zone_that_is_small_as_a_whole_is_in_no_total() -> None:
    data = Visits.from_records([*[[("A", 1)]] * 4, [("Z", 1)]])
    right = [("", "", None, 4), ("A", "", None, 4), ("", "", 1, 4), ("A", "", 1, 4)]
    wrong = [("", "", None, 5), ("A", "", None, 4), ("", "", 1, 5), ("A", "", 1, 4)]
    assert check(right, data).holds
    assert check(wrong, data).reason == "A published number is not the true one."


def test_a_time_where_there_is_none_is_found() -> None:
    verdict = check_threshold(CountTables.from_rows([("A", "", 1, 9)]), Threshold(k=3, every="all"))
    assert verdict.reason == "A row has a time, or lacks one, against what the claim says of the table."
    assert check_threshold(CountTables.from_rows([("A", "", None, 9)]), Threshold(k=3, every="all")).holds


def test_a_total_below_its_cells_is_found() -> None:
    verdict = check([("", "", None, 9), ("A", "", 1, 6), ("A", "", 2, 7)], original=None)
    assert verdict.reason == "A total is less than the cells that it counts."


def test_files_alone_say_what_they_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = check(TOTALS, original=None)
    assert verdict.holds
    assert verdict.counted == "trajectories"
    assert verdict.not_judged == (threshold_verifier.NOT_THE_PEOPLE,)
    monkeypatch.setattr(threshold_verifier, "MOST_UNKNOWN", 1)
    assert check(TOTALS, original=None).not_judged[1] == threshold_verifier.NOT_THE_UNKNOWN


def test_bounds_are_those_of_whole_numbers() -> None:
    """Two rows and two columns of hidden cells: 3 and 4, 2 and 5 in the sums."""
    rows = [np.array([0, 1]), np.array([2, 3]), np.array([0, 2]), np.array([1, 3])]
    known = Equations(n_cells=4, members=rows, rest=[3, 4, 2, 5])
    assert solve_bounds(known, 0) == (0, 2)
    assert solve_bounds(known, 1) == (1, 3)
    assert find_pinned_low(known, np.arange(4)).tolist() == [1, 3]
    assert find_too_low_highs(known, np.arange(4), 3).tolist() == [0, 2]
    assert not known.fits(np.array([1, 2, 1, 4]))
    assert known.fits(np.array([1, 2, 1, 3]))


def random_case(seed: int) -> tuple[Visits, Counts]:
    rng = np.random.default_rng(seed)
    n_zones = int(rng.integers(2, 4))
    n_times = int(rng.integers(2, 4))
    n = int(rng.integers(6, 30))
    records = [
        [
            (f"z{min(n_zones - 1, rng.geometric(0.4) - 1)}", int(t))
            for t in sorted(rng.choice(n_times, rng.integers(1, n_times + 1), replace=False))
        ]
        for _ in range(n)
    ]
    data = Visits.from_records(records, owner=rng.integers(0, n, n).tolist())
    method = Counts(
        k=int(rng.integers(2, 5)),
        tally=str(rng.choice(["zones", "flows"])),
        count=str(rng.choice(["people", "visits"])),
        every=str(rng.choice(["as-is", "2"])),
        margins=str(rng.choice(["no", "yes", "yes"])),
    )
    return data, method


def assert_nothing_small_is_known(seeds: range) -> None:
    """A brute-force attacker tries all tables that fit: none of the small cells is pinned down; planted ones are."""
    judged = 0
    for seed in seeds:
        data, method = random_case(seed)
        made = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine(workers=1))
        less = made.data.where(np.random.default_rng(seed).random(made.data.n_rows) < 0.9)
        more = Counts(k=2, tally=method.tally, count=method.count, every=method.every, margins=method.margins)
        forged = more.run(data, rng=np.random.default_rng(1), engine=LocalEngine(workers=1)).data
        for number, table in enumerate((made.data, less, forged)):
            try:
                sentence = find_break_of_threshold(table, method.claim, original=data)
            except UsageError:  # more tables than can be tried
                continue
            verdict = check_threshold(table, method.claim, original=data)
            assert verdict.holds == (sentence == ""), (seed, verdict.reason, sentence)
            assert number > 0 or sentence == "", (seed, sentence)
            judged += 1
    assert judged > 2 * len(seeds)


def test_brute_force_pins_no_small_cell_down() -> None:
    assert_nothing_small_is_known(range(40))


@pytest.mark.slow
def test_brute_force_pins_no_small_cell_down_in_two_thousand_tables() -> None:
    assert_nothing_small_is_known(range(40, 2040))


def test_other_data_are_refused() -> None:
    claim: Any = Threshold(k=2)
    other: Any = TRUTH
    with pytest.raises(InputError, match="these data are none"):
        check_threshold(other, claim)
    with pytest.raises(UsageError, match="these data are none"):
        find_break_of_threshold(other, claim)


def test_the_definition_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definition, "MOST_TRIED", 1000)
    claim = Threshold(k=3, margins="yes")
    shown = {("", "", None): 400}
    hidden = [(f"z{i}", "", t) for i in range(5) for t in range(5)]
    with pytest.raises(UsageError, match="tries every table, and there are too many"):
        list(list_fitting_tables(shown, hidden, claim))
