"""The commands of ``wayveil``; see ``docs/commands.md``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from wayveil.cli import show, show_inspect
from wayveil.cli.generated import lazy
from wayveil.cli.mistakes import explain
from wayveil.cli.options import (
    EngineName,
    InsecureScheduler,
    Json,
    MaxRisk,
    Measure,
    MemoryLimit,
    NoResume,
    Overwrite,
    Pdf,
    Prepare,
    Scheduler,
    SecretFile,
    SignKey,
    TimeBucket,
    Verbose,
    named_path,
    prepare_steps,
    read_limit,
    reads_table,
)
from wayveil.cli.registry_commands import build_generate, build_prepare, build_publish, build_risk, publish_recipe
from wayveil.cli.signals import Stopped, stopping_gently
from wayveil.cli.terminal import emit, fail, harmless, progress_bar
from wayveil.errors import WayveilError, describe_bug

__all__ = ["app", "main"]

app = typer.Typer(
    name="wayveil",
    help="Publish movement data without publishing people.",
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
)

_ORDER = (
    *(
        "demo",
        "inspect",
        "advise",
        "methods",
        "publish",
        "run",
        "verify",
        "measure",
        "keygen",
        "risk",
        "utility",
        "compare",
        "generate",
        "prepare",
    ),
    "warm",
    "serve",
)
_CLICK_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")
"""Newer typer brings its own copy of click, older typer uses the package: both have this class."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 the verdict failed, 2 bad usage or bad input.

    A command that a signal ends has 128 and the number of the signal: 130 after Ctrl-C, 143 after SIGTERM, 129 after
    SIGHUP.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    # Every way in which a command can end, from what is planned to what should never happen; each becomes one sentence
    # and an exit code, and none a traceback.
    try:
        with stopping_gently():
            code = app(arguments, prog_name="wayveil", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except Stopped as stop:
        with suppress(OSError):  # the terminal may be gone
            fail(f"stopped by {stop.name}.", stop.exit_code, as_json=as_json)
        return stop.exit_code
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
        bug = describe_bug(error)
        return fail(f"{bug[:1].lower()}{bug[1:]}", 2, as_json=as_json)


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
def demo(out: Annotated[Path, typer.Option("--out", metavar="DIR", parser=named_path,
                                           help="Folder to write to.")] = Path("wayveil-demo"),
         as_json: Json = False) -> None:  # fmt: skip
    """Publish generated data, and say where the report is."""
    from wayveil.commands.demo import demo as run_demo
    from wayveil.recipe.catalog import make_engine

    with progress_bar() as progress:
        table, outcome = run_demo(out, engine=make_engine(progress=progress))
    emit({"input": str(table), **show.outcome_json(outcome)}, show.demo_lines(table, outcome), as_json=as_json)


@app.command("methods")
def methods(name: Annotated[str | None, typer.Argument(help="A method, to see everything about it.")] = None,
            as_json: Json = False) -> None:  # fmt: skip
    """List the methods, or show one: its promise, whom it stops and whom not, its parameters."""
    from wayveil.recipe import catalog

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
    insecure: InsecureScheduler = False,
    memory_limit: MemoryLimit = None,
    secret: SecretFile = None,
    sign_key: SignKey = None,
    pdf: Pdf = False,
    measure: Measure = None,
    no_resume: NoResume = False,
    verbose: Verbose = False,
    as_json: Json = False,
) -> None:
    """Publish what a recipe declares."""
    from wayveil.recipe.recipe import load_recipe

    loaded = load_recipe(recipe)
    # What is said on the command line wins over the recipe; everything else stays as the recipe has it.
    changes: dict[str, Any] = {"overwrite": True} if overwrite else {}
    changes |= {} if sign_key is None else {"sign_key": sign_key}
    if changes:
        loaded = loaded.model_copy(update={"output": loaded.output.model_copy(update=changes)})
    if engine is not None:
        loaded = loaded.model_copy(update={"engine": engine})
    if measure is not None:
        loaded = loaded.model_copy(update={"measure": measure})
    publish_recipe(
        loaded,
        scheduler,
        memory_limit,
        as_json,
        secret=secret,
        insecure=insecure,
        verbose=verbose,
        pdf=pdf,
        resume=not no_resume,
    )


@app.command("verify")
def verify(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A published folder.")],
           original: Annotated[Path | None, typer.Option(
               "--original", metavar="FILE", help="The original table: publish it again and compare.")] = None,
           recipe: Annotated[Path | None, typer.Option(
               "--recipe", metavar="FILE", help="With --original: the recipe; private/recipe.toml by default.")] = None,
           secret: SecretFile = None,
           public_key: Annotated[Path | None, typer.Option(
               "--public-key", metavar="FILE", help="The publisher's key: fail unless it signed the manifest.")] = None,
           work_limit: Annotated[int | None, typer.Option(
               "--work-limit", metavar="STEPS", min=1,
               help="Stop judging the files after this many steps of about a nanosecond; by default as many as their "
                    "size justifies.")] = None,
           by_definition: Annotated[bool, typer.Option(
               "--by-definition", help="Judge small data also by the claim's definition, a short program that tries "
                                       "everything; fail where it and the verifier disagree.")] = False,
           as_json: Json = False) -> None:  # fmt: skip
    """Judge a published folder again: it holds (exit code 0), fails (1), or cannot be judged from these files (3)."""
    from wayveil.pipeline.folder.verify_folder import verify_folder

    judgement = verify_folder(
        folder,
        original=original,
        recipe=recipe,
        secret=secret,
        public_key=public_key,
        work_limit=work_limit,
        by_definition=by_definition,
    )
    emit(judgement.to_json(), show.judgement_lines(judgement), as_json=as_json)
    if judgement.exit_code:
        raise typer.Exit(judgement.exit_code)


