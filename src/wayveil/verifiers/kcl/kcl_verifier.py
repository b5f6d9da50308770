"""Is it (K,C)_L-private?  Judged from the definition alone, exactly, for every sequence that occurs."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.claims import KclPrivacy
from wayveil.model.data.ragged import IntArray
from wayveil.model.data.visits import Visits
from wayveil.model.results import Verdict
from wayveil.verifiers.kcl.contained_sequences import Batch, SequenceWalker
from wayveil.verifiers.kcl.kcl_any_length import judge_all
from wayveil.verifiers.kcl.kcl_table import Table, refusal
from wayveil.verifiers.kcl.kcl_verdict import (
    BREAKS,
    Break,
    Extremes,
    Scope,
    name_break,
    refused,
    verdict_of_all,
    verdict_of_listed,
)

__all__ = ["CHUNK_ROWS", "check_kcl", "judge_listed"]

CHUNK_ROWS = 1_000_000
"""About so many occurrences of sequences are in memory at once; a verdict does not depend on it."""


def check_kcl(published: Visits, claim: KclPrivacy) -> Verdict:
    """Judge whether every sequence of at most `claim.l` visits fits enough people and tells little of them.

    For every non-empty sequence q of at most l (location, t) doublets that occurs in a published trajectory, or of any
    number of them if l is "all":

    1. at least k distinct people own a trajectory that contains q;
    2. none of them owns more than a share `claim.owner_share` of the trajectories that contain q;
    3. for every declared sensitive value, at most a share c of these people own a trajectory that contains q and
       carries it, and at most a share c of the trajectories that contain q carry it.

    Parameters
    ----------
    published : Visits
        The published data.  With ``owners="given"`` distinct owner codes are counted; with ``"declared"`` every
        trajectory is a person.  With ``"hidden"`` it is not known who owns what, so a claim fails only when it is
        broken whoever owns the trajectories (see Notes).
    claim : KclPrivacy
        What to judge.

    Returns
    -------
    Verdict
        `measured` has the smallest support, and the largest share of one owner, confidence over people and confidence
        over trajectories, over all sequences judged, as numbers and as exact fractions, and counts.  If the claim
        fails, the sequences judged are those up to the length of the witness, because nothing longer is looked at; if
        nothing could be judged, the values are None.
        `witness` is a counter-example: of least length; then one that breaks the support (the smallest support
        first) before one that breaks the share of an owner, the confidence over people, or that over trajectories;
        then the first in order of (t, location).
        If l is "all", the extremes are those of all sequences, also if the claim fails; a value that is only the
        largest or smallest one met has a note beside it.  `sequences` are those whose people were counted.  The
        witness is one that no longer breaks the claim when any one of its visits is dropped, not always the shortest.

    Notes
    -----
    What is not known never helps: a missing value of a sensitive attribute counts as each of its declared values, an
    attribute that is not there or a table without visits fails the claim.

    Hidden owners: let n trajectories contain q, and n_s >= 1 of them carry s.  At most n people own these
    trajectories, so n < k breaks the support.  People who own one of the n but none of the n_s own at least one of
    the other n - n_s, so there are at most n - n_s of them; at least one person owns one of the n_s.  With a >= 1
    people of the second kind and b <= n - n_s of the first, the confidence is a / (a + b) = 1 / (1 + b / a), and
    this is at least 1 / (1 + n - n_s).  If one person owns all the n_s, and each other trajectory has an owner of its
    own, it is no more than that, so only a bound above c proves that the claim is broken.  `max_confidence` is then
    the largest such bound, and `min_support` counts trajectories.  Someone owns at least one of the n, so 1 / n is what
    `max_owner_share` is at least.  The confidence over trajectories, n_s / n, needs no owners and is judged in full.

    Time is that of one sort key per occurrence of a sequence: the sum of C(n, i), i <= l, over trajectories of n
    visits.  Memory is O(l * max(CHUNK_ROWS, visits)).

    If l is "all", sequences are not listed: see `wayveil.verifiers.kcl.kcl_any_length`.  What is not certified after
    `kcl_all.WORK_LIMIT` steps does not hold.

    References
    ----------
    Chen, Fung, Mohammed, Desai, Wang: Privacy-preserving trajectory data publishing by local suppression.
    Information Sciences 231 (2013), Definition 3.1.

    Examples
    --------
    >>> data = Visits.from_records([[("a", 1), ("b", 3)], [("a", 1), ("b", 3)], [("a", 1)]])
    >>> check_kcl(data, KclPrivacy(k=2, c=1, l=2)).measured["min_support"]
    2
    >>> verdict = check_kcl(data, KclPrivacy(k=3, c=1, l=2))
    >>> verdict.holds, verdict.witness["sequence"], verdict.witness["support"]
    (False, [['b', 3]], 2)
    """
    # Definition 3.1 of the paper, counted both ways: of every sequence of at most L visits that occurs, at least K
    # people fit, nobody owns too much of what fits, and no sensitive value belongs to more than C of it. All sequences
    # that occur are listed (`judge_listed`); with unbounded L that is impossible, and closed sets are searched instead
    # (`judge_all`).
    scope = Scope.of(published)
    why_not = refusal(published, claim)
    if why_not:
        return refused(scope, claim, why_not)
    table = Table.of(published, claim)
    if isinstance(claim.l, str):
        return verdict_of_all(scope, claim, table, judge_all(table, claim))
    return verdict_of_listed(scope, claim, *judge_listed(table, claim, claim.l))


def judge_listed(
    table: Table, claim: KclPrivacy, longest: int, *, begin: IntArray | None = None
) -> tuple[Break | None, dict[int, Extremes]]:
    """List the sequences of at most `longest` visits; return the worst break, and the extremes of each length.

    All sequences of these lengths were judged: if there is a break, nothing longer is told.  Where `begin` is given,
    these are the sequences whose first visit is one of these rows of the table, and all others are left to others.
    """
    walker = SequenceWalker(
        table.item, table.end, longest=min(longest, table.longest), chunk_rows=max(1, CHUNK_ROWS), begin=begin
    )
    tally = _Tally(
        # k above all people would never be reached: one more than all of them is enough to say so.
        k=min(claim.k, table.people + 1),
        allowed=_allowed(claim.c, table.n_trajectories),
        allowed_of_one=_allowed(claim.owner_share, table.n_trajectories),
    )
    # The walker lists all sequences of one length before those of the next, in chunks. Once a length is broken, only
    # the rest of that length matters: a shorter witness is a better one, and nothing longer is told.
    for batch in walker:
        tally.judge(batch, table)
        if tally.worst:
            walker.longest = min(walker.longest, tally.worst.length)
    by_length = tally.by_length
    worst = tally.worst
    if worst is None:
        return None, by_length
    return name_break(worst, table, claim), {n: extremes for n, extremes in by_length.items() if n <= worst.length}


@dataclass(kw_only=True)
class _Tally:
    """The counts so far, per length, and the worst break.

    Parameters
    ----------
    k : int
        Smallest support that is allowed.
    allowed : int64
        Largest number out of i, people or trajectories, that may share a sensitive value, for every i.
    allowed_of_one : int64
        Largest number out of i trajectories that one person may own, for every i.
    """

    k: int
    allowed: IntArray
    allowed_of_one: IntArray
    worst: Break | None = None
    by_length: dict[int, Extremes] = field(default_factory=dict)

    def judge(self, batch: Batch, table: Table) -> None:
        """Count the people behind every sequence of the batch, and keep the extremes and the worst break."""
        spend(len(table.carries) * (50_000 + 20 * len(batch.rows)))
        seen = self.by_length.setdefault(batch.length, Extremes())
        carrier = table.trajectory[batch.rows]
        person = None if table.person is None else table.person[carrier]
        # Each sequence of a batch is a range of rows, one per trajectory that contains it; so counting people is
        # counting runs.
        fitting = _Fitting(batch=batch, trajectories=np.diff(batch.starts), **_count_people(batch.starts, person))
        rarest = int(fitting.people.argmin())
        least = int(fitting.people[rarest])
        seen.sequences += len(batch)
        seen.support = least if seen.support is None else min(seen.support, least)
        if least < self.k:
            sequence = batch.sequence(rarest)
            self._note(Break(length=batch.length, kind=0, rank=least, sequence=sequence, value=-1, support=least))
        everything = np.arange(len(batch))
        self._judge_share(
            seen, "owner_share", fitting, everything, fitting.most_of_one, fitting.trajectories, self.allowed_of_one
        )

        # Most trajectories have no sensitive value. Those that have one are looked at value by value, in the ranges of
        # their sequences.
        marked = np.flatnonzero(table.marked[carrier])
        group = np.repeat(everything, fitting.trajectories)[marked] if len(marked) else marked
        carrier = carrier[marked]
        person = None if person is None else person[marked]
        for value, carried in enumerate(table.carries):
            chosen = np.flatnonzero(carried[carrier])
            if not len(chosen):
                continue
            hit = group[chosen]
            # `group` ascends, so that the rows of one sequence are a run here, too; sequences in which nobody has the
            # value have none.
            starts = np.concatenate([[0], np.flatnonzero(hit[1:] != hit[:-1]) + 1, [len(hit)]])
            hit = hit[starts[:-1]]
            carrying = np.diff(starts)
            having = _count_people(starts, None if person is None else person[chosen])["people"]
            among = fitting.people[hit]
            if table.hidden:
                # All that carry the value may be one person's: no larger share of people is certain.
                among = 1 + among - having
                having = np.ones_like(having)
            self._judge_share(seen, "confidence", fitting, hit, having, among, self.allowed, value)
            self._judge_share(
                seen, "confidence_trajectories", fitting, hit, carrying, fitting.trajectories[hit], self.allowed, value
            )

    def _judge_share(
        self,
        seen: Extremes,
        kind: str,
        fitting: _Fitting,
        which: IntArray,
        part: IntArray,
        whole: IntArray,
        allowed: IntArray,
        value: int = -1,
    ) -> None:
        """Keep the largest of the shares `part` / `whole` of the sequences `which`, and the first that is too large."""
        seen.shares[kind] = _largest(part, whole, seen.shares[kind])
        broken = np.flatnonzero(part > allowed[whole])
        if len(broken):
            first = int(broken[0])
            self._note(
                Break(
                    length=fitting.batch.length,
                    kind=BREAKS.index(kind),
                    rank=0,
                    sequence=fitting.batch.sequence(int(which[first])),
                    value=value,
                    support=int(fitting.people[which[first]]),
                    share=Fraction(int(part[first]), int(whole[first])),
                )
            )

    def _note(self, candidate: Break) -> None:
        if self.worst is None or candidate < self.worst:
            self.worst = candidate


@dataclass(frozen=True, kw_only=True, eq=False)
class _Fitting:
    """Who fits each sequence of a batch: trajectories, distinct people, and trajectories of the person with most."""

    batch: Batch
    trajectories: IntArray
    people: IntArray
    most_of_one: IntArray


def _count_people(starts: IntArray, person: IntArray | None) -> dict[str, IntArray]:
    """Count, in every range, the distinct people and the entries of the person who has most of them.

    Without `person` each entry is one of its own.  Equal people are adjacent inside a range, because rows ascend there
    and one person's trajectories are adjacent.

    Examples
    --------
    >>> counts = _count_people(np.array([0, 3, 4]), np.array([7, 7, 9, 9]))
    >>> counts["people"].tolist(), counts["most_of_one"].tolist()
    ([2, 1], [2, 1])
    """
    if person is None:
        each = np.diff(starts)
        return {"people": each, "most_of_one": np.ones_like(each)}
    # A run of one person ends where the person changes or the range does.
    new = np.ones(len(person), np.int64)
    new[1:] = person[1:] != person[:-1]
    new[starts[:-1]] = 1
    people: IntArray = np.add.reduceat(new, starts[:-1])
    own = np.diff(np.flatnonzero(new), append=len(new))
    return {"people": people, "most_of_one": np.maximum.reduceat(own, np.cumsum(people) - people)}


def _largest(having: IntArray, among: IntArray, best: Fraction) -> Fraction:
    """Return the largest of `best` and all having / among, compared by cross-multiplication.

    Counts are below 2**31, so the products fit.  The float quotient only proposes where to look first.
    """
    # Before each round `best` is what was given or one of the quotients, and what is left are those that may be larger.
    # A round keeps those that are larger, exactly, and takes the one that looks largest as a float.  That one is left
    # out of the next round, so the rounds end; then nothing is larger than `best`, whatever floats said.
    while True:
        better = np.flatnonzero(having * best.denominator > among * best.numerator)
        if not len(better):
            return best
        having = having[better]
        among = among[better]
        i = int((having / among).argmax())
        best = Fraction(int(having[i]), int(among[i]))


def _allowed(c: Fraction, most: int) -> IntArray:
    """Return, for every i up to `most`, the largest m with m / i <= c, in exact arithmetic.

    Examples
    --------
    >>> _allowed(Fraction(1, 3), 6).tolist()
    [0, 0, 0, 1, 1, 1, 2]
    """
    if max(c.numerator * most, c.denominator) < 2**63:
        return np.arange(most + 1, dtype=np.int64) * c.numerator // c.denominator
    return np.array([c.numerator * i // c.denominator for i in range(most + 1)], np.int64)
