"""pandas, GeoPandas and MovingPandas: there and back, by the rules that hold for files."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayveil.errors import InputError, UsageError, WayveilError
from wayveil.io.read import dataframes
from wayveil.io.read.dataframes import (
    from_polars,
    to_geopandas,
    to_movingpandas,
    to_pandas,
)
from wayveil.model import Boxes, Frame, Points, TimeFormat, Visits

pd = pytest.importorskip("pandas")
gpd = pytest.importorskip("geopandas")
shapely = pytest.importorskip("shapely")

HERE = Frame.for_degrees(np.array([11.8, 12.0]), np.array([50.2, 50.4]))
GREEK = Frame(crs="EPSG:2100")
pytestmark = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning")


def refused(call: Any, *words: str) -> None:
    with pytest.raises(WayveilError) as caught:
        call()
    for word in words:
        assert word in str(caught.value)
    assert "SECRET" not in str(caught.value)


# pandas


def declaring(read: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that reads a frame, and declares each trajectory a person where no column says who it is."""

    def from_frame(frame: Any, **how: Any) -> Any:
        named = "user_id" in (*getattr(frame, "columns", ()), *how.get("columns", ())) or hasattr(frame, "trajectories")
        return read(frame, **({} if named else {"owners": "each-trajectory"}), **how)

    return from_frame


from_pandas, from_geopandas = declaring(dataframes.from_pandas), declaring(dataframes.from_geopandas)
from_movingpandas = declaring(dataframes.from_movingpandas)


def test_frames_say_who_it_is_or_declare_it() -> None:
    frame = one(t=[1, 2])
    for read, table in ((dataframes.from_pandas, frame), (from_polars, pl.DataFrame(frame.to_dict("list")))):
        refused(lambda read=read, table=table: read(table), "nobody said who", 'owners = "each-trajectory"')
        assert read(table, owners="each-trajectory").owners == "declared"
        assert read(table, columns={"user_id": "traj_id"}).owners == "given"
        refused(lambda read=read, table=table: read(table, owners="nobody"), 'owners must be "each-trajectory"')


def test_polars_there_and_back() -> None:
    frame = pl.DataFrame(
        {
            "traj_id": ["a", "a", "b"],
            "user_id": ["u", "u", "u"],
            "t": [1, 2, 3],
            "lon": [11.8, 11.9, 12.0],
            "lat": [50.2] * 3,
        }
    )
    data = from_polars(frame)
    assert isinstance(data, Points)
    assert (data.n_owners, data.owners, data.frame.crs) == (1, "given", "EPSG:4326")
    assert from_polars(frame.lazy()).record(0) == data.record(0)
    refused(lambda: from_polars(frame.with_columns(lat=pl.Series([50.2, 91.0, 50.2]))), "the data frame", "at row 2")


def test_points_from_pandas() -> None:
    frame = pd.DataFrame({"traj_id": ["b", "b", "a"], "t": [2, 1, 1], "x": [1000, 2000, 3000], "y": [0.5, 1, 2]})
    data = from_pandas(frame)
    assert isinstance(data, Points)
    assert [data.record(i) for i in range(2)] == [[(1, 2000.0, 1.0), (2, 1000.0, 0.5)], [(1, 3000.0, 2.0)]]
    assert from_pandas(frame.iloc[::-1]).record(1) == data.record(0)  # the labels of the index do not count
    with_options = from_pandas(
        frame.rename(columns={"traj_id": "card"}).assign(kind="k", speed=[1, 2, 3]),
        columns={"traj_id": "card", "user_id": "card[:1]"},
        crs="planar",
        attributes=["kind"],
    )
    assert with_options.owners == "given"
    assert list(with_options.attributes) == ["kind"]


def test_visits_from_pandas() -> None:
    frame = pd.DataFrame({"traj_id": [7, 7], "t": [1, 1], "location": pd.Categorical(["x", "y"])})
    refused(lambda: from_pandas(frame), "the data frame: a trajectory has different visits", "row 1 and row 2")
    data = from_pandas(frame, on_duplicate_time="last")
    assert isinstance(data, Visits)
    assert data.record(0) == [("y", 1)]
    both = frame.assign(x=1.0, y=2000.0)
    refused(lambda: from_pandas(both), "both visits and points")
    assert isinstance(from_pandas(both, kind="visits", on_duplicate_time="first", attributes=[]), Visits)
    assert isinstance(from_pandas(both, kind="points", attributes=[]), Points)


