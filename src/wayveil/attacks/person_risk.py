"""What attacks on people add up to: a risk per person, how sure its mean is, and how people spread over risks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import mean
from wayveil.attacks.attack_numbers import mean_risk, share_above, share_unique, share_unmatched, worst_risk
from wayveil.model import Chart, Number, Series

__all__ = ["FOUND", "SINGLED_OUT", "PersonRisk", "interval", "mean_bounds", "risk_chart", "share_chart"]

Array = NDArray[Any]

_BOUNDS = (1 / 50, 1 / 20, 1 / 10, 1 / 5, 1 / 2)
_BETWEEN = ("up to 1/50", "1/50 to 1/20", "1/20 to 1/10", "1/10 to 1/5", "1/5 to 1/2", "1/2 to 1")

FOUND = ("0: not found", *_BETWEEN, "1: found")
"""The classes of attacks that may take somebody else for the victim."""

SINGLED_OUT = ("no match", *_BETWEEN, "1: singled out")
"""The classes of attacks that take whoever fits for the victim."""

_NORMAL_95 = 1.959963984540054
_ROUNDING = 1e-24  # a variance below this is none


@dataclass(frozen=True, kw_only=True, eq=False)
class PersonRisk:
    """How attacks went, some per person: how many people fit what is known, and whether the victim is one of them.

    Parameters
    ----------
    person, fitting, hit : int, int and bool, one per attack
        The victim, from 0 on and each at least once; the people who fit; whether the victim is counted in them.
    own : float, one per attack, or None
        The share of what fits, trajectory by trajectory, that is the victim's; None where trajectories are not counted.
    drawn : bool, one per person
        Whether what is known of the person was drawn out of more.
    population : int
        People out of whom the victims were drawn; as many as victims, where all are attacked.

    Examples
    --------
    >>> risk = PersonRisk.of(np.array([0, 0, 1]), np.array([1, 2, 2]), None, np.zeros(2, bool), population=2)
    >>> risk.identity.tolist(), risk.unique.tolist()
    ([0.75, 0.5], [0.5, 0.0])
    """

    person: Array
    fitting: Array
    hit: Array
    drawn: Array
    population: int
    own: Array | None = None

    @classmethod
    def of(
        cls,
        person: Array,
        fitting: Array,
        hit: Array | None,
        drawn: Array,
        *,
        population: int,
        own: Array | None = None,
    ) -> PersonRisk:
        """Return the risk; without `hit` whoever fits is taken for the victim, as the attacker does."""
        return cls(
            person=person,
            fitting=fitting,
            hit=fitting > 0 if hit is None else hit,
            drawn=drawn,
            population=population,
            own=own,
        )

    @property
    def success(self) -> Array:
        """The probability of picking the victim, per attack: one of the people who fit, or one of the trajectories."""
        # Whoever picks one of those who fit at random is right with 1/fitting, if the victim is one of them.
        people = np.divide(self.hit, self.fitting, out=np.zeros(len(self.hit)), where=self.fitting > 0)
        # Picked among trajectories instead, the victim's own share counts; the attacker takes the better of both.
        return people if self.own is None else np.maximum(people, self.own)

    @property
    def identity(self) -> Array:
        """The mean probability of picking the victim, per person."""
        return self._per_person(self.success)

    @property
    def unique(self) -> Array:
        """The share of attacks in which exactly one person fits, per person."""
        return self._per_person(self.fitting == 1)

    @property
    def sampled(self) -> bool:
        """Whether people were drawn, or what is known of any."""
        # A mean is exact where everybody was attacked with everything; otherwise it is an estimate with an interval.
        return len(self.drawn) < self.population or bool(self.drawn.any())

    def numbers(self, threshold: Fraction) -> dict[str, Number]:
        """Return the numbers that every attack on people gives."""
        identity = self.identity
        return {
            "identity_mean": mean_risk(mean(identity), interval=self._interval(self.success)),
            "identity_max": worst_risk(float(identity.max()) if len(identity) else None),
            "identity_share_above": share_above(mean(identity > float(threshold)), threshold),
            "unique_share": share_unique(mean(self.unique), interval=self._interval(self.fitting == 1)),
            "unmatched_share": share_unmatched(mean(self._per_person(self.fitting == 0))),
        }

    def chart(self) -> Chart:
        """Return how people spread over classes of risk; a risk on a bound is in the lower class."""
        return risk_chart(self.identity, FOUND)

    def _interval(self, values: Array) -> tuple[float, float] | tuple[None, None]:
        if not self.sampled or not len(self.drawn):
            return None, None
        return interval(values.astype(np.float64), self.person, self.drawn, self.population)

    def _per_person(self, values: Array) -> Array:
        people = len(self.drawn)
        attacks = np.bincount(self.person, minlength=people)
        # Division may round up: the mean of equal risks is cut at the largest of them.
        peak = np.zeros(people)
        np.maximum.at(peak, self.person, values)
        # A mean of 1/10s must not be above 1/10.
        return np.minimum(np.bincount(self.person, values, people) / attacks, peak)


def mean_bounds(
    values: Array, owner: Array | None, population: int, *, sampled: bool
) -> tuple[float, float] | tuple[None, None]:
    """Return the 95 % confidence interval of the mean over people; None where it is exact.

    `values` has one value per attack, `owner` whom it was on (None: each on another person).

    Examples
    --------
    >>> mean_bounds(np.ones(4), None, 4, sampled=False)
    (None, None)
    """
    if not sampled or len(values) == 0:
        return None, None
    person = np.arange(len(values)) if owner is None else np.unique(owner, return_inverse=True)[1]
    drawn = np.ones(int(person.max()) + 1, np.bool_)
    return interval(values, person, drawn, max(population, len(drawn)))


def interval(values: Array, person: Array, drawn: Array, population: int) -> tuple[float, float]:
    """Return a 95 % confidence interval of the mean over people of values from 0 to 1 in two stages of sampling.

    The variance is that of people drawn without replacement out of `population`, and inside a person that of the draws
    (Cochran: Sampling Techniques, 1977, chapter 11); the bounds are Wilson's for as many yes-or-no answers as have
    this variance.  So the interval has a width where all values are equal, too, and never leaves 0 to 1.

    Examples
    --------
    >>> low, high = interval(np.ones(100), np.arange(100), np.zeros(100, bool), 5000)
    >>> round(low, 3), high
    (0.963, 1.0)
    """
    # Two stages: people are drawn from the population, and sets of what is known from each of them.  The variance
    # between people shrinks with the share that was drawn; that within a person counts only for those whose sets were
    # drawn.
    people = len(drawn)
    attacks = np.bincount(person, minlength=people)
    own = np.bincount(person, values, people) / attacks
    middle = min(max(float(own.mean()), 0.0), 1.0)
    between = float(own.var(ddof=1)) if people > 1 else 0.25
    share = people / population
    if (attacks[drawn] == 1).any():  # nothing tells how much one person's draws differ
        variance = between / people
    else:
        apart = np.bincount(person, (values - own[person]) ** 2, people)
        inside = np.where(drawn, apart / np.maximum(attacks - 1, 1) / attacks, 0.0)
        variance = (1 - share) * between / people + share * float(inside.sum()) / people**2
    # From the variance follows how many independent yes-or-no answers would be as uncertain; with these, Wilson's
    # interval (1927) is taken, which stays inside 0 to 1 and is honest near both ends.
    spread = middle * (1 - middle)
    answers = spread / variance if variance > _ROUNDING and spread > 0 else float(len(values))
    ratio = _NORMAL_95**2 / answers
    half = _NORMAL_95 * sqrt(spread / answers + ratio / (4 * answers)) / (1 + ratio)
    centre = (middle + ratio / 2) / (1 + ratio)
    return max(0.0, min(centre - half, middle)), min(1.0, max(centre + half, middle))


def risk_chart(risk: Array, labels: tuple[str, ...], *, of: str = "people", rounding: float = 0.0) -> Chart:
    """Return how risks spread over the classes `FOUND` or `SINGLED_OUT`; a risk on a bound is in the lower class.

    Parameters
    ----------
    of : str
        What has a risk: people, or attacks.
    rounding : float
        How far a risk may be above a bound, or below 1, and still count as equal to it.

    Examples
    --------
    >>> chart = risk_chart(np.array([0.0, 1.0, 0.1, 0.11]), FOUND)
    >>> [label for label, share in zip(chart.labels, chart.series[0].values) if share]
    ['0: not found', '1/20 to 1/10', '1/10 to 1/5', '1: found']
    """
    # A risk on a bound is in the lower class: 1/10 is not above 1/10.
    classes = np.where(risk == 0, 0, 1 + np.searchsorted(np.array(_BOUNDS) + rounding, risk))
    classes = np.where(risk >= 1 - rounding, len(labels) - 1, classes)
    return share_chart(
        "How likely is a person found?", "probability of picking the right person", labels, classes, of=of
    )


def share_chart(title: str, x_label: str, labels: tuple[str, ...], classes: Array, *, of: str = "people") -> Chart:
    """Return the share of people (or of what `of` names) in each class; `classes` has the number of its label for each.

    Examples
    --------
    >>> share_chart("Who?", "class", ("a", "b"), np.array([1, 1, 0, 1])).series[0].values
    (0.25, 0.75)
    """
    share = np.bincount(classes, minlength=len(labels)) / max(1, len(classes))
    return Chart(
        title=title,
        kind="bars",
        labels=labels,
        series=(Series(name=f"share of {of}", values=tuple(share.tolist())),),
        x_label=x_label,
        y_label=f"share of {of}",
        percent=True,
    )
