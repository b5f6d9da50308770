"""What a publication of stops tells whom: its classes, the known places that fit them, and what is inferred."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.kernels.attacks.place_match import Preorder, Questions, StopClasses, match_places
from wayveil.model import Engine, Stops, Taxonomy
from wayveil.model.data.distinct import distinct_rows, distinct_values
from wayveil.model.data.ragged import keep_rows, offsets_of, take, trajectory_of_row

__all__ = ["Outcome", "PlaceClasses", "recode_places"]

Array = NDArray[Any]

_TASKS = 16
_DIGITS = 1e12  # probabilities are cut to 12 digits, so that 3/10 is never above 0.3
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class Outcome:
    """Of each attack: the people who fit, the largest probability, and that of a true place (NaN: there is none)."""

    people: Array
    largest: Array
    true: Array

    def or_more(self, other: Outcome) -> Outcome:
        """Return the same people with the larger probabilities of both."""
        return Outcome(self.people, np.maximum(self.largest, other.largest), np.fmax(self.true, other.true))


@dataclass(frozen=True, eq=False)
class PlaceClasses:
    """The classes of the target, with nodes numbered by the preorder of the taxonomy, as the kernel takes them."""

    rank: Array
    tree: Preorder
    classes: StopClasses

    @classmethod
    def of(cls, component: str, target: Stops, truth: Stops, unit: Array) -> PlaceClasses:
        """Put the target into classes; `unit` is the person behind each of its trajectories, or its own number."""
        tree = truth.taxonomy
        node = recode_places(component, truth, target)
        # In preorder the nodes below one are a range.
        rank = tree.first.astype(np.int64)
        above = np.where(tree.parent < 0, -1, rank[tree.parent])[tree.order]
        secret = tree.sensitive[node]
        offsets = keep_rows(target.offsets, ~secret)
        item = rank[node[~secret]]
        class_of, example = _classes(offsets, item, len(tree))
        class_offsets, rows = take(offsets, example)
        item = item[rows]
        n = len(example)
        # Who is in which class; trajectories without known places (-1) fit nothing that can be known.
        has_class = class_of >= 0
        pairs, number = np.unique(class_of[has_class] * len(target) + unit[has_class], return_inverse=True)
        class_of_pair = pairs // max(1, len(target))
        pair = np.full(len(target), -1, np.int64)
        pair[has_class] = number
        people = np.bincount(class_of_pair, minlength=n)
        secret_pair = np.repeat(pair, np.diff(keep_rows(target.offsets, secret)))
        evidence, weight, evidence_offsets = _evidence(secret_pair, rank[node[secret]], class_of_pair, n, tree, above)
        # Each class once for each of its nodes.
        listed = distinct_values(item * max(1, n) + trajectory_of_row(class_offsets))
        index_offsets = offsets_of(np.bincount(listed // max(1, n), minlength=len(tree)))
        index = listed % max(1, n)
        # A signature of 63 bits per class: a class without a bit that a question has cannot fit it.
        signs = np.bitwise_or.reduceat(np.int64(1) << item % 63, class_offsets[:-1])[index] if n else index
        return cls(
            rank,
            Preorder(above, tree.last[tree.order].astype(np.int64)),
            StopClasses(item, class_offsets, people, evidence, weight, evidence_offsets, index, signs, index_offsets),
        )

    @property
    def _lowest(self) -> Array:
        """The lowest node at or above each place that some class has: the same classes fit both; the root if none."""
        lowest = self.rank.copy()
        none = np.diff(self.classes.index_offsets) == 0
        # Nodes that no class has are lifted until some class has them: the answer is the same, and equal questions
        # meet.
        while (higher := none[lowest] & (lowest > 0)).any():
            lowest[higher] = self.tree.above[lowest[higher]]
        return lowest

    def infer(self, places: Array, queries: Array, engine: Engine) -> Outcome:
        """Return what each attack finds; equal sequences are matched once, and asked for several places."""
        places = np.where(places >= 0, self._lowest[places], -1)
        different = distinct_rows(*places.T)
        known = places[different.first]
        which = different.code
        order = np.argsort(which, kind="stable")
        order = order[queries[order] >= 0]
        secret_offsets = offsets_of(np.bincount(which[order], minlength=len(known)))
        cuts = np.unique(np.linspace(0, len(known), _TASKS + 1).astype(np.int64))
        work = partial(self._match, known, self.rank[queries[order]], secret_offsets)
        parts = engine.map(work, [slice(a, b) for a, b in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)])
        people, largest, share = (np.concatenate(column) for column in zip(_NOTHING, *parts, strict=True))
        true = np.full(len(places), np.nan)
        true[order] = share
        return Outcome(people[which], _cut_off(largest)[which], _cut_off(true))

    def _match(self, known: Array, queries: Array, secret_offsets: Array, part: slice) -> tuple[Array, Array, Array]:
        places = known[part]
        own = secret_offsets[part.start : part.stop + 1]
        is_known = places >= 0
        questions = Questions(
            places[is_known], offsets_of(is_known.sum(axis=1)), queries[own[0] : own[-1]], own - own[0]
        )
        return match_places(questions, self.tree, self.classes)


def recode_places(component: str, truth: Stops, target: Stops) -> Array:
    """Return the stops of the target as nodes of the taxonomy of the truth, by name."""
    if target.taxonomy.nodes == truth.taxonomy.nodes:
        return target.place.astype(np.int64)
    code = {name: i for i, name in enumerate(truth.taxonomy.nodes)}
    recode = np.array([code.get(name, -1) for name in target.taxonomy.nodes], np.int64)
    places = recode[target.place]
    unknown = len(np.unique(target.place[places < 0]))
    if unknown:
        raise InputError(
            f"{component}: the taxonomy of the known places does not have all nodes of the attacked data "
            f"({unknown:,} are "
            "not in it). Give both with the same taxonomy."
        )
    return places


_NOTHING = np.zeros(0, np.int64), np.zeros(0), np.zeros(0)


def _classes(offsets: Array, item: Array, n_items: int) -> tuple[Array, Array]:
    """Return the class of each trajectory, equal sequences being one (-1: it has no items), and one trajectory of each.

    Level by level of the tree of all beginnings: O(rows log rows) time.
    """
    length = np.diff(offsets)
    code = np.zeros(len(length), np.int64)
    n = 1
    left = np.flatnonzero(length > 0)
    at = 0
    while len(left):
        # Level by level: sequences with equal beginnings share a code, and the next item splits it.
        key, number = np.unique(code[left] * n_items + item[offsets[left] + at], return_inverse=True)
        code[left] = n + number
        n = n + len(key)
        at = at + 1
        left = left[length[left] > at]
    nonempty = np.flatnonzero(length > 0)
    _, example, number = np.unique(code[nonempty], return_index=True, return_inverse=True)
    classes = np.full(len(length), -1, np.int64)
    classes[nonempty] = number
    return classes, nonempty[example]


def _evidence(
    pair: Array, node: Array, class_of_pair: Array, n_classes: int, tree: Taxonomy, above: Array
) -> tuple[Array, Array, Array]:
    """Return by class the nodes of sensitive stops, and what each adds to the leaves below it, summed over people.

    A person with `o` stops at a node of `l` leaves was at each of them with probability 1 - (1 - 1/l)^o.  Where the
    same person has stops at nodes above, too, a node adds what they leave open.
    """
    n_nodes = len(tree)
    key, stops = np.unique(pair[pair >= 0] * n_nodes + node[pair >= 0], return_counts=True)
    pair = key // n_nodes
    node = key % n_nodes
    leaves = tree.n_leaves[tree.order][node]
    with np.errstate(divide="ignore"):
        # The chance that at least one of so many stops is at a given leaf, each leaf below the node being equally
        # likely.
        hit = np.where(stops == 1, 1 / leaves, -np.expm1(stops * np.log1p(-1 / leaves)))
    added = hit.copy()
    occurs = np.zeros(n_nodes, np.bool_)
    occurs[node] = True
    higher = above[node]
    # A leaf may be hit by stops at several nodes above it; what a higher node already explains is not counted twice.
    while (left := np.flatnonzero(higher >= 0)).size:
        open_ = left[occurs[higher[left]]]
        ancestor_pairs = pair[open_] * n_nodes + higher[open_]
        at = np.minimum(np.searchsorted(key, ancestor_pairs), len(key) - 1)
        same = key[at] == ancestor_pairs
        added[open_[same]] *= 1 - hit[at[same]]
        higher[left] = above[higher[left]]
    entry, number = np.unique(class_of_pair[pair] * n_nodes + node, return_inverse=True)
    weight = np.bincount(number, weights=added, minlength=len(entry))
    entry = entry[weight > 0]
    weight = weight[weight > 0]
    return entry % n_nodes, weight, offsets_of(np.bincount(entry // n_nodes, minlength=n_classes))


def _cut_off(probability: Array) -> Array:
    return np.floor((probability + _ROUNDING) * _DIGITS) / _DIGITS
