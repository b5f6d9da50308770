"""Boxes with a column that says which are of declared times: written, read back, and refused where it was changed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from wayveil.errors import InputError, OutputError
from wayveil.io import read_published, write_published
from wayveil.model import Boxes, Coded, Frame

KEY = bytes(32)


def boxes(frame: Frame | None = None) -> Boxes:
    rows = [(t, t, 10.0, 20.0, 30.0, 40.0) for t in range(3)]
    data = Boxes.from_records([rows, rows[1:], []], frame=frame)
    data = replace(data, attributes={"line": Coded(codes=np.array([0, 1, -1]), labels=("a", "b"))})
    return replace(data, declared=np.array([True, False, True, False, True]))


def back(path: Path, data: Boxes, *, declared: bool = True) -> Boxes:
    loaded = read_published(
        path, kind="regions", time_format=data.time_format, attributes=["line"], owners="hidden", frame=data.frame,
        declared=declared,
    )  # fmt: skip
    assert isinstance(loaded.data, Boxes)
    return loaded.data


@pytest.mark.parametrize("form", ["csv", "parquet", "geojson", "geojsonl"])
def test_round_trip(tmp_path: Path, form: str) -> None:
    frame = Frame.for_degrees(np.array([23.0, 24.0]), np.array([37.0, 38.0])) if form.startswith("geo") else None
    data = boxes(frame)
    path = tmp_path / f"published.{form}"
    source = write_published(data, path, key=KEY)
    again = back(path, data)
    assert again.declared is not None
    assert again.declared.tolist() == data.take(source).declared.tolist()  # type: ignore[union-attr]
    assert again.attributes["line"].values() == data.take(source).attributes["line"].values()
    with pytest.raises(InputError, match=r"the columns must be|not a feature as it is written"):
        back(path, data, declared=False)


def test_without_it_nothing_changes(tmp_path: Path) -> None:
    data = replace(boxes(), declared=None)
    write_published(data, tmp_path / "published.csv", key=KEY)
    assert (tmp_path / "published.csv").read_text().startswith("traj_id,seq,t_min,t_max,x_min,x_max,y_min,y_max,line\n")
    assert back(tmp_path / "published.csv", data, declared=False).declared is None
    with pytest.raises(InputError, match="the columns must be"):
        back(tmp_path / "published.csv", data)


def test_only_0_and_1_are_read(tmp_path: Path) -> None:
    path = tmp_path / "published.csv"
    write_published(boxes(), path, key=KEY)
    text = path.read_text()
    for wrong in ("2", "yes", ""):
        path.write_text(text.replace("40.0,1,", f"40.0,{wrong},", 1))
        with pytest.raises(InputError, match="declared is not 0 or 1"):
            back(path, boxes())


def test_an_attribute_of_that_name_is_refused(tmp_path: Path) -> None:
    data = boxes()
    data = replace(data, attributes={"declared": data.attributes["line"]})
    with pytest.raises(OutputError, match="an attribute cannot be called declared"):
        write_published(data, tmp_path / "published.csv", key=KEY)


def test_a_value_for_every_row() -> None:
    with pytest.raises(InputError, match="declared must have one value per row"):
        replace(boxes(), declared=np.ones(3, bool))


def test_rows_keep_their_marks() -> None:
    data = boxes()
    assert data.where(np.array([False, True, True, True, True])).declared.tolist() == [False, True, False, True]  # type: ignore[union-attr]
    assert data.take(np.array([1, 0])).declared.tolist() == [False, True, True, False, True]  # type: ignore[union-attr]
