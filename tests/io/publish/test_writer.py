"""Raw visits and points to disk and back, and disks that refuse."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import OutputError
from wayveil.io.publish import writer
from wayveil.io.publish.writer import write_points, write_visits
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import read_points as read_points_asking
from wayveil.io.read.visit_tables import read_visits as read_visits_asking
from wayveil.io.tabular.columns import ReadOptions
from wayveil.model import Frame, Points, TimeFormat, Visits


def read_points(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_points_asking(path, replace(options or ReadOptions(), owners="not-asked"))


def read_visits(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_visits_asking(path, replace(options or ReadOptions(), owners="not-asked"))


FORMATS = ["csv", "parquet"]


@st.composite
def visits(draw: st.DrawFn) -> Visits:
    n = draw(st.integers(1, 6))
    time_format: TimeFormat = draw(st.sampled_from(["integer", "epoch", "utc", "local"]))
    low, high = {"integer": (-50, 50), "epoch": (10**8, 10**10)}.get(time_format, (-(10**15), 10**15))
    moments = st.sets(st.integers(low, high), min_size=1, max_size=4)
    records = [[(draw(st.sampled_from(["a", "b,", 'ü "v'])), t) for t in sorted(draw(moments))] for _ in range(n)]
    kinds = {"kind": draw(st.lists(st.sampled_from([None, "p", "q"]), min_size=n, max_size=n))}
    owner = draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return Visits.from_records(records, attributes=kinds, owner=owner, time_format=time_format)


@pytest.mark.parametrize("form", FORMATS)
@given(data=visits())
@settings(deadline=None, max_examples=100)
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, form: str, data: Visits) -> None:
    path = tmp_path_factory.getbasetemp() / f"raw.{form}"
    write_visits(data, path)
    loaded = read_visits(path)
    assert loaded.ids.to_list() == [str(i) for i in range(len(data))]
    assert [loaded.data.record(i) for i in range(len(data))] == [data.record(i) for i in range(len(data))]
    assert loaded.data.attributes["kind"].values() == data.attributes["kind"].values()
    assert (loaded.data.time_format, loaded.data.owners) == (data.time_format, data.owners)
    same = [[a == b for b in data.owner] for a in data.owner]
    assert [[a == b for b in loaded.data.owner] for a in loaded.data.owner] == same


def test_given_ids_and_owners(tmp_path: Path) -> None:
    data = Visits.from_records([[("x", 1)], [], [("y", 2)]], owner=[4, 4, 9])
    write_visits(data, tmp_path / "a.csv", ids=["i", "j", "k"])
    assert (tmp_path / "a.csv").read_text() == "traj_id,user_id,t,location\ni,4,1,x\nk,9,2,y\n"


@pytest.mark.parametrize("ids", [["a"], ["a", "a"]])
def test_ids_must_fit(tmp_path: Path, ids: list[str]) -> None:
    with pytest.raises(OutputError, match="one id for each trajectory"):
        write_visits(Visits.from_records([[("x", 1)], [("x", 1)]]), tmp_path / "a.csv", ids=ids)


TIMES = np.cumsum(np.random.default_rng(1).integers(1, 10**6, 20_000)).tolist()
BIG = Visits.from_records([[(f"place {i}", t) for t in TIMES[i * 50 : i * 50 + 50]] for i in range(400)])


def test_no_such_folder(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No such file or directory"):
        write_visits(BIG, tmp_path / "none" / "a.csv")


def test_folder_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(OutputError, match="folder of that name"):
        write_visits(BIG, tmp_path / "a.csv")


def test_unwritable_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(OutputError, match="cannot be written: Permission denied"):
        write_visits(BIG, tmp_path / "a.csv")


@pytest.fixture
def small_files() -> Iterator[None]:
    """Let no file grow beyond 4 kB, which the system reports in the same way as a full disk."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, old[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.usefixtures("small_files")
def test_no_room_leaves_the_old_file_and_no_other(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"a.{form}"
    path.write_text("old")
    with pytest.raises(OutputError) as caught:
        write_visits(BIG, path)
    assert str(caught.value) == f"{path}: the file cannot be written: File too large."
    assert os.listdir(tmp_path) == [path.name]
    assert path.read_text() == "old"


def test_a_disk_that_is_full_at_the_last_bytes_is_told_with_one_thread(tmp_path: Path) -> None:
    """Polars 1.x with one thread wrote half a table and said nothing."""
    code = f"""
import resource
import subprocess
import sys
from wayveil.errors import OutputError
from wayveil.io.publish.writer import write_visits
from wayveil.model import Visits
data = Visits.from_records([[(f"place {{i}}", t) for t in range(50)] for i in range(40)])
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
try:
    write_visits(data, {str(tmp_path / "a.csv")!r})
except OutputError as error:
    print(error)
"""
    threads = {**os.environ, "POLARS_MAX_THREADS": "1"}
    said = subprocess.run([sys.executable, "-c", code], env=threads, capture_output=True, text=True, check=True)
    assert said.stdout.endswith("the file cannot be written: File too large.\n")
    assert os.listdir(tmp_path) == []


def test_groups_of_rows_are_the_table_of_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.DataFrame({"a": ["x,y", 'q"', "", None, "\u00e4"], "b": [0.1, 1e-9, -2.5, None, 3.0]})
    monkeypatch.setattr(writer, "_ROW_GROUP", 2)
    written = BytesIO()
    writer.write_csv(frame, written)
    assert written.getvalue() == frame.write_csv().encode()
    empty = BytesIO()
    writer.write_csv(frame.clear(), empty)
    assert empty.getvalue() == b"a,b\n"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (pl.exceptions.ComputeError("SECRET: underlying IO error: (os error 28)"), "No space left on device"),
        (pl.exceptions.ComputeError("SECRET"), "the writer failed"),
        (OSError("SECRET (os error 5)"), "Input/output error"),
    ],
)
def test_what_polars_says_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pl.DataFrame, "write_csv", fails)
    with pytest.raises(OutputError) as caught:
        write_visits(BIG, tmp_path / "a.csv")
    assert str(caught.value).endswith(f"cannot be written: {reason}.")
    assert os.listdir(tmp_path) == []


