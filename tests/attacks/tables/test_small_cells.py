"""The attacker who adds and subtracts: what is worked out by hand is found."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from wayveil.attacks.tables.small_cells import SmallCells
from wayveil.engines import LocalEngine
from wayveil.model import CountTables, Visits

TRUTH = Visits.from_records([[("A", 1)]] * 6 + [[("B", 1)]] * 2 + [[("A", 2)]] * 7 + [[("B", 2)]] * 8)
CELLS = [("A", "", 1, 6), ("A", "", 2, 7), ("B", "", 2, 8)]
TOTALS = [("", "", None, 23), ("A", "", None, 13), ("B", "", None, 10), ("", "", 1, 8), ("", "", 2, 15)]


def attack(rows: list[Any] | Visits, truth: Visits = TRUTH, **given: Any) -> dict[str, Any]:
    target = rows if isinstance(rows, Visits) else CountTables.from_rows(rows)
    attack = SmallCells(**{"k": 3, **given})
    return attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine()).measured


def test_raw_data_show_every_cell() -> None:
    found = attack(TRUTH)
    assert found["identity_max"] == 1 / 2
    assert found["identity_mean"] == pytest.approx((2 / 2 + 6 / 6 + 7 / 7 + 8 / 8) / 23)


def test_cells_without_totals_give_nothing_else_away() -> None:
    found = attack(CELLS)
    assert found["identity_max"] == 1 / 6
    assert found["worked_out"] == 0
    assert found["numbers"] == 3


def test_a_difference_gives_the_last_cell_away() -> None:
    found = attack([*CELLS, *TOTALS])
    assert found["worked_out"] == 1
    assert found["identity_max"] == 1 / 2


def test_a_second_cell_in_the_row_and_the_column_hides_it() -> None:
    rows = [*TOTALS, ("A", "", 2, 7)]
    assert attack(rows)["worked_out"] == 1  # row and column of A 2 are complete but for one cell each
    assert attack(TOTALS)["worked_out"] == 0


def test_a_person_counts_with_what_is_theirs() -> None:
    truth = Visits.from_records([[("A", 1)]] * 4, owner=[0, 0, 0, 1])
    assert attack([("A", "", 1, 4)], truth, count="visits")["identity_max"] == 3 / 4
    assert attack([("A", "", 1, 2)], truth)["identity_max"] == 1 / 2


def test_flows_have_totals_of_their_own() -> None:
    truth = Visits.from_records([[("A", 1), ("B", 2)]] * 5 + [[("A", 1), ("C", 2)]])
    rows = [("A", "B", 1, 5), ("A", "", 1, 6)]
    assert attack(rows, truth, tally="flows")["worked_out"] == 1
    assert attack(rows[:1], truth, tally="flows")["identity_max"] == 1 / 5


def test_a_total_does_not_count_lines_that_are_too_small_as_wholes() -> None:
    """At time 0 there are 4 people, one more than 1/5: the total of A counts the six of time 1, each of them once."""
    truth = Visits.from_records(
        [[("A", 1)]] * 5 + [[("A", 0)]] * 3 + [[("A", 0), ("A", 1)]], owner=[1, 2, 3, 4, 5, 6, 7, 8, 0]
    )
    rows = [("", "", None, 6), ("A", "", None, 6), ("", "", 1, 6), ("A", "", 1, 6)]
    found = attack(rows, truth, count="visits", row_share=Fraction(1, 5))
    assert found["identity_max"] == pytest.approx(1 / 6)
    assert found["rest_people_min"] is None


def test_what_a_total_leaves_for_hidden_cells_may_be_few_people() -> None:
    """Two people are in A at both hidden times: together the cells are 4, which counts two people."""
    truth = Visits.from_records(
        [[("A", 1), ("A", 2)]] * 2 + [[("B", 1), ("B", 2), ("A", 3)]] * 6, owner=[0, 1, 2, 3, 4, 5, 6, 7]
    )
    rows = [("A", "", 3, 6), ("A", "", None, 10), ("", "", 1, 8), ("", "", 2, 8)]
    found = attack(rows, truth)
    assert found["worked_out"] == 0
    assert found["rest_people_min"] == 2
