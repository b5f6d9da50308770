"""The published data as (K,C)_L-privacy sees them: who visited what, and who carries which sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import KclPrivacy
from wayveil.model.data.coded import Coded
from wayveil.model.data.ragged import BoolArray, IntArray
from wayveil.model.data.trips import Trips
from wayveil.model.data.visits import Visits
from wayveil.verifiers.kcl.contained_sequences import MAX_ROWS

__all__ = ["SHARES", "Table", "refusal"]

SHARES = ("owner_share", "confidence", "confidence_trajectories")
"""The shares that the claim bounds, of what a sequence fits: trajectories that one person owns among all trajectories,
people with a sensitive value among all people, and trajectories with it among all trajectories."""


def refusal(data: Visits, claim: KclPrivacy) -> str | None:
    """Why the data cannot be judged, or None; trusts nothing that a constructor may have checked."""
    n = len(data.offsets) - 1
    offsets = data.offsets
    if n < 0 or offsets[0] != 0 or offsets[-1] != len(data.t) or (offsets[1:] < offsets[:-1]).any():
        return "The trajectories do not add up to the visits, so nothing can be judged."
    if len(data.location) != len(data.t) or len(data.owner) != n:
        return "The columns differ in length, so nothing can be judged."
    if any(values.dtype.kind not in "iu" for values in (offsets, data.t, data.location, data.owner)):
        return "A time, a place or an owner is not a whole number, so visits cannot be compared."
    if data.owners not in ("given", "declared", "hidden"):
        return "It is not said where the owners come from, so nobody can be counted."
    if not len(data.t):
        return "There is no visit, so there is nothing to judge."
    if len(data.t) > MAX_ROWS:
        return f"There are more than {MAX_ROWS} visits, which is more than can be judged at once."
    if data.location.min() < 0 or data.location.max() >= len(data.locations):
        return "A visit has a location without a name, so sequences cannot be compared."
    same = np.ones(len(data.t), bool)
    same[offsets[:-1][offsets[:-1] < offsets[1:]]] = False
    if isinstance(data, Trips) != (claim.about == "ends"):
        return (
            "The claim is about ends of trips and the data are visits, or the other way round: nothing can be judged."
        )
    stays = data.t[1:] == data.t[:-1]
    if isinstance(data, Trips):
        # Both ends of a trip may have one time: they are two visits, because their names tell origin and destination.
        rank = {name: i for i, name in enumerate(sorted({str(name) for name in data.locations}))}
        place = np.array([rank[str(name)] for name in data.locations], np.int64)[data.location]
        stays &= place[1:] <= place[:-1]
    if (same[1:] & ((data.t[1:] < data.t[:-1]) | stays)).any():
        return "The time does not increase strictly inside a trajectory, so its visits are no sequence."
    for attribute, _ in claim.sensitive:
        if attribute not in data.attributes:
            return f"The sensitive attribute {attribute!r} is not in the data, so the confidence cannot be judged."
        if len(data.attributes[attribute].codes) != n:
            return f"The sensitive attribute {attribute!r} does not have one value per trajectory."
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class Table:
    """The published data, coded for counting: trajectories of one person are adjacent, items in (t, location) order.

    `person` is None where every trajectory is a person of its own; `carries` has one row of flags (one per
    trajectory) for each value in `sensitive` that is carried at all, and `marked` tells which carry any.
    """

    item: IntArray
    end: IntArray
    trajectory: IntArray
    person: IntArray | None
    people: int
    sensitive: list[tuple[str, str]]
    carries: list[BoolArray]
    marked: BoolArray
    doublets: IntArray
    times: IntArray
    names: list[str]
    longest: int
    hidden: bool

    @property
    def n_trajectories(self) -> int:
        """The trajectories with a visit."""
        return len(self.marked)

    @classmethod
    def of(cls, data: Visits, claim: KclPrivacy) -> Table:
        # A doublet is a pair of a time and a place, and gets a number in the order of time, then of names: a sequence
        # of visits is an ascending row of numbers, the same in every file that holds the same visits.
        names = sorted({str(name) for name in data.locations})
        rank = {name: i for i, name in enumerate(names)}
        place = np.array([rank[str(name)] for name in data.locations], np.int64)
        times, when = _dense(data.t)
        doublets, item = _dense(when * len(names) + place[data.location])

        # Empty trajectories are nobody.  Those of one person are put next to each other, so that people are counted by
        # runs; where everybody has one trajectory no person is needed at all.
        nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        person = None
        people = len(nonempty)
        if data.owners == "given":
            codes, owner = _dense(data.owner[nonempty])
            if len(codes) < len(nonempty):
                people = len(codes)
                order = np.argsort(owner, kind="stable")
                nonempty = nonempty[order]
                person = owner[order]
        lengths = data.offsets[nonempty + 1] - data.offsets[nonempty]
        end = np.cumsum(lengths)
        trajectory = np.repeat(np.arange(len(nonempty)), lengths)
        if person is not None:
            item = item[np.arange(len(item)) + (data.offsets[nonempty + 1] - end)[trajectory]]
        # Values that nobody carries cannot break a confidence, so they are left out.
        for attribute, values in claim.sensitive:
            spend(len(values) * (5_000 + 100 * len(data.attributes[attribute].labels) + 5 * len(data)))
        flags = {
            (attribute, value): _carries(data.attributes[attribute], value)[nonempty]
            for attribute, values in claim.sensitive
            for value in values
        }
        flags = {s: carried for s, carried in flags.items() if carried.any()}
        return cls(
            item=item,
            end=end[trajectory],
            trajectory=trajectory,
            person=person,
            people=people,
            sensitive=list(flags),
            carries=list(flags.values()),
            marked=np.logical_or.reduce(list(flags.values())) if flags else np.zeros(len(nonempty), bool),
            doublets=doublets,
            times=times,
            names=names,
            longest=int(lengths.max()),
            hidden=data.owners == "hidden",
        )

    def labels(self, sequence: tuple[int, ...]) -> list[list[Any]]:
        """Return the items of a sequence as [location, t]."""
        pairs = (divmod(int(self.doublets[item]), len(self.names)) for item in sequence)
        return [[self.names[place], int(self.times[when])] for when, place in pairs]


def _carries(values: Coded, value: str) -> BoolArray:
    """Return which trajectories carry `value`; one that is missing, or whose code has no label, may be any value."""
    codes = values.codes
    carries = np.array([label is None or str(label) == value for label in values.labels] + [True])
    carried: BoolArray = carries[np.where((codes < 0) | (codes >= len(values.labels)), len(values.labels), codes)]
    return carried


def _dense(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values in order, and the position of every value among them."""
    distinct = np.unique(values)
    return distinct, np.searchsorted(distinct, values).astype(np.int64)
