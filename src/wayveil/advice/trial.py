"""One setting tried on raw data: what it leaves, what of its use is gone, and what the worst attacker learns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from wayveil.advice.settings import Setting
from wayveil.engines import LocalEngine
from wayveil.errors import WayveilError
from wayveil.io import Loaded
from wayveil.model import AttackResult, Data, Engine, MethodResult, Points
from wayveil.pipeline.alignment import aligned, cut_at_parts, rejoin
from wayveil.pipeline.evaluate import measure, run_attacks
from wayveil.pipeline.input import load_zones, prepare
from wayveil.pipeline.remaining import Remaining, count_published
from wayveil.pipeline.seeds import rng_for, sequence_for
from wayveil.recipe.defaults import attacks_of, metrics_of, sensitive_of
from wayveil.recipe.purpose import lost_share, telling_names
from wayveil.recipe.recipe import Recipe
from wayveil.report.text.head import Exposure, exposures
from wayveil.yardstick.fair_loss import FairLoss, RawUse
from wayveil.yardstick.footprint import Space, trace

__all__ = ["ENOUGH", "Risk", "Trial", "try_setting"]

ENOUGH = 0.5
"""The share of rows, trips and people that must be left of a file."""


@dataclass(frozen=True, kw_only=True)
class Risk:
    """What the worst attacker learns: the chance that a person is found, on average and for the person most at risk.

    `share_above` are the people above `limit`; `mean_raw` is the chance before publication.
    """

    attack: str
    mean: float
    largest: float | None
    share_above: float | None
    limit: float | None
    mean_raw: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the risk as JSON can hold it."""
        return {
            "attack": self.attack,
            "mean": self.mean,
            "largest": self.largest,
            "share_above": self.share_above,
            "limit": self.limit,
            "mean_raw": self.mean_raw,
        }


@dataclass(frozen=True, kw_only=True)
class Trial:
    """What came of a setting; `why` says why nothing did.

    `exposed` are the attacks above their limit, the one that exposes most people first, and `use_lost` is the loss that
    the result of a run would tell: both are as in the head of that result, and are there after attacks only.
    """

    setting: Setting
    rows: int
    shares: Mapping[str, float] = field(default_factory=dict)
    loss: FairLoss | None = None
    risk: Risk | None = None
    exposed: tuple[Exposure, ...] | None = None
    use_lost: float | None = None
    why: str = ""

    @property
    def low(self) -> bool:
        """Whether a run would end in "kept and low": half is left, and no attack exceeds its limit for anybody."""
        left = bool(self.shares) and min(self.shares.values()) >= ENOUGH
        return left and self.exposed == () and (self.use_lost is None or self.use_lost <= ENOUGH)

    @property
    def kept(self) -> float:
        """The share of the trips of the file of which something is left."""
        return self.shares.get("trips", 0.0)

    @property
    def rows_kept(self) -> float:
        """The share of the rows that are left, as far as they stay the same kind of thing."""
        return next((share for what, share in self.shares.items() if what not in ("trips", "people")), 0.0)

    @property
    def cost(self) -> float:
        """The loss; 1 where nothing is left."""
        return 1.0 if self.loss is None else self.loss.value

    @property
    def rank(self) -> tuple[int, float]:
        """What trials are compared by: the smallest loss comes first."""
        return (10**6, 1.0) if self.loss is None else self.loss.rank

    def to_json(self) -> dict[str, Any]:
        """Return the trial as JSON can hold it."""
        return {
            "setting": self.setting.words,
            "prepare": list(self.setting.steps),
            "method": dict(self.setting.method),
            "weaker": self.setting.weaker or None,
            "rows": self.rows,
            "shares": dict(self.shares),
            "loss": None if self.loss is None else {"value": self.loss.value, **self.loss.parts},
            "risk": None if self.risk is None else self.risk.to_json(),
            "exposed": None if self.exposed is None else [one.to_json() for one in self.exposed],
            "kept_and_low": self.low,
            "why": self.why or None,
        }


