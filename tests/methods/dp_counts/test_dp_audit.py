"""A privacy audit: the real code runs on neighbouring data, and what it tells apart bounds epsilon from below.

One run holds many experiments at once.  Each has one person, the victim, with zones of their own that nobody else
visits (but for a few others who are always there); one data set has all victims, its neighbour none of them.  Cells
and people are counted independently of each other, so every victim is an experiment with two worlds of its own.

An attacker says "in" where the score of a victim's zones is high.  From which score on is chosen in one run and tried
in another.  Clopper-Pearson bounds on how often that is right and wrong give a lower bound of epsilon that is too high
with a probability below 1e-11: a sound mechanism never fails here, a broken one does.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import inf, log
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta

from wayveil.engines import LocalEngine
from wayveil.methods import DpCounts
from wayveil.methods.common import noise
from wayveil.methods.dp_counts import dp_counts
from wayveil.methods.dp_counts.public_keys import PublicKeys
from wayveil.model import Visits

ALPHA = 1e-12
ENGINE = LocalEngine(workers=1)
MISSING = -1_000_000
"""What a key that is not published adds to a score."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What is run: victims have `cells` zones of their own, `visits` in each, and `others` people are in every zone."""

    epsilon: float
    delta: float = 0.0
    per_person: int = 1
    per_cell: int = 1
    cells: int = 1
    visits: int = 1
    others: int = 0

    def method(self, victims: int) -> DpCounts:
        zones = {"all": self.zones(victims)} if self.delta == 0 else {}
        return DpCounts(
            epsilon=self.epsilon,
            delta=self.delta,
            per_person=self.per_person,
            per_cell=self.per_cell,
            count="visits",
            every="all",
            public_zones=zones,
        )

    def zones(self, victims: int) -> list[str]:
        return [f"{victim}-{cell}" for victim in range(victims) for cell in range(self.cells)]

    def data(self, victims: int, *, is_in: bool) -> Visits:
        """Return all victims, or none of them; others are in one zone each, so that nothing of them is left out."""
        records = [[(zone, 0)] for zone in self.zones(victims) for _ in range(self.others)]
        if is_in:
            records += [
                [(f"{victim}-{cell}", i) for i, cell in enumerate(list(range(self.cells)) * self.visits)]
                for victim in range(victims)
            ]
        return Visits.from_records(records or [[("elsewhere", 0)]])


def list_scores(setting: Setting, victims: int, *, is_in: bool, seed: int) -> Any:
    """Return the sum of what is published of every victim's zones."""
    made = setting.method(victims).run(
        setting.data(victims, is_in=is_in), rng=np.random.default_rng(seed), engine=ENGINE
    )
    scores = np.full(victims, float(MISSING * setting.cells))
    for zone, _, _, number in made.data.record(0):
        if zone != "elsewhere":
            scores[int(zone.partition("-")[0])] += number - MISSING
    return scores


def bound_epsilon(setting: Setting, victims: int) -> float:
    """Return what epsilon is at least, by the best threshold that a first run suggests, in either direction."""
    tried = [list_scores(setting, victims, is_in=is_in, seed=1) for is_in in (True, False)]
    seen = [list_scores(setting, victims, is_in=is_in, seed=2) for is_in in (True, False)]
    best = -inf
    for world in (0, 1):  # who is in has higher scores, and who is not lower ones
        sign = 1 - 2 * world
        cuts = np.unique(sign * np.concatenate(tried))
        cuts = cuts[:: max(1, len(cuts) // 200)]

        def guess(cut: float, scores: Any, sign: int = sign, world: int = world) -> float:
            hits, false = (int((sign * scores[i] >= cut).sum()) for i in (world, 1 - world))
            right = beta.ppf(ALPHA, hits, victims - hits + 1) if hits else 0.0
            wrong = beta.ppf(1 - ALPHA, false + 1, victims - false) if false < victims else 1.0
            return log((right - setting.delta) / wrong) if right > setting.delta else -inf

        chosen = max(cuts.tolist(), key=lambda cut: guess(cut, tried))
        best = max(best, guess(chosen, seen))
    return best


def draw_setting(seed: int) -> Setting:
    draw = random.Random(seed)
    cells = draw.randint(1, 4)
    return Setting(
        epsilon=draw.choice([0.2, 0.5, 1.0, 2.0, 4.0]),
        delta=draw.choice([0.0, 0.0, 0.01, 0.05]),
        per_person=draw.randint(1, 4),
        per_cell=draw.randint(1, 3),
        cells=cells,
        visits=draw.randint(1, 5),
        others=draw.randint(0, 2),
    )


@pytest.mark.parametrize("seed", range(6))
def test_a_sample_of_settings_tells_no_more_than_epsilon(seed: int) -> None:
    setting = draw_setting(seed)
    assert bound_epsilon(setting, 3_000) <= setting.epsilon


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 300))
def test_no_setting_tells_more_than_epsilon(seed: int) -> None:
    setting = draw_setting(seed)
    assert bound_epsilon(setting, 8_000) <= setting.epsilon


