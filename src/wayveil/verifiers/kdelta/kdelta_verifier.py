"""Is it (k,delta)-anonymous?  Judged from the definition alone; the sets that move together are found here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from wayveil.model.claims import KDelta
from wayveil.model.claims.counting import number_text, percent, share_text
from wayveil.model.data.points import Points
from wayveil.model.results import Verdict
from wayveil.verifiers.common.member_wishes import BrokenWish, find_broken_wish, wishes_not_judged
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget
from wayveil.verifiers.common.whole_trajectories import columns_of, counted, people_of, refusal, same, tolerance_m
from wayveil.verifiers.kdelta.kdelta_sets import Failure, Shapes, Tally, judge, too_few_at_these_times
from wayveil.verifiers.kdelta.pairs_within_delta import MOST_PAIRWISE

__all__ = ["DISTANCE_LIMIT", "PLACED_BY_CHANCE", "STEP_LIMIT", "check_kdelta"]

PLACED_BY_CHANCE = (
    "how members were placed: it is known that they run along one curve, not that chance drew their offsets"
)
"""What no published file shows; only who repeats the draws from the secret of the run sees it."""

DISTANCE_LIMIT = 30_000_000_000
"""What needs more distances (between two trajectories, at one time) than this does not hold; some minutes."""

STEP_LIMIT = 20_000_000
"""What needs more steps than this in the search for sets does not hold; about a minute."""


def check_kdelta(published: Points, claim: KDelta, *, original: Points | None = None) -> Verdict:
    """Judge whether every published trajectory moves together with those of enough people.

    Every published trajectory must belong to a set of published trajectories such that

    1. at least k distinct people own them,
    2. all have the same timestamps, and
    3. any two of the set are at most delta metres apart at each of these.

    And nobody dominates: take any trajectories of one person, and all those of others that have the same timestamps as
    one of them and are at most delta metres from it at each.  Of all these that person owns at most the share
    `claim.owner_share`.  With delta = 0 that is the share of one person in the trajectories that are the same.

    With delta > 0 and members that were placed at random, only trajectories that run along one curve, each at a
    constant offset, make a set and are companions: any other curve would tell its person apart.  That chance drew the
    offsets is not judged.

    Parameters
    ----------
    published : Points
        The published data.  With ``owners="given"`` distinct owner codes are counted, otherwise every trajectory is
        a person; with ``"hidden"`` the verdict says that the owners could not be counted.  Trajectories without rows
        are not published.
    claim : KDelta
        What to judge.
    original : Points, optional
        The true data: trajectory i is that of published trajectory i.  It is needed only where members were promised
        more than k (`find_broken_wish`); without it, the verdict says that this was not judged.

    Returns
    -------
    Verdict
        `measured` has `min_support`, the number of people in the smallest set that was certified, or, if a trajectory
        fails, in the largest one around it; `certified` and `sets`, the trajectories and sets certified;
        `max_distance_m`, which no two trajectories of a certified set exceed at any time; `max_owner_share`, the
        largest share of one person with delta = 0, and otherwise that of a person who dominates; and `tolerance_m`.
        `witness` is a trajectory that belongs to no such set, by its first and last point as published, with `people`,
        the number of people it has within reach, itself included; or one of somebody who dominates, with `own` and
        `others`, the trajectories of that person and those of others within reach of them.

    Notes
    -----
    Distances are compared with delta + `tolerance_m`: a billionth of the largest coordinate, at least 0.15 millimetres
    where the file has degrees, never more than a millimetre.  With delta = 0 only equal positions are together.
    Degrees are judged in metres of the frame; one that understates distances is stretched until it does not.

    The sets are found here, exactly: nearest companions are tried first, then all sets by branch and bound.  What is
    not decided after `DISTANCE_LIMIT` distances and `STEP_LIMIT` steps, or has more than `MOST_PAIRWISE` companions
    among which no set is met at once, does not hold, and `reason` says that it cannot be certified.

    That nobody dominates is judged by Hall's theorem: if p of q may be one person's, it is the same as to say that each
    trajectory of a person can be given (q - p) / p trajectories of others within its reach, none of them given twice.
    Somebody with a single trajectory at some timestamps has enough of them if k do.

    Equal trajectories are judged once.  For n different ones of T points, of which m come within reach of one, time is
    about O(n (log n + m T)) where sets are found at once.  Memory is a small multiple of the data.

    References
    ----------
    Abul, Bonchi, Nanni: Never Walk Alone: uncertainty for anonymity in moving objects databases.  ICDE 2008.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0.0, 0.0), (9, 50.0, 0.0)], [(0, 0.0, 3.0), (9, 50.0, -4.0)]])
    >>> check_kdelta(data, KDelta(k=2, delta=5)).measured["max_distance_m"]
    4.0
    >>> verdict = check_kdelta(data, KDelta(k=2, delta=3))
    >>> verdict.holds, verdict.witness["people"], verdict.witness["points"]
    (False, 1, 2)
    """
    tally = Tally()
    why_not = refusal(published)
    if why_not:
        return _verdict(published, claim, tally, original, reason=why_not)
    shapes = Shapes.of(published)
    if claim.delta > 0:
        tally.tolerance = tolerance_m(published)
    # From cheap to dear: too few with the same timestamps settle the case without a single distance.
    failure = too_few_at_these_times(shapes, claim.k)
    # Where positions were drawn at random around a curve, the curve itself must be shared by k people.
    if claim.delta > 0 and claim.placement == "random" and failure is None:
        shapes = shapes.by_curve(published, tally.tolerance)
        failure = too_few_at_these_times(shapes, claim.k, "curve")
    try:
        failure = failure or judge(published, claim, shapes, tally, *_work())
    except BudgetExceeded:
        cannot = (
            f"Whether every trajectory moves together with enough others cannot be certified within the limits of "
            f"{DISTANCE_LIMIT:,} distances, {STEP_LIMIT:,} steps and {MOST_PAIRWISE:,} companions, so the claim is not "
            f"shown to hold."
        )
        return _verdict(published, claim, tally, original, reason=cannot)
    wish = None if failure else _find_wish(published, claim, original)
    return _verdict(published, claim, tally, original, failure=failure, shapes=shapes, wish=wish)


def _find_wish(data: Points, claim: KDelta, original: Points | None) -> BrokenWish | None:
    """Return a wish of a member that is not kept; wishes go with delta = 0, where a set is all that are the same."""
    if not claim.has_wishes:
        return None
    nonempty = np.flatnonzero(data.offsets[:-1] < data.offsets[1:])
    group = np.full(len(data), -1)
    # With delta = 0 a set is all trajectories that are the same to the last bit.
    group[nonempty] = same(data.offsets, columns_of(data), nonempty)[0]
    return find_broken_wish(group, people_of(data), claim, original)


def _work() -> tuple[StepBudget, StepBudget]:
    return StepBudget(DISTANCE_LIMIT, cost=5), StepBudget(STEP_LIMIT, cost=4_000)


def _verdict(
    data: Points,
    claim: KDelta,
    tally: Tally,
    original: Points | None,
    *,
    reason: str = "",
    failure: Failure | None = None,
    shapes: Shapes | None = None,
    wish: BrokenWish | None = None,
) -> Verdict:
    """Say what was found; a `reason` given beforehand says why nothing is certain."""
    support = tally.smallest
    if failure or reason:  # what members asked for comes last, when all sets are known
        # What was measured up to a failure is no minimum over all, so only the failure's own number is told.
        support = None if failure is None else failure.together if failure.breaks == "set" else failure.people
        support = tally.smallest if failure and failure.breaks == "share" else support
    measured: dict[str, int | float | str | None] = {
        "min_support": support,
        "certified": tally.certified,
        "sets": tally.sets,
        "max_distance_m": float(np.sqrt(tally.farthest)) if tally.sets else None,
        "max_owner_share": None if tally.share is None else float(tally.share),
        "tolerance_m": tally.tolerance,
        "trajectories": int((data.offsets[:-1] < data.offsets[1:]).sum()),
        "points": len(data.t),
    }
    witness = None
    if failure and shapes:
        witness = _witness(data, int(shapes.trajectory[failure.shape]), failure)
    if wish is not None:
        witness = {"breaks": wish.breaks}
        reason = wish.sentence
    return Verdict(
        holds=not (failure or reason) and 0 < tally.certified == measured["trajectories"],
        claim=claim,
        counted=counted(data),
        measured=measured,
        witness=witness,
        reason=reason or _reason(data, claim, tally, failure),
        not_judged=(*_not_judged(data, claim), *wishes_not_judged(claim, original)),
    )


def _witness(data: Points, trajectory: int, failure: Failure) -> dict[str, Any]:
    """Return the trajectory as published, by its ends."""
    ends = np.array([data.offsets[trajectory], data.offsets[trajectory + 1] - 1])
    x, y = data.frame.to_file(data.x[ends], data.y[ends])
    start, end = zip(data.t[ends].tolist(), x.tolist(), y.tolist(), strict=True)
    witness: dict[str, Any] = {
        "start": list(start),
        "end": list(end),
        "points": int(ends[1] - ends[0] + 1),
        "people": failure.people,
        "together": failure.together,
        "breaks": failure.breaks,
    }
    return witness | ({"own": failure.own, "others": failure.others} if failure.breaks == "share" else {})


def _reason(data: Points, claim: KDelta, tally: Tally, failure: Failure | None) -> str:
    """One sentence with counts and the parameters, without anything that was published."""
    one, many = ("person", "people") if data.owners == "given" else ("trajectory", "trajectories")
    if failure is None:
        how = "all the same" if claim.delta == 0 else f"at most {number_text(claim.delta)} m apart at all times"
        how += " and run along one curve" if claim.delta > 0 and claim.placement == "random" else ""
        shared = f", and nobody owns more than {share_text(claim.owner_share)} of what looks alike"
        return (
            f"Each of the {tally.certified:,} trajectories is in a set of {tally.smallest} {many} or more "
            f"(k = {claim.k}) that are {how}{shared if data.owners == 'given' and claim.owner_share < 1 else ''}."
        )
    if failure.breaks == "share":
        trajectories = "1 trajectory" if failure.own == 1 else f"{failure.own:,} trajectories"
        where = "in the same places" if claim.delta == 0 else f"within {number_text(claim.delta)} m"
        share = percent(Fraction(failure.own, failure.own + failure.others))
        return (
            f"For {trajectories} of one {one} there are only {failure.others:,} of others {where} at all times, so "
            f"{share} of them are of the same {one}, more than {share_text(claim.owner_share)}."
        )
    crowd = f"{failure.people} {one if failure.people == 1 else many}"
    if failure.breaks == "timestamps":
        return f"A trajectory has timestamps that only {crowd} share, itself included, fewer than k = {claim.k}."
    if failure.breaks == "curve":
        return f"A trajectory runs along a curve that only {crowd} share, itself included, fewer than k = {claim.k}."
    if failure.breaks == "companions":
        where = "in the same places" if claim.delta == 0 else f"within {number_text(claim.delta)} m"
        return f"A trajectory has only {crowd} {where} at all times, itself included, fewer than k = {claim.k}."
    most = "" if failure.together is None else f" (the largest such set has {failure.together})"
    return (
        f"A trajectory has {crowd} within {number_text(claim.delta)} m at all times, itself included, but no set of "
        f"k = {claim.k} of them that are so close to each other{most}."
    )


def _not_judged(data: Points, claim: KDelta) -> tuple[str, ...]:
    parts = []
    if data.owners == "hidden":
        parts.append(
            f"support by owner: the owners are withheld, so it is known how many trajectories move together, not "
            f"whether they belong to {claim.k} different people of whom nobody owns more than "
            f"{share_text(claim.owner_share)} of them"
        )
    if claim.delta > 0 and claim.placement == "random":
        parts.append(PLACED_BY_CHANCE)
    return tuple(parts)
