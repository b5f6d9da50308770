"""How long anonymization by matching points takes, phase by phase, and how much memory: one fresh process per row.

    python benchmarks/bench_tga.py                        a quick look: 2,000 trajectories of 50 points, both algorithms
    python benchmarks/bench_tga.py growth                 growth with the number of trajectories and of points
    python benchmarks/bench_tga.py one 10000 50 fast      one row: trajectories, points of each, algorithm

Every result is verified against the original; one failed verdict makes the benchmark fail.  The kernels are compiled
before the clock starts.  The data: people who go from one of 40 places to another in a city of 20 km, each along a way
and at a time of their own, with a point about every minute.  "cpu s" is what all cores worked in all phases, which a
busy machine changes less.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from bench import Clock, make_parser, peak_gb, run_series
from wayveil.engines import LocalEngine
from wayveil.methods.tga.tga import Tga
from wayveil.model import Points
from wayveil.verifiers import VERIFIERS

PHASES = ("prepare", "group", "rest", "boxes", "verify")
STEPS = {"preparing": "prepare", "grouping": "group", "adding": "rest", "drawing": "boxes"}
SERIES = {
    "quick": [(2_000, 50, "fast"), (2_000, 50, "multi")],
    "growth": [
        *((n, 50, "fast") for n in (1_250, 2_500, 5_000, 10_000)),
        *((n, 50, "multi") for n in (500, 1_000, 2_000, 4_000)),
        *((2_000, m, "fast") for m in (25, 100)),
    ],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--k", type=int, default=5)
    heads = (
        "trajectories",
        "points",
        "algorithm",
        *PHASES,
        "total s",
        "cpu s",
        "peak GB",
        "log cost/point",
        "suppressed",
    )
    run_series(
        __file__,
        parser,
        SERIES,
        row_help="trajectories, points of each, algorithm",
        heads=heads,
        measure=lambda options, n, m, algorithm: measure(int(n), int(m), algorithm, options.k),
        cells=list_cells,
        settings=lambda options: f"k={options.k}",
    )


def list_cells(row: dict) -> list[str]:
    seconds = [f"{row['seconds'][phase]:.1f}" for phase in PHASES]
    cells = [f"{row['trajectories']:,}", f"{row['points']:,}", row["algorithm"], *seconds]
    cells += [f"**{sum(row['seconds'].values()):.1f}**", f"{row['cpu']:.1f}", f"{row['peak_gb']:.1f}"]
    return [*cells, f"{row['cost']:.2f}", f"{row['suppressed']:.1%}"]


def measure(trajectories: int, points: int, algorithm: str, k: int) -> dict:
    """Run one row in this process."""
    method = Tga(k=k, algorithm=algorithm)
    method.run(movers(100, 10), rng=np.random.default_rng(0), engine=LocalEngine())
    data = movers(trajectories, points)
    clock = Clock(PHASES, STEPS)
    cpu = time.process_time()
    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(progress=clock.progress))
    clock.enter("verify")
    verdict = VERIFIERS[method.claim.name](result.data, method.claim, original=data)
    clock.enter("verify")
    cpu = time.process_time() - cpu
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    return {
        "trajectories": len(data), "points": data.n_rows, "algorithm": algorithm, "seconds": clock.seconds, "cpu": cpu,
        "peak_gb": peak_gb(),
        "cost": result.facts["log cost per point"], "suppressed": result.facts["points suppressed, share"],
    }  # fmt: skip


def movers(n: int, m: int, seed: int = 1) -> Points:
    """People who leave one place and reach another: the way bent a little, start, speed and times their own."""
    rng = np.random.default_rng(seed)
    hubs, share = rng.uniform(0, 20_000, (40, 2)), rng.dirichlet(np.ones(40))
    a, b = (hubs[rng.choice(40, n, p=share)] + rng.normal(0, 800, (n, 2)) for _ in range(2))
    way = b - a
    aside = np.stack([-way[:, 1], way[:, 0]], axis=1) * rng.normal(0, 0.15, (n, 1))
    done = np.clip((np.linspace(0, 1, m) - rng.uniform(0, 0.4, (n, 1))) / rng.uniform(0.3, 0.6, (n, 1)), 0, 1)
    x, y = (
        a[:, i, None] + way[:, i, None] * done + aside[:, i, None] * np.sin(np.pi * done)
        + np.cumsum(rng.normal(0, 50 / m**0.5, (n, m)), axis=1)
        for i in range(2)
    )  # fmt: skip
    t = np.arange(m) * 60 + rng.integers(0, 600, (n, 1)) + rng.integers(0, 20, (n, m))
    offsets, owner = np.arange(n + 1) * m, np.arange(n)
    return Points(offsets=offsets, t=t.ravel(), x=x.ravel(), y=y.ravel(), owner=owner, time_format="epoch")


if __name__ == "__main__":
    main()
