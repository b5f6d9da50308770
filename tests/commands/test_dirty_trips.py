"""Trips in files as outsiders have them, with the dirt of real ones: each is read back to what was written."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.oracles.publisher_tables import EACH, Case, check_case, collect, ep, iso, lat, lon, put, trips

CASES: list[Case] = []
case = collect(CASES)
_TRIPS = trips()


def _quoted(rows: list[tuple[Any, ...]]) -> list[list[str]]:
    return [[f'"{value}"' for value in row] for row in rows]


def _us(t: datetime) -> str:
    """Month first, without zeros, as spreadsheets write it."""
    return f"{t.month}/{t.day}/{t.year} {t.hour}:{t.minute:02}"


@case("trips", _TRIPS, EACH, coordinates=True)
def _yellow_2009(d: Path) -> Path:
    """Coordinates instead of zones, a blank line under the header, CRLF, some trips at 0, 0."""
    head = "vendor_name,Trip_Pickup_DateTime,Trip_Dropoff_DateTime,Passenger_Count,Trip_Distance,Start_Lon,Start_Lat,"
    head += "Rate_Code,store_and_forward,End_Lon,End_Lat,Payment_Type,Fare_Amt,surcharge,mta_tax,Tip_Amt,Tolls_Amt,"
    head += "Total_Amt\r\n"
    rows = [
        ("VTS", iso(a), iso(b), 1, 2, lon(o), lat(o), "", "", lon(e), lat(e), "CASH", "8.9", "0.5", "", 0, 0, "9.4")
        for _, a, b, o, e in _TRIPS
    ]  # fmt: skip
    lost = (
        "CMT",
        iso(_TRIPS[3][1]),
        iso(_TRIPS[3][2]),
        1,
        "0",
        0,
        0,
        "",
        "",
        0,
        0,
        "Credit",
        "8.9",
        "0.5",
        "",
        0,
        0,
        "9",
    )
    return put(d / "yellow_tripdata_2009-01.csv", head, [*rows[:200], lost, *rows[200:]], eol="\r\n")


@case("trips", _TRIPS, EACH, coordinates=True)
def _green_2014(d: Path) -> Path:
    """A header with blanks, a blank line under it, and two separators more at the end of every row."""
    head = "VendorID,lpep_pickup_datetime,Lpep_dropoff_datetime,Store_and_fwd_flag,RateCodeID,Pickup_longitude,"
    head += (
        "Pickup_latitude,Dropoff_longitude,Dropoff_latitude,Passenger_count,Trip_distance,Fare_amount,Extra,MTA_tax,"
    )
    head += "Tip_amount,Tolls_amount,Ehail_fee,Total_amount,Payment_type,Trip_type \r\n"
    rows = [
        (2, iso(a), iso(b), "N", 1, lon(o), lat(o), lon(e), lat(e), 1, ".00", 3, 0, 0, 0, 0, "", 3, 2, 1, "", "")
        for _, a, b, o, e in _TRIPS
    ]  # fmt: skip
    return put(d / "green_tripdata_2014-01.csv", head, rows, eol="\r\n")


@case("trips", _TRIPS, EACH)
def _fhv_csv(d: Path) -> Path:
    """For-hire vehicles: everything quoted, zones missing in some rows, which lack an end then."""
    head = '"Dispatching_base_num","Pickup_DateTime","DropOff_datetime","PUlocationID","DOlocationID","SR_Flag"'
    rows = [("B00013", iso(a), iso(b), 140 + o, 230 + e, "") for _, a, b, o, e in _TRIPS]
    return put(d / "fhv_tripdata_2019-02.csv", head, _quoted(rows))


@case("trips", _TRIPS, EACH)
def _fhvhv_parquet(d: Path) -> Path:
    """High-volume services: four times of which two are those of the trip, an unused column of nothing."""
    pl.DataFrame(
        {
            "hvfhs_license_num": ["HV0003"] * len(_TRIPS),
            "dispatching_base_num": ["B02764"] * len(_TRIPS),
            "originating_base_num": [None] * len(_TRIPS),
            "request_datetime": [a.replace(second=0) for _, a, *_ in _TRIPS],
            "on_scene_datetime": [None] * len(_TRIPS),
            "pickup_datetime": [a for _, a, *_ in _TRIPS],
            "dropoff_datetime": [b for _, _, b, *_ in _TRIPS],
            "PULocationID": pl.Series([140 + o for *_, o, _ in _TRIPS], dtype=pl.Int32),
            "DOLocationID": pl.Series([230 + e for *_, e in _TRIPS], dtype=pl.Int32),
            "trip_miles": [1.2] * len(_TRIPS),
            "trip_time": [600] * len(_TRIPS),
            "shared_request_flag": ["N"] * len(_TRIPS),
        }
    ).write_parquet(d / "fhvhv_tripdata_2023-01.parquet")
    return d / "fhvhv_tripdata_2023-01.parquet"


@case("trips", _TRIPS)
def _chicago_socrata(d: Path) -> Path:
    """Chicago's taxis by the API: names with underscores, ISO with milliseconds, WKT points, tracts often empty."""
    head = "trip_id,taxi_id,trip_start_timestamp,trip_end_timestamp,trip_seconds,trip_miles,pickup_census_tract,"
    head += "dropoff_census_tract,pickup_community_area,dropoff_community_area,fare,tips,tolls,extras,trip_total,"
    head += "payment_type,company,pickup_centroid_latitude,pickup_centroid_longitude,pickup_centroid_location,"
    head += "dropoff_centroid_latitude,dropoff_centroid_longitude,dropoff_centroid_location"
    rows = [
        (f"{i:040x}", f"{who:0128x}", a.isoformat() + ".000", b.isoformat() + ".000", 600, 1.1, "", "", 8 + o, 32 + e,
         7.5, 0, 0, 0, 7.5, "Cash", '"Taxi, Inc."', lat(o), lon(o), f"POINT ({lon(o)} {lat(o)})", lat(e), lon(e),
         f"POINT ({lon(e)} {lat(e)})")
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "taxi_trips.csv", head, rows)


