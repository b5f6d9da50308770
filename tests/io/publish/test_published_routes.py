"""Publications of routes: they read back as `as_published` says, and anything else is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, OutputError
from wayveil.io.publish.layouts import as_published
from wayveil.io.publish.published import read_published, write_published
from wayveil.model import Coded, RoadNetwork, Routes, TimeFormat

# Neither roads nor nodes are in the order of their names.
NETWORK = RoadNetwork(
    roads=("zu", "ü, \"'", "a", "B", "never SECRETROAD"),
    from_node=np.array([0, 2, 1, 0, 3]),
    to_node=np.array([2, 1, 0, 0, 0]),
    nodes=("z", "é", "u", "SECRETNODE"),
    node_x=np.array([1.0, 2.0, 3.0, 4.0]),
    node_y=np.array([5.0, 6.0, 7.0, 8.0]),
)
COLUMNS = ["traj_id", "seq", "road", "from_node", "to_node", "t_start", "t_end"]


@st.composite
def datasets(draw: st.DrawFn) -> Routes:
    time_format: TimeFormat = draw(st.sampled_from(["integer", "epoch", "utc", "local"]))
    low, high = {"integer": (-(2**61), 2**61), "epoch": (10**8, 10**10)}.get(time_format, (-(6 * 10**16), 2 * 10**17))
    n = draw(st.integers(0, 5))
    lengths = np.array([draw(st.integers(0, 4)) for _ in range(n)], np.int64)
    rows = int(lengths.sum())
    start = np.array([draw(st.integers(low, high)) for _ in range(n)], np.int64)
    takes = np.array([draw(st.sampled_from([0, 1, 3600])) for _ in range(n)], np.int64)
    kinds = [draw(st.integers(-1, 1)) for _ in range(n)]
    return Routes(
        offsets=np.append(0, np.cumsum(lengths)),
        road=np.array([draw(st.integers(0, 3)) for _ in range(rows)], np.int32),
        t=np.repeat(start + takes, lengths),
        t_start=start,
        t_end=start + takes,
        network=NETWORK,
        owner=np.arange(n) - 2,
        attributes={"kind": Coded(codes=np.array(kinds, np.int64), labels=("p", 'q"\n'))},
        time_format=time_format,
        owners="given",
    )


def back(path: Path, data: Routes) -> Routes:
    loaded = read_published(
        path, kind="routes", time_format=data.time_format, attributes=list(data.attributes), owners="hidden"
    )
    assert isinstance(loaded.data, Routes)
    return loaded.data


def kinds(data: Routes) -> list[str | None]:
    coded = data.attributes["kind"]
    return [None if code < 0 else coded.labels[code] for code in coded.codes.tolist()]


def same_network(one: RoadNetwork, other: RoadNetwork) -> None:
    assert (one.roads, one.nodes) == (other.roads, other.nodes)
    assert one.from_node.tolist() == other.from_node.tolist()
    assert one.to_node.tolist() == other.to_node.tolist()
    assert one.frame == other.frame
    for network in (one, other):
        assert (network.node_x, network.length_m, network.shape) == (None, None, None)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@given(data=datasets())
@settings(deadline=None, max_examples=40)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, form: str, data: Routes) -> None:
    path = tmp_path_factory.getbasetemp() / f"published.{form}"
    source = write_published(data, path, key=bytes([1]) * 32)
    found, expected = back(path, data), as_published(data).take(source)
    assert sorted(source.tolist()) == np.flatnonzero(np.diff(data.offsets)).tolist()
    same_network(found.network, expected.network)
    for name in ("offsets", "road", "t", "t_start", "t_end"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist(), name
    assert kinds(found) == kinds(expected)
    assert (found.owner.tolist(), found.owners) == (list(range(len(source))), "hidden")
    assert [found.record(i) for i in range(len(found))] == [data.record(i) for i in source.tolist()]


def test_as_published_keeps_the_rest() -> None:
    data = some_routes()
    made = as_published(data)
    assert [made.record(i) for i in range(3)] == [data.record(i) for i in range(3)]
    assert (made.owner.tolist(), made.owners) == (data.owner.tolist(), data.owners)
    assert made.network.roads == ("a", "zu", "ü, \"'")
    assert made.network.nodes == ("u", "z", "é")
    assert made.t.tolist() == [0, 0, 0, 0]
    assert (made.t_start.tolist(), made.t_end.tolist()) == ([0, 5, 0], [60, 6, 60])
    same_network(as_published(made).network, made.network)
    nothing = as_published(data.where(np.zeros(4, np.bool_)))
    assert (nothing.network.roads, nothing.network.nodes, len(nothing)) == ((), (), 3)


def some_routes() -> Routes:
    data = Routes.from_records(
        [["zu", "ü, \"'", "a"], [], ["zu"]],
        network=NETWORK,
        slices=[(0, 60), (5, 6), (0, 60)],
        owner=[777_111_777, 5, 5],
    )
    return Routes(
        offsets=data.offsets, road=data.road, t=np.array([11, 12, 13, 14]), t_start=data.t_start, t_end=data.t_end,
        network=NETWORK, owner=data.owner, owners="given",
    )  # fmt: skip


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_only_what_is_published_leaves(tmp_path: Path, form: str) -> None:
    for name in ("a", "b"):
        write_published(some_routes(), tmp_path / f"{name}.{form}", key=bytes([1]) * 32)
    path = tmp_path / f"a.{form}"
    assert path.read_bytes() == (tmp_path / f"b.{form}").read_bytes()
    for secret in (b"SECRET", b"777111777", b"user"):
        assert secret not in path.read_bytes()
    frame = pl.read_csv(path) if form == "csv" else pl.read_parquet(path)
    assert frame.columns == COLUMNS
    assert sorted(frame["seq"].to_list()) == [0, 0, 1, 2]
    assert set(frame["t_start"]) == {0}
    assert set(frame["t_end"]) == {60}


def test_types_of_parquet(tmp_path: Path) -> None:
    write_published(some_routes(), tmp_path / "a.parquet", key=bytes([1]) * 32)
    types = [pl.String, pl.Int64, pl.String, pl.String, pl.String, pl.Int64, pl.Int64]
    assert pl.read_parquet_schema(tmp_path / "a.parquet") == dict(zip(COLUMNS, types, strict=True))


def test_geojson_and_empty_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        write_published(some_routes(), tmp_path / "a.geojson", key=bytes([1]) * 32)
    for roads in ([("", "a", "b")], [("ab", "a", "")]):
        data = Routes.from_records([[roads[0][0]]], network=RoadNetwork.from_roads(roads))
        with pytest.raises(OutputError, match="holds an empty text"):
            write_published(data, tmp_path / "a.csv", key=bytes([1]) * 32)
    assert not list(tmp_path.iterdir())


def edited(path: Path, change: Callable[[list[list[str]]], object]) -> None:
    """Change the lines of a published CSV: two trajectories of roads zu, x, a and zu, in the slice 0 to 60."""
    lines = [line.split(",") for line in path.read_text().replace('"ü, ""\'"', "x").splitlines()]
    lines = [lines[0], *sorted(lines[1:], key=lambda line: (line[0], int(line[1])))]
    change(lines)
    path.write_text("\n".join(",".join(line) for line in lines) + "\n")


def put(row: int, column: str, value: str) -> Callable[[list[list[str]]], object]:
    return lambda lines: lines[row].__setitem__(COLUMNS.index(column), value)


def long_row(lines: list[list[str]]) -> int:
    """The line of seq 1, which only one trajectory has."""
    return next(i for i, line in enumerate(lines) if line[1] == "1")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda lines: lines[long_row(lines)].__setitem__(1, "2"), "seq does not count"),
        (put(1, "road", ""), "road is empty"),
        (put(1, "from_node", ""), "from_node is empty"),
        (put(1, "to_node", ""), "to_node is empty"),
        (lambda lines: lines[long_row(lines)].__setitem__(5, "1"), "t_start varies inside a trajectory"),
        (lambda lines: lines[long_row(lines)].__setitem__(6, "61"), "t_end varies inside a trajectory"),
        (lambda lines: [line.__setitem__(5, "61") for line in lines[1:]], "t_start is larger than t_end"),
        (put(1, "t_start", "noon"), "t_start"),
        (put(1, "t_end", ""), "t_end is empty"),
        (put(1, "traj_id", "ann"), "16 hexadecimal digits"),
        (lambda lines: lines[0].__setitem__(2, "roads"), "the columns must be"),
    ],
)
def test_what_was_edited_is_refused(tmp_path: Path, change: Callable[[list[list[str]]], object], words: str) -> None:
    path = tmp_path / "a.csv"
    write_published(some_routes(), path, key=bytes([1]) * 32)
    edited(path, lambda lines: None)
    assert back(path, some_routes()).n_rows == 4
    edited(path, change)
    with pytest.raises(InputError, match=words):
        back(path, some_routes())


def test_a_road_with_other_ends_is_refused(tmp_path: Path) -> None:
    for column in ("from_node", "to_node"):
        path = tmp_path / "a.csv"
        write_published(some_routes(), path, key=bytes([1]) * 32)
        rows = [line.split(",") for line in path.read_text().splitlines()]
        last = max(i for i, row in enumerate(rows) if row[2] == "zu")
        rows[last][COLUMNS.index(column)] = "q"
        path.write_text("\n".join(",".join(row) for row in rows) + "\n")
        with pytest.raises(InputError, match=f"a road leads from or to another node .* 1 row, at line {last + 1}"):
            back(path, some_routes())


def test_parquet_of_another_type_is_refused(tmp_path: Path) -> None:
    write_published(some_routes(), tmp_path / "a.parquet", key=bytes([1]) * 32)
    frame = pl.read_parquet(tmp_path / "a.parquet")
    for name in ("seq", "t_start", "t_end"):
        frame.with_columns(pl.col(name).cast(pl.Float64)).write_parquet(tmp_path / "b.parquet")
        with pytest.raises(InputError, match=f"the type of column '{name}' is not the one written"):
            back(tmp_path / "b.parquet", some_routes())
