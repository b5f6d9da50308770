"""How long the attack by assignments takes as the data grow: one fresh process per row.

    python benchmarks/bench_attack_graph.py                    5,000, 10,000, 20,000 and 40,000 trajectories
    python benchmarks/bench_attack_graph.py --mixed            groups that overlap: one component of all, up to 20,000
    python benchmarks/bench_attack_graph.py --raw              the raw data as target

Objects walk about a town for 50 points, one a minute and all at the same minutes; 5 random points of each are known.
Five neighbours share the box around them at every time that is known of one of them, and stay exact otherwise.  With
--mixed every box is around the object itself and the two before and after it, so that everybody hangs together.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from bench import make_parser, peak_gb, print_cells, print_heads, print_machine, run_row
from wayveil.attacks.positions.graph_attack import GraphAttack
from wayveil.engines import LocalEngine
from wayveil.model import Boxes, Points

SIZES = (5_000, 10_000, 20_000, 40_000)
POINTS, KNOWN, GROUP = 50, 5, 5
TOWN_M, STEP_M = 20_000, 60


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--mixed", action="store_true")
    parser.add_argument("--raw", action="store_true")
    parser.add_argument("--row", type=int, help="measure one size in this process")
    options = parser.parse_args()
    if options.row:
        print(json.dumps(measure(options, options.row)))
        return
    print_machine()
    rows = [in_fresh_process(options, n) for n in (SIZES[:3] if options.mixed else SIZES)]
    heads = list(rows[0])
    print_heads(heads)
    for row in rows:
        print_cells(row[head] for head in heads)


def in_fresh_process(options: argparse.Namespace, n: int) -> dict[str, str]:
    row: dict[str, str] = run_row(__file__, f"--row={n}", *["--mixed"] * options.mixed, *["--raw"] * options.raw)
    return row


def measure(options: argparse.Namespace, n: int) -> dict[str, str]:
    truth = walks(n)
    target = truth if options.raw else boxed(truth, mixed=options.mixed)
    start, busy = time.perf_counter(), time.process_time()
    result = GraphAttack().run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    found = result.measured
    components = [found["components_exact"], found["components_sampled"]]
    return {
        "trajectories": f"{n:,}",
        "s": f"{seconds:.1f}",
        "CPU s": f"{busy:.1f}",
        "peak GB": f"{peak_gb():.2f}",
        "candidates, mean": f"{found['mean_candidate_people']:.1f}",
        "fewest": f"{found['min_candidate_people']}",
        "probability, mean": f"{found['identity_mean']:.3f}",
        "largest": f"{found['identity_max_estimate']:.3f}",
        "components counted": "–" if components[0] is None else f"{components[0]:,}",
        "sampled": "–" if components[1] is None else f"{components[1]:,}",
    }


def walks(n: int) -> Points:
    rng = np.random.default_rng(1)
    begin = rng.normal(0, TOWN_M / 4, (2, n, 1))
    cell = np.floor(begin[:, :, 0] / (TOWN_M / np.sqrt(n)))
    begin = begin[:, np.lexsort((begin[1, :, 0], cell[0]))]  # neighbours next to each other
    place = begin + np.cumsum(rng.normal(0, STEP_M, (2, n, POINTS)), axis=2)
    known = np.zeros((n, POINTS), bool)
    np.put_along_axis(known, rng.permuted(np.tile(np.arange(POINTS), (n, 1)), axis=1)[:, :KNOWN], True, axis=1)
    return Points(
        offsets=np.arange(n + 1) * POINTS,
        t=np.tile(60 * np.arange(POINTS), n),
        x=place[0].ravel(),
        y=place[1].ravel(),
        owner=np.arange(n),
        time_format="epoch",
        known=known.ravel(),
    )


def boxed(data: Points, *, mixed: bool) -> Boxes:
    shape = (-1, GROUP, POINTS)
    shared = np.repeat(data.known.reshape(shape).any(axis=1)[:, None], GROUP, axis=1).reshape(-1)
    sides = []
    for column in (data.x, data.y):
        for extreme in (np.minimum, np.maximum):
            if mixed:
                table = column.reshape(-1, POINTS)
                around = extreme.reduce([np.roll(table, shift, axis=0) for shift in range(-2, 3)])
                sides.append(around.reshape(-1))
            else:
                around = np.repeat(extreme.reduce(column.reshape(shape), axis=1)[:, None], GROUP, axis=1)
                sides.append(np.where(shared, around.reshape(-1), column))
    return Boxes(
        offsets=data.offsets, t_min=data.t, t_max=data.t, x_min=sides[0], x_max=sides[1], y_min=sides[2],
        y_max=sides[3], owner=data.owner, time_format=data.time_format,
    )  # fmt: skip


if __name__ == "__main__":
    main()
