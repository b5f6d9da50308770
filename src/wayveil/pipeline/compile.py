"""Compile the kernels that a publication needs, once per installation, on two cores at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.kernels.common.warm import is_warm, mark_warm, start_warming, warm
from wayveil.model import Attack, Coded, Engine, Method, Metric, parameters_of

__all__ = ["compile_kernels"]


def compile_kernels(
    method: Method,
    attacks: tuple[Attack, ...],
    metrics: tuple[Metric, ...],
    engine: Engine,
    also: tuple[str, ...] = (),
) -> None:
    """Compile what is not in the cache yet: the method's slowest kernel elsewhere, everything else meanwhile here.

    `also` are jobs of kernels that the method does not need by itself.
    """
    cold = [name for name in (*method.kernels, *also) if not is_warm(name)]
    kind = method.publishes.kind
    cold_attacks = [attack for attack in attacks if not is_warm(f"attack-{attack.name}-{kind}")]
    cold_metrics = [metric for metric in metrics if not is_warm(f"metric-{metric.name}-{kind}")]
    rehearsal = _rehearsal(method)
    if is_warm(rehearsal) and not (cold or cold_attacks or cold_metrics):
        return
    engine.progress("compiling kernels, on the first run only")
    other = start_warming(cold[:1])
    try:
        for name in cold[1:]:
            warm(name)
        # Nothing depends on how these end: parameters that do not fit such data may well fit the real ones.
        for attack in cold_attacks:
            rng = np.random.default_rng(0)
            tiny = method.publishes.tiny()
            with suppress(Exception):
                attack.run(attack.accepts.tiny(), tiny, sensitive={"s": ["x"]}, rng=rng, engine=engine)
                mark_warm(f"attack-{attack.name}-{kind}")
        for metric in cold_metrics:
            with suppress(Exception):
                metric.run(metric.accepts.tiny(), method.publishes.tiny())
                mark_warm(f"metric-{metric.name}-{kind}")
    finally:
        if other is not None:
            other.wait()
    if not is_warm(rehearsal):
        _rehearse(method)
        mark_warm(rehearsal)


def _rehearsal(method: Any) -> str:
    """Return the name of a run of the method on next to nothing; other choices may need other kernels."""
    choices = [str(getattr(method, p.name)) for p in parameters_of(type(method)) if p.kind == "choice"]
    return "-".join(["method", method.name, *choices])


def _rehearse(method: Any) -> None:
    """Run the method on people who are much alike, so that its kernels are compiled before the data are waiting."""
    # Behind noise nobody is seen unless there are many.
    people = 1000 if method.random_noise else min(method.claim.group_size, 100) + 1
    data = method.accepts.tiny()
    crowd: Any = data.take(np.arange(people) % len(data))
    sensitive = method.claim.sensitive
    attributes = {name: Coded(codes=np.zeros(people, np.int64), labels=(values[0],)) for name, values in sensitive}
    crowd = replace(crowd, owner=np.arange(people), attributes=attributes)
    # Nothing depends on how this ends: what is wrong with the parameters or the data shows up in the real run.
    with suppress(Exception):
        method.run(crowd, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
