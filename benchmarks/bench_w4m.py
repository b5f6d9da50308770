"""How long Wait For Me takes, phase by phase, and how much memory: one fresh process per row.

    python benchmarks/bench_w4m.py                    a quick look: 2,000 trajectories of 100 points
    python benchmarks/bench_w4m.py trajectories       growth: 2,500 to 40,000 trajectories of 100 points
    python benchmarks/bench_w4m.py points             growth: 5,000 trajectories of 25 to 200 points
    python benchmarks/bench_w4m.py one 20000 100      one row: trajectories, points of each

Every row is read from Parquet, written, read back and verified; one failed verdict makes the benchmark fail.  The
kernels are compiled before the clock starts.  The data are those of bench_nwa.py, but everybody starts at another
second of two hours.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import Clock, make_parser, peak_gb, run_series
from bench_nwa import movers
from wayveil.engines import LocalEngine
from wayveil.io.publish.published import read_published, write_published
from wayveil.io.publish.writer import write_points
from wayveil.io.read.point_tables import read_points
from wayveil.io.tabular.columns import ReadOptions
from wayveil.methods.w4m.w4m import W4m
from wayveil.model import Points
from wayveil.verifiers.kdelta.kdelta_verifier import check_kdelta

PHASES = ("read", "clusters", "edit", "write", "verify")
STEPS = {"comparing": "clusters", "editing": "edit"}
SERIES = {
    "quick": [(2_000, 100)],
    "trajectories": [(n, 100) for n in (2_500, 5_000, 10_000, 20_000, 40_000)],
    "points": [(5_000, m) for m in (25, 50, 100, 200)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--delta", type=float, default=500)
    parser.add_argument("--distance", default="lstd", choices=["lstd", "edr"])
    heads = ("trajectories", "points", *PHASES, "total s", "peak GB", "restarts", "clusters", "trash", "moved m/point")
    run_series(
        __file__,
        parser,
        SERIES,
        row_help="trajectories, points of each",
        heads=heads,
        measure=lambda options, n, m: measure(
            W4m(k=options.k, delta=options.delta, distance=options.distance), int(n), int(m)
        ),
        cells=list_cells,
        settings=lambda options: f"k={options.k} delta={options.delta:g} distance={options.distance}",
    )


def list_cells(row: dict) -> list[str]:
    seconds = [f"{row['seconds'][phase]:.1f}" for phase in PHASES]
    cells = [f"{row['trajectories']:,}", f"{row['points']:,}", *seconds, f"**{sum(row['seconds'].values()):.1f}**"]
    cells += [f"{row['peak_gb']:.1f}", str(row["restarts"]), f"{row['clusters']:,}"]
    cells += [f"{row['trash']:.1%}", f"{row['moved']:.0f}"]
    return cells


def measure(method: W4m, trajectories: int, points: int) -> dict:
    """Run one row in this process."""
    method.run(scattered(100, 10), rng=np.random.default_rng(0), engine=LocalEngine())
    with tempfile.TemporaryDirectory() as folder:
        raw, public = Path(folder, "raw.parquet"), Path(folder, "published.parquet")
        write_points(scattered(trajectories, points), raw)
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


def scattered(n: int, m: int) -> Points:
    """The same people, each from another second on."""
    data = movers(n, m)
    return replace(data, t=data.t + np.repeat(np.random.default_rng(3).integers(0, 7200, n), m))


if __name__ == "__main__":
    main()
