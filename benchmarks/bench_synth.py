"""How long synthetic trips take, and how much memory: one fresh process per row.

    python benchmarks/bench_synth.py            a quick look: 20,000 trips
    python benchmarks/bench_synth.py rows       20,000 and 100,000 trips of visits and of points
    python benchmarks/bench_synth.py one 100000 points

Trips are generated: visits of 2 to 8 places out of 300, points of 40 each in a square of 20 km, seed 1, epsilon = 1.
Every row is verified; one failed verdict makes the benchmark fail.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from bench import Clock, make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.engines import LocalEngine
from wayveil.methods.synth.synth import Synth
from wayveil.model import Points, Visits
from wayveil.model.data.ragged import offsets_of
from wayveil.verifiers import VERIFIERS

PHASES = ("draw", "verify")
SERIES = {
    "quick": [(20_000, "visits"), (20_000, "points")],
    "rows": [(trips, kind) for kind in ("visits", "points") for trips in (20_000, 100_000)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*SERIES, "one", "row"])
    parser.add_argument("row", nargs="*", help="trips, visits or points")
    options = parser.parse_args()
    if options.series == "row":
        print(json.dumps(measure(options, int(options.row[0]), options.row[1])))
        return
    rows = [tuple(options.row)] if options.series == "one" else SERIES[options.series]
    print_machine("epsilon=1")
    print_heads(("trips", "kind", "rows drawn", *PHASES, "total s", "cpu s", "peak GB"))
    for row in rows:
        found = run_row(__file__, "row", *row)
        seconds = [f"{found['seconds'][phase]:.1f}" for phase in PHASES]
        total = f"**{sum(found['seconds'].values()):.1f}**"
        cells = [f"{int(row[0]):,}", str(row[1]), f"{found['drawn']:,}", *seconds, total]
        print_cells([*cells, f"{found['cpu']:.1f}", f"{found['peak_gb']:.1f}"])


def measure(options: argparse.Namespace, trips: int, kind: str) -> dict[str, Any]:
    """Run one row in this process."""
    data = generate(trips, kind)
    days = "1970-01-01..1970-01-30"
    method = Synth(epsilon=1, days=days, area="0,0,20000,20000", trips=trips).for_kind(kind)
    clock = Clock(PHASES)
    began = time.process_time()
    made = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    clock.enter("verify")
    verdict = VERIFIERS[method.claim.name](made.data, made.claim)
    clock.enter("draw")
    if not verdict.holds:
        raise SystemExit(verdict.reason)
    cpu = time.process_time() - began
    return {"drawn": made.data.n_rows, "seconds": clock.seconds, "cpu": cpu, "peak_gb": peak_gb()}


def generate(trips: int, kind: str) -> Any:
    """Return trips between places of which some are more popular than others, or towards the middle of a square."""
    rng = np.random.default_rng(1)
    begin = rng.integers(0, 30 * 86_400, trips)
    if kind == "visits":
        popular = 1 / np.arange(1, 301)
        lengths = rng.integers(2, 9, trips)
        offsets = offsets_of(lengths)
        rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], lengths)
        return Visits(
            offsets=offsets,
            location=rng.choice(300, offsets[-1], p=popular / popular.sum()),
            t=np.repeat(begin, lengths) + rank * 1800,
            locations=tuple(f"place-{i:03d}" for i in range(300)),
            owner=np.arange(trips),
            time_format="epoch",
            owners="given",
        )
    share = np.tile(np.linspace(0, 1, 40), trips)
    start = np.repeat(rng.random((trips, 2)) * 20_000, 40, axis=0)
    end = np.repeat(np.clip(rng.normal(10_000, 3_000, (trips, 2)), 0, 20_000), 40, axis=0)
    at = start + (end - start) * share[:, None]
    return Points(
        offsets=np.arange(trips + 1) * 40,
        t=np.repeat(begin, 40) + np.tile(np.arange(40) * 30, trips),
        x=at[:, 0],
        y=at[:, 1],
        owner=np.arange(trips),
        time_format="epoch",
        owners="given",
    )


if __name__ == "__main__":
    main()
