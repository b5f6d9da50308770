"""How far `kcl` is from the least loss that is possible, on tables small enough to solve exactly.

    python benchmarks/bench_kcl_gap.py                  10 tables of 14 people
    python benchmarks/bench_kcl_gap.py --tables 3 --people 10

The exact answer is that of an integer program (`scipy.optimize.milp`, HiGHS): one variable per visit that says whether
it stays, one per sequence and trajectory that has it, which is 1 if all its visits stay, and one per sequence that
occurs.  Everybody has one trajectory.  A table that is not solved to the end is left out and counted.
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array

from bench import make_parser
from wayveil.engines import LocalEngine
from wayveil.methods import Kcl
from wayveil.model import Visits

SENSITIVE = {"ill": ["yes"]}
SECONDS = 60
WAYS: dict[str, dict[str, object]] = {
    "paper (restore=no)": {"restore": "no"},
    "given back (improve=0)": {"improve": 0},
    "improved (default)": {},
    "improved 1,000 times": {"improve": 1000},
    "global": {"suppression": "global"},
}


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--people", type=int, default=14)
    parser.add_argument("--k", type=int, default=3)
    parser.add_argument("--c", default="1/2")
    parser.add_argument("--l", type=int, default=2)
    asked = parser.parse_args()
    visits, least, open_ = 0, 0, 0
    lost = dict.fromkeys(WAYS, 0)
    for seed in range(asked.tables):
        data = make_table(random.Random(seed), asked.people)
        best = most_visits(data, asked.k, Fraction(asked.c), asked.l)
        if best is None:
            open_ += 1
            continue
        visits += data.n_visits
        least += data.n_visits - best
        for name, more in WAYS.items():
            method = Kcl(k=asked.k, c=asked.c, l=asked.l, sensitive=SENSITIVE, **more)
            left = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine()).data.n_visits
            if left > best:
                raise SystemExit(f"table {seed}: {name} keeps {left} visits, more than the optimum of {best}")
            lost[name] += data.n_visits - left
    print(f"{asked.tables - open_} tables, {visits} visits, {open_} not solved in {SECONDS} s")
    print(f"| optimum | {least / visits:.1%} |")
    for name, n in lost.items():
        print(f"| {name} | {n / visits:.1%} |")


def make_table(rng: random.Random, people: int) -> Visits:
    """People at five times in one of three places, of which the first is common; one in four is ill."""
    records = [[(rng.choice("aaabbc"), t) for t in range(5) if rng.random() < 0.7] for _ in range(people)]
    ill = ["yes", *("yes" if rng.random() < 0.25 else "no" for _ in records[1:])]
    return Visits.from_records(records, attributes={"ill": ill})


def most_visits(data: Visits, k: int, c: Fraction, longest: int) -> int | None:
    """Return how many visits can stay at most, by an integer program; None where that took too long."""
    records = [data.record(r) for r in range(len(data))]
    ill = [value == "yes" for value in data.attributes["ill"].values()]
    stays = {
        (r, visit): number for number, (r, visit) in enumerate((r, v) for r, rec in enumerate(records) for v in rec)
    }
    holders: dict[tuple[tuple[str, int], ...], list[int]] = {}
    for r, record in enumerate(records):
        for size in range(1, longest + 1):
            for sequence in combinations(record, size):
                holders.setdefault(sequence, []).append(r)
    n = len(stays)
    rows: list[tuple[dict[int, float], float]] = []  # sums that must be at least a number
    for sequence, group in holders.items():
        occurs = n
        n += 1
        has = {r: n + i for i, r in enumerate(group)}
        n += len(group)
        for r in group:
            parts = [stays[r, visit] for visit in sequence]
            rows.extend(({part: 1, has[r]: -1}, 0) for part in parts)
            rows.append(({has[r]: 1} | dict.fromkeys(parts, -1), 1 - len(parts)))
            rows.append(({occurs: 1, has[r]: -1}, 0))
        rows.append((dict.fromkeys(has.values(), 1) | {occurs: -k}, 0))
        rows.append(({has[r]: c.numerator - c.denominator * ill[r] for r in group}, 0))
    entries = [(i, j, value) for i, (row, _) in enumerate(rows) for j, value in row.items()]
    at, column, value = zip(*entries, strict=True)
    table = coo_array((value, (at, column)), shape=(len(rows), n)).tocsr()
    cost = np.zeros(n)
    cost[: len(stays)] = -1
    solved = milp(
        cost,
        constraints=LinearConstraint(table, lb=np.array([low for _, low in rows], float)),
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        options={"time_limit": SECONDS, "mip_rel_gap": 0},
    )
    return round(-solved.fun) if solved.status == 0 else None


if __name__ == "__main__":
    main()
