"""When synthetic trips begin: days and hours from noisy histograms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.methods.synth.noisy_model import Budget, fit_total
from wayveil.model import seconds_per_unit
from wayveil.model.data.ragged import IntArray

__all__ = ["DAYS_PER_PERSON", "Clock", "StartTimes", "check_days", "draw_entries", "keep_largest", "learn_start_times"]

DAYS_PER_PERSON = 8
"""Of everybody, the days with most trips count for which days are published, so many at most."""

HOURS = 24
_SELECT = "select"
_RANGE = re.compile(r"(\S+)\.\.(\S+)")
_MOST_DAYS = 36_600


@dataclass(frozen=True, kw_only=True)
class Clock:
    """What a day, an hour and the finest published step of time are, in units of the data's times.

    Plain integers have no unit: 24 of them are a day.
    """

    day: int
    hour: int
    step: int
    dated: bool

    @classmethod
    def of(cls, time_format: Any, *, step_s: int) -> Clock:
        seconds = seconds_per_unit(time_format)
        if seconds is None:
            return cls(day=24, hour=1, step=1, dated=False)
        unit = round(1 / seconds)
        return cls(day=86_400 * unit, hour=3_600 * unit, step=step_s * unit, dated=True)


@dataclass(frozen=True, kw_only=True)
class StartTimes:
    """The days and hours at which trips begin, and how likely each is."""

    clock: Clock
    days: IntArray
    day_chance: np.ndarray
    hour_chance: np.ndarray

    def draw_days(self, n: int, rng: np.random.Generator) -> IntArray:
        """Return the day of each trip, as the time at which it begins."""
        return self.days[draw_entries(self.day_chance, n, rng)] * self.clock.day

    def draw_hours(self, part: IntArray | None, parts: int, n: int, rng: np.random.Generator) -> IntArray:
        """Return the time of day at which each trip begins; in its part of the day, where one is given."""
        chance = self.hour_chance.reshape(parts, HOURS // parts) if part is not None else self.hour_chance[None]
        hour = np.zeros(n, np.int64)
        rows = np.zeros(n, np.int64) if part is None else part
        for row in range(len(chance)):
            own = rows == row
            hour[own] = row * chance.shape[1] + draw_entries(chance[row], int(own.sum()), rng)
        within = rng.integers(0, max(1, self.clock.hour // self.clock.step), n) * self.clock.step
        return hour * self.clock.hour + within


def draw_entries(chance: np.ndarray, n: int, rng: np.random.Generator) -> IntArray:
    """Return entries drawn with these chances, or evenly where all are 0."""
    running = np.cumsum(chance if chance.sum() > 0 else np.ones(len(chance)))
    drawn: IntArray = np.minimum(np.searchsorted(running, rng.random(n) * running[-1], side="right"), len(chance) - 1)
    return drawn


def learn_start_times(
    start: IntArray,
    owner: IntArray,
    shares: IntArray,
    *,
    clock: Clock,
    days: str,
    budget: Budget,
    epsilon: tuple[Fraction, Fraction],
    delta: Fraction,
) -> StartTimes:
    """Ask for the days and the hours at which trips begin; trips outside of declared days do not count.

    `epsilon` are the budgets of days and of hours.
    """
    counted = shares > 0
    day = start // clock.day
    hour = np.minimum((start - day * clock.day) // clock.hour, HOURS - 1)
    if days == _SELECT:
        first = int(day[counted].min(initial=0))
        values = keep_largest(owner, day - first, shares, DAYS_PER_PERSON)
        keys, noisy = budget.select("days", "trips-by-day", values, l0=DAYS_PER_PERSON, epsilon=epsilon[0], delta=delta)
        if not len(keys):
            raise InputError(
                "synth: with this epsilon and delta, no day has so many people that it may be published. Declare the "
                "days that the data are about, as days=2024-03-01..2024-03-31, or take a larger epsilon."
            )
        day_list = keys + first
        chance = np.maximum(noisy.values, 0.0)
    else:
        span = check_days(days, dated=clock.dated)
        day_list = np.arange(span[0], span[1] + 1)
        inside = counted & (day >= span[0]) & (day <= span[1])
        values = np.zeros(len(day_list), np.int64)
        np.add.at(values, day[inside] - span[0], shares[inside])
        noisy = budget.histogram("days", "trips-by-day", values, epsilon[0])
        chance = fit_total(noisy.values, max(float(noisy.values.sum()), noisy.scale))
    by_hour = np.zeros(HOURS, np.int64)
    np.add.at(by_hour, hour[counted], shares[counted])
    hours = budget.histogram("hours", "trips-by-hour", by_hour, epsilon[1])
    hour_chance = fit_total(hours.values, max(float(hours.values.sum()), hours.scale))
    return StartTimes(clock=clock, days=day_list, day_chance=chance, hour_chance=hour_chance)


def keep_largest(owner: IntArray, key: IntArray, shares: IntArray, most: int) -> IntArray:
    """Return the histogram of `key`, to which everybody adds their `most` largest keys only; of equal ones the first.

    Examples
    --------
    >>> keep_largest(np.array([0, 0, 0, 1]), np.array([2, 0, 2, 1]), np.array([4, 5, 4, 7]), 1).tolist()
    [0, 7, 8]
    """
    size = int(key.max(initial=-1)) + 1
    counted = shares > 0
    pair, inverse = np.unique(np.stack([owner[counted], key[counted]]), axis=1, return_inverse=True)
    weight = np.zeros(pair.shape[1], np.int64)
    np.add.at(weight, inverse.reshape(-1), shares[counted])
    order = np.lexsort((pair[1], -weight, pair[0]))
    people = pair[0][order]
    begins = np.flatnonzero(np.diff(people, prepend=people[:1] - 1)) if len(people) else np.zeros(0, np.int64)
    rank = np.arange(len(order)) - np.repeat(begins, np.diff(np.append(begins, len(order))))
    largest = order[rank < most]
    values = np.zeros(size, np.int64)
    np.add.at(values, pair[1][largest], weight[largest])
    return values


def check_days(days: str, *, dated: bool | None = None) -> tuple[int, int]:
    """Return the first and the last of declared days; dates are counted from 1970, other times in plain days of 24.

    Examples
    --------
    >>> check_days("1970-01-02..1970-01-31"), check_days("0..4")
    ((1, 30), (0, 4))
    """
    match = _RANGE.fullmatch(days)
    ends = [_day(text) for text in match.groups()] if match else [None, None]
    if ends[0] is None or ends[1] is None or ends[0][1] != ends[1][1]:
        raise InputError(
            f"synth: days must be {_SELECT!r} or the first and the last day, as 2024-03-01..2024-03-31, got {days!r}."
        )
    (first, is_date), (last, _) = ends[0], ends[1]
    if dated is not None and dated != is_date:
        form = "dates, as 2024-03-01..2024-03-31" if dated else "numbers, as 0..4: the times are plain integers"
        raise InputError(f"synth: days must be {form}, got {days!r}.")
    if last < first or last - first >= _MOST_DAYS:
        raise InputError(f"synth: days must be from 1 to {_MOST_DAYS:,} days, the first one first, got {days!r}.")
    return first, last


def _day(text: str) -> tuple[int, bool] | None:
    if re.fullmatch(r"-?[0-9]{1,12}", text):
        return int(text), False
    try:
        return (date.fromisoformat(text) - date(1970, 1, 1)).days, True
    except ValueError:
        return None
