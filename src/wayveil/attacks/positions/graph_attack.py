"""The attacker who knows the declared positions of everybody and assigns all trajectories to all people at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import sqrt
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnPositions, mean, owners_of, threshold_parameter
from wayveil.attacks.attack_numbers import set_interval, share_published, share_unmatched
from wayveil.attacks.person_risk import share_chart
from wayveil.attacks.positions.assignments import CHAINS, Assignments, assign
from wayveil.attacks.positions.fitting import MOST_EDGES, fitting
from wayveil.attacks.positions.known_positions import Array, Outcome, Tracks, check_matched
from wayveil.attacks.positions.look_alikes import delta_parameter, look_alike_values, nearest_shares
from wayveil.attacks.positions.narrow_graphs import same_columns
from wayveil.kernels.attacks.position_matching import Sightings, nearest_owners
from wayveil.model import AttackResult, Boxes, Chart, Engine, Number, Points, parameter
from wayveil.model.numbers import count, probability, share

__all__ = ["GraphAttack"]

_ROUNDING = 1e-9
_GRAPH: Mapping[str, Number] = MappingProxyType(
    {
        "judged_by_assignments_share": share(None, "People judged by assignments"),
        "edges_ruled_out_share": share(None, "Share of what fits that is ruled out"),
        "edges_symmetric_share": share(None, "Share of what fits where whoever fits is fitted"),
        "components_exact": count(None, "Components counted exactly", "components"),
        "components_sampled": count(None, "Components sampled", "components"),
    }
)
"""What is told of the graph, without the values."""

_NEAREST_ROWS = 64  # known positions by which the nearest trajectory is looked for
_NEAREST_PER_TASK = 64
_STUDENT_95 = 3.182446305284263  # of three degrees of freedom: one less than there are chains
_CLASSES = (1, 2, 3, 4, 5, 10, 20, 50, 100)
_CLASS_LABELS = ("nobody", "1", "2", "3", "4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 and more")


@dataclass(frozen=True, kw_only=True)
class GraphAttack(OnPositions):
    """Someone who knows the declared positions of everybody assigns a published trajectory to every person.

    A trajectory fits a person if its boxes contain all positions that are known of the person, at their times; a
    published point is a box without extent.  Everybody has exactly one of the trajectories, so whatever is in no
    assignment of all trajectories to all people is ruled out.  The attacker holds all assignments that remain for
    equally likely: **identity linkage** succeeds with the share of them that give the victim an own trajectory; or, if
    this is more, with the chance of picking the victim among the *people* who own what cannot be told apart.  Where
    nothing fits somebody, the nearest trajectory is taken.

    Parameters
    ----------
    victims : int, >= 1
        Number of trajectories whose people are attacked where too many fit to look at them together, and where nothing
        fits; otherwise all are.
    samples : int, 10 to 100,000
        Most assignments that are sampled, where they are too many to be counted.
    threshold : number from 0 to 1
        People who are found with a probability above this are counted in `identity_share_above`.
    delta : number, >= 0
        Width of the discs in which chance placed published points, in metres; 0 for none.  Then whoever takes the
        nearest picks evenly among its look-alikes, as in `NoisySightings`.

    Notes
    -----
    What is known of a trajectory are its rows that are declared as `known`, or all.  Only published trajectories take
    part.  A person of several trajectories counts with the one that tells most.  Where trajectories cannot be
    assigned to all people of a component (a publication moved them away from the truth), the attacker falls back to
    picking any trajectory that fits; `judged_by_assignments_share` tells how often an assignment exists.  It is the
    same where the graph would have too many edges: a sample of `victims` is attacked, and the graph has no numbers.

    The probability is exact in components of at most 12 people (permanents, by dynamic programming over subsets), where
    everybody fits all, and in narrow ones, see `count_narrow`.  In others it is the mean over several Markov chains of
    assignments that begin apart: pairs of people exchange trajectories; and someone gives up a trajectory and takes
    another one that fits, whose holder takes another one, and so on until the first is taken, while a walk longer than
    a random limit is undone.  Each step is as likely as the way back, so all assignments are equally likely in the end.
    How long that takes is not known, so there `identity_max` is a bound that holds for certain: trajectories that fit
    the same people share their probability evenly, and so do people whom the same trajectories fit.

    References
    ----------
    Yarovoy, Bonchi, Lakshmanan, Wang: Anonymizing moving objects: how to hide a MOB in a crowd?  EDBT 2009.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Points.from_records([[(0, 1.0, 0.0)], [(0, 2.0, 0.0)], [(0, 3.0, 0.0)]])
    >>> boxes = [[(0, 0, 1.0, 2.0, 0.0, 0.0)], [(0, 0, 1.0, 3.0, 0.0, 0.0)], [(0, 0, 2.0, 3.0, 0.0, 0.0)]]
    >>> attack, rng = GraphAttack(threshold="1/2"), np.random.default_rng(1)
    >>> found = attack.run(truth, Boxes.from_records(boxes), sensitive={}, rng=rng, engine=LocalEngine())
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
    delta: float = delta_parameter()

    name: ClassVar[str] = "attack_graph"
    summary: ClassVar[str] = "an attacker who knows the declared positions of everybody and assigns all trajectories"

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> None:
        """Return nothing that is drawn: all declared positions of everybody are known."""

    def match(
        self, queries: None, target: Points | Boxes, *, truth: Points, rng: np.random.Generator, engine: Engine
    ) -> _Assigned:
        check_matched(self.name, truth, target)
        owner = owners_of(truth)
        nonempty = np.diff(target.offsets) > 0
        person = owner[nonempty]
        people = np.unique(owner[nonempty | (np.diff(truth.offsets) > 0)])
        nodes = np.arange(len(person))
        edges = fitting(truth, target, nodes)
        if edges is None:
            most = min(self.victims, len(nodes), max(1, MOST_EDGES // (2 * len(nodes))))
            nodes = np.sort(rng.choice(len(nodes), most, replace=False))
            people = np.unique(person[nodes])
            i, o = fitting(truth, target, nodes, whatever=True) or (nodes[:0], nodes[:0])
            assignments = Assignments.even(i, len(person))
            graph = {}
        else:
            i, o = edges
            # The probability of an edge is the share of the perfect matchings that contain it. Counting them is hard in
            # general, so small components are counted exactly and large ones sampled by Markov chains
            # (`assignments.py`).
            assignments = assign(i, o, len(person), samples=self.samples, rng=rng)
            graph = _graph(i, o, len(person), assignments)
        # Where nothing fits, as positions were moved, the attacker does not give up but takes the nearest trajectory.
        blank = np.setdiff1d(nodes, i)
        chosen = blank
        if len(blank) > self.victims:
            chosen = np.sort(rng.choice(blank, self.victims, replace=False))
            nodes = np.setdiff1d(nodes, np.setdiff1d(blank, chosen))
            people = np.unique(person[nodes])
        nearest = self._take_nearest(truth, target, np.flatnonzero(nonempty)[chosen], engine)
        # A guess is right or wrong: somebody with many trips is not found because one guess of many was lucky.
        _, who = np.unique(person[chosen], return_inverse=True)
        nearest = (np.bincount(who, nearest) / np.maximum(np.bincount(who), 1))[who] if len(who) else nearest
        is_possible = assignments.is_possible
        # Trajectories that fit the very same people cannot be told apart by any matching: they share their probability
        # evenly, whatever the chains say. That takes luck out of the numbers.
        look = _Look.of(i[is_possible], o[is_possible], person)
        chances = [
            assignments.chance[is_possible],
            *([] if assignments.chains is None else assignments.chains[:, is_possible]),
        ]
        risks = []
        for chance in chances:
            risk = look.risk(chance, nodes, assignments.sure)
            risk.true[np.searchsorted(nodes, chosen)] = nearest
            risk.bound[np.searchsorted(nodes, chosen)] = nearest
            risks.append(risk.of_people(people, person[nodes]))
        return _Assigned(
            adversary=_adversary(truth, edges is not None, len(blank), len(person)),
            victims=len(people),
            sampled=edges is None or assignments.sampled > 0 or len(blank) > len(chosen),
            risks=risks,
            graph=graph,
        )

    def summarize(self, queries: None, matches: _Assigned) -> AttackResult:
        risks = matches.risks
        return AttackResult(
            name=self.name,
            adversary=matches.adversary,
            victims=matches.victims,
            sampled=matches.sampled,
            numbers={
                **set_interval(self._numbers(risks[0]), _mean_bounds(risks)),
                **{name: replace(number, value=matches.graph.get(name)) for name, number in _GRAPH.items()},
            },
            charts=risks[0].charts(float(self.threshold)),
        )

    def _take_nearest(self, truth: Points, target: Points | Boxes, chosen: Array, engine: Engine) -> Array:
        """Return how well it works for some trajectories to take the nearest published one, by all that is known."""
        tracks = Tracks.of(truth, target)
        owner = owners_of(truth)
        known = truth if truth.known is None else truth.where(truth.known)
        length = np.diff(known.offsets)[chosen]
        count = np.minimum(length, _NEAREST_ROWS)
        place = np.arange(max(1, int(count.max(initial=1))))
        # As many rows of each as there are, or that fit, evenly from the first to the last.
        rows = known.offsets[chosen][:, None] + np.minimum(
            place * length[:, None] // np.maximum(count, 1)[:, None], np.maximum(length - 1, 0)[:, None]
        )
        rows = np.minimum(rows, max(0, known.n_rows - 1))
        tasks = [slice(k, k + _NEAREST_PER_TASK) for k in range(0, len(chosen), _NEAREST_PER_TASK)]
        columns = (known.t[rows], known.x[rows], known.y[rows]) if known.n_rows else (rows, rows * 1.0, rows * 1.0)
        points = target.as_points()
        if self.delta > 0 and points is not None:
            sightings = Sightings(*columns, owner[chosen], count[:, None])
            values = look_alike_values(truth, points, self.delta, tracks)
            shares = engine.map(partial(nearest_shares, tracks, values, sightings), tasks)
            return np.concatenate([np.zeros((0, 1)), *shares])[:, 0]
        done = engine.map(partial(_nearest, tracks, columns, owner[chosen], count), tasks)
        none = np.zeros((0, 1), np.int64)
        tied, hit, many, own = (np.concatenate(parts)[:, 0] for parts in zip((none,) * 4, *done, strict=True))
        return Outcome(fitting=tied, hit=hit, published=hit, trajectories=(many, own)).success

    def _numbers(self, risk: _Risk) -> dict[str, Number]:
        outcome = risk.outcome(risk.true, float(self.threshold))
        fits = risk.candidates > 0
        candidates = risk.candidates[fits]
        likeliest = risk.likeliest[fits]
        worst = risk.outcome(risk.bound, float(self.threshold)).extremes()
        return {
            **outcome.identity(self.threshold),
            **worst,
            "identity_max_estimate": probability(
                outcome.extremes()["identity_max"].value,
                "Person most at risk, estimated",
                about="identity",
                joined="largest",
            ),
            "likeliest_probability_mean": probability(mean(likeliest), "Mean probability of the likeliest candidate"),
            "likeliest_probability_max": probability(
                float(likeliest.max()) if len(likeliest) else None,
                "Largest probability of the likeliest candidate",
                joined="largest",
            ),
            "min_candidate_people": count(
                int(candidates.min()) if len(candidates) else None,
                "Fewest candidates of a person",
                "people",
                joined="smallest",
                better="higher",
            ),
            "mean_candidate_people": count(mean(candidates), "Mean candidates of a person", "people", joined="mean"),
            "victims_published_share": share_published(mean(risk.published)),
            "unmatched_share": share_unmatched(mean(~fits[risk.published])),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Assigned:
    """What assigning all trajectories says of people, by all chances and then chain by chain, and of the graph."""

    adversary: str
    victims: int
    sampled: bool
    risks: list[_Risk]
    graph: dict[str, int | float | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Look:
    """What is the same of all chances: the edges that are left, and which trajectories cannot be told apart.

    Parameters
    ----------
    i, o : int, one per edge
        Person and trajectory, as nodes; `person` has the owner of each node.
    people_worth : float, one per edge
        What it is worth to know that `o`, or one that fits the same people, is the one: 1 / (people who own these) if
        the victim is one of them, otherwise nothing.
    bound : float, one per node
        What its probability cannot exceed, whatever the chances are.
    """

    i: Array
    o: Array
    person: Array
    people_worth: Array
    bound: Array

    @classmethod
    def of(cls, i: Array, o: Array, person: Array) -> _Look:
        n = len(person)
        codes = int(person.max(initial=0)) + 1
        label = same_columns(i, o, n)
        row = same_columns(o, i, n)
        # `label` numbers the kinds of trajectories (those that fit the same people), `row` the kinds of people (those
        # whom the same trajectories fit).
        size = np.bincount(label, minlength=n)
        alike = np.bincount(row, minlength=n)
        key, many = np.unique(label * codes + person, return_counts=True)
        people = np.bincount(key // codes, minlength=n)
        pairs = label[o] * codes + person[i]
        at = np.minimum(np.searchsorted(key, pairs), max(0, len(key) - 1))
        own = np.where(key[at] == pairs, many[at], 0) if len(key) else np.zeros(len(o), np.int64)
        people_worth = (own > 0) / np.maximum(people[label[o]], 1)
        worth = np.maximum(own / np.maximum(size[label[o]], 1), people_worth)
        # Those like the victim's share what is taken of one kind of trajectories, and no kind is taken more than once.
        kinds, first = np.unique(i * n + label[o], return_index=True)
        taken = np.minimum(1.0, size[label[o[first]]] / alike[row[i[first]]])
        together = np.bincount(kinds // max(n, 1), taken * worth[first], n)
        largest = np.zeros(n)
        np.maximum.at(largest, i, worth)
        return cls(i=i, o=o, person=person, people_worth=people_worth, bound=np.minimum(largest, together))

    def risk(self, chance: Array, nodes: Array, sure: Array) -> _Risk:
        """Return what chances of the edges say of `nodes`; trajectories of one person are one candidate."""
        i = self.i
        o = self.o
        person = self.person
        n = len(person)
        codes = int(person.max(initial=0)) + 1
        # Trajectories of one person are one answer: picking any of them finds the person.
        keys, which = np.unique(i * codes + person[o], return_inverse=True)
        mass = np.bincount(which, chance, len(keys))
        likeliest = np.zeros(n)
        true = np.zeros(n)
        np.maximum.at(likeliest, keys // codes, mass)
        own = keys % codes == person[keys // codes]
        true[keys[own] // codes] = mass[own]
        true = np.minimum(np.maximum(true, np.bincount(i, chance * self.people_worth, n)), 1.0)
        return _Risk(
            candidates=np.bincount(keys // codes, minlength=n)[nodes],
            likeliest=np.minimum(likeliest[nodes], 1.0),
            true=true[nodes],
            bound=np.where(sure, true, self.bound)[nodes],
            published=np.ones(len(nodes), bool),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Risk:
    """Per node or person: who can be it, the likeliest's probability, the true one's, its bound, and if published."""

    candidates: Array
    likeliest: Array
    true: Array
    bound: Array
    published: Array

    def of_people(self, people: Array, person: Array) -> _Risk:
        """Return the risk of people, each with the trajectory that tells most; `people` are sorted."""
        at = np.searchsorted(people, person)
        none = np.iinfo(np.int64).max
        candidates = np.full(len(people), none)
        fits = self.candidates > 0
        np.minimum.at(candidates, at[fits], self.candidates[fits])
        largest = [np.zeros(len(people)) for _ in range(3)]
        for column, values in zip(largest, (self.likeliest, self.true, self.bound), strict=True):
            np.maximum.at(column, at, values)
        return _Risk(
            candidates=np.where(candidates == none, 0, candidates),
            likeliest=largest[0],
            true=largest[1],
            bound=largest[2],
            published=np.isin(people, person),
        )

    def outcome(self, true: Array, threshold: float) -> Outcome:
        """Return probabilities as the other attacks tell them; rounding must not lift one above the threshold."""
        true = np.where(np.abs(true - threshold) < _ROUNDING, threshold, true)
        return Outcome(fitting=np.ones(len(true)), hit=true, published=self.published)

    def charts(self, threshold: float) -> tuple[Chart, Chart]:
        """Return how candidates and probabilities spread over people."""
        classes = np.searchsorted(_CLASSES, self.candidates[self.published], side="right")
        candidates = share_chart("How many people can be the victim?", "candidates left", _CLASS_LABELS, classes)
        return candidates, self.outcome(self.true, threshold).chart()


def _graph(i: Array, o: Array, n: int, assignments: Assignments) -> dict[str, int | float | None]:
    """Return the numbers of the graph itself, in the order of their names."""
    symmetric = np.isin(o * n + i, i * n + o, assume_unique=True)
    values = (
        float(assignments.judged.mean()) if n else None,
        float(1 - assignments.is_possible.mean()) if len(i) else None,
        float(symmetric.mean()) if len(i) else None,
        assignments.exact,
        assignments.sampled,
    )
    return dict(zip(_GRAPH, values, strict=True))


def _mean_bounds(risks: list[_Risk]) -> tuple[float | None, float | None]:
    """Return a 95 % confidence interval of the mean from what chains say one by one; None where nothing was sampled.

    It reaches at least from the chain that says least to the one that says most.
    """
    means = [float(risk.true.mean()) for risk in risks[1:] if len(risk.true)]
    if not means:
        return None, None
    middle = float(np.mean(means))
    # Chains are independent, so their means are a sample; samples inside one chain are not.
    half = _STUDENT_95 * float(np.std(means, ddof=1)) / sqrt(CHAINS)
    low = min(middle - half, *means)
    high = max(middle + half, *means)
    return max(0.0, low), min(1.0, high)


def _nearest(
    tracks: Tracks, columns: tuple[Array, Array, Array], owner: Array, count: Array, part: slice
) -> tuple[Array, Array, Array, Array]:
    """Return how many people are nearest to all that is known, whether the victim is one, and both of trajectories."""
    t, x, y = (np.ascontiguousarray(column[part]) for column in columns)
    sightings = Sightings(t, x, y, owner[part], count[part, None])
    nearest: tuple[Array, Array, Array, Array] = nearest_owners(
        tracks.rows, tracks.slots, sightings, tracks.speed, tracks.rounding
    )
    return nearest


def _adversary(truth: Points, small: bool, blank: int, n: int) -> str:
    known = "all positions" if truth.known is None else "the declared positions"
    end = "" if small else ", of which too many fit to rule any out: what fits is taken evenly"
    if blank:
        some = "any of them" if blank == n else f"{blank:,} of {n:,} of them"
        end += f"; finds nothing that fits {some}, and takes the nearest trajectory instead"
    return f"knows {known} of everybody, and that each person has one of the published trajectories{end}"
