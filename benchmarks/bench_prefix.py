"""How long the prefix-tree baseline takes, and how much memory: one fresh process per row.

    python benchmarks/bench_prefix.py              a quick look: 100,000 trips on a map of 1,689 streets, both variants
    python benchmarks/bench_prefix.py trips        growth: 12,500 to 1,000,000 trips
    python benchmarks/bench_prefix.py one 100000 0.02

Data, columns and options are those of ``bench_icba.py``.
"""

from __future__ import annotations

from bench_icba import main
from wayveil.methods.prefix.prefix import Prefix

SERIES: dict[str, list[tuple[int, float, dict[str, str]]]] = {
    "quick": [(100_000, 0.02, {"reattach": reattach}) for reattach in ("lcs", "prefix")],
    "trips": [(n, 0.02, {}) for n in (12_500, 25_000, 50_000, 100_000, 200_000, 500_000, 1_000_000)],
}

if __name__ == "__main__":
    main(Prefix, SERIES, __file__)
