"""The attacker who knows where a person truly was at some times and takes the published trajectory nearest to that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np

from wayveil.attacks.attack_base import OnPositions, auto_draws_parameter, mean, threshold_parameter, victims_parameter
from wayveil.attacks.attack_numbers import set_interval
from wayveil.attacks.person_risk import mean_bounds
from wayveil.attacks.positions.known_positions import Array, KnownSamples, Outcome, Tracks, check_matched
from wayveil.attacks.positions.look_alikes import delta_parameter, look_alike_values, nearest_shares
from wayveil.kernels.attacks.position_matching import Sightings, nearest_owners
from wayveil.model import AttackResult, Boxes, Chart, Engine, Number, Points, Series, parameter
from wayveil.model.numbers import count, relabel

__all__ = ["NearestPositions"]

_ATTACKS_PER_TASK = 128


@dataclass(frozen=True, kw_only=True)
class NearestPositions(OnPositions):
    """Someone who knows true samples (position and time) of a person takes the nearest published trajectory.

    The distance of a published trajectory is the root of the mean squared distance between the known positions and
    where the trajectory is at these times: on the straight way between two points, or anywhere in a box (distance 0
    inside).  Where several are equally near, one of the people who own them is picked, or one of the trajectories, and
    the larger probability counts: **identity linkage** succeeds with 1 / (these people) or with the share of these
    trajectories that are the victim's, and fails if none is.

    Parameters
    ----------
    samples : int, 1 to 1,000
        Largest number of samples known, all of one trajectory (all of it, where it has fewer).  The attack is also
        measured with 1, 2, 4, ... of them, the first ones of the same draw.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.
    draws : int, 1 to 1,000, or "auto"
        Attacks on each person, with samples drawn anew; "auto" makes up to `victims` attacks where people are fewer.
    threshold : number from 0 to 1
        Attacks that succeed with a probability above this are counted in `identity_share_above`.
    delta : number, >= 0
        Width of the discs in which chance placed published points, in metres; 0 for none.  Then whoever knows the
        method picks evenly among the look-alikes of the nearest, as in `NoisySightings`.

    Notes
    -----
    A victim is an owner of `truth` with at least one sample; the trajectory known of is drawn evenly from the victim's.
    A published trajectory that does not reach a known time is compared at its first or last row, and the time between
    counts as the way that is made in it at the mean speed of the published data: publishing may shift and cut times
    (`w4m`, `nwa`), so such a trajectory is less likely, not impossible.  It takes O(attacks x trajectories) time, of
    which most is one comparison with the box around a trajectory.

    References
    ----------
    The linkage attack of Huo, Huang, Meng: History trajectory privacy-preserving through graph partition.  MLBS 2011.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> truth = Points.from_records([[(0, 0.0, 0.0), (1, 10.0, 0.0)], [(0, 0.0, 3.0), (1, 10.0, 1.0)]])
    >>> moved = Points.from_records([[(0, 0.0, 0.5), (1, 10.0, 0.0)], [(0, 0.0, 2.5), (1, 10.0, 1.0)]])
    >>> same = Points.from_records([[(0, 0.0, 1.5), (1, 10.0, 0.5)]] * 2)
    >>> for target in (moved, same):
    ...     attack = NearestPositions(samples=1)
    ...     found = attack.run(truth, target, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    ...     found.measured["identity_mean"]
    1.0
    0.5
    """

    samples: int = parameter(
        kind="int", low=1, high=1000, default=8, help="largest number of true samples of the victim that are known"
    )
    victims: int = victims_parameter(1000)
    draws: int | str = auto_draws_parameter("attacks on each person, with other samples")
    threshold: Fraction = threshold_parameter("success", counted="attacks")
    delta: float = delta_parameter()

    name: ClassVar[str] = "nearest_positions"
    summary: ClassVar[str] = "an attacker who knows where a person was at some times and takes what is nearest"

    def queries(
        self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator
    ) -> KnownSamples:
        return KnownSamples.draw(truth, victims=self.victims, samples=self.samples, draws=self.draws, rng=rng)

    def match(
        self, queries: KnownSamples, target: Points | Boxes, *, truth: Points, rng: Any, engine: Engine
    ) -> list[Outcome]:
        """Return how it went, for each number of samples that is measured."""
        check_matched(self.name, truth, target)
        tracks = Tracks.of(truth, target)
        tasks = [slice(i, i + _ATTACKS_PER_TASK) for i in range(0, len(queries), _ATTACKS_PER_TASK)]
        # Kernels on a few attacks at a time: enough of them for all cores, and a small result for each.
        done = engine.map(partial(_nearest, tracks, queries, np.array(self._levels)), tasks)
        # A first part without rows, so that there is something to join where nobody can be attacked.
        none = np.zeros((0, len(self._levels)), np.int64)
        tied, hit, many, own = (np.concatenate(parts).T for parts in zip((none,) * 4, *done, strict=True))
        published = (np.diff(target.offsets) > 0)[queries.trajectory]
        return [
            Outcome(fitting=tied[i], hit=hit[i], published=published, trajectories=(many[i], own[i]), alike=one)
            for i, one in enumerate(self._among_alikes(truth, target, tracks, queries, tasks, engine))
        ]

    def summarize(self, queries: KnownSamples, matches: list[Outcome]) -> AttackResult:
        success = matches[-1].success
        return AttackResult(
            name=self.name,
            adversary=self._adversary,
            victims=queries.people,
            sampled=queries.sampled,
            numbers=set_interval(
                self._numbers(matches),
                mean_bounds(success, queries.owner, queries.population, sampled=queries.sampled),
            ),
            charts=(self._chart(matches), matches[-1].chart()),
        )

    def _among_alikes(
        self,
        truth: Points,
        target: Points | Boxes,
        tracks: Tracks,
        known: KnownSamples,
        tasks: list[slice],
        engine: Engine,
    ) -> list[Array | None]:
        """Return the success among look-alikes of the nearest, per level; None where there is no disc."""
        points = target.as_points()
        if self.delta == 0 or points is None:
            return [None] * len(self._levels)
        # Somebody with fewer samples than a level is attacked with all of theirs.
        depth = np.minimum(np.array(self._levels), known.count[:, None])
        sightings = Sightings(known.t, known.x, known.y, known.owner, depth)
        values = look_alike_values(truth, points, self.delta, tracks)
        done = engine.map(partial(nearest_shares, tracks, values, sightings), tasks)
        return list(np.concatenate([np.zeros((0, len(self._levels))), *done]).T)

    @property
    def _levels(self) -> tuple[int, ...]:
        """The numbers of samples that are measured: powers of two, and the largest number itself."""
        return (*(2**i for i in range(self.samples.bit_length()) if 2**i < self.samples), self.samples)

    @property
    def _adversary(self) -> str:
        some = "1 true position" if self.samples == 1 else f"up to {self.samples} true positions"
        return f"knows {some} of a person (with exact times, drawn at random) and takes the nearest trajectory"

    def _numbers(self, outcomes: list[Outcome]) -> dict[str, Number]:
        """Return the numbers with all samples, then those with fewer."""
        last = outcomes[-1]
        numbers = {**last.identity(self.threshold), **last.extremes()}
        for level, outcome in zip(self._levels[:-1], outcomes, strict=False):
            plural = "s" if level > 1 else ""
            numbers |= relabel(
                outcome.identity(self.threshold),
                f"_with_{level}_sample{plural}",
                f"{level} position{plural} known",
            )
        return {
            **numbers,
            **last.reach(),
            "mean_tied_people": count(
                mean(last.fitting), "Mean of people who are equally near", "people", joined="mean"
            ),
        }

    def _chart(self, outcomes: list[Outcome]) -> Chart:
        return Chart(
            title="How likely is a person found, by what is known?",
            kind="line",
            labels=tuple(str(level) for level in self._levels),
            series=(Series(name="mean over attacks", values=tuple(mean(o.success) for o in outcomes)),),
            x_label="true positions known",
            y_label="probability of picking the right person",
            percent=True,
        )


def _nearest(tracks: Tracks, known: KnownSamples, levels: Array, part: slice) -> tuple[Array, Array, Array, Array]:
    """Return how many people are nearest, whether the victim is one, and both of trajectories, per attack and level."""
    depth = np.minimum(levels, known.count[part, None])
    sightings = Sightings(known.t[part], known.x[part], known.y[part], known.owner[part], depth)
    nearest: tuple[Array, Array, Array, Array] = nearest_owners(
        tracks.rows, tracks.slots, sightings, tracks.speed, tracks.rounding
    )
    return nearest
