"""A published file has one form: whatever else means the same is not verified."""

from __future__ import annotations

import gzip
import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hostile import forge, make_folder

from wayveil.io.formats import parquet_footer
from wayveil.io.publish import written_form
from wayveil.io.publish.writer import write_parquet
from wayveil.methods import Cast, Kcl, Nwa
from wayveil.model import Frame, Points, Stops, Taxonomy, Visits
from wayveil.pipeline.folder.verify_folder import verify_folder

VISITS = Visits.from_records(
    [[("a", 1), ("b, c", 2)]] * 3 + [[("a", 1)]] * 3, attributes={"ill": ["no", "no", "no", None, None, None]}
)
TIMES = Visits.from_records([[("a", 1_700_000_000_000_000), ("b", 1_700_000_060_000_000)]] * 3, time_format="utc")
LON, LAT = np.full(2, 23.7), np.array([38.001, 38.002])
DEGREES = Frame.for_degrees(LON, LAT)
X, Y = DEGREES.to_metres(LON, LAT)
POINTS = Points.from_records([[(1, X[0], Y[0]), (2, X[1], Y[1])]] * 3, frame=DEGREES)
PLANAR = Points.from_records([[(0, 0.0, 1.5), (1, 2.0, 1.0)]] * 3, frame=Frame(crs="planar"))
TREE = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
STOPS = Stops.from_records([["Park", "Clinic"]] * 3 + [["Park"]] * 4, taxonomy=TREE)
KCL, NWA, CAST = Kcl(k=2, l=2), Nwa(k=2, delta=5), Cast(c="0.5", m=2)

FAILS = re.compile("form in which it is written|another schema|negative zero|decimals|not a published|cannot be read")


def folder_of(tmp_path: Path, data: Any, method: Any, form: str) -> Path:
    folder = make_folder(tmp_path / "public", data, method, form=form)
    assert verify_folder(folder).failures == ()
    return folder


def refused(folder: Path) -> str:
    judgement = verify_folder(folder)
    assert judgement.exit_code == 1
    assert len(judgement.failures) == 1, judgement.failures
    assert FAILS.search(judgement.failures[0]), judgement.failures
    return judgement.failures[0]


CSV: dict[str, tuple[Any, Any, Callable[[bytes], bytes]]] = {
    "zeros in front": (VISITS, KCL, lambda c: c.replace(b",1,a", b",01,a", 1)),
    "a plus": (VISITS, KCL, lambda c: c.replace(b",1,a", b",+1,a", 1)),
    "an exponent": (VISITS, KCL, lambda c: c.replace(b",1,a", b",1e0,a", 1)),
    "decimals": (VISITS, KCL, lambda c: c.replace(b",1,a", b",1.0,a", 1)),
    "a blank": (VISITS, KCL, lambda c: c.replace(b",1,a", b", 1,a", 1)),
    "quotes": (VISITS, KCL, lambda c: c.replace(b",1,a", b',"1",a', 1)),
    "quoted text": (VISITS, KCL, lambda c: c.replace(b",a,", b',"a",', 1)),
    "quoted nothing": (VISITS, KCL, lambda c: c.replace(b",1,a,\n", b',1,a,""\n', 1)),
    "a mark": (VISITS, KCL, lambda c: b"\xef\xbb\xbf" + c),
    "line ends": (VISITS, KCL, lambda c: c.replace(b"\n", b"\r\n")),
    "one line end": (VISITS, KCL, lambda c: c.replace(b"\n", b"\r\n", 1)),
    "no last line end": (VISITS, KCL, lambda c: c.removesuffix(b"\n")),
    "an empty line": (VISITS, KCL, lambda c: c + b"\n"),
    "semicolons": (TIMES, KCL, lambda c: c.replace(b",", b";")),
    "a quoted header": (VISITS, KCL, lambda c: c.replace(b"location", b'"location"', 1)),
    "a blank in the header": (VISITS, KCL, lambda c: c.replace(b"location", b"location ", 1)),
    "another encoding": (VISITS, KCL, lambda c: c.decode().encode("utf-16")),
    "another offset": (TIMES, KCL, lambda c: c.replace(b":20Z", b":20+00:00", 1)),
    "fractions": (TIMES, KCL, lambda c: c.replace(b":20Z", b":20.000000Z", 1)),
    "a small t": (TIMES, KCL, lambda c: c.replace(b"T", b"t")),
    "a number as an exponent": (PLANAR, NWA, lambda c: c.replace(b",1.5", b",15e-1", 1)),
    "more zeros": (PLANAR, NWA, lambda c: c.replace(b",1.5", b",1.50", 1)),
    "no decimals": (PLANAR, NWA, lambda c: c.replace(b",2.0,", b",2,", 1)),
    "a negative zero": (PLANAR, NWA, lambda c: c.replace(b",0.0,", b",-0.0,", 1)),
    "finer degrees": (POINTS, NWA, lambda c: c.replace(b"23.7,", b"23.7000000000001,", 1)),
    "packed": (VISITS, KCL, gzip.compress),
}


