"""What strict k-anonymity of routes costs: Figures 8 to 19 of Gurung et al. (2014) on made-up trips.

    python benchmarks/studies/study_icba.py --oldenburg FOLDER/OL    all cells; plots go to docs/research/studies
    python benchmarks/studies/study_icba.py                          the same without the map of Oldenburg
    python benchmarks/studies/study_icba.py --small                  few cells on small data, printed only

Methods: icba, cba and prefix with their defaults; icba-padded fills clusters up with dummies, as the paper does;
icba-printed does so, too, and takes the local error of the paper as printed; prefix-own has `reattach` = prefix;
icba-rho25 has `rho_c` = 25 for any k; icba-ctree and icba-none have another `index`.

Trips are those of `road_movers`, all in one slice of time, one trip per person; its parameter `wander` decides how
alike they are: 0.02 is the shortest ways to popular places with few random turns, 1 are random walks.

One failed verdict, an inference route of icba or cba, or a person who is found with a probability above 1/k ends the
study.  Finished cells are kept in a file of the work folder, so that a study that was interrupted goes on where it
stopped.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import wayveil
from printed_methods import PrintedIcba
from study_chart import write_chart
from wayveil.attacks import SeenOnRoads
from wayveil.engines import LocalEngine
from wayveil.methods import Cba, Icba, Prefix
from wayveil.metrics import RoadError, RoadPatterns, Traffic
from wayveil.model import Chart, Routes, Series
from wayveil.verifiers import VERIFIERS
from wayveil.verifiers.common.inferred_routes import RouteGroups, find_inference_routes
from wayveil.workloads import RoadMovers

OBJECTS, KS, LENGTHS = (5_000, 10_000, 50_000, 100_000), (5, 10, 20, 50), (5, 10, 20)
STREETS = (209, 434, 550, 874, 1_689)  # those of the maps of Figure 19
WANDERS = (0.0, 0.02, 0.1, 0.3, 1.0)
ALIKE, WALKS = 0.02, 1.0
COMPARED = ("icba", "cba", "prefix")
VARIANTS = ("icba-padded", "icba-printed", "prefix-own")
METHODS: dict[str, Any] = {
    "icba": Icba,
    "cba": Cba,
    "prefix": Prefix,
    "icba-padded": functools.partial(Icba, pad="yes"),
    "icba-printed": functools.partial(PrintedIcba, pad="yes"),
    "prefix-own": functools.partial(Prefix, reattach="prefix"),
    "icba-rho25": functools.partial(Icba, rho_c=25),
    "icba-ctree": functools.partial(Icba, index="ctree"),
    "icba-none": functools.partial(Icba, index="none"),
}
INDEXES = {"inverted": "icba", "ctree": "icba-ctree", "none": "icba-none"}
HEADS = (
    "error", "deviation", "frequent roads lost", "traffic changed", "F", "F, half", "left out", "inference routes",
    "seen, largest", "whole, largest", "whole, mean", "whole, smallest", "s",
)  # fmt: skip
ENGINE = LocalEngine(workers=1)


class Cell(NamedTuple):
    """One run; `town` is a number of streets of a random map, or the name of a real one."""

    town: str
    wander: float
    objects: int = 50_000
    length: int = 10
    k: int = 10
    method: str = "icba"


class Table(NamedTuple):
    """The cells of one figure: one row per value and method."""

    title: str
    axis: str
    cells: list[Cell]
    heads: tuple[str, ...] = HEADS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="few cells on small data, in under a minute")
    parser.add_argument("--oldenburg", default="", metavar="FOLDER/OL", help="the map without .cnode.txt, .cedge.txt")
    parser.add_argument("--work", type=Path, default=Path("study_icba"), help="folder of the finished cells")
    parser.add_argument("--out", type=Path, default=Path("docs/research/studies"), help="folder of the plots")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no cell after so many minutes")
    options = parser.parse_args()
    wanted = small_figures() if options.small else figures(bool(options.oldenburg))
    options.work.mkdir(parents=True, exist_ok=True)
    done = run(wanted, options.work / "cells.jsonl", options.oldenburg, options.minutes)
    report = tables(wanted, done)
    print(report)
    if not options.small:
        (options.work / "tables.md").write_text(report, encoding="utf-8")
        options.out.mkdir(parents=True, exist_ok=True)
        plots(done, options.out)


def figures(oldenburg: bool) -> list[Table]:
    """Return the tables of the study; cells that occur in several are run once."""
    found = []
    for town in ("700", "oldenburg") if oldenburg else ("700",):
        data = "8, 10, 11, 12" if town == "700" else "15, 16"
        for wander in (ALIKE, WALKS):
            base = Cell(town, wander)
            methods = (*COMPARED, *VARIANTS) if town == "700" else COMPARED
            found.append(grid(f"Figures {data}", base, "objects", OBJECTS, methods))
            by_k = (*COMPARED, "icba-rho25") if base == Cell("700", WALKS) else COMPARED
            found.append(grid(f"Figure {'13' if town == '700' else '17'}", base, "k", KS, by_k))
            found.append(grid(f"Figure {'14' if town == '700' else '18'}", base, "length", LENGTHS, COMPARED))
    for wander in (ALIKE, WALKS):
        found.append(grid("Figure 19", Cell("", wander), "town", tuple(str(n) for n in STREETS), COMPARED))
    found.append(grid("How alike trips are", Cell("700", 0, 100_000), "wander", WANDERS, (*COMPARED, *VARIANTS)))
    for wander in (ALIKE, WALKS):
        index = grid("Figure 9", Cell("700", wander), "objects", OBJECTS[1:], tuple(INDEXES.values()))
        found.append(index._replace(heads=("error", "deviation", "routes", "s")))
    return found


def small_figures() -> list[Table]:
    base = Cell("209", ALIKE)
    return [
        grid("Figures 8, 10, 11, 12", base, "objects", (1_000, 5_000), (*COMPARED, *VARIANTS)),
        grid("Figure 9", base, "objects", (5_000,), tuple(INDEXES.values())),
    ]


def grid(figure: str, base: Cell, axis: str, values: tuple, methods: tuple[str, ...]) -> Table:
    cells = [base._replace(**{axis: value, "method": method}) for value in values for method in methods]
    names = {"town": "map", "length": "mean trip length", "k": "k", "objects": "objects", "wander": "wander"}
    street = "" if base.town == "oldenburg" else " streets"
    fixed = [
        f"{names[name]} = {value:,}{street if name == 'town' else ''}" if isinstance(value, int) else
        f"{names[name]} = {value}{street if name == 'town' else ''}"
        for name, value in base._asdict().items() if name not in (axis, "method")
    ]  # fmt: skip
    return Table(f"{figure}: {names[axis]}** ({', '.join(fixed)})", axis, cells)


def run(wanted: list[Table], path: Path, oldenburg: str, minutes: float) -> dict[Cell, dict]:
    """Return what was measured per cell, from the file or by running."""
    done = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            done[Cell(*row["cell"])] = row
    todo = [cell for cell in dict.fromkeys(cell for table in wanted for cell in table.cells) if cell not in done]
    end = time.monotonic() + 60 * minutes
    for name in dict.fromkeys(cell.method for cell in todo):  # compiles the kernels before any clock starts
        measure(Cell("20", ALIKE, objects=300, k=2, method=name), "")
    with path.open("a", encoding="utf-8") as out:
        for cell in todo:
            if time.monotonic() > end:
                break
            done[cell] = measure(cell, oldenburg)
            out.write(json.dumps(done[cell]) + "\n")
            out.flush()
    return done


def measure(cell: Cell, oldenburg: str) -> dict:
    """Run, verify, attack and measure one cell."""
    data = trips(cell.town, cell.wander, cell.objects, cell.length, oldenburg)
    method = METHODS[cell.method](k=cell.k)
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and sum(seconds) < 2):
        start = time.process_time()
        made = method.run(data, rng=np.random.default_rng(0), engine=ENGINE)
        seconds.append(time.process_time() - start)
    published = made.data
    error = RoadError(k=cell.k).run(data, published).measured
    patterns = RoadPatterns(min_support=cell.k).run(data, published).measured
    row = {
        "cell": cell,
        "different": len(RouteGroups.of(data)),
        "s": min(seconds),
        "error": error["error_rate_frequent_roads"],
        "deviation": error["error_rate_deviation_frequent_roads"],
        "frequent roads": error["roads_frequent"],
        "frequent roads lost": error["frequent_roads_lost_share"],
        "traffic changed": Traffic().run(data, published).value,
        "F": patterns["f_measure"],
        "F, half": patterns["f_measure_half_match"],
        "left out": made.facts["parts left out"] / max(1, made.facts["parts"]),
    }
    if published.n_rows:  # of nothing there is nothing to judge
        row |= privacy(cell, data, made)
    return row


def privacy(cell: Cell, data: Routes, made: Any) -> dict:
    """Return the findings of verifier and attacker; what must not be ends the study."""
    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=data)
    if not verdict.holds:
        raise SystemExit(f"the verdict failed for {cell}: {verdict.reason}")
    padded = getattr(made.claim, "pad", "no") == "yes"
    count: Any = "trajectories" if padded else "people"
    routes = find_inference_routes(made.data, cell.k, count=count).intersections
    if routes and made.claim.name == "StrictK":
        raise SystemExit(f"there are inference routes: {cell}")
    attacker = SeenOnRoads(roads=2, choice="worst", victims=1000)
    found = attacker.run(data, made.data, sensitive={}, rng=np.random.default_rng(0), engine=ENGINE).measured
    if (
        found["identity_max"] or 0
    ) * cell.k > 1 + 1e-9 and not padded:  # dummies may stand beside two parts of one person
        raise SystemExit(f"somebody was found with a probability above 1/k: {cell}")
    people = RouteGroups.of(made.data, count=count).people
    return {
        "inference routes": routes,
        "seen, largest": found["identity_max"],
        "whole, largest": 1 / int(people.min()),
        "whole, mean": float(np.mean(1 / people)),
        "whole, smallest": 1 / int(people.max()),
        "routes": len(people),
    }


@functools.lru_cache(maxsize=2)
def trips(town: str, wander: float, objects: int, length: int, oldenburg: str) -> Routes:
    """Return trips in one slice of time; the same seed gives the same map for any number of them."""
    place = {"network": oldenburg} if town == "oldenburg" else {"roads": int(town)}
    movers = RoadMovers(objects=objects, trip_length=length, wander=wander, **place)
    data = movers.generate(rng=np.random.default_rng(1))
    begin, end = (np.full(len(data), t) for t in (data.t.min(), data.t.max()))
    return replace(data, t_start=begin, t_end=end)


def tables(wanted: list[Table], done: dict[Cell, dict]) -> str:
    """Return one table per figure; a cell that was not run is left out."""
    cells = {cell for table in wanted for cell in table.cells if cell in done}
    version, python, cores = wayveil.__version__, platform.python_version(), os.cpu_count()
    text = [f"wayveil {version}, Python {python}, {cores} cores, {len(cells)} runs."]
    for table in wanted:
        rows = [cell for cell in table.cells if cell in done]
        if not rows:
            continue
        kinds = dict.fromkeys((getattr(cell, table.axis), done[cell]["different"]) for cell in rows)
        text += ["", f"**{table.title}", ""]
        text += ["Different trips: " + ", ".join(f"{n:,} ({named(value)})" for value, n in kinds) + ".", ""]
        text += ["| " + " | ".join([table.axis, "method", *table.heads]) + " |", "|---" * (len(table.heads) + 2) + "|"]
        for cell in rows:
            values = [shown(head, done[cell].get(head)) for head in table.heads]
            text.append("| " + " | ".join([named(getattr(cell, table.axis)), cell.method, *values]) + " |")
    return "\n".join(text) + "\n"


def named(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:g}"


def shown(head: str, value: float | None) -> str:
    if value is None:
        return "-"
    if head in ("inference routes", "routes"):
        return f"{value:,}"
    if head == "s":
        return f"{value:.3g}"
    if head.startswith(("seen", "whole")):
        return "1" if value == 1 else f"1/{1 / value:,.0f}"
    return f"{100 * value:.1f} %"


def plots(done: dict[Cell, dict], folder: Path) -> None:
    """Write the plots of which all numbers are there."""
    for wander, word in ((ALIKE, "alike"), (WALKS, "walks")):
        base = Cell("700", wander)
        of = f"700 streets, wander = {wander:g}"
        methods = {name: name for name in (*COMPARED, *VARIANTS[:2])}
        shapes = {"error": "error over frequent roads", "F": "F-measure"}
        if wander == ALIKE:  # prefix leaves hardly anything of walks that could have one
            shapes["inference routes"] = "intersections with an inference route"
        for key, title in shapes.items():
            name = f"icba-{word}-{key.split()[0].lower()}-objects.svg"
            line_plot(folder / name, done, base, "objects", OBJECTS, methods, key, f"{title}, {of}")
        compared = {name: name for name in COMPARED}
        title = f"error over frequent roads, 50,000 objects, {of}"
        line_plot(folder / f"icba-{word}-error-k.svg", done, base, "k", KS, compared, "error", title)
        title = f"processor seconds of icba by index, {of}"
        line_plot(folder / f"icba-{word}-index.svg", done, base, "objects", OBJECTS[1:], INDEXES, "s", title)
    title = "error over frequent roads, 100,000 objects, 700 streets"
    methods = {name: name for name in (*COMPARED, *VARIANTS[:2])}
    line_plot(folder / "icba-wander.svg", done, Cell("700", 0, 100_000), "wander", WANDERS, methods, "error", title)


def line_plot(
    path: Path, done: dict, base: Cell, axis: str, values: tuple, methods: dict, key: str, title: str
) -> None:
    lines = [
        Series(
            name=name,
            values=tuple(done.get(base._replace(**{axis: v, "method": method}), {}).get(key) for v in values),
        )
        for name, method in methods.items()
    ]
    chart = Chart(
        title=title,
        kind="line",
        labels=tuple(named(v) for v in values),
        series=tuple(lines),
        x_label=axis,
        percent=key in ("error", "F"),
    )
    if all(any(value is not None for value in line.values) for line in lines):
        write_chart(chart, path)


if __name__ == "__main__":
    main()
