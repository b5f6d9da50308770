"""Which edges of an attack graph are in a perfect matching, and who is left for whom."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, maximum_bipartite_matching

from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of
from wayveil.verifiers.attack_graph.candidates import Candidates
from wayveil.verifiers.common.index_ranges import chunks, expand
from wayveil.verifiers.common.whole_trajectories import same

__all__ = ["MOST_EDGES", "Left", "Pruned", "is_symmetric", "prune", "self_contained"]

MOST_EDGES = 40_000_000
"""So many edges are listed at most, and so many are searched for a perfect matching."""


def self_contained(graph: Candidates) -> BoolArray:
    """Tell which people have the trajectory of their own number among their candidates."""
    has_itself = np.zeros(len(graph.kind), bool)
    has_itself[graph.candidate[graph.kind[graph.candidate] == graph.kind_of_edge]] = True
    return has_itself


def is_symmetric(graph: Candidates) -> bool:
    """Tell whether trajectory o is a candidate of person i exactly if trajectory i is one of person o.

    All people of kind a have the same candidates.  So the graph is symmetric exactly if of every kind b either all or
    none are among them, and those of a are among the candidates of b whenever those of b are among the ones of a.
    """
    kinds = len(graph.offsets) - 1
    sizes = graph.sizes
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
    of_person : Left
        Who owns the trajectories that are left for each person.
    of_trajectory : Left
        Whose are the people who are left for each trajectory.
    """

    edges: int
    of_person: Left
    of_trajectory: Left

    @property
    def people(self) -> IntArray:
        """Distinct owners of the trajectories that are left for each person."""
        return self.of_person.people

    @property
    def least(self) -> int:
        """Smallest number of distinct people who are left for a trajectory."""
        return int(self.of_trajectory.people.min())

    @property
    def rarest(self) -> IntArray:
        """Trajectories for which only so many are left."""
        return np.flatnonzero(self.of_trajectory.people == self.least)


@dataclass(frozen=True, kw_only=True, eq=False)
class Left:
    """What is left for each of some nodes: distinct people, the most nodes of one of them, and all nodes."""

    people: IntArray
    most: IntArray
    whole: IntArray

    @classmethod
    def of_single(cls, count: IntArray) -> Left:
        """Return what is left where every node is a person of its own."""
        return cls(people=count, most=np.minimum(count, 1), whole=count)

    @property
    def share(self) -> float:
        """The largest share of the nodes that are left for one which are one person's."""
        return float(np.divide(self.most, self.whole, out=np.ones(len(self.most)), where=self.whole > 0).max())

    def dominated(self, share: Fraction) -> BoolArray:
        """Tell for which nodes one person has more than a share of what is left, or nothing is left."""
        is_dominated: BoolArray = self.most * share.denominator > self.whole * share.numerator
        is_dominated |= self.whole == 0
        return is_dominated


def prune(graph: Candidates, owner: IntArray) -> Pruned | None:
    """Take away every edge that is in no perfect matching of people with trajectories.

    Parameters
    ----------
    graph : Candidates
        Who can be whose.
    owner : int64, one per trajectory
        The person behind each; people are counted by it.

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
    >>> left = prune(graph, np.arange(5))
    >>> left.people.tolist(), left.least, left.rarest.tolist(), left.edges
    ([2, 2, 2, 2, 1], 1, [4], 9)
    """
    n = len(graph.kind)
    partner = np.arange(n) if self_contained(graph).all() else _match(graph)
    if partner is None:
        return None
    if (partner < 0).any():
        nobody = Left.of_single(np.zeros(n, np.int64))
        return Pruned(edges=0, of_person=nobody, of_trajectory=nobody)
    person = np.empty(n, np.int64)
    person[partner] = np.arange(n)

    hub = graph.kind_of_edge
    keep = _same_component(graph, person, hub)
    hub = hub[keep]
    candidate = graph.candidate[keep].astype(np.int64)
    sizes = graph.sizes
    codes, who = np.unique(owner, return_inverse=True)
    if len(codes) == n:
        count = np.bincount(hub, minlength=len(sizes))[graph.kind]
        left = np.bincount(candidate, weights=sizes[hub], minlength=n).astype(np.int64)
        of_person = Left.of_single(count)
        of_trajectory = Left.of_single(left)
    else:
        of_kind = _count(hub, who[candidate], np.ones(len(hub), np.int64), len(sizes))
        of_person = Left(**{name: getattr(of_kind, name)[graph.kind] for name in ("people", "most", "whole")})
        of_trajectory = _of_trajectories(graph.kind, hub, candidate, who)
    return Pruned(edges=int(sizes[hub].sum()), of_person=of_person, of_trajectory=of_trajectory)


