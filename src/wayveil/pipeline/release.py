"""The end of every run: manifest, report and private files, and the one step that makes them public."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from wayveil.errors import OutputError
from wayveil.model import AttackResult, Engine, Score, Verdict, parameters_of, plain
from wayveil.pipeline.folder.manifest import Described, Manifest, make_manifest, readme_of, versions
from wayveil.pipeline.folder.secret import SECRET_FILE, Secret
from wayveil.pipeline.folder.signing import SIGNATURE, load_signer
from wayveil.pipeline.folder.staging import MANIFEST, RECIPE_FILE, Workspace, reporting_disk_errors
from wayveil.pipeline.outcome import NotPublished, Outcome
from wayveil.pipeline.remaining import Remaining, stages_of_balance
from wayveil.recipe import catalog
from wayveil.recipe.defaults import sensitive_of
from wayveil.recipe.measuring import DRAWN
from wayveil.recipe.recipe import Recipe
from wayveil.recipe.toml import recipe_text
from wayveil.report.attack_section import risk_rows
from wayveil.report.readme_page import README
from wayveil.report.report import ReportContext, key_numbers, render_report, use_questions
from wayveil.report.results_json import RESULTS_FILE, charts_json, results_json, to_text, verdict_json
from wayveil.report.results_schema import VERSION
from wayveil.report.text import summary
from wayveil.report.views.pictures import Pictures

__all__ = ["Clock", "Run", "finish", "join_hashes"]


@dataclass(kw_only=True)
class Clock:
    """Times the steps and tells the engine's progress about them.

    `usage` has the processor time of this process in each step, and the most memory that it had until its end.
    """

    engine: Engine
    seconds: dict[str, float] = field(default_factory=dict)
    usage: dict[str, dict[str, float]] = field(default_factory=dict)

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        self.engine.progress(step)
        began = time.perf_counter()
        worked = time.process_time()
        # If the step fails, its time is not recorded: the exception tells more.
        yield
        self.seconds[step] = time.perf_counter() - began
        # Linux counts in kilobytes, macOS in bytes.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.usage[step] = {
            "cpu_s": round(time.process_time() - worked, 3),
            "peak_mb": round(peak / (1 << 20 if sys.platform == "darwin" else 1 << 10), 1),
        }


@dataclass(frozen=True, kw_only=True)
class Compared:
    """What the yardstick of a comparison measured: its attack on the raw and the published data, and its metric."""

    attack: tuple[AttackResult, AttackResult]
    score: Score


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that is known when the verdict is in; `shown` are the scores with the charts that may be drawn.

    `hashes` are those of the files that were judged, by name.
    """

    recipe: Recipe
    seed: int
    secret: Secret
    verdict: Verdict
    attacks: tuple[tuple[AttackResult, AttackResult], ...]
    scores: tuple[Score, ...]
    shown: tuple[Score, ...]
    timings: Mapping[str, float]
    notes: tuple[str, ...]
    counted: str
    input_facts: Mapping[str, str]
    output_facts: Mapping[str, str]
    balance: Mapping[str, Mapping[str, int | None]]
    pictures: Pictures
    table: Described
    hashes: Mapping[str, str]
    mapping: str | None = None
    remaining: Remaining = field(default_factory=Remaining)
    usage: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    sampled_attacks: tuple[str, ...] = ()
    missing_attacks: tuple[str, ...] = ()
    missing_metrics: tuple[str, ...] = ()
    compared: Compared | None = None


