"""Options that several commands share, declared once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wayveil.errors import UsageError

__all__ = [
    "BlockBy",
    "BlockRows",
    "EngineName",
    "Format",
    "InsecureScheduler",
    "Json",
    "Keep",
    "KeepMapping",
    "MaxRisk",
    "Measure",
    "MemoryLimit",
    "NoResume",
    "OutFile",
    "OutFolder",
    "Overwrite",
    "Pdf",
    "Prepare",
    "Scheduler",
    "SecretFile",
    "Seed",
    "SensitiveValues",
    "SignKey",
    "TimeBucket",
    "UseFor",
    "Verbose",
    "WithRaw",
    "named_path",
    "prepare_steps",
    "read_limit",
    "reads_table",
]


def named_path(text: str | Path) -> Path:
    """Return a path that was typed; an empty one would mean the current folder."""
    if str(text) == "":
        raise UsageError("--out must not be empty; give the folder or file to write.")
    if "\0" in str(text):
        raise UsageError("--out must not hold a null character; give the folder or file to write.")
    return Path(text)


def read_limit(text: str | None) -> Any:
    """Return the risk that is accepted as an exact number, or None where nobody said one."""
    from wayveil.recipe.purpose import parse_limit

    try:
        return None if text is None else parse_limit(text)
    except ValueError as error:
        raise UsageError(f"--max-risk: {error}, got {text!r}.") from None


OutFolder = Annotated[Path, typer.Option("--out", metavar="DIR", parser=named_path, help="Folder for the result.")]
OutFile = Annotated[
    Path,
    typer.Option(
        "--out", metavar="FILE", parser=named_path, help="File to write: .csv or .parquet; points also .geojsonl."
    ),
]
# One entry per option: its name in Python is the key of the recipe, its text on the command line stands in the option.
_INPUT: dict[str, Any] = {
    "kind": Annotated[
        Literal["visits", "points", "routes", "stops", "trips"] | None,
        typer.Option("--kind", help="What the table holds; guessed by default."),
    ],
    "columns": Annotated[
        str | None,
        typer.Option("--columns", metavar="NAME=COLUMN,...", help="Column names, as in traj_id=card,t=time."),
    ],
    "on_duplicate_time": Annotated[
        Literal["first", "last"] | None,
        typer.Option("--on-duplicate-time", help="Which of two rows at one time to keep; an error by default."),
    ],
    "crs": Annotated[
        str | None,
        typer.Option("--crs", metavar="NAME", help="Coordinates, as in EPSG:4326 (degrees) or planar (metres)."),
    ],
    "owners": Annotated[
        list[Path] | None,
        typer.Option(
            "--owners", metavar="FILE", help="Who owns each trajectory: a table traj_id, user_id; repeatable."
        ),
    ],
    "each_trajectory": Annotated[
        bool,
        typer.Option(
            "--each-trajectory-is-a-person",
            help="Declare that nobody has two trajectories, where no column says who; the promise then says so.",
        ),
    ],
    "similar_ids": Annotated[
        Literal["different", "same"] | None,
        typer.Option("--similar-ids", help="How to treat ids that differ only by case, blanks or leading zeros."),
    ],
    "known": Annotated[
        Path | None,
        typer.Option("--known", metavar="FILE", help="Which points an attacker may know: a table traj_id, t."),
    ],
    "places": Annotated[
        Path | None,
        typer.Option(
            "--places", metavar="FILE", help="Coordinates of the locations of visits, or places where people can stop."
        ),
    ],
    "zones": Annotated[
        Path | None,
        typer.Option("--zones", metavar="FILE", help="Polygons for the step zones: GeoJSON, GeoPackage or Shapefile."),
    ],
    "network": Annotated[
        Path | None,
        typer.Option(
            "--network", metavar="FILE", help="The road network of the routes, or the one to match points to."
        ),
    ],
    "taxonomy": Annotated[
        Path | None,
        typer.Option(
            "--taxonomy", metavar="FILE", help="The kinds of places of stops: a table node, parent, sensitive."
        ),
    ],
    "sensitive_nodes": Annotated[
        list[str] | None,
        typer.Option("--sensitive-nodes", metavar="NAME,...", help="Nodes of the taxonomy that are sensitive too."),
    ],
    "unknown_places": Annotated[
        Literal["refuse", "drop"],
        typer.Option("--unknown-places", help="What to do with stops at places that the taxonomy does not have."),
    ],
    "separator": Annotated[
        str | None, typer.Option("--separator", metavar="SIGN", help="Column separator: , ; | tab or space.")
    ],
    "decimal": Annotated[str | None, typer.Option("--decimal", metavar="SIGN", help="Decimal mark: . or ,")],
    "encoding": Annotated[
        str | None, typer.Option("--encoding", metavar="NAME", help="Text encoding, as in utf-8, cp1252, utf-16.")
    ],
    "no_header": Annotated[bool, typer.Option("--no-header", help="The first line is data; columns are column_1, ...")],
    "names": Annotated[
        str | None, typer.Option("--names", metavar="NAME,...", help="Names of the columns of a file without a header.")
    ],
    "time_format": Annotated[
        str | None,
        typer.Option(
            "--time-format",
            metavar="WORD",
            help="How times are written: ymd, dmy, mdy, named, compact, epoch_s, epoch_ms, epoch_us, epoch_ns, clock.",
        ),
    ],
    "time_zone": Annotated[
        str | None,
        typer.Option("--time-zone", metavar="ZONE", help="Time zone of times without an offset, as in Europe/Athens."),
    ],
    "position_format": Annotated[
        str | None,
        typer.Option(
            "--position-format",
            metavar="WORD",
            help="How coordinates are written: degrees, e5, e6, e7, semicircles, sexagesimal.",
        ),
    ],
    "position_order": Annotated[
        Literal["lonlat", "latlon"] | None,
        typer.Option("--position-order", help="Which comes first in a column with both coordinates."),
    ],
    "line_every": Annotated[
        float | None,
        typer.Option(
            "--line-every", metavar="SECONDS", help="Time between two positions of a column that holds lines."
        ),
    ],
    "bad_rows": Annotated[
        Literal["refuse", "drop"],
        typer.Option("--bad-rows", help="What to do with rows that cannot be read; they are counted."),
    ],
}
"""The options that say how to read a table, by the keys of the recipe's [input]; each_trajectory is one of owners."""

