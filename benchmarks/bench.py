"""What all benchmarks share: the command line of a series of rows, a fresh process per row, clocks, memory and tables.

A benchmark is a table.  `run_series` reads the command line, prints the head, measures each row in a process of its
own, so that memory is that row's, and prints it.  Benchmarks of another shape take the parts that they need.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import wayveil

__all__ = ["Clock", "make_parser", "peak_gb", "print_cells", "print_heads", "print_machine", "run_row", "run_series"]


class Clock:
    """Seconds by phase: `enter` ends one phase and begins another.

    Parameters
    ----------
    phases : sequence of str
        All phases; the first begins at once.
    steps : mapping of str to str, optional
        The phase of each step of a method, by the first word that it reports.
    """

    def __init__(self, phases: Sequence[str], steps: Mapping[str, str] | None = None) -> None:
        self.seconds = dict.fromkeys(phases, 0.0)
        self._steps = steps or {}
        self._phase = phases[0]
        self._since = time.perf_counter()

    def enter(self, phase: str) -> None:
        """End the phase that runs, and begin this one."""
        now = time.perf_counter()
        self.seconds[self._phase] += now - self._since
        self._phase = phase
        self._since = now

    def progress(self, step: str, done: int = 0, total: int | None = None) -> None:
        """Begin the phase of a step; for the engine of a method."""
        self.enter(self._steps[step.split()[0]])


def make_parser(doc: str | None) -> argparse.ArgumentParser:
    """Return a command line with the first line of a docstring as its description."""
    return argparse.ArgumentParser(description=(doc or "").splitlines()[0])


def print_machine(settings: str = "") -> None:
    """Print what was measured, on what, and with which settings."""
    machine = f"wayveil {wayveil.__version__}, Python {platform.python_version()}, {os.cpu_count()} cores"
    print(f"{machine}{f', {settings}' if settings else ''}\n")


def print_heads(heads: Sequence[str]) -> None:
    """Print the head of a table."""
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads), flush=True)


def print_cells(cells: Iterable[str]) -> None:
    """Print one row of a table."""
    print("| " + " | ".join(cells) + " |", flush=True)


def peak_gb() -> float:
    """Return the most memory that this process has had, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def run_row(file: str, *words: object) -> Any:
    """Run a benchmark with these words in a process of its own, and return the value that it prints as JSON."""
    done = subprocess.run([sys.executable, file, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def run_series(
    file: str,
    parser: argparse.ArgumentParser,
    series: Mapping[str, Sequence[Sequence[Any]]],
    *,
    row_help: str,
    heads: Sequence[str],
    measure: Callable[..., Any],
    cells: Callable[[Any], Sequence[str]],
    settings: Callable[[argparse.Namespace], str] = lambda options: "",
) -> None:
    """Be the main of a benchmark: print a table with one row for each of a series, measured in a fresh process.

    Parameters
    ----------
    file : str
        The benchmark itself, which is started again for each row.
    parser : ArgumentParser
        With the options of this benchmark, which are handed on to the rows; `series` and `row` are added here.
    series : mapping of str to rows
        The first is the default.
    row_help : str
        What the words of a row are.
    heads : sequence of str
        The head of the table.
    measure : function of the options and the words of a row
        Runs one row in this process, and returns what JSON can hold.
    cells : function of that value
        Returns the cells of the row.
    settings : function of the options
        Returns what to say of them above the table.
    """
    handed_on = [action for action in parser._actions if action.dest != "help"]
    parser.add_argument("series", nargs="?", default=next(iter(series)), choices=[*series, "one", "row"])
    parser.add_argument("row", nargs="*", help=row_help)
    options = parser.parse_args()
    if options.series == "row":
        print(json.dumps(measure(options, *options.row)))
        return
    print_machine(settings(options))
    print_heads(heads)
    for row in [options.row] if options.series == "one" else series[options.series]:
        print_cells(cells(run_row(file, "row", *row, *_words(handed_on, options))))


def _words(actions: Sequence[argparse.Action], options: argparse.Namespace) -> list[str]:
    """Return options as they stand on a command line."""
    words = []
    for action in actions:
        value = getattr(options, action.dest)
        if action.nargs == 0:
            words += [action.option_strings[0]] if value else []
        else:
            words.append(f"{action.option_strings[0]}={value}")
    return words
