"""Wishes of members, for any method that hides people in groups: who asks for more goes first, with whom is near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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

__all__ = ["group_by_wishes", "read_own_k"]

spatial = lazy_module("scipy.spatial")

ComplexArray = np.ndarray[Any, np.dtype[np.complex128]]

_HELPERS = 3
"""For each trajectory of somebody who asks for k, so many times k others are looked at that ask for less."""

_MOST_ASKED = 10**18
"""What a number of more digits stands for: more people than any file has."""

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
    are grouped again with twice as many people each, and are left out where that does not help either; so are groups
    of different levels that turn out the same, if one of their members owns too much of both together.  Where nothing
    is published of somebody, all of it is done once more without them.

    Nearness is that of the middle of a trip, where it begins and ends, and when.  O(n log n) time besides the method.
    """
    seed = int.from_bytes(rng.bytes(16), "big")
    candidates = data
    # What is published must not depend on people who are not: where nothing is left of somebody, all levels are gone
    # through once more without them, with the same draws.  It ends because nobody comes back.
    while True:
        levels, summary = _group_levels(method, candidates, np.random.default_rng(seed), engine)
        levels = _without_broken(levels, candidates, method.claim)
        if not levels:
            raise InputError(
                f"{method.name}: no group keeps what its members were promised, so nothing can be published. Ask for "
                "less (k_column, destination_share), or give more data."
            )
        # Numbers of trajectories of all data: `members` are those of the run, and sources count within it.
        published = np.concatenate([members[_sources(one)[one.data.nonempty]] for members, one in levels])
        stays = np.isin(data.owner, data.owner[published])
        if stays[candidates.nonempty].all():
            return _join(method, data, levels, summary)
        # The rows go, the trajectories stay as empty ones: numbers remain those of `data`.
        candidates = candidates.where(np.repeat(stays, np.diff(candidates.offsets)))


def _group_levels(
    method: Any, data: Points, rng: np.random.Generator, engine: Engine
) -> tuple[list[tuple[IntArray, MethodResult]], str]:
    """Return what is published of each level, with the trajectories it is of, and how many of each that are."""
    claim = method.claim
    wishes = read_own_k(method.name, data, claim.k_column)
    # Nobody is promised less than the method's own k.
    own_k = np.maximum(wishes, method.k)
    apart = claim.limits_ends
    where = _positions(data)
    waiting = data.nonempty.copy()
    levels: list[tuple[IntArray, MethodResult]] = []
    lines: list[str] = []
    # The largest first: who asks for much needs the most helpers, and those who ask for less may be among them.
    for level in sorted(set(own_k[waiting].tolist()), reverse=True):
        own = waiting & (own_k == level)
        some = own | _find_helpers(where, own, waiting & (own_k < level), _HELPERS * level)
        size = level
        # Twice and four times as large groups are tried only for the sake of destinations.
        for _ in range(_ROUNDS if apart else 1):
            members = np.flatnonzero(some)
            # Whoever asked for a number owns at most one in so many, also where others may own more.
            share = min(claim.owner_share, Fraction(1, max(1, int(wishes[members].max(initial=0)))))
            result = _run(method, data, members, size, share, rng, engine)
            if result is None:
                break
            satisfied = _list_kept(result, members, own, data, claim)
            if satisfied.any():
                levels.append((members, _only(result, satisfied)))
                done = members[_sources(result)[satisfied]]
                waiting[done] = False
                some[done] = False
            if not apart or not (some & own).any():
                break
            # Larger groups end at more places, so that a smaller share of them ends at one.
            size = 2 * size
        left = int((waiting & own).sum())
        lines.append(f"k = {level}: {int(own.sum()) - left:,} of {int(own.sum()):,} trajectories")
        # Their turn is over; what could not be hidden at its own level is in no group below it, either.
        waiting &= ~own
    return levels, "; ".join(lines)


