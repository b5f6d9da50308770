"""The attacker who sees a person pass at a place and looks for the published trajectories that pass there then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnPositions, auto_draws_parameter, mean, threshold_parameter, victims_parameter
from wayveil.attacks.attack_numbers import set_interval, share_unique, share_unmatched
from wayveil.attacks.person_risk import mean_bounds
from wayveil.attacks.positions.known_positions import Array, KnownSamples, Outcome, Tracks, check_matched
from wayveil.attacks.positions.look_alikes import delta_parameter, look_alike_values
from wayveil.kernels.attacks.position_matching import Values, Watches, passing_owners
from wayveil.model import AttackResult, Boxes, Engine, Points, duration_units, parameter
from wayveil.model.numbers import count

__all__ = ["WatchedPlaces"]

_WATCHES_PER_TASK = 256
_NO_VALUES = Values(np.zeros(0, np.int64), 1, np.zeros(0, np.int64), np.zeros(0))


@dataclass(frozen=True, kw_only=True)
class WatchedPlaces(OnPositions):
    """Someone who watches a place sees a person pass, and keeps the published trajectories that pass there then.

    The place is a disc around a true sample of the person.  A published trajectory passes if its straight way from
    point to point comes into the disc, or one of its boxes meets the disc, at the time of the sample, give or take
    `time_error`.  **Identity linkage** succeeds with probability 1 / (people whose trajectories pass), or with the
    share of these trajectories that are the victim's, if that is more; it fails if none is.

    Where chance placed people in discs of width `delta`, somebody may pass by luck: the curves of one group differ by a
    constant only, and which of them is whose was drawn.  Then the success is the mean over these draws: of a trajectory
    that passes, the victim's share of all that are the same curve.

    Parameters
    ----------
    radius : number, >= 0
        Radius of the watched disc, in metres.
    time_error : duration, or "exact"
        How far the time that the attacker notes may be off, to both sides.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000, or "auto"
        Places watched for each person; "auto" makes up to `victims` attacks where people are fewer.
    threshold : number from 0 to 1
        Attacks that succeed with a probability above this are counted in `identity_share_above`.
    delta : number, >= 0
        Width of the discs of the claim, in metres, or 0.

    Notes
    -----
    A victim is an owner of `truth` with at least one sample; the trajectory is drawn evenly from the victim's, the
    sample evenly from the trajectory.  Between two boxes a trajectory is nowhere.  It takes O(attacks x trajectories)
    time, of which most is one comparison with the box around a trajectory.

    References
    ----------
    The observation attack of Huo, Huang, Meng: History trajectory privacy-preserving through graph partition.
    MLBS 2011.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Points.from_records([[(0, 0.0, 0.0)], [(0, 30.0, 0.0)], [(0, 500.0, 0.0)]])
    >>> attack = WatchedPlaces(radius=50)
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> round(found.measured["identity_mean"], 3), found.measured["unique_share"]
    (0.667, 0.3333333333333333)
    """

    radius: float = parameter(kind="number", low=0, default=100.0, help="radius of the watched disc, in metres")
    time_error: str = parameter(
        kind="duration", choices=("exact",), default="exact", help="how far the noted time may be off, to both sides"
    )
    victims: int = victims_parameter(1000)
    draws: int | str = auto_draws_parameter("places watched for each person")
    threshold: Fraction = threshold_parameter("success", counted="attacks")
    delta: float = delta_parameter()

    name: ClassVar[str] = "watched_places"
    summary: ClassVar[str] = "an attacker who sees a person pass at a place and looks for who passes there then"

    def queries(
        self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> KnownSamples:
        return KnownSamples.draw(truth, victims=self.victims, samples=1, draws=self.draws, rng=rng)

    def match(
        self, queries: KnownSamples, target: Points | Boxes, *, truth: Points, rng: Any, engine: Engine
    ) -> Outcome:
        check_matched(self.name, truth, target)
        error = 0
        if self.time_error != "exact":
            error = duration_units(self.name, "time_error", self.time_error, truth.time_format)
        tracks = Tracks.of(truth, target)
        tasks = [slice(i, i + _WATCHES_PER_TASK) for i in range(0, len(queries), _WATCHES_PER_TASK)]
        points = target.as_points() if self.delta > 0 else None
        values = _NO_VALUES._replace(label=np.zeros(len(tracks.trajectory), np.int64))
        if points is not None:
            values = look_alike_values(truth, points, self.delta, tracks)
        done = engine.map(partial(_passing, tracks, values, queries, error, self.radius), tasks)
        none = np.zeros(0, np.int64)
        passing, hit, many, own, total = (np.concatenate(parts) for parts in zip((none,) * 5, *done, strict=True))
        published = (np.diff(target.offsets) > 0)[queries.trajectory]
        alike = np.divide(total, many, out=np.zeros(len(many)), where=many > 0) if points is not None else None
        return Outcome(fitting=passing, hit=hit, published=published, trajectories=(many, own), alike=alike)

    def summarize(self, queries: KnownSamples, matches: Outcome) -> AttackResult:
        passing = matches.fitting
        somebody = passing[passing > 0]
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=queries.people,
            sampled=queries.sampled,
            numbers={
                **set_interval(
                    matches.identity(self.threshold),
                    mean_bounds(matches.success, queries.owner, queries.population, sampled=queries.sampled),
                ),
                **matches.extremes(),
                "unique_share": share_unique(mean(passing == 1)),
                **matches.reach(),
                "unmatched_share": share_unmatched(mean(passing == 0)),
                "mean_passing_people": count(mean(somebody), "Mean of people who pass", "people", joined="mean"),
                "min_passing_people": count(
                    int(somebody.min()) if len(somebody) else None,
                    "Fewest people who pass",
                    "people",
                    joined="smallest",
                ),
            },
            charts=(matches.chart(),),
        )

    @property
    def _adversary(self) -> str:
        when = "at an exact time" if self.time_error == "exact" else f"at a time known to {self.time_error}"
        return f"sees a person within {self.radius:g} m of a place {when} and looks for who passes there then"


def _passing(
    tracks: Tracks, values: Values, known: KnownSamples, error: int, radius: float, part: slice
) -> tuple[Array, ...]:
    """Return how many people pass, whether the victim is one, both of trajectories, and values, per watch of a part."""
    t = known.t[part, 0]
    ends = np.iinfo(np.int64)
    # No window reaches beyond what an int64 can say.
    start = np.maximum(t, ends.min + error) - error
    stop = np.minimum(t, ends.max - error) + error
    x = known.x[part, 0].copy()
    y = known.y[part, 0].copy()
    reach = radius + tracks.rounding
    watches = Watches(start, stop, x, y, known.owner[part])
    passing: tuple[Array, ...] = passing_owners(tracks.rows, tracks.slots, values, watches, reach, tracks.moving)
    return passing
