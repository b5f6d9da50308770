"""How long k candidates for declared positions take, phase by phase: one fresh process per row.

    python benchmarks/bench_qid.py                                 a quick look: 2,000 trajectories, all algorithms
    python benchmarks/bench_qid.py growth                          2,500 to 40,000 trajectories, disjoint groups
    python benchmarks/bench_qid.py one 20000 5 5 disjoint hilbert no
                                    one row: trajectories, known samples of each, k, algorithm, selection, symmetrise

Trajectories are those of ``network_movers``, all at the same 50 times, 12 s apart, each of another person; the known
samples are drawn at random.  Cells are 100 m wide.  Every result is verified, unless --no-verify is given; one failed
verdict makes the benchmark fail.  Kernels are compiled before the clock starts.  "cpu s" is what all cores worked in
all phases.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from bench import Clock, make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.engines import LocalEngine
from wayveil.methods.qid.qid import Qid
from wayveil.model import MethodResult, Points
from wayveil.steps.points.mark import Mark
from wayveil.workloads.network_movers import NetworkMovers

STEPS = {"finding": "candidates", "forming": "groups", "making": "mutual", "drawing": "boxes"}
PHASES = ("candidates", "groups", "mutual", "boxes", "verify")
SERIES = {
    "quick": [
        (2_000, 5, 5, algorithm, "hilbert", symmetrise)
        for algorithm in ("disjoint", "symmetric", "extreme-union")
        for symmetrise in ("no", "yes")
    ],
    "growth": [(2_500 * times, 5, 5, "disjoint", "hilbert", "no") for times in (1, 2, 4, 8, 16)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*SERIES, "one", "row"])
    parser.add_argument("row", nargs="*", help="trajectories, known samples, k, algorithm, selection, symmetrise")
    parser.add_argument("--no-verify", action="store_true", help="measure the method alone")
    options = parser.parse_args()
    if options.series == "row":
        n, known, k, algorithm, selection, symmetrise = options.row
        method = Qid(k=int(k), algorithm=algorithm, selection=selection, symmetrise=symmetrise)
        print(json.dumps(measure(int(n), int(known), method, not options.no_verify)))
        return
    rows = [tuple(options.row)] if options.series == "one" else SERIES[options.series]
    print_machine()
    heads = ["trajectories", "points", "known", "k", "algorithm", "selection", "mutual?", *PHASES, "total s", "cpu s"]
    heads += ["peak GB", "left out", "cells per box", "largest class", "loss"]
    print_heads(heads)
    for row in rows:
        print_row(row, in_fresh_process(row, options.no_verify))


def in_fresh_process(row: tuple[object, ...], no_verify: bool) -> dict:
    row: dict = run_row(__file__, "row", *row, *["--no-verify"] * no_verify)
    return row


def print_row(row: tuple[object, ...], found: dict) -> None:
    seconds, facts = found["seconds"], found["facts"]
    cells = [f"{int(str(row[0])):,}", f"{found['points']:,}", *map(str, row[1:])]
    cells += [f"{seconds[phase]:.1f}" for phase in PHASES]
    cells += [f"**{sum(seconds.values()):.1f}**", f"{found['cpu']:.1f}", f"{found['peak_gb']:.1f}"]
    cells += [f"{facts['trajectories left out']:,}", f"{facts['cells per box']:.1f}"]
    cells += [
        f"{facts['trajectories in the largest class of a time']:,}",
        f"{facts['information loss per sample']:.3f}",
    ]
    print_cells(cells)


def movers(n: int, known: int, seed: int = 1) -> Points:
    """Return trips of `n` people who are all on their way at the same 50 times."""
    workload = NetworkMovers(objects=n, trips=1, windows=1, window="12s", period="12s", duration="588s")
    data = workload.generate(rng=np.random.default_rng(seed))
    return Mark(rule="random", count=known, seed=seed).run(data)[0]


def measure(n: int, known: int, method: Qid, verify: bool) -> dict:
    """Run one row in this process."""
    small = movers(40, known)
    method.run(small, rng=np.random.default_rng(0), engine=LocalEngine())
    data = movers(n, known)
    clock = Clock(PHASES, STEPS)
    cpu = time.process_time()
    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(progress=clock.progress))
    clock.enter("verify")
    if verify:
        judge(result, data)
    clock.enter("verify")
    return {
        "points": data.n_rows,
        "seconds": clock.seconds,
        "cpu": time.process_time() - cpu,
        "facts": dict(result.facts),
        "peak_gb": peak_gb(),
    }


def judge(made: MethodResult, original: Points) -> None:
    from wayveil.verifiers import VERIFIERS

    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=original)
    if not verdict.holds:
        sys.exit(verdict.reason)


if __name__ == "__main__":
    main()
