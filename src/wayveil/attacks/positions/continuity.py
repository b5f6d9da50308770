"""The attacker who uses that people move continuously: what is published before and after a known time tells it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnPositions, mean, owners_of, threshold_parameter
from wayveil.attacks.attack_numbers import mean_risk, share_above, share_published, worst_risk
from wayveil.attacks.person_risk import FOUND, risk_chart, share_chart
from wayveil.attacks.positions.fitting import MOST_EDGES, fitting
from wayveil.attacks.positions.known_positions import Array, check_matched
from wayveil.attacks.row_ranges import expanded, parts
from wayveil.kernels.attacks.speed_continuity import KnownRows, PublishedRows, keep_reachable
from wayveil.model import AttackResult, Boxes, Chart, Engine, Number, Points, parameter, seconds_per_unit
from wayveil.model.claims import top_speed_of
from wayveil.model.data.ragged import offsets_of, trajectory_of_row
from wayveil.model.lazy_module import lazy_module
from wayveil.model.numbers import count, measure, probability, share

__all__ = ["Continuity"]

sparse = lazy_module("scipy.sparse")
csgraph = lazy_module("scipy.sparse.csgraph")

_CHUNK = 1 << 20
_LATEST = np.iinfo(np.int64).max
_USUAL = 0.999  # of all steps between two samples are not faster than the usual speed
_ROUNDING_M = 1e-6  # what writing degrees and reading them back may do to a side
_SAME = 1e-9  # share of a distance that counts as rounding
_CLASSES = (1, 2, 3, 4, 5, 10, 20, 50, 100)
_CLASS_LABELS = ("nobody", "1", "2", "3", "4", "5 to 9", "10 to 19", "20 to 49", "50 to 99", "100 and more")


@dataclass(frozen=True, kw_only=True)
class Continuity(OnPositions):
    """Someone who knows the declared positions of everybody, and that people move on from one box to the next.

    Candidates are the trajectories whose boxes contain all positions that are known of the victim, as in
    `attack_graph`.  Two things are tried.  **Interpolation**: between the nearest small boxes before and after a known
    time, a candidate was about where a straight line says; the candidate for which this is nearest to the known
    positions is taken for the victim.  **Top speed**: a candidate is ruled out if somebody who was at the known
    positions cannot have been in all its boxes without being faster; and then whatever is in no assignment of all
    trajectories to all people.

    Parameters
    ----------
    top_speed : number >= 0, in metres per second, or "auto"
        Nobody is faster, the attacker says; "auto" is the largest speed of the true data, rounded up to 1, 2 or 5 times
        a power of ten.  Where times are plain integers it is in metres per unit of these.
    k : int, >= 1
        People with fewer candidates are counted in `below_k_share`.
    victims : int, >= 1
        Number of trajectories whose people are attacked where too many fit to look at all of them.
    threshold : number from 0 to 1
        People who are found with a probability above this are counted in `identity_share_above`.

    Notes
    -----
    A small box is one that no other trajectory has at this time, or that is as small as any box: a cell.  Boxes that a
    group shares do not tell its members apart, so the attacker looks past them.  From those equally near the attacker
    picks a person (`identity_mean`: people, each with the trajectory that tells most) or a trajectory
    (`identity_mean_trajectories`: all trajectories attacked).  Speed is tried against every box in a straight line, and
    along each axis against all boxes together.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Points.from_records([[(0, 0.5, 0.5), (1, 1.5, 0.5), (2, 2.5, 0.5)], [(0, 9.5, 0.5), (1, 8.5, 0.5)]])
    >>> box = (1, 1, 1.0, 9.0, 0.0, 1.0)
    >>> one = [(0, 0, 0.0, 1.0, 0.0, 1.0), box, (2, 2, 2.0, 3.0, 0.0, 1.0)]
    >>> target = Boxes.from_records([one, [(0, 0, 9.0, 10.0, 0.0, 1.0), box]])
    >>> from dataclasses import replace
    >>> truth = replace(truth, known=truth.t == 1)
    >>> for top_speed in (2, 20):
    ...     attack = Continuity(top_speed=top_speed, k=2)
    ...     found = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    ...     found.measured["identity_max"], found.measured["min_candidate_people"]
    (1.0, 1)
    (1.0, 2)
    """

    top_speed: float | str = parameter(
        kind="number", low=0, choices=("auto",), default="auto", help="metres per second that nobody exceeds"
    )
    k: int = parameter(kind="int", low=1, default=5, help="people with fewer candidates than this are counted")
    victims: int = parameter(
        kind="int", low=1, default=1000, help="number of trajectories attacked, where too many fit to look at all"
    )
    threshold: Fraction = threshold_parameter("probability", default=Fraction(1, 5))

    name: ClassVar[str] = "continuity"
    summary: ClassVar[str] = "an attacker who knows the declared positions and uses the boxes before and after them"
    targets: ClassVar[tuple[type[Boxes], ...]] = (Boxes,)

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> None:
        """Return nothing that is drawn: all declared positions of everybody are known."""

    def match(
        self, queries: None, target: Boxes | Points, *, truth: Points, rng: np.random.Generator, engine: Engine
    ) -> _Left:
        check_matched(self.name, truth, target)
        owner = owners_of(truth)
        with_rows = np.flatnonzero(np.diff(target.offsets))
        person = owner[with_rows]
        people = np.unique(owner[(np.diff(target.offsets) > 0) | (np.diff(truth.offsets) > 0)])
        nodes = np.arange(len(with_rows))
        # The attack graph of Yarovoy et al. (2009), thinned by time: an edge stays if the person could have come from
        # box to box, before and after what is known, without being faster than allowed.
        edges = fitting(truth, target, nodes)
        sampled = edges is None
        if edges is None:
            most = min(self.victims, len(nodes), max(1, MOST_EDGES // (2 * len(nodes))))
            nodes = np.sort(rng.choice(len(nodes), most, replace=False))
            people = np.unique(person[nodes])
            edges = fitting(truth, target, nodes, whatever=True) or (nodes[:0], nodes[:0])
        graph = _Graph(i=edges[0], o=edges[1], person=person, nodes=nodes)
        scene = _Scene.of(truth, target, with_rows)
        top_speed = top_speed_of(truth) if isinstance(self.top_speed, str) else self.top_speed
        usual_speed = _usual_speed(truth)
        left = graph.where(scene.reachable(graph, top_speed))
        return _Left(
            adversary=_adversary(truth, top_speed),
            victims=len(people),
            sampled=sampled,
            top_speed=float(top_speed),
            usual_speed=usual_speed,
            # Two answers from one graph: whom a guesser picks who interpolates (risk), and who cannot be ruled out at
            # all (candidates), which is what a promise can bound.
            risk=_Risk.of(left.where(scene.is_nearest(left)), people),
            candidates=(left if sampled else left.in_assignments()).candidates(),
            usual=graph.where(scene.reachable(graph, usual_speed)).candidates(),
        )

    def summarize(self, queries: None, matches: _Left) -> AttackResult:
        risk = matches.risk
        return AttackResult(
            name=self.name,
            adversary=matches.adversary,
            victims=matches.victims,
            sampled=matches.sampled,
            numbers={
                **risk.numbers(self.threshold),
                **matches.candidates.numbers(self.k),
                "below_k_share_at_usual_speed": share(
                    matches.usual.below(self.k), "People with fewer than k candidates, at the usual speed"
                ),
                "top_speed": measure(matches.top_speed, "m/s", "Top speed", joined="largest"),
                "usual_speed": measure(matches.usual_speed, "m/s", "Usual speed"),
                "victims_published_share": share_published(mean(risk.published)),
            },
            charts=(matches.candidates.chart(), risk_chart(risk.people, FOUND)),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Left:
    """Who is left when speeds have ruled out the others: at the top speed, and at the usual one."""

    adversary: str
    victims: int
    sampled: bool
    top_speed: float
    usual_speed: float | None
    risk: _Risk
    candidates: _Candidates
    usual: _Candidates


@dataclass(frozen=True, kw_only=True, eq=False)
class _Graph:
    """Pairs of a person's trajectory `i` and a published trajectory `o` that fits; `nodes` are those attacked.

    `person` has the owner of every published trajectory, from 0 on; i and o count the published ones.
    """

    i: Array
    o: Array
    person: Array
    nodes: Array

    def where(self, keep: Array) -> _Graph:
        """Return the graph with only these edges."""
        return replace(self, i=self.i[keep], o=self.o[keep])

    def in_assignments(self) -> _Graph:
        """Return the edges that are in an assignment of all trajectories to all people.

        Where everybody's own trajectory fits, that is one assignment, and an edge is in another one exactly if its two
        ends are on a common cycle.  Otherwise nothing is ruled out: the publication moved people away from the truth.
        """
        n = len(self.person)
        own = np.zeros(n, bool)
        own[self.i[self.i == self.o]] = True
        if not own.all():
            return self
        # Everybody with their own trajectory is a perfect matching; another one differs by alternating cycles. An edge
        # i -> o is on such a cycle exactly if both ends are in one strongly connected component.
        arcs = sparse.csr_array((np.ones(len(self.i), np.int8), (self.i, self.o)), shape=(n, n))
        label = csgraph.connected_components(arcs, connection="strong")[1] if n else np.zeros(0, np.int64)
        return self.where(label[self.i] == label[self.o])

    def candidates(self) -> _Candidates:
        """Count who is left for each attacked trajectory."""
        codes = int(self.person.max(initial=0)) + 1
        n = len(self.person)
        # Edges by victim and candidate person: how many people are left, and how much of what is left one of them has.
        keys, many = np.unique(self.i * codes + self.person[self.o], return_counts=True)
        count = np.bincount(keys // codes, minlength=n)
        largest = np.zeros(n, np.int64)
        np.maximum.at(largest, keys // codes, many)
        all_ = np.bincount(self.i, minlength=n)
        return _Candidates(
            people=count[self.nodes],
            share=np.divide(largest, all_, out=np.zeros(n), where=all_ > 0)[self.nodes],
            person=self.person[self.nodes],
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Candidates:
    """Per attacked trajectory: people who are left, the largest share of one of them, and whose it is."""

    people: Array
    share: Array
    person: Array

    @property
    def of_people(self) -> Array:
        """The candidates of each person, by the trajectory that tells most."""
        who, at = np.unique(self.person, return_inverse=True)
        fewest = np.full(len(who), np.iinfo(np.int64).max)
        np.minimum.at(fewest, at, self.people)
        return fewest

    def below(self, k: int) -> float | None:
        """Return the share of people with fewer than `k` candidates."""
        return mean(self.of_people < k)

    def numbers(self, k: int) -> dict[str, Number]:
        """Return the numbers, counted over people and over trajectories."""
        fewest = self.of_people
        return {
            "min_candidate_people": count(
                int(fewest.min()) if len(fewest) else None,
                "Fewest candidates of a person",
                "people",
                joined="smallest",
                better="higher",
            ),
            "mean_candidate_people": count(mean(fewest), "Mean candidates of a person", "people", joined="mean"),
            "below_k_share": share(self.below(k), "People with fewer than k candidates"),
            "below_k_share_trajectories": share(
                mean(self.people < k), "Trajectories with candidates of fewer than k people"
            ),
            "largest_share_of_one_person": share(
                float(self.share.max()) if len(self.share) else None,
                "Largest share of the candidates of one person",
                joined="largest",
            ),
        }

    def chart(self) -> Chart:
        """Return how candidates spread over people."""
        classes = np.searchsorted(_CLASSES, self.of_people, side="right")
        return share_chart("How many people can be the victim?", "candidates left", _CLASS_LABELS, classes)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Risk:
    """The chance to be picked: of people, each with the trajectory that tells most, and of single trajectories."""

    people: Array
    trajectories: Array
    published: Array

    @classmethod
    def of(cls, nearest: _Graph, people: Array) -> _Risk:
        """Return the risk where a person, or a trajectory, is picked evenly from the nearest; `people` are sorted."""
        n = len(nearest.person)
        person = nearest.person
        codes = int(person.max(initial=0)) + 1
        keys = np.unique(nearest.i * codes + person[nearest.o])
        tied = np.bincount(keys // codes, minlength=n)
        hit = np.bincount(keys[keys % codes == person[keys // codes]] // codes, minlength=n)
        chance = np.divide(hit, tied, out=np.zeros(n), where=tied > 0)
        worst = np.zeros(len(people))
        np.maximum.at(worst, np.searchsorted(people, person[nearest.nodes]), chance[nearest.nodes])
        all_ = np.bincount(nearest.i, minlength=n)
        own = np.bincount(nearest.i[person[nearest.i] == person[nearest.o]], minlength=n)
        share = np.divide(own, all_, out=np.zeros(n), where=all_ > 0)
        return cls(people=worst, trajectories=share[nearest.nodes], published=np.isin(people, person[nearest.nodes]))

    def numbers(self, threshold: Fraction) -> dict[str, Number]:
        """Return the numbers of identity linkage."""
        return {
            "identity_mean": mean_risk(mean(self.people)),
            "identity_mean_if_published": probability(
                mean(self.people[self.published]), "Mean over those published", about="identity"
            ),
            "identity_mean_trajectories": probability(
                mean(self.trajectories), "Mean over trajectories", about="identity"
            ),
            "identity_share_above": share_above(mean(self.people > float(threshold)), threshold),
            "identity_max": worst_risk(float(self.people.max()) if len(self.people) else None),
            "identity_max_trajectories": probability(
                float(self.trajectories.max()) if len(self.trajectories) else None,
                "Trajectory most at risk",
                about="identity",
                joined="largest",
            ),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class _Scene:
    """What is known of the published trajectories, and their boxes, with times in seconds and places as floats."""

    known: KnownRows
    rows: PublishedRows
    slack: float

    @classmethod
    def of(cls, truth: Points, target: Boxes | Points, nonempty: Array) -> _Scene:
        seen = (truth if truth.known is None else truth.where(truth.known)).take(nonempty)
        published = target.take(nonempty)
        boxes = published.boxes()
        unit = seconds_per_unit(truth.time_format) or 1.0
        # Times are counted from the first one, so that none is too large to be exact.
        zero = min(int(seen.t.min(initial=_LATEST)), int(boxes.t_min.min(initial=_LATEST)))
        reach = max((float(np.abs(side).max(initial=0.0)) for side in (boxes.x_max, boxes.y_max)), default=0.0)
        return cls(
            known=KnownRows(seen.offsets, (seen.t - zero) * unit, seen.x, seen.y),
            rows=PublishedRows(
                published.offsets,
                (boxes.t_min - zero) * unit,
                (boxes.t_max - zero) * unit,
                boxes.x_min,
                boxes.x_max,
                boxes.y_min,
                boxes.y_max,
            ),
            slack=_ROUNDING_M + _SAME * reach,
        )

    def reachable(self, graph: _Graph, speed: float) -> Array:
        """Tell which edges are possible at no more than a speed."""
        is_reachable: Array = keep_reachable(self.known, self.rows, graph.i, graph.o, float(speed), self.slack)
        return is_reachable

    def is_nearest(self, graph: _Graph) -> Array:
        """Tell which edges of each person lead to the candidate, or the candidates, that interpolation says."""
        distance = self._distance(graph)
        best = np.full(len(graph.person), np.inf)
        np.minimum.at(best, graph.i, distance)
        near: Array = distance <= best[graph.i] * (1 + _SAME) + self.slack
        return near

    def _distance(self, graph: _Graph) -> Array:
        """Return, per edge, the root of the mean squared distance between known and interpolated positions."""
        tells = self._telling()
        track = trajectory_of_row(self.rows.first)[tells]
        middle = (self.rows.t_min[tells] + self.rows.t_max[tells]) / 2
        x = (self.rows.x_min[tells] + self.rows.x_max[tells]) / 2
        y = (self.rows.y_min[tells] + self.rows.y_max[tells]) / 2
        first = offsets_of(np.bincount(track, minlength=len(graph.person)))
        times = np.unique(np.concatenate([middle, self.known.t]))
        width = len(times) + 1
        # Trajectory and rank of time in one ascending number: one binary search finds the boxes before and after a
        # moment, for all edges at once.
        key = track * width + np.searchsorted(times, middle)
        size = np.diff(self.known.first)[graph.i]
        distance = np.zeros(len(graph.i))
        for part in parts(size, _CHUNK):
            which, at = expanded(self.known.first[graph.i[part]], size[part])
            o = graph.o[part][which]
            t = self.known.t[at]
            after = np.searchsorted(key, o * width + np.searchsorted(times, t))
            # Before the first and after the last box the nearest one is taken: nobody is extrapolated.
            before = np.clip(after - 1, first[o], first[o + 1] - 1)
            after = np.clip(after, first[o], first[o + 1] - 1)
            gap = middle[after] - middle[before]
            way = np.divide(t - middle[before], gap, out=np.zeros(len(t)), where=gap > 0).clip(0, 1)
            u = x[before] + way * (x[after] - x[before]) - self.known.x[at]
            v = y[before] + way * (y[after] - y[before]) - self.known.y[at]
            distance[part] = np.bincount(which, u * u + v * v, part.stop - part.start) / np.maximum(size[part], 1)
        return np.sqrt(distance)

    def _telling(self) -> Array:
        """Return the boxes that tell a trajectory from others: nobody else has them, or none is smaller.

        All boxes of a trajectory that has none of these.
        """
        sides = self.rows[1:]
        # Boxes that several trajectories share tell nothing about which is whose. Those that only one has, or that are
        # as small as any, do.
        order = np.lexsort(sides)
        new = np.ones(len(order), bool)
        new[1:] = False
        for side in sides:
            new[1:] |= np.diff(side[order]) != 0
        code = np.empty(len(order), np.int64)
        code[order] = np.cumsum(new) - 1
        area = (self.rows.x_max - self.rows.x_min) * (self.rows.y_max - self.rows.y_min)
        small = area <= area.min(initial=np.inf) * (1 + 1e-6)
        tells = small | (np.bincount(code, minlength=1)[code] == 1) if len(code) else small
        track = trajectory_of_row(self.rows.first)
        some = np.bincount(track[tells], minlength=len(self.rows.first) - 1) > 0
        return np.flatnonzero(tells | ~some[track])


def _usual_speed(truth: Points) -> float:
    """Return the speed in metres per second that almost all steps between two samples keep."""
    track = trajectory_of_row(truth.offsets)
    same = track[1:] == track[:-1]
    if not same.any():
        return 0.0
    way = np.hypot(np.diff(truth.x), np.diff(truth.y))[same]
    speed = way / (np.diff(truth.t)[same] * (seconds_per_unit(truth.time_format) or 1.0))
    return float(np.quantile(speed, _USUAL, method="higher"))


def _adversary(truth: Points, top_speed: float) -> str:
    known = "all positions" if truth.known is None else "the declared positions"
    return (
        f"knows {known} of everybody, interpolates between the boxes before and after, and rules out whoever would "
        f"have to be faster than {top_speed:.4g} m/s"
    )
