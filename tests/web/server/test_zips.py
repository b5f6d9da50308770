from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from wayveil.web.server.zips import zip_of


def folder(place: Path, date: int) -> Path:
    public = place / "public"
    public.mkdir(parents=True)
    for name in ("published.csv", "manifest.json"):
        (public / name).write_text(f"{name} {'x' * 100}")
        os.utime(public / name, (date, date))
    return public


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    one = zip_of(folder(tmp_path / "1", 10**9), tmp_path / "1.zip")
    two = zip_of(folder(tmp_path / "2", 2 * 10**9 - 10**8), tmp_path / "2.zip")
    assert one.read_bytes() == two.read_bytes()
    with zipfile.ZipFile(one) as made:
        assert made.namelist() == ["public/manifest.json", "public/published.csv"]
        assert made.read("public/published.csv") == (tmp_path / "1/public/published.csv").read_bytes()
        assert {entry.compress_type for entry in made.infolist()} == {zipfile.ZIP_STORED}
        assert {entry.date_time for entry in made.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert made.testzip() is None


def test_a_zip_is_made_once_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    public = folder(tmp_path / "1", 10**9)

    def broken(*arguments: object) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr("wayveil.web.server.zips.shutil.copyfileobj", broken)
        with pytest.raises(OSError):  # noqa: PT011
            zip_of(public, tmp_path / "1.zip")
    assert [path.name for path in tmp_path.iterdir()] == ["1"]
    made = zip_of(public, tmp_path / "1.zip").read_bytes()
    (public / "more.txt").write_text("x")
    assert zip_of(public, tmp_path / "1.zip").read_bytes() == made
