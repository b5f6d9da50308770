"""Whether the next place is foretold as well as before: a Markov predictor, trained on original and published data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnPositions, OnRoutes, OnStops, OnVisits
from wayveil.metrics.movement import (
    cell_corner,
    cell_parameter,
    cell_side,
    centres,
    check_comparable,
    finite,
    lines_of,
)
from wayveil.metrics.roads.road_counts import aligned_roads
from wayveil.metrics.stops.nodes import aligned_nodes, kinds_of_nodes
from wayveil.metrics.visits.aligned import aligned_locations
from wayveil.model import Boxes, Chart, Metric, Number, Points, Routes, Score, Series, Stops, Visits
from wayveil.model.data.ragged import keep_rows, trajectory_of_row
from wayveil.model.numbers import count, measure, relabel, relative, share

__all__ = [
    "GUESSES",
    "Accuracy",
    "NextCell",
    "NextPlace",
    "NextRoad",
    "NextStop",
    "Prediction",
    "Steps",
    "guesses",
    "held_out_people",
    "steps_of",
]

Array = NDArray[Any]

GUESSES = 3
_ONE_OF = 5


class _NextMetric(Metric):
    """How much more often the next state is guessed right with the original than with what is published."""

    guessed: ClassVar[str]
    title: ClassVar[str]

    def score(self, counts: Mapping[str, Any]) -> Score:
        prediction: Prediction = counts["prediction"]
        return Score(
            name=self.name,
            meaning=f"how much more often {self.guessed} is guessed right with the original than with what is "
            "published",
            value=prediction.loss,
            better="lower",
            unit="relative",
            numbers={**counts.get("numbers", {}), **prediction.numbers()},
            charts=prediction.chart(self.title),
        )


@dataclass(frozen=True, kw_only=True)
class NextPlace(_NextMetric, OnVisits):
    """How much worse the next place is predicted by who has the published data and not the original.

    The predictor is a first-order Markov chain: from each place it guesses where most people went next, and where too
    few went on from there, the places that most people come to.  It is trained once on the original and once on the
    published data, and tested on the original trips of a fifth of the people.  The headline is the difference of the
    shares of first guesses that are right.

    Notes
    -----
    The published data hold the people of the test too, and nobody can tell which trajectories are theirs.  So the
    original is trained on everyone as well, and a publication of everything loses nothing.  ``loss_to_others`` compares
    with an original without these people.  For people whom nobody has seen before, the headline says too much where the
    original knows rare trips by heart, and ``loss_to_others`` too little where the published data do.

    Rows at the same place that follow each other are one visit.  Only the order of visits matters, not their times.
    O(n log n) time for n visits.

    Examples
    --------
    >>> trips = [[("a", 1), ("b", 2), ("c", 3)]] * 10
    >>> before = Visits.from_records(trips)
    >>> after = Visits.from_records([[("a", 1), ("c", 3)]] * 10)
    >>> score = NextPlace().run(before, after)
    >>> score.measured["accuracy_before"], score.measured["accuracy_after"], score.value
    (1.0, 0.5, 0.5)
    """

    name: ClassVar[str] = "next_place"
    summary: ClassVar[str] = "prediction of the next place, trained before and after"
    guessed: ClassVar[str] = "the next place"
    title: ClassVar[str] = "Next places that are guessed right"

    def count(self, original: Visits, published: Visits) -> Mapping[str, Any]:
        names, codes = aligned_locations(original, published)
        before = _moves(original, original.location.astype(np.int64))
        return {"prediction": Prediction.of(before, _moves(published, codes), len(names))}


@dataclass(frozen=True, kw_only=True)
class NextCell(_NextMetric, OnPositions):
    """How much worse the next cell of a grid is predicted by who has the published data and not the original.

    The predictor is a first-order Markov chain: from each square cell it guesses into which other one most trips went
    next, and where too few went on from there, the cells that most trips come to.  It is trained once on the original
    and once on the published data, and tested on the original trips of a fifth of the people.  The headline is the
    difference of the shares of first guesses that are right.

    Parameters
    ----------
    cell : number, >= 0.001, or "auto"
        Side of a cell in metres; "auto" is about 1/16 of what the middle 95 % of the positions span, a round number.

    Notes
    -----
    Boxes stand for their centres.  Rows in the same cell that follow each other are one.  The next cell is that of the
    next row elsewhere, which need not be a neighbour.  For the people of the test and ``loss_to_others`` see
    `NextPlace`.  O(n log n) time for n rows.

    Examples
    --------
    >>> before = Points.from_records([[(0, 0.0, 0.0), (1, 16.0, 0.0)]] * 10)
    >>> after = Points.from_records([[(0, 0.0, 0.0), (1, 8.0, 0.0)]] * 10)
    >>> NextCell().run(before, before).value, NextCell().run(before, after).value
    (0.0, 1.0)
    """

    cell: float | str = cell_parameter()

    name: ClassVar[str] = "next_cell"
    summary: ClassVar[str] = "prediction of the next cell of a grid, trained before and after"
    guessed: ClassVar[str] = "the next cell"
    title: ClassVar[str] = "Next cells that are guessed right"

    @np.errstate(over="ignore", invalid="ignore")
    def count(self, original: Points, published: Points | Boxes) -> Mapping[str, Any]:
        check_comparable(self.name, original, published)
        # Cells of both tables are numbered together, so that a state means the same before and after.
        cell = cell_side(self.cell, original)
        state, n = _cells(original, published, cell)
        before = _moves(original, state[: original.n_rows])
        after = _moves(published, state[original.n_rows :])
        return {
            "prediction": Prediction.of(before, after, n),
            "numbers": {"cell_m": measure(finite(cell), "m", "Side of a cell")},
        }


@dataclass(frozen=True, kw_only=True)
class NextRoad(_NextMetric, OnRoutes):
    """How much worse the next road is predicted by who has the published data and not the original.

    The predictor is a first-order Markov chain: from each road it guesses onto which one most people drove next, and
    where too few went on, the roads that most people come to.  It is trained once on the original and once on the
    published data, and tested on the original trips of a fifth of the people.  The headline is the difference of the
    shares of first guesses that are right.

    Notes
    -----
    Trips of all times are taken together, and a gap in a trip is a step like any other.  For the people of the test and
    ``loss_to_others`` see `NextPlace`.  O(n log n) time for n rows.

    Examples
    --------
    >>> from wayveil.model import RoadNetwork
    >>> network = RoadNetwork.from_roads([("ab", "a", "b"), ("bc", "b", "c"), ("cd", "c", "d")])
    >>> before = Routes.from_records([["ab", "bc", "cd"]] * 10, network=network)
    >>> after = Routes.from_records([["ab", "bc"]] * 10, network=network)
    >>> NextRoad().run(before, after).value
    0.5
    """

    name: ClassVar[str] = "next_road"
    summary: ClassVar[str] = "prediction of the next road, trained before and after"
    guessed: ClassVar[str] = "the next road"
    title: ClassVar[str] = "Next roads that are guessed right"

    def count(self, original: Routes, published: Routes) -> Mapping[str, Any]:
        names, codes = aligned_roads(original, published)
        before = steps_of(original.offsets, original.road.astype(np.int64), original.owner)
        return {"prediction": Prediction.of(before, steps_of(published.offsets, codes, published.owner), len(names))}


@dataclass(frozen=True, kw_only=True)
class NextStop(_NextMetric, OnStops):
    """How much worse the next stop is predicted by who has the published data and not the original.

    The predictor is a first-order Markov chain: after each stop it guesses what most people did next, and where too few
    went on, what most people do.  It is trained once on the original and once on the published data, and tested on the
    original trips of a fifth of the people.  This is done for kinds, the nodes right below the root of the taxonomy,
    and for places, its leaves.  The headline is the difference, for kinds, of the shares of first guesses that are
    right.

    Notes
    -----
    A published stop at the root has no kind, and one at an inner node is no place: there is nothing to learn from a
    step from or to one.  For the people of the test and ``loss_to_others`` see `NextPlace`.
    O(n log n) time for n stops.

    Examples
    --------
    >>> from wayveil.model import Taxonomy
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Food", "Place"), ("Bar", "Food"), ("Park", "Place")])
    >>> before = Stops.from_records([["Park", "Bar"]] * 10, taxonomy=tree)
    >>> after = Stops.from_records([["Park", "Food"]] * 10, taxonomy=tree)
    >>> score = NextStop().run(before, after)
    >>> score.value, score.measured["loss_of_places"]
    (0.0, 1.0)
    """

    name: ClassVar[str] = "next_stop"
    summary: ClassVar[str] = "prediction of the kind and place of the next stop, trained before and after"
    guessed: ClassVar[str] = "the kind of the next stop"
    title: ClassVar[str] = "Kinds of next stops that are guessed right"

    def count(self, original: Stops, published: Stops) -> Mapping[str, Any]:
        tree = original.taxonomy
        old = original.place
        new = aligned_nodes(self.name, original, published)
        kinds, places = (
            Prediction.of(
                steps_of(original.offsets, state[old], original.owner),
                steps_of(published.offsets, state[new], published.owner),
                len(tree),
            )
            # Two views of the same stops: what kind of place, and which place; -1 where a published node says neither.
            for state in (kinds_of_nodes(tree), np.where(tree.is_leaf, np.arange(len(tree)), -1))
        )
        return {"prediction": kinds, "places": places}

    def score(self, counts: Mapping[str, Any]) -> Score:
        of_kinds = super().score(counts)
        places: Prediction = counts["places"]
        return replace(
            of_kinds,
            numbers={
                **of_kinds.numbers,
                "loss_of_places": relative(places.loss, "Loss of places"),
                **relabel(places.numbers(), "_of_places", "of places"),
            },
            charts=(*of_kinds.charts, *places.chart("Places of next stops that are guessed right")),
        )


@dataclass(frozen=True, eq=False)
class Steps:
    """Steps from one state to the next, and whose they are."""

    now: Array
    then: Array
    person: Array

    def where(self, keep: Array) -> Steps:
        """Return the steps where `keep` is true."""
        return Steps(self.now[keep], self.then[keep], self.person[keep])


@dataclass(frozen=True, kw_only=True)
class Accuracy:
    """How often the first, and one of the first three guesses is right; and how often the state was known at all."""

    first: float | None
    three: float | None
    known: float | None


def steps_of(offsets: Array, state: Array, owner: Array) -> Steps:
    """Return the steps between rows that follow each other in a trajectory; none from or to a state below 0.

    Examples
    --------
    >>> steps = steps_of(np.array([0, 3, 5]), np.array([4, 5, 4, -1, 5]), np.array([7, 8]))
    >>> steps.now.tolist(), steps.then.tolist(), steps.person.tolist()
    ([4, 5], [5, 4], [7, 7])
    """
    trajectory = trajectory_of_row(offsets)
    is_step = (trajectory[1:] == trajectory[:-1]) & (state[1:] >= 0) & (state[:-1] >= 0)
    first = np.flatnonzero(is_step)
    return Steps(state[first].astype(np.int64), state[first + 1].astype(np.int64), owner[trajectory[first]])


def guesses(steps: Steps, n: int) -> tuple[Array, Array]:
    """Return, for each of `n` states, the three most likely next ones (-1: none), and whether it was ever left.

    What most often followed a state comes first, ties in order of the states.  Where fewer than three ever did, the
    states that are most often reached from anywhere fill up.

    Examples
    --------
    >>> steps = Steps(np.array([0, 0, 0, 1]), np.array([1, 2, 2, 2]), np.zeros(4))
    >>> [part.tolist() for part in guesses(steps, 3)]
    [[[2, 1, -1], [2, 1, -1], [2, 1, -1]], [True, True, False]]
    """
    # Each step is one number (now, then), sorted: equal ones are neighbours and are counted by where runs begin.
    ordered = np.sort(steps.now * n + steps.then)
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    count = np.diff(np.append(begins, len(ordered)))
    pair = ordered[begins]
    now = pair // max(1, n)
    then = pair % max(1, n)
    # By state, then by count downwards, then by the next state: position 0 of each state is its best guess.
    rank = np.lexsort((then, -count, now))
    now = now[rank]
    then = then[rank]
    # The rank of each next state within its state.
    place = np.arange(len(now)) - np.searchsorted(now, now)
    guess = np.full((n, GUESSES), -1, np.int64)
    near = place < GUESSES
    guess[now[near], place[near]] = then[near]
    left = guess[:, 0] >= 0
    reached = np.bincount(steps.then, minlength=n)
    # Where a state was followed by fewer than three others, the states that are reached most often fill the row, unless
    # they are in it already.
    for state in np.argsort(-reached, kind="stable")[:GUESSES].tolist():
        if reached[state]:
            lacks = np.flatnonzero((guess[:, -1] < 0) & ~(guess == state).any(axis=1))
            guess[lacks, (guess[lacks] >= 0).sum(axis=1)] = state
    return guess, left


def held_out_people(person: Array) -> Array:
    """Return the people who are held out for the test: a fifth of those with steps, at least one.

    Who they are depends on the order in which people come, and on nothing else.

    Examples
    --------
    >>> held_out_people(np.array([30, 30, 10, 20, 50, 40, 60])).tolist()
    [50, 60]
    """
    people, first = np.unique(person, return_index=True)
    # In the order in which people first appear, not of their codes: codes may be given in any order.
    people = people[np.argsort(first, kind="stable")]
    # Every fifth person without any draw: a hash of their number in order of appearance, so that the same file is
    # always tested on the same people.
    mixed = _mixed(np.arange(len(people)))
    chosen = np.argsort(mixed, kind="stable")[: -(-len(people) // _ONE_OF)]
    return np.sort(people[chosen])


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """What the predictor gets right about people held out, trained on three sets of data.

    `everyone` is the whole original, `others` the original without the people of the test, `after` the published data.
    The published data hold these people too, and nobody can tell which trajectories are theirs.  So what is lost is
    the difference to `everyone`, who are in both.
    """

    people: int
    steps: int
    everyone: Accuracy
    others: Accuracy
    after: Accuracy

    @classmethod
    def of(cls, before: Steps, after: Steps, n: int) -> Prediction:
        """Train on the steps between `n` states, and test on the original steps of a fifth of the people."""
        # The test is on people, not on steps: steps of one person are alike, and a predictor that has seen half of them
        # knows the other half.
        people = held_out_people(before.person)
        held_out = np.isin(before.person, people)
        test = before.where(held_out)
        return cls(
            people=len(people),
            steps=len(test.now),
            everyone=_accuracy(test, *guesses(before, n)),
            others=_accuracy(test, *guesses(before.where(~held_out), n)),
            after=_accuracy(test, *guesses(after, n)),
        )

    @property
    def loss(self) -> float | None:
        """How much more often the first guess is right with the original."""
        return _minus(self.everyone.first, self.after.first)

    def numbers(self) -> dict[str, Number]:
        """Return everything as numbers with names."""
        return {
            "tested_people": count(self.people, "People tested", "people"),
            "tested_steps": count(self.steps, "Steps tested", "steps"),
            "accuracy_before": share(self.everyone.first, "Right with the original"),
            "accuracy_after": share(self.after.first, "Right with the publication"),
            "accuracy_before_others": share(self.others.first, "Right with the original of other people"),
            "loss_to_others": relative(
                _minus(self.others.first, self.after.first), "Loss in relation to the original of other people"
            ),
            f"accuracy_of_{GUESSES}_before": share(
                self.everyone.three, f"One of {GUESSES} guesses right with the original"
            ),
            f"accuracy_of_{GUESSES}_after": share(
                self.after.three, f"One of {GUESSES} guesses right with the publication"
            ),
            f"accuracy_of_{GUESSES}_before_others": share(
                self.others.three, f"One of {GUESSES} guesses right with the original of other people"
            ),
            f"loss_of_{GUESSES}": relative(
                _minus(self.everyone.three, self.after.three), f"Loss with {GUESSES} guesses"
            ),
            "known_share_before": share(self.everyone.known, "Share of steps with a guess, original"),
            "known_share_after": share(self.after.known, "Share of steps with a guess, publication"),
        }

    def chart(self, title: str) -> tuple[Chart, ...]:
        """Return the accuracies side by side; no chart where there was nothing to test."""
        if not self.steps:
            return ()
        sides = (("original", self.everyone), ("original, other people", self.others), ("published", self.after))
        return (
            Chart(
                title=title,
                kind="bars",
                labels=("first guess", f"first {GUESSES} guesses"),
                series=tuple(Series(name=name, values=(side.first, side.three)) for name, side in sides),
                x_label="what counts as right",
                y_label="share of predictions that are right",
                percent=True,
            ),
        )


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _accuracy(test: Steps, guess: Array, left: Array) -> Accuracy:
    if not len(test.now):
        return Accuracy(first=None, three=None, known=None)
    # A state without a guess has -1, which is no state, so it is never right.
    right = guess[test.now] == test.then[:, None]
    return Accuracy(
        first=float(right[:, 0].mean()), three=float(right.any(axis=1).mean()), known=float(left[test.now].mean())
    )


def _mixed(number: Array) -> Array:
    """Return numbers without any visible order: the finalizer of splitmix64."""
    mixed = number.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _cells(original: Points, published: Points | Boxes, cell: float) -> tuple[Array, int]:
    """Return the number of the cell of each row, those of the original first, and how many cells there are."""
    corner = cell_corner(original, cell)
    # Number cells by column and row: the axes are merged one after the other, each time into dense numbers.
    cell_of_row = np.zeros(original.n_rows + published.n_rows, np.int64)
    n = 1
    _, x, y = (np.concatenate(sides) for sides in zip(centres(original), centres(published), strict=True))
    for place, begin in zip((x, y), corner, strict=True):
        lines, where = np.unique(lines_of(place, begin, cell), return_inverse=True)
        # Made dense each time, so that numbers cannot overflow.
        cells, cell_of_row = np.unique(cell_of_row * len(lines) + where, return_inverse=True)
        n = len(cells)
    return cell_of_row, n


def _moves(data: Visits | Points | Boxes, state: Array) -> Steps:
    """Return the steps from one state to another one; rows in the same state that follow each other are one."""
    trajectory = trajectory_of_row(data.offsets)
    moved = np.ones(len(state), np.bool_)
    moved[1:] = (state[1:] != state[:-1]) | (trajectory[1:] != trajectory[:-1])
    return steps_of(keep_rows(data.offsets, moved), state[moved], data.owner)
