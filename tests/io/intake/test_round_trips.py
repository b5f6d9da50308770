"""Random tables in random dialects, date formats and layouts are read back to the same data."""

from __future__ import annotations

import csv
import gzip
import io
import tempfile
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.io.intake.convert import Layout, TimeColumn, convert_table
from wayveil.io.intake.dialect import Dialect, detect_dialect
from wayveil.io.tabular.table import ROW_NUMBER
from wayveil.io.tabular.time_formats import detect_time_formats, parse_time_text

_EPOCH = datetime(1970, 1, 1)
_WRITERS = {
    "ymd": lambda t, sign: t.strftime(f"%Y{sign}%m{sign}%d %H:%M:%S"),
    "dmy": lambda t, sign: f"{t.day}{sign}{t.month}{sign}{t.year} {t.hour}:{t.minute:02}:{t.second:02}",
    "mdy": lambda t, sign: t.strftime(f"%m{sign}%d{sign}%Y %I:%M:%S %p"),
    "compact": lambda t, sign: t.strftime("%Y%m%d %H:%M:%S"),
    "epoch_s": lambda t, sign: str(int((t - _EPOCH).total_seconds())),
    "epoch_ms": lambda t, sign: str(int((t - _EPOCH).total_seconds()) * 1000),
}
_NAMES = st.sampled_from(["Zürich", "Bahnhof", "a b", 'say "x"', "north, south", "p;q", "Grove St", "7a"])
_TIMES = st.integers(0, 40 * 365 * 86_400).map(lambda s: datetime(1995, 1, 1) + timedelta(seconds=s))
_ROWS = st.lists(
    st.tuples(st.integers(0, 99), _NAMES, _TIMES, st.integers(-(10**6), 10**6).map(lambda n: n / 1000)),
    min_size=3,
    max_size=12,
)


def _text(rows: list, *, separator: str, decimal: str, header: bool, form: str, sign: str, above: list[str]) -> str:
    out = io.StringIO(newline="")
    for line in above:
        out.write(f"{line}\n")
    writer = csv.writer(out, delimiter=separator, lineterminator="\n")
    if header:
        writer.writerow(["person", "place", "when", "reading"])
    for number, place, time, value in rows:
        writer.writerow([number, place, _WRITERS[form](time, sign), f"{value:.3f}".replace(".", decimal)])
    return out.getvalue()


@settings(max_examples=120, deadline=None)
@given(
    rows=_ROWS,
    separator=st.sampled_from([",", ";", "\t", "|"]),
    comma=st.booleans(),
    header=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "utf-16"]),
    form=st.sampled_from(sorted(_WRITERS)),
    sign=st.sampled_from("-/."),
    above=st.sampled_from(["", "# made by a machine", "sep"]),
    packed=st.sampled_from(["", ".gz", ".zip"]),
)
def test_what_is_written_in_any_dialect_is_read_back(
    rows, separator, comma, header, encoding, form, sign, above, packed
) -> None:
    decimal = "," if comma and separator != "," else "."
    first = [f"sep={separator}"] if above == "sep" else [above] if above else []
    text = _text(rows, separator=separator, decimal=decimal, header=header, form=form, sign=sign, above=first)
    content = text.encode(encoding)
    dialect = detect_dialect(content, whole=True)
    assert (dialect.separator, dialect.header, dialect.decimal) == (separator, header, decimal)
    names = () if header else ("person", "place", "when", "reading")
    times = {"t": TimeColumn(columns=("when",), format=form)}
    with tempfile.TemporaryDirectory() as folder:
        path = _packed(Path(folder), content, packed)
        made = convert_table(path, Layout(dialect=dialect, names=names, times=times), Path(folder))
        frame = pl.read_parquet(made.path)
    assert made.rows == len(rows)
    assert frame["person"].cast(int).to_list() == [row[0] for row in rows]
    assert frame["place"].to_list() == [row[1] for row in rows]
    assert frame["t"].dt.replace_time_zone(None).to_list() == [row[2] for row in rows]
    assert frame["reading"].cast(float).to_list() == [row[3] for row in rows]
    lines = text.splitlines()
    if above != "# made by a machine":
        assert [lines[number].split(separator)[0] for number in frame[ROW_NUMBER]] == [str(row[0]) for row in rows]


def _packed(folder: Path, content: bytes, packed: str) -> Path:
    path = folder / f"table.txt{packed}"
    if packed == ".gz":
        path.write_bytes(gzip.compress(content))
    elif packed == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("inside/table.txt", content)
    else:
        path.write_bytes(content)
    return path


