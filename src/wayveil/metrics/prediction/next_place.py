"""How well the published data tell where somebody goes next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.metrics.metric_base import OnVisits
from wayveil.metrics.prediction.predictions import Prediction, Steps, steps_of
from wayveil.metrics.visits.aligned import aligned_locations
from wayveil.model import Score, Visits
from wayveil.model.ragged import keep_rows, trajectory_of_row

__all__ = ["NextPlace"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class NextPlace(OnVisits):
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

    def run(self, original: Visits, published: Visits) -> Score:
        names, codes = aligned_locations(original, published)
        before = _steps(original, original.location.astype(np.int64))
        found = Prediction.of(before, _steps(published, codes), len(names))
        return Score(
            name=self.name,
            meaning="how much more often the next place is guessed right with the original than with what is published",
            value=found.loss,
            better="lower",
            percent=True,
            measured=found.measured(),
            charts=found.chart("Next places that are guessed right"),
        )


def _steps(data: Visits, place: Array) -> Steps:
    """Return the steps from place to another place."""
    trajectory = trajectory_of_row(data.offsets)
    moved = np.ones(len(place), np.bool_)
    moved[1:] = (place[1:] != place[:-1]) | (trajectory[1:] != trajectory[:-1])
    return steps_of(keep_rows(data.offsets, moved), place[moved], data.owner)
