"""Routes from end to end: a network beside the data, points put on roads, slices, parts and dummies."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.cli import main
from wayveil.commands.read_table import read
from wayveil.engines.local import LocalEngine
from wayveil.errors import UsageError
from wayveil.model import Routes
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import NotPublished, publish
from wayveil.recipe.recipe import make_recipe


@pytest.fixture
def network(tmp_path: Path) -> Path:
    """Two ways out of one place: a-b-c and b-d, 1 km each, both directions."""
    places = {"a": (0, 0), "b": (1000, 0), "c": (2000, 0), "d": (1000, 1000)}
    lines = ["road,from_node,to_node,from_x,from_y,to_x,to_y"]
    for one, other in ("ab", "bc", "bd"):
        for f, t in ((one, other), (other, one)):
            lines.append(f"{f}{t},{f},{t},{places[f][0]},{places[f][1]},{places[t][0]},{places[t][1]}")
    path = tmp_path / "network.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def routes(tmp_path: Path, ways: list[tuple[str, str, int]]) -> Path:
    rows = [
        f"t{i},{who},{seq},{road},{t}" for i, (who, way, t) in enumerate(ways) for seq, road in enumerate(way.split())
    ]
    path = tmp_path / "routes.csv"
    path.write_text("\n".join(["traj_id,user_id,seq,road,t", *rows]) + "\n")
    return path


def recipe(path: Path, network: Path | None, out: Path, method: dict[str, Any], **more: Any) -> Any:
    return make_recipe(
        {
            "seed": 1,
            "input": {"path": str(path), **({"network": str(network)} if network else {})},
            "method": method,
            "output": {"path": str(out), "format": "csv", "keep_mapping": True},
            **more,
        }
    )


WAYS = [("1", "ab bc", 0), ("2", "ab bc", 5), ("3", "ab bc", 9), ("4", "ab bd", 3), ("5", "ab", 12), ("6", "ab bc", 14)]


def test_routes_become_shared_routes(tmp_path: Path, network: Path) -> None:
    path = routes(tmp_path, WAYS)
    outcome = publish(recipe(path, network, tmp_path / "out", {"name": "icba", "k": 3}))
    assert outcome.verdict.measured["inference_routes"] == 0
    assert (
        "No slices of time were asked for (step slices): all routes are taken to be of one, of multiples of 100."
        in outcome.notes
    )
    assert {"road_error", "traffic", "road_patterns"} <= {score.name for score in outcome.scores}
    assert {attack.name for attack, _ in outcome.attacks} == {"seen_on_roads", "inference_routes"}
    assert all(after.measured.get("identity_max", 0) <= 1 / 3 for _, after in outcome.attacks)
    followed = [pair for pair in outcome.attacks if pair[0].name == "inference_routes"]
    assert [result.measured["exposed_people"] for result in followed[0]] == [2, 0]
    published = read(tmp_path / "out")
    assert isinstance(published, Routes)
    assert {tuple(published.record(i)) for i in range(len(published))} == {("ab", "bc")}
    assert set(published.t_start.tolist()) == {0}
    assert set(published.t_end.tolist()) == {100}
    assert verify_folder(tmp_path / "out").failures == ()


def test_no_time_of_a_trip_that_was_left_out_is_published(tmp_path: Path, network: Path) -> None:
    path = tmp_path / "routes.csv"
    rows = [f"t{i},{i},0,ab,2024-05-0{2 + i % 2}T08:1{i}:00Z" for i in range(6)]
    odd = ["early,7,0,db,2024-05-02T03:17:43Z", "late,8,0,cb,2024-05-03T22:41:39Z", "alone,9,0,db,2024-05-09T05:06:07Z"]
    path.write_text("\n".join(["traj_id,user_id,seq,road,t", *rows, *odd[:2]]) + "\n")
    publish(recipe(path, network, tmp_path / "whole", {"name": "icba", "k": 3}))
    path.write_text("\n".join(["traj_id,user_id,seq,road,t", *rows, *odd]) + "\n")
    steps = {"prepare": [{"step": "slices", "width": "1d"}]}
    publish(recipe(path, network, tmp_path / "days", {"name": "icba", "k": 3}, **steps))
    for out in ("whole", "days"):
        written = "".join(file.read_text() for file in sorted((tmp_path / out / "public").iterdir()))
        assert "2024-05-02T00:00:00Z" in written
        assert not any(text in written for text in ("03:17", "22:41", "05:06", "08:1", "2024-05-09"))
    whole, days = read(tmp_path / "whole"), read(tmp_path / "days")
    day = 86_400_000_000
    assert {end - begin for begin, end in zip(whole.t_start.tolist(), whole.t_end.tolist(), strict=True)} == {2 * day}
    assert len(set(days.t_start.tolist())) == 2


def test_slices_keep_people_apart(tmp_path: Path, network: Path) -> None:
    path = routes(tmp_path, WAYS)
    steps = {"prepare": [{"step": "slices", "width": 10}]}
    outcome = publish(recipe(path, network, tmp_path / "out", {"name": "icba", "k": 3}, **steps))
    published = read(tmp_path / "out")
    assert set(zip(published.t_start.tolist(), published.t_end.tolist(), strict=True)) == {(0, 10)}
    assert outcome.verdict.measured["slices"] == 1
    with pytest.raises(NotPublished, match="no trajectory is left"):
        publish(recipe(path, network, tmp_path / "none", {"name": "icba", "k": 5}, **steps))


def test_dummies_have_no_input(tmp_path: Path, network: Path) -> None:
    path = routes(tmp_path, WAYS[:3])
    outcome = publish(recipe(path, network, tmp_path / "out", {"name": "icba", "k": 3, "pad": "yes"}))
    assert outcome.verdict.measured["dummies"] == 0
    with open(outcome.private / "mapping.csv", newline="") as file:
        assert sorted(row["input_id"] for row in csv.DictReader(file)) == ["t0", "t1", "t2"]


def test_verdict_and_attacks_count_dummies_alike(tmp_path: Path, network: Path) -> None:
    """Three of five on each route are people: no inference route for the verifier, and nobody exposed by the attack."""
    ways = [(str(i), "ab bc", 0) for i in range(3)] + [(str(i), "ab bd", 0) for i in range(3, 6)]
    ways += [(str(i), road, 0) for i in range(6, 11) for road in ("ab", "bc", "bd")]
    method = {"name": "icba", "k": 5, "pad": "yes", "rho_t": 1}
    outcome = publish(recipe(routes(tmp_path, ways), network, tmp_path / "out", method))
    assert (outcome.verdict.measured["dummies"], outcome.verdict.measured["min_people"]) == (4, 3)
    assert outcome.verdict.measured["inference_routes"] == 0
    measured = {after.name: after.measured for _, after in outcome.attacks}
    assert measured["inference_routes"]["exposed_people"] == 0
    assert measured["seen_on_roads"]["identity_max"] <= 1 / 5
    assert "at least 5 people and dummies, at least 3 of them people" in outcome.verdict.claim.promise


def test_one_person_with_two_hundred_trips_does_not_dominate(tmp_path: Path, network: Path) -> None:
    ways = [("often", "ab bc", i) for i in range(200)] + [(str(i), "ab bc", i) for i in range(3)]
    for method in ("icba", "cba", "prefix"):
        outcome = publish(recipe(routes(tmp_path, ways), network, tmp_path / method, {"name": method, "k": 2}))
        assert outcome.verdict.measured["max_owner_share"] <= 1 / 2
        assert outcome.verdict.measured["trajectories"] == 6
        before, after = next(pair for pair in outcome.attacks if pair[0].name == "seen_on_roads")
        assert before.measured["identity_max"] == 200 / 203
        assert after.measured["identity_max"] == 1 / 2


def test_points_are_put_on_roads(tmp_path: Path, network: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [
        f"p{i},{i},{t},{50 * t + rng.normal(0, 3):.1f},{rng.normal(0, 3):.1f}"
        for i in range(5)
        for t in range(0, 40, 2)
    ]
    path = tmp_path / "points.csv"
    path.write_text("\n".join(["traj_id,user_id,t,x,y", *rows]) + "\n")
    steps = {"prepare": [{"step": "match"}]}
    publish(recipe(path, network, tmp_path / "out", {"name": "icba", "k": 5}, **steps))
    published = read(tmp_path / "out")
    assert [published.record(i) for i in range(len(published))] == [["ab", "bc"]] * 5
    with pytest.raises(
        UsageError, match=r"puts points on roads, so the road network is needed: give it with --network"
    ):
        publish(recipe(path, None, tmp_path / "b", {"name": "icba", "k": 5}, **steps))


def test_points_in_pieces_are_put_on_the_same_roads(tmp_path: Path, network: Path) -> None:
    """The points of one piece are twenty times as noisy as those of the other."""
    rng = np.random.default_rng(5)
    header = "traj_id,user_id,t,x,y"
    pieces = [
        [
            f"p{who},{who},{t},{50 * t + rng.normal(0, noise):.1f},{rng.normal(0, noise):.1f}"
            for who in range(first, first + 6)
            for t in range(0, 40, 2)
        ]
        for first, noise in ((0, 1.0), (6, 20.0))
    ]
    (tmp_path / "whole.csv").write_text("\n".join([header, *pieces[0], *pieces[1]]) + "\n")
    (tmp_path / "pieces").mkdir()
    whole = pl.read_csv(tmp_path / "whole.csv")
    for number, rows in enumerate(pieces):
        part = whole[len(pieces[0]) * number :][: len(rows)]
        part.write_parquet(tmp_path / f"pieces/{number}.parquet")
    written = []
    for name in ("whole.csv", "pieces"):
        out = tmp_path / f"out-{name}"
        more = {
            "prepare": [{"step": "match"}, {"step": "slices", "width": 100}],
            "blocks": {"by": "slice", "rows": 20},
            "output": {"path": str(out), "format": "csv"},
        }
        content = recipe(tmp_path / name, network, out, {"name": "icba", "k": 5}, **more)
        publish(content, engine=LocalEngine(workers=1), secret=Secret(bytes(32)))
        written.append({path.name: path.read_bytes() for path in sorted((out / "public").iterdir())})
    assert written[0] == written[1]


def test_routes_need_their_network(tmp_path: Path, network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = routes(tmp_path, WAYS)
    asked = ["publish", "icba", str(path), "--k", "3", "--out", str(tmp_path / "out")]
    assert main(asked) == 2
    assert "give it with --network" in capsys.readouterr().err
    assert main([*asked, "--network", str(path)]) == 2
    assert "from_node" in capsys.readouterr().err
    assert main([*asked, "--network", str(network), "--k", "9"]) == 2
    path.write_text(path.read_text().replace(",bd,", ",nowhere,"))
    assert main([*asked, "--network", str(network)]) == 2
    assert "not in the network" in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_commands_read_routes(tmp_path: Path, network: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = routes(tmp_path, WAYS)
    assert main(["risk", str(path), "--network", str(network)]) == 0
    cut = tmp_path / "cut.csv"
    assert main(["prepare", "slices", str(path), "--network", str(network), "--width", "10", "--out", str(cut)]) == 0
    assert len(read(cut, network=network)) == 6
    assert (
        main(["publish", "prefix", str(path), "--network", str(network), "--k", "3", "--out", str(tmp_path / "o")]) == 0
    )
    assert main(["utility", str(path), str(tmp_path / "o"), "--network", str(network)]) == 0
    assert "road_error" in capsys.readouterr().out


def test_a_publication_that_names_other_ends_is_not_what_was_written(
    tmp_path: Path, network: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wayveil.errors import OutputError
    from wayveil.pipeline import readback

    real = readback.write_published

    def careless(data: Any, path: Path, **more: Any) -> Any:
        order = real(data, path, **more)
        path.write_text(path.read_text().replace(",ab,a,b,", ",ab,a,d,"))
        return order

    monkeypatch.setattr(readback, "write_published", careless)
    with pytest.raises(OutputError, match="does not read back"):
        publish(recipe(routes(tmp_path, WAYS), network, tmp_path / "out", {"name": "icba", "k": 3}))
