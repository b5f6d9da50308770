"""Distinct whole trajectories, which of them contain what, and the people behind them.

A *shape* is the set of items of a trajectory; trajectories with the same visits have the same shape.  The shapes that
contain a sequence q are its *extent*.  Whoever owns a trajectory that contains q is counted over the extent of q.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wayveil.model.budget import spend
from wayveil.model.data.ragged import BoolArray, IntArray, offsets_of
from wayveil.verifiers.kcl.kcl_table import Table

__all__ = ["Owned", "People", "Shapes", "common", "minimal", "rows_of"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Shapes:
    """The distinct trajectories of a table, shortest first, then in the order of their items.

    Parameters
    ----------
    item, offsets : int64
        Shape `i` has the items ``item[offsets[i]:offsets[i + 1]]``, ascending.
    of : int64, one per trajectory
        The shape of each trajectory.
    where, starts : int64
        Item `i` is in the shapes ``where[starts[i]:starts[i + 1]]``, ascending.
    """

    item: IntArray
    offsets: IntArray
    of: IntArray
    where: IntArray
    starts: IntArray

    @classmethod
    def of_table(cls, table: Table) -> Shapes:
        # Big-endian bytes compare as the numbers do; below 2**31 rows, hence items, four bytes hold an item.
        text = table.item.astype(">u4").tobytes()
        cuts = (4 * offsets_of(np.bincount(table.trajectory))).tolist()
        keys = [text[lo:hi] for lo, hi in pairwise(cuts)]
        distinct = sorted(set(keys), key=lambda key: (len(key), key))
        number = {key: i for i, key in enumerate(distinct)}
        item = np.frombuffer(b"".join(distinct), ">u4").astype(np.int64)
        lengths = np.array([len(key) // 4 for key in distinct], np.int64)
        return cls(
            item=item,
            offsets=offsets_of(lengths),
            of=np.fromiter(map(number.__getitem__, keys), np.int64, len(keys)),
            where=np.repeat(np.arange(len(distinct)), lengths)[np.argsort(item, kind="stable")],
            starts=offsets_of(np.bincount(item)),
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def items(self, shape: int) -> IntArray:
        """Return the items of a shape."""
        return self.item[self.offsets[shape] : self.offsets[shape + 1]]

    def having(self, item: int) -> IntArray:
        """Return the shapes that contain an item."""
        return self.where[self.starts[item] : self.starts[item + 1]]


class People:
    """Counts distinct people over sets of shapes, and those among them who carry each of some values.

    Parameters
    ----------
    table, shapes
        Who owns what; without persons in `table`, or with `each`, each trajectory is a person.
    carries : list of bool, one per trajectory
        Which trajectories carry each value.
    each : bool
        Whether trajectories are counted, whoever owns them.

    Attributes
    ----------
    exact : int64, one per shape
        People who own a trajectory of exactly this shape.
    exact_with : int64, shapes x values
        People who own a trajectory of exactly this shape with the value.
    """

    def __init__(self, table: Table, shapes: Shapes, carries: list[BoolArray], *, each: bool = False) -> None:
        n = len(shapes)
        self.n_values = len(carries)
        spend(200 * n * self.n_values)
        self._one_each = each or table.person is None
        if each or table.person is None:
            columns = [np.bincount(shapes.of, minlength=n)]
            columns += [np.bincount(shapes.of[carried], minlength=n) for carried in carries]
            self._tally = np.stack(columns, axis=1)
            self.exact = self._tally[:, 0]
            self.exact_with = self._tally[:, 1:]
            return
        # One entry for each shape and person, by shape; a person may own trajectories of several shapes.
        entries, entry = np.unique(shapes.of * table.people + table.person, return_inverse=True)
        self._shape, self._person = np.divmod(entries, table.people)
        self._with = np.zeros((len(entries), self.n_values), bool)
        self._ever = np.zeros((table.people, self.n_values), bool)
        for value, carried in enumerate(carries):
            self._with[entry[carried], value] = True
            self._ever[table.person[carried], value] = True
        self.exact = np.bincount(self._shape, minlength=n)
        self._starts = offsets_of(self.exact)
        self.exact_with = np.add.reduceat(self._with.astype(np.int64), self._starts[:-1], axis=0)

    def count(self, extent: IntArray) -> tuple[int, IntArray, IntArray]:
        """Count the people behind an extent: all; for each value those with it there; those with it nowhere at all.

        With one trajectory each, the last two add up to the first.
        """
        spend(10_000 + 5 * len(extent) * (1 + self.n_values))
        if self._one_each:
            total = self._tally[extent].sum(axis=0)
            return int(total[0]), total[1:], total[0] - total[1:]
        rows, _ = rows_of(self._starts, extent)
        order = np.argsort(self._person[rows], kind="stable")
        person = self._person[rows][order]
        first = np.flatnonzero(np.concatenate([[True], person[1:] != person[:-1]]))
        having = np.logical_or.reduceat(self._with[rows[order]], first, axis=0).sum(axis=0)
        return len(first), having, (~self._ever[person[first]]).sum(axis=0)

    def without(self, value: int) -> IntArray:
        """Count, for each shape that carries a value, people who own it and never carry the value; each person once.

        So the counts of several shapes may be added.
        """
        if self._one_each:
            others: IntArray = np.where(self.exact_with[:, value] > 0, self.exact - self.exact_with[:, value], 0)
            return others
        chosen = ~self._ever[self._person, value] & (self.exact_with[self._shape, value] > 0)
        _, first = np.unique(self._person[chosen], return_index=True)
        alone: IntArray = np.bincount(self._shape[chosen][first], minlength=len(self.exact))
        return alone


class Owned:
    """Who owns how many trajectories of which shape.

    One entry for each shape and person, by shape: ``shape``, ``person`` and the number of ``trajectories``.
    """

    def __init__(self, table: Table, shapes: Shapes) -> None:
        person = np.arange(table.n_trajectories) if table.person is None else table.person
        entries, self.trajectories = np.unique(shapes.of * table.people + person, return_counts=True)
        self.shape, self.person = np.divmod(entries, table.people)
        self._starts = offsets_of(np.bincount(self.shape, minlength=len(shapes)))
        own = np.bincount(person, minlength=table.people)
        self.of_several = np.zeros(len(shapes), bool)
        """Which shapes somebody owns who owns several trajectories."""
        self.of_several[self.shape[own[self.person] > 1]] = True

    def most_of_one(self, extent: IntArray) -> int:
        """Return how many trajectories of an extent the person has who owns most of them."""
        rows, _ = rows_of(self._starts, extent)
        order = np.argsort(self.person[rows], kind="stable")
        person = self.person[rows][order]
        first = np.flatnonzero(np.concatenate([[True], person[1:] != person[:-1]]))
        return int(np.add.reduceat(self.trajectories[rows[order]], first).max())

    def owners_of_several_shapes(self) -> list[tuple[IntArray, IntArray]]:
        """Return the shapes, ascending, and the trajectories of each, of everybody who owns two shapes or more.

        In an order that does not depend on who they are: by what they own.  Two who own the same are told once.
        """
        order = np.argsort(self.person, kind="stable")  # shapes ascend inside a person
        starts = offsets_of(np.bincount(self.person))
        several = np.flatnonzero(np.diff(starts) > 1)
        shapes_of = {}
        for begin, end in zip(starts[several].tolist(), starts[several + 1].tolist(), strict=True):
            shape = self.shape[order[begin:end]]
            trajectories = self.trajectories[order[begin:end]]
            shapes_of[shape.astype(">u8").tobytes(), trajectories.astype(">u8").tobytes()] = shape, trajectories
        return [shapes_of[key] for key in sorted(shapes_of)]


def common(a: IntArray, b: IntArray) -> IntArray:
    """Return what two ascending arrays have in common.

    Examples
    --------
    >>> common(np.array([1, 3, 5, 9]), np.array([0, 3, 9])).tolist()
    [3, 9]
    """
    if len(a) > len(b):
        a, b = b, a
    spend(3_000 + 30 * len(a))
    at = b.searchsorted(a)
    at[at == len(b)] = 0
    in_both: IntArray = a[b[at] == a]
    return in_both


def rows_of(starts: IntArray, chosen: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows ``starts[i]:starts[i + 1]`` of all `i` in `chosen`, one after the other, and `i` for each row."""
    lengths = starts[chosen + 1] - starts[chosen]
    until = np.cumsum(lengths)
    rows = np.repeat(starts[chosen] - until + lengths, lengths)
    rows += np.arange(len(rows))
    return rows, np.repeat(chosen, lengths)


