"""How long clustering on a road network takes, and how much memory: one fresh process per row.

    python benchmarks/bench_icba.py                   a quick look: 100,000 trips on a map of 1,689 streets
    python benchmarks/bench_icba.py trips             growth: 12,500 to 1,000,000 trips
    python benchmarks/bench_icba.py index             the three ways to look for clusters, 100,000 trips
    python benchmarks/bench_icba.py walks             the same with trips at random, of which no two are alike
    python benchmarks/bench_icba.py one 100000 0.02   one row: trips, share of random turns

Every row is verified; one failed verdict makes the benchmark fail.  The kernels are compiled before the clock starts.
The data: `road_movers` on 1,689 streets (3,378 directed roads), one trip of 10 roads on average per person, seed 1, all
in one slice of time.  The error is that of Equation 1 of the paper over frequent roads: the mean, over roads with at
least k people, of the change of their number over it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from bench import make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.engines import LocalEngine
from wayveil.methods.icba.icba import Icba
from wayveil.model import Routes
from wayveil.verifiers import VERIFIERS
from wayveil.workloads.road_movers import RoadMovers

STREETS, HEADS = 1_689, ("trips", "turns", "distinct parts", "method s", "verify s", "peak GB", "left out", "error")
SERIES: dict[str, list[tuple[int, float, dict[str, str]]]] = {
    "quick": [(100_000, 0.02, {})],
    "trips": [(n, 0.02, {}) for n in (12_500, 25_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)],
    "index": [(100_000, 0.02, {"index": index}) for index in ("inverted", "ctree", "none")],
    "walks": [(n, 1.0, {}) for n in (25_000, 50_000, 100_000)],
}


def main(make: Callable[..., Any], series: dict[str, list[tuple[int, float, dict[str, str]]]], file: str) -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*series, "one", "row"])
    parser.add_argument("row", nargs="*", help="trips, share of random turns")
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    options = parser.parse_args()
    given = dict(text.split("=", 1) for text in options.set)
    if options.series == "row":
        print(json.dumps(measure(make(k=options.k, **given), int(options.row[0]), float(options.row[1]))))
        return
    rows = series.get(options.series) or [(int(options.row[0]), float(options.row[1]), {})]
    print_machine(f"k={options.k}")
    print_heads(["parameters", *HEADS])
    for trips, turns, parameters in rows:
        asked = {**given, **parameters}
        settings = [f"--set={name}={value}" for name, value in asked.items()]
        answer = run_row(file, "row", str(trips), str(turns), f"--k={options.k}", *settings)
        words = " ".join(f"{name}={value}" for name, value in asked.items())
        print_cells([words, *answer])


def measure(method: Any, trips: int, turns: float) -> list[str]:
    """Run one row in this process."""
    compile_kernels(method)
    data = generated(trips, STREETS, turns)
    begin = time.perf_counter()
    made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    middle = time.perf_counter()
    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=data)
    end = time.perf_counter()
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    peak = peak_gb()
    left_out = made.facts["parts left out"] / max(1, made.facts["parts"])
    return [
        f"{trips:,}", f"{turns:g}", f"{n_distinct(data):,}", f"{middle - begin:.1f}", f"{end - middle:.1f}",
        f"{peak:.1f}", f"{left_out:.1%}", f"{error_rate(data, made.data, method.k):.1%}",
    ]  # fmt: skip


def generated(trips: int, streets: int, turns: float) -> Routes:
    """Return trips in one slice of time."""
    data = RoadMovers(objects=trips, roads=streets, wander=turns).generate(rng=np.random.default_rng(1))
    begin, end = (np.full(len(data), t) for t in (data.t.min(), data.t.max()))
    return replace(data, t_start=begin, t_end=end)


def error_rate(original: Routes, published: Routes, k: int) -> float:
    """Return Equation 1 over the roads with at least k people."""
    before, after = traffic(original), traffic(published)
    frequent = before >= k
    return float(np.mean(np.abs(after - before)[frequent] / before[frequent]))


def traffic(data: Routes) -> np.ndarray:
    """Return the number of distinct people on each road."""
    person = np.unique(data.owner, return_inverse=True)[1].astype(np.int64)
    pairs = np.unique(np.repeat(person, np.diff(data.offsets)) * len(data.network) + data.road)
    return np.bincount(pairs % len(data.network), minlength=len(data.network))


def n_distinct(data: Routes) -> int:
    """Return how many trips are unlike all before."""
    from wayveil.kernels.common.equal_sequences import first_equal

    return len(np.unique(first_equal(data.offsets, (data.road.astype(np.int64),))))


def compile_kernels(method: Any) -> None:
    tiny = generated(200, 20, 0.02)
    made = replace(method, k=2).run(tiny, rng=np.random.default_rng(0), engine=LocalEngine())
    VERIFIERS[made.claim.name](made.data, made.claim, original=tiny)
    n_distinct(tiny)


if __name__ == "__main__":
    main(Icba, SERIES, __file__)
