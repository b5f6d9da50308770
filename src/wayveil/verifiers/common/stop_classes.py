"""Published stops in classes: who cannot be told apart by places that are not sensitive, and what they disclose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import log10
from typing import Literal

import numpy as np
import polars as pl

from wayveil.model.budget import spend
from wayveil.model.data.ragged import FloatArray, IntArray, keep_rows, trajectory_of_row
from wayveil.model.data.stops import Stops
from wayveil.model.places.taxonomy import Taxonomy
from wayveil.verifiers.common.whole_trajectories import same

__all__ = ["Disclosure", "Reach", "StopClasses", "Unit", "largest_where_nested", "ratio"]

_STEPS_PER_ROW = 300

UNIT = 2.0**-52
"""Twice the largest relative error of one floating-point operation."""

Unit = Literal["people", "trajectories"]
"""What is counted: a person once, with all trajectories of theirs in a class, or every trajectory."""


@dataclass(frozen=True, kw_only=True, eq=False)
class StopClasses:
    """The classes: published trajectories with the same sequence of nodes that are not sensitive.

    Parameters
    ----------
    data : Stops
    offsets, place : int64, int32
        The stops that are not sensitive, trajectory by trajectory.
    first, people, trajectories, most : int64, one per class
        A trajectory of the class; how many people are behind it; how many trajectories it has, and how many of them
        belong to the person with the most.  Where the owners are withheld, every trajectory counts as a person.
    class_of, person : int64, one per trajectory
        The class, or -1 of a trajectory without rows, and the owner; a number of its own where owners are withheld.

    Examples
    --------
    >>> from wayveil.model.places.taxonomy import Taxonomy
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
    trajectories: IntArray
    most: IntArray
    class_of: IntArray
    person: IntArray

    @classmethod
    def of_stops(cls, data: Stops) -> StopClasses:
        """Put the trajectories into classes; those without rows are not published, and in none."""
        sensitive = data.sensitive
        nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        offsets = keep_rows(data.offsets, ~sensitive)
        place = data.place[~sensitive]
        code, first = same(offsets, [place], nonempty)
        person = np.arange(len(data)) if data.owners == "hidden" else data.owner
        pairs = pl.DataFrame({"of": code, "person": person[nonempty]}).group_by("of", "person").len("trips")
        by_class = pairs.group_by("of").agg(pl.len().alias("people"), pl.col("trips").sum(), most=pl.col("trips").max())
        by_class = by_class.sort("of")
        class_of = np.full(len(data), -1, np.int64)
        class_of[nonempty] = code
        return cls(
            data=data,
            offsets=offsets,
            place=place,
            first=first,
            people=by_class["people"].to_numpy().astype(np.int64),
            trajectories=by_class["trips"].to_numpy().astype(np.int64),
            most=by_class["most"].to_numpy().astype(np.int64),
            class_of=class_of,
            person=person,
        )

    def __len__(self) -> int:
        return len(self.first)

    def sizes(self, unit: Unit) -> IntArray:
        """Return how many people or trajectories there are in each class."""
        return self.people if unit == "people" else self.trajectories

    def units(self, unit: Unit) -> IntArray:
        """Return the person of each trajectory, or its own number."""
        return self.person if unit == "people" else np.arange(len(self.data))

    def places(self, which: int) -> list[str]:
        """Return the sequence of nodes of a class, by name."""
        rows = slice(self.offsets[self.first[which]], self.offsets[self.first[which] + 1])
        return [self.data.taxonomy.nodes[place] for place in self.place[rows].tolist()]

    def shortest(self, which: IntArray) -> int:
        """Return that of these classes with the shortest sequence, and the first of them in the order of names."""
        lengths = (self.offsets[1:] - self.offsets[:-1])[self.first[which]]
        return int(min(which[lengths == lengths.min()].tolist(), key=self.places))

    def sensitive_nodes(self) -> tuple[IntArray, IntArray]:
        """Return (class, node) for all sensitive nodes of classes, by class and in the order of the taxonomy."""
        tree = self.data.taxonomy
        table = self.stops("trajectories").select("of", "rank").unique().sort("of", "rank")
        return table["of"].to_numpy(), tree.order[table["rank"].to_numpy()]

    def above(self) -> tuple[IntArray, IntArray]:
        """Return (class, node) for all nodes that are above other sensitive ones of their class.

        In the order of the taxonomy all that is below a node follows it at once.  So if a class has a node below
        another one, its next node after the upper one is below that too, and adjacent nodes tell everything.
        """
        tree = self.data.taxonomy
        of, node = self.sensitive_nodes()
        is_above = (of[1:] == of[:-1]) & (tree.first[node[1:]] < tree.last[node[:-1]])
        return of[:-1][is_above], node[:-1][is_above]

    def stops(self, unit: Unit) -> pl.DataFrame:
        """Return how often (`times`) a unit of class `of` stops at the sensitive node of a `rank`, if it does at all.

        The rank is the place in the order of the taxonomy, so that a node is followed by those below it.
        """
        data = self.data
        sensitive = self.data.sensitive
        at = trajectory_of_row(data.offsets)[sensitive]
        stops = {
            "of": self.class_of[at],
            "rank": data.taxonomy.first[data.place[sensitive]],
            "unit": self.units(unit)[at],
        }
        return pl.DataFrame(stops).group_by("of", "rank", "unit").len("times").sort("of", "rank", "unit")

    def people_of_nodes(self) -> tuple[IntArray, IntArray]:
        """Return the sensitive nodes that are published anywhere, and how many people have a stop at each."""
        table = self.stops("people").select("rank", "unit").unique().group_by("rank").len("people").sort("rank")
        return self.data.taxonomy.order[table["rank"].to_numpy()], table["people"].to_numpy().astype(np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Reach:
    """Who may have been at a sensitive leaf, whatever is known of leaves: the share of the class that reaches it.

    A person, or a trajectory, may have been at a leaf if one of the published stops is at the leaf or at a node above
    it, or if a true stop was at the leaf, also one that was left out.

    Parameters
    ----------
    of, node : int64, one per class and node
        Nodes that are published, or true.  A leaf below one of them, and below none that is lower, is reached by those
        with a stop at this node or one above it; no leaf is reached by more than some node here.
    count, size : int64, one per class and node
        How many of the class may have been at such a leaf, and how many there are.
    """

    of: IntArray
    node: IntArray
    count: IntArray
    size: IntArray

    @classmethod
    def of_classes(cls, classes: StopClasses, unit: Unit, truth: tuple[IntArray, IntArray] | None) -> Reach:
        """Count in all classes; `truth` has the trajectories and places of the true sensitive stops."""
        tree = classes.data.taxonomy
        entries = classes.stops(unit).select("of", "rank", "unit")
        if truth is not None:
            at, place = truth
            true = {"of": classes.class_of[at], "rank": tree.first[place], "unit": classes.units(unit)[at]}
            entries = pl.concat([entries, pl.DataFrame(true, schema=entries.schema)])
            entries = entries.filter(pl.col("of") >= 0).unique()
        above = _sensitive_above(tree)
        ranks = entries.select("of", "rank").unique()
        _spend_join(ranks, above.group_by("rank").len(), on=["rank"])
        reached = ranks.join(above, on="rank")
        by_node = entries.group_by("of", pl.col("rank").alias("above")).len()
        _spend_join(reached, by_node, on=["of", "above"])
        who = reached.join(entries, left_on=["of", "above"], right_on=["of", "rank"]).select("of", "rank", "unit")
        table = who.unique().group_by("of", "rank").len("count").sort("of", "rank")
        of = table["of"].to_numpy()
        return cls(
            of=of,
            node=tree.order[table["rank"].to_numpy()],
            count=table["count"].to_numpy().astype(np.int64),
            size=classes.sizes(unit)[of],
        )

    def largest(self) -> tuple[Fraction, IntArray]:
        """Return the largest share, exactly, and where it is; 0 and nowhere if there is no sensitive stop."""
        if not len(self.of):
            return Fraction(0), np.empty(0, np.int64)
        value = self.count / self.size
        near = np.flatnonzero(value >= value.max() - 4 * UNIT)
        exact = [Fraction(a, b) for a, b in zip(self.count[near].tolist(), self.size[near].tolist(), strict=True)]
        best = max(exact)
        return best, near[[share == best for share in exact]]


def _spend_join(rows: pl.DataFrame, many: pl.DataFrame, *, on: list[str]) -> None:
    """Spend what a join takes before it is made: `many` says how many rows there are to each key."""
    spend(_STEPS_PER_ROW * int(rows.join(many, on=on)["len"].sum() or 0))


def _sensitive_above(tree: Taxonomy) -> pl.DataFrame:
    """Return, by their ranks, every sensitive node with itself and each sensitive node above it."""
    node: IntArray = np.flatnonzero(tree.sensitive)
    above: IntArray = node
    ranks: list[IntArray] = []
    uppers: list[IntArray] = []
    # Before each round `above` is, for each sensitive node that is left, the one so many levels above it that is
    # sensitive, too.  A round notes these pairs and goes up by one level, with those that are still below a sensitive
    # node.  It ends at the root.
    while len(node):
        spend(_STEPS_PER_ROW * (len(node) + 50))
        ranks.append(tree.first[node])
        uppers.append(tree.first[above])
        higher = tree.parent[above]
        going = tree.sensitive[higher]  # the root is never sensitive, so every sensitive node has a parent
        node = node[going]
        above = higher[going]
    empty: IntArray = np.empty(0, np.int64)
    return pl.DataFrame({"rank": np.concatenate([empty, *ranks]), "above": np.concatenate([empty, *uppers])})


@dataclass(frozen=True, kw_only=True, eq=False)
class Disclosure:
    """How probable the leaves below a sensitive node are in a class, where no other node of the class is above them.

    Each of the o stops of a person at a node with l leaves is at any of them with the same probability, so a leaf is
    visited with 1 - ((l - 1) / l)^o; the probability in the class is the mean over its people, or its trajectories.

    Parameters
    ----------
    of, node : int64, one per class and node
    n_leaves, size : int64, one per class and node
        Leaves at or below the node, and people, or trajectories, of the class.
    starts, times, count : int64
        ``count[j]`` of them stop ``times[j]`` times at node `i`, for the j of ``starts[i]:starts[i + 1]``, in the order
        of `times`; all others of the class never do.
    value, margin : float64, one per class and node
        The probability as a floating-point number, and how far it may be from the true one at most.
    """

    of: IntArray
    node: IntArray
    n_leaves: IntArray
    size: IntArray
    starts: IntArray
    times: IntArray
    count: IntArray
    value: FloatArray
    margin: FloatArray

    @classmethod
    def of_classes(cls, classes: StopClasses, unit: Unit, nested: IntArray) -> Disclosure:
        """Count for all classes but those in `nested`, where a node is above another one."""
        tree = classes.data.taxonomy
        table = classes.stops(unit).filter(~pl.col("of").is_in(nested.tolist()))
        table = table.group_by("of", "rank", "times").len("count").sort("of", "rank", "times")
        of = table["of"].to_numpy()
        node = tree.order[table["rank"].to_numpy()]
        times = table["times"].to_numpy().astype(np.int64)
        count = table["count"].to_numpy().astype(np.int64)
        new = np.ones(len(of), np.bool_)
        new[1:] = (of[1:] != of[:-1]) | (node[1:] != node[:-1])
        begin = np.flatnonzero(new)
        starts = np.append(begin, len(of))
        of = of[new]
        node = node[new]
        n_leaves = tree.n_leaves[node]
        size = classes.sizes(unit)[of]
        base = np.repeat((n_leaves - 1) / n_leaves, np.diff(starts))
        share = count * (1 - base**times)
        value = (np.add.reduceat(share, begin) if len(begin) else np.empty(0)) / size
        # Let u be half a UNIT.  The base is off by the factor 1 + u, its power by (times + 4) u, and so the mean over
        # people by (times + 6) u at most; a sum of r terms adds r u, and the division one more.
        last = times[starts[1:] - 1]
        margin = (np.diff(starts) + last + 16) * UNIT
        return cls(
            of=of,
            node=node,
            n_leaves=n_leaves,
            size=size,
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

    def exact(self, which: IntArray) -> Iterator[Fraction]:
        """Yield the probabilities, as fractions; what is alike is computed once."""
        probability_of: dict[tuple[int, int, bytes, bytes], Fraction] = {}
        for key, rows in self._alike(which):
            if key not in probability_of:
                leaves, size = key[:2]
                _spend_powers(rows.stop - rows.start, leaves.bit_length() * int(self.times[rows][-1]))
                terms = zip(self.times[rows].tolist(), self.count[rows].tolist(), strict=True)
                probability_of[key] = sum((n * _visited(leaves, o) for o, n in terms), Fraction(0)) / size
            yield probability_of[key]

    def _alike(self, which: IntArray) -> Iterator[tuple[tuple[int, int, bytes, bytes], slice]]:
        """Yield what a probability depends on, and the rows of `times` and `count`."""
        numbers = (self.n_leaves[which], self.size[which], self.starts[which], self.starts[which + 1])
        for leaves, size, begin, end in zip(*(column.tolist() for column in numbers), strict=True):
            rows = slice(begin, end)
            yield (leaves, size, self.times[rows].tobytes(), self.count[rows].tobytes()), rows


def largest_where_nested(classes: StopClasses, unit: Unit, nested: IntArray) -> Fraction:
    """Return the largest probability of a leaf in classes where nodes may be above others; 0 if there are none.

    A leaf below two nodes is visited if a stop at one of them is.  More nodes above a leaf never make it less probable,
    so it suffices to look below the nodes that have no other one below them.  Time is O(people * nodes) per class.
    """
    tree = classes.data.taxonomy
    last = tree.last[tree.order].tolist()
    n_leaves = tree.n_leaves[tree.order].tolist()
    table = classes.stops(unit).filter(pl.col("of").is_in(nested.tolist()))
    probability_of: dict[tuple[int, frozenset[tuple[tuple[tuple[int, int], ...], int]]], Fraction] = {}
    # Per class: for each node the people, or trajectories, that stop there and how often.  Classes whose leaves have
    # the same counts above them have the same probability, which is worked out once.
    for (which,), rows in table.group_by("of"):
        size = int(classes.sizes(unit)[int(str(which))])
        stops: dict[int, dict[int, int]] = {}
        for rank, one, times in rows.select("rank", "unit", "times").iter_rows():
            stops.setdefault(rank, {})[one] = times
        # Below `lowest` and no other node lies a leaf whose nodes above are those that cover `lowest`.
        for lowest in stops:
            spend(2_000 + 300 * len(stops))
            profiles: dict[int, tuple[tuple[int, int], ...]] = {}
            for rank in stops:
                if rank <= lowest < last[rank]:
                    spend(500 * len(stops[rank]))
                    for one, times in stops[rank].items():
                        profiles[one] = (*profiles.get(one, ()), (n_leaves[rank], times))
            key = size, frozenset(Counter(profiles.values()).items())
            if key not in probability_of:
                for profile, _ in key[1]:
                    _spend_powers(len(profile), sum(leaves.bit_length() * times for leaves, times in profile))
                probability_of[key] = sum((n * _visited_by(profile) for profile, n in key[1]), Fraction(0)) / size
    return max(probability_of.values(), default=Fraction(0))


def _spend_powers(terms: int, bits: int) -> None:
    """Spend what it takes to add fractions of so many bits: each time, the largest common divisor is looked for."""
    spend(terms * (5_000 + 10 * (bits // 30 + 1) ** 2))


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
