"""c-safety, word for word: every class of equal harmless places, every sensitive leaf."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from itertools import combinations
from typing import Any

from wayveil.model import CSafety, Stops
from wayveil.verifiers.common.both_ways import find_break, list_people, list_published

__all__ = ["find_break_of_csafety"]


def find_break_of_csafety(published: Stops, claim: CSafety, *, original: Stops | None = None, **_: Any) -> str:
    """Return how the publication breaks c-safety, "" if it keeps it.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place")], sensitive=["Clinic"])
    >>> data = Stops.from_records([["Park", "Clinic"], ["Park", "Clinic"]], taxonomy=tree)
    >>> find_break_of_csafety(data, CSafety(c="0.5", m=2))
    'A sensitive place has the probability 1 over people.'
    """
    people = list_people(published)
    tree = Tree(published)
    records = {i: published.record(i) for i in list_published(published)}
    if not records:
        return "Nothing is published."
    truth = {} if original is None else {i: original.record(i) for i in records}
    if any(not tree.is_made_of(records[i], truth[i]) for i in truth):
        return "A trajectory is not its original with places lifted and stops left out."
    # Whoever knows places that are not sensitive sees only those: equal ones make a class.
    classes = defaultdict(list)
    for i, record in records.items():
        classes[tuple(node for node in record if node not in tree.sensitive)].append(i)
    sentence = find_break([[people[i] for i in members] for members in classes.values()], claim.m, claim.owner_share)
    if sentence:
        return sentence
    for members in classes.values():
        # The mean over the class of the chance that a member was at the place is what an attacker believes of a
        # victim; it is counted over people and over trajectories, and both must stay below c.
        for unit in ("people", "trajectories"):
            stops: dict[int, list[str]] = defaultdict(list)
            for i in members:
                disclosed = records[i] + (truth[i] if truth and claim.weights == "worst" else [])
                stops[people[i] if unit == "people" else i] += [node for node in disclosed if node in tree.sensitive]
            for leaf in tree.leaves & tree.sensitive:
                chances = [tree.chance(leaf, nodes, claim.weights) for nodes in stops.values()]
                mean = sum(chances, Fraction(0)) / len(chances)
                if mean > claim.c:
                    return f"A sensitive place has the probability {mean} over {unit}."
        # Stops at a node and at one below it are not independent, so the mean above would not be the true one.
        nodes = {node for i in members for node in records[i] if node in tree.sensitive}
        if claim.weights == "uniform" and any(a != b and a in tree.above[b] for a in nodes for b in nodes):
            return "In a class a sensitive node is above another one."
    # A sensitive node needs enough people of its own: that it is published tells that somebody was there.
    for node in {node for record in records.values() for node in record if node in tree.sensitive}:
        visitors = {people[i] for i, record in records.items() if node in record}
        if len(visitors) < claim.least_people:
            return f"A sensitive place is that of only {len(visitors)} people."
    return ""


class Tree:
    """The taxonomy in names: the nodes above each one, itself included, the leaves, and what is sensitive."""

    def __init__(self, data: Stops) -> None:
        names = data.taxonomy.nodes
        parents = {
            name: names[above] if above >= 0 else ""
            for name, above in zip(names, data.taxonomy.parent.tolist(), strict=True)
        }
        self.above = {name: self._climb(name, parents) for name in names}
        self.leaves = set(names) - set(parents.values())
        labelled = {name for name, secret in zip(names, data.taxonomy.sensitive.tolist(), strict=True) if secret}
        self.sensitive = {name for name in names if self.above[name] & labelled}

    def _climb(self, name: str, parents: dict[str, str]) -> set[str]:
        return {name, *self._climb(parents[name], parents)} if name else set()

    def chance(self, leaf: str, nodes: list[str], weights: str) -> Fraction:
        """Return the probability that one of the stops at these nodes was at a leaf."""
        if weights == "worst":
            return Fraction(any(node in self.above[leaf] for node in nodes))
        elsewhere = Fraction(1)
        for node in nodes:
            below = [name for name in self.leaves if node in self.above[name]]
            elsewhere *= 1 - Fraction(below.count(leaf), len(below))
        return 1 - elsewhere

    def is_made_of(self, record: list[str], truth: list[str]) -> bool:
        """Tell whether a record is its original with stops left out and places lifted, sensitive ones inside theirs."""
        return any(
            all(
                node in self.above[place] and (node in self.sensitive) == (place in self.sensitive)
                for node, place in zip(record, some, strict=True)
            )
            for some in combinations(truth, len(record))
        )