@pytest.mark.parametrize("what", CSV)
def test_csv_has_one_form(tmp_path: Path, what: str) -> None:
    data, method, change = CSV[what]
    folder = folder_of(tmp_path, data, method, "csv")
    before = (folder / "published.csv").read_bytes()
    (folder / "published.csv").write_bytes(change(before))
    assert (folder / "published.csv").read_bytes() != before
    forge(folder)
    refused(folder)


GEOJSON: dict[str, Callable[[bytes], bytes]] = {
    "a blank": lambda c: c.replace(b",", b", ", 1),
    "a line end": lambda c: c + b"\n",
    "an exponent": lambda c: c.replace(b"[23.7,", b"[237e-1,", 1),
    "an escape": lambda c: c.replace(b'"Point"', b'"Poin\\u0074"', 1),
    "an integer with decimals": lambda c: c.replace(b'"t":1', b'"t":1.0', 1),
    "another name": lambda c: c.replace(b'"type":"FeatureCollection"', b'"type":"FeatureCollection","name":"x"', 1),
    "a name twice": lambda c: c.replace(b'"t":1', b'"t":7,"t":1', 1),
    "a height": lambda c: c.replace(b"[23.7,38.001]", b"[23.7,38.001,5.0]", 1),
    "finer degrees": lambda c: c.replace(b"[23.7,", b"[23.7000000000001,", 1),
}


@pytest.mark.parametrize("what", GEOJSON)
def test_geojson_has_one_form(tmp_path: Path, what: str) -> None:
    folder = folder_of(tmp_path, POINTS, NWA, "geojson")
    before = (folder / "published.geojson").read_bytes()
    (folder / "published.geojson").write_bytes(GEOJSON[what](before))
    assert (folder / "published.geojson").read_bytes() != before
    forge(folder)
    refused(folder)


def metadata(frame: pl.DataFrame, stream: Any) -> None:
    write_parquet(frame, stream, {"who": "somebody"})


PARQUET: dict[str, Callable[[pl.DataFrame, Any], object]] = {
    "metadata": metadata,
    "another packing": lambda frame, stream: frame.write_parquet(stream, compression="snappy"),
    "no statistics": lambda frame, stream: frame.write_parquet(stream, compression="zstd", statistics=False),
    "groups of rows": lambda frame, stream: frame.write_parquet(stream, compression="zstd", row_group_size=3),
    "a wider column": lambda frame, stream: write_parquet(frame.with_columns(x="ill"), stream),
    "another type": lambda frame, stream: write_parquet(frame.with_columns(pl.col("t").cast(pl.Int32)), stream),
    "a dictionary": lambda frame, stream: write_parquet(
        frame.with_columns(pl.col("location").cast(pl.Enum(["a", "b, c", "somebody"]))), stream
    ),
    "an empty text": lambda frame, stream: write_parquet(frame.with_columns(pl.col("ill").fill_null("")), stream),
}


