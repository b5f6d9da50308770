"""Signed manifests: who has the key knows who wrote the folder, and nobody else can write one."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from wayveil.api import publish as publish_data
from wayveil.cli import main
from wayveil.errors import OutputError, UsageError
from wayveil.model import KclPrivacy, Visits
from wayveil.pipeline.folder.signing import SIGNATURE, make_keys
from wayveil.pipeline.folder.staging import Workspace
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import load_recipe, make_recipe

DATA = Visits.from_records([[("a", 1), ("b", 2)]] * 3)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    make_keys(tmp_path / "key")
    return tmp_path / "key"


@pytest.fixture
def public(key: Path, tmp_path: Path) -> Path:
    publish_data(DATA, KclPrivacy(k=2, c=1, l=2), out=tmp_path / "out", seed=1, attacks=(), metrics=(), sign_key=key)
    return tmp_path / "out" / "public"


def test_a_key_is_private_and_never_replaced(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert b"PRIVATE" in key.read_bytes()
    public = key.with_name("key.pub")
    assert b"PUBLIC" in public.read_bytes()
    before = key.read_bytes()
    with pytest.raises(OutputError, match="never replaced"):
        make_keys(key)
    key.unlink()
    with pytest.raises(OutputError, match="never replaced"):
        make_keys(key)
    assert not key.exists()
    with pytest.raises(OutputError, match="cannot be written"):
        make_keys(key / "nowhere" / "x")
    assert before


def test_a_signature_is_right_or_the_folder_fails(public: Path, key: Path, tmp_path: Path) -> None:
    pub = tmp_path / "key.pub"
    judgement = verify_folder(public, public_key=pub)
    assert (judgement.holds, judgement.signature, judgement.notes) == (True, "right", ())
    unchecked = verify_folder(public)
    assert (unchecked.holds, unchecked.signature) == (True, "not checked")
    assert "signature was not checked" in unchecked.notes[0]
    assert unchecked.to_json()["signature"] == "not checked"

    other = make_keys(tmp_path / "other")
    wrong = verify_folder(public, public_key=other)
    assert (wrong.exit_code, wrong.signature) == (1, "wrong")
    assert wrong.failures == ("the signature is not that of this key on this manifest",)

    content = (public / SIGNATURE).read_bytes()
    assert len(content) == 64
    for changed in (b"", content[:-1], content + b"0", b"0" * 64, content * 100):
        (public / SIGNATURE).write_bytes(changed)
        assert verify_folder(public, public_key=pub).signature == "wrong"
    (public / SIGNATURE).unlink()
    assert verify_folder(public, public_key=pub).failures == ("the manifest is not signed",)
    assert verify_folder(public).signature == "none"
    (public / SIGNATURE).symlink_to(tmp_path / "key.pub")
    assert verify_folder(public, public_key=pub).exit_code == 1


def test_a_signature_is_of_one_manifest(public: Path, tmp_path: Path) -> None:
    publish_data(DATA, KclPrivacy(k=3, c=1, l=2), out=tmp_path / "more", seed=1, attacks=(), metrics=())
    for name in ("README.html", "manifest.json", "published.parquet"):
        (public / name).write_bytes((tmp_path / "more" / "public" / name).read_bytes())
    assert verify_folder(public).holds
    assert verify_folder(public, public_key=tmp_path / "key.pub").exit_code == 1


def test_nothing_is_public_without_its_signature(
    key: Path, content: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    real = Workspace.publish

    def look(space: Workspace, private: Any) -> None:
        seen.append({path.name for path in space.staged.iterdir()})
        real(space, private)

    monkeypatch.setattr(Workspace, "publish", look)
    content["output"]["sign_key"] = str(key)
    outcome = publish(make_recipe(content))
    assert seen == [{"README.html", "manifest.json", "published.csv", SIGNATURE}]
    assert outcome.public is not None
    for path in outcome.public.iterdir():
        assert str(key.parent).encode() not in path.read_bytes()
    # The owner repeats it without the key.
    key.unlink()
    assert load_recipe(outcome.private / "recipe.toml").output.sign_key == key
    assert verify_folder(outcome.public, original=content["input"]["path"], public_key=f"{key}.pub").holds


def test_what_is_no_key_is_told_before_any_work(content: dict[str, Any], tmp_path: Path, public: Path) -> None:
    wrong = tmp_path / "wrong"
    for text in (
        "",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        (tmp_path / "key.pub").read_text(),
    ):
        wrong.write_text(text)
        content["output"].update(sign_key=str(wrong), path=str(tmp_path / "elsewhere"))
        with pytest.raises(UsageError, match="holds no private Ed25519 key"):
            publish(make_recipe(content))
    assert not (tmp_path / "elsewhere").exists()
    for path, sentence in ((tmp_path / "key", "holds no public"), (tmp_path / "missing", "cannot be read")):
        with pytest.raises(UsageError, match=sentence):
            verify_folder(public, public_key=path)


def test_commands(tmp_path: Path, table1: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key, out = tmp_path / "key", tmp_path / "out"
    assert main(["keygen", str(key)]) == 0
    assert main(["keygen", str(key)]) == 2
    given = [str(table1), "--each-trajectory-is-a-person", "--out", str(out), "--k", "2", "--l", "1", "--format", "csv"]
    assert main(["publish", "kcl", *given, "--sign-key", str(key)]) == 0
    capsys.readouterr()
    assert main(["verify", str(out), "--public-key", f"{key}.pub"]) == 0
    assert "right, by the given key" in capsys.readouterr().out
    assert main(["verify", str(out)]) == 0
    assert "signature was not checked" in " ".join(capsys.readouterr().out.split())
    (out / "public" / SIGNATURE).unlink()
    assert main(["verify", str(out), "--public-key", f"{key}.pub"]) == 1


def test_without_the_library_one_sentence_tells_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    assert main(["keygen", str(tmp_path / "key")]) == 2
    assert "install wayveil[sign]" in capsys.readouterr().err
    assert not (tmp_path / "key").exists()
