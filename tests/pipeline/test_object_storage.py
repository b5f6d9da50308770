"""Object storage: input, output and verify at s3://, against a server that speaks S3 on loopback."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from wayveil.cli import main
from wayveil.io.storage import objects
from wayveil.io.storage.objects import Bucket
from wayveil.pipeline.folder.bucket_copy import BucketCopy

fsspec = pytest.importorskip("fsspec", reason="the extra cloud is not installed")
pytest.importorskip("s3fs", reason="the extra cloud is not installed")
pytest.importorskip("moto", reason="moto's server is not installed")

KEY, SECRET_KEY = "AKIAWAYVEILTEST00000", "the-secret-key-of-the-test"
ROWS = [(f"T{i}", f"P{i}", t, "abc"[(i + t) % 2]) for i in range(24) for t in range(1, 4)]
TABLE = "traj_id,user_id,t,location\n" + "".join(f"{a},{b},{c},{d}\n" for a, b, c, d in ROWS)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = (tmp_path_factory.mktemp("moto") / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=log, stderr=log
    )
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(f"{url}/moto-api/data.json", timeout=5).read()
            break
        except OSError:
            if process.poll() is not None:
                pytest.fail("moto's server ended")
            time.sleep(0.1)
    yield url
    process.terminate()
    process.wait()
    log.close()


@pytest.fixture
def storage(server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A client of a fresh server, with the bucket `town` and a table in it."""
    urllib.request.urlopen(urllib.request.Request(f"{server}/moto-api/reset", method="POST"), timeout=60).read()
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    for name, value in {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": server,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": str(tmp_path / "no-config"),
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "no-credentials"),
    }.items():
        monkeypatch.setenv(name, value)
    import boto3

    client = boto3.client("s3")
    client.create_bucket(Bucket="town")
    client.put_object(Bucket="town", Key="raw/cards.csv", Body=TABLE.encode())
    yield client
    client.close()


def objects_of(client: Any, prefix: str = "") -> dict[str, bytes]:
    listed = client.list_objects_v2(Bucket="town", Prefix=prefix).get("Contents", [])
    names = [one["Key"] for one in listed if not one["Key"].startswith("raw/")]
    return {name[len(prefix) :]: client.get_object(Bucket="town", Key=name)["Body"].read() for name in names}


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


KCL = ["--k", "3", "--c", "1", "--l", "2", "--seed", "1", "--measure", "none", "--format", "csv"]


def publish(source: Any, out: Any, *more: Any) -> int:
    return main(["publish", "kcl", str(source), *KCL, "--out", str(out), *(str(one) for one in more)])


