"""Positions in files as outsiders have them, with the dirt of real ones: each is read back to what was written."""

from __future__ import annotations

import gzip
import json
import zipfile
from datetime import timedelta
from pathlib import Path

import polars as pl
import pytest
from tests.oracles.publisher_tables import DAY, EACH, Case, check_case, collect, ep, iso, put, walks

CASES: list[Case] = []
case = collect(CASES)
_BAY = walks((-122.42, 37.77))
_BEIJING = walks((116.4, 39.9))
_BERLIN = walks((13.4, 52.52))
_SOUND = walks((10.6, 57.4))


def _by_person(truth: list) -> dict[int, list]:
    found: dict[int, list] = {}
    for row in truth:
        found.setdefault(row[0], []).append(row)
    return found


@case("points", _BAY, ("--columns", "user_id=file"))
def _cabspotting_with_index(d: Path) -> Path:
    """One file per cab, newest row first, and the list of cabs that lies beside them."""
    folder = d / "cabspottingdata"
    folder.mkdir()
    for who, rows in _by_person(_BAY).items():
        lines = [f"{y:.5f} {x:.5f} {who % 2} {ep(t)}" for _, t, x, y in reversed(rows)]
        (folder / f"new_ab{who:03}oip.txt").write_text("\n".join(lines) + "\n")
    index = "".join(f'<cab id="ab{who:03}oip" updates="{40 + who}"/>\n' for who in range(12))
    (folder / "_cabs.txt").write_text(index)
    (folder / "README").write_text("This dataset contains mobility traces of taxi cabs.\nEach file is a cab.\n")
    return folder


@case("points", _BEIJING, ("--columns", "user_id=column_1"))
def _t_drive_dirty(d: Path) -> Path:
    """Without a header, one file per taxi; some files are empty, rows come twice, some positions are 0."""
    folder = d / "taxi_log_2008_by_id"
    folder.mkdir()
    for who, rows in _by_person(_BEIJING).items():
        lines = [f"{who + 1},{iso(t)},{x:.5f},{y:.5f}" for _, t, x, y in rows]
        lines[5:5] = [lines[4], lines[4]]
        lines.append(f"{who + 1},{iso(DAY + timedelta(hours=11))},0.00000,0.00000")
        (folder / f"{who + 1}.txt").write_text("\n".join(lines) + "\n")
    (folder / "9999.txt").write_text("")
    return folder


