"""The straight line: read, prepare, run the method, write, read back, judge, and only then publish."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from wayveil.engines import LocalEngine
from wayveil.errors import OutputError, VerdictFailed
from wayveil.io import Loaded, read_published, read_published_taxonomy, write_published, write_taxonomy
from wayveil.model import (
    Attack,
    AttackResult,
    Chart,
    Data,
    Engine,
    Frame,
    Metric,
    Published,
    Score,
    Sensitive,
    Stops,
    Verdict,
    Visits,
    parameters_of,
    plain,
)
from wayveil.model.ragged import IntArray
from wayveil.run import catalog, facts
from wayveil.run.drawing import Drawing, drawings
from wayveil.run.manifest import boxes_name, make_manifest, published_name, taxonomy_name, versions
from wayveil.run.matching import aligned, join_owners
from wayveil.run.reading import Prepared, check_sensitive, load, prepare
from wayveil.run.recipe import Recipe
from wayveil.run.recipe_text import recipe_text
from wayveil.run.report import ReportContext, render_report
from wayveil.run.scores import (
    charts_json,
    default_attacks,
    default_metrics,
    measure,
    results_json,
    run_attacks,
    to_text,
    verdict_json,
)
from wayveil.run.staging import MANIFEST, Workspace, open_workspace, reporting_disk_errors
from wayveil.run.views import balance, guarded, views
from wayveil.run.warming import compile_kernels

__all__ = ["NotPublished", "Outcome", "publish"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a publication came to; `public` and `manifest_sha256` are None where nothing was published."""

    public: Path | None
    private: Path
    verdict: Verdict
    attacks: tuple[tuple[AttackResult, AttackResult], ...]
    scores: tuple[Score, ...]
    notes: tuple[str, ...]
    counted: str
    output_facts: Mapping[str, str]
    timings: Mapping[str, float]
    manifest_sha256: str | None

    @property
    def report(self) -> Path:
        """The report, one self-contained file."""
        return self.private / "report.html"


