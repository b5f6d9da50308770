"""Visits in files as outsiders have them, with the dirt of real ones; and files that get one sentence."""

from __future__ import annotations

import gzip
import json
from datetime import timedelta
from pathlib import Path

import pytest
from tests.oracles.publisher_tables import DAY, Case, check_case, collect, ep, iso, lat, lon, put, visits, walks

CASES: list[Case] = []
case = collect(CASES)
_VISITS = visits()


@case("visits", _VISITS, ("--columns", "user_id=column_1"))
def _gowalla_gz(d: Path) -> Path:
    """Gowalla: tabs, no header, newest first, packed."""
    rows = sorted(_VISITS, key=lambda row: (row[0], -ep(row[1])))
    text = "".join(
        f"{who}\t{t:%Y-%m-%dT%H:%M:%SZ}\t{lat(p, 30.23):.10f}\t{lon(p, -97.79):.10f}\t{22847 + p}\n"
        for who, t, p in rows
    )
    (d / "loc-gowalla_totalCheckins.txt.gz").write_bytes(gzip.compress(text.encode()))
    return d / "loc-gowalla_totalCheckins.txt.gz"


@case("visits", _VISITS, ("--columns", "user_id=column_1"))
def _brightkite_dirty(d: Path) -> Path:
    """Brightkite: ids of places are hashes; some rows lack everything but the person, some are at 0.0."""
    lines = [f"{who}\t{t:%Y-%m-%dT%H:%M:%SZ}\t{lat(p, 39.7)}\t{lon(p, -104.9)}\t{p:032x}" for who, t, p in _VISITS]
    lines[30:30] = ["7\t\t\t\t", "8\t\t\t\t"]
    (d / "loc-brightkite_totalCheckins.txt").write_text("\n".join(lines) + "\n")
    return d / "loc-brightkite_totalCheckins.txt"


def _tsmc(path: Path, base: tuple[float, float], offset: int) -> Path:
    rows = [
        (470 + who, f"{p:024x}", f"{p % 3:024x}", ("Café", "Bar", "Arts & Crafts Store")[p % 3], lat(p, base[1]),
         lon(p, base[0]), offset, f"{t - timedelta(minutes=offset):%a %b %d %H:%M:%S +0000 %Y}")
        for who, t, p in _VISITS
    ]  # fmt: skip
    return put(path, "", rows, sep="\t", enc="latin-1")


@case("visits", _VISITS, ("--columns", "user_id=column_1"))
def _tsmc_nyc(d: Path) -> Path:
    """Foursquare TSMC2014: Latin-1, month names, minutes to local time."""
    return _tsmc(d / "dataset_TSMC2014_NYC.txt", (-74.0, 40.7), -240)


@case("visits", _VISITS, ("--columns", "user_id=column_1"))
def _tsmc_tokyo(d: Path) -> Path:
    return _tsmc(d / "dataset_TSMC2014_TKY.txt", (139.7, 35.6), 540)


@case("visits", _VISITS, ("--columns", "user_id=column_1"))
def _tist2015(d: Path) -> Path:
    """The global check-ins: person, venue, time, offset; no coordinates."""
    rows = [
        (50756 + who, f"4f5e{p:020x}", f"{t + timedelta(minutes=240):%a %b %d %H:%M:%S +0000 %Y}", -240)
        for who, t, p in _VISITS
    ]
    return put(d / "dataset_TIST2015_Checkins.txt", "", rows, sep="\t")


@case("visits", _VISITS)
def _cdr(d: Path) -> Path:
    """Calls: caller, callee, kind, cell, start and seconds; rows twice, cells missing."""
    head = "caller_id;callee_id;call_type;start_time;duration_s;cell_id"
    rows = [(f"A{who:05}", f"B{(who * 7) % 90:05}", "MOC", iso(t), 61, f"{p + 20801:05}") for who, t, p in _VISITS]
    rows.insert(9, rows[8])
    rows.append(("A00001", "B00002", "MOC", "2024-03-22 23:59:59", 5, ""))
    return put(d / "cdr_20240318.csv", head, rows, sep=";")


@case("visits", _VISITS)
def _taps_two_rows(d: Path) -> Path:
    """Taps in and out as rows of their own, day first, German."""
    head = "Kartennummer;Zeitstempel;Haltestelle;Art;Linie"
    rows = [(8800 + who, f"{t:%d.%m.%Y %H:%M:%S}", f"H{p}", ("EIN", "AUS")[p % 2], "U6") for who, t, p in _VISITS]
    return put(d / "taps.csv", head, rows, sep=";", eol="\r\n")


@case("visits", _VISITS)
def _hospital_badges(d: Path) -> Path:
    """RFID badges: one row per stay at a reader, with when it was first and last seen."""
    head = "badge_id,reader,first_seen,last_seen,rssi"
    rows = [(f"N{who:03}", f"ward-{p}", iso(t), iso(t + timedelta(seconds=20)), -61) for who, t, p in _VISITS]
    return put(d / "badges.csv", head, rows)


@case("visits", _VISITS)
def _library_log(d: Path) -> Path:
    """A log with comment lines on top and quoted numbers with blanks."""
    rows = [(f'" {who + 5000}"', f'"{iso(t)}"', f'" G{p} "') for who, t, p in _VISITS]
    return put(d / "gates.log", "# exported 2024-03-25\n# gates of the library\nstudent_id,time,gate", rows)


@case("visits", [], refusal="no column says when and where")
def _contacts(d: Path) -> Path:
    """SocioPatterns: who met whom, no places."""
    rows = [(20 * i, 1000 + i % 40, 1000 + (i * 7) % 39, "NUR", "MED") for i in range(300)]
    return put(d / "detailed_list_of_contacts_Hospital.dat", "", rows, sep="\t")


@case("points", [], refusal="belong together")
def _uber_foil(d: Path) -> Path:
    """Uber's pickups of 2014: time, position, base; nobody has two rows."""
    head = '"Date/Time","Lat","Lon","Base"'
    rows = [(f'"{t.month}/{t.day}/{t.year} {t:%H:%M:%S}"', y, x, '"B02512"') for _, t, x, y in walks((-73.97, 40.75))]
    return put(d / "uber-raw-data-apr14.csv", head, rows)


@case("points", [], refusal="one person")
def _records_json(d: Path) -> Path:
    """Google's Records.json: one person."""
    found = [
        {"latitudeE7": round(y * 1e7), "longitudeE7": round(x * 1e7), "accuracy": 20, "source": "WIFI",
         "deviceTag": 1234567, "timestamp": f"{t:%Y-%m-%dT%H:%M:%S}.123Z"}
        for who, t, x, y in walks((-73.97, 40.75)) if who == 0
    ]  # fmt: skip
    (d / "Records.json").write_text(json.dumps({"locations": found}))
    return d / "Records.json"


@case("visits", [], refusal="no times")
def _gbfs_status(d: Path) -> Path:
    """One snapshot of stations: places, nobody moves."""
    stations = [
        {"station_id": str(p), "name": f"Station {p}", "lat": lat(p), "lon": lon(p), "capacity": 20} for p in range(30)
    ]
    (d / "station_information.json").write_text(
        json.dumps({"last_updated": ep(DAY), "ttl": 5, "data": {"stations": stations}})
    )
    return d / "station_information.json"


@pytest.mark.parametrize("table", CASES, ids=str)
def test_dirty_visits_are_read_back_as_they_were_written(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)
