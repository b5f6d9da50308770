"""How long every attack of ``wayveil risk`` takes on a million rows, with its default parameters.

    python benchmarks/bench_risk.py              visits, points, routes and stops, about a million rows each
    python benchmarks/bench_risk.py --rows 100000
    python benchmarks/bench_risk.py --kind visits

The kernels are compiled before the clock starts, on a hundredth of the data.  The data are generated with seed 1:
`transit` (visits), `network_movers` (points), `road_movers` (routes) and `errands` (stops).
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench import make_parser, peak_gb, print_machine
from wayveil.attacks import ATTACKS
from wayveil.engines import LocalEngine
from wayveil.model import parameters_of
from wayveil.recipe.defaults import fits, is_ready
from wayveil.workloads import Errands, NetworkMovers, RoadMovers, Transit

MAKE = {
    "visits": lambda rows: Transit(records=rows // 5),
    "points": lambda rows: NetworkMovers(objects=rows // 42, trips=2, period="30s"),
    "routes": lambda rows: RoadMovers(objects=rows // 10),
    "stops": lambda rows: Errands(preset="milano", trajectories=rows // 5),
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--kind", choices=[*MAKE], action="append")
    options = parser.parse_args()
    print_machine()
    print("| data | attack | people | drawn | seconds |\n|---|---|---|---|---|")
    for kind in options.kind or MAKE:
        small, data = (
            MAKE[kind](rows).generate(rng=np.random.default_rng(1)) for rows in (options.rows // 100, options.rows)
        )
        total = 0.0
        for name, cls in ATTACKS.items():
            if fits(cls, type(data), type(data), matched=True) and is_ready(cls, {}):
                attack(cls, small)
                began = time.perf_counter()
                found = attack(cls, data)
                took = time.perf_counter() - began
                total += took
                print(f"| {kind} | {name} | {found.victims:,} | {'yes' if found.sampled else 'no'} | {took:.1f} |")
        print(f"| {kind} | all, {data.n_rows:,} rows of {data.n_owners:,} people | | | {total:.1f} |")
    peak = peak_gb()
    print(f"\npeak memory {peak:.1f} GB")


def attack(cls: Any, data: Any) -> Any:
    """Run an attack on raw data with its default parameters."""
    missing = [p.name for p in parameters_of(cls) if p.required]
    if missing:
        raise SystemExit(f"{cls.name} has parameters without a default: {missing}")
    return cls().run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())


if __name__ == "__main__":
    main()
