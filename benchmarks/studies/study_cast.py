"""What c-safety of visited places costs: Figures 4 to 16 of Monreale et al. (2011), on made-up trips and on check-ins.

    python benchmarks/studies/study_cast.py             all cells; tables to the work folder, plots to the docs
    python benchmarks/studies/study_cast.py --small     few cells on small data, printed only

The data: the presets milano and pisa of `errands`, and the check-ins that recipes/foursquare_nyc.toml reads and
prepares; without its files there are the presets only.

A verdict that fails, or a sensitive place that any attack infers with a probability above c, ends the study.  Finished
cells are kept in a file of the work folder, so that a study that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import time
from collections.abc import Callable
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import wayveil
from study_icba import named, standalone
from wayveil.attacks import KnownPlaces
from wayveil.engines import LocalEngine
from wayveil.methods import Cast
from wayveil.metrics import GeneralizationCost, SequentialPatterns
from wayveil.model import Chart, Series, Stops
from wayveil.model.data.ragged import trajectory_of_row
from wayveil.pipeline.input import load, prepare
from wayveil.recipe.recipe import load_recipe
from wayveil.verifiers import VERIFIERS
from wayveil.workloads import Errands

MS = (5, 10, 15, 20, 30, 40, 50)
CS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SUPPORTS = (0.0005, 0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.015, 0.02)
BOUNDS = (0.3, 0.6)  # those of Figures 12 to 15
DISTANCES = ("hops", "leaves")
SEEDS, SEEDS_MS = (1, 2, 3, 4, 5), (5, 15, 50)
SUPPORT, KNOWN, LONGEST = 0.008, 5, 10
POPULARITY = {"milano zipf 0": 0.0, "milano zipf 0.5": 0.5, "milano": 1.0, "milano zipf 1.5": 1.5}
PRESETS, CHECK_INS = ("milano", "pisa"), "foursquare_nyc"
FIGURES = {
    "milano": ("4, 5, 6", "12 and 14"),
    "pisa": ("9, 10, 11", "13 and 15"),
    CHECK_INS: ("4, 5, 6 for check-ins", "12 and 14 for check-ins"),
}
OF_PATTERNS = (
    "original", "published", "not of roots only", "without roots", "upper", "coverage", "lower", "distance H",
    "distance L",
)  # fmt: skip
OF_STOPS = (
    "at the root", "cost H", "cost L", "classes", "cut", "sensitive generalized", "sensitive left out", "largest P",
)  # fmt: skip
PARTS = {"original": "patterns_before", "published": "patterns_after", "upper": "patterns_covered_share_upper_bound",
         "coverage": "patterns_covered_share", "lower": "patterns_covered_share_lower_bound",
         "distance H": "hops_loss", "distance L": "leaves_loss"}  # fmt: skip
SHOWN: dict[str, tuple[str, dict[str, str]]] = {
    "patterns": ("patterns", {"original": "the data", "published": "{}", "without roots": "{}, no root"}),
    "coverage": ("coverage", {"coverage": "{}", "lower": "{}, lower bound"}),
    "distance": ("distance coefficients", {"distance H": "{}: H", "distance L": "{}: L"}),
}
ENGINE = LocalEngine(workers=1)


class Cell(NamedTuple):
    """One publication; `distance` is raw for the data as they are."""

    data: str
    distance: str = "hops"
    m: int = 15
    c: float = 0.3
    seed: int = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="few cells on small data, in under a minute")
    beside = Path(__file__).resolve().parents[2] / "recipes" / "foursquare_nyc.toml"
    parser.add_argument("--recipe", type=Path, default=beside, help="the recipe of the check-ins")
    parser.add_argument("--work", type=Path, default=Path("study_cast"), help="folder of the finished cells")
    parser.add_argument("--out", type=Path, default=Path("docs/research/studies"), help="folder of the plots")
    options = parser.parse_args()
    sets = ("small",) if options.small else PRESETS
    if load_recipe(options.recipe).input.path.exists() and not options.small:
        sets = (*sets, CHECK_INS)
    elif not options.small:
        print("The check-ins of New York are not here, so the study has the two presets only.")
    options.work.mkdir(parents=True, exist_ok=True)
    name = "small.jsonl" if options.small else "cells.jsonl"
    wanted = small_cells() if options.small else cells(sets)
    done = run(wanted, options.work / name, options.recipe, 500 if options.small else 10_000)
    report = tables(sets, wanted, done)
    print(report)
    if not options.small:
        (options.work / "tables.md").write_text(report, encoding="utf-8")
        options.out.mkdir(parents=True, exist_ok=True)
        plots(sets, done, options.out)


def cells(sets: tuple[str, ...]) -> list[Cell]:
    """Return the cells of all figures, each once."""
    found = []
    for data in sets:
        found.append(Cell(data, "raw", 0, 1.0))
        for distance in DISTANCES:
            found += [Cell(data, distance, m, c) for c in BOUNDS for m in MS]
            found += [Cell(data, distance, c=c) for c in CS]
    found += [Cell("milano", m=10, c=c) for c in CS]
    found += [cell for data in POPULARITY for cell in (Cell(data, "raw", 0, 1.0), Cell(data))]
    found += [
        Cell(data, distance, m, seed=seed)
        for data in PRESETS for distance in DISTANCES for m in SEEDS_MS for seed in SEEDS
    ]  # fmt: skip
    return list(dict.fromkeys(found))


def small_cells() -> list[Cell]:
    return [Cell("small", "raw", 0, 1.0), *(Cell("small", distance, m) for distance in DISTANCES for m in (5, 15))]


def run(wanted: list[Cell], path: Path, recipe: Path, attacks: int) -> dict[Cell, dict[str, Any]]:
    """Return what was measured per cell, from the file or by running."""
    done = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            done[Cell(*row["cell"])] = row
    for distance in DISTANCES:  # compiles the kernels before any clock starts
        measure(Cell("small", distance), recipe, 50)
    with path.open("a", encoding="utf-8") as out:
        for cell in wanted:
            if cell not in done:
                done[cell] = measure(cell, recipe, attacks)
                out.write(json.dumps(done[cell]) + "\n")
                out.flush()
    return done


def measure(cell: Cell, recipe: Path, attacks: int) -> dict[str, Any]:
    """Publish, verify, attack and measure one cell."""
    data = stops(cell.data, cell.seed, recipe)
    if cell.distance == "raw":
        return {"cell": cell, **shape(data), "disclosure": disclosure(cell, data, data, attacks)}
    # The reading of the paper: this is a study of it.  What the stricter default costs is in docs/methods/cast.md.
    paper = {"weights": "uniform", "row_share": 1, "place_people": 1}
    method = Cast(c=Fraction(str(cell.c)), m=cell.m, distance=cell.distance, **paper)  # type: ignore[arg-type]
    made: Any = None
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and sum(seconds) < 2):
        start = time.process_time()
        made = method.run(data, rng=np.random.default_rng(0), engine=ENGINE)
        seconds.append(time.process_time() - start)
    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=data)
    if not verdict.holds:
        raise SystemExit(f"the verdict failed for {cell}: {verdict.reason}")
    facts, cost = made.facts, GeneralizationCost().run(data, made.data).measured
    return {
        "cell": cell,
        "s": min(seconds),
        "groups": facts["groups"],
        "classes": facts["classes"],
        "cut": facts["trajectories cut"],
        "suppressed": facts["trajectories suppressed"],
        "at the root": facts["share of published stops at the root"],
        "cost H": cost["hops_loss"],
        "cost L": cost["leaves_loss"],
        "sensitive generalized": facts["sensitive stops generalized"] / max(1, int(data.sensitive.sum())),
        "sensitive left out": 1 - int(made.data.sensitive.sum()) / max(1, int(data.sensitive.sum())),
        "largest P": verdict.measured["max_probability"],
        "patterns": {str(support): patterns(data, made.data, support) for support in SUPPORTS},
        "disclosure": disclosure(cell, data, made.data, attacks),
    }


@functools.lru_cache(maxsize=3)
def stops(name: str, seed: int, recipe: Path) -> Stops:
    if name == CHECK_INS:
        said = load_recipe(recipe)
        loaded = load(said.input, attributes=(), kind="stops")
        return prepare(loaded, said.prepare, said.input).data  # type: ignore[return-value]
    if name in POPULARITY:
        errands = Errands(preset="milano", zipf=POPULARITY[name])
    else:
        errands = Errands(preset="milano", trajectories=600) if name == "small" else Errands(preset=name)
    return errands.generate(rng=np.random.default_rng(seed))


def shape(data: Stops) -> dict[str, Any]:
    """Return the size of the data, and how likely sensitive places are for whoever knows nothing of the person."""
    rows, tree, trip = data.n_rows, data.taxonomy, trajectory_of_row(data.offsets)
    secret = data.sensitive
    pairs = np.unique(np.stack([trip[secret], data.place[secret]]), axis=1)
    share = np.bincount(pairs[1], minlength=len(tree)) / len(data)
    used = int(tree.is_leaf[np.unique(data.place)].sum())
    return {
        "trajectories": len(data),
        "people": data.n_owners,
        "stops": rows / len(data),
        "sensitive stops": int(secret.sum()) / len(data),
        "places": int(tree.is_leaf.sum()),
        "places visited": used,
        "levels": tree.height,
        "nothing known, largest": float(share.max()),
        "nothing known, true": float(share[data.place[secret]].mean()),
    }


def patterns(data: Stops, published: Stops, support: float) -> dict[str, Any]:
    """Return numbers of patterns, coverage and distance coefficients for one support."""
    metric = SequentialPatterns(support=Fraction(str(support)), longest=LONGEST)
    count = max(2, ceil(metric.support * len(data)))
    at_root = published.place == published.taxonomy.root
    # A pattern without roots is one of the rest, one of roots only is one of the roots: others may lie between.
    all_of, rest, roots = (
        metric.run(data, side).measured for side in (published, published.where(~at_root), published.where(at_root))
    )
    if {found["min_support"] for found in (all_of, rest, roots)} != {count}:
        raise SystemExit(f"there are too many patterns to list with a support of {share(support)}")
    found = {name: all_of[key] for name, key in PARTS.items()}
    found["not of roots only"] = all_of["patterns_after"] - roots["patterns_after"]  # type: ignore[operator]
    found["without roots"] = rest["patterns_after"]
    return found


def disclosure(cell: Cell, data: Stops, target: Stops, attacks: int) -> dict[str, Any]:
    """Return the probabilities that the attacker infers, by number of known places; none may be above c."""
    attacker = KnownPlaces(stops=KNOWN, attacks=attacks)
    found = attacker.run(data, target, sensitive={}, rng=np.random.default_rng(0), engine=ENGINE).measured
    if (found["attribute_max"] or 0) > cell.c:
        raise SystemExit(f"a sensitive place was inferred with a probability above c: {cell}")
    keys = {"mean": "attribute_mean", "true": "attribute_true_mean", "max": "attribute_max",
            "trips": "mean_matching_trips"}  # fmt: skip
    ends = [f"_with_{n}_place{'s' if n > 1 else ''}" for n in range(1, KNOWN + 1)]
    return {name: [found[key + end] for end in ends] for name, key in keys.items()}


def tables(sets: tuple[str, ...], wanted: list[Cell], done: dict[Cell, dict[str, Any]]) -> str:
    """Return all numbers as tables."""
    version, python, cores = wayveil.__version__, platform.python_version(), os.cpu_count()
    text = [f"wayveil {version}, Python {python}, {cores} cores, {len(wanted)} cells.", ""]
    raw = [done[Cell(data, "raw", 0, 1.0)] for data in sets]
    shapes = [name for name in raw[0] if name not in ("cell", "disclosure")]
    text += table(["data", *shapes], [[data, *(number(row[name]) for name in shapes)]
                                      for data, row in zip(sets, raw, strict=True)])  # fmt: skip
    for data in sets:
        here = [cell for cell in wanted if cell.data == data and cell.distance != "raw" and cell.seed == 1]
        figures = FIGURES.get(data, ("4, 5, 6", "12"))
        by_m = [cell for cell in here if cell.c == 0.3]
        by_c = [cell for cell in here if cell.m == 15]
        for title, axis, rows in (
            (f"m** (c = 0.3, support = {share(SUPPORT)})", "m", [(named(cell.m), cell, SUPPORT) for cell in by_m]),
            (f"c** (m = 15, support = {share(SUPPORT)})", "c", [(named(cell.c), cell, SUPPORT) for cell in by_c]),
            ("support** (m = 15, c = 0.3)", "support",
             [(share(support), cell, support) for cell in by_m if cell.m == 15 for support in SUPPORTS]),
        ):  # fmt: skip
            text += ["", f"**Figures {figures[0]}, {data}: {title}", ""]
            ordered = sorted(rows, key=lambda row: (row[2], row[1].m, row[1].c))
            heads = [*OF_PATTERNS, *(() if axis == "support" else OF_STOPS)]
            text += table([axis, "groups by", *heads], [[label, cell.distance, *quality(done[cell], support, heads)]
                                                        for label, cell, support in ordered])  # fmt: skip
        text += ["", f"**Figures {figures[1]}, {data}: disclosure** (known places: 1 to {KNOWN})", ""]
        text += disclosure_table(data, here, done)
    timed = [cell for cell in wanted if cell.distance != "raw" and cell.seed == 1 and cell.data in sets]
    text += time_tables(timed, done)
    text += popularity_table(done)
    text += seed_table(wanted, done)
    return "\n".join(text) + "\n"


def quality(row: dict[str, Any], support: float, heads: list[str]) -> list[str]:
    values = {**row, **row["patterns"][str(support)]}
    return [number(values[head]) for head in heads]


def disclosure_table(data: str, here: list[Cell], done: dict[Cell, dict[str, Any]]) -> list[str]:
    order = sorted((cell for cell in here if cell.c in BOUNDS), key=lambda cell: (cell.distance, cell.c, cell.m))
    rows = []
    for cell in (Cell(data, "raw", 0, 1.0), *order):
        found = done[cell]["disclosure"]
        columns = [found["true"], found["mean"], found["max"]]
        label = ["raw", "", ""] if cell.distance == "raw" else [cell.distance, named(cell.c), named(cell.m)]
        values = [number(value) for column in columns for value in column]
        rows.append([*label, *values, number(found["trips"][0]), number(found["trips"][-1])])
    heads = [f"{name} {n}" for name in ("true", "any", "max") for n in range(1, KNOWN + 1)]
    return table(["groups by", "c", "m", *heads, "trips 1", f"trips {KNOWN}"], rows)


def time_tables(timed: list[Cell], done: dict[Cell, dict[str, Any]]) -> list[str]:
    """Return processor seconds by m and by c."""
    text = []
    for axis, fixed, chosen in (
        ("m", "c = 0.3", [cell for cell in timed if cell.c == 0.3]),
        ("c", "m = 10, milano, hops", [cell for cell in timed if cell.m == 10 and cell.c in CS and
                                       (cell.data, cell.distance) == ("milano", "hops")]),
        ("c", "m = 15", [cell for cell in timed if cell.m == 15]),
    ):  # fmt: skip
        values = sorted({getattr(cell, axis) for cell in chosen})
        lines = dict.fromkeys((cell.data, cell.distance) for cell in chosen)
        if len(values) < 2:
            continue
        rows = [
            [*line, *(f"{done[cell]['s']:.3f}" for v in values for cell in chosen
                      if (cell.data, cell.distance, getattr(cell, axis)) == (*line, v))]
            for line in lines
        ]  # fmt: skip
        text += ["", f"**Figure 16: seconds by {axis}** ({fixed})", ""]
        text += table(["data", "groups by", *(f"{axis} = {v:g}" for v in values)], rows)
    return text


def popularity_table(done: dict[Cell, dict[str, Any]]) -> list[str]:
    """Return what is inferred where sensitive places are more or less equally popular."""
    rows = []
    for data, zipf in POPULARITY.items():
        raw, row = done.get(Cell(data, "raw", 0, 1.0)), done.get(Cell(data))
        if raw and row:
            found = row["disclosure"]
            values = [raw["nothing known, true"], found["true"][0], found["true"][-1], raw["nothing known, largest"],
                      found["mean"][0], max(found["max"])]  # fmt: skip
            rows.append([f"{zipf:g}", *(number(value) for value in values)])
    heads = ["zipf", "nothing known, true", "true 1", f"true {KNOWN}", "nothing known, largest", "any 1", "max"]
    title = "**How popular places are** (milano, groups by hops, m = 15, c = 0.3)"
    return ["", title, "", *table(heads, rows)] if rows else []


def seed_table(wanted: list[Cell], done: dict[Cell, dict[str, Any]]) -> list[str]:
    """Return means over the data of several seeds, with the smallest and the largest value."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for cell in wanted:
        if cell.c == 0.3 and cell.m in SEEDS_MS and cell.data in PRESETS:
            groups.setdefault((cell.data, cell.distance, cell.m), []).append(done[cell])
    if not groups:
        return []
    heads: dict[str, Callable[[dict[str, Any]], float]] = {
        head: functools.partial(lambda row, head: row["patterns"][str(SUPPORT)][head], head=head)
        for head in ("original", "published", "without roots", "coverage", "lower", "distance H", "distance L")
    }
    heads |= {f"true {n}": functools.partial(lambda row, n: row["disclosure"]["true"][n - 1], n=n) for n in (1, KNOWN)}
    rows = []
    for label, found in sorted(groups.items()):
        values = [[value(row) for row in found] for value in heads.values()]
        shown = [f"{number(float(np.mean(v)))} ({number(min(v))} to {number(max(v))})" for v in values]
        rows.append([label[0], named(label[2]), label[1], *shown])
    title = f"**Seeds {SEEDS[0]} to {SEEDS[-1]} of the presets** (c = 0.3, support = {share(SUPPORT)}; mean, range)"
    return ["", title, "", *table(["data", "m", "groups by", *heads], rows)]


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    return [
        "| " + " | ".join(heads) + " |",
        "|---" * len(heads) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def share(value: float) -> str:
    return f"{100 * value:g} %"


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if isinstance(value, int) or value >= 10 else f"{value:.3f}"


def plots(sets: tuple[str, ...], done: dict[Cell, dict[str, Any]], folder: Path) -> None:
    """Write the plots."""
    for data in sets:
        for axis, values, of in (
            ("m", MS, f"{data}, c = 0.3, support {share(SUPPORT)}"),
            ("c", CS, f"{data}, m = 15, support {share(SUPPORT)}"),
            ("support", SUPPORTS[2:], f"{data}, m = 15, c = 0.3"),  # those of the paper
        ):
            labels = [share(v) if axis == "support" else named(v) for v in values]
            for kind, (title, keys) in SHOWN.items():
                lines = {
                    word.format(distance): [point(done, data, distance, axis, v, key) for v in values]
                    for key, word in keys.items()
                    for distance in DISTANCES
                }
                if kind != "patterns" or axis != "c":  # as in the paper: c hardly changes their number
                    save(folder / f"cast-{data}-{kind}-{axis}.svg", f"{title}: {of}", axis, labels, lines)
        known = [str(n) for n in range(1, KNOWN + 1)]
        found = {f"hops, m = {m}": done[Cell(data, m=m)]["disclosure"]["true"] for m in (5, 50)}
        found = {"the data": done[Cell(data, "raw", 0, 1.0)]["disclosure"]["true"], **found}
        title = f"mean probability of a true place: {data}, c = 0.3"
        save(folder / f"cast-{data}-disclosure.svg", title, "known places", known, found)
        for distance in DISTANCES:
            for c in BOUNDS:
                found = {f"m = {m}": done[Cell(data, distance, m, c)]["disclosure"]["true"] for m in (5, 15, 30, 50)}
                title = f"mean probability of a true place: {data}, {distance}, c = {c:g}"
                name = f"cast-{data}-disclosure-{distance}-c{10 * c:.0f}.svg"
                save(folder / name, title, "known places", known, found)
    by_m, by_c = ([done[cell]["s"] for cell in line] for line in ([Cell("milano", m=m) for m in MS],
                                                                  [Cell("milano", m=10, c=c) for c in CS]))  # fmt: skip
    title = "processor seconds: milano, groups by hops"
    save(folder / "cast-milano-time-m.svg", f"{title}, c = 0.3", "m", [named(m) for m in MS], {"hops": by_m})
    save(folder / "cast-milano-time-c.svg", f"{title}, m = 10", "c", [named(c) for c in CS], {"hops": by_c})


def save(path: Path, title: str, x_label: str, labels: list[str], lines: dict[str, list[float]]) -> None:
    series = tuple(Series(name=name, values=tuple(values)) for name, values in lines.items())
    percent = title.startswith("coverage")
    chart = Chart(title=title, kind="line", labels=tuple(labels), series=series, x_label=x_label, percent=percent)
    path.write_text(standalone(chart), encoding="utf-8")


def point(done: dict[Cell, dict[str, Any]], data: str, distance: str, axis: str, value: float, key: str) -> float:
    base = Cell(data, distance)
    change: dict[str, Any] = {axis: value}
    cell, support = (base, value) if axis == "support" else (base._replace(**change), SUPPORT)
    found: float = done[cell]["patterns"][str(support)][key]
    return found


if __name__ == "__main__":
    main()
