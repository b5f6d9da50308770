"""Clusters of the routes of one slice, and what is done with those of too few people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.kernels.equal_sequences import first_equal
from wayveil.kernels.road_candidates import CTREE, INVERTED, SCAN
from wayveil.kernels.road_clusters import cluster_routes
from wayveil.methods.road_parts import Parts, Release
from wayveil.model.ragged import BoolArray, IntArray, offsets_of, take

__all__ = ["INDEXES", "Clustering", "release_clusters"]

INDEXES = {"ctree": CTREE, "inverted": INVERTED, "none": SCAN}
"""The names of the ways to look for clusters."""


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """How routes are clustered.

    Parameters
    ----------
    k, index, error, share, bound
        As in `cluster_routes`; `share` as a fraction.
    bound_again : float
        The bound for routes of clusters with too few people, which look for a cluster with enough of them.
    pad : bool
        Whether clusters of more than k / 2 people get dummies instead.
    """

    k: int
    index: str
    error: int
    share: Fraction
    bound: float
    bound_again: float
    pad: bool


def release_clusters(parts: Parts, how: Clustering) -> Release:
    """Cluster the routes of a slice, and publish every part as the representative of its cluster.

    With ``pad``, clusters of at most k / 2 people are left out, and those of fewer than k filled up with dummies; where
    representatives are the same, their people count together.  Otherwise the routes of clusters of fewer than k people
    look for the best cluster that has enough of them, and what finds none is left out.
    """
    all_routes = np.arange(len(parts.offsets) - 1)
    found = _Found.of(parts, how, all_routes, np.full(len(all_routes), -1), how.bound, begins=True)
    if how.pad:
        return _padded(parts, found, how.k)
    enough = found.people >= how.k
    stays = np.where(enough, np.cumsum(enough) - 1, -1)[found.label]
    if not enough.all():
        order = np.argsort(stays < 0, kind="stable")
        found = _Found.of(parts, how, order, stays[order], how.bound_again, begins=False)
    moved = int(((stays < 0) & (found.label >= 0))[parts.route].sum())
    facts = {"clusters": len(found.people), "parts moved to another cluster": moved}
    return _release(parts, found, found.label >= 0, np.zeros(len(found.people), np.int64), facts)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Found:
    """Clusters: which one each route is in (-1 for none), and representatives, as positions in ``Parts.roads``."""

    label: IntArray
    offsets: IntArray
    road: IntArray
    people: IntArray

    @classmethod
    def of(
        cls, parts: Parts, how: Clustering, order: IntArray, fixed: IntArray, bound: float, *, begins: bool
    ) -> _Found:
        offsets, rows = take(parts.offsets, order)
        owner_first, pairs = take(parts.owner_first, order)
        road, share = parts.road[rows], how.share
        options = [
            parts.n_people, how.k, INDEXES[how.index], how.error, share.numerator, share.denominator, int(begins),
        ]  # fmt: skip
        made, begin, end, people = cluster_routes(
            offsets, road, owner_first, parts.owner[pairs], fixed, parts.people_on, np.array(options), float(bound)
        )
        label = np.empty(len(order), np.int64)
        label[order] = made
        representative = offsets_of(end - begin)
        at = np.arange(representative[-1]) + np.repeat(begin - representative[:-1], end - begin)
        return cls(label=label, offsets=representative, road=road[at], people=people)


def _padded(parts: Parts, found: _Found, k: int) -> Release:
    same = first_equal(found.offsets, (found.road,))
    of_pair = np.repeat(same[found.label], np.diff(parts.owner_first))
    pairs = np.unique(of_pair * parts.n_people + parts.owner)
    people = np.bincount(pairs // parts.n_people, minlength=len(same))[same]
    keeps = 2 * people > k
    dummies = np.where(keeps, np.maximum(k - people, 0), 0)  # only where a representative is of one cluster alone
    facts = {"clusters": int(keeps.sum()), "dummies": int(dummies.sum())}
    return _release(parts, found, keeps[found.label], dummies, facts)


def _release(parts: Parts, found: _Found, keeps: BoolArray, dummies: IntArray, facts: dict[str, int]) -> Release:
    """Publish the parts of routes that are kept, and dummies per cluster, each like one of its parts in turn."""
    part = np.flatnonzero(keeps[parts.route])
    cluster, trajectory = found.label[parts.route[part]], parts.trajectory[part]
    size, by_cluster = np.bincount(cluster, minlength=len(dummies)), np.argsort(cluster, kind="stable")
    added = np.repeat(np.arange(len(dummies)), dummies)
    turn = np.arange(len(added)) - (np.cumsum(dummies) - dummies)[added]
    beside = by_cluster[(np.cumsum(size) - size)[added] + turn % size[added]]
    offsets, rows = take(found.offsets, np.concatenate([cluster, added]))
    return Release(
        source=np.concatenate([trajectory, np.full(len(added), -1)]),
        like=np.concatenate([trajectory, trajectory[beside]]),
        offsets=offsets,
        road=parts.roads[found.road[rows]],
        facts={
            "rare roads taken out": parts.n_roads_removed,
            "rows on rare roads": parts.n_rows_removed,
            "parts": len(parts),
            "parts left out": len(parts) - len(part),
            **facts,
        },
    )
