"""Calls, check-ins and other visits in tables as publishers ship them: each is read back to what was written, with one question at most."""

# ruff: noqa: E501
# Headers and rows stand on one line, as in the files.

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from publisher_tables import Case, check_case, collect, ep, iso, lat, lon, put, visits

CASES: list[Case] = []
case: Any = collect(CASES)


@case("visits", visits(), ())
def _tap_events(d: Path) -> Path:
    h = "Card ID;Date;Time;Station;Direction;Fare [EUR]"
    return put(
        d / "validations.csv",
        h,
        [
            (f"{w:010}", t.strftime("%d.%m.%Y"), t.strftime("%H:%M:%S"), f"Bahnhof Süd {p}", "IN", "2,40")
            for w, t, p in visits()
        ],
        ";",
        enc="cp1252",
    )


@case("visits", visits(), ())
def _d4d(d: Path) -> Path:
    return put(d / "SET2_P01.CSV", "user_id,timestamp,site_id", [(w + 1, iso(t), p + 1) for w, t, p in visits()])


@case("visits", visits(), ("--columns", "user_id=column_1"))
def _d4d_nohead(d: Path) -> Path:
    return put(d / "POS_SAMPLE_0.TSV", "", [(w + 1, iso(t), p + 1) for w, t, p in visits()], "\t")


@case("visits", visits(), ())
def _cdr_latin(d: Path) -> Path:
    h = "Numéro appelant;Numéro appelé;Date d'appel;Heure d'appel;Durée (s);Cellule"
    return put(
        d / "cdr.csv",
        h,
        [
            (f"07{w:08}", f"06{w:08}", t.strftime("%d/%m/%Y"), t.strftime("%H:%M:%S"), "12,5", f"CELL{p}")
            for w, t, p in visits()
        ],
        ";",
        enc="cp1252",
    )


@case("visits", visits(), ())
def _wifi(d: Path) -> Path:
    h = "timestamp\tmac_address\tap_name\trssi"
    return put(
        d / "wifi_log.tsv",
        h,
        [(f"{ep(t)}.{w:06}", f"aa:bb:cc:00:00:{w:02x}", f"AP-{p}", -60 - w % 9) for w, t, p in visits()],
        "\t",
    )


@case("visits", visits(), ())
def _bluetooth(d: Path) -> Path:
    h = "DETECTOR_ID,DEVICE_MAC_HASH,DETECTION_TIME,CLASS_OF_DEVICE"
    return put(
        d / "bt.csv",
        h,
        [(f"BT{p:03}", "%016x" % (w * 7919 + 5), t.strftime("%d-%m-%Y %H:%M:%S"), "phone") for w, t, p in visits()],
    )


@case("visits", visits(), ())
def _badges(d: Path) -> Path:
    h = "Badge No.|Employee Dept|Door|Event Time"
    return put(
        d / "badge_export.psv",
        h,
        [(1000 + w, "ICU", f"Ward {p}", t.strftime("%b %d, %Y %I:%M:%S %p").replace('"', "")) for w, t, p in visits()],
        "|",
    )


@case("visits", visits(), ("--columns", "user_id=column_1"))
def _brightkite(d: Path) -> Path:
    return put(
        d / "loc-brightkite_totalCheckins.txt",
        "",
        [
            (w, t.strftime("%Y-%m-%dT%H:%M:%SZ"), lat(p, 39.7), lon(p, -104.9), "%032x" % (p + 88))
            for w, t, p in visits()
        ],
        "\t",
    )


@case("visits", visits(), ())
def _weeplaces(d: Path) -> Path:
    h = "userid,placeid,datetime,lat,lon,city,category"
    return put(
        d / "weeplace_checkins.csv",
        h,
        [
            (f"user-{w}", f"place-{p}", t.strftime("%Y-%m-%dT%H:%M:%S"), lat(p), lon(p), "New York", "")
            for w, t, p in visits()
        ],
    )


@case("visits", visits(), ())
def _foursquare_header(d: Path) -> Path:
    h = "userId,venueId,venueCategoryId,venueCategory,latitude,longitude,timezoneOffset,utcTimestamp"
    return put(
        d / "dataset_TSMC2014_NYC.csv",
        h,
        [
            (
                w,
                "%024x" % (p + 7),
                "%024x" % (p + 99),
                "Bar",
                lat(p),
                lon(p),
                -240,
                (t + timedelta(hours=4)).strftime("%a %b %d %H:%M:%S +0000 %Y"),
            )
            for w, t, p in visits()
        ],
    )


@case("visits", visits(), ("--columns", "location=b7"))
def _nameless_place(d: Path) -> Path:
    return put(d / "n1.csv", "user_id,b7,stamp", [(w, f"L{p}", iso(t)) for w, t, p in visits()])


@case("visits", visits(), ("--columns", "t=k"), shift=-1710720000)
def _nameless_time(d: Path) -> Path:
    return put(d / "n3.csv", "user_id,station,k", [(w, f"L{p}", ep(t) - 1710720000) for w, t, p in visits()])


@pytest.mark.parametrize("table", CASES, ids=str)
def test_visits_are_read_back_as_they_were_written(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)
