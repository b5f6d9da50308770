"""Compile the kernels that a publication needs, once per installation, on two cores at a time."""

from __future__ import annotations

import numpy as np

from wayveil.kernels.warm import is_warm, mark_warm, start_warming, warm
from wayveil.model import Attack, Engine, Method, Metric, Visits

__all__ = ["compile_kernels"]


def compile_kernels(method: Method, attacks: tuple[Attack, ...], metrics: tuple[Metric, ...], engine: Engine) -> None:
    """Compile what is not in the cache yet: the method's slowest kernel elsewhere, everything else meanwhile here."""
    cold = [name for name in method.kernels if not is_warm(name)]
    cold_attacks = [attack for attack in attacks if not is_warm(f"attack-{attack.name}")]
    cold_metrics = [metric for metric in metrics if not is_warm(f"metric-{metric.name}")]
    if not (cold or cold_attacks or cold_metrics):
        return
    engine.progress("compiling kernels, on the first run only")
    tiny = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1), ("b", 2)]], attributes={"s": ["x", "y"]})
    other = start_warming(cold[:1])
    try:
        for name in cold[1:]:
            warm(name)
        for attack in cold_attacks:
            attack.run(tiny, tiny, sensitive={"s": ["x"]}, rng=np.random.default_rng(0), engine=engine)
            mark_warm(f"attack-{attack.name}")
        for metric in cold_metrics:
            metric.run(tiny, tiny)
            mark_warm(f"metric-{metric.name}")
    finally:
        if other is not None:
            other.wait()
