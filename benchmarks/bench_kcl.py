"""How long (K,C)_L-privacy takes, phase by phase, and how much memory: one fresh process per row.

    python benchmarks/bench_kcl.py                      a quick look: two workloads of 100,000 records
    python benchmarks/bench_kcl.py records              400,000 to 1,200,000 records at 4,008 doublets
    python benchmarks/bench_kcl.py doublets             1,000,000 records at 4,008 to 8,016 doublets
    python benchmarks/bench_kcl.py one city 80000 26    one row: workload, records, places

Every row is read back from disk and verified; one failed verdict makes the benchmark fail.  The kernels are compiled
before the clock starts.  The last two series are those of Figure 5 of the paper (L=3, K=30, C=60 %, K'=800).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import Clock, make_parser, peak_gb, run_series
from wayveil.engines import LocalEngine
from wayveil.io import read_published, read_visits, write_published, write_visits
from wayveil.methods import Kcl
from wayveil.verifiers import VERIFIERS
from wayveil.workloads import City, Transit

PHASES = ("read", "prepare", "find", "suppress", "write", "verify")
SERIES = {
    "quick": [("city", 100_000, 26), ("transit", 100_000, 68)],
    "records": [("city", n, 167) for n in (400_000, 600_000, 800_000, 1_000_000, 1_200_000)],
    "doublets": [("city", 1_000_000, places) for places in (167, 209, 250, 292, 334)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--k", type=int, default=30)
    parser.add_argument("--c", default="0.6")
    parser.add_argument("--l", default="3")
    parser.add_argument("--suppression", default="local")
    parser.add_argument("--preserve", default="instances")
    parser.add_argument("--min-support", type=int, default=800)
    heads = ("workload", "records", "doublets", "visits", *PHASES, "total s", "peak GB", "threats", "visits lost")
    run_series(
        __file__,
        parser,
        SERIES,
        row_help="workload, records, places",
        heads=heads,
        measure=lambda options, workload, n, places: measure(options, workload, int(n), int(places)),
        cells=list_cells,
        settings=lambda options: (
            f"k={options.k} c={options.c} l={options.l} suppression={options.suppression} preserve={options.preserve}"
        ),
    )


def list_cells(row: dict) -> list[str]:
    seconds = [f"{row['seconds'][phase]:.1f}" for phase in PHASES]
    total = f"**{sum(row['seconds'].values()):.1f}**"
    cells = [row["workload"], f"{row['records']:,}", f"{row['doublets']:,}", f"{row['visits']:,}", *seconds, total]
    cells += [f"{row['peak_gb']:.1f}", f"{row['threats']:,}", f"{row['loss']:.1%}"]
    return cells


def measure(options: argparse.Namespace, workload: str, records: int, places: int) -> dict:
    """Run one row in this process."""
    shape = City(records=records, blocks=places) if workload == "city" else Transit(records=records, stations=places)
    length = options.l if options.l == "all" else int(options.l)
    method = Kcl(
        k=options.k, c=options.c, l=length, sensitive=shape.sensitive, suppression=options.suppression,
        preserve=options.preserve, min_support=options.min_support,
    )  # fmt: skip
    compile_kernels(method, type(shape))
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "raw.parquet")
        data = shape.generate(rng=np.random.default_rng(1))
        doublets = len(np.unique(data.t * len(data.locations) + data.location))
        write_visits(data, raw)
        del data
        return {
            "workload": workload, "records": records, "doublets": doublets, **publish(method, raw, Path(folder)),
        }  # fmt: skip


def publish(method: Kcl, raw: Path, folder: Path) -> dict:
    clock = Clock(PHASES)

    def progress(step: str, done: int = 0, total: int | None = None) -> None:
        clock.enter("find" if "finding" in step else "suppress")

    data = read_visits(raw).data
    clock.enter("prepare")
    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(progress=progress))
    clock.enter("write")
    public = folder / "published.parquet"
    write_published(result.data, public, key=bytes([2]) * 32)
    clock.enter("verify")
    attributes = [name for name in data.attributes]
    loaded = read_published(public, time_format=data.time_format, attributes=attributes, owners="declared")
    verdict = VERIFIERS["KCL"](loaded.data, method.claim)
    clock.enter("read")
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    return {
        "visits": data.n_visits,
        "seconds": clock.seconds,
        "peak_gb": peak_gb(),
        "threats": result.facts["minimal violating sequences"],
        "loss": 1 - result.data.n_visits / data.n_visits,
    }


def compile_kernels(method: Kcl, workload: type) -> None:
    tiny = workload(records=200).generate(rng=np.random.default_rng(0))
    replace(method, k=2, min_support=2).run(tiny, rng=np.random.default_rng(0), engine=LocalEngine())


if __name__ == "__main__":
    main()
