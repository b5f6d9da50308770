"""How long tables of counts take, and how much memory: one fresh process per row.

    python benchmarks/bench_counts.py            a quick look: 1 million rows
    python benchmarks/bench_counts.py rows       1 to 10 million rows, zones by hour, flows by day
    python benchmarks/bench_counts.py one 10000000 zones

Rows are generated: a tenth as many people as rows, 500 zones of very different size, 30 days, seed 1.  Every row is
written, read back and verified; one failed verdict makes the benchmark fail.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from bench import Clock, make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.engines import LocalEngine
from wayveil.io import read_published, write_published
from wayveil.methods.counts.counts import Counts
from wayveil.model import Visits
from wayveil.model.data.ragged import offsets_of
from wayveil.verifiers import VERIFIERS

PHASES = ("count", "write", "verify")
SERIES = {
    "quick": [(1_000_000, "zones")],
    "rows": [(rows, tally) for tally in ("zones", "flows") for rows in (1_000_000, 3_000_000, 10_000_000)],
}
EVERY = {"zones": "1h", "flows": "1d"}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*SERIES, "one", "row"])
    parser.add_argument("row", nargs="*", help="rows, zones or flows")
    parser.add_argument("--k", type=int, default=10)
    options = parser.parse_args()
    if options.series == "row":
        print(json.dumps(measure(options, int(options.row[0]), options.row[1])))
        return
    rows = [tuple(options.row)] if options.series == "one" else SERIES[options.series]
    print_machine(f"k={options.k}")
    print_heads(("rows", "tally", "published", *PHASES, "total s", "cpu s", "peak GB"))
    for row in rows:
        found = run_row(__file__, "row", *row, f"--k={options.k}")
        seconds = [f"{found['seconds'][phase]:.1f}" for phase in PHASES]
        total = f"**{sum(found['seconds'].values()):.1f}**"
        cells = [f"{int(row[0]):,}", str(row[1]), f"{found['published']:,}", *seconds, total]
        print_cells([*cells, f"{found['cpu']:.1f}", f"{found['peak_gb']:.1f}"])


def measure(options: argparse.Namespace, rows: int, tally: str) -> dict:
    """Run one row in this process."""
    data = generate(rows)
    method = Counts(k=options.k, tally=tally, every=EVERY[tally])
    clock = Clock(PHASES)
    began = time.process_time()
    made = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    clock.enter("write")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "published.parquet"
        write_published(made.data, path, key=bytes(32))
        back = read_published(path, kind="counts", time_format="epoch", attributes=(), owners="hidden").data
    clock.enter("verify")
    verdict = VERIFIERS[method.claim.name](back, method.claim, original=data)
    clock.enter("count")
    if not verdict.holds:
        raise SystemExit(verdict.reason)
    cpu = time.process_time() - began
    return {"published": back.n_rows, "seconds": clock.seconds, "cpu": cpu, "peak_gb": peak_gb()}


def generate(rows: int) -> Visits:
    """Return visits of people who each have ten, at zones of which some are much more popular than others."""
    rng = np.random.default_rng(1)
    people = rows // 10
    popular = 1 / np.arange(1, 501)
    location = rng.choice(500, rows, p=popular / popular.sum())
    t = np.sort(rng.integers(0, 30 * 86_400 // 10, (people, 10)) * 10 + np.arange(10), axis=1).ravel()
    return Visits(
        offsets=offsets_of(np.full(people, 10)),
        location=location[: people * 10],
        t=t,
        locations=tuple(f"zone-{i:03d}" for i in range(500)),
        owner=np.arange(people),
        time_format="epoch",
        owners="given",
    )


if __name__ == "__main__":
    main()
