"""The published requests of people who follow a habit, and who else was in all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wayveil.attacks.positions.known_positions import Array
from wayveil.attacks.row_ranges import expanded, parts
from wayveil.model import Boxes, Points
from wayveil.model.data.ragged import offsets_of, trajectory_of_row

__all__ = ["Requests"]

_CHUNK = 1 << 20
_DEGREES_TOLERANCE_M = 1e-6  # what writing degrees and reading them back may do to the side of a box


@dataclass(frozen=True, eq=False)
class Requests:
    """Published boxes of samples, each with its person.

    Examples
    --------
    >>> truth = Points.from_records([[(60, 1.0, 1.0)], [(61, 1.5, 1.0)], [(62, 9.0, 9.0)]])
    >>> boxes = Boxes.from_records([[(0, 100, 0.0, 2.0, 0.0, 2.0)], [], []])
    >>> requests = Requests.published(truth, boxes, np.array([0]), np.array([0]))
    >>> requests.witnesses(truth, np.arange(3), 3).tolist()  # without a request, both others
    [1, 2, 2]
    """

    user: Array
    t_min: Array
    t_max: Array
    x_min: Array
    x_max: Array
    y_min: Array
    y_max: Array

    @classmethod
    def published(cls, truth: Points, target: Points | Boxes, rows: Array, user: Array) -> Requests:
        """Return the published box of each row: of its trajectory, at its time, and around it if there is a choice."""
        sides = target.boxes()
        t = truth.t[rows]
        x = truth.x[rows]
        y = truth.y[rows]
        # Trajectory and time as one sorted number: boxes of the trajectory that cover a time are a range.
        times = np.unique(np.concatenate([sides[0], sides[1], t]))
        width = len(times) + 1
        of = trajectory_of_row(target.offsets)
        key = trajectory_of_row(truth.offsets)[rows] * width + np.searchsorted(times, t)
        begin = np.searchsorted(of * width + np.searchsorted(times, sides[1]), key)
        end = np.searchsorted(of * width + np.searchsorted(times, sides[0]), key, side="right")
        slack = _DEGREES_TOLERANCE_M if target.frame.degrees else 0.0
        box = begin.copy()
        at = begin.copy()
        left = np.flatnonzero(begin < end)
        # Of several boxes that cover the time, the first that is around the sample; all of them step forward together.
        while len(left):
            x_min, x_max, y_min, y_max = (side[at[left]] for side in sides[2:])
            inside = (x_min - slack <= x[left]) & (x[left] <= x_max + slack)
            inside &= (y_min - slack <= y[left]) & (y[left] <= y_max + slack)
            box[left[inside]] = at[left[inside]]
            at[left] += 1
            left = left[~inside & (at[left] < end[left])]
        nonempty = begin < end
        return cls(user[nonempty], *(side[box[nonempty]] for side in sides))

    def witnesses(self, truth: Points, user: Array, people: int) -> Array:
        """Return per person how many others have a sample in all boxes of that person."""
        slack = _DEGREES_TOLERANCE_M if truth.frame.degrees else 0.0
        history = _History(truth, user, slack)
        witnesses = np.full(people, people - 1)
        begin, end = history.times_in(self)
        # The box with the fewest times first: it leaves few candidates for the others.
        order = np.lexsort((self.x_max - self.x_min, end - begin, self.user))
        first = offsets_of(np.bincount(self.user, minlength=people))
        asking = np.flatnonzero(np.diff(first))
        witnesses[asking] = 0
        at_once = max(1, 4 * _CHUNK // max(people, 1))
        for start in range(0, len(asking), at_once):
            some = asking[start : start + at_once]
            who, other = history.in_box(self, order[first[some]], begin, end)
            keep = self.user[who] != other
            who = self.user[who][keep]
            other = other[keep]
            done = 1
            # Boxes are asked in rounds that double: after the first box few candidates are left, so each round costs
            # about as much as the last.
            while len(who):
                size = np.clip(np.diff(first)[who] - done, 0, done)
                if not size.any():
                    break
                good = np.ones(len(who), bool)
                for part in parts(size, _CHUNK // 4):
                    which, position = expanded(first[who[part]] + done, size[part])
                    met = history.someone_in(self, order[position], other[part][which], begin, end)
                    good[np.arange(len(who))[part][which[~met]]] = False
                who = who[good]
                other = other[good]
                done = 2 * done
            witnesses += np.bincount(who, minlength=people)
        return witnesses


class _History:
    """True samples, sorted by time and place, and by person and time."""

    def __init__(self, truth: Points, user: Array, slack: float) -> None:
        # Times and x as ranks, so that both fit into one sortable number.
        self.slack, self.times, self.xs = slack, np.unique(truth.t), np.unique(truth.x)
        rank = np.searchsorted(self.times, truth.t)
        key = rank * (len(self.xs) + 1) + np.searchsorted(self.xs, truth.x)
        self.by_time = np.argsort(key, kind="stable")
        self.key = key[self.by_time]
        own = user * (len(self.times) + 1) + rank
        self.by_user = np.argsort(own, kind="stable")
        self.own = own[self.by_user]
        self.x = truth.x
        self.y = truth.y
        self.user = user

    def times_in(self, boxes: Requests) -> tuple[Array, Array]:
        """Return the times of samples in each box, as positions in `times`."""
        return np.searchsorted(self.times, boxes.t_min), np.searchsorted(self.times, boxes.t_max, side="right")

    def in_box(self, boxes: Requests, some: Array, begin: Array, end: Array) -> tuple[Array, Array]:
        """Return the pairs (box, person) of people with a sample in these boxes, each once."""
        left = np.searchsorted(self.xs, boxes.x_min[some] - self.slack)
        right = np.searchsorted(self.xs, boxes.x_max[some] + self.slack, side="right")
        people = int(self.user.max(initial=0)) + 1
        rows_inside = [np.zeros(0, np.int64)]
        for part in parts(end[some] - begin[some], _CHUNK // 4):
            which, time = expanded(begin[some[part]], (end - begin)[some[part]])
            low, high = (np.searchsorted(self.key, time * (len(self.xs) + 1) + x[part][which]) for x in (left, right))
            for piece in parts(high - low, _CHUNK):
                of, at = expanded(low[piece], (high - low)[piece])
                box = some[part][which[piece][of]]
                row = self.by_time[at]
                inside = self._inside(boxes, box, row)
                rows_inside.append(np.unique(box[inside] * people + self.user[row[inside]]))
        pairs = np.unique(np.concatenate(rows_inside))
        return pairs // people, pairs % people

    def someone_in(self, boxes: Requests, box: Array, person: Array, begin: Array, end: Array) -> Array:
        """Return whether each person has a sample in the box beside."""
        width = len(self.times) + 1
        low = np.searchsorted(self.own, person * width + begin[box])
        high = np.searchsorted(self.own, person * width + end[box])
        met = np.zeros(len(box), bool)
        for part in parts(high - low, _CHUNK):
            which, at = expanded(low[part], (high - low)[part])
            inside = self._inside(boxes, box[part][which], self.by_user[at])
            met[np.arange(len(box))[part][which[inside]]] = True
        return met

    def _inside(self, boxes: Requests, box: Array, row: Array) -> Array:
        x = self.x[row]
        y = self.y[row]
        slack = self.slack
        wide = (boxes.x_min[box] - slack <= x) & (x <= boxes.x_max[box] + slack)
        inside: Array = wide & (boxes.y_min[box] - slack <= y) & (y <= boxes.y_max[box] + slack)
        return inside
