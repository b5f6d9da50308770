"""k candidates for declared positions, word for word: the graph of who may be whom, and every matching in it."""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

from wayveil.model import AttackGraph, Boxes, Points
from wayveil.model.data.times import seconds_per_unit
from wayveil.verifiers.common.both_ways import find_break, list_people, list_published

__all__ = ["find_break_of_attack_graph"]

DEGREES_M = 1e-6
"""Degrees become metres by arithmetic: positions may be a micrometre beyond a side then."""


def find_break_of_attack_graph(
    published: Boxes, claim: AttackGraph, *, original: Points | None = None, **_: Any
) -> str:
    """Return how somebody is left with too few candidates, "" if nobody is.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 1.0, 0.0)], [(0, 2.0, 0.0)]])
    >>> boxes = Boxes.from_records([[(0, 0, 1.0, 2.0, 0.0, 0.0)]] * 2)
    >>> find_break_of_attack_graph(boxes, AttackGraph(k=2), original=truth)
    ''
    """
    if original is None:
        return "Who may be whom is defined by true positions, which were not given."
    world = Positions(published, original)
    nodes = list_published(published)
    people = list_people(original if original.owners == "given" else published)
    if not nodes:
        return "Nothing is published."
    if any(not world.was_in_boxes(i) for i in nodes):
        return "A trajectory was not in its boxes."
    if any(world.is_faster(i, claim.top_speed) for i in nodes):
        return "Somebody is faster than the top speed."
    # Attackers with the top speed and without it; who do not look at the marks of declared times, and who do.
    for speed, looks in product(dict.fromkeys([claim.top_speed, "none"]), [False, True]):
        edges = {i: {o for o in nodes if world.may_be(i, o, speed, looks)} for i in nodes}
        if any(i not in edges[i] for i in nodes):
            return "Somebody does not fit their own trajectory."
        # Everybody has their own trajectory: a perfect matching.  Another edge i -> o is in one exactly if whoever had
        # o can take another one, and so on, until somebody takes that of i: if a path leads from o back to i.
        left = {i: {o for o in edges[i] if i in reach(edges, o)} for i in nodes}
        candidates = [[people[o] for o in left[i]] for i in nodes]
        claimants = [[people[i] for i in nodes if o in left[i]] for o in nodes]
        sentence = find_break(candidates + claimants, claim.k, claim.owner_share)
        if sentence:
            return sentence
    return world.find_break_of_declared(nodes, people, claim.k)


def reach(edges: dict[int, set[int]], start: int) -> set[int]:
    """Return all nodes that paths from a node lead to, itself included."""
    reached = {start}
    # Before each round all of `reached` is reached by a path.  A round adds what is one edge further; it ends when
    # there is nothing new, after at most as many rounds as there are nodes.
    while True:
        further = {o for i in reached for o in edges[i]} - reached
        if not further:
            return reached
        reached |= further


class Positions:
    """Boxes and true positions, as lists."""

    def __init__(self, published: Boxes, original: Points) -> None:
        self.slack = DEGREES_M if published.frame.degrees else 0.0
        self.boxes = [published.record(i) for i in range(len(published))]
        self.truth = [original.record(i) for i in range(len(original))]
        every = [True] * original.n_rows if original.known is None else original.known.tolist()
        self.is_known = [every[a:b] for a, b in zip(original.offsets, original.offsets[1:], strict=False)]
        self.marks = None
        if published.declared is not None:
            marks = published.declared.tolist()
            self.marks = [marks[a:b] for a, b in zip(published.offsets, published.offsets[1:], strict=False)]
        self.seconds = seconds_per_unit(original.time_format) or 1.0

    def known_rows(self, i: int) -> list[tuple[int, float, float]]:
        """Return the positions that are declared as known of somebody."""
        return [row for row, is_known in zip(self.truth[i], self.is_known[i], strict=True) if is_known]

    def distance(self, box: tuple[int, int, float, float, float, float], x: float, y: float) -> float:
        """Return how far a position is from a box along the axis where it is farthest; 0 inside."""
        _, _, x_min, x_max, y_min, y_max = box
        return max(x_min - x, x - x_max, y_min - y, y - y_max, 0.0)

    def was_in_boxes(self, i: int) -> bool:
        """Tell whether every box contains a recorded position in its time."""
        return all(
            any(box[0] <= t <= box[1] and self.distance(box, x, y) <= self.slack for t, x, y in self.truth[i])
            for box in self.boxes[i]
        )

    def is_faster(self, i: int, top_speed: float | str) -> bool:
        """Tell whether two samples in a row are farther apart along an axis than the top speed allows."""
        if isinstance(top_speed, str):
            return False
        along_axis = top_speed / sqrt(2) * self.seconds
        pairs = zip(self.truth[i], self.truth[i][1:], strict=False)
        return any(max(abs(x - u), abs(y - v)) > along_axis * (s - t) + self.slack for (t, x, y), (s, u, v) in pairs)

    def may_be(self, i: int, o: int, top_speed: float | str, looks: bool) -> bool:
        """Tell whether all that is known of person i fits trajectory o, and all its boxes are within reach.

        Who `looks` at the marks knows that a declared position is in a marked box, where there are marks.
        """
        marks = self.marks[o] if looks and self.marks is not None else [True] * len(self.boxes[o])
        marked = [box for box, mark in zip(self.boxes[o], marks, strict=True) if mark]
        for t, x, y in self.known_rows(i):
            at = [box for box in marked if box[0] <= t <= box[1]]
            if not any(self.distance(box, x, y) <= self.slack for box in at):
                return False
            for box in self.boxes[o] if not isinstance(top_speed, str) else []:
                wait = max(box[0] - t, t - box[1], 0)
                if self.distance(box, x, y) > float(top_speed) / sqrt(2) * self.seconds * wait + self.slack:
                    return False
        return True

    def find_break_of_declared(self, nodes: list[int], people: list[int], k: int) -> str:
        """Return how boxes that are said to be of declared times are not those of k people, or not all are said."""
        if self.marks is None:
            return ""
        for i in nodes:
            for box, mark in zip(self.boxes[i], self.marks[i], strict=True):
                of_known_time = any(box[0] <= t <= box[1] for t, _, _ in self.known_rows(i))
                if of_known_time and not mark:
                    return "A box of a time that is known is not said to be one."
                sharing = {people[j] for j in nodes if (box, True) in zip(self.boxes[j], self.marks[j], strict=True)}
                if mark and len(sharing) < k:
                    return f"A box of a declared time is that of {len(sharing)} people."
        return ""
