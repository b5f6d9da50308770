"""How long `wayveil inspect` looks at a file, after start-up: 500,000 rows in under 5 s is what it must hold.

python benchmarks/bench_inspect.py [ROWS]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.commands.inspect import inspect_file
from wayveil.recipe.recipe import make_input


def write_tables(folder: Path, rows: int) -> dict[str, Path]:
    """Write positions in a dialect of their own, trips as bike shares have them, and check-ins without a header."""
    rng = np.random.default_rng(1)
    seconds = np.sort(rng.integers(0, 30 * 86_400, rows))
    start = pl.Series(seconds + 1_710_720_000).cast(pl.Int64) * 1_000_000
    began = start.cast(pl.Datetime("us"))
    ended = (start + pl.Series(rng.integers(60, 3_600, rows)) * 1_000_000).cast(pl.Datetime("us"))
    who = rng.integers(0, 5_000, rows)
    lon = (-73.9 + rng.normal(0, 0.02, rows)).round(6)
    lat = (40.7 + rng.normal(0, 0.02, rows)).round(6)
    first = rng.integers(0, 800, rows)
    last = rng.integers(0, 800, rows)
    tables = {
        "positions": pl.DataFrame(
            {"Fahrzeug": who, "Zeit": began.dt.strftime("%d.%m.%Y %H:%M:%S"), "Laenge": lon, "Breite": lat}
        ),
        "trips": pl.DataFrame(
            {
                "ride_id": [f"{i:016X}" for i in range(rows)],
                "started_at": began.dt.strftime("%Y-%m-%d %H:%M:%S"),
                "ended_at": ended.dt.strftime("%Y-%m-%d %H:%M:%S"),
                "start_station_id": first,
                "end_station_id": last,
                "start_lat": lat[first],
                "start_lng": lon[first],
                "end_lat": lat[last],
                "end_lng": lon[last],
                "member_casual": ["member"] * rows,
            }
        ),
        "check-ins": pl.DataFrame({"a": who, "b": first, "c": began.dt.strftime("%a %b %d %H:%M:%S +0000 %Y")}),
    }
    paths = {}
    for name, table in tables.items():
        paths[name] = folder / f"{name}.txt"
        table.write_csv(paths[name], separator=";", include_header=name != "check-ins")
    return paths


def main() -> None:
    """Print seconds, those of all cores, and peak memory for each table."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 500_000
    with tempfile.TemporaryDirectory() as name:
        for kind, path in write_tables(Path(name), rows).items():
            begin = time.perf_counter()
            begin_cpu = time.process_time()
            seen = inspect_file(make_input({"path": str(path)}))
            took_s = time.perf_counter() - begin
            cpu_s = time.process_time() - begin_cpu
            peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            spent = f"{took_s:.2f} s, {cpu_s:.2f} CPU s, peak {peak_mb:,.0f} MB"
            print(f"{kind:10} {rows:,} rows, {seen.profile.layout}: {spent}")


if __name__ == "__main__":
    main()