@app.command("measure")
def measure(folder: Annotated[Path, typer.Argument(metavar="DIR", help="A published folder, with its private one.")],
            verbose: Verbose = False, as_json: Json = False) -> None:  # fmt: skip
    """Run the attacks and metrics that were left out of a finished publication, and write its report anew."""
    from wayveil.pipeline.folder.measure_folder import measure_folder
    from wayveil.recipe.catalog import make_engine

    with progress_bar() as progress:
        outcome = measure_folder(folder, engine=make_engine(progress=progress))
    emit(show.outcome_json(outcome), show.outcome_lines(outcome, verbose=verbose), as_json=as_json)


@app.command("keygen")
def keygen(file: Annotated[Path, typer.Argument(metavar="FILE", parser=named_path, help="Where the private key goes.")],
           as_json: Json = False) -> None:  # fmt: skip
    """Make a key to sign manifests with, and the public key FILE.pub to hand out."""
    from wayveil.pipeline.folder.signing import make_keys

    public = make_keys(file)
    lines = (f"Private key: {file} (stays with you)", f"Public key: {public} (hand it out, not with the data)")
    emit({"private_key": str(file), "public_key": str(public)}, lines, as_json=as_json)


@app.command("compare")
def compare(
    recipe: Annotated[Path, typer.Argument(help="Several settings and one data set, in TOML.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", parser=named_path, help="Folder for the result.")
    ] = None,
    max_risk: MaxRisk = None,
    as_json: Json = False,
) -> None:
    """Try several methods and parameters on one data set: risk against loss, and which to take."""
    from wayveil.cli.show_compare import compare_json, compare_lines
    from wayveil.comparison.compare import compare as run_compare
    from wayveil.recipe.catalog import make_engine

    with progress_bar() as progress:
        comparison = run_compare(recipe, out=out, max_risk=read_limit(max_risk), engine=make_engine(progress=progress))
    emit(compare_json(comparison), compare_lines(comparison), as_json=as_json)
    # Settings that failed have no risk; only if all of them did is it a failure.
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
    from wayveil.commands.loss import loss
    from wayveil.recipe import catalog
    from wayveil.report.results_json import results_json

    with progress_bar() as progress:
        engine = catalog.make_engine(progress=progress)
        scores = loss(spec, published, steps=prepare_steps(time_bucket, prepare), engine=engine)
    emit({"scores": results_json(scores)}, show.score_lines(scores), as_json=as_json)


app.command("utility")(reads_table(_utility))


