"""What all assignments of trajectories to people say together: counted where they are few, sampled where not."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import numpy as np

from wayveil.attacks.positions.known_positions import Array
from wayveil.attacks.positions.narrow_graphs import count_narrow
from wayveil.model.data.ragged import offsets_of
from wayveil.model.lazy_module import lazy_module

__all__ = ["LARGEST_EXACT", "Assignments", "assign"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")

LARGEST_EXACT = 12
"""People in a component whose assignments are counted one by one; larger ones must be narrow, or are sampled."""

CHAINS = 4
"""Samples begin from so many assignments that have nothing to do with each other."""

_COUNTED_AT_ONCE = 1 << 21  # sets of trajectories
_NARROW_STEPS = 400_000  # in one component, and ten times as many in all
_SAMPLING_WORK = 80_000_000
_EXCHANGES = 4  # of everybody, for each sample
_MOST_IN_BITS = 40_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Assignments:
    """What all assignments of trajectories to people together say.

    Parameters
    ----------
    is_possible : bool, one per edge
        Whether some assignment of everybody uses the edge; all edges of a component that has no assignment.
    chance : float, one per edge
        The share of assignments that use the edge; even over a person's edges where there is no assignment.
    judged : bool, one per node
        Whether the component of the node has an assignment.
    exact, sampled : int
        Components whose assignments were counted, and sampled.
    sure : bool, one per node
        Whether the chances of the node's edges are exact.
    chains : float, one per chain and edge
        What each chain of samples says on its own; the same as `chance` where it is exact, and None where all is.
    """

    is_possible: Array
    chance: Array
    judged: Array
    exact: int
    sampled: int
    sure: Array
    chains: Array | None = None

    @classmethod
    def even(cls, i: Array, n: int) -> Assignments:
        """Return what can be said without looking at assignments: all trajectories that fit are equally likely."""
        return cls(
            is_possible=np.ones(len(i), bool),
            chance=1 / np.bincount(i, minlength=n)[i],
            judged=np.zeros(n, bool),
            exact=0,
            sampled=0,
            sure=np.ones(n, bool),
        )


def assign(i: Array, o: Array, n: int, *, samples: int, rng: np.random.Generator) -> Assignments:
    """Return what all perfect matchings of `n` people with `n` trajectories say, from sorted edges ``(i, o)``.

    Examples
    --------
    >>> i, o = np.array([0, 0, 1, 1, 1, 2, 2]), np.array([0, 1, 0, 1, 2, 1, 2])
    >>> assign(i, o, 3, samples=10, rng=np.random.default_rng(1)).chance.round(3).tolist()
    [0.667, 0.333, 0.333, 0.333, 0.333, 0.333, 0.667]
    """
    # One perfect matching is enough to know all edges that any has: relative to it, an edge is in another matching
    # exactly if its ends are in one strongly connected component (an alternating cycle).
    holder, judged = _matching(i, o, n)
    good = judged[i]
    arcs = sparse.csr_array((np.ones(good.sum(), np.int8), (i[good], holder[o[good]])), shape=(n, n))
    label = csgraph.connected_components(arcs, connection="strong")[1] if n else np.zeros(0, np.int64)
    is_used = ~good
    is_used[good] = label[i[good]] == label[holder[o[good]]]
    # Assignments of one component say nothing about another: each has its own, with people numbered from 0.
    size = np.bincount(label[judged], minlength=n)
    order = np.argsort(label, kind="stable")
    local = np.empty(n, np.int64)
    local[order] = np.arange(n) - np.searchsorted(label[order], label[order])
    edge = np.flatnonzero(is_used & good)
    edge = edge[np.argsort(label[i[edge]], kind="stable")]
    of = label[i[edge]]
    a = local[i[edge]]
    b = local[holder[o[edge]]]
    starts = np.append(0, np.cumsum(np.bincount(of, minlength=n)))
    # Where everybody fits everybody, all matchings are alike, and each edge is in 1 / size of them.
    full = np.diff(starts) == size * size
    chance = np.zeros(len(i))
    chance[is_used & ~good] = Assignments.even(i, n).chance[is_used & ~good]
    chance[edge] = 1 / size[of]
    # Components of one and two people are full or trivial; small ones are counted by dynamic programming, those of one
    # size together. Larger ones are counted if they are narrow (few people fit each trajectory), within a budget of
    # steps, and sampled otherwise.
    for people in range(3, LARGEST_EXACT + 1):
        mine = (size[of] == people) & ~full[of]
        components, which = np.unique(of[mine], return_inverse=True)
        chance[edge[mine]] = _counted(which, a[mine], b[mine], len(components), people)
    large = []
    steps = 10 * _NARROW_STEPS
    for component in np.flatnonzero((size > LARGEST_EXACT) & ~full).tolist():
        mine = slice(int(starts[component]), int(starts[component + 1]))
        shares, spent = count_narrow(a[mine], b[mine], int(size[component]), min(steps, _NARROW_STEPS))
        steps -= spent
        if shares is None:
            large.append(component)
        else:
            chance[edge[mine]] = shares
    chains = None
    if large:
        mine = np.isin(of, large)
        before = offsets_of(size[large])[np.searchsorted(large, of[mine])]
        walked = _walked(before + a[mine], before + b[mine], int(size[large].sum()), samples, rng)
        chance[edge[mine]] = walked.mean(axis=0)
        chains = np.repeat(chance[None].astype(np.float32), CHAINS, axis=0)
        chains[:, edge[mine]] = walked
    return Assignments(
        is_possible=is_used,
        chance=chance,
        judged=judged,
        exact=int((size > 0).sum()) - len(large),
        sampled=len(large),
        sure=~np.isin(label, large),
        chains=chains,
    )


def _matching(i: Array, o: Array, n: int) -> tuple[Array, Array]:
    """Return who holds each trajectory in one largest matching, and who is in a component where everybody holds one."""
    if (i == o).sum() == n:  # the truth is a perfect matching, and any will do
        return np.arange(n), np.ones(n, bool)
    graph = sparse.csr_array((np.ones(len(i), np.int8), (i, o)), shape=(n, n))
    holder = csgraph.maximum_bipartite_matching(graph, perm_type="row").astype(np.int64)
    both = sparse.csr_array((np.ones(len(i), np.int8), (i, n + o)), shape=(2 * n, 2 * n))
    label = csgraph.connected_components(both, directed=False)[1]
    lone = np.ones(2 * n, bool)
    lone[holder[holder >= 0]] = False
    lone[n + np.flatnonzero(holder >= 0)] = False
    return holder, ~np.isin(label[:n], label[lone])


def _counted(component: Array, a: Array, b: Array, n: int, size: int) -> Array:
    """Return the share of perfect matchings with each edge, in `n` components of `size` people; exactly.

    Dynamic programming over the sets of trajectories that the first people hold: O(n x size x 2^size) time, in blocks
    of bounded memory.  The counts are at most 12!, which a float holds exactly.
    """
    block = max(1, _COUNTED_AT_ONCE >> size)
    sets = np.arange(1 << size)
    people = np.array([int(s).bit_count() for s in sets])
    shares = np.zeros(len(a))
    for start in range(0, n, block):
        mine = (component >= start) & (component < start + block)
        fits = np.zeros((min(block, n - start), size, size))
        fits[component[mine] - start, a[mine], b[mine]] = 1
        before, after = (np.zeros((len(fits), 1 << size)) for _ in range(2))
        before[:, 0] = after[:, -1] = 1
        uses = np.zeros_like(fits)
        # `before[set]` is the number of ways in which as many people as the set has trajectories hold exactly these.
        # Person i adds trajectory o to every set of i trajectories that lacks it.
        for i in range(size):
            for o in range(size):
                free = sets[(people == i) & (sets >> o & 1 == 0)]
                before[:, free | 1 << o] += fits[:, i, o, None] * before[:, free]
        # `after[set]` is the number of ways to hand out the rest.  The ways before and after an edge (i, o) multiply
        # to the number of perfect matchings with it.
        for i in reversed(range(size)):
            for o in range(size):
                free = sets[(people == i) & (sets >> o & 1 == 0)]
                uses[:, i, o] = fits[:, i, o] * (before[:, free] * after[:, free | 1 << o]).sum(axis=1)
                after[:, free] += fits[:, i, o, None] * after[:, free | 1 << o]
        shares[mine] = (uses / before[:, -1, None, None])[component[mine] - start, a[mine], b[mine]]
    return shares


def _walked(a: Array, b: Array, size: int, samples: int, rng: np.random.Generator) -> Array:
    """Return the share of perfect matchings with each edge, estimated by Markov chains, one line for each chain.

    See `GraphAttack`.  Components walk together, each for itself; chains share the samples.
    """
    order = np.lexsort((b, a))
    i = a[order]
    o = b[order]
    edges = _Edges(i * size + o, size)
    samples = max(10, min(samples, _SAMPLING_WORK // (30 * size + len(i))))
    shares = np.empty((CHAINS, len(i)))
    for chain in range(CHAINS):
        shares[chain, order] = _walk_one(i, o, edges, size, -(-samples // CHAINS), rng)
    return shares


def _walk_one(i: Array, o: Array, edges: _Edges, size: int, samples: int, rng: np.random.Generator) -> Array:
    """Return what one chain says of the edges, sorted by people and trajectories.

    At each sample, what one more exchange of two would give is averaged in: this is as likely as what is there, and
    tells more than a yes or no.
    """
    degree = np.bincount(i, minlength=size)
    first = offsets_of(degree)[:-1]
    # The chain begins far from the truth: with a matching of people and trajectories in random order.
    shuffled = [rng.permutation(size) for _ in range(2)]
    graph = sparse.csr_array((np.ones(len(i), np.int8), (shuffled[0][i], shuffled[1][o])), shape=(size, size))
    start = np.argsort(shuffled[1])[csgraph.maximum_bipartite_matching(graph, perm_type="column")[shuffled[0]]]
    edge_of = np.empty(size, np.int64)  # per trajectory the edge that holds it
    edge_of[start] = edges.at(np.arange(size) * size + start)
    chain = _Chain(i.tolist(), o.tolist(), degree.tolist(), Random(int(rng.integers(2**63))))
    # The beginning of the chain still depends on where it began, and is thrown away.
    unused = 10 + samples // 4
    weight = np.zeros(len(i))
    for sample in range(unused + samples):
        for _ in range(_EXCHANGES):
            _exchange(edge_of, i, o, first, degree, edges, rng)
        edge_of = np.array(chain.walk(edge_of.tolist(), 8 + size // 80))
        if sample >= unused:
            mine = np.empty(size, np.int64)
            mine[i[edge_of]] = np.arange(size)
            # Rao-Blackwell: instead of noting the edges of the sample, the chance that one more exchange leads to each
            # edge is added. It has the same mean and less noise.
            possible = edges.has(i[edge_of[o]] * size + mine[i])
            weight += possible / degree[i]
            weight[edge_of] += 1 - np.bincount(i, possible, size)[i[edge_of]] / degree[i[edge_of]]
    return weight / samples


def _exchange(
    edge_of: Array, i: Array, o: Array, first: Array, degree: Array, edges: _Edges, rng: np.random.Generator
) -> None:
    """Let everybody ask for a random trajectory that fits, and exchange it with its holder, if that fits as well.

    Of those who meet, only the one with the highest lot goes on.  Who wins does not change by the exchanges that are
    made, so that they are as likely forth as back.
    """
    size = len(edge_of)
    person = np.arange(size)
    lot = rng.permutation(size)
    wish = first + (rng.random(size) * degree).astype(np.int64)
    holder = i[edge_of[o[wish]]]
    # Everybody asks at once, and two exchanges must not share a person: of those who meet, the highest lot wins. Lots
    # do not depend on the state, which keeps every exchange as likely as its reverse.
    highest = lot.copy()
    np.maximum.at(highest, holder, lot)
    goes = np.flatnonzero((highest[person] == lot) & (highest[holder] == lot))
    mine = np.empty(size, np.int64)
    mine[i[edge_of]] = person
    other = holder[goes] * size + mine[goes]
    fits = edges.has(other)
    goes = goes[fits]
    other = edges.at(other[fits])
    edge_of[o[wish[goes]]] = wish[goes]
    edge_of[mine[goes]] = other


class _Edges:
    """Sorted edges ``person * size + trajectory``, with one bit for each pair where there is room for that."""

    def __init__(self, keys: Array, size: int) -> None:
        self.keys = keys
        self.bits = None
        if size <= _MOST_IN_BITS:
            self.bits = np.zeros(size * size // 8 + 1, np.uint8)
            np.bitwise_or.at(self.bits, keys >> 3, (1 << (keys & 7)).astype(np.uint8))

    def has(self, edges: Array) -> Array:
        """Return which of the pairs are edges."""
        if self.bits is not None:
            is_set: Array = (self.bits[edges >> 3] >> (edges & 7).astype(np.uint8) & 1).astype(bool)
            return is_set
        is_listed: Array = self.keys[np.minimum(np.searchsorted(self.keys, edges), len(self.keys) - 1)] == edges
        return is_listed

    def at(self, edges: Array) -> Array:
        """Return the positions of edges."""
        return np.searchsorted(self.keys, edges)


class _Chain:
    """A perfect matching that walks; plain lists, because every step depends on the one before."""

    def __init__(self, i: list[int], o: list[int], degree: list[int], random: Random) -> None:
        self.i = i
        self.o = o
        self.degree = degree
        self.random = random
        self.first = offsets_of(np.array(degree))[:-1].tolist()

    def walk(self, edge_of: list[int], times: int) -> list[int]:
        """Give up a trajectory at random, and pass on until it is taken again, so many times."""
        i = self.i
        o = self.o
        degree = self.degree
        first = self.first
        random = self.random.random
        n = len(edge_of)
        for _ in range(times):
            free = int(random() * n)
            person = i[edge_of[free]]
            # Half of the limits are below 4, a quarter from 4 to 8, and so on: most changes are near, none is too far.
            limit = min(int(2 / (1 - random())), 4 * n)
            path: list[tuple[int, int]] = []
            while True:
                edge = first[person] + int(random() * degree[person])
                target = o[edge]
                if target == free:
                    edge_of[free] = edge
                    break
                if len(path) == limit:
                    for taken, was in reversed(path):
                        edge_of[taken] = was
                    break
                path.append((target, edge_of[target]))
                person = i[edge_of[target]]
                edge_of[target] = edge
        return edge_of
