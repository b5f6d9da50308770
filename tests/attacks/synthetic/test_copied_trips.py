"""Copies of whole trips: found where they are, and not where trips are only alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from wayveil.attacks import CopiedTrips, CopiedWays
from wayveil.engines import LocalEngine
from wayveil.model import Points, Visits


def play(attack: Any, truth: Any, target: Any) -> dict[str, Any]:
    found = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine(workers=1))
    return {"victims": found.victims, **found.measured}


def test_the_data_themselves_are_copies_and_decoys_never_happened() -> None:
    rng = np.random.default_rng(2)
    records = [[(f"p{rng.integers(5)}", int(rng.integers(20))), (f"p{rng.integers(9)}", 30)] for _ in range(60)]
    data = Visits.from_records(records)
    found = play(CopiedTrips(), data, data)
    assert found["copied_share"] == found["advantage"] == 1.0
    assert found["decoy_share"] == 0.0
    assert 0 < found["victims"] <= 60
    nothing = play(CopiedTrips(), data, Visits.from_records([[("x", 1), ("y", 2)]]))
    assert nothing["copied_share"] == nothing["decoy_share"] == nothing["advantage"] == 0.0


def test_who_publishes_all_that_could_be_copies_nobody_more_than_decoys() -> None:
    truth = Visits.from_records([[("a", 8), ("b", 9)], [("a", 10), ("c", 11)]])
    target = Visits.from_records([[("a", hour), (end, 20)] for hour in (8, 10) for end in ("b", "c")])
    found = play(CopiedTrips(), truth, target)
    assert found["copied_share"] == found["decoy_share"]
    assert found["advantage"] == 0.0


def test_ways_are_cells_one_after_the_other() -> None:
    ways = [[(0, 10.0, 10.0), (1, 20.0, 20.0), (2, 600.0, 10.0), (3, 1200.0, y)] for y in (10.0, 600.0)]
    ways += [[(0, 10.0, 700.0), (1, 600.0, 10.0), (2, 1200.0, y)] for y in (1200.0, -600.0)]
    data = Points.from_records(ways)
    found = play(CopiedWays(cell=500), data, data)
    assert found["copied_share"] == 1.0
    assert found["decoy_share"] == 0.0
    assert play(CopiedWays(cell=500, victims=1), data, data)["victims"] <= 1
    shifted = Points.from_records([[(t, x + 5000, y) for t, x, y in way] for way in ways])
    assert play(CopiedWays(cell=500), data, shifted)["copied_share"] == 0.0