@case("points", _BEIJING)
def _geolife_whole(d: Path) -> Path:
    """The folder as it is unpacked: PLT files by person, labels of some people, the guide."""
    data = d / "Geolife Trajectories 1.3" / "Data"
    head = (
        "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    )
    for who, rows in _by_person(_BEIJING).items():
        folder = data / f"{who:03}" / "Trajectory"
        folder.mkdir(parents=True)
        lines = [
            f"{y:.6f},{x:.6f},0,492,{25569 + ep(t) / 86400:.10f},{t:%Y-%m-%d},{t:%H:%M:%S}\r\n" for _, t, x, y in rows
        ]
        (folder / f"{rows[0][1]:%Y%m%d%H%M%S}.plt").write_bytes((head + "".join(lines)).encode())
        if who % 3 == 0:
            label = f"Start Time\tEnd Time\tTransportation Mode\r\n{rows[0][1]:%Y/%m/%d %H:%M:%S}\t"
            label += f"{rows[-1][1]:%Y/%m/%d %H:%M:%S}\tbus\r\n"
            (data / f"{who:03}" / "labels.txt").write_bytes(label.encode())
    (data.parent / "User Guide-1.3.pdf").write_bytes(b"%PDF-1.5 nothing")
    return data


@case("points", _SOUND)
def _danish_dirty(d: Path) -> Path:
    """Danish AIS: a header behind a hash, 91 and 0 where nothing was known, base stations, rows twice."""
    head = (
        "# Timestamp,Type of mobile,MMSI,Latitude,Longitude,Navigational status,ROT,SOG,COG,Heading,IMO,Callsign,Name,"
    )
    head += "Ship type,Cargo type,Width,Length,Type of position fixing device,Draught,Destination,ETA,"
    head += "Data source type,"
    head += "A,B,C,D"
    rows = []
    for who, t, x, y in sorted(_SOUND, key=lambda row: row[1]):
        ship = (
            219_000_000 + who,
            y,
            x,
            "Under way using engine",
            "",
            "8.4",
            "181.2",
            "",
            "Unknown",
            "",
            f"SHIP {who}",
            "Cargo",
        )
        rest = ("No additional information", 12, 80, "GPS", 4.2, "KIEL", "", "AIS", 40, 40, 6, 6)
        rows.append((f"{t:%d/%m/%Y %H:%M:%S}", "Class A", *ship, *rest))
    rows.insert(9, rows[8])
    lost = list(rows[20])
    lost[0], lost[3], lost[4] = "18/03/2024 14:00:00", "91.0", "0.0"
    rows.append(tuple(lost))
    return put(d / "aisdk-2024-03-18.csv", head, rows, eol="\r\n")


@case("points", _BAY)
def _marine_cadastre_2024(d: Path) -> Path:
    """AIS of NOAA: the small-letter header, empty cells, a header that comes again in the middle."""
    head = (
        "MMSI,BaseDateTime,LAT,LON,SOG,COG,Heading,VesselName,IMO,CallSign,VesselType,Status,Length,Width,Draft,Cargo,"
    )
    head += "TransceiverClass"
    rows = [
        (367_000_100 + who, t.isoformat(), y, x, "0.1", "204.8", "511.0", f"V{who}", "", "", 3, "", "", "", "", 57, "A")
        for who, t, x, y in _BAY
    ]  # fmt: skip
    rows.insert(100, tuple(head.split(",")))
    return put(d / "AIS_2024_03_18.csv", head, rows)


@case("points", _BAY)
def _marine_cadastre_zip(d: Path) -> Path:
    plain = _marine_cadastre_2024(d)
    with zipfile.ZipFile(d / "AIS_2024_03_18.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(plain, plain.name)
        archive.writestr("__MACOSX/._AIS.csv", b"\0\0")
    plain.unlink()
    return d / "AIS_2024_03_18.zip"


@case("points", _BAY)
def _mta_bus(d: Path) -> Path:
    """MTA bus archive: tabs, quoted nowhere, trips that come again with other vehicles, positions before names."""
    head = (
        "latitude\tlongitude\ttime_received\tvehicle_id\tdistance_along_trip\tinferred_direction_id\tinferred_phase\t"
    )
    head += "inferred_route_id\tinferred_trip_id\tnext_scheduled_stop_distance\tnext_scheduled_stop_id"
    rows = [
        (y, x, iso(t), 4000 + who, 120.5, 0, "IN_PROGRESS", "MTA NYCT_M15", f"MTA NYCT_OH_A4-Weekday-{who % 4}", 31.2,
         f"MTA_{400 + int(x * 1000) % 9}")
        for who, t, x, y in _BAY
    ]  # fmt: skip
    return put(d / "MTA-Bus-Time_.2024-03-18.txt", head, rows, sep="\t")


@case("points", _BAY)
def _nyc_buses_kaggle(d: Path) -> Path:
    """SIRI as a table: names of the ends of a line beside the position, which are no ends of a trip."""
    head = (
        "RecordedAtTime,DirectionRef,PublishedLineName,OriginName,OriginLat,OriginLong,DestinationName,DestinationLat,"
    )
    head += "DestinationLong,VehicleRef,VehicleLocation.Latitude,VehicleLocation.Longitude,NextStopPointName,"
    head += "ArrivalProximityText,DistanceFromStop,ExpectedArrivalTime,ScheduledArrivalTime"
    rows = [
        (iso(t), 0, "B8", "4 AV/95 ST", 37.61, -122.4, "BROWNSVILLE", 37.9, -122.2, f"NYCT_{430 + who}", y, x,
         "FOSTER AV/E 18 ST", "approaching", 76.0, iso(t + timedelta(seconds=30)) if who % 3 else "NA",
         f"{9 + who % 3:02}:06:14")
        for who, t, x, y in _BAY
    ]  # fmt: skip
    return put(d / "mta_1706.csv", head, rows)


@case("points", _BAY)
def _gtfs_rt_dotted(d: Path) -> Path:
    head = "entity.id,entity.vehicle.trip.trip_id,entity.vehicle.trip.route_id,entity.vehicle.position.latitude,"
    head += "entity.vehicle.position.longitude,entity.vehicle.position.bearing,entity.vehicle.position.speed,"
    head += "entity.vehicle.timestamp,entity.vehicle.vehicle.id"
    rows = [(f"e{i}", f"t{who}", "14", y, x, 90, 7.2, ep(t), f"bus{who}") for i, (who, t, x, y) in enumerate(_BAY)]
    return put(d / "vehicle_positions.csv", head, rows)


@case("points", _BAY, ("--columns", "user_id=column_13"))
def _dublin_bus(d: Path) -> Path:
    """Without a header, times in microseconds, coordinates in the middle, `null` where nothing is known."""
    rows = [
        (ep(t) * 1_000_000, 747, 0, "null", "2024-03-18", 3493, "SL", 0, x, y, -709, 747006, 40040 + who, 7411, 0)
        for who, t, x, y in sorted(_BAY, key=lambda row: row[1])
    ]
    return put(d / "siri.20240318.csv", "", rows)


@case("points", _BAY, ("--columns", "user_id=file"))
def _gpx_strava(d: Path) -> Path:
    """One GPX file per activity, as an archive of a club has it."""
    folder = d / "activities"
    folder.mkdir()
    for who, rows in _by_person(_BAY).items():
        points = "".join(
            f'<trkpt lat="{y}" lon="{x}"><ele>12.1</ele><time>{t:%Y-%m-%dT%H:%M:%SZ}</time></trkpt>\n'
            for _, t, x, y in rows
        )
        text = '<?xml version="1.0" encoding="UTF-8"?>\n<gpx creator="StravaGPX" version="1.1" '
        text += 'xmlns="http://www.topografix.com/GPX/1/1"><metadata><time>2024-03-18T09:00:00Z</time></metadata>'
        text += f"<trk><name>Morning Ride</name><type>cycling</type><trkseg>{points}</trkseg></trk></gpx>"
        (folder / f"{5_100_000 + who}.gpx").write_text(text)
    return folder


@case("points", _BAY, ("--columns", "user_id=topic"))
def _owntracks(d: Path) -> Path:
    """OwnTracks, one object per line, with other messages between."""
    lines = []
    for who, t, x, y in sorted(_BAY, key=lambda row: row[1]):
        lines.append(
            json.dumps({"_type": "location", "acc": 12, "alt": 9, "batt": 81, "conn": "w", "lat": y, "lon": x,
                        "tid": f"a{who:x}", "tst": ep(t), "vel": 1, "topic": f"owntracks/club/phone{who}"})
        )  # fmt: skip
    lines.insert(7, json.dumps({"_type": "lwt", "tst": ep(DAY)}))
    path = d / "owntracks.json"
    path.write_text("\n".join(lines) + "\n")
    return path


@case("points", _BERLIN)
def _movebank_dirty(d: Path) -> Path:
    head = "event-id,visible,timestamp,location-long,location-lat,sensor-type,individual-taxon-canonical-name,"
    head += "tag-local-identifier,individual-local-identifier,study-name"
    rows = [
        (10_000 + i, "true", f"{iso(t)}.000", x, y, "gps", "Ciconia ciconia", 3000 + who, f"Stork {who}", "Storks 2024")
        for i, (who, t, x, y) in enumerate(_BERLIN)
    ]
    rows.insert(50, (99_999, "false", "2024-03-18 12:00:00.000", "", "", "gps", "Ciconia ciconia", 3001, "Stork 1", ""))
    return put(d / "Storks.csv", head, [[f'"{value}"' for value in row] for row in rows])


@case("points", _BERLIN)
def _german_export(d: Path) -> Path:
    """A fleet's export: Latin-1, semicolons, decimal commas, dd.mm.yyyy, a semicolon at the end of each line."""
    head = "Fahrzeug-Nr.;Kennzeichen;Datum;Uhrzeit;Breite;Länge;Geschwindigkeit [km/h];Straße;"
    rows = [
        (f"F{who:02}", f"B-XY {100 + who}", f"{t:%d.%m.%Y}", f"{t:%H:%M:%S}", _comma(y), _comma(x), "32,5", "Allee", "")
        for who, t, x, y in _BERLIN
    ]
    return put(d / "Fahrten.csv", head, rows, sep=";", enc="cp1252", eol="\r\n")


def _comma(number: float) -> str:
    return f"{number:.6f}".replace(".", ",")


@case("points", _BERLIN)
def _excel_sep(d: Path) -> Path:
    """Excel: a line sep=; on top, UTF-8 with BOM, quoted numbers with decimal commas."""
    head = "sep=;\r\nuser;Zeitpunkt;lat;lon"
    rows = [(f'"u{who}"', f"{t:%d.%m.%Y %H:%M:%S}", f'"{_comma(y)}"', f'"{_comma(x)}"') for who, t, x, y in _BERLIN]
    return put(d / "Mappe1.csv", head, rows, sep=";", enc="utf-8-sig", eol="\r\n")


@case("points", _BERLIN)
def _excel_unicode(d: Path) -> Path:
    """Excel's "Unicode text": UTF-16 with tabs, a row of empty cells at the end."""
    head = "Gerät\tDatum\tUhrzeit\tBreitengrad\tLängengrad"
    rows = [(f"G{who}", f"{t:%d.%m.%Y}", f"{t:%H:%M:%S}", _comma(y), _comma(x)) for who, t, x, y in _BERLIN]
    return put(d / "Unicode.txt", head, [*rows, ("", "", "", "", "")], sep="\t", enc="utf-16", eol="\r\n")


@case("points", _BERLIN, EACH)
def _grab_posis(d: Path) -> Path:
    """Grab-Posis: Parquet, raw positions, epochs; trips of drivers that nobody names."""
    rows = _BERLIN
    pl.DataFrame(
        {
            "trj_id": [str(70_000 + who) for who, *_ in rows],
            "driving_mode": ["car"] * len(rows),
            "osname": ["android"] * len(rows),
            "pingtimestamp": [ep(t) for _, t, _, _ in rows],
            "rawlat": [y for *_, y in rows],
            "rawlng": [x for *_, x, _ in rows],
            "speed": [8.1] * len(rows),
            "bearing": [80] * len(rows),
            "accuracy": [4.0] * len(rows),
        }
    ).write_parquet(d / "part-00000.snappy.parquet")
    return d / "part-00000.snappy.parquet"


@case("points", _BAY)
def _veraset(d: Path) -> Path:
    head = "utc_timestamp,caid,id_type,geo_hash,latitude,longitude,horizontal_accuracy,iso_country_code"
    rows = [
        (ep(t), f"{who:064x}", "aaid", "9q8yy" + "bcdefg"[int(x * 1e4) % 6], y, x, 12.5, "US") for who, t, x, y in _BAY
    ]
    text = "\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n"
    (d / "part-0.csv.gz").write_bytes(gzip.compress(text.encode()))
    return d / "part-0.csv.gz"


@case("points", _BAY, ("--columns", "user_id=PROBE_ID"))
def _here_probe(d: Path) -> Path:
    head = "PROBE_ID,SAMPLE_DATE,LAT,LON,HEADING,SPEED,PROBE_DATA_PROVIDER"
    rows = [(f"pr{who:05}", iso(t), y, x, 90, 44, "CONSUMER1") for who, t, x, y in _BAY]
    return put(d / "probe.csv", head, rows)


@case("points", _BERLIN, ("--position-order", "latlon"))
def _flightradar(d: Path) -> Path:
    """Flightradar24: the position is one text, latitude first; epoch and text of the same time."""
    head = "Timestamp,UTC,Callsign,Position,Altitude,Speed,Direction"
    rows = [(ep(t), f"{t:%Y-%m-%dT%H:%M:%SZ}", f"DLH{who}", f'"{y},{x}"', 3000, 240, 90) for who, t, x, y in _BERLIN]
    return put(d / "flights.csv", head, rows)


@case("points", _BAY, ("--columns", "user_id=hex"))
def _dump1090(d: Path) -> Path:
    """ADS-B as tar1090 and collectors write it: hex address, epochs with a fraction, blanks behind flights."""
    head = "hex,flight,alt_baro,gs,track,lat,lon,seen_pos,messages,rssi,ts"
    rows = [
        (f"a{who:05x}", f'"UAL{who}  "', 34000, 440.1, 20.2, y, x, 0.1, i, -21.1, f"{ep(t)}.2")
        for i, (who, t, x, y) in enumerate(_BAY)
    ]
    rows.insert(40, (*rows[3][:5], "", "", 0.1, 900, -21.1, f"{ep(DAY)}.7"))
    return put(d / "adsb.csv", head, rows)


@case("points", _BAY, metres=True)
def _sumo_csv(d: Path) -> Path:
    """SUMO FCD as xml2csv writes it: semicolons, seconds of the simulation, rows without a vehicle."""
    head = "timestep_time;vehicle_angle;vehicle_id;vehicle_lane;vehicle_pos;vehicle_slope;vehicle_speed;vehicle_type;"
    head += "vehicle_x;vehicle_y"
    rows = [("0.00", *[""] * 9)]
    for who, t, x, y in sorted(_BAY, key=lambda row: row[1]):
        place = (f"{(x + 122.5) * 88_000:.2f}", f"{(y - 37.7) * 111_000:.2f}")
        rows.append((f"{ep(t)}.00", "90.00", f"flow.{who}", "e1_0", "5.10", "0.00", "13.2", "car", *place))
    return put(d / "fcd.csv", head, rows, sep=";")


@case("points", _BAY, ("--crs", "degrees"))
def _sumo_xml_geo(d: Path) -> Path:
    """SUMO FCD as XML with --fcd-output.geo."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<!-- generated on 2024-03-18 by SUMO -->",
             '<fcd-export xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">']  # fmt: skip
    at: dict[int, list] = {}
    for who, t, x, y in _BAY:
        at.setdefault(ep(t), []).append((who, x, y))
    for t, there in sorted(at.items()):
        lines.append(f'    <timestep time="{t}.00">')
        lines += [
            f'        <vehicle id="v{who}" x="{x}" y="{y}" angle="90.0" type="car" speed="13.0" pos="5.1" lane="e_0"/>'
            for who, x, y in there
        ]
        lines.append("    </timestep>")
    (d / "fcd.xml").write_text("\n".join([*lines, "</fcd-export>"]) + "\n")
    return d / "fcd.xml"


@case("points", _BAY)
def _ngsim(d: Path) -> Path:
    """NGSIM: frames and epochs in milliseconds, local coordinates in feet beside global ones in degrees."""
    head = "Vehicle_ID,Frame_ID,Total_Frames,Global_Time,lat,lon,v_Length,v_Width,v_Class,v_Vel,v_Acc,"
    head += "Lane_ID,Location"
    rows = [
        (who + 2, 10 + i % 30, 30, ep(t) * 1000, y, x, 14.5, 6.4, 2, 40.1, 0, 2, "us-101")
        for i, (who, t, x, y) in enumerate(_BAY)
    ]
    return put(d / "ngsim.csv", head, rows)


@case("points", _BEIJING, ("--columns", "user_id=column_1"))
def _didi_gps(d: Path) -> Path:
    """Didi's tracks: no header, driver, order, epoch, longitude, latitude."""
    rows = [(f"{who:032x}", f"{who + 100:032x}", ep(t), x, y) for who, t, x, y in _BEIJING]
    return put(d / "gps_20161101", "", rows)


@case("points", _BEIJING)
def _beijing_quoted(d: Path) -> Path:
    """A Beijing company's export: GB 18030, Chinese header, times that are packed, a column of marks behind."""
    head = "车辆编号,定位时间,经度,纬度,速度,状态,"
    rows = [(f"京B{who:05}", f"{t:%Y%m%d%H%M%S}", x, y, 31, "载客", "") for who, t, x, y in _BEIJING]
    return put(d / "20240318.csv", head, rows, enc="gb18030", eol="\r\n")


@case("points", _BERLIN)
def _openpaths(d: Path) -> Path:
    """OpenPaths of several people who joined their files."""
    head = "lat,lon,alt,date,device,os,version"
    rows = [(y, x, 10, iso(t), f"iPhone{who}", "iOS 7", "1.1") for who, t, x, y in _BERLIN]
    return put(d / "openpaths.csv", head, rows)


@case("points", _BERLIN)
def _mdc_gps(d: Path) -> Path:
    """Nokia's campaign: person, time, zone in seconds, then the position."""
    head = "userid,unixtime,tz,gps_altitude,gps_longitude,gps_latitude,horizontal_accuracy,speed"
    rows = [(6000 + who, ep(t), -3600, 380, x, y, 14, 1.2) for who, t, x, y in _BERLIN]
    return put(d / "gps.csv", head, rows)


@case("points", _BERLIN)
def _porto_like_wkt(d: Path) -> Path:
    """Floating cars with the position as WKT and times with an offset."""
    head = "id_vehicle|ts|geom"
    rows = [(f"v{who}", f"{t:%Y-%m-%dT%H:%M:%S}+00:00", f"POINT ({x} {y})") for who, t, x, y in _BERLIN]
    return put(d / "fcd.txt", head, rows, sep="|")


@pytest.mark.parametrize("table", CASES, ids=str)
def test_dirty_points_are_read_back_as_they_were_written(tmp_path: Path, table: Case) -> None:
    check_case(table, tmp_path)
