"""What a file holds, told from its name and columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.errors import InputError
from wayveil.io.tabular.columns import ReadOptions
from wayveil.io.tabular.detect import guess_kind


def csv(folder: Path, header: str) -> Path:
    (folder / "a.csv").write_text(header + "\n")
    return folder / "a.csv"


@pytest.mark.parametrize(
    ("header", "kind"),
    [
        ("traj_id,t,location", "visits"),
        ("traj_id,t,x,y", "points"),
        ("traj_id,t,lon,lat", "points"),
        ("traj_id,t,Longitude,Latitude", "points"),
        ("traj_id,t,geometry", "points"),
        ("traj_id,t,WKT", "points"),
        ("traj_id,t,latlon", "points"),
    ],
)
def test_columns_tell(tmp_path: Path, header: str, kind: str) -> None:
    assert guess_kind(csv(tmp_path, header)) == kind


@pytest.mark.parametrize("name", ["a.gpx", "a.plt", "a.geojson", "a.GEOJSONL", "a.ndjson", "a.json"])
def test_formats_tell(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("not looked at")
    assert guess_kind(tmp_path / name) == "points"
    if name in ("a.gpx", "a.plt"):
        assert guess_kind(tmp_path) == "points"
    else:  # a folder of these is not read
        with pytest.raises(InputError, match="give a folder of tracks or of Parquet files"):
            guess_kind(tmp_path)


def test_mappings_tell(tmp_path: Path) -> None:
    file = csv(tmp_path, "traj_id,t,a,b,lon,lat,location")
    assert guess_kind(file, ReadOptions(columns={"location": "a"})) == "visits"
    assert guess_kind(file, ReadOptions(columns={"x": "a", "y": "b"})) == "points"
    assert guess_kind(csv(tmp_path, "traj_id,t,p"), ReadOptions(columns={"geometry": "p"})) == "points"


def refused(path: Path, *words: str, **columns: str) -> None:
    with pytest.raises(InputError) as caught:
        guess_kind(path, ReadOptions(columns=columns))
    for word in words:
        assert word in str(caught.value)


def test_both_and_neither(tmp_path: Path) -> None:
    refused(csv(tmp_path, "traj_id,t,location,lon,lat"), "both visits and points", "--kind visits or --kind points")
    refused(
        csv(tmp_path, "card,time,station,easting,northing"),
        "neither visits (traj_id, t, location) nor points (traj_id, t, x, y)",
        "--columns traj_id=card,t=time,location=station",
        "--columns traj_id=card,t=time,x=easting,y=northing",
    )
    refused(csv(tmp_path, "traj_id,t,q"), "--columns location=NAME", "--columns x=NAME,y=NAME")


def test_the_other_columns_are_needed_too(tmp_path: Path) -> None:
    refused(csv(tmp_path, "card,t,lon,lat"), "missing: traj_id", "traj_id=card")
    refused(csv(tmp_path, "traj_id,time,location"), "missing: t", "t=time")
    refused(csv(tmp_path, "traj_id,t,lon,lat"), "geometry is the column 'geo'", geometry="geo")
    refused(tmp_path / "none.csv", "no such file")
