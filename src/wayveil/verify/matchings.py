"""Which edges of an attack graph are in a perfect matching, and who is left for whom."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from wayveil.model.ragged import BoolArray, IntArray, offsets_of
from wayveil.verify.candidates import Candidates
from wayveil.verify.ranges import chunks, distinct, expand

__all__ = ["MOST_EDGES", "Pruned", "is_symmetric", "prune", "self_contained"]

MOST_EDGES = 40_000_000
"""So many edges are listed at most, and so many are searched for a perfect matching."""


def self_contained(graph: Candidates) -> BoolArray:
    """Tell which people have the trajectory of their own number among their candidates."""
    found = np.zeros(len(graph.kind), bool)
    found[graph.candidate[graph.kind[graph.candidate] == graph.kind_of_edge]] = True
    return found


def is_symmetric(graph: Candidates) -> bool:
    """Tell whether trajectory o is a candidate of person i exactly if trajectory i is one of person o.

    All people of kind a have the same candidates.  So the graph is symmetric exactly if of every kind b either all or
    none are among them, and those of a are among the candidates of b whenever those of b are among the ones of a.
    """
    kinds, sizes = len(graph.offsets) - 1, graph.sizes
    ones = np.ones(len(graph.candidate), np.int32)
    # The arrays are copied: adding up changes them in place.
    counts = csr_matrix((ones, graph.kind[graph.candidate], graph.offsets), shape=(kinds, kinds), copy=True)
    counts.sum_duplicates()
    if (counts.data != sizes[counts.indices]).any():
        return False
    other = counts.T.tocsr()
    other.sort_indices()
    # Columns alone tell: how often each occurs is the length of the rows of the other one.
    return np.array_equal(counts.indices, other.indices)


@dataclass(frozen=True, kw_only=True, eq=False)
class Pruned:
    """What is left of an attack graph.

    Parameters
    ----------
    edges : int
        Number of edges between people and trajectories.
    people : int64, one per person
        Distinct owners of the trajectories that are left for each person.
    least : int
        Smallest number of distinct people who are left for a trajectory.
    rarest : int64
        Trajectories for which only so many are left; all of them if these are fewer than `k`, else at least one.
    """

    edges: int
    people: IntArray
    least: int
    rarest: IntArray


def prune(graph: Candidates, owner: IntArray, k: int) -> Pruned | None:
    """Take away every edge that is in no perfect matching of people with trajectories.

    Parameters
    ----------
    graph : Candidates
        Who can be whose.
    owner : int64, one per trajectory
        The person behind each; people are counted by it.
    k : int
        See `Pruned.rarest`.

    Returns
    -------
    Pruned or None
        None if a perfect matching had to be searched for in a graph of more than `MOST_EDGES`.

    Notes
    -----
    Take a perfect matching: everybody with their own trajectory, if all have that as a candidate.  Draw an arrow from
    person i to person j if the trajectory of j in this matching is a candidate of i.  An edge from i to that of j is in
    a perfect matching exactly if i and j lie on a common cycle of arrows, or are the same: changing the matching along
    the cycle gives the other one.  Those on common cycles make a strongly connected component.

    People of one kind have arrows to each other, so they are in one component, and one node between them and their
    candidates stands for all their arrows.  Time is O(edges), counted between kinds of people and trajectories.

    Examples
    --------
    Five people with the candidates 01, 014, 23, 23 and 34.  The last is left with 4: two others need 2 and 3.

    >>> flat = np.array([0, 1, 0, 1, 4, 2, 3, 3, 4])
    >>> graph = Candidates(kind=np.array([0, 1, 2, 2, 3]), offsets=np.array([0, 2, 5, 7, 9]), candidate=flat)
    >>> left = prune(graph, np.arange(5), 2)
    >>> left.people.tolist(), left.least, left.rarest.tolist(), left.edges
    ([2, 2, 2, 2, 1], 1, [4], 9)
    """
    n = len(graph.kind)
    partner = np.arange(n) if self_contained(graph).all() else _match(graph)
    if partner is None:
        return None
    if (partner < 0).any():
        nobody = np.zeros(n, np.int64)
        return Pruned(edges=0, people=nobody, least=0, rarest=np.arange(n))
    person = np.empty(n, np.int64)
    person[partner] = np.arange(n)

    hub = graph.kind_of_edge
    keep = _same_component(graph, person, hub)
    hub, candidate = hub[keep], graph.candidate[keep].astype(np.int64)
    sizes = graph.sizes
    codes, who = np.unique(owner, return_inverse=True)
    everyone = len(codes) == n
    entries = hub if everyone else distinct(hub * len(codes) + who[candidate]) // len(codes)
    people = np.bincount(entries, minlength=len(sizes))[graph.kind]
    if everyone:
        left = np.bincount(candidate, weights=sizes[hub], minlength=n).astype(np.int64)
        least = int(left.min())
        rarest: IntArray = np.flatnonzero(left == least)
    else:
        least, rarest = _fewest(graph.kind, hub, candidate, who, k)
    return Pruned(edges=int(sizes[hub].sum()), people=people, least=least, rarest=rarest)


def _match(graph: Candidates) -> IntArray | None:
    """Return a trajectory for everybody in a largest matching, -1 for those without; None if the graph is too large."""
    lengths = np.diff(graph.offsets)[graph.kind]
    if int(lengths.sum()) > MOST_EDGES:
        return None
    at, _ = expand(graph.offsets[graph.kind], lengths)
    n = len(graph.kind)
    ones = np.ones(len(at), np.int8)
    full = csr_matrix((ones, graph.candidate[at].astype(np.int32), offsets_of(lengths).astype(np.int32)), shape=(n, n))
    found: IntArray = maximum_bipartite_matching(full, perm_type="column").astype(np.int64)
    return found


def _same_component(graph: Candidates, person: IntArray, hub: IntArray) -> BoolArray:
    """Tell for every edge of the graph whether its ends are in the same component; `person` has each trajectory."""
    n, kinds = len(graph.kind), len(graph.offsets) - 1
    to = np.concatenate([n + graph.kind, person[graph.candidate]]).astype(np.int32)
    starts = np.concatenate([np.arange(n), n + graph.offsets]).astype(np.int32)
    arrows = csr_matrix((np.ones(len(to)), to, starts), shape=(n + kinds, n + kinds))
    _, component = connected_components(arrows, directed=True, connection="strong")
    kept: BoolArray = component[n + hub] == component[person[graph.candidate]]
    return kept


def _fewest(kind: IntArray, hub: IntArray, candidate: IntArray, owner: IntArray, k: int) -> tuple[int, IntArray]:
    """Return the smallest number of distinct people of a trajectory, and trajectories that have it.

    The people of one kind alone are at least so many; who has too many of these already need not be counted.
    """
    n, owners = len(kind), int(owner.max()) + 1
    kind_of_entry, who = np.divmod(distinct(kind * owners + owner), owners)
    starts = offsets_of(np.bincount(kind_of_entry))
    some = np.zeros(n, np.int64)
    np.maximum.at(some, candidate, np.diff(starts)[hub])
    all_ = np.bincount(candidate, weights=np.diff(starts)[hub], minlength=n).astype(np.int64)
    left = np.where(some == all_, some, owners + 1)
    by_candidate = np.argsort(candidate, kind="stable")
    edges = offsets_of(np.bincount(candidate, minlength=n))

    order = np.argsort(some, kind="stable")
    order = order[left[order] > owners]
    for part in chunks(all_[order]):
        least = int(left.min())
        chosen = order[part]
        chosen = chosen[some[chosen] < (least if least >= k else least + 1)]
        at, which = expand(edges[chosen], np.diff(edges)[chosen])
        group = hub[by_candidate[at]]
        entry, edge = expand(starts[group], np.diff(starts)[group])
        pairs = distinct(which[edge] * owners + who[entry])
        left[chosen] = np.bincount(pairs // owners, minlength=len(chosen))
    return int(left.min()), np.flatnonzero(left == left.min())
