"""How long suppression against adversaries takes, phase by phase, and how much memory: one fresh process per row.

    python benchmarks/bench_gsup.py                      a quick look: 10,000 trajectories of two workloads
    python benchmarks/bench_gsup.py records              25,000 to 200,000 trajectories, 30 places
    python benchmarks/bench_gsup.py places               100,000 trajectories, 30 to 300 places
    python benchmarks/bench_gsup.py one city 100000 30   one row: workload, trajectories, places

The places are dealt to the adversaries in turn, in the order of their names, so that each has common and rare ones.
Every row is read back from disk and verified; one failed verdict makes the benchmark fail.  The kernels are compiled
before the clock starts.  `cpu s` is the processor time of the method, without what else runs on the machine.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import Clock, make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.engines import LocalEngine
from wayveil.io import read_published, read_visits, write_published, write_visits
from wayveil.methods.gsup.gsup import Gsup
from wayveil.model import Visits
from wayveil.verifiers import VERIFIERS
from wayveil.workloads import City, Transit

PHASES = ("read", "prepare", "find", "suppress", "write", "verify")
SERIES = {
    "quick": [("city", 10_000, 30), ("transit", 10_000, 68)],
    "records": [("city", n, 30) for n in (25_000, 50_000, 100_000, 200_000)],
    "places": [("city", 100_000, places) for places in (30, 100, 300)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*SERIES, "one", "row"])
    parser.add_argument("row", nargs="*", help="workload, trajectories, places")
    parser.add_argument("--p", default="0.5")
    parser.add_argument("--adversaries", type=int, default=5)
    parser.add_argument("--mode", default="class")
    parser.add_argument("--times", default="order")
    options = parser.parse_args()
    if options.series == "row":
        print(json.dumps(measure(options, options.row[0], int(options.row[1]), int(options.row[2]))))
        return
    rows = [tuple(options.row)] if options.series == "one" else SERIES[options.series]
    print_machine(f"p={options.p} adversaries={options.adversaries} mode={options.mode} times={options.times}")
    heads = ("workload", "trajectories", "places", "visits", *PHASES, "total s", "cpu s", "peak GB", "visits lost")
    print_heads(heads)
    for workload, records, places in rows:
        print_row(in_fresh_process(options, workload, records, places))


def in_fresh_process(options: argparse.Namespace, *row: object) -> dict:
    settings = [f"--{name}={getattr(options, name)}" for name in ("p", "adversaries", "mode", "times")]
    return run_row(__file__, "row", *row, *settings)


def print_row(row: dict) -> None:
    seconds = [f"{row['seconds'][phase]:.1f}" for phase in PHASES]
    total = f"**{sum(row['seconds'].values()):.1f}**"
    cells = [row["workload"], f"{row['records']:,}", f"{row['places']:,}", f"{row['visits']:,}", *seconds, total]
    cells += [f"{row['cpu']:.1f}", f"{row['peak_gb']:.1f}", f"{row['loss']:.1%}"]
    print_cells(cells)


def measure(options: argparse.Namespace, workload: str, records: int, places: int) -> dict:
    """Run one row in this process."""
    shape = City(records=records, blocks=places) if workload == "city" else Transit(records=records, stations=places)
    data = shape.generate(rng=np.random.default_rng(1))
    method = Gsup(p=options.p, adversaries=deal(data, options.adversaries), mode=options.mode, times=options.times)
    compile_kernels(method, data)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder, "raw.parquet")
        write_visits(data, raw)
        row = {"workload": workload, "records": records, "places": len(np.unique(data.location))}
        del data
        return {**row, **publish(method, raw, Path(folder))}


def deal(data: Visits, adversaries: int) -> dict[str, list[str]]:
    """Deal the places that occur to the adversaries, in turn."""
    names = sorted(data.locations[code] for code in np.unique(data.location))
    return {f"adversary {k + 1}": names[k::adversaries] for k in range(adversaries)}


def publish(method: Gsup, raw: Path, folder: Path) -> dict:
    clock = Clock(PHASES)

    def progress(step: str, done: int = 0, total: int | None = None) -> None:
        clock.enter("find" if "finding" in step else "suppress")

    data = read_visits(raw).data
    clock.enter("prepare")
    cpu = time.process_time()
    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(progress=progress))
    cpu = time.process_time() - cpu
    clock.enter("write")
    public = folder / "published.parquet"
    write_published(result.data, public, key=bytes([2]) * 32)
    clock.enter("verify")
    loaded = read_published(
        public, time_format=result.data.time_format, attributes=list(data.attributes), owners="declared"
    )
    verdict = VERIFIERS["BreachBound"](loaded.data, method.claim)
    clock.enter("read")
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    return {
        "visits": data.n_visits,
        "seconds": clock.seconds,
        "cpu": cpu,
        "peak_gb": peak_gb(),
        "loss": 1 - result.data.n_visits / data.n_visits,
    }


def compile_kernels(method: Gsup, data: Visits) -> None:
    tiny = data.take(np.arange(min(200, len(data))))
    two = {name: places for name, places in deal(tiny, 2).items() if places}
    replace(method, adversaries=two).run(tiny, rng=np.random.default_rng(0), engine=LocalEngine())


if __name__ == "__main__":
    main()
