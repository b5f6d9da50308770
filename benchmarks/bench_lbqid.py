"""How long the check of a habit takes as the data grow: one fresh process per row.

    python benchmarks/bench_lbqid.py             1,000, 3,000 and 10,000 people, published as boxes
    python benchmarks/bench_lbqid.py --raw       the raw data as target

Everybody goes from home to work and back on ten weekdays of two weeks, with two samples an hour in the day, about a
quarter of them from the suburb to the centre of the pattern.  Published are boxes of 2 km and of one hour.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from bench import make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.attacks.habits.lbqid import Lbqid
from wayveil.engines import LocalEngine
from wayveil.model import Boxes, Points

SIZES = (1_000, 3_000, 10_000)
MONDAY_S = 1_704_067_200  # 1 January 2024
DAYS, SAMPLES = (0, 1, 2, 3, 4, 7, 8, 9, 10, 11), 30
PATTERN = "0,0,10000,20000 06:00-08:00; 10000,0,20000,20000 08:00-12:00; 0,0,10000,20000 17:00-21:00"


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--row", type=int, help="measure one size in this process")
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options, options.row)))
        return
    print_machine()
    rows = [in_fresh_process(options, n) for n in SIZES]
    heads = list(rows[0])
    print_heads(heads)
    for row in rows:
        print_cells(row[head] for head in heads)


def in_fresh_process(options: argparse.Namespace, n: int) -> dict[str, str]:
    row: dict[str, str] = run_row(__file__, f"--row={n}", *["--raw"] * options.raw)
    return row


def measure(options: argparse.Namespace, n: int) -> dict[str, str]:
    truth = commuters(n)
    target = truth if options.raw else boxed(truth)
    attack = Lbqid(pattern=PATTERN, recurrence="3.Weekdays * 2.Weeks", zone="Europe/Berlin")
    start, busy = time.perf_counter(), time.process_time()
    result = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    found = result.measured
    return {
        "people": f"{n:,}",
        "samples": f"{truth.n_rows:,}",
        "s": f"{seconds:.1f}",
        "CPU s": f"{busy:.1f}",
        "peak GB": f"{peak_gb():.2f}",
        "follow the habit": f"{found['users_matched']:,}",
        "without 5-anonymity": f"{found['users_exposed']:,}",
        "witnesses, mean": f"{found['mean_witness_people']:.1f}",
    }


def commuters(n: int) -> Points:
    rng = np.random.default_rng(1)
    home, work = rng.uniform(0, 20_000, (2, 2, n, 1, 1))
    hour = 5 + np.arange(SAMPLES) / 2
    away = (hour > 7.6) & (hour < 17.1)
    place = np.where(away, work, home) + rng.normal(0, 30, (2, n, len(DAYS), SAMPLES))
    t = MONDAY_S + np.array(DAYS)[:, None] * 86_400 + (hour * 3600).astype(np.int64) + rng.integers(0, 600, (n, 1, 1))
    return Points(
        offsets=np.arange(n + 1) * len(DAYS) * SAMPLES,
        t=t.ravel(),
        x=place[0].ravel(),
        y=place[1].ravel(),
        owner=np.arange(n),
        time_format="epoch",
    )


def boxed(data: Points) -> Boxes:
    size, span = 2_000.0, 3_600
    x, y, t = np.floor(data.x / size) * size, np.floor(data.y / size) * size, data.t // span * span
    return Boxes(
        offsets=data.offsets, t_min=t, t_max=t + span - 1, x_min=x, x_max=x + size, y_min=y, y_max=y + size,
        owner=data.owner, time_format=data.time_format,
    )  # fmt: skip


if __name__ == "__main__":
    main()