def minimal(shapes: Shapes, sequence: IntArray, broken: Callable[[IntArray], bool]) -> tuple[int, ...]:
    """Drop items, the most common first, as long as `broken` is true of the extent of the rest.

    `broken` must be true of the extent of `sequence`.  In the end no single item can be dropped.  If `broken` never
    turns from false to true when items are dropped, then no part of the result is broken.  Each pass costs three
    intersections per item.
    """
    sequence_left = sorted(sequence.tolist(), key=lambda item: (-len(shapes.having(item)), item))
    # Before each round `broken` is true of the extent of `sequence_left`.  A round tries each item once, the most
    # common first: the extent of all others that are left is that of those before it and that of those behind it.
    # If that is broken as well, the item goes; otherwise it stays.  It ends when a whole round dropped nothing.
    while True:
        behind: list[IntArray | None] = [None]
        for item in reversed(sequence_left):
            behind.append(_narrowed(behind[-1], shapes.having(item)))
        before: IntArray | None = None
        left = []
        for i, item in enumerate(sequence_left):
            others = behind[len(sequence_left) - i - 1]
            rest = before if others is None else _narrowed(before, others)
            if rest is None or not broken(rest):
                left.append(item)
                before = _narrowed(before, shapes.having(item))
        if len(left) == len(sequence_left):
            return tuple(sorted(left))
        sequence_left = left


def _narrowed(extent: IntArray | None, other: IntArray) -> IntArray:
    """Return what is in both, and the same array if nothing is lost; None stands for every shape."""
    if extent is None:
        return other
    narrower = common(extent, other)
    return extent if len(narrower) == len(extent) else narrower
