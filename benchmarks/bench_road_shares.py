"""What it costs on road networks that nobody owns more than 1/k of the trajectories that look alike.

    python benchmarks/bench_road_shares.py

The data: `road_movers`, 20,000 trips, seed 1, all in one slice, k = 5.  Of one person each; of 4,000 people, some with
very many; and of 4,000 people who repeat one trip each.  ``row_share`` 1 is what counting people alone would publish.
Every row is verified.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.methods.cba.cba import Cba
from wayveil.methods.icba.icba import Icba
from wayveil.methods.prefix.prefix import Prefix
from wayveil.model import Routes
from wayveil.verifiers import VERIFIERS
from wayveil.workloads.road_movers import RoadMovers

TRIPS, PEOPLE, K = 20_000, 4_000, 5
METHODS: list[tuple[Any, dict[str, str]]] = [
    (Icba, {}),
    (Icba, {"pad": "yes"}),
    (Cba, {}),
    (Prefix, {}),
    (Prefix, {"reattach": "prefix"}),
]


def main() -> None:
    print("| method | data | parts, row_share 1 | parts, row_share 1/k | rows, 1 | rows, 1/k |\n" + "|---" * 6 + "|")
    for words, data in workloads().items():
        for method, parameters in METHODS:
            parts, rows = zip(
                *(published(method(k=K, row_share=s, **parameters), data) for s in ("1", "1/k")), strict=True
            )
            name = " ".join([method.name, *(f"{key}={value}" for key, value in parameters.items())])
            print("| " + " | ".join([name, words, *(f"{n:,}" for n in (*parts, *rows))]) + " |", flush=True)


def workloads() -> dict[str, Routes]:
    """Return the same trips of one person each and of fewer people, and trips that people repeat."""
    data = RoadMovers(objects=TRIPS, trips=1).generate(rng=np.random.default_rng(1))
    n = len(data)
    single = replace(data, t_start=np.zeros(n, np.int64), t_end=np.full(n, 10**9), owner=np.arange(n))
    rng = np.random.default_rng(5)
    activity = 1 / (1 + np.arange(PEOPLE)) ** 0.7
    activity /= activity.sum()
    several = replace(single, owner=rng.choice(PEOPLE, n, p=activity))
    usual = rng.integers(0, n, PEOPLE)
    owner = rng.choice(PEOPLE, n, p=activity)
    return {
        "one trip each": single,
        "of 4,000 people": several,
        "people repeat one trip": replace(single.take(usual[owner]), owner=owner),
    }


def published(method: Any, data: Routes) -> tuple[int, int]:
    """Return how many parts of trips, dummies not counted, and how many rows are published."""
    made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=data)
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    return int((made.source >= 0).sum()), made.data.n_rows


if __name__ == "__main__":
    main()
