"""Mark: which samples of each trajectory an attacker may know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from wayveil.errors import InputError, ParameterError
from wayveil.model import Points, Step, check_parameters, parameter, seconds_per_unit
from wayveil.model.data.ragged import BoolArray, FloatArray, IntArray, trajectory_of_row

__all__ = ["Mark"]

_HOUR_S = 3600
_MOST_CELLS = 2.0**50  # numbers of cells must be exact


@dataclass(frozen=True, kw_only=True)
class Mark(Step):
    """Declare what an attacker may know of each trajectory: its quasi-identifier.

    Parameters
    ----------
    rule : {"ends", "home_work", "random"}
        `ends`: the first and the last sample of every trajectory.  `home_work`: the first sample at home and the first
        one at work, see Notes.  `random`: `count` samples of every trajectory, or all where there are fewer.
    count : int, >= 1
        With `random`: how many.
    seed : int, >= 0
        With `random`: the same seed marks the same samples of the same data.
    cell : float, > 0
        With `home_work`: side of the square cells in which places are counted, in metres.
    home_from, home_to, work_from, work_to : int, 0 to 23 (from), 0 to 24 (to)
        With `home_work`: hours between which people are at home and at work, the second one not included.  Where the
        first is the larger one, midnight is between them.

    Notes
    -----
    The home of a person is the cell in which most samples of all their trajectories between `home_from` and `home_to`
    are; their work the same between `work_from` and `work_to`.  Of cells with as many, the one that was met first.  In
    every trajectory, the first sample in the cell and between these hours is marked, if there is one.  Hours are those
    of the clock that the times are written in: UTC for epoch seconds and times with an offset, else the clock on the
    wall.

    Samples that are already marked stay so: two steps mark what either of them marks.  O(n log n) time.

    Guarantee
    ---------
    None: what is not marked is not protected by methods that go by the marks.

    Examples
    --------
    >>> data = Points.from_records([[(0, 0, 0), (1, 1, 0), (2, 2, 0)], [(0, 5, 5)]])
    >>> marked, notes = Mark(rule="ends").run(data)
    >>> marked.known.tolist()
    [True, False, True, True]
    >>> notes
    ('3 of 4 points are marked as known, in 2 of 2 trajectories.',)
    """

    rule: str = parameter(
        kind="choice",
        choices=("ends", "home_work", "random"),
        help="which samples are known: first and last, at home and at work, or some drawn at random",
    )
    count: int = parameter(kind="int", low=1, default=5, help="with rule=random: samples of each trajectory")
    seed: int = parameter(kind="int", low=0, default=0, help="with rule=random: the same seed draws the same samples")
    cell: float = parameter(
        kind="number", low=0, default=200.0, help="with rule=home_work: side of the cells of places, in metres"
    )
    home_from: int = parameter(kind="int", low=0, high=23, default=20, help="hour from which people are at home")
    home_to: int = parameter(kind="int", low=0, high=24, default=6, help="hour until which people are at home")
    work_from: int = parameter(kind="int", low=0, high=23, default=9, help="hour from which people are at work")
    work_to: int = parameter(kind="int", low=0, high=24, default=17, help="hour until which people are at work")

    name: ClassVar[str] = "mark"
    summary: ClassVar[str] = "declare which points of each trajectory an attacker may know"
    accepts: ClassVar[type[Points]] = Points
    gives: ClassVar[type[Points]] = Points

    def __post_init__(self) -> None:
        check_parameters(self, self.name)
        if self.cell == 0:
            raise ParameterError("mark: cell must be greater than 0, got 0. Cells without a size hold no points.")
        for what, begin, end in self._hours():
            if begin == end:
                raise ParameterError(f"mark: {what}_from and {what}_to must differ, got {begin} and {end}.")

    def run(self, data: Points) -> tuple[Points, tuple[str, ...]]:
        """Return the data with marks, and notes that count them."""
        if self.rule == "ends":
            known = _ends(data)
        elif self.rule == "random":
            known = _random(data, self.count, self.seed)
        else:
            known = self._home_work(data)
        if data.known is not None:
            known = known | data.known
        return replace(data, known=known), _notes(data, known)

    def _hours(self) -> tuple[tuple[str, int, int], ...]:
        return ("home", self.home_from, self.home_to), ("work", self.work_from, self.work_to)

    def _home_work(self, data: Points) -> BoolArray:
        seconds = seconds_per_unit(data.time_format)
        if seconds is None:
            raise InputError(
                "mark: rule home_work needs the time of day, but the times are plain integers without a calendar. Give "
                "dates or epoch seconds, or choose another rule."
            )
        hour = data.t // round(_HOUR_S / seconds) % 24
        track = trajectory_of_row(data.offsets)
        person = data.owner[track]
        place = self._cells(data.x), self._cells(data.y)
        known = np.zeros(data.n_rows, np.bool_)
        for _, begin, end in self._hours():
            # Hours that go over midnight are two stretches.
            inside = (begin <= hour) & (hour < end) if begin < end else (begin <= hour) | (hour < end)
            rows = np.flatnonzero(inside)
            rows = rows[_at_main_place(person[rows], place[0][rows], place[1][rows], data.t[rows])]
            # The earliest row of each trajectory at the main place.
            known[rows[np.unique(track[rows], return_index=True)[1]]] = True
        return known

    def _cells(self, coordinate: FloatArray) -> FloatArray:
        if np.abs(coordinate).max(initial=0) > _MOST_CELLS * self.cell:
            raise InputError(
                f"mark: cells of {self.cell:g} m are too small for coordinates as large as these; choose a larger cell."
            )
        return np.floor(coordinate / self.cell)


def _ends(data: Points) -> BoolArray:
    known = np.zeros(data.n_rows, np.bool_)
    nonempty = np.diff(data.offsets) > 0
    known[data.offsets[:-1][nonempty]] = True
    known[data.offsets[1:][nonempty] - 1] = True
    return known


def _random(data: Points, count: int, seed: int) -> BoolArray:
    """Mark the `count` rows of each trajectory that come first when all are shuffled."""
    # Random numbers sorted within each trajectory: the first `count` are a random sample without repetition.
    track = trajectory_of_row(data.offsets)
    shuffled = np.lexsort((np.random.default_rng(seed).random(data.n_rows), track))
    known = np.empty(data.n_rows, np.bool_)
    known[shuffled] = np.arange(data.n_rows) - data.offsets[:-1][track] < count
    return known


def _at_main_place(person: IntArray, x: FloatArray, y: FloatArray, t: IntArray) -> BoolArray:
    """Tell which rows are in the cell in which most rows of their person are."""
    # Equal cells of a person stand side by side, in the order of time.
    order = np.lexsort((t, y, x, person))
    new = np.ones(len(order), np.bool_)
    columns = (person[order], x[order], y[order])
    new[1:] = np.logical_or.reduce([c[1:] != c[:-1] for c in columns])
    cell = np.empty(len(order), np.int64)
    cell[order] = np.cumsum(new) - 1
    first = order[new]
    # Per person the cell with most rows first; of several, the one that was entered earliest.
    best = np.lexsort((t[first], -np.bincount(cell, minlength=len(first)), person[first]))
    main = np.zeros(len(first), np.bool_)
    main[best[np.unique(person[first][best], return_index=True)[1]]] = True
    return main[cell]


def _notes(data: Points, known: BoolArray) -> tuple[str, ...]:
    marked = len(np.unique(trajectory_of_row(data.offsets)[known]))
    count = int(np.count_nonzero(known))
    verb = "is" if count == 1 else "are"
    return (
        f"{count:,} of {data.n_rows:,} points {verb} marked as known, in {marked:,} of {len(data):,} trajectories.",
    )
