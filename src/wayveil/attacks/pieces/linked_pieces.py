"""The attacker who joins the pieces into which trips were cut, by where one ends and the next begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import mean, victims_parameter
from wayveil.attacks.positions.known_positions import Array, check_matched
from wayveil.model import Attack, AttackResult, Engine, Points, duration_units, parameter
from wayveil.model.numbers import count, probability, share

__all__ = ["LinkedPieces"]

_TIE_M = 1e-3
"""Beginnings that are so much farther away than the nearest are as near: degrees are written to a tenth of this."""


@dataclass(frozen=True, kw_only=True)
class LinkedPieces(Attack):
    """Someone follows a published piece of a trip beyond its end, and takes the piece that begins nearest to there.

    Steps such as `window` and `split` cut trips into pieces, each of which is hidden by itself.  Who joins them again
    has a longer trajectory than what was hidden.  The attacker looks at a published piece, goes on from its last
    position at its last speed and direction, and of all pieces that begin soon after it takes the one that begins
    nearest to where this leads.  The attack succeeds if that piece is of the same person; of several that are as near,
    with the share of these that are.

    Parameters
    ----------
    max_gap : duration, or "auto"
        How long after the end of a piece the next one may begin.  `auto` is twice the median time between the pieces of
        the data, which whoever knows the width of windows and the sampling can tell.
    victims : int, >= 1
        Number of people attacked; all, where there are no more.

    Notes
    -----
    A victim is a person with two pieces, of which one begins after the end of the other within `max_gap`; all pieces
    that are followed by one so are tried, and a person's success is the mean over them.  Where nobody was cut there is
    no victim, and nothing is measured.  Nothing is known of anybody but what is published: this is no identity linkage,
    but what makes identity linkage easier.  O(pairs x pieces that begin within `max_gap`) time.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> east = [[(0, 0.0, 0.0), (1, 10.0, 0.0)], [(2, 20.0, 0.0), (3, 30.0, 0.0)]]
    >>> north = [[(0, 15.0, -10.0), (1, 15.0, 0.0)], [(2, 15.0, 10.0), (3, 15.0, 20.0)]]
    >>> data = Points.from_records([*east, *north], owner=[0, 0, 1, 1])
    >>> attack = LinkedPieces()
    >>> found = attack.run(data, data, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["linked_mean"], found.measured["chance_mean"]
    (1.0, 0.5)
    """

    max_gap: str = parameter(
        kind="duration", choices=("auto",), default="auto", help="how long after a piece the next one may begin"
    )
    victims: int = victims_parameter(1000)

    name: ClassVar[str] = "linked_pieces"
    summary: ClassVar[str] = "an attacker who joins the pieces into which trips were cut"
    accepts: ClassVar[type[Points]] = Points
    targets: ClassVar[tuple[type[Points], ...]] = (Points,)
    matched: ClassVar[bool] = True
    asks: ClassVar[str] = "max_gap"

    def queries(self, truth: Points, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Pairs:
        pairs = _Pairs.of(truth, None if self.max_gap == "auto" else self._gap(truth))
        people = np.unique(pairs.person)
        if len(people) <= self.victims:
            return pairs
        chosen = rng.choice(people, self.victims, replace=False)
        keep = np.isin(pairs.person, chosen)
        return pairs._replace(piece=pairs.piece[keep], person=pairs.person[keep], sampled=True)

    def match(self, queries: _Pairs, target: Points, *, truth: Points, rng: Any, engine: Engine) -> _Links:
        check_matched(self.name, truth, target)
        owner = np.unique(truth.owner, return_inverse=True)[1]
        nonempty = np.flatnonzero(np.diff(target.offsets) > 0)
        begins = target.t[target.offsets[nonempty]]
        order = np.argsort(begins, kind="stable")
        nonempty = nonempty[order]
        begins = begins[order]
        first = target.offsets[nonempty]
        n = len(queries.piece)
        links = _Links(np.zeros(n), np.zeros(n), np.zeros(n, np.int64), np.diff(target.offsets)[queries.piece] > 0)
        for number in np.flatnonzero(links.published).tolist():
            piece = queries.piece[number]
            begin = target.offsets[piece]
            last = target.offsets[piece + 1] - 1
            end = target.t[last]
            low = np.searchsorted(begins, end, side="right")
            high = np.searchsorted(begins, end + queries.gap, side="right")
            if low == high:
                continue
            lead = np.zeros(2)  # of one point nobody knows where it goes
            if last > begin:
                step = np.array([target.x[last] - target.x[last - 1], target.y[last] - target.y[last - 1]])
                lead = step / (target.t[last] - target.t[last - 1])
            wait = begins[low:high] - end
            far = np.hypot(
                target.x[first[low:high]] - target.x[last] - lead[0] * wait,
                target.y[first[low:high]] - target.y[last] - lead[1] * wait,
            )
            same = owner[nonempty[low:high]] == queries.person[number]
            nearest = far <= far.min() + _TIE_M
            links.success[number] = same[nearest].mean()
            links.chance[number] = same.mean()
            links.candidates[number] = high - low
        return links

    def summarize(self, queries: _Pairs, matches: _Links) -> AttackResult:
        people, person = np.unique(queries.person, return_inverse=True)
        pairs = np.maximum(np.bincount(person, minlength=len(people)), 1)
        risk = np.bincount(person, matches.success, minlength=len(people)) / pairs
        chance = np.bincount(person, matches.chance, minlength=len(people)) / pairs
        some = matches.candidates[matches.candidates > 0]
        return AttackResult(
            name=self.name,
            adversary="follows a published piece of a trip beyond its end, at its last speed and direction, and takes "
            "the piece that begins nearest to there",
            victims=len(people),
            sampled=queries.sampled,
            numbers={
                "linked_mean": probability(mean(risk), "Mean over people", statistic="mean", better="lower"),
                "linked_max": probability(
                    float(risk.max()) if len(risk) else None, "Person whose pieces are joined most often"
                ),
                "chance_mean": probability(mean(chance), "The same by chance"),
                "published_share": share(mean(matches.published), "Pieces that are published"),
                "mean_candidates": count(mean(some), "Mean of pieces that begin soon after one ends", "pieces"),
                "pairs": count(len(queries.piece), "Pieces with a next one", "pieces"),
            },
        )

    def _gap(self, data: Points) -> int:
        return duration_units(self.name, "max_gap", self.max_gap, data.time_format)


class _Pairs(NamedTuple):
    """Pieces that have a next one, whose they are, and how long after a piece the next may begin."""

    piece: Array
    person: Array
    gap: int
    sampled: bool

    @classmethod
    def of(cls, truth: Points, gap: int | None) -> _Pairs:
        """Return the pieces after which another one of the same person begins within the gap; the usual one if None."""
        owner = np.unique(truth.owner, return_inverse=True)[1]
        nonempty = np.flatnonzero(np.diff(truth.offsets) > 0)
        begin = truth.t[truth.offsets[nonempty]]
        end = truth.t[truth.offsets[nonempty + 1] - 1]
        # The first beginning of the same person after each end: both are one number, of person and rank of the time.
        times = np.unique(np.concatenate([begin, end]))
        starts = np.sort(owner[nonempty] * len(times) + np.searchsorted(times, begin))
        ends = owner[nonempty] * len(times) + np.searchsorted(times, end)
        at = np.searchsorted(starts, ends, side="right")
        follows = at < len(starts)
        follows[follows] = starts[at[follows]] // len(times) == owner[nonempty][follows]
        wait = np.zeros(len(nonempty), np.int64)
        wait[follows] = times[starts[at[follows]] % len(times)] - end[follows]
        if gap is None:
            gap = int(2 * np.median(wait[follows])) if follows.any() else 0
        piece = nonempty[follows & (wait <= gap)]
        return cls(piece=piece, person=owner[piece], gap=gap, sampled=False)


class _Links(NamedTuple):
    """Per pair: the success of the attack and that of a blind guess, how many pieces begin soon, and if it is there."""

    success: Array
    chance: Array
    candidates: Array
    published: Array
