"""The commands of ``wayveil``; see ``docs/commands.md``."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from wayveil.cli import show
from wayveil.cli.generated import command_of, group_of, lazy, with_options
from wayveil.cli.mistakes import explain
from wayveil.cli.options import (
    BlockBy,
    BlockRows,
    EngineName,
    Format,
    Json,
    Keep,
    KeepMapping,
    MemoryLimit,
    OutFile,
    OutFolder,
    Overwrite,
    Prepare,
    Scheduler,
    Seed,
    SensitiveValues,
    TimeBucket,
    WithRaw,
    prepare_steps,
    reads_table,
)
from wayveil.cli.terminal import emit, fail, progress_bar
from wayveil.errors import UsageError, WayveilError

__all__ = ["app", "main"]

app = typer.Typer(
    name="wayveil",
    help="Publish movement data without publishing people.",
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
)

_ORDER = ("demo", "methods", "publish", "run", "verify", "risk", "utility", "compare", "generate", "prepare", "serve")
_CLICK_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""Newer typer brings its own copy of click, older typer uses the package: both have this class."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the verdict failed, 2 bad usage or bad input."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    try:
        code = app(arguments, prog_name="wayveil", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except WayveilError as error:
        return fail(str(error), error.exit_code, as_json=as_json)
    except _CLICK_ERROR as error:
        return fail(explain(error), 2, as_json=as_json)
    except (typer.Abort, KeyboardInterrupt):
        return fail("stopped.", 130, as_json=as_json)
    except BrokenPipeError:
        # Nobody reads on; without this the interpreter would try once more when it ends, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError:
        return fail("not enough memory for this data; nothing was published.", 2, as_json=as_json)
    except OSError as error:
        return fail(f"the system refused: {error.strerror or type(error).__name__}.", 2, as_json=as_json)
    except Exception as error:
        return fail(_unexpected(error), 2, as_json=as_json)


@app.callback()
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from importlib.metadata import version as version_of

        typer.echo(f"wayveil {version_of('wayveil')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("demo")
def demo(out: Annotated[Path, typer.Option("--out", help="Folder to write to.")] = Path("wayveil-demo"),
         as_json: Json = False) -> None:  # fmt: skip
    """Do the main job on generated data and show where the report is."""
    from wayveil.run.catalog import make_engine
    from wayveil.run.demo import demo as run_demo

    with progress_bar() as progress:
        table, outcome = run_demo(out, engine=make_engine(progress=progress))
    emit({"input": str(table), **show.outcome_json(outcome)}, show.demo_lines(table, outcome), as_json=as_json)


@app.command("methods")
def methods(name: Annotated[str | None, typer.Argument(help="A method, to see all of it.")] = None,
            as_json: Json = False) -> None:  # fmt: skip
    """Show what there is: claims, attackers covered and not covered, parameters."""
    from wayveil.run import catalog

    if name is None:
        listed = [catalog.describe(known) for known in catalog.entries("method")]
        emit({"methods": listed}, show.method_list(listed), as_json=as_json)
    else:
        described = catalog.describe(name)
        emit(described, show.method_lines(described), as_json=as_json)


@app.command("run")
def run(
    recipe: Annotated[Path, typer.Argument(help="A recipe in TOML.")],
    overwrite: Overwrite = False,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    memory_limit: MemoryLimit = None,
    as_json: Json = False,
) -> None:
    """Publish what a recipe declares."""
    from wayveil.run.recipe import load_recipe

    loaded = load_recipe(recipe)
    if overwrite:
        loaded = loaded.model_copy(update={"output": loaded.output.model_copy(update={"overwrite": True})})
    if engine is not None:
        loaded = loaded.model_copy(update={"engine": engine})
    _publish(loaded, scheduler, memory_limit, as_json)


@app.command("verify")
def verify(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A published folder.")],
           as_json: Json = False) -> None:  # fmt: skip
    """Judge a published folder again, from its manifest and files alone."""
    from wayveil.run.judging import judge

    judgement = judge(folder)
    emit(judgement.to_json(), show.judgement_lines(judgement), as_json=as_json)
    if not judgement.holds:
        raise typer.Exit(1)


@app.command("compare")
def compare(
    recipe: Annotated[Path, typer.Argument(help="Several settings and one data set, in TOML.")],
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for the result.")] = None,
    max_risk: Annotated[
        float | None, typer.Option("--max-risk", min=0, max=1, help="Recommend a setting with at most this risk.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Try several methods and parameters on one data set: risk against loss, and which to take."""
    from wayveil.cli.show_compare import compare_json, compare_lines
    from wayveil.run.catalog import make_engine
    from wayveil.run.compare import compare as run_compare

    with progress_bar() as progress:
        comparison = run_compare(recipe, out=out, max_risk=max_risk, engine=make_engine(progress=progress))
    emit(compare_json(comparison), compare_lines(comparison), as_json=as_json)
    if all(setting["risk"] is None for setting in comparison.settings):
        raise typer.Exit(1)  # not one setting kept its promise


