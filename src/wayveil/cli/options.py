"""Options that several commands share, declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wayveil.errors import UsageError

__all__ = [
    "Columns",
    "Crs",
    "EngineName",
    "Format",
    "Json",
    "Keep",
    "KeepMapping",
    "Kind",
    "Known",
    "Network",
    "OnDuplicateTime",
    "OutFile",
    "OutFolder",
    "Overwrite",
    "Places",
    "Prepare",
    "Seed",
    "SensitiveValues",
    "Table",
    "TimeBucket",
    "input_spec",
    "prepare_steps",
]

Table = Annotated[Path, typer.Argument(metavar="INPUT", help="A table: CSV, Parquet; points also GeoJSON, GPX, PLT.")]
OutFolder = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for the result.")]
OutFile = Annotated[
    Path, typer.Option("--out", metavar="FILE", help="File to write: .csv or .parquet; points also .geojsonl.")
]
Kind = Annotated[
    Literal["visits", "points", "routes"] | None,
    typer.Option("--kind", help="What the table holds; guessed by default."),
]
Crs = Annotated[
    str | None,
    typer.Option("--crs", metavar="NAME", help="Coordinates of points, as in EPSG:4326 (degrees) or planar (metres)."),
]
Known = Annotated[
    Path | None,
    typer.Option("--known", metavar="FILE", help="Which points an attacker may know: a table traj_id, t."),
]
Places = Annotated[
    Path | None,
    typer.Option("--places", metavar="FILE", help="Where the locations of visits are: a table location, x, y."),
]
Network = Annotated[
    Path | None,
    typer.Option("--network", metavar="FILE", help="The road network of routes, or for points that are put on roads."),
]
Columns = Annotated[
    str | None, typer.Option("--columns", metavar="NAME=COLUMN,...", help="Column names, as in traj_id=card,t=time.")
]
OnDuplicateTime = Annotated[
    Literal["first", "last"] | None,
    typer.Option("--on-duplicate-time", help="Which of two rows at one time to keep; an error by default."),
]
SensitiveValues = Annotated[
    list[str] | None,
    typer.Option("--sensitive", metavar="ATTRIBUTE=VALUE,...", help="Sensitive values; repeatable."),
]
TimeBucket = Annotated[
    str | None, typer.Option("--time-bucket", metavar="WIDTH", help="Round times down first, as in 15min, 1h, 1d.")
]
Prepare = Annotated[
    list[str] | None,
    typer.Option("--prepare", metavar="'STEP KEY=VALUE ...'", help="Run a preparation step first; repeatable."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="ATTRIBUTE", help="Publish this attribute too, as it is; repeatable."),
]
KeepMapping = Annotated[bool, typer.Option("--keep-mapping", help="Keep a private table of new ids and input ids.")]
Format = Annotated[
    Literal["parquet", "csv", "geojson"], typer.Option("--format", help="Format of the published table.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace what is there, after the new result is complete and verified.")
]
Seed = Annotated[int | None, typer.Option("--seed", min=0, help="Repeat a run exactly; fresh and secret by default.")]
EngineName = Annotated[Literal["local"], typer.Option("--engine", help="Where the work runs.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def input_spec(
    path: Path,
    kind: str | None,
    columns: str | None,
    on_duplicate_time: str | None,
    crs: str | None,
    known: Path | None = None,
    places: Path | None = None,
    network: Path | None = None,
) -> Any:
    """Return the checked description of an input table."""
    from wayveil.run.recipe import make_input

    content = {"kind": kind, "columns": _columns(columns), "on_duplicate_time": on_duplicate_time, "crs": crs}
    return make_input({"path": path, **content, "known": known, "places": places, "network": network})


def prepare_steps(time_bucket: str | None, asked: list[str] | None) -> tuple[Any, ...]:
    """Return the preparation steps that options ask for, --time-bucket last."""
    from wayveil.run.catalog import build, parse

    texts = [*(asked or []), *([f"bucket width={time_bucket}"] if time_bucket is not None else [])]
    steps = []
    for text in texts:
        name, *pairs = text.split() or [""]
        typed: dict[str, str | list[str]] = {}
        for pair in pairs:
            key, sign, value = pair.partition("=")
            if not (sign and key and value) or key in typed:
                raise UsageError(f"--prepare must look like 'STEP KEY=VALUE ...' with each key once; got {text!r}.")
            typed[key.replace("-", "_")] = value
        steps.append(build("step", name, parse("step", name, typed)))
    return tuple(steps)


def _columns(text: str | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for pair in (text or "").split(",") if text else []:
        name, sign, column = pair.partition("=")
        if not (sign and name and column) or name in found:
            raise UsageError(f"--columns must look like traj_id=card,t=time with each name once; got {text!r}.")
        found[name] = column
    return found
