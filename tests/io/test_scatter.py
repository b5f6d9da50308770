"""Tables in pieces: everybody whole in one, rows in order, and messages that speak of the user's own file."""

from __future__ import annotations

import gzip
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError
from wayveil.io import ReadOptions, gather_piece, parquet_parts, scatter_span
from wayveil.io import open_spans as open_spans_asking
from wayveil.io import read_points as read_points_asking
from wayveil.io import read_visits as read_visits_asking
from wayveil.io import scatter as io_pieces
from wayveil.io.read.loaded import Loaded
from wayveil.io.scatter import groups_of, make_piece_folders, scatter_group
from wayveil.io.tabular.table import ROW_NUMBER, open_table


def read_points(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_points_asking(path, replace(options or ReadOptions(), owners="not-asked"))


def read_visits(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_visits_asking(path, replace(options or ReadOptions(), owners="not-asked"))


def open_spans(path: Path, kind: Any, options: ReadOptions, **how: Any) -> Any:
    """Open without asking who is behind a trajectory; test_owners.py asks."""
    return open_spans_asking(path, kind, replace(options or ReadOptions(), owners="not-asked"), **how)


FRAME = pl.DataFrame(
    {
        "traj_id": [f"t{i % 40:02d}" for i in range(400)],
        "user_id": [f"u{i % 40 // 3}" for i in range(400)],
        "t": [i // 40 for i in range(400)],
        "location": [f"place {i * 7 % 11}" for i in range(400)],
        "ill": ["yes" if i % 40 < 5 else "no" for i in range(400)],
        "more": ["x"] * 400,
    }
)
VISITS = ReadOptions(attributes=("ill",))


def written(frame: pl.DataFrame, folder: Path, form: str) -> Path:
    """Write a table as CSV, as a Parquet file, or as a folder of three Parquet files."""
    folder.mkdir(exist_ok=True)
    if form == "csv":
        frame.write_csv(folder / "in.csv")
        return folder / "in.csv"
    if form == "parquet":
        frame.write_parquet(folder / "in.parquet")
        return folder / "in.parquet"
    parts = folder / "in"
    parts.mkdir()
    size = frame.height // 3
    for number, part in enumerate((frame[:size], frame[size : 2 * size], frame[2 * size :])):
        part.write_parquet(parts / f"part-{number}.parquet")
    return parts


def pieces_of(
    path: Path, scratch: Path, options: ReadOptions = VISITS, *, rows: int = 60, secret: int = 5, kind: Any = "visits"
) -> list[Path]:
    scratch.mkdir(exist_ok=True)
    spans = open_spans(path, kind, options, rows=rows, scratch=scratch)
    pieces = -(-spans.rows // rows)
    folder = scratch / "raw"
    make_piece_folders(folder, pieces)
    counts = [
        scatter_span(spans, number, pieces=pieces, secret=secret, folder=folder) for number in range(len(spans.spans))
    ]
    for group in range(len(groups_of(pieces))):
        scatter_group(spans, group, pieces=pieces, secret=secret, folder=folder, rows=rows)
    held = [piece for piece in range(pieces) if sum(count[piece] for count in counts)]
    files = [gather_piece(spans, piece, folder) for piece in held]
    assert [pl.read_parquet(file).height for file in files] == [sum(c[piece] for c in counts) for piece in held]
    assert all(span.rows <= rows for span in spans.spans)
    return files


def frames(files: list[Path]) -> list[pl.DataFrame]:
    return [pl.read_parquet(file) for file in files]


def read_all(files: list[Path], options: ReadOptions) -> list[Any]:
    return [read_visits(file, options) for file in files]


def where(found: list[pl.DataFrame], column: str) -> dict[str, set[int]]:
    """Return in which pieces each value of a column is."""
    pieces: dict[str, set[int]] = {}
    for number, frame in enumerate(found):
        for value in frame[column].cast(pl.String).to_list():
            pieces.setdefault(value, set()).add(number)
    return pieces


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
def test_everybody_is_whole_in_one_piece_and_rows_are_in_order(tmp_path: Path, form: str) -> None:
    found = frames(pieces_of(written(FRAME, tmp_path / form, form), tmp_path / "scratch"))
    assert len(found) > 3
    for column in ("traj_id", "user_id"):
        assert all(len(pieces) == 1 for pieces in where(found, column).values())
    for frame in found:
        assert frame[ROW_NUMBER].is_sorted()
        assert set(frame.columns) == {"traj_id", "user_id", "t", "location", "ill", ROW_NUMBER}
    together = pl.concat(found).sort(ROW_NUMBER)
    assert together[ROW_NUMBER].to_list() == list(range(400))
    for column in ("traj_id", "user_id", "t", "location", "ill"):
        assert together[column].cast(pl.String).to_list() == FRAME[column].cast(pl.String).to_list()


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
def test_pieces_read_as_the_trajectories_of_the_whole(tmp_path: Path, form: str) -> None:
    path = written(FRAME, tmp_path / form, form)
    whole = read_visits(path, VISITS)
    expected = {
        name: (whole.data.record(i), whole.data.attributes["ill"].values()[i]) for i, name in enumerate(whole.ids)
    }
    got = {}
    for file in pieces_of(path, tmp_path / "scratch"):
        piece = read_visits(file, VISITS)
        values = piece.data.attributes["ill"].values()
        got |= {name: (piece.data.record(i), values[i]) for i, name in enumerate(piece.ids)}
    assert got == expected


@settings(deadline=None, max_examples=25)
@given(
    people=st.lists(st.sampled_from(["a", "b", "é", "1", "01", "1.0", "x y", "Ω" * 9]), min_size=1, max_size=60),
    rows=st.integers(1, 20),
    secret=st.integers(0, 2**62 - 1),
)
def test_any_cut_keeps_people_whole(
    tmp_path_factory: pytest.TempPathFactory, people: list[str], rows: int, secret: int
) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    table = pl.DataFrame({"traj_id": people, "t": range(len(people)), "location": ["a"] * len(people)})
    table.write_parquet(folder / "in.parquet")
    found = frames(pieces_of(folder / "in.parquet", folder / "s", ReadOptions(attributes=()), rows=rows, secret=secret))
    assert all(len(pieces) == 1 for pieces in where(found, "traj_id").values())
    assert sum(frame.height for frame in found) == len(people)


def test_a_folder_of_parquet_files_is_the_concatenated_file(tmp_path: Path) -> None:
    one = read_visits(written(FRAME, tmp_path / "a", "parquet"), VISITS)
    parts = read_visits(written(FRAME, tmp_path / "b", "folder"), VISITS)
    assert parts.ids.to_list() == one.ids.to_list()
    assert [parts.data.record(i) for i in range(40)] == [one.data.record(i) for i in range(40)]
    assert parts.data.owner.tolist() == one.data.owner.tolist()
    points = FRAME.select("traj_id", "t", x=pl.col("t") * 1.5, y=pl.lit(2000.0))
    one, parts = (read_points(written(points, tmp_path / f, f)) for f in ("parquet", "folder"))
    assert parts.data.x.tolist() == one.data.x.tolist()


def test_hidden_files_and_markers_are_no_parts(tmp_path: Path) -> None:
    folder = written(FRAME, tmp_path / "a", "folder")
    (folder / "_SUCCESS").touch()
    (folder / ".part-9.parquet.crc").touch()
    assert [file.name for file in parquet_parts(folder)] == [f"part-{i}.parquet" for i in range(3)]
    (folder / "notes.csv").touch()
    assert parquet_parts(folder) == []
    assert parquet_parts(folder / "part-0.parquet") == []


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
def test_groups_of_pieces_hold_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    path = written(FRAME, tmp_path / "a", form)
    found = []
    for most in (64, 3):
        monkeypatch.setattr(io_pieces, "MOST_FILES", most)
        found.append(frames(pieces_of(path, tmp_path / str(most), rows=30)))
    assert len(groups_of(14)) == 4
    assert (tmp_path / "3/raw/groups").is_dir()
    assert not (tmp_path / "64/raw/groups").exists()
    assert [one.equals(other) for one, other in zip(*found, strict=True)] == [True] * len(found[0])


@pytest.mark.parametrize("pieces", [65, 70, 81, 100, 101, 631, 5000])
def test_every_piece_is_in_one_group(pieces: int) -> None:
    groups = groups_of(pieces)
    assert [piece for group in groups for piece in group] == list(range(pieces))
    assert [number for number, group in enumerate(groups) for piece in group] == [
        piece // len(groups[0]) for piece in range(pieces)
    ]
    assert max(len(groups), len(groups[0])) <= pieces**0.5 + 1


CELL = st.sampled_from(["a", "bb", "", "1", '"x,y"', '"q""q"', '"one\ntwo"', '"\r\n"', '""', " ", "\u00e9"])
LINE = st.one_of(
    st.just(""), st.just(",,,"), st.lists(CELL, min_size=1, max_size=3), st.lists(CELL, min_size=4, max_size=4)
)


@given(st.lists(LINE, min_size=1, max_size=12), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 5))
@settings(deadline=None, max_examples=150)
def test_text_read_in_parts_is_the_same_as_at_once(lines: list[Any], end: str, closed: bool, rows: int) -> None:
    listed = ["traj_id,t,location,more", *(one if isinstance(one, str) else ",".join(one) for one in lines)]
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patched:
        patched.setattr(io_pieces, "_FIRST_TEXT", 5)
        folder = Path(name)
        (folder / "in.csv").write_bytes((end.join(listed) + end * closed).encode())
        expected = open_table(folder / "in.csv").read([0, 1, 2])
        if not len(expected):
            return
        open_spans(folder / "in.csv", "visits", ReadOptions(attributes=()), rows=rows, scratch=folder)
        found = pl.concat([pl.read_parquet(file) for file in sorted((folder / "input").iterdir())])
        assert found.select("traj_id", "t", "location").rows() == expected.frame.rows()
        kept = range(len(expected)) if expected.original_row is None else expected.original_row
        assert found[ROW_NUMBER].to_list() == list(kept)


def test_text_is_read_in_parts_of_about_as_many_rows(tmp_path: Path) -> None:
    FRAME.sample(100_000, with_replacement=True, seed=1).write_csv(tmp_path / "in.csv")
    spans = open_spans(tmp_path / "in.csv", "visits", VISITS, rows=9_000, scratch=tmp_path)
    sizes = [span.rows for span in spans.spans]
    assert sum(sizes) == 100_000
    assert all(8_000 < size <= 9_000 for size in sizes[2:-1])  # the first text is a guess
    wide = FRAME.sample(4_000, with_replacement=True, seed=1).with_columns(more=pl.lit("x" * 2_000))
    wide.write_csv(tmp_path / "wide.csv")
    (tmp_path / "s").mkdir()
    spans = open_spans(tmp_path / "wide.csv", "visits", VISITS, rows=1_000, scratch=tmp_path / "s")
    assert max(span.rows for span in spans.spans) < 200  # 256 bytes for every row that is asked for


def test_a_line_that_does_not_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(io_pieces, "_FIRST_TEXT", 100)
    monkeypatch.setattr(io_pieces, "_LONGEST_RECORD", 10_000)
    (tmp_path / "in.csv").write_text('traj_id,t,location\na,1,"x\n' + "a,1,y\n" * 5_000)
    with pytest.raises(InputError, match=r"in\.csv: a line goes on for more than 16 MB; check that quotation marks"):
        open_spans(tmp_path / "in.csv", "visits", ReadOptions(attributes=()), rows=1_000, scratch=tmp_path)


def test_how_long_row_groups_are(tmp_path: Path) -> None:
    rows = 30_000
    noise = np.random.default_rng(1).random((rows, 2))
    table = pl.DataFrame({"traj_id": ["a"] * rows, "t": range(rows), "x": noise[:, 0], "y": noise[:, 0]})
    table = table.with_columns(more=noise[:, 1])
    found = []
    for number, group in enumerate((rows, 10_000)):
        file = tmp_path / f"{number}.parquet"
        table.write_parquet(file, row_group_size=group, compression="uncompressed", use_pyarrow=False)
        scratch = tmp_path / str(number)
        found.append(open_spans(file, "points", ReadOptions(attributes=()), rows=99, scratch=scratch).group_bytes)
    plain = 8 * 2 * rows  # x and y; traj_id and t take little or as much as another, and `more` is not read
    assert plain <= found[0] < plain + 9 * rows
    assert found[1] == pytest.approx(found[0] / 3, rel=0.05)


def test_the_hash_is_keyed(tmp_path: Path) -> None:
    path = written(FRAME, tmp_path / "a", "parquet")
    cuts = []
    for number, secret in enumerate((1, 1, 2)):
        scratch = tmp_path / str(number)
        cuts.append([frame["user_id"].to_list() for frame in frames(pieces_of(path, scratch, secret=secret))])
    assert cuts[0] == cuts[1] != cuts[2]


def test_a_part_of_the_text_says_who(tmp_path: Path) -> None:
    table = FRAME.with_columns(tid=pl.col("traj_id") + pl.Series([f"{i // 40:02d}" for i in range(400)]))
    options = ReadOptions(columns={"traj_id": "tid[:-2]"}, attributes=())
    path = written(table.drop("user_id", "traj_id"), tmp_path / "a", "csv")
    files = pieces_of(path, tmp_path / "s", options)
    names = [set(frame["tid"].str.slice(0, 3)) for frame in frames(files)]
    assert sum(len(name) for name in names) == 40
    assert len(set().union(*names)) == 40
    ids = [name for file in files for name in read_visits(file, options).ids]
    assert sorted(ids) == sorted(set(FRAME["traj_id"]))


@pytest.mark.parametrize(("form", "shown"), [("csv", "in.csv"), ("parquet", "in.parquet"), ("folder", "in")])
def test_messages_name_the_users_file_and_row(tmp_path: Path, form: str, shown: str) -> None:
    row = pl.int_range(pl.len())
    table = FRAME.with_columns(location=pl.when(row == 262).then(None).otherwise("location"))
    path = written(table, tmp_path / form, form)
    files = pieces_of(path, tmp_path / "s")
    with pytest.raises(InputError) as caught:
        read_all(files, VISITS)
    assert str(caught.value).startswith(f"{path}: column 'location' is empty in 1 row, at row 263.")
    assert path.name == shown


def test_blank_lines_are_left_out_and_counted_as_rows_of_the_file(tmp_path: Path) -> None:
    lines = ["traj_id,t,location,more", "a,1,x,", ",,,", "b,1,y,", ",,,only here", "a,2,,"]
    (tmp_path / "in.csv").write_text("\n".join(lines) + "\n")
    files = pieces_of(tmp_path / "in.csv", tmp_path / "s", ReadOptions(attributes=()), rows=1)
    assert sorted(number for frame in frames(files) for number in frame[ROW_NUMBER]) == [0, 2, 4]
    with pytest.raises(InputError, match=r"in\.csv: column 'location' is empty in 1 row, at row 5"):
        read_all(files, ReadOptions(attributes=()))


def test_a_csv_file_that_cannot_be_read_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("traj_id,t,location\na,1,x\na,2,y,z,w\n")
    with pytest.raises(InputError, match=r"in\.csv: line 3 has 5 fields, the header has 3"):
        pieces_of(tmp_path / "in.csv", tmp_path / "s", ReadOptions(attributes=()))


def test_what_cannot_be_read_in_pieces_is_refused(tmp_path: Path) -> None:
    text = "traj_id,t,location\na,1,x\n"
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(text.encode()))
    with pytest.raises(InputError, match=r"in\.csv\.gz: a gzipped file cannot be read in pieces; unpack it first"):
        open_spans(tmp_path / "in.csv.gz", "visits", ReadOptions(), rows=9, scratch=tmp_path)
    (tmp_path / "in.gpx").write_text(
        '<gpx xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>'
        '<trkpt lat="1" lon="2"><time>2024-01-01T00:00:00Z</time></trkpt></trkseg></trk></gpx>'
    )
    with pytest.raises(InputError, match=r"in\.gpx: only CSV and Parquet can be read in pieces"):
        open_spans(tmp_path / "in.gpx", "points", ReadOptions(), rows=9, scratch=tmp_path)
    (tmp_path / "none.csv").write_text("traj_id,t,location\n")
    with pytest.raises(InputError, match="a header but no rows"):
        open_spans(tmp_path / "none.csv", "visits", ReadOptions(attributes=()), rows=9, scratch=tmp_path)
    FRAME[:0].write_parquet(tmp_path / "none.parquet")
    with pytest.raises(InputError, match="a header but no rows"):
        open_spans(tmp_path / "none.parquet", "visits", ReadOptions(attributes=()), rows=9, scratch=tmp_path)
    (tmp_path / "empty.csv").touch()
    with pytest.raises(InputError, match="the file is empty"):
        open_spans(tmp_path / "empty.csv", "visits", ReadOptions(), rows=9, scratch=tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        open_spans(tmp_path / "lost.csv", "visits", ReadOptions(), rows=9, scratch=tmp_path)


def test_files_of_a_folder_must_be_of_one_table(tmp_path: Path) -> None:
    folder = written(FRAME, tmp_path / "a", "folder")
    FRAME.with_columns(pl.col("t").cast(pl.String)).write_parquet(folder / "part-1.parquet")
    with pytest.raises(InputError, match=r"part-1\.parquet has other columns, or columns of other types, than part-0"):
        open_spans(folder, "visits", VISITS, rows=9, scratch=tmp_path)
    FRAME.drop("ill").write_parquet(folder / "part-1.parquet")
    with pytest.raises(InputError, match=r"part-1\.parquet has other columns"):
        open_spans(folder, "visits", VISITS, rows=9, scratch=tmp_path)


def test_who_must_be_text(tmp_path: Path) -> None:
    FRAME.with_columns(user_id=pl.concat_list("t")).write_parquet(tmp_path / "in.parquet")
    with pytest.raises(InputError, match="column 'user_id' has the type list, which is no text"):
        open_spans(tmp_path / "in.parquet", "visits", VISITS, rows=9, scratch=tmp_path)


def test_blanks_around_the_names_of_parquet_columns(tmp_path: Path) -> None:
    FRAME.rename({"traj_id": " traj_id", "t": "t ", "user_id": " user_id "}).write_parquet(tmp_path / "in.parquet")
    files = pieces_of(tmp_path / "in.parquet", tmp_path / "s")
    assert sum(read_visits(file, VISITS).rows for file in files) == 400


def test_a_column_with_the_name_of_ours_is_the_users_own(tmp_path: Path) -> None:
    FRAME.with_columns(pl.lit(-7).alias(ROW_NUMBER)).write_parquet(tmp_path / "in.parquet")
    found = frames(pieces_of(tmp_path / "in.parquet", tmp_path / "s"))
    assert sorted(number for frame in found for number in frame[ROW_NUMBER]) == list(range(400))


def test_what_a_killed_task_left_is_not_taken(tmp_path: Path) -> None:
    path = written(FRAME, tmp_path / "a", "parquet")
    spans = open_spans(path, "visits", VISITS, rows=400, scratch=tmp_path)
    folder = tmp_path / "raw"
    make_piece_folders(folder, 1)
    scatter_span(spans, 0, pieces=1, secret=5, folder=folder)
    (folder / "0" / ".123-abc-000000.parquet").write_bytes(b"PAR1 half of a file")
    scatter_span(spans, 0, pieces=1, secret=5, folder=folder)  # the task runs again
    assert pl.read_parquet(gather_piece(spans, 0, folder)).height == 400


def test_places_in_geoparquet_are_carried_along(tmp_path: Path) -> None:
    wkb = [bytes([1, 1, 0, 0, 0]) + pl.Series([float(i % 5), 0.5]).to_numpy().tobytes() for i in range(400)]
    table = FRAME.select("traj_id", "t").with_columns(geometry=pl.Series(wkb), x=pl.lit(1.0), y=pl.lit(2.0))
    geo = '{"version":"1.0.0","primary_column":"geometry","columns":{"geometry":{"encoding":"WKB"}}}'
    table.write_parquet(tmp_path / "in.parquet", metadata={"geo": geo})
    options = ReadOptions(attributes=())
    files = pieces_of(tmp_path / "in.parquet", tmp_path / "s", options, kind="points")
    assert all(read_points(file, options).data.frame.degrees for file in files)
    planar = ReadOptions(attributes=(), columns={"x": "x", "y": "y"}, crs="planar")
    files = pieces_of(tmp_path / "in.parquet", tmp_path / "s2", planar, kind="points")
    assert {float(x) for file in files for x in read_points(file, planar).data.x} == {1.0}