def _utility(
    spec: Any,
    published: Annotated[Path, typer.Argument(help="A published folder, or a table.")],
    prepare: Prepare = None,
    time_bucket: TimeBucket = None,
    as_json: Json = False,
) -> None:
    """Measure what a publication lost."""
    from wayveil.run import catalog
    from wayveil.run.scores import results_json
    from wayveil.run.single import loss

    with progress_bar() as progress:
        engine = catalog.make_engine(progress=progress)
        scores = loss(spec, published, steps=prepare_steps(time_bucket, prepare), engine=engine)
    emit({"scores": results_json(scores)}, show.score_lines(scores), as_json=as_json)


app.command("utility")(reads_table(_utility))


def _publish(recipe: Any, scheduler: str | None, memory_limit: str | None, as_json: bool) -> None:
    from wayveil.run import sizing
    from wayveil.run.catalog import make_engine
    from wayveil.run.pipeline import NotPublished, publish

    workers = None
    if memory_limit is not None:
        recipe, workers = sizing.within(recipe, sizing.parse_size(memory_limit)), sizing.WORKERS
    name = sizing.choose_engine(recipe, scheduler=scheduler)
    address = None if recipe.engine == "auto" and name == "local" else scheduler
    try:
        with (
            progress_bar() as progress,
            make_engine(name, progress, scheduler=address, workers=workers) as engine,
        ):
            outcome = publish(recipe, engine=engine)
    except NotPublished as refusal:
        if refusal.outcome is None:
            raise
        content = {**show.outcome_json(refusal.outcome), "error": str(refusal), "exit_code": 1}
        emit(content, show.refusal_lines(refusal.outcome), as_json=as_json)
        raise typer.Exit(fail(str(refusal), 1, as_json=False)) from None
    emit(show.outcome_json(outcome), show.outcome_lines(outcome), as_json=as_json)


def _build_publish() -> Any:
    from wayveil.run import catalog

    return group_of(
        (
            (name, f"{cls.summary}.", with_options(_publisher(name), catalog.parameters("method", name)))  # type: ignore[attr-defined]
            for name, cls in catalog.entries("method").items()
        ),
        "Publish a data set with a method; nothing is published unless it is verified.",
    )


def _publisher(method: str) -> Any:
    def publish(
        spec: Any,
        out: OutFolder,
        typed: dict[str, Any],
        prepare: Prepare = None,
        time_bucket: TimeBucket = None,
        keep: Keep = None,
        keep_mapping: KeepMapping = False,
        with_raw: WithRaw = False,
        form: Format = "parquet",
        overwrite: Overwrite = False,
        seed: Seed = None,
        blocks: BlockBy = None,
        block_rows: BlockRows = None,
        engine: EngineName = None,
        scheduler: Scheduler = None,
        memory_limit: MemoryLimit = None,
        as_json: Json = False,
    ) -> None:
        from wayveil.run import catalog
        from wayveil.run.recipe import make_recipe

        output = {"path": out, "format": form, "keep": keep or [], "keep_mapping": keep_mapping, "overwrite": overwrite,
                  "with_raw": with_raw}  # fmt: skip
        if block_rows is not None and blocks is None:
            raise UsageError("--block-rows says how large blocks are; say what they are with --blocks.")
        recipe = make_recipe(
            {
                "input": spec,
                "prepare": prepare_steps(time_bucket, prepare),
                "method": {"name": method, **catalog.parse("method", method, typed)},
                "output": output,
                "seed": seed,
                "engine": engine or "local",
                **(
                    {} if blocks is None else {"blocks": {"by": blocks, **({"rows": block_rows} if block_rows else {})}}
                ),
            }
        )
        _publish(recipe, scheduler, memory_limit, as_json)

    return reads_table(publish)


def _build_risk() -> Any:
    from wayveil.run import catalog

    every = {p.name: p for name in catalog.entries("attack") for p in catalog.parameters("attack", name)}
    return command_of(
        with_options(reads_table(_risk, "A table, or a published folder."), every.values()),
        "Show what an attacker learns from a data set.",
    )


