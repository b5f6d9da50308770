"""Does every published number count enough people, and can no small one be worked out?  From the definition alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl

from wayveil.errors import InputError
from wayveil.model.budget import spend
from wayveil.model.claims import Threshold
from wayveil.model.claims.counting import share_text
from wayveil.model.data.count_tables import ALL, EVERYWHERE, CountTables, list_events
from wayveil.model.data.ragged import IntArray
from wayveil.model.results import Verdict
from wayveil.verifiers.threshold.cell_bounds import Equations, find_pinned_low, find_too_low_highs, solve_bounds

__all__ = ["MOST_UNKNOWN", "check_threshold"]

MOST_UNKNOWN = 20_000
"""Of files alone: where more cells of a table are not published, whether one can be worked out is not looked for."""

_STEPS_PER_UNKNOWN = 100_000

NOT_THE_PEOPLE = "how many different people are behind each number, and that the numbers are those of the original data"
NOT_THE_UNKNOWN = "whether a cell that is not published can be worked out: there are too many of them"

Cell = tuple[str, str, int | None]
"""A zone, another one, and a time: `EVERYWHERE` and None in place of what was added up."""


def check_threshold(published: CountTables, claim: Threshold, *, original: Any = None) -> Verdict:
    """Judge whether numbers keep their threshold.

    1. Every row is a cell or a total of the table that the claim speaks of, no total stands there without
       ``margins="yes"``, and no number is below k.
    2. No cell that is not published is known to hold somebody and fewer than k: of the tables that fit all published
       numbers, some have a 0 there, or some k or more.
    3. Where the original is given: every number is the true one, counts at least k distinct people, and nobody is more
       than `row_share` of it.  With totals, these count the cells of all zones and times that are large enough as
       wholes; and every small cell among them, whoever knows which cells are empty, can be 0, and can be k - 1 or more.

    Parameters
    ----------
    published : CountTables
        One table.
    claim : Threshold
        What to judge.
    original : Visits, Trips, Routes or Stops, optional
        The true data, in any order.

    Returns
    -------
    Verdict
        `measured` has `min_count`, the smallest number; `min_people` and `max_owner_share` of any number, `suppressed`,
        the cells that somebody is in and that are not published, and `small`, those of them that are too small; these
        are None without the original; and how many `cells` and `totals` are published.  `witness` is the number, or the
        cell that can be worked out.

    Notes
    -----
    Bounds come from linear programs over the cells that are not published; see `cell_bounds`.

    Examples
    --------
    >>> table = CountTables.from_rows([("", "", None, 12), ("a", "", None, 12), ("", "", 1, 7), ("", "", 2, 5)])
    >>> check_threshold(table, Threshold(k=5, margins="yes")).holds
    True
    >>> check_threshold(table, Threshold(k=6, margins="yes")).reason
    'A published number is 5, which is below 6.'
    """
    if not isinstance(published, CountTables):
        raise InputError("A threshold is one for tables of counts, and these data are none.")
    shown = _read_rows(published)
    # In the order of what can be said without more: the form of the rows, the size of the numbers; then, with the
    # original, whether they are true and who is behind them; then what can be worked out.
    fault = _find_wrong_row(shown, claim) or _find_small_number(shown, claim.k)
    facts = _Facts()
    not_judged: list[str] = []
    if fault is None and original is not None:
        facts = _compare(shown, claim, original)
        fault = facts.fault
    if fault is None and claim.margins == "yes":
        fault, judged = _find_disclosed(shown, claim)
        not_judged += [] if judged else [NOT_THE_UNKNOWN]
    # From files alone the numbers of people stay open, and the verdict says so: never a better verdict for want of
    # evidence.
    if original is None:
        not_judged.insert(0, NOT_THE_PEOPLE)
    totals = sum(_is_total(cell, claim) for cell in shown)
    measured: dict[str, int | float | str | None] = {
        "min_count": min(shown.values(), default=None),
        "min_people": facts.min_people,
        "max_owner_share": None if facts.max_share is None else float(facts.max_share),
        "max_owner_share_exact": None if facts.max_share is None else str(facts.max_share),
        "cells": len(shown) - totals,
        "totals": totals,
        "suppressed": facts.suppressed,
        "small": facts.small,
    }
    return Verdict(
        holds=fault is None,
        claim=claim,
        counted="owners" if published.owners == "given" else "trajectories",
        measured=measured,
        witness=None if fault is None else fault.witness,
        reason=fault.reason if fault is not None else _holding(claim, measured, original),
        not_judged=() if fault is not None else tuple(not_judged),
    )


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """What is wrong, in one sentence, and where."""

    reason: str
    witness: Mapping[str, Any]

    @classmethod
    def at(cls, reason: str, cell: Cell, **more: Any) -> _Fault:
        zone, to_zone, t = cell
        return cls(reason=reason, witness={"zone": zone, "to_zone": to_zone, "t": t, **more})


@dataclass(kw_only=True)
class _Facts:
    """What the comparison with the original found."""

    fault: _Fault | None = None
    min_people: int | None = None
    max_share: Fraction | None = None
    suppressed: int | None = None
    small: int | None = None


def _holding(claim: Threshold, measured: Mapping[str, Any], original: Any) -> str:
    if measured["min_count"] is None:
        return "Nothing is published."
    if original is None:
        return f"Every published number is at least {measured['min_count']}."
    text = f"Every published number counts at least {measured['min_people']} people, nobody more than "
    text += f"{share_text(Fraction(measured['max_owner_share_exact']))} of it"
    return f"{text}; no small cell can be worked out." if claim.margins == "yes" else f"{text}."


def _read_rows(published: CountTables) -> dict[Cell, int]:
    """Return what is published, by cell; of a cell that stands twice, -1, which is below every threshold."""
    shown: dict[Cell, int] = {}
    for table in range(len(published)):
        for zone, to_zone, t, number in published.record(table):
            # A row that stands twice could say two things; -1 is refused below as smaller than any k.
            shown[zone, to_zone, t] = -1 if (zone, to_zone, t) in shown else number
    return shown


def _is_total(cell: Cell, claim: Threshold) -> bool:
    """Return whether something was added up in a row."""
    zone, to_zone, t = cell
    if claim.tally == "flows":
        return EVERYWHERE in (zone, to_zone)
    return zone == EVERYWHERE or (t is None and claim.every != ALL)


def _find_wrong_row(shown: Mapping[Cell, int], claim: Threshold) -> _Fault | None:
    """Return a row that such a table does not have; times may be missing altogether where the data have none."""
    # Data without times have None everywhere, and then None is no total.
    no_times = all(t is None for _, _, t in shown)
    for cell in shown:
        zone, to_zone, t = cell
        if claim.tally == "zones" and to_zone != EVERYWHERE:
            return _Fault.at("A row of a table of zones has a second zone.", cell)
        if (t is not None and claim.every == ALL) or (claim.tally == "flows" and t is None and not no_times):
            return _Fault.at("A row has a time, or lacks one, against what the claim says of the table.", cell)
        total = zone == EVERYWHERE or (claim.tally == "flows" and to_zone == EVERYWHERE)
        total = total or (claim.tally == "zones" and t is None and not no_times)
        if total and claim.margins == "no":
            return _Fault.at("A total is published, of which the claim does not speak.", cell)
    return None


def _find_small_number(shown: Mapping[Cell, int], k: int) -> _Fault | None:
    """Return the smallest number, if it is below k: people are never more than what is counted."""
    if not shown:
        return None
    # What is counted is never less than the people in it, so a number below k is too small whatever it counts.
    cell = min(shown, key=lambda one: shown[one])
    if shown[cell] < 0:
        return _Fault.at("A row stands twice.", cell)
    if shown[cell] < k:
        return _Fault.at(f"A published number is {shown[cell]}, which is below {k}.", cell, count=shown[cell])
    return None


def _compare(shown: Mapping[Cell, int], claim: Threshold, original: Any) -> _Facts:
    """Compare every number with the original, and look for small cells that can be worked out."""
    # Counted here once more, from the definition and with other tools than the method uses.
    names, parts = _true_parts(original, claim)
    cells = _numbers_of(parts, claim)
    # With totals, zones and times that are too small as wholes were taken out before anything was added up.
    inside = parts if claim.margins == "no" else _large_lines(parts, claim)
    frames = [_numbers_of(inside, claim)]
    if claim.margins == "yes":
        frames += [_numbers_of(inside.with_columns(**total), claim) for total in _added_up(claim)]
    # Every published row beside the true number; one that there is not has none.
    rows = _frame_of(shown, names).join(pl.concat(frames), on=_KEY, how="left")
    facts = _Facts(suppressed=len(cells), small=int(cells["small"].sum()))
    # A number must be exactly the true one: noise is another claim.
    wrong = rows.filter(pl.col("value").is_null() | (pl.col("value") != pl.col("count")))
    if len(wrong):
        number = wrong["row"][0]
        facts.fault = _Fault.at(
            "A published number is not the true one.",
            list(shown)[number],
            count=wrong["count"][0],
            true_count=wrong["value"][0] or 0,
        )
        return facts
    if len(rows):
        facts.min_people = int(rows["people"].min())  # type: ignore[arg-type]
        # Exact fractions: a share of exactly 1/k is allowed.
        shares = {Fraction(one, whole) for one, whole in rows.select("largest", "value").unique().iter_rows()}
        facts.max_share = max(shares)
    few = rows.filter(pl.col("small"))
    if len(few):
        share = share_text(Fraction(few["largest"][0], few["value"][0]))
        facts.fault = _Fault.at(
            f"A published number counts {few['people'][0]} people, and one of them is {share} of it.",
            list(shown)[few["row"][0]],
            count=few["count"][0],
        )
        return facts
    published = rows.select(_KEY)
    facts.suppressed = len(cells.join(published, on=_KEY, how="anti"))
    if claim.margins == "yes":
        # Of the cells that totals count, those that are not published are the unknowns.
        hidden = frames[0].join(published, on=_KEY, how="anti").sort(_KEY)
        facts.fault = _find_worked_out(
            shown,
            [
                (names[zone], names[to_zone], t if timed else None)
                for zone, to_zone, t, timed in hidden.select(_KEY).iter_rows()
            ],
            np.flatnonzero(hidden["small"].to_numpy()),
            claim,
        )
    return facts


_KEY = ["zone", "to_zone", "t", "timed"]
"""The columns that say what a number is of; zone 0 is all zones, and t is 0 where `timed` is false."""


def _frame_of(shown: Mapping[Cell, int], names: tuple[str, ...]) -> pl.DataFrame:
    """Return published rows with codes of the true names, -1 for one that there is not."""
    code = {name: number for number, name in enumerate(names)}
    return pl.DataFrame(
        {
            "row": np.arange(len(shown)),
            "zone": np.array([code.get(zone, -1) for zone, _, _ in shown], np.int64),
            "to_zone": np.array([code.get(to_zone, -1) for _, to_zone, _ in shown], np.int64),
            "t": np.array([t or 0 for _, _, t in shown], np.int64),
            "timed": np.array([t is not None for _, _, t in shown], np.bool_),
            "count": np.array(list(shown.values()), np.int64),
        }
    )


def _true_parts(original: Any, claim: Threshold) -> tuple[tuple[str, ...], pl.DataFrame]:
    """Return the names of zones, and what everybody is of every cell."""
    events = list_events(original, tally=claim.tally, every=claim.every, component="verify")
    has_times = claim.every != ALL and original.has_times()
    # A person counts once in a cell, or once per event there.
    part = pl.lit(1, pl.Int64) if claim.count == "people" else pl.len().cast(pl.Int64)
    columns = {"zone": events.zone, "to_zone": events.to_zone, "t": events.t, "person": events.person}
    parts = pl.DataFrame(columns).group_by("zone", "to_zone", "t", "person").agg(part=part)
    timed = pl.lit(has_times)
    return events.names, parts.select("zone", "to_zone", "t", timed.alias("timed"), "person", "part")


def _numbers_of(parts: pl.DataFrame, claim: Threshold) -> pl.DataFrame:
    """Return what each number counts, how many people, the largest part of one of them, and whether it is too small."""
    # Parts of one person in a number are added up first: a person in two cells of a row is one person of the row.
    each = parts.group_by([*_KEY, "person"]).agg(pl.col("part").sum())
    numbers = each.group_by(_KEY).agg(
        value=pl.col("part").sum(), people=pl.len().cast(pl.Int64), largest=pl.col("part").max()
    )
    share = claim.owner_share
    # largest / value > share, cross-multiplied.
    dominated = pl.col("largest") * share.denominator > pl.col("value") * share.numerator
    return numbers.with_columns(small=(pl.col("people") < claim.k) | dominated)


def _added_up(claim: Threshold) -> tuple[dict[str, pl.Expr], ...]:
    """Return the columns of the totals of rows, of columns, and of all."""
    if claim.tally == "zones":
        row = {"t": pl.lit(0, pl.Int64), "timed": pl.lit(False)}
        column = {"zone": pl.lit(0, pl.Int64)}
    else:
        row = {"to_zone": pl.lit(0, pl.Int64)}
        column = {"zone": pl.lit(0, pl.Int64)}
    return row, column, {**row, **column}


def _large_lines(parts: pl.DataFrame, claim: Threshold) -> pl.DataFrame:
    """Return the parts of cells that totals count: all whose row, column and table are large enough as they are left.

    Each round takes away the cells of every line that is too small without those taken away before.
    """
    # Before each round, some lines are gone; a round takes out all lines that are small without them.  It ends when
    # none is: each round takes out at least one.
    while True:
        gone = pl.zeros(len(parts), pl.Boolean, eager=True)
        for total in _added_up(claim):
            lines = parts.with_columns(**total)
            few = _numbers_of(lines, claim).filter(pl.col("small")).select(*_KEY, few=pl.lit(True))
            is_small = lines.join(few, on=_KEY, how="left", maintain_order="left")["few"].fill_null(False)
            gone = gone | is_small
        if not gone.any():
            return parts
        parts = parts.filter(~gone)


def _totals_of(cell: Cell, claim: Threshold) -> tuple[Cell, Cell, Cell]:
    """Return the totals that count a cell: of its row, of its column, and of all."""
    zone, to_zone, t = cell
    if claim.tally == "zones":
        return (zone, EVERYWHERE, None), (EVERYWHERE, EVERYWHERE, t), (EVERYWHERE, EVERYWHERE, None)
    return (zone, EVERYWHERE, t), (EVERYWHERE, to_zone, t), (EVERYWHERE, EVERYWHERE, t)


def _equations(shown: Mapping[Cell, int], hidden: list[Cell], claim: Threshold) -> Equations:
    """Return what the published totals say of hidden cells."""
    members: dict[Cell, list[int]] = {cell: [] for cell in shown if _is_total(cell, claim)}
    rest = {cell: shown[cell] for cell in members}
    # Each hidden cell is one unknown of at most three equations: those of its row, its column and of everything.
    for number, cell in enumerate(hidden):
        for total in dict.fromkeys(_totals_of(cell, claim)):
            if total in members:
                members[total].append(number)
    # What published cells explain of a total is taken away; the rest is the sum of hidden ones.
    for cell, value in shown.items():
        for total in () if cell in members else dict.fromkeys(_totals_of(cell, claim)):
            if total in rest:
                rest[total] -= value
    return Equations(
        n_cells=len(hidden),
        members=[np.array(one, np.int64) for one in members.values()],
        rest=[rest[total] for total in members],
    )


def _find_worked_out(
    shown: Mapping[Cell, int], hidden: list[Cell], positions: IntArray, claim: Threshold
) -> _Fault | None:
    """Return a hidden cell of `positions` that cannot be 0, or cannot be k - 1, by all that is public."""
    if not len(positions):
        return None
    equations = _equations(shown, hidden, claim)
    spend(_STEPS_PER_UNKNOWN * len(hidden))
    # A small cell is protected if both 0 and k - 1 are possible: then nobody can rule out that it is empty, nor that it
    # is large enough.
    for pinned in (find_pinned_low(equations, positions), find_too_low_highs(equations, positions, claim.k - 1)):
        if len(pinned):
            least, most = solve_bounds(equations, int(pinned[0]))
            return _Fault.at(
                f"A cell that is not published can be worked out to be from {least:g} to {most:g}.",
                hidden[int(pinned[0])],
                least=least,
                most=most,
            )
    return None


def _find_disclosed(shown: Mapping[Cell, int], claim: Threshold) -> tuple[_Fault | None, bool]:
    """Return a cell of which the files alone show that it holds somebody and fewer than k, and whether all were tried.

    Every zone and every time that some row names makes a line; one more of each stands for those that none names.
    """
    hidden = list(_unlisted(shown, claim))
    if len(hidden) > MOST_UNKNOWN:
        return None, False
    spend(_STEPS_PER_UNKNOWN * len(hidden))
    equations = _equations(shown, hidden, claim)
    # Forged totals may not even have a solution.
    if any(rest < 0 for rest in equations.rest):
        cell = next(cell for cell, rest in zip(_totals(shown, claim), equations.rest, strict=True) if rest < 0)
        return _Fault.at("A total is less than the cells that it counts.", cell), True
    for number in find_pinned_low(equations, np.arange(len(hidden))).tolist():
        least, most = solve_bounds(equations, number)
        # A cell that cannot be 0, and can be at most k - 1, is disclosed as small; half a unit is for the solver's
        # rounding.
        if not most > claim.k - 0.5:
            return (
                _Fault.at(
                    f"A cell that is not published can be worked out to be from {least:g} to {most:g}.",
                    hidden[number],
                    least=least,
                    most=most,
                ),
                True,
            )
    return None, True


def _totals(shown: Mapping[Cell, int], claim: Threshold) -> Iterable[Cell]:
    return (cell for cell in shown if _is_total(cell, claim))


_ELSEWHERE = "\N{REPLACEMENT CHARACTER}"
"""Stands for all zones that no row names; no published text holds it."""


def _unlisted(shown: Mapping[Cell, int], claim: Threshold) -> Iterable[Cell]:
    """Yield the cells that are not published, of all lines that a row names and of one beyond."""
    # All combinations of lines that occur, and one line beyond: zones or times may have been left out as a whole.
    if claim.tally == "zones":
        zones = sorted({zone for zone, _, _ in shown} - {EVERYWHERE})
        times = sorted({t for _, _, t in shown if t is not None})
        beyond = max(times, default=0) + 1
        yield from (
            (zone, EVERYWHERE, t)
            for zone in (*zones, _ELSEWHERE)
            for t in (*times, beyond)
            if (zone, EVERYWHERE, t) not in shown
        )
        return
    for t in sorted({t for _, _, t in shown}, key=lambda one: (one is not None, one or 0)):
        origins = sorted({zone for zone, _, at in shown if at == t} - {EVERYWHERE})
        ends = sorted({to_zone for _, to_zone, at in shown if at == t} - {EVERYWHERE})
        yield from (
            (zone, to_zone, t)
            for zone in (*origins, _ELSEWHERE)
            for to_zone in (*ends, _ELSEWHERE)
            if (zone, to_zone, t) not in shown
        )
