"""What blocks and a cluster cost: the same publication by the local engine, in blocks, and on Dask workers.

    python benchmarks/bench_scale.py                       100,000 records, three ways
    python benchmarks/bench_scale.py 100000 1000000        these sizes
    python benchmarks/bench_scale.py 5000000 --ways dask   one way only
    python benchmarks/bench_scale.py --method nwa 10000    points instead of visits: so many people on roads

Visits are smart cards of the workload transit, (30, 0.6)_3-privacy; points are movers on roads, (10, 250 m)-anonymity.
Every publication is verified, or the benchmark fails; of attacks and metrics one each is run.  Each way is a process of
its own; the memory of the driver is the largest that this process had, that of a worker the largest of any of them.
Kernels are compiled before the clock starts, by a small run of the same kind.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench import make_parser, print_cells, print_heads, print_machine
from wayveil.io import write_points, write_visits
from wayveil.model import Points, Visits
from wayveil.pipeline.publish import publish
from wayveil.recipe.catalog import build, make_engine
from wayveil.recipe.recipe import make_recipe

PART = 500_000
WAYS = {"whole": ("local", False), "blocks": ("local", True), "dask": ("dask", True)}
SENSITIVE = {"fare": ["disability", "patient-transport", "social-assistance"]}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=[100_000])
    parser.add_argument("--method", choices=("kcl", "nwa"), default="kcl")
    parser.add_argument("--ways", default=",".join(WAYS))
    parser.add_argument("--block-rows", type=int, default=2_000_000)
    parser.add_argument("--scratch", type=Path, default=None, help="a folder with room for 150 bytes per visit")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options, *options.one)))
        return
    print_machine(f"{options.method}, blocks of {options.block_rows:,} rows")
    heads = ("objects", "rows", "way", "read s", "method s", "verify s", "total s", "driver GB", "worker GB", "lost %")
    print_heads(heads)
    with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
        table = generate(options.method, 2_000, Path(folder, "small"))
        for way in options.ways.split(","):
            run(options, table, way, Path(folder, "out"))
        for size in options.sizes:
            table = generate(options.method, size, Path(folder, "data"))
            for way in options.ways.split(","):
                row = run(options, table, way, Path(folder, "out"))
                print_cells([f"{size:,}", *row])
            shutil.rmtree(table)


def generate(method: str, size: int, folder: Path) -> Path:
    """Write a folder of Parquet files, a part at a time."""
    folder.mkdir()
    for part, first in enumerate(range(0, size, PART)):
        n = min(PART, size - first)
        rng = np.random.default_rng(part)
        ids = None
        if method == "kcl":
            data = build("workload", "transit", {"records": n}).generate(rng=rng)
            ids = [str(first + i) for i in range(len(data))]
            visits: Visits = replace(data, owner=data.owner + first)  # everybody is in one part
            write_visits(visits, folder / f"part-{part:04d}.parquet", ids=ids)
        else:
            points: Points = build("workload", "network_movers", {"objects": n}).generate(rng=rng)
            ids = [f"{part}-{i}" for i in range(len(points))]
            write_points(points, folder / f"part-{part:04d}.parquet", ids=ids)
    return folder


def run(options: argparse.Namespace, table: Path, way: str, out: Path) -> list[str]:
    """Publish in a process of its own; return the cells of a row."""
    command = [sys.executable, __file__, "--method", options.method, "--block-rows", str(options.block_rows)]
    done = subprocess.run([*command, "--one", str(table), way, str(out)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{way} failed:\n{done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    shutil.rmtree(out)
    numbers = [f"{found[name]:.1f}" for name in ("read", "method", "verify", "total")]
    memory = [f"{found[name] / 2**20:.2f}" for name in ("driver", "worker")]
    return [f"{found['rows']:,}", way, *numbers, *memory, f"{found['lost']:.2f}"]


def measure(options: argparse.Namespace, table: str, way: str, out: str) -> dict[str, float]:
    """Publish and verify; times by phase, and the largest memory of this process and of any it started."""
    engine, blocks = WAYS[way]
    kcl = options.method == "kcl"
    content = {
        "input": {"path": table, "kind": "visits" if kcl else "points"},
        "method": (
            {"name": "kcl", "k": 30, "c": "0.6", "l": 3, "sensitive": SENSITIVE}
            if kcl
            else {"name": "nwa", "k": 10, "delta": 250, "pi": "10min"}
        ),
        "prepare": [] if kcl else [{"step": "resample", "period": "1min"}],
        "attacks": [{"name": "known_visits", "m": 3} if kcl else {"name": "nearest_positions"}],
        "metrics": [{"name": "instance_loss" if kcl else "distortion"}],
        "output": {"path": out},
        "seed": 1,
    }
    if blocks:
        content["blocks"] = {"by": "whole" if kcl else "times", "rows": options.block_rows}
    began = time.perf_counter()
    with make_engine(engine) as chosen:
        outcome = publish(make_recipe(content), engine=chosen)
    total = time.perf_counter() - began
    # Not ru_maxrss for the driver: that begins with the memory of the process that generated the data.
    own = next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)
    others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    steps = outcome.timings
    rows = outcome.verdict.measured
    return {
        "rows": int(rows.get("visits", rows.get("points", 0)) or 0),
        "read": steps["read and prepare"],
        "method": sum(
            seconds
            for step, seconds in steps.items()
            if step
            in ("run the method", "count doublets", "suppress", "cut into blocks", "publish and judge every block")
        ),
        "verify": steps.get("verify", 0.0),
        "total": total,
        "driver": own,
        "worker": others,
        "lost": float(outcome.scores[0].value or 0) * (100 if kcl else 1),
    }


if __name__ == "__main__":
    main()