def read_own_k(component: str, data: Points, column: str) -> IntArray:
    """Return for each trajectory the largest number that its person asks for with any of theirs, 0 for nothing.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0)]] * 3, owner=[7, 8, 8], attributes={"wanted": ["12", None, "2"]})
    >>> read_own_k("tga", data, "wanted").tolist()
    [12, 2, 2]
    """
    if column == "none":
        return np.zeros(len(data), np.int64)
    values = data.attributes[column]
    # The last entry is for trajectories without a value, whose code is -1.
    numbers = np.zeros(len(values.labels) + 1, np.int64)
    for code, label in enumerate(values.labels):
        text = label.strip()
        if text and not text.isdecimal():
            raise InputError(
                f"{component}: the column {column!r} of k_column holds something that is no whole number; leave it "
                "empty for people who ask for nothing."
            )
        numbers[code] = _MOST_ASKED if len(text) > 18 else int(text or 0)  # int64 holds 18 digits
    people, person = np.unique(data.owner, return_inverse=True)
    largest = np.zeros(len(people), np.int64)
    np.maximum.at(largest, person.reshape(-1), numbers[values.codes])
    own_k: IntArray = largest[person.reshape(-1)]
    return own_k


def _run(
    method: Any,
    data: Points,
    members: IntArray,
    size: int,
    share: Fraction,
    rng: np.random.Generator,
    engine: Engine,
) -> MethodResult | None:
    """Run the method without wishes on some trajectories, with larger groups; None where there are too few people."""
    some = data.take(members)
    # Owners are counted from 0 on within the part; attributes come back in `_own`.
    some = replace(some, attributes={}, owner=np.unique(some.owner, return_inverse=True)[1].reshape(-1))
    if len(np.unique(some.owner)) < size:
        return None
    # A word, such as that for 1/k, follows the size of groups by itself.
    row_share = method.row_share if isinstance(method.row_share, str) else share
    plain = replace(method, k=size, row_share=row_share, k_column="none", destination_share="none")
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
    satisfied = np.zeros(len(shown), np.bool_)
    groups: dict[bytes, list[int]] = {}
    # Groups are told from what is published, as an attacker would, not from what the method says of them.
    for number, key in _keys(shown):
        groups.setdefault(key, []).append(number)
    source = members[_sources(result)]
    ends = _ends(data, source, shown, claim.destination_cell)
    for group in groups.values():
        of = source[group]
        if own[of].any() and all(_are_apart(end[group], data.owner[of], claim.end_share) for end in ends):
            satisfied[group] = True
    return satisfied


def _keys(shown: Any) -> Iterator[tuple[int, bytes]]:
    """Yield each published trajectory with what is the same for those that look like it."""
    columns = [getattr(shown, name) for name in shown.row_columns]
    for number in np.flatnonzero(shown.nonempty).tolist():
        rows = shown.rows(number)
        # Two trajectories look alike where all of their rows do, byte by byte.
        yield number, b"".join(column[rows].tobytes() for column in columns)


def _without_broken(
    levels: list[tuple[IntArray, MethodResult]], data: Points, claim: MembersClaim
) -> list[tuple[IntArray, MethodResult]]:
    """Return the results without the groups that look alike, from several runs, and break a wish together.

    Each run keeps the wishes in its own groups.  Only where two runs published the same can somebody own more of both
    together than they asked for, or more of them end in one square.
    """
    wishes = read_own_k("", data, claim.k_column)
    groups: dict[bytes, list[tuple[int, int, int]]] = {}
    ends: list[list[ComplexArray]] = []
    for run, (members, result) in enumerate(levels):
        shown: Any = result.data if result.boxes is None else result.boxes
        source = members[_sources(result)]
        ends.append(_ends(data, source, shown, claim.destination_cell))
        for number, key in _keys(shown):
            groups.setdefault(key, []).append((run, number, int(source[number])))
    satisfied = [np.ones(len(result.data), np.bool_) for _, result in levels]
    for group in groups.values():
        owner = data.owner[[trajectory for _, _, trajectory in group]]
        often = Counter(owner.tolist())
        # Whoever asked for n owns at most one in n: times n at most all of them, in whole numbers.
        holds = all(often[int(data.owner[one])] * int(wishes[one]) <= len(group) for _, _, one in group)
        if holds and claim.limits_ends:
            # Per moment (the end of the trip, and that of the last box) the squares of all of the group.
            together = zip(*([end[number] for end in ends[run]] for run, number, _ in group), strict=True)
            holds = all(_are_apart(np.array(one), owner, claim.end_share) for one in together)
        if not holds:
            for run, number, _ in group:
                satisfied[run][number] = False
    return [
        (members, _only(result, keep))
        for (members, result), keep in zip(levels, satisfied, strict=True)
        if (keep & result.data.nonempty).any()
    ]


