"""Publishing from Python: data in memory in, a verified publication out."""

from __future__ import annotations

import inspect as inspect_module
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.api import inspect, publish, risk
from wayveil.cli import main
from wayveil.errors import InputError, ReadingNote, UsageError
from wayveil.io import from_polars
from wayveil.methods import Kcl, Knode, Nwa
from wayveil.model import GUARANTEES, Boxes, CSafety, KclPrivacy, Points, Stops, Taxonomy, Trips, Visits
from wayveil.pipeline.outcome import NotPublished
from wayveil.recipe.catalog import first_method
from wayveil.recipe.recipe import make_recipe
from wayveil.steps import Bucket

VISITS = Visits.from_records([[("a", 1), ("b", 2)], [("a", 1)], [("a", 1), ("b", 2), ("c", 3)]])


def test_a_claim_takes_the_method_that_is_made_for_it() -> None:
    one = publish(VISITS, KclPrivacy(k=2, c=1, l=2), seed=1)
    other = publish(VISITS, Kcl(k=2, c=1, l=2), seed=1, secret=one.outcome.private / "secret.txt")
    assert one.verdict.claim == KclPrivacy(k=2, c=1, l=2)
    assert one.to_polars().equals(other.to_polars())
    assert one.data.owners != "given"
    assert {GUARANTEES[claim] for claim in GUARANTEES if first_method(claim)} == set(GUARANTEES.values())


def test_what_comes_out_is_what_the_files_hold(tmp_path: Path) -> None:
    made = publish(VISITS, Kcl(k=2, l=2), seed=1, out=tmp_path / "out")
    assert made.outcome.public == tmp_path / "out/public"
    assert made.to_polars().columns == ["traj_id", "t", "location"]
    assert main(["verify", str(tmp_path / "out")]) == 0
    assert "Published and verified" in made.report
    assert made.risk.columns == ["attack", "adversary", "number", "raw", "published"]
    assert "instance_loss" in made.loss["metric"].to_list()
    assert "known_visits" in made.risk["attack"].to_list()


def test_files_live_as_long_as_the_publication_and_can_be_saved(tmp_path: Path) -> None:
    made = publish(VISITS, Kcl(k=2, l=2), seed=1)
    public = made.save(tmp_path / "kept")
    assert sorted(path.name for path in public.iterdir()) == ["README.html", "manifest.json", "published.parquet"]
    assert (tmp_path / "kept/private/report.html").exists()
    with pytest.raises(UsageError, match="already exists"):
        made.save(tmp_path / "kept")
    folder = made.outcome.private
    del made
    assert not folder.exists()


def test_steps_keep_and_the_same_seed() -> None:
    data = Visits.from_records([[("a", 11)], [("a", 12)]], attributes={"age": ["old", "young"]})
    how: dict[str, Any] = {"prepare": [Bucket(width="10")], "keep": ["age"], "seed": 3}
    made = [publish(data, Kcl(k=2, l=1), **how)]
    made.append(publish(data, Kcl(k=2, l=1), **how, secret=str(made[0].outcome.private / "secret.txt")))
    assert made[0].to_polars().equals(made[1].to_polars())
    assert made[0].to_polars()["t"].to_list() == [10, 10]
    assert sorted(made[0].to_polars()["age"]) == ["old", "young"]


def test_points_become_boxes_and_frames() -> None:
    data = Points.from_records([[(0, 0.0, 0.0), (1, 10.0, 0.0)], [(0, 0.0, 3.0), (1, 10.0, 1.0)]])
    made = publish(data, Knode(k=2, window="10"), seed=1)
    assert isinstance(made.data, Boxes)
    frame = pytest.importorskip("geopandas") and made.to_geopandas()
    assert len(frame) == made.data.n_rows
    assert list(made.to_pandas().columns)[:2] == ["traj_id", "seq"]


def test_stops_whose_taxonomy_is_in_another_order() -> None:
    tree = Taxonomy.from_parents([("Zoo", "Place"), ("C", "Place"), ("Bar", "Place"), ("Place", "")], sensitive=["C"])
    data = Stops.from_records([["Zoo", "C"], ["Bar"], ["Bar"]], taxonomy=tree)
    made = publish(data, CSafety(c="1/3", m=3), seed=1)
    assert sorted(made.data.record(i)[0] for i in range(3)) == ["Place"] * 3
    assert made.loss.height >= 2


