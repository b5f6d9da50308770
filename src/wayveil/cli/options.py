"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wayveil.errors import UsageError

__all__ = [
    "Columns",
    "EngineName",
    "Format",
    "Json",
    "Keep",
    "KeepMapping",
    "Kind",
    "OnDuplicateTime",
    "OutFile",
    "OutFolder",
    "Overwrite",
    "Seed",
    "SensitiveValues",
    "Table",
    "TimeBucket",
    "input_spec",
    "prepare_steps",
]

Table = Annotated[Path, typer.Argument(metavar="INPUT", help="A table: CSV, gzipped CSV or Parquet.")]
OutFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the result.")]
OutFile = Annotated[Path, typer.Option("--out", metavar="FILE", help="File to write: .csv or .parquet.")]
Kind = Annotated[Literal["visits"] | None, typer.Option("--kind", help="What the table holds; guessed by default.")]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="NAME=COLUMN,...", help="Column names, as in traj_id=card,t=time.")
]
OnDuplicateTime = Annotated[
    Literal["first", "last"] | None,
    typer.Option("--on-duplicate-time", help="Which of two visits at one time to keep; an error by default."),
]
SensitiveValues = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="ATTRIBUTE=VALUE,...", help="Sensitive values; repeatable."),
]
TimeBucket = Annotated[
    str | None, typer.Option("--time-bucket", metavar="WIDTH", help="Round times down first, as in 15min, 1h, 1d.")
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="ATTRIBUTE", help="Publish this attribute too, as it is; repeatable."),
]
KeepMapping = Annotated[bool, typer.Option("--keep-mapping", help="Keep a private table of new ids and input ids.")]
Format = Annotated[Literal["parquet", "csv"], typer.Option("--format", help="Format of the published table.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace what is there, after the new result is complete and verified.")
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Repeat a run exactly; fresh and secret by default.")]
EngineName = Annotated[Literal["local"], typer.Option("--engine", help="Where the work runs.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def input_spec(path: Path, kind: str | None, columns: str | None, on_duplicate_time: str | None) -> Any:
    """Return the checked description of an input table."""
    from wayveil.run.recipe import make_input

    return make_input(
        {"path": path, "kind": kind, "columns": _columns(columns), "on_duplicate_time": on_duplicate_time}
    )


def prepare_steps(time_bucket: str | None) -> tuple[Any, ...]:
    """Return the preparation steps that options ask for."""
    from wayveil.run.catalog import build, parse

    return () if time_bucket is None else (build("step", "bucket", parse("step", "bucket", {"width": time_bucket})),)


def _columns(text: str | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in (text or "").split(",") if text else []:
        name, sign, column = pair.partition("=")
        if not (sign and name and column) or name in found:
            raise UsageError(f"--columns must look like traj_id=card,t=time with each name once; got {text!r}.")
        found[name] = column
    return found
