"""Wishes of members, for any method that hides people in groups: who asks for more goes first, with whom is near."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.errors import InputError
from wayveil.model import Engine, MethodResult, Points
from wayveil.model.claims.members import MembersClaim
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray
from wayveil.model.data.trajectories import concat
from wayveil.model.lazy_module import lazy_module

__all__ = ["group_by_wishes", "read_asked"]

spatial = lazy_module("scipy.spatial")

_HELPERS = 3
"""For each trajectory of somebody who asks for k, so many times k others are looked at that ask for less."""

_ROUNDS = 3
"""How often groups that end at one place are looked for again, each time with twice as many people."""


def group_by_wishes(method: Any, data: Points, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
    """Run a method so that its groups keep what their members were promised beyond k.

    Parameters
    ----------
    method : Method
        With the parameters of `MembersClaim`; it is run without them, on parts of the data.
    data : Points
        With the column of what people ask for, if there is one; it is not in what is returned.

    Notes
    -----
    Levels are the numbers that people ask for, the largest first.  At each level the method groups those who ask for
    it, with the nearest of those who ask for less, so that every group is large enough for each of its members.  Who is
    then in no group with somebody of the level waits for their own level.  Groups of which too many end in one square
    are grouped again with twice as many people each, and are left out where that does not help either.  Where nothing
    is published of somebody, all of it is done once more without them.

    Nearness is that of the middle of a trip, where it begins and ends, and when.  O(n log n) time besides the method.
    """
    seed = int.from_bytes(rng.bytes(16), "big")
    held = data
    # What is published must not depend on people who are not: where nothing is left of somebody, all levels are gone
    # through once more without them, with the same draws.  It ends because nobody comes back.
    while True:
        made, told = _group_levels(method, held, np.random.default_rng(seed), engine)
        if not made:
            raise InputError(
                f"{method.name}: no group keeps what its members were promised, so nothing can be published. Ask for "
                "less (k_column, destination_share), or give more data."
            )
        published = np.concatenate([members[_sources(one)[one.data.nonempty]] for members, one in made])
        stays = np.isin(data.owner, data.owner[published])
        if stays[held.nonempty].all():
            return _join(method, data, made, told)
        held = held.where(np.repeat(stays, np.diff(held.offsets)))


def _group_levels(
    method: Any, data: Points, rng: np.random.Generator, engine: Engine
) -> tuple[list[tuple[IntArray, MethodResult]], str]:
    """Return what is published of each level, with the trajectories it is of, and how many of each that are."""
    claim = method.claim
    asked = read_asked(method.name, data, claim.k_column, method.k)
    apart = claim.limits_ends
    where = _positions(data)
    waiting = data.nonempty.copy()
    made: list[tuple[IntArray, MethodResult]] = []
    told: list[str] = []
    for level in sorted(set(asked[waiting].tolist()), reverse=True):
        own = waiting & (asked == level)
        some = own | _find_helpers(where, own, waiting & (asked < level), _HELPERS * level)
        size = level
        for _ in range(_ROUNDS if apart else 1):
            members = np.flatnonzero(some)
            result = _run(method, data, members, size, rng, engine)
            if result is None:
                break
            kept = _list_kept(result, members, own, data, claim)
            if kept.any():
                made.append((members, _only(result, kept)))
                done = members[_sources(result)[kept]]
                waiting[done] = False
                some[done] = False
            if not apart or not (some & own).any():
                break
            size = 2 * size
        left = int((waiting & own).sum())
        told.append(f"k = {level}: {int(own.sum()) - left:,} of {int(own.sum()):,} trajectories")
        waiting &= ~own
    return made, "; ".join(told)


def read_asked(component: str, data: Points, column: str, least: int) -> IntArray:
    """Return for each trajectory the number that its person asks for, `least` where that is less or nothing.

    Examples
    --------
    >>> from wayveil.model.data.coded import Coded
    >>> data = Points.from_records([[(0, 0.0, 0.0)]] * 3, attributes={"wanted": ["12", None, "2"]})
    >>> read_asked("tga", data, "wanted", 5).tolist()
    [12, 5, 5]
    """
    if column == "none":
        return np.full(len(data), least, np.int64)
    values = data.attributes[column]
    numbers = np.full(len(values.labels) + 1, least, np.int64)
    for code, label in enumerate(values.labels):
        if label.strip() and not label.strip().isdecimal():
            raise InputError(
                f"{component}: the column {column!r} of k_column holds something that is no whole number; leave it "
                "empty for people who ask for nothing."
            )
        numbers[code] = max(least, int(label.strip() or 0))
    asked: IntArray = numbers[values.codes]
    return asked


def _run(
    method: Any, data: Points, members: IntArray, size: int, rng: np.random.Generator, engine: Engine
) -> MethodResult | None:
    """Run the method without wishes on some trajectories, with larger groups; None where there are too few people."""
    some = data.take(members)
    some = replace(some, attributes={}, owner=np.unique(some.owner, return_inverse=True)[1].reshape(-1))
    if len(np.unique(some.owner)) < size:
        return None
    plain = replace(method, k=size, k_column="none", destination_share="none")
    try:
        result: MethodResult = plain.run(some, rng=rng, engine=engine)
    except InputError:
        return None  # of the whole file it is said below that nothing is left
    return result


def _sources(result: MethodResult) -> IntArray:
    return np.arange(len(result.data)) if result.source is None else result.source


def _list_kept(result: MethodResult, members: IntArray, own: BoolArray, data: Points, claim: MembersClaim) -> BoolArray:
    """Return which published trajectories are in a group with somebody of this level, and keep different ends."""
    shown: Any = result.data if result.boxes is None else result.boxes
    kept = np.zeros(len(shown), np.bool_)
    groups: dict[bytes, list[int]] = {}
    columns = [getattr(shown, name) for name in shown.row_columns]
    for number in np.flatnonzero(shown.nonempty).tolist():
        rows = shown.rows(number)
        groups.setdefault(b"".join(column[rows].tobytes() for column in columns), []).append(number)
    source = members[_sources(result)]
    ends = _ends(data, source, shown, claim.destination_cell)
    for group in groups.values():
        of = source[group]
        if own[of].any() and _are_apart(ends[group], data.owner[of], claim.end_share):
            kept[group] = True
    return kept


def _are_apart(ends: IntArray, owner: IntArray, share: Fraction) -> bool:
    """Whether at most a share of the people, and of the trajectories, end in one square."""
    trips = Counter(ends.tolist())
    people = Counter(end for end, _ in set(zip(ends.tolist(), owner.tolist(), strict=True)))
    everybody = len(set(owner.tolist()))
    return Fraction(max(trips.values()), len(ends)) <= share and Fraction(max(people.values()), everybody) <= share


def _only(result: MethodResult, kept: BoolArray) -> MethodResult:
    """Return the result with the rows of these trajectories only."""
    rows = np.repeat(kept, np.diff(result.data.offsets))
    boxes = None if result.boxes is None else result.boxes.where(rows)
    return replace(result, data=result.data.where(rows), boxes=boxes)  # type: ignore[attr-defined]


def _join(method: Any, data: Points, made: list[tuple[IntArray, MethodResult]], told: str) -> MethodResult:
    """Put the results of all levels together, as one result on all data."""
    published = concat([result.data for _, result in made])
    source = np.concatenate([members[_sources(result)] for members, result in made])
    shown = np.flatnonzero(published.nonempty)
    facts: dict[str, int | float | str] = {"asked for and kept": told}
    attributes = {name: values for name, values in data.attributes.items() if name not in method.claim.private_columns}
    if method.splits_trajectories:
        nothing = np.setdiff1d(np.arange(len(data)), source[shown])
        of = np.concatenate([source[shown], nothing])
        order = np.argsort(of, kind="stable")
        position = np.concatenate([shown, np.full(len(nothing), len(published))])[order]
        of = of[order]
    else:
        of = np.arange(len(data))
        position = np.full(len(data), len(published), np.int64)
        position[source[shown]] = shown
    ordered = _own(published.with_empty().take(position), data, of, attributes)
    boxes = None
    if made[0][1].boxes is not None:
        regions: Any = concat([result.boxes for _, result in made if result.boxes is not None])
        boxes = _own(regions.with_empty().take(position), data, of, attributes)
    return MethodResult(
        data=ordered,
        claim=method.claim,
        facts=facts,
        boxes=boxes,
        source=of if method.splits_trajectories else None,
    )


def _own(published: Any, data: Points, of: IntArray, attributes: Any) -> Any:
    """Return trajectories with the owners and attributes of those that they are of."""
    return replace(
        published,
        owner=data.owner[of],
        owners=data.owners,
        attributes={name: values.take(of) for name, values in attributes.items()},
    )


def _ends(data: Points, source: IntArray, shown: Any, cell: float) -> IntArray:
    """Return the square, as a number, in which the trajectory of each published one ends.

    With boxes that is where the person was when the last box was over.
    """
    last = data.offsets[source + 1] - 1
    if shown.as_boxes() is not None:
        for number in np.flatnonzero(shown.nonempty).tolist():
            over = shown.t_max[shown.offsets[number + 1] - 1]
            rows = data.rows(int(source[number]))
            last[number] = rows.start + np.searchsorted(data.t[rows], over, side="right") - 1
    place = np.floor(np.stack([data.x[last], data.y[last]], axis=1) / cell)
    ends: IntArray = np.unique(place, axis=0, return_inverse=True)[1].reshape(-1)
    return ends


def _positions(data: Points) -> FloatArray:
    """Return for each trajectory where it begins, ends and is in the middle, and when, in comparable units."""
    where = np.zeros((len(data), 8))
    held = np.flatnonzero(data.nonempty)
    first = data.offsets[held]
    last = data.offsets[held + 1] - 1
    middle = (first + last) // 2
    for at, rows in enumerate((first, middle, last)):
        where[held, 2 * at] = data.x[rows]
        where[held, 2 * at + 1] = data.y[rows]
    where[held, 6] = data.t[first]
    where[held, 7] = data.t[last]
    wide = max(float(where[held, :6].std(axis=0).max(initial=0.0)), 1e-9)
    long = max(float(where[held, 6:].std(axis=0).max(initial=0.0)), 1e-9)
    where[:, :6] /= wide
    where[:, 6:] /= long
    return where


def _find_helpers(where: FloatArray, own: BoolArray, others: BoolArray, most: int) -> BoolArray:
    """Return the nearest of the others, up to so many for each trajectory of one's own."""
    helpers = np.zeros(len(own), np.bool_)
    free = np.flatnonzero(others)
    if not len(free) or not own.any():
        return helpers
    near = spatial.cKDTree(where[free]).query(where[own], k=min(most, len(free)))[1]
    helpers[free[np.unique(near)]] = True
    return helpers
