"""Bad GPS data: one clear sentence, exit 2, nothing written, no value of the data."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.cli import main

DECLARED = "--each-trajectory-is-a-person"
HEADER = "traj_id,t,lon,lat\n"
SECRET = "12.3456789"
METHODS = {
    "nwa": ["--k", "2", "--delta", "100"],
    "w4m": ["--k", "2", "--delta", "100"],
    "knode": ["--k", "2", "--window", "10"],
    "tga": ["--k", "2"],
    "qid": ["--k", "2"],
}


def track(name: str, *places: tuple[object, object]) -> str:
    return "".join(f"{name},{t},{lon},{lat}\n" for t, (lon, lat) in enumerate(places))


GOOD = HEADER + "".join(track(f"id{i}", (10, 50), (10.001 + i / 1e6, 50), (10.002, 50)) for i in range(6))

BAD = {
    "empty file": ("", "empty"),
    "header only": (HEADER, "no rows"),
    "NaN": (GOOD + track("x", (SECRET, "NaN")), "line 20"),
    "infinite": (GOOD + track("x", ("inf", SECRET)), "line 20"),
    "missing": (GOOD + track("x", (SECRET, "")), "line 20"),
    "in words": (GOOD + track("x", (SECRET, "north")), "lat"),
    "latitude 91": (GOOD + track("x", (SECRET, 91)), "--crs"),
    "longitude 400": (GOOD + track("x", (400, SECRET)), "--crs"),
    "metres called degrees": (HEADER + track("x", (486253.8, 4207588.1)), "--crs"),
    "one trajectory": (HEADER + track("x", (SECRET, 50), (SECRET, 50)), "k is 2"),
    "one person": (
        "traj_id,user_id,t,lon,lat\n" + "".join(f"a{i},me,{t},10,50\n" for i in range(4) for t in range(3)),
        "k is 2",
    ),
    "two places at one time": (GOOD + f"id1,0,{SECRET},50\n", "line 20"),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", BAD)
def test_bad_points(case: str, method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text, words = BAD[case]
    path = tmp_path / "input.csv"
    path.write_text(text)
    out = tmp_path / "out"
    declared = [] if "user_id" in text else [DECLARED]
    assert main(["publish", method, str(path), *declared, *METHODS[method], "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert "Traceback" not in said
    assert SECRET not in said
    assert not (out / "public").exists()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "lines",
    [
        "".join(track(f"id{i}", (10, 50)) for i in range(4)),
        "".join(track(f"id{i}", (10, 50), (10, 50), (10, 50)) for i in range(4)),
        "".join(track(f"id{i}", (179.9999, 50), (-179.9999, 50 + i / 1e6), (-179.999, 50)) for i in range(4)),
        "".join(track("é" * (i + 1) + "9" * 60, (10, 50), (10.001, 50)) for i in range(4)),
    ],
    ids=["one point each", "all points equal", "across the antimeridian", "odd ids"],
)
def test_odd_points_that_are_fine(lines: str, method: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "input.csv"
    path.write_text(HEADER + lines)
    out = tmp_path / "out"
    assert main(["publish", method, str(path), DECLARED, *METHODS[method], "--out", str(out), "--format", "csv"]) == 0
    assert main(["verify", str(out)]) in (0, 3)
    assert (out / "public" / "published.csv").read_text().count("\n") == lines.count("\n") + 1


def test_a_chain_that_does_not_fit_is_told_before_reading(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--k", "2", "--l", "1", "--out", str(tmp_path / "out")]
    assert main(["publish", "kcl", "nowhere.csv", "--prepare", "resample period=10", *options]) == 2
    assert "The step grid makes visits of points" in capsys.readouterr().err
    for text, words in (("resample", "period must be given"), ("resample period", "KEY=VALUE"), ("", "no step ''")):
        assert main(["publish", "kcl", "nowhere.csv", "--prepare", text, *options]) == 2
        assert words in capsys.readouterr().err


def test_points_can_be_published_as_visits(tmp_path: Path) -> None:
    path = tmp_path / "input.csv"
    path.write_text(GOOD)
    options = ["--prepare", "grid cell=500 bucket=1", "--k", "3", "--l", "2", "--out", str(tmp_path / "out")]
    assert main(["publish", "kcl", str(path), DECLARED, *options]) == 0
    assert main(["verify", str(tmp_path / "out")]) in (0, 3)
