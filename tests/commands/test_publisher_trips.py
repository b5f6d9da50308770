"""Trips and taps in tables as publishers ship them: each is read back to what was written, with one question at most."""

# ruff: noqa: E501
# Headers and rows stand on one line, as in the files.

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from publisher_tables import EACH, Case, check_case, collect, ep, iso, lat, lon, put, trips

CASES: list[Case] = []
case: Any = collect(CASES)


def _comma(number: float) -> str:
    return str(number).replace(".", ",")


@case("trips", trips(), EACH)
def _fhv_parquet(d: Path) -> Path:
    T = trips()
    p = d / "fhv_tripdata_2024-01.parquet"
    pl.DataFrame(
        {
            "dispatching_base_num": ["B00008"] * len(T),
            "pickup_datetime": [t[1] for t in T],
            "dropOff_datetime": [t[2] for t in T],
            "PUlocationID": [float(t[3]) for t in T],
            "DOlocationID": [float(t[4]) for t in T],
            "SR_Flag": [None] * len(T),
            "Affiliated_base_number": ["B00008"] * len(T),
        },
        schema_overrides={"SR_Flag": pl.Int32},
    ).write_parquet(p)
    return p


@case("trips", trips(), EACH, coordinates=True)
def _yellow_2013(d: Path) -> Path:
    h = "medallion, hack_license, vendor_id, rate_code, store_and_fwd_flag, pickup_datetime, dropoff_datetime, passenger_count, trip_time_in_secs, trip_distance, pickup_longitude, pickup_latitude, dropoff_longitude, dropoff_latitude"
    return put(
        d / "trip_data_1.csv",
        h,
        [
            (
                "%032X" % (w * 7919),
                "%032X" % (i * 31 % 40 * 104729),
                "CMT",
                1,
                "N",
                iso(s),
                iso(e),
                1,
                382,
                1.0,
                lon(o),
                lat(o),
                lon(q),
                lat(q),
            )
            for i, (w, s, e, o, q) in enumerate(trips())
        ],
        eol="\r\n",
    )


@case("trips", trips(), EACH)
def _chicago_tnp(d: Path) -> Path:
    h = "Trip ID,Trip Start Timestamp,Trip End Timestamp,Trip Seconds,Trip Miles,Pickup Census Tract,Dropoff Census Tract,Pickup Community Area,Dropoff Community Area,Fare,Tip,Additional Charges,Trip Total,Shared Trip Authorized,Trips Pooled"
    f = "%m/%d/%Y %I:%M:%S %p"
    return put(
        d / "Transportation_Network_Providers_-_Trips.csv",
        h,
        [
            (
                f"{i:040x}",
                s.strftime(f),
                e.strftime(f),
                '"1,234"',
                3.4,
                "",
                "",
                o,
                q,
                '"1,007.50"',
                0,
                2.5,
                10,
                "false",
                1,
            )
            for i, (w, s, e, o, q) in enumerate(trips())
        ],
    )


@case("trips", trips(), EACH)
def _tfl_new(d: Path) -> Path:
    h = '"Number","Start date","Start station number","Start station","End date","End station number","End station","Bike number","Bike model","Total duration","Total duration (ms)"'
    return put(
        d / "390JourneyDataExtract.csv",
        h,
        [
            tuple(
                f'"{v}"'
                for v in (
                    140000000 + i,
                    s.strftime("%Y-%m-%d %H:%M"),
                    f"00{o}",
                    f"Street {o}, Bank",
                    e.strftime("%Y-%m-%d %H:%M"),
                    f"00{q}",
                    f"Place {q}, Soho",
                    50000 + w,
                    "CLASSIC",
                    "5m 8s",
                    308000,
                )
            )
            for i, (w, s, e, o, q) in enumerate(trips())
        ],
    )


@case("trips", trips(), EACH)
def _nextbike(d: Path) -> Path:
    h = "bike_number;start_time;end_time;rental_place_start;rental_place_end;start_lat;start_lng;end_lat;end_lng"
    f = "%d.%m.%Y %H:%M"
    return put(
        d / "nextbike_2024.csv",
        h,
        [
            (
                90000 + w,
                s.strftime(f),
                e.strftime(f),
                f"Hauptbahnhof {o}",
                f"Straße {q}",
                _comma(lat(o, 50.9)),
                _comma(lon(o, 6.9)),
                _comma(lat(q, 50.9)),
                _comma(lon(q, 6.9)),
            )
            for w, s, e, o, q in trips()
        ],
        ";",
        enc="cp1252",
        eol="\r\n",
    )


