"""Positions in tables as publishers ship them: each is read back to what was written, with one question at most."""

# ruff: noqa: E501
# Headers and rows stand on one line, as in the files.

from __future__ import annotations

import json
import struct
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from publisher_tables import DAY, Case, check_case, collect, ep, iso, put, walks

CASES: list[Case] = []
case: Any = collect(CASES)
SF = (-122.42, 37.77)
BJ = (116.4, 39.9)
ROME = (12.48, 41.89)
SH = (121.47, 31.23)
OSLO = (10.7, 59.9)
BRU = (4.35, 50.84)
SYD = (151.2, -33.87)


def _comma(number: float) -> str:
    return str(number).replace(".", ",")


@case("points", walks(ROME), ("--columns", "user_id=column_1"), shift=-3600)
def _rome(d: Path) -> Path:
    rows = [(w, t.strftime("%Y-%m-%d %H:%M:%S.") + "739166+01", f"POINT({y} {x})") for w, t, x, y in walks(ROME)]
    return put(d / "taxi_february.txt", "", rows, ";")


@case("points", walks(SH), ("--columns", "user_id=column_1"))
def _shanghai(d: Path) -> Path:  # id,time,lon,lat,speed,angle,status
    return put(d / "Taxi_105", "", [(20000 + w, iso(t), x, y, 30 + w % 7, 157.5, 1) for w, t, x, y in walks(SH)])


@case("points", walks((114.05, 22.54)), ("--columns", "user_id=column_1"))
def _shenzhen(
    d: Path,
) -> Path:  # plate letters, clock only? hkust: id,HH:MM:SS,lon,lat,status,speed -- with a date column
    return put(
        d / "TaxiData.txt",
        "",
        [
            (f"粤B{w:04}", t.strftime("%Y-%m-%d"), t.strftime("%H:%M:%S"), x, y, w % 2, 22)
            for w, t, x, y in walks((114.05, 22.54))
        ],
    )


@case("points", walks(OSLO), ())
def _norway_ais(d: Path) -> Path:
    h = "mmsi;date_time_utc;lon;lat;sog;cog;true_heading;nav_status;message_nr;source"
    return put(
        d / "ais_norway.csv",
        h,
        [
            (257000000 + w, t.strftime("%Y-%m-%dT%H:%M:%S"), x, y, "5.1", 90, 90, 0, 1, "g")
            for w, t, x, y in walks(OSLO)
        ],
        ";",
    )


@case("points", walks(OSLO), ())
def _helcom(d: Path) -> Path:
    h = "timestamp_pretty,timestamp,msgid,targetType,mmsi,lat,long,posacc,sog,cog,shipType,dimBow,draught,dimPort,dimStarboard,dimStern,month,week,imo,country,name,callsign"
    return put(
        d / "ais_helcom.csv",
        h,
        [
            (
                t.strftime("%d/%m/%Y %H:%M:%S"),
                ep(t) * 1000,
                1,
                "A",
                257000000 + w,
                y,
                x,
                1,
                5.1,
                90,
                "CARGO",
                10,
                5,
                3,
                3,
                10,
                3,
                12,
                9000000 + w,
                "Norway",
                f"SHIP {w}",
                f"CALL{w}",
            )
            for w, t, x, y in walks(OSLO)
        ],
    )


@case("points", walks(SF), ())
def _opensky(d: Path) -> Path:
    h = "time,icao24,lat,lon,velocity,heading,vertrate,callsign,onground,alert,spi,squawk,baroaltitude,geoaltitude,lastposupdate,lastcontact"
    return put(
        d / "states_2024-03-18-09.csv",
        h,
        [
            (
                ep(t),
                f"a0{w:04x}",
                y,
                x,
                200.5,
                90.1,
                0,
                f"UAL{w:<5}",
                "False",
                "False",
                "False",
                1200,
                10000,
                10100,
                ep(t) - 0.2,
                ep(t),
            )
            for w, t, x, y in walks(SF)
        ],
    )


