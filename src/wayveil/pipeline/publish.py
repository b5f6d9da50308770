"""The straight line: read, prepare, run the method, write, read back, judge, and only then publish."""

from __future__ import annotations

import secrets
from dataclasses import replace

import numpy as np
import polars as pl

from wayveil.engines import LocalEngine
from wayveil.model import AttackResult, Data, Engine, Published, Verdict
from wayveil.model.data.ragged import IntArray
from wayveil.pipeline.alignment import aligned
from wayveil.pipeline.blocks.publishing import publish_blocks
from wayveil.pipeline.compile import compile_kernels
from wayveil.pipeline.evaluate import measure, run_attacks
from wayveil.pipeline.folder.manifest import described
from wayveil.pipeline.folder.secret import Secret
from wayveil.pipeline.folder.signing import load_signer
from wayveil.pipeline.folder.staging import open_workspace
from wayveil.pipeline.input import Prepared, check_places, check_sensitive, load, prepare
from wayveil.pipeline.outcome import NotPublished, Outcome
from wayveil.pipeline.output_frame import settle
from wayveil.pipeline.readback import check_made, refuse_nothing, write_and_read_back
from wayveil.pipeline.release import Clock, Run, finish
from wayveil.pipeline.remaining import Remaining, count_published, name_remedies
from wayveil.pipeline.seeds import method_rng, sequence_for
from wayveil.recipe import catalog
from wayveil.recipe.defaults import attacks_of, metrics_of, sensitive_of
from wayveil.recipe.protections import confirm_protections
from wayveil.recipe.recipe import Recipe
from wayveil.report.charts.drawings import drawings
from wayveil.report.suppression import guarded
from wayveil.report.text import summary
from wayveil.report.views.overview import balance, views

__all__ = ["NotPublished", "Outcome", "publish"]


def publish(
    recipe: Recipe, *, engine: Engine | None = None, source: Prepared | None = None, secret: Secret | None = None
) -> Outcome:
    """Publish what a recipe asks for, if it keeps its promise; NotPublished if it does not.

    Parameters
    ----------
    recipe : Recipe
        From `load_recipe` or `make_recipe`.
    engine : Engine, optional
        Where the work runs; by default all cores of this machine.
    source : Prepared, optional
        The data, prepared already; by default they are read and prepared as the recipe says.
    secret : Secret, optional
        That of an earlier run, to repeat it to the byte; a fresh one by default.

    Guarantee
    ---------
    Nothing appears in ``OUT/public`` unless the verifier of the claim accepted the very files on disk.

    Notes
    -----
    One seed serves the method and the attacks, each through a sequence of its own, so that asking for another attack
    does not change what is published.  New ids, the order of rows and draws that hide people come from the secret.
    """
    engine = engine or LocalEngine()
    if recipe.output.sign_key is not None:
        load_signer(recipe.output.sign_key)  # before any work is done that could not be signed
    if recipe.blocks is not None:
        return publish_blocks(recipe, engine=engine, secret=secret)
    secret = secret or Secret.fresh()
    clock = Clock(engine=engine)
    seed = secrets.randbits(128) if recipe.seed is None else recipe.seed
    with open_workspace(recipe.output.path, overwrite=recipe.output.overwrite) as space:
        with clock("read and prepare"):
            source = _read(recipe, source)
        with clock("compile kernels"):
            compile_kernels(recipe.method, attacks_of(recipe), metrics_of(recipe), engine)
        with clock("run the method"):
            data, made = settle(
                recipe.method,
                source.data,
                lambda data: recipe.method.run(data, rng=method_rng(recipe.method, seed, secret), engine=engine),
                one_slice=not any(step.name == "slices" for step in recipe.prepare),
            )
            source = replace(source, data=data)
            check_made(recipe.method, source.data, made)
            if made.data.n_rows == 0:
                raise refuse_nothing(type(made.data))
        with clock("write and read back"):
            written = write_and_read_back(recipe, space.staged, source.data, made, secret.key("ids"))
            order = written.order if made.source is None else made.source[written.order]
        with clock("verify"):
            original = source.data.take(order) if made.source is None else source.data
            verdict = catalog.verify(written.data, made.claim, original, written.boxes)
        matched = aligned(written.data, order, source.data) if made.source is None else written.data
        with clock("attack"):
            boxes = None if written.boxes is None else aligned(written.boxes, order, source.data)
            attacks = _attack(recipe, source.data, matched, boxes, seed, engine)
            verdict = confirm_protections(verdict, attacks_of(recipe), [after for _, after in attacks])
        with clock("measure"):
            scores = measure(metrics_of(recipe), source.data, matched, engine)
        raw, public, named = source.data, written.data, _names(verdict)
        return finish(
            space,
            Run(
                recipe=recipe,
                seed=seed,
                secret=secret,
                verdict=verdict,
                attacks=attacks,
                scores=scores,
                shown=scores if recipe.output.with_raw else guarded(scores, raw),
                timings=clock.seconds,
                notes=source.notes,
                counted=summary.counted_note(
                    raw.owners,
                    people=raw.n_owners,
                    trajectories=len(raw),
                    each_trajectory=recipe.input.each_trajectory,
                ),
                input_facts=summary.input_facts(recipe.input.path, raw),
                output_facts=summary.output_facts(public, made),
                views=views(raw, made.data, made.groups, names=named, published=verdict.holds),
                balance=balance(raw, made.data, made.source),
                drawings=drawings(
                    raw, made.data, names=named, with_raw=recipe.output.with_raw, published=verdict.holds
                ),
                table=described(public, source_owners=raw.owners),
                mapping=_mapping(source.ids, order, written.ids) if recipe.output.keep_mapping else None,
                remaining=_count_remaining(recipe, source, made),
            ),
        )


