"""What an attacker learns and what the publication lost: run the attacks and metrics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.model import Attack, AttackResult, Data, Engine, Metric, Score, Sensitive

__all__ = ["attack_targets", "measure", "run_attacks"]

_AT_ONCE = 4  # attacks or metrics, each of which takes memory


def run_attacks(
    attacks: tuple[Attack, ...],
    truth: Data,
    target: Data,
    *,
    sensitive: Sensitive,
    seed: np.random.SeedSequence,
    engine: Engine,
    boxes: Data | None = None,
) -> tuple[AttackResult, ...]:
    """Run every attack on one target; see `attack_targets`."""
    return attack_targets(attacks, truth, [(target, boxes)], sensitive=sensitive, seed=seed, engine=engine)[0]


def attack_targets(
    attacks: tuple[Attack, ...],
    truth: Data,
    targets: Sequence[tuple[Data, Data | None]],
    *,
    sensitive: Sensitive,
    seed: np.random.SeedSequence,
    engine: Engine,
    positions: Sequence[int] | None = None,
) -> list[tuple[AttackResult, ...]]:
    """Run every attack on every target, side by side; the same seed picks the same victims in all of them.

    A target is data and, where points were drawn from boxes that are published beside them, these boxes: attacks that
    can see boxes see these instead.  They are public as well, and the points in them, which are there by chance, say
    nothing more.  An attack draws from its position in the list; `positions` are others, where it is one of a longer
    list.
    """
    values = {attribute: list(listed) for attribute, listed in sensitive}

    def play(task: tuple[int, Attack, tuple[Data, Data | None]]) -> AttackResult:
        position, attack, (target, boxes) = task
        engine.progress(f"attack {attack.name}")
        # An attack's random numbers follow from its position in the list alone: one attack more or less does not change
        # the victims of another, and raw and published data are attacked with the same victims.
        own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, position))
        beside = boxes is not None and type(boxes) in attack.targets
        seen = boxes if beside else target
        result = attack.run(truth, seen, sensitive=values, rng=np.random.default_rng(own), engine=engine)
        if beside:
            result = replace(result, adversary=f"{result.adversary}; sees the boxes beside the published points")
        return result

    numbered = list(zip(positions or range(len(attacks)), attacks, strict=True))
    tasks = [(position, attack, target) for position, attack in numbered for target in targets]
    results = _side_by_side(engine).map(play, tasks)
    # Tasks go attack by attack, target by target; every n-th result is that of one target.
    return [tuple(results[number :: len(targets)]) for number in range(len(targets))]


def measure(
    metrics: tuple[Metric, ...], original: Data, published: Callable[[Metric], Data], engine: Engine
) -> tuple[Score, ...]:
    """Run every metric, side by side; `published` says what each is to compare the original with."""

    def run(metric: Metric) -> Score:
        engine.progress(f"measure {metric.name}")
        return metric.run(original, published(metric))

    return tuple(_side_by_side(engine).map(run, metrics))


def _side_by_side(engine: Engine) -> LocalEngine:
    """Return an engine for what holds tables of its own in memory: a few cores, of this machine, where the data are."""
    # On a cluster the data are here all the same, and here one attack at a time is what memory surely allows.
    return LocalEngine(workers=min(engine.workers, _AT_ONCE) if isinstance(engine, LocalEngine) else 1)