def test_a_frame_of_pandas_is_data_too() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"traj_id": ["x", "y"], "t": [1, 1], "location": ["a", "a"]})
    claim = KclPrivacy(k=2, c=1, l=1)
    for table in (frame, pl.DataFrame(frame.to_dict("list"))):
        with pytest.raises(InputError, match="nobody said who"):
            publish(table, claim)
        with pytest.raises(InputError, match="nobody said who"):
            risk(table, attack="known_visits", m=1)
        made = publish(table, claim, owners="each-trajectory", attacks=[], metrics=[])
        assert made.data.n_rows == 2
        assert "The publisher declared that each trajectory is another person" in made.promise
        assert "each trajectory declared to be another person" in repr(made)
        assert "The publisher declared" in made._repr_html_()
        assert not risk(table, owners="each-trajectory", attack="known_visits", m=1).is_empty()
    named = publish(frame.assign(user_id=["p", "q"]), claim, attacks=[], metrics=[])
    assert named.promise == claim.promise
    assert "declared" not in repr(named)
    with pytest.raises(InputError, match="give one of them"):
        publish(frame.assign(user_id=["p", "q"]), claim, owners="each-trajectory")


def test_a_notebook_shows_promise_and_numbers() -> None:
    shown = publish(VISITS, KclPrivacy(k=2, c=1, l=2), seed=1)._repr_html_()
    assert "at least 2 people" in shown
    assert "instance loss" in shown


def test_what_is_not_kept_is_not_published() -> None:
    with pytest.raises(NotPublished):
        publish(Visits.from_records([[("a", 1)], [("b", 2)]]), KclPrivacy(k=2, c=1, l=1))