@case("points", walks(SF), ())
def _gtfsrt(d: Path) -> Path:
    h = "vehicle_id,timestamp,latitude,longitude,bearing,speed,current_stop_sequence,current_status,trip_id,route_id,direction_id,start_time,start_date"
    return put(
        d / "vehiclePositions.csv",
        h,
        [
            (f"bus{w}", ep(t), y, x, 90, 8.3, 3, "IN_TRANSIT_TO", f"T{w}", f"R{w % 3}", 0, "08:00:00", "20240318")
            for w, t, x, y in walks(SF)
        ],
    )


@case("points", walks(SF), ("--columns", "user_id=bike_id"))
def _gbfs(d: Path) -> Path:  # snapshots joined: json lines
    p = d / "free_bike_status.json"
    p.write_text(
        json.dumps(
            {
                "last_updated": ep(DAY),
                "ttl": 60,
                "data": {
                    "bikes": [
                        {
                            "bike_id": f"b{w}",
                            "lat": y,
                            "lon": x,
                            "is_reserved": 0,
                            "is_disabled": 0,
                            "last_reported": ep(t),
                        }
                        for w, t, x, y in walks(SF)
                    ]
                },
            }
        )
    )
    return p


@case("points", walks(SF), refusal="one person")
def _takeout(d: Path) -> Path:
    p = d / "Records.json"
    p.write_text(
        json.dumps(
            {
                "locations": [
                    {
                        "latitudeE7": round(y * 1e7),
                        "longitudeE7": round(x * 1e7),
                        "accuracy": 20,
                        "source": "WIFI",
                        "deviceTag": -12345,
                        "timestamp": t.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
                    }
                    for w, t, x, y in walks(SF)
                    if w == 0
                ]
            }
        )
    )
    return p


