"""The attacker who adds and subtracts: what is worked out by hand is found."""

from __future__ import annotations

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
