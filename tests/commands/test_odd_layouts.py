"""Tables that look like something else: each is read right, asked about once, or refused in one sentence."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.oracles.publisher_tables import EACH, Case, check_case, collect, ep, lat, lon, put, trips, visits, walks

from wayveil.commands.inspect import inspect_file
from wayveil.errors import InputError
from wayveil.pipeline.plain_input import plain_input
from wayveil.recipe.recipe import make_input

CASES: list[Case] = []
case = collect(CASES)
_BAY = walks((-122.42, 37.77))
_TRIPS = trips()
_VISITS = visits()


@case("points", [], refusal="'d' tells them apart, as a count of days does")
def _yjmob(d: Path) -> Path:
    """YJMob100K: the day in one column, the half hour in another, cells instead of positions."""
    rows = [
        (who, day, slot, 80 + (who + slot) % 9, 90 + (who * day) % 7)
        for who in range(40)
        for day in range(12)
        for slot in (16, 20, 36)
    ]
    return put(d / "yjmob.csv", "uid,d,t,x,y", rows)


@case("points", [], refusal="no column says when and where")
def _pneuma(d: Path) -> Path:
    """pNEUMA: a vehicle per line, of as many fields as its track is long."""
    lines = ["track_id; type; traveled_d; avg_speed; lat; lon; speed; lon_acc; lat_acc; time"]
    for who in range(30):
        steps = "".join(f"37.97{who:04}; 23.73{i:04}; 4.9; 0.1; 0.0; {i * 0.04:.6f}; " for i in range(3 + 5 * who))
        lines.append(f"{who + 1}; Car; 48.85; 9.77; {steps}")
    (d / "20181024_d1_0830_0900.csv").write_text("\n".join(lines) + "\n")
    return d / "20181024_d1_0830_0900.csv"


@case("points", [], refusal="the times in 'date' are of no form that is known")
def _oracle_dates(d: Path) -> Path:
    """Times with dots between hour and minute, which nobody reads: not called a table of places."""
    rows = [(who, f"{t:%d-%b-%y %I.%M.%S.000000 %p}", y, x) for who, t, x, y in _BAY]
    return put(d / "export.csv", "id,date,lat,lng", rows)


@case("trips", _TRIPS, EACH, coordinates=True)
def _didi_orders(d: Path) -> Path:
    """Didi's orders: no header, epochs and positions of both ends."""
    rows = [
        (f"{i:032x}", ep(a), ep(b), lon(o, 104.0), lat(o, 30.6), lon(e, 104.0), lat(e, 30.6), "0.5")
        for i, (_, a, b, o, e) in enumerate(_TRIPS)
    ]
    return put(d / "order_01-30", "", rows)


@case("visits", _VISITS)
def _digit_clock(d: Path) -> Path:
    """A smart card log with the date and the time of day in digits only."""
    rows = [(f"{w:08}", f"{t:%Y%m%d}", f"{t:%H%M%S}".lstrip("0"), "ENT", f"S{p}") for w, t, p in _VISITS]
    return put(d / "taps.csv", "CARD_ID,TXN_DATE,TXN_TIME,TXN_TYPE,STATION", rows)


@case("visits", _VISITS)
def _gsm_log(d: Path) -> Path:
    """Cells of a phone, with codes of countries and areas that are no places."""
    head = "userid;unixtime;tz;country_code;network_code;cell_id;signal"
    rows = [(6000 + who, ep(t), -3600, 228, 1, 5000 + p, -80) for who, t, p in _VISITS]
    return put(d / "gsm.csv", head, rows, sep=";")


def _german_rows() -> list[tuple[Any, ...]]:
    comma = [[str(f(p)).replace(".", ",") for f in (lat, lon) for p in (o, e)] for _, _, _, o, e in _TRIPS]
    return [
        (i + 1, f"K{w:05}", f"{a:%d.%m.%Y %H:%M:%S}", f"{b:%d.%m.%Y %H:%M:%S}", c[0], c[2], c[1], c[3])
        for i, ((w, a, b, _, _), c) in enumerate(zip(_TRIPS, comma, strict=True))
    ]


@case("trips", _TRIPS, coordinates=True)
def _german_scooters(d: Path) -> Path:
    """A German export: Beginn and Ende say which time is which only to whoever knows the words."""
    head = "Fahrt-Nr;Kunde;Beginn;Ende;Start Breite;Start Länge;Ziel Breite;Ziel Länge"
    return put(d / "fahrten.csv", head, _german_rows(), sep=";", enc="cp1252", eol="\r\n")


@case("trips", _TRIPS, coordinates=True)
def _times_in_words_that_nobody_knows(d: Path) -> Path:
    """Positions of both ends, and two times of which one is never before the other: their order says what they are."""
    head = "nr;Kunde;losgefahren;angekommen;start_lat;start_lon;end_lat;end_lon"
    return put(d / "wege.csv", head, _german_rows(), sep=";")