_DEFAULTS = {"unknown_places": "refuse", "each_trajectory": False, "no_header": False, "bad_rows": "refuse"}

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
MaxRisk = Annotated[
    str | None,
    typer.Option(
        "--max-risk",
        metavar="SHARE",
        help="Risk that you accept, as in 0.1 or 1/30: people above it are counted. By default that of the promise.",
    ),
]
UseFor = Annotated[
    Literal["flows", "hours", "routes", "patterns", "points"] | None,
    typer.Option("--use", help="What the data are for: the loss that matters most for it comes first."),
]
Measure = Annotated[
    Literal["none", "quick", "full"] | None,
    typer.Option(
        "--measure",
        help="How much is measured: all attacks and metrics (full), what the head of the result needs where there are "
        "more than 100,000 rows (quick, the default), or only what the promise depends on (none).",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="ATTRIBUTE", help="Publish this attribute too, as it is; repeatable."),
]
KeepMapping = Annotated[bool, typer.Option("--keep-mapping", help="Keep a private table of new ids and input ids.")]
WithRaw = Annotated[
    bool,
    typer.Option("--with-raw", help="Draw raw trajectories in the report, which must then never leave your hands."),
]
Pdf = Annotated[bool, typer.Option("--pdf", help="Also print the report to private/report.pdf, with a browser.")]
Format = Annotated[
    Literal["parquet", "csv", "geojson"], typer.Option("--format", help="Format of the published table.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Replace what is there, after the new result is complete and verified.")
]
Seed = Annotated[
    int | None,
    typer.Option(
        "--seed", min=0, help="Seed of the method and the measurements, to repeat them; fresh and secret by default."
    ),
]
SecretFile = Annotated[
    Path | None,
    typer.Option("--secret", metavar="FILE", help="secret.txt of an earlier run: repeat it to the byte."),
]
NoResume = Annotated[
    bool, typer.Option("--no-resume", help="Start over, also where a run of the same recipe was killed in --out.")
]
SignKey = Annotated[
    Path | None,
    typer.Option(
        "--sign-key", metavar="FILE", help="Sign the manifest with this private key, as keygen writes it (extra sign)."
    ),
]
EngineName = Annotated[
    Literal["local", "dask", "auto"] | None,
    typer.Option("--engine", help="Where the work runs: this machine, a cluster, or chosen by size; default local."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="A running Dask cluster, as in tls://head:8786."),
]
InsecureScheduler = Annotated[
    bool,
    typer.Option(
        "--insecure-scheduler",
        help="Use a cluster without TLS: whoever reaches it reads the data and runs code as you.",
    ),
]
BlockBy = Annotated[
    Literal["times", "slice", "length", "place", "whole"] | None,
    typer.Option("--blocks", help="Cut the data into blocks that are published one by one; all at once by default."),
]
BlockRows = Annotated[int | None, typer.Option("--block-rows", min=1, help="Approximate number of rows in a block.")]
MemoryLimit = Annotated[
    str | None,
    typer.Option("--memory-limit", metavar="SIZE", help="Cut into blocks that fit into this much memory, as in 4GB."),
]
Verbose = Annotated[
    bool,
    typer.Option("--verbose", help="Print every measured risk and loss, not only what is left and the worst risk."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]


def reads_table(function: Callable[..., None], help: str = "") -> Callable[..., None]:
    """Return a command with an argument and options for the table to read, instead of the parameter `spec`.

    `function` gets the checked description of the table as `spec`.
    """
    # Typer reads signatures.  The command gets one that has the table and all of these options in place of `spec`, in
    # the order in which help shows them: what must be given first.
    argument = typer.Argument(metavar="INPUT", help=help or "A table: CSV, Parquet; points also GeoJSON, GPX, PLT.")
    kind = inspect.Parameter.KEYWORD_ONLY
    table = inspect.Parameter("table", kind, annotation=Annotated[Path, argument])
    options = [
        inspect.Parameter(name, kind, annotation=annotation, default=_DEFAULTS.get(name))
        for name, annotation in _INPUT.items()
    ]
    own = inspect.signature(function, eval_str=True).parameters.values()
    others = [p.replace(kind=kind) for p in own if p.name != "spec"]
    needed = [p for p in others if p.default is inspect.Parameter.empty]
    optional = [p for p in others if p.default is not inspect.Parameter.empty]

    def command(**given: Any) -> None:
        spec = _input_spec(given.pop("table"), {name: given.pop(name) for name in _INPUT})
        function(spec=spec, **given)

    command.__signature__ = inspect.Signature([table, *needed, *options, *optional])  # type: ignore[attr-defined]
    command.__annotations__ = {}
    command.__doc__ = function.__doc__
    return command


def _input_spec(path: Path, given: dict[str, Any]) -> Any:
    from wayveil.recipe.recipe import EACH_TRAJECTORY, make_input

    nodes = [name.strip() for text in given["sensitive_nodes"] or [] for name in text.split(",") if name.strip()]
    columns: dict[str, str] = _columns(given["columns"])
    written = _written(given, columns)
    owners: Any = given["owners"] or []
    # Two answers to who the person is would contradict each other.
    if given.pop("each_trajectory"):
        if owners or "user_id" in columns:
            other = "--owners" if owners else "--columns user_id="
            raise UsageError(f"{other} and --each-trajectory-is-a-person contradict each other; give one of them.")
        owners = EACH_TRAJECTORY
    return make_input(
        {"path": path, **given, "columns": columns, "owners": owners, "sensitive_nodes": nodes, **written}
    )


_SIGNS = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}


