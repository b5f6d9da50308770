"""Commands that pages show: each is understood, and runs here or says why it does not."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import typer

from wayveil.cli.app import app, main

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUN = ("README.md", "docs/publish/cards.md", "docs/receive/verify.md")
"""Pages whose commands are run, one after the other, unless a block is marked."""
BLOCK = re.compile(r"(?:<!-- not run: (?P<reason>[^\n]*?) -->\n+)?^```(?P<kind>\w*)\n(?P<body>.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^(?:\$ )?(?:\.venv/bin/)?wayveil (.*)$")
STATES = {"verify": (0, 3)}  # a recipient need not be able to judge everything


class Shown(NamedTuple):
    page: str
    line: int
    kind: str
    reason: str | None
    arguments: list[str]


def shown() -> list[Shown]:
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            first = text.count("\n", 0, block.start("body")) + 1
            for number, line in enumerate(block["body"].replace("\\\n", "").splitlines()):
                command = COMMAND.match(line)
                if command:
                    name = page.relative_to(ROOT).as_posix()
                    found.append(Shown(name, first + number, block["kind"], block["reason"], arguments(command[1])))
    return found


def arguments(command: str) -> list[str]:
    """Split as a shell would, up to a comment, another command, or a column of explanation."""
    words = shlex.split(re.split(r"\s+#\s|\s&&\s|\s\|\s|\s{3,}(?=[a-z])", command)[0])
    return words[: words.index("...")] if "..." in words else words


def understand(words: list[str]) -> None:
    """Parse a command down to its last option; nothing is run."""
    context: Any = typer.main.get_command(app).make_context("wayveil", list(words))
    while hasattr(context.command, "resolve_command"):
        rest = [*getattr(context, "_protected_args", []), *context.args]
        name, command, rest = context.command.resolve_command(context, rest)
        context = command.make_context(name, rest, parent=context)


COMMANDS = shown()


def test_commands_are_found() -> None:
    assert len(COMMANDS) > 60
    assert {command.page for command in COMMANDS} >= set(RUN)


def names_nothing(command: Shown) -> bool:
    """Whether a name in capitals stands where a method, a step or a workload would: ``publish METHOD``."""
    if command.arguments[0] not in ("publish", "prepare", "generate", "methods"):
        return False
    return any(re.fullmatch(r"[A-Z]{2,}(?:\.\w+)?|-+[a-z-]*=?[A-Z]{2,}", word) for word in command.arguments[1:2])


@pytest.mark.parametrize(
    "command",
    [command for command in COMMANDS if not names_nothing(command)],
    ids=lambda shown: f"{shown.page}:{shown.line}",
)
def test_a_shown_command_is_understood(command: Shown) -> None:
    """Commands, options and their values exist; placeholders in capitals stand for files and names."""
    understand(command.arguments)


def test_what_is_not_understood_is_found() -> None:
    understand(["publish", "kcl", "x.csv", "--k", "2", "--l", "2", "--out", "o"])
    for wrong in (["publish", "nothing", "x"], ["publish", "kcl", "x.csv", "--no-such", "2"], ["nothing"]):
        with pytest.raises(Exception, match=r"(?i)no such|nothing|no-such"):
            understand(wrong)


def test_a_command_runs_or_says_why_not() -> None:
    """Pages for users: a block with commands is in a page that is run here, or is marked ``<!-- not run: why -->``."""
    silent = [
        f"{command.page}:{command.line}"
        for command in COMMANDS
        if command.page not in RUN and not command.page.startswith("docs/research/") and not command.reason
    ]
    assert silent == []


@pytest.mark.parametrize("page", RUN)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "recipes").symlink_to(ROOT / "recipes")
    if page.endswith("verify.md"):
        assert run("publish kcl recipes/table1.csv --k 2 --l 2 --each-trajectory-is-a-person --out here") == 0
        (tmp_path / "public").symlink_to(tmp_path / "here" / "public")
    ran = 0
    for command in COMMANDS:
        if command.page == page and not command.reason:
            expected = STATES.get(command.arguments[0], (0,))
            assert run(shlex.join(command.arguments)) in expected, command
            ran += 1
    assert ran >= 1


def run(command: str) -> int:
    return main(
        shlex.split(re.sub(r"(?<=--budget )\d+", "0.05", command))
    )  # three seconds are enough to see that it runs
