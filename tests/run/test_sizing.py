"""How much fits where: sizes, blocks for a memory limit, and the engine for an input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from wayveil.errors import UsageError
from wayveil.methods import METHODS
from wayveil.model import parameters_of
from wayveil.run import sizing
from wayveil.run.judging import judge
from wayveil.run.recipe import make_recipe
from wayveil.run.sizing import choose_engine, parse_size, within


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
        small, large = (within(recipe(name), limit) for limit in (10**9, 2 * 10**9))
        assert small.blocks is not None
        assert large.blocks is not None
        assert small.blocks.by == METHODS[name].blocks[0]
        kind = METHODS[name].accepts.__name__.lower()
        taken = sizing.BASE_BYTES + small.blocks.rows * sizing.WORKERS * sizing.BLOCK_BYTES[kind]
        assert 0.99 * 10**9 < taken <= 10**9
        assert large.blocks.rows > 2 * small.blocks.rows


def test_a_limit_that_is_too_small_is_refused_with_the_smallest() -> None:
    with pytest.raises(UsageError, match=r"give at least ([\d,]+) MB") as caught:
        within(recipe(), 300_000_000)
    least = int(str(caught.value).split("at least ")[1].split(" MB")[0].replace(",", ""))
    assert within(recipe(), least * 10**6).blocks is not None
    with pytest.raises(UsageError):
        within(recipe(), (least - 1) * 10**6)


def test_what_cannot_be_cut_cannot_keep_to_a_limit() -> None:
    with pytest.raises(UsageError, match="qid needs all data at once, so it cannot keep to a memory limit"):
        within(recipe("qid"), 10**10)


def test_what_is_decided_at_once_must_fit(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    rows = 1_000_000
    pl.DataFrame({"traj_id": pl.int_range(rows, eager=True), "t": 1, "location": "a"}).write_parquet(path)
    least = sizing.BASE_BYTES + rows * sizing.WHOLE_BYTES
    for blocks in (None, {"by": "whole", "rows": 20_000}):
        made = recipe(path=str(path), blocks=blocks)
        assert within(made, least).blocks is not None
        with pytest.raises(UsageError, match=f"kcl decides over all rows at once.* at least {least // 10**6:,} MB"):
            within(made, least - 1)
    assert within(recipe("tga", path=str(path)), least - 1).blocks is not None


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


def peak(recipe: Path, *options: str) -> int:
    """Publish in a process of its own, and return the most bytes that it had in memory."""
    command = [sys.executable, "-c", SCRIPT, "run", str(recipe), "--overwrite", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout.rsplit("peak ", 1)[1])


def test_a_run_stays_below_its_memory_limit(tmp_path: Path) -> None:
    people, points = 20_000, 50
    numbers, t = np.random.default_rng(1), np.tile(np.arange(points), people)
    x, y = (np.repeat(numbers.integers(0, 200, people) * 500.0, points) for _ in range(2))
    table = {"traj_id": np.repeat(np.arange(people), points), "t": t, "x": x + 10 * t, "y": y}
    pl.DataFrame(table).write_csv(tmp_path / "in.csv")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'seed = 1\nattacks = []\nmetrics = []\n[input]\npath = "in.csv"\n[output]\npath = "out"\n'
        '[method]\nname = "w4m"\nk = 2\ndelta = 400\nchunk_size = 20\n'
    )
    limit = 480_000_000
    assert peak(recipe, "--memory-limit", str(limit)) < limit
    assert len(list((tmp_path / "out/public").glob("published-*.parquet"))) > 10
    assert judge(tmp_path / "out").holds
    assert peak(recipe) > limit  # all at once


def test_blocks_of_the_recipe_stay_as_they_are_or_are_refused() -> None:
    own = recipe(blocks={"by": "whole", "rows": 50_000})
    assert within(own, 10**9) is own
    with pytest.raises(UsageError, match=r"Blocks of 90,000,000 rows do not fit into the memory limit; at most"):
        within(recipe(blocks={"by": "whole", "rows": 90_000_000}), 10**9)


def test_the_engine_is_the_one_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", "tcp://nowhere:1")
    assert choose_engine(recipe(), scheduler="tcp://nowhere:1") == "local"
    assert choose_engine(recipe(engine="dask"), scheduler=None) == "dask"


@pytest.mark.parametrize("form", ["csv", "parquet", "folder"])
def test_auto_is_a_cluster_for_large_blocks_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.delenv("DASK_SCHEDULER_ADDRESS", raising=False)
    monkeypatch.setattr(sizing, "AUTO_ROWS", 100)
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
    monkeypatch.setattr(sizing, "find_spec", lambda name: None)
    monkeypatch.setattr(sizing, "AUTO_ROWS", 0)
    made = recipe(path=str(tmp_path), engine="auto", blocks={"by": "whole"})
    assert choose_engine(made, scheduler="tcp://head:8786") == "local"
