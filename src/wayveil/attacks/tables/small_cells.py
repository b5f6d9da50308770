"""The attacker who looks for numbers that stand for few people, published or worked out from others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np

from wayveil.attacks.attack_base import mean, threshold_parameter
from wayveil.attacks.attack_numbers import mean_risk, share_above, worst_risk
from wayveil.model import Attack, AttackResult, CountTables, Engine, Visits, parameter
from wayveil.model.claims.counting import share_value
from wayveil.model.claims.threshold import count_parameter, count_share_parameter, every_parameter, tally_parameter
from wayveil.model.data.count_tables import ALL, list_events
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray
from wayveil.model.numbers import count

__all__ = ["SmallCells"]

_ROUNDS = 100
_SOLVED = 200
"""So many of the cells with the narrowest bounds are bounded exactly, by a linear program each."""


class _Cells(NamedTuple):
    """The true cells, and what each person is of them.

    Parameters
    ----------
    names : tuple of str
        The zones; 0 is all of them.
    zone, to_zone, t : int64, one per cell
        What the cell is.
    value : int64, one per cell
        What it counts.
    cell, person, part : int64, one per cell and person in it
        What of it is somebody's.
    timed : bool
        Whether cells have times.
    """

    names: tuple[str, ...]
    zone: IntArray
    to_zone: IntArray
    t: IntArray
    value: IntArray
    cell: IntArray
    person: IntArray
    part: IntArray
    timed: bool


class _Learned(NamedTuple):
    """What the attacker knows: everybody's risk, how many numbers are worked out and published, and how few people a
    total leaves for its hidden cells; None where it leaves nobody."""

    risk: FloatArray
    worked_out: int
    published: int
    rest_people: int | None


@dataclass(frozen=True, kw_only=True)
class SmallCells(Attack):
    """Someone reads all published numbers, adds and subtracts them, and knows which cells are empty.

    A number tells that somebody is one of those whom it counts: the attacker picks one of them, or one of the visits,
    and is right with the share that the victim is of it.  A cell that is not published is known if sums and differences
    of published numbers show that it holds somebody, and fewer than `k`.  Before publication all cells are known.  What
    a total leaves for its hidden cells together is known as well: `rest_people_min` tells how few people that may be.

    Parameters
    ----------
    k : int, >= 2
        A cell that is shown to hold fewer is known.
    tally, count, every
        What a cell is: as in the method `counts`.
    row_share : number from 0 to 1, or "1/k"
        The largest share of a number that one person may be: zones and times that are too small as wholes, in people or
        by this, are in no total.
    threshold : number from 0 to 1
        People whose identity risk is above this are counted in `identity_share_above`.

    Notes
    -----
    Bounds of hidden cells are narrowed by every total, again and again; those of the 200 narrowest are then bounded
    exactly, by linear programs.  O(n log n) for n rows, and the programs.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("a", 1)], [("a", 1)], [("b", 1)]])
    >>> table = CountTables.from_rows([("a", "", 1, 2), ("", "", 1, 3), ("", "", None, 3)])
    >>> found = SmallCells(k=2).run(data, table, sensitive={}, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> found.measured["identity_max"], found.measured["worked_out"]
    (1.0, 1)
    """

    k: int = parameter(kind="int", low=2, default=5, help="a cell that holds fewer people is small")
    tally: str = tally_parameter()
    count: str = count_parameter()
    every: str = every_parameter()
    row_share: Fraction | str = count_share_parameter()
    threshold: Fraction = threshold_parameter()

    name: ClassVar[str] = "small_cells"
    summary: ClassVar[str] = "an attacker who adds and subtracts all published numbers to find small ones"
    accepts: ClassVar[type[Visits]] = Visits
    targets: ClassVar[tuple[type[Any], ...]] = (CountTables,)
    exact: ClassVar[bool] = True

    def queries(self, truth: Any, *, sensitive: Mapping[str, Iterable[str]], rng: np.random.Generator) -> _Cells:
        """Return the true cells; nothing is drawn."""
        events = list_events(truth, tally=self.tally, every=self.every, component=self.name)
        n = len(events.names)
        moments, moment = np.unique(events.t, return_inverse=True)
        # A cell as one number: time, zone and where to, as digits with the base n.
        key, cell = np.unique((moment * n + events.zone) * n + events.to_zone, return_inverse=True)
        people, person = np.unique(events.person, return_inverse=True)
        # Each pair of a cell and a person once, and how often the person is there.
        pair, times = np.unique(cell * max(1, len(people)) + person, return_counts=True)
        # Where people are counted, somebody who came twice counts as one.
        part = np.ones(len(pair), np.int64) if self.count == "people" else times.astype(np.int64)
        cell_of_pair = pair // max(1, len(people))
        return _Cells(
            names=events.names,
            zone=key // n % n,
            to_zone=key % n,
            t=moments[key // n // n],
            value=np.bincount(cell_of_pair, weights=part, minlength=len(key)).astype(np.int64),
            cell=cell_of_pair,
            person=pair % max(1, len(people)),
            part=part,
            timed=self.every != ALL and truth.has_times(),
        )

    def match(self, queries: _Cells, target: Any, *, truth: Any, rng: Any, engine: Engine) -> _Learned:
        """Return everybody's risk: the largest share that somebody is of a number that is known."""
        n_people = int(queries.person.max(initial=-1)) + 1
        # Of everybody in a cell, the part that is this person: picking at random finds them with this chance.
        share = queries.part / np.maximum(queries.value[queries.cell], 1)
        if target.individual:  # all cells of true data are there to be counted
            return _Learned(_largest(queries.person, share, n_people), 0, len(queries.value), None)
        numbers = _read(target, queries)
        known = _find_cells(queries, numbers)
        worked_out = np.zeros(len(known), np.bool_)
        totals = [one for one in _list_totals(queries, self.tally) if one.key in numbers]
        rest_people = None
        if totals:
            # Lines that are too small as wholes are in no total; where that does not add up, all are in them.
            inside = self._find_inside(queries)
            if any(int(queries.value[one.cells & inside].sum()) != numbers[one.key] for one in totals):
                inside = np.ones(len(known), np.bool_)
            totals = [_Total(one.key, one.cells & inside) for one in totals]
            rest_people = _count_rest_people(queries, known, totals)
            least, most = _bounds(queries, known, totals, numbers)
            worked_out = ~known & (least >= 1) & (most < self.k)
        # What is published, and what is worked out from totals, is equally known.
        seen = (known | worked_out)[queries.cell]
        risk = _largest(queries.person[seen], share[seen], n_people)
        # A total is a published number as well: somebody may be most of it without any small cell.
        for total in totals:
            inside = total.cells[queries.cell]
            parts = np.bincount(queries.person[inside], weights=queries.part[inside], minlength=n_people)
            risk = np.maximum(risk, parts / max(1, numbers[total.key]))
        return _Learned(np.minimum(risk, 1.0), int(worked_out.sum()), len(numbers), rest_people)

    def _find_inside(self, cells: _Cells) -> BoolArray:
        """Return the cells that totals count: no total of theirs is small without those that are not counted."""
        share = share_value(self.row_share, self.k)
        n_people = int(cells.person.max(initial=0)) + 1
        inside = np.ones(len(cells.t), np.bool_)
        lines = _number_lines(cells, self.tally)
        # Each round takes away the cells of every line that is small as it is left, or is the last one.
        while True:
            kept = inside[cells.cell]
            small = np.zeros(len(inside), np.bool_)
            for line in lines:
                # A person in several cells of a line is one person there, with the sum of their parts.
                pair, which = np.unique(line[cells.cell[kept]] * n_people + cells.person[kept], return_inverse=True)
                part = np.bincount(which, weights=cells.part[kept]).astype(np.int64)
                n_lines = int(line.max(initial=-1)) + 1
                people = np.bincount(pair // n_people, minlength=n_lines)
                whole = np.bincount(pair // n_people, weights=part, minlength=n_lines).astype(np.int64)
                largest = np.zeros(n_lines, np.int64)
                np.maximum.at(largest, pair // n_people, part)
                small |= ((people < self.k) | (largest * share.denominator > whole * share.numerator))[line]
            if not (small & inside).any():
                return inside
            inside &= ~small

    def summarize(self, queries: _Cells, matches: _Learned) -> AttackResult:
        risk = matches.risk
        above = None if not len(risk) else float((risk > float(self.threshold)).mean())
        return AttackResult(
            name=self.name,
            adversary="reads, adds and subtracts all numbers, and knows which cells are empty",
            victims=len(risk),
            sampled=False,
            numbers={
                "identity_mean": mean_risk(mean(risk)),
                "identity_max": worst_risk(float(risk.max()) if len(risk) else None),
                "identity_share_above": share_above(above, self.threshold),
                "worked_out": count(matches.worked_out, "Small cells that can be worked out", "cells", better="lower"),
                "rest_people_min": count(
                    matches.rest_people,
                    "Fewest people behind all hidden cells of a total",
                    "people",
                    better="higher",
                    joined="smallest",
                ),
                "numbers": count(matches.published, "Numbers to be read", "numbers"),
            },
        )


class _Total(NamedTuple):
    """A total: what it is of, and the true cells that it counts."""

    key: tuple[int, int, int | None]
    cells: BoolArray


def _number_lines(cells: _Cells, tally: str) -> tuple[IntArray, IntArray, IntArray]:
    """Return the row, the column and the table that each cell is in, as numbers."""
    when = np.unique(cells.t, return_inverse=True)[1].reshape(-1)
    if tally == "zones":
        return cells.zone, when, np.zeros(len(when), np.int64)
    n_zones = len(cells.names)
    return when * n_zones + cells.zone, when * n_zones + cells.to_zone, when


def _count_rest_people(cells: _Cells, known: BoolArray, totals: list[_Total]) -> int | None:
    """Return the fewest people who are in the hidden cells of a total, of those totals that have any."""
    rests = [np.unique(cells.person[(total.cells & ~known)[cells.cell]]).size for total in totals]
    return min((rest for rest in rests if rest), default=None)


def _largest(person: IntArray, share: FloatArray, n_people: int) -> FloatArray:
    risk = np.zeros(n_people)
    np.maximum.at(risk, person, share)
    return risk


def _read(target: CountTables, cells: _Cells) -> dict[tuple[int, int, int | None], int]:
    """Return the published numbers by what they are of, as codes of the true names."""
    code = {name: i for i, name in enumerate(cells.names)}
    return {
        (code.get(zone, -1), code.get(to_zone, -1), t): number
        for table in range(len(target))
        for zone, to_zone, t, number in target.record(table)
    }


def _find_cells(cells: _Cells, numbers: Mapping[tuple[int, int, int | None], int]) -> BoolArray:
    """Return which true cells are published."""
    times = cells.t.tolist() if cells.timed else [None] * len(cells.t)
    keys = zip(cells.zone.tolist(), cells.to_zone.tolist(), times, strict=True)
    return np.array([key in numbers for key in keys], np.bool_)


def _list_totals(cells: _Cells, tally: str) -> list[_Total]:
    """Return every total that such a table can have."""
    everything = np.ones(len(cells.t), np.bool_)
    totals: list[_Total] = []
    if tally == "zones":
        totals += [
            _Total((zone, 0, None), cells.zone == zone) for zone in np.unique(cells.zone).tolist() if cells.timed
        ]
        totals += [_Total((0, 0, t), cells.t == t) for t in np.unique(cells.t).tolist() if cells.timed]
        return [*totals, _Total((0, 0, None), everything)]
    for t in np.unique(cells.t).tolist():
        when = t if cells.timed else None
        now = cells.t == t
        totals += [_Total((zone, 0, when), now & (cells.zone == zone)) for zone in np.unique(cells.zone[now]).tolist()]
        ends = np.unique(cells.to_zone[now]).tolist()
        totals += [_Total((0, zone, when), now & (cells.to_zone == zone)) for zone in ends]
        totals.append(_Total((0, 0, when), now))
    return totals


def _bounds(
    cells: _Cells, known: BoolArray, totals: list[_Total], numbers: Mapping[tuple[int, int, int | None], int]
) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest that each cell can be, by what is published.

    Before each round the bounds hold; a round narrows them by every total, and the last one changes nothing.  `totals`
    have the cells that they count; what none counts stays unbounded.
    """
    # A published cell is known exactly; any other is from nothing on.
    least = np.where(known, cells.value, 0).astype(np.float64)
    most = np.where(known, cells.value, np.inf).astype(np.float64)
    inside = np.zeros(len(known), np.bool_)
    for total in totals:
        inside |= total.cells
    lines: list[tuple[IntArray, int]] = [(np.flatnonzero(total.cells), numbers[total.key]) for total in totals]
    for _ in range(_ROUNDS):
        before = least.sum(), np.isfinite(most).sum(), most[np.isfinite(most)].sum()
        for members, value in lines:
            low = least[members]
            high = most[members]
            others_low = low.sum() - low
            unbounded = np.isinf(high)
            # What all others may be at most: infinite if another one has no bound yet.
            finite = np.where(unbounded, 0.0, high)
            others_high = np.where(unbounded.sum() - unbounded > 0, np.inf, finite.sum() - finite)
            # What is left of the total when all others are as small as they can be, and as large.
            most[members] = np.minimum(high, value - others_low)
            least[members] = np.maximum(low, value - others_high)
        if before == (least.sum(), np.isfinite(most).sum(), most[np.isfinite(most)].sum()):
            break
    hidden = np.flatnonzero(~known & inside)
    # The narrowest are the likeliest to be below k; linear programs take too long for all.
    narrow = hidden[np.argsort(most[hidden], kind="stable")][:_SOLVED]
    for cell in narrow.tolist():
        least[cell], most[cell] = _solve(hidden, lines, cells.value, known, cell, (least[cell], most[cell]))
    return least, most


def _solve(
    hidden: IntArray,
    lines: list[tuple[IntArray, int]],
    value: IntArray,
    known: BoolArray,
    cell: int,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """Return exact bounds of a hidden cell."""
    position = np.full(len(known), -1)
    position[hidden] = np.arange(len(hidden))
    row: list[IntArray] = []
    column: list[IntArray] = []
    rest: list[float] = []
    for number, (members, total) in enumerate(lines):
        unknown = members[~known[members]]
        row.append(np.full(len(unknown), number))
        column.append(position[unknown])
        rest.append(float(total - value[members[known[members]]].sum()))
    from scipy.optimize import linprog  # here, because commands that compute nothing read this module, too
    from scipy.sparse import csr_array

    shape = (len(lines), len(hidden))
    joined = np.concatenate(row), np.concatenate(column)
    equations = csr_array((np.ones(len(joined[0])), joined), shape=shape)
    objective = np.zeros(len(hidden))
    objective[position[cell]] = 1.0
    low, high = (linprog(sign * objective, A_eq=equations, b_eq=rest, method="highs") for sign in (1.0, -1.0))
    return (
        float(np.rint(low.fun)) if low.success else bounds[0],
        float(np.rint(-high.fun)) if high.success else bounds[1],
    )
