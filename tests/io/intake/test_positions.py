"""Random positions in every form are read back, and trips and named months in random layouts."""

from __future__ import annotations

import csv
import io
import struct
import tempfile
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, UsageError
from wayveil.io.formats.json_records import convert_json, holds_records
from wayveil.io.intake.positions import PositionColumn, detect_axis_format, detect_pair, read_position
from wayveil.io.tabular.time_formats import detect_time_formats, parse_time_text
from wayveil.pipeline.input import load
from wayveil.recipe.recipe import make_input

_EPOCH = datetime(1970, 1, 1)
_LON = st.integers(-179_999_999, 179_999_999).map(lambda n: n / 1e6)
_LAT = st.integers(-89_999_999, 89_999_999).map(lambda n: n / 1e6)


def _sexagesimal(value: float, letters: str) -> str:
    whole = round(abs(value) * 3_600_000)  # thousandths of a second
    degrees, rest = divmod(whole, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{degrees}°{minutes:02}'{rest / 1000:.3f}\" {letters[value < 0]}"


_FORMS = {
    "e5": lambda x, y: (str(round(x * 1e5)), str(round(y * 1e5))),
    "e6": lambda x, y: (str(round(x * 1e6)), str(round(y * 1e6))),
    "e7": lambda x, y: (str(round(x * 1e7)), str(round(y * 1e7))),
    "semicircles": lambda x, y: (str(round(x * 2**31 / 180)), str(round(y * 2**31 / 180))),
    "sexagesimal": lambda x, y: (_sexagesimal(x, "EW"), _sexagesimal(y, "NS")),
    "lonlat": lambda x, y: (f"({x:.6f}, {y:.6f})",),
    "latlon": lambda x, y: (f"{y:.6f} {x:.6f}",),
    "wkb": lambda x, y: (("0101000020E6100000" + struct.pack("<dd", x, y).hex()).upper(),),
}


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(st.tuples(_LON, _LAT), min_size=1, max_size=8), form=st.sampled_from(sorted(_FORMS)))
def test_positions_in_any_form_are_read_back(rows: list[tuple[float, float]], form: str) -> None:
    written = [_FORMS[form](x, y) for x, y in rows]
    columns = ("a", "b")[: len(written[0])]
    table = pl.DataFrame([list(row) for row in zip(*written, strict=True)], schema=list(columns))
    order = form if form in ("lonlat", "latlon") else "lonlat"
    kind = "pair" if form in ("lonlat", "latlon") else form
    found = table.select(*read_position(PositionColumn(columns=columns, format=kind, order=order))).rows()
    for (x, y), (lon, lat) in zip(rows, found, strict=True):
        assert abs(lon - x) < 6e-6
        assert abs(lat - y) < 6e-6
    if len(columns) == 1:
        assert detect_pair(table["a"]) == kind


def test_what_is_no_position_is_null_and_never_another_one() -> None:
    texts = ["", "north", "12", "POLYGON ((1 2))", "1.5, 2.5, x", "0101", "2024-03-18 10:00"]
    for form in ("pair", "wkb"):
        table = pl.DataFrame({"a": texts})
        assert table.select(*read_position(PositionColumn(columns=("a",), format=form))).null_count().row(0) == (7, 7)
    table = pl.DataFrame({"a": ["12°61'", "north", "1°2'3\" N x"], "b": ["5°", "1°", "2°"]})
    both = PositionColumn(columns=("a", "b"), format="sexagesimal")
    assert table.select(*read_position(both))["x"].to_list() == [None, None, None]
    for wrong in ({"columns": ("a",), "format": "e6"}, {"columns": ("a", "b"), "format": "pair"}):
        with pytest.raises(UsageError, match="positions"):
            PositionColumn(**wrong)


