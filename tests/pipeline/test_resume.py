"""A run that is killed goes on: the same bytes, nothing taken over that differs, and the verdict given anew."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from wayveil.engines import LocalEngine
from wayveil.errors import WayveilError
from wayveil.pipeline import publish as line
from wayveil.pipeline.blocks.resume import Journal, RunRecord, key_run
from wayveil.pipeline.blocks.store import Disk, Memory
from wayveil.pipeline.blocks.task_files import load_value, save
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.recipe.recipe import load_recipe, make_recipe
from wayveil.recipe.toml import recipe_text

SECRET = Secret(bytes(32))
PEOPLE = 40

# A process that has imported everything and computed nothing starts a child for each run, and ends it when it has put
# so many files in place; what a killed child left is what the next one begins with.
SERVER = """
import os, signal, sys
from pathlib import Path
recipe, secret, *steps = sys.argv[1:]
from wayveil.cli import main
import wayveil.pipeline.publish, wayveil.pipeline.folder.secret, wayveil.recipe.recipe
real = Path.replace
for step in map(int, steps):
    child = os.fork()
    if child == 0:
        seen = 0
        def counted(self, target):
            global seen
            seen += 1
            if seen == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(self, target)
        Path.replace = counted
        os._exit(main(["run", recipe, "--secret", secret]))
    print("code", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def write_table(path: Path, kind: str) -> None:
    """Write visits or points of people who do much the same, twice each."""
    rows: list[dict[str, Any]] = []
    for trip in range(2 * PEOPLE):
        person = trip % PEOPLE
        for t in range(5):
            what: dict[str, Any] = {"location": f"place{(person + t) % 4}"}
            if kind == "points":
                what = {"x": 5000.0 * (person % 3) + 50 * t + person, "y": 1000.0 * (person % 3) + trip}
            rows.append({"traj_id": f"T{trip}", "user_id": f"P{person}", "t": t, **what})
    pl.DataFrame(rows).write_csv(path)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Return the content of a recipe with several blocks."""

    def content(name: str = "tga", out: str = "out", **others: Any) -> dict[str, Any]:
        kind = "visits" if name == "kcl" else "points"
        write_table(tmp_path / f"{kind}.csv", kind)
        method = {"kcl": {"k": 3, "c": 1, "l": 2}, "tga": {"k": 2}, "nwa": {"k": 2, "delta": 500}}[name]
        return {
            "seed": 3,
            "input": {"path": str(tmp_path / f"{kind}.csv")},
            "method": {"name": name, **method},
            "blocks": {"by": "whole" if name == "kcl" else "place", "rows": 120},
            "attacks": [],
            "metrics": [],
            "output": {"path": str(tmp_path / out), "format": "csv"},
            **others,
        }

    return content


def run(content: dict[str, Any], *, resume: bool = True, secret: Secret | None = SECRET) -> Any:
    return line.publish(make_recipe(content), engine=LocalEngine(workers=1), secret=secret, resume=resume)


def public_bytes(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((out / "public").iterdir())}


class Killed(BaseException):
    """Stands for a process that ends without another word."""


@pytest.fixture
def kill_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    """Return a function that runs a recipe up to a stage, and leaves its folder as a killed process would."""

    def killed(stage: str) -> Callable[[dict[str, Any]], None]:
        def run_and_die(content: dict[str, Any]) -> None:
            def die(*arguments: Any, **others: Any) -> Any:
                raise Killed

            with monkeypatch.context() as patched:
                patched.setattr(line, stage, die)
                patched.setattr("wayveil.pipeline.folder.staging.Workspace.close", lambda space: None)
                with pytest.raises(Killed):
                    run(content)

        return run_and_die

    return killed


def killed_in_a_row(content: dict[str, Any], tmp_path: Path, steps: list[int]) -> list[int]:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(recipe_text(make_recipe(content)))
    (tmp_path / "secret.txt").write_text(SECRET.text)
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        SERVER,
        str(recipe),
        str(tmp_path / "secret.txt"),
        *map(str, steps),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("code ")]


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("kcl", [4, 11, 23, 6, 9, 0]),
        ("tga", [9, 17, 5, 3, 0]),
        pytest.param("kcl", [*range(2, 40, 2), 0], marks=pytest.mark.slow),
        pytest.param("nwa", [*range(1, 40, 2), 0], marks=pytest.mark.slow),
    ],
)
def test_killed_again_and_again_it_publishes_the_same_bytes(
    make: Callable[..., dict[str, Any]], tmp_path: Path, name: str, steps: list[int]
) -> None:
    run(make(name, "calm"))
    codes = killed_in_a_row(make(name), tmp_path, steps)
    assert set(codes[:-1]) <= {-9, 0, 2}, codes  # 2: published already, so there is something to overwrite
    assert codes[0] == -9
    assert 0 in codes
    assert public_bytes(tmp_path / "out") == public_bytes(tmp_path / "calm")
    assert verify_folder(tmp_path / "out").failures == ()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["private", "public"]


@pytest.mark.parametrize("name", ["kcl", "tga"])
def test_stages_that_were_over_are_not_done_again(
    make: Callable[..., dict[str, Any]],
    kill_at: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    run(make(name, "calm"))
    kill_at("judge_parts")(make(name))

    def never(*arguments: Any, **others: Any) -> Any:
        raise AssertionError("this stage was over")

    for stage in ("read_blocks", "make_block", "deal_blocks", "write_part"):
        monkeypatch.setattr(line, stage, never)
    judged: list[Any] = []
    judge = line.judge_parts
    monkeypatch.setattr(line, "judge_parts", lambda *a, **o: judged.append(1) or judge(*a, **o))
    run(make(name))
    assert judged == [1]
    assert public_bytes(tmp_path / "out") == public_bytes(tmp_path / "calm")


def test_seed_and_secret_are_those_of_the_killed_run(
    make: Callable[..., dict[str, Any]], kill_at: Callable[[str], Any], tmp_path: Path
) -> None:
    content = make()
    kill_at("judge_parts")(content)
    run(content, secret=None)
    assert (tmp_path / "out" / "private" / "secret.txt").read_text() == SECRET.text


@pytest.mark.parametrize("change", ["input", "recipe", "version", "secret", "asked", "mode"])
def test_what_differs_starts_clean(
    make: Callable[..., dict[str, Any]],
    kill_at: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    content = make()
    kill_at("judge_parts")(content)
    root = next((tmp_path / "out").glob(".staging-*"))
    read: list[int] = []
    real = line.read_blocks
    monkeypatch.setattr(line, "read_blocks", lambda *a, **o: read.append(1) or real(*a, **o))
    secret = SECRET
    if change == "input":
        table = tmp_path / "points.csv"
        table.write_text(table.read_text().replace("T1,P1,0", "T1,P1,9"))
    elif change == "recipe":
        content["method"] = {"name": "tga", "k": 3}
    elif change == "version":
        monkeypatch.setattr("wayveil.pipeline.blocks.resume.__version__", "0.0.0")
    elif change == "secret":
        secret = Secret(bytes(31) + b"1")
    elif change == "mode":
        root.chmod(0o755)  # others could have looked in, and in worse cases written
    run(content, resume=change != "asked", secret=secret)
    assert read == [1]
    assert not root.exists()


def test_a_damaged_file_is_noticed(
    make: Callable[..., dict[str, Any]], kill_at: Callable[[str], Any], tmp_path: Path
) -> None:
    content = make()
    kill_at("judge_parts")(content)
    for file in next((tmp_path / "out").glob(".staging-*")).glob("scratch/written/*.pickle"):
        whole = file.read_bytes()
        file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(WayveilError, match=r"not as it was written.*--no-resume"):
        run(content)
    run(content)  # what failed left nothing to go on with
    assert verify_folder(tmp_path / "out").failures == ()


def test_an_error_leaves_nothing_to_go_on_with(
    make: Callable[..., dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any) -> Any:
        raise WayveilError("no more")

    monkeypatch.setattr(line, "judge_parts", full)
    with pytest.raises(WayveilError, match="no more"):
        run(make())
    assert not (tmp_path / "out").exists()


def test_the_record_is_for_its_owner_only(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    record = RunRecord(key="k", seed=2**127, secret=SECRET)
    folder = tmp_path / "run"
    folder.mkdir(mode=0o700)
    record.write(folder)
    assert (folder / "resume.json").stat().st_mode & 0o777 == 0o600
    assert RunRecord.read(folder) == record
    (folder / "resume.json").write_text(json.dumps({"key": 1}))
    assert RunRecord.read(folder) is None
    link = tmp_path / "link"
    link.symlink_to(folder)
    record.write(folder)
    assert RunRecord.read(link) is None


def test_the_key_does_not_depend_on_the_engine(make: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    recipe = make_recipe(make())
    assert key_run(recipe) == key_run(recipe.model_copy(update={"engine": "dask"}))
    assert key_run(recipe) != key_run(make_recipe({**make(), "seed": 4}))
    (tmp_path / "points.csv").unlink()
    assert key_run(recipe) is None
    path = tmp_path / "again.toml"
    path.write_text(recipe_text(recipe))
    assert load_recipe(path).seed == recipe.seed


def test_tasks_and_stages_are_done_once(tmp_path: Path) -> None:
    done: list[Any] = []

    def task(item: int) -> int:
        done.append(item)
        return item * item

    journal = Journal(store=Disk(folder=tmp_path))
    for _ in range(2):
        assert journal.tasks("square", task, [3, 4], LocalEngine(workers=1)) == [9, 16]
        assert journal.stage("one", lambda: task(5)) == 25
    assert sorted(done) == [3, 4, 5]
    in_memory = Journal(store=Memory())
    for _ in range(2):
        assert in_memory.stage("one", lambda: task(6)) == 36
    assert done.count(6) == 2


def test_a_file_that_was_cut_off_is_not_loaded(tmp_path: Path) -> None:
    path = save(list(range(1000)), tmp_path / "0.pickle")
    assert load_value(path) == list(range(1000))
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(WayveilError, match="not as it was written"):
        load_value(path)
