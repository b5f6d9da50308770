"""Whole publications as a user feels them: processor time and memory of each phase, with an empty cache and a full one.

    python benchmarks/bench_publish.py                     the demo and every method on a small file, cold and warm
    python benchmarks/bench_publish.py --method kcl --method nwa
    python benchmarks/bench_publish.py --rows 1000000 --method kcl --warm    one million rows, with a full cache only
    python benchmarks/bench_publish.py --trajectories 100000 --method tga --warm       so many of 50 points each

Each run is a process of its own, ``wayveil publish`` with its default attacks and metrics; "cpu s" is user and system
time of the process and of those that it starts, from its first line to its last.  "Cold" has an empty XDG_CACHE_HOME:
what came compiled with the package is still there, everything else is compiled.  The data are generated with seed 1.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from argparse import Namespace
from pathlib import Path
from typing import Any

from bench import make_parser, print_machine
from wayveil.commands.generate import generate

POINTS = "network_movers", lambda rows: {"objects": max(rows // 31, 10), "trips": 1, "duration": "30min",
                                         "windows": 2, "period": "1min"}  # fmt: skip
POINTS_EACH = 50
MOVERS = "network_movers", lambda n: {"objects": n, "trips": 1, "duration": "49min", "windows": 1, "window": "1min",
                                      "period": "1min"}  # fmt: skip
VISITS = "transit", lambda rows: {"records": max(rows // 2, 10), "stations": 20, "hours": 24}
ROUTES = "road_movers", lambda rows: {"objects": max(rows // 10, 10), "roads": 100}
STOPS = "errands", lambda rows: {"preset": "milano", "trajectories": max(rows // 5, 10), "people": max(rows // 35, 10)}
ADVERSARIES = ("one=station-01,station-02,station-03", "two=station-04,station-05")
METHODS: dict[str, tuple[tuple[str, Any], list[str]]] = {
    "kcl": (VISITS, ["--k", "10", "--c", "0.5", "--l", "2", "--sensitive", "fare=disability,jobseeker"]),
    "nwa": (POINTS, ["--k", "5", "--delta", "500", "--pi", "10min"]),
    "w4m": (POINTS, ["--k", "5", "--delta", "500"]),
    "knode": (POINTS, ["--k", "5", "--window", "10min"]),
    "tga": (POINTS, ["--k", "5"]),
    "qid": (POINTS, ["--k", "3"]),
    "gsup": (VISITS, ["--p", "0.6", *(word for one in ADVERSARIES for word in ("--adversaries", one))]),
    "icba": (ROUTES, ["--k", "5"]),
    "cba": (ROUTES, ["--k", "5"]),
    "prefix": (ROUTES, ["--k", "5"]),
    "cast": (STOPS, ["--c", "0.3", "--m", "15"]),
}
PHASES = ("read and prepare", "compile kernels", "run the method", "write and read back", "verify", "attack", "measure")


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=5_000)
    parser.add_argument("--trajectories", type=int, help=f"of {POINTS_EACH} points each, instead of rows; for points")
    parser.add_argument("--measure", choices=["none", "quick", "full"], default="quick")
    parser.add_argument("--method", choices=["demo", *METHODS], action="append")
    parser.add_argument("--warm", action="store_true", help="only with a full cache")
    options = parser.parse_args()
    print_machine()
    print(f"| publish | cache | cpu s | seconds | peak MB | {' | '.join(PHASES)} |")
    print(f"|---|---|---|---|---|{'---|' * len(PHASES)}")
    for name in options.method or ("demo", *METHODS):
        with tempfile.TemporaryDirectory() as folder:
            command = ["demo"] if name == "demo" else prepare(name, options, Path(folder))
            for cache in ("cold", "warm"):
                row = run(command, Path(folder))
                if cache == "warm" or not options.warm:
                    print(f"| {name} | {cache} | {row} |", flush=True)


def prepare(name: str, options: Namespace, folder: Path) -> list[str]:
    """Write the input of a method, and return the words of its command."""
    (workload, parameters), words = METHODS[name]
    size = options.rows
    if options.trajectories is not None:
        if workload != POINTS[0]:
            raise SystemExit(f"--trajectories is for methods on points, not for {name}")
        workload, parameters = MOVERS
        size = options.trajectories
    table = folder / "input.parquet"
    generate(workload, parameters(size), table, seed=1)
    command = ["publish", name, str(table), *words, "--seed", "1", "--measure", options.measure]
    for beside in ("network", "taxonomy"):
        file = next(folder.glob(f"input-{beside}.*"), None)
        command += [] if file is None else [f"--{beside}", str(file)]
    return command


def run(command: list[str], folder: Path) -> str:
    """Run a command in a process of its own, and return the cells of its row."""
    out = folder / "out"
    words = [*command, "--out", str(out), *(["--overwrite"] if command[0] == "publish" else [])]
    code = "import sys; from wayveil.cli import main; sys.exit(main(sys.argv[1:]))"
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    started = time.perf_counter()
    process = os.posix_spawn(sys.executable, [sys.executable, "-c", code, *words], environment, file_actions=quiet)
    _, status, used = os.wait4(process, 0)
    seconds = time.perf_counter() - started
    if status:
        raise SystemExit(f"wayveil {' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    usage = json.loads((out / "private" / "results.json").read_text())["usage"]
    phases = " | ".join(f"{usage[phase]['cpu_s']:.1f}" if phase in usage else "" for phase in PHASES)
    return f"{used.ru_utime + used.ru_stime:.1f} | {seconds:.1f} | {used.ru_maxrss / 1024:.0f} | {phases}"


if __name__ == "__main__":
    main()