def _inspect(
    spec: Any,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", metavar="FILE", parser=named_path, help="Write a recipe that wayveil run takes: .toml."
        ),
    ] = None,
    overwrite: Overwrite = False,
    show_values: Annotated[bool, typer.Option("--show-values", help="Also show some values of each column.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a file is, ask what only you can know, and write a recipe for it."""
    from wayveil.commands.inspect import answer_question, choose_settings, inspect_file, write_recipe
    from wayveil.commands.table_files import check_file

    if write is not None:
        check_file(write, overwrite=overwrite, endings=(".toml",))
    seen = inspect_file(spec, values=show_values)
    # Questions are only asked where somebody can answer: two terminals, and a recipe to write.
    asks = write is not None and not as_json and sys.stdin.isatty() and sys.stdout.isatty()
    # One question at a time: an answer may answer others, or raise new ones.
    while seen.questions and asks:
        question = seen.questions[0]
        typer.echo(question.text)
        for number, answer in enumerate(question.answers, 1):
            typer.echo(f"  {number}  {answer.words}")
        chosen = 0
        while not 1 <= chosen <= len(question.answers):
            chosen = typer.prompt("Which", type=int)
        spec = answer_question(spec, question.answers[chosen - 1])
        seen = inspect_file(spec, values=show_values)
    if write is not None and seen.content is not None:
        watched = not as_json and sys.stderr.isatty()
        seen = choose_settings(seen, lambda line: typer.echo(f"try {line}", err=True) if watched else None)
        write_recipe(seen, write, overwrite=overwrite)
    lines = [*show_inspect.inspection_lines(seen)]
    if seen.content is not None:
        lines.append(
            "  next        wayveil inspect ... --write recipe.toml"
            if write is None
            else f"  next        wayveil run {write}, or first wayveil advise {write}: settings that leave more"
        )
    # Without --write, open questions are information; with it, no recipe can be written, which is an error.
    if seen.questions or seen.refusal:
        sentence = seen.refusal or seen.question_sentence()
        content = {**seen.to_json(), **({"error": sentence, "exit_code": 2} if write is not None else {})}
        emit(content, lines, as_json=as_json)
        if write is not None:
            raise typer.Exit(fail(sentence, 2, as_json=False))
        return
    emit(seen.to_json(), lines, as_json=as_json)


app.command("inspect")(reads_table(_inspect, "Any file with movement data, or - for standard input."))


@app.command("warm")
def warm(methods: Annotated[list[str] | None, typer.Argument(metavar="METHOD...", help="All by default.")] = None,
         jobs: Annotated[int | None, typer.Option(
             "--jobs", min=1, help="Processes at a time; as many as there are cores by default.")] = None,
         as_json: Json = False) -> None:  # fmt: skip
    """Compile ahead of time what publications need, as for a container image."""
    from wayveil.commands.rehearsal import rehearse_all

    done: list[str] = []
    with progress_bar() as progress:
        for name in rehearse_all(methods or (), jobs=jobs):
            done.append(name)
            if progress is not None:
                progress(f"compiled for {', '.join(done)}")
    emit({"methods": done}, (f"Compiled and ready: {', '.join(done)}",), as_json=as_json)


@app.command("advise")
def advise(
    recipe: Annotated[Path, typer.Argument(help="A recipe in TOML, as inspect writes it.")],
    use: Annotated[
        Literal["flows", "hours", "lengths", "routes", "patterns", "points"] | None,
        typer.Option("--use", help="What the data are for; by default the worst of flows, hours and lengths."),
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option(
            "--resolution", metavar="METRES,MINUTES",
            help="Resolution of the measured loss, as in 500m,60min; by default about 1/40 of the area, and an hour.",
        ),
    ] = None,
    max_risk: Annotated[
        float | None,
        typer.Option("--max-risk", min=0, max=1, help="Largest mean risk of the worst attacker; by default 1/k."),
    ] = None,
    budget: Annotated[float, typer.Option("--budget", metavar="MINUTES", help="How long to search.")] = 5.0,
    write: Annotated[
        Path | None,
        typer.Option("--write", metavar="FILE", parser=named_path, help="Write the recipe to take: .toml."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Search preparation, method and parameters: the frontier of risk and loss, and the recipe to take."""
    from wayveil.advice import advise as run_advise
    from wayveil.cli.show_advice import advice_lines
    from wayveil.commands.table_files import check_file, write_file

    if write is not None:
        check_file(write, overwrite=overwrite, endings=(".toml",))
    watched = sys.stderr.isatty()

    def tell(line: str, done: int, total: int) -> None:
        if watched:
            typer.echo(f"{done:>4} of {total}  {harmless(line)}", err=True)

    recommendation = run_advise(
        recipe, use=use, resolution=resolution, max_risk=max_risk, budget_minutes=budget, progress=tell
    )
    if recommendation.recommended is not None and write is not None:
        text = recommendation.recipe_text(write.parent)
        write_file(write, lambda path: path.write_text(text, encoding="utf-8"))
    refused = {} if recommendation.recommended is not None else {"error": recommendation.reason, "exit_code": 2}
    emit({**recommendation.to_json(), **refused}, advice_lines(recommendation, write), as_json=as_json)
    if recommendation.recommended is None:
        raise typer.Exit(fail(recommendation.reason, 2, as_json=False))


@app.command("serve")
def serve(
    host: Annotated[
        str | None, typer.Option("--host", help="Listen on this address instead of loopback; needs a token.")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="A free port by default.")] = 0,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="File with the token that every request must carry, like WAYVEIL_TOKEN; fresh and secret by default.",
        ),
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Folder for uploads and runs; private to you.")
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Number of runs at a time.")] = 1,
    max_upload: Annotated[str, typer.Option("--max-upload", metavar="SIZE", help="Largest file, as in 2GB.")] = "2GB",
    as_json: Json = False,
) -> None:
    """Open Wayveil in a browser, on this machine only."""
    from wayveil.pipeline.blocks.memory import parse_size
    from wayveil.web import read_token
    from wayveil.web import serve as run_server

    def print_link(link: str) -> None:
        lines = (f"Open {link}", "The link is a key: keep it to yourself. Ctrl-C ends the server; runs are kept.")
        emit({"link": link}, lines, as_json=as_json)

    token = read_token(token_file)
    largest = parse_size(max_upload)
    run_server(on_ready=print_link, host=host, port=port, token=token, data=data, jobs=jobs, max_upload=largest)


# The real command is built from the registries when it is called or asked for help: importing all methods would make
# `wayveil --help` slow.
def _register(name: str, build: Any, help: str) -> None:
    def placeholder() -> None:
        """Replaced by what `build` returns."""

    app.command(name, cls=lazy(build), help=help)(placeholder)


_register("publish", build_publish, "Publish a data set with a method, verified.")
_register("risk", build_risk, "Show what an attacker learns from a data set, raw or published.")
_register("generate", build_generate, "Write synthetic data with a seed.")
_register("prepare", build_prepare, "Run one preparation step on its own.")
app.registered_commands.sort(key=lambda command: _ORDER.index(command.name or ""))
