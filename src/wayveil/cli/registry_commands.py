"""The commands whose options come from the registries: publish, risk, generate and prepare.

What is registered is imported only when one of them is called, or asked for help.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from wayveil.cli import show
from wayveil.cli.generated import command_of, group_of, with_options
from wayveil.cli.options import (
    BlockBy,
    BlockRows,
    EngineName,
    Format,
    InsecureScheduler,
    Json,
    Keep,
    KeepMapping,
    MaxRisk,
    Measure,
    MemoryLimit,
    NoResume,
    OutFile,
    OutFolder,
    Overwrite,
    Pdf,
    Prepare,
    Scheduler,
    SecretFile,
    Seed,
    SensitiveValues,
    SignKey,
    TimeBucket,
    UseFor,
    Verbose,
    WithRaw,
    prepare_steps,
    read_limit,
    reads_table,
)
from wayveil.cli.terminal import emit, fail, progress_bar
from wayveil.errors import UsageError

__all__ = ["build_generate", "build_prepare", "build_publish", "build_risk", "publish_recipe"]


def build_publish() -> Any:
    """Return the group of methods, each with its own parameters as options."""
    return _group("method", _publisher, "Publish a data set with a method; nothing is published unless it is verified.")


def _publisher(method: str) -> Any:
    def publish(
        spec: Any,
        out: OutFolder,
        typed: dict[str, Any],
        prepare: Prepare = None,
        time_bucket: TimeBucket = None,
        max_risk: MaxRisk = None,
        use: UseFor = None,
        measure: Measure = None,
        keep: Keep = None,
        keep_mapping: KeepMapping = False,
        with_raw: WithRaw = False,
        pdf: Pdf = False,
        form: Format = "parquet",
        overwrite: Overwrite = False,
        seed: Seed = None,
        secret: SecretFile = None,
        sign_key: SignKey = None,
        blocks: BlockBy = None,
        block_rows: BlockRows = None,
        engine: EngineName = None,
        scheduler: Scheduler = None,
        insecure: InsecureScheduler = False,
        memory_limit: MemoryLimit = None,
        no_resume: NoResume = False,
        verbose: Verbose = False,
        as_json: Json = False,
    ) -> None:
        from wayveil.recipe import catalog
        from wayveil.recipe.recipe import make_recipe

        output = {"path": out, "format": form, "keep": keep or [], "keep_mapping": keep_mapping, "overwrite": overwrite,
                  "with_raw": with_raw, "sign_key": sign_key}  # fmt: skip
        if block_rows is not None and blocks is None:
            raise UsageError("--block-rows says how large blocks are; say what they are with --blocks.")
        # The same object that a recipe file gives: from here on there is one code path.
        recipe = make_recipe(
            {
                "input": spec,
                "prepare": prepare_steps(time_bucket, prepare),
                "method": {"name": method, **catalog.parse("method", method, typed)},
                "output": output,
                "max_risk": max_risk,
                "use": use,
                "measure": measure or "quick",
                "seed": seed,
                "engine": engine or "local",
                **(
                    {} if blocks is None else {"blocks": {"by": blocks, **({"rows": block_rows} if block_rows else {})}}
                ),
            }
        )
        publish_recipe(
            recipe,
            scheduler,
            memory_limit,
            as_json,
            secret=secret,
            insecure=insecure,
            verbose=verbose,
            pdf=pdf,
            resume=not no_resume,
        )

    return reads_table(publish)


def publish_recipe(
    recipe: Any,
    scheduler: str | None,
    memory_limit: str | None,
    as_json: bool,
    *,
    secret: Path | None = None,
    insecure: bool = False,
    verbose: bool = False,
    pdf: bool = False,
    resume: bool = True,
) -> None:
    """Publish what a recipe says, and show what came of it, also where the promise was not kept."""
    from wayveil.pipeline.blocks import memory
    from wayveil.pipeline.folder.secret import Secret
    from wayveil.pipeline.publish import NotPublished, publish
    from wayveil.recipe.catalog import make_engine
    from wayveil.report.paper import find_browser, print_report

    # Whatever can fail early fails before hours of work: a missing browser, a secret that is none.
    if pdf:
        find_browser()  # before anything is read
    key = None if secret is None else Secret.read(secret)
    workers = None
    if memory_limit is not None:
        recipe = memory.fit_to_memory(recipe, memory.parse_size(memory_limit))
        workers = memory.WORKERS
    # `auto` takes a cluster only if there is one and the data are worth it; then its address is not used here.
    name = memory.choose_engine(recipe, scheduler=scheduler)
    address = None if recipe.engine == "auto" and name == "local" else scheduler
    try:
        with (
            progress_bar() as progress,
            make_engine(name, progress, scheduler=address, workers=workers, insecure=insecure) as engine,
        ):
            outcome = publish(recipe, engine=engine, secret=key, resume=resume)
    # A verdict that failed is a result as well: its numbers and its report are shown, and the exit code is 1.
    except NotPublished as refusal:
        if refusal.outcome is None:
            raise
        if pdf:
            print_report(refusal.outcome.report)
        content = {**show.outcome_json(refusal.outcome), "error": str(refusal), "exit_code": 1}
        emit(content, show.refusal_lines(refusal.outcome), as_json=as_json)
        raise typer.Exit(fail(str(refusal), 1, as_json=False)) from None
    if pdf:
        print_report(outcome.report)
    emit(show.outcome_json(outcome), show.outcome_lines(outcome, verbose=verbose), as_json=as_json)


def build_risk() -> Any:
    """Return the command with the parameters of all attacks as options."""
    from wayveil.recipe import catalog

    # One option per parameter name: attacks that share a name share its meaning.
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
    max_risk: MaxRisk = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Also write a page with charts: .html.")
    ] = None,
    overwrite: Overwrite = False,
    seed: Seed = None,
    block_rows: BlockRows = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    insecure: InsecureScheduler = False,
    as_json: Json = False,
) -> None:
    from wayveil.commands.risk import risk, write_risk_page
    from wayveil.commands.table_files import check_file
    from wayveil.recipe import catalog
    from wayveil.report.results_json import results_json

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
    with (
        progress_bar() as progress,
        catalog.make_engine(name, progress, scheduler=scheduler, insecure=insecure) as chosen,
    ):
        results = risk(
            spec,
            attack=attack,
            given=given,
            sensitive=catalog.parse_sensitive(sensitive) if sensitive else (),
            steps=prepare_steps(time_bucket, prepare),
            seed=seed,
            engine=chosen,
            rows=block_rows,
            limit=read_limit(max_risk),
        )
    if report is not None:
        write_risk_page(results, spec.path, report, overwrite=overwrite)
    content = {"attacks": results_json(results.results), "notes": list(results.notes)}
    emit(content, show.risk_lines(results), as_json=as_json)


def build_generate() -> Any:
    """Return the group of workloads, each with its own parameters as options."""
    return _group("workload", _generator, "Write synthetic data; the same seed gives the same file.")


def _generator(workload: str) -> Any:
    def generate(
        out: OutFile, typed: dict[str, Any], overwrite: Overwrite = False, seed: Seed = None, as_json: Json = False
    ) -> None:
        from wayveil.commands.generate import generate as run_generate
        from wayveil.recipe import catalog

        given = catalog.parse("workload", workload, typed)
        generated = run_generate(workload, given, out, seed=seed, overwrite=overwrite)
        emit(show.generated_json(generated), show.generated_lines(generated), as_json=as_json)

    return generate


def build_prepare() -> Any:
    """Return the group of preparation steps, each with its own parameters as options."""
    return _group("step", _preparer, "Run one preparation step on its own.")


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
        from wayveil.commands.prepare_table import prepare_table
        from wayveil.recipe import catalog

        configured = catalog.build("step", step, catalog.parse("step", step, typed))
        taken = None if attributes is None else tuple(name for name in attributes.split(",") if name)
        prepared = prepare_table(spec, configured, out, attributes=taken, overwrite=overwrite)
        emit(show.prepared_json(out, prepared), show.prepared_lines(out, prepared), as_json=as_json)

    return reads_table(prepare)


def _group(family: Any, make: Callable[[str], Any], help: str) -> Any:
    """Return a group with a command for each of a family: what `make` returns for its name, with its parameters."""
    from wayveil.recipe import catalog

    return group_of(
        (
            (name, f"{cls.summary}.", with_options(make(name), catalog.parameters(family, name)))  # type: ignore[attr-defined]
            for name, cls in catalog.entries(family).items()
        ),
        help,
    )
