"""How much fits where: sizes, blocks for a memory limit, and the engine for an input."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.cli import main
from wayveil.engines import LocalEngine
from wayveil.errors import UsageError
from wayveil.io import scatter
from wayveil.methods import METHODS
from wayveil.model import parameters_of
from wayveil.pipeline.blocks import memory
from wayveil.pipeline.blocks.memory import (
    LimitedBlocks,
    check_class,
    check_groups,
    check_planning,
    choose_engine,
    fit_to_memory,
    limit_of,
    parse_size,
)
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.verify_folder import verify_folder
from wayveil.pipeline.publish import publish
from wayveil.recipe.recipe import make_recipe
from wayveil.recipe.toml import recipe_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("800MB", 800_000_000), ("800 mb", 800_000_000), ("4G", 4 * 10**9), ("1.5g", 1_500_000_000),
        ("2TB", 2 * 10**12),
        ("1KiB", 1024), ("3MiB", 3 * 2**20), ("2GiB", 2**31), ("1Ti", 2**40), (" 12345 ", 12345), ("7B", 7),
        ("5k", 5000),
    ],
)  # fmt: skip
def test_sizes(text: str, expected: int) -> None:
    assert parse_size(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "4 XB", "1e9", "4GBB", "half", "4,5GB"])
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError, match="such as 4GB or 800MB, got "):
        parse_size(text)


def recipe(method: str = "kcl", path: str = "in.csv", **more: Any) -> Any:
    wanted = {"int": 3, "number": 100, "fraction": "0.5", "duration": "5min", "choice": None, "sensitive": {}}
    needed = {p.name: wanted[p.kind] for p in parameters_of(METHODS[method]) if p.required and p.kind in wanted}
    return make_recipe(
        {"input": {"path": path}, "method": {"name": method, **needed}, "output": {"path": "out"}, **more}
    )


def test_a_limit_becomes_blocks_of_the_first_way_that_a_method_has() -> None:
    for name in ("kcl", "nwa", "w4m", "knode", "tga", "icba", "cba", "prefix", "cast"):
        small, large = (fit_to_memory(recipe(name), limit) for limit in (10**9, 2 * 10**9))
        assert small.blocks is not None
        assert large.blocks is not None
        assert small.blocks.by == METHODS[name].blocks[0]
        kind = METHODS[name].accepts.__name__.lower()
        taken = memory.BASE_BYTES + small.blocks.rows * memory.WORKERS * memory.BLOCK_BYTES[kind]
        assert 0.99 * 10**9 < taken <= 10**9
        assert large.blocks.rows > 2 * small.blocks.rows


def test_a_limit_that_is_too_small_is_refused_with_the_smallest() -> None:
    with pytest.raises(UsageError, match=r"give at least ([\d,]+) MB") as caught:
        fit_to_memory(recipe(), 300_000_000)
    least = int(str(caught.value).split("at least ")[1].split(" MB")[0].replace(",", ""))
    assert fit_to_memory(recipe(), least * 10**6).blocks is not None
    with pytest.raises(UsageError):
        fit_to_memory(recipe(), (least - 1) * 10**6)


def test_what_cannot_be_cut_cannot_keep_to_a_limit() -> None:
    with pytest.raises(UsageError, match="qid needs all data at once, so it cannot keep to a memory limit"):
        fit_to_memory(recipe("qid"), 10**10)


def test_what_is_decided_at_once_must_fit(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    rows = 1_000_000
    pl.DataFrame({"traj_id": pl.int_range(rows, eager=True), "t": 1, "location": "a"}).write_parquet(path)
    least = memory.BASE_BYTES + rows * memory.WHOLE_BYTES
    for blocks in (None, {"by": "whole", "rows": 20_000}):
        made = recipe(path=str(path), blocks=blocks)
        assert fit_to_memory(made, least).blocks is not None
        with pytest.raises(UsageError, match=f"kcl decides over all rows at once.* at least {least // 10**6:,} MB"):
            fit_to_memory(made, least - 1)
    assert fit_to_memory(recipe("tga", path=str(path)), least - 1).blocks is not None


def test_the_limit_is_no_part_of_the_recipe() -> None:
    limited = fit_to_memory(recipe("w4m"), 10**9)
    assert limited.blocks is not None
    assert limit_of(limited.blocks) == 10**9
    text = recipe_text(limited)
    assert f"rows = {limited.blocks.rows}" in text
    assert "limit" not in text
    assert limit_of(recipe(blocks={"by": "whole"}).blocks) is None


@pytest.mark.parametrize(
    ("check", "per_one"),
    [
        (check_planning, memory.TRAJECTORY_BYTES),
        (check_groups, memory.WORKERS),
        (check_class, memory.WORKERS * memory.BLOCK_BYTES["stops"]),
    ],
)
def test_what_shows_only_when_the_data_are_read_is_refused_with_what_it_takes(check: Any, per_one: int) -> None:
    n = 1_000_000
    least = memory.BASE_BYTES + n * per_one
    check(least, n)
    check(None, 10**15)
    with pytest.raises(UsageError, match=f"memory limit.* at least {-(-least // 10**6):,} MB"):
        check(least - 1, n)


def test_a_preparation_that_makes_too_many_rows_is_refused_before_it_does(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    memory.check_growth(10**9, 10, 40)
    memory.check_growth(None, 10, 4_000)
    with pytest.raises(UsageError, match="makes about 4 rows of one, and under a memory limit it may make 4"):
        memory.check_growth(10**9, 10, 41)
    write_points(tmp_path / "in.csv", 400, 5, period=20)
    text = RECIPE.replace("[output]", '[[prepare]]\nstep = "resample"\nperiod = "{}"\n[output]')
    for period, options, code in (("1", (), 0), ("1", LIMITED, 2), ("10", LIMITED, 0)):
        (tmp_path / "recipe.toml").write_text(text.format(period))
        found = main(["run", str(tmp_path / "recipe.toml"), "--overwrite", *options])
        told = capfd.readouterr().err
        assert (found, "The preparation makes about" in told) == (code, code == 2), told


def test_about_how_many_rows_text_has(tmp_path: Path) -> None:
    for width in (1, 300):
        (tmp_path / "in.csv").write_text("traj_id,t,location\n" + f"a,1,{'x' * width}\n" * 20_000)
        assert memory._about_rows(tmp_path / "in.csv") == pytest.approx(20_000, rel=0.01)
    (tmp_path / "in.csv").write_text("")
    assert memory._about_rows(tmp_path / "in.csv") == 0


SCRIPT = """
import sys
from pathlib import Path
from wayveil.cli import main
code = main(sys.argv[1:])
# Not ru_maxrss: that begins with the memory of the process that started this one.
line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print("peak", int(line.split()[1]) * 1024)
sys.exit(code)
"""
LIMIT = 480_000_000
LIMITED = ("--memory-limit", str(LIMIT))
RECIPE = """
seed = 1
attacks = []
[input]
path = "in.csv"
owners = "each-trajectory"
[output]
path = "out"
[method]
name = "w4m"
k = 2
delta = 400
chunk_size = 20
"""


def peak(*arguments: str) -> int:
    """Run the program in a process of its own, and return the most bytes that it had in memory."""
    command = [sys.executable, "-c", SCRIPT, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600, check=False)
    assert done.returncode in (0, 3), done.stderr  # 3: verify cannot judge owners from files
    return int(done.stdout.rsplit("peak ", 1)[1])


def write_points(file: Path, people: int, points: int, *, period: int = 1, note: str = "") -> int:
    """Write people who start at one of many corners and go the same way, 10,000 at a time; return the bytes."""
    with file.open("wb") as stream:
        for first in range(0, people, 10_000):
            n = min(10_000, people - first)
            numbers, t = np.random.default_rng(first), np.tile(period * np.arange(points), n)
            x, y = (np.repeat(numbers.integers(0, 200, n) * 500.0, points) for _ in range(2))
            who = np.repeat(np.arange(first, first + n), points)
            table = pl.DataFrame({"traj_id": who, "t": t, "x": x + 10 * t, "y": y})
            noted = table.with_columns(note=pl.lit(note)) if note else table
            noted.write_csv(stream, include_header=first == 0)
    return file.stat().st_size


def test_an_input_far_larger_than_the_memory_limit_stays_below_it(tmp_path: Path) -> None:
    # The note is no attribute that is asked for: the program has to get past it without holding it.  Rows are few,
    # because it is the file that must be large; the next test is about many rows.
    size = write_points(tmp_path / "in.csv", 6_000, 50, note="what nobody needs to know " * 200)
    assert size > 3 * LIMIT
    (tmp_path / "recipe.toml").write_text(RECIPE)
    assert peak("run", str(tmp_path / "recipe.toml"), "--memory-limit", str(LIMIT)) < LIMIT
    assert len(list((tmp_path / "out/public").glob("published-*.parquet"))) > 2
    assert peak("verify", str(tmp_path / "out")) < LIMIT
    (tmp_path / "in.csv").unlink()  # pytest keeps the folders of the last runs


def test_the_rows_alone_do_not_fit_without_a_limit(tmp_path: Path) -> None:
    write_points(tmp_path / "in.csv", 20_000, 50)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    assert peak("run", str(tmp_path / "recipe.toml")) > LIMIT  # all at once
    assert peak("run", str(tmp_path / "recipe.toml"), "--overwrite", "--memory-limit", str(LIMIT)) < LIMIT
    assert verify_folder(tmp_path / "out").failures == ()


@pytest.mark.slow
def test_two_gigabytes_of_points_stay_below_the_memory_limit(tmp_path: Path) -> None:
    limit = 600_000_000
    size = write_points(tmp_path / "in.csv", 850_000, 100)
    assert size > 2 * 10**9 > 3 * limit
    (tmp_path / "recipe.toml").write_text(RECIPE)
    assert peak("run", str(tmp_path / "recipe.toml"), "--memory-limit", str(limit)) < limit
    (tmp_path / "in.csv").unlink()
    assert peak("verify", str(tmp_path / "out")) < limit
    shutil.rmtree(tmp_path / "out")


def test_groups_of_pieces_and_of_blocks_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_points(tmp_path / "in.csv", 600, 20)
    found = []
    for most in (64, 3):
        monkeypatch.setattr(scatter, "MOST_FILES", most)
        content = tomllib.loads(RECIPE) | {"blocks": {"by": "place", "rows": 600}}
        content["input"]["path"], content["output"]["path"] = str(tmp_path / "in.csv"), str(tmp_path / str(most))
        publish(make_recipe(content), engine=LocalEngine(workers=2), secret=Secret(bytes(32)))
        found.append({file.name: file.read_bytes() for file in (tmp_path / str(most) / "public").iterdir()})
    assert len(found[0]) > 10
    assert found[0] == found[1]


def test_more_trajectories_than_can_be_planned_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    write_points(tmp_path / "in.csv", 400, 5)
    (tmp_path / "recipe.toml").write_text(f'{RECIPE}[blocks]\nby = "place"\nrows = 1000\n')
    monkeypatch.setattr(memory, "TRAJECTORY_BYTES", 10**6)
    assert main(["run", str(tmp_path / "recipe.toml"), *LIMITED]) == 2
    assert "400 trajectories cannot be dealt out to blocks within the memory limit" in capfd.readouterr().err
    assert main(["run", str(tmp_path / "recipe.toml")]) == 0


def test_classes_of_several_blocks_are_published_in_parts_that_fit_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(14)
    rows = ["traj_id,user_id,seq,place"]
    for trip in range(600):
        places = [f"{('shop', 'park')[int(numbers.integers(2))]}-{numbers.integers(3)}" for _ in range(1 + trip % 3)]
        places += [f"clinic-{trip % 3}"] * (trip % 4 == 0)
        rows += [f"c{trip},p{trip},{seq},{place}" for seq, place in enumerate(places)]
    leaves = [f"{kind}-{i},{kind}," for kind in ("shop", "park", "clinic") for i in range(3)]
    tree = ["node,parent,sensitive", "place,,", "shop,place,", "park,place,", "clinic,place,yes", *leaves]
    (tmp_path / "in.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "taxonomy.csv").write_text("\n".join(tree) + "\n")
    made = make_recipe(
        {
            "seed": 1, "attacks": [], "metrics": [],
            "input": {"path": str(tmp_path / "in.csv"), "taxonomy": str(tmp_path / "taxonomy.csv")},
            "method": {"name": "cast", "c": "0.6", "m": 3},
            "output": {"path": str(tmp_path / "out")},
        }
    )  # fmt: skip
    monkeypatch.setattr(memory, "TRAJECTORY_BYTES", 1)
    tight = LimitedBlocks(by="length", rows=100, limit=memory.BASE_BYTES + 600)
    with pytest.raises(UsageError, match="stops were made alike in several blocks and have to be published together"):
        publish(made.model_copy(update={"blocks": tight}), engine=LocalEngine())
    assert not (tmp_path / "out/public").exists()
    fitting = LimitedBlocks(by="length", rows=100, limit=10**9)
    outcome = publish(made.model_copy(update={"blocks": fitting}), engine=LocalEngine())
    parts, of = (int(word) for word in re.findall(r"\d+", outcome.output_facts["Parts"]))
    assert parts > of + 1  # what is alike is in several parts, none of which has a class of another
    assert verify_folder(tmp_path / "out").failures == ()


def test_row_groups_of_parquet_that_do_not_fit_are_refused(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = 4_000_000
    numbers = np.random.default_rng(1)
    table = {
        "traj_id": np.arange(rows) // 100,
        "t": np.arange(rows) % 100,
        "x": numbers.random(rows),
        "y": numbers.random(rows),
    }
    pl.DataFrame(table).write_parquet(tmp_path / "in.parquet", row_group_size=rows)
    (tmp_path / "recipe.toml").write_text(RECIPE.replace("in.csv", "in.parquet"))
    assert main(["run", str(tmp_path / "recipe.toml"), "--memory-limit", "450MB"]) == 2
    assert "A row group of the Parquet input takes" in capfd.readouterr().err
    assert not (tmp_path / "out/public").exists()


def test_blocks_of_the_recipe_stay_as_they_are_or_are_refused() -> None:
    own = recipe(blocks={"by": "whole", "rows": 50_000})
    assert own.blocks is not None
    kept = fit_to_memory(own, 10**9)
    assert kept.blocks is not None
    assert kept.model_copy(update={"blocks": own.blocks}) == own
    assert kept.blocks.model_dump() == own.blocks.model_dump() == {"by": "whole", "rows": 50_000}
    with pytest.raises(UsageError, match=r"Blocks of 90,000,000 rows do not fit into the memory limit; at most"):
        fit_to_memory(recipe(blocks={"by": "whole", "rows": 90_000_000}), 10**9)


def test_the_engine_is_the_one_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://nowhere:1")
    assert choose_engine(recipe(), scheduler="tcp://nowhere:1") == "local"
    assert choose_engine(recipe(engine="dask"), scheduler=None) == "dask"


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
def test_auto_is_a_cluster_for_large_blocks_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    monkeypatch.setattr(memory, "AUTO_ROWS", 100)
    chosen = {}
    for rows in (50, 1000):
        table = pl.DataFrame(
            {"traj_id": ["somebody"] * rows, "t": range(rows), "location": ["a place of 20 signs"] * rows}
        )
        path = tmp_path / f"{rows}.{form}"
        if form == "csv":
            table.write_csv(path)
        elif form == "parquet":
            table.write_parquet(path)
        else:
            path.mkdir()
            for part in range(2):
                table[part::2].write_parquet(path / f"{part}.parquet")
        made = recipe(path=str(path), engine="auto", blocks={"by": "whole"})
        chosen[rows] = choose_engine(made, scheduler="tcp://head:8786"), choose_engine(made, scheduler=None)
        monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://head:8786")
        chosen[-rows] = (
            choose_engine(made, scheduler=None),
            choose_engine(recipe(path=str(path), engine="auto"), scheduler="tcp://head:8786"),
        )
        monkeypatch.delenv("DASK_SCHEDULER_ADDRESS")
    assert chosen == {
        50: ("local", "local"), -50: ("local", "local"), 1000: ("dask", "local"), -1000: ("dask", "local"),
    }  # fmt: skip


def test_auto_without_an_input_that_can_be_looked_at_is_local() -> None:
    made = recipe(path="not-there.csv", engine="auto", blocks={"by": "whole"})
    assert choose_engine(made, scheduler="tcp://head:8786") == "local"


def test_auto_without_dask_is_local(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(memory, "find_spec", lambda name: None)
    monkeypatch.setattr(memory, "AUTO_ROWS", 0)
    made = recipe(path=str(tmp_path), engine="auto", blocks={"by": "whole"})
    assert choose_engine(made, scheduler="tcp://head:8786") == "local"
