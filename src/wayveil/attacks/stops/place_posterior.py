"""The attacker who knows the method, and what is popular, and infers the sensitive places of those who look alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import OnStops, mean, owners_of
from wayveil.attacks.attack_numbers import mean_risk, share_above, worst_risk
from wayveil.attacks.stops.place_classes import recode_places
from wayveil.errors import InputError
from wayveil.model import AttackResult, Engine, Number, Stops, Taxonomy, parameter
from wayveil.model.data.ragged import keep_rows, trajectory_of_row
from wayveil.model.numbers import count, probability, share, threshold_text

__all__ = ["PlacePosterior"]

Array = NDArray[Any]

_ROUNDING = 1e-12  # a share that is exactly the threshold is not above it
_LIKELIEST = "Most probable place, by popularity"
_COMPOSITION = "Largest true share of those who look alike"


@dataclass(frozen=True, kw_only=True)
class PlacePosterior(OnStops):
    """Someone who knows all stops of a trip that are not sensitive, the method and what is popular, infers the others.

    The candidates are the published trajectories with the same sequence of nodes that are not sensitive: a class.  All
    classes are attacked, none is drawn.  Two attackers are played:

    - the *posterior*: a stop at a sensitive node is at each place below it with the probability that the publication
      itself teaches, by how often each of these places is published; all that are never published count as one stop;
    - the *composition*: an attacker who has worked out everything about the class but who is who.  The probability of
      a place is the share of the class that was truly there, also on stops that were lifted or left out.  Whatever is
      known of the method and of popularity, it leads to a mean over compositions that fit what is published; so where
      a method sees to it that no composition is above c, nobody can know more.

    Both are counted over people and over trajectories, and the larger number is kept.

    Parameters
    ----------
    choice : {"places", "number"}
        The stops that are not sensitive; or also how many stops of the trip are published.
    threshold : number from 0 to 1
        What counts as too probable.

    Notes
    -----
    `identity_max` is the chance to find the person: 1 / people, or the share of trajectories of whoever owns the most.
    Shares are those of the published trips with a true sensitive stop: of how many a place is more probable than
    the threshold in their class, and of how many one is certain.
    O(rows x leaves below a published node) time and memory.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> tree = Taxonomy.from_parents([("Place", ""), ("Park", "Place"), ("Clinic", "Place"), ("C1", "Clinic"),
    ...                               ("C2", "Clinic")], sensitive=["Clinic"])
    >>> raw = Stops.from_records([["Park", "C1"], ["Park"], ["C1"], ["C1"]], taxonomy=tree)
    >>> published = Stops.from_records([["Park", "Clinic"], ["Park"], ["C1"], ["C1"]], taxonomy=tree)
    >>> attack = PlacePosterior(threshold=0.4)
    >>> found = attack.run(raw, published, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], found.measured["composition_max"]
    (0.5, 1.0)
    """

    choice: str = parameter(
        kind="choice",
        choices=("places", "number"),
        default="places",
        help="what is known: all places that are not sensitive, or also how many stops of the trip are published",
    )
    threshold: Fraction = parameter(
        kind="fraction", low=0, high=1, default=Fraction(1, 2), help="what counts as too probable"
    )

    name: ClassVar[str] = "place_posterior"
    summary: ClassVar[str] = "an attacker who knows the method and what is popular, and infers sensitive places"
    matched: ClassVar[bool] = True

    def queries(self, truth: Stops, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> None:
        """Return nothing that is drawn: all places of everybody are known."""

    def match(self, queries: None, target: Stops, *, truth: Stops, rng: Any, engine: Engine) -> _Classes:
        if len(truth) != len(target):
            raise InputError(
                f"{self.name}: the attacked data must have one trajectory for each of the {len(truth)} true ones, in "
                f"the same order, got {len(target)}. Leave trajectories that are not published without rows."
            )
        node = recode_places(self.name, truth, target)
        return _Classes.among(truth, target, node, number=self.choice == "number")

    def summarize(self, queries: None, matches: _Classes) -> AttackResult:
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=len(np.unique(matches.owner[matches.label >= 0])),
            sampled=False,
            numbers=matches.measure(float(self.threshold)),
        )

    @property
    def _adversary(self) -> str:
        number = " and how many stops are published of it" if self.choice == "number" else ""
        return (
            f"knows all places of a trip that are not sensitive{number}, the method, the taxonomy and how popular "
            "places are, and infers sensitive places of the trip"
        )


@dataclass(frozen=True, eq=False)
class _Classes:
    """Published trajectories that look alike.

    Parameters
    ----------
    tree : Taxonomy
    label, owner : int64, one per trajectory
        The class, -1 of what is not published; and the person.
    trip, node : int64, one per published sensitive stop
    true_trip, true_place : int64, one per true sensitive stop of what is published
    """

    tree: Taxonomy
    label: Array
    owner: Array
    trip: Array
    node: Array
    true_trip: Array
    true_place: Array

    @classmethod
    def among(cls, truth: Stops, target: Stops, node: Array, *, number: bool) -> _Classes:
        tree = truth.taxonomy
        # What the attacker knows of a trip are its stops that are not sensitive, as published; trips that agree in
        # these are one class, and with `number` also in how many stops are published.
        secret = tree.sensitive[node]
        length = np.diff(target.offsets)
        label = _alike(keep_rows(target.offsets, ~secret), node[~secret], length if number else np.zeros_like(length))
        nonempty = length > 0
        label[nonempty] = np.unique(label[nonempty], return_inverse=True)[1]
        label[~nonempty] = -1
        true = truth.sensitive
        true_trip = trajectory_of_row(truth.offsets)[true]
        true_place = truth.place[true].astype(np.int64)
        nonempty = label[true_trip] >= 0
        return cls(
            tree,
            label,
            owners_of(truth),
            trajectory_of_row(target.offsets)[secret],
            node[secret],
            true_trip[nonempty],
            true_place[nonempty],
        )

    def measure(self, threshold: float) -> dict[str, Number]:
        inside = self.label >= 0
        n = int(self.label.max(initial=-1)) + 1
        if not n:
            return {
                "identity_max": worst_risk(None),
                "posterior_max": worst_risk(None, "posterior", label=_LIKELIEST),
                "composition_max": probability(None, _COMPOSITION, about="posterior", joined="largest"),
            }
        label = self.label[inside]
        owner = self.owner[inside]
        trips = np.bincount(label, minlength=n)
        # Class and owner packed into one number: its runs are the trips of one person in one class.
        pair, owned = np.unique(label * (int(owner.max()) + 1) + owner, return_counts=True)
        people = np.bincount(pair // (int(owner.max()) + 1), minlength=n)
        most = np.zeros(n)
        np.maximum.at(most, pair // (int(owner.max()) + 1), owned)
        posterior = np.zeros(n)
        composition = np.zeros(n)
        for unit, size in ((self.owner, people), (np.arange(len(self.label)), trips)):
            posterior = np.maximum(posterior, self._posterior(unit, size))
            composition = np.maximum(composition, self._composition(unit, size))
        true = np.unique(self.true_trip)  # the trips with a sensitive stop are whom this is about
        at_risk = posterior[self.label[true]]
        return {
            "identity_max": worst_risk(float(np.maximum(most / trips, 1 / people).max())),
            "posterior_mean": mean_risk(mean(at_risk), "posterior", label="Mean over trips with a sensitive stop"),
            "posterior_max": worst_risk(float(posterior.max()), "posterior", label=_LIKELIEST),
            "posterior_share_above": share_above(
                mean(at_risk > threshold + _ROUNDING), threshold, "posterior", who="Trips"
            ),
            "posterior_certain_share": share(
                mean(at_risk > 1 - _ROUNDING), "Trips of which a place is certain", about="posterior", better="lower"
            ),
            "composition_max": probability(float(composition.max()), _COMPOSITION, about="posterior", joined="largest"),
            "composition_share_above": share(
                mean(composition[self.label[true]] > threshold + _ROUNDING),
                f"Trips with a true share above {threshold_text(threshold, odds=False)}",
                about="posterior",
            ),
            "classes": count(n, "Classes", "classes"),
        }

    def _posterior(self, unit: Array, size: Array) -> Array:
        """Return the largest probability of a place in each class, with places as popular as the publication shows.

        A unit with stops at nodes was not at a place with the product, over its stops, of the probability that each was
        elsewhere; sums of logarithms do it for all places at once.
        """
        tree = self.tree
        who = unit[self.trip]
        if not len(who):
            return np.zeros(len(size))
        # The prior of the attacker: places that are published exactly somewhere show how popular they are.
        shown = np.bincount(self.node, minlength=len(tree)) * tree.is_leaf
        leaf, weight, first = _weights(tree, shown.astype(float), np.unique(self.node))
        # Every published sensitive stop is spread over the leaves below its node, with their weights: one row per stop
        # and leaf.
        many = first[self.node, 1] - first[self.node, 0]
        at = np.repeat(first[self.node, 0] - np.cumsum(many) + many, many) + np.arange(int(many.sum()))
        row = np.repeat(np.arange(len(who)), many)
        span = int(unit.max()) + 1
        key = (self.label[self.trip][row] * len(tree) + leaf[at]) * span + who[row]
        pairs, which = np.unique(key, return_inverse=True)
        with np.errstate(divide="ignore"):
            log_chance_elsewhere = np.bincount(
                which, weights=np.log1p(-np.minimum(weight[at], 1.0)), minlength=len(pairs)
            )
        # 1 - exp(sum of logs), in a form that stays exact for small probabilities.
        chance_here = -np.expm1(log_chance_elsewhere)
        return _largest(pairs // span, chance_here, len(tree), size)

    def _composition(self, unit: Array, size: Array) -> Array:
        """Return the largest share of each class that was truly at one place."""
        tree = self.tree
        span = int(unit.max(initial=0)) + 1
        key = (self.label[self.true_trip] * len(tree) + self.true_place) * span + unit[self.true_trip]
        pairs = np.unique(key)
        return _largest(pairs // span, np.ones(len(pairs)), len(tree), size)


def _alike(offsets: Array, node: Array, number: Array) -> Array:
    """Return a number for each trajectory, the same for those with the same nodes in order and the same `number`."""
    codes: dict[tuple[bytes, int], int] = {}
    bounds = zip(offsets[:-1].tolist(), offsets[1:].tolist(), number.tolist(), strict=True)
    return np.array([codes.setdefault((node[a:b].tobytes(), n), len(codes)) for a, b, n in bounds], np.int64)


def _weights(tree: Taxonomy, shown: Array, nodes: Array) -> tuple[Array, Array, Array]:
    """Return the leaves below some nodes with their probabilities, and from where to where they are, for each node.

    A leaf is as probable as it is often shown.  Those below a node that never are count as one stop, shared evenly.
    """
    leaves = []
    weights = []
    first = np.zeros((len(tree), 2), np.int64)
    n = 0
    for node in nodes.tolist():
        below = tree.order[tree.first[node] : tree.last[node]]
        below = below[tree.is_leaf[below]]
        count = shown[below]
        unseen = count == 0
        count = np.where(unseen, 1 / max(1, int(unseen.sum())), count)
        leaves.append(below)
        weights.append(count / count.sum())
        first[node] = n, n + len(below)
        n += len(below)
    return np.concatenate(leaves), np.concatenate(weights), first


def _largest(place: Array, chance_here: Array, n_nodes: int, size: Array) -> Array:
    """Return the largest mean of each class; `place` is class * n_nodes + leaf, ascending."""
    largest = np.zeros(len(size))
    if len(place):
        places, which = np.unique(place, return_inverse=True)
        share = np.bincount(which, weights=chance_here) / size[places // n_nodes]
        np.maximum.at(largest, places // n_nodes, share)
    return largest
