"""Blocks whose parts must not have a class in common: what several blocks made alike goes into one part.

Two blocks may generalize different people to the same sequence of nodes.  For whoever reads all parts these people are
one class, in which no block saw to it that sensitive places stay improbable.  So these trajectories lose their
sensitive stops, and are published and judged together; every other class is in one part only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from wayveil.model import Engine, Published, Stops
from wayveil.model.ragged import IntArray, keep_rows, trajectory_of_row
from wayveil.run.blocks.files import load_data, load_value, save, save_data
from wayveil.run.blocks.part import Done, Job, make_block, publish_part, read_block, tell_block
from wayveil.run.joining import join_data
from wayveil.run.manifest import described
from wayveil.run.sizing import check_class, limit_of
from wayveil.verify import class_keys

__all__ = ["publish_classes"]


def publish_classes(job: Job, n_blocks: int, engine: Engine) -> list[Done]:
    """Publish blocks so that no class is in two parts; what is alike is cut between classes, not through one."""
    made = engine.map(partial(_make, job), range(n_blocks))
    shared = _in_several([keys for keys, _ in made])
    size = _rows_of(shared, made)
    blocks = job.recipe.blocks
    if blocks is not None:
        check_class(limit_of(blocks), int(size.max(initial=0)))
    part = np.cumsum(size) // (1 if blocks is None else blocks.rows)
    done = engine.map(partial(_publish, job, shared, part), range(n_blocks))
    alike = engine.map(partial(_publish_alike, job, n_blocks), range(int(part.max(initial=-1)) + 1))
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
    made = make_block(job, data, number)
    save_data(data, job.scratch / "original" / f"{number}.pickle")
    if isinstance(made, Done):
        save(made, job.scratch / "made" / f"{number}.pickle")
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    save(replace(made, data=None), job.scratch / "made" / f"{number}.pickle")  # type: ignore[arg-type]
    save_data(made.data, job.scratch / "result" / f"{number}.pickle")
    published: Any = made.data
    held = published.take(np.flatnonzero(np.diff(published.offsets)))
    keys, which = np.unique(class_keys(held), return_inverse=True)
    return keys, np.bincount(which, weights=np.diff(held.offsets), minlength=len(keys)).astype(np.int64)


def _publish(job: Job, shared: IntArray, part_of: IntArray, number: int) -> Done:
    """Publish what a block has of classes of its own, and put the rest aside."""
    made = load_value(job.scratch / "made" / f"{number}.pickle")
    if isinstance(made, Done):
        return made
    tree = load_value(job.shared)
    data = load_data(job.scratch / "original" / f"{number}.pickle", tree)
    result: Stops = load_data(job.scratch / "result" / f"{number}.pickle", tree)
    classes = class_keys(result)
    alike = np.isin(classes, shared) & (np.diff(result.offsets) > 0)
    result = _without_sensitive(result, alike)
    left = np.flatnonzero(alike & (np.diff(result.offsets) > 0))
    aside = part_of[np.searchsorted(shared, classes[left])]
    for name in np.unique(aside).tolist():
        folder, some = job.scratch / "alike" / str(name), left[aside == name]
        save_data(data.take(some), folder / "original" / f"{number:06d}.pickle")
        save_data(result.take(some), folder / "result" / f"{number:06d}.pickle")
    own = np.flatnonzero(~alike & (np.diff(result.offsets) > 0))
    part, keys = None, np.zeros(0, np.int64)
    if len(own):
        part = publish_part(job, data.take(own), Published(data=result.take(own), claim=made.claim), number)
        keys = np.unique(class_keys(part[0].data))
    facts = {**made.facts, "trajectories alike in several blocks": int(alike.sum())}
    told = tell_block(job, number, data, replace(made, data=result, facts=facts), result, part)
    return replace(told, classes=keys)


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
        join_data([load_data(folder / kind / file.name, tree) for file in files]) for kind in ("result", "original")
    )
    written, verdict = publish_part(job, data, Published(data=result, claim=job.recipe.method.claim), number)
    return Done(
        number=number,
        balance={},
        verdict=verdict,
        table=described(written.data, source_owners=data.owners, parts="each"),
        rows=written.data.n_rows,
        trajectories=len(written.data),
        classes=np.unique(class_keys(written.data)),
    )