@pytest.mark.parametrize("table", CASES, ids=str)
def test_odd_tables_are_read_or_refused(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)


def test_of_two_positions_and_one_time_the_start_is_read(tmp_path: Path) -> None:
    """The time of a start beside the position of an end would be a place where nobody was at that time."""
    rows = [(w, f"{a:%Y-%m-%d %H:%M:%S}", lat(o), lon(o), lat(e), lon(e)) for w, a, _, o, e in _TRIPS]
    table = put(tmp_path / "rides.csv", "user_id,started_at,start_lat,start_lng,end_lat,end_lng", rows)
    profile = inspect_file(make_input({"path": str(table)})).profile
    assert (profile.layout, profile.where) == ("points", {"x": "start_lng", "y": "start_lat"})
    assert any("only the start is read" in guess for guess in profile.guesses)


def _tar(d: Path) -> Path:
    with tarfile.open(d / "cabs.tar.gz", "w:gz") as archive:
        text = b"37.75 -122.39 0 1213084687\n" * 50
        entry = tarfile.TarInfo("new_abboip.txt")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text))
    return d / "cabs.tar.gz"


def _gtfs_feed(d: Path) -> Path:
    with zipfile.ZipFile(d / "feed.zip", "w") as archive:
        archive.writestr("stops.txt", "stop_id,stop_name,stop_lat,stop_lon\n1,A,1.0,2.0\n")
        archive.writestr("trips.txt", "route_id,service_id,trip_id\n1,1,1\n")
        archive.writestr("stop_times.txt", "trip_id,arrival_time,departure_time,stop_id\n1,08:00:00,08:00:10,1\n")
    return d / "feed.zip"


def _web_page(d: Path) -> Path:
    (d / "trips.csv").write_text("<!DOCTYPE html>\n<html><title>404, not found</title></html>\n")
    return d / "trips.csv"


def _pointer(d: Path) -> Path:
    (d / "trips.csv").write_text(f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 9\n")
    return d / "trips.csv"


def _kml(d: Path) -> Path:
    line = "<LineString><coordinates>11.0,48.0,0 11.1,48.1,0</coordinates></LineString>"
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">'
    (d / "tracks.kml").write_text(f"{head}<Document><Placemark>{line}</Placemark></Document></kml>\n")
    return d / "tracks.kml"


def _sheet(d: Path) -> Path:
    (d / "trips.xlsx").write_bytes(b"PK\x03\x04rest")
    return d / "trips.xlsx"


def _zstandard(d: Path) -> Path:
    (d / "trips.csv.zst").write_bytes(b"(\xb5/\xfd\x04rest")
    return d / "trips.csv.zst"


def _xml_with_type(d: Path) -> Path:
    (d / "fcd.xml").write_text('<!DOCTYPE a [<!ENTITY b "c">]>\n<a><r t="1"/><r t="2"/></a>\n')
    return d / "fcd.xml"


def _xml_cut(d: Path) -> Path:
    (d / "fcd.xml").write_text('<fcd-export>\n<timestep time="1.0"><vehicle id="a" x="1"')
    return d / "fcd.xml"


def _xml_of_one(d: Path) -> Path:
    (d / "fcd.xml").write_text("<fcd-export><timestep/></fcd-export>")
    return d / "fcd.xml"


@pytest.mark.parametrize(
    ("write", "sentence"),
    [
        (_tar, "this is an archive; unpack it, and give the folder or the table in it."),
        (_gtfs_feed, "the 3 tables in it have different columns; unpack it, and give the one that says who"),
        (_web_page, "this is a web page, no table"),
        (_pointer, "this is a pointer of Git LFS"),
        (_kml, "KML is a drawing of places, and is not read; write the tracks as GPX, GeoJSON or CSV."),
        (_sheet, "this is a spreadsheet; save the sheet with the table as CSV."),
        (_zstandard, "files that are packed so are not read; unpack it, or pack it as .gz."),
        (_xml_with_type, "XML with a document type is not read"),
        (_xml_cut, "the XML is cut short or damaged at line 2"),
        (_xml_of_one, "no element of the XML comes again with attributes"),
    ],
)
def test_what_is_no_table_is_said_in_one_sentence(tmp_path: Path, write, sentence: str) -> None:
    path = write(tmp_path)
    with pytest.raises(InputError) as error:
        inspect_file(make_input({"path": str(path)}))
    assert sentence in str(error.value)
    assert str(error.value).startswith(str(path))
    if not path.name.startswith(("fcd", "feed")):  # who publishes at once is told the same
        with pytest.raises(InputError) as same, plain_input(make_input({"path": str(path)})):
            pass
        assert str(same.value) == str(error.value)
