"""Counts with noise: how many people or visits there were, with differential privacy for each person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.methods.common.cell_tally import CellTally, tally_cells
from wayveil.methods.common.noise import add_noise, left_of, load_opendp, plan_laplace, plan_selection, select_keys
from wayveil.methods.dp_counts.cell_bound import bound_cells, choose_bound, plan_bound
from wayveil.methods.dp_counts.noisy_rows import NoisyRows
from wayveil.methods.dp_counts.public_keys import PublicKeys, read_keys
from wayveil.model import (
    CountTables,
    DifferentialPrivacy,
    Engine,
    Method,
    MethodResult,
    NoisyQuery,
    Routes,
    Sensitive,
    Stops,
    Trips,
    Visits,
    parameter,
)
from wayveil.model.claims.differential_privacy import epsilon_parameter
from wayveil.model.claims.threshold import count_parameter, every_parameter, margins_parameter, tally_parameter
from wayveil.model.data.count_tables import ALL, Events, list_events
from wayveil.model.data.ragged import BoolArray, IntArray

__all__ = ["DpCounts"]

_USUAL_DELTA = 1e-6
_FOR_BOUND = 0.1
"""What of epsilon is spent on the bound of cells per person, where nobody gave one."""


@dataclass(frozen=True, kw_only=True)
class DpCounts(Method):
    """Publish noisy numbers of people in each zone and bucket of time, or of those who went from zone to zone.

    Of everybody at most `per_person` cells are counted, and in each at most `per_cell`; every number gets discrete
    Laplace noise from OpenDP.  With a public list of zones every key has a number, also where nobody was; without one,
    only keys whose noisy number reaches a threshold are shown.

    Parameters
    ----------
    epsilon : float, > 0
        The privacy budget of a person over the whole publication.
    delta : float, or "auto"
        The probability with which a key of one person alone may be shown; "auto" is 0 with public zones, else 1e-6.
    tally : {"zones", "flows"}
        Who was in a zone at a time; or who went from one zone to the next.
    count : {"people", "visits"}
        Whether somebody counts once in a cell, or as often as they were there, up to `per_cell`.
    every : str
        Width of a bucket of time; "as-is" for the times of the data, "all" for none.
    margins : {"no", "yes"}
        Whether totals are published; they are sums of the published cells, so that everything adds up.
    per_person : int, >= 1, or "auto"
        The number of cells of one person that are counted; "auto" spends a tenth of epsilon to choose it, so that it
        is enough for about nine people in ten.
    per_cell : int, >= 1
        How often somebody counts in a cell, with ``count="visits"``.
    public_zones : groups of names
        All zones there are, whether anybody was there or not; groups only keep long lists readable.
    public_times : str
        The first and the last bucket of time, as in "2016-07-01..2016-07-31" or "0..23"; needed with public zones,
        unless ``every="all"``.

    Guarantee
    ---------
    ``DifferentialPrivacy(epsilon, delta)`` for each person with all their rows.  Not covered: other publications of the
    same people, whose budgets add up, and groups of people who move together.

    Notes
    -----
    Which cells of somebody are counted is drawn independently of everybody else.  Rows outside of public zones and
    times are left out before.  The noise comes from OpenDP's own source: a second run gives other numbers, whatever the
    seed.
    O(n log n) time for n rows, and about 15 microseconds for each key.

    References
    ----------
    Dwork, Roth: The algorithmic foundations of differential privacy.  2014.
    Wilson et al.: Differentially private SQL with bounded user contribution.  PETS 2020.

    Examples
    --------
    >>> from wayveil.engines import LocalEngine
    >>> data = Visits.from_records([[("park", 8)]] * 500)
    >>> method = DpCounts(epsilon=5, every="all", per_person=1, public_zones={"all": ["park", "quay"]})
    >>> made = method.run(data, rng=np.random.default_rng(1), engine=LocalEngine())
    >>> [row[:3] for row in made.data.record(0)], abs(made.data.record(0)[0][3] - 500) < 20
    ([('park', '', None), ('quay', '', None)], True)
    """

    epsilon: float = epsilon_parameter()
    delta: float | str = parameter(
        kind="number",
        low=0,
        high=0.1,
        choices=("auto",),
        default="auto",
        why="It is a probability, far below one in the number of people.",
        help="probability with which a place of one person may be shown; auto: 0 with public zones, else 1e-6",
    )
    tally: str = tally_parameter()
    count: str = count_parameter()
    every: str = every_parameter()
    margins: str = margins_parameter()
    per_person: int | str = parameter(
        kind="int",
        low=1,
        high=1_000_000,
        choices=("auto",),
        default="auto",
        help="in how many cells one person is counted at most; auto: a tenth of epsilon is spent to choose it",
    )
    per_cell: int = parameter(
        kind="int", low=1, high=1_000_000, default=1, help="how often one person counts in a cell, with count=visits"
    )
    public_zones: Sensitive = parameter(
        kind="groups", default=(), help="all zones, known to everybody; without, only keys above a threshold are shown"
    )
    public_times: str = parameter(
        kind="text", default="", help="first and last bucket of time, FIRST..LAST; needed with public zones and times"
    )

    name: ClassVar[str] = "dp_counts"
    summary: ClassVar[str] = "tables of counts with noise: differential privacy for each person"
    accepts: ClassVar[type[Visits]] = Visits
    accepts_also: ClassVar[tuple[type[Any], ...]] = (Trips, Routes, Stops)
    publishes: ClassVar[type[CountTables]] = CountTables
    splits_trajectories: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.epsilon == 0:
            raise ParameterError(
                "dp_counts: epsilon must be larger than 0, got 0. With no budget no number could depend on the data."
            )
        if self.count == "people" and self.per_cell > 1:
            raise ParameterError(
                f"dp_counts: where people are counted, everybody counts once in a cell; per_cell={self.per_cell} goes "
                "with count=visits."
            )
        if self.public_times and not self.public_zones:
            raise ParameterError("dp_counts: public_times go with public_zones; give both, or neither.")
        if self.public_times and self.every == ALL:
            raise ParameterError("dp_counts: with every=all there are no times; leave public_times out.")
        if self.public_zones and not self.public_times and self.every != ALL:
            raise ParameterError(
                "dp_counts: public zones need public times, too: which times there are could tell of one person. Give "
                "public_times=FIRST..LAST, or every=all."
            )
        if not self.public_zones and self.delta == 0:
            raise ParameterError(
                "dp_counts: without public zones delta must be above 0, because a place of one person may be shown by "
                "chance. Give delta=1e-6, or public_zones."
            )

    @property
    def random_noise(self) -> bool:
        return True

    @property
    def hides_by_chance(self) -> bool:
        return True  # which cells of somebody are counted

    @property
    def claim(self) -> DifferentialPrivacy:
        return DifferentialPrivacy(epsilon=self.epsilon, delta=self._delta)

    @property
    def metric_settings(self) -> Mapping[str, Mapping[str, Any]]:
        return {"count_error": {"tally": self.tally, "counted": self.count, "every": self.every}}

    def run(self, data: Any, *, rng: np.random.Generator, engine: Engine) -> MethodResult:
        load_opendp(self.name)
        engine.progress("count")
        if self.margins == "yes" and self.tally == "zones" and (self.every == ALL or not data.has_times()):
            raise InputError("dp_counts: totals of zones over all times need times. Leave margins=no.")
        events = list_events(data, tally=self.tally, every=self.every, component=self.name)
        timed = self.every != ALL and data.has_times()
        keys = None
        if self.public_zones:
            keys = read_keys(
                self.public_zones,
                self.public_times,
                data,
                events,
                tally=self.tally,
                every=self.every,
                component=self.name,
            )
        inside = np.ones(len(events.zone), np.bool_) if keys is None else keys.contain(events)
        events = _choose(events, inside)
        cells = tally_cells(events, count=self.count)
        spent_on_bound, bound = self._bound(cells)
        epsilon = left_of(self.epsilon, spent_on_bound)
        kept = bound_cells(cells, bound, rng)
        part = np.minimum(cells.pair_count, self.per_cell)
        value = np.bincount(cells.pair_cell[kept], weights=part[kept], minlength=len(cells)).astype(np.int64)
        engine.progress("draw noise")
        if keys is None:
            query, rows, published = self._selected(events, cells, value, bound, epsilon)
        else:
            query, rows, published = self._everywhere(keys, cells, value, bound, epsilon)
        if self.margins == "yes":
            rows = rows.with_totals(self.tally)
        claim = self._declare(keys, (*spent_on_bound, query))
        return MethodResult(
            data=rows.table(data, timed=timed),
            claim=claim,
            source=np.full(1, -1),
            counted=_counted_rows(data, events, cells, kept, published, tally=self.tally),
            facts={
                "cells that somebody is in": len(cells),
                "cells counted per person, at most": bound,
                "scale of the noise": round(query.scale, 3),
                "contributions left out by the bound": int((~kept).sum()),
                "events outside of public zones and times": int((~inside).sum()),
            },
        )

    def _bound(self, cells: CellTally) -> tuple[tuple[NoisyQuery, ...], int]:
        """Return the queries that a bound on cells per person took, none where it was given, and the bound."""
        if isinstance(self.per_person, int):
            return (), self.per_person
        query = plan_bound(self.epsilon * _FOR_BOUND, component=self.name)
        return (query,), choose_bound(cells, query, component=self.name)

    def _everywhere(
        self, keys: PublicKeys, cells: CellTally, value: IntArray, bound: int, epsilon: float
    ) -> tuple[NoisyQuery, NoisyRows, BoolArray]:
        """Return a noisy number for every public key."""
        query = plan_laplace(
            "cells",
            component=self.name,
            counts=self._counts,
            keys=len(keys),
            l0=min(bound, len(keys)),
            linf=self.per_cell,
            epsilon=epsilon,
        )
        numbers = np.zeros(len(keys), np.int64)
        numbers[keys.position(cells.zone, cells.to_zone, cells.t)] = value
        noisy = np.maximum(add_noise(numbers, query, component=self.name), 0)
        return query, keys.rows(noisy), np.ones(len(cells), np.bool_)

    def _selected(
        self, events: Events, cells: CellTally, value: IntArray, bound: int, epsilon: float
    ) -> tuple[NoisyQuery, NoisyRows, BoolArray]:
        """Return the cells whose noisy number reaches the threshold."""
        query = plan_selection(
            "cells",
            component=self.name,
            counts=self._counts,
            l0=bound,
            linf=self.per_cell,
            epsilon=epsilon,
            delta=self._delta,
        )
        # A cell of which the bound left nobody is no key: it must not be shown by its noise.
        counted = np.flatnonzero(value > 0)
        chosen, noisy = select_keys(value[counted], query, component=self.name)
        shown = counted[chosen]
        published = np.zeros(len(cells), np.bool_)
        published[shown] = True
        rows = NoisyRows(
            zone=cells.zone[shown],
            to_zone=cells.to_zone[shown],
            t=cells.t[shown],
            timed=np.ones(len(shown), np.bool_),
            count=noisy,
            names=events.names,
        )
        return query, rows, published

    @property
    def _delta(self) -> float:
        if isinstance(self.delta, str):
            return 0.0 if self.public_zones else _USUAL_DELTA
        return self.delta

    @property
    def _counts(self) -> str:
        return f"{self.count}-by-{'flow' if self.tally == 'flows' else 'zone'}"

    def _declare(self, keys: PublicKeys | None, queries: tuple[NoisyQuery, ...]) -> DifferentialPrivacy:
        """Return the claim with all that was done."""
        steps = [
            *(["bound-from-histogram"] if len(queries) > 1 else []),
            *(["not-negative"] if keys is not None else []),
            *(["totals"] if self.margins == "yes" else []),
        ]
        return replace(
            self.claim,
            queries=queries,
            zones=() if keys is None else keys.zones,
            times=() if keys is None else keys.times,
            bounding=("sample-cells", "clip-counts") if self.count == "visits" else ("sample-cells",),
            steps=tuple(steps),
        )


def _choose(events: Events, inside: BoolArray) -> Events:
    """Return the events that are counted."""
    return Events(
        events.names,
        events.zone[inside],
        events.to_zone[inside],
        events.t[inside],
        events.person[inside],
        events.row[inside],
    )


def _counted_rows(
    data: Any, events: Events, cells: CellTally, kept: BoolArray, published: BoolArray, *, tally: str
) -> BoolArray:
    """Return which rows of the input are in a published number; known to the owner alone."""
    people, person = np.unique(events.person, return_inverse=True)
    pair = cells.pair_cell * max(1, len(people)) + cells.pair_person
    of_event = np.searchsorted(pair, cells.cell_of_event * max(1, len(people)) + person)
    begins = events.row[kept[of_event] & published[cells.cell_of_event]]
    counted = np.zeros(data.n_rows, np.bool_)
    counted[begins] = True
    if tally == "flows":
        counted[begins + 1] = True  # a way has two ends
    return counted