@pytest.mark.parametrize(
    ("what", "method", "said"),
    [
        ([1, 2], Kcl(k=2, l=1), "not list"),
        (VISITS, "kcl", "a configured method"),
        (VISITS, None, "a configured method"),
        (Boxes.from_records([]), Knode(k=2, window="10"), "boxes are what methods make"),
        (VISITS, CSafety(c=1), "cast needs stops"),
    ],
)
def test_what_cannot_be_published_is_said(what: object, method: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        publish(what, method)


def test_a_recipe_says_everything(table1: Path, tmp_path: Path) -> None:
    recipe = make_recipe(
        {
            "input": {"path": str(table1), "owners": "each-trajectory"},
            "method": {"name": "kcl", "k": 2, "l": 2},
            "output": {"path": str(tmp_path / "o")},
        }
    )
    with pytest.raises(UsageError, match="a recipe says everything"):
        publish(recipe, Kcl(k=2, l=1))
    assert publish(recipe).verdict.holds
    assert np.isfinite(
        publish(recipe.model_copy(update={"output": recipe.output.model_copy(update={"overwrite": True})})).timings[
            "verify"
        ]
    )


class _ArrowStream:
    """A table of a library that is not known here, which hands out an Arrow stream and nothing else."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def _card_rows() -> pl.DataFrame:
    rows = [(f"c{i}", f"p{i // 2}", t, place) for i in range(12) for t, place in ((7, "north"), (8, "south"))]
    return pl.DataFrame(rows, schema=["traj_id", "user_id", "t", "location"], orient="row")


def _arrow_table(frame: pl.DataFrame) -> Any:
    pyarrow = pytest.importorskip("pyarrow")
    return pyarrow.table(frame.to_dict(as_series=False))


@pytest.mark.parametrize("wrap", [_ArrowStream, _arrow_table])
def test_an_arrow_table_is_taken_like_a_frame(wrap: Any) -> None:
    frame = _card_rows()
    assert risk(wrap(frame), seed=1).equals(risk(frame, seed=1))
    made = publish(wrap(frame), Kcl(k=3, l=2), seed=1)
    plain = publish(frame, Kcl(k=3, l=2), seed=1, secret=made.outcome.private / "secret.txt")
    assert made.to_polars().equals(plain.to_polars())
    assert made.to_polars().height == 24
    seen = inspect(wrap(frame))
    assert seen.profile.layout == "visits"
    assert [person.column for person in seen.profile.people] == ["user_id"]
    assert seen.content == inspect(frame).content


def test_an_arrow_table_is_asked_for_people_like_a_frame() -> None:
    with pytest.raises(InputError, match="user_id"):
        publish(_ArrowStream(_card_rows().drop("user_id")), Kcl(k=3, l=2))
    with pytest.raises(UsageError, match="data frame"):
        inspect([1, 2])
    with pytest.raises(UsageError, match="data frame"):
        risk(object())


# MovingPandas itself uses what pandas is about to drop.
_OLD_CALLS = pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning")


def _moving(crs: str) -> Any:
    """Ten people on one street, each with two trips at the same minutes."""
    mpd = pytest.importorskip("movingpandas")
    geopandas = pytest.importorskip("geopandas")
    pandas = pytest.importorskip("pandas")
    east, north, metre = (500_000.0, 5_500_000.0, 1.0) if crs != "EPSG:4326" else (15.0, 49.65, 1e-5)
    rows = [
        (f"trip{i}", f"p{i % 10}", pandas.Timestamp(2024, 5, 1 + i // 10, 8, minute), i % 10, minute)
        for i in range(20)
        for minute in range(5)
    ]
    frame = pandas.DataFrame(rows, columns=["trip", "who", "t", "side", "step"])
    x = east + 100 * metre * frame.pop("step")
    y = north + 10 * metre * frame.pop("side")
    table = geopandas.GeoDataFrame(frame, geometry=geopandas.points_from_xy(x, y), crs=crs).set_index("t")
    return mpd.TrajectoryCollection(table, traj_id_col="trip", obj_id_col="who")


@_OLD_CALLS
@pytest.mark.parametrize("crs", ["EPSG:4326", "EPSG:32633"])
def test_trajectories_of_movingpandas_are_taken(crs: str) -> None:
    trips = _moving(crs)
    seen = inspect(trips)
    assert seen.content is not None
    assert seen.content["input"]["kind"] == "points"
    assert seen.content["input"]["crs"] == crs
    assert [person.column for person in seen.profile.people] == ["user_id"]
    made = publish(trips, Knode(k=2, window="1d"), seed=1)
    assert made.verdict.holds
    assert len(made.data) > 0
    assert "value" in risk(trips.trajectories[0], seed=1, owners=None).columns


@_OLD_CALLS
def test_the_index_and_the_system_of_a_geopandas_frame_are_inspected() -> None:
    frame = _moving("EPSG:32633").to_point_gdf()
    seen = inspect(frame, columns={"user_id": "who"})
    assert "t" in [column.name for column in seen.profile.columns]
    assert seen.content is not None
    assert seen.content["input"]["crs"] == "EPSG:32633"


def _bike_rows() -> pl.DataFrame:
    """Five people with the same trip, two of them with another one, which for one of them has no end."""
    eight = datetime(2024, 5, 1, 8)
    nine = datetime(2024, 5, 1, 9)
    rows: list[tuple[Any, ...]] = [(f"p{i}", eight, "Park", nine, "Quay") for i in range(5)]
    rows += [("p0", nine, "Quay", nine, "Zoo"), ("p1", nine, "Quay", None, None)]
    return pl.DataFrame(rows, schema=["user_id", "t_start", "origin", "t_end", "destination"], orient="row")


def _pandas_frame(frame: pl.DataFrame) -> Any:
    return pytest.importorskip("pandas").DataFrame(frame.to_dict(as_series=False))


def _frame_of_lines(frame: pl.DataFrame) -> Any:
    geopandas = pytest.importorskip("geopandas")
    lines = geopandas.GeoSeries.from_wkt(["LINESTRING (16 48, 16.1 48.1)"] * frame.height)
    return geopandas.GeoDataFrame(_pandas_frame(frame), geometry=lines, crs="EPSG:4326")


@pytest.mark.parametrize("wrap", [pl.DataFrame.lazy, _pandas_frame, _ArrowStream, _arrow_table, _frame_of_lines])
def test_trips_in_any_frame_are_published_as_trips(wrap: Any) -> None:
    frame = _bike_rows()
    seen = inspect(wrap(frame))
    assert seen.profile.layout == "trips"
    assert [person.column for person in seen.profile.people] == ["user_id"]
    assert risk(wrap(frame), seed=1, attack="known_visits", m=1).equals(risk(frame, seed=1, attack="known_visits", m=1))
    made = publish(wrap(frame), Kcl(k=2, l=2), seed=1, attacks=[], metrics=[])
    plain = publish(frame, Kcl(k=2, l=2), seed=1, attacks=[], metrics=[], secret=made.outcome.private / "secret.txt")
    assert made.data.kind == "trips"
    assert made.to_polars().equals(plain.to_polars())
    eight = datetime(2024, 5, 1, 8)
    nine = datetime(2024, 5, 1, 9)
    expected = [(eight, "Park", nine, "Quay")] * 5 + [(nine, "Quay", None, None)] * 2
    assert sorted((row[1:] for row in made.to_polars().rows()), key=str) == sorted(expected, key=str)
    back = made.to_pandas()
    assert list(back.columns) == ["traj_id", "t_start", "origin", "t_end", "destination"]
    assert back["t_end"].isna().sum() == 2
    assert back["destination"].isna().sum() == 2


def test_trips_in_a_frame_need_a_person_and_may_have_coordinates() -> None:
    frame = _bike_rows().rename({"origin": "start_station", "t_start": "started_at"})
    with pytest.raises(InputError, match="nobody said who"):
        publish(frame.drop("user_id"), Kcl(k=2, l=2))
    declared = publish(frame.drop("user_id"), Kcl(k=2, l=2), owners="each-trajectory", attacks=[], metrics=[])
    assert "The publisher declared" in declared.promise
    lon = pl.Series([16.0] * 7)
    with pytest.warns(ReadingNote, match="usual names: origin = 'start_station'"):
        placed = from_polars(
            frame.with_columns(
                origin_lon=lon, origin_lat=lon + 32, destination_lon=lon + 0.1, destination_lat=lon + 32
            ),
        )
    assert isinstance(placed, Trips)
    assert placed.place_frame is not None
    assert placed.place_frame.crs == "EPSG:4326"
    with pytest.raises(InputError, match="a trip ends before it begins"):
        from_polars(frame.with_columns(t_end=pl.lit(datetime(2024, 4, 30))))


def _five_frames() -> dict[str, Any]:
    """Return the same points as a frame of every library."""
    trips = _moving("EPSG:4326")
    geo = trips.to_point_gdf().reset_index().rename(columns={"trip": "traj_id", "who": "user_id"})
    geo = geo[["traj_id", "user_id", "t", "geometry"]]
    flat = geo.drop(columns="geometry").assign(lon=geo.geometry.x, lat=geo.geometry.y)
    plain = pl.from_pandas(flat)
    return {"pandas": flat, "geopandas": geo, "movingpandas": trips, "polars": plain, "pyarrow": plain.to_arrow()}


@_OLD_CALLS
@pytest.mark.parametrize("library", ["pandas", "geopandas", "movingpandas", "polars", "pyarrow"])
def test_points_of_every_library_go_in_and_come_back_as_any_of_them(library: str) -> None:
    pytest.importorskip("pyarrow")
    frame = _five_frames()[library]
    seen = inspect(frame)
    assert seen.content is not None
    assert seen.content["input"]["kind"] == "points"
    assert "\n" not in repr(seen)
    assert "value" in risk(frame, seed=1).columns
    made = publish(frame, Nwa(k=2, delta=0), seed=1)
    assert "\n" not in repr(made)
    assert len(repr(made)) < 400
    rows = made.to_polars()
    assert rows.columns == ["traj_id", "t", "lon", "lat"]
    assert made.to_arrow().num_rows == len(made.to_pandas()) == len(made.to_geopandas()) == rows.height > 0
    moving = made.to_movingpandas()
    assert sorted(track.id for track in moving.trajectories) == sorted(made.ids.to_list())
    there = moving.to_point_gdf().reset_index().sort_values(["traj_id", "t"])
    want = rows.sort("traj_id", "t")
    assert there.geometry.x.tolist() == want["lon"].to_list()
    assert there.geometry.y.tolist() == want["lat"].to_list()
    assert there["t"].tolist() == want["t"].dt.replace_time_zone(None).to_list()
    # What was published can be given again, in the form in which it came back.
    with pytest.warns(ReadingNote, match="Each trajectory was declared") as said:
        again = publish(moving, Nwa(k=2, delta=0), seed=1, owners="each-trajectory")
    assert {str(warning.message) for warning in said} <= set(again.notes)
    assert again.to_polars().height == rows.height


@_OLD_CALLS
def test_boxes_and_visits_are_no_trajectories_of_movingpandas() -> None:
    made = publish(_moving("EPSG:4326"), Knode(k=2, window="1d"), seed=1)
    with pytest.raises(UsageError, match="only points can become MovingPandas trajectories"):
        made.to_movingpandas()


@pytest.mark.parametrize("verb", [publish, risk, inspect])
def test_signatures_complete(verb: Any) -> None:
    """Every option of a verb is a named parameter with an annotation; those of an attack are its own."""
    parameters = inspect_module.signature(verb).parameters.values()
    assert [one.name for one in parameters if one.kind == one.VAR_KEYWORD] == (["parameters"] if verb is risk else [])
    assert {"owners"} <= {one.name for one in parameters if one.kind == one.KEYWORD_ONLY}
    assert all(one.annotation is not one.empty for one in parameters)