def _match(graph: Candidates) -> IntArray | None:
    """Return a trajectory for everybody in a largest matching, -1 for those without; None if the graph is too large."""
    lengths = np.diff(graph.offsets)[graph.kind]
    if int(lengths.sum()) > MOST_EDGES:
        return None
    at, _ = expand(graph.offsets[graph.kind], lengths)
    n = len(graph.kind)
    ones = np.ones(len(at), np.int8)
    full = csr_matrix((ones, graph.candidate[at].astype(np.int32), offsets_of(lengths).astype(np.int32)), shape=(n, n))
    partner: IntArray = maximum_bipartite_matching(full, perm_type="column").astype(np.int64)
    return partner


def _same_component(graph: Candidates, person: IntArray, hub: IntArray) -> BoolArray:
    """Tell for every edge of the graph whether its ends are in the same component; `person` has each trajectory."""
    n = len(graph.kind)
    kinds = len(graph.offsets) - 1
    to = np.concatenate([n + graph.kind, person[graph.candidate]]).astype(np.int32)
    starts = np.concatenate([np.arange(n), n + graph.offsets]).astype(np.int32)
    arrows = csr_matrix((np.ones(len(to)), to, starts), shape=(n + kinds, n + kinds))
    _, component = connected_components(arrows, directed=True, connection="strong")
    is_same: BoolArray = component[n + hub] == component[person[graph.candidate]]
    return is_same


def _count(node: IntArray, owner: IntArray, times: IntArray, n: int) -> Left:
    """Count what is left for `n` nodes, from entries of a node, an owner, and how often."""
    owners = int(owner.max(initial=0)) + 1
    keys, entry = np.unique(node * owners + owner, return_inverse=True)
    many = np.bincount(entry, weights=times, minlength=len(keys)).astype(np.int64)
    most = np.zeros(n, np.int64)
    np.maximum.at(most, keys // owners, many)
    return Left(
        people=np.bincount(keys // owners, minlength=n),
        most=most,
        whole=np.bincount(keys // owners, weights=many, minlength=n).astype(np.int64),
    )


def _of_trajectories(kind: IntArray, hub: IntArray, candidate: IntArray, owner: IntArray) -> Left:
    """Count the people who are left for every trajectory; trajectories for which the same kinds are left, once."""
    n = len(kind)
    owners = int(owner.max()) + 1
    keys, times = np.unique(kind * owners + owner, return_counts=True)
    kind_of_entry, who = np.divmod(keys, owners)
    starts = offsets_of(np.bincount(kind_of_entry))
    lists = offsets_of(np.bincount(candidate, minlength=n))
    hubs = hub[np.argsort(candidate, kind="stable")]
    which, example = same(lists, [hubs], np.arange(n))
    counts = np.zeros((3, len(example)), np.int64)
    total = offsets_of(np.diff(starts)[hubs])
    for part in chunks((total[lists[1:]] - total[lists[:-1]])[example]):
        at, place = expand(lists[example[part]], np.diff(lists)[example[part]])
        entry, edge = expand(starts[hubs[at]], np.diff(starts)[hubs[at]])
        left = _count(place[edge], who[entry], times[entry], len(part))
        counts[:, part] = left.people, left.most, left.whole
    people, most, whole = counts[:, which]
    return Left(people=people, most=most, whole=whole)
