"""What (K,C)_L-privacy costs: Figures 2, 3 and 4 of Chen et al. (2013) on made-up data of the same size.

    python benchmarks/studies/study_kcl.py             all cells; tables and plots go to docs/research/studies
    python benchmarks/studies/study_kcl.py --small     few cells on small data, printed only

Four schemes: KCL-Local and KCL-Global with L=3; Trad-Local and Trad-Global with unbounded knowledge, which is
k-anonymity (C=1) against K and K', and confidence bounding against C, with the K=30 of Figure 3.  A fifth,
Paper-Local, is KCL-Local without giving visits back, which is the algorithm of the paper.  Every output is verified in
memory; one failed verdict ends the study.  Finished cells are kept in a file of the work folder, so that a study that
was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import functools
import json
import multiprocessing
import os
import platform
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import numpy as np

import wayveil
from study_chart import write_chart
from wayveil.engines import LocalEngine
from wayveil.methods import Kcl
from wayveil.metrics import FrequentSequences
from wayveil.model import Chart, Series, Visits
from wayveil.verifiers import VERIFIERS
from wayveil.workloads import City, Transit

SCHEMES = ("KCL-Local", "KCL-Global", "Trad-Local", "Trad-Global", "Paper-Local")
AXES = {
    "K": ("10", "20", "30", "40", "50"),
    "C": ("0.2", "0.4", "0.6", "0.8", "1"),
    "K'": ("400", "800", "1200", "1600"),
}
FIRST = {"K": ("30", "10", "50"), "K'": ("400", "1600"), "C": ("0.2", "0.4", "1")}  # the shape of every curve
SMALL = {"K": ("10", "30"), "C": ("0.4", "1"), "K'": ("800", "1600")}
USUAL = {"K": "30", "C": "0.6", "K'": "800"}
SIZES = {"city": 80_000, "transit": 462_483}
SMALL_SIZES = {"city": 20_000, "transit": 40_000}
AXIS_FILES = {"K": "k", "C": "c", "K'": "support"}
MEASURES = {
    "instances": ("visits lost", "instance_loss"),
    "mfs": ("frequent sequences lost", "mfs_loss"),
    "mfs_count": ("fall of the number of frequent sequences", "mfs_count_loss"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="few cells on small data, in under two minutes")
    parser.add_argument("--only", choices=[*SIZES], help="one workload")
    parser.add_argument("--work", type=Path, default=Path("study_kcl"), help="folder of the finished cells")
    parser.add_argument("--out", type=Path, default=Path("docs/research/studies"), help="folder of the plots")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no cell after so many minutes")
    options = parser.parse_args()
    axes, sizes = (SMALL, SMALL_SIZES) if options.small else (AXES, SIZES)
    sizes = {name: n for name, n in sizes.items() if options.only in (None, name)}
    options.work.mkdir(parents=True, exist_ok=True)
    done = run(grid(axes, sizes), options.work / "cells.jsonl", options.minutes)
    report = tables(done, axes, sizes)
    if options.small:
        print(report)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    (options.work / "tables.md").write_text(report, encoding="utf-8")
    plots(done, axes, sizes, options.out)
    print(report)


def grid(axes: dict, sizes: dict) -> list[tuple]:
    """Return every cell once, in an order in which an interrupted study shows the shape of every curve."""
    shape = [(axis, value) for axis, values in FIRST.items() for value in values if value in axes[axis]]
    rest = [(axis, value) for axis, values in axes.items() for value in reversed(values)]
    cells = {}
    for axis, value in [*shape, *rest]:
        for workload, records in sizes.items():
            for preserve in ("mfs",) if axis == "K'" else ("instances", "mfs"):
                for scheme in SCHEMES:
                    cells[cell(workload, records, scheme, preserve, axis, value)] = None
    return list(cells)


def cell(workload: str, records: int, scheme: str, preserve: str, axis: str, value: str) -> tuple:
    """Return the settings of one run; cells that are the same run are equal."""
    at = {**USUAL, axis: value}
    k, c, length = at["K"], at["C"], "3"
    if scheme.startswith("Trad"):
        length = "all"
        c = c if axis == "C" else "1"
    restore = "no" if scheme == "Paper-Local" else "yes"
    return workload, records, k, c, length, scheme.split("-")[1].lower(), preserve, at["K'"], restore


def run(cells: list[tuple], path: Path, minutes: float) -> dict:
    """Return what was measured per cell, from the file or by running, in two processes."""
    done = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            done[tuple(row["cell"])] = row
    todo = [c for c in cells if c not in done]
    end = time.monotonic() + 60 * minutes
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool, path.open("a", encoding="utf-8") as out:
        for future in as_completed([pool.submit(measure, c, end) for c in todo]):
            row = future.result()
            if row is None:
                continue
            done[tuple(row["cell"])] = row
            out.write(json.dumps(row) + "\n")
            out.flush()
    return done


def measure(settings: tuple, end: float) -> dict | None:
    """Run and verify one cell in this process; None if the time is over."""
    if time.monotonic() > end:
        return None
    workload, records, k, c, length, suppression, preserve, min_support, restore = settings
    data, sensitive = workload_data(workload, records)
    method = Kcl(
        k=int(k), c=c, l=length if length == "all" else int(length), sensitive=sensitive, suppression=suppression,
        preserve=preserve, restore=restore, min_support=int(min_support) if preserve == "mfs" else "auto",
    )  # fmt: skip
    start = time.perf_counter()
    result = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine(workers=1))
    seconds = time.perf_counter() - start
    verdict = VERIFIERS["KCL"](result.data, method.claim)
    if not verdict.holds:
        raise SystemExit(f"the verdict failed for {settings}: {verdict.reason}")
    score = FrequentSequences(min_support=int(min_support)).run(data, result.data)
    if score.measured["min_support"] != int(min_support):
        raise SystemExit(f"too many frequent sequences to list with a support of {min_support}")
    return {
        "cell": settings,
        "seconds": round(seconds, 2),
        "instance_loss": 1 - result.data.n_visits / data.n_visits,
        "mfs_loss": score.measured["mfs_loss"],
        "mfs_count_loss": score.measured["mfs_count_loss"],
        "mfs_before": score.measured["mfs_before"],
        **{name.replace(" ", "_"): value for name, value in result.facts.items()},
    }


@functools.cache
def workload_data(name: str, records: int) -> tuple[Visits, dict]:
    """Return the data of a workload; they are made once per process."""
    workload = (City if name == "city" else Transit)(records=records)
    return workload.generate(rng=np.random.default_rng(1)), dict(workload.sensitive)


def lines(done: dict, workload: str, records: int, axis: str, values: tuple, preserve: str, measure: str) -> dict:
    """Return one row of numbers per scheme, None where a cell was not run."""
    return {
        scheme: [done.get(cell(workload, records, scheme, preserve, axis, value), {}).get(measure) for value in values]
        for scheme in SCHEMES
    }


def tables(done: dict, axes: dict, sizes: dict) -> str:
    """Return one table per figure; a cell has the losses of `MEASURES` in percent, or a dash where it was not run."""
    runs = sum(c in done for c in grid(axes, sizes))
    python, cores = platform.python_version(), os.cpu_count()
    text = [f"wayveil {wayveil.__version__}, Python {python}, {cores} cores, {runs} runs, all verified."]
    text.append("Every cell, in percent: " + " / ".join(title for title, _ in MEASURES.values()) + ".")
    for workload, records, axis, preserve in figures(axes, sizes):
        rows = [lines(done, workload, records, axis, axes[axis], preserve, key) for _, key in MEASURES.values()]
        at = [i for i in range(len(axes[axis])) if any(row[i] is not None for row in rows[0].values())]
        if len(at) < 2:
            continue
        fixed = ", ".join(f"{name} = {value}" for name, value in USUAL.items() if name != axis)
        text += ["", f"**{workload}, {records:,} records, preserve={preserve}, against {axis}** ({fixed})", ""]
        text += [f"| {axis} | " + " | ".join(axes[axis][i] for i in at) + " |", "|---" * (len(at) + 1) + "|"]
        for scheme in SCHEMES:
            losses = [[row[scheme][i] for row in rows] for i in at]
            cells = [" / ".join("-" if x is None else f"{100 * x:.1f}" for x in row) for row in losses]
            text.append(f"| {scheme} | " + " | ".join(cells) + " |")
    return "\n".join(text) + "\n"


def figures(axes: dict, sizes: dict) -> list[tuple]:
    """Return workload, records, axis and preserve of every plot; against K' there are only sequences to preserve."""
    return [
        (workload, records, axis, preserve)
        for workload, records in sizes.items()
        for axis in axes
        for preserve in (("mfs",) if axis == "K'" else ("instances", "mfs"))
    ]


def plots(done: dict, axes: dict, sizes: dict, folder: Path) -> None:
    """Write one plot per workload, axis and kind of loss; what was not run is left out."""
    for workload, records, axis, preserve in figures(axes, sizes):
        title, key = MEASURES[preserve]
        rows = lines(done, workload, records, axis, axes[axis], preserve, key)
        at = [i for i in range(len(axes[axis])) if any(row[i] is not None for row in rows.values())]
        chart = Chart(
            title=f"{workload}: {title} against {axis}",
            kind="line",
            labels=tuple(axes[axis][i] for i in at),
            series=tuple(Series(name=name, values=tuple(row[i] for i in at)) for name, row in rows.items()),
            x_label=axis,
            percent=True,
        )
        if len(at) > 1:
            name = f"kcl-{workload}-{preserve}-{AXIS_FILES[axis]}.svg"
            write_chart(chart, folder / name)


if __name__ == "__main__":
    main()
