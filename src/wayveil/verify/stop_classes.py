"""Published stops in classes: who cannot be told apart by places that are not sensitive, and what they disclose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log10

import numpy as np
import polars as pl

from wayveil.model.ragged import BoolArray, FloatArray, IntArray, keep_rows, offsets_of, trajectory_of_row
from wayveil.model.stops import Stops
from wayveil.verify.whole import same

__all__ = ["Disclosure", "StopClasses", "largest_where_nested", "ratio"]

UNIT = 2.0**-52
"""Twice the largest relative error of one floating-point operation."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StopClasses:
    """The classes: published trajectories with the same sequence of nodes that are not sensitive.

    Parameters
    ----------
    data : Stops
    offsets, place : int64, int32
        The stops that are not sensitive, trajectory by trajectory.
    first, people : int64, one per class
        A trajectory of the class, and how many people are behind it; trajectories where the owners are withheld.
    of, node, person, times : int64
        How often, `times`, the trajectories of a person in class `of` stop at a sensitive node: each with a stop once.
        Sorted by class, and then by the order of the taxonomy.

    Examples
    --------
    >>> from wayveil.model.taxonomy import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> data = Stops.from_records([["Park", "Clinic"], ["Clinic", "Park"], [], ["Clinic"]], taxonomy=tree)
    >>> classes = StopClasses.of_stops(data)
    >>> sorted((classes.places(i), int(n)) for i, n in enumerate(classes.people))
    [([], 1), (['Park'], 2)]
    """

    data: Stops
    offsets: IntArray
    place: IntArray
    first: IntArray
    people: IntArray
    of: IntArray
    node: IntArray
    person: IntArray
    times: IntArray

    @classmethod
    def of_stops(cls, data: Stops) -> StopClasses:
        """Put the trajectories into classes; those without rows are not published, and in none."""
        sensitive = data.sensitive
        kept = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        offsets, place = keep_rows(data.offsets, ~sensitive), data.place[~sensitive]
        code, first = same(offsets, [place], kept)
        person = np.arange(len(data)) if data.owners == "hidden" else data.owner
        pairs = pl.DataFrame({"of": code, "person": person[kept]}).unique()
        class_of = np.full(len(data), -1, np.int64)
        class_of[kept] = code
        at = trajectory_of_row(data.offsets)[sensitive]
        # The place in the order of the taxonomy, so that a node is followed by those below it.
        stops = {"of": class_of[at], "rank": data.taxonomy.first[data.place[sensitive]], "person": person[at]}
        table = pl.DataFrame(stops).group_by("of", "rank", "person").len("times").sort("of", "rank", "person")
        return cls(
            data=data,
            offsets=offsets,
            place=place,
            first=first,
            people=np.bincount(pairs["of"].to_numpy(), minlength=len(first)),
            of=table["of"].to_numpy(),
            node=data.taxonomy.order[table["rank"].to_numpy()],
            person=table["person"].to_numpy(),
            times=table["times"].to_numpy().astype(np.int64),
        )

    def __len__(self) -> int:
        return len(self.first)

    def places(self, which: int) -> list[str]:
        """Return the sequence of nodes of a class, by name."""
        rows = slice(self.offsets[self.first[which]], self.offsets[self.first[which] + 1])
        return [self.data.taxonomy.nodes[place] for place in self.place[rows].tolist()]

    def shortest(self, which: IntArray) -> int:
        """Return that of these classes with the shortest sequence, and the first of them in the order of names."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[self.first[which]]
        return int(min(which[lengths == lengths.min()].tolist(), key=self.places))

    def above(self) -> tuple[IntArray, IntArray]:
        """Return (class, node) for all nodes that are above other sensitive ones of their class.

        In the order of the taxonomy all that is below a node follows it at once.  So if a class has a node below
        another one, its next node after the upper one is below that too, and adjacent nodes tell everything.
        """
        tree = self.data.taxonomy
        new = np.ones(len(self.of), np.bool_)
        new[1:] = (self.of[1:] != self.of[:-1]) | (self.node[1:] != self.node[:-1])
        of, node = self.of[new], self.node[new]
        found = (of[1:] == of[:-1]) & (tree.first[node[1:]] < tree.last[node[:-1]])
        return of[:-1][found], node[:-1][found]

    def select(self, keep: BoolArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Return `of`, `node`, `person` and `times` where `keep` is true."""
        return self.of[keep], self.node[keep], self.person[keep], self.times[keep]