def _written(given: dict[str, Any], columns: dict[str, str]) -> dict[str, Any]:
    """Return how the table is written, as far as options say it; the column of times is read under our name then."""
    names = [name.strip() for name in (given.pop("names") or "").split(",") if name.strip()]
    separator = given.pop("separator")
    dialect = {
        "separator": _SIGNS.get(separator, separator),
        "decimal": given.pop("decimal"),
        "encoding": given.pop("encoding"),
        # Names without a header are the only reason to give names.
        "header": False if given.pop("no_header") or names else None,
        "names": names or None,
    }
    settings = {key: value for key, value in dialect.items() if value is not None}
    form = given.pop("time_format")
    zone = given.pop("time_zone")
    times = {}
    # A time with a format of its own is read from its column under our name, so that --columns must not map it again.
    if form is not None or zone is not None:
        times = {"t": {"columns": [columns.pop("t", "t")], "format": form, "zone": zone}}
    position = {"format": given.pop("position_format"), "order": given.pop("position_order")}
    positions = {"point": position} if any(position.values()) else {}
    every = given.pop("line_every")
    line = None if every is None else {"column": "", "every": every}
    return {"times": times, "line": line, "positions": positions, **({"dialect": settings} if settings else {})}


def prepare_steps(time_bucket: str | None, listed: list[str] | None) -> tuple[Any, ...]:
    """Return the preparation steps that options ask for, --time-bucket last."""
    from wayveil.recipe.catalog import build, parse

    texts = [*(listed or []), *([f"bucket width={time_bucket}"] if time_bucket is not None else [])]
    steps = []
    # "STEP KEY=VALUE ..." as on a command line; values are parsed by the step itself.
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
    columns: dict[str, str] = {}
    for pair in (text or "").split(",") if text else []:
        name, sign, column = pair.partition("=")
        if not (sign and name and column) or name in columns:
            raise UsageError(f"--columns must look like traj_id=card,t=time with each name once; got {text!r}.")
        columns[name] = column
    return columns
