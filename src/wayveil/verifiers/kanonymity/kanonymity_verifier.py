"""Is it k-anonymous?  Judged from the definition alone: equal sequences, enough people, true boxes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import KAnonymity
from wayveil.model.claims.counting import exceeds, share_text
from wayveil.model.data.boxes import Boxes
from wayveil.model.data.points import Points
from wayveil.model.data.ragged import BoolArray, IntArray, trajectory_of_row
from wayveil.model.results import Verdict
from wayveil.verifiers.common.containment import Containment, beyond, contain, mismatch
from wayveil.verifiers.common.member_wishes import BrokenWish, find_broken_wish, wishes_not_judged
from wayveil.verifiers.common.whole_trajectories import columns_of, counted, people_of, refusal, same

__all__ = ["check_kanonymity"]

_WHERE = {
    "outside": "does not contain where the person was in its time",
    "again": "contains no later position of the person than the box before it",
    "nowhere": "is of a time at which the person was nowhere",
}


def check_kanonymity(
    published: Boxes | Points,
    claim: KAnonymity,
    *,
    original: Points | None = None,
    boxes: Boxes | None = None,
) -> Verdict:
    """Judge whether every published sequence of boxes, or of points, is that of enough people, and whether it is true.

    1. Every published trajectory is, row by row and in every column, exactly the same as those of at least k distinct
       people, its own included; and nobody owns more than `claim.owner_share` of those that are the same.
    2. Every published box contains a true position of its trajectory in its time, a later one for each box, as
       `contain` says.
    3. Where points are published beside the boxes that they were drawn from, the boxes are judged so, and every point
       is in its box, in space and in time.
    4. Whatever members were promised beyond k, as `find_broken_wish` says; with the original only.

    Parameters
    ----------
    published : Boxes or Points
        The published data.  With ``owners="given"`` distinct owner codes are counted, otherwise every trajectory is
        a person; with ``"hidden"`` the verdict says that the owners could not be counted.  Trajectories without rows
        are not published.
    claim : KAnonymity
        What to judge.
    original : Points, optional
        The true data: trajectory i is that of published trajectory i.  Without it, and for points without boxes,
        which contain nothing, the verdict says that the second part was not judged.
    boxes : Boxes, optional
        For points: one box per point, in the same trajectories and order.  Whose they are is what the points say.

    Returns
    -------
    Verdict
        `measured` has `min_support`, the number of people behind the rarest sequence; `max_owner_share`, the largest
        share of the trajectories with one sequence that belongs to one person; `groups`, the number of different
        sequences; and, where the boxes were compared with the original, `boxes_untrue`.
        For points beside boxes these are of the boxes, and `points_outside` counts points that are not in theirs.
        `witness` is the rarest sequence, by its first and last row as published, or else the one of which somebody owns
        the largest share, or else the first untrue box of the first trajectory in the order of sequences, or else such
        a point with its box; never a true position.

    Notes
    -----
    There is no tolerance between sequences: a box that is moved by the smallest number is another box, and a sequence
    that goes on after another one ended is another sequence.  Time is O(rows), and that of `contain`; memory is a
    small multiple of the data.

    References
    ----------
    Nergiz, Atzori, Saygin, Guc: Towards trajectory anonymization: a generalization-based approach.  Transactions on
    Data Privacy 2 (2009).

    Examples
    --------
    >>> boxes = Boxes.from_records([[(0, 0, 0.0, 2.0, 0.0, 1.0)]] * 2)
    >>> check_kanonymity(boxes, KAnonymity(k=2)).holds
    True
    >>> truth = Points.from_records([[(0, 1.0, 0.5)], [(0, 3.0, 0.5)]])
    >>> check_kanonymity(boxes, KAnonymity(k=2), original=truth).witness["breaks"]
    'truth'
    """
    why_not = refusal(published)
    judged = published
    if not why_not and boxes is not None:
        why_not = _misfit(published, boxes)
        if not why_not:
            judged = replace(boxes, owner=published.owner, owners=published.owners)
    # With points that were drawn from boxes, the boxes are what people share, so these are judged, with the owners of
    # the points; that the points lie inside is checked on top.
    judged_boxes = judged.as_boxes()
    if not why_not and judged_boxes is not None and original is not None:
        why_not = mismatch(judged_boxes, original)
    drawn = None if boxes is None else published.as_points()
    if why_not:
        return _verdict(judged, claim, original, None, drawn=drawn, reason=why_not)
    return _verdict(judged, claim, original, _Groups.of(judged), drawn=drawn)


def _misfit(published: Boxes | Points, boxes: Boxes) -> str | None:
    """Why these cannot be the boxes of the published points, or None."""
    if published.as_boxes() is not None:
        return "Boxes are given beside boxes, so it is not known which of them to judge."
    if not np.array_equal(boxes.offsets, published.offsets):
        return "The boxes are not one for each published point, so the points cannot be judged by them."
    why_not = refusal(boxes)
    if why_not:
        return why_not
    same_one = np.diff(trajectory_of_row(boxes.offsets)) == 0
    if any(((t[1:] < t[:-1]) & same_one).any() for t in (boxes.t_min, boxes.t_max)):
        return "The boxes of a trajectory are not in the order of time, so they are no sequence."
    given = published.owners == boxes.owners == "given"
    if given and not np.array_equal(published.owner, boxes.owner):
        return "The boxes have other owners than the points, so the points cannot be judged by them."
    if boxes.frame != published.frame or boxes.time_format != published.time_format:
        return "The boxes have another frame of coordinates or format of times than the points, so nothing is judged."
    return None


@dataclass(frozen=True, kw_only=True, eq=False)
class _Groups:
    """The different sequences, in an order that does not depend on that of the trajectories.

    One trajectory that has each, the people and the trajectories that have it, and the most that belong to one person;
    and the sequence of every trajectory, -1 where nothing is published.
    """

    first: IntArray
    people: IntArray
    size: IntArray
    most: IntArray
    code: IntArray

    @property
    def largest(self) -> int:
        """The first of the sequences of which one person owns the largest share; shares are compared exactly."""
        shares = [Fraction(most, size) for most, size in zip(self.most.tolist(), self.size.tolist(), strict=True)]
        return shares.index(max(shares))

    @classmethod
    def of(cls, data: Boxes | Points) -> _Groups:
        nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
        spend(5_000 * len(nonempty))
        # Equal means equal in every published number. A hash would be faster, but two sequences with one hash would
        # make a group look larger than it is, and the verdict better.
        code, first = same(data.offsets, columns_of(data), nonempty)
        pairs, many = np.unique(np.stack([code, people_of(data)[nonempty]], axis=1), axis=0, return_counts=True)
        most = np.zeros(len(first), np.int64)
        # The most trajectories that one person has of each sequence: k people are not enough where one of them has
        # nearly all.
        np.maximum.at(most, pairs[:, 0], many)
        everywhere = np.full(len(data), -1)
        everywhere[nonempty] = code
        return cls(
            first=first,
            people=np.bincount(pairs[:, 0], minlength=len(first)),
            size=np.bincount(code, minlength=len(first)),
            most=most,
            code=everywhere,
        )


def _verdict(
    data: Boxes | Points,
    claim: KAnonymity,
    original: Points | None,
    groups: _Groups | None,
    *,
    drawn: Points | None,
    reason: str = "",
) -> Verdict:
    """Say what was found; a `reason` given beforehand says why nothing is certain."""
    truth = None
    rarest = None
    outside = None
    witness = None
    wish: BrokenWish | None = None
    share: float | None = None
    boxes = data.as_boxes()
    if groups is not None:
        rarest = int(groups.people.min())
        largest = groups.largest
        most = int(groups.most[largest])
        size = int(groups.size[largest])
        share = most / size
        if boxes is not None:
            truth = None if original is None else contain(boxes, original)
            outside = None if drawn is None else beyond(boxes, drawn)
        # In the order of how much they tell: too few people, then one who dominates, then boxes around where somebody
        # never was, then points outside of their boxes. One witness is shown, the first of the worst kind.
        if rarest < claim.k:
            witness = _sequence(data, int(groups.first[groups.people.argmin()]), rarest) | {"breaks": "support"}
        elif exceeds(most, size, claim.owner_share):
            witness = _sequence(data, int(groups.first[largest]), int(groups.people[largest]))
            witness |= {"own": most, "others": size - most, "breaks": "share"}
        elif (wish := find_broken_wish(groups.code, people_of(data), claim, original, _last_times(boxes))) is not None:
            first = int(groups.first[wish.group])
            witness = _sequence(data, first, int(groups.people[wish.group])) | {"breaks": wish.breaks}
        elif boxes is not None and truth is not None and truth.wrong.any():
            witness = _untrue(boxes, groups, truth)
        elif boxes is not None and drawn is not None and outside is not None and outside.any():
            witness = _out_of_box(boxes, drawn, outside)
    measured: dict[str, int | float | str | None] = {
        "min_support": rarest,
        "max_owner_share": share,
        "groups": 0 if groups is None else len(groups.first),
        "boxes_untrue": None if truth is None else int(truth.wrong.sum()),
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        data.row_word: int(data.offsets[-1]),
    }
    if drawn is not None:
        measured["points_outside"] = None if outside is None else int(outside.sum())
    return Verdict(
        holds=witness is None and not reason,
        claim=claim,
        counted=counted(data),
        measured=measured,
        witness=witness,
        reason=reason or (wish.sentence if wish else _reason(data, claim, measured, truth, witness)),
        not_judged=_not_judged(data, claim, original, drawn),
    )


def _last_times(boxes: Boxes | None) -> IntArray | None:
    """Return for each trajectory the time at which its last box ends; None for points, which end where trips do."""
    if boxes is None:
        return None
    last = np.full(len(boxes), -1)
    nonempty = np.flatnonzero(boxes.offsets[:-1] < boxes.offsets[1:])
    last[nonempty] = boxes.t_max[boxes.offsets[nonempty + 1] - 1]
    return last


def _sequence(data: Boxes | Points, trajectory: int, people: int) -> dict[str, Any]:
    """Return a sequence and the people who have it, as published, by its ends."""
    first = int(data.offsets[trajectory])
    last = int(data.offsets[trajectory + 1]) - 1
    return {"start": data.file_row(first), "end": data.file_row(last), "rows": last - first + 1, "people": people}


def _untrue(data: Boxes, groups: _Groups, truth: Containment) -> dict[str, Any]:
    """Return a box that is not true: the earliest of the first sequence that has one."""
    wrong = np.flatnonzero(truth.wrong)
    trajectory = np.searchsorted(data.offsets, wrong, side="right") - 1
    # By position in the sequence and code of the sequence, not by row: the same publication in another order of rows
    # gives the same witness.
    place = wrong - data.offsets[trajectory]
    kind = truth.nowhere[wrong] * 2 + truth.again[wrong]
    box = int(wrong[np.lexsort((kind, place, groups.code[trajectory]))[0]])
    person = "nowhere" if truth.nowhere[box] else "again" if truth.again[box] else "outside"
    return {"box": data.file_row(box), "person": person, "breaks": "truth"}


def _out_of_box(data: Boxes, drawn: Points, outside: BoolArray) -> dict[str, Any]:
    """Return the first point, in the order of published numbers, that is not in its box, and the box."""
    wrong = np.flatnonzero(outside)
    row = int(wrong[np.lexsort((drawn.y[wrong], drawn.x[wrong], drawn.t[wrong]))[0]])
    return {"point": drawn.file_row(row), "box": data.file_row(row), "breaks": "points"}


def _reason(
    data: Boxes | Points,
    claim: KAnonymity,
    measured: dict[str, Any],
    truth: Containment | None,
    witness: dict[str, Any] | None,
) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if data.owners == "given" else ("trajectory", "trajectories")
    rows = data.row_word
    least = measured["min_support"]
    if witness and witness["breaks"] == "support":
        return f"A sequence of {rows} is that of only {least} {one if least == 1 else many}, fewer than k = {claim.k}."
    if witness and witness["breaks"] == "share":
        own = witness["own"]
        size = witness["own"] + witness["others"]
        return (
            f"Of {size:,} trajectories with the same sequence of {rows}, {own:,} belong to one {one}, more than "
            f"{share_text(claim.owner_share)}."
        )
    if witness and witness["breaks"] == "truth":
        wrong = measured["boxes_untrue"]
        boxes = "1 box is" if wrong == 1 else f"{wrong:,} boxes are"
        return f"A box {_WHERE[witness['person']]}; of {measured['boxes']:,}, {boxes} not true."
    if witness:
        wrong = measured["points_outside"]
        points = "1 is" if wrong == 1 else f"{wrong:,} are"
        return f"A point is not in the box that is published with it; of {measured['boxes']:,} points, {points} not."
    groups = measured["groups"]
    each = f"The only sequence of {rows} is" if groups == 1 else f"Each of the {groups:,} sequences of {rows} is"
    text = f"{each} that of {least} {many} or more (k = {claim.k})"
    if data.owners == "given" and claim.owner_share < 1:
        text += f", of whom nobody owns more than {share_text(claim.owner_share)} of the trajectories"
    if truth is not None:
        text += f", and all {measured['boxes']:,} boxes contain where they were"
    if truth is not None and claim.has_wishes:
        text += ", and what members were promised beyond that is kept"
    return text + ("; every point is in its box." if "points_outside" in measured else ".")


def _not_judged(
    data: Boxes | Points, claim: KAnonymity, original: Points | None, drawn: Points | None
) -> tuple[str, ...]:
    parts = []
    if data.owners == "hidden":
        parts.append(
            f"support by owner: the owners are withheld, so it is known how many trajectories are the same, not "
            f"whether they belong to {claim.k} different people of whom nobody owns more than "
            f"{share_text(claim.owner_share)} of them"
        )
    if data.as_boxes() is None:
        parts.append("true positions: points were published, not boxes, so nothing says where the people really were")
    elif original is None:
        parts.append("true positions: without the original it is not known whether the boxes contain them")
    if drawn is not None:
        parts.append("how the points were drawn: it is known that they are in their boxes, not that chance placed them")
    return (*parts, *wishes_not_judged(claim, original))
