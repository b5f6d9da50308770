"""Points of people that are known, and how many people have them all, at one resolution after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.attack_base import mean, same_times
from wayveil.attacks.attack_numbers import mean_risk, share_unique
from wayveil.attacks.person_risk import PersonRisk
from wayveil.attacks.visits.knowledge import draw_sets
from wayveil.errors import InputError
from wayveil.kernels.attacks.visit_matching import VisitLists, match_sets
from wayveil.model import Chart, Number, Series
from wayveil.model.data.ragged import offsets_of, take
from wayveil.model.numbers import relabel

__all__ = [
    "Everybody",
    "KnownPoints",
    "Shared",
    "both",
    "by_points",
    "check_comparable",
    "shared",
    "with_points",
]

Array = NDArray[Any]

_WIDEST_TABLE = 1 << 24  # values from the smallest to the largest known one


class Shared(NamedTuple):
    """The same codes for two columns: 0 to n - 1 where a value is known, -1 for rows whose value nobody knows."""

    known: Array
    rows: Array
    n: int


def shared(known: Array, rows: Array) -> Shared:
    """Return codes that are equal exactly where values, whole numbers, are equal.

    O(known log known + rows) where the known values lie close together, else O((known + rows) log known).

    Examples
    --------
    >>> shared(np.array([7, 3, 7]), np.array([3, 4, 7])).rows.tolist()
    [0, -1, 1]
    """
    distinct, of_known = np.unique(known, return_inverse=True)
    if not len(distinct):
        return Shared(of_known, np.full(len(rows), -1), 0)
    low = distinct[0]
    # A table of all values between the smallest and the largest is fastest; where values are far apart, they are
    # searched.
    high = distinct[-1]
    span = int(high) - int(low) + 1 if np.isfinite([low, high]).all() else _WIDEST_TABLE + 1
    if span <= min(_WIDEST_TABLE, 8 * len(rows)):
        table = np.full(span + 1, -1, np.int64)
        table[(distinct - low).astype(np.int64)] = np.arange(len(distinct))
        inside = (rows >= low) & (rows <= high)
        return Shared(of_known, table[np.where(inside, rows - low, span).astype(np.int64)], len(distinct))
    at = np.searchsorted(distinct, rows)
    at[at == len(distinct)] = 0
    at[distinct[at] != rows] = -1
    return Shared(of_known, at, len(distinct))


def both(one: Shared, other: Shared) -> Shared:
    """Return the codes of pairs of values."""
    # Two codes as one number; unknown in either is unknown in both.
    rows = one.rows * other.n + other.rows
    rows[(one.rows < 0) | (other.rows < 0)] = -1
    return shared(one.known * other.n + other.known, rows)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownPoints:
    """What is known: some sets per person of points, in random order, that differ at the resolution of the draw.

    Parameters
    ----------
    rows : int, one per known point
        The row of the true data.
    table : int, one line per set
        Places in `rows`, filled up with -1.
    person : int, one per set
        The victim, from 0 on.
    owner, distinct : int, one per victim
        The number of the person in the data, and the different points that the person has.
    population : int
        People with a point in the true data.
    """

    rows: Array
    table: Array
    person: Array
    owner: Array
    distinct: Array
    population: int

    @classmethod
    def draw(
        cls,
        owner: Array,
        offsets: Array,
        columns: Callable[[Array], Sequence[Array]],
        *,
        points: int,
        victims: int,
        draws: int,
        rng: np.random.Generator,
    ) -> KnownPoints:
        """Return `draws` sets of `points` different points (or all, where there are fewer) of at most `victims` people.

        `owner` is the person of each trajectory; ``columns(rows)`` says what makes points different.  Every different
        point of a person is equally likely; which of the rows behind it is known is drawn as well.
        """
        with_rows = np.flatnonzero(np.diff(offsets))
        # People side by side, with everything of theirs.
        with_rows = with_rows[np.argsort(owner[with_rows], kind="stable")]
        people, counts = np.unique(owner[with_rows], return_counts=True)
        chosen = np.arange(len(people))
        if len(people) > victims:
            chosen = np.sort(rng.choice(len(people), victims, replace=False))
        first, at = take(offsets_of(counts), chosen)
        starts, rows = take(offsets, with_rows[at])
        # The person of each row of those who were drawn.
        of = np.repeat(np.arange(len(chosen)), np.diff(starts[first]))
        # Rows of one person at one place and time stand together, as one point.
        keys = (*columns(rows), of)
        order = np.lexsort(keys)
        new = np.zeros(len(order), bool)
        new[:1] = True
        for key in keys:
            new[1:] |= key[order[1:]] != key[order[:-1]]
        point = np.flatnonzero(new)
        distinct = np.bincount(of[order[point]], minlength=len(chosen))
        person = np.repeat(np.arange(len(chosen)), draws)
        # Sets of different points in random order: the first n of a set are n random points, so one draw serves all n.
        table = _shuffled(draw_sets(distinct[person], np.minimum(points, distinct[person]), rng), rng)
        there_is = table >= 0
        picked = (table + offsets_of(distinct)[person][:, None])[there_is]
        # Of several rows at one point any may be the one that is known.
        row = point[picked] + rng.integers(np.diff(np.append(point, len(order)))[picked])
        table[there_is] = np.arange(len(picked))
        return cls(
            rows=rows[order[row]],
            table=table,
            person=person,
            owner=people[chosen],
            distinct=distinct,
            population=len(people),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Everybody:
    """Who is attacked: the person of each row, how many people there are, and whether victims have the same numbers.

    Only then can be told whether the victim is among those who fit; otherwise whoever fits is taken for the victim.
    """

    person: Array
    people: int
    same: bool

    def fitting(self, known: KnownPoints, codes: Shared, levels: Sequence[int]) -> list[PersonRisk]:
        """Return the risk with the first so many points of each set known, for each of `levels`.

        `codes` are those of the known points and of all rows.  O(rows log rows), and about the length of the shortest
        list of people for each different set.
        """
        pairs = self._pairs(codes)
        counts = _Lists.of(pairs, codes.n, self.people).count(codes.known, known.table, levels)
        hits = self._hits(known, codes, pairs)
        return [
            PersonRisk.of(
                known.person,
                counts[i],
                None if hits is None else hits[:, min(level, hits.shape[1]) - 1],
                known.distinct > level,
                population=known.population,
            )
            for i, level in enumerate(levels)
        ]

    def count(self, table: Array, codes: Shared, levels: Sequence[int]) -> Array:
        """Return per level and set how many people fit; people of other pieces of the data can be added."""
        return _Lists.of(self._pairs(codes), codes.n, self.people).count(codes.known, table, levels)

    def _pairs(self, codes: Shared) -> Array:
        """Return who has which known point, as sorted numbers ``code * people + person``."""
        rows = codes.rows
        person = self.person
        keep = rows >= 0
        # Neighbouring rows of a person at one point are one pair.
        keep[1:] &= (rows[1:] != rows[:-1]) | (person[1:] != person[:-1])
        return _sorted_set(rows[keep] * self.people + person[keep])

    def _hits(self, known: KnownPoints, codes: Shared, pairs: Array) -> Array | None:
        """Return for each set whether the victim has the first, the first two, ... of its points."""
        if not self.same:
            return None
        # Whether a victim still has the point is looked up in the sorted pairs; with one missing, all larger sets miss
        # too.
        keys = codes.known[known.table] * self.people + known.owner[known.person][:, None]
        at = np.searchsorted(pairs, keys)
        has = np.append(pairs, -1)[at] == keys
        hits: Array = np.logical_and.accumulate(has | (known.table < 0), axis=1)
        return hits


@dataclass(frozen=True, kw_only=True, eq=False)
class _Lists:
    """For every known value the people who have it: ``people[starts[code]:starts[code + 1]]``, rising."""

    starts: Array
    people: Array
    n_people: int

    @classmethod
    def of(cls, pairs: Array, n: int, people: int) -> _Lists:
        """Return the lists from sorted pairs ``code * people + person``."""
        code, person = np.divmod(pairs, max(1, people))
        return cls(starts=offsets_of(np.bincount(code, minlength=n)), people=person, n_people=people)

    def count(self, codes: Array, table: Array, levels: Sequence[int]) -> Array:
        """Return per level and set how many people have the first so many points of the set."""
        n = len(self.starts) - 1
        # The rarest value first, equal sets once, and sets that begin alike next to each other.
        order = np.argsort(np.diff(self.starts), kind="stable")
        rank = np.empty(n, np.int64)
        rank[order] = np.arange(n)
        ranks = np.append(rank[codes], n)[table]
        cut = [np.where(np.arange(table.shape[1]) < level, ranks, n) for level in levels]
        sets = np.sort(np.concatenate(cut), axis=1)
        sorting = np.lexsort(sets.T[::-1])
        sets = sets[sorting]
        new = np.ones(len(sets), bool)
        new[1:] = (sets[1:] != sets[:-1]).any(axis=1)
        tried = np.append(order, -1)[sets[new]]
        nothing = np.empty((self.n_people, 0), np.int64)
        counts, _ = match_sets(VisitLists(self.starts, self.people, np.arange(self.n_people), nothing, 0), tried)
        n_fitting = np.empty(len(sets), np.int64)
        n_fitting[sorting] = counts[np.cumsum(new) - 1]
        return n_fitting.reshape(len(levels), len(table))


def check_comparable(component: str, truth: Any, target: Any) -> None:
    """Refuse times that are not of the same form."""
    if not same_times(truth, target):
        raise InputError(
            f"{component}: the times that are known ({truth.time_format}) and those of the attacked data "
            f"({target.time_format}) cannot be compared. Give both in the same form."
        )


def with_points(risks: Sequence[PersonRisk], what: str) -> dict[str, Number]:
    """Return the numbers with fewer points known than all: `risks` are those with 1, 2, ... of `what`."""
    numbers: dict[str, Number] = {}
    for level, risk in enumerate(risks[:-1], start=1):
        plural = "s" if level > 1 else ""
        fewer = {"identity_mean": mean_risk(mean(risk.identity)), "unique_share": share_unique(mean(risk.unique))}
        numbers |= relabel(fewer, f"_with_{level}_sample{plural}", f"{level} {what}{plural} known")
    return numbers


def by_points(risks: Sequence[PersonRisk]) -> Chart:
    """Return how risk grows with the number of points known: `risks` are those with 1, 2, ... points."""
    return Chart(
        title="How many known points single out a person?",
        kind="line",
        labels=tuple(str(level) for level in range(1, len(risks) + 1)),
        series=(
            Series(name="exactly one person fits", values=tuple(mean(risk.unique) for risk in risks)),
            Series(name="probability of picking the right person", values=tuple(mean(risk.identity) for risk in risks)),
        ),
        x_label="points known",
        y_label="mean over people",
        percent=True,
    )


def _sorted_set(values: Array) -> Array:
    """Return the different values, rising; NumPy's own way by hashing is several times slower."""
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]]


def _shuffled(table: Array, rng: np.random.Generator) -> Array:
    """Return each line in random order, what is filled up at its end."""
    order = np.argsort(np.where(table < 0, 2.0, rng.random(table.shape)), axis=1, kind="stable")
    return np.take_along_axis(table, order, axis=1)
