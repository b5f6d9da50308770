"""How long trajectory k-anonymity by graph partition takes, phase by phase: one fresh process per row.

    python benchmarks/bench_knode.py --network FOLDER/OL           the set like OLDENBURG, k = 5 and 20, both variants
    python benchmarks/bench_knode.py growth                        1 to 8 times the trajectories per class, k = 10
    python benchmarks/bench_knode.py one 26471 132 5 improved      one row: trajectories, classes, k, variant

Trajectories are those of ``network_movers``: 10 minutes long with a point every 4 s, that begin in windows of 20 s, so
that a class shares 146 timestamps or more.  Without ``--network`` a network is generated.  Every result is verified;
one failed verdict makes the benchmark fail.  Kernels are compiled before the clock starts.  "graph" and "partition" are
parts of "group", measured once more on one core, one class after the other.  "cpu s" is what all cores worked in all
phases, which a busy machine changes less.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from bench import Clock, make_parser, peak_gb, run_series
from wayveil.engines import LocalEngine
from wayveil.kernels.knode.greedy_partition import partition
from wayveil.kernels.knode.group_boxes import Tracks
from wayveil.kernels.knode.overlap_graph import edge_weights
from wayveil.methods.knode.knode import Knode
from wayveil.model import Points
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity
from wayveil.workloads.network_movers import NetworkMovers

PHASES = ("classes", "group", "boxes", "verify")
VARIANTS = ("paper", "improved")
SERIES = {
    "oldenburg": [(26_471, 132, k, variant) for k in (5, 20) for variant in VARIANTS],
    "growth": [(200 * 20 * times, 20, 10, variant) for times in (1, 2, 4, 8) for variant in VARIANTS],
}
WINDOW_S = 20


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--network", default="generated", help="path of a network without .cnode.txt and .cedge.txt")
    heads = (
        "trajectories",
        "points",
        "classes",
        "k",
        "variant",
        *PHASES,
        "total s",
        "cpu s",
        "graph",
        "partition",
        "peak GB",
    )
    run_series(
        __file__,
        parser,
        SERIES,
        row_help="trajectories, classes, k, variant",
        heads=[*heads, "success", "loss"],
        measure=lambda options, n, classes, k, variant: measure(options.network, int(n), int(classes), int(k), variant),
        cells=list_cells,
    )


def list_cells(row: dict) -> list[str]:
    seconds = [f"{row['seconds'][phase]:.1f}" for phase in PHASES]
    alone = [f"{value:.1f}" if value is not None else "" for value in (row["graph"], row["partition"])]
    cells = [f"{row['trajectories']:,}", f"{row['points']:,}", str(row["classes"]), str(row["k"]), row["variant"]]
    cells += [*seconds, f"**{sum(row['seconds'].values()):.1f}**", f"{row['cpu']:.1f}", *alone, f"{row['peak_gb']:.1f}"]
    return [*cells, f"{row['success']:.1%}", f"{row['loss']:.4f}"]


def movers(network: str, trajectories: int, classes: int, seed: int = 1) -> Points:
    """Return trips of ten minutes that begin in `classes` windows of 20 s, of people with 2.6 trips each."""
    people = max(1, round(trajectories / 2.6471))
    workload = NetworkMovers(
        network=network, objects=people, trips=trajectories / people, classes=6, windows=classes, window=f"{WINDOW_S}s",
        duration="10min", period="4s",
    )  # fmt: skip
    return workload.generate(rng=np.random.default_rng(seed))


def measure(network: str, trajectories: int, classes: int, k: int, variant: str) -> dict:
    """Run one row in this process."""
    method = Knode(k=k, window=f"{WINDOW_S}s", variant=variant)
    small = movers("generated", 40, 1)
    Knode(k=2, window="10min", variant=variant).run(small, rng=np.random.default_rng(0), engine=LocalEngine())
    data = movers(network, trajectories, classes)
    clock = Clock(PHASES)
    cpu = time.process_time()

    def progress(step: str, done: int = 0, total: int | None = None) -> None:
        clock.enter("group" if "grouping" in step else "boxes" if "boxes" in step else "classes")

    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(progress=progress))
    clock.enter("verify")
    verdict = check_kanonymity(result.data, method.claim, original=data)
    clock.enter("verify")
    cpu = time.process_time() - cpu
    if not verdict.holds:
        sys.exit(verdict.reason)
    graph, cut = alone(data, k) if variant == "paper" else (None, None)
    return {
        "trajectories": len(data), "points": data.n_rows, "classes": result.facts["classes"], "k": k,
        "variant": variant,
        "seconds": clock.seconds, "cpu": cpu, "graph": graph, "partition": cut,
        "success": result.facts["success ratio"],
        "loss": result.facts["information loss per sample"],
        "peak_gb": peak_gb(),
    }  # fmt: skip


def alone(data: Points, k: int) -> tuple[float, float]:
    """Return the seconds for the graphs and for their partition, class by class on one core."""
    period = 4
    begin, end = (data.t[rows] // period for rows in (data.offsets[:-1], data.offsets[1:] - 1))
    seconds = [0.0, 0.0]
    windows = begin * period // WINDOW_S
    for window in np.unique(windows):
        which = np.flatnonzero(windows == window)[:1024]
        owner = np.unique(data.owner[which], return_inverse=True)[1]
        tracks = Tracks(data.offsets[which], begin[which], end[which], owner, data.x, data.y)
        started = time.perf_counter()
        weights = edge_weights(tracks, "or")
        built = time.perf_counter()
        partition(weights, owner, tracks.start, tracks.end, k)
        seconds[0] += built - started
        seconds[1] += time.perf_counter() - built
    return seconds[0], seconds[1]


if __name__ == "__main__":
    main()