@settings(max_examples=100, deadline=None)
@given(
    times=st.lists(_TIMES, min_size=1, max_size=20),
    form=st.sampled_from(sorted(_WRITERS)),
    sign=st.sampled_from("-/."),
    offset=st.sampled_from(["", "Z", "+00", "+02:00", "-0330"]),
)
def test_the_format_of_times_is_among_those_detected_and_reads_them(times, form, sign, offset) -> None:
    dated = not form.startswith("epoch")
    text = pl.Series([_WRITERS[form](time, sign) + (offset if dated else "") for time in times])
    fits = {fit.format: fit for fit in detect_time_formats(text)}
    assert form in fits
    assert len(fits) == 1 or set(fits) == {"dmy", "mdy"}
    shift = {"+02:00": -2 * 3600, "-0330": 3 * 3600 + 1800}.get(offset if dated else "", 0)
    expected = [(int((time - _EPOCH).total_seconds()) + shift) * 10**6 for time in times]
    assert parse_time_text(text, form).to_list() == expected


@settings(max_examples=40, deadline=None)
@given(
    times=st.lists(_TIMES, min_size=2, max_size=8),
    bad=st.sets(st.integers(0, 7)),
    zone=st.sampled_from(["", "UTC", "Asia/Tokyo"]),
)
def test_bad_rows_are_counted_and_the_others_stay(times, bad, zone) -> None:
    bad = {row for row in bad if row < len(times)}
    cells = ["30/02/2020 10:00" if i in bad else time.strftime("%d/%m/%Y %H:%M:%S") for i, time in enumerate(times)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_text("n,when\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
        times_of = {"t": TimeColumn(columns=("when",), format="dmy", zone=zone)}
        made = convert_table(path, Layout(times=times_of, bad_rows="drop"), Path(folder))
        frame = pl.read_parquet(made.path)
    assert sum(made.dropped.values()) == len(bad)
    assert made.rows == len(times)
    assert frame["n"].cast(int).to_list() == [i for i in range(len(times)) if i not in bad]
    shift = timedelta(hours=9 if zone == "Asia/Tokyo" else 0)
    kept = [time - shift for i, time in enumerate(times) if i not in bad]
    assert frame["t"].dt.replace_time_zone(None).to_list() == kept
    assert (frame["t"].dtype.time_zone is not None) == bool(zone)


@settings(max_examples=40, deadline=None)
@given(rows=st.lists(st.tuples(_TIMES, _TIMES, _NAMES, _NAMES), min_size=1, max_size=8), swapped=st.booleans())
def test_a_row_per_trip_becomes_two(rows, swapped) -> None:
    header = ["bike", "begin", "end", "from", "to"]
    order = [0, 4, 3, 2, 1] if swapped else [0, 1, 2, 3, 4]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([header[i] for i in order])
    for number, (begin, end, start, stop) in enumerate(rows):
        cells = [str(number), begin.isoformat(), end.isoformat(), start, stop]
        writer.writerow([cells[i] for i in order])
    times = {name: TimeColumn(columns=(name,), format="ymd") for name in ("begin", "end")}
    layout = Layout(times=times, ends={"t": ("begin", "end"), "location": ("from", "to")})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trips.csv")
        path.write_text(out.getvalue())
        frame = pl.read_parquet(convert_table(path, layout, Path(folder)).path)
    assert frame["t"].to_list() == [time for row in rows for time in row[:2]]
    assert frame["location"].to_list() == [place for row in rows for place in row[2:]]
    assert frame["bike"].cast(int).to_list() == [i for i in range(len(rows)) for _ in range(2)]
    assert frame["trip"].n_unique() == len(rows)
    assert "from" not in frame.columns


def test_two_columns_make_one_time() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.csv")
        path.write_text("d,c,v\n20200131,23:59:59,1\n20200201,0:00,2\n")
        times = {"t": TimeColumn(columns=("d", "c"), format="compact", zone="Europe/Athens")}
        frame = pl.read_parquet(convert_table(path, Layout(times=times), Path(folder)).path)
    assert frame["t"].to_list() == [
        datetime(2020, 1, 31, 21, 59, 59, tzinfo=UTC),
        datetime(2020, 1, 31, 22, tzinfo=UTC),
    ]


def test_a_plain_table_is_plain() -> None:
    assert Layout(dialect=Dialect(separator=";")).is_plain
    assert not Layout(bad_rows="drop").is_plain