TIGHT = Setting(epsilon=1.0)
BUSY = Setting(epsilon=1.0, per_person=1, cells=5)
OFTEN = Setting(epsilon=1.0, per_cell=1, visits=6)
SELECTED = Setting(epsilon=1.0, delta=0.05)


def test_the_audit_is_sharp() -> None:
    """It finds most of what a mechanism spends, or it would not find faults."""
    for setting in (TIGHT, BUSY, OFTEN):
        assert 0.15 < bound_epsilon(setting, 6_000) <= 1.0
    assert bound_epsilon(TIGHT, 6_000) > 0.6


def test_half_the_noise_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "_least_scale", lambda loss, begin, budget: (begin / 2, budget))
    assert bound_epsilon(TIGHT, 6_000) > 1.0


def test_an_unbounded_number_of_cells_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dp_counts, "bound_cells", lambda cells, bound, rng: np.ones(len(cells.pair_cell), bool))
    assert bound_epsilon(BUSY, 6_000) > 1.0


def test_an_unbounded_number_of_visits_in_a_cell_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = dp_counts.tally_cells

    def hide(events: Any, *, count: str) -> Any:
        cells = real(events, count=count)
        object.__setattr__(cells, "pair_count", Unclipped(cells.pair_count))
        return cells

    monkeypatch.setattr(dp_counts, "tally_cells", hide)
    monkeypatch.setattr(dp_counts.np, "minimum", lambda one, other: one.true if isinstance(one, Unclipped) else one)
    assert bound_epsilon(OFTEN, 6_000) > 1.0


class Unclipped:
    """Numbers of visits that a planted fault does not clip."""

    def __init__(self, true: Any) -> None:
        self.true = true


def test_a_forgotten_key_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that nobody is in are left out of a public domain."""
    true_numbers: list[Any] = []
    add = dp_counts.add_noise
    make_rows = PublicKeys.rows

    def remember(numbers: Any, query: Any, *, component: str) -> Any:
        true_numbers.append(numbers)
        return add(numbers, query, component=component)

    def forget(self: PublicKeys, numbers: Any) -> Any:
        rows = make_rows(self, numbers)
        kept = true_numbers[-1] > 0
        columns = {name: getattr(rows, name)[kept] for name in ("zone", "to_zone", "t", "timed", "count")}
        return type(rows)(**columns, names=rows.names)

    monkeypatch.setattr(dp_counts, "add_noise", remember)
    monkeypatch.setattr(PublicKeys, "rows", forget)
    assert bound_epsilon(TIGHT, 6_000) > 1.0


def test_a_threshold_that_is_one_too_low_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As OpenDP's own map had it up to 0.16: the chance of the threshold itself was not counted."""
    assert bound_epsilon(SELECTED, 6_000) <= 1.0
    real = dp_counts.plan_selection

    def lower(*args: Any, **given: Any) -> Any:
        query = real(*args, **given)
        object.__setattr__(query, "threshold", query.threshold - 1)
        return query

    monkeypatch.setattr(dp_counts, "plan_selection", lower)
    assert bound_epsilon(SELECTED, 6_000) > 1.0
