"""A command that computes nothing imports nothing that computes: people judge a tool by its first second."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("numba", "llvmlite", "scipy", "polars", "shapely", "pandas")

PROGRAM = """
import contextlib, io, json, sys
from wayveil.cli import main

for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main(command)
    print(json.dumps([command, code, [name for name in json.loads(sys.argv[2]) if name in sys.modules]]))
"""

ANSWERED = (
    ("--help",),
    ("--version",),
    ("methods",),
    ("methods", "kcl"),
    ("methods", "--json"),
    *((name, "--help") for name in ("demo", "inspect", "methods", "publish", "run", "verify", "keygen", "risk")),
    *((name, "--help") for name in ("utility", "compare", "generate", "prepare", "serve")),
    *(("publish", method, "--help") for method in ("kcl", "nwa", "qid", "icba", "cast")),
    ("generate", "road_movers", "--help"),
    ("prepare", "match", "--help"),
    ("prepare", "zones", "--help"),
)
MISTYPED = (
    ("metods",),
    ("--versoin",),
    ("publish", "nwaa"),
    ("publish", "nwa", "--kk", "3"),
    ("publish", "kcl", "in.csv"),
    ("prepare", "grit"),
    ("risk", "--atack", "x"),
    ("generate", "city", "--recrods", "3"),
)


@pytest.mark.parametrize(("commands", "code"), [(ANSWERED, 0), (MISTYPED, 2)], ids=["answered", "mistyped"])
def test_a_command_that_computes_nothing_imports_nothing_heavy(
    commands: tuple[tuple[str, ...], ...], code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands), json.dumps(HEAVY)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert told == [[list(command), code, []] for command in commands]