def test_an_interrupt_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pl.DataFrame, "write_csv", stopped)
    with pytest.raises(KeyboardInterrupt):
        write_visits(BIG, tmp_path / "a.csv")
    assert os.listdir(tmp_path) == []


def test_the_longest_name_works(tmp_path: Path) -> None:
    name = "n" * 251 + ".csv"
    write_visits(BIG, tmp_path / name)
    assert read_visits(tmp_path / name).rows == BIG.n_visits


def test_bytes_do_not_depend_on_how_the_table_was_built(tmp_path: Path) -> None:
    write_visits(BIG, tmp_path / "a.parquet")
    write_visits(BIG.take(np.arange(len(BIG))), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


# Points

HERE = Frame.for_degrees(np.array([11.8, 12.0]), np.array([50.2, 50.4]))


@st.composite
def points(draw: st.DrawFn) -> Points:
    n = draw(st.integers(1, 5))
    time_format: TimeFormat = draw(st.sampled_from(["integer", "epoch", "utc", "local"]))
    low, high = {"integer": (-50, 50), "epoch": (10**8, 10**10)}.get(time_format, (-(10**15), 10**15))
    moments = st.sets(st.integers(low, high), min_size=1, max_size=4)
    place = st.floats(-5e3, 5e3)
    return Points.from_records(
        [[(t, draw(place), draw(place)) for t in sorted(draw(moments))] for _ in range(n)],
        attributes={"kind": draw(st.lists(st.sampled_from([None, "p", 'ü, "v']), min_size=n, max_size=n))},
        owner=draw(st.none() | st.lists(st.integers(0, 3), min_size=n, max_size=n)),
        time_format=time_format,
        frame=draw(st.sampled_from([HERE, Frame()])),
    )


@pytest.mark.parametrize("form", [*FORMATS, "geojson", "geojsonl"])
@given(data=points())
@settings(deadline=None, max_examples=40)
def test_points_round_trip(tmp_path_factory: pytest.TempPathFactory, form: str, data: Points) -> None:
    path = tmp_path_factory.getbasetemp() / f"points.{form}"
    if form.startswith("geojson") and not data.frame.degrees:
        with pytest.raises(OutputError, match=r"GeoJSON holds degrees, but .* metres; write \.csv or \.parquet"):
            write_points(data, path)
        return
    write_points(data, path)
    loaded = read_points(path, ReadOptions(crs=None if data.frame.degrees else "planar"))
    assert loaded.ids.to_list() == [str(i) for i in range(len(data))]
    assert loaded.data.frame.degrees == data.frame.degrees
    np.testing.assert_array_equal(loaded.data.t, data.t)
    np.testing.assert_array_equal(loaded.data.offsets, data.offsets)
    back = loaded.data.frame.to_file(loaded.data.x, loaded.data.y)
    np.testing.assert_allclose(back, data.frame.to_file(data.x, data.y), rtol=0, atol=1e-11)
    assert loaded.data.attributes["kind"].values() == data.attributes["kind"].values()
    assert (loaded.data.time_format, loaded.data.owners) == (data.time_format, data.owners)
    same = [[a == b for b in data.owner] for a in data.owner]
    assert [[a == b for b in loaded.data.owner] for a in loaded.data.owner] == same


def test_points_as_text(tmp_path: Path) -> None:
    data = Points.from_records([[(1, 0.5, -2.0)], [], [(2, 1e6, 0.1)]], owner=[4, 4, 9])
    write_points(data, tmp_path / "a.csv", ids=["i", "j", "k"])
    assert (tmp_path / "a.csv").read_text() == "traj_id,user_id,t,x,y\ni,4,1,0.5,-2.0\nk,9,2,1000000.0,0.1\n"
    write_points(Points.from_records([[(1, 0.0, 0.0)]], frame=HERE), tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text() == f"traj_id,t,lon,lat\n0,1,{HERE.lon_0},{HERE.lat_0}\n"
    with pytest.raises(OutputError, match="write_points needs one id"):
        write_points(data, tmp_path / "a.csv", ids=["i"])
    with pytest.raises(OutputError, match=r"\.csv, \.parquet, \.geojson or \.geojsonl"):
        write_points(data, tmp_path / "a.gpx")
    named = Points.from_records([[(1, 0.0, 0.0)]], frame=HERE, attributes={"lon": ["a"]})
    with pytest.raises(OutputError, match="cannot be called lon"):
        write_points(named, tmp_path / "a.csv")
