"""What aligned groups of `cast` keep: own places, own kinds and flows, on made-up trips, check-ins and real venues.

    python benchmarks/studies/study_cast_alignment.py

The rows of the table in docs/methods/cast.md.  The check-ins are those of recipes/foursquare_nyc.toml; venues are the
same with each position of a kind as a leaf below it.  Without the files there is the preset milano of `errands` only.
A verdict that fails ends the study.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from wayveil.engines import LocalEngine
from wayveil.methods import Cast
from wayveil.model import Stops
from wayveil.model.data.ragged import BoolArray, trajectory_of_row
from wayveil.pipeline.input import load, prepare
from wayveil.recipe.recipe import Recipe, load_recipe
from wayveil.verifiers import VERIFIERS
from wayveil.workloads import Errands

RECIPE = Path(__file__).parents[2] / "recipes" / "foursquare_nyc.toml"
CELLS = (("0.3", 5), ("0.3", 15), ("0.1", 5))
WAYS = (("position", "hops"), ("order", "hops"), ("order", "leaves"))
TOP = 20


def main() -> None:
    print("| data | c | m | alignment, distance | trips | stops | own places | own kinds | flows | sensitive stops |")
    print("|" + "---|" * 10)
    for name, data, kinds in tables():
        for c, m in CELLS:
            for alignment, distance in WAYS:
                method = Cast(c=c, m=m, alignment=alignment, distance=distance)
                row = measure(method, data, kinds)
                print(f"| {name} | {c} | {m} | {alignment}, {distance} | " + " | ".join(row) + " |", flush=True)


def tables() -> Iterator[tuple[str, Stops, BoolArray]]:
    """Yield data with a name, and which nodes of the taxonomy are kinds of places."""
    milano = Errands(preset="milano", trajectories=6225).generate(rng=np.random.default_rng(1))
    yield "milano", milano, milano.taxonomy.n_leaves == 1
    recipe = load_recipe(RECIPE)
    if not recipe.input.path.exists():
        return
    check_ins = read(recipe)
    yield "check-ins", check_ins, check_ins.taxonomy.n_leaves == 1
    with tempfile.TemporaryDirectory() as folder:
        venues = read(with_venues(recipe, check_ins, Path(folder)))
    is_venue = np.array([" @ " in node for node in venues.taxonomy.nodes])
    kinds = is_venue.copy()
    kinds[venues.taxonomy.parent[is_venue]] = True
    yield "venues", venues, kinds


def read(recipe: Recipe) -> Stops:
    data = prepare(load(recipe.input, attributes=()), recipe.prepare, recipe.input).data
    assert isinstance(data, Stops)
    return data


def with_venues(recipe: Recipe, kinds: Stops, folder: Path) -> Recipe:
    """Write the table and the taxonomy with positions as leaves; return a recipe that reads them."""
    tree = kinds.taxonomy
    venue = pl.format("{} @ {}", "type", "lat_lon").alias("place")
    table = pl.read_csv(recipe.input.path).filter(pl.col("type").is_in(tree.nodes)).with_columns(venue)
    table.select("tid", "date_time", "place").write_csv(folder / "stops.csv")
    leaves = table.select("place", "type").unique(maintain_order=True)
    above = ["" if p < 0 else tree.nodes[p] for p in tree.parent.tolist()]
    said = ["yes" if node in recipe.input.sensitive_nodes else "" for node in tree.nodes]
    rows = pl.DataFrame({"node": tree.nodes, "parent": above, "sensitive": said})
    more = leaves.select(pl.col("place").alias("node"), pl.col("type").alias("parent"), pl.lit("").alias("sensitive"))
    pl.concat([rows, more]).write_csv(folder / "taxonomy.csv")
    columns = {**recipe.input.columns, "place": "place"}
    spec = recipe.input.model_copy(
        update={
            "path": folder / "stops.csv",
            "taxonomy": folder / "taxonomy.csv",
            "columns": columns,
            "sensitive_nodes": (),
        }
    )
    return recipe.model_copy(update={"input": spec})


def measure(method: Cast, data: Stops, kinds: BoolArray) -> list[str]:
    made = method.run(data, rng=np.random.default_rng(0), engine=LocalEngine())
    verdict = VERIFIERS[made.claim.name](made.data, made.claim, original=data)
    if not verdict.holds:
        sys.exit(f"the verdict failed: {verdict.reason}")
    assert isinstance(made.data, Stops)
    node = made.data.place
    harmless = ~data.taxonomy.sensitive[node]
    n = int((~data.sensitive).sum())
    own = int((harmless & (data.taxonomy.n_leaves[node] == 1)).sum())
    kind = int((harmless & kinds[node]).sum())
    places = set(data.place.tolist())
    before = [step for step, _ in steps(data).most_common(TOP)]
    after = [step for step, _ in steps(made.data).most_common() if set(step) <= places][:TOP]
    return [
        f"{made.facts['trajectories published']:,}", f"{made.facts['stops published']:,}", f"{own / n:.1%}",
        f"{kind / n:.1%}", f"{len(set(before) & set(after))}", f"{int((~harmless).sum()):,}",
    ]  # fmt: skip


def steps(data: Stops) -> Counter[tuple[int, int]]:
    """Count the steps from one stop to the next."""
    trajectory = trajectory_of_row(data.offsets)
    same = trajectory[1:] == trajectory[:-1]
    return Counter(zip(data.place[:-1][same].tolist(), data.place[1:][same].tolist(), strict=True))


if __name__ == "__main__":
    main()