def test_metres_are_not_taken_for_degrees() -> None:
    metres = pl.Series([531_204.5, 531_207.25])
    assert detect_axis_format("lon", metres.cast(pl.String), metres, 180) == ("degrees",)


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_MOMENTS = st.integers(0, 40 * 365 * 86_400).map(lambda s: datetime(1995, 1, 1) + timedelta(seconds=s))
_NAMED = {
    "day first": lambda t: f"{t.day} {_MONTHS[t.month - 1]} {t.year} {t:%H:%M:%S}",
    "month first": lambda t: f"{_MONTHS[t.month - 1]} {t.day}, {t.year} {t:%I:%M:%S %p}",
    "dashes": lambda t: f"{t.day:02}-{_MONTHS[t.month - 1]}-{t.year} {t:%H:%M:%S}",
    "year last": lambda t: f"{t:%a} {_MONTHS[t.month - 1]} {t.day:02} {t:%H:%M:%S} +0000 {t.year}",
    "zone": lambda t: f"{t:%a} {_MONTHS[t.month - 1]} {t.day:02} {t:%H:%M:%S} CEST {t.year}",
}


@settings(max_examples=60, deadline=None)
@given(times=st.lists(_MOMENTS, min_size=1, max_size=12), form=st.sampled_from(sorted(_NAMED)))
def test_named_months_are_read_back(times: list[datetime], form: str) -> None:
    text = pl.Series([_NAMED[form](time) for time in times])
    fits = detect_time_formats(text)
    assert [fit.format for fit in fits] == ["named"]
    assert fits[0].has_abbreviation == (form == "zone")
    expected = [int((time - _EPOCH).total_seconds()) * 10**6 for time in times]
    assert parse_time_text(text, "named").to_list() == expected


@settings(max_examples=30, deadline=None)
@given(
    rows=st.lists(st.tuples(_MOMENTS, st.integers(0, 86_400), *[st.sampled_from("abc")] * 2), min_size=1, max_size=8),
    order=st.permutations(range(4)),
    separator=st.sampled_from([",", ";", "\t"]),
    form=st.sampled_from(["ymd", "dmy", "compact"]),
)
def test_trips_in_any_layout_are_read_back(rows, order, separator, form) -> None:
    pattern = {"ymd": "%Y-%m-%d %H:%M:%S", "dmy": "%d/%m/%Y %H:%M:%S", "compact": "%Y%m%d%H%M%S"}[form]
    names = ["begin", "finish", "from", "to"]
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    writer.writerow([names[i] for i in order])
    truth = []
    for start, seconds, origin, destination in rows:
        end = start + timedelta(seconds=seconds)
        cells = [start.strftime(pattern), end.strftime(pattern), origin, destination]
        writer.writerow([cells[i] for i in order])
        ticks = [int((time - _EPOCH).total_seconds()) * 10**6 for time in (start, end)]
        truth.append((*ticks, origin, destination))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trips.txt")
        path.write_text(out.getvalue())
        said = {
            "path": str(path),
            "kind": "trips",
            "owners": "each-trajectory",
            "columns": {"origin": "from", "destination": "to"},
            "times": {
                ours: {"columns": [name], "format": form} for ours, name in (("t_start", "begin"), ("t_end", "finish"))
            },
        }
        ends = load(make_input(said), attributes=()).data.ends()
    places = ends.places
    found = zip(ends.t_start, ends.t_end, ends.origin, ends.destination, strict=True)
    assert sorted((int(a), int(b), places[o], places[d]) for a, b, o, d in found) == sorted(truth)


def test_json_that_holds_no_rows_is_one_sentence(tmp_path: Path) -> None:
    for text, said in (
        ("[1, 2]", "no list of objects"),
        ('{"a": {"b": 1}}', "no list of objects"),
        ('{"a": [', "damaged"),
    ):
        path = tmp_path / "a.json"
        path.write_text(text)
        with pytest.raises(InputError, match=said):
            convert_json(path, tmp_path, shown="a.json")
    (tmp_path / "b.jsonl").write_text('{"type": "Feature", "geometry": null}\n')
    assert not holds_records(tmp_path / "b.jsonl")
    (tmp_path / "c.json").write_text(
        '{"rows": [{"id": "007", "at": {"lat": 1.50, "lon": 2}, "to": {"lat": 3, "lon": 4}}]}'
    )
    frame = pl.read_parquet(convert_json(tmp_path / "c.json", tmp_path, shown="c.json"))
    assert frame.rows(named=True) == [{"id": "007", "at.lat": 1.5, "at.lon": 2, "to.lat": 3, "to.lon": 4}]
