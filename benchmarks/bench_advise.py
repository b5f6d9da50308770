"""How long `wayveil advise` takes to recommend a setting for 100,000 rows: one fresh process per kind of data.

    python benchmarks/bench_advise.py                 visits, trips and points of about 100,000 rows, 5 minutes at most
    python benchmarks/bench_advise.py --rows 20000    smaller ones
    python benchmarks/bench_advise.py --budget 2      with less time

Visits are smart cards (the workload transit).  Trips go between 60 stations, points are tracks of people who leave one
of 30 quarters within an hour; both are on random days of four weeks.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

import wayveil
from bench import make_parser, print_cells, print_heads, print_machine, run_row
from wayveil.commands.generate import generate

DAY_S = 86_400
MONDAY_S = 1_714_953_600  # 6 May 2024
KINDS = ("visits", "trips", "points")
HEADS = {
    "visits": '[input]\npath = "in.csv"\nkind = "visits"\n',
    "trips": '[input]\npath = "in.csv"\nkind = "trips"\nowners = "each-trajectory"\ncrs = "planar"\n',
    "points": '[input]\npath = "in.csv"\nkind = "points"\ncrs = "planar"\n',
}
METHODS = {
    "visits": 'name = "kcl"\nk = 5\nl = 2\n',
    "trips": 'name = "kcl"\nk = 5\nl = 2\n',
    "points": 'name = "knode"\nk = 5\nwindow = "1h"\n',
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--budget", type=float, default=5.0, help="minutes")
    parser.add_argument("--kind", choices=KINDS, help="measure one kind in this process")
    options = parser.parse_args()
    if options.kind:
        print(json.dumps(measure(options.kind, options.rows, options.budget)))
        return
    print_machine()
    rows = [in_fresh_process(options, kind) for kind in KINDS]
    heads = list(rows[0])
    print_heads(heads)
    for row in rows:
        print_cells(row[head] for head in heads)


def in_fresh_process(options: argparse.Namespace, kind: str) -> dict[str, str]:
    row: dict = run_row(__file__, f"--kind={kind}", f"--rows={options.rows}", f"--budget={options.budget}")
    return row


def measure(kind: str, rows: int, budget: float) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        recipe = write_case(kind, rows, Path(folder))
        began = time.perf_counter()
        found = wayveil.advise(recipe, budget_minutes=budget)
        seconds = time.perf_counter() - began
    used = resource.getrusage(resource.RUSAGE_SELF)
    taken = found.recommended
    return {
        "data": kind,
        "rows": f"{found.rows:,}",
        "trials": f"{found.tried}",
        "seconds": f"{seconds:.0f}",
        "cpu s": f"{used.ru_utime + used.ru_stime:.0f}",
        "peak GB": f"{used.ru_maxrss / 1e6:.1f}",
        "out of time": "yes" if found.out_of_time else "no",
        "recommended": "nothing" if taken is None else f"{taken.setting.words}; {taken.kept:.0%} of the trips left",
    }


def write_case(kind: str, rows: int, folder: Path) -> Path:
    """Write a table and a recipe for it; return the recipe."""
    table = folder / "in.csv"
    if kind == "visits":
        generate("transit", {"records": rows // 5}, out=table, seed=7)
    else:
        {"trips": write_trips, "points": write_points}[kind](table, rows)
    recipe = folder / "recipe.toml"
    recipe.write_text(f'{HEADS[kind]}\n[method]\n{METHODS[kind]}\n[output]\npath = "out"\n')
    return recipe


def write_trips(table: Path, rows: int) -> None:
    """Write trips, which have two ends and so two rows each when they are read."""
    numbers = np.random.default_rng(7)
    n = rows // 2
    stations = numbers.random((60, 2)) * 8000
    popular = 1 / np.arange(1, 61)
    begin, end = (numbers.choice(60, n, p=popular / popular.sum()) for _ in range(2))
    hour = numbers.choice([7, 8, 9, 12, 16, 17, 18, 20], n)
    start = MONDAY_S + numbers.integers(0, 28, n) * DAY_S + hour * 3600 + numbers.integers(0, 3600, n)
    stop = start + numbers.integers(300, 3000, n)
    pl.DataFrame(
        {
            "t_start": pl.from_epoch(pl.Series(start)).dt.to_string("%Y-%m-%d %H:%M:%S"),
            "t_end": pl.from_epoch(pl.Series(stop)).dt.to_string("%Y-%m-%d %H:%M:%S"),
            "origin": begin.astype(str), "destination": end.astype(str),
            "origin_x": stations[begin, 0], "origin_y": stations[begin, 1],
            "destination_x": stations[end, 0], "destination_y": stations[end, 1],
        }
    ).write_csv(table)  # fmt: skip


def write_points(table: Path, rows: int) -> None:
    """Write tracks of 50 points, one a minute."""
    numbers = np.random.default_rng(7)
    n = rows // 50
    quarter = numbers.random((30, 2)) * 15_000
    home = numbers.integers(30, size=n)
    start = MONDAY_S + numbers.integers(0, 28, n) * DAY_S + 8 * 3600 + numbers.integers(0, 60, n) * 60
    to = np.array([7500.0, 7500.0]) - quarter[home]
    share = np.linspace(0, 1, 50)[None, :, None]
    where = quarter[home][:, None, :] + to[:, None, :] * share + numbers.normal(0, 60, (n, 50, 2))
    t = (start[:, None] + 60 * np.arange(50)[None, :]).reshape(-1)
    pl.DataFrame(
        {
            "traj_id": np.repeat(np.arange(n), 50).astype(str),
            "user_id": np.repeat(np.arange(n) % (n * 3 // 4), 50).astype(str),
            "t": pl.from_epoch(pl.Series(t)).dt.to_string("%Y-%m-%dT%H:%M:%SZ"),
            "x": where[:, :, 0].reshape(-1), "y": where[:, :, 1].reshape(-1),
        }
    ).write_csv(table)  # fmt: skip


if __name__ == "__main__":
    main()