def sentence(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what an error says; never a key, and one line."""
    told = capsys.readouterr()
    assert KEY not in told.err + told.out
    assert SECRET_KEY not in told.err + told.out
    assert "Traceback" not in told.err
    assert told.err.count("\n") == 1
    return told.err


def test_a_table_in_a_bucket_gives_the_bytes_of_the_same_file(storage: Any, tmp_path: Path) -> None:
    (tmp_path / "cards.csv").write_text(TABLE)
    assert publish(tmp_path / "cards.csv", tmp_path / "here") == 0
    secret = tmp_path / "here/private/secret.txt"
    local = tmp_path / "work"
    assert publish("s3://town/raw/cards.csv", "s3://town/out", "--local", local, "--secret", secret) == 0
    expected = files_of(tmp_path / "here/public")
    assert objects_of(storage, "out/") == expected == files_of(local / "public")
    # What is private stays here, and what was run can be run again.
    assert not [name for name in objects_of(storage) if "private" in name or "secret" in name or "report" in name]
    recipe = (local / "private/recipe.toml").read_text()
    assert 'path = "s3://town/raw/cards.csv"' in recipe
    assert 'path = "s3://town/out"' in recipe
    assert f'local = "{local}"' in recipe
    assert not list(tmp_path.rglob(".wayveil-scratch-*"))
    assert main(["run", str(local / "private/recipe.toml"), "--overwrite", "--secret", str(secret)]) == 0
    assert objects_of(storage, "out/") == expected


def test_verify_reads_a_bucket(storage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert publish("s3://town/raw/cards.csv", "s3://town/out", "--local", tmp_path / "work") == 0
    private = tmp_path / "work/private"
    assert main(["verify", "s3://town/out"]) == 3  # as of a folder: owners are withheld
    given = ["--recipe", str(private / "recipe.toml"), "--secret", str(private / "secret.txt")]
    assert main(["verify", "s3://town/out/", "--original", "s3://town/raw/cards.csv", *given]) == 0
    capsys.readouterr()
    whole = objects_of(storage, "out/")
    storage.put_object(Bucket="town", Key="out/published.csv", Body=whole["published.csv"] + b"x")
    assert main(["verify", "s3://town/out"]) == 1
    capsys.readouterr()
    storage.delete_object(Bucket="town", Key="out/manifest.json")
    assert main(["verify", "s3://town/out"]) == 2
    assert "There is no manifest.json at s3://town/out: nothing is published there, or a copy that is not" in sentence(
        capsys
    )


class Killed(BaseException):
    """What nothing in the program catches."""


def test_a_copy_that_is_killed_leaves_no_manifest(
    storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever step is the last one: never an old manifest beside new tables, nor a new one beside old."""
    for name, table in (("old", TABLE.replace(",a\n", ",d\n")), ("new", TABLE)):
        (tmp_path / f"{name}.csv").write_text(table)
        assert publish(tmp_path / f"{name}.csv", tmp_path / name) == 0
    old, new = (files_of(tmp_path / name / "public") for name in ("old", "new"))
    old["boxes.csv"] = b"of another method, which the new one has not"
    steps: list[str] = []
    last = 0

    def dying(step: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            if len(steps) == last:
                raise Killed
            steps.append(step.__name__)
            return step(*given)

        return call

    for name in ("write", "remove", "sha256"):
        monkeypatch.setattr(Bucket, name, dying(getattr(Bucket, name)))
    copy = BucketCopy(bucket=Bucket("s3://town/out"), overwrite=True)
    seen = []
    for last in range(9):
        for name in objects_of(storage, "out/"):
            storage.delete_object(Bucket="town", Key=f"out/{name}")
        for name, content in old.items():
            storage.put_object(Bucket="town", Key=f"out/{name}", Body=content)
        steps.clear()
        ended = False
        with suppress(Killed):
            copy.write(tmp_path / "new/public")
            ended = True
        after = objects_of(storage, "out/")
        seen.append(after in (old, new) if "manifest.json" in after else None)
        assert ended is (last == 8)
    # Killed before the first step the old one is whole; before the manifest is written there is none; then the new one.
    assert seen == [True, None, None, None, None, None, None, True, True]
    assert steps == ["remove", "remove", "write", "sha256", "write", "sha256", "write", "sha256"]


def test_a_copy_that_fails_says_what_is_left(
    storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    true_hash = Bucket.sha256
    monkeypatch.setattr(
        Bucket, "sha256", lambda self, name: "0" * 64 if name.startswith("published") else true_hash(self, name)
    )
    assert publish("s3://town/raw/cards.csv", "s3://town/out", "--local", tmp_path / "work") == 2
    told = sentence(capsys)
    assert "s3://town/out: the storage hands out other bytes than were written. The copy is not finished" in told
    assert f"The verified one is in '{tmp_path}/work/public'" in told
    assert "manifest.json" not in objects_of(storage, "out/")
    monkeypatch.undo()


def test_side_tables_folders_and_patterns_come_from_a_bucket(storage: Any, tmp_path: Path) -> None:
    plain = "".join(line.replace(f",{line.split(',')[1]},", ",", 1) for line in TABLE.splitlines(keepends=True))
    owners = "traj_id,user_id\n" + "".join(f"T{i},P{i}\n" for i in range(24))
    storage.put_object(Bucket="town", Key="raw/plain.csv", Body=plain.encode())
    storage.put_object(Bucket="town", Key="raw/owners.csv", Body=owners.encode())
    out = tmp_path / "owned"
    assert publish("s3://town/raw/plain.csv", out, "--owners", "s3://town/raw/owners.csv") == 0
    assert 'owners = ["s3://town/raw/owners.csv"]' in (out / "private/recipe.toml").read_text()
    lines = TABLE.splitlines(keepends=True)
    for part, some in enumerate((lines[1:37], lines[37:])):
        storage.put_object(Bucket="town", Key=f"raw/parts/day-{part}.csv", Body="".join([lines[0], *some]).encode())
    assert publish("s3://town/raw/parts", tmp_path / "folder") == 0
    assert publish("s3://town/raw/parts/day-*.csv", tmp_path / "pattern") == 0
    rows = {len((tmp_path / name / "public/published.csv").read_text().splitlines()) for name in ("folder", "pattern")}
    assert rows == {len((out / "public/published.csv").read_text().splitlines())}


def test_other_commands_read_a_bucket(storage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = "s3://town/raw/cards.csv"
    assert main(["inspect", source, "--write", str(tmp_path / "recipe.toml")]) == 0
    assert source in capsys.readouterr().out
    assert f'path = "{source}"' in (tmp_path / "recipe.toml").read_text()
    assert main(["run", str(tmp_path / "recipe.toml"), "--measure", "none"]) == 0
    assert publish(source, "s3://town/out", "--local", tmp_path / "work") == 0
    assert main(["risk", source, "--attack", "uniqueness"]) == 0
    assert main(["utility", source, "s3://town/out"]) == 0
    assert main(["prepare", "bucket", source, "--width", "2", "--out", str(tmp_path / "prepared.csv")]) == 0
    assert not list(tmp_path.rglob(".wayveil-scratch-*"))


def test_file_addresses_are_files(tmp_path: Path) -> None:
    (tmp_path / "my cards.csv").write_text(TABLE)
    source = (tmp_path / "my cards.csv").as_uri()
    assert "%20" in source
    assert publish(source, (tmp_path / "out").as_uri()) == 0
    assert main(["verify", (tmp_path / "out").as_uri()]) == 3
    assert (tmp_path / "out/public/manifest.json").is_file()


@pytest.mark.parametrize(
    ("source", "out", "more", "told"),
    [
        ("s3://town/raw/none.csv", "", [], "s3://town/raw/none.csv: there is no such object, and no folder of that"),
        ("s3://country/cards.csv", "", [], "s3://country/cards.csv: there is no bucket 'country'"),
        ("s3://town/raw/cards.csv", "s3://country/out", ["--local", "work"], "there is no bucket 'country'"),
        ("s3://town/raw/cards.csv", "s3://town/out", [], "report, seed and secret must never go: give a folder on"),
        ("s3://town/raw/cards.csv", "s3://town/raw", ["--local", "work"], "holds 1 objects that are no part of a"),
        ("s3://town/raw/cards.csv", "s3://town/raw/cards.csv", ["--local", "work"], "is an object, not a folder"),
        ("s3://town/raw/cards.csv", "", ["--local", "work"], "--local is of use with an --out in object storage only"),
        ("s3://town/raw/cards.csv", "s3://town/out", ["--local", "s3://town/work"], "must be on this machine"),
        (f"s3://{KEY}:{SECRET_KEY}@town/cards.csv", "", [], "must hold no user, key or token"),
        (f"s3://town/cards.csv?X-Amz-Signature={SECRET_KEY}", "", [], "must hold no user, key or token"),
        ("https://example.org/cards.csv", "", [], "Files at https:// are not read or written; known: s3://"),
        ("s3://town/../other/cards.csv", "", [], "must not hold '..'"),
        ("file://elsewhere/cards.csv", "", [], ""),
    ],
)
def test_bad_addresses_get_one_sentence(
    source: str, out: str, more: list[str], told: str, storage: Any, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    before = objects_of(storage)
    assert publish(source, out or "out", *more) == 2
    assert told in sentence(capsys)
    assert objects_of(storage) == before
    assert not list(tmp_path.iterdir())


def test_what_a_bucket_holds_is_not_replaced_unasked(
    storage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = "s3://town/raw/cards.csv"
    assert publish(source, "s3://town/out", "--local", tmp_path / "one") == 0
    before = objects_of(storage, "out/")
    capsys.readouterr()
    assert publish(source, "s3://town/out", "--local", tmp_path / "two") == 2
    assert "s3://town/out already holds a publication. Give --overwrite" in sentence(capsys)
    storage.delete_object(Bucket="town", Key="out/manifest.json")
    assert publish(source, "s3://town/out", "--local", tmp_path / "two") == 2
    assert "s3://town/out holds a publication that is not finished." in sentence(capsys)
    assert not (tmp_path / "two").exists()
    assert publish(source, "s3://town/out", "--local", tmp_path / "two", "--overwrite") == 0
    assert objects_of(storage, "out/").keys() == before.keys()


def test_no_credentials_and_no_server_get_one_sentence(
    storage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with monkeypatch.context() as without:
        without.delenv("AWS_ACCESS_KEY_ID")
        without.delenv("AWS_SECRET_ACCESS_KEY")
        assert publish("s3://town/raw/cards.csv", tmp_path / "out") == 2
        assert "s3://town/raw/cards.csv: no credentials were found" in sentence(capsys)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # nobody listens
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        assert publish("s3://town/raw/cards.csv", tmp_path / "out") == 2
        assert "s3://town/raw/cards.csv: the storage cannot be reached" in sentence(capsys)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(("scheme", "package"), [("s3", "s3fs"), ("gs", "gcsfs"), ("az", "adlfs")])
def test_a_package_that_is_missing_is_named(
    scheme: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    loaded = sys.modules[fsspec.get_filesystem_class.__module__]._registry  # type: ignore[attr-defined]
    monkeypatch.delitem(loaded, scheme, raising=False)
    assert publish(f"{scheme}://town/cards.csv", tmp_path / "out") == 2
    assert f"{scheme}:// needs the package {package}, which is not installed: install wayveil[cloud]." in sentence(
        capsys
    )


def test_a_name_that_leads_out_of_the_folder_is_refused(
    storage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bucket, "names", lambda self: ["good.csv", "../../evil.csv"])
    assert publish("s3://town/raw", tmp_path / "out") == 2
    assert "an object has a name that no file can have" in sentence(capsys)
    assert not list(tmp_path.rglob("evil.csv"))


def test_errors_name_the_address_and_not_the_copy(
    storage: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    storage.put_object(Bucket="town", Key="raw/bad.csv", Body=b"traj_id,user_id,t,location\n")
    assert publish("s3://town/raw/bad.csv", tmp_path / "out") == 2
    told = sentence(capsys)
    assert "s3://town/raw/bad.csv" in told
    assert "scratch" not in told


def test_every_error_of_a_storage_becomes_a_sentence_without_its_words(storage: Any) -> None:
    bucket = Bucket("s3://town/raw/cards.csv")
    for error in (PermissionError, ValueError, RuntimeError, TimeoutError, FileNotFoundError):
        told = str(bucket._sentence(error(SECRET_KEY), writing=False))
        assert told.startswith("s3://town/raw/cards.csv: ")
        assert SECRET_KEY not in told
    full = OSError(objects.errno.ENOSPC, SECRET_KEY)
    assert str(bucket._sentence(full, writing=False)).startswith("The disk is full")


def test_no_address_no_library() -> None:
    """Whoever names no address never loads what could speak to a network."""
    code = "import sys; import wayveil.cli, wayveil.pipeline.publish; print('fsspec' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False\n"


def test_a_run_in_blocks_goes_on_with_an_input_from_a_bucket(storage: Any, tmp_path: Path) -> None:
    """The key of a run does not depend on where the copy of its input was."""
    from wayveil.pipeline.blocks.resume import key_run
    from wayveil.pipeline.folder.fetched_files import fetched_recipe
    from wayveil.recipe.recipe import make_recipe

    recipe = make_recipe(
        {
            "input": {"path": "s3://town/raw/cards.csv"},
            "method": {"name": "kcl", "k": 3, "c": 1, "l": 2},
            "output": {"path": "s3://town/out", "local": str(tmp_path / "work")},
        }
    )
    keys = []
    for _ in range(2):
        with fetched_recipe(recipe) as fetched:
            assert fetched.input.path.read_text() == TABLE
            keys.append(key_run(fetched))
    assert keys[0] == keys[1] is not None
    storage.put_object(Bucket="town", Key="raw/cards.csv", Body=TABLE.encode() + b"T0,P0,9,a\n")
    with fetched_recipe(recipe) as fetched:
        assert key_run(fetched) != keys[0]