@case("points", walks(SF), refusal="one person")
def _semantic(d: Path) -> Path:
    p = d / "2024_MARCH.json"
    p.write_text(
        json.dumps(
            {
                "timelineObjects": [
                    {
                        "placeVisit": {
                            "location": {
                                "latitudeE7": round(y * 1e7),
                                "longitudeE7": round(x * 1e7),
                                "placeId": "ChIJx",
                                "name": "Home",
                            },
                            "duration": {
                                "startTimestamp": t.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                "endTimestamp": (t + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ"),
                            },
                        }
                    }
                    for w, t, x, y in walks(SF)
                    if w == 0
                ]
            }
        )
    )
    return p


@case("points", walks(SF), ())
def _micro(d: Path) -> Path:
    h = "DeviceId,UnixTimeMs,LatE6,LonE6,Speed [km/h]"
    return put(
        d / "fleet.csv", h, [(w, ep(t) * 1000, round(y * 1e6), round(x * 1e6), 31.5) for w, t, x, y in walks(SF)]
    )


@case("points", walks(SF), ())
def _dms(d: Path) -> Path:
    def f(v, pos, neg):
        a = abs(v)
        g = int(a)
        return f"{pos if v >= 0 else neg} {g}°{(a - g) * 60:.4f}'"

    h = "Vehicle,Time,Latitude,Longitude"
    return put(d / "dm.csv", h, [(f"v{w}", iso(t), f(y, "N", "S"), f(x, "E", "W")) for w, t, x, y in walks(SF)])


@case("points", walks(SYD), ())
def _dms2(d: Path) -> Path:
    def f(v, pos, neg):
        a = abs(v)
        g = int(a)
        m = int((a - g) * 60)
        s = ((a - g) * 60 - m) * 60
        return f'{g}°{m:02}\'{s:.2f}""{pos if v >= 0 else neg}'

    h = "vehicle,time,lat,lon"
    return put(
        d / "dms.csv", h, [(f"v{w}", iso(t), f'"{f(y, "N", "S")}"', f'"{f(x, "E", "W")}"') for w, t, x, y in walks(SYD)]
    )


@case("points", walks(SF), ())
def _combined(d: Path) -> Path:
    h = 'user,when,"Location (lat, lon)"'
    return put(d / "combined.csv", h, [(f"u{w}", iso(t), f'"({y}, {x})"') for w, t, x, y in walks(SF)])


@case("points", walks(SF), ())
def _combined2(d: Path) -> Path:
    h = "user;when;position"
    return put(d / "combined2.csv", h, [(f"u{w}", iso(t), f"{y},{x}") for w, t, x, y in walks(SF)], ";")


@case("points", walks(SF), ())
def _unit_heads(d: Path) -> Path:
    h = "Fahrzeug-ID;Zeitstempel;Länge [°];Breite [°];Geschwindigkeit [km/h]"
    return put(
        d / "fzg.csv",
        h,
        [(w, t.strftime("%d.%m.%Y %H:%M:%S"), _comma(x), _comma(y), "33,1") for w, t, x, y in walks(SF)],
        ";",
        enc="cp1252",
    )


@case("points", walks(SF), ())
def _two_headers(d: Path) -> Path:
    p = d / "logger.csv"
    rows = ["device_id,timestamp,lat,lon,speed", "[-],[UTC],[deg],[deg],[km/h]"] + [
        f"{w},{iso(t)},{y},{x},12.1" for w, t, x, y in walks(SF)
    ]
    p.write_text("\n".join(rows) + "\n")
    return p


@case("points", walks(SF), ("--columns", "user_id=Unit"))
def _footer(d: Path) -> Path:
    p = d / "export.csv"
    rows = (
        ["Fleet report March", "", "Unit,Date,Lat,Lng"]
        + [f"truck{w},{iso(t)},{y},{x}" for w, t, x, y in walks(SF)]
        + ["", "Total rows: 360", ""]
    )
    p.write_text("\n".join(rows))
    return p


@case("points", walks(SF), ("--columns", "user_id=Unit"))
def _footer2(d: Path) -> Path:
    p = d / "export2.csv"
    rows = ["Unit;Date;Lat;Lng"] + [f"truck{w};{iso(t)};{y};{x}" for w, t, x, y in walks(SF)] + ["Total;360;;"]
    p.write_text("\n".join(rows))
    return p


@case("points", walks(SF), ())
def _utf16(d: Path) -> Path:
    p = d / "excel.csv"
    f = "%d.%m.%Y %H:%M:%S"
    rows = ["sep=;", "Gerät;Zeit;Längengrad;Breitengrad"] + [
        f"{w};{t.strftime(f)};{str(x).replace('.', ',')};{str(y).replace('.', ',')}" for w, t, x, y in walks(SF)
    ]
    p.write_bytes("\r\n".join(rows).encode("utf-16"))
    return p


@case("points", walks(SF), ())
def _hms_columns(d: Path) -> Path:
    h = "id_vehicle,year,month,day,hour,minute,second,lat,lon"
    return put(
        d / "hms.csv", h, [(w, t.year, t.month, t.day, t.hour, t.minute, t.second, y, x) for w, t, x, y in walks(SF)]
    )


@case("points", walks(SF), ())
def _zones_abbr(d: Path) -> Path:
    h = "user,time,lat,lon"
    return put(d / "abbr.csv", h, [(w, t.strftime("%a %b %d %H:%M:%S PST %Y"), y, x) for w, t, x, y in walks(SF)])


@case("points", walks(SF), ())
def _zones_abbr2(d: Path) -> Path:
    h = "user,time,lat,lon"
    return put(d / "abbr2.csv", h, [(w, iso(t) + " CET", y, x) for w, t, x, y in walks(SF)])


@case("points", walks(SF), ())
def _sentinels(d: Path) -> Path:
    h = "user,time,lat,lon"
    rows = [(w, iso(t), y, x) for w, t, x, y in walks(SF)]
    rows += [(1, iso(DAY + timedelta(hours=11, seconds=i)), -999.0, -999.0) for i in range(9)] + [
        (2, iso(DAY + timedelta(hours=11, seconds=i)), 0.0, -0.0) for i in range(9)
    ]
    return put(d / "sent.csv", h, rows)


@case("points", walks(SF), ())
def _dup_names(d: Path) -> Path:
    h = "user,time,lat,lon,note,note,,"
    return put(d / "dup.csv", h, [(w, iso(t), y, x, "a", "b", "", "") for w, t, x, y in walks(SF)])


@case("points", walks(BJ), ())
def _chinese(d: Path) -> Path:
    h = "车牌号,时间,经度,纬度,速度"
    return put(d / "出租车.csv", h, [(f"京B{w:04}", iso(t), x, y, 30) for w, t, x, y in walks(BJ)], enc="gbk")


@case("points", walks((37.6, 55.75)), ())
def _cyrillic(d: Path) -> Path:
    h = "Пользователь;Время;Долгота;Широта"
    return put(
        d / "треки.csv",
        h,
        [(w, t.strftime("%d.%m.%Y %H:%M:%S"), x, y) for w, t, x, y in walks((37.6, 55.75))],
        ";",
        enc="cp1251",
    )


@case("points", walks((46.7, 24.7)), ())
def _arabic(d: Path) -> Path:
    h = "رقم المركبة,الوقت,خط العرض,خط الطول"
    return put(d / "مركبات.csv", h, [(w, iso(t), y, x) for w, t, x, y in walks((46.7, 24.7))])


@case("points", walks(SF), ())
def _clock12(d: Path) -> Path:
    h = "Driver,Local Time,Latitude,Longitude"
    return put(
        d / "c12.csv", h, [(f"d{w}", t.strftime("%m/%d/%Y %I:%M:%S%p").lower(), y, x) for w, t, x, y in walks(SF)]
    )


@case("points", walks(SF), ())
def _weekday(d: Path) -> Path:
    h = "uid;weekday;date;time;lat;lon"
    return put(
        d / "wd.csv",
        h,
        [(w, t.strftime("%A"), t.strftime("%d-%m-%y"), t.strftime("%H:%M:%S"), y, x) for w, t, x, y in walks(SF)],
        ";",
    )


@case("points", walks(SF), (), shift=8 * 3600)
def _iso_offset(d: Path) -> Path:
    h = "person_id,recorded_at,geom"
    return put(
        d / "pts.csv",
        h,
        [(w, t.strftime("%Y-%m-%dT%H:%M:%S.%f") + "-08:00", f"SRID=4326;POINT({x} {y})") for w, t, x, y in walks(SF)],
    )


@case("points", walks(SF), ())
def _wkb_hex(d: Path) -> Path:
    h = "person_id,t,geom"
    return put(
        d / "wkb.csv",
        h,
        [
            (w, iso(t), ("01" + "01000020" + "E6100000" + struct.pack("<dd", x, y).hex()).upper())
            for w, t, x, y in walks(SF)
        ],
    )


@case("points", walks(SF), ())
def _geolife_csv(d: Path) -> Path:
    h = "Unnamed: 0,Latitude,Longitude,Zero,Altitude,NumDays,Date,Time,user,label"
    return put(
        d / "geolife.csv",
        h,
        [
            (i, y, x, 0, 492, 39744.1 + i / 1000, t.strftime("%Y-%m-%d"), t.strftime("%H:%M:%S"), f"{w:03}", "bus")
            for i, (w, t, x, y) in enumerate(walks(SF))
        ],
    )


@case("points", walks(BRU), (), metres=True)
def _lambert(d: Path) -> Path:
    h = "person,time,x,y"
    return put(
        d / "lambert.csv",
        h,
        [
            (w, iso(t), round(150000 + (x - 4.35) * 70000, 2), round(170000 + (y - 50.84) * 111000, 2))
            for w, t, x, y in walks(BRU)
        ],
    )


@case("points", walks(SF), ())
def _strava(d: Path) -> Path:
    h = "athlete_id,activity_id,Timestamp,Position_lat_semicircles,Position_long_semicircles"
    return put(
        d / "fit.csv",
        h,
        [(w, 900 + w, iso(t), round(y * 2**31 / 180), round(x * 2**31 / 180)) for w, t, x, y in walks(SF)],
    )


@case("points", walks(SF), ())
def _excel_serial(d: Path) -> Path:
    h = "vehicle,Timestamp,lat,lon"
    return put(
        d / "serial.csv",
        h,
        [(w, f"{(t - datetime(1899, 12, 30)).total_seconds() / 86400:.8f}", y, x) for w, t, x, y in walks(SF)],
    )


@case("points", walks(SF), ())
def _compact14(d: Path) -> Path:
    h = "msisdn_hash|ts|lat|lon"
    return put(
        d / "c14.dat", h, [("%08x" % (w * 9973 + 7), t.strftime("%Y%m%d%H%M%S"), y, x) for w, t, x, y in walks(SF)], "|"
    )


@case("points", walks(SF), ())
def _swapped(d: Path) -> Path:  # names of axes are swapped, as in some exports: longitude holds 37, latitude -122
    h = "user,time,longitude,latitude"
    return put(d / "swapped.csv", h, [(w, iso(t), y, x) for w, t, x, y in walks(SF)])


@case("points", walks(SF), ())
def _jsonl(d: Path) -> Path:
    p = d / "pings.jsonl"
    p.write_text(
        "\n".join(
            json.dumps({"device": f"d{w}", "ts": ep(t), "coords": {"lat": y, "lon": x}}) for w, t, x, y in walks(SF)
        )
    )
    return p


@case("points", walks(SF), ())
def _json_array(d: Path) -> Path:
    p = d / "pings.json"
    p.write_text(
        json.dumps(
            [
                {"user": f"d{w}", "time": t.strftime("%Y-%m-%dT%H:%M:%SZ"), "lat": y, "lng": x}
                for w, t, x, y in walks(SF)
            ]
        )
    )
    return p


@case("points", walks(SF), ("--columns", "user_id=file"))
def _tcx(d: Path) -> Path:
    folder = d / "tcx"
    folder.mkdir()
    for who in range(12):
        body = "".join(
            f"<Trackpoint><Time>{t.strftime('%Y-%m-%dT%H:%M:%SZ')}</Time><Position><LatitudeDegrees>{y}</LatitudeDegrees><LongitudeDegrees>{x}</LongitudeDegrees></Position></Trackpoint>"
            for w, t, x, y in walks(SF)
            if w == who
        )
        (folder / f"run{who}.tcx").write_text(
            f'<?xml version="1.0"?><TrainingCenterDatabase xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2"><Activities><Activity Sport="Running"><Id>x</Id><Lap><Track>{body}</Track></Lap></Activity></Activities></TrainingCenterDatabase>'
        )
    return folder


@case("points", walks(BJ), ())
def _plt_folder(d: Path) -> Path:
    for who in range(12):
        f = d / "Data" / f"{who:03}" / "Trajectory"
        f.mkdir(parents=True)
        head = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"
        (f / f"20240318{who:06}.plt").write_text(
            head
            + "".join(
                f"{y},{x},0,492,39744.12,{t.strftime('%Y-%m-%d,%H:%M:%S')}\n" for w, t, x, y in walks(BJ) if w == who
            )
        )
    return d / "Data"


@case("points", walks(SF), ("--columns", "x=c2,y=c1", "--crs", "degrees"))
def _nameless_coordinates(d: Path) -> Path:
    return put(d / "n2.csv", "user_id,stamp,c1,c2", [(w, iso(t), y, x) for w, t, x, y in walks(SF)])


@pytest.mark.parametrize("table", CASES, ids=str)
def test_points_are_read_back_as_they_were_written(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)
