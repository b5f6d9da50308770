"""Predicting what comes next: a first-order Markov predictor, trained on original and on published data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Chart, Series
from wayveil.model.ragged import trajectory_of_row

__all__ = ["GUESSES", "Accuracy", "Prediction", "Steps", "guesses", "held_out_people", "steps_of"]

Array = NDArray[Any]

GUESSES = 3
_ONE_OF = 5


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
    there = (trajectory[1:] == trajectory[:-1]) & (state[1:] >= 0) & (state[:-1] >= 0)
    first = np.flatnonzero(there)
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
    ordered = np.sort(steps.now * n + steps.then)
    begins = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)])
    count, pair = np.diff(np.append(begins, len(ordered))), ordered[begins]
    now, then = pair // max(1, n), pair % max(1, n)
    rank = np.lexsort((then, -count, now))
    now, then = now[rank], then[rank]
    place = np.arange(len(now)) - np.searchsorted(now, now)
    found = np.full((n, GUESSES), -1, np.int64)
    near = place < GUESSES
    found[now[near], place[near]] = then[near]
    left = found[:, 0] >= 0
    reached = np.bincount(steps.then, minlength=n)
    for state in np.argsort(-reached, kind="stable")[:GUESSES].tolist():
        if reached[state]:
            lacks = np.flatnonzero((found[:, -1] < 0) & ~(found == state).any(axis=1))
            found[lacks, (found[lacks] >= 0).sum(axis=1)] = state
    return found, left


def held_out_people(person: Array) -> Array:
    """Return the people who are held out for the test: a fifth of those with steps, at least one.

    Who they are depends on the order in which people come, and on nothing else.

    Examples
    --------
    >>> held_out_people(np.array([30, 30, 10, 20, 50, 40, 60])).tolist()
    [50, 60]
    """
    people, first = np.unique(person, return_index=True)
    people = people[np.argsort(first, kind="stable")]
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

    def measured(self, suffix: str = "") -> dict[str, int | float | None]:
        """Return everything as numbers with names."""
        found: dict[str, int | float | None] = {
            "tested_people": self.people,
            "tested_steps": self.steps,
            "accuracy_before": self.everyone.first,
            "accuracy_after": self.after.first,
            "accuracy_before_others": self.others.first,
            "loss_to_others": _minus(self.others.first, self.after.first),
            f"accuracy_of_{GUESSES}_before": self.everyone.three,
            f"accuracy_of_{GUESSES}_after": self.after.three,
            f"accuracy_of_{GUESSES}_before_others": self.others.three,
            f"loss_of_{GUESSES}": _minus(self.everyone.three, self.after.three),
            "known_share_before": self.everyone.known,
            "known_share_after": self.after.known,
        }
        return {name + suffix: value for name, value in found.items()}

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


def _accuracy(test: Steps, found: Array, left: Array) -> Accuracy:
    if not len(test.now):
        return Accuracy(first=None, three=None, known=None)
    right = found[test.now] == test.then[:, None]
    return Accuracy(
        first=float(right[:, 0].mean()), three=float(right.any(axis=1).mean()), known=float(left[test.now].mean())
    )


def _mixed(number: Array) -> Array:
    """Return numbers without any visible order: the finalizer of splitmix64."""
    mixed = number.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
