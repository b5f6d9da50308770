"""Routes from and to files: order, times, gaps, and one clear sentence for bad input."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, OutputError
from wayveil.io.publish.published import write_published
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.route_tables import read_routes as read_routes_asking
from wayveil.io.read.route_tables import write_routes
from wayveil.io.tabular.columns import ReadOptions
from wayveil.io.tabular.detect import guess_kind
from wayveil.model import Coded, RoadNetwork, Routes


def read_routes(path: str | Path, network: RoadNetwork, options: ReadOptions | None = None, **how: Any) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_routes_asking(path, network, replace(options or ReadOptions(), owners="not-asked"), **how)


NETWORK = RoadNetwork.from_roads(
    [("ab", "a", "b"), ("bc", "b", "c"), ("ba", "b", "a"), ("ab2", "a", "b"), ("bb", "b", "b"), ("7", "c", "a")]
)


def read(folder: Path, text: str, **options: object) -> Loaded:
    (folder / "r.csv").write_text(text)
    return read_routes(folder / "r.csv", NETWORK, ReadOptions(**options))  # type: ignore[arg-type]


def routes(loaded: Loaded) -> Routes:
    data = loaded.data
    assert isinstance(data, Routes)
    return data


def records(data: Routes) -> list[list[str]]:
    return [data.record(i) for i in range(len(data))]


def test_rows_are_sorted_by_seq(tmp_path: Path) -> None:
    text = "traj_id,seq,road,t,user_id,kind\ny,10,ba,9,u,car\nx,3,bc,30,v,bus\ny,9,ab,8,u,car\nx,-1,ab,10,v,bus\n"
    loaded = read(tmp_path, text)
    data = routes(loaded)
    assert records(data) == [["ab", "ba"], ["ab", "bc"]]
    assert (data.t.tolist(), data.t_start.tolist(), data.t_end.tolist()) == ([8, 9, 10, 30], [8, 10], [9, 30])
    assert (data.owner.tolist(), data.owners, data.time_format) == ([0, 1], "given", "integer")
    assert data.attributes["kind"].labels == ("bus", "car")
    assert data.attributes["kind"].codes.tolist() == [1, 0]
    assert data.network is NETWORK
    assert (loaded.rows, loaded.ids.to_list()) == (4, ["y", "x"])
    assert loaded.notes[-1] == "2 trajectories were not in the order of seq and were sorted."


def test_without_times(tmp_path: Path) -> None:
    loaded = read(tmp_path, "traj_id,seq,road\nx,1,ab\nx,2,bc\n")
    data = routes(loaded)
    assert (data.t.tolist(), data.t_start.tolist(), data.t_end.tolist()) == ([0, 0], [0], [0])
    assert data.time_format == "integer"
    assert loaded.notes == ()


def test_slices_in_place_of_times(tmp_path: Path) -> None:
    rows = "x,2,bc,2024-05-01,2024-05-02\ny,1,ab,2024-05-02,2024-05-03\nx,1,ab,2024-05-01,2024-05-02\n"
    data = routes(read(tmp_path, f"traj_id,seq,road,t_start,t_end\n{rows}"))
    day = 86_400_000_000
    assert records(data) == [["ab", "bc"], ["ab"]]
    assert data.time_format == "local"
    assert np.diff(data.t_start).tolist() == [day]
    assert (data.t_end - data.t_start).tolist() == [day, day]
    assert data.t.tolist() == np.repeat(data.t_start, [2, 1]).tolist()
    timed = routes(read(tmp_path, "traj_id,seq,road,t,t_start,t_end\nx,1,ab,5,0,10\nx,2,bc,7,0,10\n"))
    assert (timed.t_start.tolist(), timed.t_end.tolist()) == ([5], [7])
    varying = read(tmp_path, "traj_id,seq,road,t_start,t_end\nx,1,ab,0,10\nx,2,bc,7,10\n")
    assert routes(varying).t_end.tolist() == [0]
    assert varying.notes == ("Columns 't_start' and 't_end' are not one time per trajectory and were left out.",)
    with pytest.raises(InputError, match="'t_end' is earlier than 't_start'"):
        read(tmp_path, "traj_id,seq,road,t_start,t_end\nx,1,ab,9,5\n")
    with pytest.raises(InputError, match="written in different ways"):
        read(tmp_path, "traj_id,seq,road,t_start,t_end\nx,1,ab,9,2024-05-01\n")


def test_dates_and_other_names(tmp_path: Path) -> None:
    text = "trip,nr,edge,when\nx,1,ab,2024-01-01T00:00:00Z\nx,2,bc,2024-01-01T00:00:00Z\n"
    mapped = {"traj_id": "trip", "seq": "nr", "road": "edge", "t": "when"}
    data = routes(read(tmp_path, text, columns=mapped))
    assert (data.time_format, data.t_end.tolist()) == ("utc", [1_704_067_200_000_000])


def test_names_of_roads_stay_text(tmp_path: Path) -> None:
    pl.DataFrame({"traj_id": [1], "seq": [0.0], "road": [7]}).write_parquet(tmp_path / "r.parquet")
    assert records(routes(read_routes(tmp_path / "r.parquet", NETWORK))) == [["7"]]


def test_turns_loops_and_parallel_roads_are_no_gaps(tmp_path: Path) -> None:
    loaded = read(tmp_path, "traj_id,seq,road\nx,1,ab\nx,2,bb\nx,3,bb\nx,4,ba\nx,5,ab2\nx,6,bc\nx,7,7\n")
    assert not any("does not begin" in note for note in loaded.notes)


def test_gaps_are_counted(tmp_path: Path) -> None:
    loaded = read(tmp_path, "traj_id,seq,road\nx,1,ab\nx,2,ab\nx,3,bc\nx,4,bc\ny,1,ab\nz,1,bc\nz,2,ab\nz,3,bc\n")
    assert records(routes(loaded)) == [["ab", "ab", "bc", "bc"], ["ab"], ["bc", "ab", "bc"]]
    assert loaded.notes[-1] == (
        "3 times in 2 trajectories a road does not begin where the one before ends; methods cut trajectories there."
    )


HEAD = "traj_id,seq,road,t"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        (f"{HEAD}\n", ["no rows"]),
        ("traj_id,road\nx,ab\n", ["missing: seq", "Routes need traj_id, seq and road"]),
        ("trip,order,edge\nx,1,ab\n", ["missing: traj_id, seq, road", "--columns traj_id=trip,seq=order,road=edge"]),
        (f"{HEAD}\nx,1,ab,1\nx,2,SECRET,2\ny,1,SECRET,1\n", ["not in the network", "2 rows, first at line 3"]),
        (f"{HEAD}\nx,1,ab,1\nx,2,,2\n", ["'road' is empty", "line 3"]),
        (f"{HEAD}\nSECRET,2,ab,1\nx,1,ab,1\nSECRET,1,ab,1\nSECRET,2,bc,2\n", ["'seq' repeats", "1 row, at line 5"]),
        (f"{HEAD}\nSECRET,1,ab,1\nSECRET,2.5,ab,1\n", ["'seq' is not a whole number", "line 3"]),
        (f"{HEAD}\nSECRET,,ab,1\n", ["'seq' is empty", "line 2"]),
        (f"{HEAD}\nx,3,bc,4\nSECRET,2,bc,5\nSECRET,1,ab,6\n", ["'t' is earlier", "1 row, at line 3"]),
        (f"{HEAD}\nx,1,ab,\n", ["'t' is empty"]),
        (f"{HEAD},user_id\nx,1,ab,1,SECRET\nx,2,bc,2,y\n", ["'user_id' must be constant"]),
    ],
)
def test_bad_input(tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    message = str(caught.value).replace(str(tmp_path), "")
    for word in words:
        assert word in message, message
    assert "SECRET" not in message


def test_seq_of_parquet(tmp_path: Path) -> None:
    pl.DataFrame({"traj_id": ["x"] * 2, "seq": [1.0, 1.5], "road": ["ab"] * 2}).write_parquet(tmp_path / "r.parquet")
    with pytest.raises(InputError, match="'seq' is not a whole number in 1 row, at row 2"):
        read_routes(tmp_path / "r.parquet", NETWORK)


def test_columns_that_vary_are_left_out(tmp_path: Path) -> None:
    loaded = read(tmp_path, "traj_id,seq,road,speed,from_node,t_start\nx,1,ab,5,a,1\nx,2,bc,6,b,1\ny,1,ab,7,a,1\n")
    assert not routes(loaded).attributes
    assert "Column 'speed' varies inside trajectories and was left out." in loaded.notes
    told = "Column 'from_node', 't_start' was left out: where and when somebody was, is told by 'seq', 'road'."
    assert told in loaded.notes
    with pytest.raises(InputError, match="'speed' must be constant"):
        read(tmp_path, "traj_id,seq,road,speed\nx,1,ab,5\nx,2,bc,6\n", attributes=("speed",))


def test_mistaken_mappings(tmp_path: Path) -> None:
    text = "traj_id,seq,road\nx,1,ab\n"
    for columns, words in (
        ({"seq": "road"}, "'road' for two things"),
        ({"location": "road"}, "'location' is not a column of routes"),
        ({"road": "road[:1]"}, "road must be a whole column"),
    ):
        with pytest.raises(InputError, match=words):
            read(tmp_path, text, columns=columns)


def test_kind_is_guessed(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    for header, kind in (
        ("traj_id,seq,road", "routes"),
        ("traj_id,seq,road,t,user_id", "routes"),
        ("traj_id,seq,road,from_node,to_node,t_start,t_end", "routes"),
        ("traj_id,t,x,y,road", "points"),
        ("traj_id,t,seq,location", "visits"),
    ):
        file.write_text(header + "\n")
        assert guess_kind(file) == kind
    file.write_text("traj_id,a,b,x,y,t\n")
    assert guess_kind(file, ReadOptions(columns={"seq": "a", "road": "b"})) == "routes"
    file.write_text("traj_id,seq,road,x,y,t\n")
    with pytest.raises(InputError, match="both points and routes; say which with --kind points or --kind routes"):
        guess_kind(file)
    file.write_text("traj_id,seq,road,x,y,t,location\n")
    with pytest.raises(InputError, match="fit visits and points and routes; say which"):
        guess_kind(file)
    file.write_text("trip,nr,link\n")
    with pytest.raises(InputError, match=r"nor routes \(traj_id, seq, road\).*--columns traj_id=trip,seq=nr,road=link"):
        guess_kind(file)


@st.composite
def datasets(draw: st.DrawFn) -> Routes:
    n = draw(st.integers(1, 5))
    lengths = [draw(st.integers(1, 4)) for _ in range(n)]
    rows = sum(lengths)
    offsets = np.append(0, np.cumsum(lengths))
    steps = np.array(draw(st.lists(st.integers(0, 10), min_size=rows, max_size=rows)))
    t = draw(st.sampled_from([0, 10**9, -50])) + np.cumsum(steps)
    return Routes(
        offsets=offsets,
        road=np.array(draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))),
        t=t,
        t_start=t[offsets[:-1]],
        t_end=t[offsets[1:] - 1],
        network=NETWORK,
        owner=np.arange(n),
        attributes={"kind": Coded(codes=np.zeros(n, np.int64), labels=("a",))},
        time_format="epoch" if t[0] > 10**8 else "integer",
        owners=draw(st.sampled_from(["given", "declared"])),
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
@given(data=datasets())
@settings(deadline=None, max_examples=25)
def test_written_routes_read_back(tmp_path_factory: pytest.TempPathFactory, form: str, data: Routes) -> None:
    path = tmp_path_factory.getbasetemp() / f"routes.{form}"
    write_routes(data, path)
    again = routes(read_routes(path, NETWORK))
    assert records(again) == records(data)
    for name in ("offsets", "t", "t_start", "t_end", "owner"):
        assert getattr(again, name).tolist() == getattr(data, name).tolist()
    assert (again.owners, again.time_format, list(again.attributes)) == (data.owners, data.time_format, ["kind"])


def test_writing_refuses(tmp_path: Path) -> None:
    data = Routes.from_records([["ab"], []], network=NETWORK)
    write_routes(data, tmp_path / "a.csv", ids=["p", "q"])
    assert (tmp_path / "a.csv").read_text() == "traj_id,seq,road,t\np,0,ab,0\n"
    with pytest.raises(OutputError, match="one id for each trajectory"):
        write_routes(data, tmp_path / "b.csv", ids=["p", "p"])
    named = Routes(
        offsets=data.offsets, road=data.road, t=data.t, t_start=data.t_start, t_end=data.t_end, network=NETWORK,
        owner=data.owner, attributes={"seq": Coded(codes=np.zeros(2, np.int64), labels=("a",))},
    )  # fmt: skip
    with pytest.raises(OutputError, match="cannot be called seq"):
        write_routes(named, tmp_path / "b.csv")
    with pytest.raises(OutputError, match="cannot be called seq"):
        write_published(named, tmp_path / "b.csv", key=bytes([1]) * 32)
    assert not (tmp_path / "b.csv").exists()
