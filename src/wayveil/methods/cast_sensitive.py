"""The sensitive stops of `cast`: generalized in their classes until none is too probable."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from wayveil.kernels.cast_safe import safe_nodes
from wayveil.kernels.equal_sequences import first_equal
from wayveil.methods.cast_levels import Groups
from wayveil.methods.cast_tree import Preorder
from wayveil.model import Engine
from wayveil.model.ragged import IntArray

__all__ = ["Classes", "classes_of", "publishable", "short_below"]

_CHUNK = 65_536  # stops; independent of the number of workers
_LONGEST = 10**9


@dataclass(frozen=True, kw_only=True, eq=False)
class Classes:
    """Groups with the same nodes are one class: `label` per trajectory, or -1; `people` per class, 0 if without nodes.

    People of the class without nodes are seen only while they have sensitive stops, so they are counted later.
    """

    label: IntArray
    people: IntArray


def classes_of(groups: Groups, owner: IntArray) -> Classes:
    """Join groups with the same sequence of nodes."""
    same = first_equal(groups.offsets, (groups.node,))
    same = np.where(same < 0, np.arange(len(same)), same)  # there is one group without nodes at most
    firsts, of_group = np.unique(same, return_inverse=True)
    inside = groups.label >= 0
    label = np.full(len(groups.label), -1)
    label[inside] = of_group[groups.label[inside]]
    span = int(owner.max(initial=0)) + 1
    pairs = np.unique(label[inside] * span + owner[inside])
    people = np.bincount(pairs // span, minlength=len(firsts))
    return Classes(label=label, people=np.where(np.diff(groups.offsets)[firsts] > 0, people, 0))


def publishable(
    stop: IntArray,
    owner: IntArray,
    label: IntArray,
    people: IntArray,
    tree: Preorder,
    c: Fraction,
    m: int,
    engine: Engine,
) -> IntArray:
    """Return the node of each sensitive stop, or -1: `stop` in preorder, `label` its class, `people` of each class."""
    order = np.lexsort((stop, label))
    first = np.searchsorted(label[order], np.arange(len(people) + 1))
    bound = np.array(short_below(c).as_integer_ratio())

    cuts = np.unique(np.searchsorted(first, np.arange(0, len(stop), _CHUNK)))
    spans = list(pairwise([*np.unique([0, *cuts, len(people)]).tolist()]))
    parts = [
        (first[a : b + 1] - first[a], stop[rows], owner[rows], people[a:b])
        for a, b in spans
        for rows in [order[first[a] : first[b]]]
    ]
    shared = tree.last, tree.parent, tree.leaves, tree.sensitive, bound, m
    found = np.empty(len(stop), np.int64)
    found[order] = np.concatenate([np.zeros(0, np.int64), *engine.map(lambda part: safe_nodes(*part, *shared), parts)])
    return found


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
