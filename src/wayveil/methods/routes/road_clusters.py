"""Clusters of the routes of one slice, and what is done with those of too few people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.kernels.routes.cluster_candidates import CTREE, INVERTED, SCAN, Rule
from wayveil.kernels.routes.route_clusters import cluster_routes
from wayveil.methods.routes.road_parts import Parts, Release
from wayveil.methods.routes.road_shares import rows_within_share
from wayveil.model.data.ragged import IntArray, offsets_of, take, trajectory_of_row

__all__ = ["INDEXES", "Clustering", "choose_release", "release_clusters"]

INDEXES = {"ctree": CTREE, "inverted": INVERTED, "none": SCAN}
"""The names of the ways to look for clusters."""


@dataclass(frozen=True, kw_only=True)
class Clustering:
    """How routes are clustered.

    Parameters
    ----------
    k : int
        The smallest number of people of the claim.
    people : int
        How many share a route: `k`, or more where a single trip would be more than `owner_share`.
    owner_share : Fraction
        The largest share of the trajectories with one route that one person may own.
    index, error, share, bound
        As in `cluster_routes`; `share` as a fraction.
    bound_again : float
        The bound for routes of clusters with too few people, which look for a cluster with enough of them.
    pad : bool
        Whether clusters of more than k / 2 people get dummies instead.
    """

    k: int
    people: int
    owner_share: Fraction
    index: str
    error: int
    share: Fraction
    bound: float
    bound_again: float
    pad: bool


def release_clusters(parts: Parts, how: Clustering) -> Release:
    """Cluster the routes of a slice, and publish every part as the representative of its cluster.

    With ``pad``, clusters of at most k / 2 people are left out, and those of too few filled up with dummies.  Otherwise
    the routes of clusters of too few people look for the best cluster that has enough of them, and what finds none is
    left out.  Where representatives are the same, their people count together.

    A route that has no road in common with the representative is left out: nobody is published on a route of which
    they drove nothing.  Of somebody who has too many parts in a group, the last ones are left out.
    """
    # Figure 3 of Gurung et al. (2014): routes with most people first, each joins the best cluster that is near enough
    # or begins one; the representative of a cluster is the route that began it, trimmed at its ends.
    all_routes = np.arange(len(parts.offsets) - 1)
    clusters = _RouteClusters.of(parts, how, all_routes, np.full(len(all_routes), -1), how.bound, begins=True)
    moved = 0
    # Without dummies a cluster of too few people is dissolved. In a second pass the clusters with enough people keep
    # their routes, and the others choose among these alone; none can begin a cluster any more.
    if not how.pad:
        enough = clusters.people >= how.people
        stays = np.where(enough, np.cumsum(enough) - 1, -1)[clusters.label]
        if not enough.all():
            order = np.argsort(stays < 0, kind="stable")
            clusters = _RouteClusters.of(parts, how, order, stays[order], how.bound_again, begins=False)
        moved = int(((stays < 0) & (clusters.label >= 0))[parts.route].sum())
    # Clusters whose representatives turned out equal are one group to everybody who sees the result, so they are
    # counted as one.
    group = _groups(parts, clusters)
    people = _people(parts, group, len(clusters.people))
    keeps = 2 * people > how.k if how.pad else people >= how.people
    group = np.where(np.append(keeps, False)[group], group, -1)
    dummies = np.where(keeps, np.maximum(how.people - people, 0), 0)
    part = np.flatnonzero(group[parts.route] >= 0)
    too_many = ~rows_within_share(
        group[parts.route[part]], parts.person[part], np.full(len(part), True), how.owner_share, dummies
    )
    own = {"clusters": int(keeps[_first(clusters)].sum()), "dummies": int(dummies.sum())}
    facts = own if how.pad else {"clusters": len(clusters.people), "parts moved to another cluster": moved}
    facts["parts left out of people with too many"] = int(too_many.sum())
    return _release(parts, clusters, part[~too_many], group[parts.route[part[~too_many]]], dummies, facts)


def choose_release(parts: Parts, ways: Sequence[Clustering]) -> Release:
    """Publish a slice in one of several ways: the one that changes the numbers of parts on its roads least in all."""
    releases = [release_clusters(parts, how) for how in ways]
    if len(releases) == 1:
        return releases[0]
    lengths = np.diff(parts.offsets)[parts.route]
    # The traffic before: each part counts on every road of its route.
    rows = np.arange(int(lengths.sum())) + np.repeat(
        parts.offsets[:-1][parts.route] - np.cumsum(lengths) + lengths, lengths
    )
    before = np.bincount(parts.road[rows], minlength=len(parts.roads))
    changes = [
        int(np.abs(np.bincount(np.searchsorted(parts.roads, one.road), minlength=len(before)) - before).sum())
        for one in releases
    ]
    return releases[int(np.argmin(changes))]


@dataclass(frozen=True, kw_only=True, eq=False)
class _RouteClusters:
    """Clusters: which one each route is in (-1 for none), and representatives, as positions in ``Parts.roads``."""

    label: IntArray
    offsets: IntArray
    road: IntArray
    people: IntArray

    @classmethod
    def of(
        cls, parts: Parts, how: Clustering, order: IntArray, fixed: IntArray, bound: float, *, begins: bool
    ) -> _RouteClusters:
        offsets, rows = take(parts.offsets, order)
        owner_first, pairs = take(parts.owner_first, order)
        road = parts.road[rows]
        share = how.share
        rule = Rule(
            n_people=parts.n_people, k=how.people, lookup=INDEXES[how.index], error=how.error,
            share=(share.numerator, share.denominator), begins=begins, bound=float(bound),
        )  # fmt: skip
        releases, begin, end, people = cluster_routes(
            offsets, road, owner_first, parts.owner[pairs], fixed, parts.people_on, rule
        )
        label = np.empty(len(order), np.int64)
        label[order] = releases
        representative = offsets_of(end - begin)
        at = np.arange(representative[-1]) + np.repeat(begin - representative[:-1], end - begin)
        return cls(label=label, offsets=representative, road=road[at], people=people)


def _first(clusters: _RouteClusters) -> IntArray:
    """Return for each cluster the first one with the same representative."""
    return first_equal(clusters.offsets, (clusters.road,))


def _groups(parts: Parts, clusters: _RouteClusters) -> IntArray:
    """Return for each route the first cluster with the representative of its own, -1 if they share no road."""
    group = np.where(clusters.label >= 0, np.append(_first(clusters), -1)[clusters.label], -1)
    n_roads = len(parts.roads)
    on = np.unique(trajectory_of_row(clusters.offsets) * n_roads + clusters.road)
    of_row = trajectory_of_row(parts.offsets)
    shared = np.isin(group[of_row] * n_roads + parts.road, on)
    return np.where(np.bincount(of_row[shared], minlength=len(group)) > 0, group, -1)


def _people(parts: Parts, group: IntArray, n_groups: int) -> IntArray:
    """Return the number of distinct people in each group."""
    of_pair = np.repeat(group, np.diff(parts.owner_first))
    pairs = np.unique((of_pair * parts.n_people + parts.owner)[of_pair >= 0])
    return np.bincount(pairs // parts.n_people, minlength=n_groups)


def _release(
    parts: Parts, clusters: _RouteClusters, part: IntArray, group: IntArray, dummies: IntArray, facts: dict[str, int]
) -> Release:
    """Publish these parts as the route of their group, and dummies per group, each like one of its parts in turn."""
    trajectory = parts.trajectory[part]
    size = np.bincount(group, minlength=len(dummies))
    by_group = np.argsort(group, kind="stable")
    added = np.repeat(np.arange(len(dummies)), dummies)
    # A dummy takes slice and attributes of a real part of its group, each part in turn, so that dummies are no group of
    # their own in any attribute.
    turn = np.arange(len(added)) - (np.cumsum(dummies) - dummies)[added]
    beside = by_group[(np.cumsum(size) - size)[added] + turn % size[added]]
    offsets, rows = take(clusters.offsets, np.concatenate([group, added]))
    return Release(
        source=np.concatenate([trajectory, np.full(len(added), -1)]),
        like=np.concatenate([trajectory, trajectory[beside]]),
        offsets=offsets,
        road=parts.roads[clusters.road[rows]],
        facts={
            "rare roads taken out": parts.n_roads_removed,
            "rows on rare roads": parts.n_rows_removed,
            "parts": len(parts),
            "parts left out": len(parts) - len(part),
            **facts,
        },
    )
