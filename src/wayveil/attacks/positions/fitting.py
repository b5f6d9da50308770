"""Who fits where: the people whose known positions lie in the boxes of a published trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from wayveil.attacks.positions.known_positions import Array
from wayveil.attacks.row_ranges import expanded, parts
from wayveil.model import Boxes, Points
from wayveil.model.data.ragged import trajectory_of_row

__all__ = ["MOST_EDGES", "fitting"]

MOST_EDGES = 4_000_000
"""Pairs of a person and a trajectory that fit, above which the graph is not drawn."""

_MOST_PAIRS = 8_000_000  # pairs of a person and a trajectory that are compared
_CHUNK = 1 << 20
_JUDGED_BY = 256  # trajectories
_BAND = 256  # boxes
_TRIED = 4  # known rows of a trajectory of which the most telling one is looked for
_DEGREES_TOLERANCE_M = 1e-6  # what writing degrees and reading them back may do to the side of a box


def fitting(
    truth: Points, target: Points | Boxes, nodes: Array, *, whatever: bool = False
) -> tuple[Array, Array] | None:
    """Return the edges (person, trajectory) of the attack graph from these nodes, sorted; None if they are too many.

    Nodes count the published trajectories from 0.  Per node the known row that fewest trajectories contain is looked up
    among boxes that are sorted by place, identical ones once; the other rows only for what is left.  Where boxes are
    marked as those of declared times, what is known must be in such boxes: a trajectory without the marks is not that
    of the person.

    Examples
    --------
    >>> truth = Points.from_records([[(0, 1.0, 1.0)], [(0, 3.0, 1.0)]])
    >>> boxes = Boxes.from_records([[(0, 1, 0.0, 2.0, 0.0, 2.0)], [(0, 0, 0.0, 3.0, 1.0, 1.0)]])
    >>> [column.tolist() for column in fitting(truth, boxes, np.arange(2))]
    [[0, 0, 1], [0, 1, 1]]
    """
    with_rows = np.flatnonzero(np.diff(target.offsets))
    n = len(with_rows)
    target = target.of_declared_times()
    known = truth if truth.known is None else truth.where(truth.known)
    search = _Search(replace(known.take(with_rows[nodes]), known=None), target.take(with_rows), nodes)
    blank = np.flatnonzero(np.diff(search.first) == 0)
    rows, expected = search.telling()
    total = len(blank) * n
    compared = 0
    if (total > MOST_EDGES or expected > 2 * _MOST_PAIRS) and not whatever:
        return None
    edges = [(nodes[blank][:, None] * n + np.arange(n)).ravel()]
    for keys, tried in search.pairs(rows):
        edges.append(keys)
        total = total + len(keys)
        compared = compared + tried
        if (total > MOST_EDGES or compared > _MOST_PAIRS) and not whatever:
            return None
    keys = np.unique(np.concatenate(edges))
    return keys // max(n, 1), keys % max(n, 1)


class _Search:
    """Known positions against published boxes."""

    def __init__(self, seen: Points, target: Points | Boxes, nodes: Array) -> None:
        self.n = len(target)
        self.nodes = nodes
        self.tolerance = _DEGREES_TOLERANCE_M if target.frame.degrees else 0.0
        sides = target.boxes()
        self.x_min, self.x_max, self.y_min, self.y_max = sides[2:]
        times = np.unique(np.concatenate([sides[0], sides[1], seen.t]))
        self.width = len(times) + 1
        self.trajectory = trajectory_of_row(target.offsets)
        self.begins, self.ends = (self.trajectory * self.width + np.searchsorted(times, t) for t in sides[:2])
        # Identical boxes have one code, so that a crowd of them is looked at once.
        order = np.lexsort(sides)
        new = np.zeros(len(order), bool)
        for side in sides:
            new[1:] |= np.diff(side[order]) != 0
        self.code = np.empty(len(order), np.int64)
        self.code[order] = np.cumsum(new)
        # The rows that are known of a node, those in a small box of its own trajectory first: few others are there.
        node = trajectory_of_row(seen.offsets)
        rank = np.searchsorted(times, seen.t)
        begin, end = self._in_time(nodes[node], rank)
        area = np.full(len(node), np.inf)
        has = begin < end
        own = begin[has]
        area[has] = (self.x_max[own] - self.x_min[own]) * (self.y_max[own] - self.y_min[own])
        order = np.lexsort((area, node))
        self.first = seen.offsets
        self.node = node[order]
        self.rank = rank[order]
        self.x = seen.x[order]
        self.y = seen.y[order]

    def telling(self) -> tuple[Array, int]:
        """Return per node the row that the fewest boxes contain, and about how many boxes contain these rows in all.

        It is judged by the boxes of some trajectories.
        """
        tried = np.flatnonzero(np.arange(len(self.node)) - self.first[self.node] < _TRIED)
        counts = np.zeros(len(self.node), np.int64)
        step = max(1, self.n // _JUDGED_BY)
        for row, box, members in self._hits(tried, np.arange(0, self.n, step)):
            np.add.at(counts, row, np.diff(members[0])[box])
        order = tried[np.lexsort((counts[tried], self.node[tried]))]
        best = order[np.unique(self.node[order], return_index=True)[1]]
        return best, int(counts[best].sum()) * step

    def pairs(self, rows: Array) -> Iterator[tuple[Array, int]]:
        """Yield ``person * n + trajectory`` of all that fit, and how many were compared.

        `rows` has the row of each person that is looked up among the boxes.
        """
        for row, box, (starts, member) in self._hits(rows, np.arange(self.n)):
            size = np.diff(starts)[box]
            for part in parts(size, _CHUNK):
                which, at = expanded(starts[box[part]], size[part])
                node = self.node[row[part]][which]
                o = member[at]
                keep = self._all_inside(node, o)
                yield self.nodes[node[keep]] * self.n + o[keep], len(keep)

    def _hits(self, rows: Array, trajectories: Array) -> Iterator[tuple[Array, Array, tuple[Array, Array]]]:
        """Yield (row, box, who has each box) for all boxes of `trajectories` that contain a row.

        Rows are taken in the order of time, some at once; boxes are numbered anew every time.
        """
        rows = rows[np.argsort(self.rank[rows], kind="stable")]
        run = np.flatnonzero(np.diff(self.rank[rows], prepend=-1))
        cuts = run[np.diff(run // 256, prepend=-1) > 0]
        base = trajectories * self.width
        for start, stop in pairwise([*cuts, len(rows)]):
            batch = rows[start:stop]
            begin = np.searchsorted(self.ends, base + self.rank[batch[0]])
            end = np.searchsorted(self.begins, base + self.rank[batch[-1]], side="right")
            _, boxes = expanded(begin, np.maximum(end - begin, 0))
            boxes = boxes[np.argsort(self.code[boxes], kind="stable")]
            first = np.flatnonzero(np.diff(self.code[boxes], prepend=-1))
            members = np.append(first, len(boxes)), self.trajectory[boxes]
            alike = list(self._alike(boxes[first]))
            block = max(1, 8 * _CHUNK // max(1, len(first)))
            for some in np.split(batch, range(block, len(batch), block)):
                hits = [(some[:0], some[:0]), *self._inside_boxes(some, boxes[first], alike)]
                row, box = (np.concatenate(column) for column in zip(*hits, strict=True))
                yield row, box, members

    def _inside_boxes(self, rows: Array, boxes: Array, alike: list[Array]) -> Iterator[tuple[Array, Array]]:
        """Yield the pairs of a row and a (numbered) box that contains it."""
        for some in alike:
            left = self.x_min[boxes[some]]
            extent = (self.x_max[boxes[some]] - left).max()
            # The slack is only to look far enough: what is found is compared exactly.
            y = self.y[rows]
            slack = self.tolerance + 1e-9 * np.abs(self.y[rows])
            near = self.y_min[boxes[some]].min() - slack <= y
            near &= y <= self.y_max[boxes[some]].max() + slack
            here = rows[near]
            x = self.x[here]
            slack = self.tolerance + 1e-9 * np.abs(self.x[here])
            low = np.searchsorted(left, x - extent * (1 + 1e-9) - slack)
            high = np.searchsorted(left, x + slack, side="right")
            for part in parts(high - low, _CHUNK):
                which, at = expanded(low[part], (high - low)[part])
                row = here[part][which]
                box = some[at]
                hits = self._inside(row, boxes[box])
                row = row[hits]
                box = box[hits]
                code = boxes[box]
                t = self.rank[row]
                hits = (self.begins[code] % self.width <= t) & (t <= self.ends[code] % self.width)
                yield row[hits], box[hits]

    def _alike(self, boxes: Array) -> Iterator[Array]:
        """Yield the numbers of boxes of about one width, and of one band where there are many, from left to right."""
        extent = self.x_max[boxes] - self.x_min[boxes]
        kind = np.where(extent > 0, np.frexp(extent)[1], -(10**6))
        for value in np.unique(kind):
            some = np.flatnonzero(kind == value)
            some = some[np.argsort(self.y_min[boxes[some]], kind="stable")]
            for band in np.array_split(some, min(max(1, len(some) // _BAND), 16)):
                yield band[np.argsort(self.x_min[boxes[band]], kind="stable")]

    def _inside(self, row: Array, box: Array) -> Array:
        x = self.x[row]
        y = self.y[row]
        slack = self.tolerance
        wide = (self.x_min[box] - slack <= x) & (x <= self.x_max[box] + slack)
        inside: Array = wide & (self.y_min[box] - slack <= y) & (y <= self.y_max[box] + slack)
        return inside

    def _in_time(self, trajectory: Array, rank: Array) -> tuple[Array, Array]:
        """Return the rows of trajectories at a time, which are next to each other."""
        key = trajectory * self.width + rank
        return np.searchsorted(self.ends, key), np.searchsorted(self.begins, key, side="right")

    def _all_inside(self, node: Array, o: Array) -> Array:
        """Return whether trajectory ``o[j]`` contains all known rows of ``node[j]``: 1 row of each, then 2, 4, ..."""
        fits = np.ones(len(node), bool)
        left = np.arange(len(node))
        done = 0
        length = np.diff(self.first)
        while len(left):
            size = np.minimum(done + 1, np.maximum(length[node[left]] - done, 0))
            for part in parts(size, _CHUNK):
                which, row = expanded(self.first[node[left[part]]] + done, size[part])
                bad = ~self._somewhere_inside(o[left[part]][which], row)
                fits[left[part][which[bad]]] = False
            done = 2 * done + 1
            left = left[fits[left] & (length[node[left]] > done)]
        return fits

    def _somewhere_inside(self, o: Array, row: Array) -> Array:
        """Return whether some box of each trajectory contains the row, at its time."""
        begin, end = self._in_time(o, self.rank[row])
        is_inside = np.zeros(len(o), bool)
        left = np.flatnonzero(begin < end)
        while len(left):
            inside = self._inside(row[left], begin[left])
            is_inside[left[inside]] = True
            begin[left] += 1
            left = left[~inside & (begin[left] < end[left])]
        return is_inside
