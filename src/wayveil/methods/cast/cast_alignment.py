"""Groups of `cast` whose members are aligned: a stop that fits nobody is left out, and the others keep more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wayveil.kernels.cast.aligned_groups import aligned_groups, embed_stops
from wayveil.kernels.cast.taxonomy_cover import WeightedTree
from wayveil.methods.cast.cast_levels import Groups, Known, find_groups
from wayveil.methods.cast.cast_shares import Shares
from wayveil.methods.cast.cast_tree import Preorder
from wayveil.model import Engine
from wayveil.model.data.ragged import IntArray, keep_rows, offsets_of, take

__all__ = ["find_aligned_groups"]

_BLOCK = 1024
"""Trajectories that are aligned with each other (or 32 m)."""

_SCALE = 1_000_000
"""With the distance `leaves`, what a place is worth; a node with n places below it is worth an n-th of it."""

_SORTED_BY = 3
"""Stops by which trajectories are sorted before they are cut into blocks."""


def find_aligned_groups(known: Known, tree: Preorder, distance: str, shares: Shares, engine: Engine) -> Groups:
    """Group trajectories by what they have in common in the same order; those left over as `find_groups` does.

    Only stops at places that are not sensitive are looked at, as with groups by position, so that groups tell nothing
    about others.  Nobody is twice in a group that is made; who joins afterwards must keep the shares."""
    weighted = WeightedTree(tree.last, tree.parent, _weights(tree, distance))
    label = np.full(len(known.length), -1)
    shown = np.full(len(known.place), -1)
    nodes: list[IntArray] = []
    pool = np.flatnonzero(known.length > 0)
    rest = pool[_near(known, tree, pool)]
    block = max(_BLOCK, 32 * shares.group_size)

    def one(part: IntArray) -> tuple[IntArray, IntArray]:
        offsets, rows = take(known.offsets, part)
        owner = np.unique(known.owner[part], return_inverse=True)[1].astype(np.int64)
        return aligned_groups(offsets, known.place[rows], owner, shares.group_size, weighted)

    # Before each round `rest` is in no group.  Blocks are of trajectories that begin alike; in the second round those
    # left over meet others, as blocks begin half a block later.  More rounds made hardly any group.
    for begin in (0, block // 2):
        engine.progress("aligning trajectories", min(begin, 1), 2)
        cuts = np.arange(begin or block, len(rest), block)
        parts = [part for part in np.split(rest, cuts) if known.people(part) >= shares.group_size]
        for part, (group, node) in zip(parts, engine.map(one, parts), strict=True):
            rows = take(known.offsets, part)[1]
            shown[rows] = node
            for number in range(int(group.max(initial=-1)) + 1):
                members = part[group == number]
                label[members] = len(nodes)
                own = shown[known.offsets[members[0]] : known.offsets[members[0] + 1]]
                nodes.append(own[own >= 0])
        rest = rest[label[rest] < 0]
    groups = Groups(
        label=label,
        offsets=offsets_of(np.array([len(one) for one in nodes], np.int64)),
        node=np.concatenate([np.zeros(0, np.int64), *nodes]),
        shown=shown,
        riders=0,
    )
    groups = _seat_riders(known, weighted, shares, groups, pool)
    return _with_positions(known, tree, distance, shares, engine, groups)


def _weights(tree: Preorder, distance: str) -> IntArray:
    """Return what nodes lose: steps up the taxonomy, or the chance to guess the place among those below the node.

    Groups by position lose the number of places below a node.  Here a stop may be left out instead, which would cost as
    much as the root: hundreds of places, beside which it hardly mattered whether a stop keeps its own place.
    """
    if distance == "hops":
        return tree.weight(distance)
    return np.round(_SCALE * (1 - 1 / tree.leaves)).astype(np.int64)


def _near(known: Known, tree: Preorder, pool: IntArray) -> IntArray:
    """Return an order of trajectories in which those that begin alike are near each other."""
    number = np.arange(_SORTED_BY)
    at = np.minimum(known.offsets[pool][:, None] + number, len(known.place) - 1)
    return tree.near(np.where(number < known.length[pool][:, None], known.place[at], 0))


def _seat_riders(known: Known, tree: WeightedTree, shares: Shares, groups: Groups, pool: IntArray) -> Groups:
    """Let those left over join a group through whose nodes they go anyway."""
    left = pool[groups.label[pool] < 0]
    if not len(left) or len(groups.offsets) == 1:
        return groups
    offsets, rows = take(known.offsets, left)
    joined, node = embed_stops(offsets, known.place[rows], groups.offsets, groups.node, tree)
    seats = shares.seat(pool, groups.label[pool], left, joined, known.owner, known.secrets)
    label = groups.label.copy()
    label[left] = seats
    shown = groups.shown.copy()
    shown[rows] = np.where(np.repeat(seats >= 0, np.diff(offsets)), node, -1)
    return replace(groups, label=label, shown=shown, riders=int((seats >= 0).sum()))


def _with_positions(
    known: Known, tree: Preorder, distance: str, shares: Shares, engine: Engine, groups: Groups
) -> Groups:
    """Return these groups and those by position of who is in none, also of those with sensitive stops only."""
    out = groups.label < 0
    rows = np.repeat(out, known.length)
    others = Known(
        offsets=keep_rows(known.offsets, rows),
        place=known.place[rows],
        owner=known.owner,
        with_more=known.with_more & out,
        secrets=known.secrets,
    )
    more = find_groups(others, tree, distance, shares, engine)
    n_groups = len(groups.offsets) - 1
    shown = groups.shown.copy()
    shown[rows] = more.shown
    return Groups(
        label=np.where(more.label >= 0, more.label + n_groups, groups.label),
        offsets=np.append(groups.offsets, groups.offsets[-1] + more.offsets[1:]),
        node=np.append(groups.node, more.node),
        shown=shown,
        riders=groups.riders + more.riders,
    )
