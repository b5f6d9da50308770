"""The parts of attacks on positions: what is known of people, what is attacked, and how risks are told."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import mean, owners_of, same_times
from wayveil.attacks.attack_numbers import mean_risk, share_above, share_missed, share_published, worst_risk
from wayveil.attacks.person_risk import FOUND, risk_chart
from wayveil.errors import InputError
from wayveil.kernels.attacks.box_distances import BoxSides
from wayveil.kernels.attacks.position_matching import Slots
from wayveil.model import Boxes, Chart, Number, Points
from wayveil.model.data.ragged import frozen, offsets_of
from wayveil.model.numbers import probability

__all__ = ["Array", "KnownSamples", "Outcome", "Tracks", "check_matched"]

Array = NDArray[Any]

_SLACK = 1e-12  # share of the largest coordinate that counts as rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownSamples:
    """What is known of people: one row of true samples per attack, in random order.

    Attack i knows the first ``count[i]`` of ``t[i]``, ``x[i]`` and ``y[i]``, which are of one trajectory of one owner.
    `people` are attacked, out of a `population`.
    """

    t: Array
    x: Array
    y: Array
    count: Array
    owner: Array
    trajectory: Array
    people: int
    population: int
    sampled: bool

    def __len__(self) -> int:
        return len(self.count)

    @classmethod
    def draw(
        cls, truth: Points, *, victims: int, samples: int, draws: int | str, rng: np.random.Generator
    ) -> KnownSamples:
        """Return `draws` sets of `samples` samples (or all, where there are fewer) of at most `victims` people.

        People are those with a sample; a set lies in one of the person's trajectories, drawn evenly.  With "auto" there
        are as many sets per person as make at most `victims` in all, and at least one.
        """
        with_rows = np.flatnonzero(np.diff(truth.offsets))
        owner = owners_of(truth)[with_rows]
        with_rows = with_rows[np.argsort(owner, kind="stable")]
        people, counts = np.unique(owner, return_counts=True)
        first = offsets_of(counts)[:-1]
        # Victims are drawn as people, then one of their trips: whoever travels a lot is not attacked more often.
        chosen = np.arange(len(people))
        if len(people) > victims:
            chosen = np.sort(rng.choice(len(people), victims, replace=False))
        times = draws if isinstance(draws, int) else victims // max(1, len(chosen))
        attack = np.repeat(chosen, times)
        trajectory = with_rows[first[attack] + rng.integers(counts[attack])]
        length = np.diff(truth.offsets)[trajectory]
        count = np.minimum(samples, length)
        table = np.zeros((len(attack), int(count.max(initial=1))), np.int64)
        # Rows that are not filled repeat the first sample; `count` says how many are meant.
        for i, (size, n) in enumerate(zip(count.tolist(), length.tolist(), strict=True)):
            table[i, :size] = rng.choice(n, size, replace=False)
        rows = truth.offsets[trajectory][:, None] + table
        return cls(
            t=truth.t[rows],
            x=truth.x[rows],
            y=truth.y[rows],
            count=count,
            owner=people[attack],
            trajectory=trajectory,
            people=len(chosen),
            population=truth.n_owners,
            sampled=len(people) > victims or bool(((length > 1) | (counts[attack] > 1)).any()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Tracks:
    """What is attacked: rows as boxes, and the trajectories that have any, those of one owner next to each other.

    Parameters
    ----------
    moving : bool
        Whether rows are points, with straight ways between them.
    speed : float
        Metres per unit of time, over all trajectories; 1 where nothing moves, so that time still counts.
    rounding : float
        Metres below which two distances are the same.
    trajectory : int, one per slot
        The trajectory of the attacked data that is in each slot.
    """

    rows: BoxSides
    slots: Slots
    trajectory: Array
    moving: bool
    speed: float
    rounding: float

    @classmethod
    def of(cls, truth: Points, target: Points | Boxes) -> Tracks:
        """Return `target` with the owners of `truth`.  O(rows) time and memory."""
        rows = _rows(target)
        with_rows = np.flatnonzero(np.diff(target.offsets))
        owner = owners_of(truth)[with_rows]
        order = np.argsort(owner, kind="stable")
        first = target.offsets[:-1][with_rows]
        last = target.offsets[1:][with_rows]
        around = (
            rows.t_min[first],
            rows.t_max[last - 1],
            _each(np.minimum, rows.x_min, first),
            _each(np.maximum, rows.x_max, first),
            _each(np.minimum, rows.y_min, first),
            _each(np.maximum, rows.y_max, first),
        )
        reach = max((float(np.abs(side).max(initial=0.0)) for side in around[2:]), default=0.0)
        return cls(
            rows=rows,
            slots=Slots(
                first[order], last[order], owner[order], BoxSides(*(frozen(c[order], c.dtype) for c in around))
            ),
            trajectory=with_rows[order],
            moving=target.positions() is not None,
            speed=_speed(rows, first, last),
            rounding=_SLACK * reach,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """How attacks went: how many people fit, 1 if the victim is one, and whether the trajectory known was published.

    `trajectories` has how many trajectories fit, and how many of them are the victim's, where this was counted.
    `alike` is the success of who does not tell look-alikes apart, where it was asked for, in place of all that.
    """

    fitting: Array
    hit: Array
    published: Array
    trajectories: tuple[Array, Array] | None = None
    alike: Array | None = None

    @property
    def success(self) -> Array:
        """The probability of picking the victim, per attack: one of the people, or one of the trajectories that fit.

        The larger of the two counts.

        Examples
        --------
        >>> one, there = np.ones(1, np.int64), np.ones(1, bool)
        >>> Outcome(fitting=2 * one, hit=one, published=there, trajectories=(21 * one, 20 * one)).success.round(3)
        array([0.952])
        """
        if self.alike is not None:
            return self.alike
        people = np.divide(self.hit, self.fitting, out=np.zeros(len(self.hit)), where=self.fitting > 0)
        if self.trajectories is None:
            return people
        many, own = self.trajectories
        return np.maximum(people, np.divide(own, many, out=np.zeros(len(own)), where=many > 0))

    def identity(self, threshold: Fraction) -> dict[str, Number]:
        """Return the numbers of identity linkage."""
        return {
            "identity_mean": mean_risk(mean(self.success)),
            "identity_mean_if_published": probability(
                mean(self.success[self.published]), "Mean over those published", about="identity"
            ),
            "identity_share_above": share_above(mean(self.success > float(threshold)), threshold),
        }

    def extremes(self) -> dict[str, Number]:
        """Return the largest probability."""
        worst = float(self.success.max()) if len(self.hit) else None
        return {"identity_max": worst_risk(worst)}

    def reach(self) -> dict[str, Number]:
        """Return how often the victim could be found, and was not."""
        return {
            "victims_published_share": share_published(mean(self.published)),
            "victims_missed_share": share_missed(mean(self.hit == 0)),
        }

    def chart(self) -> Chart:
        """Return how attacks spread over classes of success; a probability on a bound is in the lower class."""
        return risk_chart(self.success, FOUND, of="attacks")


def check_matched(component: str, truth: Points, target: Points | Boxes) -> None:
    """Refuse data that cannot be compared trajectory by trajectory, time by time and metre by metre."""
    if len(truth) != len(target):
        raise InputError(
            f"{component}: the attacked data must have one trajectory for each of the {len(truth)} true ones, in the "
            "same "
            f"order, got {len(target)}. Leave trajectories that are not published without rows."
        )
    if not same_times(truth, target):
        raise InputError(
            f"{component}: the times of the known positions ({truth.time_format}) and of the attacked data "
            f"({target.time_format}) cannot be compared. Give both in the same form."
        )
    if truth.frame != target.frame:
        raise InputError(
            f"{component}: the known positions and the attacked data have different frames of coordinates. "
            "Read both in the same frame."
        )


def _rows(target: Points | Boxes) -> BoxSides:
    return BoxSides(*target.boxes())


def _each(function: np.ufunc, values: Array, first: Array) -> Array:
    """Return a reduction per trajectory; trajectories without rows are not in `first`."""
    return function.reduceat(values, first) if len(first) else values[:0]


def _speed(rows: BoxSides, first: Array, last: Array) -> float:
    """Return the way through the middles of the boxes over the time that it takes, summed over all trajectories."""
    way = np.zeros(len(rows.t_min))
    np.hypot(np.diff(_middle(rows.x_min, rows.x_max)), np.diff(_middle(rows.y_min, rows.y_max)), out=way[1:])
    way[first] = 0.0
    # Unsigned: times may be further apart than an int64 can say.
    time = rows.t_max[last - 1].astype(np.uint64) - rows.t_min[first].astype(np.uint64)
    # Exact sums do not depend on the order of the trajectories.
    length = fsum(_each(np.add, way, first).tolist())
    duration = fsum(time.astype(np.float64).tolist())
    return length / duration if length > 0 and duration > 0 else 1.0


def _middle(low: Array, high: Array) -> Array:
    return low if low is high else low + (high - low) / 2
