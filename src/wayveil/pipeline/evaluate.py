"""What an attacker learns and what the publication lost: run the attacks and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.model import Attack, AttackResult, Data, Engine, Metric, Score, Sensitive

__all__ = ["measure", "run_attacks"]


def run_attacks(
    attacks: tuple[Attack, ...],
    truth: Data,
    target: Data,
    *,
    sensitive: Sensitive,
    seed: np.random.SeedSequence,
    engine: Engine,
    boxes: Data | None = None,
    positions: Sequence[int] | None = None,
) -> tuple[AttackResult, ...]:
    """Run every attack; the same seed picks the same victims for raw and for published data.

    Where points were drawn from `boxes` that are published beside them, attacks that can see boxes see these: they are
    public as well, and the points in them, which are there by chance, say nothing more.  An attack draws from its
    position in the list; `positions` are others, where it is one of a longer list.
    """
    values = {attribute: list(listed) for attribute, listed in sensitive}
    results = []
    for position, attack in zip(positions or range(len(attacks)), attacks, strict=True):
        engine.progress(f"attack {attack.name}")
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, position))
        beside = boxes is not None and type(boxes) in attack.targets
        seen = boxes if beside else target
        result = attack.run(truth, seen, sensitive=values, rng=np.random.default_rng(own), engine=engine)
        if beside:
            result = replace(result, adversary=f"{result.adversary}; sees the boxes beside the published points")
        results.append(result)
    return tuple(results)


def measure(metrics: tuple[Metric, ...], original: Data, published: Data, engine: Engine) -> tuple[Score, ...]:
    """Run every metric, side by side on the cores of this machine: the data are here, and a metric knows no engine."""

    def run(metric: Metric) -> Score:
        engine.progress(f"measure {metric.name}")
        return metric.run(original, published)

    here = engine if isinstance(engine, LocalEngine) else LocalEngine(progress=engine.progress)
    return tuple(here.map(run, metrics))
