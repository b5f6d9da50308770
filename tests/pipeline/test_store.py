"""What a store returns is what was saved, in memory and on disk; what all blocks share is written once."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wayveil.model import Boxes, KAnonymity, MethodResult, Points, RoadNetwork, Routes, Stops, Taxonomy, Visits
from wayveil.pipeline.blocks.store import Disk, Memory, Store
from wayveil.pipeline.blocks.task_files import load_data, save, save_data

NETWORK = RoadNetwork.from_roads([(f"r{i}", f"n{i}", f"n{i + 1}") for i in range(500)])
TREE = Taxonomy.from_parents([("o", ""), ("a", "o"), ("s", "o")], sensitive=["s"])
DATA: list[Any] = [
    Visits.from_records([[("a", 1), ("b", 2)], []], attributes={"ill": ["yes", "no"]}),
    Points.from_records([[(0, 0.0, 1.0), (1, 1.0, 0.0)]], time_format="epoch"),
    Boxes.from_records([[(0, 1, 0.0, 2.0, 0.0, 1.0)]]),
    Routes.from_records([["r0", "r1"], ["r2"]], network=NETWORK),
    Stops.from_records([["a", "s"], ["a"]], taxonomy=TREE),
]


def same(one: Any, two: Any) -> bool:
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, two)) and not two.flags.writeable
    return repr(one) == repr(two)


@pytest.mark.parametrize("data", DATA, ids=lambda data: type(data).__name__)
def test_data_come_back_as_they_were(data: Any, tmp_path: Path) -> None:
    shared = getattr(data, "network", None) or getattr(data, "taxonomy", None)
    stores: list[Store] = [Memory(), Disk(folder=tmp_path)]
    save(shared, tmp_path / "shared.pickle")
    for store in stores:
        store.save(MethodResult(data=data, claim=KAnonymity(k=2), facts={"groups": 3}), "made/0")
        made = store.load("made/0")
        assert (made.claim, dict(made.facts)) == (KAnonymity(k=2), {"groups": 3})
        assert type(made.data) is type(data)
        for field in (field.name for field in fields(data) if field.init):
            one, two = getattr(data, field), getattr(made.data, field)
            assert same(one, two) or field in ("attributes", "network", "taxonomy")
        assert {name: column.values() for name, column in made.data.attributes.items()} == {
            name: column.values() for name, column in data.attributes.items()
        }


def test_what_all_blocks_share_is_in_one_file(tmp_path: Path) -> None:
    store = Disk(folder=tmp_path)
    save(NETWORK, tmp_path / "shared.pickle")
    (tmp_path / "prepared").mkdir()
    save_data(DATA[3], tmp_path / "prepared" / "0.pickle")
    assert load_data(tmp_path / "prepared" / "0.pickle", NETWORK).network is NETWORK
    data = store.load("prepared/0")
    store.save((data, data.take(np.array([0]))), "blocks/0")
    one, two = store.load("blocks/0")
    assert one.network is two.network is data.network
    sizes = {path.stem: path.stat().st_size for path in (*tmp_path.glob("*.pickle"), *tmp_path.glob("blocks/*.pickle"))}
    assert 3 * sizes["0"] < sizes["shared"]
    store.save(Routes.from_records([["x"]], network=RoadNetwork.from_roads([("x", "a", "b")])), "blocks/1")
    assert store.load("blocks/1").network.roads == ("x",)  # one that is not shared is written


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_names_are_in_order_and_folders_are_removed(kind: str, tmp_path: Path) -> None:
    store: Store = Memory() if kind == "memory" else Disk(folder=tmp_path)
    for number in (10, 2, 1):
        assert store.save(number, f"parts/7/{number:06d}") == f"parts/7/{number:06d}"
    store.save("other", "parts/70/000000")
    assert [store.load(name) for name in store.names("parts/7")] == [1, 2, 10]
    assert store.has("parts/7/000002")
    store.remove("parts/7")
    assert store.names("parts/7") == []
    assert not store.has("parts/7/000002")
    assert store.load("parts/70/000000") == "other"
    store.remove("nowhere")