@dataclass(frozen=True, kw_only=True, eq=False)
class Disclosure:
    """How probable the leaves below a sensitive node are in a class, where no other node of the class is above them.

    Each of the o stops of a person at a node with l leaves is at any of them with the same probability, so a leaf is
    visited with 1 - ((l - 1) / l)^o; the probability in the class is the mean over its people.

    Parameters
    ----------
    of, node : int64, one per class and node
    n_leaves, people : int64, one per class and node
        Leaves at or below the node, and people of the class.
    starts, times, count : int64
        ``count[j]`` people stop ``times[j]`` times at node `i`, for the j of ``starts[i]:starts[i + 1]``, in the order
        of `times`; all others of the class never do.
    value, margin : float64, one per class and node
        The probability as a floating-point number, and how far it may be from the true one at most.
    """

    of: IntArray
    node: IntArray
    n_leaves: IntArray
    people: IntArray
    starts: IntArray
    times: IntArray
    count: IntArray
    value: FloatArray
    margin: FloatArray

    @classmethod
    def of_classes(cls, classes: StopClasses, nested: IntArray) -> Disclosure:
        """Count for all classes but those in `nested`, where a node is above another one."""
        of, node, _, times = classes.select(~np.isin(classes.of, nested))
        table = pl.DataFrame({"of": of, "node": node, "times": times}).group_by("of", "node", "times").len("count")
        table = table.sort("of", "node", "times")
        of, node, times = (table[name].to_numpy() for name in ("of", "node", "times"))
        count = table["count"].to_numpy().astype(np.int64)
        new = np.ones(len(of), np.bool_)
        new[1:] = (of[1:] != of[:-1]) | (node[1:] != node[:-1])
        begin = np.flatnonzero(new)
        starts = np.append(begin, len(of))
        of, node = of[new], node[new]
        n_leaves, people = classes.data.taxonomy.n_leaves[node], classes.people[of]
        base = np.repeat((n_leaves - 1) / n_leaves, np.diff(starts))
        share = count * (1 - base**times)
        value = (np.add.reduceat(share, begin) if len(begin) else np.empty(0)) / people
        # Let u be half a UNIT.  The base is off by the factor 1 + u, its power by (times + 4) u, and so the mean over
        # people by (times + 6) u at most; a sum of r terms adds r u, and the division one more.
        last = times[starts[1:] - 1]
        margin = (np.diff(starts) + last + 16) * UNIT
        return cls(
            of=of,
            node=node,
            n_leaves=n_leaves,
            people=people,
            starts=starts,
            times=times,
            count=count,
            value=value,
            margin=margin,
        )

    def largest(self) -> tuple[Fraction, IntArray]:
        """Return the largest probability, exactly, and where it is; 0 and nowhere if there is no sensitive stop."""
        if not len(self.of):
            return Fraction(0), np.empty(0, np.int64)
        near = np.flatnonzero(self.value + self.margin >= (self.value - self.margin).max())
        exact = list(self.exact(near))
        best = max(exact)
        return best, near[[value == best for value in exact]]

    def may_be_above(self, c: Fraction) -> IntArray:
        """Return where the probability is more than c, and perhaps some places where it only nearly is."""
        # c as a float is off by half a UNIT at most, and the margins are by more than that larger than needed.
        return np.flatnonzero(self.value + self.margin >= float(c))

    def exact(self, which: IntArray) -> Iterator[Fraction]:
        """Yield the probabilities, as fractions; what is alike is computed once."""
        known: dict[tuple[int, int, bytes, bytes], Fraction] = {}
        for key, rows in self._alike(which):
            if key not in known:
                leaves, people = key[:2]
                terms = zip(self.times[rows].tolist(), self.count[rows].tolist(), strict=True)
                known[key] = sum((n * _visited(leaves, o) for o, n in terms), Fraction(0)) / people
            yield known[key]

    def at_least(self, which: IntArray, m: int) -> Iterator[Fraction]:
        """Yield, for trajectories whose owners are withheld, the smallest probabilities that m people or more can have.

        Let the trajectories stop o_1 <= ... <= o_n times, and let them belong to K people.  With p(o) for the
        probability of a person, the sum over people is smallest if K - 1 people own one of the first K - 1
        trajectories each, and one person owns all others.  (Of two people with several trajectories each, give all but
        one of the person who stops less often to the other; then exchange single ones.  No step makes the sum larger,
        because p is concave in o.)  So the answer is the smallest of these means, for K = m, ..., n.
        """
        known: dict[tuple[int, int, bytes, bytes], Fraction] = {}
        for key, rows in self._alike(which):
            if key not in known:
                leaves, people = key[:2]
                often = np.repeat(self.times[rows], self.count[rows])
                known[key] = _at_least(leaves, np.append(np.zeros(people - len(often), np.int64), often), m)
            yield known[key]

    def _alike(self, which: IntArray) -> Iterator[tuple[tuple[int, int, bytes, bytes], slice]]:
        """Yield what a probability depends on, and the rows of `times` and `count`."""
        numbers = (self.n_leaves[which], self.people[which], self.starts[which], self.starts[which + 1])
        for leaves, people, begin, end in zip(*(column.tolist() for column in numbers), strict=True):
            rows = slice(begin, end)
            yield (leaves, people, self.times[rows].tobytes(), self.count[rows].tobytes()), rows


