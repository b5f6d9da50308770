"""Groups of `cast`: trajectories with equally many stops, from the longest down; what is left over is cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.kernels.cast.stop_groups import near_groups
from wayveil.kernels.cast.taxonomy_cover import WeightedTree, cheapest_cover
from wayveil.methods.cast.cast_shares import Shares
from wayveil.methods.cast.cast_tree import Preorder
from wayveil.model import Engine
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of, trajectory_of_row

__all__ = ["Groups", "Known", "find_groups"]

_BLOCK = 1024
"""Trajectories that are grouped at once (or 32 m): more make groups hardly cheaper."""

_ROUNDS = 3


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """What an attacker may know: the stops of trajectories at places that are not sensitive.

    Parameters
    ----------
    offsets, place : int64
        The stops of every trajectory, as nodes in preorder.
    owner : int64, one per trajectory
        Codes from 0 on.
    with_more : bool, one per trajectory
        Whether it has sensitive stops too, so that something is left of it when all others are cut.
    secrets : int64, (trajectories, width)
        The different sensitive nodes of each, and -1 where there are fewer; no column where they do not matter.
    """

    offsets: IntArray
    place: IntArray
    owner: IntArray
    with_more: BoolArray
    secrets: IntArray

    @property
    def length(self) -> IntArray:
        """Number of stops."""
        return np.diff(self.offsets)

    def first_stops(self, trajectories: IntArray, n: int) -> IntArray:
        """Return the first `n` stops of these trajectories, one row each."""
        return self.place[self.offsets[trajectories][:, None] + np.arange(n)]

    def people(self, trajectories: IntArray) -> int:
        """Return how many people have these trajectories."""
        return len(np.unique(self.owner[trajectories]))


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """The group of every trajectory, or -1, and the sequence of nodes of every group.

    `label` is per trajectory; group `g` has the nodes ``node[offsets[g]:offsets[g + 1]]``, in preorder; `shown` is the
    node of every known stop, or -1 where it is left out; `riders` is how many trajectories joined a group that was made
    without them.
    """

    label: IntArray
    offsets: IntArray
    node: IntArray
    shown: IntArray
    riders: int


def find_groups(known: Known, tree: Preorder, distance: str, shares: Shares, engine: Engine) -> Groups:
    """Group trajectories by enough people each; what is left over loses stops at its end, or is in no group at last.

    Each group keeps the shares by itself: nobody owns too much of it, and no secret is that of too many.
    """
    m = shares.group_size
    length = known.length
    nonempty = (length > 0) | known.with_more
    # Algorithm 1 of Monreale et al. (2011), from the longest trajectories down (the printed loop goes up, though
    # cutting makes shorter ones): trajectories are grouped by the number of their stops that are not sensitive, because
    # generalization joins stops position by position. Before each round `left` has what longer rounds could not group;
    # a round adds the trajectories with exactly `width` stops, groups them by their first `width` stops, and passes on
    # whoever is left, who then loses the stops beyond. After the shortest length, whoever is left is suppressed.
    lengths = np.unique(length[nonempty])[::-1].tolist()
    by_length = np.argsort(length, kind="stable")
    by_length = by_length[nonempty[by_length]]
    bounds = np.searchsorted(length[by_length], [*lengths, -1], side="right")
    label = np.full(len(length), -1)
    n_groups = 0
    riders = 0
    nodes: list[IntArray] = []
    left = np.zeros(0, np.int64)
    for step, width in enumerate(lengths):
        engine.progress("grouping trajectories", step, len(lengths))
        pool = np.union1d(left, by_length[bounds[step + 1] : bounds[step]])
        if width == 0:
            pool = pool[known.with_more[pool]]
        level = _level if width else _without_stops
        grouped, n_new = level(known, tree, distance, pool, width, shares, engine)
        left = pool[grouped < 0]
        # Instead of losing a stop, a trajectory that is left may ride along in a group that was made without it, if
        # that group's nodes cover its stops. But not those that the next, shorter round needs to reach m people.
        if len(n_new) and len(left):
            free: IntArray = np.arange(len(left))
            if step + 1 < len(lengths):
                after = by_length[bounds[step + 2] : bounds[step + 1]]
                free = _not_needed(known, left, after, last_cut=lengths[step + 1] == 0, m=m)
            joined = cheapest_cover(known.first_stops(left[free], width), n_new, tree.last, tree.weight(distance))
            # Each rider is welcome only as far as the shares of its group allow: nobody may own too much of a group,
            # and no sensitive place may belong to too many of it.
            joined = shares.seat(pool, grouped, left[free], joined, known.owner, known.secrets)
            grouped[np.flatnonzero(grouped < 0)[free]] = joined
            riders += int((joined >= 0).sum())
            left = pool[grouped < 0]
        label[pool] = np.where(grouped >= 0, grouped + n_groups, -1)
        n_groups += len(n_new)
        nodes.append(n_new)
    offsets = offsets_of(np.concatenate([np.zeros(0, np.int64), *(np.full(len(n), n.shape[1]) for n in nodes)]))
    node = np.concatenate([np.zeros(0, np.int64), *(n.ravel() for n in nodes)])
    shown = _by_position(known, label, offsets, node)
    return Groups(label=label, offsets=offsets, node=node, shown=shown, riders=riders)


def _by_position(known: Known, label: IntArray, offsets: IntArray, node: IntArray) -> IntArray:
    """Return the node of each stop: that of its group at the same position, or -1 where it is cut."""
    trajectory = trajectory_of_row(known.offsets)
    # Stop number i of a trajectory becomes node number i of its group; stops beyond the length of the group are cut
    # off.
    number = np.arange(len(trajectory)) - known.offsets[trajectory]
    group = label[trajectory]
    in_group = group >= 0
    in_group[in_group] = number[in_group] < np.diff(offsets)[group[in_group]]
    shown = np.full(len(trajectory), -1)
    shown[in_group] = node[offsets[group[in_group]] + number[in_group]]
    return shown


def _level(
    known: Known, tree: Preorder, distance: str, pool: IntArray, width: int, shares: Shares, engine: Engine
) -> tuple[IntArray, IntArray]:
    """Group trajectories by their first `width` stops; return the group of each, or -1, and the nodes of the groups."""
    places = known.first_stops(pool, width)
    weight = tree.weight(distance)
    order = tree.near(places)
    rank = np.empty(len(pool), np.int64)
    rank[order] = np.arange(len(pool))
    group_of = np.full(len(pool), -1)
    n_groups = 0
    rest = order
    m = shares.group_size
    most = shares.most_alike
    block = max(_BLOCK, 32 * m)

    weighted = WeightedTree(tree.last, tree.parent, weight)

    def one(part: tuple[IntArray, IntArray, IntArray]) -> IntArray:
        owner = np.unique(part[1], return_inverse=True)[1].astype(np.int64)
        secrets = np.unique(np.append(part[2], -1), return_inverse=True)[1][:-1].reshape(part[2].shape) - 1
        return near_groups(part[0], owner, secrets.astype(np.int64), most, m, weighted, _ROUNDS, block)

    before = -1  # where secrets keep people apart, those left over may be many and make no group any more
    mixed = False
    while known.people(pool[rest]) >= m and not (mixed and n_groups == before):
        mixed = before >= 0
        before = n_groups
        parts = np.array_split(rest, -(-len(rest) // block))
        labels = engine.map(one, [(places[part], known.owner[pool[part]], known.secrets[pool[part]]) for part in parts])
        for part, label in zip(parts, labels, strict=True):
            group_of[part] = np.where(label >= 0, label + n_groups, -1)
            n_groups += int(label.max()) + 1
        # blocks of few people leave much over: the first of everybody, the second of everybody, and so on
        rest = order[group_of[order] < 0]
        rest = rest[np.argsort(_occurrence(known.owner[pool[rest]]), kind="stable")]
        rest = np.concatenate([np.sort(rank[part]) for part in np.array_split(rest, -(-len(rest) // block) or 1)])
        rest = order[rest]
    return group_of, _common(tree, places, group_of, n_groups)


def _without_stops(
    known: Known, tree: Preorder, distance: str, pool: IntArray, width: int, shares: Shares, engine: Engine
) -> tuple[IntArray, IntArray]:
    """Return one group of all, if they are of enough people: nothing tells them apart."""
    enough = known.people(pool) >= shares.m
    return np.full(len(pool), 0 if enough else -1), np.zeros((int(enough), 0), np.int64)


def _occurrence(owner: IntArray) -> IntArray:
    """Return how often the owner of each trajectory was there before."""
    order = np.argsort(owner, kind="stable")
    _, first, count = np.unique(owner[order], return_index=True, return_counts=True)
    occurrence = np.empty(len(owner), np.int64)
    occurrence[order] = np.arange(len(owner)) - np.repeat(first, count)
    return occurrence


def _common(tree: Preorder, places: IntArray, label: IntArray, n_groups: int) -> IntArray:
    """Return the lowest common ancestors of the places of each group, one row per group."""
    order = np.argsort(label, kind="stable")[int((label < 0).sum()) :]
    if not n_groups:
        return np.zeros((0, places.shape[1]), np.int64)
    first = np.searchsorted(label[order], np.arange(n_groups))
    low, high = (ends.reduceat(places[order], first, axis=0) for ends in (np.minimum, np.maximum))
    return tree.lowest(low.ravel(), high.ravel()).reshape(low.shape)


def _not_needed(known: Known, left: IntArray, after: IntArray, *, last_cut: bool, m: int) -> IntArray:
    """Return which of those left over may join a group: others are missed where only they make a group possible."""
    useful = known.with_more[left] if last_cut else np.ones(len(left), np.bool_)
    alone = known.people(after)
    together = known.people(np.append(after, left[useful]))
    needed = useful & (alone < m <= together)
    return np.flatnonzero(~needed)