def finish(space: Workspace, run: Run) -> Outcome:
    """Publish what was staged if the verdict holds, and raise NotPublished otherwise; the report is written anyway."""
    recipe = run.recipe
    verdict = run.verdict
    # The order below is the promise of this file: manifest, check of the bytes, signature; then the report; then the
    # one step that makes the folder public.  Whatever fails on the way leaves the old public folder.
    unprotected = summary.unprotected(recipe.output.keep, sensitive_of(recipe))
    sha256 = None
    declared = recipe.input.each_trajectory or run.table.owners == "declared"
    promise = verdict.claim.statement("declared" if declared else "given")
    if verdict.holds:
        with reporting_disk_errors(recipe.output.path):
            manifest = make_manifest(
                space.staged, method=recipe.method, verdict=verdict, table=run.table, each_trajectory=declared
            )
            # Files were hashed when they were judged. Between that and here another process could have written: what is
            # published must have the very bytes of the verdict.
            _check_bytes(manifest, run.hashes)
            content = manifest.to_bytes()
            (space.staged / MANIFEST).write_bytes(content)
            (space.staged / README).write_bytes(readme_of(manifest))
            if recipe.output.sign_key is not None:
                (space.staged / SIGNATURE).write_bytes(load_signer(recipe.output.sign_key).sign(content))
        sha256 = summary.sha256(content)
    # What a program gets, whether something was published or not; the report is made from it.
    outcome = Outcome(
        public=space.public if verdict.holds else None,
        private=space.private,
        verdict=verdict,
        promise=promise,
        attacks=run.attacks,
        scores=run.scores,
        notes=(
            *_missing_note(run),
            *run.notes,
            *summary.prepare_notes(recipe.prepare),
            *(f"The attribute {name!r} is published as it is; the promise does not cover it." for name in unprotected),
        ),
        counted=run.counted,
        output_facts=run.output_facts,
        timings=dict(run.timings),
        manifest_sha256=sha256,
        remaining=_remaining(run),
        max_risk=None if recipe.max_risk is None else float(recipe.max_risk),
        use=recipe.use,
        sampled_attacks=run.sampled_attacks,
        missing_attacks=run.missing_attacks,
    )
    private = _private_files(run, outcome)
    # Both ends leave a report: in `private` beside the publication, or alone, with the reason.
    if verdict.holds:
        space.publish(private)
        return outcome
    folder = space.refuse(private)
    raise NotPublished(
        f"Nothing was published: {verdict.reason} The report is in {str(folder)!r}.",
        replace(outcome, private=folder),
    )


def _missing_note(run: Run) -> list[str]:
    """Say what was not measured, and how to make up for it."""
    notes = []
    if run.sampled_attacks:
        notes.append(
            f"Played on {DRAWN} people who were drawn, because there are many rows: attacks "
            f"{', '.join(run.sampled_attacks)}. wayveil measure DIR attacks more people."
        )
    missing = [
        f"{'attacks' if kind == 'attack' else 'metrics'} {', '.join(names)}"
        for kind, names in (("attack", run.missing_attacks), ("metric", run.missing_metrics))
        if names
    ]
    if missing:
        notes.append(f"Not measured: {'; '.join(missing)}. wayveil measure DIR does so for a finished publication.")
    return notes


def _check_bytes(manifest: Manifest, judged: Mapping[str, str]) -> None:
    """Refuse files that are not those that were judged: tasks write them, and one may come late, or twice."""
    # Not only other hashes are refused, but also a file too many or too few.
    if {name: facts.sha256 for name, facts in manifest.files.items()} != dict(judged):
        raise _changed()