def largest_where_nested(classes: StopClasses, nested: IntArray) -> Fraction:
    """Return the largest probability of a leaf in classes where nodes may be above others; 0 if there are none.

    A leaf below two nodes is visited if a stop at one of them is.  More nodes above a leaf never make it less probable,
    so it suffices to look below the nodes that have no other one below them.  Time is O(people * nodes) per class.
    """
    tree = classes.data.taxonomy
    first, last, n_leaves = (column.tolist() for column in (tree.first, tree.last, tree.n_leaves))
    known: dict[tuple[int, frozenset[tuple[tuple[tuple[int, int], ...], int]]], Fraction] = {}
    begin, end = (np.searchsorted(classes.of, nested, side=side) for side in ("left", "right"))
    for n, a, b in zip(classes.people[nested].tolist(), begin.tolist(), end.tolist(), strict=True):
        stops: dict[int, dict[int, int]] = {}
        columns = (column[a:b].tolist() for column in (classes.node, classes.person, classes.times))
        for node, person, times in zip(*columns, strict=True):
            stops.setdefault(node, {})[person] = times
        for lowest in stops:
            profiles: dict[int, tuple[tuple[int, int], ...]] = {}
            for node in stops:
                if first[node] <= first[lowest] < last[node]:
                    for person, times in stops[node].items():
                        profiles[person] = (*profiles.get(person, ()), (n_leaves[node], times))
            key = n, frozenset(Counter(profiles.values()).items())
            if key not in known:
                known[key] = sum((people * _visited_by(profile) for profile, people in key[1]), Fraction(0)) / n
    return max(known.values(), default=Fraction(0))


def ratio(value: Fraction) -> str:
    """Return a fraction as text, or a decimal number where it would be too long to read.

    Examples
    --------
    >>> ratio(Fraction(5, 16)), ratio(1 - Fraction(3, 4) ** 200)
    ('5/16', 'about 1 (a fraction of some 121 digits)')
    """
    if value.denominator < 10**40:
        return f"{value.numerator}/{value.denominator}"
    digits = int((value.denominator.bit_length() - 1) * log10(2)) + 1
    return f"about {float(value):.12g} (a fraction of some {digits:,} digits)"


def _visited(leaves: int, times: int) -> Fraction:
    """Return the probability that one of some stops at a node is at a certain leaf."""
    return 1 - Fraction(leaves - 1, leaves) ** times


def _visited_by(profile: tuple[tuple[int, int], ...]) -> Fraction:
    """Return the same for stops at several nodes above the leaf, with their numbers of leaves and of stops."""
    spared = Fraction(1)
    for leaves, times in profile:
        spared *= 1 - _visited(leaves, times)
    return 1 - spared


def _at_least(leaves: int, often: IntArray, m: int) -> Fraction:
    """Return the smallest mean for m people or more, see `Disclosure.at_least`; `often` ascends, one per trajectory."""
    n = len(often)
    people = np.arange(m, n + 1)
    base = (leaves - 1) / leaves
    alone = offsets_of(often)
    head = np.append(0.0, np.cumsum(1 - base**often))
    means = (head[people - 1] + 1 - base ** (alone[-1] - alone[people - 1])) / people
    margin = (n + float(alone[-1]) + 16) * UNIT
    best = Fraction(1)
    for k in people[means <= means.min() + 2 * margin].tolist():
        kinds, counts = np.unique(often[: k - 1], return_counts=True)
        total = _visited(leaves, int(alone[-1] - alone[k - 1]))
        for times, count in zip(kinds.tolist(), counts.tolist(), strict=True):
            total += count * _visited(leaves, times)
        best = min(best, total / k)
    return best