class NotPublished(VerdictFailed):
    """The claim does not hold for what the method made, or nothing is left of it, so nothing was published."""

    def __init__(self, message: str, outcome: Outcome | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome


def publish(recipe: Recipe, *, engine: Engine | None = None, source: Prepared | None = None) -> Outcome:
    """Publish what a recipe asks for, if it keeps its promise; NotPublished if it does not.

    Parameters
    ----------
    recipe : Recipe
        From `load_recipe` or `make_recipe`.
    engine : Engine, optional
        Where the work runs; by default all cores of this machine.
    source : Prepared, optional
        The data, prepared already; by default they are read and prepared as the recipe says.

    Guarantee
    ---------
    Nothing appears in ``OUT/public`` unless the verifier of the claim accepted the very files on disk.

    Notes
    -----
    One seed serves the method, the new ids and the attacks, each through a sequence of its own, so that asking for
    another attack does not change what is published.
    """
    engine = engine or LocalEngine()
    clock = _Clock(engine=engine)
    seed = secrets.randbits(128) if recipe.seed is None else recipe.seed
    with open_workspace(recipe.output.path, overwrite=recipe.output.overwrite) as space:
        with clock("read and prepare"):
            source = _read(recipe, source)
        with clock("compile kernels"):
            compile_kernels(recipe.method, _attacks(recipe), _metrics(recipe), engine)
        with clock("run the method"):
            made = recipe.method.run(source.data, rng=_rng(seed, "method"), engine=engine)
            _check_made(recipe.method, source.data, made)
        with clock("write and read back"):
            written = _write(recipe, space, source.data, made, _rng(seed, "ids"))
            readback, new_ids = written.data, written.ids
            order = written.order if made.source is None else made.source[written.order]
        with clock("verify"):
            original = source.data.take(order) if made.source is None else source.data
            verdict = catalog.verify(readback, made.claim, original, written.boxes)
        matched = aligned(readback, order, source.data) if made.source is None else readback
        with clock("attack"):
            attacks = _attack(recipe, source.data, matched, seed, engine)
        with clock("measure"):
            scores = measure(_metrics(recipe), source.data, matched, engine)
        run = _Run(
            recipe=recipe, seed=seed, source=source, made=made, readback=readback, verdict=verdict, attacks=attacks,
            scores=scores, clock=clock, order=order, new_ids=new_ids,
        )  # fmt: skip
        return _finish(space, run)


@dataclass(kw_only=True)
class _Clock:
    """Times the steps and tells the engine's progress about them."""

    engine: Engine
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        self.engine.progress(step)
        began = time.perf_counter()
        yield
        self.seconds[step] = time.perf_counter() - began


@dataclass(frozen=True, kw_only=True)
class _Run:
    """Everything that is known when the verdict is in."""

    recipe: Recipe
    seed: int
    source: Prepared
    made: Published
    readback: Data
    verdict: Verdict
    attacks: tuple[tuple[AttackResult, AttackResult], ...]
    scores: tuple[Score, ...]
    clock: _Clock
    order: IntArray
    new_ids: pl.Series

    @property
    def names(self) -> tuple[str, str]:
        """How the data are called before and after."""
        return "raw data", "published data" if self.verdict.holds else "rejected data"

    @cached_property
    def views(self) -> tuple[Chart, ...]:
        """What the data look like before and after."""
        return views(self.source.data, self.made.data, self.made.groups, names=self.names, published=self.verdict.holds)

    @cached_property
    def balance(self) -> dict[str, dict[str, int | None]]:
        """What went in and came out, and what was suppressed and invented."""
        return balance(self.source.data, self.made.data, self.made.source)

    @cached_property
    def drawings(self) -> tuple[Drawing, ...]:
        """The published trajectories; the raw ones only if the recipe asks for them."""
        return drawings(
            self.source.data, self.made.data, names=self.names, with_raw=self.recipe.output.with_raw,
            published=self.verdict.holds,
        )  # fmt: skip


def _rng(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(_sequence(seed, purpose))


def _sequence(seed: int, purpose: str) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(("method", "ids", "attacks").index(purpose),))


def _sensitive(recipe: Recipe) -> Sensitive:
    found: Sensitive = getattr(recipe.method.claim, "sensitive", ())
    return found


def _attacks(recipe: Recipe) -> tuple[Attack, ...]:
    if recipe.attacks is not None:
        return recipe.attacks
    method = recipe.method
    return default_attacks(method.accepts, method.publishes, claim=method.claim, **_comparable(method))


def _metrics(recipe: Recipe) -> tuple[Metric, ...]:
    if recipe.metrics is not None:
        return recipe.metrics
    method = recipe.method
    return default_metrics(method.accepts, method.publishes, method=method, **_comparable(method))


def _comparable(method: Any) -> dict[str, bool]:
    """Return what of a publication can be compared with the original: which trajectory is which, and times."""
    return {"matched": not _makes_parts(method), "timed": getattr(method, "times", "keep") == "keep"}


def _makes_parts(method: Any) -> bool:
    """Return whether the published trajectories are parts of the original ones: then they cannot be matched."""
    return getattr(method, "makes_parts", False)


def _read(recipe: Recipe, source: Prepared | None) -> Prepared:
    sensitive = _sensitive(recipe)
    names = dict.fromkeys([*(attribute for attribute, _ in sensitive), *recipe.output.keep])
    if source is None:
        needed = catalog.kind_needed(recipe.prepare, recipe.method)
        source = prepare(load(recipe.input, attributes=tuple(names), kind=needed), recipe.prepare, recipe.input)
    check_sensitive(source.data, sensitive, keep=recipe.output.keep)
    kept = {name: source.data.attributes[name] for name in names}
    return replace(source, data=replace(source.data, attributes=kept))


def _check_made(method: Any, data: Data, made: Published) -> None:
    expected = len(data) if made.source is None else len(made.source)
    if len(made.data) != expected or (made.source is None) == _makes_parts(method):
        raise OutputError("The method returned another number of trajectories than it was given; this is a bug.")
    if made.groups is not None and len(made.groups) != len(made.data):
        raise OutputError("The method returned another number of groups than of trajectories; this is a bug.")
    if made.boxes is not None and not np.array_equal(made.boxes.offsets, made.data.offsets):
        raise OutputError("The method returned other boxes than points; this is a bug.")
    if made.data.n_rows == 0 and isinstance(made.data, Visits):
        raise NotPublished(
            "Nothing was published: no visit is left after suppression, because too few people share a place and a "
            "time. Make times coarser with --time-bucket, or ask for a smaller k or l or a larger c."
        )
    if made.data.n_rows == 0 and isinstance(made.data, Stops):
        raise NotPublished(
            "Nothing was published: no stop is left, because too few people visit as many places as others. Ask for a "
            "smaller m or a larger c."
        )
    if made.data.n_rows == 0:
        raise NotPublished(
            "Nothing was published: no trajectory is left, because too few people move at the same times and places. "
            "Bring trajectories to common times with the step resample, or ask for a smaller k."
        )


@dataclass(frozen=True, kw_only=True)
class _Written:
    """What the files hold, read back, with the true owners; `order` and `ids` say which trajectory is which."""

    data: Any
    boxes: Any
    order: IntArray
    ids: pl.Series


def _write(recipe: Recipe, space: Workspace, data: Data, made: Published, rng: np.random.Generator) -> _Written:
    form = recipe.output.format
    path, beside = space.staged / published_name(form), space.staged / boxes_name(form)
    boxes = None if made.boxes is None else replace(made.boxes, attributes={})
    owner = data.owner if made.source is None else _owner_of_parts(data.owner, made.source)
    with reporting_disk_errors(recipe.output.path):
        order = write_published(made.data, path, rng=rng, beside=None if boxes is None else (boxes, beside))
        if isinstance(made.data, Stops):
            write_taxonomy(made.data.taxonomy, path.with_name(taxonomy_name(form)))
        loaded = _read_back(path, made.data, data)
        joined = join_owners(loaded.data, made.data, order, owner)
        joined_boxes = None
        if boxes is not None:
            again = _read_back(beside, boxes, data)
            joined_boxes = join_owners(again.data, boxes, order, owner) if again.ids.equals(loaded.ids) else None
    if joined is None or (boxes is not None and joined_boxes is None):
        raise OutputError("The file written does not read back as it was written, so nothing was published.")
    return _Written(data=joined, boxes=joined_boxes, order=order, ids=loaded.ids)


def _owner_of_parts(owner: IntArray, source: IntArray) -> IntArray:
    """Return the owners of parts of trajectories; every dummy gets a negative number of its own."""
    dummy = source < 0
    number: IntArray = np.cumsum(dummy, dtype=np.int64)
    return np.where(dummy, -number, owner[np.where(dummy, 0, source)])


def _read_back(path: Path, written: Data, source: Data) -> Loaded:
    tree = path.with_name(taxonomy_name(path.suffix.removeprefix(".")))
    return read_published(
        path,
        kind=catalog.kind_of_data(written),
        time_format=written.time_format,
        attributes=tuple(written.attributes),
        owners=source.owners,
        frame=getattr(written, "frame", Frame()),
        taxonomy=read_published_taxonomy(tree) if isinstance(written, Stops) else None,
    )


def _attack(
    recipe: Recipe, raw: Data, published: Data, seed: int, engine: Engine
) -> tuple[tuple[AttackResult, AttackResult], ...]:
    attacks, numbers = _attacks(recipe), _sequence(seed, "attacks")
    before, after = (
        run_attacks(attacks, raw, target, sensitive=_sensitive(recipe), seed=numbers, engine=engine)
        for target in (raw, published)
    )
    return tuple(zip(before, after, strict=True))


def _finish(space: Workspace, run: _Run) -> Outcome:
    recipe, verdict = run.recipe, run.verdict
    unprotected = facts.unprotected(recipe.output.keep, _sensitive(recipe))
    sha256 = None
    if verdict.holds:
        with reporting_disk_errors(recipe.output.path):
            manifest = make_manifest(
                space.staged,
                method=recipe.method,
                verdict=verdict,
                published=run.readback,
                source_owners=run.source.data.owners,
                unprotected=unprotected,
            )
            content = manifest.to_bytes()
            (space.staged / MANIFEST).write_bytes(content)
        sha256 = facts.sha256(content)
    outcome = Outcome(
        public=space.public if verdict.holds else None,
        private=space.private,
        verdict=verdict,
        attacks=run.attacks,
        scores=run.scores,
        notes=(
            *run.source.notes,
            *facts.prepare_notes(recipe.prepare),
            *(f"The attribute {name!r} is published as it is; the promise does not cover it." for name in unprotected),
        ),
        counted=facts.counted_note(run.source.data),
        output_facts=facts.output_facts(run.readback, run.made),
        timings=dict(run.clock.seconds),
        manifest_sha256=sha256,
    )
    private = _private_files(run, outcome)
    if verdict.holds:
        space.publish(private)
        return outcome
    folder = space.refuse(private)
    raise NotPublished(
        f"Nothing was published: {verdict.reason} The report is in {str(folder)!r}.",
        replace(outcome, private=folder),
    )


def _private_files(run: _Run, outcome: Outcome) -> dict[str, str]:
    created = datetime.now(UTC).isoformat(timespec="seconds")
    scores = {
        "manifest_sha256": outcome.manifest_sha256,
        "method": run.recipe.method.name,
        "parameters": catalog.plain_parameters(run.recipe.method),
        "verdict": verdict_json(run.verdict, witness=True),
        "attacks": [
            {"raw": raw, "published": published}
            for raw, published in zip(
                results_json(tuple(a for a, _ in run.attacks)),
                results_json(tuple(b for _, b in run.attacks)),
                strict=True,
            )
        ],
        "scores": results_json(run.scores),
        "views": charts_json(run.views),
        "input_facts": facts.input_facts(run.recipe.input.path, run.source.data),
        "output_facts": dict(outcome.output_facts),
        "balance": run.balance,
        "timings_s": dict(outcome.timings),
        "total_s": sum(outcome.timings.values()),
        "versions": versions(),
        "notes": list(outcome.notes),
    }
    files = {
        "report.html": render_report(_report_context(run, outcome, created)),
        "scores.json": to_text(scores),
        "log.txt": facts.log_text(created, outcome.timings, outcome.notes, run.verdict),
        "seed.txt": f"{run.seed}\n",
    }
    if run.recipe.output.keep_mapping:
        known = run.source.ids.gather(np.where(run.order < 0, 0, run.order))
        files["mapping.csv"] = facts.mapping_csv(run.new_ids, known.set(pl.Series(run.order < 0), None))
    return files


def _report_context(run: _Run, outcome: Outcome, created: str) -> ReportContext:
    method: Any = run.recipe.method
    return ReportContext(
        title=run.recipe.title or f"Publication of {run.recipe.input.path.name}",
        method_name=method.name,
        method_summary=method.summary,
        parameters=tuple(
            (p.name, facts.value_text(plain(getattr(method, p.name))), p.help) for p in parameters_of(type(method))
        ),
        claim=run.verdict.claim,
        verdict=run.verdict,
        counted=outcome.counted,
        notes=outcome.notes,
        input_facts=facts.input_facts(run.recipe.input.path, run.source.data),
        output_facts=outcome.output_facts,
        attacks=outcome.attacks,
        scores=outcome.scores if run.recipe.output.with_raw else guarded(outcome.scores, run.source.data),
        timings=outcome.timings,
        versions=versions(),
        created=created,
        published_ok=run.verdict.holds,
        manifest_sha256=outcome.manifest_sha256,
        views=run.views,
        balance=run.balance,
        drawings=run.drawings,
        recipe=recipe_text(run.recipe, seed=False, names_only=True),
    )
