"""How well the published data tell at which kind of place, and at which place, somebody stops next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wayveil.metrics.metric_base import OnStops
from wayveil.metrics.prediction.predictions import Prediction, steps_of
from wayveil.metrics.stops.nodes import aligned_nodes
from wayveil.metrics.stops.place_kinds import kinds_of_nodes
from wayveil.model import Score, Stops

__all__ = ["NextStop"]


@dataclass(frozen=True, kw_only=True)
class NextStop(OnStops):
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

    def run(self, original: Stops, published: Stops) -> Score:
        tree = original.taxonomy
        old, new = original.place, aligned_nodes(self.name, original, published)
        kinds, places = (
            Prediction.of(
                steps_of(original.offsets, state[old], original.owner),
                steps_of(published.offsets, state[new], published.owner),
                len(tree),
            )
            for state in (kinds_of_nodes(tree), np.where(tree.is_leaf, np.arange(len(tree)), -1))
        )
        return Score(
            name=self.name,
            meaning="how much more often the kind of the next stop is guessed right with the original than with what "
            "is published",
            value=kinds.loss,
            better="lower",
            percent=True,
            measured={**kinds.measured(), "loss_of_places": places.loss, **places.measured("_of_places")},
            charts=(
                *kinds.chart("Kinds of next stops that are guessed right"),
                *places.chart("Places of next stops that are guessed right"),
            ),
        )
