"""Time, memory and what is lost by `cast`, on generated errands.

    python benchmarks/bench_cast.py                     100,000 trajectories of the preset milano
    python benchmarks/bench_cast.py growth              6,225 to 1,000,000 trajectories
    python benchmarks/bench_cast.py groups              the size of the groups, on both presets
    python benchmarks/bench_cast.py bound               the bound c
    python benchmarks/bench_cast.py one 50000 pisa      one row
    python benchmarks/bench_cast.py quick --set m=5 --set distance=leaves

Every row is measured in a process of its own, so that the peak of memory is that of the row, and everything that is
published is verified; one failed verdict makes the benchmark fail.  The kernels are compiled before the clock starts.
The data: `errands`, one trip per person, seed 1.  The costs are those of Definition 13 of the paper over stops that are
not sensitive.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from bench import make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.engines import LocalEngine
from wayveil.methods.cast.cast import Cast
from wayveil.verifiers import VERIFIERS
from wayveil.workloads.errands import Errands

HEADS = (
    "trajectories", "method s", "verify s", "peak GB", "classes", "cut", "suppressed", "at the root", "by hops",
    "by leaves",
)  # fmt: skip
GROUPS = (3, 5, 10, 15, 20, 30)
SERIES: dict[str, list[tuple[int, str, dict[str, str]]]] = {
    "quick": [(100_000, "milano", {})],
    "growth": [(n, "milano", {}) for n in (6_225, 12_500, 25_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)],
    "groups": [(n, preset, {"m": str(m)}) for n, preset in ((6_225, "milano"), (7_231, "pisa")) for m in GROUPS],
    "bound": [(6_225, "milano", {"c": c}) for c in ("0", "0.01", "0.05", "0.1", "0.2", "0.3", "0.5", "1")],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*SERIES, "one", "row"])
    parser.add_argument("row", nargs="*", help="trajectories, preset of errands")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the method")
    options = parser.parse_args()
    given = dict(text.split("=", 1) for text in options.set)
    if options.series == "row":
        print(json.dumps(measure(method_of(given), int(options.row[0]), options.row[1])))
        return
    rows = SERIES.get(options.series) or [(int(options.row[0]), options.row[1], {})]
    print_machine()
    print_heads(["data", "parameters", *HEADS])
    for trajectories, preset, parameters in rows:
        asked = {"c": "0.3", "m": "15", **given, **parameters}
        settings = [f"--set={name}={value}" for name, value in asked.items()]
        answer = run_row(__file__, "row", str(trajectories), preset, *settings)
        words = " ".join(f"{name}={value}" for name, value in asked.items())
        print_cells([preset, words, *answer])


def method_of(given: dict[str, str]) -> Cast:
    return Cast(c=given.get("c", "0.3"), m=int(given.get("m", 15)), distance=given.get("distance", "hops"))


def measure(method: Cast, trajectories: int, preset: str) -> list[str]:
    """Run one row in this process."""
    run_and_verify(Cast(c=method.c, m=2, distance=method.distance), 200, preset)  # compiles
    seconds, facts = run_and_verify(method, trajectories, preset)
    peak = peak_gb()
    return [
        f"{trajectories:,}", f"{seconds[0]:.1f}", f"{seconds[1]:.1f}", f"{peak:.1f}", f"{facts['classes']:,}",
        f"{facts['trajectories cut']:,}", f"{facts['trajectories suppressed']:,}",
        f"{facts['share of published stops at the root']:.1%}", f"{facts['cost by hops']:.3f}",
        f"{facts['cost by leaves']:.3f}",
    ]  # fmt: skip


def run_and_verify(method: Cast, trajectories: int, preset: str) -> tuple[tuple[float, float], dict[str, float]]:
    data = Errands(preset=preset, trajectories=trajectories).generate(rng=np.random.default_rng(1))
    begin = time.perf_counter()
    made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    middle = time.perf_counter()
    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=data)
    end = time.perf_counter()
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    return (middle - begin, end - middle), dict(made.facts)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
