"""Inputs larger than memory: what a publication under a memory limit takes, and what judging it again takes.

    python benchmarks/bench_memory.py                             5 million points, 600 MB, w4m
    python benchmarks/bench_memory.py 5 20 70 --limit 600MB       so many million points, one after the other
    python benchmarks/bench_memory.py 20 --method nwa --parquet   trajectories with the same timestamps, from Parquet

People travel in 4,000 flows through a square of 300 km, 100 points each, starting every quarter of an hour.  No attack
is run, and all metrics that can be counted in blocks.  Publication and `verify` are processes of their own; their
memory is the largest that they ever had.  The benchmark fails if it is above the limit or the verdict does not hold.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import wayveil
from bench import make_parser, print_heads
from wayveil.pipeline.blocks.memory import parse_size

POINTS, FLOWS, PEOPLE_AT_ONCE = 100, 4_000, 20_000
METHODS = {"w4m": "k = 4\ndelta = 300\n", "nwa": 'k = 4\ndelta = 300\npi = "none"\n', "tga": "k = 4\n"}
SCRIPT = """
import sys
from pathlib import Path
from wayveil.cli import main
code = main(sys.argv[1:])
status = Path("/proc/self/status").read_text().splitlines()
print("peak", next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024)
sys.exit(code)
"""


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("millions", nargs="*", type=int, default=[5], help="points, in millions")
    parser.add_argument("--limit", default="600MB")
    parser.add_argument("--method", choices=METHODS, default="w4m")
    parser.add_argument("--parquet", action="store_true", help="a folder of Parquet files instead of one CSV file")
    parser.add_argument("--scratch", type=Path, default=None, help="a folder with room for 250 bytes per point")
    options = parser.parse_args()
    print(
        f"wayveil {wayveil.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores, {options.method}\n"
    )
    heads = ("input", "points", "limit", "publish: memory", "time", "verify: memory", "time")
    print_heads(heads)
    for millions in options.millions:
        with tempfile.TemporaryDirectory(dir=options.scratch) as folder:
            print("| " + " | ".join(row(options, millions, Path(folder))) + " |", flush=True)


def row(options: argparse.Namespace, millions: int, folder: Path) -> list[str]:
    """Publish and judge one input; return the cells of a row."""
    table = folder / ("in" if options.parquet else "in.csv")
    size = generate(table, millions * 10**6 // POINTS)
    recipe = folder / "recipe.toml"
    recipe.write_text(
        f'seed = 1\nattacks = []\n[input]\npath = "{table.name}"\nowners = "each-trajectory"\n[output]\npath = "out"\n'
        f'[method]\nname = "{options.method}"\n{METHODS[options.method]}'
    )
    limit = parse_size(options.limit)
    published = measured(limit, "run", str(recipe), "--memory-limit", options.limit)
    judged = measured(limit, "verify", str(folder / "out"))
    form = "Parquet" if options.parquet else "CSV"
    return [f"{size / 10**9:.2f} GB {form}", f"{millions},000,000", options.limit, *published, *judged]


def generate(table: Path, people: int) -> int:
    """Write a table, some people at a time; return its bytes."""
    rng = np.random.default_rng(7)
    x, y, angle, speed = (rng.uniform(low, high, FLOWS) for low, high in ((0, 3e5), (0, 3e5), (0, 6.28), (3, 20)))
    if not table.suffix:
        table.mkdir()
    for part, first in enumerate(range(0, people, PEOPLE_AT_ONCE)):
        rng, n, step = np.random.default_rng(part), min(PEOPLE_AT_ONCE, people - first), np.arange(POINTS)
        flow, start = rng.integers(0, FLOWS, n), rng.integers(0, 96, n) * 900
        way = 30 * speed[flow][:, None] * step
        places = {
            name: (begin[flow] + rng.normal(0, 60, n))[:, None] + turn(angle[flow])[:, None] * way
            for name, begin, turn in (("x", x, np.cos), ("y", y, np.sin))
        }
        frame = pl.DataFrame(
            {
                "traj_id": np.repeat(np.arange(first, first + n), POINTS),
                "t": (1_700_000_000 + start[:, None] + 30 * step).ravel(),
                **{name: (values + rng.normal(0, 5, values.shape)).round(2).ravel() for name, values in places.items()},
            }
        )
        if table.suffix:
            with table.open("ab") as stream:
                frame.write_csv(stream, include_header=part == 0)
        else:
            frame.write_parquet(table / f"part-{part:04d}.parquet")
    return sum(file.stat().st_size for file in (table.iterdir() if table.is_dir() else [table]))


def measured(limit: int, *arguments: str) -> tuple[str, str]:
    """Run the program in a process of its own; return its memory and time as cells."""
    began = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", SCRIPT, *arguments], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{arguments[0]} failed:\n{done.stderr[-2000:]}")
    peak = int(done.stdout.rsplit("peak ", 1)[1])
    if peak > limit:
        sys.exit(f"{arguments[0]} took {peak:,} bytes, more than the limit.")
    return f"{peak / 10**6:.0f} MB", f"{seconds:.0f} s"


if __name__ == "__main__":
    main()
