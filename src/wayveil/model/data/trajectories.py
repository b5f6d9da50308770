"""Trajectories: what all kinds of movement data are, and what each kind has to say of itself.

A kind of data is one subclass of `Trajectories`.  It declares its columns, one value per row or per trajectory, and
gets from here everything that follows from them: picking, cutting, joining and comparing.  What code elsewhere has to
know of a kind it asks by one of the hooks below, so that no other module tells kinds apart.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np

from wayveil.errors import InputError
from wayveil.model.checks import check_offsets
from wayveil.model.data.coded import Coded, Owners, number_names, same_names, translate_codes
from wayveil.model.data.distinct import distinct_values
from wayveil.model.data.frame import Frame
from wayveil.model.data.ragged import (
    BoolArray,
    FloatArray,
    IntArray,
    frozen,
    keep_rows,
    offsets_of,
    take,
    trajectory_of_row,
)
from wayveil.model.data.times import TimeFormat

__all__ = ["BoxColumns", "Columns", "NamedPlaces", "Sites", "Trajectories", "concat"]

Columns = Mapping[str, type[np.generic]]
"""Names of columns and the types of their values."""

Kind = TypeVar("Kind", bound="Trajectories")


class NamedPlaces(NamedTuple):
    """The places, or roads, that rows name: all names, and per mention the code of the name and the trajectory.

    A row may name more than one place, as a trip names where it began and where it ended.
    """

    names: Sequence[str]
    code: IntArray
    trajectory: IntArray


class BoxColumns(NamedTuple):
    """Rows as closed boxes in time and the plane, one value per row and side; a point is a box without extent."""

    t_min: IntArray
    t_max: IntArray
    x_min: FloatArray
    x_max: FloatArray
    y_min: FloatArray
    y_max: FloatArray


class Sites(NamedTuple):
    """The sites that rows are at: named places, roads, or each row where it is.

    Parameters
    ----------
    names : sequence of str, one per site, or None
        None where sites have no names.
    code : int64, one per row, or None
        The site of each row; None where each row is a site of its own.
    sides : four arrays of float64, one value per site, or None
        x_min, x_max, y_min and y_max in metres of `frame`, if that is known.
    reach : x and y, or None
        Positions that show how far the data reach; None where that is not known, or no point.
    frame : Frame, or None
        What these metres were in the file; None for plain metres.
    leaves : int64, two per site, or None
        Of nodes of a tree: the first leaf below each and the one behind the last, counted in the order of the tree.
    """

    names: Sequence[str] | None = None
    code: IntArray | None = None
    sides: tuple[FloatArray, FloatArray, FloatArray, FloatArray] | None = None
    reach: tuple[FloatArray, FloatArray] | None = None
    frame: Frame | None = None
    leaves: IntArray | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Trajectories(ABC):
    """Rows of trajectories as flat read-only columns; the base of all kinds of data.

    Parameters
    ----------
    offsets : int64, one more than there are trajectories
        Trajectory `i` owns rows ``offsets[i]:offsets[i + 1]``; it may own none.
    owner : int64, one per trajectory
        The person behind the trajectory, as a code from 0.
    attributes : mapping of str to Coded
        Values that are constant in a trajectory.
    time_format, owners
        See `TimeFormat` and `Owners`.

    Notes
    -----
    A new kind is a frozen dataclass with its columns as fields, and

    - `kind`, `row_word` and the declarations of its columns below;
    - `times`, `tiny` and the rules of its values, `_check_rows`, which have no default;
    - `_unify`, if what its codes mean may differ from one part of the data to another;
    - any other hook whose default does not fit.

    It is listed in `wayveil.model.data.kinds`.  How its files look is one class in `wayveil.io.publish.layouts`.
    A kind of another package is an entry point of the group ``wayveil.kinds`` and names its layout itself.
    """

    offsets: IntArray
    owner: IntArray
    attributes: Mapping[str, Coded] = field(default_factory=dict)
    time_format: TimeFormat = "integer"
    owners: Owners = "declared"

    kind: ClassVar[str]
    """What users call data of this kind: in recipes, in manifests and on the command line."""

    row_word: ClassVar[str]
    """What its rows are called, in the plural."""

    row_columns: ClassVar[Columns]
    """The columns with one value per row."""

    optional_row_columns: ClassVar[Columns] = {}
    """Columns with one value per row that may be None."""

    trajectory_columns: ClassVar[Columns] = {}
    """The columns with one value per trajectory, besides `owner` and `attributes`."""

    code_columns: ClassVar[tuple[str, ...]] = ()
    """Those of `row_columns` that hold codes of names: they are compared by what the codes mean."""

    names_field: ClassVar[str] = ""
    """The field that holds these names, or an object with a list of them; see `_list_names`."""

    shared: ClassVar[str | None] = None
    """The field that all trajectories refer to and that is read from a file of its own, if there is one."""

    name_word: ClassVar[Literal["places", "roads"] | None] = None
    """What rows name; None where they have coordinates instead of names."""

    coordinates: ClassVar[bool] = False
    """Whether rows have coordinates, and data the field `frame` that says what these were in the file."""

    whole: ClassVar[bool] = False
    """Whether a trajectory is published as one, never in parts."""

    trip_ends: ClassVar[bool] = False
    """Whether a trajectory is a trip by its two ends: which of them a row is, it says itself."""

    individual: ClassVar[bool] = True
    """Whether a trajectory is somebody's; false for tables, whose rows stand for many people."""

    layout: ClassVar[type[Any] | None] = None
    """The class made of `wayveil.Layout` that says how the published table looks; only of a kind from a plug-in, as
    those of Wayveil are listed in `wayveil.io.publish.layouts`."""

    not_published: ClassVar[str] = "Trajectories not published"
    """How the number of trajectories without rows is called in a report."""

    nothing_left: ClassVar[str] = (
        "Nothing was published: no trajectory is left, because too few people move at the same times and places. "
        "Bring trajectories to common times with the step resample, or ask for a smaller k."
    )
    """What to say, and to advise, where a publication has no rows."""

    def __post_init__(self) -> None:
        # The dataclass is frozen for everybody but itself: columns are brought to their types once, here, and locked,
        # so that later code can share them between blocks and threads without copies.
        set_ = object.__setattr__
        set_(self, "offsets", frozen(self.offsets, np.int64))
        set_(self, "owner", frozen(self.owner, np.int64))
        for name, dtype in {**self.row_columns, **self.trajectory_columns}.items():
            set_(self, name, frozen(getattr(self, name), dtype))
        for name, dtype in self._optional_rows().items():
            set_(self, name, frozen(getattr(self, name), dtype))
        set_(self, "attributes", MappingProxyType(dict(self.attributes)))
        # Checks come last, on the converted columns: a value that was cut off by its type must not pass.
        self._check()

    def _check(self) -> None:
        component = type(self).__name__
        # From the outside in: first the offsets, because everything after them is indexed by them; then the lengths of
        # columns; at last the rules of the kind, which may rely on both.
        check_offsets(component, self.offsets)
        rows = self.offsets[-1]
        if any(len(getattr(self, name)) != rows for name in self.row_columns):
            raise InputError(f"{component}: {_listed(self.row_columns)} must have as many rows as offsets say.")
        for name in self._optional_rows():
            if len(getattr(self, name)) != rows:
                raise InputError(f"{component}: {name} must have one value per row.")
        per_trajectory = [self.owner, *(getattr(self, name) for name in self.trajectory_columns)]
        per_trajectory += [attribute.codes for attribute in self.attributes.values()]
        if any(len(column) != len(self) for column in per_trajectory):
            named = _listed(["owner", *self.trajectory_columns, "attributes"])
            raise InputError(f"{component}: {named} must have one value per trajectory.")
        self._check_rows()

    @abstractmethod
    def _check_rows(self) -> None:
        """Refuse values that break a rule of this kind; columns have the right lengths already."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.offsets[-1])

    @property
    def n_owners(self) -> int:
        """Number of distinct people."""
        return len(distinct_values(self.owner))

    @property
    def lengths(self) -> IntArray:
        """Number of rows of each trajectory."""
        return np.diff(self.offsets)

    @property
    def nonempty(self) -> BoolArray:
        """Which trajectories have rows."""
        return self.offsets[1:] > self.offsets[:-1]

    def rows(self, trajectory: int) -> slice:
        """Return which rows belong to a trajectory."""
        return slice(int(self.offsets[trajectory]), int(self.offsets[trajectory + 1]))

    def shared_value(self) -> Any:
        """Return what all trajectories refer to, the field `shared`; None where there is nothing."""
        return None if self.shared is None else getattr(self, self.shared)

    def row_owner(self) -> IntArray:
        """Return the person behind each row."""
        return self.owner[trajectory_of_row(self.offsets)]

    def with_attributes(self, attributes: Mapping[str, Coded]) -> Self:
        """Return the same rows with other attributes."""
        return replace(self, attributes=attributes)

    def where(self, keep: BoolArray) -> Self:
        """Return the same trajectories with only the rows where `keep` is true."""
        return replace(self, offsets=keep_rows(self.offsets, keep), **self._pick_rows(keep))

    def take(self, trajectories: IntArray) -> Self:
        """Return these trajectories, in this order."""
        offsets, rows = take(self.offsets, trajectories)
        return replace(
            self,
            offsets=offsets,
            owner=self.owner[trajectories],
            attributes={name: attribute.take(trajectories) for name, attribute in self.attributes.items()},
            **self._pick_rows(rows),
            **{name: getattr(self, name)[trajectories] for name in self.trajectory_columns},
        )

    def recode(self, names: Any) -> Self:
        # Only the codes are written anew: O(rows) table look-ups, plus one dictionary of the names.
        """Return the same rows with codes of other names, which must hold all that rows name.

        `names` is what `names_field` holds: a list, a network or a taxonomy.
        """
        codes: dict[str, Any] = {
            column: translate_codes(getattr(self, column), self._names(), number_names(self._list_names(names)))
            for column in self.code_columns
        }
        return replace(self, **codes, **{self.names_field: names})

    def with_empty(self) -> Self:
        """Return the same data and, behind them, one trajectory without rows, values and owner."""
        # Times of a trajectory that nobody made are 0 like its other columns; its owner, -1, is nobody.
        columns: dict[str, Any] = {name: np.append(getattr(self, name), 0) for name in self.trajectory_columns}
        return replace(
            self,
            offsets=np.append(self.offsets, self.offsets[-1]),
            owner=np.append(self.owner, -1),
            attributes={
                name: Coded(codes=np.append(attribute.codes, -1), labels=attribute.labels)
                for name, attribute in self.attributes.items()
            },
            **columns,
        )

    def same_content(self, other: Trajectories) -> bool:
        """Return whether two data say the same in every trajectory, whatever their codes, owners and frames."""
        # Codes, owners and frames may differ without a difference in content: files give codes of their own, owners are
        # not published, and a frame only says how metres became degrees.
        if type(self) is not type(other) or not np.array_equal(self.offsets, other.offsets):
            return False
        # Codes are compared by what they mean (`_same_codes`), all other columns value by value.
        plain = [name for name in (*self.row_columns, *self.trajectory_columns) if name not in self.code_columns]
        optional = self._optional_rows()
        return (
            self._same_codes(other)
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in plain)
            and set(optional) == set(other._optional_rows())
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in optional)
            and set(self.attributes) == set(other.attributes)
            and all(column.same_values(other.attributes[name]) for name, column in self.attributes.items())
        )

    def counts(self) -> dict[str, int]:
        """Return how much there is of everything, under the names that a report shows."""
        return {
            "Trajectories": len(self),
            "People": self.n_owners,
            self.row_word.capitalize(): self.n_rows,
            **self._place_counts(),
            **({"Distinct times": len(distinct_values(self.times()))} if self.has_times() else {}),
        }

    # A hook has the answer that fits most kinds as its default.  Code elsewhere asks hooks; it never asks which kind it
    # has.
    # What a kind says of itself.

    @classmethod
    @abstractmethod
    def tiny(cls) -> Self:
        """Return the smallest data that make every kernel run; times have a calendar, which some ask for."""

    @abstractmethod
    def times(self) -> IntArray:
        """Return when each row is, or begins."""

    def has_times(self) -> bool:
        """Return whether the times of rows are known."""
        return True

    def moments(self) -> IntArray | None:
        """Return the time of each row that a publication shows, the middle of an interval; None where it has none."""
        return self.times()

    def intervals(self) -> tuple[IntArray, IntArray] | None:
        """Return from when to when rows are, if a row stands for all that happened meanwhile; None for one event."""
        return None

    def places(self) -> NamedPlaces | None:
        """Return the places, or roads, that rows name; None where they have coordinates instead of names."""
        if not self.code_columns:
            return None
        # One mention per row and column of codes: a table of flows names two zones in a row, so trajectories are
        # repeated once per column, in the same order as the codes.
        code = np.concatenate([getattr(self, column) for column in self.code_columns], dtype=np.int64)
        trajectory = np.tile(trajectory_of_row(self.offsets), len(self.code_columns))
        return NamedPlaces(self._names(), code, trajectory)

    def positions(self) -> tuple[FloatArray, FloatArray] | None:
        """Return where rows are, as x and y in metres; None where that is not known, or no point."""
        return None

    def boxes(self) -> BoxColumns | None:
        """Return rows as boxes in time and the plane; None where they name places instead."""
        return None

    def as_points(self) -> Any:
        """Return the data if they are points, None for any other kind."""
        return None

    def as_boxes(self) -> Any:
        """Return the data if they are boxes, None for any other kind."""
        return None

    def sites(self) -> Sites | None:
        """Return the sites that rows are at; None where they have neither a name nor a position."""
        if len(self.code_columns) == 1:
            return Sites(names=self._names(), code=getattr(self, self.code_columns[0]))
        at = self.positions()
        # A row that has a position and no name is a site of its own, without extent: both ends of each side are the
        # same number.
        return None if at is None else Sites(sides=(at[0], at[0], at[1], at[1]), reach=at)

    def size_text(self, sides: str, lasting: str, *, has_extent: bool) -> str:
        """Return how coarse published rows are, in a few words; "" where they are as fine as before.

        Parameters
        ----------
        sides : str
            The median sides of where a row may have been.
        lasting : str
            The median length of the time in which it may have been, "" for a moment.
        has_extent : bool
            Whether `sides` are metres, and more than none.
        """
        return f"places as they are, times by {lasting}" if lasting else ""

    def slices(self) -> tuple[IntArray, ...]:
        """Return columns per trajectory in which all must agree who can be confused with each other; often none."""
        return ()

    def known_lengths(self) -> IntArray:
        """Return how many rows of each trajectory an attacker may know."""
        return self.lengths

    def curve_keys(self) -> IntArray:
        """Return where trajectories are, as a number per trajectory that is near for near ones."""
        return np.zeros(len(self), np.int64)

    def equal_columns(self) -> tuple[IntArray, tuple[IntArray, ...]] | None:
        """Return offsets and columns, equal for trajectories that are published alike; None where nobody hides so."""
        return None

    def row_keys(self, other: Self) -> tuple[IntArray, IntArray]:
        """Return a key per row of both: rows of a trajectory with the same key are the same row, before and after.

        By default rows are counted only: what they say may be replaced.
        """
        return np.zeros(self.n_rows, np.int64), np.zeros(other.n_rows, np.int64)

    @classmethod
    def _unify(cls, parts: Sequence[Self]) -> Sequence[Self]:
        """Return parts whose codes mean the same, and which share what all trajectories refer to."""
        return parts

    def _same_codes(self, other: Any) -> bool:
        """Return whether codes, row by row, mean the same in both."""
        return all(
            same_names(getattr(self, column), self._names(), getattr(other, column), other._names())
            for column in self.code_columns
        )

    @staticmethod
    def _list_names(names: Any) -> Sequence[str]:
        """Return the list of names in what `names_field` holds."""
        listed: Sequence[str] = names
        return listed

    def _names(self) -> Sequence[str]:
        return self._list_names(getattr(self, self.names_field))

    def _place_counts(self) -> dict[str, int]:
        """Return how many places there are, under the name that a report shows."""
        return {}

    def _pick_rows(self, rows: BoolArray | IntArray) -> dict[str, Any]:
        """Return the columns of rows with only these rows."""
        return {name: getattr(self, name)[rows] for name in (*self.row_columns, *self._optional_rows())}

    def _first_rows(self) -> IntArray:
        """Return the first row of each trajectory, and row 0 for one without rows."""
        # A trajectory without rows has no first one: row 0 stands in, so that the result can be used as an index.
        # Callers mask it, or do not care where nobody is.
        return np.where(self.nonempty, self.offsets[:-1], 0)

    def _optional_rows(self) -> Columns:
        """Return those of the optional columns that are there."""
        return {name: dtype for name, dtype in self.optional_row_columns.items() if getattr(self, name) is not None}


def concat(parts: Sequence[Kind]) -> Kind:
    """Return the trajectories of several data of one kind as one; owners keep their codes.

    Places of visits and values of attributes have codes of their own in every part; in the result they are coded in
    sorted order, so that it does not depend on how the trajectories were cut.  So it is with roads of published routes,
    each part of which has a network of its own.

    Examples
    --------
    >>> from wayveil.model import Visits
    >>> one = Visits.from_records([[("b", 1)]], attributes={"s": ["x"]})
    >>> both = concat([one, Visits.from_records([[("a", 1)], []], attributes={"s": [None, "w"]})])
    >>> [both.record(i) for i in range(3)], both.attributes["s"].values()
    ([[('b', 1)], [('a', 1)], []], ['x', None, 'w'])
    """
    first = parts[0]
    # Parts are read from files one by one.  What a column means must not differ between them, or a number would change
    # its meaning where two parts meet.
    if any(part.time_format != first.time_format for part in parts):
        raise InputError("The times in one part of the input are written in another way than in the rest.")
    if any(part.owners != first.owners for part in parts):
        raise InputError("The owners of one part of the data come from elsewhere than those of the rest.")
    # From here on equal codes mean equal names in all parts, so columns can simply be put behind each other.
    alike = type(first)._unify(parts)
    names = (*first.row_columns, *first._optional_rows(), *first.trajectory_columns)
    columns: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in alike]) for name in names}
    return replace(
        alike[0],
        offsets=offsets_of(np.concatenate([part.lengths for part in alike])),
        owner=np.concatenate([part.owner for part in alike]),
        attributes={name: Coded.concat([part.attributes[name] for part in alike]) for name in first.attributes},
        **columns,
    )


def _listed(names: Sequence[str] | Columns) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
