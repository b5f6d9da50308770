"""The attacker who knows the declared positions of everybody and assigns all trajectories to all people at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.attacks.assignments import Assignments, assign
from wayveil.attacks.fitting import MOST_EDGES, fitting
from wayveil.attacks.owners import owners_of
from wayveil.attacks.positions import Array, Outcome, check_matched, mean
from wayveil.attacks.risk_chart import share_chart
from wayveil.attacks.shared import threshold_parameter
from wayveil.model import AttackResult, Chart, Engine, Points, Regions, check_parameters, parameter

__all__ = ["GraphAttack"]

_ROUNDING = 1e-9
_GRAPH = (
    "judged_by_assignments_share",
    "edges_ruled_out_share",
    "edges_symmetric_share",
    "components_exact",
    "components_sampled",
)
_CLASSES = (1, 2, 3, 4, 5, 10, 20, 50, 100)
_CLASS_LABELS = ("nobody", "1", "2", "3", "4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 and more")


@dataclass(frozen=True, kw_only=True)
class GraphAttack:
    """Someone who knows the declared positions of everybody assigns a published trajectory to every person.

    A trajectory fits a person if its boxes contain all positions that are known of the person, at their times; a
    published point is a box without extent.  Everybody has exactly one of the trajectories, so whatever is in no
    assignment of all trajectories to all people is ruled out.  The attacker holds all assignments that remain for
    equally likely: **identity linkage** succeeds with the share of them that give the victim an own trajectory.

    Parameters
    ----------
    victims : int, >= 1
        Number of trajectories whose people are attacked where too many fit to look at them together; otherwise all are.
    samples : int, 10 to 100,000
        Most assignments that are sampled, where they are too many to be counted.
    threshold : number from 0 to 1
        People who are found with a probability above this are counted in `identity_share_above`.

    Notes
    -----
    What is known of a trajectory are its rows that are declared as `known`, or all.  Only published trajectories take
    part.  A person of several trajectories counts with the one that tells most.  Where trajectories cannot be
    assigned to all people of a component (a publication moved them away from the truth), the attacker falls back to
    picking any trajectory that fits; `judged_by_assignments_share` tells how often an assignment exists.  It is the
    same where the graph would have too many edges: a sample of `victims` is attacked, and the graph has no numbers.

    The probability is exact in components of at most 12 people (permanents, by dynamic programming over subsets) and
    where everybody fits all.  In larger ones it is the mean over a Markov chain of assignments: pairs of people
    exchange trajectories; and someone gives up a trajectory and takes another one that fits, whose holder takes another
    one, and so on until the first is taken, while a walk longer than a random limit is undone.  Each step is as likely
    as the way back, so all assignments are equally likely.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Points.from_records([[(0, 1.0, 0.0)], [(0, 2.0, 0.0)], [(0, 3.0, 0.0)]])
    >>> boxes = [[(0, 0, 1.0, 2.0, 0.0, 0.0)], [(0, 0, 1.0, 3.0, 0.0, 0.0)], [(0, 0, 2.0, 3.0, 0.0, 0.0)]]
    >>> attack, rng = GraphAttack(threshold="1/2"), np.random.default_rng(1)
    >>> found = attack.run(truth, Regions.from_records(boxes), sensitive={}, rng=rng, engine=LocalEngine())
    >>> found.measured["min_candidate_people"], round(found.measured["identity_max"], 3)
    (2, 0.667)
    """

    victims: int = parameter(
        kind="int", low=1, default=1000, help="number of trajectories attacked, where too many fit to draw the graph"
    )
    samples: int = parameter(
        kind="int", low=10, high=100_000, default=200, help="most assignments sampled, where they cannot be counted"
    )
    threshold: Fraction = threshold_parameter("probability", default=Fraction(1, 5))

    name: ClassVar[str] = "attack_graph"
    summary: ClassVar[str] = "an attacker who knows the declared positions of everybody and assigns all trajectories"
    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Points] | type[Regions], ...]] = (Regions, Points)
    matched: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_parameters(self, self.name)

    def run(
        self,
        truth: Points,
        target: Points | Regions,
        *,
        sensitive: Mapping[str, Iterable[str]],
        rng: np.random.Generator,
        engine: Engine,
    ) -> AttackResult:
        check_matched(self.name, truth, target)
        owner = owners_of(truth)
        there = np.diff(target.offsets) > 0
        person = owner[there]
        people = np.unique(owner[there | (np.diff(truth.offsets) > 0)])
        nodes = np.arange(len(person))
        edges = fitting(truth, target, nodes)
        if edges is None:
            most = min(self.victims, len(nodes), max(1, MOST_EDGES // (2 * len(nodes))))
            nodes = np.sort(rng.choice(len(nodes), most, replace=False))
            people = np.unique(person[nodes])
            i, o = fitting(truth, target, nodes, whatever=True) or (nodes[:0], nodes[:0])
            found, graph = Assignments.even(i, len(person)), {}
        else:
            i, o = edges
            found = assign(i, o, len(person), samples=self.samples, rng=rng)
            graph = _graph(i, o, len(person), found)
        risk = _Risk.of(i[found.kept], o[found.kept], found.chance[found.kept], person, nodes)
        risk = risk.of_people(people, person[nodes])
        return AttackResult(
            name=self.name,
            adversary=_adversary(truth, edges is not None),
            victims=len(people),
            sampled=edges is None or found.sampled > 0,
            measured={**self._measured(risk), **{name: graph.get(name) for name in _GRAPH}},
            charts=risk.charts(float(self.threshold)),
        )

    def _measured(self, risk: _Risk) -> dict[str, int | float | None]:
        outcome = risk.outcome(float(self.threshold))
        candidates, likeliest = risk.candidates[risk.published], risk.likeliest[risk.published]
        return {
            **outcome.identity(self.threshold),
            **outcome.extremes(self.threshold),
            "likeliest_probability_mean": mean(likeliest),
            "likeliest_probability_max": float(likeliest.max()) if len(likeliest) else None,
            "min_candidate_people": int(candidates.min()) if len(candidates) else None,
            "mean_candidate_people": mean(candidates),
            "victims_published_share": mean(risk.published),
            "unmatched_share": mean(candidates == 0),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Risk:
    """Per node or person: people who can be it, the likeliest's probability, the true one's, and if published."""

    candidates: Array
    likeliest: Array
    true: Array
    published: Array

    @classmethod
    def of(cls, i: Array, o: Array, chance: Array, person: Array, nodes: Array) -> _Risk:
        """Return what edges with their chances say of `nodes`; trajectories of one person are one candidate."""
        codes = int(person.max(initial=0)) + 1
        keys, which = np.unique(i * codes + person[o], return_inverse=True)
        chance = np.bincount(which, chance, len(keys))
        i, candidate = keys // codes, keys % codes
        likeliest, true = np.zeros(len(person)), np.zeros(len(person))
        np.maximum.at(likeliest, i, chance)
        own = candidate == person[i]
        true[i[own]] = chance[own]
        count = np.bincount(i, minlength=len(person))
        return cls(
            candidates=count[nodes],
            likeliest=np.minimum(likeliest[nodes], 1.0),
            true=np.minimum(true[nodes], 1.0),
            published=np.ones(len(nodes), bool),
        )

    def of_people(self, people: Array, person: Array) -> _Risk:
        """Return the risk of people, each with the trajectory that tells most; `people` are sorted."""
        at = np.searchsorted(people, person)
        candidates = np.full(len(people), np.iinfo(np.int64).max)
        np.minimum.at(candidates, at, self.candidates)
        likeliest, true = np.zeros(len(people)), np.zeros(len(people))
        np.maximum.at(likeliest, at, self.likeliest)
        np.maximum.at(true, at, self.true)
        published = np.isin(people, person)
        return _Risk(candidates=np.where(published, candidates, 0), likeliest=likeliest, true=true, published=published)

    def outcome(self, threshold: float) -> Outcome:
        """Return the probabilities as the other attacks tell them; rounding must not lift one above the threshold."""
        true = np.where(np.abs(self.true - threshold) < _ROUNDING, threshold, self.true)
        return Outcome(fitting=np.ones(len(true)), hit=true, published=self.published)

    def charts(self, threshold: float) -> tuple[Chart, Chart]:
        """Return how candidates and probabilities spread over people."""
        classes = np.searchsorted(_CLASSES, self.candidates[self.published], side="right")
        candidates = share_chart("How many people can be the victim?", "candidates left", _CLASS_LABELS, classes)
        return candidates, self.outcome(threshold).chart()


def _graph(i: Array, o: Array, n: int, found: Assignments) -> dict[str, int | float | None]:
    """Return the numbers of the graph itself, in the order of their names."""
    symmetric = np.isin(o * n + i, i * n + o, assume_unique=True)
    values = (
        float(found.judged.mean()) if n else None,
        float(1 - found.kept.mean()) if len(i) else None,
        float(symmetric.mean()) if len(i) else None,
        found.exact,
        found.sampled,
    )
    return dict(zip(_GRAPH, values, strict=True))


def _adversary(truth: Points, small: bool) -> str:
    known = "all positions" if truth.known is None else "the declared positions"
    end = "" if small else ", of which too many fit to rule any out: what fits is taken evenly"
    return f"knows {known} of everybody, and that each person has one of the published trajectories{end}"
