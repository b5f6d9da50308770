"""GPX and PLT files, and folders of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError, WayveilError
from wayveil.io.read.loaded import Loaded
from wayveil.io.read.point_tables import read_points as read_points_asking
from wayveil.io.tabular.columns import ReadOptions


def read_points(path: str | Path, options: ReadOptions | None = None) -> Loaded:
    """Read without asking who is behind a trajectory; test_owners.py asks."""
    return read_points_asking(path, replace(options or ReadOptions(), owners="not-asked"))


DEFAULTS = ReadOptions()


def refused(path: Path, *words: str, options: ReadOptions = DEFAULTS) -> str:
    with pytest.raises(WayveilError) as caught:
        read_points(path, options)
    message = str(caught.value)
    for word in words:
        assert word in message
    assert not any(secret in message.removeprefix(str(path)) for secret in ("SECRET", "16.37"))
    assert "\n" not in message
    return message


def places(path: Path, options: ReadOptions = DEFAULTS) -> list[list[tuple[float, float]]]:
    data = read_points(path, options).data
    lon, lat = data.frame.to_file(data.x, data.y)
    pairs = list(zip(np.round(lon, 9).tolist(), np.round(lat, 9).tolist(), strict=True))
    return [pairs[data.offsets[i] : data.offsets[i + 1]] for i in range(len(data))]


# GPX

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">\n'


def point(lon: object, lat: object, time: str | None = "2024-05-31T08:15:00Z", inside: str = "") -> str:
    when = "" if time is None else f"<time>{time}</time>"
    return f'<trkpt lat="{lat}" lon="{lon}"><ele>3</ele>{when}{inside}</trkpt>\n'


def gpx(folder: Path, *tracks: list[str], name: str = "a.gpx", head: str = HEAD, more: str = "") -> Path:
    body = "".join("<trk>\n" + "".join(f"<trkseg>\n{s}</trkseg>\n" for s in track) + "</trk>\n" for track in tracks)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(head + more + body + "</gpx>\n", encoding="utf-8")
    return folder / name


def at(minute: int) -> str:
    return f"2024-05-31T08:{minute:02}:00Z"


def test_gpx(tmp_path: Path) -> None:
    more = (
        "<metadata><name>東京</name><time>2000-01-01T00:00:00Z</time></metadata>"
        '<wpt lat="1" lon="2"><time>2000-01-01T00:00:00Z</time></wpt>'
        '<rte><rtept lat="1" lon="2"><time>2000-01-01T00:00:00Z</time></rtept></rte>\n'
    )
    first = [point(16, 48, at(2)) + point(16.1, 48, at(1)), point(16.2, 48, at(5))]
    inside = "<extensions><time>1999-01-01T00:00:00Z</time><trkpt lat='9' lon='9'/></extensions>"
    file = gpx(tmp_path, first, [point(16.3, 48.1, " 2024-05-31T10:15:30+02:00\n", inside)], more=more)
    loaded = read_points(file)
    assert places(file) == [[(16.1, 48.0), (16.0, 48.0)], [(16.2, 48.0)], [(16.3, 48.1)]]
    assert loaded.ids.to_list() == ["1.1", "1.2", "2.1"]
    assert loaded.data.time_format == "utc"
    assert loaded.data.owners == "declared"
    assert not loaded.data.attributes
    assert loaded.data.frame.crs == "EPSG:4326"
    assert np.diff(loaded.data.t).tolist()[0] == 60_000_000
    assert loaded.data.t[3] == 1_717_143_330_000_000
    assert any("1 trajectory was not in time order" in note for note in loaded.notes)


def test_gpx_owners_can_be_named(tmp_path: Path) -> None:
    file = gpx(tmp_path, [point(1, 1), point(1, 1)], [point(1, 1)])
    assert read_points(file, ReadOptions(columns={"user_id": "track"})).data.owner.tolist() == [0, 0, 1]
    assert read_points(file, ReadOptions(columns={"user_id": "file"})).data.owner.tolist() == [0, 0, 0]


def test_gpx_of_other_forms(tmp_path: Path) -> None:
    plain = gpx(tmp_path, [point(1, 2)], head="<gpx>", name="plain.gpx")
    assert places(plain) == [[(1.0, 2.0)]]
    text = plain.read_text().replace("<gpx>", '<?xml version="1.0" encoding="iso-8859-1"?><gpx><desc>é</desc>')
    plain.write_bytes(text.encode("latin-1"))
    assert places(plain) == [[(1.0, 2.0)]]
    prefixed = text.replace("<gpx>", '<g:gpx xmlns:g="u">').replace("</gpx>", "</g:gpx>")
    plain.write_bytes(prefixed.encode("latin-1"))
    assert places(plain) == [[(1.0, 2.0)]]


def test_gpx_without_time(tmp_path: Path) -> None:
    file = gpx(tmp_path, [point(1, 2) + point(1, 2, None) + point(1, 2, "")])
    refused(file, "2 track points have no time, first at line 6", "<time>")
    refused(gpx(tmp_path, [point(1, 2, None)]), "1 track point has no time, first at line 5")


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (point("nan", 2, at(2)), "'lon' is not a finite number"),
        (point("SECRET", 2, at(2)), "'lon' is not a number"),
        (point(1, "", at(2)), "'lat' is empty"),
        ("<trkpt lat='1'><time>2024-05-31T08:02:00Z</time></trkpt>\n", "'lon' is empty"),
        (point(1, 91, at(2)), "latitude from -90 to 90"),
        (point(1, 2, "SECRET"), "neither a whole number nor an ISO 8601 time"),
        (point(1, 2, "2024-05-31T08:02:00"), "mixes times with a UTC offset"),
    ],
)
def test_gpx_with_bad_points(tmp_path: Path, bad: str, words: str) -> None:
    message = refused(gpx(tmp_path, [point(1, 2) + bad]), words)
    assert "at line 6" in message or "mixes" in message


def test_broken_gpx(tmp_path: Path) -> None:
    whole = gpx(tmp_path, [point(16.37, 2)] * 50).read_text()
    for cut in (len(whole) // 2, len(whole) - 8, 60):
        (tmp_path / "cut.gpx").write_text(whole[:cut])
        refused(tmp_path / "cut.gpx", "GPX file is cut short or damaged at line")
    for text, words in (
        ("SECRET", "cut short or damaged at line 1"),
        ("<kml></kml>", "not a GPX file"),
        ("", "is empty"),
        (HEAD + "</gpx>", "no track points"),
        (HEAD + "<trk><trkseg></trkseg></trk></gpx>", "no track points"),
        ('<?xml version="1.0" encoding="SECRET"?><gpx/>', "cut short or damaged"),
    ):
        (tmp_path / "bad.gpx").write_text(text)
        refused(tmp_path / "bad.gpx", words)
    refused(tmp_path / "none.gpx", "no such file")


def test_gpx_with_entities(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10 if i else "SECRET"}">' for i in range(10))
    for inside in (f" [{laughs}]", ' SYSTEM "file:///etc/passwd"', ""):
        head = f"<?xml version='1.0'?>\n<!DOCTYPE gpx{inside}>\n<gpx>"
        refused(gpx(tmp_path, [point(1, 2, "&l9;")], head=head), "DOCTYPE", "remove it")


def test_tracks_are_in_degrees(tmp_path: Path) -> None:
    file = gpx(tmp_path, [point(1, 2)])
    assert read_points(file, ReadOptions(crs="EPSG:4326")).data.frame.degrees
    refused(file, "--crs says 'planar', but the file says", options=ReadOptions(crs="planar"))


# PLT

PLT_HEAD = (
    "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
)


def plt(folder: Path, *lines: str, name: str = "a.plt", head: str = PLT_HEAD) -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes((head + "".join(line + "\r\n" for line in lines)).encode())
    return folder / name


GOOD = "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04"


def test_plt(tmp_path: Path) -> None:
    file = plt(tmp_path, GOOD, "", "39.99,116.32,0,-777,39744.12,2008-10-23,02:53:10")
    loaded = read_points(file)
    assert places(file) == [[(116.318417, 39.984702), (116.32, 39.99)]]
    assert loaded.data.time_format == "utc"
    assert np.diff(loaded.data.t).tolist() == [6_000_000]
    assert loaded.data.t[0] == 1_224_730_384_000_000
    assert loaded.rows == 2


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (GOOD[:30], "1 line has fewer than seven fields, first line 8"),
        (GOOD[:-9], "fewer than seven fields"),
        (GOOD[:-3], None),
        (GOOD[:-1], "neither a whole number nor an ISO 8601 time in 1 row, at line 8"),
        (GOOD.replace("39.984702", "SECRET"), "'lat' is not a number in 1 row, at line 8"),
        (GOOD.replace("39.984702", "400.166666666667"), "latitude from -90 to 90 in 1 row, at line 8"),
        (GOOD.replace("116.318417", "inf"), "'lon' is not a finite number"),
        (GOOD.replace("2008-10-23", "2008-13-23"), "not a day and time that exists"),
    ],
)
def test_bad_lines_of_plt(tmp_path: Path, line: str, words: str | None) -> None:
    file = plt(tmp_path, GOOD.replace("02:53:04", "01:00:00"), line)
    if words is None:  # a time without seconds is still a time
        assert read_points(file).data.n_rows == 2
    else:
        refused(file, words)


def test_blank_lines_and_short_first_lines_of_plt(tmp_path: Path) -> None:
    bad = GOOD.replace("39.984702", "SECRET")
    refused(plt(tmp_path, "", GOOD.replace("02:53:04", "01:00:00"), "", bad), "'lat' is not a number", "at line 10")
    refused(plt(tmp_path, GOOD[:9], GOOD[:20]), "2 lines have fewer than seven fields, first line 7")
    assert read_points(plt(tmp_path, "", GOOD, "", "")).rows == 1
    unended = tmp_path / "u.plt"
    unended.write_text(PLT_HEAD + GOOD)
    assert read_points(unended).rows == 1


def test_many_files_in_small_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(7):
        lines = [GOOD.replace("39.984702", f"39.{i}").replace("02:53:04", f"02:53:{k:02}") for k in range(i)]
        plt(tmp_path, *lines, name=f"{i}/Trajectory/a.plt")
    whole = places(tmp_path)
    assert [len(places_) for places_ in whole] == [1, 2, 3, 4, 5, 6]
    assert [places_[0][1] for places_ in whole] == [39.1, 39.2, 39.3, 39.4, 39.5, 39.6]
    for size in (0, 100, 300):
        monkeypatch.setattr("wayveil.io.formats.plt._BATCH_BYTES", size)
        assert places(tmp_path) == whole
    plt(tmp_path, GOOD, GOOD[:-9], name="5/Trajectory/b.plt")
    refused(tmp_path, "file 7 of 8 by name: 1 line has fewer than seven fields, first line 8")


def test_broken_plt(tmp_path: Path) -> None:
    refused(plt(tmp_path, head=""), "is empty")
    refused(plt(tmp_path, GOOD, GOOD, head=""), "not a GeoLife PLT file")
    refused(
        plt(tmp_path, head="Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet"), "cut short inside its six header"
    )
    refused(plt(tmp_path), "no point in the file")
    file = plt(tmp_path, GOOD)
    file.write_bytes(file.read_bytes() + b"\xff\xfe,1\r\n")
    refused(file, "fewer than seven fields, first line 8")


# Folders


def test_geolife(tmp_path: Path) -> None:
    plt(tmp_path, GOOD, name="Data/000/Trajectory/20081023.plt")
    plt(tmp_path, GOOD, GOOD.replace("02:53:04", "02:53:05"), name="Data/000/Trajectory/20081024.PLT")
    plt(tmp_path, GOOD, name="Data/001/Trajectory/20081023.plt")
    plt(tmp_path, name="Data/001/Trajectory/20081025.plt")
    (tmp_path / "Data/001/labels.txt").write_text("no track")
    for root in (tmp_path, tmp_path / "Data"):
        loaded = read_points(root)
        assert len(loaded.data) == 3
        assert loaded.data.owners == "given"
        assert loaded.data.owner.tolist() == [0, 0, 1]
        assert np.diff(loaded.data.offsets).tolist() == [1, 2, 1]
        assert not loaded.data.attributes
        assert loaded.notes == ("1 file without a point was left out.",)
    one = read_points(tmp_path / "Data" / "000")
    assert one.data.owner.tolist() == [0, 0]
    assert one.ids.to_list() == ["Trajectory/20081023", "Trajectory/20081024"]


def test_a_flat_folder(tmp_path: Path) -> None:
    gpx(tmp_path, [point(1, 1), point(1, 2)], name="b.gpx")
    plt(tmp_path, GOOD, name="a.plt")
    gpx(tmp_path, [point(1, 3)], name="sub/c.gpx")
    loaded = read_points(tmp_path)
    assert loaded.ids.to_list() == ["a", "b 1.1", "b 1.2", "sub/c 1.1"]
    assert loaded.data.owners == "declared"
    by_file = read_points(tmp_path, ReadOptions(columns={"user_id": "file"}))
    assert by_file.data.owner.tolist() == [0, 1, 1, 2]
    by_folder = read_points(tmp_path, ReadOptions(columns={"user_id": "folder"}))
    assert by_folder.data.owner.tolist() == [0, 0, 0, 1]


def test_errors_in_folders_name_no_file(tmp_path: Path) -> None:
    """Names of files and folders may be names of people."""
    refused(tmp_path, "the folder is empty")
    plt(tmp_path, GOOD, name="SECRETA/Trajectory/a.plt")
    bad = plt(tmp_path, GOOD.replace("39.984702", "91"), name="SECRETB/Trajectory/b.plt")
    refused(tmp_path, "1 row, at line 7 of file 2 of 2 by name")
    bad.write_text("SECRET")
    refused(tmp_path, "file 2 of 2 by name: this is not a GeoLife PLT file")
    bad.write_text("")
    refused(tmp_path, "file 2 of 2 by name: the file is empty")
    bad.unlink()
    gpx(tmp_path, [point(1, 1, None)], name="SECRETB/b.gpx")
    refused(tmp_path, "file 2 of 2 by name: 1 track point has no time")


def test_any_damage_to_a_track_is_an_input_error_or_harmless(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    for whole in (gpx(tmp_path, [point(1, 2)]), plt(tmp_path, GOOD)):
        raw = whole.read_bytes()
        target = tmp_path / f"spoiled{whole.suffix}"
        for _ in range(150):
            spoiled = bytearray(raw)
            spoiled[rng.integers(0, len(raw))] = rng.integers(0, 256)
            target.write_bytes(
                bytes(spoiled[: rng.integers(1, len(raw) + 1)]) if rng.random() < 0.3 else bytes(spoiled)
            )
            try:
                assert len(read_points(target).data) >= 1
            except InputError as error:
                assert "\n" not in str(error)  # noqa: PT017
