"""Trajectories with the same timestamps: who stays close to whom all the time."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from wayveil.model.budget import spend
from wayveil.model.data.ragged import FloatArray, IntArray
from wayveil.verifiers.common.step_budget import BudgetExceeded, StepBudget

__all__ = ["CHUNK", "MOST_PAIRWISE", "Movers"]

CHUNK = 30_000
"""About so many coordinates are compared at once; a verdict does not depend on it."""

MOST_PAIRWISE = 4_096
"""No more trajectories than these are compared each with each, so that memory stays bounded."""

_TELLING = 4
_SKIM = 12
_SAMPLE = 256


class Movers:
    """Positions of trajectories at common times, one row per trajectory and one column per time.

    Two trajectories are close if they are at most `limit` apart at every time.  Between two common samples the distance
    of two linear motions is convex, so it is largest at a sample: nothing can happen in between.

    Parameters
    ----------
    x, y : float64, trajectories by times
        Positions in metres.
    limit : float, > 0
        Largest distance, tolerance included.
    budget : StepBudget
        Is spent by one step per distance computed.

    Notes
    -----
    A tree over the positions at few times that tell trajectories apart proposes candidates: who is not close there is
    not close at all.  Every candidate is then compared at every time, so what the tree is built on never changes an
    answer.  Memory is that of `x` and `y`, once more for the tree and the times looked at first, and O(CHUNK).

    Examples
    --------
    >>> movers = Movers(np.array([[0.0, 5], [1, 5], [2, 9]]), np.zeros((3, 2)), 2.0, StepBudget(1000))
    >>> movers.near(0)[0].tolist(), movers.among(np.array([0, 2])).tolist()
    ([1], [[0.0, 16.0], [16.0, 0.0]])
    """

    def __init__(self, x: FloatArray, y: FloatArray, limit: float, budget: StepBudget) -> None:
        self.limit = limit
        self._budget = budget
        self._x = x
        self._y = y
        telling = _telling_times(x, y)
        self._places = np.hstack([x[:, telling], y[:, telling]])
        self._tree = cKDTree(self._places)
        self._reach = limit * (1 + 1e-9)  # a rounded square may let pass what is an ulp beyond the limit
        step = max(1, x.shape[1] // _SKIM)
        self._skim = (np.ascontiguousarray(x[:, ::step]), np.ascontiguousarray(y[:, ::step]))

    def __len__(self) -> int:
        return len(self._x)

    def near(self, one: int, most: int | None = None) -> tuple[IntArray, bool]:
        """Return who is close to `one`, the nearest first, and whether these are all.

        With `most`, only so many candidates are looked at.
        """
        if most is None or most + 1 >= len(self):
            neighbours = np.array(self._tree.query_ball_point(self._places[one], self._reach, p=np.inf), np.int64)
            complete = True
        else:
            apart, index = self._tree.query(
                self._places[one], k=most + 1, p=np.inf, distance_upper_bound=np.nextafter(self._reach, np.inf)
            )
            neighbours = np.atleast_1d(index)[np.isfinite(np.atleast_1d(apart))].astype(np.int64)
            complete = len(neighbours) <= most
        spend(80_000 + 100 * len(neighbours))
        neighbours = np.sort(neighbours[neighbours != one])
        for x, y in (self._skim, (self._x, self._y)):
            apart = self._apart(x, y, one, neighbours)
            close = apart <= self.limit**2
            neighbours = neighbours[close]
            apart = apart[close]
        return neighbours[np.argsort(apart, kind="stable")], complete

    def among(self, some: IntArray) -> FloatArray:
        """Return the square of the largest distance over all times, for each pair of `some`."""
        if len(some) > MOST_PAIRWISE:
            raise BudgetExceeded
        times = self._x.shape[1]
        self._budget.consume(len(some) ** 2 * times)
        x = np.ascontiguousarray(self._x[some].T)
        y = np.ascontiguousarray(self._y[some].T)
        largest = np.zeros((len(some), len(some)))
        step = max(1, CHUNK // len(some) ** 2)
        for begin in range(0, times, step):
            part = slice(begin, begin + step)
            apart = x[part, :, None] - x[part, None, :]
            apart *= apart
            other = y[part, :, None] - y[part, None, :]
            other *= other
            apart += other
            np.maximum(largest, apart.max(axis=0), out=largest)
        return largest

    def boxed(self, some: IntArray) -> tuple[int, float]:
        """Return how many of the first of `some` fit, at each time, a box with a diagonal of at most `limit`.

        All of these are pairwise close, and no two are farther apart than the largest such diagonal, whose square is
        the second value.  Costs time in proportion to the positions, not to the pairs.
        """
        self._budget.consume(2 * len(some) * self._x.shape[1])
        spread = np.zeros(len(some))
        step = max(1, CHUNK // len(some))
        for begin in range(0, self._x.shape[1], step):
            part = slice(begin, begin + step)
            sides = [
                np.maximum.accumulate(c[some, part], axis=0) - np.minimum.accumulate(c[some, part], axis=0)
                for c in (self._x, self._y)
            ]
            np.maximum(spread, (sides[0] ** 2 + sides[1] ** 2).max(axis=1), out=spread)
        fitting = int(np.searchsorted(spread, self.limit**2, side="right"))
        return fitting, float(spread[fitting - 1])

    def _apart(self, x: FloatArray, y: FloatArray, one: int, others: IntArray) -> FloatArray:
        """Return the square of the largest distance of each of the `others` to `one`, over the times of x and y."""
        self._budget.consume(len(others) * x.shape[1])
        largest = np.empty(len(others))
        step = max(1, CHUNK // x.shape[1])
        for begin in range(0, len(others), step):
            part = others[begin : begin + step]
            dx = x[part] - x[one]
            dy = y[part] - y[one]
            largest[begin : begin + step] = (dx * dx + dy * dy).max(axis=1)
        return largest


def _telling_times(x: FloatArray, y: FloatArray) -> IntArray:
    """Return few times at which positions tell trajectories apart.

    On a sample, the time at which positions vary most is taken first; then the one at which they vary most beyond what
    follows linearly from the times taken already; and so on.

    Examples
    --------
    >>> x = np.zeros((100, 9))
    >>> x[:, 7] = np.arange(100)
    >>> int(_telling_times(x, np.zeros((100, 9)))[0])
    7
    """
    n, times = x.shape
    if times <= _TELLING:
        return np.arange(times)
    rows, columns = (np.unique(np.linspace(0, size - 1, min(size, _SAMPLE)).astype(np.int64)) for size in (n, times))
    rest = x[np.ix_(rows, columns)] + 1j * y[np.ix_(rows, columns)]
    rest -= rest.mean(axis=0)
    chosen = []
    for _ in range(_TELLING):
        variation = (np.abs(rest) ** 2).sum(axis=0)
        best = int(variation.argmax())
        chosen.append(columns[best])
        if variation[best] > 0:
            along = rest[:, best] / np.sqrt(variation[best])
            rest -= along[:, None] * (along.conj()[:, None] * rest).sum(axis=0)
    return np.array(chosen, np.int64)