def _risk(
    spec: Any,
    typed: dict[str, Any],
    attack: Annotated[str | None, typer.Option("--attack", help="One attack; all by default.")] = None,
    sensitive: SensitiveValues = None,
    prepare: Prepare = None,
    time_bucket: TimeBucket = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Also write a page with charts: .html.")
    ] = None,
    overwrite: Overwrite = False,
    seed: Seed = None,
    block_rows: BlockRows = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    as_json: Json = False,
) -> None:
    from wayveil.run import catalog
    from wayveil.run.scores import results_json
    from wayveil.run.single import check_file, risk, write_risk_page

    if report is not None:
        check_file(report, overwrite=overwrite, endings=(".html",))

    names = [attack] if attack else list(catalog.entries("attack"))
    given: dict[str, Any] = {}
    for name in names:
        taken = {p.name for p in catalog.parameters("attack", name)}
        given.update(catalog.parse("attack", name, {k: v for k, v in typed.items() if k in taken}))
    name = engine or "local"
    if name == "auto":
        name = "local" if scheduler is None else "dask"
    with progress_bar() as progress, catalog.make_engine(name, progress, scheduler=scheduler) as chosen:
        found = risk(
            spec,
            attack=attack,
            given=given,
            sensitive=catalog.parse_sensitive(sensitive) if sensitive else (),
            steps=prepare_steps(time_bucket, prepare),
            seed=seed,
            engine=chosen,
            rows=block_rows,
        )
    if report is not None:
        write_risk_page(found, spec.path, report, overwrite=overwrite)
    content = {"attacks": results_json(found.results), "notes": list(found.notes)}
    emit(content, show.risk_lines(found), as_json=as_json)


def _build_generate() -> Any:
    from wayveil.run import catalog

    return group_of(
        (
            (name, f"{cls.summary}.", with_options(_generator(name), catalog.parameters("workload", name)))  # type: ignore[attr-defined]
            for name, cls in catalog.entries("workload").items()
        ),
        "Write synthetic data; the same seed gives the same file.",
    )


def _generator(workload: str) -> Any:
    def generate(
        out: OutFile, typed: dict[str, Any], overwrite: Overwrite = False, seed: Seed = None, as_json: Json = False
    ) -> None:
        from wayveil.run import catalog
        from wayveil.run import generate as run_generate

        given = catalog.parse("workload", workload, typed)
        made = run_generate(workload, given, out, seed=seed, overwrite=overwrite)
        emit(show.generated_json(made), show.generated_lines(made), as_json=as_json)

    return generate


def _build_prepare() -> Any:
    from wayveil.run import catalog

    return group_of(
        (
            (name, f"{cls.summary}.", with_options(_preparer(name), catalog.parameters("step", name)))  # type: ignore[attr-defined]
            for name, cls in catalog.entries("step").items()
        ),
        "Run one preparation step on its own.",
    )


def _preparer(step: str) -> Any:
    def prepare(
        spec: Any,
        out: OutFile,
        typed: dict[str, Any],
        attributes: Annotated[
            str | None, typer.Option("--attributes", metavar="NAME,...", help="Attributes to take; all by default.")
        ] = None,
        overwrite: Overwrite = False,
        as_json: Json = False,
    ) -> None:
        from wayveil.run import catalog, prepare_table

        configured = catalog.build("step", step, catalog.parse("step", step, typed))
        taken = None if attributes is None else tuple(name for name in attributes.split(",") if name)
        prepared = prepare_table(spec, configured, out, attributes=taken, overwrite=overwrite)
        emit(show.prepared_json(out, prepared), show.prepared_lines(out, prepared), as_json=as_json)

    return reads_table(prepare)


@app.command("serve")
def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="Listen on this address instead of loopback; needs --token.")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="A free port by default.")] = 0,
    token: Annotated[
        str | None, typer.Option("--token", help="What every request must bring; fresh and secret by default.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Folder for uploads and runs; private to you.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="How many runs at a time.")] = 1,
    max_upload: Annotated[str, typer.Option("--max-upload", metavar="SIZE", help="Largest file, as in 2GB.")] = "2GB",
    as_json: Json = False,
) -> None:
    """Open Wayveil in a browser, on this machine only."""
    from wayveil.run.sizing import parse_size
    from wayveil.web import serve as run_server

    def told(link: str) -> None:
        lines = (f"Open {link}", "The link is a key: keep it to yourself. Ctrl-C ends the server; runs are kept.")
        emit({"link": link}, lines, as_json=as_json)

    run_server(told=told, host=host, port=port, token=token, data=data, jobs=jobs, max_upload=parse_size(max_upload))


def _register(name: str, build: Any, help: str) -> None:
    def placeholder() -> None:
        """Replaced by what `build` returns."""

    app.command(name, cls=lazy(build), help=help)(placeholder)


_register("publish", _build_publish, "Publish a data set with a method, verified.")
_register("risk", _build_risk, "Show what an attacker learns from a data set, raw or published.")
_register("generate", _build_generate, "Write synthetic data with a seed.")
_register("prepare", _build_prepare, "Run one preparation step on its own.")
app.registered_commands.sort(key=lambda command: _ORDER.index(command.name or ""))


def _unexpected(error: Exception) -> str:
    """Say where it happened, never what was in it: the text of an exception may hold values of the data."""
    package = Path(__file__).parent.parent
    frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename).is_relative_to(package)]
    where = f" at {Path(frames[-1].filename).relative_to(package)}:{frames[-1].lineno}" if frames else ""
    return f"unexpected {type(error).__name__}{where}; this is a bug in Wayveil, please report it."
