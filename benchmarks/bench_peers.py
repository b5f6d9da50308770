"""Wayveil beside other programs that move points into groups: synthetic GPS, whole runs, processor time as ratios.

    python benchmarks/bench_peers.py                  5,000 trajectories of 50 points
    python benchmarks/bench_peers.py --trajectories 1000

Wayveil is timed from the first line to the last (`wayveil publish`: start-up, reading, method, verifier, attacks,
metrics, report), with a full cache.  The others are not started here: their figures were measured once, on 5,000
trajectories of 50 points and a machine of the same kind (2 cores), method and files only, because they neither verify
nor attack what they publish.  For other sizes there is no figure and no ratio.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from bench import make_parser, print_machine
from bench_publish import run
from wayveil.commands.generate import generate

PEERS = {
    "W4M, the authors' program (Abul, Bonchi, Nanni 2010)": 480.0,
    "mdl-anonymizer (MobiDataLab), microaggregation": 1437.0,
}
"""Processor seconds for 5,000 trajectories of 50 points."""
MEASURED = 5_000
POINTS = 50


def main() -> None:
    parser = make_parser(__doc__)
    parser.add_argument("--trajectories", type=int, default=MEASURED)
    options = parser.parse_args()
    print_machine()
    print(f"| program | {options.trajectories:,} trajectories of {POINTS} points, cpu s | times as long as nwa, w4m |")
    print("|---|---|---|")
    ours = {}
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "input.parquet")
        given = {"objects": options.trajectories, "trips": 1, "duration": "49min", "windows": 1, "period": "1min"}
        generate("network_movers", {**given, "window": "1min"}, table, seed=1)
        for name, words in (("nwa", ["--pi", "10min"]), ("w4m", [])):
            command = ["publish", name, str(table), "--k", "5", "--delta", "500", "--seed", "1", *words]
            run(command, Path(folder))  # fills the cache
            ours[name] = float(run(command, Path(folder)).split(" | ")[0])
            print(f"| wayveil publish {name} | {ours[name]:.1f} | |")
    if options.trajectories == MEASURED:
        for peer, seconds in PEERS.items():
            ratios = ", ".join(f"{seconds / own:.0f}" for own in ours.values())
            print(f"| {peer} | {seconds:,.0f} | {ratios} |")


if __name__ == "__main__":
    main()