@case("trips", _TRIPS, EACH)
def _divvy_2013(d: Path) -> Path:
    head = "trip_id,starttime,stoptime,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
    head += "to_station_name,usertype,gender,birthday"
    rows = [
        (4000 + i, f"{a:%Y-%m-%d %H:%M}", f"{b:%Y-%m-%d %H:%M}", 100 + who, 316, 80 + o, f"St {o} & A", 80 + e,
         f"St {e} & A", "Customer", "", "")
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "Divvy_Trips_2013.csv", head, rows)


@case("trips", _TRIPS, EACH)
def _divvy_2019_q2(d: Path) -> Path:
    """The quarter with other names of columns, and thousands in quotes."""
    head = (
        '"01 - Rental Details Rental ID","01 - Rental Details Local Start Time","01 - Rental Details Local End Time",'
    )
    head += '"01 - Rental Details Bike ID","01 - Rental Details Duration In Seconds Uncapped",'
    head += '"03 - Rental Start Station ID","03 - Rental Start Station Name","02 - Rental End Station ID",'
    head += '"02 - Rental End Station Name",User Type,"Member Gender","05 - Member Details Member Birthday Year"'
    rows = [
        (22178529 + i, iso(a), iso(b), 6000 + who, '"1,446.0"', 80 + o, f'"St {o}"', 80 + e, f'"St {e}"', "Subscriber",
         "", "")
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "Divvy_Trips_2019_Q2.csv", head, rows)


@case("trips", _TRIPS, EACH)
def _citi_2013(d: Path) -> Path:
    """All quoted, `\\N` where a year of birth is not known."""
    names = "tripduration,starttime,stoptime,start station id,start station name,start station latitude,"
    names += (
        "start station longitude,end station id,end station name,end station latitude,end station longitude,bikeid,"
    )
    names += "usertype,birth year,gender"
    head = ",".join(f'"{name}"' for name in names.split(","))
    rows = [
        (634, iso(a), iso(b), 160 + o, f"E {o} St & 2 Ave", lat(o), lon(o), 160 + e, f"E {e} St & 2 Ave", lat(e),
         lon(e), 16950 + who, "Customer", "\\N", 0)
        for who, a, b, o, e in _TRIPS
    ]  # fmt: skip
    return put(d / "2013-07 - Citi Bike trip data.csv", head, _quoted(rows))


@case("trips", _TRIPS, EACH)
def _citi_2014_us(d: Path) -> Path:
    """The months in which times are 3/18/2024 8:07."""
    names = "tripduration,starttime,stoptime,start station id,start station name,start station latitude,"
    names += (
        "start station longitude,end station id,end station name,end station latitude,end station longitude,bikeid,"
    )
    names += "usertype,birth year,gender"
    rows = [
        (634, _us(a), _us(b), 160 + o, f"E {o} St", lat(o), lon(o), 160 + e, f"E {e} St", lat(e), lon(e), 169 + who,
         "Subscriber", 1984, 1)
        for who, a, b, o, e in _TRIPS
    ]  # fmt: skip
    return put(d / "201409-citibike-tripdata.csv", names, rows)


