"""A kind of data is one class: everything that depends on the kind asks it, or is a table with one entry per kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
import polars as pl
import pytest

from wayveil.cli import options
from wayveil.commands import table_files
from wayveil.errors import InputError
from wayveil.io import as_published, read_published, write_published
from wayveil.io.publish import layouts
from wayveil.io.publish.strict_rows import read_text, read_times, refuse_late
from wayveil.io.tabular import columns
from wayveil.model import KINDS, Coded, Frame, InputKind, Kind, Trajectories, concat
from wayveil.model.data.coded import common_codes, number_names
from wayveil.model.data.ragged import offsets_of
from wayveil.pipeline import input
from wayveil.pipeline.alignment import aligned, join_owners
from wayveil.pipeline.blocks.plan import keys_of
from wayveil.pipeline.blocks.task_files import load_data, save_data
from wayveil.report.suppression import MIN_PEOPLE
from wayveil.report.text.summary import input_facts
from wayveil.report.views import map_geometry as geometry
from wayveil.report.views.overview import balance, views

INPUT = set(get_args(InputKind))
ALL = list(KINDS.values())


def all_kinds(base: type[Trajectories] = Trajectories) -> dict[str, type[Trajectories]]:
    """Return every class of ours below a class, also those below a kind, as trips are below visits."""
    found: dict[str, type[Trajectories]] = {}
    for kind in base.__subclasses__():
        if kind.__module__.startswith("wayveil."):
            found |= {kind.kind: kind, **all_kinds(kind)}
    return found


def test_every_table_has_one_entry_per_kind() -> None:
    assert all_kinds() == {**KINDS}
    assert set(get_args(Kind)) == set(KINDS)
    assert set(KINDS) > INPUT
    for kind, layout in layouts.LAYOUTS.items():
        assert layout.data is KINDS[kind]
    for table, expected in (
        (layouts.LAYOUTS, set(KINDS)),
        (geometry._STROKES, set(KINDS)),
        (input._READERS, INPUT),
        (table_files._WRITERS, INPUT),
        (columns.INPUTS, INPUT),
        (table_files._SHARED_WRITERS, {kind.shared for kind in ALL} - {None}),
    ):
        assert set(table) == expected
    assert set(get_args(get_args(options._INPUT["kind"])[0])[0].__args__) == INPUT


@pytest.mark.parametrize("kind", ALL)
def test_a_kind_declares_its_columns(kind: type[Trajectories]) -> None:
    """A field that is an array and not declared would be lost, or not cut, when trajectories are picked."""
    declared = {*kind.row_columns, *kind.optional_row_columns, *kind.trajectory_columns}
    own = {field.name for field in fields(kind)} - {field.name for field in fields(Trajectories)}
    per_name = {"place_x", "place_y"}  # of visits: one value per location
    assert own - declared - per_name <= {kind.names_field, kind.shared, "frame", "place_frame"}
    assert declared <= own
    assert set(kind.code_columns) <= set(kind.row_columns)
    assert kind.coordinates == ("frame" in own)
    assert (kind.name_word is None) == (not kind.code_columns)


@pytest.mark.parametrize("kind", ALL)
def test_tiny_data_do_what_all_data_do(kind: type[Trajectories], tmp_path: Path) -> None:
    data: Any = replace(kind.tiny(), attributes={"s": Coded.from_values(["x", None])})
    assert data.same_content(data.take(np.arange(len(data))))
    assert not data.same_content(data.where(np.arange(data.n_rows) > 0))
    assert not data.same_content(data.with_attributes({}))
    assert concat([data.take(np.array([i])) for i in range(len(data))]).same_content(data)
    emptied = data.with_empty()
    assert emptied.nonempty.tolist() == [*data.nonempty.tolist(), False]
    assert emptied.take(np.arange(len(data))).same_content(data)
    assert len(data.times()) == len(data.row_owner()) == data.n_rows == data.lengths.sum()
    assert len(data.curve_keys()) == len(data.known_lengths()) == len(data)
    assert all(len(column) == len(data) for column in data.slices())
    nobody = data.take(np.zeros(0, np.int64))
    assert (len(nobody), nobody.n_rows, nobody.curve_keys().tolist()) == (0, 0, [])
    before, after = data.row_keys(data)
    assert before.tolist() == after.tolist()
    loaded = load_data(save_data(data, tmp_path / "data"), data.shared_value())
    assert loaded.same_content(data)


@pytest.mark.parametrize("kind", ALL)
def test_columns_are_read_only_and_of_one_length(kind: type[Trajectories]) -> None:
    data: Any = kind.tiny()
    for name in (*kind.row_columns, *kind.trajectory_columns, "offsets", "owner"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(data, name)[0] = 0
    for name in kind.row_columns:
        with pytest.raises(InputError, match=r"as many rows as offsets say\.$"):
            replace(data, **{name: getattr(data, name)[:-1]})
    for name in (*kind.trajectory_columns, "owner"):
        with pytest.raises(InputError, match=r"must have one value per trajectory\.$"):
            replace(data, **{name: getattr(data, name)[:-1]})


# A kind of data that the package does not have: trips with an origin and a destination, one per row.


@dataclass(frozen=True, kw_only=True, eq=False)
class Errands(Trajectories):
    """Trips from one zone to another: two names per row."""

    origin: Any
    destination: Any
    t: Any
    zones: tuple[str, ...]

    kind: ClassVar[str] = "errands"
    row_word: ClassVar[str] = "errands"
    row_columns: ClassVar[Mapping[str, Any]] = {"origin": np.int32, "destination": np.int32, "t": np.int64}
    code_columns: ClassVar[tuple[str, ...]] = ("origin", "destination")
    names_field: ClassVar[str] = "zones"
    name_word: ClassVar[Literal["places", "roads"] | None] = "places"

    def _check_rows(self) -> None:
        if (self.origin == self.destination).any():
            raise InputError("Errands: an errand must lead somewhere else.")

    @classmethod
    def tiny(cls) -> Self:
        return cls.of([[("a", "b", 1)], [("a", "b", 1), ("b", "c", 2)]])

    def times(self) -> Any:
        return self.t

    def row_keys(self, other: Self) -> tuple[Any, Any]:
        return common_codes(self.zones, self.origin, other.zones, other.origin)

    @classmethod
    def _unify(cls, parts: Sequence[Self]) -> Sequence[Self]:
        zones = tuple(sorted({zone for part in parts for zone in part.zones}))
        return [part.recode(zones) for part in parts]

    @classmethod
    def of(cls, records: list[list[tuple[str, str, int]]]) -> Self:
        rows = [row for record in records for row in record]
        zones = tuple(sorted({zone for row in rows for zone in row[:2]}))
        code = number_names(zones)
        return cls(
            offsets=offsets_of(np.array([len(record) for record in records])),
            origin=np.array([code[row[0]] for row in rows]),
            destination=np.array([code[row[1]] for row in rows]),
            t=np.array([row[2] for row in rows]),
            zones=zones,
            owner=np.arange(len(records)),
        )


class ErrandsLayout(layouts.Layout):
    data = Errands
    columns: ClassVar[Mapping[str, Any]] = {"traj_id": "text", "t": "time", "origin": "text", "destination": "text"}

    def where(self, data: Errands, path: Any, *, public: bool) -> dict[str, pl.Series]:
        names = pl.Series(data.zones)
        return {column: names.gather(getattr(data, column)) for column in data.code_columns}

    def read(self, rows: Any, again: Any, beside: layouts.Beside) -> dict[str, Any]:
        t = read_times(rows, self.position("t"), beside.time_format)
        refuse_late(rows, t, again)
        text = {column: read_text(rows, self.position(column)).to_list() for column in Errands.code_columns}
        zones = tuple(sorted({zone for names in text.values() for zone in names}))
        code = number_names(zones)
        return {"t": t, "zones": zones, **{column: [code[zone] for zone in text[column]] for column in text}}


def test_a_new_kind_is_one_class_and_its_layout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(layouts, "LAYOUTS", {**layouts.LAYOUTS, "errands": ErrandsLayout()})
    monkeypatch.setitem(geometry._STROKES, "errands", geometry._through_positions)
    common = [[("home", "work", 8), ("work", "home", 17)]] * MIN_PEOPLE
    data = concat([Errands.of(common), Errands.of([[("home", "clinic", 9)]])])
    data = replace(data, owner=np.arange(len(data)))
    places = data.places()
    assert places is not None
    assert (len(places.code), places.names) == (2 * data.n_rows, ("clinic", "home", "work"))
    # It is written, read again and compared.
    source = write_published(data, tmp_path / "a.csv", key=b"0123456789abcdef")
    back = read_published(
        tmp_path / "a.csv", kind="errands", time_format="integer", attributes=(), owners="hidden", frame=Frame()
    ).data
    assert back.same_content(as_published(data.take(source)))
    joined = join_owners(back, data, source, data.owner)
    assert aligned(joined, source, data).same_content(data)
    wrong = replace(back, destination=back.origin, origin=back.destination)
    assert join_owners(wrong, data, source, data.owner) is None
    # It is planned into blocks, counted and shown; a place with few people stays hidden.
    assert keys_of(data, "length").key[:, 0].tolist() == [*[2] * MIN_PEOPLE, 1]
    assert input_facts(tmp_path / "a.csv", data)["Errands"] == "11"
    less = data.where(data.t < 17)
    assert balance(data, less)["errands"] == {"in": 11, "out": 6, "suppressed": 5, "invented": 0}
    charts = {chart.title: chart for chart in views(data, less, names=("before", "after"))}
    bars = charts["The most visited places"]
    clinic = bars.labels.index("clinic")
    assert [series.values[clinic] for series in bars.series] == [None, 1.0]
    assert bars.series[0].values[bars.labels.index("home")] == 11.0
    assert geometry.strokes_of(data, None) is None  # names without coordinates are no lines on a map