@case("trips", trips(), EACH)
def _baywheels_old(d: Path) -> Path:
    h = '"duration_sec","start_time","end_time","start_station_id","start_station_name","start_station_latitude","start_station_longitude","end_station_id","end_station_name","end_station_latitude","end_station_longitude","bike_id","user_type","member_birth_year","member_gender","bike_share_for_all_trip"'
    return put(
        d / "201803-fordgobike-tripdata.csv",
        h,
        [
            (
                900,
                f'"{iso(s)}.1450"',
                f'"{iso(e)}.2180"',
                o,
                f'"St {o}"',
                lat(o, 37.7),
                lon(o, -122.4),
                q,
                f'"St {q}"',
                lat(q, 37.7),
                lon(q, -122.4),
                w,
                '"Subscriber"',
                1984,
                '"Male"',
                '"No"',
            )
            for w, s, e, o, q in trips()
        ],
    )


@case("trips", trips(), EACH)
def _hubway(d: Path) -> Path:
    h = "seq_id,hubway_id,status,duration,start_date,strt_statn,end_date,end_statn,bike_nr,subsc_type,zip_code,birth_date,gender"
    f = "%-m/%-d/%Y %H:%M:00"
    return put(
        d / "hubway_trips.csv",
        h,
        [
            (
                i + 1,
                i + 8,
                "Closed",
                9,
                s.strftime(f),
                float(o),
                e.strftime(f),
                float(q),
                f"B{w:05}",
                "Registered",
                "'97217",
                1976,
                "Male",
            )
            for i, (w, s, e, o, q) in enumerate(trips())
        ],
    )


@case("trips", trips(), EACH)
def _toronto(d: Path) -> Path:
    h = "Trip Id,Trip  Duration,Start Station Id,Start Time,Start Station Name,End Station Id,End Time,End Station Name,Bike Id,User Type"
    f = "%m/%d/%Y %H:%M"
    return put(
        d / "Bike share ridership 2024-03.csv",
        h,
        [
            (10000 + i, 600, o, s.strftime(f), f"Kõngs {o}", q, e.strftime(f), f"Queen {q}", w, "Annual Member")
            for i, (w, s, e, o, q) in enumerate(trips())
        ],
        enc="utf-8-sig",
    )


@case("trips", trips(), EACH)
def _seoul_bike(d: Path) -> Path:
    h = '"자전거번호","대여일시","대여 대여소번호","대여 대여소명","대여거치대","반납일시","반납대여소번호","반납대여소명","반납거치대","이용시간","이용거리"'
    return put(
        d / "서울특별시 공공자전거 대여이력.csv",
        h,
        [
            (
                f'"SPB-{w:05}"',
                f'"{iso(s)}"',
                f'"0000{o}"',
                f'"역 {o}"',
                "7",
                f'"{iso(e)}"',
                f'"0000{q}"',
                f'"역 {q}"',
                "3",
                "9",
                "1430",
            )
            for w, s, e, o, q in trips()
        ],
        enc="cp949",
    )


@case("trips", trips(), EACH)
def _helsinki_bike(d: Path) -> Path:
    h = 'Departure,Return,"Departure station id","Departure station name","Return station id","Return station name","Covered distance (m)","Duration (sec.)"'
    f = "%Y-%m-%dT%H:%M:%S"
    return put(
        d / "2024-05.csv",
        h,
        [
            (s.strftime(f), e.strftime(f), f"00{o}", f'"Laajalahden aukio {o}"', f"00{q}", f'"Töölö {q}"', 2043, 500)
            for w, s, e, o, q in trips()
        ],
    )


