"""How long noisy tables of counts take, and how much memory: one fresh process per row.

    python benchmarks/bench_dp_counts.py            a quick look: 1 million rows
    python benchmarks/bench_dp_counts.py rows       1 and 10 million rows, zones by hour, flows by day
    python benchmarks/bench_dp_counts.py one 10000000 zones

The data are those of bench_counts.py.  Every table is written, read back and verified.
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np

from bench import Clock, make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from bench_counts import EVERY, generate
from wayveil.engines import LocalEngine
from wayveil.io import read_published, write_published
from wayveil.methods.dp_counts.dp_counts import DpCounts
from wayveil.verifiers import VERIFIERS

PHASES = ("count", "write", "verify")
SERIES = {
    "quick": [(1_000_000, "zones")],
    "rows": [(rows, tally) for tally in ("zones", "flows") for rows in (1_000_000, 10_000_000)],
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("series", nargs="?", default="quick", choices=[*SERIES, "one", "row"])
    parser.add_argument("row", nargs="*", help="rows, zones or flows")
    options = parser.parse_args()
    if options.series == "row":
        print(json.dumps(measure(int(options.row[0]), options.row[1])))
        return
    rows = [tuple(options.row)] if options.series == "one" else SERIES[options.series]
    print_machine("epsilon=1, per_person=10")
    print_heads(("rows", "tally", "published", *PHASES, "total s", "cpu s", "peak GB"))
    for row in rows:
        found = run_row(__file__, "row", *row)
        seconds = [f"{found['seconds'][phase]:.1f}" for phase in PHASES]
        total = f"**{sum(found['seconds'].values()):.1f}**"
        cells = [f"{int(row[0]):,}", str(row[1]), f"{found['published']:,}", *seconds, total]
        print_cells([*cells, f"{found['cpu']:.1f}", f"{found['peak_gb']:.1f}"])


def measure(rows: int, tally: str) -> dict:
    """Run one row in this process."""
    data = generate(rows)
    method = DpCounts(epsilon=1, per_person=10, tally=tally, every=EVERY[tally])
    clock = Clock(PHASES)
    began = time.process_time()
    made = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    clock.enter("write")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "published.parquet"
        write_published(made.data, path, key=bytes(32))
        back = read_published(path, kind="counts", time_format="epoch", attributes=(), owners="hidden").data
    clock.enter("verify")
    verdict = VERIFIERS[made.claim.name](back, made.claim)
    clock.enter("count")
    if not verdict.holds:
        raise SystemExit(verdict.reason)
    cpu = time.process_time() - began
    return {"published": back.n_rows, "seconds": clock.seconds, "cpu": cpu, "peak_gb": peak_gb()}


if __name__ == "__main__":
    main()