@pytest.mark.parametrize("what", PARQUET)
def test_parquet_has_one_form(tmp_path: Path, what: str) -> None:
    folder = folder_of(tmp_path, VISITS, KCL, "parquet")
    path = folder / "published.parquet"
    frame = pl.read_parquet(path)
    made = io.BytesIO()
    PARQUET[what](frame, made)
    path.write_bytes(made.getvalue())
    forge(folder)
    refused(folder)


def test_nothing_hides_between_the_pages_of_parquet(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, VISITS, KCL, "parquet")
    path = folder / "published.parquet"
    content = path.read_bytes()
    length = int.from_bytes(content[-8:-4], "little")
    path.write_bytes(content[: -8 - length] + b"somebody" + content[-8 - length :])
    forge(folder)
    refused(folder)


def other_writer(content: bytes, name: bytes) -> bytes:
    """Return the same with another name, of the same length, of what wrote it."""
    found = re.search(rb"Polars [^)]*\) version [^)]*\)", content)
    assert found is not None
    return content.replace(found.group(), name.ljust(len(found.group()), b"0"))


def test_another_version_of_polars_is_compared_by_its_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the writer is another one; the name in the file is that of the first, and the packing differs."""
    folder = folder_of(tmp_path, VISITS, KCL, "parquet")
    path = folder / "published.parquet"
    real = parquet_footer.footer_facts

    def facts(content: bytes) -> Any:
        found = real(content)
        assert found is not None
        name = b"Polars" if content == path.read_bytes() else b"Polars (python) version 9.9.9 (build 0)"
        return parquet_footer.FooterFacts(schema=found.schema, metadata=found.metadata, writer=name)

    monkeypatch.setattr(written_form, "footer_facts", facts)
    frame = pl.read_parquet(path)
    frame.write_parquet(path, compression="snappy")
    forge(folder)
    judgement = verify_folder(folder)
    assert judgement.failures == ()
    assert [note for note in judgement.notes if "another version of Polars" in note]
    metadata(frame, path)
    forge(folder)
    assert "other metadata" in refused(folder)


def test_a_name_of_a_writer_is_no_place_to_hide(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, VISITS, KCL, "parquet")
    path = folder / "published.parquet"
    path.write_bytes(other_writer(path.read_bytes(), b"Somebody was at the clinic"))
    forge(folder)
    refused(folder)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_the_taxonomy_has_one_form(tmp_path: Path, form: str) -> None:
    folder = folder_of(tmp_path, STOPS, CAST, form)
    path = folder / f"taxonomy.{form}"
    if form == "csv":
        path.write_text(path.read_text().replace("false", '"false"', 1))
    else:
        metadata(pl.read_parquet(path), path)
    forge(folder)
    refused(folder)


def test_no_file_stands_there_that_nobody_reads(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, VISITS, KCL, "csv")
    for name, sentence in (
        ("taxonomy.csv", "a taxonomy without stops"),
        ("taxonomy.parquet", "several formats"),
        ("boxes.csv", "boxes that do not belong to published points"),
    ):
        shutil.copy(folder / "published.csv", folder / name)
        forge(folder, lambda manifest, name=name: manifest["files"].update({name: None}))
        judgement = verify_folder(folder)
        assert judgement.exit_code == 1
        assert any(sentence in failure for failure in judgement.failures), judgement.failures
        (folder / name).unlink()
        shutil.rmtree(folder)
        folder_of(tmp_path, VISITS, KCL, "csv")
    (folder / "published.csv").rename(folder / "published-0000001.csv")

    def number(manifest: dict[str, Any]) -> None:
        manifest["files"] = {"published-0000001.csv": None}
        manifest["schema"]["parts"] = "each"

    forge(folder, number)
    assert any("numbered" in failure for failure in verify_folder(folder).failures)
