"""What trajectory k-anonymity by graph partition costs: the paper's partition and ours, for every k.

    python benchmarks/studies/study_knode.py oldenburg --network FOLDER/OL  k = 2 to 20, windows of 20 s
    python benchmarks/studies/study_knode.py spread --network FOLDER/OL  the same number of classes in windows of 10 min
    python benchmarks/studies/study_knode.py trucks --trucks FOLDER/trucks.csv.gz  k = 2 to 8, by trajectory and truck

Prints the tables of docs/research/studies/knode.md.  Every output is verified; a failed verdict ends it.  Without
``--network`` a network is generated; ``--small`` takes a tenth of the trajectories and few k.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.engines import LocalEngine
from wayveil.errors import InputError
from wayveil.methods.knode.knode import Knode
from wayveil.methods.knode.trajectory_graph import s_overlap, time_classes, time_windows
from wayveil.model import Points
from wayveil.model.data.ragged import offsets_of
from wayveil.steps.points.resample import Resample
from wayveil.steps.points.split import Split
from wayveil.verifiers.kanonymity.kanonymity_verifier import check_kanonymity
from wayveil.workloads.network_movers import NetworkMovers

VARIANTS = ("paper", "improved")
STARTS = {"oldenburg": "20s", "spread": "10min"}
TRUCK_WINDOW = "10min"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", choices=[*STARTS, "trucks"])
    parser.add_argument("--network", default="generated", help="path of a network without .cnode.txt and .cedge.txt")
    parser.add_argument("--trucks", type=Path, help="file of the Athens trucks, with time, lat, lon, tid")
    parser.add_argument("--small", action="store_true", help="little data and few k, for a quick look")
    options = parser.parse_args()
    if options.which != "trucks":
        people = 1_000 if options.small else 10_000
        data = movers(options.network, STARTS[options.which], people)
        ks = [2, 5, 10] if options.small else [*range(2, 21)] if options.which == "oldenburg" else [2, 3, 5, 10, 15, 20]
        study(data, STARTS[options.which], ks)
        return
    if options.trucks is None:
        sys.exit("trucks: name the file with --trucks.")
    data = read_trucks(options.trucks)
    for title, counted in (
        ("by trajectory", replace(data, owner=np.arange(len(data)), owners="declared")),
        ("by truck", data),
    ):
        print(f"\n{title}\n")
        study(counted, TRUCK_WINDOW, [2, 5] if options.small else [*range(2, 9)])


def movers(network: str, window: str, people: int) -> Points:
    """Return trips of ten minutes with a point every 4 s, which begin in 132 windows."""
    workload = NetworkMovers(
        network=network, objects=people, trips=2.6471, classes=6, windows=132, window=window, duration="10min",
        period="4s",
    )  # fmt: skip
    return workload.generate(rng=np.random.default_rng(1))


def read_trucks(path: Path) -> Points:
    """Return the trips of trucks between stays of ten minutes, with a point every 30 s; owners are trucks."""
    table = pl.read_csv(path).sort("tid", "time").unique(["tid", "time"], keep="first", maintain_order=True)
    ids, rows = np.unique(table["tid"].to_numpy(), return_counts=True)
    raw = Points(
        offsets=offsets_of(rows),
        t=table["time"].to_numpy(),
        x=table["lon"].to_numpy(),
        y=table["lat"].to_numpy(),
        owner=np.unique(ids // 100, return_inverse=True)[1],
        time_format="epoch",
        owners="given",
    )
    trips, notes = Split(stay="10min", stay_radius=100.0, gap="5min").run(raw)
    regular, more = Resample(period="30s").run(trips)
    print("\n".join([*notes, *more]))
    return regular


def study(data: Points, window: str, ks: list[int]) -> None:
    """Print one row per k: success, loss and box area of both variants."""
    describe(data, window)
    heads = [f"{what}, {variant}" for what in ("success", "loss", "box area", "cut off") for variant in VARIANTS]
    print("| k | " + " | ".join(heads) + " |\n|" + "---|" * (len(heads) + 1))
    for k in ks:
        facts = [publish(data, Knode(k=k, window=window, variant=variant)) for variant in VARIANTS]
        cells = [f"{f['success ratio']:.2%}" for f in facts]
        cells += [f"{f['information loss per sample']:.4f}" for f in facts]
        cells += [f"{f['box area, share of the whole space']:.4f}" for f in facts]
        cells += [f"{f['points cut off published trajectories'] / data.n_rows:.2%}" for f in facts]
        print(f"| {k} | " + " | ".join(cells) + " |", flush=True)


def publish(data: Points, method: Knode) -> dict:
    """Return the facts of a verified publication, or those of none."""
    try:
        result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    except InputError:
        return {
            "success ratio": 0.0, "information loss per sample": 1.0, "box area, share of the whole space": np.nan,
            "points cut off published trajectories": 0,
        }  # fmt: skip
    verdict = check_kanonymity(result.data, method.claim, original=data.take(result.source))
    if not verdict.holds:
        sys.exit(f"{method}: {verdict.reason}")
    return dict(result.facts)


def describe(data: Points, window: str) -> None:
    """Print what Table 2 of the paper has: trajectories, classes, their sizes, and the mean s-overlap in a sample."""
    seconds = {"20s": 20, "10min": 600}[window]
    begin, end = data.t[data.offsets[:-1]], data.t[data.offsets[1:] - 1]
    label = time_classes(time_windows(begin, end, seconds))
    sizes, rng, shares = np.bincount(label), np.random.default_rng(0), []
    for number in rng.choice(len(sizes), size=min(20, len(sizes)), replace=False):
        members = np.flatnonzero(label == number)
        low, high = begin[members].max(), end[members].min()
        for _ in range(50 if low <= high and len(members) > 1 else 0):
            p, q = rng.choice(members, size=2, replace=False)
            shares.append(s_overlap(between(data, p, low, high), between(data, q, low, high)))
    print(
        f"\n{len(data):,} trajectories of {data.n_owners:,} owners, {data.n_rows:,} points, {len(sizes)} classes of ",
        end="",
    )
    print(f"{sizes.min()} to {sizes.max()}, mean s-overlap {np.mean(shares):.1%}\n")


def between(data: Points, trajectory: int, low: int, high: int) -> np.ndarray:
    rows = slice(data.offsets[trajectory], data.offsets[trajectory + 1])
    inside = (data.t[rows] >= low) & (data.t[rows] <= high)
    return np.column_stack([data.x[rows], data.y[rows]])[inside]


if __name__ == "__main__":
    main()
