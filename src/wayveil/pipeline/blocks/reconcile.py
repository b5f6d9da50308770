"""Blocks whose parts must not have a class in common: what several blocks made alike goes into one part.

Two blocks may generalize different people to the same sequence of nodes.  For whoever reads all parts these people are
one class, in which no block saw to it that sensitive places stay improbable.  So these trajectories lose their
sensitive stops, and are published and judged together; every other class is in one part only.  What then does not keep
the claim by itself, because people of several blocks meet, or because a sensitive place has lost people, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.io.publish.atomic import make_folders
from wayveil.methods.cast_sensitive import settle_stops
from wayveil.model import Engine, Published, Stops, concat
from wayveil.model.ragged import IntArray, keep_rows, trajectory_of_row
from wayveil.pipeline.blocks.block import Done, Job, make_block, publish_part, read_block, tell_block
from wayveil.pipeline.blocks.memory import check_class, limit_of
from wayveil.pipeline.blocks.task_files import load_data, load_value, save, save_data
from wayveil.pipeline.folder.manifest import described
from wayveil.verify import class_keys

__all__ = ["publish_classes"]


def publish_classes(job: Job, n_blocks: int, engine: Engine) -> list[Done]:
    """Publish blocks so that no class is in two parts; what is alike is cut between classes, not through one."""
    make_folders(*(job.scratch / name for name in ("original", "made", "result")))
    made = engine.map(partial(_make, job), range(n_blocks))
    shared = _in_several([keys for keys, _ in made])
    size = _rows_of(shared, made)
    blocks = job.recipe.blocks
    if blocks is not None:
        check_class(limit_of(blocks), int(size.max(initial=0)))
    part = np.cumsum(size) // (1 if blocks is None else blocks.rows)
    n_alike = int(part.max(initial=-1)) + 1
    folders = [job.scratch / "alike" / str(name) for name in range(n_alike)]
    make_folders(*(folder / kind for folder in folders for kind in ("original", "result", "which", "lost")))
    engine.map(partial(_put_aside, job, shared, part), range(n_blocks))
    alike = engine.map(partial(_publish_alike, job, n_blocks), range(n_alike))
    done = engine.map(partial(_publish, job, shared), range(n_blocks))
    return [*done, *(one for one in alike if one is not None)]


def _in_several(keys: Sequence[IntArray]) -> IntArray:
    """Return the keys that are in more than one of these arrays, none of which repeats a key.

    Examples
    --------
    >>> _in_several([np.array([1, 2]), np.array([2, 3]), np.array([2])]).tolist()
    [2]
    """
    found, times = np.unique(np.concatenate(keys), return_counts=True)
    several: IntArray = found[times > 1]
    return several


def _rows_of(shared: IntArray, made: Sequence[tuple[IntArray, IntArray]]) -> IntArray:
    """Return how many rows all blocks have of every class that several have.

    Examples
    --------
    >>> made = [(np.array([2, 3]), np.array([7, 1])), (np.array([2, 5]), np.array([1, 4]))]
    >>> _rows_of(np.array([2, 5]), made).tolist()
    [8, 4]
    """
    size = np.zeros(len(shared), np.int64)
    for keys, rows in made:
        both = np.isin(keys, shared)
        size[np.searchsorted(shared, keys[both])] += rows[both]
    return size


def _make(job: Job, number: int) -> tuple[IntArray, IntArray]:
    """Run the method on a block, keep what it made, and return its classes and the rows of each."""
    data = read_block(job, number)
    result = make_block(job, data, number)
    save_data(data, job.scratch / "original" / f"{number}.pickle")
    if isinstance(result, Done):
        save(result, job.scratch / "made" / f"{number}.pickle")
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    made = result[1]  # stops have no coordinates, so the data stay as they are
    save(replace(made, data=None), job.scratch / "made" / f"{number}.pickle")  # type: ignore[arg-type]
    save_data(made.data, job.scratch / "result" / f"{number}.pickle")
    published: Any = made.data
    held = published.take(np.flatnonzero(np.diff(published.offsets)))
    keys, which = np.unique(class_keys(held), return_inverse=True)
    return keys, np.bincount(which, weights=np.diff(held.offsets), minlength=len(keys)).astype(np.int64)


def _put_aside(job: Job, shared: IntArray, part_of: IntArray, number: int) -> None:
    """Put aside what a block has of classes that several have, without sensitive stops."""
    loaded = _load(job, shared, number)
    if loaded is None:
        return
    data, result, alike, classes = loaded
    left = np.flatnonzero(alike & (np.diff(result.offsets) > 0))
    aside = part_of[np.searchsorted(shared, classes[left])]
    for name in np.unique(aside).tolist():
        folder, some = job.scratch / "alike" / str(name), left[aside == name]
        save_data(data.take(some), folder / "original" / f"{number:06d}.pickle")
        save_data(result.take(some), folder / "result" / f"{number:06d}.pickle")
        save(some, folder / "which" / f"{number:06d}.pickle")


def _load(job: Job, shared: IntArray, number: int) -> tuple[Stops, Stops, Any, IntArray] | None:
    """Return a block, what was made of it, which of it several blocks made alike, and the classes; None if nothing."""
    made = load_value(job.scratch / "made" / f"{number}.pickle")
    if isinstance(made, Done):
        return None
    tree = load_value(job.shared)
    data: Stops = load_data(job.scratch / "original" / f"{number}.pickle", tree)
    result: Stops = load_data(job.scratch / "result" / f"{number}.pickle", tree)
    classes = class_keys(result)
    alike = np.isin(classes, shared) & (np.diff(result.offsets) > 0)
    return data, _without_sensitive(result, alike), alike, classes


def _publish(job: Job, shared: IntArray, number: int) -> Done:
    """Publish what a block has of classes of its own, and tell of all of it."""
    made = load_value(job.scratch / "made" / f"{number}.pickle")
    loaded = _load(job, shared, number)
    if loaded is None:
        return made  # type: ignore[no-any-return]
    data, result, alike, _ = loaded
    lost = [load_value(file) for file in sorted((job.scratch / "alike").glob(f"*/lost/{number:06d}.pickle"))]
    result = _without(result, np.concatenate([np.zeros(0, np.int64), *lost]))
    own = np.flatnonzero(~alike & (np.diff(result.offsets) > 0))
    settled = settle_stops(result.take(own), data.take(own), made.claim, LocalEngine(workers=1))
    result = _replaced(result, own, settled)
    own = own[np.diff(settled.offsets) > 0]
    part, keys = None, np.zeros(0, np.int64)
    if len(own):
        part = publish_part(job, data.take(own), Published(data=result.take(own), claim=made.claim), number)
        keys = np.unique(class_keys(part[0].data))
    facts = {**made.facts, "trajectories alike in several blocks": int(alike.sum())}
    told = tell_block(job, number, data, replace(made, data=result, facts=facts), result, part)
    return replace(told, classes=keys)


def _without(data: Stops, which: IntArray) -> Stops:
    """Return the same trajectories; these have lost all stops."""
    gone = np.zeros(len(data), np.bool_)
    gone[which] = True
    return data.where(~gone[trajectory_of_row(data.offsets)])


def _replaced(data: Stops, which: IntArray, some: Stops) -> Stops:
    """Return the same trajectories with those of `some` in the place of these."""
    both = concat([data, some])
    source = np.arange(len(data))
    source[which] = len(data) + np.arange(len(some))
    return both.take(source)


def _without_sensitive(data: Stops, which: Any) -> Stops:
    """Return the same trajectories; these have lost their sensitive stops."""
    keep = ~(data.sensitive & which[trajectory_of_row(data.offsets)])
    return replace(
        data, offsets=keep_rows(data.offsets, keep), place=data.place[keep], t=data.t[keep], t_end=data.t_end[keep]
    )


def _publish_alike(job: Job, n_blocks: int, name: int) -> Done | None:
    """Publish some of what several blocks made alike as one more part."""
    folder, tree, number = job.scratch / "alike" / str(name), load_value(job.shared), n_blocks + name
    files = sorted((folder / "result").glob("[0-9]*.pickle"))
    if not files:
        return None
    result, data = (
        concat([load_data(folder / kind / file.name, tree) for file in files]) for kind in ("result", "original")
    )
    claim = job.recipe.method.claim
    result = settle_stops(result, data, claim, LocalEngine(workers=1))
    left = np.diff(result.offsets) > 0
    which = [load_value(folder / "which" / file.name) for file in files]
    for file, some, kept in zip(files, which, np.split(left, np.cumsum([len(one) for one in which])[:-1]), strict=True):
        save(some[~kept], folder / "lost" / file.name)
    if not left.any():
        return None
    data, result = data.take(np.flatnonzero(left)), result.take(np.flatnonzero(left))
    written, verdict = publish_part(job, data, Published(data=result, claim=claim), number)
    return Done(
        number=number,
        balance={},
        verdict=verdict,
        hashes=written.hashes,
        table=described(written.data, source_owners=data.owners, parts="each"),
        rows=written.data.n_rows,
        trajectories=len(written.data),
        classes=np.unique(class_keys(written.data)),
    )
