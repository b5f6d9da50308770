"""What is known of people, told by names and times instead of codes, so that any piece of the data can be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayveil.attacks.visits.resolutions import Times
from wayveil.errors import InputError
from wayveil.model import TimeFormat

__all__ = ["PointQueries", "SetQueries", "used_names"]

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class SetQueries:
    """Sets of known visits; a set is a row of positions in the known visits, padded with -1.

    Parameters
    ----------
    names : tuple of str
        The places of known visits.
    location, t : int, one per known visit
        A code into `names`, and the time.
    sets : int, one row per set
    person, weight : int and float, one per set
        Whose visits they are, from 0 on, and how much the set counts.
    owner : int, one per person
        The code of the person, which is the same in all pieces of the data.
    people, population : int
        People attacked, and people in the data out of whom they were drawn.
    sampled : bool
        Whether people or sets were drawn.
    values : mapping of attribute to its sensitive values
    time_format : TimeFormat
    """

    names: tuple[str, ...]
    location: Array
    t: Array
    sets: Array
    person: Array
    weight: Array
    owner: Array
    people: int
    population: int
    sampled: bool
    values: Mapping[str, tuple[str, ...]]
    time_format: TimeFormat

    def __len__(self) -> int:
        return len(self.person)

    @classmethod
    def join(cls, parts: Sequence[SetQueries]) -> SetQueries:
        """Return the questions of all parts; nobody is in two of them."""
        _check(parts)
        first = parts[0]
        names, location = _joined_names(parts)
        # Positions of each part go on where those of the part before end.
        starts = np.cumsum([0, *(len(part.t) for part in parts)])
        return cls(
            names=names,
            location=location,
            t=np.concatenate([part.t for part in parts]),
            sets=_stacked([part.sets for part in parts], starts),
            person=_joined_people([part.person for part in parts], [part.people for part in parts]),
            weight=np.concatenate([part.weight for part in parts]),
            owner=np.concatenate([part.owner for part in parts]),
            people=sum(part.people for part in parts),
            population=sum(part.population for part in parts),
            sampled=any(part.sampled for part in parts),
            values=first.values,
            time_format=first.time_format,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PointQueries:
    """Sets of known points of a life, in the order in which they become known; see `SetQueries` for what is not here.

    Parameters
    ----------
    table : int, one row per set
    distinct : int, one per person
        The different points that the person has.
    population : int
        People with a point in the data.
    times : Times
        Of all of the data, which says how coarse times can be known.
    """

    names: tuple[str, ...]
    location: Array
    t: Array
    table: Array
    person: Array
    distinct: Array
    population: int
    times: Times
    time_format: TimeFormat

    def __len__(self) -> int:
        return len(self.person)

    @classmethod
    def join(cls, parts: Sequence[PointQueries]) -> PointQueries:
        """Return the questions of all parts; nobody is in two of them."""
        _check(parts)
        names, location = _joined_names(parts)
        starts = np.cumsum([0, *(len(part.t) for part in parts)])
        timed = [part.times for part in parts if part.times.has_times]
        return cls(
            names=names,
            location=location,
            t=np.concatenate([part.t for part in parts]),
            table=_stacked([part.table for part in parts], starts),
            person=_joined_people([part.person for part in parts], [len(part.distinct) for part in parts]),
            distinct=np.concatenate([part.distinct for part in parts]),
            population=sum(part.population for part in parts),
            times=Times(
                # A tick that divides all times of all parts.
                tick=gcd(*(times.tick for times in timed)),
                first=min((times.first for times in timed), default=0),
                last=max((times.last for times in timed), default=0),
                has_times=bool(timed),
            ),
            time_format=parts[0].time_format,
        )


def used_names(location: Array, names: Sequence[str]) -> tuple[Array, tuple[str, ...]]:
    """Return the codes with no names behind them but those that they use.

    Examples
    --------
    >>> codes, names = used_names(np.array([2, 0, 2]), ("a", "b", "c"))
    >>> codes.tolist(), names
    ([1, 0, 1], ('a', 'c'))
    """
    used, codes = np.unique(location, return_inverse=True)
    return codes, tuple(names[i] for i in used.tolist())


def _check(parts: Sequence[Any]) -> None:
    if not parts:
        raise InputError("There are no questions of an attack to join.")
    formats, values = ({repr(getattr(part, name, None)) for part in parts} for name in ("time_format", "values"))
    if len(formats) > 1 or len(values) > 1:
        raise InputError("Questions of an attack can be joined only if they are of one data set and ask for the same.")


def _joined_names(parts: Sequence[Any]) -> tuple[tuple[str, ...], Array]:
    names = tuple(sorted({name for part in parts for name in part.names}))
    code = {name: i for i, name in enumerate(names)}
    recoded = [np.array([code[name] for name in part.names], np.int64)[part.location] for part in parts]
    return names, np.concatenate(recoded)


def _joined_people(persons: Sequence[Array], people: Sequence[int]) -> Array:
    before = np.cumsum([0, *people])
    return np.concatenate([person + n for person, n in zip(persons, before[:-1].tolist(), strict=True)])


def _stacked(tables: Sequence[Array], starts: Array) -> Array:
    """Return tables of positions, which go on where those of the table before end, as one; -1 stays."""
    width = max(table.shape[1] for table in tables)
    return np.concatenate(
        [
            np.pad(np.where(table < 0, -1, table + start), ((0, 0), (0, width - table.shape[1])), constant_values=-1)
            for table, start in zip(tables, starts[:-1].tolist(), strict=True)
        ]
    )
