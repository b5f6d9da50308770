"""How long range queries take as the data grow: one fresh process per row.

    python benchmarks/bench_range_queries.py                   1,000 queries on 10,000, 30,000 and 100,000 trajectories
    python benchmarks/bench_range_queries.py --kind regions    the same, published as boxes
    python benchmarks/bench_range_queries.py --others          the other metrics on movement, on the same data

Objects walk about a town for 100 points, one a minute, beginning at any time of the day; the published data are the
same with every point moved by 50 m or put into a box of 100 m.  The kernels are compiled before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np

from bench import make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.metrics.boxes.box_loss import BoxLoss
from wayveil.metrics.flows import OdMatrix
from wayveil.metrics.points.distortion import Distortion
from wayveil.metrics.points.range_queries import RangeQueries
from wayveil.metrics.trip_lengths import TripLength
from wayveil.model import Boxes, Points

SIZES = (10_000, 30_000, 100_000)
POINTS = 100
TOWN_M, STEP_M, MOVED_M = 20_000, 60, 50.0


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--kind", default="points", choices=["points", "regions"])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--others", action="store_true")
    parser.add_argument("--row", type=int, help="measure one size in this process")
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options, options.row)))
        return
    print_machine(f"{options.queries} queries, published as {options.kind}")
    rows = [in_fresh_process(options, n) for n in SIZES]
    heads = list(rows[0])
    print_heads(heads)
    for row in rows:
        print_cells(row[head] for head in heads)


def in_fresh_process(options: argparse.Namespace, n: int) -> dict[str, str]:
    words = [f"--kind={options.kind}", f"--queries={options.queries}", f"--row={n}", *["--others"] * options.others]
    row: dict[str, str] = run_row(__file__, *words)
    return row


def measure(options: argparse.Namespace, n: int) -> dict[str, str]:
    original = walks(n)
    published = moved(original) if options.kind == "points" else boxed(original)
    row = {"trajectories": f"{n:,}", "points": f"{original.n_rows:,}"}
    if options.others:
        metrics: list[Any] = [OdMatrix(), TripLength(), Distortion() if options.kind == "points" else BoxLoss()]
        for metric in metrics:
            _, seconds = timed(metric, original, published)
            row[f"{metric.name} s"] = f"{seconds:.2f}"
    else:
        score, seconds = timed(RangeQueries(queries=options.queries), original, published)
        found = score.measured
        row["s"] = f"{seconds:.2f}"
        row["points/s"] = f"{(original.n_rows + published.n_rows) / seconds:,.0f}"
        for kind in ("possibly", "definitely"):
            error = found[f"{kind}_inside_average_error"]
            row[f"{kind} inside"] = f"{found[f'{kind}_inside_average_count_before']:.2f}"
            row["error" if kind == "possibly" else "its error"] = "–" if error is None else f"{error:.1%}"
    row["peak GB"] = f"{peak_gb():.2f}"
    return row


def timed(metric: Any, original: Points, published: Points | Boxes) -> tuple[Any, float]:
    few = np.arange(10)
    metric.run(original.take(few), published.take(few))
    start = time.perf_counter()
    score = metric.run(original, published)
    return score, time.perf_counter() - start


def walks(n: int) -> Points:
    rng = np.random.default_rng(1)
    begin = rng.integers(0, 86_400 - 60 * POINTS, n)
    place = rng.normal(0, TOWN_M / 4, (2, n, 1)) + np.cumsum(rng.normal(0, STEP_M, (2, n, POINTS)), axis=2)
    return Points(
        offsets=np.arange(n + 1) * POINTS,
        t=(begin[:, None] + 60 * np.arange(POINTS)).ravel(),
        x=place[0].ravel(),
        y=place[1].ravel(),
        owner=np.arange(n),
        time_format="epoch",
    )


def moved(data: Points) -> Points:
    angle = np.random.default_rng(2).uniform(0, 2 * np.pi, data.n_rows)
    return Points(
        offsets=data.offsets, t=data.t, x=data.x + MOVED_M * np.cos(angle), y=data.y + MOVED_M * np.sin(angle),
        owner=data.owner, time_format=data.time_format,
    )  # fmt: skip


def boxed(data: Points) -> Boxes:
    size = 2 * MOVED_M
    x, y = np.floor(data.x / size) * size, np.floor(data.y / size) * size
    return Boxes(
        offsets=data.offsets, t_min=data.t, t_max=data.t, x_min=x, x_max=x + size, y_min=y, y_max=y + size,
        owner=data.owner, time_format=data.time_format,
    )  # fmt: skip


if __name__ == "__main__":
    main()
