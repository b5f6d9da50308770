"""Blocks whose parts must not have a class in common: what several blocks made alike goes into one part.

Two blocks may generalize different people to the same sequence of nodes.  For whoever reads all parts these people are
one class, in which no block saw to it that sensitive places stay improbable.  So these trajectories lose their
sensitive stops, and are published and judged together; every other class is in one part only.  What then does not keep
the claim by itself, because people of several blocks meet, or because a sensitive place has lost people, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from wayveil.engines import LocalEngine
from wayveil.methods.cast.cast_sensitive import settle_stops
from wayveil.model import Engine, MethodResult, Stops, concat
from wayveil.model.data.ragged import IntArray, keep_rows, trajectory_of_row
from wayveil.pipeline.blocks.block_job import Job
from wayveil.pipeline.blocks.memory import check_class, limit_of

__all__ = ["key_classes", "reconcile_blocks"]


def reconcile_blocks(job: Job, n_blocks: int, numbers: Sequence[int], engine: Engine) -> list[tuple[int, str]]:
    """Deal blocks out to parts so that no class is in two of them; return the number and the folder of each part.

    What is alike is cut between classes, not through one.  What became of each block is ``reconciled/NUMBER``.
    """
    # Classes that two blocks made alike must end in one part, or each part would count only some of its people.  They
    # are put aside from their blocks, dealt by size, and settled; what is left of a block stays its own part.
    listed = engine.map(partial(_list_classes, job), numbers)
    shared = _in_several([keys for keys, _ in listed])
    size = _rows_of(shared, listed)
    blocks = job.recipe.blocks
    if blocks is not None:
        check_class(limit_of(blocks), int(size.max(initial=0)))
    # Classes are dealt in the order of their keys, which are hashes: a part gets about as many rows as a block has.
    part = np.cumsum(size) // (1 if blocks is None else blocks.rows)
    engine.map(partial(_put_aside, job, shared, part), numbers)
    alike = engine.map(partial(_settle_alike, job, n_blocks), range(int(part.max(initial=-1)) + 1))
    own = engine.map(partial(_settle_own, job, shared), numbers)
    return [block for block in (*own, *alike) if block is not None]


def key_classes(published: Stops) -> IntArray:
    """Return a number for each trajectory that is the same for all of its class, in whatever block they are.

    A class are the trajectories with the same sequence of nodes that are not sensitive.  The verifier has a program of
    its own for this: if one of the two is wrong, the verdict on the parts shows it.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> keys = key_classes(Stops.from_records([["Park", "Clinic"], ["Park"], ["Clinic"]], taxonomy=tree))
    >>> bool(keys[0] == keys[1] != keys[2])
    True
    """
    names = _hash_all(name.encode("utf-8", "surrogatepass") for name in published.taxonomy.nodes)
    known = ~published.sensitive
    offsets = keep_rows(published.offsets, known)
    # Names are hashed first, because each block has codes of its own.
    nodes = names[published.place[known]]
    return _hash_all(nodes[offsets[i] : offsets[i + 1]].tobytes() for i in range(len(published)))


def _hash_all(texts: Iterable[bytes]) -> IntArray:
    """Return a number for each text, the same on every machine."""
    return np.frombuffer(b"".join(blake2b(text, digest_size=8).digest() for text in texts), "<i8")


def _in_several(keys: Sequence[IntArray]) -> IntArray:
    """Return the keys that are in more than one of these arrays, none of which repeats a key.

    Examples
    --------
    >>> _in_several([np.array([1, 2]), np.array([2, 3]), np.array([2])]).tolist()
    [2]
    """
    key, times = np.unique(np.concatenate(keys), return_counts=True)
    several: IntArray = key[times > 1]
    return several


def _rows_of(shared: IntArray, listed: Sequence[tuple[IntArray, IntArray]]) -> IntArray:
    """Return how many rows all blocks have of every class that several have.

    Examples
    --------
    >>> made = [(np.array([2, 3]), np.array([7, 1])), (np.array([2, 5]), np.array([1, 4]))]
    >>> _rows_of(np.array([2, 5]), made).tolist()
    [8, 4]
    """
    size = np.zeros(len(shared), np.int64)
    for keys, rows in listed:
        # Both are sorted, so a search finds the position of each key.
        both = np.isin(keys, shared)
        size[np.searchsorted(shared, keys[both])] += rows[both]
    return size


def _list_classes(job: Job, number: int) -> tuple[IntArray, IntArray]:
    """Return the classes of what was made of a block, and the rows of each."""
    published: Any = job.store.load(f"made/{number}").data
    nonempty = published.take(np.flatnonzero(np.diff(published.offsets)))
    keys, which = np.unique(key_classes(nonempty), return_inverse=True)
    return keys, np.bincount(which, weights=np.diff(nonempty.offsets), minlength=len(keys)).astype(np.int64)


def _put_aside(job: Job, shared: IntArray, part_of: IntArray, number: int) -> None:
    """Put aside what a block has of classes that several have, without sensitive stops."""
    # Sensitive stops of such a class were generalized for the people of one block; for all people of the class together
    # this has to be decided anew, so they are taken out here.
    data, result, alike, classes = _load(job, shared, number)
    left = np.flatnonzero(alike & (np.diff(result.offsets) > 0))
    aside = part_of[np.searchsorted(shared, classes[left])]
    for name in np.unique(aside).tolist():
        some = left[aside == name]
        job.store.save((data.take(some), result.take(some), some), f"alike/{name}/{number:06d}")


def _load(job: Job, shared: IntArray, number: int) -> tuple[Stops, Stops, Any, IntArray]:
    """Return a block, what was made of it, which of it several blocks made alike, and the classes."""
    data: Stops = job.store.load(f"data/{number}")
    result: Any = job.store.load(f"made/{number}").data
    classes = key_classes(result)
    alike = np.isin(classes, shared) & (np.diff(result.offsets) > 0)
    return data, _without_sensitive(result, alike), alike, classes


def _settle_alike(job: Job, n_blocks: int, name: int) -> tuple[int, str] | None:
    """Make one more part of what several blocks made alike, and tell the blocks what of it was lost."""
    names = job.store.names(f"alike/{name}")
    if not names:
        return None
    pieces = [job.store.load(one) for one in names]
    data = concat([data for data, _, _ in pieces])
    result = concat([result for _, result, _ in pieces])
    which = [some for _, _, some in pieces]
    result = settle_stops(result, data, job.recipe.method.claim, LocalEngine(workers=1))
    # What did not stay is told to the blocks it came from, so that their balance is right.
    left = np.diff(result.offsets) > 0
    ends = np.cumsum([len(some) for some in which])[:-1]
    for one, some, rows in zip(names, which, np.split(left, ends), strict=True):
        job.store.save(some[~rows], f"lost/{int(one.rpartition('/')[2])}/{name:06d}")
    if not left.any():
        return None
    number = n_blocks + name
    some = np.flatnonzero(left)
    job.store.save((data.take(some), result.take(some)), f"parts/{number}/000000")
    return number, f"parts/{number}"


def _settle_own(job: Job, shared: IntArray, number: int) -> tuple[int, str] | None:
    """Make a part of what a block has of classes of its own, and keep what became of all of the block."""
    block_result: MethodResult = job.store.load(f"made/{number}")
    data, result, alike, _ = _load(job, shared, number)
    lost = [job.store.load(name) for name in job.store.names(f"lost/{number}")]
    result = _without(result, np.concatenate([np.zeros(0, np.int64), *lost]))
    own = np.flatnonzero(~alike & (np.diff(result.offsets) > 0))
    claim: Any = block_result.claim
    settled = settle_stops(result.take(own), data.take(own), claim, LocalEngine(workers=1))
    result = _replaced(result, own, settled)
    facts = {**block_result.facts, "trajectories alike in several blocks": int(alike.sum())}
    job.store.save(replace(block_result, data=result, facts=facts), f"reconciled/{number}")
    own = own[np.diff(settled.offsets) > 0]
    if not len(own):
        return None
    job.store.save((data.take(own), result.take(own)), f"parts/{number}/000000")
    return number, f"parts/{number}"


def _without(data: Stops, which: IntArray) -> Stops:
    """Return the same trajectories; these have lost all stops."""
    is_left_out = np.zeros(len(data), np.bool_)
    is_left_out[which] = True
    return data.where(~is_left_out[trajectory_of_row(data.offsets)])


def _replaced(data: Stops, which: IntArray, some: Stops) -> Stops:
    """Return the same trajectories with those of `some` in the place of these."""
    # Behind the block stand the new versions; `source` picks them where there is one.
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
