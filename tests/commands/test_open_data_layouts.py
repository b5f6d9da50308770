"""Files in the layouts of well-known open data, with generated content: right roles, one question at most, a recipe."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from wayveil.cli.app import main
from wayveil.commands.inspect import inspect_file
from wayveil.recipe.recipe import load_recipe, make_input

_EACH = ("--each-trajectory-is-a-person",)
_DAY = datetime(2024, 3, 11)


def _table(path: Path, header: str, rows: Iterable[Iterable[Any]], sep: str = ",", encoding: str = "utf-8") -> Path:
    lines = [header] if header else []
    lines += [sep.join(str(value) for value in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding=encoding)
    return path


class _Trip(NamedTuple):
    number: int
    start: datetime
    end: datetime
    origin: int
    destination: int
    who: int


def _trips(n: int = 400, people: int = 60) -> list[_Trip]:
    """Trips between few stations in few hours of a week, so that many share them."""
    rng = random.Random(7)
    trips = []
    for i in range(n):
        start = _DAY + timedelta(days=rng.randrange(5), hours=rng.choice((8, 17)), minutes=rng.randrange(30))
        end = start + timedelta(minutes=rng.randrange(5, 25))
        trips.append(_Trip(i, start, end, rng.randrange(3), rng.randrange(3), i % people))
    return sorted(trips, key=lambda trip: trip.start)


def _lon(place: int, base: float = -73.98) -> float:
    return round(base + place * 0.011234, 6)


def _lat(place: int, base: float = 40.72) -> float:
    return round(base + place * 0.007123, 6)


def _walks(
    people: int = 12, steps: int = 40, base: tuple[float, float] = (-122.42, 37.77)
) -> list[tuple[int, datetime, float, float]]:
    """Positions of people who move at the same time, every minute."""
    rng = random.Random(11)
    rows = []
    for who in range(people):
        x, y = base[0] + rng.random() / 100, base[1] + rng.random() / 100
        for step in range(steps):
            x += rng.uniform(-4e-4, 4e-4)
            y += rng.uniform(-4e-4, 4e-4)
            rows.append((who, _DAY + timedelta(hours=9, minutes=step, seconds=who), round(x, 5), round(y, 5)))
    return rows


def _iso(t: datetime) -> str:
    return t.strftime("%Y-%m-%d %H:%M:%S")


def _yellow_csv(folder: Path) -> Path:
    head = "VendorID,tpep_pickup_datetime,tpep_dropoff_datetime,passenger_count,trip_distance,RatecodeID,"
    head += "store_and_fwd_flag,PULocationID,DOLocationID,payment_type,fare_amount,tip_amount,total_amount"
    rows = [
        (
            1 + t.number % 2,
            _iso(t.start),
            _iso(t.end),
            1,
            1.3,
            1,
            "N",
            140 + t.origin,
            230 + t.destination,
            2,
            9.5,
            0,
            12,
        )
        for t in _trips()
    ]
    return _table(folder / "yellow_tripdata_2024-01.csv", head, rows)


def _green_parquet(folder: Path) -> Path:
    trips = _trips()
    path = folder / "green_tripdata_2024-01.parquet"
    pl.DataFrame(
        {
            "VendorID": [2] * len(trips),
            "lpep_pickup_datetime": [t.start for t in trips],
            "lpep_dropoff_datetime": [t.end for t in trips],
            "store_and_fwd_flag": ["N"] * len(trips),
            "PULocationID": [74 + t.origin for t in trips],
            "DOLocationID": [41 + t.destination for t in trips],
            "passenger_count": [1.0] * len(trips),
            "trip_distance": [1.5] * len(trips),
            "ehail_fee": [None] * len(trips),
        }
    ).write_parquet(path)
    return path


def _chicago(folder: Path) -> Path:
    head = "Trip ID,Taxi ID,Trip Start Timestamp,Trip End Timestamp,Trip Seconds,Trip Miles,Pickup Census Tract,"
    head += "Dropoff Census Tract,Pickup Community Area,Dropoff Community Area,Fare,Tips,Company,"
    head += "Pickup Centroid Latitude,Pickup Centroid Longitude,Pickup Centroid Location,"
    head += "Dropoff Centroid Latitude,Dropoff Centroid Longitude,Dropoff Centroid  Location"
    form = "%m/%d/%Y %I:%M:%S %p"
    rows = []
    for t in _trips():
        x, y, u, v = _lon(t.origin, -87.6), _lat(t.origin, 41.8), _lon(t.destination, -87.6), _lat(t.destination, 41.8)
        rows.append(
            (
                f"{t.number:040x}",
                f"{t.who:0128x}",
                (t.start.replace(minute=15)).strftime(form),
                (t.start.replace(minute=30)).strftime(form),
                900,
                2.1,
                "",
                "",
                8 + t.origin,
                30 + t.destination,
                9.5,
                1,
                "Flash Cab",
                y,
                x,
                f"POINT ({x} {y})",
                v,
                u,
                f"POINT ({u} {v})",
            )
        )
    return _table(folder / "Taxi_Trips.csv", head, rows)


def _citi_old(folder: Path) -> Path:
    head = '"tripduration","starttime","stoptime","start station id","start station name","start station latitude",'
    head += '"start station longitude","end station id","end station name","end station latitude",'
    head += '"end station longitude","bikeid","usertype","birth year","gender"'
    rows = [
        (
            600,
            f'"{t.start:%-m/%-d/%Y %H:%M:%S}"',
            f'"{t.end:%-m/%-d/%Y %H:%M:%S}"',
            72 + t.origin,
            f'"St {t.origin}"',
            _lat(t.origin),
            _lon(t.origin),
            72 + t.destination,
            f'"St {t.destination}"',
            _lat(t.destination),
            _lon(t.destination),
            15000 + t.who,
            '"Subscriber"',
            1980,
            1,
        )
        for t in _trips()
    ]
    return _table(folder / "201403-citibike-tripdata.csv", head, rows)


_NEW_BIKE = (
    "ride_id,rideable_type,started_at,ended_at,start_station_name,start_station_id,end_station_name,end_station_id,"
    "start_lat,start_lng,end_lat,end_lng,member_casual"
)


def _new_bike_rows(trips: list[_Trip]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = []
    for t in trips:
        gone = t.number % 40 == 7  # a bike that was left between stations
        rows.append(
            (
                f"{t.number:016X}",
                "classic_bike",
                f"{_iso(t.start)}.123",
                f"{_iso(t.end)}.456",
                f"St {t.origin}",
                f"JC{t.origin}",
                "" if gone else f"St {t.destination}",
                "" if gone else f"JC{t.destination}",
                _lat(t.origin),
                _lon(t.origin),
                _lat(t.destination),
                _lon(t.destination),
                "member",
            )
        )
    return rows


def _citi_new(folder: Path) -> Path:
    return _table(folder / "202402-citibike-tripdata.csv", _NEW_BIKE, _new_bike_rows(_trips()))


def _months(folder: Path) -> Path:
    """Files of two months, one of them packed."""
    inside = folder / "rides"
    inside.mkdir()
    trips = _trips()
    _table(inside / "202403-capitalbikeshare.csv", _NEW_BIKE, _new_bike_rows(trips[:200]))
    text = _table(inside / "b.csv", _NEW_BIKE, _new_bike_rows(trips[200:]))
    (inside / "202404-capitalbikeshare.csv.gz").write_bytes(gzip.compress(text.read_bytes()))
    text.unlink()
    return inside


def _divvy(folder: Path) -> Path:
    head = "trip_id,start_time,end_time,bikeid,tripduration,from_station_id,from_station_name,to_station_id,"
    head += "to_station_name,usertype,gender,birthyear"
    rows = [
        (
            21742443 + t.number,
            _iso(t.start),
            _iso(t.end),
            2167 + t.who,
            '"390.0"',
            199 + t.origin,
            f"Wabash {t.origin}",
            84 + t.destination,
            f"Milwaukee {t.destination}",
            "Subscriber",
            "Male",
            1989,
        )
        for t in _trips()
    ]
    return _table(folder / "Divvy_Trips_2019_Q1.csv", head, rows)


def _capital(folder: Path) -> Path:
    head = '"Duration","Start date","End date","Start station number","Start station","End station number",'
    head += '"End station","Bike number","Member type"'
    rows = [
        (
            900,
            f'"{_iso(t.start)}"',
            f'"{_iso(t.end)}"',
            31200 + t.origin,
            f'"A {t.origin}"',
            31600 + t.destination,
            f'"B {t.destination}"',
            f'"W{t.who:05}"',
            '"Member"',
        )
        for t in _trips()
    ]
    return _table(folder / "2018-capitalbikeshare.csv", head, rows)


def _bixi_old(folder: Path) -> Path:
    rows = [
        (
            t.start.strftime("%Y-%m-%d %H:%M"),
            6100 + t.origin,
            t.end.strftime("%Y-%m-%d %H:%M"),
            6200 + t.destination,
            600,
            1,
        )
        for t in _trips()
    ]
    head = "start_date,start_station_code,end_date,end_station_code,duration_sec,is_member"
    return _table(folder / "OD_2018-04.csv", head, rows)


def _epoch_ms(t: datetime) -> int:
    return round(t.replace(tzinfo=UTC).timestamp() * 1000)


def _bixi_new(folder: Path) -> Path:
    head = "STARTSTATIONNAME,STARTSTATIONARRONDISSEMENT,STARTSTATIONLATITUDE,STARTSTATIONLONGITUDE,ENDSTATIONNAME,"
    head += "ENDSTATIONARRONDISSEMENT,ENDSTATIONLATITUDE,ENDSTATIONLONGITUDE,STARTTIMEMS,ENDTIMEMS"
    rows = [
        (
            f"Métro {t.origin}",
            "Plateau",
            _lat(t.origin, 45.5),
            _lon(t.origin, -73.5),
            f"Parc {t.destination}",
            "Rosemont",
            _lat(t.destination, 45.5),
            _lon(t.destination, -73.5),
            _epoch_ms(t.start),
            _epoch_ms(t.end),
        )
        for t in _trips()
    ]
    return _table(folder / "DonneesOuvertes.csv", head, rows)


def _tfl(folder: Path) -> Path:
    head = "Rental Id,Duration,Bike Id,End Date,EndStation Id,EndStation Name,Start Date,StartStation Id,"
    head += "StartStation Name"
    form = "%d/%m/%Y %H:%M"
    trips = [t._replace(start=t.start + timedelta(days=7), end=t.end + timedelta(days=7)) for t in _trips()]
    rows = [
        (
            64000000 + t.number,
            720,
            7000 + t.who,
            t.end.strftime(form),
            t.destination,
            f'"Place {t.destination}, Soho"',
            t.start.strftime(form),
            t.origin,
            f'"Street {t.origin}, Bank"',
        )
        for t in trips
    ]
    return _table(folder / "40JourneyDataExtract.csv", head, rows)


def _ecobici(folder: Path) -> Path:
    head = "Genero_Usuario,Edad_Usuario,Bici,Ciclo_Estacion_Retiro,Fecha_Retiro,Hora_Retiro,Ciclo_Estacion_Arribo,"
    head += "Fecha Arribo,Hora_Arribo"
    trips = [t._replace(start=t.start + timedelta(days=7), end=t.end + timedelta(days=7)) for t in _trips()]
    rows = [
        (
            "M",
            33,
            2000000 + t.who,
            t.origin,
            t.start.strftime("%d/%m/%Y"),
            t.start.strftime("%H:%M:%S"),
            t.destination,
            t.end.strftime("%d/%m/%Y"),
            t.end.strftime("%H:%M:%S"),
        )
        for t in trips
    ]
    return _table(folder / "2024-03.csv", head, rows)


def _scooters(folder: Path) -> Path:
    head = "TripID,StartDate,StartTime,EndDate,EndTime,TripDuration,TripDistance,StartLatitude,StartLongitude,"
    head += "EndLatitude,EndLongitude,DayOfWeek,HourNum"
    rows = [
        (
            f"{t.number:08x}-aaaa-bbbb-cccc-{t.number:012x}",
            t.start.strftime("%Y-%m-%d"),
            t.start.strftime("%H:%M"),
            t.end.strftime("%Y-%m-%d"),
            t.end.strftime("%H:%M"),
            5,
            0.4,
            round(_lat(t.origin, 38.25), 3),
            round(_lon(t.origin, -85.7), 3),
            round(_lat(t.destination, 38.25), 3),
            round(_lon(t.destination, -85.7), 3),
            2,
            t.start.hour,
        )
        for t in _trips()
    ]
    return _table(folder / "Louisville-Dockless-Trips.csv", head, rows)


def _taps(folder: Path) -> Path:
    rows = [(f"C{t.who:06}", f"S{t.origin}", _iso(t.start), f"S{t.destination}", _iso(t.end), 2.5) for t in _trips()]
    return _table(folder / "taps.csv", "card_id,entry_station,entry_time,exit_station,exit_time,fare", rows)


def _transjakarta(folder: Path) -> Path:
    head = "transID,payCardID,payCardBank,payCardName,payCardSex,payCardBirthDate,corridorID,direction,tapInStops,"
    head += "tapInStopsName,tapInStopsLat,tapInStopsLon,tapInTime,tapOutStops,tapOutStopsName,tapOutStopsLat,"
    head += "tapOutStopsLon,tapOutTime,payAmount"
    rows = [
        (
            f"T{t.number}",
            180062659848800 + t.who,
            "emoney",
            f"Name {t.who}",
            "F",
            2000 + t.who % 9,
            5,
            0.0,
            f"P{t.origin}",
            f"Stop {t.origin}",
            _lat(t.origin, -6.2),
            _lon(t.origin, 106.8),
            _iso(t.start),
            f"P{t.destination}",
            f"Stop {t.destination}",
            _lat(t.destination, -6.2),
            _lon(t.destination, 106.8),
            _iso(t.end),
            3500,
        )
        for t in _trips()
    ]
    return _table(folder / "dfTransjakarta.csv", head, rows)


def _porto(folder: Path) -> Path:
    head = (
        '"TRIP_ID","CALL_TYPE","ORIGIN_CALL","ORIGIN_STAND","TAXI_ID","TIMESTAMP","DAY_TYPE","MISSING_DATA","POLYLINE"'
    )
    rng = random.Random(3)
    rows = []
    for i in range(40):
        x, y = -8.61, 41.14
        line = []
        for _ in range(12):
            x += rng.uniform(-0.001, 0.001)
            y += rng.uniform(-0.001, 0.001)
            line.append([round(x, 6), round(y, 6)])
        rows.append(
            (
                f'"{1372636858620000589 + i}"',
                '"C"',
                "NA",
                "NA",
                20000380 + i % 20,
                1372636858 + i,
                '"A"',
                '"False"',
                f'"{json.dumps(line)}"',
            )
        )
    rows.append(('"999"', '"C"', "NA", "NA", 20000380, 1372636999, '"A"', '"False"', '"[]"'))
    return _table(folder / "train.csv", head, rows)


def _t_drive(folder: Path) -> Path:
    inside = folder / "taxi_log_2008"
    inside.mkdir()
    walks = _walks(base=(116.51, 39.92))
    for who in range(12):
        rows = [(who + 1, _iso(t), x, y) for one, t, x, y in walks if one == who]
        _table(inside / f"{who + 1}.txt", "", rows)
    return inside


def _cabspotting(folder: Path) -> Path:
    inside = folder / "cabspottingdata"
    inside.mkdir()
    (inside / "README").write_text("about these files\n")
    walks = _walks()
    for who in range(12):
        rows = [(y, x, step % 2, _epoch_ms(t) // 1000) for step, (one, t, x, y) in enumerate(walks) if one == who]
        _table(inside / f"new_{'abcdefghijkl'[who]}boip.txt", "", reversed(rows), " ")
    return inside


def _geolife(folder: Path) -> Path:
    above = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0"
    walks = _walks(base=(116.3, 39.9))
    for who in range(12):
        inside = folder / "Data" / f"{who:03}" / "Trajectory"
        inside.mkdir(parents=True)
        rows = [
            (y, x, 0, 492, 39744.1, t.strftime("%Y-%m-%d"), t.strftime("%H:%M:%S"))
            for one, t, x, y in walks
            if one == who
        ]
        _table(inside / "20240311090000.plt", above, rows)
    return folder / "Data"


def _gowalla(folder: Path) -> Path:
    rng = random.Random(5)
    rows = []
    for i in range(400):
        place = rng.randrange(4)
        t = _DAY + timedelta(days=rng.randrange(5), hours=rng.choice((9, 18)), seconds=i)
        rows.append(
            (i % 40, t.strftime("%Y-%m-%dT%H:%M:%SZ"), _lat(place, 30.23), _lon(place, -97.79), 22847 + place * 31)
        )
    return _table(folder / "Gowalla_totalCheckins.txt", "", rows, "\t")


def _foursquare(folder: Path) -> Path:
    rng = random.Random(5)
    rows = []
    for i in range(400):
        place = rng.randrange(4)
        t = _DAY + timedelta(days=rng.randrange(5), hours=rng.choice((9, 18)), seconds=i)
        name = ("Café", "Arts & Crafts Store", "Bridge", "Office")[place]
        rows.append(
            (
                i % 40,
                f"49bbd6c0f964a520f4531f{place:02}",
                f"4bf58dd8d48988d127951{place:03}",
                name,
                _lat(place),
                _lon(place),
                (-240, -300)[place == 3],
                t.strftime("%a %b %d %H:%M:%S +0000 %Y"),
            )
        )
    return _table(folder / "dataset_TSMC2014_NYC.txt", "", rows, "\t", "latin-1")


def _noaa(folder: Path) -> Path:
    head = (
        "MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,IMO,CallSign,VesselType,Status,Length,Width,Draft,Cargo,"
    )
    head += "TransceiverClass"
    rows = [
        (
            338075892 + who,
            t.strftime("%Y-%m-%dT%H:%M:%S"),
            y,
            x,
            0.1,
            180.5,
            511,
            f"SHIP {who}" if who else "",
            f"IMO{9000000 + who}" if who > 3 else "",
            f"WDC{who}",
            37,
            0,
            12,
            4,
            "",
            "",
            "B",
        )
        for who, t, x, y in _walks()
    ]
    return _table(folder / "AIS_2024_03_11.csv", head, rows)


def _danish(folder: Path) -> Path:
    head = (
        "# Timestamp,Type of mobile,MMSI,Latitude,Longitude,Navigational status,ROT,SOG,COG,Heading,IMO,Callsign,Name,"
    )
    head += "Ship type,Cargo type,Width,Length,Type of position fixing device,Draught,Destination,ETA,"
    head += "Data source type,A,B,C,D"
    rows = []
    for i, (who, t, x, y) in enumerate(_walks(base=(11.5, 55.6))):
        lost = i % 97 == 3  # no position was known
        t = t.replace(day=21)
        rows.append(
            (
                t.strftime("%d/%m/%Y %H:%M:%S"),
                "Class A",
                219000000 + who,
                91.0 if lost else y,
                0.0 if lost else x,
                "Under way",
                "",
                11.2,
                92.1,
                90,
                "Unknown",
                "Unknown",
                "",
                "Cargo",
                "",
                "",
                "",
                "GPS",
                "",
                "Unknown",
                "",
                "AIS",
                "",
                "",
                "",
                "",
            )
        )
    return _table(folder / "aisdk-2024-03-21.csv", head, rows)


def _movebank(folder: Path) -> Path:
    head = '"event-id","visible","timestamp","location-long","location-lat","sensor-type",'
    head += '"individual-taxon-canonical-name","tag-local-identifier","individual-local-identifier","study-name"'
    rows = [
        (
            5_000_000 + i,
            "true",
            t.strftime("%Y-%m-%d %H:%M:%S.000"),
            x,
            y,
            '"gps"',
            '"Ciconia ciconia"',
            f'"{3000 + who}"',
            f'"Bird {who}"',
            '"Storks"',
        )
        for i, (who, t, x, y) in enumerate(_walks(base=(8.9, 47.7)))
    ]
    return _table(folder / "Storks.csv", head, rows)


def _vehicle_positions(folder: Path) -> Path:
    head = "vehicle.trip.trip_id,vehicle.trip.route_id,vehicle.position.latitude,vehicle.position.longitude,"
    head += "vehicle.position.bearing,vehicle.timestamp,vehicle.vehicle.id,vehicle.stop_id"
    rows = [
        (f"t{who}", f"r{who % 3}", y, x, 90.0, _epoch_ms(t) // 1000, f"bus{who}", f"s{i % 50}")
        for i, (who, t, x, y) in enumerate(_walks())
    ]
    return _table(folder / "vehicle_positions.csv", head, rows)


def _calls(folder: Path) -> Path:
    rng = random.Random(9)
    rows = [
        (
            f"A{i % 40}",
            f"A{rng.randrange(40)}",
            f"T{rng.randrange(4)}",
            _iso(_DAY + timedelta(days=i % 5, hours=9, seconds=i)),
            61,
        )
        for i in range(400)
    ]
    return _table(folder / "cdr.csv", "caller,callee,cell_tower,time,duration", rows)


def _rfid(folder: Path) -> Path:
    rng = random.Random(9)
    rows = [
        (
            f"tag{i % 40}",
            f"ward{rng.randrange(4)}",
            (_DAY + timedelta(days=i % 5, hours=9, seconds=i)).strftime("%d-%b-%Y %I:%M:%S %p"),
        )
        for i in range(400)
    ]
    return _table(folder / "readers.csv", "tag;reader;time", rows, ";")


class _Case(NamedTuple):
    write: Callable[[Path], Path]
    kind: str
    columns: dict[str, str]
    answer: tuple[str, ...] = ()
    times: dict[str, Any] = {}  # noqa: RUF012


_STATIONS = {"origin": "start_station_id", "destination": "end_station_id"}
_LOST = {"t_start": "ymd", "t_end": "ymd"}
CASES = [
    _Case(_yellow_csv, "trips", {"origin": "PULocationID", "destination": "DOLocationID"}, _EACH, _LOST),
    _Case(_green_parquet, "trips", {"origin": "PULocationID", "destination": "DOLocationID"}, _EACH),
    _Case(_chicago, "trips", {"user_id": "Taxi ID", "origin": "Pickup Community Area"}, (), {"t_start": "mdy"}),
    _Case(
        _citi_old, "trips", {"origin": "start station id", "destination": "end station id"}, _EACH, {"t_start": "mdy"}
    ),
    _Case(_citi_new, "trips", _STATIONS, _EACH, _LOST),
    _Case(_months, "trips", _STATIONS, _EACH, _LOST),
    _Case(_divvy, "trips", {"origin": "from_station_id", "destination": "to_station_id"}, _EACH),
    _Case(_capital, "trips", {"origin": "Start station number"}, _EACH),
    _Case(_bixi_old, "trips", {"origin": "start_station_code"}, _EACH),
    _Case(_bixi_new, "trips", {"origin": "STARTSTATIONNAME"}, _EACH, {"t_end": "epoch_ms"}),
    _Case(_tfl, "trips", {"origin": "StartStation Id", "destination": "EndStation Id"}, _EACH, {"t_start": "dmy"}),
    _Case(_ecobici, "trips", {"origin": "Ciclo_Estacion_Retiro"}, _EACH, {"t_end": "dmy"}),
    _Case(_scooters, "trips", {"origin_x": "StartLongitude", "destination_y": "EndLatitude"}, _EACH),
    _Case(_taps, "trips", {"user_id": "card_id", "origin": "entry_station", "destination": "exit_station"}),
    _Case(_transjakarta, "trips", {"user_id": "payCardID", "origin": "tapInStops"}),
    _Case(_porto, "points", {"user_id": "TAXI_ID", "traj_id": "TRIP_ID", "x": "lon"}, (), {"t": "epoch_s"}),
    _Case(_t_drive, "points", {"user_id": "column_1", "x": "column_3"}, ("--columns", "user_id=column_1")),
    _Case(
        _cabspotting, "points", {"user_id": "file", "y": "column_1"}, ("--columns", "user_id=file"), {"t": "epoch_s"}
    ),
    _Case(_geolife, "points", {}),
    _Case(_gowalla, "visits", {"location": "column_5"}, ("--columns", "user_id=column_1")),
    _Case(_foursquare, "visits", {"location": "column_2"}, ("--columns", "user_id=column_1"), {"t": "named"}),
    _Case(_noaa, "points", {"user_id": "MMSI", "x": "LON"}),
    _Case(_danish, "points", {"user_id": "MMSI", "x": "Longitude"}, (), {"t": "dmy"}),
    _Case(_movebank, "points", {"user_id": "individual-local-identifier", "x": "location-long"}),
    _Case(_vehicle_positions, "points", {"user_id": "vehicle.vehicle.id"}, (), {"t": "epoch_s"}),
    _Case(_calls, "visits", {"user_id": "caller", "location": "cell_tower"}),
    _Case(_rfid, "visits", {"user_id": "tag", "location": "reader"}, (), {"t": "named"}),
]


@pytest.mark.parametrize("case", CASES, ids=[case.write.__name__.strip("_") for case in CASES])
def test_known_layouts_reach_a_publication_with_one_question_at_most(tmp_path, capsys, case: _Case) -> None:
    path = case.write(tmp_path)
    recipe = tmp_path / "r.toml"
    seen = inspect_file(make_input({"path": str(path)}))
    assert seen.refusal == ""
    assert len(seen.questions) == (1 if case.answer else 0)
    if case.answer:
        wanted = " ".join(case.answer).replace("'", "")
        assert wanted in [answer.option.replace("'", "") for answer in seen.questions[0].answers]
    assert main(["inspect", str(path), *case.answer, "--write", str(recipe)]) == 0
    made = load_recipe(recipe)
    assert made.input.kind == case.kind
    assert {**made.input.columns, **case.columns} == made.input.columns
    assert {name: made.input.times[name].format for name in case.times} == dict(case.times)
    assert main(["run", str(recipe)]) == 0
    assert list(tmp_path.glob("**/public/manifest.json"))
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
