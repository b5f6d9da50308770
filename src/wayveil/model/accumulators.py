"""What is counted in pieces and added up: sums, extremes, tables of counts, and results of attacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import fsum, prod
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.errors import InputError
from wayveil.model.numbers import Number as Measured
from wayveil.model.results import AttackResult, Chart, Series

__all__ = ["Constant", "Maximum", "Minimum", "Tally", "add", "join_results", "side_by_side"]

Array = NDArray[Any]

_ROOM = 1 << 16  # codes that are always counted without sorting
# Codes of several columns are one integer; above this it might not fit into 64 bits.
_MOST_CODES = 1 << 62


def add(one: Any, other: Any) -> Any:
    """Return the counts of two pieces together.

    Numbers and arrays of the same shape are added, tuples item by item, mappings key by key, where a key that is
    missing counts as nothing.  `Tally`, `Maximum`, `Minimum` and `Constant` know how they are added.  None is something
    that is not known, and so is its sum with anything.

    Examples
    --------
    >>> add({"a": 1, "b": (1, 2)}, {"b": (3, 4), "c": np.array([5])})
    {'a': 1, 'b': (4, 6), 'c': array([5])}
    """
    # Unknown plus anything is unknown: a block without an answer must not look like one that counted nothing.
    if one is None or other is None:
        return None
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        both = {key: add(one[key], other[key]) if key in other else one[key] for key in one}
        return both | {key: value for key, value in other.items() if key not in one}
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(add(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape == other.shape:
        return one + other
    if isinstance(one, Number) and isinstance(other, Number):
        return one + other  # type: ignore[operator]
    if isinstance(one, Maximum | Minimum | Constant | Tally) and type(one) is type(other):
        return one + other  # type: ignore[operator]
    raise InputError("Two pieces were counted in different ways, so their counts cannot be added.")


@dataclass(frozen=True)
class Maximum:
    """The largest value of all pieces; None where there is none.

    Examples
    --------
    >>> add(Maximum(3), Maximum(None)), add(Maximum(3), Maximum(5)).value
    (Maximum(value=3), 5)
    """

    value: Any

    def __add__(self, other: Maximum) -> Maximum:
        return Maximum(max((v for v in (self.value, other.value) if v is not None), default=None))


@dataclass(frozen=True)
class Minimum:
    """The smallest value of all pieces; None where there is none.

    Examples
    --------
    >>> add(Minimum(3), Minimum(None)), add(Minimum(3), Minimum(5)).value
    (Minimum(value=3), 3)
    """

    value: Any

    def __add__(self, other: Minimum) -> Minimum:
        return Minimum(min((v for v in (self.value, other.value) if v is not None), default=None))


@dataclass(frozen=True)
class Constant:
    """What is the same in all pieces and is not added; of mappings, a piece may have some keys only.

    Examples
    --------
    >>> add(Constant("utc"), Constant("utc")).value, add(Constant({"a": 1}), Constant({"b": 2})).value
    ('utc', {'a': 1, 'b': 2})
    """

    value: Any

    def __add__(self, other: Constant) -> Constant:
        if isinstance(self.value, Mapping):
            return Constant({**self.value, **other.value})
        if self.value != other.value:
            raise InputError("Two pieces of one data set differ in what all of it has in common, such as its times.")
        return self


@dataclass(frozen=True, kw_only=True, eq=False)
class Tally:
    """How often each of many things occurs; a thing is a row of names and numbers.

    Parameters
    ----------
    columns : tuple of int64 or float64, one per row
        The things, each once, in rising order; the first `named` columns are codes into `names`.
    counts : int64, one per row
        How often each occurs; never 0.
    names : tuple of str
        The names that occur, in rising order.  Pieces have codes of their own, so tallies are matched by name.
    named : int
        How many columns are names.

    Examples
    --------
    >>> one = Tally.of(np.array([1, 0, 1]), np.array([7, 7, 7]), names=("b", "a"), named=1)
    >>> two = one + Tally.of(np.array([0]), np.array([5]), names=("b",), named=1)
    >>> two.names, [column.tolist() for column in two.columns], two.counts.tolist()
    (('a', 'b'), [[0, 1, 1], [7, 5, 7]], [2, 1, 1])
    """

    columns: tuple[Array, ...]
    counts: Array
    names: tuple[str, ...] = ()
    named: int = 0

    @classmethod
    def of(cls, *columns: Array, names: Sequence[str] = (), named: int = 0) -> Tally:
        """Count the rows of `columns`, of which the first `named` are codes into `names`.

        O(rows) time where the numbers lie close together, else O(rows log rows).
        """
        # Rows are counted by number first, and only what is left, one row per different thing, is brought into the
        # order of names.  Blocks have codes of their own, and sorted names make the same tally of the same rows however
        # they are cut.
        keys, counts = _counted(tuple(_whole(column) for column in columns))
        if not named:
            return cls(columns=keys, counts=counts)
        used = np.unique(np.concatenate(keys[:named])).tolist()
        rising = sorted(used, key=lambda code: names[code])
        recode = np.zeros(len(names), np.int64)
        recode[rising] = np.arange(len(rising))
        keys = tuple(recode[column] if i < named else column for i, column in enumerate(keys))
        texts = tuple(names[code] for code in rising)
        if rising == used:  # the codes were in the order of the names, and so are the rows
            return cls(columns=keys, counts=counts, names=texts, named=named)
        order = _sorting(keys)
        return cls(columns=tuple(column[order] for column in keys), counts=counts[order], names=texts, named=named)

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def total(self) -> int:
        """How many rows were counted."""
        return int(self.counts.sum())

    @property
    def values(self) -> Array:
        """The first column."""
        return self.columns[0]

    def only(self, *columns: int) -> Tally:
        """Return the same counts by some of the columns, names before numbers.

        Examples
        --------
        >>> Tally.of(np.array([1, 2, 2]), np.array([5, 5, 6])).only(1).counts.tolist()
        [2, 1]
        """
        keys, (counts,) = _summed(tuple(self.columns[i] for i in columns), self.counts)
        named = sum(i < self.named for i in columns)
        return Tally(columns=keys, counts=counts, names=self.names if named else (), named=named)

    def __add__(self, other: Tally) -> Tally:
        return side_by_side(self, other)[0]


def side_by_side(before: Tally, after: Tally) -> tuple[Tally, Array, Array]:
    """Return the things of both, with the sums of their counts, and the counts of each.

    Examples
    --------
    >>> both, old, new = side_by_side(Tally.of(np.array([1, 1, 2])), Tally.of(np.array([2, 3])))
    >>> both.values.tolist(), old.tolist(), new.tolist()
    ([1, 2, 3], [2, 1, 0], [0, 1, 1])
    """
    if len(before.columns) != len(after.columns) or before.named != after.named:
        raise InputError("Two pieces were counted in different ways, so their counts cannot be added.")
    # Both sides get codes into the names of both; then rows of both stand behind each other with a 0 for the count of
    # the other side, and equal rows are added.
    names = tuple(sorted({*before.names, *after.names}))
    code = {name: i for i, name in enumerate(names)}
    recoded = []
    for side in (before, after):
        recode = np.array([code[name] for name in side.names], np.int64)
        recoded.append([recode[c] if i < side.named else c for i, c in enumerate(side.columns)])
    columns = tuple(np.concatenate(pair) for pair in zip(*recoded, strict=True))
    nothing = [np.zeros(len(side), np.int64) for side in (before, after)]
    old = np.concatenate([before.counts, nothing[1]])
    new = np.concatenate([nothing[0], after.counts])
    columns, (old, new) = _summed(columns, old, new)
    return Tally(columns=columns, counts=old + new, names=names, named=before.named), old, new


def join_results(results: Sequence[AttackResult]) -> AttackResult:
    """Return what an attacker learns who knows in which piece a victim is, so that each piece is attacked by itself.

    Victims are added.  Each number says how it is joined: as the largest, the smallest or the sum of all pieces, or as
    the mean, weighted by the victims of the pieces that have it.  Bounds of confidence intervals cannot be told from
    those of the pieces and are None, except where only one piece has victims.  Charts of shares are means, too; charts
    that are not of shares or differ in their labels are left out.

    Examples
    --------
    >>> from wayveil.model.numbers import probability
    >>> results = [
    ...     AttackResult(
    ...         name="a",
    ...         adversary="b",
    ...         victims=n,
    ...         sampled=False,
    ...         numbers={"mean": probability(risk, "Mean"), "worst": probability(risk, "Worst", joined="largest")},
    ...     )
    ...     for n, risk in ((1, 1.0), (3, 0.2))
    ... ]
    >>> joined = join_results(results)
    >>> joined.victims, joined.measured
    (4, {'mean': 0.4, 'worst': 1.0})
    """
    if not results:
        raise InputError("There is no result of an attack to join.")
    # Pieces without a victim have nothing to say; if none has any, the first stands for all of them.
    attacked = [result for result in results if result.victims] or list(results[:1])
    if len(attacked) == 1:
        return replace(attacked[0], sampled=any(result.sampled for result in results))
    # Means over people become means over all people by weighting with the victims of each piece.
    weights = [result.victims for result in attacked]
    names = dict.fromkeys(name for result in attacked for name in result.numbers)
    return replace(
        attacked[0],
        victims=sum(weights),
        sampled=any(result.sampled for result in results),
        numbers={name: _joined_number([r.numbers.get(name) for r in attacked], weights) for name in names},
        charts=tuple(
            joined
            for chart in attacked[0].charts
            if (joined := _joined_chart(chart, [result.charts for result in attacked], weights)) is not None
        ),
    )


def _joined_number(numbers: Sequence[Measured | None], weights: Sequence[int]) -> Measured:
    """Return one number of several pieces; a piece may lack it."""
    known = [(number, weight) for number, weight in zip(numbers, weights, strict=True) if number is not None]
    first = known[0][0]
    value = _joined(first.joined, [number.value for number, _ in known], [weight for _, weight in known])
    # An interval of a sum cannot be told from those of its parts, and none is better than a false one.
    return replace(first, value=value, interval=None if first.interval is None else (None, None))


def _joined(rule: str, values: Sequence[int | float | None], weights: Sequence[int]) -> int | float | None:
    known = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    if not known:
        return None
    listed = [value for value, _ in known]
    # How each number is joined is declared with it: the worst person of all pieces is the worst of the worst ones.
    rules: dict[str, Callable[[list[Any]], int | float]] = {
        "largest": max,
        "smallest": min,
        "sum": sum,
        "same": lambda several: several[0],
    }
    if rule in rules:
        return rules[rule](listed)
    mean = fsum(value * weight for value, weight in known) / sum(weight for _, weight in known)
    return min(max(mean, min(listed)), max(listed))  # rounding must not lift a mean above the largest value


def _joined_chart(chart: Chart, charts: Sequence[Sequence[Chart]], weights: Sequence[int]) -> Chart | None:
    """Return the mean of the charts with this title; None where they cannot be joined."""
    same_title = [next((c for c in listed if c.title == chart.title), None) for listed in charts]
    alike = [c for c in same_title if c is not None and _shape(c) == _shape(chart)]
    # Charts of counts would need people behind each bar to be added; only shares are averaged.
    if len(alike) < len(same_title) or not chart.percent:
        return None
    series = [
        Series(
            name=own.name,
            values=tuple(
                _joined("mean", column, weights) for column in zip(*(c.series[i].values for c in alike), strict=True)
            ),
        )
        for i, own in enumerate(chart.series)
    ]
    return replace(chart, series=tuple(series))


def _shape(chart: Chart) -> tuple[object, ...]:
    return chart.kind, chart.labels, chart.lines, tuple(series.name for series in chart.series)


def _whole(column: Array) -> Array:
    return column if column.dtype.kind == "f" else column.astype(np.int64, copy=False)


def _counted(columns: tuple[Array, ...]) -> tuple[tuple[Array, ...], Array]:
    """Return the different rows and how often each occurs."""
    # Three ways, from cheap to general: one column of fractions is sorted; integers that fit into one code are counted
    # by that code, without sorting if there is room for an array of all codes; anything else is sorted by column.
    if len(columns) == 1 and columns[0].dtype.kind == "f":
        values = np.sort(columns[0])
        first = _firsts([values])
        return (values[first],), np.diff(np.append(first, len(values)))
    coded = _codes(columns)
    if coded is None:
        order = np.lexsort(columns[::-1])
        first = _firsts([column[order] for column in columns])
        return tuple(column[order[first]] for column in columns), np.diff(np.append(first, len(order)))
    code, lows, spans = coded
    if prod(spans) <= max(_ROOM, 2 * len(code)):
        counts = np.bincount(code)
        present = np.flatnonzero(counts)
        return _decoded(present, lows, spans), counts[present]
    code = np.sort(code)
    first = _firsts([code])
    return _decoded(code[first], lows, spans), np.diff(np.append(first, len(code)))


def _summed(columns: tuple[Array, ...], *counts: Array) -> tuple[tuple[Array, ...], list[Array]]:
    """Return every row once, in order, with the sums of its counts."""
    order = _sorting(columns)
    # Equal rows are neighbours after sorting, and sums run from each first one to the next.
    first = _firsts([column[order] for column in columns])
    sums = [np.add.reduceat(column[order], first) if len(first) else column for column in counts]
    return tuple(column[order[first]] for column in columns), sums


def _sorting(columns: tuple[Array, ...]) -> Array:
    coded = _codes(columns)
    return np.lexsort(columns[::-1]) if coded is None else np.argsort(coded[0], kind="stable")


def _firsts(columns: Sequence[Array]) -> Array:
    """Return where sorted rows differ from the row before."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


def _codes(columns: tuple[Array, ...]) -> tuple[Array, list[int], list[int]] | None:
    """Return one number per row, in the order of rows, and how it is made; None for fractions and wide numbers."""
    if not len(columns[0]) or any(column.dtype.kind == "f" for column in columns):
        return None
    # A mixed-radix number: each column is a digit whose base is the span of its values.  The order of codes is that of
    # rows.
    lows = [int(column.min()) for column in columns]
    spans = [int(column.max()) - low + 1 for column, low in zip(columns, lows, strict=True)]
    if prod(spans) > _MOST_CODES:
        return None

    def with_next(code: Array, following: tuple[Array, int, int]) -> Array:
        column, low, span = following
        joint: Array = code * span + (column - low)
        return joint

    code = reduce(with_next, zip(columns[1:], lows[1:], spans[1:], strict=True), columns[0] - lows[0])
    return code, lows, spans


def _decoded(code: Array, lows: list[int], spans: list[int]) -> tuple[Array, ...]:
    columns = []
    # The last digit first, as codes were built from the first column on.
    for low, span in zip(reversed(lows), reversed(spans), strict=True):
        columns.append(code % span + low)
        code = code // span
    return tuple(reversed(columns))
