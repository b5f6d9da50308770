"""Which published trajectories contain what is known of each person; people with the same candidates are one kind.

A *spot* is a known position at a time, and a *shape* a distinct published box at such a time.  A spot is in some
shapes, a shape is that of some trajectories, and a candidate of a person is a trajectory that has, for each known spot
of the person, a shape which the spot is in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import IntArray, offsets_of, trajectory_of_row
from wayveil.verifiers.attack_graph.boxes_at import Shapes, Spots, crowd_bounds, hits
from wayveil.verifiers.common.index_ranges import chunks, distinct, expand
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.common.whole_trajectories import same

__all__ = ["Candidates", "Search"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidates:
    """The attack graph before pruning, each kind of people once; people and trajectories are numbered alike, from 0.

    Parameters
    ----------
    kind : int64, one per person
        People of one kind have the same candidates.
    offsets, candidate : int64
        Those of kind `a` are the trajectories ``candidate[offsets[a]:offsets[a + 1]]``, each once.
    """

    kind: IntArray
    offsets: IntArray
    candidate: IntArray

    @property
    def sizes(self) -> IntArray:
        """Number of people of every kind."""
        return np.bincount(self.kind, minlength=len(self.offsets) - 1)

    @property
    def kind_of_edge(self) -> IntArray:
        """The kind that every entry of `candidate` belongs to."""
        return trajectory_of_row(self.offsets)


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """What is known of each kind of people, and which boxes contain it.

    Trajectory o is a candidate of person i if for every known row (t, x, y) of original trajectory i some box of
    published trajectory o has t_min <= t <= t_max and contains (x, y).

    Parameters
    ----------
    kind : int64, one per person
        Their kinds.
    first, many, group : int64
        Of kind `a` the groups ``group[first[a]:first[a] + many[a]]`` of spots are known, the rarest first.
    example : int64, one per group
        One of its spots; all of them are in the same shapes.
    is_listed : bool
        Whether the boxes around all spots are held.  They are not where they are too many: then they are looked for
        when they are needed, for the rarest spot of each kind only.
    starts, shape : int64
        Spot `s` is in the shapes ``shape[starts[s]:starts[s + 1]]``, if these are held.
    bound : int64, one per kind
        No kind has more candidates than this.
    spots, shapes, steps
        All spots and shapes, and what may still be spent on comparing pairs.

    Notes
    -----
    Equal positions, and equal boxes of one time, are compared once.  People whose known positions are in the same boxes
    are of one kind; where the boxes around positions are too many to be held, those whose known positions are the same.

    Examples
    --------
    >>> boxes = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 0.0)], [(0, 0, 1.0, 2.0, 0.0, 0.0)]])
    >>> truth = Points.from_records([[(0, 0.0, 0.0)], [(0, 1.0, 0.0)]])
    >>> found = Search.of(boxes, truth, np.arange(2), StepBudget(99)).run(StepBudget(99))
    >>> [found.candidate[found.offsets[a] : found.offsets[a + 1]].tolist() for a in found.kind]
    [[0], [0, 1]]
    """

    kind: IntArray
    first: IntArray
    many: IntArray
    group: IntArray
    example: IntArray
    is_listed: bool
    starts: IntArray
    shape: IntArray
    bound: IntArray
    spots: Spots
    shapes: Shapes
    steps: StepBudget

    @classmethod
    def of(cls, published: Boxes, original: Points, nodes: IntArray, steps: StepBudget) -> Search:
        """Prepare the search.

        Parameters
        ----------
        published, original
            Aligned: trajectory i of both belongs to person i.  Without `original.known` every row is known.
        nodes : int64
            The trajectories that take part; person and trajectory j are number ``nodes[j]`` of the data.
        steps : StepBudget
            What may be spent on comparing pairs.
        """
        number = np.full(len(original.offsets) - 1, -1)
        number[nodes] = np.arange(len(nodes))
        person = number[trajectory_of_row(original.offsets)]
        rows = np.flatnonzero(person >= 0 if original.known is None else (person >= 0) & original.known)
        spots, spot = Spots.of(original, rows)
        shapes = Shapes.of(published, number, spots.times, len(nodes), steps)
        listed = _all_hits(spots, shapes, steps)
        if listed is None:
            # Candidates are then narrowed down from the spot that seems rarest; how rare, a grid tells.
            starts: IntArray = np.zeros(0, np.int64)
            shape = starts
            which: IntArray = np.arange(len(spots))
            example = which
            weight = crowd_bounds(spots, shapes)
        else:
            starts, shape = listed
            which, example = same(starts, [shape], np.arange(len(spots)))
            # How many trajectories have the shapes that a spot is in, once for each shape.
            total = offsets_of(np.diff(shapes.starts)[shape])
            weight = (total[starts[1:]] - total[starts[:-1]])[example]

        some = max(1, len(example))
        holder, groups = np.divmod(distinct(person[rows] * some + which[spot]), some)
        lists = offsets_of(np.bincount(holder, minlength=len(nodes)))
        kind, who = same(lists, [groups], np.arange(len(nodes)))

        many = np.diff(lists)[who]
        at, of = expand(lists[who], many)
        group = groups[at]
        group = group[np.lexsort((group, weight[group], of))]
        first = offsets_of(many)[:-1]
        bound = np.full(len(who), len(nodes))
        bound[many > 0] = np.minimum(weight[group[first[many > 0]]], len(nodes))
        if listed is None:
            # Kinds whose rarest spots are of one time are looked at together, so that few boxes are in question.
            time = np.zeros(len(who), np.int64)
            time[many > 0] = spots.time[group[first[many > 0]]]
            order = np.argsort(time, kind="stable")
            place = np.empty(len(who), np.int64)
            place[order] = np.arange(len(who))
            kind = place[kind]
            first = first[order]
            many = many[order]
            bound = bound[order]
        return cls(
            kind=kind,
            first=first,
            many=many,
            group=group,
            example=example,
            is_listed=listed is not None,
            starts=starts,
            shape=shape,
            bound=bound,
            spots=spots,
            shapes=shapes,
            steps=steps,
        )

    @property
    def most(self) -> int:
        """The candidates of all kinds together are not more than this."""
        return int(self.bound.sum())

    def run(self, edges: StepBudget) -> Candidates:
        """List the candidates: those of the rarest spot of a kind, narrowed down spot by spot.

        Each is taken from `edges`.
        """
        lengths = np.zeros(len(self.many), np.int64)
        parts = []
        for chosen in chunks(self.bound):
            of, candidate = self._narrow(chosen, *self._begin(chosen))
            edges.consume(len(of))
            lengths[chosen] = np.bincount(of, minlength=len(chosen))
            parts.append(candidate[np.argsort(of, kind="stable")].astype(np.int32))
        return Candidates(kind=self.kind, offsets=offsets_of(lengths), candidate=np.concatenate(parts))

    def _begin(self, kinds: IntArray) -> tuple[IntArray, IntArray]:
        """Return pairs of a kind, by its place in `kinds`, and who has its first spot in a box; or else everybody."""
        n = self.shapes.trajectories
        nothing = np.flatnonzero(self.many[kinds] == 0)
        with_spots = np.flatnonzero(self.many[kinds] > 0)
        spot = self.example[self.group[self.first[kinds[with_spots]]]]
        if self.is_listed:
            at, which = expand(self.starts[spot], self.starts[spot + 1] - self.starts[spot])
            shape = self.shape[at]
        else:
            starts, shape = hits(self.spots.take(spot), self.shapes, self.steps)
            which = trajectory_of_row(starts)
        member, entry = expand(self.shapes.starts[shape], np.diff(self.shapes.starts)[shape])
        of = with_spots[which[entry]]
        candidate = self.shapes.member[member]
        self.steps.consume(len(of))
        if not self.shapes.single:  # a trajectory may have two boxes at a time, and the spot may be in both
            of, candidate = np.divmod(distinct(of * n + candidate), n)
        return (
            np.concatenate([of, np.repeat(nothing, n)]),
            np.concatenate([candidate, np.tile(np.arange(n), len(nothing))]),
        )

    def _narrow(self, kinds: IntArray, of: IntArray, candidate: IntArray) -> tuple[IntArray, IntArray]:
        """Return the pairs in which the candidate has all other spots of the kind in a box as well."""
        place = 1
        # Before round `place` every pair left has the first `place` groups of spots of its kind in boxes of the
        # candidate.  A round looks at the next group, for kinds that have one, and drops the pairs where the candidate
        # has no box around it.  The rarest groups come first, so most pairs are gone early.  It ends with the kind that
        # has the most groups.
        while True:
            with_spot = np.flatnonzero(self.many[kinds[of]] > place)
            if not len(with_spot):
                return of, candidate
            self.steps.consume(len(with_spot))
            spot = self.example[self.group[self.first[kinds[of[with_spot]]] + place]]
            keep = np.ones(len(of), bool)
            keep[with_spot] = self.shapes.cover(candidate[with_spot], self.spots, spot)
            of = of[keep]
            candidate = candidate[keep]
            place += 1


def _all_hits(spots: Spots, shapes: Shapes, steps: StepBudget) -> tuple[IntArray, IntArray] | None:
    """Return the boxes around all spots, or None if they are too many to be held."""
    try:
        return hits(spots, shapes, steps)
    except BudgetExceeded:
        if steps.left < 0:  # it was the work that was too much, not what has to be held
            raise
        return None
