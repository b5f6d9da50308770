"""The keys of a table that everybody knows before anybody looks at the data."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.methods.dp_counts.noisy_rows import NoisyRows
from wayveil.model import Sensitive, TimeFormat, duration_units
from wayveil.model.data.count_tables import AS_IS, EVERYWHERE, Events
from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.model.data.trips import DESTINATION, ORIGIN

__all__ = ["MOST_KEYS", "PublicKeys", "read_keys"]

MOST_KEYS = 20_000_000
"""More numbers than this take minutes to draw, and gigabytes."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, eq=False)
class PublicKeys:
    """All keys: every zone, or every pair of zones, at every time.

    Parameters
    ----------
    zones : tuple of str
        In sorted order.
    times : tuple of int
        First and last bucket and their width; empty where all times are one.
    flows : bool
        Whether a key is a pair of zones.
    zone_of : int64, one per name of the events
        The number of the public zone, -1 for a name that is not public.
    """

    zones: tuple[str, ...]
    times: tuple[int, ...]
    flows: bool
    zone_of: IntArray

    def __len__(self) -> int:
        return self._n_pairs * self._n_times

    @property
    def _n_pairs(self) -> int:
        return len(self.zones) ** (2 if self.flows else 1)

    @property
    def _n_times(self) -> int:
        return (self.times[1] - self.times[0]) // self.times[2] + 1 if self.times else 1

    def contain(self, events: Events) -> BoolArray:
        """Return which events have a public key."""
        inside: BoolArray = self.zone_of[events.zone] >= 0
        if self.flows:
            inside = inside & (self.zone_of[events.to_zone] >= 0)
        if self.times:
            inside = inside & (events.t >= self.times[0]) & (events.t <= self.times[1])
        return inside

    def position(self, zone: IntArray, to_zone: IntArray, t: IntArray) -> IntArray:
        """Return the number of each key, by time, zone and other zone."""
        pair = self.zone_of[zone]
        if self.flows:
            pair = pair * len(self.zones) + self.zone_of[to_zone]
        moment = (t - self.times[0]) // self.times[2] if self.times else np.zeros(len(zone), np.int64)
        found: IntArray = moment * self._n_pairs + pair
        return found

    def rows(self, numbers: IntArray) -> NoisyRows:
        """Return a row for every key."""
        key = np.arange(len(self))
        pair = key % self._n_pairs
        first, step = (self.times[0], self.times[2]) if self.times else (0, 0)
        return NoisyRows(
            zone=(pair // len(self.zones) if self.flows else pair) + 1,
            to_zone=pair % len(self.zones) + 1 if self.flows else np.zeros(len(key), np.int64),
            t=first + key // self._n_pairs * step,
            timed=np.full(len(key), bool(self.times)),
            count=numbers,
            names=(EVERYWHERE, *self.zones),
        )


def read_keys(
    groups: Sensitive, times: str, data: Any, events: Events, *, tally: str, every: str, component: str
) -> PublicKeys:
    """Return the public keys that a method was given; `times` is "" where all times are one."""
    zones = sorted({zone for _, listed in groups for zone in listed})
    if tally == "zones" and data.trip_ends:
        zones = sorted(role + zone for zone in zones for role in (ORIGIN, DESTINATION))
    number = {zone: i for i, zone in enumerate(zones)}
    keys = PublicKeys(
        zones=tuple(zones),
        times=_read_times(times, data, every, component),
        flows=tally == "flows",
        zone_of=np.array([number.get(name, -1) for name in events.names], np.int64),
    )
    if len(keys) > MOST_KEYS:
        raise InputError(
            f"{component}: the public zones and times have {len(keys):,} keys, and every one gets a number; at most "
            f"{MOST_KEYS:,} are made. Give a wider every, fewer zones, or no public zones."
        )
    return keys


def _read_times(text: str, data: Any, every: str, component: str) -> tuple[int, ...]:
    if not text or not data.has_times():
        return ()
    first, dots, last = (part.strip() for part in text.partition(".."))
    if every == AS_IS and data.time_format != "integer":
        raise InputError(f"{component}: public times are buckets, so every needs a width, such as 1h; got {every}.")
    width = 1 if every == AS_IS else duration_units(component, "every", every, data.time_format)
    ends = [
        _read_time(end, data.time_format, is_last=is_last) for end, is_last in ((first, False), (last, True)) if dots
    ]
    if len(ends) < 2 or any(end is None for end in ends):
        form = "0..23" if data.time_format == "integer" else "2016-07-01..2016-07-31"
        raise InputError(f"{component}: public_times must be FIRST..LAST, such as {form}; got {text!r}.")
    begin, end = (int(value or 0) // width * width for value in ends)
    if end < begin:
        raise InputError(f"{component}: public_times end before they begin: {text!r}.")
    return (begin, end, width)


def _read_time(text: str, time_format: TimeFormat, *, is_last: bool) -> int | None:
    """Return a time in the unit of the data; a last day is taken to its end; None for what is none."""
    try:
        if time_format == "integer":
            return int(text)
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if is_last and len(text) == len("2016-07-31"):
        moment += timedelta(days=1) - timedelta(microseconds=1)
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    passed = moment - _EPOCH
    return passed // timedelta(seconds=1) if time_format == "epoch" else passed // timedelta(microseconds=1)
