"""How long clustering with the error of all traffic takes, and how much memory: one fresh process per row.

    python benchmarks/bench_cba.py              a quick look: 50,000 trips on a map of 1,689 streets
    python benchmarks/bench_cba.py trips        growth: 12,500 to 100,000 trips
    python benchmarks/bench_cba.py one 100000 0.02

Data, columns and options are those of ``bench_icba.py``.
"""

from __future__ import annotations

from bench_icba import main
from wayveil.methods.cba.cba import Cba

SERIES: dict[str, list[tuple[int, float, dict[str, str]]]] = {
    "quick": [(50_000, 0.02, {})],
    "trips": [(n, 0.02, {}) for n in (12_500, 25_000, 50_000, 100_000)],
}

if __name__ == "__main__":
    main(Cba, SERIES, __file__)