def try_setting(
    setting: Setting,
    recipe: Recipe,
    loaded: Loaded,
    use: RawUse,
    space: Space,
    *,
    seed: int,
    attack: bool = False,
    engine: Engine | None = None,
) -> Trial:
    """Prepare the data, run the method, and measure; with `attack`, let all attackers loose on what is left.

    Nothing is written, and so nothing is promised: this is for choosing only.
    """
    engine = engine or LocalEngine()
    rows = loaded.data.n_rows
    try:
        # A step or a method may refuse the data; that is a result of the trial, and its sentence says why.
        chosen = setting.apply(recipe)
        ready = prepare(loaded, chosen.prepare, chosen.input)
        method = chosen.method
        result = method.run(ready.data, rng=rng_for(seed, "method"), engine=engine)
        if not result.data.n_rows:
            return Trial(setting=setting, rows=rows, why="nothing is left")
        polygons = None
        for step in chosen.prepare:
            polygons = load_zones(chosen.input, step, ready.data) if step.needs_zones else polygons
        # Compared with the file, not with what the steps made of it: their loss counts as well.
        left = trace(result.data, space, steps=chosen.prepare, polygons=polygons, timed=method.keeps_times)
        loss = use.lose(left)
        risk, exposed, lost = _attack(chosen, ready.data, result, seed, engine) if attack else (None, None, None)
    except WayveilError as error:
        return Trial(setting=setting, rows=rows, why=str(error))
    assert ready.origin is not None
    last = count_published(method.name, ready.data, result, ready.origin)
    return Trial(
        setting=setting,
        rows=rows,
        shares=Remaining(stages=(*ready.stages, last)).shares,
        loss=loss,
        risk=risk,
        exposed=exposed,
        use_lost=lost,
    )


def _attack(
    recipe: Recipe, prepared: Data, result: MethodResult, seed: int, engine: Engine
) -> tuple[Risk | None, tuple[Exposure, ...], float | None]:
    """Return what the worst attacker learns of people, on average; who exceeds a limit; and the loss that a run tells.

    The loss is measured only where nobody exceeds a limit: there it decides what the result is called.
    """
    attacks = attacks_of(recipe)
    sequence = sequence_for(seed, "attacks")
    truth, seen, whole = _match(recipe.method, prepared, result)
    results = run_attacks(
        attacks, truth, seen, sensitive=sensitive_of(recipe), seed=sequence, engine=engine, boxes=result.boxes
    )
    exposed = exposures(results)
    # Above a limit the result is not called low whatever is lost, so nothing is measured there.
    lost = None if exposed else _lose_use(recipe, prepared, seen, whole, engine)
    risks = [(risk, position) for position, result in enumerate(results) if (risk := _risk_of(result)) is not None]
    if not risks:
        return None, exposed, lost
    # The highest mean; of equals the one that is worse for one person, then the one that was asked for first.
    risk, position = max(risks, key=lambda one: (one[0].mean, one[0].largest or 0.0, -one[1]))
    # The same draws as in the run above, so that before and after differ by the publication alone.
    own = np.random.SeedSequence(sequence.entropy, spawn_key=(*sequence.spawn_key, position))
    values = {attribute: list(listed) for attribute, listed in sensitive_of(recipe)}
    attack = attacks[position]
    # The truth attacked as if it were the publication: what this attacker learns where nothing is done.
    before = attack.run(truth, truth, sensitive=values, rng=np.random.default_rng(own), engine=engine)
    raw = _risk_of(before)
    return replace(risk, mean_raw=None if raw is None else raw.mean), exposed, lost


def _match(method: Any, prepared: Data, result: MethodResult) -> tuple[Any, Any, Any]:
    """Return what attackers know and see, trajectory by trajectory, and what is published of each prepared one.

    Where a method publishes pieces in time, attackers know the true piece of each.
    """
    if result.source is None or not method.parts_in_time or not isinstance(prepared, Points):
        return prepared, result.data, result.data
    pieces, piece = cut_at_parts(prepared, result)
    published = np.flatnonzero(piece >= 0)
    matched = aligned(result.data.take(published), piece[published], pieces)
    return pieces, matched, rejoin(matched, pieces, prepared)


def _lose_use(recipe: Recipe, prepared: Data, seen: Data, whole: Data, engine: Engine) -> float | None:
    """Return the loss that the result of a run tells first, as a share; None where it is told in another unit."""
    metrics = {metric.name: metric for metric in metrics_of(recipe)}
    names = [name for name in telling_names(recipe.use) if name in metrics]
    # The names of the purpose first, then all others: the first that has a value is the one that a run shows.
    for name in dict.fromkeys([*names, *metrics]):
        metric = metrics[name]
        score = measure((metric,), prepared, lambda one: whole if one.matched else seen, engine)[0]
        if score.value is not None:
            return lost_share(score)
    return None


def _risk_of(result: AttackResult) -> Risk | None:
    """Return what an attack learns of who people are; None where it is after something else or measured nothing."""
    numbers = [number for number in result.numbers.values() if number.about == "identity"]
    by = {number.statistic: number for number in numbers if number.value is not None}
    mean = by.get("mean")
    if mean is None or mean.value is None:
        return None
    above = by.get("share above")
    return Risk(
        attack=result.name,
        mean=float(mean.value),
        largest=float(by["largest"].value or 0.0) if "largest" in by else None,
        share_above=None if above is None else float(above.value or 0.0),
        limit=None if above is None else above.threshold,
    )