def join_hashes(parts: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the hashes of all parts; a file that two of them share was the same for both."""
    joined: dict[str, str] = {}
    for name, sha256 in (item for part in parts for item in part.items()):
        if joined.setdefault(name, sha256) != sha256:
            raise _changed()
    return joined


def _changed() -> OutputError:
    return OutputError(
        "A file changed between its verdict and its publication, so nothing was published; start again, and see that "
        "nothing else writes to the output folder."
    )


def _remaining(run: Run) -> Remaining:
    """Return what is left; where only the method was counted, what that left."""
    if run.remaining.stages:
        return run.remaining
    return replace(run.remaining, stages=stages_of_balance(run.recipe.method.name, run.balance))


def _private_files(run: Run, outcome: Outcome) -> dict[str, str]:
    created = datetime.now(UTC).isoformat(timespec="seconds")
    context = _report_context(run, outcome, created)
    return {
        "report.html": render_report(context),
        RESULTS_FILE: to_text(_results(run, outcome, context)),
        "log.txt": summary.log_text(created, outcome.timings, outcome.notes, run.verdict),
        "seed.txt": f"{run.seed}\n",
        SECRET_FILE: run.secret.text,
        RECIPE_FILE: recipe_text(_repeating(run)),
        **({} if run.mapping is None else {"mapping.csv": run.mapping}),
    }


def _results(run: Run, outcome: Outcome, context: ReportContext) -> dict[str, Any]:
    """Return everything that was measured: see `report.results_schema`, which tests hold it against."""
    return {
        "version": VERSION,
        "created": context.created,
        "title": context.title,
        "marks": key_numbers(context),
        "questions": use_questions(context),
        "manifest_sha256": outcome.manifest_sha256,
        "counted": outcome.counted,
        "method": run.recipe.method.name,
        "parameters": catalog.plain_parameters(run.recipe.method),
        "promise": outcome.promise,
        "head": outcome.head.to_json(),
        "verdict": verdict_json(run.verdict, witness=True),
        "attacks": _pairs_json(run.attacks),
        "risks": risk_rows(run.attacks),
        "scores": results_json(run.shown),
        "views": charts_json(run.pictures.views),
        "maps": [one.model_dump(mode="json") for one in run.pictures.maps],
        "flow": outcome.remaining.to_json()["stages"],
        "input_facts": dict(run.input_facts),
        "output_facts": dict(outcome.output_facts),
        "balance": run.balance,
        "timings_s": dict(outcome.timings),
        "usage": {step: dict(used) for step, used in run.usage.items()},
        "total_s": sum(outcome.timings.values()),
        "versions": versions(),
        "notes": list(outcome.notes),
        **({} if run.compared is None else {"compared_by": _compared_json(run.compared)}),
    }


def _pairs_json(attacks: tuple[tuple[AttackResult, AttackResult], ...]) -> list[dict[str, Any]]:
    raw, published = (results_json(tuple(pair[side] for pair in attacks)) for side in (0, 1))
    return [{"raw": before, "published": after} for before, after in zip(raw, published, strict=True)]


def _compared_json(compared: Compared) -> dict[str, Any]:
    """Return what a comparison needs: numbers only, as nobody looked whether its charts may be shown."""
    pair = tuple(replace(result, charts=()) for result in compared.attack)
    score = replace(compared.score, charts=())
    return {"attack": _pairs_json(((pair[0], pair[1]),))[0], "score": results_json((score,))[0]}


def _repeating(run: Run) -> Recipe:
    """Return the recipe as it can be run again from anywhere: with its seed, and with whole paths."""
    # Relative paths would mean something else from another folder.
    here = Path.cwd()
    return run.recipe.model_copy(
        update={"seed": run.seed, "input": run.recipe.input.below(here), "output": run.recipe.output.below(here)}
    )


def _title(run: Run) -> str:
    return run.recipe.title or f"Publication of {run.recipe.input.path.name}"


def _report_context(run: Run, outcome: Outcome, created: str) -> ReportContext:
    method: Any = run.recipe.method
    return ReportContext(
        title=_title(run),
        method_name=method.name,
        method_summary=method.summary,
        parameters=tuple(
            (p.name, summary.value_text(plain(getattr(method, p.name))), p.help) for p in parameters_of(type(method))
        ),
        claim=run.verdict.claim,
        promise=outcome.promise,
        verdict=run.verdict,
        counted=outcome.counted,
        notes=outcome.notes,
        input_facts=run.input_facts,
        output_facts=outcome.output_facts,
        attacks=outcome.attacks,
        scores=run.shown,
        timings=outcome.timings,
        versions=versions(),
        created=created,
        published_ok=run.verdict.holds,
        head=outcome.head,
        manifest_sha256=outcome.manifest_sha256,
        pictures=run.pictures,
        balance=run.balance,
        flow=tuple(outcome.remaining.to_json()["stages"]),
        recipe=recipe_text(run.recipe, seed=False, names_only=True),
    )
