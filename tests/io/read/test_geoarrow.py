"""Points as GeoPandas writes them today, and what a data frame tells when it is read."""

from __future__ import annotations

import inspect
import warnings
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest

import wayveil as wv
from wayveil.errors import InputError, ReadingNote
from wayveil.io import ReadOptions, read_points

pd = pytest.importorskip("pandas")
gpd = pytest.importorskip("geopandas")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def _frame(crs: str | None) -> object:
    rows = [
        (who, datetime(2024, 3, 18, 9, step), 500_000 + who, 5_300_000 + step) for who in range(4) for step in range(5)
    ]
    table = pd.DataFrame(rows, columns=["user_id", "t", "x", "y"])
    if crs == "EPSG:4326":
        table[["x", "y"]] = table[["x", "y"]] / 1e5
    points = gpd.points_from_xy(table["x"], table["y"], crs=crs)
    return gpd.GeoDataFrame(table[["user_id", "t"]].assign(traj_id=table["user_id"]), geometry=points)


@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:32633"])
@pytest.mark.parametrize("way", ["to_parquet", "arrow"])
def test_geoparquet_and_geoarrow_say_their_system(tmp_path: Path, crs: str, way: str) -> None:
    path = tmp_path / "points.parquet"
    frame = _frame(crs)
    if way == "to_parquet":
        frame.to_parquet(path)
    else:
        pq.write_table(pa.table(frame.to_arrow(geometry_encoding="WKB")), path)
    marked = isinstance(pl.scan_parquet(path).collect_schema()["geometry"], pl.BaseExtension)
    if way == "arrow" and not marked:  # older versions of Polars leave out what Arrow says of a column
        if crs != "EPSG:4326":
            with pytest.raises(InputError, match="--crs"):
                read_points(path)
        return
    data = read_points(path).data
    assert (data.frame.crs, data.n_rows) == (crs, 20)
    seen = wv.inspect(path)
    assert (seen.profile.layout, seen.questions) == ("points", ())
    assert any(crs in guess for guess in seen.guesses)


def test_geoarrow_without_a_system_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    pq.write_table(pa.table(_frame(None).to_arrow(geometry_encoding="WKB")), path)
    with pytest.raises(InputError, match="crs"):
        read_points(path)
    assert read_points(path, ReadOptions(crs="planar")).data.n_rows == 20


def test_a_frame_tells_its_notes_as_warnings() -> None:
    start = datetime(2024, 3, 18)
    frame = pl.DataFrame(
        {
            "traj_id": [i % 4 for i in range(8)],
            "user_id": [i % 4 for i in range(8)],
            "t": [start + timedelta(hours=i // 4) for i in range(8)],
            "location": ["a"] * 8,
        }
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = wv.publish(frame, wv.Kcl(k=2, l=1), seed=1)
    notes = [str(one.message) for one in told if one.category is ReadingNote]
    assert notes == ["The times in column 't' have no UTC offset and are taken as local time."]
    assert told[0].filename == __file__
    assert isinstance(made.notes, tuple)
    assert made.to_arrow().num_rows == made.to_polars().height
    assert len(repr(made)) < 200
    assert "\n" not in repr(made)


def test_signatures_complete() -> None:
    names = set(inspect.signature(wv.publish).parameters)
    assert names >= {"what", "method", "out", "owners", "prepare", "keep", "crs", "seed", "secret", "engine"}
    assert not any(p.kind is p.VAR_KEYWORD for p in inspect.signature(wv.publish).parameters.values())