def _are_apart(ends: ComplexArray, owner: IntArray, share: Fraction) -> bool:
    """Whether at most a share of the people, and of the trajectories, end in one square."""
    trips = Counter(ends.tolist())
    # Two trips of one person to one square are one person there.
    people = Counter(end for end, _ in set(zip(ends.tolist(), owner.tolist(), strict=True)))
    everybody = len(set(owner.tolist()))
    return Fraction(max(trips.values()), len(ends)) <= share and Fraction(max(people.values()), everybody) <= share


def _only(result: MethodResult, satisfied: BoolArray) -> MethodResult:
    """Return the result with the rows of these trajectories only."""
    rows = np.repeat(satisfied, np.diff(result.data.offsets))
    boxes = None if result.boxes is None else result.boxes.where(rows)
    return replace(result, data=result.data.where(rows), boxes=boxes)  # type: ignore[attr-defined]


def _join(method: Any, data: Points, levels: list[tuple[IntArray, MethodResult]], summary: str) -> MethodResult:
    """Put the results of all levels together, as one result on all data."""
    published = concat([result.data for _, result in levels])
    source = np.concatenate([members[_sources(result)] for members, result in levels])
    # Trajectories of which nothing is published are one empty trajectory behind all others, `len(published)`.
    shown = np.flatnonzero(published.nonempty)
    facts: dict[str, int | float | str] = {"asked for and kept": summary}
    attributes = {name: values for name, values in data.attributes.items() if name not in method.claim.private_columns}
    if method.splits_trajectories:
        # In the order of the data: pieces of a trajectory beside each other, and an empty one where nothing is
        # published.
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
    if levels[0][1].boxes is not None:
        regions: Any = concat([result.boxes for _, result in levels if result.boxes is not None])
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


def _ends(data: Points, source: IntArray, shown: Any, cell: float) -> list[ComplexArray]:
    """Return the square, as a number, in which the trajectory of each published one ends.

    With boxes, also the one in which the person was when the last box was over.
    """
    last = data.offsets[source + 1] - 1
    moments = [last]
    if shown.as_boxes() is not None:
        then = last.copy()
        for number in np.flatnonzero(shown.nonempty).tolist():
            over = shown.t_max[shown.offsets[number + 1] - 1]
            rows = data.rows(int(source[number]))
            # The last position that is not after the end of the box.
            then[number] = rows.start + np.searchsorted(data.t[rows], over, side="right") - 1
        moments.append(then)
    return [_squares(data, rows, cell) for rows in moments]


def _squares(data: Points, rows: IntArray, cell: float) -> ComplexArray:
    """Return the square of a grid that each row is in, its column and row as one complex number."""
    square: ComplexArray = np.floor(data.x[rows] / cell) + 1j * np.floor(data.y[rows] / cell)
    return square


def _positions(data: Points) -> FloatArray:
    """Return for each trajectory where it begins, ends and is in the middle, and when, in comparable units."""
    where = np.zeros((len(data), 8))
    nonempty = np.flatnonzero(data.nonempty)
    first = data.offsets[nonempty]
    last = data.offsets[nonempty + 1] - 1
    middle = (first + last) // 2
    for at, rows in enumerate((first, middle, last)):
        where[nonempty, 2 * at] = data.x[rows]
        where[nonempty, 2 * at + 1] = data.y[rows]
    where[nonempty, 6] = data.t[first]
    where[nonempty, 7] = data.t[last]
    # Metres and seconds are divided by their own spread, so that neither decides alone what is near.
    wide = max(float(where[nonempty, :6].std(axis=0).max(initial=0.0)), 1e-9)
    long = max(float(where[nonempty, 6:].std(axis=0).max(initial=0.0)), 1e-9)
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
