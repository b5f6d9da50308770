"""What the synthetic workloads share: plans that many people follow, almost.

A plan is a row of stops: a place and an hour, -1 where a stop is unused.  Popular plans are followed by many
people, each with a small deviation of their own, and some people follow a plan that nobody else has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.model import Coded, Visits
from wayveil.model.data.ragged import offsets_of

__all__ = ["Deviations", "Labels", "Plans", "Stops", "follow", "leanings", "names", "pick", "zipf"]

Array = NDArray[Any]

_CELLS = 1 << 22  # stops held at once: the data of any number of records is made in chunks of about this size
_SAMPLE = 1 << 15  # people by whom the odds of a sensitive value are set


@dataclass(frozen=True, kw_only=True)
class Stops:
    """Rows of stops as two tables of the same shape: `place`, and `hour`, which is -1 where a stop is unused."""

    place: Array
    hour: Array


@dataclass(frozen=True, kw_only=True)
class Plans:
    """What some people have in mind: their stops, and what these tell of the attribute.

    `leaning` is added to the log-odds of a sensitive value, `favourite` is the number of the usual one.
    """

    stops: Stops
    leaning: Array
    favourite: Array


@dataclass(frozen=True, kw_only=True)
class Deviations:
    """How people differ from the plan they follow, as probabilities.

    `skip` is per stop; `detour` (one stop elsewhere), `late` (one stop an hour later) and `alone` (a plan that
    nobody else has) are per person.
    """

    skip: float
    detour: float
    late: float
    alone: float


@dataclass(frozen=True, kw_only=True)
class Labels:
    """The values of the attribute: which are sensitive, how many people have one, and how common the others are."""

    attribute: str
    sensitive: tuple[str, ...]
    others: tuple[str, ...]
    share: float


def follow(
    plan: Callable[[int, np.random.Generator], Plans],
    wander: Callable[[int, np.random.Generator], Stops],
    *,
    records: int,
    hours: int,
    places: tuple[str, ...],
    popularity: Array,
    deviations: Deviations,
    labels: Labels,
    rng: np.random.Generator,
) -> Visits:
    """Return `records` people who follow the plans that `plan` draws; O(records x stops) time.

    Parameters
    ----------
    plan : function of (how many, rng)
        Draws the plans of so many people; the first stop of each is used.
    wander : function of (how many, rng)
        Makes stops, as many a row as `plan`, for those who are alone.
    popularity : array
        A weight per place: where detours lead to.
    """
    sample = plan(_SAMPLE, rng)
    base = _base(sample.leaning, labels.share)
    size = max(1, _CELLS // sample.stops.hour.shape[1])
    location = []
    t = []
    lengths = []
    codes = []
    for start in range(0, records, size):
        n = min(size, records - start)
        plans = plan(n, rng)
        place = plans.stops.place
        hour = plans.stops.hour
        alone = rng.random(n) < deviations.alone
        own = wander(int(alone.sum()), rng)
        place[alone] = own.place
        hour[alone] = own.hour
        stays = _deviate(place, hour, hours, popularity, deviations, rng)
        location.append(place[stays].astype(np.int32))
        t.append(hour[stays].astype(np.int64))
        lengths.append(stays.sum(axis=1))
        share = np.where(alone, labels.share, _logistic(plans.leaning + base))
        codes.append(_values(share, plans.favourite, labels, rng))
    return Visits(
        offsets=offsets_of(np.concatenate(lengths)),
        location=np.concatenate(location),
        t=np.concatenate(t),
        locations=places,
        owner=np.arange(records),
        attributes={labels.attribute: _coded(np.concatenate(codes), (*labels.sensitive, *labels.others))},
        owners="given",
    )


def leanings(stops: Stops, places: int, spread: float, telling: float, rng: np.random.Generator) -> Array:
    """Return what each row of stops adds to the log-odds of a sensitive value: normal, more at one place in ten."""
    special = rng.random(places) < 0.1
    touched: Array = np.any(special[stops.place] & (stops.hour >= 0), axis=1)
    leaning: Array = spread * rng.normal(size=touched.shape) + telling * touched
    return leaning


def zipf(n: int, shift: float = 0.0) -> Array:
    """Return weights 1/(1 + shift), 1/(2 + shift), ... that sum to 1: a few are popular, most are not.

    Examples
    --------
    >>> zipf(2).round(3).tolist()
    [0.667, 0.333]
    """
    weights = 1 / (np.arange(1, n + 1) + shift)
    shares: Array = weights / weights.sum()
    return shares


def pick(weights: Array, size: int | tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return positions drawn with probability proportional to `weights`."""
    edges = np.cumsum(weights)
    drawn: Array = np.searchsorted(edges, rng.random(size) * edges[-1], side="right")
    return np.minimum(drawn, len(weights) - 1, out=drawn)


def names(word: str, n: int) -> tuple[str, ...]:
    """Return n names that sort by number.

    Examples
    --------
    >>> names("block", 2), names("block", 100)[6]
    (('block-01', 'block-02'), 'block-007')
    """
    width = max(2, len(str(n)))
    return tuple(f"{word}-{i:0{width}d}" for i in range(1, n + 1))


def _deviate(
    place: Array, hour: Array, hours: int, popularity: Array, deviations: Deviations, rng: np.random.Generator
) -> Array:
    """Change stops in place, and return which of them are kept; everybody keeps one."""
    n, width = hour.shape
    person = np.arange(n)
    used = hour >= 0
    on_detour = person[rng.random(n) < deviations.detour]
    place[on_detour, rng.integers(width, size=len(on_detour))] = pick(popularity, len(on_detour), rng)
    late = person[rng.random(n) < deviations.late]
    stop = rng.integers(width, size=len(late))
    hour[late, stop] += used[late, stop] & (hour[late, stop] + 1 < hours)
    stays = used & (rng.random(hour.shape) >= deviations.skip)
    lost = ~stays.any(axis=1)
    stays[lost, used[lost].argmax(axis=1)] = True
    so_far = np.maximum.accumulate(np.where(stays, hour, -1), axis=1)
    stays[:, 1:] &= hour[:, 1:] > so_far[:, :-1]
    return stays


def _base(leaning: Array, share: float) -> float:
    """Return the log-odds that give `share` over all: by bisection, as the share rises with them."""
    low = -30.0
    high = 30.0
    for _ in range(60):
        middle = (low + high) / 2
        if _logistic(leaning + middle).mean() < share:
            low = middle
        else:
            high = middle
    return low


def _logistic(score: Array) -> Array:
    return 1 / (1 + np.exp(-score))


def _values(share: Array, favourite: Array, labels: Labels, rng: np.random.Generator) -> Array:
    """Return one value per person; the sensitive people of a plan mostly have the value that is usual on it."""
    n = len(share)
    kinds = len(labels.sensitive)
    chosen = np.where(rng.random(n) < 0.75, favourite, rng.integers(kinds, size=n))
    other = kinds + pick(zipf(len(labels.others)), n, rng)
    return np.where(rng.random(n) < share, chosen, other)


def _coded(codes: Array, labels: tuple[str, ...]) -> Coded:
    """Return the values coded by labels in sorted order, as if they had been read from a file."""
    order = sorted(range(len(labels)), key=lambda i: labels[i])
    rank = np.empty(len(labels), np.int32)
    rank[order] = np.arange(len(labels))
    return Coded(codes=rank[codes], labels=tuple(labels[i] for i in order))