def one(**columns: Any) -> Any:
    n = max(len(v) for v in columns.values())
    return pd.DataFrame({"traj_id": [str(i) for i in range(n)], "t": [1] * n, "x": [5e5] * n, "y": [0.0] * n} | columns)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_from_pandas(unit: str) -> None:
    moments = pd.Series(pd.to_datetime(["2024-05-31T08:15:00", "1969-12-31T23:59:59"])).astype(f"datetime64[{unit}]")
    expected = [1_717_143_300_000_000, -1_000_000]
    plain = from_pandas(one(t=moments))
    assert (plain.t.tolist(), plain.time_format) == (expected, "local")
    zoned = from_pandas(one(t=moments.dt.tz_localize("Europe/Vienna")))
    assert (zoned.t.tolist(), zoned.time_format) == (
        [t - h * 3_600_000_000 for t, h in zip(expected, (2, 1), strict=True)],
        "utc",
    )
    by_text = from_pandas(one(t=["2024-05-31T08:15:00Z", "1969-12-31T23:59:59Z"]))
    assert (by_text.t.tolist(), by_text.time_format) == (expected, "utc")
    by_day = from_pandas(one(t=[date(1970, 1, 2)]))
    assert (by_day.t.tolist(), by_day.time_format) == ([86_400_000_000], "local")
    missing = moments.copy()
    missing[1] = pd.NaT
    refused(lambda: from_pandas(one(t=missing)), "'t' is empty in 1 row, at row 2")


def test_indices_from_pandas() -> None:
    frame = one(t=[3, 4])
    assert from_pandas(frame.set_index("traj_id")).t.tolist() == [3, 4]
    when = pd.DatetimeIndex(["2024-05-31T08:15:00", "2024-05-31T08:16:00"])
    assert from_pandas(frame.drop(columns="t").set_index(when)).time_format == "local"
    assert from_pandas(frame.drop(columns="t").set_index(when.rename("t"))).time_format == "local"
    refused(lambda: from_pandas(frame.set_index(when)), "have the same name")


def test_degrees_in_x_and_y_of_frames_are_refused_until_somebody_says_so() -> None:
    frame = one(x=[16.37], y=[48.2])
    who = {"columns": {"user_id": "traj_id"}}
    for read, table in ((from_pandas, frame), (from_polars, pl.DataFrame(frame.to_dict("list")))):
        refused(lambda read=read, table=table: read(table, **who), "the data frame: nobody said what x and y are")
        assert read(table, **who, crs="degrees").frame.degrees
        assert not read(table, **who, crs="planar").frame.degrees


def test_other_columns_from_pandas() -> None:
    frame = one(
        traj_id=pd.Series([2**62 + 1, None], dtype="Int64").fillna(5),
        a=pd.Series([1, None], dtype="Int64"),
        b=[True, False],
        c=pd.Series([1.5, np.nan], dtype="float32"),
        d=pd.Categorical(["東京", None]),
        e=pd.Series(["q", None], dtype="string"),
    )
    data = from_pandas(frame)
    assert {name: a.values() for name, a in data.attributes.items()} == {
        "a": ["1", None],
        "b": ["true", "false"],
        "c": ["1.5", None],
        "d": ["東京", None],
        "e": ["q", None],
    }
    wkb = struct.pack("<BI2d", 1, 1, 16.5, 48.0)
    loaded = from_pandas(pd.DataFrame({"traj_id": ["a"], "t": [1], "geometry": [wkb]}))
    assert loaded.frame.degrees


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("x", np.nan, "'x' is not a finite number"),
        ("y", -np.inf, "'y' is not a finite number"),
        ("x", None, "'x' is"),
        ("traj_id", None, "'traj_id' is empty"),
        ("t", "SECRET", "'t' is neither"),
        ("x", "SECRET", "'x' is not a number"),
    ],
)
def test_bad_values_in_pandas(column: str, value: object, words: str) -> None:
    frame = one(t=[1, 2]).astype(object)
    frame[column] = pd.Series([frame[column][0], value], dtype=float if isinstance(value, float) else object)
    if column in ("x", "y") and not isinstance(value, str):
        frame[column] = frame[column].astype(float)
    refused(lambda: from_pandas(frame), words, "row 2")


