"""The sensitive stops of `cast`: which of them are published in their classes, and as which nodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np

from wayveil.kernels.cast.safe_stops import ClassStops, SensitiveTree, safe_nodes
from wayveil.kernels.common.equal_sequences import first_equal
from wayveil.methods.cast.cast_levels import Groups
from wayveil.methods.cast.cast_shares import Shares, dominated, reach
from wayveil.methods.cast.cast_tree import Preorder
from wayveil.model import CSafety, Engine, Stops
from wayveil.model.claims.counting import exceeds
from wayveil.model.data.ragged import BoolArray, IntArray, keep_rows, trajectory_of_row

__all__ = ["Sensitive", "class_labels", "settle_stops", "short_below"]

_CHUNK = 65_536  # stops; independent of the number of workers
_LONGEST = 10**9


def class_labels(groups: Groups) -> tuple[IntArray, BoolArray]:
    """Return the class of each trajectory, or -1, and whether a class has nodes: groups with the same ones are one."""
    same = first_equal(groups.offsets, (groups.node,))
    same = np.where(same < 0, np.arange(len(same)), same)  # there is one group without nodes at most
    firsts, of_group = np.unique(same, return_inverse=True)
    inside = groups.label >= 0
    label = np.full(len(groups.label), -1)
    label[inside] = of_group[groups.label[inside]]
    return label, np.diff(groups.offsets)[firsts] > 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Sensitive:
    """The trajectories in their classes, and their sensitive stops.

    Parameters
    ----------
    label, owner : int64, one per trajectory
        Its class, or -1 if it is not published; and whose it is, codes from 0 on.
    with_nodes : bool, one per class
        Whether other stops are published too.  In the class where none are, a trajectory is there only while it has a
        sensitive stop.
    of, place, node : int64, one per stop
        Its trajectory, its true place, and the node at which it is published, or -1; nodes in preorder.
    turn : int64, one per trajectory
        Where several could be left out, those with a smaller number are looked at first.
    """

    label: IntArray
    owner: IntArray
    with_nodes: BoolArray
    of: IntArray
    place: IntArray
    node: IntArray
    turn: IntArray

    def publish(
        self, tree: Preorder, shares: Shares, least_people: int, c: Fraction, engine: Engine
    ) -> tuple[IntArray, IntArray]:
        """Return the class of each trajectory, or -1, and the node of each stop, or -1, so that all is safe.

        Nodes with few people are lifted first, so that not all their stops must be left out.
        """
        return self._seen()._lifted(tree, least_people).settle(tree, shares, least_people, c, engine)

    def settle(
        self, tree: Preorder, shares: Shares, least_people: int, c: Fraction, engine: Engine
    ) -> tuple[IntArray, IntArray]:
        """Return the same without lifting what few people have.

        Notes
        -----
        Each round makes the trajectories of classes keep their shares; lifts, or leaves out, stops that are too
        probable; and leaves out those at nodes where too few people are.  Each step may undo what another has seen to,
        but never adds anything, so there is a round that changes nothing.
        """
        state = self._seen()
        while True:
            before = state.label, state.node
            state = state._within_shares(tree, shares)
            state = state._seen()
            state = state._uncovered(tree, c) if shares.c is not None else state._probable(tree, shares.m, c, engine)
            state = state._seen()
            state = state._common(tree, least_people)
            state = state._seen()
            if all(np.array_equal(old, new) for old, new in zip(before, (state.label, state.node), strict=True)):
                return state.label, state.node

    def _seen(self) -> Sensitive:
        """Take out the trajectories of which nothing is published, and the stops of those that are out."""
        shown = np.bincount(self.of[self.node >= 0], minlength=len(self.label)) > 0
        inside = self.label >= 0
        inside[inside] = self.with_nodes[self.label[inside]] | shown[inside]
        return replace(self, label=np.where(inside, self.label, -1), node=np.where(inside[self.of], self.node, -1))

    def _lifted(self, tree: Preorder, least_people: int) -> Sensitive:
        """Replace nodes with stops of too few people by those above them, from the lowest up; none is above the top."""
        node = self.node.copy()
        for depth in range(int(tree.depth.max()), 0, -1):
            # From the leaves up: what is lifted in one round joins the nodes of the next, and may then have enough
            # people.
            rows = np.flatnonzero((node >= 0) & (tree.depth[node] == depth))
            few = rows[_few_people(node[rows], self.owner[self.of[rows]], least_people)]
            above = tree.parent[node[few]]
            node[few] = np.where(tree.sensitive[above] > 0, above, -1)
        return replace(self, node=node)

    def _common(self, tree: Preorder, least_people: int) -> Sensitive:
        """Leave out the stops at nodes where too few people are."""
        rows = np.flatnonzero(self.node >= 0)
        node = self.node.copy()
        node[rows[_few_people(node[rows], self.owner[self.of[rows]], least_people)]] = -1
        return replace(self, node=node)

    def _within_shares(self, tree: Preorder, shares: Shares) -> Sensitive:
        """Leave out trajectories until every class is that of enough people, and keeps its shares.

        Whoever was truly at a place counts there, whether the stop is published or not.
        """
        n = len(self.with_nodes)
        people, trips = self._sizes()
        # A class is bad if it has too few people, if somebody owns too much of it, or if too many were truly at one
        # place.
        bad = ((people < shares.m) & (trips > 0)) | dominated(self.label, self.owner, shares.owner_share, n)
        grouped = self.label[self.of] >= 0
        of = self.of[grouped]
        place = self.place[grouped]
        if shares.c is not None:
            for unit, size in ((self.owner[of], people), (of, trips)):
                bad[_too_many(*reach(self.label[of], place, unit, tree), size, shares.c)[0]] = True
        if not bad.any():
            return self
        label = self.label.copy()
        mine = np.flatnonzero((label >= 0) & bad[label])
        secrets: dict[int, set[int]] = {i: set() for i in mine.tolist()}
        for i, here in zip(of.tolist(), place.tolist(), strict=True):
            if i in secrets:
                secrets[i].add(here)
        # Per bad class, `shares` says whom to leave out, going through its members by their turns.
        mine = mine[np.lexsort((self.turn[mine], label[mine]))]
        for members in np.split(mine, np.flatnonzero(np.diff(label[mine])) + 1):
            truly = [frozenset(secrets[i]) for i in members.tolist()]
            label[members[shares.left_out(self.owner[members].tolist(), truly, tree)]] = -1
        return replace(self, label=label)

    def _uncovered(self, tree: Preorder, c: Fraction) -> Sensitive:
        """Leave out stops that were lifted, where too many of a class could have been at a place below their node."""
        people, trips = self._sizes()
        node = self.node.copy()
        while True:
            shown = np.flatnonzero(node >= 0)
            grouped = np.flatnonzero(self.label[self.of] >= 0)
            of = np.append(self.of[shown], self.of[grouped])
            at = np.append(node[shown], self.place[grouped])
            rows_uncovered = [
                _too_many(*reach(self.label[of], at, unit, tree), size, c)
                for unit, size in ((self.owner[of], people), (of, trips))
            ]
            classes = np.concatenate([label for label, _ in rows_uncovered])
            if not len(classes):
                return replace(self, node=node)
            # All that was lifted to a node above such a place goes, in the classes where too many could have been.
            lifted = shown[node[shown] != self.place[shown]]
            places = np.concatenate([place for _, place in rows_uncovered])
            key = np.sort(classes * len(tree.last) + places)
            base = self.label[self.of[lifted]] * len(tree.last)
            low = np.searchsorted(key, base + node[lifted])
            high = np.searchsorted(key, base + tree.last[node[lifted]])
            is_covered = high > low
            if not is_covered.any():
                return replace(self, node=node)  # stops that were not lifted count as true ones: see `_within_shares`
            node[lifted[is_covered]] = -1

    def _probable(self, tree: Preorder, m: int, c: Fraction, engine: Engine) -> Sensitive:
        """Lift the nodes that are too probable in a class, where the places below a node are equally likely."""
        people, trips = self._sizes()
        rows = np.flatnonzero(self.node >= 0)
        stop = self.node[rows]
        of = self.of[rows]
        label = self.label[of]
        owner = self.owner[of]
        people, trips = (np.where(self.with_nodes, size, 0) for size in (people, trips))
        # With uniform weights classes are independent of each other, so they are cut into chunks of about equally many
        # stops, one task each.
        order = np.lexsort((stop, label))
        first = np.searchsorted(label[order], np.arange(len(people) + 1))
        bound = np.array(short_below(c).as_integer_ratio())
        cuts = np.unique(np.searchsorted(first, np.arange(0, len(stop), _CHUNK)))
        spans = list(pairwise([*np.unique([0, *cuts, len(people)]).tolist()]))
        parts = [
            ClassStops(first[a : b + 1] - first[a], stop[some], owner[some], _codes(of[some]), people[a:b], trips[a:b])
            for a, b in spans
            for some in [order[first[a] : first[b]]]
        ]
        nodes = SensitiveTree(tree.last, tree.parent, tree.leaves, tree.sensitive)
        safe_node = np.empty(len(stop), np.int64)
        results = engine.map(lambda part: safe_nodes(part, nodes, bound, m), parts)
        safe_node[order] = np.concatenate([np.zeros(0, np.int64), *results])
        node = self.node.copy()
        node[rows] = safe_node
        return replace(self, node=node)

    def _sizes(self) -> tuple[IntArray, IntArray]:
        """Return how many people and how many trajectories there are in each class."""
        inside = self.label >= 0
        n = len(self.with_nodes)
        span = int(self.owner.max(initial=0)) + 1
        pairs = np.unique(self.label[inside] * span + self.owner[inside])
        return np.bincount(pairs // span, minlength=n), np.bincount(self.label[inside], minlength=n)


def settle_stops(published: Stops, original: Stops, claim: CSafety, engine: Engine) -> Stops:
    """Return published stops from which as much is left out as it takes to keep the claim by themselves.

    For a part of a publication, or classes of several parts that are put together: each trajectory is that of the
    original at the same position, and keeps its other stops or loses all.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> data = Stops.from_records([["Park", "Clinic"], ["Park"], ["Park"]], taxonomy=tree)
    >>> made = settle_stops(data, data, CSafety(c=0.4, m=2), LocalEngine())  # one person at the clinic: too few
    >>> [made.record(i) for i in range(3)]
    [['Park'], ['Park'], ['Park']]
    """
    tree = Preorder.of(published.taxonomy)
    secret = published.sensitive
    true = original.sensitive
    shown = published.taxonomy.first[published.place[secret]]
    offsets = keep_rows(published.offsets, ~secret)
    same = first_equal(offsets, (published.place[~secret].astype(np.int64),))
    same = np.where(np.diff(offsets) > 0, same, -1)  # all without other stops are one class, the first
    label: IntArray = np.unique(same, return_inverse=True)[1].reshape(-1)
    with_nodes = np.ones(int(label.max(initial=-1)) + 1, np.bool_)
    with_nodes[label[same < 0]] = False
    # What is published, and what is true: a true stop that is not shown counts for shares only.
    stops = Sensitive(
        label=np.where(np.diff(published.offsets) > 0, label, -1),
        owner=_codes(published.owner),
        with_nodes=with_nodes,
        of=np.append(trajectory_of_row(published.offsets)[secret], trajectory_of_row(original.offsets)[true]),
        place=np.append(shown, original.taxonomy.first[original.place[true]]),
        node=np.append(shown, np.full(int(true.sum()), -1)),
        turn=np.arange(len(published)),
    )
    shares = Shares(m=claim.m, owner_share=claim.owner_share, c=claim.c if claim.weights == "worst" else None)
    label, node = stops.settle(tree, shares, claim.least_people, claim.c, engine)
    place = published.place.copy()
    place[secret] = tree.code[node[: len(shown)]]
    keep = label[trajectory_of_row(published.offsets)] >= 0
    keep[secret] &= node[: len(shown)] >= 0
    return replace(published, place=place).where(keep)


def _few_people(node: IntArray, owner: IntArray, least_people: int) -> BoolArray:
    """Return whether stops are at nodes where fewer people have one."""
    span = int(owner.max(initial=0)) + 1
    nodes, people = np.unique(np.unique(node * span + owner) // span, return_counts=True)
    few = people < least_people
    return few[np.searchsorted(nodes, node)] if len(nodes) else np.zeros(0, np.bool_)


def _too_many(
    label: IntArray, node: IntArray, count: IntArray, size: IntArray, c: Fraction
) -> tuple[IntArray, IntArray]:
    """Return the classes and nodes that too large a share of the class may have been at."""
    pairs = zip(count.tolist(), size[label].tolist(), strict=True)
    many = np.array([exceeds(a, b, c) for a, b in pairs], np.bool_)
    return label[many], node[many]


def _codes(numbers: IntArray) -> IntArray:
    """Return codes from 0 on for these numbers."""
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def short_below(c: Fraction) -> Fraction:
    """Return `c`, or where it has a very long denominator a number a little below it: never above.

    Examples
    --------
    >>> short_below(Fraction(1, 3)), short_below(Fraction("0.30000000000000004"))
    (Fraction(1, 3), Fraction(3, 10))
    >>> short_below(Fraction("0.29999999999999999"))
    Fraction(299999999, 1000000000)
    """
    near = c.limit_denominator(_LONGEST)
    return near if near <= c else Fraction(int(c * _LONGEST), _LONGEST)
