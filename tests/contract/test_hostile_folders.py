"""A small folder that somebody made on purpose keeps no judge busy: steps are counted, and it says where it stopped."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hostile import forge, make_folder

from wayveil.cli import main
from wayveil.errors import InputError, WorkLimitReached
from wayveil.methods import METHODS, Kcl
from wayveil.model import Boxes, CountTables, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.model.budget import limit_work
from wayveil.pipeline.folder.verify_folder import WORK_BASE, WORK_PER_BYTE, verify_folder
from wayveil.verifiers import VERIFIERS

LARGEST = 1 << 20
SMALL = Visits.from_records([[("a", 1), ("b", 2)]] * 2)
DRAW = random.Random(27)


def chain(n: int) -> Taxonomy:
    """A taxonomy that is one long branch, sensitive from the second node on."""
    nodes = [("r", ""), *((f"n{i}", f"n{i - 1}" if i > 1 else "r") for i in range(1, n))]
    return Taxonomy.from_parents(nodes, sensitive=["n2"])


def star(n: int) -> RoadNetwork:
    """So many roads to one place, and as many away from it."""
    return RoadNetwork.from_roads(
        [*((f"i{i}", f"a{i}", "hub") for i in range(n)), *((f"o{i}", "hub", f"b{i}") for i in range(n))]
    )


def long_sequences() -> Any:
    return Visits.from_records([[(f"p{i % 7}", i) for i in range(90)]] * 2), {"name": "kcl", "k": 2, "l": 8}


def one_long_trip() -> Any:
    return Visits.from_records([[("p", i) for i in range(20_000)]] * 2), {"name": "kcl", "k": 2, "l": 3}


def many_values(l: Any) -> Any:
    n = 10_000
    data = Visits.from_records([[("p", 1)]] * n, attributes={"ill": [f"v{i}" for i in range(n)]})
    return data, {"name": "kcl", "k": 2, "l": l, "c": "0.9", "sensitive": {"ill": [f"v{i}" for i in range(n)]}}


def many_adversaries() -> Any:
    n = 6_000
    data = Visits.from_records([[(f"p{i}", 1), (f"q{i % 50}", 2)] for i in range(n)])
    return data, {"name": "gsup", "p": "0.5", "adversaries": {f"a{i}": [f"p{i}"] for i in range(n)}}


def deep_tree() -> Any:
    return Stops.from_records([["n1", "n5"]] * 4, taxonomy=chain(20_000)), {"name": "cast", "c": "0.5", "m": 2}


def stops_down_a_tree(weights: str, n: int) -> Any:
    data = Stops.from_records([[f"n{i}" for i in range(1, n)]] * 4, taxonomy=chain(n))
    return data, {"name": "cast", "c": "1", "m": 2, "weights": weights}


def large_powers() -> Any:
    tree = [("r", ""), ("x", "r"), ("s", "r"), *((f"l{i}", "s") for i in range(9_000))]
    taxonomy = Taxonomy.from_parents(tree, sensitive=["s"])
    data = Stops.from_records([["x"] + ["s"] * (20_000 + i) for i in range(12)], taxonomy=taxonomy)
    return data, {"name": "cast", "c": "1", "m": 2, "weights": "uniform"}


def roads_of_a_star(method: str) -> Any:
    n = 7_000
    data = Routes.from_records([[f"i{i}", f"o{i}"] for i in range(n)] * 2, network=star(n))
    return data, {"name": method, "k": 2}


def routes_alike() -> Any:
    network = RoadNetwork.from_roads([(name, "n", "n") for name in "abc"])
    routes = [[DRAW.choice("abc") for _ in range(120)] for _ in range(2_500)]
    longer = [DRAW.choices("abc", k=1_500) for _ in range(2)]
    return Routes.from_records(routes + longer * 2, network=network), {"name": "prefix", "k": 2}


def curves_alike() -> Any:
    data = Points.from_records([[(0, 0.0, i * 1e-5), (1, 1e6 + i * 1e-4, 0.0)] for i in range(16_000)])
    return data, {"name": "nwa", "k": 2, "delta": 100}


def many_times() -> Any:
    return Points.from_records([[(i // 2, float(i % 2), 0.0)] for i in range(24_000)]), {
        "name": "nwa", "k": 2, "delta": 5,
    }  # fmt: skip


def boxes_apart() -> Any:
    return Boxes.from_records([[(i, i, float(i), float(i), 0.0, 0.0)] for i in range(9_000)] * 2), {
        "name": "tga", "k": 2,
    }  # fmt: skip


def declared_boxes() -> Any:
    data = Boxes.from_records([[(i, i, float(i), float(i), 0.0, 0.0)] for i in range(9_000)] * 2)
    return replace(data, declared=np.ones(data.n_rows, bool)), {"name": "qid", "k": 2, "cell": 5}


def many_hidden_cells() -> Any:
    """The totals of many zones and times, and not one cell."""
    zones: list[Any] = [(f"z{i:03d}", "", None, 120) for i in range(120)]
    times: list[Any] = [("", "", i, 120) for i in range(120)]
    table = CountTables.from_rows([("", "", None, 120 * 120), *zones, *times])
    return table, {"name": "counts", "k": 2, "margins": "yes"}


def many_numbers() -> Any:
    """As many numbers as fit; that many queries take work, too, is tested where they are judged."""
    table = CountTables.from_rows([(f"z{i:05d}", "", None, i) for i in range(40_000)])
    return table, {"name": "dp_counts", "epsilon": 1}


CASES: dict[str, tuple[Callable[[], Any], bool]] = {
    "KCL, long sequences": (long_sequences, True),
    "KCL, one long trip": (one_long_trip, True),
    "KCL, many values": (lambda: many_values(2), True),
    "KCL, many values of all sequences": (lambda: many_values("all"), True),
    "BreachBound, many adversaries": (many_adversaries, True),
    "CSafety, a deep tree": (deep_tree, True),
    "CSafety, stops down a tree": (lambda: stops_down_a_tree("worst", 9_000), True),
    "CSafety, uniform stops down a tree": (lambda: stops_down_a_tree("uniform", 4_000), True),
    "CSafety, large powers": (large_powers, True),
    "StrictK, a star": (lambda: roads_of_a_star("icba"), True),
    "SubsequenceK, a star": (lambda: roads_of_a_star("prefix"), True),
    "SubsequenceK, routes alike": (routes_alike, True),
    "KDelta, curves alike": (curves_alike, True),
    "KDelta, many times": (many_times, True),
    "KAnonymity, boxes apart": (boxes_apart, False),
    "AttackGraph, boxes apart": (declared_boxes, False),
    "Threshold, many hidden cells": (many_hidden_cells, True),
    "DifferentialPrivacy, many numbers": (many_numbers, False),
}


def test_every_claim_has_a_case() -> None:
    assert {name.partition(",")[0] for name in CASES} == set(VERIFIERS)


@pytest.mark.parametrize("case", CASES)
def test_judging_ends(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tenth of the usual steps, so that it takes a tenth of the time; all of them take some seconds at most."""
    monkeypatch.setattr("wayveil.pipeline.folder.verify_folder.WORK_BASE", WORK_BASE // 10)
    monkeypatch.setattr("wayveil.pipeline.folder.verify_folder.WORK_PER_BYTE", WORK_PER_BYTE // 10)
    make, stops = CASES[case]
    data, given = make()
    method = METHODS[given.pop("name")](**given)
    folder = make_folder(tmp_path / "public", data, method)
    size = sum(path.stat().st_size for path in folder.iterdir())
    assert size < LARGEST
    judgement = verify_folder(folder)
    told = [part for part in judgement.not_judged if "--work-limit" in part]
    assert bool(told) == stops
    if stops:
        assert judgement.holds is None
        assert judgement.exit_code == 3
        assert f"more than {WORK_BASE // 10 + WORK_PER_BYTE // 10 * size:,} steps" in told[0]
        assert judgement.verdict is None


def test_who_trusts_a_folder_allows_more_and_whoever_does_not_less(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_folder(tmp_path / "public", Visits.from_records([[("a", i) for i in range(40)]] * 2), Kcl(k=2, l=3))
    assert main(["verify", str(folder)]) == 0
    assert main(["verify", str(folder), "--work-limit", "5000000", "--json"]) == 3
    said = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert said["holds"] is None
    assert "more than 5,000,000 steps" in said["not_judged"][0]
    assert main(["verify", str(folder), "--work-limit", "5000000000"]) == 0
    assert main(["verify", str(folder), "--work-limit", "0"]) == 2


def test_what_is_wrong_is_told_even_where_the_rest_is_too_much(tmp_path: Path) -> None:
    data, given = long_sequences()
    folder = make_folder(tmp_path / "public", data, METHODS[given.pop("name")](**given))
    (folder / "notes.txt").touch()
    judgement = verify_folder(folder, work_limit=50_000_000)
    assert judgement.not_judged
    assert judgement.exit_code == 1
    assert "notes.txt" in judgement.failures[0]


def test_whoever_publishes_has_no_limit() -> None:
    data, _ = long_sequences()
    claim = METHODS["kcl"](k=2, l=3).claim
    with limit_work(1_000_000), pytest.raises(WorkLimitReached):
        VERIFIERS["KCL"](data, claim)
    assert VERIFIERS["KCL"](data, claim).holds


def test_a_table_is_not_unpacked_before_it_is_known_how_large_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make_folder(tmp_path / "public", SMALL, Kcl(k=2, l=2))
    path = folder / "published.parquet"
    rows = 10_000_000
    pl.DataFrame({"traj_id": pl.repeat("0" * 16, rows, eager=True), "t": pl.repeat(0, rows, eager=True),
                  "location": pl.repeat("x", rows, eager=True)}).write_parquet(path, row_group_size=rows)  # fmt: skip
    assert path.stat().st_size < LARGEST
    forge(folder)
    monkeypatch.setattr("wayveil.io.publish.published.open_table", lambda path: pytest.fail("it is read"))
    judgement = verify_folder(folder)
    assert judgement.exit_code == 3
    assert judgement.failures == ()


def test_the_end_of_a_parquet_file_is_not_believed(tmp_path: Path) -> None:
    """The heads of pages say how many rows there are; a footer that says less, or shares pages, helps nobody."""
    from wayveil.io.formats.parquet_footer import unpacked_bytes

    path = tmp_path / "a.parquet"
    rows = 100_000
    pl.DataFrame({"t": pl.repeat(7, rows, eager=True)}).write_parquet(path, row_group_size=rows)
    assert 16 * rows <= (unpacked_bytes(path) or 0) < 16 * rows + 100
    content = path.read_bytes()
    varint = bytes([2 * rows & 127 | 128, 2 * rows >> 7 & 127 | 128, 2 * rows >> 14])
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length :]
    assert varint in footer
    path.write_bytes(content[: -8 - length] + footer.replace(varint, bytes([0x82, 0x80, 0x00])))
    assert (unpacked_bytes(path) or 0) >= 16 * rows
    endless = b"\x19" + b"\xff" * 100_000
    path.write_bytes(b"PAR1" + endless + len(endless).to_bytes(4, "little") + b"PAR1")
    assert unpacked_bytes(path) is None


def parts(folder: Path) -> None:
    content = (folder / "published.csv").read_bytes()
    (folder / "published.csv").unlink()
    names = [f"published-{i + 1:05d}.csv" for i in range(2_000)]
    for name in names:
        (folder / name).write_bytes(content)

    def change(manifest: dict[str, Any]) -> None:
        manifest["files"] = dict.fromkeys(names)
        manifest["schema"]["parts"] = "each"
        manifest |= {"rows": 4 * len(names), "trajectories": 2 * len(names)}

    forge(folder, change)


def columns(folder: Path) -> None:
    names = [f"c{i}" for i in range(8_000)]
    header, *rows = (folder / "published.csv").read_text().splitlines()
    text = [f"{header},{','.join(names)}", *(row + "," * len(names) for row in rows)]
    (folder / "published.csv").write_text("\n".join(text) + "\n")
    forge(folder, lambda m: m["schema"]["columns"].extend({"name": name, "type": "text"} for name in names))


def header(folder: Path) -> None:
    (folder / "published.csv").write_text("traj_id,t,location" + ",a" * 400_000 + "\n")
    forge(folder)


def blank_lines(folder: Path) -> None:
    (folder / "published.csv").write_text("traj_id,t,location\n" + "\n" * 900_000)
    forge(folder)


def open_quotes(folder: Path) -> None:
    (folder / "published.csv").write_text("traj_id,t,location\n" + '"\n' * 400_000)
    forge(folder)


@pytest.mark.parametrize("change", [parts, columns, header, blank_lines, open_quotes])
def test_no_form_of_a_table_keeps_anybody_waiting(tmp_path: Path, change: Callable[[Path], None]) -> None:
    folder = make_folder(tmp_path / "public", SMALL, Kcl(k=2, l=2), form="csv")
    change(folder)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1.2 * LARGEST
    assert verify_folder(folder).exit_code in (1, 3)


def test_a_nested_or_endless_geojson_is_refused(tmp_path: Path) -> None:
    data = Points.from_records([[(0, 0.0, 0.0)]] * 2)
    folder = make_folder(tmp_path / "public", data, METHODS["nwa"](k=2, delta=5), form="csv")
    (folder / "published.csv").unlink()
    for inside in ("[" * 500_000 + "]" * 500_000, "[" + "1" * 1_000_000 + "]"):
        (folder / "published.geojson").write_text('{"type":"FeatureCollection","features":' + inside + "}")
        forge(folder, lambda manifest: manifest.update(files={"published.geojson": None}))
        assert any("nested too deeply" in failure for failure in verify_folder(folder).failures)


def test_a_huge_manifest_is_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "public", SMALL, Kcl(k=2, l=2))
    manifest = folder / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content + b" " * (8 << 20))
    with pytest.raises(InputError, match="is larger than 8,388,608 bytes"):
        verify_folder(folder)
    for inside in (b'"rows": ' + b"1" * 900_000, b'"rows": ' + b"[" * 900_000):
        manifest.write_bytes(content.replace(b'"rows": 4', inside, 1))
        with pytest.raises(InputError, match="not valid JSON"):
            verify_folder(folder)
