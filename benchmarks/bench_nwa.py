"""How long Never Walk Alone takes, phase by phase, and how much memory: one fresh process per row.

    python benchmarks/bench_nwa.py                    a quick look: 10,000 trajectories of 100 points
    python benchmarks/bench_nwa.py trajectories       growth: 12,500 to 200,000 trajectories of 100 points
    python benchmarks/bench_nwa.py points             growth: 20,000 trajectories of 25 to 400 points
    python benchmarks/bench_nwa.py one 100000 100     one row: trajectories, points of each

Every row is read from Parquet, written, read back and verified; one failed verdict makes the benchmark fail.  The
kernels are compiled before the clock starts.  The data: people who go from one of 40 places to another in a city of 20
km, each along a way and at a time of their own, all seen at the same times, so that they are one single class.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import Clock, make_parser, peak_gb, run_series
from wayveil.engines import LocalEngine
from wayveil.io.publish.published import read_published, write_published
from wayveil.io.publish.writer import write_points
from wayveil.io.read.point_tables import read_points
from wayveil.io.tabular.columns import ReadOptions
from wayveil.methods.nwa.nwa import Nwa
from wayveil.model import Points
from wayveil.verifiers.kdelta.kdelta_verifier import check_kdelta

PHASES = ("read", "classes", "distances", "clusters", "move", "write", "verify")
STEPS = {"finding": "classes", "measuring": "distances", "clustering": "clusters", "moving": "move"}
SERIES = {
    "quick": [(10_000, 100)],
    "trajectories": [(n, 100) for n in (12_500, 25_000, 50_000, 100_000, 200_000)],
    "points": [(20_000, m) for m in (25, 50, 100, 200, 400)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--delta", type=float, default=500)
    heads = ("trajectories", "points", *PHASES, "total s", "peak GB", "restarts", "clusters", "trash", "moved m/point")
    run_series(
        __file__,
        parser,
        SERIES,
        row_help="trajectories, points of each",
        heads=heads,
        measure=lambda options, n, m: measure(Nwa(k=options.k, delta=options.delta), int(n), int(m)),
        cells=list_cells,
        settings=lambda options: f"k={options.k} delta={options.delta:g}",
    )


def list_cells(row: dict) -> list[str]:
    seconds = [f"{row['seconds'][phase]:.1f}" for phase in PHASES]
    cells = [f"{row['trajectories']:,}", f"{row['points']:,}", *seconds, f"**{sum(row['seconds'].values()):.1f}**"]
    cells += [f"{row['peak_gb']:.1f}", str(row["restarts"]), f"{row['clusters']:,}"]
    cells += [f"{row['trash']:.1%}", f"{row['moved']:.0f}"]
    return cells


def measure(method: Nwa, trajectories: int, points: int) -> dict:
    """Run one row in this process."""
    method.run(movers(100, 10), rng=np.random.default_rng(0), engine=LocalEngine())
    with tempfile.TemporaryDirectory() as folder:
        raw, public = Path(folder, "raw.parquet"), Path(folder, "published.parquet")
        write_points(movers(trajectories, points), raw)
        clock = Clock(PHASES, STEPS)
        data = replace(read_points(raw, ReadOptions(crs="planar", owners="each-trajectory")).data, time_format="epoch")
        result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(progress=clock.progress))
        clock.enter("write")
        write_published(result.data, public, key=bytes([2]) * 32)
        clock.enter("verify")
        loaded = read_published(public, kind="points", time_format="epoch", attributes=[], owners="declared")
        verdict = check_kdelta(loaded.data, method.claim)
        clock.enter("read")
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    return {
        "trajectories": trajectories, "points": data.n_rows, "seconds": clock.seconds,
        "peak_gb": peak_gb(),
        "restarts": result.facts["restarts"], "clusters": result.facts["clusters"],
        "trash": result.facts["trajectories in trash"] / trajectories,
        "moved": result.facts["total translation (m)"] / max(1, result.data.n_rows),
    }  # fmt: skip


def movers(n: int, m: int, seed: int = 1) -> Points:
    """People who leave one place and reach another: the way bent a little, the start and the speed their own."""
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
    t = np.tile(np.arange(m) * 60, n)
    return Points(offsets=np.arange(n + 1) * m, t=t, x=x.ravel(), y=y.ravel(), owner=np.arange(n), time_format="epoch")


if __name__ == "__main__":
    main()