def _new_bikes(part: list[Any], first: int = 0) -> list[tuple[Any, ...]]:
    return [
        (f"{first + i:016X}", "electric_bike", f"{iso(a)}.{first % 10}42", f"{iso(b)}.001", f'"W {o} St, N"',
         f"{6400 + o}.1{o}", f'"W {e} St, N"', f"{6400 + e}.1{e}", lat(o), lon(o), lat(e), lon(e), "member")
        for i, (_, a, b, o, e) in enumerate(part)
    ]  # fmt: skip


_NEW_HEAD = "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,"
_NEW_HEAD += "end_station_id,start_lat,start_lng,end_lat,end_lng,member_casual"


@case("trips", _TRIPS, EACH)
def _citi_zip_of_parts(d: Path) -> Path:
    """A month as it is downloaded since 2024: a .zip with several tables of the same columns."""
    with zipfile.ZipFile(d / "202403-citibike-tripdata.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number, at in enumerate((0, 100, 200), 1):
            part = put(d / "part.csv", _NEW_HEAD, _new_bikes(_TRIPS[at : at + 100], at))
            archive.write(part, f"202403-citibike-tripdata_{number}.csv")
            part.unlink()
        archive.writestr("__MACOSX/._202403-citibike-tripdata_1.csv", b"\0\0\0")
    return d / "202403-citibike-tripdata.zip"


@case("trips", _TRIPS, EACH)
def _baywheels_2018(d: Path) -> Path:
    head = '"duration_sec","start_time","end_time","start_station_id","start_station_name","start_station_latitude",'
    head += '"start_station_longitude","end_station_id","end_station_name","end_station_latitude",'
    head += (
        '"end_station_longitude","bike_id","user_type","member_birth_year","member_gender","bike_share_for_all_trip"'
    )
    rows = [
        (598, f"{iso(a)}.8870", f"{iso(b)}.1550", 114 + o, f"R {o}", lat(o, 37.7), lon(o, -122.4), 114 + e, f"R {e}",
         lat(e, 37.7), lon(e, -122.4), 1035 + who, "Subscriber", "", "", "No")
        for who, a, b, o, e in _TRIPS
    ]  # fmt: skip
    return put(d / "201802-fordgobike-tripdata.csv", head, rows)


@case("trips", _TRIPS, EACH)
def _capital_2012(d: Path) -> Path:
    head = '"Duration","Start date","End date","Start station number","Start station","End station number",'
    head += '"End station","Bike number","Member type"'
    rows = [
        (475, iso(a), iso(b), 31245 + o, f"7th & R {o}", 31245 + e, f"7th & R {e}", f"W01{who:03}", "Member")
        for who, a, b, o, e in _TRIPS
    ]
    return put(d / "2012Q1-capitalbikeshare-tripdata.csv", head, _quoted(rows))


@case("trips", _TRIPS, EACH)
def _tfl_trailing(d: Path) -> Path:
    """Santander Cycles: day first, empty columns behind the header, trips without an end."""
    head = "Rental Id,Duration,Bike Id,End Date,EndStation Id,EndStation Name,Start Date,StartStation Id,"
    head += "StartStation Name,,,"
    rows = [
        (40346508 + i, 360, 12019 + who, f"{b:%d/%m/%Y %H:%M}", 100 + e, f'"Road {e}, Park"', f"{a:%d/%m/%Y %H:%M}",
         100 + o, f'"Road {o}, Park"', "", "", "")
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "1. Journey Data Extract.csv", head, rows, eol="\r\n")


@case("trips", _TRIPS, EACH)
def _bixi_2021(d: Path) -> Path:
    head = "start_date,emplacement_pk_start,end_date,emplacement_pk_end,duration_sec,is_member"
    rows = [(iso(a), 10 + o, iso(b), 10 + e, 420, 1) for _, a, b, o, e in _TRIPS]
    return put(d / "2021_donnees_ouvertes.csv", head, rows)


@case("trips", _TRIPS, EACH)
def _indego(d: Path) -> Path:
    head = (
        '"trip_id","duration","start_time","end_time","start_station","start_lat","start_lon","end_station","end_lat",'
    )
    head += '"end_lon","bike_id","plan_duration","trip_route_category","passholder_type","bike_type"'
    rows = [
        (3000 + i, 6, _us(a), _us(b), 3000 + o, lat(o), lon(o), 3000 + e, lat(e), lon(e), f"B{who:04}", 30, "One Way",
         "Indego30", "standard")
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "indego-trips.csv", head, rows)


@case("trips", _TRIPS, EACH, coordinates=True)
def _louisville(d: Path) -> Path:
    """Scooters: date and clock of both ends in columns of their own, no vehicle."""
    head = "TripID,StartDate,StartTime,EndDate,EndTime,TripDuration,TripDistance,StartLatitude,StartLongitude,"
    head += "EndLatitude,EndLongitude,DayOfWeek,HourNum"
    rows = [
        (f"{i:08x}-0000", f"{a:%Y-%m-%d}", f"{a:%H:%M}", f"{b:%Y-%m-%d}", f"{b:%H:%M}", 10, 1.1, lat(o), lon(o), lat(e),
         lon(e), 2, 8)
        for i, (_, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "DocklessTripOpenData.csv", head, rows)


@case("trips", _TRIPS, EACH)
def _austin(d: Path) -> Path:
    head = "Trip ID,Device ID,Vehicle Type,Trip Duration,Trip Distance,Start Time,End Time,Modified Date,Month,Hour,"
    head += "Day of Week,Council District (Start),Council District (End),Year,Census Tract Start,Census Tract End"
    form = "%m/%d/%Y %I:%M:%S %p"
    rows = [
        (f"{i:08x}-aaaa", f"{who:08x}-bbbb", "scooter", 600, 1200, a.strftime(form), b.strftime(form),
         "04/01/2024 01:00:00 AM", 3, a.hour, 1, 9, 9, 2024, 48453000000 + o, 48453000000 + e)
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "Shared_Micromobility_Vehicle_Trips.csv", head, rows)


@case("trips", _TRIPS, EACH, coordinates=True)
def _mds_2(d: Path) -> Path:
    """MDS 2.0: positions as objects, times in milliseconds, ids of providers and devices."""
    found = [
        {
            "provider_id": "c20e08cf", "data_provider_id": "c20e08cf", "device_id": f"{who:08x}-dddd",
            "trip_id": f"{i:08x}-eeee", "duration": 600, "distance": 900,
            "start_location": {"lat": lat(o), "lng": lon(o)}, "end_location": {"lat": lat(e), "lng": lon(e)},
            "start_time": ep(a) * 1000, "end_time": ep(b) * 1000, "accuracy": 3, "vehicle_type": "scooter",
        }
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    (d / "trips.json").write_text(json.dumps({"version": "2.0.0", "trips": found}))
    return d / "trips.json"


@case("trips", _TRIPS, ("--crs", "degrees"), coordinates=True)
def _mobike_shanghai(d: Path) -> Path:
    """Mobike: longitudes and latitudes called x and y, the way in a text between hashes."""
    head = "orderid,bikeid,userid,start_time,start_location_x,start_location_y,end_time,"
    head += "end_location_x,end_location_y,track"
    rows = [
        (78387 + i, 158357 + who, 10080 + who, f"{a:%Y-%m-%d %H:%M}", lon(o, 121.3), lat(o, 31.2),
         f"{b:%Y-%m-%d %H:%M}", lon(e, 121.3), lat(e, 31.2), f'"{lon(o, 121.3)},{lat(o, 31.2)}#{lon(e, 121.3)},31.25"')
        for i, (who, a, b, o, e) in enumerate(_TRIPS)
    ]  # fmt: skip
    return put(d / "mobike_shanghai_sample_updated.csv", head, rows)


@case("trips", _TRIPS)
def _smart_card_row(d: Path) -> Path:
    """One row per journey; some never tapped out."""
    head = "CardID|EntryStation|EntryTime|ExitStation|ExitTime|Fare|Product"
    rows = [(f"{31110000 + who}", f"S{o:02}", iso(a), f"S{e:02}", iso(b), "2.40", "PAYG") for who, a, b, o, e in _TRIPS]
    return put(d / "journeys.txt", head, rows, sep="|")


@case("trips", _TRIPS)
def _lyft_fleet_semicolons(d: Path) -> Path:
    """A German operator: semicolons, decimal commas, dates of both ends with dots, places with names."""
    head = "Kunden-ID;Ausleihzeit;Rückgabezeit;Startstation;Zielstation;Preis"
    rows = [
        (f"K{who:05}", f"{a:%d.%m.%Y %H:%M}", f"{b:%d.%m.%Y %H:%M}", f"Platz {o}", f"Platz {e}", "1,50")
        for who, a, b, o, e in _TRIPS
    ]
    return put(d / "Buchungen.csv", head, rows, sep=";", enc="cp1252", eol="\r\n")


@case("trips", _TRIPS, EACH)
def _header_again(d: Path) -> Path:
    """Months that somebody joined with cat: the header stands in the middle, too."""
    rows = _new_bikes(_TRIPS)
    rows.insert(150, tuple(_NEW_HEAD.split(",")))
    rows.insert(220, tuple(_NEW_HEAD.split(",")))
    return put(d / "all.csv", _NEW_HEAD, rows)


@pytest.mark.parametrize("table", CASES, ids=str)
def test_dirty_trips_are_read_back_as_they_were_written(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)
