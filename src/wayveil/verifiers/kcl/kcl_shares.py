"""(K,C)_L-privacy of a table that nobody holds as a whole: a judge has the sequences that begin in a span of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from wayveil.errors import UsageError
from wayveil.model.claims import KclPrivacy
from wayveil.model.data.coded import Owners
from wayveil.model.data.ragged import BoolArray, trajectory_of_row
from wayveil.model.data.visits import Visits
from wayveil.model.results import Verdict
from wayveil.verifiers.kcl.kcl_table import Table, refusal
from wayveil.verifiers.kcl.kcl_verdict import Break, Extremes, Scope, refused, verdict_of_listed
from wayveil.verifiers.kcl.kcl_verifier import judge_listed

__all__ = ["KclShare", "cut_share", "join_shares", "judge_share"]


@dataclass(frozen=True, kw_only=True)
class KclShare:
    """What one judge found; as large as the claim, however large the data.

    Parameters
    ----------
    claim, owners
        What was judged, and where the owners came from.
    first, until : int
        The sequences judged are those whose first visit has ``first <= t < until``,
    places : (int, int)
        and is at a place of this group, counted from 0, of so many: see `judge_share`.
    visits, trajectories : int
        Visits like this, and trajectories that have one.
    pairs : int
        Pairs of such a visit and a later one of the same trajectory.
    by_length : mapping of int to Extremes
        What was measured over the sequences of each length, up to that of `worst`; each length in full.
    worst : Break or None
        The sequence that breaks the claim most, by names.
    refusal : str
        Why nothing could be judged; empty if it could.
    """

    claim: KclPrivacy
    owners: Owners
    first: int
    until: int
    places: tuple[int, int] = (0, 1)
    visits: int = 0
    trajectories: int = 0
    pairs: int = 0
    by_length: dict[int, Extremes] = field(default_factory=dict)
    worst: Break | None = None
    refusal: str = ""


def judge_share(
    published: Visits, claim: KclPrivacy, *, first: int, until: int, places: tuple[int, int] = (0, 1)
) -> KclShare:
    """Judge the sequences of at most `claim.l` visits whose first visit has ``first <= t < until``.

    Parameters
    ----------
    published : Visits
        Of every published trajectory that has such a visit, this one and all later ones, and nothing else, as
        `cut_share` returns it.  The same person must have the same owner code everywhere.
    claim : KclPrivacy
        What to judge; `l` must be a number.
    first, until : int
        The span of time.
    places : (int, int)
        ``(i, n)`` puts places into n groups, by a hash of their names, and leaves only sequences whose first visit is
        at a place of group i, counted from 0.  For data in which most trajectories have visits in every span.

    Returns
    -------
    KclShare
        For `join_shares`.  A share without visits is one in which nothing begins, and is no refusal.

    Notes
    -----
    Time increases inside a trajectory, so whatever contains a sequence has its first visit, and is here with that and
    all later ones.  So the people behind a sequence are counted in full.

    Time is that of `check_kcl` for these sequences, memory O(l * max(CHUNK_ROWS, visits here)).

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 3)], [("a", 1), ("b", 3)], [("b", 3)]])
    >>> claim = KclPrivacy(k=2, c=1, l=2)
    >>> early = judge_share(cut_share(data, first=0, until=2), claim, first=0, until=2)
    >>> late = judge_share(cut_share(data, first=2, until=9), claim, first=2, until=9)
    >>> sorted(early.by_length), sorted(late.by_length)
    ([1, 2], [1])
    >>> verdict = join_shares([early, late], claim, owners="declared", trajectories=3, visits=5, pairs=2)
    >>> verdict.holds, verdict.measured["min_support"], verdict.measured["sequences"]
    (True, 2, 3)
    """
    longest = _longest(claim)
    _check_span(first, until, places)
    share = KclShare(claim=claim, owners=published.owners, first=first, until=until, places=places)
    if not len(published.t) and published.owners in ("given", "declared", "hidden"):
        return share
    reason = refusal(published, claim) or _misfit(published, share)
    if reason:
        return replace(share, refusal=reason)
    table = Table.of(published, claim)
    when, where = np.divmod(table.doublets, len(table.names))
    # Nothing is earlier than the span, because no trajectory begins before it.
    begins = (table.times[when] < until) & _in_group(table.names, places)[where]
    # Sequences are judged where they begin: each begins in exactly one share.
    begin = np.flatnonzero(begins[table.item])
    worst, by_length = judge_listed(table, claim, longest, begin=begin)
    return replace(
        share,
        visits=len(begin),
        trajectories=Scope.of(published).trajectories,
        pairs=int((table.end[begin] - begin - 1).sum()),
        by_length=by_length,
        worst=worst,
    )


def join_shares(
    shares: Sequence[KclShare],
    claim: KclPrivacy,
    *,
    owners: Owners,
    trajectories: int,
    visits: int,
    pairs: int,
) -> Verdict:
    """Return the verdict on the whole table, the same in all fields that `check_kcl` gives.

    Parameters
    ----------
    shares : sequence of KclShare
        What the judges found, in any order.  Their spans must follow one another without a gap, and for each span
        there must be all groups of places.
    claim : KclPrivacy
        What was judged; `l` must be a number.
    owners : Owners
        Where the owners of the table come from.
    trajectories, visits : int
        How many trajectories with a visit, and visits, the table has, counted elsewhere.  If the shares do not add up
        to these, some visits were judged by nobody or twice, and the claim does not hold.
    pairs : int
        Pairs of visits of the same trajectory, n (n - 1) / 2 for one of n visits, counted elsewhere.  If the shares add
        up to these, no share lacked a later visit of a trajectory.

    Notes
    -----
    Every sequence begins in one span and one group of places, so it is in one share.  If the claim is broken, the
    witness is the first of the witnesses of all shares in the order of `check_kcl`, and nothing longer is counted.  No
    share has a shorter witness, so each has judged all its sequences up to this length.

    Data of more visits than `check_kcl` takes at once can be judged in shares.

    Examples
    --------
    >>> claim = KclPrivacy(k=2, c=1, l=2)
    >>> half = KclShare(claim=claim, owners="declared", first=0, until=5)
    >>> join_shares([half], claim, owners="declared", trajectories=1, visits=1, pairs=0).holds
    False
    """
    _longest(claim)
    scope = Scope(owners=owners, trajectories=trajectories, visits=visits)
    # In the order of time, so that gaps and overlaps show between neighbours.
    ordered = sorted(shares, key=lambda share: (share.first, share.until, share.places))
    reason = next((share.refusal for share in ordered if share.refusal), "") or _gap(ordered, claim, scope, pairs)
    if reason:
        return refused(scope, claim, reason)
    worst = min((share.worst for share in ordered if share.worst is not None), default=None)
    by_length: dict[int, Extremes] = {}
    for share in ordered:
        for length, extremes in share.by_length.items():
            by_length[length] = _both(by_length[length], extremes) if length in by_length else extremes
    return verdict_of_listed(scope, claim, worst, by_length)


def cut_share(published: Visits, *, first: int, until: int, places: tuple[int, int] = (0, 1)) -> Visits:
    """Return what `judge_share` needs of these trajectories; pieces of a table can be cut one by one, and put together.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 3), ("c", 5)], [("a", 1), ("c", 5)], [("b", 3)]])
    >>> share = cut_share(data, first=2, until=4)
    >>> [share.record(i) for i in range(len(share))]
    [[('b', 3), ('c', 5)], [('b', 3)]]
    """
    _check_span(first, until, places)
    begins = (published.t >= first) & (published.t < until)
    if places[1] > 1:
        begins &= _in_group(published.locations, places)[published.location]
    rows = np.flatnonzero(begins)
    # From the first visit in the span on, everything of the trajectory: a sequence may end long after it.
    trajectory = trajectory_of_row(published.offsets)
    some, at = np.unique(trajectory[rows], return_index=True)
    start = np.full(len(published), len(begins))
    start[some] = rows[at]
    return published.where(np.arange(len(begins)) >= start[trajectory]).take(some)


def _check_span(first: int, until: int, places: tuple[int, int]) -> None:
    if not first < until:
        raise UsageError(f"KCL: a share must end after it begins, got first = {first} and until = {until}.")
    if not 0 <= places[0] < places[1]:
        raise UsageError(f"KCL: places must be (i, n) with 0 <= i < n, got {places}.")


def _in_group(names: Sequence[str], places: tuple[int, int]) -> BoolArray:
    """Tell which places are in the group; the same on every machine."""
    which, many = places
    # By a hash of the name: which group a place is in must not depend on the machine or on codes.
    keys = (blake2b(str(name).encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names)
    return np.array([int.from_bytes(key, "little") % many == which for key in keys], bool)


def _longest(claim: KclPrivacy) -> int:
    if isinstance(claim.l, str):
        raise UsageError(
            "KCL: sequences of any length cannot be judged in shares; with l = 'all' the whole table is needed at once."
        )
    return claim.l


def _misfit(data: Visits, share: KclShare) -> str:
    """Why the data cannot be those of the share, or nothing; `refusal` has nothing against them."""
    begin = data.offsets[:-1][data.offsets[:-1] < data.offsets[1:]]
    if (data.t[begin] < share.first).any():
        return "A share has visits from before its time, so its sequences are not those that it is to judge."
    here = (data.t[begin] < share.until) & _in_group(data.locations, share.places)[data.location[begin]]
    if not here.all():
        return "A share has trajectories that do not begin with a visit of its own, so it is not the one to be judged."
    return ""


def _gap(shares: Sequence[KclShare], claim: KclPrivacy, scope: Scope, pairs: int) -> str:
    """Why the shares are not the whole table, or nothing; sorted by time."""
    if any(share.claim != claim or share.owners != scope.owners for share in shares):
        return "The shares were judged by another claim or with other owners, so they cannot be joined."
    groups: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for share in shares:
        groups.setdefault((share.first, share.until), []).append(share.places)
    whole = all(listed == [(i, len(listed)) for i in range(len(listed))] for listed in groups.values())
    if not whole or any(one[1] != two[0] for one, two in pairwise(groups)):
        return "The shares overlap or leave a gap, so some sequences were judged twice or not at all."
    # Four sums that only the whole table has; a share that lost rows, or was judged twice, changes one of them.
    if sum(share.visits for share in shares) != scope.visits:
        return "The shares do not add up to the visits of the table, so some were judged twice or not at all."
    if not scope.visits:
        return "There is no visit, so there is nothing to judge."
    if any(share.visits and not share.by_length for share in shares):
        return "A share has visits but no sequences, so it was not judged."
    counts = [share.trajectories for share in shares]
    if not max(counts) <= scope.trajectories <= sum(counts):
        return "The shares do not fit the trajectories of the table, so some were judged by nobody."
    if sum(share.pairs for share in shares) != pairs:
        return "A share lacks visits of its trajectories, so some sequences were not judged."
    return ""


def _both(one: Extremes, two: Extremes) -> Extremes:
    supports = [extremes.support for extremes in (one, two) if extremes.support is not None]
    return Extremes(
        sequences=one.sequences + two.sequences,
        support=min(supports, default=None),
        shares={kind: max(share, two.shares[kind]) for kind, share in one.shares.items()},
    )
