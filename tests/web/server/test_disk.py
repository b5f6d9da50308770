from __future__ import annotations

from pathlib import Path

import pytest

from wayveil.web.server.disk import bytes_of, is_id, new_id, read_json, write_json


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json(path, {"a": "ü"})
    assert read_json(path) == {"a": "ü"}
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": "ü"}
    assert [found.name for found in tmp_path.iterdir()] == ["a.json"]


def test_what_is_not_there_or_damaged_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{")
    assert read_json(tmp_path / "a.json") is None
    assert read_json(tmp_path / "b.json") is None


def test_ids_are_new_and_look_like_ids() -> None:
    ids = {new_id() for _ in range(100)}
    assert len(ids) == 100
    assert all(map(is_id, ids))
    assert not any(map(is_id, ("", "x" * 32, "A" * 32, "0" * 33, "../" + "0" * 32, "0" * 31 + "/")))


def test_bytes_are_added_up(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/one").write_bytes(b"123")
    (tmp_path / "a/b/two").write_bytes(b"12")
    (tmp_path / "link").symlink_to("/proc/kcore")
    assert bytes_of(tmp_path / "a") == 5
    assert bytes_of(tmp_path) < 100