def test_empty_pandas() -> None:
    refused(lambda: from_pandas(one(t=[1]).iloc[:0]), "no rows")
    refused(lambda: from_pandas(pd.DataFrame()), "neither visits")


@st.composite
def points(draw: st.DrawFn, frame: Frame, least: int = 1) -> Points:
    n = draw(st.integers(1, 4))
    time_format: TimeFormat = draw(st.sampled_from(["epoch", "utc", "local"]))
    low, high = {"epoch": (10**8, 10**9)}.get(time_format, (0, 10**15))
    moments = st.sets(st.integers(low, high), min_size=least, max_size=4)
    place = st.floats(-5e3, 5e3)
    return Points.from_records(
        [[(t, draw(place), draw(place)) for t in sorted(draw(moments))] for _ in range(n)],
        owner=draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)),
        attributes={"kind": draw(st.lists(st.sampled_from([None, "p"]), min_size=n, max_size=n))},
        time_format=time_format,
        frame=frame,
    )


def check_same(found: Points, data: Points) -> None:
    np.testing.assert_array_equal(found.t, data.t)
    np.testing.assert_array_equal(found.offsets, data.offsets)
    assert found.frame.crs == data.frame.crs
    back, there = found.frame.to_file(found.x, found.y), data.frame.to_file(data.x, data.y)
    np.testing.assert_allclose(back, there, rtol=0, atol=0 if not data.frame.degrees else 1e-11)
    same = [[a == b for b in data.owner] for a in data.owner]
    assert [[a == b for b in found.owner] for a in found.owner] == same
    assert found.owners == "given"


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_round_trip_of_pandas(drawn: st.DataObject) -> None:
    data = drawn.draw(points(drawn.draw(st.sampled_from([HERE, Frame(crs="planar")]))))
    found = from_pandas(to_pandas(data), crs=None if data.frame.degrees else "planar")
    check_same(found, data)  # type: ignore[arg-type]
    assert found.time_format == data.time_format
    assert found.attributes["kind"].values() == data.attributes["kind"].values()


def test_visits_and_regions_to_pandas() -> None:
    frame = to_pandas(Visits.from_records([[("x", 1)], [("y", 2)]]), ids=["p", "q"])
    assert frame.to_dict("list") == {"traj_id": ["p", "q"], "t": [1, 2], "location": ["x", "y"]}
    regions = Boxes.from_records([[(1, 2, 0.0, 1.0, 2.0, 3.0)]], time_format="utc")
    frame = to_pandas(regions)
    assert list(frame.columns) == ["traj_id", "seq", "t_min", "t_max", "x_min", "x_max", "y_min", "y_max"]
    assert str(frame["t_min"].dtype) == "datetime64[us, UTC]"


# GeoPandas


@given(st.data())
@settings(deadline=None, max_examples=30)
def test_round_trip_of_geopandas(drawn: st.DataObject) -> None:
    data = drawn.draw(points(drawn.draw(st.sampled_from([HERE, GREEK]))))
    frame = to_geopandas(data)
    assert frame.crs == data.frame.crs
    assert "lon" not in frame.columns
    assert "x" not in frame.columns
    found = from_geopandas(frame)
    check_same(found, data)
    assert set(found.attributes) <= {"kind"}


def geo(*geometries: Any, crs: str | None = "EPSG:4326") -> Any:
    n = len(geometries)
    return gpd.GeoDataFrame({"traj_id": ["a"] * n, "t": range(n)}, geometry=list(geometries), crs=crs)


def test_geometries_that_are_no_points() -> None:
    point = shapely.Point(1, 2)
    refused(lambda: from_geopandas(geo(point, shapely.box(0, 0, 1, 1))), "1 geometry is not points")
    refused(lambda: from_geopandas(geo(point, None)), "not a finite number", "row 2")
    refused(lambda: from_geopandas(geo(point, shapely.Point())), "not a finite number", "row 2")
    refused(lambda: from_geopandas(geo(shapely.Point(1, 91))), "latitude from -90 to 90")