def _read(recipe: Recipe, source: Prepared | None) -> Prepared:
    sensitive = sensitive_of(recipe)
    names = dict.fromkeys([*(attribute for attribute, _ in sensitive), *recipe.output.keep])
    if source is None:
        needed = catalog.kind_needed(recipe.prepare, recipe.method)
        source = prepare(load(recipe.input, attributes=tuple(names), kind=needed), recipe.prepare, recipe.input)
    check_sensitive(source.data, sensitive, keep=recipe.output.keep)
    check_places(source.data, getattr(recipe.method, "adversaries", ()))
    kept = {name: source.data.attributes[name] for name in names}
    return replace(source, data=replace(source.data, attributes=kept))


def _attack(
    recipe: Recipe, raw: Data, published: Data, boxes: Data | None, seed: int, engine: Engine
) -> tuple[tuple[AttackResult, AttackResult], ...]:
    attacks, numbers = attacks_of(recipe), sequence_for(seed, "attacks")
    before, after = (
        run_attacks(attacks, raw, target, sensitive=sensitive_of(recipe), seed=numbers, engine=engine, boxes=beside)
        for target, beside in ((raw, None), (published, boxes))
    )
    return tuple(zip(before, after, strict=True))


def _names(verdict: Verdict) -> tuple[str, str]:
    """Return how the data are called before and after."""
    return "raw data", "published data" if verdict.holds else "rejected data"


def _count_remaining(recipe: Recipe, source: Prepared, made: Published) -> Remaining:
    """Return what is left of the file after every step and the method."""
    remedies = name_remedies(source.data, recipe.prepare, recipe.method.name)
    if source.origin is None:
        return Remaining(remedies=remedies)
    last = count_published(recipe.method.name, source.data, made.data, made.source, source.origin)
    return Remaining(stages=(*source.stages, last), remedies=remedies)


def _mapping(ids: pl.Series, order: IntArray, new_ids: pl.Series) -> str:
    known = ids.gather(np.where(order < 0, 0, order))
    return summary.mapping_csv(new_ids, known.set(pl.Series(order < 0), None))
