"""What members of a group were promised beyond k: the number that each asked for, and different destinations."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from wayveil.model.claims.counting import exceeds, share_text
from wayveil.model.claims.members import MembersClaim
from wayveil.model.data.coded import Coded
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import IntArray

__all__ = ["BrokenWish", "find_broken_wish", "wishes_not_judged"]


@dataclass(frozen=True, kw_only=True)
class BrokenWish:
    """A wish that is not kept: which one (`breaks`), the group, and a sentence with counts, without anybody's value."""

    breaks: str
    group: int
    sentence: str


def find_broken_wish(
    group: IntArray, people: IntArray, claim: MembersClaim, original: Points | None, until: IntArray | None = None
) -> BrokenWish | None:
    """Return the first group, in the order of groups, that breaks a wish of a member; None where none does.

    Parameters
    ----------
    group : IntArray
        For each published trajectory the set of those that look like it; negative where nothing is published.
    people : IntArray
        For each the person behind it.
    claim : MembersClaim
        What was promised.
    original : Points or None
        The true trajectories, in the same order, with the column of what people asked for; None: nothing is judged.
    until : IntArray, optional
        For each the time up to which it is published: where the person was then counts as an end, too.

    Notes
    -----
    Who asked differently with several trips asked for the largest of these numbers.  A number that cannot be read
    counts as unkept: it never makes the verdict better.  O(n) time.
    """
    if original is None or not claim.has_wishes:
        return None
    members: dict[int, list[int]] = defaultdict(list)
    for trajectory, number in enumerate(group.tolist()):
        if number >= 0:
            members[number].append(trajectory)
    who = people.tolist()
    asked: dict[int, int] = {}
    if claim.asks_for_k and members:
        column = original.attributes.get(claim.k_column)
        first = min(members)
        if column is None:
            missing = "It is not known what people asked for: the original has no such column."
            return BrokenWish(breaks="asked", group=first, sentence=missing)
        asked = _read_asked(who, column)
        if any(number < 0 for number in asked.values()):
            unread = "What somebody asked for is no whole number, so it is not known whether it is kept."
            return BrokenWish(breaks="asked", group=first, sentence=unread)
    for number in sorted(members):
        broken = _judge_group(members[number], who, asked, claim, original, until)
        if broken is not None:
            return BrokenWish(breaks=broken[0], group=number, sentence=broken[1])
    return None


_MORE_THAN_ANYBODY = 10**18


def _read_asked(people: list[int], column: Coded) -> dict[int, int]:
    """Return the largest number that each person asked for, 0 for nothing; -1 where it cannot be read."""
    asked: dict[int, int] = defaultdict(int)
    for person, code in zip(people, column.codes.tolist(), strict=True):
        text = "" if code < 0 else column.labels[code].strip()
        if text and not text.isdecimal():
            return {person: -1}
        # No file has so many people, and a text of thousands of digits is no number that is worth reading.
        number = _MORE_THAN_ANYBODY if len(text) > 18 else int(text or 0)
        asked[person] = max(asked[person], number)
    return asked


def _judge_group(
    members: list[int],
    people: list[int],
    asked: dict[int, int],
    claim: MembersClaim,
    original: Points,
    until: IntArray | None,
) -> tuple[str, str] | None:
    owned = Counter(people[i] for i in members)
    for person, own in owned.items():
        own_k = asked.get(person, 0)
        if len(owned) < own_k:
            return "asked", f"A trajectory is that of {len(owned):,} people, and one of them asked for {own_k:,}."
        if own_k and exceeds(own, len(members), Fraction(1, own_k)):
            return "asked", (
                f"Of {len(members):,} trajectories that look alike, {own:,} belong to one person who "
                f"asked for {own_k:,}, more than one in so many."
            )
    if claim.limits_ends:
        broken = _judge_destinations(members, people, claim, original, None)
        if broken is None and until is not None:
            broken = _judge_destinations(members, people, claim, original, until)
        return broken
    return None


def _judge_destinations(
    members: list[int], people: list[int], claim: MembersClaim, original: Points, until: IntArray | None
) -> tuple[str, str] | None:
    trips: Counter[tuple[int, int]] = Counter()
    ending: dict[tuple[int, int], set[int]] = defaultdict(set)
    for i in members:
        last = int(original.offsets[i + 1]) - 1
        while until is not None and last >= original.offsets[i] and original.t[last] > until[i]:
            last -= 1
        if last < original.offsets[i]:
            return "destinations", "It is not known where a trajectory ended."
        cell = floor(original.x[last] / claim.destination_cell), floor(original.y[last] / claim.destination_cell)
        trips[cell] += 1
        ending[cell].add(people[i])
    behind = len({people[i] for i in members})
    for counted, whole, what in (
        (max(len(some) for some in ending.values()), behind, "people"),
        (max(trips.values()), len(members), "trajectories"),
    ):
        if exceeds(counted, whole, claim.end_share):
            limit = share_text(claim.end_share)
            end, then = ("end", "") if until is None else ("are", " when the last box is over")
            return (
                "destinations",
                f"Of {whole:,} {what} that look alike, {counted:,} {end} in one square{then}: more than {limit}.",
            )
    return None


def wishes_not_judged(claim: MembersClaim, original: Any) -> tuple[str, ...]:
    """Return what of the wishes cannot be said without the original."""
    if original is not None:
        return ()
    parts: tuple[str, ...] = ()
    if claim.asks_for_k:
        parts += (
            "numbers that people asked for: they are not published, so that only whoever has the original can say "
            "whether they are kept",
        )
    if claim.limits_ends:
        parts += ("destinations: without the original it is not known where trips end",)
    return parts