def test_systems_of_geopandas() -> None:
    point = shapely.Point(1, 2)
    refused(lambda: from_geopandas(geo(point, crs=None)), "nobody knows the coordinate system")
    assert from_geopandas(geo(point, crs=None), crs="planar").record(0) == [(0, 1.0, 2.0)]
    refused(lambda: from_geopandas(geo(point, crs="EPSG:2263")), "us survey foot")
    refused(lambda: from_geopandas(geo(point), crs="planar"), "--crs says 'planar'")
    assert from_geopandas(geo(point, crs="OGC:CRS84")).frame.crs == "EPSG:4326"
    renamed = geo(point).rename_geometry("where")
    assert from_geopandas(renamed).frame.degrees


def test_regions_to_geopandas() -> None:
    frame = to_geopandas(Boxes.from_records([[(1, 2, 0.0, 1.0, 2.0, 4.0)]]))
    assert frame.geometry.area.tolist() == [2.0]
    assert frame.crs is None
    assert frame.geometry.bounds.to_numpy().tolist() == [[0.0, 2.0, 1.0, 4.0]]
    refused(lambda: to_geopandas(Visits.from_records([[("x", 1)]])), "use to_pandas")  # type: ignore[arg-type]
    assert len(to_geopandas(Points.from_records([[(0, 1.0, 1.0)]], frame=Frame(crs="planar")))) == 1


# MovingPandas


@given(st.data())
@settings(deadline=None, max_examples=15)
def test_round_trip_of_movingpandas(drawn: st.DataObject) -> None:
    pytest.importorskip("movingpandas")
    data = drawn.draw(points(drawn.draw(st.sampled_from([HERE, GREEK])), least=2))
    collection = to_movingpandas(data)
    assert len(collection) == len(data)
    found = from_movingpandas(collection)
    expected = data.t * 1_000_000 if data.time_format == "epoch" else data.t
    np.testing.assert_array_equal(found.t, expected)
    assert found.time_format == "local"
    check_same(found, Points(**{**vars(data), "t": expected}))


def test_movingpandas() -> None:
    mpd = pytest.importorskip("movingpandas")
    single = Points.from_records([[(10**9, 0.0, 0.0)], [(10**9, 0.0, 0.0), (10**9 + 1, 1.0, 1.0)]], time_format="epoch")
    assert len(to_movingpandas(single)) == 1
    refused(lambda: to_movingpandas(Points.from_records([[(1, 0.0, 0.0)]])), "plain integers")
    refused(lambda: to_movingpandas(Visits.from_records([[("x", 1)]])), "only points")  # type: ignore[arg-type]
    zoned = pd.to_datetime(["2024-05-31T08:15:00+02:00", "2024-05-31T08:16:00+02:00"])
    frame = gpd.GeoDataFrame(
        {"trip": [7, 7], "speed": [1, 2]}, geometry=gpd.points_from_xy([16, 16.1], [48, 48]), crs=4326, index=zoned
    )
    with pytest.warns(UserWarning, match="Time zone"):
        trajectory = mpd.Trajectory(frame, 7, traj_id_col="trip")
    found = from_movingpandas(trajectory)
    assert found.time_format == "utc"
    assert found.t[0] == 1_717_136_100_000_000
    assert found.owners == "declared"
    refused(lambda: from_movingpandas(mpd.TrajectoryCollection([])), "the collection is empty")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("pandas", lambda: from_pandas(None)),
        ("pandas", lambda: to_pandas(Points.from_records([[]]))),
        ("geopandas", lambda: from_geopandas(None)),
        ("geopandas", lambda: to_geopandas(Points.from_records([[]]))),
        ("movingpandas", lambda: from_movingpandas(None)),
        ("movingpandas", lambda: to_movingpandas(Points.from_records([[]]))),
    ],
)
def test_without_the_libraries(monkeypatch: pytest.MonkeyPatch, name: str, call: Any) -> None:
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(UsageError, match=rf"This needs {name}.*install wayveil\[geo\]"):
        call()


def test_errors_are_input_errors() -> None:
    with pytest.raises(InputError):
        from_pandas(one(t=[1]), columns={"x": "none"})


def test_a_column_of_places_does_not_make_stops_of_a_pandas_frame() -> None:
    frame = pd.DataFrame({"traj_id": ["a"], "t": [1], "lon": [16.0], "lat": [48.0], "place": ["bar"]})
    data = from_pandas(frame)
    assert isinstance(data, Points)
    assert data.attributes["place"].values() == ["bar"]