@case("trips", trips(), EACH)
def _oslo_bike(d: Path) -> Path:
    h = "started_at,ended_at,duration,start_station_id,start_station_name,start_station_description,start_station_latitude,start_station_longitude,end_station_id,end_station_name,end_station_description,end_station_latitude,end_station_longitude"
    return put(
        d / "03.csv",
        h,
        [
            (
                iso(s) + ".123000+00:00",
                iso(e) + ".456000+00:00",
                300,
                o,
                f"Torg {o}",
                "ved vann",
                lat(o, 59.9),
                lon(o, 10.7),
                q,
                f"Plass {q}",
                "",
                lat(q, 59.9),
                lon(q, 10.7),
            )
            for w, s, e, o, q in trips()
        ],
    )


@case("trips", trips(), EACH)
def _citibike_epoch_json(d: Path) -> Path:
    p = d / "trips.json"
    p.write_text(
        json.dumps(
            {
                "trips": [
                    {
                        "trip_id": i,
                        "start_time": ep(s) * 1000,
                        "end_time": ep(e) * 1000,
                        "start_station": f"s{o}",
                        "end_station": f"s{q}",
                    }
                    for i, (w, s, e, o, q) in enumerate(trips())
                ]
            }
        )
    )
    return p


@case("trips", trips(), EACH, coordinates=True)
def _mds_trips(d: Path) -> Path:
    p = d / "mds_trips.json"
    p.write_text(
        json.dumps(
            {
                "version": "1.2.0",
                "data": {
                    "trips": [
                        {
                            "provider_id": "aa",
                            "provider_name": "Lime",
                            "device_id": f"dev-{w:04}",
                            "vehicle_id": f"V{w}",
                            "vehicle_type": "scooter",
                            "trip_id": f"{i:08x}-0000-4000-8000-{i:012x}",
                            "trip_duration": 600,
                            "trip_distance": 1200,
                            "start_time": ep(s) * 1000,
                            "end_time": ep(e) * 1000,
                            "route": {
                                "type": "FeatureCollection",
                                "features": [
                                    {
                                        "type": "Feature",
                                        "properties": {"timestamp": ep(s) * 1000},
                                        "geometry": {"type": "Point", "coordinates": [lon(o), lat(o)]},
                                    },
                                    {
                                        "type": "Feature",
                                        "properties": {"timestamp": ep(e) * 1000},
                                        "geometry": {"type": "Point", "coordinates": [lon(q), lat(q)]},
                                    },
                                ],
                            },
                        }
                        for i, (w, s, e, o, q) in enumerate(trips())
                    ]
                },
            }
        )
    )
    return p


@case("trips", trips(), ())
def _afc_beijing(d: Path) -> Path:
    h = "卡号,进站时间,进站编号,出站时间,出站编号,票价"
    return put(
        d / "AFC.csv",
        h,
        [(100000 + w, s.strftime("%Y%m%d%H%M%S"), o, e.strftime("%Y%m%d%H%M%S"), q, 4) for w, s, e, o, q in trips()],
        enc="gbk",
    )


@case("trips", trips(), EACH, clock=True)
def _oyster(d: Path) -> Path:
    h = "downo,daytype,SubSystem,StartStn,EndStation,EntTime,EntTimeHHMM,ExTime,EXTimeHHMM,ZVPPT,JNYTYP,DailyCapping,FFare,DFare,RouteID,FinalProduct"
    return put(
        d / "Nov09JnyExport.csv",
        h,
        [
            (
                3,
                "Tue",
                "LUL",
                f"Stn {o}",
                f"Stn {q}",
                s.hour * 60 + s.minute,
                s.strftime("%H:%M"),
                e.hour * 60 + e.minute,
                e.strftime("%H:%M"),
                "Z0104",
                "TKT",
                "N",
                0,
                0,
                "XX",
                "LUL Travelcard-7 Day",
            )
            for w, s, e, o, q in trips()
        ],
    )


@case("trips", trips(), EACH)
def _commuter_survey(d: Path) -> Path:
    h = "record,dep_time,arr_time,origin_zone,dest_zone,mode,weight"
    rows = [(w, iso(s), iso(e), o, q, "bus", 51.5) for w, s, e, o, q in trips()]
    return put(d / "survey_trips.csv", h, rows)


@pytest.mark.parametrize("table", CASES, ids=str)
def test_trips_are_read_back_as_they_were_written(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)
